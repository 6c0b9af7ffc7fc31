//! Solids of finite elements and rigid bodies in one step, both ways.

use splashdown_couple::{Binding, SolidBody, SolidElement, Solids, World};
use splashdown_deformable::Elements;
use splashdown_deformable::collide::Colliders;
use splashdown_deformable::contact::{ContactSurface, SelfContact, SelfContactOptions};
use splashdown_deformable::element::{Damping, DampingKind, Material as Matter};
use splashdown_deformable::incompressible::{Incompressible, IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_geometry::generate::{CubeSplit, ball_tetrahedra, box_tetrahedra};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind, Material};
use std::sync::Arc;

type V = Vector<3>;

fn matter(young: f64, poisson: f64, damping: f64) -> Matter {
    Matter {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(young, poisson).unwrap(),
        density: 1000.0,
        damping: Damping { kind: DampingKind::Linear, time: damping },
    }
}

/// Puts `mesh`, moving with `velocity`, into the world.
fn set_soft(
    world: &mut World<3>,
    mesh: &TetrahedronMesh,
    matter: Matter,
    velocity: V,
    change: impl FnOnce(&mut Solids<3>),
) {
    let mut solids = Solids::<3>::new(world.model().gravity, Scheme::B);
    solids.integrator.tolerance = 1e-10;
    let elements = Elements::tetrahedra(mesh, 0, matter).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    solids.solid.add(elements);
    solids.solid.add_particles(&mass, &vec![false; mass.len()]);
    let around = mesh.boundary().unwrap();
    let mut surface = around.points.clone();
    surface.sort_unstable();
    solids.integrator.colliders = Colliders::These(surface);
    let position: Vec<f64> = mesh.points.iter().flat_map(|x| x.iter().copied()).collect();
    solids.bodies.push(SolidBody {
        name: "soft".into(),
        particles: 0..mesh.points.len(),
        element: SolidElement::Tetrahedron,
        elements: mesh.elements.iter().flatten().copied().collect(),
        rest: position.clone(),
        forces: 0..1,
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    change(&mut solids);
    let moving = (0..mesh.points.len()).flat_map(|_| <[f64; 3]>::from(velocity)).collect();
    world.set_solids(solids, Motion { position, velocity: moving, time: 0.0 });
}

fn add(
    world: &mut World<3>,
    kind: Kind,
    geometry: Geometry<3>,
    mass: f64,
    material: Material,
    at: V,
    twist: Twist<3>,
) -> usize {
    let name = format!("body-{}", world.model().bodies.len());
    let body = Body::with_geometry(name, kind, mass, Arc::new(geometry)).unwrap().material(material);
    world.add_body(body, Frame { position: at, rotation: Dim::<3>::identity() }, twist)
}

fn still() -> Twist<3> {
    Twist::zero()
}

#[test]
fn a_rigid_and_a_soft_ball_fall_alike() {
    let mut world = World::<3>::new(V::new(0.0, -9.81, 0.0)).unwrap();
    let ball = add(
        &mut world,
        Kind::Dynamic,
        Geometry::sphere(0.5).unwrap(),
        3.0,
        Material::new(0.5, 0.5),
        V::new(5.0, 0.0, 0.0),
        still(),
    );
    let mesh = ball_tetrahedra(V::zeros(), 0.5, 2).unwrap();
    set_soft(&mut world, &mesh, matter(1e5, 0.3, 0.01), V::zeros(), |_| {});
    for _ in 0..30 {
        world.step(1.0 / 30.0).unwrap();
    }
    let fallen = world.state().bodies[ball].frame.position[1];
    assert!((fallen + 0.5 * 9.81).abs() < 1e-11, "{fallen}");
    let state = world.state();
    for (node, rest) in mesh.points.iter().enumerate() {
        let x: V = state.solids.motion.point(node);
        assert!((x - rest - V::new(0.0, -0.5 * 9.81, 0.0)).norm() < 1e-10, "{x}");
    }
}

#[test]
fn a_ball_that_hits_a_soft_ball_keeps_momentum() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let twist = Twist { linear: V::new(2.0, 0.0, 0.0), angular: V::new(0.0, 0.0, 3.0) };
    add(
        &mut world,
        Kind::Dynamic,
        Geometry::sphere(0.5).unwrap(),
        300.0,
        Material::new(0.5, 0.5),
        V::new(-1.3, 0.2, 0.0),
        twist,
    );
    let mesh = ball_tetrahedra(V::zeros(), 0.5, 3).unwrap();
    set_soft(&mut world, &mesh, matter(1e5, 0.3, 0.01), V::zeros(), |_| {});
    let before = world.diagnostics();
    let (mut slowest, mut most) = (f64::INFINITY, 0);
    for _ in 0..60 {
        let report = world.step(1.0 / 60.0).unwrap();
        most = most.max(report.contact.touching);
        slowest = slowest.min(world.state().bodies[0].velocity[0]);
        let now = world.diagnostics();
        for k in 0..3 {
            assert!((now.momentum[k] - before.momentum[k]).abs() < 1e-10 * 600.0, "{:?}", now.momentum);
        }
    }
    let after = world.diagnostics();
    for k in 0..3 {
        let lost = after.angular_momentum[k] - before.angular_momentum[k];
        assert!(lost.abs() < 2e-2 * 120.0, "{:?} {:?}", after.angular_momentum, before.angular_momentum);
    }
    assert!(most > 0 && slowest < 1.5, "the balls have met: {most} {slowest}");
    assert!(after.total_energy < before.total_energy * (1.0 + 1e-9));
    assert!(after.total_energy > 0.5 * before.total_energy);
}

/// Spec 5.2-G: `m g H / (E A) + rho g H^2 / (2 E)` with frictionless faces and Poisson's ratio 0.
#[test]
fn a_block_presses_the_pad_it_rests_on() {
    // A strain of 1 %, so that the geometry stays linear.
    let (young, height, mass) = (1e6, 1.0, 500.0);
    let mut world = World::<3>::new(V::new(0.0, -9.81, 0.0)).unwrap();
    let smooth = Material::new(0.0, 0.0);
    add(
        &mut world,
        Kind::Static,
        Geometry::half_space(V::new(0.0, 1.0, 0.0)).unwrap(),
        1.0,
        smooth,
        V::zeros(),
        still(),
    );
    let half = V::new(0.7, 0.25, 0.7);
    let block = add(
        &mut world,
        Kind::Dynamic,
        Geometry::cuboid(half).unwrap(),
        mass,
        smooth,
        V::new(0.0, height + 0.25, 0.0),
        still(),
    );
    let mesh = box_tetrahedra(V::new(-0.5, 0.0, -0.5), V::new(0.5, height, 0.5), [4, 4, 4], CubeSplit::Five)
        .unwrap();
    set_soft(&mut world, &mesh, matter(young, 0.0, 0.03), V::zeros(), |_| {});
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap();
    }
    let sunk = height + 0.25 - world.state().bodies[block].frame.position[1];
    let expected = mass * 9.81 * height / young + 1000.0 * 9.81 * height * height / (2.0 * young);
    assert!((sunk - expected).abs() < 0.01 * expected, "{sunk} {expected}");
}

