//! Conjugate gradients preconditioned by multigrid, with all vectors in the checkerboard layout.
//!
//! The generic PCG of this crate takes [`Multigrid`] as a preconditioner just as well; this one fuses the vector updates with the conversion
//! to single precision and with the first half sweep, and so reads memory about half as often.

use super::addition::{Addition, Placed};
use super::hierarchy::{Multigrid, MultigridOptions, exact_weights, merge};
use super::kernels::{Weights, for_rows, neighbor_sums, vectorized};
use super::layout::{Layout, for_planes, reduce_planes};
use super::level::Level;
use super::problem::{Coupling, PoissonProblem, Regions};
use splashdown_parallel::prelude::*;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonOptions {
    /// Stop when `|b - A x| <= relative_tolerance |b|` (2-norm, the true residual).
    pub relative_tolerance: f64,
    /// Give up after this many iterations.
    pub max_iterations: usize,
}

impl Default for PoissonOptions {
    fn default() -> Self {
        Self { relative_tolerance: 1e-8, max_iterations: 200 }
    }
}

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonReport {
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// True relative residual `|b - A x| / |b|`, computed anew from the solution.
    pub relative_residual: f64,
    /// Was the tolerance reached?
    pub converged: bool,
    /// Largest mean that had to be taken out of the right-hand side of a region without Dirichlet boundary (same unit as `b`).
    pub incompatibility: f64,
}

/// A [`PoissonProblem`] made ready to be solved for many right-hand sides.
#[derive(Debug, Clone)]
pub struct PoissonSolver {
    multigrid: Multigrid,
    weights: Weights<f64>,
    /// Exact diagonal by colour.
    diagonal: [Vec<f64>; 2],
    regions: Option<Regions>,
    x: [Vec<f64>; 2],
    r: [Vec<f64>; 2],
    p: [Vec<f64>; 2],
    ap: [Vec<f64>; 2],
    /// One number a plane, summed in order.
    partial: Vec<f64>,
}

/// Iterations without a smaller residual after which conjugate gradients start anew from the true one.
const IDLE: usize = 15;
/// Largest reduction of the residual in one pass.
const LONGEST_PASS: f64 = 1e-11;

impl PoissonSolver {
    /// Builds the hierarchy and the working vectors.
    pub fn new<const D: usize>(problem: &PoissonProblem<D>, options: &MultigridOptions) -> Self {
        let multigrid = Multigrid::new(problem, options);
        let layout = multigrid.levels[0].layout;
        let weights = exact_weights(problem, &layout);
        let regions = Some(problem.regions()).filter(Regions::any_floating);
        let diagonal = diagonal(problem, &layout);
        let zeros = || [vec![0.0; layout.len], vec![0.0; layout.len]];
        Self {
            multigrid,
            weights,
            diagonal,
            regions,
            x: zeros(),
            r: zeros(),
            p: zeros(),
            ap: zeros(),
            partial: vec![0.0; layout.n[2]],
        }
    }

    /// The preconditioner alone.
    pub fn multigrid(&self) -> &Multigrid {
        &self.multigrid
    }

    /// The preconditioner alone, to apply it.
    pub fn multigrid_mut(&mut self) -> &mut Multigrid {
        &mut self.multigrid
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        let doubles = |arrays: &[Vec<f64>; 2]| 8 * (arrays[0].len() + arrays[1].len());
        let weights = match &self.weights {
            Weights::Uniform(_) => 0,
            Weights::Faces(faces) => faces.iter().map(doubles).sum(),
        };
        self.multigrid.bytes()
            + weights
            + [&self.diagonal, &self.x, &self.r, &self.p, &self.ap].into_iter().map(doubles).sum::<usize>()
            + self.regions.as_ref().map_or(0, |regions| 4 * regions.labels.len() + regions.grounded.len())
    }

