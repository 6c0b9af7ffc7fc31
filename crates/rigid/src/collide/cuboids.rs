//! Box against box: separating axes, then the incident face clipped by the reference face (in 2D the incident edge).

use super::reduce::{most_points, spanning};
use super::{Contact, Guide, Pose};
use splashdown_math::{Dim, Space, Vector};

/// Corners of a clipped face, at most `4 + 4`.
const MOST: usize = 12;

/// An edge axis must be better than the best face axis by this share of the box, so that faces win when they are parallel.
const PREFER_FACES: f64 = 1e-3;

/// Cosine above which two axes are one: faces that lie on each other rock by this little, and keep their reference and all their points. The separation along
/// an axis counts corners far outside of the common area, which says nothing about which axis is the better one.
const PARALLEL: f64 = 1.0 - 5e-5;

/// Contacts with a gap of at most `margin` (m).
pub(super) fn collide<const D: usize>(
    half: [&Vector<D>; 2],
    pose: [&Pose<D>; 2],
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let [ha, hb] = half;
    // B in the coordinates of A.
    let seen = pose[1].seen_from(pose[0]);
    let (turn, shift) = (&seen.rotation, &seen.position);
    let absolute = turn.abs();

    // Face axes: separation is the gap along the axis.
    let mut best = (f64::NEG_INFINITY, 0, 0);
    for axis in 0..D {
        let reach = ha[axis] + (0..D).map(|k| absolute[(axis, k)] * hb[k]).sum::<f64>();
        let gap = shift[axis].abs() - reach;
        if gap > margin {
            return;
        }
        if gap > best.0 {
            best = (gap, 0, axis);
        }
    }
    // The reference stays with A unless B is clearly better, so that it does not flip from step to step.
    let prefer = 1e-3 * ha.min().min(hb.min());
    let mut best_b = (f64::NEG_INFINITY, 0);
    for axis in 0..D {
        let along = (0..D).map(|k| turn[(k, axis)] * shift[k]).sum::<f64>();
        let reach = hb[axis] + (0..D).map(|k| absolute[(k, axis)] * ha[k]).sum::<f64>();
        let gap = along.abs() - reach;
        if gap > margin {
            return;
        }
        if gap > best_b.0 {
            best_b = (gap, axis);
        }
    }
    if best_b.0 > best.0 + prefer && turn[(best.2, best_b.1)].abs() < PARALLEL {
        best = (best_b.0, 1, best_b.1);
    }
    if D == 3 {
        // Edges count only where they are better than the faces.
        let least = best.0 + PREFER_FACES * ha.min().min(hb.min());
        let mut edge = (least, D, D, Vector::zeros());
        for i in 0..D {
            for j in 0..D {
                // e_i x b_j in the coordinates of A.
                let (u, v) = ((i + 1) % D, (i + 2) % D);
                let (cu, cv) = (-turn[(v, j)], turn[(u, j)]);
                let square = cu * cu + cv * cv;
                let (j1, j2) = ((j + 1) % D, (j + 2) % D);
                let reach = ha[u] * absolute[(v, j)]
                    + ha[v] * absolute[(u, j)]
                    + hb[j1] * absolute[(i, j2)]
                    + hb[j2] * absolute[(i, j1)];
                let along = cu * shift[u] + cv * shift[v];
                // The axis is not longer than one, so this gap is the larger one where bodies overlap, and nothing to speak of where they are apart.
                let unscaled = along.abs() - reach;
                if unscaled <= edge.0.min(0.0).min(margin) || square < 1e-12 {
                    continue;
                }
                let length = square.sqrt();
                let gap = unscaled / length;
                if gap > margin {
                    return;
                }
                let along_face = match best {
                    (_, 0, axis) if axis == u => cu,
                    (_, 0, axis) if axis == v => cv,
                    (_, 0, _) => 0.0,
                    (_, _, axis) => cu * turn[(u, axis)] + cv * turn[(v, axis)],
                };
                if gap > edge.0 && along_face.abs() < PARALLEL * length {
                    let sign = if along > 0.0 { 1.0 } else { -1.0 };
                    let mut axis = Vector::zeros();
                    axis[u] = sign * cu / length;
                    axis[v] = sign * cv / length;
                    edge = (gap, i, j, axis);
                }
            }
        }
        if edge.1 < D {
            return edges(half, pose, (edge.1, edge.2), &edge.3, contacts);
        }
    }
    let (_, body, axis) = best;
    if body == 0 {
        faces([ha, hb], &seen, axis, margin, false, contacts);
    } else {
        faces([hb, ha], &pose[0].seen_from(pose[1]), axis, margin, true, contacts);
    }
}

