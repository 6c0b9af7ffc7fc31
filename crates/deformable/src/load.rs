//! Given forces on particles: weights that hang on them, winds that push.

use crate::force::{Force, ForceError, read};
use splashdown_math::Vector;

/// Constant forces on some particles; their [strength](Force::set_strength) may change in time.
#[derive(Debug, Clone)]
pub struct Load<const D: usize> {
    nodes: Vec<u32>,
    forces: Vec<Vector<D>>,
    strength: f64,
    /// Sum of force times place at the last positions (J).
    work: f64,
}

impl<const D: usize> Load<D> {
    /// Forces (N) and the particles they act on.
    pub fn new(forces: Vec<(u32, Vector<D>)>) -> Self {
        let (nodes, forces) = forces.into_iter().unzip();
        Self { nodes, forces, strength: 1.0, work: 0.0 }
    }
}

impl<const D: usize> Force<D> for Load<D> {
    fn name(&self) -> &str {
        "load"
    }

    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        let work = |(node, force): (&u32, &Vector<D>)| read::<D>(position, *node).dot(force);
        self.work = self.nodes.iter().zip(&self.forces).map(work).sum();
        Ok(())
    }

    fn energy(&self) -> f64 {
        -self.strength * self.work
    }

    fn add_elastic(&self, out: &mut [f64]) {
        for (node, force) in self.nodes.iter().zip(&self.forces) {
            for axis in 0..D {
                out[D * *node as usize + axis] += self.strength * force[axis];
            }
        }
    }

    fn add_load(&self, out: &mut [f64]) {
        self.add_elastic(out);
    }

    fn add_damping(&self, _: &[f64], _: &mut [f64]) {}

    fn damping_rows(&self) -> usize {
        0
    }

    fn apply_factor(&self, _: &[f64], _: f64, _: &mut [f64]) {}

    fn add_factor_transpose(&self, _: &[f64], _: f64, _: &mut [f64]) {}

    fn add_stiffness(&self, _: &[f64], _: &mut [f64], _: bool) {}

    fn elements(&self) -> usize {
        self.nodes.len()
    }

    fn element_nodes(&self, element: usize) -> &[u32] {
        &self.nodes[element..element + 1]
    }

    fn add_element_matrix(&self, _: usize, _: f64, _: f64, _: bool, _: &mut [f64]) {}

    fn stable_step(&self, _: &[f64]) -> f64 {
        f64::INFINITY
    }

    fn set_strength(&mut self, strength: f64) {
        self.strength = strength;
    }

    fn bytes(&self) -> usize {
        self.forces.len() * (size_of::<u32>() + size_of::<Vector<D>>())
    }

    fn boxed(&self) -> Box<dyn Force<D>> {
        Box::new(self.clone())
    }
}
