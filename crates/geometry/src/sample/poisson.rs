//! Poisson-disk points in a region.

use super::{LIMIT, SampleError, cells, positive, unflatten};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_math::Vector;

/// Times that the remaining voids are halved.
const LEVELS: u32 = 7;

/// Random points in the box from `lower` to `upper` where `inside` holds, no two closer than `distance` (m), with hardly any room left for another one: blue noise.
///
/// A grid so fine that a cell holds one point at most finds neighbours (R. Bridson, "Fast Poisson disk sampling in arbitrary dimensions", 2007). Darts are
/// thrown into its cells in random order, which reaches separate parts of the region too; then cells that are still open are halved again and again, and pieces that a point
/// covers are dropped, so that the darts go where there is room (M. Ebeida et al., "A simple algorithm for maximal Poisson-disk sampling in high dimensions", 2012).
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
    let mut placed = Placed {
        counts,
        grid: vec![EMPTY; counts.iter().product()],
        points: Vec::new(),
        distance_squared: distance * distance,
    };
    let mut voids: Vec<Void<D>> = (0..placed.grid.len())
        .map(|flat| Void { at: unflatten(flat, &counts).map(|i| i as u32), inside: false })
        .collect();
    for level in 0..=LEVELS {
        let edge = size / f64::from(1u32 << level);
        // Whole cells get more darts, because they also have to find out whether they are inside.
        for _ in 0..if level == 0 { 8 } else { 2 } {
            for i in (1..voids.len()).rev() {
                voids.swap(i, rng.random_range(0..=i));
            }
            voids.retain_mut(|void| {
                let cell = void.cell(level);
                if placed.is_occupied(&cell) {
                    return false;
                }
                let x = Vector::<D>::from_fn(|axis, _| {
                    lower[axis] + (f64::from(void.at[axis]) + rng.random::<f64>()) * edge
                });
                if (0..D).any(|axis| x[axis] > upper[axis]) || !inside(&x) {
                    return true;
                }
                void.inside = true;
                if placed.any_near(&cell, |other| (x - other).norm_squared()) {
                    return true;
                }
                placed.add(&cell, x);
                false
            });
        }
        if level == LEVELS || voids.len() > LIMIT >> D {
            break;
        }
        let half = 0.5 * edge;
        let mut pieces = Vec::new();
        for void in voids.iter().filter(|void| void.inside) {
            for corner in 0..1u32 << D {
                let at = std::array::from_fn(|axis| 2 * void.at[axis] + (corner >> axis & 1));
                let piece = Void { at, inside: false };
                let middle = Vector::<D>::from_fn(|axis, _| lower[axis] + (f64::from(at[axis]) + 0.5) * half);
                // Covered when even its farthest corner is too close to a point.
                let farthest = |other: &Vector<D>| {
                    (middle - other).map(|offset| offset.abs() + 0.5 * half).norm_squared()
                };
                if !placed.any_near(&piece.cell(level + 1), farthest) {
                    pieces.push(piece);
                }
            }
        }
        voids = pieces;
    }
    Ok(placed.points)
}

/// A cube that may still have room for a point.
#[derive(Debug, Clone, Copy)]
struct Void<const D: usize> {
    /// Its place among the cubes of its level.
    at: [u32; D],
    /// Has a dart been inside the region?
    inside: bool,
}

impl<const D: usize> Void<D> {
    /// Cell of the grid that holds it.
    fn cell(&self, level: u32) -> [usize; D] {
        self.at.map(|i| (i >> level) as usize)
    }
}

const EMPTY: u32 = u32::MAX;

/// The points so far and the grid that finds them.
struct Placed<const D: usize> {
    counts: [usize; D],
    grid: Vec<u32>,
    points: Vec<Vector<D>>,
    distance_squared: f64,
}

impl<const D: usize> Placed<D> {
    fn flat(&self, cell: &[usize; D]) -> usize {
        (0..D).rev().fold(0, |flat, axis| flat * self.counts[axis] + cell[axis])
    }

    fn is_occupied(&self, cell: &[usize; D]) -> bool {
        self.grid[self.flat(cell)] != EMPTY
    }

    fn add(&mut self, cell: &[usize; D], x: Vector<D>) {
        let flat = self.flat(cell);
        self.grid[flat] = self.points.len() as u32;
        self.points.push(x);
    }

    /// Is the squared distance that `measure` gives below the limit for a point of the cells around?
    fn any_near(&self, cell: &[usize; D], measure: impl Fn(&Vector<D>) -> f64) -> bool {
        // A point within the distance is at most this many cells away, since a cell's diagonal is the distance.
        let reach = (D as f64).sqrt().ceil() as usize;
        let first: [usize; D] = std::array::from_fn(|axis| cell[axis].saturating_sub(reach));
        let span: [usize; D] =
            std::array::from_fn(|axis| (cell[axis] + reach).min(self.counts[axis] - 1) + 1 - first[axis]);
        (0..span.iter().product::<usize>()).any(|local| {
            let offset = unflatten(local, &span);
            let neighbour = std::array::from_fn(|axis| first[axis] + offset[axis]);
            self.points
                .get(self.grid[self.flat(&neighbour)] as usize)
                .is_some_and(|other| measure(other) < self.distance_squared)
        })
    }
}