/// The contact of an edge `i` of A with an edge `j` of B; `axis` points from A to B in the coordinates of A.
fn edges<const D: usize>(
    half: [&Vector<D>; 2],
    pose: [&Pose<D>; 2],
    (i, j): (usize, usize),
    axis: &Vector<D>,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let world = pose[0].rotation * axis;
    let in_b = pose[1].rotation.tr_mul(&world);
    let on_edge = |h: &Vector<D>, along: usize, direction: &Vector<D>| {
        Vector::<D>::from_fn(|a, _| if a == along { 0.0 } else { h[a].copysign(direction[a]) })
    };
    let pa = on_edge(half[0], i, axis);
    let pb = on_edge(half[1], j, &-in_b);
    // Closest points of the two lines.
    let (wa, wb) = (pose[0].to_world(&pa), pose[1].to_world(&pb));
    let (da, db) = (pose[0].rotation.column(i), pose[1].rotation.column(j));
    let between = wb - wa;
    let cosine = da.dot(&db);
    let (ea, eb) = (da.dot(&between), db.dot(&between));
    let determinant = 1.0 - cosine * cosine;
    let s = ((ea - cosine * eb) / determinant).clamp(-half[0][i], half[0][i]);
    let t = ((cosine * ea - eb) / determinant).clamp(-half[1][j], half[1][j]);
    let (mut on_a, mut on_b) = (pa, pb);
    on_a[i] = s;
    on_b[j] = t;
    contacts.push(Contact {
        on_a,
        on_b,
        radius: [0.0; 2],
        guide: Guide::FixedToB(-in_b),
        feature: 0x4000_0000 | (i * 4 + j) as u32,
    });
}

/// Clips the face of the incident box that is most against face `axis` of the reference box. `seen` is the incident box in the coordinates of
/// the reference box.
fn faces<const D: usize>(
    [reference, incident]: [&Vector<D>; 2],
    seen: &Pose<D>,
    axis: usize,
    margin: f64,
    swapped: bool,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let turn = &seen.rotation;
    let sign = if seen.position[axis] >= 0.0 { 1.0 } else { -1.0 };
    // The incident face: its outward normal is most opposite.
    let mut face = 0;
    for k in 1..D {
        if turn[(axis, k)].abs() > turn[(axis, face)].abs() {
            face = k;
        }
    }
    let face_sign = if turn[(axis, face)] * sign > 0.0 { -1.0 } else { 1.0 };
    let mut polygon = [(Vector::<D>::zeros(), 0u32); MOST];
    let mut count = 1usize << (D - 1);
    for corner in 0..count {
        // Around the face, so that neighbours share an edge.
        let bits = if corner >= 2 { corner ^ 1 } else { corner };
        let mut local = Vector::<D>::zeros();
        local[face] = face_sign * incident[face];
        for k in 1..D {
            let other = (face + k) % D;
            local[other] = if bits >> (k - 1) & 1 == 1 { incident[other] } else { -incident[other] };
        }
        polygon[corner] = (seen.to_world(&local), corner as u32);
    }
    // Clip by the sides of the reference face.
    let mut clipped = [(Vector::<D>::zeros(), 0u32); MOST];
    for k in 1..D {
        let side = (axis + k) % D;
        for (plane, direction) in [1.0, -1.0].into_iter().enumerate() {
            let limit = reference[side];
            let mut kept = 0;
            // In 2D the "polygon" is one segment and has no closing edge.
            let edges = if D == 2 { count.saturating_sub(1).max(usize::from(count == 1)) } else { count };
            for i in 0..edges.max(usize::from(count > 0)) {
                let (p, id) = polygon[i];
                let (q, other) = polygon[(i + 1) % count];
                let (dp, dq) = (direction * p[side] - limit, direction * q[side] - limit);
                if dp <= 0.0 && kept < MOST {
                    clipped[kept] = (p, id);
                    kept += 1;
                }
                if (dp < 0.0 && dq > 0.0 || dp > 0.0 && dq < 0.0) && kept < MOST {
                    let t = dp / (dp - dq);
                    let code = 4 + (k as u32 - 1) * 2 + plane as u32;
                    clipped[kept] = (p + (q - p) * t, code << 8 | (id & 15) << 4 | (other & 15));
                    kept += 1;
                }
                if D == 2 && i + 1 == edges && dq <= 0.0 && count > 1 && kept < MOST {
                    clipped[kept] = (q, other);
                    kept += 1;
                }
            }
            polygon[..kept].copy_from_slice(&clipped[..kept]);
            count = kept;
            if count == 0 {
                return;
            }
        }
    }
    // Keep what is below the reference face, and of that at most four points.
    let mut kept = 0;
    for i in 0..count {
        let gap = sign * polygon[i].0[axis] - reference[axis];
        if gap <= margin {
            polygon[kept] = polygon[i];
            kept += 1;
        }
    }
    let mut normal = Vector::<D>::zeros();
    normal[axis] = sign;
    let mut push = |(point, id): (Vector<D>, u32)| {
        let mut on_reference = point;
        on_reference[axis] = sign * reference[axis];
        let on_incident = seen.to_object(&point);
        let feature = (axis as u32 * 2 + u32::from(sign > 0.0)) << 16 | (face as u32 * 2) << 20 | id;
        // `normal` points from the reference to the incident box; contacts want it from B to A.
        contacts.push(if swapped {
            Contact {
                on_a: on_incident,
                on_b: on_reference,
                radius: [0.0; 2],
                guide: Guide::FixedToB(normal),
                feature: feature | 1 << 31,
            }
        } else {
            Contact {
                on_a: on_reference,
                on_b: on_incident,
                radius: [0.0; 2],
                guide: Guide::FixedToA(-normal),
                feature,
            }
        });
    };
    if kept <= most_points(D) {
        polygon[..kept].iter().for_each(|&p| push(p));
        return;
    }
    let points: Vec<(Vector<D>, f64)> =
        polygon[..kept].iter().map(|(p, _)| (*p, sign * p[axis] - reference[axis])).collect();
    let deepest = (0..kept).min_by(|&i, &j| points[i].1.total_cmp(&points[j].1)).unwrap_or(0);
    for i in spanning(&points, deepest, &normal) {
        push(polygon[i]);
    }
}
