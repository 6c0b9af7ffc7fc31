//! Numerical choices for the fluid of a scene; what is left out is chosen well.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the fluid is computed, for those who compare methods: every choice has a good default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidMethod {
    /// Where the other choices start from. Default: `standard`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preset: PresetWord,
    /// Order of the paths that transport follows. Default: `second`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<PathWord>,
    /// What `mac_cormack` and `bfecc` do where they overshoot. Default: `revert`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limiter: Option<LimiterWord>,
    /// How the parts of a step are put together. Default: `splitting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<SchemeWord>,
    /// Viscosity in time. Default: `implicit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viscous_step: Option<ViscousStepWord>,
    /// Which viscous stress. Default: `stress` with a free surface, else `laplacian`; several liquids always have `stress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viscosity_form: Option<ViscosityFormWord>,
    /// How a liquid's level set is carried. Default: `weno5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_set: Option<LevelSetWord>,
    /// How a level set becomes a distance again. Default: `fast_marching`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<DistanceWord>,
    /// Let the pressure of air act at the centre of the next air cell rather than at the surface: first order. Default: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stair_steps: Option<bool>,
    /// Let marker particles that left the liquid fly on as drops, and those of the air rise as bubbles. Default: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops: Option<bool>,
    /// Steps between reseedings of marker particles. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub reseed_every: Option<u64>,
    /// Take steps in the part of the box around the liquids. Default: yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<bool>,
    /// What preconditions the pressure's conjugate gradients. Default: `multigrid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<PressureWord>,
}

/// A set of choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PresetWord {
    /// What is best for most.
    #[default]
    Standard,
    /// The splitting of Chorin that coupled solvers are compared with: semi-Lagrangian along straight paths, each component's viscosity by itself, whole solid cells.
    Chorin,
}

/// Order of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathWord {
    /// Straight.
    First,
    /// Midpoint rule.
    Second,
    /// Runge-Kutta of third order.
    Third,
}

/// Limiter of second-order transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimiterWord {
    /// Nothing is done: sharpest, may overshoot.
    None,
    /// The first-order value is taken.
    Revert,
    /// The nearest value of the range is taken.
    Clamp,
}

/// Composition of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchemeWord {
    /// Transport, forces, viscosity, pressure: first order in time.
    Splitting,
    /// Advection and reflection: second order in time, two projections, without surfaces of liquids.
    Reflection,
}

/// Viscosity in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViscousStepWord {
    /// Cheap; limits the step.
    Explicit,
    /// Any step; first order.
    Implicit,
    /// Any step; second order.
    CrankNicolson,
}

/// Viscous stress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViscosityFormWord {
    /// Each component by itself.
    Laplacian,
    /// Components together, free of stress at surfaces.
    Stress,
}

/// Transport of a level set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LevelSetWord {
    /// Upwind differences of fifth order.
    Weno5,
    /// Upwind differences of third order.
    Eno3,
    /// Along paths, second order.
    MacCormack,
    /// Along paths, first order.
    SemiLagrangian,
}

/// Signed distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DistanceWord {
    /// Outwards from the surface in the order of distance.
    FastMarching,
    /// By twelve steps of an evolution that is smooth in the data.
    Evolution,
}

/// Preconditioner of the pressure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PressureWord {
    /// Geometric multigrid.
    Multigrid,
    /// Algebraic multigrid.
    Algebraic,
    /// Modified incomplete Cholesky factors, MIC(0).
    IncompleteCholesky,
}

fn is_default(word: &PresetWord) -> bool {
    *word == PresetWord::Standard
}
