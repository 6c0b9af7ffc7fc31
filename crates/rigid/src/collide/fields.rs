//! Surface particles of each body in the distance field of the other.

use super::{Contact, Guide, Placed};
use splashdown_geometry::Aabb;
use splashdown_math::{Dim, Space};

/// Contacts with a gap of at most `margin` (m), from both sides; not yet reduced.
pub(super) fn collide<const D: usize>(
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    one_way(a, b, margin, contacts);
    let second = contacts.len();
    one_way(b, a, margin, contacts);
    contacts[second..].iter_mut().for_each(|contact| *contact = contact.swapped());
}

/// Particles of A in the field of B.
fn one_way<const D: usize>(a: &Placed<'_, D>, b: &Placed<'_, D>, margin: f64, contacts: &mut Vec<Contact<D>>)
where
    Dim<D>: Space<D>,
{
    // The box of B in the coordinates of A.
    let bounds = b.geometry.bounds().grown(margin);
    let turn = a.pose.rotation.tr_mul(&b.pose.rotation);
    let centre = a.pose.to_object(&b.pose.to_world(&bounds.center()));
    let half = turn.abs() * bounds.extent() * 0.5;
    let query = Aabb { min: centre - half, max: centre + half };
    let particles = a.geometry.particles();
    a.geometry.particle_tree().overlapping(&query, |index| {
        let point = &particles[index as usize];
        let local = b.pose.to_object(&a.pose.to_world(point));
        if bounds.contains(&local) && b.geometry.is_below(&local, margin) {
            let (distance, normal) = b.geometry.distance_and_normal(&local);
            if distance <= margin {
                contacts.push(Contact {
                    on_a: *point,
                    on_b: local - normal * distance,
                    radius: [0.0; 2],
                    guide: Guide::FieldOfB,
                    feature: index,
                });
            }
        }
    });
}
