//! All deformable bodies of a world as one system: masses, forces, and the operators that integrators and the coupled solve need (spec 1.1).

mod assembly;

use crate::embedded::{Bound, EmbedError, Embedded, Embedding};
use crate::force::{Force, ForceError};
use assembly::Assembly;
use nalgebra::DMatrix;
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;
use splashdown_solve::{Block, CsrMatrix, InverseMass, SolveError, SparseCholesky, VelocityLayout};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Particles with lumped masses and all forces between them. Vectors are flat, `D` entries a particle.
#[derive(Debug, Clone)]
pub struct Solid<const D: usize> {
    mass: Vec<f64>,
    pinned: Vec<bool>,
    /// Acceleration of gravity (m/s^2).
    pub gravity: Vector<D>,
    forces: Vec<Box<dyn Force<D>>>,
    bound: Option<Arc<Bound>>,
    assembly: OnceLock<Arc<Assembly>>,
    /// The matrix of the last assembly, kept for its memory.
    matrix: Option<CsrMatrix>,
    factor: FactorCache,
    /// Positions of the last update; empty if something else has changed since.
    at: Vec<f64>,
    /// Names the state that forces are in: no two updates of any solids have the same.
    stamp: u64,
    /// Elastic forces at the last update, once they have been asked for.
    elastic: OnceLock<Vec<f64>>,
}

fn next_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A factor of the last matrix, kept for the analysis of its pattern only: it saves time and changes no result. A copy starts without.
#[derive(Default)]
pub(crate) struct FactorCache(pub(crate) Option<SparseCholesky>);

impl Clone for FactorCache {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl std::fmt::Debug for FactorCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "FactorCache(kept)" } else { "FactorCache(empty)" })
    }
}

/// Eigenvalues of an element's matrix, relative to its largest, that are zero.
const ROUNDING: f64 = 1e-14;

impl<const D: usize> Solid<D> {
    /// Particles of the given masses (kg), some of them pinned: they keep their velocity whatever pulls.
    pub fn new(mass: Vec<f64>, pinned: Vec<bool>, gravity: Vector<D>) -> Self {
        let (forces, factor) = (Vec::new(), FactorCache::default());
        let (assembly, elastic) = (OnceLock::new(), OnceLock::new());
        let (at, stamp) = (Vec::new(), next_stamp());
        Self {
            mass,
            pinned,
            gravity,
            forces,
            bound: None,
            assembly,
            matrix: None,
            factor,
            at,
            stamp,
            elastic,
        }
    }

