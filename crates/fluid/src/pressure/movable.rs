//! The projection with solids that the pressure moves: `(L + F M^-1 F^T) p = -div`, with `F v` the flux that the solids' velocity `v` makes.
//!
//! Faces that solids close have no velocity of their own, so this is the coupled system of spec/fluid-structure.md 3.8 with the coupling impulses
//! eliminated: the Poisson problem plus a term of rank 6 for each body (3 in the plane). The mass `M` holds whatever fluid is lumped on the solids.

use super::{
    Cached, PressureProblem, PressureReport, PressureTolerance, Solver, for_each_seam, reach, sparse,
};
use crate::error::FluidError;
use splashdown_math::{Dim, Space};
use splashdown_solve::multigrid::{Addition, PoissonOptions, Regions};
use splashdown_solve::{
    CsrMatrix, InverseMass, Iteration, LinearOperator, Preconditioner, Stopping, Workspace, pcg, vector,
};
use std::sync::{Mutex, PoisonError};

/// How impulses change the velocity of solids: symmetric and positive semidefinite, such as an inverse mass, with or without constraints.
pub trait Mobility: Sync {
    /// Turns an impulse into the change of velocity that it makes.
    fn apply(&self, impulse: &mut [f64]);
}

impl Mobility for InverseMass {
    fn apply(&self, impulse: &mut [f64]) {
        Self::apply(self, impulse);
    }
}

/// Solids that the pressure moves. Their velocities before the solve are those of the closed faces in [`crate::Walls`].
pub struct MovableWalls<'a> {
    /// `F^T`: flux (m^3/s) out of each cell of the grid (columns, axis 0 fastest) for one unit of each scalar of the solids' velocity (rows).
    pub flux: &'a CsrMatrix,
    /// How an impulse changes that velocity.
    pub mobility: &'a dyn Mobility,
    /// The same without constraints, if there are any: they may keep a region's constant pressure from moving anything, as that around a body which keeps its volume.
    pub unheld: Option<&'a dyn Mobility>,
    /// The velocity: on entry without, on return with the pressure.
    pub velocity: &'a mut [f64],
}

impl MovableWalls<'_> {
    /// `v += M^-1 F^T p`.
    pub(super) fn apply_pressure(&mut self, impulse: &[f64]) {
        let mut push = vec![0.0; self.flux.rows()];
        self.flux.multiply(impulse, &mut push);
        self.mobility.apply(&mut push);
        vector::axpy(1.0, &push, self.velocity);
    }

    /// Do the constraints let solids give way to a pressure?
    fn moves(&self, pressure: &[f64], unheld: &dyn Mobility) -> bool {
        let mut push = vec![0.0; self.flux.rows()];
        self.flux.multiply(pressure, &mut push);
        let way = |mobility: &dyn Mobility| {
            let mut moved = push.clone();
            mobility.apply(&mut moved);
            vector::dot(&push, &moved)
        };
        way(self.mobility) > MOVED * way(unheld)
    }

    /// The regions whose pressure is known up to a constant once solids yield to it (the probe of spec/fluid-structure.md 3.10): a constant that moves a solid is no null vector, so
    /// its region counts as grounded; regions that a membrane parts have one together, because it feels differences only, and become one. `None` if nothing changes.
    pub(super) fn hold(&self, regions: &Regions) -> Option<Regions> {
        let count = regions.grounded.len();
        // Regions that push on the same solid, and whether the sum of what they do to it vanishes.
        let mut group: Vec<usize> = (0..count).collect();
        let mut held = vec![false; count];
        let (mut rows, mut any) = (Vec::new(), false);
        for row in 0..self.flux.rows() {
            let (columns, values) = self.flux.row(row);
            let mut net: Vec<(usize, f64)> = Vec::new();
            let mut gross = 0.0f64;
            for (&cell, &value) in columns.iter().zip(values) {
                let label = regions.labels[cell as usize];
                gross += value.abs();
                if label == Regions::NONE || regions.grounded[label as usize] {
                    continue;
                }
                match net.iter_mut().find(|(known, _)| *known == label as usize) {
                    Some((_, sum)) => *sum += value,
                    None => net.push((label as usize, value)),
                }
            }
            net.retain(|(_, sum)| sum.abs() > MOVED * gross);
            let Some(&(first, _)) = net.first() else { continue };
            any = true;
            for &(other, _) in &net[1..] {
                let (a, b) = (root(&group, first), root(&group, other));
                group[a.max(b)] = a.min(b);
            }
            rows.push((first, net.iter().map(|(_, sum)| sum).sum::<f64>().abs() > MOVED * gross));
        }
        if !any {
            return None;
        }
        for &(first, moved) in &rows {
            held[root(&group, first)] |= moved;
        }
        if let Some(unheld) = self.unheld {
            for first in 0..count {
                if !held[first] {
                    continue;
                }
                let one = regions.labels.iter().map(|&label| {
                    let inside = label != Regions::NONE && root(&group, label as usize) == first;
                    f64::from(u8::from(inside))
                });
                held[first] = self.moves(&one.collect::<Vec<_>>(), unheld);
            }
        }
        let mut grounded = regions.grounded.clone();
        for region in (0..count).filter(|&region| !regions.grounded[region]) {
            let first = root(&group, region);
            // Of several regions with one constant, the first stands for all.
            grounded[region] = held[first] || first != region;
        }
        let merged = |&label: &u32| match label {
            Regions::NONE => label,
            label if regions.grounded[label as usize] => label,
            label => root(&group, label as usize) as u32,
        };
        Some(Regions { labels: regions.labels.iter().map(merged).collect(), grounded })
    }
}

