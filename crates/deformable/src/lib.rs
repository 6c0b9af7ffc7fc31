//! Deformable bodies: particles with lumped masses and the forces between them. Finite elements, springs and bending join through one contract
//! (elastic force, damping, and the damping's factor `C` with `C^T C = -dt D`).
//!
//! What does not live here: the time step (`splashdown-couple`) and meshes (`splashdown-geometry`).

mod altitude;
mod bending;
pub mod collide;
mod compiled;
pub mod contact;
mod edges;
pub mod element;
mod embedded;
mod force;
#[cfg(test)]
mod force_tests;
pub mod incompressible;
pub mod integrate;
mod load;
pub mod material;
mod particles;
mod solid;
mod springs;
pub mod testing;
mod ties;

pub use altitude::{AltitudeSprings, Altitudes};
pub use bending::{Bending, BendingModel, BendingPlasticity, hinge_modes};
pub use edges::{EdgeSpring, EdgeSprings, SpringPlasticity, bending_pairs, hinges};
pub use element::Elements;
pub use embedded::{EmbedError, Embedding};
pub use force::{Force, ForceError};
pub use load::Load;
pub use particles::{ParticleState, Particles};
pub use solid::{Solid, SolidDamping};
pub use springs::{Spring, SpringDamping, SpringError, Springs};
pub use ties::{Tie, Ties};
