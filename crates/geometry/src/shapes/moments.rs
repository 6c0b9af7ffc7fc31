//! Volume, centre and second moments of shapes.

use super::{Node, Shape, ShapeError};
use crate::grid::{Grid, Location};
use splashdown_math::{Dim, Matrix, Space, Vector};
use splashdown_parallel::prelude::*;
use std::f64::consts::PI;

/// Integrals over a solid of density 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments<const D: usize> {
    /// Volume (m^3; area in m^2 in 2D).
    pub volume: f64,
    /// Centre of mass (m).
    pub centre: Vector<D>,
    /// Integral of `(x - centre)(x - centre)^T` (m^5; m^4 in 2D). The inertia tensor per density is `tr(S) 1 - S` in 3D, `tr(S)` in 2D.
    pub second: Matrix<D>,
}

impl<const D: usize> Moments<D>
where
    Dim<D>: Space<D>,
{
    /// Centred at the origin with a diagonal second moment.
    fn centred(volume: f64, second: Vector<D>) -> Self {
        Self { volume, centre: Vector::zeros(), second: Matrix::from_diagonal(&second) }
    }

    /// From the mean square of the last coordinate and of another one, for solids of revolution.
    fn revolved(volume: f64, across: f64, along: f64) -> Self {
        Self::centred(volume, Vector::from_fn(|a, _| volume * if a == D - 1 { along } else { across }))
    }

    /// Entries of the inertia tensor about the centre for a density of 1 (kg m^2 per kg/m^3), row-major: 1 in 2D, 9 in 3D.
    pub fn inertia_entries(&self) -> Vec<f64> {
        let trace = self.second.trace();
        if D == 2 {
            return vec![trace];
        }
        let entry = |k: usize| (if k / D == k % D { trace } else { 0.0 }) - self.second[(k / D, k % D)];
        (0..D * D).map(entry).collect()
    }

    /// Moments of two solids that do not overlap, taken together.
    pub fn combined(&self, other: &Self) -> Self {
        let volume = self.volume + other.volume;
        let centre = (self.centre * self.volume + other.centre * other.volume) / volume;
        let moved = |m: &Self| {
            let arm = m.centre - centre;
            m.second + arm * arm.transpose() * m.volume
        };
        Self { volume, centre, second: moved(self) + moved(other) }
    }
}

