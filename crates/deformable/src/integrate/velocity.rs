//! Implicit damping: `(M - tau D) dv = tau (F + D v)` with pinned particles and normal constraints kept (spec 3.15, section 4). With linearly implicit elasticity `D - h K` takes the place
//! of `D`: the elastic force `h` seconds on, by the positive semidefinite stiffness `K` of the last update.

use super::constrained::{Constrained, ConstraintForm, Keeping};
use super::damped_mass::{Assembled, ByElements, DampedMass, add_mean_diagonal, take_resistance};
use super::{Carriers, IntegrateError, IntegrationReport, Integrator, Link, SolveCount};
use crate::collide::Touch;
use crate::force::read;
use crate::solid::Solid;
use splashdown_math::{Dim, Space, Vector};
use splashdown_solve::vector::{axpy, dot};
use splashdown_solve::{
    BlockCsrMatrix, ConstraintFilter, Iteration, Jacobi, LinearOperator, SparseCholesky, Stopping,
    filtered_pcg,
};

/// How far a released particle may go into what it touches, as a part of the distance to its neighbours.
const FARTHEST_PUSH: f64 = 1e-3;

/// Most unknowns of a velocity solve whose matrix is factored if iterations do not get there.
const MOST_FACTORED: usize = 300_000;

/// Part of the strongest push of a contact below which its pull is rounding.
const PULL: f64 = 1e-6;

/// A velocity solve with links.
pub(super) struct Damped {
    /// The velocity (m/s) with the links kept.
    pub velocity: Vec<f64>,
    /// The velocity without what the links do: linked particles have their whole push, for contact to see. Only with implicit elasticity, where forces at an inexact velocity are no use.
    pub released: Vec<f64>,
    /// What the whole push is more than that (m/s), nothing with explicit elasticity.
    pub missing: Vec<f64>,
    /// What the solves took.
    pub count: SolveCount,
}

/// A change of velocity with constraints.
struct Changed {
    /// Of particles and carriers (m/s).
    change: Vec<f64>,
    /// What keeps the constraints (kg m/s).
    reaction: Vec<f64>,
    count: SolveCount,
}

/// Removes what pins and contacts forbid: all of a pinned particle's velocity, the span of the contact normals of a touching one.
pub(crate) struct Constraints<'a, const D: usize> {
    pinned: &'a [bool],
    /// Orthonormal normals of each touching particle.
    normals: Vec<(u32, Vec<Vector<D>>)>,
}

impl<'a, const D: usize> Constraints<'a, D> {
    pub fn new(pinned: &'a [bool], touches: &[Touch<D>]) -> Self {
        let mut sorted: Vec<&Touch<D>> = touches.iter().collect();
        // Stable: touches of one particle stay in the order of the obstacles.
        sorted.sort_by_key(|touch| touch.node);
        let mut normals: Vec<(u32, Vec<Vector<D>>)> = Vec::new();
        for touch in sorted {
            if normals.last().is_none_or(|(node, _)| *node != touch.node) {
                normals.push((touch.node, Vec::new()));
            }
            let Some((_, own)) = normals.last_mut() else { continue };
            let mut rest = touch.normal;
            for normal in own.iter() {
                rest -= normal * normal.dot(&rest);
            }
            let length = rest.norm();
            // Normals that are nearly in the span of the others add nothing.
            if length > 1e-3 && own.len() < D {
                own.push(rest / length);
            }
        }
        Self { pinned, normals }
    }
}

impl<const D: usize> ConstraintFilter for Constraints<'_, D> {
    fn filter(&self, v: &mut [f64]) {
        for (v, &pinned) in v.chunks_exact_mut(D).zip(self.pinned) {
            if pinned {
                v.fill(0.0);
            }
        }
        for (node, normals) in &self.normals {
            let v = &mut v[D * *node as usize..D * (*node as usize + 1)];
            for normal in normals {
                let along: f64 = (0..D).map(|axis| normal[axis] * v[axis]).sum();
                for axis in 0..D {
                    v[axis] -= along * normal[axis];
                }
            }
        }
    }
}

/// The same with the carriers, of which only those move that respond.
struct WithCarriers<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    particles: Constraints<'a, D>,
    carriers: Option<&'a Carriers<D>>,
}

