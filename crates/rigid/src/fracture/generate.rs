//! Procedural patterns: where the seeds of the regions lie. Deterministic by seed.

use super::pattern::{Pattern, PatternError};
use super::regions::rows;
use super::{MOST_REGIONS, Roughness};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::Field;
use splashdown_math::{Dim, Space, Vector};
use std::f64::consts::TAU;

/// Kind of procedural pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternKind {
    /// Pieces of about equal size.
    Voronoi,
    /// Pieces that are small where the body is hit and grow with the distance from there.
    #[default]
    Radial,
    /// As radial, with uneven faces.
    Realistic,
    /// Sectors and rings about the normal of the hit, as glass breaks.
    Glass,
}

/// A pattern that is made for the body and the hit: about `pieces` fragments wherever the hit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternSpec {
    /// Kind.
    pub kind: PatternKind,
    /// Number of regions whose seeds lie in the body.
    pub pieces: u32,
    /// Seed; the same one gives the same pattern.
    pub seed: u64,
}

impl Default for PatternSpec {
    fn default() -> Self {
        Self { kind: PatternKind::default(), pieces: 25, seed: 1 }
    }
}

/// The most candidates that are compared for one seed.
const CANDIDATES: usize = 12;
/// Places that seeds are chosen from, at least half as many where there are that many voxels.
const MOST_PLACES: usize = 1 << 14;
/// Distance from the hit below which pieces do not get smaller, as a part of the body's half size.
const CORE: f64 = 0.1;

/// Spacing of seeds at distance `r` from the hit in a body of half size `size`, up to a factor.
pub(super) fn graded(r: f64, size: f64) -> f64 {
    CORE * size + r
}

/// Uneven faces for `count` regions in a body of full size `size`.
pub(super) fn roughness(size: f64, count: usize, dimension: usize, seed: u64) -> Roughness {
    let piece = size / (count.max(1) as f64).powf(1.0 / dimension as f64);
    Roughness { amplitude: 0.12 * piece, wavelength: piece, octaves: 2, seed }
}

/// Seeds as far from each other as a choice among random candidates allows, in units of the local `spacing` (D. Mitchell, "Spectrally optimal
/// sampling for distribution ray tracing", 1991).
fn spread<const D: usize>(
    count: usize,
    rng: &mut Pcg64Mcg,
    mut candidate: impl FnMut(&mut Pcg64Mcg) -> Vector<D>,
    spacing: impl Fn(&Vector<D>) -> f64,
) -> Vec<Vector<D>> {
    // The work grows with the square of the count; for very many seeds chance alone spreads them.
    let tries = (50_000_000 / (count * count).max(1)).clamp(1, CANDIDATES);
    let mut seeds: Vec<Vector<D>> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut best = (f64::NEG_INFINITY, Vector::zeros());
        for _ in 0..tries {
            let x = candidate(rng);
            if tries == 1 {
                best.1 = x;
                break;
            }
            let nearest = seeds.iter().map(|seed| (seed - x).norm_squared()).fold(f64::INFINITY, f64::min);
            let room = nearest.min(1e300).sqrt() / spacing(&x);
            if room > best.0 {
                best = (room, x);
            }
        }
        seeds.push(best.1);
    }
    seeds
}

fn check_count(count: usize) -> Result<(), PatternError> {
    if count == 0 || count > MOST_REGIONS { Err(PatternError::Count(count)) } else { Ok(()) }
}

/// Seeds in a box, with a local spacing that is constant or grows from the origin.
pub(super) fn in_box<const D: usize>(
    bounds: &Aabb<D>,
    count: usize,
    seed: u64,
    spacing: impl Fn(&Vector<D>) -> f64,
) -> Result<Vec<Vector<D>>, PatternError> {
    check_count(count)?;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let middle = spacing(&Vector::zeros());
    let uniform = |rng: &mut Pcg64Mcg| {
        Vector::from_fn(|a, _| bounds.min[a] + (bounds.max[a] - bounds.min[a]) * rng.random::<f64>())
    };
    let candidate = |rng: &mut Pcg64Mcg| {
        let x: Vector<D> = uniform(rng);
        // Closer to the origin by as much as the density grows there; a bounded number of tries is enough for candidates.
        let mut pulled = x;
        for _ in 0..64 {
            let share = (middle / spacing(&pulled)).powi(D as i32);
            if rng.random::<f64>() < share {
                return pulled;
            }
            let shrink = rng.random::<f64>();
            pulled = uniform(rng) * shrink;
        }
        pulled
    };
    Ok(spread(count, &mut rng, candidate, &spacing))
}

