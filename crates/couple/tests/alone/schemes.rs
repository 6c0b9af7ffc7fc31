use splashdown_couple::{Solids, World, step_alone};
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::element::{Damping, DampingKind, Elements, Material};
use splashdown_deformable::integrate::{
    Driver, ImplicitOptions, ImplicitScheme, Integrator, LinearSolver, Motion, Path, Scheme,
};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{EdgeSpring, EdgeSprings, Force, Solid};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};
use splashdown_solve::testing::TestNumbers;

fn material(young: f64, poisson: f64, density: f64, time: f64) -> Material {
    Material {
        law: Law::safe(Model::RotatedLinear),
        lame: Lame::new(young, poisson).unwrap(),
        density,
        damping: Damping { kind: DampingKind::Linear, time },
    }
}

fn solid(mesh: &TetrahedronMesh, material: Material, gravity: Vector<3>) -> Solid<3> {
    let elements = Elements::tetrahedra(mesh, 0, material).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::new(mass, vec![false; mesh.points.len()], gravity);
    solid.add(elements);
    solid
}

/// Spec E11: exact sliding on an incline for any number of steps.
#[test]
fn particle_slides_exactly() {
    let angle = 30f64.to_radians();
    let gravity = Vector::<2>::new(9.8 * angle.sin(), -9.8 * angle.cos());
    for steps in [24, 240] {
        let mut solid = Solid::<2>::new(vec![1.0], vec![false], gravity);
        let mut integrator = Integrator::new(Scheme::B);
        let plane = Shape::half_space(Vector::<2>::new(0.0, 1.0), 0.0).unwrap();
        integrator.obstacles.push(Obstacle::fixed("plane", plane, Frame::identity(), 0.3));
        let mut motion = Motion { position: vec![0.0; 2], velocity: vec![0.0; 2], time: 0.0 };
        for _ in 0..steps {
            step_alone(&mut solid, &mut integrator, &mut motion, 1.0 / f64::from(steps)).unwrap();
        }
        assert!((motion.position[0] - 1.17694).abs() < 5e-6, "{:?}", motion.position);
        assert!((motion.velocity[0] - 2.35389).abs() < 5e-6, "{:?}", motion.velocity);
    }
}

/// Every scheme agrees with the others on a damped, turning spring at small steps, and halving the step halves the error at least.
#[test]
fn schemes_converge_to_one_motion() {
    let end = |scheme: Scheme, steps: usize| {
        let mut solid = Solid::<2>::new(vec![1.0, 2.0], vec![false; 2], Vector::zeros());
        solid.add(EdgeSprings::new(
            "spring",
            &[EdgeSpring { ends: [0, 1], stiffness: 30.0, damping: 1.0, rest: 1.0 }],
        ));
        let mut motion =
            Motion { position: vec![0.0, 0.0, 1.3, 0.0], velocity: vec![0.0, -1.0, 0.2, 1.0], time: 0.0 };
        let mut integrator = Integrator::new(scheme);
        integrator.tolerance = 1e-12;
        integrator.implicit.tolerance = 1e-10;
        integrator.implicit.linear_tolerance = 1e-10;
        for _ in 0..steps {
            step_alone(&mut solid, &mut integrator, &mut motion, 1.0 / steps as f64).unwrap();
        }
        motion.position
    };
    let exact = end(Scheme::B, 20_000);
    let error = |x: &[f64]| x.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    for (scheme, order) in [
        (Scheme::A, 2),
        (Scheme::B, 2),
        (Scheme::C, 1),
        (Scheme::Newmark, 2),
        (Scheme::Implicit(ImplicitScheme::BackwardEuler), 1),
        (Scheme::Implicit(ImplicitScheme::AverageAcceleration), 1),
    ] {
        let (coarse, fine) = (error(&end(scheme, 200)), error(&end(scheme, 400)));
        let found = (coarse / fine).log2();
        assert!(found > f64::from(order) - 0.1, "{scheme:?}: order {found}, errors {coarse:e} {fine:e}");
    }
}

