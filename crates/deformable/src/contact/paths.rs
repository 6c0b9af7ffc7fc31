//! How far a Newton step may go: the pairs that can meet on the way, and the part of the step that is free of them.

use super::barrier::Barrier;
use super::pairs::{Nearest, PairKind, first_time};
use crate::force::read;
use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::ccd::CcdOptions;
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

/// A path is stopped where the distance has shrunk to this part of what it was.
const KEPT: f64 = 0.1;
/// Part of the reach to which prescribed motion may bring surfaces together.
const PUSHED: f64 = 0.2;
/// Part of the way of a pair to which the place where it is stopped is found.
const ACCURACY: f64 = 0.05;
/// Part of the reach by which particles may leave the straight paths for which candidates hold.
const COVER: f64 = 0.5;
/// The same as a part of how far a particle goes relative to the mean of all.
const STRAY: f64 = 0.05;
/// Parts of a step between which pairs are looked at together.
const ROUNDS: [f64; 10] = [0.0, 0.02, 0.05, 0.1, 0.17, 0.25, 0.4, 0.6, 0.8, f64::INFINITY];

/// Straight paths that all particles go along together, and how far each may stray from it: at every time of the step each is within its `room` of the place that it then has on its path.
///
/// What moves together stays apart: seen from what moves with the mean of all, the boxes around most paths are small, and pairs are told by how they move relative to each other.
#[derive(Debug, Clone)]
pub(super) struct Paths<const D: usize> {
    from: Vec<f64>,
    step: Vec<f64>,
    /// Empty if none may stray.
    room: Vec<f64>,
    /// Mean of `step`.
    mean: Vector<D>,
    /// How near (m) parts must come to count.
    reach: f64,
}

impl<const D: usize> Default for Paths<D> {
    fn default() -> Self {
        Self::new(&[], &[], 0.0)
    }
}

impl<const D: usize> Paths<D> {
    pub(super) fn new(from: &[f64], step: &[f64], reach: f64) -> Self {
        let mut mean = Vector::<D>::zeros();
        for one in step.chunks_exact(D) {
            mean += Vector::<D>::from_column_slice(one);
        }
        mean /= (step.len() / D).max(1) as f64;
        Self { from: from.to_vec(), step: step.to_vec(), room: Vec::new(), mean, reach }
    }

    /// Lets every particle stray by `base` (m) and a part of how far it goes relative to the mean.
    fn with_room(mut self, base: f64) -> Self {
        let stray = |one: &[f64]| base + STRAY * (Vector::<D>::from_column_slice(one) - self.mean).amax();
        self.room = self.step.chunks_exact(D).map(stray).collect();
        self
    }

    fn room(&self, node: u32) -> f64 {
        self.room.get(node as usize).copied().unwrap_or(0.0)
    }

    /// Is every particle of `x` within its room about one and the same time of the paths?
    fn covers(&self, x: &[f64]) -> bool {
        if self.from.len() != x.len() || self.room.is_empty() {
            return false;
        }
        let (mut along, mut square) = (0.0, 0.0);
        for at in 0..x.len() {
            along += (x[at] - self.from[at]) * self.step[at];
            square += self.step[at] * self.step[at];
        }
        let time = if square > 0.0 { (along / square).clamp(0.0, 1.0) } else { 0.0 };
        (0..x.len()).all(|at| (x[at] - self.from[at] - time * self.step[at]).abs() <= self.room[at / D])
    }

    /// Boxes of a part at the start and at the end as seen from what moves with the mean of all, grown by the room of its nodes and half of the reach.
    pub(super) fn ends(&self, nodes: &[u32]) -> [Aabb<D>; 2] {
        let mut ends = [Aabb::empty(); 2];
        let mut room = 0.0f64;
        for &node in nodes {
            let (from, step) = (read::<D>(&self.from, node), read::<D>(&self.step, node));
            ends = [ends[0].including(&from), ends[1].including(&(from + step - self.mean))];
            room = room.max(self.room(node));
        }
        // Contacts within the rounding of the detection must be candidates.
        let size = ends[0].union(&ends[1]).extent().amax();
        ends.map(|bounds| bounds.grown(room + 0.5 * self.reach + 1e-9 * size))
    }
}

