//! The coupled solve with viscosity (spec/fluid-structure.md 3.6, 3.8, section 4).
//!
//! With `q` the velocities of free faces and solids, `M` their masses with the lumped fluid, `N` the factored viscosity and `D` the outward flux, the step is
//! `(M + N^T N) q = M q* - N^T k + D^T p`, `D q = -d`. Eliminating `q` leaves the pressures: `D A^-1 D^T p = -d - D A^-1 (M q* - N^T k)` with `A = M + N^T N`, symmetric
//! positive definite like the form with viscous unknowns that it comes from, but well conditioned: conjugate gradients need some ten or twenty iterations
//! with the preconditioner of J. Cahouet and J.-P. Chabard ("Some fast 3D finite element solvers for the generalized Stokes problem", 1988), the inverse of the inviscid
//! operator plus `dt mu / V`, whatever the grid and the viscosity.

use super::held::Demands;
use super::mass::SolidMass;
use super::operators::{Operators, gather_impulses, scatter_impulses};
use super::resistance::{Resistance, energy_of_velocities, kinetic_energy, rows_of_solids};
use super::{CouplingReport, Viscous};
use splashdown_fluid::FluidError;
use splashdown_fluid::pressure::{PressureProblem, PressureTolerance};
use splashdown_geometry::grid::{FaceFields, Field, Index};
use splashdown_math::{Dim, Space, Twist};
use splashdown_solve::amg::{Amg, AmgMemory, AmgOptions};
use splashdown_solve::{
    Components, CsrMatrix, Iteration, LinearOperator, NullSpace, PatternMemory, Preconditioner, Projected,
    SolveError, SparseCholesky, SparseVector, Stopping, Workspace, pcg, vector,
};
use std::sync::{Mutex, PoisonError};

/// Unknown velocities up to which the velocity system is factorised in space; in the plane it always is.
const FACTORISED: usize = 6_000;
/// Sum of the other entries of a face's row to its diagonal up to which viscosity is weak: a few iterations with the diagonal are cheaper than a factor or multigrid.
const WEAK: f64 = 0.5;
/// Residual of velocity solves that are not factorised, relative to that of the first guess.
const INNER_TOLERANCE: f64 = 1e-11;
/// Residual, relative to the momenta, that is only rounding.
const ROUNDING: f64 = 1e-15;
/// Relative residual of the pressure: well below what the divergence asks for, so that slow flows come to rest.
const OUTER_TOLERANCE: f64 = 1e-9;

/// The solids of a solve.
pub(super) struct Structure<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Mass (kg) of each scalar of the particles' velocities; `None` where it is told.
    pub scalar_masses: Vec<Option<f64>>,
    /// Masses of rigid ones; `None` for those that move as told.
    pub solids: Vec<Option<SolidMass<D>>>,
    /// Velocities of particles, then twists of the rigid ones: on entry without, on return with the fluid.
    pub velocity: Vec<f64>,
    /// Implicit elasticity and damping of the particles, where the solve has them.
    pub resistance: Option<Resistance<'a>>,
    /// What contact and joints demand of them.
    pub demands: &'a Demands,
}

/// What one solve leaves to the next; nothing of it shows in results.
pub(super) struct Memory {
    pub pattern: PatternMemory,
    pub hierarchy: AmgMemory,
}

