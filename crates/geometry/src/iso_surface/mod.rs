//! The zero set of a sampled function as a mesh: closed curves of segments in 2D, closed surfaces of triangles in 3D.
//!
//! Every cell between samples is cut by itself: the crossings on the edges of each of its faces are joined in pairs, the pairs chain up to
//! loops around the cell, and each loop is filled with triangles whose inner edges never lie in a face of the cell. How a face with four
//! crossings is joined depends on that face only, so the two cells at a face agree, and the mesh is **watertight and manifold for any
//! field**, noise and exact zeros included: every edge has exactly two triangles and every point one fan of them. (Marching cubes with
//! consistent faces; one table-free rule serves all 256 cases and 2D.)
//!
//! The surface ends where the samples end; [`Extraction::closed`] closes it there. Triangles are counter-clockwise seen from outside
//! (`phi > 0`), segments have the outside to the right. Points are ordered by row of samples, the same for any number of threads.

mod cells;
mod crossings;
mod slivers;
#[cfg(test)]
mod tests;

pub use slivers::without_short_segments;

use crate::grid::{Field, Index};
use crate::level_set::LevelSetError;
use crate::mesh::Mesh;
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// A surface with its normals.
#[derive(Debug, Clone, PartialEq)]
pub struct IsoSurface<const D: usize> {
    /// Segments in 2D, triangles in 3D, without duplicate points.
    pub mesh: Mesh<D, D>,
    /// Unit normals of the points, from the gradient of the function.
    pub normals: Vec<Vector<D>>,
}

/// Where between two samples of opposite sign the surface passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// Linear interpolation between the two samples: O(h^2).
    #[default]
    Linear,
    /// Cubic through four samples in line: O(h^4).
    Cubic,
    /// For samples at cell centres: marches on the nodes, whose values and the midpoints between them come from fourth-order stencils;
    /// quadratic through node, midpoint, node, O(h^3) (spec surface-tension 3.7).
    NodalQuadratic,
    /// As [`Self::NodalQuadratic`], cubic through midpoint, node, node, midpoint: O(h^4).
    NodalCubic,
}

/// Options of [`extract`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Extraction {
    /// How crossings are found.
    pub crossing: Crossing,
    /// Close the surface where the inside reaches the end of the samples, with a wall through the outermost samples.
    pub closed: bool,
    /// Least distance of a point from a sample, as a fraction of the spacing on that edge. It keeps points apart (by `clearance` times the
    /// smallest spacing at least) and triangles from vanishing where a sample is zero.
    pub clearance: f64,
}

impl Default for Extraction {
    fn default() -> Self {
        Self { crossing: Crossing::Linear, closed: false, clearance: 1e-6 }
    }
}

/// The zero set of `phi` (inside is `phi <= 0`).
///
/// The nodal crossings need a field at cells, march up to the boundary of the grid and read up to two ghost layers there, which the caller
/// has filled; missing layers are continued constantly.
#[inline(never)]
pub fn extract<const D: usize>(phi: &Field<D>, options: &Extraction) -> Result<IsoSurface<D>, LevelSetError> {
    if let Some(index) = phi.first_not_finite() {
        return Err(LevelSetError::NotFinite { index: index.to_vec(), value: phi.at(index) });
    }
    let clearance = if options.clearance.is_finite() { options.clearance.clamp(1e-9, 0.5) } else { 1e-6 };
    let surface = match options.crossing {
        Crossing::Linear | Crossing::Cubic => {
            let samples = crossings::Direct { phi, cubic: options.crossing == Crossing::Cubic };
            crossings::Marching::new(&samples, phi, options.closed, clearance).surface(&samples)
        }
        Crossing::NodalQuadratic | Crossing::NodalCubic => {
            let samples = crossings::Nodal::new(phi, options.crossing == Crossing::NodalCubic)?;
            let nodes = samples.nodes().clone();
            crossings::Marching::new(&samples, &nodes, options.closed, clearance).surface(&samples)
        }
    };
    Ok(surface)
}

/// What marching asks of the function: its value at the marched samples, the crossing on an edge and the joining of an ambiguous face.
trait Samples<const D: usize>: Sync {
    /// Value at a marched sample.
    fn value(&self, index: Index<D>) -> f64;
    /// Where the function vanishes between `index` and its upper neighbour on `axis`, as a fraction of the spacing. The ends have opposite
    /// signs.
    fn crossing(&self, index: Index<D>, axis: usize) -> f64;
    /// Is the middle of the face spanned by two axes from `index` inside? Asked when opposite corners have equal and neighbours different
    /// signs.
    fn face_inside(&self, index: Index<D>, axes: [usize; 2]) -> bool;
    /// Gradient of the function at a point.
    fn gradient(&self, point: &Vector<D>) -> Vector<D>;
}