/// Net flux of a constant pressure through a solid, relative to the flux of its parts, below which it does not move it.
const MOVED: f64 = 1e-9;

/// Who stands for the group of `member`.
pub(super) fn root(group: &[usize], mut member: usize) -> usize {
    while group[member] != member {
        member = group[member];
    }
    member
}

/// Conjugate gradients on the coupled operator, preconditioned by the multigrid of the fluid alone.
pub(super) struct MovableSolver<'a, 'm, const D: usize>
where
    Dim<D>: Space<D>,
{
    problem: &'a PressureProblem<'a, D>,
    cached: &'a mut Cached<D>,
    /// Regions with no null vector of their own but one of the fluid alone.
    held: Vec<Vec<u32>>,
    /// Are the null vectors those of the fluid alone?
    as_alone: bool,
    floating: Option<Regions>,
    movable: &'a MovableWalls<'m>,
}

impl<'a, 'm, const D: usize> MovableSolver<'a, 'm, D>
where
    Dim<D>: Space<D>,
{
    pub fn new(
        problem: &'a PressureProblem<'a, D>,
        cached: &'a mut Cached<D>,
        held: &Option<Regions>,
        movable: &'a MovableWalls<'m>,
    ) -> Result<Self, FluidError> {
        let mut cells = Vec::new();
        if let (Some(held), Some(own)) = (held, &cached.regions) {
            for region in (0..own.grounded.len()).filter(|&r| held.grounded[r] && !own.grounded[r]) {
                let inside =
                    (0..own.labels.len() as u32).filter(|&c| own.labels[c as usize] == region as u32);
                cells.push(inside.collect());
            }
        }
        let floating = held.as_ref().or(cached.regions.as_ref()).filter(|r| r.any_floating()).cloned();
        Ok(Self { problem, cached, held: cells, as_alone: held.is_none(), floating, movable })
    }

    /// As [`reach`]; `scale` turns a residual (m^3/s) into `|div u| dt`.
    pub fn reach(
        &mut self,
        rhs: &[f64],
        impulse: &mut [f64],
        goals: [f64; 2],
        tolerance: &PressureTolerance,
        scale: f64,
        report: &mut PressureReport,
    ) -> Result<bool, FluidError> {
        let Cached { problem: system, seams, solver, .. } = &mut *self.cached;
        let counts = self.problem.domain.grid().cells();
        let operator = MovableOperator {
            fluid: &|x: &[f64], y: &mut [f64]| {
                system.apply(x, y);
                if seams.iter().any(|seam| !seam.is_empty()) {
                    for (place, y) in y.iter_mut().enumerate().filter(|(place, _)| system.active()[*place]) {
                        for_each_seam(seams, counts, sparse(counts, place), |other, weight| {
                            *y += weight * (x[place] - x[other]);
                        });
                    }
                }
            },
            movable: self.movable,
            cells: rhs.len(),
            scratch: Mutex::new(vec![0.0; self.movable.flux.rows()]),
        };
        let mut levels = Vec::with_capacity(self.held.len());
        for cells in &self.held {
            let (mut one, mut image) = (vec![0.0; rhs.len()], vec![0.0; rhs.len()]);
            cells.iter().for_each(|&cell| one[cell as usize] = 1.0);
            operator.apply(&one, &mut image);
            levels.push(cells.iter().map(|&cell| image[cell as usize]).sum::<f64>());
        }
        let worst = |rhs: &[f64], x: &[f64]| {
            let mut y = vec![0.0; rhs.len()];
            operator.apply(x, &mut y);
            let of_cell = |(place, (y, b)): (usize, (&f64, &f64))| {
                let cell = sparse(counts, place);
                if self.problem.has_pressure(cell) { (b - y).abs() } else { 0.0 }
            };
            scale * y.iter().zip(rhs).enumerate().map(of_cell).fold(0.0, f64::max)
        };
        // Where no constant of the pressure moves a solid, the solver of the fluid alone takes the solids along at little cost.
        let weigh = |push: &mut [f64]| self.movable.mobility.apply(push);
        let addition = Addition { rows: self.movable.flux, weigh: &weigh };
        if self.as_alone
            && let Solver::Geometric(solver) = &mut *solver
            && solver.takes(&addition)
        {
            let solve = |x: &mut [f64], goal: f64, most: usize| {
                let options = PoissonOptions { relative_tolerance: goal, max_iterations: most };
                let solved = solver.solve_with(rhs, x, &options, &addition);
                Ok((solved.iterations, solved.relative_residual))
            };
            if reach(rhs, impulse, goals, tolerance, solve, worst, report)? {
                return Ok(true);
            }
        }
        let mut preconditioner =
            MovablePreconditioner { solver, held: &self.held, levels, floating: self.floating.as_ref() };
        let mut workspace = Workspace::default();
        let solve = |x: &mut [f64], goal: f64, most: usize| {
            let stopping = Stopping { max_iterations: most, ..Stopping::relative(goal) };
            let solved =
                pcg(&operator, &mut preconditioner, rhs, x, &mut Iteration::new(stopping), &mut workspace)
                    .map_err(FluidError::solve("pressure"))?;
            Ok((solved.iterations, solved.relative_residual()))
        };
        reach(rhs, impulse, goals, tolerance, solve, worst, report)
    }
}

