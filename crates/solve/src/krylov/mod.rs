//! Krylov solvers: [`pcg`] for positive (semi)definite operators, [`minres`] and [`symqmr`] for symmetric indefinite ones, and
//! [`filtered_pcg`] for positive definite operators on a constrained subspace.
//!
//! All of them take an [`Iteration`] (when to stop, in which norm, who watches) and a [`Workspace`] that is allocated once.
//! Wrong input is a [`SolveError`]; a solve that ran but did not arrive is an [`Outcome`] that says why.

mod filtered;
mod minres;
mod pcg;
mod symqmr;

pub use filtered::{ConstraintFilter, filtered_pcg};
pub use minres::minres;
pub use pcg::pcg;
pub use symqmr::symqmr;

use crate::error::{check_finite, check_not_negative, check_size};
use crate::{LinearOperator, Preconditioner, SolveError, vector};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// When an iteration ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// Residual norm relative to that of the right-hand side.
    pub relative: f64,
    /// Residual norm at which the solve is done whatever the right-hand side.
    pub absolute: f64,
    /// Most applications of the operator.
    pub max_iterations: usize,
    /// Iterations without a new smallest residual after which the solve is given up as stagnated. Conjugate gradients shrink the error,
    /// not the residual, and may need as many iterations as the domain has cells across before the residual falls: be generous.
    pub patience: usize,
}

impl Default for Stopping {
    /// The tolerance of spec/fluid-structure.md section 4: 1e-8 relative, at most 3000 iterations.
    fn default() -> Self {
        Self { relative: 1e-8, absolute: 0.0, max_iterations: 3000, patience: 3000 }
    }
}

impl Stopping {
    /// The default with another relative tolerance.
    pub fn relative(tolerance: f64) -> Self {
        Self { relative: tolerance, ..Self::default() }
    }

    fn check(&self) -> Result<(), SolveError> {
        check_not_negative("stopping tolerances (relative, absolute)", &[self.relative, self.absolute])
    }
}

/// What a monitor sees after each iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Iterations done.
    pub iteration: usize,
    /// Present residual norm (the solver's own estimate).
    pub residual: f64,
    /// Norm at which the solve will stop.
    pub target: f64,
}

/// A watcher of the iteration; `Break` interrupts the solve.
pub type Monitor<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// How to iterate: when to stop, in which norm, and who watches.
#[derive(Default)]
pub struct Iteration<'a> {
    /// When to stop.
    pub stopping: Stopping,
    /// Weights `w` of the norm `sqrt(sum w r^2)` of the stopping test; `None` is the Euclidean norm. The inverse diagonal of the
    /// operator makes it independent of the units of the rows, as systems that mix pressures and impulses need.
    pub weights: Option<&'a [f64]>,
    /// Called after every iteration.
    pub monitor: Option<Monitor<'a>>,
}

impl Iteration<'_> {
    /// Euclidean norm, no monitor.
    pub fn new(stopping: Stopping) -> Self {
        Self { stopping, weights: None, monitor: None }
    }

    fn norm(&self, r: &[f64]) -> f64 {
        match self.weights {
            None => vector::norm(r),
            Some(weights) => vector::weighted_dot(weights, r, r).sqrt(),
        }
    }

    fn report(&mut self, progress: Progress) -> ControlFlow<()> {
        self.monitor.as_mut().map_or(ControlFlow::Continue(()), |monitor| monitor(progress))
    }
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The true residual, computed anew from the solution, meets the tolerance.
    Converged,
    /// The iterations ran out; more of them or a better preconditioner would go on.
    MaxIterations,
    /// The residual no longer falls: the tolerance is below what rounding allows, or the preconditioner is not symmetric.
    Stagnated,
    /// The residual that is left lies in the null space of the operator: no solution exists.
    Inconsistent,
    /// `p^T A p < 0`: the operator is not positive semidefinite, so conjugate gradients do not apply.
    NegativeCurvature {
        /// Rayleigh quotient of the preconditioned operator relative to the largest seen.
        relative: f64,
    },
    /// `r^T M^-1 r < 0`: the preconditioner is not positive definite.
    IndefinitePreconditioner,
    /// The operator or the preconditioner returned NaN or infinity.
    NotFinite,
    /// An inner product by which the method divides vanished (only [`symqmr`], whose short recurrence can break down).
    Breakdown,
    /// The monitor asked to stop.
    Interrupted,
}

