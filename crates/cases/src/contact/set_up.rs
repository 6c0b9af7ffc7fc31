//! Worlds of rigid bodies for the cases.

use crate::CaseError;
use splashdown_couple::{StepReport, World};
use splashdown_geometry::mesh::{Corners, Element};
use splashdown_geometry::shapes::{Shape, ShapeError};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{Body, ContactMethod, Geometry, GeometryError, Kind, Material, PushOut};
use std::sync::Arc;

/// Both ways to solve contact, with their names.
pub(super) const METHODS: [(ContactMethod, &str); 2] =
    [(ContactMethod::Simultaneous, "simultaneous"), (ContactMethod::Propagation, "propagation")];

/// An empty world with gravity `g` (m/s^2) downwards.
pub(super) fn world<const D: usize>(method: ContactMethod, g: f64) -> Result<World<D>, CaseError>
where
    Dim<D>: Space<D>,
{
    let gravity = Vector::from_fn(|a, _| if a == 1 { -g } else { 0.0 });
    let mut world = World::new(gravity).map_err(|error| CaseError::new("building the world", error))?;
    let contact = &mut world.options_mut().contact;
    contact.method = method;
    if method == ContactMethod::Propagation {
        contact.push_out = PushOut::Central;
    }
    Ok(world)
}

/// A geometry, shared.
pub(super) fn shared<const D: usize>(
    geometry: Result<Geometry<D>, GeometryError>,
) -> Result<Arc<Geometry<D>>, CaseError>
where
    Dim<D>: Space<D>,
{
    geometry.map(Arc::new).map_err(|error| CaseError::new("making a geometry", error))
}

/// A frame at rest in orientation.
pub(super) fn at<const D: usize>(position: [f64; D]) -> Frame<D>
where
    Dim<D>: Space<D>,
{
    Frame { position: Vector::from(position), rotation: Dim::identity() }
}

/// Adds a body.
pub(super) fn add<const D: usize>(
    world: &mut World<D>,
    kind: Kind,
    geometry: &Arc<Geometry<D>>,
    mass: f64,
    material: Material,
    frame: Frame<D>,
    twist: Twist<D>,
) -> Result<usize, CaseError>
where
    Dim<D>: Space<D>,
{
    let name = format!("body-{}", world.model().bodies.len());
    let body = Body::with_geometry(name, kind, mass, geometry.clone())
        .map_err(|error| CaseError::new("making a body", error))?;
    Ok(world.add_body(body.material(material), frame, twist))
}

/// A static half space through the origin whose normal is y turned by `tilt` (rad) about -z: downhill is +x.
pub(super) fn ground(world: &mut World<3>, material: Material, tilt: f64) -> Result<(), CaseError> {
    let plane = shared(Geometry::half_space(Vector::from([0.0, 1.0, 0.0])))?;
    let frame =
        Frame { position: Vector::zeros(), rotation: Dim::<3>::exp(&Spin::<3>::from([0.0, 0.0, -tilt])) };
    add(world, Kind::Static, &plane, 1.0, material, frame, Twist::zero()).map(|_| ())
}

/// How a block is described, and so how contact finds what touches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Box,
    Hull,
    /// A surface of triangles (segments in 2D).
    Mesh,
    /// Boxes side by side: their seams are flush and must not be felt.
    Parts,
}

/// All of them, with their names.
pub(super) const BLOCKS: [(Block, &str); 4] =
    [(Block::Box, "box"), (Block::Hull, "hull"), (Block::Mesh, "mesh"), (Block::Parts, "parts")];