/// A rigid mass bound to the end of an elastic bar: `omega = beta / L sqrt(E / rho)`, `beta tan beta = m_bar / m` (spec 5.2-H).
#[test]
fn a_mass_bound_to_a_bar_swings_at_its_frequency() {
    let (young, length, cells) = (1e6, 1.0, 20usize);
    let h = length / cells as f64;
    let mut world = World::<3>::new(V::zeros()).unwrap();
    // A cube of the section's size around the last layer of nodes; it weighs as much as the bar.
    let half = V::new(0.5 * h, h, h);
    let end = V::new(length, 0.5 * h, 0.5 * h);
    let bar = 1000.0 * length * h * h;
    let cube = add(
        &mut world,
        Kind::Dynamic,
        Geometry::cuboid(half).unwrap(),
        bar,
        Material::new(0.0, 0.0),
        end,
        Twist { linear: V::new(0.01, 0.0, 0.0), angular: V::zeros() },
    );
    let mesh = box_tetrahedra(V::zeros(), V::new(length, h, h), [cells, 1, 1], CubeSplit::Five).unwrap();
    let frame = world.state().bodies[cube].frame;
    set_soft(&mut world, &mesh, matter(young, 0.0, 0.0), V::zeros(), |solids| {
        for (node, x) in mesh.points.iter().enumerate() {
            if x[0] < 1e-9 {
                solids.solid.set_pinned(node, true);
            }
            if x[0] > length - 1e-9 {
                solids.bindings.push(Binding {
                    particle: node as u32,
                    body: cube as u32,
                    place: frame.to_object(x),
                });
            }
        }
    });
    let omega = 0.86033 / length * (young / 1000.0f64).sqrt();
    let period = std::f64::consts::TAU / omega;
    let dt = period / 400.0;
    let mut crossings = Vec::new();
    let mut last = 0.0;
    for step in 1..=1300 {
        world.step(dt).unwrap();
        let x = world.state().bodies[cube].frame.position[0] - length;
        if last > 0.0 && x <= 0.0 {
            crossings.push(dt * (step as f64 - 1.0 + last / (last - x)));
        }
        last = x;
    }
    let measured = crossings[2] - crossings[1];
    assert!((measured / period - 1.0).abs() < 0.02, "{measured} {period}");
}

