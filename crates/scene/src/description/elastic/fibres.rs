//! Fibres that pull, as in muscles.

use super::one;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fibres that pull, as in a muscle. In sheets their part within each triangle counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FibreDescription {
    /// Direction in the rest shape; its length does not matter, but is not zero. Either this or `fusiform`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub direction: Option<Vec<f64>>,
    /// Fibres that come together at two ends, as in a spindle-shaped muscle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fusiform: Option<Fusiform>,
    /// Largest tension (Pa).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tension: f64,
    /// Activation, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub activation: f64,
    /// Activation of this family against time: pairs of time (s) and activation (0 to 1), linear in between. Default: that of the body, or `activation`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<[f64; 2]>,
    /// Part of the material that is these fibres (no unit).
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 1))]
    pub density: f64,
    /// Tension of stretched fibres without activation.
    #[serde(default)]
    pub passive: PassiveTension,
}

/// Fibres along the meridians of a spindle: they leave one end in all directions within it and come together at the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fusiform {
    /// One end (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// The other end (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub to: Vec<f64>,
}

/// Tension of stretched fibres without activation, relative to the largest active one: `scale (e^x - x - 1)` with `x = exponent (stretch - 1)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PassiveTension {
    /// Scale (no unit); 0 for fibres that are slack without activation.
    #[schemars(range(min = 0))]
    pub scale: f64,
    /// Exponent (no unit).
    #[schemars(range(min = 0, max = 100))]
    pub exponent: f64,
    /// Stretch (no unit) from which the tension goes on linearly.
    #[schemars(range(min = 1, max = 10))]
    pub limit: f64,
}

impl Default for PassiveTension {
    fn default() -> Self {
        Self { scale: 0.05, exponent: 6.6, limit: 1.4 }
    }
}
