//! Fully implicit steps as minimisation: Newton's method with positive semidefinite stiffness and line search (spec 3.14, DS-33), static equilibrium (DS-48), and
//! the two-pass step with the surface as given data (DS-34).
//!
//! A step minimises `|x - x^|^2_M / (2 h^2) + Psi(x) + c/2 (x - x^n)^T (-D) (x - x^n) + contact(x)`; damping `D` is frozen at `x^n`. Backward Euler has
//! `x^ = x^n + dt v^n`, `h = dt`; Newmark with average acceleration `x^ = x^n + dt v^n + dt^2/4 a^n`, `h = dt/2`.

use super::{IntegrateError, IntegrationReport, Integrator, Motion};
use crate::contact::{Barrier, ContactStiffness};
use crate::solid::{FactorCache, Solid};
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Matrix, Space, Vector};
use splashdown_parallel::prelude::*;
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::{
    CsrMatrix, Iteration, LinearOperator, Preconditioner, SparseCholesky, Stopping, Workspace, pcg, vector,
};

/// How an implicit step weighs start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImplicitScheme {
    /// First order, damps what the step does not resolve.
    #[default]
    BackwardEuler,
    /// Newmark with average acceleration: second order, keeps the energy of small oscillations. Damps nothing by itself.
    AverageAcceleration,
}

/// The linear solver of a Newton iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinearSolver {
    /// By size: a sparse factorisation for small systems, conjugate gradients for others.
    #[default]
    Auto,
    /// Sparse Cholesky factorisation.
    Cholesky,
    /// Conjugate gradients with the blocks of the diagonal.
    Jacobi,
    /// Conjugate gradients with algebraic multigrid, which knows the rigid motions.
    Multigrid,
}

/// Options of implicit steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ImplicitOptions {
    /// Residual force at which Newton's method stops, relative to the largest force on a particle.
    pub tolerance: f64,
    /// Most iterations.
    pub max_iterations: usize,
    /// Relative residual of the linear solves.
    pub linear_tolerance: f64,
    /// Displacement (m) of all particles below which a Newton step is not worth taking; 0 for none. With contact barriers, whose forces are stiff, this says more than
    /// a residual.
    pub resolution: f64,
    /// Linear solver.
    pub solver: LinearSolver,
    /// Take the step as an error if Newton's method has not arrived; otherwise it is accepted as it is.
    pub strict: bool,
}

impl Default for ImplicitOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            max_iterations: 50,
            linear_tolerance: 1e-2,
            resolution: 0.0,
            solver: LinearSolver::Auto,
            strict: true,
        }
    }
}

/// What Newton's method did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct NewtonReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Iterations of all linear solves.
    pub linear_iterations: usize,
    /// Largest residual force at the end (N).
    pub residual: f64,
    /// Tolerance (N).
    pub wanted: f64,
}

/// Displacement, relative to the coordinates, below which a residual force is rounding.
const ROUNDING: f64 = 1e-14;
/// Unknowns up to which `Auto` factorises.
const DIRECT: usize = 2400;

/// The function that a step minimises, at fixed `x^n`, `x^`, `h`.
struct Objective<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// `1 / h^2`; zero for statics.
    inertia: f64,
    predicted: &'a [f64],
    /// `c (-D)` with the pattern of the solid's matrix, and the centre `x^n + ...` about which it acts.
    damping: Option<(CsrMatrix, Vec<f64>)>,
    /// Constant forces: gravity is in `predicted` for dynamics, here for statics.
    force: Vec<f64>,
    barrier: Option<&'a mut Barrier<D>>,
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

    /// Minus the gradient at the last point evaluated, zero for pinned particles, and the largest force on a particle.
    fn residual(&self, solid: &Solid<D>, x: &[f64]) -> (Vec<f64>, f64) {
        let mut elastic = vec![0.0; x.len()];
        solid.add_elastic(&mut elastic);
        let mut scale = 0.0f64;
        let norm = |f: &[f64]| f.iter().map(|f| f * f).sum::<f64>().sqrt();
        for (particle, f) in elastic.chunks_exact(D).enumerate() {
            if !solid.pinned()[particle] {
                scale = scale.max(norm(f));
            }
        }
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
            scale = scale.max(barrier.add_force(&mut residual));
        }
        for (particle, residual) in residual.chunks_exact_mut(D).enumerate() {
            if solid.pinned()[particle] {
                residual.fill(0.0);
            }
        }
        (residual, scale)
    }
}

