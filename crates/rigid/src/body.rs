//! A rigid body and its state.

use crate::fracture::Breakable;
use crate::{Geometry, Load, Material, OrientationOrder, energy_fix::restore_energy, rotation_vector};
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Inertia, Space, Spin, Twist, Vector};
use std::sync::Arc;

/// How a body moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Moves by forces and impulses.
    #[default]
    Dynamic,
    /// Never moves; infinitely heavy.
    Static,
    /// Moves with its given velocity and spin whatever pushes on it; infinitely heavy.
    Kinematic,
}

/// What a rigid body is: constant during a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Body<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Unique name.
    pub name: String,
    /// How it moves.
    pub kind: Kind,
    /// Mass in kg (kg per metre of depth in 2D).
    pub mass: f64,
    /// Inertia tensor `I0` about the centre of mass in object axes, which are its principal axes (kg m^2).
    pub inertia: Inertia<D>,
    /// What it looks like to others, shared by all that look alike; a body without geometry touches nothing.
    pub geometry: Option<Arc<Geometry<D>>>,
    /// How its surface behaves in contact.
    pub material: Material,
    /// From which impulse on it breaks, and how; a body without never breaks.
    pub breakable: Option<Breakable<D>>,
    /// Velocity of the fluid at its surface relative to it, in its own axes (m/s, rad/s): zero but for a body that lets fluid through or drives it along.
    pub surface_flow: Twist<D>,
    /// How it and a fluid act on each other.
    pub immersion: Immersion,
    /// What acts on it all the time besides gravity.
    pub load: Load<D>,
}

/// How a body and a fluid around it act on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Immersion {
    /// Does viscous fluid slide along it instead of sticking to it?
    pub slips: bool,
    /// Does it push the fluid without being pushed by it?
    pub one_way: bool,
}

/// Mass properties that no body can have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BodyError {
    /// Mass not positive and finite.
    #[error("body `{name}` has mass {mass} kg; expected a positive, finite number")]
    Mass {
        /// Name of the body.
        name: String,
        /// Offending value.
        mass: f64,
    },
    /// A principal moment that is not positive and finite.
    #[error(
        "body `{name}` has the principal moment of inertia {moment} kg m^2; expected a positive, finite number"
    )]
    Moment {
        /// Name of the body.
        name: String,
        /// Offending value.
        moment: f64,
    },
    /// A half space that is to move by forces.
    #[error("body `{name}` is a half space, which has no finite mass; make it static or kinematic")]
    Unbounded {
        /// Name of the body.
        name: String,
    },
}

