//! Axis-aligned boxes.

use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// An axis-aligned box; empty when `min > max` on some axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Aabb<const D: usize> {
    /// Lower corner (m).
    pub min: Vector<D>,
    /// Upper corner (m).
    pub max: Vector<D>,
}

impl<const D: usize> Aabb<D> {
    /// The box that holds nothing; the neutral element of [`Self::merged`].
    pub fn empty() -> Self {
        Self { min: Vector::repeat(f64::INFINITY), max: Vector::repeat(f64::NEG_INFINITY) }
    }

    /// All of space.
    pub fn everything() -> Self {
        Self { min: Vector::repeat(f64::NEG_INFINITY), max: Vector::repeat(f64::INFINITY) }
    }

    /// The smallest box around `points`.
    pub fn of_points<'a>(points: impl IntoIterator<Item = &'a Vector<D>>) -> Self {
        points.into_iter().fold(Self::empty(), |aabb, p| Self { min: aabb.min.inf(p), max: aabb.max.sup(p) })
    }

    /// The smallest box around both.
    pub fn merged(&self, other: &Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    /// The common part; empty when they do not touch.
    pub fn intersection(&self, other: &Self) -> Self {
        Self { min: self.min.sup(&other.min), max: self.max.inf(&other.max) }
    }

    /// Grown by `margin` (m) on every side.
    pub fn grown(&self, margin: f64) -> Self {
        Self { min: self.min.add_scalar(-margin), max: self.max.add_scalar(margin) }
    }

    /// Is the point inside or on the boundary?
    pub fn contains(&self, point: &Vector<D>) -> bool {
        (0..D).all(|a| self.min[a] <= point[a] && point[a] <= self.max[a])
    }

    /// Do the closed boxes share a point?
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..D).all(|a| self.min[a] <= other.max[a] && other.min[a] <= self.max[a])
    }

    /// Does it hold no point?
    pub fn is_empty(&self) -> bool {
        (0..D).any(|a| self.min[a] > self.max[a])
    }

    /// Are all corners finite and ordered?
    pub fn is_bounded(&self) -> bool {
        !self.is_empty() && self.min.iter().chain(self.max.iter()).all(|x| x.is_finite())
    }

    /// Middle point.
    pub fn centre(&self) -> Vector<D> {
        (self.min + self.max) * 0.5
    }

    /// Edge lengths (m).
    pub fn edges(&self) -> Vector<D> {
        self.max - self.min
    }

    /// The `2^D` corners.
    pub fn corners(&self) -> impl Iterator<Item = Vector<D>> + '_ {
        (0..1usize << D)
            .map(|bits| Vector::from_fn(|a, _| if bits >> a & 1 == 0 { self.min[a] } else { self.max[a] }))
    }

    /// Squared distance (m^2) from `point` to the box, zero inside.
    pub fn distance_squared(&self, point: &Vector<D>) -> f64 {
        (0..D).map(|a| (self.min[a] - point[a]).max(point[a] - self.max[a]).max(0.0).powi(2)).sum()
    }
}
