//! Surfaces of liquids: level sets, the particles that keep them sharp, and the velocity around them (spec/fluid-base.md 3.9 to 3.11, 3.13, 3.15).

mod apic;
mod curvature;
mod level_set;
mod liquids;
mod markers;
mod periodic;
mod pinholes;
mod removed;
#[cfg(test)]
mod tests;
mod velocity;

pub use apic::{Affine, ApicParticles, Transfer, gather};
pub use curvature::{curvature, tension_pressures};
pub(crate) use level_set::carry_off_walls;
pub(crate) use level_set::{BAND, correct_volume, for_each_wet, outflow};
pub use level_set::{carry, evolve, extend_into_solids, reinitialise, volume, volume_of};
pub use liquids::{face_density, liquid_at, separate, surface_of, viscosity_at};
pub use markers::{MarkerSet, Markers};
pub use pinholes::fill_pinholes;
pub use removed::{Flying, Removed};
pub use velocity::extrapolate_velocity;
