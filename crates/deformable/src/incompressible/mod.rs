//! Solids that keep their volume: one pressure for the ring of simplices around each node, and two projections a step (spec/incompressible-solids.md).
//!
//! - **Positions**: the velocity that moves them is changed so that the ring volumes become those at rest again (one Newton step, [`Incompressible::correct_motion`]).
//! - **Velocities**: their change of volume is removed ([`Incompressible::correct_velocity`]).
//!
//! Both leave alone what touches: rows that keep the normal velocity of contacts are part of the same system, so that nothing has to be swept.
//! The material never sees any of this; Poisson's ratio 0 suits it best.

mod monolithic;
mod null_modes;
mod rings;
mod sweeps;
mod system;
#[cfg(test)]
mod tests;

pub use rings::Rings;

pub(crate) use monolithic::CoupledStep;

use crate::collide::Touch;
use crate::contact::ContactRow;
use crate::integrate::{Carriers, Constraints, Link};
use crate::solid::Solid;
use splashdown_math::{Dim, Space, Twist};
use splashdown_solve::{
    ConstraintFilter, Iteration, Jacobi, LinearOperator, Progress, SolveError, Stopping, Workspace, minres,
    pcg,
};
use std::ops::ControlFlow;
use sweeps::Sweeps;
use system::{MovedBodies, Stall, System};

/// Relative rounding of volumes and rates.
const ROUNDING: f64 = 1e-14;

/// Which solver finds the pressures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PressureSolver {
    /// Minimal residuals, which is what the tolerance asks for.
    #[default]
    MinimalResiduals,
    /// Conjugate gradients.
    ConjugateGradients,
}

/// How pairs in contact are kept through a pressure solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PairTreatment {
    /// As rows of the same system: to the tolerance of the solve.
    #[default]
    Rows,
    /// By this many symmetric sweeps over all pairs in every application of the operator (4 in the source). The sweeps leave something of what they should keep; a solve takes no
    /// tolerance below that, and reports it ([`IncompressibleReport::leak`]).
    Sweeps(usize),
}

/// How well volume is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IncompressibleOptions {
    /// Shortest time (s) in which a ring takes back its whole volume; zero for at once.
    pub recovery_time: f64,
    /// Relative residual of the pressure solves.
    pub tolerance: f64,
    /// Most iterations of a pressure solve; what is reached by then is taken.
    pub max_iterations: usize,
    /// Newton steps of the position correction.
    pub newton_steps: usize,
    /// Do contacts act on the velocity before the correction of positions, too? Needed under extreme pressure; makes things stick. Schemes
    /// A, B and C only: the others always have contacts.
    pub contact_in_prediction: bool,
    /// The solver.
    pub solver: PressureSolver,
    /// How pairs in contact are kept.
    pub pairs: PairTreatment,
    /// Are damping and volume one solve, in which the velocity at the end of a step has both? Schemes B and C without carried particles only; pairs are rows of it, the solver is that of
    /// minimal residuals.
    pub monolithic: bool,
}

impl Default for IncompressibleOptions {
    fn default() -> Self {
        Self {
            recovery_time: 0.0,
            tolerance: 1e-2,
            max_iterations: 500,
            newton_steps: 1,
            contact_in_prediction: false,
            solver: PressureSolver::default(),
            pairs: PairTreatment::default(),
            monolithic: false,
        }
    }
}

/// What the pressure solves of a step did.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct IncompressibleReport {
    /// Iterations of all pressure solves.
    pub iterations: usize,
    /// Largest relative error of a ring's volume before the step.
    pub ring_error: f64,
    /// Mean of these errors over all rings.
    #[serde(default)]
    pub mean_ring_error: f64,
    /// Relative error of the whole volume before the step.
    pub total_error: f64,
    /// Largest rate (1/s) at which the velocity changes a ring's volume, before and after the last correction of velocities.
    #[serde(default)]
    pub divergence: [f64; 2],
    /// Part of the last pressures that pushes nothing, relative: what a structured mesh cannot tell.
    #[serde(default)]
    pub null_part: f64,
    /// Solves that stopped before their tolerance.
    pub unfinished: usize,
    /// Corrections apart from damping although one solve was asked for, because moving rigid bodies carry or touch what keeps its volume.
    #[serde(default)]
    pub split: usize,
    /// Largest part of the velocity of pairs that sweeps left; zero without sweeps.
    #[serde(default)]
    pub leak: f64,
    /// Solves whose tolerance was below that and was raised to it.
    #[serde(default)]
    pub loosened: usize,
    /// Part of the correction of positions that was left out because surfaces would have met (0 to 1).
    #[serde(default)]
    pub held_back: f64,
}

