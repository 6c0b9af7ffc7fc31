//! Velocity of a rigid body.

use crate::{Coordinates, Dim, Space, Spin, Vector};
use serde::{Deserialize, Serialize};

/// Linear and angular velocity of a rigid body about its centre of mass.
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
    pub fn zero() -> Self {
        Self { linear: Vector::zeros(), angular: Spin::<D>::zero() }
    }

    /// Velocity of the point at `arm` (m) from the centre of mass: `v + omega x arm`.
    pub fn at(&self, arm: &Vector<D>) -> Vector<D> {
        self.linear + Dim::spin_cross(&self.angular, arm)
    }

    /// Copies the linear and then the angular part into `flat`.
    pub fn write(&self, flat: &mut [f64]) {
        flat[..D].copy_from_slice(self.linear.as_slice());
        flat[D..Self::LEN].copy_from_slice(self.angular.as_slice());
    }

    /// Inverse of [`Self::write`].
    pub fn read(flat: &[f64]) -> Self {
        Self {
            linear: Vector::from_column_slice(&flat[..D]),
            angular: Spin::<D>::from_slice(&flat[D..Self::LEN]),
        }
    }
}
