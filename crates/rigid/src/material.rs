//! How the surface of a body behaves in contact.

use serde::{Deserialize, Serialize};

/// Coefficients of a body's surface. Two bodies in contact use the smaller value of each (spec/rigid-bodies.md 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Coefficient of restitution: relative normal speed after an impact over the one before, 0 to 1.
    pub restitution: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Rolling friction (m): largest moment against rolling for a normal force of one; 0 switches it off.
    pub rolling: f64,
    /// Spinning friction (m): largest moment about the normal for a normal force of one; 0 switches it off.
    pub spinning: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { restitution: 0.5, friction: 0.5, rolling: 0.0, spinning: 0.0 }
    }
}

impl Material {
    /// Restitution and friction only.
    pub fn new(restitution: f64, friction: f64) -> Self {
        Self { restitution, friction, rolling: 0.0, spinning: 0.0 }
    }

    /// Coefficients of a pair: the smaller of each.
    pub fn pair(&self, other: &Self) -> Self {
        Self {
            restitution: self.restitution.min(other.restitution),
            friction: self.friction.min(other.friction),
            rolling: self.rolling.min(other.rolling),
            spinning: self.spinning.min(other.spinning),
        }
    }
}
