//! The surface of a solid mesh, the border of a triangle mesh.

use super::{HexahedronMesh, Mesh, MeshError, TetrahedronMesh, TriangleMesh};
use splashdown_math::Vector;

/// A boundary mesh with its own, compact points.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary<const D: usize, const N: usize> {
    /// The boundary, turned outwards.
    pub mesh: Mesh<D, N>,
    /// Point of the original mesh for each point of the boundary, ascending.
    pub points: Vec<u32>,
    /// Element of the original mesh behind each element of the boundary.
    pub elements: Vec<u32>,
}

impl<const D: usize, const N: usize> Boundary<D, N> {
    fn new(all_points: &[Vector<D>], facets: Vec<[u32; N]>, elements: Vec<u32>) -> Self {
        let (mesh, points) = compact(all_points, facets);
        Self { mesh, points, elements }
    }
}

impl<const D: usize> TriangleMesh<D> {
    /// Edges that belong to one triangle, as segments that run around the mesh with the triangle on the left. In 2D this is the
    /// [`SurfaceMesh`](super::SurfaceMesh) of the body.
    pub fn boundary(&self) -> Result<Boundary<D, 2>, MeshError> {
        self.check_indices()?;
        let (facets, elements) = self.boundary_facets().into_iter().unzip();
        Ok(Boundary::new(&self.points, facets, elements))
    }
}

impl TetrahedronMesh {
    /// Triangles that belong to one tetrahedron, normals outwards.
    pub fn boundary(&self) -> Result<Boundary<3, 3>, MeshError> {
        self.check_indices()?;
        let (facets, elements) = self.boundary_facets().into_iter().unzip();
        Ok(Boundary::new(&self.points, facets, elements))
    }
}

impl HexahedronMesh {
    /// Quadrilaterals that belong to one hexahedron, each cut into two triangles along the diagonal from its smallest index, normals
    /// outwards.
    pub fn boundary(&self) -> Result<Boundary<3, 3>, MeshError> {
        self.check_indices()?;
        let mut facets = Vec::new();
        let mut elements = Vec::new();
        for (quad, element) in self.boundary_facets() {
            let first = (0..4).min_by_key(|&i| quad[i]).unwrap_or(0);
            let [a, b, c, d]: [u32; 4] = std::array::from_fn(|i| quad[(first + i) % 4]);
            facets.extend([[a, b, c], [a, c, d]]);
            elements.extend([element; 2]);
        }
        Ok(Boundary::new(&self.points, facets, elements))
    }
}

/// A mesh of its own from some elements over shared points; the points it uses stay in order.
fn compact<const D: usize, const N: usize>(
    points: &[Vector<D>],
    mut elements: Vec<[u32; N]>,
) -> (Mesh<D, N>, Vec<u32>) {
    let mut new_index = vec![u32::MAX; points.len()];
    for &corner in elements.as_flattened() {
        new_index[corner as usize] = 0;
    }
    let mut kept = Vec::new();
    for (old, new) in new_index.iter_mut().enumerate().filter(|(_, new)| **new == 0) {
        *new = kept.len() as u32;
        kept.push(old as u32);
    }
    for corner in elements.as_flattened_mut() {
        *corner = new_index[*corner as usize];
    }
    (Mesh { points: kept.iter().map(|&old| points[old as usize]).collect(), elements }, kept)
}

impl<const D: usize, const N: usize> Mesh<D, N> {
    /// The mesh without the points that no element uses, and the original index of each point that is left.
    pub fn without_unreferenced(&self) -> Result<(Self, Vec<u32>), MeshError> {
        self.check_indices()?;
        Ok(compact(&self.points, self.elements.clone()))
    }
}

#[cfg(test)]
mod tests {
    use crate::mesh::{Mesh, SurfaceMesh};
    use crate::query::test_shapes::{hexahedra, tetrahedra};

    fn is_the_unit_cube(surface: &SurfaceMesh<3>) {
        surface.check_closed().unwrap();
        assert!((surface.enclosed_volume().unwrap() - 1.0).abs() < 1e-13);
        assert!((surface.integrals().unwrap().measure - 6.0).abs() < 1e-13);
    }

    #[test]
    fn the_boundary_of_a_solid_cube_is_its_closed_surface() {
        let solid = tetrahedra(3);
        let boundary = solid.boundary().unwrap();
        is_the_unit_cube(&boundary.mesh);
        assert!(boundary.points.is_sorted());
        for (own, &original) in boundary.mesh.points.iter().zip(&boundary.points) {
            assert_eq!(*own, solid.points[original as usize]);
        }
        for (triangle, &behind) in boundary.mesh.elements.iter().zip(&boundary.elements) {
            let original = triangle.map(|i| boundary.points[i as usize]);
            assert!(original.iter().all(|v| solid.elements[behind as usize].contains(v)));
        }
        is_the_unit_cube(&hexahedra(4).boundary().unwrap().mesh);
    }

    #[test]
    fn the_border_of_a_square_runs_counter_clockwise() {
        let p = |x: f64, y: f64| [x, y].into();
        let square = Mesh::<2, 3> {
            points: vec![p(9.0, 9.0), p(0.0, 0.0), p(1.0, 0.0), p(1.0, 1.0), p(0.0, 1.0)],
            elements: vec![[1, 2, 3], [1, 3, 4]],
        };
        let border = square.boundary().unwrap();
        assert_eq!(border.points, [1, 2, 3, 4]);
        border.mesh.check_closed().unwrap();
        assert_eq!(border.mesh.enclosed_volume().unwrap(), 1.0);
        assert_eq!(square.without_unreferenced().unwrap().1, [1, 2, 3, 4]);
    }
}
