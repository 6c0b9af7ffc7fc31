//! Incompressible fluids on uniform staggered (MAC) grids in the plane and in space: smoke and water, one liquid or many, around obstacles and thin shells.
//!
//! The method is that of spec/fluid-base.md: operator splitting into transport, forces, viscosity and pressure, with pressure and viscosity also given
//! as blocks of rows so that solids can join the same solve. What does not live here: solids that the fluid pushes (`couple` joins them), grids and level sets
//! themselves (`geometry`), and linear solvers (`solve`).

pub mod advect;
mod cells;
mod compiled;
mod diagnostics;
mod domain;
mod error;
mod extend;
pub mod forces;
mod guest;
mod model;
mod momentum;
mod obstacle;
pub mod pressure;
pub mod shell;
mod state;
mod step;
pub mod surface;
pub mod viscosity;
mod walls;
mod wetting;

pub use cells::{CellKind, Cells, classify};
pub use diagnostics::{FluidDiagnostics, FluidRegion};
pub use domain::{Domain, DomainError, Patch, Side};
pub use error::FluidError;
pub use guest::{Form, Guest};
pub use model::{
    ApicOptions, FluidModel, FluidOptions, LevelSetTransport, Liquid, PairTension, ParticleOptions,
    Redistancing, SmokeModel, Source, SourceKind, SurfaceOptions, TimeScheme,
};
pub use momentum::FaceMasses;
pub use obstacle::{Motion, Obstacle, Placement};
pub use state::{FluidState, LiquidState, SmokeState};
pub use step::{FluidReport, FluidStepper};
pub use walls::{SolidBoundary, Walls};
pub use wetting::Wetting;
