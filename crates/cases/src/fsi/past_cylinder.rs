//! Flow that starts from rest past a fixed cylinder (V-4): the coupled viscous solve with a body that moves as told.
//!
//! A square of 4 m, a cylinder of radius 0.5 m in its middle, inflow of 1 m/s on the left, zero pressure on the right, slippery walls, viscosity 0.1. The velocity at
//! (3, 2.25) after half a second is compared with the values of a prototype of the same scheme and with their limit.

use super::super::fluid::setup::{domain, failed};
use super::super::foundation::convergence;
use super::setup::{IMPROVED, SOURCE_RECIPE};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_couple::fluid_structure::CouplingOptions;
use splashdown_fluid::advect::{Advection, Scheme};
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::grid::{Interpolation, Reach};
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/past-cylinder",
    spec: "V-4",
    summary: "flow started past a fixed cylinder: velocity in the wake against a refined limit",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 30.0,
    run,
};

const SOURCE: &str = "prototype of the same scheme, and its limit (spec/fluid-structure.md V-4)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let published = [(40, [0.3506, -0.2260]), (80, [0.4123, -0.2337])];
    let improved = [(80, [0.4672, -0.2311])];
    let mut curve = Vec::new();
    for (name, options, rows) in
        [("published", SOURCE_RECIPE, &published[..]), ("our", IMPROVED, &improved[..])]
    {
        for &(n, expected) in rows {
            let found = probe(n, options)?;
            for (axis, expected) in expected.into_iter().enumerate() {
                let row = format!("u{}, {name} choices (m/s)", axis + 1);
                measurements.near(
                    &row,
                    &format!("{n}^2"),
                    found[axis],
                    expected,
                    0.02 * f64::abs(expected),
                    SOURCE,
                );
            }
            if name == "published" {
                curve.push([4.0 / n as f64, 0.465 - found[0]]);
            }
        }
    }
    // The prototype's 0.4623 on the coarse grid is not met (its treatment of faces inside the solid differs); the error is a quarter of that of the published choices.
    let (coarse, limit) = ((probe(40, IMPROVED)?[0] - 0.465).abs(), 0.25 * curve[0][1]);
    measurements.at_most("error of u1, our choices (m/s)", "40^2", coarse, limit, SOURCE);
    measurements.near(
        "order of u1, published choices",
        "80^2",
        convergence::order(&curve),
        1.05,
        0.25,
        SOURCE,
    );
    Ok(())
}

fn probe(n: usize, options: CouplingOptions) -> Result<Vector<2>, CaseError> {
    let inflow = Side::Inflow { velocity: Vector::from([1.0, 0.0]) };
    let domain = domain([n, n], 4.0 / n as f64, [[inflow, Side::open()], [Side::slip(); 2]])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: 0.1, ..Liquid::new("fluid", 1.0) });
    model.options.advection = Some(Advection { scheme: Scheme::SemiLagrangian, ..Advection::default() });
    let mut world = World::<2>::new(Vector::zeros()).map_err(failed)?;
    let geometry = Arc::new(Geometry::sphere(0.5).map_err(failed)?);
    let cylinder = Body::with_geometry("cylinder", Kind::Static, 1.0, geometry).map_err(failed)?;
    let frame = Frame { position: Vector::from([2.0, 2.0]), ..Frame::identity() };
    world.add_body(cylinder, frame, Twist::zero());
    world.set_coupling(Some(options));
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).map_err(failed)?;
    // As fast as the flow gets, so that the step is proportional to the cell.
    let steps = (0.5 * 2.0 * n as f64 / 4.0 / 0.9).ceil();
    for _ in 0..steps as usize {
        world.step(0.5 / steps).map_err(failed)?;
    }
    let state = world.state().fluid.as_ref().ok_or_else(|| failed("no fluid"))?;
    Ok(state.velocity.sample(&Vector::from([3.0, 2.25]), Interpolation::Linear, Reach::default()))
}
