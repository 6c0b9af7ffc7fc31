//! Newton's method with line search on the potential of an implicit step, kept free of intersections by the barrier.

use super::IntegrateError;
use super::implicit::{GUESS, ImplicitOptions, NewtonReport};
use super::linear::{Inverse, NewtonOperator, Tools};
use crate::contact::Barrier;
use crate::solid::Solid;
use splashdown_math::{Dim, Space};
use splashdown_solve::{CsrMatrix, Workspace, vector};

/// Displacement, relative to the coordinates, below which a residual force is rounding.
const ROUNDING: f64 = 1e-14;
/// Part of the largest coordinate that a particle may move in one Newton step where there is contact.
const FARTHEST: f64 = 0.1;
/// The part of a step that is looked at for pairs that meet is so many times what was free of them in the one before, and at least this.
const WIDER: f64 = 4.0;
const NEAREST: f64 = 0.1;
/// An iteration that reduces the residual to this part leaves the matrix as it is.
const KEEP: f64 = 0.2;

/// The function that a step minimises, at fixed `x^n`, `x^`, `h`.
pub(super) struct Objective<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// `1 / h^2`; zero for statics.
    pub(super) inertia: f64,
    pub(super) predicted: &'a [f64],
    /// `c (-D)` with the pattern of the solid's matrix, and the centre `x^n + ...` about which it acts.
    pub(super) damping: Option<(CsrMatrix, Vec<f64>)>,
    /// Constant forces: gravity is in `predicted` for dynamics, here for statics.
    pub(super) force: Vec<f64>,
    pub(super) barrier: Option<&'a mut Barrier<D>>,
    /// Where the pinned particles are to be at the end, among the places of all.
    pub(super) targets: &'a [f64],
}

impl<const D: usize> Objective<'_, D>
where
    Dim<D>: Space<D>,
{
    /// Evaluates at `x`; the solid and the barrier are updated.
    fn value(&mut self, solid: &mut Solid<D>, x: &[f64]) -> Result<f64, IntegrateError> {
        solid.update(x)?;
        let mut value = solid.energy();
        if self.inertia > 0.0 {
            value += 0.5
                * self.inertia
                * vector::reduce(x.len(), |first, last| {
                    (first..last)
                        .map(|at| {
                            let away = x[at] - self.predicted[at];
                            if solid.pinned()[at / D] { 0.0 } else { solid.masses()[at / D] * away * away }
                        })
                        .sum()
                });
        }
        value -= x.iter().zip(&self.force).map(|(x, f)| x * f).sum::<f64>();
        if let Some((matrix, centre)) = &self.damping {
            let away: Vec<f64> = x.iter().zip(centre).map(|(x, c)| x - c).collect();
            let mut product = vec![0.0; x.len()];
            matrix.multiply(&away, &mut product);
            value += 0.5 * vector::dot(&away, &product);
        }
        if let Some(barrier) = &mut self.barrier {
            value += barrier.update(x);
        }
        Ok(value)
    }

    /// What pinned particles still have to go, zero for all others; none if they have arrived.
    fn left_to_go(&self, pinned: &[bool], x: &[f64]) -> Option<Vec<f64>> {
        let to_go = |at: usize| if pinned[at / D] { self.targets[at] - x[at] } else { 0.0 };
        (0..x.len()).any(|at| to_go(at) != 0.0).then(|| (0..x.len()).map(to_go).collect())
    }

    /// Moves pinned particles towards their targets as far as nothing is in the way; true if any moved.
    fn advance_pinned(&mut self, pinned: &[bool], x: &mut [f64]) -> bool {
        let Some(step) = self.left_to_go(pinned, x) else { return false };
        let part = self.barrier.as_mut().map_or(1.0, |barrier| barrier.largest_push(x, &step));
        for at in (0..x.len()).filter(|at| pinned[at / D]) {
            x[at] = if part == 1.0 { self.targets[at] } else { x[at] + part * step[at] };
        }
        true
    }

    /// Minus the gradient at the last point evaluated, zero for pinned particles, and the largest force on a particle.
    fn residual(&self, solid: &Solid<D>, x: &[f64]) -> (Vec<f64>, f64) {
        let (mut elastic, mut load) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        solid.add_elastic(&mut elastic);
        solid.add_load(&mut load);
        let norm = |f: &[f64]| f.iter().map(|f| f * f).sum::<f64>().sqrt();
        let all = elastic.chunks_exact(D).zip(load.chunks_exact(D)).zip(solid.pinned());
        // Fibres and the material that they press balance each other: what they pull with is what the residual is measured by, not the sum of both.
        let sizes = all.map(|((f, load), pinned)| if *pinned { 0.0 } else { norm(f).max(norm(load)) });
        let mut scale = sizes.fold(0.0, f64::max);
        let mut residual = elastic;
        for (at, residual) in residual.iter_mut().enumerate() {
            *residual +=
                self.force[at] - self.inertia * solid.masses()[at / D] * (x[at] - self.predicted[at]);
        }
        if let Some((matrix, centre)) = &self.damping {
            let away: Vec<f64> = x.iter().zip(centre).map(|(x, c)| x - c).collect();
            let mut product = vec![0.0; x.len()];
            matrix.multiply(&away, &mut product);
            residual.iter_mut().zip(&product).for_each(|(residual, product)| *residual -= product);
        }
        if let Some(barrier) = &self.barrier {
            scale = scale.max(barrier.add_force(solid.pinned(), &mut residual));
        }
        for (particle, residual) in residual.chunks_exact_mut(D).enumerate() {
            if solid.pinned()[particle] {
                residual.fill(0.0);
            }
        }
        (residual, scale)
    }
}

