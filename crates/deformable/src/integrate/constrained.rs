//! Ways to keep contacts and joints inside the velocity solve with damping (spec/rigid-deformable-coupling.md 3.8, RDC-24, 25, 29).
//!
//! | form | how |
//! |---|---|
//! | [`ConstraintForm::Projection`] | projected conjugate gradients on velocities; every projection exact |
//! | [`ConstraintForm::Sweeps`] | the same, constraints visited one after another there and back; the tolerance is not taken below what that leaves |
//! | [`ConstraintForm::PositiveDefinite`] | impulses of damping and constraints as one [`CoupledSystem`], conjugate gradients |
//! | [`ConstraintForm::Indefinite`] | the same with velocities as unknowns besides, MINRES |

use super::links::{Projection, gradient};
use super::{Carriers, IntegrateError, Link};
use crate::solid::Solid;
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_solve::{
    CoupledOptions, CoupledSolver, CoupledSystem, CsrMatrix, Formulation, InverseMass, SolveError,
    SolverAids, SparseBlock, SparseCholesky, Stopping, VelocityLayout,
};
use std::cell::RefCell;

/// How velocity solves with damping keep contacts and joints. All forms have the same solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConstraintForm {
    /// Conjugate gradients on velocities whose directions are projected exactly: the fastest.
    #[default]
    Projection,
    /// As in the source: this many symmetric sweeps over the constraints stand for the projection. What they leave is measured, no tolerance is taken below it, and
    /// both are reported ([`IntegrationReport::leak`](super::IntegrationReport::leak)).
    Sweeps(usize),
    /// The positive definite system in the impulses of damping and constraints.
    PositiveDefinite,
    /// The indefinite system in velocities and impulses.
    Indefinite,
}

/// A sum of products with velocities whose change a velocity solve prescribes: a joint, a contact of rigid bodies, a pair of surfaces.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintRow<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Particles and their factors; those that a body carries act on it.
    pub particles: Vec<(u32, Vector<D>)>,
    /// Carriers and the wrenches that stand for their factors.
    pub carriers: Vec<(u32, Twist<D>)>,
    /// Wanted change (m/s) of the sum.
    pub change: f64,
}

/// All that a velocity solve keeps, over the stacked velocities of particles and carriers.
pub(super) struct Constrained<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    links: &'a [Link<D>],
    rows: &'a [ConstraintRow<D>],
    /// What stands for the masses of the particles (kg).
    metric: &'a [f64],
    pinned: &'a [bool],
    carriers: Option<&'a Carriers<D>>,
}

