//! Solids with a volume that the fluid flows around, moved by prescription or by whoever simulates them.

use crate::guest::Form;
use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use std::f64::consts::TAU;

/// Where a solid is and how it moves at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Placement<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Object to world coordinates.
    pub frame: Frame<D>,
    /// Velocity of the frame's origin and angular velocity.
    pub twist: Twist<D>,
}

impl<const D: usize> Placement<D>
where
    Dim<D>: Space<D>,
{
    /// At rest in `frame`.
    pub fn at_rest(frame: Frame<D>) -> Self {
        Self { frame, twist: Twist::zero() }
    }

    /// Velocity of the solid at the world point `x` (m/s).
    pub fn velocity_at(&self, x: &Vector<D>) -> Vector<D> {
        self.twist.at(&(x - self.frame.position))
    }
}

/// How a solid moves when nobody else moves it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Motion<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// It stays where it is.
    Fixed,
    /// Constant velocity and constant rate of turn about the origin of its frame.
    Steady(Twist<D>),
    /// To and fro: `amplitude sin(2 pi frequency t)` (m, Hz).
    Oscillating {
        /// Largest displacement (m).
        amplitude: Vector<D>,
        /// Oscillations per second (Hz).
        frequency: f64,
    },
    /// Someone else says where it is at every step, such as a simulated body.
    External,
}

/// A solid in the fluid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Obstacle<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// For messages.
    pub name: String,
    /// In object coordinates.
    pub shape: Shape<D>,
    /// Where it is at time zero.
    pub start: Frame<D>,
    /// How it moves.
    pub motion: Motion<D>,
    /// Does the fluid slide along it, rather than stick to it?
    pub slip: bool,
    /// Coefficient of Coulomb friction of liquids that slide along it.
    #[serde(default)]
    pub friction: f64,
}

impl<const D: usize> Obstacle<D>
where
    Dim<D>: Space<D>,
{
    /// A solid at rest that the fluid sticks to; `shape` in world coordinates.
    pub fn fixed(name: impl Into<String>, shape: Shape<D>) -> Self {
        Self {
            name: name.into(),
            shape,
            start: Frame::identity(),
            motion: Motion::Fixed,
            slip: false,
            friction: 0.0,
        }
    }

    /// Where its own motion puts it at `time` (s); the start for [`Motion::External`].
    pub fn placement(&self, time: f64) -> Placement<D> {
        match &self.motion {
            Motion::Fixed | Motion::External => Placement::at_rest(self.start),
            Motion::Steady(twist) => Placement { frame: self.start.moved(twist, time), twist: *twist },
            Motion::Oscillating { amplitude, frequency } => {
                let angle = TAU * frequency * time;
                let mut placement = Placement::at_rest(self.start);
                placement.frame.position += amplitude * angle.sin();
                placement.twist.linear = amplitude * (TAU * frequency * angle.cos());
                placement
            }
        }
    }

    /// Signed distance (m) of the world point `x` when the solid is at `frame`; negative inside.
    #[inline]
    pub fn signed_distance(&self, frame: &Frame<D>, x: &Vector<D>) -> f64 {
        self.shape.signed_distance(&frame.to_object(x))
    }

    /// A box in the world around the solid at `frame`; may be unbounded.
    pub fn bounds(&self, frame: &Frame<D>) -> Aabb<D> {
        self.shape.world_bounds(frame)
    }

    /// Does it stay where it is?
    pub fn is_fixed(&self) -> bool {
        self.motion == Motion::Fixed
    }
}
