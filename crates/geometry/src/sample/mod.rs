//! Points spread over shapes and surfaces: jittered grids, Poisson disks and uniform random points.
//!
//! Everything is deterministic: the same arguments and seed give the same points. Particle methods seed their material points with
//! [`jittered_points`] or [`poisson_points`]; contact and rendering samples of surfaces come from [`surface_points`].

mod jitter;
mod poisson;
mod surface;

pub use jitter::jittered_points;
pub use poisson::poisson_points;
pub use surface::{SurfaceSample, random_surface_points, surface_points};

use splashdown_math::Vector;

/// Why points could not be placed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// A length that must be positive and finite is not.
    #[error("{what} is {value} m, but must be positive and finite")]
    NotPositive {
        /// Name of the argument.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A box without volume.
    #[error(
        "the box from {lower:?} to {upper:?} (m) has no volume; the lower corner must be below the upper one on every axis"
    )]
    BadBox {
        /// Given lower corner.
        lower: Vec<f64>,
        /// Given upper corner.
        upper: Vec<f64>,
    },
    /// A number outside its range.
    #[error("{what} is {value}, but must be {allowed}")]
    OutOfRange {
        /// Name of the argument.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// More points than memory should hold.
    #[error(
        "about {points:.2e} points would be tried, more than the limit of {limit}; use a larger distance or a smaller box"
    )]
    TooMany {
        /// Candidates that would be needed.
        points: f64,
        /// Allowed number.
        limit: usize,
    },
    /// The surface is empty, has bad indices or coordinates, or no area.
    #[error("the surface cannot be sampled: {0}")]
    Surface(#[from] crate::mesh::MeshError),
}

/// Candidates or cells beyond which a request is refused.
const LIMIT: usize = 1 << 27;

fn positive(what: &'static str, value: f64) -> Result<f64, SampleError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(SampleError::NotPositive { what, value }) }
}

/// Number of cells of the given size along each axis of the box, rounded up.
fn cells<const D: usize>(
    lower: &Vector<D>,
    upper: &Vector<D>,
    size: f64,
    points_per_cell: f64,
) -> Result<[usize; D], SampleError> {
    let extent = upper - lower;
    if !extent.iter().all(|e| *e > 0.0 && e.is_finite()) {
        return Err(SampleError::BadBox {
            lower: lower.as_slice().to_vec(),
            upper: upper.as_slice().to_vec(),
        });
    }
    let counts = extent.map(|e| (e / size).ceil().max(1.0));
    let points = counts.product() * points_per_cell;
    if points <= LIMIT as f64 {
        Ok(std::array::from_fn(|axis| counts[axis] as usize))
    } else {
        Err(SampleError::TooMany { points, limit: LIMIT })
    }
}

/// Index of each axis from a flat one, the first axis fastest.
fn unflatten<const D: usize>(mut flat: usize, counts: &[usize; D]) -> [usize; D] {
    counts.map(|count| {
        let index = flat % count;
        flat /= count;
        index
    })
}

#[cfg(test)]
mod tests;
