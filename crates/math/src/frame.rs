//! Rigid motions of space: a rotation followed by a translation.

use crate::{Dim, Rotation, Space, Twist, Vector};
use serde::{Deserialize, Serialize};

/// Position and orientation of a rigid body: object coordinates `X` to world coordinates `x = R X + position`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Frame<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// World position of the object's origin (its centre of mass for a rigid body), in metres.
    pub position: Vector<D>,
    /// Orientation `R`.
    pub rotation: Rotation<D>,
}

impl<const D: usize> Frame<D>
where
    Dim<D>: Space<D>,
{
    /// World and object coordinates coincide.
    #[inline]
    pub fn identity() -> Self {
        Self { position: Vector::zeros(), rotation: Dim::identity() }
    }

    /// World position of the object point `point`.
    #[inline]
    pub fn to_world(&self, point: &Vector<D>) -> Vector<D> {
        Dim::rotate(&self.rotation, point) + self.position
    }

    /// Object coordinates of the world point `point`; uses differences only, so it is as exact far from the origin as near it.
    #[inline]
    pub fn to_object(&self, point: &Vector<D>) -> Vector<D> {
        Dim::rotate_back(&self.rotation, &(point - self.position))
    }

    /// World components of the object vector `vector` (a direction or velocity: not moved by the position).
    #[inline]
    pub fn vector_to_world(&self, vector: &Vector<D>) -> Vector<D> {
        Dim::rotate(&self.rotation, vector)
    }

    /// Object components of the world vector `vector`.
    #[inline]
    pub fn vector_to_object(&self, vector: &Vector<D>) -> Vector<D> {
        Dim::rotate_back(&self.rotation, vector)
    }

    /// The frame after moving with the constant `twist` for `dt` seconds: straight line, constant rate of turn.
    #[inline]
    pub fn moved(&self, twist: &Twist<D>, dt: f64) -> Self {
        let mut rotation = Dim::compose(&Dim::exp(&(twist.angular * dt)), &self.rotation);
        Dim::renormalize(&mut rotation);
        Self { position: self.position + twist.linear * dt, rotation }
    }

    /// The constant twist that leads from `self` to `end` in `dt` seconds by the shorter turn: inverse of [`Self::moved`] for turns below half a circle.
    #[inline]
    pub fn twist_to(&self, end: &Self, dt: f64) -> Twist<D> {
        let turn = Dim::compose(&end.rotation, &Dim::inverse(&self.rotation));
        Twist { linear: (end.position - self.position) / dt, angular: Dim::log(&turn) * (1.0 / dt) }
    }

    /// The part `t` of the way from `self` to `end`: straight line, shorter turn.
    #[inline]
    pub fn interpolate(&self, end: &Self, t: f64) -> Self {
        Self {
            position: self.position + (end.position - self.position) * t,
            rotation: Dim::interpolate(&self.rotation, &end.rotation, t),
        }
    }

    /// `self` after `other`: maps `X` to `self(other(X))`.
    #[inline]
    pub fn compose(&self, other: &Self) -> Self {
        Self {
            position: self.to_world(&other.position),
            rotation: Dim::compose(&self.rotation, &other.rotation),
        }
    }

    /// The inverse motion.
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = Dim::inverse(&self.rotation);
        Self { position: -Dim::rotate(&rotation, &self.position), rotation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spin;
    use crate::space::Coordinates;

    fn inverse_undoes<const D: usize>()
    where
        Dim<D>: Space<D>,
    {
        let frame = Frame::<D> {
            position: Vector::from_fn(|i, _| 1.0 + i as f64),
            rotation: Dim::exp(&Spin::<D>::from_slice(&[0.7, -1.1, 2.0])),
        };
        let point = Vector::from_fn(|i, _| 0.3 - 2.0 * i as f64);
        assert!((frame.to_object(&frame.to_world(&point)) - point).norm() < 1e-14);
        assert!((frame.inverse().to_world(&frame.to_world(&point)) - point).norm() < 1e-14);
        assert!((frame.compose(&frame.inverse()).to_world(&point) - point).norm() < 1e-14);
    }

    fn motion_is_consistent<const D: usize>()
    where
        Dim<D>: Space<D>,
    {
        let start = Frame::<D> {
            position: Vector::from_fn(|i, _| 1.0 + i as f64),
            rotation: Dim::exp(&Spin::<D>::from_slice(&[0.7, -1.1, 2.0])),
        };
        let twist = Twist::<D> {
            linear: Vector::from_fn(|i, _| 0.5 - i as f64),
            angular: Spin::<D>::from_slice(&[0.4, 0.9, -0.6]),
        };
        let end = start.moved(&twist, 1.5);
        let found = start.twist_to(&end, 1.5);
        assert!((found.linear - twist.linear).norm() < 1e-14);
        assert!((found.angular - twist.angular).norm() < 1e-14);
        let (half, expected) = (start.interpolate(&end, 0.5), start.moved(&twist, 0.75));
        let point = Vector::from_fn(|i, _| 0.3 - 2.0 * i as f64);
        assert!((half.to_world(&point) - expected.to_world(&point)).norm() < 1e-14);
        // The velocity of a point fixed to the frame, by central differences.
        let h = 1e-5;
        let path = |t: f64| start.moved(&twist, t).to_world(&point);
        let slope = (path(h) - path(-h)) / (2.0 * h);
        assert!((slope - twist.at(&start.vector_to_world(&point))).norm() < 1e-9);
        assert!((start.vector_to_object(&start.vector_to_world(&point)) - point).norm() < 1e-14);
    }

    #[test]
    fn moving_interpolating_and_twist_agree() {
        motion_is_consistent::<2>();
        motion_is_consistent::<3>();
    }

    #[test]
    fn inverse_frame_undoes_the_frame() {
        inverse_undoes::<2>();
        inverse_undoes::<3>();
    }
}
