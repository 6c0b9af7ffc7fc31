//! Position control. A driven hinge follows the exact solution of `e'' + k_v e' + k_p e = 0` at any step, whatever it carries: the solve finds the torque. So it also reaches
//! its target against gravity, without an integral term. A torque cap bounds what it can do: then a motor accelerates at `cap / I`, and a weight that is too heavy sinks.
//!
//! Source: exact solutions; spec/rigid-bodies.md 3.16 and row A19.

use super::support::{add_box, advance, failed, gravity, joint, joint_error, row};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::joint::{Control, Drive, PoseDrive, Signal, response};
use splashdown_rigid::{JointKind, Kind};

pub(super) const CASE: Case = Case {
    name: "rigid/position-control",
    spec: "A19 (rigid-bodies), RB-36",
    summary: "driven joints follow the closed form, hold against gravity, and respect their torque caps",
    source: "exact: e'' + k_v e' + k_p e = 0; alpha = cap / I",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

fn position(target: f64, stiffness: f64, damping_ratio: f64) -> Control {
    Control::Position { target: Signal::Constant(target), stiffness, damping_ratio }
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for damping_ratio in [0.3, 1.0, 2.0] {
        step_response(out, damping_ratio)?;
    }
    pose_response(out)?;
    arm_against_gravity(out)?;
    torque_cap(out)?;
    motor(out)
}

/// A box on a hinge to the world, driven to 1 rad from rest.
fn step_response(out: &mut Measurements, damping_ratio: f64) -> Result<(), CaseError> {
    let dt = 1.0 / 30.0;
    let mut world = World::<3>::new(Vector::zeros()).map_err(failed("building the world"))?;
    let frame = Frame { position: Vector::from([0.5, 0.0, 0.0]), rotation: Dim::<3>::identity() };
    let edges = Vector::from([1.0, 0.2, 0.3]);
    let body = add_box(&mut world, "arm", Kind::Dynamic, 2.0, edges, (frame, Twist::zero()))?;
    let axis = Some(Vector::from([0.0, 0.0, 1.0]));
    let hinge = joint(&world, JointKind::Hinge, [None, Some(body)], Vector::zeros(), axis)?;
    let stiffness = 25.0;
    let control = position(1.0, stiffness, damping_ratio);
    world
        .add_joint(hinge.drive(Drive { coordinate: 3, control, cap: f64::INFINITY }))
        .map_err(failed("adding a joint"))?;
    let (mut worst, mut ours, mut exact) = (0.0f64, Vec::new(), Vec::new());
    for step in 1..=60 {
        advance(&mut world, 1, dt)?;
        let p = world.state().bodies[body].frame.position;
        let angle = p.y.atan2(p.x);
        let time = dt * f64::from(step);
        let expected = 1.0 - response(1.0, 0.0, stiffness, damping_ratio, time).0;
        worst = worst.max((angle - expected).abs());
        ours.push([time, angle]);
        exact.push([time, expected]);
    }
    let resolution = format!("damping ratio {damping_ratio}, dt = 1/30 s");
    out.at_most("step response: largest error (rad)", &resolution, worst, 1e-6, CASE.source);
    out.at_most("step response: joint error (m, rad)", &resolution, joint_error(&world), 1e-9, CASE.source);
    out.plot(Plot {
        title: format!("Step response of a driven hinge, damping ratio {damping_ratio}"),
        x: "time (s)".into(),
        y: "angle (rad)".into(),
        scale: Scale::Linear,
        series: vec![
            Series { label: "ours".into(), points: ours, reference: false },
            Series { label: "exact".into(), points: exact, reference: true },
        ],
    });
    Ok(())
}

/// A body on a ball joint through its centre turns to a wanted orientation about one axis, by the same law.
fn pose_response(out: &mut Measurements) -> Result<(), CaseError> {
    let dt = 1.0 / 60.0;
    let mut world = World::<3>::new(Vector::zeros()).map_err(failed("building the world"))?;
    let place = (Frame::identity(), Twist::zero());
    let body = add_box(&mut world, "head", Kind::Dynamic, 2.0, Vector::from([0.3, 0.2, 0.5]), place)?;
    let mut ball = joint(&world, JointKind::Point, [None, Some(body)], Vector::zeros(), None)?;
    let wanted = Vector::from([0.4, -0.9, 0.6]);
    let target: [Signal; 3] = std::array::from_fn(|k| Signal::Constant(wanted[k]));
    ball.pose = Some(PoseDrive { target, stiffness: 36.0, damping_ratio: 1.0, cap: f64::INFINITY });
    world.add_joint(ball).map_err(failed("adding a joint"))?;
    let mut worst = 0.0f64;
    for step in 1..=60 {
        advance(&mut world, 1, dt)?;
        let left = response(wanted.norm(), 0.0, 36.0, 1.0, dt * f64::from(step)).0;
        let expected = wanted * (1.0 - left / wanted.norm());
        let now = Dim::<3>::log(&world.state().bodies[body].frame.rotation);
        worst = worst.max((now - expected).norm());
    }
    out.at_most("ball joint to a pose: largest error (rad)", "dt = 1/60 s", worst, 1e-6, CASE.source);
    Ok(())
}

/// Four links stretched out horizontally, held there against gravity by soft drives.
fn arm_against_gravity(out: &mut Measurements) -> Result<(), CaseError> {
    let dt = 1.0 / 30.0;
    let mut world = World::<3>::new(gravity(9.81)).map_err(failed("building the world"))?;
    row(&mut world, 1, 0.5, 1.0, Kind::Static, |_| (JointKind::Hinge, None))?;
    let mut last = 0;
    for n in 1..5 {
        let x = 0.5 * (n as f64 + 0.5);
        let frame = Frame { position: Vector::from([x, 0.0, 0.0]), rotation: Dim::<3>::identity() };
        let edges = Vector::from([0.45, 0.1, 0.1]);
        let body =
            add_box(&mut world, &format!("link {n}"), Kind::Dynamic, 1.0, edges, (frame, Twist::zero()))?;
        let axis = Some(Vector::from([0.0, 0.0, 1.0]));
        let point = Vector::from([0.5 * n as f64, 0.0, 0.0]);
        let hinge = joint(&world, JointKind::Hinge, [Some(last), Some(body)], point, axis)?;
        let control = position(0.1, 16.0, 1.0);
        world
            .add_joint(hinge.drive(Drive { coordinate: 3, control, cap: f64::INFINITY }))
            .map_err(failed("adding a joint"))?;
        last = body;
    }
    advance(&mut world, 150, dt)?;
    // Each link is turned by 0.1 rad more than the one before.
    let mut worst = 0.0f64;
    for n in 1..5 {
        let turn = Dim::<3>::log(&world.state().bodies[n].frame.rotation);
        worst = worst.max((turn.z - 0.1 * n as f64).abs());
    }
    out.at_most(
        "arm under gravity: steady error (rad)",
        "4 links, dt = 1/30 s, 5 s",
        worst,
        1e-3,
        CASE.source,
    );
    Ok(())
}

/// A motor with a cap spins up a free wheel: angle = cap t^2 / (2 I) until it has its speed.
fn torque_cap(out: &mut Measurements) -> Result<(), CaseError> {
    let (dt, cap) = (1.0 / 60.0, 0.3);
    let mut world = World::<2>::new(Vector::zeros()).map_err(failed("building the world"))?;
    let place = (Frame::identity(), Twist::zero());
    let body = add_box(&mut world, "wheel", Kind::Dynamic, 3.0, Vector::from([0.8, 0.6]), place)?;
    let moment = 3.0 * (0.64 + 0.36) / 12.0;
    let pin = joint(&world, JointKind::Point, [None, Some(body)], Vector::zeros(), None)?;
    let control = Control::Velocity { target: Signal::Constant(2.0), gain: f64::INFINITY };
    world.add_joint(pin.drive(Drive { coordinate: 2, control, cap })).map_err(failed("adding a joint"))?;
    let spin = |world: &World<2>| world.state().bodies[body].twist(&world.model().bodies[body]).angular.x;
    advance(&mut world, 60, dt)?;
    let resolution = "dt = 1/60 s";
    out.near(
        "motor with a cap: spin after 1 s (rad/s)",
        resolution,
        spin(&world),
        cap / moment,
        1e-9,
        CASE.source,
    );
    let angle = Dim::<2>::log(&world.state().bodies[body].frame.rotation).x;
    out.near(
        "motor with a cap: angle after 1 s (rad)",
        resolution,
        angle,
        0.5 * cap / moment,
        1e-9,
        CASE.source,
    );
    advance(&mut world, 120, dt)?;
    out.near("motor with a cap: spin after 3 s (rad/s)", resolution, spin(&world), 2.0, 1e-9, CASE.source);
    Ok(())
}

/// A strong motor keeps its speed against gravity; its mean torque over a turn is nil, and a weak one cannot lift the arm.
fn motor(out: &mut Measurements) -> Result<(), CaseError> {
    let dt = 1.0 / 120.0;
    let highest = |cap: f64| -> Result<(f64, f64), CaseError> {
        let mut world = World::<2>::new(gravity(9.81)).map_err(failed("building the world"))?;
        let frame = Frame { position: Vector::from([0.0, -0.5]), rotation: Dim::<2>::identity() };
        let edges = Vector::from([0.1, 1.0]);
        let body = add_box(&mut world, "arm", Kind::Dynamic, 1.0, edges, (frame, Twist::zero()))?;
        let pin = joint(&world, JointKind::Point, [None, Some(body)], Vector::zeros(), None)?;
        let control = Control::Velocity { target: Signal::Constant(1.0), gain: f64::INFINITY };
        world
            .add_joint(pin.drive(Drive { coordinate: 2, control, cap }))
            .map_err(failed("adding a joint"))?;
        let (mut top, mut slowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for step in 0..1200 {
            advance(&mut world, 1, dt)?;
            top = top.max(world.state().bodies[body].frame.position.y);
            if step > 10 {
                let spin = world.state().bodies[body].twist(&world.model().bodies[body]).angular.x;
                slowest = slowest.min(spin);
            }
        }
        Ok((top, slowest))
    };
    // The arm weighs 9.81 N at 0.5 m: 4.905 N m when it is horizontal.
    let (top, slowest) = highest(6.0)?;
    out.near("strong motor: highest point (m)", "dt = 1/120 s", top, 0.5, 1e-3, CASE.source);
    out.near("strong motor: least spin (rad/s)", "dt = 1/120 s", slowest, 1.0, 1e-9, CASE.source);
    let (top, _) = highest(3.0)?;
    // It arrives at 1 rad/s where 4.905 sin(a) = 3, and its energy carries it on to where the work against the excess of gravity has used it up.
    let moment = (1.0 + 0.01) / 12.0 + 0.25;
    let stall = (3.0f64 / 4.905).asin();
    let used = |angle: f64| 4.905 * (stall.cos() - angle.cos()) - 3.0 * (angle - stall);
    let (mut low, mut high) = (stall, 1.5);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if used(middle) < 0.5 * moment { low = middle } else { high = middle }
    }
    // First order in the instant at which the cap is reached: a step turns the arm by 1/120 rad.
    out.near("weak motor: highest point (m)", "dt = 1/120 s", top, -0.5 * low.cos(), 3e-3, CASE.source);
    Ok(())
}
