//! Conservative advancement along separating directions, with bisection of the simplices.
//!
//! At time `t` let `n` be the direction between the closest points. For each pair of corners the gap `n . (a_i - b_j)` is linear in time,
//! and as long as all of these gaps exceed the separation, so does the distance, whatever `n` is. The first time at which one of them
//! does not is therefore safe to advance to; there a new direction is taken. When `n` is the true direction the step is that of Newton's
//! method for the distance, but it can never overshoot. Simplices that turn are separated for longer by the direction that they will have
//! when they meet, so that one is tried too. A typical contact takes eight evaluations, a typical miss one.
//!
//! If a far corner approaches quickly while the closest points do not, steps are short. Then the simplex is halved and each half goes on by
//! itself (earliest contact wins): the half that is close has similar velocities at all of its corners, and the half with the fast corner
//! is further away. Rotating needles and hinges thus cost a few dozen steps.
//!
//! Rounding: coordinates are taken relative to one corner and scaled to at most 1 by a power of two, so every error is a small multiple of
//! the machine epsilon, also far from the origin and for very large or small bodies. A step aims at a gap of the separation plus half the
//! tolerance, and the tolerance is at least thirty times the sum of all rounding errors ([`LEAST_TOLERANCE`]).

use super::proximity::{closest_weights, touching_normal};
use super::{CcdOptions, Contact, Motion};
use crate::simplex::combine;
use splashdown_math::Vector;

/// Smallest relative tolerance. Rounding of a gap: 13 epsilon for differences, products and the length of `n`; 2 epsilon for each halving,
/// of which there are at most [`MAX_HALVINGS`]; together 1.2e-14 * 2.
const LEAST_TOLERANCE: f64 = 1e-12;
const MAX_HALVINGS: u32 = 48;
/// Evaluations of a closest pair after which the search stops and reports the time it has reached, which is always safe.
const MAX_EVALUATIONS: u32 = 4096;
/// Steps with one direction each before halving is considered.
const PATIENCE: u32 = 3;

/// Are the boxes around the two motions further apart than the separation along an axis? Exact: a difference of two numbers is rounded
/// monotonically.
#[inline]
pub(super) fn boxes_stay_apart<const D: usize, const NA: usize, const NB: usize>(
    a: &Motion<D, NA>,
    b: &Motion<D, NB>,
    separation: f64,
) -> bool {
    let separation = separation.max(0.0);
    (0..D).any(|k| {
        let (mut low_a, mut high_a) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in a.start.iter().chain(&a.end) {
            (low_a, high_a) = (low_a.min(x[k]), high_a.max(x[k]));
        }
        let (mut low_b, mut high_b) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in b.start.iter().chain(&b.end) {
            (low_b, high_b) = (low_b.min(x[k]), high_b.max(x[k]));
        }
        let apart = low_a - high_b > separation || low_b - high_a > separation;
        // `min` and `max` drop NaN, so look for it before trusting them.
        apart && a.start.iter().chain(&a.end).chain(&b.start).chain(&b.end).all(|x| !x[k].is_nan())
    })
}

/// A part of the pair of simplices that is free of contact before `time`.
#[derive(Debug, Clone, Copy)]
struct Piece<const D: usize, const NA: usize, const NB: usize> {
    a: Motion<D, NA>,
    b: Motion<D, NB>,
    time: f64,
    halvings: u32,
}

/// See [`super::first_contact`].
#[inline(never)]
pub(super) fn first_contact<const D: usize, const NA: usize, const NB: usize>(
    a: &Motion<D, NA>,
    b: &Motion<D, NB>,
    options: &CcdOptions,
) -> Option<Contact<D, NA, NB>> {
    let origin = b.start[0];
    let mut whole = Piece { a: relative_to(a, &origin), b: relative_to(b, &origin), time: 0.0, halvings: 0 };
    let corners = || whole.a.start.iter().chain(&whole.a.end).chain(&whole.b.start).chain(&whole.b.end);
    let extent = corners().map(|x| x.amax()).fold(0.0, f64::max);
    // `amax` and `max` drop NaN, a sum does not.
    if !corners().map(|x| x.sum()).sum::<f64>().is_finite() || !options.separation.is_finite() {
        return Some(Contact {
            time: 0.0,
            distance: f64::NAN,
            weights_a: [1.0 / NA as f64; NA],
            weights_b: [1.0 / NB as f64; NB],
            normal: Vector::zeros(),
        });
    }
    let scale = power_of_two_at_most_reciprocal(extent);
    for x in whole.a.start.iter_mut().chain(&mut whole.a.end) {
        *x *= scale;
    }
    for x in whole.b.start.iter_mut().chain(&mut whole.b.end) {
        *x *= scale;
    }
    let search = Search {
        separation: options.separation.max(0.0) * scale,
        tolerance: if options.tolerance > LEAST_TOLERANCE { options.tolerance } else { LEAST_TOLERANCE }
            * (extent * scale),
    };
    let time = search.earliest(&whole)?;
    Some(describe(&whole, time, scale))
}

