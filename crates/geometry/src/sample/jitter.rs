//! Stratified random points.

use super::{SampleError, cells, positive, unflatten};
use rand::RngExt;
use rand_pcg::Pcg32;
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// Points in the box from `lower` to `upper` where `inside` holds: every cell of edge `cell` (m) is cut into `per_axis^D` equal parts with one point each, moved from the
/// middle of its part by at most `jitter` (0 for a regular grid, 1 for anywhere in the part) times half the part's size.
///
/// Each cell has its own stream of random numbers, so enlarging the box by whole cells along its last axis does not move the points.
pub fn jittered_points<const D: usize>(
    lower: Vector<D>,
    upper: Vector<D>,
    cell: f64,
    per_axis: usize,
    jitter: f64,
    seed: u64,
    inside: impl Fn(&Vector<D>) -> bool + Sync,
) -> Result<Vec<Vector<D>>, SampleError> {
    positive("cell size", cell)?;
    if per_axis == 0 || per_axis > 64 {
        let value = per_axis as f64;
        return Err(SampleError::OutOfRange { what: "points per axis", value, allowed: "from 1 to 64" });
    }
    if !(0.0..=1.0).contains(&jitter) {
        return Err(SampleError::OutOfRange { what: "jitter", value: jitter, allowed: "from 0 to 1" });
    }
    let parts = per_axis.pow(D as u32);
    let counts = cells(&lower, &upper, cell, parts as f64)?;
    let part = cell / per_axis as f64;
    Ok((0..counts.iter().product::<usize>())
        .into_par_iter()
        .flat_map_iter(|flat| {
            let mut rng = Pcg32::new(seed, flat as u64);
            let at = unflatten(flat, &counts);
            let inside = &inside;
            (0..parts).filter_map(move |p| {
                let sub = unflatten(p, &[per_axis; D]);
                let x = Vector::<D>::from_fn(|axis, _| {
                    let offset = 0.5 + 0.5 * jitter * (2.0 * rng.random::<f64>() - 1.0);
                    lower[axis] + at[axis] as f64 * cell + (sub[axis] as f64 + offset) * part
                });
                // The last cells may stick out of the box.
                ((0..D).all(|axis| x[axis] <= upper[axis]) && inside(&x)).then_some(x)
            })
        })
        .collect())
}
