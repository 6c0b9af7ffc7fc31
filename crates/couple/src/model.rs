//! What a world consists of: constant during a simulation, built once from the scene.

use crate::fluid_structure::CouplingOptions;
use serde::{Deserialize, Serialize};
use splashdown_deformable::{Particles, Spring, SpringError, Springs};
use splashdown_fluid::{FluidError, FluidModel};
use splashdown_math::{Dim, Space, Vector};
use splashdown_rigid::joint::Stabilization;
use splashdown_rigid::{
    Body, ContactOptions, EnergyFix, Joint, JointError, OrientationOrder, Trajectory, TrajectoryError,
};
use std::ops::Range;

/// Form of the coupled linear system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Formulation {
    /// Symmetric positive definite, in the multipliers alone.
    #[default]
    Spd,
    /// Symmetric indefinite, in velocities and multipliers together; a reference and cross-check.
    Kkt,
}

/// Numerical options of the step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Relative residual at which the coupled solve stops.
    pub tolerance: f64,
    /// Most iterations of the coupled solve.
    pub max_iterations: usize,
    /// Form of the coupled system.
    pub formulation: Formulation,
    /// Order of the orientation update of rigid bodies.
    pub orientation_order: OrientationOrder,
    /// Whether free rotation conserves energy to round-off.
    pub energy_fix: EnergyFix,
    /// How joints are made to hold.
    pub joints: JointOptions,
    /// Collision and contact of rigid bodies.
    pub contact: ContactOptions,
    /// Contact and friction act on velocities before damping of solids does, not after it: less accurate, but what contact makes is damped in the same step, as large piles want
    /// (spec/rigid-deformable-coupling.md RDC-27). With explicit elasticity.
    pub contact_before_damping: bool,
    /// Reports the totals of the rigid bodies after every stage ([`crate::StepReport::stages`]).
    pub stage_totals: bool,
}

/// How joints are made to hold within a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointOptions {
    /// Before positions move: impulses with which joints hold afterwards.
    pub pre: Stabilization,
    /// At the new positions: velocities that agree with the joints.
    pub post: Stabilization,
    /// Most sweeps over the joints of what is pairwise.
    pub sweeps: usize,
}

impl Default for JointOptions {
    fn default() -> Self {
        Self { pre: Stabilization::Global, post: Stabilization::Global, sweeps: 50 }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_iterations: 1000,
            formulation: Formulation::default(),
            orientation_order: OrientationOrder::default(),
            energy_fix: EnergyFix::default(),
            joints: JointOptions::default(),
            contact: ContactOptions::default(),
            contact_before_damping: false,
            stage_totals: false,
        }
    }
}

/// A named set of particles that were added together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deformable {
    /// Unique name.
    pub name: String,
    /// Its particles.
    pub particles: Range<usize>,
    /// Its springs.
    pub springs: Range<usize>,
}

/// A model that cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Springs that do not fit the particles.
    #[error("deformable body `{name}`: {source}")]
    Spring {
        /// Name of the deformable body.
        name: String,
        /// What is wrong with which spring.
        source: SpringError,
    },
    /// A particle mass that is not positive and finite.
    #[error(
        "deformable body `{name}`: particle {particle} has mass {mass} kg; expected a positive, finite number"
    )]
    ParticleMass {
        /// Name of the deformable body.
        name: String,
        /// Index within the body.
        particle: usize,
        /// Offending value.
        mass: f64,
    },
    /// Lists that must be equally long.
    #[error(
        "deformable body `{name}`: {positions} positions, {velocities} velocities, {masses} masses and {pins} pin flags; expected as many of each"
    )]
    Lengths {
        /// Name of the deformable body.
        name: String,
        /// Number of positions.
        positions: usize,
        /// Number of velocities.
        velocities: usize,
        /// Number of masses.
        masses: usize,
        /// Number of pin flags.
        pins: usize,
    },
    /// A fluid that cannot be simulated.
    #[error("fluid: {0}")]
    Fluid(#[from] FluidError),
    /// A gravity that is not finite.
    #[error("gravity is not finite")]
    Gravity,
    /// A joint that cannot be.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// A prescribed motion that cannot be.
    #[error("body `{name}`: {source}")]
    Trajectory {
        /// Name of the body.
        name: String,
        /// What is wrong.
        source: TrajectoryError,
    },
    /// A prescribed motion of a body that is not kinematic, or that has one already.
    #[error("body number {body} cannot be given a motion: only a kinematic body can, and only once")]
    NotKinematic {
        /// Index of the body.
        body: usize,
    },
}

