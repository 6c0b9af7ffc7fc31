//! Elastic materials of bodies of elements, and regions of other ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Elastic material of a body of elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticMaterial {
    /// Constitutive model.
    #[serde(default)]
    pub model: ElasticModel,
    /// Young's modulus (Pa).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub young: f64,
    /// Poisson's ratio (no unit).
    #[serde(default = "poisson")]
    #[schemars(extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5))]
    pub poisson: f64,
    /// Damping: viscosity per stiffness (s).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub damping: f64,
    /// What is damped.
    #[serde(default)]
    pub damping_kind: ElasticDamping,
    /// How the model goes on for flat and inverted elements. Default: none where the model needs none, `energy` for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inversion: Option<Inversion>,
    /// Let a linear `inversion` only go on with a slope that resists: for thresholds at which the model has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub positive_slope: bool,
    /// Largest trusted stretch (no unit), beyond which the model goes on as `inversion` says. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub largest_stretch: Option<f64>,
    /// Hardening of the model `spline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spline: Option<SplineHardening>,
    /// Part of the shear modulus of the model `mooney_rivlin` that is in the second invariant (no unit). Default: a quarter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub second_invariant: Option<f64>,
}

/// How the model `spline` hardens on its two sides.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SplineHardening {
    /// Under compression.
    pub compression: Hardening,
    /// Under extension.
    pub extension: Hardening,
}

/// One side of the model `spline`: the stiffness grows smoothly up to a strain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hardening {
    /// Strain (no unit) from which the stiffness is `factor` times that at rest.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub strain: f64,
    /// Stiffness there relative to that at rest (no unit).
    #[schemars(range(min = 0))]
    pub factor: f64,
}

impl Default for Hardening {
    fn default() -> Self {
        Self { strain: 0.5, factor: 7.0 }
    }
}

/// Constitutive model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElasticModel {
    /// Small strains only: rotations count as strain.
    Linear,
    /// Linear in the frame that turns along; safe in every state.
    #[default]
    RotatedLinear,
    /// Linear in the Green strain.
    StVenantKirchhoff,
    /// Compressible neo-Hookean.
    NeoHookean,
    /// Fixed corotated.
    FixedCorotated,
    /// Pressure only.
    CompressibleFlow,
    /// Hardens in compression and extension.
    Spline,
    /// Mooney-Rivlin, as for the matrix of muscles.
    MooneyRivlin,
}

/// What is damped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElasticDamping {
    /// Rate of strain in the rotated frame; takes angular momentum.
    Linear,
    /// Rate of Green strain; keeps angular momentum.
    Conserving,
    /// Conserving for healthy elements, linear for flat ones.
    #[default]
    Blend,
    /// In proportion to the stiffness.
    Stiffness,
}

/// How a model goes on beyond the stretch at which it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Inversion {
    /// Not at all; an inverted element is an error for logarithmic models.
    None,
    /// With the stress of the threshold, for comparison.
    Constant {
        /// Smallest trusted stretch (no unit).
        stretch: f64,
    },
    /// Linearly, stretch by stretch.
    LinearStretch {
        /// Smallest trusted stretch (no unit).
        stretch: f64,
    },
    /// Linearly beyond a volume ratio.
    LinearDet {
        /// Smallest trusted volume ratio (no unit).
        volume: f64,
    },
    /// With a quadratic energy: for implicit steps.
    Energy {
        /// Smallest trusted stretch (no unit).
        stretch: f64,
        /// Stiffness beyond it (Pa). Default: `(lambda + 2 mu) / stretch^2`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        stiffness: Option<f64>,
    },
}

/// Elements of another material than the rest of their body: all whose middle is within a box of the rest shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Lowest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Highest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub to: Vec<f64>,
    /// Young's modulus there (Pa).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub young: f64,
    /// Poisson's ratio there (no unit). Default: that of the material.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5))]
    pub poisson: Option<f64>,
    /// Constitutive model there, with the same `inversion` if the material says so. Default: that of the material.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ElasticModel>,
    /// Density there (kg/m^3, kg/m^2 in 2D). Default: that of the body, which must then have a density instead of a mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Damping there (s). Default: that of the material.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub damping: Option<f64>,
}

fn poisson() -> f64 {
    0.3
}
