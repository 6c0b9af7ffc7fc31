//! What a body of elements is held by, pulled by, tied to and laid on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A force that pulls on part of a body: on all particles within a box of the rest shape, by their masses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadDescription {
    /// Lowest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Highest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub to: Vec<f64>,
    /// The force on all of them together (N; N/m in 2D).
    #[schemars(extend("x-length" = "dimension"))]
    pub force: Vec<f64>,
    /// Factor of the force against time: pairs of time (s) and factor, linear in between. Default: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factor: Vec<[f64; 2]>,
}

/// Particles that are held or moved: all within a box of the rest shape. Several holds may have the same particles: their motions follow each other in time, and the last one that lets go frees them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Lowest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Highest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub to: Vec<f64>,
    /// Velocity of the held particles (m/s). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Angular velocity about `centre` (rad/s): three components in 3D, one in 2D. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<Vec<f64>>,
    /// A point of the axis of `spin` (m), in space. Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Option<Vec<f64>>,
    /// When the motion begins (s); not before another one of the same particles has ended.
    #[serde(default)]
    pub start: f64,
    /// When the motion ends (s); the particles are held where they are then. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// When the particles are let go (s). Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<f64>,
}

/// A soft body to which particles are tied by springs without length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TiedTo {
    /// The other soft body: tetrahedra, or triangles in the plane.
    pub to: String,
    /// Stiffness of the spring of each particle (N/m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: f64,
    /// Damping of the spring of each particle, in any direction (N s/m).
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub damping: f64,
}

/// A body that this one lies on, in layers: it stops this one and does not feel it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The body below: one with an inside, or a closed surface.
    pub body: String,
    /// Coefficient of friction. Default: that of `[elastic]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub friction: Option<f64>,
}
