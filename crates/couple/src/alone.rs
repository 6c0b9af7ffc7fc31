//! A solid with nothing else in the world, for measurements of its forces and schemes: it takes the stages of the one step, too.

use crate::world::Taken;
use crate::{Solids, StepError, World};
use splashdown_deformable::Solid;
use splashdown_deformable::integrate::{IntegrationReport, Integrator, Motion};
use splashdown_math::{Dim, Space, Vector};

/// Advances `solid` by `dt` seconds at once, whatever is stable, in a world where nothing else is. Obstacles of the integrator stand where their `end` says at the end of the step
/// ([`splashdown_deformable::collide::Obstacle::advance`]).
///
/// # Errors
/// What could not be computed; `motion` and what the solid remembers are then those before the step.
#[inline(never)]
pub fn step_alone<const D: usize>(
    solid: &mut Solid<D>,
    integrator: &mut Integrator<D>,
    motion: &mut Motion,
    dt: f64,
) -> Result<IntegrationReport, StepError>
where
    Dim<D>: Space<D>,
{
    let gravity = solid.gravity;
    let mut solids = Solids::new(gravity, integrator.scheme);
    solids.solid = std::mem::replace(solid, Solid::new(Vec::new(), Vec::new(), Vector::zeros()));
    solids.integrator = std::mem::replace(integrator, Integrator::new(integrator.scheme));
    let mut world = World::in_space(gravity);
    let time = motion.time;
    world.set_solids(solids, std::mem::take(motion));
    world.set_time(time);
    let stepped = world.take_solid_part(dt, &mut Taken::default());
    if stepped.is_err() {
        world.restore_solids();
    }
    let World { solids, state, .. } = world;
    if let Some(solids) = solids {
        (*solid, *integrator) = (solids.solid, solids.integrator);
    }
    match stepped {
        Ok(done) => {
            let (next, report) = *done;
            *motion = next.solids.motion;
            Ok(report.solids.unwrap_or_default())
        }
        Err(error) => {
            *motion = state.solids.motion;
            Err(error)
        }
    }
}
