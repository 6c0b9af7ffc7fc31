//! The decomposition `F = U diag(s) V^T` for square gradients and for membranes, behind one small trait.

use nalgebra::SMatrix;
use nalgebra::SVector;
use splashdown_math::{Matrix, Real, Svd, ThinSvd, Vector, signed_svd_batch, thin_svd};

/// Names the shape of a deformation gradient as a type, so that [`Decompose`] can be implemented for it.
#[derive(Debug, Clone, Copy)]
pub struct Shape<const D: usize, const C: usize>;

/// A decomposition of a `D` by `C` gradient.
pub trait Decomposed<S, const D: usize, const C: usize>: Copy + Send + Sync {
    /// Any value, to be overwritten.
    fn blank() -> Self;
    /// `U`: a rotation, or two orthonormal columns.
    fn u(&self) -> &SMatrix<S, D, C>;
    /// Signed stretches.
    fn stretch(&self) -> &SVector<S, C>;
    /// `V`, a rotation.
    fn v(&self) -> &SMatrix<S, C, C>;
    /// Turns a membrane around if it does not face along `normal`; nothing for solids.
    fn face(&mut self, _normal: &Vector<D>) {}
}

/// How gradients of this shape are decomposed; implemented for 2x2, 3x3 and 3x2.
pub trait Decompose<const D: usize, const C: usize>: Send + Sync + 'static {
    /// What comes out.
    type Out<S: Real>: Decomposed<S, D, C>;
    /// Decomposes all of `f`.
    fn decompose<S: Real>(f: &[SMatrix<S, D, C>], out: &mut [Self::Out<S>]);
    /// Plastic flow of one point; see [`Plasticity::flow`](crate::material::Plasticity::flow).
    fn flow(
        law: &crate::material::Plasticity,
        out: &Self::Out<f64>,
        plastic: &Matrix<C>,
        goal: Option<&Matrix<C>>,
    ) -> Option<Matrix<C>>;
}

macro_rules! square {
    ($n:literal) => {
        impl<S: Real> Decomposed<S, $n, $n> for Svd<$n, S> {
            fn blank() -> Self {
                Svd::zero()
            }
            #[inline]
            fn u(&self) -> &SMatrix<S, $n, $n> {
                &self.u
            }
            #[inline]
            fn stretch(&self) -> &SVector<S, $n> {
                &self.sigma
            }
            #[inline]
            fn v(&self) -> &SMatrix<S, $n, $n> {
                &self.v
            }
        }

        impl Decompose<$n, $n> for Shape<$n, $n> {
            type Out<S: Real> = Svd<$n, S>;
            fn decompose<S: Real>(f: &[SMatrix<S, $n, $n>], out: &mut [Svd<$n, S>]) {
                signed_svd_batch(f, out);
            }
            fn flow(
                law: &crate::material::Plasticity,
                out: &Svd<$n>,
                plastic: &Matrix<$n>,
                goal: Option<&Matrix<$n>>,
            ) -> Option<Matrix<$n>> {
                law.flow(&out.sigma, &out.v, plastic, goal)
            }
        }
    };
}

square!(2);
square!(3);

impl<S: Real> Decomposed<S, 3, 2> for ThinSvd<S> {
    fn blank() -> Self {
        ThinSvd { u: SMatrix::identity(), sigma: SVector::zeros(), v: SMatrix::identity() }
    }
    #[inline]
    fn u(&self) -> &SMatrix<S, 3, 2> {
        &self.u
    }
    #[inline]
    fn stretch(&self) -> &SVector<S, 2> {
        &self.sigma
    }
    #[inline]
    fn v(&self) -> &SMatrix<S, 2, 2> {
        &self.v
    }
    fn face(&mut self, normal: &Vector<3>) {
        if self.normal().map(Into::<f64>::into).dot(normal) < 0.0 {
            self.sigma[1] = -self.sigma[1];
            self.u.column_mut(1).neg_mut();
        }
    }
}

impl Decompose<3, 2> for Shape<3, 2> {
    type Out<S: Real> = ThinSvd<S>;
    fn decompose<S: Real>(f: &[SMatrix<S, 3, 2>], out: &mut [ThinSvd<S>]) {
        // Without a hint from the step before, so that a resumed run gives the same bits.
        for (f, out) in f.iter().zip(out) {
            *out = thin_svd(f, None);
        }
    }
    fn flow(
        law: &crate::material::Plasticity,
        out: &ThinSvd,
        plastic: &Matrix<2>,
        goal: Option<&Matrix<2>>,
    ) -> Option<Matrix<2>> {
        law.flow(&out.sigma, &out.v, plastic, goal)
    }
}
