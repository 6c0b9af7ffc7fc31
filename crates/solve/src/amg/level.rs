//! One level in single precision: matrix, transfers, smoother and vectors.

use crate::CsrMatrix;
use splashdown_parallel::prelude::*;

/// Compressed rows with 8 bytes an entry.
#[derive(Debug, Clone, Default)]
pub(super) struct Compressed {
    offsets: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

/// Rows that one parallel task of a product handles.
const ROWS: usize = 4096;

impl Compressed {
    pub fn new(matrix: &CsrMatrix) -> Self {
        Self {
            offsets: matrix.offsets().iter().map(|&offset| offset as u32).collect(),
            columns: matrix.columns().to_vec(),
            values: matrix.values().iter().map(|&value| value as f32).collect(),
        }
    }

    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    pub fn entries(&self) -> usize {
        self.values.len()
    }

    pub fn bytes(&self) -> usize {
        4 * (self.offsets.len() + 2 * self.values.len())
    }

    /// No rows yet, and room for so many.
    fn with_capacity(rows: usize, entries: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, columns: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    fn push(&mut self, column: u32, value: f32) {
        self.columns.push(column);
        self.values.push(value);
    }

    fn end_row(&mut self) {
        self.offsets.push(self.values.len() as u32);
    }

    #[inline]
    fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    #[inline]
    fn product(&self, i: usize, x: &[f32]) -> f32 {
        let row = self.range(i);
        let (columns, values) = (&self.columns[row.clone()], &self.values[row]);
        columns.iter().zip(values).map(|(&column, value)| value * x[column as usize]).sum()
    }

    /// `y = A x`.
    pub fn multiply(&self, x: &[f32], y: &mut [f32]) {
        for_rows(y, |i, y| *y = self.product(i, x));
    }

    /// `y += A x`.
    pub fn add_multiply(&self, x: &[f32], y: &mut [f32]) {
        for_rows(y, |i, y| *y += self.product(i, x));
    }
}

fn for_rows(y: &mut [f32], each: impl Fn(usize, &mut f32) + Sync) {
    if y.len() <= 2 * ROWS {
        y.iter_mut().enumerate().for_each(|(i, y)| each(i, y));
    } else {
        y.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, y)| {
            y.iter_mut().enumerate().for_each(|(i, y)| each(chunk * ROWS + i, y));
        });
    }
}

/// A diagonal entry below this is rounding of zero: the unknown stands for a region that the operator does not see.
pub(super) fn smallest_diagonal(matrix: &CsrMatrix) -> f64 {
    1e-13 * (0..matrix.rows()).map(|i| matrix.get(i, i)).fold(0.0, f64::max)
}

/// One level of the hierarchy.
///
/// The matrix is symmetric, so its strict lower triangle within smoother blocks and its diagonal are all that a sweep reads: each entry serves its row (gathered)
/// and its mirror image (scattered) in the same pass. Only couplings between blocks are stored both ways.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// Strict lower triangle within blocks; columns count from the first row of the block.
    lower: Compressed,
    /// Couplings to other blocks, both ways.
    outside: Compressed,
    diagonal: Vec<f32>,
    pub prolongation: Compressed,
    pub restriction: Compressed,
    /// Reciprocal of the diagonal enlarged by half the coupling to other blocks; zero where the diagonal is.
    inverse: Vec<f32>,
    /// Rows of a smoother block.
    block: usize,
    /// Stored entries of the whole matrix.
    pub entries: usize,
    pub x: Vec<f32>,
    pub b: Vec<f32>,
    pub r: Vec<f32>,
}

impl Level {
    pub fn new(matrix: &CsrMatrix, prolongation: &CsrMatrix, restriction: &CsrMatrix) -> Self {
        let mut level = Self::last(matrix);
        level.prolongation = Compressed::new(prolongation);
        level.restriction = Compressed::new(restriction);
        level
    }

