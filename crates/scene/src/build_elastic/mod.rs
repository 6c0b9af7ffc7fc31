//! Builds bodies of finite elements from their description.

mod bodies;
mod contact;
mod elements;
mod fibres;
mod material;
mod place;
mod plane;
mod plasticity;
mod quadratic;
mod space;
mod springs;
mod step;
mod volume;

pub(crate) use volume::too_many_rings;

use crate::build::BuildError;
use crate::build_layers::Recorded;
use crate::description::{Deformable, ElasticIntegrator, FluidCoupling, Geometry, RecordedGeometry, Scene};
use splashdown_couple::{ScheduledLoad, SolidElement, Solids, World};
use splashdown_deformable::collide::Layer;
use splashdown_deformable::element::Material;
use splashdown_deformable::integrate::Motion;
use splashdown_deformable::{Load, Solid};
use splashdown_geometry::mesh::{Mesh, MeshError, SurfaceMesh};
use splashdown_math::{Dim, Space, Vector};
use std::ops::Range;

/// A mesh with everything that depends on its kind of element.
pub(crate) struct Built<const D: usize> {
    points: Vec<Vector<D>>,
    /// How far this copy stands from where the scene describes the body (m).
    offset: Vector<D>,
    element: SolidElement,
    elements: Vec<u32>,
    /// Ten points of each quadratic tetrahedron; `elements` are then the eight that each is cut into, for pictures and whatever else has flat faces.
    quadratic: Vec<[u32; 10]>,
    /// Triangles in 3D, segments in 2D, that touch other things.
    surface: Vec<[u32; D]>,
}

impl<const D: usize> Built<D> {
    /// Elements with their boundary, where the scene describes the body.
    fn new<const N: usize>(mesh: Mesh<D, N>, element: SolidElement, surface: Vec<[u32; D]>) -> Self {
        Self {
            surface,
            elements: mesh.elements.iter().flatten().copied().collect(),
            quadratic: Vec::new(),
            offset: Vector::zeros(),
            points: mesh.points,
            element,
        }
    }
}

/// What differs between the dimensions: which meshes there are and what elements they make.
pub(crate) trait ElasticSpace<const D: usize>: Space<D> + crate::from_files::FromFiles<D> {
    /// The mesh of a geometry.
    fn mesh(name: &str, geometry: &Geometry) -> Result<Built<D>, BuildError>;
    /// Adds the elements of a mesh to the solid and their masses to `mass`.
    fn add_elements(
        body: &Deformable,
        mesh: &Built<D>,
        first: u32,
        material: Material,
        solid: &mut Solid<D>,
        mass: &mut [f64],
    ) -> Result<(), BuildError>;
    /// The files of a surface whose motion is known.
    fn recorded(name: &str, own: &RecordedGeometry) -> Result<Recorded<D>, BuildError>;
    /// A closed surface as a layer under the particles `above`.
    fn layer(
        name: &str,
        faces: &[[u32; D]],
        rest: &[f64],
        above: Vec<Range<u32>>,
        friction: f64,
    ) -> Result<Layer<D>, MeshError>;
}

pub(crate) fn wrong(name: &str, what: impl std::fmt::Display) -> BuildError {
    BuildError::Elastic { name: name.into(), reason: what.to_string() }
}

pub(crate) fn point<const D: usize>(name: &str, values: &[f64]) -> Result<Vector<D>, BuildError> {
    if values.len() == D {
        Ok(Vector::from_column_slice(values))
    } else {
        Err(wrong(name, format!("expected {D} components, found {}", values.len())))
    }
}

fn boundary<const D: usize>(surface: &SurfaceMesh<D>, nodes: &[u32]) -> Vec<[u32; D]> {
    surface.elements.iter().map(|face| face.map(|point| nodes[point as usize])).collect()
}

