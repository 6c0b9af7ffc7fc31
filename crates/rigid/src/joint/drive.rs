//! Motors and position control: where a driven coordinate shall be at the end of the step, and how fast (spec/rigid-bodies.md 3.16).
//!
//! Gains are those of an acceleration, `k_p` in 1/s^2: the exact solution of the controlled coordinate is followed, and the solve finds the
//! force that this takes, whatever hangs on the joint.

use super::coordinates::{Pose, wrapped};
use super::{Joint, JointError};
use crate::{Body, BodyState};
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Rotation, Space, Spin};
use std::f64::consts::TAU;

/// A number that changes with time, such as the target of a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Always the same.
    Constant(f64),
    /// Grows from zero at time zero at this rate (1/s).
    Ramp(f64),
    /// `offset + amplitude sin(2 pi frequency t + phase)`, where the amplitude may grow from zero first.
    Sine {
        /// Middle value.
        offset: f64,
        /// Half of the swing.
        amplitude: f64,
        /// Swings a second (1/s).
        frequency: f64,
        /// Phase at time zero (rad).
        phase: f64,
        /// Time (s) in which the amplitude grows from zero; 0 for at once.
        rise: f64,
    },
    /// Straight lines between `[time (s), value]` pairs with ascending times; constant before the first and after the last.
    Points(Vec<[f64; 2]>),
}

impl Signal {
    /// Value at `time` (s).
    pub fn value(&self, time: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Ramp(rate) => rate * time,
            Self::Sine { offset, amplitude, frequency, phase, rise } => {
                let part = if time < *rise { time.max(0.0) / rise } else { 1.0 };
                offset + part * amplitude * (TAU * frequency * time + phase).sin()
            }
            Self::Points(points) => match points.iter().position(|p| p[0] > time) {
                None => points.last().map_or(0.0, |p| p[1]),
                Some(0) => points[0][1],
                Some(next) => {
                    let ([t0, a], [t1, b]) = (points[next - 1], points[next]);
                    a + (b - a) * (time - t0) / (t1 - t0)
                }
            },
        }
    }

    /// Rate of change at `time` (s); after a kink of [`Signal::Points`] at exactly this time.
    pub fn rate(&self, time: f64) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Ramp(rate) => *rate,
            Self::Sine { amplitude, frequency, phase, rise, .. } => {
                let angle = TAU * frequency * time + phase;
                let swing = amplitude * TAU * frequency * angle.cos();
                if time < *rise { (time.max(0.0) * swing + amplitude * angle.sin()) / rise } else { swing }
            }
            Self::Points(points) => match points.iter().position(|p| p[0] > time) {
                None | Some(0) => 0.0,
                Some(next) => {
                    let ([t0, a], [t1, b]) = (points[next - 1], points[next]);
                    (b - a) / (t1 - t0)
                }
            },
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Constant(value) | Self::Ramp(value) => value.is_finite(),
            Self::Sine { offset, amplitude, frequency, phase, rise } => {
                [offset, amplitude, frequency, phase, rise].iter().all(|v| v.is_finite())
            }
            Self::Points(points) => {
                points.iter().flatten().all(|v| v.is_finite())
                    && points.windows(2).all(|pair| pair[0][0] < pair[1][0])
                    && !points.is_empty()
            }
        }
    }
}

/// How a driven coordinate follows its target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Proportional-derivative control of the position: the error obeys `e'' + k_v e' + k_p e = 0`.
    Position {
        /// Wanted value (m or rad).
        target: Signal,
        /// `k_p` (1/s^2).
        stiffness: f64,
        /// `k_v / (2 sqrt(k_p))`: 1 is critical damping.
        damping_ratio: f64,
    },
    /// The speed approaches the target exponentially.
    Velocity {
        /// Wanted rate (m/s or rad/s).
        target: Signal,
        /// `k_v` (1/s); infinite reaches the target within one step.
        gain: f64,
    },
}

