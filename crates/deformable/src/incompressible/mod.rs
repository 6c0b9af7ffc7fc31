//! Solids that keep their volume: one pressure for the ring of simplices around each node, and two projections a step (spec/incompressible-solids.md).
//!
//! - **Positions**: the velocity that moves them is changed so that the ring volumes become those at rest again (one Newton step, [`Incompressible::correct_motion`]).
//! - **Velocities**: their change of volume is removed ([`Incompressible::correct_velocity`]).
//!
//! Both leave alone what touches: rows that keep the normal velocity of contacts are part of the same system, so that nothing has to be swept.
//! The material never sees any of this; Poisson's ratio 0 suits it best.

mod null_modes;
mod rings;
#[cfg(test)]
mod tests;

pub use rings::Rings;

use crate::collide::Touch;
use crate::contact::ContactRow;
use crate::integrate::Constraints;
use crate::solid::Solid;
use splashdown_solve::{
    ConstraintFilter, Iteration, Jacobi, LinearOperator, Progress, SolveError, Stopping, Workspace, minres,
};
use std::ops::ControlFlow;

/// Relative rounding of volumes and rates.
const ROUNDING: f64 = 1e-14;

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
}

impl Default for IncompressibleOptions {
    fn default() -> Self {
        Self {
            recovery_time: 0.0,
            tolerance: 1e-2,
            max_iterations: 500,
            newton_steps: 1,
            contact_in_prediction: false,
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
    /// Relative error of the whole volume before the step.
    pub total_error: f64,
    /// Solves that stopped at their most iterations.
    pub unfinished: usize,
}

/// The incompressible bodies of a solid.
#[derive(Debug, Clone)]
pub struct Incompressible<const D: usize> {
    rings: Rings<D>,
    /// Pressures of the last solve, for diagnosis only.
    pressures: Vec<f64>,
    /// Options.
    pub options: IncompressibleOptions,
}

/// What must not be changed by a pressure: pins, particles on objects, pairs in contact.
pub struct Kept<'a, const D: usize> {
    /// Contacts with objects.
    pub touches: &'a [Touch<D>],
    /// Contacts of the bodies with each other and themselves.
    pub pairs: &'a [ContactRow<D>],
}

impl<const D: usize> Incompressible<D> {
    /// Keeps the volumes of `rings`.
    pub fn new(rings: Rings<D>, options: IncompressibleOptions) -> Self {
        Self { rings, pressures: Vec::new(), options }
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

    /// Changes the velocity `moving` so that `position + dt moving` has the ring volumes of the rest state, to second order in what has to be changed.
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
    ) -> Result<(), SolveError> {
        let mut at = position.to_vec();
        for step in 0..self.options.newton_steps.max(1) {
            // After the first step from the corrected positions, where only the error is left.
            if step > 0 {
                for ((at, x), v) in at.iter_mut().zip(position).zip(&*moving) {
                    *at = x + dt * v;
                }
            }
            let (ring_error, total_error) = self.errors(&at);
            if step == 0 {
                (report.ring_error, report.total_error) = (ring_error, total_error);
            }
            let fastest = if self.options.recovery_time > 0.0 {
                1.0 / self.options.recovery_time
            } else {
                f64::INFINITY
            };
            let volumes = self.rings.ring_volumes();
            let wanted: Vec<f64> = volumes
                .iter()
                .zip(self.rings.rest())
                .map(|(now, rest)| ((rest - now) / dt).clamp(-rest.abs() * fastest, rest.abs() * fastest))
                .collect();
            self.project(solid, moving, step == 0, &wanted, 1.0 / dt, kept, report)?;
        }
        Ok(())
    }

