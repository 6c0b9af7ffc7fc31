//! Cholesky factors of small dense matrices, row-major in flat slices.

/// Replaces the lower triangle of the symmetric `matrix` (`n` by `n`) by its Cholesky factor `L`, the strict upper triangle by zero.
///
/// A row whose diagonal is exactly zero (a direction that cannot move) gives a zero row of `L`, so that `L L^T` is still the matrix.
/// `Err(row)` names a pivot that is not positive.
pub(crate) fn cholesky(matrix: &mut [f64], n: usize) -> Result<(), usize> {
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
pub(crate) fn cholesky_solve(factor: &[f64], n: usize, x: &mut [f64]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
