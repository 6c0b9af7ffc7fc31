//! Points, segments, triangles and tetrahedra: closest points and the feature that carries them.

use splashdown_math::Vector;

/// The point of a simplex that is closest to a query point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestPoint<const D: usize, const N: usize> {
    /// Where it is (m).
    pub point: Vector<D>,
    /// Barycentric weights of the vertices; non-negative, sum 1, exactly zero for vertices that do not carry the point.
    pub weights: [f64; N],
    /// Squared distance (m^2) to the query point.
    pub distance_squared: f64,
}

impl<const D: usize, const N: usize> ClosestPoint<D, N> {
    fn of_weights(query: &Vector<D>, simplex: &[Vector<D>; N], weights: [f64; N]) -> Self {
        let point = combine(simplex, &weights);
        Self { point, weights, distance_squared: (query - point).norm_squared() }
    }

    /// The feature that carries the point, as a bit set of vertices: one bit for a vertex, two for the inside of an edge, three for the
    /// inside of a triangle, four for the inside of a tetrahedron.
    pub fn feature(&self) -> u8 {
        self.weights.iter().enumerate().fold(0, |bits, (i, &w)| bits | (u8::from(w > 0.0) << i))
    }
}

/// `sum_i weights[i] vertices[i]`, written as the first vertex plus offsets so that coordinates far from the origin lose no digits.
#[inline]
pub fn combine<const D: usize, const N: usize>(vertices: &[Vector<D>; N], weights: &[f64; N]) -> Vector<D> {
    // A vertex with weight one is returned exactly.
    let anchor = weights.iter().position(|&w| w >= 0.5).unwrap_or(0);
    let mut point = vertices[anchor];
    for i in 0..N {
        if i != anchor && weights[i] != 0.0 {
            point += (vertices[i] - vertices[anchor]) * weights[i];
        }
    }
    point
}

/// Closest point of a simplex of `N` vertices (1 to 4: point, segment, triangle, tetrahedron) to `query`. Degenerate simplices are fine:
/// a triangle that has collapsed to a segment is treated as that segment.
#[inline]
pub fn closest_point<const D: usize, const N: usize>(
    query: &Vector<D>,
    simplex: &[Vector<D>; N],
) -> ClosestPoint<D, N> {
    const { assert!(N >= 1 && N <= 4, "a simplex has one to four vertices") };
    let mut weights = [0.0; N];
    match N {
        1 => weights[0] = 1.0,
        2 => weights.copy_from_slice(&segment_weights(query, &simplex[0], &simplex[1])),
        3 => weights.copy_from_slice(&triangle_weights(query, &[simplex[0], simplex[1], simplex[2]])),
        _ => weights
            .copy_from_slice(&tetrahedron_weights(query, &[simplex[0], simplex[1], simplex[2], simplex[3]])),
    }
    if N == D + 1 && weights.iter().all(|&w| w > 0.0) {
        return ClosestPoint { point: *query, weights, distance_squared: 0.0 };
    }
    ClosestPoint::of_weights(query, simplex, weights)
}

/// Weights of the point of the segment `a b` that is closest to `query`.
#[inline]
pub(crate) fn segment_weights<const D: usize>(query: &Vector<D>, a: &Vector<D>, b: &Vector<D>) -> [f64; 2] {
    let edge = b - a;
    let along = (query - a).dot(&edge);
    let length_squared = edge.norm_squared();
    if along <= 0.0 || length_squared == 0.0 {
        [1.0, 0.0]
    } else if along >= length_squared {
        [0.0, 1.0]
    } else {
        let s = along / length_squared;
        [1.0 - s, s]
    }
}

/// Below this squared ratio of the smallest height to the longest edge the region test by Gram determinants has too few digits left.
const SLIVER_RATIO_SQUARED: f64 = 1e-3;

