//! Convex polytope against convex polytope: separating axes over faces and pairs of edges, then face clipping.

use super::{Contact, Guide, Pose, Reach};
use crate::{Hull, HullFace};
use splashdown_math::{Dim, Space, Vector};

/// Contacts within `reach`; not yet reduced.
pub(super) fn collide<const D: usize>(
    hulls: [&Hull<D>; 2],
    pose: [&Pose<D>; 2],
    reach: &Reach<D>,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    if hulls.iter().any(|hull| hull.faces.is_empty()) {
        return;
    }
    let size =
        hulls[0].points.iter().chain(&hulls[1].points).map(|p| p.norm_squared()).fold(0.0, f64::max).sqrt();
    let mut best = (f64::NEG_INFINITY, 0, 0);
    // B as A sees it, and A as B does.
    let relative = [pose[1].seen_from(pose[0]), pose[0].seen_from(pose[1])];
    for body in 0..2 {
        let (own, other) = (hulls[body], hulls[1 - body]);
        let (frame, others) = (pose[body], &relative[body]);
        let moved = frame.vector_to_object(&reach.moved) * if body == 0 { 1.0 } else { -1.0 };
        for (index, face) in own.faces.iter().enumerate() {
            let gap = face.normal.dot(&others.position) - face.offset
                + other.lowest(&others.vector_to_object(&face.normal));
            // How far the motion of this body relative to the other closes the gap.
            if gap > reach.margin + moved.dot(&face.normal).max(0.0) {
                return;
            }
            // The first body stays reference unless the second is clearly better.
            let prefer = if body == 1 && best.1 == 0 { 1e-3 * size } else { 0.0 };
            if gap > best.0 + prefer {
                best = (gap, body, index);
            }
        }
    }
    let seen = Reach { moved: pose[0].vector_to_object(&reach.moved), ..*reach };
    if D == 3
        && let Some((gap, contact)) = best_edges(hulls, &relative[0], &seen, best.0 + 1e-3 * size)
    {
        let Some(contact) = contact else { return };
        if gap > best.0 + 1e-3 * size {
            contacts.push(contact);
            return;
        }
    }
    let (_, body, index) = best;
    let from = contacts.len();
    clip(hulls[body], index, hulls[1 - body], pose[body], pose[1 - body], reach.most(), contacts);
    if body == 1 {
        contacts[from..].iter_mut().for_each(|contact| *contact = contact.swapped());
    }
}

fn cross<const D: usize>(u: &Vector<D>, v: &Vector<D>) -> Vector<D> {
    Vector::from_fn(|a, _| u[(a + 1) % D] * v[(a + 2) % D] - u[(a + 2) % D] * v[(a + 1) % D])
}

/// An edge of B as the search for the best pair sees it.
struct OtherEdge<const D: usize> {
    number: u32,
    ends: [u32; 2],
    faces: [u32; 2],
    /// Second normal times first, both turned round: across the plane of the arc between them on the Gauss map.
    arc: Vector<D>,
}

/// Radius (m) of a ball about the origin inside the hull; negative if the origin is outside.
fn inner_radius<const D: usize>(hull: &Hull<D>) -> f64 {
    let radius = hull.faces.iter().map(|face| face.offset).fold(f64::INFINITY, f64::min);
    if radius >= 0.0 {
        return radius;
    }
    -hull.points.iter().map(|point| point.norm_squared()).fold(0.0, f64::max).sqrt()
}

/// At most what unit vectors between `first` and `second` have along `direction` (m).
#[inline]
fn most_along<const D: usize>(direction: &Vector<D>, first: &Vector<D>, second: &Vector<D>) -> f64 {
    let along = first.dot(direction).max(second.dot(direction));
    // The shortest mean of the two has this length.
    let shortest = (0.5 * (1.0 + first.dot(second))).max(0.0).sqrt();
    if along > 0.0 { along / shortest } else { 0.0 }
}

