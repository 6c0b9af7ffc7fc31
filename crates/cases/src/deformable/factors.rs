//! Damping of every force has the factor `C^T C = -dt D`, is symmetric and takes energy; the velocity solve with `M - dt D` and the coupled system `I + C M^-1 C^T` give the
//! same velocities; elastic forces balance, and so does conserving damping.
//!
//! Source: spec/deformable-solids.md 3.10, T4, T5, T6, T7.

use super::set_up::{failed, flat, material, solid_of};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::element::{Damping, DampingKind};
use splashdown_deformable::material::Model;
use splashdown_deformable::testing::{adjoint_error, factor_error, matrix_errors};
use splashdown_deformable::{
    AltitudeSprings, Altitudes, Bending, BendingModel, EdgeSpring, EdgeSprings, Elements, Force, Tie, Ties,
    bending_pairs,
};
use splashdown_geometry::generate::{CubeSplit, Diagonals, box_hexahedra, box_tetrahedra, sheet};
use splashdown_geometry::mesh::Mesh;
use splashdown_math::{Dim, Space, Vector};
use splashdown_solve::testing::TestNumbers;
use splashdown_solve::{
    CoupledSolver, CoupledSystem, InverseMass, LinearOperator, SolverAids, Stopping, VelocityLayout,
};

pub(super) const CASE: Case = Case {
    name: "deformable/damping-factor",
    spec: "T4, T5, T7, DS-17..DS-20",
    summary: "C^T C + dt D = 0 for every damping of every force, and the two forms of the implicit solve agree",
    source: "spec/deformable-solids.md 3.10",
    speed: Speed::Fast,
    seconds: 0.4,
    run,
};

