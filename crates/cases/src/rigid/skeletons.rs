//! Skeletons that crawl. A snake of 13 bones (12 joints), a maggot of 3 (2 joints) and a fish of 5 (4 joints) whose joints follow travelling waves by position control, free in
//! space: each joint is where its wave wants it to be, the joints hold, and the animal as a whole, which pushes on nothing, keeps its momentum.
//!
//! Source: spec/rigid-bodies.md row E11d (tracking error below 5 %, joint error below 1e-3).

use super::support::{advance, failed, joint_error, row};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_rigid::joint::{Control, Drive, Signal};
use splashdown_rigid::{JointKind, Kind};

pub(super) const CASE: Case = Case {
    name: "rigid/skeletons",
    spec: "E11d (rigid-bodies), RB-36",
    summary: "position-controlled skeletons of a snake, a maggot and a fish follow their waves",
    source: "spec/rigid-bodies.md, row E11d",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (name, bones, frequency, amplitude) in
        [("snake", 13, 0.5, 0.5), ("maggot", 3, 1.0, 0.6), ("fish", 5, 2.0, 0.3)]
    {
        skeleton(out, name, bones, frequency, amplitude)?;
    }
    Ok(())
}

fn skeleton(
    out: &mut Measurements,
    name: &str,
    bones: usize,
    frequency: f64,
    amplitude: f64,
) -> Result<(), CaseError> {
    let dt = 1.0 / 60.0;
    let mut bare = World::<3>::new(Vector::zeros()).map_err(failed("building the world"))?;
    let axis = Vector::from([0.0, 0.0, 1.0]);
    row(&mut bare, bones, 0.2, 0.3, Kind::Dynamic, |_| (JointKind::Hinge, Some(axis)))?;
    let mut world = World::<3>::new(Vector::zeros()).map_err(failed("building the world"))?;
    for (body, state) in bare.model().bodies.iter().zip(&bare.state().bodies) {
        world.add_body(body.clone(), state.frame, Twist::zero());
    }
    let wave =
        |n: usize| Signal::Sine { offset: 0.0, amplitude, frequency, phase: -0.7 * n as f64, rise: 0.0 };
    for (n, joint) in bare.model().joints.iter().enumerate() {
        let control = Control::Position { target: wave(n), stiffness: 900.0, damping_ratio: 1.0 };
        let drive = Drive { coordinate: 3, control, cap: f64::INFINITY };
        world.add_joint(joint.clone().drive(drive)).map_err(failed("adding a joint"))?;
    }
    let (mut tracking, mut error) = (0.0f64, 0.0f64);
    for step in 1..=300 {
        advance(&mut world, 1, dt)?;
        error = error.max(joint_error(&world));
        if step > 60 {
            let time = dt * f64::from(step);
            for n in 0..bones - 1 {
                let turn = |i: usize| world.state().bodies[i].frame.rotation;
                let relative = Dim::<3>::compose(&Dim::<3>::inverse(&turn(n)), &turn(n + 1));
                let angle = Dim::<3>::log(&relative).z;
                tracking = tracking.max((angle - wave(n).value(time)).abs() / amplitude);
            }
        }
    }
    let resolution = format!("{} joints, dt = 1/60 s, 5 s", bones - 1);
    out.at_most(&format!("{name}: tracking error / amplitude"), &resolution, tracking, 0.05, CASE.source);
    out.at_most(&format!("{name}: joint error (m, rad)"), &resolution, error, 1e-3, CASE.source);
    let momentum = world.diagnostics().momentum.iter().map(|p| p * p).sum::<f64>().sqrt();
    let exact = "exact: no outer force";
    out.at_most(&format!("{name}: momentum (kg m/s)"), &resolution, momentum, 1e-12, exact);
    Ok(())
}