impl IncompressibleReport {
    /// Adds what a part of a step did; errors are those of the worst part.
    pub(crate) fn add_part(&mut self, part: &Self) {
        self.iterations += part.iterations;
        self.ring_error = self.ring_error.max(part.ring_error);
        self.mean_ring_error = self.mean_ring_error.max(part.mean_ring_error);
        for (worst, own) in self.divergence.iter_mut().zip(part.divergence) {
            *worst = worst.max(own);
        }
        self.null_part = self.null_part.max(part.null_part);
        self.split += part.split;
        self.total_error =
            if part.total_error.abs() > self.total_error.abs() { part.total_error } else { self.total_error };
        self.unfinished += part.unfinished;
        self.leak = self.leak.max(part.leak);
        self.loosened += part.loosened;
        self.held_back = self.held_back.max(part.held_back);
    }
}

/// The incompressible bodies of a solid.
#[derive(Debug, Clone)]
pub struct Incompressible<const D: usize> {
    rings: Rings<D>,
    /// Pressures of the last solve, for diagnosis only.
    pressures: Vec<f64>,
    workspace: Workspace,
    /// Options.
    pub options: IncompressibleOptions,
}

/// What must not be changed by a pressure: pins, particles on objects, pairs in contact; and the rigid bodies that are pushed on.
pub struct Kept<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Contacts with objects.
    pub touches: &'a [Touch<D>],
    /// Contacts of the bodies with each other and themselves.
    pub pairs: &'a [ContactRow<D>],
    /// Rigid bodies that carry or touch particles: pressures push on them, too.
    pub bodies: Option<Pushed<'a, D>>,
}

impl<'a, const D: usize> Kept<'a, D>
where
    Dim<D>: Space<D>,
{
    /// Without rigid bodies that move.
    pub const fn objects(touches: &'a [Touch<D>], pairs: &'a [ContactRow<D>]) -> Self {
        Self { touches, pairs, bodies: None }
    }
}

/// Rigid bodies that pressures push on.
#[derive(Clone, Copy)]
pub struct Pushed<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The bodies with the particles that they carry.
    pub carriers: &'a Carriers<D>,
    /// Contacts of other particles with them, whose relative normal velocities stay.
    pub links: &'a [Link<D>],
}

impl<const D: usize> Incompressible<D> {
    /// Keeps the volumes of `rings`.
    pub fn new(rings: Rings<D>, options: IncompressibleOptions) -> Self {
        Self { rings, pressures: Vec::new(), workspace: Workspace::default(), options }
    }

    /// The rings, at the positions of the last correction.
    pub fn rings(&self) -> &Rings<D> {
        &self.rings
    }

    /// Pressures of the rings times the duration over which they act (Pa s) in the last solve. On structured meshes they have parts that push nothing: only their means over the
    /// corners of a simplex, [`Rings::means`], say something.
    pub fn pressures(&self) -> &[f64] {
        &self.pressures
    }

    /// Largest relative error of a ring's volume at `position`, and that of the whole volume.
    pub fn errors(&mut self, position: &[f64]) -> (f64, f64) {
        self.rings.update(position);
        let rings = self.rings.ring_volumes();
        let worst = rings.iter().zip(self.rings.rest()).map(|(now, rest)| (now / rest - 1.0).abs());
        let (now, rest) = self.rings.total();
        (worst.fold(0.0, f64::max), (now / rest - 1.0).abs())
    }

