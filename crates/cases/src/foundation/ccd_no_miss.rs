//! Continuous collision detection never misses a contact.
//!
//! Point against triangle, edge against edge (3D) and point against segment (2D), every corner on a straight line. The truth is known by
//! construction:
//!
//! * **Contacts.** A time, barycentric weights and velocities are drawn as short binary fractions, the corners are placed so that the two
//!   weighted points coincide at that time, and start and end follow without rounding. The contact must be found, not after that time. A
//!   part of them is degenerate on purpose: all corners in one plane, parallel edges, collapsed triangles and edges, no motion, contact at
//!   the very start or end, sizes from 2^-300 to 2^300, far from the origin.
//! * **Misses.** Random motions for which two directions separate the corners by more than 1e-6 of their extent, one up to some time, the
//!   other from then on. Gaps along a fixed direction are linear in time, so this is a proof. Nothing may be found.
//!
//! And whatever is reported must be a contact within the tolerance (1e-9 of the extent) at the reported time.

use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_geometry::ccd::{CcdOptions, Motion, first_contact, proximity};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

pub(super) const CASE: Case = Case {
    name: "foundation/ccd-no-miss",
    spec: "T21",
    summary: "Point-triangle, edge-edge and point-segment CCD find every contact, also degenerate ones",
    source: "exact: contacts and misses by construction (spec/deformable-solids.md T21)",
    speed: Speed::Fast,
    seconds: 4.0,
    run,
};

const SOURCE: &str = "exact by construction";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut total = Tally::default();
    for (name, tally) in [
        ("point-triangle", tally::<3, 1, 3>(400, 1)),
        ("edge-edge", tally::<3, 2, 2>(400, 2)),
        ("point-segment 2D", tally::<2, 1, 2>(200, 3)),
    ] {
        let cases = format!("{} contacts, {} misses", tally.contacts, tally.misses);
        measurements.at_most(&format!("{name}: contacts missed"), &cases, tally.missed as f64, 0.0, SOURCE);
        measurements.at_most(
            &format!("{name}: contacts reported too late"),
            &cases,
            tally.late as f64,
            0.0,
            SOURCE,
        );
        measurements.at_most(
            &format!("{name}: false positives, share"),
            &cases,
            tally.false_positives as f64 / tally.misses as f64,
            0.0,
            SOURCE,
        );
        measurements.at_most(
            &format!("{name}: largest distance of a reported contact / extent"),
            &cases,
            tally.worst_distance,
            1.01e-9,
            "tolerance of the query",
        );
        total = total.plus(tally);
    }
    measurements.at_least("constructed contacts", "-", total.contacts as f64, 1e6, "issue 2: no miss on 1e6");
    measurements.at_least("of which degenerate", "-", total.degenerate as f64, 1e5, "issue 2");
    Ok(())
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    contacts: usize,
    degenerate: usize,
    missed: usize,
    late: usize,
    misses: usize,
    false_positives: usize,
    worst_distance: f64,
}

impl Tally {
    fn plus(self, other: Self) -> Self {
        Self {
            contacts: self.contacts + other.contacts,
            degenerate: self.degenerate + other.degenerate,
            missed: self.missed + other.missed,
            late: self.late + other.late,
            misses: self.misses + other.misses,
            false_positives: self.false_positives + other.false_positives,
            worst_distance: self.worst_distance.max(other.worst_distance),
        }
    }
}

/// Runs `chunks` times a thousand contacts and a thousand random motions.
fn tally<const D: usize, const NA: usize, const NB: usize>(chunks: u64, seed: u64) -> Tally {
    let parts: Vec<Tally> = (0..chunks)
        .into_par_iter()
        .map(|chunk| {
            let mut rng = Pcg64::seed_from_u64(seed << 32 | chunk);
            let mut tally = Tally::default();
            for _ in 0..1000 {
                known_contact::<D, NA, NB>(&mut rng, &mut tally);
                known_miss::<D, NA, NB>(&mut rng, &mut tally);
            }
            tally
        })
        .collect();
    parts.into_iter().fold(Tally::default(), Tally::plus)
}

