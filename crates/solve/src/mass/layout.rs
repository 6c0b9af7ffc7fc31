//! Where everything is in the stacked velocity.

use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Space, Twist};
use std::ops::Range;

/// Names the sections of the stacked velocity `V`: fluid faces, then particles (`D` scalars each), then rigid bodies (a twist each: linear,
/// then angular velocity).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VelocityLayout {
    faces: usize,
    particles: usize,
    bodies: usize,
    dimension: usize,
    twist: usize,
}

impl VelocityLayout {
    /// A layout for dimension `D`.
    pub fn new<const D: usize>(faces: usize, particles: usize, bodies: usize) -> Self
    where
        Dim<D>: Space<D>,
    {
        Self { faces, particles, bodies, dimension: D, twist: Twist::<D>::LEN }
    }

    /// Space dimension, 2 or 3.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Scalars of a rigid body's velocity: 3 in 2D, 6 in 3D.
    pub fn twist_len(&self) -> usize {
        self.twist
    }

    /// Number of fluid faces.
    pub fn face_count(&self) -> usize {
        self.faces
    }

    /// Number of particles.
    pub fn particle_count(&self) -> usize {
        self.particles
    }

    /// Number of rigid bodies.
    pub fn body_count(&self) -> usize {
        self.bodies
    }

    /// Length of the stacked velocity.
    pub fn len(&self) -> usize {
        self.body_range_start() + self.bodies * self.twist
    }

    /// Does nothing move?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All fluid faces.
    pub fn faces(&self) -> Range<usize> {
        0..self.faces
    }

    /// All particles.
    pub fn particles(&self) -> Range<usize> {
        self.faces..self.body_range_start()
    }

    /// All rigid bodies.
    pub fn bodies(&self) -> Range<usize> {
        self.body_range_start()..self.len()
    }

    /// Fluid face `face`.
    pub fn face(&self, face: usize) -> usize {
        debug_assert!(face < self.faces);
        face
    }

    /// The `D` scalars of particle `particle`.
    pub fn particle(&self, particle: usize) -> Range<usize> {
        debug_assert!(particle < self.particles);
        let first = self.faces + particle * self.dimension;
        first..first + self.dimension
    }

    /// The twist of body `body`.
    pub fn body(&self, body: usize) -> Range<usize> {
        debug_assert!(body < self.bodies);
        let first = self.body_range_start() + body * self.twist;
        first..first + self.twist
    }

    pub(crate) fn body_range_start(&self) -> usize {
        self.faces + self.particles * self.dimension
    }
}
