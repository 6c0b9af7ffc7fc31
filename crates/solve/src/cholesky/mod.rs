//! Sparse Cholesky factors, multifrontal with supernodes (Duff, Reid 1983; Liu 1992).
//!
//! Each supernode is a dense panel. What its elimination does to later columns is a dense update that its parent adds to its own; updates wait on a stack,
//! because the supernodes come in postorder.

mod dense;
mod order;
mod symbolic;
#[cfg(test)]
mod tests;

use crate::error::check_size;
use crate::{CsrMatrix, Preconditioner, SolveError};
use dense::{Strip, factorise_panel, subtract_product};
use std::sync::Arc;
use symbolic::{ROOT, Symbolic};

/// A matrix that leaves less than this part of a diagonal entry is singular but for rounding: what rounding is on the right-hand side would come back multiplied by as much.
const SINGULAR: f64 = 1e-11;
/// Diagonal shift, relative, that makes a semidefinite matrix definite.
const SEMIDEFINITE_SHIFT: f64 = 1e-9;
/// What errors call the matrix.
const WHAT: &str = "sparse matrix";

/// Right-hand sides that [`SparseCholesky::solve_lanes`] takes at once.
pub const LANES: usize = 8;

/// An exact factor `P A P^T = L L^T` with a fill-reducing order: a direct solver for small and medium systems, and a preconditioner.
#[derive(Debug, Clone)]
pub struct SparseCholesky {
    symbolic: Arc<Symbolic>,
    /// Panels of the supernodes.
    values: Vec<f64>,
    shift: f64,
    /// Numbers between the passes of a solve, kept to save their allocation.
    scratch: Vec<f64>,
}

/// The analysis of the last pattern that was factorised with it.
#[derive(Debug, Clone, Default)]
pub struct PatternMemory {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    symbolic: Option<Arc<Symbolic>>,
}

impl PatternMemory {
    fn analysis(&mut self, matrix: &CsrMatrix) -> Result<Arc<Symbolic>, SolveError> {
        if let Some(symbolic) = &self.symbolic
            && self.offsets == matrix.offsets()
            && self.columns == matrix.columns()
        {
            return Ok(Arc::clone(symbolic));
        }
        let symbolic = Arc::new(Symbolic::new(matrix)?);
        self.offsets = matrix.offsets().to_vec();
        self.columns = matrix.columns().to_vec();
        self.symbolic = Some(Arc::clone(&symbolic));
        Ok(symbolic)
    }
}

impl SparseCholesky {
    /// Factorises a symmetric positive definite matrix.
    ///
    /// # Errors
    /// A matrix that is not square, not symmetric (to 1e-12) or not positive definite; not enough memory.
    pub fn new(matrix: &CsrMatrix) -> Result<Self, SolveError> {
        Self::analysed(matrix, &mut PatternMemory::default())?.factorised(matrix, 0.0)
    }

