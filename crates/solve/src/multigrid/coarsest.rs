//! Direct solution on the coarsest grid.

use super::level::CellOperator;

/// Banded Cholesky factor of the coarsest operator. The last pivot of a region without Dirichlet boundary vanishes and is left out,
/// which fixes the value there to zero: a symmetric generalised inverse, right for every compatible right-hand side.
#[derive(Debug, Clone)]
pub(super) struct BandedCholesky {
    /// Flat cell of each unknown, in the order of elimination.
    cells: Vec<u32>,
    /// Entries below the diagonal that a row may have.
    band: usize,
    /// Row `i` holds `L[i][i - band ..= i]`.
    factor: Vec<f64>,
    /// Reciprocal pivots, zero where left out.
    inverse: Vec<f64>,
    work: Vec<f64>,
}

/// A pivot below this fraction of the diagonal is rounding.
const NULL_PIVOT: f64 = 1e-14;

impl BandedCholesky {
    pub fn new(operator: &CellOperator) -> Self {
        let n = operator.n;
        // The longest axis outermost keeps the band narrow.
        let mut axes = [0, 1, 2];
        axes.sort_by_key(|&axis| n[axis]);
        let strides = operator.strides();
        let mut cells = Vec::new();
        let mut position = vec![usize::MAX; operator.cells()];
        for c in 0..n[axes[2]] {
            for b in 0..n[axes[1]] {
                for a in 0..n[axes[0]] {
                    let cell = a * strides[axes[0]] + b * strides[axes[1]] + c * strides[axes[2]];
                    if operator.diagonal(operator.at(cell), cell) > 0.0 {
                        position[cell] = cells.len();
                        cells.push(cell as u32);
                    }
                }
            }
        }
        let count = cells.len();
        let mut band = 0;
        let mut entries = Vec::new();
        for (row, &cell) in cells.iter().enumerate() {
            let cell = cell as usize;
            for axis in 0..3 {
                let weight = f64::from(operator.upper[axis][cell]);
                if weight > 0.0 {
                    let other = position[cell + strides[axis]];
                    band = band.max(row.abs_diff(other));
                    entries.push((row.max(other), row.min(other), weight));
                }
            }
        }
        let floating = last_of_floating(operator, &cells, &entries);
        let pitch = band + 1;
        let mut factor = vec![0.0; count * pitch];
        let mut diagonal = vec![0.0; count];
        for (row, &cell) in cells.iter().enumerate() {
            diagonal[row] = operator.diagonal(operator.at(cell as usize), cell as usize);
            factor[row * pitch + band] = diagonal[row];
        }
        for (row, column, weight) in entries {
            factor[row * pitch + band + column - row] -= weight;
        }
        let mut inverse = vec![0.0; count];
        for row in 0..count {
            let first = row.saturating_sub(band);
            for column in first..=row {
                let from = first.max(column.saturating_sub(band));
                let mut sum = factor[row * pitch + band + column - row];
                for k in from..column {
                    sum -= factor[row * pitch + band + k - row] * factor[column * pitch + band + k - column];
                }
                if column < row {
                    factor[row * pitch + band + column - row] = sum * inverse[column];
                } else if !floating[row] && sum > NULL_PIVOT * diagonal[row] {
                    factor[row * pitch + band] = sum.sqrt();
                    inverse[row] = 1.0 / sum.sqrt();
                }
            }
        }
        Self { cells, band, factor, inverse, work: vec![0.0; count] }
    }

    /// Solves in place: `field(cell)` reads the right-hand side, `store(cell, value)` takes the solution.
    pub fn solve(&mut self, field: impl Fn(usize) -> f32, mut store: impl FnMut(usize, f32)) {
        let (band, pitch) = (self.band, self.band + 1);
        for row in 0..self.cells.len() {
            let first = row.saturating_sub(band);
            let mut sum = f64::from(field(self.cells[row] as usize));
            let factors = &self.factor[row * pitch + band + first - row..row * pitch + band];
            for (l, y) in factors.iter().zip(&self.work[first..row]) {
                sum -= l * y;
            }
            self.work[row] = sum * self.inverse[row];
        }
        for row in (0..self.cells.len()).rev() {
            let first = row.saturating_sub(band);
            let x = self.work[row] * self.inverse[row];
            self.work[row] = x;
            let factors = &self.factor[row * pitch + band + first - row..row * pitch + band];
            for (l, y) in factors.iter().zip(&mut self.work[first..row]) {
                *y -= l * x;
            }
        }
        for (&cell, &x) in self.cells.iter().zip(&self.work) {
            store(cell as usize, x as f32);
        }
    }

    pub fn bytes(&self) -> usize {
        8 * (self.factor.len() + self.inverse.len() + self.work.len()) + 4 * self.cells.len()
    }
}

/// Which rows are the last of a region without Dirichlet boundary. Told by the connections: with weights that differ by powers of ten the size of a pivot does not tell.
fn last_of_floating(operator: &CellOperator, cells: &[u32], entries: &[(usize, usize, f64)]) -> Vec<bool> {
    // Every row points to a later one of its region, the last to itself.
    let mut later: Vec<usize> = (0..cells.len()).collect();
    fn last(later: &mut [usize], mut row: usize) -> usize {
        while later[row] != row {
            later[row] = later[later[row]];
            row = later[row];
        }
        row
    }
    for &(high, low, _) in entries {
        let (a, b) = (last(&mut later, high), last(&mut later, low));
        later[a.min(b)] = a.max(b);
    }
    let mut floating: Vec<bool> = (0..cells.len()).map(|row| later[row] == row).collect();
    for (row, &cell) in cells.iter().enumerate() {
        if operator.extra[cell as usize] > 0.0 {
            floating[last(&mut later, row)] = false;
        }
    }
    floating
}
