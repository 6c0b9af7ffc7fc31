//! Damping and volume in one solve (spec/incompressible-solids.md 3.9): with the factor `C` of the damping, `-tau D = C^T C`, and the rows `B` of rings and pairs,
//!
//! ```text
//! [ I + C M^-1 C^T    C M^-1 B^T ] [ u ]   [ C v*     ]
//! [ B M^-1 C^T        B M^-1 B^T ] [ z ] = [ B v* - s ],    v = v* - M^-1 (C^T u + B^T z),
//! ```
//!
//! symmetric positive (semi)definite, so that the new velocity has its damping and meets all rows at once. Particles on objects move along them only: `P M^-1` takes the place of `M^-1`.

use super::system::{Stall, add_rows_transpose, apply_rows, divide_by_mass};
use super::{Incompressible, IncompressibleReport, Kept, Rings, System};
use crate::contact::ContactRow;
use crate::integrate::Constraints;
use crate::solid::Solid;
use splashdown_math::{Dim, Space};
use splashdown_solve::{
    ConstraintFilter, Iteration, Jacobi, LinearOperator, Progress, SolveError, Stopping, minres,
};

/// The velocity that a coupled solve starts from, and over how long damping acts.
pub(crate) struct CoupledStep<'a> {
    /// Velocity after the explicit forces, with contacts kept (m/s).
    pub free: &'a [f64],
    /// Duration (s).
    pub tau: f64,
    /// Relative residual.
    pub tolerance: f64,
}

/// What a coupled solve found.
pub(crate) struct Coupled {
    /// The velocity (m/s) with damping, that meets all rows.
    pub velocity: Vec<f64>,
    /// Impulses (kg m/s) of damping, pressures and pairs on the particles: also what those on objects push these with.
    pub impulse: Vec<f64>,
}

impl<const D: usize> Incompressible<D>
where
    Dim<D>: Space<D>,
{
    /// The velocity over a half step that moves positions so that the rings get back their volumes at rest: the explicit forces are in `step.free`, pairs keep the relative
    /// velocity that they have there.
    pub(crate) fn coupled_motion(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        step: &CoupledStep,
        dt: f64,
        kept: &Kept<D>,
        report: &mut IncompressibleReport,
    ) -> Result<Coupled, SolveError> {
        (report.ring_error, report.total_error) = self.errors(position);
        report.mean_ring_error = self.mean_error();
        let wanted = self.wanted_rates(dt);
        let mut target = vec![0.0; self.rings.len() + kept.pairs.len()];
        apply_rows(&self.rings, kept.pairs, step.free, &mut target);
        target[..wanted.len()].copy_from_slice(&wanted);
        self.coupled(solid, step, &target, kept, report)
    }

    /// The velocity over the second solve of a step, from `start` (m/s) with explicit forces in `step.free`: rows have `share` of the rates that they had at `start`, a half
    /// if the step goes on to twice the change, so that its end has none.
    #[expect(clippy::too_many_arguments, reason = "the parts of one solve")]
    pub(crate) fn coupled_velocity(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        start: &[f64],
        share: f64,
        step: &CoupledStep,
        kept: &Kept<D>,
        report: &mut IncompressibleReport,
    ) -> Result<Coupled, SolveError> {
        self.rings.update(position);
        let mut target = vec![0.0; self.rings.len() + kept.pairs.len()];
        apply_rows(&self.rings, kept.pairs, start, &mut target);
        target[..self.rings.len()].iter_mut().for_each(|rate| *rate *= share);
        let before = self.divergence(step.free);
        let coupled = self.coupled(solid, step, &target, kept, report)?;
        // At the end of the step, on which the velocity goes as far again as it has come.
        let part = 1.0 - share;
        let end: Vec<f64> =
            start.iter().zip(&coupled.velocity).map(|(start, v)| start + (v - start) / part).collect();
        report.divergence = [before, self.divergence(&end)];
        Ok(coupled)
    }

    fn coupled(
        &mut self,
        solid: &Solid<D>,
        step: &CoupledStep,
        target: &[f64],
        kept: &Kept<D>,
        report: &mut IncompressibleReport,
    ) -> Result<Coupled, SolveError> {
        let inverse_mass = solid.inverse_masses();
        let constraints = Constraints::new(solid.pinned(), kept.touches);
        let damping = solid.damping_rows();
        let whole = Whole {
            solid,
            rings: &self.rings,
            pairs: kept.pairs,
            constraints: &constraints,
            inverse_mass: &inverse_mass,
            tau: step.tau,
            damping,
        };
        let mut rhs = vec![0.0; whole.rows()];
        whole.apply_factors(step.free, &mut rhs);
        rhs[damping..].iter_mut().zip(target).for_each(|(rhs, target)| *rhs -= target);
        self.rings.remove_null_modes(&mut rhs[damping..]);
        let mut diagonal = vec![1.0; damping];
        let kept_rows = super::system::Kept::Objects(&constraints);
        diagonal.extend(
            System {
                rings: &self.rings,
                pairs: kept.pairs,
                kept: kept_rows,
                bodies: None,
                inverse_mass: &inverse_mass,
            }
            .diagonal(),
        );
        let mut preconditioner = Jacobi::new(&diagonal)?;
        // Rows of damping and of volume have different units.
        let weights = preconditioner.inverse_diagonal().to_vec();
        let size =
            step.free.iter().zip(inverse_mass.iter().flat_map(|inverse| std::iter::repeat_n(inverse, D)));
        let energy: f64 =
            size.filter(|(_, inverse)| **inverse > 0.0).map(|(v, inverse)| v * v / inverse).sum();
        let stopping = Stopping {
            max_iterations: self.options.max_iterations,
            absolute: super::ROUNDING * energy.sqrt(),
            ..Stopping::relative(step.tolerance)
        };
        let mut stall = Stall::default();
        let mut watch = |progress: Progress| stall.watch(progress);
        let mut iteration = Iteration { stopping, weights: Some(&weights), monitor: Some(&mut watch) };
        let mut z = vec![0.0; rhs.len()];
        let solved = minres(&whole, &mut preconditioner, &rhs, &mut z, &mut iteration, &mut self.workspace)?;
        report.iterations += solved.iterations;
        report.unfinished += usize::from(!solved.outcome.converged());
        let mut impulse = vec![0.0; step.free.len()];
        whole.add_transpose(&z, &mut impulse);
        let mut change = impulse.clone();
        divide_by_mass::<D>(&inverse_mass, &mut change);
        constraints.filter(&mut change);
        let velocity = step.free.iter().zip(&change).map(|(free, change)| free - change).collect();
        impulse.iter_mut().for_each(|impulse| *impulse = -*impulse);
        self.keep_pressures(z[damping..damping + self.rings.len()].to_vec(), report);
        Ok(Coupled { velocity, impulse })
    }
}

