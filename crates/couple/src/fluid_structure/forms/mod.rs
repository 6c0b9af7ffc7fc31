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
//! The lumped forms put the mass and momentum of the coupling faces on the solids: `M + J^T b J` is what eliminating `l` gives, the diagonal is what the source of 2008 used; there viscosity acts by
//! itself first, with the solids as walls, as in that source. All indefinite forms take any symmetric damping or linearised elasticity, factored or not.

mod assemble;
mod definite;
mod indefinite;

pub(super) use assemble::solve_form;
pub use assemble::{Formed, form_system};

use indefinite::{inverse_of, weighted_square};
use serde::{Deserialize, Serialize};
use splashdown_fluid::FluidError;
use splashdown_solve::{
    Components, CsrMatrix, InverseMass, NullSpace, SolveError, SparseVector, Stopping, VelocityLayout,
    unfelt_pressures,
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
    /// `-dt D` of forces on the solids that are not factored: only the indefinite forms take it.
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
        if form == CouplingForm::Impulses && self.unfactored.is_some() {
            let what = "the form of impulses takes only damping that is factored";
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
}
