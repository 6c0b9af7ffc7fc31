//! Deformable bodies of finite elements: what one is besides its mesh and its material; their shapes, materials and steps are in the modules.

mod attachment;
mod contact;
mod damping;
mod fibres;
mod geometry;
mod material;
mod plasticity;
mod springs;
mod step;
mod volume;

pub use attachment::{Hold, LoadDescription, Over, TiedTo};
pub use contact::{ElasticCollisions, SelfContactDescription};
pub use damping::{DampingForm, DampingSolve};
pub use fibres::{FibreDescription, Fusiform, PassiveTension};
pub use geometry::{
    BagGeometry, BallGeometry, BoxGeometry, FileGeometry, RecordedGeometry, SheetGeometry, TorusGeometry,
};
pub use material::{
    ElasticDamping, ElasticMaterial, ElasticModel, Hardening, Inversion, Region, SplineHardening,
};
pub use plasticity::{GoalShape, PlasticDescription};
pub use springs::{BendingDescription, BendingLaw, ElementSprings};
pub use step::{ElasticIntegrator, ElasticStep};
pub use volume::{VolumeSolver, VolumeStep};

use super::Repeat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A start away from the rest shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disturbance {
    /// Every particle moves by up to this much along each axis (m).
    #[schemars(range(min = 0))]
    pub noise: f64,
    /// Number that chooses the noise.
    #[serde(default)]
    pub seed: u64,
}

/// Everything about a body of elements besides its mesh.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ElasticBody {
    /// Thickness of a sheet (m). Default: 1 mm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub thickness: Option<f64>,
    /// Bending of a sheet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bending: Option<BendingDescription>,
    /// Direction that the triangles of a sheet face (right-handed about their corners); one that is turned over turns back. Default: they may face anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub facing: Option<Vec<f64>>,
    /// Regions of other materials; where they overlap, the last one counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Region>,
    /// Plastic flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plastic: Option<PlasticDescription>,
    /// Families of fibres, each in its own direction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fibre: Vec<FibreDescription>,
    /// Particles that are held or moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hold: Vec<Hold>,
    /// Forces that pull on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<LoadDescription>,
    /// Starts with the velocity that the fluid has where its particles are, on top of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adrift: bool,
    /// A start away from the rest shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturb: Option<Disturbance>,
    /// Strength of the material against time: pairs of time (s) and factor, linear in between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strength: Vec<[f64; 2]>,
    /// Activation of all fibres against time: pairs of time (s) and activation (0 to 1), linear in between. Default: that of each family.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub activation: Vec<[f64; 2]>,
    /// Springs beside the material.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub springs: Option<ElementSprings>,
    /// Copies of the body, side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
    /// Rigid bodies that carry the particles inside them, such as the bones of a body of flesh: these particles move with them, what pulls on them pulls on the
    /// body, and the rest of this body does not touch it. Carried particles have no mass of their own. Needs the integrator `scheme_b` or `scheme_c`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bind: Vec<String>,
    /// Soft bodies in which particles of this one lie, such as a skin within flesh: these particles are tied by springs to the places in which they lie.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tie: Vec<TiedTo>,
    /// Soft body in which it lies: its particles there move with the elements that they are in, what acts on them acts on that body, which has their mass and touches for them. Tetrahedra, or triangles
    /// in the plane; it may lie in another in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embed: Option<String>,
    /// Bodies that this one lies on, in layers, such as cloth over a body: their steps are found first, without this one; then their surfaces stop its points. Bodies in layers do not push each other
    /// otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<Over>,
    /// Keeps its volume: a pressure for the elements around every point, beside the material (for which Poisson's ratio 0 suits best). Tetrahedra, and triangles in
    /// the plane; sheets in space keep their area. Not both kinds in one scene.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incompressible: bool,
    /// Pushes the fluid that it is in without being pushed by it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub one_way: bool,
    /// Quadratic tetrahedra in place of linear ones: points in the middles of all edges, too. They bend without locking, at eight times the cost.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quadratic: bool,
    /// Precision of what every element keeps: rotation, stretches, rest shape.
    #[serde(skip_serializing_if = "Precision::is_double")]
    pub precision: Precision,
}

/// Precision of what the elements of a body keep. Positions, velocities, forces and all sums are in double precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 16 digits.
    #[default]
    Double,
    /// 7 digits for what each element keeps (rest gradients, rotations, stretches, gradients in their frame), two thirds of the memory of a body: stretches are known to 1e-6. Positions, velocities,
    /// forces, laws, plastic deformations, damping factors and linear solves stay in double precision.
    Single,
}

impl Precision {
    fn is_double(&self) -> bool {
        *self == Self::Double
    }
}

fn one() -> f64 {
    1.0
}

fn ten() -> f64 {
    10.0
}
