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
    let size = hulls[0].points.iter().chain(&hulls[1].points).map(|p| p.norm()).fold(0.0, f64::max);
    let mut best = (f64::NEG_INFINITY, 0, 0);
    for body in 0..2 {
        let (own, other) = (hulls[body], hulls[1 - body]);
        let (frame, others) = (pose[body], pose[1 - body]);
        for (index, face) in own.faces.iter().enumerate() {
            let world = frame.rotation * face.normal;
            let deepest = other.points[other.support(&-(others.rotation.tr_mul(&world))) as usize];
            let gap = face.normal.dot(&frame.to_object(&others.to_world(&deepest))) - face.offset;
            if gap > reach.along(&if body == 0 { -world } else { world }) {
                return;
            }
            // The first body stays reference unless the second is clearly better.
            let prefer = if body == 1 && best.1 == 0 { 1e-3 * size } else { 0.0 };
            if gap > best.0 + prefer {
                best = (gap, body, index);
            }
        }
    }
    if D == 3
        && let Some((gap, contact)) = best_edges(hulls, pose, reach)
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

/// An edge as the search for the best pair sees it, in the coordinates of A.
#[derive(Clone, Copy)]
struct Edge<const D: usize> {
    start: Vector<D>,
    along: Vector<D>,
    /// Normals of the two faces that meet there; for B turned round, as the Minkowski difference has them.
    normals: [Vector<D>; 2],
    /// Second normal times first: the plane of the arc between them on the Gauss map.
    arc: Vector<D>,
}

fn cross<const D: usize>(u: &Vector<D>, v: &Vector<D>) -> Vector<D> {
    Vector::from_fn(|a, _| u[(a + 1) % D] * v[(a + 2) % D] - u[(a + 2) % D] * v[(a + 1) % D])
}

fn edges<const D: usize>(
    hull: &Hull<D>,
    point: impl Fn(&Vector<D>) -> Vector<D>,
    normal: impl Fn(&Vector<D>) -> Vector<D>,
) -> Vec<Edge<D>> {
    let points: Vec<Vector<D>> = hull.points.iter().map(point).collect();
    let outward: Vec<Vector<D>> = hull.faces.iter().map(|face| normal(&face.normal)).collect();
    let edge = |&(ends, faces): &([u32; 2], [u32; 2])| {
        let (start, end) = (points[ends[0] as usize], points[ends[1] as usize]);
        let normals = [outward[faces[0] as usize], outward[faces[1] as usize]];
        Edge { start, along: end - start, normals, arc: cross(&normals[1], &normals[0]) }
    };
    hull.edges.iter().map(edge).collect()
}

/// The pair of edges with the largest gap along the normal of both (3D), among those that form a face of the Minkowski difference; no
/// contact if one of them separates the bodies by more than `reach`.
fn best_edges<const D: usize>(
    hulls: [&Hull<D>; 2],
    pose: [&Pose<D>; 2],
    reach: &Reach<D>,
) -> Option<(f64, Option<Contact<D>>)>
where
    Dim<D>: Space<D>,
{
    let turn = pose[0].rotation.tr_mul(&pose[1].rotation);
    let shift = pose[0].to_object(&pose[1].position);
    let of_a = edges(hulls[0], |p| *p, |n| *n);
    let of_b = edges(hulls[1], |p| turn * p + shift, |n| -(turn * n));
    let reach = Reach { moved: pose[0].rotation.tr_mul(&reach.moved), ..*reach };
    let mut best: Option<(f64, Option<Contact<D>>)> = None;
    for (i, a) in of_a.iter().enumerate() {
        for (j, b) in of_b.iter().enumerate() {
            // Do the arcs of the Gauss maps cross? (Gregorius, GDC 2013.)
            let (cba, dba) = (b.normals[0].dot(&a.arc), b.normals[1].dot(&a.arc));
            if !(cba * dba < 0.0) {
                continue;
            }
            let (adc, bdc) = (a.normals[0].dot(&b.arc), a.normals[1].dot(&b.arc));
            if !(adc * bdc < 0.0 && cba * bdc > 0.0) {
                continue;
            }
            let normal = cross(&a.along, &b.along);
            let length = normal.norm();
            if length < 1e-6 * a.along.norm() * b.along.norm() {
                continue;
            }
            let mut normal = normal / length;
            // Out of A, as the faces that meet at its edge.
            if normal.dot(&(a.normals[0] + a.normals[1])) < 0.0 {
                normal = -normal;
            }
            let between = b.start - a.start;
            let gap = normal.dot(&between);
            if gap > reach.along(&-normal) {
                return Some((gap, None));
            }
            if best.as_ref().is_some_and(|best| gap <= best.0) {
                continue;
            }
            let (aa, bb, ab) = (a.along.norm_squared(), b.along.norm_squared(), a.along.dot(&b.along));
            let (ea, eb) = (a.along.dot(&between), b.along.dot(&between));
            let determinant = aa * bb - ab * ab;
            let s = ((ea * bb - ab * eb) / determinant).clamp(0.0, 1.0);
            let t = ((ab * ea - aa * eb) / determinant).clamp(0.0, 1.0);
            let contact = Contact {
                on_a: a.start + a.along * s,
                on_b: turn.tr_mul(&(b.start + b.along * t - shift)),
                radius: [0.0; 2],
                guide: Guide::FixedToA(-normal),
                feature: 0x4000_0000 | ((i as u32) << 12 & 0xfff_000) | (j as u32 & 0xfff),
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
    let world = pose.rotation * normal;
    let against = other.rotation.tr_mul(&world);
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
