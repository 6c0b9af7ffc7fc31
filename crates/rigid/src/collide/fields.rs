//! Surface particles of each body in the distance field of the other, and its edges where it asks for it.

use super::{Contact, Guide, Placed};
use crate::Geometry;
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

/// Particles of A in the field of B. Those whose normal does not lead into A are `doubtful`: where rims meet, the nearest surface of B may be its side, along which nothing pushes A.
fn one_way<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
    doubtful: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    /// A way of one cell along the normal may lead out of A by this share of it.
    const OUTWARD: f64 = 0.3;
    // The box of B in the coordinates of A.
    let bounds = b.geometry.bounds().grown(margin);
    let turn = a.pose.rotation.tr_mul(&b.pose.rotation);
    let centre = a.pose.to_object(&b.pose.to_world(&bounds.center()));
    let half = turn.abs() * bounds.extent() * 0.5;
    let query = Aabb { min: centre - half, max: centre + half };
    let cell = a.geometry.level_set_spacing();
    let mut add = |on_a: &Vector<D>, local: &Vector<D>, feature: u32| {
        let (distance, normal) = b.geometry.distance_and_normal(local);
        if distance > margin {
            return;
        }
        let inward = on_a + turn * normal * cell;
        let found = if a.geometry.signed_distance(&inward) <= OUTWARD * cell {
            &mut *contacts
        } else {
            &mut *doubtful
        };
        found.push(Contact {
            on_a: *on_a,
            on_b: local - normal * distance,
            radius: [0.0; 2],
            guide: Guide::FieldOfB,
            feature,
        });
    };
    let particles = a.geometry.particles();
    a.geometry.particle_tree().overlapping(&query, |index| {
        let point = &particles[index as usize];
        let local = b.pose.to_object(&a.pose.to_world(point));
        if bounds.contains(&local) && b.geometry.is_below(&local, margin) {
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
