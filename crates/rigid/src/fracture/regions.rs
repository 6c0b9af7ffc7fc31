//! Which region of a pattern every sample of a body belongs to, and how far inside it lies.

use super::noise::NoiseCells;
use super::pattern::{Pattern, Regions};
use super::placement::Placement;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{Field, Grid, Index, Lattice, Location};
use splashdown_math::{Dim, Space, Vector};

/// Region number of a sample that was not asked for.
pub(super) const NO_REGION: u32 = u32::MAX;
/// Edge of the blocks in which regions are looked up (samples).
pub(super) const BLOCK: usize = 8;

/// Region and distance to its boundary (m) for the samples of a lattice.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// Number of the region, [`u32::MAX`] where it was not asked for.
    pub region: Vec<u32>,
    /// Distance to the region's boundary (m, never negative): the exact one inside a Voronoi cell, else a bound.
    pub depth: Vec<f64>,
}

impl Labels {
    /// Looks up the samples of `phi` at which it is at most `band` (m), by blocks.
    pub fn of<const D: usize>(
        phi: &Field<D>,
        pattern: &Pattern<D>,
        placement: &Placement<D>,
        band: f64,
    ) -> Self
    where
        Dim<D>: Space<D>,
    {
        let lattice = phi.lattice();
        let count = lattice.len();
        let mut labels = Self { region: vec![NO_REGION; count], depth: vec![0.0; count] };
        let values = phi.values();
        let wanted = |offset: usize| values[offset] <= band;
        match pattern.regions() {
            Regions::Seeds(seeds) => {
                let mut cells = NoiseCells::default();
                let blocks = lattice.counts().map(|n| n.div_ceil(BLOCK) as isize);
                for block in indices([0; D], blocks) {
                    let low = block.map(|b| b * BLOCK as isize);
                    let high: Index<D> =
                        std::array::from_fn(|a| (low[a] + BLOCK as isize).min(lattice.counts()[a] as isize));
                    if rows(low, high).any(|row| {
                        let start = lattice.offset(row);
                        (start..start + (high[0] - low[0]) as usize).any(wanted)
                    }) {
                        seeds.label_block(placement, lattice, low, high, wanted, &mut cells, &mut labels);
                    }
                }
            }
            Regions::Sampled(sampled) => sampled.label(placement, lattice, wanted, &mut labels),
        }
        for depth in &mut labels.depth {
            *depth = depth.max(0.0);
        }
        labels
    }
}

/// All indices of a box, axis 0 fastest.
pub(super) fn indices<const D: usize>(low: Index<D>, high: Index<D>) -> impl Iterator<Item = Index<D>> {
    rows(low, high).flat_map(move |row| {
        (row[0]..high[0]).map(move |i| {
            let mut index = row;
            index[0] = i;
            index
        })
    })
}

/// First indices of the rows along axis 0 of a box.
pub(super) fn rows<const D: usize>(low: Index<D>, high: Index<D>) -> impl Iterator<Item = Index<D>> {
    let mut next = (0..D).all(|a| low[a] < high[a]).then_some(low);
    std::iter::from_fn(move || {
        let current = next?;
        let mut following = current;
        next = (1..D).find_map(|a| {
            following[a] += 1;
            if following[a] < high[a] {
                return Some(following);
            }
            following[a] = low[a];
            None
        });
        Some(current)
    })
}

/// Regions on a grid: for imported patterns, and for the path without interpolation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SampledRegions<const D: usize> {
    /// Cells at whose centres the regions are known; cubic.
    pub(super) grid: Grid<D>,
    /// Region of each cell.
    pub(super) region: Vec<u32>,
    /// Distance of each cell's centre to the boundary of its region, in the unit of the pattern.
    pub(super) depth: Vec<f32>,
}