impl<const D: usize> Node<D>
where
    Dim<D>: Space<D>,
{
    /// Closed forms, where there is one.
    pub(super) fn exact_moments(&self) -> Option<Moments<D>> {
        let ball_volume = <Dim<D> as Space<D>>::BALL_VOLUME;
        // Mean square of one coordinate over the unit ball.
        let ball_square = 1.0 / (D as f64 + 2.0);
        Some(match self {
            Self::Ball { radius } => {
                let volume = ball_volume * radius.powi(D as i32);
                Moments::centred(volume, Vector::repeat(volume * radius * radius * ball_square))
            }
            Self::Cuboid { half } => {
                let volume = half.iter().map(|h| 2.0 * h).product();
                Moments::centred(volume, half.map(|h| volume * h * h / 3.0))
            }
            Self::Ellipsoid { radii } => {
                let volume = ball_volume * radii.product();
                Moments::centred(volume, radii.map(|e| volume * e * e * ball_square))
            }
            Self::Cylinder { radius, half_length } if D == 2 => {
                return Self::Cuboid { half: Vector::from_fn(|a, _| [*radius, *half_length][a]) }
                    .exact_moments();
            }
            Self::Cylinder { radius, half_length } => {
                let volume = 2.0 * PI * radius * radius * half_length;
                Moments::revolved(volume, radius * radius / 4.0, half_length * half_length / 3.0)
            }
            Self::Capsule { radius, half_length } => capsule(*radius, *half_length),
            Self::Cone { bottom, top, half_length } => cone(*bottom, *top, *half_length),
            Self::Torus { ring, tube } if D == 2 => {
                let disc = PI * tube * tube;
                let square = tube * tube / 4.0;
                Moments::revolved(2.0 * disc, ring * ring + square, square)
            }
            Self::Torus { ring, tube } => {
                let volume = 2.0 * PI * PI * ring * tube * tube;
                Moments::revolved(volume, ring * ring / 2.0 + 3.0 * tube * tube / 8.0, tube * tube / 4.0)
            }
            Self::Prism { section, half_depth } => {
                let (area, centroid, second) = section.moments();
                let depth = if D == 3 { 2.0 * half_depth } else { 1.0 };
                let volume = area * depth;
                let mut moments = Moments {
                    volume,
                    centre: Vector::from_fn(|a, _| if a < 2 { centroid[a] } else { 0.0 }),
                    second: Matrix::from_fn(|a, b| if a < 2 && b < 2 { second[(a, b)] * depth } else { 0.0 }),
                };
                if D == 3 {
                    moments.second[(D - 1, D - 1)] = volume * half_depth * half_depth / 3.0;
                }
                moments
            }
            Self::Placed { frame, shape } => {
                let inner = shape.exact_moments()?;
                let r = Dim::to_matrix(&frame.rotation);
                Moments {
                    volume: inner.volume,
                    centre: frame.to_world(&inner.centre),
                    second: r * inner.second * r.transpose(),
                }
            }
            Self::Scaled { factor, shape } => {
                let inner = shape.exact_moments()?;
                let volume = factor.powi(D as i32);
                Moments {
                    volume: inner.volume * volume,
                    centre: inner.centre * *factor,
                    second: inner.second * (volume * factor * factor),
                }
            }
            Self::Union { shapes } | Self::Intersection { shapes } if shapes.len() == 1 => {
                return shapes[0].exact_moments();
            }
            _ => return None,
        })
    }
}

/// A cylinder of half length `l` and two half balls.
fn capsule<const D: usize>(r: f64, l: f64) -> Moments<D>
where
    Dim<D>: Space<D>,
{
    // Volume and mean squares of the middle part.
    let (middle, across) =
        if D == 2 { (4.0 * r * l, r * r / 3.0) } else { (2.0 * PI * r * r * l, r * r / 4.0) };
    let ball = <Dim<D> as Space<D>>::BALL_VOLUME * r.powi(D as i32);
    let square = r * r / (D as f64 + 2.0);
    // Distance of the half ball's centroid from its flat side.
    let lever = if D == 2 { 4.0 * r / (3.0 * PI) } else { 3.0 * r / 8.0 };
    let volume = middle + ball;
    let along = middle * l * l / 3.0 + ball * (square + 2.0 * l * lever + l * l);
    Moments::revolved(volume, (middle * across + ball * square) / volume, along / volume)
}

/// Truncated cone: cross-sections of radius linear in the height y.
fn cone<const D: usize>(bottom: f64, top: f64, half: f64) -> Moments<D>
where
    Dim<D>: Space<D>,
{
    // The cross-section at y has the content `c r^(D - 1)` and the mean square `k r^2`. Gauss-Legendre with 3 points is exact for the
    // polynomials of degree <= 5 in y that occur (r^4 in 3D is the largest).
    let (c, k) = if D == 2 { (2.0, 1.0 / 3.0) } else { (PI, 0.25) };
    let (mut volume, mut first, mut along, mut across) = (0.0, 0.0, 0.0, 0.0);
    for (t, weight) in [(-0.6f64.sqrt(), 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.6f64.sqrt(), 5.0 / 9.0)] {
        let r = 0.5 * (bottom + top) + 0.5 * (top - bottom) * t;
        let (y, slice) = (half * t, weight * half * c * r.powi(D as i32 - 1));
        volume += slice;
        first += slice * y;
        along += slice * y * y;
        across += slice * k * r * r;
    }
    let centre = first / volume;
    let mut moments = Moments::revolved(volume, across / volume, along / volume - centre * centre);
    moments.centre[D - 1] = centre;
    moments
}

