//! Manifolds with few points that carry the same loads: the deepest point and those that span the largest area with it.

use super::{Contact, Touch};
use splashdown_math::{Dim, Space, Vector};

/// Points kept for one pair of convex solids.
pub(super) const fn most_points(dimension: usize) -> usize {
    if dimension == 2 { 2 } else { 4 }
}

/// Contacts whose normals agree to this cosine belong to one patch.
pub(super) const SAME_PATCH: f64 = 0.9;
/// Patches kept for one pair of solids that are not convex.
const MOST_PATCHES: usize = 6;

/// Points of a patch are near if they overlap or their gap is not larger than the smallest by more than this share of the patch's extent; particles, which lie close
/// to each other, by less.
const NEAR: f64 = 0.02;
const NEAR_PARTICLES: f64 = 0.002;
/// Near particles are those of a face if they reach over this share of the patch.
const FACE: f64 = 0.5;
/// Further points of a patch are kept if they are this share of its extent away from those that are.
const APART: f64 = 0.1;

/// Most points of a patch of polytopes, whose faces have more corners than those of boxes: without support at one of them a body tips over it.
const fn most_corners(dimension: usize) -> usize {
    if dimension == 2 { 2 } else { 6 }
}

/// Which points of a patch matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Points {
    /// The few that simple solids have.
    All,
    /// Corners of polytopes: those that are near first, up to [`most_corners`].
    Corners,
    /// Surface particles: those that are near first.
    Particles,
}

/// Keeps [`most_points`] of each patch of similar normals. Deterministic: ties go to the first.
pub(super) fn reduce<const D: usize>(
    contacts: &mut Vec<Contact<D>>,
    from: usize,
    touches: &mut Vec<Touch<D>>,
    kind: Points,
) where
    Dim<D>: Space<D>,
{
    let count = contacts.len() - from;
    if count <= most_points(D) {
        return;
    }
    let mut free: Vec<bool> = vec![true; count];
    let mut kept: Vec<usize> = Vec::new();
    for _ in 0..MOST_PATCHES {
        let Some(deepest) =
            (0..count).filter(|&i| free[i]).min_by(|&i, &j| touches[i].gap.total_cmp(&touches[j].gap))
        else {
            break;
        };
        let normal = touches[deepest].normal;
        let patch: Vec<usize> =
            (0..count).filter(|&i| free[i] && touches[i].normal.dot(&normal) > SAME_PATCH).collect();
        patch.iter().for_each(|&i| free[i] = false);
        // What may carry load in this step comes first: a point high above the other body must not take the place of one that touches it.
        let flat = |r: Vector<D>| (r - normal * normal.dot(&r)).norm();
        let extent =
            patch.iter().map(|&i| flat(touches[i].point - touches[deepest].point)).fold(0.0, f64::max);
        let slack = match kind {
            Points::All => f64::INFINITY,
            Points::Corners => NEAR * extent,
            Points::Particles => NEAR_PARTICLES * extent,
        };
        let limit = touches[deepest].gap.max(0.0) + slack;
        let (near, rest): (Vec<usize>, Vec<usize>) = patch.iter().partition(|&&i| touches[i].gap <= limit);
        let span = |among: &[usize]| -> Vec<usize> {
            let points: Vec<(Vector<D>, f64)> =
                among.iter().map(|&i| (touches[i].point, touches[i].gap)).collect();
            let first = among.iter().position(|&i| i == deepest).unwrap_or(0);
            // The deepest of the particles of a face is so by rounding and may lie in its middle: a corner of the area starts, the deepest comes as well.
            let away = |i: usize| flat(points[i].0 - points[first].0);
            let start = match kind {
                Points::Particles => {
                    (0..points.len()).fold(first, |best, i| if away(i) > away(best) { i } else { best })
                }
                _ => first,
            };
            let mut kept = spanning(&points, start, &normal);
            if !kept.contains(&first) {
                kept.push(first);
            }
            kept.into_iter().map(|i| among[i]).collect()
        };
        let first = kept.len();
        let mut spanned = span(&near);
        // Particles of a face are enough to stand on; where they are those of an edge or of a round side, others will touch soon.
        if kind == Points::Particles {
            let wide =
                near.iter().map(|&i| flat(touches[i].point - touches[deepest].point)).fold(0.0, f64::max);
            if spanned.len() < D || wide < FACE * extent {
                spanned = span(&patch);
            }
        }
        kept.append(&mut spanned);
        if kind != Points::Corners {
            continue;
        }
        for (others, most) in [(near, most_corners(D)), (rest, most_points(D))] {
            while kept.len() - first < most {
                let away = |i: usize| {
                    let from_kept = kept[first..].iter().map(|&k| flat(touches[i].point - touches[k].point));
                    from_kept.fold(f64::INFINITY, f64::min)
                };
                let mut best = (None, APART * extent);
                for &i in &others {
                    let distance = away(i);
                    if distance > best.1 {
                        best = (Some(i), distance);
                    }
                }
                let Some(found) = best.0 else { break };
                kept.push(found);
            }
        }
    }
    kept.sort_unstable();
    for (to, &i) in kept.iter().enumerate() {
        contacts[from + to] = contacts[from + i];
        touches[to] = touches[i];
    }
    contacts.truncate(from + kept.len());
    touches.truncate(kept.len());
}

