//! Jacobi with small dense blocks.

use crate::dense::{cholesky, cholesky_solve};
use crate::error::check_size;
use crate::{CsrMatrix, Preconditioner, SolveError};

/// Exact inverses of dense diagonal blocks: the 3x3 of a particle, the 6x6 of a body, the rows of a joint.
#[derive(Debug, Clone)]
pub struct BlockJacobi {
    /// First unknown of each block, and the number of unknowns at the end.
    starts: Vec<usize>,
    /// Cholesky factors, row-major, one after the other.
    factors: Vec<f64>,
}

impl BlockJacobi {
    /// Blocks of `size` consecutive unknowns (the last may be smaller).
    ///
    /// # Errors
    /// A size of zero, a matrix that is not square, a block that is not positive definite.
    pub fn new(matrix: &CsrMatrix, size: usize) -> Result<Self, SolveError> {
        if size == 0 {
            return Err(SolveError::Size { what: "block size".into(), found: 0, expected: 1 });
        }
        let mut starts: Vec<usize> = (0..matrix.rows()).step_by(size).collect();
        starts.push(matrix.rows());
        Self::with_blocks(matrix, starts)
    }

    /// Blocks `starts[i]..starts[i + 1]`; `starts` ascends from 0 to the number of unknowns.
    ///
    /// # Errors
    /// Starts that do not ascend so, a matrix that is not square, a block that is not positive definite.
    pub fn with_blocks(matrix: &CsrMatrix, starts: Vec<usize>) -> Result<Self, SolveError> {
        check_size("columns of the matrix", matrix.cols(), matrix.rows())?;
        check_size("first block start", starts.first().copied().unwrap_or(0), 0)?;
        check_size("end of the last block", starts.last().copied().unwrap_or(0), matrix.rows())?;
        let mut factors = Vec::new();
        for pair in starts.windows(2) {
            if pair[0] > pair[1] {
                let what = "block start (ascending)".into();
                return Err(SolveError::Index { what, index: pair[0], bound: pair[1] + 1 });
            }
            let mut block = matrix.diagonal_block(pair[0]..pair[1]).to_dense();
            cholesky(&mut block, pair[1] - pair[0]).map_err(|row| SolveError::NotPositiveDefinite {
                what: format!("diagonal block at unknown {}", pair[0]),
                row,
            })?;
            factors.extend(block);
        }
        Ok(Self { starts, factors })
    }
}

impl Preconditioner for BlockJacobi {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        let mut at = 0;
        for pair in self.starts.windows(2) {
            let size = pair[1] - pair[0];
            cholesky_solve(&self.factors[at..at + size * size], size, &mut z[pair[0]..pair[1]]);
            at += size * size;
        }
    }
}
