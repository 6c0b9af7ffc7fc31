//! Bodies of a scene.

use super::fracture::Fracture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rigid {
    /// Name, unique among all bodies of the scene; output, messages and `--set` use it.
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Shape of the body, around its centre of mass.
    pub shape: Shape,
    /// Whether forces move it, it stays, or it moves as told.
    #[serde(default, skip_serializing_if = "is_dynamic")]
    pub kind: Kind,
    /// Density (kg/m^3; kg/m^2 in 2D). A dynamic body has either `density` or `mass`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Mass (kg). A dynamic body has either `density` or `mass`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub mass: Option<f64>,
    /// Principal moments of inertia about the body's own axes (kg m^2; one in 2D, three in 3D). Default: those of a homogeneous shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
    pub moments: Option<Vec<f64>>,
    /// Where the middle of the shape is in the body's own coordinates, whose origin is the centre of mass (m). Default: at the centre of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub shape_position: Option<Vec<f64>>,
    /// How the shape is turned in the body's own coordinates. Default: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape_rotation: Option<Rotation>,
    /// Centre of mass at the start (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// Orientation at the start. Default: not turned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Velocity of the centre of mass at the start (m/s). Default: at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Angular velocity at the start (rad/s), in world axes: one number in 2D (counter-clockwise), a vector in 3D. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<SpinValue>,
    /// Coefficient of restitution: speed after an impact over speed before, 0 to 1. Two bodies use the smaller of theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: Option<f64>,
    /// Coulomb friction coefficient. Two bodies use the smaller of theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub friction: Option<f64>,
    /// Rolling friction (m): largest moment against rolling for a normal force of one. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub rolling_friction: Option<f64>,
    /// Spinning friction (m): largest moment about the contact normal for a normal force of one. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub spinning_friction: Option<f64>,
    /// Force that acts at its centre of mass all the time, in world axes (N; per metre of depth in 2D). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub force: Option<Vec<f64>>,
    /// Torque that acts all the time, in world axes (N m): one number in 2D (counter-clockwise), a vector in 3D. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque: Option<SpinValue>,
    /// Drag of the air around it. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drag: Option<Drag>,
    /// Lets it break when it is hit hard enough. Default: it never breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fracture: Option<Fracture>,
    /// Lets fluid pass its surface or drives it along, such as a fan or a belt. Default: the fluid at its surface moves with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_flow: Option<SurfaceFlow>,
    /// How it and a fluid act on each other. Default: they push on each other, and viscous fluid sticks to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_fluid: Option<InFluid>,
    /// How bodies of elements meet it.
    #[serde(default, skip_serializing_if = "SoftContact::is_distance")]
    pub soft_contact: SoftContact,
    /// Motion of a kinematic body. Default: it keeps its velocity and spin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<super::Motion>,
    /// Makes a row or a grid of copies instead of one body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
}

/// How a body and a fluid around it act on each other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InFluid {
    /// Viscous fluid slides along it instead of sticking to it. Fluid without viscosity always does.
    #[serde(default)]
    pub slip: bool,
    /// It pushes the fluid without being pushed by it: it falls through water as if there were none, and the water makes way.
    #[serde(default)]
    pub one_way: bool,
}

/// How bodies of elements meet a rigid body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SoftContact {
    /// By the distance of their points from its inside.
    #[default]
    Distance,
    /// Along the paths of its surface, by `[elastic] self_contact` with its friction: nothing passes through however thin or fast it is, and its edges do not slip between points. Static and
    /// kinematic bodies only.
    Surface,
}

impl SoftContact {
    fn is_distance(&self) -> bool {
        *self == Self::Distance
    }
}

/// Drag against all motion of a body.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Drag {
    /// Share of its velocity that is lost in a second (1/s): a force of -mass x linear x velocity.
    #[schemars(range(min = 0))]
    pub linear: f64,
    /// Share of its angular momentum that is lost in a second (1/s).
    #[schemars(range(min = 0))]
    pub angular: f64,
}

/// Velocity of the fluid at the surface of a body, relative to the body and in its own axes. Without viscosity only the part across the surface matters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceFlow {
    /// The same everywhere (m/s). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// About its centre of mass (rad/s): one number in 2D (counter-clockwise), a vector in 3D. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<SpinValue>,
}

