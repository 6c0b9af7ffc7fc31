//! Sparse Cholesky factors, by faer.

use crate::error::check_size;
use crate::{CsrMatrix, Preconditioner, SolveError};
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::LltError;
use faer::sparse::linalg::solvers::{Llt, SymbolicLlt};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};

/// Diagonal shift, relative, that makes a semidefinite matrix definite.
const SEMIDEFINITE_SHIFT: f64 = 1e-9;
/// What errors call the matrix.
const WHAT: &str = "sparse matrix";

/// An exact factor `P A P^T = L L^T` with a fill-reducing order: a direct solver for small and medium systems, and a preconditioner.
pub struct SparseCholesky {
    factor: Llt<usize, f64>,
    symbolic: SymbolicLlt<usize>,
    size: usize,
    shift: f64,
}

impl SparseCholesky {
    /// Factorises a symmetric positive definite matrix.
    ///
    /// # Errors
    /// A matrix that is not square, not symmetric (to 1e-12) or not positive definite; not enough memory.
    pub fn new(matrix: &CsrMatrix) -> Result<Self, SolveError> {
        Self::shifted(matrix, 0.0)
    }

    /// Factorises a positive semidefinite matrix; a singular one is shifted by a relative 1e-9 of its diagonal, which as a preconditioner
    /// costs an iteration or two.
    ///
    /// # Errors
    /// As [`Self::new`], for indefinite matrices only.
    pub fn of_semidefinite(matrix: &CsrMatrix) -> Result<Self, SolveError> {
        match Self::shifted(matrix, 0.0) {
            Err(SolveError::NotPositiveDefinite { .. }) => Self::shifted(matrix, SEMIDEFINITE_SHIFT),
            result => result,
        }
    }

    fn shifted(matrix: &CsrMatrix, shift: f64) -> Result<Self, SolveError> {
        let size = matrix.rows();
        check_size("columns of the matrix", matrix.cols(), size)?;
        if !matrix.is_symmetric(1e-12) {
            let difference = matrix.asymmetry();
            return Err(SolveError::NotSymmetric { what: WHAT.into(), row: 0, column: 0, difference });
        }
        let rows: Vec<usize> = matrix.columns().iter().map(|&column| column as usize).collect();
        let mut values = matrix.values().to_vec();
        if shift > 0.0 {
            for i in 0..size {
                let (columns, _) = matrix.row(i);
                if let Ok(at) = columns.binary_search(&(i as u32)) {
                    values[matrix.offsets()[i] + at] *= 1.0 + shift;
                }
            }
        }
        // The compressed rows of a symmetric matrix are its compressed columns.
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, matrix.offsets(), None, &rows);
        let out_of_memory = || SolveError::OutOfMemory { what: "sparse Cholesky factor".into() };
        let symbolic = SymbolicLlt::try_new(pattern, faer::Side::Lower).map_err(|_| out_of_memory())?;
        let columns = SparseColMatRef::new(pattern, &values);
        let factor = numeric(symbolic.clone(), columns)?;
        Ok(Self { factor, symbolic, size, shift })
    }

    /// Factorises another symmetric positive definite matrix with the same pattern; saves the analysis. The symmetry is the caller's promise.
    ///
    /// # Errors
    /// Another size, a matrix that is not positive definite; not enough memory. The factor is then the old one.
    pub fn refactorise(&mut self, matrix: &CsrMatrix) -> Result<(), SolveError> {
        check_size("rows of the matrix", matrix.rows(), self.size)?;
        let rows: Vec<usize> = matrix.columns().iter().map(|&column| column as usize).collect();
        let pattern =
            SymbolicSparseColMatRef::new_checked(self.size, self.size, matrix.offsets(), None, &rows);
        self.factor = numeric(self.symbolic.clone(), SparseColMatRef::new(pattern, matrix.values()))?;
        self.shift = 0.0;
        Ok(())
    }

    /// Relative shift of the diagonal that was needed; zero for a definite matrix.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// `x = A^-1 b`.
    ///
    /// # Errors
    /// Lengths that do not fit, a right-hand side that is not finite.
    pub fn solve(&self, rhs: &[f64], x: &mut [f64]) -> Result<(), SolveError> {
        check_size("right-hand side", rhs.len(), self.size)?;
        check_size("solution", x.len(), self.size)?;
        crate::error::check_finite("right-hand side", rhs)?;
        self.solve_unchecked(rhs, x);
        Ok(())
    }

    fn solve_unchecked(&self, rhs: &[f64], x: &mut [f64]) {
        x.copy_from_slice(rhs);
        let column = faer::MatMut::from_column_major_slice_mut(x, self.size, 1);
        self.factor.solve_in_place(column);
    }
}

fn numeric(
    symbolic: SymbolicLlt<usize>,
    columns: SparseColMatRef<'_, usize, f64>,
) -> Result<Llt<usize, f64>, SolveError> {
    Llt::try_new_with_symbolic(symbolic, columns, faer::Side::Lower).map_err(|error| match error {
        LltError::Numeric(faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index }) => {
            SolveError::NotPositiveDefinite { what: WHAT.into(), row: index }
        }
        LltError::Generic(_) => SolveError::OutOfMemory { what: "sparse Cholesky factor".into() },
    })
}

impl Preconditioner for SparseCholesky {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        self.solve_unchecked(r, z);
    }
}