/// Solves for the velocities and pressures; takes the matrices out of `operators`, because both forms of them at once would be much of the memory.
#[expect(clippy::too_many_arguments, reason = "the parts of one linear system")]
pub(super) fn solve<const D: usize>(
    problem: &PressureProblem<D>,
    operators: &mut Operators<D>,
    viscous: Viscous,
    structure: &mut Structure<D>,
    velocity: &mut FaceFields<D>,
    pressure: &mut Field<D>,
    dt: f64,
    tolerance: &PressureTolerance,
    memory: &mut Memory,
) -> Result<(CouplingReport, Vec<Correction<D>>), FluidError>
where
    Dim<D>: Space<D>,
{
    let failed = FluidError::solve("coupled viscous flow");
    let (free, n) = (operators.free.len(), Twist::<D>::LEN);
    let scalars = structure.scalar_masses.len();
    let size = free + structure.velocity.len();
    let interpolation = operators.interpolation(structure.velocity.len()).map_err(&failed)?;
    let mut divergence =
        std::mem::take(&mut operators.divergence).product(&interpolation).map_err(&failed)?;
    if !operators.partial.is_empty() {
        let (grid, periodic) = (problem.domain.grid(), problem.domain.periodic());
        let direct = operators.direct(grid, periodic, free, structure.velocity.len()).map_err(&failed)?;
        divergence = divergence.sum(1.0, &direct).map_err(&failed)?;
    }
    let mut strain = std::mem::take(&mut operators.strain).product(&interpolation).map_err(&failed)?;
    let operators = &*operators;

    // What moves as told is no unknown: it adds to what is known.
    let told = |column: usize| match column.checked_sub(free) {
        None => false,
        Some(scalar) if scalar < scalars => structure.scalar_masses[scalar].is_none(),
        Some(scalar) => structure.solids[(scalar - scalars) / n].is_none(),
    };
    let told_velocity: Vec<f64> =
        (0..size).map(|column| if told(column) { structure.velocity[column - free] } else { 0.0 }).collect();
    let known_of = |matrix: &CsrMatrix, known: &[f64]| {
        let mut sum = vec![0.0; matrix.rows()];
        matrix.multiply(&told_velocity, &mut sum);
        sum.iter_mut().zip(known).for_each(|(sum, known)| *sum += known);
        sum
    };
    let known_flux = known_of(&divergence, &operators.known_flux);
    let known_strain = known_of(&strain, &operators.known_strain);
    let mut told_faces = vec![0.0; interpolation.rows()];
    interpolation.multiply(&told_velocity, &mut told_faces);
    forget_columns(&mut divergence, told);
    forget_columns(&mut strain, told);

    // M q*, and M.
    let start = operators.gather(velocity);
    let mut momentum: Vec<f64> = operators.masses.iter().zip(&start).map(|(m, u)| m * u).collect();
    momentum.resize(size, 0.0);
    for (scalar, mass) in structure.scalar_masses.iter().enumerate() {
        momentum[free + scalar] = mass.unwrap_or(1.0) * structure.velocity[scalar];
    }
    for (solid, mass) in structure.solids.iter().enumerate() {
        let range = scalars + n * solid..scalars + n * (solid + 1);
        let twist = Twist::<D>::read(&structure.velocity[range.clone()]);
        let push = mass.as_ref().map_or(twist, |mass| mass.times(&twist));
        push.write(&mut momentum[free + range.start..free + range.end]);
    }
    let told_scalar = |scalar: usize| told(free + scalar);
    let resisting = structure.resistance.as_ref().map(|own| own.rows(told_scalar, &structure.velocity));
    if let Some((_, more)) = &resisting {
        momentum[free..].iter_mut().zip(more).for_each(|(momentum, more)| *momentum += more);
    }
    let energy = |of: f64, faces: &[f64]| {
        let masses = operators.masses.iter().copied().chain(operators.bound.iter().map(|face| face.mass));
        of + masses.zip(faces).map(|(mass, u)| 0.5 * mass * u * u).sum::<f64>()
    };
    let own = kinetic_energy(&structure.scalar_masses, &structure.solids, &momentum[free..]);
    let before = energy(own, &start);
    let driven = known_flux.iter().chain(&known_strain).chain(&structure.demands.values).any(|v| *v != 0.0);
    // The fluid of the bound faces, lumped on what moves them.
    let mut lumped = Vec::with_capacity(operators.bound.len());
    for ((face, u), told_part) in operators.bound.iter().zip(&start[free..]).zip(&told_faces[free..]) {
        let movable = face.columns.iter().map(|&(column, weight)| (free + column, weight));
        let movable: Vec<(usize, f64)> = movable.filter(|(column, _)| !told(*column)).collect();
        for &(column, weight) in &movable {
            momentum[column] += face.mass * weight * (u - told_part);
        }
        let root = face.mass.sqrt();
        lumped.push(movable.into_iter().map(|(column, weight)| (column, root * weight)).collect::<Vec<_>>());
    }
    let lumped = CsrMatrix::from_rows(size, lumped).map_err(&failed)?;
    let rows = (0..free).map(|face| vec![(face, operators.masses[face])]);
    let solids = rows_of_solids(free, &structure.scalar_masses, &structure.solids);
    let mut mass = CsrMatrix::from_rows(size, rows.chain(solids)).map_err(&failed)?;
    if let Some((rows, _)) = resisting {
        let shifted =
            rows.into_iter().map(|row| row.into_iter().map(|(k, v)| (free + k, v)).collect::<Vec<_>>());
        let faces = (0..free).map(|_| Vec::new());
        let resisting = CsrMatrix::from_rows(size, faces.chain(shifted)).map_err(&failed)?;
        mass = mass.sum(1.0, &resisting).map_err(&failed)?;
    }
    // Right-hand side without pressure.
    let known: Vec<f64> = known_strain.iter().map(|k| -k).collect();
    strain.add_transpose_multiply(&known, &mut momentum);

    // Each part is gone once it is added.
    let square = strain.transpose().product(&strain).map_err(&failed)?;
    drop((strain, known, known_strain));
    let mut matrix = mass.sum(1.0, &square).map_err(&failed)?;
    drop((mass, square));
    let square = lumped.transpose().product(&lumped).map_err(&failed)?;
    matrix = matrix.sum(1.0, &square).map_err(&failed)?;
    drop((lumped, square, start, told_faces));

    let system = PressureSchur::new(&divergence, &matrix, [free, scalars], structure, &mut memory.pattern)?;
    let mut q = vec![0.0; size];
    system.velocities(&momentum, &mut q).map_err(&failed)?;
    let mut rhs = vec![0.0; operators.cells.len()];
    divergence.multiply(&q, &mut rhs);
    for (rhs, known) in rhs.iter_mut().zip(&known_flux) {
        *rhs = -*rhs - known;
    }

    // Preconditioner: the fluid alone, without viscosity, and the limit of much viscosity.
    let poisson = {
        let open = columns(&divergence, free).map_err(&failed)?;
        let mut scaled = open.clone();
        let (entries, inverse) = (scaled.columns().to_vec(), &operators.masses);
        for (value, column) in scaled.values_mut().iter_mut().zip(entries) {
            *value /= inverse[column as usize];
        }
        scaled.product(&open.transpose()).map_err(&failed)?
    };
    let null_space = floating(operators, &divergence, &poisson, free).map_err(&failed)?;
    let cell = problem.domain.grid().cell_volume();
    let mut preconditioner = Projected::new(
        CahouetChabard {
            poisson: memory.hierarchy.hierarchy(poisson, &AmgOptions::default()).map_err(&failed)?,
            viscous: viscous.dt * viscous.viscosity / cell,
        },
        &null_space,
    );
    let flux = vector::norm(&rhs);
    let corrections = close_regions(operators, &null_space, &mut rhs);
    let removed = corrections.iter().fold(0.0f64, |m, (.., u)| m.max(u.abs()));
    tolerance.refuse_squeeze(removed)?;
    null_space.project(&mut rhs);
    let mut report = CouplingReport {
        faces: operators.bound.len(),
        unknowns: operators.cells.len(),
        velocities: size,
        null_space: null_space.dimension(),
        wall_correction: if flux > 0.0 { removed } else { 0.0 },
        shut_cells: operators.shut_cells,
        ..CouplingReport::default()
    };
    let mut impulses = gather_impulses(&operators.cells, pressure, dt);
    null_space.project(&mut impulses);
    let norm = vector::norm(&rhs);
    let limit = tolerance.divergence * cell / dt;
    let mut goal = OUTER_TOLERANCE.min(tolerance.relative);
    let mut workspace = Workspace::default();
    let mut residual = vec![0.0; rhs.len()];
    for attempt in 0..4 {
        if norm == 0.0 {
            impulses.fill(0.0);
            break;
        }
        let stopping = Stopping {
            max_iterations: tolerance.max_iterations,
            absolute: 1e-3 * limit,
            ..Stopping::relative(goal)
        };
        let mut iteration = Iteration::new(stopping);
        let solved = pcg(&system, &mut preconditioner, &rhs, &mut impulses, &mut iteration, &mut workspace)
            .map_err(&failed)?;
        report.iterations += solved.iterations;
        report.relative_residual = solved.relative_residual();
        system.apply(&impulses, &mut residual);
        vector::subtract_from(&rhs, &mut residual);
        let largest = vector::max_norm(&residual);
        report.divergence = largest * dt / cell;
        // What rounding leaves is as good as it gets.
        if largest <= limit.max(1e-11 * norm) {
            break;
        }
        if attempt == 3 || report.iterations >= tolerance.max_iterations {
            return Err(FluidError::NotConverged {
                what: "coupled viscous flow",
                iterations: report.iterations,
                residual: report.relative_residual,
            });
        }
        goal *= (0.5 * limit / largest).min(0.1);
        system.be_exact();
    }
    null_space.project(&mut impulses);
    divergence.add_transpose_multiply(&impulses, &mut momentum);
    system.velocities(&momentum, &mut q).map_err(&failed)?;
    report.inner_iterations = system.inner_iterations();

    let mut all = vec![0.0; free + operators.bound.len()];
    for (column, value) in structure.velocity.iter_mut().enumerate() {
        if told(free + column) {
            q[free + column] = *value;
        } else {
            *value = q[free + column];
        }
    }
    interpolation.multiply(&q, &mut all);
    let own = energy_of_velocities(&structure.scalar_masses, &structure.solids, &structure.velocity);
    (report.kinetic, report.driven) = ([before, energy(own, &all)], driven);
    operators.scatter(&all, velocity);
    scatter_impulses(&operators.cells, &impulses, pressure, dt);
    Ok((report, corrections))
}