impl<'a, const D: usize> Constrained<'a, D>
where
    Dim<D>: Space<D>,
{
    pub fn new(
        links: &'a [Link<D>],
        rows: &'a [ConstraintRow<D>],
        metric: &'a [f64],
        pinned: &'a [bool],
        carriers: Option<&'a Carriers<D>>,
    ) -> Self {
        Self { links, rows, metric, pinned, carriers }
    }

    fn layout(&self) -> VelocityLayout {
        let carriers = self.carriers.map_or(0, |own| own.carriers.len());
        VelocityLayout::new::<D>(0, self.metric.len(), carriers)
    }

    fn inverse_mass(&self) -> Result<InverseMass, SolveError> {
        let mut inverse = InverseMass::zero(self.layout());
        for (particle, mass) in self.metric.iter().enumerate().filter(|(particle, _)| !self.pinned[*particle])
        {
            inverse.set_particle(particle, 1.0 / mass)?;
        }
        let own = self.carriers.map_or(&[][..], |own| &own.carriers);
        for (index, carrier) in own.iter().enumerate().filter(|(_, carrier)| carrier.dynamic) {
            inverse.set_body::<D>(index, 1.0 / carrier.mass, &Dim::invert_inertia(&carrier.inertia))?;
        }
        Ok(inverse)
    }

    /// Where the factors of a row act, by scalar of the stacked velocity.
    fn entries(&self, row: &ConstraintRow<D>) -> Vec<(usize, f64)> {
        let layout = self.layout();
        let mut entries = Vec::new();
        let mut add_wrench = |carrier: u32, wrench: &Twist<D>| {
            let mut flat = [0.0; 6];
            wrench.write(&mut flat[..Twist::<D>::LEN]);
            entries.extend(layout.body(carrier as usize).zip(flat));
        };
        row.carriers.iter().for_each(|(carrier, wrench)| add_wrench(*carrier, wrench));
        let bound = self.carriers.map_or(&[][..], |own| &own.bound);
        let mut own = Vec::new();
        for (particle, factor) in &row.particles {
            match bound.iter().find(|bound| bound.particle == *particle) {
                Some(bound) => add_wrench(bound.carrier, &Twist::of_force(factor, &bound.arm)),
                None => own.extend(layout.particle(*particle as usize).zip(factor.iter().copied())),
            }
        }
        entries.extend(own);
        entries
    }

    /// Every link and row as a row of a matrix, with the wanted changes.
    fn matrix(&self) -> Result<(CsrMatrix, Vec<f64>), SolveError> {
        let layout = self.layout();
        let link = |link: &Link<D>| -> Vec<(usize, f64)> {
            let particle = layout.particle(link.particle as usize).zip(link.normal.iter().copied());
            let carrier = link.carrier.map(|carrier| {
                layout.body(carrier as usize).zip(gradient(link).map(|factor| -factor)).collect::<Vec<_>>()
            });
            particle.chain(carrier.unwrap_or_default()).collect()
        };
        let rows = self.links.iter().map(link).chain(self.rows.iter().map(|row| self.entries(row)));
        let wanted = self.links.iter().map(|link| link.change).chain(self.rows.iter().map(|row| row.change));
        Ok((CsrMatrix::from_rows(layout.len(), rows)?, wanted.collect()))
    }

    /// The projection that `form` asks for.
    pub fn keeping(&self, form: ConstraintForm) -> Result<Keeping<'a, D>, SolveError> {
        let bodies = || Projection::new(self.links, self.metric, self.carriers);
        if self.rows.is_empty() {
            return Ok(Keeping::Bodies(bodies()));
        }
        let inverse_mass = self.inverse_mass()?;
        if let ConstraintForm::Sweeps(sweeps) = form {
            let mut rows = Vec::new();
            for row in self.rows {
                let entries = self.entries(row);
                let matrix = CsrMatrix::from_rows(self.layout().len(), [entries.clone()])?;
                let response = inverse_mass.multiply_rows(&matrix)?;
                let response: Vec<(usize, f64)> = {
                    let (columns, values) = response.row(0);
                    columns.iter().map(|&column| column as usize).zip(values.iter().copied()).collect()
                };
                let mobility = inverse_mass.row_diagonal(matrix.row(0).0, matrix.row(0).1);
                // A row between things that nothing moves is kept anyway.
                if mobility > 0.0 {
                    rows.push(SweptRow { entries, response, mobility, change: row.change });
                }
            }
            return Ok(Keeping::Swept { bodies: bodies(), rows, sweeps: sweeps.max(1) });
        }
        let (rows, wanted) = self.matrix()?;
        let responses = inverse_mass.multiply_rows(&rows)?;
        // Joints and patches of contacts say some things twice.
        let factor = SparseCholesky::of_semidefinite(&symmetric(&responses.product(&rows.transpose())?)?)?;
        Ok(Keeping::Exact { rows, responses, wanted, factor: RefCell::new(Box::new(factor)) })
    }

    /// The change of the stacked velocity over `tau` seconds by the positive definite or the indefinite system, from `velocity` (m/s) of all particles; `impulse` (kg m/s) are all forces but
    /// damping. Returns the iterations, too.
    pub fn solve_coupled(
        &self,
        solid: &Solid<D>,
        form: ConstraintForm,
        tau: f64,
        velocity: &[f64],
        impulse: &[f64],
        stopping: Stopping,
    ) -> Result<(Vec<f64>, usize), IntegrateError> {
        let layout = self.layout();
        let inverse_mass = self.inverse_mass()?;
        let factor = splashdown_solve::Block::assemble(&solid.damping_block(tau, layout))
            .ok_or_else(|| IntegrateError::Solve("damping without a matrix".into()))?;
        // Damping acts on the whole velocity, the unknown is its change.
        let mut now = velocity.to_vec();
        now.resize(layout.len(), 0.0);
        let mut offset = vec![0.0; factor.rows()];
        factor.multiply(&now, &mut offset);
        offset.iter_mut().for_each(|value| *value = -*value);
        let (rows, wanted) = self.matrix()?;
        let damping =
            SparseBlock::factored_force("damping", factor.product(&self.carried()?)?).with_target(offset)?;
        let constraints = SparseBlock::new("constraints", rows).with_target(wanted)?;
        let mut system = CoupledSystem::new(&inverse_mass);
        system.push(&damping)?;
        system.push(&constraints)?;
        let formulation = match form {
            ConstraintForm::Indefinite => Formulation::Kkt,
            _ => Formulation::PositiveDefinite,
        };
        let options = CoupledOptions { stopping, formulation, ..CoupledOptions::default() };
        let mut change = impulse.to_vec();
        inverse_mass.apply(&mut change);
        let report = CoupledSolver::new(options).solve(&system, &mut change, SolverAids::default())?;
        if !report.converged() && !(report.residual <= 100.0 * stopping.relative * report.rhs_norm) {
            return Err(IntegrateError::Solve(report.to_string()));
        }
        Ok((change, report.iterations))
    }

    /// Velocities of all particles from those of the stacked unknowns: carried ones are their carriers'.
    fn carried(&self) -> Result<CsrMatrix, SolveError> {
        let layout = self.layout();
        let count = self.metric.len();
        let mut own: Vec<Option<(u32, Vector<D>)>> = vec![None; count];
        for bound in self.carriers.map_or(&[][..], |own| &own.bound) {
            own[bound.particle as usize] = Some((bound.carrier, bound.arm));
        }
        let mut rows: Vec<Vec<(usize, f64)>> = Vec::with_capacity(layout.len());
        for (particle, carrier) in own.iter().enumerate() {
            for axis in 0..D {
                rows.push(match carrier {
                    None => vec![(layout.particle(particle).start + axis, 1.0)],
                    Some((carrier, arm)) => {
                        let unit = Vector::<D>::from_fn(|k, _| f64::from(u8::from(k == axis)));
                        let mut flat = [0.0; 6];
                        Twist::<D>::of_force(&unit, arm).write(&mut flat[..Twist::<D>::LEN]);
                        layout.body(*carrier as usize).zip(flat).collect()
                    }
                });
            }
        }
        // Damping is a matrix over the whole stacked vector.
        rows.extend(layout.bodies().map(|at| vec![(at, 1.0)]));
        CsrMatrix::from_rows(layout.len(), rows)
    }
}

