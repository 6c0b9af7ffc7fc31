//! Pressure: the projection to incompressible velocities, for one fluid or many, with a free surface, solids and outlets (spec/fluid-base.md 3.8).
//!
//! The unknown is the impulse `dt p` of each fluid cell. [`Projection`] solves the fluid alone, by multigrid-preconditioned conjugate gradients
//! (geometric; algebraic on periodic grids, whose seam the geometric one does not know). [`PressureRows`] gives the same problem as a block of rows of the coupled system.

mod algebraic;
mod movable;
mod operator;
mod rows;
#[cfg(test)]
mod tests;

pub use movable::{Mobility, MovableWalls};
pub use operator::{FaceDensity, LEAST_THETA, PressureProblem};
pub(crate) use operator::{dense, fill_dense, sparse};
pub use rows::PressureRows;

use crate::cells::CellKind;
use crate::error::FluidError;
use algebraic::AlgebraicSolver;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Index, Location, box_indices};
use splashdown_math::{Dim, Space};
use splashdown_solve::multigrid::{
    Coupling, MultigridOptions, PoissonOptions, PoissonProblem, PoissonSolver, Regions,
};

/// What preconditions the conjugate gradients of the pressure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PressureSolver {
    /// Geometric multigrid; algebraic with periodic sides, and where the geometric one fails. About ten iterations on any grid.
    #[default]
    Multigrid,
    /// Algebraic multigrid on the assembled matrix.
    Algebraic,
    /// Modified incomplete Cholesky factors without fill, MIC(0): little memory and set-up; iterations grow with the number of cells along an edge.
    IncompleteCholesky,
}

/// When the pressure is good enough, and how it is found: both limits must hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PressureTolerance {
    /// Largest `|div u| dt` left in any cell.
    pub divergence: f64,
    /// Residual relative to the right-hand side (2-norm).
    pub relative: f64,
    /// Largest change (m/s) of the velocity of closed faces that is made where solids and walls that move as told squeeze a closed region: its fluid has nowhere to go. More fails.
    pub squeeze: f64,
    /// Most iterations.
    pub max_iterations: usize,
    /// Preconditioner.
    pub solver: PressureSolver,
}

impl Default for PressureTolerance {
    fn default() -> Self {
        Self {
            divergence: 1e-8,
            relative: 1e-4,
            squeeze: f64::INFINITY,
            max_iterations: 300,
            solver: PressureSolver::default(),
        }
    }
}

impl PressureTolerance {
    /// Refuses a correction (m/s) of walls beyond [`Self::squeeze`].
    pub fn refuse_squeeze(&self, correction: f64) -> Result<(), FluidError> {
        match correction > self.squeeze {
            true => Err(FluidError::Squeezed { correction, limit: self.squeeze }),
            false => Ok(()),
        }
    }
}

/// How a projection went.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PressureReport {
    /// Unknown pressures.
    pub unknowns: usize,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Residual relative to the right-hand side.
    pub relative_residual: f64,
    /// Largest `|div u| dt` left.
    pub divergence: f64,
    /// Largest change (m/s) that had to be made to the velocity of closed faces, because the fluid of a closed region cannot change its volume.
    pub wall_correction: f64,
    /// Regions without a known pressure.
    pub closed_regions: usize,
    /// Largest error of the flux (m^3/s) into a closed region, before the correction.
    pub net_flux: f64,
}

/// Projects velocities; keeps its memory and, while the geometry stays the same, the multigrid hierarchy.
#[derive(Default)]
pub struct Projection<const D: usize> {
    cache: Option<Cached<D>>,
    rhs: Vec<f64>,
    impulse: Vec<f64>,
}

struct Cached<const D: usize> {
    problem: PoissonProblem<D>,
    /// Conductances of the faces between the last and the first cells of periodic axes.
    seams: Vec<Vec<f64>>,
    regions: Option<Regions>,
    kind: PressureSolver,
    solver: Solver,
    /// For what the geometric solver could not do; made when first needed.
    fallback: Option<Solver>,
}

enum Solver {
    Geometric(Box<PoissonSolver>),
    Algebraic(Box<AlgebraicSolver>),
}

