//! Closed surfaces for tests.

use crate::mesh::SurfaceMesh;
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
