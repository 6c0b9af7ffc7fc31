//! Eigenvalues and eigenvectors of small symmetric matrices.
//!
//! Cyclic two-sided Jacobi rather than a closed formula: the formula loses half the digits when eigenvalues nearly coincide, and all of the small
//! ones of a needle-like inertia tensor. Rotations stop relative to the two diagonal entries, so that small eigenvalues of a scaled positive definite matrix are
//! accurate to their own size (Demmel and Veselic 1992).

use crate::{Matrix, Vector};

/// Off-diagonal entries below this part of the geometric mean of their diagonal entries count as zero.
const RELATIVE: f64 = 1e-16;
/// Entries below this part of the largest count as zero whatever the diagonal is.
const ABSOLUTE: f64 = 1e-60;
const MAX_SWEEPS: usize = 40;

/// `A = vectors diag(values) vectors^T`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SymmetricEigen<const D: usize> {
    /// Eigenvalues, descending.
    pub values: Vector<D>,
    /// Orthonormal eigenvectors as columns, right-handed: a rotation.
    pub vectors: Matrix<D>,
}

impl<const D: usize> SymmetricEigen<D> {
    /// `vectors diag(f(values)) vectors^T`: a function of the matrix, such as its square root, logarithm or positive part.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Matrix<D> {
        let scaled = Matrix::<D>::from_fn(|i, j| self.vectors[(i, j)] * f(self.values[j]));
        scaled * self.vectors.transpose()
    }
}

/// Eigen-decomposition of the symmetric part of `a`.
///
/// Values are accurate to some 1e-16 of the largest, those of positive definite matrices usually to their own size. An entry that is not finite gives `values = NaN` with
/// `vectors = I`.
///
/// ```
/// use splashdown_math::{Matrix, symmetric_eigen};
///
/// let eigen = symmetric_eigen(&Matrix::<2>::new(2.0, 1.0, 1.0, 2.0));
/// assert!((eigen.values[0] - 3.0).abs() < 1e-15 && (eigen.values[1] - 1.0).abs() < 1e-15);
/// ```
#[inline(never)]
pub fn symmetric_eigen<const D: usize>(a: &Matrix<D>) -> SymmetricEigen<D> {
    let mut vectors = Matrix::<D>::identity();
    if !a.iter().all(|x| x.is_finite()) {
        return SymmetricEigen { values: Vector::repeat(f64::NAN), vectors };
    }
    // Scaling by a power of two loses nothing and keeps squares in range.
    let exponent = (a.amax().to_bits() >> 52).clamp(1, 2045);
    let (down, up) = (f64::from_bits((2046 - exponent) << 52), f64::from_bits(exponent << 52));
    let mut m = Matrix::<D>::from_fn(|i, j| 0.5 * (a[(i, j)] * down + a[(j, i)] * down));
    for _ in 0..MAX_SWEEPS {
        let mut moved = false;
        for p in 0..D {
            for q in p + 1..D {
                let off = m[(p, q)];
                let small = RELATIVE * (m[(p, p)] * m[(q, q)]).abs().sqrt();
                if off.abs() <= small.max(ABSOLUTE) {
                    continue;
                }
                moved = true;
                rotate(&mut m, &mut vectors, p, q);
            }
        }
        if !moved {
            break;
        }
    }
    let mut values = m.diagonal();
    // Sorted by exchanges, each with one column negated: a rotation by a right angle.
    for end in (1..D).rev() {
        for i in 0..end {
            if values[i] < values[i + 1] {
                values.swap_rows(i, i + 1);
                vectors.swap_columns(i, i + 1);
                vectors.column_mut(i).neg_mut();
            }
        }
    }
    SymmetricEigen { values: values * up, vectors }
}

/// Makes entry (p, q) zero, in the form that adds only corrections to the old entries (Rutishauser 1966).
fn rotate<const D: usize>(m: &mut Matrix<D>, vectors: &mut Matrix<D>, p: usize, q: usize) {
    let off = m[(p, q)];
    let theta = (m[(q, q)] - m[(p, p)]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    let tau = s / (1.0 + c);
    m[(p, p)] -= t * off;
    m[(q, q)] += t * off;
    m[(p, q)] = 0.0;
    m[(q, p)] = 0.0;
    for k in (0..D).filter(|&k| k != p && k != q) {
        let (x, y) = (m[(k, p)], m[(k, q)]);
        let (x, y) = (x - s * (y + tau * x), y + s * (x - tau * y));
        (m[(k, p)], m[(p, k)], m[(k, q)], m[(q, k)]) = (x, x, y, y);
    }
    for k in 0..D {
        let (x, y) = (vectors[(k, p)], vectors[(k, q)]);
        vectors[(k, p)] = x - s * (y + tau * x);
        vectors[(k, q)] = y + s * (x - tau * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{KINDS, adversarial_matrix, eigen_errors};
    use crate::{Dim, Space};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn agrees_with_reference<const D: usize>()
    where
        Dim<D>: Space<D>,
    {
        let mut random = Pcg64Mcg::seed_from_u64(17);
        for i in 0..20_000 {
            let a = adversarial_matrix::<D>(i, &mut || random.random());
            let a = 0.5 * (a + a.transpose());
            let errors = eigen_errors(&a, &symmetric_eigen(&a));
            assert!(
                errors.largest() < 1e-14 && errors.unordered == 0.0,
                "kind {}: {a} {errors:?}",
                i % KINDS
            );
        }
    }

    #[test]
    fn adversarial_matrices_agree_with_the_reference() {
        agrees_with_reference::<2>();
        agrees_with_reference::<3>();
    }

    #[test]
    fn needle_keeps_all_digits_of_its_small_moment() {
        // A graded positive definite tensor D A D with A well conditioned: each eigenvalue is determined to its own size.
        let grade = Matrix::<3>::from_diagonal(&Vector::from([1.0, 1e-7, 1e-14]));
        let a = grade * Matrix::<3>::new(2.0, 0.5, 0.3, 0.5, 2.0, -0.4, 0.3, -0.4, 2.0) * grade;
        let eigen = symmetric_eigen(&a);
        // The smallest is det(A) over its leading 2x2 minor, times the square of its grade, up to a relative 1e-14.
        let determinant = 2.0 * (4.0 - 0.16) - 0.5 * (1.0 + 0.12) + 0.3 * (-0.2 - 0.6);
        let expected = determinant / 3.75 * 1e-28;
        assert!((eigen.values[2] / expected - 1.0).abs() < 1e-12, "{} {expected}", eigen.values[2]);
    }

    #[test]
    fn functions_of_a_matrix_act_on_its_eigenvalues() {
        let a = Matrix::<3>::new(4.0, 1.0, -0.5, 1.0, 3.0, 0.2, -0.5, 0.2, 2.0);
        let root = symmetric_eigen(&a).map(f64::sqrt);
        assert!((root * root - a).amax() < 1e-14);
        let indefinite = a - Matrix::identity() * 3.0;
        let eigen = symmetric_eigen(&indefinite);
        let split = eigen.map(|x| x.max(0.0)) + eigen.map(|x| x.min(0.0));
        assert!((split - indefinite).amax() < 1e-14);
    }

    #[test]
    fn entries_that_are_not_finite_stay_visible() {
        let eigen = symmetric_eigen(&Matrix::<3>::from_diagonal(&Vector::from([1.0, f64::NAN, 2.0])));
        assert!(eigen.values.iter().all(|x| x.is_nan()));
        assert_eq!(eigen.vectors, Matrix::<3>::identity());
    }
}
