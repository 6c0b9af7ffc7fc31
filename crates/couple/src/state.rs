//! What changes while the world moves: all that a checkpoint holds.

use crate::Newcomers;
use serde::{Deserialize, Serialize};
use splashdown_deformable::ParticleState;
use splashdown_fluid::FluidState;
use splashdown_math::{Dim, Space};
use splashdown_rigid::{BodyState, ContactMemory, Rest};

/// Multipliers of one block of rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BlockMultipliers {
    /// Name of the block.
    pub name: String,
    /// One value a row: an impulse in the unit of the row.
    pub values: Vec<f64>,
}

/// Multipliers of the last coupled solves: the next ones start from them, so they are part of the state (a resumed run gives the same bits).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Multipliers {
    /// Of the solve to the half step.
    pub half: Vec<BlockMultipliers>,
    /// Of the solve to the full step.
    pub full: Vec<BlockMultipliers>,
}

/// Positions and velocities of everything at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct State<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Simulated time (s).
    pub time: f64,
    /// Number of steps taken.
    pub step: u64,
    /// Rigid bodies.
    pub bodies: Vec<BodyState<D>>,
    /// Particles of deformable bodies.
    pub particles: ParticleState<D>,
    /// The fluid, if there is one.
    pub fluid: Option<FluidState<D>>,
    /// Start values of the next solves.
    pub multipliers: Multipliers,
    /// Contact impulses of the last step, from which the next one starts.
    pub contact: ContactMemory<D>,
    /// Which rigid bodies sleep, and how long the others have been quiet.
    pub rest: Rest,
    /// Bodies that are not in the scene: fragments of bodies that broke.
    pub newcomers: Newcomers<D>,
    /// Bodies of finite elements.
    pub solids: crate::SolidState,
}

impl<const D: usize> State<D>
where
    Dim<D>: Space<D>,
{
    /// Nothing at time zero.
    pub fn empty() -> Self {
        Self {
            time: 0.0,
            step: 0,
            bodies: Vec::new(),
            particles: ParticleState { position: Vec::new(), velocity: Vec::new() },
            fluid: None,
            multipliers: Multipliers::default(),
            contact: ContactMemory::default(),
            rest: Rest::default(),
            newcomers: Newcomers::default(),
            solids: crate::SolidState::default(),
        }
    }
}
