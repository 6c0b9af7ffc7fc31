//! Meshes: points and the elements that connect them.

mod boundary;
mod check;
mod element;
mod error;
mod measure;
mod quality;
mod repair;
mod topology;

pub use boundary::Boundary;
pub use element::{Corners, Element, Facet};
pub use error::MeshError;
pub use measure::Integrals;
pub use quality::{ElementQuality, QualityReport, Statistics};
pub use repair::Welded;
pub use topology::{Adjacency, Components, Incidence};

use crate::bounds::Aabb;
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// Points in dimension `D` and elements of `N` point indices each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Mesh<const D: usize, const N: usize> {
    /// Positions in metres.
    pub points: Vec<Vector<D>>,
    /// Indices into [`points`](Mesh::points); orientation as the alias of the element type says.
    #[serde(with = "elements_as_lists")]
    pub elements: Vec<[u32; N]>,
}

/// Line segments.
pub type SegmentMesh<const D: usize> = Mesh<D, 2>;
/// Triangles; in 3D counter-clockwise seen from outside, in 2D counter-clockwise.
pub type TriangleMesh<const D: usize> = Mesh<D, 3>;
/// Tetrahedra with positive signed volume: `det(x1 - x0, x2 - x0, x3 - x0) > 0`.
pub type TetrahedronMesh = Mesh<3, 4>;
/// Hexahedra, nodes in the order `4 i + 2 j + k` of the corners (i, j, k) of the unit cube (spec/deformable-solids.md 3.13).
pub type HexahedronMesh = Mesh<3, 8>;

/// What bounds a body in dimension `D`: closed curves of segments in 2D, closed surfaces of triangles in 3D. A segment of a surface has its
/// outside to the right, so a counter-clockwise curve bounds what it encloses.
pub type SurfaceMesh<const D: usize> = Mesh<D, D>;

impl<const D: usize, const N: usize> Mesh<D, N> {
    /// Corner positions of one element (m).
    #[inline]
    pub fn corners(&self, element: usize) -> [Vector<D>; N] {
        self.elements[element].map(|i| self.points[i as usize])
    }

    /// Box around one element.
    #[inline]
    pub fn element_bounds(&self, element: usize) -> Aabb<D> {
        Aabb::of_points(&self.corners(element))
    }

    /// Box around all points; empty for a mesh without points.
    pub fn bounds(&self) -> Aabb<D> {
        Aabb::of_points(&self.points)
    }
}

/// Serialises fixed-size index arrays of any length, which serde's derive does not do for `[T; N]`.
mod elements_as_lists {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<const N: usize, S: Serializer>(
        elements: &[[u32; N]],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        elements.as_flattened().serialize(serializer)
    }

    pub fn deserialize<'de, const N: usize, T: Deserializer<'de>>(
        deserializer: T,
    ) -> Result<Vec<[u32; N]>, T::Error> {
        let flat = Vec::<u32>::deserialize(deserializer)?;
        let (elements, rest) = flat.as_chunks::<N>();
        if !rest.is_empty() {
            return Err(T::Error::custom("the number of indices is not a multiple of the element size"));
        }
        Ok(elements.to_vec())
    }
}