impl<const D: usize> Barrier<D>
where
    Dim<D>: Space<D>,
{
    /// Finds the pairs that can come within the reach while all particles go along `step` together, or keeps those that it has if they hold for that.
    pub(super) fn find_candidates(&mut self, from: &[f64], step: &[f64]) {
        if self.surface.points.is_empty() {
            return;
        }
        let to: Vec<f64> = from.iter().zip(step).map(|(from, step)| from + step).collect();
        if self.paths.covers(from) && self.paths.covers(&to) {
            return;
        }
        let reach = self.options.reach;
        let paths = Paths::new(from, step, reach).with_room(COVER * reach);
        self.candidates = self.surface.candidates(&mut self.trees, |nodes| paths.ends(nodes));
        self.nearest.clear();
        self.paths = paths;
    }

    /// Largest part (0 to 1) of `step` that no pair of surfaces comes together on; also finds the candidates for all positions on the way.
    pub(crate) fn largest_step(&mut self, x: &[f64], step: &[f64]) -> f64 {
        let first = self.first_meeting(x, step, |distance| KEPT * distance);
        if first < 1.0 { 0.9 * first } else { 1.0 }
    }

    /// The same for a prescribed step, which nothing resists: it stops for a pair at a part of the reach from which Newton's method still gets away easily.
    pub(crate) fn largest_push(&mut self, x: &[f64], step: &[f64]) -> f64 {
        let near = PUSHED * self.options.reach;
        self.first_meeting(x, step, |distance| near.min(0.999 * distance))
    }

    /// Part of `step` after which the first pair comes nearer than `stop` of its distance at the start. What is left of a distance after that, `distance - stop(distance)`, must grow
    /// with the distance.
    ///
    /// No pair meets before its parts have gone what is between them. Pairs are looked at in the order of that, some at a time, until none of those that are left can be the first.
    fn first_meeting(&mut self, x: &[f64], step: &[f64], stop: impl Fn(f64) -> f64 + Sync) -> f64 {
        let end: Vec<f64> = x.iter().zip(step).map(|(x, step)| x + step).collect();
        self.find_candidates(x, step);
        let known: &[Nearest] = if self.evaluated == x { &self.nearest } else { &[] };
        let known = |index: usize| known.get(index).map(|near| near.distance).filter(|d| d.is_finite());
        let earliest = |(index, &(kind, nodes)): (usize, &(PairKind, [u32; 4]))| {
            let motion = relative_motion::<D>(kind, &nodes, step);
            // Boxes are not further apart than what is in them.
            let distance = known(index).unwrap_or_else(|| box_distance::<D>(kind, &nodes, x));
            let left = distance - stop(distance);
            (left < motion).then(|| Approach { index: index as u32, motion, earliest: left / motion })
        };
        let approaching: Vec<Approach> =
            self.candidates.par_iter().with_min_len(512).enumerate().filter_map(earliest).collect();
        let mut first = 1.0f64;
        for bounds in ROUNDS.windows(2) {
            if first <= bounds[0] {
                break;
            }
            let due = |pair: &&Approach| bounds[0] <= pair.earliest && pair.earliest < bounds[1];
            let due: Vec<Approach> = approaching.iter().filter(due).copied().collect();
            let meeting = |pair: &Approach| {
                let (kind, nodes) = self.candidates[pair.index as usize];
                let distance =
                    known(pair.index as usize).unwrap_or_else(|| Nearest::of::<D>(kind, &nodes, x).distance);
                let stop = stop(distance);
                if pair.motion * first <= distance - stop {
                    return 1.0;
                }
                let extent = pair.motion + distance + diameter::<D>(&nodes, x);
                let options =
                    CcdOptions { separation: stop, tolerance: ACCURACY * (distance - stop) / extent };
                first_time::<D>(kind, &nodes, x, &end, &options).map_or(1.0, |(time, _)| time)
            };
            let earliest = due.par_iter().with_min_len(128).map(meeting).reduce(|| 1.0, f64::min);
            first = first.min(earliest);
        }
        first
    }
}

