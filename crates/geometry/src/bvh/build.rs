//! Top-down construction with the binned surface area heuristic (Wald 2007).

use super::{Bvh, Node};
use crate::bounds::Aabb;
use splashdown_parallel::prelude::*;

const LEAF_ITEMS: usize = 4;
const BINS: usize = 16;
/// Below this many items a subtree is built by one thread.
const PARALLEL_ITEMS: usize = 8192;
/// From this depth on the items are halved, so that the depth never passes `HEURISTIC_DEPTH + 32`, whatever the input.
const HEURISTIC_DEPTH: usize = 48;
/// Bound of the depth of any tree, hence of the stack of a traversal.
pub(super) const MAX_DEPTH: usize = HEURISTIC_DEPTH + 33;

type Item<const D: usize> = (Aabb<D>, u32);

impl<const D: usize> Bvh<D> {
    /// Builds the tree over the given boxes; item `i` is `boxes[i]`.
    pub fn new(boxes: &[Aabb<D>]) -> Self {
        Self::from_fn(boxes.len(), |i| boxes[i as usize])
    }

    /// Builds the tree over `count` items (at most 2^31) whose boxes a function gives.
    pub fn from_fn(count: usize, bounds_of: impl Fn(u32) -> Aabb<D> + Sync) -> Self {
        assert!(count <= 1 << 31, "a tree holds at most 2^31 items, not {count}");
        let mut items: Vec<Item<D>> =
            (0..count as u32).into_par_iter().with_min_len(4096).map(|i| (bounds_of(i), i)).collect();
        let nodes = if items.is_empty() { Vec::new() } else { subtree(&mut items, 0, 0) };
        let order = items.iter().map(|item| item.1).collect();
        let item_bounds = items.into_iter().map(|item| item.0).collect();
        Self { nodes, order, item_bounds }
    }
}

/// Nodes of the subtree over `items`, which it reorders; `first` is the place of `items[0]` in the whole order.
fn subtree<const D: usize>(items: &mut [Item<D>], first: usize, depth: usize) -> Vec<Node<D>> {
    if items.len() < PARALLEL_ITEMS {
        let mut nodes = Vec::with_capacity(items.len());
        append_subtree(items, first, depth, &mut nodes);
        return nodes;
    }
    let bounds = union_of(items);
    let middle = split(items, depth);
    let (left_items, right_items) = items.split_at_mut(middle);
    let (mut left, right) = rayon::join(
        || subtree(left_items, first, depth + 1),
        || subtree(right_items, first + middle, depth + 1),
    );
    left.insert(0, Node { bounds, link: left.len() as u32 + 1, count: 0 });
    left.extend_from_slice(&right);
    left
}

/// Serial form of [`subtree`]. Recursion is at most [`MAX_DEPTH`] deep.
fn append_subtree<const D: usize>(
    items: &mut [Item<D>],
    first: usize,
    depth: usize,
    nodes: &mut Vec<Node<D>>,
) {
    let bounds = union_of(items);
    if items.len() <= LEAF_ITEMS {
        nodes.push(Node { bounds, link: first as u32, count: items.len() as u32 });
        return;
    }
    let own = nodes.len();
    nodes.push(Node { bounds, link: 0, count: 0 });
    let middle = split(items, depth);
    let (left, right) = items.split_at_mut(middle);
    append_subtree(left, first, depth + 1, nodes);
    nodes[own].link = (nodes.len() - own) as u32;
    append_subtree(right, first + middle, depth + 1, nodes);
}

fn union_of<const D: usize>(items: &[Item<D>]) -> Aabb<D> {
    items.iter().fold(Aabb::empty(), |all, item| all.union(&item.0))
}

/// Reorders the items and returns where the right part starts; both parts are non-empty.
#[inline(never)]
fn split<const D: usize>(items: &mut [Item<D>], depth: usize) -> usize {
    let mut centers = Aabb::empty();
    for (bounds, _) in items.iter() {
        centers = centers.including(&bounds.center());
    }
    let extent = centers.extent();
    let axis = (0..D).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
    let (low, width) = (centers.min[axis], extent[axis]);
    let half = items.len() / 2;
    if !(width > 0.0 && width.is_finite()) {
        // All centres coincide (or are not finite): any halves are as good as any other.
        return half;
    }
    if depth >= HEURISTIC_DEPTH {
        items.select_nth_unstable_by(half, |a, b| {
            a.0.center()[axis].total_cmp(&b.0.center()[axis]).then(a.1.cmp(&b.1))
        });
        return half;
    }
    let bin_of = |bounds: &Aabb<D>| {
        let place = (bounds.center()[axis] - low) / width * BINS as f64;
        (place as usize).min(BINS - 1)
    };
    let mut bins = [(Aabb::<D>::empty(), 0usize); BINS];
    for (bounds, _) in items.iter() {
        let bin = &mut bins[bin_of(bounds)];
        *bin = (bin.0.union(bounds), bin.1 + 1);
    }
    let mut cost_right = [f64::INFINITY; BINS];
    let mut right = (Aabb::empty(), 0);
    for bin in (1..BINS).rev() {
        right = (right.0.union(&bins[bin].0), right.1 + bins[bin].1);
        cost_right[bin] = cost(&right);
    }
    let mut best = (f64::INFINITY, 0);
    let mut left = (Aabb::empty(), 0);
    for bin in 1..BINS {
        left = (left.0.union(&bins[bin - 1].0), left.1 + bins[bin - 1].1);
        let total = cost(&left) + cost_right[bin];
        if left.1 > 0 && left.1 < items.len() && total < best.0 {
            best = (total, bin);
        }
    }
    if best.1 == 0 {
        return half;
    }
    partition(items, |item| bin_of(&item.0) < best.1)
}

fn cost<const D: usize>(side: &(Aabb<D>, usize)) -> f64 {
    if side.1 == 0 { 0.0 } else { side.0.half_surface() * side.1 as f64 }
}

/// Moves the items for which `left` holds to the front and returns how many they are.
fn partition<T>(items: &mut [T], left: impl Fn(&T) -> bool) -> usize {
    let mut count = 0;
    for i in 0..items.len() {
        if left(&items[i]) {
            items.swap(i, count);
            count += 1;
        }
    }
    count
}
