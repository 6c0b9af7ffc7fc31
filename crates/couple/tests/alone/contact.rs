use splashdown_couple::step_alone;
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::contact::{
    BarrierOptions, ContactSurface, SelfContact, SelfContactOptions, intersections,
};
use splashdown_deformable::element::{Damping, DampingKind, Elements, Material};
use splashdown_deformable::integrate::{Driver, ImplicitScheme, Integrator, Motion, Path, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Bending, BendingModel, Solid};
use splashdown_geometry::generate::{Diagonals, sheet};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};

fn cloth(cells: usize, tilt: f64) -> (Solid<3>, Motion, ContactSurface<3>, Vec<f64>) {
    let (u, v) = (Vector::<3>::new(1.0, 0.0, 0.01), Vector::<3>::new(tilt, 1.0, 0.05));
    let mesh = sheet(Vector::<3>::new(-0.5, 0.05, 0.0), u, v, [cells; 2], Diagonals::Alternating).unwrap();
    let material = Material {
        law: Law::safe(Model::RotatedLinear),
        lame: Lame::plane_stress(2e4, 0.3).unwrap(),
        density: 300.0,
        damping: Damping { kind: DampingKind::Blend, time: 0.002 },
    };
    let elements = Elements::membrane(&mesh, 0, 1e-3, material).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::new(mass, vec![false; mesh.points.len()], Vector::<3>::new(0.0, -9.81, 0.0));
    solid.add(elements);
    solid.add(Bending::new(&mesh, 0, BendingModel::DiscreteShells, 1e-6, 1e-8));
    let motion = Motion::at_rest(&mesh.points);
    let rest = motion.position.clone();
    (solid, motion, ContactSurface::new(mesh.elements), rest)
}

fn floor() -> Obstacle<3> {
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).unwrap();
    Obstacle::fixed("floor", plane, Frame::identity(), 0.3)
}

/// A curtain that is let go folds on the floor: no step of the impulse method creates an intersection.
#[test]
fn falling_curtain_has_no_intersections_with_impulses() {
    let (mut solid, mut motion, surface, rest) = cloth(10, 0.02);
    let mut integrator = Integrator::new(Scheme::B);
    integrator.tolerance = 1e-4;
    integrator.obstacles.push(floor());
    let options = SelfContactOptions { thickness: 0.02, friction: 0.2, ..SelfContactOptions::default() };
    integrator.self_contact = Some(SelfContact::new(surface.clone(), &rest, options));
    let dt = (0.4 * solid.stable_step()).min(2e-3);
    let (mut collisions, mut part) = (0, dt);
    while motion.time < 0.6 {
        // A step whose collisions cannot be settled says so and is divided, as every step of a world is.
        match step_alone(&mut solid, &mut integrator, &mut motion, part) {
            Ok(report) => {
                collisions += report.self_contact.collisions;
                part = dt;
            }
            Err(error) if part < dt / 32.0 => panic!("at {} s: {error}", motion.time),
            Err(_) => part *= 0.5,
        }
        assert_eq!(intersections(&surface, &motion.position), 0, "at {} s", motion.time);
    }
    assert!(collisions > 0, "the curtain did not fold");
    let lowest = motion.position.iter().skip(1).step_by(3).fold(f64::MAX, |m, &y| m.min(y));
    assert!(lowest > -1e-3, "{lowest}");
}

/// The same with large implicit steps and the barrier.
#[test]
fn falling_curtain_has_no_intersections_with_the_barrier() {
    let (mut solid, mut motion, surface, rest) = cloth(10, 0.02);
    let mut integrator = Integrator::new(Scheme::Implicit(ImplicitScheme::BackwardEuler));
    integrator.implicit.strict = false;
    integrator.implicit.tolerance = 1e-2;
    integrator.implicit.max_iterations = 30;
    integrator.obstacles.push(floor());
    let barrier = BarrierOptions { reach: 0.02, friction: 0.2, ..BarrierOptions::default() };
    integrator.self_contact =
        Some(SelfContact::new(surface.clone(), &rest, SelfContactOptions::default()).with_barrier(barrier));
    for step in 0..60 {
        step_alone(&mut solid, &mut integrator, &mut motion, 1.0 / 60.0)
            .unwrap_or_else(|error| panic!("step {step}: {error}"));
        assert_eq!(intersections(&surface, &motion.position), 0, "step {step}");
    }
    let highest = motion.position.iter().skip(1).step_by(3).fold(0.0f64, |m, &y| m.max(y));
    assert!(highest < 0.8, "the curtain did not fall: {highest}");
}

