//! Bending of sheets, and springs beside a material.

use super::ten;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bending of a sheet about its inner edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BendingDescription {
    /// Bending stiffness (N m).
    #[schemars(range(min = 0))]
    pub stiffness: f64,
    /// Damping of bending (N m s).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub damping: f64,
    /// How the force grows with the angle.
    #[serde(default)]
    pub model: BendingLaw,
    /// Angle (degrees) from which a fold stays. Default: folds spring back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub yield_angle: Option<f64>,
    /// Growth of the yield angle per angle by which a fold has stayed (no unit).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub hardening: f64,
    /// Angle (degrees) of all inner edges at which they have no moment; 0 for a surface that wants to be flat. Default: that of the mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = -180, "exclusiveMaximum" = 180))]
    pub rest_angle: Option<f64>,
}

/// How the force of bending grows with the angle of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BendingLaw {
    /// With the angle; has an energy, as implicit steps want.
    #[default]
    Angle,
    /// With the sine of half the angle: bounded for sharp folds.
    SineOfHalfAngle,
}

/// Springs in a body of elements, beside or (with a very soft material) instead of its material.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElementSprings {
    /// Springs along all edges: force per strain (N). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub edges: Option<f64>,
    /// Springs from every corner of an element to the opposite face, which push through inversion: force per strain (N). For tetrahedra, and triangles in the plane. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub altitudes: Option<f64>,
    /// Springs of a sheet across every inner edge, between the far corners of its two triangles: force per strain (N). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub bending: Option<f64>,
    /// All altitudes of an element instead of its shortest at any time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_altitudes: bool,
    /// Altitudes act only while they are compressed by more than this part of their rest length (no unit). Default: they pull as well as push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub altitude_slack: Option<f64>,
    /// Damping of each spring relative to critical damping of its ends (no unit).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub damping_ratio: f64,
    /// Strain (no unit) from which the springs along edges and across them stay stretched. Default: never.
    #[serde(default, rename = "yield", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub limit: Option<f64>,
    /// Growth of that strain per strain that has stayed (no unit).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub hardening: f64,
    /// Rest lengths stay within this factor of the first ones (no unit).
    #[serde(default = "ten")]
    #[schemars(range(min = 1))]
    pub limit_stretch: f64,
}
