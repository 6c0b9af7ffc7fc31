//! Regions around seeds: every point belongs to the nearest one (a Voronoi diagram), and the distance to the boundary is exact.

use super::noise::{NoiseCells, Roughness};
use super::placement::Placement;
use super::regions::{BLOCK, Labels, NO_REGION};
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{Index, Lattice};
use splashdown_math::{Dim, Space, Vector};

/// Seeds of regions, in the coordinates of the pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Seeds<const D: usize> {
    /// One a region.
    pub points: Vec<Vector<D>>,
    /// Displaces every point before its nearest seed is looked for.
    pub roughness: Option<Roughness>,
}

/// The bisector between two seeds as a signed distance, positive on the side of the first.
#[derive(Clone, Copy)]
struct Bisector<const D: usize> {
    normal: Vector<D>,
    offset: f64,
}

/// A sample of a block: its nearest seed, its place in the lattice, where it is in the pattern after displacing, and how far that is from the centre of the block at most.
struct Sample<const D: usize> {
    own: u32,
    offset: usize,
    y: Vector<D>,
    away: f64,
}

impl<const D: usize> Bisector<D> {
    fn new(own: &Vector<D>, other: &Vector<D>) -> Self {
        let between = own - other;
        let length = between.norm().max(f64::MIN_POSITIVE);
        let normal = between / length;
        Self { normal, offset: normal.dot(&((own + other) * 0.5)) }
    }

    #[inline(always)]
    fn distance(&self, x: &Vector<D>) -> f64 {
        self.normal.dot(x) - self.offset
    }
}

impl<const D: usize> Seeds<D>
where
    Dim<D>: Space<D>,
{
    /// Region of a point in pattern coordinates, and its distance to the region's boundary (infinite for one region).
    pub fn locate(&self, point: &Vector<D>) -> (u32, f64) {
        let displaced = point + self.roughness.map_or_else(Vector::zeros, |rough| rough.displacement(point));
        let squared = |seed: &Vector<D>| (seed - displaced).norm_squared();
        let mut nearest = 0;
        for (index, seed) in self.points.iter().enumerate() {
            if squared(seed) < squared(&self.points[nearest]) {
                nearest = index;
            }
        }
        let own = &self.points[nearest];
        let others = self.points.iter().enumerate().filter(|(index, seed)| *index != nearest && *seed != own);
        let depth = others
            .map(|(_, seed)| Bisector::new(own, seed).distance(&displaced))
            .fold(f64::INFINITY, f64::min);
        (nearest as u32, depth * self.shrink())
    }

    /// Distances after displacing may be too long by this factor; what is too short is harmless.
    fn shrink(&self) -> f64 {
        self.roughness.map_or(1.0, |rough| 1.0 / (1.0 + rough.slope()))
    }

    /// [`Self::locate`] for the samples of a block of the lattice where `wanted` holds, written to `labels`.
    ///
    /// Only seeds that can matter in the block are looked at: the distance to a seed and to a bisector both change by at most the block's
    /// radius.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn label_block(
        &self,
        placement: &Placement<D>,
        lattice: &Lattice<D>,
        low: Index<D>,
        high: Index<D>,
        wanted: impl Fn(usize) -> bool,
        cells: &mut NoiseCells<D>,
        labels: &mut Labels,
    ) {
        let seeds: &[Vector<D>] = &self.points;
        let (first, last) = (lattice.position(low), lattice.position(high.map(|i| i - 1)));
        let centre = placement.to_pattern(&((first + last) * 0.5));
        let reach = self.roughness.map_or(0.0, |rough| rough.reach::<D>());
        let radius = 0.5 * (last - first).norm() / placement.scale + reach;
        let squared: Vec<f64> = seeds.iter().map(|seed| (seed - centre).norm_squared()).collect();
        let closest = squared.iter().copied().fold(f64::INFINITY, f64::min).sqrt();
        let bound = closest + 2.0 * radius;
        let mut near: Vec<u32> = (0..seeds.len() as u32)
            .filter(|&q| squared[q as usize] <= bound * bound * (1.0 + 1e-12))
            .collect();
        // The nearest first, so that most samples need not look at the others.
        near.sort_by(|&p, &q| squared[p as usize].total_cmp(&squared[q as usize]));
        let near: Vec<(u32, f64)> = near.into_iter().map(|q| (q, squared[q as usize].sqrt())).collect();
        // The seed of each sample first: only bisectors of those that have samples are looked at, those of one after the other, however many seeds there are.
        let mut samples: Vec<Sample<D>> = Vec::new();
        let step = placement.row_step(lattice);
        let mut row = low;
        loop {
            let first = lattice.offset(row);
            let mut x = placement.to_pattern(&lattice.position(row));
            for offset in first..first + (high[0] - low[0]).max(0) as usize {
                if wanted(offset) {
                    let y = match &self.roughness {
                        Some(rough) => x + rough.displacement_near(&x, cells),
                        None => x,
                    };
                    // No distance changes by more than this between the centre and the sample.
                    let away = (y - centre).norm() * (1.0 + 1e-12);
                    let (mut own, mut nearest) = (near[0].0, f64::INFINITY);
                    for &(seed, distance) in &near {
                        if (distance - away).max(0.0).powi(2) > nearest {
                            break;
                        }
                        let square = (seeds[seed as usize] - y).norm_squared();
                        // Of equals the first seed.
                        if square < nearest || (square == nearest && seed < own) {
                            (own, nearest) = (seed, square);
                        }
                    }
                    samples.push(Sample { own, offset, y, away });
                } else {
                    labels.region[offset] = NO_REGION;
                }
                x += step;
            }
            let Some(axis) = (1..D).find(|&a| row[a] + 1 < high[a]) else { break };
            row[axis] += 1;
            row[1..axis].copy_from_slice(&low[1..axis]);
        }
        let factor = placement.scale * self.shrink();
        samples.sort_by_key(|sample| sample.own);
        let mut faces: Vec<(f64, Bisector<D>)> = Vec::new();
        for samples in samples.chunk_by(|a, b| a.own == b.own) {
            let own = samples[0].own;
            let seed = &seeds[own as usize];
            let others = seeds.iter().enumerate().filter(|(q, other)| *q != own as usize && *other != seed);
            faces.clear();
            faces.extend(others.map(|(_, other)| {
                let face = Bisector::new(seed, other);
                (face.distance(&centre), face)
            }));
            // Those that can be the nearest one.
            let least = faces.iter().map(|(distance, _)| *distance).fold(f64::INFINITY, f64::min);
            faces.retain(|(distance, _)| *distance <= least + 2.0 * radius * (1.0 + 1e-12));
            faces.sort_by(|a, b| a.0.total_cmp(&b.0));
            for sample in samples {
                let mut depth = f64::INFINITY;
                for (distance, face) in &faces {
                    if distance - sample.away > depth {
                        break;
                    }
                    depth = depth.min(face.distance(&sample.y));
                }
                labels.region[sample.offset] = own;
                labels.depth[sample.offset] = depth * factor;
            }
        }
        debug_assert!((0..D).all(|a| high[a] - low[a] <= BLOCK as isize));
    }
}
