//! How a scene's fluid and the solids in it are solved for together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Do the fluid and the bodies in it push each other: `true`, `false`, or how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FluidCoupling {
    /// Yes or no.
    Word(bool),
    /// Yes, and how.
    Choices(CouplingChoices),
}

impl Default for FluidCoupling {
    fn default() -> Self {
        Self::Word(true)
    }
}

/// Choices of the coupled solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CouplingChoices {
    /// Which linear system is solved. All have the same solution, but for `lumped_diagonal`, and for the lumped ones in viscous fluid; all but the first are references and slower. Default: `pressure`.
    pub form: FormWord,
    /// How much fluid moves with a face that a body closes. Default: `fraction`.
    pub mass: FaceMassWord,
    /// Where viscous fluid sticks to bodies and walls. Default: `solid_side`.
    pub tangential: TangentialWord,
    /// Which points of a soft body or sheet move with the fluid at a face of a cell. Default: `ray`.
    pub weights: WeightsWord,
    /// Viscosity and pressure are one solve also while no body is in the fluid; else viscosity acts first there. Default: `false`.
    pub without_bodies: bool,
    /// Stokes flow: nothing is transported, one solve a step finds the velocities of fluid and bodies, and bodies stay where they are. For a fluid without a free surface. Default: `false`.
    pub stokes: bool,
}

/// Which of the equivalent linear systems is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormWord {
    /// Pressures only, positive definite.
    #[default]
    Pressure,
    /// Pressures, viscous stresses and coupling impulses, positive definite.
    Impulses,
    /// These and the velocities of the bodies, indefinite.
    Kkt,
    /// Pressures and velocities of the bodies, the fluid at bodies lumped on them, indefinite; viscosity acts by itself before.
    Lumped,
    /// The same with diagonal lumped masses, accurate to a cell.
    LumpedDiagonal,
}

/// How much fluid moves with a face that a body closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaceMassWord {
    /// What is outside the body.
    #[default]
    Fraction,
    /// That of a whole cell, as in the published tables.
    Full,
}

/// Where viscous fluid sticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TangentialWord {
    /// On faces inside the body.
    #[default]
    SolidSide,
    /// On faces in the fluid next to it, as in the published tables.
    FluidSide,
}

/// Which points of a soft body or sheet move with the fluid at a face of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WeightsWord {
    /// The corners of the triangle (2D: ends of the edge) that the line between the centres of the two cells meets: keeps angular momentum.
    #[default]
    Ray,
    /// The corners of all that is within half a cell of the face, by area, as in the published scenes: smoother where edges are much shorter than cells.
    Area,
}
