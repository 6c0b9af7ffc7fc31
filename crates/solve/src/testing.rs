//! One test for every block, and slow references: used by the tests of every crate that implements [`Block`].

use crate::error::check_size;
use crate::{
    Block, CoupledSystem, CsrMatrix, InverseMass, LinearOperator, SolveError, SparseBlock, VelocityLayout,
    vector,
};
use splashdown_math::{Dim, Space, Vector};

/// A small deterministic random number generator (SplitMix64) for test vectors, so that this module needs no dependency.
#[derive(Debug, Clone)]
pub struct TestNumbers(u64);

impl TestNumbers {
    /// Seeded.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `0..bound`.
    pub fn index(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// `len` values uniform in `[-1, 1)`.
    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.uniform(-1.0, 1.0)).collect()
    }
}

/// What [`check_block`] measured; all are relative errors that should be rounding.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BlockErrors {
    /// `|<B v, z> - <v, B^T z>|`.
    pub adjoint: f64,
    /// `|B(a v + w) - a B v - B w|`.
    pub linearity: f64,
    /// [`Block::diagonal`] against `e_i^T B M^-1 B^T e_i`.
    pub diagonal: f64,
    /// [`Block::assemble`] against [`Block::apply`]; zero if there is nothing to assemble.
    pub assembly: f64,
    /// Most negative compliance, as a positive number.
    pub compliance: f64,
    /// Does `apply` overwrite and `add_transpose` add? Zero if so, one if not.
    pub accumulation: f64,
}

impl BlockErrors {
    /// The largest of all.
    pub fn worst(&self) -> f64 {
        [self.adjoint, self.linearity, self.diagonal, self.assembly, self.compliance, self.accumulation]
            .into_iter()
            .fold(0.0, |worst, value| if value.is_nan() { f64::INFINITY } else { worst.max(value) })
    }
}

/// Measures whether `block` keeps the contract of [`Block`], with random vectors.
///
/// The errors are relative to `|B v| |z|` and the like, so that `1e-12` is a fair bound for any block.
pub fn check_block(block: &dyn Block, inverse_mass: &InverseMass, seed: u64) -> BlockErrors {
    let mut random = TestNumbers::new(seed);
    let (rows, len) = (block.rows(), inverse_mass.layout().len());
    let mut errors = BlockErrors::default();
    if rows == 0 || len == 0 {
        return errors;
    }
    let (v, w, z) = (random.vector(len), random.vector(len), random.vector(rows));
    let (mut bv, mut bw) = (vec![f64::NAN; rows], vec![0.0; rows]);
    block.apply(&v, &mut bv);
    block.apply(&w, &mut bw);
    if !vector::all_finite(&bv) {
        errors.accumulation = 1.0;
    }
    let mut btz = vec![0.0; len];
    block.add_transpose(&z, &mut btz);
    let size = vector::norm(&bv) * vector::norm(&z) + vector::norm(&btz) * vector::norm(&v);
    errors.adjoint = relative((vector::dot(&bv, &z) - vector::dot(&v, &btz)).abs(), size);

    let base = random.vector(len);
    let mut added = base.clone();
    block.add_transpose(&z, &mut added);
    let worst = (0..len).map(|i| (added[i] - base[i] - btz[i]).abs()).fold(0.0, f64::max);
    if worst > 1e-12 * (1.0 + vector::max_norm(&btz)) {
        errors.accumulation = 1.0;
    }

    let mixed: Vec<f64> = v.iter().zip(&w).map(|(v, w)| 0.7 * v + w).collect();
    let mut image = vec![0.0; rows];
    block.apply(&mixed, &mut image);
    let worst = (0..rows).map(|i| (image[i] - 0.7 * bv[i] - bw[i]).abs()).fold(0.0, f64::max);
    errors.linearity = relative(worst, vector::max_norm(&bv).max(vector::max_norm(&bw)));

    let mut diagonal = vec![0.0; rows];
    block.diagonal(inverse_mass, &mut diagonal);
    // Every row if there are few, a random sample otherwise.
    let sample: Vec<usize> =
        if rows <= 64 { (0..rows).collect() } else { (0..64).map(|_| random.index(rows)).collect() };
    let largest = vector::max_norm(&diagonal);
    for row in sample {
        let mut unit = vec![0.0; rows];
        unit[row] = 1.0;
        let mut impulse = vec![0.0; len];
        block.add_transpose(&unit, &mut impulse);
        let mut change = impulse.clone();
        inverse_mass.apply(&mut change);
        let exact = vector::dot(&impulse, &change);
        errors.diagonal =
            errors.diagonal.max(relative((diagonal[row] - exact).abs(), exact.max(1e-3 * largest)));
    }

    if let Some(matrix) = block.assemble() {
        if (matrix.rows(), matrix.cols()) != (rows, len) {
            errors.assembly = f64::INFINITY;
        } else {
            matrix.multiply(&v, &mut image);
            let worst = (0..rows).map(|i| (image[i] - bv[i]).abs()).fold(0.0, f64::max);
            errors.assembly = relative(worst, vector::max_norm(&bv));
        }
    }

    let mut compliance = vec![f64::NAN; rows];
    block.compliance(&mut compliance);
    errors.compliance = compliance
        .iter()
        .fold(0.0, |worst: f64, &e| if e.is_finite() { worst.max(-e) } else { f64::INFINITY });
    errors
}

