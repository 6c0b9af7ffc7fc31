//! The surface of a soft body or sheet in the fluid: which of its particles move a coupling face, and by how much (`J`, spec/fluid-structure.md 3.4.4).

use super::Weights;
use splashdown_geometry::simplex::closest_point;
use splashdown_geometry::{Aabb, Bvh};
use splashdown_math::{Dim, Space, Vector};

/// By how much of its spacing a dual cell is grown on every side, so that facets on the border of two are found from both.
const THICKENED: f64 = 1e-3;

/// Segments in the plane, triangles in space, in a tree.
pub(super) struct Facets<const D: usize> {
    points: Vec<Vector<D>>,
    /// The first `D` of each are the corners of a facet.
    corners: Vec<[u32; 3]>,
    tree: Bvh<D>,
}

impl<const D: usize> Facets<D>
where
    Dim<D>: Space<D>,
{
    pub fn new(points: Vec<Vector<D>>, corners: Vec<[u32; 3]>) -> Self {
        let around = |facet: u32| {
            Aabb::of_points(corners[facet as usize][..D].iter().map(|&corner| &points[corner as usize]))
        };
        let tree = Bvh::from_fn(corners.len(), around);
        Self { points, corners, tree }
    }

    pub fn at(&self, corner: u32) -> Vector<D> {
        self.points[corner as usize]
    }

    pub fn bounds(&self) -> Aabb<D> {
        self.tree.bounds()
    }

    /// Squared distance (m^2) of a facet and weights of its corners.
    fn closest(&self, x: &Vector<D>, facet: u32) -> (f64, [f64; 3]) {
        let [a, b, c] = self.corners[facet as usize];
        if D == 2 {
            let found = closest_point(x, &[self.at(a), self.at(b)]);
            return (found.distance_squared, [found.weights[0], found.weights[1], 0.0]);
        }
        let found = closest_point(x, &[self.at(a), self.at(b), self.at(c)]);
        (found.distance_squared, found.weights)
    }

    /// Squared distance (m^2), facet and weights of its corners.
    pub fn nearest(&self, x: &Vector<D>) -> (f64, usize, [f64; 3]) {
        let mut best = (f64::INFINITY, 0, [0.0; 3]);
        self.tree.nearest(x, f64::INFINITY, |facet, limit| {
            let (distance, weights) = self.closest(x, facet);
            if distance < best.0 {
                best = (distance, facet as usize, weights);
            }
            limit.min(best.0)
        });
        best
    }

    /// Where the line through `x` along `axis` meets the surface within `reach` (m) of it: the facet nearest to `x`, and weights of its corners. The impulse of a face acts along
    /// this line, so that what the fluid loses of angular momentum the body gains (spec/fluid-structure.md 3.4.4).
    fn hit(&self, x: &Vector<D>, axis: usize, reach: f64) -> Option<(usize, [f64; 3])> {
        let mut span = Aabb { min: *x, max: *x };
        span.min[axis] -= reach;
        span.max[axis] += reach;
        let mut best: Option<(f64, usize, [f64; 3])> = None;
        self.tree.overlapping(&span, |facet| {
            let [a, b, c] = self.corners[facet as usize];
            let Some(weights) =
                across(x, axis, [self.at(a), self.at(b), if D == 2 { self.at(b) } else { self.at(c) }])
            else {
                return;
            };
            let mut there = self.at(a)[axis] * weights[0] + self.at(b)[axis] * weights[1];
            if D == 3 {
                there += self.at(c)[axis] * weights[2];
            }
            let distance = (there - x[axis]).abs();
            if distance <= reach && best.is_none_or(|(old, ..)| distance < old) {
                best = Some((distance, facet as usize, weights));
            }
        });
        best.map(|(_, facet, weights)| (facet, weights))
    }

    /// The facets that are as near to `x` as the nearest, with the weights of their corners: more than one where `x` is on an axis of symmetry, and then none of them is to be preferred.
    fn all_nearest(&self, x: &Vector<D>) -> Vec<(usize, [f64; 3])> {
        let (squared, ..) = self.nearest(x);
        let reach = squared.sqrt() * (1.0 + 1e-9);
        let mut found = Vec::new();
        self.tree.overlapping(&Aabb { min: *x, max: *x }.grown(reach), |facet| {
            let (distance, weights) = self.closest(x, facet);
            if distance <= reach * reach {
                found.push((facet as usize, weights));
            }
        });
        found.sort_unstable_by_key(|(facet, _)| *facet);
        found
    }

    /// Particles that move a face at `x` normal to `axis` of cells of this `spacing` (m), with their weights, which sum to one.
    pub fn weights(
        &self,
        x: &Vector<D>,
        axis: usize,
        spacing: &Vector<D>,
        weights: Weights,
    ) -> Vec<(u32, f64)> {
        if weights == Weights::Area {
            let found = self.by_area(x, spacing);
            if !found.is_empty() {
                return found;
            }
        }
        let reach = 0.5001 * spacing[axis];
        let facets = self.hit(x, axis, reach).map_or_else(|| self.all_nearest(x), |hit| vec![hit]);
        let share = 1.0 / facets.len() as f64;
        let of_facet = |(facet, weights): &(usize, [f64; 3])| {
            let (corners, weights) = (self.corners[*facet], *weights);
            (0..D).map(move |k| (corners[k], share * weights[k]))
        };
        summed(facets.iter().flat_map(of_facet).collect())
    }

    /// Corners of the facets in the dual cell about `x`, each with what of them is inside it, relative to all; nothing where there are none (spec/fluid-structure.md 3.2, step 3).
    pub fn by_area(&self, x: &Vector<D>, spacing: &Vector<D>) -> Vec<(u32, f64)> {
        let dual = Aabb { min: x - spacing * 0.5, max: x + spacing * 0.5 }.grown(THICKENED * spacing.min());
        let mut found = Vec::new();
        self.tree.overlapping(&dual, |facet| {
            let corners = &self.corners[facet as usize][..D];
            let points: Vec<Vector<D>> = corners.iter().map(|&corner| self.at(corner)).collect();
            if let Some(size) = size_within(points, &dual) {
                found.extend(corners.iter().map(|&corner| (corner, size)));
            }
        });
        let mut all = summed(found);
        let total: f64 = all.iter().map(|(_, weight)| weight).sum();
        let count = all.len() as f64;
        // Where facets only touch the dual cell none of their corners is preferred.
        let share = |weight: f64| if total > 0.0 { weight / total } else { count.recip() };
        all.iter_mut().for_each(|(_, weight)| *weight = share(*weight));
        all
    }
}

