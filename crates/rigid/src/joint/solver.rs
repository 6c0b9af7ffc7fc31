//! `A x = b` with bounds on some of the unknowns: the linear system of impulses behind all joint processes.

use splashdown_solve::{
    BlockJacobi, CsrMatrix, Iteration, LinearOperator, Preconditioner, SparseCholesky, Stopping, Workspace,
    pcg,
};

/// Systems up to this size are factorised as one dense block.
const DENSE: usize = 24;
/// Changes of the set of bounded unknowns that are tried.
const MAX_CHANGES: usize = 100;
/// Changes of whole sets that may leave as many unknowns in disagreement as before.
const CHANCES: usize = 5;
/// Share of the terms of a row that its sum is known to.
const ROUNDING: f64 = 1e-11;
/// Sweeps through the rows where no set was found.
const SWEEPS: usize = 100;
/// Share of the right-hand side that remains where rows contradict each other, and the relative shift of the diagonal with which they are solved then.
const CONTRADICTION: f64 = 1e-6;

/// A symmetric positive semidefinite matrix with factors that are kept as long as they fit.
pub(super) struct BoundedSystem {
    matrix: CsrMatrix,
    diagonal: Vec<f64>,
    factor: Option<Factor>,
    workspace: Workspace,
}

/// Factor of the rows that are free, with the relative shift of their diagonal.
struct Factor {
    free: Vec<bool>,
    shift: f64,
    reduced: Option<CsrMatrix>,
    inverse: Box<dyn Preconditioner>,
}

/// How exactly to solve.
#[derive(Debug, Clone, Copy)]
pub(super) enum Accuracy {
    /// `(A + shift diag A) x = b`, once.
    Damped { shift: f64 },
    /// `A x = b` by conjugate gradients with that factor as preconditioner: each iterate lowers the energy.
    Iterated { relative: f64, absolute: f64, max_iterations: usize },
}

/// Relative shift that makes a redundant system definite; its null vectors are impulses that move nothing, so they do not matter.
pub(super) const LEAST_SHIFT: f64 = 1e-10;

impl BoundedSystem {
    /// From `A` with the compliance on its diagonal.
    pub fn new(matrix: CsrMatrix, compliance: impl Iterator<Item = (usize, f64)>) -> Self {
        let mut matrix = matrix;
        for (row, value) in compliance {
            let at = matrix.offsets()[row]
                + matrix.row(row).0.binary_search(&(row as u32)).expect("every row has a diagonal");
            matrix.values_mut()[at] += value;
        }
        let diagonal = matrix.diagonal();
        Self { matrix, diagonal, factor: None, workspace: Workspace::default() }
    }

    pub fn size(&self) -> usize {
        self.diagonal.len()
    }

    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Solves with `lower <= x <= upper`: an unknown at a bound may leave a residual that pushes it outwards. Returns the iterations.
    ///
    /// Unknowns start at the bound they touch if the right-hand side pushes them outwards; then whole sets change until they agree.
    pub fn solve(&mut self, rhs: &[f64], bounds: &[[f64; 2]], accuracy: Accuracy, x: &mut [f64]) -> usize {
        let n = self.size();
        x.fill(0.0);
        let bounded: Vec<usize> =
            (0..n).filter(|&i| bounds[i] != [f64::NEG_INFINITY, f64::INFINITY]).collect();
        let mut free = vec![true; n];
        for &i in &bounded {
            let [lower, upper] = bounds[i];
            if (lower >= 0.0 && rhs[i] <= 0.0) || (upper <= 0.0 && rhs[i] >= 0.0) {
                free[i] = false;
                x[i] = if lower >= 0.0 { lower } else { upper };
            }
        }
        let mut iterations = 0;
        let mut residual = vec![0.0; n];
        // All that disagree change at once, as long as they become fewer; where they do not, one at a time, which cannot go round in circles (K. G. Murty 1974;
        // J. J. Judice, F. M. Pires 1994).
        let (mut fewest, mut chances) = (usize::MAX, CHANCES);
        for _ in 0..MAX_CHANGES {
            iterations += self.solve_free(rhs, &free, accuracy, x);
            self.matrix.multiply(x, &mut residual);
            let disagrees = |&i: &usize| {
                let [lower, upper] = bounds[i];
                // What rounding leaves of the sum in the row.
                let (columns, values) = self.matrix.row(i);
                let terms =
                    columns.iter().zip(values).map(|(&column, value)| (value * x[column as usize]).abs());
                let slack = ROUNDING * (rhs[i].abs() + terms.sum::<f64>());
                let left = rhs[i] - residual[i];
                match free[i] {
                    true => {
                        let slack = slack / self.diagonal[i].max(f64::MIN_POSITIVE);
                        !(x[i] >= lower - slack && x[i] <= upper + slack)
                    }
                    false => {
                        lower < upper && ((x[i] == lower && left > slack) || (x[i] == upper && left < -slack))
                    }
                }
            };
            let mut changing: Vec<usize> = bounded.iter().copied().filter(disagrees).collect();
            if changing.is_empty() {
                for &i in &bounded {
                    x[i] = within(x[i], bounds[i]);
                }
                return iterations;
            }
            if changing.len() < fewest {
                (fewest, chances) = (changing.len(), CHANCES);
            } else if chances > 0 {
                chances -= 1;
            } else {
                changing.drain(..changing.len() - 1);
            }
            for i in changing {
                let [lower, upper] = bounds[i];
                free[i] = !free[i];
                if !free[i] {
                    x[i] = if x[i] < lower { lower } else { upper };
                }
            }
        }
        self.sweep(rhs, bounds, x);
        iterations + SWEEPS
    }

