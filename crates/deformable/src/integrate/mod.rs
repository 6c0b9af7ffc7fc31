//! Time integration of deformable bodies by themselves, with obstacles that they do not move (spec 3.14): the explicit-elastic schemes A, B, C and Newmark with
//! implicit damping, fully implicit steps by Newton's method, and static equilibrium.
//!
//! In a world with other things the step of `splashdown-couple` takes the place of these schemes; the forces are the same.

mod carriers;
mod constrained;
mod damped_mass;
mod explicit;
mod implicit;
mod linear;
mod links;
mod newton;
mod recording;
mod velocity;
mod volume;

pub(crate) use links::Projection;
pub(crate) use velocity::Constraints;

pub use carriers::{Bound, Carrier, Carriers};
pub use constrained::{ConstraintForm, ConstraintRow};
pub use explicit::Stages;
pub use implicit::{ImplicitOptions, ImplicitScheme, LinearSolver, NewtonReport};
pub use links::Link;
pub use recording::Recording;

use damped_mass::Assembled;

use crate::collide::{Colliders, CollisionMethod, Layer, Obstacle, Touch};
use crate::contact::{SelfContact, SelfContactReport};
use crate::force::{ForceError, read};
use crate::incompressible::{Incompressible, IncompressibleReport};
use crate::solid::Solid;
use serde::{Deserialize, Serialize};
use splashdown_geometry::mesh::MeshError;
use splashdown_math::{Dim, Space, Vector};
use splashdown_solve::{SolveError, Workspace};

/// Where all particles are and how they move; flat, `D` entries a particle.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Motion {
    /// Positions (m).
    pub position: Vec<f64>,
    /// Velocities (m/s).
    pub velocity: Vec<f64>,
    /// Simulated time (s).
    pub time: f64,
}

impl Motion {
    /// At rest at the given positions.
    pub fn at_rest<const D: usize>(points: &[Vector<D>]) -> Self {
        let position: Vec<f64> = points.iter().flat_map(|x| x.iter().copied()).collect();
        Self { velocity: vec![0.0; position.len()], position, time: 0.0 }
    }

    /// Position of one particle (m).
    pub fn point<const D: usize>(&self, particle: usize) -> Vector<D> {
        read::<D>(&self.position, particle as u32)
    }

    /// Velocity of one particle (m/s).
    pub fn speed<const D: usize>(&self, particle: usize) -> Vector<D> {
        read::<D>(&self.velocity, particle as u32)
    }
}

/// A time integration scheme.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum Scheme {
    /// Seed scheme A: second order, keeps angular momentum exactly without damping.
    A,
    /// Seed scheme B: midpoint velocities, second order; contact and friction as the source tells. The default.
    #[default]
    B,
    /// Newmark positions with a backward Euler velocity: first order, for coupling with fluids.
    C,
    /// Plain Newmark with an explicit and an implicit half.
    Newmark,
    /// Linearly implicit: elastic forces, too, are those at the end of the step, by their stiffness at its start (made positive semidefinite). First order, damps what the step does not
    /// resolve; any length of step is stable, and everything else in the world takes part in the same stages.
    LinearlyImplicit,
    /// Fully implicit by Newton's method.
    Implicit(ImplicitScheme),
    /// Backward Euler in two passes (DS-34): all velocities as if nothing were in the way; obstacles, layers and self-contact act on those of [`Integrator::surface`], which moves; the inside follows
    /// with the surface as given data.
    TwoPass,
}

/// How much more edges may change in a linearly implicit step than in an explicit one, which is a tenth.
pub const MOST_STRETCH: f64 = 3.0;

impl Scheme {
    /// Do surfaces repel each other in its stages?
    fn repels(self) -> bool {
        matches!(self, Self::B | Self::C | Self::LinearlyImplicit)
    }
}

/// Particles whose motion is prescribed.
#[derive(Debug, Clone)]
pub struct Driver<const D: usize> {
    /// The particles, with their positions at time zero (m); those that are not pinned (any more) are left alone.
    pub nodes: Vec<(u32, Vector<D>)>,
    /// Their motions, one after the other: each begins where those before it have led.
    pub paths: Vec<Path<D>>,
}

/// Parameters of a prescribed motion: translation, then rotation about an axis, both between two times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path<const D: usize> {
    /// Velocity (m/s).
    pub velocity: Vector<D>,
    /// A point of the axis (m).
    pub centre: Vector<D>,
    /// Angular velocity (rad/s): its last component in 2D.
    pub spin: [f64; 3],
    /// When the motion begins (s).
    pub start: f64,
    /// When it ends (s).
    pub end: f64,
}

