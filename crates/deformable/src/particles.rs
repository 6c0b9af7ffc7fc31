//! Particles: the degrees of freedom of all deformable bodies.

use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// Masses of the particles; constant during a simulation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Particles {
    /// Lumped mass of each particle in kg.
    pub mass: Vec<f64>,
    /// Is the particle held at its place (or moved by a script)? Then it is infinitely heavy to the solver.
    pub pinned: Vec<bool>,
}

impl Particles {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    /// `1/m`, zero for a pinned particle.
    pub fn inverse_mass(&self, particle: usize) -> f64 {
        if self.pinned[particle] { 0.0 } else { 1.0 / self.mass[particle] }
    }
}

/// Where the particles are and how they move.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ParticleState<const D: usize> {
    /// Positions (m).
    pub position: Vec<Vector<D>>,
    /// Velocities (m/s).
    pub velocity: Vec<Vector<D>>,
}