    /// Removes the change of volume from `velocity`, with the rings at `position`.
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
    ) -> Result<(), SolveError> {
        self.rings.update(position);
        self.project(solid, velocity, true, &vec![0.0; self.rings.len()], 0.0, kept, report)
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
    ) -> Result<(), SolveError> {
        let inverse_mass = solid.inverse_masses();
        let system = System {
            rings: &self.rings,
            pairs: kept.pairs,
            constraints: Constraints::new(solid.pinned(), kept.touches),
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
        let mut diagonal = self.rings.diagonal(&inverse_mass);
        diagonal.extend(kept.pairs.iter().map(|pair| {
            let own = |(&node, &weight): (&u32, &f64)| weight * weight * inverse_mass[node as usize];
            pair.nodes.iter().zip(&pair.weights).map(own).sum::<f64>()
        }));
        // A ring that nothing can move has no equation.
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        diagonal.iter_mut().for_each(|value| *value = value.max(1e-12 * largest).max(f64::MIN_POSITIVE));
        let mut preconditioner = Jacobi::new(&diagonal)?;
        // Below what rounding leaves of the rates there is nothing to solve for, and a singular system would only grow.
        let speed = if counted { velocity.iter().fold(0.0f64, |most, v| most.max(v.abs())) } else { 0.0 };
        let rates = self.rings.rest().iter().zip(wanted).map(|(rest, wanted)| {
            rest.abs().powf((D as f64 - 1.0) / D as f64) * speed + wanted.abs().max(rest.abs() * rate_of_rest)
        });
        let stopping = Stopping {
            max_iterations: self.options.max_iterations,
            absolute: ROUNDING * rates.map(|rate| rate * rate).sum::<f64>().sqrt(),
            ..Stopping::relative(self.options.tolerance)
        };
        let mut pressure = vec![0.0; rhs.len()];
        let mut stall = Stall::default();
        let mut watch = |progress: Progress| stall.watch(progress);
        let mut iteration = Iteration { monitor: Some(&mut watch), ..Iteration::new(stopping) };
        let solved = minres(
            &system,
            &mut preconditioner,
            &rhs,
            &mut pressure,
            &mut iteration,
            &mut Workspace::default(),
        )?;
        report.iterations += solved.iterations;
        report.unfinished += usize::from(!solved.outcome.converged());
        let mut change = vec![0.0; velocity.len()];
        system.push(&pressure, &mut change);
        for (velocity, change) in velocity.iter_mut().zip(&change) {
            *velocity -= change;
        }
        pressure.truncate(self.rings.len());
        self.rings.remove_null_modes(&mut pressure);
        self.pressures = pressure;
        Ok(())
    }
}

/// Ends a solve whose residual no longer falls: contacts can ask for what no pressure gives, and the iterate would only grow.
#[derive(Default)]
struct Stall {
    seen: Vec<f64>,
}

impl Stall {
    /// Iterations in which the residual must have fallen by [`Self::FALL`].
    const WINDOW: usize = 50;
    const FALL: f64 = 0.98;

    fn watch(&mut self, progress: Progress) -> ControlFlow<()> {
        self.seen.push(progress.residual);
        let stalled = self
            .seen
            .len()
            .checked_sub(Self::WINDOW + 1)
            .is_some_and(|before| progress.residual > Self::FALL * self.seen[before]);
        if stalled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// `B P M^-1 P B^T` with rows for rings and for pairs in contact; `P` keeps particles on objects.
struct System<'a, const D: usize> {
    rings: &'a Rings<D>,
    pairs: &'a [ContactRow<D>],
    constraints: Constraints<'a, D>,
    inverse_mass: &'a [f64],
}

impl<const D: usize> System<'_, D> {
    /// `out = P M^-1 B^T z`.
    fn push(&self, z: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let (pressure, contact) = z.split_at(self.rings.len());
        self.rings.add_transpose(pressure, out);
        for (pair, z) in self.pairs.iter().zip(contact) {
            for (&node, weight) in pair.nodes.iter().zip(&pair.weights) {
                for axis in 0..D {
                    out[D * node as usize + axis] += z * weight * pair.normal[axis];
                }
            }
        }
        for (out, inverse) in out.chunks_exact_mut(D).zip(self.inverse_mass) {
            out.iter_mut().for_each(|out| *out *= inverse);
        }
        self.constraints.filter(out);
    }
}

impl<const D: usize> LinearOperator for System<'_, D> {
    fn rows(&self) -> usize {
        self.rings.len() + self.pairs.len()
    }

    fn cols(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut velocity = vec![0.0; D * self.inverse_mass.len()];
        self.push(x, &mut velocity);
        let (rings, contact) = y.split_at_mut(self.rings.len());
        self.rings.apply(&velocity, rings);
        for (pair, y) in self.pairs.iter().zip(contact) {
            *y = pair
                .nodes
                .iter()
                .zip(&pair.weights)
                .map(|(&node, weight)| {
                    let along: f64 =
                        (0..D).map(|axis| velocity[D * node as usize + axis] * pair.normal[axis]).sum();
                    weight * along
                })
                .sum();
        }
    }
}
