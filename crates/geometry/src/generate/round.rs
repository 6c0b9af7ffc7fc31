//! Discs, balls and cones: subdivided polyhedra whose layers are pushed out to circles and spheres.

use crate::mesh::{Mesh, TetrahedronMesh, TriangleMesh};
use splashdown_math::Vector;

use super::{GenerateError, at_least, finite, positive, subdivide};

/// Corners of the regular icosahedron of circumradius 1 and its 20 triangles, counter-clockwise seen from outside.
fn icosahedron() -> TriangleMesh<3> {
    // Two poles and two rings of five at latitude +-atan(1/2).
    let (height, radius) = (1.0 / 5f64.sqrt(), 2.0 / 5f64.sqrt());
    let mut points = vec![Vector::<3>::new(0.0, 0.0, 1.0)];
    for i in 0..10 {
        let angle = std::f64::consts::PI * f64::from(i) / 5.0;
        let z = if i % 2 == 0 { height } else { -height };
        points.push(Vector::<3>::new(radius * angle.cos(), radius * angle.sin(), z));
    }
    points.push(Vector::<3>::new(0.0, 0.0, -1.0));
    let mut elements = Vec::with_capacity(20);
    let ring = |i: u32| 1 + i % 10;
    for i in 0..5 {
        let k = 2 * i;
        elements.push([0, ring(k), ring(k + 2)]);
        elements.push([ring(k), ring(k + 1), ring(k + 2)]);
        elements.push([ring(k + 1), ring(k + 3), ring(k + 2)]);
        elements.push([ring(k + 1), 11, ring(k + 3)]);
    }
    Mesh { points, elements }
}

/// Sphere surface: the icosahedron with every edge cut into `pieces` and the points pushed to the sphere; `20 pieces^2` triangles.
pub fn icosphere(centre: Vector<3>, radius: f64, pieces: usize) -> Result<TriangleMesh<3>, GenerateError> {
    positive("radius", radius)?;
    finite("centre", &centre)?;
    let mut mesh = subdivide::<3, 3, 2>(&icosahedron(), pieces)?.mesh;
    for point in &mut mesh.points {
        *point = centre + point.normalize() * radius;
    }
    Ok(mesh)
}

/// A bag: the sphere of triangles about `centre` from its lowest point (least `y`) up to a round mouth of radius `mouth` in its upper half; closed for `mouth` 0. Rings of points
/// at equal distances, `rings` of them from the lowest point to the rim; all edges are about as long.
pub fn bag_triangles(
    centre: Vector<3>,
    radius: f64,
    mouth: f64,
    rings: usize,
) -> Result<TriangleMesh<3>, GenerateError> {
    use std::f64::consts::{PI, TAU};
    positive("radius", radius)?;
    finite("centre", &centre)?;
    at_least("rings", rings, 2)?;
    if !(0.0..radius).contains(&mouth) {
        let problem = "the mouth must be smaller than the bag, and not negative";
        return Err(GenerateError::Inconsistent { what: "mouth", problem });
    }
    let closed = mouth == 0.0;
    let last = PI - (mouth / radius).asin();
    let step = last / rings as f64;
    let (mut points, mut elements) = (vec![centre - Vector::<3>::new(0.0, radius, 0.0)], Vec::new());
    // First point and number of points of the ring before.
    let (mut first, mut count) = (0usize, 1usize);
    for ring in 1..=rings {
        let angle = step * ring as f64;
        let pole = closed && ring == rings;
        let number = if pole { 1 } else { ((TAU * angle.sin() / step).round() as usize).max(5) };
        let next = points.len();
        points.extend((0..number).map(|k| {
            // Rings are turned against each other, so that triangles are nearly equilateral.
            let turn = TAU * (k as f64 + 0.5 * (ring % 2) as f64) / number as f64;
            let across = radius * angle.sin();
            let at = if pole { 0.0 } else { across };
            centre + Vector::<3>::new(at * turn.cos(), -radius * angle.cos(), at * turn.sin())
        }));
        stitch(&points, [first, next], [count, number], &mut elements);
        (first, count) = (next, number);
    }
    Ok(Mesh { points, elements })
}

/// Triangles between two rings of points, each starting at `first` with `count` points in the same sense; the shorter of the two ways on is taken.
fn stitch(points: &[Vector<3>], first: [usize; 2], count: [usize; 2], elements: &mut Vec<[u32; 3]>) {
    let at = |ring: usize, k: usize| first[ring] + k % count[ring];
    let way = |a: usize, b: usize| (points[a] - points[b]).norm();
    let steps = [0, 1].map(|ring| if count[ring] == 1 { 0 } else { count[ring] });
    let (mut i, mut j) = (0, 0);
    while i < steps[0] || j < steps[1] {
        let lower =
            j == steps[1] || i < steps[0] && way(at(0, i + 1), at(1, j)) < way(at(0, i), at(1, j + 1));
        let (a, b) = (at(0, i), at(1, j));
        if lower {
            elements.push([a as u32, b as u32, at(0, i + 1) as u32]);
            i += 1;
        } else {
            elements.push([a as u32, b as u32, at(1, j + 1) as u32]);
            j += 1;
        }
    }
}

