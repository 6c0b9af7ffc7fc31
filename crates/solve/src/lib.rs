//! Linear algebra at scale: operators, sparse matrices, Krylov solvers, preconditioners, and the one coupled system
//! `(B M^-1 B^T + E) z = B V* - c` through which every implicit effect of the simulator passes.
//!
//! What does not live here: any physics. This crate knows velocities only as a flat vector with a block-diagonal mass.

pub mod multigrid;
mod operator;

pub use operator::{LinearOperator, Preconditioner};