fn measure<const D: usize>(
    out: &mut Measurements,
    name: &str,
    mut force: Box<dyn Force<D>>,
    rest: &[f64],
    noise: f64,
) -> Result<(), CaseError> {
    let mut random = TestNumbers::new(9);
    let (mut factor, mut adjoint, mut matrix, mut power) = (0.0f64, 0.0f64, 0.0f64, f64::NEG_INFINITY);
    for _ in 0..4 {
        let x: Vec<f64> = rest.iter().map(|x| x + noise * random.uniform(-1.0, 1.0)).collect();
        force.update(&x).map_err(failed("updating"))?;
        let v = random.vector(x.len());
        let w = random.vector(force.damping_rows());
        factor = factor.max(factor_error(&*force, &v, 0.01));
        adjoint = adjoint.max(adjoint_error(&*force, &v, &w, 0.01));
        matrix = matrix.max(matrix_errors(&*force, &v, true)[1]);
        let mut f = vec![0.0; x.len()];
        force.add_damping(&v, &mut f);
        power = power.max(f.iter().zip(&v).map(|(f, v)| f * v).sum());
    }
    out.at_most("C^T C + dt D (relative)", name, factor, 1e-12, CASE.source);
    out.at_most("C against its transpose (relative)", name, adjoint, 1e-12, CASE.source);
    out.at_most("element matrices against D (relative)", name, matrix, 1e-12, CASE.source);
    out.at_most("power of the damping (W)", name, power, 0.0, "exact: D is negative semidefinite");
    Ok(())
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let solid = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [2; 3], CubeSplit::Five)
        .map_err(failed("meshing"))?;
    let hexes = box_hexahedra(Vector::zeros(), Vector::repeat(1.0), [2, 1, 1]).map_err(failed("meshing"))?;
    let plane =
        sheet(Vector::<2>::zeros(), Vector::<2>::x(), Vector::<2>::y(), [3; 2], Diagonals::Alternating)
            .map_err(failed("meshing"))?;
    let cloth =
        sheet(Vector::<3>::zeros(), Vector::<3>::x(), Vector::<3>::y(), [3; 2], Diagonals::Alternating)
            .map_err(failed("meshing"))?;
    for (name, kind) in [
        ("linear", DampingKind::Linear),
        ("conserving", DampingKind::Conserving),
        ("blend", DampingKind::Blend),
        ("stiffness", DampingKind::Stiffness),
    ] {
        let mut own = material(Model::FixedCorotated, 10.0, 0.3, 1.0, 0.0)?;
        own.damping = Damping { kind, time: 0.1 };
        // Noise of half a cell: some elements are flat or inside out.
        let label = |what: &str| format!("{what}, {name}");
        let tets = Elements::tetrahedra(&solid, 0, own).map_err(failed("elements"))?;
        measure(out, &label("tetrahedra"), tets.boxed(), &flat(&solid.points), 0.25)?;
        let elements = Elements::hexahedra(&hexes, 0, own).map_err(failed("elements"))?;
        measure(out, &label("hexahedra"), elements.boxed(), &flat(&hexes.points), 0.25)?;
        let elements = Elements::triangles(&plane, 0, own).map_err(failed("elements"))?;
        measure(out, &label("triangles"), elements.boxed(), &flat(&plane.points), 0.2)?;
        let elements = Elements::membrane(&cloth, 0, 0.01, own).map_err(failed("elements"))?;
        measure(out, &label("membrane"), elements.boxed(), &flat(&cloth.points), 0.2)?;
        let masses = tets.clone();
        agreement(
            out,
            name,
            solid_of(tets, |mass| masses.add_masses(mass), solid.points.len(), Vector::zeros()),
            &flat(&solid.points),
        )?;
    }
    let inverse = vec![1.0; solid.points.len()];
    let springs: Vec<EdgeSpring> = cloth
        .edges()
        .into_iter()
        .map(|ends| EdgeSpring::with_modulus(ends, 3.0, 0.4, 0.4, &inverse))
        .collect();
    measure(
        out,
        "edge springs",
        EdgeSprings::<3>::new("springs", &springs).boxed(),
        &flat(&cloth.points),
        0.2,
    )?;
    let nodes = solid.elements.iter().flatten().copied().collect();
    let rest = flat(&solid.points);
    let altitudes = AltitudeSprings::<3>::new(nodes, &rest, &inverse, 5.0, 0.5, Altitudes::All);
    measure(out, "altitude springs, 3D", altitudes.boxed(), &rest, 0.2)?;
    let nodes = plane.elements.iter().flatten().copied().collect();
    let rest = flat(&plane.points);
    let altitudes = AltitudeSprings::<2>::new(nodes, &rest, &inverse, 5.0, 0.5, Altitudes::Shortest);
    measure(out, "altitude springs, 2D", altitudes.boxed(), &rest, 0.2)?;
    for (name, model) in
        [("bending", BendingModel::DiscreteShells), ("bending by the sine", BendingModel::SineHalfAngle)]
    {
        let bending = Bending::new(&cloth, 0, model, 0.5, 0.2);
        measure(out, name, bending.boxed(), &flat(&cloth.points), 0.1)?;
    }
    let across: Vec<EdgeSpring> = bending_pairs(&cloth)
        .into_iter()
        .map(|ends| EdgeSpring::with_modulus(ends, 3.0, 0.4, 0.4, &inverse))
        .collect();
    let across = EdgeSprings::<3>::new("bending springs", &across);
    measure(out, "springs across edges", across.boxed(), &flat(&cloth.points), 0.2)?;
    let springs: Vec<EdgeSpring> = plane
        .edges()
        .into_iter()
        .map(|ends| EdgeSpring::with_modulus(ends, 3.0, 0.4, 0.4, &inverse))
        .collect();
    let springs = EdgeSprings::<2>::new("springs", &springs);
    measure(out, "edge springs, 2D", springs.boxed(), &flat(&plane.points), 0.2)?;
    let nodes = plane.elements.iter().flatten().copied().collect();
    let rest = flat(&plane.points);
    let slack = AltitudeSprings::<2>::new(nodes, &rest, &inverse, 5.0, 0.5, Altitudes::All).with_slack(0.05);
    measure(out, "altitude springs with slack, 2D", slack.boxed(), &rest, 0.2)?;
    let tie = |n: u32| {
        let corners = solid.elements[7 * n as usize];
        let to = corners.iter().copied().zip([0.1, 0.2, 0.3, 0.4]).collect();
        Tie { particle: solid.points.len() as u32 + n, to, stiffness: 3.0, damping: 0.2 }
    };
    let ties = Ties::<3>::new("ties", &[tie(0), tie(1), tie(2)]);
    let tied: Vec<f64> =
        flat(&solid.points).into_iter().chain([0.2, 0.3, 0.4, 0.7, 0.5, 0.1, 0.9, 0.9, 0.9]).collect();
    measure(out, "ties", ties.boxed(), &tied, 0.1)?;
    // One quadratic tetrahedron of each damping, with bent edges.
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.0, 1.0]].map(Vector::<3>::from);
    let mut points = corners.to_vec();
    for [i, j] in [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]] {
        points.push((corners[i] + corners[j]) * 0.5);
    }
    let mesh = Mesh { points, elements: vec![std::array::from_fn(|i| i as u32)] };
    for kind in [DampingKind::Linear, DampingKind::Conserving, DampingKind::Blend, DampingKind::Stiffness] {
        let mut own = material(Model::FixedCorotated, 10.0, 0.3, 1.0, 0.0)?;
        own.damping = Damping { kind, time: 0.1 };
        let force = Elements::quadratic_tetrahedra(&mesh, 0, own).map_err(failed("elements"))?;
        measure(out, &format!("quadratic tetrahedra, {kind:?}"), force.boxed(), &flat(&mesh.points), 0.1)?;
    }
    Ok(())
}

