//! The generalised winding number (Jacobson et al. 2013): how often a surface wraps around a point. One inside a closed surface whose
//! normals point outwards, zero outside; for surfaces with holes or self-intersections it varies smoothly and 1/2 is the sensible limit.
//!
//! Far parts of the surface are replaced by the Taylor expansion of their field to second order (Barill et al. 2018, Fast Winding Numbers
//! for Soups and Clouds), so that a query costs O(log n).

use crate::bvh::traverse::Stack;
use crate::bvh::{Bvh, Visit};
use crate::mesh::{MeshError, SurfaceMesh};
use splashdown_math::{Matrix, Vector};
use std::f64::consts::PI;

/// Winding number of the surface about `query`, summed over all elements: the angle of each segment (2D) or the solid angle of each
/// triangle (3D) over the full angle. The slow reference of [`WindingTree`]. Elements whose indices name no point are skipped.
pub fn winding_number<const D: usize>(surface: &SurfaceMesh<D>, query: &Vector<D>) -> f64 {
    let count = surface.points.len();
    (0..surface.elements.len())
        .filter(|&e| surface.elements[e].iter().all(|&i| (i as usize) < count))
        .map(|e| element_winding(&surface.corners(e), query))
        .sum()
}

/// Share of the full angle under which one element is seen, positive from its inner side.
#[inline]
fn element_winding<const D: usize>(corners: &[Vector<D>; D], query: &Vector<D>) -> f64 {
    if D == 2 {
        let (a, b) = (corners[0] - query, corners[1] - query);
        let cross = a[0] * b[1] - a[1] * b[0];
        let dot = a[0] * b[0] + a[1] * b[1];
        cross.atan2(dot) / (2.0 * PI)
    } else {
        // Van Oosterom and Strackee 1983.
        let relative = |i: usize| Vector::<3>::from_fn(|k, _| corners[i][k] - query[k]);
        let (a, b, c) = (relative(0), relative(1), relative(2));
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let numerator = a.dot(&b.cross(&c));
        let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        numerator.atan2(denominator) / (2.0 * PI)
    }
}

/// A surface prepared for fast winding numbers: inside/outside tests of many points.
#[derive(Debug, Clone)]
pub struct WindingTree<'m, const D: usize> {
    surface: &'m SurfaceMesh<D>,
    bvh: Bvh<D>,
    moments: Vec<Moments<D>>,
    acceptance: f64,
}

/// Field of a part of the surface seen from afar: moments of its normal about the centre `c`.
#[derive(Debug, Clone, Copy)]
struct Moments<const D: usize> {
    center: Vector<D>,
    /// Radius of the ball about the centre that holds the part (m).
    radius: f64,
    area: f64,
    /// `int n`.
    zeroth: Vector<D>,
    /// `int (x - c) n^T`, entry (j, i).
    first: Matrix<D>,
    /// `int (x - c)_k (x - c)^T n`, matrix k, entry (j, i).
    second: [Matrix<D>; D],
}

impl<const D: usize> Moments<D> {
    fn zero_at(center: Vector<D>) -> Self {
        Self {
            center,
            radius: 0.0,
            area: 0.0,
            zeroth: Vector::zeros(),
            first: Matrix::zeros(),
            second: [Matrix::zeros(); D],
        }
    }

    /// Moments of one element about its centroid, exact.
    fn of_element(corners: &[Vector<D>; D]) -> Self {
        let center = corners.iter().sum::<Vector<D>>() / D as f64;
        let normal = area_vector(corners);
        let mut moments = Self::zero_at(center);
        moments.area = normal.norm();
        moments.zeroth = normal;
        // For a simplex with D vertices y_a about its centroid: int y y^T = area / (D (D + 1)) sum_a y_a y_a^T.
        let mut spread = Matrix::<D>::zeros();
        for corner in corners {
            let y = corner - center;
            spread += y * y.transpose();
        }
        spread /= (D * (D + 1)) as f64;
        for k in 0..D {
            moments.second[k] = spread.column(k) * normal.transpose();
        }
        moments
    }