impl Outcome {
    /// Did the solve meet its tolerance?
    pub fn converged(self) -> bool {
        self == Self::Converged
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Converged => write!(f, "converged"),
            Self::MaxIterations => write!(f, "ran out of iterations"),
            Self::Stagnated => write!(f, "stagnated: the residual no longer falls"),
            Self::Inconsistent => write!(f, "inconsistent: the right-hand side has a part in the null space"),
            Self::NegativeCurvature { relative } => {
                write!(f, "the operator is not positive semidefinite (relative curvature {relative:.1e})")
            }
            Self::IndefinitePreconditioner => write!(f, "the preconditioner is not positive definite"),
            Self::NotFinite => write!(f, "NaN or infinity in the iteration"),
            Self::Breakdown => write!(f, "the recurrence broke down"),
            Self::Interrupted => write!(f, "interrupted"),
        }
    }
}

/// What a Krylov solver did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KrylovReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Iterations done.
    pub iterations: usize,
    /// Norm of the true residual `b - A x` at the end, in the norm of the stopping test.
    pub residual: f64,
    /// Norm of the right-hand side, the scale of the relative tolerance.
    pub rhs_norm: f64,
    /// Norm of the residual of the initial guess.
    pub initial_residual: f64,
}

impl KrylovReport {
    /// Residual relative to the right-hand side; zero when both vanish.
    pub fn relative_residual(&self) -> f64 {
        if self.residual == 0.0 { 0.0 } else { self.residual / self.rhs_norm }
    }
}

/// Vectors that a Krylov solver needs besides the solution; grows to the largest system seen and is then reused.
#[derive(Debug, Default, Clone)]
pub struct Workspace {
    vectors: Vec<Vec<f64>>,
}

impl Workspace {
    /// `N` vectors of length `len`, contents unspecified.
    pub(crate) fn take<const N: usize>(&mut self, len: usize) -> [&mut [f64]; N] {
        if self.vectors.len() < N {
            self.vectors.resize_with(N, Vec::new);
        }
        for vector in &mut self.vectors[..N] {
            vector.resize(len, 0.0);
        }
        let mut vectors = self.vectors.iter_mut();
        std::array::from_fn(|_| vectors.next().expect("resized to at least N above").as_mut_slice())
    }
}

/// Sizes, finiteness and tolerances: what every solver checks before it starts.
fn check_input(
    operator: &dyn LinearOperator,
    rhs: &[f64],
    solution: &[f64],
    iteration: &Iteration,
) -> Result<(), SolveError> {
    check_size("columns of a symmetric operator", operator.cols(), operator.rows())?;
    check_size("right-hand side", rhs.len(), operator.rows())?;
    check_size("solution", solution.len(), operator.rows())?;
    check_finite("right-hand side", rhs)?;
    check_finite("initial guess", solution)?;
    if let Some(weights) = iteration.weights {
        check_size("weights of the norm", weights.len(), operator.rows())?;
        check_not_negative("weights of the norm", weights)?;
    }
    iteration.stopping.check()
}

/// Keeps the smallest residual and says when too many iterations went by without a smaller one.
struct Patience {
    best: f64,
    since: usize,
    limit: usize,
}

impl Patience {
    fn new(initial: f64, limit: usize) -> Self {
        Self { best: initial, since: 0, limit }
    }

    fn exhausted(&mut self, residual: f64) -> bool {
        if residual < self.best {
            self.best = residual;
            self.since = 0;
        } else {
            self.since += 1;
        }
        self.since >= self.limit
    }
}

/// `r = b - A x`.
fn residual(operator: &dyn LinearOperator, rhs: &[f64], solution: &[f64], r: &mut [f64]) {
    if solution.iter().all(|x| *x == 0.0) {
        // Most solves start there, and applying the operator once more is a good part of a short one.
        r.copy_from_slice(rhs);
        return;
    }
    operator.apply(solution, r);
    vector::subtract_from(rhs, r);
}

/// Does the residual lie in the null space, so that no further iteration can reduce it?
///
/// With `z = M^-1 r` this compares the size of `A z` with that of `z` times `scale`, the largest size of `M^-1 A` that was seen; both in
/// the inner product of the preconditioner, so that units do not matter.
fn in_null_space(
    operator: &dyn LinearOperator,
    preconditioner: &mut dyn Preconditioner,
    r: &[f64],
    scale: f64,
    [z, image, scratch]: [&mut [f64]; 3],
) -> bool {
    preconditioner.apply(r, z);
    operator.apply(z, image);
    preconditioner.apply(image, scratch);
    let size = vector::dot(r, z).abs().sqrt();
    size > 0.0 && vector::dot(image, scratch).abs().sqrt() <= 1e-6 * scale * size
}

#[cfg(test)]
mod tests;
