//! What the fluid cases share: boxes, runs, errors.

use crate::CaseError;
use splashdown_fluid::{Domain, FluidError, FluidModel, FluidState, FluidStepper, Side};
use splashdown_geometry::grid::Grid;
use splashdown_math::{Dim, Space, Vector};

/// Turns an error of the fluid into one of the case.
pub(in super::super) fn failed(error: impl std::fmt::Display) -> CaseError {
    CaseError::new("simulating a fluid", error)
}

/// A box of `cells` cells of edge `h` (m) with its lower corner at the origin.
pub(in super::super) fn domain<const D: usize>(
    cells: [usize; D],
    h: f64,
    sides: [[Side<D>; 2]; D],
) -> Result<Domain<D>, CaseError> {
    let grid = Grid::new(Vector::zeros(), Vector::repeat(h), cells).map_err(failed)?;
    Domain::new(grid, sides).map_err(failed)
}

/// A fluid with its state.
pub(super) struct Run<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub model: FluidModel<D>,
    pub state: FluidState<D>,
    pub stepper: FluidStepper<D>,
}

impl<const D: usize> Run<D>
where
    Dim<D>: Space<D>,
{
    /// Starts from what `prepare` makes of the fluid at rest.
    pub fn new(
        model: FluidModel<D>,
        prepare: impl FnOnce(&FluidModel<D>, &mut FluidState<D>) -> Result<(), FluidError>,
    ) -> Result<Self, CaseError> {
        let mut state = FluidState::at_rest(&model);
        prepare(&model, &mut state).map_err(failed)?;
        let mut stepper = FluidStepper::new(&model).map_err(failed)?;
        stepper.initialise(&model, &mut state).map_err(failed)?;
        Ok(Self { model, state, stepper })
    }

    /// One step of `dt` seconds.
    pub fn step(&mut self, dt: f64) -> Result<splashdown_fluid::FluidReport, CaseError> {
        self.stepper.step(&self.model, &mut self.state, dt, None).map_err(failed)
    }

    /// Steps as long as is stable, up to `end` (s), exactly.
    pub fn until(&mut self, end: f64) -> Result<(), CaseError> {
        while self.state.time < end * (1.0 - 1e-12) {
            let left = end - self.state.time;
            let stable = self.stepper.stable_step(&self.model, &self.state);
            let dt = if stable >= left {
                left
            } else if 2.0 * stable > left {
                0.5 * left
            } else {
                stable
            };
            self.step(dt)?;
        }
        Ok(())
    }

    pub fn diagnostics(&mut self) -> splashdown_fluid::FluidDiagnostics {
        self.stepper.diagnostics(&self.model, &self.state)
    }
}