/// Entries in the order of their corners, those of the same corner as one.
fn summed(mut all: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    all.sort_by_key(|(corner, _)| *corner);
    all.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
    all
}

/// Length (m) of a segment or area (m^2) of a triangle inside a box; `None` where it is outside.
fn size_within<const D: usize>(mut polygon: Vec<Vector<D>>, bounds: &Aabb<D>) -> Option<f64> {
    for axis in 0..D {
        for (sign, limit) in [(1.0, bounds.max[axis]), (-1.0, -bounds.min[axis])] {
            polygon = cut(&polygon, axis, sign, limit);
        }
    }
    let first = *polygon.first()?;
    // Cut, a segment is a polygon that goes there and back.
    if D == 2 {
        let next = polygon.iter().skip(1).chain([&first]);
        return Some(0.5 * polygon.iter().zip(next).map(|(a, b)| (b - a).norm()).sum::<f64>());
    }
    let fan = polygon.windows(2).map(|pair| {
        let [a, b] = [pair[0] - first, pair[1] - first];
        0.5 * (a.norm_squared() * b.norm_squared() - a.dot(&b).powi(2)).max(0.0).sqrt()
    });
    Some(fan.sum())
}

/// The part of a closed polygon where `sign` times the coordinate along `axis` is at most `limit`.
fn cut<const D: usize>(polygon: &[Vector<D>], axis: usize, sign: f64, limit: f64) -> Vec<Vector<D>> {
    let mut part = Vec::with_capacity(polygon.len() + 1);
    let Some(mut before) = polygon.last().copied() else { return part };
    for &here in polygon {
        let [excess_before, excess] = [before, here].map(|x| sign * x[axis] - limit);
        if (excess_before > 0.0) != (excess > 0.0) {
            part.push(before + (here - before) * (excess_before / (excess_before - excess)));
        }
        if excess <= 0.0 {
            part.push(here);
        }
        before = here;
    }
    part
}

