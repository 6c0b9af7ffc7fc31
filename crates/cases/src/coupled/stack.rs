//! Rigid and soft boxes on top of each other stand.
//!
//! Source: spec/rigid-deformable-coupling.md 5.1, stack (figure 4.2 of the source): lateral drift of each centre below 1 % of the box, residual speed below 1e-2 m/s after 2 s.

use super::set_up::{Soft, add, at, centre, ground, matter, rigid as body_of, shipped, step, tet_box, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_deformable::integrate::Scheme;
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/stack",
    spec: "5.1 stack (rigid-deformable-coupling), RDC-14, RDC-18, RDC-39",
    summary: "a soft box between two rigid ones, three times as heavy above as below: they stand and come to rest",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 10.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    one(out, Scheme::B, 0.4, "explicit elasticity, 4^3 cells, frames of 1/24 s")?;
    one(out, Scheme::LinearlyImplicit, 0.0, "linearly implicit, smooth, 4^3 cells, dt = 1/24 s")?;
    one(out, Scheme::LinearlyImplicit, 0.4, "linearly implicit, 4^3 cells, dt = 1/24 s")
}

fn one(out: &mut Measurements, scheme: Scheme, friction: f64, resolution: &str) -> Result<(), CaseError> {
    let mut world = world([0.0, -9.8, 0.0])?;
    let rough = Material::new(0.0, friction);
    ground(&mut world, rough, 0.0)?;
    let mut rigid = Vec::new();
    for height in [1.0, 5.0] {
        let cube = Geometry::cuboid(Vector::repeat(1.0));
        rigid.push(add(
            &mut world,
            Kind::Dynamic,
            cube,
            6000.0,
            rough,
            at([0.0, height, 0.0]),
            Twist::zero(),
        )?);
    }
    let mut soft = Soft::with_scheme(&world, scheme);
    soft.solids.integrator.tolerance = if scheme == Scheme::B { 1e-4 } else { 1e-8 };
    soft.add(&tet_box([-1.0, 2.0, -1.0], [1.0, 4.0, 1.0], [4, 4, 4])?, matter(2e6, 0.45, 0.01)?, [0.0; 3])?;
    soft.finish(&mut world);
    for _ in 0..48 {
        step(&mut world, 1.0 / 24.0)?;
    }
    let state = world.state();
    let mut places: Vec<Vector<3>> = rigid.iter().map(|&body| state.bodies[body].frame.position).collect();
    places.push(centre(&world, 0));
    let drift = places.iter().map(|x| x[0].hypot(x[2])).fold(0.0, f64::max);
    out.at_most("drift to the side after 2 s (m), boxes of 2 m", resolution, drift, 0.02, CASE.source);
    let speed = world.diagnostics().max_speed;
    out.at_most("largest speed after 2 s (m/s)", resolution, speed, 1e-2, CASE.source);
    // The weight above compresses the soft box by about m g H / (E A) with its sides held by friction.
    let sunk = 5.0 - places[1][1];
    out.at_most(
        "the upper box has come down by (m)",
        resolution,
        sunk,
        0.05,
        "m g H / (E A) = 0.0147 m and its own weight",
    );
    out.at_least("the upper box has come down by (m)", resolution, sunk, 0.005, "and not held by magic");
    Ok(())
}

pub(super) const HIT: Case = Case {
    name: "coupled/stack-hit",
    spec: "5.1 stack (rigid-deformable-coupling), RDC-8, RDC-14, RDC-18, RDC-39",
    summary: "the scene soft-stack: six boxes, rigid and soft in turn, stand until a heavy ball hits them at 25 m/s, and fall",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 60.0,
    run: hit,
};

/// Centres of the boxes, from the lowest on.
fn boxes(world: &World<3>) -> Result<Vec<Vector<3>>, CaseError> {
    let mut places = Vec::new();
    for (k, name) in ["rigid-1", "rigid-3", "rigid-5"].into_iter().enumerate() {
        places.push(world.state().bodies[body_of(world, name)?].frame.position);
        places.push(centre(world, k));
    }
    Ok(places)
}

fn hit(out: &mut Measurements) -> Result<(), CaseError> {
    // With the source's damping of 0.01 s the whole tower swings up and down for longer than the ball takes: its lowest mode of 7.6 rad/s falls off with 0.3 / s.
    let damped = ["soft-2", "soft-4", "soft-6"].map(|name| format!("deformable.{name}.material.damping=0.1"));
    let mut world = shipped("soft-stack", &damped.each_ref().map(String::as_str))?;
    let ball = body_of(&world, "ball")?;
    let start = boxes(&world)?;
    let (mut drift, mut speed) = (0.0f64, 0.0f64);
    for frame in 1..=144 {
        step(&mut world, 1.0 / 24.0)?;
        // The ball is 80 m away at 25 m/s.
        if frame <= 72 {
            for (x, first) in boxes(&world)?.iter().zip(&start) {
                drift = drift.max((x[0] - first[0]).hypot(x[2] - first[2]));
            }
        }
        if frame == 48 {
            let state = world.state();
            let bodies = state.bodies.iter().enumerate().filter(|(body, _)| *body != ball);
            speed = bodies.map(|(_, body)| body.velocity.norm()).fold(0.0, f64::max);
            for particle in 0..world.solids().map_or(0, |solids| solids.solid.len()) {
                speed = speed.max(state.solids.motion.speed::<3>(particle).norm());
            }
        }
    }
    let resolution = "3^3 cells a soft box, frames of 1/24 s";
    out.at_most("drift to the side in 3 s (m), boxes of 2 m", resolution, drift, 0.02, HIT.source);
    out.at_most("largest speed after 2 s (m/s)", resolution, speed, 1e-2, HIT.source);
    let end = boxes(&world)?;
    let fallen = (start.iter().zip(&end)).map(|(first, x)| first[1] - x[1]).fold(f64::MIN, f64::max);
    out.at_least("most that a box has come down by at 6 s (m)", resolution, fallen, 4.0, "it topples");
    let lowest = end.iter().map(|x| x[1]).fold(f64::INFINITY, f64::min);
    out.at_least("lowest centre (m)", resolution, lowest, 0.5, "on the ground, not in it");
    Ok(())
}