/// Spec DS-44: a body as thin as a sheet of paper that comes at 10 m/s is stopped by the cloth that it hits in the path, and takes it along; it arrives where it was sent.
#[test]
fn a_thin_fast_plate_does_not_pass_through_cloth() {
    for (scheme, dt) in [(Scheme::B, 2e-4), (Scheme::Implicit(ImplicitScheme::BackwardEuler), 1e-3)] {
        let (mut solid, mut motion, surface, mut rest) = cloth(6, 0.0);
        solid.gravity = Vector::zeros();
        let first = solid.len() as u32;
        let corners = [(-0.1, 0.4), (0.1, 0.4), (0.1, 0.6), (-0.1, 0.6)];
        let plate: Vec<Vector<3>> = corners.iter().map(|&(x, y)| Vector::<3>::new(x, y, 0.12)).collect();
        solid.add_particles(&[1.0; 4], &[true; 4]);
        for x in &plate {
            rest.extend(x.iter());
            motion.position.extend(x.iter());
            motion.velocity.extend([0.0; 3]);
        }
        let mut faces = surface.faces().to_vec();
        faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        let surface = ContactSurface::new(faces);
        let options = SelfContactOptions { thickness: 4e-3, ..SelfContactOptions::default() };
        let barrier = BarrierOptions { reach: 4e-3, ..BarrierOptions::default() };
        let mut integrator = Integrator::new(scheme);
        integrator.tolerance = 1e-4;
        integrator.implicit.strict = false;
        integrator.implicit.tolerance = 1e-2;
        integrator.self_contact =
            Some(SelfContact::new(surface.clone(), &rest, options).with_barrier(barrier));
        let nodes = plate.iter().enumerate().map(|(k, x)| (first + k as u32, *x)).collect();
        let path = Path {
            velocity: Vector::<3>::new(0.0, 0.0, -10.0),
            centre: Vector::zeros(),
            spin: [0.0; 3],
            start: 0.0,
            end: 0.03,
        };
        integrator.drivers.push(Driver::new(nodes, path));
        while motion.time < 0.03 - 1e-9 {
            step_alone(&mut solid, &mut integrator, &mut motion, dt).unwrap();
            assert_eq!(intersections(&surface, &motion.position), 0, "{scheme:?} at {} s", motion.time);
        }
        let plate = motion.point::<3>(first as usize)[2];
        assert!((plate + 0.18).abs() < 1e-9, "{scheme:?}: the plate is at {plate}");
        // Nothing of the cloth is left behind in front of what hit it.
        let behind = (0..first as usize)
            .map(|node| motion.point::<3>(node))
            .filter(|x| x[0].abs() < 0.09 && (x[1] - 0.5).abs() < 0.09 && x[2] > plate);
        assert_eq!(behind.count(), 0, "{scheme:?}");
    }
}

/// What restores the volume of incompressible bodies after an implicit step does not push surfaces through each other: blocks that fall on each other and are squashed by a plate.
#[test]
fn volume_that_comes_back_keeps_surfaces_apart() {
    use splashdown_deformable::incompressible::{Incompressible, IncompressibleOptions, Rings};
    use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
    for scheme in [Scheme::Implicit(ImplicitScheme::BackwardEuler), Scheme::TwoPass] {
        let block = |x: f64, y: f64, z: f64| {
            let lower = Vector::<3>::new(x, y, z);
            box_tetrahedra(lower, lower + Vector::repeat(0.4), [2; 3], CubeSplit::Five).unwrap()
        };
        let mut mesh = block(0.0, 0.02, 0.0);
        for (x, y, z) in [(0.15, 0.44, 0.1), (0.05, 0.86, -0.05)] {
            let other = block(x, y, z);
            let first = mesh.points.len() as u32;
            mesh.points.extend(other.points);
            mesh.elements.extend(other.elements.iter().map(|element| element.map(|node| node + first)));
        }
        let material = Material {
            law: Law::safe(Model::FixedCorotated),
            lame: Lame::new(4e3, 0.0).unwrap(),
            density: 1000.0,
            damping: Damping { kind: DampingKind::Blend, time: 0.002 },
        };
        let elements = Elements::tetrahedra(&mesh, 0, material).unwrap();
        let mut mass = vec![0.0; mesh.points.len()];
        elements.add_masses(&mut mass);
        let top: Vec<bool> = mesh.points.iter().map(|x| x[1] > 1.26 - 1e-9).collect();
        let mut solid = Solid::new(mass, top.clone(), Vector::<3>::new(0.0, -9.81, 0.0));
        solid.add(elements);
        let mut motion = Motion::at_rest(&mesh.points);
        let around = mesh.boundary().unwrap();
        let faces = around.mesh.elements.iter().map(|face| face.map(|node| around.points[node as usize]));
        let surface = ContactSurface::new(faces.collect());
        let mut integrator = Integrator::new(scheme);
        integrator.tolerance = 1e-4;
        integrator.implicit.strict = false;
        integrator.implicit.tolerance = 1e-2;
        integrator.surface = surface.points().to_vec();
        integrator.obstacles.push(floor());
        let options = SelfContactOptions { thickness: 0.02, ..SelfContactOptions::default() };
        let barrier = BarrierOptions { reach: 0.02, ..BarrierOptions::default() };
        integrator.self_contact =
            Some(SelfContact::new(surface.clone(), &motion.position, options).with_barrier(barrier));
        let nodes: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
        let rings = Rings::new(4, &nodes, &motion.position).unwrap();
        let keeps = IncompressibleOptions { tolerance: 1e-3, ..IncompressibleOptions::default() };
        integrator.incompressible = Some(Incompressible::new(rings, keeps));
        // The plate comes down by half of the height of the stack.
        let held = (0..top.len()).filter(|&node| top[node]).map(|node| (node as u32, mesh.points[node]));
        let path = Path {
            velocity: Vector::<3>::new(0.0, -0.8, 0.0),
            centre: Vector::zeros(),
            spin: [0.0; 3],
            start: 0.0,
            end: 0.8,
        };
        integrator.drivers.push(Driver::new(held.collect(), path));
        let mut held_back = 0.0f64;
        for step in 0..60 {
            let report = step_alone(&mut solid, &mut integrator, &mut motion, 1.0 / 60.0);
            let report = report.unwrap_or_else(|error| panic!("{scheme:?}, step {step}: {error}"));
            held_back = held_back.max(report.incompressible.held_back);
            assert_eq!(intersections(&surface, &motion.position), 0, "{scheme:?}, step {step}");
        }
        // Backward Euler knows nothing of the volume until its step is done, so that hard squashing outruns the corrections: they must give way to the surfaces.
        assert!(held_back > 0.0 || scheme == Scheme::TwoPass);
    }
}
