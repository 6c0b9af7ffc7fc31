//! Push-out by normal displacements, point after point: the contact graph gives the order, and what is done stays in place, so that a
//! stack is resolved from the ground up in one pass. Bodies that rest on nothing of infinite mass share the displacement by mass.

use super::configuration::Configuration;
use super::gauss_seidel::Form;
use super::joined::{UNMOVED, combined};
use super::partition::Part;
use super::{ContactSolver, ContactStage, Contacts, InverseInertia, Pair, both};
use crate::Body;
use crate::collide::{Pose, Reach};
use crate::joint::Columns;
use splashdown_math::{Coordinates, Dim, Frame, Space, Twist, Vector};

/// Visits of a level, and how many more there are while something overlaps by more than a share of its size: spheres that lean on each other in rings
/// share a level.
const SWEEPS: usize = 10;
const MORE_SWEEPS: usize = 20;
const SHARE: f64 = 1e-3;
const TOLERANCE: f64 = 1e-12;

/// Visits of all pairs with nothing held in place, where after those something still overlaps by more than that share: a sphere between two others at its height cannot leave them while they stay.
const LOOSE_SWEEPS: usize = 60;

/// Overlap, over the size of the smaller body, from which on a pair is looked at anew.
const DEEP: f64 = 0.5;

/// Level of the pairs of islands with joints: all are resolved together.
const ALL_LEVELS: u32 = u32::MAX;

/// Overlap that is left in large islands, as a share of the smaller body's size. What few sweeps leave of approach would be lifted out in one step and fall back in the
/// next, more so the higher it is: 25 layers of boxes do not come to rest without it, and lose half a millimetre with it.
const SLACK: f64 = 1.7e-4;

