//! Cutting a body along a pattern: from the distance samples of the body to those of its pieces.

use super::components::{Components, OUTSIDE, components};
use super::pattern::Pattern;
use super::placement::Placement;
use super::regions::{Labels, NO_REGION, indices, rows};
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{Field, Grid, GridError, Index, Interpolation, Lattice, Location, Reach};
use splashdown_geometry::iso_surface::{Extraction, extract};
use splashdown_geometry::shapes::Moments;
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

/// Samples around a piece in its own grid.
const PADDING: isize = 2;
/// Fewer particles than this do not feel the ground from all sides.
const LEAST_PARTICLES: usize = 4;

/// How a body is cut.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CutOptions {
    /// Pieces of fewer voxels are joined to a neighbour.
    pub least_voxels: u64,
    /// Distance of the particles on new faces, in samples.
    pub particle_spacing: usize,
}

impl Default for CutOptions {
    fn default() -> Self {
        Self { least_voxels: 8, particle_spacing: 2 }
    }
}

/// One piece of a cut body, in the coordinates of the body's samples.
#[derive(Debug, Clone)]
pub struct Piece<const D: usize> {
    /// Region of the pattern that it lies in (most of it, where small parts were joined).
    pub region: u32,
    /// Number of voxels.
    pub voxels: u64,
    /// Volume, centre and second moments of its voxels.
    pub moments: Moments<D>,
    /// Distance (m) on its own grid, at the same places as the body's: exact inside, too short outside, the sign always right.
    pub phi: Field<D>,
    /// Points on its surface (m).
    pub particles: Vec<Vector<D>>,
}

impl<const D: usize> Piece<D>
where
    Dim<D>: Space<D>,
{
    /// Distance at any point: beyond the samples that of the nearest one, and the way to it.
    fn distance(&self, point: &Vector<D>) -> f64 {
        let hull = self.phi.lattice().hull();
        let inner = Vector::from_fn(|a, _| point[a].clamp(hull.min[a], hull.max[a]));
        self.phi.sample(&inner, Interpolation::Linear, Reach::Interior) + (point - inner).norm()
    }

    /// Puts particles that lie off the surface by much of the piece's size onto it: where a piece is as small as the samples, the surface of the body and
    /// that of the piece are not the same. All others stay where they are on the body.
    fn settle_particles(&mut self) {
        // Each pass may make the piece smaller.
        for _ in 0..3 {
            let size = self.particles.iter().map(|x| (x - self.moments.centre).norm()).fold(0.0, f64::max);
            let far: Vec<usize> = (0..self.particles.len())
                .filter(|&k| self.distance(&self.particles[k]).abs() > 0.45 * size)
                .collect();
            if far.is_empty() {
                return;
            }
            let Ok(surface) = extract(&self.phi, &Extraction { closed: true, ..Extraction::default() })
            else {
                return;
            };
            for k in far {
                let away = |point: &Vector<D>| (point - self.particles[k]).norm_squared();
                let nearest = surface.mesh.points.iter().min_by(|a, b| away(a).total_cmp(&away(b)));
                if let Some(nearest) = nearest {
                    self.particles[k] = *nearest;
                }
            }
        }
    }
}

/// Cuts the body with distance `phi` (m, the samples with `phi <= 0` are its voxels) and `particles` on its surface along a placed pattern.
///
/// The pieces are the connected parts of each region in the order of their first voxels, and their voxels are those of the body, each once. Fewer than two pieces: the
/// pattern does not cut this body.
pub fn cut<const D: usize>(
    phi: &Field<D>,
    particles: &[Vector<D>],
    pattern: &Pattern<D>,
    placement: &Placement<D>,
    options: &CutOptions,
) -> Result<Vec<Piece<D>>, GridError>
where
    Dim<D>: Space<D>,
{
    let lattice = phi.lattice();
    let h = lattice.spacing().max();
    let labels = Labels::of(phi, pattern, placement, PADDING as f64 * h);
    let values = phi.values();
    let parts =
        components(lattice, |offset| values[offset] <= 0.0, &labels.region, options.least_voxels.max(1));
    let body = CutBody { phi, labels: &labels, parts: &parts, tiny: 1e-3 * h };
    let mut pieces: Vec<Piece<D>> =
        (0..parts.parts.len()).into_par_iter().map(|part| body.piece(part)).collect::<Result<_, _>>()?;
    body.share_particles(particles, &mut pieces);
    body.add_face_particles(options.particle_spacing.max(1) as isize, &mut pieces);
    pieces.par_iter_mut().for_each(|piece| {
        piece.settle_particles();
        if piece.particles.len() < LEAST_PARTICLES
            && let Ok(surface) = extract(&piece.phi, &Extraction { closed: true, ..Extraction::default() })
        {
            piece.particles.extend(surface.mesh.points);
        }
    });
    Ok(pieces)
}

