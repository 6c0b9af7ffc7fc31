//! A particle, a rigid cube and a soft cube on an incline: `a = g (sin - mu cos)` while they slide, and they stop for good where that is negative.
//!
//! Source: exact; spec/rigid-deformable-coupling.md 5.2-A (figure 4.8 of the source).

use super::set_up::{Soft, add, centre, ground, matter, step, tet_box, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/friction",
    spec: "5.2-A (rigid-deformable-coupling), RDC-9, RDC-26",
    summary: "particle, rigid cube and soft cube slide, stop and stick on an incline, in one world",
    source: "exact: a = g (sin theta - mu cos theta)",
    speed: Speed::Slow,
    seconds: 10.0,
    run,
};

const G: f64 = 9.8;

/// The three on the plane, gravity turned instead of the plane: x is downhill. Side by side along z.
fn scene(degrees: f64, friction: f64, speed: f64) -> Result<World<3>, CaseError> {
    let tilt = degrees.to_radians();
    let mut world = world([G * tilt.sin(), -G * tilt.cos(), 0.0])?;
    let material = Material::new(0.0, friction);
    ground(&mut world, material, 0.0)?;
    let cube = Geometry::cuboid(Vector::repeat(0.05));
    let frame = Frame { position: Vector::from([0.0, 0.05, 1.0]), rotation: Dim::<3>::identity() };
    let twist = Twist { linear: Vector::from([speed, 0.0, 0.0]), angular: Vector::zeros() };
    add(&mut world, Kind::Dynamic, cube, 1.0, material, frame, twist)?;
    let mut soft = Soft::new(&world);
    let mesh = tet_box([-0.05, 0.0, -0.05], [0.05, 0.1, 0.05], [2, 2, 2])?;
    // The particle is part of the damping solve, so its motion is as exact as that.
    soft.solids.integrator.tolerance = 1e-12;
    soft.add(&mesh, matter(1e5, 0.3, 0.05)?, [speed, 0.0, 0.0])?;
    soft.add_point(0.1, [0.0, 0.0, -1.0], [speed, 0.0, 0.0]);
    soft.solids.friction = vec![friction; 2];
    soft.finish(&mut world);
    Ok(world)
}

/// Distances downhill of particle, rigid cube and soft cube.
fn places(world: &World<3>) -> [f64; 3] {
    let particle = world.solids().map_or(0, |solids| solids.solid.len() - 1);
    let rigid = world.state().bodies[1].frame.position[0];
    [world.state().solids.motion.point::<3>(particle)[0], rigid, centre(world, 0)[0]]
}

const NAMES: [&str; 3] = ["particle", "rigid cube", "soft cube"];

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let dt = 1.0 / 240.0;
    // Accelerating.
    let mut world = scene(20.0, 0.2, 0.0)?;
    for _ in 0..960 {
        step(&mut world, dt)?;
    }
    let tilt = 20f64.to_radians();
    let exact = 0.5 * G * (tilt.sin() - 0.2 * tilt.cos()) * 16.0;
    for ((name, measured), tolerance) in
        NAMES.iter().zip(places(&world)).zip([1e-12 * exact, 0.01 * exact, 0.01 * exact])
    {
        let quantity = format!("{name}: slides in 4 s, 20 deg (m)");
        out.near(&quantity, "dt = 1/240 s", measured, exact, tolerance, CASE.source);
    }
    // Decelerating: stops at 4.3769 s after 2.18846 m.
    let mut world = scene(10.0, 0.2, 1.0)?;
    let (mut stops, mut last) = ([0.0; 3], places(&world));
    for count in 1..=1200 {
        step(&mut world, dt)?;
        let now = places(&world);
        for ((stop, now), last) in stops.iter_mut().zip(now).zip(last) {
            // At the deceleration of 0.228 m/s^2 the last whole step moves 2e-6 m.
            if (now - last).abs() > 2e-6 {
                *stop = f64::from(count) * dt;
            }
        }
        last = now;
    }
    let stopped = places(&world);
    for ((name, stop), tolerance) in NAMES.iter().zip(stops).zip([1.5 * dt, 0.0438, 0.0438]) {
        let quantity = format!("{name}: stops at, 10 deg (s)");
        out.near(&quantity, "dt = 1/240 s", stop, 4.3769, tolerance, "5.2-A");
    }
    // With shorter steps. The soft cube takes whole numbers of parts, whose lengths do not halve with the step, so it is left out.
    let mut distances = Vec::new();
    for parts in [30.0, 60.0, 120.0, 240.0] {
        let mut world = scene(20.0, 0.2, 0.0)?;
        for _ in 0..(2.0 * parts) as usize {
            step(&mut world, 1.0 / parts)?;
        }
        distances.push(places(&world));
    }
    for (k, name) in NAMES.iter().enumerate().take(2) {
        let quantity = format!(
            "{name}: change of the distance when the step is halved, over that of the halving before"
        );
        let changes: Vec<f64> = distances.windows(2).map(|pair| (pair[1][k] - pair[0][k]).abs()).collect();
        for (pair, resolution) in changes.windows(2).zip(["to dt = 1/120 s", "to dt = 1/240 s"]) {
            // Below that it is rounding.
            let ratio = if pair[1] < 1e-9 { 0.0 } else { pair[1] / pair[0] };
            out.at_most(&quantity, resolution, ratio, 0.55, "5.2-A: first order or better");
        }
    }
    for ((name, measured), tolerance) in NAMES.iter().zip(stopped).zip([1e-5, 0.0219, 0.0219]) {
        let quantity = format!("{name}: stops after, 10 deg (m)");
        out.near(&quantity, "dt = 1/240 s", measured, 2.18846, tolerance, "5.2-A");
    }
    for _ in 0..240 {
        step(&mut world, dt)?;
    }
    for ((name, measured), before) in NAMES.iter().zip(places(&world)).zip(stopped) {
        let quantity = format!("{name}: creeps within 1 s at rest (m)");
        out.at_most(&quantity, "dt = 1/240 s", (measured - before).abs(), 1e-5, CASE.source);
    }
    // The critical angle, atan(0.2) = 11.3099 deg.
    for (degrees, slides) in [(11.21, false), (11.41, true)] {
        let mut world = scene(degrees, 0.2, 0.0)?;
        for _ in 0..240 {
            step(&mut world, dt)?;
        }
        let before = places(&world);
        for _ in 0..240 {
            step(&mut world, dt)?;
        }
        // At 0.1 deg above the critical angle: g (sin - mu cos) / 2 after 1 s.
        let tilt = f64::to_radians(degrees);
        let exact = 0.5 * G * (tilt.sin() - 0.2 * tilt.cos());
        for ((name, now), before) in NAMES.iter().zip(places(&world)).zip(before) {
            let quantity = format!("{name}: moved from 1 s to 2 s at {degrees} deg (m)");
            let moved = now - before;
            if slides {
                out.at_least(&quantity, "dt = 1/240 s", moved, 0.5 * exact, CASE.source);
            } else {
                out.at_most(&quantity, "dt = 1/240 s", moved.abs(), 5e-4, CASE.source);
            }
        }
    }
    Ok(())
}
