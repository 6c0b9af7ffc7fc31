//! Velocities of everything that moves, as bodies and particles and as the stacked vector of the coupled system.

use crate::State;
use splashdown_math::{Dim, Space, Vector};
use splashdown_rigid::Motion;

/// Velocities of all bodies and particles at one time.
#[derive(Debug, Clone)]
pub(crate) struct Velocities<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub bodies: Vec<Motion<D>>,
    pub particles: Vec<Vector<D>>,
}

impl<const D: usize> Velocities<D>
where
    Dim<D>: Space<D>,
{
    pub fn of(state: &State<D>) -> Self {
        Self {
            bodies: state.bodies.iter().map(Motion::of).collect(),
            particles: state.particles.velocity.clone(),
        }
    }

    /// `self <- 2 self - start`: from the middle of the step to its end.
    pub fn extrapolate_from(&mut self, start: &Self) {
        for (end, start) in self.bodies.iter_mut().zip(&start.bodies) {
            end.velocity += end.velocity - start.velocity;
            end.angular_momentum += end.angular_momentum - start.angular_momentum;
        }
        for (end, start) in self.particles.iter_mut().zip(&start.particles) {
            *end += *end - start;
        }
    }
}