    /// [`Self::new`], without the analysis where `memory` has it from a matrix of the same pattern; the factor has the same bits either way.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn remembering(matrix: &CsrMatrix, memory: &mut PatternMemory) -> Result<Self, SolveError> {
        Self::analysed(matrix, memory)?.factorised(matrix, 0.0)
    }

    /// Factorises a positive semidefinite matrix; a singular one is shifted by a relative 1e-9 of its diagonal, which as a preconditioner
    /// costs an iteration or two.
    ///
    /// # Errors
    /// As [`Self::new`], for indefinite matrices only.
    pub fn of_semidefinite(matrix: &CsrMatrix) -> Result<Self, SolveError> {
        let analysed = Self::analysed(matrix, &mut PatternMemory::default())?;
        match analysed.clone().factorised(matrix, 0.0) {
            Ok(factor) if factor.least_pivot(matrix) > SINGULAR => Ok(factor),
            Ok(_) | Err(SolveError::NotPositiveDefinite { .. }) => {
                analysed.factorised(matrix, SEMIDEFINITE_SHIFT)
            }
            other => other,
        }
    }

    /// Least part of a diagonal entry that elimination has left.
    fn least_pivot(&self, matrix: &CsrMatrix) -> f64 {
        let (symbolic, diagonal) = (&self.symbolic, matrix.diagonal());
        let of_node = |node: usize| {
            let (columns, height) = (symbolic.columns_of(node), symbolic.rows_of(node).len());
            let panel = &self.values[symbolic.panel_starts[node]..];
            let of = |(k, column): (usize, usize)| {
                panel[k * height + k].powi(2) / diagonal[symbolic.order[column] as usize]
            };
            columns.enumerate().map(of).fold(f64::INFINITY, f64::min)
        };
        (0..symbolic.nodes()).map(of_node).fold(f64::INFINITY, f64::min)
    }

    fn analysed(matrix: &CsrMatrix, memory: &mut PatternMemory) -> Result<Self, SolveError> {
        check_size("columns of the matrix", matrix.cols(), matrix.rows())?;
        if !matrix.is_symmetric(1e-12) {
            let difference = matrix.asymmetry();
            return Err(SolveError::NotSymmetric { what: WHAT.into(), row: 0, column: 0, difference });
        }
        let symbolic = memory.analysis(matrix)?;
        Ok(Self { symbolic, values: Vec::new(), shift: 0.0, scratch: Vec::new() })
    }

    fn factorised(mut self, matrix: &CsrMatrix, shift: f64) -> Result<Self, SolveError> {
        self.values = self.factor(matrix, shift)?;
        self.shift = shift;
        Ok(self)
    }

    /// Factorises another symmetric positive definite matrix with the same pattern; saves the analysis. The symmetry is the caller's promise.
    ///
    /// # Errors
    /// Another pattern, a matrix that is not positive definite; not enough memory. The factor is then the old one.
    pub fn refactorise(&mut self, matrix: &CsrMatrix) -> Result<(), SolveError> {
        check_size("rows of the matrix", matrix.rows(), self.size())?;
        let entries = self.symbolic.entries.len();
        // Every entry but those of the diagonal is there twice.
        check_size("entries of the matrix", matrix.values().len() + self.size(), 2 * entries)?;
        self.values = self.factor(matrix, 0.0)?;
        self.shift = 0.0;
        Ok(())
    }

    /// Relative shift of the diagonal that was needed; zero for a definite matrix.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// Numbers that the factor stores, some of them zero.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    fn size(&self) -> usize {
        self.symbolic.order.len()
    }

    fn factor(&self, matrix: &CsrMatrix, shift: f64) -> Result<Vec<f64>, SolveError> {
        let symbolic = &self.symbolic;
        let total = symbolic.panel_starts.last().copied().unwrap_or(0);
        let mut values = Vec::new();
        values
            .try_reserve_exact(total)
            .map_err(|_| SolveError::OutOfMemory { what: "sparse Cholesky factor".into() })?;
        values.resize(total, 0.0);
        let given = matrix.values();
        let mut diagonal = Vec::new();
        // Updates of supernodes whose parents are still to come, the last one on top: start in `stack`, supernode.
        let (mut stack, mut waiting): (Vec<f64>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for node in 0..symbolic.nodes() {
            let columns = symbolic.columns_of(node);
            let (height, wide) = (symbolic.rows_of(node).len(), columns.len());
            let below = height - wide;
            let panel = &mut values[symbolic.panel_starts[node]..symbolic.panel_starts[node + 1]];
            for &(from, to) in symbolic.entries_of(node) {
                panel[to as usize] = given[from as usize];
            }
            for k in 0..wide {
                panel[k * height + k] *= 1.0 + shift;
            }
            diagonal.clear();
            diagonal.extend((0..wide).map(|k| panel[k * height + k]));
            let top = stack.len();
            stack.resize(top + below * below, 0.0);
            let (older, update) = stack.split_at_mut(top);
            let mut base = top;
            while let Some(&(start, child)) = waiting.last() {
                if symbolic.parent[child] as usize != node {
                    break;
                }
                let places = symbolic.in_parent_of(child);
                let from = &older[start..start + places.len() * places.len()];
                extend_add(from, places, panel, height, wide, update);
                base = start;
                waiting.pop();
            }
            factorise_panel(panel, height, wide, &diagonal).map_err(|column| {
                let row = symbolic.order[columns.start + column] as usize;
                SolveError::NotPositiveDefinite { what: WHAT.into(), row }
            })?;
            if below > 0 && symbolic.parent[node] != ROOT {
                let factor = Strip { values: &panel[wide..], stride: height, columns: wide };
                subtract_product(update, below, below, below, factor);
                stack.copy_within(top..top + below * below, base);
                waiting.push((base, node));
                stack.truncate(base + below * below);
            } else {
                stack.truncate(base);
            }
        }
        Ok(values)
    }

    /// `x = A^-1 b`.
    ///
    /// # Errors
    /// Lengths that do not fit, a right-hand side that is not finite.
    pub fn solve(&mut self, rhs: &[f64], x: &mut [f64]) -> Result<(), SolveError> {
        check_size("right-hand side", rhs.len(), self.size())?;
        check_size("solution", x.len(), self.size())?;
        crate::error::check_finite("right-hand side", rhs)?;
        self.solve_unchecked(rhs, x);
        Ok(())
    }

    /// Solves for [`LANES`] right-hand sides at once, in place: each entry has that of all of them. One pass over the factor serves all, which for few unknowns is what a solve costs.
    ///
    /// # Errors
    /// A length that does not fit.
    pub fn solve_lanes(&mut self, x: &mut [[f64; LANES]]) -> Result<(), SolveError> {
        check_size("right-hand sides", x.len(), self.size())?;
        let Self { symbolic, values, .. } = self;
        let mut y: Vec<[f64; LANES]> = symbolic.order.iter().map(|&old| x[old as usize]).collect();
        let panel = |node: usize| &values[symbolic.panel_starts[node]..symbolic.panel_starts[node + 1]];
        for node in 0..symbolic.nodes() {
            let (columns, rows) = (symbolic.columns_of(node), symbolic.rows_of(node));
            for (k, column) in panel(node).chunks_exact(rows.len()).enumerate() {
                let value = y[columns.start + k].map(|value| value / column[k]);
                y[columns.start + k] = value;
                // Right-hand sides of contacts are zero nearly everywhere.
                if value == [0.0; LANES] {
                    continue;
                }
                for (&row, factor) in rows[k + 1..].iter().zip(&column[k + 1..]) {
                    let own = &mut y[row as usize];
                    for lane in 0..LANES {
                        own[lane] -= factor * value[lane];
                    }
                }
            }
        }
        for node in (0..symbolic.nodes()).rev() {
            let (columns, rows) = (symbolic.columns_of(node), symbolic.rows_of(node));
            for (k, column) in panel(node).chunks_exact(rows.len()).enumerate().rev() {
                let mut own = y[columns.start + k];
                for (&row, factor) in rows[k + 1..].iter().zip(&column[k + 1..]) {
                    let other = &y[row as usize];
                    for lane in 0..LANES {
                        own[lane] -= factor * other[lane];
                    }
                }
                y[columns.start + k] = own.map(|value| value / column[k]);
            }
        }
        for (value, &old) in y.iter().zip(&symbolic.order) {
            x[old as usize] = *value;
        }
        Ok(())
    }

    fn solve_unchecked(&mut self, rhs: &[f64], x: &mut [f64]) {
        let Self { symbolic, values, scratch, .. } = self;
        let size = symbolic.order.len();
        scratch.clear();
        scratch.extend(symbolic.order.iter().map(|&old| rhs[old as usize]));
        // Behind the unknowns: those below a panel, side by side.
        scratch.resize(size + symbolic.tallest, 0.0);
        let (y, gathered) = scratch.split_at_mut(size);
        let panel = |node: usize| &values[symbolic.panel_starts[node]..symbolic.panel_starts[node + 1]];
        // L y = b, then L^T x = y.
        for node in 0..symbolic.nodes() {
            let (columns, rows) = (symbolic.columns_of(node), symbolic.rows_of(node));
            let (wide, height) = (columns.len(), rows.len());
            let below = &mut gathered[..height - wide];
            below.fill(0.0);
            let own = &mut y[columns];
            for (k, column) in panel(node).chunks_exact(height).enumerate() {
                let value = own[k] / column[k];
                own[k] = value;
                subtract_scaled(value, &column[k + 1..wide], &mut own[k + 1..]);
                subtract_scaled(value, &column[wide..], below);
            }
            for (&row, change) in rows[wide..].iter().zip(below.iter()) {
                y[row as usize] += change;
            }
        }
        for node in (0..symbolic.nodes()).rev() {
            let (columns, rows) = (symbolic.columns_of(node), symbolic.rows_of(node));
            let (wide, height) = (columns.len(), rows.len());
            let below = &mut gathered[..height - wide];
            for (value, &row) in below.iter_mut().zip(&rows[wide..]) {
                *value = y[row as usize];
            }
            let own = &mut y[columns];
            for (k, column) in panel(node).chunks_exact(height).enumerate().rev() {
                let sum =
                    product_sum(&column[k + 1..wide], &own[k + 1..]) + product_sum(&column[wide..], below);
                own[k] = (own[k] - sum) / column[k];
            }
        }
        for (value, &old) in y.iter().zip(&symbolic.order) {
            x[old as usize] = *value;
        }
    }
}

