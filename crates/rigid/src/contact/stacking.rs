//! Shock propagation for islands that were not solved to the end: level after level from the ground up, with what is below held in place, so that
//! nothing sinks into what it rests on however early the iteration stopped. What is below does not feel it, so momentum passes into the ground;
//! the more so the less the island was solved, and not at all when it was.

use super::gauss_seidel::{Island, Sums, relax_manifold};
use splashdown_math::{Dim, Space, Twist};

/// Most sweeps within a level, and the change of a relative velocity (m/s) that ends them.
const SWEEPS: usize = 12;
const ENOUGH: f64 = 1e-4;

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// Does it rest on something of infinite mass, in more than one level?
    pub(super) fn is_stack(&self) -> bool {
        self.order.last().is_some_and(|(level, _)| *level > 1)
            && self.inverse.iter().any(|inverse| inverse.is_infinite())
    }

    /// By how much the velocities change. The impulses stay those of the iteration, from which the next step starts.
    pub(super) fn shock(&mut self) -> Vec<Twist<D>> {
        let impulses: Vec<f64> = self.rows.iter().map(|row| row.impulse).collect();
        let mut speeds = self.twists.clone();
        for level in self.order.chunk_by(|a, b| a.0 == b.0) {
            for _ in 0..SWEEPS {
                let mut sums = Sums::default();
                for &(of, m) in level {
                    let manifold = &self.manifolds[m as usize];
                    let [a, b] = manifold.bodies.map(|b| b as usize);
                    let moves = [a, b].map(|i| self.levels[i] == of);
                    let mass = [self.inverse[a].mass, self.inverse[b].mass];
                    let (mut ta, mut tb) = (speeds[a], speeds[b]);
                    let rows = &mut self.rows[manifold.rows(D)];
                    relax_manifold(manifold, rows, mass, moves, &mut ta, &mut tb, &mut sums);
                    speeds[a] = ta;
                    speeds[b] = tb;
                }
                if sums.largest() < ENOUGH {
                    break;
                }
            }
        }
        for (row, impulse) in self.rows.iter_mut().zip(impulses) {
            row.impulse = impulse;
        }
        speeds.iter().zip(&self.twists).map(|(after, before)| *after - *before).collect()
    }
}
