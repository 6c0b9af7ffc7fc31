//! Simplified quasi-minimal residuals for symmetric systems (Freund and Nachtigal 1994).

use super::pcg::ZERO_CURVATURE;
use super::{Iteration, KrylovReport, Outcome, Patience, Progress, Workspace};
use super::{check_input, in_null_space, residual};
use crate::{LinearOperator, Preconditioner, SolveError, vector};

/// Restarts from the true residual, after a breakdown or when the recurrence drifted.
const RESTARTS: usize = 6;

/// Solves `A x = b` for symmetric `A` with a symmetric preconditioner that, unlike that of [`super::minres`], may be indefinite.
///
/// This makes constraint preconditioners and incomplete `L D L^T` factors usable. The price is a recurrence that can break down; it then
/// restarts from the true residual, and reports [`Outcome::Breakdown`] if that does not help.
///
/// # Errors
/// Sizes that do not fit, input that is not finite, negative tolerances or weights.
pub fn symqmr(
    operator: &dyn LinearOperator,
    preconditioner: &mut dyn Preconditioner,
    rhs: &[f64],
    solution: &mut [f64],
    iteration: &mut Iteration,
    workspace: &mut Workspace,
) -> Result<KrylovReport, SolveError> {
    check_input(operator, rhs, solution, iteration)?;
    let stopping = iteration.stopping;
    let rhs_norm = iteration.norm(rhs);
    let target = (stopping.relative * rhs_norm).max(stopping.absolute);
    let [r, t, q, d, s, image] = workspace.take(rhs.len());

    residual(operator, rhs, solution, r);
    let initial_residual = iteration.norm(r);
    let mut report = KrylovReport {
        outcome: Outcome::MaxIterations,
        iterations: 0,
        residual: initial_residual,
        rhs_norm,
        initial_residual,
    };
    let mut operator_scale: f64 = 0.0;

    for _ in 0..=RESTARTS {
        if !report.residual.is_finite() {
            report.outcome = Outcome::NotFinite;
            return Ok(report);
        }
        if report.residual <= target {
            report.outcome = Outcome::Converged;
            return Ok(report);
        }
        let before = report.residual;
        let mut ended = None;
        // s: the quasi-minimal residual b - A x, updated alongside x; it gives the true norm without another product.
        s.copy_from_slice(r);
        d.fill(0.0);
        preconditioner.apply(r, q);
        let mut rho = vector::dot(r, q);
        // Size of q in the inner product of the preconditioner, as in conjugate gradients.
        let mut q_energy = rho.abs();
        let mut tau = vector::norm(r);
        let mut theta_old = 0.0;
        let mut patience = Patience::new(before, stopping.patience);
        // image = A d, by the recurrence of d.
        image.fill(0.0);
        while report.iterations < stopping.max_iterations {
            operator.apply(q, t);
            let sigma = vector::dot(q, t);
            if !sigma.is_finite() {
                ended = Some(Outcome::NotFinite);
                break;
            }
            let rayleigh = (sigma / q_energy).abs();
            operator_scale = operator_scale.max(rayleigh);
            if rayleigh <= ZERO_CURVATURE * operator_scale || rho == 0.0 {
                ended = Some(Outcome::Breakdown);
                break;
            }
            let alpha = rho / sigma;
            vector::axpy(-alpha, t, r);
            let theta = vector::norm(r) / tau;
            let cosine2 = 1.0 / (1.0 + theta * theta);
            tau *= theta * cosine2.sqrt();
            let keep = cosine2 * theta_old * theta_old;
            for i in 0..d.len() {
                d[i] = keep * d[i] + cosine2 * alpha * q[i];
                image[i] = keep * image[i] + cosine2 * alpha * t[i];
            }
            vector::axpy(1.0, d, solution);
            vector::axpy(-1.0, image, s);
            theta_old = theta;
            report.iterations += 1;
            report.residual = iteration.norm(s);
            let progress = Progress { iteration: report.iterations, residual: report.residual, target };
            if iteration.report(progress).is_break() {
                ended = Some(Outcome::Interrupted);
                break;
            }
            if report.residual <= target || !report.residual.is_finite() {
                break;
            }
            if patience.exhausted(report.residual) {
                ended = Some(Outcome::Stagnated);
                break;
            }
            preconditioner.apply(r, t);
            let rho_new = vector::dot(r, t);
            let beta = rho_new / rho;
            vector::xpby(t, beta, q);
            q_energy = rho_new.abs() + beta * beta * q_energy;
            rho = rho_new;
        }
        residual(operator, rhs, solution, r);
        report.residual = iteration.norm(r);
        if report.residual <= target {
            report.outcome = Outcome::Converged;
            return Ok(report);
        }
        let out_of_iterations = report.iterations >= stopping.max_iterations;
        let retry = matches!(ended, None | Some(Outcome::Breakdown)) && !out_of_iterations;
        if !retry || report.residual > 0.5 * before {
            report.outcome =
                ended.unwrap_or(if out_of_iterations { Outcome::MaxIterations } else { Outcome::Stagnated });
            let gave_up = !matches!(report.outcome, Outcome::Interrupted | Outcome::NotFinite);
            if gave_up && in_null_space(operator, preconditioner, r, operator_scale, [t, q, d]) {
                report.outcome = Outcome::Inconsistent;
            }
            return Ok(report);
        }
    }
    report.outcome = Outcome::Stagnated;
    Ok(report)
}
