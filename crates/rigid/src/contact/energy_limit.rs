//! Bodies in contact do not gain energy.
//!
//! Positions move with contact at their start, velocities are found with contact at their end. Where normals turn in between, as on a ball that rolls over
//! another, and where push-out lifts what was left overlapping, the energy of a step can come out higher than it was, by a term of second order in
//! the step. State and energy belong together at the end of a step (spec/rigid-bodies.md 3.11), so there the excess is taken out of the motion.

use super::{ContactMethod, ContactSolver, ContactStage};
use crate::{BodyState, Geometry, Kind, Motion, Solid};
use splashdown_math::{Coordinates, Dim, Frame, Space, Vector};

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// Scales the velocities of each island so that its energy is at most that of `before`, the state at the start of the step, under `gravity`
    /// (m/s^2). Islands are left as they are if they can gain energy: by bounces, joints or moving supports; so are those with sampled shapes, and those that nothing holds, whose
    /// momentum has to stay.
    #[inline(never)]
    pub fn limit_energy(
        &mut self,
        stage: &ContactStage<'_, D>,
        gravity: &Vector<D>,
        before: &[BodyState<D>],
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
    ) {
        if self.report.touching == 0 || stage.options.method != ContactMethod::Simultaneous {
            return;
        }
        let mut exempt = vec![false; stage.bodies.len()];
        stage.linked.iter().flatten().for_each(|&i| exempt[i as usize] = true);
        for (i, body) in stage.bodies.iter().enumerate() {
            exempt[i] |= body.kind == Kind::Kinematic && motions[i] != Motion::zero();
        }
        for (pair, _) in self.contacts.pairs.iter().zip(&self.bounced).filter(|(_, bounced)| **bounced) {
            [pair.a, pair.b]
                .iter()
                .for_each(|&i| exempt[i as usize] |= stage.bodies[i as usize].is_dynamic());
        }
        // A body known by its particles rolls as a polyhedron: its energy goes up and down, and taking off what goes up would brake.
        for (i, body) in stage.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
            let solid = body.geometry.as_deref().map(Geometry::solid);
            exempt[i] |= matches!(solid, Some(Solid::Shape { .. } | Solid::Mesh { .. } | Solid::Sampled));
        }
        for island in &self.islands {
            let held = island.inverse.iter().any(|inverse| inverse.is_infinite());
            if !held || island.bodies.iter().any(|&i| exempt[i as usize]) {
                continue;
            }
            let (mut allowed, mut kinetic) = (0.0, 0.0);
            for &i in &island.bodies {
                let (i, body) = (i as usize, &stage.bodies[i as usize]);
                if !body.is_dynamic() {
                    continue;
                }
                let fallen = frames[i].position - before[i].frame.position;
                allowed += before[i].kinetic_energy(body) + body.mass * gravity.dot(&fallen);
                let angular = &motions[i].angular_momentum;
                kinetic += 0.5 * body.mass * motions[i].velocity.norm_squared()
                    + 0.5 * angular.dot(&Dim::apply_inertia(&self.at.inverse[i].inertia, angular));
            }
            let allowed = f64::max(allowed, 0.0);
            if !(kinetic > allowed * (1.0 + 1e-12)) {
                continue;
            }
            let share = (allowed / kinetic).sqrt();
            self.report.energy_clamped += kinetic - allowed;
            for &i in &island.bodies {
                if stage.bodies[i as usize].is_dynamic() {
                    let motion = &mut motions[i as usize];
                    motion.velocity *= share;
                    motion.angular_momentum = motion.angular_momentum * share;
                }
            }
        }
    }
}