    /// Rates of the rings, at their last positions, that bring their volumes back within `dt` seconds, or as fast as is allowed.
    fn wanted_rates(&self, dt: f64) -> Vec<f64> {
        let time = self.options.recovery_time;
        let fastest = if time > 0.0 { 1.0 / time } else { f64::INFINITY };
        let volumes = self.rings.ring_volumes();
        let wanted = volumes.iter().zip(self.rings.rest()).map(|(now, rest)| {
            let most = rest.abs() * fastest;
            ((rest - now) / dt).clamp(-most, most)
        });
        wanted.collect()
    }
}

impl<const D: usize> Incompressible<D>
where
    Dim<D>: Space<D>,
{
    /// The change of velocity (m/s) by ring pressures (Pa s) at the last positions, with what is kept: `P M^-1 B^T p`. Only sweeps keep pairs here, as rows they have unknowns of their own.
    pub fn push(&self, solid: &Solid<D>, kept: &Kept<D>, pressures: &[f64]) -> Vec<f64> {
        let inverse_mass = solid.inverse_masses();
        let objects = Constraints::new(solid.pinned(), kept.touches);
        let sweeps = self.sweeps(kept, &objects, &inverse_mass);
        let bodies = kept.bodies.map(|bodies| MovedBodies::new(&bodies, solid.masses()));
        let system = System {
            rings: &self.rings,
            pairs: &[],
            kept: sweeps.as_ref().map_or(system::Kept::Objects(&objects), system::Kept::Swept),
            bodies: bodies.as_ref(),
            inverse_mass: &inverse_mass,
        };
        let mut out = vec![0.0; D * inverse_mass.len()];
        system.push(pressures, &mut out);
        out
    }

    /// The sweeps over pairs, if there are any and they are swept.
    fn sweeps<'a>(
        &self,
        kept: &Kept<'a, D>,
        objects: &'a Constraints<'a, D>,
        inverse_mass: &'a [f64],
    ) -> Option<Sweeps<'a, D>> {
        match self.options.pairs {
            PairTreatment::Sweeps(count) if !kept.pairs.is_empty() => {
                Some(Sweeps::new(kept.pairs, objects, inverse_mass, count.max(1)))
            }
            _ => None,
        }
    }

    /// Changes the velocity `moving` so that `position + dt moving` has the ring volumes of the rest state, to second order in what has to be changed. Returns the changes of the twists of
    /// the rigid bodies that are pushed on.
    ///
    /// # Errors
    /// Values that are not finite.
    pub fn correct_motion(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        moving: &mut [f64],
        dt: f64,
        kept: &Kept<D>,
        report: &mut IncompressibleReport,
    ) -> Result<Vec<Twist<D>>, SolveError> {
        let mut at = position.to_vec();
        let mut pressed = Vec::new();
        for step in 0..self.options.newton_steps.max(1) {
            // After the first step from the corrected positions, where only the error is left.
            if step > 0 {
                for ((at, x), v) in at.iter_mut().zip(position).zip(&*moving) {
                    *at = x + dt * v;
                }
            }
            let (ring_error, total_error) = self.errors(&at);
            if step == 0 {
                report.split += usize::from(self.options.monolithic);
                (report.ring_error, report.total_error) = (ring_error, total_error);
                report.mean_ring_error = self.mean_error();
            }
            let wanted = self.wanted_rates(dt);
            let more = self.project(solid, moving, step == 0, &wanted, 1.0 / dt, kept, report)?;
            pressed.resize(more.len(), Twist::zero());
            pressed.iter_mut().zip(&more).for_each(|(pressed, more)| *pressed += *more);
        }
        Ok(pressed)
    }

    /// For any integrator (spec 3.4, INC-8): changes the positions `predicted` (m) for the end of a step of `dt` seconds from `position` so that the rings have their volumes at rest, to second order in what
    /// has to be changed. No velocity changes; [`Self::correct_velocity`] is for that which the integrator carries. Returns the displacements of the rigid bodies that are pushed on, as twists over
    /// the step.
    ///
    /// # Errors
    /// Values that are not finite.
    pub fn correct_positions(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        predicted: &mut [f64],
        dt: f64,
        kept: &Kept<D>,
        report: &mut IncompressibleReport,
    ) -> Result<Vec<Twist<D>>, SolveError> {
        let mut moving: Vec<f64> =
            predicted.iter().zip(position).map(|(new, old)| (new - old) / dt).collect();
        let pressed = self.correct_motion(solid, position, &mut moving, dt, kept, report)?;
        for ((to, from), v) in predicted.iter_mut().zip(position).zip(&moving) {
            *to = from + dt * v;
        }
        Ok(pressed)
    }

    /// Removes the change of volume from `velocity`, with the rings at `position`. Returns the changes of the twists of the rigid bodies that are pushed on.
    ///
    /// # Errors
    /// Values that are not finite.
    pub fn correct_velocity(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        velocity: &mut [f64],
        kept: &Kept<D>,
        report: &mut IncompressibleReport,
    ) -> Result<Vec<Twist<D>>, SolveError> {
        report.split += usize::from(self.options.monolithic);
        self.rings.update(position);
        let before = self.divergence(velocity);
        let pressed = self.project(solid, velocity, true, &vec![0.0; self.rings.len()], 0.0, kept, report)?;
        report.divergence = [before, self.divergence(velocity)];
        Ok(pressed)
    }

    /// Largest rate (1/s) at which `velocity` changes a ring's volume, relative to that at rest, with the rings at their last positions.
    fn divergence(&self, velocity: &[f64]) -> f64 {
        let mut rates = vec![0.0; self.rings.len()];
        self.rings.apply(velocity, &mut rates);
        rates.iter().zip(self.rings.rest()).map(|(rate, rest)| (rate / rest).abs()).fold(0.0, f64::max)
    }

    /// Mean relative error of the rings' volumes at their last positions.
    fn mean_error(&self) -> f64 {
        let rings = self.rings.ring_volumes();
        let errors = rings.iter().zip(self.rings.rest()).map(|(now, rest)| (now / rest - 1.0).abs());
        errors.sum::<f64>() / self.rings.len().max(1) as f64
    }

    #[allow(clippy::too_many_arguments)] // two of them are numbers of one equation
    /// The smallest change (by kinetic energy) after which the rings change by `wanted` (m^D/s); if not `counted`, the velocity itself changes nothing. Rates below rounding of
    /// `rate_of_rest` (1/s) times the volumes at rest count as none.
    fn project(
        &mut self,
        solid: &Solid<D>,
        velocity: &mut [f64],
        counted: bool,
        wanted: &[f64],
        rate_of_rest: f64,
        kept: &Kept<D>,
        report: &mut IncompressibleReport,
    ) -> Result<Vec<Twist<D>>, SolveError> {
        let inverse_mass = solid.inverse_masses();
        let objects = Constraints::new(solid.pinned(), kept.touches);
        let sweeps = self.sweeps(kept, &objects, &inverse_mass);
        let bodies = kept.bodies.map(|bodies| MovedBodies::new(&bodies, solid.masses()));
        let system = System {
            rings: &self.rings,
            pairs: if sweeps.is_some() { &[] } else { kept.pairs },
            kept: sweeps.as_ref().map_or(system::Kept::Objects(&objects), system::Kept::Swept),
            bodies: bodies.as_ref(),
            inverse_mass: &inverse_mass,
        };
        let mut rhs = vec![0.0; system.rows()];
        if counted {
            self.rings.apply(velocity, &mut rhs[..wanted.len()]);
        }
        for (rhs, wanted) in rhs.iter_mut().zip(wanted) {
            *rhs -= wanted;
        }
        // Rates that no pressure can bring about: only the clamp asks for them.
        self.rings.remove_null_modes(&mut rhs);
        let mut preconditioner = Jacobi::new(&system.diagonal())?;
        // Rows of rings of all sizes and of pairs count alike.
        let weights = preconditioner.inverse_diagonal().to_vec();
        let mut tolerance = self.options.tolerance;
        if let Some(sweeps) = &sweeps {
            // A Krylov method driven below what the sweeps leave finds the forbidden directions and amplifies them.
            let leak = leak(&self.rings, &inverse_mass, &objects, sweeps, &rhs);
            report.leak = report.leak.max(leak);
            report.loosened += usize::from(tolerance < leak);
            tolerance = tolerance.max(leak);
        }
        // Below what rounding leaves of the rates there is nothing to solve for, and a singular system would only grow.
        let speed = if counted { velocity.iter().fold(0.0f64, |most, v| most.max(v.abs())) } else { 0.0 };
        let rates = self.rings.rest().iter().zip(wanted).zip(&weights).map(|((rest, wanted), weight)| {
            let rate = rest.abs().powf((D as f64 - 1.0) / D as f64) * speed
                + wanted.abs().max(rest.abs() * rate_of_rest);
            weight * rate * rate
        });
        let stopping = Stopping {
            max_iterations: self.options.max_iterations,
            absolute: ROUNDING * rates.sum::<f64>().sqrt(),
            ..Stopping::relative(tolerance)
        };
        let mut pressure = vec![0.0; rhs.len()];
        let solver = self.options.solver;
        // Minimal residuals know the norm that is asked for, and need not look further.
        let exact = solver == PressureSolver::MinimalResiduals;
        let mut stall = Stall::default();
        let mut watch = |progress: Progress| {
            let done = exact && progress.residual <= progress.target;
            if done { ControlFlow::Break(()) } else { stall.watch(progress) }
        };
        let mut iteration = Iteration { stopping, weights: Some(&weights), monitor: Some(&mut watch) };
        let solve = match solver {
            PressureSolver::MinimalResiduals => minres,
            PressureSolver::ConjugateGradients => pcg,
        };
        let solved =
            solve(&system, &mut preconditioner, &rhs, &mut pressure, &mut iteration, &mut self.workspace)?;
        report.iterations += solved.iterations;
        // The recurrence may differ from the true residual in the last digits.
        let reached = solved.outcome.converged() || solved.relative_residual() <= 1.01 * tolerance;
        report.unfinished += usize::from(!reached);
        let mut change = vec![0.0; velocity.len()];
        let mut pressed = system.push(&pressure, &mut change);
        pressed.iter_mut().for_each(|twist| *twist = *twist * -1.0);
        for (velocity, change) in velocity.iter_mut().zip(&change) {
            *velocity -= change;
        }
        pressure.truncate(self.rings.len());
        self.keep_pressures(pressure, report);
        Ok(pressed)
    }

    /// Keeps the pressures of a solve for diagnosis, without what pushes nothing.
    fn keep_pressures(&mut self, mut pressure: Vec<f64>, report: &mut IncompressibleReport) {
        let size = |p: &[f64]| p.iter().map(|p| p * p).sum::<f64>().sqrt();
        let whole = pressure.clone();
        self.rings.remove_null_modes(&mut pressure);
        let null: Vec<f64> = whole.iter().zip(&pressure).map(|(all, kept)| all - kept).collect();
        report.null_part = if size(&whole) > 0.0 { size(&null) / size(&whole) } else { 0.0 };
        self.pressures = pressure;
    }
}

/// Part of the velocity of pairs that sweeps leave of what the pressures `rates` would push them with.
fn leak<const D: usize>(
    rings: &Rings<D>,
    inverse_mass: &[f64],
    objects: &Constraints<D>,
    sweeps: &Sweeps<D>,
    rates: &[f64],
) -> f64 {
    let mut velocity = vec![0.0; D * inverse_mass.len()];
    rings.add_transpose(rates, &mut velocity);
    system::divide_by_mass::<D>(inverse_mass, &mut velocity);
    objects.filter(&mut velocity);
    let before = sweeps.violation(&velocity);
    sweeps.filter(&mut velocity);
    if before > 0.0 { (sweeps.violation(&velocity) / before).min(1.0) } else { 0.0 }
}
