//! Contact of rigid bodies through the whole step.

use splashdown_couple::{Tag, World};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, ContactMethod, Geometry, Kind, Material, PushOut};
use std::sync::Arc;

fn at<const D: usize>(position: [f64; D]) -> Frame<D>
where
    Dim<D>: Space<D>,
{
    Frame { position: Vector::from(position), rotation: Dim::identity() }
}

fn world(method: ContactMethod) -> World<3> {
    let mut world = World::new(Vector::from([0.0, -9.81, 0.0])).unwrap();
    world.options_mut().contact.method = method;
    if method == ContactMethod::Propagation {
        world.options_mut().contact.push_out = PushOut::Central;
    }
    world
}

fn floor(world: &mut World<3>, material: Material, tilt: f64) {
    let geometry = Arc::new(Geometry::half_space(Vector::from([0.0, 1.0, 0.0])).unwrap());
    let body = Body::with_geometry("floor", Kind::Static, 1.0, geometry).unwrap().material(material);
    let rotation = Dim::<3>::exp(&Vector::from([0.0, 0.0, -tilt]));
    world.add_body(body, Frame { position: Vector::zeros(), rotation }, Twist::zero());
}

fn add(
    world: &mut World<3>,
    geometry: &Arc<Geometry<3>>,
    mass: f64,
    material: Material,
    frame: Frame<3>,
    twist: Twist<3>,
) -> usize {
    let name = format!("body-{}", world.model().bodies.len());
    let body = Body::with_geometry(name, Kind::Dynamic, mass, geometry.clone()).unwrap().material(material);
    world.add_body(body, frame, twist)
}

const METHODS: [ContactMethod; 2] = [ContactMethod::Simultaneous, ContactMethod::Propagation];

#[test]
fn a_cube_slides_down_an_incline_as_it_should() {
    for method in METHODS {
        let mut world = world(method);
        let tilt = 30f64.to_radians();
        let material = Material::new(0.0, 0.3);
        floor(&mut world, material, tilt);
        let cube = Arc::new(Geometry::cuboid(Vector::repeat(0.5)).unwrap());
        let rotation = Dim::<3>::exp(&Vector::from([0.0, 0.0, -tilt]));
        let up = Dim::<3>::rotate(&rotation, &Vector::from([0.0, 1.0, 0.0]));
        let down = Dim::<3>::rotate(&rotation, &Vector::from([1.0, 0.0, 0.0]));
        add(&mut world, &cube, 1.0, material, Frame { position: up * 0.5, rotation }, Twist::zero());
        for _ in 0..60 {
            let r = world.step(1.0 / 30.0).unwrap();
            assert!(r.contact.touching == 1);
        }
        let state = &world.state().bodies[1];
        let distance = down.dot(&state.frame.position);
        let exact = 0.5 * 4.0 * 9.81 * (tilt.sin() - 0.3 * tilt.cos());
        let spin = state.twist(&world.model().bodies[1]).angular.norm();
        println!("{method:?} slide {} relative error {:e} spin {spin:e}", distance, distance / exact - 1.0);
        assert!((distance / exact - 1.0).abs() < 1e-3 && spin < 1e-2);
    }
}

#[test]
fn a_stack_of_ten_stands() {
    for method in METHODS {
        let mut world = world(method);
        let material = Material::new(0.0, 0.5);
        floor(&mut world, material, 0.0);
        let cube = Arc::new(Geometry::cuboid(Vector::repeat(0.5)).unwrap());
        for i in 0..10 {
            add(&mut world, &cube, 1.0, material, at([0.0, 0.5 + f64::from(i), 0.0]), Twist::zero());
        }
        let mut last = Default::default();
        for _ in 0..150 {
            last = world.step(1.0 / 30.0).unwrap().contact;
        }
        let top = world.state().bodies[10].frame.position;
        println!(
            "{method:?} top {:e} {:e} {:e} speed {:e} {last:?}",
            top.x,
            top.y - 9.5,
            top.z,
            world.diagnostics().max_speed
        );
        // The pairwise method is verified to sink less than a hundredth of a cube (A20).
        let limit = if method == ContactMethod::Simultaneous { 1e-5 } else { 1e-2 };
        assert!((top.y - 9.5).abs() < limit && top.xz().norm() < limit);
    }
}

#[test]
fn a_heavy_cube_stands_on_a_light_one() {
    for method in METHODS {
        let ratios: &[f64] = if method == ContactMethod::Simultaneous { &[1.0, 100.0, 1e4] } else { &[1e4] };
        for &ratio in ratios {
            let mut world = world(method);
            let material = Material::new(0.0, 0.5);
            floor(&mut world, material, 0.0);
            let cube = Arc::new(Geometry::cuboid(Vector::repeat(0.1)).unwrap());
            add(&mut world, &cube, 1.0, material, at([0.0, 0.1, 0.0]), Twist::zero());
            add(&mut world, &cube, ratio, material, at([0.0, 0.3, 0.0]), Twist::zero());
            let mut worst = 0.0f64;
            let mut iterations = 0;
            for step in 0..120 {
                let report = world.step(1.0 / 60.0).unwrap().contact;
                iterations = iterations.max(report.iterations);
                if step >= 60 {
                    let y = |i: usize| world.state().bodies[i].frame.position.y;
                    worst = worst.max((0.1 - y(1)).abs()).max((0.2 - (y(2) - y(1))).abs());
                }
            }
            println!("{method:?} ratio {ratio}: penetration {worst:e} m, {iterations} iterations");
            assert!(worst < 1e-4);
        }
    }
}