impl<const D: usize> Body<D>
where
    Dim<D>: Space<D>,
{
    /// A body with the given mass (kg) and principal moments of inertia (kg m^2; 1 value in 2D, 3 in 3D).
    pub fn new(name: impl Into<String>, kind: Kind, mass: f64, moments: &[f64]) -> Result<Self, BodyError> {
        let name = name.into();
        if !(mass.is_finite() && mass > 0.0) {
            return Err(BodyError::Mass { name, mass });
        }
        if let Some(&moment) = moments.iter().find(|moment| !(moment.is_finite() && **moment > 0.0)) {
            return Err(BodyError::Moment { name, moment });
        }
        let inertia = Dim::inertia_from_principal(moments);
        Ok(Self {
            name,
            kind,
            mass,
            inertia,
            geometry: None,
            material: Material::default(),
            breakable: None,
            surface_flow: Twist::zero(),
            immersion: Immersion::default(),
            load: Load::default(),
        })
    }

    /// A body of the given shape and mass (kg), with the inertia of a homogeneous solid.
    pub fn with_geometry(
        name: impl Into<String>,
        kind: Kind,
        mass: f64,
        geometry: Arc<Geometry<D>>,
    ) -> Result<Self, BodyError> {
        let moments = match geometry.properties() {
            Some(properties) => {
                let n = <Dim<D> as Space<D>>::SPIN;
                let entries = Dim::inertia_entries(&properties.inertia);
                (0..n).map(|i| entries[i * n + i] * (mass / properties.volume)).collect()
            }
            // A half space never responds; any moments do.
            None => vec![1.0; <Dim<D> as Space<D>>::SPIN],
        };
        let mut body = Self::new(name, kind, mass, &moments)?;
        if geometry.properties().is_none() && body.kind == Kind::Dynamic {
            return Err(BodyError::Unbounded { name: body.name });
        }
        body.geometry = Some(geometry);
        Ok(body)
    }

    /// A particle of a deformable body as contact sees it: a point of the given mass (kg) that never turns. `geometry` is a [`Geometry::point`].
    pub fn particle(kind: Kind, mass: f64, geometry: Arc<Geometry<D>>, material: Material) -> Self {
        // Pushes act at the particle itself, so any inertia does.
        let inertia = Dim::inertia_from_principal(&[1.0; 3][..<Dim<D> as Space<D>>::SPIN]);
        Self {
            name: String::new(),
            kind,
            mass,
            inertia,
            geometry: Some(geometry),
            material,
            breakable: None,
            surface_flow: Twist::zero(),
            immersion: Immersion::default(),
            load: Load::default(),
        }
    }

    /// Is it a particle of a deformable body?
    pub fn is_particle(&self) -> bool {
        self.geometry
            .as_deref()
            .is_some_and(|geometry| matches!(geometry.solid(), crate::Solid::Point { .. }))
    }

    /// Sets the principal moments of inertia about the object's axes (kg m^2; one in 2D, three in 3D).
    pub fn moments(mut self, moments: &[f64]) -> Result<Self, BodyError> {
        if let Some(&moment) = moments.iter().find(|moment| !(moment.is_finite() && **moment > 0.0)) {
            return Err(BodyError::Moment { name: self.name, moment });
        }
        self.inertia = Dim::inertia_from_principal(moments);
        Ok(self)
    }

    /// Sets how its surface behaves in contact.
    pub fn material(mut self, material: Material) -> Self {
        self.material = material;
        self
    }

    /// Sets from which impulse on it breaks, and how.
    pub fn breakable(mut self, breakable: Breakable<D>) -> Self {
        self.breakable = Some(breakable);
        self
    }

    /// Sets the velocity of the fluid at its surface relative to it, in its own axes (m/s, rad/s).
    pub fn surface_flow(mut self, flow: Twist<D>) -> Self {
        self.surface_flow = flow;
        self
    }

    /// Sets how it and a fluid act on each other.
    pub fn immersion(mut self, immersion: Immersion) -> Self {
        self.immersion = immersion;
        self
    }

    /// Sets what acts on it all the time besides gravity.
    pub fn load(mut self, load: Load<D>) -> Self {
        self.load = load;
        self
    }

    /// Does it respond to impulses?
    pub fn is_dynamic(&self) -> bool {
        self.kind == Kind::Dynamic
    }

    /// `1/m`, zero for a body that does not respond.
    pub fn inverse_mass(&self) -> f64 {
        if self.is_dynamic() { 1.0 / self.mass } else { 0.0 }
    }

    /// Inverse inertia in world axes at the orientation of `frame`, zero for a body that does not respond.
    pub fn world_inverse_inertia(&self, frame: &Frame<D>) -> Inertia<D> {
        if !self.is_dynamic() {
            return Dim::inertia_from_principal(&[0.0; 3][..<Dim<D> as Space<D>>::SPIN]);
        }
        Dim::rotate_inertia(&frame.rotation, &Dim::invert_inertia(&self.inertia))
    }

    /// `I^-1 L` at the orientation of `frame`; uses the body's own inertia also when it does not respond to impulses.
    pub fn spin_of(&self, frame: &Frame<D>, angular_momentum: &Spin<D>) -> Spin<D> {
        let local = Dim::rotate_spin_back(&frame.rotation, angular_momentum);
        Dim::rotate_spin(&frame.rotation, &Dim::apply_inertia(&Dim::invert_inertia(&self.inertia), &local))
    }

    /// `I omega` at the orientation of `frame`.
    pub fn angular_momentum_of(&self, frame: &Frame<D>, spin: &Spin<D>) -> Spin<D> {
        let local = Dim::rotate_spin_back(&frame.rotation, spin);
        Dim::rotate_spin(&frame.rotation, &Dim::apply_inertia(&self.inertia, &local))
    }

    /// The frame after `dt` seconds with the given velocity and angular momentum (spec/rigid-bodies.md 3.6, 3.7).
    ///
    /// A dynamic body turns at constant angular momentum; with `fix_energy` its rotational energy stays what it was, to round-off.
    pub fn evolve(
        &self,
        frame: &Frame<D>,
        velocity: &Vector<D>,
        angular_momentum: &Spin<D>,
        dt: f64,
        order: OrientationOrder,
        fix_energy: bool,
    ) -> Frame<D> {
        let position = frame.position + velocity * dt;
        let spin = self.spin_of(frame, angular_momentum);
        if !self.is_dynamic() {
            let mut rotation = Dim::compose(&Dim::exp(&(spin * dt)), &frame.rotation);
            Dim::renormalize(&mut rotation);
            return Frame { position, rotation };
        }
        let turn = rotation_vector::<D>(self, frame, angular_momentum, dt, order);
        let mut rotation = Dim::compose(&Dim::exp(&turn), &frame.rotation);
        Dim::renormalize(&mut rotation);
        let mut moved = Frame { position, rotation };
        if fix_energy {
            let energy = 0.5 * angular_momentum.dot(&spin);
            restore_energy(self, &mut moved, angular_momentum, energy);
        }
        moved
    }
}

/// Where a rigid body is and how it moves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct BodyState<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Centre of mass and orientation.
    pub frame: Frame<D>,
    /// Velocity of the centre of mass (m/s).
    pub velocity: Vector<D>,
    /// Angular momentum about the centre of mass (kg m^2/s): the conserved quantity; the spin always follows from it.
    pub angular_momentum: Spin<D>,
}

impl<const D: usize> BodyState<D>
where
    Dim<D>: Space<D>,
{
    /// A body at `frame` that moves with `twist`.
    pub fn new(body: &Body<D>, frame: Frame<D>, twist: &Twist<D>) -> Self {
        Self {
            frame,
            velocity: twist.linear,
            angular_momentum: body.angular_momentum_of(&frame, &twist.angular),
        }
    }

    /// Linear and angular velocity.
    pub fn twist(&self, body: &Body<D>) -> Twist<D> {
        Twist { linear: self.velocity, angular: body.spin_of(&self.frame, &self.angular_momentum) }
    }

    /// Kinetic energy (J).
    pub fn kinetic_energy(&self, body: &Body<D>) -> f64 {
        let spin = body.spin_of(&self.frame, &self.angular_momentum);
        0.5 * body.mass * self.velocity.norm_squared() + 0.5 * self.angular_momentum.dot(&spin)
    }
}
