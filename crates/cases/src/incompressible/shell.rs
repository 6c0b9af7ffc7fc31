//! A thick spherical shell of incompressible material, inflated by a pressure inside: with `l_a = a`, `l_b = b/2`, `b^3 = a^3 + 7`,
//!
//! ```text
//! P / mu = 1/2 [4/l_b + l_b^-4 - 4/l_a - l_a^-4] = 0.610817 for l_a = 1.3.
//! ```
//!
//! Source: spec/incompressible-solids.md 5.2 C. Its shells of 696, 2304 and 5712 tetrahedra are those of spheres of 60, 130 and 240 points in 2, 3 and 4 layers.

use super::bodies::{failed, flat};
use super::statics::{Keeps, Vessel, unit_material};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_math::Vector;
use splashdown_rigid::Hull;

pub(super) const CASE: Case = Case {
    name: "incompressible/shell",
    spec: "C (incompressible-solids), INC-1",
    summary: "a thick spherical shell inflated by pressure: one-rings converge; Poisson's ratio 0.499 and one constraint a tetrahedron lock",
    source: "exact: thick-walled neo-Hookean sphere; spec/incompressible-solids.md 5.2 C",
    speed: Speed::Fast,
    seconds: 9.0,
    run,
};

pub(super) const FINE: Case = Case {
    name: "incompressible/shell-fine",
    summary: "the finest of the inflated shells",
    speed: Speed::Slow,
    seconds: 30.0,
    run: run_fine,
    ..CASE
};

const STRETCH: f64 = 1.3;

/// The shell from radius 1 to 2: the convex hull of points along a spiral (Fibonacci's sphere), extruded to `layers` layers of prisms of three tetrahedra; and the triangles inside.
fn shell(around: usize, layers: usize) -> Result<(TetrahedronMesh, Vec<[u32; 3]>), CaseError> {
    let turn = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let points: Vec<Vector<3>> = (0..around)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / around as f64;
            let (across, angle) = ((1.0 - z * z).sqrt(), turn * i as f64);
            Vector::<3>::new(across * angle.cos(), across * angle.sin(), z)
        })
        .collect();
    let sphere = Hull::new(&points).ok_or_else(|| failed("no hull"))?.surface();
    let count = sphere.points.len() as u32;
    let mut points = Vec::new();
    for layer in 0..=layers {
        let radius = 1.0 + layer as f64 / layers as f64;
        points.extend(sphere.points.iter().map(|x| x * radius));
    }
    let mut elements = Vec::new();
    for layer in 0..layers as u32 {
        for triangle in &sphere.elements {
            // By ascending corners, so that neighbours cut the sides they share along the same diagonal.
            let mut sorted = *triangle;
            sorted.sort_unstable();
            let [a, b, c] = sorted.map(|node| node + layer * count);
            for mut tet in
                [[a, b, c, c + count], [a, b, b + count, c + count], [a, a + count, b + count, c + count]]
            {
                let [p, q, r, s] = tet.map(|node| points[node as usize]);
                if (q - p).cross(&(r - p)).dot(&(s - p)) < 0.0 {
                    tet.swap(2, 3);
                }
                elements.push(tet);
            }
        }
    }
    Ok((TetrahedronMesh { points, elements }, sphere.elements))
}

/// Number of tetrahedra, and the relative error of the inner displacement.
fn displacement_error(
    around: usize,
    layers: usize,
    keeps: Keeps,
    pressure: f64,
) -> Result<(usize, f64), CaseError> {
    let (mesh, cavity) = shell(around, layers)?;
    let poisson = if let Keeps::Material(poisson) = keeps { poisson } else { 0.0 };
    let elements = Elements::tetrahedra(&mesh, 0, unit_material(poisson)?).map_err(failed)?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::<3>::new(mass, vec![false; mesh.points.len()], Vector::zeros());
    solid.add(elements);
    let simplices = mesh.elements.iter().flatten().copied().collect();
    let inner = mesh.points.len() / (layers + 1);
    let mut vessel = Vessel {
        solid,
        simplices,
        position: flat(&mesh.points),
        cavity,
        held: Vec::new(),
        unbalanced: Vec::new(),
    };
    vessel.inflate(pressure, 3, keeps)?;
    let radius = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mean = vessel.position.chunks_exact(3).take(inner).map(radius).sum::<f64>() / inner as f64;
    Ok((mesh.elements.len(), (mean - STRETCH) / (STRETCH - 1.0)))
}

/// Pressure over shear modulus at the wanted stretch.
fn pressure() -> f64 {
    let (inner, outer) = (STRETCH, 0.5 * (STRETCH.powi(3) + 7.0).cbrt());
    0.5 * (4.0 / outer + outer.powi(-4) - 4.0 / inner - inner.powi(-4))
}

/// One-rings on a shell, with its number of tetrahedra checked against the published one.
fn rings(
    out: &mut Measurements,
    [around, layers, tetrahedra]: [usize; 3],
    published: f64,
) -> Result<f64, CaseError> {
    let (count, error) = displacement_error(around, layers, Keeps::Rings, pressure())?;
    let size = format!("{count} tetrahedra, one-rings");
    out.near("tetrahedra", &size, count as f64, tetrahedra as f64, 0.0, CASE.source);
    // The same meshes as in the source: to the last digit that it gives.
    out.near("relative error of the inner displacement", &size, error, published, 5e-4, CASE.source);
    Ok(error.abs())
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    out.near(
        "pressure / shear modulus at a stretch of 1.3",
        "formula",
        pressure(),
        0.610817,
        5e-7,
        CASE.source,
    );
    let coarse = rings(out, [60, 2, 696], -0.287)?;
    let fine = rings(out, [130, 3, 2304], -0.162)?;
    out.at_most("error relative to that of the coarser mesh", "one-rings", fine / coarse, 1.0, "falls");
    // Locked.
    for (around, layers, published) in [(60, 2, -0.83), (130, 3, -0.67)] {
        let (count, error) = displacement_error(around, layers, Keeps::Material(0.499), pressure())?;
        let size = format!("{count} tetrahedra, Poisson's ratio 0.499");
        out.near("relative error of the inner displacement", &size, error, published, 5e-3, CASE.source);
    }
    let (count, error) = displacement_error(60, 2, Keeps::Elements, pressure())?;
    let size = format!("{count} tetrahedra, each kept");
    out.near("relative error of the inner displacement", &size, error, -1.0, 1e-3, CASE.source);
    Ok(())
}

fn run_fine(out: &mut Measurements) -> Result<(), CaseError> {
    rings(out, [240, 4, 5712], -0.076)?;
    Ok(())
}
