//! Overlap, nearest and ray queries.

use super::build::MAX_DEPTH;
use super::{Bvh, Visit};
use crate::bounds::Aabb;
use splashdown_math::Vector;

/// A stack of nodes still to visit. A depth-first traversal that pops one node and pushes two never holds more than the depth plus one.
pub(crate) struct Stack<T> {
    entries: [T; MAX_DEPTH + 2],
    len: usize,
}

impl<T: Copy> Stack<T> {
    pub fn of(first: T) -> Self {
        Self { entries: [first; MAX_DEPTH + 2], len: 1 }
    }
    #[inline]
    pub fn push(&mut self, entry: T) {
        self.entries[self.len] = entry;
        self.len += 1;
    }
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        Some(self.entries[self.len])
    }
}

impl<const D: usize> Bvh<D> {
    /// Calls `visit` for every item whose box overlaps `query`.
    pub fn overlapping(&self, query: &Aabb<D>, mut visit: impl FnMut(u32)) {
        self.any_overlapping(query, |item| {
            visit(item);
            false
        });
    }

    /// Calls `accept` for the items whose boxes overlap `query` until it returns true; tells whether it did.
    pub fn any_overlapping(&self, query: &Aabb<D>, mut accept: impl FnMut(u32) -> bool) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut stack = Stack::of(0u32);
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index as usize];
            if !node.bounds.overlaps(query) {
                continue;
            }
            match node.visit(index) {
                Visit::Leaf { first, last } => {
                    for place in first..last {
                        if self.item_bounds[place].overlaps(query) && accept(self.order[place]) {
                            return true;
                        }
                    }
                }
                Visit::Inner { left, right } => {
                    stack.push(right);
                    stack.push(left);
                }
            }
        }
        false
    }

    /// Branch and bound around a point: calls `visit(item, limit)` for items whose box is nearer than the current squared distance `limit`
    /// (m^2), near ones first; `visit` returns the new limit. Keep the best item in the closure.
    pub fn nearest(&self, point: &Vector<D>, limit: f64, mut visit: impl FnMut(u32, f64) -> f64) {
        if self.is_empty() {
            return;
        }
        let mut limit = limit;
        let mut stack = Stack::of((0u32, self.nodes[0].bounds.distance_squared(point)));
        while let Some((index, distance)) = stack.pop() {
            if distance > limit {
                continue;
            }
            match self.nodes[index as usize].visit(index) {
                Visit::Leaf { first, last } => {
                    for place in first..last {
                        if self.item_bounds[place].distance_squared(point) <= limit {
                            limit = visit(self.order[place], limit);
                        }
                    }
                }
                Visit::Inner { left, right } => {
                    let near = (left, self.nodes[left as usize].bounds.distance_squared(point));
                    let far = (right, self.nodes[right as usize].bounds.distance_squared(point));
                    let (near, far) = if near.1 <= far.1 { (near, far) } else { (far, near) };
                    stack.push(far);
                    stack.push(near);
                }
            }
        }
    }

    /// Branch and bound along the ray `origin + t direction`: calls `visit(item, limit)` for items whose box, grown by `margin` (m), meets
    /// the ray at some `0 <= t <= limit`, near ones first; `visit` returns the new limit.
    pub fn along_ray(
        &self,
        origin: &Vector<D>,
        direction: &Vector<D>,
        limit: f64,
        margin: f64,
        mut visit: impl FnMut(u32, f64) -> f64,
    ) {
        if self.is_empty() {
            return;
        }
        let mut limit = limit;
        let slabs = RaySlabs::new(origin, direction, margin, &self.bounds());
        let mut stack = Stack::of((0u32, slabs.entry(&self.nodes[0].bounds)));
        while let Some((index, entry)) = stack.pop() {
            if entry > limit {
                continue;
            }
            match self.nodes[index as usize].visit(index) {
                Visit::Leaf { first, last } => {
                    for place in first..last {
                        if slabs.entry(&self.item_bounds[place]) <= limit {
                            limit = visit(self.order[place], limit);
                        }
                    }
                }
                Visit::Inner { left, right } => {
                    let near = (left, slabs.entry(&self.nodes[left as usize].bounds));
                    let far = (right, slabs.entry(&self.nodes[right as usize].bounds));
                    let (near, far) = if near.1 <= far.1 { (near, far) } else { (far, near) };
                    if far.1 <= limit {
                        stack.push(far);
                    }
                    if near.1 <= limit {
                        stack.push(near);
                    }
                }
            }
        }
    }
}

/// Ray against box by slabs, never missing a box by rounding.
pub(crate) struct RaySlabs<const D: usize> {
    origin: Vector<D>,
    inverse: Vector<D>,
    /// Growth of every box: the asked margin plus the rounding of coordinates relative to the origin, for all boxes within the root.
    margin: f64,
}

impl<const D: usize> RaySlabs<D> {
    pub fn new(origin: &Vector<D>, direction: &Vector<D>, margin: f64, root: &Aabb<D>) -> Self {
        let reach = (root.min - origin).amax().max((root.max - origin).amax());
        Self {
            origin: *origin,
            inverse: direction.map(|d| 1.0 / d),
            margin: margin + 16.0 * f64::EPSILON * reach,
        }
    }

    /// First `t >= 0` in the grown box, or infinity when the ray misses it.
    #[inline]
    pub fn entry(&self, bounds: &Aabb<D>) -> f64 {
        let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
        for k in 0..D {
            let low = bounds.min[k] - self.origin[k] - self.margin;
            let high = bounds.max[k] - self.origin[k] + self.margin;
            if self.inverse[k].is_infinite() {
                // Parallel to the slab (or so nearly that the quotient overflows): inside it or not.
                if low > 0.0 || high < 0.0 {
                    return f64::INFINITY;
                }
                continue;
            }
            let (a, b) = (low * self.inverse[k], high * self.inverse[k]);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        // Three roundings each; Ize 2013, Robust BVH Ray Traversal.
        if enter * (1.0 - 4.0 * f64::EPSILON) <= leave * (1.0 + 4.0 * f64::EPSILON) {
            enter * (1.0 - 4.0 * f64::EPSILON)
        } else {
            f64::INFINITY
        }
    }
}
