//! Bodies in contact that nothing of infinite mass holds: their momentum and angular momentum are their own.

use super::{ContactSolver, ContactStage, islands};
use crate::{Body, Motion};
use splashdown_math::{Coordinates, Dim, Frame, Inertia, Space, Spin, Vector};

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// Islands that nothing of infinite mass holds, with their angular momentum about their centre of mass at the start of the step, before
    /// collisions: the method that evolves positions after every impulse changes it there.
    pub(super) fn find_isolated(&mut self, stage: &ContactStage<'_, D>, frames: &[Frame<D>]) {
        self.isolated.clear();
        let infinite = |i: usize| !stage.bodies[i].is_dynamic();
        let touching = self.touching().map(|pair| [pair.a, pair.b]).chain(stage.linked.iter().copied());
        let (island, count) = islands(stage.bodies.len(), infinite, touching);
        let mut held = vec![false; count];
        // Particles are held by the forces of their deformable bodies.
        for (body, _) in stage.bodies.iter().enumerate().filter(|(_, body)| body.is_particle()) {
            if let Some(held) = held.get_mut(island[body] as usize) {
                *held = true;
            }
        }
        for pair in self.touching().map(|pair| [pair.a, pair.b]).chain(stage.linked.iter().copied()) {
            if pair[0] == pair[1] && !infinite(pair[0] as usize) {
                held[island[pair[0] as usize] as usize] = true;
            }
            for (i, j) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                if infinite(i as usize) && !infinite(j as usize) {
                    held[island[j as usize] as usize] = true;
                }
            }
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (body, &of) in island.iter().enumerate() {
            if of != u32::MAX && !held[of as usize] {
                members[of as usize].push(body as u32);
            }
        }
        self.report.islands = held.len();
        for members in members.into_iter().filter(|members| members.len() > 1) {
            let (momentum, angular) = momenta(stage.bodies, &members, frames, &self.before);
            self.isolated.push((members, momentum, angular));
        }
    }

    /// Contact moves positions and velocities at different times, which changes the orbital angular momentum of bodies that nothing else holds
    /// by a little. Gives it back as a common rotation of each such island; `motions` are the velocities at `frames` before forces.
    #[inline(never)]
    pub fn restore_angular_momentum(
        &self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
    ) {
        for (members, _, wanted) in &self.isolated {
            let (_, now) = momenta(stage.bodies, members, frames, motions);
            let lack = *wanted - now;
            if lack.norm() == 0.0 {
                continue;
            }
            turn_together(stage.bodies, members, frames, motions, &lack);
        }
    }
}

/// Gives the bodies numbered `members` the angular momentum `lack` (kg m^2/s) by a common rotation about their centre of mass.
pub fn turn_together<const D: usize>(
    bodies: &[Body<D>],
    members: &[u32],
    frames: &[Frame<D>],
    motions: &mut [Motion<D>],
    lack: &Spin<D>,
) where
    Dim<D>: Space<D>,
{
    let centre = centre_of_mass(bodies, members, frames);
    let inertia = common_inertia(bodies, members, frames, &centre);
    let turn = Dim::apply_inertia(&Dim::invert_inertia(&inertia), lack);
    for &i in members {
        let (body, frame) = (&bodies[i as usize], &frames[i as usize]);
        let motion = &mut motions[i as usize];
        motion.velocity += Dim::spin_cross(&turn, &(frame.position - centre));
        motion.angular_momentum += body.angular_momentum_of(frame, &turn);
    }
}

pub(super) fn centre_of_mass<const D: usize>(
    bodies: &[Body<D>],
    members: &[u32],
    frames: &[Frame<D>],
) -> Vector<D>
where
    Dim<D>: Space<D>,
{
    let mass: f64 = members.iter().map(|&i| bodies[i as usize].mass).sum();
    members.iter().map(|&i| frames[i as usize].position * (bodies[i as usize].mass / mass)).sum()
}

/// Inertia of some bodies about `centre` as if they were one.
pub(super) fn common_inertia<const D: usize>(
    bodies: &[Body<D>],
    members: &[u32],
    frames: &[Frame<D>],
    centre: &Vector<D>,
) -> Inertia<D>
where
    Dim<D>: Space<D>,
{
    members.iter().fold(Dim::point_inertia(&Vector::zeros()), |sum, &i| {
        let (body, frame) = (&bodies[i as usize], &frames[i as usize]);
        let own = Dim::rotate_inertia(&frame.rotation, &body.inertia);
        sum + own + Dim::point_inertia(&(frame.position - centre)) * body.mass
    })
}

/// Linear momentum, and angular momentum about the centre of mass, of some bodies.
pub(super) fn momenta<const D: usize>(
    bodies: &[Body<D>],
    members: &[u32],
    frames: &[Frame<D>],
    motions: &[Motion<D>],
) -> (Vector<D>, Spin<D>)
where
    Dim<D>: Space<D>,
{
    let centre = centre_of_mass(bodies, members, frames);
    let mut linear = Vector::<D>::zeros();
    let mut angular = Spin::<D>::zero();
    for &i in members {
        let (motion, mass) = (&motions[i as usize], bodies[i as usize].mass);
        linear += motion.velocity * mass;
        angular += motion.angular_momentum
            + Dim::cross(&(frames[i as usize].position - centre), &(motion.velocity * mass));
    }
    (linear, angular)
}
