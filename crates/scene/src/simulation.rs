//! The world of a scene as a [`Simulation`] that a run can step, photograph, save and restore.

use crate::build::{AnyWorld, BuildError, build};
use crate::contact_picture::{contact_points, forces_on_bodies};
use crate::description::{Scene, Shape};
use crate::frame::{self, Association, Attribute, Bodies, Data, Element, Frame, Geometry, Part};
use crate::looks::Looks;
use crate::run::{Advance, Breakdown, Plan, Simulation, fingerprint};
use crate::strain::strain_and_volume_error;
use splashdown_couple::{
    Clock, ClockError, Diagnostics, Model, SolidBody, SolidElement, Solids, State, StepPolicy, World,
};
use splashdown_deformable::Force;
use splashdown_math::{Coordinates, Dim, Space};
use std::sync::Arc;

/// Name of the part that holds all rigid bodies; no body can have it, since names have no spaces.
pub const RIGID_BODIES: &str = "rigid bodies";
/// Name of the part that shows where joints are; no body can have it either.
const JOINTS: &str = "joint anchors";

/// A scene that cannot be run as it is.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The world cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The time step does not suit the world.
    #[error("`time.step`: {0}")]
    Step(#[from] ClockError),
}

/// Builds the world of a scene, ready to run, and checks that its time step is possible.
pub fn prepare(scene: &Scene) -> Result<Box<dyn Simulation>, PrepareError> {
    Ok(match build(scene)? {
        AnyWorld::Two(world) => Box::new(SceneWorld::new(scene, *world)?),
        AnyWorld::Three(world) => Box::new(SceneWorld::new(scene, *world)?),
    })
}

impl Scene {
    /// What to run and keep for this scene; `original` is its text as given.
    pub fn plan(&self, name: &str, original: &str, threads: usize) -> Plan {
        Plan {
            name: name.into(),
            scene: self.to_toml(),
            original: original.into(),
            fingerprint: fingerprint(&self.physics().to_string()),
            last_frame: self.time.last_frame(),
            save_frames: self.output.frames,
            log_every: self.output.log_every.into(),
            checkpoint_every: self.output.checkpoint_every.into(),
            compression: self.output.compression as i32,
            threads,
        }
    }

    /// Everything that the motion depends on: the scene without its texts, its end and its output.
    fn physics(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(scene) = value.as_object_mut() {
            for field in ["title", "summary", "include", "variables", "output", "camera"] {
                scene.remove(field);
            }
            if let Some(time) = scene.get_mut("time").and_then(|time| time.as_object_mut()) {
                time.remove("end");
            }
        }
        value
    }

    /// Where the physics of two scenes differs, as `field: this -> other`; empty if one can go on where the other stopped.
    pub fn physics_differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        differences("", &self.physics(), &other.physics(), &mut found);
        found
    }
}

fn differences(path: &str, a: &serde_json::Value, b: &serde_json::Value, found: &mut Vec<String>) {
    use serde_json::Value::{Array, Null, Object};
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Object(a), Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                differences(&below(key), a.get(key).unwrap_or(&Null), b.get(key).unwrap_or(&Null), found);
            }
        }
        (Array(a), Array(b)) if a.len() == b.len() && a.iter().all(serde_json::Value::is_object) => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                let name =
                    a.get("name").and_then(|name| name.as_str()).map_or(index.to_string(), str::to_owned);
                differences(&below(&name), a, b, found);
            }
        }
        (a, b) if a != b => found.push(format!("{path}: {} -> {}", shown(a), shown(b))),
        _ => {}
    }
}

fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "not given".into(),
        serde_json::Value::Array(items) if items.iter().any(serde_json::Value::is_object) => {
            format!("{} bodies", items.len())
        }
        other => other.to_string(),
    }
}

/// A world with what a run needs besides: its clock and the looks of its bodies.
struct SceneWorld<const D: usize>
where
    Dim<D>: Space<D>,
{
    world: World<D>,
    clock: Clock,
    stable_step: f64,
    shapes: Vec<frame::Shape>,
    shape_of: Vec<u32>,
    looks: Looks,
    /// Looks of the fluid's obstacles.
    fluid_shapes: Vec<frame::Shape>,
}

