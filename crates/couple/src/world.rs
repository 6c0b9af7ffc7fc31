//! A model with its state.

use crate::breaking::{Breaking, MOST_BREAKS_A_STEP};
use crate::fluid::{FluidScratch, advance_fluid};
use crate::solids::ElasticLimit;
use crate::step::{Advanced, advance};
use crate::{Broken, Diagnostics, Model, ModelError, State, StepError, StepReport};
use splashdown_deformable::integrate::IntegrationReport;
use splashdown_deformable::{Particles, Spring};
use splashdown_fluid::{FluidModel, FluidState};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, BodyState, ContactSolver, Joint, Kind, Trajectory};
use splashdown_solve::CoupledSolver;
use std::collections::BTreeMap;

/// Memory that the solvers keep from step to step, which never shows in results; a copy of a world starts with its own.
#[derive(Default)]
pub(crate) struct Scratch<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub coupled: CoupledSolver,
    pub contact: ContactSolver<D>,
}

impl<const D: usize> Clone for Scratch<D>
where
    Dim<D>: Space<D>,
{
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<const D: usize> std::fmt::Debug for Scratch<D>
where
    Dim<D>: Space<D>,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

/// Most parts of one step: with more it would not end.
const MOST_PARTS: f64 = 1e6;
/// Halvings of a part that fails before it is given up.
const MOST_HALVINGS: u32 = 6;

/// What a step has done so far.
pub(crate) struct Taken<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The state before the step, once it has been changed.
    before: Option<State<D>>,
    broken: Vec<Broken>,
    /// What the parts that are done took.
    solids: Option<IntegrationReport>,
}

impl<const D: usize> Default for Taken<D>
where
    Dim<D>: Space<D>,
{
    fn default() -> Self {
        Self { before: None, broken: Vec::new(), solids: None }
    }
}

/// A world that can be stepped.
#[derive(Debug, Clone)]
pub struct World<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub(crate) model: Model<D>,
    pub(crate) state: State<D>,
    /// Number of bodies of the scene; all others appeared during the run.
    pub(crate) scene_bodies: usize,
    /// Bodies of the scene whose places newcomers have taken.
    pub(crate) displaced: BTreeMap<u32, Body<D>>,
    /// The joints as the scene has them; those of the model hang on fragments where bodies broke. Empty while none has.
    pub(crate) scene_joints: Vec<Joint<D>>,
    scratch: Scratch<D>,
    fluid: FluidScratch<D>,
    pub(crate) solids: Option<crate::Solids<D>>,
}

