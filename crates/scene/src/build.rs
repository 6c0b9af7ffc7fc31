//! The world that a scene describes.

use crate::breakable::breakable;
use crate::description::{
    Combine, ContactMethod, Deformable, EnergyFix, Formulation, Geometry, InFluid, Kind, PushOut, Rigid,
    Rotation, Scene, Shape, SpinValue, Stabilization,
};
use crate::from_files::{FromFiles, SurfaceFile};
use crate::limits::{MAX_MEMORY_BYTES, Size, bytes_text};
use splashdown_couple::{ModelError, World};
use splashdown_deformable::{Particles, Spring};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{
    Body, BodyError, GeometryError, Immersion, JointError, Load, Material, OrientationOrder,
};
use std::sync::Arc;

/// A world in the scene's dimension.
#[derive(Debug, Clone)]
pub enum AnyWorld {
    /// In the plane.
    Two(Box<World<2>>),
    /// In space.
    Three(Box<World<3>>),
}

/// A scene that passed its checks and still cannot become a world, such as one with a mass that underflows to zero.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A dimension other than 2 and 3.
    #[error("a scene has 2 or 3 dimensions, not {0}")]
    Dimension(u32),
    /// A body of finite elements that cannot be made.
    #[error("`{name}`: {reason}")]
    Elastic {
        /// Name of the body.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A body of finite elements that cannot be made because of one of its fields.
    #[error("`{name}`: {reason}")]
    ElasticField {
        /// Name of the body.
        name: String,
        /// Path of the field in the entry of the body; a number is a place in a list.
        field: Vec<String>,
        /// What is wrong.
        reason: String,
    },
    /// A file that does not make a rigid body or a fracture pattern.
    #[error("`{name}`: {reason}")]
    File {
        /// Name of the body.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A vector or rotation that is not one of the scene's dimension.
    #[error("`{field}` of `{name}` is not one of {dimension} dimensions")]
    Components {
        /// Name of the body, or `scene`.
        name: String,
        /// Field of the scene.
        field: &'static str,
        /// The scene's dimension.
        dimension: usize,
    },
    /// A dynamic body without mass.
    #[error("`{name}` needs `mass` or `density`")]
    NoMass {
        /// Name of the body.
        name: String,
    },
    /// More than [`crate::limits::MAX_MEMORY_BYTES`].
    #[error("this scene needs about {} of memory; the limit is {}", bytes_text(*.bytes), bytes_text(MAX_MEMORY_BYTES))]
    TooLarge {
        /// Estimated memory.
        bytes: u128,
    },
    /// A part of a body that has no formula.
    #[error(
        "a part of `{name}` is a plane or a hull; expected a sphere, box, capsule, cylinder, torus, ellipsoid, boxes or parts"
    )]
    Part {
        /// Name of the body.
        name: String,
    },
    /// A first part that has nothing to be cut out of.
    #[error("the first part of `{name}` is combined by `difference` or `intersection`; expected a `union`")]
    FirstPart {
        /// Name of the body.
        name: String,
    },
    /// A shape that encloses nothing.
    #[error("shape of `{name}`: {source}")]
    Geometry {
        /// Name of the body.
        name: String,
        /// What is wrong with it.
        source: GeometryError,
    },
    /// Mass properties that no rigid body can have.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// A fluid that cannot be simulated.
    #[error("fluid: {0}")]
    Fluid(#[from] splashdown_fluid::FluidError),
    /// Particles or springs that cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A joint that cannot be.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// A joint to a body that does not exist.
    #[error("joint `{joint}` joins `{body}`, but there is no rigid body of that name")]
    NoBody {
        /// Name of the joint.
        joint: String,
        /// The name that is not there.
        body: String,
    },
    /// A file that was to be imported when the scene was loaded.
    #[error("`{file}` is not imported: load the scene from a file")]
    NotImported {
        /// The file.
        file: String,
    },
}