/// A drive of one coordinate of a joint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drive {
    /// Which coordinate: translations first (`D` of them), then angles.
    pub coordinate: usize,
    /// What it does.
    pub control: Control,
    /// Largest force (N) or torque (N m); infinite if there is no cap.
    pub cap: f64,
}

/// Control of the whole orientation of a joint that leaves all angles free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoseDrive {
    /// Components of the wanted rotation vector in the parent's joint axes (rad).
    pub target: [Signal; 3],
    /// `k_p` (1/s^2).
    pub stiffness: f64,
    /// `k_v / (2 sqrt(k_p))`.
    pub damping_ratio: f64,
    /// Largest torque about each axis (N m).
    pub cap: f64,
}

fn check(
    name: &str,
    what: &'static str,
    value: f64,
    fits: bool,
    expected: &'static str,
) -> Result<(), JointError> {
    if fits { Ok(()) } else { Err(JointError::Value { name: name.into(), what, value, expected }) }
}

fn check_gains(name: &str, stiffness: f64, damping_ratio: f64) -> Result<(), JointError> {
    let positive = stiffness.is_finite() && stiffness > 0.0;
    check(name, "drive stiffness (1/s^2)", stiffness, positive, "a positive, finite number")?;
    let not_negative = damping_ratio.is_finite() && damping_ratio >= 0.0;
    check(name, "drive damping ratio", damping_ratio, not_negative, "a finite number of at least 0")
}

impl Drive {
    pub(super) fn check(&self, name: &str) -> Result<(), JointError> {
        let target = match &self.control {
            Control::Position { target, stiffness, damping_ratio } => {
                check_gains(name, *stiffness, *damping_ratio)?;
                target
            }
            Control::Velocity { target, gain } => {
                check(name, "drive gain (1/s)", *gain, *gain > 0.0, "a positive number")?;
                target
            }
        };
        let expected = "finite numbers at ascending times";
        check(name, "drive target", target.value(0.0), target.is_finite(), expected)?;
        check(name, "drive cap", self.cap, self.cap > 0.0, "a positive number")
    }
}

impl PoseDrive {
    pub(super) fn check(&self, name: &str) -> Result<(), JointError> {
        check_gains(name, self.stiffness, self.damping_ratio)?;
        let finite = self.target.iter().all(Signal::is_finite);
        check(name, "pose target", self.target[0].value(0.0), finite, "finite numbers at ascending times")?;
        check(name, "pose cap", self.cap, self.cap > 0.0, "a positive number")
    }
}

/// Error and its rate after `dt` of `e'' + 2 z sqrt(k) e' + k e = 0`, from `error` and `rate`: the exact solution.
pub fn response(error: f64, rate: f64, stiffness: f64, damping_ratio: f64, dt: f64) -> (f64, f64) {
    let w = stiffness.sqrt();
    let decay = damping_ratio * w;
    let shrink = (-decay * dt).exp();
    let split = damping_ratio * damping_ratio - 1.0;
    // e = shrink (error C + (rate + decay error) S), with S' = C - decay S and C' = w^2 split S - decay C.
    let (c, s) = if split.abs() < 1e-9 {
        (1.0, dt)
    } else if split < 0.0 {
        let f = w * (-split).sqrt();
        ((f * dt).cos(), (f * dt).sin() / f)
    } else {
        let f = w * split.sqrt();
        // cosh grows as fast as `shrink` falls: multiply first.
        let (up, down) = (((f - decay) * dt).exp(), ((-f - decay) * dt).exp());
        let (c, s) = (0.5 * (up + down), 0.5 * (up - down) / f);
        let push = rate + decay * error;
        return (error * c + push * s, push * c + error * w * w * split * s - decay * (error * c + push * s));
    };
    let push = rate + decay * error;
    let value = error * c + push * s;
    (shrink * value, shrink * (push * c + error * w * w * split * s - decay * value))
}