#[test]
fn a_ball_bounces_by_its_restitution_and_rests_without_bouncing() {
    for method in METHODS {
        for (restitution, dt) in [(0.5, 1.0 / 240.0), (1.0, 1.0 / 240.0), (1.0, 1.0 / 30.0)] {
            let mut world = world(method);
            let material = Material::new(restitution, 0.0);
            floor(&mut world, material, 0.0);
            let ball = Arc::new(Geometry::sphere(0.1).unwrap());
            add(&mut world, &ball, 1.0, material, at([0.0, 1.1, 0.0]), Twist::zero());
            let mut peak = 0.0f64;
            let mut bounced = false;
            for _ in 0..(1.2 / dt) as usize {
                world.step(dt).unwrap();
                let state = &world.state().bodies[1];
                if state.velocity.y > 0.0 {
                    bounced = true;
                }
                if bounced {
                    peak = peak.max(state.frame.position.y - 0.1);
                }
            }
            println!("{method:?} e {restitution} dt {dt}: peak {peak}");
            let exact = restitution * restitution;
            assert!(peak < exact * 1.01 + 1e-9);
            if dt < 0.01 {
                assert!(peak > 0.98 * exact);
            }
        }
        let mut world = world(method);
        let material = Material::new(1.0, 0.0);
        floor(&mut world, material, 0.0);
        let ball = Arc::new(Geometry::sphere(0.1).unwrap());
        add(&mut world, &ball, 1.0, material, at([0.0, 0.1, 0.0]), Twist::zero());
        for _ in 0..100 {
            world.step(1.0 / 30.0).unwrap();
            assert!((world.state().bodies[1].frame.position.y - 0.1).abs() < 1e-6);
        }
    }
}

#[test]
fn isolated_bodies_keep_their_momenta() {
    for method in METHODS {
        let mut world = world(method);
        world.options_mut().contact.shock_propagation = false;
        let mut world = {
            let mut w = World::<3>::new(Vector::zeros()).unwrap();
            *w.options_mut() = *world.options_mut();
            w
        };
        let material = Material::new(0.3, 0.5);
        let cube = Arc::new(Geometry::cuboid(Vector::from([0.3, 0.2, 0.25])).unwrap());
        let ball = Arc::new(Geometry::sphere(0.25).unwrap());
        for i in 0..12 {
            let k = f64::from(i);
            let position = Vector::from([(k * 2.4).cos(), (k * 1.3).sin(), (k * 0.7).cos()]) * 1.5;
            let frame = Frame { position, rotation: Dim::<3>::exp(&Vector::from([k, 0.3 * k, -k])) };
            let twist =
                Twist { linear: -position * (1.0 + 0.1 * k), angular: Vector::from([k.sin(), 2.0, k.cos()]) };
            add(&mut world, if i % 3 == 0 { &ball } else { &cube }, 0.5 + k, material, frame, twist);
        }
        let start = world.diagnostics();
        let mut touched = 0;
        let mut energy = start.kinetic_energy;
        for _ in 0..90 {
            let report = world.step(1.0 / 60.0).unwrap();
            touched += report.contact.touching;
            energy = energy.max(world.diagnostics().kinetic_energy);
        }
        let end = world.diagnostics();
        let scale = world
            .model()
            .bodies
            .iter()
            .zip(&world.state().bodies)
            .map(|(b, s)| b.mass * s.velocity.norm())
            .sum::<f64>();
        let error =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        let (p, l) = (
            error(&start.momentum, &end.momentum) / scale,
            error(&start.angular_momentum, &end.angular_momentum) / scale,
        );
        println!(
            "{method:?} touched {touched}: momentum {p:e} angular {l:e} energy {} -> {} max {}",
            start.kinetic_energy, end.kinetic_energy, energy
        );
        assert!(touched > 10 && p < 1e-12 && l < 1e-12);
    }
}

