//! Symmetric matrices stored by their independent entries: stress, strain, and the like.

use crate::eigen::{SymmetricEigen, symmetric_eigen};
use crate::{Coordinates, Dim, Matrix, Space, Vector};
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A symmetric `D` by `D` matrix. Its `D (D + 1) / 2` entries are the diagonal, then `xy`, and in 3D `yz` and `xz` (the order of VTK files).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SymmetricMatrix<const D: usize>
where
    Dim<D>: Space<D>,
{
    entries: <Dim<D> as Space<D>>::SymmetricEntries,
}

/// Where entry (i, j) is stored.
fn position<const D: usize>(i: usize, j: usize) -> usize {
    match (i.min(j), i.max(j)) {
        (i, j) if i == j => i,
        (0, 1) => D,
        (1, 2) => D + 1,
        _ => D + 2,
    }
}

impl<const D: usize> SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    /// Number of independent entries: 3 in 2D, 6 in 3D.
    pub const LEN: usize = D * (D + 1) / 2;

    /// The zero matrix.
    #[inline]
    pub fn zero() -> Self {
        Self { entries: Coordinates::zero() }
    }

    /// The unit matrix.
    #[inline]
    pub fn identity() -> Self {
        Self::from_fn(|i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// Entry (i, j) is `f(i, j)` for `i <= j`.
    #[inline]
    pub fn from_fn(f: impl Fn(usize, usize) -> f64) -> Self {
        let mut flat = [0.0; 6];
        for j in 0..D {
            for i in 0..=j {
                flat[position::<D>(i, j)] = f(i, j);
            }
        }
        Self::from_slice(&flat[..Self::LEN])
    }

    /// The symmetric part of `m`.
    #[inline]
    pub fn symmetric_part(m: &Matrix<D>) -> Self {
        Self::from_fn(|i, j| 0.5 * (m[(i, j)] + m[(j, i)]))
    }

    /// `v v^T`.
    #[inline]
    pub fn outer(v: &Vector<D>) -> Self {
        Self::from_fn(|i, j| v[i] * v[j])
    }

    /// `(a b^T + b a^T) / 2`.
    #[inline]
    pub fn symmetric_outer(a: &Vector<D>, b: &Vector<D>) -> Self {
        Self::from_fn(|i, j| 0.5 * (a[i] * b[j] + b[i] * a[j]))
    }

    /// Entries in storage order, [`Self::LEN`] of them.
    #[inline]
    pub fn as_slice(&self) -> &[f64] {
        self.entries.as_slice()
    }

    /// Reads the first [`Self::LEN`] values, in storage order.
    #[inline]
    pub fn from_slice(values: &[f64]) -> Self {
        Self { entries: Coordinates::from_slice(values) }
    }

    /// Entry (i, j).
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.as_slice()[position::<D>(i, j)]
    }

    /// Full matrix.
    #[inline]
    pub fn to_matrix(&self) -> Matrix<D> {
        Matrix::from_fn(|i, j| self.get(i, j))
    }

    /// Matrix times vector.
    #[inline]
    pub fn apply(&self, v: &Vector<D>) -> Vector<D> {
        self.to_matrix() * v
    }

    /// `m A m^T`: the matrix seen from another frame, or pushed forward by a deformation.
    #[inline]
    pub fn transformed(&self, m: &Matrix<D>) -> Self {
        Self::symmetric_part(&(m * self.to_matrix() * m.transpose()))
    }

    /// Sum of the diagonal.
    #[inline]
    pub fn trace(&self) -> f64 {
        self.as_slice()[..D].iter().sum()
    }

    /// `A : B`, the sum of the products of all `D * D` entries.
    #[inline]
    pub fn double_dot(&self, other: &Self) -> f64 {
        let (a, b) = (self.as_slice(), other.as_slice());
        let diagonal: f64 = (0..D).map(|k| a[k] * b[k]).sum();
        let rest: f64 = (D..Self::LEN).map(|k| a[k] * b[k]).sum();
        diagonal + 2.0 * rest
    }

    /// Frobenius norm, `sqrt(A : A)`.
    #[inline]
    pub fn norm(&self) -> f64 {
        self.double_dot(self).sqrt()
    }

    /// `A - (trace A / D) I`.
    #[inline]
    pub fn deviator(&self) -> Self {
        *self - Self::identity() * (self.trace() / D as f64)
    }

    /// Eigenvalues (descending) and right-handed eigenvectors.
    #[inline]
    pub fn eigen(&self) -> SymmetricEigen<D> {
        symmetric_eigen(&self.to_matrix())
    }
}