/// Solves from `impulse` until `worst(rhs, impulse)`, the largest `|div u| dt`, meets the tolerance: `solve(impulse, goal, most iterations)` is asked for 2-norms of the
/// residual, the first `goal`, until the largest value is small enough too. False if that does not happen; `rounding` is what must be accepted in the end.
fn reach(
    rhs: &[f64],
    impulse: &mut [f64],
    [mut goal, rounding]: [f64; 2],
    tolerance: &PressureTolerance,
    mut solve: impl FnMut(&mut [f64], f64, usize) -> Result<(usize, f64), FluidError>,
    worst: impl Fn(&[f64], &[f64]) -> f64,
    report: &mut PressureReport,
) -> Result<bool, FluidError> {
    let mut spent = 0;
    for attempt in 0.. {
        let left = tolerance.max_iterations.saturating_sub(spent).max(1);
        let (iterations, residual) = solve(impulse, goal, left)?;
        spent += iterations;
        report.iterations += iterations;
        report.relative_residual = residual;
        let largest = worst(rhs, impulse);
        report.divergence = largest;
        if largest <= tolerance.divergence && residual <= tolerance.relative {
            break;
        }
        let stuck = iterations == 0 && residual > goal;
        if attempt == 4 || stuck || spent >= tolerance.max_iterations {
            return Ok(largest <= tolerance.divergence.max(rounding));
        }
        goal = (0.5 * goal * tolerance.divergence / largest).min(0.1 * goal);
    }
    Ok(true)
}

impl Solver {
    /// One solve from `impulse` to the relative residual `goal`: iterations and residual.
    fn solve(
        &mut self,
        rhs: &[f64],
        impulse: &mut [f64],
        goal: f64,
        most: usize,
    ) -> Result<(usize, f64), FluidError> {
        match self {
            Self::Geometric(solver) => {
                let options = PoissonOptions { relative_tolerance: goal, max_iterations: most };
                let solved = solver.solve(rhs, impulse, &options);
                Ok((solved.iterations, solved.relative_residual))
            }
            Self::Algebraic(solver) => solver.solve(rhs, impulse, goal, most),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Geometric(solver) => solver.bytes(),
            Self::Algebraic(solver) => solver.bytes(),
        }
    }
}

