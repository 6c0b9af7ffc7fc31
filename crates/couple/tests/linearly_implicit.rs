//! Soft bodies in linearly implicit steps: what they touch and what they swim in.

use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Elements, Solid};
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::generate::{Diagonals, rectangle_triangles};
use splashdown_geometry::grid::Grid;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind, Material as Surface};
use std::sync::Arc;

type V = Vector<2>;

/// A soft square of 0.4 m with its lower left corner at `corner`.
fn add_square(world: &mut World<2>, corner: V, cells: usize, young: f64, velocity: V) {
    let mesh =
        rectangle_triangles(corner, corner + V::repeat(0.4), [cells; 2], Diagonals::Alternating).unwrap();
    let material = Material {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(young, 0.3).unwrap(),
        density: 1000.0,
        damping: Damping { kind: DampingKind::Linear, time: 0.0 },
    };
    let elements = Elements::triangles(&mesh, 0, material).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let gravity = world.model().gravity;
    let mut solids = Solids::<2>::new(gravity, Scheme::LinearlyImplicit);
    solids.solid = Solid::new(mass.clone(), vec![false; mass.len()], gravity);
    solids.solid.add(elements);
    let position: Vec<f64> = mesh.points.iter().flat_map(|x| [x[0], x[1]]).collect();
    solids.bodies.push(SolidBody {
        name: "square".into(),
        particles: 0..mass.len(),
        element: SolidElement::Triangle,
        elements: mesh.elements.iter().flatten().copied().collect(),
        rest: position.clone(),
        forces: 0..1,
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    let velocity = mesh.points.iter().flat_map(|_| [velocity[0], velocity[1]]).collect();
    world.set_solids(solids, Motion { position, velocity, time: 0.0 });
}

fn add_box(world: &mut World<2>, kind: Kind, half: V, position: V, density: f64, velocity: V) -> usize {
    let geometry = Arc::new(Geometry::cuboid(half).unwrap());
    let body = Body::with_geometry("box", kind, 4.0 * half[0] * half[1] * density, geometry).unwrap();
    let twist = Twist { linear: velocity, ..Twist::zero() };
    world.add_body(body, Frame { position, ..Frame::identity() }, twist)
}

#[test]
fn an_impact_keeps_momentum_and_gains_no_energy() {
    let mut world = World::<2>::new(V::zeros()).unwrap();
    add_box(&mut world, Kind::Dynamic, V::new(0.1, 0.5), V::new(0.55, 0.25), 1000.0, V::zeros());
    add_square(&mut world, V::zeros(), 8, 1e6, V::new(5.0, 0.0));
    let first = world.diagnostics();
    for _ in 0..18 {
        world.step(1.0 / 60.0).unwrap();
        let now = world.diagnostics();
        assert!(now.total_energy < 1.01 * first.total_energy, "{} J", now.total_energy);
        for (now, first) in now.momentum.iter().zip(&first.momentum) {
            assert!((now - first).abs() < 1e-5 * 800.0, "{now} and not {first} kg m/s");
        }
    }
    assert!(world.state().bodies[0].velocity[0] > 1.0);
}

#[test]
fn a_stiff_body_comes_to_rest_on_a_thin_plate() {
    let mut world = World::<2>::new(V::new(0.0, -9.81)).unwrap();
    add_box(&mut world, Kind::Static, V::new(1.0, 0.1), V::new(0.2, -0.1), 1000.0, V::zeros());
    add_square(&mut world, V::new(0.0, 0.1), 6, 1e7, V::zeros());
    let first = world.diagnostics().total_energy;
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap();
        assert!(world.diagnostics().total_energy < 1.01 * first);
    }
    let heights = world.state().solids.motion.position.iter().skip(1).step_by(2);
    let lowest = heights.fold(f64::INFINITY, |least, y| least.min(*y));
    assert!(lowest.abs() < 1e-3, "lowest point at {lowest} m");
    assert!(world.diagnostics().max_speed < 0.05);
}

fn stream(velocity: f64, viscosity: f64) -> (FluidModel<2>, FluidState<2>) {
    let grid = Grid::<2>::new(V::zeros(), V::repeat(0.05), [24, 20]).unwrap();
    let domain = Domain::new(grid, [[Side::Periodic; 2]; 2]).unwrap();
    let model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("water", 1000.0) });
    let mut state = FluidState::at_rest(&model);
    state.velocity.component_mut(0).update(|_, _| velocity);
    (model, state)
}

