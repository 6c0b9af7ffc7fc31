//! A closed surface that deforms, as an obstacle: the second layer of a layered simulation, cloth over a body (spec 3.15, DS-39, DS-52).

use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::bvh::Bvh;
use splashdown_geometry::mesh::{MeshError, SurfaceMesh};
use splashdown_geometry::simplex::closest_point;
use splashdown_math::Vector;
use std::sync::Arc;

/// A closed surface (segments in 2D, triangles in 3D) with a velocity at every node.
#[derive(Debug, Clone)]
pub struct SurfaceObstacle<const D: usize> {
    data: Arc<Data<D>>,
}

#[derive(Debug)]
struct Data<const D: usize> {
    mesh: SurfaceMesh<D>,
    velocity: Vec<Vector<D>>,
    tree: Bvh<D>,
    /// Unit normals of the elements.
    normal: Vec<Vector<D>>,
    /// Angle-weighted normals of the nodes.
    node_normal: Vec<Vector<D>>,
}

impl<const D: usize> SurfaceObstacle<D> {
    /// From a closed surface at the end of the step and the velocities (m/s) of its points.
    ///
    /// # Errors
    /// Bad indices or coordinates, or another number of velocities than points.
    pub fn new(mesh: SurfaceMesh<D>, velocity: Vec<Vector<D>>) -> Result<Self, MeshError> {
        for (element, corners) in mesh.elements.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&corner| corner as usize >= mesh.points.len()) {
                return Err(MeshError::IndexOutOfRange { element, index, points: mesh.points.len() });
            }
        }
        if mesh.elements.is_empty() || velocity.len() != mesh.points.len() {
            return Err(MeshError::Empty { points: mesh.points.len(), elements: mesh.elements.len() });
        }
        Ok(Self::of_valid(mesh, velocity))
    }

    /// The same `dt` seconds earlier.
    pub(super) fn before(&self, dt: f64) -> Self {
        let Data { mesh, velocity, .. } = &*self.data;
        let points = mesh.points.iter().zip(velocity).map(|(x, v)| x - v * dt).collect();
        Self::of_valid(SurfaceMesh { points, elements: mesh.elements.clone() }, velocity.clone())
    }

    fn of_valid(mesh: SurfaceMesh<D>, velocity: Vec<Vector<D>>) -> Self {
        let tree = Bvh::from_fn(mesh.elements.len(), |element| mesh.element_bounds(element as usize));
        let normal: Vec<Vector<D>> =
            (0..mesh.elements.len()).map(|element| element_normal(&mesh.corners(element))).collect();
        let mut node_normal = vec![Vector::zeros(); mesh.points.len()];
        for (element, corners) in mesh.elements.iter().enumerate() {
            for (local, &corner) in corners.iter().enumerate() {
                let weight = if D == 2 {
                    1.0
                } else {
                    let x = mesh.corners(element);
                    let (a, b) = (x[(local + 1) % D] - x[local], x[(local + 2) % D] - x[local]);
                    (a.dot(&b) / (a.norm() * b.norm()).max(f64::MIN_POSITIVE)).clamp(-1.0, 1.0).acos()
                };
                node_normal[corner as usize] += normal[element] * weight;
            }
        }
        for normal in &mut node_normal {
            let length = normal.norm();
            if length > 0.0 {
                *normal /= length;
            }
        }
        Self { data: Arc::new(Data { mesh, velocity, tree, normal, node_normal }) }
    }

    /// Box around the surface.
    pub fn bounds(&self) -> Aabb<D> {
        self.data.tree.bounds()
    }

    /// Signed distance, outward normal and velocity at the closest point. The sign is that of the angle-weighted normal of the closest feature, which is right for
    /// closed surfaces also where the closest point is a corner or an edge.
    pub(super) fn probe(&self, x: &Vector<D>) -> (f64, Vector<D>, Vector<D>) {
        let Data { mesh, velocity, tree, normal, node_normal } = &*self.data;
        let mut best = (f64::INFINITY, 0, [0.0; 3], Vector::<D>::zeros());
        tree.nearest(x, f64::INFINITY, |element, limit| {
            let corners = mesh.corners(element as usize);
            let (weights, point, squared) = closest_of(x, &corners);
            if squared < best.0 {
                best = (squared, element as usize, weights, point);
            }
            limit.min(best.0)
        });
        let (squared, element, weights, point) = best;
        let corners = &mesh.elements[element];
        let (mut moving, mut pseudo) = (Vector::<D>::zeros(), Vector::<D>::zeros());
        for (&corner, weight) in corners.iter().zip(weights) {
            moving += velocity[corner as usize] * weight;
            pseudo += node_normal[corner as usize] * weight;
        }
        let inside_face = weights.iter().take(D).all(|&weight| weight > 0.0);
        let outward = if inside_face { normal[element] } else { pseudo };
        let distance = squared.sqrt();
        let gap = x - point;
        let sign = if gap.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
        let size = outward.norm();
        let direction = if distance > 1e-12 {
            gap * (sign / distance)
        } else if size > 0.0 {
            outward / size
        } else {
            Vector::zeros()
        };
        (sign * distance, direction, moving)
    }
}

fn closest_of<const D: usize>(x: &Vector<D>, corners: &[Vector<D>; D]) -> ([f64; 3], Vector<D>, f64) {
    let mut weights = [0.0; 3];
    if D == 2 {
        let closest = closest_point::<D, 2>(x, &[corners[0], corners[1]]);
        weights[..2].copy_from_slice(&closest.weights);
        (weights, closest.point, closest.distance_squared)
    } else {
        let closest = closest_point::<D, 3>(x, &[corners[0], corners[1], corners[D - 1]]);
        (closest.weights, closest.point, closest.distance_squared)
    }
}

fn element_normal<const D: usize>(corners: &[Vector<D>; D]) -> Vector<D> {
    let u = corners[1] - corners[0];
    let normal = if D == 2 {
        // The outside of a segment is to its right.
        Vector::<D>::from_fn(|axis, _| if axis == 0 { u[1] } else { -u[0] })
    } else {
        let v = corners[D - 1] - corners[0];
        Vector::<D>::from_fn(|i, _| {
            let (j, k) = ((i + 1) % D, (i + 2) % D);
            u[j] * v[k] - u[k] * v[j]
        })
    };
    let length = normal.norm();
    if length > 0.0 { normal / length } else { normal }
}