impl<const D: usize> Default for SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    #[inline]
    fn default() -> Self {
        Self::zero()
    }
}

impl<const D: usize> Add for SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { entries: self.entries + other.entries }
    }
}

impl<const D: usize> Sub for SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { entries: self.entries - other.entries }
    }
}

impl<const D: usize> Neg for SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { entries: -self.entries }
    }
}

impl<const D: usize> Mul<f64> for SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self { entries: self.entries * factor }
    }
}

impl<const D: usize> AddAssign for SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
    }
}

impl<const D: usize> SubAssign for SymmetricMatrix<D>
where
    Dim<D>: Space<D>,
{
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.entries -= other.entries;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn acts_like_the_full_matrix<const D: usize>(values: &[f64])
    where
        Dim<D>: Space<D>,
    {
        let m = Matrix::<D>::from_fn(|i, j| values[3 * i + j]);
        let n = Matrix::<D>::from_fn(|i, j| values[(5 * i + 2 * j + 1) % 9]);
        let v = Vector::<D>::from_fn(|i, _| values[i]);
        let (a, b) = (SymmetricMatrix::symmetric_part(&m), SymmetricMatrix::symmetric_part(&n));
        let (full_a, full_b) = (0.5 * (m + m.transpose()), 0.5 * (n + n.transpose()));
        let near = |x: Matrix<D>, y: Matrix<D>| assert!((x - y).amax() < 1e-12, "{x} {y}");
        near(a.to_matrix(), full_a);
        near((a + b * 2.0 - -a).to_matrix(), full_a * 2.0 + full_b * 2.0);
        near(a.transformed(&n).to_matrix(), n * full_a * n.transpose());
        near(SymmetricMatrix::outer(&v).to_matrix(), v * v.transpose());
        near(SymmetricMatrix::from_slice(a.as_slice()).to_matrix(), full_a);
        let w = m * v;
        near(
            SymmetricMatrix::symmetric_outer(&v, &w).to_matrix(),
            0.5 * (v * w.transpose() + w * v.transpose()),
        );
        assert!((a.apply(&v) - full_a * v).norm() < 1e-12);
        assert!((a.trace() - full_a.trace()).abs() < 1e-12 && a.deviator().trace().abs() < 1e-12);
        assert!((a.double_dot(&b) - full_a.component_mul(&full_b).sum()).abs() < 1e-11);
        assert!((a.norm() - full_a.norm()).abs() < 1e-12);
        near(a.eigen().map(|x| x), full_a);
    }

    proptest! {
        #[test]
        fn packed_matrix_acts_like_the_full_one(values in prop::array::uniform9(-4.0..4.0f64)) {
            acts_like_the_full_matrix::<2>(&values);
            acts_like_the_full_matrix::<3>(&values);
        }
    }

    #[test]
    fn entries_are_in_the_order_of_vtk() {
        let a = SymmetricMatrix::<3>::from_fn(|i, j| (10 * i + j) as f64);
        assert_eq!(a.as_slice(), [0.0, 11.0, 22.0, 1.0, 12.0, 2.0]);
        assert_eq!(SymmetricMatrix::<2>::from_fn(|i, j| (10 * i + j) as f64).as_slice(), [0.0, 11.0, 1.0]);
    }
}
