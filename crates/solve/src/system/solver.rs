//! Solving a coupled system.

use super::kkt::{KktOperator, KktPreconditioner};
use super::{BlockReport, CoupledSystem, SolveReport};
use crate::SparseCholesky;
use crate::error::check_size;
use crate::preconditioner::{BlockJacobi, IncompleteCholesky};
use crate::{
    BlockDiagonal, CsrMatrix, Iteration, Jacobi, LinearOperator, Monitor, NullSpace, Outcome, Preconditioner,
    Projected, SolveError, Stopping, Workspace, minres, pcg, vector,
};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Which of two equivalent systems is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formulation {
    /// `(B M^-1 B^T + E) z = B V* - c`, positive semidefinite, by conjugate gradients.
    #[default]
    PositiveDefinite,
    /// Velocities and impulses together, indefinite, by MINRES: a reference and a cross-check.
    Kkt,
}

/// How the operator is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Application {
    /// Assembled if all blocks can be and the sparse matrix costs no more per product than scatter and gather; else matrix-free.
    #[default]
    Auto,
    /// Scatter, divide by mass, gather.
    MatrixFree,
    /// One sparse matrix.
    Assembled,
}

/// Preconditioner of the whole system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WholePreconditioner {
    /// Each block its own, [`SolverAids::preconditioners`], Jacobi where none is named.
    #[default]
    PerBlock,
    /// Incomplete Cholesky of the assembled system.
    IncompleteCholesky {
        /// The modified variant, which keeps row sums.
        modified: bool,
    },
    /// Sparse Cholesky of the assembled system: a direct solve, for small systems.
    Cholesky,
}

/// Preconditioner of one block's rows.
#[derive(Default)]
pub enum BlockPreconditioner<'a> {
    /// The diagonal.
    #[default]
    Jacobi,
    /// Dense blocks of this many consecutive rows.
    BlockJacobi(usize),
    /// Incomplete Cholesky of the block's own `B M^-1 B^T + E`.
    IncompleteCholesky {
        /// The modified variant, for Poisson-like blocks.
        modified: bool,
    },
    /// Sparse Cholesky of the block's own `B M^-1 B^T + E`.
    Cholesky,
    /// Made by the caller, for example multigrid for a pressure.
    Supplied(&'a mut dyn Preconditioner),
}

/// How to solve; plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoupledOptions {
    /// When to stop, in the diagonally scaled norm.
    pub stopping: Stopping,
    /// Largest residual allowed in any row of the named block, in the unit of `B V` (spec/fluid-structure.md section 4: divergence and
    /// slip have their own limits). The relative tolerance is tightened until they hold.
    pub limits: Vec<(String, f64)>,
    /// Which form.
    pub formulation: Formulation,
    /// Matrix-free or assembled.
    pub application: Application,
    /// Preconditioner of the whole.
    pub preconditioner: WholePreconditioner,
    /// Start from the last solution of the blocks with the same name and size.
    pub warm_start: bool,
    /// Largest part of the right-hand side in the null space, relative to all of it, that is removed rather than refused.
    pub max_removed: f64,
}

impl Default for CoupledOptions {
    fn default() -> Self {
        Self {
            stopping: Stopping::default(),
            limits: Vec::new(),
            formulation: Formulation::default(),
            application: Application::default(),
            preconditioner: WholePreconditioner::default(),
            warm_start: true,
            max_removed: 1e-6,
        }
    }
}

/// What the caller knows about this one system.
#[derive(Default)]
pub struct SolverAids<'a> {
    /// Preconditioners by name of the block.
    pub preconditioners: Vec<(&'a str, BlockPreconditioner<'a>)>,
    /// Null space of the system, projected out.
    pub null_space: Option<&'a NullSpace>,
    /// Called after every iteration.
    pub monitor: Option<Monitor<'a>>,
}

/// Rounds of tightening the relative tolerance for [`CoupledOptions::limits`].
const TIGHTENINGS: usize = 6;

/// Solves coupled systems one after the other, keeping memory and the last solution for warm starts.
#[derive(Default)]
pub struct CoupledSolver {
    /// How to solve; may be changed between solves.
    pub options: CoupledOptions,
    workspace: Workspace,
    z: Vec<f64>,
    rhs: Vec<f64>,
    residual: Vec<f64>,
    diagonal: Vec<f64>,
    /// Name and number of rows of the blocks of `z`.
    solved: Vec<(String, usize)>,
}

