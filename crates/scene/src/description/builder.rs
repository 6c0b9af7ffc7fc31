//! Building a scene in Rust with the words of the scene file.

use super::{
    ChainGeometry, Deformable, Fracture, Geometry, Joint, Kind, Motion, Output, Repeat, Rigid, Rotation,
    Scene, Shape, SoftContact, Solver, SpinValue, Springs, Step, Time,
};

impl Scene {
    /// An empty scene in `dimension` (2 or 3) dimensions with standard gravity, that runs for one second.
    ///
    /// ```
    /// use splashdown_scene::{Deformable, Rigid, Scene, Shape, Springs};
    ///
    /// let scene = Scene::new(3)
    ///     .title("A ball and a rope")
    ///     .end(2.0)
    ///     .step(1e-3)
    ///     .with_rigid(Rigid::sphere("ball", 0.1).density(500.0).position([0.0, 2.0, 0.0]).spin([0.0, 0.0, 5.0]))
    ///     .with_deformable(
    ///         Deformable::chain("rope", [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], 21)
    ///             .mass(0.2)
    ///             .springs(Springs { stiffness: 500.0, damping_ratio: 0.1, rest_length: None })
    ///             .pinned([0, 20]),
    ///     );
    /// scene.check().expect("a right scene");
    /// assert_eq!(Scene::parse("again", &scene.to_toml(), &[]).expect("the same scene"), scene);
    /// ```
    pub fn new(dimension: u32) -> Self {
        Self {
            format: 1,
            title: String::new(),
            summary: String::new(),
            dimension,
            include: Vec::new(),
            variables: Default::default(),
            gravity: None,
            time: Time::default(),
            solver: Solver::default(),
            contact: Default::default(),
            free_rotation: Default::default(),
            articulation: Default::default(),
            output: Output::default(),
            camera: None,
            rigid: Vec::new(),
            deformable: Vec::new(),
            elastic: super::ElasticStep::default(),
            fluid: None,
            joint: Vec::new(),
            import: Vec::new(),
        }
    }

    /// Sets the title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the one-line summary.
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Sets the acceleration of gravity (m/s^2).
    pub fn gravity(mut self, gravity: impl Into<Vec<f64>>) -> Self {
        self.gravity = Some(gravity.into());
        self
    }

    /// Sets the simulated time at which the run ends (s).
    pub fn end(mut self, end: f64) -> Self {
        self.time.end = end;
        self
    }

    /// Sets the frames saved for each simulated second (1/s).
    pub fn frame_rate(mut self, frame_rate: f64) -> Self {
        self.time.frame_rate = frame_rate;
        self
    }

    /// Sets a fixed time step (s).
    pub fn step(mut self, step: f64) -> Self {
        self.time.step = Some(Step::Fixed(step));
        self
    }

    /// Adds a rigid body.
    pub fn with_rigid(mut self, rigid: Rigid) -> Self {
        self.rigid.push(rigid);
        self
    }

    /// Adds a joint.
    pub fn with_joint(mut self, joint: Joint) -> Self {
        self.joint.push(joint);
        self
    }

    /// Adds a deformable body.
    pub fn with_deformable(mut self, deformable: Deformable) -> Self {
        self.deformable.push(deformable);
        self
    }
}