/// Share of a cell below which a distance that is only known to be at least so much is looked at anew, for rounding.
const CLEAR: f64 = 1e-6;

/// Midpoint rule on a grid over the bounds with the inside fraction of each cell taken from the distance at its centre.
pub(super) fn by_quadrature<const D: usize>(shape: &Shape<D>, cells: usize) -> Result<Moments<D>, ShapeError>
where
    Dim<D>: Space<D>,
{
    let bounds = shape.bounds();
    let longest = bounds.extent().max();
    let unbounded = |_| ShapeError::Unbounded;
    if !bounds.is_bounded() || longest <= 0.0 {
        return Err(ShapeError::Unbounded);
    }
    let grid = Grid::covering(&bounds, longest / cells.max(4) as f64, 1).map_err(unbounded)?;
    let lattice = grid.lattice(Location::Cell, 0);
    let h = grid.spacing();
    let origin = bounds.center();
    let diagonal = 0.5 * h.norm();
    // Sums of 1, x and x x^T relative to the middle of the bounds, slab by slab in order.
    type Sums<const D: usize> = (f64, Vector<D>, Matrix<D>);
    let add = |a: Sums<D>, b: Sums<D>| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
    let zero: Sums<D> = (0.0, Vector::zeros(), Matrix::zeros());
    let own = Matrix::<D>::from_diagonal(&h.map(|h| h * h / 12.0));
    let slabs: Vec<Sums<D>> = (0..lattice.slabs())
        .into_par_iter()
        .map(|slab| {
            let mut sums = zero;
            lattice.rows_of_slab(slab as isize, |first| {
                // How far it is at least from the present cell to where a cell may be cut: it falls by no more than a cell a cell.
                let mut clear = 0.0;
                let mut inside = false;
                for i in 0..lattice.counts()[0] as isize {
                    let mut index = first;
                    index[0] = i;
                    let centre = lattice.position(index);
                    clear -= h[0];
                    if clear < CLEAR * h[0] {
                        let distance = shape.signed_distance(&centre);
                        clear = distance.abs() - diagonal;
                        inside = distance < 0.0;
                    }
                    let x = centre - origin;
                    if clear >= 0.0 {
                        if inside {
                            sums = add(sums, (1.0, x, x * x.transpose() + own));
                        }
                        continue;
                    }
                    // A cut cell: points at the centres of 4^D parts, each with the fraction of a plane cut.
                    const PARTS: usize = 4;
                    let part = h / PARTS as f64;
                    let own = own / (PARTS * PARTS) as f64;
                    for k in 0..PARTS.pow(D as u32) {
                        let shift: Vector<D> = Vector::from_fn(|a, _| {
                            ((k / PARTS.pow(a as u32)) % PARTS) as f64 - 0.5 * (PARTS as f64 - 1.0)
                        });
                        let x = x + shift.component_mul(&part);
                        let (distance, normal) = shape.distance_and_normal(&(origin + x));
                        // Width of the part along the normal; a plane cut's fraction is linear across it to leading order.
                        let width: f64 = (0..D).map(|a| normal[a].abs() * part[a]).sum();
                        let fraction =
                            (0.5 - distance / width.max(1e-300)).clamp(0.0, 1.0) / PARTS.pow(D as u32) as f64;
                        sums = add(sums, (fraction, x * fraction, (x * x.transpose() + own) * fraction));
                    }
                }
            });
            sums
        })
        .collect();
    let (volume, first, second) = slabs.into_iter().fold(zero, add);
    if volume <= 0.0 {
        return Err(ShapeError::Unbounded);
    }
    let centre = first / volume;
    let cell = grid.cell_volume();
    Ok(Moments {
        volume: volume * cell,
        centre: origin + centre,
        second: (second - centre * centre.transpose() * volume) * cell,
    })
}