/// What one drive wants of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Want {
    /// Value at the end of the step (m or rad).
    pub value: f64,
    /// Rate at the end of the step.
    pub rate: f64,
    /// Largest impulse of half a step.
    pub half_cap: f64,
}

/// What a [`PoseDrive`] wants of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WantPose<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Orientation of the child in the parent at the end of the step.
    pub rotation: Rotation<D>,
    /// Relative spin at the end of the step, in the parent's joint axes (rad/s).
    pub spin: Spin<D>,
    pub half_cap: f64,
}

/// What all drives want at the end of one step; made once at its start, because control answers the state at the start.
#[derive(Debug, Clone, Default)]
pub struct Plan<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// For each joint, for each drive.
    pub(super) drives: Vec<Vec<Want>>,
    /// For each joint.
    pub(super) poses: Vec<Option<WantPose<D>>>,
    /// Length of the step (s).
    pub(super) dt: f64,
}

/// The plan for the step from `time` to `time + dt` (s) of bodies that are in `states`.
#[inline(never)]
pub fn plan<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    states: &[BodyState<D>],
    time: f64,
    dt: f64,
) -> Plan<D>
where
    Dim<D>: Space<D>,
{
    let mut drives = Vec::with_capacity(joints.len());
    let mut poses = Vec::with_capacity(joints.len());
    for joint in joints {
        if joint.drives.is_empty() && joint.pose.is_none() {
            drives.push(Vec::new());
            poses.push(None);
            continue;
        }
        let pose = Pose::of(joint, &joint.world_frames(|i| states[i].frame));
        let relative = |end: Option<usize>| match end {
            None => (splashdown_math::Vector::<D>::zeros(), Spin::<D>::zero()),
            Some(i) => {
                let twist = states[i].twist(&bodies[i]);
                (twist.at(&(pose.point - states[i].frame.position)), twist.angular)
            }
        };
        let (parent, child) = (relative(joint.parent), relative(joint.child));
        let (velocity, spin) = (child.0 - parent.0, child.1 - parent.1);
        let want = |drive: &Drive| {
            let slot = drive.coordinate;
            let rate = match slot < D {
                true => pose.linear[slot].dot(&velocity),
                false => pose.angular[slot - D].dot(&spin),
            };
            drive.want(pose.value[slot], rate, joint.freedom(slot), slot >= D, time, dt)
        };
        drives.push(joint.drives.iter().map(want).collect());
        poses.push(joint.pose.as_ref().map(|drive| drive.want(&pose, &spin, time, dt)));
    }
    Plan { drives, poses, dt }
}

impl Drive {
    fn want(&self, value: f64, rate: f64, freedom: super::Freedom, angle: bool, time: f64, dt: f64) -> Want {
        let end = time + dt;
        let (mut wanted, mut wanted_rate) = match &self.control {
            Control::Position { target, stiffness, damping_ratio } => {
                let offset = target.value(time) - value;
                let offset = if angle { wrapped(offset) } else { offset };
                let (error, error_rate) =
                    response(offset, target.rate(time) - rate, *stiffness, *damping_ratio, dt);
                // From the value now, so that a turn beyond pi does not jump.
                let moved = target.value(end) - target.value(time) + offset - error;
                (value + moved, target.rate(end) - error_rate)
            }
            Control::Velocity { target, gain } => {
                let excess = rate - target.value(time);
                let (left, mean) = match (gain * dt).is_finite() {
                    false => (0.0, 0.0),
                    true => ((-gain * dt).exp(), -(-gain * dt).exp_m1() / gain),
                };
                // Target by its mean over the step.
                let steady = 0.5 * (target.value(time) + target.value(end)) * dt;
                (value + steady + excess * mean, target.value(end) + excess * left)
            }
        };
        if let super::Freedom::Limited { min, max } = freedom
            && !(min..=max).contains(&wanted)
        {
            wanted = wanted.clamp(min, max);
            wanted_rate = 0.0;
        }
        Want { value: wanted, rate: wanted_rate, half_cap: 0.5 * self.cap * dt }
    }
}

