//! Surface particles of each body in the distance field of the other, and its edges where it asks for it.

use super::Pose;
use super::reduce::SAME_PATCH;
use super::{Contact, Guide, Placed, WHOLE};
use crate::{Geometry, Solid};
use splashdown_geometry::Aabb;
use splashdown_math::{Dim, Space, Vector};

/// Contacts with a gap of at most `margin` (m), from both sides; not yet reduced.
pub(super) fn collide<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let mut doubtful = Vec::new();
    let first = contacts.len();
    one_way(a, b, margin, contacts, &mut doubtful);
    let (second, turned) = (contacts.len(), doubtful.len());
    one_way(b, a, margin, contacts, &mut doubtful);
    contacts[second..].iter_mut().for_each(|contact| *contact = contact.swapped());
    if contacts.len() == first {
        doubtful[turned..].iter_mut().for_each(|contact| *contact = contact.swapped());
        contacts.append(&mut doubtful);
    }
}

/// Particles of A in the field of B. Nothing pushes A at a point of its surface but against an outward normal there: those with other normals are
/// `doubtful`. Beside a box that lies on A the nearest surface of the box is its side, or an edge of it, but there is no face of A that it could push.
fn one_way<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
    doubtful: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    /// Share of a cell by which to step away from surfaces that are known exactly.
    const STEP: f64 = 0.1;
    // The box of B in the coordinates of A.
    let bounds = b.geometry.bounds().grown(margin);
    let turn = a.pose.rotation.tr_mul(&b.pose.rotation);
    let centre = a.pose.to_object(&b.pose.to_world(&bounds.center()));
    let half = turn.abs() * bounds.extent() * 0.5;
    let query = Aabb { min: centre - half, max: centre + half };
    let cell = a.geometry.level_set_spacing();
    let step = if a.geometry.is_sampled() { cell } else { STEP * cell };
    let mut add = |on_a: &Vector<D>, local: &Vector<D>, feature: u32| {
        let (distance, normal) = b.geometry.contact_distance(WHOLE, local, 0.0);
        if distance > margin {
            return;
        }
        // A direction is an outward normal if the point is the nearest one of A from there; surfaces known by samples are so to the angle of a patch.
        let outward = on_a - turn * normal * step;
        let away = a.geometry.contact_distance(WHOLE, &outward, 0.0).0;
        let found = if away >= SAME_PATCH * step { &mut *contacts } else { &mut *doubtful };
        found.push(Contact {
            on_a: *on_a,
            on_b: local - normal * distance,
            radius: [0.0; 2],
            guide: Guide::FieldOfB(WHOLE),
            feature,
        });
    };
    let near = margin + b.geometry.level_set_error();
    let particles = a.geometry.particles();
    a.geometry.particle_tree().overlapping(&query, |index| {
        let point = &particles[index as usize];
        let local = b.pose.to_object(&a.pose.to_world(point));
        if bounds.contains(&local) && b.geometry.is_below(&local, near) {
            add(point, &local, index);
        }
    });
    let Some(edges) = a.geometry.edges() else { return };
    edges.tree.overlapping(&query, |index| {
        let ends = edges.ends[index as usize].map(|end| b.pose.to_object(&a.pose.to_world(&end)));
        if let Some(local) = middle_inside(b.geometry, &ends, margin) {
            add(&a.pose.to_object(&b.pose.to_world(&local)), &local, particles.len() as u32 + index);
        }
    });
}

/// Contacts whose normal is that of a face keep to its plane: what slides over the edge of the face within the step must not be taken for something beside it.
pub(super) fn keep_to_faces<const D: usize>(a: &Placed<'_, D>, b: &Placed<'_, D>, contacts: &mut [Contact<D>])
where
    Dim<D>: Space<D>,
{
    // The normal (coordinates of the body whose distance it is) if the surface is flat there.
    let face = |own: &Placed<'_, D>, other: &Pose<D>, part: u32, point: &Vector<D>| {
        let place = own.pose.to_object(&other.to_world(point));
        let of = own.geometry.parts().get(part as usize).map_or(own.geometry, |part| &part.geometry);
        let step = match of.solid() {
            Solid::Mesh { .. } | Solid::Sampled => of.level_set_spacing(),
            _ => ASIDE * of.bounds().extent().min(),
        };
        let (_, normal) = own.geometry.contact_distance(part, &place, 0.0);
        let mut alike = 0;
        for axis in 0..D {
            if axis == normal.iamax() {
                continue;
            }
            let mut aside = Vector::<D>::zeros();
            aside[axis] = 1.0;
            aside -= normal * normal[axis];
            for sign in [step, -step] {
                let (_, beside) = own.geometry.contact_distance(part, &(place + aside * sign), 0.0);
                alike += usize::from((beside - normal).norm() < FLAT);
            }
        }
        // At the corner of a face half of the directions lead into it; facets of a mesh smaller than a cell are those of a round surface.
        (alike + 1 >= D).then_some(normal)
    };
    for contact in contacts {
        match contact.guide {
            Guide::FieldOfA(part) => {
                if let Some(normal) = face(a, &b.pose, part, &contact.on_b) {
                    contact.guide = Guide::FixedToA(-normal);
                }
            }
            Guide::FieldOfB(part) => {
                if let Some(normal) = face(b, &a.pose, part, &contact.on_a) {
                    contact.guide = Guide::FixedToB(normal);
                }
            }
            _ => {}
        }
    }
}

/// Normals that differ by less are those of one plane.
const FLAT: f64 = 1e-6;

/// How far beside a point a surface given by a formula is looked at, as a share of its extent.
const ASIDE: f64 = 1e-3;

/// Middle of what of the segment `ends` (object coordinates) is inside a solid, or else within `margin` (m) of it; both ends must be further away: the
/// others are particles that have been seen.
fn middle_inside<const D: usize>(solid: &Geometry<D>, ends: &[Vector<D>; 2], margin: f64) -> Option<Vector<D>>
where
    Dim<D>: Space<D>,
{
    const STEPS: usize = 64;
    let length = (ends[1] - ends[0]).norm();
    let from_ends = ends.map(|end| solid.signed_distance(&end));
    if !(from_ends[0] > margin
        && from_ends[1] > margin
        && from_ends[0] + from_ends[1] <= length + 2.0 * margin)
    {
        return None;
    }
    // Steps as long as the distance cannot jump over anything.
    let entry = |from: &Vector<D>, to: &Vector<D>, limit: f64| -> Option<f64> {
        let along = (to - from) / length;
        let mut at = 0.0;
        for _ in 0..STEPS {
            let gap = solid.signed_distance(&(from + along * at)) - limit;
            if gap <= 1e-9 * length {
                return Some(at);
            }
            at += gap;
            if at > length {
                return None;
            }
        }
        Some(at)
    };
    [0.0, margin].into_iter().find_map(|limit| {
        let first = entry(&ends[0], &ends[1], limit)?;
        let last = length - entry(&ends[1], &ends[0], limit)?;
        Some(ends[0] + (ends[1] - ends[0]) * (0.5 * (first + last) / length))
    })
}