impl<const D: usize> SceneWorld<D>
where
    Dim<D>: Space<D>,
{
    fn new(scene: &Scene, world: World<D>) -> Result<Self, ClockError> {
        let clock = scene.time.clock();
        let stable_step = world.model().stable_step();
        clock.next_step(0.0, 1, stable_step)?;
        // Copies of one entry follow each other and share its shape.
        let mut shapes: Vec<frame::Shape> = Vec::new();
        let mut shape_of = Vec::new();
        let mut last: Option<*const crate::Rigid> = None;
        for (index, copy) in scene.rigid_copies().enumerate() {
            if last != Some(std::ptr::from_ref(copy.rigid)) {
                last = Some(std::ptr::from_ref(copy.rigid));
                let geometry = world.model().bodies.get(index).and_then(|body| body.geometry.as_deref());
                shapes.push(if copy.rigid.moves_its_shape() {
                    surface_of(geometry)
                } else {
                    picture_of(&copy.rigid.shape, geometry)
                });
            }
            shape_of.push(shapes.len() as u32 - 1);
        }
        let fluid_shapes = world.model().fluid.as_ref().map_or_else(Vec::new, crate::fluid_picture::shapes);
        Ok(Self { world, clock, stable_step, shapes, shape_of, looks: Looks::default(), fluid_shapes })
    }
}

/// What a body looks like in object coordinates.
fn picture_of<const D: usize>(shape: &Shape, geometry: Option<&splashdown_rigid::Geometry<D>>) -> frame::Shape
where
    Dim<D>: Space<D>,
{
    match shape {
        Shape::Sphere { radius } => frame::Shape::Ball { radius: *radius },
        Shape::Box { size } => frame::Shape::Box { edges: size.clone() },
        Shape::Plane { drawn, .. } => {
            // A square in the plane, seen from outside; a line in 2D.
            let half = 0.5 * drawn.unwrap_or(10.0);
            let (points, elements) = if D == 2 {
                (vec![half, 0.0, -half, 0.0], vec![0, 1])
            } else {
                let corners = [[-half, -half], [-half, half], [half, half], [half, -half]];
                (corners.iter().flat_map(|[x, z]| [*x, 0.0, *z]).collect(), vec![0, 1, 2, 0, 2, 3])
            };
            frame::Shape::Surface(Arc::new(frame::SurfaceShape::new(points, elements)))
        }
        Shape::Capsule { .. }
        | Shape::Cylinder { .. }
        | Shape::Torus { .. }
        | Shape::Hull { .. }
        | Shape::Mesh { .. }
        | Shape::Ellipsoid { .. }
        | Shape::Boxes { .. }
        | Shape::Parts { .. } => surface_of(geometry),
    }
}

/// The surface of a geometry in object coordinates.
fn surface_of<const D: usize>(geometry: Option<&splashdown_rigid::Geometry<D>>) -> frame::Shape
where
    Dim<D>: Space<D>,
{
    let mesh = geometry.and_then(|geometry| geometry.surface());
    let (points, elements) = mesh.map_or_else(Default::default, |mesh| (mesh.points, mesh.elements));
    frame::Shape::Surface(Arc::new(frame::SurfaceShape::new(
        points.iter().flat_map(|point| point.iter().copied()).collect(),
        elements.into_iter().flatten().collect(),
    )))
}

fn on_points(name: &str, unit: &str, components: usize, data: Vec<f64>) -> Attribute {
    let association = Association::Point;
    Attribute { name: name.into(), unit: unit.into(), association, components, data: Data::F64(data) }
}

fn single(name: &str, unit: &str, association: Association, components: usize, data: Vec<f32>) -> Attribute {
    Attribute { name: name.into(), unit: unit.into(), association, components, data: Data::F32(data) }
}