impl BuildError {
    /// Path of the field of the body that is wrong, if it is known.
    pub(crate) fn field(&self) -> &[String] {
        match self {
            Self::ElasticField { field, .. } => field,
            _ => &[],
        }
    }

    /// Name of the body that is wrong, if it is one.
    pub(crate) fn body(&self) -> Option<&str> {
        match self {
            Self::Elastic { name, .. }
            | Self::ElasticField { name, .. }
            | Self::File { name, .. }
            | Self::Components { name, .. }
            | Self::NoMass { name }
            | Self::Part { name }
            | Self::FirstPart { name }
            | Self::Geometry { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// One rigid body of the world: an entry of `[[rigid]]`, or one copy of a repeated one.
#[derive(Debug, Clone, PartialEq)]
pub struct RigidCopy<'a> {
    /// Unique name.
    pub name: String,
    /// The entry it comes from, which has its shape.
    pub rigid: &'a Rigid,
    /// Where this copy stands relative to the entry's `position` (m).
    pub offset: Vec<f64>,
}

/// Builds the world of a scene at time zero. Use [`Scene::check`] first for messages with places; a scene that was loaded is checked.
pub fn build(scene: &Scene) -> Result<AnyWorld, BuildError> {
    let bytes = Size::of(scene).memory_bytes();
    if bytes > MAX_MEMORY_BYTES {
        return Err(BuildError::TooLarge { bytes });
    }
    if let Some(import) = scene.import.first() {
        return Err(BuildError::NotImported { file: import.file.clone() });
    }
    match scene.dimension {
        2 => world::<2>(scene).map(|world| AnyWorld::Two(world.into())),
        3 => world::<3>(scene).map(|world| AnyWorld::Three(world.into())),
        other => Err(BuildError::Dimension(other)),
    }
}

impl AnyWorld {
    /// Number of dimensions.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Two(_) => 2,
            Self::Three(_) => 3,
        }
    }

    /// Largest step (s) at which the explicit forces are stable; infinite if there are none.
    pub fn stable_step(&self) -> f64 {
        match self {
            Self::Two(world) => world.model().stable_step(),
            Self::Three(world) => world.model().stable_step(),
        }
    }
}

impl Scene {
    /// The rigid bodies of the world in their order there, copies of repeated ones included (the first axis runs fastest).
    pub fn rigid_copies(&self) -> impl Iterator<Item = RigidCopy<'_>> {
        self.rigid.iter().flat_map(|rigid| {
            let repeat = rigid.repeat.as_ref();
            let total = repeat.map_or(1, |r| r.total().unwrap_or(0));
            (0..total).map(move |n| {
                let Some(repeat) = repeat else {
                    return RigidCopy { name: rigid.name.clone(), rigid, offset: Vec::new() };
                };
                let mut rest = n;
                let offset = repeat.count.iter().zip(&repeat.spacing).map(|(&count, &spacing)| {
                    let index = rest % count;
                    rest /= count;
                    index as f64 * spacing
                });
                RigidCopy { offset: offset.collect(), name: format!("{}-{}", rigid.name, n + 1), rigid }
            })
        })
    }
}

