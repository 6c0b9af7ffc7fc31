//! Springs along edges (spec 3.12): edge and bending springs of cloth, with plastic rest lengths; bending springs are edge springs between the two unshared
//! corners of neighbouring triangles.

use crate::element::Partition;
use crate::force::{Force, ForceError, read};
use splashdown_geometry::mesh::TriangleMesh;
use splashdown_math::{Matrix, Vector};

/// Plasticity of springs: the rest length follows when the strain passes the yield.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpringPlasticity {
    /// Strain at which a spring yields.
    pub yield_strain: f64,
    /// Growth of the yield strain per plastic strain.
    pub hardening: f64,
    /// The rest length stays within this factor of the first one.
    pub limit: f64,
}

/// Springs between pairs of particles, each with its own stiffness and damping.
#[derive(Debug, Clone)]
pub struct EdgeSprings<const D: usize> {
    name: String,
    ends: Vec<u32>,
    /// Force per stretch, `E_s / L_0` (N/m).
    stiffness: Vec<f64>,
    /// Force per rate of stretch (N s/m).
    damping: Vec<f64>,
    /// Length without force now (m).
    rest: Vec<f64>,
    /// Length without force at the start (m).
    first_rest: Vec<f64>,
    yield_strain: Vec<f64>,
    plasticity: Option<SpringPlasticity>,
    strength: f64,
    direction: Vec<Vector<D>>,
    length: Vec<f64>,
    partition: Partition,
}

/// One spring of [`EdgeSprings::new`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeSpring {
    /// The particles it joins.
    pub ends: [u32; 2],
    /// Force per stretch (N/m).
    pub stiffness: f64,
    /// Force per rate of stretch (N s/m).
    pub damping: f64,
    /// Length without force (m).
    pub rest: f64,
}

impl EdgeSpring {
    /// From the spring's Young's modulus `E_s` (a force, N) and the overdamping fraction: `k = E_s / L_0`, `k_d = 2 fraction sqrt(k m_r)`.
    pub fn with_modulus(
        ends: [u32; 2],
        modulus: f64,
        fraction: f64,
        rest: f64,
        inverse_mass: &[f64],
    ) -> Self {
        let stiffness = modulus / rest;
        let inverse: f64 = ends.iter().map(|&end| inverse_mass[end as usize]).sum();
        let reduced = if inverse > 0.0 { 1.0 / inverse } else { 0.0 };
        Self { ends, stiffness, damping: 2.0 * fraction * (stiffness * reduced).sqrt(), rest }
    }
}

/// The pairs of corners that bending springs join: across every inner edge of a surface.
pub fn bending_pairs<const B: usize>(mesh: &TriangleMesh<B>) -> Vec<[u32; 2]> {
    hinges(mesh).iter().map(|hinge| [hinge[0], hinge[1]]).collect()
}

/// The hinges of a surface: two wing corners, then the two corners of the common edge, with the edge in the order of the first triangle.
pub fn hinges<const B: usize>(mesh: &TriangleMesh<B>) -> Vec<[u32; 4]> {
    let (edges, incidence) = mesh.edge_elements();
    let mut out = Vec::new();
    for (edge, elements) in edges.iter().zip(incidence.rows()) {
        let &[first, second] = elements else { continue };
        let opposite = |element: u32| {
            mesh.elements[element as usize].iter().copied().find(|corner| !edge.contains(corner))
        };
        let (Some(a), Some(b)) = (opposite(first), opposite(second)) else { continue };
        let corners = mesh.elements[first as usize];
        let at = corners.iter().position(|&corner| corner == a).unwrap_or(0);
        out.push([a, b, corners[(at + 1) % 3], corners[(at + 2) % 3]]);
    }
    out
}

