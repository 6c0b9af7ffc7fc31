//! The schemes with explicit elasticity and implicit damping (spec 3.14), stage by stage, so that a world with other things in it can act between the stages:
//!
//! | stage | function |
//! |---|---|
//! | I velocity to n+1/2, volume, self-repulsions | [`Integrator::begin`] |
//! | IV.1 positions to n+1, obstacles | [`Integrator::move_particles`] |
//! | IV.2 self-contact | [`Integrator::collide_self`] |
//! | V velocity to n+1, friction at obstacles | [`Integrator::finish`] |
//! | V self-repulsions | [`Integrator::repel_at_end`] |

use super::damped_mass::{Assembled, add_resistance};
use super::velocity::{Constraints, Damped};
use super::{
    Carriers, ConstraintRow, IntegrateError, IntegrationReport, Integrator, Link, Motion, Scheme, SolveCount,
};
use crate::collide::{Collision, CollisionMethod, Obstacle, Path, Touch, friction_map};
use crate::contact::Response;
use crate::force::read;
use crate::incompressible::{Kept, Pushed};
use crate::solid::Solid;
use splashdown_math::{Dim, Space, Vector};
use splashdown_solve::ConstraintFilter;
use std::collections::BTreeSet;

/// An explicit step under way: what its stages hand on. Flat, `D` entries a particle.
#[derive(Debug, Clone)]
pub struct Stages {
    /// The velocity `v^{n+1/2}` that moves positions (m/s).
    pub moving: Vec<f64>,
    /// The velocity from which the end of the step is reached: `v^n` after collisions (m/s).
    pub start: Vec<f64>,
    /// Positions at the end of the step (m), after [`Integrator::move_particles`].
    pub next: Vec<f64>,
    /// The velocity (m/s) at which the last velocity solve had its implicit forces, with [`Scheme::LinearlyImplicit`]; else empty. That solve's result differs from it only at particles
    /// that touch rigid bodies.
    pub resisted: Vec<f64>,
    /// What particles that touch something push on with besides (m/s), with that scheme: more than contact is shown, so that it does not carry them through. Empty if there is nothing.
    pub missing: Vec<f64>,
    /// Length of the step (s).
    pub dt: f64,
}

/// Most corrections of positions in a step with contacts in the prediction, each with the contacts that the one before brought.
const MOST_ROUNDS: usize = 4;

/// A change of velocities, the velocity at which implicit forces act with what is missing, and what it took.
type LinkedVelocity = (Vec<f64>, [Vec<f64>; 2], SolveCount);

