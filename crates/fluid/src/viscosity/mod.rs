//! Viscosity: explicit, implicit by component, or the full stress that couples them; constant or varying in space (spec/fluid-base.md 3.7).

mod rows;
#[cfg(test)]
mod tests;

pub use rows::{ViscosityField, ViscosityRows};

use crate::error::FluidError;
use crate::pressure::PressureProblem;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Index};
use splashdown_math::{Dim, Space};
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::{
    CsrMatrix, Iteration, Jacobi, Outcome, Preconditioner, Stopping, Workspace, pcg, vector,
};

/// Which stress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViscosityForm {
    /// `mu grad u`: each component by itself. Right for constant viscosity without free surfaces; at a free surface its traction is wrong.
    #[default]
    Laplacian,
    /// `mu (grad u + grad u^T)`: components together, stress-free surfaces, any viscosity. A liquid that turns rigidly feels nothing.
    Stress,
}

/// How it goes forward in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViscousStep {
    /// Forward Euler: cheap, limits the step.
    Explicit,
    /// Backward Euler: any step, first order.
    #[default]
    Implicit,
    /// Half a step forwards at the start of the step and half a step backwards at its end: second order.
    CrankNicolson,
}

/// How a viscous solve went.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ViscosityReport {
    /// Unknown velocities.
    pub unknowns: usize,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Residual relative to the right-hand side.
    pub relative_residual: f64,
}

/// Ratio of viscous to inertial terms above which the system is preconditioned by algebraic multigrid rather than its diagonal.
const STIFF: f64 = 20.0;

/// Applies viscosity; keeps its memory, and the system while rows and step stay the same.
#[derive(Default)]
pub struct Viscosity {
    workspace: Workspace,
    system: Option<System>,
}

/// `M + dt N^T N` and what it is preconditioned by.
struct System {
    rows: u64,
    dt: f64,
    mass: Vec<f64>,
    matrix: CsrMatrix,
    preconditioner: Conditioner,
}

enum Conditioner {
    Jacobi(Jacobi),
    Amg(Box<Amg>),
}

impl Preconditioner for Conditioner {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        match self {
            Self::Jacobi(jacobi) => jacobi.apply(r, z),
            Self::Amg(amg) => amg.apply(r, z),
        }
    }
}

impl System {
    fn new<const D: usize>(
        problem: &PressureProblem<D>,
        rows: &ViscosityRows<D>,
        dt: f64,
    ) -> Result<Self, FluidError>
    where
        Dim<D>: Space<D>,
    {
        let failed = FluidError::solve("viscosity");
        let mass = masses(problem, rows);
        let square = rows.matrix().transpose().product(rows.matrix()).map_err(&failed)?;
        let matrix = CsrMatrix::from_diagonal(&mass).sum(dt, &square).map_err(&failed)?;
        let diagonal = matrix.diagonal();
        let stiffness = diagonal.iter().zip(&mass).fold(0.0f64, |m, (d, mass)| m.max(d / mass));
        let preconditioner = if stiffness > STIFF {
            let amg = Amg::new(&matrix, &multigrid_options(rows)).map_err(&failed)?;
            Conditioner::Amg(Box::new(amg))
        } else {
            Conditioner::Jacobi(Jacobi::new(&diagonal).map_err(&failed)?)
        };
        Ok(Self { rows: rows.id(), dt, mass, matrix, preconditioner })
    }
}

impl Viscosity {
    /// `u -= dt M^-1 N^T (N u + k)`: forward Euler.
    #[inline(never)]
    pub fn explicit<const D: usize>(
        &mut self,
        problem: &PressureProblem<D>,
        rows: &ViscosityRows<D>,
        velocity: &mut FaceFields<D>,
        dt: f64,
    ) where
        Dim<D>: Space<D>,
    {
        let mut flat = gather(rows, velocity);
        let mut stress = rows.known().to_vec();
        let mut strain = vec![0.0; stress.len()];
        rows.matrix().multiply(&flat, &mut strain);
        vector::axpy(1.0, &strain, &mut stress);
        let mut force = vec![0.0; flat.len()];
        rows.matrix().add_transpose_multiply(&stress, &mut force);
        for ((u, f), m) in flat.iter_mut().zip(&force).zip(masses(problem, rows)) {
            *u -= dt * f / m;
        }
        scatter(rows, &flat, velocity);
    }

