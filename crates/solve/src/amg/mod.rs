//! Smoothed-aggregation algebraic multigrid: a preconditioner that needs only the matrix.
//!
//! For Poisson-like, elastic and coupled systems on meshes, or on grids with thin walls where the geometric
//! [`Multigrid`](crate::multigrid::Multigrid) has no good coarse cells. Unknowns are grouped into aggregates of strongly coupled
//! neighbours; a tentative prolongation reproduces the near-null-space vectors (constants, or rigid motions of a body) on each aggregate exactly and is
//! smoothed by one Jacobi step; coarse operators are Galerkin products. Following P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid
//! by smoothed aggregation for second and fourth order elliptic problems", Computing 56, 1996.
//!
//! The smoother is a Gauss-Seidel sweep within fixed blocks of rows, forwards before and backwards after the coarse correction; the diagonal is
//! enlarged by half the row's coupling to other blocks, which keeps it convergent for every symmetric positive definite matrix (A. Baker, R. Falgout,
//! T. Kolev, U. Yang, "Multigrid smoothers for ultraparallel computing", SIAM J. Sci. Comput. 33, 2011). Blocks do not depend on the number of threads, nor does the result.

mod aggregate;
mod coarsest;
mod level;
mod prolongation;

#[cfg(test)]
mod tests;

use crate::error::check_size;
use crate::{CsrMatrix, Preconditioner, SolveError, vector};
use coarsest::DenseCholesky;
use level::Level;

/// Choices of the set-up.
#[derive(Debug, Clone, PartialEq)]
pub struct AmgOptions {
    /// Unknowns of one node on the finest level: 1 for pressures, the dimension for displacements. Nodes are aggregated whole.
    pub block_size: usize,
    /// Vectors that the operator nearly annihilates, each as long as the matrix has rows: empty stands for one constant for each component
    /// of a node; give the rigid motions for elasticity.
    pub near_null_space: Vec<Vec<f64>>,
    /// Kind of each node, such as the component of a velocity that is stored face by face: nodes of different kinds share no aggregate. Empty: all are of one kind.
    pub kinds: Vec<u8>,
    /// Order in which the smoother visits the unknowns, which names each once (whole nodes together): it is strongest where what is coupled is near each other in it. Empty: as they are numbered.
    pub order: Vec<u32>,
    /// Two nodes are strongly coupled when `|a_ij| > strength sqrt(a_ii a_jj)`; halved on each coarser level.
    pub strength: f64,
    /// Unknowns at which a level is solved directly.
    pub coarsest: usize,
    /// Most levels.
    pub max_levels: usize,
}

impl Default for AmgOptions {
    fn default() -> Self {
        Self {
            block_size: 1,
            near_null_space: Vec::new(),
            kinds: Vec::new(),
            order: Vec::new(),
            strength: 0.08,
            coarsest: 400,
            max_levels: 20,
        }
    }
}

/// The hierarchy of the last matrix that it was asked for.
#[derive(Debug, Clone, Default)]
pub struct AmgMemory {
    last: Option<(CsrMatrix, Amg)>,
}

impl AmgMemory {
    /// [`Amg::new`], unless the matrix is the last one to the bit.
    ///
    /// # Errors
    /// As [`Amg::new`].
    pub fn hierarchy(&mut self, matrix: CsrMatrix, options: &AmgOptions) -> Result<&mut Amg, SolveError> {
        let known = self.last.take().filter(|(last, _)| *last == matrix);
        let hierarchy = match known {
            Some((_, hierarchy)) => hierarchy,
            None => Amg::new(&matrix, options)?,
        };
        Ok(&mut self.last.insert((matrix, hierarchy)).1)
    }

    /// Forgets it.
    pub fn clear(&mut self) {
        self.last = None;
    }
}

/// Smoothed-aggregation multigrid: one symmetric V-cycle from zero, in single precision inside.
#[derive(Debug, Clone)]
pub struct Amg {
    levels: Vec<Level>,
    coarsest: DenseCholesky,
    size: usize,
    /// Which unknown each row of the finest level is; empty for the same.
    order: Vec<u32>,
}

