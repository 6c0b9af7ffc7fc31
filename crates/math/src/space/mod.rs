//! What really differs between two and three dimensions: spin, rotation, the cross product and the inertia tensor.

#[cfg(test)]
mod tests;

use crate::svd::perpendicular;
use crate::{Matrix, Real, Vector, signed_svd, symmetric_eigen};
use nalgebra::{Quaternion, SMatrix, Unit, UnitComplex, UnitQuaternion};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Names a dimension as a type, so that [`Space`] can be implemented for it: `Dim<2>` and `Dim<3>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dim<const D: usize>;

/// Angular velocity or angular momentum in dimension `D`: one number in 2D, three in 3D.
pub type Spin<const D: usize> = <Dim<D> as Space<D>>::Spin;
/// Orientation in dimension `D`: a unit complex number in 2D, a unit quaternion in 3D.
pub type Rotation<const D: usize> = <Dim<D> as Space<D>>::Rotation;
/// Linear map from angular velocity to angular momentum (kg m^2): 1x1 in 2D, 3x3 in 3D.
pub type Inertia<const D: usize> = <Dim<D> as Space<D>>::Inertia;

/// A plain vector whose number of components only the dimension knows; lets generic code copy it to and from flat arrays.
pub trait Coordinates:
    Copy
    + Debug
    + PartialEq
    + Send
    + Sync
    + 'static
    + Serialize
    + DeserializeOwned
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<f64, Output = Self>
    + AddAssign
    + SubAssign
{
    /// Number of components.
    const LEN: usize;
    /// The zero vector.
    fn zero() -> Self;
    /// Components as a slice of length [`Self::LEN`].
    fn as_slice(&self) -> &[f64];
    /// Reads the first [`Self::LEN`] entries of `values`.
    fn from_slice(values: &[f64]) -> Self;
    /// Inner product.
    fn dot(&self, other: &Self) -> f64;
    /// Euclidean length.
    fn norm(&self) -> f64 {
        self.dot(self).sqrt()
    }
}

impl<const N: usize> Coordinates for Vector<N> {
    const LEN: usize = N;
    #[inline]
    fn zero() -> Self {
        Self::zeros()
    }
    #[inline]
    fn as_slice(&self) -> &[f64] {
        &self.data.0[0]
    }
    #[inline(always)]
    fn from_slice(values: &[f64]) -> Self {
        // A copy; nalgebra's own goes through iterators that are calls in inner loops.
        let mut read = Self::zeros();
        read.as_mut_slice().copy_from_slice(&values[..N]);
        read
    }
    #[inline]
    fn dot(&self, other: &Self) -> f64 {
        self.dot(other)
    }
}

/// The rotation group and the cross product of dimension `D`; implemented for [`Dim<2>`](Dim) and [`Dim<3>`](Dim) only.
pub trait Space<const D: usize>: Copy + Debug + Send + Sync + 'static {
    /// Number of components of a spin: 1 in 2D, 3 in 3D.
    const SPIN: usize;
    /// Angular velocity (rad/s) or angular momentum (kg m^2/s).
    type Spin: Coordinates;
    /// Orientation, always of unit length.
    type Rotation: Copy + Debug + PartialEq + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Linear map between spins.
    type Inertia: Copy
        + Debug
        + PartialEq
        + Send
        + Sync
        + Serialize
        + DeserializeOwned
        + Add<Output = Self::Inertia>
        + Mul<f64, Output = Self::Inertia>
        + 'static;
    /// The independent entries of a symmetric matrix: 3 in 2D, 6 in 3D.
    type SymmetricEntries: Coordinates;
    /// `r^*`, the matrix of `a -> r x a` (spin components by `D`).
    type CrossMatrix: Copy + Debug + PartialEq + Send + Sync + 'static;

    /// `a x b`, a spin.
    fn cross(a: &Vector<D>, b: &Vector<D>) -> Self::Spin;
    /// `spin x r`, the velocity that a rotation about the origin gives to the point `r`.
    fn spin_cross(spin: &Self::Spin, r: &Vector<D>) -> Vector<D>;
    /// `a x b` of two spins, such as `L x omega`; zero in the plane, where all spins are parallel.
    fn spin_commutator(a: &Self::Spin, b: &Self::Spin) -> Self::Spin;
    /// The unit vector that completes the first `D - 1` of these orthonormal vectors to a right-handed basis (the last one is not read).
    fn right_handed<S: Real>(basis: &[[S; D]; D]) -> [S; D];
    /// `r^*`: `r^* a = r x a`. Its transpose maps a spin to the velocity `spin x r`.
    fn cross_matrix(r: &Vector<D>) -> Self::CrossMatrix;
    /// `r^* a`.
    fn apply_cross_matrix(m: &Self::CrossMatrix, a: &Vector<D>) -> Self::Spin;
    /// `r^{*T} spin`.
    fn apply_cross_matrix_transpose(m: &Self::CrossMatrix, spin: &Self::Spin) -> Vector<D>;

    /// The skew matrix of `r -> spin x r`.
    fn spin_matrix(spin: &Self::Spin) -> Matrix<D>;
    /// The spin of the skew part of `m`, so that `spin x r = (m - m^T) r / 2`; for a velocity gradient this is the rate of rotation, half the vorticity.
    fn skew_spin(m: &Matrix<D>) -> Self::Spin;

    /// No rotation.
    fn identity() -> Self::Rotation;
    /// `R r`.
    fn rotate(rotation: &Self::Rotation, r: &Vector<D>) -> Vector<D>;
    /// `R^T r`.
    fn rotate_back(rotation: &Self::Rotation, r: &Vector<D>) -> Vector<D>;
    /// `R spin` (a spin is unchanged by rotations of the plane).
    fn rotate_spin(rotation: &Self::Rotation, spin: &Self::Spin) -> Self::Spin;
    /// `R^T spin`.
    fn rotate_spin_back(rotation: &Self::Rotation, spin: &Self::Spin) -> Self::Spin;
    /// `a b`: first `b`, then `a`.
    fn compose(a: &Self::Rotation, b: &Self::Rotation) -> Self::Rotation;
    /// The inverse rotation.
    fn inverse(rotation: &Self::Rotation) -> Self::Rotation;
    /// Rotation by the angle `|v|` (rad) about the axis `v`.
    fn exp(rotation_vector: &Self::Spin) -> Self::Rotation;
    /// Inverse of [`Self::exp`], the shortest rotation vector; accurate for small and for half turns.
    fn log(rotation: &Self::Rotation) -> Self::Spin;
    /// The part `t` of the way from `a` to `b` along the shorter arc (`0` gives `a`, `1` gives `b`; half-way frames take `0.5`).
    fn interpolate(a: &Self::Rotation, b: &Self::Rotation, t: f64) -> Self::Rotation {
        let between = Self::log(&Self::compose(&Self::inverse(a), b));
        Self::compose(a, &Self::exp(&(between * t)))
    }
    /// The smallest rotation that turns the direction of `a` into that of `b`: any half turn for opposite directions, none if one of them is zero or not finite.
    fn rotation_between(a: &Vector<D>, b: &Vector<D>) -> Self::Rotation;
    /// The rotation nearest to `m` (see [`polar`](crate::polar)); exact conversion of a rotation matrix, no rotation if `m` is not finite.
    fn rotation_from_matrix(m: &Matrix<D>) -> Self::Rotation;
    /// Scales the stored complex number or quaternion back to unit length.
    fn renormalize(rotation: &mut Self::Rotation);
    /// Rotation matrix.
    fn to_matrix(rotation: &Self::Rotation) -> Matrix<D>;
    /// Stored components: (cos, sin) in 2D, (w, x, y, z) in 3D.
    fn rotation_components(rotation: &Self::Rotation) -> Vec<f64>;
    /// Orientation from [`Self::rotation_components`], normalised; `None` for a wrong count, zero length or a value that is not finite.
    fn rotation_from_components(components: &[f64]) -> Option<Self::Rotation>;

    /// Diagonal inertia tensor from principal moments ([`Self::SPIN`] values, kg m^2).
    fn inertia_from_principal(moments: &[f64]) -> Self::Inertia;
    /// Inertia about the origin of a point of mass 1 at `r`: `r^* r^{*T}`. With a mass it is the term of the parallel axis theorem.
    fn point_inertia(r: &Vector<D>) -> Self::Inertia;
    /// Principal moments (kg m^2, descending) and the rotation from principal axes to the axes of `inertia`: `I = R diag(moments) R^T`.
    fn principal_axes(inertia: &Self::Inertia) -> (Self::Spin, Self::Rotation);
    /// `I spin`.
    fn apply_inertia(inertia: &Self::Inertia, spin: &Self::Spin) -> Self::Spin;
    /// Inverse tensor; zero for a zero tensor (an infinitely heavy body is described by its zero inverse).
    fn invert_inertia(inertia: &Self::Inertia) -> Self::Inertia;
    /// `R I R^T`.
    fn rotate_inertia(rotation: &Self::Rotation, inertia: &Self::Inertia) -> Self::Inertia;
    /// Entries in row-major order, `SPIN * SPIN` of them.
    fn inertia_entries(inertia: &Self::Inertia) -> Vec<f64>;

    /// Principal moments of a solid ball of mass 1 and radius 1 (a disc in 2D).
    const BALL_INERTIA: f64;
    /// Volume (area) of the ball of radius 1.
    const BALL_VOLUME: f64;
    /// Principal moments of a solid box of mass 1 with the given full edge lengths.
    fn box_inertia(edges: &Vector<D>) -> Vec<f64>;
}

/// `v` scaled to length 1, without overflow; `None` for zero and for what is not finite.
fn direction<const D: usize>(v: &Vector<D>) -> Option<Vector<D>> {
    let largest = v.amax();
    (largest > 0.0 && v.iter().all(|x| x.is_finite())).then(|| (v / largest).normalize())
}

fn unit_complex(re: f64, im: f64) -> UnitComplex<f64> {
    let norm = re.hypot(im);
    UnitComplex::new_unchecked(nalgebra::Complex::new(re / norm, im / norm))
}

impl Space<2> for Dim<2> {
    const SPIN: usize = 1;
    type Spin = Vector<1>;
    type Rotation = UnitComplex<f64>;
    type Inertia = Matrix<1>;
    type SymmetricEntries = Vector<3>;
    type CrossMatrix = SMatrix<f64, 1, 2>;

    #[inline]
    fn cross(a: &Vector<2>, b: &Vector<2>) -> Vector<1> {
        Vector::<1>::new(a.x * b.y - a.y * b.x)
    }
    #[inline]
    fn spin_cross(spin: &Vector<1>, r: &Vector<2>) -> Vector<2> {
        Vector::<2>::new(-spin.x * r.y, spin.x * r.x)
    }
    #[inline]
    fn spin_commutator(_: &Vector<1>, _: &Vector<1>) -> Vector<1> {
        Vector::<1>::zeros()
    }
    #[inline(always)]
    fn right_handed<S: Real>(basis: &[[S; 2]; 2]) -> [S; 2] {
        [-basis[0][1], basis[0][0]]
    }
    #[inline]
    fn cross_matrix(r: &Vector<2>) -> SMatrix<f64, 1, 2> {
        SMatrix::<f64, 1, 2>::new(-r.y, r.x)
    }
    #[inline]
    fn apply_cross_matrix(m: &SMatrix<f64, 1, 2>, a: &Vector<2>) -> Vector<1> {
        m * a
    }
    #[inline]
    fn apply_cross_matrix_transpose(m: &SMatrix<f64, 1, 2>, spin: &Vector<1>) -> Vector<2> {
        m.transpose() * spin
    }
    #[inline]
    fn spin_matrix(spin: &Vector<1>) -> Matrix<2> {
        Matrix::<2>::new(0.0, -spin.x, spin.x, 0.0)
    }
    #[inline]
    fn skew_spin(m: &Matrix<2>) -> Vector<1> {
        Vector::<1>::new(0.5 * (m[(1, 0)] - m[(0, 1)]))
    }
    #[inline]
    fn identity() -> UnitComplex<f64> {
        UnitComplex::identity()
    }
    #[inline]
    fn rotate(rotation: &UnitComplex<f64>, r: &Vector<2>) -> Vector<2> {
        rotation * r
    }
    #[inline]
    fn rotate_back(rotation: &UnitComplex<f64>, r: &Vector<2>) -> Vector<2> {
        rotation.conjugate() * r
    }
    #[inline]
    fn rotate_spin(_: &UnitComplex<f64>, spin: &Vector<1>) -> Vector<1> {
        *spin
    }
    #[inline]
    fn rotate_spin_back(_: &UnitComplex<f64>, spin: &Vector<1>) -> Vector<1> {
        *spin
    }
    #[inline]
    fn compose(a: &UnitComplex<f64>, b: &UnitComplex<f64>) -> UnitComplex<f64> {
        a * b
    }
    #[inline]
    fn inverse(rotation: &UnitComplex<f64>) -> UnitComplex<f64> {
        rotation.conjugate()
    }
    #[inline]
    fn exp(rotation_vector: &Vector<1>) -> UnitComplex<f64> {
        UnitComplex::new(rotation_vector.x)
    }
    #[inline]
    fn log(rotation: &UnitComplex<f64>) -> Vector<1> {
        Vector::<1>::new(rotation.im.atan2(rotation.re))
    }
    #[inline]
    fn rotation_between(a: &Vector<2>, b: &Vector<2>) -> UnitComplex<f64> {
        let (Some(a), Some(b)) = (direction(a), direction(b)) else { return Self::identity() };
        unit_complex(a.dot(&b), a.x * b.y - a.y * b.x)
    }
    #[inline]
    fn rotation_from_matrix(m: &Matrix<2>) -> UnitComplex<f64> {
        let r = signed_svd(m).rotation();
        unit_complex(r[(0, 0)] + r[(1, 1)], r[(1, 0)] - r[(0, 1)])
    }
    #[inline]
    fn renormalize(rotation: &mut UnitComplex<f64>) {
        rotation.renormalize();
    }
    #[inline]
    fn to_matrix(rotation: &UnitComplex<f64>) -> Matrix<2> {
        *rotation.to_rotation_matrix().matrix()
    }
    #[inline]
    fn rotation_components(rotation: &UnitComplex<f64>) -> Vec<f64> {
        vec![rotation.re, rotation.im]
    }
    #[inline]
    fn rotation_from_components(components: &[f64]) -> Option<UnitComplex<f64>> {
        let &[re, im] = components else { return None };
        let norm = re.hypot(im);
        (norm.is_finite() && norm > 0.0).then(|| unit_complex(re, im))
    }
    #[inline]
    fn inertia_from_principal(moments: &[f64]) -> Matrix<1> {
        Matrix::<1>::new(moments[0])
    }
    #[inline]
    fn point_inertia(r: &Vector<2>) -> Matrix<1> {
        Matrix::<1>::new(r.norm_squared())
    }
    #[inline]
    fn principal_axes(inertia: &Matrix<1>) -> (Vector<1>, UnitComplex<f64>) {
        (Vector::<1>::new(inertia[(0, 0)]), Self::identity())
    }
    #[inline]
    fn apply_inertia(inertia: &Matrix<1>, spin: &Vector<1>) -> Vector<1> {
        inertia * spin
    }
    #[inline]
    fn invert_inertia(inertia: &Matrix<1>) -> Matrix<1> {
        inertia.map(|value| if value == 0.0 { 0.0 } else { 1.0 / value })
    }
    #[inline]
    fn rotate_inertia(_: &UnitComplex<f64>, inertia: &Matrix<1>) -> Matrix<1> {
        *inertia
    }
    #[inline]
    fn inertia_entries(inertia: &Matrix<1>) -> Vec<f64> {
        vec![inertia[(0, 0)]]
    }
    const BALL_INERTIA: f64 = 0.5;
    const BALL_VOLUME: f64 = std::f64::consts::PI;
    #[inline]
    fn box_inertia(edges: &Vector<2>) -> Vec<f64> {
        vec![edges.norm_squared() / 12.0]
    }
}

impl Space<3> for Dim<3> {
    const SPIN: usize = 3;
    type Spin = Vector<3>;
    type Rotation = UnitQuaternion<f64>;
    type Inertia = Matrix<3>;
    type SymmetricEntries = Vector<6>;
    type CrossMatrix = Matrix<3>;

    #[inline]
    fn cross(a: &Vector<3>, b: &Vector<3>) -> Vector<3> {
        a.cross(b)
    }
    #[inline]
    fn spin_cross(spin: &Vector<3>, r: &Vector<3>) -> Vector<3> {
        spin.cross(r)
    }
    #[inline]
    fn spin_commutator(a: &Vector<3>, b: &Vector<3>) -> Vector<3> {
        a.cross(b)
    }
    #[inline(always)]
    fn right_handed<S: Real>(basis: &[[S; 3]; 3]) -> [S; 3] {
        let [a, b, _] = basis;
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }
    #[inline]
    fn cross_matrix(r: &Vector<3>) -> Matrix<3> {
        r.cross_matrix()
    }
    #[inline]
    fn apply_cross_matrix(m: &Matrix<3>, a: &Vector<3>) -> Vector<3> {
        m * a
    }
    #[inline]
    fn apply_cross_matrix_transpose(m: &Matrix<3>, spin: &Vector<3>) -> Vector<3> {
        m.tr_mul(spin)
    }
    #[inline]
    fn spin_matrix(spin: &Vector<3>) -> Matrix<3> {
        spin.cross_matrix()
    }
    #[inline]
    fn skew_spin(m: &Matrix<3>) -> Vector<3> {
        Vector::<3>::new(m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)]) * 0.5
    }
    #[inline]
    fn identity() -> UnitQuaternion<f64> {
        UnitQuaternion::identity()
    }
    #[inline]
    fn rotate(rotation: &UnitQuaternion<f64>, r: &Vector<3>) -> Vector<3> {
        rotation * r
    }
    #[inline]
    fn rotate_back(rotation: &UnitQuaternion<f64>, r: &Vector<3>) -> Vector<3> {
        rotation.conjugate() * r
    }
    #[inline]
    fn rotate_spin(rotation: &UnitQuaternion<f64>, spin: &Vector<3>) -> Vector<3> {
        rotation * spin
    }
    #[inline]
    fn rotate_spin_back(rotation: &UnitQuaternion<f64>, spin: &Vector<3>) -> Vector<3> {
        rotation.conjugate() * spin
    }
    #[inline]
    fn compose(a: &UnitQuaternion<f64>, b: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
        a * b
    }
    #[inline]
    fn inverse(rotation: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
        rotation.conjugate()
    }
    #[inline]
    fn exp(rotation_vector: &Vector<3>) -> UnitQuaternion<f64> {
        let half = 0.5 * rotation_vector.norm();
        // sin(h)/h by its series near zero, where the quotient loses digits.
        let (sinc, cos) = if half < 1e-4 {
            (1.0 - half * half / 6.0, 1.0 - 0.5 * half * half)
        } else {
            (half.sin() / half, half.cos())
        };
        Unit::new_normalize(Quaternion::from_parts(cos, rotation_vector * (0.5 * sinc)))
    }
    #[inline]
    fn log(rotation: &UnitQuaternion<f64>) -> Vector<3> {
        let (w, v) = if rotation.w < 0.0 {
            (-rotation.w, -rotation.vector())
        } else {
            (rotation.w, rotation.vector().into())
        };
        let sine = v.norm();
        if sine < 1e-8 {
            return v * 2.0;
        }
        v * (2.0 * sine.atan2(w) / sine)
    }
    #[inline]
    fn rotation_between(a: &Vector<3>, b: &Vector<3>) -> UnitQuaternion<f64> {
        let (Some(a), Some(b)) = (direction(a), direction(b)) else { return Self::identity() };
        let part = |a: &Vector<3>, b: &Vector<3>| {
            let cosine = a.dot(b);
            if cosine > -0.99 {
                return Unit::new_normalize(Quaternion::from_parts(1.0 + cosine, a.cross(b)));
            }
            // A half turn about an axis at right angles to a, as close to that of the smallest rotation as rounding lets us know it.
            let across = a.cross(b);
            let across = (across - a * a.dot(&across)).try_normalize(1e-14);
            let axis = across.unwrap_or_else(|| perpendicular(&[*a]));
            Unit::new_normalize(Quaternion::from_parts(0.0, axis))
        };
        // The second part is small, and makes up for what the first missed.
        let first = part(&a, &b);
        part(&(first * a), &b) * first
    }
    #[inline]
    fn rotation_from_matrix(m: &Matrix<3>) -> UnitQuaternion<f64> {
        let r = signed_svd(m).rotation();
        let (diagonal, trace) = (r.diagonal(), r.trace());
        let skew = Self::skew_spin(&r) * 2.0;
        // Divide by the largest component only (Shepperd 1978).
        let largest = diagonal.imax();
        if trace >= diagonal[largest] {
            return Unit::new_normalize(Quaternion::from_parts(1.0 + trace, skew));
        }
        let mut vector = Vector::<3>::zeros();
        for i in 0..3 {
            vector[i] = r[(i, largest)] + r[(largest, i)];
        }
        vector[largest] += 1.0 - trace;
        Unit::new_normalize(Quaternion::from_parts(skew[largest], vector))
    }
    #[inline]
    fn renormalize(rotation: &mut UnitQuaternion<f64>) {
        rotation.renormalize();
    }
    #[inline]
    fn to_matrix(rotation: &UnitQuaternion<f64>) -> Matrix<3> {
        *rotation.to_rotation_matrix().matrix()
    }
    #[inline]
    fn rotation_components(rotation: &UnitQuaternion<f64>) -> Vec<f64> {
        vec![rotation.w, rotation.i, rotation.j, rotation.k]
    }
    #[inline]
    fn rotation_from_components(components: &[f64]) -> Option<UnitQuaternion<f64>> {
        let &[w, x, y, z] = components else { return None };
        let quaternion = Quaternion::new(w, x, y, z);
        let norm = quaternion.norm();
        (norm.is_finite() && norm > 0.0).then(|| Unit::new_unchecked(quaternion / norm))
    }
    #[inline]
    fn inertia_from_principal(moments: &[f64]) -> Matrix<3> {
        Matrix::<3>::from_diagonal(&Vector::<3>::from_column_slice(&moments[..3]))
    }
    #[inline]
    fn point_inertia(r: &Vector<3>) -> Matrix<3> {
        Matrix::identity() * r.norm_squared() - r * r.transpose()
    }
    #[inline]
    fn principal_axes(inertia: &Matrix<3>) -> (Vector<3>, UnitQuaternion<f64>) {
        let eigen = symmetric_eigen(inertia);
        (eigen.values, Self::rotation_from_matrix(&eigen.vectors))
    }
    #[inline]
    fn apply_inertia(inertia: &Matrix<3>, spin: &Vector<3>) -> Vector<3> {
        // Written out: the general product is a call for each column, in the innermost loops of contact.
        let entries = inertia.as_slice();
        let row = |r: usize| entries[r] * spin[0] + entries[3 + r] * spin[1] + entries[6 + r] * spin[2];
        Vector::<3>::new(row(0), row(1), row(2))
    }
    #[inline]
    fn invert_inertia(inertia: &Matrix<3>) -> Matrix<3> {
        let [[a, d, e], [_, b, f], [_, _, c]] = inertia.data.0;
        // Most are along their principal axes.
        if a != 0.0 && b != 0.0 && c != 0.0 && d == 0.0 && e == 0.0 && f == 0.0 {
            // The minors over the determinant, as the general inverse: the same bits.
            let determinant = a * (b * c);
            let minors = Vector::<3>::new(b * c, a * c, a * b);
            return Matrix::<3>::from_diagonal(&(minors / determinant));
        }
        inertia.try_inverse().unwrap_or_else(Matrix::<3>::zeros)
    }
    #[inline]
    fn rotate_inertia(rotation: &UnitQuaternion<f64>, inertia: &Matrix<3>) -> Matrix<3> {
        let r = Self::to_matrix(rotation);
        // Written out: the general products are calls.
        let product = |a: &Matrix<3>, b: &dyn Fn(usize, usize) -> f64| {
            Matrix::<3>::from_fn(|i, j| a[(i, 0)] * b(0, j) + a[(i, 1)] * b(1, j) + a[(i, 2)] * b(2, j))
        };
        let turned = product(&r, &|k, j| inertia[(k, j)]);
        product(&turned, &|k, j| r[(j, k)])
    }
    #[inline]
    fn inertia_entries(inertia: &Matrix<3>) -> Vec<f64> {
        inertia.transpose().as_slice().to_vec()
    }
    const BALL_INERTIA: f64 = 0.4;
    const BALL_VOLUME: f64 = 4.0 / 3.0 * std::f64::consts::PI;
    #[inline]
    fn box_inertia(edges: &Vector<3>) -> Vec<f64> {
        let square = edges.component_mul(edges);
        vec![(square.y + square.z) / 12.0, (square.x + square.z) / 12.0, (square.x + square.y) / 12.0]
    }
}
