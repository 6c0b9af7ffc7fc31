//! Minimal residuals (Paige and Saunders 1975), preconditioned.

use super::{Iteration, KrylovReport, Outcome, Patience, Progress, Workspace};
use super::{check_input, in_null_space, residual};
use crate::{LinearOperator, Preconditioner, SolveError, vector};

/// How often the solve may restart because the true residual misses the tolerance that the recurrence met.
const RESTARTS: usize = 6;

/// Solves `A x = b` for symmetric `A`, definite, indefinite or singular, with a positive definite preconditioner.
///
/// `solution` holds the initial guess and receives the result. The recurrence measures the residual in the norm of the preconditioner;
/// the norm of [`Iteration`] is checked on the true residual, and the inner target is tightened until that check holds.
/// A singular system is solved if it is consistent.
///
/// # Errors
/// Sizes that do not fit, input that is not finite, negative tolerances or weights.
pub fn minres(
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
    let mut vectors: [&mut [f64]; 7] = workspace.take(rhs.len());

    residual(operator, rhs, solution, vectors[0]);
    let initial_residual = iteration.norm(vectors[0]);
    let mut report = KrylovReport {
        outcome: Outcome::MaxIterations,
        iterations: 0,
        residual: initial_residual,
        rhs_norm,
        initial_residual,
    };
    let mut operator_scale = 0.0;
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
        // The recurrence sees another norm: aim for the same reduction with a margin.
        let reduction = 0.5 * target / before;
        let mut cycle = Cycle { operator, preconditioner, target, operator_scale: &mut operator_scale };
        let ended = cycle.run(&mut vectors, solution, iteration, reduction, &mut report);
        residual(operator, rhs, solution, vectors[0]);
        report.residual = iteration.norm(vectors[0]);
        if report.residual <= target {
            report.outcome = Outcome::Converged;
            return Ok(report);
        }
        let out_of_iterations = report.iterations >= stopping.max_iterations;
        let no_gain = report.residual.is_finite() && report.residual > 0.5 * before;
        if ended.is_some() || out_of_iterations || no_gain {
            report.outcome =
                ended.unwrap_or(if out_of_iterations { Outcome::MaxIterations } else { Outcome::Stagnated });
            let gave_up = matches!(report.outcome, Outcome::Stagnated | Outcome::MaxIterations);
            let [r, z, image, scratch, ..] = &mut vectors;
            if gave_up && in_null_space(operator, preconditioner, r, operator_scale, [z, image, scratch]) {
                report.outcome = Outcome::Inconsistent;
            }
            return Ok(report);
        }
    }
    report.outcome = Outcome::Stagnated;
    Ok(report)
}

/// `|A r| / (|A| |r|)` at which the residual counts as a null vector: below it, rounding in the Lanczos vectors hides any progress.
const NULL_IMAGE: f64 = 1e-9;

/// Part of the operator's size below which a Lanczos vector is rounding, whose square in the preconditioner's norm may come out negative.
const USED_UP: f64 = 1e-6;

/// One run of the recurrence from a fresh residual.
struct Cycle<'a> {
    operator: &'a dyn LinearOperator,
    preconditioner: &'a mut dyn Preconditioner,
    target: f64,
    operator_scale: &'a mut f64,
}

