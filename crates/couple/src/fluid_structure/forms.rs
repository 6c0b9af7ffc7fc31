//! The coupled system in the forms of its sources, for comparison and as a way out (spec/fluid-structure.md 3.2, 3.3, 3.6, 3.8).
//!
//! With `u` the velocities of all faces that move (free ones, then coupling faces), `b` their masses, `v` those of the solids and `M` theirs, `D` the outward flux of the cells, `H`
//! the flux that solids make through faces they close in part, `N` the factored viscosity, `C` the factored damping of the solids and `W` the coupling faces:
//!
//! ```text
//! b u = b u* + D^T p - N^T (N u + n) + W^T l        D u + H v = -d
//! M v = M v* + H^T p - C^T C v - J^T l              W u - J v = s
//! ```
//!
//! | [`CouplingForm`] | unknowns | matrix | solved by |
//! |---|---|---|---|
//! | `Pressure` | `p` | positive definite | `driver`, `viscous` |
//! | `Impulses` | `p`, `N u`, `l`, `C v` | positive definite | conjugate gradients |
//! | `Kkt` | the same without `C v`, and `v` | indefinite | MINRES |
//! | `Lumped`, `LumpedDiagonal` | `p`, `v` | indefinite | MINRES |
//!
//! The lumped forms put the mass and momentum of the coupling faces on the solids: `M + J^T b J` is what eliminating `l` gives, the diagonal is what the source of 2008 used. They take
//! any symmetric damping, factored or not; there viscosity acts by itself first, with the solids as walls, as in that source.

use super::driver::SoftSolve;
use super::held::Demands;
use super::interface::row_of;
use super::mass::SolidMass;
use super::operators::{Operators, scatter_impulses};
use super::viscous::{Correction, close_regions};
use super::{CouplingOptions, CouplingReport, Immersed, Viscous, coupling_faces};
use serde::{Deserialize, Serialize};
use splashdown_fluid::{FluidError, FluidModel, FluidState, FluidStepper};
use splashdown_geometry::grid::Index;
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::{
    BlockPreconditioner, Components, CoupledOptions, CoupledSolver, CoupledSystem, CsrMatrix, InverseMass,
    Iteration, NullSpace, Preconditioner, Projected, SolveError, SolverAids, SparseBlock, SparseVector,
    Stopping, VelocityLayout, Workspace, minres, unfelt_pressures,
};

/// Which of the equivalent linear systems a coupled solve is. All but the first are references: slower, and the same to the tolerance, but for the diagonal one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CouplingForm {
    /// Pressures only; everything else is eliminated.
    #[default]
    Pressure,
    /// Pressures, viscous stresses and coupling impulses: symmetric positive definite (2011).
    Impulses,
    /// The same and the velocities of the solids: symmetric indefinite.
    Kkt,
    /// Pressures and velocities of the solids, with the fluid of the coupling faces lumped on them consistently: symmetric indefinite (2008).
    Lumped,
    /// The same with lumped masses that are diagonal, and for rigid bodies of one mass an axis about a common centre: differs by the order of a cell (2008).
    LumpedDiagonal,
}

/// Most iterations of a reference form.
const MAX_ITERATIONS: usize = 20_000;
/// Relative residual of a reference form.
const TOLERANCE: f64 = 1e-12;
/// `|div u| dt` that is as good as these forms are asked for.
const LEAST_DIVERGENCE: f64 = 1e-9;
/// Push of a pressure on the solids, relative to the largest, below which nothing feels it.
const UNFELT: f64 = 1e-7;

/// The matrices of a coupled system; see the head of the module.
#[derive(Debug, Clone)]
pub struct CoupledParts {
    /// `b` (kg) of the free faces, then of the coupling faces.
    pub face_mass: Vec<f64>,
    /// Number of free faces.
    pub free: usize,
    /// `D`: outward flux (m^3/s) of each cell, for the velocities of all faces.
    pub divergence: CsrMatrix,
    /// `d`: flux (m^3/s) out of each cell through faces of given velocity.
    pub known_flux: Vec<f64>,
    /// `N`; no rows without viscosity.
    pub strain: CsrMatrix,
    /// `n`: what is known of the rows of `N`.
    pub known_strain: Vec<f64>,
    /// `J`: velocities of the coupling faces from those of the solids.
    pub sampling: CsrMatrix,
    /// `s` (m/s): how much faster than the solid the fluid goes at each coupling face.
    pub source: Vec<f64>,
    /// `H`: outward flux of each cell for the velocities of the solids, where they close faces in part.
    pub direct: CsrMatrix,
    /// Masses (kg) of the solids' scalars: particles one by one for each axis. Infinite for what moves as told.
    pub scalar_mass: Vec<f64>,
    /// Masses of the rigid bodies, row-major; `None` for those that move as told.
    pub bodies: Vec<Option<Vec<f64>>>,
    /// Rows of a rigid body: 3 in the plane, 6 in space.
    pub twist: usize,
    /// `C`: rows over the velocities of the solids.
    pub damping: CsrMatrix,
    /// `H`: what contact and joints demand of the velocities of the solids.
    pub demands: CsrMatrix,
    /// The values that they keep.
    pub demanded: Vec<f64>,
    /// `-dt D` of forces on the solids that cannot be factored: only the lumped forms take it.
    pub unfactored: Option<CsrMatrix>,
    /// The bodies' lumped masses of the diagonal form, where that is asked for.
    pub centred: Vec<Option<Vec<f64>>>,
}

/// Velocities and pressures of a coupled solve.
#[derive(Debug, Clone, PartialEq)]
pub struct CoupledSolution {
    /// Velocities (m/s) of the free faces, then of the coupling faces.
    pub faces: Vec<f64>,
    /// Velocities of the solids: scalars, then twists.
    pub solids: Vec<f64>,
    /// Impulses `dt p` of the cells (Pa s).
    pub pressure: Vec<f64>,
    /// Iterations.
    pub iterations: usize,
    /// Residual relative to the right-hand side.
    pub relative_residual: f64,
}

