//! Ray and segment casts that do not leak.
//!
//! A ray meets an element when its line passes through the element seen along the ray (Woop, Benthin and Wald 2013, Watertight Ray/Triangle
//! Intersection). Here the sides of the edges are decided exactly, with both ends of an edge taken the same way for both of its triangles, so
//! a ray through a shared edge or vertex meets at least one of the elements around it.
//!
//! With a thickness a segment also meets what it only passes by, or ends in front of, by at most half of it (spec/fluid-structure.md 3.4.2).

use super::closest::MeshTree;
use crate::simplex::{closest_point, combine, segment_segment_weights, segment_weights};
use splashdown_math::Vector;

/// The points `origin + t direction` with `0 <= t <= max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray<const D: usize> {
    /// Where it starts (m).
    pub origin: Vector<D>,
    /// Its direction, of any length.
    pub direction: Vector<D>,
    /// Largest parameter; may be infinite.
    pub max: f64,
    /// Thickness of the surface (m): elements nearer than half of it are met too.
    pub thickness: f64,
}

impl<const D: usize> Ray<D> {
    /// A ray without end.
    pub fn new(origin: Vector<D>, direction: Vector<D>) -> Self {
        Self { origin, direction, max: f64::INFINITY, thickness: 0.0 }
    }

    /// The segment from `start` to `end`; `t` runs from 0 to 1.
    pub fn segment(start: Vector<D>, end: Vector<D>) -> Self {
        Self { origin: start, direction: end - start, max: 1.0, thickness: 0.0 }
    }

    /// The same ray for a surface of some thickness (m).
    pub fn with_thickness(self, thickness: f64) -> Self {
        Self { thickness, ..self }
    }

    /// Point at parameter `t`.
    pub fn at(&self, t: f64) -> Vector<D> {
        self.origin + self.direction * t
    }
}

/// Where a ray meets an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit<const D: usize> {
    /// Parameter on the ray; where it comes nearest, when it only passes by within the thickness.
    pub t: f64,
    /// The element.
    pub element: usize,
    /// Barycentric weights of the corners: non-negative, sum 1.
    pub weights: [f64; D],
    /// Point of the element (m).
    pub point: Vector<D>,
    /// Does the ray come from the side to which the normal points?
    pub front: bool,
}

impl<const D: usize> MeshTree<'_, D, D> {
    /// The first element that the ray meets; of several at the same `t` the one with the smallest index.
    pub fn first_hit(&self, ray: &Ray<D>) -> Option<RayHit<D>> {
        let mut best: Option<RayHit<D>> = None;
        self.visit_hits(ray, |hit, _| {
            if best.is_none_or(|old| (hit.t, hit.element) < (old.t, old.element)) {
                best = Some(hit);
            }
            best.map_or(hit.t, |best| best.t)
        });
        best
    }

    /// All elements that the ray meets, ordered by `t`, then by element. A ray through an edge or a vertex may meet all elements around it.
    #[inline(never)]
    pub fn all_hits(&self, ray: &Ray<D>) -> Vec<RayHit<D>> {
        let mut hits = Vec::new();
        self.visit_hits(ray, |hit, limit| {
            hits.push(hit);
            limit
        });
        hits.sort_unstable_by(|a, b| a.t.total_cmp(&b.t).then(a.element.cmp(&b.element)));
        hits
    }

    /// Does the ray meet any element? Cheaper than [`MeshTree::first_hit`].
    pub fn is_hit(&self, ray: &Ray<D>) -> bool {
        let mut found = false;
        self.visit_hits(ray, |_, _| {
            found = true;
            f64::NEG_INFINITY
        });
        found
    }

    /// [`MeshTree::first_hit`] among some elements only, such as those around all of a bundle of short rays.
    pub fn first_hit_among(&self, ray: &Ray<D>, elements: &[u32]) -> Option<RayHit<D>> {
        let caster = self.caster(ray);
        let hits = elements.iter().filter_map(|&element| self.hit(ray, &caster, element, f64::INFINITY));
        hits.min_by(|a, b| a.t.total_cmp(&b.t).then(a.element.cmp(&b.element)))
    }

    /// [`MeshTree::is_hit`] of some elements only.
    pub fn is_any_hit(&self, ray: &Ray<D>, elements: &[u32]) -> bool {
        let caster = self.caster(ray);
        elements.iter().any(|&element| self.hit(ray, &caster, element, f64::INFINITY).is_some())
    }

    fn caster(&self, ray: &Ray<D>) -> Caster<D> {
        let bounds = self.bounds();
        Caster::new(ray, 0.5 * ray.thickness.max(0.0), &bounds.min, &bounds.max)
    }

    /// Where the ray meets an element, if not beyond `limit`.
    #[inline]
    fn hit(&self, ray: &Ray<D>, caster: &Caster<D>, element: u32, limit: f64) -> Option<RayHit<D>> {
        let element = element as usize;
        let corners = self.mesh().corners(element);
        let (t, weights) = caster.cast(&corners).filter(|(t, _)| *t <= limit)?;
        let point = combine(&corners, &weights);
        let front = normal(&corners).dot(&ray.direction) < 0.0;
        Some(RayHit { t, element, weights, point, front })
    }

    fn visit_hits(&self, ray: &Ray<D>, mut visit: impl FnMut(RayHit<D>, f64) -> f64) {
        let caster = self.caster(ray);
        self.bvh().along_ray(&ray.origin, &ray.direction, caster.max, caster.radius, |element, limit| {
            self.hit(ray, &caster, element, limit).map_or(limit, |hit| visit(hit, limit))
        });
    }
}

