//! Values for samples that have none, from their neighbours: layer after layer of means (spec/fluid-base.md 3.11, the fast variant).

use splashdown_geometry::grid::{Field, Index};
use splashdown_parallel::prelude::*;

/// Gives the samples of `missing` the mean of their known neighbours, layer after layer, at most `layers` of them. What is not reached gets `beyond(index)`.
/// `open(index, axis)` tells whether a sample and its lower neighbour on `axis` may see each other.
pub(crate) fn extend_layers<const D: usize>(
    field: &mut Field<D>,
    missing: &[Index<D>],
    layers: usize,
    open: impl Fn(Index<D>, usize) -> bool + Sync,
    beyond: impl Fn(Index<D>) -> f64,
) {
    if missing.is_empty() {
        return;
    }
    let lattice = *field.lattice();
    let mut known = Field::with_ghost(field.grid(), lattice.location(), 0, true);
    for &index in missing {
        known.set(index, false);
    }
    let mut left: Vec<Index<D>> = missing.to_vec();
    for _ in 0..layers {
        let found: Vec<Option<f64>> = left
            .par_iter()
            .with_min_len(256)
            .map(|&index| {
                let (mut sum, mut count) = (0.0, 0.0);
                for axis in 0..D {
                    for step in [-1, 1] {
                        let mut to = index;
                        to[axis] += step;
                        let upper = if step == 1 { to } else { index };
                        if lattice.contains(to) && known.at(to) && open(upper, axis) {
                            sum += field.at(to);
                            count += 1.0;
                        }
                    }
                }
                (count > 0.0).then(|| sum / count)
            })
            .collect();
        let mut rest = Vec::new();
        for (&index, value) in left.iter().zip(&found) {
            match value {
                Some(value) => {
                    field.set(index, *value);
                    known.set(index, true);
                }
                None => rest.push(index),
            }
        }
        left = rest;
        if left.is_empty() {
            return;
        }
    }
    for index in left {
        field.set(index, beyond(index));
    }
}