impl<const D: usize> EdgeSprings<D> {
    /// All springs.
    pub fn new(name: impl Into<String>, springs: &[EdgeSpring]) -> Self {
        let ends: Vec<u32> = springs.iter().flat_map(|spring| spring.ends).collect();
        let partition = Partition::new(&ends, 2, 1024);
        Self {
            name: name.into(),
            stiffness: springs.iter().map(|spring| spring.stiffness).collect(),
            damping: springs.iter().map(|spring| spring.damping).collect(),
            rest: springs.iter().map(|spring| spring.rest).collect(),
            first_rest: springs.iter().map(|spring| spring.rest).collect(),
            yield_strain: Vec::new(),
            plasticity: None,
            strength: 1.0,
            direction: vec![Vector::zeros(); springs.len()],
            length: vec![0.0; springs.len()],
            partition,
            ends,
        }
    }

    /// Makes the springs plastic.
    #[must_use]
    pub fn with_plasticity(mut self, plasticity: SpringPlasticity) -> Self {
        self.yield_strain = vec![plasticity.yield_strain; self.rest.len()];
        self.plasticity = Some(plasticity);
        self
    }

    /// Rest lengths now (m).
    pub fn rest_lengths(&self) -> &[f64] {
        &self.rest
    }

    fn along(&self, spring: usize, vector: &[f64]) -> f64 {
        let [a, b] = [self.ends[2 * spring], self.ends[2 * spring + 1]];
        self.direction[spring].dot(&(read::<D>(vector, b) - read::<D>(vector, a)))
    }

    /// Adds to the ends of each spring: `value` along the direction on the first, the opposite on the second.
    fn pull(&self, out: &mut [f64], value: impl Fn(usize) -> f64 + Sync) {
        self.partition.assemble::<D>(out, |chunk, local| {
            for spring in chunk.first..chunk.last {
                let size = value(spring);
                let [a, b] = [chunk.corners(spring)[0], chunk.corners(spring)[1]];
                for axis in 0..D {
                    let push = size * self.direction[spring][axis];
                    local[a as usize][axis] += push;
                    local[b as usize][axis] -= push;
                }
            }
        });
    }

    /// Stiffness of one spring along it and across it.
    fn block(&self, spring: usize, positive: bool) -> Matrix<D> {
        let d = &self.direction[spring];
        let along = d * d.transpose();
        let length = self.length[spring];
        let across = if length > 0.0 { 1.0 - self.rest[spring] / length } else { 0.0 };
        let across = if positive { across.max(0.0) } else { across };
        (along + (Matrix::identity() - along) * across) * (self.strength * self.stiffness[spring])
    }
}

