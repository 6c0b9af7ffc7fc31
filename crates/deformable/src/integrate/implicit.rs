//! Fully implicit steps as minimisation: Newton's method with positive semidefinite stiffness and line search (spec 3.14, DS-33), static equilibrium (DS-48), and
//! the two-pass step with the surface as given data (DS-34).
//!
//! A step minimises `|x - x^|^2_M / (2 h^2) + Psi(x) + c/2 (x - x^n)^T (-D) (x - x^n) + contact(x)`; damping `D` is frozen at `x^n`. Backward Euler has
//! `x^ = x^n + dt v^n`, `h = dt`; Newmark with average acceleration `x^ = x^n + dt v^n + dt^2/4 a^n`, `h = dt/2`.

use super::newton::{Objective, minimise};
use super::{IntegrateError, IntegrationReport, Integrator, Motion};
use crate::contact::Barrier;
use crate::solid::Solid;
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Space};

/// How an implicit step weighs start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImplicitScheme {
    /// First order, damps what the step does not resolve.
    #[default]
    BackwardEuler,
    /// Newmark with average acceleration: second order, keeps the energy of small oscillations. Damps nothing by itself.
    AverageAcceleration,
}

/// The linear solver of a Newton iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinearSolver {
    /// By size: a sparse factorisation for small systems, conjugate gradients for others.
    #[default]
    Auto,
    /// Sparse Cholesky factorisation.
    Cholesky,
    /// Conjugate gradients with the blocks of the diagonal.
    Jacobi,
    /// Conjugate gradients with algebraic multigrid, which knows the rigid motions.
    Multigrid,
}

/// Options of implicit steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ImplicitOptions {
    /// Residual force at which Newton's method stops, relative to the largest force on a particle.
    pub tolerance: f64,
    /// Most iterations.
    pub max_iterations: usize,
    /// Relative residual of the linear solves.
    pub linear_tolerance: f64,
    /// Displacement (m) of all particles below which a Newton step is not worth taking; 0 for none. With contact barriers, whose forces are stiff, this says more than
    /// a residual.
    pub resolution: f64,
    /// Linear solver.
    pub solver: LinearSolver,
    /// Take the step as an error if Newton's method has not arrived; otherwise it is accepted as it is.
    pub strict: bool,
}

impl Default for ImplicitOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            max_iterations: 50,
            linear_tolerance: 1e-2,
            resolution: 0.0,
            solver: LinearSolver::Auto,
            strict: true,
        }
    }
}

/// What Newton's method did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct NewtonReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Iterations of all linear solves.
    pub linear_iterations: usize,
    /// Largest residual force at the end (N).
    pub residual: f64,
    /// Tolerance (N).
    pub wanted: f64,
}

/// Part of the motion at constant velocity that is looked at where bodies touch at the start.
pub(super) const GUESS: f64 = 0.25;

