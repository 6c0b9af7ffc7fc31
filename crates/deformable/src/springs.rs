//! Damped springs between two particles (spec/deformable-solids.md 3.12, factor of the damping from its 3.10).

use crate::Particles;
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;
use splashdown_solve::{Block, CsrMatrix, InverseMass, VelocityLayout, sparse_diagonal};

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

    /// Adds springs between `particle_count` particles that come after all particles so far; the ends are counted from the first of these.
    ///
    /// Costs as much as what is added, so that many bodies can be added one by one.
    pub fn append(&mut self, springs: Vec<Spring>, particle_count: usize) -> Result<(), SpringError> {
        let added = Self::new(springs, particle_count)?;
        let first_particle = (self.incident_offsets.len() - 1) as u32;
        let first_spring = self.springs.len() as u32;
        let base = self.incident.len();
        self.springs.extend(
            added
                .springs
                .iter()
                .map(|spring| Spring { ends: spring.ends.map(|end| end + first_particle), ..*spring }),
        );
        self.incident.extend(added.incident.iter().map(|code| code + 2 * first_spring));
        self.incident_offsets.extend(added.incident_offsets[1..].iter().map(|offset| offset + base));
        Ok(())
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
    pub fn damping_rows<const D: usize>(
        &self,
        position: &[Vector<D>],
        dt: f64,
        layout: VelocityLayout,
    ) -> SpringDamping<'_, D> {
        let direction = self
            .springs
            .iter()
            .map(|spring| -unit(&separation(spring, position)) * (dt * spring.damping).sqrt())
            .collect();
        SpringDamping { springs: self, direction, layout }
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
    layout: VelocityLayout,
}

impl<const D: usize> SpringDamping<'_, D> {
    /// Is there anything to damp?
    pub fn has_rows(&self) -> bool {
        !self.direction.is_empty()
    }

    /// Where the velocity of an end of a spring starts in the stacked vector.
    fn end(&self, spring: usize, which: usize) -> usize {
        self.layout.particle(self.springs.springs[spring].ends[which] as usize).start
    }
}

