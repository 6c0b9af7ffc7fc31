//! Iso-surfaces: area and volume of ball and torus at order 2, points on the surface at the order of the crossings, and meshes without holes
//! for any field.
//!
//! Ball of radius 0.7: area 4 pi r^2, volume 4/3 pi r^3. Torus 0.55, 0.25: area 4 pi^2 R r, volume 2 pi^2 R r^2, Euler characteristic 0. Random
//! fields with noise and with exact zeros: every directed edge must be used once, and its reverse once.

use super::convergence;
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_geometry::grid::{Field, Grid, Location};
use splashdown_geometry::iso_surface::{Crossing, Extraction, extract};
use splashdown_geometry::mesh::TriangleMesh;
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use std::collections::HashSet;
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "foundation/iso-surface",
    spec: "FB-27",
    summary: "iso-surfaces: area and volume of order 2, crossings of orders 2, 3, 4, watertight on random fields",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 5.0,
    run,
};

const SOURCE: &str = "exact: ball and torus";
const CROSSINGS: &str = "spec surface-tension 3.7 (orders 2, 3, 4)";
const WATERTIGHT: &str = "exact: closed surface";

type Failure = Box<dyn std::error::Error>;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let failed = |e: Failure| CaseError::new("iso-surface", e);
    let (r, ring, tube) = (0.7f64, 0.55, 0.25);
    let ball = Shape::<3>::ball(r).map_err(|e| failed(e.into()))?;
    let torus = Shape::<3>::torus(ring, tube).map_err(|e| failed(e.into()))?;
    measure(measurements, "ball", &ball, 4.0 * PI * r * r, 4.0 / 3.0 * PI * r.powi(3), 2.0)
        .map_err(failed)?;
    let (area, volume) = (4.0 * PI * PI * ring * tube, 2.0 * PI * PI * ring * tube * tube);
    measure(measurements, "torus", &torus, area, volume, 0.0).map_err(failed)?;
    crossings(measurements).map_err(failed)?;
    random_fields(measurements).map_err(failed)
}

fn measure(
    measurements: &mut Measurements,
    name: &str,
    shape: &Shape<3>,
    area: f64,
    volume: f64,
    euler: f64,
) -> Result<(), Failure> {
    let (mut areas, mut volumes) = (Vec::new(), Vec::new());
    for n in [24, 48, 96] {
        let h = 2.0 / n as f64;
        let grid = Grid::new(Vector::repeat(-1.0), Vector::repeat(h), [n; 3])?;
        let phi = Field::from_fn(&grid, Location::Cell, |x| shape.signed_distance(x));
        let surface = extract(&phi, &Extraction::default())?;
        let (a, v) = area_and_volume(&surface.mesh);
        areas.push([h, (a - area).abs()]);
        volumes.push([h, (v - volume).abs()]);
        let (open, characteristic) = topology(&surface.mesh);
        measurements.near(
            &format!("{name}: Euler characteristic"),
            &format!("{n}^3"),
            characteristic,
            euler,
            0.0,
            SOURCE,
        );
        measurements.at_most(
            &format!("{name}: edges without two triangles"),
            &format!("{n}^3"),
            open,
            0.0,
            WATERTIGHT,
        );
    }
    // Inscribed polyhedra: second order, cleanly.
    let quantity = |what: &str| format!("{name}: order of the {what}");
    measurements.near(&quantity("area"), "96^3", convergence::order(&areas), 2.0, 0.2, SOURCE);
    measurements.near(&quantity("volume"), "96^3", convergence::order(&volumes), 2.0, 0.2, SOURCE);
    let curves = [("area (m^2)".to_string(), areas, 2.0), ("volume (m^3)".to_string(), volumes, 2.0)];
    measurements.plot(convergence::plot(&format!("Iso-surface of a {name}"), "error", &curves));
    Ok(())
}

