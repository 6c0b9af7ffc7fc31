//! Velocity of a rigid body, and its dual: force and torque, or linear and angular momentum.

use crate::{Coordinates, Dim, Space, Spin, Vector};
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Linear and angular velocity of a rigid body about its centre of mass. The same pair serves for force (N) and torque (N m), and for impulse or
/// momentum (kg m/s, kg m^2/s); [`Twist::dot`] of a velocity and a force is power.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Twist<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Velocity of the centre of mass (m/s).
    pub linear: Vector<D>,
    /// Angular velocity (rad/s).
    pub angular: Spin<D>,
}

impl<const D: usize> Twist<D>
where
    Dim<D>: Space<D>,
{
    /// Number of scalars of a twist: 3 in 2D, 6 in 3D.
    pub const LEN: usize = D + <Dim<D> as Space<D>>::SPIN;

    /// At rest.
    #[inline]
    pub fn zero() -> Self {
        Self { linear: Vector::zeros(), angular: Spin::<D>::zero() }
    }

    /// Velocity of the point at `arm` (m) from the centre of mass: `v + omega x arm`.
    #[inline]
    pub fn at(&self, arm: &Vector<D>) -> Vector<D> {
        self.linear + Dim::spin_cross(&self.angular, arm)
    }

    /// Force and torque of `force` at `arm` (m) from the centre of mass: `(f, arm x f)`, the adjoint of [`Self::at`].
    #[inline]
    pub fn of_force(force: &Vector<D>, arm: &Vector<D>) -> Self {
        Self { linear: *force, angular: Dim::cross(arm, force) }
    }

    /// Inner product over all components.
    #[inline]
    pub fn dot(&self, other: &Self) -> f64 {
        self.linear.dot(&other.linear) + self.angular.dot(&other.angular)
    }

    /// Copies the linear and then the angular part into `flat`.
    #[inline]
    pub fn write(&self, flat: &mut [f64]) {
        flat[..D].copy_from_slice(self.linear.as_slice());
        flat[D..Self::LEN].copy_from_slice(self.angular.as_slice());
    }

    /// Inverse of [`Self::write`].
    #[inline(always)]
    pub fn read(flat: &[f64]) -> Self {
        Self { linear: Vector::from_slice(&flat[..D]), angular: Spin::<D>::from_slice(&flat[D..Self::LEN]) }
    }
}

impl<const D: usize> Default for Twist<D>
where
    Dim<D>: Space<D>,
{
    #[inline]
    fn default() -> Self {
        Self::zero()
    }
}

impl<const D: usize> Add for Twist<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl<const D: usize> AddAssign for Twist<D>
where
    Dim<D>: Space<D>,
{
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const D: usize> Sub for Twist<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }
}

impl<const D: usize> SubAssign for Twist<D>
where
    Dim<D>: Space<D>,
{
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<const D: usize> Neg for Twist<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { linear: -self.linear, angular: -self.angular }
    }
}

impl<const D: usize> Mul<f64> for Twist<D>
where
    Dim<D>: Space<D>,
{
    type Output = Self;
    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self { linear: self.linear * factor, angular: self.angular * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn force_is_adjoint_to_velocity<const D: usize>(v: &[f64])
    where
        Dim<D>: Space<D>,
    {
        let (force, arm) =
            (Vector::<D>::from_column_slice(&v[..D]), Vector::<D>::from_column_slice(&v[3..3 + D]));
        let twist = Twist::<D>::read(&v[6..]);
        let power = twist.at(&arm).dot(&force);
        assert!((power - twist.dot(&Twist::of_force(&force, &arm))).abs() < 1e-11);
    }

    fn arithmetic_is_that_of_the_flat_vector<const D: usize>(v: &[f64])
    where
        Dim<D>: Space<D>,
    {
        let (a, b) = (Twist::<D>::read(v), Twist::<D>::read(&v[6..]));
        let mut c = a * 2.0 + b;
        c += -a;
        c -= b * 0.5;
        let mut flat = vec![0.0; Twist::<D>::LEN];
        c.write(&mut flat);
        for i in 0..flat.len() {
            assert!((flat[i] - (v[i] + 0.5 * v[6 + i])).abs() < 1e-13);
        }
    }

    proptest! {
        #[test]
        fn power_of_a_force_is_the_same_at_the_point_and_at_the_centre(v in prop::array::uniform12(-5.0..5.0f64)) {
            force_is_adjoint_to_velocity::<2>(&v);
            force_is_adjoint_to_velocity::<3>(&v);
        }

        #[test]
        fn twists_are_vectors(v in prop::array::uniform12(-5.0..5.0f64)) {
            arithmetic_is_that_of_the_flat_vector::<2>(&v);
            arithmetic_is_that_of_the_flat_vector::<3>(&v);
        }
    }
}
