//! Velocity of a rigid body in the form that impulses change: linear velocity and angular momentum.

use crate::{Body, BodyState};
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};

/// How a body moves at some stage of a step. The spin follows from the angular momentum at whatever orientation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Motion<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Velocity of the centre of mass (m/s).
    pub velocity: Vector<D>,
    /// Angular momentum about the centre of mass (kg m^2/s).
    pub angular_momentum: Spin<D>,
}

impl<const D: usize> Motion<D>
where
    Dim<D>: Space<D>,
{
    /// At rest.
    pub fn zero() -> Self {
        Self { velocity: Vector::zeros(), angular_momentum: Spin::<D>::zero() }
    }

    /// The motion of a state.
    pub fn of(state: &BodyState<D>) -> Self {
        Self { velocity: state.velocity, angular_momentum: state.angular_momentum }
    }

    /// Linear and angular velocity at the orientation of `frame`.
    pub fn twist(&self, body: &Body<D>, frame: &Frame<D>) -> Twist<D> {
        Twist { linear: self.velocity, angular: body.spin_of(frame, &self.angular_momentum) }
    }

    /// The motion with this twist at the orientation of `frame`.
    pub fn from_twist(body: &Body<D>, frame: &Frame<D>, twist: &Twist<D>) -> Self {
        Self { velocity: twist.linear, angular_momentum: body.angular_momentum_of(frame, &twist.angular) }
    }

    /// Adds the impulse `push` (kg m/s and kg m^2/s about the centre of mass); a body that does not respond stays as it is.
    pub fn add_impulse(&mut self, body: &Body<D>, push: &Twist<D>) {
        if body.is_dynamic() {
            self.velocity += push.linear / body.mass;
            self.angular_momentum += push.angular;
        }
    }
}
