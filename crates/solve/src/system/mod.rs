//! The one coupled system: inverse mass, a list of blocks, and what can be asked of them.

mod kkt;
mod operator;
mod report;
mod solver;

pub use operator::CoupledOperator;
pub use report::{BlockReport, EnergyBalance, SolveReport};
pub use solver::{
    Application, BlockPreconditioner, CoupledOptions, CoupledSolver, Formulation, SolverAids,
    WholePreconditioner,
};

use crate::error::{check_finite, check_not_negative, check_size};
use crate::{Block, CsrMatrix, InverseMass, SolveError};
use std::ops::Range;

/// `(B M^-1 B^T + E) z = B V* - c`, `V = V* - M^-1 B^T z`, with `B`, `E` and `c` stacked from blocks.
///
/// Symmetric and positive (semi)definite whatever blocks are in it. [`CoupledSolver`] solves it.
pub struct CoupledSystem<'a> {
    inverse_mass: &'a InverseMass,
    blocks: Vec<Box<dyn Block + 'a>>,
    /// First row of each block, and the number of rows at the end.
    offsets: Vec<usize>,
    compliance: Vec<f64>,
    target: Vec<f64>,
}

impl<'a> CoupledSystem<'a> {
    /// A system without rows: `V = V*`.
    pub fn new(inverse_mass: &'a InverseMass) -> Self {
        Self {
            inverse_mass,
            blocks: Vec::new(),
            offsets: vec![0],
            compliance: Vec::new(),
            target: Vec::new(),
        }
    }

    /// Adds a block; returns its number.
    ///
    /// # Errors
    /// A compliance that is negative or not finite, a target that is not finite.
    pub fn push(&mut self, block: impl Block + 'a) -> Result<usize, SolveError> {
        let first = self.rows();
        let rows = block.rows();
        self.compliance.resize(first + rows, 0.0);
        self.target.resize(first + rows, 0.0);
        block.compliance(&mut self.compliance[first..]);
        block.target(&mut self.target[first..]);
        let checked =
            check_not_negative(&format!("compliance of `{}`", block.name()), &self.compliance[first..])
                .and_then(|()| check_finite(&format!("target of `{}`", block.name()), &self.target[first..]));
        if let Err(error) = checked {
            self.compliance.truncate(first);
            self.target.truncate(first);
            return Err(error);
        }
        self.blocks.push(Box::new(block));
        self.offsets.push(first + rows);
        Ok(self.blocks.len() - 1)
    }

    /// The inverse mass.
    pub fn inverse_mass(&self) -> &InverseMass {
        self.inverse_mass
    }

