//! Hard bindings of particles to points of others (spec/rigid-deformable-coupling.md 3.9): `x = sum w_i x_i`, `v = sum w_i v_i`. With `v = B w` in terms of the particles that are free, a force `F(x)` becomes
//! `B^T F(B w)`, its damping `B^T D B` with the factor `C B`, and its stiffness `B^T K B`: the same contract, so that every integrator takes it. Bound particles that others are bound to are seen through.

use crate::force::{Force, ForceError, read};
use splashdown_math::Vector;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A particle and what it is bound to: particles with weights that sum to one.
pub type Embedding = (u32, Vec<(u32, f64)>);

/// Bindings that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// A particle is bound twice.
    #[error("particle {0} is bound twice")]
    Twice(u32),
    /// Bindings in a circle.
    #[error("particle {0} is bound, by way of others, to itself")]
    Circle(u32),
}

/// All bound particles with those free ones, or carried by rigid bodies, that they follow.
#[derive(Debug)]
pub(crate) struct Bound {
    to: BTreeMap<u32, Vec<(u32, f64)>>,
}

impl Bound {
    pub fn new(embeddings: &[Embedding]) -> Result<Self, EmbedError> {
        let mut direct = BTreeMap::new();
        for (particle, to) in embeddings {
            if direct.insert(*particle, to.as_slice()).is_some() {
                return Err(EmbedError::Twice(*particle));
            }
        }
        let mut to = BTreeMap::new();
        for &(particle, _) in embeddings {
            let mut parents = BTreeMap::new();
            flatten(particle, 1.0, &direct, direct.len(), &mut parents)?;
            to.insert(particle, parents.into_iter().collect());
        }
        Ok(Self { to })
    }

    pub fn of(&self, particle: u32) -> Option<&[(u32, f64)]> {
        self.to.get(&particle).map(Vec::as_slice)
    }

    /// Bound particles, ascending, with what they follow.
    pub fn all(&self) -> impl Iterator<Item = (u32, &[(u32, f64)])> {
        self.to.iter().map(|(particle, to)| (*particle, to.as_slice()))
    }

    /// `B`: gives bound particles what those that they follow have.
    pub fn place<const D: usize>(&self, values: &mut [f64]) {
        for (particle, to) in self.all() {
            let sum: Vector<D> = to.iter().map(|&(parent, weight)| read::<D>(values, parent) * weight).sum();
            values[D * particle as usize..][..D].copy_from_slice(sum.as_slice());
        }
    }

    /// `B^T`: takes what acts on bound particles off them, for those that they follow.
    fn gather<const D: usize>(&self, values: &mut [f64]) {
        for (particle, to) in self.all() {
            let own = read::<D>(values, particle);
            values[D * particle as usize..][..D].fill(0.0);
            for &(parent, weight) in to {
                for axis in 0..D {
                    values[D * parent as usize + axis] += weight * own[axis];
                }
            }
        }
    }
}

/// Adds the free particles that `particle` follows with `factor`.
fn flatten(
    particle: u32,
    factor: f64,
    direct: &BTreeMap<u32, &[(u32, f64)]>,
    depth: usize,
    out: &mut BTreeMap<u32, f64>,
) -> Result<(), EmbedError> {
    for &(parent, weight) in direct[&particle].iter().filter(|(_, weight)| *weight != 0.0) {
        match (direct.contains_key(&parent), depth) {
            (false, _) => *out.entry(parent).or_default() += factor * weight,
            (true, 0) => return Err(EmbedError::Circle(particle)),
            (true, _) => flatten(parent, factor * weight, direct, depth - 1, out)?,
        }
    }
    Ok(())
}

/// A force on bound particles as it acts on those that are free.
#[derive(Debug, Clone)]
pub(crate) struct Embedded<const D: usize> {
    inner: Box<dyn Force<D>>,
    bound: Arc<Bound>,
    /// Free particles of each element.
    nodes: Vec<u32>,
    starts: Vec<usize>,
}

impl<const D: usize> Embedded<D> {
    /// The force, if any of its particles is bound.
    pub fn new(inner: &dyn Force<D>, bound: &Arc<Bound>) -> Option<Self> {
        let (mut nodes, mut starts, mut any) = (Vec::new(), vec![0], false);
        for element in 0..inner.elements() {
            let first = nodes.len();
            for &node in inner.element_nodes(element) {
                match bound.of(node) {
                    None => nodes.push(node),
                    Some(to) => {
                        any = true;
                        nodes.extend(to.iter().map(|(parent, _)| *parent));
                    }
                }
            }
            nodes[first..].sort_unstable();
            let mut kept = first;
            for at in first..nodes.len() {
                if at == first || nodes[at] != nodes[kept - 1] {
                    nodes[kept] = nodes[at];
                    kept += 1;
                }
            }
            nodes.truncate(kept);
            starts.push(kept);
        }
        any.then(|| Self { inner: inner.boxed(), bound: bound.clone(), nodes, starts })
    }