impl PoseDrive {
    fn want<const D: usize>(&self, pose: &Pose<D>, spin: &Spin<D>, time: f64, dt: f64) -> WantPose<D>
    where
        Dim<D>: Space<D>,
    {
        let spins = <Dim<D> as Space<D>>::SPIN;
        // In the parent's joint axes.
        let mut local = [0.0; 3];
        for (k, component) in local.iter_mut().enumerate().take(spins) {
            *component = pose.parent_axes[k].dot(spin);
        }
        let local = Spin::<D>::from_slice(&local);
        let target = |t: f64| {
            let components: [f64; 3] = std::array::from_fn(|k| self.target[k].value(t));
            Dim::exp(&Spin::<D>::from_slice(&components))
        };
        let (now, end) = (target(time), target(time + dt));
        let target_spin = Dim::log(&Dim::compose(&end, &Dim::inverse(&now))) * (1.0 / dt);
        let offset = Dim::log(&Dim::compose(&now, &Dim::inverse(&pose.rotation)));
        let length = offset.norm();
        let relative = target_spin - local;
        let axis = if length > 1e-12 { offset * (1.0 / length) } else { Spin::<D>::zero() };
        let along = axis.dot(&relative);
        let (error, error_rate) = response(length, along, self.stiffness, self.damping_ratio, dt);
        // Across the axis to the target, motion only decays.
        let across = relative - axis * along;
        let gain = 2.0 * self.damping_ratio * self.stiffness.sqrt();
        let (left, mean) = match gain > 0.0 {
            true => ((-gain * dt).exp(), -(-gain * dt).exp_m1() / gain),
            false => (1.0, dt),
        };
        let turn = axis * (length - error) - across * mean + target_spin * dt;
        WantPose {
            rotation: Dim::compose(&Dim::exp(&turn), &pose.rotation),
            spin: target_spin - axis * error_rate - across * left,
            half_cap: 0.5 * self.cap * dt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_solves_its_differential_equation() {
        for ratio in [0.0, 0.3, 1.0, 1.0 + 1e-6, 2.5] {
            let (k, dt) = (30.0, 0.13);
            let (mut e, mut v) = (0.7, -1.1);
            let steps = 20_000;
            let h = dt / f64::from(steps);
            let rate = |e: f64, v: f64| -2.0 * ratio * f64::sqrt(k) * v - k * e;
            for _ in 0..steps {
                // Midpoint rule, error 1e-9.
                let (em, vm) = (e + 0.5 * h * v, v + 0.5 * h * rate(e, v));
                (e, v) = (e + h * vm, v + h * rate(em, vm));
            }
            let exact = response(0.7, -1.1, k, ratio, dt);
            assert!((exact.0 - e).abs() < 1e-7 && (exact.1 - v).abs() < 1e-6, "{ratio}: {exact:?} {e} {v}");
        }
        // Far beyond any overflow of cosh.
        assert_eq!(response(1.0, 0.0, 1e8, 50.0, 1e3).0, 0.0);
    }

    #[test]
    fn signals_give_values_and_rates() {
        let points = Signal::Points(vec![[1.0, 2.0], [3.0, 6.0]]);
        assert_eq!([0.0, 1.0, 2.0, 3.0, 9.0].map(|t| points.value(t)), [2.0, 2.0, 4.0, 6.0, 6.0]);
        assert_eq!([0.0, 1.0, 2.0, 3.0].map(|t| points.rate(t)), [0.0, 2.0, 2.0, 0.0]);
        let sine = Signal::Sine { offset: 1.0, amplitude: 2.0, frequency: 0.5, phase: 0.3, rise: 1.0 };
        assert_eq!(sine.value(0.0), 1.0);
        for time in [0.4, 1.7] {
            let slope = (sine.value(time + 1e-6) - sine.value(time - 1e-6)) / 2e-6;
            assert!((sine.rate(time) - slope).abs() < 1e-8);
        }
    }
}