/// Von Mises stress of a body's elements (Pa) at `position`, if its forces, of which there is one for each material, have stresses of just these elements.
fn stresses<const D: usize>(solids: &Solids<D>, body: &SolidBody, position: &[f64]) -> Option<Vec<f32>>
where
    Dim<D>: Space<D>,
{
    let corners = body.elements.len().checked_div(body.count())?;
    let first = body.particles.start as u32;
    let own = solids.solid.forces().get(body.forces.clone())?;
    let same = |force: &dyn Force<D>, element: usize, nodes: &[u32]| {
        let its = force.element_nodes(element);
        its.len() >= corners && nodes.iter().all(|node| its.contains(&(node + first)))
    };
    // What a force remembers may be of another moment of the step; the picture is of the state alone.
    let mut forces: Vec<(&dyn Force<D>, Vec<f64>)> = Vec::new();
    for force in own {
        let mut now = force.boxed();
        now.update(position).ok()?;
        forces.extend(now.stresses().map(|values| (&**force, values)));
    }
    // Each force has its elements in the order of the body's.
    let mut next = vec![0; forces.len()];
    let mut stresses = Vec::with_capacity(body.count());
    for nodes in body.elements.chunks_exact(corners) {
        let has = |at: &usize| next[*at] < forces[*at].1.len() && same(forces[*at].0, next[*at], nodes);
        let at = (0..forces.len()).find(has)?;
        stresses.push(forces[at].1[next[at]] as f32);
        next[at] += 1;
    }
    Some(stresses)
}

/// Where the joints are, and how far their two sides are apart.
fn joints<const D: usize>(model: &Model<D>, state: &State<D>) -> Part
where
    Dim<D>: Space<D>,
{
    let (mut positions, mut radius, mut error) = (Vec::new(), Vec::new(), Vec::new());
    for joint in &model.joints {
        let [parent, child] = joint.world_frames(|body| state.bodies[body].frame);
        positions.extend(child.position.iter());
        // Small beside the bodies that it joins.
        radius.push(0.1 * joint.length());
        error.push((parent.position - child.position).norm());
    }
    Part {
        name: JOINTS.into(),
        geometry: Geometry::Points { positions },
        attributes: vec![on_points("radius", "m", 1, radius), on_points("distance of sides", "m", 1, error)],
    }
}

