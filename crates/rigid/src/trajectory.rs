//! Prescribed motion of kinematic bodies: scripts and keyframes (spec/rigid-bodies.md 3.3).

use crate::joint::Signal;
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};

/// Where a kinematic body is at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Keyframe<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Time (s).
    pub time: f64,
    /// Centre of mass and orientation.
    pub frame: Frame<D>,
}

/// A motion that nothing can change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Trajectory<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Straight lines and shortest turns between frames at ascending times.
    Keyframes {
        /// At least one, at ascending times.
        keys: Vec<Keyframe<D>>,
        /// Start again after the last one, which should then equal the first; otherwise the body rests before the first and after the last.
        repeat: bool,
    },
    /// Turns about a fixed axis through a point, and shifts along a fixed direction.
    Script {
        /// Frame with both signals at zero.
        start: Frame<D>,
        /// Point on the axis (m).
        about: Vector<D>,
        /// Axis, of length 1.
        axis: Spin<D>,
        /// Angle (rad).
        turn: Signal,
        /// Direction of the shift, of length 1.
        direction: Vector<D>,
        /// Length of the shift (m).
        shift: Signal,
    },
}

/// A motion that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrajectoryError {
    /// No keyframe, times that do not ascend, values that are not finite.
    #[error(
        "keyframe {index} of the motion: expected finite values at ascending times, and at least one keyframe"
    )]
    Keyframes {
        /// Offending keyframe, from 0.
        index: usize,
    },
    /// A signal, point or axis that is not finite, or an axis or direction that is not of length 1.
    #[error("the script of the motion needs finite values, and an axis and a direction of length 1")]
    Script,
}

impl<const D: usize> Trajectory<D>
where
    Dim<D>: Space<D>,
{
    /// Checks its numbers.
    pub fn checked(self) -> Result<Self, TrajectoryError> {
        match &self {
            Self::Keyframes { keys, .. } => {
                let wrong = (0..keys.len()).find(|&i| {
                    let finite =
                        keys[i].time.is_finite() && keys[i].frame.position.iter().all(|v| v.is_finite());
                    !finite || (i > 0 && keys[i].time <= keys[i - 1].time)
                });
                match wrong.or(keys.is_empty().then_some(0)) {
                    Some(index) => Err(TrajectoryError::Keyframes { index }),
                    None => Ok(self),
                }
            }
            Self::Script { about, axis, turn, direction, shift, .. } => {
                let unit = |length: f64| (length - 1.0).abs() < 1e-9;
                let fits = unit(axis.norm())
                    && unit(direction.norm())
                    && about.iter().all(|v| v.is_finite())
                    && turn.is_finite()
                    && shift.is_finite();
                if fits { Ok(self) } else { Err(TrajectoryError::Script) }
            }
        }
    }

    /// Frame at `time` (s).
    pub fn frame(&self, time: f64) -> Frame<D> {
        match self {
            Self::Keyframes { keys, repeat } => {
                let time = folded(keys, *repeat, time);
                match keys.iter().position(|key| key.time > time) {
                    None => keys[keys.len() - 1].frame,
                    Some(0) => keys[0].frame,
                    Some(next) => {
                        let (a, b) = (&keys[next - 1], &keys[next]);
                        a.frame.interpolate(&b.frame, (time - a.time) / (b.time - a.time))
                    }
                }
            }
            Self::Script { start, about, axis, turn, direction, shift } => {
                let rotation = Dim::exp(&(*axis * turn.value(time)));
                let arm = Dim::rotate(&rotation, &(start.position - about));
                Frame {
                    position: about + arm + direction * shift.value(time),
                    rotation: Dim::compose(&rotation, &start.rotation),
                }
            }
        }
    }

    /// Velocity and spin at `time` (s): the exact derivative of [`Self::frame`], after the kink where there is one.
    pub fn twist(&self, time: f64) -> Twist<D> {
        match self {
            Self::Keyframes { keys, repeat } => {
                let time = folded(keys, *repeat, time);
                match keys.iter().position(|key| key.time > time) {
                    None | Some(0) => Twist::zero(),
                    Some(next) => {
                        let (a, b) = (&keys[next - 1], &keys[next]);
                        a.frame.twist_to(&b.frame, b.time - a.time)
                    }
                }
            }
            Self::Script { start, about, axis, turn, direction, shift } => {
                let rotation = Dim::exp(&(*axis * turn.value(time)));
                let arm = Dim::rotate(&rotation, &(start.position - about));
                let angular = *axis * turn.rate(time);
                Twist { linear: Dim::spin_cross(&angular, &arm) + direction * shift.rate(time), angular }
            }
        }
    }

    /// The constant twist that carries the body from its frame at `time` to that at `time + dt`: what every phase of a step uses, so that
    /// what rests on the body is neither launched nor left behind.
    pub fn phase_twist(&self, time: f64, dt: f64) -> Twist<D> {
        let (from, to) = (self.frame(time), self.frame(time + dt));
        let mut twist = from.twist_to(&to, dt);
        if let Self::Script { axis, turn, .. } = self {
            // More than half a turn in one step has the right sense.
            twist.angular = *axis * ((turn.value(time + dt) - turn.value(time)) / dt);
        }
        twist
    }
}