struct CutBody<'a, const D: usize> {
    phi: &'a Field<D>,
    labels: &'a Labels,
    parts: &'a Components<D>,
    /// Least distance that tells the samples of other pieces from those of a piece.
    tiny: f64,
}

impl<const D: usize> CutBody<'_, D>
where
    Dim<D>: Space<D>,
{
    fn lattice(&self) -> &Lattice<D> {
        self.phi.lattice()
    }

    /// The distance of a piece in its own grid.
    fn piece(&self, part: usize) -> Result<Piece<D>, GridError> {
        let (lattice, component) = (self.lattice(), &self.parts.parts[part]);
        let low = component.low.map(|i| i - PADDING);
        let high = component.high.map(|i| i + PADDING + 1);
        let location = lattice.location();
        let cells = std::array::from_fn(|a| (high[a] - low[a]) as usize - usize::from(location.on_planes(a)));
        let h = lattice.spacing();
        let half = if location == Location::Cell { 0.5 } else { 0.0 };
        let corner = lattice.position(low);
        let grid = Grid::new(Vector::from_fn(|a, _| corner[a] - half * h[a]), h, cells)?;
        let mut phi = Field::with_ghost(&grid, location, 0, 0.0);
        let region = self.region_of(part);
        let counts = lattice.counts().map(|n| n as isize);
        let width = (high[0] - low[0]) as usize;
        let samples = phi.values_mut();
        for (number, row) in rows(low, high).enumerate() {
            let out = &mut samples[number * width..(number + 1) * width];
            // Beyond the body's samples the nearest one counts, and the way to it.
            let inner: Index<D> = std::array::from_fn(|a| row[a].clamp(0, counts[a] - 1));
            let beside: f64 = (1..D).map(|a| ((row[a] - inner[a]) as f64 * h[a]).powi(2)).sum();
            let start = lattice.offset(inner) as isize - inner[0];
            // Samples of the row that are the body's own.
            let own = (-row[0]).clamp(0, width as isize) as usize
                ..(counts[0] - row[0]).clamp(0, width as isize) as usize;
            if beside == 0.0 && !own.is_empty() {
                let first = (start + row[0] + own.start as isize) as usize;
                let of_row = first..first + own.len();
                let samples =
                    self.phi.values()[of_row.clone()].iter().zip(&self.labels.region[of_row.clone()]);
                let samples = samples.zip(&self.labels.depth[of_row.clone()]).zip(&self.parts.of[of_row]);
                for (value, (((body, found), depth), piece)) in out[own.clone()].iter_mut().zip(samples) {
                    *value = self.distance(part as u32, region, (*body, *found, *depth, *piece));
                }
            }
            for (i, value) in out.iter_mut().enumerate() {
                if beside == 0.0 && own.contains(&i) {
                    continue;
                }
                let x = row[0] + i as isize;
                let clamped = x.clamp(0, counts[0] - 1);
                let offset = (start + clamped) as usize;
                let sample = (
                    self.phi.values()[offset],
                    self.labels.region[offset],
                    self.labels.depth[offset],
                    self.parts.of[offset],
                );
                let away = (beside + ((x - clamped) as f64 * h[0]).powi(2)).sqrt();
                *value = self.distance(part as u32, region, sample).max(self.tiny) + away;
            }
        }
        let moments = component.sums.moments(lattice).unwrap_or(Moments {
            volume: 0.0,
            centre: Vector::zeros(),
            second: splashdown_math::Matrix::zeros(),
        });
        Ok(Piece { region, voxels: component.sums.count, moments, phi, particles: Vec::new() })
    }

    /// Region of most voxels of a piece, the only one unless small parts were joined.
    fn region_of(&self, part: usize) -> u32 {
        let component = &self.parts.parts[part];
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for row in rows(component.low, component.high.map(|i| i + 1)) {
            let start = self.lattice().offset(row);
            let end = start + (component.high[0] - component.low[0] + 1) as usize;
            for offset in (start..end).filter(|&offset| self.parts.of[offset] == part as u32) {
                let region = self.labels.region[offset];
                match counts.iter_mut().find(|(known, _)| *known == region) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((region, 1)),
                }
            }
        }
        // Of equals the first.
        counts.iter().rev().max_by_key(|(_, count)| *count).map_or(NO_REGION, |(region, _)| *region)
    }

    /// `max(phi, region)` at a sample of the body, given by its distance, region, depth and piece, for the piece `part` in `region`; other pieces are outside
    /// whatever their region.
    #[inline(always)]
    fn distance(&self, part: u32, region: u32, (body, found, depth, own): (f64, u32, f64, u32)) -> f64 {
        if own == part {
            return body.max(-depth).min(0.0);
        }
        if own == OUTSIDE {
            return if found == region || found == NO_REGION { body } else { body.max(depth) };
        }
        let away = if found == region { -body.max(-depth) } else { depth };
        away.max(self.tiny)
    }

    /// Gives every particle of the body to the piece that it lies on; none is lost.
    fn share_particles(&self, particles: &[Vector<D>], pieces: &mut [Piece<D>]) {
        let lattice = self.lattice();
        let counts = lattice.counts().map(|n| n as isize);
        let close = 0.5 * lattice.spacing().min();
        let owner = |point: &Vector<D>| -> Option<usize> {
            let local = lattice.local(point);
            let at: Index<D> = std::array::from_fn(|a| (local[a].round() as isize).clamp(0, counts[a] - 1));
            let own = self.parts.of[lattice.offset(at)];
            // In a piece as small as the samples a particle may lie on the surface of a neighbour rather than on its own.
            if own != OUTSIDE && pieces[own as usize].distance(point).abs() <= close {
                return Some(own as usize);
            }
            for reach in 1..=3 {
                let low = std::array::from_fn(|a| (at[a] - reach).max(0));
                let high = std::array::from_fn(|a| (at[a] + reach + 1).min(counts[a]));
                let mut near: Vec<u32> = Vec::new();
                for index in indices(low, high) {
                    let part = self.parts.of[lattice.offset(index)];
                    if part != OUTSIDE && !near.contains(&part) {
                        near.push(part);
                    }
                }
                if let [only] = near[..] {
                    return Some(only as usize);
                }
                if !near.is_empty() {
                    return nearest(point, near.iter().map(|&part| part as usize), pieces);
                }
            }
            nearest(point, 0..pieces.len(), pieces)
        };
        let owners: Vec<Option<usize>> = particles.par_iter().with_min_len(256).map(owner).collect();
        for (point, owner) in particles.iter().zip(owners) {
            if let Some(owner) = owner {
                pieces[owner].particles.push(*point);
            }
        }
    }

    /// Adds particles where two pieces touch, to both of them: on a lattice of `spacing` samples, and along the rim of the new faces, where
    /// the edges of the pieces are.
    fn add_face_particles(&self, spacing: isize, pieces: &mut [Piece<D>]) {
        let lattice = self.lattice();
        let (counts, strides, h) =
            (lattice.counts().map(|n| n as isize), lattice.strides(), lattice.spacing());
        let slabs: Vec<Vec<(Vector<D>, [u32; 2])>> = (0..counts[D - 1])
            .into_par_iter()
            .map(|slab| {
                let (mut low, mut high) = ([0; D], counts);
                (low[D - 1], high[D - 1]) = (slab, slab + 1);
                let mut found = Vec::new();
                let inside = rows(low, high).flat_map(|row| {
                    let start = lattice.offset(row);
                    let line = self.parts.of[start..start + counts[0] as usize].iter().enumerate();
                    line.filter(|(_, own)| **own != OUTSIDE).map(move |(i, own)| {
                        let mut index = row;
                        index[0] += i as isize;
                        (index, start + i, *own)
                    })
                });
                for (index, offset, own) in inside {
                    for axis in 0..D {
                        if index[axis] + 1 >= counts[axis] {
                            continue;
                        }
                        let other = self.parts.of[offset + strides[axis]];
                        if other == own || other == OUTSIDE {
                            continue;
                        }
                        let rim = (0..D).filter(|&a| a != axis).any(|a| {
                            index[a] == 0
                                || index[a] + 1 == counts[a]
                                || self.parts.of[offset - strides[a]] == OUTSIDE
                                || self.parts.of[offset + strides[a]] == OUTSIDE
                        });
                        let on_lattice = (0..D).filter(|&a| a != axis).all(|a| index[a] % spacing == 0);
                        if !rim && !on_lattice {
                            continue;
                        }
                        let (here, there) =
                            (self.labels.depth[offset], self.labels.depth[offset + strides[axis]]);
                        let total = here + there;
                        let part = if total > 0.0 { (here / total).clamp(0.05, 0.95) } else { 0.5 };
                        let mut point = lattice.position(index);
                        point[axis] += part * h[axis];
                        found.push((point, [own, other]));
                        if rim {
                            let (distance, gradient) =
                                self.phi.sample_with_gradient(&point, Interpolation::Linear, Reach::Interior);
                            let length = gradient.norm();
                            // On the body's surface, at most a spacing away.
                            if length > 0.1 && distance.abs() <= length * h.max() {
                                found.push((point - gradient * (distance / (length * length)), [own, other]));
                            }
                        }
                    }
                }
                found
            })
            .collect();
        for (point, owners) in slabs.into_iter().flatten() {
            for owner in owners {
                pieces[owner as usize].particles.push(point);
            }
        }
    }
}

/// The piece whose surface is nearest to a point.
fn nearest<const D: usize>(
    point: &Vector<D>,
    candidates: impl Iterator<Item = usize>,
    pieces: &[Piece<D>],
) -> Option<usize>
where
    Dim<D>: Space<D>,
{
    let mut best: Option<(f64, usize)> = None;
    for part in candidates {
        let value = pieces[part].distance(point).abs();
        if best.is_none_or(|(least, _)| value < least) {
            best = Some((value, part));
        }
    }
    best.map(|(_, part)| part)
}