/// Weights of the point of a triangle closest to `query`: the Voronoi-region test of Ericson, Real-Time Collision Detection (2005) 5.1.5,
/// with an edge-by-edge search for slivers.
#[inline]
pub(crate) fn triangle_weights<const D: usize>(query: &Vector<D>, [a, b, c]: &[Vector<D>; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, query - a);
    let (bb, cc, bc) = (ab.norm_squared(), ac.norm_squared(), ab.dot(&ac));
    let longest = bb.max(cc).max(bb + cc - 2.0 * bc);
    if bb * cc - bc * bc <= SLIVER_RATIO_SQUARED * longest * longest {
        return sliver_weights(query, &[*a, *b, *c]);
    }
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = query - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let [s, t] = segment_weights(query, a, b);
        return [s, t, 0.0];
    }
    let cp = query - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let [s, t] = segment_weights(query, a, c);
        return [s, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let [s, t] = segment_weights(query, b, c);
        return [0.0, s, t];
    }
    let sum = va + vb + vc;
    // Positive by the sliver test, up to underflow of very small triangles.
    if !(sum > 0.0 && sum.is_normal()) {
        return sliver_weights(query, &[*a, *b, *c]);
    }
    let (v, w) = (vb / sum, vc / sum);
    [(1.0 - v - w).max(0.0), v, w]
}

/// Weights for a triangle with a small or vanishing corner angle: the best of the three edges and of the plane of the triangle, where the
/// latter is taken at the corner opposite of the longest edge, where it is best conditioned.
#[cold]
fn sliver_weights<const D: usize>(query: &Vector<D>, corners: &[Vector<D>; 3]) -> [f64; 3] {
    let mut best = [1.0, 0.0, 0.0];
    let mut best_distance = f64::INFINITY;
    let mut consider = |weights: [f64; 3]| {
        let distance = (query - combine(corners, &weights)).norm_squared();
        if distance < best_distance {
            (best, best_distance) = (weights, distance);
        }
    };
    let mut longest = (0, 0.0);
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let [s, t] = segment_weights(query, &corners[j], &corners[k]);
        let mut weights = [0.0; 3];
        (weights[j], weights[k]) = (s, t);
        consider(weights);
        let length = (corners[k] - corners[j]).norm_squared();
        if length > longest.1 {
            longest = (i, length);
        }
    }
    let (i, j, k) = (longest.0, (longest.0 + 1) % 3, (longest.0 + 2) % 3);
    let base = corners[k] - corners[j];
    if longest.1 > 0.0 {
        // Height of corner i over the longest edge, made orthogonal twice so that rounding does not tilt it.
        let mut height = corners[i] - corners[j];
        let foot = height.dot(&base) / longest.1;
        height -= base * foot;
        height -= base * (height.dot(&base) / longest.1);
        let height_squared = height.norm_squared();
        if height_squared > 0.0 {
            let offset = query - corners[j];
            let up = offset.dot(&height) / height_squared;
            let along = offset.dot(&base) / longest.1 - up * foot;
            let weights = [up, 1.0 - up - along, along];
            if weights.iter().all(|&w| (0.0..=1.0).contains(&w)) {
                let mut in_place = [0.0; 3];
                (in_place[i], in_place[j], in_place[k]) = (weights[0], weights[1], weights[2]);
                consider(in_place);
            }
        }
    }
    best
}

/// Barycentric weights of `query` in a simplex with `D + 1` vertices, not clamped; `None` when the simplex has no volume.
pub fn barycentric<const D: usize, const N: usize>(
    query: &Vector<D>,
    simplex: &[Vector<D>; N],
) -> Option<[f64; N]> {
    const { assert!(N == D + 1, "barycentric coordinates need D + 1 vertices") };
    let volume = signed_volume(simplex);
    let mut weights = [0.0; N];
    let mut corners = *simplex;
    for i in 0..N {
        corners[i] = *query;
        weights[i] = signed_volume(&corners) / volume;
        corners[i] = simplex[i];
    }
    weights.iter().all(|w| w.is_finite()).then_some(weights)
}

/// Signed measure of a simplex with `D + 1` vertices: length, area (m^2, positive counter-clockwise) or volume (m^3, positive for
/// `det(x1 - x0, x2 - x0, x3 - x0) > 0`).
#[inline]
pub fn signed_volume<const D: usize, const N: usize>(simplex: &[Vector<D>; N]) -> f64 {
    const { assert!(N == D + 1, "a simplex with volume has D + 1 vertices") };
    let e = |i: usize| simplex[i] - simplex[0];
    match D {
        1 => e(1)[0],
        2 => {
            let (a, b) = (e(1), e(2));
            (a[0] * b[1] - a[1] * b[0]) / 2.0
        }
        _ => {
            let (a, b, c) = (e(1), e(2), e(3));
            (a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0]))
                / 6.0
        }
    }
}