/// The same in the plane: a disc comes to rest on a soft block, and both push with the same force.
#[test]
fn a_disc_rests_on_a_soft_block_in_the_plane() {
    use splashdown_geometry::generate::{Diagonals, sheet};
    type V2 = Vector<2>;
    let mut world = World::<2>::new(V2::new(0.0, -9.81)).unwrap();
    let rough = Material::new(0.0, 0.4);
    let floor = Body::with_geometry(
        "floor",
        Kind::Static,
        1.0,
        Arc::new(Geometry::half_space(V2::new(0.0, 1.0)).unwrap()),
    );
    world.add_body(floor.unwrap().material(rough), Frame::identity(), Twist::zero());
    let disc = Body::with_geometry("disc", Kind::Dynamic, 50.0, Arc::new(Geometry::sphere(0.3).unwrap()));
    let frame = Frame { position: V2::new(0.0, 1.35), rotation: Dim::<2>::identity() };
    let disc = world.add_body(disc.unwrap().material(rough), frame, Twist::zero());
    let mesh =
        sheet(V2::new(-0.5, 0.0), V2::new(1.0, 0.0), V2::new(0.0, 1.0), [8, 8], Diagonals::Alternating)
            .unwrap();
    let elements = Elements::triangles(&mesh, 0, matter(2e5, 0.3, 0.02)).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solids = Solids::<2>::new(world.model().gravity, Scheme::B);
    solids.solid.add(elements);
    solids.solid.add_particles(&mass, &vec![false; mass.len()]);
    solids.bodies.push(SolidBody {
        name: "block".into(),
        particles: 0..mass.len(),
        element: SolidElement::Triangle,
        elements: mesh.elements.iter().flatten().copied().collect(),
        rest: mesh.points.iter().flat_map(|x| x.iter().copied()).collect(),
        forces: 0..1,
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    world.set_solids(solids, Motion::at_rest(&mesh.points));
    for _ in 0..120 {
        world.step(1.0 / 60.0).unwrap();
    }
    let state = &world.state().bodies[disc];
    assert!(state.velocity.norm() < 1e-3, "{}", state.velocity);
    assert!((state.frame.position[1] - 1.3).abs() < 0.05, "{}", state.frame.position);
    assert!(state.frame.position[0].abs() < 0.05, "{}", state.frame.position);
    // What contact pushed on the disc in the last step is its weight.
    let memory = &world.state().contact;
    let push: f64 = memory.points.iter().map(|(_, impulse)| impulse[1]).sum();
    assert!((push / memory.dt / (50.0 * 9.81) - 1.0).abs() < 0.02, "{}", push / memory.dt);
}

/// Largest relative error of a ring's volume, and the momenta, after `steps` steps of 1/240 s.
fn run_incompressible(world: &mut World<3>, mesh: &TetrahedronMesh, steps: usize) -> (f64, f64) {
    let nodes: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rest: Vec<f64> = mesh.points.iter().flat_map(|x| x.iter().copied()).collect();
    let mut keeper =
        Incompressible::new(Rings::<3>::new(4, &nodes, &rest).unwrap(), IncompressibleOptions::default());
    let mut worst = 0.0f64;
    for _ in 0..steps {
        world.step(1.0 / 240.0).unwrap();
        worst = worst.max(keeper.errors(&world.state().solids.motion.position).1);
    }
    (worst, keeper.errors(&world.state().solids.motion.position).0)
}

fn incompressible(mesh: &TetrahedronMesh) -> Incompressible<3> {
    let nodes: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rest: Vec<f64> = mesh.points.iter().flat_map(|x| x.iter().copied()).collect();
    let options = IncompressibleOptions { tolerance: 1e-8, ..IncompressibleOptions::default() };
    Incompressible::new(Rings::<3>::new(4, &nodes, &rest).unwrap(), options)
}

/// INC-28: pressures push on a bone within the flesh, which pushes back; all momenta stay.
#[test]
fn pressure_pushes_on_bones() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let mesh = ball_tetrahedra(V::zeros(), 0.5, 4).unwrap();
    let place = V::new(0.15, 0.0, 0.0);
    let bone = Geometry::cuboid(V::repeat(0.13)).unwrap();
    let material = Material::new(0.0, 0.5);
    let bone = add(&mut world, Kind::Dynamic, bone, 20.0, material, place, still());
    set_soft(&mut world, &mesh, matter(2e4, 0.0, 0.01), V::zeros(), |solids| {
        solids.integrator.incompressible = Some(incompressible(&mesh));
        for (node, x) in mesh.points.iter().enumerate().filter(|(_, x)| (*x - place).amax() < 0.14) {
            solids.bindings.push(Binding { particle: node as u32, body: bone as u32, place: x - place });
        }
    });
    // A tenth flatter along x, without the bone: its rings have lost volume.
    let mut state = world.state().clone();
    for (node, x) in mesh.points.iter().enumerate().filter(|(_, x)| (*x - place).amax() >= 0.14) {
        let squashed = if x[0] > 0.3 { 0.3 + 0.8 * (x[0] - 0.3) } else { x[0] };
        state.solids.motion.position[3 * node] = squashed;
    }
    assert!(world.restore(state));
    world.step(1e-3).unwrap();
    let after = world.diagnostics();
    let moved = world.state().bodies[bone].velocity.norm() * 20.0;
    assert!(moved > 0.0, "the bone feels nothing");
    for momentum in &after.momentum {
        assert!(momentum.abs() < 1e-9, "{:?} kg m/s", after.momentum);
    }
    let (_, rings) = run_incompressible(&mut world, &mesh, 40);
    assert!(rings < 2e-3, "ring error {rings}");
    for momentum in &world.diagnostics().momentum {
        assert!(momentum.abs() < 1e-8, "{:?} kg m/s", world.diagnostics().momentum);
    }
}

/// INC-28: a rigid ball that hits an incompressible one: momentum and volume stay.
#[test]
fn a_ball_that_hits_an_incompressible_ball_keeps_momentum_and_volume() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let twist = Twist { linear: V::new(4.0, 0.0, 0.0), angular: V::zeros() };
    let geometry = Geometry::sphere(0.5).unwrap();
    add(&mut world, Kind::Dynamic, geometry, 400.0, Material::new(0.0, 0.0), V::new(-1.05, 0.0, 0.0), twist);
    let mesh = ball_tetrahedra(V::zeros(), 0.5, 4).unwrap();
    set_soft(&mut world, &mesh, matter(2e4, 0.0, 0.02), V::zeros(), |solids| {
        solids.integrator.incompressible = Some(incompressible(&mesh));
    });
    let before = world.diagnostics();
    let (total, _) = run_incompressible(&mut world, &mesh, 120);
    let after = world.diagnostics();
    assert!((after.momentum[0] - before.momentum[0]).abs() < 1e-9 * before.momentum[0]);
    assert!(after.total_energy < before.total_energy * 1.001);
    assert!(world.state().bodies[0].velocity[0] < 3.5, "it is slowed down");
    assert!(total < 5e-3, "volume error {total}");
}

