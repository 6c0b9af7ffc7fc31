//! Bodies of finite elements in a world: they are advanced by their own integrator after the coupled step, and see rigid bodies as obstacles that move as that step moved them.
//!
//! What does not live here: elements and integrators (`splashdown-deformable`).

use crate::{Diagnostics, State};
use serde::{Deserialize, Serialize};
use splashdown_deformable::integrate::{IntegrationReport, Integrator, Motion, Scheme};
use splashdown_deformable::{ForceError, Solid};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Vector};
use splashdown_rigid::Body;
use std::ops::Range;

/// Kind of element of a body, for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolidElement {
    /// Two particles.
    Segment,
    /// Three particles.
    Triangle,
    /// Four particles.
    Tetrahedron,
    /// Eight particles in the order `4 i + 2 j + k`.
    Hexahedron,
}

/// A named body of elements.
#[derive(Debug, Clone)]
pub struct SolidBody {
    /// Unique name.
    pub name: String,
    /// Its particles among those of all solids.
    pub particles: Range<usize>,
    /// Kind of its elements.
    pub element: SolidElement,
    /// Particles of its elements, counted from its first.
    pub elements: Vec<u32>,
    /// Its particles' positions at rest (m), flat, for pictures of strain.
    pub rest: Vec<f64>,
    /// Its forces among those of the solid.
    pub forces: Range<usize>,
    /// Strength of its material against time: `(s, factor)`, ascending, linear in between; empty for 1.
    pub strength: Vec<[f64; 2]>,
}

/// All bodies of elements with their integrator.
#[derive(Debug, Clone)]
pub struct Solids<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Masses and forces.
    pub solid: Solid<D>,
    /// How they are advanced.
    pub integrator: Integrator<D>,
    /// The bodies.
    pub bodies: Vec<SolidBody>,
    /// Rigid body that each obstacle of the integrator follows.
    pub followed: Vec<usize>,
    /// Part of the elastic stability limit that explicit steps use.
    pub safety: f64,
}

/// What of the solids changes: all that a checkpoint holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SolidState {
    /// Positions, velocities, time.
    pub motion: Motion,
    /// Plastic deformations, rest angles and lengths, by force.
    pub history: Vec<Vec<f64>>,
    /// Pairs in contact with their sides.
    pub contact: Vec<f64>,
}

/// Halvings of an implicit step that does not converge before it is given up.
const MOST_HALVINGS: u32 = 6;