impl CoupledParts {
    /// Number of velocities of the solids.
    pub fn solids(&self) -> usize {
        self.scalar_mass.len() + self.twist * self.bodies.len()
    }

    fn is_movable(&self, scalar: usize) -> bool {
        match scalar.checked_sub(self.scalar_mass.len()) {
            None => self.scalar_mass[scalar].is_finite(),
            Some(at) => self.bodies[at / self.twist].is_some(),
        }
    }

    /// The system in which what moves as told, with the velocities of `start`, is known.
    fn with_known_solids(&self, start: &[f64]) -> Result<Self, SolveError> {
        let mut parts = self.clone();
        if (0..self.solids()).all(|scalar| self.is_movable(scalar)) {
            return Ok(parts);
        }
        let split = |matrix: &CsrMatrix, known: &mut [f64]| {
            let rows = (0..matrix.rows()).map(|row| {
                let (columns, values) = matrix.row(row);
                let mut entries = Vec::with_capacity(columns.len());
                for (&column, &value) in columns.iter().zip(values) {
                    if self.is_movable(column as usize) {
                        entries.push((column as usize, value));
                    } else if let Some(known) = known.get_mut(row) {
                        *known += value * start[column as usize];
                    }
                }
                entries
            });
            let rows: Vec<_> = rows.collect();
            CsrMatrix::from_rows(matrix.cols(), rows)
        };
        parts.sampling = split(&self.sampling, &mut parts.source)?;
        parts.direct = split(&self.direct, &mut parts.known_flux)?;
        // What held particles do to the damping of their neighbours would need a target; springs to them damp what moves.
        parts.damping = split(&self.damping, &mut [])?;
        let mut told = vec![0.0; self.demanded.len()];
        parts.demands = split(&self.demands, &mut told)?;
        parts.demanded.iter_mut().zip(&told).for_each(|(value, told)| *value -= told);
        Ok(parts)
    }

    /// `M` of the solids, with the identity for what moves as told, plus `extra` for each body.
    fn solid_mass(&self, bodies: &[Option<Vec<f64>>]) -> Result<CsrMatrix, SolveError> {
        let (scalars, n) = (self.scalar_mass.len(), self.twist);
        let single =
            self.scalar_mass.iter().enumerate().map(|(i, &m)| vec![(i, if m.is_finite() { m } else { 1.0 })]);
        let blocks = bodies.iter().enumerate().flat_map(|(body, block)| {
            (0..n).map(move |i| match block {
                Some(block) => (0..n).map(|j| (scalars + n * body + j, block[n * i + j])).collect::<Vec<_>>(),
                None => vec![(scalars + n * body + i, 1.0)],
            })
        });
        CsrMatrix::from_rows(self.solids(), single.chain(blocks))
    }

    /// Columns `range` of the divergence.
    fn flux(&self, range: std::ops::Range<usize>) -> Result<CsrMatrix, SolveError> {
        CsrMatrix::from_rows(
            range.len(),
            (0..self.divergence.rows()).map(|row| {
                let (columns, values) = self.divergence.row(row);
                let inside = columns.iter().zip(values).filter(|(c, _)| range.contains(&(**c as usize)));
                inside.map(|(&c, &value)| (c as usize - range.start, value)).collect::<Vec<_>>()
            }),
        )
    }

    /// `D_c J + H`: flux out of each cell for the velocities of the solids.
    pub fn solid_flux(&self) -> Result<CsrMatrix, SolveError> {
        self.flux(self.free..self.face_mass.len())?.product(&self.sampling)?.sum(1.0, &self.direct)
    }

    /// Solves from the velocities `faces` and `solids` without the coupling; `null_space` holds the pressures that nothing feels.
    ///
    /// # Errors
    /// Forms that cannot take these parts, sizes that do not fit, masses that are not positive.
    pub fn solve(
        &self,
        form: CouplingForm,
        faces: &[f64],
        solids: &[f64],
        null_space: &NullSpace,
        stopping: Stopping,
    ) -> Result<CoupledSolution, FluidError> {
        let lumped = matches!(form, CouplingForm::Lumped | CouplingForm::LumpedDiagonal);
        if !lumped && self.unfactored.is_some() {
            let what = "only the lumped forms take damping that cannot be factored";
            return Err(FluidError::Mismatch(what.into()));
        }
        if lumped && self.strain.rows() > 0 {
            let what = "the lumped forms have no viscosity in the solve: it acts by itself before";
            return Err(FluidError::Mismatch(what.into()));
        }
        let solved = self.with_known_solids(solids).and_then(|parts| match form {
            CouplingForm::Lumped | CouplingForm::LumpedDiagonal => {
                parts.solve_lumped(form == CouplingForm::LumpedDiagonal, faces, solids, null_space, stopping)
            }
            CouplingForm::Kkt => parts.solve_kkt(faces, solids, null_space, stopping),
            CouplingForm::Pressure | CouplingForm::Impulses => parts.solve_impulses(faces, solids, stopping),
        });
        solved.map_err(FluidError::solve("coupled flow"))
    }

    /// Inverse masses of `faces` scalars, the solids' scalars and the bodies.
    fn inverse_mass(&self, faces: &[f64]) -> Result<InverseMass, SolveError> {
        let single: Vec<f64> = faces.iter().chain(&self.scalar_mass).map(|mass| 1.0 / mass).collect();
        let mut inverses = Vec::with_capacity(self.bodies.len() * self.twist * self.twist);
        for (body, block) in self.bodies.iter().enumerate() {
            match block {
                Some(block) => inverses.extend(inverse_of(block, self.twist, body)?),
                None => inverses.extend(vec![0.0; self.twist * self.twist]),
            }
        }
        let layout = match self.twist {
            3 => VelocityLayout::new::<2>(single.len(), 0, self.bodies.len()),
            _ => VelocityLayout::new::<3>(single.len(), 0, self.bodies.len()),
        };
        InverseMass::new(layout, single, vec![], inverses)
    }