    /// Sweeps through the rows from nothing, each by itself within its bounds: not exact, but none of them adds energy.
    fn sweep(&self, rhs: &[f64], bounds: &[[f64; 2]], x: &mut [f64]) {
        for (x, bounds) in x.iter_mut().zip(bounds) {
            *x = within(0.0, *bounds);
        }
        for _ in 0..SWEEPS {
            for i in (0..self.size()).filter(|&i| self.diagonal[i] > 0.0) {
                let (columns, values) = self.matrix.row(i);
                let sum: f64 =
                    columns.iter().zip(values).map(|(&column, value)| value * x[column as usize]).sum();
                x[i] = within(x[i] + (rhs[i] - sum) / self.diagonal[i], bounds[i]);
            }
        }
    }

    /// Solves for the free unknowns with the others fixed at `x`.
    fn solve_free(&mut self, rhs: &[f64], free: &[bool], accuracy: Accuracy, x: &mut [f64]) -> usize {
        let shift = match accuracy {
            Accuracy::Damped { shift } => shift,
            Accuracy::Iterated { .. } => LEAST_SHIFT,
        };
        if self.factor.as_ref().is_none_or(|f| f.free != free || f.shift != shift) {
            self.factor = Some(self.factorise(free, shift));
        }
        let index: Vec<usize> = (0..self.size()).filter(|&i| free[i]).collect();
        if index.is_empty() {
            return 0;
        }
        let mut b: Vec<f64> = index.iter().map(|&i| rhs[i]).collect();
        if index.len() < self.size() {
            for (b, &i) in b.iter_mut().zip(&index) {
                let (columns, values) = self.matrix.row(i);
                for (&column, &value) in columns.iter().zip(values) {
                    if !free[column as usize] {
                        *b -= value * x[column as usize];
                    }
                }
            }
        }
        let factor = self.factor.as_mut().expect("made above");
        let mut solution = vec![0.0; index.len()];
        let iterations = match accuracy {
            Accuracy::Damped { .. } => {
                factor.inverse.apply(&b, &mut solution);
                1
            }
            Accuracy::Iterated { relative, absolute, max_iterations } => {
                let operator = Symmetric(factor.reduced.as_ref().unwrap_or(&self.matrix));
                let weights: Vec<f64> = index
                    .iter()
                    .map(|&i| if self.diagonal[i] > 0.0 { 1.0 / self.diagonal[i] } else { 0.0 })
                    .collect();
                let stopping = Stopping { relative, absolute, max_iterations, patience: 20 };
                let mut iteration = Iteration { stopping, weights: Some(&weights), monitor: None };
                let report = pcg(
                    &operator,
                    &mut factor.inverse,
                    &b,
                    &mut solution,
                    &mut iteration,
                    &mut self.workspace,
                );
                // Rows that contradict each other have no solution, and the iterates grow without end: a compromise with small impulses then.
                if !report.as_ref().is_ok_and(|report| report.residual <= CONTRADICTION * report.rhs_norm) {
                    self.factorise(free, CONTRADICTION).inverse.apply(&b, &mut solution);
                }
                report.map_or(0, |report| report.iterations)
            }
        };
        for (&i, value) in index.iter().zip(solution) {
            x[i] = value;
        }
        iterations
    }

