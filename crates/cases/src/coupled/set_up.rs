//! Worlds of rigid bodies and soft ones for the cases.

use crate::CaseError;
use splashdown_couple::{Binding, SolidBody, SolidElement, Solids, StepReport, World};
use splashdown_deformable::Elements;
use splashdown_deformable::collide::Colliders;
use splashdown_deformable::contact::{ContactSurface, SelfContact, SelfContactOptions};
use splashdown_deformable::element::{Damping, DampingKind, Material as Matter};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_geometry::mesh::{TetrahedronMesh, TriangleMesh};
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{Body, Geometry, GeometryError, Kind, Material};
use splashdown_scene::{AnyWorld, build, load};
use std::sync::Arc;

/// Wraps any error with what was being done.
pub(super) fn failed<E: std::fmt::Display>(doing: &'static str) -> impl Fn(E) -> CaseError {
    move |error| CaseError::new(doing, error)
}

/// A neo-Hookean material of density 1000 with damping of the given time (s).
pub(super) fn matter(young: f64, poisson: f64, damping: f64) -> Result<Matter, CaseError> {
    Ok(Matter {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(young, poisson).map_err(failed("making the material"))?,
        density: 1000.0,
        damping: Damping { kind: DampingKind::Linear, time: damping },
    })
}

/// A box of tetrahedra.
pub(super) fn tet_box(
    lower: [f64; 3],
    upper: [f64; 3],
    cells: [usize; 3],
) -> Result<TetrahedronMesh, CaseError> {
    box_tetrahedra(lower.into(), upper.into(), cells, CubeSplit::Five).map_err(failed("meshing"))
}

/// An empty world.
pub(super) fn world(gravity: [f64; 3]) -> Result<World<3>, CaseError> {
    World::new(gravity.into()).map_err(failed("building the world"))
}

/// Adds a rigid body.
pub(super) fn add(
    world: &mut World<3>,
    kind: Kind,
    geometry: Result<Geometry<3>, GeometryError>,
    mass: f64,
    material: Material,
    frame: Frame<3>,
    twist: Twist<3>,
) -> Result<usize, CaseError> {
    let name = format!("body-{}", world.model().bodies.len());
    let geometry = Arc::new(geometry.map_err(failed("making a geometry"))?);
    let body = Body::with_geometry(name, kind, mass, geometry).map_err(failed("making a body"))?;
    Ok(world.add_body(body.material(material), frame, twist))
}

/// Upright at a place.
pub(super) fn at(position: [f64; 3]) -> Frame<3> {
    Frame { position: position.into(), rotation: Dim::<3>::identity() }
}

/// A static half space through the origin whose normal is y turned by `tilt` (rad) about -z: downhill is +x.
pub(super) fn ground(world: &mut World<3>, material: Material, tilt: f64) -> Result<(), CaseError> {
    let plane = Geometry::half_space(Vector::from([0.0, 1.0, 0.0]));
    let frame =
        Frame { position: Vector::zeros(), rotation: Dim::<3>::exp(&Spin::<3>::from([0.0, 0.0, -tilt])) };
    add(world, Kind::Static, plane, 1.0, material, frame, Twist::zero()).map(|_| ())
}

/// One step.
pub(super) fn step(world: &mut World<3>, dt: f64) -> Result<StepReport, CaseError> {
    world.step(dt).map_err(failed("stepping"))
}

/// Soft bodies that are being put together.
pub(super) struct Soft {
    pub solids: Solids<3>,
    motion: Motion,
    surface: Vec<u32>,
    /// Triangles of all surfaces.
    faces: Vec<[u32; 3]>,
}

impl Soft {
    pub fn new(world: &World<3>) -> Self {
        Self::with_scheme(world, Scheme::B)
    }

    pub fn with_scheme(world: &World<3>, scheme: Scheme) -> Self {
        let mut solids = Solids::new(world.model().gravity, scheme);
        solids.integrator.tolerance = 1e-8;
        Self { solids, motion: Motion::default(), surface: Vec::new(), faces: Vec::new() }
    }

