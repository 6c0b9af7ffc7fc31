//! Momentum through joints. Joint impulses act on both bodies at one point, at the positions from which the bodies move, and are kept for the velocities of the next step: so the
//! momentum and the angular momentum of a free system of jointed bodies stay the same to round-off, with drives and limits at work, and without them its energy does not drift.
//!
//! Source: exact conservation laws.

use super::support::{advance, failed, joint_error, row};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::{Diagnostics, World};
use splashdown_math::{Coordinates, Dim, Space, Spin, Twist, Vector};
use splashdown_rigid::joint::{Control, Drive, Signal};
use splashdown_rigid::{BodyState, JointKind, Kind};

pub(super) const CASE: Case = Case {
    name: "rigid/articulated-momentum",
    spec: "RB-29, RB-32, RB-34, RB-36 (rigid-bodies)",
    summary: "free jointed systems keep momentum and angular momentum to 1e-12, and energy without drift",
    source: "exact: conservation of momentum, angular momentum and energy",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for driven in [false, true] {
        tumbling_chain::<2>(out, driven)?;
        tumbling_chain::<3>(out, driven)?;
    }
    Ok(())
}

/// Eight links of all kinds of joints, thrown with velocities that the joints allow, at one step a frame.
fn tumbling_chain<const D: usize>(out: &mut Measurements, driven: bool) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let mut world = World::<D>::new(Vector::zeros()).map_err(failed("building the world"))?;
    let kinds: &[JointKind] = match D {
        2 => &[JointKind::Point, JointKind::Rigid, JointKind::Hinge],
        _ => &[JointKind::Point, JointKind::Hinge, JointKind::Universal, JointKind::Twist, JointKind::Rigid],
    };
    row(&mut world, 8, 0.5, 1.0, Kind::Dynamic, |n| {
        let axis = Vector::from_fn(|k, _| [0.3, 1.0 - 0.2 * n as f64, 0.5][k]);
        (kinds[n % kinds.len()], Some(axis))
    })?;
    if driven {
        let mut joints = world.model().joints.clone();
        let mut again = World::<D>::new(Vector::zeros()).map_err(failed("building the world"))?;
        for (body, state) in world.model().bodies.iter().zip(&world.state().bodies) {
            again.add_body(body.clone(), state.frame, Twist::zero());
        }
        for (n, joint) in joints.drain(..).enumerate() {
            let free = joint.angular[0] == splashdown_rigid::Freedom::Free;
            let ball = D == 3 && !joint.angular.contains(&splashdown_rigid::Freedom::Locked);
            let joint = if !free {
                joint
            } else if ball {
                joint.limit_angular(0, -0.3, 0.3).limit_angular(1, -0.5, 0.5).limit_angular(2, -0.5, 0.5)
            } else if n % 2 == 0 {
                let target =
                    Signal::Sine { offset: 0.0, amplitude: 0.6, frequency: 0.7, phase: n as f64, rise: 0.0 };
                let control = Control::Position { target, stiffness: 100.0, damping_ratio: 1.0 };
                joint.drive(Drive { coordinate: D, control, cap: 5.0 })
            } else {
                joint.limit_angular(0, -0.3, 0.3)
            };
            again.add_joint(joint).map_err(failed("adding a joint"))?;
        }
        world = again;
    }
    // A spin of the whole, a wave along it, and a drift.
    let mut state = world.state().clone();
    for (n, (body, now)) in world.model().bodies.iter().zip(&mut state.bodies).enumerate() {
        let wave = (n as f64 * 1.3).sin();
        let twist = Twist {
            linear: Vector::from_fn(|k, _| [0.4, 1.0 * wave - 0.3, 0.5 * wave][k]),
            angular: Spin::<D>::from_slice(&[0.5 + wave, 0.4 - wave, 1.0]),
        };
        *now = BodyState::new(body, now.frame, &twist);
    }
    if !world.restore(state) {
        return Err(CaseError("the state does not fit its own world".into()));
    }
    // The first step removes what the joints do not allow.
    let dt = 1.0 / 60.0;
    advance(&mut world, 1, dt)?;
    let start = world.diagnostics();
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let size = |d: &Diagnostics| (2.0 * d.mass * d.kinetic_energy).sqrt();
    let (mut linear, mut angular, mut energy, mut error) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for _ in 0..600 {
        advance(&mut world, 1, dt)?;
        let now = world.diagnostics();
        linear = linear.max(distance(&now.momentum, &start.momentum) / size(&start));
        angular = angular.max(distance(&now.angular_momentum, &start.angular_momentum) / size(&start));
        energy = energy.max((now.kinetic_energy / start.kinetic_energy - 1.0).abs());
        error = error.max(joint_error(&world));
    }
    let what = if driven { "drives and limits" } else { "free" };
    let resolution = format!("{D}D, {what}, dt = 1/60 s, 10 s");
    out.at_most("change of momentum / sqrt(2 m E)", &resolution, linear, 1e-12, CASE.source);
    // The lever of the angular momentum is the distance flown, some metres.
    out.at_most("change of angular momentum / (sqrt(2 m E) 1 m)", &resolution, angular, 1e-12, CASE.source);
    out.at_most("joint error (m, rad)", &resolution, error, 1e-9, CASE.source);
    if !driven {
        // No drift: the error of the scheme, of second order, stays bounded.
        out.at_most("largest energy error / energy", &resolution, energy, 0.02, CASE.source);
    }
    Ok(())
}