impl CoupledSolver {
    /// A solver with these options.
    pub fn new(options: CoupledOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// `z` of the last solve, all blocks.
    pub fn impulses(&self) -> &[f64] {
        &self.z
    }

    /// `z` of the block with this name in the last solve.
    pub fn block_impulses(&self, name: &str) -> Option<&[f64]> {
        let mut first = 0;
        for (solved, rows) in &self.solved {
            if solved == name {
                return Some(&self.z[first..first + rows]);
            }
            first += rows;
        }
        None
    }

    /// Replaces the guess for a block of the next solve, for example a pressure scaled to a new time step. Used if the block then has
    /// this many rows.
    ///
    /// # Errors
    /// Values that are not finite.
    pub fn set_guess(&mut self, name: &str, guess: &[f64]) -> Result<(), SolveError> {
        crate::error::check_finite(&format!("initial guess of `{name}`"), guess)?;
        let (mut z, mut solved) = (Vec::new(), Vec::new());
        let mut first = 0;
        for (known, rows) in self.solved.drain(..) {
            if known != name {
                z.extend_from_slice(&self.z[first..first + rows]);
                solved.push((known, rows));
            }
            first += rows;
        }
        z.extend_from_slice(guess);
        solved.push((name.into(), guess.len()));
        (self.z, self.solved) = (z, solved);
        Ok(())
    }

    /// Forgets the last solution: the next solve starts from zero.
    pub fn clear_guess(&mut self) {
        self.z.clear();
        self.solved.clear();
    }

    /// Solves `system`; `velocity` holds `V*` on entry and `V` on return.
    ///
    /// A solve that did not converge still returns `Ok`, with the best velocity it has and the reason in the report; only when the
    /// iteration produced NaN is `velocity` left as it was. Per solve it allocates what preconditioners and assembly need, in the iteration nothing.
    ///
    /// # Errors
    /// Input that does not fit or is not finite, options that the blocks cannot serve, an inconsistent system
    /// ([`CoupledOptions::max_removed`]).
    pub fn solve(
        &mut self,
        system: &CoupledSystem,
        velocity: &mut [f64],
        aids: SolverAids,
    ) -> Result<SolveReport, SolveError> {
        let start = Instant::now();
        let rows = system.rows();
        self.prepare_guess(system);
        self.rhs.resize(rows, 0.0);
        self.residual.resize(rows, 0.0);
        self.diagonal.resize(rows, 0.0);
        system.right_hand_side(velocity, &mut self.rhs)?;
        system.diagonal(&mut self.diagonal)?;
        let unmovable = self.drop_unmovable_rows(system);
        let removed = self.remove_null_space(aids.null_space)?;
        let jacobi = Jacobi::new(&self.diagonal)?;

        let assembled = self.assemble(system)?;
        let mut preconditioner =
            self.preconditioner(system, assembled.as_ref(), &jacobi, aids.preconditioners)?;
        if let Some(null_space) = aids.null_space {
            preconditioner = Box::new(Projected::new(preconditioner, null_space));
        }
        let setup_seconds = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let weights = jacobi.inverse_diagonal();
        let matrix_free = system.operator();
        let operator: &dyn LinearOperator = match &assembled {
            Some(matrix) => matrix,
            None => &matrix_free,
        };
        let limits = self.limits(system)?;
        let mut stopping = self.options.stopping;
        let mut monitor = aids.monitor;
        let mut iterations = 0;
        let mut outcome = Outcome::Converged;
        let mut kkt_velocity = None;
        for round in 0..=TIGHTENINGS {
            let left = self.options.stopping.max_iterations.saturating_sub(iterations);
            stopping.max_iterations = left;
            let (ended, steps) = match self.options.formulation {
                Formulation::PositiveDefinite => {
                    let mut iteration =
                        Iteration { stopping, weights: Some(weights), monitor: reborrow(&mut monitor) };
                    let report = pcg(
                        operator,
                        &mut preconditioner,
                        &self.rhs,
                        &mut self.z,
                        &mut iteration,
                        &mut self.workspace,
                    )?;
                    (report.outcome, report.iterations)
                }
                Formulation::Kkt => {
                    let (velocity, report) = self.solve_kkt(
                        system,
                        velocity,
                        &mut preconditioner,
                        weights,
                        stopping,
                        reborrow(&mut monitor),
                    )?;
                    kkt_velocity = Some(velocity);
                    report
                }
            };
            iterations += steps;
            outcome = ended;
            operator.apply(&self.z, &mut self.residual);
            vector::subtract_from(&self.rhs, &mut self.residual);
            // The block furthest above its limit says by how much to tighten.
            let excess = limits.iter().enumerate().filter_map(|(index, limit)| {
                limit.map(|limit| limit / vector::max_norm(&self.residual[system.block_rows(index)]))
            });
            let headroom = excess.fold(f64::INFINITY, f64::min);
            let within = headroom >= 1.0;
            if !outcome.converged() || within {
                break;
            }
            if round == TIGHTENINGS {
                outcome = Outcome::Stagnated;
            }
            let reached = scaled_norm(weights, &self.residual);
            let rhs_norm = scaled_norm(weights, &self.rhs);
            stopping.absolute = 0.0;
            stopping.relative =
                if rhs_norm > 0.0 { (0.5 * headroom).min(0.1) * reached / rhs_norm } else { 0.0 };
        }
        let solve_seconds = start.elapsed().as_secs_f64();

        let blocks = self.block_reports(system, weights, &limits, &unmovable);
        let report = SolveReport {
            outcome,
            iterations,
            unknowns: rows + if kkt_velocity.is_some() { system.velocity_len() } else { 0 },
            residual: scaled_norm(weights, &self.residual),
            rhs_norm: scaled_norm(weights, &self.rhs),
            formulation: self.options.formulation,
            assembled: assembled.is_some(),
            null_space: aids.null_space.map_or(0, NullSpace::dimension),
            removed,
            setup_seconds,
            solve_seconds,
            blocks,
        };
        if !vector::all_finite(&self.z) {
            self.clear_guess();
            return Ok(report);
        }
        match kkt_velocity {
            Some(new) if vector::all_finite(&new) => velocity.copy_from_slice(&new),
            Some(_) => {}
            None => system.apply_impulses(&self.z, velocity)?,
        }
        Ok(report)
    }

    /// Arranges the last solution by the blocks of this system: same name and number of rows, else zero.
    fn prepare_guess(&mut self, system: &CoupledSystem) {
        let mut z = vec![0.0; system.rows()];
        let mut solved = Vec::with_capacity(self.solved.len());
        for (index, block) in system.blocks().enumerate() {
            let same_name = system.blocks().take(index).filter(|other| other.name() == block.name()).count();
            if self.options.warm_start
                && let Some(old) = self.old_block(block.name(), same_name, block.rows())
            {
                z[system.block_rows(index)].copy_from_slice(old);
            }
            solved.push((block.name().to_string(), block.rows()));
        }
        if !vector::all_finite(&z) {
            z.fill(0.0);
        }
        (self.z, self.solved) = (z, solved);
    }

    /// The old solution of the `which`-th block called `name`, if it has `rows` rows.
    fn old_block(&self, name: &str, which: usize, rows: usize) -> Option<&[f64]> {
        let mut first = 0;
        let mut seen = 0;
        for (solved, count) in &self.solved {
            if solved == name {
                if seen == which {
                    return (*count == rows).then(|| &self.z[first..first + count]);
                }
                seen += 1;
            }
            first += count;
        }
        None
    }

    /// Rows with a zero diagonal touch nothing that can move: their equation is left out, its violation kept for the report.
    fn drop_unmovable_rows(&mut self, system: &CoupledSystem) -> Vec<(usize, f64)> {
        let mut dropped = vec![(0, 0.0_f64); system.blocks().len()];
        for (index, dropped) in dropped.iter_mut().enumerate() {
            for row in system.block_rows(index) {
                if self.diagonal[row] == 0.0 {
                    dropped.0 += 1;
                    dropped.1 = dropped.1.max(self.rhs[row].abs());
                    self.rhs[row] = 0.0;
                    self.z[row] = 0.0;
                }
            }
        }
        dropped
    }

    fn remove_null_space(&mut self, null_space: Option<&NullSpace>) -> Result<f64, SolveError> {
        let Some(null_space) = null_space else { return Ok(0.0) };
        check_size("unknowns of the null space", null_space.size(), self.rhs.len())?;
        let all = vector::norm(&self.rhs);
        let removed = null_space.project(&mut self.rhs);
        null_space.project(&mut self.z);
        if removed > self.options.max_removed * all {
            return Err(SolveError::Inconsistent { removed, relative: removed / all });
        }
        Ok(removed)
    }

    fn assemble(&self, system: &CoupledSystem) -> Result<Option<CsrMatrix>, SolveError> {
        let needed = self.options.application == Application::Assembled
            || self.options.preconditioner != WholePreconditioner::PerBlock;
        if needed {
            return system.assemble().map(Some);
        }
        if self.options.application == Application::MatrixFree || self.options.formulation == Formulation::Kkt
        {
            return Ok(None);
        }
        let Ok(rows) = system.assemble_rows() else { return Ok(None) };
        if !worth_assembling(&rows, system) {
            return Ok(None);
        }
        super::schur(&rows, system.inverse_mass(), system.compliance()).map(Some)
    }

    fn preconditioner<'p>(
        &self,
        system: &CoupledSystem,
        assembled: Option<&CsrMatrix>,
        jacobi: &Jacobi,
        choices: Vec<(&'p str, BlockPreconditioner<'p>)>,
    ) -> Result<Box<dyn Preconditioner + 'p>, SolveError> {
        for (name, _) in &choices {
            self.find(system, name)?;
        }
        match (self.options.preconditioner, assembled) {
            (WholePreconditioner::IncompleteCholesky { modified }, Some(matrix)) => {
                return Ok(Box::new(IncompleteCholesky::new(&movable(matrix), modified)?));
            }
            (WholePreconditioner::Cholesky, Some(matrix)) => {
                return Ok(Box::new(SparseCholesky::of_semidefinite(&movable(matrix))?));
            }
            _ => {}
        }
        let mut choices: Vec<(&str, Option<BlockPreconditioner>)> =
            choices.into_iter().map(|(name, choice)| (name, Some(choice))).collect();
        let mut whole = BlockDiagonal::new();
        for (index, block) in system.blocks().enumerate() {
            let named = choices.iter_mut().find(|(name, choice)| *name == block.name() && choice.is_some());
            let choice = named.and_then(|(_, choice)| choice.take()).unwrap_or_default();
            let range = system.block_rows(index);
            let own = || -> Result<CsrMatrix, SolveError> {
                Ok(movable(&match assembled {
                    Some(matrix) => matrix.diagonal_block(range.clone()),
                    None => system.assemble_block(index)?,
                }))
            };
            let part: Box<dyn Preconditioner + 'p> = match choice {
                BlockPreconditioner::Jacobi => Box::new(Jacobi::new(&self.diagonal[range.clone()])?),
                BlockPreconditioner::BlockJacobi(size) => Box::new(BlockJacobi::new(&own()?, size)?),
                BlockPreconditioner::IncompleteCholesky { modified } => {
                    Box::new(IncompleteCholesky::new(&own()?, modified)?)
                }
                BlockPreconditioner::Cholesky => Box::new(SparseCholesky::of_semidefinite(&own()?)?),
                BlockPreconditioner::Supplied(part) => Box::new(part),
            };
            whole.push(range.len(), part);
        }
        whole.check_covers(jacobi.size())?;
        Ok(Box::new(whole))
    }

    fn solve_kkt(
        &mut self,
        system: &CoupledSystem,
        velocity: &[f64],
        schur: &mut dyn Preconditioner,
        weights: &[f64],
        stopping: Stopping,
        mut monitor: Option<Monitor>,
    ) -> Result<(Vec<f64>, (Outcome, usize)), SolveError> {
        let len = system.velocity_len();
        let operator = KktOperator::new(system);
        let mut rhs = vec![0.0; len];
        rhs.extend(self.rhs.iter().map(|value| -value));
        let mut all_weights = vec![1.0; len];
        all_weights.extend_from_slice(weights);
        let mut solution = vec![0.0; len];
        solution.extend_from_slice(&self.z);
        let mut preconditioner = KktPreconditioner { velocities: len, schur };
        let mut iteration =
            Iteration { stopping, weights: Some(&all_weights), monitor: reborrow(&mut monitor) };
        let report =
            minres(&operator, &mut preconditioner, &rhs, &mut solution, &mut iteration, &mut self.workspace)?;
        let (y, z) = solution.split_at_mut(len);
        self.z.copy_from_slice(z);
        let mut new = velocity.to_vec();
        operator.velocity(y, &mut new);
        Ok((new, (report.outcome, report.iterations)))
    }

    fn find(&self, system: &CoupledSystem, name: &str) -> Result<usize, SolveError> {
        system.find(name).ok_or_else(|| SolveError::UnknownBlock {
            name: name.into(),
            known: system.blocks().map(|block| block.name()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The limit of each block. A name that this system does not have is fine: limits are set once for all steps.
    fn limits(&self, system: &CoupledSystem) -> Result<Vec<Option<f64>>, SolveError> {
        let values: Vec<f64> = self.options.limits.iter().map(|(_, limit)| *limit).collect();
        crate::error::check_not_negative("block limits", &values)?;
        let limit_of =
            |name: &str| self.options.limits.iter().find(|(known, _)| known == name).map(|(_, limit)| *limit);
        Ok(system.blocks().map(|block| limit_of(block.name())).collect())
    }

    fn block_reports(
        &self,
        system: &CoupledSystem,
        weights: &[f64],
        limits: &[Option<f64>],
        unmovable: &[(usize, f64)],
    ) -> Vec<BlockReport> {
        let whole = scaled_norm(weights, &self.rhs);
        let target = (self.options.stopping.relative * whole).max(self.options.stopping.absolute);
        let report = |(index, block): (usize, &dyn crate::Block)| {
            let range = system.block_rows(index);
            let weights = &weights[range.clone()];
            let residual = scaled_norm(weights, &self.residual[range.clone()]);
            let own = scaled_norm(weights, &self.rhs[range.clone()]);
            let scale = if own > 0.0 { own } else { whole };
            let max_residual = vector::max_norm(&self.residual[range.clone()]);
            BlockReport {
                name: block.name().into(),
                rows: range.len(),
                residual,
                relative_residual: if residual == 0.0 { 0.0 } else { residual / scale },
                max_residual,
                unmovable_rows: unmovable[index].0,
                unmovable_residual: unmovable[index].1,
                converged: residual <= target && limits[index].is_none_or(|limit| max_residual <= limit),
            }
        };
        system.blocks().enumerate().map(report).collect()
    }
}

fn scaled_norm(weights: &[f64], r: &[f64]) -> f64 {
    vector::weighted_dot(weights, r, r).sqrt()
}

/// Lends the monitor for one round.
fn reborrow<'s>(monitor: &'s mut Option<Monitor<'_>>) -> Option<Monitor<'s>> {
    match monitor {
        Some(monitor) => Some(&mut **monitor),
        None => None,
    }
}

/// The matrix with ones on zero diagonals, where rows touch nothing that can move.
fn movable(matrix: &CsrMatrix) -> CsrMatrix {
    let diagonal = matrix.diagonal();
    if diagonal.iter().all(|&value| value != 0.0) {
        return matrix.clone();
    }
    let ones: Vec<f64> = diagonal.iter().map(|&value| if value == 0.0 { 1.0 } else { 0.0 }).collect();
    matrix.sum(1.0, &CsrMatrix::from_diagonal(&ones)).expect("same size")
}

/// Is a product with the assembled system no dearer than scatter, division by mass and gather?
///
/// A face, particle or body touched by `k` rows couples them all, so it brings at most `k^2` entries.
fn worth_assembling(rows: &CsrMatrix, system: &CoupledSystem) -> bool {
    let layout = system.inverse_mass().layout();
    let mut touching = vec![0usize; layout.len()];
    for &column in rows.columns() {
        // All scalars of a body are coupled by its block; count them on the first.
        let column = column as usize;
        let group = if layout.bodies().contains(&column) {
            column - (column - layout.bodies().start) % layout.twist_len()
        } else {
            column
        };
        touching[group] += 1;
    }
    let assembled: usize = touching.iter().map(|count| count * count).sum();
    assembled <= 2 * rows.entries() + layout.len() + rows.rows()
}
