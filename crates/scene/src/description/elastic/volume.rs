//! How incompressible bodies keep their volume.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How incompressible bodies keep their volume.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VolumeStep {
    /// Shortest time (s) in which lost volume comes back; zero for within a step.
    #[schemars(range(min = 0))]
    pub recovery_time: f64,
    /// Relative residual of the pressure solves.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 0.5))]
    pub tolerance: f64,
    /// Most iterations of a pressure solve.
    #[schemars(range(min = 1, max = 100000))]
    pub max_iterations: u32,
    /// Newton steps of the position correction.
    #[schemars(range(min = 1, max = 20))]
    pub newton_steps: u32,
    /// Do contacts act before the position correction, too? Needed where bodies are squeezed hard; makes them stick.
    pub contact_in_prediction: bool,
    /// What finds the pressures.
    pub solver: VolumeSolver,
    /// How pairs in self-contact are kept by the pressures: 0 as rows of the same solve, else by this many symmetric sweeps (4 in the source), which leave something; no
    /// tolerance is then taken below what they leave.
    #[schemars(range(max = 1000))]
    pub sweeps: u32,
    /// Are damping and volume one solve? Velocities then keep volume at the end of every step. With the integrators `scheme_b` and `scheme_c`, without `sweeps`; bodies that moving rigid
    /// bodies touch or carry have two solves all the same.
    pub monolithic: bool,
}

/// What finds the pressures of incompressible bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VolumeSolver {
    /// Minimal residuals: fewest iterations.
    #[default]
    MinimalResiduals,
    /// Conjugate gradients.
    ConjugateGradients,
}

impl Default for VolumeStep {
    fn default() -> Self {
        Self {
            recovery_time: 0.0,
            tolerance: 1e-2,
            max_iterations: 500,
            newton_steps: 1,
            contact_in_prediction: false,
            solver: VolumeSolver::default(),
            sweeps: 0,
            monolithic: false,
        }
    }
}