/// Sets the entries of some columns to zero.
fn forget_columns(matrix: &mut CsrMatrix, forgotten: impl Fn(usize) -> bool) {
    let columns = matrix.columns().to_vec();
    for (value, column) in matrix.values_mut().iter_mut().zip(columns) {
        if forgotten(column as usize) {
            *value = 0.0;
        }
    }
}

/// A change (m/s) of the velocity of a closed face: axis, face, change.
pub(super) type Correction<const D: usize> = (usize, Index<D>, f64);

/// Makes the flux out of every region without known pressure vanish by moving its closed faces of given velocity evenly (spec 3.10): a closed region cannot change its volume.
pub(super) fn close_regions<const D: usize>(
    operators: &Operators<D>,
    null_space: &NullSpace,
    rhs: &mut [f64],
) -> Vec<Correction<D>>
where
    Dim<D>: Space<D>,
{
    let mut corrections = Vec::new();
    let gross: f64 = rhs.iter().map(|value| value.abs()).sum();
    for vector in null_space.basis() {
        let mut weights = vec![0.0; rhs.len()];
        let mut net = 0.0;
        for (&cell, &weight) in vector.indices.iter().zip(&vector.values) {
            weights[cell as usize] = weight;
            net += weight * rhs[cell as usize];
        }
        let area: f64 = operators.known_faces.iter().map(|(row, .., area)| weights[*row] * area.abs()).sum();
        let largest = vector.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // Rounding is no flux.
        if area == 0.0 || net.abs() <= 1e-13 * largest * gross {
            continue;
        }
        let change = net / area;
        for (row, axis, face, area) in operators.known_faces.iter().filter(|(row, ..)| weights[*row] != 0.0) {
            rhs[*row] -= change * area.abs();
            corrections.push((*axis, *face, change * area.signum()));
        }
    }
    corrections
}

