//! Transposes, sums and products of sparse matrices.

use super::CsrMatrix;
use crate::SolveError;
use crate::error::check_size;

/// Rows that one task of a product handles.
const ROWS: usize = 512;

/// Dense accumulator of one sparse row (Gustavson's algorithm); reset after each row in time proportional to the row.
struct Accumulator {
    sums: Vec<f64>,
    /// Row number + 1 that last wrote the column.
    mark: Vec<usize>,
    touched: Vec<u32>,
}

impl Accumulator {
    fn new(cols: usize) -> Self {
        Self { sums: vec![0.0; cols], mark: vec![0; cols], touched: Vec::new() }
    }

    fn add(&mut self, stamp: usize, column: u32, value: f64) {
        let at = column as usize;
        if self.mark[at] == stamp {
            self.sums[at] += value;
        } else {
            self.mark[at] = stamp;
            self.sums[at] = value;
            self.touched.push(column);
        }
    }

    fn flush(&mut self, columns: &mut Vec<u32>, values: &mut Vec<f64>) -> usize {
        self.touched.sort_unstable();
        values.extend(self.touched.iter().map(|&column| self.sums[column as usize]));
        columns.extend_from_slice(&self.touched);
        let count = self.touched.len();
        self.touched.clear();
        count
    }
}