fn relative_to<const D: usize, const N: usize>(motion: &Motion<D, N>, origin: &Vector<D>) -> Motion<D, N> {
    Motion { start: motion.start.map(|x| x - origin), end: motion.end.map(|x| x - origin) }
}

/// A power of two `s` with `x s` between 1/2 and 2, or 1 for zero.
fn power_of_two_at_most_reciprocal(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) as i64 & 0x7ff;
    if x == 0.0 {
        return 1.0;
    }
    // Subnormal numbers have exponent 0 and are scaled as far as a finite factor goes.
    f64::from_bits(((2046 - exponent).clamp(1, 2046) as u64) << 52)
}

struct Search {
    separation: f64,
    /// Absolute, in scaled coordinates.
    tolerance: f64,
}

/// What one evaluation of a piece at its time says.
enum Step {
    /// In contact at the piece's time.
    Contact,
    /// No contact until the end of the step.
    Free,
    /// No contact before `until`; the closest points by themselves would allow `horizon`.
    Advance { until: f64, horizon: f64 },
}

impl Search {
    /// Earliest time of contact, a lower bound; `None` for no contact.
    fn earliest<const D: usize, const NA: usize, const NB: usize>(
        &self,
        whole: &Piece<D, NA, NB>,
    ) -> Option<f64> {
        let mut best = f64::INFINITY;
        let mut evaluations = 0;
        // No allocation unless a piece is halved.
        let mut waiting = Vec::new();
        let mut current = Some(*whole);
        while let Some(mut piece) = current {
            let mut steps = 0;
            while piece.time < best {
                if evaluations == MAX_EVALUATIONS {
                    let reached =
                        waiting.iter().map(|p: &Piece<D, NA, NB>| p.time).fold(piece.time, f64::min);
                    return Some(best.min(reached));
                }
                evaluations += 1;
                steps += 1;
                let (until, horizon, normal) = match self.step(&piece) {
                    (Step::Free, _) => break,
                    (Step::Contact, _) => {
                        best = piece.time;
                        break;
                    }
                    (Step::Advance { until, horizon }, normal) => (until, horizon, normal),
                };
                let progress = until - piece.time;
                let poor = progress < 0.25 * (horizon - piece.time);
                let stuck = progress <= 0.0;
                if stuck || (poor && steps > PATIENCE) {
                    piece.time = piece.time.max(until);
                    if let Some([near, far]) = piece.halves(&normal, stuck) {
                        waiting.push(far);
                        piece = near;
                        steps = 0;
                        continue;
                    }
                    if stuck {
                        best = piece.time;
                        break;
                    }
                }
                piece.time = until;
            }
            current = waiting.pop();
        }
        (best <= 1.0).then_some(best)
    }

    #[inline]
    fn step<const D: usize, const NA: usize, const NB: usize>(
        &self,
        piece: &Piece<D, NA, NB>,
    ) -> (Step, Vector<D>) {
        let t = piece.time;
        let (a, b) = (piece.a.at(t), piece.b.at(t));
        let (weights_a, weights_b) = closest_weights(&a, &b);
        let gap = combine(&a, &weights_a) - combine(&b, &weights_b);
        let distance = gap.norm();
        if distance <= self.separation + self.tolerance {
            return (Step::Contact, gap);
        }
        let normal = gap / distance;
        let target = self.separation + 0.5 * self.tolerance;
        let until = piece.separated_until(&normal, target);
        if until == f64::INFINITY {
            return (Step::Free, normal);
        }
        let mean_gap = |a: &[Vector<D>; NA], b: &[Vector<D>; NB]| {
            normal.dot(&(combine(a, &weights_a) - combine(b, &weights_b)))
        };
        let horizon = safe_until(
            mean_gap(&piece.a.start, &piece.b.start),
            mean_gap(&piece.a.end, &piece.b.end),
            t,
            target,
        )
        .min(1.0);
        if until - t >= 0.75 * (horizon - t) {
            return (Step::Advance { until, horizon }, normal);
        }
        // Simplices that turn: the direction at the time when the closest points would meet separates for longer, up to the contact itself
        // when all corners approach along it.
        let ahead = piece.direction_at(horizon, &normal);
        match piece.separated_until(&ahead, target) {
            f64::INFINITY => (Step::Free, ahead),
            later => (Step::Advance { until: until.max(later), horizon }, normal),
        }
    }
}

/// Until when, from `t` on, does a gap that goes linearly from `start` (time 0) to `end` (time 1) stay at or above `target`? Infinity when
/// it does to the end of the step, `t` when it is below already.
#[inline]
fn safe_until(start: f64, end: f64, t: f64, target: f64) -> f64 {
    let now = start + (end - start) * t;
    if !(now >= target) {
        t
    } else if end >= target {
        f64::INFINITY
    } else {
        (t + (now - target) / (start - end)).min(1.0)
    }
}

