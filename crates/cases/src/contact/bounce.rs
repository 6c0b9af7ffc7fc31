//! A ball dropped from 1 m bounces to `e^2`, `e^4`, `e^6` m, never higher, at any step; one at rest with e = 1 stays at rest.
//!
//! Source: exact; spec/rigid-bodies.md, row A9.

use super::set_up::{METHODS, add, at, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::Twist;
use splashdown_rigid::{ContactMethod, Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/bounce",
    spec: "A9 (rigid-bodies)",
    summary: "heights of a bouncing ball, and a ball at rest that must not bounce",
    source: "exact: e^(2n) h",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

/// Heights (m) of the first `count` bounces.
fn peaks(method: ContactMethod, restitution: f64, dt: f64, count: usize) -> Result<Vec<f64>, CaseError> {
    let mut world = world::<3>(method, 9.81)?;
    let material = Material::new(restitution, 0.0);
    ground(&mut world, material, 0.0)?;
    let ball = shared(Geometry::sphere(0.1))?;
    add(&mut world, Kind::Dynamic, &ball, 1.0, material, at([0.0, 1.1, 0.0]), Twist::zero())?;
    let mut found = Vec::new();
    let (mut rising, mut highest) = (false, 0.0f64);
    for _ in 0..(6.0 / dt) as usize {
        step(&mut world, dt)?;
        let state = &world.state().bodies[1];
        if state.velocity.y > 0.0 {
            rising = true;
        }
        if rising {
            // The exact top of the parabola between two steps.
            highest = highest.max(state.frame.position.y - 0.1);
            if state.velocity.y < 0.0 {
                let up = state.velocity.y * state.velocity.y / (2.0 * 9.81);
                found.push(highest.max(state.frame.position.y - 0.1 + up));
                (rising, highest) = (false, 0.0);
            }
        }
        if found.len() == count {
            break;
        }
    }
    found.resize(count, 0.0);
    Ok(found)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in METHODS {
        for restitution in [0.5, 1.0] {
            for (n, height) in peaks(method, restitution, 1.0 / 240.0, 3)?.into_iter().enumerate() {
                let exact = f64::powi(restitution, 2 * (n as i32 + 1));
                let quantity = format!("e = {restitution}: height of bounce {} (m)", n + 1);
                out.near(&quantity, &format!("{name}, dt = 1/240 s"), height, exact, 0.02 * exact, "A9");
            }
            for (n, height) in peaks(method, restitution, 1.0 / 30.0, 3)?.into_iter().enumerate() {
                let exact = f64::powi(restitution, 2 * (n as i32 + 1));
                let quantity = format!("e = {restitution}: height of bounce {} (m), not above", n + 1);
                out.at_most(&quantity, &format!("{name}, dt = 1/30 s"), height, 1.01 * exact, "A9");
            }
        }
        for rate in [240.0, 30.0] {
            let resting = peaks(method, 0.0, 1.0 / rate, 1)?[0];
            let resolution = format!("{name}, dt = 1/{rate} s");
            out.at_most("e = 0: height of a bounce (m)", &resolution, resting, 1e-6, "A9");
        }

        let mut world = world::<3>(method, 9.81)?;
        let material = Material::new(1.0, 0.0);
        ground(&mut world, material, 0.0)?;
        let ball = shared(Geometry::sphere(0.1))?;
        add(&mut world, Kind::Dynamic, &ball, 1.0, material, at([0.0, 0.1, 0.0]), Twist::zero())?;
        let mut highest = 0.0f64;
        for _ in 0..150 {
            step(&mut world, 1.0 / 30.0)?;
            highest = highest.max((world.state().bodies[1].frame.position.y - 0.1).abs());
        }
        out.at_most(
            "at rest with e = 1: height in 5 s (m)",
            &format!("{name}, dt = 1/30 s"),
            highest,
            1e-6,
            "A9",
        );
    }
    Ok(())
}
