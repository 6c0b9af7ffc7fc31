//! Bodies of finite elements in a world. With explicit elasticity they take part in every stage of the step, both ways; fully implicit ones are advanced after it and see
//! rigid bodies as obstacles that move as the step moved them.
//!
//! What does not live here: elements and integrators (`splashdown-deformable`).

use crate::articulation::JointRow;
use crate::fluid_structure::{CouplingForm, End, HeldRow, Resistance};
use crate::hold::{Cones, Held, hold};
use crate::soft_contact::{Candidates, Reached, pushing_pairs};
use crate::solid_links::{Binding, DampingKeeps};
use crate::{Diagnostics, ElementDiagnostics, Model, State};
use serde::{Deserialize, Serialize};
use splashdown_deformable::collide::{Colliders, DistanceField, Obstacle, ObstacleShape};
use splashdown_deformable::integrate::{IntegrationReport, Integrator, MOST_STRETCH, Motion, Scheme, Stages};
use splashdown_deformable::{ForceError, Solid};
use splashdown_geometry::Aabb;
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{Body, ContactSolver, Geometry, Motion as RigidMotion, Probes};
use splashdown_solve::CsrMatrix;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Kind of element of a body, for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolidElement {
    /// Two particles.
    Segment,
    /// Three particles.
    Triangle,
    /// Four particles.
    Tetrahedron,
    /// Eight particles in the order `4 i + 2 j + k`.
    Hexahedron,
}

impl SolidElement {
    /// Number of its particles.
    pub fn corners(self) -> usize {
        match self {
            Self::Segment => 2,
            Self::Triangle => 3,
            Self::Tetrahedron => 4,
            Self::Hexahedron => 8,
        }
    }
}

/// A named body of elements.
#[derive(Debug, Clone)]
pub struct SolidBody {
    /// Unique name.
    pub name: String,
    /// Its particles among those of all solids.
    pub particles: Range<usize>,
    /// Kind of its elements.
    pub element: SolidElement,
    /// Particles of its elements, counted from its first.
    pub elements: Vec<u32>,
    /// Its particles' positions at rest (m), flat, for pictures of strain.
    pub rest: Vec<f64>,
    /// Its forces among those of the solid.
    pub forces: Range<usize>,
    /// Strength of its material against time: `(s, factor)`, ascending, linear in between; empty for 1.
    pub strength: Vec<[f64; 2]>,
    /// Activation of its fibres against time, likewise; empty for what they have.
    pub activation: Vec<[f64; 2]>,
    /// Activation of single families of its fibres against time, likewise.
    pub families: Vec<Vec<[f64; 2]>>,
}

impl SolidBody {
    /// Number of its elements.
    pub fn count(&self) -> usize {
        let corners = match self.element {
            SolidElement::Segment => 2,
            SolidElement::Triangle => 3,
            SolidElement::Tetrahedron => 4,
            SolidElement::Hexahedron => 8,
        };
        self.elements.len() / corners
    }
}

/// All bodies of elements with their integrator.
#[derive(Debug, Clone)]
pub struct Solids<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Masses and forces.
    pub solid: Solid<D>,
    /// How they are advanced.
    pub integrator: Integrator<D>,
    /// The bodies.
    pub bodies: Vec<SolidBody>,
    /// Friction coefficient of each rigid body against particles; bodies beyond the end of the list use that of their material.
    pub friction: Vec<f64>,
    /// Distance (m) that particles keep from rigid bodies.
    pub thickness: f64,
    /// Particles that rigid bodies carry.
    pub bindings: Vec<Binding<D>>,
    /// Particles of bodies that push a fluid without being pushed.
    pub one_way: Vec<Range<usize>>,
    /// Particles on the surfaces of static and kinematic bodies that soft ones meet along their paths instead of by distance ([`Self::add_skin`]).
    pub skins: Vec<Binding<D>>,
    /// What damping keeps of the rigid bodies.
    pub keeps: DampingKeeps,
    /// Rigid body that each obstacle of the integrator follows.
    followed: Vec<usize>,
    /// Is the particle carried?
    carried: Vec<bool>,
    /// Bodies that carry or push particles in the present stage, or are tied to such, ascending.
    pub(crate) carriers: Vec<u32>,
    /// Names of bodies of elements, and rigid bodies that these pass through.
    pub apart: Vec<(String, u32)>,
    /// Rigid bodies that do not touch the particles of each of `bodies`: those that carry some of them, and those that it passes through.
    inside: Vec<Vec<u32>>,
    /// Carried particles of surfaces, by body and soft body.
    carried_surfaces: Vec<CarriedSurface<D>>,
    /// Part of the elastic stability limit that explicit steps use.
    pub safety: f64,
    /// Held particles that are let go.
    pub releases: Vec<Release>,
    /// Loads that change in time.
    pub loads: Vec<ScheduledLoad>,
}

