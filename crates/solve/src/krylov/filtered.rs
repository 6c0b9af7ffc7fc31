//! Conjugate gradients on a constrained subspace: the modified PCG of Baraff and Witkin (1998), with the correction of Ascher and Boxerman (2003).

use super::pcg::ZERO_CURVATURE;
use super::{Iteration, KrylovReport, Outcome, Patience, Progress, Workspace, check_input};
use crate::{LinearOperator, Preconditioner, SolveError, vector};

/// An orthogonal projection `S = S^T = S^2` onto the directions that constraints leave free.
pub trait ConstraintFilter: Sync {
    /// `v <- S v`: removes the constrained components, for example the normal component of a node in contact.
    fn filter(&self, v: &mut [f64]);
}

/// Minimises `x^T A x / 2 - b^T x` over `x` with `(I - S) x = (I - S) x0`, where `solution` holds `x0` on entry.
///
/// The constrained part of the initial guess is what the constraints prescribe; it is kept to the bit when the filter is exact.
/// The preconditioned residual and every search direction are filtered, so that the method is conjugate gradients on the range of `S`.
/// The residual of the report is that of the free directions, `S (b - A x)`.
///
/// # Errors
/// Sizes that do not fit, input that is not finite, negative tolerances or weights.
pub fn filtered_pcg(
    operator: &dyn LinearOperator,
    preconditioner: &mut dyn Preconditioner,
    filter: &dyn ConstraintFilter,
    rhs: &[f64],
    solution: &mut [f64],
    iteration: &mut Iteration,
    workspace: &mut Workspace,
) -> Result<KrylovReport, SolveError> {
    check_input(operator, rhs, solution, iteration)?;
    let [r, z, p, q] = workspace.take(rhs.len());
    let stopping = iteration.stopping;
    let free_residual = |solution: &[f64], r: &mut [f64]| {
        super::residual(operator, rhs, solution, r);
        filter.filter(r);
    };

    // Scale of the relative tolerance: the free part of the right-hand side.
    r.copy_from_slice(rhs);
    filter.filter(r);
    let rhs_norm = iteration.norm(r);
    free_residual(solution, r);
    let initial_residual = iteration.norm(r);
    // With everything prescribed, or forces only along constraints, the initial residual is the scale.
    let scale = if rhs_norm > 0.0 { rhs_norm } else { initial_residual };
    let target = (stopping.relative * scale).max(stopping.absolute);
    let mut report = KrylovReport {
        outcome: Outcome::MaxIterations,
        iterations: 0,
        residual: initial_residual,
        rhs_norm: scale,
        initial_residual,
    };
    let mut patience = Patience::new(initial_residual, stopping.patience);
    let (mut rz, mut p_energy) = (0.0, 0.0);
    let mut largest_rayleigh: f64 = 0.0;
    let mut restarts = 0;
    loop {
        if !report.residual.is_finite() {
            report.outcome = Outcome::NotFinite;
            return Ok(report);
        }
        if report.residual <= target {
            free_residual(solution, r);
            report.residual = iteration.norm(r);
            if report.residual <= target {
                report.outcome = Outcome::Converged;
                return Ok(report);
            }
            restarts += 1;
            if restarts > 4 {
                report.outcome = Outcome::Stagnated;
                return Ok(report);
            }
            rz = 0.0;
        }
        if report.iterations >= stopping.max_iterations {
            break;
        }
        preconditioner.apply(r, z);
        filter.filter(z);
        let rz_new = vector::dot(r, z);
        if rz_new <= 0.0 || !rz_new.is_finite() {
            report.outcome =
                if rz_new.is_finite() { Outcome::IndefinitePreconditioner } else { Outcome::NotFinite };
            break;
        }
        if rz == 0.0 {
            p.copy_from_slice(z);
            p_energy = rz_new;
        } else {
            let beta = rz_new / rz;
            vector::xpby(z, beta, p);
            p_energy = rz_new + beta * beta * p_energy;
        }
        rz = rz_new;
        operator.apply(p, q);
        filter.filter(q);
        let curvature = vector::dot(p, q);
        if curvature.is_nan() {
            report.outcome = Outcome::NotFinite;
            break;
        }
        let rayleigh = curvature / p_energy;
        largest_rayleigh = largest_rayleigh.max(rayleigh.abs());
        if rayleigh <= ZERO_CURVATURE * largest_rayleigh {
            report.outcome = if rayleigh < -ZERO_CURVATURE * largest_rayleigh {
                Outcome::NegativeCurvature { relative: rayleigh / largest_rayleigh }
            } else {
                Outcome::Inconsistent
            };
            break;
        }
        report.residual = vector::step_and_norm(rz / curvature, p, q, solution, r, iteration.weights).sqrt();
        report.iterations += 1;
        let progress = Progress { iteration: report.iterations, residual: report.residual, target };
        if iteration.report(progress).is_break() {
            report.outcome = Outcome::Interrupted;
            break;
        }
        if patience.exhausted(report.residual) {
            report.outcome = Outcome::Stagnated;
            break;
        }
    }
    free_residual(solution, r);
    report.residual = iteration.norm(r);
    Ok(report)
}
