//! Signed singular value decomposition: rotations on both sides, and the sign of the determinant on the smallest value.
//!
//! For a square matrix `F = U diag(sigma) V^T` with `det U = det V = +1`, `sigma_1 >= ... >= |sigma_D|`, and the last value negative exactly
//! when `det F < 0` (an inverted element). Isotropic materials need this form: a reflection hidden in `U` or `V`, as in the textbook
//! decomposition, makes an inverted element believe that it is fine.
//!
//! The method is one-sided Jacobi on the columns of `F` itself, with sorting rotations, after scaling by a power of two. It never forms
//! `F^T F`, whose squared condition number loses half the digits. Written by hand because the libraries give the unsigned form, and none works on
//! many small matrices in lanes. One source, `jacobi.rs`, serves 2x2, 3x3 and 3x2 and any number of lanes, so a matrix gives the same bits
//! alone, in a batch, and with any instruction set.
//!
//! Accuracy, relative to `sigma_1` and for all scales from subnormal to overflow: reconstruction, orthogonality and singular values within
//! 1e-14 (tested to 1e-12, seen 4e-15; see the verification case `foundation/svd-accuracy`). The same source in single precision ([`Real`]) keeps 5e-6.

mod batch;
mod jacobi;
mod real;
#[cfg(test)]
mod tests;
mod thin;

pub use batch::{signed_svd_batch, signed_svd_batch_parallel};
pub(crate) use jacobi::perpendicular;
pub use real::Real;
pub use thin::{ThinSvd, thin_svd};

#[doc(hidden)]
pub use batch::{InstructionSet, signed_svd_batch_with};

use crate::{Dim, Matrix, Space};
use jacobi::Block;
use nalgebra::{SMatrix, SVector};

/// `F = U diag(sigma) V^T` with rotations `U` and `V`; see the [module](crate::svd) for the contract.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Svd<const D: usize, S = f64> {
    /// Rotation `U`.
    pub u: SMatrix<S, D, D>,
    /// Signed singular values (the unit of `F`): descending, the last one carries the sign of `det F`.
    pub sigma: SVector<S, D>,
    /// Rotation `V`.
    pub v: SMatrix<S, D, D>,
}

impl<S: Real, const D: usize> Svd<D, S> {
    /// The decomposition of the zero matrix: `U = V = I`, `sigma = 0`.
    pub fn zero() -> Self {
        Self { u: SMatrix::identity(), sigma: SVector::zeros(), v: SMatrix::identity() }
    }

    /// `U diag(diagonal) V^T`: the decomposed matrix for `diagonal = sigma`, and a stress for the principal stresses of an isotropic material.
    pub fn recompose(&self, diagonal: &SVector<S, D>) -> SMatrix<S, D, D> {
        scale_columns(&self.u, diagonal) * self.v.transpose()
    }

    /// `R = U V^T`, the rotation of the polar decomposition; nearest to `F` among all rotations.
    pub fn rotation(&self) -> SMatrix<S, D, D> {
        self.u * self.v.transpose()
    }

    /// `S = V diag(sigma) V^T`, the symmetric factor of `F = R S`; indefinite when `det F < 0`.
    pub fn stretch(&self) -> SMatrix<S, D, D> {
        scale_columns(&self.v, &self.sigma) * self.v.transpose()
    }
}

fn scale_columns<S: Real, const D: usize>(m: &SMatrix<S, D, D>, factors: &SVector<S, D>) -> SMatrix<S, D, D> {
    SMatrix::from_fn(|i, j| m[(i, j)] * factors[j])
}

/// Signed singular value decomposition of a 2x2 or 3x3 matrix.
///
/// Rank deficient input is completed to rotations: `u_3 = u_1 x u_2` for rank 2, any completing pair for rank 1, and `U = V = I` exactly for the zero matrix.
/// A matrix with an entry that is not finite gives `sigma = NaN` and `U = V = I`, so that the error stays visible and the rotations stay usable.
///
/// ```
/// use splashdown_math::{Matrix, svd::signed_svd};
///
/// let inverted = Matrix::<2>::new(0.0, 3.0, 2.0, 0.0);
/// let svd = signed_svd(&inverted);
/// assert_eq!(svd.sigma.as_slice(), [3.0, -2.0]);
/// assert!((svd.recompose(&svd.sigma) - inverted).norm() < 1e-15);
/// ```
pub fn signed_svd<S: Real, const D: usize>(f: &SMatrix<S, D, D>) -> Svd<D, S>
where
    Dim<D>: Space<D>,
{
    let mut out = [Svd::zero()];
    let mut block = Block::<S, D, D, 1>::new();
    block.load_square(std::slice::from_ref(f));
    block.decompose();
    block.store_square(&mut out);
    out[0]
}

/// Polar decomposition `F = R S`: the nearest rotation and a symmetric matrix, from [`signed_svd`].
///
/// For `det F < 0` the rotation stays a rotation, and `S` has one negative eigenvalue, the one of smallest magnitude.
pub fn polar<const D: usize>(f: &Matrix<D>) -> (Matrix<D>, Matrix<D>)
where
    Dim<D>: Space<D>,
{
    let svd = signed_svd(f);
    (svd.rotation(), svd.stretch())
}
