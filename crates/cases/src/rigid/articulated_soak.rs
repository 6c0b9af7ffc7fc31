//! A soak of random articulated systems: trees and rings of two to twelve bodies with masses from 1 g to 1000 kg, all kinds of joints, limits, damping, drives with caps,
//! kinematic drivers, steps from 1/15 to 1/240 s. Nothing may become NaN, no step may fail, and the energy of systems that nothing drives may not rise beyond what gravity can give.
//!
//! Source: property; issue "random-scene soak".

use super::support::{add_box, advance, failed, gravity, joint, joint_error, row};
use crate::{Case, CaseError, Measurements, Speed};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use splashdown_couple::World;
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::joint::{Control, Drive, Signal};
use splashdown_rigid::{Freedom, JointKind, Kind};

pub(super) const FAST: Case = Case {
    name: "rigid/articulated-soak",
    spec: "RB-29 to RB-36 (rigid-bodies)",
    summary: "40 random articulated systems: no NaN, no failure, no gain of energy",
    source: "exact: energy of an undriven system does not rise",
    speed: Speed::Fast,
    seconds: 5.0,
    run: |out| soak(out, 40, 3.0),
};

pub(super) const SLOW: Case = Case {
    name: "rigid/articulated-soak-500",
    speed: Speed::Slow,
    summary: "500 random articulated systems for 10 s: no NaN, no failure, no gain of energy",
    seconds: 120.0,
    run: |out| soak(out, 500, 10.0),
    ..FAST
};

/// What became of one system.
struct Outcome {
    failed: bool,
    /// Largest rise of the total energy above its start, relative to the largest energy it could have had.
    gain: f64,
    /// Largest relative joint error at the end of a step.
    error: f64,
}

fn soak(out: &mut Measurements, count: u64, seconds: f64) -> Result<(), CaseError> {
    use splashdown_parallel::prelude::*;
    let outcomes: Result<Vec<(u64, Outcome)>, CaseError> = (0..count)
        .into_par_iter()
        .map(|seed| {
            let outcome = if seed % 2 == 0 { one::<2>(seed, seconds) } else { one::<3>(seed, seconds) };
            outcome.map(|outcome| (seed, outcome))
        })
        .collect();
    let (mut failures, mut gain, mut error) = (0, (0.0f64, 0), (0.0f64, 0));
    for (seed, outcome) in outcomes? {
        failures += u32::from(outcome.failed);
        if outcome.gain > gain.0 {
            gain = (outcome.gain, seed);
        }
        if outcome.error > error.0 {
            error = (outcome.error, seed);
        }
    }
    let resolution = format!("{count} systems, {seconds} s");
    out.at_most("systems that failed", &resolution, f64::from(failures), 0.0, FAST.source);
    // Steps of 1/15 s turn fast light bodies by more than a radian: the scheme's own error, bounded.
    let quantity = format!("largest gain of energy, undriven (seed {}) / scale", gain.1);
    out.at_most(&quantity, &resolution, gain.0, 1e-2, FAST.source);
    let quantity = format!("largest joint error (seed {}) / size", error.1);
    out.at_most(&quantity, &resolution, error.0, 1e-3, FAST.source);
    weight_on_light_links(out)
}

/// A weight of 1000 kg on a chain of ten links of 0.1 kg that starts stretched out sideways: each time the chain comes taut, no joint may open.
fn weight_on_light_links(out: &mut Measurements) -> Result<(), CaseError> {
    const LINKS: usize = 10;
    const LENGTH: f64 = 0.2;
    let mut world = World::<3>::new(gravity(9.81)).map_err(failed("building the world"))?;
    row(&mut world, LINKS + 1, LENGTH, 0.1, Kind::Static, |_| (JointKind::Point, None))?;
    let end = Vector::from([LENGTH * (LINKS + 1) as f64, 0.0, 0.0]);
    let frame = Frame { position: end + Vector::from([0.2, 0.0, 0.0]), ..Frame::identity() };
    let cube = Vector::repeat(0.4);
    let weight = add_box(&mut world, "weight", Kind::Dynamic, 1000.0, cube, (frame, Twist::zero()))?;
    let last = joint(&world, JointKind::Point, [Some(LINKS), Some(weight)], end, None)?;
    world.add_joint(last).map_err(failed("adding a joint"))?;
    let start = world.diagnostics().total_energy;
    let (mut open, mut gain) = (0.0f64, 0.0f64);
    for _ in 0..120 {
        advance(&mut world, 1, 1.0 / 30.0)?;
        open = open.max(joint_error(&world));
        gain = gain.max(world.diagnostics().total_energy - start);
    }
    let resolution = "dt = 1/30 s, 4 s";
    out.at_most("1000 kg on links of 0.1 kg: joint error (m)", resolution, open, 1e-8, "joints hold");
    let fall = 1000.0 * 9.81 * LENGTH * LINKS as f64;
    out.at_most(
        "1000 kg on links of 0.1 kg: energy gained / fall",
        resolution,
        gain / fall,
        1e-3,
        "never more",
    );
    Ok(())
}