/// The first `count` columns of a matrix.
fn columns(matrix: &CsrMatrix, count: usize) -> Result<CsrMatrix, SolveError> {
    CsrMatrix::from_rows(
        count,
        (0..matrix.rows()).map(|row| {
            let (columns, values) = matrix.row(row);
            let entries = columns.iter().zip(values).filter(|(column, _)| (**column as usize) < count);
            entries.map(|(&column, &value)| (column as usize, value)).collect::<Vec<_>>()
        }),
    )
}

/// Constant pressures of regions without known pressure that move no solid (spec 3.10).
fn floating<const D: usize>(
    operators: &Operators<D>,
    divergence: &CsrMatrix,
    poisson: &CsrMatrix,
    free: usize,
) -> Result<NullSpace, SolveError>
where
    Dim<D>: Space<D>,
{
    let components = Components::from_matrix(poisson)?;
    let mut grounded = vec![false; components.count()];
    for (label, known) in components.labels().iter().zip(&operators.grounded) {
        grounded[*label as usize] |= known;
    }
    let candidates: Vec<SparseVector> = components.indicators(|region| !grounded[region]);
    // The push of each constant on the solids; several regions together may push nothing, such as the two sides of a plate.
    let solids = divergence.cols() - free;
    let mut pushes = Vec::with_capacity(candidates.len());
    for vector in &candidates {
        let (mut push, mut gross) = (vec![0.0; solids], 0.0f64);
        for &cell in &vector.indices {
            let (columns, values) = divergence.row(cell as usize);
            for (&column, &value) in columns.iter().zip(values) {
                if let Some(at) = (column as usize).checked_sub(free) {
                    push[at] += value;
                    gross = gross.max(value.abs());
                }
            }
        }
        push.iter_mut().filter(|value| value.abs() <= 1e-9 * gross).for_each(|value| *value = 0.0);
        pushes.push(push);
    }
    // Gaussian elimination of the pushes: combinations that push nothing are null vectors.
    let mut combinations: Vec<Vec<f64>> = (0..candidates.len())
        .map(|i| (0..candidates.len()).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let mut used = vec![false; candidates.len()];
    for column in 0..solids {
        let pivot = (0..candidates.len())
            .filter(|&i| !used[i])
            .max_by(|&a, &b| pushes[a][column].abs().total_cmp(&pushes[b][column].abs()));
        let Some(pivot) = pivot.filter(|&p| pushes[p][column] != 0.0) else { continue };
        used[pivot] = true;
        let (base, weights) = (pushes[pivot].clone(), combinations[pivot].clone());
        let scale = base.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for other in (0..candidates.len()).filter(|&i| !used[i]) {
            let factor = pushes[other][column] / base[column];
            for (value, base) in pushes[other].iter_mut().zip(&base) {
                *value -= factor * base;
                if value.abs() <= 1e-9 * scale {
                    *value = 0.0;
                }
            }
            for (value, weight) in combinations[other].iter_mut().zip(&weights) {
                *value -= factor * weight;
            }
        }
    }
    let null: Vec<SparseVector> = (0..candidates.len())
        .filter(|&i| !used[i])
        .map(|i| {
            let mut dense = vec![0.0; divergence.rows()];
            for (weight, vector) in combinations[i].iter().zip(&candidates) {
                vector.indices.iter().for_each(|&cell| dense[cell as usize] += weight);
            }
            SparseVector::from_dense(&dense)
        })
        .collect();
    NullSpace::new(divergence.rows(), &null)
}

/// `p -> D A^-1 D^T p`.
struct PressureSchur<'a> {
    divergence: &'a CsrMatrix,
    matrix: &'a CsrMatrix,
    inner: Mutex<Inner>,
}

