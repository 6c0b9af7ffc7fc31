//! A driven joint by itself follows `e'' + 2 sqrt(k) e' + k e = 0` to rounding, whatever the step: after `1 / sqrt(k)` the error is `2 / e` of what it was. And pre-stabilisation does not see
//! that `q` and `-q` are the same rotation.
//!
//! Source: spec/rigid-deformable-coupling.md 3.6, 5.2-J and 5.2-K.

use super::set_up::{add, failed, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::joint::{Control, Drive, Goal, Impulses, PreOptions, Signal, plan, pre_stabilize};
use splashdown_rigid::{BodyState, Geometry, Joint, JointKind, Kind, Material};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "coupled/drive",
    spec: "5.2-J, 5.2-K (rigid-deformable-coupling), RDC-15, RDC-16",
    summary: "a driven joint alone is exact at any step; pre-stabilisation of q and -q is the same",
    source: "exact: 2 / e = 0.735759; spec/rigid-deformable-coupling.md 5.2-J",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

/// Error of the angle over the first one after `1 / sqrt(k)` in `steps` steps.
fn left(steps: u32) -> Result<f64, CaseError> {
    let (stiffness, angle) = (25.0f64, 0.8);
    let mut world = world([0.0; 3])?;
    let arm = Geometry::cuboid(Vector::from([0.5, 0.1, 0.15]));
    let material = Material::new(0.0, 0.0);
    let body = add(&mut world, Kind::Dynamic, arm, 2.0, material, Frame::identity(), Twist::zero())?;
    let frames: Vec<Frame<3>> = world.state().bodies.iter().map(|body| body.frame).collect();
    let axis = Joint::frame_at(Vector::zeros(), Some(&Vector::from([0.0, 0.0, 1.0])));
    let hinge = Joint::between("hinge", JointKind::Hinge, None, Some(body), &axis, &frames)
        .map_err(failed("making a joint"))?;
    let control = Control::Position { target: Signal::Constant(angle), stiffness, damping_ratio: 1.0 };
    let hinge = hinge.drive(Drive { coordinate: 3, control, cap: f64::INFINITY });
    world.add_joint(hinge).map_err(failed("adding a joint"))?;
    for _ in 0..steps {
        step(&mut world, 1.0 / stiffness.sqrt() / f64::from(steps))?;
    }
    let now = Dim::<3>::log(&world.state().bodies[body].frame.rotation)[2];
    Ok((angle - now) / angle)
}

/// Largest difference of the impulses of pre-stabilisation when one of the bodies has `-q` for `q`.
fn difference(which: usize) -> Result<f64, CaseError> {
    let solve = |flipped: bool| -> Result<Vec<f64>, CaseError> {
        let mut world = world([0.0; 3])?;
        let link = || Geometry::cuboid(Vector::from([0.5, 0.1, 0.15]));
        for n in 0..2 {
            let turn = Vector::<3>::new(0.1, -0.2, 0.3) * (f64::from(n) + 1.0);
            let mut rotation = Dim::<3>::exp(&turn);
            if flipped && n == which as i32 {
                let whole = Dim::<3>::exp(&(Vector::<3>::new(0.6, 0.0, 0.8) * TAU));
                rotation = Dim::<3>::compose(&rotation, &whole);
            }
            let frame = Frame { position: Vector::from([f64::from(n), 0.1, 0.0]), rotation };
            let angular = Vector::<3>::new(0.4, -1.0, 0.7) * (1.0 - 3.0 * f64::from(n));
            let twist = Twist { linear: Vector::from([0.3, f64::from(n), -0.2]), angular };
            add(&mut world, Kind::Dynamic, link(), 1.0, Material::new(0.0, 0.0), frame, twist)?;
        }
        // Made where both are upright, so that it does not hold where they are.
        let upright = |x: f64| Frame { position: Vector::from([x, 0.0, 0.0]), ..Frame::identity() };
        let axis = Joint::frame_at(Vector::from([0.5, 0.0, 0.0]), Some(&Vector::from([0.0, 0.0, 1.0])));
        let places = [upright(0.0), upright(1.0)];
        let joint = Joint::between("hinge", JointKind::Hinge, Some(0), Some(1), &axis, &places)
            .and_then(|joint| joint.checked(&world.model().bodies))
            .map_err(failed("making a joint"))?;
        let bodies = &world.model().bodies;
        let mut states: Vec<BodyState<3>> = world.state().bodies.clone();
        let joints = [joint];
        let dt = 1.0 / 30.0;
        let plan = plan(bodies, &joints, &states, 0.0, dt);
        let mut spent = Impulses::none(1);
        let options = PreOptions { goal: Goal::Vanish, tolerance: 1e-12, ..PreOptions::default() };
        let before: Vec<Spin<3>> = states.iter().map(|state| state.angular_momentum).collect();
        pre_stabilize(bodies, &joints, &[0], &mut states, &plan, &mut spent, &options);
        // What the impulses have done to both.
        let mut changes = Vec::new();
        for (state, (before, old)) in states.iter().zip(before.iter().zip(&world.state().bodies)) {
            changes.extend((state.velocity - old.velocity).iter().copied());
            changes.extend(Coordinates::as_slice(&(state.angular_momentum - before)).iter().copied());
        }
        Ok(changes)
    };
    let (plain, flipped) = (solve(false)?, solve(true)?);
    let size = plain.iter().map(|x| x.abs()).fold(0.0, f64::max);
    if !(size > 0.1) {
        return Err(failed("pre-stabilising")("no impulse was needed"));
    }
    Ok(plain.iter().zip(&flipped).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let exact = 2.0 / std::f64::consts::E;
    for steps in [1, 2, 5, 20, 100] {
        let resolution = format!("{steps} steps");
        out.near("error left after 1 / sqrt(k)", &resolution, left(steps)?, exact, 1e-10, CASE.source);
    }
    for (which, name) in [(0, "parent"), (1, "child")] {
        // The quaternion itself is turned over by a whole turn, to rounding.
        let what = "impulses with -q for q: relative difference";
        out.at_most(what, name, difference(which)?, 1e-12, "5.2-K: the same");
    }
    Ok(())
}