    /// Pressures that nothing feels (spec/fluid-structure.md 3.10): constants of regions in which no cell is `grounded`, as far as they push on no solid together.
    ///
    /// # Errors
    /// Sizes that do not fit, masses that are not positive.
    pub fn null_space(&self, grounded: &[bool]) -> Result<NullSpace, SolveError> {
        let cells = self.divergence.rows();
        let open = self.flux(0..self.free)?;
        let components = Components::from_matrix(&weighted_square(&open, &self.face_mass[..self.free])?)?;
        let mut held = vec![false; components.count()];
        for (&label, &grounded) in components.labels().iter().zip(grounded) {
            held[label as usize] |= grounded;
        }
        let candidates = components.indicators(|region| !held[region]);
        let (flux, inverse_mass) = (self.solid_flux()?, self.inverse_mass(&[])?);
        let mut impulses = Vec::with_capacity(candidates.len());
        for vector in &candidates {
            let mut one = vec![0.0; cells];
            vector.indices.iter().for_each(|&cell| one[cell as usize] = 1.0);
            let mut push = vec![0.0; self.solids()];
            flux.add_transpose_multiply(&one, &mut push);
            impulses.push(push);
        }
        let of_cell = |row: usize| inverse_mass.row_diagonal(flux.row(row).0, flux.row(row).1);
        let unit = (0..cells).map(of_cell).fold(0.0, f64::max).sqrt();
        let unfelt = unfelt_pressures(&inverse_mass, &impulses, unit, UNFELT)?;
        let vectors: Vec<SparseVector> = unfelt
            .iter()
            .map(|weights| {
                let mut dense = vec![0.0; cells];
                for (weight, vector) in weights.iter().zip(&candidates) {
                    vector.indices.iter().for_each(|&cell| dense[cell as usize] += weight);
                }
                SparseVector::from_dense(&dense)
            })
            .collect();
        NullSpace::new(cells, &vectors)
    }

    /// Hands the positive definite system, all velocities eliminated (eq. 29 of the source of 2011), to `with`; velocities are faces, then solids. Blocks: `pressure`, `viscosity`,
    /// `coupling`, `damping`, `demands`, those that have rows.
    ///
    /// # Errors
    /// Sizes that do not fit, masses that are not positive.
    pub fn with_definite<R>(
        &self,
        with: impl FnOnce(&CoupledSystem) -> Result<R, SolveError>,
    ) -> Result<R, SolveError> {
        let count = self.face_mass.len();
        let inverse_mass = self.inverse_mass(&self.face_mass)?;
        let width = inverse_mass.layout().len();
        // Rows over the faces and over the solids, side by side.
        let beside = |left: &CsrMatrix, right: &CsrMatrix| {
            let rows = (0..left.rows().max(right.rows())).map(|row| {
                let mut entries = entries_of(left, row);
                entries.extend(entries_of(right, row).into_iter().map(|(c, v)| (count + c, v)));
                entries
            });
            CsrMatrix::from_rows(width, rows)
        };
        let negative = |values: &[f64]| values.iter().map(|value| -value).collect::<Vec<_>>();
        let mut system = CoupledSystem::new(&inverse_mass);
        // `-D`, so that the impulse is the pressure.
        let flux = beside(&scaled(&self.divergence, -1.0), &scaled(&self.direct, -1.0))?;
        system.push(SparseBlock::new("pressure", flux).with_target(self.known_flux.clone())?)?;
        if self.strain.rows() > 0 {
            let rows = beside(&self.strain, &CsrMatrix::zeros(0, self.solids()))?;
            let rows = SparseBlock::factored_force("viscosity", rows);
            system.push(rows.with_target(negative(&self.known_strain))?)?;
        }
        if self.sampling.rows() > 0 {
            let rows = beside(&scaled(&self.restriction()?, -1.0), &self.sampling)?;
            system.push(SparseBlock::new("coupling", rows).with_target(negative(&self.source))?)?;
        }
        if self.damping.rows() > 0 {
            let rows = beside(&CsrMatrix::zeros(0, count), &self.damping)?;
            system.push(SparseBlock::factored_force("damping", rows))?;
        }
        if self.demands.rows() > 0 {
            let rows = beside(&CsrMatrix::zeros(0, count), &self.demands)?;
            system.push(SparseBlock::new("demands", rows).with_target(self.demanded.clone())?)?;
        }
        with(&system)
    }

    fn solve_impulses(
        &self,
        faces: &[f64],
        solids: &[f64],
        stopping: Stopping,
    ) -> Result<CoupledSolution, SolveError> {
        self.with_definite(|system| {
            let mut multigrid = Amg::new(&system.assemble_block(0)?, &AmgOptions::default())?;
            let aids = SolverAids {
                preconditioners: vec![("pressure", BlockPreconditioner::Supplied(&mut multigrid))],
                ..SolverAids::default()
            };
            let options = CoupledOptions { stopping, max_removed: 1.0, ..CoupledOptions::default() };
            let mut solver = CoupledSolver::new(options);
            let mut velocity = [faces, solids].concat();
            let report = solver.solve(system, &mut velocity, aids)?;
            let pressure = solver.block_impulses("pressure").unwrap_or_default().to_vec();
            Ok(CoupledSolution {
                solids: velocity.split_off(faces.len()),
                faces: velocity,
                pressure,
                iterations: report.iterations,
                relative_residual: if report.rhs_norm > 0.0 {
                    report.residual / report.rhs_norm
                } else {
                    0.0
                },
            })
        })
    }

    /// `W`.
    fn restriction(&self) -> Result<CsrMatrix, SolveError> {
        let count = self.face_mass.len();
        CsrMatrix::from_rows(count, (self.free..count).map(|face| vec![(face, 1.0)]))
    }

