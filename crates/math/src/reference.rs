//! Slow, trustworthy answers that the fast decompositions are checked against, and the matrices they are checked on.
//!
//! For tests and verification cases only. Arithmetic is double-double (two `f64`, about 32 digits; Dekker 1971, Knuth), the method is two-sided Jacobi on
//! `F^T F`, different from the one under test. `F^T F` is accurate to 1e-31 `sigma_1^2`, so each reference singular value is accurate to about
//! 1e-15.5 `sigma_1` in the worst case (a value that is zero) and far better otherwise.

use crate::eigen::SymmetricEigen;
use crate::svd::{Svd, ThinSvd};
use crate::{Coordinates, Dim, Matrix, Space, Spin, Vector};
use nalgebra::SMatrix;
use std::ops::{Add, Div, Mul, Sub};

/// An unevaluated sum of two `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    fn new(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    /// `a + b` without error, for `|a| >= |b|`.
    fn quick_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    /// `a + b` without error.
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// `a b` without error (Dekker's splitting, as a fused multiply-add is not in every instruction set).
    fn product(a: f64, b: f64) -> Self {
        let split = |x: f64| {
            let c = 134_217_729.0 * x;
            let high = c - (c - x);
            (high, x - high)
        };
        let ((ah, al), (bh, bl)) = (split(a), split(b));
        let high = a * b;
        Self { high, low: ((ah * bh - high) + ah * bl + al * bh) + al * bl }
    }

    fn abs(self) -> Self {
        if self.high < 0.0 { Self { high: -self.high, low: -self.low } } else { self }
    }

    /// Square root; zero for what is not positive.
    fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::new(0.0);
        }
        // One step of Newton's method doubles the digits of the f64 root.
        let root = self.high.sqrt();
        let rest = self - Self::product(root, root);
        Self::sum(root, rest.high / (2.0 * root))
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let s = Self::sum(self.high, other.high);
        let t = Self::sum(self.low, other.low);
        let s = Self::quick_sum(s.high, s.low + t.high);
        Self::quick_sum(s.high, s.low + t.low)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self { high: -other.high, low: -other.low }
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let p = Self::product(self.high, other.high);
        Self::quick_sum(p.high, p.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::new(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::new(second);
        Self::quick_sum(first, second) + Self::new(rest.high / other.high)
    }
}