fn relative(error: f64, size: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error / size }
}

/// Asserts that `block` keeps the contract of [`Block`]: exact adjoints, linear, right diagonal, right assembly, compliance not negative.
///
/// # Panics
/// If any relative error exceeds `1e-12`.
#[track_caller]
pub fn assert_adjoint(block: &dyn Block, inverse_mass: &InverseMass) {
    for seed in 1..=3 {
        let errors = check_block(block, inverse_mass, seed);
        assert!(errors.worst() <= 1e-12, "block `{}`: {errors:?}", block.name());
    }
}

/// Relative error of `C^T C v = -dt D v` for a factored force: `force(v, out)` writes `-dt D v`, the impulse that the force takes away.
pub fn factor_error(
    block: &dyn Block,
    len: usize,
    seed: u64,
    force: &mut dyn FnMut(&[f64], &mut [f64]),
) -> f64 {
    let v = TestNumbers::new(seed).vector(len);
    let mut rows = vec![0.0; block.rows()];
    let (mut factored, mut direct) = (vec![0.0; len], vec![0.0; len]);
    block.apply(&v, &mut rows);
    block.add_transpose(&rows, &mut factored);
    force(&v, &mut direct);
    let worst = (0..len).map(|i| (factored[i] - direct[i]).abs()).fold(0.0, f64::max);
    relative(worst, vector::max_norm(&direct))
}

/// Asserts `C^T C = -dt D` for a factored force; see [`factor_error`].
///
/// # Panics
/// If the relative error exceeds `tolerance`.
#[track_caller]
pub fn assert_factor(
    block: &dyn Block,
    len: usize,
    tolerance: f64,
    mut force: impl FnMut(&[f64], &mut [f64]),
) {
    for seed in 1..=3 {
        let error = factor_error(block, len, seed, &mut force);
        assert!(error <= tolerance, "block `{}`: C^T C differs from -dt D by {error:e}", block.name());
    }
}

/// An operator as a dense row-major matrix, column by column. For tests.
pub fn dense_operator(operator: &dyn LinearOperator) -> Vec<f64> {
    let (rows, cols) = (operator.rows(), operator.cols());
    let mut dense = vec![0.0; rows * cols];
    let (mut unit, mut column) = (vec![0.0; cols], vec![0.0; rows]);
    for j in 0..cols {
        unit.fill(0.0);
        unit[j] = 1.0;
        operator.apply(&unit, &mut column);
        for i in 0..rows {
            dense[i * cols + j] = column[i];
        }
    }
    dense
}

/// Eigenvalues of a dense symmetric matrix, ascending. For tests.
///
/// # Errors
/// A length other than `size * size`, entries that are not finite.
pub fn symmetric_eigenvalues(matrix: &[f64], size: usize) -> Result<Vec<f64>, SolveError> {
    check_size("dense matrix", matrix.len(), size * size)?;
    crate::error::check_finite("dense matrix", matrix)?;
    Ok(crate::dense::symmetric_eigen(matrix, size).0)
}

/// The dense KKT reference: `V` and `z` of `[M, B^T; B, -E] (V, z) = (M V*, c)` by Gaussian elimination with full pivoting, where parts that
/// cannot move keep `V*`. Written apart from the solvers, so that the two can only agree by being right.
///
/// Redundant rows are allowed: dependent unknowns are set to zero. Returns also the number of negative eigenvalues of the matrix.
///
/// # Errors
/// Blocks that cannot be assembled, sizes that do not fit.
pub fn dense_kkt(system: &CoupledSystem, start: &[f64]) -> Result<KktSolution, SolveError> {
    check_size("velocity", start.len(), system.velocity_len())?;
    let rows = system.assemble_rows()?;
    let (len, count) = (start.len(), system.rows());
    let movable: Vec<usize> = (0..len).filter(|&i| system.inverse_mass().is_movable(i)).collect();
    let moving = movable.len();
    let size = moving + count;
    let mass = system.inverse_mass().mass();
    let mut matrix = vec![0.0; size * size];
    let mut rhs = vec![0.0; size];
    let start_momentum = mass.momentum(start);
    for (a, &i) in movable.iter().enumerate() {
        let mut unit = vec![0.0; len];
        unit[i] = 1.0;
        let column = mass.momentum(&unit);
        for (b, &j) in movable.iter().enumerate() {
            matrix[b * size + a] = column[j];
        }
        rhs[a] = start_momentum[i];
    }
    let mut fixed = start.to_vec();
    movable.iter().for_each(|&i| fixed[i] = 0.0);
    let mut fixed_rows = vec![0.0; count];
    rows.multiply(&fixed, &mut fixed_rows);
    for row in 0..count {
        for (a, &i) in movable.iter().enumerate() {
            let value = rows.get(row, i);
            matrix[(moving + row) * size + a] = value;
            matrix[a * size + moving + row] = value;
        }
        matrix[(moving + row) * size + moving + row] = -system.compliance()[row];
        rhs[moving + row] = system.target()[row] - fixed_rows[row];
    }
    let negative = symmetric_eigenvalues(&matrix, size)?.iter().filter(|&&value| value < -1e-12).count();
    let solution = eliminate(matrix, rhs, size);
    let mut velocity = start.to_vec();
    for (a, &i) in movable.iter().enumerate() {
        velocity[i] = solution[a];
    }
    Ok(KktSolution { velocity, z: solution[moving..].to_vec(), negative_eigenvalues: negative })
}

