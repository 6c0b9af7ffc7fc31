//! The pressure systems: `B P M^-1 B^T` with rows for rings and, unless these are swept, for pairs in contact.

use super::sweeps::Sweeps;
use super::{Pushed, Rings};
use crate::contact::ContactRow;
use crate::integrate::{Carriers, Constraints, Projection};
use splashdown_math::{Dim, Space, Twist};
use splashdown_solve::{ConstraintFilter, LinearOperator, Progress};
use std::ops::ControlFlow;

/// How contacts are kept besides those rows that the system has.
pub(super) enum Kept<'a, const D: usize> {
    /// Particles on objects and pins; pairs are rows.
    Objects(&'a Constraints<'a, D>),
    /// All of them.
    Swept(&'a Sweeps<'a, D>),
}

impl<const D: usize> ConstraintFilter for Kept<'_, D> {
    fn filter(&self, velocity: &mut [f64]) {
        match self {
            Self::Objects(objects) => objects.filter(velocity),
            Self::Swept(sweeps) => sweeps.filter(velocity),
        }
    }
}

/// How rigid bodies that carry or touch particles respond: particles that they carry move with them, and normal velocities relative to them stay where others touch them.
pub(super) struct MovedBodies<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    carriers: &'a Carriers<D>,
    links: Projection<'a, D>,
}

impl<'a, const D: usize> MovedBodies<'a, D>
where
    Dim<D>: Space<D>,
{
    pub fn new(bodies: &Pushed<'a, D>, masses: &'a [f64]) -> Self {
        let links = Projection::new(bodies.links, masses, Some(bodies.carriers));
        Self { carriers: bodies.carriers, links }
    }

    /// Velocities from the `impulses` of all particles, in their place, and the twists of the bodies.
    fn respond(
        &self,
        inverse_mass: &[f64],
        kept: &impl ConstraintFilter,
        impulses: &mut [f64],
    ) -> Vec<Twist<D>> {
        let count = impulses.len();
        let mut stacked = impulses.to_vec();
        let mut tail = vec![0.0; self.carriers.carriers.len() * Carriers::<D>::SIZE];
        self.carriers.gather(1.0, &mut stacked, &mut tail);
        divide_by_mass::<D>(inverse_mass, &mut stacked);
        self.carriers.divide_by_mass(&mut tail);
        self.carriers.filter(&mut tail);
        stacked.extend(tail);
        // There and back, so that the product stays symmetric where a particle touches both an object and a body.
        kept.filter(&mut stacked[..count]);
        self.links.project(&mut stacked, |_| 0.0);
        kept.filter(&mut stacked[..count]);
        let (own, tail) = stacked.split_at_mut(count);
        self.carriers.spread(tail, own);
        impulses.copy_from_slice(own);
        tail.chunks_exact(Carriers::<D>::SIZE).map(Twist::read).collect()
    }
}

/// `B P M^-1 B^T`.
pub(super) struct System<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    pub rings: &'a Rings<D>,
    /// Pairs that are rows.
    pub pairs: &'a [ContactRow<D>],
    pub kept: Kept<'a, D>,
    pub bodies: Option<&'a MovedBodies<'a, D>>,
    pub inverse_mass: &'a [f64],
}

impl<const D: usize> System<'_, D>
where
    Dim<D>: Space<D>,
{
    /// `out = P M^-1 B^T z`, and the twists that rigid bodies get by it.
    pub fn push(&self, z: &[f64], out: &mut [f64]) -> Vec<Twist<D>> {
        out.fill(0.0);
        add_rows_transpose(self.rings, self.pairs, z, out);
        if let Some(bodies) = self.bodies {
            return bodies.respond(self.inverse_mass, &self.kept, out);
        }
        divide_by_mass::<D>(self.inverse_mass, out);
        self.kept.filter(out);
        Vec::new()
    }

    /// Diagonal of `B M^-1 B^T`, made positive: a row that nothing can move has no equation.
    pub fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = self.rings.diagonal(self.inverse_mass);
        diagonal.extend(self.pairs.iter().map(|pair| {
            let own = |(&node, &weight): (&u32, &f64)| weight * weight * self.inverse_mass[node as usize];
            pair.nodes.iter().zip(&pair.weights).map(own).sum::<f64>()
        }));
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        diagonal.iter_mut().for_each(|value| *value = value.max(1e-12 * largest).max(f64::MIN_POSITIVE));
        diagonal
    }
}

impl<const D: usize> LinearOperator for System<'_, D>
where
    Dim<D>: Space<D>,
{
    fn rows(&self) -> usize {
        self.rings.len() + self.pairs.len()
    }

    fn cols(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut velocity = vec![0.0; D * self.inverse_mass.len()];
        self.push(x, &mut velocity);
        apply_rows(self.rings, self.pairs, &velocity, y);
    }
}

/// `out = B v`.
pub(super) fn apply_rows<const D: usize>(
    rings: &Rings<D>,
    pairs: &[ContactRow<D>],
    velocity: &[f64],
    out: &mut [f64],
) {
    let (rates, contact) = out.split_at_mut(rings.len());
    rings.apply(velocity, rates);
    contact.iter_mut().zip(pairs).for_each(|(out, pair)| *out = pair.speed(velocity));
}

/// Adds `B^T z`.
pub(super) fn add_rows_transpose<const D: usize>(
    rings: &Rings<D>,
    pairs: &[ContactRow<D>],
    z: &[f64],
    out: &mut [f64],
) {
    let (pressure, contact) = z.split_at(rings.len());
    rings.add_transpose(pressure, out);
    for (pair, z) in pairs.iter().zip(contact) {
        for (&node, weight) in pair.nodes.iter().zip(&pair.weights) {
            for axis in 0..D {
                out[D * node as usize + axis] += z * weight * pair.normal[axis];
            }
        }
    }
}

pub(super) fn divide_by_mass<const D: usize>(inverse_mass: &[f64], values: &mut [f64]) {
    for (values, inverse) in values.chunks_exact_mut(D).zip(inverse_mass) {
        values.iter_mut().for_each(|value| *value *= inverse);
    }
}

/// Ends a solve whose residual no longer falls: contacts can ask for what no pressure gives, and the iterate would only grow.
#[derive(Default)]
pub(super) struct Stall {
    seen: Vec<f64>,
}

impl Stall {
    /// Iterations in which the residual must have fallen by [`Self::FALL`].
    const WINDOW: usize = 50;
    const FALL: f64 = 0.98;

    pub fn watch(&mut self, progress: Progress) -> ControlFlow<()> {
        self.seen.push(progress.residual);
        let stalled = self
            .seen
            .len()
            .checked_sub(Self::WINDOW + 1)
            .is_some_and(|before| progress.residual > Self::FALL * self.seen[before]);
        if stalled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
