//! Continuous collision detection of linearly moving points, segments and triangles, and their static proximity.
//!
//! [`first_contact`] answers: when do two simplices, each of whose corners moves on a straight line during the step, first come closer than
//! a separation? It never misses a contact, and what it reports is a contact within a stated tolerance:
//!
//! * `None`: the distance stays above the separation during the whole step.
//! * `Some(contact)`: the distance is above the separation before `contact.time`, and at `contact.time` it is at most the separation plus
//!   the tolerance. So the positions at `contact.time` are still free of intersections (unless it is 0).
//!
//! Point against triangle and edge against edge in 3D and point against segment in 2D are all that surfaces need
//! (spec/deformable-solids.md 3.16).

mod advance;
mod proximity;

pub use proximity::{Proximity, closest_weights, proximity};

use splashdown_math::Vector;

/// A simplex whose corners move on straight lines from `start` (time 0) to `end` (time 1 of the step).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion<const D: usize, const N: usize> {
    /// Corners at the start of the step (m).
    pub start: [Vector<D>; N],
    /// Corners at the end of the step (m).
    pub end: [Vector<D>; N],
}

impl<const D: usize, const N: usize> Motion<D, N> {
    /// Corners at a time of the step between 0 and 1.
    pub fn at(&self, time: f64) -> [Vector<D>; N] {
        std::array::from_fn(|i| self.start[i] + (self.end[i] - self.start[i]) * time)
    }
}

/// What counts as a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CcdOptions {
    /// Distance (m) from which on the simplices are in contact, such as a cloth thickness; 0 for touching.
    pub separation: f64,
    /// A distance up to `separation + tolerance * extent` may be reported as a contact, where the extent is the largest difference of any
    /// coordinate between the corners during the step. Values below 1e-12 are raised to it.
    pub tolerance: f64,
}

impl Default for CcdOptions {
    /// Touching, to one part in 10^9 of the extent.
    fn default() -> Self {
        Self { separation: 0.0, tolerance: 1e-9 }
    }
}

/// The first contact of two moving simplices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact<const D: usize, const NA: usize, const NB: usize> {
    /// Fraction of the step, 0 to 1. A lower bound: the distance is above the separation at all earlier times.
    pub time: f64,
    /// Distance at that time (m).
    pub distance: f64,
    /// Barycentric weights of the contact point on the first simplex.
    pub weights_a: [f64; NA],
    /// Barycentric weights of the contact point on the second simplex.
    pub weights_b: [f64; NB],
    /// Unit vector from the second simplex to the first at that time.
    pub normal: Vector<D>,
}

/// First contact of two moving simplices, or `None` when there certainly is none. `NA` and `NB` may be 1 and 1 to 3 (point against point,
/// segment, triangle) or 2 and 2 (edges).
///
/// Coordinates that are not finite cannot be shown to be free of contact: the answer is a contact at time 0 with a zero normal.
#[inline]
pub fn first_contact<const D: usize, const NA: usize, const NB: usize>(
    a: &Motion<D, NA>,
    b: &Motion<D, NB>,
    options: &CcdOptions,
) -> Option<Contact<D, NA, NB>> {
    if advance::boxes_stay_apart(a, b, options.separation) {
        return None;
    }
    advance::first_contact(a, b, options)
}

/// First contact of a moving point and a moving triangle.
pub fn point_triangle(
    point: &Motion<3, 1>,
    triangle: &Motion<3, 3>,
    options: &CcdOptions,
) -> Option<Contact<3, 1, 3>> {
    first_contact(point, triangle, options)
}

/// First contact of two moving edges in space.
pub fn edge_edge(a: &Motion<3, 2>, b: &Motion<3, 2>, options: &CcdOptions) -> Option<Contact<3, 2, 2>> {
    first_contact(a, b, options)
}

/// First contact of a moving point and a moving segment in the plane.
pub fn point_segment(
    point: &Motion<2, 1>,
    segment: &Motion<2, 2>,
    options: &CcdOptions,
) -> Option<Contact<2, 1, 2>> {
    first_contact(point, segment, options)
}

#[cfg(test)]
mod tests;