/// A body crushed to a point comes back (spec T8, smaller).
#[test]
fn a_point_becomes_a_cube_again() {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [2; 3], CubeSplit::Five).unwrap();
    let mut solid = solid(&mesh, material(1000.0, 0.3, 1.0, 0.01), Vector::zeros());
    let mut motion = Motion {
        position: vec![0.5; 3 * mesh.points.len()],
        velocity: vec![0.0; 3 * mesh.points.len()],
        time: 0.0,
    };
    let mut integrator = Integrator::new(Scheme::B);
    let dt = 0.4 * solid.stable_step();
    for _ in 0..1000 {
        step_alone(&mut solid, &mut integrator, &mut motion, dt).unwrap();
    }
    solid.update(&motion.position).unwrap();
    assert_eq!(solid.inverted(), 0);
    let extent = |axis: usize| {
        let values = motion.position.iter().skip(axis).step_by(3);
        values.clone().fold(f64::MIN, |m, &x| m.max(x)) - values.fold(f64::MAX, |m, &x| m.min(x))
    };
    for axis in 0..3 {
        assert!((extent(axis) - 1.0).abs() < 1e-9, "{}", extent(axis));
    }
}

/// Statics, a damped implicit motion and a damped explicit motion end in the same sag, whatever the linear solver.
#[test]
fn all_ways_lead_to_the_same_equilibrium() {
    let mesh =
        box_tetrahedra(Vector::zeros(), Vector::<3>::new(0.4, 0.1, 0.1), [4, 1, 1], CubeSplit::Five).unwrap();
    let build = || {
        let mut solid = solid(&mesh, material(1e4, 0.3, 100.0, 0.05), Vector::<3>::new(0.0, -9.81, 0.0));
        for (node, x) in mesh.points.iter().enumerate() {
            solid.set_pinned(node, x[0] < 1e-9);
        }
        solid
    };
    let tip = |motion: &Motion| motion.point::<3>(mesh.points.len() - 1)[1];
    let mut sags = Vec::new();
    for solver in [LinearSolver::Cholesky, LinearSolver::Jacobi, LinearSolver::Multigrid] {
        let mut integrator = Integrator::new(Scheme::B);
        integrator.implicit =
            ImplicitOptions { tolerance: 1e-8, linear_tolerance: 1e-8, solver, ..ImplicitOptions::default() };
        let mut motion = Motion::at_rest(&mesh.points);
        integrator.equilibrium(&mut build(), &mut motion).unwrap();
        sags.push(tip(&motion));
    }
    let mut integrator = Integrator::new(Scheme::Implicit(ImplicitScheme::BackwardEuler));
    integrator.implicit.tolerance = 1e-7;
    let (mut solid, mut motion) = (build(), Motion::at_rest(&mesh.points));
    for _ in 0..150 {
        step_alone(&mut solid, &mut integrator, &mut motion, 0.05).unwrap();
    }
    sags.push(tip(&motion));
    for sag in &sags {
        assert!((sag - sags[0]).abs() < 1e-6 && sags[0] < 0.09, "{sags:?}");
    }
}

#[test]
fn drivers_move_what_they_hold_and_two_pass_keeps_the_surface() {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [2; 3], CubeSplit::Five).unwrap();
    let mut own = solid(&mesh, material(1e4, 0.3, 10.0, 0.01), Vector::zeros());
    let held: Vec<(u32, Vector<3>)> = mesh
        .points
        .iter()
        .enumerate()
        .filter(|(_, x)| x[0] > 0.99)
        .map(|(node, x)| (node as u32, *x))
        .collect();
    held.iter().for_each(|(node, _)| own.set_pinned(*node as usize, true));
    let path = Path {
        velocity: Vector::<3>::new(0.5, 0.0, 0.0),
        centre: Vector::repeat(0.5),
        spin: [1.0, 0.0, 0.0],
        start: 0.0,
        end: 0.2,
    };
    let mut integrator = Integrator::new(Scheme::Implicit(ImplicitScheme::BackwardEuler));
    integrator.drivers.push(Driver::new(held.clone(), path));
    let mut motion = Motion::at_rest(&mesh.points);
    for _ in 0..30 {
        step_alone(&mut own, &mut integrator, &mut motion, 0.01).unwrap();
    }
    let (node, x) = held[0];
    let turned =
        Vector::<3>::new(x[0] + 0.1, 0.5 + (x[1] - 0.5) * 0.2f64.cos() - (x[2] - 0.5) * 0.2f64.sin(), 0.0);
    let found = motion.point::<3>(node as usize);
    assert!((found[0] - turned[0]).abs() < 1e-12 && (found[1] - turned[1]).abs() < 1e-12, "{found} {turned}");

    let mut own = solid(&mesh, material(1e4, 0.3, 10.0, 0.01), Vector::zeros());
    let mut motion = Motion::at_rest(&mesh.points);
    let surface: Vec<u32> = (0..mesh.points.len() as u32)
        .filter(|&n| (mesh.points[n as usize] - Vector::repeat(0.5)).norm() > 0.1)
        .collect();
    integrator.drivers.clear();
    integrator
        .step_two_pass(&mut own, &mut motion, 0.01, &surface, |v| {
            v.iter_mut().step_by(3).for_each(|v| *v = 1.0)
        })
        .unwrap();
    for &node in &surface {
        assert!((motion.speed::<3>(node as usize)[0] - 1.0).abs() < 1e-12);
    }
    assert!(own.pinned().iter().all(|pinned| !pinned));
}

