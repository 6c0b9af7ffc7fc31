//! Geometric multigrid for Poisson-like systems on uniform grids with irregular domains, in two and three dimensions.
//!
//! Written by hand because it is what makes the pressure projection linear in the number of cells: no kept crate offers multigrid
//! for cell-centred problems with voxelised, cut or thin boundaries. [`PoissonProblem`] describes a system, [`Multigrid`] is a symmetric positive
//! definite preconditioner for it, and [`PoissonSolver`] solves it by conjugate gradients with everything fused.
//!
//! - Smoother: red-black Gauss-Seidel on a split checkerboard (`layout.rs`), red-black down and black-red up, so that the cycle is symmetric.
//! - Coarse operators: rediscretised with face conductances added in parallel, which keeps five- or seven-point stencils, open gaps and closed walls.
//! - Transfer: linear interpolation that does not reach across closed faces, and its transpose.
//! - Coarsest grid: banded Cholesky with a generalised inverse for closed regions.
//!
//! Following A. McAdams, E. Sifakis, J. Teran, "A parallel multigrid Poisson solver for fluids simulation on large grids", SCA 2010, for multigrid
//! as a preconditioner on irregular domains, and M. Mohr, R. Wienands, "Cell-centred multigrid revisited", Computing and Visualization in Science 7,
//! 2004, for transfers.

mod addition;
mod coarsest;
mod hierarchy;
mod kernels;
pub(crate) use kernels::vectorized;
mod layout;
mod level;
mod problem;
pub mod scenes;
mod solver;
mod transfer;

#[cfg(test)]
mod tests;

pub use addition::Addition;
pub use hierarchy::{Multigrid, MultigridOptions};
pub use problem::{CellKind, Coupling, PoissonProblem, ProblemError, Regions};
pub use solver::{PoissonOptions, PoissonReport, PoissonSolver};
