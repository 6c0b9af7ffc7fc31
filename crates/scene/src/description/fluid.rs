//! Fluids of a scene.

use super::{FluidCoupling, FluidMethod, Rotation, SpinValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Edges of the cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CellSize {
    /// Cubes, squares in 2D, of this edge (m).
    Equal(#[schemars(extend("exclusiveMinimum" = 0))] f64),
    /// The edge along each axis (m).
    Edges(
        #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
         Vec<f64>,
    ),
}

impl CellSize {
    /// The shortest edge (m).
    pub fn shortest(&self) -> f64 {
        match self {
            Self::Equal(edge) => *edge,
            Self::Edges(edges) => edges.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }
}

impl From<f64> for CellSize {
    fn from(edge: f64) -> Self {
        Self::Equal(edge)
    }
}

/// A fluid in a box of equal cells: a gas with smoke, a liquid with a free surface, or several liquids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    /// Lower corner of the box (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub origin: Option<Vec<f64>>,
    /// Edge of a cell (m), or one edge an axis.
    pub cell: CellSize,
    /// Number of cells along each axis.
    #[schemars(extend("x-length" = "dimension"), inner(range(min = 1)))]
    pub cells: Vec<u64>,
    /// What the sides do that are not named below. Default: walls along which the fluid slides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<FluidSide>,
    /// Lower side along x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<FluidSide>,
    /// Upper side along x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<FluidSide>,
    /// Lower side along y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<FluidSide>,
    /// Upper side along y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<FluidSide>,
    /// Lower side along z; only in 3D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<FluidSide>,
    /// Upper side along z; only in 3D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FluidSide>,
    /// Parts of sides that differ from the rest of the side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<FluidPatch>,
    /// What the box holds. One entry without `free_surface` fills all of it.
    pub liquids: Vec<FluidLiquid>,
    /// Is what no liquid fills empty air at zero pressure? Default: no, the liquids fill the box.
    #[serde(default, skip_serializing_if = "is_false")]
    pub free_surface: bool,
    /// Smoke in a gas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoke: Option<FluidSmoke>,
    /// Solids that the fluid flows around; they move as told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<FluidObstacle>,
    /// Sheets without thickness that nothing passes; they move as told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sheets: Vec<FluidSheet>,
    /// Regions that make, remove or stir fluid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<FluidSource>,
    /// Regions in which something besides gravity accelerates the fluid, such as a fan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forces: Vec<FluidForce>,
    /// Velocity of the fluid at the start (m/s). Default: at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Eddies at the start, on top of that. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eddies: Option<FluidEddies>,
    /// Surface tension of the liquids (N/m; N in 2D); explicit, so that it limits the step. Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub surface_tension: f64,
    /// Angle between free surfaces and solids, measured through the liquid, that surface tension strives for (degrees): water on clean glass near 0, on wax 110.
    /// Default: the angle is left as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 180))]
    pub contact_angle: Option<f64>,
    /// May liquids with a free surface leave walls and obstacles where suction would have to hold them? Volumes are kept then as with `keep_volume`. Not with `cut_cells`, and only where no bodies are coupled. Default: no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub separation: bool,
    /// Friction of liquids along sides of kind `slip`: this times the pressure is the most that an area drags (no unit). Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub friction: f64,
    /// Surface tensions of pairs of liquids that differ from `surface_tension`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tensions: Vec<FluidTension>,
    /// How velocity and smoke are carried along. Default: `mac_cormack`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub transport: TransportWord,
    /// Numerical choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<FluidMethod>,
    /// What tells where a liquid's surface is. Default: `markers`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tracker: TrackerWord,
    /// Share of what the grid cannot hold of the velocities of `apic` particles that they keep: 0 is calm, near 1 lively and noisy as FLIP. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 1))]
    pub flip: f64,
    /// Particles in each cell near a liquid's surface; 0 tracks the surface without them. Default: 16 markers in 2D, 64 in 3D; of `apic` 4 in 2D, 8 in 3D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 512))]
    pub particles: Option<u64>,
    /// Keep each liquid's volume by moving its surface a little. Default: no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keep_volume: bool,
    /// Give back the momentum that transport loses, so that fluid and bodies together keep theirs to rounding; for a fluid that fills a box with periodic sides and walls only. Default: no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keep_momentum: bool,
    /// Let solids cut cells, rather than fill whole ones: smoother and more accurate. Default: no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut_cells: bool,
    /// Do the fluid and the rigid bodies that reach into it push each other, in one solve? Static bodies are walls then. If not, the fluid does not know of bodies.
    /// A table says how they are solved for. Default: yes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub coupling: FluidCoupling,
    /// Part of the largest step that transport allows; larger than 1 is possible, and less accurate. Only adaptive steps look at it. Default: 0.9.
    #[serde(default = "cfl", skip_serializing_if = "is_cfl")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cfl: f64,
    /// Largest `|div u| dt` left in a cell by the pressure. Default: 1e-8.
    #[serde(default = "divergence", skip_serializing_if = "is_divergence")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub divergence: f64,
    /// Largest speed (m/s) at which walls may give way where obstacles, bodies and walls that move as told squeeze a closed part of the fluid, which cannot change its volume; more stops
    /// the run. Default: any, because a piston at rest against the end of its way is such a case, and what is taken off is spread evenly and told: the log has it (`wall_correction`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub squeeze: Option<f64>,
}

/// Rows of eddies in the plane of x and y that turn in turn to the left and to the right: the stream function `amplitude sin(2 pi n_x x / L_x) sin(2 pi n_y y / L_y)` over the
/// box, whose edges are `L`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidEddies {
    /// Largest value of the stream function (m^2/s).
    pub amplitude: f64,
    /// Waves along x and y. Default: one along each.
    #[serde(default = "one_wave")]
    pub waves: [u32; 2],
}

fn one_wave() -> [u32; 2] {
    [1; 2]
}

/// What a side of the box does to the fluid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidSide {
    /// Kind of side.
    pub kind: SideKind,
    /// Velocity of the wall or of the inflow (m/s). Default: at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Pressure beyond an open side (Pa). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pressure: f64,
}

