//! Closed surfaces of revolution: spheres, cylinders, cones, capsules and tori.

use crate::mesh::{Mesh, TriangleMesh};
use splashdown_math::Vector;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::{GenerateError, at_least, countable, finite, positive};

/// Turns `profile`, points (r, z) with r >= 0, about the z direction through `centre` in `segments` steps.
///
/// An open profile should begin and end on the axis (r = 0), where it closes in a pole; a `closed` one joins its last point to its first.
/// The surface faces outwards when the profile runs counter-clockwise in the (r, z) plane (upwards on the outside).
pub fn revolve(
    centre: Vector<3>,
    profile: &[[f64; 2]],
    closed: bool,
    segments: usize,
) -> Result<TriangleMesh<3>, GenerateError> {
    finite("centre", &centre)?;
    at_least("segments", segments, 3)?;
    at_least("points of the profile", profile.len(), if closed { 3 } else { 2 })?;
    countable(profile.len() as f64 * segments as f64)?;
    if profile.iter().flatten().any(|v| !v.is_finite()) || profile.iter().any(|p| p[0] < 0.0) {
        return Err(GenerateError::Inconsistent {
            what: "profile",
            problem: "radii must be finite and not negative, heights finite",
        });
    }
    let mut points = Vec::new();
    // First index and number of points of each profile point's circle; a pole is one point.
    let mut circles = Vec::with_capacity(profile.len());
    for &[r, z] in profile {
        let count = if r == 0.0 { 1 } else { segments };
        circles.push((points.len() as u32, count as u32));
        points.extend((0..count).map(|s| {
            let angle = TAU * s as f64 / segments as f64;
            centre + Vector::<3>::new(r * angle.cos(), r * angle.sin(), z)
        }));
    }
    let mut elements = Vec::new();
    let bands = if closed { profile.len() } else { profile.len() - 1 };
    for band in 0..bands {
        let at = |(first, count): (u32, u32), s: u32| first + s % count;
        let (low, high) = (circles[band], circles[(band + 1) % profile.len()]);
        for s in 0..segments as u32 {
            let quad = [at(low, s), at(low, s + 1), at(high, s + 1), at(high, s)];
            for t in [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]] {
                if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
                    elements.push(t);
                }
            }
        }
    }
    Ok(Mesh { points, elements })
}

/// Sphere with `parallels` bands from pole to pole and `meridians` segments around.
pub fn uv_sphere(
    centre: Vector<3>,
    radius: f64,
    parallels: usize,
    meridians: usize,
) -> Result<TriangleMesh<3>, GenerateError> {
    positive("radius", radius)?;
    at_least("parallels", parallels, 2)?;
    countable(parallels as f64 * meridians as f64)?;
    let profile: Vec<_> = (0..=parallels)
        .map(|i| match i {
            0 => [0.0, -radius],
            i if i == parallels => [0.0, radius],
            i => {
                let latitude = PI * i as f64 / parallels as f64 - FRAC_PI_2;
                [radius * latitude.cos(), radius * latitude.sin()]
            }
        })
        .collect();
    revolve(centre, &profile, false, meridians)
}

/// Closed cylinder about the z direction, `centre` half way up, with `rings` on each cap, `layers` along the side and `segments` around.
pub fn cylinder_surface(
    centre: Vector<3>,
    radius: f64,
    height: f64,
    rings: usize,
    layers: usize,
    segments: usize,
) -> Result<TriangleMesh<3>, GenerateError> {
    positive("radius", radius)?;
    positive("height", height)?;
    at_least("rings", rings, 1)?;
    at_least("layers", layers, 1)?;
    countable((2.0 * rings as f64 + layers as f64) * segments as f64)?;
    let h = 0.5 * height;
    let mut profile: Vec<_> = (0..rings).map(|i| [radius * i as f64 / rings as f64, -h]).collect();
    profile.extend((0..=layers).map(|i| [radius, -h + height * i as f64 / layers as f64]));
    profile.extend((0..rings).rev().map(|i| [radius * i as f64 / rings as f64, h]));
    revolve(centre, &profile, false, segments)
}

/// Closed cone with its base disc around `base` and its tip `height` above it along z.
pub fn cone_surface(
    base: Vector<3>,
    radius: f64,
    height: f64,
    rings: usize,
    layers: usize,
    segments: usize,
) -> Result<TriangleMesh<3>, GenerateError> {
    positive("radius", radius)?;
    positive("height", height)?;
    at_least("rings", rings, 1)?;
    at_least("layers", layers, 1)?;
    countable((rings as f64 + layers as f64) * segments as f64)?;
    let mut profile: Vec<_> = (0..rings).map(|i| [radius * i as f64 / rings as f64, 0.0]).collect();
    profile.extend((0..=layers).map(|i| {
        let t = i as f64 / layers as f64;
        [radius * (1.0 - t), height * t]
    }));
    revolve(base, &profile, false, segments)
}

/// Capsule about the z direction: a cylinder of the given `height` between two half balls, `centre` half way up; `cap` bands on each half ball,
/// `layers` along the side, `segments` around.
pub fn capsule_surface(
    centre: Vector<3>,
    radius: f64,
    height: f64,
    cap: usize,
    layers: usize,
    segments: usize,
) -> Result<TriangleMesh<3>, GenerateError> {
    positive("radius", radius)?;
    positive("height", height)?;
    at_least("bands of a cap", cap, 1)?;
    at_least("layers", layers, 1)?;
    countable((2.0 * cap as f64 + layers as f64) * segments as f64)?;
    let h = 0.5 * height;
    let arc = |i: usize| {
        let angle = FRAC_PI_2 * i as f64 / cap as f64;
        [if i == 0 { 0.0 } else { radius * angle.sin() }, radius * angle.cos()]
    };
    let mut profile: Vec<_> = (0..cap).map(|i| [arc(i)[0], -h - arc(i)[1]]).collect();
    profile.extend((0..=layers).map(|i| [radius, -h + height * i as f64 / layers as f64]));
    profile.extend((0..cap).rev().map(|i| [arc(i)[0], h + arc(i)[1]]));
    revolve(centre, &profile, false, segments)
}

/// Torus about the z direction: `segments` around the `major` circle, `sides` around the tube of radius `minor`.
pub fn torus_surface(
    centre: Vector<3>,
    major: f64,
    minor: f64,
    segments: usize,
    sides: usize,
) -> Result<TriangleMesh<3>, GenerateError> {
    positive("major radius", major)?;
    positive("minor radius", minor)?;
    at_least("sides", sides, 3)?;
    countable(sides as f64 * segments as f64)?;
    if minor >= major {
        return Err(GenerateError::Inconsistent {
            what: "minor and major radius",
            problem: "the tube must be thinner than the circle it follows",
        });
    }
    let profile: Vec<_> = (0..sides)
        .map(|i| {
            let angle = TAU * i as f64 / sides as f64;
            [major + minor * angle.cos(), minor * angle.sin()]
        })
        .collect();
    revolve(centre, &profile, true, segments)
}