/// A multiple of 1/16 in [-1, 1].
fn short<const D: usize>(rng: &mut Pcg64) -> Vector<D> {
    Vector::from_fn(|_, _| f64::from(rng.random_range(-16..=16)) / 16.0)
}

/// Weights that are multiples of 1/16; one in three lies on a smaller feature.
fn short_weights<const N: usize>(rng: &mut Pcg64) -> [f64; N] {
    let corners = if rng.random_bool(0.33) { rng.random_range(1..=N) } else { N };
    let first = rng.random_range(0..N);
    let mut weights = [0.0; N];
    for _ in 0..16 {
        weights[(first + rng.random_range(0..corners)) % N] += 1.0 / 16.0;
    }
    weights
}

fn known_contact<const D: usize, const NA: usize, const NB: usize>(rng: &mut Pcg64, tally: &mut Tally) {
    let kind = rng.random_range(0..20);
    let time = match kind {
        0 => 0.0,
        1 => 1.0,
        _ => f64::from(rng.random_range(0..=16)) / 16.0,
    };
    let (weights_a, weights_b) = (short_weights::<NA>(rng), short_weights::<NB>(rng));
    let mut a: [Vector<D>; NA] = std::array::from_fn(|_| short(rng));
    let mut b: [Vector<D>; NB] = std::array::from_fn(|_| short(rng));
    let mut velocity_a: [Vector<D>; NA] = std::array::from_fn(|_| short(rng));
    let mut velocity_b: [Vector<D>; NB] = std::array::from_fn(|_| short(rng));
    match kind {
        // All in one plane.
        2 => {
            for x in a.iter_mut().chain(&mut b).chain(&mut velocity_a).chain(&mut velocity_b) {
                x[D - 1] = 0.0;
            }
        }
        // Parallel edges (or a point that moves along an edge).
        3 => {
            let edge = b[NB - 1] - b[0];
            a[NA - 1] = a[0] + edge * 0.5;
            velocity_a[NA - 1] = velocity_a[0];
            velocity_b = [-velocity_a[0]; NB];
        }
        // Collapsed to a segment, then to a point.
        4 => b[NB - 1] = (b[0] + b[1]) * 0.5,
        5 => b = [b[0]; NB],
        // No motion, of one or of both.
        6 => velocity_a = [Vector::zeros(); NA],
        7 => {
            velocity_a = [Vector::zeros(); NA];
            velocity_b = [Vector::zeros(); NB];
        }
        // Slides along without a normal velocity: grazing over the whole step.
        8 => {
            velocity_a = [b[1] - b[0]; NA];
            velocity_b = [Vector::zeros(); NB];
        }
        _ => {}
    }
    let weighted = |x: &[Vector<D>], w: &[f64]| x.iter().zip(w).map(|(x, &w)| x * w).sum::<Vector<D>>();
    let shift = weighted(&b, &weights_b) - weighted(&a, &weights_a);
    a.iter_mut().for_each(|x| *x += shift);
    let (scale, offset) = match kind {
        9 => (2f64.powi(rng.random_range(-300..300)), 0.0),
        10 => (1.0, 2f64.powi(rng.random_range(0..20))),
        _ => (1.0, 0.0),
    };
    let place = |x: Vector<D>| x.add_scalar(offset) * scale;
    let a: Motion<D, NA> = Motion {
        start: std::array::from_fn(|i| place(a[i] - velocity_a[i] * time)),
        end: std::array::from_fn(|i| place(a[i] + velocity_a[i] * (1.0 - time))),
    };
    let b: Motion<D, NB> = Motion {
        start: std::array::from_fn(|i| place(b[i] - velocity_b[i] * time)),
        end: std::array::from_fn(|i| place(b[i] + velocity_b[i] * (1.0 - time))),
    };
    tally.contacts += 1;
    tally.degenerate += usize::from(kind <= 10);
    match first_contact(&a, &b, &CcdOptions::default()) {
        None => tally.missed += 1,
        Some(contact) => {
            tally.late += usize::from(contact.time > time);
            tally.worst_distance =
                tally.worst_distance.max(distance_at(&a, &b, contact.time) / extent(&a, &b));
        }
    }
}

