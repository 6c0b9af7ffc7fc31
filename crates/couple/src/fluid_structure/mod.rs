//! Fluid and solids in one implicit solve (spec/fluid-structure.md).
//!
//! Solids in the fluid are its [`Guest`](splashdown_fluid::Guest)s. Where one of them lies between the centres of two cells, at least one of which holds fluid, the face
//! between them is a *coupling face*: the fluid there has the solid's velocity, `u = J v`. With that put in, the unknowns are the velocities of the free
//! faces and of the solids, on which the fluid of the coupling faces is lumped, and the implicit step is the minimisation of kinetic energy and
//! viscous dissipation under incompressibility. It never adds energy, conserves momentum and is stable for every ratio of densities.
//!
//! | symbol | what | where |
//! |---|---|---|
//! | `W`, `J` | coupling faces, velocity of a solid there | `interface` |
//! | `beta`, `M` | masses of faces, and of solids with the lumped fluid | `interface`, `mass` |
//! | `G`, `G_mu` | volume-weighted divergence and factored viscosity over all faces | `operators` |
//! | solve without viscosity | Poisson problem plus rank 6 for each body | `splashdown_fluid::pressure::MovableWalls` |
//! | `H` | what contact and joints demand of the solids | `held` |
//! | solve with viscosity | pressure Schur complement of the same system | `viscous` |
//!
//! Soft bodies of triangles in the plane or tetrahedra in space take part through their particles: `J` has the barycentric weights of the point where the line between two
//! centres meets their surface, or those of all of the surface in the dual cell by area ([`Weights`]), and the fluid is lumped on the particles axis by axis (spec 3.2, 3.4.4). Sheets (segments in the plane,
//! triangles in space) have fluid on both sides, which sees and carries nothing through them (`splashdown_fluid::shell`); a face that they close pushes them from both.
//!
//! The forms that keep the coupling impulses or the velocities of the solids as unknowns, positive definite or indefinite, are in `forms`: references, and a way out.

mod driver;
mod facets;
mod forms;
mod held;
mod interface;
mod mass;
mod operators;
mod resistance;
mod soft;
mod stage;
mod viscous;

pub use driver::{CouplingReport, Immersed, solve_coupled};
pub use forms::{CoupledParts, CoupledSolution, CouplingForm, Formed, form_system};
pub(crate) use held::{End, HeldMass, HeldRow, Links};
pub use interface::{CouplingFace, coupling_faces};
pub use mass::SolidMass;
pub use operators::{Operators, Viscous};
pub(crate) use resistance::{Resistance, SolidMobility};
pub use soft::MOST_RINGS;
pub(crate) use soft::{SoftParticles, moved_too_far, sheets_of};
pub(crate) use stage::CouplingStage;

use serde::{Deserialize, Serialize};

/// How much fluid moves with a coupling face (spec/fluid-structure.md 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaceMass {
    /// What of the face's dual cell is outside the solid: a body displaces its own volume.
    #[default]
    Fraction,
    /// The whole dual cell, as in the published tables: a body loses the buoyancy of one cell a column.
    Full,
}

/// Where viscous fluid sticks to a solid (spec/fluid-structure.md 3.4.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tangential {
    /// On the faces inside the solid next to the fluid; walls of the domain half a cell from the first face.
    #[default]
    SolidSide,
    /// On all faces of the cells next to a solid or wall, as in the published tables: half a cell inside the fluid.
    FluidSide,
}

/// Which particles of a soft body or sheet move a coupling face (spec/fluid-structure.md 3.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// Those of the facet that the line between the centres of its cells meets: keeps angular momentum.
    #[default]
    Ray,
    /// Those of all facets in its dual cell, by how much of them is in it, as in the source: smoother where edges are much shorter than cells.
    Area,
}

/// Choices of the coupling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouplingOptions {
    /// How much fluid moves with a coupling face.
    pub mass: FaceMass,
    /// Where viscous fluid sticks.
    pub tangential: Tangential,
    /// Which particles of a soft body or sheet move a face.
    pub weights: Weights,
    /// Which linear system is solved.
    pub form: CouplingForm,
    /// Are viscosity and pressure one solve also where no solid reaches into the fluid (spec/fluid-structure.md FS-29)?
    pub without_solids: bool,
    /// Stokes flow: one solve a step, in which bodies get velocities but stay where they are (spec/fluid-structure.md 3.11). Goes with a fluid without transport.
    pub stokes: bool,
}