    /// Improves `x`, the solution of [`Self::solve`], to one of `B x = b` for a nearby matrix `B` that need not be symmetric, in the unknowns that are
    /// free: generalised minimal residuals with the factor as preconditioner. Returns the applications of `B`.
    pub fn refine(
        &mut self,
        nearby: &dyn Fn(&[f64], &mut [f64]),
        rhs: &[f64],
        tolerance: f64,
        x: &mut [f64],
    ) -> usize {
        const MAX_VECTORS: usize = 30;
        let n = self.size();
        let Some(factor) = &mut self.factor else { return 0 };
        let index: Vec<usize> = (0..n).filter(|&i| factor.free[i]).collect();
        let m = index.len();
        let mut full = vec![0.0; n];
        let mut product = vec![0.0; n];
        nearby(x, &mut product);
        // Everything in the scale of the diagonal, so that metres and radians compare.
        let scale: Vec<f64> = index.iter().map(|&i| self.diagonal[i].max(f64::MIN_POSITIVE).sqrt()).collect();
        let residual: Vec<f64> =
            index.iter().zip(&scale).map(|(&i, scale)| (rhs[i] - product[i]) / scale).collect();
        let rhs_norm =
            index.iter().zip(&scale).map(|(&i, scale)| (rhs[i] / scale).powi(2)).sum::<f64>().sqrt();
        let mut applications = 1;
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let beta = norm(&residual);
        if !(beta > tolerance * rhs_norm) || !beta.is_finite() {
            return applications;
        }
        let mut basis = vec![residual.iter().map(|v| v / beta).collect::<Vec<f64>>()];
        let mut directions: Vec<Vec<f64>> = Vec::new();
        // Columns of the Hessenberg matrix made triangular by Givens rotations, and the rotated right-hand side.
        let (mut columns, mut rotations, mut g) =
            (Vec::<Vec<f64>>::new(), Vec::<[f64; 2]>::new(), vec![beta]);
        while directions.len() < MAX_VECTORS {
            let k = directions.len();
            let unscaled: Vec<f64> = basis[k].iter().zip(&scale).map(|(v, scale)| v * scale).collect();
            let mut z = vec![0.0; m];
            factor.inverse.apply(&unscaled, &mut z);
            full.fill(0.0);
            for (&i, &value) in index.iter().zip(&z) {
                full[i] = value;
            }
            nearby(&full, &mut product);
            applications += 1;
            let mut w: Vec<f64> = index.iter().zip(&scale).map(|(&i, scale)| product[i] / scale).collect();
            directions.push(z);
            let mut column = Vec::with_capacity(k + 2);
            for v in &basis {
                let h: f64 = v.iter().zip(&w).map(|(a, b)| a * b).sum();
                for (w, v) in w.iter_mut().zip(v) {
                    *w -= h * v;
                }
                column.push(h);
            }
            let length = norm(&w);
            for (r, [c, s]) in rotations.iter().enumerate() {
                (column[r], column[r + 1]) =
                    (c * column[r] + s * column[r + 1], c * column[r + 1] - s * column[r]);
            }
            let r = column[k].hypot(length);
            if !(r > 0.0) || !r.is_finite() {
                directions.pop();
                break;
            }
            let [c, s] = [column[k] / r, length / r];
            column[k] = r;
            columns.push(column);
            rotations.push([c, s]);
            g.push(-s * g[k]);
            g[k] *= c;
            if g[k + 1].abs() <= tolerance * rhs_norm || length <= 1e-14 * r {
                break;
            }
            basis.push(w.into_iter().map(|v| v / length).collect());
        }
        let size = columns.len();
        let mut y = vec![0.0; size];
        for i in (0..size).rev() {
            let sum: f64 = (i + 1..size).map(|j| columns[j][i] * y[j]).sum();
            y[i] = (g[i] - sum) / columns[i][i];
        }
        for (y, z) in y.iter().zip(&directions) {
            for (&i, z) in index.iter().zip(z) {
                x[i] += y * z;
            }
        }
        applications
    }