impl<const D: usize> World<D>
where
    Dim<D>: Space<D>,
{
    /// A world without bodies under `gravity` (m/s^2).
    #[inline(never)]
    pub fn new(gravity: Vector<D>) -> Result<Self, ModelError> {
        if !gravity.iter().all(|value| value.is_finite()) {
            return Err(ModelError::Gravity);
        }
        Ok(Self::in_space(gravity))
    }

    pub(crate) fn in_space(gravity: Vector<D>) -> Self {
        Self {
            model: Model::new(gravity),
            state: State::empty(),
            scene_bodies: 0,
            displaced: BTreeMap::new(),
            scene_joints: Vec::new(),
            scratch: Scratch::default(),
            fluid: FluidScratch::default(),
            solids: None,
        }
    }

    /// Adds a rigid body and returns its index. The scene is complete before its first body breaks: one that is added later is not part of it and is lost by
    /// [`Self::restore`].
    #[inline(never)]
    pub fn add_body(&mut self, body: Body<D>, frame: Frame<D>, twist: Twist<D>) -> usize {
        splashdown_rigid::fracture::prepare(&body);
        self.state.bodies.push(BodyState::new(&body, frame, &twist));
        self.model.bodies.push(body);
        if self.state.newcomers.is_empty() {
            self.scene_bodies = self.model.bodies.len();
        }
        self.model.bodies.len() - 1
    }

    /// Adds a joint between bodies and returns its index.
    ///
    /// A joint that does not hold where the bodies are is assembled by the first step.
    #[inline(never)]
    pub fn add_joint(&mut self, joint: Joint<D>) -> Result<usize, ModelError> {
        self.model.joints.push(joint.checked(&self.model.bodies)?);
        Ok(self.model.joints.len() - 1)
    }

    /// Lets two rigid bodies pass through each other. `false` if there are no such bodies.
    #[must_use]
    pub fn keep_apart(&mut self, a: usize, b: usize) -> bool {
        let exist = a.max(b) < self.model.bodies.len();
        if exist && a != b {
            self.model.apart.push([a.min(b) as u32, a.max(b) as u32]);
        }
        exist
    }

    /// Prescribes the motion of the kinematic body `body`, and puts it where it is now.
    #[inline(never)]
    pub fn set_trajectory(&mut self, body: usize, trajectory: Trajectory<D>) -> Result<(), ModelError> {
        let kinematic = self.model.bodies.get(body).filter(|b| b.kind == Kind::Kinematic);
        let Some(owner) =
            kinematic.filter(|_| self.model.trajectories.iter().all(|(index, _)| *index != body))
        else {
            return Err(ModelError::NotKinematic { body });
        };
        let trajectory = trajectory
            .checked()
            .map_err(|source| ModelError::Trajectory { name: owner.name.clone(), source })?;
        let time = self.state.time;
        self.state.bodies[body] = BodyState::new(owner, trajectory.frame(time), &trajectory.twist(time));
        self.model.trajectories.push((body, trajectory));
        Ok(())
    }

    /// Adds a deformable body of particles (positions in m, velocities in m/s) joined by springs, and returns its index.
    ///
    /// A pinned particle keeps its velocity whatever pulls on it: zero holds it in place.
    pub fn add_deformable(
        &mut self,
        name: impl Into<String>,
        particles: Particles,
        springs: &[Spring],
        position: &[Vector<D>],
        velocity: &[Vector<D>],
    ) -> Result<usize, ModelError> {
        let name = name.into();
        let count = particles.mass.len();
        if particles.pinned.len() != count || position.len() != count || velocity.len() != count {
            return Err(ModelError::Lengths {
                name,
                positions: position.len(),
                velocities: velocity.len(),
                masses: count,
                pins: particles.pinned.len(),
            });
        }
        self.model.add_deformable(name, particles, springs)?;
        self.state.particles.position.extend(position);
        self.state.particles.velocity.extend(velocity);
        Ok(self.model.deformables.len() - 1)
    }

    /// Adds bodies of finite elements at `motion`, in place of those it had. Rigid bodies come first: static and kinematic ones that are added later are not seen by
    /// particles that no moving body reaches.
    #[inline(never)]
    pub fn set_solids(
        &mut self,
        mut solids: crate::Solids<D>,
        motion: splashdown_deformable::integrate::Motion,
    ) {
        solids.follow_bodies(&self.model, &self.state);
        self.state.solids = solids.state(motion);
        self.solids = Some(solids);
    }

    /// Bodies of finite elements, if there are any.
    pub fn solids(&self) -> Option<&crate::Solids<D>> {
        self.solids.as_ref()
    }

    /// What the world consists of.
    pub fn model(&self) -> &Model<D> {
        &self.model
    }

    /// Numerical options.
    pub fn options_mut(&mut self) -> &mut crate::Options {
        &mut self.model.options
    }

    /// Where everything is now.
    pub fn state(&self) -> &State<D> {
        &self.state
    }

    /// Puts the world into a saved state; `false` (and no change) if it is of another world.
    #[must_use]
    #[inline(never)]
    pub fn restore(&mut self, mut state: State<D>) -> bool {
        let fits = state.particles.position.len() == self.model.particles.len()
            && state.particles.velocity.len() == self.model.particles.len()
            && match (&self.model.fluid, &state.fluid) {
                (Some(model), Some(fluid)) => fluid.fits(model),
                (None, None) => true,
                _ => false,
            }
            && self.put_in_newcomers(&mut state)
            && self.solids.as_mut().is_none_or(|solids| solids.restore(&state.solids));
        if fits {
            self.state = state;
            self.measure_fluid();
        }
        fits
    }

    /// Sets the clock, so that rounding does not pile up over many steps (s).
    pub fn set_time(&mut self, time: f64) {
        self.state.time = time;
        if let Some(fluid) = &mut self.state.fluid {
            fluid.time = time;
        }
    }

    /// Fills the world with a fluid; `state` is made fit to start from.
    #[inline(never)]
    pub fn set_fluid(&mut self, model: FluidModel<D>, mut state: FluidState<D>) -> Result<(), ModelError> {
        self.fluid = FluidScratch::default();
        self.fluid.initialise(&self.model, &self.state, self.solids.as_ref(), &model, &mut state)?;
        self.model.fluid = Some(model);
        self.state.fluid = Some(state);
        Ok(())
    }

    /// Sets how fluid and rigid bodies push each other; `None` for a fluid that does not know of bodies. Before [`Self::set_fluid`].
    pub fn set_coupling(&mut self, coupling: Option<crate::fluid_structure::CouplingOptions>) {
        self.model.coupling = coupling;
    }

    /// Largest step (s) that suits the fluid as it flows now; infinite without one.
    #[inline(never)]
    pub fn fluid_stable_step(&mut self) -> f64 {
        match (&self.model.fluid, &self.state.fluid) {
            (Some(model), Some(state)) => self
                .fluid
                .stable_step(model, state)
                .min(crate::fluid_structure::CouplingStage::stable_step(&self.model, &self.state)),
            _ => f64::INFINITY,
        }
    }

    /// Longest step (s) that solids with explicit elasticity can take at once; longer ones are taken in parts. Infinite without any.
    ///
    /// # Errors
    /// Elements that have no stable step.
    #[inline(never)]
    pub fn longest_stable_step(&mut self) -> Result<f64, StepError> {
        let (step, time) = (self.state.step, self.state.time);
        self.longest_part(&mut None).map_err(|reason| StepError::Solids { step, time, reason })
    }

    /// What was measured of the fluid after the last step, if there is one.
    pub fn fluid_diagnostics(&self) -> Option<&splashdown_fluid::FluidDiagnostics> {
        self.fluid.diagnostics()
    }

    fn measure_fluid(&mut self) {
        if let (Some(model), Some(state)) = (&self.model.fluid, &self.state.fluid) {
            self.fluid.measure(model, state);
        }
    }

    /// Advances by `dt` seconds. On an error the state is the one before the step.
    ///
    /// Solids with explicit elasticity may need shorter steps than `dt`; then the whole world takes them.
    #[inline(never)]
    pub fn step(&mut self, dt: f64) -> Result<StepReport, StepError> {
        let mut taken = Taken::default();
        self.take_step(dt, &mut taken).inspect_err(|_| {
            if let Some(before) = taken.before {
                // It was this world's own a moment ago, so it fits.
                let fits = self.restore(before);
                debug_assert!(fits);
            }
        })
    }

    fn take_step(&mut self, dt: f64, taken: &mut Taken<D>) -> Result<StepReport, StepError> {
        let (step, time) = (self.state.step, self.state.time);
        let failed = |reason: String| StepError::Solids { step, time, reason };
        let mut limit = None;
        let (mut done, mut parts, mut halvings, mut allowed) = (0.0, 0, 0, f64::INFINITY);
        // Of the next part only.
        let mut shorter = f64::INFINITY;
        loop {
            let longest = self.longest_part(&mut limit).map_err(failed)?.min(allowed).min(shorter);
            let left = dt - done;
            // A little more than a whole number of parts is rounding, not one part more.
            let more = (left / longest * (1.0 - 1e-12)).ceil().max(1.0);
            if more > MOST_PARTS {
                return Err(failed(format!(
                    "the elements are stable in steps of {longest:.2e} s only; use an implicit integrator, a softer material or a coarser mesh"
                )));
            }
            // The last part ends at the end to the bit, so that no sliver remains.
            let part = if more > 1.0 { left / more } else { left };
            let (mut state, mut report) = match self.take_solid_part(part, taken) {
                Err(StepError::Solids { .. }) if halvings < MOST_HALVINGS && self.solids.is_some() => {
                    halvings += 1;
                    allowed = 0.5 * part;
                    self.restore_solids();
                    continue;
                }
                other => *other?,
            };
            if let Some(solids) = &mut self.solids {
                if solids.outran(&state.solids, part).map_err(failed)? {
                    shorter = 0.5 * part;
                    self.restore_solids();
                    continue;
                }
                shorter = f64::INFINITY;
            }
            parts += 1;
            if let Some(own) = &mut report.solids {
                // What the parts before took, too.
                let mut sum = taken.solids.take().unwrap_or_default();
                sum.add_part(own);
                *own = sum;
            }
            // VI.
            if let Some((fluid, solves)) = advance_fluid(&self.model, &self.state, part, &mut self.fluid)? {
                state.fluid = Some(fluid);
                report.solves.extend(solves);
            }
            if more > 1.0 {
                done += part;
                taken.solids = report.solids;
                let before = std::mem::replace(&mut self.state, state);
                taken.before.get_or_insert(before);
                continue;
            }
            (state.step, state.time) = (step + 1, time + dt);
            self.state = state;
            return Ok(StepReport { dt, parts, broken: std::mem::take(&mut taken.broken), ..report });
        }
    }

    /// Rigid bodies and solids `dt` seconds on: stages I to V, and after them what follows rigid bodies without pushing back on them.
    pub(crate) fn take_solid_part(
        &mut self,
        dt: f64,
        taken: &mut Taken<D>,
    ) -> Result<Box<(State<D>, StepReport)>, StepError> {
        let mut done = self.take_part(dt, taken)?;
        if let Some(solids) = self.solids.as_mut().filter(|solids| !solids.takes_part()) {
            let (state, report) = &mut *done;
            let followed = solids.follow(&self.model.bodies, &self.state, state, dt);
            let (step, time) = (self.state.step, self.state.time);
            report.solids = Some(followed.map_err(|reason| StepError::Solids { step, time, reason })?);
        }
        Ok(done)
    }

    /// The state `dt` seconds on, with all that breaks on the way broken.
    fn take_part(&mut self, dt: f64, taken: &mut Taken<D>) -> Result<Box<(State<D>, StepReport)>, StepError> {
        let mut breaking = Breaking::default();
        loop {
            match advance(
                &self.model,
                &self.state,
                dt,
                &breaking,
                &mut self.solids,
                &mut self.scratch,
                &mut self.fluid,
            )? {
                Advanced::To(done) => return Ok(done),
                Advanced::Broken(hits) => {
                    taken.before.get_or_insert_with(|| self.state.clone());
                    let count = taken.broken.len();
                    let rounds = self.break_bodies(&hits, &mut breaking, &mut taken.broken)?;
                    breaking.done = rounds >= MOST_BREAKS_A_STEP || taken.broken.len() == count;
                }
            }
        }
    }

    /// Longest step (s) that the solids can take now; `known` is the limit of their elasticity at the start of the step.
    fn longest_part(&mut self, known: &mut Option<ElasticLimit>) -> Result<f64, String> {
        match &mut self.solids {
            Some(solids) => solids.longest_part(&self.state.solids, known),
            None => Ok(f64::INFINITY),
        }
    }

    /// What solids remember is that of the state again.
    pub(crate) fn restore_solids(&mut self) {
        if let Some(solids) = &mut self.solids {
            let fits = solids.restore(&self.state.solids);
            debug_assert!(fits);
        }
    }

    /// Conserved quantities now.
    #[inline(never)]
    pub fn diagnostics(&self) -> Diagnostics {
        let fluid = self.fluid.diagnostics().cloned();
        let mut diagnostics = Diagnostics { fluid, ..Diagnostics::measure(&self.model, &self.state) };
        if let Some(solids) = &self.solids {
            solids.measure(&self.state.solids, &mut diagnostics);
        }
        diagnostics
    }
}
