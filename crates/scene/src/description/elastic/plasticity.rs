//! Plastic flow of bodies of elements, and the shapes to which it leads.

use super::{one, ten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Plastic flow of elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlasticDescription {
    /// Norm of the logarithmic elastic strain at which the material flows (no unit).
    #[serde(rename = "yield")]
    #[schemars(range(min = 0))]
    pub limit: f64,
    /// Flow changes the volume too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volume: bool,
    /// Plastic stretches stay within this factor (no unit).
    #[serde(default = "ten")]
    #[schemars(range(min = 1))]
    pub limit_stretch: f64,
    /// Goal of the flow: factors by which the rest shape is stretched along each axis. The body flows only as far as that leads there. Default: none, it flows as it is pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
    pub goal: Option<Vec<f64>>,
    /// Goal of the flow as a mesh file in place of `goal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_shape: Option<GoalShape>,
}

/// The shape to which plastic flow leads, from a mesh file (3D only). Only its shape counts, not where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalShape {
    /// Path of the file, relative to the folder that the program runs in: it has the points of the body in the same order, each where it is in the goal.
    pub path: String,
    /// Factor for all coordinates (no unit).
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
}