/// Up to [`most_points`] indices: `start`, the point furthest from it, and the ones that make the largest triangles on either side.
pub(super) fn spanning<const D: usize>(
    points: &[(Vector<D>, f64)],
    start: usize,
    normal: &Vector<D>,
) -> Vec<usize>
where
    Dim<D>: Space<D>,
{
    let flat = |r: Vector<D>| r - normal * normal.dot(&r);
    let best = |score: &dyn Fn(usize) -> f64| {
        let mut found = (None, 0.0);
        for i in 0..points.len() {
            let value = score(i);
            if value > found.1 {
                found = (Some(i), value);
            }
        }
        found.0
    };
    let mut kept = vec![start];
    let Some(far) = best(&|i| flat(points[i].0 - points[start].0).norm_squared()) else { return kept };
    kept.push(far);
    let edge = flat(points[far].0 - points[start].0);
    let length = edge.norm();
    if !(length > 0.0) {
        return kept;
    }
    let along = edge / length;
    if D == 2 {
        // The other end of the patch, if the deepest lies between the two.
        let behind = |i: usize| -along.dot(&flat(points[i].0 - points[start].0));
        kept.extend(best(&behind).filter(|&i| !kept.contains(&i) && behind(i) > 1e-9 * length));
        return kept;
    }
    // In the plane, distance to either side of the first edge.
    let across: Vector<D> = Vector::from_fn(|a, _| {
        normal[(a + 1) % D] * along[(a + 2) % D] - normal[(a + 2) % D] * along[(a + 1) % D]
    });
    for side in [1.0, -1.0] {
        let found = best(&|i| side * across.dot(&(points[i].0 - points[start].0)));
        kept.extend(found.filter(|&i| {
            !kept.contains(&i) && side * across.dot(&(points[i].0 - points[start].0)) > 1e-9 * length
        }));
    }
    // Everything on one side: the point that adds most beyond the triangle so far.
    if kept.len() == 3 {
        let [a, b, c] = [0, 1, 2].map(|k| points[kept[k]].0);
        let beyond = |p: Vector<D>, u: Vector<D>, v: Vector<D>, w: Vector<D>| {
            let e = flat(v - u);
            let out = flat(w - u);
            let out = out - e * (out.dot(&e) / e.norm_squared().max(f64::MIN_POSITIVE));
            -flat(p - u).dot(&out) / out.norm().max(f64::MIN_POSITIVE) * e.norm()
        };
        let found = best(&|i| {
            let p = points[i].0;
            beyond(p, a, c, b).max(beyond(p, b, c, a)).max(beyond(p, a, b, c))
        });
        kept.extend(found.filter(|i| !kept.contains(i)));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points that lie above one another have no extent along the surface: which of them are its ends is a matter of rounding, and none comes twice.
    #[test]
    fn a_patch_in_the_plane_never_has_a_point_twice() {
        let normal = Vector::<2>::from([0.6, 0.8]);
        let along = Vector::<2>::from([0.8, -0.6]);
        for noise in [0.0, 1e-17, -3e-17, 1e-16] {
            let points: Vec<(Vector<2>, f64)> = (0..5)
                .map(|k| {
                    let height = 0.013 * f64::from(k) - 0.1;
                    (Vector::from([0.31, 0.17]) + normal * height + along * (noise * f64::from(k)), height)
                })
                .collect();
            for start in 0..points.len() {
                let mut kept = spanning(&points, start, &normal);
                assert_eq!(kept[0], start);
                let count = kept.len();
                kept.sort_unstable();
                kept.dedup();
                assert_eq!(kept.len(), count);
            }
        }
    }
}