/// Normal of an element, not of unit length.
fn normal<const D: usize>(corners: &[Vector<D>; D]) -> Vector<D> {
    let mut normal = Vector::zeros();
    let u = corners[1] - corners[0];
    if D == 2 {
        (normal[0], normal[1]) = (u[1], -u[0]);
    } else {
        let v = corners[2] - corners[0];
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            normal[k] = u[i] * v[j] - u[j] * v[i];
        }
    }
    normal
}

/// A ray prepared for many elements: coordinates in which it runs along one axis.
struct Caster<const D: usize> {
    origin: Vector<D>,
    direction: Vector<D>,
    max: f64,
    radius: f64,
    /// The axis along which the ray is longest, and the other ones.
    forward: usize,
    sideways: [usize; 2],
    shear: [f64; 2],
    inverse: f64,
}

impl<const D: usize> Caster<D> {
    fn new(ray: &Ray<D>, radius: f64, low: &Vector<D>, high: &Vector<D>) -> Self {
        let d = &ray.direction;
        let forward = d.iamax();
        let sideways = [(forward + 1) % D, (forward + 2) % D];
        let inverse = 1.0 / d[forward];
        // Beyond the whole mesh there is nothing to meet; a finite end keeps the arithmetic finite.
        let reach =
            (ray.origin - low).norm().max((ray.origin - high).norm()) * (D as f64).sqrt() + 2.0 * radius;
        let length = d.norm();
        let beyond = if length > 0.0 { 1.01 * reach / length } else { 0.0 };
        Self {
            origin: ray.origin,
            direction: ray.direction,
            max: ray.max.min(beyond),
            radius,
            forward,
            sideways,
            shear: sideways.map(|k| d[k] * inverse),
            inverse,
        }
    }

    /// Parameter and weights where the ray meets the element.
    #[inline]
    fn cast(&self, corners: &[Vector<D>; D]) -> Option<(f64, [f64; D])> {
        if let Some((t, weights)) = self.pierce(corners)
            && t >= 0.0
            && t <= self.max
        {
            return Some((t, weights));
        }
        if self.radius > 0.0 && !self.is_aside(corners) { self.pass_by(corners) } else { None }
    }

    /// Is all of the ray on one side of the element's plane, and farther from it than the radius?
    #[inline]
    fn is_aside(&self, corners: &[Vector<D>; D]) -> bool {
        let normal = normal(corners);
        let start = normal.dot(&(self.origin - corners[0]));
        let end = start + self.max * normal.dot(&self.direction);
        // Rounding must not lose what just touches.
        let least = 1.001 * self.radius * normal.norm();
        (start > least && end > least) || (start < -least && end < -least)
    }

