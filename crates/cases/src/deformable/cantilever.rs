//! A clamped beam 1 x 0.1 x 0.1 under its own weight, small load: tip deflection against Euler-Bernoulli, `1.5 rho g L^4 / (E h^2)`. Constant-strain tetrahedra lock in bending;
//! how much is a fingerprint of element, mesh and lumping, tabulated by linear statics.
//!
//! Source: spec/deformable-solids.md T14 (computed with an independent prototype); the beam formula for the trend.

use super::set_up::{cubes, failed, material, solid_of, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::Elements;
use splashdown_deformable::Solid;
use splashdown_deformable::integrate::{Integrator, LinearSolver, Motion, Scheme};
use splashdown_deformable::material::Model;
use splashdown_geometry::generate::box_hexahedra;
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "deformable/cantilever",
    spec: "T14, DS-2, DS-28, DS-48",
    summary: "clamped beam under its weight, tip deflection of tetrahedra and hexahedra against the table of linear statics",
    source: "spec/deformable-solids.md T14",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

const TETRAHEDRA: [(f64, [f64; 4]); 4] = [
    (0.0, [0.327, 0.647, 0.884, 0.949]),
    (0.3, [0.356, 0.677, 0.892, 0.949]),
    (0.45, [0.322, 0.631, 0.859, 0.924]),
    (0.49, [0.300, 0.582, 0.823, 0.898]),
];
const HEXAHEDRA: [(f64, [f64; 4]); 4] = [
    (0.0, [0.673, 0.896, 0.977, 0.994]),
    (0.3, [0.650, 0.875, 0.964, 0.984]),
    (0.45, [0.510, 0.754, 0.903, 0.945]),
    (0.49, [0.389, 0.599, 0.775, 0.855]),
];
const YOUNG: f64 = 1e5;
const GRAVITY: f64 = 0.01;

/// Mean deflection of the end face relative to beam theory.
fn deflection(mut solid: Solid<3>, points: &[Vector<3>]) -> Result<f64, CaseError> {
    for (node, point) in points.iter().enumerate() {
        if point[0] < 1e-9 {
            solid.set_pinned(node, true);
        }
    }
    let mut motion = Motion::at_rest(points);
    let mut integrator = Integrator::new(Scheme::B);
    integrator.implicit.tolerance = 1e-5;
    integrator.implicit.linear_tolerance = 1e-8;
    integrator.implicit.solver = LinearSolver::Cholesky;
    integrator.equilibrium(&mut solid, &mut motion).map_err(failed("solving for equilibrium"))?;
    let end: Vec<usize> = (0..points.len()).filter(|&node| points[node][0] > 1.0 - 1e-9).collect();
    let sum: f64 = end.iter().map(|&node| points[node][1] - motion.point::<3>(node)[1]).sum();
    let theory = 1.5 * GRAVITY / (YOUNG * 0.1 * 0.1);
    Ok(sum / end.len() as f64 / theory)
}

/// The table's split: the first cell has corner tetrahedra at 000, 011, 101, 110, which is that of every other cell of the generator.
fn odd_cubes(upper: [f64; 3], n: usize) -> Result<TetrahedronMesh, CaseError> {
    let size = 0.1 / n as f64;
    let mut mesh = cubes([-size, 0.0, 0.0], upper, [10 * n + 1, n, n])?;
    let points = mesh.points.clone();
    mesh.elements.retain(|element| element.iter().all(|&node| points[node as usize][0] > -1e-9));
    Ok(mesh.without_unreferenced().map_err(failed("cutting the mesh"))?.0)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let (lower, upper) = ([0.0; 3], [1.0, 0.1, 0.1]);
    for (row, n) in [1, 2, 4, 6].into_iter().enumerate() {
        for (poisson, table) in TETRAHEDRA {
            let own = material(Model::RotatedLinear, YOUNG, poisson, 1.0, 0.0)?;
            let mesh = odd_cubes(upper, n)?;
            let solid = tetrahedra(&mesh, own, [0.0, -GRAVITY, 0.0])?;
            let found = deflection(solid, &mesh.points)?;
            let resolution = format!("tetrahedra, n = {n}, nu = {poisson}");
            out.near("tip deflection over beam theory", &resolution, found, table[row], 0.005, CASE.source);
        }
        for (poisson, table) in HEXAHEDRA {
            let own = material(Model::RotatedLinear, YOUNG, poisson, 1.0, 0.0)?;
            let mesh =
                box_hexahedra(lower.into(), upper.into(), [10 * n, n, n]).map_err(failed("meshing"))?;
            let elements = Elements::hexahedra(&mesh, 0, own).map_err(failed("making elements"))?;
            let masses = elements.clone();
            let gravity = Vector::<3>::new(0.0, -GRAVITY, 0.0);
            let solid = solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), gravity);
            let found = deflection(solid, &mesh.points)?;
            let resolution = format!("hexahedra, n = {n}, nu = {poisson}");
            out.near("tip deflection over beam theory", &resolution, found, table[row], 0.005, CASE.source);
        }
    }
    Ok(())
}