impl<const D: usize> Projection<D>
where
    Dim<D>: Space<D>,
{
    /// Makes `velocity` incompressible: closed faces get the velocity of what closes them, the others that of the pressure over `dt` seconds. `pressure` (Pa, cells)
    /// is the first guess and receives the result; it is zero outside the fluid.
    #[inline(never)]
    pub fn project(
        &mut self,
        problem: &PressureProblem<D>,
        velocity: &mut FaceFields<D>,
        pressure: &mut Field<D>,
        dt: f64,
        tolerance: &PressureTolerance,
    ) -> Result<PressureReport, FluidError> {
        problem.walls.impose(velocity);
        problem.apply_known(velocity, dt);
        self.solve(problem, velocity, pressure, dt, tolerance, None)
    }

    /// [`Self::project`], with solids that the pressure moves.
    #[inline(never)]
    pub fn project_with(
        &mut self,
        problem: &PressureProblem<D>,
        velocity: &mut FaceFields<D>,
        pressure: &mut Field<D>,
        dt: f64,
        tolerance: &PressureTolerance,
        movable: &mut MovableWalls,
    ) -> Result<PressureReport, FluidError> {
        problem.walls.impose(velocity);
        problem.apply_known(velocity, dt);
        self.solve(problem, velocity, pressure, dt, tolerance, Some(movable))
    }

    /// The nearest incompressible velocity, without any time passing: known pressures do not act.
    #[inline(never)]
    pub fn clean(
        &mut self,
        problem: &PressureProblem<D>,
        velocity: &mut FaceFields<D>,
        tolerance: &PressureTolerance,
    ) -> Result<PressureReport, FluidError> {
        problem.walls.impose(velocity);
        let mut pressure = Field::new(problem.domain.grid(), Location::Cell, 0.0);
        self.solve(problem, velocity, &mut pressure, 1.0, tolerance, None)
    }

    fn solve(
        &mut self,
        problem: &PressureProblem<D>,
        velocity: &mut FaceFields<D>,
        pressure: &mut Field<D>,
        dt: f64,
        tolerance: &PressureTolerance,
        mut movable: Option<&mut MovableWalls>,
    ) -> Result<PressureReport, FluidError> {
        let grid = *problem.domain.grid();
        let counts = grid.cells();
        self.prepare(problem, tolerance.solver)?;
        let Some(cached) = self.cache.as_mut() else { return Ok(PressureReport::default()) };

        self.rhs.resize(grid.cell_count(), 0.0);
        self.impulse.resize(grid.cell_count(), 0.0);
        let mut report = PressureReport::default();
        // A constant pressure that moves a solid is no null vector.
        let held = movable.as_ref().and_then(|movable| movable.hold(cached.regions.as_ref()?));
        let regions = held.as_ref().or(cached.regions.as_ref()).filter(|regions| regions.any_floating());
        if let Some(regions) = regions {
            report.closed_regions = regions.grounded.iter().filter(|grounded| !**grounded).count();
            (report.net_flux, report.wall_correction) =
                close_regions(problem, regions, movable.is_some(), velocity);
            tolerance.refuse_squeeze(report.wall_correction)?;
        }
        fill_dense(counts, &mut self.rhs, |cell| match problem.cells.at(cell) {
            CellKind::Fluid => -problem.divergence(velocity, cell),
            _ => 0.0,
        });
        if let Some(regions) = regions {
            // Nothing but rounding, or the flux of a region without any closed face.
            regions.remove_floating_means(&mut self.rhs);
        }
        report.unknowns = cached.problem.unknowns();
        let norm = splashdown_solve::vector::norm(&self.rhs);
        if !norm.is_finite() {
            return Err(FluidError::Diverged { what: "the divergence of the fluid".into(), value: norm });
        }
        let fill_guess = |impulse: &mut [f64]| {
            fill_dense(counts, impulse, |cell| match problem.cells.at(cell) {
                CellKind::Fluid => dt * pressure.at(cell),
                _ => 0.0,
            });
        };
        if norm > 0.0 {
            // A residual spread evenly over the unknowns is this large when every cell is at the limit.
            let even = tolerance.divergence * grid.cell_volume() / dt * (report.unknowns as f64).sqrt();
            let goal = (0.25 * even / norm).min(tolerance.relative);
            // What rounding leaves is as good as it gets.
            let goals = [goal, 1e-11 * norm * dt / grid.cell_volume()];
            fill_guess(&mut self.impulse);
            let (rhs, impulse) = (&self.rhs, &mut self.impulse);
            let scale = dt / grid.cell_volume();
            let mut reached = if let Some(movable) = &mut movable {
                let mut solver = movable::MovableSolver::new(problem, cached, &held, movable)?;
                solver.reach(rhs, impulse, goals, tolerance, scale, &mut report)?
            } else {
                let Cached { problem: system, seams, solver, .. } = &mut *cached;
                let worst = |rhs: &[f64], p: &[f64]| worst_residual(system, seams, problem, rhs, p) * scale;
                let solve = |p: &mut [f64], goal, most| solver.solve(rhs, p, goal, most);
                reach(rhs, impulse, goals, tolerance, solve, worst, &mut report)?
            };
            let may_help = matches!(cached.solver, Solver::Geometric(_))
                || cached.kind == PressureSolver::IncompleteCholesky;
            if !reached && movable.is_none() && may_help {
                // Compartments joined by pinholes, mazes of thin plates: the connections alone still tell the coarse problem.
                fill_guess(impulse);
                let Cached { problem: system, seams, fallback, .. } = &mut *cached;
                let algebraic = match fallback {
                    Some(algebraic) => algebraic,
                    empty => {
                        let built = AlgebraicSolver::new(system, seams, PressureSolver::Algebraic)?;
                        empty.insert(Solver::Algebraic(Box::new(built)))
                    }
                };
                let worst = |rhs: &[f64], p: &[f64]| worst_residual(system, seams, problem, rhs, p) * scale;
                let solve = |p: &mut [f64], goal, most| algebraic.solve(rhs, p, goal, most);
                reached = reach(rhs, impulse, goals, tolerance, solve, worst, &mut report)?;
            }
            if !reached {
                return Err(FluidError::NotConverged {
                    what: "pressure",
                    iterations: report.iterations,
                    residual: report.relative_residual,
                });
            }
        } else {
            self.impulse.fill(0.0);
        }
        problem.apply_gradient(&self.impulse, velocity);
        if let Some(movable) = movable {
            movable.apply_pressure(&self.impulse);
        }
        let impulse = &self.impulse;
        pressure.update(|cell, _| impulse[dense(counts, cell)] / dt);
        Ok(report)
    }

    /// Builds the system, or keeps the one that is there if it is the same.
    fn prepare(&mut self, problem: &PressureProblem<D>, kind: PressureSolver) -> Result<(), FluidError> {
        let (system, seams) = assemble(problem)?;
        let same =
            |cached: &Cached<D>| cached.kind == kind && cached.problem == system && cached.seams == seams;
        if self.cache.as_ref().is_some_and(same) {
            return Ok(());
        }
        self.cache = None;
        if system.unknowns() == 0 {
            return Ok(());
        }
        let any_seam = seams.iter().flatten().any(|&weight| weight > 0.0);
        let (solver, regions) = if any_seam || kind != PressureSolver::Multigrid {
            let solver = AlgebraicSolver::new(&system, &seams, kind)?;
            let regions = solver.regions().clone();
            (Solver::Algebraic(Box::new(solver)), regions)
        } else {
            let solver = PoissonSolver::new(&system, &MultigridOptions::default());
            (Solver::Geometric(Box::new(solver)), system.regions())
        };
        let regions = Some(regions).filter(Regions::any_floating);
        self.cache = Some(Cached { problem: system, seams, regions, kind, solver, fallback: None });
        Ok(())
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        let solver = self
            .cache
            .as_ref()
            .map_or(0, |cached| cached.solver.bytes() + cached.fallback.as_ref().map_or(0, Solver::bytes));
        let problem = self.cache.as_ref().map_or(0, |cached| {
            let faces = match cached.problem.coupling() {
                Coupling::Uniform(_) => 0,
                Coupling::Faces(faces) => faces.iter().map(|f| 8 * f.len()).sum(),
            };
            9 * cached.problem.cells() + faces
        });
        solver + problem + 8 * (self.rhs.len() + self.impulse.len())
    }
}

