//! Bodies that appear during a run: what is conserved when a body breaks, and that a saved state holds everything.

use splashdown_couple::{Diagnostics, State, World};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::fracture::{BreakRule, Breakable, Hit, PatternKind, PatternSpec};
use splashdown_rigid::joint::{Joint, JointKind};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

/// A ball, a breakable box that spins, and a ball after it.
fn world<const D: usize>() -> World<D>
where
    Dim<D>: Space<D>,
{
    let mut world = World::new(Vector::from_fn(|a, _| if a == 1 { -9.81 } else { 0.0 })).unwrap();
    let ball = Arc::new(Geometry::sphere(0.2).unwrap());
    let at = |x: f64| Frame {
        position: Vector::repeat(x),
        rotation: Dim::exp(&Spin::<D>::from_slice(&[0.3, 0.7, -0.2])),
    };
    let twist = |x: f64| Twist {
        linear: Vector::from_fn(|a, _| x - a as f64),
        angular: Spin::<D>::from_slice(&[1.0, -2.0, 0.5]),
    };
    world.add_body(
        Body::with_geometry("a", Kind::Dynamic, 1.0, ball.clone()).unwrap(),
        at(-30.0),
        twist(0.1),
    );
    let half = Vector::from_fn(|a, _| [0.5, 0.25, 0.375][a]);
    let spec = PatternSpec { kind: PatternKind::Radial, pieces: 9, seed: 4 };
    let rule = Arc::new(BreakRule { cells: 32, ..BreakRule::made(spec) });
    let body =
        Body::with_geometry("box", Kind::Dynamic, 3.0, Arc::new(Geometry::cuboid(half).unwrap())).unwrap();
    world.add_body(body.breakable(Breakable::new(1.0, rule)), at(0.0), twist(3.0));
    world.add_body(Body::with_geometry("b", Kind::Dynamic, 1.0, ball).unwrap(), at(30.0), twist(-0.1));
    world
}

fn hit<const D: usize>(world: &World<D>, place: usize) -> Hit<D>
where
    Dim<D>: Space<D>,
{
    let up = Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 });
    let frame = world.state().bodies[place].frame;
    Hit { point: frame.to_world(&(up * 0.25)), normal: frame.vector_to_world(&up), impulse: 2.0 }
}

fn steps<const D: usize>(world: &mut World<D>, count: usize)
where
    Dim<D>: Space<D>,
{
    for _ in 0..count {
        world.step(1.0 / 60.0).unwrap();
    }
}

fn bits<const D: usize>(world: &World<D>) -> Vec<u8>
where
    Dim<D>: Space<D>,
{
    postcard::to_stdvec(world.state()).unwrap()
}

fn names<const D: usize>(world: &World<D>) -> Vec<String>
where
    Dim<D>: Space<D>,
{
    world.model().bodies.iter().map(|body| body.name.clone()).collect()
}

fn assert_same(before: &Diagnostics, after: &Diagnostics) {
    let near =
        |a: f64, b: f64, what: &str| assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{what}: {a} {b}");
    near(before.mass, after.mass, "mass");
    near(before.kinetic_energy, after.kinetic_energy, "kinetic energy");
    near(before.gravity_energy, after.gravity_energy, "potential energy");
    for k in 0..before.momentum.len() {
        near(before.momentum[k], after.momentum[k], "momentum");
    }
    for k in 0..before.angular_momentum.len() {
        near(before.angular_momentum[k], after.angular_momentum[k], "angular momentum");
    }
}

fn breaking_keeps_what_is_conserved<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let mut world = world::<D>();
    steps(&mut world, 5);
    let before = world.diagnostics();
    let broken = world.break_body(1, &hit(&world, 1)).unwrap().expect("pieces");
    assert_same(&before, &world.diagnostics());
    assert_eq!(broken.name, "box");
    assert!(broken.fragments.len() > 4);
    assert_eq!(broken.fragments[0], 1);
    assert_eq!(names(&world)[..4], ["a", "box.1", "b", "box.2"]);
    // The largest piece of the largest piece.
    let again = world.break_body(1, &hit(&world, 1)).unwrap().expect("pieces");
    assert_same(&before, &world.diagnostics());
    assert!(names(&world)[again.fragments[1] as usize].starts_with("box.1.2"));
    let mut unique = names(&world);
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), world.model().bodies.len());
    for body in &world.model().bodies {
        let entries = Dim::<D>::inertia_entries(&body.inertia);
        let n = <Dim<D> as Space<D>>::SPIN;
        assert!((0..n).all(|i| entries[i * n + i] > 0.0) && body.mass > 0.0, "{}", body.name);
    }
}

#[test]
fn breaking_keeps_mass_momenta_and_energy() {
    breaking_keeps_what_is_conserved::<2>();
    breaking_keeps_what_is_conserved::<3>();
}

