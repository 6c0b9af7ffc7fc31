//! Bodies that sleep through a step.

use crate::{Model, State};
use splashdown_math::{Dim, Frame, Space};
use splashdown_rigid::{ContactMemory, ContactSolver, Motion, Rest, wake_moved};

/// Who sleeps in one step.
///
/// Sleepers keep their places and stand still; contact does not look at them unless something that is awake comes near.
pub(crate) struct Sleep {
    /// For each body; empty if none does.
    pub asleep: Vec<bool>,
    /// May bodies sleep in this world?
    allowed: bool,
}

impl Sleep {
    /// Those that slept at the end of the last step, unless what they lie on moves now. Nothing sleeps in a world with fluids or deformable bodies, whose
    /// forces act without a touch.
    pub fn begin<const D: usize>(model: &Model<D>, state: &State<D>, alone: bool) -> Self
    where
        Dim<D>: Space<D>,
    {
        let allowed = model.options.contact.sleeping.enabled
            && alone
            && model.fluid.is_none()
            && model.particles.is_empty();
        let mut asleep = if allowed { state.rest.sleepers(model.bodies.len()) } else { Vec::new() };
        if !asleep.is_empty() {
            let motions: Vec<Motion<D>> = state.bodies.iter().map(Motion::of).collect();
            wake_moved(&model.bodies, &motions, &state.contact, &mut asleep);
        }
        Self { asleep, allowed }
    }

    /// Does anything sleep?
    pub fn any(&self) -> bool {
        self.asleep.contains(&true)
    }

    /// Sleepers stand still.
    pub fn still<const D: usize>(&self, motions: &mut [Motion<D>])
    where
        Dim<D>: Space<D>,
    {
        for (motion, _) in motions.iter_mut().zip(&self.asleep).filter(|(_, asleep)| **asleep) {
            *motion = Motion::zero();
        }
    }

    /// Sleepers stay where they were.
    pub fn hold<const D: usize>(&self, state: &State<D>, frames: &mut [Frame<D>])
    where
        Dim<D>: Space<D>,
    {
        for ((frame, body), _) in frames.iter_mut().zip(&state.bodies).zip(&self.asleep).filter(|(_, a)| **a)
        {
            *frame = body.frame;
        }
    }

    /// Wakes what is touched; then the step begins anew.
    pub fn wake_touched<const D: usize>(
        &mut self,
        contact: &ContactSolver<D>,
        memory: &ContactMemory<D>,
    ) -> bool
    where
        Dim<D>: Space<D>,
    {
        contact.wake_touched(memory, &mut self.asleep)
    }

    /// Who rests after the step from `before` to `next`.
    pub fn rest_after<const D: usize>(
        &self,
        model: &Model<D>,
        before: &State<D>,
        next: &State<D>,
        dt: f64,
    ) -> Rest
    where
        Dim<D>: Space<D>,
    {
        let options = &model.options.contact.sleeping;
        if !self.allowed {
            return Rest::default();
        }
        let mut jointed = vec![false; model.bodies.len()];
        for body in model.joints.iter().flat_map(|joint| [joint.parent, joint.child]).flatten() {
            jointed[body] = true;
        }
        before.rest.woken(&self.asleep).after(
            options,
            &model.bodies,
            &next.bodies,
            &self.asleep,
            |body| jointed[body],
            &next.contact,
            dt,
        )
    }
}
