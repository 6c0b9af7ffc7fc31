//! Preconditioned conjugate gradients.

use super::{Iteration, KrylovReport, Outcome, Patience, Progress, Workspace};
use super::{check_input, in_null_space, residual};
use crate::{LinearOperator, Preconditioner, SolveError, vector};

/// Restarts from the true residual after which a solve that still misses its tolerance counts as stagnated.
const RESTARTS: usize = 4;
/// Rayleigh quotient of the preconditioned operator, relative to the largest seen, that is rounding of zero: a null direction.
pub(super) const ZERO_CURVATURE: f64 = 1e-14;

/// Solves `A x = b` for symmetric positive (semi)definite `A` and positive definite preconditioner.
///
/// `solution` holds the initial guess and receives the result. A semidefinite system is solved if it is consistent.
/// Before it reports [`Outcome::Converged`], the true residual is computed; if rounding let the recurrence drift, the iteration
/// restarts from the true residual. Per iteration: one operator, one preconditioner, two or three reductions.
///
/// # Errors
/// Sizes that do not fit, input that is not finite, negative tolerances or weights.
pub fn pcg(
    operator: &dyn LinearOperator,
    preconditioner: &mut dyn Preconditioner,
    rhs: &[f64],
    solution: &mut [f64],
    iteration: &mut Iteration,
    workspace: &mut Workspace,
) -> Result<KrylovReport, SolveError> {
    check_input(operator, rhs, solution, iteration)?;
    let [r, z, p, q] = workspace.take(rhs.len());
    let stopping = iteration.stopping;
    let rhs_norm = iteration.norm(rhs);
    let target = (stopping.relative * rhs_norm).max(stopping.absolute);

    residual(operator, rhs, solution, r);
    let initial_residual = iteration.norm(r);
    let mut report = KrylovReport {
        outcome: Outcome::MaxIterations,
        iterations: 0,
        residual: initial_residual,
        rhs_norm,
        initial_residual,
    };
    let mut patience = Patience::new(initial_residual, stopping.patience);
    // p^T M p of the present direction, and the largest p^T A p / p^T M p: a scale that does not depend on units.
    let mut p_energy = 0.0;
    let mut largest_rayleigh: f64 = 0.0;
    let mut true_residual_at_restart = f64::INFINITY;
    let mut restarts = 0;
    // r^T z of the previous iteration; zero makes the next direction the preconditioned residual itself.
    let mut rz = 0.0;

    loop {
        if !report.residual.is_finite() {
            report.outcome = Outcome::NotFinite;
            return Ok(report);
        }
        if report.residual <= target {
            residual(operator, rhs, solution, r);
            report.residual = iteration.norm(r);
            if report.residual <= target {
                report.outcome = Outcome::Converged;
                return Ok(report);
            }
            // The recurrence drifted. Go on from the truth, as long as that still gains a factor of two.
            restarts += 1;
            if restarts > RESTARTS || report.residual > 0.5 * true_residual_at_restart {
                report.outcome = Outcome::Stagnated;
                return Ok(report);
            }
            true_residual_at_restart = report.residual;
            rz = 0.0;
        }
        if report.iterations >= stopping.max_iterations {
            break;
        }

        preconditioner.apply(r, z);
        let rz_new = vector::dot(r, z);
        if rz_new <= 0.0 || !rz_new.is_finite() {
            report.outcome = match rz_new {
                value if !value.is_finite() => Outcome::NotFinite,
                // z = 0 for r != 0: the residual is in the part that a projecting preconditioner removes.
                0.0 if vector::max_norm(z) == 0.0 => Outcome::Inconsistent,
                _ => Outcome::IndefinitePreconditioner,
            };
            break;
        }
        if rz == 0.0 {
            p.copy_from_slice(z);
            p_energy = rz_new;
        } else {
            let beta = rz_new / rz;
            vector::xpby(z, beta, p);
            // r is orthogonal to the previous direction, so the cross term vanishes.
            p_energy = rz_new + beta * beta * p_energy;
        }
        rz = rz_new;

        operator.apply(p, q);
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

        let alpha = rz / curvature;
        report.residual = vector::step_and_norm(alpha, p, q, solution, r, iteration.weights).sqrt();
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

    residual(operator, rhs, solution, r);
    report.residual = iteration.norm(r);
    let gave_up = matches!(report.outcome, Outcome::Stagnated | Outcome::MaxIterations);
    if gave_up && in_null_space(operator, preconditioner, r, largest_rayleigh, [z, p, q]) {
        report.outcome = Outcome::Inconsistent;
    }
    Ok(report)
}