/// Shape of a rigid body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A solid ball, a disc in 2D.
    Sphere {
        /// Radius (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius: f64,
    },
    /// A solid box, a rectangle in 2D.
    Box {
        /// Full edge lengths along the body's axes (m).
        #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
        size: Vec<f64>,
    },
    /// All points within `radius` of a segment on the body's last axis (z, or y in 2D).
    Capsule {
        /// Radius (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius: f64,
        /// Length of the segment (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        length: f64,
    },
    /// A solid cylinder about the body's last axis, a rectangle in 2D.
    Cylinder {
        /// Radius (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius: f64,
        /// Length along the axis (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        length: f64,
    },
    /// A ring about the body's last axis.
    Torus {
        /// Radius of the centre line (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        ring: f64,
        /// Radius of the tube (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        tube: f64,
    },
    /// A solid ellipsoid, an ellipse in 2D.
    Ellipsoid {
        /// Half axes along the body's axes (m).
        #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
        radii: Vec<f64>,
    },
    /// The convex hull of points; `position` is where their origin stands.
    Hull {
        /// Points (m).
        points: Vec<Vec<f64>>,
    },
    /// Several boxes joined to one body; `position` is where their origin stands.
    Boxes {
        /// The boxes.
        parts: Vec<BoxPart>,
    },
    /// Several shapes joined to one body, or cut out of it; `position` is where their origin stands. Not of planes, hulls or meshes.
    Parts {
        /// The shapes, in the order in which they are put together.
        parts: Vec<ShapePart>,
    },
    /// What a closed surface of triangles in a file encloses (3D); `position` is where the origin of the file's coordinates stands.
    Mesh {
        /// Path of the file, relative to the folder that the program runs in: .obj, .ply or .stl.
        path: String,
        /// Factor for all coordinates (no unit). Default: 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        scale: Option<f64>,
        /// Cells of its distance field on the longest side. Default: 48.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 8, max = 512))]
        resolution: Option<u32>,
        /// Makes it a shell of this thickness (m) with nothing inside; the surface need not be closed. Default: a solid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        thickness: Option<f64>,
        /// Contact looks at its edges, too, not at points on its surface only: for surfaces with few, sharp edges that cross those of others.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        edges: bool,
    },
    /// Everything below a plane through `position`: the ground or a wall. Static or kinematic only.
    Plane {
        /// Direction out of the solid; its length does not matter. Default: up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("x-length" = "dimension"))]
        normal: Option<Vec<f64>>,
        /// Edge of the square that is drawn for it (m); it has no end for other bodies. Default: 10.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        drawn: Option<f64>,
    },
}

/// A box of a body that is made of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxPart {
    /// Full edge lengths (m).
    #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
    pub size: Vec<f64>,
    /// Its centre (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Vec<f64>,
}

/// A shape of a body that is made of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapePart {
    /// Its shape.
    pub shape: Box<Shape>,
    /// Where its origin stands (m). Default: at the origin of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// Its orientation. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// What it does to the parts before it.
    #[serde(default, skip_serializing_if = "Combine::is_union")]
    pub combine: Combine,
}

/// How a part is put together with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// It is added.
    #[default]
    Union,
    /// It is cut out.
    Difference,
    /// What is in both stays.
    Intersection,
}

impl Combine {
    fn is_union(&self) -> bool {
        *self == Self::Union
    }
}

/// How a rigid body moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Forces and contacts move it.
    #[default]
    Dynamic,
    /// It never moves, as if infinitely heavy.
    Static,
    /// It keeps the velocity and spin it is given, whatever pushes on it.
    Kinematic,
}

/// Orientation of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Rotation {
    /// In 2D: counter-clockwise angle (degrees).
    #[schemars(extend("x-dimension" = 2))]
    Degrees(f64),
    /// In 3D: turn about an axis.
    #[schemars(extend("x-dimension" = 3))]
    AxisAngle {
        /// Axis of the turn; its length does not matter, but is not zero.
        #[schemars(extend("x-length" = "dimension"))]
        axis: Vec<f64>,
        /// Angle (degrees), right-handed about the axis.
        degrees: f64,
    },
    /// In 3D: quaternion.
    #[schemars(extend("x-dimension" = 3))]
    Quaternion {
        /// Quaternion `[w, x, y, z]`; it is scaled to length 1, and is not zero.
        #[schemars(length(min = 4, max = 4))]
        quaternion: Vec<f64>,
    },
}

/// Angular velocity in the form of the scene's dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SpinValue {
    /// In 2D: rate of turn, counter-clockwise (rad/s).
    #[schemars(extend("x-dimension" = 2))]
    Rate(f64),
    /// In 3D: angular velocity vector (rad/s).
    #[schemars(extend("x-dimension" = 3))]
    Vector(#[schemars(extend("x-length" = "dimension"))] Vec<f64>),
}

