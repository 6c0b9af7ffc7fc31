//! How far a Newton step may go: the pairs that can meet on the way, and the part of the step that is free of them.

use super::barrier::Barrier;
use super::pairs::{PairKind, first_time, gap};
use crate::force::read;
use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::ccd::CcdOptions;
use splashdown_math::{Dim, Space};
use splashdown_parallel::prelude::*;

/// A path is stopped where the distance has shrunk to this part of what it was.
const KEPT: f64 = 0.1;
/// Part of the reach to which prescribed motion may bring surfaces together.
const PUSHED: f64 = 0.2;
/// Part of the way of a pair to which the place where it is stopped is found.
const ACCURACY: f64 = 0.05;
/// Part of the reach by which candidates are sought beyond where particles go.
const COVER: f64 = 0.5;

impl<const D: usize> Barrier<D>
where
    Dim<D>: Space<D>,
{
    /// Finds the pairs that can come within the reach while every particle stays in the box of its places `from` and `to`, or keeps those that it has if they cover that.
    pub(super) fn find_candidates(&mut self, from: &[f64], to: &[f64]) {
        if self.surface.points.is_empty() {
            return;
        }
        let holds = |(node, covered): (usize, &Aabb<D>)| {
            covered.contains(&read::<D>(from, node as u32)) && covered.contains(&read::<D>(to, node as u32))
        };
        if self.covered.len() * D == from.len() && self.covered.par_iter().enumerate().all(holds) {
            return;
        }
        let reach = self.options.reach;
        // Room for the shorter steps that follow a long one.
        self.covered = (0..from.len() / D)
            .into_par_iter()
            .with_min_len(1024)
            .map(|node| {
                let (a, b) = (read::<D>(from, node as u32), read::<D>(to, node as u32));
                let own = Aabb::empty().including(&a).including(&b);
                own.grown(COVER * reach + 0.25 * own.extent().amax())
            })
            .collect();
        let covered = &self.covered;
        self.candidates = self.surface.candidates(&mut self.trees, |nodes| {
            let mut bounds = Aabb::empty();
            for &node in nodes {
                bounds = bounds.union(&covered[node as usize]);
            }
            bounds.grown(0.5 * reach + 1e-9 * bounds.extent().amax())
        });
    }

    /// Largest part (0 to 1) of `step` that no pair of surfaces comes together on; also finds the candidates for all positions on the way.
    pub(crate) fn largest_step(&mut self, x: &[f64], step: &[f64]) -> f64 {
        let first = self.first_meeting(x, step, |motion| motion / (1.0 - KEPT), |distance| KEPT * distance);
        if first < 1.0 { 0.9 * first } else { 1.0 }
    }

    /// The same for a prescribed step, which nothing resists: it stops for a pair at a part of the reach from which Newton's method still gets away easily.
    pub(crate) fn largest_push(&mut self, x: &[f64], step: &[f64]) -> f64 {
        let near = PUSHED * self.options.reach;
        self.first_meeting(x, step, |motion| motion + near, |distance| near.min(0.999 * distance))
    }

    /// Part of `step` after which the first pair comes nearer than `stop` of its distance at the start; pairs that are farther apart than `far` of their relative motion do not.
    fn first_meeting(
        &mut self,
        x: &[f64],
        step: &[f64],
        far: impl Fn(f64) -> f64 + Sync,
        stop: impl Fn(f64) -> f64 + Sync,
    ) -> f64 {
        let end: Vec<f64> = x.iter().zip(step).map(|(x, step)| x + step).collect();
        self.find_candidates(x, &end);
        self.candidates
            .par_iter()
            .with_min_len(256)
            .map(|&(kind, nodes)| {
                let motion = relative_motion::<D>(kind, &nodes, step);
                // The boxes are not further apart than what is in them.
                if boxes_apart::<D>(kind, &nodes, x, far(motion)) {
                    return 1.0;
                }
                let distance = gap::<D>(kind, &nodes, x).distance;
                let stop = stop(distance);
                if motion <= distance - stop {
                    return 1.0;
                }
                let extent = motion + distance + diameter::<D>(&nodes, x);
                let options =
                    CcdOptions { separation: stop, tolerance: ACCURACY * (distance - stop) / extent };
                first_time::<D>(kind, &nodes, x, &end, &options).map_or(1.0, |(time, _)| time)
            })
            .reduce(|| 1.0, f64::min)
    }
}

/// Nodes of the two parts of a pair.
fn parts(kind: PairKind, nodes: &[u32; 4]) -> (&[u32], &[u32]) {
    nodes.split_at(if kind == PairKind::PointFace { 1 } else { 2 })
}

/// Are the boxes of the parts further apart than `reach` along an axis?
pub(super) fn boxes_apart<const D: usize>(kind: PairKind, nodes: &[u32; 4], x: &[f64], reach: f64) -> bool {
    let (a, b) = parts(kind, nodes);
    (0..D).any(|axis| {
        let range = |nodes: &[u32]| {
            nodes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &node| {
                let x = x[D * node as usize + axis];
                (low.min(x), high.max(x))
            })
        };
        let ((low_a, high_a), (low_b, high_b)) = (range(a), range(b));
        low_a - high_b > reach || low_b - high_a > reach
    })
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