fn a_saved_state_holds_the_fragments<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let mut whole = world::<D>();
    steps(&mut whole, 3);
    let start = bits(&whole);
    let strike = hit(&whole, 1);
    whole.break_body(1, &strike).unwrap();
    steps(&mut whole, 3);
    let saved = bits(&whole);
    // Breaking needs the rule, which is the scene's.
    let second = hit(&whole, 1);
    whole.break_body(1, &second).unwrap();
    steps(&mut whole, 3);
    let end = bits(&whole);

    let read = |bits: &[u8]| -> State<D> { postcard::from_bytes(bits).unwrap() };
    let mut resumed = world::<D>();
    assert!(resumed.restore(read(&saved)));
    assert_eq!(bits(&resumed), saved);
    resumed.break_body(1, &second).unwrap();
    steps(&mut resumed, 3);
    assert_eq!(bits(&resumed), end);
    assert_eq!(names(&resumed), names(&whole));
    // Back to before the first break, and forward again.
    assert!(resumed.restore(read(&start)));
    assert_eq!(names(&resumed), ["a", "box", "b"]);
    resumed.break_body(1, &strike).unwrap();
    steps(&mut resumed, 3);
    assert_eq!(bits(&resumed), saved);
    // And from one state to another that has other newcomers.
    assert!(whole.restore(read(&saved)));
    assert_eq!(names(&whole), names(&resumed));
    assert_eq!(bits(&whole), saved);
}

#[test]
fn a_saved_state_holds_the_fragments_and_gives_the_same_bits() {
    a_saved_state_holds_the_fragments::<2>();
    a_saved_state_holds_the_fragments::<3>();
}

#[test]
fn a_state_of_another_world_is_refused_and_changes_nothing() {
    let mut broken = world::<2>();
    broken.break_body(1, &hit(&broken, 1)).unwrap();
    let state = broken.state().clone();
    let mut other = World::<2>::new(Vector::zeros()).unwrap();
    assert!(!other.restore(state.clone()));
    // As many bodies, but the origin is not breakable.
    for x in 0..3 {
        let body = Body::new(format!("p{x}"), Kind::Dynamic, 1.0, &[1.0]).unwrap();
        other.add_body(body, Frame::identity(), Twist::zero());
    }
    assert!(!other.restore(state.clone()));
    assert_eq!(names(&other), ["p0", "p1", "p2"]);
    let mut short = state;
    short.bodies.pop();
    assert!(!broken.restore(short));
    assert!(broken.break_body(99, &hit(&broken, 1)).is_err());
    let unbreakable = hit(&broken, 0);
    assert!(broken.break_body(0, &unbreakable).is_err());
}

/// A ball flies into a plate, both free and both breakable by their thresholds; what broke, and the world after it.
fn impact(plate_threshold: f64, ball_threshold: f64) -> (World<3>, Vec<String>, Diagnostics) {
    let mut world = World::<3>::new(Vector::zeros()).unwrap();
    let mut add = |name: &str, geometry: Geometry<3>, threshold: f64, frame: Frame<3>, twist: Twist<3>| {
        let spec = PatternSpec { kind: PatternKind::Radial, pieces: 12, seed: 3 };
        let rule = Arc::new(BreakRule { cells: 32, ..BreakRule::made(spec) });
        let mass = 1000.0 * geometry.properties().unwrap().volume;
        let body = Body::with_geometry(name, Kind::Dynamic, mass, Arc::new(geometry)).unwrap();
        world.add_body(body.breakable(Breakable::new(threshold, rule)), frame, twist);
    };
    let plate = Geometry::cuboid(Vector::from([0.5, 0.05, 0.3])).unwrap();
    add("plate", plate, plate_threshold, Frame::identity(), Twist::zero());
    let above = Frame { position: Vector::from([0.15, 0.5, -0.1]), ..Frame::identity() };
    let fast = Twist { linear: Vector::from([1.0, -12.0, 0.0]), angular: Vector::from([0.0, 3.0, 5.0]) };
    add("ball", Geometry::sphere(0.1).unwrap(), ball_threshold, above, fast);
    let first = world.diagnostics();
    let mut broken = Vec::new();
    for _ in 0..15 {
        broken.extend(world.step(1.0 / 30.0).unwrap().broken.into_iter().map(|broken| broken.name));
    }
    (world, broken, first)
}