impl<const D: usize> SampledRegions<D>
where
    Dim<D>: Space<D>,
{
    /// Is every array as long as the grid needs, every region below `count` and every distance a number?
    pub(super) fn is_sound(&self, count: usize) -> bool {
        let cells = self.grid.cell_count();
        self.region.len() == cells
            && self.depth.len() == cells
            && self.region.iter().all(|region| (*region as usize) < count)
            && self.depth.iter().all(|depth| *depth >= 0.0 && depth.is_finite())
    }

    pub(super) fn lattice(&self) -> Lattice<D> {
        self.grid.lattice(Location::Cell, 0)
    }

    /// Region of a point and its distance to the boundary: signed distances of the regions around, interpolated.
    pub fn locate(&self, point: &Vector<D>) -> (u32, f64) {
        let lattice = self.lattice();
        let local = lattice.local(point);
        let mut low: Index<D> = [0; D];
        let mut weight = [0.0; D];
        for a in 0..D {
            let last = lattice.counts()[a] as f64 - 1.0;
            let s = local[a].clamp(0.0, last);
            low[a] = (s.floor() as isize).min((last as isize - 1).max(0));
            weight[a] = s - low[a] as f64;
        }
        let (mut corners, mut count) = ([(0u32, 0.0f64, 0.0f64); 8], 0);
        for corner in 0..1usize << D {
            let mut index = low;
            let mut share = 1.0;
            for a in 0..D {
                let upper = corner >> a & 1 == 1;
                index[a] = (index[a] + isize::from(upper)).min(lattice.counts()[a] as isize - 1);
                share *= if upper { weight[a] } else { 1.0 - weight[a] };
            }
            let offset = lattice.offset(index);
            corners[count] = (self.region[offset], share, f64::from(self.depth[offset]));
            count += 1;
        }
        let corners = &corners[..count];
        // The region's own distance is negative at its samples and positive at those of the others.
        let signed = |own: u32| -> f64 {
            corners
                .iter()
                .map(|&(region, share, depth)| share * if region == own { -depth } else { depth })
                .sum()
        };
        let mut best = (corners[0].0, signed(corners[0].0));
        for (index, &(region, ..)) in corners.iter().enumerate().skip(1) {
            if corners[..index].iter().all(|(seen, ..)| *seen != region) {
                let value = signed(region);
                if value < best.1 || (value == best.1 && region < best.0) {
                    best = (region, value);
                }
            }
        }
        (best.0, (-best.1).max(0.0))
    }

    fn label(
        &self,
        placement: &Placement<D>,
        lattice: &Lattice<D>,
        wanted: impl Fn(usize) -> bool,
        labels: &mut Labels,
    ) {
        let own = self.lattice();
        let counts = lattice.counts().map(|n| n as isize);
        let step = placement.row_step(lattice);
        // Sample on sample: no interpolation, one look-up each.
        let shift = self.shift(placement, lattice);
        for row in rows([0; D], counts) {
            let start = lattice.offset(row);
            if let Some(shift) = shift {
                let last = |a: usize| own.counts()[a] as isize - 1;
                let base: Index<D> = std::array::from_fn(|a| (row[a] + shift[a]).clamp(0, last(a)));
                for i in 0..counts[0] {
                    let offset = start + i as usize;
                    if wanted(offset) {
                        let mut index = base;
                        index[0] = (i + shift[0]).clamp(0, last(0));
                        let cell = own.offset(index);
                        labels.region[offset] = self.region[cell];
                        labels.depth[offset] = f64::from(self.depth[cell]) * placement.scale;
                    }
                }
                continue;
            }
            let first = placement.to_pattern(&lattice.position(row));
            for i in 0..counts[0] as usize {
                if wanted(start + i) {
                    let (region, depth) = self.locate(&(first + step * i as f64));
                    labels.region[start + i] = region;
                    labels.depth[start + i] = depth * placement.scale;
                }
            }
        }
    }

    /// The difference of indices when the samples of the lattice fall on those of the pattern.
    fn shift(&self, placement: &Placement<D>, lattice: &Lattice<D>) -> Option<Index<D>> {
        let own = self.lattice();
        let local = own.local(&placement.to_pattern(&lattice.position([0; D])));
        let step = placement.row_step(lattice);
        let h = own.spacing()[0];
        let axis = Vector::from_fn(|a, _| if a == 0 { h } else { 0.0 });
        let mut last = [0; D];
        for a in 1..D {
            last[a] = 1;
        }
        // Every axis must map to itself: look at the far corner of the first cell too.
        let corner = own.local(&placement.to_pattern(&lattice.position(last))) - local;
        let aligned = (step - axis).norm() < 1e-9 * h
            && (1..D).all(|a| (corner[a] - 1.0).abs() < 1e-9)
            && (0..D).all(|a| (local[a] - local[a].round()).abs() < 1e-6 && local[a].abs() < 1e9);
        aligned.then(|| std::array::from_fn(|a| local[a].round() as isize))
    }
}