impl<const D: usize> Block for SpringDamping<'_, D> {
    fn name(&self) -> &str {
        "spring damping"
    }

    fn rows(&self) -> usize {
        self.direction.len()
    }

    fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        for (row, value) in out.iter_mut().enumerate() {
            let (a, b) = (self.end(row, 0), self.end(row, 1));
            *value = (0..D)
                .map(|axis| self.direction[row][axis] * (velocity[a + axis] - velocity[b + axis]))
                .sum();
        }
    }

    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        let of_spring: Vec<Vector<D>> =
            self.direction.iter().zip(z).map(|(direction, &z)| direction * z).collect();
        self.springs.add_to_ends(&of_spring, &mut impulse[self.layout.particles()]);
    }

    fn compliance(&self, out: &mut [f64]) {
        out.fill(1.0);
    }

    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]) {
        if let Some(rows) = self.assemble() {
            sparse_diagonal(&rows, inverse_mass, out);
        }
    }

    fn assemble(&self) -> Option<CsrMatrix> {
        let rows = self.direction.iter().enumerate().map(|(row, direction)| {
            let (a, b) = (self.end(row, 0), self.end(row, 1));
            let first = (0..D).map(move |axis| (a + axis, direction[axis]));
            first.chain((0..D).map(move |axis| (b + axis, -direction[axis])))
        });
        CsrMatrix::from_rows(self.layout.len(), rows).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_solve::testing::{TestNumbers, assert_adjoint};

    fn tangle<const D: usize>(random: &mut TestNumbers) -> (Vec<Vector<D>>, Springs) {
        let position = (0..12).map(|_| Vector::from_fn(|_, _| random.uniform(-1.0, 1.0))).collect();
        let springs = (0..30u32)
            .map(|i| Spring {
                ends: [i % 12, (i % 12 + 1 + i / 12) % 12],
                stiffness: random.uniform(1.0, 50.0),
                damping: random.uniform(0.0, 3.0),
                rest_length: random.uniform(0.1, 1.0),
            })
            .collect();
        (position, Springs::new(springs, 12).unwrap())
    }

    fn force_is_minus_the_gradient_of_the_energy<const D: usize>() {
        let (position, springs) = tangle::<D>(&mut TestNumbers::new(3));
        let mut force = vec![0.0; 12 * D];
        springs.add_elastic(&position, &mut force);
        for i in 0..12 * D {
            let energy = |shift: f64| {
                let mut moved = position.clone();
                moved[i / D][i % D] += shift;
                springs.energy(&moved)
            };
            let slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
            assert!((force[i] + slope).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {} {slope}", force[i]);
        }
    }

    fn rows_are_adjoint_and_factor_the_damping<const D: usize>()
    where
        splashdown_math::Dim<D>: splashdown_math::Space<D>,
    {
        let mut random = TestNumbers::new(5);
        let (position, springs) = tangle::<D>(&mut random);
        let layout = VelocityLayout::new::<D>(3, 12, 2);
        let mut inverse_mass = InverseMass::zero(layout);
        for particle in 0..12 {
            inverse_mass.set_particle(particle, random.uniform(0.0, 2.0)).unwrap();
        }
        let dt = 0.01;
        let block = springs.damping_rows(&position, dt, layout);
        assert_adjoint(&block, &inverse_mass);
        // C^T C v = dt k_d (d d^T)(v_a - v_b) on the first end, the opposite on the second.
        let velocity = random.vector(layout.len());
        let mut rows = vec![0.0; block.rows()];
        block.apply(&velocity, &mut rows);
        let mut impulse = vec![0.0; layout.len()];
        block.add_transpose(&rows, &mut impulse);
        let mut expected = vec![0.0; layout.len()];
        for spring in springs.springs() {
            let [a, b] = spring.ends.map(|end| layout.particle(end as usize));
            let d = unit(&separation(spring, &position));
            let at = |r: &std::ops::Range<usize>| Vector::<D>::from_column_slice(&velocity[r.clone()]);
            let pull = d * (dt * spring.damping * d.dot(&(at(&a) - at(&b))));
            for axis in 0..D {
                expected[a.start + axis] += pull[axis];
                expected[b.start + axis] -= pull[axis];
            }
        }
        let worst = impulse.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-15, "{worst:e}");
    }

    #[test]
    fn spring_force_is_minus_the_gradient_of_its_energy() {
        force_is_minus_the_gradient_of_the_energy::<2>();
        force_is_minus_the_gradient_of_the_energy::<3>();
    }

    #[test]
    fn damping_rows_are_adjoint_and_factor_the_damping() {
        rows_are_adjoint_and_factor_the_damping::<2>();
        rows_are_adjoint_and_factor_the_damping::<3>();
    }

    #[test]
    fn appended_springs_act_as_if_all_had_been_given_at_once() {
        let (position, springs) = tangle::<3>(&mut TestNumbers::new(9));
        let mut twice = Springs::new(springs.springs().to_vec(), 12).unwrap();
        twice.append(springs.springs().to_vec(), 12).unwrap();
        let positions = [position.clone(), position.clone()].concat();
        let (mut once, mut both) = (vec![0.0; 36], vec![0.0; 72]);
        springs.add_elastic(&position, &mut once);
        twice.add_elastic(&positions, &mut both);
        assert_eq!(both, [once.clone(), once].concat());
        assert!(twice.append(vec![Spring { ends: [0, 5], ..springs.springs()[0] }], 3).is_err());
    }

    #[test]
    fn springs_that_cannot_be_are_refused() {
        let spring = Spring { ends: [0, 1], stiffness: 1.0, damping: 0.0, rest_length: 1.0 };
        for bad in [
            Spring { ends: [0, 2], ..spring },
            Spring { ends: [1, 1], ..spring },
            Spring { stiffness: -1.0, ..spring },
            Spring { damping: f64::NAN, ..spring },
            Spring { rest_length: f64::INFINITY, ..spring },
        ] {
            assert!(Springs::new(vec![spring, bad], 2).unwrap_err().to_string().contains("spring 1"));
        }
    }
}
