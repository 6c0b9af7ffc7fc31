//! Narrow phase: contacts of two solids.
//!
//! Exact for spheres, boxes, capsules, half spaces and convex hulls in every combination; meshes, combined shapes and sampled solids
//! meet others by surface particles in distance fields, both ways (spec/rigid-bodies.md 3.4).

mod contact;
mod cuboids;
mod fields;
mod hulls;
mod reduce;
mod rounded;
#[cfg(test)]
mod tests;

pub use contact::{Contact, Guide, Pose, Touch};

use crate::{Geometry, Solid};
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

/// Appends the contacts of two bodies with a gap of at most `margin` (m). Which body is A does not matter to the physics.
#[inline(never)]
pub fn collide<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let from = contacts.len();
    if rank(a.geometry.solid()) <= rank(b.geometry.solid()) {
        ordered(a, b, margin, contacts);
    } else {
        ordered(b, a, margin, contacts);
        contacts[from..].iter_mut().for_each(|contact| *contact = contact.swapped());
    }
}

/// Order in which the two solids of a pair are handed to [`ordered`].
fn rank<const D: usize>(solid: &Solid<D>) -> u8
where
    Dim<D>: Space<D>,
{
    match solid {
        Solid::Point { .. } => 0,
        Solid::Sphere { .. } => 1,
        Solid::Capsule { .. } => 2,
        Solid::Cuboid { .. } => 3,
        Solid::Hull(_) => 4,
        Solid::Shape { .. } => 5,
        Solid::Mesh { .. } => 6,
        Solid::Sampled => 7,
        Solid::HalfSpace { .. } => 8,
    }
}

fn ordered<const D: usize>(a: &Placed<'_, D>, b: &Placed<'_, D>, margin: f64, contacts: &mut Vec<Contact<D>>)
where
    Dim<D>: Space<D>,
{
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
        (Solid::Cuboid { .. } | Solid::Hull(_), Solid::Hull(hull)) => {
            if let Some(first) = a.geometry.polytope() {
                hulls::collide([first, hull], [&a.pose, &b.pose], margin, contacts);
            }
        }
        _ => fields::collide(a, b, margin, contacts),
    }
    if contacts.len() - from > reduce::most_points(D) {
        let geometry = [a.geometry, b.geometry];
        let mut touches: Vec<Touch<D>> =
            contacts[from..].iter().map(|contact| contact.touch(&a.pose, &b.pose, geometry)).collect();
        reduce::reduce(contacts, from, &mut touches);
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
        Solid::Hull(hull) => {
            hull.points.iter().enumerate().for_each(|(index, point)| push(*point, 0.0, index as u32));
        }
        Solid::Shape { .. } | Solid::Mesh { .. } | Solid::Sampled => {
            let particles = a.geometry.particles().iter().enumerate();
            particles.for_each(|(index, point)| push(*point, 0.0, index as u32));
        }
    }
}