#[test]
fn what_moves_with_a_stream_goes_on_with_it() {
    let mut world = World::<2>::new(V::zeros()).unwrap();
    let half = V::repeat(0.15);
    let body = add_box(&mut world, Kind::Dynamic, half, V::new(0.6, 0.5), 1000.0, V::new(1.0, 0.0));
    let (model, state) = stream(1.0, 0.0);
    world.set_fluid(model, state).unwrap();
    for _ in 0..20 {
        world.step(0.01).unwrap();
    }
    let velocity = world.state().bodies[body].velocity;
    assert!((velocity - V::new(1.0, 0.0)).norm() < 1e-6, "{velocity:?}");
}

#[test]
fn a_soft_body_that_moves_with_a_stream_goes_on_with_it() {
    for viscosity in [0.0, 1.0] {
        let mut world = World::<2>::new(V::zeros()).unwrap();
        add_square(&mut world, V::new(0.95, 0.3), 6, 1e5, V::new(1.0, 0.0));
        let (model, state) = stream(1.0, viscosity);
        world.set_fluid(model, state).unwrap();
        let first = world.diagnostics().momentum[0];
        for _ in 0..20 {
            world.step(0.01).unwrap();
        }
        let last = world.diagnostics().momentum[0];
        assert!((last - first).abs() < 1e-6 * first, "viscosity {viscosity}: {last} and not {first} kg m/s");
    }
}

#[test]
fn a_soft_body_goes_through_periodic_sides_as_through_the_middle() {
    // Shifted by 13 cells, so that it crosses the side from the start.
    let speeds = [0.2, 0.85].map(|left| {
        let mut world = World::<2>::new(V::zeros()).unwrap();
        add_square(&mut world, V::new(left, 0.3), 6, 1e5, V::new(1.0, 0.0));
        let (model, state) = stream(0.0, 0.0);
        world.set_fluid(model, state).unwrap();
        (0..30)
            .map(|_| {
                world.step(0.01).unwrap();
                world.diagnostics().momentum[0]
            })
            .collect::<Vec<f64>>()
    });
    for (a, b) in speeds[0].iter().zip(&speeds[1]) {
        assert!((a - b).abs() < 0.03 * a.abs(), "{a} and {b} kg m/s");
    }
    assert!((speeds[0][0] - speeds[1][0]).abs() < 1e-3 * speeds[0][0]);
}

/// A soft square slides on a plank that lies on ice: friction slows it by `mu g` and drives the plank, until both move as one.
#[test]
fn a_square_drags_the_plank_it_slides_on() {
    let mut world = World::<2>::new(V::new(0.0, -9.81)).unwrap();
    for (kind, y, density) in [(Kind::Static, -0.3, 1000.0), (Kind::Dynamic, -0.1, 800.0)] {
        let geometry = Arc::new(Geometry::cuboid(V::new(3.0, 0.1)).unwrap());
        let body = Body::with_geometry("board", kind, 1.2 * density, geometry).unwrap();
        let body = body.material(Surface::new(0.0, 0.0));
        let at = Frame { position: V::new(1.0, y), ..Frame::identity() };
        world.add_body(body, at, Twist::zero());
    }
    add_square(&mut world, V::new(-0.2, 0.0), 4, 1e6, V::new(2.0, 0.0));
    let (friction, mass, plank) = (0.3, 160.0, 960.0);
    let mut solids = world.solids().unwrap().clone();
    solids.friction = vec![0.0, friction];
    let motion = world.state().solids.motion.clone();
    world.set_solids(solids, motion);
    let start = world.diagnostics().momentum[0];
    let speeds = |world: &World<2>| {
        let plate = world.state().bodies[1].velocity[0];
        [(world.diagnostics().momentum[0] - plank * plate) / mass, plate]
    };
    for _ in 0..18 {
        world.step(1.0 / 60.0).unwrap();
    }
    let [square, plate] = speeds(&world);
    let push = friction * 9.81 * 0.3;
    assert!((square - (2.0 - push)).abs() < 0.05 * push, "{square} and not {} m/s", 2.0 - push);
    assert!((plate - push * mass / plank).abs() < 0.05 * push, "{plate} m/s");
    for _ in 0..42 {
        world.step(1.0 / 60.0).unwrap();
    }
    let [square, plate] = speeds(&world);
    let together = 2.0 * mass / (mass + plank);
    assert!((square - together).abs() < 0.01 && (plate - together).abs() < 0.01, "{square}, {plate} m/s");
    assert!((world.diagnostics().momentum[0] - start).abs() < 1e-4 * start);
}
