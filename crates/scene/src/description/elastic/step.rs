//! How bodies of elements are advanced in time.

use super::{DampingSolve, ElasticCollisions, SelfContactDescription, VolumeStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bodies of elements are advanced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ElasticStep {
    /// Time integration. Explicit schemes divide the step as their stability needs; implicit ones take it whole. With `backward_euler`, `average_acceleration`, `quasistatic` and `two_pass` rigid bodies
    /// that move freely do not feel soft ones; `check` and `run` say so.
    pub integrator: ElasticIntegrator,
    /// Coefficient of friction against rigid bodies that have none of their own.
    #[schemars(range(min = 0))]
    pub friction: f64,
    /// Distance (m) that points of bodies of elements keep from rigid bodies. About a tenth of the edges of a coarse mesh keeps round bodies from showing between its
    /// points.
    #[schemars(range(min = 0))]
    pub distance: f64,
    /// How points that run into rigid bodies are stopped, in explicit schemes.
    pub collisions: ElasticCollisions,
    /// Do points inside a body meet rigid bodies, too? For soft bodies and small obstacles.
    pub inner_points: bool,
    /// May a contact with a rigid body that pulls let go within the step? Points that leave then keep the whole speed that they are pulled off with. In `scheme_b` and `scheme_c` with `swept` collisions.
    pub release: bool,
    /// Greatest speed (m/s) at which points inside rigid bodies are pushed out of them, in explicit schemes with `swept` collisions. Default: within the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub push_out_speed: Option<f64>,
    /// Part of the limit of stability that steps of explicit schemes take at most (no unit).
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    pub safety: f64,
    /// Relative residual of the velocity solves of explicit and linearly implicit schemes. Default: 1e-4, for the linearly implicit one 1e-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 0.1))]
    pub solve_tolerance: Option<f64>,
    /// Contact of bodies of elements with themselves and each other. Default: none, they pass through each other, and `check` and `run` say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_contact: Option<SelfContactDescription>,
    /// Most Newton iterations of an implicit step.
    #[schemars(range(min = 1, max = 1000))]
    pub newton_iterations: u32,
    /// Residual force of an implicit step relative to the largest force.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 0.1))]
    pub tolerance: f64,
    /// Displacement (m) below which a Newton iteration of an implicit step is not worth taking. Default: a fiftieth of the thickness of `self_contact`, none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub resolution: Option<f64>,
    /// Contact and friction act before damping instead of after it: less accurate, but what contact makes is damped in the same step, as large piles want. In explicit schemes.
    pub contact_before_damping: bool,
    /// What the solve for damping keeps, and how, in explicit schemes.
    pub damping_solve: DampingSolve,
    /// How incompressible bodies keep their volume.
    pub volume: VolumeStep,
}

impl Default for ElasticStep {
    fn default() -> Self {
        Self {
            integrator: ElasticIntegrator::default(),
            friction: 0.3,
            distance: 0.0,
            collisions: ElasticCollisions::default(),
            inner_points: false,
            release: false,
            push_out_speed: None,
            safety: 0.5,
            solve_tolerance: None,
            self_contact: None,
            newton_iterations: 50,
            tolerance: 1e-3,
            resolution: None,
            contact_before_damping: false,
            damping_solve: DampingSolve::default(),
            volume: VolumeStep::default(),
        }
    }
}

/// Time integration of bodies of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElasticIntegrator {
    /// Explicit elasticity, implicit damping; second order, keeps angular momentum.
    SchemeA,
    /// Explicit elasticity, implicit damping; second order, friction exact on inclines.
    #[default]
    SchemeB,
    /// Newmark positions with a backward Euler velocity.
    SchemeC,
    /// Plain Newmark.
    Newmark,
    /// Elastic forces at the end of the step, by the stiffness at its start; first order, damps what the step does not resolve. For soft bodies in fluids, with which it is solved in one system:
    /// steps follow the flow. Contact works both ways, with friction; stacks of several soft bodies want steps of a hundredth of a second. Not with bound particles and self-contact.
    LinearlyImplicit,
    /// Fully implicit, first order, damps what the step does not resolve. One way: rigid bodies do not feel it.
    BackwardEuler,
    /// Fully implicit, second order. One way: rigid bodies do not feel it.
    AverageAcceleration,
    /// Without inertia and damping: every step ends in the equilibrium with what holds, moves and touches the bodies then. What nothing holds has none, which is an error. One way: rigid
    /// bodies do not feel it.
    Quasistatic,
    /// Backward Euler in two passes: velocities as if nothing were in the way; rigid bodies and self-contact act on the surface, which moves; what is inside follows it. Contact with friction as
    /// in explicit schemes, with steps as long as implicit ones are. One way: rigid bodies do not feel it.
    TwoPass,
}
