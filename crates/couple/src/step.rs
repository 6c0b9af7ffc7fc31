//! One time step (spec/rigid-deformable-coupling.md 3.2): the stages in their order, each one named function.
//!
//! | stage | positions | function |
//! |---|---|---|
//! | I.1 velocity to n+1/2 | `x^n` | `velocity_to_half_step` |
//! | IV.1 positions to n+1 | `x^n -> x^{n+1}` | `advance_positions` |
//! | V.2 velocity to n+1 | half way | `velocity_to_full_step` |
//!
//! Collisions (II), contact (III) and push-out (IV.2) stand between these stages and come with the parts that need them. Each implicit
//! velocity solve is one coupled system, so whatever adds rows is coupled to everything else at once.

use crate::generalized::Velocities;
use crate::solve::{CoupledStep, Stage, coupled_solve};
use crate::{Model, Multipliers, SolveReport, State};
use serde::{Deserialize, Serialize};
use splashdown_deformable::ParticleState;
use splashdown_math::{Dim, Frame, Space, Vector};
use splashdown_rigid::{BodyState, EnergyFix};
use splashdown_solve::CoupledSolver;

/// What one step did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Length of the step (s).
    pub dt: f64,
    /// The implicit solves, in their order.
    pub solves: Vec<SolveReport>,
}

/// A step that could not be completed; the state is the one before it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A length of step that is not positive and finite.
    #[error("the step is {dt} s; expected a positive, finite number")]
    Step {
        /// Offending value (s).
        dt: f64,
    },
    /// The coupled solve failed.
    #[error("step {step} at t = {time} s: the coupled solve to the {stage} step failed: {reason}")]
    Solve {
        /// Which step.
        step: u64,
        /// Simulated time (s).
        time: f64,
        /// `half` or `full`.
        stage: &'static str,
        /// What the solver says, by block.
        reason: String,
    },
    /// The bodies of finite elements could not be advanced.
    #[error("step {step} at t = {time} s: the bodies of finite elements: {reason}")]
    Solids {
        /// Which step.
        step: u64,
        /// Simulated time (s).
        time: f64,
        /// What went wrong.
        reason: String,
    },
    /// A value that is not a number, or that no physical motion has.
    #[error(
        "step {step} at t = {time} s: {what} is {value:e}: the simulation has blown up (try a shorter step or softer springs)"
    )]
    Diverged {
        /// Which step.
        step: u64,
        /// Simulated time (s).
        time: f64,
        /// Which quantity of which body.
        what: String,
        /// Offending value.
        value: f64,
    },
}

/// Faster than this nothing moves, so a simulation that does has blown up (m/s).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// The state `dt` seconds after `state`.
pub(crate) fn advance<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    dt: f64,
    solver: &mut CoupledSolver,
) -> Result<(State<D>, StepReport), StepError>
where
    Dim<D>: Space<D>,
{
    if !(dt.is_finite() && dt > 0.0) {
        return Err(StepError::Step { dt });
    }
    let half = velocity_to_half_step(model, state, dt, solver)?;
    let (frames, positions) = advance_positions(model, state, &half.velocities, dt);
    let full = velocity_to_full_step(model, state, &frames, &positions, dt, solver)?;

    let bodies = frames
        .into_iter()
        .zip(full.velocities.bodies)
        .map(|(frame, body)| BodyState {
            frame,
            velocity: body.velocity,
            angular_momentum: body.angular_momentum,
        })
        .collect();
    let next = State {
        time: state.time + dt,
        step: state.step + 1,
        bodies,
        particles: ParticleState { position: positions, velocity: full.velocities.particles },
        multipliers: Multipliers { half: half.multipliers, full: full.multipliers },
        solids: crate::SolidState::default(),
    };
    check_finite(model, &next)?;
    Ok((next, StepReport { dt, solves: vec![half.report, full.report] }))
}

/// I.1: `v^{n+1/2} = v^n + (dt/2) a(x^n, v^{n+1/2})`, with damping implicit.
fn velocity_to_half_step<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    dt: f64,
    solver: &mut CoupledSolver,
) -> Result<CoupledStep<D>, StepError>
where
    Dim<D>: Space<D>,
{
    let frames: Vec<Frame<D>> = state.bodies.iter().map(|body| body.frame).collect();
    let start = Velocities::of(state);
    let explicit = add_explicit_forces(model, &state.particles.position, &start, 0.5 * dt);
    let stage = Stage {
        name: "half",
        frames: &frames,
        positions: &state.particles.position,
        dt: 0.5 * dt,
        guess: &state.multipliers.half,
    };
    coupled_solve(model, &stage, explicit, solver).map_err(|reason| solve_error(state, &stage, reason))
}