/// That overlap (m).
pub(super) fn slack<const D: usize>(pair: [&Body<D>; 2]) -> f64
where
    Dim<D>: Space<D>,
{
    let smaller = super::size(pair[0]).min(super::size(pair[1]));
    if smaller.is_finite() { SLACK * smaller } else { 0.0 }
}

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// Returns the largest overlap that it found, over the size of the smaller body.
    pub(super) fn project(&mut self, stage: &ContactStage<'_, D>, frames: &mut [Frame<D>]) -> f64 {
        let bodies = stage.bodies;
        self.at.place(bodies, frames);
        let processed = &self.processed;
        self.at.find_touches(bodies, &self.contacts, |pair| processed[pair]);
        let kept = self.look_at_deep_overlaps(stage);
        let responding = |of: fn(&Part) -> bool| {
            let mut marked = vec![false; bodies.len()];
            for (_, members) in self.partition.islands().filter(|(part, _)| of(part)) {
                members.iter().for_each(|&i| marked[i as usize] = bodies[i as usize].is_dynamic());
            }
            marked
        };
        let piled = responding(|part| part.form == Some(Form::Wide));
        // Joints pass displacements on between levels.
        let jointed = responding(|part| part.jointed);
        // Levels are frozen only within islands that something of infinite mass holds.
        let mut floating = vec![false; bodies.len()];
        for (members, ..) in &self.isolated {
            members.iter().for_each(|&i| floating[i as usize] = true);
        }
        let Self { contacts, levels, at, report, processed, .. } = self;
        let mut pushing = Pushing {
            stage,
            contacts,
            at,
            frames,
            piled,
            moved: vec![0; bodies.len()],
            now: 0,
            tolerance: TOLERANCE,
        };
        // Pairs by the higher of their two levels, with their overlap.
        let mut order: Vec<Visit> = Vec::with_capacity(report.touching);
        for (index, pair) in contacts.pairs.iter().enumerate().filter(|(i, _)| processed[*i]) {
            let ids = [pair.a as usize, pair.b as usize];
            let own = levels[ids[0]].max(levels[ids[1]]);
            let level = if ids.iter().any(|&i| jointed[i]) { ALL_LEVELS } else { own };
            let touches = &pushing.at.touches[pair.contacts()];
            let deepest = touches.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
            let overlap = -deepest - pushing.allowed(ids);
            order.push(Visit { level, own, pair: index as u32, overlap, checked: 0 });
        }
        order.sort_unstable_by_key(|visit| (visit.level, visit.own, visit.pair));
        let (mut all, mut left) = (Found::default(), Found::default());
        for visits in order.chunk_by_mut(|a, b| a.level == b.level) {
            let level = visits[0].level;
            let lower = |i: usize| levels[i] < level && !floating[i] && level != ALL_LEVELS;
            let [before, after] = pushing.resolve(visits, [SWEEPS, MORE_SWEEPS], lower);
            all.add(&before);
            left.add(&after);
        }
        // What is wedged between bodies that stay in place gets out only if they give way.
        if left.share > SHARE {
            pushing.tolerance = 0.5 * SHARE;
            [_, left] = pushing.resolve(&mut order, [LOOSE_SWEEPS, 0], |_| false);
        }
        report.overlap_before = report.overlap_before.max(all.deepest);
        report.overlap_after = left.deepest.max(0.0);
        if let Some(kept) = kept {
            self.contacts = kept;
            self.at.find_touches(bodies, &self.contacts, |pair| self.processed[pair]);
        }
        all.share
    }

    /// Looks at pairs that overlap by much where they are now. Contacts stand on the surfaces as they were at the start of the step, with the normals of then: of a body that has turned over
    /// since, or gone past the other, they tell nothing. Returns the contacts as they were, if there are such pairs.
    fn look_at_deep_overlaps(&mut self, stage: &ContactStage<'_, D>) -> Option<Contacts<D>> {
        let bodies = stage.bodies;
        if !stage.probes.is_empty() {
            return None;
        }
        let deep = |(place, pair): (usize, &Pair)| {
            let ids = [pair.a as usize, pair.b as usize].map(|i| &bodies[i]);
            let smallest = super::size(ids[0]).min(super::size(ids[1]));
            let touches = &self.at.touches[pair.contacts()];
            let far = touches.iter().any(|touch| -touch.gap > DEEP * smallest);
            (self.processed[place] && far && !ids.iter().any(|body| body.is_particle())).then_some(place)
        };
        let places: Vec<usize> = self.contacts.pairs.iter().enumerate().filter_map(deep).collect();
        if places.is_empty() {
            return None;
        }
        let pairs: Vec<[u32; 2]> =
            places.iter().map(|&place| &self.contacts.pairs[place]).map(|pair| [pair.a, pair.b]).collect();
        let found = Contacts::narrow(bodies, &self.at.poses, &pairs, |_| Reach::from(0.0));
        let now = self.contacts.with_replaced(&places, &found);
        let kept = std::mem::replace(&mut self.contacts, now);
        self.at.find_touches(bodies, &self.contacts, |pair| self.processed[pair]);
        Some(kept)
    }
}

/// Bodies that are pushed apart.
struct Pushing<'a, 'b, const D: usize>
where
    Dim<D>: Space<D>,
{
    stage: &'a ContactStage<'b, D>,
    contacts: &'a Contacts<D>,
    at: &'a mut Configuration<D>,
    frames: &'a mut [Frame<D>],
    /// Bodies of large islands.
    piled: Vec<bool>,
    /// When each body was moved last, counted in displacements.
    moved: Vec<u32>,
    now: u32,
    /// Overlap, over the size of the smaller body, that is none.
    tolerance: f64,
}

/// What a sweep found.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    /// By how much bodies overlap more than they may (m), and the same over the size of the smaller one.
    worst: f64,
    share: f64,
    /// By how much they overlap (m).
    deepest: f64,
}

impl Found {
    fn add(&mut self, other: &Self) {
        self.worst = self.worst.max(other.worst);
        self.share = self.share.max(other.share);
        self.deepest = self.deepest.max(other.deepest);
    }
}

