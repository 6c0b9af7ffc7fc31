//! External anchors: bending of a thin clamped strip far into the nonlinear range, Cook's membrane, and a twisted column.
//!
//! * **Elastica**: a cantilever of length `L` and bending stiffness `E I` with a force `P` on its tip, `P L^2 / (E I) = 1`: vertical tip deflection 0.3017 L, horizontal 0.0564 L
//!   (K. E. Bisshopp and D. C. Drucker, "Large deflection of cantilever beams", Quart. Appl. Math. 3, 1945; tabulated also by Mattiasson 1981). Here with the load spread over the tip nodes and
//!   trilinear hexahedra, several over the thickness.
//! * **Cook's membrane**: tapered panel (48 x 44/16), plane stress in the original; the literature's plane-stress value of the tip displacement is 23.96 for E = 1, nu = 1/3, load 1
//!   (R. D. Cook, "Improved two-dimensional finite element", J. Struct. Div. ASCE 100, 1974).
//!
//! * **Torsion** of a square bar of side `a` and shear modulus `G`: torque `0.140577 G a^4` per twist and length (S. P. Timoshenko, J. N. Goodier, *Theory of Elasticity*, 3rd ed., section 109),
//!   measured in its middle third, where the ends do not reach (Saint-Venant).
//! * **Bending of a clamped sheet** by its own weight `q` per length: `B theta'' = -q (L - s) cos theta`, `theta(0) = 0`, `theta'(L) = 0`, which is integrated here to rounding. In a sheet
//!   of squares of side `h` that alternating diagonals cut, a curvature `kappa` bends the lines across it by `kappa h`, and every second node gives way by `-kappa h^2 / 12`: of `3 k kappa^2`
//!   remain five sixths, hence `B = 5 k` per width away from the free sides.
//!
//! The numbers are those of the literature, not ours.

use super::set_up::{failed, solid_of};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::Load;
use splashdown_deformable::element::{Damping, Material};
use splashdown_deformable::integrate::{Integrator, LinearSolver, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Bending, BendingModel, Elements};
use splashdown_geometry::generate::{Diagonals, box_hexahedra, sheet};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "deformable/external-anchors",
    spec: "issue 4, must show 3",
    summary: "large deflection of a cantilever against the elastica, Cook's membrane, torsion of a square bar",
    source: "Bisshopp and Drucker 1945; Cook 1974; Timoshenko and Goodier section 109",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

pub(super) const SHEET: Case = Case {
    name: "deformable/clamped-sheet",
    spec: "issue 4, must show 3",
    summary: "a sheet with bending stiffness hangs from its clamped edge",
    source: "exact: heavy elastica",
    speed: Speed::Slow,
    seconds: 30.0,
    run: run_sheet,
};

fn material(lame: Lame) -> Material {
    Material { law: Law::safe(Model::RotatedLinear), lame, density: 1.0, damping: Damping::NONE }
}

fn solver<const D: usize>() -> Integrator<D>
where
    splashdown_math::Dim<D>: splashdown_math::Space<D>,
{
    let mut integrator = Integrator::new(Scheme::B);
    integrator.implicit.tolerance = 1e-7;
    integrator.implicit.linear_tolerance = 1e-8;
    integrator.implicit.max_iterations = 200;
    integrator.implicit.solver = LinearSolver::Cholesky;
    integrator
}