/// IV.1: positions and orientations move with the velocity of the half step; orientations turn at constant angular momentum.
fn advance_positions<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    half: &Velocities<D>,
    dt: f64,
) -> (Vec<Frame<D>>, Vec<Vector<D>>)
where
    Dim<D>: Space<D>,
{
    let options = &model.options;
    let frames = model
        .bodies
        .iter()
        .zip(&state.bodies)
        .zip(&half.bodies)
        .map(|((body, now), moving)| {
            let fix = options.energy_fix == EnergyFix::Always;
            body.evolve(
                &now.frame,
                &moving.velocity,
                &moving.angular_momentum,
                dt,
                options.orientation_order,
                fix,
            )
        })
        .collect();
    let positions = state.particles.position.iter().zip(&half.particles).map(|(x, v)| x + v * dt).collect();
    (frames, positions)
}

/// V.2: `v^{n+1} = 2 w - v^n` with `w = v^n + (dt/2) a(x^{n+1/2}, w)`: second order, damping implicit.
fn velocity_to_full_step<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    frames: &[Frame<D>],
    positions: &[Vector<D>],
    dt: f64,
    solver: &mut CoupledSolver,
) -> Result<CoupledStep<D>, StepError>
where
    Dim<D>: Space<D>,
{
    let midway: Vec<Vector<D>> =
        state.particles.position.iter().zip(positions).map(|(old, new)| (old + new) * 0.5).collect();
    let start = Velocities::of(state);
    let explicit = add_explicit_forces(model, &midway, &start, 0.5 * dt);
    let stage =
        Stage { name: "full", frames, positions: &midway, dt: 0.5 * dt, guess: &state.multipliers.full };
    let mut solved = coupled_solve(model, &stage, explicit, solver)
        .map_err(|reason| solve_error(state, &stage, reason))?;
    solved.velocities.extrapolate_from(&start);
    Ok(solved)
}

fn solve_error<const D: usize>(state: &State<D>, stage: &Stage<D>, reason: String) -> StepError
where
    Dim<D>: Space<D>,
{
    StepError::Solve { step: state.step, time: state.time, stage: stage.name, reason }
}

/// `v + dt M^-1 F(x)`: gravity and the elastic forces at `positions`.
fn add_explicit_forces<const D: usize>(
    model: &Model<D>,
    positions: &[Vector<D>],
    start: &Velocities<D>,
    dt: f64,
) -> Velocities<D>
where
    Dim<D>: Space<D>,
{
    let mut velocities = start.clone();
    for (body, moving) in model.bodies.iter().zip(&mut velocities.bodies) {
        if body.is_dynamic() {
            moving.velocity += model.gravity * dt;
        }
    }
    let mut force = vec![0.0; D * positions.len()];
    model.springs.add_elastic(positions, &mut force);
    for (particle, velocity) in velocities.particles.iter_mut().enumerate() {
        if model.particles.pinned[particle] {
            continue;
        }
        let force = Vector::from_column_slice(&force[D * particle..D * (particle + 1)]);
        *velocity += (model.gravity + force * model.particles.inverse_mass(particle)) * dt;
    }
    velocities
}

/// Refuses a state with values that are not finite or faster than light, and names the body.
fn check_finite<const D: usize>(model: &Model<D>, state: &State<D>) -> Result<(), StepError>
where
    Dim<D>: Space<D>,
{
    let diverged = |what: String, value: f64| {
        Err(StepError::Diverged { step: state.step, time: state.time, what, value })
    };
    for (body, now) in model.bodies.iter().zip(&state.bodies) {
        let speed = now.velocity.norm();
        if !(speed <= SPEED_OF_LIGHT) {
            return diverged(format!("the speed of body `{}` (m/s)", body.name), speed);
        }
        let distance = now.frame.position.norm();
        let energy = now.kinetic_energy(body);
        if !(distance.is_finite() && energy.is_finite()) {
            return diverged(format!("the position or spin of body `{}`", body.name), distance + energy);
        }
    }
    for (particle, (x, v)) in state.particles.position.iter().zip(&state.particles.velocity).enumerate() {
        let (speed, distance) = (v.norm(), x.norm());
        if !(speed <= SPEED_OF_LIGHT && distance.is_finite()) {
            let (name, index) = model.name_of_particle(particle);
            return diverged(format!("the speed of particle {index} of `{name}` (m/s)"), speed);
        }
    }
    Ok(())
}