    /// `(M + dt N^T N) u = M u* - dt N^T k`: backward Euler.
    #[inline(never)]
    pub fn implicit<const D: usize>(
        &mut self,
        problem: &PressureProblem<D>,
        rows: &ViscosityRows<D>,
        velocity: &mut FaceFields<D>,
        dt: f64,
        tolerance: f64,
    ) -> Result<ViscosityReport, FluidError>
    where
        Dim<D>: Space<D>,
    {
        let failed = FluidError::solve("viscosity");
        let mut report = ViscosityReport { unknowns: rows.faces().len(), ..Default::default() };
        if rows.matrix().rows() == 0 || rows.faces().is_empty() {
            return Ok(report);
        }
        let same = |system: &System| system.rows == rows.id() && system.dt == dt;
        let system = match self.system.take().filter(same) {
            Some(system) => self.system.insert(system),
            None => self.system.insert(System::new(problem, rows, dt)?),
        };
        let mut flat = gather(rows, velocity);
        let mut force = vec![0.0; flat.len()];
        rows.matrix().add_transpose_multiply(rows.known(), &mut force);
        let rhs: Vec<f64> = (0..flat.len()).map(|i| system.mass[i] * flat[i] - dt * force[i]).collect();
        let stopping = Stopping::relative(tolerance);
        let solved = pcg(
            &system.matrix,
            &mut system.preconditioner,
            &rhs,
            &mut flat,
            &mut Iteration::new(stopping),
            &mut self.workspace,
        )
        .map_err(&failed)?;
        report.iterations = solved.iterations;
        report.relative_residual =
            if solved.rhs_norm > 0.0 { solved.residual / solved.rhs_norm } else { 0.0 };
        if solved.outcome != Outcome::Converged && report.relative_residual > 10.0 * tolerance {
            return Err(FluidError::NotConverged {
                what: "viscosity",
                iterations: report.iterations,
                residual: report.relative_residual,
            });
        }
        scatter(rows, &flat, velocity);
        Ok(report)
    }
}

/// Each component has its own constants, and so its own aggregates; the smoother goes through the cells, each with its faces, as the stress couples them.
fn multigrid_options<const D: usize>(rows: &ViscosityRows<D>) -> AmgOptions
where
    Dim<D>: Space<D>,
{
    let mut places: Vec<(Index<D>, u8)> = Vec::with_capacity(rows.faces().len());
    for axis in 0..D {
        // Axis 0 fastest.
        let place = |face: Index<D>| (std::array::from_fn(|a| face[D - 1 - a]), axis as u8);
        places.extend(rows.faces().axis(axis).indices().map(place));
    }
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    order.sort_unstable_by_key(|&face| places[face as usize]);
    AmgOptions { kinds: places.iter().map(|place| place.1).collect(), order, ..AmgOptions::default() }
}

/// Mass (kg) of the whole dual cell of each unknown face.
fn masses<const D: usize>(problem: &PressureProblem<D>, rows: &ViscosityRows<D>) -> Vec<f64>
where
    Dim<D>: Space<D>,
{
    let volume = problem.domain.grid().cell_volume();
    let of_axis = |axis: usize| {
        rows.faces()
            .axis(axis)
            .indices()
            .map(move |face| problem.density(axis, face) * volume)
            .collect::<Vec<_>>()
    };
    (0..D).flat_map(of_axis).collect()
}

fn gather<const D: usize>(rows: &ViscosityRows<D>, velocity: &FaceFields<D>) -> Vec<f64>
where
    Dim<D>: Space<D>,
{
    let mut flat = vec![0.0; rows.faces().len()];
    for axis in 0..D {
        rows.faces().axis(axis).gather(velocity.component(axis), &mut flat);
    }
    flat
}

fn scatter<const D: usize>(rows: &ViscosityRows<D>, flat: &[f64], velocity: &mut FaceFields<D>)
where
    Dim<D>: Space<D>,
{
    for axis in 0..D {
        rows.faces().axis(axis).scatter(flat, velocity.component_mut(axis));
    }
}
