//! A mesh with the tree that makes its queries fast, and the closest point.

use crate::bounds::Aabb;
use crate::bvh::Bvh;
use crate::mesh::{Mesh, MeshError};
use crate::simplex;
use splashdown_math::Vector;

/// A simplex mesh (segments, triangles or tetrahedra) together with a tree over its elements.
///
/// Building is O(n log n), a query O(log n). For a mesh that deforms keep the [`Bvh`], [`Bvh::refit`] it and use [`MeshTree::with_tree`].
#[derive(Debug, Clone)]
pub struct MeshTree<'m, const D: usize, const N: usize> {
    mesh: &'m Mesh<D, N>,
    bvh: Bvh<D>,
}

/// A point on an element of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint<const D: usize, const N: usize> {
    /// The element.
    pub element: usize,
    /// Where it is (m).
    pub point: Vector<D>,
    /// Barycentric weights of the element's corners: non-negative, sum 1, exactly zero for corners that do not carry the point.
    pub weights: [f64; N],
    /// Distance to the query point (m).
    pub distance: f64,
}

impl<'m, const D: usize, const N: usize> MeshTree<'m, D, N> {
    /// Builds the tree. Refuses indices that name no point and coordinates that are not finite.
    pub fn new(mesh: &'m Mesh<D, N>) -> Result<Self, MeshError> {
        mesh.check_indices()?;
        mesh.check_finite()?;
        Ok(Self { mesh, bvh: Bvh::from_fn(mesh.elements.len(), |i| mesh.element_bounds(i as usize)) })
    }

    /// Uses a tree that is already there, whose item `i` bounds element `i`.
    pub fn with_tree(mesh: &'m Mesh<D, N>, bvh: Bvh<D>) -> Result<Self, MeshError> {
        mesh.check_indices()?;
        if bvh.len() != mesh.elements.len() {
            return Err(MeshError::WrongTree { items: bvh.len(), elements: mesh.elements.len() });
        }
        Ok(Self { mesh, bvh })
    }

    /// The mesh.
    pub fn mesh(&self) -> &'m Mesh<D, N> {
        self.mesh
    }

    /// The tree; item `i` is element `i`.
    pub fn bvh(&self) -> &Bvh<D> {
        &self.bvh
    }

    /// Gives the tree back, to refit it for new positions.
    pub fn into_bvh(self) -> Bvh<D> {
        self.bvh
    }

    /// Box around all elements.
    pub fn bounds(&self) -> Aabb<D> {
        self.bvh.bounds()
    }

    /// The point of the mesh closest to `query`; `None` for a mesh without elements.
    pub fn closest_point(&self, query: &Vector<D>) -> Option<SurfacePoint<D, N>> {
        self.closest_point_within(query, f64::INFINITY)
    }

    /// The point of the mesh closest to `query` that is at most `reach` (m) away. Of equally near elements the first one is taken.
    pub fn closest_point_within(&self, query: &Vector<D>, reach: f64) -> Option<SurfacePoint<D, N>> {
        let mut best: Option<(usize, simplex::ClosestPoint<D, N>)> = None;
        self.bvh.nearest(query, reach * reach, |item, limit| {
            let found = simplex::closest_point(query, &self.mesh.corners(item as usize));
            let better = match &best {
                None => found.distance_squared <= limit,
                Some((element, old)) => {
                    (found.distance_squared, item as usize) < (old.distance_squared, *element)
                }
            };
            if better {
                best = Some((item as usize, found));
                found.distance_squared
            } else {
                limit
            }
        });
        best.map(|(element, found)| SurfacePoint {
            element,
            point: found.point,
            weights: found.weights,
            distance: found.distance_squared.sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn matches_brute_force<const D: usize, const N: usize>(seed: u64) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut random = |scale: f64| Vector::<D>::from_fn(|_, _| rng.random_range(-scale..scale));
        let points: Vec<_> = (0..400)
            .flat_map(|_| {
                let center = random(1.0);
                (0..N).map(|_| center + random(0.1)).collect::<Vec<_>>()
            })
            .collect();
        let elements = (0..400u32).map(|e| std::array::from_fn(|k| e * N as u32 + k as u32)).collect();
        let mesh = Mesh::<D, N> { points, elements };
        let tree = MeshTree::new(&mesh).unwrap();
        for _ in 0..1000 {
            let query = random(1.5);
            let found = tree.closest_point(&query).unwrap();
            let expected = (0..mesh.elements.len())
                .map(|e| (simplex::closest_point(&query, &mesh.corners(e)).distance_squared.sqrt(), e))
                .min_by(|a, b| a.partial_cmp(b).unwrap())
                .unwrap();
            assert_eq!((found.distance, found.element), expected);
            assert!(((found.point - query).norm() - found.distance).abs() < 1e-14);
            assert!(
                found.distance == 0.0 || tree.closest_point_within(&query, 0.99 * found.distance).is_none()
            );
        }
    }

    #[test]
    fn closest_points_match_brute_force_for_all_simplices() {
        matches_brute_force::<2, 2>(1);
        matches_brute_force::<2, 3>(2);
        matches_brute_force::<3, 2>(3);
        matches_brute_force::<3, 3>(4);
        matches_brute_force::<3, 4>(5);
    }

    #[test]
    fn bad_meshes_are_refused() {
        let mut mesh = Mesh::<2, 2> { points: vec![Vector::zeros(); 2], elements: vec![[0, 2]] };
        assert!(matches!(MeshTree::new(&mesh), Err(MeshError::IndexOutOfRange { element: 0, index: 2, .. })));
        mesh.elements = vec![[0, 1]];
        mesh.points[1].y = f64::NAN;
        assert!(matches!(MeshTree::new(&mesh), Err(MeshError::NotFinite { point: 1, .. })));
        mesh.elements.clear();
        mesh.points.clear();
        assert_eq!(MeshTree::new(&mesh).unwrap().closest_point(&Vector::zeros()), None);
    }
}
