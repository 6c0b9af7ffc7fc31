//! Linear algebra at scale: operators, sparse matrices, Krylov solvers, preconditioners, and the one coupled system
//! `(B M^-1 B^T + E) z = B V* - c` through which every implicit effect of the simulator passes.
//!
//! What does not live here: any physics. This crate knows velocities only as a flat vector with a block-diagonal mass.

mod csr;
mod error;
mod krylov;
pub mod multigrid;
mod operator;
mod preconditioner;
pub mod vector;

pub use csr::CsrMatrix;
pub use error::SolveError;
pub use krylov::{
    ConstraintFilter, Iteration, KrylovReport, Monitor, Outcome, Progress, Stopping, Workspace, filtered_pcg,
    minres, pcg, symqmr,
};
pub use operator::{LinearOperator, Preconditioner};
pub use preconditioner::{BlockDiagonal, Identity, Jacobi};
