//! Linear algebra at scale: operators, sparse matrices, Krylov solvers, preconditioners, and the one coupled system
//! `(B M^-1 B^T + E) z = B V* - c` through which every implicit effect of the simulator passes.
//!
//! What does not live here: any physics. This crate knows velocities only as a flat vector with a block-diagonal mass.

pub mod amg;
mod block;
mod block_csr;
mod cholesky;
mod csr;
pub mod dense;
mod error;
mod krylov;
mod mass;
pub mod multigrid;
mod null_space;
mod operator;
mod preconditioner;
mod system;
pub mod testing;
pub mod vector;

pub use block::{Block, ComposedBlock, FnBlock, SparseBlock, sparse_diagonal};
pub use block_csr::{BlockCsrMatrix, BlockPattern};
pub use cholesky::{LANES, PatternMemory, SparseCholesky};
pub use csr::CsrMatrix;
pub use error::SolveError;
pub use krylov::{
    ConstraintFilter, Iteration, KrylovReport, Monitor, Outcome, Progress, Stopping, Workspace, filtered_pcg,
    minres, pcg, symqmr,
};
pub use mass::{InverseMass, InverseMassRoot, Mass, VelocityLayout};
pub use null_space::{Components, NullSpace, Projected, SparseVector, unfelt_pressures};
pub use operator::{LinearOperator, Preconditioner};
pub use preconditioner::{BlockDiagonal, BlockJacobi, Identity, IncompleteCholesky, Jacobi};
pub use system::{
    Application, BlockPreconditioner, BlockReport, CoupledOperator, CoupledOptions, CoupledSolver,
    CoupledSystem, EnergyBalance, Formulation, SolveReport, SolverAids, WholePreconditioner,
};