impl<const D: usize> ConstraintFilter for WithCarriers<'_, D>
where
    Dim<D>: Space<D>,
{
    fn filter(&self, v: &mut [f64]) {
        let (own, tail) = v.split_at_mut(D * self.particles.pinned.len());
        self.particles.filter(own);
        if let Some(carriers) = self.carriers {
            carriers.filter(tail);
        }
    }
}

impl<const D: usize> Integrator<D>
where
    Dim<D>: Space<D>,
{
    /// Are there forces that depend on the velocity that is solved for?
    pub(super) fn resists(&self, solid: &Solid<D>) -> bool {
        self.ahead > 0.0 || (solid.damping_rows() > 0 && !self.undamped)
    }

    /// What stands for the matrix of a velocity solve, one number (kg) a particle: masses, with the mean diagonal of the stiffness where that is implicit.
    fn metric(&self, solid: &Solid<D>, resistance: &BlockCsrMatrix<D>) -> Vec<f64> {
        let mut metric = solid.masses().to_vec();
        if self.ahead > 0.0 {
            add_mean_diagonal(resistance, &mut metric);
        }
        metric
    }

    /// The velocity after `tau` seconds at which damping acts: forces at the last update, damping implicit, and all `links` kept. Linked particles then have a velocity that
    /// contact has still to give them; see [`links`](super::links). Implicit elasticity keeps only those links that push.
    pub(super) fn damping_velocity(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        velocity: &[f64],
        tau: f64,
        links: &[Link<D>],
    ) -> Result<Damped, IntegrateError> {
        let mut links = links.to_vec();
        let mut count = SolveCount::default();
        let resistance = Assembled::new(solid, tau, self.ahead, self.memory.take());
        for last in [false, false, false, true] {
            let Changed { change, reaction, count: more } =
                self.linked_change(solid, &resistance.matrix, velocity, tau, &links, true)?;
            count.add(&more);
            if self.ahead > 0.0 && !last {
                let push = |link: &Link<D>| read::<D>(&reaction, link.particle).dot(&link.normal);
                let strongest = links.iter().map(|link| push(link).abs()).fold(0.0, f64::max);
                let before = links.len();
                links.retain(|link| push(link) >= -PULL * strongest);
                if links.len() < before {
                    continue;
                }
            }
            let damped = self.release(solid, position, velocity, &links, change, &reaction, count);
            self.kept = links;
            self.memory = Some(resistance);
            return Ok(damped);
        }
        Err(IntegrateError::Solve("contacts that come and go".into()))
    }

    /// The velocity (m/s) after `tau` seconds of the forces at the last update with damping implicit and all links and rows kept, in the form that the integrator has; those of the carriers
    /// are left with them. For studies of the forms: the stages of a step call it themselves.
    ///
    /// # Errors
    /// A solve that fails.
    pub fn constrained_velocity(
        &mut self,
        solid: &Solid<D>,
        velocity: &[f64],
        tau: f64,
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        let links = self.links.clone();
        let resistance = Assembled::new(solid, tau, self.ahead, self.memory.take());
        let Changed { change, count, .. } =
            self.linked_change(solid, &resistance.matrix, velocity, tau, &links, true)?;
        self.memory = Some(resistance);
        report.count(&count);
        Ok(self.after(velocity, change))
    }

    /// Damping alone, over `dt` seconds from `velocity` (m/s), with all links, rows and contacts with obstacles kept; what it does to the carriers is left with them.
    ///
    /// # Errors
    /// A solve that fails.
    pub fn damp(
        &mut self,
        solid: &Solid<D>,
        velocity: &[f64],
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<Vec<f64>, IntegrateError> {
        let mut links = self.links.clone();
        links.extend(self.touches.iter().map(|touch| {
            let (particle, normal) = (touch.node, touch.normal);
            Link { particle, carrier: None, normal, arm: Vector::zeros(), change: 0.0 }
        }));
        let resistance = Assembled::new(solid, dt, self.ahead, self.memory.take());
        let Changed { change, count, .. } =
            self.linked_change(solid, &resistance.matrix, velocity, dt, &links, false)?;
        self.memory = Some(resistance);
        report.count(&count);
        Ok(self.after(velocity, change))
    }

    /// `velocity` with a change of particles and carriers; that of the carriers is left with them.
    fn after(&mut self, velocity: &[f64], mut change: Vec<f64>) -> Vec<f64> {
        if let Some(carriers) = &mut self.carriers {
            let (own, tail) = change.split_at_mut(velocity.len());
            carriers.spread(tail, own);
            carriers.take_change(tail);
        }
        change.truncate(velocity.len());
        change.iter_mut().zip(velocity).for_each(|(change, v)| *change += v);
        change
    }

    /// What becomes of a change of velocities with links when these no longer hold.
    #[expect(clippy::too_many_arguments, reason = "the parts of one solve")]
    fn release(
        &mut self,
        solid: &Solid<D>,
        position: &[f64],
        velocity: &[f64],
        links: &[Link<D>],
        mut change: Vec<f64>,
        reaction: &[f64],
        taken: SolveCount,
    ) -> Damped {
        let count = velocity.len();
        let (mut released, mut missing) = (Vec::new(), Vec::new());
        if self.ahead > 0.0 {
            missing = vec![0.0; count];
            let spacing =
                solid.spacing(&links.iter().map(|link| link.particle).collect::<Vec<_>>(), position);
            released = velocity.iter().zip(&change).map(|(v, change)| v + change).collect();
            let mut ends: Vec<&Link<D>> = links.iter().collect();
            ends.sort_by_key(|link| (link.particle, link.carrier.is_none()));
            ends.dedup_by_key(|link| link.particle);
            for link in ends {
                let push = read::<D>(reaction, link.particle).dot(&link.normal).max(0.0);
                // A push far enough for contact to see; the whole one would carry the small mass of a particle through what it touches.
                let most = FARTHEST_PUSH * spacing[&link.particle] / self.ahead;
                let whole = push * solid.inverse_mass(link.particle as usize);
                let seen = whole.min(most);
                for axis in 0..D {
                    let at = D * link.particle as usize + axis;
                    released[at] -= link.normal[axis] * seen;
                    missing[at] -= link.normal[axis] * (whole - seen);
                }
            }
            if let Some(carriers) = &mut self.carriers {
                let mut back = reaction[count..].to_vec();
                carriers.divide_by_mass(&mut back);
                let tail: Vec<f64> = change[count..].iter().zip(&back).map(|(v, back)| v - back).collect();
                carriers.take_change(&tail);
            }
        }
        if let Some(carriers) = &self.carriers {
            let (own, tail) = change.split_at_mut(count);
            carriers.spread(tail, own);
        }
        change.truncate(count);
        change.iter_mut().zip(velocity).for_each(|(change, v)| *change += v);
        Damped { velocity: change, released, missing, count: taken }
    }

    /// The change of velocity of particles and carriers with `links` and all rows of the integrator kept, in the form that it has; `driven` by elastic forces and weights, or damped only.
    fn linked_change(
        &self,
        solid: &Solid<D>,
        resistance: &BlockCsrMatrix<D>,
        velocity: &[f64],
        tau: f64,
        links: &[Link<D>],
        driven: bool,
    ) -> Result<Changed, IntegrateError> {
        let count = velocity.len();
        let mut force = vec![0.0; count];
        let carriers = self.carriers.as_ref();
        if driven {
            solid.add_elastic(&mut force);
            solid.add_gravity(&mut force);
            if let Some(carriers) = carriers {
                carriers.take_weights(solid, 1.0, &mut force);
            }
            force.iter_mut().for_each(|force| *force *= tau);
        }
        let gravity = if driven { solid.gravity } else { Vector::zeros() };
        let form = match self.form {
            // Only damping has a factor.
            ConstraintForm::PositiveDefinite | ConstraintForm::Indefinite if self.ahead > 0.0 => {
                ConstraintForm::Projection
            }
            form => form,
        };
        let with_carriers = |mut impulse: Vec<f64>| {
            if let Some(carriers) = carriers {
                let mut tail = vec![0.0; carriers.carriers.len() * Carriers::<D>::SIZE];
                carriers.gather(1.0, &mut impulse, &mut tail);
                carriers.add_gravity(tau, &gravity, &mut tail);
                impulse.extend(tail);
            }
            impulse
        };
        let coupled = matches!(form, ConstraintForm::PositiveDefinite | ConstraintForm::Indefinite);
        let explicit = if coupled { with_carriers(force.clone()) } else { Vec::new() };
        take_resistance(resistance, velocity, &mut force);
        let force = with_carriers(force);
        let metric = self.metric(solid, resistance);
        let constrained = Constrained::new(links, &self.rows, &metric, solid.pinned(), carriers);
        let operator = DampedMass { solid, carriers, resistance };
        let (change, taken) = if coupled {
            let stopping =
                Stopping { max_iterations: 10 * self.max_iterations, ..Stopping::relative(self.tolerance) };
            let (change, iterations) =
                constrained.solve_coupled(solid, form, tau, velocity, &explicit, stopping)?;
            (change, SolveCount { iterations, ..SolveCount::default() })
        } else {
            let keeping = constrained.keeping(form)?;
            let (change, taken) = self.projected_change(&operator, &metric, &keeping, &force)?;
            (change, SolveCount { kept: links.len() + self.rows.len(), ..taken })
        };
        let mut reaction = vec![0.0; change.len()];
        operator.apply(&change, &mut reaction);
        reaction.iter_mut().zip(&force).for_each(|(reaction, force)| *reaction -= force);
        Ok(Changed { change, reaction, count: taken })
    }

    /// The change of velocity by the impulses `force` with everything kept, by conjugate gradients whose directions keep it; the preconditioner is the inverse of `metric`.
    fn projected_change(
        &self,
        operator: &DampedMass<'_, D>,
        metric: &[f64],
        keeping: &Keeping<'_, D>,
        force: &[f64],
    ) -> Result<(Vec<f64>, SolveCount), IntegrateError> {
        let DampedMass { solid, carriers, .. } = *operator;
        let masses: Vec<f64> = metric.iter().flat_map(|&mass| [mass; D]).collect();
        let moves = metric.iter().zip(solid.pinned());
        let inverses: Vec<f64> =
            moves.flat_map(|(mass, pinned)| [if *pinned { 0.0 } else { mass.recip() }; D]).collect();
        let count = masses.len();
        let divide = |r: &[f64], z: &mut [f64]| {
            let ((own, tail), (z, z_tail)) = (r.split_at(count), z.split_at_mut(count));
            for i in 0..count {
                z[i] = own[i] * inverses[i];
            }
            z_tail.copy_from_slice(tail);
            if let Some(carriers) = carriers {
                carriers.divide_by_mass(z_tail);
                carriers.filter(z_tail);
            }
        };
        // The inverse of the metric, then what keeps the links. Only what these leave of a residual counts; the rest would swamp it (Gould, Hribar and Nocedal 2001, residual update).
        let precondition = |r: &mut [f64], z: &mut [f64]| {
            divide(r, z);
            keeping.project(z, false);
            let ((r, r_tail), (z, z_tail)) = (r.split_at_mut(count), z.split_at(count));
            for i in 0..count {
                r[i] = masses[i] * z[i];
            }
            r_tail.fill(0.0);
            if let Some(carriers) = carriers {
                carriers.add_mass(z_tail, r_tail);
            }
        };
        // A change that keeps the links, and from there what is left.
        let mut change = vec![0.0; force.len()];
        keeping.project(&mut change, true);
        let mut image = vec![0.0; force.len()];
        operator.apply(&change, &mut image);
        let mut residual: Vec<f64> = force.iter().zip(&image).map(|(f, a)| f - a).collect();
        let mut z = vec![0.0; force.len()];
        divide(&residual, &mut z);
        // Driven below what sweeps leave of the constraints, the iteration would find the forbidden directions and amplify them.
        let leak = keeping.leak(&z);
        let loosened = usize::from(self.tolerance < leak);
        let tolerance = self.tolerance.max(leak);
        precondition(&mut residual, &mut z);
        let mut direction = z.clone();
        let mut rho = dot(&residual, &z);
        let enough = tolerance * tolerance * rho;
        let mut iterations = 0;
        while rho > enough && rho > 0.0 && iterations < self.max_iterations {
            operator.apply(&direction, &mut image);
            let curvature = dot(&direction, &image);
            if !(curvature > 0.0) {
                break;
            }
            let length = rho / curvature;
            axpy(length, &direction, &mut change);
            axpy(-length, &image, &mut residual);
            precondition(&mut residual, &mut z);
            let next = dot(&residual, &z);
            let ratio = next / rho;
            rho = next;
            direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + ratio * *d);
            iterations += 1;
        }
        if rho > 100.0 * enough && rho > 0.0 {
            return Err(IntegrateError::Solve(format!("no convergence after {iterations} iterations")));
        }
        Ok((change, SolveCount { iterations, leak, loosened, kept: 0 }))
    }

    /// The change of `velocity` over `tau` seconds by the forces at the last update, damping implicit, and the number of iterations. That of the carriers is left
    /// with them.
    pub(super) fn velocity_change(
        &mut self,
        solid: &Solid<D>,
        velocity: &[f64],
        tau: f64,
        touches: &[Touch<D>],
    ) -> Result<(Vec<f64>, usize), IntegrateError> {
        let mut force = vec![0.0; velocity.len()];
        solid.add_elastic(&mut force);
        solid.add_gravity(&mut force);
        let constraints = Constraints::new(solid.pinned(), touches);
        if !self.resists(solid) {
            if let Some(carriers) = &mut self.carriers {
                // The weight of a carried particle is not borne by anything.
                let mut elastic = vec![0.0; velocity.len()];
                solid.add_elastic(&mut elastic);
                carriers.take_forces(&elastic, tau, &solid.gravity);
            }
            for (force, mass) in force.chunks_exact_mut(D).zip(solid.masses()) {
                force.iter_mut().for_each(|force| *force *= tau / mass);
            }
            constraints.filter(&mut force);
            return Ok((force, 0));
        }
        let resistance = Assembled::new(solid, tau, self.ahead, self.memory.take());
        force.iter_mut().for_each(|force| *force *= tau);
        take_resistance(&resistance.matrix, velocity, &mut force);
        let mut diagonal: Vec<f64> =
            self.metric(solid, &resistance.matrix).iter().flat_map(|&mass| [mass; D]).collect();
        let carriers = self.carriers.as_ref();
        if let Some(carriers) = carriers {
            let own = carriers.diagonal();
            let mut tail = vec![0.0; own.len()];
            carriers.take_weights(solid, tau, &mut force);
            carriers.gather(1.0, &mut force, &mut tail);
            carriers.add_gravity(tau, &solid.gravity, &mut tail);
            force.extend(tail);
            diagonal.extend(own);
        }
        let constraints = WithCarriers { particles: constraints, carriers };
        let mut preconditioner = Jacobi::new(&diagonal)?;
        let stopping = Stopping { max_iterations: self.max_iterations, ..Stopping::relative(self.tolerance) };
        let weights = preconditioner.inverse_diagonal().to_vec();
        let mut iteration = Iteration { weights: Some(&weights), ..Iteration::new(stopping) };
        let mut change = vec![0.0; force.len()];
        let operator = DampedMass { solid, carriers, resistance: &resistance.matrix };
        let workspace = &mut self.workspace;
        let mut report = filtered_pcg(
            &operator,
            &mut preconditioner,
            &constraints,
            &force,
            &mut change,
            &mut iteration,
            workspace,
        )?;
        let by_elements = ByElements { solid, carriers, tau, ahead: self.ahead };
        // Bodies far lighter than their stiffness over such a step asks for need a factor; it costs more than many iterations, so they are tried first.
        if !report.outcome.converged()
            && self.ahead > 0.0
            && carriers.is_none()
            && change.len() <= MOST_FACTORED
        {
            let mut assembled = solid.clone();
            let (matrix, _) = assembled.assemble(1.0, tau * self.ahead, tau, true)?;
            let mut factor = SparseCholesky::new(matrix)?;
            change.fill(0.0);
            let mut iteration = Iteration { weights: Some(&weights), ..Iteration::new(stopping) };
            report = filtered_pcg(
                &by_elements,
                &mut factor,
                &constraints,
                &force,
                &mut change,
                &mut iteration,
                workspace,
            )?;
        }
        // Damping so strong that sums of elements lose the digits that are asked for: element after element they are there.
        if !report.outcome.converged() && self.ahead == 0.0 {
            change.fill(0.0);
            let mut iteration = Iteration { weights: Some(&weights), ..Iteration::new(stopping) };
            report = filtered_pcg(
                &by_elements,
                &mut preconditioner,
                &constraints,
                &force,
                &mut change,
                &mut iteration,
                workspace,
            )?;
        }
        // Accepted when nearly there (spec 3.18); a tolerance below rounding stagnates at rounding.
        if !report.outcome.converged() && !(report.relative_residual() < (10.0 * self.tolerance).max(1e-11)) {
            let reason =
                format!("{} at a relative residual of {:.1e}", report.outcome, report.relative_residual());
            return Err(IntegrateError::Solve(reason));
        }
        self.unfinished += usize::from(!report.outcome.converged());
        self.memory = Some(resistance);
        if let Some(carriers) = &mut self.carriers {
            carriers.take_change(&change[velocity.len()..]);
            change.truncate(velocity.len());
        }
        Ok((change, report.iterations))
    }
}
