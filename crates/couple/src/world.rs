//! A model with its state.

use crate::step::advance;
use crate::{Diagnostics, Model, ModelError, State, StepError, StepReport};
use splashdown_deformable::{Particles, Spring};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, BodyState};
use splashdown_solve::CoupledSolver;

/// Memory that the solver keeps from step to step; a copy of a world starts with its own.
#[derive(Default)]
struct Scratch(CoupledSolver);

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for Scratch {
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
    model: Model<D>,
    state: State<D>,
    solids: Option<crate::Solids<D>>,
    scratch: Scratch,
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
            solids: None,
            scratch: Scratch::default(),
        })
    }

    /// Adds a rigid body and returns its index.
    pub fn add_body(&mut self, body: Body<D>, frame: Frame<D>, twist: Twist<D>) -> usize {
        self.state.bodies.push(BodyState::new(&body, frame, &twist));
        self.model.bodies.push(body);
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

    /// Adds bodies of finite elements at `motion`, in place of those it had.
    pub fn set_solids(&mut self, solids: crate::Solids<D>, motion: splashdown_deformable::integrate::Motion) {
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
    pub fn restore(&mut self, state: State<D>) -> bool {
        let fits = state.bodies.len() == self.model.bodies.len()
            && state.particles.position.len() == self.model.particles.len()
            && state.particles.velocity.len() == self.model.particles.len();
        let fits = fits && self.solids.as_mut().is_none_or(|solids| solids.restore(&state.solids));
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
        let (mut state, report) = advance(&self.model, &self.state, dt, &mut self.scratch.0)?;
        if let Some(solids) = &mut self.solids {
            let failed = |reason| StepError::Solids { step: self.state.step, time: self.state.time, reason };
            solids.step(&self.model.bodies, &self.state, &mut state, dt).map_err(failed)?;
        }
        self.state = state;
        Ok(report)
    }

    /// Conserved quantities now.
    pub fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::measure(&self.model, &self.state);
        if let Some(solids) = &self.solids {
            solids.measure(&self.state.solids, &mut diagnostics);
        }
        diagnostics
    }
}
