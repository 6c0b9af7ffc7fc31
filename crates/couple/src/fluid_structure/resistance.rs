//! Implicit elasticity and damping of soft bodies in the coupled solves.
//!
//! Over `tau` seconds a soft body obeys `(M + S) v = M v* + S w + tau (push of the fluid)`, with `S = tau (h K - D)`: `K` is its stiffness, `D` its damping, `h` how far ahead elastic forces are, and `w`
//! the velocity that its own solve has found for the implicit forces (`v* = w` but where it touches rigid bodies). So the pressure meets a body as stiff as it is, and steps need not be as short
//! as its waves.
//!
//! With explicit elasticity `h = 0`, and damping of the whole step (`tau = dt`) or of its implicit half (`tau = dt / 2`) is left: put in for `v*`, which has solved `(M - tau D) v* = ...` by itself, this is
//! the one solve of damping and fluid of spec/fluid-structure.md 3.11.

use super::interface::row_of;
use super::mass::{SolidMass, multiply};
use splashdown_fluid::pressure::Mobility;
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_solve::{CsrMatrix, InverseMass, LANES, SolveError, SparseCholesky};
use std::sync::{Mutex, PoisonError};

/// `S` over all scalars of particles' velocities, nothing in rows and columns of pinned ones, and `w` (m/s).
#[derive(Clone, Copy)]
pub(crate) struct Resistance<'a> {
    /// `S` (kg).
    pub matrix: &'a CsrMatrix,
    /// `C` with `C^T C = S`, for the form of the coupled system that needs it.
    pub factor: Option<&'a CsrMatrix>,
    /// `w`.
    pub velocity: &'a [f64],
}

/// The same over the stacked velocities of particles and of the bodies that carry some of them.
#[derive(Debug, Clone)]
pub(super) struct StackedResistance {
    matrix: CsrMatrix,
    factor: Option<CsrMatrix>,
    velocity: Vec<f64>,
}

impl StackedResistance {
    /// Of particles of which some are `carried`: by which body, and where from its centre of mass (m); `twists` are those of the bodies that go with `w`.
    pub fn new<const D: usize>(
        own: &Resistance,
        carried: &[Option<(usize, Vector<D>)>],
        twists: impl ExactSizeIterator<Item = Twist<D>>,
    ) -> Result<Self, SolveError>
    where
        Dim<D>: Space<D>,
    {
        let (scalars, n) = (own.matrix.rows(), Twist::<D>::LEN);
        let mut velocity = own.velocity.to_vec();
        if carried.is_empty() {
            return Ok(Self { matrix: own.matrix.clone(), factor: own.factor.cloned(), velocity });
        }
        let width = scalars + n * twists.len();
        let row = |scalar: usize| match &carried[scalar / D] {
            None => vec![(scalar, 1.0)],
            Some((body, arm)) => {
                let mut entries = [0.0; 6];
                row_of(scalar % D, arm).write(&mut entries);
                (0..n).map(|k| (scalars + n * body + k, entries[k])).collect()
            }
        };
        let spread = CsrMatrix::from_rows(width, (0..scalars).map(row))?;
        velocity.resize(width, 0.0);
        for (twist, part) in twists.zip(velocity[scalars..].chunks_exact_mut(n)) {
            twist.write(part);
        }
        let matrix = spread.transpose().product(&own.matrix.product(&spread)?)?;
        let factor = own.factor.map(|factor| factor.product(&spread)).transpose()?;
        Ok(Self { matrix, factor, velocity })
    }

    pub fn view(&self) -> Resistance<'_> {
        Resistance { matrix: &self.matrix, factor: self.factor.as_ref(), velocity: &self.velocity }
    }
}

