//! Contact of bodies of elements with rigid ones, with themselves and with each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How points of bodies of elements are stopped by rigid bodies that do not yield.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElasticCollisions {
    /// Along the path, with friction from the contact force: exact on inclines.
    #[default]
    Swept,
    /// Along the normal, friction from the change of velocity only: too slippery, for comparison.
    Projected,
    /// The same with the push counted as velocity, for comparison.
    ProjectedWithPush,
}

/// Contact of deformable surfaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfContactDescription {
    /// Distance at which surfaces repel (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub thickness: f64,
    /// Coefficient of friction.
    #[serde(default = "friction")]
    #[schemars(range(min = 0))]
    pub friction: f64,
    /// Explicit schemes: strength (N) of the elastic part of the repulsion. Default: 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub repulsion: Option<f64>,
    /// Explicit schemes: leave out the detection of collisions along the paths, so that only the repulsion keeps surfaces apart. Faster, but what is fast may pass through.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repulsion_only: bool,
}

fn friction() -> f64 {
    0.3
}