    /// Impulses and velocities of the solids (eq. 3.6 of the specification): `[R b^-1 R^T + E, S; S^T, -M - C^T C]` with `R = (D, N, W)`, `S = (H, 0, -J)`.
    fn solve_kkt(
        &self,
        faces: &[f64],
        solids: &[f64],
        null_space: &NullSpace,
        stopping: Stopping,
    ) -> Result<CoupledSolution, SolveError> {
        let restriction = self.restriction()?;
        let demands = CsrMatrix::zeros(self.demands.rows(), self.face_mass.len());
        let rows = CsrMatrix::stack(&[&self.divergence, &self.strain, &restriction, &demands])?;
        let (cells, viscous) = (self.divergence.rows(), self.strain.rows());
        let of_solids = CsrMatrix::stack(&[
            &self.direct,
            &CsrMatrix::zeros(viscous, self.solids()),
            &scaled(&self.sampling, -1.0),
            &self.demands,
        ])?;
        let compliance: Vec<f64> = (0..rows.rows())
            .map(|row| f64::from(u8::from((cells..cells + viscous).contains(&row))))
            .collect();
        let square = weighted_square(&rows, &self.face_mass)?;
        let top = square.sum(1.0, &CsrMatrix::from_diagonal(&compliance))?;
        let mass = self.solid_mass(&self.bodies)?;
        let bottom = mass.sum(1.0, &self.damping.transpose().product(&self.damping)?)?;
        // R u - E z + S v = t, with u = u* + b^-1 R^T z for the impulses z that act on the fluid.
        let mut rhs = vec![0.0; rows.rows()];
        rows.multiply(faces, &mut rhs);
        let target = self
            .known_flux
            .iter()
            .chain(&self.known_strain)
            .map(|v| -v)
            .chain(self.source.iter().chain(&self.demanded).copied());
        for (value, target) in rhs.iter_mut().zip(target) {
            *value = target - *value;
        }
        let mut momentum = vec![0.0; self.solids()];
        mass.multiply(solids, &mut momentum);
        rhs.extend(momentum.iter().map(|value| -value));
        let matrix = saddle(&top, &of_solids, &bottom)?;
        let solids_inverse = BlockInverse::new(&bottom, self.scalar_mass.len(), self.twist)?;
        let mut diagonal = top.diagonal();
        let first = diagonal.len() - self.demands.rows();
        diagonal[first..].copy_from_slice(&response(&self.demands, &solids_inverse));
        let inverse = |value: &f64| if *value > 0.0 { 1.0 / value } else { 1.0 };
        let preconditioner = FormPreconditioner {
            pressure: Amg::new(&weighted_square(&self.divergence, &self.face_mass)?, &AmgOptions::default())?,
            held: vec![],
            cells,
            diagonal: diagonal[cells..].iter().map(inverse).collect(),
            solids: solids_inverse,
        };
        // A pressure that nothing feels is held by the coupling impulses that balance it.
        let mut extended = Vec::new();
        let mut push = vec![0.0; self.face_mass.len()];
        for vector in null_space.basis() {
            let mut dense = vec![0.0; matrix.rows()];
            push.fill(0.0);
            for (&cell, &value) in vector.indices.iter().zip(&vector.values) {
                dense[cell as usize] = value;
            }
            self.divergence.add_transpose_multiply(&dense[..cells], &mut push);
            let coupling = cells + viscous..first;
            for (slot, push) in dense[coupling].iter_mut().zip(&push[self.free..]) {
                *slot = -push;
            }
            extended.push(SparseVector::from_dense(&dense));
        }
        let null_space = NullSpace::new(matrix.rows(), &extended)?;
        let (z, iterations, relative_residual) =
            solve_indefinite(&matrix, preconditioner, &null_space, rhs, stopping)?;
        let count = rows.rows();
        let mut impulse = vec![0.0; self.face_mass.len()];
        rows.add_transpose_multiply(&z[..count], &mut impulse);
        let faces = faces.iter().zip(&impulse).zip(&self.face_mass).map(|((u, i), m)| u + i / m).collect();
        let solids = z[count..].to_vec();
        Ok(CoupledSolution { faces, solids, pressure: z[..cells].to_vec(), iterations, relative_residual })
    }

