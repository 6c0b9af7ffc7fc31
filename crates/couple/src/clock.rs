//! Which steps are taken between two frames.

use serde::{Deserialize, Serialize};

/// How long a step is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepPolicy {
    /// Steps of at most this length (s), equal within a frame.
    Fixed(f64),
    /// As long as stability allows, within limits (s).
    Adaptive {
        /// No step is longer.
        max: f64,
        /// If stability asks for a shorter one, the run stops.
        min: f64,
        /// Share of the stability limit that is used.
        safety: f64,
    },
}

/// A step that would have to be shorter than allowed.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ClockError {
    /// Adaptive steps fell below the minimum.
    #[error("at t = {time} s a stable step is {wanted:.3e} s, below the least step allowed, {least:.3e} s")]
    BelowMinimum {
        /// Simulated time (s).
        time: f64,
        /// What stability asks for (s).
        wanted: f64,
        /// The limit (s).
        least: f64,
    },
    /// The fixed step is beyond the stability limit.
    #[error(
        "the fixed step {step:.3e} s is beyond the stability limit of the explicit elastic forces, {limit:.3e} s: shorten it or let it adapt"
    )]
    Unstable {
        /// Step asked for (s).
        step: f64,
        /// Largest stable step (s).
        limit: f64,
    },
}

/// Divides the time between frames into steps. It depends on nothing but the time and the limits, so a resumed run takes the same steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Frames a second of simulated time.
    pub frame_rate: f64,
    /// Length of steps.
    pub policy: StepPolicy,
}

/// Two times closer than this share of a frame are the same.
const SAME_TIME: f64 = 1e-9;

impl Clock {
    /// Time of frame `index` (s).
    pub fn frame_time(&self, index: u64) -> f64 {
        index as f64 / self.frame_rate
    }

    /// The first frame after `time` (s).
    pub fn next_frame(&self, time: f64) -> u64 {
        (time * self.frame_rate + SAME_TIME).floor() as u64 + 1
    }

    /// Length of the next step (s) at `time`, if steps up to `stable` (s) are stable, and whether it ends on frame `frame`.
    ///
    /// What is left until the frame is divided evenly, so the last step before a frame is not a sliver.
    pub fn next_step(&self, time: f64, frame: u64, stable: f64) -> Result<(f64, bool), ClockError> {
        let left = self.frame_time(frame) - time;
        let longest = match self.policy {
            StepPolicy::Fixed(step) if step > stable => {
                return Err(ClockError::Unstable { step, limit: stable });
            }
            StepPolicy::Fixed(step) => step,
            StepPolicy::Adaptive { max, min, safety } => {
                let wanted = safety * stable;
                if wanted < min {
                    return Err(ClockError::BelowMinimum { time, wanted, least: min });
                }
                wanted.min(max)
            }
        };
        let count = (left / longest - SAME_TIME).ceil().max(1.0);
        Ok((left / count, count == 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_exactly_on_frames_and_are_even() {
        let clock = Clock { frame_rate: 30.0, policy: StepPolicy::Fixed(0.01) };
        let (mut time, mut steps) = (0.0, Vec::new());
        for frame in 1..=30 {
            assert_eq!(clock.next_frame(time), frame);
            loop {
                let (dt, last) = clock.next_step(time, frame, f64::INFINITY).unwrap();
                steps.push(dt);
                time += dt;
                if last {
                    time = clock.frame_time(frame);
                    break;
                }
            }
        }
        assert_eq!(time, 1.0);
        assert_eq!(steps.len(), 120);
        assert!(steps.iter().all(|dt| (dt - 1.0 / 120.0).abs() < 1e-12));
    }

    #[test]
    fn steps_that_cannot_be_stable_are_refused() {
        let fixed = Clock { frame_rate: 30.0, policy: StepPolicy::Fixed(0.01) };
        assert!(matches!(fixed.next_step(0.0, 1, 0.001), Err(ClockError::Unstable { .. })));
        let adaptive =
            Clock { frame_rate: 30.0, policy: StepPolicy::Adaptive { max: 0.01, min: 1e-4, safety: 0.5 } };
        assert!((adaptive.next_step(0.0, 1, 0.004).unwrap().0 - 1.0 / 30.0 / 17.0).abs() < 1e-15);
        assert!(matches!(adaptive.next_step(0.0, 1, 1e-5), Err(ClockError::BelowMinimum { .. })));
    }
}