    fn factorise(&self, free: &[bool], shift: f64) -> Factor {
        let all = free.iter().all(|f| *f);
        let reduced = (!all).then(|| {
            let mut number = vec![usize::MAX; free.len()];
            let mut count = 0;
            for (i, &is_free) in free.iter().enumerate() {
                if is_free {
                    number[i] = count;
                    count += 1;
                }
            }
            let number = &number;
            let rows = (0..free.len()).filter(|&i| free[i]).map(|i| {
                let (columns, values) = self.matrix.row(i);
                columns
                    .iter()
                    .zip(values)
                    .filter(move |(column, _)| free[**column as usize])
                    .map(move |(&column, &value)| (number[column as usize], value))
            });
            CsrMatrix::from_rows(count, rows).unwrap_or_else(|_| CsrMatrix::identity(count))
        });
        let mut shifted = reduced.as_ref().unwrap_or(&self.matrix).clone();
        let size = shifted.rows();
        for row in 0..size {
            let place = shifted.row(row).0.binary_search(&(row as u32));
            if let Ok(at) = place {
                let at = shifted.offsets()[row] + at;
                let value = &mut shifted.values_mut()[at];
                // A row that nothing can answer stays without impulse.
                *value = if *value > 0.0 { *value * (1.0 + shift) } else { 1.0 };
            }
        }
        let dense =
            || BlockJacobi::new(&shifted, size.max(1)).ok().map(|f| Box::new(f) as Box<dyn Preconditioner>);
        let sparse =
            || SparseCholesky::of_semidefinite(&shifted).ok().map(|f| Box::new(f) as Box<dyn Preconditioner>);
        let inverse = if size <= DENSE { dense().or_else(sparse) } else { sparse() };
        // Rounding can make a badly scaled redundant system look indefinite: then more shift.
        match inverse {
            Some(inverse) => Factor { free: free.to_vec(), shift, reduced, inverse },
            None if shift < 1.0 => Factor { shift, ..self.factorise(free, (shift * 100.0).max(1e-8)) },
            None => Factor { free: free.to_vec(), shift, reduced, inverse: Box::new(Halt) },
        }
    }
}

/// `x` brought within bounds; those that are not numbers, as in a world that has blown up, are none.
fn within(x: f64, [lower, upper]: [f64; 2]) -> f64 {
    x.max(lower).min(upper)
}

/// Moves nothing: for matrices that are not finite.
struct Halt;

impl Preconditioner for Halt {
    fn apply(&mut self, _: &[f64], z: &mut [f64]) {
        z.fill(0.0);
    }
}

struct Symmetric<'a>(&'a CsrMatrix);

impl LinearOperator for Symmetric<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn cols(&self) -> usize {
        self.0.cols()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.0.multiply(x, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_solve::testing::TestNumbers;

    /// Bounded solutions satisfy: inside no residual, at a bound a residual that pushes outwards.
    #[test]
    fn solutions_are_complementary() {
        let mut random = TestNumbers::new(5);
        let all = f64::INFINITY;
        for case in 0..200 {
            let n = 1 + case % 40;
            let (rank, spread) = (n + 3, 2.0);
            let factor: Vec<f64> = random.vector(n * rank);
            let mut dense = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    dense[i * n + j] = (0..rank).map(|k| factor[i * rank + k] * factor[j * rank + k]).sum();
                }
            }
            let mut system =
                BoundedSystem::new(CsrMatrix::from_dense(n, n, &dense).unwrap(), std::iter::empty());
            let rhs = random.vector(n);
            let bounds: Vec<[f64; 2]> = (0..n)
                .map(|i| match (i + case) % 4 {
                    0 => [0.0, all],
                    1 => [-all, 0.0],
                    2 => [-spread * random.uniform(0.0, 0.1), 0.1],
                    _ => [-all, all],
                })
                .collect();
            let mut x = vec![0.0; n];
            let accuracy = Accuracy::Iterated { relative: 1e-13, absolute: 0.0, max_iterations: 100 };
            system.solve(&rhs, &bounds, accuracy, &mut x);
            for i in 0..n {
                let left = rhs[i] - (0..n).map(|j| dense[i * n + j] * x[j]).sum::<f64>();
                let [lower, upper] = bounds[i];
                assert!(x[i] >= lower && x[i] <= upper, "case {case}: {} in {lower}..{upper}", x[i]);
                let fine =
                    left.abs() < 1e-8 || (x[i] == lower && left < 0.0) || (x[i] == upper && left > 0.0);
                assert!(fine, "case {case}, unknown {i}: {} in {lower}..{upper}, residual {left}", x[i]);
            }
        }
    }
}