/// Weights of the corners of a facet where the line through `x` along `axis` meets it, if it does.
fn across<const D: usize>(x: &Vector<D>, axis: usize, corners: [Vector<D>; 3]) -> Option<[f64; 3]> {
    let others: [usize; 2] = match (D, axis) {
        (2, 0) => [1, 1],
        (2, _) => [0, 0],
        (_, 0) => [1, 2],
        (_, 1) => [0, 2],
        _ => [0, 1],
    };
    let inside = -1e-9..=1.0 + 1e-9;
    if D == 2 {
        let (p, q, y) = (corners[0][others[0]], corners[1][others[0]], x[others[0]]);
        let w = (y - p) / (q - p);
        return (w.is_finite() && inside.contains(&w)).then_some([1.0 - w, w, 0.0]);
    }
    let flat = |v: &Vector<D>| [v[others[0]] - x[others[0]], v[others[1]] - x[others[1]]];
    let [a, b, c] = [flat(&corners[0]), flat(&corners[1]), flat(&corners[2])];
    let area = |p: [f64; 2], q: [f64; 2]| p[0] * q[1] - p[1] * q[0];
    let whole = area([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
    let weights = [area(b, c) / whole, area(c, a) / whole, area(a, b) / whole];
    weights.iter().all(|w| w.is_finite() && inside.contains(w)).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_a_box_is_measured() {
        let unit = |d: f64| Vector::repeat(d);
        let bounds = Aabb { min: unit(0.0), max: unit(1.0) };
        let segment = vec![Vector::from([-1.0, 0.25]), Vector::from([3.0, 0.25])];
        assert!((size_within::<2>(segment, &bounds).unwrap() - 1.0).abs() < 1e-15);
        let corners = [[0.0, 0.0, 0.5], [2.0, 0.0, 0.5], [0.0, 2.0, 0.5]].map(Vector::from);
        let bounds = Aabb { min: Vector::repeat(0.0), max: Vector::repeat(1.0) };
        // The corner at (1, 1) is on the long edge.
        assert!((size_within::<3>(corners.to_vec(), &bounds).unwrap() - 1.0).abs() < 1e-15);
        assert!(size_within::<3>(corners.map(|x| x * 3.0).to_vec(), &bounds).is_none());
    }

    /// A face in front of a wall of two segments of which one covers three quarters of the dual cell.
    #[test]
    fn weights_by_area_are_those_of_the_clipped_facets() {
        let points = [[0.0, 0.25], [0.75, 0.25], [2.0, 0.25]].map(Vector::from).to_vec();
        let facets = Facets::<2>::new(points, vec![[0, 1, 0], [1, 2, 1]]);
        let found = facets.by_area(&Vector::from([0.5, 0.5]), &Vector::from([1.0, 1.0]));
        let weight = |corner: u32| found.iter().find(|(c, _)| *c == corner).map_or(0.0, |(_, w)| *w);
        assert!((found.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-15);
        // Lengths 0.75 and 0.25, each for both ends; the dual cell is a thousandth thicker.
        for (corner, exact) in [(0, 0.375), (1, 0.5), (2, 0.125)] {
            assert!((weight(corner) - exact).abs() < 1e-3, "{corner}: {}", weight(corner));
        }
    }
}