/// `(M - dt D) v = M v*` against `V* - M^-1 C^T z` with `(I + C M^-1 C^T) z = C v*`.
fn agreement<const D: usize>(
    out: &mut Measurements,
    name: &str,
    mut solid: splashdown_deformable::Solid<D>,
    rest: &[f64],
) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    struct Operator<'a, const D: usize>(&'a splashdown_deformable::Solid<D>, f64);
    impl<const D: usize> LinearOperator for Operator<'_, D> {
        fn rows(&self) -> usize {
            D * self.0.len()
        }
        fn cols(&self) -> usize {
            self.rows()
        }
        fn apply(&self, x: &[f64], y: &mut [f64]) {
            y.fill(0.0);
            self.0.add_damping(x, y);
            for (at, y) in y.iter_mut().enumerate() {
                *y = self.0.masses()[at / D] * x[at] - self.1 * *y;
            }
        }
    }
    let mut random = TestNumbers::new(3);
    let x: Vec<f64> = rest.iter().map(|x| x + 0.1 * random.uniform(-1.0, 1.0)).collect();
    solid.update(&x).map_err(failed("updating"))?;
    let (dt, start) = (0.02, random.vector(x.len()));
    let layout = VelocityLayout::new::<D>(0, solid.len(), 0);
    let mut inverse_mass = InverseMass::zero(layout);
    for particle in 0..solid.len() {
        inverse_mass.set_particle(particle, solid.inverse_mass(particle)).map_err(failed("masses"))?;
    }
    let block = solid.damping_block(dt, layout);
    let mut system = CoupledSystem::new(&inverse_mass);
    system.push(block).map_err(failed("adding rows"))?;
    let mut solver = CoupledSolver::default();
    solver.options.stopping = Stopping::relative(1e-12);
    let mut coupled = start.clone();
    solver.solve(&system, &mut coupled, SolverAids::default()).map_err(failed("the coupled solve"))?;
    // The velocity found must satisfy the other form: its residual tells the difference without a second solver.
    let operator = Operator(&solid, dt);
    let mut product = vec![0.0; x.len()];
    operator.apply(&coupled, &mut product);
    let (mut error, mut scale) = (0.0f64, 0.0f64);
    for at in 0..x.len() {
        let momentum = solid.masses()[at / D] * start[at];
        error = error.max((product[at] - momentum).abs());
        scale = scale.max(momentum.abs());
    }
    out.at_most(
        "coupled solve against M - dt D (relative)",
        &format!("tetrahedra, {name}"),
        error / scale,
        1e-8,
        "spec T5",
    );
    Ok(())
}