/// Particles of the surface of a soft body that a rigid body carries.
#[derive(Debug, Clone)]
struct CarriedSurface<const D: usize> {
    carrier: u32,
    /// Place of the soft body among those of the solids.
    soft: usize,
    /// Are they inside the carrier, whose own geometry touches before them?
    covered: bool,
    /// With their places in the carrier's coordinates (m).
    points: Arc<[(u32, Vector<D>)]>,
}

/// A load whose size changes in time.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduledLoad {
    /// Its place among the forces of the solid.
    pub force: usize,
    /// Factor against time (s), linear in between.
    pub factor: Vec<[f64; 2]>,
}

/// Particles that are held until a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// When they are let go (s).
    pub time: f64,
    /// The particles.
    pub particles: Vec<u32>,
}

/// What of the solids changes: all that a checkpoint holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SolidState {
    /// Positions, velocities, time.
    pub motion: Motion,
    /// Plastic deformations, rest angles and lengths, by force.
    pub history: Vec<Vec<f64>>,
    /// Pairs in contact with their sides.
    pub contact: Vec<f64>,
}

/// The solids during one step.
pub(crate) struct SolidStep {
    /// At the start of the step, prescribed particles with the velocity of this step.
    pub motion: Motion,
    pub stages: Stages,
    /// Implicit elasticity and damping (kg) of the last velocity solve, for those that solve on from there; `None` with explicit elasticity.
    pub resistance: Option<CsrMatrix>,
    /// What resists the push of a fluid in the present stage, and its factor where the form of the coupled system needs it.
    coupled: Option<(CsrMatrix, Option<CsrMatrix>)>,
    /// `1/m` (1/kg) of all particles, 0 for those that move as told.
    inverse_masses: Vec<f64>,
    pub report: IntegrationReport,
}

impl SolidStep {
    /// Adds what particles that touch something push on with ([`Stages::missing`]) to `velocity` (m/s).
    pub fn add_missing(&self, velocity: &mut [f64]) {
        velocity.iter_mut().zip(&self.stages.missing).for_each(|(v, missing)| *v += missing);
    }

    /// Adds the velocities (m/s) to those to the half step of the particles that the rows are about.
    pub fn push_on<const D: usize>(&mut self, rows: &[HeldRow<D>], pushes: &[Vector<D>])
    where
        Dim<D>: Space<D>,
    {
        for (row, push) in rows.iter().zip(pushes) {
            for (end, _) in &row.ends {
                if let End::Particle(particle) = *end {
                    let own = &mut self.stages.moving[D * particle..D * (particle + 1)];
                    own.iter_mut().zip(push.iter()).for_each(|(v, push)| *v += push);
                }
            }
        }
    }

    /// Lets stiff solids follow what contact has found ([`crate::hold`]); `velocity` are theirs at the end of the step, `None` for those to the half step.
    #[expect(clippy::too_many_arguments, reason = "what the stage of the step knows")]
    pub fn hold<const D: usize>(
        &mut self,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &mut [RigidMotion<D>],
        velocity: Option<&mut [f64]>,
        held: &[HeldRow<D>],
        cones: Option<&Cones<'_, D>>,
        before: Option<&[f64]>,
    ) -> Result<(), String>
    where
        Dim<D>: Space<D>,
    {
        let Self { stages, resistance: Some(matrix), inverse_masses, .. } = self else { return Ok(()) };
        let _timed = crate::stage("soft bodies");
        let resistance = Resistance { matrix, factor: None, velocity: &stages.resisted };
        let velocity = velocity.unwrap_or(&mut stages.moving);
        let body = Held { resistance, missing: &stages.missing, inverse_masses, before };
        hold(model, frames, motions, velocity, held, cones, &body).map_err(|error| error.to_string())
    }

    /// Implicit forces as a fluid that pushes meets them, about the particles' `velocity` (m/s) by their own solve.
    pub fn resistance<'a>(&'a self, velocity: &'a [f64]) -> Option<Resistance<'a>> {
        let velocity = if self.resistance.is_some() { &self.stages.resisted } else { velocity };
        let (matrix, factor) = self.coupled.as_ref()?;
        Some(Resistance { matrix, factor: factor.as_ref(), velocity })
    }
}

/// A rigid body as particles see it.
#[derive(Debug)]
struct BodyField<const D: usize>(Arc<Geometry<D>>)
where
    Dim<D>: Space<D>;

impl<const D: usize> DistanceField<D> for BodyField<D>
where
    Dim<D>: Space<D>,
{
    fn distance_and_normal(&self, x: &Vector<D>) -> (f64, Vector<D>) {
        self.0.distance_and_normal(x)
    }

    fn bounds(&self) -> Aabb<D> {
        *self.0.bounds()
    }
}

/// Part of the limits of stability of explicit elasticity (s).
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElasticLimit {
    /// Near the present state.
    here: f64,
    /// In whatever state.
    anywhere: f64,
}

/// How much longer than its limit there a part may be that ends in a stiffer state. The limits have a factor of safety of two, and elements in a mesh are softer than alone.
const FARTHEST_BEYOND: f64 = 1.5;