/// Entries (i, j) and (j, i) sum the same terms in other orders.
fn symmetric(matrix: &CsrMatrix) -> Result<CsrMatrix, SolveError> {
    let mut mean = matrix.sum(1.0, &matrix.transpose())?;
    mean.values_mut().iter_mut().for_each(|value| *value *= 0.5);
    Ok(mean)
}

/// One row of sweeps.
pub(super) struct SweptRow {
    entries: Vec<(usize, f64)>,
    /// `M^-1 h`.
    response: Vec<(usize, f64)>,
    /// `h M^-1 h`.
    mobility: f64,
    change: f64,
}

impl SweptRow {
    fn value(&self, y: &[f64]) -> f64 {
        self.entries.iter().map(|&(at, factor)| factor * y[at]).sum()
    }

    fn keep(&self, y: &mut [f64], wanted: f64) {
        let impulse = (wanted - self.value(y)) / self.mobility;
        self.response.iter().for_each(|&(at, response)| y[at] += impulse * response);
    }
}

/// A projection on the velocities that keep everything.
pub(super) enum Keeping<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Each carrier with its links, which share nothing.
    Bodies(Projection<'a, D>),
    /// All constraints at once.
    Exact { rows: CsrMatrix, responses: CsrMatrix, wanted: Vec<f64>, factor: RefCell<Box<SparseCholesky>> },
    /// Carriers with their links, row after row, and back, several times.
    Swept { bodies: Projection<'a, D>, rows: Vec<SweptRow>, sweeps: usize },
}

impl<const D: usize> Keeping<'_, D>
where
    Dim<D>: Space<D>,
{
    /// Changes `y` by as little as possible in the metric of the mass so that all constraints have the wanted change, or zero.
    pub fn project(&self, y: &mut [f64], changing: bool) {
        let of_link = |link: &Link<D>| if changing { link.change } else { 0.0 };
        match self {
            Self::Bodies(bodies) => bodies.project(y, of_link),
            Self::Exact { rows, responses, wanted, factor } => {
                let mut lack = vec![0.0; rows.rows()];
                rows.multiply(y, &mut lack);
                for (lack, wanted) in lack.iter_mut().zip(wanted) {
                    *lack = if changing { wanted - *lack } else { -*lack };
                }
                let mut impulses = vec![0.0; lack.len()];
                // Sizes fit by construction.
                if factor.borrow_mut().solve(&lack, &mut impulses).is_ok() {
                    responses.add_transpose_multiply(&impulses, y);
                }
            }
            Self::Swept { bodies, rows, sweeps } => {
                for _ in 0..*sweeps {
                    bodies.project(y, of_link);
                    let wanted = |row: &SweptRow| if changing { row.change } else { 0.0 };
                    if let Some((last, others)) = rows.split_last() {
                        others.iter().for_each(|row| row.keep(y, wanted(row)));
                        last.keep(y, wanted(last));
                        others.iter().rev().for_each(|row| row.keep(y, wanted(row)));
                    }
                    bodies.project(y, of_link);
                }
            }
        }
    }

    /// Part of the velocity of constraints in `y` that a projection leaves: no solve may go below it, since what leaks spans the forbidden directions.
    pub fn leak(&self, y: &[f64]) -> f64 {
        let Self::Swept { bodies, rows, .. } = self else { return 0.0 };
        let violation = |y: &[f64]| {
            let rows = rows.iter().map(|row| row.value(y).powi(2) / row.mobility).sum::<f64>();
            (rows + bodies.violation(y)).sqrt()
        };
        let before = violation(y);
        let mut after = y.to_vec();
        self.project(&mut after, false);
        if before > 0.0 { (violation(&after) / before).min(1.0) } else { 0.0 }
    }
}