/// Random motion; counts only if a proof of separation exists.
fn known_miss<const D: usize, const NA: usize, const NB: usize>(rng: &mut Pcg64, tally: &mut Tally) {
    let speed = if rng.random_bool(0.5) { 0.3 } else { 2.0 };
    let mut random = |scale: f64| Vector::<D>::from_fn(|_, _| rng.random_range(-scale..scale));
    let center = random(0.6);
    let a: [Vector<D>; NA] = std::array::from_fn(|_| center + random(0.5));
    let b: [Vector<D>; NB] = std::array::from_fn(|_| random(0.5));
    let a = Motion { start: a, end: a.map(|x| x + random(speed)) };
    let b = Motion { start: b, end: b.map(|x| x + random(speed)) };
    let margin = 1e-6 * extent(&a, &b);
    let (first, second) = (proximity(&a.start, &b.start).normal, proximity(&a.end, &b.end).normal);
    // The first direction separates from 0 on until `until`, the second from `from` on to 1.
    let until = separated_until(&a, &b, &first, margin);
    let reversed = (Motion { start: a.end, end: a.start }, Motion { start: b.end, end: b.start });
    let from = 1.0 - separated_until(&reversed.0, &reversed.1, &second, margin);
    if until <= from {
        return;
    }
    tally.misses += 1;
    tally.false_positives += usize::from(first_contact(&a, &b, &CcdOptions::default()).is_some());
}

/// Until when are all corners of `a` above all corners of `b` along `direction` by at least `margin`?
fn separated_until<const D: usize, const NA: usize, const NB: usize>(
    a: &Motion<D, NA>,
    b: &Motion<D, NB>,
    direction: &Vector<D>,
    margin: f64,
) -> f64 {
    let mut until = 1.0f64;
    for i in 0..NA {
        for j in 0..NB {
            let start = direction.dot(&(a.start[i] - b.start[j]));
            let end = direction.dot(&(a.end[i] - b.end[j]));
            if start < margin {
                return 0.0;
            }
            if end < margin {
                until = until.min((start - margin) / (start - end));
            }
        }
    }
    until
}

fn distance_at<const D: usize, const NA: usize, const NB: usize>(
    a: &Motion<D, NA>,
    b: &Motion<D, NB>,
    time: f64,
) -> f64 {
    // Relative to a corner, so that far from the origin the check itself does not round.
    let origin = b.start[0];
    let near = |x: &Vector<D>| x - origin;
    let a = Motion { start: a.start.each_ref().map(near), end: a.end.each_ref().map(near) };
    let b = Motion { start: b.start.each_ref().map(near), end: b.end.each_ref().map(near) };
    // In units of the extent: sizes of 2^300 overflow when squared twice.
    let unit = extent(&a, &b);
    proximity(&a.at(time).map(|x| x / unit), &b.at(time).map(|x| x / unit)).distance * unit
}

/// Largest difference of a coordinate between any corner at any time and the first corner of `b`; at least half of the extent.
fn extent<const D: usize, const NA: usize, const NB: usize>(a: &Motion<D, NA>, b: &Motion<D, NB>) -> f64 {
    let corners = a.start.iter().chain(&a.end).chain(&b.start).chain(&b.end);
    let extent = corners.map(|x| (x - b.start[0]).amax()).fold(0.0, f64::max);
    if extent == 0.0 { 1.0 } else { extent }
}