    /// Adds a part whose moments are about another centre.
    fn add(&mut self, part: &Self) {
        let s = part.center - self.center;
        self.area += part.area;
        self.zeroth += part.zeroth;
        self.first += part.first + s * part.zeroth.transpose();
        for k in 0..D {
            self.second[k] += part.second[k]
                + part.first * s[k]
                + s * part.first.row(k)
                + s * (part.zeroth.transpose() * s[k]);
        }
    }

    /// Taylor series of `int n . grad G(x - q)` about `x = c`, `grad G(r) = r / (S |r|^D)`, S the surface of the unit ball.
    #[inline]
    fn winding(&self, r: &Vector<D>, distance_squared: f64) -> f64 {
        let d = D as f64;
        let inverse = 1.0 / distance_squared;
        let unit_surface = if D == 2 { 2.0 * PI } else { 4.0 * PI };
        let power = if D == 2 { inverse } else { inverse * inverse.sqrt() };
        let zeroth = self.zeroth.dot(r);
        let first = self.first.trace() - d * inverse * r.dot(&(self.first * r));
        // Contractions of int y_k y_j n_i with the third derivatives of G.
        let (mut traces, mut cubic) = (0.0, 0.0);
        for k in 0..D {
            let matrix = &self.second[k];
            let times_r = matrix * r;
            // delta_ij r_k + delta_jk r_i + delta_ik r_j; the tensor is symmetric in j and k.
            traces += 2.0 * matrix.trace() * r[k] + times_r[k];
            cubic += r[k] * r.dot(&times_r);
        }
        let second = 0.5 * inverse * d * ((d + 2.0) * inverse * cubic - traces);
        (zeroth + first + second) * power / unit_surface
    }
}

/// Normal of a surface element, its length the area (length in 2D) of the element.
fn area_vector<const D: usize>(corners: &[Vector<D>; D]) -> Vector<D> {
    let mut normal = Vector::zeros();
    if D == 2 {
        let edge = corners[1] - corners[0];
        (normal[0], normal[1]) = (edge[1], -edge[0]);
    } else {
        let (u, v) = (corners[1] - corners[0], corners[2] - corners[0]);
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            normal[k] = 0.5 * (u[i] * v[j] - u[j] * v[i]);
        }
    }
    normal
}

impl<'m, const D: usize> WindingTree<'m, D> {
    /// Prepares a surface; refuses indices that name no point and coordinates that are not finite. The surface need not be closed.
    pub fn new(surface: &'m SurfaceMesh<D>) -> Result<Self, MeshError> {
        surface.check_indices()?;
        surface.check_finite()?;
        let bvh = Bvh::from_fn(surface.elements.len(), |i| surface.element_bounds(i as usize));
        Ok(Self::with_tree_unchecked(surface, bvh))
    }

    fn with_tree_unchecked(surface: &'m SurfaceMesh<D>, bvh: Bvh<D>) -> Self {
        let mut moments = vec![Moments::zero_at(Vector::zeros()); bvh.nodes.len()];
        let mut parts = Vec::new();
        for index in (0..bvh.nodes.len()).rev() {
            parts.clear();
            match bvh.nodes[index].visit(index as u32) {
                Visit::Leaf { first, last } => parts.extend(
                    bvh.order[first..last].iter().map(|&e| Moments::of_element(&surface.corners(e as usize))),
                ),
                Visit::Inner { left, right } => {
                    parts.extend([moments[left as usize], moments[right as usize]]);
                }
            }
            let area: f64 = parts.iter().map(|part| part.area).sum();
            let bounds = &bvh.nodes[index].bounds;
            // The area-weighted centroid makes the first moment small.
            let center = if area > 0.0 {
                parts.iter().map(|part| part.center * (part.area / area)).sum()
            } else {
                bounds.center()
            };
            let mut sum = Moments::zero_at(center);
            parts.iter().for_each(|part| sum.add(part));
            let reach =
                Vector::<D>::from_fn(|k, _| (bounds.max[k] - center[k]).max(center[k] - bounds.min[k]));
            sum.radius = reach.norm();
            moments[index] = sum;
        }
        Self { surface, bvh, moments, acceptance: 2.0 }
    }

    /// Sets how far away, in radii of a part of the surface, its expansion is used; the default 2 errs by less than 0.01 near a closed
    /// surface, and the error falls with the third power.
    pub fn with_acceptance(mut self, radii: f64) -> Self {
        self.acceptance = radii.max(1.0);
        self
    }

