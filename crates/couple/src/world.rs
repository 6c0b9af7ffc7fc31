//! A model with its state.

use crate::step::advance;
use crate::{Diagnostics, Model, ModelError, State, StepError, StepReport};
use splashdown_deformable::{Particles, Spring};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, BodyState, ContactSolver};
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
    scratch: Scratch<D>,
}

impl<const D: usize> World<D>
where
    Dim<D>: Space<D>,
{
    /// A world without bodies under `gravity` (m/s^2).
    pub fn new(gravity: Vector<D>) -> Result<Self, ModelError> {
        if !gravity.iter().all(|value| value.is_finite()) {
            return Err(ModelError::Gravity);
        }
        Ok(Self {
            model: Model::new(gravity),
            state: State::empty(),
            scene_bodies: 0,
            displaced: BTreeMap::new(),
            scratch: Scratch::default(),
        })
    }

    /// Adds a rigid body and returns its index. The scene is complete before its first body breaks: one that is added later is not part of it and is lost by
    /// [`Self::restore`].
    pub fn add_body(&mut self, body: Body<D>, frame: Frame<D>, twist: Twist<D>) -> usize {
        self.state.bodies.push(BodyState::new(&body, frame, &twist));
        self.model.bodies.push(body);
        if self.state.newcomers.is_empty() {
            self.scene_bodies = self.model.bodies.len();
        }
        self.model.bodies.len() - 1
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
    pub fn restore(&mut self, mut state: State<D>) -> bool {
        let fits = state.particles.position.len() == self.model.particles.len()
            && state.particles.velocity.len() == self.model.particles.len()
            && self.put_in_newcomers(&mut state);
        if fits {
            self.state = state;
        }
        fits
    }

    /// Sets the clock, so that rounding does not pile up over many steps (s).
    pub fn set_time(&mut self, time: f64) {
        self.state.time = time;
    }

    /// Advances by `dt` seconds. On an error the state is the one before the step.
    pub fn step(&mut self, dt: f64) -> Result<StepReport, StepError> {
        let (state, report) = advance(&self.model, &self.state, dt, &mut self.scratch)?;
        self.state = state;
        Ok(report)
    }

    /// Conserved quantities now.
    pub fn diagnostics(&self) -> Diagnostics {
        Diagnostics::measure(&self.model, &self.state)
    }
}
