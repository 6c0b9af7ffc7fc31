//! The linear systems of Newton's method: a factor, algebraic multigrid or blocks of the diagonal, by size and by what is in contact.

use super::IntegrateError;
use super::implicit::{ImplicitOptions, LinearSolver};
use crate::contact::ContactStiffness;
use crate::solid::FactorCache;
use splashdown_math::{Dim, Matrix, Space, Vector};
use splashdown_parallel::prelude::*;
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::{
    CsrMatrix, Iteration, LinearOperator, Preconditioner, SparseCholesky, Stopping, Workspace, pcg,
};

/// Unknowns up to which `Auto` factorises.
const DIRECT: usize = 2400;

/// The matrix of a Newton iteration with the contact terms that are not in its pattern.
pub(super) struct NewtonOperator<'a, const D: usize> {
    pub(super) matrix: &'a CsrMatrix,
    pub(super) contact: Option<ContactStiffness<D>>,
    pub(super) pinned: &'a [bool],
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
                // Of a block that is singular to rounding (what almost touches) the diagonal remains.
                let inverse = block.try_inverse().filter(|inverse| (0..D).all(|i| inverse[(i, i)] > 0.0));
                inverse.unwrap_or_else(|| {
                    let entry = |i: usize| if block[(i, i)] > 0.0 { 1.0 / block[(i, i)] } else { 1.0 };
                    Matrix::from_diagonal(&Vector::<D>::from_fn(|i, _| entry(i)))
                })
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
pub(super) enum Inverse {
    Nothing,
    Factor(Box<SparseCholesky>),
    Grid(Box<Amg>),
}

/// Linear iterations with a kept factor or hierarchy after which it is made anew.
const STALE: usize = 25;

/// What a linear solve needs besides the system; `cached` keeps the analysis of the factor from step to step.
pub(super) struct Tools<'a> {
    pub(super) options: &'a ImplicitOptions,
    pub(super) cached: &'a mut FactorCache,
    pub(super) workspace: &'a mut Workspace,
}

impl Inverse {
    /// Solves for one Newton step; returns the iterations.
    pub(super) fn solve<const D: usize>(
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
    pub(super) fn drop_into(&mut self, cached: &mut FactorCache) {
        if let Self::Factor(factor) = std::mem::replace(self, Self::Nothing) {
            cached.0 = Some(*factor);
        }
    }
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
