//! Sparse matrices of small dense blocks.

use crate::LinearOperator;
use splashdown_parallel::prelude::*;
use std::sync::Arc;

/// Rows of blocks that one task multiplies.
const ROWS: usize = 2048;

/// Where the blocks of a matrix are: compressed rows, columns ascending in each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockPattern {
    /// Row `i` owns the blocks `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// Column of each block.
    pub columns: Vec<u32>,
}

impl BlockPattern {
    /// Rows of blocks.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The place of a block, if it is stored.
    pub fn place(&self, row: usize, column: u32) -> Option<usize> {
        let first = self.offsets[row];
        self.columns[first..self.offsets[row + 1]].binary_search(&column).ok().map(|at| first + at)
    }
}

/// A square matrix of `D x D` blocks, row-major inside: 4 bytes of index a block instead of 4 an entry, and one read of the argument for `D` rows.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockCsrMatrix<const D: usize> {
    pattern: Arc<BlockPattern>,
    values: Vec<[[f64; D]; D]>,
}

impl<const D: usize> BlockCsrMatrix<D> {
    /// The zero matrix with room for the blocks of `pattern`.
    pub fn zeros(pattern: Arc<BlockPattern>) -> Self {
        let values = vec![[[0.0; D]; D]; pattern.columns.len()];
        Self { pattern, values }
    }

    /// Where the blocks are.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// The blocks, in the order of the pattern.
    pub fn values(&self) -> &[[[f64; D]; D]] {
        &self.values
    }

    /// The blocks, to be changed.
    pub fn values_mut(&mut self) -> &mut [[[f64; D]; D]] {
        &mut self.values
    }

    /// `y = A x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!((x.len(), y.len()), (self.cols(), self.rows()), "a vector of the size of the matrix");
        let rows = Rows { pattern: &self.pattern, values: self.values.as_flattened().as_flattened(), x };
        y.par_chunks_mut(D * ROWS).enumerate().for_each(|(chunk, y)| {
            let first = ROWS * chunk;
            #[cfg(target_arch = "x86_64")]
            if D == 3 && is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has what the function needs.
                unsafe { rows.multiply_in_lanes(first, y) };
                return;
            }
            rows.multiply::<D>(first, y);
        });
    }
}

/// What a product reads.
struct Rows<'a> {
    pattern: &'a BlockPattern,
    values: &'a [f64],
    x: &'a [f64],
}

impl Rows<'_> {
    /// The rows of blocks from `first` on. Every column of a block has a sum of its own until the end of the row, as lanes have.
    fn multiply<const D: usize>(&self, first: usize, y: &mut [f64]) {
        let (values, x) = (self.values.as_chunks::<D>().0, self.x.as_chunks::<D>().0);
        for (row, y) in (first..).zip(y.as_chunks_mut::<D>().0) {
            let mut sums = [[0.0; D]; D];
            for at in self.pattern.offsets[row]..self.pattern.offsets[row + 1] {
                let x = &x[self.pattern.columns[at] as usize];
                for (sums, values) in sums.iter_mut().zip(&values[D * at..D * (at + 1)]) {
                    for k in 0..D {
                        sums[k] += values[k] * x[k];
                    }
                }
            }
            *y = sums.map(|sums| sums.iter().sum());
        }
    }

    /// The same bits for blocks of three rows.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn multiply_in_lanes(&self, first: usize, y: &mut [f64]) {
        use std::arch::x86_64::{
            _mm256_add_pd, _mm256_maskload_pd, _mm256_mul_pd, _mm256_set_epi64x, _mm256_setzero_pd,
            _mm256_storeu_pd,
        };
        let three = _mm256_set_epi64x(0, -1, -1, -1);
        // SAFETY: three numbers are there, and no more are read.
        let load = |three_numbers: &[f64; 3]| unsafe { _mm256_maskload_pd(three_numbers.as_ptr(), three) };
        let (values, x) = (self.values.as_chunks::<3>().0, self.x.as_chunks::<3>().0);
        for (row, y) in (first..).zip(y.as_chunks_mut::<3>().0) {
            let mut sums = [_mm256_setzero_pd(); 3];
            let own = self.pattern.offsets[row]..self.pattern.offsets[row + 1];
            let blocks = values[3 * own.start..3 * own.end].as_chunks::<3>().0;
            for (block, &column) in blocks.iter().zip(&self.pattern.columns[own]) {
                let x = load(&x[column as usize]);
                for i in 0..3 {
                    sums[i] = _mm256_add_pd(sums[i], _mm256_mul_pd(load(&block[i]), x));
                }
            }
            for i in 0..3 {
                let mut lanes = [0.0; 4];
                // SAFETY: there is room for four numbers.
                unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), sums[i]) };
                y[i] = lanes[..3].iter().sum();
            }
        }
    }
}

impl<const D: usize> LinearOperator for BlockCsrMatrix<D> {
    fn rows(&self) -> usize {
        D * self.pattern.rows()
    }

    fn cols(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.multiply(x, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CsrMatrix;

    #[test]
    fn blocks_multiply_as_the_entries_they_are_made_of() {
        let count = 3000u32;
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for row in 0..count {
            let mut own = vec![row, (7 * row + 3) % count, (row * row + 1) % count];
            own.sort_unstable();
            own.dedup();
            columns.extend(own);
            offsets.push(columns.len());
        }
        let mut matrix = BlockCsrMatrix::<3>::zeros(Arc::new(BlockPattern { offsets, columns }));
        let mut seed = 0.3;
        for entry in matrix.values_mut().iter_mut().flatten().flatten() {
            seed = (1.0 + 3.9 * seed * (1.0 - seed)) % 1.0;
            *entry = seed - 0.5;
        }
        let pattern = matrix.pattern().clone();
        let rows = (0..3 * count as usize).map(|scalar| {
            let (row, i) = (scalar / 3, scalar % 3);
            let own = pattern.offsets[row]..pattern.offsets[row + 1];
            let entries = |at: usize| {
                let (column, block) = (3 * pattern.columns[at] as usize, &matrix.values()[at][i]);
                (0..3).map(move |k| (column + k, block[k]))
            };
            own.flat_map(entries).collect::<Vec<_>>()
        });
        let flat = CsrMatrix::from_rows(3 * count as usize, rows).unwrap();
        let x: Vec<f64> = (0..3 * count).map(|i| f64::from(i).sin()).collect();
        let (mut own, mut expected) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        matrix.multiply(&x, &mut own);
        flat.multiply(&x, &mut expected);
        assert!(own.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14));
        // Lanes change no bit.
        let rows =
            Rows { pattern: matrix.pattern(), values: matrix.values().as_flattened().as_flattened(), x: &x };
        let mut plain = vec![0.0; x.len()];
        rows.multiply::<3>(0, &mut plain);
        assert_eq!(own, plain);
        assert_eq!(pattern.place(5, 5).map(|at| pattern.columns[at]), Some(5));
    }
}
