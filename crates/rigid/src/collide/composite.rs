//! Solids made of parts: each part of one against each of the other, by what is known about the two. Of the contacts those count that are on the surface of
//! the whole: what one part hides of another touches nothing, and bodies slide over the seams of parts whose faces are flush.

use super::fields::keep_to_faces;
use super::reduce::{Points, SAME_PATCH};
use super::{Contact, Guide, Placed, Pose, Reach, Touch, WHOLE, keep_few};
use crate::{Geometry, Solid};
use splashdown_math::{Dim, Space, Vector};

/// Does the pair meet part by part? Particles of deformable bodies know one distance only.
pub(super) fn concerns<const D: usize>(a: &Placed<'_, D>, b: &Placed<'_, D>) -> bool
where
    Dim<D>: Space<D>,
{
    let particle = |body: &Placed<'_, D>| matches!(body.geometry.solid(), Solid::Point { .. });
    let whole = a.geometry.parts().is_empty() && b.geometry.parts().is_empty();
    !whole && !particle(a) && !particle(b)
}

/// A part of a body where it is, or all of it.
struct Member<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    number: u32,
    placed: Placed<'a, D>,
    /// From its coordinates to those of the body.
    within: Option<&'a Pose<D>>,
}

fn members<'a, const D: usize>(body: &Placed<'a, D>) -> Vec<Member<'a, D>>
where
    Dim<D>: Space<D>,
{
    let parts = body.geometry.parts();
    if parts.is_empty() {
        return vec![Member { number: WHOLE, placed: *body, within: None }];
    }
    let place = |(number, part): (u32, &'a crate::geometry::Part<D>)| {
        let pose = Pose {
            position: body.pose.to_world(&part.pose.position),
            rotation: body.pose.rotation * part.pose.rotation,
        };
        Member { number, placed: Placed { geometry: &part.geometry, pose }, within: Some(&part.pose) }
    };
    (0..).zip(parts).map(place).collect()
}

/// Contacts within `reach`.
pub(super) fn collide<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    reach: &Reach<D>,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let from = contacts.len();
    let (first, second) = (members(a), members(b));
    for i in &first {
        for j in &second {
            let between = (i.placed.pose.position - j.placed.pose.position).norm();
            if between > i.placed.geometry.radius() + j.placed.geometry.radius() + reach.most() {
                continue;
            }
            let own = contacts.len();
            super::collide(&i.placed, &j.placed, *reach, contacts);
            contacts[own..].iter_mut().for_each(|contact| of_whole(contact, i, j));
        }
    }
    let particles = a.geometry.is_by_particles() || b.geometry.is_by_particles();
    // Normals at samples are those of a surface nearby.
    let slack = if particles { 1.0 - SAME_PATCH } else { 1e-9 };
    let grains = [a, b].map(|body| grain(body.geometry));
    let counts = |contact: &Contact<D>| {
        let Touch { normal, .. } = contact.touch(&a.pose, &b.pose, [a.geometry, b.geometry]);
        let (out_of_a, out_of_b) = (-a.pose.vector_to_object(&normal), b.pose.vector_to_object(&normal));
        let on_a = contact.on_a + out_of_a * contact.radius[0];
        let on_b = contact.on_b + out_of_b * contact.radius[1];
        grains[0].is_none_or(|grain| is_exposed(a.geometry, &on_a, &out_of_a, grain, slack))
            && grains[1].is_none_or(|grain| is_exposed(b.geometry, &on_b, &out_of_b, grain, slack))
    };
    let mut exposed: Vec<Contact<D>> = contacts[from..].iter().copied().filter(counts).collect();
    // Where bodies are in each other deeper than their parts are large, all that there is has to hold them apart.
    if !exposed.is_empty() {
        contacts.truncate(from);
        contacts.append(&mut exposed);
    }
    keep_few(a, b, if particles { Points::Particles } else { Points::Corners }, from, contacts);
    // Parts end where the whole goes on.
    keep_to_faces(a, b, &mut contacts[from..]);
}