fn world<const D: usize>(scene: &Scene) -> Result<World<D>, BuildError>
where
    Dim<D>: crate::build_elastic::ElasticSpace<D>,
{
    let gravity = vector::<D>("scene", "gravity", Some(&scene.gravity_vector()))?;
    let mut world = World::new(gravity)?;
    let options = world.options_mut();
    options.tolerance = scene.solver.tolerance;
    options.max_iterations = scene.solver.max_iterations as usize;
    options.formulation = match scene.solver.formulation {
        Formulation::Spd => splashdown_couple::Formulation::Spd,
        Formulation::Kkt => splashdown_couple::Formulation::Kkt,
    };
    options.stage_totals = scene.output.stages;
    options.contact.enabled = scene.contact.enabled;
    options.contact.iterations = scene.contact.iterations as usize;
    options.contact.allowed_overlap = scene.contact.overlap;
    let sweeps = &scene.contact.sweeps;
    options.contact.collision_sweeps = sweeps.collision as usize;
    options.contact.pair_impulses = sweeps.pair as usize;
    options.contact.contact_sweeps = sweeps.contact as usize;
    options.contact.level_iterations = sweeps.level as usize;
    options.contact.sleeping = splashdown_rigid::Sleeping {
        enabled: scene.contact.sleeping,
        speed: scene.contact.sleep_speed,
        after: scene.contact.sleep_after,
    };
    if scene.contact.method == ContactMethod::Propagation {
        options.contact.method = splashdown_rigid::ContactMethod::Propagation;
        options.contact.push_out = splashdown_rigid::PushOut::Central;
    }
    options.contact.shock_propagation = scene.contact.shock_propagation;
    options.contact.clamp_collisions = scene.contact.energy_clamp;
    options.contact.clamp_contact = scene.contact.energy_clamp;
    if let Some(push_out) = scene.contact.push_out {
        options.contact.push_out = match push_out {
            PushOut::Off => splashdown_rigid::PushOut::Off,
            PushOut::Projection => splashdown_rigid::PushOut::Projection,
            PushOut::Central => splashdown_rigid::PushOut::Central,
            PushOut::CentralNormal => splashdown_rigid::PushOut::CentralNormal,
        };
    }
    options.orientation_order = match scene.free_rotation.order {
        1 => OrientationOrder::First,
        2 => OrientationOrder::Second,
        _ => OrientationOrder::Third,
    };
    options.energy_fix = match scene.free_rotation.energy_fix {
        EnergyFix::Off => splashdown_rigid::EnergyFix::Off,
        EnergyFix::Final => splashdown_rigid::EnergyFix::Final,
        EnergyFix::Always => splashdown_rigid::EnergyFix::Always,
    };
    let stabilization = |word| match word {
        Stabilization::Global => splashdown_rigid::joint::Stabilization::Global,
        Stabilization::Pairwise => splashdown_rigid::joint::Stabilization::Pairwise,
    };
    options.joints = splashdown_couple::JointOptions {
        pre: stabilization(scene.articulation.pre_stabilization),
        post: stabilization(scene.articulation.post_stabilization),
        sweeps: scene.articulation.sweeps as usize,
    };
    // Copies of one entry follow each other and share its geometry and the rule by which it breaks.
    let mut made: Option<Made<D>> = None;
    for copy in scene.rigid_copies() {
        let own = match made.take().filter(|made| std::ptr::eq(made.of, copy.rigid)) {
            Some(made) => made,
            None => Made {
                of: copy.rigid,
                geometry: Arc::new(placed_solid::<D>(copy.rigid)?),
                breakable: match &copy.rigid.fracture {
                    Some(fracture) => Some(breakable(&copy.rigid.name, fracture)?),
                    None => None,
                },
            },
        };
        add_rigid(&mut world, &copy, &own)?;
        made = Some(own);
    }
    for [a, b] in &scene.contact.apart {
        let named = |name: &str| -> Vec<usize> {
            let own = world.model().bodies.iter().enumerate();
            own.filter(|(_, body)| crate::build_elastic::is_copy_of(&body.name, name))
                .map(|(i, _)| i)
                .collect()
        };
        let (first, second) = (named(a), named(b));
        for &i in &first {
            for &j in &second {
                // Both are there.
                let _ = world.keep_apart(i, j);
            }
        }
    }
    crate::articulate::add(&mut world, scene)?;
    for body in scene.deformable.iter().filter(|body| !body.has_elements()) {
        add_deformable(&mut world, body)?;
    }
    crate::build_elastic::add_elastic(&mut world, scene)?;
    crate::build_fluid::add_fluid(&mut world, scene)?;
    Ok(world)
}