pub(super) fn plus(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

impl<const D: usize> Integrator<D>
where
    Dim<D>: Space<D>,
{
    /// Obstacles, then layers from the lowest on, stop the particles that run into them: corrects the end positions `next` and `velocity` (that of the start of the step). Returns the contacts and
    /// the layers as the obstacles that follow the others.
    pub(super) fn stop_particles(
        &self,
        motion: &Motion,
        moving: &[f64],
        dt: f64,
        movable: impl Fn(u32) -> bool + Sync,
        next: &mut [f64],
        velocity: &mut [f64],
    ) -> Result<(Vec<Touch<D>>, Vec<Obstacle<D>>), IntegrateError> {
        let path = Path { position: &motion.position, moving, dt };
        let mut collision = Collision::new(path, &self.colliders, self.method, self.push_out);
        let boxes: Vec<_> = self.obstacles.iter().map(Obstacle::bounds).collect();
        let near = self.colliders.inside(next, &boxes);
        for (obstacle, near) in self.obstacles.iter().zip(near) {
            collision.meet(obstacle, near, &movable, next, velocity);
        }
        let mut layers = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let obstacle = layer.obstacle(dt, &motion.position, next)?;
            collision.meet(&obstacle, None, &movable, next, velocity);
            layers.push(obstacle);
        }
        Ok((collision.into_touches(), layers))
    }

    /// Contacts with objects that the motion `moving` would make from here, and the layers there.
    pub(super) fn coming_touches(
        &self,
        solid: &Solid<D>,
        motion: &Motion,
        moving: &[f64],
        dt: f64,
    ) -> Result<(Vec<Touch<D>>, Vec<Obstacle<D>>), IntegrateError> {
        let (mut next, mut velocity) = (plus(&motion.position, dt, moving), moving.to_vec());
        let movable = |node: u32| !solid.pinned()[node as usize];
        self.stop_particles(motion, moving, dt, movable, &mut next, &mut velocity)
    }

    /// What damping has to know of contacts in the prediction: those with rigid bodies, and the obstacles that particles run into by the other forces.
    fn coming_links(
        &self,
        solid: &Solid<D>,
        motion: &Motion,
        dt: f64,
    ) -> Result<Vec<Link<D>>, IntegrateError> {
        let meets = !(self.obstacles.is_empty() && self.layers.is_empty());
        if !self.keeps_coming
            || !self.resists(solid)
            || (self.links.is_empty() && self.rows.is_empty() && !meets)
        {
            return Ok(Vec::new());
        }
        let mut links = self.links.clone();
        if meets {
            let mut force = vec![0.0; motion.velocity.len()];
            solid.add_elastic(&mut force);
            solid.add_gravity(&mut force);
            let mut moving = motion.velocity.clone();
            add_push(solid, &force, 0.5 * dt, &mut moving);
            let (touches, layers) = self.coming_touches(solid, motion, &moving, dt)?;
            let obstacles: Vec<&Obstacle<D>> = self.obstacles.iter().chain(&layers).collect();
            links.extend(touches.into_iter().map(|touch| {
                let probe = obstacles[touch.obstacle as usize].probe(&motion.point(touch.node as usize));
                // Until it arrives at the surface, at most.
                let speed = (-probe.distance / dt).min(touch.body_velocity.dot(&touch.normal));
                let change = speed - touch.normal.dot(&motion.speed(touch.node as usize));
                let (particle, normal) = (touch.node, touch.normal);
                Link { particle, carrier: None, normal, arm: Vector::zeros(), change }
            }));
        }
        Ok(links)
    }

    /// The change of the carriers' twists by `force` on their particles over `dt`, and by gravity.
    fn push_carriers(&mut self, solid: &Solid<D>, force: &[f64], dt: f64) {
        let Some(carriers) = &mut self.carriers else { return };
        let mut pull = force.to_vec();
        carriers.take_weights(solid, 1.0, &mut pull);
        carriers.take_forces(&pull, dt, &solid.gravity);
    }

    /// The velocity after `tau` seconds with contacts kept: of particles at obstacles their normal velocity stays, and those at rigid bodies get all that pushes on them,
    /// for contact to see. Returns the change, the velocity at which implicit forces act, what is missing ([`Stages::missing`]), and what it took.
    fn velocity_with_links(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        start: &[f64],
        tau: f64,
        touches: &[Touch<D>],
    ) -> Result<LinkedVelocity, IntegrateError> {
        let rows = self.rows.len();
        if self.keeps_pairs {
            self.add_pair_rows(solid, position, start, tau);
        }
        let solved = self.velocity_with_rows(solid, position, start, tau, touches);
        self.rows.truncate(rows);
        solved
    }

    /// Adds the pairs of self-contact at `position` that forces bring nearer to what damping keeps: they come no nearer by the end of the step.
    fn add_pair_rows(&mut self, solid: &Solid<D>, position: &[f64], start: &[f64], tau: f64) {
        let Some(contact) = &self.self_contact else { return };
        let mut pushed = start.to_vec();
        let mut force = vec![0.0; start.len()];
        solid.add_elastic(&mut force);
        solid.add_gravity(&mut force);
        add_push(solid, &force, tau, &mut pushed);
        let part = if self.scheme == Scheme::B { 0.5 } else { 1.0 };
        let approaching = contact.rows(position, 1.0).into_iter().filter(|row| row.speed(&pushed) < 0.0);
        let rows = approaching.map(|row| {
            let weights = row.nodes.iter().zip(row.weights).filter(|(_, weight)| *weight != 0.0);
            ConstraintRow {
                particles: weights.map(|(&node, weight)| (node, row.normal * weight)).collect(),
                carriers: Vec::new(),
                change: -part * row.speed(start),
            }
        });
        self.rows.extend(rows);
    }

    fn velocity_with_rows(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        start: &[f64],
        tau: f64,
        touches: &[Touch<D>],
    ) -> Result<LinkedVelocity, IntegrateError> {
        if (self.links.is_empty() && self.rows.is_empty()) || !self.resists(solid) {
            let (change, iterations) = self.velocity_change(solid, start, tau, touches)?;
            let end = plus(start, 1.0, &change);
            return Ok((change, [end, Vec::new()], SolveCount { iterations, ..SolveCount::default() }));
        }
        let mut links = self.links.clone();
        links.extend(touches.iter().map(|touch| {
            let (particle, normal) = (touch.node, touch.normal);
            Link { particle, carrier: None, normal, arm: Vector::zeros(), change: 0.0 }
        }));
        let Damped { velocity: damped, released, missing, count } =
            self.damping_velocity(solid, position, start, tau, &links)?;
        let mut change = vec![0.0; start.len()];
        if self.ahead > 0.0 {
            change = plus(&released, -1.0, start);
        } else {
            let force = self.total_force(solid, &damped);
            self.push_carriers(solid, &force, tau);
            add_push(solid, &force, tau, &mut change);
        }
        // At obstacles the normal velocity stays. Along them explicit forces act as everywhere, so that what the solve has not converged is nobody's push.
        let held = plus(&damped, -1.0, start);
        let mut along = vec![0.0; start.len()];
        if self.ahead == 0.0 {
            along = plus(&change, -1.0, &held);
            Constraints::new(solid.pinned(), touches).filter(&mut along);
        }
        for touch in touches {
            for at in D * touch.node as usize..D * (touch.node as usize + 1) {
                change[at] = held[at] + along[at];
            }
        }
        Ok((change, [damped, missing], count))
    }

    /// The velocity `moving` to the half step, from which positions move; incompressible bodies get back their volume by it. Also the velocity at which implicit forces act, and what is missing.
    fn predict(
        &mut self,
        solid: &mut Solid<D>,
        motion: &Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<[Vec<f64>; 3], IntegrateError> {
        solid.update(&motion.position)?;
        if self.is_coupled() {
            let moving = self.coupled_motion(solid, motion, dt, report)?;
            return Ok([moving.clone(), moving, Vec::new()]);
        }
        let links = self.coming_links(solid, motion, dt)?;
        let [mut moving, resisted, missing] =
            if links.is_empty() && (self.rows.is_empty() || !self.resists(solid)) {
                let (half, iterations) = self.velocity_change(solid, &motion.velocity, 0.5 * dt, &[])?;
                report.linear_iterations += iterations;
                let moving = plus(&motion.velocity, 1.0, &half);
                [moving.clone(), moving, Vec::new()]
            } else {
                let Damped { velocity: damped, released, missing, count } =
                    self.damping_velocity(solid, &motion.position, &motion.velocity, 0.5 * dt, &links)?;
                report.count(&count);
                let mut moving = released;
                if self.ahead == 0.0 {
                    let force = self.total_force(solid, &damped);
                    self.push_carriers(solid, &force, 0.5 * dt);
                    moving.clone_from(&motion.velocity);
                    add_push(solid, &force, 0.5 * dt, &mut moving);
                }
                [moving, damped, missing]
            };
        let Some(contact_first) = self.incompressible.as_ref().map(|body| body.options.contact_in_prediction)
        else {
            return Ok([moving, resisted, missing]);
        };
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(&motion.position, 1.0));
        let (mut touches, _) = self.coming_touches(solid, motion, &moving, dt)?;
        // Under extreme pressure the correction itself pushes more particles into objects: it is found again with them.
        let rounds = if contact_first { MOST_ROUNDS } else { 1 };
        for round in 1..=rounds {
            if contact_first {
                let mut start = motion.velocity.clone();
                hold(&mut start, &touches);
                let (half, iterations) = self.velocity_change(solid, &start, 0.5 * dt, &touches)?;
                report.linear_iterations += iterations;
                moving = plus(&start, 1.0, &half);
            }
            let Self { incompressible, carriers, links, .. } = &mut *self;
            let bodies = pushed(carriers.as_ref(), links);
            let kept = Kept { touches: &touches, pairs: &pairs, bodies };
            let mut pressed = Vec::new();
            if let Some(body) = incompressible {
                let report = &mut report.incompressible;
                pressed = body.correct_motion(solid, &motion.position, &mut moving, dt, &kept, report)?;
            }
            if let Some(carriers) = carriers {
                carriers.pressed = pressed;
            }
            if round == rounds {
                break;
            }
            let place = |touch: &Touch<D>| (touch.node, touch.obstacle);
            let known: BTreeSet<(u32, u32)> = touches.iter().map(place).collect();
            let (coming, _) = self.coming_touches(solid, motion, &moving, dt)?;
            let new: Vec<Touch<D>> =
                coming.into_iter().filter(|touch| !known.contains(&place(touch))).collect();
            if new.is_empty() {
                break;
            }
            touches.extend(new);
        }
        Ok([moving, resisted, missing])
    }

    /// I: the velocity that moves the particles. Self-repulsions act on it in schemes B and C.
    ///
    /// # Errors
    /// A force without value, or a velocity solve that fails.
    #[inline(never)]
    pub fn begin(
        &mut self,
        solid: &mut Solid<D>,
        motion: &Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<Stages, IntegrateError> {
        self.kept.clear();
        self.memory.iter_mut().for_each(Assembled::forget);
        self.ahead = if self.scheme == Scheme::LinearlyImplicit { dt } else { 0.0 };
        let [mut moving, resisted, missing] = match self.scheme {
            Scheme::Newmark => [self.explicit_half(solid, motion, dt)?, Vec::new(), Vec::new()],
            _ => self.predict(solid, motion, dt, report)?,
        };
        // Newmark goes on from the half step, the others from its start.
        let start = match self.scheme {
            Scheme::Newmark => {
                let start = moving.clone();
                self.keep_volume_ahead(solid, motion, &mut moving, dt, report)?;
                start
            }
            _ => motion.velocity.clone(),
        };
        if let (true, Some(contact)) = (self.scheme.repels(), &mut self.self_contact) {
            contact.find_pairs(&motion.position);
            if let Some(carriers) = &self.carriers {
                carriers.add_changes(&motion.velocity, &mut moving);
            }
            let masses = solid.inverse_masses();
            let mut response = Response::new(&masses, self.carriers.as_ref());
            contact.repel(&mut response, &motion.position, &mut moving, dt, true);
            let touched = response.change;
            self.carriers.iter_mut().for_each(|carriers| carriers.touched.clone_from(&touched));
        }
        let resisted = if self.ahead > 0.0 { resisted } else { Vec::new() };
        Ok(Stages { moving, start, next: Vec::new(), resisted, missing, dt })
    }

    /// IV.1: positions move, and obstacles stop the particles that run into them; `stages.start` loses what they take. Particles for which `elsewhere` are left out:
    /// someone else sees to their contacts.
    ///
    /// # Errors
    /// A layer without a surface.
    pub fn move_particles(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        stages: &mut Stages,
        elsewhere: impl Fn(u32) -> bool + Sync,
    ) -> Result<(), IntegrateError> {
        let Stages { moving, start, next, dt, .. } = stages;
        *next = plus(&motion.position, *dt, moving);
        let movable = |node: u32| !solid.pinned()[node as usize] && !elsewhere(node);
        (self.touches, _) = self.stop_particles(motion, moving, *dt, movable, next, start)?;
        Ok(())
    }

    /// IV.2: self-contact between the accepted and the new positions: corrects these, and the velocities by what the average velocity changed. By how much it changed the twists of the rigid bodies
    /// that carry particles is in [`Carriers::touched`]: they have moved on by as much.
    ///
    /// # Errors
    /// Contact that cannot be resolved.
    #[inline(never)]
    pub fn collide_self(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        stages: &mut Stages,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        if let Some(contact) = &mut self.self_contact {
            let masses = solid.inverse_masses();
            let mut response = Response::new(&masses, self.carriers.as_ref());
            contact.resolve(
                &mut response,
                &motion.position,
                &mut stages.next,
                &mut stages.start,
                stages.dt,
                &mut report.self_contact,
            )?;
            let touched = response.change;
            self.carriers.iter_mut().for_each(|carriers| carriers.touched.clone_from(&touched));
        }
        Ok(())
    }

    /// V: the velocity at the end of the step, with friction at obstacles; `stages.next` are the positions there.
    ///
    /// # Errors
    /// As [`Self::begin`].
    #[inline(never)]
    pub fn finish(
        &mut self,
        solid: &mut Solid<D>,
        motion: &Motion,
        stages: &mut Stages,
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        let touches = std::mem::take(&mut self.touches);
        let velocity = match self.scheme {
            Scheme::A => self.finish_a(solid, motion, stages, &touches, report),
            Scheme::B => self.finish_b(solid, motion, stages, &touches, report),
            Scheme::C | Scheme::LinearlyImplicit => self.finish_c(solid, stages, &touches, report),
            _ => self.finish_newmark(solid, stages, &touches, report),
        };
        self.touches = touches;
        velocity
    }

    /// V, last: friction and inelastic repulsions between surfaces, no springs. What rigid bodies that carry particles get of it is in [`Carriers::touched`].
    #[inline(never)]
    pub fn repel_at_end(&mut self, solid: &Solid<D>, next: &[f64], velocity: &mut [f64], dt: f64) {
        if let (true, Some(contact)) = (self.scheme.repels(), &mut self.self_contact) {
            let masses = solid.inverse_masses();
            let mut response = Response::new(&masses, self.carriers.as_ref());
            contact.repel(&mut response, next, velocity, dt, false);
            let touched = response.change;
            self.carriers.iter_mut().for_each(|carriers| carriers.touched.clone_from(&touched));
        }
    }

    /// Scheme A: an explicit half from the start of the step, an implicit half at its end.
    fn finish_a(
        &mut self,
        solid: &mut Solid<D>,
        motion: &Motion,
        stages: &mut Stages,
        touches: &[Touch<D>],
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        self.keep_volume(solid, &motion.position, &mut stages.start, touches, report)?;
        // The forces are still those of x^n.
        let dt = stages.dt;
        let mut velocity = stages.start.clone();
        let force = self.total_force(solid, &velocity);
        add_push(solid, &force, 0.5 * dt, &mut velocity);
        solid.update(&stages.next)?;
        // Contacts keep the normal velocity of the obstacle through both halves.
        hold(&mut velocity, touches);
        let (change, iterations) = self.velocity_change(solid, &velocity, 0.5 * dt, touches)?;
        report.linear_iterations += iterations;
        Ok(plus(&velocity, 1.0, &change))
    }

    /// Scheme B, the order of the pseudo-code of spec 3.14: the velocity half way with normal constraints, from there to the end, friction from the forces that the
    /// constraints held back.
    fn finish_b(
        &mut self,
        solid: &mut Solid<D>,
        motion: &Motion,
        stages: &mut Stages,
        touches: &[Touch<D>],
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        let midway: Vec<f64> = motion.position.iter().zip(&stages.next).map(|(a, b)| 0.5 * (a + b)).collect();
        if self.is_coupled() {
            return self.coupled_end(solid, &midway, stages, 0.5, touches, report);
        }
        self.keep_volume(solid, &midway, &mut stages.start, touches, report)?;
        solid.update(&midway)?;
        let dt = stages.dt;
        let (change, _, count) =
            self.velocity_with_links(solid, &midway, &stages.start, 0.5 * dt, touches)?;
        report.count(&count);
        if let Some(carriers) = &mut self.carriers {
            carriers.change.iter_mut().for_each(|change| *change = *change * 2.0);
        }
        let mut velocity = plus(&stages.start, 2.0, &change);
        if self.method == CollisionMethod::Swept && !touches.is_empty() {
            let force = self.total_force(solid, &plus(&stages.start, 1.0, &change));
            self.rub(solid, &force, dt, touches, &mut velocity);
        }
        Ok(velocity)
    }

    /// Scheme C: a backward Euler velocity at the new positions. The linearly implicit one goes on with forces and stiffness of the old ones: what the half step found by them, and
    /// everything in the world that moved positions since, only counts from the next step on.
    fn finish_c(
        &mut self,
        solid: &mut Solid<D>,
        stages: &mut Stages,
        touches: &[Touch<D>],
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        if self.is_coupled() {
            let next = stages.next.clone();
            return self.coupled_end(solid, &next, stages, 1.0, touches, report);
        }
        self.keep_volume(solid, &stages.next, &mut stages.start, touches, report)?;
        if self.ahead == 0.0 {
            solid.update(&stages.next)?;
        }
        let (change, [resisted, missing], count) =
            self.velocity_with_links(solid, &stages.next, &stages.start, stages.dt, touches)?;
        report.count(&count);
        if self.ahead > 0.0 {
            (stages.resisted, stages.missing) = (resisted, missing);
        }
        let mut velocity = plus(&stages.start, 1.0, &change);
        if self.method == CollisionMethod::Swept && !touches.is_empty() {
            let force = self.total_force(solid, &velocity);
            self.rub(solid, &force, stages.dt, touches, &mut velocity);
        }
        Ok(velocity)
    }

    /// Plain Newmark: the implicit second half.
    fn finish_newmark(
        &mut self,
        solid: &mut Solid<D>,
        stages: &mut Stages,
        touches: &[Touch<D>],
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        let next = stages.next.clone();
        self.keep_volume(solid, &next, &mut stages.start, touches, report)?;
        solid.update(&stages.next)?;
        let (change, iterations) = self.velocity_change(solid, &stages.start, 0.5 * stages.dt, touches)?;
        report.linear_iterations += iterations;
        Ok(plus(&stages.start, 1.0, &change))
    }

    /// The explicit half of plain Newmark.
    fn explicit_half(
        &self,
        solid: &mut Solid<D>,
        motion: &Motion,
        dt: f64,
    ) -> Result<Vec<f64>, IntegrateError> {
        solid.update(&motion.position)?;
        let force = self.total_force(solid, &motion.velocity);
        let mut moving = motion.velocity.clone();
        add_push(solid, &force, 0.5 * dt, &mut moving);
        Ok(moving)
    }

    /// Elastic forces and weights at the last update, and implicit forces at `velocity` (N).
    fn total_force(&self, solid: &Solid<D>, velocity: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; velocity.len()];
        solid.add_elastic(&mut force);
        solid.add_gravity(&mut force);
        let known = |force: &mut [f64]| {
            self.memory.as_ref().is_some_and(|memory| memory.add_forces(solid, self.ahead, velocity, force))
        };
        if self.resists(solid) && !known(&mut force) {
            add_resistance(solid, self.ahead, velocity, &mut force);
        }
        force
    }

    /// Friction at obstacles: `force` is what pushes on the particles during the `dt` that the normal constraints held back.
    pub(super) fn rub(
        &self,
        solid: &Solid<D>,
        force: &[f64],
        dt: f64,
        touches: &[Touch<D>],
        velocity: &mut [f64],
    ) {
        for touch in touches {
            let push = read::<D>(force, touch.node).dot(&touch.normal)
                * dt
                * solid.inverse_mass(touch.node as usize);
            let push = if self.release { push } else { push.min(0.0) };
            apply(velocity, touch.node, |v: Vector<D>| {
                friction_map(&(v + touch.normal * push), &touch.normal, &touch.body_velocity, touch.friction)
            });
        }
    }
}

