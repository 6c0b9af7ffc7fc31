//! Deformable bodies: particles with lumped masses and the forces between them. So far springs; finite elements join through the same contract
//! (elastic force, damping, and the damping's factor `C` with `C^T C = -dt D`).
//!
//! What does not live here: the time step (`splashdown-couple`) and meshes (`splashdown-geometry`).

mod particles;
mod springs;

pub use particles::{ParticleState, Particles};
pub use springs::{Spring, SpringDamping, SpringError, Springs};
