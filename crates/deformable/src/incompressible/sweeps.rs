//! Contacts kept by sweeps (spec/incompressible-solids.md 3.6): each row by itself is kept exactly by the smallest impulse, `P_i = I - M^-1 c (c^T M^-1 c)^-1 c^T`, and all of them
//! by `(P_0 P_1 .. P_n .. P_1 P_0)^q`, which is symmetric in the mass for every `q` and never gains energy. What is left of a row's velocity after `q` sweeps leaks into the
//! pressure solve, whose tolerance must not be below it.

use crate::contact::ContactRow;
use crate::integrate::Constraints;
use splashdown_solve::ConstraintFilter;

/// The projection, approximate for more than one row.
pub(super) struct Sweeps<'a, const D: usize> {
    /// Point against triangle first, edge against edge last: what comes first is also applied last, and wins.
    rows: Vec<(&'a ContactRow<D>, f64)>,
    /// Particles on objects and pins, which are kept exactly.
    objects: &'a Constraints<'a, D>,
    inverse_mass: &'a [f64],
    sweeps: usize,
}

impl<'a, const D: usize> Sweeps<'a, D> {
    pub fn new(
        pairs: &'a [ContactRow<D>],
        objects: &'a Constraints<'a, D>,
        inverse_mass: &'a [f64],
        sweeps: usize,
    ) -> Self {
        let point = |pair: &ContactRow<D>| pair.weights.iter().filter(|weight| **weight > 0.0).count() == 1;
        let (points, edges): (Vec<_>, Vec<_>) = pairs.iter().partition(|pair| point(pair));
        let mobility = |pair: &ContactRow<D>| -> f64 {
            let own = pair.nodes.iter().zip(&pair.weights);
            own.map(|(&node, weight)| weight * weight * inverse_mass[node as usize]).sum()
        };
        // A row between particles that nothing moves is kept anyway.
        let rows = points.into_iter().chain(edges).map(|pair| (pair, mobility(pair)));
        let rows = rows.filter(|(_, mobility)| *mobility > 0.0).collect();
        Self { rows, objects, inverse_mass, sweeps }
    }

    /// One row kept exactly.
    fn keep(&self, row: &(&ContactRow<D>, f64), velocity: &mut [f64]) {
        let impulse = row.0.speed(velocity) / row.1;
        for (&node, weight) in row.0.nodes.iter().zip(&row.0.weights) {
            let change = impulse * weight * self.inverse_mass[node as usize];
            for axis in 0..D {
                velocity[D * node as usize + axis] -= change * row.0.normal[axis];
            }
        }
    }

    /// The size of the rows' velocities that `velocity` has.
    pub fn violation(&self, velocity: &[f64]) -> f64 {
        self.rows.iter().map(|(row, mobility)| row.speed(velocity).powi(2) / mobility).sum::<f64>().sqrt()
    }
}

impl<const D: usize> ConstraintFilter for Sweeps<'_, D> {
    fn filter(&self, velocity: &mut [f64]) {
        self.objects.filter(velocity);
        for _ in 0..self.sweeps {
            if let Some((last, others)) = self.rows.split_last() {
                others.iter().for_each(|row| self.keep(row, velocity));
                self.keep(last, velocity);
                others.iter().rev().for_each(|row| self.keep(row, velocity));
                self.objects.filter(velocity);
            }
        }
    }
}