/// Result of [`dense_kkt`].
#[derive(Debug, Clone, PartialEq)]
pub struct KktSolution {
    /// `V`.
    pub velocity: Vec<f64>,
    /// `z`; not unique when rows are redundant.
    pub z: Vec<f64>,
    /// Negative eigenvalues of the KKT matrix: it is indefinite.
    pub negative_eigenvalues: usize,
}

/// Gaussian elimination with full pivoting; unknowns without a pivot become zero.
fn eliminate(mut a: Vec<f64>, mut b: Vec<f64>, n: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = n;
    let mut first_pivot = 0.0;
    for k in 0..n {
        let (mut best, mut row, mut column) = (0.0, k, k);
        for i in k..n {
            for j in k..n {
                if a[i * n + j].abs() > best {
                    (best, row, column) = (a[i * n + j].abs(), i, j);
                }
            }
        }
        if k == 0 {
            first_pivot = best;
        }
        if best <= 1e-13 * first_pivot {
            rank = k;
            break;
        }
        for j in 0..n {
            a.swap(k * n + j, row * n + j);
        }
        b.swap(k, row);
        for i in 0..n {
            a.swap(i * n + k, i * n + column);
        }
        order.swap(k, column);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            if factor != 0.0 {
                for j in k..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
                b[i] -= factor * b[k];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..rank).rev() {
        let sum: f64 = (k + 1..rank).map(|j| a[k * n + j] * x[order[j]]).sum();
        x[order[k]] = (b[k] - sum) / a[k * n + k];
    }
    x
}

/// Random sparse rows over the stacked velocity, `per_row` entries each: a stand-in for coupling, damping or joints in tests.
pub fn random_rows(random: &mut TestNumbers, rows: usize, cols: usize, per_row: usize) -> CsrMatrix {
    let row = |_| (0..per_row).map(|_| (random.index(cols), random.uniform(-1.0, 1.0))).collect::<Vec<_>>();
    let rows: Vec<Vec<(usize, f64)>> = (0..rows).map(row).collect();
    CsrMatrix::from_rows(cols, rows).expect("indices are inside, values finite")
}

/// Twenty fluid faces, five particles and three tumbling bodies in 3D with random masses; the last two faces, the last particle and the last
/// body are static.
pub fn random_mass(random: &mut TestNumbers) -> InverseMass {
    let mut inverse = InverseMass::zero(VelocityLayout::new::<3>(20, 5, 3));
    let valid = "masses are positive and indices inside";
    for face in 0..18 {
        inverse.set_face(face, random.uniform(0.2, 2.0)).expect(valid);
    }
    for particle in 0..4 {
        inverse.set_particle(particle, random.uniform(0.2, 2.0)).expect(valid);
    }
    for body in 0..2 {
        let rotation = Dim::<3>::exp(&Vector::from([1.0, 2.0, body as f64]));
        let moments = [random.uniform(0.2, 2.0), random.uniform(0.2, 2.0), random.uniform(0.2, 2.0)];
        let inertia = Dim::<3>::rotate_inertia(&rotation, &Dim::<3>::inertia_from_principal(&moments));
        inverse.set_body::<3>(body, random.uniform(0.2, 2.0), &inertia).expect(valid);
    }
    inverse
}

/// Pressure-like, coupling (with targets), damping and soft joint rows over the velocities of [`random_mass`]: 29 rows.
pub fn random_system<'a>(inverse: &'a InverseMass, random: &mut TestNumbers) -> CoupledSystem<'a> {
    let len = inverse.layout().len();
    let valid = "rows are finite and inside";
    let cell =
        |cell: usize| vec![(2 * cell, -1.0), (2 * cell + 1, 1.0), (2 * cell + 2, 1.0), (2 * cell + 3, -1.0)];
    let pressure = CsrMatrix::from_rows(len, (0..8).map(cell)).expect(valid);
    let coupling = SparseBlock::new("coupling", random_rows(random, 5, len, 6));
    let damping = random_rows(random, 12, len, 5);
    let joints = SparseBlock::new("joints", random_rows(random, 4, len, 9));
    let mut system = CoupledSystem::new(inverse);
    system.push(SparseBlock::new("pressure", pressure)).expect(valid);
    system.push(coupling.with_target(random.vector(5)).expect(valid)).expect(valid);
    system.push(SparseBlock::factored_force("damping", damping)).expect(valid);
    system.push(joints.with_compliance(vec![0.0, 0.01, 0.02, 0.03]).expect(valid)).expect(valid);
    system
}