/// Random bodies, laws, steps and obstacles, inverted starts included: finite states or an error that says why.
#[test]
fn random_bodies_stay_finite_or_say_why() {
    use splashdown_deformable::material::{Extension, ExtensionKind, SplineBranch};
    let mut random = TestNumbers::new(77);
    for round in 0..40 {
        let cells = [1 + random.index(2), 1 + random.index(2), 1 + random.index(3)];
        let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), cells, CubeSplit::Five).unwrap();
        let spline = SplineBranch::default();
        let model = [
            Model::RotatedLinear,
            Model::FixedCorotated,
            Model::NeoHookean,
            Model::StVenantKirchhoff,
            Model::Spline { compression: spline, extension: spline },
            Model::MooneyRivlin { second: 1.0 / 3.0 },
        ][random.index(6)];
        let mut own = material(
            10f64.powf(random.uniform(2.0, 5.0)),
            random.uniform(0.0, 0.48),
            10.0,
            random.uniform(0.0, 0.02),
        );
        own.law = Law::safe(model);
        if random.index(3) == 0 {
            own.law.extension = Extension::new(ExtensionKind::LinearStretch { stretch: 0.3 });
        }
        let own = solid(&mesh, own, Vector::<3>::new(0.0, -9.81, 0.0));
        let noise = [0.0, 0.3, 1.0][random.index(3)];
        let mut motion = Motion::at_rest(&mesh.points);
        motion.position.iter_mut().for_each(|x| *x += noise * random.uniform(-1.0, 1.0));
        let scheme = [
            Scheme::A,
            Scheme::B,
            Scheme::C,
            Scheme::Newmark,
            Scheme::Implicit(ImplicitScheme::BackwardEuler),
            Scheme::Implicit(ImplicitScheme::AverageAcceleration),
        ][random.index(6)];
        let mut integrator = Integrator::new(scheme);
        integrator.tolerance = 1e-5;
        let floor = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), -1.5).unwrap();
        integrator.obstacles.push(Obstacle::fixed(
            "floor",
            floor,
            Frame::identity(),
            random.uniform(0.0, 1.0),
        ));
        let ball = Shape::ball(0.4).unwrap().translated(Vector::<3>::new(0.5, -1.2, 0.5)).unwrap();
        integrator.obstacles.push(Obstacle::fixed("ball", ball, Frame::identity(), 0.5));
        let mut solids = Solids::new(own.gravity, scheme);
        (solids.solid, solids.integrator, solids.safety) = (own, integrator, 0.4);
        let mut world = World::new(Vector::<3>::new(0.0, -9.81, 0.0)).unwrap();
        world.set_solids(solids, motion);
        match (0..25).try_for_each(|_| world.step(0.02).map(|_| ())) {
            Ok(()) => {
                let position = &world.state().solids.motion.position;
                assert!(position.iter().all(|x| x.is_finite() && x.abs() < 1e3), "round {round}");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Spec T26, small: elements that keep all they have in single precision come back from a point, a line, a plane and their mirror image.
#[test]
fn single_precision_recovers_from_collapse() {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::<3>::repeat(1.0), [2; 3], CubeSplit::Five).unwrap();
    let own = material(1000.0, 0.3, 1.0, 0.01);
    let elements = Elements::tetrahedra(&mesh, 0, own).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let double = Force::<3>::bytes(&elements);
    let elements = elements.into_single();
    assert!(Force::<3>::bytes(&elements) < 7 * double / 10);
    let starts: [fn(&Vector<3>) -> [f64; 3]; 4] =
        [|_| [0.5; 3], |x| [x[0], 0.5, 0.5], |x| [x[0], 0.5, x[2]], |x| [x[0], x[1], 1.0 - x[2]]];
    for (at, start) in starts.iter().enumerate() {
        let mut solid = Solid::new(mass.clone(), vec![false; mass.len()], Vector::zeros());
        solid.add(elements.clone());
        let position: Vec<f64> = mesh.points.iter().flat_map(start).collect();
        let mut motion = Motion { velocity: vec![0.0; position.len()], position, time: 0.0 };
        let dt = 0.4 * solid.stable_step();
        let mut integrator = Integrator::new(Scheme::B);
        integrator.tolerance = 1e-6;
        for _ in 0..800 {
            step_alone(&mut solid, &mut integrator, &mut motion, dt).unwrap();
        }
        let mut measured = Elements::tetrahedra(&mesh, 0, own).unwrap();
        measured.update(&motion.position).unwrap();
        assert_eq!(Force::<3>::inverted(&measured), 0, "start {at}");
        assert!(measured.largest_strain() < 1e-4, "start {at}: {}", measured.largest_strain());
    }
}

/// Spec DS-53: within a two-pass step the order is Lagrangian velocities, what collisions make of them, then positions; obstacles give their normals where they are at its end.
#[test]
fn collisions_act_between_lagrangian_velocities_and_positions() {
    let mut solid = Solid::<3>::new(vec![2.0; 2], vec![false; 2], Vector::<3>::new(0.0, -10.0, 0.0));
    let mut integrator = Integrator::new(Scheme::TwoPass);
    integrator.surface = vec![0, 1];
    let start = Motion { position: vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0], velocity: vec![0.5; 6], time: 0.0 };
    let mut motion = start.clone();
    let dt = 0.1;
    let collide = |velocity: &mut [f64]| {
        // What it is given has the forces of this step in it already.
        for (at, v) in velocity.iter_mut().enumerate() {
            let free = if at % 3 == 1 { 0.5 - 10.0 * dt } else { 0.5 };
            assert!((*v - free).abs() < 1e-12, "{at}: {v}");
        }
        velocity[1] = 3.0;
    };
    integrator.step_two_pass(&mut solid, &mut motion, dt, &[0, 1], collide).unwrap();
    assert!((motion.position[1] - 1.3).abs() < 1e-12 && motion.velocity[1] == 3.0, "{motion:?}");
    assert!((motion.position[4] - 0.95).abs() < 1e-12, "{motion:?}");

    // The full step: a plane that tilts during the step stops what comes by the normal that it ends with.
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).unwrap();
    let mut obstacle = Obstacle::fixed("plane", plane, Frame::identity(), 0.0);
    obstacle.twist.angular = Vector::<3>::new(0.0, 0.0, 0.3 / dt);
    obstacle.advance(dt);
    integrator.obstacles.push(obstacle);
    let mut motion =
        Motion { position: vec![0.0, 0.1, 0.0, 5.0, 9.0, 0.0], velocity: vec![0.0; 6], time: 0.0 };
    motion.velocity[1] = -5.0;
    step_alone(&mut solid, &mut integrator, &mut motion, dt).unwrap();
    let normal = Vector::<3>::new(-(0.3f64.sin()), 0.3f64.cos(), 0.0);
    let distance = motion.point::<3>(0).dot(&normal);
    assert!(distance.abs() < 1e-9, "{distance}");
}

