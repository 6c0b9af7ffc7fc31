//! Convex polytope against convex polytope: separating axes over faces and pairs of edges, then face clipping.

use super::{Contact, Guide, Pose};
use crate::{Hull, HullFace};
use splashdown_math::{Dim, Space, Vector};

/// Contacts with a gap of at most `margin` (m); not yet reduced.
pub(super) fn collide<const D: usize>(
    hulls: [&Hull<D>; 2],
    pose: [&Pose<D>; 2],
    margin: f64,
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
            if gap > margin {
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
        && let Some((gap, contact)) = best_edges(hulls, pose)
    {
        if gap > margin {
            return;
        }
        if gap > best.0 + 1e-3 * size {
            contacts.push(contact);
            return;
        }
    }
    let (_, body, index) = best;
    let from = contacts.len();
    clip(hulls[body], index, hulls[1 - body], pose[body], pose[1 - body], margin, contacts);
    if body == 1 {
        contacts[from..].iter_mut().for_each(|contact| *contact = contact.swapped());
    }
}

/// The pair of edges with the largest gap along the normal of both (3D), among those that form a face of the Minkowski difference.
fn best_edges<const D: usize>(hulls: [&Hull<D>; 2], pose: [&Pose<D>; 2]) -> Option<(f64, Contact<D>)>
where
    Dim<D>: Space<D>,
{
    let cross = |u: &Vector<D>, v: &Vector<D>| {
        Vector::<D>::from_fn(|a, _| u[(a + 1) % D] * v[(a + 2) % D] - u[(a + 2) % D] * v[(a + 1) % D])
    };
    let turn = pose[0].rotation.tr_mul(&pose[1].rotation);
    let shift = pose[0].to_object(&pose[1].position);
    let mut best: Option<(f64, Contact<D>)> = None;
    for (i, (ends_a, faces_a)) in hulls[0].edges.iter().enumerate() {
        let [a0, a1] = ends_a.map(|c| hulls[0].points[c as usize]);
        let [na, nb] = faces_a.map(|f| hulls[0].faces[f as usize].normal);
        let along_a = a1 - a0;
        for (j, (ends_b, faces_b)) in hulls[1].edges.iter().enumerate() {
            let [b0, b1] = ends_b.map(|c| turn * hulls[1].points[c as usize] + shift);
            let [nc, nd] = faces_b.map(|f| -(turn * hulls[1].faces[f as usize].normal));
            let along_b = b1 - b0;
            // Do the arcs of the Gauss maps cross? (Gregorius, GDC 2013.)
            let (ba, dc) = (cross(&nb, &na), cross(&nd, &nc));
            let (cba, dba) = (nc.dot(&ba), nd.dot(&ba));
            let (adc, bdc) = (na.dot(&dc), nb.dot(&dc));
            if !(cba * dba < 0.0 && adc * bdc < 0.0 && cba * bdc > 0.0) {
                continue;
            }
            let normal = cross(&along_a, &along_b);
            let length = normal.norm();
            if length < 1e-6 * along_a.norm() * along_b.norm() {
                continue;
            }
            let mut normal = normal / length;
            if normal.dot(&a0) < 0.0 {
                normal = -normal;
            }
            let gap = normal.dot(&(b0 - a0));
            if best.as_ref().is_some_and(|best| gap <= best.0) {
                continue;
            }
            let between = b0 - a0;
            let (aa, bb, ab) = (along_a.norm_squared(), along_b.norm_squared(), along_a.dot(&along_b));
            let (ea, eb) = (along_a.dot(&between), along_b.dot(&between));
            let determinant = aa * bb - ab * ab;
            let s = ((ea * bb - ab * eb) / determinant).clamp(0.0, 1.0);
            let t = ((ab * ea - aa * eb) / determinant).clamp(0.0, 1.0);
            let contact = Contact {
                on_a: a0 + along_a * s,
                on_b: turn.tr_mul(&(b0 + along_b * t - shift)),
                radius: [0.0; 2],
                guide: Guide::FixedToA(-normal),
                feature: 0x4000_0000 | ((i as u32) << 12 & 0xfff_000) | (j as u32 & 0xfff),
            };
            best = Some((gap, contact));
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