    /// The blocks in the order they were added.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = &(dyn Block + 'a)> {
        self.blocks.iter().map(|block| &**block)
    }

    /// Number of rows of all blocks.
    pub fn rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Length of the stacked velocity.
    pub fn velocity_len(&self) -> usize {
        self.inverse_mass.layout().len()
    }

    /// Rows of block `block` in the stacked unknown `z`.
    pub fn block_rows(&self, block: usize) -> Range<usize> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// Number of the first block with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.blocks.iter().position(|block| block.name() == name)
    }

    /// Diagonal of `E`.
    pub fn compliance(&self) -> &[f64] {
        &self.compliance
    }

    /// `c`.
    pub fn target(&self) -> &[f64] {
        &self.target
    }

    /// `out = B V`.
    pub fn apply_rows(&self, velocity: &[f64], out: &mut [f64]) {
        for (index, block) in self.blocks.iter().enumerate() {
            block.apply(velocity, &mut out[self.block_rows(index)]);
        }
    }

    /// `impulse = B^T z`; overwrites.
    pub fn apply_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        impulse.fill(0.0);
        for (index, block) in self.blocks.iter().enumerate() {
            block.add_transpose(&z[self.block_rows(index)], impulse);
        }
    }

    /// `V = V* - M^-1 B^T z`; `velocity` holds `V*` on entry.
    ///
    /// # Errors
    /// Lengths that do not fit.
    pub fn apply_impulses(&self, z: &[f64], velocity: &mut [f64]) -> Result<(), SolveError> {
        check_size("z", z.len(), self.rows())?;
        check_size("velocity", velocity.len(), self.velocity_len())?;
        let mut change = vec![0.0; velocity.len()];
        self.apply_transpose(z, &mut change);
        self.inverse_mass.apply(&mut change);
        crate::vector::axpy(-1.0, &change, velocity);
        Ok(())
    }

    /// `B V* - c`.
    ///
    /// # Errors
    /// Lengths that do not fit, a velocity that is not finite.
    pub fn right_hand_side(&self, velocity: &[f64], rhs: &mut [f64]) -> Result<(), SolveError> {
        check_size("velocity", velocity.len(), self.velocity_len())?;
        check_size("right-hand side", rhs.len(), self.rows())?;
        check_finite("velocity", velocity)?;
        self.apply_rows(velocity, rhs);
        crate::vector::axpy(-1.0, &self.target, rhs);
        for (index, block) in self.blocks.iter().enumerate() {
            check_finite(&format!("B V* of `{}`", block.name()), &rhs[self.block_rows(index)])?;
        }
        Ok(())
    }

    /// Writes the diagonal of `B M^-1 B^T + E`.
    ///
    /// # Errors
    /// A length that does not fit; a block whose diagonal is negative or not finite.
    pub fn diagonal(&self, out: &mut [f64]) -> Result<(), SolveError> {
        check_size("diagonal", out.len(), self.rows())?;
        for (index, block) in self.blocks.iter().enumerate() {
            let range = self.block_rows(index);
            block.diagonal(self.inverse_mass, &mut out[range.clone()]);
            check_not_negative(&format!("diagonal of `{}`", block.name()), &out[range])?;
        }
        crate::vector::axpy(1.0, &self.compliance, out);
        Ok(())
    }

    /// The operator `B M^-1 B^T + E`, applied without forming it.
    pub fn operator(&self) -> CoupledOperator<'_, 'a> {
        CoupledOperator::new(self)
    }

    /// `B` as one sparse matrix.
    ///
    /// # Errors
    /// [`SolveError::NotAssembled`] if a block gives none; a block whose matrix has the wrong size.
    pub fn assemble_rows(&self) -> Result<CsrMatrix, SolveError> {
        let mut parts = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            parts.push(assemble_block(&**block, self.velocity_len(), "an assembled system")?);
        }
        if parts.is_empty() {
            return Ok(CsrMatrix::zeros(0, self.velocity_len()));
        }
        CsrMatrix::stack(&parts.iter().collect::<Vec<_>>())
    }

    /// `B M^-1 B^T + E` as a sparse matrix.
    ///
    /// # Errors
    /// As [`Self::assemble_rows`].
    pub fn assemble(&self) -> Result<CsrMatrix, SolveError> {
        let rows = self.assemble_rows()?;
        schur(&rows, self.inverse_mass, &self.compliance)
    }

    /// The diagonal block of [`Self::assemble`] that belongs to block `block`.
    ///
    /// # Errors
    /// If that block gives no matrix.
    pub fn assemble_block(&self, block: usize) -> Result<CsrMatrix, SolveError> {
        let bound = self.blocks.len();
        let Some(rows) = self.blocks.get(block) else {
            return Err(SolveError::Index { what: "block".into(), index: block, bound });
        };
        let rows = assemble_block(&**rows, self.velocity_len(), "the block's preconditioner")?;
        schur(&rows, self.inverse_mass, &self.compliance[self.block_rows(block)])
    }

    /// The change of kinetic energy from `before` to `after`, and what the solution `z` says it should be.
    ///
    /// With all masses finite and `c = 0` this is spec/fluid-structure.md 3.12, `2 KE - 2 KE* = -z^T (B M^-1 B^T + 2 E) z <= 0`. Targets and
    /// moving static bodies do work on top, `-2 z^T (c - B_s V_s)` with `s` the parts that cannot move.
    ///
    /// # Errors
    /// Lengths that do not fit.
    pub fn energy_balance(
        &self,
        before: &[f64],
        after: &[f64],
        z: &[f64],
    ) -> Result<EnergyBalance, SolveError> {
        check_size("velocity before", before.len(), self.velocity_len())?;
        check_size("velocity after", after.len(), self.velocity_len())?;
        check_size("z", z.len(), self.rows())?;
        let mass = self.inverse_mass.mass();
        let kinetic_before = mass.kinetic_energy(before);
        let kinetic_after = mass.kinetic_energy(after);
        let mut impulse = vec![0.0; self.velocity_len()];
        self.apply_transpose(z, &mut impulse);
        let mut change = impulse.clone();
        self.inverse_mass.apply(&mut change);
        let dissipated =
            0.5 * crate::vector::dot(&impulse, &change) + crate::vector::weighted_dot(&self.compliance, z, z);
        let mut fixed = before.to_vec();
        for (index, value) in fixed.iter_mut().enumerate() {
            if self.inverse_mass.is_movable(index) {
                *value = 0.0;
            }
        }
        let work = crate::vector::dot(&impulse, &fixed) - crate::vector::dot(z, &self.target);
        Ok(EnergyBalance { kinetic_before, kinetic_after, dissipated, work })
    }
}

fn assemble_block(
    block: &dyn Block,
    columns: usize,
    needed_by: &'static str,
) -> Result<CsrMatrix, SolveError> {
    let matrix =
        block.assemble().ok_or_else(|| SolveError::NotAssembled { block: block.name().into(), needed_by })?;
    check_size(&format!("assembled columns of `{}`", block.name()), matrix.cols(), columns)?;
    check_size(&format!("assembled rows of `{}`", block.name()), matrix.rows(), block.rows())?;
    Ok(matrix)
}

/// `B M^-1 B^T + E`, exactly symmetric.
fn schur(rows: &CsrMatrix, inverse_mass: &InverseMass, compliance: &[f64]) -> Result<CsrMatrix, SolveError> {
    let product = inverse_mass.multiply_rows(rows)?.product(&rows.transpose())?;
    let matrix = product.sum(1.0, &CsrMatrix::from_diagonal(compliance))?;
    // Entries (i, j) and (j, i) sum the same terms in other orders; their mean is symmetric to the bit.
    let mut symmetric = matrix.sum(1.0, &matrix.transpose())?;
    symmetric.values_mut().iter_mut().for_each(|value| *value *= 0.5);
    Ok(symmetric)
}

#[cfg(test)]
mod tests;