/// `p -> L p + F M^-1 F^T p`, dense over the grid.
struct MovableOperator<'a, 'm> {
    fluid: &'a (dyn Fn(&[f64], &mut [f64]) + Sync),
    movable: &'a MovableWalls<'m>,
    cells: usize,
    scratch: Mutex<Vec<f64>>,
}

impl LinearOperator for MovableOperator<'_, '_> {
    fn rows(&self) -> usize {
        self.cells
    }
    fn cols(&self) -> usize {
        self.cells
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        (self.fluid)(x, y);
        let mut push = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        self.movable.flux.multiply(x, &mut push);
        self.movable.mobility.apply(&mut push);
        self.movable.flux.add_transpose_multiply(&push, y);
    }
}

/// The multigrid of the fluid alone, with the constants of regions that only solids hold.
struct MovablePreconditioner<'a> {
    solver: &'a mut Solver,
    held: &'a [Vec<u32>],
    /// `1^T A 1` of each held region.
    levels: Vec<f64>,
    floating: Option<&'a Regions>,
}

impl Preconditioner for MovablePreconditioner<'_> {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        match self.solver {
            Solver::Geometric(solver) => solver.multigrid_mut().apply(r, z),
            Solver::Algebraic(solver) => solver.precondition(r, z),
        }
        for (cells, level) in self.held.iter().zip(&self.levels) {
            if *level > 0.0 {
                let sum: f64 = cells.iter().map(|&cell| r[cell as usize]).sum();
                cells.iter().for_each(|&cell| z[cell as usize] += sum / level);
            }
        }
        if let Some(floating) = self.floating {
            floating.remove_floating_means(z);
        }
    }
}
