//! Simplices that fill any shape given by its signed distance, with bounded dihedral angles.
//!
//! Isosurface stuffing (F. Labelle, J. Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", 2007): lay a lattice of well-shaped
//! simplices over the shape; find where its edges cross the surface; move a lattice point that is too close to a crossing onto it; cut the simplices that
//! still straddle the surface by fixed patterns. One source serves both dimensions: equilateral triangles in 2D, the BCC lattice in 3D.

mod clip;
mod lattice;
mod smooth;
mod surface;

pub use surface::fill_surface;

use crate::mesh::{Corners, Element, Mesh, MeshError};
use crate::simplex::signed_volume;
use clip::{Corner, Side, clip};
use lattice::{Cells, EdgeKind, Lattice};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;
use std::collections::HashMap;

use super::quality::{SimplexQuality, simplex_quality};

/// What [`fill`] is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct FillOptions<const D: usize> {
    /// Edge length of the lattice, m. Inner triangles have this side; inner tetrahedra have two edges of this length and four of 0.87 times it.
    pub cell: f64,
    /// A box that holds the whole shape, m.
    pub lower: Vector<D>,
    /// The opposite corner of the box, m.
    pub upper: Vector<D>,
    /// Sweeps of smoothing after the cut. Points on the surface slide along it; a move is taken only when the worst angle around the point improves.
    pub smoothing: usize,
    /// Refuse lattices with more points than this before allocating anything.
    pub max_points: usize,
}

impl<const D: usize> FillOptions<D> {
    /// Fills the shape in the given box at the given edge length, with three sweeps of smoothing and at most 2e8 lattice points.
    pub fn new(cell: f64, lower: Vector<D>, upper: Vector<D>) -> Self {
        Self { cell, lower, upper, smoothing: 3, max_points: 200_000_000 }
    }
}

/// Simplices that fill a shape, and how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled<const D: usize, const N: usize> {
    /// The mesh. All elements have positive orientation.
    pub mesh: Mesh<D, N>,
    /// For every point whether it was placed on the surface.
    pub on_surface: Vec<bool>,
    /// Angles, radius ratios and total volume.
    pub quality: SimplexQuality,
}

impl<const D: usize, const N: usize> Filled<D, N> {
    /// `|volume of the mesh - exact| / exact` for a shape whose volume is known.
    pub fn volume_error(&self, exact: f64) -> f64 {
        (self.quality.volume - exact).abs() / exact.abs()
    }
}

/// Why a shape could not be filled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The edge length is not a positive number.
    #[error("the cell size is {cell} m, but must be positive and finite")]
    BadCell {
        /// What was given.
        cell: f64,
    },
    /// The box is empty, inside out or not finite.
    #[error(
        "the box from {lower:?} to {upper:?} (m) has no volume; the lower corner must be below the upper one on every axis"
    )]
    BadBox {
        /// Given lower corner.
        lower: Vec<f64>,
        /// Given upper corner.
        upper: Vec<f64>,
    },
    /// The lattice would be too large.
    #[error(
        "cells of {cell} m over this box make {points:.2e} lattice points, more than the limit of {limit}; cells of {suggestion:.3} m would fit"
    )]
    TooManyCells {
        /// Given cell size, m.
        cell: f64,
        /// Lattice points that it needs.
        points: f64,
        /// Allowed lattice points.
        limit: usize,
        /// A cell size that fits, m.
        suggestion: f64,
    },
    /// No lattice point is inside.
    #[error(
        "no lattice point is inside the shape: it is empty, outside the box, or thinner than the cells of {cell} m"
    )]
    NothingInside {
        /// Given cell size, m.
        cell: f64,
    },
    /// So few lattice points are inside that the result would not resemble the shape.
    #[error(
        "cells of {cell} m are too coarse for this shape: only {inside} lattice points are inside, none of them away from the surface; try {suggestion:.3} m or less"
    )]
    TooCoarse {
        /// Given cell size, m.
        cell: f64,
        /// Lattice points inside.
        inside: usize,
        /// A finer cell size to try, m.
        suggestion: f64,
    },
    /// The shape continues beyond the box.
    #[error(
        "the shape reaches the edge of the box near {at:?} (m); enlarge the box so that it holds the whole shape"
    )]
    ReachesBox {
        /// A lattice point beyond the box that is inside the shape.
        at: Vec<f64>,
    },
    /// The mesh of a closed surface has another volume than the surface.
    #[error(
        "cells of {cell} m are too coarse for this surface: the mesh has the volume {volume:.4e}, the surface encloses {enclosed:.4e}; try {suggestion:.3} m or less"
    )]
    WrongVolume {
        /// Given cell size, m.
        cell: f64,
        /// Volume of the mesh, m^D.
        volume: f64,
        /// Volume that the surface encloses, m^D.
        enclosed: f64,
        /// A finer cell size to try, m.
        suggestion: f64,
    },
    /// The surface is empty, leaks, is inside out or otherwise encloses nothing.
    #[error("the surface cannot be filled: {0}")]
    Surface(#[from] MeshError),
    /// The signed distance is not a number somewhere.
    #[error("the signed distance at {at:?} (m) is {value}, which is not a number to work with")]
    NotFinite {
        /// Where.
        at: Vec<f64>,
        /// What the function returned.
        value: f64,
    },
}