/// Eigenvalues of a symmetric matrix by two-sided Jacobi until the rest is below 1e-33 of the largest entry; descending.
fn eigenvalues<const D: usize>(mut a: [[DoubleDouble; D]; D]) -> [DoubleDouble; D] {
    let one = DoubleDouble::new(1.0);
    let largest = a.iter().flatten().fold(0.0, |m: f64, x| m.max(x.high.abs()));
    for _ in 0..60 {
        let mut done = true;
        for p in 0..D {
            for q in p + 1..D {
                if a[p][q].high.abs() <= 1e-33 * largest {
                    continue;
                }
                done = false;
                let theta = (a[q][q] - a[p][p]) / (a[p][q] + a[p][q]);
                let t = one / (theta.abs() + (theta * theta + one).sqrt());
                let t = if theta.high < 0.0 { DoubleDouble::new(0.0) - t } else { t };
                let c = one / (t * t + one).sqrt();
                let s = t * c;
                for k in 0..D {
                    let (x, y) = (a[k][p], a[k][q]);
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for k in 0..D {
                    let (x, y) = (a[p][k], a[q][k]);
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                // Zero but for rounding, which would keep the sweeps going.
                a[p][q] = DoubleDouble::new(0.0);
                a[q][p] = a[p][q];
            }
        }
        if done {
            break;
        }
    }
    let mut values: [DoubleDouble; D] = std::array::from_fn(|i| a[i][i]);
    values.sort_by(|x, y| (*y - *x).high.total_cmp(&0.0));
    values
}

fn determinant<const D: usize>(f: &Matrix<D>) -> DoubleDouble {
    let e = |i: usize, j: usize| DoubleDouble::new(f[(i, j)]);
    match D {
        2 => e(0, 0) * e(1, 1) - e(0, 1) * e(1, 0),
        _ => {
            let minor = |j: usize, k: usize| e(1, j) * e(2, k) - e(1, k) * e(2, j);
            e(0, 0) * minor(1, 2) + e(0, 1) * minor(2, 0) + e(0, 2) * minor(0, 1)
        }
    }
}

/// Power of two near the largest entry (1 for the zero matrix), so that scaled matrices can be squared.
fn power_of_two<const R: usize, const C: usize>(f: &SMatrix<f64, R, C>) -> f64 {
    let largest = f.amax();
    if largest == 0.0 { 1.0 } else { largest.log2().floor().clamp(-1022.0, 1023.0).exp2() }
}

fn values_of_gram<const R: usize, const C: usize>(f: &SMatrix<f64, R, C>) -> [DoubleDouble; C] {
    let mut gram = [[DoubleDouble::new(0.0); C]; C];
    for i in 0..C {
        for j in 0..C {
            for k in 0..R {
                gram[i][j] = gram[i][j] + DoubleDouble::product(f[(k, i)], f[(k, j)]);
            }
        }
    }
    eigenvalues(gram).map(DoubleDouble::sqrt)
}

/// Signed singular values of a 2x2 or 3x3 matrix with finite entries.
pub fn signed_singular_values<const D: usize>(f: &Matrix<D>) -> Vector<D> {
    let scale = power_of_two(f);
    let f = f / scale;
    let mut values = Vector::from(values_of_gram(&f).map(|value| value.high));
    if determinant(&f).high < 0.0 {
        values[D - 1] = -values[D - 1];
    }
    values * scale
}

/// Eigenvalues of a symmetric matrix with finite entries (its lower triangle is not read), descending; accurate to about 1e-31 of the largest.
pub fn symmetric_eigenvalues<const D: usize>(a: &Matrix<D>) -> Vector<D> {
    let scale = power_of_two(a);
    let mut full = [[DoubleDouble::new(0.0); D]; D];
    for i in 0..D {
        for j in 0..D {
            full[i][j] = DoubleDouble::new(a[(i.min(j), i.max(j))] / scale);
        }
    }
    Vector::from(eigenvalues(full).map(|value| value.high)) * scale
}

/// The larger of two magnitudes; unlike `f64::max` it keeps NaN, so that a broken result cannot pass.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// Largest magnitude among the entries, or NaN.
fn largest_entry<const R: usize, const C: usize>(m: SMatrix<f64, R, C>) -> f64 {
    m.iter().fold(0.0, |largest, x| worse(largest, x.abs()))
}

/// How far a decomposition is from its contract; lengths are relative to the largest singular value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SvdErrors {
    /// Largest entry of `F - U diag(sigma) V^T`.
    pub reconstruction: f64,
    /// Largest entry of `U^T U - I` and `V^T V - I`, and of `det U - 1`, `det V - 1`.
    pub rotation: f64,
    /// Largest difference to the reference values, sign included.
    pub values: f64,
    /// Number of pairs `sigma_i < |sigma_(i+1)|`.
    pub unordered: f64,
}

impl SvdErrors {
    /// The larger of each error.
    pub fn max(self, other: Self) -> Self {
        Self {
            reconstruction: worse(self.reconstruction, other.reconstruction),
            rotation: worse(self.rotation, other.rotation),
            values: worse(self.values, other.values),
            unordered: self.unordered + other.unordered,
        }
    }

    /// The largest of the three relative errors.
    pub fn largest(&self) -> f64 {
        worse(worse(self.reconstruction, self.rotation), self.values)
    }
}

fn departure_from_identity<const C: usize>(gram: Matrix<C>) -> f64 {
    largest_entry(gram - Matrix::identity())
}

/// Departure of `m` from a rotation.
fn turned<const D: usize>(m: &Matrix<D>) -> f64 {
    worse(departure_from_identity(m.transpose() * m), (determinant(m).high - 1.0).abs())
}

/// Number of neighbours out of order.
fn unordered(values: &[f64], in_order: impl Fn(f64, f64) -> bool) -> f64 {
    values.windows(2).filter(|pair| !in_order(pair[0], pair[1])).count() as f64
}

/// Measures a signed decomposition of `f` against the reference.
pub fn svd_errors<const D: usize>(f: &Matrix<D>, svd: &Svd<D>) -> SvdErrors {
    let scale = power_of_two(f);
    let reference = signed_singular_values(f) / scale;
    let size = if reference[0] > 0.0 { reference[0] } else { 1.0 };
    let sigma = svd.sigma / scale;
    let turned =
        |m: &Matrix<D>| worse(departure_from_identity(m.transpose() * m), (determinant(m).high - 1.0).abs());
    SvdErrors {
        reconstruction: largest_entry(f / scale - svd.recompose(&sigma)) / size,
        rotation: worse(turned(&svd.u), turned(&svd.v)),
        values: largest_entry(sigma - reference) / size,
        unordered: unordered(svd.sigma.as_slice(), |a, b| a >= b.abs()),
    }
}

/// Measures an eigen-decomposition of the symmetric matrix `a` against the reference; relative to the eigenvalue of largest magnitude.
pub fn eigen_errors<const D: usize>(a: &Matrix<D>, eigen: &SymmetricEigen<D>) -> SvdErrors {
    let scale = power_of_two(a);
    let reference = symmetric_eigenvalues(a) / scale;
    let size = if reference.amax() > 0.0 { reference.amax() } else { 1.0 };
    SvdErrors {
        reconstruction: largest_entry(a / scale - eigen.map(|x| x / scale)) / size,
        rotation: turned(&eigen.vectors),
        values: largest_entry(eigen.values / scale - reference) / size,
        unordered: unordered(eigen.values.as_slice(), |a, b| a >= b),
    }
}

/// Measures a decomposition of the 3x2 matrix `f` against the reference; a negative value counts as unordered.
pub fn thin_svd_errors(f: &SMatrix<f64, 3, 2>, svd: &ThinSvd) -> SvdErrors {
    let scale = power_of_two(f);
    let reference = Vector::from(values_of_gram(&(f / scale)).map(|value| value.high));
    let size = if reference[0] > 0.0 { reference[0] } else { 1.0 };
    let sigma = svd.sigma / scale;
    SvdErrors {
        reconstruction: largest_entry(f / scale - svd.recompose(&sigma)) / size,
        rotation: worse(departure_from_identity(svd.u.transpose() * svd.u), turned(&svd.v)),
        values: largest_entry(sigma - reference) / size,
        unordered: unordered(&[svd.sigma[0], svd.sigma[1], 0.0], |a, b| a >= b),
    }
}

/// Kinds of [`adversarial_matrix`].
pub const KINDS: usize = 12;

/// A matrix of the given kind (modulo [`KINDS`]), made from numbers that `uniform` draws from [0, 1): random, near the identity, with singular values over 20 decades,
/// repeated or opposite, rank deficient, with small whole numbers, graded, sparse, with nearly parallel columns, with
/// wild exponents, a signed permutation; every third one of a kind scaled by up to 1e-150 or 1e150.
pub fn adversarial_matrix<const D: usize>(kind: usize, uniform: &mut dyn FnMut() -> f64) -> Matrix<D>
where
    Dim<D>: Space<D>,
{
    let matrix = unscaled(kind % KINDS, uniform);
    if kind % KINDS == 9 || uniform() > 1.0 / 3.0 {
        return matrix;
    }
    matrix * 10f64.powf(300.0 * uniform() - 150.0)
}

fn unscaled<const D: usize>(kind: usize, uniform: &mut dyn FnMut() -> f64) -> Matrix<D>
where
    Dim<D>: Space<D>,
{
    let mut signed = || 2.0 * uniform() - 1.0;
    let random = Matrix::<D>::from_fn(|_, _| signed());
    let mut turn = || {
        let spin: [f64; 3] = std::array::from_fn(|_| 4.0 * signed());
        Dim::<D>::to_matrix(&Dim::<D>::exp(&Spin::<D>::from_slice(&spin)))
    };
    let (left, right) = (turn(), turn());
    let with_values = |values: Vector<D>| left * Matrix::from_diagonal(&values) * right.transpose();
    let decades = |x: f64, count: f64| 10f64.powf(count * x);
    let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
    match kind {
        0 => random,
        1 => Matrix::identity() + random * decades(signed(), 6.0) * 1e-6,
        2 => with_values(Vector::from_fn(|_, _| sign(signed()) * decades(signed().abs(), -20.0))),
        3 => {
            let (value, noise) = (signed(), decades(8.0 + 4.0 * signed(), -1.0));
            let equal = Vector::from_fn(|_, _| if signed() < 0.0 { 1.0 } else { value });
            with_values(equal + Vector::from_fn(|_, _| noise * signed()))
        }
        4 => {
            let value = signed().abs();
            let opposite = Vector::from_fn(|i, _| if i + 1 == D { -value } else { value });
            if signed() < 0.0 { with_values(opposite) } else { Matrix::from_diagonal(&opposite) }
        }
        5 => {
            let noise = if signed() < 0.0 { 0.0 } else { decades(signed().abs(), -30.0) };
            let row = Vector::<D>::from_fn(|_, _| signed());
            let second = if signed() < 0.0 { Matrix::zeros() } else { left.column(0) * row.transpose() };
            right.column(0) * row.transpose() + second + random * noise
        }
        6 => Matrix::from_fn(|_, _| (2.5 * signed()).round()),
        7 => {
            let mut grades = || Matrix::from_diagonal(&Vector::from_fn(|_, _| decades(signed(), 20.0)));
            grades() * random * grades()
        }
        8 => random.map(|x| if signed() < 0.1 { 0.0 } else { x }),
        9 => random.map(|x| x * decades(signed(), 150.0)),
        10 => {
            let column = random.column(0).into_owned();
            let near = decades(signed().abs(), -18.0);
            Matrix::from_fn(|i, _| column[i] * (1.0 + near * signed()))
        }
        _ => {
            let shift = (D as f64 * signed().abs()) as usize;
            let value = signed();
            Matrix::from_fn(|i, j| if (i + shift) % D == j { value * sign(signed()) } else { 0.0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn double_double_keeps_31_digits() {
        let third = DoubleDouble::new(1.0) / DoubleDouble::new(3.0);
        let rest = third * DoubleDouble::new(3.0) - DoubleDouble::new(1.0);
        assert!(rest.high.abs() < 1e-31, "{rest:?}");
        let root = DoubleDouble::new(2.0).sqrt();
        let rest = root * root - DoubleDouble::new(2.0);
        assert!(rest.high.abs() < 1e-31, "{rest:?}");
    }

    #[test]
    fn reference_reproduces_known_singular_values() {
        // Singular values of the 3x3 Hilbert matrix = its eigenvalues, the roots of 2160 x^3 - 3312 x^2 + 381 x - 1 (within the rounding of its entries).
        let hilbert = Matrix::<3>::from_fn(|i, j| 1.0 / (i + j + 1) as f64);
        for x in signed_singular_values(&hilbert).iter() {
            let value = ((2160.0 * x - 3312.0) * x + 381.0) * x - 1.0;
            let slope = (6480.0 * x - 6624.0) * x + 381.0;
            assert!((value / slope).abs() < 4e-16, "root {x}: off by {}", value / slope);
        }
        assert_eq!(
            signed_singular_values(&Matrix::<2>::new(0.0, 3.0, 4.0, 0.0)),
            Vector::<2>::new(4.0, -3.0)
        );
    }
}