/// Is `full` the name of a body, or of a copy of the repeated body `name`?
pub(crate) fn is_copy_of(full: &str, name: &str) -> bool {
    let number = full.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    full == name || number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Why soft bodies and the fluid of this scene cannot push each other, if they cannot.
pub(crate) fn unfit_for_fluid(scene: &Scene) -> Option<&'static str> {
    let coupled = scene.fluid.as_ref().is_some_and(|fluid| fluid.coupling != FluidCoupling::Word(false));
    let at_once = matches!(
        scene.elastic.integrator,
        ElasticIntegrator::BackwardEuler
            | ElasticIntegrator::AverageAcceleration
            | ElasticIntegrator::Quasistatic
            | ElasticIntegrator::TwoPass
    );
    let elements = scene.deformable.iter().any(Deformable::has_elements);
    (coupled && at_once && elements).then_some(
        "fluids and soft bodies that push each other need one of the integrators \"linearly_implicit\", \"scheme_a\", \"scheme_b\", \"scheme_c\" and \"newmark\" (or `coupling = false` in `[fluid]`, and neither knows of the other)",
    )
}

/// The bodies as far as they are built, in one list of particles.
struct Assembly<const D: usize>
where
    Dim<D>: Space<D>,
{
    solids: Solids<D>,
    /// Places of all particles where nothing is strained (m).
    rest: Vec<f64>,
    /// Places at the start (m).
    position: Vec<f64>,
    /// Velocities at the start (m/s).
    velocity: Vec<f64>,
    /// Faces of all bodies.
    surface: Vec<[u32; D]>,
    /// They come after the forces of all bodies, whose strengths are not theirs.
    loads: Vec<(Load<D>, Vec<[f64; 2]>)>,
    /// Elements that keep their volume.
    constant: Vec<u32>,
    /// How many corners each of these has.
    corners_of_rings: Option<usize>,
}

/// Adds all bodies with a material to the world.
pub(crate) fn add_elastic<const D: usize>(world: &mut World<D>, scene: &Scene) -> Result<(), BuildError>
where
    Dim<D>: ElasticSpace<D>,
{
    if !scene.deformable.iter().any(Deformable::has_elements) {
        return Ok(());
    }
    if let Some(reason) = unfit_for_fluid(scene) {
        return Err(wrong("elastic", reason));
    }
    let mut all = Assembly::new(step::solids(world.model().gravity, &scene.elastic));
    for body in scene.deformable.iter().filter(|body| body.has_elements()) {
        all.add_body(world, scene, body)?;
    }
    all.keep_volume(scene)?;
    all.add_loads();
    crate::build_ties::add_ties(&scene.deformable, &all.rest, &mut all.solids)?;
    crate::build_ties::add_embeddings(scene, &all.rest, &mut all.solids, &mut all.surface)?;
    step::solve_damping(scene.elastic.damping_solve, &mut all.solids);
    world.options_mut().contact_before_damping = scene.elastic.contact_before_damping;
    all.keep_apart(world, scene);
    all.add_contact(world, scene)?;
    if let Some(resolution) = scene.elastic.resolution {
        all.solids.integrator.implicit.resolution = resolution;
    }
    all.start(world)
}

impl<const D: usize> Assembly<D>
where
    Dim<D>: ElasticSpace<D>,
{
    fn new(solids: Solids<D>) -> Self {
        Self {
            solids,
            rest: Vec::new(),
            position: Vec::new(),
            velocity: Vec::new(),
            surface: Vec::new(),
            loads: Vec::new(),
            constant: Vec::new(),
            corners_of_rings: None,
        }
    }

    /// Adds the forces that pull on parts of bodies.
    fn add_loads(&mut self) {
        for (load, factor) in std::mem::take(&mut self.loads) {
            if !factor.is_empty() {
                self.solids.loads.push(ScheduledLoad { force: self.solids.solid.forces().len(), factor });
            }
            self.solids.solid.add(load);
        }
    }

    /// Hands the bodies and their start to the world.
    fn start(self, world: &mut World<D>) -> Result<(), BuildError> {
        let Self { mut solids, mut position, mut velocity, .. } = self;
        solids.solid.place_embedded(&mut position);
        solids.solid.place_embedded(&mut velocity);
        let motion = Motion { position, velocity, time: 0.0 };
        if let Err(error) = solids.solid.update(&motion.position) {
            return Err(wrong("elastic", error));
        }
        world.set_solids(solids, motion);
        Ok(())
    }
}
