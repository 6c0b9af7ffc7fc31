//! Bodies in contact do not gain energy.
//!
//! Positions move with contact at their start, velocities are found with contact at their end. Where normals turn in between, as on a ball that rolls over
//! another, and where push-out lifts what was left overlapping, the energy of a step can come out higher than it was, by a term of second order in
//! the step. State and energy belong together at the end of a step (spec/rigid-bodies.md 3.11), so there the excess is taken out of the motion.

use super::isolated::{centre_of_mass, common_inertia, momenta};
use super::{ContactMethod, ContactSolver, ContactStage};
use crate::{Body, BodyState, Geometry, Kind, Motion, Solid, restore_energy};
use splashdown_math::{Coordinates, Dim, Frame, Space, Vector};

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// Scales the velocities of each island so that its energy is at most that of `before`, the state at the start of the step, under `gravity`
    /// (m/s^2). Islands are left as they are if they can gain energy: by drives of joints, moving supports, or what else pushes on the bodies `pushed`; so are those with particles, and those with round shapes known by samples may gain what these gain themselves. Bounces gain none: bodies
    /// that bounce are moved to where they would have (`land`). Of bodies that nothing holds only the motion relative to each other is scaled: their
    /// momentum and angular momentum stay.
    #[inline(never)]
    pub fn limit_energy(
        &mut self,
        stage: &ContactStage<'_, D>,
        gravity: &Vector<D>,
        before: &[BodyState<D>],
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
        pushed: &[u32],
    ) {
        if self.report.touching == 0 || stage.options.method != ContactMethod::Simultaneous {
            return;
        }
        let passive = |i: u32| {
            stage.articulated.is_some_and(|all| all.set_of(i as usize).is_some_and(|set| !set.driven))
        };
        let mut exempt = vec![false; stage.bodies.len()];
        for &i in stage.linked.iter().flatten() {
            exempt[i as usize] = !passive(i);
        }
        pushed.iter().for_each(|&i| exempt[i as usize] = true);
        for (i, body) in stage.bodies.iter().enumerate() {
            exempt[i] |= body.is_particle() || body.load.drives();
        }
        for (members, ..) in &self.isolated {
            if !members.iter().any(|&i| exempt[i as usize]) {
                let removed = self.limit_relative_motion(stage, gravity, before, members, frames, motions);
                self.report.energy_limited += removed;
            }
        }
        for (i, (body, motion)) in stage.bodies.iter().zip(motions.iter()).enumerate() {
            exempt[i] |= body.kind == Kind::Kinematic && *motion != Motion::zero();
        }
        // What is round and known by its particles rolls as a polyhedron: its energy goes up and down, and taking off what goes up would brake. So an island may gain what those gain.
        let round_by_particles = |geometry: &Geometry<D>| {
            geometry.is_by_particles() && !matches!(geometry.solid(), Solid::Mesh { .. })
        };
        let rolls = |i: &usize| stage.bodies[*i].geometry.as_deref().is_some_and(round_by_particles);
        for (_, island) in self.partition.islands() {
            let held = island.iter().any(|&i| self.at.inverse[i as usize].is_infinite());
            if !held || island.iter().any(|&i| exempt[i as usize]) {
                continue;
            }
            let responds = |i: &usize| stage.bodies[*i].is_dynamic();
            let members = || island.iter().map(|&i| i as usize).filter(responds);
            let kinetic_of = |i: usize| self.kinetic(stage, i, &motions[i]);
            let own_gain = |i: usize| {
                let allowed = allowed_energy(stage, gravity, before, frames, std::iter::once(i));
                (kinetic_of(i) - allowed).max(0.0)
            };
            let rolling: f64 = members().filter(rolls).map(own_gain).sum();
            let allowed = allowed_energy(stage, gravity, before, frames, members()) + rolling;
            let kinetic: f64 = members().map(kinetic_of).sum();
            if !(kinetic > allowed * (1.0 + 1e-12)) {
                continue;
            }
            let share = (allowed / kinetic).sqrt();
            self.report.energy_limited += kinetic - allowed;
            for &i in island {
                if stage.bodies[i as usize].is_dynamic() {
                    let motion = &mut motions[i as usize];
                    motion.velocity *= share;
                    motion.angular_momentum = motion.angular_momentum * share;
                }
            }
        }
    }

    /// Turns the angular momenta of touching bodies, those at the start of the step, where the new `frames` would give them more energy than they had at
    /// `before`.
    ///
    /// Contact moves positions with other momenta than those that velocities start from, so bodies turn otherwise than these would turn them. Of a needle the
    /// momentum may come to lie along its axis, where it is a thousand times the energy that it was across it.
    #[inline(never)]
    pub fn turn_momenta(
        &self,
        stage: &ContactStage<'_, D>,
        before: &[Frame<D>],
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
    ) {
        // Less is an error of the step like others, and `limit_energy` sees to it.
        const EXCESS: f64 = 0.01;
        if D == 2 || self.report.touching == 0 {
            return;
        }
        let mut wanted = vec![false; stage.bodies.len()];
        self.touching().flat_map(|pair| [pair.a, pair.b]).for_each(|i| wanted[i as usize] = true);
        stage.linked.iter().flatten().for_each(|&i| wanted[i as usize] = false);
        for (i, body) in stage.bodies.iter().enumerate() {
            if !wanted[i]
                || !body.is_dynamic()
                || body.is_particle()
                || spread_of_moments(body) <= 1.0 + EXCESS
            {
                continue;
            }
            let momentum = &mut motions[i].angular_momentum;
            let energy = |frame: &Frame<D>| 0.5 * momentum.dot(&body.spin_of(frame, momentum));
            let had = energy(&before[i]);
            if !(energy(&frames[i]) > (1.0 + EXCESS) * had) {
                continue;
            }
            // Turning the body one way is turning the momentum the other way.
            let mut turned = frames[i];
            if restore_energy(body, &mut turned, momentum, had).reached {
                let turn = Dim::compose(&turned.rotation, &Dim::inverse(&frames[i].rotation));
                *momentum = Dim::rotate_spin_back(&turn, momentum);
            }
        }
    }

    /// Kinetic energy of a body that responds, where it is in the present stage (J).
    fn kinetic(&self, stage: &ContactStage<'_, D>, i: usize, motion: &Motion<D>) -> f64 {
        let angular = &motion.angular_momentum;
        0.5 * stage.bodies[i].mass * motion.velocity.norm_squared()
            + 0.5 * angular.dot(&Dim::apply_inertia(&self.at.inverse[i].inertia, angular))
    }

    /// Splits the motion of bodies that nothing holds into that of one rigid body with their momentum and angular momentum, and the rest, which has
    /// neither; the energies of the two add up. Scales the rest so that the energy is at most what it was; returns what it took away (J).
    ///
    /// The common rotation that gives the angular momentum back after positions have moved ([`Self::restore_angular_momentum`]) can add energy: by
    /// as much as the relative motion has too much of it.
    fn limit_relative_motion(
        &self,
        stage: &ContactStage<'_, D>,
        gravity: &Vector<D>,
        before: &[BodyState<D>],
        members: &[u32],
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
    ) -> f64 {
        let bodies = stage.bodies;
        let ids = || members.iter().map(|&i| i as usize);
        let allowed = allowed_energy(stage, gravity, before, frames, ids());
        let now: f64 = ids().map(|i| self.kinetic(stage, i, &motions[i])).sum();
        if !(now > allowed * (1.0 + 1e-12)) {
            return 0.0;
        }
        let mass: f64 = ids().map(|i| bodies[i].mass).sum();
        let (momentum, angular) = momenta(bodies, members, frames, motions);
        let centre = centre_of_mass(bodies, members, frames);
        let velocity = momentum / mass;
        let inertia = common_inertia(bodies, members, frames, &centre);
        let spin = Dim::apply_inertia(&Dim::invert_inertia(&inertia), &angular);
        let common = |i: usize| Motion {
            velocity: velocity + Dim::spin_cross(&spin, &(frames[i].position - centre)),
            angular_momentum: bodies[i].angular_momentum_of(&frames[i], &spin),
        };
        let together = 0.5 * (momentum.dot(&velocity) + angular.dot(&spin));
        let relative = now - together;
        if !(relative > 0.0) {
            return 0.0;
        }
        let share = ((allowed - together) / relative).max(0.0).sqrt();
        for i in ids() {
            let (motion, common) = (&mut motions[i], common(i));
            motion.velocity = common.velocity + (motion.velocity - common.velocity) * share;
            motion.angular_momentum =
                common.angular_momentum + (motion.angular_momentum - common.angular_momentum) * share;
        }
        (1.0 - share * share) * relative
    }
}

/// Largest over smallest principal moment: how much the energy of one angular momentum can depend on the orientation.
fn spread_of_moments<const D: usize>(body: &Body<D>) -> f64
where
    Dim<D>: Space<D>,
{
    let n = <Dim<D> as Space<D>>::SPIN;
    let entries = Dim::inertia_entries(&body.inertia);
    let moments = || (0..n).map(|i| entries[i * n + i]);
    moments().fold(0.0, f64::max) / moments().fold(f64::INFINITY, f64::min)
}

/// Kinetic energy that `members` may have at `frames`: what they had, and the work of gravity (J).
fn allowed_energy<const D: usize>(
    stage: &ContactStage<'_, D>,
    gravity: &Vector<D>,
    before: &[BodyState<D>],
    frames: &[Frame<D>],
    members: impl Iterator<Item = usize>,
) -> f64
where
    Dim<D>: Space<D>,
{
    let allowed: f64 = members
        .map(|i| {
            let fallen = frames[i].position - before[i].frame.position;
            before[i].kinetic_energy(&stage.bodies[i]) + stage.bodies[i].mass * gravity.dot(&fallen)
        })
        .sum();
    allowed.max(0.0)
}