/// How `A` is inverted.
struct Inner {
    method: Method,
    momentum: Vec<f64>,
    velocity: Vec<f64>,
    residual: Vec<f64>,
    workspace: Workspace,
    iterations: usize,
    held: Option<HeldVelocities>,
    /// What the preconditioner left of the largest momenta that the pressures of the outer iterations have made.
    largest: f64,
    /// Are outer iterations solved for as exactly as all else?
    exact: bool,
}

/// Demands on the velocities: after `q = A^-1 m` comes `q -= A^-1 H^T (H A^-1 H^T)^-1 (H q - s)`.
struct HeldVelocities {
    rows: CsrMatrix,
    values: Vec<f64>,
    /// `A^-1 H^T`, one column a row.
    responses: Vec<Vec<f64>>,
    factor: SparseCholesky,
}

impl HeldVelocities {
    /// Makes `H q` what is demanded, or zero for a change of velocities.
    fn meet(&mut self, change: bool, q: &mut [f64]) -> Result<(), SolveError> {
        let mut excess = vec![0.0; self.rows.rows()];
        self.rows.multiply(q, &mut excess);
        if !change {
            excess.iter_mut().zip(&self.values).for_each(|(excess, value)| *excess -= value);
        }
        let mut impulses = vec![0.0; excess.len()];
        self.factor.solve(&excess, &mut impulses)?;
        for (response, impulse) in self.responses.iter().zip(&impulses) {
            vector::axpy(-impulse, response, q);
        }
        Ok(())
    }
}

