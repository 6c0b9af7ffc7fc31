//! Rigid bodies: what they are (mass, inertia, shape), their state with angular momentum as the primary quantity, and free motion.
//!
//! What does not live here: the time step that moves everything together (`splashdown-couple`) and the shapes themselves
//! (`splashdown-geometry`).

mod body;
pub mod collide;
pub mod contact;
mod energy_fix;
mod geometry;
mod material;
mod motion;
mod orientation;

pub use body::{Body, BodyError, BodyState, Kind};
pub use contact::{
    ContactMemory, ContactMethod, ContactOptions, ContactReport, ContactSolver, ContactStage, PushOut,
};
pub use energy_fix::{EnergyFix, restore_energy};
pub use geometry::{DEFAULT_CELLS, Geometry, GeometryError, Hull, HullFace, MassProperties, Solid};
pub use material::Material;
pub use motion::Motion;
pub use orientation::{OrientationOrder, rotation_vector};