fn elastica(cells: usize) -> Result<[f64; 2], CaseError> {
    // Slenderness 25 and no lateral contraction: shear adds h^2/(4 L^2) ~ 0.1 %.
    let (length, height, width) = (1.0, 0.04, 0.04);
    let young = 1e6;
    let mesh = box_hexahedra(Vector::zeros(), Vector::<3>::new(length, height, width), [100 * cells, 2, 1])
        .map_err(failed("meshing"))?;
    let lame = Lame::new(young, 0.0).map_err(failed("material"))?;
    let elements = Elements::hexahedra(&mesh, 0, material(lame)).map_err(failed("elements"))?;
    let masses = elements.clone();
    let mut solid = solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros());
    let inertia = width * height.powi(3) / 12.0;
    let force = young * inertia / (length * length);
    let end: Vec<u32> =
        (0..mesh.points.len() as u32).filter(|&node| mesh.points[node as usize][0] > length - 1e-9).collect();
    let share = Vector::<3>::new(0.0, -force / end.len() as f64, 0.0);
    solid.add(Load::new(end.iter().map(|&node| (node, share)).collect()));
    for (node, point) in mesh.points.iter().enumerate() {
        solid.set_pinned(node, point[0] < 1e-9);
    }
    let mut motion = Motion::at_rest(&mesh.points);
    solver().equilibrium(&mut solid, &mut motion).map_err(failed("equilibrium of the cantilever"))?;
    let mut moved = Vector::<3>::zeros();
    for &node in &end {
        moved += (motion.point::<3>(node as usize) - mesh.points[node as usize]) / end.len() as f64;
    }
    Ok([-moved[1], -moved[0]])
}

fn cook(cells: usize) -> Result<f64, CaseError> {
    let mut mesh =
        sheet(Vector::<2>::zeros(), Vector::<2>::x(), Vector::<2>::y(), [cells; 2], Diagonals::Crossed)
            .map_err(failed("meshing"))?;
    let right: Vec<u32> =
        (0..mesh.points.len() as u32).filter(|&node| mesh.points[node as usize][0] > 1.0 - 1e-9).collect();
    let left: Vec<usize> = (0..mesh.points.len()).filter(|&node| mesh.points[node][0] < 1e-9).collect();
    let mut heights: Vec<(u32, f64)> =
        right.iter().map(|&node| (node, mesh.points[node as usize][1])).collect();
    for point in &mut mesh.points {
        let (s, t) = (point[0], point[1]);
        *point = Vector::<2>::new(48.0 * s, 44.0 * s + t * (44.0 - 28.0 * s));
    }
    // Plane stress of unit thickness in the parameters of plane strain: lambda' = E nu / (1 - nu^2).
    let lame = Lame::plane_stress(1.0, 1.0 / 3.0).map_err(failed("material"))?;
    // Small displacements, as in the literature: the load is scaled down and the result up.
    let scale = 1e-6;
    let elements = Elements::triangles(&mesh, 0, material(lame)).map_err(failed("elements"))?;
    let masses = elements.clone();
    let mut solid = solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros());
    heights.sort_by(|a, b| a.1.total_cmp(&b.1));
    let last = heights.len() - 1;
    let forces = heights
        .iter()
        .enumerate()
        .map(|(at, &(node, _))| {
            let share = if at == 0 || at == last { 0.5 } else { 1.0 } / last as f64;
            (node, Vector::<2>::new(0.0, scale * share))
        })
        .collect();
    solid.add(Load::new(forces));
    for node in left {
        solid.set_pinned(node, true);
    }
    let mut motion = Motion::at_rest(&mesh.points);
    let mut integrator = solver();
    integrator.implicit.tolerance = 1e-5;
    integrator.equilibrium(&mut solid, &mut motion).map_err(failed("equilibrium of the membrane"))?;
    // The middle of the loaded edge.
    let corner = heights[last / 2].0 as usize;
    Ok((motion.point::<2>(corner)[1] - mesh.points[corner][1]) / scale)
}