impl Resistance<'_> {
    /// The rows of `S` between scalars that are not `told` their velocity, and the momentum `S w` with what those that are told (as `velocity` has it) take from it; one for each of the
    /// velocities.
    pub fn rows(&self, told: impl Fn(usize) -> bool, velocity: &[f64]) -> (Vec<Vec<(usize, f64)>>, Vec<f64>) {
        let mut momenta = vec![0.0; velocity.len()];
        let rows = (0..velocity.len()).map(|row| {
            if row >= self.matrix.rows() || told(row) {
                return Vec::new();
            }
            let (columns, values) = self.matrix.row(row);
            let mut own = Vec::with_capacity(columns.len() + 1);
            for (&column, &value) in columns.iter().zip(values) {
                let column = column as usize;
                momenta[row] += value * self.velocity[column];
                if told(column) {
                    momenta[row] -= value * velocity[column];
                } else if value != 0.0 {
                    own.push((column, value));
                }
            }
            own
        });
        (rows.collect(), momenta)
    }
}

impl Resistance<'_> {
    /// `M + S` with the masses (kg) of all scalars, `None` for those that move as `velocity` has it, and what these and `w` add to the momenta of the others.
    pub fn mass(
        &self,
        masses: &[Option<f64>],
        velocity: &[f64],
    ) -> Result<(ResistingMass, Vec<f64>), SolveError> {
        let (rows, more) = self.rows(|scalar| masses[scalar].is_none(), velocity);
        let rows = rows.into_iter().zip(masses).enumerate().map(|(scalar, (mut row, mass))| {
            row.push((scalar, mass.unwrap_or(1.0)));
            row
        });
        let told = (0..masses.len()).filter(|&scalar| masses[scalar].is_none()).collect();
        Ok((ResistingMass::new(&CsrMatrix::from_rows(masses.len(), rows)?, told)?, more))
    }
}

/// Rows of `M` of particles and solids, with the identity for what moves as told; columns begin at `first`.
pub(super) fn rows_of_solids<const D: usize>(
    first: usize,
    scalar_masses: &[Option<f64>],
    solids: &[Option<SolidMass<D>>],
) -> Vec<Vec<(usize, f64)>>
where
    Dim<D>: Space<D>,
{
    let n = Twist::<D>::LEN;
    let particles = scalar_masses.iter().enumerate().map(|(k, mass)| vec![(first + k, mass.unwrap_or(1.0))]);
    let bodies = solids.iter().enumerate().flat_map(|(solid, mass)| {
        let first = first + scalar_masses.len() + n * solid;
        (0..n).map(move |i| match mass {
            Some(mass) => (0..n).map(|j| (first + j, mass.entries()[i * n + j])).collect::<Vec<_>>(),
            None => vec![(first + i, 1.0)],
        })
    });
    particles.chain(bodies).collect()
}

/// Kinetic energy (J) that solids of these masses have with these `momenta` (kg m/s), stacked; nothing for what moves as told.
pub(super) fn kinetic_energy<const D: usize>(
    scalar_masses: &[Option<f64>],
    solids: &[Option<SolidMass<D>>],
    momenta: &[f64],
) -> f64
where
    Dim<D>: Space<D>,
{
    let (own, rest) = momenta.split_at(scalar_masses.len());
    let particle = |(p, mass): (&f64, &Option<f64>)| mass.map_or(0.0, |mass| 0.5 * p * p / mass);
    let body = |(p, mass): (&[f64], &Option<SolidMass<D>>)| {
        let Some(inverse) = mass.as_ref().and_then(SolidMass::inverse) else { return 0.0 };
        let momentum = Twist::<D>::read(p);
        0.5 * momentum.dot(&multiply(&inverse, &momentum))
    };
    let particles: f64 = own.iter().zip(scalar_masses).map(particle).sum();
    particles + rest.chunks_exact(Twist::<D>::LEN).zip(solids).map(body).sum::<f64>()
}

/// The same with velocities (m/s).
pub(super) fn energy_of_velocities<const D: usize>(
    scalar_masses: &[Option<f64>],
    solids: &[Option<SolidMass<D>>],
    velocity: &[f64],
) -> f64
where
    Dim<D>: Space<D>,
{
    let (own, rest) = velocity.split_at(scalar_masses.len());
    let particles: f64 = own.iter().zip(scalar_masses).map(|(v, m)| 0.5 * m.unwrap_or(0.0) * v * v).sum();
    let body = |(v, mass): (&[f64], &Option<SolidMass<D>>)| {
        let twist = Twist::<D>::read(v);
        mass.as_ref().map_or(0.0, |mass| 0.5 * twist.dot(&mass.times(&twist)))
    };
    particles + rest.chunks_exact(Twist::<D>::LEN).zip(solids).map(body).sum::<f64>()
}

