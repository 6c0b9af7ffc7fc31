//! The 3x2 case: a membrane triangle in space.

use super::Real;
use super::jacobi::{Block, perpendicular};
use nalgebra::{SMatrix, SVector};

/// `F = U diag(sigma) V^T` of a 3x2 matrix: `U` has two orthonormal columns, `V` is a rotation of the plane, `sigma_1 >= sigma_2 >= 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinSvd<S = f64> {
    /// Two orthonormal columns.
    pub u: SMatrix<S, 3, 2>,
    /// Singular values, descending, not negative.
    pub sigma: SVector<S, 2>,
    /// Rotation `V`.
    pub v: SMatrix<S, 2, 2>,
}

impl<S: Real> ThinSvd<S> {
    /// `u_1 x u_2`, the unit normal of the deformed membrane.
    pub fn normal(&self) -> SVector<S, 3> {
        self.u.column(0).cross(&self.u.column(1))
    }

    /// `U diag(diagonal) V^T`.
    pub fn recompose(&self, diagonal: &SVector<S, 2>) -> SMatrix<S, 3, 2> {
        self.u * SMatrix::from_diagonal(diagonal) * self.v.transpose()
    }
}

/// Singular value decomposition of a 3x2 matrix.
///
/// A triangle collapsed to a line leaves `u_2` open: it is `hint` (the `u_2` of the previous step) made orthogonal to `u_1`, so that the choice is
/// coherent in time, or any unit vector without a usable hint. The zero matrix gives the first two axes and `V = I`. An entry that is not finite gives `sigma = NaN` with the
/// factors of the zero matrix.
pub fn thin_svd<S: Real>(f: &SMatrix<S, 3, 2>, hint: Option<&SVector<S, 3>>) -> ThinSvd<S> {
    let mut block = Block::<S, 3, 2, 1>::new();
    block.load(std::iter::once(f.data.0));
    block.orthogonalize();
    let unscale = block.unscale();
    let (b1, b2) = (block.column(0), block.column(1));
    let v = SMatrix::from_fn(|i, j| block.v(i, j) + S::ZERO);
    let length = b1.norm();
    if length == S::ZERO {
        return ThinSvd {
            u: SMatrix::identity(),
            sigma: SVector::repeat(S::ZERO * unscale),
            v: SMatrix::identity(),
        };
    }
    let u1 = b1 / length;
    let across = b2 - u1 * u1.dot(&b2);
    let width = across.norm();
    let (u2, width) = if width > S::NOISE * length {
        (across / width, width)
    } else {
        let hinted = hint.map(|hint| hint - u1 * u1.dot(hint)).filter(|side| {
            let norm = side.norm();
            norm.is_finite() && norm > S::narrow(1e-6) * hint.map_or(S::ZERO, SVector::norm)
        });
        let u2 = hinted
            .map_or_else(|| perpendicular(&[u1.map(Into::into)]).map(S::narrow), |side| side / side.norm());
        // A second pass: a hint nearly along u_1 leaves a remainder with few correct digits.
        let u2 = (u2 - u1 * u1.dot(&u2)).normalize();
        (u2, u2.dot(&b2).max(S::ZERO))
    };
    ThinSvd {
        u: SMatrix::from_columns(&[u1, u2]),
        sigma: SVector::<S, 2>::new(length.max(width), width) * unscale,
        v,
    }
}
