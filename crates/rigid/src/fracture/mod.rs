//! Fracture by prescored patterns centred at the point of impact (spec/rigid-bodies.md 3.17).
//!
//! A [`Pattern`] cuts all of space into regions. When a collision impulse exceeds a body's threshold, the pattern is placed at the impact
//! ([`Placement`]) and the body's voxels are [`cut`] along it: each connected part of a region is a fragment with its own distance samples,
//! surface particles and mass properties counted in voxels. [`shatter`] makes bodies of them, which move as the body did and may break again.

mod components;
mod convex;
mod cut;
mod generate;
mod import;
mod noise;
mod pattern;
mod placement;
mod regions;
mod seeds;
mod shatter;
#[cfg(test)]
mod tests;
mod voxels;

pub use cut::{CutOptions, Piece, cut};
pub use generate::{PatternKind, PatternSpec};
pub use noise::Roughness;
pub use pattern::{MOST_REGIONS, Pattern, PatternError, Regions};
pub use placement::Placement;
pub use regions::{Labels, SampledRegions};
pub use seeds::Seeds;
pub use shatter::{
    BreakRule, Breakable, FractureError, Fragment, Hit, PatternMode, PatternSource, prepare, shatter,
    voxel_properties, voxelize,
};
pub use voxels::VoxelSums;
