//! Rigid motions of space: a rotation followed by a translation.

use crate::{Dim, Rotation, Space, Vector};
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
    pub fn identity() -> Self {
        Self { position: Vector::zeros(), rotation: Dim::identity() }
    }

    /// World position of the object point `point`.
    pub fn to_world(&self, point: &Vector<D>) -> Vector<D> {
        Dim::rotate(&self.rotation, point) + self.position
    }

    /// Object coordinates of the world point `point`; uses differences only, so it is as exact far from the origin as near it.
    pub fn to_object(&self, point: &Vector<D>) -> Vector<D> {
        Dim::rotate_back(&self.rotation, &(point - self.position))
    }

    /// `self` after `other`: maps `X` to `self(other(X))`.
    pub fn compose(&self, other: &Self) -> Self {
        Self {
            position: self.to_world(&other.position),
            rotation: Dim::compose(&self.rotation, &other.rotation),
        }
    }

    /// The inverse motion.
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

    #[test]
    fn inverse_frame_undoes_the_frame() {
        inverse_undoes::<2>();
        inverse_undoes::<3>();
    }
}