/// Everything that stays the same while the world moves.
#[derive(Debug, Clone)]
pub struct Model<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Acceleration of gravity (m/s^2).
    pub gravity: Vector<D>,
    /// Numerical options.
    pub options: Options,
    /// Rigid bodies.
    pub bodies: Vec<Body<D>>,
    /// Joints between them.
    pub joints: Vec<Joint<D>>,
    /// Pairs of rigid bodies that pass through each other, the smaller index first.
    pub apart: Vec<[u32; 2]>,
    /// Prescribed motion of kinematic bodies, by index; a kinematic body without one keeps its velocity and spin.
    pub trajectories: Vec<(usize, Trajectory<D>)>,
    /// Masses of all particles.
    pub particles: Particles,
    /// All springs, over the particles of all deformable bodies.
    pub springs: Springs,
    /// Which particles and springs belong to which deformable body.
    pub deformables: Vec<Deformable>,
    /// The fluid, if there is one.
    pub fluid: Option<FluidModel<D>>,
    /// How fluid and rigid bodies push each other; `None` for a fluid that does not know of bodies.
    pub coupling: Option<CouplingOptions>,
}

impl<const D: usize> Model<D>
where
    Dim<D>: Space<D>,
{
    /// An empty world under `gravity` (m/s^2).
    pub fn new(gravity: Vector<D>) -> Self {
        Self {
            gravity,
            options: Options::default(),
            bodies: Vec::new(),
            joints: Vec::new(),
            apart: Vec::new(),
            trajectories: Vec::new(),
            particles: Particles::default(),
            springs: Springs::default(),
            deformables: Vec::new(),
            fluid: None,
            coupling: Some(CouplingOptions::default()),
        }
    }

    /// Adds particles and the springs between them (indices within this body).
    pub(crate) fn add_deformable(
        &mut self,
        name: String,
        particles: Particles,
        springs: &[Spring],
    ) -> Result<(), ModelError> {
        if let Some((particle, &mass)) =
            particles.mass.iter().enumerate().find(|(_, mass)| !(mass.is_finite() && **mass > 0.0))
        {
            return Err(ModelError::ParticleMass { name, particle, mass });
        }
        let first = self.particles.len();
        let first_spring = self.springs.springs().len();
        self.springs
            .append(springs.to_vec(), particles.len())
            .map_err(|source| ModelError::Spring { name: name.clone(), source })?;
        let last_spring = self.springs.springs().len();
        self.particles.mass.extend(&particles.mass);
        self.particles.pinned.extend(&particles.pinned);
        self.deformables.push(Deformable {
            name,
            particles: first..self.particles.len(),
            springs: first_spring..last_spring,
        });
        Ok(())
    }

    /// The deformable body that `particle` belongs to, and its index there; for messages.
    pub fn name_of_particle(&self, particle: usize) -> (&str, usize) {
        self.deformables
            .iter()
            .find(|body| body.particles.contains(&particle))
            .map_or(("?", particle), |body| (&body.name, particle - body.particles.start))
    }

    /// Largest step (s) at which the explicit elastic forces are stable; infinite if there are none.
    pub fn stable_step(&self) -> f64 {
        self.springs.stable_step(&self.particles)
    }
}
