//! Patterns from closed surfaces, one a region, as artists and offline simulations make them.

use super::pattern::{Pattern, PatternError};
use super::regions::SampledRegions;
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::{Grid, Location};
use splashdown_geometry::level_set::{LevelSet, SurfaceDistance};
use splashdown_geometry::mesh::{Corners, Element, SurfaceMesh};
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

/// Cells by which regions may overlap or gape.
const TOLERANCE: f64 = 1.0;

impl<const D: usize> Pattern<D>
where
    Dim<D>: Space<D>,
{
    /// The pattern whose regions are what `surfaces` enclose, on a grid of `cells` cells on the longest side of their box.
    ///
    /// Every surface must be closed, and together they must fill their box without gaps and overlaps, up to a cell. `impact` is where the body
    /// is hit and `normal` the direction against which the striker comes (any length), both in the surfaces' coordinates.
    pub fn from_surfaces(
        surfaces: &[SurfaceMesh<D>],
        cells: usize,
        impact: Vector<D>,
        normal: Vector<D>,
    ) -> Result<Self, PatternError>
    where
        Corners<D>: Element<D>,
    {
        if surfaces.is_empty() || surfaces.len() > super::MOST_REGIONS {
            return Err(PatternError::Count(surfaces.len()));
        }
        let normal = normal.try_normalize(1e-12).ok_or(PatternError::NotFinite("normal"))?;
        let bounds = surfaces.iter().fold(Aabb::empty(), |all, surface| all.union(&surface.bounds()));
        let spacing = bounds.extent().max() / cells.max(2) as f64;
        let grid = Grid::covering(&bounds, spacing, 0)?;
        let options = SurfaceDistance::default();
        let lattice = grid.lattice(Location::Cell, 0);
        // Of every cell the two regions that are deepest or closest: the distance to the second is the depth in the first.
        let mut first = vec![(f64::INFINITY, 0u32); lattice.len()];
        let mut second = vec![f64::INFINITY; lattice.len()];
        for (region, surface) in surfaces.iter().enumerate() {
            let distance = LevelSet::from_surface(&grid, Location::Cell, surface, &options)
                .map_err(|source| PatternError::Region { region, source })?;
            let field = distance.field();
            first.par_iter_mut().zip(&mut second).enumerate().with_min_len(4096).for_each(
                |(cell, (first, second))| {
                    let value = field.at(lattice.index(cell));
                    if value < first.0 {
                        *second = first.0;
                        *first = (value, region as u32);
                    } else if value < *second {
                        *second = value;
                    }
                },
            );
        }
        for cell in 0..lattice.len() {
            let what = if second[cell] < -TOLERANCE * spacing {
                format!("two of them overlap by {:.3} of its unit", -second[cell])
            } else if first[cell].0 > TOLERANCE * spacing {
                format!("the nearest is {:.3} of its unit away", first[cell].0)
            } else {
                continue;
            };
            let place = lattice.position(lattice.index(cell)).as_slice().to_vec();
            return Err(PatternError::NotTiling { place, what });
        }
        let far = bounds.extent().norm();
        let regions = SampledRegions {
            grid,
            region: first.iter().map(|(_, region)| *region).collect(),
            // Half the difference: zero on the face between the two even where the surfaces gape or overlap a little.
            depth: first
                .iter()
                .zip(&second)
                .map(|((own, _), other)| (0.5 * (other.min(far) - own.max(-far))).clamp(0.0, far) as f32)
                .collect(),
        };
        // Deep inside, the outer side of the box is nearer than the next region and does not count.
        let regions = with_true_depth(regions, &second, far);
        Self::from_samples(regions, surfaces.len(), impact, normal)
    }
}

/// The depth is the distance to the next region where that region is a cell or more away.
fn with_true_depth<const D: usize>(
    mut regions: SampledRegions<D>,
    second: &[f64],
    far: f64,
) -> SampledRegions<D>
where
    Dim<D>: Space<D>,
{
    let spacing = regions.grid.min_spacing();
    for (depth, other) in regions.depth.iter_mut().zip(second) {
        if *other > TOLERANCE * spacing {
            *depth = other.min(far) as f32;
        }
    }
    regions
}
