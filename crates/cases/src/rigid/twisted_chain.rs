//! A chain that is wound up. Twelve links hang between a fixed one and one that is turned by a script, three turns forth and back; cardan joints carry the twist along. At 30 steps
//! a second the joints hold, every link follows, and when the script is back the chain hangs as it did.
//!
//! Source: the rigid replica of the twisting chain, spec/rigid-bodies.md row E11a (its links pass through each other; interlocked rings that only contact holds together are not shown),
//! and of the twist joint with a free box on it, row E11b.

use super::support::{add_box, advance, failed, gravity, joint, joint_error};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::joint::Signal;
use splashdown_rigid::{Body, Geometry, JointKind, Kind, Material, Trajectory};
use std::f64::consts::TAU;
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "rigid/twisted-chain",
    spec: "E11a, E11b (rigid-bodies), RB-5",
    summary: "a chain wound up by a kinematic link and unwound; a twist joint driven by a kinematic body",
    source: "spec/rigid-bodies.md, rows E11a, E11b",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    chain(out)?;
    twist_joint(out)
}

fn script(start: Frame<3>, turns: f64, seconds: f64) -> Trajectory<3> {
    Trajectory::Script {
        start,
        about: start.position,
        axis: Vector::from([1.0, 0.0, 0.0]),
        turn: Signal::Points(vec![[0.0, 0.0], [seconds, turns * TAU], [2.0 * seconds, 0.0]]),
        direction: Vector::from([0.0, 1.0, 0.0]),
        shift: Signal::Constant(0.0),
    }
}

fn chain(out: &mut Measurements) -> Result<(), CaseError> {
    let (dt, count, length) = (1.0 / 30.0, 12usize, 0.2);
    let mut world = World::<3>::new(gravity(9.81)).map_err(failed("building the world"))?;
    let edges = Vector::from([0.9 * length, 0.3 * length, 0.3 * length]);
    for n in 0..count {
        let kind = match n {
            0 => Kind::Static,
            n if n + 1 == count => Kind::Kinematic,
            _ => Kind::Dynamic,
        };
        // Slack: the links lie along an arc.
        let angle = -0.5 + (n as f64 + 0.5) / count as f64;
        let radius = length * count as f64;
        let position: Vector<3> = Vector::from([radius * angle.sin(), -radius * angle.cos(), 0.0]);
        let rotation = Dim::<3>::exp(&Vector::from([0.0, 0.0, angle]));
        let frame = Frame { position, rotation };
        let body = add_box(&mut world, &format!("link {n}"), kind, 0.5, edges, (frame, Twist::zero()))?;
        if n > 0 {
            let bodies = &world.state().bodies;
            let point = (bodies[n - 1].frame.position + bodies[n].frame.position) * 0.5;
            // A cardan joint across the chain: its two axes are y and z of the links.
            let cardan = joint(
                &world,
                JointKind::Universal,
                [Some(body - 1), Some(body)],
                point,
                Some(Vector::from([0.0, 1.0, 0.0])),
            )?;
            let mut cardan = cardan;
            cardan.angular_damping = 0.02;
            world.add_joint(cardan).map_err(failed("adding a joint"))?;
        }
    }
    let last = count - 1;
    let start = world.state().bodies[last].frame;
    world.set_trajectory(last, script(start, 3.0, 6.0)).map_err(failed("prescribing the motion"))?;
    let (mut error, mut speed) = (0.0f64, 0.0f64);
    for _ in 0..(18.0 / dt) as usize {
        advance(&mut world, 1, dt)?;
        error = error.max(joint_error(&world));
        speed = speed.max(world.diagnostics().max_speed);
    }
    let resolution = "12 links, dt = 1/30 s";
    out.at_most("chain: joint error / link", resolution, error / length, 1e-6, CASE.source);
    // A link that turns at 3 turns in 6 s cannot whip faster than a fall through the sag.
    out.at_most("chain: largest speed (m/s)", resolution, speed, 8.0, CASE.source);
    // The kinematic link is back exactly, and the links next to it with it.
    let end = world.state().bodies[last].frame;
    out.at_most(
        "chain: driven link off its start (m)",
        resolution,
        (end.position - start.position).norm(),
        1e-12,
        CASE.source,
    );
    Ok(())
}

