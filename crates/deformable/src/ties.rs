//! Soft bindings (spec/rigid-deformable-coupling.md 3.9): free particles tied by damped springs without length to points of others, such as a skin to the flesh in which it
//! lies, or points for contact to a coarse mesh. Nothing else is needed for what is tied to something that is tied itself.

use crate::force::{Force, ForceError, read};
use splashdown_math::Vector;

/// One tie of [`Ties::new`].
#[derive(Debug, Clone, PartialEq)]
pub struct Tie {
    /// The particle that is tied.
    pub particle: u32,
    /// Particles and their weights, which sum to one: where it is tied to.
    pub to: Vec<(u32, f64)>,
    /// Force per distance (N/m).
    pub stiffness: f64,
    /// Force per relative speed in any direction (N s/m).
    pub damping: f64,
}

/// Ties between particles; linear, so that one stiffness holds in every state.
#[derive(Debug, Clone)]
pub struct Ties<const D: usize> {
    name: String,
    /// Particle of each tie and those that it is tied to, with weights 1 and minus theirs.
    nodes: Vec<u32>,
    weights: Vec<f64>,
    starts: Vec<usize>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    strength: f64,
    /// From the points to the tied particles at the last update (m).
    apart: Vec<Vector<D>>,
}

impl<const D: usize> Ties<D> {
    /// All ties.
    pub fn new(name: impl Into<String>, ties: &[Tie]) -> Self {
        let (mut nodes, mut weights, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for tie in ties {
            nodes.push(tie.particle);
            weights.push(1.0);
            nodes.extend(tie.to.iter().map(|&(particle, _)| particle));
            weights.extend(tie.to.iter().map(|&(_, weight)| -weight));
            starts.push(nodes.len());
        }
        Self {
            name: name.into(),
            nodes,
            weights,
            starts,
            stiffness: ties.iter().map(|tie| tie.stiffness).collect(),
            damping: ties.iter().map(|tie| tie.damping).collect(),
            strength: 1.0,
            apart: vec![Vector::zeros(); ties.len()],
        }
    }

    /// Largest distance (m) of a particle from where it is tied to, at the last update.
    pub fn farthest(&self) -> f64 {
        self.apart.iter().fold(0.0, |most, apart| most.max(apart.norm()))
    }

    fn of(&self, tie: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.starts[tie]..self.starts[tie + 1];
        self.nodes[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The difference of `values` between the particle and its point.
    fn difference(&self, tie: usize, values: &[f64]) -> Vector<D> {
        self.of(tie).map(|(node, weight)| read::<D>(values, node) * weight).sum()
    }

    /// Adds minus `pull` to the particle of every tie, and the opposite to where it is tied to. One after the other: ties are few.
    fn add(&self, out: &mut [f64], pull: impl Fn(usize) -> Vector<D>) {
        for tie in 0..self.stiffness.len() {
            let pull = pull(tie);
            for (node, weight) in self.of(tie) {
                for axis in 0..D {
                    out[D * node as usize + axis] -= weight * pull[axis];
                }
            }
        }
    }
}

impl<const D: usize> Force<D> for Ties<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        for tie in 0..self.apart.len() {
            let apart = self.difference(tie, position);
            if !apart.norm().is_finite() {
                return Err(ForceError::NotFinite { force: self.name.clone(), element: tie });
            }
            self.apart[tie] = apart;
        }
        Ok(())
    }

    fn energy(&self) -> f64 {
        let own = self.apart.iter().zip(&self.stiffness).map(|(apart, k)| 0.5 * k * apart.norm_squared());
        self.strength * own.sum::<f64>()
    }

    fn add_elastic(&self, force: &mut [f64]) {
        self.add(force, |tie| self.apart[tie] * (self.strength * self.stiffness[tie]));
    }

    fn add_damping(&self, velocity: &[f64], force: &mut [f64]) {
        self.add(force, |tie| self.difference(tie, velocity) * (self.strength * self.damping[tie]));
    }

    fn damping_rows(&self) -> usize {
        if self.damping.iter().any(|&damping| damping > 0.0) { D * self.damping.len() } else { 0 }
    }

    fn apply_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]) {
        for (tie, rows) in out.chunks_exact_mut(D).enumerate() {
            let row = self.difference(tie, velocity) * (dt * self.strength * self.damping[tie]).sqrt();
            rows.copy_from_slice(row.as_slice());
        }
    }

    fn add_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]) {
        if self.damping_rows() > 0 {
            self.add(force, |tie| {
                let row = Vector::<D>::from_column_slice(&w[D * tie..][..D]);
                row * -(dt * self.strength * self.damping[tie]).sqrt()
            });
        }
    }

    fn add_stiffness(&self, change: &[f64], force: &mut [f64], _positive: bool) {
        self.add(force, |tie| self.difference(tie, change) * -(self.strength * self.stiffness[tie]));
    }

    fn elements(&self) -> usize {
        self.stiffness.len()
    }

    fn element_nodes(&self, element: usize) -> &[u32] {
        &self.nodes[self.starts[element]..self.starts[element + 1]]
    }

    fn add_element_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        _positive: bool,
        out: &mut [f64],
    ) {
        let weights = &self.weights[self.starts[element]..self.starts[element + 1]];
        let value = self.strength * (stiffness * self.stiffness[element] + damping * self.damping[element]);
        let width = D * weights.len();
        for (a, wa) in weights.iter().enumerate() {
            for (b, wb) in weights.iter().enumerate() {
                for axis in 0..D {
                    out[(D * a + axis) * width + D * b + axis] += value * wa * wb;
                }
            }
        }
    }

    fn stable_step(&self, inverse_mass: &[f64]) -> f64 {
        // Gershgorin, as for springs.
        let mut sum = vec![0.0; inverse_mass.len()];
        for tie in 0..self.stiffness.len() {
            let size: f64 = self.of(tie).map(|(_, weight)| weight.abs()).sum();
            for (node, weight) in self.of(tie) {
                let row = self.strength * self.stiffness[tie] * weight.abs() * size;
                sum[node as usize] += row * inverse_mass[node as usize];
            }
        }
        let highest = sum.into_iter().fold(0.0, f64::max);
        if highest > 0.0 { 2.0 / highest.sqrt() } else { f64::INFINITY }
    }

    fn set_strength(&mut self, strength: f64) {
        self.strength = strength;
    }

    fn bytes(&self) -> usize {
        12 * self.nodes.len() + 8 * self.starts.len() + 8 * (2 + D) * self.apart.len()
    }

    fn boxed(&self) -> Box<dyn Force<D>> {
        Box::new(self.clone())
    }
}