    /// Where the whole line passes through the element.
    #[inline]
    fn pierce(&self, corners: &[Vector<D>; D]) -> Option<(f64, [f64; D])> {
        if !self.inverse.is_finite() {
            return None;
        }
        let relative = corners.map(|x| x - self.origin);
        let side =
            |i: usize, s: usize| relative[i][self.sideways[s]] - self.shear[s] * relative[i][self.forward];
        let mut weights = [0.0; D];
        if D == 2 {
            let (a, b) = (side(0, 0), side(1, 0));
            (weights[0], weights[1]) = (b, -a);
        } else {
            let (x, y) = ([side(0, 0), side(1, 0), side(2, 0)], [side(0, 1), side(1, 1), side(2, 1)]);
            for i in 0..3 {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                weights[i] = difference_of_products(x[j], y[k], x[k], y[j]);
            }
        }
        let (least, most) = weights.iter().fold((0.0f64, 0.0f64), |(l, m), &w| (l.min(w), m.max(w)));
        // Outside, or seen edge-on, when its neighbours take the hit.
        if (least < 0.0 && most > 0.0) || least == most {
            return None;
        }
        let sum: f64 = weights.iter().sum();
        let mut t = 0.0;
        for i in 0..D {
            weights[i] /= sum;
            t += weights[i] * relative[i][self.forward];
        }
        t *= self.inverse;
        t.is_finite().then_some((t, weights))
    }

    /// Where the ray comes nearest to the element, if that is within the radius.
    fn pass_by(&self, corners: &[Vector<D>; D]) -> Option<(f64, [f64; D])> {
        let ends = [self.origin, self.origin + self.direction * self.max];
        let mut best: Option<(f64, f64, [f64; D])> = None;
        let mut consider = |t: f64, on_ray: Vector<D>, weights: [f64; D]| {
            let distance = (on_ray - combine(corners, &weights)).norm();
            if distance <= self.radius && best.is_none_or(|(least, ..)| distance < least) {
                best = Some((distance, t, weights));
            }
        };
        for (end, t) in ends.iter().zip([0.0, self.max]) {
            consider(t, *end, closest_point(end, corners).weights);
        }
        for i in 0..D {
            let mut weights = [0.0; D];
            if D == 2 {
                weights[i] = 1.0;
                let [_, s] = segment_weights(&corners[i], &ends[0], &ends[1]);
                consider(s * self.max, combine(&ends, &[1.0 - s, s]), weights);
            } else {
                let j = (i + 1) % D;
                let (on_ray, on_edge) = segment_segment_weights(&ends, &[corners[i], corners[j]]);
                (weights[i], weights[j]) = (on_edge[0], on_edge[1]);
                consider(on_ray[1] * self.max, combine(&ends, &on_ray), weights);
            }
        }
        best.map(|(_, t, weights)| (t, weights))
    }
}

/// `a b - c d` with the right sign always (barring underflow): exactly zero only if it is.
#[inline]
fn difference_of_products(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let (p, q) = (a * b, c * d);
    let difference = p - q;
    if difference.abs() > 2.0 * f64::EPSILON * (p.abs() + q.abs()) {
        return difference;
    }
    // The products agree in almost all digits, so `p - q` is exact, and so are the rounding errors of the products.
    difference + (product_error(a, b, p) - product_error(c, d, q))
}