/// Push-out moves the bone out of the ground, and what it carries goes with it in the same step; it followed a step late.
#[test]
fn carried_particles_are_where_their_bone_is_pushed_to() {
    let mut world = World::<3>::new(V::new(0.0, -9.81, 0.0)).unwrap();
    let ground = Geometry::half_space(V::new(0.0, 1.0, 0.0)).unwrap();
    add(&mut world, Kind::Static, ground, 1.0, Material::default(), V::zeros(), still());
    let bone = Geometry::cuboid(V::new(0.2, 0.1, 0.1)).unwrap();
    let bone =
        add(&mut world, Kind::Dynamic, bone, 5.0, Material::default(), V::new(0.0, 0.05, 0.0), still());
    let mesh =
        box_tetrahedra(V::new(-0.1, 0.1, -0.1), V::new(0.1, 0.3, 0.1), [2; 3], CubeSplit::Five).unwrap();
    let at = V::new(0.0, 0.05, 0.0);
    let carried: Vec<Binding<3>> = (0u32..)
        .zip(&mesh.points)
        .filter(|(_, x)| x[1] < 0.15)
        .map(|(particle, x)| Binding { particle, body: bone as u32, place: x - at })
        .collect();
    let bindings = carried.clone();
    set_soft(&mut world, &mesh, matter(1e5, 0.3, 0.01), V::zeros(), |solids| solids.bindings = bindings);
    world.step(1e-3).unwrap();
    let state = world.state();
    let frame = &state.bodies[bone].frame;
    assert!(frame.position[1] > 0.09, "not pushed out: {}", frame.position[1]);
    for binding in carried {
        let first = 3 * binding.particle as usize;
        let x = V::from_column_slice(&state.solids.motion.position[first..first + 3]);
        let off = (x - frame.to_world(&binding.place)).norm();
        assert!(off < 1e-12, "particle {}: {off:e} m", binding.particle);
    }
}

