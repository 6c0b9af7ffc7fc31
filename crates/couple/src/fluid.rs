//! The fluid of a world: stage VI of the step, after the solids have reached the end of it.
//!
//! Where rigid bodies reach into the fluid, both are solved for together within the solids' stages (`fluid_structure`), and here their result is only taken over.

use crate::fluid_structure::{
    CouplingReport, CouplingStage, HeldRow, SoftParticles, Weights, moved_too_far, sheets_of,
};
use crate::{BlockReport, Model, Solids, SolveReport, State, StepError};
use splashdown_fluid::{FluidDiagnostics, FluidError, FluidModel, FluidState, FluidStepper};
use splashdown_math::{Dim, Frame, Space};
use splashdown_rigid::Motion;

/// What the fluid keeps from step to step besides its state; a copy of a world starts with its own.
pub(crate) struct FluidScratch<const D: usize>
where
    Dim<D>: Space<D>,
{
    stepper: Option<FluidStepper<D>>,
    diagnostics: Option<FluidDiagnostics>,
    coupling: CouplingStage<D>,
    /// The fluid at the end of the step, where it was solved for together with solids.
    coupled: Option<FluidState<D>>,
}

impl<const D: usize> Default for FluidScratch<D>
where
    Dim<D>: Space<D>,
{
    fn default() -> Self {
        Self { stepper: None, diagnostics: None, coupling: CouplingStage::default(), coupled: None }
    }
}