/// Where the surface cuts a lattice edge.
struct Cut<const D: usize> {
    /// Ends, the smaller index first.
    ends: [usize; 2],
    kind: EdgeKind,
    /// Position along the edge from the first end, in (0, 1).
    fraction: f64,
    position: Vector<D>,
    alive: bool,
}

/// Fills the set where `signed_distance` is negative with triangles (`fill::<2, 3, _>`) or tetrahedra (`fill::<3, 4, _>`).
///
/// The function need not be an exact distance; only its sign and its zeros matter. Details thinner than a cell are lost, sharp edges are cut off within a cell.
///
/// Angles without smoothing: dihedral angles of at least 10.78 and at most 164.8 degrees wherever the surface cuts (Labelle and Shewchuk's bound). The
/// verification case `foundation/tetrahedra-quality` measures what smoothing makes of them.
///
/// ```
/// use splashdown_geometry::generate::{FillOptions, fill};
/// use splashdown_math::Vector;
///
/// let ball = |x: &Vector<3>| x.norm() - 1.0;
/// let corner = Vector::<3>::repeat(1.0);
/// let filled = fill::<3, 4, _>(ball, &FillOptions::new(0.2, -corner, corner))?;
/// assert!(filled.quality.min_angle > 10.0);
/// assert!(filled.volume_error(4.0 / 3.0 * std::f64::consts::PI) < 0.02);
/// # Ok::<(), splashdown_geometry::generate::FillError>(())
/// ```
pub fn fill<const D: usize, const N: usize, F>(
    signed_distance: F,
    options: &FillOptions<D>,
) -> Result<Filled<D, N>, FillError>
where
    F: Fn(&Vector<D>) -> f64 + Sync,
    Cells<D, N>: Lattice<D, N>,
    Corners<N>: Element<N>,
{
    let lattice = make_lattice::<D, N>(options)?;
    let values = sample(&lattice, &signed_distance)?;
    let inside = values.iter().filter(|v| **v < 0.0).count();
    if inside == 0 {
        return Err(FillError::NothingInside { cell: options.cell });
    }
    if let Some(at) = (0..lattice.len()).find(|&i| values[i] < 0.0 && lattice.is_outermost(i)) {
        return Err(FillError::ReachesBox { at: lattice.position(at).as_slice().to_vec() });
    }
    let mut sides: Vec<Side> = values
        .iter()
        .map(|v| match v.partial_cmp(&0.0) {
            Some(std::cmp::Ordering::Less) => Side::Inside,
            Some(std::cmp::Ordering::Greater) => Side::Outside,
            _ => Side::On,
        })
        .collect();
    let mut cuts = find_cuts(&lattice, &values, &signed_distance);
    let snapped = snap::<D, N>(&mut cuts, &mut sides);
    let (mut mesh, on_surface) = assemble(&lattice, &sides, &cuts, &snapped);
    if mesh.elements.is_empty() || on_surface.iter().all(|on| *on) {
        return Err(FillError::TooCoarse { cell: options.cell, inside, suggestion: 0.5 * options.cell });
    }
    smooth::smooth(&mut mesh, &on_surface, &signed_distance, options.smoothing, options.cell);
    let quality = simplex_quality(&mesh);
    Ok(Filled { mesh, on_surface, quality })
}