/// Weights of the point of a tetrahedron closest to `query`.
fn tetrahedron_weights<const D: usize>(query: &Vector<D>, corners: &[Vector<D>; 4]) -> [f64; 4] {
    if D == 3 {
        let q = Vector::<3>::from_fn(|k, _| query[k]);
        let x = corners.map(|p| Vector::<3>::from_fn(|k, _| p[k]));
        if let Some(weights) = barycentric(&q, &x)
            && weights.iter().all(|&w| w >= 0.0)
        {
            // The four volumes of a flat tetrahedron add up to its volume with few digits only.
            let sum: f64 = weights.iter().sum();
            return weights.map(|w| w / sum);
        }
    }
    let mut best = ([1.0, 0.0, 0.0, 0.0], f64::INFINITY);
    for opposite in 0..4 {
        let face: [usize; 3] = std::array::from_fn(|i| if i < opposite { i } else { i + 1 });
        let triangle = face.map(|i| corners[i]);
        let candidate = triangle_weights(query, &triangle);
        let distance = (query - combine(&triangle, &candidate)).norm_squared();
        if distance < best.1 {
            let mut weights = [0.0; 4];
            for i in 0..3 {
                weights[face[i]] = candidate[i];
            }
            best = (weights, distance);
        }
    }
    best.0
}

/// Segments with a smaller squared sine of their angle count as parallel.
const PARALLEL_SINE_SQUARED: f64 = 1e-14;

/// From this squared sine on the place on one segment tells the place on the other without loss.
const CROSSING_SINE_SQUARED: f64 = 1e-4;

