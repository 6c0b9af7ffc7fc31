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
        }
    }
}