/// A block of flesh that reaches beyond the little bone that carries all of it, at `place`, moving with `twist`.
fn carried_block(
    world: &mut World<3>,
    place: V,
    twist: Twist<3>,
) -> (usize, TetrahedronMesh, Vec<Binding<3>>) {
    let bone = Geometry::cuboid(V::repeat(0.05)).unwrap();
    let bone = add(world, Kind::Dynamic, bone, 200.0, Material::new(0.0, 0.3), place, twist);
    let half = V::new(0.3, 0.2, 0.25);
    let mesh = box_tetrahedra(place - half, place + half, [3; 3], CubeSplit::Five).unwrap();
    let all = (0u32..).zip(&mesh.points);
    let bindings =
        all.map(|(particle, x)| Binding { particle, body: bone as u32, place: x - place }).collect();
    (bone, mesh, bindings)
}

/// RDC-30: flesh that a bone carries stops at the ground, and the bone with it; it went through.
#[test]
fn a_creature_rests_on_its_bound_surface() {
    let mut world = World::<3>::new(V::new(0.0, -9.81, 0.0)).unwrap();
    let ground = Geometry::half_space(V::new(0.0, 1.0, 0.0)).unwrap();
    add(&mut world, Kind::Static, ground, 1.0, Material::new(0.0, 0.3), V::zeros(), still());
    let spin = Twist { linear: V::zeros(), angular: V::new(0.4, 0.0, 0.7) };
    let (bone, mesh, bindings) = carried_block(&mut world, V::new(0.0, 0.7, 0.0), spin);
    let bound = bindings.clone();
    set_soft(&mut world, &mesh, matter(1e5, 0.3, 0.01), V::zeros(), |solids| solids.bindings = bindings);
    for step in 0..180 {
        world.step(1.0 / 60.0).unwrap();
        let frame = world.state().bodies[bone].frame;
        let lowest = bound.iter().map(|one| frame.to_world(&one.place)[1]).fold(f64::MAX, f64::min);
        assert!(lowest > -2e-3, "step {step}: {lowest}");
    }
    let now = &world.state().bodies[bone];
    assert!(now.velocity.norm() < 1e-3 && now.frame.position[1] < 0.31, "{now:?}");
}

