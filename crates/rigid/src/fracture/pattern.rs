//! Fracture patterns: all of space cut into regions around an impact point (spec/rigid-bodies.md 3.17).

use super::placement::Placement;
use super::regions::{BLOCK, Labels, SampledRegions};
use super::seeds::Seeds;
use super::{Roughness, generate};
use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::{Field, Grid, GridError, Location};
use splashdown_geometry::level_set::LevelSetError;
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

/// Regions that fill all of space. Their box, impact point and normal say how the pattern is placed in a body; points outside the box belong
/// to the nearest region, so that no mass is ever lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", try_from = "PatternData<D>", into = "PatternData<D>")]
pub struct Pattern<const D: usize>
where
    Dim<D>: Space<D>,
{
    data: PatternData<D>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", rename = "Pattern")]
struct PatternData<const D: usize>
where
    Dim<D>: Space<D>,
{
    bounds: Aabb<D>,
    impact: Vector<D>,
    normal: Vector<D>,
    count: u32,
    regions: Regions<D>,
}

/// How the regions are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "snake_case")]
pub enum Regions<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// By the nearest seed, exactly.
    Seeds(Seeds<D>),
    /// On a grid.
    Sampled(SampledRegions<D>),
}

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// No region at all, or more than can be numbered.
    #[error("a fracture pattern has {0} regions; expected 1 to {most}", most = MOST_REGIONS)]
    Count(usize),
    /// A coordinate or length that is not finite, or a box without volume.
    #[error("the {0} of a fracture pattern is not finite or has no extent")]
    NotFinite(&'static str),
    /// The impact point is outside the box.
    #[error("the impact point of a fracture pattern lies outside its box")]
    ImpactOutside,
    /// A roughness that would tear the regions apart.
    #[error("the roughness of a fracture pattern needs a positive wavelength and 0 to 8 octaves")]
    Roughness,
    /// Regions that overlap or leave a gap.
    #[error("the regions of a fracture pattern must fill its box: at {place:?} {what}")]
    NotTiling {
        /// Where (m).
        place: Vec<f64>,
        /// What is wrong there.
        what: String,
    },
    /// A region whose surface is not closed.
    #[error("region {region} of a fracture pattern: {source}")]
    Region {
        /// Number of the region.
        region: usize,
        /// Why.
        source: LevelSetError,
    },
    /// A grid that cannot be made.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Stored data that contradict themselves.
    #[error("the stored fracture pattern is damaged")]
    Damaged,
}

/// Most regions of a pattern.
pub const MOST_REGIONS: usize = 1 << 20;

impl<const D: usize> From<Pattern<D>> for PatternData<D>
where
    Dim<D>: Space<D>,
{
    fn from(pattern: Pattern<D>) -> Self {
        pattern.data
    }
}

impl<const D: usize> TryFrom<PatternData<D>> for Pattern<D>
where
    Dim<D>: Space<D>,
{
    type Error = PatternError;
    fn try_from(data: PatternData<D>) -> Result<Self, PatternError> {
        let count = data.count as usize;
        if count == 0 || count > MOST_REGIONS {
            return Err(PatternError::Count(count));
        }
        let finite = |v: &Vector<D>| v.iter().all(|x| x.is_finite());
        if !(finite(&data.bounds.min)
            && finite(&data.bounds.max)
            && (0..D).all(|a| data.bounds.min[a] < data.bounds.max[a]))
        {
            return Err(PatternError::NotFinite("box"));
        }
        if !finite(&data.impact) || !data.bounds.contains(&data.impact) {
            return Err(PatternError::ImpactOutside);
        }
        if !finite(&data.normal) || !((data.normal.norm() - 1.0).abs() < 1e-6) {
            return Err(PatternError::NotFinite("normal"));
        }
        match &data.regions {
            Regions::Seeds(seeds) => {
                if !seeds.points.iter().all(finite) {
                    return Err(PatternError::NotFinite("seeds"));
                }
                let sane = seeds.roughness.is_none_or(|rough| {
                    rough.amplitude.is_finite()
                        && rough.wavelength.is_finite()
                        && rough.wavelength > 0.0
                        && rough.octaves <= 8
                        && rough.slope().is_finite()
                });
                if !sane {
                    return Err(PatternError::Roughness);
                }
                if seeds.points.len() != count {
                    return Err(PatternError::Damaged);
                }
            }
            Regions::Sampled(sampled) => {
                if !sampled.is_sound(count) {
                    return Err(PatternError::Damaged);
                }
            }
        }
        Ok(Self { data })
    }
}