/// The matrix of a Newton iteration with the contact terms that are not in its pattern.
struct NewtonOperator<'a, const D: usize> {
    matrix: &'a CsrMatrix,
    contact: Option<ContactStiffness<D>>,
    pinned: &'a [bool],
}

impl<const D: usize> LinearOperator for NewtonOperator<'_, D> {
    fn rows(&self) -> usize {
        self.matrix.rows()
    }
    fn cols(&self) -> usize {
        self.matrix.cols()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.multiply(x, y);
        if let Some(contact) = &self.contact {
            contact.add_product(x, y);
        }
    }
}

/// Inverses of the diagonal blocks.
struct NodeBlocks<const D: usize> {
    inverse: Vec<Matrix<D>>,
}

impl<const D: usize> NodeBlocks<D> {
    fn new(matrix: &CsrMatrix, extra: Option<&[Matrix<D>]>) -> Self {
        let inverse = (0..matrix.rows() / D)
            .into_par_iter()
            .with_min_len(1024)
            .map(|node| {
                let mut block = Matrix::<D>::zeros();
                for i in 0..D {
                    let (columns, values) = matrix.row(D * node + i);
                    let at = columns.partition_point(|&column| (column as usize) < D * node);
                    for k in 0..D {
                        block[(i, k)] = values[at + k];
                    }
                }
                if let Some(extra) = extra {
                    block += extra[node];
                }
                block.try_inverse().unwrap_or_else(Matrix::identity)
            })
            .collect();
        Self { inverse }
    }
}

impl<const D: usize> Preconditioner for NodeBlocks<D> {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let inverse = &self.inverse;
        z.par_chunks_mut(D * 4096).zip(r.par_chunks(D * 4096)).enumerate().for_each(|(chunk, (z, r))| {
            for (k, (z, r)) in z.chunks_exact_mut(D).zip(r.chunks_exact(D)).enumerate() {
                let block = &inverse[chunk * 4096 + k];
                for i in 0..D {
                    z[i] = (0..D).map(|j| block[(i, j)] * r[j]).sum();
                }
            }
        });
    }
}

/// What stands for the inverse of the matrix of a step. It is made at the first Newton iteration and kept for the others, where conjugate gradients make up for what
/// has changed; nothing is kept from step to step but the analysis of the pattern, so that a resumed run gives the same bits.
enum Inverse {
    Nothing,
    Factor(Box<SparseCholesky>),
    Grid(Box<Amg>),
}

/// Part of the largest coordinate that a particle may move in one Newton step where there is contact.
const FARTHEST: f64 = 0.1;
/// An iteration that reduces the residual to this part leaves the matrix as it is.
const KEEP: f64 = 0.2;
/// Linear iterations with a kept factor or hierarchy after which it is made anew.
const STALE: usize = 25;

/// What a linear solve needs besides the system; `cached` keeps the analysis of the factor from step to step.
struct Tools<'a> {
    options: &'a ImplicitOptions,
    cached: &'a mut FactorCache,
    workspace: &'a mut Workspace,
}