    /// Pressures and velocities of solids with the coupling faces' fluid lumped on them (eq. 16 of the source of 2008): `[D_f b^-1 D_f^T, F; F^T, -M']`.
    fn solve_lumped(
        &self,
        diagonal: bool,
        faces: &[f64],
        solids: &[f64],
        null_space: &NullSpace,
        stopping: Stopping,
    ) -> Result<CoupledSolution, SolveError> {
        let (free, coupling) = self.face_mass.split_at(self.free);
        let open = self.flux(0..self.free)?;
        let of_solids = self.solid_flux()?;
        let poisson = weighted_square(&open, free)?;
        let bare = self.solid_mass(&self.bodies)?;
        let lumped = weighted_square(
            &self.sampling.transpose(),
            &coupling.iter().map(|m| 1.0 / m).collect::<Vec<_>>(),
        )?;
        // Momentum: M v* + J^T b (u* - s).
        let mut momentum = vec![0.0; self.solids()];
        bare.multiply(solids, &mut momentum);
        let lost: Vec<f64> = faces[self.free..]
            .iter()
            .zip(coupling)
            .zip(&self.source)
            .map(|((u, mass), source)| mass * (u - source))
            .collect();
        self.sampling.add_transpose_multiply(&lost, &mut momentum);
        let mass = if diagonal { self.diagonal_mass(coupling)? } else { bare.sum(1.0, &lumped)? };
        let mut bottom = mass.sum(1.0, &self.damping.transpose().product(&self.damping)?)?;
        if let Some(unfactored) = &self.unfactored {
            bottom = bottom.sum(1.0, unfactored)?;
        }
        // D_f u + F v + D_c s = -d.
        let cells = self.divergence.rows();
        let mut known = faces[..self.free].to_vec();
        known.extend(&self.source);
        let mut rhs = vec![0.0; cells];
        self.divergence.multiply(&known, &mut rhs);
        for (value, flux) in rhs.iter_mut().zip(&self.known_flux) {
            *value = -*value - flux;
        }
        rhs.extend(&self.demanded);
        rhs.extend(momentum.iter().map(|value| -value));
        let solids = BlockInverse::new(&bottom, self.scalar_mass.len(), self.twist)?;
        let matrix = {
            let rows = cells + self.demands.rows();
            let top = CsrMatrix::from_rows(rows, (0..rows).map(|row| entries_of(&poisson, row)))?;
            saddle(&top, &CsrMatrix::stack(&[&of_solids, &self.demands])?, &bottom)?
        };
        let preconditioner = FormPreconditioner {
            pressure: Amg::new(&poisson, &AmgOptions::default())?,
            held: held_regions(&poisson, &of_solids, &solids)?,
            cells,
            diagonal: response(&self.demands, &solids)
                .iter()
                .map(|value| if *value > 0.0 { 1.0 / value } else { 1.0 })
                .collect(),
            solids,
        };
        let wide: Vec<SparseVector> = null_space.basis().to_vec();
        let null_space = NullSpace::new(matrix.rows(), &wide)?;
        let (z, iterations, relative_residual) =
            solve_indefinite(&matrix, preconditioner, &null_space, rhs, stopping)?;
        let (pressure, solids) = (z[..cells].to_vec(), z[cells + self.demands.rows()..].to_vec());
        let mut impulse = vec![0.0; self.free];
        open.add_transpose_multiply(&pressure, &mut impulse);
        let mut all: Vec<f64> = faces.iter().zip(&impulse).zip(free).map(|((u, i), m)| u + i / m).collect();
        let mut bound = vec![0.0; coupling.len()];
        self.sampling.multiply(&solids, &mut bound);
        all.extend(bound.iter().zip(&self.source).map(|(u, source)| u + source));
        Ok(CoupledSolution { faces: all, solids, pressure, iterations, relative_residual })
    }

    /// `M + diag(J^T b)` for particles (each row of `J` sums to one), and for bodies what [`Self::centred`] has.
    fn diagonal_mass(&self, coupling: &[f64]) -> Result<CsrMatrix, SolveError> {
        let mut parts = self.clone();
        let mut lumped = vec![0.0; self.solids()];
        self.sampling.add_transpose_multiply(coupling, &mut lumped);
        for (mass, lumped) in parts.scalar_mass.iter_mut().zip(&lumped) {
            // Weights may be negative by rounding.
            *mass += lumped.max(0.0);
        }
        parts.solid_mass(if self.centred.is_empty() { &self.bodies } else { &self.centred })
    }
}

/// `A W^-1 A^T` with the diagonal `weights` W.
fn weighted_square(matrix: &CsrMatrix, weights: &[f64]) -> Result<CsrMatrix, SolveError> {
    let mut left = matrix.clone();
    let columns = left.columns().to_vec();
    for (value, column) in left.values_mut().iter_mut().zip(columns) {
        *value /= weights[column as usize];
    }
    left.product(&matrix.transpose())
}

fn scaled(matrix: &CsrMatrix, by: f64) -> CsrMatrix {
    let mut matrix = matrix.clone();
    matrix.values_mut().iter_mut().for_each(|value| *value *= by);
    matrix
}

/// Entries of a row; none after the last.
fn entries_of(matrix: &CsrMatrix, row: usize) -> Vec<(usize, f64)> {
    if row >= matrix.rows() {
        return Vec::new();
    }
    let (columns, values) = matrix.row(row);
    columns.iter().zip(values).map(|(&column, &value)| (column as usize, value)).collect()
}

/// Diagonal of `H M^-1 H^T`.
fn response(demands: &CsrMatrix, inverse: &BlockInverse) -> Vec<f64> {
    let (mut row, mut moved) = (vec![0.0; demands.cols()], vec![0.0; demands.cols()]);
    let of_row = |index: usize| {
        row.fill(0.0);
        for (column, value) in entries_of(demands, index) {
            row[column] += value;
        }
        inverse.apply(&row, &mut moved);
        row.iter().zip(&moved).map(|(a, b)| a * b).sum::<f64>()
    };
    (0..demands.rows()).map(of_row).collect()
}

/// `[A, S; S^T, -M]`.
fn saddle(top: &CsrMatrix, side: &CsrMatrix, bottom: &CsrMatrix) -> Result<CsrMatrix, SolveError> {
    let (first, size) = (top.rows(), top.rows() + bottom.rows());
    let transpose = side.transpose();
    let joined = |left: &CsrMatrix, right: &CsrMatrix, row: usize, sign: f64| {
        let (a, b) = (left.row(row), right.row(row));
        let left = a.0.iter().zip(a.1).map(|(&c, &v)| (c as usize, v));
        let right = b.0.iter().zip(b.1).map(|(&c, &v)| (first + c as usize, sign * v));
        left.chain(right).collect::<Vec<_>>()
    };
    let upper = (0..first).map(|row| joined(top, side, row, 1.0));
    let lower = (0..bottom.rows()).map(|row| joined(&transpose, bottom, row, -1.0));
    CsrMatrix::from_rows(size, upper.chain(lower))
}

/// MINRES on the part of the space that the null vectors leave; the solution, iterations and relative residual.
fn solve_indefinite(
    matrix: &CsrMatrix,
    preconditioner: FormPreconditioner,
    null_space: &NullSpace,
    mut rhs: Vec<f64>,
    stopping: Stopping,
) -> Result<(Vec<f64>, usize, f64), SolveError> {
    null_space.project(&mut rhs);
    let mut preconditioner = Projected::new(preconditioner, null_space);
    let mut z = vec![0.0; rhs.len()];
    // Rows of different units: the norm of the preconditioner's diagonal.
    let weights: Vec<f64> =
        matrix.diagonal().iter().map(|d| if *d == 0.0 { 1.0 } else { 1.0 / d.abs() }).collect();
    let mut iteration = Iteration { stopping, weights: Some(&weights), monitor: None };
    let report =
        minres(matrix, &mut preconditioner, &rhs, &mut z, &mut iteration, &mut Workspace::default())?;
    null_space.project(&mut z);
    Ok((z, report.iterations, report.relative_residual()))
}