/// Solid ball of `rings` concentric layers around a point in the middle: the icosahedron joined to its centre, subdivided, each layer
/// pushed to its sphere; `20 rings^3` tetrahedra with edges of about `radius / rings`.
///
/// Measured for 1 to 16 rings: dihedral angles between 37.6 and 129.8 degrees, radius ratio at least 0.53.
pub fn ball_tetrahedra(
    centre: Vector<3>,
    radius: f64,
    rings: usize,
) -> Result<TetrahedronMesh, GenerateError> {
    at_least("rings", rings, 1)?;
    let surface = icosahedron();
    let mut points = vec![Vector::<3>::zeros()];
    points.extend(surface.points);
    let elements = surface.elements.iter().map(|t| [0, t[0] + 1, t[1] + 1, t[2] + 1]).collect();
    push_layers_to_spheres::<3, 4, 3>(&Mesh { points, elements }, centre, radius, rings)
}

/// Disc of `rings` concentric rings around a point in the middle: the hexagon, subdivided, each layer pushed to its circle; `6 rings^2`
/// triangles with edges of about `radius / rings`.
pub fn disc_triangles(
    centre: Vector<2>,
    radius: f64,
    rings: usize,
) -> Result<TriangleMesh<2>, GenerateError> {
    at_least("rings", rings, 1)?;
    push_layers_to_spheres::<2, 3, 2>(&hexagon(), centre, radius, rings)
}

fn hexagon() -> TriangleMesh<2> {
    let mut points = vec![Vector::<2>::zeros()];
    points.extend((0..6).map(|i| {
        let angle = std::f64::consts::PI * f64::from(i) / 3.0;
        Vector::<2>::new(angle.cos(), angle.sin())
    }));
    Mesh { points, elements: (0..6).map(|i| [0, 1 + i, 1 + (i + 1) % 6]).collect() }
}

/// `cone` joins point 0, the origin, to a polytope inscribed in the unit sphere.
fn push_layers_to_spheres<const D: usize, const N: usize, const K: usize>(
    cone: &Mesh<D, N>,
    centre: Vector<D>,
    radius: f64,
    rings: usize,
) -> Result<Mesh<D, N>, GenerateError> {
    positive("radius", radius)?;
    finite("centre", &centre)?;
    let mut fine = subdivide::<D, N, K>(cone, rings)?;
    for (point, origin) in fine.mesh.points.iter_mut().zip(&fine.origins) {
        let outward: u32 = origin.iter().filter(|(corner, _)| *corner != 0).map(|(_, weight)| weight).sum();
        let layer = f64::from(outward) / rings as f64;
        *point = if outward == 0 { centre } else { centre + point.normalize() * (radius * layer) };
    }
    Ok(fine.mesh)
}

/// Solid cone with its base disc of the given `radius` around `base` in the plane of constant z and its tip at `base + (0, 0, height)`;
/// `6 rings^3` tetrahedra.
pub fn cone_tetrahedra(
    base: Vector<3>,
    radius: f64,
    height: f64,
    rings: usize,
) -> Result<TetrahedronMesh, GenerateError> {
    positive("radius", radius)?;
    positive("height", height)?;
    finite("base", &base)?;
    at_least("rings", rings, 1)?;
    let hexagon = hexagon();
    let tip = hexagon.points.len() as u32;
    let mut points: Vec<_> = hexagon.points.iter().map(|p| Vector::<3>::new(p.x, p.y, 0.0)).collect();
    points.push(Vector::<3>::new(0.0, 0.0, 1.0));
    let elements = hexagon.elements.iter().map(|t| [t[0], t[1], t[2], tip]).collect();
    let mut fine = subdivide::<3, 4, 3>(&Mesh { points, elements }, rings)?;
    for (point, origin) in fine.mesh.points.iter_mut().zip(&fine.origins) {
        let outward: u32 =
            origin.iter().filter(|(corner, _)| (1..tip).contains(corner)).map(|(_, weight)| weight).sum();
        let flat = Vector::<2>::new(point.x, point.y);
        let flat = if outward == 0 {
            Vector::<2>::zeros()
        } else {
            flat.normalize() * (radius * f64::from(outward) / rings as f64)
        };
        *point = base + Vector::<3>::new(flat.x, flat.y, point.z * height);
    }
    Ok(fine.mesh)
}