#[test]
fn the_cradle_passes_the_blow_on() {
    for method in METHODS {
        let mut world = World::<3>::new(Vector::zeros()).unwrap();
        world.options_mut().contact.method = method;
        let material = Material::new(1.0, 0.0);
        let ball = Arc::new(Geometry::sphere(0.5).unwrap());
        for i in 0..5 {
            add(&mut world, &ball, 1.0, material, at([f64::from(i), 0.0, 0.0]), Twist::zero());
        }
        let hit = Twist { linear: Vector::from([2.0, 0.0, 0.0]), angular: Vector::zeros() };
        add(&mut world, &ball, 1.0, material, at([-1.52, 0.0, 0.0]), hit);
        for _ in 0..60 {
            world.step(1.0 / 60.0).unwrap();
        }
        let speeds: Vec<f64> = world.state().bodies.iter().map(|b| b.velocity.x).collect();
        println!("{method:?} {speeds:?}");
        assert!(
            (speeds[4] - 2.0).abs() < 0.1 && speeds.iter().enumerate().all(|(i, v)| i == 4 || v.abs() < 0.1)
        );
    }
}

/// RB-52: the totals after every stage, with the times of positions and velocities, and what the energy clamp did by phase.
#[test]
fn stages_tell_their_times_and_only_whole_states_have_an_energy() {
    for method in METHODS {
        let mut world = world(method);
        world.options_mut().stage_totals = true;
        let material = Material::new(1.0, 0.5);
        floor(&mut world, material, 0.0);
        let rod = Arc::new(Geometry::cuboid(Vector::from([0.5, 0.025, 0.025])).unwrap());
        let rotation = Dim::<3>::exp(&Vector::from([0.3, 0.2, 0.1]));
        let twist = Twist { linear: Vector::zeros(), angular: rotation * Vector::from([20.0, 8.0, 8.0]) };
        add(
            &mut world,
            &rod,
            1.0,
            material,
            Frame { position: Vector::from([0.0, 0.5, 0.0]), rotation },
            twist,
        );
        let (mut scaled, mut energy) = (0, 0.0);
        for _ in 0..60 {
            let report = world.step(1.0 / 30.0).unwrap();
            let tags: Vec<(Tag, Tag)> = report.stages.iter().map(|s| (s.positions, s.velocities)).collect();
            let (n, half, next) = (Tag::Start, Tag::Half, Tag::End);
            // Where a stage gives spin back, that is told apart from what else it does.
            let expected = [
                (n, half),
                (n, n),
                (n, half),
                (n, n),
                (next, n),
                (next, n),
                (next, next),
                (next, next),
                (next, next),
            ];
            assert_eq!(tags, expected);
            for stage in &report.stages {
                assert_eq!(stage.split, stage.positions != stage.velocities);
                assert_eq!(stage.total_energy.is_some(), !stage.split, "{}", stage.stage);
            }
            let (last, now) = (report.stages.last().unwrap(), world.diagnostics());
            assert!((last.kinetic_energy - now.kinetic_energy).abs() <= 1e-9 * now.kinetic_energy);
            scaled += report.contact.clamped_collisions.scaled;
            energy += report.contact.clamped_collisions.energy;
        }
        assert_eq!(scaled > 0, energy > 0.0);
        world.options_mut().stage_totals = false;
        assert!(world.step(1.0 / 30.0).unwrap().stages.is_empty());
    }
}

/// A capsule that sticks out past the edge of what it lies on is held by that edge, and by all that it lies across.
#[test]
fn capsules_rest_across_edges() {
    let turned = Dim::<3>::exp(&Vector::from([0.0, std::f64::consts::FRAC_PI_2, 0.0]));
    let level = Dim::<3>::identity();
    let flat = Dim::<3>::exp(&Vector::from([std::f64::consts::FRAC_PI_2, 0.0, 0.0]));
    let box_of = || Geometry::cuboid(Vector::repeat(0.5)).unwrap();
    let ring = || Geometry::shape(Shape::torus(0.4, 0.1).unwrap(), 24).unwrap();
    for (support, rotation, place, offset) in [
        (box_of(), level, 0.5, 0.45),
        (box_of(), level, 0.5, 0.2),
        (ring(), flat, 0.1, 0.05),
        (Geometry::capsule(0.1, 0.4).unwrap(), turned, 0.1, 0.3),
    ] {
        let mut world = world(ContactMethod::Simultaneous);
        let material = Material::new(0.0, 0.5);
        let described = Frame { position: Vector::from([0.0, place, 0.0]), rotation };
        let frame = described.compose(&support.placement().inverse());
        let body = Body::with_geometry("support", Kind::Static, 1.0, Arc::new(support)).unwrap();
        world.add_body(body.material(material), frame, Twist::zero());
        let capsule = Arc::new(Geometry::capsule(0.1, 0.6).unwrap());
        let start = Vector::from([offset, 2.0 * place + 0.1, 0.0]);
        add(&mut world, &capsule, 1.0, material, Frame { position: start, rotation: turned }, Twist::zero());
        let energy = world.diagnostics().total_energy;
        for _ in 0..90 {
            world.step(1.0 / 30.0).unwrap();
            assert!(world.diagnostics().total_energy < energy * (1.0 + 1e-9));
        }
        let moved = (world.state().bodies[1].frame.position - start).norm();
        assert!(moved < 1e-6, "{offset}: {moved}");
    }
}
