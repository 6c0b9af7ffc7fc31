//! The stack of grids and the cycle through it.

use super::coarsest::BandedCholesky;
use super::kernels::Weights;
use super::layout::{Layout, for_planes};
use super::level::{CellOperator, Level};
use super::problem::{Coupling, PoissonProblem, strides};
use super::transfer::{Transfer, choose_axes, coarsen};
use crate::Preconditioner;
use splashdown_parallel::prelude::*;

/// Choices of the multigrid cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultigridOptions {
    /// Gauss-Seidel sweeps before and after the coarse correction on the finest grid.
    pub fine_sweeps: usize,
    /// The same on all coarser grids, where they cost little.
    pub coarse_sweeps: usize,
    /// Cells at which the grid is small enough for a direct solution.
    pub coarsest_cells: usize,
}

impl Default for MultigridOptions {
    fn default() -> Self {
        Self { fine_sweeps: 2, coarse_sweeps: 2, coarsest_cells: 600 }
    }
}

/// Geometric multigrid for a [`PoissonProblem`]: a symmetric positive definite approximation of its inverse
/// (one cycle from zero), in single precision inside.
#[derive(Debug, Clone)]
pub struct Multigrid {
    pub(super) levels: Vec<Level>,
    transfers: Vec<Transfer>,
    coarsest: BandedCholesky,
    /// Factor between the problem's weights and the level's, which are near 1.
    pub(super) scale: f64,
}

impl Multigrid {
    /// Builds all grids.
    pub fn new<const D: usize>(problem: &PoissonProblem<D>, options: &MultigridOptions) -> Self {
        let (mut operator, uniform, scale) = finest(problem);
        let mut levels = Vec::new();
        let mut transfers = Vec::new();
        levels.push(Level::new(&operator, uniform, options.fine_sweeps.max(1)));
        while operator.cells() > options.coarsest_cells {
            let Some(axes) = choose_axes(&operator) else { break };
            let (coarser, transfer) = coarsen(&operator, axes);
            operator = coarser;
            transfers.push(transfer);
            levels.push(Level::new(&operator, None, options.coarse_sweeps.max(1)));
        }
        let coarsest = BandedCholesky::new(&operator);
        Self { levels, transfers, coarsest, scale }
    }

    /// Number of grids.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(Level::bytes).sum::<usize>()
            + self.transfers.iter().map(Transfer::bytes).sum::<usize>()
            + self.coarsest.bytes()
    }

    /// One cycle on the finest grid: `levels[0].x` from `levels[0].b`; `red_done` when the first red half sweep is done already.
    pub(super) fn cycle(&mut self, red_done: bool) {
        cycle(&mut self.levels, &mut self.transfers, &mut self.coarsest, red_done);
    }
}

fn cycle(levels: &mut [Level], transfers: &mut [Transfer], coarsest: &mut BandedCholesky, red_done: bool) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    let Some((transfer, transfers)) = transfers.split_first_mut() else {
        return solve_coarsest(level, coarsest);
    };
    if red_done {
        level.pre_smooth_after_red();
    } else {
        level.pre_smooth();
    }
    level.red_residual();
    transfer.restrict(level, &mut coarser[0]);
    cycle(coarser, transfers, coarsest, false);
    transfer.prolong(&coarser[0], level);
    level.post_smooth();
}

fn solve_coarsest(level: &mut Level, coarsest: &mut BandedCholesky) {
    let Level { layout, x, b, .. } = level;
    let n = layout.n;
    let place = |cell: usize| {
        let (i, j, k) = (cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1]));
        ((i + j + k) & 1, layout.start(j, k) + i / 2)
    };
    coarsest.solve(
        |cell| {
            let (colour, index) = place(cell);
            b[colour][index]
        },
        |cell, value| {
            let (colour, index) = place(cell);
            x[colour][index] = value;
        },
    );
}