/// `M + S` with the fluid that moves with the particles, factorised: of the particles alone, or of all solids.
pub(crate) struct ResistingMass {
    factor: Mutex<SparseCholesky>,
    /// Number of scalars.
    len: usize,
    /// Scalars that move as told, ascending.
    told: Vec<usize>,
}

impl ResistingMass {
    /// Of a matrix whose rows of what moves as `told` are those of the identity.
    pub fn new(matrix: &CsrMatrix, told: Vec<usize>) -> Result<Self, SolveError> {
        Ok(Self { factor: Mutex::new(SparseCholesky::new(matrix)?), len: matrix.rows(), told })
    }

    /// Momenta to velocities; zero for what moves as told.
    pub fn divide(&self, momenta: &mut [f64]) {
        self.told.iter().for_each(|&scalar| momenta[scalar] = 0.0);
        let right = momenta.to_vec();
        let mut factor = self.factor.lock().unwrap_or_else(PoisonError::into_inner);
        // Sizes fit by construction; what is not finite shows in the residual of the solve.
        if factor.solve(&right, momenta).is_err() {
            momenta.fill(f64::NAN);
        }
    }
}

impl ResistingMass {
    /// As [`Self::divide`], for several at once.
    fn divide_lanes(&self, momenta: &mut [[f64; LANES]]) -> Result<(), SolveError> {
        self.told.iter().for_each(|&scalar| momenta[scalar] = [0.0; LANES]);
        self.factor.lock().unwrap_or_else(PoisonError::into_inner).solve_lanes(momenta)
    }
}

/// How impulses move particles and rigid bodies.
pub(crate) struct SolidMobility<'a> {
    /// By their masses.
    pub inverse_mass: &'a InverseMass,
    /// What particles, or all, have instead.
    pub resisting: Option<ResistingMass>,
}

impl SolidMobility<'_> {
    /// The velocities that unit impulses along `rows` make, one row each.
    pub fn responses(&self, rows: &CsrMatrix) -> Result<CsrMatrix, SolveError> {
        if self.resisting.is_none() {
            return self.inverse_mass.multiply_rows(rows);
        }
        let own = self.inverse_mass.multiply_rows(rows)?;
        let resisting_len = self.resisting.as_ref().map_or(0, |resisting| resisting.len);
        let mut found: Vec<Vec<(usize, f64)>> = Vec::with_capacity(rows.rows());
        for first in (0..rows.rows()).step_by(LANES) {
            let count = LANES.min(rows.rows() - first);
            let mut lanes = vec![[0.0; LANES]; resisting_len];
            for lane in 0..count {
                let (columns, values) = rows.row(first + lane);
                let entries =
                    columns.iter().zip(values).filter(|(column, _)| (**column as usize) < resisting_len);
                entries.for_each(|(&column, &value)| lanes[column as usize][lane] += value);
            }
            if let Some(resisting) = &self.resisting {
                resisting.divide_lanes(&mut lanes)?;
            }
            for lane in 0..count {
                let soft = lanes.iter().map(|values| values[lane]).enumerate();
                let mut row: Vec<(usize, f64)> = soft.filter(|(_, value)| *value != 0.0).collect();
                let (columns, values) = own.row(first + lane);
                let bodies = columns.iter().zip(values).map(|(&column, &value)| (column as usize, value));
                row.extend(bodies.filter(|(column, _)| *column >= resisting_len));
                found.push(row);
            }
        }
        CsrMatrix::from_rows(rows.cols(), found)
    }
}

impl Mobility for SolidMobility<'_> {
    fn apply(&self, impulse: &mut [f64]) {
        let Some(resisting) = &self.resisting else { return self.inverse_mass.apply(impulse) };
        let mut own = impulse[..resisting.len].to_vec();
        self.inverse_mass.apply(impulse);
        resisting.divide(&mut own);
        impulse[..own.len()].copy_from_slice(&own);
    }
}