fn inverse_of(block: &[f64], n: usize, body: usize) -> Result<Vec<f64>, SolveError> {
    let inverse = match n {
        3 => SolidMass::<2>::from_entries(block.to_vec()).inverse(),
        _ => SolidMass::<3>::from_entries(block.to_vec()).inverse(),
    };
    inverse
        .ok_or_else(|| SolveError::NotPositiveDefinite { what: format!("mass of rigid body {body}"), row: 0 })
}

/// Inverses of the diagonal blocks of the solids.
struct BlockInverse {
    scalars: Vec<f64>,
    bodies: Vec<Vec<f64>>,
    n: usize,
}

impl BlockInverse {
    fn new(matrix: &CsrMatrix, scalars: usize, n: usize) -> Result<Self, SolveError> {
        let diagonal = matrix.diagonal();
        let bodies = (matrix.rows() - scalars) / n;
        let block = |body: usize| {
            let first = scalars + n * body;
            inverse_of(&matrix.diagonal_block(first..first + n).to_dense(), n, body)
        };
        Ok(Self {
            scalars: diagonal[..scalars].iter().map(|value| 1.0 / value).collect(),
            bodies: (0..bodies).map(block).collect::<Result<_, _>>()?,
            n,
        })
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let first = self.scalars.len();
        for ((z, r), inverse) in z.iter_mut().zip(r).zip(&self.scalars) {
            *z = r * inverse;
        }
        for (body, inverse) in self.bodies.iter().enumerate() {
            let at = first + self.n * body;
            for i in 0..self.n {
                let row = &inverse[self.n * i..self.n * (i + 1)];
                z[at + i] = row.iter().zip(&r[at..at + self.n]).map(|(a, b)| a * b).sum();
            }
        }
    }
}

/// Multigrid on the pressures, a diagonal on other impulses, the (lumped) mass on the solids (spec/fluid-structure.md 3.2, step 6).
struct FormPreconditioner {
    pressure: Amg,
    /// Regions whose constant only solids hold, and how strongly.
    held: Vec<(SparseVector, f64)>,
    cells: usize,
    diagonal: Vec<f64>,
    solids: BlockInverse,
}

impl Preconditioner for FormPreconditioner {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let middle = self.cells + self.diagonal.len();
        self.pressure.apply(&r[..self.cells], &mut z[..self.cells]);
        for (region, level) in &self.held {
            let sum: f64 = region.indices.iter().map(|&cell| r[cell as usize]).sum();
            region.indices.iter().for_each(|&cell| z[cell as usize] += sum / level);
        }
        let others = z[self.cells..middle].iter_mut().zip(&r[self.cells..middle]);
        for ((z, r), inverse) in others.zip(&self.diagonal) {
            *z = r * inverse;
        }
        self.solids.apply(&r[middle..], &mut z[middle..]);
    }
}

/// Regions of cells that touch no known pressure, each with `1^T F M^-1 F^T 1`: multigrid knows nothing of their constants. Those that nothing holds are left out.
fn held_regions(
    poisson: &CsrMatrix,
    of_solids: &CsrMatrix,
    inverse: &BlockInverse,
) -> Result<Vec<(SparseVector, f64)>, SolveError> {
    let components = Components::from_matrix(poisson)?;
    let (mut sums, mut sizes) = (vec![0.0; components.count()], vec![0.0; components.count()]);
    let diagonal = poisson.diagonal();
    for (row, &label) in components.labels().iter().enumerate() {
        sums[label as usize] += poisson.row(row).1.iter().sum::<f64>();
        sizes[label as usize] += diagonal[row];
    }
    let squares = response(of_solids, inverse);
    let mut held = Vec::new();
    for region in components.indicators(|region| !(sums[region] > 1e-10 * sizes[region])) {
        let mut one = vec![0.0; poisson.rows()];
        region.indices.iter().for_each(|&cell| one[cell as usize] = 1.0);
        let (mut push, mut moved) = (vec![0.0; of_solids.cols()], vec![0.0; of_solids.cols()]);
        of_solids.add_transpose_multiply(&one, &mut push);
        inverse.apply(&push, &mut moved);
        let level: f64 = push.iter().zip(&moved).map(|(a, b)| a * b).sum();
        // Rounding of zero holds nothing.
        let gross: f64 = region.indices.iter().map(|&cell| squares[cell as usize]).sum();
        if level > UNFELT * UNFELT * gross {
            held.push((region, level));
        }
    }
    Ok(held)
}

/// A face that a solid closes in part: axis, face, part that is closed, and its velocity for the solids' scalars.
struct Partial<const D: usize> {
    axis: usize,
    face: Index<D>,
    closed: f64,
    row: Vec<(usize, f64)>,
}

/// The parts of the system of `solids` in the stepper's fluid, with the grid's numbering.
pub struct Formed<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The matrices.
    pub parts: CoupledParts,
    /// Velocities of free and coupling faces before the solve.
    pub faces: Vec<f64>,
    /// Velocities of the solids before the solve.
    pub solids: Vec<f64>,
    /// Pressures that nothing feels.
    pub null_space: NullSpace,
    operators: Operators<D>,
    partial: Vec<Partial<D>>,
    corrections: Vec<Correction<D>>,
}

/// Assembles the system of rigid solids; `viscous` is the viscosity that takes part in it.
///
/// # Errors
/// As [`super::solve_coupled`].
pub fn form_system<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &[Immersed<D>],
    options: &CouplingOptions,
    viscous: Option<Viscous>,
) -> Result<Formed<D>, FluidError>
where
    Dim<D>: Space<D>,
{
    let none = SoftSolve { guests: &[], sheet_particles: &[], inverse_mass: &[], velocity: &mut [] };
    assemble(stepper, model, state, dt, solids, &none, &Demands::default(), options, viscous)
}