impl<const D: usize> Path<D>
where
    Dim<D>: Space<D>,
{
    /// Position (m) at time `t` of what was at `x` before the motion began.
    pub fn at(&self, t: f64, x: &Vector<D>) -> Vector<D> {
        use splashdown_math::Coordinates;
        let time = (t.min(self.end) - self.start).max(0.0);
        let components: Vec<f64> =
            if D == 2 { vec![self.spin[2] * time] } else { self.spin.iter().map(|s| s * time).collect() };
        let turn = Dim::<D>::exp(&splashdown_math::Spin::<D>::from_slice(&components));
        self.centre + Dim::<D>::rotate(&turn, &(x - self.centre)) + self.velocity * time
    }
}

impl<const D: usize> Driver<D>
where
    Dim<D>: Space<D>,
{
    /// Particles that follow `path`.
    pub fn new(nodes: Vec<(u32, Vector<D>)>, path: Path<D>) -> Self {
        Self::in_turn(nodes, vec![path])
    }

    /// Particles that follow `paths` one after the other; none of these begins before the one before it has ended.
    pub fn in_turn(nodes: Vec<(u32, Vector<D>)>, paths: Vec<Path<D>>) -> Self {
        Self { nodes, paths }
    }

    /// Position (m) at time `t` (s) of the particle that was at `x` at time zero.
    pub fn at(&self, t: f64, x: &Vector<D>) -> Vector<D> {
        self.paths.iter().fold(*x, |x, path| path.at(t, &x))
    }
}

/// A step that could not be completed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum IntegrateError {
    /// A force has no value.
    #[error(transparent)]
    Force(#[from] ForceError),
    /// A linear solve was given wrong input.
    #[error("the velocity solve failed: {0}")]
    Solve(String),
    /// Newton's method did not arrive.
    #[error(
        "Newton's method stopped at a residual of {residual:e} N after {iterations} iterations (wanted {wanted:e} N); a shorter step helps"
    )]
    Newton {
        /// Largest residual force (N).
        residual: f64,
        /// Tolerance (N).
        wanted: f64,
        /// Iterations done.
        iterations: usize,
    },
    /// A value that is not finite.
    #[error("particle {particle} is no longer at a finite place")]
    NotFinite {
        /// Which one.
        particle: usize,
    },
    /// The scheme goes through the stages of the step of the world.
    #[error("this scheme takes its steps in stages, not at once")]
    InStages,
    /// Self-contact could not be resolved.
    #[error("{0}")]
    Contact(String),
}

impl From<MeshError> for IntegrateError {
    fn from(error: MeshError) -> Self {
        Self::Contact(error.to_string())
    }
}

impl From<SolveError> for IntegrateError {
    fn from(error: SolveError) -> Self {
        Self::Solve(error.to_string())
    }
}

/// What one step did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct IntegrationReport {
    /// Iterations of all linear solves.
    pub linear_iterations: usize,
    /// Newton iterations of an implicit step.
    pub newton_iterations: usize,
    /// Velocity solves that stopped above their tolerance, by less than ten times, and were taken as they were.
    #[serde(default)]
    pub unfinished: usize,
    /// Newton solves that stopped above their tolerance and were taken as they were.
    #[serde(default)]
    pub unconverged: usize,
    /// Largest residual at which such a solve stopped, relative to its tolerance; zero if all converged.
    #[serde(default)]
    pub residual: f64,
    /// Contacts with obstacles.
    pub contacts: usize,
    /// Self-contact.
    pub self_contact: SelfContactReport,
    /// Bodies that keep their volume.
    pub incompressible: IncompressibleReport,
    /// Largest part of the velocity of constraints that sweeps left in a velocity solve; zero in the other forms.
    #[serde(default)]
    pub leak: f64,
    /// Velocity solves whose tolerance was below that and was raised to it.
    #[serde(default)]
    pub loosened: usize,
    /// Rows that a velocity solve with damping kept, at most: contacts, joints, pairs.
    #[serde(default)]
    pub kept: usize,
    /// Deepest that a particle is in an obstacle, static or moved as told, at the end of the step (m).
    #[serde(default)]
    pub depth: f64,
}

impl IntegrationReport {
    /// Adds what Newton's method did.
    fn count_newton(&mut self, newton: &NewtonReport) {
        self.newton_iterations += newton.iterations;
        self.linear_iterations += newton.linear_iterations;
        if !(newton.residual <= newton.wanted) {
            self.unconverged += 1;
            self.residual = self.residual.max(newton.residual / newton.wanted);
        }
    }

    /// Adds what a part of a step did: work adds up, errors and contacts are those of the worst and the last part.
    pub fn add_part(&mut self, part: &Self) {
        self.linear_iterations += part.linear_iterations;
        self.newton_iterations += part.newton_iterations;
        self.unfinished += part.unfinished;
        self.unconverged += part.unconverged;
        self.residual = self.residual.max(part.residual);
        self.loosened += part.loosened;
        self.leak = self.leak.max(part.leak);
        self.kept = self.kept.max(part.kept);
        self.depth = self.depth.max(part.depth);
        self.incompressible.add_part(&part.incompressible);
        self.contacts = part.contacts;
        self.self_contact = part.self_contact;
    }

