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
        self.columns[range.clone()]
            .iter()
            .zip(&self.values[range])
            .map(|(&column, &value)| (column as usize, value))
    }

    #[inline]
    fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
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

/// A diagonal entry below this is rounding of zero: the unknown stands for a region that the operator does not see.
pub(super) fn smallest_diagonal(matrix: &CsrMatrix) -> f64 {
    1e-13 * (0..matrix.rows()).map(|i| matrix.get(i, i)).fold(0.0, f64::max)
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
        let smallest = smallest_diagonal(matrix);
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
                if diagonal > smallest { (1.0 / (diagonal + 0.5 * outside)) as f32 } else { 0.0 }
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

    /// `r = b - A x` after [`Self::pre_smooth`], which solved `M x = b`: only `(M - A) x` is left, the part above the diagonal and outside
    /// the block.
    pub fn residual(&mut self) {
        let Self { matrix, inverse, block, x, b, r, .. } = self;
        r.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, r)| {
            for (i, r) in (chunk * ROWS..).zip(r) {
                let first = i / *block * *block;
                let row = matrix.range(i);
                let (columns, values) = (&matrix.columns[row.clone()], &matrix.values[row]);
                let mut sum = 0.0;
                let mut next = 0;
                while next < columns.len() && (columns[next] as usize) < first {
                    sum -= values[next] * x[columns[next] as usize];
                    next += 1;
                }
                next += columns[next..].iter().take_while(|&&column| (column as usize) < i).count();
                if next < columns.len() && columns[next] as usize == i {
                    if inverse[i] > 0.0 {
                        sum += (1.0 / inverse[i] - values[next]) * x[i];
                    } else {
                        sum += b[i];
                    }
                    next += 1;
                }
                for (&column, &value) in columns[next..].iter().zip(&values[next..]) {
                    sum -= value * x[column as usize];
                }
                *r = sum;
            }
        });
    }

    /// `x += M^-T (b - A x)`: one backward sweep; rows of other blocks count with their values before it.
    pub fn post_smooth(&mut self) {
        let Self { matrix, inverse, block, x, b, r, .. } = self;
        r.copy_from_slice(x);
        let before = &*r;
        x.par_chunks_mut(*block).enumerate().for_each(|(number, x)| {
            let first = number * *block;
            let len = x.len();
            for i in (0..len).rev() {
                let row = matrix.range(first + i);
                let mut sum = b[first + i];
                for (&column, &value) in matrix.columns[row.clone()].iter().zip(&matrix.values[row]) {
                    let column = column as usize;
                    let local = column.wrapping_sub(first);
                    sum -= value * if local < len { x[local] } else { before[column] };
                }
                x[i] += sum * inverse[first + i];
            }
        });
    }
}
