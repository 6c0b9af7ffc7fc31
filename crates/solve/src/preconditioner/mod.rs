//! Preconditioners that need only a diagonal, a sparse matrix, or other preconditioners.

mod block_jacobi;
mod incomplete_cholesky;

pub use block_jacobi::BlockJacobi;
pub use incomplete_cholesky::IncompleteCholesky;

use crate::error::{check_finite, check_size};
use crate::{Preconditioner, SolveError, vector};

/// No preconditioning.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl Preconditioner for Identity {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
    }
}

/// Division by the diagonal. Also the scaling that makes rows of different units comparable.
#[derive(Debug, Clone, Default)]
pub struct Jacobi {
    inverse: Vec<f64>,
}

impl Jacobi {
    /// From the diagonal of the operator. A zero (a row that touches nothing that can move) is treated as one.
    ///
    /// # Errors
    /// Entries that are negative or not finite.
    pub fn new(diagonal: &[f64]) -> Result<Self, SolveError> {
        crate::error::check_not_negative("diagonal", diagonal)?;
        let invert = |&value: &f64| if value == 0.0 { 1.0 } else { 1.0 / value };
        let inverse: Vec<f64> = diagonal.iter().map(invert).collect();
        check_finite("inverse of the diagonal", &inverse)?;
        Ok(Self { inverse })
    }

    /// The inverse diagonal: also the weights of the diagonal-scaled norm for [`crate::Iteration::weights`].
    pub fn inverse_diagonal(&self) -> &[f64] {
        &self.inverse
    }

    /// Size of the system.
    pub fn size(&self) -> usize {
        self.inverse.len()
    }
}

impl Preconditioner for Jacobi {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        vector::multiply(&self.inverse, r, z);
    }
}

/// Independent preconditioners for consecutive ranges of unknowns: the block-diagonal combination.
#[derive(Default)]
pub struct BlockDiagonal<'a> {
    parts: Vec<(usize, Box<dyn Preconditioner + 'a>)>,
    size: usize,
}

impl<'a> BlockDiagonal<'a> {
    /// Covers no unknowns yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a preconditioner for the next `rows` unknowns.
    pub fn push(&mut self, rows: usize, part: Box<dyn Preconditioner + 'a>) {
        self.parts.push((rows, part));
        self.size += rows;
    }

    /// Unknowns covered so far.
    pub fn size(&self) -> usize {
        self.size
    }

    /// `Ok` if the parts cover exactly `rows` unknowns.
    ///
    /// # Errors
    /// [`SolveError::Size`] otherwise.
    pub fn check_covers(&self, rows: usize) -> Result<(), SolveError> {
        check_size("unknowns covered by the block preconditioner", self.size, rows)
    }
}

impl Preconditioner for BlockDiagonal<'_> {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let mut first = 0;
        for (rows, part) in &mut self.parts {
            let range = first..first + *rows;
            part.apply(&r[range.clone()], &mut z[range]);
            first += *rows;
        }
    }
}

impl<P: Preconditioner + ?Sized> Preconditioner for Box<P> {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        (**self).apply(r, z);
    }
}

impl<P: Preconditioner + ?Sized> Preconditioner for &mut P {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        (**self).apply(r, z);
    }
}

#[cfg(test)]
mod tests;