    /// Solves `A x = b` starting from `x`. Both are dense over the grid. In regions without Dirichlet boundary the mean is taken out of
    /// `b` and the solution of zero mean is returned; a cell without neighbours gets zero.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64], options: &PoissonOptions) -> PoissonReport {
        self.solve_placed(b, x, options, None)
    }

    /// Does every cell of the addition have a row of its own? Only then is [`Self::solve_with`] to be used, and only if the addition leaves alone the constants of regions
    /// without Dirichlet boundary.
    pub fn takes(&self, addition: &Addition) -> bool {
        let placed = Placed::new(addition, &self.multigrid.levels[0].layout);
        let known = |colour: usize, place: usize| self.diagonal[colour][place] > 0.0;
        placed.are_all(known)
    }

    /// [`Self::solve`] for `A` with an addition of low rank, preconditioned by the multigrid of `A` alone.
    pub fn solve_with(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        options: &PoissonOptions,
        addition: &Addition,
    ) -> PoissonReport {
        let placed = Placed::new(addition, &self.multigrid.levels[0].layout);
        self.solve_placed(b, x, options, Some(placed))
    }

    fn solve_placed(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        options: &PoissonOptions,
        mut addition: Option<Placed>,
    ) -> PoissonReport {
        let mut compatible;
        let (mut b, mut incompatibility) = (b, 0.0);
        if let Some(regions) = &self.regions {
            compatible = b.to_vec();
            incompatibility = regions.remove_floating_means(&mut compatible);
            b = &compatible;
        }
        let norm_b = self.load(b, x);
        let mut report =
            PoissonReport { iterations: 0, relative_residual: 0.0, converged: true, incompatibility };
        if norm_b == 0.0 {
            x.fill(0.0);
            return report;
        }
        let goal = options.relative_tolerance * norm_b;
        let mut norm = self.compatible_residual(b, addition.as_mut());
        // The recursive residual may drift from the true one; each pass begins with the latter.
        loop {
            let before = norm;
            if norm > goal && report.iterations < options.max_iterations {
                // Rounding puts a little of the null vectors into the residual: too little to matter within a pass that ends in time.
                let goal = goal.max(LONGEST_PASS * norm);
                self.iterate(norm, goal, options.max_iterations, &mut report.iterations, addition.as_mut());
                if let Some(regions) = &self.regions {
                    // Rounding lets the constants drift, and large constants cost digits of the residual.
                    merge(&self.multigrid.levels[0].layout, &self.x, x, |value| value);
                    regions.remove_floating_means(x);
                    self.load(b, x);
                }
                norm = self.compatible_residual(b, addition.as_mut());
            }
            report.relative_residual = norm / norm_b;
            report.converged = norm <= goal;
            // A residual that is not a number has not gained either.
            let gained = norm < 0.5 * before;
            if report.converged || !gained || report.iterations >= options.max_iterations {
                break;
            }
        }
        merge(&self.multigrid.levels[0].layout, &self.x, x, |value| value);
        if let Some(regions) = &self.regions {
            regions.remove_floating_means(x);
        }
        report
    }

    /// Conjugate gradients from the residual in `r`, of the given norm, until its recursive norm meets `goal`.
    fn iterate(
        &mut self,
        mut norm: f64,
        goal: f64,
        max_iterations: usize,
        iterations: &mut usize,
        mut addition: Option<&mut Placed>,
    ) {
        // The preconditioner sees residuals divided by a recent norm, so that single precision neither over- nor underflows.
        let mut scale = norm;
        let mut rho_before = 0.0;
        // Beyond what rounding allows iterations only do harm, above all where the constants are a null vector.
        let (mut least, mut idle) = (norm, 0);
        self.update(0.0, 1.0 / scale);
        loop {
            self.multigrid.cycle(true);
            let up = scale / self.multigrid.scale;
            let rho = self.preconditioned_product() * scale * up;
            let beta = if rho_before == 0.0 { 0.0 } else { rho / rho_before };
            let mut curvature = self.direction(up, beta);
            if let Some(addition) = &mut addition {
                curvature += addition.add(1.0, &self.p, &mut self.ap);
            }
            // Not positive: nothing left that single precision can resolve, or not a number.
            if !(curvature > 0.0 && rho > 0.0) {
                return;
            }
            scale = norm;
            norm = self.update(rho / curvature, 1.0 / scale);
            rho_before = rho;
            *iterations += 1;
            idle = if norm < least { 0 } else { idle + 1 };
            least = least.min(norm);
            if idle >= IDLE {
                return;
            }
            if !(norm > goal && norm.is_finite()) || *iterations >= max_iterations {
                return;
            }
        }
    }

    /// Reads `x` into the solution (zero where there is no unknown) and returns the norm of `b` over the unknowns.
    fn load(&mut self, b: &[f64], x: &[f64]) -> f64 {
        let Level { layout, inverse, .. } = &self.multigrid.levels[0];
        let mut square = 0.0;
        for colour in 0..2 {
            let inverse = &inverse[colour];
            reduce_planes(layout, &mut self.x[colour], &mut self.partial, |k, plane| {
                let mut sum = 0.0;
                for j in 0..layout.n[1] {
                    let (start, local) = (layout.start(j, k), layout.in_plane(j));
                    let (row, q) = (layout.natural_row(j, k), Layout::offset(colour, j, k));
                    for (s, i) in (q..layout.n[0]).step_by(2).enumerate() {
                        if inverse[start + s] > 0.0 {
                            plane[local + s] = x[row + i];
                            sum += b[row + i] * b[row + i];
                        }
                    }
                }
                sum
            });
            square += self.partial.iter().sum::<f64>();
        }
        square.sqrt()
    }

    /// `r = b - A x` without its part in the null space, and its norm.
    fn compatible_residual(&mut self, b: &[f64], addition: Option<&mut Placed>) -> f64 {
        let mut norm = self.true_residual(b);
        if let Some(addition) = addition {
            addition.add(-1.0, &self.x, &mut self.r);
            norm = self.r.iter().map(|r| crate::vector::dot(r, r)).sum::<f64>().sqrt();
        }
        let Some(regions) = &self.regions else { return norm };
        let layout = &self.multigrid.levels[0].layout;
        let mut natural = vec![0.0; b.len()];
        merge(layout, &self.r, &mut natural, |value| value);
        regions.remove_floating_means(&mut natural);
        let mut square = 0.0;
        for k in 0..layout.n[2] {
            for j in 0..layout.n[1] {
                let (row, start) = (layout.natural_row(j, k), layout.start(j, k));
                for colour in 0..2 {
                    let inverse = &self.multigrid.levels[0].inverse[colour];
                    for (s, i) in (Layout::offset(colour, j, k)..layout.n[0]).step_by(2).enumerate() {
                        if inverse[start + s] > 0.0 {
                            self.r[colour][start + s] = natural[row + i];
                            square += natural[row + i] * natural[row + i];
                        }
                    }
                }
            }
        }
        square.sqrt()
    }

    /// `r = b - A x`, and its norm.
    fn true_residual(&mut self, b: &[f64]) -> f64 {
        let Self { multigrid, weights, diagonal, x, r, partial, .. } = self;
        let Level { layout, inverse, spans, .. } = &multigrid.levels[0];
        let mut square = 0.0;
        for colour in 0..2 {
            reduce_planes(layout, &mut r[colour], partial, |k, plane| {
                let mut sum = 0.0;
                for_rows(layout, &spans[colour], colour, k, |row, local| {
                    let (j, s0) = layout.row_of(local.start);
                    let range = row.base..row.base + row.len;
                    let b = &b[layout.natural_row(j, k) + 2 * s0 + row.q..];
                    let active = &inverse[colour][range.clone()];
                    let (x_own, d) = (&x[colour][range.clone()], &diagonal[colour][range]);
                    let out = &mut plane[local];
                    neighbor_sums(layout, weights, colour, &x[1 - colour], row, |s, neighbors| {
                        out[s] = if active[s] > 0.0 { b[2 * s] - d[s] * x_own[s] + neighbors } else { 0.0 };
                        sum += out[s] * out[s];
                    });
                });
                sum
            });
            square += partial.iter().sum::<f64>();
        }
        square.sqrt()
    }

    /// `x += step p`, `r -= step A p`; hands `down r` to the preconditioner and makes its first red half sweep. Returns `|r|`.
    fn update(&mut self, step: f64, down: f64) -> f64 {
        let Self { multigrid, x, r, p, ap, partial, .. } = self;
        let Level { layout, inverse, spans, x: z, b, .. } = &mut multigrid.levels[0];
        let mut square = 0.0;
        for colour in 0..2 {
            let (spans, p, ap) = (&spans[colour], &p[colour], &ap[colour]);
            let inverse = &inverse[0];
            // Black values of the preconditioner are not touched here; the split of `z` serves red only.
            let planes = inner_planes(layout, &mut x[colour])
                .zip(inner_planes(layout, &mut r[colour]))
                .zip(inner_planes(layout, &mut b[colour]))
                .zip(inner_planes(layout, &mut z[colour]))
                .zip(partial.par_iter_mut());
            planes.enumerate().for_each(|(k, ((((x, r), b), z), sum))| {
                let mut lanes = Lanes::default();
                vectorized(|| {
                    for_rows(layout, spans, colour, k, |row, local| {
                        let range = row.base..row.base + row.len;
                        let (p, ap) = (&p[range.clone()], &ap[range.clone()]);
                        let (x, r) = (&mut x[local.clone()], &mut r[local.clone()]);
                        let b = &mut b[local.clone()];
                        for s in 0..row.len {
                            x[s] += step * p[s];
                            r[s] -= step * ap[s];
                            b[s] = (r[s] * down) as f32;
                        }
                        lanes.add(r, r);
                        if colour == 0 {
                            let (inverse, z) = (&inverse[range], &mut z[local]);
                            for s in 0..row.len {
                                z[s] = inverse[s] * b[s];
                            }
                        }
                    })
                });
                *sum = lanes.total();
            });
            square += partial.iter().sum::<f64>();
        }
        square.sqrt()
    }

    /// Inner product of the preconditioner's right-hand side and result.
    fn preconditioned_product(&mut self) -> f64 {
        let Self { multigrid, partial, .. } = self;
        let Level { layout, spans, x, b, .. } = &multigrid.levels[0];
        let mut total = 0.0;
        for colour in 0..2 {
            partial.par_iter_mut().enumerate().for_each(|(k, sum)| {
                let mut lanes = Lanes::default();
                vectorized(|| {
                    for_rows(layout, &spans[colour], colour, k, |row, _| {
                        let range = row.base..row.base + row.len;
                        lanes.add_single(&x[colour][range.clone()], &b[colour][range]);
                    })
                });
                *sum = lanes.total();
            });
            total += partial.iter().sum::<f64>();
        }
        total
    }

    /// `p = up z + beta p` and `A p`; returns `p . A p`.
    fn direction(&mut self, up: f64, beta: f64) -> f64 {
        let Self { multigrid, weights, diagonal, p, ap, partial, .. } = self;
        let Level { layout, spans, x: z, .. } = &multigrid.levels[0];
        for colour in 0..2 {
            for_planes(layout, &mut p[colour], |k, plane| {
                vectorized(|| {
                    for_rows(layout, &spans[colour], colour, k, |row, local| {
                        let z = &z[colour][row.base..row.base + row.len];
                        for (p, z) in plane[local].iter_mut().zip(z) {
                            *p = f64::from(*z) * up + beta * *p;
                        }
                    })
                });
            });
        }
        let mut total = 0.0;
        for colour in 0..2 {
            reduce_planes(layout, &mut ap[colour], partial, |k, plane| {
                let mut lanes = Lanes::default();
                vectorized(|| {
                    for_rows(layout, &spans[colour], colour, k, |row, local| {
                        let range = row.base..row.base + row.len;
                        let (p_own, d) = (&p[colour][range.clone()], &diagonal[colour][range]);
                        let out = &mut plane[local];
                        // A cell that is no unknown has a zero diagonal, and must not gather its neighbours.
                        neighbor_sums(layout, weights, colour, &p[1 - colour], row, |s, neighbors| {
                            out[s] = if d[s] > 0.0 { d[s] * p_own[s] - neighbors } else { 0.0 };
                        });
                        lanes.add(p_own, out);
                    })
                });
                lanes.total()
            });
            total += partial.iter().sum::<f64>();
        }
        total
    }
}

