//! Push-out by normal displacements, point after point: the contact graph gives the order, and what is done stays in place, so that a
//! stack is resolved from the ground up in one pass. Bodies that rest on nothing of infinite mass share the displacement by mass.

use super::gauss_seidel::Form;
use super::joined::{UNMOVED, combined};
use super::{ContactSolver, ContactStage, InverseInertia, both};
use crate::Body;
use crate::collide::Pose;
use crate::joint::Columns;
use splashdown_math::{Coordinates, Dim, Frame, Space, Twist, Vector};

/// Visits of a level, and how many more there are while something overlaps by more than a share of its size: spheres that lean on each other in rings
/// share a level.
const SWEEPS: usize = 10;
const MORE_SWEEPS: usize = 20;
const SHARE: f64 = 1e-3;

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
        let size = |i: usize| super::size(&bodies[i]);
        let mut piled = vec![false; bodies.len()];
        for island in self.islands.iter().filter(|island| island.form == Some(Form::Wide)) {
            island.bodies.iter().for_each(|&i| piled[i as usize] = bodies[i as usize].is_dynamic());
        }
        // Joints pass displacements on between levels.
        let mut jointed = vec![false; bodies.len()];
        for island in self.islands.iter().filter(|island| !island.joined.is_empty()) {
            island.bodies.iter().for_each(|&i| jointed[i as usize] = bodies[i as usize].is_dynamic());
        }
        let allowed = |[a, b]: [usize; 2]| {
            let piled = piled[a] || piled[b];
            stage.options.allowed_overlap + if piled { slack([&bodies[a], &bodies[b]]) } else { 0.0 }
        };
        // Pairs by the higher of their two levels, with their overlap.
        let mut order: Vec<Visit> = Vec::with_capacity(self.report.touching);
        for (index, pair) in self.contacts.pairs.iter().enumerate().filter(|(i, _)| self.processed[*i]) {
            let own = self.levels[pair.a as usize].max(self.levels[pair.b as usize]);
            let jointed = [pair.a, pair.b].iter().any(|&i| jointed[i as usize]);
            let level = if jointed { ALL_LEVELS } else { own };
            let deepest =
                self.at.touches[pair.contacts()].iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
            let overlap = -deepest - allowed([pair.a as usize, pair.b as usize]);
            order.push(Visit { level, own, pair: index as u32, overlap, checked: 0 });
        }
        order.sort_unstable_by_key(|visit| (visit.level, visit.own, visit.pair));
        // Levels are frozen only within islands that something of infinite mass holds.
        let mut floating = vec![false; bodies.len()];
        for (members, ..) in &self.isolated {
            members.iter().for_each(|&i| floating[i as usize] = true);
        }
        // When each body was moved last, counted in displacements.
        let (mut moved, mut now) = (vec![0u32; bodies.len()], 0u32);
        let (mut before, mut after, mut found) = (0.0f64, 0.0f64, 0.0f64);
        let mut first = 0;
        while first < order.len() {
            let level = order[first].level;
            let end = first + order[first..].iter().take_while(|visit| visit.level == level).count();
            let mut last = SWEEPS;
            for sweep in 0..=SWEEPS + MORE_SWEEPS {
                // By which bodies overlap more than they may, over their size, and by which they overlap.
                let (mut worst, mut share, mut deepest) = (0.0f64, 0.0f64, 0.0f64);
                for visit in &mut order[first..end] {
                    let pair = self.contacts.pairs[visit.pair as usize];
                    let ids = [pair.a as usize, pair.b as usize];
                    let smallest = size(ids[0]).min(size(ids[1]));
                    let (enough, allowed) = (1e-12 * smallest, allowed(ids));
                    let unchanged = ids.iter().all(|&i| moved[i] <= visit.checked);
                    if unchanged && visit.overlap <= enough {
                        worst = worst.max(visit.overlap);
                        deepest = deepest.max(visit.overlap + allowed);
                        continue;
                    }
                    // A particle gives way whatever rests on it: the forces of its body hold it.
                    let soft = ids.iter().any(|&i| bodies[i].is_particle());
                    let joined = both(ids, |i| stage.response_of(i));
                    let frozen = both(ids, |i| {
                        let lower = self.levels[i] < level && !floating[i] && level != ALL_LEVELS;
                        !bodies[i].is_dynamic() || (lower && !soft)
                    });
                    if frozen[0] && frozen[1] {
                        continue;
                    }
                    visit.checked = now;
                    visit.overlap = f64::NEG_INFINITY;
                    for contact in pair.contacts() {
                        let poses = both(ids, |i| &self.at.poses[i]);
                        let Some(touch) = self.contacts.touch(bodies, &pair, contact, poses[0], poses[1])
                        else {
                            continue;
                        };
                        let overlap = -touch.gap - allowed;
                        visit.overlap = visit.overlap.max(overlap);
                        if sweep == last || overlap <= enough {
                            continue;
                        }
                        let arms = both(ids, |i| touch.point - frames[i].position);
                        if joined.iter().any(Option::is_some) {
                            let pushed = Pushed { ids, arms, frozen, joined, normal: touch.normal };
                            let moves = pushed.moves(&self.at.inverse);
                            let far = pushed.approach(&moves);
                            let own = pushed.alone(&self.at.inverse);
                            // What joints hold does not give way.
                            if far <= UNMOVED * own {
                                continue;
                            }
                            // Nor is a light body that others hang on carried farther than responses at one place tell.
                            let farthest = moves.iter().fold(0.0f64, |far, (i, unit)| {
                                far.max(unit.linear.norm()).max(unit.angular.norm() * size(*i))
                            });
                            let push = (overlap.min(0.2 * smallest) / far).min(0.2 * smallest / farthest);
                            now += 1;
                            for (i, unit) in moves {
                                moved[i] = now;
                                displace(&mut frames[i], &(unit * push));
                                self.at.poses[i] = Pose::new(&frames[i]);
                            }
                            continue;
                        }
                        let mut denominator = 0.0;
                        for k in (0..2).filter(|&k| !frozen[k]) {
                            let inverse = &self.at.inverse[ids[k]];
                            let moment = Dim::cross(&arms[k], &touch.normal);
                            denominator +=
                                inverse.mass + moment.dot(&Dim::apply_inertia(&inverse.inertia, &moment));
                        }
                        // No further than the body is large in one go.
                        let push = overlap.min(0.2 * smallest) / denominator;
                        now += 1;
                        for (k, sign) in [(0, 1.0), (1, -1.0)].into_iter().filter(|&(k, _)| !frozen[k]) {
                            let (i, push) = (ids[k], touch.normal * (sign * push));
                            moved[i] = now;
                            // Spheres are pushed straight through their centres.
                            if Dim::cross(&arms[k], &touch.normal).norm() <= 1e-12 * arms[k].norm() {
                                frames[i].position += push * self.at.inverse[i].mass;
                                self.at.poses[i].position = frames[i].position;
                                continue;
                            }
                            displace(&mut frames[i], &self.at.inverse[i].response(&arms[k], &push));
                            self.at.poses[i] = Pose::new(&frames[i]);
                        }
                    }
                    worst = worst.max(visit.overlap);
                    deepest = deepest.max(visit.overlap + allowed);
                    share = share.max(visit.overlap / smallest);
                }
                if sweep == 0 {
                    before = before.max(deepest);
                    found = found.max(share);
                }
                if sweep + 1 == SWEEPS && share > SHARE {
                    last = SWEEPS + MORE_SWEEPS;
                }
                if sweep == last || worst <= 1e-9 {
                    after = after.max(deepest);
                    break;
                }
            }
            first = end;
        }
        self.report.overlap_before = self.report.overlap_before.max(before);
        self.report.overlap_after = after.max(0.0);
        found
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
