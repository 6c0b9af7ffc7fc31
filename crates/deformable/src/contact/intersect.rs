//! Do faces pass through each other? A test by signed volumes that shares nothing with the detection along paths, for checks.

use super::ContactSurface;
use crate::force::read;
use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::bvh::Bvh;
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// Number of edges that pass through a face (3D) or cross another segment (2D) of which they share no node.
pub fn intersections<const D: usize>(surface: &ContactSurface<D>, position: &[f64]) -> usize {
    let crossing = crossings(surface, position).len();
    // In the plane every crossing is seen from both segments.
    if D == 2 { crossing / 2 } else { crossing }
}

/// Every edge that passes through a face (3D) or crosses another segment (2D), in a fixed order; crossings in the plane are there twice. Layers that pass each other count, too.
pub fn crossings<const D: usize>(surface: &ContactSurface<D>, position: &[f64]) -> Vec<([u32; 2], [u32; D])> {
    let edges = surface.all_edges();
    let bounds = |nodes: &[u32]| {
        let points: Vec<Vector<D>> = nodes.iter().map(|&node| read::<D>(position, node)).collect();
        Aabb::of_points(&points)
    };
    let face_tree = Bvh::from_fn(surface.faces.len(), |face| bounds(&surface.faces[face as usize]));
    let edge_tree = Bvh::from_fn(edges.len(), |edge| bounds(&edges[edge as usize]));
    let mut pairs = edge_tree.pairs_with(&face_tree, |edge, face| {
        let [a, b] = edges[edge as usize];
        let face = &surface.faces[face as usize];
        !face.contains(&a) && !face.contains(&b)
    });
    pairs.sort_unstable();
    (pairs.par_iter())
        .map(|&[edge, face]| (edges[edge as usize], surface.faces[face as usize]))
        .filter(|(edge, face)| {
            let [a, b] = edge.map(|node| read::<D>(position, node));
            let corners = face.map(|node| read::<D>(position, node));
            if D == 2 { segments_cross(&a, &b, &corners) } else { segment_crosses_triangle(&a, &b, &corners) }
        })
        .collect()
}

impl<const D: usize> ContactSurface<D> {
    /// An edge and a face that pass through each other although they are to touch, if there are any: an end of the edge and a corner of the face, and how many there are.
    pub fn first_crossing(&self, position: &[f64]) -> Option<([u32; 2], usize)> {
        let touching =
            crossings(self, position).into_iter().filter(|(edge, face)| self.may_touch(edge[0], face[0]));
        let ends: Vec<[u32; 2]> = touching.map(|(edge, face)| [edge[0], face[0]]).collect();
        Some((*ends.first()?, if D == 2 { ends.len() / 2 } else { ends.len() }))
    }
}

fn area<const D: usize>(a: &Vector<D>, b: &Vector<D>, c: &Vector<D>) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn segments_cross<const D: usize>(a: &Vector<D>, b: &Vector<D>, other: &[Vector<D>; D]) -> bool {
    let (c, d) = (&other[0], &other[D - 1]);
    area(a, b, c) * area(a, b, d) < 0.0 && area(c, d, a) * area(c, d, b) < 0.0
}

/// Six times the volume of a tetrahedron; zero where its sign would be that of rounding errors, as for points that all rest on one plane.
fn volume<const D: usize>(a: &Vector<D>, b: &Vector<D>, c: &Vector<D>, d: &Vector<D>) -> f64 {
    let (u, v, w) = (b - a, c - a, d - a);
    let (mut sum, mut size) = (0.0, 0.0);
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        sum += u[i] * (v[j] * w[k] - v[k] * w[j]);
        size += u[i].abs() * ((v[j] * w[k]).abs() + (v[k] * w[j]).abs());
    }
    // The differences of coordinates are rounded, too.
    let far = a.amax().max(b.amax()).max(c.amax()).max(d.amax());
    let near = u.amax().max(v.amax()).max(w.amax());
    let rounding = 8.0 * f64::EPSILON * (size + far * near * near);
    if sum.abs() <= rounding { 0.0 } else { sum }
}

fn segment_crosses_triangle<const D: usize>(a: &Vector<D>, b: &Vector<D>, corners: &[Vector<D>; D]) -> bool {
    let (p, q, r) = (&corners[0], &corners[1], &corners[D - 1]);
    if volume(p, q, r, a) * volume(p, q, r, b) >= 0.0 {
        return false;
    }
    let sides = [volume(a, b, p, q), volume(a, b, q, r), volume(a, b, r, p)];
    sides.iter().all(|&side| side > 0.0) || sides.iter().all(|&side| side < 0.0)
}