impl<const D: usize> Simulation for SceneWorld<D>
where
    Dim<D>: Space<D>,
{
    fn dimension(&self) -> usize {
        D
    }

    fn diagnostics(&self) -> Diagnostics {
        self.world.diagnostics()
    }

    fn advance(&mut self, frame: u64) -> Result<Advance, Breakdown> {
        let time = self.world.state().time;
        // Transport of a fluid and contact of bodies are stable at any step; adaptive steps follow them for accuracy.
        let stable = match self.clock.policy {
            StepPolicy::Fixed(_) => self.stable_step,
            StepPolicy::Adaptive { min, safety, .. } => {
                let pace = self.world.rigid_pace().max(min) / safety;
                self.stable_step.min(self.world.fluid_stable_step()).min(pace)
            }
        };
        let (dt, arrived) =
            self.clock.next_step(time, frame, stable).map_err(|error| Breakdown(error.to_string()))?;
        let report = self.world.step(dt).map_err(|error| Breakdown(error.to_string()))?;
        if arrived {
            self.world.set_time(self.clock.frame_time(frame));
        }
        Ok(Advance { arrived, report })
    }

    fn stage_seconds(&mut self) -> Vec<(String, f64)> {
        splashdown_couple::take_stage_seconds()
    }

    fn picture(&self, index: u64) -> Frame {
        let (model, state) = (self.world.model(), self.world.state());
        let mut parts = Vec::new();
        if !model.bodies.is_empty() {
            let (shapes, shape_of) = self.looks.of(model, state, &self.shapes, &self.shape_of);
            let mut bodies = Bodies {
                names: model.bodies.iter().map(|body| body.name.clone()).collect(),
                shapes,
                shape_of,
                ..Bodies::default()
            };
            let (mut velocity, mut spin) = (Vec::new(), Vec::new());
            let (mut mass, mut energy) = (Vec::new(), Vec::new());
            for (body, now) in model.bodies.iter().zip(&state.bodies) {
                bodies.positions.extend(now.frame.position.iter());
                bodies.rotations.extend(Dim::rotation_components(&now.frame.rotation));
                velocity.extend(now.velocity.iter());
                spin.extend_from_slice(Coordinates::as_slice(&now.twist(body).angular));
                // What nothing moves has neither mass nor energy here.
                mass.push(if body.is_dynamic() { body.mass as f32 } else { 0.0 });
                energy.push(if body.is_dynamic() { now.kinetic_energy(body) as f32 } else { 0.0 });
            }
            let attributes = vec![
                on_points("velocity", "m/s", D, velocity),
                on_points("spin", "rad/s", <Dim<D> as Space<D>>::SPIN, spin),
                single("mass", "kg", Association::Point, 1, mass),
                single("kinetic energy", "J", Association::Point, 1, energy),
                single("contact force", "N", Association::Point, D, forces_on_bodies(state)),
            ];
            parts.push(Part { name: RIGID_BODIES.into(), geometry: Geometry::Bodies(bodies), attributes });
        }
        parts.extend(contact_points(model, state));
        if !model.joints.is_empty() {
            parts.push(joints(model, state));
        }
        for body in &model.deformables {
            let particles = body.particles.clone();
            let first = particles.start as u32;
            let positions = state.particles.position[particles.clone()].iter().flatten().copied().collect();
            let velocity = state.particles.velocity[particles.clone()].iter().flatten().copied().collect();
            let springs = &model.springs.springs()[body.springs.clone()];
            let elements = springs.iter().flat_map(|spring| spring.ends.map(|end| end - first)).collect();
            parts.push(Part {
                name: body.name.clone(),
                geometry: Geometry::Mesh { element: Element::Segment, positions, elements },
                attributes: vec![
                    on_points("velocity", "m/s", D, velocity),
                    on_points("mass", "kg", 1, model.particles.mass[particles].to_vec()),
                ],
            });
        }
        if let Some(solids) = self.world.solids() {
            let motion = &state.solids.motion;
            for body in &solids.bodies {
                let flat = D * body.particles.start..D * body.particles.end;
                let element = match body.element {
                    SolidElement::Segment => Element::Segment,
                    SolidElement::Triangle => Element::Triangle,
                    SolidElement::Tetrahedron => Element::Tetrahedron,
                    SolidElement::Hexahedron => Element::Hexahedron,
                };
                let positions = motion.position[flat.clone()].to_vec();
                let (strain, volume) =
                    strain_and_volume_error(element, &body.elements, &body.rest, &positions, D);
                let stress = stresses(solids, body, &motion.position);
                parts.push(Part {
                    name: body.name.clone(),
                    geometry: Geometry::Mesh { element, positions, elements: body.elements.clone() },
                    attributes: [
                        on_points("velocity", "m/s", D, motion.velocity[flat].to_vec()),
                        on_points("mass", "kg", 1, solids.solid.masses()[body.particles.clone()].to_vec()),
                        single("strain", "1", Association::Cell, 1, strain),
                        single("volume error", "1", Association::Cell, 1, volume),
                    ]
                    .into_iter()
                    .chain(stress.map(|stress| {
                        single("stress", if D == 2 { "N/m" } else { "Pa" }, Association::Cell, 1, stress)
                    }))
                    .collect(),
                });
            }
        }
        if let (Some(fluid), Some(now)) = (&model.fluid, &state.fluid) {
            crate::fluid_picture::add_parts(fluid, now, &self.fluid_shapes, &mut parts);
        }
        Frame { dimension: D, index, step: state.step, time: state.time, parts }
    }

    fn save(&self) -> Result<Vec<u8>, Breakdown> {
        postcard::to_stdvec(self.world.state())
            .map_err(|error| Breakdown(format!("the state cannot be saved: {error}")))
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let state: State<D> = postcard::from_bytes(state)
            .map_err(|error| format!("its state cannot be understood: {error}"))?;
        if self.world.restore(state) { Ok(()) } else { Err("its state is that of another world".into()) }
    }
}