enum Method {
    Factor(Box<SparseCholesky>),
    Iterate(Box<VelocityPreconditioner>),
}

/// Multigrid or, where viscosity is weak, the diagonal on the faces, the exact blocks on particles (but the diagonal where they act on each other through the fluid only) and on each solid.
struct VelocityPreconditioner {
    faces: FaceInverse,
    particles: ParticleInverse,
    solids: Vec<Vec<f64>>,
    free: usize,
    scalars: usize,
    len: usize,
}

enum FaceInverse {
    Diagonal(Vec<f64>),
    Multigrid(Box<Amg>),
}

impl FaceInverse {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        match self {
            Self::Diagonal(inverse) => scale(inverse, r, z),
            Self::Multigrid(multigrid) => multigrid.apply(r, z),
        }
    }
}

/// `z = diag(factors) r`.
fn scale(factors: &[f64], r: &[f64], z: &mut [f64]) {
    z.iter_mut().zip(r).zip(factors).for_each(|((z, r), factor)| *z = r * factor);
}

/// The inverses of the diagonal entries in a range of rows.
fn inverse_diagonal(matrix: &CsrMatrix, rows: std::ops::Range<usize>) -> Vec<f64> {
    matrix.diagonal()[rows].iter().map(|entry| entry.recip()).collect()
}

/// Whether the rows of the first `faces` unknowns are governed by their diagonal, so that conjugate gradients need some ten iterations.
fn is_weak(matrix: &CsrMatrix, faces: usize) -> bool {
    (0..faces).all(|face| {
        let (columns, values) = matrix.row(face);
        let (mut own, mut others) = (0.0, 0.0);
        for (&column, &value) in columns.iter().zip(values) {
            if column as usize == face {
                own += value;
            } else {
                others += value.abs();
            }
        }
        others <= WEAK * own
    })
}

enum ParticleInverse {
    Diagonal(Vec<f64>),
    Factor(Box<SparseCholesky>),
}

impl ParticleInverse {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        match self {
            Self::Diagonal(inverse) => scale(inverse, r, z),
            // Sizes fit by construction; what is not finite shows in the residual.
            Self::Factor(factor) => {
                if factor.solve(r, z).is_err() {
                    z.fill(f64::NAN);
                }
            }
        }
    }
}

