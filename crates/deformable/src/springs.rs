//! Damped springs between two particles (spec/deformable-solids.md 3.12, factor of the damping from its 3.10).

use crate::Particles;
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// One spring.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// The two particles it joins.
    pub ends: [u32; 2],
    /// Force per stretch, `k` (N/m).
    pub stiffness: f64,
    /// Force per rate of stretch, `k_d` (N s/m).
    pub damping: f64,
    /// Length without force (m).
    pub rest_length: f64,
}

impl Spring {
    /// `k_d = ratio * 2 sqrt(k m_r)` with the reduced mass of the two ends: ratio 1 is critical for the isolated spring.
    ///
    /// The masses are the particles' own, also where one is pinned: its mass is then infinite to the spring.
    pub fn with_damping_ratio(
        ends: [u32; 2],
        stiffness: f64,
        ratio: f64,
        rest_length: f64,
        particles: &Particles,
    ) -> Self {
        let inverse: f64 = ends.iter().map(|&end| particles.inverse_mass(end as usize)).sum();
        let reduced = if inverse > 0.0 { 1.0 / inverse } else { 0.0 };
        Self { ends, stiffness, damping: ratio * 2.0 * (stiffness * reduced).sqrt(), rest_length }
    }
}

/// A spring that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpringError {
    /// An end that is not a particle, or both ends the same.
    #[error("spring {index} joins particles {a} and {b}; expected two different particles below {count}")]
    Ends {
        /// Index of the spring.
        index: usize,
        /// First end.
        a: u32,
        /// Second end.
        b: u32,
        /// Number of particles.
        count: usize,
    },
    /// A coefficient that is negative or not finite.
    #[error("spring {index} has {quantity} {value}; expected a finite number that is not negative")]
    Coefficient {
        /// Index of the spring.
        index: usize,
        /// Which coefficient, with its unit.
        quantity: &'static str,
        /// Offending value.
        value: f64,
    },
}

/// All springs, with what each particle needs to gather its forces in a fixed order.
#[derive(Debug, Clone)]
pub struct Springs {
    springs: Vec<Spring>,
    /// Springs at each particle, compressed rows; the low bit tells which end.
    incident_offsets: Vec<usize>,
    incident: Vec<u32>,
}

impl Default for Springs {
    fn default() -> Self {
        Self { springs: Vec::new(), incident_offsets: vec![0], incident: Vec::new() }
    }
}