fn make_lattice<const D: usize, const N: usize>(options: &FillOptions<D>) -> Result<Cells<D, N>, FillError>
where
    Cells<D, N>: Lattice<D, N>,
{
    let FillOptions { cell, lower, upper, max_points, .. } = options;
    if !(*cell > 0.0 && cell.is_finite()) {
        return Err(FillError::BadCell { cell: *cell });
    }
    let sound = lower.iter().zip(upper.iter()).all(|(a, b)| a < b && a.is_finite() && b.is_finite());
    if !sound || !(upper - lower).norm().is_finite() {
        return Err(FillError::BadBox { lower: lower.as_slice().to_vec(), upper: upper.as_slice().to_vec() });
    }
    let (lattice, points) = Cells::<D, N>::covering(lower, upper, *cell);
    let limit = (*max_points).min(u32::MAX as usize / 8);
    if points.is_nan() || points > limit as f64 {
        let suggestion = cell * (points / limit as f64).powf(1.0 / D as f64) * 1.05;
        return Err(FillError::TooManyCells { cell: *cell, points, limit, suggestion });
    }
    Ok(lattice)
}

fn sample<const D: usize, const N: usize, F>(lattice: &Cells<D, N>, f: &F) -> Result<Vec<f64>, FillError>
where
    F: Fn(&Vector<D>) -> f64 + Sync,
    Cells<D, N>: Lattice<D, N>,
{
    let values: Vec<f64> = (0..lattice.len()).into_par_iter().map(|i| f(&lattice.position(i))).collect();
    match values.iter().position(|v| v.is_nan()) {
        None => Ok(values),
        Some(i) => {
            Err(FillError::NotFinite { at: lattice.position(i).as_slice().to_vec(), value: values[i] })
        }
    }
}

/// All edges whose ends are strictly on different sides, in order of their ends.
fn find_cuts<const D: usize, const N: usize, F>(lattice: &Cells<D, N>, values: &[f64], f: &F) -> Vec<Cut<D>>
where
    F: Fn(&Vector<D>) -> f64 + Sync,
    Cells<D, N>: Lattice<D, N>,
{
    (0..lattice.len())
        .into_par_iter()
        .flat_map_iter(|a| {
            let mut cuts = Vec::new();
            lattice.later_neighbours(a, |b, kind| {
                let crossing = (values[a] < 0.0 && values[b] > 0.0) || (values[a] > 0.0 && values[b] < 0.0);
                if crossing {
                    let (x, y) = (lattice.position(a), lattice.position(b));
                    let fraction = root(|t| f(&(x + (y - x) * t)), values[a], values[b]);
                    let position = x + (y - x) * fraction;
                    cuts.push(Cut { ends: [a, b], kind, fraction, position, alive: true });
                }
            });
            cuts
        })
        .collect()
}

/// A zero of `f` on (0, 1) by the Illinois variant of the false position, given values of opposite sign at the ends.
fn root(f: impl Fn(f64) -> f64, mut left: f64, mut right: f64) -> f64 {
    const NEAR: f64 = 1e-9;
    let (mut a, mut b) = (0.0, 1.0);
    // Infinite values are legal ("far away"); bisection needs only their sign.
    let mut side = 0;
    for _ in 0..60 {
        if b - a < NEAR {
            break;
        }
        let mut t = (a * right - b * left) / (right - left);
        if !(t > a && t < b) {
            t = 0.5 * (a + b);
        }
        let value = f(t);
        if value == 0.0 || value.is_nan() {
            return t.clamp(NEAR, 1.0 - NEAR);
        }
        if (value < 0.0) == (left < 0.0) {
            if t - a < NEAR {
                a = t;
                break;
            }
            (a, left) = (t, value);
            if side == 1 {
                right *= 0.5;
            }
            side = 1;
        } else {
            if b - t < NEAR {
                a = t;
                break;
            }
            (b, right) = (t, value);
            if side == 2 {
                left *= 0.5;
            }
            side = 2;
        }
    }
    a.clamp(NEAR, 1.0 - NEAR)
}

