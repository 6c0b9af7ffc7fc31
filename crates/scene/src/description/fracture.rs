//! How rigid bodies of a scene break.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a rigid body breaks when it is hit hard enough. Only dynamic bodies break.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fracture {
    /// Collision impulse from which the body breaks (N s): mass times change of velocity of whatever hits it.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub threshold: f64,
    /// What the pieces look like.
    #[serde(default)]
    pub pattern: FracturePattern,
    /// Number of pieces, about: tiny ones are joined to a neighbour, and a piece that does not hang together is several.
    #[serde(default = "twenty_five")]
    #[schemars(range(min = 2, max = 100000))]
    pub pieces: u32,
    /// Seed of the pattern; the same one gives the same pieces.
    #[serde(default = "one")]
    pub seed: u64,
    /// Impulse from which a piece breaks again, in units of its parent's `threshold` (no unit).
    #[serde(default = "two")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub child_factor: f64,
    /// Samples of the distance field on the longest side of the body: how finely it is cut.
    #[serde(default = "sixty_four")]
    #[schemars(range(min = 8, max = 512))]
    pub resolution: u32,
    /// A pattern from files instead of `pattern`, `pieces` and `seed`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<FractureRegions>,
}

/// A fracture pattern from files: closed surfaces that fill a box, one for each piece, as modelling programs make them (3D), or one pattern file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FractureRegions {
    /// Paths of the surfaces (.obj, .ply or .stl), relative to the folder that the program runs in. Together they fill their box without gaps and overlaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Path of a pattern file (.spp), as programs write them, instead of `files`, `impact`, `normal` and `resolution`; relative to the folder that the program runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Where the body is hit, in the coordinates of the files. Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub impact: Option<Vec<f64>>,
    /// Direction out of the body at the hit, in the coordinates of the files; its length does not matter. Default: up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub normal: Option<Vec<f64>>,
    /// Cells on the longest side of the box of all surfaces.
    #[serde(default = "sixty_four")]
    #[schemars(range(min = 8, max = 512))]
    pub resolution: u32,
    /// How the pattern is laid on the body.
    #[serde(default)]
    pub placement: PatternPlacement,
}

/// How a fixed fracture pattern is laid on a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatternPlacement {
    /// Moved to the hit only, cell on cell: fast, and the same crack for every direction.
    Aligned,
    /// Moved to the hit, turned to its direction and scaled to the body.
    #[default]
    General,
}

/// Kind of fracture pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FracturePattern {
    /// Pieces of about equal size.
    Voronoi,
    /// Pieces that are small where the body is hit and grow with the distance from there.
    #[default]
    Radial,
    /// As radial, with uneven faces.
    Realistic,
    /// Sectors and rings about the normal of the hit, as glass breaks.
    Glass,
}

fn twenty_five() -> u32 {
    25
}

fn one() -> u64 {
    1
}

fn two() -> f64 {
    2.0
}

fn sixty_four() -> u32 {
    64
}

impl Fracture {
    /// Breaks from an impulse of `threshold` (N s) on into about `pieces` pieces, radially.
    pub fn new(threshold: f64, pieces: u32) -> Self {
        Self {
            threshold,
            pattern: FracturePattern::default(),
            pieces,
            seed: one(),
            child_factor: two(),
            resolution: sixty_four(),
            regions: None,
        }
    }
}