impl Springs {
    /// Checks the springs against the number of particles.
    pub fn new(springs: Vec<Spring>, particle_count: usize) -> Result<Self, SpringError> {
        for (index, spring) in springs.iter().enumerate() {
            let [a, b] = spring.ends;
            if a == b || a as usize >= particle_count || b as usize >= particle_count {
                return Err(SpringError::Ends { index, a, b, count: particle_count });
            }
            for (quantity, value) in [
                ("stiffness (N/m)", spring.stiffness),
                ("damping (N s/m)", spring.damping),
                ("rest length (m)", spring.rest_length),
            ] {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(SpringError::Coefficient { index, quantity, value });
                }
            }
        }
        let mut incident_offsets = vec![0; particle_count + 1];
        for end in springs.iter().flat_map(|spring| spring.ends) {
            incident_offsets[end as usize + 1] += 1;
        }
        for particle in 0..particle_count {
            incident_offsets[particle + 1] += incident_offsets[particle];
        }
        let mut next = incident_offsets.clone();
        let mut incident = vec![0; 2 * springs.len()];
        for (index, spring) in springs.iter().enumerate() {
            for (which, &end) in spring.ends.iter().enumerate() {
                incident[next[end as usize]] = 2 * index as u32 + which as u32;
                next[end as usize] += 1;
            }
        }
        Ok(Self { springs, incident_offsets, incident })
    }

    /// The springs in their order.
    pub fn springs(&self) -> &[Spring] {
        &self.springs
    }

    /// Elastic potential energy (J).
    pub fn energy<const D: usize>(&self, position: &[Vector<D>]) -> f64 {
        self.springs
            .iter()
            .map(|spring| {
                let stretch = separation(spring, position).norm() - spring.rest_length;
                0.5 * spring.stiffness * stretch * stretch
            })
            .sum()
    }

    /// Adds the elastic force (N) on every particle; `force` has `D` entries a particle.
    pub fn add_elastic<const D: usize>(&self, position: &[Vector<D>], force: &mut [f64]) {
        let pull: Vec<Vector<D>> = self
            .springs
            .iter()
            .map(|spring| {
                let between = separation(spring, position);
                let length = between.norm();
                unit(&between) * (spring.stiffness * (length - spring.rest_length))
            })
            .collect();
        self.add_to_ends(&pull, force);
    }

    /// Adds to each particle the vectors of its springs, with a plus at the first end and a minus at the second.
    fn add_to_ends<const D: usize>(&self, of_spring: &[Vector<D>], at_particle: &mut [f64]) {
        for (particle, target) in at_particle.chunks_exact_mut(D).enumerate() {
            for &code in &self.incident[self.incident_offsets[particle]..self.incident_offsets[particle + 1]]
            {
                let sign = if code & 1 == 0 { 1.0 } else { -1.0 };
                let vector = &of_spring[(code >> 1) as usize];
                for axis in 0..D {
                    target[axis] += sign * vector[axis];
                }
            }
        }
    }

    /// The factor `C` of the damping at the given positions, `C^T C = -dt D`, as rows for the coupled system.
    ///
    /// `particle_offset` is where the particles' velocities start in the stacked vector.
    pub fn damping_rows<const D: usize>(
        &self,
        position: &[Vector<D>],
        dt: f64,
        particle_offset: usize,
    ) -> SpringDamping<'_, D> {
        let direction = self
            .springs
            .iter()
            .map(|spring| -unit(&separation(spring, position)) * (dt * spring.damping).sqrt())
            .collect();
        SpringDamping { springs: self, direction, particle_offset }
    }

    /// Largest step (s) for which explicit elasticity is stable: `2 / omega` with a Gershgorin bound of the highest frequency.
    pub fn stable_step(&self, particles: &Particles) -> f64 {
        let highest = (0..particles.len())
            .map(|particle| {
                let stiffness: f64 = self.incident
                    [self.incident_offsets[particle]..self.incident_offsets[particle + 1]]
                    .iter()
                    .map(|code| self.springs[(code >> 1) as usize].stiffness)
                    .sum();
                2.0 * stiffness * particles.inverse_mass(particle)
            })
            .fold(0.0, f64::max);
        if highest > 0.0 { 2.0 / highest.sqrt() } else { f64::INFINITY }
    }
}

/// From the first end to the second.
fn separation<const D: usize>(spring: &Spring, position: &[Vector<D>]) -> Vector<D> {
    position[spring.ends[1] as usize] - position[spring.ends[0] as usize]
}

/// Direction of `v`; zero where it has none, which drops the spring's force and damping (spec 3.12).
fn unit<const D: usize>(v: &Vector<D>) -> Vector<D> {
    let length = v.norm();
    if length > 0.0 { v / length } else { Vector::zeros() }
}

/// `C`: one row `sqrt(dt k_d) (d, -d)` a spring, with `d` the unit vector from the second end to the first.
#[derive(Debug)]
pub struct SpringDamping<'a, const D: usize> {
    springs: &'a Springs,
    direction: Vec<Vector<D>>,
    particle_offset: usize,
}

impl<const D: usize> SpringDamping<'_, D> {
    fn end(&self, spring: usize, which: usize) -> usize {
        self.particle_offset + D * self.springs.springs[spring].ends[which] as usize
    }
}

impl<const D: usize> SpringDamping<'_, D> {
    /// Name.
    pub fn name(&self) -> &str {
        "spring damping"
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.direction.len()
    }

    /// `C v`.
    pub fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        for (row, value) in out.iter_mut().enumerate() {
            let (a, b) = (self.end(row, 0), self.end(row, 1));
            *value = (0..D)
                .map(|axis| self.direction[row][axis] * (velocity[a + axis] - velocity[b + axis]))
                .sum();
        }
    }

    /// `C^T z`.
    pub fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        let of_spring: Vec<Vector<D>> =
            self.direction.iter().zip(z).map(|(direction, &z)| direction * z).collect();
        let end = self.particle_offset + D * (self.springs.incident_offsets.len() - 1);
        self.springs.add_to_ends(&of_spring, &mut impulse[self.particle_offset..end]);
    }

    /// One.
    pub fn compliance(&self, out: &mut [f64]) {
        out.fill(1.0);
    }
}