/// A pair whose parts go further than what is between them.
#[derive(Debug, Clone, Copy)]
struct Approach {
    /// Among the candidates.
    index: u32,
    /// Of the parts relative to each other (m).
    motion: f64,
    /// Part of the step before which they do not meet.
    earliest: f64,
}

/// Nodes of the two parts of a pair.
fn parts(kind: PairKind, nodes: &[u32; 4]) -> (&[u32], &[u32]) {
    nodes.split_at(if kind == PairKind::PointFace { 1 } else { 2 })
}

/// Are the boxes of the parts further apart than `reach` along an axis?
#[inline]
pub(super) fn boxes_apart<const D: usize>(kind: PairKind, nodes: &[u32; 4], x: &[f64], reach: f64) -> bool {
    box_distance::<D>(kind, nodes, x) > reach
}

/// Largest distance of the boxes of the parts along an axis; zero if they overlap.
#[inline]
fn box_distance<const D: usize>(kind: PairKind, nodes: &[u32; 4], x: &[f64]) -> f64 {
    let (a, b) = parts(kind, nodes);
    let range = |nodes: &[u32]| {
        let first = read::<D>(x, nodes[0]);
        nodes[1..].iter().fold((first, first), |(low, high), &node| {
            let x = read::<D>(x, node);
            (low.inf(&x), high.sup(&x))
        })
    };
    let ((low_a, high_a), (low_b, high_b)) = (range(a), range(b));
    (0..D).map(|axis| (low_a[axis] - high_b[axis]).max(low_b[axis] - high_a[axis])).fold(0.0, f64::max)
}

/// Largest extent of the box of the nodes.
fn diameter<const D: usize>(nodes: &[u32; 4], x: &[f64]) -> f64 {
    let mut bounds = Aabb::empty();
    for &node in nodes {
        bounds = bounds.including(&read::<D>(x, node));
    }
    bounds.extent().amax()
}