impl Preconditioner for VelocityPreconditioner {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let (faces, rest) = z.split_at_mut(self.free);
        let (particles, solids) = rest.split_at_mut(self.scalars);
        self.faces.apply(&r[..self.free], faces);
        self.particles.apply(&r[self.free..self.free + self.scalars], particles);
        let own = &r[self.free + self.scalars..];
        for (solid, inverse) in self.solids.iter().enumerate() {
            let first = self.len * solid;
            for i in 0..self.len {
                let row = &inverse[i * self.len..(i + 1) * self.len];
                let pushes = &own[first..first + self.len];
                solids[first + i] = row.iter().zip(pushes).map(|(a, b)| a * b).sum();
            }
        }
    }
}

impl<'a> PressureSchur<'a> {
    fn new<const D: usize>(
        divergence: &'a CsrMatrix,
        matrix: &'a CsrMatrix,
        [free, scalars]: [usize; 2],
        structure: &Structure<D>,
        memory: &mut PatternMemory,
    ) -> Result<Self, FluidError>
    where
        Dim<D>: Space<D>,
    {
        let failed = FluidError::solve("coupled viscous flow");
        let size = matrix.rows();
        let len = Twist::<D>::LEN;
        let weak = is_weak(matrix, free);
        // A heavy body would leave the fluid around it to rounding of its momentum.
        let movable = scalars > 0 || structure.solids.iter().any(Option::is_some);
        let method = if (D == 2 || size <= FACTORISED) && (!weak || movable) {
            Method::Factor(Box::new(SparseCholesky::remembering(matrix, memory).map_err(&failed)?))
        } else {
            let faces = if weak {
                FaceInverse::Diagonal(inverse_diagonal(matrix, 0..free))
            } else {
                let block = matrix.diagonal_block(0..free);
                FaceInverse::Multigrid(Box::new(Amg::new(&block, &AmgOptions::default()).map_err(&failed)?))
            };
            let particles = match structure.resistance {
                Some(_) => {
                    let block = matrix.diagonal_block(free..free + scalars);
                    ParticleInverse::Factor(Box::new(SparseCholesky::new(&block).map_err(&failed)?))
                }
                None => ParticleInverse::Diagonal(inverse_diagonal(matrix, free..free + scalars)),
            };
            let mut solids = Vec::with_capacity(structure.solids.len());
            for solid in 0..structure.solids.len() {
                let first = free + scalars + len * solid;
                let block = matrix.diagonal_block(first..first + len);
                let inverse = SolidMass::<D>::from_entries(block.to_dense()).inverse();
                solids.push(inverse.ok_or_else(|| {
                    FluidError::Mismatch(format!("solid {solid} has no positive definite mass"))
                })?);
            }
            Method::Iterate(Box::new(VelocityPreconditioner { faces, particles, solids, free, scalars, len }))
        };
        let inner = Inner {
            method,
            momentum: vec![0.0; size],
            velocity: vec![0.0; size],
            residual: vec![0.0; size],
            workspace: Workspace::default(),
            iterations: 0,
            held: None,
            largest: 0.0,
            exact: false,
        };
        let mut inner = inner;
        inner.hold(matrix, free, structure.demands).map_err(&failed)?;
        Ok(Self { divergence, matrix, inner: Mutex::new(inner) })
    }

    /// `q = A^-1 momentum`.
    fn velocities(&self, momentum: &[f64], q: &mut [f64]) -> Result<(), SolveError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.solve(self.matrix, momentum, q, false)?;
        inner.held.as_mut().map_or(Ok(()), |held| held.meet(false, q))
    }

    /// From now on all of every direction matters.
    fn be_exact(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).exact = true;
    }

    fn inner_iterations(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).iterations
    }
}

