//! What contact and joints demand of the solids' velocities while the fluid pushes on them: `H v = s` in the same solve (spec/fluid-structure.md 3.9).
//!
//! The rows act on the inverse mass: `M^-1 - M^-1 H^T (H M^-1 H^T)^-1 H M^-1` moves solids only in ways that keep `H v`, is symmetric and positive semidefinite, and so the
//! system of pressures stays positive definite.

use super::Immersed;
use super::resistance::SolidMobility;
use crate::Model;
use splashdown_fluid::pressure::Mobility;
use splashdown_math::{Dim, Frame, Space, Twist};
use splashdown_rigid::Motion;
use splashdown_solve::{CsrMatrix, SolveError, SparseCholesky};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Who takes part in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// A rigid body.
    Body(usize),
    /// A particle of the solids.
    Particle(usize),
}

/// One demand: the sum of the products of these wrenches with the velocities of the ends stays as it is, or becomes `value` (m/s). Particles feel the linear part.
#[derive(Debug, Clone)]
pub(crate) struct HeldRow<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub ends: Vec<(End, Twist<D>)>,
    pub value: Option<f64>,
}

/// Rows over the stacked velocities of particles and solids, with the values that they keep.
#[derive(Debug, Clone, Default)]
pub(crate) struct Demands {
    pub rows: Vec<Vec<(usize, f64)>>,
    pub values: Vec<f64>,
}

impl Demands {
    /// Largest speed (m/s) by which velocities of particles and solids miss a demand.
    pub fn residual<'a, const D: usize>(
        &self,
        particles: &[f64],
        solids: impl Iterator<Item = &'a Twist<D>>,
    ) -> f64
    where
        Dim<D>: Space<D>,
    {
        if self.rows.is_empty() {
            return 0.0;
        }
        let mut stacked = particles.to_vec();
        for twist in solids {
            let mut part = [0.0; 6];
            twist.write(&mut part);
            stacked.extend(&part[..Twist::<D>::LEN]);
        }
        let missed = |(row, value): (&Vec<(usize, f64)>, &f64)| {
            (row.iter().map(|&(k, weight)| weight * stacked[k]).sum::<f64>() - value).abs()
        };
        self.rows.iter().zip(&self.values).map(missed).fold(0.0, f64::max)
    }

    /// The same for velocities to which `flows`, one a solid after `scalars` scalars of particles, are added.
    pub fn seen_with<const D: usize>(&self, scalars: usize, flows: &[Twist<D>]) -> Self
    where
        Dim<D>: Space<D>,
    {
        let mut stacked = vec![0.0; scalars + Twist::<D>::LEN * flows.len()];
        for (flow, part) in flows.iter().zip(stacked[scalars..].chunks_exact_mut(Twist::<D>::LEN)) {
            flow.write(part);
        }
        let more = |row: &Vec<(usize, f64)>| row.iter().map(|&(k, weight)| weight * stacked[k]).sum::<f64>();
        let values = self.rows.iter().zip(&self.values).map(|(row, value)| value + more(row)).collect();
        Self { rows: self.rows.clone(), values }
    }
}

impl Demands {
    /// That `rows` over the stacked velocities of particles and solids keep the values that they have; what moves as told has no part in them.
    pub fn kept<const D: usize>(
        rows: &[Vec<(usize, f64)>],
        particles: &[f64],
        solids: &[Immersed<D>],
        inverses: &[f64],
    ) -> Self
    where
        Dim<D>: Space<D>,
    {
        let (scalars, n) = (particles.len(), Twist::<D>::LEN);
        let velocity = |column: usize| match column.checked_sub(scalars) {
            None => (inverses[column / D] > 0.0).then_some(particles[column]),
            Some(at) => {
                let solid = &solids[at / n];
                let mut flat = [0.0; 6];
                solid.twist.write(&mut flat);
                solid.mass.is_some().then_some(flat[at % n])
            }
        };
        let mut demands = Self::default();
        for row in rows {
            let (mut kept, mut value) = (Vec::with_capacity(row.len()), 0.0);
            for &(column, weight) in row {
                if let Some(velocity) = velocity(column) {
                    value += weight * velocity;
                    kept.push((column, weight));
                }
            }
            if !kept.is_empty() {
                demands.rows.push(kept);
                demands.values.push(value);
            }
        }
        demands
    }