/// Torque per `G a^4`, twist and length in the middle third of a square bar of `5 cells x cells x cells` hexahedra.
fn torsion(cells: usize) -> Result<f64, CaseError> {
    let (length, side, young, poisson) = (1.0, 0.2, 1e6, 0.3);
    let half = 0.5 * side;
    let lower = Vector::<3>::new(0.0, -half, -half);
    let mesh = box_hexahedra(lower, Vector::<3>::new(length, half, half), [5 * cells, cells, cells])
        .map_err(failed("meshing"))?;
    let lame = Lame::new(young, poisson).map_err(failed("material"))?;
    let elements = Elements::hexahedra(&mesh, 0, material(lame)).map_err(failed("elements"))?;
    let masses = elements.clone();
    let mut solid = solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros());
    // A twist so small that the bar does not shorten.
    let torque = 1e-4 * lame.mu * side.powi(4);
    let end: Vec<usize> =
        (0..mesh.points.len()).filter(|&node| mesh.points[node][0] > length - 1e-9).collect();
    let round = |x: &Vector<3>| Vector::<3>::new(0.0, -x[2], x[1]);
    let sum: f64 = end.iter().map(|&node| round(&mesh.points[node]).norm_squared()).sum();
    let forces = end.iter().map(|&node| (node as u32, round(&mesh.points[node]) * (torque / sum)));
    solid.add(Load::new(forces.collect()));
    for (node, point) in mesh.points.iter().enumerate() {
        solid.set_pinned(node, point[0] < 1e-9);
    }
    let mut motion = Motion::at_rest(&mesh.points);
    solver().equilibrium(&mut solid, &mut motion).map_err(failed("equilibrium of the bar"))?;
    let angle_at = |place: f64| {
        let (mut turned, mut arms) = (0.0, 0.0);
        for (node, point) in mesh.points.iter().enumerate().filter(|(_, x)| (x[0] - place).abs() < 1e-9) {
            turned += round(point).dot(&(motion.point::<3>(node) - point));
            arms += round(point).norm_squared();
        }
        turned / arms
    };
    let (first, last) = (0.3 * length, 0.7 * length);
    let rate = (angle_at(last) - angle_at(first)) / (last - first);
    Ok(torque / (rate * lame.mu * side.powi(4)))
}

/// Where the free edge of a hanging sheet of length 1 is, across and along: `weight` is `q L^3 / B`.
fn hanging_sheet(weight: f64, cells: usize) -> Result<[f64; 2], CaseError> {
    let mesh = sheet(
        Vector::<3>::zeros(),
        Vector::<3>::x(),
        Vector::<3>::z(),
        [cells, cells],
        Diagonals::Alternating,
    )
    .map_err(failed("meshing"))?;
    let (density, thickness, gravity) = (1000.0, 1e-3, 10.0);
    // Stiff along itself: it stretches by 1e-6.
    let lame = Lame::plane_stress(1e10, 0.0).map_err(failed("material"))?;
    let own = Material { density, ..material(lame) };
    let elements = Elements::membrane(&mesh, 0, thickness, own).map_err(failed("elements"))?;
    let masses = elements.clone();
    let mut solid = solid_of(
        elements,
        |mass| masses.add_masses(mass),
        mesh.points.len(),
        Vector::<3>::new(0.0, -gravity, 0.0),
    );
    let bending = density * thickness * gravity / weight;
    solid.add(Bending::new(&mesh, 0, BendingModel::DiscreteShells, bending / 5.0, 0.0));
    // Cells have the angles, and the first one is held: the clamp is in its middle.
    let clamped = 1.5 / cells as f64;
    for (node, point) in mesh.points.iter().enumerate() {
        solid.set_pinned(node, point[0] < clamped);
    }
    let full = solid.gravity;
    let mut motion = Motion::at_rest(&mesh.points);
    let mut integrator = solver();
    integrator.implicit.tolerance = 1e-6;
    for part in 1..=8 {
        solid.gravity = full * (f64::from(part) / 8.0);
        integrator.equilibrium(&mut solid, &mut motion).map_err(failed("equilibrium of the sheet"))?;
    }
    let middle = Vector::<3>::new(1.0, 0.0, 0.5);
    let free = mesh.points.iter().position(|x| (x - middle).norm() < 1e-9).unwrap_or(0);
    let tip = motion.point::<3>(free);
    // The free length is scaled to 1.
    let clamp = 0.5 / cells as f64;
    let length = 1.0 - clamp;
    Ok([-tip[1] / length, 1.0 - (tip[0] - clamp) / length])
}