/// Part of a whole cell's mass that faces inside a solid get, which have no fluid and are there for their velocity only.
const TRACE: f64 = 1e-9;

#[expect(clippy::too_many_arguments, reason = "the parts of one linear system")]
#[inline(never)]
fn assemble<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &[Immersed<D>],
    soft: &SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
    viscous: Option<Viscous>,
) -> Result<Formed<D>, FluidError>
where
    Dim<D>: Space<D>,
{
    let failed = FluidError::solve("coupled flow");
    let (n, scalars) = (Twist::<D>::LEN, soft.velocity.len());
    let width = scalars + n * solids.len();
    let rigid = stepper.guests().len() - soft.guests.len();
    // Faces of solids that can move contribute through their unknowns, not through the walls' velocities.
    let movable = |guest: usize| guest >= rigid || solids[guest].mass.is_some();
    let told: Vec<Twist<D>> =
        (0..rigid).map(|guest| if movable(guest) { Twist::zero() } else { solids[guest].twist }).collect();
    stepper.set_guest_twists(model, &told, None);
    let problem = stepper.problem(model);
    let (first, guests) = (model.obstacles.len(), stepper.guests());
    let can_move: Vec<bool> = (0..guests.len()).map(movable).collect();
    let operators = Operators::with_soft(&problem, guests, first, &can_move, Some(soft), viscous, options)
        .map_err(&failed)?;
    let grid = problem.domain.grid();

    // Faces that solids close in part: the flux of these is theirs too.
    let mut partial = Vec::new();
    for face in coupling_faces(&problem, guests, first, options.mass) {
        if face.closed >= 1.0 || !movable(face.guest) {
            continue;
        }
        let row = match face.guest.checked_sub(rigid) {
            Some(number) => soft.guests[number].row(&problem, face.axis, face.face).to_vec(),
            None => {
                let mut flat = [0.0; 6];
                face.row.write(&mut flat);
                (0..n).map(|k| (scalars + n * face.guest + k, flat[k])).collect()
            }
        };
        partial.push(Partial { axis: face.axis, face: face.face, closed: face.closed, row });
    }
    let mut direct = Vec::new();
    for face in &partial {
        let mut below = face.face;
        below[face.axis] -= 1;
        for (mut cell, sign) in [(below, 1.0), (face.face, -1.0)] {
            if problem.domain.periodic()[face.axis] {
                cell[face.axis] = cell[face.axis].rem_euclid(grid.cells()[face.axis] as isize);
            }
            if let Some(row) = operators.cells.unknown(cell) {
                let area = sign * face.closed * grid.face_area(face.axis);
                direct.extend(face.row.iter().map(|&(scalar, weight)| (row, scalar, area * weight)));
            }
        }
    }
    let direct = CsrMatrix::from_triplets(operators.cells.len(), width, &direct).map_err(&failed)?;
    let sampling = CsrMatrix::from_rows(width, operators.bound.iter().map(|face| face.columns.clone()))
        .map_err(&failed)?;
    let scalar_mass = (0..scalars)
        .map(|scalar| match soft.inverse_mass.get(scalar / D) {
            Some(&inverse) if inverse > 0.0 => 1.0 / inverse,
            _ => f64::INFINITY,
        })
        .collect();
    let bodies = solids.iter().map(|solid| solid.mass.as_ref().map(|mass| mass.entries().to_vec())).collect();
    // Positions of the bound faces along their own axes, for the common centre.
    let mut arms: Vec<Vec<(f64, usize, Vector<D>)>> = vec![Vec::new(); solids.len()];
    for axis in 0..D {
        let lattice = *problem.walls.velocity().component(axis).lattice();
        let numbers = operators.bound_numbers.first(axis)..;
        for (number, face) in numbers.zip(operators.bound_numbers.axis(axis).indices()) {
            let bound = &operators.bound[number];
            if bound.guest < rigid {
                let centre = &guests[bound.guest].placement.frame.position;
                let arm = problem.domain.arm(centre, &lattice.position(face));
                arms[bound.guest].push((bound.mass, axis, arm));
            }
        }
    }
    let of_body =
        |(solid, arms): (&Immersed<D>, &Vec<_>)| solid.mass.as_ref().map(|mass| centred_mass(mass, arms));
    let centred = solids.iter().zip(&arms).map(of_body).collect();
    let trace = TRACE * model.liquids[0].density * grid.cell_volume();
    let mut face_mass = operators.masses.clone();
    face_mass.extend(operators.bound.iter().map(|face| if face.mass > 0.0 { face.mass } else { trace }));

    // What acts on the velocities before the solve, and these.
    problem.apply_known(&mut state.velocity, dt);
    let faces = operators.gather(&state.velocity);
    let mut velocities = soft.velocity.to_vec();
    velocities.resize(width, 0.0);
    for (solid, slot) in solids.iter().zip(velocities[scalars..].chunks_exact_mut(n)) {
        solid.twist.write(slot);
    }
    let mut parts = CoupledParts {
        face_mass,
        free: operators.free.len(),
        divergence: operators.divergence.clone(),
        known_flux: operators.known_flux.clone(),
        strain: operators.strain.clone(),
        known_strain: operators.known_strain.clone(),
        source: vec![0.0; operators.bound.len()],
        sampling,
        direct,
        scalar_mass,
        bodies,
        twist: n,
        damping: CsrMatrix::zeros(0, width),
        demands: CsrMatrix::from_rows(width, demands.rows.iter().cloned()).map_err(&failed)?,
        demanded: demands.values.clone(),
        unfactored: None,
        centred,
    };
    // Pressures that nothing feels, and the flux that they forbid.
    let moving = parts.with_known_solids(&velocities).map_err(&failed)?;
    let null_space = moving.null_space(&operators.grounded).map_err(&failed)?;
    let mut flux = vec![0.0; operators.cells.len()];
    parts.flux(0..parts.free).map_err(&failed)?.multiply(&faces[..parts.free], &mut flux);
    for (value, known) in flux.iter_mut().zip(&moving.known_flux) {
        *value = -*value - known;
    }
    let before = flux.clone();
    let corrections = close_regions(&operators, &null_space, &mut flux);
    for ((known, before), after) in parts.known_flux.iter_mut().zip(&before).zip(&flux) {
        *known += before - after;
    }
    Ok(Formed { parts, faces, solids: velocities, null_space, operators, partial, corrections })
}