/// Distance (relative to the coordinates) from where it must be at which a skin counts as late.
const LATE: f64 = 1e-9;

impl<const D: usize> Solids<D>
where
    Dim<D>: Space<D>,
{
    /// No bodies yet.
    pub fn new(gravity: Vector<D>, scheme: Scheme) -> Self {
        let mut integrator = Integrator::new(scheme);
        // What a linearly implicit solve leaves is not corrected by anything after it.
        integrator.tolerance = if scheme == Scheme::LinearlyImplicit { 1e-8 } else { 1e-4 };
        Self {
            solid: Solid::new(Vec::new(), Vec::new(), gravity),
            integrator,
            bodies: Vec::new(),
            friction: Vec::new(),
            thickness: 0.0,
            bindings: Vec::new(),
            one_way: Vec::new(),
            skins: Vec::new(),
            keeps: DampingKeeps::default(),
            followed: Vec::new(),
            carried: Vec::new(),
            carriers: Vec::new(),
            apart: Vec::new(),
            inside: Vec::new(),
            carried_surfaces: Vec::new(),
            safety: 0.5,
            releases: Vec::new(),
            loads: Vec::new(),
        }
    }

    /// The state at `motion`.
    pub fn state(&self, motion: Motion) -> SolidState {
        let contact =
            self.integrator.self_contact.as_ref().map_or_else(Vec::new, |contact| contact.history());
        SolidState { motion, history: self.solid.history(), contact }
    }

    /// Takes back a saved state; false if it is of another world.
    pub fn restore(&mut self, state: &SolidState) -> bool {
        let count = D * self.solid.len();
        self.follow_schedules(state.motion.time);
        state.motion.position.len() == count
            && state.motion.velocity.len() == count
            && self.solid.restore(&state.history)
            && self.integrator.self_contact.as_mut().is_none_or(|contact| contact.restore(&state.contact))
    }

    /// `1/m` (1/kg) of all particles, 0 for those that are pinned or carried by rigid bodies.
    pub(crate) fn free_inverse_masses(&self) -> Vec<f64> {
        let mut inverses = self.solid.inverse_masses();
        inverses.iter_mut().zip(&self.carried).filter(|(_, carried)| **carried).for_each(|(m, _)| *m = 0.0);
        inverses
    }

    /// The same as a fluid feels them: 0 also for those that it does not push.
    pub(crate) fn inverse_masses_in_fluid(&self) -> Vec<f64> {
        let mut inverses = self.free_inverse_masses();
        self.one_way.iter().for_each(|range| inverses[range.clone()].fill(0.0));
        inverses
    }

    /// Masses (kg) of all particles, 0 for those that are pinned or carried by rigid bodies.
    pub(crate) fn free_masses(&self) -> Vec<f64> {
        let masses = self.solid.masses().iter().zip(self.solid.pinned());
        masses.map(|(mass, pinned)| if *pinned { 0.0 } else { *mass }).collect()
    }

    /// Do they take part in the stages of the step, both ways? Fully implicit schemes follow it.
    pub fn takes_part(&self) -> bool {
        !matches!(self.integrator.scheme, Scheme::Implicit(_) | Scheme::TwoPass)
    }

    /// Rigid bodies of infinite mass as obstacles of the particles; those of finite mass, too, where the scheme cannot push back on them.
    pub(crate) fn follow_bodies(&mut self, model: &Model<D>, state: &State<D>) {
        let one_way = !self.takes_part();
        for (index, (body, now)) in model.bodies.iter().zip(&state.bodies).enumerate() {
            let Some(geometry) = body.geometry.as_ref().filter(|_| one_way || !body.is_dynamic()) else {
                continue;
            };
            self.integrator.obstacles.push(Obstacle {
                name: body.name.clone(),
                shape: ObstacleShape::Field(Arc::new(BodyField(geometry.clone()))),
                start: now.frame,
                end: now.frame,
                twist: Twist::zero(),
                friction: self.friction.get(index).copied().unwrap_or(body.material.friction),
                thickness: self.thickness,
                lets_through: Vec::new(),
            });
            self.followed.push(index);
        }
        self.carried = vec![false; self.solid.len()];
        for binding in &self.bindings {
            self.carried[binding.particle as usize] = true;
            self.solid.set_pinned(binding.particle as usize, true);
        }
        for skin in &self.skins {
            self.carried[skin.particle as usize] = true;
        }
        for particle in (0..self.solid.len()).filter(|&particle| self.solid.is_embedded(particle)) {
            self.carried[particle] = true;
        }
        self.inside = (self.bodies.iter())
            .map(|body| {
                let own =
                    self.bindings.iter().filter(|one| body.particles.contains(&(one.particle as usize)));
                let mut own: Vec<u32> = own.map(|binding| binding.body).collect();
                own.extend(self.apart.iter().filter(|pair| pair.0 == body.name).map(|pair| pair.1));
                own.sort_unstable();
                own.dedup();
                own
            })
            .collect();
        self.find_carried_surfaces(model);
        for (obstacle, &index) in self.integrator.obstacles.iter_mut().zip(&self.followed) {
            let passing =
                self.bodies.iter().zip(&self.inside).filter(|(_, own)| own.contains(&(index as u32)));
            let range = |particles: &Range<usize>| particles.start as u32..particles.end as u32;
            obstacle.lets_through = passing.map(|(body, _)| range(&body.particles)).collect();
        }
    }

    fn find_carried_surfaces(&mut self, model: &Model<D>) {
        let touches = |particle: u32| match &self.integrator.colliders {
            Colliders::These(nodes) => nodes.binary_search(&particle).is_ok(),
            Colliders::All => true,
        };
        let mut parts: BTreeMap<(u32, usize, bool), Vec<(u32, Vector<D>)>> = BTreeMap::new();
        for binding in self.bindings.iter().filter(|binding| touches(binding.particle)) {
            let own = |body: &SolidBody| body.particles.contains(&(binding.particle as usize));
            let geometry = model.bodies.get(binding.body as usize).and_then(|body| body.geometry.as_ref());
            if let (Some(soft), Some(geometry)) = (self.bodies.iter().position(own), geometry) {
                let covered = geometry.signed_distance(&binding.place) < -self.thickness;
                let points = parts.entry((binding.body, soft, covered)).or_default();
                points.push((binding.particle, binding.place));
            }
        }
        let part = |((carrier, soft, covered), points): (_, Vec<_>)| CarriedSurface {
            carrier,
            soft,
            covered,
            points: points.into(),
        };
        self.carried_surfaces = parts.into_iter().map(part).collect();
    }

    /// How carried particles touch other rigid bodies: as points of their carriers. Pairs in `joined` (ascending) never touch.
    pub(crate) fn probes(&self, model: &Model<D>, joined: &[[u32; 2]]) -> Vec<Probes<D>> {
        let mut all = Vec::new();
        for surface in &self.carried_surfaces {
            let partner = |pair: &[u32; 2]| match *pair {
                [a, b] if a == surface.carrier => Some(b),
                [a, b] if b == surface.carrier => Some(a),
                _ => None,
            };
            let mut passes = self.inside[surface.soft].clone();
            passes.extend(joined.iter().filter_map(partner));
            if surface.covered {
                // Only of what the carrier itself passes through do they have to see to it.
                let apart: BTreeSet<u32> = model.apart.iter().filter_map(partner).collect();
                if apart.is_empty() {
                    continue;
                }
                passes.extend((0..model.bodies.len() as u32).filter(|body| !apart.contains(body)));
            }
            passes.sort_unstable();
            passes.dedup();
            let (body, points) = (surface.carrier, surface.points.clone());
            all.push(Probes { body, points, thickness: self.thickness, passes });
        }
        all
    }

    /// Pairs of a rigid body and a reached particle (numbered after the `count` bodies) that do not touch.
    pub(crate) fn untouched(&self, reached: &Reached<D>, count: usize) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for (body, inside) in self.bodies.iter().zip(&self.inside).filter(|(_, inside)| !inside.is_empty()) {
            let first = reached.particles.partition_point(|&p| (p as usize) < body.particles.start);
            let last = reached.particles.partition_point(|&p| (p as usize) < body.particles.end);
            for place in first..last {
                pairs.extend(inside.iter().map(|&bone| [bone, (count + place) as u32]));
            }
        }
        pairs
    }

    /// Can the elastic limit change on the way? Laws that harden and plastic rest shapes have one that does; strengths do, too.
    fn elastic_limit_varies(&self) -> bool {
        self.integrator.scheme == Scheme::LinearlyImplicit
            || self.solid.stable_step_varies()
            || !self.releases.is_empty()
            || self.bodies.iter().any(|body| !body.strength.is_empty())
    }

    /// Longest part (s) of a step that these solids can take at once; `known` is the elastic limit at the start of the step.
    pub(crate) fn longest_part(
        &mut self,
        state: &SolidState,
        known: &mut Option<ElasticLimit>,
    ) -> Result<f64, String> {
        if !self.takes_part() {
            return Ok(f64::INFINITY);
        }
        let elastic = match *known {
            Some(elastic) if !self.elastic_limit_varies() => elastic,
            _ => {
                self.follow_schedules(state.motion.time);
                self.elastic_limit(&state.motion).map_err(|error| error.to_string())?
            }
        };
        *known = Some(elastic);
        Ok(self.longest_step(&state.motion, elastic))
    }

    /// Has a part (s) of a step led to where elasticity is too stiff for it? Then it has to be taken again in shorter ones. One that is stable whatever comes never has.
    pub(crate) fn outran(&mut self, state: &SolidState, part: f64) -> Result<bool, String> {
        let explicit = self.takes_part() && self.integrator.scheme != Scheme::LinearlyImplicit;
        if !(explicit && self.solid.stable_step_varies()) {
            return Ok(false);
        }
        let limit = self.elastic_limit(&state.motion).map_err(|error| error.to_string())?;
        Ok(part > limit.anywhere && part > FARTHEST_BEYOND * limit.here)
    }

    /// I: the solids from `state`; carriers of particles get what these pull on them.
    pub(crate) fn begin(
        &mut self,
        model: &Model<D>,
        state: &State<D>,
        half: &mut [RigidMotion<D>],
        joints: Vec<JointRow<D>>,
        dt: f64,
    ) -> Result<SolidStep, String> {
        let _timed = crate::stage("soft bodies");
        let mut motion = state.solids.motion.clone();
        self.follow_schedules(motion.time);
        self.integrator.drive(&self.solid, &mut motion, dt);
        let frames: Vec<Frame<D>> = state.bodies.iter().map(|body| body.frame).collect();
        let start: Vec<RigidMotion<D>> = state.bodies.iter().map(RigidMotion::of).collect();
        // What pushed in the last step is expected to push in this one.
        let pushing = pushing_pairs(&state.contact);
        let tied = self.tied_rows(model, &frames, &start, joints, None, 1.0);
        self.set_carriers(model, &frames, &frames, &motion.position, &pushing, &tied);
        self.set_links(model, &frames, &frames, &start, &motion, &pushing, |relative, gap| {
            (-gap / dt).min(0.0) - relative
        });
        self.move_carried(model, &frames, &start, &mut motion.velocity);
        self.move_skins(model, &frames, &start, &mut motion.velocity);
        let mut report = IntegrationReport::default();
        let mut stages = self
            .integrator
            .begin(&mut self.solid, &motion, dt, &mut report)
            .map_err(|error| error.to_string())?;
        self.push_carriers(model, &frames, &start, half);
        self.move_carried(model, &frames, half, &mut stages.moving);
        let resistance = match self.integrator.scheme == Scheme::LinearlyImplicit {
            true => Some(self.solid.resistance(0.5 * dt, dt).map_err(|error| error.to_string())?),
            false => None,
        };
        // The first half of Newmark's step has its damping at the start.
        let tau = if self.integrator.scheme == Scheme::Newmark { 0.0 } else { 0.5 * dt };
        let coupled = self.coupled_resistance(model, tau, dt)?;
        let inverse_masses = self.free_inverse_masses();
        Ok(SolidStep { motion, stages, resistance, coupled, inverse_masses, report })
    }

    /// The particles that a rigid body can reach in this step.
    pub(crate) fn reached(
        &self,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[RigidMotion<D>],
        step: &SolidStep,
    ) -> Reached<D> {
        let all: Vec<u32>;
        let particles = match &self.integrator.colliders {
            Colliders::These(nodes) => nodes.as_slice(),
            Colliders::All => {
                all = (0..self.solid.len() as u32).collect();
                &all
            }
        };
        let candidates = Candidates {
            particles,
            masses: self.solid.masses(),
            pinned: self.solid.pinned(),
            carried: &self.carried,
            position: &step.motion.position,
            moving: &step.stages.moving,
            thickness: self.thickness,
        };
        Reached::find(model, frames, motions, &candidates, step.stages.dt)
    }

    /// IV.1: particles move; obstacles stop those that contact with rigid bodies does not see to.
    pub(crate) fn move_particles(
        &mut self,
        model: &Model<D>,
        state: &State<D>,
        frames: &[Frame<D>],
        step: &mut SolidStep,
        reached: &Reached<D>,
    ) -> Result<(), String> {
        for (obstacle, &body) in self.integrator.obstacles.iter_mut().zip(&self.followed) {
            let now = &state.bodies[body];
            (obstacle.start, obstacle.end) = (now.frame, frames[body]);
            obstacle.twist = now.twist(&model.bodies[body]);
        }
        let SolidStep { motion, stages, .. } = step;
        self.integrator
            .move_particles(&self.solid, motion, stages, |particle| reached.contains(particle))
            .map_err(|error| error.to_string())?;
        self.place_carried(frames, &mut stages.next);
        self.place_skins(frames, &mut stages.next);
        Ok(())
    }

    /// IV.2: solids keep off themselves and each other. Bodies that carry particles answer to it: their momenta in `motions`, with inertias at `before`, and their `frames`.
    pub(crate) fn collide_self(
        &mut self,
        model: &Model<D>,
        before: &[Frame<D>],
        motions: &mut [RigidMotion<D>],
        frames: &mut [Frame<D>],
        step: &mut SolidStep,
    ) -> Result<(), String> {
        if self.integrator.self_contact.is_none() {
            return Ok(());
        }
        let _timed = crate::stage("self-contact");
        self.integrator
            .collide_self(&self.solid, &step.motion, &mut step.stages, &mut step.report)
            .map_err(|error| error.to_string())?;
        self.push_touched(model, before, motions);
        self.move_touched(step.stages.dt, frames);
        Ok(())
    }

    /// V: velocities at the end of the step from `start`; carriers in `full` get what their particles pull on them.
    #[expect(clippy::too_many_arguments)]
    pub(crate) fn finish(
        &mut self,
        model: &Model<D>,
        state: &State<D>,
        frames: &[Frame<D>],
        start: &[RigidMotion<D>],
        full: &mut [RigidMotion<D>],
        step: &mut SolidStep,
        pushing: &[[u32; 2]],
        joints: Vec<JointRow<D>>,
        contact: &ContactSolver<D>,
    ) -> Result<Vec<f64>, String> {
        let _timed = crate::stage("soft bodies");
        let SolidStep { motion, stages, resistance, report, .. } = step;
        // Over the whole step it is twice that of the half.
        if let Some(resistance) = resistance {
            resistance.values_mut().iter_mut().for_each(|value| *value *= 2.0);
        }
        // Forces act half way, or at the end, as the scheme has it.
        let at: Vec<f64> = match self.integrator.scheme {
            Scheme::B => motion.position.iter().zip(&stages.next).map(|(a, b)| 0.5 * (a + b)).collect(),
            _ => stages.next.clone(),
        };
        let middle: Vec<Frame<D>> = match self.integrator.scheme {
            Scheme::B => state.bodies.iter().zip(frames).map(|(a, b)| a.frame.interpolate(b, 0.5)).collect(),
            _ => frames.to_vec(),
        };
        // So that nothing approaches at the end of the step, which in scheme B is twice as far.
        let part = if self.integrator.scheme == Scheme::B { 0.5 } else { 1.0 };
        let tied = self.tied_rows(model, frames, start, joints, Some(contact), part);
        self.set_carriers(model, frames, &middle, &at, pushing, &tied);
        self.move_carried(model, frames, start, &mut stages.start);
        let there = Motion { position: at, velocity: stages.start.clone(), time: 0.0 };
        let pushing = if self.keeps.particles { pushing } else { &[] };
        self.set_links(model, frames, &middle, start, &there, pushing, |relative, _| -part * relative);
        self.integrator.undamped = self.damps_after_contact(model);
        let finished = self.integrator.finish(&mut self.solid, motion, stages, report);
        self.integrator.undamped = false;
        let velocity = finished.map_err(|error| error.to_string())?;
        self.push_carriers(model, frames, start, full);
        let dt = step.stages.dt;
        // The others have half of their damping at the start of the step.
        let whole = matches!(self.integrator.scheme, Scheme::C | Scheme::LinearlyImplicit);
        step.coupled = self.coupled_resistance(model, if whole { dt } else { 0.5 * dt }, dt)?;
        Ok(velocity)
    }

    /// Does elasticity resist in the solves of the stages, too?
    pub(crate) fn is_stiff(&self) -> bool {
        self.integrator.scheme == Scheme::LinearlyImplicit
    }

    /// What resists the push of a fluid: damping over `tau` seconds and, where it is implicit, elasticity `dt` seconds ahead, at the last update; particles that bodies carry take part. With the factor where
    /// the form of the coupled system needs it. Nothing where damping waits for contact.
    #[inline(never)]
    fn coupled_resistance(
        &mut self,
        model: &Model<D>,
        tau: f64,
        dt: f64,
    ) -> Result<Option<(CsrMatrix, Option<CsrMatrix>)>, String> {
        let Some(options) = model.coupling.as_ref().filter(|_| model.fluid.is_some()) else {
            return Ok(None);
        };
        let damped = self.solid.damping_rows() > 0 && !self.damps_after_contact(model);
        if tau == 0.0 || !(self.is_stiff() || damped) {
            return Ok(None);
        }
        let ahead = if self.is_stiff() { dt } else { 0.0 };
        let carried: Vec<usize> = self.bindings.iter().map(|binding| binding.particle as usize).collect();
        carried.iter().for_each(|&particle| self.solid.set_pinned(particle, false));
        let matrix = self.solid.resistance(tau, ahead);
        let needed = options.form == CouplingForm::Impulses;
        let factor = needed.then(|| self.solid.resistance_factor(tau, ahead)).transpose();
        carried.iter().for_each(|&particle| self.solid.set_pinned(particle, true));
        Ok(Some((matrix.map_err(|error| error.to_string())?, factor.map_err(|error| error.to_string())?)))
    }

    /// Is damping left until contact has acted?
    pub(crate) fn damps_after_contact(&self, model: &Model<D>) -> bool {
        let explicit = matches!(self.integrator.scheme, Scheme::A | Scheme::B | Scheme::C);
        model.options.contact_before_damping && explicit && self.solid.damping_rows() > 0
    }

    /// V, where contact comes before damping: damps the particles' `velocity` (m/s) and the bodies that carry and touch them, which keep what contact and joints made of it.
    #[expect(clippy::too_many_arguments)]
    pub(crate) fn damp(
        &mut self,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &mut [RigidMotion<D>],
        velocity: &mut Vec<f64>,
        step: &mut SolidStep,
        pushing: &[[u32; 2]],
        joints: Vec<JointRow<D>>,
        contact: &ContactSolver<D>,
    ) -> Result<(), String> {
        let _timed = crate::stage("soft bodies");
        let SolidStep { stages, report, .. } = step;
        // The joints hold by now.
        let joints = joints.into_iter().map(|row| JointRow { kept: 0.0, ..row }).collect();
        let tied = self.tied_rows(model, frames, motions, joints, Some(contact), 0.0);
        self.set_carriers(model, frames, frames, &stages.next, pushing, &tied);
        self.move_carried(model, frames, motions, velocity);
        let there = Motion { position: stages.next.clone(), velocity: velocity.clone(), time: 0.0 };
        let pushing = if self.keeps.particles { pushing } else { &[] };
        self.set_links(model, frames, frames, motions, &there, pushing, |_, _| 0.0);
        *velocity = (self.integrator.damp(&self.solid, velocity, stages.dt, report))
            .map_err(|error| error.to_string())?;
        let changes = self.integrator.carriers.as_ref().map_or(&[][..], |own| &own.change);
        for (&index, change) in self.carriers.iter().zip(changes) {
            let (body, motion) = (&model.bodies[index as usize], &mut motions[index as usize]);
            if body.is_dynamic() {
                motion.velocity += change.linear;
                motion.angular_momentum += body.angular_momentum_of(&frames[index as usize], &change.angular);
            }
        }
        Ok(())
    }

    /// The state after the step; `bodies` are the velocities of the rigid bodies at `frames`, final but for repulsions between soft surfaces that they carry.
    pub(crate) fn end(
        &mut self,
        model: &Model<D>,
        frames: &[Frame<D>],
        bodies: &mut [RigidMotion<D>],
        step: SolidStep,
        mut velocity: Vec<f64>,
    ) -> Result<(SolidState, IntegrationReport), String> {
        let _timed = crate::stage("soft bodies");
        let SolidStep { motion, stages, mut report, .. } = step;
        let dt = stages.dt;
        if !self.bindings.is_empty() {
            self.set_carriers(model, frames, frames, &stages.next, &[], &[]);
            self.move_carried(model, frames, bodies, &mut velocity);
        }
        self.integrator.repel_at_end(&self.solid, &stages.next, &mut velocity, dt);
        if !self.bindings.is_empty() {
            self.push_touched(model, frames, bodies);
            self.move_carried(model, frames, bodies, &mut velocity);
        }
        self.move_skins(model, frames, bodies, &mut velocity);
        let mut next = Motion { position: stages.next, velocity, time: motion.time + dt };
        self.integrator
            .accept(&mut self.solid, &motion, &mut next, dt, &mut report)
            .map_err(|error| error.to_string())?;
        report.contacts = self.integrator.touches().len() + self.integrator.links.len();
        report.depth = self.integrator.depth(&next.position);
        Ok((self.state(next), report))
    }

    /// Fully implicit solids of `next`, `dt` seconds on, after the rigid bodies have moved from where they are in `before` to where they are in `next`. A step that fails leaves what the solids
    /// remember to the caller, who takes a shorter one.
    pub(crate) fn follow(
        &mut self,
        bodies: &[Body<D>],
        before: &State<D>,
        next: &mut State<D>,
        dt: f64,
    ) -> Result<IntegrationReport, String> {
        let _timed = crate::stage("soft bodies");
        let mut motion = before.solids.motion.clone();
        self.follow_schedules(motion.time);
        for (obstacle, &body) in self.integrator.obstacles.iter_mut().zip(&self.followed) {
            let (old, new) = (&before.bodies[body].frame, &next.bodies[body].frame);
            (obstacle.start, obstacle.end) = (*old, *new);
            // Bodies that nothing moves keep their twist to the bit; others have that of the step.
            obstacle.twist = if bodies[body].is_dynamic() {
                old.twist_to(new, dt)
            } else {
                next.bodies[body].twist(&bodies[body])
            };
        }
        let targets = self.skin_targets(next);
        for (skin, target) in self.skins.iter().zip(&targets) {
            let way = target - read::<D>(&motion.position, skin.particle);
            motion.velocity[D * skin.particle as usize..][..D].copy_from_slice((way / dt).as_slice());
        }
        let report = self.integrator.step_at_once(&mut self.solid, &mut motion, dt);
        let report = report.map_err(|error| error.to_string())?;
        // A barrier stops them short where soft bodies do not get out of their way in time.
        let late = |(skin, target): (&Binding<D>, &Vector<D>)| {
            let x = read::<D>(&motion.position, skin.particle);
            (x - target).norm() > LATE * (1.0 + target.norm())
        };
        if self.skins.iter().zip(&targets).any(late) {
            return Err("soft bodies do not get out of the way of a surface that moves as told".into());
        }
        next.solids = self.state(motion);
        Ok(report)
    }

    /// The limit of stability of explicit elasticity at these positions.
    fn elastic_limit(&mut self, motion: &Motion) -> Result<ElasticLimit, ForceError> {
        let scale = if self.integrator.scheme == Scheme::C { std::f64::consts::FRAC_1_SQRT_2 } else { 1.0 };
        self.solid.update(&motion.position)?;
        let part = scale * self.safety;
        let anywhere = part * self.solid.stable_step();
        // Volumes are corrected by one step of Newton's method a part, whose error grows with the square of the part: longer ones would be stable, but lose twice the volume.
        let here = match self.integrator.incompressible {
            Some(_) => anywhere,
            None => part * self.solid.stable_step_now(),
        };
        Ok(ElasticLimit { here, anywhere })
    }

    /// Longest step from here (s): with explicit elasticity its limit, and no edge changes by more than a tenth unless that would take ten times the steps that are stable in whatever state; with
    /// linearly implicit elasticity that in which no edge changes by more than three tenths, or the elastic limit. Velocities are those that contact has left, damped or not.
    fn longest_step(&self, motion: &Motion, elastic: ElasticLimit) -> f64 {
        let strained = self.solid.strain_rate_step(&motion.position, &motion.velocity);
        match self.integrator.scheme {
            Scheme::LinearlyImplicit => (MOST_STRETCH * strained).max(elastic.anywhere),
            _ => elastic.here.min(strained.max(0.1 * elastic.anywhere)),
        }
    }

    fn follow_schedules(&mut self, time: f64) {
        for release in &self.releases {
            for &particle in &release.particles {
                self.solid.set_pinned(particle as usize, time < release.time);
            }
        }
        for body in self.bodies.iter().filter(|body| !body.strength.is_empty()) {
            let strength = piecewise(&body.strength, time);
            for force in &mut self.solid.forces_mut()[body.forces.clone()] {
                force.set_strength(strength);
            }
        }
        for load in &self.loads {
            self.solid.forces_mut()[load.force].set_strength(piecewise(&load.factor, time));
        }
        for body in self.bodies.iter().filter(|body| !body.activation.is_empty()) {
            let activation = piecewise(&body.activation, time);
            for force in &mut self.solid.forces_mut()[body.forces.clone()] {
                force.set_activation(activation);
            }
        }
        for body in &self.bodies {
            for (family, activation) in body.families.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
                let activation = piecewise(activation, time);
                for force in &mut self.solid.forces_mut()[body.forces.clone()] {
                    force.set_family_activation(family, activation);
                }
            }
        }
    }

    /// The body that `particle` belongs to, and its index there; for messages.
    pub fn name_of_particle(&self, particle: usize) -> (&str, usize) {
        self.bodies
            .iter()
            .find(|body| body.particles.contains(&particle))
            .map_or(("?", particle), |body| (&body.name, particle - body.particles.start))
    }

    /// Adds the solids' part to conserved quantities. Elastic energy is that of the last evaluation inside the step.
    pub(crate) fn measure(&self, state: &SolidState, out: &mut Diagnostics) {
        let mut momentum = Vector::<D>::zeros();
        let mut angular = Spin::<D>::zero();
        for particle in (0..self.solid.len()).filter(|&particle| !self.solid.pinned()[particle]) {
            let mass = self.solid.masses()[particle];
            let (x, v) = (state.motion.point::<D>(particle), state.motion.speed::<D>(particle));
            out.mass += mass;
            momentum += v * mass;
            angular += Dim::cross(&x, &(v * mass));
            out.max_speed = out.max_speed.max(v.norm());
        }
        for (sum, own) in out.momentum.iter_mut().zip(momentum.iter()) {
            *sum += own;
        }
        for (sum, own) in out.angular_momentum.iter_mut().zip(Coordinates::as_slice(&angular)) {
            *sum += own;
        }
        let kinetic = self.solid.kinetic_energy(&state.motion.velocity);
        let mut at_rest = self.solid.clone();
        let elastic = at_rest.update(&state.motion.position).map_or(f64::NAN, |()| at_rest.energy());
        out.elements = Some(ElementDiagnostics { inverted: at_rest.inverted(), skipped: at_rest.skipped() });
        let gravity = self.solid.gravity_energy(&state.motion.position);
        out.kinetic_energy += kinetic;
        out.elastic_energy += elastic;
        out.gravity_energy += gravity;
        out.total_energy += kinetic + elastic + gravity;
    }
}

pub(crate) fn read<const D: usize>(flat: &[f64], particle: u32) -> Vector<D> {
    Vector::from_column_slice(&flat[D * particle as usize..][..D])
}

/// Linear between the points `(t, value)`, constant outside.
fn piecewise(points: &[[f64; 2]], t: f64) -> f64 {
    let after = points.partition_point(|point| point[0] <= t);
    match (after.checked_sub(1).map(|at| points[at]), points.get(after)) {
        (None, Some(first)) => first[1],
        (Some(last), None) => last[1],
        (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * (t - a[0]) / (b[0] - a[0]),
        (None, None) => 1.0,
    }
}
