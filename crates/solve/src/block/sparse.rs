//! A block given by its sparse rows.

use super::{Block, sparse_diagonal};
use crate::error::{check_finite, check_not_negative, check_size};
use crate::{CsrMatrix, InverseMass, SolveError, vector};

/// Rows kept as a sparse matrix, with its transpose on the columns it touches so that both products are gathers.
#[derive(Debug, Clone)]
pub struct SparseBlock {
    name: String,
    matrix: CsrMatrix,
    compliance: Vec<f64>,
    target: Vec<f64>,
    /// Columns with an entry, ascending, and the transpose restricted to them.
    touched: Vec<u32>,
    transpose: CsrMatrix,
}

impl SparseBlock {
    /// Constraint rows `B V = 0`: no compliance, target zero. The matrix has one column a scalar of the stacked velocity.
    pub fn new(name: impl Into<String>, matrix: CsrMatrix) -> Self {
        let full = matrix.transpose();
        let touched: Vec<u32> =
            (0..full.rows()).filter(|&row| !full.row(row).0.is_empty()).map(|row| row as u32).collect();
        let mut offsets = vec![0];
        offsets.extend(touched.iter().map(|&row| full.offsets()[row as usize + 1]));
        let transpose =
            CsrMatrix::from_parts(matrix.rows(), offsets, full.columns().to_vec(), full.values().to_vec())
                .expect("rows of a transpose are sorted");
        let rows = matrix.rows();
        Self {
            name: name.into(),
            matrix,
            compliance: vec![0.0; rows],
            target: vec![0.0; rows],
            touched,
            transpose,
        }
    }

    /// Rows of a factored force, `-dt D = C^T C`: compliance one, so that `z` is the force's own unknown.
    pub fn factored_force(name: impl Into<String>, matrix: CsrMatrix) -> Self {
        let mut block = Self::new(name, matrix);
        block.compliance.fill(1.0);
        block
    }

    /// With the diagonal `E` of the compliance.
    ///
    /// # Errors
    /// Another length than the number of rows, negative values, values that are not finite.
    pub fn with_compliance(mut self, compliance: Vec<f64>) -> Result<Self, SolveError> {
        check_size("compliance", compliance.len(), self.matrix.rows())?;
        check_not_negative("compliance", &compliance)?;
        self.compliance = compliance;
        Ok(self)
    }

    /// With the wanted value `c` of `B V`.
    ///
    /// # Errors
    /// Another length than the number of rows, values that are not finite.
    pub fn with_target(mut self, target: Vec<f64>) -> Result<Self, SolveError> {
        check_size("target", target.len(), self.matrix.rows())?;
        check_finite("target", &target)?;
        self.target = target;
        Ok(self)
    }

    /// The rows `B`.
    pub fn matrix(&self) -> &CsrMatrix {
        &self.matrix
    }

    /// Gathers `impulse[touched] += (transpose rows) z`, halves in parallel: each half owns its own part of `impulse`.
    fn gather(&self, z: &[f64], range: std::ops::Range<usize>, offset: usize, impulse: &mut [f64]) {
        if range.len() > vector::LEAF && rayon::current_num_threads() > 1 {
            let middle = range.start + range.len() / 2;
            let cut = self.touched[middle] as usize;
            let (low, high) = impulse.split_at_mut(cut - offset);
            rayon::join(
                || self.gather(z, range.start..middle, offset, low),
                || self.gather(z, middle..range.end, cut, high),
            );
            return;
        }
        for at in range {
            let (rows, values) = self.transpose.row(at);
            let mut sum = 0.0;
            for (&row, &value) in rows.iter().zip(values) {
                sum += value * z[row as usize];
            }
            impulse[self.touched[at] as usize - offset] += sum;
        }
    }
}

impl Block for SparseBlock {
    fn name(&self) -> &str {
        &self.name
    }
    fn rows(&self) -> usize {
        self.matrix.rows()
    }
    fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        self.matrix.multiply(velocity, out);
    }
    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        self.gather(z, 0..self.touched.len(), 0, impulse);
    }
    fn compliance(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.compliance);
    }
    fn target(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.target);
    }
    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]) {
        sparse_diagonal(&self.matrix, inverse_mass, out);
    }
    fn assemble(&self) -> Option<CsrMatrix> {
        Some(self.matrix.clone())
    }
}