/// RDC-30: a rigid ball that hits carried flesh pushes the bone, with all momenta kept to the bit of rounding.
#[test]
fn carried_flesh_hands_impulses_of_rigid_bodies_to_its_bone() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let twist = Twist { linear: V::new(3.0, 0.0, 0.0), angular: V::zeros() };
    let ball = Geometry::sphere(0.2).unwrap();
    add(&mut world, Kind::Dynamic, ball, 100.0, Material::new(0.0, 0.3), V::new(-0.9, 0.1, 0.05), twist);
    let (bone, mesh, bindings) = carried_block(&mut world, V::zeros(), still());
    set_soft(&mut world, &mesh, matter(1e5, 0.3, 0.01), V::zeros(), |solids| solids.bindings = bindings);
    let before = world.diagnostics();
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap();
        let state = world.state();
        for node in 0..mesh.points.len() {
            let away = state.solids.motion.point::<3>(node) - state.bodies[0].frame.position;
            assert!(away.norm() > 0.2 - 1e-3, "{away}");
        }
    }
    let after = world.diagnostics();
    let moved = world.state().bodies[bone].velocity[0];
    assert!(moved > 0.9, "the bone feels little of it: {moved}");
    for k in 0..3 {
        assert!((after.momentum[k] - before.momentum[k]).abs() < 1e-10, "{:?}", after.momentum);
        let turned = after.angular_momentum[k] - before.angular_momentum[k];
        assert!(turned.abs() < 1e-8, "{:?} {:?}", after.angular_momentum, before.angular_momentum);
    }
}

/// RDC-30: soft bodies meet carried flesh with the mass of its bone behind it, both ways.
#[test]
fn a_soft_ball_that_hits_carried_flesh_moves_its_bone() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let (bone, block, mut bindings) = carried_block(&mut world, V::zeros(), still());
    let ball = ball_tetrahedra(V::new(-0.75, 0.02, 0.03), 0.3, 3).unwrap();
    let first = block.points.len() as u32;
    let mut mesh = block.clone();
    mesh.points.extend(&ball.points);
    mesh.elements.extend(ball.elements.iter().map(|element| element.map(|node| node + first)));
    bindings.retain(|binding| binding.particle < first);
    let surface: Vec<[u32; 3]> = mesh.boundary_facets().into_iter().map(|(face, _)| face).collect();
    let rest: Vec<f64> = mesh.points.iter().flat_map(|x| x.iter().copied()).collect();
    let friction = SelfContactOptions { thickness: 0.02, friction: 0.3, ..SelfContactOptions::default() };
    set_soft(&mut world, &mesh, matter(5e4, 0.3, 0.01), V::zeros(), |solids| {
        solids.bindings = bindings;
        solids.integrator.self_contact =
            Some(SelfContact::new(ContactSurface::new(surface), &rest, friction));
    });
    let mut state = world.state().clone();
    for node in first as usize..mesh.points.len() {
        state.solids.motion.velocity[3 * node] = 2.0;
    }
    assert!(world.restore(state));
    let before = world.diagnostics();
    let mut met = 0;
    for _ in 0..60 {
        let report = world.step(1.0 / 120.0).unwrap();
        met += report.solids.unwrap().self_contact.proximities;
        let now = world.diagnostics();
        for k in 0..3 {
            assert!((now.momentum[k] - before.momentum[k]).abs() < 1e-9, "{:?}", now.momentum);
        }
    }
    let after = world.diagnostics();
    assert!(met > 0 && world.state().bodies[bone].velocity[0] > 0.3, "{:?}", world.state().bodies[bone]);
    assert!(after.total_energy < before.total_energy * 1.001);
    for k in 0..3 {
        let turned = after.angular_momentum[k] - before.angular_momentum[k];
        assert!(turned.abs() < 1.0, "{:?} {:?}", after.angular_momentum, before.angular_momentum);
    }
}

