//! Worlds of rigid bodies for the cases.

use crate::CaseError;
use splashdown_couple::{StepReport, World};
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{Body, ContactMethod, Geometry, Kind, Material, PushOut};
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
    geometry: Result<Geometry<D>, splashdown_rigid::GeometryError>,
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
