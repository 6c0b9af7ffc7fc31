//! Axis-aligned boxes.

use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// An axis-aligned box, closed on all sides; [`Aabb::empty`] has `min > max` and contains nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Aabb<const D: usize> {
    /// Lower corner (m).
    pub min: Vector<D>,
    /// Upper corner (m).
    pub max: Vector<D>,
}

impl<const D: usize> Aabb<D> {
    /// The box that contains nothing, the neutral element of [`Aabb::union`].
    pub fn empty() -> Self {
        Self { min: Vector::repeat(f64::INFINITY), max: Vector::repeat(f64::NEG_INFINITY) }
    }

    /// The smallest box around some points; empty for no points.
    pub fn of_points<'a>(points: impl IntoIterator<Item = &'a Vector<D>>) -> Self {
        points.into_iter().fold(Self::empty(), |bounds, point| bounds.including(point))
    }

    /// The box grown just enough to contain `point`.
    pub fn including(&self, point: &Vector<D>) -> Self {
        Self {
            min: componentwise(&self.min, point, f64::min),
            max: componentwise(&self.max, point, f64::max),
        }
    }

    /// The smallest box around both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: componentwise(&self.min, &other.min, f64::min),
            max: componentwise(&self.max, &other.max, f64::max),
        }
    }

    /// The box with every side moved outwards by `margin` (m).
    pub fn grown(&self, margin: f64) -> Self {
        Self { min: self.min.add_scalar(-margin), max: self.max.add_scalar(margin) }
    }

    /// Does it contain no point at all?
    pub fn is_empty(&self) -> bool {
        !(0..D).all(|k| self.min[k] <= self.max[k])
    }

    /// Do the two closed boxes share a point?
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..D).all(|k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }

    /// Is the point in the closed box?
    #[inline]
    pub fn contains(&self, point: &Vector<D>) -> bool {
        (0..D).all(|k| self.min[k] <= point[k] && point[k] <= self.max[k])
    }

    /// Middle of the box (m).
    pub fn center(&self) -> Vector<D> {
        (self.min + self.max) * 0.5
    }

    /// Edge lengths (m).
    pub fn extent(&self) -> Vector<D> {
        self.max - self.min
    }

    /// Squared distance (m^2) from a point to the box, zero inside.
    #[inline]
    pub fn distance_squared(&self, point: &Vector<D>) -> f64 {
        let mut sum = 0.0;
        for k in 0..D {
            let outside = (self.min[k] - point[k]).max(point[k] - self.max[k]).max(0.0);
            sum += outside * outside;
        }
        sum
    }

    /// Half of the surface measure (perimeter in 2D, area in 3D), the cost of the surface area heuristic.
    pub(crate) fn half_surface(&self) -> f64 {
        let e = self.extent();
        match D {
            2 => e[0] + e[1],
            3 => e[0] * e[1] + e[1] * e[2] + e[2] * e[0],
            _ => e.norm(),
        }
    }
}

impl<const D: usize> Aabb<D> {
    /// All of space, the neutral element of [`Aabb::intersection`].
    pub fn everything() -> Self {
        Self { min: Vector::repeat(f64::NEG_INFINITY), max: Vector::repeat(f64::INFINITY) }
    }

    /// The common part of both; empty when they do not touch.
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            min: componentwise(&self.min, &other.min, f64::max),
            max: componentwise(&self.max, &other.max, f64::min),
        }
    }

    /// Is it neither empty nor infinite?
    pub fn is_bounded(&self) -> bool {
        !self.is_empty() && self.min.iter().chain(self.max.iter()).all(|x| x.is_finite())
    }
}

#[inline]
fn componentwise<const D: usize>(a: &Vector<D>, b: &Vector<D>, f: impl Fn(f64, f64) -> f64) -> Vector<D> {
    Vector::from_fn(|k, _| f(a[k], b[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_box_is_neutral_and_contains_nothing() {
        let unit = Aabb { min: Vector::<2>::zeros(), max: Vector::repeat(1.0) };
        assert_eq!(Aabb::empty().union(&unit), unit);
        assert!(Aabb::<2>::empty().is_empty() && !unit.is_empty());
        assert!(!Aabb::empty().overlaps(&unit));
        assert!(unit.contains(&Vector::from([1.0, 0.0])));
        assert_eq!(unit.distance_squared(&Vector::from([4.0, 5.0])), 25.0);
    }
}