/// The inner planes of a padded array, for parallel loops.
fn inner_planes<'a, T: Send>(layout: &Layout, array: &'a mut [T]) -> splashdown_parallel::ChunksMut<'a, T> {
    array[layout.plane..layout.plane * (layout.n[2] + 1)].par_chunks_exact_mut(layout.plane)
}

/// A sum in eight interleaved parts: vectorises, and in the same order whatever the instruction set.
#[derive(Default)]
struct Lanes([f64; 8]);

impl Lanes {
    #[inline(always)]
    fn add(&mut self, a: &[f64], b: &[f64]) {
        let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
        for (lane, (a, b)) in a_chunks.remainder().iter().zip(b_chunks.remainder()).enumerate() {
            self.0[lane] += a * b;
        }
        for (a, b) in a_chunks.zip(b_chunks) {
            for lane in 0..8 {
                self.0[lane] += a[lane] * b[lane];
            }
        }
    }

    #[inline(always)]
    fn add_single(&mut self, a: &[f32], b: &[f32]) {
        let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
        for (lane, (a, b)) in a_chunks.remainder().iter().zip(b_chunks.remainder()).enumerate() {
            self.0[lane] += f64::from(*a) * f64::from(*b);
        }
        for (a, b) in a_chunks.zip(b_chunks) {
            for lane in 0..8 {
                self.0[lane] += f64::from(a[lane]) * f64::from(b[lane]);
            }
        }
    }