impl Inverse {
    /// Solves for one Newton step; returns the iterations.
    fn solve<const D: usize>(
        &mut self,
        operator: &NewtonOperator<D>,
        x: &[f64],
        residual: &[f64],
        step: &mut [f64],
        tools: Tools<'_>,
    ) -> Result<usize, IntegrateError>
    where
        Dim<D>: Space<D>,
    {
        let Tools { options, cached, workspace } = tools;
        let NewtonOperator { matrix, contact, pinned } = operator;
        let choice = match options.solver {
            LinearSolver::Auto if x.len() <= DIRECT => LinearSolver::Cholesky,
            LinearSolver::Auto => LinearSolver::Multigrid,
            chosen => chosen,
        };
        // Contacts are not in the matrix that would be factorised; blocks of the diagonal see them.
        let choice = if contact.is_some() { LinearSolver::Jacobi } else { choice };
        let stopping = Stopping { max_iterations: 2000, ..Stopping::relative(options.linear_tolerance) };
        let mut iteration = Iteration::new(stopping);
        if choice == LinearSolver::Cholesky {
            if let Self::Factor(factor) = self {
                let report = pcg(operator, &mut **factor, residual, step, &mut iteration, workspace)?;
                if report.iterations > STALE {
                    self.drop_into(cached);
                }
                return Ok(report.iterations);
            }
            // The pattern stays: only the first factorisation of all needs the analysis.
            let factor = match cached.0.take() {
                Some(mut factor) => factor.refactorise(matrix).ok().map(|()| factor),
                None => SparseCholesky::new(matrix).ok(),
            };
            if let Some(mut factor) = factor {
                factor.solve(residual, step)?;
                *self = Self::Factor(Box::new(factor));
                return Ok(1);
            }
        }
        if choice == LinearSolver::Multigrid {
            if !matches!(self, Self::Grid(_)) {
                let near_null_space = rigid_motions::<D>(x, pinned);
                let options = AmgOptions { block_size: D, near_null_space, ..AmgOptions::default() };
                *self = Self::Grid(Box::new(Amg::new(matrix, &options)?));
            }
            if let Self::Grid(amg) = self {
                let report = pcg(operator, &mut **amg, residual, step, &mut iteration, workspace)?;
                if report.iterations > 2 * STALE {
                    *self = Self::Nothing;
                }
                return Ok(report.iterations);
            }
        }
        let extra = contact.as_ref().map(ContactStiffness::diagonal_blocks);
        let mut blocks = NodeBlocks::<D>::new(matrix, extra.as_deref());
        // A residual of stiff contacts weighs as little as the displacement that it stands for; otherwise what it hides would move soft parts by metres.
        let weights: Vec<f64> = blocks
            .inverse
            .iter()
            .flat_map(|block| std::array::from_fn::<f64, D, _>(|i| block[(i, i)]))
            .collect();
        let mut iteration = Iteration { weights: Some(&weights), ..iteration };
        Ok(pcg(operator, &mut blocks, residual, step, &mut iteration, workspace)?.iterations)
    }

    /// Gives the factor back, so that its analysis serves the next one.
    fn drop_into(&mut self, cached: &mut FactorCache) {
        if let Self::Factor(factor) = std::mem::replace(self, Self::Nothing) {
            cached.0 = Some(*factor);
        }
    }
}

