//! Sparse matrices in compressed rows.

mod product;

use crate::error::{check_finite, check_size};
use crate::{LinearOperator, SolveError, vector};
use serde::{Deserialize, Serialize};
use splashdown_parallel::prelude::*;

/// Entries from which on rows are multiplied in parallel, and rows of one task: a product of long rows is worth other threads long before the vector by itself is.
const PARALLEL: usize = 1 << 18;
const TOGETHER: usize = 512;

/// A sparse matrix in compressed row storage: 12 bytes an entry, columns ascending in each row, no duplicates.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CsrMatrix {
    cols: usize,
    /// Row `i` owns the entries `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl CsrMatrix {
    /// The zero matrix.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { cols, offsets: vec![0; rows + 1], columns: Vec::new(), values: Vec::new() }
    }

    /// The identity.
    pub fn identity(size: usize) -> Self {
        Self::from_diagonal(&vec![1.0; size])
    }

    /// A square diagonal matrix; keeps zeros of the diagonal as stored entries.
    pub fn from_diagonal(diagonal: &[f64]) -> Self {
        let size = diagonal.len();
        Self {
            cols: size,
            offsets: (0..=size).collect(),
            columns: (0..size as u32).collect(),
            values: diagonal.to_vec(),
        }
    }

    /// From (row, column, value) in any order; duplicates are summed in the order given, so the result is deterministic.
    ///
    /// # Errors
    /// An index outside the matrix, a value that is not finite, too many columns.
    pub fn from_triplets(
        rows: usize,
        cols: usize,
        triplets: &[(usize, usize, f64)],
    ) -> Result<Self, SolveError> {
        check_columns(cols)?;
        let mut offsets = vec![0; rows + 1];
        for (index, &(row, column, value)) in triplets.iter().enumerate() {
            check_index("triplet row", row, rows)?;
            check_index("triplet column", column, cols)?;
            if !value.is_finite() {
                return Err(SolveError::NotFinite { what: "triplet value".into(), index, value });
            }
            offsets[row + 1] += 1;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut entries = vec![(0u32, 0.0); triplets.len()];
        let mut next = offsets.clone();
        for &(row, column, value) in triplets {
            entries[next[row]] = (column as u32, value);
            next[row] += 1;
        }
        let mut matrix = Self::with_capacity(rows, cols, triplets.len());
        for row in 0..rows {
            matrix.push_row_unsorted(&mut entries[offsets[row]..offsets[row + 1]]);
        }
        Ok(matrix)
    }

    /// From rows of (column, value) in any order; duplicates are summed in the order given.
    ///
    /// # Errors
    /// As [`Self::from_triplets`].
    pub fn from_rows<R>(cols: usize, rows: impl IntoIterator<Item = R>) -> Result<Self, SolveError>
    where
        R: IntoIterator<Item = (usize, f64)>,
    {
        check_columns(cols)?;
        let mut matrix = Self::with_capacity(0, cols, 0);
        let mut entries = Vec::new();
        for row in rows {
            entries.clear();
            for (column, value) in row {
                check_index("row entry column", column, cols)?;
                if !value.is_finite() {
                    let index = matrix.rows();
                    return Err(SolveError::NotFinite { what: "value of matrix row".into(), index, value });
                }
                entries.push((column as u32, value));
            }
            matrix.push_row_unsorted(&mut entries);
        }
        Ok(matrix)
    }

    /// From the three arrays of the format.
    ///
    /// # Errors
    /// Offsets that do not ascend from 0 to the number of entries, columns that are outside or not strictly ascending within a row,
    /// values that are not finite.
    pub fn from_parts(
        cols: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self, SolveError> {
        check_columns(cols)?;
        check_size("CSR values", values.len(), columns.len())?;
        check_finite("CSR values", &values)?;
        check_size("first CSR offset", offsets.first().copied().unwrap_or(1), 0)?;
        check_size("last CSR offset", offsets.last().copied().unwrap_or(0), columns.len())?;
        for (row, pair) in offsets.windows(2).enumerate() {
            if pair[0] > pair[1] {
                return Err(SolveError::Index {
                    what: format!("CSR offset of row {row}"),
                    index: pair[0],
                    bound: pair[1] + 1,
                });
            }
            for (position, &column) in columns[pair[0]..pair[1]].iter().enumerate() {
                check_index("CSR column", column as usize, cols)?;
                if position > 0 && columns[pair[0] + position - 1] >= column {
                    return Err(SolveError::Index {
                        what: format!("columns of CSR row {row} must ascend strictly; previous column"),
                        index: columns[pair[0] + position - 1] as usize,
                        bound: column as usize,
                    });
                }
            }
        }
        Ok(Self { cols, offsets, columns, values })
    }

    /// Row-major dense matrix; zeros are not stored. For tests and tiny systems.
    ///
    /// # Errors
    /// A length other than `rows * cols`, values that are not finite.
    pub fn from_dense(rows: usize, cols: usize, dense: &[f64]) -> Result<Self, SolveError> {
        check_size("dense matrix", dense.len(), rows * cols)?;
        let row =
            |i: usize| (0..cols).map(move |j| (j, dense[i * cols + j])).filter(|&(_, value)| value != 0.0);
        Self::from_rows(cols, (0..rows).map(row))
    }

    /// The entries as a row-major dense matrix. For tests and tiny systems.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut dense = vec![0.0; self.rows() * self.cols];
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            for (&column, &value) in columns.iter().zip(values) {
                dense[i * self.cols + column as usize] = value;
            }
        }
        dense
    }

    fn with_capacity(rows: usize, cols: usize, entries: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { cols, offsets, columns: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    fn push_row_unsorted(&mut self, entries: &mut [(u32, f64)]) {
        // Stable, so that duplicates are summed in the caller's order.
        entries.sort_by_key(|entry| entry.0);
        let first = self.columns.len();
        for &(column, value) in entries.iter() {
            if self.columns.len() > first && self.columns.last() == Some(&column) {
                *self.values.last_mut().expect("as long as columns") += value;
            } else {
                self.columns.push(column);
                self.values.push(value);
            }
        }
        self.offsets.push(self.columns.len());
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Row starts: row `i` owns the entries `offsets[i]..offsets[i + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Column of every entry, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Value of every entry, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Values for rewriting in place; the pattern stays.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Entry `(i, j)`, zero if not stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        columns.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
    }

    /// The main diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.rows().min(self.cols)).map(|i| self.get(i, i)).collect()
    }

    /// `y = A x`, rows in parallel. The lengths must fit.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!((x.len(), y.len()), (self.cols, self.rows()));
        let rows = |first: usize, y: &mut [f64]| {
            for (i, y) in y.iter_mut().enumerate() {
                // Without iterators in pairs, which are calls of their own for rows as short as these.
                let range = self.offsets[first + i]..self.offsets[first + i + 1];
                let (columns, values) = (&self.columns[range.clone()], &self.values[range]);
                let mut sum = 0.0;
                for k in 0..columns.len().min(values.len()) {
                    sum += values[k] * x[columns[k] as usize];
                }
                *y = sum;
            }
        };
        if self.values.len() < PARALLEL {
            rows(0, y);
        } else {
            y.par_chunks_mut(TOGETHER).enumerate().for_each(|(chunk, y)| rows(TOGETHER * chunk, y));
        }
    }

    /// `y += A^T x`, by scattering row after row. For many products transpose once instead: a gather runs in parallel.
    pub fn add_transpose_multiply(&self, x: &[f64], y: &mut [f64]) {
        debug_assert_eq!((x.len(), y.len()), (self.rows(), self.cols));
        for (i, &x) in x.iter().enumerate() {
            let (columns, values) = self.row(i);
            for k in 0..columns.len().min(values.len()) {
                y[columns[k] as usize] += values[k] * x;
            }
        }
    }

    /// Largest `|a_ij - a_ji|`, relative to the largest entry; infinite for a matrix that is not square.
    pub fn asymmetry(&self) -> f64 {
        if self.rows() != self.cols {
            return f64::INFINITY;
        }
        let transposed = self.transpose();
        let mut worst: f64 = 0.0;
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            for (&column, &value) in columns.iter().zip(values) {
                worst = worst.max((value - transposed.get(i, column as usize)).abs());
            }
        }
        let largest = vector::max_norm(&self.values);
        if worst == 0.0 { 0.0 } else { worst / largest }
    }

    /// Is every pair `a_ij`, `a_ji` equal up to `tolerance` times the largest entry?
    pub fn is_symmetric(&self, tolerance: f64) -> bool {
        self.asymmetry() <= tolerance
    }

    /// The same matrix without entries of absolute value up to `threshold`.
    pub fn pruned(&self, threshold: f64) -> Self {
        let mut matrix = Self::with_capacity(self.rows(), self.cols, self.entries());
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            for (&column, &value) in columns.iter().zip(values) {
                if value.abs() > threshold {
                    matrix.columns.push(column);
                    matrix.values.push(value);
                }
            }
            matrix.offsets.push(matrix.columns.len());
        }
        matrix
    }
}

impl LinearOperator for CsrMatrix {
    fn rows(&self) -> usize {
        self.rows()
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.multiply(x, y);
    }
}

fn check_columns(cols: usize) -> Result<(), SolveError> {
    if cols > u32::MAX as usize {
        return Err(SolveError::TooLarge { what: "sparse matrix".into(), count: cols });
    }
    Ok(())
}

fn check_index(what: &str, index: usize, bound: usize) -> Result<(), SolveError> {
    if index < bound {
        return Ok(());
    }
    Err(SolveError::Index { what: what.into(), index, bound })
}

#[cfg(test)]
mod tests;
