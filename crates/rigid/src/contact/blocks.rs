//! The matrix of Newton steps: square blocks between bodies that something connects, with its factor.
//!
//! Which blocks there are depends on who touches whom only, not on what holds, so the guesses of one Newton step, its steps and often the next step of time have one
//! pattern, which is analysed once.

use splashdown_solve::{CsrMatrix, Preconditioner, SparseCholesky};

/// A symmetric positive definite matrix of blocks, and the factor of the last one.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    /// Rows of a block.
    size: usize,
    pattern: Pattern,
    values: Vec<f64>,
    /// With the pattern that it was made for.
    factor: Option<(Pattern, SparseCholesky)>,
}

/// Which blocks there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Pattern {
    /// Where the neighbours of each body start, and their number.
    first: Vec<u32>,
    /// Bodies with a block in the rows of each body, itself among them, ascending.
    neighbours: Vec<u32>,
}

impl Blocks {
    /// Starts anew with zeros between so many bodies and those that `links` connect.
    pub fn begin(&mut self, bodies: usize, size: usize, links: impl Iterator<Item = [usize; 2]>) {
        let key = |i: usize, j: usize| (i as u64) << 32 | j as u64;
        let mut pairs: Vec<u64> = (0..bodies).map(|i| key(i, i)).collect();
        pairs.extend(links.flat_map(|[i, j]| [key(i, j), key(j, i)]));
        pairs.sort_unstable();
        pairs.dedup();
        let Pattern { first, neighbours } = &mut self.pattern;
        neighbours.clear();
        neighbours.extend(pairs.iter().map(|pair| *pair as u32));
        first.clear();
        first.resize(bodies + 1, 0);
        pairs.iter().for_each(|pair| first[(pair >> 32) as usize + 1] += 1);
        for body in 0..bodies {
            first[body + 1] += first[body];
        }
        self.size = size;
        self.values.clear();
        self.values.resize(size * size * pairs.len(), 0.0);
    }

    /// Adds to the block of two bodies, which are connected.
    pub fn add(&mut self, row: usize, column: usize, block: impl Fn(usize, usize) -> f64) {
        let (first, end) = (self.pattern.first[row] as usize, self.pattern.first[row + 1] as usize);
        let Ok(place) = self.pattern.neighbours[first..end].binary_search(&(column as u32)) else { return };
        let (size, wide) = (self.size, self.size * (end - first));
        for i in 0..size {
            let start = size * size * first + i * wide + size * place;
            for (j, value) in self.values[start..start + size].iter_mut().enumerate() {
                *value += block(i, j);
            }
        }
    }

    /// The factor; `None` if the matrix is not positive definite.
    pub fn factorised(&mut self) -> Option<impl FnMut(&[f64], &mut [f64]) + '_> {
        let (size, Pattern { first, neighbours }) = (self.size, &self.pattern);
        let (mut offsets, mut columns) = (vec![0], Vec::with_capacity(self.values.len()));
        for ends in first.windows(2) {
            for _ in 0..size {
                for &body in &neighbours[ends[0] as usize..ends[1] as usize] {
                    columns.extend((0..size as u32).map(|k| size as u32 * body + k));
                }
                offsets.push(columns.len());
            }
        }
        let count = offsets.len() - 1;
        let matrix = CsrMatrix::from_parts(count, offsets, columns, std::mem::take(&mut self.values)).ok()?;
        match &mut self.factor {
            Some((pattern, factor)) if *pattern == self.pattern => factor.refactorise(&matrix).ok()?,
            factor => *factor = Some((self.pattern.clone(), SparseCholesky::new(&matrix).ok()?)),
        }
        let (_, factor) = self.factor.as_mut()?;
        Some(|right: &[f64], solution: &mut [f64]| factor.apply(right, solution))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_blocks_is_solved_again_and_again() {
        let (bodies, size) = (5, 3);
        let mut blocks = Blocks::default();
        for stiffness in [1.0, 7.0, 0.0] {
            blocks.begin(bodies, size, (1..bodies).map(|i| [i, i - 1]));
            let mut dense = vec![vec![0.0; bodies * size]; bodies * size];
            let mut add = |i: usize, j: usize, block: &dyn Fn(usize, usize) -> f64| {
                blocks.add(i, j, block);
                for r in 0..size {
                    for c in 0..size {
                        dense[i * size + r][j * size + c] += block(r, c);
                    }
                }
            };
            for i in 0..bodies {
                add(i, i, &|r, c| if r == c { 1.0 + (i + r) as f64 } else { 0.1 });
            }
            for i in 1..bodies {
                let flat = |r: usize| 0.3 + (r * i) as f64;
                for (p, q, sign) in [(i, i, 1.0), (i, i - 1, -1.0), (i - 1, i, -1.0), (i - 1, i - 1, 1.0)] {
                    add(p, q, &|r, c| sign * stiffness * flat(r) * flat(c));
                }
            }
            let right: Vec<f64> = (0..bodies * size).map(|k| (k as f64).sin()).collect();
            let mut solution = vec![0.0; bodies * size];
            let mut solve = blocks.factorised().unwrap();
            solve(&right, &mut solution);
            for (row, right) in dense.iter().zip(&right) {
                let product: f64 = row.iter().zip(&solution).map(|(a, x)| a * x).sum();
                assert!((product - right).abs() < 1e-9, "{product} {right}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_told() {
        let mut blocks = Blocks::default();
        for sign in [1.0, -1.0] {
            blocks.begin(2, 2, std::iter::once([0, 1]));
            (0..2).for_each(|i| blocks.add(i, i, |r, c| if r == c { sign } else { 0.0 }));
            assert_eq!(blocks.factorised().is_some(), sign > 0.0);
        }
    }
}