/// Seeds in rings about the y axis.
pub(super) fn glass<const D: usize>(
    sectors: usize,
    rings: usize,
    jitter: f64,
    seed: u64,
) -> Result<Vec<Vector<D>>, PatternError> {
    let count = sectors.saturating_mul(rings).saturating_add(1);
    check_count(count)?;
    if sectors == 0 || rings == 0 {
        return Err(PatternError::Count(0));
    }
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 0.0 };
    let mut uneven = |range: f64| range * jitter * (rng.random::<f64>() - 0.5);
    let mut seeds = vec![Vector::zeros()];
    for ring in 1..=rings {
        // Rings widen outwards: radii as the squares of their numbers.
        let radius = |ring: f64| (ring / (rings as f64 + 0.5)).powi(2);
        let width = radius(ring as f64 + 0.5) - radius(ring as f64 - 0.5);
        for sector in 0..sectors {
            let angle = TAU * (sector as f64 + 0.5 * (ring % 2) as f64 + uneven(1.0)) / sectors as f64;
            let r = radius(ring as f64) + uneven(width);
            let mut x = Vector::zeros();
            x[0] = r * angle.cos();
            if D == 3 {
                x[D - 1] = r * angle.sin();
            }
            seeds.push(x);
        }
    }
    Ok(seeds)
}

impl PatternSpec {
    /// The pattern for a body with distance `phi` that is hit at `impact` against `normal`, in the coordinates of `phi`.
    #[inline(never)]
    pub fn pattern<const D: usize>(
        &self,
        phi: &Field<D>,
        impact: &Vector<D>,
        normal: &Vector<D>,
    ) -> Result<Pattern<D>, PatternError>
    where
        Dim<D>: Space<D>,
    {
        let count = self.pieces as usize;
        check_count(count)?;
        let lattice = phi.lattice();
        let counts = lattice.counts().map(|n| n as isize);
        let (mut low, mut high) = ([isize::MAX; D], [isize::MIN; D]);
        let mut inside: Vec<u32> = Vec::new();
        for row in rows([0; D], counts) {
            let (start, before) = (lattice.offset(row), inside.len());
            let values = &phi.values()[start..start + counts[0] as usize];
            inside.extend(
                (start as u32..).zip(values).filter(|(_, value)| **value <= 0.0).map(|(offset, _)| offset),
            );
            if let (Some(&first), Some(&last)) = (inside[before..].first(), inside[before..].last()) {
                let ends = [first, last].map(|offset| offset as isize - start as isize);
                (low[0], high[0]) = (low[0].min(ends[0]), high[0].max(ends[1]));
                for a in 1..D {
                    (low[a], high[a]) = (low[a].min(row[a]), high[a].max(row[a]));
                }
            }
        }
        if inside.is_empty() {
            return Err(PatternError::NotFinite("body"));
        }
        let normal = normal.try_normalize(1e-12).ok_or(PatternError::NotFinite("normal"))?;
        let bounds = Aabb { min: lattice.position(low), max: lattice.position(high) };
        // A few thousand places to choose seeds from are as good as all.
        let inside: Vec<u32> = inside.iter().copied().step_by((inside.len() / MOST_PLACES).max(1)).collect();
        let spacing = lattice.spacing();
        let extent = bounds.extent() + spacing;
        let size = 0.5 * extent.max();
        let place = |pattern_bounds: Aabb<D>, seeds, rough| {
            let whole = pattern_bounds.grown(spacing.max()).including(impact);
            Pattern::from_seeds(seeds, rough, whole, *impact, normal)
        };
        let mut rng = Pcg64Mcg::seed_from_u64(self.seed);
        if self.kind == PatternKind::Glass {
            // As many rings as sectors are wide, about.
            let rings = ((count as f64 / 2.5).sqrt().round() as usize).max(1);
            let sectors = (count.saturating_sub(1) / rings).max(2);
            let flat = glass::<D>(sectors, rings, 0.6, self.seed)?;
            let turn =
                Dim::rotation_between(&Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 }), &normal);
            let seeds = flat.iter().map(|x| Dim::rotate(&turn, &(x * (1.2 * size))) + impact).collect();
            return place(bounds, seeds, None);
        }
        let local = |x: &Vector<D>| match self.kind {
            PatternKind::Voronoi => 1.0,
            _ => graded((x - impact).norm(), size) / size,
        };
        // A wall is hit as a plate, a bar as a line: the density falls with the number of dimensions that the body really has.
        let wide = (0..D).filter(|&a| extent[a] > 0.6 * size).count().max(1) as i32;
        let mut total = 0.0;
        let cumulative: Vec<f64> = inside
            .iter()
            .map(|&offset| {
                total += local(&lattice.position(lattice.index(offset as usize))).powi(-wide);
                total
            })
            .collect();
        let candidate = |rng: &mut Pcg64Mcg| {
            let share = rng.random::<f64>() * total;
            let at = cumulative.partition_point(|sum| *sum < share).min(inside.len() - 1);
            let centre = lattice.position(lattice.index(inside[at] as usize));
            centre + Vector::from_fn(|a, _| spacing[a] * (rng.random::<f64>() - 0.5))
        };
        let seeds = spread(count, &mut rng, candidate, local);
        let rough = (self.kind == PatternKind::Realistic).then(|| {
            let mut rough = roughness(1.0, 1, D, self.seed);
            let piece = (extent.product() / count as f64).powf(1.0 / D as f64).min(extent.min());
            rough.amplitude *= piece;
            rough.wavelength *= piece;
            rough
        });
        place(bounds, seeds, rough)
    }
}