    fn total(&self) -> f64 {
        let l = &self.0;
        ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
    }
}

/// The exact diagonal by colour, zero where there is no unknown.
fn diagonal<const D: usize>(problem: &PoissonProblem<D>, layout: &Layout) -> [Vec<f64>; 2] {
    let active = problem.active();
    let n = layout.n;
    let strides = [1, n[0], n[0] * n[1]];
    let uniform = match problem.coupling() {
        Coupling::Uniform(weights) => Some(weights),
        Coupling::Faces(_) => None,
    };
    [0, 1].map(|colour| {
        let mut array = vec![0.0; layout.len];
        for_planes(layout, &mut array, |k, plane| {
            for j in 0..n[1] {
                let (row, local) = (layout.natural_row(j, k), layout.in_plane(j));
                for (s, i) in (Layout::offset(colour, j, k)..n[0]).step_by(2).enumerate() {
                    let cell = row + i;
                    if !active[cell] {
                        continue;
                    }
                    let mut sum = problem.dirichlet()[cell];
                    if let Some(weights) = uniform {
                        for (axis, at) in [i, j, k].into_iter().enumerate().take(D) {
                            let below = at > 0 && active[cell - strides[axis]];
                            let above = at + 1 < n[axis] && active[cell + strides[axis]];
                            sum += weights[axis] * f64::from(u8::from(below) + u8::from(above));
                        }
                    } else {
                        problem.for_each_neighbor(cell, |_, weight| sum += weight);
                    }
                    plane[local + s] = sum;
                }
            }
        });
        array
    })
}