impl<const D: usize> Integrator<D>
where
    Dim<D>: Space<D>,
{
    pub(super) fn step_implicit(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        scheme: ImplicitScheme,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        let start = motion.position.clone();
        let velocity = motion.velocity.clone();
        solid.update(&start)?;
        // h^2 = beta dt^2, and the part of the present acceleration that the prediction has.
        let (beta, part) = match scheme {
            ImplicitScheme::BackwardEuler => (1.0, 0.0),
            ImplicitScheme::AverageAcceleration => (0.25, 0.25),
        };
        let mut acceleration = vec![0.0; start.len()];
        if part > 0.0 {
            solid.add_elastic(&mut acceleration);
            solid.add_damping(&velocity, &mut acceleration);
            solid.add_gravity(&mut acceleration);
            for (at, acceleration) in acceleration.iter_mut().enumerate() {
                *acceleration =
                    if solid.pinned()[at / D] { 0.0 } else { *acceleration / solid.masses()[at / D] };
            }
        }
        let mut predicted = vec![0.0; start.len()];
        for at in 0..start.len() {
            predicted[at] = start[at] + dt * velocity[at];
            if !solid.pinned()[at / D] {
                predicted[at] += dt * dt * (part * acceleration[at] + beta * solid.gravity[at % D]);
            }
        }
        // Velocity at the end as a function of the end position: rate (x - x^n) + offset.
        let rate = match scheme {
            ImplicitScheme::BackwardEuler => 1.0 / dt,
            ImplicitScheme::AverageAcceleration => 2.0 / dt,
        };
        let offset = |at: usize| match scheme {
            ImplicitScheme::BackwardEuler => 0.0,
            ImplicitScheme::AverageAcceleration => -velocity[at],
        };
        let mut force = vec![0.0; start.len()];
        let damping = if solid.damping_rows() > 0 {
            // Pinned particles move as told; what their motion drags along is a constant force.
            let dragged: Vec<f64> =
                (0..start.len()).map(|at| if solid.pinned()[at / D] { velocity[at] } else { 0.0 }).collect();
            solid.add_damping(&dragged, &mut force);
            let matrix = solid.resistance(rate, 0.0)?;
            let centre: Vec<f64> = (0..start.len()).map(|at| start[at] - offset(at) / rate).collect();
            Some((matrix, centre))
        } else {
            None
        };
        let mut barrier = self.self_contact.as_ref().and_then(|contact| contact.barrier()).cloned();
        if barrier.is_none() && !self.obstacles.is_empty() {
            barrier = Some(Barrier::obstacles_only());
        }
        if let Some(barrier) = &mut barrier {
            barrier.begin(&self.obstacles, &self.colliders, solid, &start, dt);
        }
        let mut x = start.clone();
        let guess: Vec<f64> = start.iter().zip(&velocity).map(|(x, v)| x + dt * v).collect();
        let change: Vec<f64> = guess.iter().zip(&start).map(|(a, b)| a - b).collect();
        let safe = barrier.as_mut().map_or(1.0, |barrier| barrier.largest_step(&start, &change));
        for (x, change) in x.iter_mut().zip(&change) {
            *x += safe * change;
        }
        let mut objective = Objective {
            inertia: 1.0 / (beta * dt * dt),
            predicted: &predicted,
            damping,
            force,
            barrier: barrier.as_mut(),
        };
        let newton = minimise(solid, &mut objective, &mut x, &self.implicit, &mut self.workspace)?;
        report.newton_iterations += newton.iterations;
        report.linear_iterations += newton.linear_iterations;
        if self.implicit.strict && !(newton.residual <= newton.wanted) {
            let NewtonReport { residual, wanted, iterations, .. } = newton;
            return Err(IntegrateError::Newton { residual, wanted, iterations });
        }
        if let Some(barrier) = &barrier {
            report.self_contact.proximities = barrier.active();
        }
        for at in 0..x.len() {
            motion.velocity[at] =
                if solid.pinned()[at / D] { velocity[at] } else { rate * (x[at] - start[at]) + offset(at) };
        }
        motion.position = x;
        Ok(())
    }

    /// Static equilibrium by Newton's method from the present positions; velocities become zero. Pinned particles stay.
    ///
    /// # Errors
    /// A force without value, or no equilibrium within the iterations.
    #[inline(never)]
    pub fn equilibrium(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
    ) -> Result<NewtonReport, IntegrateError> {
        let mut x = motion.position.clone();
        let mut force = vec![0.0; x.len()];
        solid.add_gravity(&mut force);
        let predicted = x.clone();
        let mut objective =
            Objective { inertia: 0.0, predicted: &predicted, damping: None, force, barrier: None };
        let report = minimise(solid, &mut objective, &mut x, &self.implicit, &mut self.workspace)?;
        if self.implicit.strict && !(report.residual <= report.wanted) {
            let NewtonReport { residual, wanted, iterations, .. } = report;
            return Err(IntegrateError::Newton { residual, wanted, iterations });
        }
        motion.position = x;
        motion.velocity.fill(0.0);
        Ok(report)
    }

    /// The two-pass step: an implicit velocity solve that does not advance positions, `collide` on all velocities, then a second solve in which the particles of
    /// `surface` move with what it left.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn step_two_pass(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
        surface: &[u32],
        collide: impl FnOnce(&mut [f64]),
    ) -> Result<IntegrationReport, IntegrateError> {
        let mut report = IntegrationReport::default();
        let mut first = motion.clone();
        self.step_implicit(solid, &mut first, dt, ImplicitScheme::BackwardEuler, &mut report)?;
        collide(&mut first.velocity);
        let free: Vec<u32> = surface.iter().copied().filter(|&node| !solid.pinned()[node as usize]).collect();
        let mut second = motion.clone();
        for &node in &free {
            solid.set_pinned(node as usize, true);
            let at = D * node as usize..D * (node as usize + 1);
            second.velocity[at.clone()].copy_from_slice(&first.velocity[at]);
        }
        let result = self.step_implicit(solid, &mut second, dt, ImplicitScheme::BackwardEuler, &mut report);
        for &node in &free {
            solid.set_pinned(node as usize, false);
        }
        result?;
        second.time += dt;
        *motion = second;
        Ok(report)
    }
}

