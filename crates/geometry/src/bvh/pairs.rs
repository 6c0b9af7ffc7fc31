//! Pairs of overlapping items, within one tree and between two.

use super::{Bvh, Visit};
use splashdown_parallel::prelude::*;

/// The traversal is cut into at least this many tasks (when the trees are large enough), the same ones for any number of threads.
const TASKS: usize = 512;

impl<const D: usize> Bvh<D> {
    /// All pairs `[i, j]`, `i < j`, of items with overlapping boxes for which `accept(i, j)` holds (say: that share no vertex). Parallel;
    /// the order depends on the tree only.
    pub fn self_pairs(&self, accept: impl Fn(u32, u32) -> bool + Sync) -> Vec<[u32; 2]> {
        collect_pairs(self, self, true, |i, j| accept(i.min(j), i.max(j)))
            .into_iter()
            .map(|[i, j]| [i.min(j), i.max(j)])
            .collect()
    }

    /// All pairs `[i, j]` of an item `i` of this tree and an item `j` of the other one with overlapping boxes for which `accept(i, j)`
    /// holds. Parallel; the order depends on the trees only.
    pub fn pairs_with(&self, other: &Self, accept: impl Fn(u32, u32) -> bool + Sync) -> Vec<[u32; 2]> {
        collect_pairs(self, other, false, accept)
    }
}

fn collect_pairs<const D: usize>(
    a: &Bvh<D>,
    b: &Bvh<D>,
    same: bool,
    accept: impl Fn(u32, u32) -> bool + Sync,
) -> Vec<[u32; 2]> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let mut tasks = vec![(0u32, 0u32)];
    loop {
        let mut next = Vec::with_capacity(3 * tasks.len());
        for &task in &tasks {
            if !expand(a, b, same, task, |child| next.push(child)) {
                next.push(task);
            }
        }
        let done = next == tasks || next.len() >= TASKS || next.is_empty();
        tasks = next;
        if done {
            break;
        }
    }
    let found: Vec<Vec<[u32; 2]>> = tasks
        .par_iter()
        .map(|&task| {
            let mut pairs = Vec::new();
            let mut stack = vec![task];
            while let Some(task) = stack.pop() {
                if !expand(a, b, same, task, |child| stack.push(child)) {
                    leaf_pairs(a, b, same, task, &accept, &mut pairs);
                }
            }
            pairs
        })
        .collect();
    found.concat()
}

/// Replaces a pair of nodes by pairs of their children that may overlap; false when both are leaves.
#[inline]
fn expand<const D: usize>(
    a: &Bvh<D>,
    b: &Bvh<D>,
    same: bool,
    (i, j): (u32, u32),
    mut push: impl FnMut((u32, u32)),
) -> bool {
    let (node_a, node_b) = (&a.nodes[i as usize], &b.nodes[j as usize]);
    let mut push_overlapping = |i: u32, j: u32| {
        if a.nodes[i as usize].bounds.overlaps(&b.nodes[j as usize].bounds) {
            push((i, j));
        }
    };
    match (node_a.visit(i), node_b.visit(j)) {
        (Visit::Leaf { .. }, Visit::Leaf { .. }) => return false,
        (Visit::Inner { left, right }, _) if same && i == j => {
            push_overlapping(left, left);
            push_overlapping(left, right);
            push_overlapping(right, right);
        }
        (Visit::Inner { left, right }, Visit::Leaf { .. }) => {
            push_overlapping(left, j);
            push_overlapping(right, j);
        }
        (Visit::Leaf { .. }, Visit::Inner { left, right }) => {
            push_overlapping(i, left);
            push_overlapping(i, right);
        }
        (Visit::Inner { left: la, right: ra }, Visit::Inner { left: lb, right: rb }) => {
            if node_a.bounds.half_surface() >= node_b.bounds.half_surface() {
                push_overlapping(la, j);
                push_overlapping(ra, j);
            } else {
                push_overlapping(i, lb);
                push_overlapping(i, rb);
            }
        }
    }
    true
}

fn leaf_pairs<const D: usize>(
    a: &Bvh<D>,
    b: &Bvh<D>,
    same: bool,
    (i, j): (u32, u32),
    accept: &impl Fn(u32, u32) -> bool,
    pairs: &mut Vec<[u32; 2]>,
) {
    let (Visit::Leaf { first: first_a, last: last_a }, Visit::Leaf { first: first_b, last: last_b }) =
        (a.nodes[i as usize].visit(i), b.nodes[j as usize].visit(j))
    else {
        return;
    };
    for p in first_a..last_a {
        let start = if same && i == j { p + 1 } else { first_b };
        for q in start..last_b {
            if a.item_bounds[p].overlaps(&b.item_bounds[q]) && accept(a.order[p], b.order[q]) {
                pairs.push([a.order[p], b.order[q]]);
            }
        }
    }
}
