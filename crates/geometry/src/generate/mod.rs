//! Meshes made from numbers: boxes, beams, balls, tori, cylinders, cones, sheets and strings, and simplices that fill any closed shape.
//!
//! The structured generators reproduce their shape's topology exactly and let the caller choose the resolution by counts. For everything else
//! [`fill()`] cuts a lattice of simplices at the zero set of a signed distance, with bounded dihedral angles; [`fill_surface`] does
//! it for a closed surface mesh. Every element comes out
//! with positive orientation (see the aliases in [`crate::mesh`]), in an order that depends on the arguments only.
//!
//! ```
//! use splashdown_geometry::generate::ball_tetrahedra;
//! use splashdown_math::Vector;
//!
//! let ball = ball_tetrahedra(Vector::<3>::zeros(), 0.5, 4)?;
//! assert_eq!(ball.elements.len(), 20 * 4 * 4 * 4);
//! # Ok::<(), splashdown_geometry::generate::GenerateError>(())
//! ```

mod boxes;
mod curves;
pub mod fill;
mod kuhn;
mod polygon;
mod quality;
mod revolve;
mod round;
mod sheet;
mod sweep;

pub use boxes::{CubeSplit, beam_hexahedra, beam_tetrahedra, box_hexahedra, box_surface, box_tetrahedra};
pub use curves::{chain, loop_segments};
pub use fill::{FillError, FillOptions, Filled, fill, fill_surface};
pub use kuhn::{Subdivision, subdivide};
pub use polygon::{PolygonError, polygon_triangles};
pub use quality::SimplexQuality;
pub use revolve::{capsule_surface, cone_surface, cylinder_surface, revolve, torus_surface, uv_sphere};
pub use round::{bag_triangles, ball_tetrahedra, cone_tetrahedra, disc_triangles, icosphere};
pub use sheet::{Diagonals, rectangle_triangles, sheet};
pub use sweep::{cylinder_tetrahedra, extrude, torus_tetrahedra};

/// A generator was asked for something that does not exist.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// A length that must be positive and finite is not.
    #[error("{what} is {value}, but must be a positive, finite length")]
    NotPositive {
        /// Name of the argument.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A coordinate or vector that must be finite and not zero is not.
    #[error("{what} is not a usable vector: {problem}")]
    BadVector {
        /// Name of the argument.
        what: &'static str,
        /// Why it cannot be used.
        problem: &'static str,
    },
    /// A count is below what makes a mesh.
    #[error("{what} is {found}, but must be at least {least}")]
    TooFew {
        /// Name of the argument.
        what: &'static str,
        /// What was given.
        found: usize,
        /// The smallest allowed value.
        least: usize,
    },
    /// The mesh would not fit into memory.
    #[error(
        "the mesh would have about {points:.3e} points, but at most {limit} are made; ask for fewer cells"
    )]
    TooMany {
        /// Points that were asked for.
        points: f64,
        /// The largest allowed number.
        limit: u32,
    },
    /// Two lengths do not fit together.
    #[error("{what}: {problem}")]
    Inconsistent {
        /// The arguments in question.
        what: &'static str,
        /// How they contradict each other.
        problem: &'static str,
    },
}

fn positive(what: &'static str, value: f64) -> Result<f64, GenerateError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(GenerateError::NotPositive { what, value }) }
}

fn at_least(what: &'static str, found: usize, least: usize) -> Result<usize, GenerateError> {
    if found >= least { Ok(found) } else { Err(GenerateError::TooFew { what, found, least }) }
}

fn finite<const D: usize>(what: &'static str, v: &splashdown_math::Vector<D>) -> Result<(), GenerateError> {
    if v.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(GenerateError::BadVector { what, problem: "a component is not finite" })
    }
}

/// Refuses a mesh that would exhaust the memory of a workstation, before anything is allocated.
fn countable(points: f64) -> Result<(), GenerateError> {
    const LIMIT: u32 = 100_000_000;
    if points <= f64::from(LIMIT) { Ok(()) } else { Err(GenerateError::TooMany { points, limit: LIMIT }) }
}

#[cfg(test)]
mod tests;
