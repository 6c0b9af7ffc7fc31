//! One level in single precision: matrix, transfers, smoother and vectors.

use crate::CsrMatrix;
use rayon::prelude::*;

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

    #[inline]
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&column, &value)| (column as usize, value))
    }

    #[inline]
    fn product(&self, i: usize, x: &[f32]) -> f32 {
        self.row(i).map(|(column, value)| value * x[column]).sum()
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

/// One level of the hierarchy.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub matrix: Compressed,
    pub prolongation: Compressed,
    pub restriction: Compressed,
    /// Reciprocal of the diagonal enlarged by half the coupling to other blocks; zero where the diagonal is.
    inverse: Vec<f32>,
    /// Rows of a smoother block.
    block: usize,
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
        let inverse = (0..rows)
            .into_par_iter()
            .with_min_len(ROWS)
            .map(|i| {
                let own = i / block * block..(i / block + 1) * block;
                let (columns, values) = matrix.row(i);
                let (mut diagonal, mut outside) = (0.0, 0.0);
                for (&column, &value) in columns.iter().zip(values) {
                    if column as usize == i {
                        diagonal = value;
                    } else if !own.contains(&(column as usize)) {
                        outside += value.abs();
                    }
                }
                if diagonal > 0.0 { (1.0 / (diagonal + 0.5 * outside)) as f32 } else { 0.0 }
            })
            .collect();
        Self {
            matrix: Compressed::new(matrix),
            prolongation: Compressed::default(),
            restriction: Compressed::default(),
            inverse,
            block,
            x: vec![0.0; rows],
            b: vec![0.0; rows],
            r: vec![0.0; rows],
        }
    }

    pub fn bytes(&self) -> usize {
        self.matrix.bytes()
            + self.prolongation.bytes()
            + self.restriction.bytes()
            + 4 * (self.inverse.len() + self.x.len() + self.b.len() + self.r.len())
    }

    /// `x = M^-1 b`, `M` the lower triangle within blocks: one forward sweep from zero.
    pub fn pre_smooth(&mut self) {
        let Self { matrix, inverse, block, x, b, .. } = self;
        x.par_chunks_mut(*block).enumerate().for_each(|(number, x)| {
            let first = number * *block;
            for i in 0..x.len() {
                let mut sum = b[first + i];
                for (column, value) in matrix.row(first + i) {
                    if column >= first + i {
                        break;
                    }
                    if column >= first {
                        sum -= value * x[column - first];
                    }
                }
                x[i] = sum * inverse[first + i];
            }
        });
    }

    /// `r = b - A x`.
    pub fn residual(&mut self) {
        let Self { matrix, x, b, r, .. } = self;
        for_rows(r, |i, r| *r = b[i] - matrix.product(i, x));
    }

    /// `x += M^-T (b - A x)`: one backward sweep.
    pub fn post_smooth(&mut self) {
        self.residual();
        let Self { matrix, inverse, block, x, r, .. } = self;
        x.par_chunks_mut(*block).zip(r.par_chunks_mut(*block)).enumerate().for_each(|(number, (x, r))| {
            let first = number * *block;
            let last = first + x.len();
            // The correction overwrites the residual from the end.
            for i in (0..x.len()).rev() {
                let row = matrix.offsets[first + i] as usize..matrix.offsets[first + i + 1] as usize;
                let mut sum = r[i];
                for (&column, &value) in matrix.columns[row.clone()].iter().zip(&matrix.values[row]).rev() {
                    let column = column as usize;
                    if column <= first + i {
                        break;
                    }
                    if column < last {
                        sum -= value * r[column - first];
                    }
                }
                r[i] = sum * inverse[first + i];
                x[i] += r[i];
            }
        });
    }
}