/// The source's lumped mass of a rigid body (eq. 22 to 24 of 2008): a mass for each axis, all at a common centre, and the inertia about it; as one block about the body's own
/// centre of mass. That centre parts linear from angular momentum only where the lumped mass is the same along all axes (spec/fluid-structure.md 3.3), so this is an approximation.
fn centred_mass<const D: usize>(mass: &SolidMass<D>, faces: &[(f64, usize, Vector<D>)]) -> Vec<f64>
where
    Dim<D>: Space<D>,
{
    let n = Twist::<D>::LEN;
    let entries = mass.entries();
    let body = entries[0];
    let (mut masses, mut centre) = ([body; D], Vector::<D>::zeros());
    for (mass, axis, arm) in faces {
        masses[*axis] += mass;
        centre[*axis] += mass * arm[*axis];
    }
    (0..D).for_each(|axis| centre[axis] /= masses[axis]);
    // What moves along `axis` only, at `arm` from the common centre, turns with the body.
    let mut block = SolidMass::<D>::from_entries(vec![0.0; n * n]);
    let mut turn = |mass: f64, axis: usize, arm: &Vector<D>| {
        let row = row_of(axis, arm);
        block.add(mass, &Twist { linear: Vector::zeros(), ..row });
    };
    (0..D).for_each(|axis| turn(body, axis, &-centre));
    faces.iter().for_each(|(mass, axis, arm)| turn(*mass, *axis, &(arm - centre)));
    (0..D).for_each(|axis| block.add(masses[axis], &row_of(axis, &centre)));
    let mut block = block.entries().to_vec();
    for i in D..n {
        for j in D..n {
            block[i * n + j] += entries[i * n + j];
        }
    }
    block
}

/// [`super::solve_coupled`] in one of the reference forms.
#[expect(clippy::too_many_arguments, reason = "what the driver knows")]
#[inline(never)]
pub(super) fn solve_form<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    soft: &mut SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
    viscous: Option<Viscous>,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let lumped = matches!(options.form, CouplingForm::Lumped | CouplingForm::LumpedDiagonal);
    let viscous = viscous.filter(|_| !lumped);
    if viscous.is_none() {
        stepper.apply_viscosity(model, state, dt)?;
    }
    let formed = assemble(stepper, model, state, dt, solids, soft, demands, options, viscous)?;
    let Formed { parts, faces, solids: start, null_space, operators, partial, corrections } = &formed;
    let tolerance = &model.options.pressure;
    let stopping = Stopping {
        relative: TOLERANCE.min(tolerance.relative),
        max_iterations: MAX_ITERATIONS,
        patience: MAX_ITERATIONS,
        ..Stopping::default()
    };
    let solution = parts.solve(options.form, faces, start, null_space, stopping)?;
    // What is left of the divergence decides, not the norm of rows of many units.
    let mut flux = vec![0.0; parts.divergence.rows()];
    let mut through = flux.clone();
    parts.divergence.multiply(&solution.faces, &mut flux);
    parts.direct.multiply(&solution.solids, &mut through);
    let left = flux.iter().zip(&through).zip(&parts.known_flux).map(|((a, b), c)| (a + b + c).abs());
    let divergence = left.fold(0.0, f64::max) * dt / model.domain.grid().cell_volume();
    if !(divergence <= tolerance.divergence.max(LEAST_DIVERGENCE)) {
        return Err(FluidError::NotConverged {
            what: "coupled flow",
            iterations: solution.iterations,
            residual: solution.relative_residual,
        });
    }

    let (n, scalars) = (Twist::<D>::LEN, soft.velocity.len());
    soft.velocity.copy_from_slice(&solution.solids[..scalars]);
    for (solid, part) in solids.iter_mut().zip(solution.solids[scalars..].chunks_exact(n)) {
        if solid.mass.is_some() {
            solid.twist = Twist::read(part);
        }
    }
    let rigid = stepper.guests().len() - soft.guests.len();
    let twists: Vec<Twist<D>> = solids[..rigid].iter().map(|solid| solid.twist).collect();
    stepper.set_guest_twists(model, &twists, None);
    let mut moved = operators.particle_velocities(&solution.solids);
    let on_particles = partial.iter().filter(|face| face.row.iter().all(|(scalar, _)| *scalar < scalars));
    moved.extend(on_particles.map(|face| {
        let u = face.row.iter().map(|&(scalar, weight)| weight * solution.solids[scalar]).sum();
        (face.axis, face.face, u)
    }));
    stepper.set_face_velocities(&moved, None);
    operators.scatter(&solution.faces, &mut state.velocity);
    scatter_impulses(&operators.cells, &solution.pressure, &mut state.pressure, dt);
    if let Some(walls) = stepper.walls() {
        walls.impose(&mut state.velocity);
    }
    for &(axis, face, change) in corrections {
        let component = state.velocity.component_mut(axis);
        component.set(face, component.at(face) + change);
    }
    Ok(CouplingReport {
        faces: operators.bound.len(),
        unknowns: operators.cells.len(),
        velocities: if viscous.is_some() { parts.face_mass.len() } else { 0 },
        iterations: solution.iterations,
        relative_residual: solution.relative_residual,
        divergence,
        null_space: null_space.dimension(),
        wall_correction: corrections.iter().fold(0.0, |most, (.., change)| f64::max(most, change.abs())),
        shut_cells: operators.shut_cells,
        ..CouplingReport::default()
    })
}
