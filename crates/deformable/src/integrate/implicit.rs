//! Fully implicit steps as minimisation: Newton's method with positive semidefinite stiffness and line search (spec 3.14, DS-33), static equilibrium (DS-48), and
//! the two-pass step with the surface as given data (DS-34).
//!
//! A step minimises `|x - x^|^2_M / (2 h^2) + Psi(x) + c/2 (x - x^n)^T (-D) (x - x^n) + contact(x)`; damping `D` is frozen at `x^n`. Backward Euler has
//! `x^ = x^n + dt v^n`, `h = dt`; Newmark with average acceleration `x^ = x^n + dt v^n + dt^2/4 a^n`, `h = dt/2`. Quasistatic steps have `1/h = 0` and `D = 0`.

use super::newton::{Objective, minimise};
use super::{IntegrateError, IntegrationReport, Integrator, Motion};
use crate::collide::ranks;
use crate::contact::{Barrier, Response};
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
    /// Without inertia and damping (DS-48): every step ends in the equilibrium with what holds, pushes and drags the body then. What nothing holds has none.
    Quasistatic,
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
            ImplicitScheme::BackwardEuler | ImplicitScheme::Quasistatic => (1.0, 0.0),
            ImplicitScheme::AverageAcceleration => (0.25, 0.25),
        };
        let inert = scheme != ImplicitScheme::Quasistatic;
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
            // Nothing is left moving.
            ImplicitScheme::Quasistatic => 0.0,
        };
        let offset = |at: usize| match scheme {
            ImplicitScheme::BackwardEuler | ImplicitScheme::Quasistatic => 0.0,
            ImplicitScheme::AverageAcceleration => -velocity[at],
        };
        let mut force = vec![0.0; start.len()];
        if !inert {
            solid.add_gravity(&mut force);
        }
        let damping = if inert && solid.damping_rows() > 0 {
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
            inertia: if inert { 1.0 / (beta * dt * dt) } else { 0.0 },
            predicted: &predicted,
            damping,
            force,
            barrier: barrier.as_mut(),
            targets: &guess,
        };
        let newton = minimise(solid, &mut objective, &mut x, &self.implicit, &mut self.workspace)?;
        report.count_newton(&newton);
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

    /// A fully implicit step of every layer in turn, from the lowest on: those above see where it has gone, and it does not feel them.
    pub(super) fn step_in_layers(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        scheme: ImplicitScheme,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        if self.layers.is_empty() {
            return self.step_implicit(solid, motion, dt, scheme, report);
        }
        let ranks = ranks(&self.layers, solid.len());
        let highest = ranks.iter().copied().max().unwrap_or(0);
        // Positions and velocities of the ranks that are done; the others are where they were.
        let mut done = motion.clone();
        let obstacles = self.obstacles.len();
        for rank in 0..=highest {
            let mut trial = motion.clone();
            for (particle, &own) in ranks.iter().enumerate() {
                for at in (D * particle..D * (particle + 1)).filter(|_| own != rank) {
                    trial.velocity[at] = (done.position[at] - motion.position[at]) / dt;
                }
            }
            for layer in self.layers.iter().filter(|layer| layer.rank(&ranks) < rank) {
                self.obstacles.push(layer.obstacle(dt, &motion.position, &done.position)?);
            }
            let others: Vec<usize> =
                (0..solid.len()).filter(|&i| ranks[i] != rank && !solid.pinned()[i]).collect();
            others.iter().for_each(|&particle| solid.set_pinned(particle, true));
            let stepped = self.step_implicit(solid, &mut trial, dt, scheme, report);
            others.iter().for_each(|&particle| solid.set_pinned(particle, false));
            self.obstacles.truncate(obstacles);
            stepped?;
            for particle in (0..solid.len()).filter(|&i| ranks[i] == rank) {
                let own = D * particle..D * (particle + 1);
                done.position[own.clone()].copy_from_slice(&trial.position[own.clone()]);
                done.velocity[own.clone()].copy_from_slice(&trial.velocity[own]);
            }
        }
        *motion = done;
        Ok(())
    }

    /// The two-pass step with all that is in the way: obstacles, layers and self-contact act on the motion of the surface between the passes.
    pub(super) fn step_in_two_passes(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let surface = std::mem::take(&mut self.surface);
        let start = motion.clone();
        let meet = |own: &mut Self, solid: &Solid<D>, free: &mut Motion, report: &mut IntegrationReport| {
            if let Some(contact) = &mut own.self_contact {
                contact.find_pairs(&start.position);
                contact.repel(
                    &mut Response::new(&solid.inverse_masses(), None),
                    &start.position,
                    &mut free.velocity,
                    dt,
                    true,
                );
            }
            let moving = free.velocity.clone();
            free.position = super::explicit::plus(&start.position, dt, &moving);
            let movable = |node: u32| !solid.pinned()[node as usize];
            let Motion { position, velocity, .. } = free;
            (own.touches, _) = own.stop_particles(&start, &moving, dt, movable, position, velocity)?;
            if let Some(contact) = &mut own.self_contact {
                let (masses, report) = (solid.inverse_masses(), &mut report.self_contact);
                contact.resolve(
                    &mut Response::new(&masses, None),
                    &start.position,
                    position,
                    velocity,
                    dt,
                    report,
                )?;
                contact.repel(&mut Response::new(&masses, None), position, velocity, dt, false);
            }
            Ok(())
        };
        let stepped = self.two_passes(solid, motion, dt, &surface, meet, report);
        self.surface = surface;
        stepped
    }

    /// The two-pass step: an implicit velocity solve that does not advance positions, `collide` on all velocities, then a second solve in which the particles of
    /// `surface` move with what it left.
    ///
    /// # Errors
    /// As [`Self::step_at_once`].
    pub fn step_two_pass(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        surface: &[u32],
        collide: impl FnOnce(&mut [f64]),
    ) -> Result<IntegrationReport, IntegrateError> {
        let mut report = IntegrationReport::default();
        let start = motion.position.clone();
        let meet = |_: &mut Self, _: &Solid<D>, free: &mut Motion, _: &mut IntegrationReport| {
            collide(&mut free.velocity);
            free.position = super::explicit::plus(&start, dt, &free.velocity);
            Ok(())
        };
        self.two_passes(solid, motion, dt, surface, meet, &mut report)?;
        motion.time += dt;
        Ok(report)
    }

    /// Both passes; `meet` changes positions and velocities that the first one found at the end of the step.
    fn two_passes(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        surface: &[u32],
        meet: impl FnOnce(&mut Self, &Solid<D>, &mut Motion, &mut IntegrationReport) -> Result<(), IntegrateError>,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        // Contact is between the passes, not in them.
        let (obstacles, contact) = (std::mem::take(&mut self.obstacles), self.self_contact.take());
        let mut first = motion.clone();
        let solved = self.step_implicit(solid, &mut first, dt, ImplicitScheme::BackwardEuler, report);
        (self.obstacles, self.self_contact) = (obstacles, contact);
        solved?;
        meet(self, solid, &mut first, report)?;
        let free: Vec<u32> = surface.iter().copied().filter(|&node| !solid.pinned()[node as usize]).collect();
        let mut second = motion.clone();
        for &node in &free {
            solid.set_pinned(node as usize, true);
            for at in D * node as usize..D * (node as usize + 1) {
                second.velocity[at] = (first.position[at] - motion.position[at]) / dt;
            }
        }
        // Cloth has no inside that could follow.
        let solved = if solid.pinned().iter().all(|pinned| *pinned) {
            second.position = super::explicit::plus(&motion.position, dt, &second.velocity);
            Ok(())
        } else {
            let (obstacles, contact) = (std::mem::take(&mut self.obstacles), self.self_contact.take());
            let solved = self.step_implicit(solid, &mut second, dt, ImplicitScheme::BackwardEuler, report);
            (self.obstacles, self.self_contact) = (obstacles, contact);
            solved
        };
        for &node in &free {
            solid.set_pinned(node as usize, false);
            let own = D * node as usize..D * (node as usize + 1);
            second.position[own.clone()].copy_from_slice(&first.position[own.clone()]);
            second.velocity[own.clone()].copy_from_slice(&first.velocity[own]);
        }
        solved?;
        *motion = second;
        Ok(())
    }
}