    /// Adds tetrahedra that move with `velocity` (m/s); returns their first particle.
    pub fn add(
        &mut self,
        mesh: &TetrahedronMesh,
        matter: Matter,
        velocity: [f64; 3],
    ) -> Result<u32, CaseError> {
        let first = self.solids.solid.len() as u32;
        let elements = Elements::tetrahedra(mesh, first, matter).map_err(failed("making elements"))?;
        let mut mass = vec![0.0; first as usize + mesh.points.len()];
        elements.add_masses(&mut mass);
        let force = self.solids.solid.forces().len();
        self.solids.solid.add(elements);
        self.add_particles(&mesh.points, &mass[first as usize..], velocity);
        let around = mesh.boundary().map_err(failed("finding the surface"))?;
        self.surface.extend(around.points.iter().map(|node| node + first));
        self.faces.extend(mesh.boundary_facets().iter().map(|(face, _)| face.map(|node| node + first)));
        self.solids.bodies.push(SolidBody {
            name: format!("soft-{}", self.solids.bodies.len()),
            particles: first as usize..first as usize + mesh.points.len(),
            element: SolidElement::Tetrahedron,
            elements: mesh.elements.iter().flatten().copied().collect(),
            rest: mesh.points.iter().flat_map(|x| x.iter().copied()).collect(),
            forces: force..force + 1,
            strength: vec![],
            activation: vec![],
            families: vec![],
        });
        Ok(first)
    }

    /// Adds a sheet of cloth of the given thickness (m) that moves with `velocity` (m/s).
    pub fn add_sheet(
        &mut self,
        mesh: &TriangleMesh<3>,
        thickness: f64,
        matter: Matter,
        velocity: [f64; 3],
    ) -> Result<(), CaseError> {
        let first = self.solids.solid.len() as u32;
        let elements =
            Elements::membrane(mesh, first, thickness, matter).map_err(failed("making elements"))?;
        let mut mass = vec![0.0; first as usize + mesh.points.len()];
        elements.add_masses(&mut mass);
        let force = self.solids.solid.forces().len();
        self.solids.solid.add(elements);
        self.add_particles(&mesh.points, &mass[first as usize..], velocity);
        self.surface.extend(first..first + mesh.points.len() as u32);
        self.faces.extend(mesh.elements.iter().map(|face| face.map(|node| node + first)));
        self.solids.bodies.push(SolidBody {
            name: format!("soft-{}", self.solids.bodies.len()),
            particles: first as usize..first as usize + mesh.points.len(),
            element: SolidElement::Triangle,
            elements: mesh.elements.iter().flatten().copied().collect(),
            rest: mesh.points.iter().flat_map(|x| x.iter().copied()).collect(),
            forces: force..force + 1,
            strength: vec![],
            activation: vec![],
            families: vec![],
        });
        Ok(())
    }

    /// Adds a point of the given mass (kg) without forces.
    pub fn add_point(&mut self, mass: f64, place: [f64; 3], velocity: [f64; 3]) {
        self.surface.push(self.solids.solid.len() as u32);
        self.add_particles(&[place.into()], &[mass], velocity);
    }

    fn add_particles(&mut self, points: &[Vector<3>], mass: &[f64], velocity: [f64; 3]) {
        self.solids.solid.add_particles(mass, &vec![false; mass.len()]);
        for x in points {
            self.motion.position.extend(x.iter());
            self.motion.velocity.extend(velocity);
        }
    }

    /// Flat positions of all particles (m).
    pub fn positions(&self) -> &[f64] {
        &self.motion.position
    }

    /// Middle of the particles of a body.
    pub fn centre(&self, body: usize) -> Vector<3> {
        let particles = self.solids.bodies[body].particles.clone();
        let count = particles.len() as f64;
        particles.map(|particle| self.motion.point::<3>(particle)).sum::<Vector<3>>() / count
    }

    /// The velocity of a body's first particle, for all of it.
    pub fn twist_of(&self, body: usize) -> Twist<3> {
        let first = self.solids.bodies[body].particles.start;
        Twist { linear: self.motion.speed(first), angular: Vector::zeros() }
    }

    /// Gives every particle the velocity (m/s) of its place.
    pub fn set_velocity(&mut self, of: impl Fn(&Vector<3>) -> [f64; 3]) {
        for particle in 0..self.solids.solid.len() {
            let velocity = of(&self.motion.point(particle));
            self.motion.velocity[3 * particle..3 * particle + 3].copy_from_slice(&velocity);
        }
    }

