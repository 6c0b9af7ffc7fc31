//! The fluid of a world: stage VI of the step, after the solids have reached the end of it.
//!
//! The solids push the fluid (its obstacles move as told); that the fluid pushes back comes with the coupled solve.

use crate::{BlockReport, Model, SolveReport, State, StepError};
use splashdown_fluid::{FluidDiagnostics, FluidError, FluidModel, FluidState, FluidStepper};
use splashdown_math::{Dim, Space};

/// What the fluid keeps from step to step besides its state; a copy of a world starts with its own.
pub(crate) struct FluidScratch<const D: usize>
where
    Dim<D>: Space<D>,
{
    stepper: Option<FluidStepper<D>>,
    diagnostics: Option<FluidDiagnostics>,
}

impl<const D: usize> Default for FluidScratch<D>
where
    Dim<D>: Space<D>,
{
    fn default() -> Self {
        Self { stepper: None, diagnostics: None }
    }
}

impl<const D: usize> Clone for FluidScratch<D>
where
    Dim<D>: Space<D>,
{
    fn clone(&self) -> Self {
        Self { stepper: None, diagnostics: self.diagnostics.clone() }
    }
}

impl<const D: usize> std::fmt::Debug for FluidScratch<D>
where
    Dim<D>: Space<D>,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FluidScratch")
    }
}

impl<const D: usize> FluidScratch<D>
where
    Dim<D>: Space<D>,
{
    fn stepper(&mut self, model: &FluidModel<D>) -> Result<&mut FluidStepper<D>, FluidError> {
        match &mut self.stepper {
            Some(stepper) => Ok(stepper),
            empty => Ok(empty.insert(FluidStepper::new(model)?)),
        }
    }

    /// Makes a state fit to start from.
    pub fn initialise(&mut self, model: &FluidModel<D>, state: &mut FluidState<D>) -> Result<(), FluidError> {
        self.stepper(model)?.initialise(model, state)?;
        self.measure(model, state);
        Ok(())
    }

    /// Measures the quantities that are logged.
    pub fn measure(&mut self, model: &FluidModel<D>, state: &FluidState<D>) {
        self.diagnostics = self.stepper(model).ok().map(|stepper| stepper.diagnostics(model, state));
    }

    pub fn diagnostics(&self) -> Option<&FluidDiagnostics> {
        self.diagnostics.as_ref()
    }

    /// Largest step (s) that suits the fluid as it flows now.
    pub fn stable_step(&mut self, model: &FluidModel<D>, state: &FluidState<D>) -> f64 {
        self.stepper(model).map_or(f64::INFINITY, |stepper| stepper.stable_step(model, state))
    }
}

/// VI: the fluid `dt` seconds after `state`, and what its solves did; `None` in a world without fluid.
pub(crate) fn advance_fluid<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    dt: f64,
    scratch: &mut FluidScratch<D>,
) -> Result<Option<(FluidState<D>, SolveReport)>, StepError>
where
    Dim<D>: Space<D>,
{
    let (Some(fluid), Some(now)) = (&model.fluid, &state.fluid) else { return Ok(None) };
    let failed = |error: FluidError| StepError::Solve {
        step: state.step,
        time: state.time,
        stage: "fluid",
        reason: error.to_string(),
    };
    let _timed = crate::stage("fluid: other");
    let mut next = now.clone();
    let stepper = scratch.stepper(fluid).map_err(failed)?;
    let report = stepper.step(fluid, &mut next, dt, None).map_err(failed)?;
    crate::stages::add_stages("fluid", stepper.stage_seconds());
    scratch.measure(fluid, &next);
    let block = |name: &str, rows: usize, relative_residual: f64| BlockReport {
        name: name.into(),
        rows,
        relative_residual,
    };
    let mut blocks = vec![block("pressure", report.pressure.unknowns, report.pressure.relative_residual)];
    let mut iterations = report.pressure.iterations;
    if let Some(viscosity) = report.viscosity {
        blocks.push(block("viscosity", viscosity.unknowns, viscosity.relative_residual));
        iterations += viscosity.iterations;
    }
    let relative_residual = report.pressure.relative_residual;
    Ok(Some((next, SolveReport { stage: "fluid".into(), iterations, relative_residual, blocks })))
}