/// Weights of the closest points of the segments `a` and `b`, robust for parallel, degenerate and crossing segments. The closest pair is
/// either inside both segments or has an end point of one of them, and the better of the two is taken, so that an ill-conditioned
/// interior solution of nearly parallel segments is never worse than the best end point.
#[inline]
pub(crate) fn segment_segment_weights<const D: usize>(
    a: &[Vector<D>; 2],
    b: &[Vector<D>; 2],
) -> ([f64; 2], [f64; 2]) {
    let (u, v, r) = (a[1] - a[0], b[1] - b[0], b[0] - a[0]);
    let (uu, vv, uv) = (u.norm_squared(), v.norm_squared(), u.dot(&v));
    let (ur, vr) = (u.dot(&r), v.dot(&r));
    let determinant = uu * vv - uv * uv;
    // Segments in general position: the best place on the line of the other, cut to the segment, then the best place for that (Ericson, Real-Time Collision Detection, 2005, 5.1.9).
    if determinant > CROSSING_SINE_SQUARED * uu * vv {
        let mut s = ((ur * vv - vr * uv) / determinant).clamp(0.0, 1.0);
        let mut t = (uv * s - vr) / vv;
        if !(0.0..=1.0).contains(&t) {
            t = t.clamp(0.0, 1.0);
            s = ((ur + t * uv) / uu).clamp(0.0, 1.0);
        }
        return ([1.0 - s, s], [1.0 - t, t]);
    }
    // Nearly parallel ones: inside both if that is so, otherwise the best of all ends.
    if determinant > 1e-8 * uu * vv {
        let s = (ur * vv - vr * uv) / determinant;
        let t = (ur * uv - vr * uu) / determinant;
        if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
            return ([1.0 - s, s], [1.0 - t, t]);
        }
    }
    let mut best = ([1.0, 0.0], [1.0, 0.0]);
    let mut best_distance = f64::INFINITY;
    let mut consider = |s: [f64; 2], t: [f64; 2]| {
        let distance = (combine(a, &s) - combine(b, &t)).norm_squared();
        // A tie up to rounding goes to the first: the middle of parallel segments.
        if distance < best_distance * (1.0 - 1e-14) {
            (best, best_distance) = ((s, t), distance);
        }
    };
    const ENDS: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];
    if determinant <= PARALLEL_SINE_SQUARED * uu * vv && uu > 0.0 {
        // The closest points are not unique: the middle of the stretch along which the segments face each other.
        let (from, to) = (ur / uu, (ur + uv) / uu);
        let (from, to) = (from.min(to).max(0.0), from.max(to).min(1.0));
        if from < to {
            let s = 0.5 * (from + to);
            let on_a = [1.0 - s, s];
            consider(on_a, segment_weights(&combine(a, &on_a), &b[0], &b[1]));
        }
    }
    for end in 0..2 {
        consider(ENDS[end], segment_weights(&a[end], &b[0], &b[1]));
        consider(segment_weights(&b[end], &a[0], &a[1]), ENDS[end]);
    }
    if determinant > 0.0 {
        let s = ((ur * vv - vr * uv) / determinant).clamp(0.0, 1.0);
        let on_a = [1.0 - s, s];
        let t = segment_weights(&combine(a, &on_a), &b[0], &b[1]);
        consider(segment_weights(&combine(b, &t), &a[0], &a[1]), t);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Optimality of a convex problem: `q` is closest to `query` iff no vertex lies further along `query - q`.
    fn is_closest<const D: usize, const N: usize>(query: &Vector<D>, simplex: &[Vector<D>; N], scale: f64) {
        let found = closest_point(query, simplex);
        assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        assert!(found.weights.iter().all(|w| (0.0..=1.0).contains(w)));
        let direction = query - found.point;
        for vertex in simplex {
            let excess = direction.dot(&(vertex - found.point));
            assert!(excess <= 1e-12 * scale * scale, "{excess} {found:?} {simplex:?} {query:?}");
        }
    }

    fn point(range: f64) -> impl Strategy<Value = Vector<3>> {
        prop::array::uniform3(-range..range).prop_map(Vector::from)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20000))]

        #[test]
        fn closest_points_are_optimal(q in point(3.0), a in point(1.0), b in point(1.0), c in point(1.0), d in point(1.0)) {
            is_closest(&q, &[a], 3.0);
            is_closest(&q, &[a, b], 3.0);
            is_closest(&q, &[a, b, c], 3.0);
            is_closest(&q, &[a, b, c, d], 3.0);
            is_closest(&(a * 0.25 + b * 0.25 + c * 0.25 + d * 0.25), &[a, b, c, d], 3.0);
            let flat = |v: Vector<3>| Vector::<2>::new(v.x, v.y);
            is_closest(&flat(q), &[flat(a), flat(b)], 3.0);
            is_closest(&flat(q), &[flat(a), flat(b), flat(c)], 3.0);
        }

        #[test]
        fn slivers_are_handled(q in point(1.0), a in point(1.0), b in point(1.0), s in -0.5..1.5f64, height in prop::sample::select(vec![0.0, 1e-14, 1e-10, 1e-7, 1e-5, 1e-3]), c in point(1.0)) {
            let near = a + (b - a) * s + c * height;
            is_closest(&q, &[a, b, near], 3.0);
            is_closest(&q, &[a, near, b], 3.0);
            is_closest(&q, &[near, a, b], 3.0);
            is_closest(&q, &[a, a, near], 3.0);
        }

        #[test]
        fn segment_pairs_are_optimal(a in point(1.0), b in point(1.0), c in point(1.0), d in point(1.0), tilt in prop::sample::select(vec![1.0, 1e-3, 1e-6, 1e-9, 0.0]), shift in point(1.0)) {
            // From general position to exactly parallel.
            let second = [shift + c * tilt, shift + (b - a) + d * tilt];
            let (s, t) = segment_segment_weights(&[a, b], &second);
            let direction = combine(&second, &t) - combine(&[a, b], &s);
            for vertex in [a, b] {
                prop_assert!(direction.dot(&(vertex - combine(&[a, b], &s))) <= 2e-8, "{direction:?}");
            }
            for vertex in second {
                prop_assert!(direction.dot(&(combine(&second, &t) - vertex)) <= 2e-8, "{direction:?}");
            }
        }
    }

    #[test]
    fn features_are_named_by_their_vertices() {
        let triangle =
            [Vector::from([0.0, 0.0, 0.0]), Vector::from([1.0, 0.0, 0.0]), Vector::from([0.0, 1.0, 0.0])];
        let feature = |x: f64, y: f64| closest_point(&Vector::from([x, y, 1.0]), &triangle).feature();
        assert_eq!(feature(-1.0, -1.0), 0b001);
        assert_eq!(feature(3.0, -1.0), 0b010);
        assert_eq!(feature(0.5, -1.0), 0b011);
        assert_eq!(feature(1.0, 1.0), 0b110);
        assert_eq!(feature(0.2, 0.2), 0b111);
    }
}