    /// Holds the particles for which `wanted`.
    pub fn pin(&mut self, wanted: impl Fn(&Vector<3>) -> bool) {
        for particle in 0..self.solids.solid.len() {
            if wanted(&self.motion.point(particle)) {
                self.solids.solid.set_pinned(particle, true);
            }
        }
    }

    /// Binds the particles for which `wanted` to a body of the world; returns the mass (kg) that they had.
    pub fn bind(&mut self, world: &World<3>, body: usize, wanted: impl Fn(&Vector<3>) -> bool) -> f64 {
        let frame = world.state().bodies[body].frame;
        let mut mass = 0.0;
        for particle in 0..self.solids.solid.len() {
            let x = self.motion.point::<3>(particle);
            if wanted(&x) {
                let place = frame.to_object(&x);
                self.solids.bindings.push(Binding { particle: particle as u32, body: body as u32, place });
                mass += self.solids.solid.masses()[particle];
            }
        }
        mass
    }

    /// Lets them touch themselves and each other, with their surfaces at a distance of `thickness` (m).
    pub fn touch_each_other(&mut self, thickness: f64, friction: f64) {
        let options = SelfContactOptions { thickness, friction, ..SelfContactOptions::default() };
        let surface = ContactSurface::new(self.faces.clone());
        self.solids.integrator.self_contact = Some(SelfContact::new(surface, &self.motion.position, options));
    }

    /// Puts them into the world.
    pub fn finish(mut self, world: &mut World<3>) {
        self.surface.sort_unstable();
        self.solids.integrator.colliders = Colliders::These(self.surface);
        world.set_solids(self.solids, self.motion);
    }
}

/// Centre of mass of a soft body.
pub(super) fn centre(world: &World<3>, body: usize) -> Vector<3> {
    let Some(solids) = world.solids() else { return Vector::zeros() };
    let masses = solids.solid.masses();
    let (mut sum, mut mass) = (Vector::<3>::zeros(), 0.0);
    for particle in solids.bodies[body].particles.clone() {
        sum += world.state().solids.motion.point::<3>(particle) * masses[particle];
        mass += masses[particle];
    }
    sum / mass
}

/// A shipped scene in space, with some fields changed.
pub(in super::super) fn shipped(name: &str, overrides: &[&str]) -> Result<World<3>, CaseError> {
    let overrides: Vec<String> = overrides.iter().map(|&one| one.to_owned()).collect();
    let loaded = load(name, &overrides).map_err(failed("loading the scene"))?;
    match build(&loaded.scene).map_err(failed("building the scene"))? {
        AnyWorld::Three(world) => Ok(*world),
        AnyWorld::Two(_) => Err(failed("building the scene")("it is not in space")),
    }
}

/// Place of a rigid body in the list.
pub(super) fn rigid(world: &World<3>, name: &str) -> Result<usize, CaseError> {
    let place = world.model().bodies.iter().position(|body| body.name == name);
    place.ok_or_else(|| failed("looking for a body")(name))
}

/// Particles of all soft bodies whose name starts like this.
pub(super) fn soft_bodies<'a>(
    world: &'a World<3>,
    start: &'a str,
) -> impl Iterator<Item = (usize, &'a SolidBody)> {
    let bodies = world.solids().map_or(&[][..], |solids| &solids.bodies);
    bodies.iter().enumerate().filter(move |(_, body)| body.name.starts_with(start))
}

/// Deepest that a particle of a soft body is inside a rigid body that does not carry particles of it (m).
pub(super) fn deepest(world: &World<3>) -> f64 {
    let Some(solids) = world.solids() else { return 0.0 };
    let motion = &world.state().solids.motion;
    let mut deepest = 0.0f64;
    for (index, (body, now)) in world.model().bodies.iter().zip(&world.state().bodies).enumerate() {
        let Some(geometry) = &body.geometry else { continue };
        let bounds = geometry.world_bounds(&now.frame);
        for soft in &solids.bodies {
            let carries = |one: &Binding<3>| {
                one.body as usize == index && soft.particles.contains(&(one.particle as usize))
            };
            if solids.bindings.iter().any(carries) {
                continue;
            }
            for particle in soft.particles.clone() {
                let x = motion.point::<3>(particle);
                if bounds.contains(&x) {
                    deepest = deepest.max(-geometry.signed_distance(&now.frame.to_object(&x)));
                }
            }
        }
    }
    deepest
}
