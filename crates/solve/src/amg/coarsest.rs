//! Direct solution on the coarsest level.

use super::level::smallest_diagonal;
use crate::CsrMatrix;

/// Dense Cholesky factor; a pivot that vanishes belongs to a null vector and is left out, which fixes that unknown to zero.
#[derive(Debug, Clone)]
pub(super) struct DenseCholesky {
    size: usize,
    /// Lower triangle by rows.
    factor: Vec<f64>,
    inverse: Vec<f64>,
    work: Vec<f64>,
    single: Vec<f32>,
}

/// A pivot below this fraction of its diagonal entry is rounding of zero.
const NULL_PIVOT: f64 = 1e-11;

impl DenseCholesky {
    pub fn new(matrix: &CsrMatrix) -> Self {
        let size = matrix.rows();
        let mut factor = matrix.to_dense();
        let mut inverse = vec![0.0; size];
        let smallest = smallest_diagonal(matrix);
        for i in 0..size {
            let diagonal = factor[i * size + i];
            for j in 0..=i {
                let (above, below) = factor.split_at(i * size);
                let row = if j < i { &above[j * size..j * size + j] } else { &below[..j] };
                let sum = below[j] - row.iter().zip(&below[..j]).map(|(a, b)| a * b).sum::<f64>();
                if j < i {
                    factor[i * size + j] = sum * inverse[j];
                } else if sum > (NULL_PIVOT * diagonal).max(smallest) {
                    inverse[i] = 1.0 / sum.sqrt();
                }
            }
        }
        Self { size, factor, inverse, work: vec![0.0; size], single: vec![0.0; size] }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn bytes(&self) -> usize {
        8 * (self.factor.len() + 2 * self.size) + 4 * self.size
    }

    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.work.copy_from_slice(b);
        self.solve_work();
        x.copy_from_slice(&self.work);
    }

    /// `load` fills the right-hand side, `store` receives the solution.
    pub fn solve_single(&mut self, load: impl FnOnce(&mut [f32]), store: impl FnOnce(&[f32])) {
        load(&mut self.single);
        for (work, b) in self.work.iter_mut().zip(&self.single) {
            *work = f64::from(*b);
        }
        self.solve_work();
        for (x, work) in self.single.iter_mut().zip(&self.work) {
            *x = *work as f32;
        }
        store(&self.single);
    }

    fn solve_work(&mut self) {
        let size = self.size;
        for i in 0..size {
            let row = &self.factor[i * size..i * size + i];
            let sum: f64 = row.iter().zip(&self.work[..i]).map(|(l, y)| l * y).sum();
            self.work[i] = (self.work[i] - sum) * self.inverse[i];
        }
        for i in (0..size).rev() {
            let x = self.work[i] * self.inverse[i];
            let row = &self.factor[i * size..i * size + i];
            for (y, l) in self.work[..i].iter_mut().zip(row) {
                *y -= l * x;
            }
            self.work[i] = x;
        }
    }
}