/// Kind of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideKind {
    /// A wall along which the fluid slides.
    #[default]
    Slip,
    /// A wall to which the fluid sticks.
    NoSlip,
    /// Fluid enters with the given velocity.
    Inflow,
    /// Open to surroundings at the given pressure.
    Open,
    /// Continues on the opposite side.
    Periodic,
}

/// Name of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideName {
    /// Lower along x.
    Left,
    /// Upper along x.
    Right,
    /// Lower along y.
    Bottom,
    /// Upper along y.
    Top,
    /// Lower along z.
    Back,
    /// Upper along z.
    Front,
}

impl SideName {
    /// Axis, and whether it is the upper side.
    pub fn place(self) -> (usize, bool) {
        match self {
            Self::Left => (0, false),
            Self::Right => (0, true),
            Self::Bottom => (1, false),
            Self::Top => (1, true),
            Self::Back => (2, false),
            Self::Front => (2, true),
        }
    }
}

/// A part of a side with its own condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidPatch {
    /// Which side.
    pub side: SideName,
    /// Lower corner (m); its coordinate across the side does not matter.
    #[schemars(extend("x-length" = "dimension"))]
    pub min: Vec<f64>,
    /// Upper corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub max: Vec<f64>,
    /// What this part does.
    pub condition: FluidSide,
}

/// One fluid of uniform properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidLiquid {
    /// Name, unique among all bodies and liquids of the scene.
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Density (kg/m^3; kg/m^2 in 2D).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density: f64,
    /// Dynamic viscosity (Pa s): water 0.001, honey about 10. Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub viscosity: f64,
    /// Where it is at the start: all of these regions together. The last of several liquids that fill the box gets what is left when it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<FluidRegion>,
}

/// A shape at a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidRegion {
    /// Shape.
    pub shape: RegionShape,
    /// Where its centre is (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// How it is turned. Default: not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
}

/// Shape of a region or an obstacle, around its centre.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RegionShape {
    /// A ball, a disc in 2D.
    Sphere {
        /// Radius (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius: f64,
    },
    /// A box, a rectangle in 2D.
    Box {
        /// Full edge lengths (m).
        #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
        size: Vec<f64>,
    },
    /// A cylinder along y; in 2D a rectangle.
    Cylinder {
        /// Radius (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius: f64,
        /// Length along y (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        height: f64,
    },
    /// A vessel along y, open above.
    Cup {
        /// Outer radius (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius: f64,
        /// Height (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        height: f64,
        /// Thickness of wall and bottom (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        wall: f64,
    },
}

/// Smoke: how it weighs, warms and fades.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidSmoke {
    /// Downward acceleration for one unit of smoke (m/s^2). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: f64,
    /// Upward acceleration for one kelvin above the surroundings (m/s^2). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lift: f64,
    /// Cooling of gas that is `hottest` warmer than the surroundings (K/s), falling with the fourth power of the warmth. Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub cooling: f64,
    /// The warmth at which cooling is as fast as told (K above the surroundings). Default: 2702.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub hottest: Option<f64>,
    /// Share of the smoke that vanishes in a second (1/s). Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub decay: f64,
    /// Strength of vorticity confinement, which keeps small eddies alive (no unit): 0.1 to 1. Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub confinement: f64,
}