struct RowChunk {
    lengths: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl CsrMatrix {
    /// `A^T`.
    pub fn transpose(&self) -> Self {
        let rows = self.rows();
        let mut offsets = vec![0; self.cols + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..self.cols {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0u32; self.entries()];
        let mut values = vec![0.0; self.entries()];
        for i in 0..rows {
            let (row_columns, row_values) = self.row(i);
            for (&column, &value) in row_columns.iter().zip(row_values) {
                let at = &mut next[column as usize];
                columns[*at] = i as u32;
                values[*at] = value;
                *at += 1;
            }
        }
        Self { cols: rows, offsets, columns, values }
    }

    /// `A B`. The sum of each entry runs in the order of `A`'s columns, whatever the number of threads.
    ///
    /// # Errors
    /// If `A` has not as many columns as `B` has rows.
    pub fn product(&self, right: &Self) -> Result<Self, SolveError> {
        check_size("rows of the right factor", right.rows(), self.cols)?;
        Ok(Self::rows_in_parallel(self.rows(), right.cols, |i, stamp, accumulator| {
            let (columns, values) = self.row(i);
            for (&k, &a) in columns.iter().zip(values) {
                let (right_columns, right_values) = right.row(k as usize);
                for (&column, &b) in right_columns.iter().zip(right_values) {
                    accumulator.add(stamp, column, a * b);
                }
            }
        }))
    }

    /// `P^T A P`, the Galerkin coarse operator.
    ///
    /// # Errors
    /// If the sizes do not fit.
    pub fn triple_product(&self, prolongation: &Self) -> Result<Self, SolveError> {
        check_size("rows of the prolongation", prolongation.rows(), self.cols)?;
        check_size("rows of the matrix between", self.rows(), self.cols)?;
        prolongation.transpose().product(&self.product(prolongation)?)
    }

    /// `A + scale B`.
    ///
    /// # Errors
    /// If the sizes differ.
    pub fn sum(&self, scale: f64, other: &Self) -> Result<Self, SolveError> {
        check_size("rows of the second summand", other.rows(), self.rows())?;
        check_size("columns of the second summand", other.cols, self.cols)?;
        Ok(Self::rows_in_parallel(self.rows(), self.cols, |i, stamp, accumulator| {
            let (columns, values) = self.row(i);
            for (&column, &value) in columns.iter().zip(values) {
                accumulator.add(stamp, column, value);
            }
            let (columns, values) = other.row(i);
            for (&column, &value) in columns.iter().zip(values) {
                accumulator.add(stamp, column, scale * value);
            }
        }))
    }

    /// Matrices of equal width one below the other.
    ///
    /// # Errors
    /// If the numbers of columns differ.
    pub fn stack(parts: &[&Self]) -> Result<Self, SolveError> {
        let cols = parts.first().map_or(0, |part| part.cols);
        let entries = parts.iter().map(|part| part.entries()).sum();
        let rows = parts.iter().map(|part| part.rows()).sum();
        let mut stacked = Self::with_capacity(rows, cols, entries);
        for part in parts {
            check_size("columns of a stacked matrix", part.cols, cols)?;
            let base = stacked.columns.len();
            stacked.offsets.extend(part.offsets.iter().skip(1).map(|offset| base + offset));
            stacked.columns.extend_from_slice(&part.columns);
            stacked.values.extend_from_slice(&part.values);
        }
        Ok(stacked)
    }

    /// The same square matrix with its unknowns in another order: number `i` is the one that was `order[i]`, which names each once.
    ///
    /// # Errors
    /// A matrix that is not square; an order that is no permutation.
    pub fn permuted(&self, order: &[u32]) -> Result<Self, SolveError> {
        check_size("columns of the matrix", self.cols(), self.rows())?;
        check_size("order of the unknowns", order.len(), self.rows())?;
        const NONE: u32 = u32::MAX;
        let mut place = vec![NONE; order.len()];
        for (new, &old) in order.iter().enumerate() {
            if let Some(slot) = place.get_mut(old as usize) {
                *slot = new as u32;
            }
        }
        check_size(
            "unknowns that the order names",
            place.iter().filter(|&&new| new != NONE).count(),
            order.len(),
        )?;
        let mut offsets = Vec::with_capacity(order.len() + 1);
        let (mut columns, mut values) =
            (Vec::with_capacity(self.entries()), Vec::with_capacity(self.entries()));
        offsets.push(0);
        let mut entries: Vec<(u32, f64)> = Vec::new();
        for &old in order {
            let (from, given) = self.row(old as usize);
            entries.clear();
            entries.extend(from.iter().zip(given).map(|(&column, &value)| (place[column as usize], value)));
            entries.sort_unstable_by_key(|entry| entry.0);
            columns.extend(entries.iter().map(|entry| entry.0));
            values.extend(entries.iter().map(|entry| entry.1));
            offsets.push(columns.len());
        }
        Self::from_parts(self.cols(), offsets, columns, values)
    }

    /// The square submatrix of rows and columns `range`.
    pub fn diagonal_block(&self, range: std::ops::Range<usize>) -> Self {
        let mut block = Self::with_capacity(range.len(), range.len(), 0);
        for i in range.clone() {
            let (columns, values) = self.row(i);
            let first = columns.partition_point(|&column| (column as usize) < range.start);
            let last = columns.partition_point(|&column| (column as usize) < range.end);
            block.columns.extend(columns[first..last].iter().map(|column| column - range.start as u32));
            block.values.extend_from_slice(&values[first..last]);
            block.offsets.push(block.columns.len());
        }
        block
    }

    /// Builds row `i` by `fill(i, stamp, accumulator)`, chunks of rows in parallel, joined in order.
    fn rows_in_parallel(
        rows: usize,
        cols: usize,
        fill: impl Fn(usize, usize, &mut Accumulator) + Sync,
    ) -> Self {
        let chunk = |accumulator: &mut Accumulator, chunk: usize| {
            let mut part = RowChunk { lengths: Vec::with_capacity(ROWS), columns: vec![], values: vec![] };
            for i in chunk * ROWS..rows.min((chunk + 1) * ROWS) {
                fill(i, i + 1, accumulator);
                part.lengths.push(accumulator.flush(&mut part.columns, &mut part.values));
            }
            part
        };
        let chunks = rows.div_ceil(ROWS);
        let parts: Vec<RowChunk> = if chunks > 1 {
            splashdown_parallel::collect_with(chunks, || Accumulator::new(cols), chunk)
        } else {
            let mut accumulator = Accumulator::new(cols);
            (0..chunks).map(|index| chunk(&mut accumulator, index)).collect()
        };
        let mut matrix = Self::with_capacity(rows, cols, parts.iter().map(|part| part.values.len()).sum());
        for part in parts {
            for length in part.lengths {
                matrix.offsets.push(matrix.offsets.last().copied().unwrap_or(0) + length);
            }
            matrix.columns.extend_from_slice(&part.columns);
            matrix.values.extend_from_slice(&part.values);
        }
        matrix
    }
}