/// A kinematic box drives another by a twist joint's axis through a soft drive to a third one; the twist follows the script.
fn twist_joint(out: &mut Measurements) -> Result<(), CaseError> {
    let dt = 1.0 / 60.0;
    let mut world = World::<3>::new(gravity(9.81)).map_err(failed("building the world"))?;
    let edges = Vector::from([0.4, 0.2, 0.2]);
    let at = |x: f64| Frame { position: Vector::from([x, 0.0, 0.0]), rotation: Dim::<3>::identity() };
    let driver = add_box(&mut world, "driver", Kind::Kinematic, 1.0, edges, (at(0.0), Twist::zero()))?;
    let solid = Arc::new(Geometry::cuboid(edges * 0.5).map_err(failed("making a box"))?);
    let material = Material::new(0.0, 0.5);
    let mut solid_box = |name: &str, frame: Frame<3>| -> Result<usize, CaseError> {
        let body = Body::with_geometry(name, Kind::Dynamic, 1.0, solid.clone())
            .map_err(failed("building a body"))?;
        Ok(world.add_body(body.material(material), frame, Twist::zero()))
    };
    let box_ = solid_box("box", at(1.0))?;
    let free = solid_box("free", Frame { position: Vector::from([1.0, 0.2, 0.0]), ..at(0.0) })?;
    let wall = add_box(&mut world, "wall", Kind::Static, 1.0, edges, (at(2.0), Twist::zero()))?;
    let x = Vector::from([1.0, 0.0, 0.0]);
    let bar =
        joint(&world, JointKind::Twist, [Some(driver), Some(box_)], Vector::from([0.5, 0.0, 0.0]), Some(x))?;
    let control = splashdown_rigid::joint::Control::Position {
        target: Signal::Constant(0.0),
        stiffness: 400.0,
        damping_ratio: 1.0,
    };
    let bar = bar.drive(splashdown_rigid::joint::Drive { coordinate: 3, control, cap: f64::INFINITY });
    world.add_joint(bar).map_err(failed("adding a joint"))?;
    let twist =
        joint(&world, JointKind::Twist, [Some(wall), Some(box_)], Vector::from([1.5, 0.0, 0.0]), Some(x))?;
    world.add_joint(twist).map_err(failed("adding a joint"))?;
    world.set_trajectory(driver, script(at(0.0), 1.0, 4.0)).map_err(failed("prescribing the motion"))?;
    let (mut lag, mut error, mut carried) = (0.0f64, 0.0f64, 0.0);
    for step in 0..(8.0 / dt) as usize {
        advance(&mut world, 1, dt)?;
        error = error.max(joint_error(&world));
        // Turned by some 15 degrees the box still carries the free one.
        if step == 10 {
            carried = world.state().bodies[free].frame.position.y;
        }
        // Behind a constant rate w critical damping lags by 2 w / sqrt(k).
        if (60..230).contains(&step) {
            let relative = Dim::<3>::compose(
                &Dim::<3>::inverse(&world.state().bodies[driver].frame.rotation),
                &world.state().bodies[box_].frame.rotation,
            );
            lag = lag.max(Dim::<3>::log(&relative).norm());
        }
    }
    let resolution = "dt = 1/60 s";
    out.at_most("twist joint: joint error / box", resolution, error / 0.2, 1e-3, CASE.source);
    let fallen = world.state().bodies[free].frame.position.y;
    out.near("free box after 11 steps: height (m)", resolution, carried, 0.2, 0.02, CASE.source);
    out.at_most("free box at the end: height (m)", resolution, fallen, -1.0, "it falls off");
    out.at_most("twist joint: box behind its driver (rad)", resolution, lag, 0.05 * TAU / 4.0, CASE.source);
    Ok(())
}