/// Largest distance of the points from the sphere for a field that is no distance.
fn crossings(measurements: &mut Measurements) -> Result<(), Failure> {
    let mut curves = Vec::new();
    for (name, crossing, order) in [
        ("linear", Crossing::Linear, 2.0),
        ("cubic", Crossing::Cubic, 4.0),
        ("nodal quadratic", Crossing::NodalQuadratic, 3.0),
        ("nodal cubic", Crossing::NodalCubic, 4.0),
    ] {
        let mut errors = Vec::new();
        for n in [24, 48, 96] {
            let h = 2.0 / n as f64;
            let grid = Grid::<3>::new(Vector::repeat(-1.0), Vector::repeat(h), [n; 3])?;
            let phi =
                Field::from_fn(&grid, Location::Cell, |x| (x.norm_squared() - 0.36) * (0.5 * x[0]).exp());
            let surface = extract(&phi, &Extraction { crossing, ..Default::default() })?;
            let off = surface.mesh.points.iter().map(|p| (p.norm() - 0.6).abs());
            errors.push([h, off.fold(0.0, f64::max)]);
        }
        // The quadratic's leading error vanishes for symmetric fields, so only the lower bound is asked.
        let quantity = format!("{name} crossings: order of the largest distance from the sphere");
        measurements.at_least(&quantity, "96^3", convergence::order(&errors), order - 0.3, CROSSINGS);
        curves.push((name.to_string(), errors, order));
    }
    measurements.plot(convergence::plot("Distance of the points from the sphere", "error (m)", &curves));
    Ok(())
}

fn random_fields(measurements: &mut Measurements) -> Result<(), Failure> {
    let mut random = Pcg64Mcg::seed_from_u64(41);
    let (mut open, mut triangles) = (0.0, 0);
    let mut smallest_edge = f64::INFINITY;
    let count = 200;
    for round in 0..count {
        let grid = Grid::<3>::new(Vector::zeros(), Vector::repeat(1.0), [4 + round % 13; 3])?;
        let mut phi = Field::new(&grid, Location::Cell, 0.0);
        for value in phi.values_mut() {
            *value = match round % 3 {
                0 => random.random_range(-1.0..1.0),
                1 => random.random_range(-1..=1) as f64,
                _ => 2.0 * f64::from(random.random_bool(0.5)) - 1.0,
            };
        }
        let crossing = [Crossing::Linear, Crossing::Cubic, Crossing::NodalCubic][round / 3 % 3];
        let mesh = extract(&phi, &Extraction { crossing, closed: true, ..Default::default() })?.mesh;
        open += topology(&mesh).0;
        triangles += mesh.elements.len();
        for t in &mesh.elements {
            for k in 0..3 {
                let edge = mesh.points[t[k] as usize] - mesh.points[t[(k + 1) % 3] as usize];
                smallest_edge = smallest_edge.min(edge.norm());
            }
        }
    }
    let size = format!("{count} fields, {triangles} triangles");
    measurements.at_most("random fields: edges without two triangles", &size, open, 0.0, WATERTIGHT);
    measurements.at_least(
        "random fields: shortest edge / spacing",
        &size,
        smallest_edge,
        1e-6,
        "the clearance asked for",
    );
    Ok(())
}

/// Edges that are not used exactly once in each direction, and the Euler characteristic.
fn topology(mesh: &TriangleMesh<3>) -> (f64, f64) {
    let mut used = HashSet::new();
    let mut repeated = 0;
    for t in &mesh.elements {
        for k in 0..3 {
            repeated += usize::from(!used.insert([t[k], t[(k + 1) % 3]]));
        }
    }
    let open = used.iter().filter(|[a, b]| !used.contains(&[*b, *a])).count();
    let edges = used.len() as f64 / 2.0;
    ((open + repeated) as f64, mesh.points.len() as f64 - edges + mesh.elements.len() as f64)
}

fn area_and_volume(mesh: &TriangleMesh<3>) -> (f64, f64) {
    mesh.elements.iter().fold((0.0, 0.0), |(area, volume), t| {
        let [a, b, c] = t.map(|i| mesh.points[i as usize]);
        (area + 0.5 * (b - a).cross(&(c - a)).norm(), volume + a.dot(&b.cross(&c)) / 6.0)
    })
}