    /// Adds a force.
    #[inline(never)]
    pub fn add<F: Force<D> + 'static>(&mut self, force: F) {
        self.forces.push(Box::new(force));
        self.forget_pattern();
    }

    /// Appends particles (kg) and returns the index of the first.
    pub fn add_particles(&mut self, mass: &[f64], pinned: &[bool]) -> u32 {
        let first = self.mass.len() as u32;
        self.mass.extend(mass);
        self.pinned.extend(pinned);
        self.forget_pattern();
        first
    }

    /// Binds particles to points of others, once, after all forces have been added: they have no freedom and no mass of their own any more; what acts on them acts on those that they follow.
    ///
    /// # Errors
    /// A particle that is bound twice, or to itself.
    pub fn embed(&mut self, embeddings: &[Embedding]) -> Result<(), EmbedError> {
        let bound = Arc::new(Bound::new(embeddings)?);
        for (particle, to) in bound.all() {
            let own = std::mem::take(&mut self.mass[particle as usize]);
            to.iter().for_each(|&(parent, weight)| self.mass[parent as usize] += weight * own);
            self.pinned[particle as usize] = true;
        }
        for force in &mut self.forces {
            if let Some(embedded) = Embedded::new(&**force, &bound) {
                *force = Box::new(embedded);
            }
        }
        self.bound = Some(bound);
        self.forget_pattern();
        Ok(())
    }

    /// Gives bound particles the positions, or velocities, that those that they follow have.
    pub fn place_embedded(&self, values: &mut [f64]) {
        if let Some(bound) = &self.bound {
            bound.place::<D>(values);
        }
    }

    /// Is the particle bound to others ([`Self::embed`])?
    pub fn is_embedded(&self, particle: usize) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.of(particle as u32).is_some())
    }

    fn forget_pattern(&mut self) {
        self.assembly = OnceLock::new();
        self.matrix = None;
        self.factor = FactorCache::default();
        self.forget_update();
    }

    fn forget_update(&mut self) {
        self.at.clear();
        self.stamp = next_stamp();
        self.elastic = OnceLock::new();
    }

    /// Names the state that all forces are in: the same only as long as nothing has changed.
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    pub(crate) fn factor_cache(&mut self) -> &mut FactorCache {
        &mut self.factor
    }

    /// The forces.
    pub fn forces(&self) -> &[Box<dyn Force<D>>] {
        &self.forces
    }

    /// The forces, to change strengths and activations.
    pub fn forces_mut(&mut self) -> &mut [Box<dyn Force<D>>] {
        self.forget_update();
        &mut self.forces
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    /// Lumped masses (kg).
    pub fn masses(&self) -> &[f64] {
        &self.mass
    }

    /// Is the particle pinned?
    pub fn pinned(&self) -> &[bool] {
        &self.pinned
    }

    /// Pins or frees a particle; one that is bound to others stays so.
    pub fn set_pinned(&mut self, particle: usize, pinned: bool) {
        self.pinned[particle] = pinned || self.is_embedded(particle);
    }

    /// `1/m`; zero for pinned particles.
    pub fn inverse_mass(&self, particle: usize) -> f64 {
        if self.pinned[particle] { 0.0 } else { 1.0 / self.mass[particle] }
    }

    /// `1/m` of all.
    pub fn inverse_masses(&self) -> Vec<f64> {
        (0..self.len()).map(|particle| self.inverse_mass(particle)).collect()
    }

    /// Takes new positions: one decomposition of every element.
    ///
    /// # Errors
    /// A state for which a force has no value.
    pub fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        if !self.at.is_empty() && self.at == position {
            return Ok(());
        }
        self.forget_update();
        self.forces.iter_mut().try_for_each(|force| force.update(position))?;
        self.at.extend_from_slice(position);
        Ok(())
    }

    /// Elastic energy (J) at the last update.
    pub fn energy(&self) -> f64 {
        self.forces.iter().map(|force| force.energy()).sum()
    }

    /// Potential energy of gravity (J), pinned particles excluded.
    pub fn gravity_energy(&self, position: &[f64]) -> f64 {
        let moment = |(particle, x): (usize, &[f64])| {
            let along: f64 = self.gravity.iter().zip(x).map(|(g, x)| g * x).sum();
            if self.pinned[particle] { 0.0 } else { -self.mass[particle] * along }
        };
        position.chunks_exact(D).enumerate().map(moment).sum()
    }

    /// Has every force a potential?
    pub fn is_conservative(&self) -> bool {
        self.forces.iter().all(|force| force.is_conservative())
    }

    /// Adds elastic forces (N) at the last update.
    pub fn add_elastic(&self, out: &mut [f64]) {
        let all = self.elastic.get_or_init(|| {
            let mut all = vec![0.0; D * self.len()];
            self.forces.iter().for_each(|force| force.add_elastic(&mut all));
            all
        });
        out.iter_mut().zip(all).for_each(|(out, force)| *out += force);
    }

    /// Adds what loads the elastic forces (N) at the last update: tension of fibres, and forces from outside.
    pub fn add_load(&self, out: &mut [f64]) {
        self.forces.iter().for_each(|force| force.add_load(out));
    }

    /// Adds the weight of every particle (N).
    pub fn add_gravity(&self, out: &mut [f64]) {
        for (out, mass) in out.chunks_exact_mut(D).zip(&self.mass) {
            for axis in 0..D {
                out[axis] += mass * self.gravity[axis];
            }
        }
    }

    /// Adds damping forces `D v` (N) at the last update.
    pub fn add_damping(&self, velocity: &[f64], out: &mut [f64]) {
        self.forces.iter().for_each(|force| force.add_damping(velocity, out));
    }

    /// Adds `K dx` at the last update.
    pub fn add_stiffness(&self, change: &[f64], out: &mut [f64], positive: bool) {
        self.forces.iter().for_each(|force| force.add_stiffness(change, out, positive));
    }

    /// Rows of the damping factor `C`.
    pub fn damping_rows(&self) -> usize {
        self.forces.iter().map(|force| force.damping_rows()).sum()
    }

    /// Largest step (s) for explicit elasticity in whatever state, without safety factor.
    pub fn stable_step(&self) -> f64 {
        let inverse = self.inverse_masses();
        self.forces.iter().map(|force| force.stable_step(&inverse)).fold(f64::INFINITY, f64::min)
    }

    /// The same for states near that of the last update.
    pub fn stable_step_now(&self) -> f64 {
        let inverse = self.inverse_masses();
        self.forces.iter().map(|force| force.stable_step_now(&inverse)).fold(f64::INFINITY, f64::min)
    }

    /// Can the largest explicit step change from step to step?
    pub fn stable_step_varies(&self) -> bool {
        self.forces.iter().any(|force| force.stable_step_varies())
    }

    /// Longest step (s) for which no edge of an element changes by more than a tenth: `0.1 / max |v_j - v_i| / |x_j - x_i|`.
    pub fn strain_rate_step(&self, position: &[f64], velocity: &[f64]) -> f64 {
        let at =
            |values: &[f64], node: u32| Vector::<D>::from_column_slice(&values[D * node as usize..][..D]);
        let of_element = |nodes: &[u32]| {
            let (x, v) = (at(position, nodes[0]), at(velocity, nodes[0]));
            nodes[1..].iter().fold(0.0f64, |most, &node| {
                let length = (at(position, node) - x).norm_squared();
                let speed = (at(velocity, node) - v).norm_squared();
                if length > 0.0 { most.max(speed / length) } else { most }
            })
        };
        const TOGETHER: usize = 1024;
        let of_force = |force: &dyn Force<D>| {
            let count = force.elements();
            let fastest = (0..count.div_ceil(TOGETHER)).into_par_iter().with_min_len(4).map(|chunk| {
                let own = TOGETHER * chunk..(TOGETHER * (chunk + 1)).min(count);
                own.fold(0.0f64, |most, element| most.max(of_element(force.element_nodes(element))))
            });
            fastest.reduce(|| 0.0, f64::max)
        };
        0.1 / self.forces.iter().map(|force| of_force(&**force)).fold(0.0, f64::max).sqrt()
    }

    /// Plastic flow at accepted positions (those of the last update).
    pub fn flow(&mut self, position: &[f64]) -> bool {
        let mut flowed = false;
        for force in &mut self.forces {
            flowed |= force.flow(position);
        }
        if flowed {
            self.forget_update();
        }
        flowed
    }

    /// Elements that are inside out at the last update.
    pub fn inverted(&self) -> usize {
        self.forces.iter().map(|force| force.inverted()).sum()
    }

    /// Parts of forces that the last update left out because they have no size.
    pub fn skipped(&self) -> usize {
        self.forces.iter().map(|force| force.skipped()).sum()
    }

    /// What a checkpoint must hold besides positions and velocities.
    pub fn history(&self) -> Vec<Vec<f64>> {
        self.forces.iter().map(|force| force.history()).collect()
    }

    /// Takes back what [`history`](Self::history) gave; false (and possibly a partial change) if it is of another world.
    pub fn restore(&mut self, history: &[Vec<f64>]) -> bool {
        self.forget_update();
        history.len() == self.forces.len()
            && self.forces.iter_mut().zip(history).all(|(force, history)| force.restore(history))
    }

    /// Bytes of memory held by the forces.
    pub fn bytes(&self) -> usize {
        self.forces.iter().map(|force| force.bytes()).sum()
    }

    /// Kinetic energy (J) of what is not pinned.
    pub fn kinetic_energy(&self, velocity: &[f64]) -> f64 {
        let of = |(particle, v): (usize, &[f64])| {
            if self.pinned[particle] {
                0.0
            } else {
                0.5 * self.mass[particle] * v.iter().map(|v| v * v).sum::<f64>()
            }
        };
        velocity.chunks_exact(D).enumerate().map(of).sum()
    }

    /// The damping factor `C` for a step of `dt`, as rows of the coupled system.
    pub fn damping_block(&self, dt: f64, layout: VelocityLayout) -> SolidDamping<'_, D> {
        SolidDamping { solid: self, dt, layout }
    }

    /// Distance (m) of each of `particles` to the nearest of those that it shares an element with; infinite for one without.
    pub(crate) fn spacing(&self, particles: &[u32], position: &[f64]) -> BTreeMap<u32, f64> {
        let at = |node: u32| Vector::<D>::from_column_slice(&position[D * node as usize..][..D]);
        let mut spacing: BTreeMap<u32, f64> = particles.iter().map(|&node| (node, f64::INFINITY)).collect();
        for force in self.forces.iter().filter(|_| !particles.is_empty()) {
            for element in 0..force.elements() {
                let nodes = force.element_nodes(element);
                for &node in nodes {
                    let Some(least) = spacing.get_mut(&node) else { continue };
                    let others = nodes.iter().filter(|&&other| other != node);
                    *least = others.map(|&other| (at(other) - at(node)).norm()).fold(*least, f64::min);
                }
            }
        }
        spacing
    }

    /// The implicit part of a velocity solve over `tau` seconds with elastic forces `ahead` seconds on: `tau (ahead K - D)` at the last update, `K` positive semidefinite; nothing in rows and
    /// columns of pinned particles.
    ///
    /// # Errors
    /// Values that are not finite.
    pub fn resistance(&mut self, tau: f64, ahead: f64) -> Result<CsrMatrix, SolveError> {
        let mut matrix = self.assemble(0.0, tau * ahead, tau, true)?.0.clone();
        let offsets = matrix.offsets().to_vec();
        let values = matrix.values_mut();
        for row in (0..offsets.len() - 1).filter(|row| self.pinned[row / D]) {
            values[offsets[row]..offsets[row + 1]].fill(0.0);
        }
        Ok(matrix)
    }

    /// `C` with `C^T C` the implicit part of a velocity solve as [`Self::resistance`] has it, but with the columns of pinned particles, too. Damping has the factors of its forces; with stiffness
    /// every element's matrix is split into its eigenvectors.
    ///
    /// # Errors
    /// Values that are not finite.
    pub fn resistance_factor(&self, tau: f64, ahead: f64) -> Result<CsrMatrix, SolveError>
    where
        Dim<D>: Space<D>,
    {
        let scalars = D * self.len();
        if ahead == 0.0 {
            let block = self.damping_block(tau, VelocityLayout::new::<D>(0, self.len(), 0));
            let what = || SolveError::OutOfMemory { what: "factor of damping".into() };
            return block.assemble().ok_or_else(what);
        }
        let mut rows = Vec::new();
        let mut dense = Vec::new();
        for force in &self.forces {
            for element in 0..force.elements() {
                let nodes = force.element_nodes(element);
                let size = nodes.len() * D;
                dense.clear();
                dense.resize(size * size, 0.0);
                force.add_element_matrix(element, tau * ahead, tau, true, &mut dense);
                let matrix = DMatrix::from_row_slice(size, size, &dense);
                let eigen = (&matrix + matrix.transpose()).scale(0.5).symmetric_eigen();
                let largest = eigen.eigenvalues.amax();
                for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
                    if *value > ROUNDING * largest {
                        let entry =
                            |(k, x): (usize, &f64)| (D * nodes[k / D] as usize + k % D, value.sqrt() * x);
                        rows.push(vector.iter().enumerate().map(entry).collect::<Vec<_>>());
                    }
                }
            }
        }
        CsrMatrix::from_rows(scalars, rows)
    }
}