impl<const D: usize> Pattern<D>
where
    Dim<D>: Space<D>,
{
    /// A pattern of Voronoi regions around `seeds`, whose faces are displaced by `roughness` if there is any. `bounds`, `impact` and the unit
    /// `normal` (against which the striker comes) place it.
    pub fn from_seeds(
        seeds: Vec<Vector<D>>,
        roughness: Option<Roughness>,
        bounds: Aabb<D>,
        impact: Vector<D>,
        normal: Vector<D>,
    ) -> Result<Self, PatternError> {
        let count = seeds.len();
        if count == 0 || count > MOST_REGIONS {
            return Err(PatternError::Count(count));
        }
        let regions = Regions::Seeds(Seeds { points: seeds, roughness });
        Self::try_from(PatternData { bounds, impact, normal, count: count as u32, regions })
    }

    /// Evenly spread regions in the box from -1 to 1 about the impact point, with their faces along the normal y as along any direction.
    #[inline(never)]
    pub fn voronoi(count: usize, seed: u64) -> Result<Self, PatternError> {
        let bounds = unit_box();
        let points = generate::in_box(&bounds, count, seed, |_| 1.0)?;
        Self::from_seeds(points, None, bounds, Vector::zeros(), up())
    }

    /// Regions in the box from -1 to 1 that are small at the impact point in its middle and grow in proportion to the distance from it.
    #[inline(never)]
    pub fn radial(count: usize, seed: u64) -> Result<Self, PatternError> {
        let bounds = unit_box();
        let points = generate::in_box(&bounds, count, seed, |x: &Vector<D>| generate::graded(x.norm(), 1.0))?;
        Self::from_seeds(points, None, bounds, Vector::zeros(), up())
    }

    /// As [`Self::radial`] with uneven faces.
    #[inline(never)]
    pub fn realistic(count: usize, seed: u64) -> Result<Self, PatternError> {
        let Regions::Seeds(seeds) = Self::radial(count, seed)?.data.regions else {
            return Err(PatternError::Damaged);
        };
        let bounds = unit_box();
        Self::from_seeds(
            seeds.points,
            Some(generate::roughness(2.0, count, D, seed)),
            bounds,
            Vector::zeros(),
            up(),
        )
    }

    /// Sectors and rings about the normal, as glass breaks: `rings` rings whose width grows outwards, each of `sectors` sectors (2D: pieces
    /// along the line on either side), displaced by at most `jitter` of their size.
    #[inline(never)]
    pub fn glass(sectors: usize, rings: usize, jitter: f64, seed: u64) -> Result<Self, PatternError> {
        let points = generate::glass(sectors, rings, jitter, seed)?;
        Self::from_seeds(points, None, unit_box(), Vector::zeros(), up())
    }

    /// The same regions known on a grid of `cells` cells on the longest side of the box: for the path without interpolation and for files
    /// that no longer depend on the generator.
    #[inline(never)]
    pub fn sampled(&self, cells: usize) -> Result<Self, PatternError> {
        let bounds = self.data.bounds;
        let spacing = bounds.extent().max() / cells.max(1) as f64;
        let grid = Grid::covering(&bounds, spacing, 0)?;
        // One region has no boundary: its distance is as good as infinite.
        let far = bounds.extent().norm();
        // By slabs of a block's thickness, so that only the seeds near a block are looked at and memory stays small.
        let counts = grid.cells();
        let slab = |number: usize| -> Result<(Vec<u32>, Vec<f32>), PatternError> {
            let (mut cells, mut origin) = (counts, grid.origin());
            cells[D - 1] = BLOCK.min(counts[D - 1] - number * BLOCK);
            origin[D - 1] += (number * BLOCK) as f64 * spacing;
            let part = Grid::new(origin, grid.spacing(), cells)?;
            let inside = Field::with_ghost(&part, Location::Cell, 0, -1.0);
            let labels = Labels::of(&inside, self, &Placement::identity(), 0.0);
            Ok((labels.region, labels.depth.iter().map(|depth| depth.clamp(0.0, far) as f32).collect()))
        };
        let slabs: Vec<_> =
            (0..counts[D - 1].div_ceil(BLOCK)).into_par_iter().map(slab).collect::<Result<_, _>>()?;
        let (mut region, mut depth) =
            (Vec::with_capacity(grid.cell_count()), Vec::with_capacity(grid.cell_count()));
        for (regions, depths) in slabs {
            region.extend(regions);
            depth.extend(depths);
        }
        let regions = Regions::Sampled(SampledRegions { grid, region, depth });
        Self::try_from(PatternData { regions, ..self.data.clone() })
    }

    /// The same regions with another box: what the placement makes hold a body, and what [`Self::sampled`] samples.
    pub fn within(&self, bounds: Aabb<D>) -> Result<Self, PatternError> {
        Self::try_from(PatternData { bounds, ..self.data.clone() })
    }

    pub(super) fn from_samples(
        regions: SampledRegions<D>,
        count: usize,
        impact: Vector<D>,
        normal: Vector<D>,
    ) -> Result<Self, PatternError> {
        let bounds = regions.grid.bounds();
        let regions = Regions::Sampled(regions);
        Self::try_from(PatternData { bounds, impact, normal, count: count as u32, regions })
    }

    /// The box that its author thought of (in the pattern's own unit).
    pub fn bounds(&self) -> &Aabb<D> {
        &self.data.bounds
    }

    /// The point that is put where the body is hit.
    pub fn impact(&self) -> Vector<D> {
        self.data.impact
    }

    /// The unit vector that is turned to the normal of the hit.
    pub fn normal(&self) -> Vector<D> {
        self.data.normal
    }

    /// Number of regions.
    pub fn region_count(&self) -> usize {
        self.data.count as usize
    }

    /// The regions.
    pub fn regions(&self) -> &Regions<D> {
        &self.data.regions
    }

    /// Region of a point (pattern coordinates) and its distance to the region's boundary.
    pub fn locate(&self, point: &Vector<D>) -> (u32, f64) {
        match &self.data.regions {
            Regions::Seeds(seeds) => seeds.locate(point),
            Regions::Sampled(sampled) => sampled.locate(point),
        }
    }

    /// Distance between the samples, if it is known on a grid.
    pub fn spacing(&self) -> Option<f64> {
        match &self.data.regions {
            Regions::Seeds(_) => None,
            Regions::Sampled(sampled) => Some(sampled.grid.min_spacing()),
        }
    }

    /// The sample nearest to a point, if it is known on a grid.
    pub(super) fn nearest_sample(&self, point: &Vector<D>) -> Option<Vector<D>> {
        let Regions::Sampled(sampled) = &self.data.regions else { return None };
        let lattice = sampled.lattice();
        let local = lattice.local(point);
        Some(lattice.position(std::array::from_fn(|a| local[a].round() as isize)))
    }
}

/// From -1 to 1 on every axis.
fn unit_box<const D: usize>() -> Aabb<D> {
    Aabb { min: Vector::repeat(-1.0), max: Vector::repeat(1.0) }
}

/// The y axis.
fn up<const D: usize>() -> Vector<D> {
    Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 })
}