/// The pair of edges with the largest gap along the normal of both (3D), among those that form a face of the Minkowski difference; no
/// contact if one of them separates the bodies by more than `reach`, whose motion is in the coordinates of A. `of_b` is the pose of B there. Pairs
/// whose gap cannot be larger than `least` (m) may be left out.
fn best_edges<const D: usize>(
    hulls: [&Hull<D>; 2],
    of_b: &Pose<D>,
    reach: &Reach<D>,
    least: f64,
) -> Option<(f64, Option<Contact<D>>)>
where
    Dim<D>: Space<D>,
{
    let [first, second] = hulls;
    // Balls about the origins are inside the bodies, so a gap along `n` is at most `n . between` less their radii.
    let between = of_b.position;
    let wanted = least + inner_radius(first) + inner_radius(second);
    let points: Vec<Vector<D>> = second.points.iter().map(|point| of_b.to_world(point)).collect();
    // Normals of B turned round, as the Minkowski difference has them.
    let outward: Vec<Vector<D>> =
        second.faces.iter().map(|face| -of_b.vector_to_world(&face.normal)).collect();
    let facing: Vec<OtherEdge<D>> = (0u32..)
        .zip(&second.edges)
        .filter(|(_, (_, [c, d]))| {
            most_along(&between, &outward[*c as usize], &outward[*d as usize]) >= wanted
        })
        .map(|(number, &(ends, [c, d]))| {
            let arc = cross(&outward[d as usize], &outward[c as usize]);
            OtherEdge { number, ends, faces: [c, d], arc }
        })
        .collect();
    if facing.is_empty() {
        return None;
    }
    let mut sides = vec![0.0; outward.len()];
    let mut best: Option<(f64, Option<Contact<D>>)> = None;
    for (i, (ends, faces)) in first.edges.iter().enumerate() {
        let normals = faces.map(|face| &first.faces[face as usize].normal);
        if most_along(&between, normals[0], normals[1]) < wanted {
            continue;
        }
        let arc = cross(normals[1], normals[0]);
        sides.iter_mut().zip(&outward).for_each(|(side, normal)| *side = normal.dot(&arc));
        let start = first.points[ends[0] as usize];
        let along = first.points[ends[1] as usize] - start;
        for other in &facing {
            // Do the arcs of the Gauss maps cross? (Gregorius, GDC 2013.)
            let [cba, dba] = other.faces.map(|face| sides[face as usize]);
            if !(cba * dba < 0.0) {
                continue;
            }
            let (adc, bdc) = (normals[0].dot(&other.arc), normals[1].dot(&other.arc));
            if !(adc * bdc < 0.0 && cba * bdc > 0.0) {
                continue;
            }
            let other_start = points[other.ends[0] as usize];
            let other_along = points[other.ends[1] as usize] - other_start;
            let normal = cross(&along, &other_along);
            let length = normal.norm();
            if length < 1e-6 * along.norm() * other_along.norm() {
                continue;
            }
            let mut normal = normal / length;
            // Out of A, as the faces that meet at its edge.
            if normal.dot(&(normals[0] + normals[1])) < 0.0 {
                normal = -normal;
            }
            let between = other_start - start;
            let gap = normal.dot(&between);
            if gap > reach.along(&-normal) {
                return Some((gap, None));
            }
            if best.as_ref().is_some_and(|best| gap <= best.0) {
                continue;
            }
            let (aa, bb, ab) = (along.norm_squared(), other_along.norm_squared(), along.dot(&other_along));
            let (ea, eb) = (along.dot(&between), other_along.dot(&between));
            let determinant = aa * bb - ab * ab;
            let s = ((ea * bb - ab * eb) / determinant).clamp(0.0, 1.0);
            let t = ((ab * ea - aa * eb) / determinant).clamp(0.0, 1.0);
            let contact = Contact {
                on_a: start + along * s,
                on_b: of_b.to_object(&(other_start + other_along * t)),
                radius: [0.0; 2],
                guide: Guide::FixedToA(-normal),
                feature: 0x4000_0000 | ((i as u32) << 12 & 0xfff_000) | (other.number & 0xfff),
            };
            best = Some((gap, Some(contact)));
        }
    }
    best
}

/// Clips the face of `incident` most against `face` of `reference`; contacts have the reference body as A.
fn clip<const D: usize>(
    reference: &Hull<D>,
    face: usize,
    incident: &Hull<D>,
    pose: &Pose<D>,
    other: &Pose<D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let HullFace { normal, offset, corners } = &reference.faces[face];
    let against = other.vector_to_object(&pose.vector_to_world(normal));
    let mut opposite = 0;
    for (index, candidate) in incident.faces.iter().enumerate() {
        if candidate.normal.dot(&against) < incident.faces[opposite].normal.dot(&against) - 1e-9 {
            opposite = index;
        }
    }
    let mut polygon: Vec<(Vector<D>, u32)> = incident.faces[opposite]
        .corners
        .iter()
        .map(|&c| (pose.to_object(&other.to_world(&incident.points[c as usize])), c & 0xff))
        .collect();
    let count = corners.len();
    for i in 0..count {
        let (p, q) =
            (reference.points[corners[i] as usize], reference.points[corners[(i + 1) % count] as usize]);
        // Outward normal of the side plane through this edge (in 2D: through this end).
        let out = if D == 2 {
            p - q
        } else {
            let e = q - p;
            Vector::from_fn(|a, _| {
                e[(a + 1) % D] * normal[(a + 2) % D] - e[(a + 2) % D] * normal[(a + 1) % D]
            })
        };
        let limit = out.dot(&p);
        let mut kept = Vec::with_capacity(polygon.len() + 2);
        let closing = if D == 2 { polygon.len().saturating_sub(1) } else { polygon.len() };
        for k in 0..polygon.len() {
            let (p, id) = polygon[k];
            let dp = out.dot(&p) - limit;
            if dp <= 0.0 {
                kept.push((p, id));
            }
            if k >= closing {
                continue;
            }
            let (q, other) = polygon[(k + 1) % polygon.len()];
            let dq = out.dot(&q) - limit;
            if dp < 0.0 && dq > 0.0 || dp > 0.0 && dq < 0.0 {
                kept.push((
                    p + (q - p) * (dp / (dp - dq)),
                    (i as u32 + 1) << 8 | (id ^ other.rotate_left(4)) & 0xff,
                ));
            }
        }
        polygon = kept;
    }
    for (point, id) in polygon {
        let gap = normal.dot(&point) - offset;
        if gap <= margin {
            contacts.push(Contact {
                on_a: point - normal * gap,
                on_b: other.to_object(&pose.to_world(&point)),
                radius: [0.0; 2],
                guide: Guide::FixedToA(-normal),
                feature: (face as u32 & 0xff) << 18 | id & 0x3ffff,
            });
        }
    }
}