/// Changes the velocity of what is not pinned by `force` over `dt`.
pub(super) fn add_push<const D: usize>(solid: &Solid<D>, force: &[f64], dt: f64, velocity: &mut [f64]) {
    for particle in (0..solid.len()).filter(|&particle| !solid.pinned()[particle]) {
        for at in D * particle..D * (particle + 1) {
            velocity[at] += dt / solid.masses()[particle] * force[at];
        }
    }
}

/// What pressures of incompressible bodies push on besides particles.
pub(super) fn pushed<'a, const D: usize>(
    carriers: Option<&'a Carriers<D>>,
    links: &'a [Link<D>],
) -> Option<Pushed<'a, D>>
where
    Dim<D>: Space<D>,
{
    Some(Pushed { carriers: carriers?, links })
}

/// Takes away the velocity towards the objects that particles touch.
pub(super) fn hold<const D: usize>(velocity: &mut [f64], touches: &[Touch<D>]) {
    for touch in touches {
        apply(velocity, touch.node, |v: Vector<D>| {
            let excess = (v - touch.body_velocity).dot(&touch.normal);
            v - touch.normal * excess.min(0.0)
        });
    }
}

fn apply<const D: usize>(values: &mut [f64], node: u32, map: impl FnOnce(Vector<D>) -> Vector<D>) {
    let at = D * node as usize;
    let new = map(read::<D>(values, node));
    values[at..at + D].copy_from_slice(new.as_slice());
}