/// The same of the differential equation, by shooting with Runge-Kutta steps.
fn heavy_elastica(weight: f64) -> [f64; 2] {
    let steps = 4000;
    let h = 1.0 / f64::from(steps);
    let shoot = |bend: f64| {
        let slope = |s: f64, y: [f64; 4]| [y[1], -weight * (1.0 - s) * y[0].cos(), y[0].sin(), y[0].cos()];
        let mut y = [0.0, bend, 0.0, 0.0];
        for step in 0..steps {
            let s = f64::from(step) * h;
            let add = |y: [f64; 4], k: [f64; 4], part: f64| std::array::from_fn(|i| y[i] + part * k[i]);
            let k1 = slope(s, y);
            let k2 = slope(s + 0.5 * h, add(y, k1, 0.5 * h));
            let k3 = slope(s + 0.5 * h, add(y, k2, 0.5 * h));
            let k4 = slope(s + h, add(y, k3, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        y
    };
    // theta'(1) grows with theta'(0), from below zero at a straight sheet.
    let (mut low, mut high) = (0.0, weight);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let end = shoot(0.5 * (low + high));
    [end[2].abs(), 1.0 - end[3]]
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let (coarse, fine) = (elastica(1)?, elastica(2)?);
    // Second order in the cell size: extrapolated from two meshes.
    let limit: [f64; 2] = std::array::from_fn(|i| fine[i] + (fine[i] - coarse[i]) / 3.0);
    out.near(
        "elastica: vertical deflection over L",
        "100 and 200 x 2 x 1 hexahedra, extrapolated",
        limit[0],
        0.3017,
        0.005 * 0.3017,
        CASE.source,
    );
    out.near(
        "elastica: horizontal deflection over L",
        "100 and 200 x 2 x 1 hexahedra, extrapolated",
        limit[1],
        0.0564,
        0.01 * 0.0564,
        CASE.source,
    );
    let (coarse, fine) = (cook(16)?, cook(32)?);
    let limit = fine + (fine - coarse) / 3.0;
    // Constant-strain triangles approach from below with nearly second order; the extrapolation is good to a fraction of the last difference.
    out.near(
        "Cook's membrane: tip displacement",
        "4 x 16^2 and 4 x 32^2 triangles, extrapolated",
        limit,
        23.96,
        0.01 * 23.96,
        CASE.source,
    );
    out.at_most(
        "Cook's membrane: error of the finest mesh (relative)",
        "4 x 32^2 triangles",
        (fine - 23.96).abs() / 23.96,
        0.02,
        CASE.source,
    );
    let (coarse, fine) = (torsion(4)?, torsion(8)?);
    let limit = fine + (fine - coarse) / 3.0;
    out.near(
        "torsion of a square bar: torque / (G a^4 twist)",
        "20 x 4 x 4 and 40 x 8 x 8 hexahedra, extrapolated",
        limit,
        0.140_577,
        0.005 * 0.140_577,
        CASE.source,
    );
    Ok(())
}

fn run_sheet(out: &mut Measurements) -> Result<(), CaseError> {
    // The sheet's free length is shorter than 1 by half a cell.
    let weight = 3.0;
    let exact = |cells: usize| heavy_elastica(weight * (1.0 - 0.5 / cells as f64).powi(3));
    let error = |cells: usize| -> Result<[f64; 2], CaseError> {
        let (found, exact) = (hanging_sheet(weight, cells)?, exact(cells));
        Ok(std::array::from_fn(|i| (found[i] - exact[i]).abs() / exact[i]))
    };
    let (coarse, fine) = (error(20)?, error(40)?);
    for (what, coarse, fine) in
        [("sag of the free edge", coarse[0], fine[0]), ("pull of the free edge", coarse[1], fine[1])]
    {
        let quantity = format!("clamped sheet, weight q L^3 / B = 3: error of the {what} (relative)");
        out.at_most(&quantity, "40 x 40 cells", fine, 0.02, "heavy elastica, integrated to rounding");
        let quantity = format!("clamped sheet: order of the {what}");
        // What is left is the softer row of cells at the free sides: first order.
        out.at_least(&quantity, "20 and 40 cells", (coarse / fine).log2(), 0.8, "first order");
    }
    Ok(())
}