    /// Winding number of the surface about `query`.
    pub fn winding_number(&self, query: &Vector<D>) -> f64 {
        if self.bvh.is_empty() {
            return 0.0;
        }
        let mut sum = 0.0;
        let mut stack = Stack::of(0u32);
        while let Some(index) = stack.pop() {
            let moments = &self.moments[index as usize];
            let r = moments.center - query;
            let distance_squared = r.norm_squared();
            let far = self.acceptance * moments.radius;
            if distance_squared > far * far {
                sum += moments.winding(&r, distance_squared);
                continue;
            }
            match self.bvh.nodes[index as usize].visit(index) {
                Visit::Leaf { first, last } => {
                    for &e in &self.bvh.order[first..last] {
                        sum += element_winding(&self.surface.corners(e as usize), query);
                    }
                }
                Visit::Inner { left, right } => {
                    stack.push(right);
                    stack.push(left);
                }
            }
        }
        sum
    }

    /// Is the point inside (winding number above 1/2)?
    pub fn contains(&self, query: &Vector<D>) -> bool {
        self.winding_number(query) > 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::test_shapes::{circle, sphere};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn exact_is_an_integer_and_the_tree_is_near<const D: usize>(surface: &SurfaceMesh<D>) {
        let tree = WindingTree::new(surface).unwrap();
        let fine = WindingTree::new(surface).unwrap().with_acceptance(4.0);
        let mut rng = Pcg64::seed_from_u64(11);
        let (mut worst, mut worst_fine) = (0.0f64, 0.0f64);
        for _ in 0..2000 {
            let query = Vector::<D>::from_fn(|_, _| rng.random_range(-1.5..1.5));
            let exact = winding_number(surface, &query);
            assert!((exact - exact.round()).abs() < 1e-11, "{exact}");
            worst = worst.max((tree.winding_number(&query) - exact).abs());
            worst_fine = worst_fine.max((fine.winding_number(&query) - exact).abs());
            assert_eq!(tree.contains(&query), exact > 0.5);
        }
        assert!(worst < 1e-2, "{worst}");
        // Twice the distance: third order is a factor of 8, fewer near elements add to it.
        assert!(worst_fine < worst / 5.0, "{worst} {worst_fine}");
    }

    #[test]
    fn winding_numbers_of_closed_surfaces() {
        exact_is_an_integer_and_the_tree_is_near(&circle(1000, 1.0));
        exact_is_an_integer_and_the_tree_is_near(&sphere(20, 1.0));
    }

    #[test]
    fn the_expansion_converges_with_third_order() {
        let surface = {
            // An open cap, so that nothing cancels.
            let mut cap = sphere(8, 1.0);
            cap.elements.truncate(cap.elements.len() / 3);
            cap
        };
        let bvh = Bvh::from_fn(surface.elements.len(), |i| surface.element_bounds(i as usize));
        let tree = WindingTree::with_tree_unchecked(&surface, bvh);
        let root = &tree.moments[0];
        let direction = Vector::<3>::new(0.3, -0.5, 0.8).normalize();
        let error = |distance: f64| {
            let query = root.center + direction * distance;
            let r = root.center - query;
            // Relative to the leading term, which falls with the second power of the distance.
            (root.winding(&r, r.norm_squared()) - winding_number(&surface, &query)).abs()
                * distance
                * distance
        };
        let order = (error(20.0) / error(40.0)).log2();
        assert!((order - 3.0).abs() < 0.3, "{order}");
    }

    #[test]
    fn an_open_square_covers_a_sixth_seen_from_the_centre_of_its_cube() {
        let p = |x: f64, y: f64| Vector::from([x, y, 1.0]);
        let surface = SurfaceMesh::<3> {
            points: vec![p(-1.0, -1.0), p(1.0, -1.0), p(1.0, 1.0), p(-1.0, 1.0)],
            elements: vec![[0, 1, 2], [0, 2, 3]],
        };
        assert!((winding_number(&surface, &Vector::zeros()) - 1.0 / 6.0).abs() < 1e-15);
    }
}