impl<const D: usize> Clone for FluidScratch<D>
where
    Dim<D>: Space<D>,
{
    fn clone(&self) -> Self {
        Self { diagnostics: self.diagnostics.clone(), ..Self::default() }
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

    /// Makes a state fit to start from, around the bodies of `world` at `state`.
    pub fn initialise(
        &mut self,
        world: &Model<D>,
        bodies: &State<D>,
        solids: Option<&Solids<D>>,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
    ) -> Result<(), FluidError> {
        if world.coupling.is_some() {
            let guests = self.coupling.guests(model, &world.bodies, |index| bodies.bodies[index].frame);
            let position = &bodies.solids.motion.position;
            let sheets =
                solids.map_or_else(Vec::new, |solids| sheets_of(model, solids, position, position).0);
            // Bodies that can move are no walls to the flow at the start: it is as given until the first solve. What they displace is not there.
            let fixed = |index: &usize| !world.bodies[*index].is_dynamic();
            let walls = guests.iter().zip(self.coupling.bodies()).filter(|(_, index)| fixed(index));
            let walls: Vec<_> = walls.map(|(guest, _)| guest.clone()).collect();
            let any_dynamic = walls.len() < guests.len();
            let stepper = self.stepper(model)?;
            stepper.set_sheets(sheets);
            if any_dynamic {
                let mut flow = state.clone();
                stepper.set_guests(walls);
                stepper.initialise(model, &mut flow)?;
                stepper.set_guests(guests);
                stepper.initialise(model, state)?;
                state.velocity = flow.velocity;
            } else {
                stepper.set_guests(guests);
                stepper.initialise(model, state)?;
            }
        } else {
            self.stepper(model)?.initialise(model, state)?;
        }
        // Soft bodies are no walls to the flow at the start: where they are, it is theirs from the first step on. They only take room.
        let soft = solids.filter(|solids| world.coupling.is_some() && solids.takes_part());
        if let (Some(solids), Self { stepper: Some(stepper), coupling, .. }) = (soft, &mut *self) {
            let guests = coupling.guests(model, &world.bodies, |index| bodies.bodies[index].frame);
            let position = &bodies.solids.motion.position[..];
            let soft = SoftParticles { solids, position, velocity: &mut [], resistance: None };
            coupling.place(stepper, model, guests, position, Some(&soft), Weights::default());
            stepper.look_around(model, state)?;
        }
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

/// The coupled solves within the solids' stages; each does nothing where no body reaches into a fluid.
impl<const D: usize> FluidScratch<D>
where
    Dim<D>: Space<D>,
{
    /// I: rigid bodies to the half step, together with the fluid.
    pub fn couple_half(
        &mut self,
        model: &Model<D>,
        state: &State<D>,
        dt: f64,
        motions: &mut [Motion<D>],
        soft: Option<SoftParticles<D>>,
    ) -> Result<(), StepError> {
        self.coupled = None;
        self.coupling.reports.clear();
        let active = CouplingStage::is_active(model, state, soft.is_some());
        let Some(fluid) = model.fluid.as_ref().filter(|_| active) else {
            return Ok(());
        };
        self.stepper(fluid).map_err(failed(state))?;
        let _timed = crate::stage("fluid with bodies");
        let Self { stepper: Some(stepper), coupling, .. } = self else { return Ok(()) };
        coupling.half(stepper, model, state, dt, motions, soft).map_err(failed(state))
    }

    /// V: rigid bodies and fluid to the full step.
    pub fn couple_full(
        &mut self,
        model: &Model<D>,
        state: &State<D>,
        frames: &[Frame<D>],
        dt: f64,
        motions: &mut [Motion<D>],
        soft: Option<SoftParticles<D>>,
    ) -> Result<(), StepError> {
        let active = CouplingStage::is_active(model, state, soft.is_some());
        let Some(fluid) = model.fluid.as_ref().filter(|_| active) else {
            return Ok(());
        };
        if let Some(soft) = &soft
            && let Some(cells) = moved_too_far(fluid, soft, &state.solids.motion.position)
        {
            let reason = format!("a sheet in the fluid moves {cells:.2} cells in a step");
            return Err(StepError::Solids { step: state.step, time: state.time, reason });
        }
        self.stepper(fluid).map_err(failed(state))?;
        let _timed = crate::stage("fluid with bodies");
        let Self { stepper: Some(stepper), coupling, .. } = self else { return Ok(()) };
        coupling.full(stepper, model, state, frames, dt, motions, soft).map_err(failed(state))
    }

    /// Were the velocities of soft bodies to the half step solved for together with the fluid?
    pub fn has_soft(&self) -> bool {
        self.coupling.is_solved() && self.coupling.any_soft()
    }

    /// Will [`Self::couple_finish`] have something to do?
    pub fn is_pending(&self) -> bool {
        self.coupling.is_pending()
    }

    /// Will that hold soft bodies, too?
    pub fn takes_soft(&self) -> bool {
        self.coupling.takes_soft()
    }

    /// V, after joints and contact: the fluid and what became of the bodies, with what joints and contact demand of them (`held`).
    #[expect(clippy::too_many_arguments, reason = "what the stage of the step knows")]
    pub fn couple_finish(
        &mut self,
        model: &Model<D>,
        state: &State<D>,
        frames: &[Frame<D>],
        dt: f64,
        motions: &mut [Motion<D>],
        soft: &mut [f64],
        held: &[HeldRow<D>],
    ) -> Result<(), StepError> {
        let _timed = crate::stage("fluid with bodies");
        let Self { stepper: Some(stepper), coupling, coupled, .. } = self else { return Ok(()) };
        *coupled = coupling.finish(stepper, model, frames, dt, motions, soft, held).map_err(failed(state))?;
        Ok(())
    }
}

fn failed<const D: usize>(state: &State<D>) -> impl Fn(FluidError) -> StepError
where
    Dim<D>: Space<D>,
{
    let (step, time) = (state.step, state.time);
    move |error| StepError::Solve { step, time, stage: "fluid", reason: error.to_string() }
}

/// VI: the fluid `dt` seconds after `state`, and what its solves did; `None` in a world without fluid.
pub(crate) fn advance_fluid<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    dt: f64,
    scratch: &mut FluidScratch<D>,
) -> Result<Option<(FluidState<D>, Vec<SolveReport>)>, StepError>
where
    Dim<D>: Space<D>,
{
    let (Some(fluid), Some(now)) = (&model.fluid, &state.fluid) else { return Ok(None) };
    let _timed = crate::stage("fluid: other");
    let block = |name: &str, rows: usize, relative_residual: f64, iterations: usize| BlockReport {
        name: name.into(),
        rows,
        relative_residual,
        iterations,
    };
    if let Some(next) = scratch.coupled.take() {
        scratch.measure(fluid, &next);
        if let (Some(momentum), Some(found)) = (scratch.coupling.momentum, &mut scratch.diagnostics) {
            found.momentum = momentum.iter().copied().collect();
        }
        let solve = |(stage, report): &(&str, CouplingReport)| SolveReport {
            stage: (*stage).into(),
            iterations: report.iterations,
            relative_residual: report.relative_residual,
            blocks: {
                let mut blocks =
                    vec![block("pressure", report.unknowns, report.relative_residual, report.iterations)];
                if report.velocities > 0 {
                    blocks.push(block("velocity", report.velocities, 0.0, report.inner_iterations));
                }
                blocks.push(block("coupling faces", report.faces, 0.0, 0));
                if report.demands > 0 {
                    blocks.push(block("contact and joints", report.demands, 0.0, 0));
                }
                blocks
            },
            coupling: Some(*report),
        };
        return Ok(Some((next, scratch.coupling.reports.iter().map(solve).collect())));
    }
    let mut next = now.clone();
    let stepper = scratch.stepper(fluid).map_err(failed(state))?;
    stepper.set_guests(Vec::new());
    stepper.set_sheets(Vec::new());
    let report = stepper.step(fluid, &mut next, dt, None).map_err(failed(state))?;
    crate::stages::add_stages("fluid", stepper.stage_seconds());
    scratch.measure(fluid, &next);
    let mut iterations = report.pressure.iterations;
    let mut blocks =
        vec![block("pressure", report.pressure.unknowns, report.pressure.relative_residual, iterations)];
    if let Some(viscosity) = report.viscosity {
        let (unknowns, own) = (viscosity.unknowns, viscosity.iterations);
        blocks.push(block("viscosity", unknowns, viscosity.relative_residual, own));
        iterations += viscosity.iterations;
    }
    let relative_residual = report.pressure.relative_residual;
    Ok(Some((
        next,
        vec![SolveReport { stage: "fluid".into(), iterations, relative_residual, blocks, coupling: None }],
    )))
}
