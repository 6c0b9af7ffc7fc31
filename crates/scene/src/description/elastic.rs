//! Deformable bodies of finite elements: their meshes, materials and how they are advanced.

use super::Repeat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A box of cells: tetrahedra or hexahedra in 3D, triangles in 2D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxGeometry {
    /// Lowest corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Full edge lengths (m).
    #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
    pub size: Vec<f64>,
    /// Number of cells along each axis; a cell is five tetrahedra, one hexahedron, or two triangles.
    #[schemars(extend("x-length" = "dimension"), inner(range(min = 1, max = 1000)))]
    pub cells: Vec<u64>,
    /// Hexahedra instead of tetrahedra (3D only).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hexahedra: bool,
}

/// A flat sheet of triangles: cloth in 3D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SheetGeometry {
    /// A corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub corner: Vec<f64>,
    /// First edge from the corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub u: Vec<f64>,
    /// Second edge from the corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub v: Vec<f64>,
    /// Number of squares along the two edges, two triangles each.
    #[schemars(length(min = 2, max = 2), inner(range(min = 1, max = 2000)))]
    pub cells: Vec<u64>,
}

/// A ball of tetrahedra, a disc of triangles in 2D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallGeometry {
    /// Centre (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Vec<f64>,
    /// Radius (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Elements along the radius.
    #[schemars(range(min = 1, max = 200))]
    pub cells: u64,
}

/// A torus of tetrahedra about the y axis (3D only).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusGeometry {
    /// Centre (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Vec<f64>,
    /// Radius of the ring (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub ring: f64,
    /// Radius of the tube (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tube: f64,
    /// Elements along the radius of the tube.
    #[schemars(range(min = 1, max = 100))]
    pub cells: u64,
    /// Pieces around the ring.
    #[schemars(range(min = 3, max = 2000))]
    pub around: u64,
}

/// A bag of triangles: a sphere with a round mouth at the top, where `y` is largest (3D only).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BagGeometry {
    /// Centre of the sphere (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Vec<f64>,
    /// Radius of the sphere (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Radius of the mouth (m), less than that of the sphere; 0 is a closed bag.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub mouth: f64,
    /// Turns it over, so that the mouth is at the bottom.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub upside_down: bool,
    /// Triangles from the point opposite of the mouth to the rim.
    #[schemars(range(min = 2, max = 500))]
    pub cells: u64,
}

/// A mesh file: tetrahedra or hexahedra, or a surface of triangles for cloth (3D only).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileGeometry {
    /// Path of the file, relative to the folder that the program runs in: .msh, .vtu or .vtk with tetrahedra or hexahedra, or .obj, .ply, .stl with triangles.
    pub path: String,
    /// Read a surface of triangles as cloth instead of elements with an inside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub surface: bool,
    /// Fill a closed surface of triangles with tetrahedra of about this edge (m, after scaling). What is thinner is lost, and sharp edges are cut off within an edge. Default: the file has tetrahedra or
    /// hexahedra.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub fill: Option<f64>,
    /// Factor for all coordinates (no unit).
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// Offset after scaling (m). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub offset: Option<Vec<f64>>,
    /// Points no farther apart than this become one (m). Default: those at just the same place.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub weld: f64,
}

/// A closed surface of triangles whose motion is known: a finished simulation or an animation, one mesh file for every instant (3D only). It moves as the files say; bodies of elements whose
/// `elastic.over` names it are stopped by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedGeometry {
    /// Paths of the files, relative to the folder that the program runs in, with `*` for the number: `walk/frame-*.ply` reads `walk/frame-000000.ply` and all that follow, in the order of
    /// their numbers. Any file of triangles; the same triangles in all of them.
    pub files: String,
    /// Time from one file to the next (s). In between, points are on smooth paths through their places.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub interval: f64,
    /// Time of the first file (s); the surface rests before it, and after the last.
    #[serde(default)]
    pub start: f64,
    /// Factor for all coordinates (no unit).
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// Offset after scaling (m). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub offset: Option<Vec<f64>>,
}

/// A body that this one lies on, in layers: it stops this one and does not feel it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The body below: one with an inside, or a closed surface.
    pub body: String,
    /// Coefficient of friction. Default: that of `[elastic]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub friction: Option<f64>,
}

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

/// Bending of a sheet about its inner edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BendingDescription {
    /// Bending stiffness (N m).
    #[schemars(range(min = 0))]
    pub stiffness: f64,
    /// Damping of bending (N m s).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub damping: f64,
    /// How the force grows with the angle.
    #[serde(default)]
    pub model: BendingLaw,
    /// Angle (degrees) from which a fold stays. Default: folds spring back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub yield_angle: Option<f64>,
    /// Growth of the yield angle per angle by which a fold has stayed (no unit).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub hardening: f64,
    /// Angle (degrees) of all inner edges at which they have no moment; 0 for a surface that wants to be flat. Default: that of the mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = -180, "exclusiveMaximum" = 180))]
    pub rest_angle: Option<f64>,
}