/// Largest residual (m^3/s) of the rows that have a neighbour or a known pressure.
fn worst_residual<const D: usize>(
    system: &PoissonProblem<D>,
    seams: &[Vec<f64>],
    problem: &PressureProblem<D>,
    rhs: &[f64],
    impulse: &[f64],
) -> f64
where
    Dim<D>: Space<D>,
{
    let counts = problem.domain.grid().cells();
    let residual = |cell: Index<D>, _| {
        if !problem.has_pressure(cell) {
            return 0.0;
        }
        let place = dense(counts, cell);
        let own = impulse[place];
        let mut sum = system.dirichlet()[place] * own - rhs[place];
        let mut add = |other: usize, weight: f64| sum += weight * (own - impulse[other]);
        system.for_each_neighbor(place, &mut add);
        for_each_seam(seams, counts, cell, &mut add);
        sum.abs()
    };
    problem.cells.reduce(0.0, residual, f64::max)
}

/// Calls `visit(neighbour, weight)` for the neighbours of `cell` across periodic sides.
#[inline]
fn for_each_seam<const D: usize>(
    seams: &[Vec<f64>],
    counts: [usize; D],
    cell: Index<D>,
    mut visit: impl FnMut(usize, f64),
) {
    for (axis, seam) in seams.iter().enumerate().filter(|(_, seam)| !seam.is_empty()) {
        let last = counts[axis] as isize - 1;
        for (edge, other) in [(0, last), (last, 0)] {
            if cell[axis] == edge {
                let mut neighbour = cell;
                neighbour[axis] = other;
                let weight = seam[seam_place(counts, axis, cell)];
                // A single cell around a periodic axis is its own neighbour: no difference, no flux.
                if weight > 0.0 && other != edge {
                    visit(dense(counts, neighbour), weight);
                }
            }
        }
    }
}

/// Place of a cell in the array of a seam: all axes but `axis`.
fn seam_place<const D: usize>(counts: [usize; D], axis: usize, cell: Index<D>) -> usize {
    let (mut place, mut stride) = (0, 1);
    for a in (0..D).filter(|&a| a != axis) {
        place += cell[a] as usize * stride;
        stride *= counts[a];
    }
    place
}

