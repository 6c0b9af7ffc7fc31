//! Narrow phase: contacts of two solids.
//!
//! Exact for spheres, boxes, capsules, half spaces and convex hulls in every combination, and for unions of them part by part; meshes, other shapes
//! and sampled solids meet others by surface particles in distance fields, both ways (spec/rigid-bodies.md 3.4). The distance of a mesh is that
//! of its elements, so spheres and flat faces are exact on it, too.

mod composite;
mod contact;
mod cuboids;
mod fields;
mod hulls;
mod reduce;
mod rounded;
#[cfg(test)]
mod tests;

pub use contact::{Contact, Guide, Pose, Reach, Touch, WHOLE};

use crate::{Geometry, Solid};
use reduce::Points;
use splashdown_math::{Dim, Space, Vector};

/// A body for the narrow phase.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Its geometry.
    pub geometry: &'a Geometry<D>,
    /// Where it is.
    pub pose: Pose<D>,
}

/// Appends the contacts of two bodies within `reach`, a gap (m) or a [`Reach`]. Which body is A does not matter to the physics.
#[inline(never)]
pub fn collide<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    reach: impl Into<Reach<D>>,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let reach = &reach.into();
    let from = contacts.len();
    if composite::concerns(a, b) {
        composite::collide(a, b, reach, contacts);
    } else if rank(a.geometry) <= rank(b.geometry) {
        ordered(a, b, reach, contacts);
    } else {
        ordered(b, a, &reach.swapped(), contacts);
        contacts[from..].iter_mut().for_each(|contact| *contact = contact.swapped());
    }
}

/// Rank of polytopes other than boxes.
const HULL: u8 = 4;

/// Order in which the two solids of a pair are handed to [`ordered`].
fn rank<const D: usize>(geometry: &Geometry<D>) -> u8
where
    Dim<D>: Space<D>,
{
    match geometry.solid() {
        Solid::Point { .. } => 0,
        Solid::Sphere { .. } => 1,
        Solid::Capsule { .. } => 2,
        Solid::Cuboid { .. } => 3,
        Solid::Hull(_) => HULL,
        Solid::Shape { .. } => 5,
        Solid::Mesh { .. } => 6,
        Solid::Sampled if geometry.polytope().is_some() => HULL,
        Solid::Sampled => 7,
        Solid::HalfSpace { .. } => 8,
    }
}

fn ordered<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    reach: &Reach<D>,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let margin = reach.most();
    let from = contacts.len();
    match (a.geometry.solid(), b.geometry.solid()) {
        (Solid::HalfSpace { .. }, _) | (_, Solid::Point { .. }) => {}
        (Solid::Point { thickness }, _) => {
            rounded::particle(*thickness, a, b, margin, contacts);
            return;
        }
        (_, Solid::HalfSpace { normal }) => against_half_space(a, b, normal, margin, contacts),
        (Solid::Sphere { radius }, Solid::Sphere { radius: other }) => {
            rounded::spheres([*radius, *other], [&a.pose, &b.pose], margin, contacts);
            return;
        }
        (Solid::Sphere { radius }, _) => {
            rounded::ball(&Vector::zeros(), *radius, 0, a, b, margin, contacts);
            return;
        }
        (Solid::Capsule { radius, half_length }, other) => {
            rounded::capsule(*radius, *half_length, a, b, margin, contacts);
            if let Solid::Capsule { radius, half_length } = other {
                let second = contacts.len();
                rounded::capsule(*radius, *half_length, b, a, margin, contacts);
                contacts[second..].iter_mut().for_each(|contact| *contact = contact.swapped());
            }
        }
        (Solid::Cuboid { half }, Solid::Cuboid { half: other }) => {
            cuboids::collide([half, other], [&a.pose, &b.pose], margin, contacts);
            return;
        }
        _ => match (a.geometry.polytope(), b.geometry.polytope()) {
            (Some(first), Some(second)) => {
                hulls::collide([first, second], [&a.pose, &b.pose], reach, contacts);
            }
            _ => {
                fields::collide(a, b, margin, contacts);
                keep_few(a, b, Points::Particles, from, contacts);
                fields::keep_to_faces(a, b, &mut contacts[from..]);
                return;
            }
        },
    }
    let hull = |body: &Placed<'_, D>| rank(body.geometry) == HULL;
    let kind = if a.geometry.is_by_particles() || b.geometry.is_by_particles() {
        Points::Particles
    } else if hull(a) || hull(b) {
        Points::Corners
    } else {
        Points::All
    };
    keep_few(a, b, kind, from, contacts);
}

/// Reduces the contacts from number `from` on.
fn keep_few<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    kind: Points,
    from: usize,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    if contacts.len() - from > reduce::most_points(D) {
        let geometry = [a.geometry, b.geometry];
        let mut touches: Vec<Touch<D>> =
            contacts[from..].iter().map(|contact| contact.touch(&a.pose, &b.pose, geometry)).collect();
        reduce::reduce(contacts, from, &mut touches, kind);
    }
}

/// Corners, ends or particles below the plane.
fn against_half_space<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    normal: &Vector<D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    // The plane in the coordinates of A.
    let world = b.pose.rotation * normal;
    let local = a.pose.rotation.tr_mul(&world);
    let height = world.dot(&(a.pose.position - b.pose.position));
    let mut push = |point: Vector<D>, radius: f64, feature: u32| {
        let gap = local.dot(&point) + height - radius;
        if gap <= margin {
            let foot = a.pose.to_world(&point) - world * (gap + radius);
            contacts.push(Contact {
                on_a: point,
                on_b: b.pose.to_object(&foot),
                radius: [radius, 0.0],
                guide: Guide::FixedToB(*normal),
                feature,
            });
        }
    };
    match a.geometry.solid() {
        Solid::HalfSpace { .. } | Solid::Point { .. } => {}
        Solid::Sphere { radius } => push(Vector::zeros(), *radius, 0),
        Solid::Capsule { radius, half_length } => {
            for (end, sign) in [-1.0, 1.0].into_iter().enumerate() {
                let mut point = Vector::zeros();
                point[D - 1] = sign * half_length;
                push(point, *radius, end as u32);
            }
        }
        Solid::Cuboid { half } => {
            if height - half.dot(&local.abs()) > margin {
                return;
            }
            for corner in 0..1u32 << D {
                let point = Vector::from_fn(|k, _| if corner >> k & 1 == 1 { half[k] } else { -half[k] });
                push(point, 0.0, corner);
            }
        }
        Solid::Hull(_) | Solid::Shape { .. } | Solid::Mesh { .. } | Solid::Sampled => {
            let points = match a.geometry.polytope() {
                Some(hull) => hull.points.as_slice(),
                None => a.geometry.particles(),
            };
            points.iter().enumerate().for_each(|(index, point)| push(*point, 0.0, index as u32));
        }
    }
}
