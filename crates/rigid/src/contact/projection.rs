//! Push-out by normal displacements, point after point: the contact graph gives the order, and what is done stays in place, so that a
//! stack is resolved from the ground up in one pass. Bodies that rest on nothing of infinite mass share the displacement by mass.

use super::{ContactSolver, ContactStage, InverseInertia};
use crate::collide::Pose;
use splashdown_math::{Coordinates, Dim, Frame, Space, Twist};

/// Visits of a level.
const SWEEPS: usize = 10;

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    pub(super) fn project(&mut self, stage: &ContactStage<'_, D>, frames: &mut [Frame<D>]) {
        let bodies = stage.bodies;
        let mut poses: Vec<Pose<D>> = frames.iter().map(Pose::new).collect();
        let mut inverse: Vec<Option<InverseInertia<D>>> = vec![None; bodies.len()];
        // Pairs by the higher of their two levels.
        let mut order: Vec<(u32, u32)> = Vec::new();
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            if self.processed[index] {
                let level = self.levels[pair.a as usize].max(self.levels[pair.b as usize]);
                order.push((level, index as u32));
            }
        }
        order.sort_unstable();
        // Levels are frozen only within islands that something of infinite mass holds.
        let mut floating = vec![false; bodies.len()];
        for (members, ..) in &self.isolated {
            members.iter().for_each(|&i| floating[i as usize] = true);
        }
        let (mut before, mut after) = (0.0f64, 0.0f64);
        let mut first = 0;
        while first < order.len() {
            let level = order[first].0;
            let end = first + order[first..].iter().take_while(|(l, _)| *l == level).count();
            for sweep in 0..=SWEEPS {
                let mut worst = 0.0f64;
                for &(_, index) in &order[first..end] {
                    let pair = self.contacts.pairs[index as usize];
                    let ids = [pair.a as usize, pair.b as usize];
                    let frozen =
                        ids.map(|i| !bodies[i].is_dynamic() || (self.levels[i] < level && !floating[i]));
                    if frozen[0] && frozen[1] {
                        continue;
                    }
                    for contact in pair.contacts() {
                        let Some(touch) =
                            self.contacts.touch(bodies, &pair, contact, &poses[ids[0]], &poses[ids[1]])
                        else {
                            continue;
                        };
                        let overlap = -touch.gap - stage.options.allowed_overlap;
                        worst = worst.max(overlap);
                        let size =
                            |i: usize| bodies[i].geometry.as_ref().map_or(f64::INFINITY, |g| g.radius());
                        let smallest = size(ids[0]).min(size(ids[1]));
                        if sweep == SWEEPS || overlap <= 1e-12 * smallest {
                            continue;
                        }
                        let arms = ids.map(|i| touch.point - frames[i].position);
                        let mut denominator = 0.0;
                        for k in 0..2 {
                            if !frozen[k] {
                                let inverse = inverse[ids[k]].get_or_insert_with(|| {
                                    InverseInertia::of(&bodies[ids[k]], &frames[ids[k]])
                                });
                                let moment = Dim::cross(&arms[k], &touch.normal);
                                denominator +=
                                    inverse.mass + moment.dot(&Dim::apply_inertia(&inverse.inertia, &moment));
                            }
                        }
                        // No further than the body is large in one go.
                        let push = overlap.min(0.2 * smallest) / denominator;
                        for (k, sign) in [(0, 1.0), (1, -1.0)] {
                            if let (false, Some(inverse)) = (frozen[k], &inverse[ids[k]]) {
                                let moved = inverse.response(&arms[k], &(touch.normal * (sign * push)));
                                displace(&mut frames[ids[k]], &moved);
                                poses[ids[k]] = Pose::new(&frames[ids[k]]);
                            }
                        }
                    }
                }
                if sweep == 0 {
                    before = before.max(worst);
                }
                if sweep == SWEEPS || worst <= 1e-9 {
                    after = after.max(worst);
                    break;
                }
            }
            first = end;
        }
        self.report.overlap_before = before.max(0.0);
        self.report.overlap_after = after.max(0.0);
    }
}

/// Moves a frame by a translation and a rotation vector.
pub(super) fn displace<const D: usize>(frame: &mut Frame<D>, moved: &Twist<D>)
where
    Dim<D>: Space<D>,
{
    frame.position += moved.linear;
    frame.rotation = Dim::compose(&Dim::exp(&moved.angular), &frame.rotation);
    Dim::renormalize(&mut frame.rotation);
}
