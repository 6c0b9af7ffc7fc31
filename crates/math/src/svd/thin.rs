//! The 3x2 case: a membrane triangle in space.

use super::jacobi::{Block, perpendicular};
use crate::{Matrix, Vector};
use nalgebra::SMatrix;

/// Below this part of `sigma_1` the direction `F v_2` is rounding noise.
const NOISE: f64 = 16.0 * f64::EPSILON;

/// `F = U diag(sigma) V^T` of a 3x2 matrix: `U` has two orthonormal columns, `V` is a rotation of the plane, `sigma_1 >= sigma_2 >= 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinSvd {
    /// Two orthonormal columns.
    pub u: SMatrix<f64, 3, 2>,
    /// Singular values, descending, not negative.
    pub sigma: Vector<2>,
    /// Rotation `V`.
    pub v: Matrix<2>,
}

impl ThinSvd {
    /// `u_1 x u_2`, the unit normal of the deformed membrane.
    pub fn normal(&self) -> Vector<3> {
        self.u.column(0).cross(&self.u.column(1))
    }

    /// `U diag(diagonal) V^T`.
    pub fn recompose(&self, diagonal: &Vector<2>) -> SMatrix<f64, 3, 2> {
        self.u * Matrix::from_diagonal(diagonal) * self.v.transpose()
    }
}

/// Singular value decomposition of a 3x2 matrix.
///
/// A triangle collapsed to a line leaves `u_2` open: it is `hint` (the `u_2` of the previous step) made orthogonal to `u_1`, so that the choice is
/// coherent in time, or any unit vector without a usable hint. The zero matrix gives the first two axes and `V = I`. An entry that is not finite gives `sigma = NaN` with the
/// factors of the zero matrix.
pub fn thin_svd(f: &SMatrix<f64, 3, 2>, hint: Option<&Vector<3>>) -> ThinSvd {
    let mut block = Block::<3, 2, 1>::new();
    block.load(std::iter::once(f.data.0));
    block.orthogonalize();
    let unscale = block.unscale();
    let (b1, b2) = (block.column(0), block.column(1));
    let v = Matrix::<2>::from_fn(|i, j| block.v(i, j) + 0.0);
    let length = b1.norm();
    if length == 0.0 {
        return ThinSvd {
            u: SMatrix::identity(),
            sigma: Vector::repeat(0.0 * unscale),
            v: Matrix::identity(),
        };
    }
    let u1 = b1 / length;
    let across = b2 - u1 * u1.dot(&b2);
    let width = across.norm();
    let (u2, width) = if width > NOISE * length {
        (across / width, width)
    } else {
        let hinted = hint.map(|hint| hint - u1 * u1.dot(hint)).filter(|side| {
            let norm = side.norm();
            norm.is_finite() && norm > 1e-6 * hint.map_or(0.0, Vector::norm)
        });
        let u2 = hinted.map_or_else(|| perpendicular(&[u1]), |side| side / side.norm());
        // A second pass: a hint nearly along u_1 leaves a remainder with few correct digits.
        let u2 = (u2 - u1 * u1.dot(&u2)).normalize();
        (u2, u2.dot(&b2).max(0.0))
    };
    ThinSvd {
        u: SMatrix::from_columns(&[u1, u2]),
        sigma: Vector::<2>::new(length.max(width), width) * unscale,
        v,
    }
}