    /// Adds others after these.
    pub fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.values.extend(other.values);
    }
}

/// Ends with the weights of their scalars, and the value that the sum keeps.
type LinkRow = (Vec<(End, Vec<f64>)>, f64);

/// The demands that reach into the fluid, while they are put together.
pub(crate) struct Links<const D: usize> {
    /// Number among the solids of a solve of each body that is in it.
    numbers: BTreeMap<usize, usize>,
    guests: usize,
    /// Bodies outside the fluid that demands tie to those in it: the solids after the guests.
    pub dry: Vec<usize>,
    /// Particles that demands tie to something.
    pub tied_particles: BTreeSet<usize>,
    has_particles: bool,
    /// Do bodies that the fluid does not push on move as told?
    one_way: bool,
    /// Rows over particles and bodies of the solve, with the values that they keep.
    rows: Vec<LinkRow>,
    /// Which of the demands that were added each row is.
    pub sources: Vec<usize>,
}

impl<const D: usize> Links<D>
where
    Dim<D>: Space<D>,
{
    /// For `guests` guests, which are the `bodies`, and `scalars` scalars of particles that take part in the solve.
    pub fn new(bodies: &[usize], guests: usize, scalars: usize) -> Self {
        Self {
            numbers: bodies.iter().enumerate().map(|(number, &body)| (body, number)).collect(),
            guests,
            dry: Vec::new(),
            tied_particles: BTreeSet::new(),
            has_particles: scalars > 0,
            one_way: guests > 0,
            rows: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Adds those of `held` that a chain of demands ties to something in the fluid. They keep the values that they have with `motions` and particles of velocities `soft`
    /// (m/s) and inverse masses `inverses`.
    pub fn add(
        &mut self,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[Motion<D>],
        soft: &[f64],
        inverses: &[f64],
        held: &[HeldRow<D>],
    ) {
        let (one_way, has_particles) = (self.one_way, self.has_particles);
        let movable = |end: &End| match *end {
            End::Body(body) => {
                let body = &model.bodies[body];
                body.is_dynamic() && !(one_way && body.immersion.one_way)
            }
            End::Particle(particle) => {
                has_particles && inverses.get(particle).is_some_and(|inverse| *inverse > 0.0)
            }
        };
        // Groups that demands tie together, each known by its first end.
        let mut group: BTreeMap<End, End> = BTreeMap::new();
        let root = |group: &BTreeMap<End, End>, mut end: End| {
            while let Some(&next) = group.get(&end).filter(|next| **next != end) {
                end = next;
            }
            end
        };
        for row in held {
            let ends: Vec<End> = row.ends.iter().map(|(end, _)| *end).filter(movable).collect();
            for &end in &ends {
                group.entry(end).or_insert(end);
                let (a, b) = (root(&group, ends[0]), root(&group, end));
                group.insert(a.max(b), a.min(b));
            }
        }
        let wet = |end: &End| match end {
            End::Body(body) => self.numbers.contains_key(body),
            End::Particle(_) => self.has_particles,
        };
        let wet_groups: BTreeSet<End> =
            group.keys().filter(|end| wet(end)).map(|&end| root(&group, end)).collect();
        for (source, row) in held.iter().enumerate() {
            let mut value = 0.0;
            let mut entries = Vec::new();
            for (end, wrench) in row.ends.iter().filter(|(end, _)| movable(end)) {
                if !wet_groups.contains(&root(&group, *end)) {
                    continue;
                }
                match *end {
                    End::Body(body) => {
                        let twist = motions[body].twist(&model.bodies[body], &frames[body]);
                        value += wrench.dot(&twist);
                        let next = self.guests + self.dry.len();
                        let number = *self.numbers.entry(body).or_insert(next);
                        if number == next {
                            self.dry.push(body);
                        }
                        let mut flat = vec![0.0; Twist::<D>::LEN];
                        wrench.write(&mut flat);
                        entries.push((End::Body(number), flat));
                    }
                    End::Particle(particle) => {
                        let velocity = &soft[D * particle..D * (particle + 1)];
                        value += wrench.linear.iter().zip(velocity).map(|(w, v)| w * v).sum::<f64>();
                        self.tied_particles.insert(particle);
                        entries.push((*end, wrench.linear.iter().copied().collect()));
                    }
                }
            }
            if !entries.is_empty() {
                self.rows.push((entries, row.value.unwrap_or(value)));
                self.sources.push(source);
            }
        }
    }

    /// Over the stacked velocities of `scalars` scalars of particles and the solids.
    pub fn demands(&self, scalars: usize) -> Demands {
        let mut demands = Demands::default();
        for (entries, value) in &self.rows {
            let row = entries.iter().flat_map(|(end, weights)| {
                let first = match *end {
                    End::Particle(particle) => D * particle,
                    End::Body(number) => scalars + Twist::<D>::LEN * number,
                };
                weights.iter().enumerate().map(move |(k, weight)| (first + k, *weight))
            });
            demands.rows.push(row.filter(|(_, weight)| *weight != 0.0).collect());
            demands.values.push(*value);
        }
        demands
    }
}

/// An inverse mass with demands.
pub(crate) struct HeldMass<'a> {
    mobility: &'a SolidMobility<'a>,
    rows: CsrMatrix,
    /// `H M^-1`.
    responses: CsrMatrix,
    factor: Mutex<SparseCholesky>,
}

impl<'a> HeldMass<'a> {
    /// `None` without rows that anything can change.
    pub fn new(mobility: &'a SolidMobility<'a>, demands: &Demands) -> Result<Option<Self>, SolveError> {
        if demands.rows.is_empty() {
            return Ok(None);
        }
        let rows = CsrMatrix::from_rows(mobility.inverse_mass.layout().len(), demands.rows.iter().cloned())?;
        let responses = mobility.responses(&rows)?;
        let square = responses.product(&rows.transpose())?;
        // Contacts of one face with another say some things twice.
        let factor = Mutex::new(SparseCholesky::of_semidefinite(&square)?);
        Ok(Some(Self { mobility, rows, responses, factor }))
    }

    /// What the rows lack of their `values` at `velocity`, and how impulses along them change that: row after row.
    pub fn delassus(&self, values: &[f64], velocity: &[f64]) -> Result<(Vec<f64>, Vec<f64>), SolveError> {
        let mut excess = vec![0.0; self.rows.rows()];
        self.rows.multiply(velocity, &mut excess);
        excess.iter_mut().zip(values).for_each(|(excess, value)| *excess -= value);
        Ok((excess, self.responses.product(&self.rows.transpose())?.to_dense()))
    }

    /// The impulses that take off `excess`.
    pub fn impulses(&self, excess: &[f64]) -> Option<Vec<f64>> {
        let mut impulses = vec![0.0; excess.len()];
        let mut factor = self.factor.lock().unwrap_or_else(PoisonError::into_inner);
        factor.solve(excess, &mut impulses).ok()?;
        impulses.iter_mut().for_each(|impulse| *impulse = -*impulse);
        Some(impulses)
    }

    /// Adds what `impulses` along the rows do to `velocity`.
    pub fn push(&self, impulses: &[f64], velocity: &mut [f64]) {
        self.responses.add_transpose_multiply(impulses, velocity);
    }

    /// Changes `velocity` as little as is needed to meet the demands.
    pub fn meet(&self, values: &[f64], velocity: &mut [f64]) {
        let mut excess = vec![0.0; self.rows.rows()];
        self.rows.multiply(velocity, &mut excess);
        excess.iter_mut().zip(values).for_each(|(excess, value)| *excess -= value);
        self.take_off(&excess, velocity);
    }

    /// `velocity -= M^-1 H^T (H M^-1 H^T)^-1 excess`.
    fn take_off(&self, excess: &[f64], velocity: &mut [f64]) {
        // Sizes fit by construction.
        if let Some(impulses) = self.impulses(excess) {
            self.push(&impulses, velocity);
        }
    }
}

impl Mobility for HeldMass<'_> {
    fn apply(&self, impulse: &mut [f64]) {
        self.mobility.apply(impulse);
        let mut excess = vec![0.0; self.rows.rows()];
        self.rows.multiply(impulse, &mut excess);
        self.take_off(&excess, impulse);
    }
}
