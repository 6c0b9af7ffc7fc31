//! The schemes with explicit elasticity and implicit damping (spec 3.14).

use super::{IntegrateError, IntegrationReport, Integrator, Motion};
use crate::collide::{CollisionMethod, Path, Touch, collide, friction_map};
use crate::force::read;
use crate::incompressible::Kept;
use crate::solid::Solid;
use splashdown_math::{Dim, Space, Vector};

fn plus(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

impl<const D: usize> Integrator<D>
where
    Dim<D>: Space<D>,
{
    /// Objects: corrects the end positions and the velocity of the start of the step.
    fn collide_objects(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        moving: &[f64],
        next: &mut [f64],
        velocity: &mut [f64],
        dt: f64,
    ) {
        self.touches = collide(
            &self.obstacles,
            &self.colliders,
            self.method,
            |node| !solid.pinned()[node as usize],
            &Path { position: &motion.position, moving, dt },
            next,
            velocity,
        );
    }

    /// Contacts with objects that the motion `moving` would make from here.
    fn coming_touches(&self, solid: &Solid<D>, motion: &Motion, moving: &[f64], dt: f64) -> Vec<Touch<D>> {
        let (mut next, mut velocity) = (plus(&motion.position, dt, moving), moving.to_vec());
        collide(
            &self.obstacles,
            &self.colliders,
            self.method,
            |node| !solid.pinned()[node as usize],
            &Path { position: &motion.position, moving, dt },
            &mut next,
            &mut velocity,
        )
    }

    /// The velocity `moving` to the half step, from which positions move; incompressible bodies get back their volume by it.
    fn predict(
        &mut self,
        solid: &mut Solid<D>,
        motion: &Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        solid.update(&motion.position)?;
        let (half, iterations) = self.velocity_change(solid, &motion.velocity, 0.5 * dt, &[])?;
        report.linear_iterations += iterations;
        let mut moving = plus(&motion.velocity, 1.0, &half);
        let Some(contact_first) = self.incompressible.as_ref().map(|body| body.options.contact_in_prediction)
        else {
            return Ok(moving);
        };
        let touches = self.coming_touches(solid, motion, &moving, dt);
        if contact_first {
            let mut start = motion.velocity.clone();
            hold(&mut start, &touches);
            let (half, iterations) = self.velocity_change(solid, &start, 0.5 * dt, &touches)?;
            report.linear_iterations += iterations;
            moving = plus(&start, 1.0, &half);
        }
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(&motion.position, 1.0));
        let kept = Kept { touches: &touches, pairs: &pairs };
        if let Some(body) = &mut self.incompressible {
            let report = &mut report.incompressible;
            body.correct_motion(solid, &motion.position, &mut moving, dt, &kept, report)?;
        }
        Ok(moving)
    }

    /// For schemes that do not have the corrections in their stages: takes the step they made, and corrects where it leads and how it goes on.
    pub(super) fn restore_volume(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        next: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let Some(incompressible) = &mut self.incompressible else { return Ok(()) };
        let mut moving: Vec<f64> =
            next.position.iter().zip(&motion.position).map(|(new, old)| (new - old) / dt).collect();
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(&next.position, 1.0));
        let kept = Kept { touches: &self.touches, pairs: &pairs };
        let report = &mut report.incompressible;
        incompressible.correct_motion(solid, &motion.position, &mut moving, dt, &kept, report)?;
        next.position = plus(&motion.position, dt, &moving);
        incompressible.correct_velocity(solid, &next.position, &mut next.velocity, &kept, report)?;
        Ok(())
    }

    /// Removes the change of volume from the velocity `start` of incompressible bodies, at `position`.
    fn keep_volume(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        start: &mut [f64],
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let Some(incompressible) = &mut self.incompressible else { return Ok(()) };
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(position, 1.0));
        let kept = Kept { touches: &self.touches, pairs: &pairs };
        incompressible.correct_velocity(solid, position, start, &kept, &mut report.incompressible)?;
        Ok(())
    }

    /// Self-contact between the accepted and the new positions: corrects these, and the velocities by what the average velocity changed.
    fn collide_self(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        next: &mut [f64],
        velocity: &mut [f64],
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        if let Some(contact) = &mut self.self_contact {
            contact.resolve(
                &solid.inverse_masses(),
                &motion.position,
                next,
                velocity,
                dt,
                &mut report.self_contact,
            )?;
        }
        Ok(())
    }

    /// Scheme A: velocity to the half step, positions, trapezoidal velocity.
    pub(super) fn step_a(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let moving = self.predict(solid, motion, dt, report)?;
        let mut next = plus(&motion.position, dt, &moving);
        let mut start = motion.velocity.clone();
        self.collide_objects(solid, motion, &moving, &mut next, &mut start, dt);
        self.collide_self(solid, motion, &mut next, &mut start, dt, report)?;
        self.keep_volume(solid, &motion.position, &mut start, report)?;
        // The explicit half: a(x^n, v^n).
        let mut force = vec![0.0; start.len()];
        solid.add_elastic(&mut force);
        solid.add_gravity(&mut force);
        solid.add_damping(&start, &mut force);
        let mut velocity = start;
        for particle in (0..solid.len()).filter(|&particle| !solid.pinned()[particle]) {
            for at in D * particle..D * (particle + 1) {
                velocity[at] += 0.5 * dt / solid.masses()[particle] * force[at];
            }
        }
        solid.update(&next)?;
        let touches = std::mem::take(&mut self.touches);
        // Contacts keep the normal velocity of the obstacle through both halves.
        hold(&mut velocity, &touches);
        let (change, iterations) = self.velocity_change(solid, &velocity, 0.5 * dt, &touches)?;
        report.linear_iterations += iterations;
        motion.velocity = plus(&velocity, 1.0, &change);
        motion.position = next;
        self.touches = touches;
        Ok(())
    }

    /// Scheme B, the order of the pseudo-code of spec 3.14.
    pub(super) fn step_b(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        // 1. Velocity to the half step, without contact rows.
        let mut moving = self.predict(solid, motion, dt, report)?;
        // 2. Self-repulsions.
        let inverse = solid.inverse_masses();
        if let Some(contact) = &mut self.self_contact {
            contact.find_pairs(&motion.position);
            contact.repel(&inverse, &motion.position, &mut moving, dt, true);
        }
        // 3. and 4. Positions and objects.
        let mut next = plus(&motion.position, dt, &moving);
        let mut start = motion.velocity.clone();
        self.collide_objects(solid, motion, &moving, &mut next, &mut start, dt);
        self.collide_self(solid, motion, &mut next, &mut start, dt, report)?;
        // 5. Velocity at the half step with normal constraints.
        let midway: Vec<f64> = motion.position.iter().zip(&next).map(|(a, b)| 0.5 * (a + b)).collect();
        self.keep_volume(solid, &midway, &mut start, report)?;
        solid.update(&midway)?;
        let touches = std::mem::take(&mut self.touches);
        let (change, iterations) = self.velocity_change(solid, &start, 0.5 * dt, &touches)?;
        report.linear_iterations += iterations;
        // 6. To the end of the step.
        let mut velocity = plus(&start, 2.0, &change);
        // 7. Friction from the forces that the constraints held back.
        if self.method == CollisionMethod::Swept && !touches.is_empty() {
            let middle = plus(&start, 1.0, &change);
            let mut force = vec![0.0; middle.len()];
            solid.add_elastic(&mut force);
            solid.add_gravity(&mut force);
            solid.add_damping(&middle, &mut force);
            for touch in &touches {
                let push = read::<D>(&force, touch.node).dot(&touch.normal)
                    * 0.5
                    * dt
                    * inverse[touch.node as usize];
                let push = if self.release { 2.0 * push } else { (2.0 * push).min(0.0) };
                apply(&mut velocity, touch.node, |v: Vector<D>| {
                    friction_map(
                        &(v + touch.normal * push),
                        &touch.normal,
                        &touch.body_velocity,
                        touch.friction,
                    )
                });
            }
        }
        // 8. Friction and inelastic repulsions, no springs.
        if let Some(contact) = &mut self.self_contact {
            contact.repel(&inverse, &next, &mut velocity, dt, false);
        }
        motion.position = next;
        motion.velocity = velocity;
        self.touches = touches;
        Ok(())
    }

    /// Scheme C: Newmark positions, backward Euler velocity.
    pub(super) fn step_c(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let mut moving = self.predict(solid, motion, dt, report)?;
        let inverse = solid.inverse_masses();
        if let Some(contact) = &mut self.self_contact {
            contact.find_pairs(&motion.position);
            contact.repel(&inverse, &motion.position, &mut moving, dt, true);
        }
        let mut next = plus(&motion.position, dt, &moving);
        let mut start = motion.velocity.clone();
        self.collide_objects(solid, motion, &moving, &mut next, &mut start, dt);
        self.collide_self(solid, motion, &mut next, &mut start, dt, report)?;
        self.keep_volume(solid, &next, &mut start, report)?;
        solid.update(&next)?;
        let touches = std::mem::take(&mut self.touches);
        let (change, iterations) = self.velocity_change(solid, &start, dt, &touches)?;
        report.linear_iterations += iterations;
        let mut velocity = plus(&start, 1.0, &change);
        if self.method == CollisionMethod::Swept && !touches.is_empty() {
            let mut force = vec![0.0; velocity.len()];
            solid.add_elastic(&mut force);
            solid.add_gravity(&mut force);
            solid.add_damping(&velocity, &mut force);
            for touch in &touches {
                // Backward Euler holds back the whole step's push once.
                let push =
                    read::<D>(&force, touch.node).dot(&touch.normal) * dt * inverse[touch.node as usize];
                let push = if self.release { push } else { push.min(0.0) };
                apply(&mut velocity, touch.node, |v: Vector<D>| {
                    friction_map(
                        &(v + touch.normal * push),
                        &touch.normal,
                        &touch.body_velocity,
                        touch.friction,
                    )
                });
            }
        }
        if let Some(contact) = &mut self.self_contact {
            contact.repel(&inverse, &next, &mut velocity, dt, false);
        }
        motion.position = next;
        motion.velocity = velocity;
        self.touches = touches;
        Ok(())
    }

    /// Plain Newmark: explicit first half, implicit second half.
    pub(super) fn step_newmark(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        solid.update(&motion.position)?;
        let mut force = vec![0.0; motion.velocity.len()];
        solid.add_elastic(&mut force);
        solid.add_gravity(&mut force);
        solid.add_damping(&motion.velocity, &mut force);
        let mut moving = motion.velocity.clone();
        for particle in (0..solid.len()).filter(|&particle| !solid.pinned()[particle]) {
            for at in D * particle..D * (particle + 1) {
                moving[at] += 0.5 * dt / solid.masses()[particle] * force[at];
            }
        }
        let mut next = plus(&motion.position, dt, &moving);
        let mut start = moving.clone();
        self.collide_objects(solid, motion, &moving, &mut next, &mut start, dt);
        self.collide_self(solid, motion, &mut next, &mut start, dt, report)?;
        solid.update(&next)?;
        let touches = std::mem::take(&mut self.touches);
        let (change, iterations) = self.velocity_change(solid, &start, 0.5 * dt, &touches)?;
        report.linear_iterations += iterations;
        motion.velocity = plus(&start, 1.0, &change);
        motion.position = next;
        self.touches = touches;
        Ok(())
    }
}

/// Takes away the velocity towards the objects that particles touch.
fn hold<const D: usize>(velocity: &mut [f64], touches: &[Touch<D>]) {
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
