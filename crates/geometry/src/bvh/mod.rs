//! A bounding volume hierarchy over boxes: build, refit, overlap, pairs, nearest and ray queries.
//!
//! Written here rather than taken from parry: one source for 2D and 3D in `f64`, the same tree and the same order of results for any number
//! of threads, and a refit that keeps the tree for deforming meshes.

mod build;
mod pairs;
pub(crate) mod traverse;

use crate::bounds::Aabb;
use splashdown_parallel::prelude::*;

/// A tree of boxes over `len()` items, each known by its index. Memory is about 80 bytes an item in 3D.
#[derive(Debug, Clone)]
pub struct Bvh<const D: usize> {
    /// Depth-first: the left child of node `i` is `i + 1`, the right child is further on. So children always come after their parent.
    pub(crate) nodes: Vec<Node<D>>,
    /// Items in the order of the leaves.
    pub(crate) order: Vec<u32>,
    /// Box of `order[k]` at `k`.
    pub(crate) item_bounds: Vec<Aabb<D>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<const D: usize> {
    pub bounds: Aabb<D>,
    /// Leaf: its first place in `order`. Inner node: distance from this node to its right child.
    link: u32,
    /// Number of items of a leaf, 0 for an inner node.
    count: u32,
}

/// A node seen from a traversal.
pub(crate) enum Visit {
    Leaf { first: usize, last: usize },
    Inner { left: u32, right: u32 },
}

impl<const D: usize> Node<D> {
    #[inline]
    pub fn visit(&self, own_index: u32) -> Visit {
        if self.count > 0 {
            Visit::Leaf { first: self.link as usize, last: (self.link + self.count) as usize }
        } else {
            Visit::Inner { left: own_index + 1, right: own_index + self.link }
        }
    }
}

impl<const D: usize> Bvh<D> {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Is there no item?
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Box around everything; empty for an empty tree.
    pub fn bounds(&self) -> Aabb<D> {
        self.nodes.first().map_or_else(Aabb::empty, |root| root.bounds)
    }

    /// Gives the items new boxes and keeps the tree. O(n), about ten times cheaper than building; queries stay right but get slower when
    /// neighbours have drifted apart.
    pub fn refit(&mut self, bounds_of: impl Fn(u32) -> Aabb<D> + Sync) {
        self.item_bounds
            .par_iter_mut()
            .with_min_len(4096)
            .zip(&self.order)
            .for_each(|(bounds, &item)| *bounds = bounds_of(item));
        for index in (0..self.nodes.len()).rev() {
            self.nodes[index].bounds = match self.nodes[index].visit(index as u32) {
                Visit::Leaf { first, last } => {
                    self.item_bounds[first..last].iter().fold(Aabb::empty(), |all, one| all.union(one))
                }
                Visit::Inner { left, right } => {
                    self.nodes[left as usize].bounds.union(&self.nodes[right as usize].bounds)
                }
            };
        }
    }
}

#[cfg(test)]
mod tests;
