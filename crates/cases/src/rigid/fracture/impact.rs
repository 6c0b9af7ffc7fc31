//! Bodies that break while they move: a ball flies into a wall, both free. By their thresholds the wall breaks, or the ball, or both, or none. The impulse that breaks a body is not
//! applied; the fragments, which move as the body did, meet the striker in the same step. So linear and angular momentum of the whole are constant, and energy never grows.
//! The same wall, laid across two supports under its own weight and that of three balls, does not break: only impacts do.
//!
//! Source: conservation laws; 000 figure 2.4 (spec/rigid-bodies.md E4: wall or ball by thresholds), issue 3 ("momentum constant to 1e-12 through fracture").

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::fracture::{BreakRule, Breakable, PatternKind, PatternSpec};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "rigid/fracture-impact",
    spec: "E4, RB-40, RB-48",
    summary: "a ball hits a wall: by thresholds either breaks, momenta are constant, energy never grows; weight at rest breaks nothing",
    source: "exact: conservation; 000 figure 2.4",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (what, wall_breaks, ball_breaks) in [
        ("wall breaks", true, false),
        ("ball breaks", false, true),
        ("both break", true, true),
        ("none breaks", false, false),
    ] {
        let found = collision(wall_breaks, ball_breaks)?;
        let bodies = if wall_breaks || ball_breaks { 10.0 } else { 2.0 };
        out.at_least("bodies after the impact", what, found.bodies, bodies, "E4");
        if !(wall_breaks || ball_breaks) {
            out.at_most("bodies after the impact", what, found.bodies, 2.0, "E4");
        }
        let broke = [("wall", wall_breaks), ("ball", ball_breaks)];
        let wrong =
            broke.iter().filter(|(name, breaks)| found.broken.iter().any(|b| b == name) != *breaks).count();
        out.at_most(
            "bodies that broke against their thresholds, or did not",
            what,
            wrong as f64,
            0.0,
            "thresholds",
        );
        out.at_most("relative drift of momentum over 1 s", what, found.momentum, 1e-12, "exact: conserved");
        out.at_most(
            "relative drift of angular momentum over 1 s",
            what,
            found.angular,
            1e-12,
            "exact: conserved",
        );
        out.at_most(
            "largest energy over that at the start",
            what,
            found.energy,
            1.0 + 1e-9,
            "exact: never grows",
        );
        out.at_most(
            "speed of the ball or its pieces towards the wall, over that before",
            what,
            found.speed,
            1.0,
            "slowed",
        );
    }
    let (bodies, sag) = at_rest()?;
    out.at_most("breakable plate under load at rest: bodies", "2 s", bodies, 6.0, "only impacts break");
    out.at_most("breakable plate under load at rest: sag (m)", "2 s", sag, 1e-2, "it stands");
    Ok(())
}

struct Found {
    bodies: f64,
    broken: Vec<String>,
    momentum: f64,
    angular: f64,
    energy: f64,
    speed: f64,
}

fn failed(error: impl std::fmt::Display) -> CaseError {
    CaseError::new("breaking bodies", error)
}

/// A body of the given shape, density 1000 kg/m^3, with a threshold (N s).
fn body(name: &str, geometry: Geometry<3>, threshold: Option<f64>, cells: u32) -> Result<Body<3>, CaseError> {
    let mass = geometry.properties().map_or(1.0, |properties| 1000.0 * properties.volume);
    let body = Body::with_geometry(name, Kind::Dynamic, mass, Arc::new(geometry)).map_err(failed)?;
    let rule = BreakRule {
        cells,
        ..BreakRule::made(PatternSpec { kind: PatternKind::Radial, pieces: 16, seed: 2 })
    };
    Ok(match threshold {
        Some(threshold) => body.breakable(Breakable::new(threshold, Arc::new(rule))),
        None => body,
    })
}

fn collision(wall_breaks: bool, ball_breaks: bool) -> Result<Found, CaseError> {
    let mut world = World::<3>::new(Vector::zeros()).map_err(failed)?;
    let half = Vector::from([0.75, 0.05, 0.5]);
    let wall = body(
        "wall",
        Geometry::cuboid(half).map_err(failed)?,
        Some(if wall_breaks { 20.0 } else { 1e9 }),
        60,
    )?;
    let ball = body(
        "ball",
        Geometry::sphere(0.12).map_err(failed)?,
        Some(if ball_breaks { 20.0 } else { 1e9 }),
        24,
    )?;
    world.add_body(wall, Frame::identity(), Twist::zero());
    let start = Frame { position: Vector::from([0.2, 0.6, -0.1]), ..Frame::identity() };
    let fast = Twist { linear: Vector::from([0.0, -12.0, 0.0]), angular: Vector::from([0.0, 3.0, 5.0]) };
    world.add_body(ball, start, fast);
    let first = world.diagnostics();
    let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let drift =
        |a: &[f64], b: &[f64]| size(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()) / size(a);
    let mut found =
        Found { bodies: 0.0, broken: vec![], momentum: 0.0, angular: 0.0, energy: 0.0, speed: 0.0 };
    for _ in 0..30 {
        let report = world.step(1.0 / 30.0).map_err(failed)?;
        found.broken.extend(report.broken.into_iter().map(|broken| broken.name));
        let now = world.diagnostics();
        found.momentum = found.momentum.max(drift(&first.momentum, &now.momentum));
        found.angular = found.angular.max(drift(&first.angular_momentum, &now.angular_momentum));
        found.energy = found.energy.max(now.kinetic_energy / first.kinetic_energy);
    }
    let pieces = world
        .model()
        .bodies
        .iter()
        .zip(&world.state().bodies)
        .filter(|(body, _)| body.name.starts_with("ball"));
    let (mut mass, mut momentum) = (0.0, 0.0);
    for (body, state) in pieces {
        mass += body.mass;
        momentum -= body.mass * state.velocity[1];
    }
    found.speed = momentum / mass / 12.0;
    found.bodies = world.model().bodies.len() as f64;
    Ok(found)
}

/// A breakable plate on two static supports with three balls on it: bodies after 2 s, and how far the plate has sunk (m).
fn at_rest() -> Result<(f64, f64), CaseError> {
    let mut world = World::<3>::new(Vector::from([0.0, -9.81, 0.0])).map_err(failed)?;
    let plate =
        body("plate", Geometry::cuboid(Vector::from([0.5, 0.05, 0.3])).map_err(failed)?, Some(1.0), 40)?;
    let at = |x: f64, y: f64| Frame { position: Vector::from([x, y, 0.0]), ..Frame::identity() };
    world.add_body(plate, at(0.0, 0.55), Twist::zero());
    for x in [-0.4, 0.4] {
        let support = Geometry::cuboid(Vector::from([0.1, 0.25, 0.3])).map_err(failed)?;
        let support = Body::with_geometry(format!("support {x}"), Kind::Static, 1.0, Arc::new(support))
            .map_err(failed)?;
        world.add_body(support, at(x, 0.25), Twist::zero());
    }
    for x in [-0.3, 0.0, 0.3] {
        let ball = body(&format!("ball {x}"), Geometry::sphere(0.1).map_err(failed)?, None, 8)?;
        world.add_body(ball, at(x, 0.7), Twist::zero());
    }
    for _ in 0..60 {
        world.step(1.0 / 30.0).map_err(failed)?;
    }
    let sag = (0.55 - world.state().bodies[0].frame.position[1]).abs();
    Ok((world.model().bodies.len() as f64, sag))
}