    fn spread(&self, values: &[f64]) -> Vec<f64> {
        let mut all = values.to_vec();
        self.bound.place::<D>(&mut all);
        all
    }

    /// Adds what `add` gives for all particles to `out` of the free ones.
    fn add(&self, out: &mut [f64], add: impl FnOnce(&mut [f64])) {
        let mut all = vec![0.0; out.len()];
        add(&mut all);
        self.bound.gather::<D>(&mut all);
        out.iter_mut().zip(&all).for_each(|(out, value)| *out += value);
    }
}

impl<const D: usize> Embedded<D> {
    /// `1/m` of all particles as the inner force feels them.
    fn inner_inverses(&self, inverse_mass: &[f64]) -> Vec<f64> {
        // Masses `d` of all particles with `B^T d B <= m`: each free one shares its mass among itself and what follows it, by weight.
        let mut load = vec![1.0; inverse_mass.len()];
        for (parent, weight) in self.bound.all().flat_map(|(_, to)| to) {
            load[*parent as usize] += weight;
        }
        let mut inverses: Vec<f64> =
            inverse_mass.iter().zip(&load).map(|(inverse, load)| inverse * load).collect();
        for (particle, to) in self.bound.all() {
            inverses[particle as usize] =
                to.iter().map(|(parent, _)| inverses[*parent as usize]).fold(0.0, f64::max);
        }
        inverses
    }
}

