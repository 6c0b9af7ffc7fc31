//! Shock propagation for islands that were not solved to the end: level after level from the ground up, with what is below held in place, so that
//! nothing sinks into what it rests on however early the iteration stopped. What is below does not feel it, so momentum passes into the ground;
//! the more so the less the island was solved, and not at all when it was.

use super::InverseInertia;
use super::gauss_seidel::Island;
use super::manifold::{Impulses, Manifold, Sums};
use splashdown_math::{Dim, Space, Twist};

/// Most sweeps within a level, and the change of a relative velocity (m/s) that ends them.
const SWEEPS: usize = 12;
const ENOUGH: f64 = 1e-4;

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// Does it rest on something of infinite mass, in more than one level, without joints?
    pub(super) fn is_stack(&self) -> bool {
        let highest = self.manifolds.last().map_or(0, |last| self.level(last.bodies));
        self.joined.is_empty()
            && highest.max(self.wide.highest()) > 1
            && self.inverse.iter().any(|inverse| inverse.is_infinite())
    }

    /// The higher level of two bodies.
    fn level(&self, bodies: [u32; 2]) -> u32 {
        let [a, b] = bodies.map(|b| self.levels[b as usize]);
        a.max(b)
    }

    /// By how much the velocities change. The impulses stay those of the iteration, from which the next step starts.
    pub(super) fn shock(&mut self) -> Vec<Twist<D>> {
        if !self.wide.is_empty() {
            return self.shock_wide();
        }
        let mut twists = self.twists.clone();
        let fixed = InverseInertia::infinite();
        let mut held: Vec<Held<D>> = Vec::new();
        let mut first = 0;
        while first < self.manifolds.len() {
            let level = self.level(self.manifolds[first].bodies);
            let end =
                first + self.manifolds[first..].iter().take_while(|m| self.level(m.bodies) == level).count();
            // With what is below held in place.
            held.clear();
            for (manifold, impulses) in self.manifolds[first..end].iter().zip(&self.impulses[first..end]) {
                let inverse = manifold.bodies.map(|b| {
                    let moves = self.levels[b as usize] == level;
                    if moves { self.inverse[b as usize] } else { fixed }
                });
                let mut manifold = *manifold;
                if manifold.set_matrix([&inverse[0], &inverse[1]]) {
                    held.push(Held { manifold, inverse, impulses: *impulses });
                }
            }
            for _ in 0..SWEEPS {
                let mut sums = Sums::default();
                for Held { manifold, inverse, impulses } in &mut held {
                    let [a, b] = manifold.bodies.map(|b| b as usize);
                    let (mut ta, mut tb) = (twists[a], twists[b]);
                    let push = manifold.relax(impulses, &mut manifold.relative(&ta, &tb), &mut sums);
                    manifold.apply(&push, [&inverse[0], &inverse[1]], &mut ta, &mut tb);
                    twists[a] = ta;
                    twists[b] = tb;
                }
                if sums.largest < ENOUGH {
                    break;
                }
            }
            first = end;
        }
        twists.iter().zip(&self.twists).map(|(after, before)| *after - *before).collect()
    }
}

/// A manifold of which only the bodies of one level move.
struct Held<const D: usize>
where
    Dim<D>: Space<D>,
{
    manifold: Manifold<D>,
    inverse: [InverseInertia<D>; 2],
    impulses: Impulses,
}