impl Cycle<'_> {
    /// Runs until the residual in the preconditioner's norm has fallen by `reduction`. `None` means that it did, or that the iterations
    /// are used up. `vectors[0]` holds the residual on entry.
    fn run(
        &mut self,
        vectors: &mut [&mut [f64]; 7],
        solution: &mut [f64],
        iteration: &mut Iteration,
        reduction: f64,
        report: &mut KrylovReport,
    ) -> Option<Outcome> {
        // r_old, r_new: unnormalised Lanczos vectors; y: preconditioned; w, w_old: search directions.
        let [r_new, r_old, y, w, w_old, w_next, v] = vectors;
        self.preconditioner.apply(r_new, y);
        let beta_first = match lanczos_norm(r_new, y) {
            Ok(beta) => beta,
            Err(outcome) => return Some(outcome),
        };
        if beta_first == 0.0 {
            return Some(Outcome::Inconsistent);
        }
        w.fill(0.0);
        w_old.fill(0.0);
        let (mut beta, mut beta_old) = (beta_first, 0.0);
        let (mut delta_bar, mut epsilon) = (0.0, 0.0);
        let (mut cosine, mut sine) = (-1.0, 0.0);
        let mut phi_bar = beta_first;
        let start = report.residual;
        let mut patience = Patience::new(phi_bar, iteration.stopping.patience);
        let mut first = true;

        while report.iterations < iteration.stopping.max_iterations {
            // Lanczos step.
            for (v, y) in v.iter_mut().zip(y.iter()) {
                *v = y / beta;
            }
            self.operator.apply(v, y);
            if !first {
                vector::axpy(-beta / beta_old, r_old, y);
            }
            let alpha = vector::dot(v, y);
            vector::axpy(-alpha / beta, r_new, y);
            // The new unnormalised Lanczos vector is in y; rotate the names by copies (cheap next to the operator).
            r_old.copy_from_slice(r_new);
            r_new.copy_from_slice(y);
            self.preconditioner.apply(r_new, y);
            beta_old = beta;
            beta = match lanczos_norm(r_new, y) {
                Ok(beta) => beta,
                // The space is used up and what is left is rounding: the step ends the cycle.
                Err(Outcome::IndefinitePreconditioner)
                    if -vector::dot(r_new, y) <= (USED_UP * *self.operator_scale).powi(2) =>
                {
                    0.0
                }
                Err(outcome) => return Some(outcome),
            };
            *self.operator_scale = self.operator_scale.max(alpha.abs()).max(beta);

            // Previous rotation, then a new one that makes the tridiagonal matrix upper triangular.
            let epsilon_old = epsilon;
            let delta = cosine * delta_bar + sine * alpha;
            let gamma_bar = sine * delta_bar - cosine * alpha;
            epsilon = sine * beta;
            delta_bar = -cosine * beta;
            let gamma = gamma_bar.hypot(beta);
            // |A r| / |r| of the present residual (Choi, Paige, Saunders 2011): when it vanishes, x is a least-squares solution and
            // a further step would only add a huge null vector.
            let image = gamma_bar.hypot(delta_bar);
            if image <= NULL_IMAGE * *self.operator_scale {
                return Some(Outcome::Inconsistent);
            }
            if !gamma.is_finite() {
                return Some(Outcome::NotFinite);
            }
            cosine = gamma_bar / gamma;
            sine = beta / gamma;
            let phi = cosine * phi_bar;
            phi_bar *= sine;

            for i in 0..w_next.len() {
                w_next[i] = (v[i] - epsilon_old * w_old[i] - delta * w[i]) / gamma;
            }
            vector::axpy(phi, w_next, solution);
            std::mem::swap(w_old, w);
            std::mem::swap(w, w_next);

            report.iterations += 1;
            report.residual = start * phi_bar / beta_first;
            let progress =
                Progress { iteration: report.iterations, residual: report.residual, target: self.target };
            if iteration.report(progress).is_break() {
                return Some(Outcome::Interrupted);
            }
            if phi_bar <= reduction * beta_first || beta == 0.0 {
                return None;
            }
            if patience.exhausted(phi_bar) {
                return Some(Outcome::Stagnated);
            }
            first = false;
        }
        None
    }
}

/// `sqrt(r^T y)` for `y = M^-1 r`.
fn lanczos_norm(r: &[f64], y: &[f64]) -> Result<f64, Outcome> {
    let square = vector::dot(r, y);
    if square.is_nan() || square.is_infinite() {
        return Err(Outcome::NotFinite);
    }
    if square < 0.0 {
        return Err(Outcome::IndefinitePreconditioner);
    }
    Ok(square.sqrt())
}