/// Newton's method with line search; `x` holds the start with pinned particles already in place.
pub(super) fn minimise<const D: usize>(
    solid: &mut Solid<D>,
    objective: &mut Objective<D>,
    x: &mut Vec<f64>,
    options: &ImplicitOptions,
    workspace: &mut Workspace,
) -> Result<NewtonReport, IntegrateError>
where
    Dim<D>: Space<D>,
{
    let mut inverse = Inverse::Nothing;
    let report = newton(solid, objective, x, options, &mut inverse, workspace);
    inverse.drop_into(solid.factor_cache());
    report
}

#[inline(never)]
fn newton<const D: usize>(
    solid: &mut Solid<D>,
    objective: &mut Objective<D>,
    x: &mut Vec<f64>,
    options: &ImplicitOptions,
    inverse: &mut Inverse,
    workspace: &mut Workspace,
) -> Result<NewtonReport, IntegrateError>
where
    Dim<D>: Space<D>,
{
    let mut value = objective.value(solid, x)?;
    let (mut residual, mut scale) = objective.residual(solid, x);
    // Forces on what moves as told say nothing of how well the others are balanced.
    let free = solid.masses().iter().zip(solid.pinned()).filter(|(_, pinned)| !**pinned);
    let weight = free.map(|(mass, _)| mass * solid.gravity.norm()).fold(0.0, f64::max);
    let potential = solid.is_conservative();
    let extent = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let mut report = NewtonReport::default();
    // The stiffness of the iteration before serves again where it has just served well: only the force must be that of the present state.
    let mut keep = false;
    let touching = objective.barrier.as_deref().is_some_and(Barrier::touches_itself);
    let mut horizon = if touching { 2.0 * GUESS } else { 1.0 };
    loop {
        // Prescribed motion that something was in the way of: free particles have made room meanwhile.
        let pinned = solid.pinned().to_vec();
        if objective.advance_pinned(&pinned, x) {
            value = objective.value(solid, x)?;
            (residual, scale) = objective.residual(solid, x);
            keep = false;
        }
        let arrived = objective.left_to_go(&pinned, x).is_none();
        report.residual = largest::<D>(&residual);
        // The inertia that is still to be balanced counts as a force: a body in free fall has no other.
        report.wanted = options.tolerance * scale.max(weight).max(f64::MIN_POSITIVE);
        if report.residual <= report.wanted && arrived || report.iterations >= options.max_iterations {
            return Ok(report);
        }
        if !keep {
            let (matrix, _) = solid.assemble(objective.inertia, 1.0, 0.0, true)?;
            if let Some((damping, _)) = &objective.damping {
                matrix
                    .values_mut()
                    .iter_mut()
                    .zip(damping.values())
                    .for_each(|(value, damping)| *value += damping);
            }
        }
        let (matrix, factor) = solid.assembled()?;
        // A force that would move nothing by more than rounding cannot be reduced further.
        let stiffest = matrix.diagonal().into_iter().fold(0.0, f64::max);
        report.wanted = report.wanted.max(ROUNDING * stiffest * extent);
        if report.residual <= report.wanted && arrived {
            return Ok(report);
        }
        let resolution = if arrived { options.resolution } else { 0.0 };
        let farthest = FARTHEST * extent;
        let system = System { matrix, pinned: &pinned, residual: &residual, farthest, horizon, resolution };
        let tools = Tools { options, cached: factor, workspace };
        let barrier = objective.barrier.as_deref_mut();
        let Direction { step, part, iterations, largest: farthest } =
            direction(&system, barrier, x, inverse, tools)?;
        report.linear_iterations += iterations;
        horizon = (horizon * part * WIDER).clamp(NEAREST, 1.0);
        // What is left to move is less than what the step is asked to resolve.
        if arrived && farthest <= resolution {
            return Ok(NewtonReport { residual: report.residual.min(report.wanted), ..report });
        }
        let slope = vector::dot(&residual, &step);
        if !(slope > 0.0) {
            // Not a descent direction: rounding. What is left cannot be improved.
            if arrived {
                return Ok(report);
            }
            report.iterations += 1;
            continue;
        }
        let before = vector::norm(&residual);
        let mut length = part;
        let mut accepted = false;
        for _ in 0..30 {
            let trial: Vec<f64> = x.iter().zip(&step).map(|(x, step)| x + length * step).collect();
            // An inverted element without extension is a step too far, not the end.
            if let Ok(next) = objective.value(solid, &trial) {
                let rounding = 1e-13 * (value.abs() + next.abs());
                let lower = next <= value - 1e-4 * length * slope + rounding;
                let found = (lower || !potential).then(|| objective.residual(solid, &trial));
                if let Some((new_residual, new_scale)) =
                    found.filter(|(residual, _)| potential || vector::norm(residual) < before)
                {
                    keep = length == 1.0 && vector::norm(&new_residual) < KEEP * before;
                    *x = trial;
                    value = next;
                    residual = new_residual;
                    scale = new_scale;
                    accepted = true;
                    break;
                }
            }
            length *= 0.5;
        }
        report.iterations += 1;
        if !accepted {
            objective.value(solid, x)?;
            report.residual = largest::<D>(&residual);
            return Ok(report);
        }
    }
}