/// The finest operator in single precision with weights near 1, its uniform weights if it has such, and the scale taken out.
fn finest<const D: usize>(problem: &PoissonProblem<D>) -> (CellOperator, Option<[f32; 3]>, f64) {
    let dims = problem.dims();
    let mut n = [1; 3];
    n[..D].copy_from_slice(&dims);
    let largest = match problem.coupling() {
        Coupling::Uniform(weights) => weights.iter().fold(0.0, |a: f64, &b| a.max(b)),
        Coupling::Faces(faces) => faces
            .iter()
            .map(|weights| weights.par_iter().copied().reduce(|| 0.0, f64::max))
            .fold(0.0, f64::max),
    };
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let cells = problem.cells();
    let active = problem.active();
    let mut upper = [vec![0.0f32; cells], vec![0.0f32; cells], vec![0.0f32; cells]];
    let strides = strides(dims);
    for axis in 0..D {
        let stride = strides[axis];
        let block = stride * dims[axis];
        // Rows of cells that share all coordinates above axis 0, so that no coordinate is divided out cell by cell.
        upper[axis].par_chunks_mut(dims[0]).enumerate().with_min_len(64).for_each(|(row, weights)| {
            let start = row * dims[0];
            let last = start % block / stride + 1 == dims[axis];
            for (i, weight) in weights.iter_mut().enumerate() {
                let cell = start + i;
                let border = if axis == 0 { i + 1 == dims[0] } else { last };
                if !border && active[cell] && active[cell + stride] {
                    let value = match problem.coupling() {
                        Coupling::Uniform(uniform) => uniform[axis],
                        Coupling::Faces(faces) => faces[axis][cell],
                    };
                    *weight = (value / scale) as f32;
                }
            }
        });
    }
    let mut extra = vec![0.0f32; cells];
    extra.par_iter_mut().enumerate().with_min_len(1 << 14).for_each(|(cell, extra)| {
        if active[cell] {
            *extra = (problem.dirichlet()[cell] / scale) as f32;
        }
    });
    let uniform = match problem.coupling() {
        Coupling::Uniform(weights) => {
            let mut uniform = [0.0; 3];
            for axis in 0..D {
                uniform[axis] = (weights[axis] / scale) as f32;
            }
            Some(uniform)
        }
        Coupling::Faces(_) => None,
    };
    (CellOperator { n, upper, extra }, uniform, scale)
}

impl Preconditioner for Multigrid {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        // Scaled so that single precision neither overflows nor underflows.
        let largest = r.par_iter().with_min_len(1 << 14).map(|value| value.abs()).reduce(|| 0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            z.fill(0.0);
            return;
        }
        let down = 1.0 / largest;
        let Level { layout, inverse, b, .. } = &mut self.levels[0];
        for colour in 0..2 {
            let inverse = &inverse[colour];
            for_planes(layout, &mut b[colour], |k, plane| {
                for j in 0..layout.n[1] {
                    let (row, start) = (layout.natural_row(j, k), layout.start(j, k));
                    let local = layout.in_plane(j);
                    let q = Layout::offset(colour, j, k);
                    for (s, i) in (q..layout.n[0]).step_by(2).enumerate() {
                        let value = if inverse[start + s] > 0.0 { r[row + i] * down } else { 0.0 };
                        plane[local + s] = value as f32;
                    }
                }
            });
        }
        self.cycle(false);
        let up = largest / self.scale;
        let level = &self.levels[0];
        merge(&level.layout, &level.x, z, |value| f64::from(value) * up);
    }
}

/// Writes the two padded arrays to natural order.
pub(super) fn merge<T: Copy + Sync>(
    layout: &Layout,
    split: &[Vec<T>; 2],
    natural: &mut [f64],
    convert: impl Fn(T) -> f64 + Sync,
) {
    natural.par_chunks_mut(layout.n[0]).enumerate().with_min_len(64).for_each(|(number, row)| {
        let (j, k) = (number % layout.n[1], number / layout.n[1]);
        let start = layout.start(j, k);
        for colour in 0..2 {
            let q = Layout::offset(colour, j, k);
            for (value, x) in row.iter_mut().skip(q).step_by(2).zip(&split[colour][start..]) {
                *value = convert(*x);
            }
        }
    });
}

/// The uniform or face weights of the finest level in double precision.
pub(super) fn exact_weights<const D: usize>(problem: &PoissonProblem<D>, layout: &Layout) -> Weights<f64> {
    match problem.coupling() {
        Coupling::Uniform(weights) => {
            let mut uniform = [0.0; 3];
            uniform[..D].copy_from_slice(weights);
            Weights::Uniform(uniform)
        }
        Coupling::Faces(_) => {
            let dims = problem.dims();
            Weights::Faces([0, 1, 2].map(|axis| {
                super::level::split(layout, |cell| {
                    if axis >= D {
                        return 0.0;
                    }
                    problem.upper_weight(super::problem::unflatten(dims, cell), cell, axis)
                })
            }))
        }
    }
}
