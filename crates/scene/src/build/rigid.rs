//! Rigid bodies: mass, placement and what drives them.

use super::shape::placed_solid;
use super::{BuildError, RigidCopy, rotation, spin, vector};
use crate::breakable::breakable;
use crate::description::{InFluid, Kind, Rigid, Scene, Shape};
use crate::from_files::FromFiles;
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Immersion, Load, Material};
use std::sync::Arc;

/// Adds the rigid bodies of a scene.
pub(super) fn add_bodies<const D: usize>(world: &mut World<D>, scene: &Scene) -> Result<(), BuildError>
where
    Dim<D>: FromFiles<D>,
{
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
        add_rigid(world, &copy, &own)?;
        made = Some(own);
    }
    Ok(())
}

/// Keeps the pairs that the scene names from touching each other.
pub(super) fn keep_apart<const D: usize>(world: &mut World<D>, scene: &Scene)
where
    Dim<D>: Space<D>,
{
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