impl Block {
    /// A block with half edges `half` (m). The samples of a mesh are at most `spacing` (m) apart, seams across x four times as far.
    pub(super) fn geometry<const D: usize>(
        self,
        half: Vector<D>,
        spacing: f64,
    ) -> Result<Arc<Geometry<D>>, CaseError>
    where
        Dim<D>: Space<D>,
        Corners<D>: Element<D>,
    {
        let corner = |k: usize| Vector::from_fn(|a, _| if k >> a & 1 == 1 { half[a] } else { -half[a] });
        let corners: Vec<Vector<D>> = (0..1usize << D).map(corner).collect();
        let made = || -> Result<Geometry<D>, GeometryError> {
            match self {
                Self::Box => Geometry::cuboid(half),
                Self::Hull => Geometry::hull(&corners),
                Self::Mesh => {
                    let hull = Geometry::hull(&corners)?;
                    let mut surface = hull.surface().ok_or(GeometryError::Volume(0.0))?;
                    surface.points.iter_mut().for_each(|point| *point = hull.placement().to_object(point));
                    Geometry::mesh(&surface, (2.0 * half.max() / spacing).ceil().max(24.0) as usize)
                }
                Self::Parts => {
                    let count = (0.5 * half[0] / spacing).ceil().max(2.0) as usize;
                    let own = half[0] / count as f64;
                    let part = |i: usize| -> Result<Shape<D>, ShapeError> {
                        let size = Vector::from_fn(|a, _| if a == 0 { own } else { half[a] });
                        let at = own * (2 * i + 1) as f64 - half[0];
                        let place = Vector::from_fn(|a, _| if a == 0 { at } else { 0.0 });
                        Shape::cuboid(size)?.translated(place)
                    };
                    let parts = (0..count).map(part).collect::<Result<Vec<_>, _>>()?;
                    let whole = parts.into_iter().reduce(Shape::union).ok_or(ShapeError::NoShapes)?;
                    Geometry::shape(whole, 24)
                }
            }
        };
        shared(made())
    }
}

/// A static block through the origin whose face has the normal y turned by `tilt` (rad) about -z: downhill is +x, for 30 m. It is 2 m thick and 4 m wide.
pub(super) fn block<const D: usize>(
    world: &mut World<D>,
    block: Block,
    material: Material,
    tilt: f64,
) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
    Corners<D>: Element<D>,
{
    let half = Vector::from_fn(|a, _| [16.0, 1.0, 2.0][a]);
    let geometry = block.geometry(half, 0.4)?;
    let mut turn = vec![0.0; <Dim<D> as Space<D>>::SPIN];
    if let Some(last) = turn.last_mut() {
        *last = -tilt;
    }
    let turned = Frame { position: Vector::zeros(), rotation: Dim::<D>::exp(&Spin::<D>::from_slice(&turn)) };
    let middle = Vector::from_fn(|a, _| [14.0, -1.0, 0.0][a]);
    let described = turned.compose(&Frame { position: middle, rotation: Dim::identity() });
    let frame = described.compose(&geometry.placement().inverse());
    add(world, Kind::Static, &geometry, 1.0, material, frame, Twist::zero()).map(|_| ())
}

/// One step.
pub(super) fn step<const D: usize>(world: &mut World<D>, dt: f64) -> Result<StepReport, CaseError>
where
    Dim<D>: Space<D>,
{
    world.step(dt).map_err(|error| CaseError::new("stepping", error))
}

/// Rounds positions, orientations and motions of all bodies to single precision.
pub(super) fn round_to_single(world: &mut World<3>) -> Result<(), CaseError> {
    let single = |x: f64| f64::from(x as f32);
    let mut state = world.state().clone();
    for body in &mut state.bodies {
        body.frame.position.apply(|x| *x = single(*x));
        let components: Vec<f64> =
            Dim::<3>::rotation_components(&body.frame.rotation).into_iter().map(single).collect();
        if let Some(mut rotation) = Dim::<3>::rotation_from_components(&components) {
            Dim::<3>::renormalize(&mut rotation);
            body.frame.rotation = rotation;
        }
        body.velocity.apply(|x| *x = single(*x));
        body.angular_momentum.apply(|x| *x = single(*x));
    }
    if world.restore(state) { Ok(()) } else { Err(CaseError("the state did not fit".into())) }
}