/// INC-25: what a step of the world says of volume is all there; parts of a step dropped three of these.
#[test]
fn a_world_reports_all_that_is_known_of_volume() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let mesh = box_tetrahedra(V::zeros(), V::repeat(0.6), [3; 3], CubeSplit::Six).unwrap();
    set_soft(&mut world, &mesh, matter(2e4, 0.0, 0.02), V::zeros(), |solids| {
        solids.integrator.incompressible = Some(incompressible(&mesh));
    });
    let mut state = world.state().clone();
    for (node, x) in mesh.points.iter().enumerate() {
        state.solids.motion.position[3 * node] = 1.05 * x[0] + 0.02 * x[1] * x[2];
        state.solids.motion.velocity[3 * node] = x[0] * x[1];
    }
    assert!(world.restore(state));
    let report = world.step(1e-3).unwrap().solids.unwrap().incompressible;
    assert!(report.mean_ring_error > 0.03 && report.mean_ring_error < report.ring_error, "{report:?}");
    let [before, after] = report.divergence;
    assert!(before > 0.1 && after < 1e-5 * before, "{report:?}");
    assert!(report.null_part > 0.0 && report.null_part < 1.0, "{report:?}");
    assert_eq!(report.split, 0);
}

/// RDC-28: what contact makes of velocities within a step counts for the length of its other parts.
#[test]
fn parts_follow_what_a_hit_does_to_a_soft_body() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let twist = Twist { linear: V::new(60.0, 0.0, 0.0), angular: V::zeros() };
    let ball = Geometry::sphere(0.3).unwrap();
    add(&mut world, Kind::Dynamic, ball, 400.0, Material::new(0.0, 0.3), V::new(-1.1, 0.0, 0.0), twist);
    let mesh = ball_tetrahedra(V::zeros(), 0.5, 4).unwrap();
    set_soft(&mut world, &mesh, matter(2e5, 0.3, 0.01), V::zeros(), |_| {});
    let dt = 1.0 / 60.0;
    let at_first = (dt / world.longest_stable_step().unwrap()).ceil() as usize;
    let report = world.step(dt).unwrap();
    assert!(world.state().bodies[0].velocity[0] < 59.0, "they have met");
    assert!(report.parts > at_first, "{} parts, {at_first} if nothing happened", report.parts);
}