impl Inner {
    /// Prepares the demands.
    fn hold(&mut self, matrix: &CsrMatrix, free: usize, demands: &Demands) -> Result<(), SolveError> {
        if demands.rows.is_empty() {
            return Ok(());
        }
        let (size, count) = (matrix.rows(), demands.rows.len());
        let moved =
            demands.rows.iter().map(|row| row.iter().map(|&(k, w)| (free + k, w)).collect::<Vec<_>>());
        let rows = CsrMatrix::from_rows(size, moved)?;
        let mut responses = Vec::with_capacity(count);
        for row in &demands.rows {
            let (mut push, mut response) = (vec![0.0; size], vec![0.0; size]);
            row.iter().for_each(|&(k, w)| push[free + k] += w);
            self.solve(matrix, &push, &mut response, false)?;
            responses.push(response);
        }
        let mut dense = vec![0.0; count * count];
        let mut column = vec![0.0; count];
        for (k, response) in responses.iter().enumerate() {
            rows.multiply(response, &mut column);
            (0..count).for_each(|i| dense[i * count + k] = column[i]);
        }
        for i in 0..count {
            for j in 0..i {
                let mean = 0.5 * (dense[i * count + j] + dense[j * count + i]);
                (dense[i * count + j], dense[j * count + i]) = (mean, mean);
            }
        }
        let factor = SparseCholesky::of_semidefinite(&CsrMatrix::from_dense(count, count, &dense)?)?;
        self.held = Some(HeldVelocities { rows, values: demands.values.clone(), responses, factor });
        Ok(())
    }

    /// `q = A^-1 momentum`. What belongs to an `outer` iteration is solved for as exactly as the largest of them asks for: the later and smaller its direction is, the fewer of its digits matter.
    fn solve(
        &mut self,
        matrix: &CsrMatrix,
        momentum: &[f64],
        q: &mut [f64],
        outer: bool,
    ) -> Result<(), SolveError> {
        match &mut self.method {
            Method::Factor(factor) => factor.solve(momentum, q),
            Method::Iterate(preconditioner) => {
                // Relative to what the preconditioner leaves, not to the momenta: a heavy body has most of these and knows its velocity at once, the fluid around it does not.
                preconditioner.apply(momentum, q);
                matrix.multiply(q, &mut self.residual);
                vector::subtract_from(momentum, &mut self.residual);
                let (whole, left) = (vector::norm(momentum), vector::norm(&self.residual));
                let mut reference = left;
                if outer && !self.exact {
                    self.largest = self.largest.max(left);
                    reference = self.largest;
                }
                if left <= ROUNDING * whole || left <= INNER_TOLERANCE * reference {
                    return Ok(());
                }
                let stopping = Stopping::relative((INNER_TOLERANCE * reference / whole).max(ROUNDING));
                let mut iteration = Iteration::new(stopping);
                let solved =
                    pcg(matrix, preconditioner.as_mut(), momentum, q, &mut iteration, &mut self.workspace)?;
                self.iterations += solved.iterations;
                Ok(())
            }
        }
    }
}

impl LinearOperator for PressureSchur<'_> {
    fn rows(&self) -> usize {
        self.divergence.rows()
    }
    fn cols(&self) -> usize {
        self.divergence.rows()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = &mut *inner;
        let mut momentum = std::mem::take(&mut inner.momentum);
        let mut velocity = std::mem::take(&mut inner.velocity);
        momentum.fill(0.0);
        self.divergence.add_transpose_multiply(x, &mut momentum);
        // Sizes fit by construction; what is not finite shows in the residual.
        let mut solved = inner.solve(self.matrix, &momentum, &mut velocity, true);
        if let Some(held) = &mut inner.held {
            solved = solved.and_then(|()| held.meet(true, &mut velocity));
        }
        if solved.is_err() {
            velocity.fill(f64::NAN);
        }
        self.divergence.multiply(&velocity, y);
        (inner.momentum, inner.velocity) = (momentum, velocity);
    }
}

/// See the head of this file.
struct CahouetChabard<'a> {
    poisson: &'a mut Amg,
    viscous: f64,
}

impl Preconditioner for CahouetChabard<'_> {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        self.poisson.apply(r, z);
        vector::axpy(self.viscous, r, z);
    }
}
