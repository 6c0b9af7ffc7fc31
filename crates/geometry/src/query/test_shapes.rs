//! Closed surfaces for tests.

use crate::mesh::{HexahedronMesh, SurfaceMesh, TetrahedronMesh};
use splashdown_math::Vector;
use std::f64::consts::PI;

/// A counter-clockwise polygon on a circle.
pub fn circle(segments: u32, radius: f64) -> SurfaceMesh<2> {
    let points = (0..segments)
        .map(|i| {
            let angle = 2.0 * PI * f64::from(i) / f64::from(segments);
            Vector::from([radius * angle.cos(), radius * angle.sin()])
        })
        .collect();
    SurfaceMesh { points, elements: (0..segments).map(|i| [i, (i + 1) % segments]).collect() }
}

/// A sphere of `rings` circles of latitude with `2 rings` points each and two poles.
pub fn sphere(rings: u32, radius: f64) -> SurfaceMesh<3> {
    let around = 2 * rings;
    let mut points = vec![Vector::from([0.0, 0.0, radius])];
    for ring in 0..rings {
        let polar = PI * f64::from(ring + 1) / f64::from(rings + 1);
        for i in 0..around {
            let angle = 2.0 * PI * f64::from(i) / f64::from(around);
            points.push(
                Vector::from([polar.sin() * angle.cos(), polar.sin() * angle.sin(), polar.cos()]) * radius,
            );
        }
    }
    points.push(Vector::from([0.0, 0.0, -radius]));
    let at = |ring: u32, i: u32| 1 + ring * around + i % around;
    let last = points.len() as u32 - 1;
    let mut elements = Vec::new();
    for i in 0..around {
        elements.push([0, at(0, i), at(0, i + 1)]);
        for ring in 0..rings - 1 {
            elements.push([at(ring, i), at(ring + 1, i), at(ring + 1, i + 1)]);
            elements.push([at(ring, i), at(ring + 1, i + 1), at(ring, i + 1)]);
        }
        elements.push([at(rings - 1, i), last, at(rings - 1, i + 1)]);
    }
    SurfaceMesh { points, elements }
}

/// The unit cube of `n^3` hexahedra.
pub fn hexahedra(n: u32) -> HexahedronMesh {
    let side = n + 1;
    let at = |i: u32, j: u32, k: u32| (i * side + j) * side + k;
    let mut mesh = HexahedronMesh { points: vec![], elements: vec![] };
    for (i, j, k) in cells(side) {
        mesh.points.push(Vector::from([f64::from(i), f64::from(j), f64::from(k)]) / f64::from(n));
    }
    for (i, j, k) in cells(n) {
        mesh.elements.push(std::array::from_fn(|c| {
            let c = c as u32;
            at(i + (c >> 2), j + (c >> 1 & 1), k + (c & 1))
        }));
    }
    mesh
}

/// The unit cube of `6 n^3` tetrahedra, each cell cut along its main diagonal (Kuhn).
pub fn tetrahedra(n: u32) -> TetrahedronMesh {
    let cubes = hexahedra(n);
    let mut elements = Vec::new();
    for cube in &cubes.elements {
        // The six orders in which the path from corner 0 to corner 7 may take the three axes; odd ones are turned.
        for (first, second, odd) in
            [(4, 2, false), (2, 1, false), (1, 4, false), (2, 4, true), (1, 2, true), (4, 1, true)]
        {
            let mut tetrahedron = [cube[0], cube[first], cube[first + second], cube[7]];
            if odd {
                tetrahedron.swap(1, 2);
            }
            elements.push(tetrahedron);
        }
    }
    TetrahedronMesh { points: cubes.points, elements }
}

fn cells(n: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..n * n * n).map(move |c| (c / (n * n), c / n % n, c % n))
}