/// The two-pass step has the friction of the explicit schemes: a particle on an incline gets the speed that is exact, and is as far as a first-order step is.
#[test]
fn two_passes_slide_as_coulomb_says() {
    let angle = 30f64.to_radians();
    let gravity = Vector::<2>::new(9.8 * angle.sin(), -9.8 * angle.cos());
    let steps = 240;
    let mut solid = Solid::<2>::new(vec![1.0], vec![false], gravity);
    let mut integrator = Integrator::new(Scheme::TwoPass);
    integrator.surface = vec![0];
    let plane = Shape::half_space(Vector::<2>::new(0.0, 1.0), 0.0).unwrap();
    integrator.obstacles.push(Obstacle::fixed("plane", plane, Frame::identity(), 0.3));
    let mut motion = Motion { position: vec![0.0; 2], velocity: vec![0.0; 2], time: 0.0 };
    for _ in 0..steps {
        step_alone(&mut solid, &mut integrator, &mut motion, 1.0 / f64::from(steps)).unwrap();
    }
    assert!((motion.velocity[0] - 2.35389).abs() < 5e-6, "{:?}", motion.velocity);
    assert!(
        (motion.position[0] - 1.17694 * (1.0 + 1.0 / f64::from(steps))).abs() < 1e-4,
        "{:?}",
        motion.position
    );
    assert!(motion.position[1].abs() < 1e-12);
}