/// What copies of one entry share.
struct Made<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    of: &'a Rigid,
    geometry: Arc<splashdown_rigid::Geometry<D>>,
    breakable: Option<splashdown_rigid::fracture::Breakable<D>>,
}

fn add_rigid<const D: usize>(
    world: &mut World<D>,
    copy: &RigidCopy<'_>,
    made: &Made<'_, D>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let geometry = made.geometry.clone();
    let RigidCopy { name, rigid, offset } = copy;
    let volume = geometry.properties().map_or(0.0, |properties| properties.volume);
    let mass = match (rigid.mass, rigid.density) {
        (Some(mass), _) => mass,
        (None, Some(density)) => density * volume,
        // The mass of a body that nothing moves does not matter.
        (None, None) if rigid.kind != Kind::Dynamic => 1.0,
        (None, None) => return Err(BuildError::NoMass { name: name.clone() }),
    };
    let kind = match rigid.kind {
        Kind::Dynamic => splashdown_rigid::Kind::Dynamic,
        Kind::Static => splashdown_rigid::Kind::Static,
        Kind::Kinematic => splashdown_rigid::Kind::Kinematic,
    };
    let default = Material::default();
    let placement = *geometry.placement();
    let mut body = Body::with_geometry(name.clone(), kind, mass, geometry)?.material(Material {
        restitution: rigid.restitution.unwrap_or(default.restitution),
        friction: rigid.friction.unwrap_or(default.friction),
        rolling: rigid.rolling_friction.unwrap_or(0.0),
        spinning: rigid.spinning_friction.unwrap_or(0.0),
    });
    match &rigid.moments {
        None => {}
        Some(given) if given.len() == <Dim<D> as Space<D>>::SPIN => body = body.moments(given)?,
        Some(_) => return Err(BuildError::Components { name: name.clone(), field: "moments", dimension: D }),
    }
    body.breakable = made.breakable.clone();
    if let Some(flow) = &rigid.surface_flow {
        body.surface_flow = Twist {
            linear: vector::<D>(name, "surface_flow.velocity", flow.velocity.as_deref())?,
            angular: spin::<D>(name, flow.spin.as_ref())?,
        };
    }
    let drag = rigid.drag.unwrap_or_default();
    body.load = Load {
        force: vector::<D>(name, "force", rigid.force.as_deref())?,
        torque: spin::<D>(name, rigid.torque.as_ref())?,
        drag: drag.linear,
        spin_drag: drag.angular,
    };
    if let Some(InFluid { slip, one_way }) = rigid.in_fluid {
        body.immersion = Immersion { slips: slip, one_way };
    }
    let mut position = vector::<D>(name, "position", rigid.position.as_deref())?;
    for (component, offset) in position.iter_mut().zip(offset) {
        *component += offset;
    }
    let rotation = match &rigid.shape {
        // The plane's own direction comes first.
        Shape::Plane { normal: Some(normal), .. } => {
            let up = Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 });
            let normal = vector::<D>(name, "shape.plane.normal", Some(normal))?;
            let own = Dim::rotation_between(&up, &normal);
            Dim::compose(&rotation::<D>(name, rigid.rotation.as_ref())?, &own)
        }
        _ => rotation::<D>(name, rigid.rotation.as_ref())?,
    };
    // Object coordinates begin at the centre of mass and lie along principal axes.
    let described = Frame { position, rotation };
    let frame =
        if placement == Frame::identity() { described } else { described.compose(&placement.inverse()) };
    let twist = Twist {
        linear: vector::<D>(name, "velocity", rigid.velocity.as_deref())?,
        angular: spin::<D>(name, rigid.spin.as_ref())?,
    };
    world.add_body(body, frame, twist);
    Ok(())
}