/// Largest displacement of a node of one part relative to a node of the other.
fn relative_motion<const D: usize>(kind: PairKind, nodes: &[u32; 4], step: &[f64]) -> f64 {
    let (a, b) = parts(kind, nodes);
    let mut largest: f64 = 0.0;
    for &i in a {
        for &j in b {
            largest = largest.max((read::<D>(step, i) - read::<D>(step, j)).norm_squared());
        }
    }
    largest.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::pairs::gap;
    use crate::contact::{BarrierOptions, ContactSurface};
    use splashdown_solve::testing::TestNumbers;

    /// What comes within the reach at any time, strayed or not, is among the candidates; what only flies along with the others is not more than when all rest.
    #[test]
    fn candidates_hold_for_all_that_moves_along_and_strays() {
        const COUNT: usize = 60;
        let mut random = TestNumbers::new(31);
        let faces: Vec<[u32; 3]> = (0..COUNT as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let surface = ContactSurface::<3>::new(faces);
        let options = BarrierOptions { reach: 0.05, ..BarrierOptions::default() };
        for common in [0.0, 40.0] {
            let (mut from, mut step) = (Vec::new(), Vec::new());
            for _ in 0..COUNT {
                let corner = Vector::<3>::from_fn(|_, _| random.uniform(-1.0, 1.0));
                let motion = Vector::<3>::from_fn(|_, _| random.uniform(-0.3, 0.3));
                for _ in 0..3 {
                    from.extend(corner.iter().map(|x| x + random.uniform(-0.1, 0.1)));
                    step.extend(motion.iter().map(|x| x + random.uniform(-0.05, 0.05) + common));
                }
            }
            let mut barrier = Barrier::new(surface.clone(), options);
            barrier.find_candidates(&from, &step);
            let listed: std::collections::BTreeSet<_> = barrier.candidates.iter().copied().collect();
            let brute = surface.candidates(&mut None, |_| [Aabb::everything(); 2]);
            assert!(listed.len() < brute.len() / 4, "{} of {}", listed.len(), brute.len());
            let mut met = 0;
            for round in 0..20 {
                let time = round as f64 / 19.0;
                let strayed = |at: usize| {
                    let way = barrier.paths.room[at / 3];
                    from[at]
                        + time * step[at]
                        + 0.999 * way * if (at * 7 + round).is_multiple_of(3) { 1.0 } else { -1.0 }
                };
                let x: Vec<f64> = (0..from.len()).map(strayed).collect();
                let straight: Vec<f64> = (0..from.len()).map(|at| from[at] + time * step[at]).collect();
                assert!(barrier.paths.covers(&straight));
                for (kind, nodes) in &brute {
                    if gap::<3>(*kind, nodes, &x).distance < options.reach {
                        met += 1;
                        assert!(listed.contains(&(*kind, *nodes)), "{kind:?} {nodes:?} at {time}");
                    }
                }
            }
            assert!(met > 30, "{met}");
            // Beyond their room they are not covered.
            let mut far = from.clone();
            far[7] += 3.0 * (barrier.paths.room[2] + step[7].abs());
            assert!(!barrier.paths.covers(&far));
            assert!(barrier.paths.covers(&from));
        }
    }

    /// The part of a step that is free is that of the first of all pairs, whichever are looked at and whether their distances are known already.
    #[test]
    fn the_first_of_all_pairs_limits_a_step() {
        const COUNT: usize = 40;
        let mut random = TestNumbers::new(8);
        let faces: Vec<[u32; 3]> = (0..COUNT as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let surface = ContactSurface::<3>::new(faces);
        let brute = surface.candidates(&mut None, |_| [Aabb::everything(); 2]);
        let mut shorter = 0;
        for round in 0..40 {
            let mut x: Vec<f64> = Vec::new();
            for _ in 0..COUNT {
                let corner = Vector::<3>::from_fn(|_, _| random.uniform(-1.0, 1.0));
                for _ in 0..3 {
                    x.extend(corner.iter().map(|x| x + random.uniform(-0.1, 0.1)));
                }
            }
            let size = if round % 2 == 0 { 0.5 } else { 0.02 };
            let step: Vec<f64> = x.iter().map(|_| size * random.uniform(-1.0, 1.0)).collect();
            let end: Vec<f64> = x.iter().zip(&step).map(|(x, step)| x + step).collect();
            let meeting = |(kind, nodes): &(PairKind, [u32; 4])| {
                let distance = gap::<3>(*kind, nodes, &x).distance;
                let motion = relative_motion::<3>(*kind, nodes, &step);
                let stop = KEPT * distance;
                let extent = motion + distance + diameter::<3>(nodes, &x);
                let options =
                    CcdOptions { separation: stop, tolerance: ACCURACY * (distance - stop) / extent };
                first_time::<3>(*kind, nodes, &x, &end, &options).map_or(1.0, |(time, _)| time)
            };
            let first = brute.iter().map(meeting).fold(1.0, f64::min);
            let options = BarrierOptions { reach: 0.05, ..BarrierOptions::default() };
            let mut barrier = Barrier::new(surface.clone(), options);
            let unknown = barrier.largest_step(&x, &step);
            barrier.update(&x);
            let known = barrier.largest_step(&x, &step);
            let expected = if first < 1.0 { 0.9 * first } else { 1.0 };
            for found in [unknown, known] {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
            shorter += usize::from(first < 1.0);
        }
        assert!(shorter > 10, "{shorter}");
    }
}
