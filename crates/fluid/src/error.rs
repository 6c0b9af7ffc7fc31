//! What can go wrong in a fluid.

use crate::domain::DomainError;
use splashdown_geometry::grid::GridError;
use splashdown_geometry::level_set::LevelSetError;
use splashdown_solve::SolveError;

/// A fluid that cannot be built or a step that cannot be done; after a failed step the state is the one before it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FluidError {
    /// The domain's sides contradict each other.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The grid was refused.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A level set has values that are not finite.
    #[error("the surface of the liquid: {0}")]
    LevelSet(#[from] LevelSetError),
    /// A linear solve was refused.
    #[error("the {what} of the fluid: {source}")]
    Solve {
        /// Pressure or viscosity.
        what: &'static str,
        /// What the solver says.
        source: SolveError,
    },
    /// A linear solve did not arrive.
    #[error(
        "the {what} solve of the fluid stopped after {iterations} iterations at relative residual {residual:e}"
    )]
    NotConverged {
        /// Pressure or viscosity.
        what: &'static str,
        /// Iterations done.
        iterations: usize,
        /// Relative residual reached.
        residual: f64,
    },
    /// Solids and walls that move as told squeeze fluid that has nowhere to go.
    #[error(
        "what moves as told squeezes a closed part of the fluid: walls would have to give way at {correction} m/s, more than `squeeze` allows ({limit} m/s); open a side, or slow it down"
    )]
    Squeezed {
        /// Change of the walls' velocity (m/s).
        correction: f64,
        /// Largest one allowed (m/s).
        limit: f64,
    },
    /// A number of the description that makes no sense.
    #[error("{what} is {value}; expected {expected}")]
    Value {
        /// Which number.
        what: String,
        /// Its value.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// Parts of the description that exclude each other, or a state of another fluid.
    #[error("{0}")]
    Mismatch(String),
    /// A value that is not a number, or that no physical motion has.
    #[error("{what} is {value:e}: the fluid has blown up (try a shorter step)")]
    Diverged {
        /// Which quantity, and where.
        what: String,
        /// Offending value.
        value: f64,
    },
}

impl FluidError {
    /// Makes an error of a linear solver one of this crate; `what` was being solved for.
    pub fn solve(what: &'static str) -> impl Fn(SolveError) -> Self {
        move |source| Self::Solve { what, source }
    }
}