/// How the force of bending grows with the angle of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BendingLaw {
    /// With the angle; has an energy, as implicit steps want.
    #[default]
    Angle,
    /// With the sine of half the angle: bounded for sharp folds.
    SineOfHalfAngle,
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

/// Springs in a body of elements, beside or (with a very soft material) instead of its material.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElementSprings {
    /// Springs along all edges: force per strain (N). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub edges: Option<f64>,
    /// Springs from every corner of an element to the opposite face, which push through inversion: force per strain (N). For tetrahedra, and triangles in the plane. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub altitudes: Option<f64>,
    /// Springs of a sheet across every inner edge, between the far corners of its two triangles: force per strain (N). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub bending: Option<f64>,
    /// All altitudes of an element instead of its shortest at any time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_altitudes: bool,
    /// Altitudes act only while they are compressed by more than this part of their rest length (no unit). Default: they pull as well as push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub altitude_slack: Option<f64>,
    /// Damping of each spring relative to critical damping of its ends (no unit).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub damping_ratio: f64,
    /// Strain (no unit) from which the springs along edges and across them stay stretched. Default: never.
    #[serde(default, rename = "yield", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub limit: Option<f64>,
    /// Growth of that strain per strain that has stayed (no unit).
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub hardening: f64,
    /// Rest lengths stay within this factor of the first ones (no unit).
    #[serde(default = "ten")]
    #[schemars(range(min = 1))]
    pub limit_stretch: f64,
}

/// A force that pulls on part of a body: on all particles within a box of the rest shape, by their masses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadDescription {
    /// Lowest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Highest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub to: Vec<f64>,
    /// The force on all of them together (N; N/m in 2D).
    #[schemars(extend("x-length" = "dimension"))]
    pub force: Vec<f64>,
    /// Factor of the force against time: pairs of time (s) and factor, linear in between. Default: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factor: Vec<[f64; 2]>,
}

/// Particles that are held or moved: all within a box of the rest shape. Several holds may have the same particles: their motions follow each other in time, and the last one that lets go frees them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Lowest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Highest corner of the box (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub to: Vec<f64>,
    /// Velocity of the held particles (m/s). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Angular velocity about `centre` (rad/s): three components in 3D, one in 2D. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<Vec<f64>>,
    /// A point of the axis of `spin` (m), in space. Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Option<Vec<f64>>,
    /// When the motion begins (s); not before another one of the same particles has ended.
    #[serde(default)]
    pub start: f64,
    /// When the motion ends (s); the particles are held where they are then. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// When the particles are let go (s). Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<f64>,
}

/// A soft body to which particles are tied by springs without length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TiedTo {
    /// The other soft body: tetrahedra, or triangles in the plane.
    pub to: String,
    /// Stiffness of the spring of each particle (N/m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: f64,
    /// Damping of the spring of each particle, in any direction (N s/m).
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub damping: f64,
}

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

/// What the velocity solve for damping keeps of contacts and joints, and how. All forms have the same solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DampingSolve {
    /// The linear system.
    pub form: DampingForm,
    /// Sweeps of the form `sweeps`.
    #[schemars(range(min = 1, max = 1000))]
    pub sweeps: u32,
    /// Joints of rigid bodies that carry or touch soft ones.
    pub joints: bool,
    /// Contacts of such bodies with other rigid ones.
    pub rigid_contacts: bool,
    /// Contacts of soft bodies with moving rigid ones.
    pub soft_contacts: bool,
    /// Contacts of soft bodies with rigid ones in the prediction of positions, too, before contact itself acts. Those that part are let go.
    pub coming_contacts: bool,
    /// Pairs of `self_contact` that approach each other.
    pub pairs: bool,
}

/// The linear system of the velocity solve for damping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DampingForm {
    /// Conjugate gradients on velocities that are projected exactly: the fastest.
    #[default]
    Projection,
    /// Conjugate gradients on velocities that are projected by symmetric sweeps over the constraints, which leave something; no tolerance is taken below what they leave, and the log says
    /// so.
    Sweeps,
    /// Symmetric positive definite system in the impulses of damping and constraints.
    Spd,
    /// Symmetric indefinite system in velocities and impulses, for comparison.
    Kkt,
}

impl Default for DampingSolve {
    fn default() -> Self {
        Self {
            form: DampingForm::default(),
            sweeps: 5,
            joints: true,
            rigid_contacts: true,
            soft_contacts: true,
            coming_contacts: true,
            pairs: false,
        }
    }
}

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

fn one() -> f64 {
    1.0
}

fn ten() -> f64 {
    10.0
}

fn poisson() -> f64 {
    0.3
}

fn friction() -> f64 {
    0.3
}
