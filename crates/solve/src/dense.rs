//! Cholesky factors and eigenvectors of small dense matrices, row-major in flat slices.

/// Replaces the lower triangle of the symmetric `matrix` (`n` by `n`) by its Cholesky factor `L`, the strict upper triangle by zero.
///
/// A row whose diagonal is exactly zero (a direction that cannot move) gives a zero row of `L`, so that `L L^T` is still the matrix.
/// `Err(row)` names a pivot that is not positive.
pub fn cholesky(matrix: &mut [f64], n: usize) -> Result<(), usize> {
    for i in 0..n {
        for j in 0..=i {
            let mut sum = matrix[i * n + j];
            for k in 0..j {
                sum -= matrix[i * n + k] * matrix[j * n + k];
            }
            if i > j {
                let pivot = matrix[j * n + j];
                matrix[i * n + j] = if pivot == 0.0 { 0.0 } else { sum / pivot };
                continue;
            }
            let diagonal = matrix[i * n + i];
            if diagonal == 0.0 {
                matrix[i * n..=i * n + i].fill(0.0);
            } else if sum > 0.0 && sum.is_finite() {
                matrix[i * n + i] = sum.sqrt();
            } else {
                return Err(i);
            }
        }
        matrix[i * n + i + 1..(i + 1) * n].fill(0.0);
    }
    Ok(())
}

/// `x <- (L L^T)^-1 x`; components with a zero pivot become zero.
pub fn cholesky_solve(factor: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let mut sum = x[i];
        for j in 0..i {
            sum -= factor[i * n + j] * x[j];
        }
        let pivot = factor[i * n + i];
        x[i] = if pivot == 0.0 { 0.0 } else { sum / pivot };
    }
    for i in (0..n).rev() {
        let mut sum = x[i];
        for j in i + 1..n {
            sum -= factor[j * n + i] * x[j];
        }
        let pivot = factor[i * n + i];
        x[i] = if pivot == 0.0 { 0.0 } else { sum / pivot };
    }
}

/// Eigenvalues (ascending) and eigenvectors (rows, in the same order) of the symmetric `matrix` (`n` by `n`), by cyclic Jacobi rotations:
/// every eigenvector of a small matrix to full accuracy. Entries must be finite.
pub(crate) fn symmetric_eigen(matrix: &[f64], n: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut a: Vec<f64> = (0..n * n).map(|at| 0.5 * (matrix[at] + matrix[at % n * n + at / n])).collect();
    let mut vectors: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    // Quadratic convergence: round-off is reached in fewer than ten sweeps.
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let off = a[p * n + q];
                let (app, aqq) = (a[p * n + p], a[q * n + q]);
                if off.abs() <= f64::EPSILON * 0.5 * (app.abs() * aqq.abs()).sqrt()
                    || off.abs() < f64::MIN_POSITIVE
                {
                    continue;
                }
                rotated = true;
                let theta = (aqq - app) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                }
                (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
                let (head, tail) = vectors.split_at_mut(q);
                for (x, y) in head[p].iter_mut().zip(&mut tail[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[i * n + i].total_cmp(&a[j * n + j]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    (values, order.iter().map(|&i| std::mem::take(&mut vectors[i])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    proptest! {
        #[test]
        fn factor_and_solve(entries in prop::collection::vec(-1.0..1.0f64, 25), x in prop::collection::vec(-1.0..1.0f64, 5), dead in 0..6usize) {
            let n = 5;
            let mut matrix = vec![0.0; n * n];
            for i in 0..n { for j in 0..n { if i != dead && j != dead {
                matrix[i * n + j] = (0..n).map(|k| entries[i * n + k] * entries[j * n + k]).sum::<f64>() + if i == j { 0.1 } else { 0.0 };
            } } }
            let mut factor = matrix.clone();
            cholesky(&mut factor, n).unwrap();
            for i in 0..n { for j in 0..n {
                let product: f64 = (0..n).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
                prop_assert!((product - matrix[i * n + j]).abs() < 1e-14);
            } }
            let mut rhs: Vec<f64> = (0..n).map(|i| (0..n).map(|j| matrix[i * n + j] * x[j]).sum()).collect();
            cholesky_solve(&factor, n, &mut rhs);
            for i in 0..n { prop_assert!(i == dead && rhs[i] == 0.0 || i != dead && (rhs[i] - x[i]).abs() < 1e-11); }
        }
    }

    #[test]
    fn indefinite_matrices_are_refused() {
        assert_eq!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2), Err(1));
        assert_eq!(cholesky(&mut [-1.0], 1), Err(0));
        assert_eq!(cholesky(&mut [f64::NAN], 1), Err(0));
    }

    #[test]
    fn eigenvectors_of_regular_and_singular_matrices() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(5);
        for n in [1usize, 2, 3, 7, 20] {
            for rank in [n, n.div_ceil(2)] {
                let factors: Vec<f64> = (0..n * rank).map(|_| random.random_range(-1.0..1.0)).collect();
                let dot = |i: usize, j: usize| {
                    (0..rank).map(|k| factors[i * rank + k] * factors[j * rank + k]).sum::<f64>()
                };
                let matrix: Vec<f64> = (0..n * n).map(|at| dot(at / n, at % n)).collect();
                let (values, vectors) = symmetric_eigen(&matrix, n);
                assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
                for (value, vector) in values.iter().zip(&vectors) {
                    for i in 0..n {
                        let image: f64 = (0..n).map(|j| matrix[i * n + j] * vector[j]).sum();
                        assert!((image - value * vector[i]).abs() < 1e-13 * n as f64);
                    }
                    assert!((vector.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-13);
                }
                assert!(values[..n - rank].iter().all(|value| value.abs() < 1e-13 * n as f64), "{values:?}");
            }
        }
    }
}