impl<const D: usize> Integrator<D>
where
    Dim<D>: Space<D>,
{
    pub(super) fn step_implicit(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        scheme: ImplicitScheme,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let start = motion.position.clone();
        let velocity = motion.velocity.clone();
        solid.update(&start)?;
        // h^2 = beta dt^2, and the part of the present acceleration that the prediction has.
        let (beta, part) = match scheme {
            ImplicitScheme::BackwardEuler => (1.0, 0.0),
            ImplicitScheme::AverageAcceleration => (0.25, 0.25),
        };
        let mut acceleration = vec![0.0; start.len()];
        if part > 0.0 {
            solid.add_elastic(&mut acceleration);
            solid.add_damping(&velocity, &mut acceleration);
            solid.add_gravity(&mut acceleration);
            for (at, acceleration) in acceleration.iter_mut().enumerate() {
                *acceleration =
                    if solid.pinned()[at / D] { 0.0 } else { *acceleration / solid.masses()[at / D] };
            }
        }
        let mut predicted = vec![0.0; start.len()];
        for at in 0..start.len() {
            predicted[at] = start[at] + dt * velocity[at];
            if !solid.pinned()[at / D] {
                predicted[at] += dt * dt * (part * acceleration[at] + beta * solid.gravity[at % D]);
            }
        }
        // Velocity at the end as a function of the end position: rate (x - x^n) + offset.
        let rate = match scheme {
            ImplicitScheme::BackwardEuler => 1.0 / dt,
            ImplicitScheme::AverageAcceleration => 2.0 / dt,
        };
        let offset = |at: usize| match scheme {
            ImplicitScheme::BackwardEuler => 0.0,
            ImplicitScheme::AverageAcceleration => -velocity[at],
        };
        let mut force = vec![0.0; start.len()];
        let damping = if solid.damping_rows() > 0 {
            // Pinned particles move as told; what their motion drags along is a constant force.
            let dragged: Vec<f64> =
                (0..start.len()).map(|at| if solid.pinned()[at / D] { velocity[at] } else { 0.0 }).collect();
            solid.add_damping(&dragged, &mut force);
            let matrix = solid.resistance(rate, 0.0)?;
            let centre: Vec<f64> = (0..start.len()).map(|at| start[at] - offset(at) / rate).collect();
            Some((matrix, centre))
        } else {
            None
        };
        let mut barrier = self.self_contact.as_ref().and_then(|contact| contact.barrier()).cloned();
        if barrier.is_none() && !self.obstacles.is_empty() {
            barrier = Some(Barrier::obstacles_only());
        }
        if let Some(barrier) = &mut barrier {
            barrier.begin(&self.obstacles, &self.colliders, solid, &start, dt);
        }
        let mut x = start.clone();
        let guess: Vec<f64> = start.iter().zip(&velocity).map(|(x, v)| x + dt * v).collect();
        // Where there is contact already, the guess is not free for long: a part of it is enough to look at. Prescribed motion wants to go as far as it can.
        let touching = barrier.as_ref().is_some_and(Barrier::touches_itself);
        let driven = (0..start.len()).any(|at| solid.pinned()[at / D] && velocity[at] != 0.0);
        let looked_at = if touching && !driven { GUESS } else { 1.0 };
        let change: Vec<f64> = guess.iter().zip(&start).map(|(a, b)| looked_at * (a - b)).collect();
        let safe = barrier.as_mut().map_or(1.0, |barrier| barrier.largest_step(&start, &change));
        for at in 0..x.len() {
            x[at] = if safe * looked_at == 1.0 { guess[at] } else { start[at] + safe * change[at] };
        }
        let mut objective = Objective {
            inertia: 1.0 / (beta * dt * dt),
            predicted: &predicted,
            damping,
            force,
            barrier: barrier.as_mut(),
            targets: &guess,
        };
        let newton = minimise(solid, &mut objective, &mut x, &self.implicit, &mut self.workspace)?;
        report.newton_iterations += newton.iterations;
        report.linear_iterations += newton.linear_iterations;
        if self.implicit.strict && !(newton.residual <= newton.wanted) {
            let NewtonReport { residual, wanted, iterations, .. } = newton;
            return Err(IntegrateError::Newton { residual, wanted, iterations });
        }
        if let Some(barrier) = &barrier {
            report.self_contact.proximities = barrier.active();
        }
        for at in 0..x.len() {
            motion.velocity[at] =
                if solid.pinned()[at / D] { velocity[at] } else { rate * (x[at] - start[at]) + offset(at) };
        }
        motion.position = x;
        Ok(())
    }

    /// Static equilibrium by Newton's method from the present positions; velocities become zero. Pinned particles stay.
    ///
    /// # Errors
    /// A force without value, or no equilibrium within the iterations.
    #[inline(never)]
    pub fn equilibrium(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
    ) -> Result<NewtonReport, IntegrateError> {
        let mut x = motion.position.clone();
        let mut force = vec![0.0; x.len()];
        solid.add_gravity(&mut force);
        let predicted = x.clone();
        let mut objective = Objective {
            inertia: 0.0,
            predicted: &predicted,
            damping: None,
            force,
            barrier: None,
            targets: &predicted,
        };
        let report = minimise(solid, &mut objective, &mut x, &self.implicit, &mut self.workspace)?;
        if self.implicit.strict && !(report.residual <= report.wanted) {
            let NewtonReport { residual, wanted, iterations, .. } = report;
            return Err(IntegrateError::Newton { residual, wanted, iterations });
        }
        motion.position = x;
        motion.velocity.fill(0.0);
        Ok(report)
    }

    /// The two-pass step: an implicit velocity solve that does not advance positions, `collide` on all velocities, then a second solve in which the particles of
    /// `surface` move with what it left.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn step_two_pass(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        surface: &[u32],
        collide: impl FnOnce(&mut [f64]),
    ) -> Result<IntegrationReport, IntegrateError> {
        let mut report = IntegrationReport::default();
        let mut first = motion.clone();
        self.step_implicit(solid, &mut first, dt, ImplicitScheme::BackwardEuler, &mut report)?;
        collide(&mut first.velocity);
        let free: Vec<u32> = surface.iter().copied().filter(|&node| !solid.pinned()[node as usize]).collect();
        let mut second = motion.clone();
        for &node in &free {
            solid.set_pinned(node as usize, true);
            let at = D * node as usize..D * (node as usize + 1);
            second.velocity[at.clone()].copy_from_slice(&first.velocity[at]);
        }
        let result = self.step_implicit(solid, &mut second, dt, ImplicitScheme::BackwardEuler, &mut report);
        for &node in &free {
            solid.set_pinned(node as usize, false);
        }
        result?;
        second.time += dt;
        *motion = second;
        Ok(report)
    }
}