/// The Poisson problem within the grid, and the conductances across periodic sides (empty for other axes).
fn assemble<const D: usize>(
    problem: &PressureProblem<D>,
) -> Result<(PoissonProblem<D>, Vec<Vec<f64>>), FluidError>
where
    Dim<D>: Space<D>,
{
    let grid = problem.domain.grid();
    let (counts, periodic) = (grid.cells(), problem.domain.periodic());
    let total = grid.cell_count();
    let mut active = vec![false; total];
    fill_dense(counts, &mut active, |cell| problem.cells.at(cell) == CellKind::Fluid);
    let mut dirichlet = vec![0.0; total];
    fill_dense(counts, &mut dirichlet, |cell| {
        if problem.cells.at(cell) != CellKind::Fluid {
            return 0.0;
        }
        let mut sum = 0.0;
        for axis in 0..D {
            for step in [-1, 1] {
                let (mut neighbour, mut face) = (cell, cell);
                neighbour[axis] += step;
                face[axis] += (step + 1) / 2;
                if problem.cells.at(neighbour) == CellKind::Air {
                    sum += problem.conductance(axis, face);
                }
            }
        }
        sum
    });
    // Faces are stored only if something other than whole solid cells shapes the flow.
    let uniform = match problem.density {
        FaceDensity::Uniform(density) if !problem.walls.has_special_faces() => {
            Some(std::array::from_fn(|a| grid.face_area(a) / (density * grid.spacing()[a])))
        }
        _ => None,
    };
    let coupling = match uniform {
        Some(weights) => Coupling::Uniform(weights),
        None => Coupling::Faces(std::array::from_fn(|axis| {
            let mut weights = vec![0.0; total];
            fill_dense(counts, &mut weights, |cell| {
                let mut face = cell;
                face[axis] += 1;
                let inside = (face[axis] as usize) < counts[axis];
                let fluid = |c: Index<D>| problem.cells.at(c) == CellKind::Fluid;
                if inside && fluid(cell) && fluid(face) { problem.conductance(axis, face) } else { 0.0 }
            });
            weights
        })),
    };
    let seams = (0..D)
        .map(|axis| {
            if !periodic[axis] {
                return Vec::new();
            }
            let mut seam = vec![0.0; total / counts[axis]];
            let mut high = counts.map(|n| n as isize);
            high[axis] = 1;
            for cell in box_indices([0; D], high) {
                let mut below = cell;
                below[axis] = -1;
                if problem.cells.at(cell) == CellKind::Fluid && problem.cells.at(below) == CellKind::Fluid {
                    seam[seam_place(counts, axis, cell)] = problem.conductance(axis, cell);
                }
            }
            seam
        })
        .collect();
    let system = PoissonProblem::new(counts, active, coupling, dirichlet)
        .map_err(|error| FluidError::Mismatch(format!("pressure: {error}")))?;
    Ok((system, seams))
}

/// Makes the flux out of every region without known pressure vanish by changing the velocity of its closed faces, evenly as far as neighbouring regions let it
/// (spec/fluid-base.md 3.8). Returns the largest net flux found (m^3/s) and the largest change of a velocity (m/s).
///
/// Each region has one number `c` (m/s): a closed face moves inwards by the `c` of the region below it minus that of the region above (zero for whatever is no such
/// region). Two regions on the two sides of a shell share its faces, so the numbers solve a small Laplace problem on the graph of regions.
///
/// Between `movable` solids a cell shut in by itself keeps the velocities of its faces: it has no pressure that could hold them (spec/fluid-structure.md 3.10), and their fluid is part of the solids.
fn close_regions<const D: usize>(
    problem: &PressureProblem<D>,
    regions: &Regions,
    movable: bool,
    velocity: &mut FaceFields<D>,
) -> (f64, f64)
where
    Dim<D>: Space<D>,
{
    let grid = problem.domain.grid();
    let counts = grid.cells();
    // The floating region that a cell is part of.
    let region_of = |cell: Index<D>| {
        if problem.cells.at(cell) != CellKind::Fluid {
            return None;
        }
        let label = regions.labels[dense(counts, cell)];
        (label != Regions::NONE && !regions.grounded[label as usize]).then_some(label as usize)
    };
    let mut net = vec![0.0; regions.grounded.len()];
    let mut gross = 0.0;
    for place in 0..regions.labels.len() {
        let cell = sparse(counts, place);
        if let Some(region) = region_of(cell).filter(|_| !movable || problem.has_pressure(cell)) {
            let divergence = problem.divergence(velocity, cell);
            net[region] += divergence;
            gross += divergence.abs();
        }
    }
    let found = net.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    // Rounding is no flux.
    if !(found > 1e-14 * gross) {
        return (found, 0.0);
    }
    // Closed faces between different regions, each once; both images of a face on a periodic side are written in the end.
    let periodic = problem.domain.periodic();
    let mut faces: Vec<(usize, Index<D>, [Option<usize>; 2])> = Vec::new();
    for axis in 0..D {
        let last = counts[axis] as isize;
        for face in velocity.component(axis).lattice().indices() {
            if periodic[axis] && face[axis] == last || !problem.walls.is_closed(axis, face) {
                continue;
            }
            let mut below = face;
            below[axis] -= 1;
            let sides = [region_of(below), region_of(face)];
            if sides[0] != sides[1] {
                faces.push((axis, face, sides));
            }
        }
    }
    let numbers = balance(&net, &faces, |axis| grid.face_area(axis));
    let value = |side: Option<usize>| side.map_or(0.0, |region| numbers[region]);
    let mut change: f64 = 0.0;
    for (axis, face, sides) in faces {
        let by = value(sides[0]) - value(sides[1]);
        change = change.max(by.abs());
        let mut targets = vec![face];
        if periodic[axis] && face[axis] == 0 {
            let mut image = face;
            image[axis] = counts[axis] as isize;
            targets.push(image);
        }
        for target in targets {
            let u = velocity.component(axis).at(target);
            velocity.component_mut(axis).set(target, u - by);
        }
    }
    (found, change)
}

