//! What acts on a body all the time besides gravity: a force, a torque, and drag against its motion (spec/rigid-bodies.md 3.20).

use crate::{Body, Motion};
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Space, Spin, Vector};

/// Forces that act on a body all the time. The default is none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Load<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Force at its centre of mass (N).
    pub force: Vector<D>,
    /// Torque (N m).
    pub torque: Spin<D>,
    /// Share of its velocity that the air takes in a second (1/s).
    pub drag: f64,
    /// Share of its angular momentum that the air takes in a second (1/s).
    pub spin_drag: f64,
}

impl<const D: usize> Default for Load<D>
where
    Dim<D>: Space<D>,
{
    fn default() -> Self {
        Self { force: Vector::zeros(), torque: Spin::<D>::zero(), drag: 0.0, spin_drag: 0.0 }
    }
}

impl<const D: usize> Load<D>
where
    Dim<D>: Space<D>,
{
    /// Can it add energy?
    pub fn drives(&self) -> bool {
        self.force != Vector::<D>::zeros() || self.torque != Spin::<D>::zero()
    }

    /// Is it none?
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Motion of a dynamic `body` after `dt` seconds under this and `gravity` (m/s^2): exact, so that drag stops a body however long the step.
    pub fn carry(&self, body: &Body<D>, motion: &Motion<D>, gravity: &Vector<D>, dt: f64) -> Motion<D> {
        // v' = a - c v: v e^{-c dt} + a (1 - e^{-c dt}) / c.
        let grown = |drag: f64| if drag > 0.0 { -(-drag * dt).exp_m1() / drag } else { dt };
        let acceleration = gravity + self.force / body.mass;
        Motion {
            velocity: motion.velocity * (-self.drag * dt).exp() + acceleration * grown(self.drag),
            angular_momentum: motion.angular_momentum * (-self.spin_drag * dt).exp()
                + self.torque * grown(self.spin_drag),
        }
    }
}
