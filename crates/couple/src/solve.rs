//! The coupled implicit velocity solve of one stage: every effect adds its rows, one system is solved.

use crate::fluid_structure::CouplingReport;
use crate::generalized::Velocities;
use crate::state::BlockMultipliers;
use crate::{Formulation, Model};
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_solve::{
    CoupledSolver, CoupledSystem, InverseMass, SolveError, SolverAids, Stopping, VelocityLayout,
};

/// How well one block of rows was solved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockReport {
    /// Name of the block.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Norm of the residual of these rows relative to their right-hand side.
    pub relative_residual: f64,
    /// Iterations that were for these rows: those of the whole solve that they govern, or those of solves for them inside; 0 where they are eliminated exactly.
    #[serde(default)]
    pub iterations: usize,
}

/// What one implicit solve did. Holds no times: the log of a run is the same whenever it is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolveReport {
    /// `half` or `full`: the stage it belongs to.
    pub stage: String,
    /// Iterations of the Krylov solver.
    pub iterations: usize,
    /// Relative residual at the end, in the diagonally scaled norm.
    pub relative_residual: f64,
    /// By block.
    pub blocks: Vec<BlockReport>,
    /// Of a fluid with solids in it: what was coupled, iterations of the velocity solves inside, and what had to be corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupling: Option<CouplingReport>,
}

/// Velocities after an implicit solve.
pub(crate) struct CoupledStep<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub velocities: Velocities<D>,
    pub multipliers: Vec<BlockMultipliers>,
    pub report: SolveReport,
}

/// One implicit stage: where everything is, how long it lasts and what the solver starts from.
pub(crate) struct Stage<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    pub name: &'static str,
    pub frames: &'a [Frame<D>],
    pub positions: &'a [Vector<D>],
    pub dt: f64,
    pub guess: &'a [BlockMultipliers],
}

/// Solves for the velocities at the end of `stage`, from the velocities `explicit` that the explicit forces gave.
pub(crate) fn coupled_solve<const D: usize>(
    model: &Model<D>,
    stage: &Stage<D>,
    mut explicit: Velocities<D>,
    solver: &mut CoupledSolver,
) -> Result<CoupledStep<D>, String>
where
    Dim<D>: Space<D>,
{
    let layout = VelocityLayout::new::<D>(0, model.particles.len(), model.bodies.len());
    let message = |error: SolveError| error.to_string();
    let damping = model.springs.damping_rows(stage.positions, stage.dt, layout);
    // Nothing to solve: not even the masses are needed.
    if !damping.has_rows() {
        let report = SolveReport {
            stage: stage.name.into(),
            iterations: 0,
            relative_residual: 0.0,
            blocks: vec![],
            coupling: None,
        };
        return Ok(CoupledStep { velocities: explicit, multipliers: vec![], report });
    }
    let inverse_mass = inverse_mass(model, stage.frames, layout).map_err(message)?;
    let mut system = CoupledSystem::new(&inverse_mass);
    system.push(&damping).map_err(message)?;
    solver.options.stopping = Stopping {
        max_iterations: model.options.max_iterations,
        ..Stopping::relative(model.options.tolerance)
    };
    solver.options.formulation = match model.options.formulation {
        Formulation::Spd => splashdown_solve::Formulation::PositiveDefinite,
        Formulation::Kkt => splashdown_solve::Formulation::Kkt,
    };
    solver.clear_guess();
    for block in stage.guess {
        solver.set_guess(&block.name, &block.values).map_err(message)?;
    }
    let mut velocity = stack(model, stage.frames, &explicit, layout);
    let report = solver.solve(&system, &mut velocity, SolverAids::default()).map_err(message)?;
    if !report.converged() {
        return Err(report.to_string());
    }

    let mut impulse = vec![0.0; layout.len()];
    system.apply_transpose(solver.impulses(), &mut impulse);
    for (particle, moving) in explicit.particles.iter_mut().enumerate() {
        *moving = Vector::from_column_slice(&velocity[layout.particle(particle)]);
    }
    // Bodies take the impulse rather than the twist: where nothing pushes, their momenta stay the same bits.
    for (index, moving) in explicit.bodies.iter_mut().enumerate() {
        let body = &model.bodies[index];
        let push = &impulse[layout.body(index)];
        moving.velocity -= Vector::from_column_slice(&push[..D]) * body.inverse_mass();
        if body.is_dynamic() {
            moving.angular_momentum -= Spin::<D>::from_slice(&push[D..]);
        }
    }
    let multipliers = report
        .blocks
        .iter()
        .map(|block| BlockMultipliers {
            name: block.name.clone(),
            values: solver.block_impulses(&block.name).unwrap_or_default().to_vec(),
        })
        .collect();
    let blocks = report
        .blocks
        .iter()
        .map(|block| BlockReport {
            name: block.name.clone(),
            rows: block.rows,
            relative_residual: block.relative_residual,
            iterations: report.iterations,
        })
        .collect();
    let relative_residual = if report.rhs_norm > 0.0 { report.residual / report.rhs_norm } else { 0.0 };
    let report = SolveReport {
        stage: stage.name.into(),
        iterations: report.iterations,
        relative_residual,
        blocks,
        coupling: None,
    };
    Ok(CoupledStep { velocities: explicit, multipliers, report })
}

/// `M^-1` at the given orientations.
fn inverse_mass<const D: usize>(
    model: &Model<D>,
    frames: &[Frame<D>],
    layout: VelocityLayout,
) -> Result<InverseMass, SolveError>
where
    Dim<D>: Space<D>,
{
    let mut inverse = InverseMass::zero(layout);
    for particle in 0..model.particles.len() {
        inverse.set_particle(particle, model.particles.inverse_mass(particle))?;
    }
    for (index, (body, frame)) in model.bodies.iter().zip(frames).enumerate() {
        inverse.set_body::<D>(index, body.inverse_mass(), &body.world_inverse_inertia(frame))?;
    }
    Ok(inverse)
}

/// The stacked velocity: particles, then twists.
fn stack<const D: usize>(
    model: &Model<D>,
    frames: &[Frame<D>],
    velocities: &Velocities<D>,
    layout: VelocityLayout,
) -> Vec<f64>
where
    Dim<D>: Space<D>,
{
    let mut stacked = vec![0.0; layout.len()];
    for (particle, velocity) in velocities.particles.iter().enumerate() {
        stacked[layout.particle(particle)].copy_from_slice(velocity.as_slice());
    }
    for (index, moving) in velocities.bodies.iter().enumerate() {
        let angular = model.bodies[index].spin_of(&frames[index], &moving.angular_momentum);
        Twist::<D> { linear: moving.velocity, angular }.write(&mut stacked[layout.body(index)]);
    }
    stacked
}