/// Newton's method with line search; `x` holds the start with pinned particles already in place.
fn minimise<const D: usize>(
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
    let weight = solid.masses().iter().map(|mass| mass * solid.gravity.norm()).fold(0.0, f64::max);
    let potential = solid.is_conservative();
    let extent = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let mut report = NewtonReport::default();
    // The stiffness of the iteration before serves again where it has just served well: only the force must be that of the present state.
    let mut keep = false;
    loop {
        report.residual = largest::<D>(&residual);
        // The inertia that is still to be balanced counts as a force: a body in free fall has no other.
        report.wanted = options.tolerance * scale.max(weight).max(f64::MIN_POSITIVE);
        if report.residual <= report.wanted || report.iterations >= options.max_iterations {
            return Ok(report);
        }
        let pinned = solid.pinned().to_vec();
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
        if report.residual <= report.wanted {
            return Ok(report);
        }
        let contact = objective.barrier.as_deref().filter(|barrier| barrier.active() > 0);
        let contact = contact.map(|barrier| barrier.stiffness(&pinned));
        let operator = NewtonOperator { matrix, contact, pinned: &pinned };
        let mut step = vec![0.0; x.len()];
        report.linear_iterations += inverse.solve::<D>(
            &operator,
            x,
            &residual,
            &mut step,
            Tools { options, cached: factor, workspace },
        )?;
        if let Some(barrier) = &objective.barrier {
            let mut shortened = step.clone();
            if barrier.shorten_for_obstacles(x, &mut shortened) && vector::dot(&residual, &shortened) > 0.0 {
                step = shortened;
            }
        }
        // What is left to move is less than what the step is asked to resolve.
        if largest::<D>(&step) <= options.resolution {
            return Ok(NewtonReport { residual: report.residual.min(report.wanted), ..report });
        }
        // Backtracking on the potential; where there is none, on the residual. With contact no particle goes further than a part of the whole at once.
        if objective.barrier.is_some() {
            let most = FARTHEST * extent;
            let far = largest::<D>(&step);
            if far > most {
                step.iter_mut().for_each(|step| *step *= most / far);
            }
        }
        let slope = vector::dot(&residual, &step);
        if !(slope > 0.0) {
            // Not a descent direction: rounding. What is left cannot be improved.
            return Ok(report);
        }
        let mut length = objective.barrier.as_mut().map_or(1.0, |barrier| barrier.largest_step(x, &step));
        let before = vector::norm(&residual);
        let mut accepted = false;
        for _ in 0..30 {
            let trial: Vec<f64> = x.iter().zip(&step).map(|(x, step)| x + length * step).collect();
            // An inverted element without extension is a step too far, not the end.
            if let Ok(next) = objective.value(solid, &trial) {
                let (new_residual, new_scale) = objective.residual(solid, &trial);
                let rounding = 1e-13 * (value.abs() + next.abs());
                let better = if potential {
                    next <= value - 1e-4 * length * slope + rounding
                } else {
                    vector::norm(&new_residual) < before
                };
                if better {
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

/// Largest force on a particle (N).
fn largest<const D: usize>(residual: &[f64]) -> f64 {
    residual.chunks_exact(D).map(|f| f.iter().map(|f| f * f).sum::<f64>().sqrt()).fold(0.0, f64::max)
}

/// Translations and rotations about the centre as vectors over all particles, zero at the pinned ones.
fn rigid_motions<const D: usize>(x: &[f64], pinned: &[bool]) -> Vec<Vec<f64>> {
    let count = x.len() / D;
    let mut centre = Vector::<D>::zeros();
    for point in x.chunks_exact(D) {
        centre += Vector::<D>::from_column_slice(point) / count as f64;
    }
    let mut motions = Vec::new();
    for axis in 0..D {
        motions
            .push((0..x.len()).map(|at| if at % D == axis && !pinned[at / D] { 1.0 } else { 0.0 }).collect());
    }
    for i in 0..D {
        for j in i + 1..D {
            motions.push(
                (0..x.len())
                    .map(|at| {
                        let node = at / D;
                        match at % D {
                            _ if pinned[node] => 0.0,
                            axis if axis == i => -(x[D * node + j] - centre[j]),
                            axis if axis == j => x[D * node + i] - centre[i],
                            _ => 0.0,
                        }
                    })
                    .collect(),
            );
        }
    }
    motions
}