/// Solves `sum over faces of A (c_own - c_other) = net` for every region by conjugate gradients; there are as many unknowns as regions. What regions that only
/// share faces with each other have too much together stays.
fn balance<const D: usize>(
    net: &[f64],
    faces: &[(usize, Index<D>, [Option<usize>; 2])],
    area: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let apply = |c: &[f64]| {
        let mut out = vec![0.0; c.len()];
        for (axis, _, sides) in faces {
            let value = |side: Option<usize>| side.map_or(0.0, |region| c[region]);
            let flux = area(*axis) * (value(sides[0]) - value(sides[1]));
            if let Some(region) = sides[0] {
                out[region] += flux;
            }
            if let Some(region) = sides[1] {
                out[region] -= flux;
            }
        }
        out
    };
    let floating = without_outer_faces(net.len(), faces);
    let project = |c: &mut [f64]| {
        for group in &floating {
            let mean = group.iter().map(|&region| c[region]).sum::<f64>() / group.len() as f64;
            group.iter().for_each(|&region| c[region] -= mean);
        }
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut c, mut r) = (vec![0.0; net.len()], net.to_vec());
    project(&mut r);
    let mut p = r.clone();
    let mut square = dot(&r, &r);
    let goal = 1e-30 * square;
    for _ in 0..2 * net.len() + 10 {
        let q = apply(&p);
        let curvature = dot(&p, &q);
        if !(square > goal && curvature > 0.0) {
            break;
        }
        let step = square / curvature;
        for i in 0..c.len() {
            c[i] += step * p[i];
            r[i] -= step * q[i];
        }
        // Rounding leaves a constant that no face can take: followed, it grows without bound.
        project(&mut r);
        let next = dot(&r, &r);
        let beta = next / square;
        for i in 0..p.len() {
            p[i] = r[i] + beta * p[i];
        }
        square = next;
    }
    c
}

/// Groups of regions that share faces with each other only, as those on the two sides of a sheet in a box that wraps around: their numbers are known up to a constant.
fn without_outer_faces<const D: usize>(
    regions: usize,
    faces: &[(usize, Index<D>, [Option<usize>; 2])],
) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..regions).collect();
    for (_, _, sides) in faces {
        if let [Some(a), Some(b)] = sides {
            let (a, b) = (movable::root(&group, *a), movable::root(&group, *b));
            group[a.max(b)] = a.min(b);
        }
    }
    let mut members = vec![Vec::new(); regions];
    (0..regions).for_each(|region| members[movable::root(&group, region)].push(region));
    for (_, _, sides) in faces {
        if let [Some(region), None] | [None, Some(region)] = sides {
            members[movable::root(&group, *region)].clear();
        }
    }
    members.retain(|group| group.len() > 1);
    members
}
