//! Rigid bodies: what they are (mass, inertia, shape), their state with angular momentum as the primary quantity, free and
//! prescribed motion, and the joints between bodies.
//!
//! What does not live here: the time step that moves everything together (`splashdown-couple`) and the shapes themselves
//! (`splashdown-geometry`).

mod body;
pub mod collide;
mod compiled;
pub mod contact;
mod energy_fix;
pub mod fracture;
mod geometry;
pub mod joint;
mod load;
mod material;
mod motion;
mod orientation;
mod trajectory;

pub use body::{Body, BodyError, BodyState, Immersion, Kind};
pub use contact::{
    Clamped, ContactMemory, ContactMethod, ContactOptions, ContactReport, ContactSolver, ContactStage,
    Probes, PushOut, Rest, Sleeping, wake_moved,
};
pub use energy_fix::{EnergyFix, Restored, restore_energy};
pub use geometry::{DEFAULT_CELLS, Geometry, GeometryError, Hull, HullFace, MassProperties, Solid};
pub use joint::{Freedom, Joint, JointError, JointKind};
pub use load::Load;
pub use material::Material;
pub use motion::Motion;

pub use orientation::{OrientationOrder, rotation_vector};
pub use trajectory::{Keyframe, Trajectory, TrajectoryError};