/// The geometry of a body: its shape, moved if the entry says so.
fn placed_solid<const D: usize>(rigid: &Rigid) -> Result<splashdown_rigid::Geometry<D>, BuildError>
where
    Dim<D>: FromFiles<D>,
{
    let name = rigid.name.as_str();
    let geometry = solid::<D>(name, &rigid.shape)?;
    if !rigid.moves_its_shape() {
        return Ok(geometry);
    }
    let frame = Frame {
        position: vector::<D>(name, "shape_position", rigid.shape_position.as_deref())?,
        rotation: rotation::<D>(name, rigid.shape_rotation.as_ref())?,
    };
    geometry.moved(&frame).map_err(|source| BuildError::Geometry { name: name.into(), source })
}

/// Cells of the level set of shapes that have no exact contact.
const SHAPE_CELLS: usize = 48;

/// The geometry of a shape.
fn solid<const D: usize>(name: &str, shape: &Shape) -> Result<splashdown_rigid::Geometry<D>, BuildError>
where
    Dim<D>: FromFiles<D>,
{
    use splashdown_rigid::Geometry;
    let refused = |source: GeometryError| BuildError::Geometry { name: name.into(), source };
    match shape {
        Shape::Sphere { radius } => Geometry::sphere(*radius).map_err(refused),
        Shape::Box { size } => {
            let edges = vector::<D>(name, "shape.box.size", Some(size))?;
            Geometry::cuboid(edges * 0.5).map_err(refused)
        }
        Shape::Capsule { radius, length } => Geometry::capsule(*radius, 0.5 * length).map_err(refused),
        Shape::Hull { points } => {
            let points: Result<Vec<_>, _> =
                points.iter().map(|p| vector::<D>(name, "shape.hull.points", Some(p))).collect();
            Geometry::hull(&points?).map_err(refused)
        }
        Shape::Cylinder { .. }
        | Shape::Torus { .. }
        | Shape::Ellipsoid { .. }
        | Shape::Boxes { .. }
        | Shape::Parts { .. } => Geometry::shape(formula::<D>(name, shape)?, SHAPE_CELLS).map_err(refused),
        Shape::Mesh { path, scale, resolution, thickness, edges } => Dim::body(
            name,
            &SurfaceFile {
                path,
                scale: scale.unwrap_or(1.0),
                cells: resolution.map_or(SHAPE_CELLS, |cells| cells as usize),
                thickness: *thickness,
                edges: *edges,
            },
        ),
        Shape::Plane { .. } => {
            Geometry::half_space(Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 })).map_err(refused)
        }
    }
}

/// The formula of a shape that has one.
fn formula<const D: usize>(
    name: &str,
    shape: &Shape,
) -> Result<splashdown_geometry::shapes::Shape<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    use splashdown_geometry::shapes::{Shape as Formula, ShapeError};
    let refused = |error: ShapeError| BuildError::Geometry { name: name.into(), source: error.into() };
    let united = |parts: Vec<Formula<D>>| {
        parts.into_iter().reduce(Formula::union).ok_or_else(|| refused(ShapeError::NoShapes))
    };
    match shape {
        Shape::Sphere { radius } => Formula::ball(*radius).map_err(refused),
        Shape::Box { size } => {
            let edges = vector::<D>(name, "shape.box.size", Some(size))?;
            Formula::cuboid(edges * 0.5).map_err(refused)
        }
        Shape::Capsule { radius, length } => Formula::capsule(*radius, 0.5 * length).map_err(refused),
        Shape::Cylinder { radius, length } => Formula::cylinder(*radius, 0.5 * length).map_err(refused),
        Shape::Torus { ring, tube } => Formula::torus(*ring, *tube).map_err(refused),
        Shape::Ellipsoid { radii } => {
            Formula::ellipsoid(vector::<D>(name, "shape.ellipsoid.radii", Some(radii))?).map_err(refused)
        }
        Shape::Boxes { parts } => {
            let boxes = parts.iter().map(|part| {
                let half = vector::<D>(name, "shape.boxes.size", Some(&part.size))? * 0.5;
                let position = vector::<D>(name, "shape.boxes.position", Some(&part.position))?;
                Formula::cuboid(half).and_then(|cuboid| cuboid.translated(position)).map_err(refused)
            });
            united(boxes.collect::<Result<_, _>>()?)
        }
        Shape::Parts { parts } => {
            let mut whole: Option<Formula<D>> = None;
            for part in parts {
                let frame = Frame {
                    position: vector::<D>(name, "shape.parts.position", part.position.as_deref())?,
                    rotation: rotation::<D>(name, part.rotation.as_ref())?,
                };
                let own = formula::<D>(name, &part.shape)?.placed(frame).map_err(refused)?;
                whole = Some(match (whole, part.combine) {
                    (None, Combine::Union) => own,
                    (None, _) => return Err(BuildError::FirstPart { name: name.into() }),
                    (Some(whole), Combine::Union) => whole.union(own),
                    (Some(whole), Combine::Difference) => whole.difference(own),
                    (Some(whole), Combine::Intersection) => whole.intersection(own),
                });
            }
            whole.ok_or_else(|| refused(ShapeError::NoShapes))
        }
        Shape::Hull { .. } | Shape::Mesh { .. } | Shape::Plane { .. } => {
            Err(BuildError::Part { name: name.into() })
        }
    }
}