/// A solid that the fluid flows around.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidObstacle {
    /// Name, unique among all bodies of the scene.
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Shape.
    pub shape: RegionShape,
    /// Where its centre is at the start (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// How it is turned at the start. Default: not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Constant velocity (m/s). Default: at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Constant rate of turn about its centre (rad/s). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<SpinValue>,
    /// To and fro instead of a constant velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oscillation: Option<Oscillation>,
    /// Does the fluid slide along it? Default: it sticks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub slip: bool,
    /// Friction of liquids along it: this times the pressure is the most that an area drags (no unit). Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub friction: f64,
}

/// A sheet without thickness: nothing passes it, and its two sides know nothing of each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidSheet {
    /// Name, unique among all bodies of the scene.
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Shape.
    pub shape: SheetShape,
    /// Where its centre is at the start (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// How it is turned at the start. Default: not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Constant velocity (m/s). Default: at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Constant rate of turn about its centre (rad/s). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<SpinValue>,
    /// To and fro instead of a constant velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oscillation: Option<Oscillation>,
}

/// Shape of a sheet, around its centre.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SheetShape {
    /// A flat plate along x, in 3D along x and z: a segment, a rectangle.
    Plate {
        /// Full length along x (m).
        #[schemars(extend("exclusiveMinimum" = 0))]
        length: f64,
        /// Full width along z (m); only in 3D. Default: the length.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        width: Option<f64>,
    },
    /// The walls of a box, a rectangle in 2D.
    Box {
        /// Full edge lengths (m).
        #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
        size: Vec<f64>,
        /// Is it open above (along y)? Default: closed.
        #[serde(default, skip_serializing_if = "is_false")]
        open: bool,
    },
}

/// Motion to and fro: displacement `amplitude * sin(2 pi frequency t)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oscillation {
    /// Largest displacement (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub amplitude: Vec<f64>,
    /// Oscillations per second (Hz).
    #[schemars(range(min = 0))]
    pub frequency: f64,
}

/// A region that makes, removes or stirs fluid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidSource {
    /// What it does.
    pub kind: SourceWord,
    /// Shape.
    pub shape: RegionShape,
    /// Where its centre is (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// How it is turned. Default: not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Amount of smoke, for `smoke`. Default: 1.
    #[serde(default = "unit", skip_serializing_if = "is_unit")]
    #[schemars(range(min = 0))]
    pub density: f64,
    /// Warmer than the surroundings by this much, for `smoke` (K). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmth: f64,
    /// Name of the liquid, for `liquid`. Default: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liquid: Option<String>,
    /// Velocity prescribed in the region (m/s). Default: not prescribed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub velocity: Option<Vec<f64>>,
    /// Divergence that the flow shall have in the region (1/s): gas that is made there, as by a fire, or taken away. Only without surfaces of liquids. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub expansion: f64,
    /// Active from this time on (s). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start: f64,
    /// Active until this time (s). Default: to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
}

/// Surface tension between two liquids, or between one and the air.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidTension {
    /// Names of two liquids, or of one for its surface with the air.
    pub between: Vec<String>,
    /// Surface tension (N/m; N in 2D).
    #[schemars(range(min = 0))]
    pub tension: f64,
}

/// A region in which the fluid is accelerated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluidForce {
    /// Shape.
    pub shape: RegionShape,
    /// Where its centre is (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// How it is turned. Default: not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Acceleration (m/s^2).
    #[schemars(extend("x-length" = "dimension"))]
    pub acceleration: Vec<f64>,
    /// Active from this time on (s). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start: f64,
    /// Active until this time (s). Default: to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
}

/// What a source does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceWord {
    /// Makes smoke and warmth.
    Smoke,
    /// Makes liquid.
    Liquid,
    /// Removes liquid.
    Sink,
    /// Only prescribes the velocity.
    Stir,
}

/// How velocity and smoke are carried along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportWord {
    /// Second order, limited: keeps eddies alive.
    #[default]
    MacCormack,
    /// Second order, limited, with the correction before the last path.
    Bfecc,
    /// First order: robust, damps.
    SemiLagrangian,
    /// Not carried at all: creeping (Stokes) flow.
    None,
}

/// What tells where a liquid's surface is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrackerWord {
    /// A level set, kept sharp by marker particles on both sides: smooth surfaces, any number of liquids.
    #[default]
    Markers,
    /// Particles that carry the momentum in a band below the surface: livelier splashes; one liquid in air.
    Apic,
}

impl Fluid {
    /// Number of cells.
    pub fn cell_count(&self) -> u128 {
        self.cells.iter().fold(1, |product: u128, &n| product.saturating_mul(n.into()))
    }
}

fn cfl() -> f64 {
    0.9
}

fn is_cfl(value: &f64) -> bool {
    *value == cfl()
}

fn divergence() -> f64 {
    1e-8
}

fn is_divergence(value: &f64) -> bool {
    *value == divergence()
}

fn unit() -> f64 {
    1.0
}

fn is_unit(value: &f64) -> bool {
    *value == 1.0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
