//! A unit cube on a plane tilted by theta. It slides with `a = g (sin theta - mu cos theta)`, or is slowed by it and stops for good, or sticks.
//!
//! Source: exact; spec/rigid-bodies.md, rows A6 and A7 (figure 2.3 and 4.8 of the source, E3 and E12).

use super::set_up::{METHODS, add, ground, round_to_single, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/incline",
    spec: "A6, A7, A23, E3, E12 (rigid-bodies)",
    summary: "a cube on an incline slides, stops and sticks as Coulomb's law says, at one step a frame",
    source: "exact: a = g (sin theta - mu cos theta)",
    speed: Speed::Fast,
    seconds: 3.0,
    run,
};

const G: f64 = 9.8;

/// A cube on the tilted plane with a speed downhill (m/s), and the downhill direction.
fn on_plane(
    method: ContactMethod,
    degrees: f64,
    friction: f64,
    speed: f64,
) -> Result<(World<3>, Vector<3>), CaseError> {
    let mut world = world::<3>(method, G)?;
    let material = Material::new(0.0, friction);
    let tilt = degrees.to_radians();
    ground(&mut world, material, tilt)?;
    let cube = shared(Geometry::cuboid(Vector::repeat(0.5)))?;
    let rotation = Dim::<3>::exp(&Vector::from([0.0, 0.0, -tilt]));
    let (up, down) = (rotation * Vector::from([0.0, 1.0, 0.0]), rotation * Vector::from([1.0, 0.0, 0.0]));
    let twist = Twist { linear: down * speed, angular: Vector::zeros() };
    add(&mut world, Kind::Dynamic, &cube, 1.0, material, Frame { position: up * 0.5, rotation }, twist)?;
    Ok((world, down))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in METHODS {
        slide_and_stop(out, method, name, false)?;
        slide_and_stop(out, method, name, true)?;

        // E12: as many parts of a frame as the source needed.
        let (frame, parts) = (1.0 / 30.0, 2515);
        let (mut world, down) = on_plane(method, 30.0, 0.3, 0.0)?;
        for _ in 0..5 * parts {
            step(&mut world, frame / f64::from(parts))?;
        }
        let exact = 0.5 * G * (0.5 - 0.3 * 0.75f64.sqrt()) * (5.0 * frame).powi(2);
        let distance = down.dot(&world.state().bodies[1].frame.position);
        let resolution = format!("{name}, dt = 1/75450 s");
        out.near("slide: distance after 5 frames (m)", &resolution, distance, exact, 1e-3 * exact, "E12");
    }
    Ok(())
}

/// At one step a frame; with `single` the state is kept in single precision between steps.
fn slide_and_stop(
    out: &mut Measurements,
    method: ContactMethod,
    name: &str,
    single: bool,
) -> Result<(), CaseError> {
    let dt = 1.0 / 30.0;
    let resolution =
        format!("{name}, dt = 1/30 s{}", if single { ", state in single precision" } else { "" });
    let advance = |world: &mut World<3>| -> Result<(), CaseError> {
        step(world, dt)?;
        if single { round_to_single(world) } else { Ok(()) }
    };
    let (mut world, down) = on_plane(method, 30.0, 0.3, 0.0)?;
    let mut spin = 0.0f64;
    for _ in 0..60 {
        advance(&mut world)?;
        spin = spin.max(world.state().bodies[1].twist(&world.model().bodies[1]).angular.norm());
    }
    let distance = down.dot(&world.state().bodies[1].frame.position);
    let row = "slide, 30 deg, mu 0.3: distance after 2 s (m)";
    out.near(row, &resolution, distance, 4.707_771, 4.7e-3, "A6");
    out.at_most("slide: largest spin (rad/s)", &resolution, spin, 1e-2, "A6");

    let (mut world, down) = on_plane(method, 15.0, 0.5, 5.0)?;
    for _ in 0..120 {
        advance(&mut world)?;
    }
    let state = &world.state().bodies[1];
    let distance = down.dot(&state.frame.position);
    let row = "stop, 15 deg, mu 0.5, 5 m/s: distance (m)";
    out.near(row, &resolution, distance, 5.690_587, 2e-3, "A7");
    out.at_most("stop: final speed (m/s)", &resolution, state.velocity.norm(), 1e-6, "A7");

    let (mut world, down) = on_plane(method, 20.0, 0.5, 0.0)?;
    for _ in 0..300 {
        advance(&mut world)?;
    }
    let drift = down.dot(&world.state().bodies[1].frame.position).abs();
    out.at_most("stick, 20 deg, mu 0.5: drift in 10 s (m)", &resolution, drift, 1e-6, "A7");
    Ok(())
}