/// Moves lattice points that a cut comes too close to onto the nearest such cut; their other cuts vanish. Returns the moved points.
fn snap<const D: usize, const N: usize>(cuts: &mut [Cut<D>], sides: &mut [Side]) -> HashMap<usize, Vector<D>>
where
    Cells<D, N>: Lattice<D, N>,
{
    // (lattice point, cut) for both ends, grouped by point.
    let mut incident: Vec<(usize, usize)> =
        cuts.iter().enumerate().flat_map(|(c, cut)| cut.ends.map(|end| (end, c))).collect();
    incident.par_sort_unstable();
    let mut snapped = HashMap::new();
    for group in incident.chunk_by(|a, b| a.0 == b.0) {
        let point = group[0].0;
        let closest = group
            .iter()
            .filter(|(_, c)| cuts[*c].alive)
            .map(|&(_, c)| {
                let cut = &cuts[c];
                let fraction = if cut.ends[0] == point { cut.fraction } else { 1.0 - cut.fraction };
                (fraction / Cells::<D, N>::snap_fraction(cut.kind), c)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((distance, c)) = closest
            && distance < 1.0
        {
            snapped.insert(point, cuts[c].position);
            sides[point] = Side::On;
            for &(_, c) in group {
                cuts[c].alive = false;
            }
        }
    }
    snapped
}

/// Cuts every simplex and numbers the points that are used. Returns the mesh and which points are on the surface.
fn assemble<const D: usize, const N: usize>(
    lattice: &Cells<D, N>,
    sides: &[Side],
    cuts: &[Cut<D>],
    snapped: &HashMap<usize, Vector<D>>,
) -> (Mesh<D, N>, Vec<bool>)
where
    Cells<D, N>: Lattice<D, N>,
{
    const UNUSED: u32 = u32::MAX;
    let mut point_number = vec![UNUSED; lattice.len()];
    let mut cut_number = vec![UNUSED; cuts.len()];
    let cut_of: HashMap<[usize; 2], usize> =
        cuts.iter().enumerate().filter(|(_, cut)| cut.alive).map(|(c, cut)| (cut.ends, c)).collect();
    let find = |a: usize, b: usize| cut_of[&[a.min(b), a.max(b)]];
    let position = |corner: Corner| match corner {
        Corner::Point(p) => snapped.get(&p).copied().unwrap_or_else(|| lattice.position(p)),
        Corner::Cut(a, b) => cuts[find(a, b)].position,
    };
    let length = |a: Corner, b: Corner| (position(a) - position(b)).norm_squared();
    let starts_at_first = |a: usize, b: usize, n: usize| {
        match (lattice.edge_kind(a, n), lattice.edge_kind(b, n)) {
            // The diagonal of a quadrilateral with one cut on a long edge ends at that cut.
            (EdgeKind::Short, EdgeKind::Long) => true,
            (EdgeKind::Long, EdgeKind::Short) => false,
            // Otherwise the shorter diagonal, equal ones by index.
            _ => {
                let from_a = length(Corner::Point(a), Corner::Cut(b, n));
                let from_b = length(Corner::Point(b), Corner::Cut(a, n));
                if from_a == from_b { a < b } else { from_a < from_b }
            }
        }
    };
    let surface_diagonal = |p: Corner, q: Corner, r: Corner, s: Corner| length(p, q) <= length(r, s);

    let mut points = Vec::new();
    let mut on_surface = Vec::new();
    let mut elements = Vec::new();
    lattice.for_each_simplex(|simplex| {
        let simplex_sides = simplex.map(|p| sides[p]);
        if !simplex_sides.contains(&Side::Inside) {
            return;
        }
        clip(&simplex, &simplex_sides, starts_at_first, surface_diagonal, |corners| {
            let mut element = corners.map(|corner| {
                let (number, on) = match corner {
                    Corner::Point(p) => (&mut point_number[p], sides[p] == Side::On),
                    Corner::Cut(a, b) => (&mut cut_number[find(a, b)], true),
                };
                if *number == UNUSED {
                    *number = points.len() as u32;
                    points.push(position(corner));
                    on_surface.push(on);
                }
                *number
            });
            if signed_volume(&element.map(|i| points[i as usize])) < 0.0 {
                element.swap(N - 2, N - 1);
            }
            elements.push(element);
        });
    });
    (Mesh { points, elements }, on_surface)
}

#[cfg(test)]
mod tests;