/// The linear system of a Newton iteration without its contacts.
struct System<'a> {
    matrix: &'a CsrMatrix,
    pinned: &'a [bool],
    residual: &'a [f64],
    /// Farthest (m) that a particle may go where there is contact.
    farthest: f64,
    /// Part of the step that is looked at where there is contact: most of a long one is not free, and looking for pairs along all of it costs most of the time.
    horizon: f64,
    /// Farthest (m) that the step may take a particle to be not worth taking.
    resolution: f64,
}

/// A Newton step.
struct Direction {
    /// Cut to the horizon.
    step: Vec<f64>,
    /// Part of it that is free of contact.
    part: f64,
    /// Linear iterations.
    iterations: usize,
    /// Farthest that it takes a particle when not cut (m).
    largest: f64,
}

/// Solves for a Newton step and finds how far it may go.
fn direction<const D: usize>(
    system: &System<'_>,
    barrier: Option<&mut Barrier<D>>,
    x: &[f64],
    inverse: &mut Inverse,
    tools: Tools<'_>,
) -> Result<Direction, IntegrateError>
where
    Dim<D>: Space<D>,
{
    let System { matrix, pinned, residual, farthest, horizon, resolution } = *system;
    let contact = barrier.as_deref().filter(|barrier| barrier.active() > 0);
    let contact = contact.map(|barrier| barrier.stiffness(pinned));
    let operator = NewtonOperator { matrix, contact, pinned };
    let mut step = vec![0.0; x.len()];
    let iterations = inverse.solve::<D>(&operator, x, residual, &mut step, tools)?;
    let Some(barrier) = barrier else {
        let largest = largest::<D>(&step);
        return Ok(Direction { step, part: 1.0, iterations, largest });
    };
    let mut shortened = step.clone();
    if barrier.shorten_for_obstacles(x, &mut shortened) && vector::dot(residual, &shortened) > 0.0 {
        step = shortened;
    }
    let largest = largest::<D>(&step);
    let looked_at = horizon.min(farthest / largest).min(1.0);
    step.iter_mut().for_each(|step| *step *= looked_at);
    let part = if largest <= resolution { 1.0 } else { barrier.largest_step(x, &step) };
    Ok(Direction { step, part, iterations, largest })
}

/// Largest force on a particle (N).
fn largest<const D: usize>(residual: &[f64]) -> f64 {
    residual.chunks_exact(D).map(|f| f.iter().map(|f| f * f).sum::<f64>().sqrt()).fold(0.0, f64::max)
}