/// `C` of all forces, stacked: damping as rows of the coupled system.
#[derive(Debug)]
pub struct SolidDamping<'a, const D: usize> {
    solid: &'a Solid<D>,
    dt: f64,
    layout: VelocityLayout,
}

impl<const D: usize> SolidDamping<'_, D> {
    /// Is there anything to damp?
    pub fn has_rows(&self) -> bool {
        self.solid.damping_rows() > 0
    }
}

impl<const D: usize> Block for SolidDamping<'_, D> {
    fn name(&self) -> &str {
        "element damping"
    }

    fn rows(&self) -> usize {
        self.solid.damping_rows()
    }

    fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        let velocity = &velocity[self.layout.particles()];
        let mut rest = out;
        for force in &self.solid.forces {
            let (part, after) = rest.split_at_mut(force.damping_rows());
            force.apply_factor(velocity, self.dt, part);
            rest = after;
        }
    }

    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        let impulse = &mut impulse[self.layout.particles()];
        let mut first = 0;
        for force in &self.solid.forces {
            let rows = force.damping_rows();
            force.add_factor_transpose(&z[first..first + rows], self.dt, impulse);
            first += rows;
        }
    }

    fn compliance(&self, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]) {
        if let Some(rows) = self.assemble() {
            splashdown_solve::sparse_diagonal(&rows, inverse_mass, out);
        }
    }

    fn assemble(&self) -> Option<CsrMatrix> {
        // Column by column within an element: the rows of one element see only its own nodes.
        let mut triplets = Vec::new();
        let mut first = 0;
        for force in &self.solid.forces {
            let elements = force.elements();
            let rows = force.damping_rows();
            if rows == 0 || elements == 0 {
                continue;
            }
            let each = rows / elements;
            // Elements are coloured greedily so that one application shows the columns of many elements at once.
            let colors = coloring(&**force, self.solid.len());
            let count = colors.iter().max().map_or(0, |&color| color as usize + 1);
            let corners = (0..elements).map(|element| force.element_nodes(element).len()).max().unwrap_or(0);
            let mut velocity = vec![0.0; D * self.solid.len()];
            let mut out = vec![0.0; rows];
            for color in 0..count as u32 {
                for corner in 0..corners {
                    for axis in 0..D {
                        velocity.fill(0.0);
                        for element in (0..elements).filter(|&element| colors[element] == color) {
                            if let Some(&node) = force.element_nodes(element).get(corner) {
                                velocity[D * node as usize + axis] = 1.0;
                            }
                        }
                        force.apply_factor(&velocity, self.dt, &mut out);
                        for element in (0..elements).filter(|&element| colors[element] == color) {
                            let Some(&node) = force.element_nodes(element).get(corner) else { continue };
                            let column = self.layout.particle(node as usize).start + axis;
                            for row in element * each..(element + 1) * each {
                                if out[row] != 0.0 {
                                    triplets.push((first + row, column, out[row]));
                                }
                            }
                        }
                    }
                }
            }
            first += rows;
        }
        CsrMatrix::from_triplets(first, self.layout.len(), &triplets).ok()
    }
}

/// Colours of the elements of a force: two elements that share a particle differ.
fn coloring<const D: usize>(force: &dyn Force<D>, particles: usize) -> Vec<u32> {
    let mut used: Vec<Vec<u32>> = vec![Vec::new(); particles];
    (0..force.elements())
        .map(|element| {
            let nodes = force.element_nodes(element);
            let mut color = 0;
            while nodes.iter().any(|&node| used[node as usize].contains(&color)) {
                color += 1;
            }
            for &node in nodes {
                used[node as usize].push(color);
            }
            color
        })
        .collect()
}