/// Collisions and contact of rigid with soft bodies are stages of the step, whatever the scheme of the soft ones is.
#[test]
fn momentum_stays_in_every_scheme_with_explicit_elasticity() {
    for scheme in [Scheme::A, Scheme::C, Scheme::Newmark] {
        let mut world = World::<3>::new(V::zeros()).unwrap();
        let twist = Twist { linear: V::new(2.0, 0.0, 0.0), angular: V::new(0.0, 0.0, 3.0) };
        let (ball, place) = (Geometry::sphere(0.5).unwrap(), V::new(-1.1, 0.2, 0.0));
        add(&mut world, Kind::Dynamic, ball, 300.0, Material::new(0.5, 0.5), place, twist);
        let mesh = ball_tetrahedra(V::zeros(), 0.5, 3).unwrap();
        set_soft(&mut world, &mesh, matter(1e5, 0.3, 0.01), V::zeros(), |solids| {
            solids.integrator.scheme = scheme;
        });
        let before = world.diagnostics();
        let (mut most, mut gained) = (0, 0.0f64);
        for _ in 0..60 {
            most = most.max(world.step(1.0 / 60.0).unwrap().contact.touching);
            let now = world.diagnostics();
            gained = gained.max(now.total_energy / before.total_energy - 1.0);
            for k in 0..3 {
                let change = now.momentum[k] - before.momentum[k];
                assert!(change.abs() < 1e-10 * 600.0, "{scheme:?}: {:?}", now.momentum);
            }
        }
        let slower = world.state().bodies[0].velocity[0];
        assert!(most > 0 && slower < 1.5, "{scheme:?}: the balls have met: {most} {slower}");
        // First order schemes are off by more while the balls touch.
        assert!(gained < 5e-3, "{scheme:?}: gained {gained}");
    }
}

/// RDC-7 and RDC-23: self-repulsions of stage I keep near surfaces from coming nearer, those at the end of V stop their velocities; the step has both.
#[test]
fn near_surfaces_repel_in_positions_and_at_the_end_in_velocities() {
    let mut world = World::<3>::new(V::zeros()).unwrap();
    let (thickness, gap, speed) = (0.05, 0.03, 0.2);
    let size = V::repeat(0.5);
    let mut mesh = box_tetrahedra(V::zeros(), size, [1; 3], CubeSplit::Five).unwrap();
    let upper = V::new(0.0, 0.5 + gap, 0.0);
    let first = mesh.points.len() as u32;
    let other = box_tetrahedra(upper, upper + size, [1; 3], CubeSplit::Five).unwrap();
    mesh.points.extend(&other.points);
    mesh.elements.extend(other.elements.iter().map(|element| element.map(|node| node + first)));
    let surface: Vec<[u32; 3]> = mesh.boundary_facets().into_iter().map(|(face, _)| face).collect();
    let rest: Vec<f64> = mesh.points.iter().flat_map(|x| x.iter().copied()).collect();
    // Known at rest, pairs that near would be left alone: they start further apart.
    let apart: Vec<f64> = (rest.chunks_exact(3).enumerate())
        .flat_map(|(node, x)| [x[0], x[1] + if node >= first as usize { 1.0 } else { 0.0 }, x[2]])
        .collect();
    let options = SelfContactOptions { thickness, friction: 0.0, ..SelfContactOptions::default() };
    set_soft(&mut world, &mesh, matter(1e5, 0.0, 0.0), V::zeros(), |solids| {
        solids.integrator.self_contact =
            Some(SelfContact::new(ContactSurface::new(surface), &apart, options));
    });
    let mut state = world.state().clone();
    for node in 0..mesh.points.len() {
        let sign = if node >= first as usize { -1.0 } else { 1.0 };
        state.solids.motion.velocity[3 * node + 1] = sign * speed;
    }
    assert!(world.restore(state));
    let dt = 1e-3;
    world.step(dt).unwrap();
    let motion = &world.state().solids.motion;
    let facing = |low: bool| -> Vec<usize> {
        let wanted = if low { 0.5 } else { 0.5 + gap };
        (0..mesh.points.len()).filter(|&node| (mesh.points[node][1] - wanted).abs() < 1e-12).collect()
    };
    let mean = |nodes: &[usize], values: &[f64]| {
        nodes.iter().map(|&node| values[3 * node + 1]).sum::<f64>() / nodes.len() as f64
    };
    let [below, above] = [facing(true), facing(false)];
    let distance = mean(&above, &motion.position) - mean(&below, &motion.position);
    assert!(distance > gap - 0.1 * 2.0 * speed * dt, "moved on into each other: {distance}");
    let approach = mean(&below, &motion.velocity) - mean(&above, &motion.velocity);
    assert!(approach < 0.2 * speed, "still approach at {approach} m/s");
}
