//! Fluid that passes the surface of a body, `W (u - J (v - s)) = 0` (spec/fluid-structure.md FS-34), where the answer is exact: a body that fills the width of a channel.

use splashdown_couple::World;
use splashdown_couple::fluid_structure::{CouplingForm, CouplingOptions};
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::grid::Grid;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

type V = Vector<2>;

const DENSITY: f64 = 3.0;
const FLOW: f64 = 0.3;

/// A channel of 1 m x 0.4 m with a plate 0.2 m thick across it, through which the fluid goes at 0.3 m/s.
fn channel(ends: [Side<2>; 2], kind: Kind, mass: f64, viscosity: f64, form: CouplingForm) -> World<2> {
    let mut world = World::new(V::zeros()).unwrap();
    let plate = Arc::new(Geometry::cuboid(V::from([0.1, 0.3])).unwrap());
    let flow = Twist { linear: V::from([FLOW, 0.0]), ..Twist::zero() };
    let body = Body::with_geometry("plate", kind, mass, plate).unwrap().surface_flow(flow);
    let frame = Frame { position: V::from([0.5, 0.2]), ..Frame::identity() };
    world.add_body(body, frame, Twist::zero());
    world.set_coupling(Some(CouplingOptions { form, ..CouplingOptions::default() }));
    let grid = Grid::new(V::zeros(), V::repeat(0.1), [10, 4]).unwrap();
    let domain = Domain::new(grid, [ends, [Side::slip(); 2]]).unwrap();
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", DENSITY) });
    model.options.pressure.divergence = 1e-13;
    model.options.pressure.relative = 1e-13;
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).unwrap();
    world
}

/// Velocities (m/s) along the channel of all faces across it that have fluid on both sides.
fn along(world: &World<2>) -> Vec<f64> {
    let fluid = world.state().fluid.as_ref().unwrap();
    let u = fluid.velocity.component(0);
    [1, 2, 3, 7, 8, 9].iter().flat_map(|&i| (0..4).map(move |j| u.at([i, j]))).collect()
}

#[test]
fn a_fan_across_a_channel_drives_its_flow() {
    for viscosity in [0.0, 0.2] {
        for form in [CouplingForm::Pressure, CouplingForm::Impulses, CouplingForm::Kkt] {
            let mut world = channel([Side::open(); 2], Kind::Static, 1.0, viscosity, form);
            world.step(0.01).unwrap();
            for u in along(&world) {
                assert!((u - FLOW).abs() < 1e-9, "{form:?}, viscosity {viscosity}: {u} m/s");
            }
        }
    }
}

/// In a channel without ends nothing else has momentum: what the fluid gains the plate loses.
#[test]
fn a_fan_that_is_free_moves_the_other_way() {
    let fluid = 0.8 * 0.4 * DENSITY;
    for form in [CouplingForm::Pressure, CouplingForm::Impulses, CouplingForm::Kkt, CouplingForm::Lumped] {
        let mass = 0.7;
        let mut world = channel([Side::Periodic; 2], Kind::Dynamic, mass, 0.0, form);
        world.step(0.01).unwrap();
        let plate = world.state().bodies[0].velocity[0];
        let exact = -fluid * FLOW / (mass + fluid);
        assert!((plate - exact).abs() < 1e-9, "{form:?}: {plate} m/s instead of {exact} m/s");
        for u in along(&world) {
            assert!((u - exact - FLOW).abs() < 1e-9, "{form:?}: {u} m/s");
        }
    }
}