    /// Adds what a velocity solve took.
    fn count(&mut self, solve: &SolveCount) {
        self.linear_iterations += solve.iterations;
        self.leak = self.leak.max(solve.leak);
        self.loosened += solve.loosened;
        self.kept = self.kept.max(solve.kept);
    }
}

/// What velocity solves with constraints took.
#[derive(Debug, Clone, Copy, Default)]
struct SolveCount {
    iterations: usize,
    leak: f64,
    loosened: usize,
    kept: usize,
}

impl SolveCount {
    fn add(&mut self, more: &Self) {
        self.iterations += more.iterations;
        self.leak = self.leak.max(more.leak);
        self.loosened += more.loosened;
        self.kept = self.kept.max(more.kept);
    }
}

/// Advances deformable bodies in time.
#[derive(Debug)]
pub struct Integrator<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The scheme.
    pub scheme: Scheme,
    /// Relative residual of the velocity solves.
    pub tolerance: f64,
    /// Most iterations of a velocity solve.
    pub max_iterations: usize,
    /// Objects to collide with.
    pub obstacles: Vec<Obstacle<D>>,
    /// Surfaces that move whatever lies on them, from the lowest on: a layer that is above another comes after it.
    pub layers: Vec<Layer<D>>,
    /// Particles that collide.
    pub colliders: Colliders,
    /// Particles that [`Scheme::TwoPass`] moves first.
    pub surface: Vec<u32>,
    /// How collisions move particles.
    pub method: CollisionMethod,
    /// Greatest speed (m/s) at which particles inside obstacles are pushed out of them, with [`CollisionMethod::Swept`].
    pub push_out: f64,
    /// Whether a contact that pulls lets go within the step.
    pub release: bool,
    /// Prescribed motions.
    pub drivers: Vec<Driver<D>>,
    /// Motions that are known beforehand.
    pub recordings: Vec<Recording<D>>,
    /// Self-contact.
    pub self_contact: Option<SelfContact<D>>,
    /// Bodies that keep their volume.
    pub incompressible: Option<Incompressible<D>>,
    /// Rigid bodies that carry particles, in the explicit schemes.
    pub carriers: Option<Carriers<D>>,
    /// Contacts with rigid bodies that the damping of the present stage knows of, in the explicit schemes.
    pub links: Vec<Link<D>>,
    /// What damping of the present stage keeps besides: joints, contacts of rigid bodies and pairs of surfaces, in the explicit schemes.
    pub rows: Vec<ConstraintRow<D>>,
    /// How velocity solves with damping keep all that.
    pub form: ConstraintForm,
    /// Does damping keep the pairs of self-contact that approach each other, too?
    pub keeps_pairs: bool,
    /// Does damping of the prediction, stage I, keep contacts of particles? Without it only what is an equality is kept there (spec 3.3), so that nothing could stick.
    pub keeps_coming: bool,
    /// Leaves out damping in the stages of explicit schemes: [`Self::damp`] sees to it.
    pub undamped: bool,
    /// Options of implicit steps.
    pub implicit: ImplicitOptions,
    touches: Vec<Touch<D>>,
    /// Links that the last velocity solve with implicit elasticity kept.
    kept: Vec<Link<D>>,
    /// How far ahead (s) of the present positions the elastic forces of velocity solves are; 0 with explicit elasticity.
    ahead: f64,
    /// Velocity solves of the present step that stopped above their tolerance, near enough to go on.
    unfinished: usize,
    workspace: Workspace,
    /// Matrix of the last velocity solve.
    memory: Option<Assembled<D>>,
}

impl<const D: usize> Clone for Integrator<D>
where
    Dim<D>: Space<D>,
{
    fn clone(&self) -> Self {
        Self {
            obstacles: self.obstacles.clone(),
            layers: self.layers.clone(),
            colliders: self.colliders.clone(),
            surface: self.surface.clone(),
            drivers: self.drivers.clone(),
            recordings: self.recordings.clone(),
            self_contact: self.self_contact.clone(),
            incompressible: self.incompressible.clone(),
            carriers: self.carriers.clone(),
            links: self.links.clone(),
            rows: self.rows.clone(),
            touches: self.touches.clone(),
            kept: self.kept.clone(),
            workspace: Workspace::default(),
            memory: None,
            ..*self
        }
    }
}