impl Rigid {
    /// A dynamic body at rest at the origin; give it a [`Self::density`] or a [`Self::mass`].
    pub fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self {
            name: name.into(),
            shape,
            kind: Kind::Dynamic,
            density: None,
            mass: None,
            moments: None,
            shape_position: None,
            shape_rotation: None,
            position: None,
            rotation: None,
            velocity: None,
            spin: None,
            restitution: None,
            friction: None,
            rolling_friction: None,
            spinning_friction: None,
            fracture: None,
            force: None,
            torque: None,
            drag: None,
            surface_flow: None,
            in_fluid: None,
            soft_contact: SoftContact::default(),
            motion: None,
            repeat: None,
        }
    }

    /// A ball (a disc in 2D) of the given radius (m).
    pub fn sphere(name: impl Into<String>, radius: f64) -> Self {
        Self::new(name, Shape::Sphere { radius })
    }

    /// A box (a rectangle in 2D) of the given full edge lengths (m).
    pub fn cuboid(name: impl Into<String>, size: impl Into<Vec<f64>>) -> Self {
        Self::new(name, Shape::Box { size: size.into() })
    }

    /// Sets how the body moves.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Lets it break when it is hit hard enough.
    pub fn fracture(mut self, fracture: Fracture) -> Self {
        self.fracture = Some(fracture);
        self
    }

    /// Sets the density (kg/m^3; kg/m^2 in 2D).
    pub fn density(mut self, density: f64) -> Self {
        self.density = Some(density);
        self
    }

    /// Sets the mass (kg).
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = Some(mass);
        self
    }

    /// Sets the centre of mass (m).
    pub fn position(mut self, position: impl Into<Vec<f64>>) -> Self {
        self.position = Some(position.into());
        self
    }

    /// Sets the orientation.
    pub fn rotation(mut self, rotation: Rotation) -> Self {
        self.rotation = Some(rotation);
        self
    }

    /// Sets the velocity (m/s).
    pub fn velocity(mut self, velocity: impl Into<Vec<f64>>) -> Self {
        self.velocity = Some(velocity.into());
        self
    }

    /// Sets the angular velocity (rad/s): a number in 2D, an array in 3D.
    pub fn spin(mut self, spin: impl Into<SpinValue>) -> Self {
        self.spin = Some(spin.into());
        self
    }

    /// Sets restitution and friction of its surface.
    pub fn surface(mut self, restitution: f64, friction: f64) -> Self {
        self.restitution = Some(restitution);
        self.friction = Some(friction);
        self
    }

    /// Is the shape anywhere else than around the centre of mass?
    pub(crate) fn moves_its_shape(&self) -> bool {
        self.shape_position.is_some() || self.shape_rotation.is_some()
    }

    /// Prescribes the motion of a kinematic body.
    pub fn motion(mut self, motion: Motion) -> Self {
        self.motion = Some(motion);
        self
    }

    /// Makes a grid of copies.
    pub fn repeat(mut self, count: impl Into<Vec<u64>>, spacing: impl Into<Vec<f64>>) -> Self {
        self.repeat = Some(Repeat { count: count.into(), spacing: spacing.into() });
        self
    }
}

impl From<f64> for SpinValue {
    fn from(rate: f64) -> Self {
        Self::Rate(rate)
    }
}

impl From<[f64; 3]> for SpinValue {
    fn from(vector: [f64; 3]) -> Self {
        Self::Vector(vector.into())
    }
}

impl Deformable {
    /// A chain of `particles` particles between two points (m); give it a mass and springs.
    pub fn chain(
        name: impl Into<String>,
        from: impl Into<Vec<f64>>,
        to: impl Into<Vec<f64>>,
        particles: u64,
    ) -> Self {
        Self {
            name: name.into(),
            geometry: Geometry::Chain(ChainGeometry { from: from.into(), to: to.into(), particles }),
            material: None,
            elastic: super::ElasticBody::default(),
            density: None,
            mass: None,
            springs: None,
            pinned: Vec::new(),
            velocity: None,
        }
    }

    /// Sets the mass of one metre of a chain (kg/m).
    pub fn density(mut self, density: f64) -> Self {
        self.density = Some(density);
        self
    }

    /// Sets the mass of the whole body (kg).
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = Some(mass);
        self
    }

    /// Sets the springs.
    pub fn springs(mut self, springs: Springs) -> Self {
        self.springs = Some(springs);
        self
    }

    /// Sets which particles do not move.
    pub fn pinned(mut self, pinned: impl Into<Vec<u64>>) -> Self {
        self.pinned = pinned.into();
        self
    }

    /// Sets the velocity of every particle (m/s).
    pub fn velocity(mut self, velocity: impl Into<Vec<f64>>) -> Self {
        self.velocity = Some(velocity.into());
        self
    }
}