impl<const D: usize, const NA: usize, const NB: usize> Piece<D, NA, NB> {
    /// Until when, from the piece's time on, do all corners of `a` stay above all corners of `b` along `direction` by `target`?
    #[inline]
    fn separated_until(&self, direction: &Vector<D>, target: f64) -> f64 {
        let along = |x: &Vector<D>| direction.dot(x);
        let (a_start, a_end) = (self.a.start.each_ref().map(along), self.a.end.each_ref().map(along));
        let (b_start, b_end) = (self.b.start.each_ref().map(along), self.b.end.each_ref().map(along));
        let mut until = f64::INFINITY;
        for i in 0..NA {
            for j in 0..NB {
                until =
                    until.min(safe_until(a_start[i] - b_start[j], a_end[i] - b_end[j], self.time, target));
            }
        }
        until
    }

    /// Unit direction from `b` to `a` at a later time, on the side of `like`.
    fn direction_at(&self, time: f64, like: &Vector<D>) -> Vector<D> {
        let (a, b) = (self.a.at(time), self.b.at(time));
        let (weights_a, weights_b) = closest_weights(&a, &b);
        let gap = combine(&a, &weights_a) - combine(&b, &weights_b);
        let distance = gap.norm();
        // So near each other the difference is mostly along the surface of a flat pair; its normal is well defined.
        let direction =
            if distance > 1e-5 { gap / distance } else { touching_normal(&a, &b).unwrap_or(*like) };
        if direction.dot(like) < 0.0 { -direction } else { direction }
    }

    /// Cuts the edge whose ends differ most in speed along `normal`, or the longest one, and returns first the half that is nearer now.
    fn halves(&self, normal: &Vector<D>, longest: bool) -> Option<[Self; 2]> {
        if self.halvings == MAX_HALVINGS {
            return None;
        }
        let mut best = (0.0, 0, 0, 0);
        let mut consider = |simplex: usize, i: usize, j: usize, start: Vector<D>, end: Vector<D>| {
            let size = if longest {
                start.norm_squared().max(end.norm_squared())
            } else {
                normal.dot(&(end - start)).abs()
            };
            if size > best.0 {
                best = (size, simplex, i, j);
            }
        };
        for i in 1..NA {
            for j in 0..i {
                consider(0, i, j, self.a.start[i] - self.a.start[j], self.a.end[i] - self.a.end[j]);
            }
        }
        for i in 1..NB {
            for j in 0..i {
                consider(1, i, j, self.b.start[i] - self.b.start[j], self.b.end[i] - self.b.end[j]);
            }
        }
        let (size, simplex, i, j) = best;
        if size == 0.0 {
            return None;
        }
        let mut halves = [*self; 2];
        for (half, replaced) in halves.iter_mut().zip([i, j]) {
            half.halvings += 1;
            if simplex == 0 {
                half.a.start[replaced] = (self.a.start[i] + self.a.start[j]) * 0.5;
                half.a.end[replaced] = (self.a.end[i] + self.a.end[j]) * 0.5;
            } else {
                half.b.start[replaced] = (self.b.start[i] + self.b.start[j]) * 0.5;
                half.b.end[replaced] = (self.b.end[i] + self.b.end[j]) * 0.5;
            }
        }
        let distance = |half: &Self| {
            let (a, b) = (half.a.at(half.time), half.b.at(half.time));
            let (weights_a, weights_b) = closest_weights(&a, &b);
            (combine(&a, &weights_a) - combine(&b, &weights_b)).norm_squared()
        };
        if distance(&halves[1]) < distance(&halves[0]) {
            halves.swap(0, 1);
        }
        Some(halves)
    }
}

/// Contact points and normal of the whole simplices at the time of contact.
fn describe<const D: usize, const NA: usize, const NB: usize>(
    whole: &Piece<D, NA, NB>,
    time: f64,
    scale: f64,
) -> Contact<D, NA, NB> {
    let (a, b) = (whole.a.at(time), whole.b.at(time));
    let (weights_a, weights_b) = closest_weights(&a, &b);
    let gap = combine(&a, &weights_a) - combine(&b, &weights_b);
    let distance = gap.norm();
    let normal = if distance > 64.0 * f64::EPSILON {
        gap / distance
    } else {
        // They touch: the normal of the feature, on the side from which the first simplex comes.
        let approach = (combine(&whole.a.end, &weights_a) - combine(&whole.a.start, &weights_a))
            - (combine(&whole.b.end, &weights_b) - combine(&whole.b.start, &weights_b));
        match touching_normal(&a, &b) {
            Some(normal) if normal.dot(&approach) > 0.0 => -normal,
            Some(normal) => normal,
            None => approach.try_normalize(0.0).map_or_else(Vector::zeros, |direction| -direction),
        }
    };
    Contact { time, distance: distance / scale, weights_a, weights_b, normal }
}
