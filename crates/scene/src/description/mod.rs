//! What a scene is: plain data with the same words as the scene file.
//!
//! The doc comments of these types are what a user reads in `docs/scene-reference.md`, in the JSON schema, and as the hint of an error
//! message, so they say what a field means to the person who writes it, with its unit. The attributes `x-length` and `x-dimension`
//! tell the checker (`crate::check`) what depends on the scene's dimension.

mod body;
mod builder;
mod coupling;
mod elastic;
mod fluid;
mod fluid_method;
mod fracture;
mod joint;
mod settings;

pub use body::{
    BoxPart, ChainGeometry, Combine, Deformable, Drag, Geometry, InFluid, Kind, Repeat, Rigid, Rotation,
    Shape, ShapePart, SoftContact, SpinValue, Springs, SurfaceFlow,
};
pub use coupling::{CouplingChoices, FaceMassWord, FluidCoupling, FormWord, TangentialWord, WeightsWord};
pub use elastic::{
    BagGeometry, BallGeometry, BendingDescription, BendingLaw, BoxGeometry, DampingForm, DampingSolve,
    Disturbance, ElasticBody, ElasticCollisions, ElasticDamping, ElasticIntegrator, ElasticMaterial,
    ElasticModel, ElasticStep, ElementSprings, FibreDescription, FileGeometry, Fusiform, GoalShape,
    Hardening, Hold, Inversion, LoadDescription, Over, PassiveTension, PlasticDescription, Precision,
    RecordedGeometry, Region, SelfContactDescription, SheetGeometry, SplineHardening, TiedTo, TorusGeometry,
    VolumeSolver, VolumeStep,
};
pub use fluid::{
    CellSize, Fluid, FluidEddies, FluidForce, FluidLiquid, FluidObstacle, FluidPatch, FluidRegion,
    FluidSheet, FluidSide, FluidSmoke, FluidSource, FluidTension, Oscillation, RegionShape, SheetShape,
    SideKind, SideName, SourceWord, TrackerWord, TransportWord,
};
pub use fluid_method::{
    DistanceWord, FluidMethod, LevelSetWord, LimiterWord, PathWord, PresetWord, PressureWord, SchemeWord,
    ViscosityFormWord, ViscousStepWord,
};
pub use fracture::{Fracture, FracturePattern, FractureRegions, PatternPlacement};
pub use joint::{
    Between, Freedom, FreedomWord, Import, Joint, JointKind, JointLimits, Keyframe, Motion, Motor,
    MotorCoordinate, PointSignal, Pose, RampSignal, Signal, SineSignal,
};
pub use settings::{
    AdaptiveStep, Articulation, Camera, Contact, ContactMethod, ContactSweeps, EnergyFix, Formulation,
    FreeRotation, Output, PushOut, Solver, Stabilization, Step, Time,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A scene: bodies, their start, gravity, and how long and how finely to simulate. All units are SI (m, kg, s), angles that
/// a person writes are in degrees, and `y` points up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of the scene format this file was written for; this program reads version 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// Title shown by `splashdown list` and in reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// One line that says what can be seen in this scene.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Number of space dimensions: 2 or 3. Every vector of the scene has this many components.
    #[schemars(range(min = 2, max = 3))]
    pub dimension: u32,
    /// Other scene files to build on, relative to this file. Their tables are read first; values in this file replace theirs, and
    /// lists of bodies are joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Named numbers. Wherever a number is expected, a string such as `"$radius"` or `"2 * $radius + 0.1"` may stand instead.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, f64>,
    /// Acceleration of gravity (m/s^2). Default: 9.81 m/s^2 along -y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub gravity: Option<Vec<f64>>,
    /// How long to simulate, how often to save, and the time step.
    pub time: Time,
    /// The linear solver behind every implicit effect.
    #[serde(default)]
    pub solver: Solver,
    /// How deformable bodies with a material are advanced.
    #[serde(default)]
    pub elastic: ElasticStep,
    /// Collision and contact of rigid bodies.
    #[serde(default)]
    pub contact: Contact,
    /// Free rotation of rigid bodies.
    #[serde(default)]
    pub free_rotation: FreeRotation,
    /// How joints of rigid bodies are made to hold.
    #[serde(default)]
    pub articulation: Articulation,
    /// What a run writes to its folder.
    #[serde(default)]
    pub output: Output,
    /// From where the scene is looked at. Default: from the front, a little above and to the right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
    /// Rigid bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rigid: Vec<Rigid>,
    /// Deformable bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deformable: Vec<Deformable>,
    /// A fluid in a box: smoke or water.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fluid: Option<Fluid>,
    /// Joints between rigid bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<Joint>,
    /// Robots and mechanisms from URDF and MJCF files; a loaded scene has their bodies and joints instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub import: Vec<Import>,
}

/// Standard acceleration of gravity used when a scene does not say otherwise (m/s^2).
pub const STANDARD_GRAVITY: f64 = 9.81;

fn one() -> u32 {
    1
}

fn is_one(value: &u32) -> bool {
    *value == 1
}

impl Scene {
    /// Gravity (m/s^2) with the default filled in; `dimension` components.
    pub fn gravity_vector(&self) -> Vec<f64> {
        self.gravity.clone().unwrap_or_else(|| {
            let mut down = vec![0.0; self.dimension as usize];
            if let Some(y) = down.get_mut(1) {
                *y = -STANDARD_GRAVITY;
            }
            down
        })
    }
}
