//! Contact of deformable bodies with themselves and each other (spec 3.16): repulsions with history, continuous collision detection with impulses and rigid impact
//! zones, and the barrier that keeps implicit steps free of intersections.
//!
//! Surfaces are triangles in 3D (point against face, edge against edge) and segments in 2D (point against segment); one source serves both.

mod barrier;
mod impulse;
mod intersect;
mod pairs;
mod paths;
mod repulsion;
mod resolve;
mod stiffness;
#[cfg(test)]
mod tests;

pub use barrier::{Barrier, BarrierOptions};
pub use impulse::{Response, apply_impulse, relative_velocity};
pub use intersect::{crossings, intersections};
pub(crate) use stiffness::ContactStiffness;

pub use pairs::{ContactRow, ContactSurface, Pair, PairKind};

use crate::integrate::IntegrateError;
use pairs::sorted_keys;
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Space, Vector};

/// Options of self-contact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SelfContactOptions {
    /// Distance (m) at which repulsion begins; at most 0.9 of the shortest edge at a node.
    pub thickness: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Stiffness of elastic repulsion, `Y` (N): the acceleration is `Y mean(1/m) / thickness` per overlap.
    pub stiffness: f64,
    /// Detect collisions along the path and stop them, so that no step creates an intersection.
    pub continuous: bool,
    /// Sweeps of inelastic repulsion.
    pub sweeps: usize,
}

impl Default for SelfContactOptions {
    fn default() -> Self {
        Self { thickness: 1e-2, friction: 0.4, stiffness: 30.0, continuous: true, sweeps: 3 }
    }
}

/// What self-contact did in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SelfContactReport {
    /// Pairs within the thickness.
    pub proximities: usize,
    /// Collisions found along the paths.
    pub collisions: usize,
    /// Rounds of impulses and zones.
    pub rounds: usize,
    /// Particles in rigid impact zones.
    pub zone_particles: usize,
}

/// Self-contact of the surfaces of all deformable bodies.
#[derive(Debug, Clone)]
pub struct SelfContact<const D: usize>
where
    Dim<D>: Space<D>,
{
    surface: ContactSurface<D>,
    /// Options.
    pub options: SelfContactOptions,
    /// Thickness at each particle (m).
    thickness: Vec<f64>,
    /// Pairs too close at rest to repel, sorted.
    ignored: Vec<[u32; 5]>,
    /// Pairs of the last search with their side.
    pairs: Vec<Pair<D>>,
    barrier: Option<Barrier<D>>,
}

impl<const D: usize> SelfContact<D>
where
    Dim<D>: Space<D>,
{
    /// For a surface over `particles` particles with the given rest positions (flat).
    pub fn new(surface: ContactSurface<D>, rest: &[f64], options: SelfContactOptions) -> Self {
        let mut thickness = vec![options.thickness; rest.len() / D];
        for [a, b] in surface.all_edges() {
            let length = (crate::force::read::<D>(rest, a) - crate::force::read::<D>(rest, b)).norm();
            for node in [a, b] {
                let own = &mut thickness[node as usize];
                *own = own.min(0.9 * length);
            }
        }
        let mut contact =
            Self { surface, options, thickness, ignored: Vec::new(), pairs: Vec::new(), barrier: None };
        contact.ignored = sorted_keys(&contact.search(rest, 1.5));
        contact
    }

    /// With the intersection-free barrier for implicit steps.
    #[must_use]
    pub fn with_barrier(mut self, options: BarrierOptions) -> Self {
        self.barrier = Some(Barrier::new(self.surface.clone(), options));
        self
    }

    /// The surface.
    pub fn surface(&self) -> &ContactSurface<D> {
        &self.surface
    }

    pub(crate) fn barrier(&self) -> Option<&Barrier<D>> {
        self.barrier.as_ref()
    }

    /// Pairs of the last search.
    pub fn pairs(&self) -> &[Pair<D>] {
        &self.pairs
    }

    /// What a checkpoint must hold: five numbers and the side of every pair.
    pub fn history(&self) -> Vec<f64> {
        let numbers = |pair: &Pair<D>| {
            let mut out: Vec<f64> = pair.key().iter().map(|&n| f64::from(n)).collect();
            out.extend(pair.side.iter());
            out
        };
        self.pairs.iter().flat_map(numbers).collect()
    }

    /// Takes back what [`history`](Self::history) gave; false if it does not fit.
    pub fn restore(&mut self, history: &[f64]) -> bool {
        if !history.len().is_multiple_of(5 + D) {
            return false;
        }
        self.pairs = history
            .chunks_exact(5 + D)
            .map(|values| {
                let kind = if values[0] == 0.0 { PairKind::PointFace } else { PairKind::EdgeEdge };
                let nodes = std::array::from_fn(|i| values[1 + i] as u32);
                Pair { kind, nodes, side: Vector::from_column_slice(&values[5..]) }
            })
            .collect();
        true
    }

    /// Finds the pairs within the thickness at `position`. A pair that was known keeps the side it had.
    pub fn find_pairs(&mut self, position: &[f64]) {
        let mut found = self.search(position, 1.1);
        found.retain(|pair| self.ignored.binary_search(&pair.key()).is_err());
        let mut known: Vec<&Pair<D>> = self.pairs.iter().collect();
        known.sort_by_key(|pair| pair.key());
        for pair in &mut found {
            if let Ok(at) = known.binary_search_by_key(&pair.key(), |pair| pair.key()) {
                pair.keep_side(known[at], position);
            }
        }
        self.pairs = found;
    }

    /// Largest part (0 to 1) of `change` that no two parts of the surface meet on, from `position` on; all of it if paths are not looked at.
    pub(crate) fn free_part(&self, position: &[f64], change: &[f64]) -> f64 {
        if !self.options.continuous && self.barrier.is_none() {
            return 1.0;
        }
        let options = BarrierOptions { reach: self.options.thickness, ..BarrierOptions::default() };
        Barrier::new(self.surface.clone(), options).largest_step(position, change)
    }

    pub(crate) fn resolve(
        &mut self,
        response: &mut Response<'_, D>,
        start: &[f64],
        end: &mut [f64],
        velocity: &mut [f64],
        dt: f64,
        report: &mut SelfContactReport,
    ) -> Result<(), IntegrateError> {
        report.proximities = self.pairs.len();
        if !self.options.continuous {
            return Ok(());
        }
        resolve::resolve(&self.surface, &self.thickness, response, start, end, velocity, dt, report)
    }
}