fn one<const D: usize>(seed: u64, seconds: f64) -> Result<Outcome, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut random = Pcg64Mcg::new(u128::from(seed) * 7919 + 3);
    let dt = 1.0 / random.random_range(15.0..240.0f64);
    let mut world = World::<D>::new(gravity(9.81)).map_err(failed("building the world"))?;
    let count = random.random_range(2..=12usize);
    let ring = random.random_range(0..4) == 0 && count > 3;
    let driven = random.random_range(0..2) == 0;
    let spread = random.random_range(0.0..3.0f64);
    let mut places: Vec<Vector<D>> = Vec::new();
    for n in 0..count {
        let mut unit = || random.random_range(-1.0..1.0f64);
        let mass = 10f64.powf(spread * unit());
        let edges = Vector::from_fn(|_, _| 0.35 + 0.25 * unit());
        let mut position = Vector::<D>::from_fn(|_, _| 0.2 * unit());
        let angle = std::f64::consts::TAU * n as f64 / count as f64;
        let radius = 0.8 * count as f64 / std::f64::consts::TAU;
        position[0] += if ring { radius * angle.cos() } else { 0.8 * n as f64 };
        position[1] += if ring { radius * angle.sin() } else { 0.0 };
        let rotation = Dim::exp(&(Spin::<D>::from_slice(&[unit(), unit(), unit()]) * 3.0));
        let twist = Twist::<D>::read(&[unit(), unit(), unit(), unit(), unit(), unit()]) * 2.0;
        let kind = if n == 0 && seed.is_multiple_of(3) { Kind::Static } else { Kind::Dynamic };
        let twist = if kind == Kind::Dynamic { twist } else { Twist::zero() };
        add_box(&mut world, &format!("body {n}"), kind, mass, edges, (Frame { position, rotation }, twist))?;
        places.push(position);
    }
    let kinds = [
        JointKind::Point,
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::PrismaticTwist,
        JointKind::Rigid,
        JointKind::Twist,
    ];
    for n in 1..count + usize::from(ring) {
        let (a, b) =
            (if ring || !seed.is_multiple_of(5) { n - 1 } else { random.random_range(0..n) }, n % count);
        // Rings of ball joints: other kinds would leave nothing to move.
        let mut kind = if ring { JointKind::Point } else { kinds[random.random_range(0..kinds.len())] };
        if kind.freedoms::<D>().is_none() {
            kind = JointKind::Point;
        }
        let mut unit = || random.random_range(-1.0..1.0f64);
        let axis = Vector::from_fn(|_, _| 0.1 + unit());
        let mut joint = joint(&world, kind, [Some(a), Some(b)], (places[a] + places[b]) * 0.5, Some(axis))?;
        let ball = D == 3 && !joint.angular.contains(&Freedom::Locked);
        if unit() > 0.3 && joint.angular[0] == Freedom::Free {
            joint = joint.limit_angular(0, -1.0 + 0.5 * unit(), 0.8 + 0.5 * unit());
            if ball {
                joint = joint.limit_angular(1, -1.0, 1.0).limit_angular(2, -1.2, 0.8);
            }
        }
        if joint.linear[0] == Freedom::Free {
            joint = joint.limit_linear(0, -0.3, 0.3);
        }
        if unit() > 0.5 {
            joint.angular_damping = 10f64.powf(2.0 * unit());
        }
        if driven && unit() > 0.0 && joint.angular[0] != Freedom::Locked && !ball {
            let target =
                Signal::Sine { offset: 0.0, amplitude: 1.0, frequency: 1.0, phase: unit(), rise: 0.0 };
            let control = match unit() > 0.0 {
                true => Control::Position { target, stiffness: 10f64.powf(1.0 + unit()), damping_ratio: 1.0 },
                false => Control::Velocity { target, gain: f64::INFINITY },
            };
            joint = joint.drive(Drive { coordinate: D, control, cap: 10f64.powf(2.0 * unit()) });
        }
        world.add_joint(joint).map_err(failed("adding a joint"))?;
    }
    let start = world.diagnostics();
    // Energy that it has, and that a fall of 1 m would give.
    let scale = start.kinetic_energy + start.mass * 9.81;
    let mut outcome = Outcome { failed: false, gain: 0.0, error: 0.0 };
    let mut highest = f64::NEG_INFINITY;
    for step in 0..(seconds / dt) as usize {
        let Ok(report) = world.step(dt) else {
            outcome.failed = true;
            return Ok(outcome);
        };
        let now = world.diagnostics();
        if step == 0 {
            // The first step assembles: energy counts from there.
            highest = now.total_energy;
        }
        if !driven {
            outcome.gain = outcome.gain.max((now.total_energy - highest) / scale);
        }
        outcome.error = outcome.error.max(report.joints.map_or(0.0, |joints| joints.error));
        outcome.failed |= !now.total_energy.is_finite();
    }
    Ok(outcome)
}
