//! The indefinite systems: impulses and velocities of the solids, and the lumped forms of 2008.

use super::super::mass::SolidMass;
use super::{CoupledParts, CoupledSolution, UNFELT};
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::{
    Components, CsrMatrix, Iteration, NullSpace, Preconditioner, Projected, SolveError, SparseCholesky,
    SparseVector, Stopping, Workspace, minres,
};
use std::sync::{Mutex, PoisonError};

impl CoupledParts {
    /// `W`.
    pub(super) fn restriction(&self) -> Result<CsrMatrix, SolveError> {
        let count = self.face_mass.len();
        CsrMatrix::from_rows(count, (self.free..count).map(|face| vec![(face, 1.0)]))
    }

    /// Impulses and velocities of the solids (eq. 3.6 of the specification): `[R b^-1 R^T + E, S; S^T, -M - C^T C]` with `R = (D, N, W)`, `S = (H, 0, -J)`.
    pub(super) fn solve_kkt(
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
        let bottom = self.with_forces(&mass)?;
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
        let solids_inverse = self.inverse_for_iterations(&bottom)?;
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
    pub(super) fn solve_lumped(
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
        let bottom = self.with_forces(&mass)?;
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
        let solids = self.inverse_for_iterations(&bottom)?;
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

    /// `M + C^T C`, with what has no factor.
    fn with_forces(&self, mass: &CsrMatrix) -> Result<CsrMatrix, SolveError> {
        let sum = mass.sum(1.0, &self.damping.transpose().product(&self.damping)?)?;
        self.unfactored.as_ref().map_or(Ok(sum.clone()), |unfactored| sum.sum(1.0, unfactored))
    }

    /// What preconditions the solids: the blocks of their masses, or a factor where forces tie them to each other.
    fn inverse_for_iterations(&self, matrix: &CsrMatrix) -> Result<SolidInverse, SolveError> {
        if self.damping.rows() == 0 && self.unfactored.is_none() {
            return BlockInverse::new(matrix, self.scalar_mass.len(), self.twist).map(SolidInverse::Blocks);
        }
        // Sums in another order leave it asymmetric by rounding.
        let mut even = matrix.sum(1.0, &matrix.transpose())?;
        even.values_mut().iter_mut().for_each(|value| *value *= 0.5);
        Ok(SolidInverse::Factor(Box::new(Mutex::new(SparseCholesky::new(&even)?))))
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
pub(super) fn weighted_square(matrix: &CsrMatrix, weights: &[f64]) -> Result<CsrMatrix, SolveError> {
    let mut left = matrix.clone();
    let columns = left.columns().to_vec();
    for (value, column) in left.values_mut().iter_mut().zip(columns) {
        *value /= weights[column as usize];
    }
    left.product(&matrix.transpose())
}

pub(super) fn scaled(matrix: &CsrMatrix, by: f64) -> CsrMatrix {
    let mut matrix = matrix.clone();
    matrix.values_mut().iter_mut().for_each(|value| *value *= by);
    matrix
}

/// Entries of a row; none after the last.
pub(super) fn entries_of(matrix: &CsrMatrix, row: usize) -> Vec<(usize, f64)> {
    if row >= matrix.rows() {
        return Vec::new();
    }
    let (columns, values) = matrix.row(row);
    columns.iter().zip(values).map(|(&column, &value)| (column as usize, value)).collect()
}

/// Diagonal of `H M^-1 H^T`.
fn response(demands: &CsrMatrix, inverse: &SolidInverse) -> Vec<f64> {
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

pub(super) fn inverse_of(block: &[f64], n: usize, body: usize) -> Result<Vec<f64>, SolveError> {
    let inverse = match n {
        3 => SolidMass::<2>::from_entries(block.to_vec()).inverse(),
        _ => SolidMass::<3>::from_entries(block.to_vec()).inverse(),
    };
    inverse
        .ok_or_else(|| SolveError::NotPositiveDefinite { what: format!("mass of rigid body {body}"), row: 0 })
}

/// An approximate inverse for the solids.
enum SolidInverse {
    Blocks(BlockInverse),
    Factor(Box<Mutex<SparseCholesky>>),
}

impl SolidInverse {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        match self {
            Self::Blocks(blocks) => blocks.apply(r, z),
            Self::Factor(factor) => {
                let mut factor = factor.lock().unwrap_or_else(PoisonError::into_inner);
                // Sizes fit by construction; what is not finite shows in the residual.
                if factor.solve(r, z).is_err() {
                    z.fill(f64::NAN);
                }
            }
        }
    }
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
    solids: SolidInverse,
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
    inverse: &SolidInverse,
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