impl<const D: usize> Force<D> for EdgeSprings<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        for spring in 0..self.rest.len() {
            let between =
                read::<D>(position, self.ends[2 * spring + 1]) - read::<D>(position, self.ends[2 * spring]);
            let length = between.norm();
            if !length.is_finite() {
                return Err(ForceError::NotFinite { force: self.name.clone(), element: spring });
            }
            self.length[spring] = length;
            // Without direction a spring of length zero has neither force nor damping (spec 3.12).
            self.direction[spring] = if length > 0.0 { between / length } else { Vector::zeros() };
        }
        Ok(())
    }

    fn energy(&self) -> f64 {
        (0..self.rest.len())
            .map(|spring| {
                0.5 * self.strength
                    * self.stiffness[spring]
                    * (self.length[spring] - self.rest[spring]).powi(2)
            })
            .sum()
    }

    fn add_elastic(&self, force: &mut [f64]) {
        self.pull(force, |spring| {
            self.strength * self.stiffness[spring] * (self.length[spring] - self.rest[spring])
        });
    }

    fn add_damping(&self, velocity: &[f64], force: &mut [f64]) {
        self.pull(force, |spring| self.strength * self.damping[spring] * self.along(spring, velocity));
    }

    fn damping_rows(&self) -> usize {
        if self.damping.iter().any(|&damping| damping > 0.0) { self.rest.len() } else { 0 }
    }

    fn apply_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]) {
        for (spring, row) in out.iter_mut().enumerate() {
            *row = -(dt * self.strength * self.damping[spring]).sqrt() * self.along(spring, velocity);
        }
    }

    fn add_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]) {
        if self.damping_rows() > 0 {
            self.pull(force, |spring| (dt * self.strength * self.damping[spring]).sqrt() * w[spring]);
        }
    }

    fn add_stiffness(&self, change: &[f64], force: &mut [f64], positive: bool) {
        self.partition.assemble::<D>(force, |chunk, local| {
            for spring in chunk.first..chunk.last {
                let (a, b) = (self.ends[2 * spring], self.ends[2 * spring + 1]);
                let push = self.block(spring, positive) * (read::<D>(change, b) - read::<D>(change, a));
                let [a, b] = [chunk.corners(spring)[0], chunk.corners(spring)[1]];
                for axis in 0..D {
                    local[a as usize][axis] -= push[axis];
                    local[b as usize][axis] += push[axis];
                }
            }
        });
    }

    fn elements(&self) -> usize {
        self.rest.len()
    }

    fn element_nodes(&self, element: usize) -> &[u32] {
        &self.ends[2 * element..2 * element + 2]
    }

    fn add_element_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        positive: bool,
        out: &mut [f64],
    ) {
        let d = &self.direction[element];
        let block = self.block(element, positive) * stiffness
            + d * d.transpose() * (damping * self.strength * self.damping[element]);
        for a in 0..2 {
            for b in 0..2 {
                for i in 0..D {
                    for k in 0..D {
                        out[(a * D + i) * 2 * D + b * D + k] +=
                            if a == b { block[(i, k)] } else { -block[(i, k)] };
                    }
                }
            }
        }
    }

    fn stable_step(&self, inverse_mass: &[f64]) -> f64 {
        // Gershgorin: omega^2 <= max over particles of 2 sum k / m.
        let mut sum = vec![0.0; inverse_mass.len()];
        for (ends, k) in self.ends.chunks_exact(2).zip(&self.stiffness) {
            for &end in ends {
                sum[end as usize] += 2.0 * self.strength * k * inverse_mass[end as usize];
            }
        }
        let highest = sum.into_iter().fold(0.0, f64::max);
        // The other limits are where c dt / h = 1, about half of 2 / omega.
        if highest > 0.0 { 2.0 / highest.sqrt() } else { f64::INFINITY }
    }

    fn flow(&mut self, _position: &[f64]) -> bool {
        let Some(law) = self.plasticity else { return false };
        let mut flowed = false;
        for spring in 0..self.rest.len() {
            let strain = self.length[spring] / self.rest[spring] - 1.0;
            let limit = self.yield_strain[spring];
            if strain.abs() <= limit {
                continue;
            }
            // The rest length at which the strain is just the yield strain.
            let wanted = self.length[spring] / (1.0 + limit.copysign(strain));
            let (low, high) = (self.first_rest[spring] / law.limit, self.first_rest[spring] * law.limit);
            let next = wanted.clamp(low, high);
            let moved = (next / self.rest[spring] - 1.0).abs();
            if moved > 0.0 {
                self.rest[spring] = next;
                self.yield_strain[spring] += law.hardening * moved;
                flowed = true;
            }
        }
        flowed
    }

    fn set_strength(&mut self, strength: f64) {
        self.strength = strength;
    }

    fn history(&self) -> Vec<f64> {
        if self.plasticity.is_some() {
            [self.rest.as_slice(), &self.yield_strain].concat()
        } else {
            Vec::new()
        }
    }

    fn restore(&mut self, history: &[f64]) -> bool {
        let count = self.rest.len();
        if self.plasticity.is_none() {
            return history.is_empty();
        }
        if history.len() != 2 * count {
            return false;
        }
        self.rest.copy_from_slice(&history[..count]);
        self.yield_strain.copy_from_slice(&history[count..]);
        true
    }

    fn bytes(&self) -> usize {
        4 * self.ends.len() + 8 * self.rest.len() * (5 + D) + self.partition.bytes()
    }

    fn boxed(&self) -> Box<dyn Force<D>> {
        Box::new(self.clone())
    }
}
