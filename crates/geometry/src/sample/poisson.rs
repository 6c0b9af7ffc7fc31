//! Poisson-disk points in a region.

use super::{SampleError, cells, positive, unflatten};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_math::Vector;

/// Rounds of darts. After so many a cell that is still empty is covered, or has so little room left that it hardly matters.
const ROUNDS: usize = 40;

/// Random points in the box from `lower` to `upper` where `inside` holds, no two closer than `distance` (m), with hardly any room left for another one: blue noise.
///
/// Darts are thrown into the cells of a grid so fine that each holds one point at most, in random order and in several rounds (the grid is that of R. Bridson, "Fast Poisson disk sampling in
/// arbitrary dimensions", 2007; visiting all cells instead of growing from a seed reaches separate parts of the region too).
pub fn poisson_points<const D: usize>(
    lower: Vector<D>,
    upper: Vector<D>,
    distance: f64,
    seed: u64,
    inside: impl Fn(&Vector<D>) -> bool,
) -> Result<Vec<Vector<D>>, SampleError> {
    positive("distance", distance)?;
    let size = distance / (D as f64).sqrt();
    let counts = cells(&lower, &upper, size, 1.0)?;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    const EMPTY: u32 = u32::MAX;
    let mut grid = vec![EMPTY; counts.iter().product()];
    let mut points: Vec<Vector<D>> = Vec::new();
    let mut open: Vec<u32> = (0..grid.len() as u32).collect();
    // A point within the distance is at most this many cells away.
    let reach = (D as f64).sqrt().ceil() as usize;
    for _ in 0..ROUNDS {
        // Fisher-Yates.
        for i in (1..open.len()).rev() {
            open.swap(i, rng.random_range(0..=i));
        }
        open.retain(|&flat| {
            let at = unflatten(flat as usize, &counts);
            let x =
                Vector::<D>::from_fn(|axis, _| lower[axis] + (at[axis] as f64 + rng.random::<f64>()) * size);
            if (0..D).any(|axis| x[axis] > upper[axis]) || !inside(&x) {
                return true;
            }
            if is_free(&x, &at, &counts, reach, &grid, &points, distance) {
                grid[flat as usize] = points.len() as u32;
                points.push(x);
                return false;
            }
            true
        });
    }
    Ok(points)
}

fn is_free<const D: usize>(
    x: &Vector<D>,
    at: &[usize; D],
    counts: &[usize; D],
    reach: usize,
    grid: &[u32],
    points: &[Vector<D>],
    distance: f64,
) -> bool {
    let first: [usize; D] = std::array::from_fn(|axis| at[axis].saturating_sub(reach));
    let span: [usize; D] =
        std::array::from_fn(|axis| (at[axis] + reach).min(counts[axis] - 1) + 1 - first[axis]);
    (0..span.iter().product::<usize>()).all(|local| {
        let offset = unflatten(local, &span);
        let flat = (0..D).rev().fold(0, |flat, axis| flat * counts[axis] + first[axis] + offset[axis]);
        match points.get(grid[flat] as usize) {
            Some(other) => (x - other).norm_squared() >= distance * distance,
            None => true,
        }
    })
}