impl<const D: usize> Pushing<'_, '_, D>
where
    Dim<D>: Space<D>,
{
    /// Overlap that a pair may keep (m).
    fn allowed(&self, ids: [usize; 2]) -> f64 {
        let bodies = self.stage.bodies;
        let piled = ids.iter().any(|&i| self.piled[i]);
        self.stage.options.allowed_overlap + if piled { slack(ids.map(|i| &bodies[i])) } else { 0.0 }
    }

    /// Visits pairs in turn until nothing overlaps: so many times, and so many more while something overlaps by much. Bodies that are `lower` stay in place. Returns what there was
    /// and what is left.
    fn resolve(
        &mut self,
        visits: &mut [Visit],
        [sweeps, more]: [usize; 2],
        lower: impl Fn(usize) -> bool,
    ) -> [Found; 2] {
        let (mut before, mut last) = (Found::default(), sweeps);
        for sweep in 0..=sweeps + more {
            let mut found = Found::default();
            for visit in visits.iter_mut() {
                found.add(&self.visit(visit, sweep < last, &lower));
            }
            if sweep == 0 {
                before = found;
            }
            if sweep + 1 == sweeps && found.share > SHARE {
                last = sweeps + more;
            }
            if sweep == last || found.worst <= 1e-9 || found.share <= self.tolerance {
                return [before, found];
            }
        }
        [before, Found::default()]
    }

    /// Looks at a pair, if something has changed, and pushes it apart if `push`.
    fn visit(&mut self, visit: &mut Visit, push: bool, lower: &impl Fn(usize) -> bool) -> Found {
        let stage = self.stage;
        let bodies = stage.bodies;
        let pair = self.contacts.pairs[visit.pair as usize];
        let ids = [pair.a as usize, pair.b as usize];
        let smallest = super::size(&bodies[ids[0]]).min(super::size(&bodies[ids[1]]));
        let (enough, allowed) = (self.tolerance * smallest, self.allowed(ids));
        let unchanged = ids.iter().all(|&i| self.moved[i] <= visit.checked);
        let found =
            |overlap: f64| Found { worst: overlap, share: overlap / smallest, deepest: overlap + allowed };
        if unchanged && visit.overlap <= enough {
            return found(visit.overlap);
        }
        // A particle gives way whatever rests on it: the forces of its body hold it.
        let soft = ids.iter().any(|&i| bodies[i].is_particle());
        let joined = both(ids, |i| stage.response_of(i));
        let frozen = both(ids, |i| !bodies[i].is_dynamic() || (lower(i) && !soft));
        if frozen[0] && frozen[1] {
            return Found::default();
        }
        visit.checked = self.now;
        visit.overlap = f64::NEG_INFINITY;
        for contact in pair.contacts() {
            let poses = both(ids, |i| &self.at.poses[i]);
            let Some(touch) = self.contacts.touch(bodies, &pair, contact, poses[0], poses[1]) else {
                continue;
            };
            let overlap = -touch.gap - allowed;
            visit.overlap = visit.overlap.max(overlap);
            if !push || overlap <= enough {
                continue;
            }
            let arms = both(ids, |i| touch.point - self.frames[i].position);
            let pushed = Pushed { ids, arms, frozen, joined, normal: touch.normal };
            if joined.iter().any(Option::is_some) {
                self.push_joined(&pushed, overlap, smallest);
            } else {
                // No further than the body is large in one go.
                self.push_apart(&pushed, overlap.min(0.2 * smallest));
            }
        }
        found(visit.overlap)
    }

    fn push_joined(&mut self, pushed: &Pushed<'_, D>, overlap: f64, smallest: f64) {
        let moves = pushed.moves(&self.at.inverse);
        let far = pushed.approach(&moves);
        let own = pushed.alone(&self.at.inverse);
        // What joints hold does not give way.
        if far <= UNMOVED * own {
            return;
        }
        // Nor is a light body that others hang on carried farther than responses at one place tell.
        let size = |i: usize| super::size(&self.stage.bodies[i]);
        let farthest = moves
            .iter()
            .fold(0.0f64, |far, (i, unit)| far.max(unit.linear.norm()).max(unit.angular.norm() * size(*i)));
        let push = (overlap.min(0.2 * smallest) / far).min(0.2 * smallest / farthest);
        self.now += 1;
        for (i, unit) in moves {
            self.moved[i] = self.now;
            displace(&mut self.frames[i], &(unit * push));
            self.at.poses[i] = Pose::new(&self.frames[i]);
        }
    }

    /// Parts two bodies by `distance` (m).
    fn push_apart(&mut self, pushed: &Pushed<'_, D>, distance: f64) {
        let Pushed { ids, arms, frozen, normal, .. } = pushed;
        let mut denominator = 0.0;
        for k in (0..2).filter(|&k| !frozen[k]) {
            let inverse = &self.at.inverse[ids[k]];
            let moment = Dim::cross(&arms[k], normal);
            denominator += inverse.mass + moment.dot(&Dim::apply_inertia(&inverse.inertia, &moment));
        }
        let push = distance / denominator;
        self.now += 1;
        for (k, sign) in [(0, 1.0), (1, -1.0)].into_iter().filter(|&(k, _)| !frozen[k]) {
            let (i, push) = (ids[k], normal * (sign * push));
            self.moved[i] = self.now;
            // Spheres are pushed straight through their centres.
            if Dim::cross(&arms[k], normal).norm() <= 1e-12 * arms[k].norm() {
                self.frames[i].position += push * self.at.inverse[i].mass;
                self.at.poses[i].position = self.frames[i].position;
                continue;
            }
            displace(&mut self.frames[i], &self.at.inverse[i].response(&arms[k], &push));
            self.at.poses[i] = Pose::new(&self.frames[i]);
        }
    }
}

