//! Distance, closest points and normal of two simplices at rest.

use crate::simplex::{closest_point, combine, segment_segment_weights};
use splashdown_math::Vector;

/// The closest points of two simplices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proximity<const D: usize, const NA: usize, const NB: usize> {
    /// Distance (m).
    pub distance: f64,
    /// Barycentric weights of the closest point of the first simplex; zero for corners that do not carry it.
    pub weights_a: [f64; NA],
    /// Barycentric weights of the closest point of the second simplex.
    pub weights_b: [f64; NB],
    /// Unit vector from the second simplex to the first. When they touch, the normal of the triangle, of both edges or of the segment.
    pub normal: Vector<D>,
}

/// Closest points of a point and a point, segment or triangle, or of two segments. For parallel segments, where the closest points are not
/// unique, the middle of the stretch along which they face each other is taken.
#[inline(never)]
pub fn proximity<const D: usize, const NA: usize, const NB: usize>(
    a: &[Vector<D>; NA],
    b: &[Vector<D>; NB],
) -> Proximity<D, NA, NB> {
    let (weights_a, weights_b) = closest_weights(a, b);
    let gap = combine(a, &weights_a) - combine(b, &weights_b);
    let distance = gap.norm();
    // Closer than the rounding of the coordinates the difference has no direction left.
    let size = a.iter().chain(b).map(|x| (x - a[0]).amax()).fold(0.0, f64::max);
    let normal = if distance > 64.0 * f64::EPSILON * size {
        gap / distance
    } else {
        touching_normal(a, b).unwrap_or_else(Vector::zeros)
    };
    Proximity { distance, weights_a, weights_b, normal }
}

/// Barycentric weights of the closest points of both simplices, as [`proximity`] has them; where only the distance is asked for, this costs less.
#[inline]
pub fn closest_weights<const D: usize, const NA: usize, const NB: usize>(
    a: &[Vector<D>; NA],
    b: &[Vector<D>; NB],
) -> ([f64; NA], [f64; NB]) {
    const {
        assert!(
            (NA == 1 && NB >= 1 && NB <= 3) || (NA == 2 && NB == 2),
            "pairs are a point with a simplex, or two segments"
        );
    };
    let mut weights_a = [1.0; NA];
    if NA == 1 {
        return (weights_a, closest_point(&a[0], b).weights);
    }
    let mut weights_b = [0.0; NB];
    let (s, t) = segment_segment_weights(&[a[0], a[1]], &[b[0], b[1]]);
    weights_a.copy_from_slice(&s);
    weights_b.copy_from_slice(&t);
    (weights_a, weights_b)
}

/// A unit vector at right angles to both simplices: of the triangle, of two edges that cross, of a segment; `None` when they leave the
/// direction open.
pub(super) fn touching_normal<const D: usize, const NA: usize, const NB: usize>(
    a: &[Vector<D>; NA],
    b: &[Vector<D>; NB],
) -> Option<Vector<D>> {
    let edge_b = b[NB.min(2) - 1] - b[0];
    let mut normal = Vector::<D>::zeros();
    if D == 2 {
        (normal[0], normal[1]) = (edge_b[1], -edge_b[0]);
    } else {
        let other = if NA == 2 { a[1] - a[0] } else { b[NB - 1] - b[0] };
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            normal[k] = edge_b[i] * other[j] - edge_b[j] * other[i];
        }
        // A sliver or parallel edges: any direction at right angles to the longer edge.
        let longer = if other.norm_squared() > edge_b.norm_squared() { other } else { edge_b };
        if normal.norm() <= 1e-12 * longer.norm_squared() {
            let axis = longer.iamin();
            let mut unit = Vector::<D>::zeros();
            unit[axis] = 1.0;
            normal = unit - longer * (longer[axis] / longer.norm_squared());
        }
    }
    let length = normal.norm();
    (length > 0.0 && length.is_finite()).then(|| normal / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_edges_touch_in_the_middle_of_their_overlap() {
        let p = |x: f64, y: f64, z: f64| Vector::from([x, y, z]);
        let a = [p(0.0, 0.0, 0.0), p(4.0, 0.0, 0.0)];
        for b in [[p(1.0, 0.5, 0.0), p(9.0, 0.5, 0.0)], [p(9.0, 0.5, 0.0), p(1.0, 0.5, 0.0)]] {
            let found = proximity(&a, &b);
            assert_eq!(found.distance, 0.5);
            assert!((combine(&a, &found.weights_a) - p(2.5, 0.0, 0.0)).norm() < 1e-15);
            assert_eq!(found.normal, p(0.0, -1.0, 0.0));
        }
        let beyond = proximity(&a, &[p(5.0, 1.0, 0.0), p(6.0, 1.0, 0.0)]);
        assert_eq!((beyond.weights_a, beyond.weights_b), ([0.0, 1.0], [1.0, 0.0]));
    }

    #[test]
    fn touching_pairs_have_the_normal_of_the_feature() {
        let p = |x: f64, y: f64, z: f64| Vector::from([x, y, z]);
        let triangle = [p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 1.0, 0.0)];
        let on = proximity(&[p(0.25, 0.25, 0.0)], &triangle);
        assert_eq!((on.distance, on.normal.z.abs()), (0.0, 1.0));
        let crossing =
            proximity(&[p(-1.0, 0.0, 0.0), p(1.0, 0.0, 0.0)], &[p(0.0, -1.0, 0.0), p(0.0, 1.0, 0.0)]);
        assert_eq!((crossing.distance, crossing.normal.z.abs()), (0.0, 1.0));
        let overlapping =
            proximity(&[p(0.0, 0.0, 0.0), p(2.0, 0.0, 0.0)], &[p(1.0, 0.0, 0.0), p(3.0, 0.0, 0.0)]);
        assert_eq!(overlapping.distance, 0.0);
        assert!(overlapping.normal.x.abs() < 1e-15 && (overlapping.normal.norm() - 1.0).abs() < 1e-15);
        let flat =
            proximity(&[Vector::from([0.5, 0.0])], &[Vector::from([0.0, 0.0]), Vector::from([1.0, 0.0])]);
        assert_eq!((flat.distance, flat.normal.y.abs()), (0.0, 1.0));
    }
}
