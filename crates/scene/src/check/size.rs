//! Limits on the size of the whole.

use super::meaning::{Check, key};
use crate::description::{Deformable, Fluid, Rigid, Time};
use crate::limits::{self, Size};
use crate::problem::ProblemKind;
use crate::tree::Segment;

impl Check<'_> {
    /// Refuses what would not fit in memory or on disk, or never end, before anything is allocated.
    pub(super) fn size(
        &mut self,
        time: Option<&Time>,
        rigid: &[Option<Rigid>],
        deformable: &[Option<Deformable>],
        fluid: Option<&Fluid>,
    ) {
        let mut total = Size::default();
        let mut largest: (u128, Vec<Segment>) = (0, Vec::new());
        let mut add = |size: Size, path: Vec<Segment>| {
            total = total.plus(size);
            if size.memory_bytes() > largest.0 {
                largest = (size.memory_bytes(), path);
            }
        };
        for (index, body) in rigid.iter().enumerate() {
            if let Some(body) = body {
                let path = vec![key("rigid"), Segment::Index(index), key("repeat"), key("count")];
                add(Size::of_rigid(body), path);
            }
        }
        for (index, body) in deformable.iter().enumerate() {
            if let Some(body) = body {
                let below = ["geometry", "chain", "particles"].map(key);
                add(
                    Size::of_deformable(body),
                    [vec![key("deformable"), Segment::Index(index)], below.into()].concat(),
                );
            }
        }
        if let Some(fluid) = fluid {
            add(Size::of_fluid(fluid), vec![key("fluid"), key("cells")]);
        }
        if total.memory_bytes() > limits::MAX_MEMORY_BYTES {
            let problem = self
                .at(
                    &largest.1,
                    ProblemKind::TooLarge,
                    format!(
                        "this scene has {} rigid bodies, {} particles and {} cells of fluid, about {} of memory",
                        total.rigid_bodies,
                        total.particles,
                        total.fluid_cells,
                        limits::bytes_text(total.memory_bytes())
                    ),
                )
                .found(limits::bytes_text(total.memory_bytes()))
                .allowed(format!("at most {}", limits::bytes_text(limits::MAX_MEMORY_BYTES)))
                .hint("this is the largest part; make it coarser");
            self.problems.push(problem);
        }
        let Some(time) = time else { return };
        let frames = time.end * time.frame_rate;
        if frames > limits::MAX_FRAMES {
            let frame_bytes = total.frame_bytes() as f64 * frames;
            let problem = self
                .at(
                    &[key("time"), key("end")],
                    ProblemKind::TooLarge,
                    format!(
                        "{} s at {} frames a second are {frames:.3e} frames, about {} of output",
                        time.end,
                        time.frame_rate,
                        limits::bytes_text(frame_bytes as u128)
                    ),
                )
                .found(format!("{frames:.3e} frames"))
                .allowed(format!("at most {:.0e} frames", limits::MAX_FRAMES))
                .hint("lower `time.frame_rate` or `time.end`");
            self.problems.push(problem);
        }
        let steps = time.end / time.longest_step();
        if steps > limits::MAX_STEPS {
            let problem = self
                .at(
                    &[key("time"), key("step")],
                    ProblemKind::TooLarge,
                    format!("{} s in steps of {} s are {steps:.3e} steps", time.end, time.longest_step()),
                )
                .found(format!("{steps:.3e} steps"))
                .allowed(format!("at most {:.0e} steps", limits::MAX_STEPS))
                .hint("a longer `time.step`, or a shorter run");
            self.problems.push(problem);
        }
    }
}