/// Two bodies, of which joints hold at least one, with a normal push at one point.
struct Pushed<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    ids: [usize; 2],
    arms: [Vector<D>; 2],
    frozen: [bool; 2],
    joined: [Option<(&'a [u32], &'a [Columns<D>])>; 2],
    normal: Vector<D>,
}

impl<const D: usize> Pushed<'_, D>
where
    Dim<D>: Space<D>,
{
    fn wrench(&self, k: usize) -> Twist<D> {
        let push = self.normal * [1.0, -1.0][k];
        Twist { linear: push, angular: Dim::cross(&self.arms[k], &push) }
    }

    /// How bodies move for a unit of push.
    fn moves(&self, inverse: &[InverseInertia<D>]) -> Vec<(usize, Twist<D>)> {
        let mut moves: Vec<(usize, Twist<D>)> = Vec::new();
        for k in (0..2).filter(|&k| !self.frozen[k]) {
            let wrench = self.wrench(k);
            match self.joined[k] {
                None => {
                    moves.push((self.ids[k], inverse[self.ids[k]].response(&self.arms[k], &wrench.linear)))
                }
                Some((members, columns)) => {
                    for (&i, columns) in members.iter().zip(columns) {
                        let (i, unit) = (i as usize, combined(columns, &wrench));
                        match moves.iter_mut().find(|(other, _)| k == 1 && *other == i) {
                            Some((_, sum)) => *sum += unit,
                            None => moves.push((i, unit)),
                        }
                    }
                }
            }
        }
        moves
    }

    /// How far the points part for those moves.
    fn approach(&self, moves: &[(usize, Twist<D>)]) -> f64 {
        let along = |k: usize| {
            let own = moves.iter().find(|(i, _)| *i == self.ids[k]);
            own.map_or(0.0, |(_, unit)| unit.dot(&self.wrench(k)))
        };
        along(0) + along(1)
    }

    /// The same without joints.
    fn alone(&self, inverse: &[InverseInertia<D>]) -> f64 {
        let own = |k: usize| {
            let wrench = self.wrench(k);
            inverse[self.ids[k]].response(&self.arms[k], &wrench.linear).dot(&wrench)
        };
        (0..2).filter(|&k| !self.frozen[k]).map(own).sum()
    }
}

/// A pair that is looked at for overlap.
struct Visit {
    /// Level that it is resolved with.
    level: u32,
    /// The higher level of its bodies.
    own: u32,
    pair: u32,
    /// Deepest overlap when it was looked at last (m).
    overlap: f64,
    /// When that was, counted in displacements.
    checked: u32,
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