#[test]
fn by_thresholds_either_body_breaks_and_momenta_are_kept() {
    for (plate, ball) in [(10.0, 1e9), (1e9, 10.0), (10.0, 10.0), (1e9, 1e9)] {
        let (world, broken, first) = impact(plate, ball);
        assert_eq!(broken.iter().any(|name| name == "plate"), plate < 1e3, "{broken:?}");
        assert_eq!(broken.iter().any(|name| name == "ball"), ball < 1e3, "{broken:?}");
        assert_eq!(broken.is_empty(), world.model().bodies.len() == 2);
        let last = world.diagnostics();
        let size = first.momentum.iter().map(|x| x * x).sum::<f64>().sqrt();
        for k in 0..3 {
            assert!((first.momentum[k] - last.momentum[k]).abs() < 1e-12 * size, "{k}: {first:?} {last:?}");
            assert!((first.angular_momentum[k] - last.angular_momentum[k]).abs() < 1e-12 * size, "{k}");
        }
        assert!(
            last.kinetic_energy < first.kinetic_energy * (1.0 + 1e-9),
            "{} {}",
            last.kinetic_energy,
            first.kinetic_energy
        );
        // Something has happened to the ball.
        assert!(last.kinetic_energy < 0.999 * first.kinetic_energy);
    }
}

#[test]
fn a_run_with_breaks_resumes_with_the_same_bits() {
    let (whole, broken, _) = impact(10.0, 10.0);
    assert!(!broken.is_empty());
    let mut world = whole.clone();
    let saved = bits(&world);
    steps(&mut world, 5);
    let mut resumed = whole;
    assert!(resumed.restore(postcard::from_bytes(&saved).unwrap()));
    steps(&mut resumed, 5);
    assert_eq!(bits(&resumed), bits(&world));
}

#[test]
fn a_joint_of_a_body_that_breaks_hangs_on_the_fragment_that_holds_its_point() {
    let mut world = world::<3>();
    let frames: Vec<Frame<3>> = world.state().bodies.iter().map(|body| body.frame).collect();
    let corner = Frame { position: frames[1].to_world(&Vector::from([0.45, 0.2, 0.3])), ..Frame::identity() };
    let joint = Joint::between("hook", JointKind::Point, Some(1), None, &corner, &frames).unwrap();
    let held = joint.parent_frame;
    world.add_joint(joint).unwrap();
    let point = |world: &World<3>| {
        let joint = &world.model().joints[0];
        let place = joint.parent.unwrap();
        (place, world.state().bodies[place].frame.to_world(&joint.parent_frame.position))
    };
    let (_, before) = point(&world);
    let start = world.state().clone();
    for _ in 0..2 {
        let (place, _) = point(&world);
        let strike = hit(&world, place);
        world.break_body(place, &strike).unwrap();
        let (place, after) = point(&world);
        assert!((after - before).norm() < 1e-12, "{after} {before}");
        let joint = &world.model().joints[0];
        let body = &world.model().bodies[place];
        assert!(body.geometry.as_ref().unwrap().signed_distance(&joint.parent_frame.position) < 0.0);
    }
    assert!(world.restore(start));
    assert_eq!(world.model().joints[0].parent, Some(1));
    assert_eq!(world.model().joints[0].parent_frame, held);
}

/// Fragments in the plane that lie on each other have points of contact straight above one another: the list of those to keep once held one of them twice
/// and ended with a panic.
#[test]
fn fragments_of_a_wall_in_the_plane_fall_on_each_other() {
    let mut world = World::<2>::new(Vector::from([0.0, -9.81])).unwrap();
    let ground = Arc::new(Geometry::half_space(Vector::from([0.0, 1.0])).unwrap());
    let body = |name: &str, kind, mass, geometry| Body::with_geometry(name, kind, mass, geometry).unwrap();
    world.add_body(body("ground", Kind::Static, 1.0, ground), Frame::identity(), Twist::zero());
    let at = |x: f64, y: f64| Frame { position: Vector::from([x, y]), ..Frame::identity() };
    let wall = Arc::new(Geometry::cuboid(Vector::from([0.1, 1.0])).unwrap());
    let spec = PatternSpec { kind: PatternKind::Voronoi, pieces: 30, seed: 0 };
    let rule = Arc::new(BreakRule::made(spec));
    let wall = body("wall", Kind::Dynamic, 400.0, wall).breakable(Breakable::new(20.0, rule));
    world.add_body(wall, at(0.0, 1.0), Twist::zero());
    let ball = Arc::new(Geometry::sphere(0.2).unwrap());
    let twist = Twist { linear: Vector::from([10.0, 2.0]), ..Twist::zero() };
    world.add_body(body("ball", Kind::Dynamic, 377.0, ball), at(-3.0, 1.0), twist);
    let start = world.diagnostics().total_energy;
    for _ in 0..60 {
        world.step(1.0 / 30.0).unwrap();
        assert!(world.diagnostics().total_energy <= start * (1.0 + 1e-9));
    }
    assert!(world.model().bodies.len() > 20, "{}", world.model().bodies.len());
    for body in &world.state().bodies[1..] {
        assert!(body.frame.position.iter().all(|x| x.is_finite()) && body.frame.position.y > 0.0);
    }
}
