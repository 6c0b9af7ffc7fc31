//! Plane polygons.

use super::{ShapeError, distance::Evaluation};
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// A closed polygon without self-intersection, counter-clockwise once checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Polygon {
    points: Vec<Vector<2>>,
}

impl Polygon {
    pub(super) fn new(points: Vec<[f64; 2]>) -> Self {
        Self { points: points.into_iter().map(Vector::from).collect() }
    }

    pub(super) fn check(&mut self) -> Result<(), ShapeError> {
        let refuse = |message: String| Err(ShapeError::Polygon(message));
        let n = self.points.len();
        if n < 3 {
            return refuse(format!("has {n} points; it needs at least 3"));
        }
        if let Some(i) = self.points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return refuse(format!("has a coordinate that is not finite at point {i}"));
        }
        if let Some(i) = (0..n).find(|&i| self.points[i] == self.points[(i + 1) % n]) {
            return refuse(format!("has the same point twice in a row at point {i}"));
        }
        for i in 0..n {
            for j in i + 1..n {
                let next_to = (i + 1) % n == j || (j + 1) % n == i;
                if self.sides_cross(i, j, next_to) {
                    return refuse(format!("crosses or touches itself: sides {i} and {j}"));
                }
            }
        }
        let area = self.area();
        if area == 0.0 {
            return refuse("encloses no area".into());
        }
        if area < 0.0 {
            self.points.reverse();
        }
        Ok(())
    }

    fn side(&self, i: usize) -> [Vector<2>; 2] {
        [self.points[i], self.points[(i + 1) % self.points.len()]]
    }

    /// Do the sides have a point in common (besides the shared corner of neighbours)?
    fn sides_cross(&self, i: usize, j: usize, neighbours: bool) -> bool {
        let turn = |a: Vector<2>, b: Vector<2>, c: Vector<2>| (b - a).perp(&(c - a));
        let ([a, b], [c, d]) = (self.side(i), self.side(j));
        if neighbours {
            // Neighbours overlap only when one folds back onto the other.
            let (before, corner, after) = if b == c { (a, b, d) } else { (c, a, b) };
            return turn(before, corner, after) == 0.0 && (before - corner).dot(&(after - corner)) > 0.0;
        }
        let (s, t) = ([turn(a, b, c), turn(a, b, d)], [turn(c, d, a), turn(c, d, b)]);
        let separate = |v: [f64; 2]| (v[0] > 0.0 && v[1] > 0.0) || (v[0] < 0.0 && v[1] < 0.0);
        if separate(s) || separate(t) {
            return false;
        }
        // In one line: they meet when their boxes do.
        (0..2).all(|k| a[k].min(b[k]) <= c[k].max(d[k]) && c[k].min(d[k]) <= a[k].max(b[k]))
    }

    /// Signed area, positive when counter-clockwise.
    fn area(&self) -> f64 {
        let origin = self.points[0];
        (0..self.points.len())
            .map(|i| {
                let [a, b] = self.side(i);
                0.5 * (a - origin).perp(&(b - origin))
            })
            .sum()
    }

    pub(super) fn bounds(&self) -> [Vector<2>; 2] {
        let start = [self.points[0]; 2];
        self.points.iter().fold(start, |[low, high], p| [low.inf(p), high.sup(p)])
    }

    /// Area (m^2), centroid (m) and second moment about it (m^4).
    pub(super) fn moments(&self) -> (f64, Vector<2>, nalgebra::Matrix2<f64>) {
        // Relative to a point of the polygon, so that far from the origin nothing cancels.
        let origin = self.points[0];
        let (mut area, mut first, mut second) = (0.0, Vector::<2>::zeros(), nalgebra::Matrix2::zeros());
        for i in 0..self.points.len() {
            let [a, b] = self.side(i).map(|p| p - origin);
            let twice = a.perp(&b);
            area += 0.5 * twice;
            first += (a + b) * (twice / 6.0);
            let ab = a + b;
            second += (a * a.transpose() + b * b.transpose() + ab * ab.transpose()) * (twice / 24.0);
        }
        let centre = first / area;
        (area, origin + centre, second - centre * centre.transpose() * area)
    }

    pub(super) fn evaluate(&self, point: &Vector<2>) -> Evaluation<2> {
        let mut best = f64::INFINITY;
        let (mut closest, mut normal) = (self.points[0], Vector::<2>::zeros());
        let mut winding = 0;
        for i in 0..self.points.len() {
            let [a, b] = self.side(i);
            let side = b - a;
            let t = (side.dot(&(point - a)) / side.norm_squared()).clamp(0.0, 1.0);
            let on_side = a + side * t;
            let squared = (point - on_side).norm_squared();
            let outward = Vector::<2>::new(side.y, -side.x) / side.norm();
            if squared < best {
                (best, closest, normal) = (squared, on_side, outward);
            } else if squared == best {
                normal += outward;
            }
            // Crossings of the ray to +x, upward sides +1, downward -1; half open, so that corners count once.
            let left_of = side.perp(&(point - a));
            if a.y <= point.y && b.y > point.y && left_of > 0.0 {
                winding += 1;
            } else if a.y > point.y && b.y <= point.y && left_of < 0.0 {
                winding -= 1;
            }
        }
        let distance = best.sqrt();
        let sign = if winding != 0 { -1.0 } else { 1.0 };
        if distance > 0.0 {
            return (sign * distance, (point - closest) * (sign / distance));
        }
        (0.0, normal.try_normalize(0.0).unwrap_or_else(Vector::<2>::x))
    }
}