impl<const D: usize> Integrator<D>
where
    Dim<D>: Space<D>,
{
    /// The scheme without obstacles, velocity solves to 1e-8.
    pub fn new(scheme: Scheme) -> Self {
        Self {
            scheme,
            tolerance: 1e-8,
            max_iterations: 500,
            obstacles: Vec::new(),
            layers: Vec::new(),
            colliders: Colliders::All,
            surface: Vec::new(),
            method: CollisionMethod::Swept,
            push_out: f64::INFINITY,
            release: false,
            drivers: Vec::new(),
            recordings: Vec::new(),
            self_contact: None,
            incompressible: None,
            carriers: None,
            links: Vec::new(),
            rows: Vec::new(),
            form: ConstraintForm::default(),
            keeps_pairs: false,
            keeps_coming: true,
            undamped: false,
            implicit: ImplicitOptions::default(),
            touches: Vec::new(),
            kept: Vec::new(),
            ahead: 0.0,
            unfinished: 0,
            workspace: Workspace::default(),
            memory: None,
        }
    }

    /// Deepest that a particle at `position` is in the obstacle that it touches (m).
    pub fn depth(&self, position: &[f64]) -> f64 {
        let gap = |touch: &Touch<D>| {
            let obstacle = self.obstacles.get(touch.obstacle as usize)?;
            Some(obstacle.thickness - obstacle.probe(&read::<D>(position, touch.node)).distance)
        };
        self.touches.iter().filter_map(gap).fold(0.0, f64::max)
    }

    /// Contacts with obstacles of the last step.
    pub fn touches(&self) -> &[Touch<D>] {
        &self.touches
    }

    /// Particles that obstacles stop in the velocity solve to the half step, with the normals (linearly implicit elasticity only).
    pub fn coming_contacts(&self) -> impl Iterator<Item = (u32, Vector<D>)> {
        self.kept.iter().filter(|link| link.carrier.is_none()).map(|link| (link.particle, link.normal))
    }

    /// Advances by `dt` seconds with a scheme that finds velocities and positions in one solve, [`Scheme::Implicit`] or [`Scheme::TwoPass`]: its part of a step of the world.
    ///
    /// # Errors
    /// What could not be computed, or another scheme; `motion` is then the one before the step.
    #[inline(never)]
    pub fn step_at_once(
        &mut self,
        solid: &mut Solid<D>,
        motion: &mut Motion,
        dt: f64,
    ) -> Result<IntegrationReport, IntegrateError> {
        let mut next = motion.clone();
        let mut report = IntegrationReport::default();
        self.drive(solid, &mut next, dt);
        match self.scheme {
            Scheme::Implicit(scheme) => self.step_in_layers(solid, &mut next, dt, scheme, &mut report)?,
            Scheme::TwoPass => self.step_in_two_passes(solid, &mut next, dt, &mut report)?,
            _ => return Err(IntegrateError::InStages),
        }
        self.accept(solid, motion, &mut next, dt, &mut report)?;
        report.contacts = self.touches.len();
        *motion = next;
        Ok(report)
    }

    /// What ends a step from `motion` to `next`: volume in schemes that do not keep it in their stages, plastic flow, and whether all is finite.
    ///
    /// # Errors
    /// A value that is not finite, or a force without value.
    #[inline(never)]
    pub fn accept(
        &mut self,
        solid: &mut Solid<D>,
        motion: &Motion,
        next: &mut Motion,
        dt: f64,
        report: &mut IntegrationReport,
    ) -> Result<(), IntegrateError> {
        if matches!(self.scheme, Scheme::Implicit(_) | Scheme::TwoPass) {
            self.restore_volume(solid, motion, next, dt, report)?;
        }
        solid.place_embedded(&mut next.position);
        solid.place_embedded(&mut next.velocity);
        next.time = motion.time + dt;
        report.unfinished += std::mem::take(&mut self.unfinished);
        if let Some(at) = next.position.iter().chain(&next.velocity).position(|value| !value.is_finite()) {
            return Err(IntegrateError::NotFinite { particle: at % next.position.len() / D });
        }
        if solid.forces().iter().any(|force| !force.history().is_empty()) {
            solid.update(&next.position)?;
            solid.flow(&next.position);
        }
        Ok(())
    }

    /// Gives prescribed particles the velocity that leads them to where they must be at the end of the step.
    pub fn drive(&self, solid: &Solid<D>, motion: &mut Motion, dt: f64) {
        for driver in &self.drivers {
            for (node, first) in driver.nodes.iter().filter(|(node, _)| solid.pinned()[*node as usize]) {
                let target = driver.at(motion.time + dt, first);
                let at = D * *node as usize;
                for axis in 0..D {
                    motion.velocity[at + axis] = (target[axis] - motion.position[at + axis]) / dt;
                }
            }
        }
        for recording in &self.recordings {
            recording.drive(motion, dt);
        }
    }
}
