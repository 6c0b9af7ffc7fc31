//! What a coupled solve tells about itself.

use super::Formulation;
use crate::Outcome;
use serde::{Deserialize, Serialize};

/// How one block of a coupled solve ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockReport {
    /// Name of the block.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Norm of the block's residual, each row divided by the root of its diagonal: the norm of the stopping test.
    pub residual: f64,
    /// The same relative to the block's part of the right-hand side (to the whole right-hand side if that part vanishes).
    pub relative_residual: f64,
    /// Largest residual of a row in the unit of `B V`: for a constraint, by how much the velocity misses it.
    pub max_residual: f64,
    /// Rows that touch nothing that can move; they were left out.
    pub unmovable_rows: usize,
    /// Largest violation among those rows, which nothing can repair.
    pub unmovable_residual: f64,
    /// Did the block meet the relative tolerance and its own limit, if one was set?
    pub converged: bool,
}

/// How a coupled solve ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolveReport {
    /// How the iteration ended.
    pub outcome: Outcome,
    /// Iterations of the Krylov solver.
    pub iterations: usize,
    /// Number of unknowns of the Krylov solver.
    pub unknowns: usize,
    /// Norm of the residual, diagonally scaled.
    pub residual: f64,
    /// Norm of the right-hand side, diagonally scaled.
    pub rhs_norm: f64,
    /// Which form was solved.
    pub formulation: Formulation,
    /// Was the operator assembled to a sparse matrix?
    pub assembled: bool,
    /// Dimension of the null space that was projected out.
    pub null_space: usize,
    /// Norm of the part of the right-hand side in the null space, which was removed.
    pub removed: f64,
    /// Wall-clock time of diagonals, assembly and preconditioners (s).
    pub setup_seconds: f64,
    /// Wall-clock time of the iteration (s).
    pub solve_seconds: f64,
    /// Block by block, in the order of the system.
    pub blocks: Vec<BlockReport>,
}

impl SolveReport {
    /// Did every row meet its tolerance?
    pub fn converged(&self) -> bool {
        self.outcome.converged()
    }
}

impl std::fmt::Display for SolveReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} after {} iterations", self.outcome, self.iterations)?;
        for block in &self.blocks {
            let mark = if block.converged { "" } else { " (not converged)" };
            write!(f, "; {} {} rows {:.1e}{mark}", block.name, block.rows, block.relative_residual)?;
        }
        Ok(())
    }
}

/// Where the kinetic energy of a solve went (all J).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EnergyBalance {
    /// `V*^T M V* / 2`.
    pub kinetic_before: f64,
    /// `V^T M V / 2`.
    pub kinetic_after: f64,
    /// `z^T (B M^-1 B^T + 2 E) z / 2`, never negative.
    pub dissipated: f64,
    /// Work done by targets and by moving bodies that nothing can stop.
    pub work: f64,
}

impl EnergyBalance {
    /// `KE - KE* + dissipated - work`: zero for an exact solve.
    pub fn error(&self) -> f64 {
        self.kinetic_after - self.kinetic_before + self.dissipated - self.work
    }

    /// [`Self::error`] relative to the largest of the energies involved.
    pub fn relative_error(&self) -> f64 {
        let scale = self.kinetic_before.max(self.kinetic_after).max(self.dissipated).max(self.work.abs());
        if scale == 0.0 { 0.0 } else { self.error().abs() / scale }
    }
}