impl Amg {
    /// Builds the hierarchy for a symmetric positive (semi)definite matrix.
    ///
    /// # Errors
    /// A matrix that is not square or not made of whole nodes; near-null-space vectors or kinds of another length; a negative diagonal.
    pub fn new(matrix: &CsrMatrix, options: &AmgOptions) -> Result<Self, SolveError> {
        let size = matrix.rows();
        check_size("columns of the matrix", matrix.cols(), size)?;
        let block = options.block_size.max(1);
        check_size("rows of the matrix (whole nodes)", size, size / block * block)?;
        crate::error::check_not_negative("diagonal of the matrix", &matrix.diagonal())?;
        let order = options.order.clone();
        let permuted = if order.is_empty() { None } else { Some(matrix.permuted(&order)?) };
        let matrix = permuted.as_ref().unwrap_or(matrix);
        let in_order =
            |vector: &Vec<f64>| order.iter().map(|&old| vector[old as usize]).collect::<Vec<f64>>();
        for vector in &options.near_null_space {
            check_size("near-null-space vector", vector.len(), size)?;
        }
        let ordered: Vec<Vec<f64>> = if order.is_empty() {
            Vec::new()
        } else {
            options.near_null_space.iter().map(in_order).collect()
        };
        let vectors = if order.is_empty() { &options.near_null_space } else { &ordered };
        let mut candidates = prolongation::Candidates::new(size, block, vectors)?;
        let mut kinds = options.kinds.clone();
        if !kinds.is_empty() {
            check_size("kinds of nodes", kinds.len(), size / block)?;
            if !order.is_empty() {
                let node = |at: usize| order[at * block] as usize / block;
                kinds = (0..size / block).map(|at| options.kinds[node(at)]).collect();
            }
        }
        let mut levels = Vec::new();
        let mut strength = options.strength;
        let mut block = block;
        let mut coarse: Option<CsrMatrix> = None;
        loop {
            let fine = coarse.as_ref().unwrap_or(matrix);
            if fine.rows() <= options.coarsest || levels.len() + 1 >= options.max_levels {
                break;
            }
            let graph = aggregate::strong_graph(fine, block, &kinds, strength);
            let aggregates = aggregate::aggregate(&graph);
            let (tentative, coarse_candidates) = candidates.restrict(&aggregates, block);
            let prolongation = prolongation::smooth(fine, &tentative, &aggregates, block, &kinds, &graph);
            // Nothing left to coarsen: the strong couplings are gone.
            if prolongation.cols() == 0 || prolongation.cols() * 10 > fine.rows() * 9 {
                break;
            }
            let restriction = prolongation.transpose();
            let next = restriction.product(&fine.product(&prolongation)?)?;
            levels.push(Level::new(fine, &prolongation, &restriction));
            block = coarse_candidates.count();
            candidates = coarse_candidates;
            kinds = aggregates.kinds(&kinds);
            strength *= 0.5;
            coarse = Some(next);
        }
        let last = coarse.as_ref().unwrap_or(matrix);
        let (coarsest, last_level) = if last.rows() <= options.coarsest.max(2000) {
            (DenseCholesky::new(last), None)
        } else {
            // Could not be coarsened to a size that a direct solution handles: smoothing alone is left.
            (DenseCholesky::new(&CsrMatrix::zeros(0, 0)), Some(Level::last(last)))
        };
        levels.extend(last_level);
        Ok(Self { levels, coarsest, size, order })
    }

    /// Number of levels, with the coarsest.
    pub fn levels(&self) -> usize {
        self.levels.len() + usize::from(self.coarsest.size() > 0)
    }

    /// Stored entries of all level matrices relative to those of the finest.
    pub fn operator_complexity(&self) -> f64 {
        let entries: usize = self.levels.iter().map(|level| level.entries).sum();
        self.levels.first().map_or(1.0, |level| entries as f64 / level.entries.max(1) as f64)
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(Level::bytes).sum::<usize>() + self.coarsest.bytes() + 4 * self.order.len()
    }
}

impl Preconditioner for Amg {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        assert_eq!(r.len(), self.size, "the vector must have one entry for each row of the matrix");
        // Scaled so that single precision neither overflows nor underflows.
        let largest = vector::max_norm(r);
        if !(largest > 0.0 && largest.is_finite()) {
            z.fill(if largest == 0.0 { 0.0 } else { f64::NAN });
            return;
        }
        let Self { levels, coarsest, order, .. } = self;
        match levels.first_mut() {
            Some(finest) if order.is_empty() => {
                for (b, r) in finest.b.iter_mut().zip(r) {
                    *b = (r / largest) as f32;
                }
                cycle(levels, coarsest);
                for (z, x) in z.iter_mut().zip(&levels[0].x) {
                    *z = f64::from(*x) * largest;
                }
            }
            Some(finest) => {
                for (b, &old) in finest.b.iter_mut().zip(&*order) {
                    *b = (r[old as usize] / largest) as f32;
                }
                cycle(levels, coarsest);
                for (x, &old) in levels[0].x.iter().zip(&*order) {
                    z[old as usize] = f64::from(*x) * largest;
                }
            }
            None if order.is_empty() => coarsest.solve(r, z),
            None => {
                let load: Vec<f64> = order.iter().map(|&old| r[old as usize]).collect();
                let mut solved = vec![0.0; load.len()];
                coarsest.solve(&load, &mut solved);
                for (x, &old) in solved.iter().zip(&*order) {
                    z[old as usize] = *x;
                }
            }
        }
    }
}

fn cycle(levels: &mut [Level], coarsest: &mut DenseCholesky) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    level.pre_smooth();
    if level.prolongation.rows() > 0 {
        match coarser.first_mut() {
            Some(next) => {
                level.restriction.multiply(&level.r, &mut next.b);
                cycle(coarser, coarsest);
                level.prolongation.add_multiply(&coarser[0].x, &mut level.x);
            }
            None => {
                let Level { restriction, prolongation, r, x, .. } = level;
                coarsest.solve_single(|b| restriction.multiply(r, b), |e| prolongation.add_multiply(e, x));
            }
        }
    }
    level.post_smooth();
}