/// A grid of copies. Copy number `n` of a body called `ball` is named `ball-n`, from 1, and the first one stands at `position`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// Number of copies along each axis.
    #[schemars(extend("x-length" = "dimension"), inner(range(min = 1)))]
    pub count: Vec<u64>,
    /// Distance from one copy to the next along each axis (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub spacing: Vec<f64>,
}

/// A deformable body: particles that springs or elements hold together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deformable {
    /// Name, unique among all bodies of the scene.
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Where its particles are and how they are connected.
    pub geometry: Geometry,
    /// Density: of a body with a material (kg/m^3; kg/m^2 in 2D), or the mass of one metre of a chain (kg/m). Either `density` or `mass` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: Option<f64>,
    /// Mass of the whole body (kg). Either `density` or `mass` is given; neither for a recorded surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub mass: Option<f64>,
    /// Elastic material: makes the mesh a body of finite elements. Every geometry needs one but a chain and a recorded surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<super::ElasticMaterial>,
    /// More about a body of finite elements: thickness, bending, plasticity, held parts, copies.
    #[serde(default, skip_serializing_if = "is_plain")]
    pub elastic: super::ElasticBody,
    /// Springs along the edges of the geometry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub springs: Option<Springs>,
    /// Indices of particles that do not move, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<u64>,
    /// Velocity of every particle at the start (m/s). Default: at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
}

impl Deformable {
    /// Is it a mesh that bodies of finite elements know, rather than a chain?
    pub fn has_elements(&self) -> bool {
        self.material.is_some() || matches!(self.geometry, Geometry::Recorded(_))
    }
}

/// Geometry of a deformable body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Geometry {
    /// Particles in a row, evenly spaced, each joined to the next.
    Chain(ChainGeometry),
    /// A box of cells.
    Box(super::BoxGeometry),
    /// A flat sheet of triangles.
    Sheet(super::SheetGeometry),
    /// A ball, a disc in 2D.
    Ball(super::BallGeometry),
    /// A torus.
    Torus(super::TorusGeometry),
    /// A bag of cloth.
    Bag(super::BagGeometry),
    /// A mesh file.
    File(super::FileGeometry),
    /// A surface whose motion is known.
    Recorded(super::RecordedGeometry),
}

/// A straight chain of particles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChainGeometry {
    /// Position of the first particle (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Position of the last particle (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub to: Vec<f64>,
    /// Number of particles.
    #[schemars(range(min = 2))]
    pub particles: u64,
}

/// Linear springs with damping along every edge of a deformable body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Springs {
    /// Stiffness of each spring (N/m).
    #[schemars(range(min = 0))]
    pub stiffness: f64,
    /// Damping of each spring relative to critical damping of its two end particles (no unit): 0 rings, 1 creeps back. Damping is
    /// implicit, so any value is stable.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub damping_ratio: f64,
    /// Length of each spring at rest (m). Default: its length at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rest_length: Option<f64>,
}

fn is_plain(body: &super::ElasticBody) -> bool {
    *body == super::ElasticBody::default()
}

fn is_dynamic(kind: &Kind) -> bool {
    *kind == Kind::Dynamic
}

impl Repeat {
    /// Number of copies; `None` when it does not fit in 64 bits.
    pub fn total(&self) -> Option<u64> {
        self.count.iter().try_fold(1u64, |product, &n| product.checked_mul(n))
    }
}

impl ChainGeometry {
    /// Distance between the two ends (m).
    pub fn length(&self) -> f64 {
        self.from.iter().zip(&self.to).map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt()
    }
}

impl Geometry {
    /// Number of particles; a bound from above for balls and tori, 0 for files.
    pub fn particle_count(&self) -> u64 {
        match self {
            Self::Chain(chain) => chain.particles,
            Self::Box(own) => own.cells.iter().fold(1u64, |n, &c| n.saturating_mul(c.saturating_add(1))),
            Self::Sheet(own) => own.cells.iter().fold(1u64, |n, &c| n.saturating_mul(c.saturating_add(1))),
            // Bounds from above: layers around the middle.
            Self::Ball(own) => (2 * own.cells.min(1 << 20) + 1).saturating_pow(own.centre.len() as u32),
            Self::Torus(own) => (2 * own.cells.min(1 << 20) + 1).saturating_pow(2).saturating_mul(own.around),
            // Rings of at most as many points as the widest one has.
            Self::Bag(own) => own.cells.saturating_mul(own.cells.saturating_mul(3)).saturating_add(2),
            // Known only when the file is read.
            Self::File(_) | Self::Recorded(_) => 0,
        }
    }
}
