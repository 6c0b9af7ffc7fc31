//! Time, solver and output settings of a scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use splashdown_couple::{Clock, StepPolicy};

/// Simulated time, frames and the time step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// Simulated time at which the run ends (s): with the first frame at or after it.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub end: f64,
    /// Frames saved for each simulated second (1/s).
    #[serde(default = "thirty")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub frame_rate: f64,
    /// Time step: a number of seconds for a fixed step, or a table for an adaptive one. Default: one step for each frame. The time from
    /// one frame to the next is divided into equal steps of at most this length, so frames fall exactly on their times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
}

/// A fixed or an adaptive time step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Step {
    /// Fixed time step (s).
    Fixed(#[schemars(extend("exclusiveMinimum" = 0))] f64),
    /// Time step that follows what is stable.
    Adaptive(AdaptiveStep),
}

/// Limits of a time step that is as long as the explicit forces allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveStep {
    /// Longest step (s).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max: f64,
    /// Shortest step (s); a run that wants a shorter one stops and says so.
    #[serde(default = "shortest_step")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub min: f64,
    /// Share of the stability limit that is used (no unit).
    #[serde(default = "half")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    pub safety: f64,
}

/// Settings of the one coupled solve that every implicit effect goes through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Relative residual at which the solve stops (no unit).
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 0.1))]
    pub tolerance: f64,
    /// Most iterations of one solve; a solve that needs more is an error of the run, never a silent wrong answer.
    #[schemars(range(min = 1, max = 1000000))]
    pub max_iterations: u32,
    /// Which linear system is solved; both give the same motion.
    pub formulation: Formulation,
}

/// The linear system of the coupled solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Formulation {
    /// Symmetric positive definite system in the impulses, solved by preconditioned conjugate gradients.
    #[default]
    Spd,
    /// Symmetric indefinite system in velocities and impulses, solved by MINRES; slower, for comparison.
    Kkt,
}

/// Collision and contact of rigid bodies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Contact {
    /// Off: bodies pass through each other.
    pub enabled: bool,
    /// How contact is solved.
    pub method: ContactMethod,
    /// Most iterations for a large set of bodies that touch each other; small sets are always solved to round-off.
    #[schemars(range(min = 1, max = 10000))]
    pub iterations: u32,
    /// Overlap that is left (m).
    #[schemars(range(min = 0))]
    pub overlap: f64,
    /// How often bodies are visited.
    pub sweeps: ContactSweeps,
    /// Bodies that touch each other fall asleep together when all of them have been slower than `sleep_speed` for `sleep_after` and something that stands still
    /// holds them; a touch wakes them. Bodies with joints stay awake, and so does everything in a scene with fluids or deformable bodies.
    pub sleeping: bool,
    /// No point of a body that falls asleep is faster (m/s).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub sleep_speed: f64,
    /// How long bodies are quiet before they fall asleep (s).
    #[schemars(range(min = 0))]
    pub sleep_after: f64,
    /// Holds what lies below in place while what lies above is pushed off it, where contact could not be solved to the end.
    pub shock_propagation: bool,
    /// Scales impulses of collisions (and of contact by `propagation`) that would add kinetic energy.
    pub energy_clamp: bool,
    /// Pairs of bodies that pass through each other: each two names of `[[rigid]]` and `[[deformable]]`, of which one is rigid. The name of a repeated body stands for all its copies. Bodies on a
    /// joint, and bones in the flesh that is bound to them, pass through each other anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<[String; 2]>,
    /// How overlap is removed. Default: `projection`; `central` with the method `propagation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_out: Option<PushOut>,
}

/// How often contact visits what touches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContactSweeps {
    /// Sweeps over all pairs that collide.
    #[schemars(range(min = 1, max = 10000))]
    pub collision: u32,
    /// Most impulses for one pair in one visit.
    #[schemars(range(min = 1, max = 10000))]
    pub pair: u32,
    /// For `propagation`: sweeps over all levels of what lies on each other.
    #[schemars(range(min = 1, max = 10000))]
    pub contact: u32,
    /// For `propagation`: visits of a level in each of them.
    #[schemars(range(min = 1, max = 10000))]
    pub level: u32,
}

impl Default for ContactSweeps {
    fn default() -> Self {
        let own = splashdown_rigid::ContactOptions::default();
        Self {
            collision: own.collision_sweeps as u32,
            pair: own.pair_impulses as u32,
            contact: own.contact_sweeps as u32,
            level: own.level_iterations as u32,
        }
    }
}

/// How overlap of rigid bodies is removed after they moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PushOut {
    /// Not at all.
    Off,
    /// Point after point, from the ground up.
    Projection,
    /// Each body against all its neighbours at once.
    Central,
    /// As `central`, with pushes along the normals only.
    CentralNormal,
}

/// Free rotation of rigid bodies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FreeRotation {
    /// Order of accuracy in the time step: 1, 2 or 3.
    #[schemars(range(min = 1, max = 3))]
    pub order: u32,
    /// When bodies are turned by the little that keeps their kinetic energy, which large steps would change.
    pub energy_fix: EnergyFix,
}