fn add_deformable<const D: usize>(world: &mut World<D>, body: &Deformable) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let name = body.name.as_str();
    let Geometry::Chain(chain) = &body.geometry else {
        return Err(BuildError::Elastic {
            name: name.into(),
            reason: "a body of this geometry needs a `material`".into(),
        });
    };
    let from = vector::<D>(name, "geometry.chain.from", Some(&chain.from))?;
    let to = vector::<D>(name, "geometry.chain.to", Some(&chain.to))?;
    let count = chain.particles as usize;
    let links = count.saturating_sub(1).max(1);
    let length = (to - from).norm();
    let mass = match (body.mass, body.density) {
        (Some(mass), _) => mass,
        (None, Some(density)) => density * length,
        (None, None) => return Err(BuildError::NoMass { name: name.into() }),
    };
    // Each link gives half of its mass to either end.
    let link_mass = mass / links as f64;
    let particles = Particles {
        mass: (0..count)
            .map(|i| if i == 0 || i + 1 == count { 0.5 * link_mass } else { link_mass })
            .collect(),
        pinned: {
            let mut pinned = vec![false; count];
            for &index in &body.pinned {
                if let Some(pin) = pinned.get_mut(index as usize) {
                    *pin = true;
                }
            }
            pinned
        },
    };
    let position: Vec<Vector<D>> =
        (0..count).map(|i| from + (to - from) * (i as f64 / links as f64)).collect();
    let moving = vector::<D>(name, "velocity", body.velocity.as_deref())?;
    let velocity: Vec<Vector<D>> =
        particles.pinned.iter().map(|&pinned| if pinned { Vector::zeros() } else { moving }).collect();
    let springs: Vec<Spring> = body.springs.as_ref().map_or_else(Vec::new, |springs| {
        let rest_length = springs.rest_length.unwrap_or(length / links as f64);
        (1..count as u32)
            .map(|end| {
                let ends = [end - 1, end];
                Spring::with_damping_ratio(
                    ends,
                    springs.stiffness,
                    springs.damping_ratio,
                    rest_length,
                    &particles,
                )
            })
            .collect()
    });
    world.add_deformable(name, particles, &springs, &position, &velocity)?;
    Ok(())
}

/// A vector of the scene's dimension; zero when it is not given.
pub(crate) fn vector<const D: usize>(
    name: &str,
    field: &'static str,
    values: Option<&[f64]>,
) -> Result<Vector<D>, BuildError> {
    match values {
        None => Ok(Vector::zeros()),
        Some(values) if values.len() == D => Ok(Vector::from_column_slice(values)),
        Some(_) => Err(BuildError::Components { name: name.into(), field, dimension: D }),
    }
}

