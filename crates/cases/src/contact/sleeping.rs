//! A pile comes to rest and falls asleep; then nothing of it changes until something touches it or what it lies on moves. A run that is resumed
//! while all sleep gives the same bits.
//!
//! Source: the rule of the scene reference (`[contact] sleeping`); exact: what sleeps does not move.

use super::set_up::{add, at, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Keyframe, Kind, Material, Trajectory};

pub(super) const CASE: Case = Case {
    name: "rigid/sleeping",
    spec: "issue 3 (islands and sleeping)",
    summary: "a pile falls asleep, costs nothing, and wakes by a touch or when its support moves",
    source: "exact: sleepers keep their bits",
    speed: Speed::Fast,
    seconds: 4.0,
    run,
};

const DT: f64 = 1.0 / 60.0;

/// Boxes in three layers on a kinematic floor, and one box apart from them.
fn pile() -> Result<World<3>, CaseError> {
    let mut world = world::<3>(ContactMethod::Simultaneous, 9.81)?;
    world.options_mut().contact.sleeping.enabled = true;
    let material = Material::new(0.0, 0.5);
    let floor = shared(Geometry::cuboid(Vector::from([3.0, 0.5, 3.0])))?;
    add(&mut world, Kind::Kinematic, &floor, 1.0, material, at([0.0, -0.5, 0.0]), Twist::zero())?;
    let cube = shared(Geometry::cuboid(Vector::repeat(0.1)))?;
    for layer in 0..3 {
        for n in 0..16 {
            let (x, z) = (f64::from(n % 4), f64::from(n / 4));
            let shift = if layer % 2 == 1 { 0.05 } else { 0.0 };
            let place = [0.21 * x + shift, 0.105 + 0.21 * f64::from(layer), 0.21 * z + shift];
            add(&mut world, Kind::Dynamic, &cube, 8.0, material, at(place), Twist::zero())?;
        }
    }
    add(&mut world, Kind::Dynamic, &cube, 8.0, material, at([-2.0, 0.1, -2.0]), Twist::zero())?;
    Ok(world)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = pile()?;
    let dynamic = world.model().bodies.len() - 1;
    let mut seconds = 0.0;
    while world.state().rest.count() < dynamic && seconds < 5.0 {
        step(&mut world, DT)?;
        seconds += DT;
    }
    out.at_most("time until all sleep (s)", "49 boxes, dt = 1/60 s", seconds, 3.0, "at rest for 0.5 s");
    let settled = world.state().clone();
    for _ in 0..60 {
        step(&mut world, DT)?;
    }
    let same = world.state().bodies == settled.bodies && world.state().contact == settled.contact;
    out.at_least("bits are the same after 1 s of sleep", "49 boxes", f64::from(u8::from(same)), 1.0, "exact");
    // Nothing is solved for sleepers.
    let report = step(&mut world, DT)?;
    out.at_most("pairs looked at", "49 boxes", report.contact.pairs as f64, 0.0, "exact");

    // A ball falls on the pile; the box apart from it sleeps on.
    let ball = shared(Geometry::sphere(0.1))?;
    let mut hit = world.clone();
    add(&mut hit, Kind::Dynamic, &ball, 5.0, Material::new(0.0, 0.5), at([0.3, 1.0, 0.3]), Twist::zero())?;
    let mut resumed: Option<World<3>> = None;
    let (mut least, mut differ) = (dynamic, 0);
    for number in 0..240 {
        step(&mut hit, DT)?;
        least = least.min(hit.state().rest.count());
        if let Some(resumed) = &mut resumed {
            step(resumed, DT)?;
            differ += usize::from(resumed.state() != hit.state());
        }
        // Resumed while the pile sleeps and the ball is still in the air.
        if number == 5 {
            let mut again = hit.clone();
            if !again.restore(hit.state().clone()) {
                return Err(CaseError("the state does not fit its own world".into()));
            }
            resumed = Some(again);
        }
    }
    out.near(
        "sleepers when the ball has hit",
        "49 boxes and a ball",
        least as f64,
        1.0,
        0.0,
        "the box apart from the pile",
    );
    out.near("sleepers 4 s later", "49 boxes and a ball", hit.state().rest.count() as f64, 50.0, 0.0, "all");
    out.at_most("steps after a resume whose bits differ", "49 boxes and a ball", differ as f64, 0.0, "exact");

    // The floor sinks: all wake and follow it.
    let time = world.state().time;
    let key = |after: f64, height: f64| Keyframe { time: time + after, frame: at([0.0, height, 0.0]) };
    let sinking = Trajectory::Keyframes { keys: vec![key(0.0, -0.5), key(1.0, -1.0)], repeat: false };
    world.set_trajectory(0, sinking).map_err(|error| CaseError::new("moving the floor", error))?;
    for _ in 0..30 {
        step(&mut world, DT)?;
    }
    out.at_most("sleepers on a sinking floor", "49 boxes", world.state().rest.count() as f64, 0.0, "none");
    let lowest =
        world.state().bodies[1..].iter().map(|body| body.frame.position.y).fold(f64::INFINITY, f64::min);
    out.near("height of the lowest box (m)", "floor sinks by 0.25 m", lowest, -0.15, 1e-3, "it follows");
    Ok(())
}