impl Default for FreeRotation {
    fn default() -> Self {
        Self { order: 2, energy_fix: EnergyFix::default() }
    }
}

/// When free rotation is made to keep its energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergyFix {
    /// Never.
    Off,
    /// Where bodies end a step, not where contact looks ahead.
    Final,
    /// In every prediction as well.
    #[default]
    Always,
}

/// How joints of rigid bodies are made to hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Articulation {
    /// Impulses before bodies move, so that joints hold afterwards.
    pub pre_stabilization: Stabilization,
    /// Velocities at the new positions that agree with the joints.
    pub post_stabilization: Stabilization,
    /// Most sweeps over the joints of what is `pairwise`; they end earlier when nothing changes any more.
    #[schemars(range(min = 1, max = 10000))]
    pub sweeps: u32,
}

/// Which joints are solved for at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stabilization {
    /// All joints together: exact, also for long chains and loops.
    #[default]
    Global,
    /// One joint after the other; the method of the source texts, for comparison. What it leaves of the errors in positions is removed all together.
    Pairwise,
}

impl Default for Articulation {
    fn default() -> Self {
        Self {
            pre_stabilization: Stabilization::Global,
            post_stabilization: Stabilization::Global,
            sweeps: 50,
        }
    }
}

/// How contact is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactMethod {
    /// All contacts of bodies that touch each other together; conserves momentum and holds heavy bodies on light ones.
    #[default]
    Simultaneous,
    /// Pair after pair along the contact graph, with shock propagation; the method of the source texts, slower, for comparison.
    Propagation,
}

impl Default for Contact {
    fn default() -> Self {
        Self {
            enabled: true,
            method: ContactMethod::Simultaneous,
            iterations: 20,
            overlap: 0.0,
            sweeps: ContactSweeps::default(),
            sleeping: true,
            sleep_speed: 0.02,
            sleep_after: 0.5,
            shock_propagation: true,
            energy_clamp: true,
            apart: Vec::new(),
            push_out: None,
        }
    }
}

/// What a run saves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Save frames (`false` keeps only the log and checkpoints).
    pub frames: bool,
    /// Write a line of diagnostics to the log every this many steps.
    #[schemars(range(min = 1))]
    pub log_every: u32,
    /// Write momenta and energies after every stage of a step to the log, what the stage changed in them, and the times that positions and velocities there belong to.
    pub stages: bool,
    /// Save a checkpoint every this many frames; a run can be resumed from the last one.
    #[schemars(range(min = 1))]
    pub checkpoint_every: u32,
    /// Compression level of frames and checkpoints: 1 is fastest, 19 smallest.
    #[schemars(range(min = 1, max = 19))]
    pub compression: u32,
}

fn thirty() -> f64 {
    30.0
}

fn half() -> f64 {
    0.5
}

fn shortest_step() -> f64 {
    1e-9
}

impl Default for Time {
    /// One second at 30 frames a second, one step a frame.
    fn default() -> Self {
        Self { end: 1.0, frame_rate: thirty(), step: None }
    }
}

impl Time {
    /// Time between two frames (s).
    pub fn frame_interval(&self) -> f64 {
        1.0 / self.frame_rate
    }

    /// Number of the last frame, the first one at or after [`Self::end`]; frame 0 is the start. A remainder shorter than a millionth of
    /// a frame is round-off of the product `end * frame_rate`, not another frame.
    pub fn last_frame(&self) -> u64 {
        (self.end * self.frame_rate - 1e-6).ceil().max(1.0) as u64
    }

    /// How the time between frames is divided into steps.
    pub fn clock(&self) -> Clock {
        let policy = match &self.step {
            None => StepPolicy::Fixed(self.frame_interval()),
            Some(Step::Fixed(step)) => StepPolicy::Fixed(*step),
            Some(Step::Adaptive(AdaptiveStep { max, min, safety })) => {
                StepPolicy::Adaptive { max: *max, min: *min, safety: *safety }
            }
        };
        Clock { frame_rate: self.frame_rate, policy }
    }

    /// Longest step this scene allows (s).
    pub fn longest_step(&self) -> f64 {
        match &self.step {
            None => self.frame_interval(),
            Some(Step::Fixed(step)) => *step,
            Some(Step::Adaptive(adaptive)) => adaptive.max,
        }
    }
}

impl Default for AdaptiveStep {
    /// At most a hundredth of a second, half of what is stable.
    fn default() -> Self {
        Self { max: 0.01, min: shortest_step(), safety: half() }
    }
}

impl Default for Solver {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 1000, formulation: Formulation::Spd }
    }
}

impl Default for Output {
    fn default() -> Self {
        Self { frames: true, log_every: 1, stages: false, checkpoint_every: 10, compression: 3 }
    }
}

/// From where pictures, films and the viewer look at the scene. Everything is in the picture; the camera only chooses the side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Camera {
    /// Direction from the scene to the camera (3D; the plane is seen straight on).
    pub from: [f64; 3],
    /// Which way is up in the picture.
    pub up: [f64; 3],
    /// How near: 1 shows everything, 2 twice as large.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub zoom: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self { from: [0.45, 0.4, 1.0], up: [0.0, 1.0, 0.0], zoom: 1.0 }
    }
}