pub(crate) fn spin<const D: usize>(name: &str, value: Option<&SpinValue>) -> Result<Spin<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let components = match value {
        None => return Ok(Spin::<D>::zero()),
        Some(SpinValue::Rate(rate)) => std::slice::from_ref(rate),
        Some(SpinValue::Vector(components)) => components,
    };
    if components.len() != <Dim<D> as Space<D>>::SPIN {
        return Err(BuildError::Components { name: name.into(), field: "spin", dimension: D });
    }
    Ok(Spin::<D>::from_slice(components))
}

pub(crate) fn rotation<const D: usize>(
    name: &str,
    value: Option<&Rotation>,
) -> Result<splashdown_math::Rotation<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let wrong = || BuildError::Components { name: name.into(), field: "rotation", dimension: D };
    let exp = |components: &[f64]| {
        let fits = components.len() == <Dim<D> as Space<D>>::SPIN && components.iter().all(|c| c.is_finite());
        fits.then(|| Dim::<D>::exp(&Spin::<D>::from_slice(components))).ok_or_else(wrong)
    };
    match value {
        None => Ok(Dim::<D>::identity()),
        Some(Rotation::Degrees(degrees)) => exp(&[degrees.to_radians()]),
        Some(Rotation::AxisAngle { axis, degrees }) => {
            let scaled = scaled(axis);
            let length = scaled.iter().map(|c| c * c).sum::<f64>().sqrt();
            let turn: Vec<f64> = scaled.iter().map(|c| c / length * degrees.to_radians()).collect();
            exp(&turn)
        }
        Some(Rotation::Quaternion { quaternion }) => {
            Dim::<D>::rotation_from_components(&scaled(quaternion)).ok_or_else(wrong)
        }
    }
}

