//! Checks of the end of a run, its frames and its steps.

use super::meaning::{Check, key};
use crate::description::{Step, Time};
use crate::problem::ProblemKind;

impl Check<'_> {
    pub(super) fn time(&mut self, time: &Time) {
        // Values that are not positive are reported by the first pass.
        let positive = time.end > 0.0 && time.frame_rate > 0.0;
        if positive && time.end * time.frame_rate < 1.0 - 1e-9 {
            let path = [key("time"), key("end")];
            let problem = self
                .at(
                    &path,
                    ProblemKind::Conflict,
                    format!(
                        "the run ends at {} s, before its first frame at {} s",
                        time.end,
                        time.frame_interval()
                    ),
                )
                .found(format!("{}", time.end))
                .allowed(format!("at least 1 / frame_rate = {} s", time.frame_interval()))
                .hint("raise `time.end`, or raise `time.frame_rate`");
            self.problems.push(problem);
        }
        let path = [key("time"), key("step")];
        // One part in 1e9 of slack: 0.0333333333 is meant to be a frame at 30 frames a second.
        let interval = time.frame_interval() * (1.0 + 1e-9);
        match &time.step {
            Some(Step::Fixed(step)) if *step > interval => {
                let problem = self
                    .at(
                        &path,
                        ProblemKind::Conflict,
                        format!("the step of {step} s is longer than a frame of {} s", time.frame_interval()),
                    )
                    .found(format!("{step}"))
                    .allowed(format!("at most 1 / frame_rate = {} s", time.frame_interval()))
                    .hint("lower `time.step`, or lower `time.frame_rate`");
                self.problems.push(problem);
            }
            Some(Step::Adaptive(adaptive)) => {
                let path = [key("time"), key("step"), key("max")];
                if adaptive.max > interval {
                    let problem = self
                        .at(
                            &path,
                            ProblemKind::Conflict,
                            format!(
                                "the longest step of {} s is longer than a frame of {} s",
                                adaptive.max,
                                time.frame_interval()
                            ),
                        )
                        .found(format!("{}", adaptive.max))
                        .allowed(format!("at most 1 / frame_rate = {} s", time.frame_interval()))
                        .hint("lower `time.step.max`, or lower `time.frame_rate`");
                    self.problems.push(problem);
                }
                if adaptive.min > adaptive.max {
                    let path = [key("time"), key("step"), key("min")];
                    let problem = self
                        .at(
                            &path,
                            ProblemKind::Conflict,
                            format!(
                                "the shortest step of {} s is longer than the longest, {} s",
                                adaptive.min, adaptive.max
                            ),
                        )
                        .found(format!("{}", adaptive.min))
                        .allowed(format!("at most {}", adaptive.max));
                    self.problems.push(problem);
                }
            }
            _ => {}
        }
    }
}