/// `a b - p` exactly, `p` the rounded product (Dekker 1971).
fn product_error(a: f64, b: f64, p: f64) -> f64 {
    let halves = |x: f64| {
        let wide = 134_217_729.0 * x;
        let high = wide - (wide - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::SurfaceMesh;
    use crate::query::test_shapes::{circle, sphere, tetrahedra};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Rays from inside through vertices, points of edges and of elements, of a closed surface.
    fn no_ray_leaks<const D: usize>(surface: &SurfaceMesh<D>, inside: Vector<D>, count: usize) {
        let tree = MeshTree::new(surface).unwrap();
        let mut rng = Pcg64::seed_from_u64(3);
        for _ in 0..count {
            let element = rng.random_range(0..surface.elements.len());
            let corners = surface.corners(element);
            let mut weights: [f64; D] = std::array::from_fn(|_| rng.random_range(0..=4) as f64);
            if weights.iter().sum::<f64>() == 0.0 {
                weights[0] = 1.0;
            }
            let sum: f64 = weights.iter().sum();
            let target = combine(&corners, &weights.map(|w| w / sum));
            let origin = inside + (target - inside) * f64::from(rng.random_range(-1..=2)) / 4.0;
            let ray = Ray::new(origin, (target - inside) * 0.25);
            let hit =
                tree.first_hit(&ray).unwrap_or_else(|| panic!("leak through element {element}: {ray:?}"));
            assert!((hit.point - ray.at(hit.t)).norm() < 1e-13);
            assert!(!hit.front, "seen from inside");
            assert!(tree.is_hit(&ray));
            let all = tree.all_hits(&ray);
            assert_eq!(all[0], hit);
            // A segment that ends before the surface does not meet it, unless it is thick.
            let short = Ray { max: hit.t - 1e-3 / ray.direction.norm(), ..ray };
            assert!(!tree.is_hit(&short));
            let thick =
                tree.first_hit(&short.with_thickness(2.1e-3)).expect("end point within the thickness");
            assert!((thick.point - short.at(thick.t)).norm() <= 1.05e-3);
        }
    }

    #[test]
    fn no_ray_leaks_out_of_a_closed_surface() {
        no_ray_leaks(&circle(50, 1.0), Vector::from([0.1, 0.2]), 5000);
        no_ray_leaks(&sphere(10, 1.0), Vector::from([0.1, 0.2, 0.3]), 20_000);
        // A cube with round coordinates, where many rays run exactly along edges and diagonals.
        no_ray_leaks(&tetrahedra(4).boundary().unwrap().mesh, Vector::from([0.5, 0.5, 0.5]), 20_000);
    }

    #[test]
    fn a_ray_through_a_triangle_has_the_weights_of_the_point() {
        let p = |x: f64, y: f64, z: f64| Vector::from([x, y, z]);
        let mesh = SurfaceMesh::<3> {
            points: vec![p(0.0, 0.0, 1.0), p(1.0, 0.0, 1.0), p(0.0, 1.0, 1.0)],
            elements: vec![[0, 1, 2]],
        };
        let tree = MeshTree::new(&mesh).unwrap();
        let hit = tree.first_hit(&Ray::new(p(0.25, 0.5, 3.0), p(0.0, 0.0, -0.5))).unwrap();
        assert_eq!((hit.t, hit.weights, hit.front), (4.0, [0.25, 0.25, 0.5], true));
        assert!(!tree.first_hit(&Ray::new(p(0.25, 0.5, -3.0), p(0.0, 0.0, 1.0))).unwrap().front);
        assert_eq!(tree.first_hit(&Ray::new(p(0.25, 0.5, 3.0), p(0.0, 0.0, 1.0))), None);
        assert_eq!(tree.first_hit(&Ray::segment(p(0.6, 0.6, 0.0), p(0.6, 0.6, 2.0))), None);
        // Passing by the long edge at a distance of 0.1 sqrt 2.
        let near = Ray::segment(p(0.6, 0.6, 0.0), p(0.6, 0.6, 2.0)).with_thickness(0.3);
        let hit = tree.first_hit(&near).unwrap();
        assert!((hit.t - 0.5).abs() < 1e-15 && (hit.weights[1] - 0.5).abs() < 1e-15);
        assert_eq!(tree.first_hit(&near.with_thickness(0.28)), None);
        // In the plane of the triangle: only with a thickness.
        let along = Ray::segment(p(-1.0, 0.25, 1.0), p(2.0, 0.25, 1.0));
        assert!(tree.first_hit(&along).is_none() && tree.first_hit(&along.with_thickness(1e-6)).is_some());
        assert!(tree.first_hit(&Ray::new(p(0.2, 0.2, 1.0), Vector::zeros()).with_thickness(1e-6)).is_some());
    }

    #[test]
    fn signs_of_differences_are_exact() {
        let mut rng = Pcg64::seed_from_u64(9);
        for _ in 0..100_000 {
            // (k + 1/2)(k - 1/2) and k k in units of 2^-60 differ by a quarter unit, far below the rounding of the products.
            let k = rng.random_range(1u64 << 51..1 << 52) as f64;
            assert!(difference_of_products(k, k, k + 0.5, k - 0.5) > 0.0);
            assert!(difference_of_products(k + 0.5, k - 0.5, k, k) < 0.0);
            assert_eq!(difference_of_products(k, 3.0, 3.0, k), 0.0);
        }
    }
}