/// Divided by the largest component, so that the square of a long or a short one neither overflows nor vanishes.
pub(crate) fn scaled(vector: &[f64]) -> Vec<f64> {
    let largest = vector.iter().fold(0.0f64, |most, c| most.max(c.abs()));
    vector.iter().map(|c| c / largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Springs, Step};
    use splashdown_math::Coordinates;

    fn three(scene: &Scene) -> World<3> {
        match build(scene).expect("a world") {
            AnyWorld::Three(world) => *world,
            AnyWorld::Two(_) => unreachable!("the scene has three dimensions"),
        }
    }

    #[test]
    fn masses_and_inertia_follow_from_density_and_shape() {
        let scene = Scene::new(3)
            .with_rigid(Rigid::sphere("ball", 0.5).density(1000.0))
            .with_rigid(Rigid::cuboid("box", [1.0, 2.0, 3.0]).mass(12.0));
        let world = three(&scene);
        let [ball, cuboid] = world.model().bodies.as_slice() else { unreachable!("two bodies") };
        let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.125;
        assert!((ball.mass - mass).abs() < 1e-9 * mass);
        let entries = Dim::<3>::inertia_entries(&ball.inertia);
        assert!((entries[0] - 0.4 * mass * 0.25).abs() < 1e-9 * mass);
        // m/12 (b^2 + c^2) about each axis.
        let entries = Dim::<3>::inertia_entries(&cuboid.inertia);
        for (got, exact) in [entries[0], entries[4], entries[8]].into_iter().zip([13.0, 10.0, 5.0]) {
            assert!((got - exact).abs() < 1e-12);
        }
        let flat = Scene::new(2).with_rigid(Rigid::sphere("disc", 2.0).density(3.0));
        let Ok(AnyWorld::Two(world)) = build(&flat) else { unreachable!("a world of two dimensions") };
        assert!((world.model().bodies[0].mass - 12.0 * std::f64::consts::PI).abs() < 1e-12);
    }

    #[test]
    fn rotations_turn_the_way_they_say() {
        let turned = |rotation: Rotation| {
            let scene = Scene::new(3).with_rigid(Rigid::sphere("b", 1.0).mass(1.0).rotation(rotation));
            let world = three(&scene);
            Dim::<3>::rotate(&world.state().bodies[0].frame.rotation, &Vector::from([1.0, 0.0, 0.0]))
        };
        let y = Vector::from([0.0, 1.0, 0.0]);
        let quarter = Rotation::AxisAngle { axis: vec![0.0, 0.0, 1e-200], degrees: 90.0 };
        assert!((turned(quarter) - y).norm() < 1e-12);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let quarter = Rotation::Quaternion { quaternion: vec![3e200 * half, 0.0, 0.0, 3e200 * half] };
        assert!((turned(quarter) - y).norm() < 1e-12);
        let scene =
            Scene::new(2).with_rigid(Rigid::sphere("b", 1.0).mass(1.0).rotation(Rotation::Degrees(90.0)));
        let Ok(AnyWorld::Two(world)) = build(&scene) else { unreachable!("a world of two dimensions") };
        let moved = Dim::<2>::rotate(&world.state().bodies[0].frame.rotation, &Vector::from([1.0, 0.0]));
        assert!((moved - Vector::from([0.0, 1.0])).norm() < 1e-12);
    }

    #[test]
    fn copies_fill_a_grid_and_spin_is_what_the_scene_says() {
        let body =
            Rigid::cuboid("b", [0.1, 0.2, 0.3]).mass(1.0).position([1.0, 0.0, 0.0]).spin([1.0, 2.0, 3.0]);
        let scene = Scene::new(3).with_rigid(body.repeat([2, 1, 3], [1.0, 9.0, 2.0]));
        let world = three(&scene);
        let places: Vec<[f64; 3]> = world.state().bodies.iter().map(|b| b.frame.position.into()).collect();
        assert_eq!(places.len(), 6);
        assert_eq!(places[0], [1.0, 0.0, 0.0]);
        assert_eq!(places[1], [2.0, 0.0, 0.0]);
        assert_eq!(places[5], [2.0, 0.0, 4.0]);
        assert_eq!(world.model().bodies[5].name, "b-6");
        let twist = world.state().bodies[3].twist(&world.model().bodies[3]);
        assert!((twist.angular - Spin::<3>::from_slice(&[1.0, 2.0, 3.0])).norm() < 1e-12);
    }

    #[test]
    fn a_chain_has_its_mass_its_pins_and_relaxed_springs() {
        let chain = Deformable::chain("c", [0.0, 0.0], [3.0, 4.0], 6)
            .density(2.0)
            .springs(Springs { stiffness: 100.0, damping_ratio: 0.5, rest_length: None })
            .velocity([1.0, 0.0])
            .pinned([5]);
        let scene = Scene::new(2).with_deformable(chain);
        let Ok(AnyWorld::Two(world)) = build(&scene) else { unreachable!("a world of two dimensions") };
        let model = world.model();
        assert!((model.particles.mass.iter().sum::<f64>() - 10.0).abs() < 1e-12);
        assert_eq!(model.particles.pinned, [false, false, false, false, false, true]);
        assert!(model.springs.energy(&world.state().particles.position) < 1e-25);
        assert_eq!(world.state().particles.velocity[5], Vector::<2>::zeros());
        assert_eq!(world.state().particles.velocity[4], Vector::from([1.0, 0.0]));
    }

    #[test]
    fn every_shipped_scene_builds_and_its_step_is_stable() {
        for shipped in crate::shipped() {
            let scene = crate::load(shipped.name, &[]).unwrap_or_else(|e| panic!("{e}")).scene;
            let world = build(&scene).unwrap_or_else(|e| panic!("{}: {e}", shipped.name));
            if let Some(Step::Fixed(step)) = scene.time.step {
                assert!(
                    step < world.stable_step(),
                    "{}: {step} s, stable {} s",
                    shipped.name,
                    world.stable_step()
                );
            }
        }
    }
}
