//! A unit cube on a plane tilted by theta, or on the face of a box, hull, mesh or union of boxes with flush seams. It slides with `a = g (sin theta - mu cos theta)`, or is slowed by it and stops for good, or sticks.
//!
//! Source: exact; spec/rigid-bodies.md, rows A6 and A7 (figure 2.3 and 4.8 of the source, E3 and E12).

use super::set_up::{BLOCKS, Block, METHODS, add, block, ground, round_to_single, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{ContactMethod, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/incline",
    spec: "A6, A7, A23, E3, E12 (rigid-bodies)",
    summary: "a cube on an incline slides, stops and sticks as Coulomb's law says, at one step a frame",
    source: "exact: a = g (sin theta - mu cos theta)",
    speed: Speed::Fast,
    seconds: 15.0,
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
    on(None, Block::Box, method, degrees, friction, speed)
}

/// A cube, described in one way, on a tilted plane or block.
fn on(
    slope: Option<Block>,
    cube: Block,
    method: ContactMethod,
    degrees: f64,
    friction: f64,
    speed: f64,
) -> Result<(World<3>, Vector<3>), CaseError> {
    let mut world = world::<3>(method, G)?;
    let material = Material::new(0.0, friction);
    let tilt = degrees.to_radians();
    match slope {
        None => ground(&mut world, material, tilt)?,
        Some(slope) => block(&mut world, slope, material, tilt)?,
    }
    let cube = cube.geometry(Vector::repeat(0.5), 0.5)?;
    let rotation = Dim::<3>::exp(&Vector::from([0.0, 0.0, -tilt]));
    let (up, down) = (rotation * Vector::from([0.0, 1.0, 0.0]), rotation * Vector::from([1.0, 0.0, 0.0]));
    let twist = Twist { linear: down * speed, angular: Vector::zeros() };
    let frame = Frame { position: up * 0.5, rotation }.compose(&cube.placement().inverse());
    add(&mut world, Kind::Dynamic, &cube, 1.0, material, frame, twist)?;
    Ok((world, down))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in METHODS {
        slide_and_stop(out, method, name, false)?;
        slide_and_stop(out, method, name, true)?;
        for (slope, kind) in BLOCKS {
            on_face(out, method, name, slope, kind)?;
        }

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

/// On the face of a block, which is as flat as a plane however it is described, and so are those of the cube: A6 and A7 with their tolerances.
fn on_face(
    out: &mut Measurements,
    method: ContactMethod,
    name: &str,
    slope: Block,
    kind: &str,
) -> Result<(), CaseError> {
    let dt = 1.0 / 30.0;
    // Pair after pair looks for the particles of a mesh a hundred times a step: a shorter way there.
    let slow = method == ContactMethod::Propagation && slope == Block::Mesh;
    let (slide, speed): (f64, f64) = if slow { (0.5, 1.0) } else { (2.0, 5.0) };
    for (cube, of) in BLOCKS {
        if method == ContactMethod::Propagation && (cube == Block::Mesh || slow && cube != Block::Box) {
            continue;
        }
        let resolution = format!("{name}, {of} on {kind}, dt = 1/30 s");
        let (mut world, down) = on(Some(slope), cube, method, 30.0, 0.3, 0.0)?;
        let mut spin = 0.0f64;
        let steps = (slide / dt).round() as usize;
        for _ in 0..steps {
            step(&mut world, dt)?;
            spin = spin.max(world.state().bodies[1].twist(&world.model().bodies[1]).angular.norm());
        }
        let exact = 0.5 * G * (0.5 - 0.3 * 0.75f64.sqrt()) * slide * slide;
        let distance = down.dot(&world.state().bodies[1].frame.position);
        let row = format!("slide on a face, 30 deg, mu 0.3: distance after {slide} s (m)");
        out.near(&row, &resolution, distance, exact, 1e-3 * exact, "A6");
        out.at_most("slide on a face: largest spin (rad/s)", &resolution, spin, 1e-2, "A6");
    }
    let resolution = format!("{name}, box on {kind}, dt = 1/30 s");
    let (sine, cosine) = 15f64.to_radians().sin_cos();
    let slowing = G * (0.5 * cosine - sine);
    let (mut world, down) = on(Some(slope), Block::Box, method, 15.0, 0.5, speed)?;
    for _ in 0..(1.3 * speed / slowing / dt) as usize {
        step(&mut world, dt)?;
    }
    let state = &world.state().bodies[1];
    let row = format!("stop on a face, 15 deg, mu 0.5, {speed} m/s: distance (m)");
    let distance = down.dot(&state.frame.position);
    out.near(&row, &resolution, distance, 0.5 * speed * speed / slowing, 2e-3, "A7");
    out.at_most("stop on a face: final speed (m/s)", &resolution, state.velocity.norm(), 1e-6, "A7");
    let stuck = if slow { 1.0 } else { 10.0 };
    let (mut world, down) = on(Some(slope), Block::Box, method, 20.0, 0.5, 0.0)?;
    for _ in 0..(stuck / dt).round() as usize {
        step(&mut world, dt)?;
    }
    let drift = down.dot(&world.state().bodies[1].frame.position).abs();
    let row = format!("stick on a face, 20 deg, mu 0.5: drift in {stuck} s (m)");
    out.at_most(&row, &resolution, drift, 1e-6, "A7");
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