/// Makes a contact of two parts one of the bodies.
fn of_whole<const D: usize>(contact: &mut Contact<D>, a: &Member<'_, D>, b: &Member<'_, D>)
where
    Dim<D>: Space<D>,
{
    if let Some(within) = a.within {
        contact.on_a = within.to_world(&contact.on_a);
    }
    if let Some(within) = b.within {
        contact.on_b = within.to_world(&contact.on_b);
    }
    let turned = |within: Option<&Pose<D>>, normal: Vector<D>| {
        within.map_or(normal, |within| within.vector_to_world(&normal))
    };
    contact.guide = match contact.guide {
        Guide::FixedToA(normal) => Guide::FixedToA(turned(a.within, normal)),
        Guide::FixedToB(normal) => Guide::FixedToB(turned(b.within, normal)),
        Guide::FieldOfA(_) => Guide::FieldOfA(a.number),
        Guide::FieldOfB(_) => Guide::FieldOfB(b.number),
        guide @ (Guide::Points(_) | Guide::ParticleA | Guide::ParticleB) => guide,
    };
    // Other parts have other features; the highest bit says which body the feature is seen from.
    let parts = [a, b].map(|member| member.number.wrapping_add(1));
    let mixed = parts[0].wrapping_mul(0x9e37_79b1) ^ parts[1].wrapping_mul(0x85eb_ca6b).rotate_left(13);
    contact.feature ^= mixed & 0x7fff_ffff;
}

/// Smallest half extent of a part (m); none for a solid in one piece.
fn grain<const D: usize>(geometry: &Geometry<D>) -> Option<f64>
where
    Dim<D>: Space<D>,
{
    let parts = geometry.parts();
    let smallest = |part: &crate::geometry::Part<D>| 0.5 * part.geometry.bounds().extent().min();
    (parts.len() > 1).then(|| parts.iter().map(smallest).fold(f64::INFINITY, f64::min))
}

/// Has the whole, at a point on the surface of one of its parts (object coordinates) or right beside it, the outward normal `normal`, whose cosine may differ from
/// one by `slack`? A point is nearest to what is above it along an outward normal. At the foot of a wall nothing is, though floor and wall both end there:
/// so the faces around are asked, too.
fn is_exposed<const D: usize>(
    geometry: &Geometry<D>,
    point: &Vector<D>,
    normal: &Vector<D>,
    grain: f64,
    slack: f64,
) -> bool
where
    Dim<D>: Space<D>,
{
    /// Step away from the surface, and the depth in other parts that bodies may have sunk to, as shares of the smallest part.
    const STEP: f64 = 1e-3;
    const SUNK: f64 = 0.1;
    /// Steps aside after which a point is no longer on the surface if it is this share of a step away.
    const OFF: f64 = 0.5;
    let distance = |point: &Vector<D>| geometry.contact_distance(WHOLE, point, 0.0).0;
    let sunk = (-distance(point)).max(0.0);
    if sunk > SUNK * grain {
        return false;
    }
    let step = STEP * grain + 2.0 * sunk;
    // How far from the whole a step along the normal leads.
    let above = |point: &Vector<D>| distance(&(point + normal * step));
    let enough = (1.0 - slack) * step;
    if above(point) >= enough {
        return true;
    }
    let beside = |point: Vector<D>| {
        let off = distance(&point);
        off.abs() <= OFF * step && above(&point) - off >= enough
    };
    let mut across = Vector::<D>::zeros();
    across[normal.iamin()] = 1.0;
    let u = (across - normal * normal.dot(&across)).normalize();
    if D == 2 {
        return [1.0, -1.0].into_iter().any(|side| beside(point + u * (3.0 * step * side)));
    }
    let v: Vector<D> =
        Vector::from_fn(|a, _| normal[(a + 1) % D] * u[(a + 2) % D] - normal[(a + 2) % D] * u[(a + 1) % D]);
    // Far enough from the walls of a square corner whatever the direction.
    (0..8).map(|k| std::f64::consts::FRAC_PI_4 * f64::from(k)).any(|angle| {
        let aside = u * angle.cos() + v * angle.sin();
        beside(point + aside * (3.0 * step))
    })
}
