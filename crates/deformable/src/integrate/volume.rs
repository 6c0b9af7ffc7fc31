//! Where the explicit schemes keep the volume of incompressible bodies: by corrections of their velocities, or in one solve with damping.

use super::explicit::{add_push, hold, plus, pushed};
use super::{Constraints, IntegrateError, IntegrationReport, Integrator, Motion, Scheme, Stages};
use crate::collide::{CollisionMethod, Touch};
use crate::incompressible::{CoupledStep, Kept};
use crate::solid::Solid;
use splashdown_math::{Dim, Space};
use splashdown_solve::ConstraintFilter;

impl<const D: usize> Integrator<D>
where
    Dim<D>: Space<D>,
{
    /// Are damping and volume one solve? Where rigid bodies that move carry or touch particles they are two.
    pub(super) fn is_coupled(&self) -> bool {
        matches!(self.scheme, Scheme::B | Scheme::C)
            && self.carriers.is_none()
            && self.links.is_empty()
            && self.incompressible.as_ref().is_some_and(|body| body.options.monolithic)
    }

    /// Elastic forces and weights at the last update (N).
    fn explicit_force(&self, solid: &Solid<D>) -> Vec<f64> {
        let mut force = vec![0.0; D * solid.len()];
        solid.add_elastic(&mut force);
        solid.add_gravity(&mut force);
        force
    }

    /// The velocity that moves positions, with damping and volume in one solve.
    pub(super) fn coupled_motion(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        let mut free = motion.velocity.clone();
        add_push(solid, &self.explicit_force(solid), 0.5 * dt, &mut free);
        let (touches, _) = self.coming_touches(solid, motion, &free, dt)?;
        hold(&mut free, &touches);
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(&motion.position, 1.0));
        let Some(body) = &mut self.incompressible else { return Ok(free) };
        let tolerance = self.tolerance.min(body.options.tolerance);
        let step = CoupledStep { free: &free, tau: 0.5 * dt, tolerance };
        let kept = Kept::objects(&touches, &pairs);
        let report = &mut report.incompressible;
        Ok(body.coupled_motion(solid, &motion.position, &step, dt, &kept, report)?.velocity)
    }

    /// The velocity at the end of the step, with damping and volume at `position` in one solve over `part` of it, from which the velocity goes on as it changed.
    pub(super) fn coupled_end(
        &mut self,
        solid: &mut Solid<D>,
        position: &[f64],
        stages: &Stages,
        part: f64,
        touches: &[Touch<D>],
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        solid.update(position)?;
        let (dt, tau) = (stages.dt, part * stages.dt);
        let mut force = self.explicit_force(solid);
        let mut change = vec![0.0; force.len()];
        add_push(solid, &force, tau, &mut change);
        Constraints::new(solid.pinned(), touches).filter(&mut change);
        let free = plus(&stages.start, 1.0, &change);
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(position, 1.0));
        let Some(body) = &mut self.incompressible else { return Ok(free) };
        let tolerance = self.tolerance.min(body.options.tolerance);
        let step = CoupledStep { free: &free, tau, tolerance };
        let kept = Kept::objects(touches, &pairs);
        let report = &mut report.incompressible;
        // The rates of `start` are left by as much as going on from there takes off.
        let coupled =
            body.coupled_velocity(solid, position, &stages.start, 1.0 - part, &step, &kept, report)?;
        let (half, start) = (&coupled.velocity, &stages.start);
        let mut velocity: Vec<f64> =
            start.iter().zip(half).map(|(start, v)| start + (v - start) / part).collect();
        if self.method == CollisionMethod::Swept && !touches.is_empty() {
            // Pressures push on objects as elastic forces do.
            force.iter_mut().zip(&coupled.impulse).for_each(|(force, impulse)| *force += impulse / tau);
            self.rub(solid, &force, dt, touches, &mut velocity);
        }
        Ok(velocity)
    }

    /// For schemes that do not have the corrections in their stages: takes the step they made, and corrects where it leads and how it goes on. Where that is free of intersections it stays so:
    /// a correction that would make surfaces meet is made in part, and the rest is left to the next step.
    pub(super) fn restore_volume(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        next: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let Some(incompressible) = &mut self.incompressible else { return Ok(()) };
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(&next.position, 1.0));
        let kept = Kept::objects(&self.touches, &pairs);
        let report = &mut report.incompressible;
        let mut corrected = next.position.clone();
        incompressible.correct_positions(solid, &motion.position, &mut corrected, dt, &kept, report)?;
        if let Some(contact) = &self.self_contact {
            let change: Vec<f64> = corrected.iter().zip(&next.position).map(|(to, from)| to - from).collect();
            let part = contact.free_part(&next.position, &change);
            report.held_back = report.held_back.max(1.0 - part);
            if part < 1.0 {
                corrected = plus(&next.position, part, &change);
            }
        }
        next.position = corrected;
        incompressible.correct_velocity(solid, &next.position, &mut next.velocity, &kept, report)?;
        Ok(())
    }

    /// Corrects the velocity `moving` from which positions move, so that incompressible bodies have their volume where it leads.
    pub(super) fn keep_volume_ahead(
        &mut self,
        solid: &Solid<D>,
        motion: &Motion,
        moving: &mut [f64],
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        if self.incompressible.is_none() {
            return Ok(());
        }
        let pairs = self.self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(&motion.position, 1.0));
        let (touches, _) = self.coming_touches(solid, motion, moving, dt)?;
        let Self { incompressible, carriers, links, .. } = &mut *self;
        let Some(body) = incompressible else { return Ok(()) };
        let kept = Kept { touches: &touches, pairs: &pairs, bodies: pushed(carriers.as_ref(), links) };
        let pressed =
            body.correct_motion(solid, &motion.position, moving, dt, &kept, &mut report.incompressible)?;
        if let Some(carriers) = carriers {
            carriers.pressed = pressed;
        }
        Ok(())
    }

    /// Removes the change of volume from the velocity `start` of incompressible bodies, at `position`.
    pub(super) fn keep_volume(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        start: &mut [f64],
        touches: &[Touch<D>],
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let Self { incompressible, carriers, links, self_contact, .. } = &mut *self;
        let Some(incompressible) = incompressible else { return Ok(()) };
        let pairs = self_contact.as_ref().map_or_else(Vec::new, |c| c.rows(position, 1.0));
        let kept = Kept { touches, pairs: &pairs, bodies: pushed(carriers.as_ref(), links) };
        let pressed =
            incompressible.correct_velocity(solid, position, start, &kept, &mut report.incompressible)?;
        if let Some(carriers) = carriers {
            carriers.pressed = pressed;
        }
        Ok(())
    }
}
