//! Looking for contacts again, for bodies that impacts, joints or contact itself send to where nothing has been looked for around them.

use super::detect::margin;
use super::{ContactSolver, ContactStage, Contacts, Pair};
use crate::Motion;
use splashdown_math::{Coordinates, Dim, Frame, Space};

/// How often more contacts are looked for as impacts send bodies elsewhere.
pub(super) const MOST_LOOKS: usize = 4;

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// Finds what the bodies that were `hit` can reach with their new motions. Returns whether there is anything.
    pub(super) fn look_again(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &[Motion<D>],
        moving: &[Motion<D>],
        hit: &[bool],
    ) -> bool {
        for (seen, moving) in
            self.seen.iter_mut().zip(moving).zip(hit).filter_map(|(both, hit)| hit.then_some(both))
        {
            *seen = *moving;
        }
        let found = Contacts::detect(stage, frames, start, moving, Some(hit), &mut self.broad_again);
        let known = self.contacts.pairs.clone();
        if !self.contacts.add_unknown(&found) {
            return false;
        }
        // The lists of pairs ascend.
        let place = |pair: &Pair| known.binary_search_by_key(&[pair.a, pair.b], |known| [known.a, known.b]);
        for marks in [&mut self.processed, &mut self.bounced] {
            let kept = |pair: &Pair| place(pair).is_ok_and(|place| marks[place]);
            *marks = self.contacts.pairs.iter().map(kept).collect();
        }
        self.at.find_touches(stage.bodies, &self.contacts, |_| true);
        self.report.pairs = self.contacts.pairs.len();
        self.report.contacts = self.contacts.contacts.len();
        true
    }

    /// Finds what bodies meet that move, with the motions `half`, to where nothing has been looked for yet. Returns whether contact did not know of any of it.
    pub(super) fn meet_others(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &[Motion<D>],
        half: &[Motion<D>],
    ) -> bool {
        let flung = sent_beyond(stage, frames, &self.seen, half);
        if !flung.contains(&true) {
            return false;
        }
        let new = self.look_again(stage, frames, start, half, &flung);
        let touching = self.report.touching;
        self.at.twists(stage.bodies, frames, half, &mut self.half_twists);
        self.at.twists(stage.bodies, frames, start, &mut self.start_twists);
        self.mark_meeting(stage, frames);
        self.report.touching = self.processed.iter().filter(|processed| **processed).count();
        if self.report.touching == touching && !new {
            return false;
        }
        self.find_isolated(stage, frames);
        true
    }
}

/// Which bodies impacts have made to move by more, within the step, than contacts are looked for around them?
pub(super) fn hit_hard<const D: usize>(
    stage: &ContactStage<'_, D>,
    frames: &[Frame<D>],
    before: &[Motion<D>],
    after: &[Motion<D>],
) -> Vec<bool>
where
    Dim<D>: Space<D>,
{
    beyond_margin(stage, before, after, |i, radius| {
        let moved = (after[i].velocity - before[i].velocity).norm();
        let momentum = after[i].angular_momentum - before[i].angular_momentum;
        moved + stage.bodies[i].spin_of(&frames[i], &momentum).norm() * radius
    })
}

/// Which bodies has contact sent to where, within the step, contacts were not looked for around them: away from the way that they had with `before`? What is
/// stopped on its way is not among them.
fn sent_beyond<const D: usize>(
    stage: &ContactStage<'_, D>,
    frames: &[Frame<D>],
    before: &[Motion<D>],
    after: &[Motion<D>],
) -> Vec<bool>
where
    Dim<D>: Space<D>,
{
    beyond_margin(stage, before, after, |i, radius| {
        let (way, own) = (before[i].velocity, after[i].velocity);
        let length = way.norm_squared();
        let along = if length > 0.0 { (own.dot(&way) / length).clamp(0.0, 1.0) } else { 0.0 };
        let spin = |motion: &Motion<D>| stage.bodies[i].spin_of(&frames[i], &motion.angular_momentum).norm();
        (own - way * along).norm() + (spin(&after[i]) - spin(&before[i])).max(0.0) * radius
    })
}

/// Bodies whose motion has changed and whose surface `speed` (of a body and its radius; m/s) takes further within the step than contacts are looked for around them.
fn beyond_margin<const D: usize>(
    stage: &ContactStage<'_, D>,
    before: &[Motion<D>],
    after: &[Motion<D>],
    speed: impl Fn(usize, f64) -> f64,
) -> Vec<bool>
where
    Dim<D>: Space<D>,
{
    let beyond = |i: usize| {
        let (Some(geometry), false) = (&stage.bodies[i].geometry, before[i] == after[i]) else {
            return false;
        };
        !(speed(i, geometry.radius()) * stage.dt <= margin(geometry))
    };
    (0..before.len()).map(beyond).collect()
}
