//! External anchors: bending of a thin clamped strip far into the nonlinear range, Cook's membrane, and a twisted column.
//!
//! * **Elastica**: a cantilever of length `L` and bending stiffness `E I` with a force `P` on its tip, `P L^2 / (E I) = 1`: vertical tip deflection 0.3017 L, horizontal 0.0564 L
//!   (K. E. Bisshopp and D. C. Drucker, "Large deflection of cantilever beams", Quart. Appl. Math. 3, 1945; tabulated also by Mattiasson 1981). Here with the load spread over the tip nodes and
//!   trilinear hexahedra, several over the thickness.
//! * **Cook's membrane**: tapered panel (48 x 44/16), plane stress in the original; the literature's plane-stress value of the tip displacement is 23.96 for E = 1, nu = 1/3, load 1
//!   (R. D. Cook, "Improved two-dimensional finite element", J. Struct. Div. ASCE 100, 1974).
//!
//! The numbers are those of the literature, not ours.

use super::set_up::{failed, solid_of};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::Elements;
use splashdown_deformable::element::{Damping, Material};
use splashdown_deformable::integrate::{Integrator, LinearSolver, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Force, ForceError};
use splashdown_geometry::generate::{Diagonals, box_hexahedra, sheet};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "deformable/external-anchors",
    spec: "issue 4, must show 3",
    summary: "large deflection of a cantilever against the elastica, Cook's membrane against the literature",
    source: "Bisshopp and Drucker 1945; Cook 1974",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

/// Constant forces on some particles, as a force of the contract.
#[derive(Debug, Clone)]
struct Load<const D: usize> {
    forces: Vec<(u32, Vector<D>)>,
    work: f64,
}

impl<const D: usize> Force<D> for Load<D> {
    fn name(&self) -> &str {
        "load"
    }
    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        let work = |(node, force): &(u32, Vector<D>)| {
            (0..D).map(|axis| force[axis] * position[D * *node as usize + axis]).sum::<f64>()
        };
        self.work = self.forces.iter().map(work).sum();
        Ok(())
    }
    fn energy(&self) -> f64 {
        -self.work
    }
    fn add_elastic(&self, out: &mut [f64]) {
        for (node, force) in &self.forces {
            for axis in 0..D {
                out[D * *node as usize + axis] += force[axis];
            }
        }
    }
    fn add_damping(&self, _: &[f64], _: &mut [f64]) {}
    fn damping_rows(&self) -> usize {
        0
    }
    fn apply_factor(&self, _: &[f64], _: f64, _: &mut [f64]) {}
    fn add_factor_transpose(&self, _: &[f64], _: f64, _: &mut [f64]) {}
    fn add_stiffness(&self, _: &[f64], _: &mut [f64], _: bool) {}
    fn elements(&self) -> usize {
        0
    }
    fn element_nodes(&self, _: usize) -> &[u32] {
        &[]
    }
    fn add_element_matrix(&self, _: usize, _: f64, _: f64, _: bool, _: &mut [f64]) {}
    fn stable_step(&self, _: &[f64]) -> f64 {
        f64::INFINITY
    }
    fn bytes(&self) -> usize {
        0
    }
    fn boxed(&self) -> Box<dyn Force<D>> {
        Box::new(self.clone())
    }
}

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
    solid.add(Load { forces: end.iter().map(|&node| (node, share)).collect(), work: 0.0 });
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
    solid.add(Load { forces, work: 0.0 });
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
    Ok(())
}