    /// A level without a coarser one.
    pub fn last(matrix: &CsrMatrix) -> Self {
        let rows = matrix.rows();
        // A fixed number of blocks, whatever the number of threads; fewer for small levels.
        let block = rows.div_ceil(16).max(2048);
        let smallest = smallest_diagonal(matrix);
        let mut lower = Compressed::with_capacity(rows, matrix.entries() / 2);
        let mut outside = Compressed::with_capacity(rows, 0);
        let (mut diagonal, mut inverse) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for i in 0..rows {
            let first = i / block * block;
            let (columns, values) = matrix.row(i);
            let (mut own, mut coupling) = (0.0, 0.0);
            for (&column, &value) in columns.iter().zip(values) {
                let at = column as usize;
                if at == i {
                    own = value;
                } else if !(first..first + block).contains(&at) {
                    coupling += value.abs();
                    outside.push(column, value as f32);
                } else if at < i {
                    lower.push(column - first as u32, value as f32);
                }
            }
            lower.end_row();
            outside.end_row();
            diagonal.push(own as f32);
            inverse.push(if own > smallest { (1.0 / (own + 0.5 * coupling)) as f32 } else { 0.0 });
        }
        Self {
            lower,
            outside,
            diagonal,
            prolongation: Compressed::default(),
            restriction: Compressed::default(),
            inverse,
            block,
            entries: matrix.entries(),
            x: vec![0.0; rows],
            b: vec![0.0; rows],
            r: vec![0.0; rows],
        }
    }

    pub fn bytes(&self) -> usize {
        self.lower.bytes()
            + self.outside.bytes()
            + self.prolongation.bytes()
            + self.restriction.bytes()
            + 4 * (self.diagonal.len() + self.inverse.len() + self.x.len() + self.b.len() + self.r.len())
    }

    /// `x = M^-1 b`, `M` the lower triangle within blocks: one forward sweep from zero. On the way `r = b - A x`: with `M x = b`, only
    /// `(M - A) x` is left of it, the part above the diagonal (scattered by symmetry) and outside the block.
    pub fn pre_smooth(&mut self) {
        let Self { lower, outside, diagonal, inverse, block, x, b, r, .. } = self;
        x.par_chunks_mut(*block).zip(r.par_chunks_mut(*block)).enumerate().for_each(|(number, (x, r))| {
            let rows = number * *block..number * *block + x.len();
            let (b, diagonal, inverse) = (&b[rows.clone()], &diagonal[rows.clone()], &inverse[rows.clone()]);
            for i in 0..x.len() {
                let row = lower.range(rows.start + i);
                let (columns, values) = (&lower.columns[row.clone()], &lower.values[row]);
                let mut sum = b[i];
                for (&column, &value) in columns.iter().zip(values) {
                    sum -= value * x[column as usize];
                }
                let solved = sum * inverse[i];
                x[i] = solved;
                r[i] = sum - diagonal[i] * solved;
                for (&column, &value) in columns.iter().zip(values) {
                    r[column as usize] -= value * solved;
                }
            }
        });
        if outside.entries() > 0 {
            for_rows(r, |i, r| *r -= outside.product(i, x));
        }
    }

    /// `x += M^-T (b - A x)`: one backward sweep; rows of other blocks count with their values before it.
    pub fn post_smooth(&mut self) {
        let Self { lower, outside, diagonal, inverse, block, x, b, r, .. } = self;
        // `r` collects `A x` from rows that are done and from other blocks.
        if outside.entries() > 0 {
            for_rows(r, |i, r| *r = outside.product(i, x));
        } else {
            r.fill(0.0);
        }
        x.par_chunks_mut(*block).zip(r.par_chunks_mut(*block)).enumerate().for_each(|(number, (x, r))| {
            let rows = number * *block..number * *block + x.len();
            let (b, diagonal, inverse) = (&b[rows.clone()], &diagonal[rows.clone()], &inverse[rows.clone()]);
            for i in (0..x.len()).rev() {
                let row = lower.range(rows.start + i);
                let (columns, values) = (&lower.columns[row.clone()], &lower.values[row]);
                let mut sum = b[i] - r[i] - diagonal[i] * x[i];
                for (&column, &value) in columns.iter().zip(values) {
                    sum -= value * x[column as usize];
                }
                let solved = x[i] + sum * inverse[i];
                x[i] = solved;
                for (&column, &value) in columns.iter().zip(values) {
                    r[column as usize] += value * solved;
                }
            }
        });
    }
}
