//! Closest point on an ellipsoid.
//!
//! The closest point of `y` is `x_i = r_i y_i / (s + r_i)` with `r_i = (e_i / e_min)^2`, where `s` is the largest root of
//! `sum (r_i z_i / (s + r_i))^2 = 1`, `z_i = y_i / e_i` (D. Eberly, "Distance from a point to an ellipse, an ellipsoid, or a
//! hyperellipsoid"). The left side is convex and falls beyond its last pole, so Newton's method from the left is monotone.

use super::distance::Evaluation;
use splashdown_math::Vector;

/// Signed distance (m) to the ellipsoid with semi-axes `radii` and its gradient.
pub(super) fn evaluate<const D: usize>(point: &Vector<D>, radii: &Vector<D>) -> Evaluation<D> {
    let smallest = radii.min();
    let r = radii.map(|e| (e / smallest) * (e / smallest));
    let y = point.abs();
    let z = y.component_div(radii);
    let inside = z.norm_squared() < 1.0;
    let closest = match root(&r, &z) {
        Some(s) => Vector::from_fn(|a, _| y[a] * (r[a] / (s + r[a]))),
        None => {
            // The point lies in the plane of symmetry across the smallest axis, inside the focal curve: the closest points lie
            // off that plane, mirror images of each other; s = -1.
            let mut x = Vector::from_fn(|a, _| if r[a] == 1.0 { 0.0 } else { y[a] * (r[a] / (r[a] - 1.0)) });
            let rest: f64 = (0..D).map(|a| (x[a] / radii[a]).powi(2)).sum();
            x[radii.imin()] = smallest * (1.0 - rest).max(0.0).sqrt();
            x
        }
    };
    let signed = |v: Vector<D>| Vector::from_fn(|a, _| v[a] * 1f64.copysign(point[a]));
    // The surface normal there; better conditioned than the difference of two close points.
    let normal: Vector<D> = Vector::from_fn(|a, _| closest[a] / r[a]);
    let normal = signed(normal / normal.norm());
    let distance = (y - closest).norm();
    (if inside { -distance } else { distance }, normal)
}

/// The largest root; `None` when there is none beyond the pole at -1.
fn root<const D: usize>(r: &Vector<D>, z: &Vector<D>) -> Option<f64> {
    // Every single term must be at most 1.
    let mut s = (0..D).filter(|&a| z[a] > 0.0).map(|a| r[a] * z[a] - r[a]).fold(-1.0, f64::max);
    if s <= -1.0 {
        let without_pole: f64 =
            (0..D).filter(|&a| z[a] > 0.0).map(|a| (r[a] * z[a] / (r[a] - 1.0)).powi(2)).sum();
        if without_pole <= 1.0 {
            return None;
        }
    }
    // From the far left each step multiplies the distance to the pole by 3/2 at least, near the root the digits double.
    for _ in 0..300 {
        let (mut g, mut slope) = (-1.0, 0.0);
        for a in (0..D).filter(|&a| z[a] > 0.0) {
            let q = r[a] * z[a] / (s + r[a]);
            g += q * q;
            slope -= 2.0 * q * q / (s + r[a]);
        }
        let next = s - g / slope;
        // Monotone until rounding stops it.
        if next <= s || !next.is_finite() {
            break;
        }
        s = next;
    }
    Some(s)
}
