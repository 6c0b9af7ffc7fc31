//! Incomplete Cholesky factors without fill, plain and modified.

use crate::error::check_size;
use crate::{CsrMatrix, Preconditioner, SolveError};

/// Part of the dropped fill that the modified variant moves to the diagonal (Bridson, "Fluid Simulation for Computer Graphics").
const MODIFICATION: f64 = 0.97;
/// A modified pivot below this part of the matrix diagonal is replaced by that diagonal.
const SAFETY: f64 = 0.25;
/// A pivot below this part of the matrix diagonal is a breakdown.
const SMALLEST_PIVOT: f64 = 1e-12;
/// Relative diagonal shifts tried after a breakdown (Manteuffel 1980).
const SHIFTS: [f64; 7] = [0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0];

/// `L L^T ~ A` on the pattern of `A`: IC(0), or MIC(0) that keeps row sums and suits Poisson-like matrices.
///
/// Triangular solves run in the order of the unknowns on one thread.
#[derive(Debug, Clone)]
pub struct IncompleteCholesky {
    /// `L^T` by rows, diagonal first. The diagonal holds the reciprocal of the pivot's root.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    shift: f64,
}

impl IncompleteCholesky {
    /// Factorises a symmetric matrix with positive diagonal; only the upper triangle is read.
    ///
    /// On breakdown the diagonal is raised, by more and more, until the factorisation succeeds.
    ///
    /// # Errors
    /// A matrix that is not square or whose diagonal is not positive.
    pub fn new(matrix: &CsrMatrix, modified: bool) -> Result<Self, SolveError> {
        check_size("columns of the matrix", matrix.cols(), matrix.rows())?;
        let diagonal = matrix.diagonal();
        let what = || "matrix of the incomplete Cholesky factor".to_string();
        if let Some(row) = diagonal.iter().position(|&value| value <= 0.0) {
            return Err(SolveError::NotPositiveDefinite { what: what(), row });
        }
        let mut row = 0;
        for shift in SHIFTS {
            let mut factor = Self::upper_triangle(matrix, shift);
            match factor.factorise(&diagonal, modified) {
                Ok(()) => return Ok(factor),
                Err(broken) => row = broken,
            }
        }
        Err(SolveError::NotPositiveDefinite { what: what(), row })
    }

    /// Relative shift of the diagonal that was needed; zero if none.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    fn upper_triangle(matrix: &CsrMatrix, shift: f64) -> Self {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..matrix.rows() {
            let (row_columns, row_values) = matrix.row(i);
            let first = row_columns.partition_point(|&column| (column as usize) < i);
            columns.extend_from_slice(&row_columns[first..]);
            values.extend_from_slice(&row_values[first..]);
            values[offsets[i]] *= 1.0 + shift;
            offsets.push(columns.len());
        }
        Self { offsets, columns, values, shift }
    }

    /// Right-looking elimination: row `k` of `L^T` updates the rows of its columns where they have an entry.
    fn factorise(&mut self, diagonal: &[f64], modified: bool) -> Result<(), usize> {
        for k in 0..diagonal.len() {
            let range = self.offsets[k]..self.offsets[k + 1];
            let mut pivot = self.values[range.start];
            let scale = diagonal[k] * (1.0 + self.shift);
            if modified && (pivot < SAFETY * scale || !pivot.is_finite()) {
                pivot = scale;
            }
            if pivot <= SMALLEST_PIVOT * scale || !pivot.is_finite() {
                return Err(k);
            }
            let reciprocal = 1.0 / pivot.sqrt();
            self.values[range.start] = reciprocal;
            for at in range.start + 1..range.end {
                self.values[at] *= reciprocal;
            }
            for left in range.start + 1..range.end {
                let (j, value) = (self.columns[left] as usize, self.values[left]);
                let mut slot = self.offsets[j];
                let end = self.offsets[j + 1];
                for right in left..range.end {
                    let (i, fill) = (self.columns[right], value * self.values[right]);
                    while slot < end && self.columns[slot] < i {
                        slot += 1;
                    }
                    if slot < end && self.columns[slot] == i {
                        self.values[slot] -= fill;
                    } else if modified {
                        self.values[self.offsets[j]] -= MODIFICATION * fill;
                        self.values[self.offsets[i as usize]] -= MODIFICATION * fill;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Preconditioner for IncompleteCholesky {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        let size = z.len();
        for k in 0..size {
            let range = self.offsets[k]..self.offsets[k + 1];
            let value = z[k] * self.values[range.start];
            z[k] = value;
            for at in range.start + 1..range.end {
                z[self.columns[at] as usize] -= self.values[at] * value;
            }
        }
        for k in (0..size).rev() {
            let range = self.offsets[k]..self.offsets[k + 1];
            let mut sum = z[k];
            for at in range.start + 1..range.end {
                sum -= self.values[at] * z[self.columns[at] as usize];
            }
            z[k] = sum * self.values[range.start];
        }
    }
}