/// `y -= value x`.
fn subtract_scaled(value: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= value * x;
    }
}

/// `x^T y`, in four sums that a processor makes at once.
fn product_sum(x: &[f64], y: &[f64]) -> f64 {
    let (x_fours, x_rest) = x.as_chunks::<4>();
    let (y_fours, y_rest) = y.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in x_fours.iter().zip(y_fours) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Adds the update of a child, whose rows are at `places` of the parent, to the parent's panel (`height` rows, `wide` columns) and to its own update.
fn extend_add(
    from: &[f64],
    places: &[u32],
    panel: &mut [f64],
    height: usize,
    wide: usize,
    update: &mut [f64],
) {
    let (size, below) = (places.len(), height - wide);
    for (j, column) in from.chunks_exact(size.max(1)).enumerate() {
        let place = places[j] as usize;
        if place < wide {
            let target = &mut panel[place * height..(place + 1) * height];
            for (&row, value) in places[j..].iter().zip(&column[j..]) {
                target[row as usize] += value;
            }
        } else {
            let target = &mut update[(place - wide) * below..(place - wide + 1) * below];
            for (&row, value) in places[j..].iter().zip(&column[j..]) {
                target[row as usize - wide] += value;
            }
        }
    }
}

impl Preconditioner for SparseCholesky {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        self.solve_unchecked(r, z);
    }
}
