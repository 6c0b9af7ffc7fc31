//! The one time step that moves everything together: the model of a world, its state, and the stepper that advances it through the coupled solve.
//!
//! What does not live here: forces and bodies themselves (`rigid`, `deformable`) and the solver (`solve`); this crate only composes them.
//!
//! ```
//! use splashdown_couple::World;
//! use splashdown_math::{Frame, Twist, Vector};
//! use splashdown_rigid::{Body, Kind};
//!
//! let mut world = World::<3>::new(Vector::from([0.0, -9.81, 0.0]))?;
//! let ball = Body::new("ball", Kind::Dynamic, 1.0, &[0.4, 0.4, 0.4])?;
//! world.add_body(ball, Frame::identity(), Twist { linear: Vector::from([1.0, 5.0, 0.0]), angular: Vector::zeros() });
//! for _ in 0..100 {
//!     world.step(0.01)?;
//! }
//! let ball = world.state().bodies[0];
//! assert!((ball.frame.position - Vector::from([1.0, 5.0 - 0.5 * 9.81, 0.0])).norm() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alone;
mod articulation;
mod breaking;
mod clock;
mod compiled;
mod diagnostics;
mod fluid;
pub mod fluid_structure;
mod generalized;
mod hold;
mod model;
mod newcomers;
mod pace;
mod sleep;
mod soft_contact;
mod solid_links;
mod solids;
mod solve;
mod stage_totals;
mod stages;
mod state;
mod step;
mod world;

pub use alone::step_alone;
pub use articulation::JointReport;
pub use clock::{Clock, ClockError, StepPolicy};
pub use diagnostics::{Diagnostics, ElementDiagnostics, JointDiagnostics};
pub use model::{Deformable, Formulation, JointOptions, Model, ModelError, Options};
pub use newcomers::{Newcomer, Newcomers};
pub use solid_links::{Binding, DampingKeeps};
pub use solids::{Release, ScheduledLoad, SolidBody, SolidElement, SolidState, Solids};
pub use solve::{BlockReport, SolveReport};
pub use stage_totals::{StageTotals, Tag};
pub use stages::{Stage, stage, take_stage_seconds};
pub use state::{BlockMultipliers, Multipliers, State};
pub use step::{Broken, StepError, StepReport};
pub use world::World;
