//! The signed distance of a mesh from its elements, which its level set has only at the samples.

use super::hull::normal_of;
use splashdown_geometry::Bvh;
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_geometry::simplex;
use splashdown_math::{Dim, Space, Vector};

/// Elements of a surface as queries for the nearest point need them. The sign is that of the normal of the element, edge or corner that is nearest, weighted by
/// angles (J. A. Baerentzen, H. Aanaes, "Signed distance computation using the angle weighted pseudonormal", 2005).
#[derive(Debug)]
pub(super) struct Nearest<const D: usize> {
    tree: Bvh<D>,
    /// Unit normals of the elements, zero where an element is flat.
    normals: Vec<Vector<D>>,
    /// Of the points of the mesh, of any length.
    corners: Vec<Vector<D>>,
    /// Of the edges in space, ascending by their ends; of any length.
    edges: Vec<([u32; 2], Vector<D>)>,
}

impl<const D: usize> Nearest<D>
where
    Dim<D>: Space<D>,
{
    pub fn new(surface: &SurfaceMesh<D>) -> Self {
        let count = surface.elements.len();
        let tree = Bvh::from_fn(count, |element| surface.element_bounds(element as usize));
        let normals: Vec<Vector<D>> =
            (0..count).map(|e| normal_of(&surface.corners(e)).unwrap_or_else(Vector::zeros)).collect();
        let mut corners = vec![Vector::zeros(); surface.points.len()];
        let mut edges: Vec<([u32; 2], Vector<D>)> = Vec::new();
        for (element, normal) in surface.elements.iter().zip(&normals) {
            for k in 0..D {
                let at = |k: usize| surface.points[element[k % D] as usize];
                let (to_next, to_last) = (at(k + 1) - at(k), at(k + D - 1) - at(k));
                let weight = if D == 2 { 1.0 } else { to_next.angle(&to_last) };
                corners[element[k] as usize] += normal * weight;
                if D == 3 {
                    let ends = [element[k], element[(k + 1) % D]];
                    edges.push(([ends[0].min(ends[1]), ends[0].max(ends[1])], *normal));
                }
            }
        }
        edges.sort_by_key(|(ends, _)| *ends);
        edges.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self { tree, normals, corners, edges }
    }

    /// Signed distance (m) and unit vector away from `surface` at a point that is at most `reach` (m) away from it.
    pub fn distance_and_normal(
        &self,
        surface: &SurfaceMesh<D>,
        point: &Vector<D>,
        reach: f64,
    ) -> Option<(f64, Vector<D>)> {
        /// Nearer than this share of the mesh's extent, the way from the surface has no direction.
        const TOUCHING: f64 = 1e-9;
        let mut best: Option<(usize, simplex::ClosestPoint<D, D>)> = None;
        self.tree.nearest(point, reach * reach, |item, limit| {
            let found = simplex::closest_point(point, &surface.corners(item as usize));
            let better = match &best {
                None => found.distance_squared <= limit,
                Some((element, old)) => {
                    (found.distance_squared, item as usize) < (old.distance_squared, *element)
                }
            };
            if better {
                best = Some((item as usize, found));
            }
            if better { found.distance_squared } else { limit }
        });
        let (element, found) = best?;
        let own = self.normals[element];
        let ends = surface.elements[element];
        let carrying: Vec<u32> = (0..D).filter(|&k| found.weights[k] > 0.0).map(|k| ends[k]).collect();
        let feature = match carrying.as_slice() {
            [corner] => self.corners[*corner as usize],
            &[a, b] if D == 3 => {
                let ends = [a.min(b), a.max(b)];
                self.edges.binary_search_by_key(&ends, |(ends, _)| *ends).map_or(own, |k| self.edges[k].1)
            }
            _ => own,
        };
        let away = point - found.point;
        let distance = found.distance_squared.sqrt();
        let sign = if away.dot(&feature) >= 0.0 { 1.0 } else { -1.0 };
        let inside_of_one = carrying.len() == D;
        let normal = if inside_of_one || distance <= TOUCHING * self.tree.bounds().extent().max() {
            feature.try_normalize(1e-12)?
        } else {
            away * (sign / distance)
        };
        Some((sign * distance, normal))
    }
}