/// `time` within the range of the keyframes, if they repeat.
fn folded<const D: usize>(keys: &[Keyframe<D>], repeat: bool, time: f64) -> f64
where
    Dim<D>: Space<D>,
{
    let (first, last) = (keys[0].time, keys[keys.len() - 1].time);
    if repeat && last > first { first + (time - first).rem_euclid(last - first) } else { time }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script<const D: usize>() -> Trajectory<D>
    where
        Dim<D>: Space<D>,
    {
        Trajectory::Script {
            start: Frame {
                position: Vector::from_fn(|i, _| 0.5 - i as f64),
                rotation: Dim::exp(&Spin::<D>::from_slice(&[0.3, 0.2, -0.5])),
            },
            about: Vector::from_fn(|i, _| 1.0 + i as f64),
            axis: {
                let axis = Spin::<D>::from_slice(&[1.0, 2.0, -0.5]);
                axis * (1.0 / axis.norm())
            },
            turn: Signal::Sine { offset: 0.0, amplitude: 0.7, frequency: 0.4, phase: 0.1, rise: 0.0 },
            direction: Vector::from_fn(|i, _| f64::from(u8::from(i == 1))),
            shift: Signal::Points(vec![[0.0, 0.0], [1.0, 2.0], [2.0, 0.0]]),
        }
        .checked()
        .unwrap()
    }

    fn keys<const D: usize>(repeat: bool) -> Trajectory<D>
    where
        Dim<D>: Space<D>,
    {
        let key = |time: f64, angle: f64| Keyframe {
            time,
            frame: Frame {
                position: Vector::from_fn(|i, _| time * (1.0 - time) * i as f64),
                rotation: Dim::exp(&(Spin::<D>::from_slice(&[1.0, 0.5, 0.2]) * angle)),
            },
        };
        Trajectory::Keyframes { keys: vec![key(0.0, 0.0), key(0.5, 0.6), key(1.5, 0.0)], repeat }
            .checked()
            .unwrap()
    }

    fn derivative_and_phases<const D: usize>(trajectory: &Trajectory<D>)
    where
        Dim<D>: Space<D>,
    {
        for time in [0.05, 0.3, 0.77, 1.2, 1.9] {
            let h = 1e-6;
            let (from, to) = (trajectory.frame(time - h), trajectory.frame(time + h));
            let (slope, twist) = (from.twist_to(&to, 2.0 * h), trajectory.twist(time));
            assert!((slope.linear - twist.linear).norm() < 1e-8, "{time}");
            assert!((slope.angular - twist.angular).norm() < 1e-8, "{time}");
            // The twist of a phase leads exactly to its end, however long it is.
            let end = trajectory.frame(time).moved(&trajectory.phase_twist(time, 0.9), 0.9);
            let exact = trajectory.frame(time + 0.9);
            let point = Vector::from_fn(|i, _| 1.0 - i as f64);
            assert!((end.to_world(&point) - exact.to_world(&point)).norm() < 1e-13);
        }
    }

    #[test]
    fn twists_are_derivatives_and_lead_to_the_end_of_their_phase() {
        derivative_and_phases::<2>(&script());
        derivative_and_phases::<3>(&script());
        derivative_and_phases::<2>(&keys(false));
        derivative_and_phases::<3>(&keys(true));
    }

    #[test]
    fn a_steady_spin_of_many_turns_keeps_its_rate() {
        let mut trajectory = script::<3>();
        if let Trajectory::Script { turn, .. } = &mut trajectory {
            *turn = Signal::Ramp(-40.0);
        }
        assert!((trajectory.phase_twist(0.3, 0.5).angular.norm() - 40.0).abs() < 1e-12);
        assert!((trajectory.twist(0.3).angular.norm() - 40.0).abs() < 1e-12);
    }

    #[test]
    fn impossible_trajectories_are_refused() {
        let Trajectory::Keyframes { mut keys, repeat } = keys::<3>(false) else { unreachable!() };
        keys[2].time = 0.5;
        assert_eq!(
            Trajectory::Keyframes { keys, repeat }.checked(),
            Err(TrajectoryError::Keyframes { index: 2 })
        );
        let empty = Trajectory::<2>::Keyframes { keys: vec![], repeat: true };
        assert_eq!(empty.checked(), Err(TrajectoryError::Keyframes { index: 0 }));
        let mut trajectory = script::<2>();
        if let Trajectory::Script { axis, .. } = &mut trajectory {
            *axis = Vector::from([0.0]);
        }
        assert_eq!(trajectory.checked(), Err(TrajectoryError::Script));
    }
}