impl<const D: usize> Solids<D>
where
    Dim<D>: Space<D>,
{
    /// No bodies yet.
    pub fn new(gravity: Vector<D>, scheme: Scheme) -> Self {
        let mut integrator = Integrator::new(scheme);
        integrator.tolerance = 1e-4;
        Self {
            solid: Solid::new(Vec::new(), Vec::new(), gravity),
            integrator,
            bodies: Vec::new(),
            followed: Vec::new(),
            safety: 0.5,
        }
    }

    /// The state at `motion`.
    pub fn state(&self, motion: Motion) -> SolidState {
        let contact =
            self.integrator.self_contact.as_ref().map_or_else(Vec::new, |contact| contact.history());
        SolidState { motion, history: self.solid.history(), contact }
    }

    /// Takes back a saved state; false if it is of another world.
    pub fn restore(&mut self, state: &SolidState) -> bool {
        let count = D * self.solid.len();
        state.motion.position.len() == count
            && state.motion.velocity.len() == count
            && self.solid.restore(&state.history)
            && self.integrator.self_contact.as_mut().is_none_or(|contact| contact.restore(&state.contact))
    }

    /// Advances the solids of `next` by `dt`, while the rigid bodies go from where they are in `before` to where they are in `next`.
    pub(crate) fn step(
        &mut self,
        bodies: &[Body<D>],
        before: &State<D>,
        next: &mut State<D>,
        dt: f64,
    ) -> Result<IntegrationReport, String> {
        let mut motion = before.solids.motion.clone();
        let start = motion.time;
        let mut report = IntegrationReport::default();
        let (mut done, mut halvings, mut limit) = (0.0, 0, None);
        // Longest part that has not failed in this step.
        let mut allowed = dt;
        while done < dt {
            self.set_strengths(start + done);
            let longest = match limit {
                // Laws that harden and plastic rest shapes have a limit that changes on the way; strengths do, too.
                Some(limit) if !self.solid.stable_step_varies() && self.constant_strength() => limit,
                _ => self.longest_step(&motion).map_err(|error| error.to_string())?,
            };
            limit = Some(longest);
            let left = dt - done;
            // A little more than a whole number of parts is rounding, not one part more.
            let parts = (left / longest.min(allowed) * (1.0 - 1e-12)).ceil().max(1.0);
            // The last part ends at the end to the bit, so that no sliver remains.
            let (step, after) = if parts > 1.0 { (left / parts, done + left / parts) } else { (left, dt) };
            for (obstacle, &body) in self.integrator.obstacles.iter_mut().zip(&self.followed) {
                let (old, new) = (&before.bodies[body].frame, &next.bodies[body].frame);
                let at = |t: f64| -> Frame<D> { old.interpolate(new, t) };
                (obstacle.start, obstacle.end) = (at(done / dt), at(after / dt));
                // Bodies that nothing moves keep their twist to the bit; others have that of the step.
                obstacle.twist = if bodies[body].is_dynamic() {
                    old.twist_to(new, dt)
                } else {
                    next.bodies[body].twist(&bodies[body])
                };
            }
            match self.integrator.step(&mut self.solid, &mut motion, step) {
                Ok(one) => {
                    done = after;
                    report.linear_iterations += one.linear_iterations;
                    report.newton_iterations += one.newton_iterations;
                    report.contacts = one.contacts;
                    report.self_contact = one.self_contact;
                }
                Err(_) if halvings < MOST_HALVINGS => {
                    halvings += 1;
                    allowed = 0.5 * step;
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        motion.time = start + dt;
        next.solids = self.state(motion);
        Ok(report)
    }

    /// Longest explicit step from here (s): a part of the elastic limit, and no edge changes by more than a tenth unless that would take ten times the steps.
    fn longest_step(&mut self, motion: &Motion) -> Result<f64, ForceError> {
        let scale = match self.integrator.scheme {
            Scheme::Implicit(_) => return Ok(f64::INFINITY),
            Scheme::C => std::f64::consts::FRAC_1_SQRT_2,
            _ => 1.0,
        };
        self.solid.update(&motion.position)?;
        let elastic = scale * self.safety * self.solid.stable_step();
        Ok(elastic.min(self.solid.strain_rate_step(&motion.position, &motion.velocity).max(0.1 * elastic)))
    }

    fn constant_strength(&self) -> bool {
        self.bodies.iter().all(|body| body.strength.is_empty())
    }

    fn set_strengths(&mut self, time: f64) {
        for body in self.bodies.iter().filter(|body| !body.strength.is_empty()) {
            let strength = piecewise(&body.strength, time);
            for force in &mut self.solid.forces_mut()[body.forces.clone()] {
                force.set_strength(strength);
            }
        }
    }

    /// The body that `particle` belongs to, and its index there; for messages.
    pub fn name_of_particle(&self, particle: usize) -> (&str, usize) {
        self.bodies
            .iter()
            .find(|body| body.particles.contains(&particle))
            .map_or(("?", particle), |body| (&body.name, particle - body.particles.start))
    }

    /// Adds the solids' part to conserved quantities. Elastic energy is that of the last evaluation inside the step.
    pub(crate) fn measure(&self, state: &SolidState, out: &mut Diagnostics) {
        let mut momentum = Vector::<D>::zeros();
        let mut angular = Spin::<D>::zero();
        for particle in (0..self.solid.len()).filter(|&particle| !self.solid.pinned()[particle]) {
            let mass = self.solid.masses()[particle];
            let (x, v) = (state.motion.point::<D>(particle), state.motion.speed::<D>(particle));
            out.mass += mass;
            momentum += v * mass;
            angular += Dim::cross(&x, &(v * mass));
            out.max_speed = out.max_speed.max(v.norm());
        }
        for (sum, own) in out.momentum.iter_mut().zip(momentum.iter()) {
            *sum += own;
        }
        for (sum, own) in out.angular_momentum.iter_mut().zip(Coordinates::as_slice(&angular)) {
            *sum += own;
        }
        let kinetic = self.solid.kinetic_energy(&state.motion.velocity);
        let mut at_rest = self.solid.clone();
        let elastic = at_rest.update(&state.motion.position).map_or(f64::NAN, |()| at_rest.energy());
        let gravity = self.solid.gravity_energy(&state.motion.position);
        out.kinetic_energy += kinetic;
        out.elastic_energy += elastic;
        out.gravity_energy += gravity;
        out.total_energy += kinetic + elastic + gravity;
    }
}

/// Linear between the points `(t, value)`, constant outside.
fn piecewise(points: &[[f64; 2]], t: f64) -> f64 {
    let after = points.partition_point(|point| point[0] <= t);
    match (after.checked_sub(1).map(|at| points[at]), points.get(after)) {
        (None, Some(first)) => first[1],
        (Some(last), None) => last[1],
        (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * (t - a[0]) / (b[0] - a[0]),
        (None, None) => 1.0,
    }
}