impl<const D: usize> Force<D> for Embedded<D> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        let all = self.spread(position);
        self.inner.update(&all)
    }

    fn energy(&self) -> f64 {
        self.inner.energy()
    }

    fn is_conservative(&self) -> bool {
        self.inner.is_conservative()
    }

    fn add_elastic(&self, force: &mut [f64]) {
        self.add(force, |all| self.inner.add_elastic(all));
    }

    fn add_load(&self, force: &mut [f64]) {
        self.add(force, |all| self.inner.add_load(all));
    }

    fn add_damping(&self, velocity: &[f64], force: &mut [f64]) {
        let velocity = self.spread(velocity);
        self.add(force, |all| self.inner.add_damping(&velocity, all));
    }

    fn damping_rows(&self) -> usize {
        self.inner.damping_rows()
    }

    fn apply_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]) {
        self.inner.apply_factor(&self.spread(velocity), dt, out);
    }

    fn add_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]) {
        self.add(force, |all| self.inner.add_factor_transpose(w, dt, all));
    }

    fn add_stiffness(&self, change: &[f64], force: &mut [f64], positive: bool) {
        let change = self.spread(change);
        self.add(force, |all| self.inner.add_stiffness(&change, all, positive));
    }

    fn elements(&self) -> usize {
        self.inner.elements()
    }

    fn element_nodes(&self, element: usize) -> &[u32] {
        &self.nodes[self.starts[element]..self.starts[element + 1]]
    }

    fn add_element_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        positive: bool,
        out: &mut [f64],
    ) {
        let (inner, nodes) = (self.inner.element_nodes(element), self.element_nodes(element));
        let (width, size) = (D * inner.len(), D * nodes.len());
        let mut dense = vec![0.0; width * width];
        self.inner.add_element_matrix(element, stiffness, damping, positive, &mut dense);
        // B of this element: the places of the free particles that each of its own follows.
        let follows = |node: &u32| -> Vec<(usize, f64)> {
            let alone = [(*node, 1.0)];
            let to = self.bound.of(*node).unwrap_or(&alone);
            to.iter()
                .map(|(parent, weight)| (nodes.partition_point(|other| other < parent), *weight))
                .collect()
        };
        let follows: Vec<Vec<(usize, f64)>> = inner.iter().map(follows).collect();
        for (a, rows) in follows.iter().enumerate() {
            for (b, columns) in follows.iter().enumerate() {
                for &(row, wa) in rows {
                    for &(column, wb) in columns {
                        for i in 0..D {
                            for k in 0..D {
                                out[(D * row + i) * size + D * column + k] +=
                                    wa * wb * dense[(D * a + i) * width + D * b + k];
                            }
                        }
                    }
                }
            }
        }
    }

    fn stable_step(&self, inverse_mass: &[f64]) -> f64 {
        self.inner.stable_step(&self.inner_inverses(inverse_mass))
    }

    fn stable_step_now(&self, inverse_mass: &[f64]) -> f64 {
        self.inner.stable_step_now(&self.inner_inverses(inverse_mass))
    }

    fn stable_step_varies(&self) -> bool {
        self.inner.stable_step_varies()
    }

    fn flow(&mut self, position: &[f64]) -> bool {
        let all = self.spread(position);
        self.inner.flow(&all)
    }

    fn set_strength(&mut self, strength: f64) {
        self.inner.set_strength(strength);
    }

    fn set_activation(&mut self, activation: f64) {
        self.inner.set_activation(activation);
    }

    fn set_family_activation(&mut self, family: usize, activation: f64) {
        self.inner.set_family_activation(family, activation);
    }

    fn stresses(&self) -> Option<Vec<f64>> {
        self.inner.stresses()
    }

    fn inverted(&self) -> usize {
        self.inner.inverted()
    }

    fn skipped(&self) -> usize {
        self.inner.skipped()
    }

    fn history(&self) -> Vec<f64> {
        self.inner.history()
    }

    fn restore(&mut self, history: &[f64]) -> bool {
        self.inner.restore(history)
    }

    fn bytes(&self) -> usize {
        self.inner.bytes() + 4 * self.nodes.len() + 8 * self.starts.len()
    }

    fn boxed(&self) -> Box<dyn Force<D>> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::{EdgeSpring, EdgeSprings};
    use crate::solid::Solid;
    use crate::testing::*;
    use splashdown_solve::testing::TestNumbers;

    /// Springs of a triangle, one corner of which is bound to two free particles, another to the first and a free one.
    fn bound_springs() -> Solid<3> {
        let inverses = [1.0; 6];
        let spring = |ends: [u32; 2]| EdgeSpring::with_modulus(ends, 5.0, 0.7, 0.6, &inverses);
        let mut solid = Solid::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![false; 6], Vector::zeros());
        solid.add(EdgeSprings::<3>::new("springs", &[spring([0, 4]), spring([4, 5]), spring([5, 0])]));
        // Particle 5 follows 4, which follows 1 and 2: a chain.
        solid.embed(&[(5, vec![(4, 0.5), (3, 0.5)]), (4, vec![(1, 0.25), (2, 0.75)])]).unwrap();
        solid
    }

    #[test]
    fn bound_forces_keep_the_contract() {
        let solid = bound_springs();
        let mut force = solid.forces()[0].boxed();
        let mut random = TestNumbers::new(3);
        let mut numbers =
            |scale: f64| -> Vec<f64> { (0..18).map(|_| scale * random.uniform(-1.0, 1.0)).collect() };
        let mut direction = numbers(1.0);
        // What is bound has no freedom of its own.
        direction[12..].fill(0.0);
        let x = numbers(1.0);
        assert!(energy_gradient_error(&mut *force, &x, &direction, 1e-6).unwrap() < 1e-7);
        assert!(stiffness_error(&mut *force, &x, &direction, 1e-6).unwrap() < 1e-6);
        for positive in [false, true] {
            assert!(matrix_errors(&*force, &direction, positive).iter().all(|error| *error < 1e-12));
        }
        assert!(factor_error(&*force, &direction, 0.01) < 1e-12);
        let rows = numbers(1.0)[..force.damping_rows()].to_vec();
        assert!(adjoint_error(&*force, &direction, &rows, 0.01) < 1e-12);
        let mut elastic = vec![0.0; 18];
        force.add_elastic(&mut elastic);
        assert!(elastic[12..].iter().all(|f| *f == 0.0), "nothing pushes what is bound");
    }

    #[test]
    fn chains_are_flattened_and_masses_pass_to_what_is_free() {
        let solid = bound_springs();
        let mut x = vec![0.0; 18];
        for particle in 0..4 {
            x[3 * particle] = (particle * particle) as f64;
        }
        solid.place_embedded(&mut x);
        let middle = 0.25 + 0.75 * 4.0;
        assert_eq!([x[12], x[15]], [middle, 0.5 * middle + 0.5 * 9.0]);
        let masses = [1.0, 2.0 + 0.25 * (5.0 + 3.0), 3.0 + 0.75 * (5.0 + 3.0), 4.0 + 3.0, 0.0, 0.0];
        assert_eq!(solid.masses(), masses);
        assert!(solid.pinned()[4] && solid.pinned()[5] && !solid.pinned()[1]);
        let mut circle = Solid::<3>::new(vec![1.0; 3], vec![false; 3], Vector::zeros());
        let round = [(0, vec![(1, 1.0)]), (1, vec![(0, 1.0)])];
        assert!(matches!(circle.embed(&round), Err(EmbedError::Circle(_))));
        let twice = [(0, vec![(1, 1.0)]), (0, vec![(2, 1.0)])];
        assert_eq!(circle.embed(&twice), Err(EmbedError::Twice(0)));
    }
}