/// Rows of damping, rings and pairs.
struct Whole<'a, const D: usize> {
    solid: &'a Solid<D>,
    rings: &'a Rings<D>,
    pairs: &'a [ContactRow<D>],
    constraints: &'a Constraints<'a, D>,
    inverse_mass: &'a [f64],
    tau: f64,
    damping: usize,
}

impl<const D: usize> Whole<'_, D> {
    /// `out = (C; B) v`.
    fn apply_factors(&self, velocity: &[f64], out: &mut [f64]) {
        let (mut damping, rows) = out.split_at_mut(self.damping);
        for force in self.solid.forces() {
            let (own, rest) = damping.split_at_mut(force.damping_rows());
            force.apply_factor(velocity, self.tau, own);
            damping = rest;
        }
        apply_rows(self.rings, self.pairs, velocity, rows);
    }

    /// Adds `(C; B)^T z`.
    fn add_transpose(&self, z: &[f64], out: &mut [f64]) {
        let (mut damping, rows) = z.split_at(self.damping);
        for force in self.solid.forces() {
            let (own, rest) = damping.split_at(force.damping_rows());
            force.add_factor_transpose(own, self.tau, out);
            damping = rest;
        }
        add_rows_transpose(self.rings, self.pairs, rows, out);
    }
}

impl<const D: usize> LinearOperator for Whole<'_, D> {
    fn rows(&self) -> usize {
        self.damping + self.rings.len() + self.pairs.len()
    }

    fn cols(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut velocity = vec![0.0; D * self.inverse_mass.len()];
        self.add_transpose(x, &mut velocity);
        divide_by_mass::<D>(self.inverse_mass, &mut velocity);
        self.constraints.filter(&mut velocity);
        self.apply_factors(&velocity, y);
        y[..self.damping].iter_mut().zip(x).for_each(|(y, x)| *y += x);
    }
}
