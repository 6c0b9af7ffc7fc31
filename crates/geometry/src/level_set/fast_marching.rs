//! Fast marching: signed distance from the zero crossings of any field, and the extension of values along normals.
//!
//! Spec fluid-base 3.9 and 3.11. Solves |grad phi| = 1 outwards from the interface in the order of distance (J. A. Sethian, "A fast
//! marching level set method for monotonically advancing fronts", 1996), inside and outside separately, by first- or second-order upwind
//! differences. Written by hand because it must respect blocked links, unequal spacing and reproducible ties.

use super::{LevelSetError, interface};
use crate::grid::{Field, Index, Lattice, Value};
use serde::{Deserialize, Serialize};
use splashdown_parallel::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Order of the upwind differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarchingOrder {
    /// One upwind neighbour on each axis: error O(h).
    First,
    /// Two upwind neighbours where they are known: error O(h^2) away from kinks.
    #[default]
    Second,
}

/// How the distances next to the interface are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterfaceDistance {
    /// Distance to the plane through the linear zero crossings on the axes: robust, also with blocked links, but O(h) where the surface is
    /// oblique and crosses one axis only, so the whole is first order (spec fluid-base 3.9 a).
    Linear,
    /// Closest point on the zero set of the cubic interpolant, for two layers of samples; moves the zero set by O(h^4) only. Falls back to
    /// the linear rule where Newton's method does not converge (kinks, features below the spacing).
    #[default]
    Cubic,
}

/// Options of [`redistance`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FastMarching {
    /// Order of the upwind differences.
    pub order: MarchingOrder,
    /// Treatment of the samples next to the interface.
    pub interface: InterfaceDistance,
    /// Samples next to the interface keep their value, bit for bit, where `| |grad phi| - 1 |` is below this: then repeated calls do not move
    /// the surface at all (spec surface-tension 3.17 asks for 0.1). 0 recomputes all of them.
    pub keep_within: f64,
    /// Distances (m) are computed up to this; samples beyond get plus or minus this value. Infinite: everywhere.
    pub band: f64,
}

impl Default for FastMarching {
    fn default() -> Self {
        Self {
            order: MarchingOrder::Second,
            interface: InterfaceDistance::Cubic,
            keep_within: 0.0,
            band: f64::INFINITY,
        }
    }
}

/// What [`redistance`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marched {
    /// Samples whose distance came from the interface itself.
    pub interface: usize,
    /// Samples reached by marching.
    pub marched: usize,
    /// Samples not reached: beyond the band, or shut off by blocked links. Their sign and, with an infinite band, value are unchanged.
    pub beyond: usize,
}

/// Replaces `phi` by the signed distance (m) to its zero set. No sample ever changes side (inside is `phi <= 0`), and the result does not
/// depend on the number of threads. Ghosts are filled by constant extrapolation.
///
/// A field without a sign change has no distance; its samples then keep their values (cut off at the band).
#[inline(never)]
pub fn redistance<const D: usize>(
    phi: &mut Field<D>,
    options: &FastMarching,
) -> Result<Marched, LevelSetError> {
    super::require_finite(phi)?;
    let start = interface::distances(phi, options, &|_, _| true);
    march(phi, &start, options, &|_, _| true)
}

/// [`redistance`] where `open(index, axis)` tells whether sample `index` and its lower neighbour on `axis` see each other (spec fluid-base
/// 3.9: neighbours across an occluded face are not neighbours). Always uses [`InterfaceDistance::Linear`], because an interpolant would look
/// through what blocks the links.
#[inline(never)]
pub fn redistance_linked<const D: usize>(
    phi: &mut Field<D>,
    options: &FastMarching,
    open: impl Fn(Index<D>, usize) -> bool + Send + Sync,
) -> Result<Marched, LevelSetError> {
    super::require_finite(phi)?;
    let linear = FastMarching { interface: InterfaceDistance::Linear, ..*options };
    let start = interface::distances(phi, &linear, &open);
    march(phi, &start, &linear, &open)
}

/// Signed distance where some samples are known already (`known`, signed): they stay as they are, the others are computed from them with
/// the signs of `phi`.
#[inline(never)]
pub fn extend_distance<const D: usize>(
    phi: &mut Field<D>,
    known: &Field<D, bool>,
    options: &FastMarching,
) -> Result<Marched, LevelSetError> {
    super::require_finite(phi)?;
    let start: Vec<(u32, f64)> = known
        .lattice()
        .indices()
        .filter(|&index| known.at(index))
        .map(|index| (phi.lattice().offset(index) as u32, phi.at(index).abs()))
        .collect();
    march(phi, &start, options, &|_, _| true)
}

/// State of a sample while one side is marched.
mod state {
    /// Ghost or a sample of the other side: never entered.
    pub const SHUT: u8 = 0;
    /// Not reached.
    pub const FAR: u8 = 1;
    /// Final.
    pub const KNOWN: u8 = 2;
    /// On the other side, with a known (negative) distance: second upwind neighbour only.
    pub const BEHIND: u8 = 3;
}

fn march<const D: usize>(
    phi: &mut Field<D>,
    start: &[(u32, f64)],
    options: &FastMarching,
    open: &(impl Fn(Index<D>, usize) -> bool + Send + Sync),
) -> Result<Marched, LevelSetError> {
    if options.band.is_nan() || options.band <= 0.0 {
        return Err(LevelSetError::Band(options.band));
    }
    // Two layers around the samples spare all range checks.
    let padded = phi.grid().lattice(phi.lattice().location(), 2);
    let lattice = *phi.lattice();
    let (inside, outside) = rayon::join(
        || Side::new(phi, &padded, start, true).run(options, open),
        || Side::new(phi, &padded, start, false).run(options, open),
    );
    let band = options.band;
    phi.update(|index, old| {
        let place = padded.offset(index);
        let side = if old <= 0.0 { &inside } else { &outside };
        let sign = if old <= 0.0 { -1.0 } else { 1.0 };
        match side.state[place] {
            // Outside stays strictly positive, so that nothing changes side.
            state::KNOWN => {
                sign * side.distance[place].max(if old > 0.0 { f64::MIN_POSITIVE } else { 0.0 }).min(band)
            }
            _ if band.is_finite() => sign * band,
            _ => old,
        }
    });
    phi.extrapolate_ghosts();
    let marched = inside.marched + outside.marched;
    Ok(Marched { interface: start.len(), marched, beyond: lattice.count() - start.len() - marched })
}

/// The samples on one side of the interface, with their distances.
struct Side<const D: usize> {
    lattice: Lattice<D>,
    distance: Vec<f64>,
    state: Vec<u8>,
    heap: BinaryHeap<Reverse<Trial>>,
    marched: usize,
}

/// Heap entry: ordered by distance (bits of a non-negative float sort like the float), ties by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Trial {
    distance: u64,
    place: u32,
}

impl<const D: usize> Side<D> {
    fn new(phi: &Field<D>, padded: &Lattice<D>, start: &[(u32, f64)], inside: bool) -> Self {
        let mut side = Self {
            lattice: *padded,
            distance: vec![f64::INFINITY; padded.len()],
            state: vec![state::SHUT; padded.len()],
            heap: BinaryHeap::new(),
            marched: 0,
        };
        let lattice = phi.lattice();
        let row = lattice.counts()[0];
        for slab in 0..lattice.slabs() {
            lattice.rows_of_slab(slab as isize, |first| {
                let (from, to) = (lattice.offset(first), padded.offset(first));
                let states = &mut side.state[to..to + row];
                for (state, value) in states.iter_mut().zip(&phi.values()[from..from + row]) {
                    *state = if (*value <= 0.0) == inside { state::FAR } else { state::SHUT };
                }
            });
        }
        for &(offset, distance) in start {
            let place = padded.offset(lattice.index(offset as usize));
            if side.state[place] == state::FAR {
                side.distance[place] = distance;
                side.state[place] = state::KNOWN;
            } else {
                side.distance[place] = -distance;
                side.state[place] = state::BEHIND;
            }
        }
        side
    }

    fn run(mut self, options: &FastMarching, open: &impl Fn(Index<D>, usize) -> bool) -> Self {
        let sources: Vec<u32> =
            (0..self.state.len() as u32).filter(|&p| self.state[p as usize] == state::KNOWN).collect();
        for place in sources {
            self.update_neighbours(place as usize, options.order, open);
        }
        while let Some(Reverse(trial)) = self.heap.pop() {
            let place = trial.place as usize;
            // An entry that was overtaken by a later one.
            if self.state[place] == state::KNOWN || self.distance[place].to_bits() != trial.distance {
                continue;
            }
            if self.distance[place] > options.band {
                break;
            }
            self.state[place] = state::KNOWN;
            self.marched += 1;
            self.update_neighbours(place, options.order, open);
        }
        self
    }

    #[inline]
    fn update_neighbours(
        &mut self,
        place: usize,
        order: MarchingOrder,
        open: &impl Fn(Index<D>, usize) -> bool,
    ) {
        for axis in 0..D {
            let stride = self.lattice.strides()[axis];
            for (neighbour, upper) in [(place - stride, place), (place + stride, place + stride)] {
                if self.state[neighbour] != state::FAR || !open(self.lattice.index(upper), axis) {
                    continue;
                }
                let distance = self.solve(neighbour, order, open);
                if distance != self.distance[neighbour] {
                    self.distance[neighbour] = distance;
                    self.heap.push(Reverse(Trial { distance: distance.to_bits(), place: neighbour as u32 }));
                }
            }
        }
    }

    /// Distance of a sample from its known neighbours.
    #[inline]
    fn solve(&self, place: usize, order: MarchingOrder, open: &impl Fn(Index<D>, usize) -> bool) -> f64 {
        // Smallest known neighbour on each axis and the one behind it.
        let mut upwind = [Upwind { first: f64::INFINITY, second: f64::INFINITY, spacing: 1.0 }; D];
        for axis in 0..D {
            let stride = self.lattice.strides()[axis];
            let spacing = self.lattice.spacing()[axis];
            let mut best = Upwind { first: f64::INFINITY, second: f64::INFINITY, spacing };
            let sides = [
                (place - stride, place.wrapping_sub(2 * stride), place, place - stride),
                (place + stride, place + 2 * stride, place + stride, place + 2 * stride),
            ];
            for (near, far, near_link, far_link) in sides {
                if self.state[near] != state::KNOWN || self.distance[near] >= best.first {
                    continue;
                }
                if !open(self.lattice.index(near_link), axis) {
                    continue;
                }
                best.first = self.distance[near];
                best.second = f64::INFINITY;
                if order == MarchingOrder::Second
                    && self.state[far] >= state::KNOWN
                    && self.distance[far] <= best.first
                    && open(self.lattice.index(far_link), axis)
                {
                    best.second = self.distance[far];
                }
            }
            upwind[axis] = best;
        }
        if D > 1 && upwind[1].first < upwind[0].first {
            upwind.swap(0, 1);
        }
        if D > 2 {
            if upwind[2].first < upwind[1].first {
                upwind.swap(1, 2);
            }
            if upwind[1].first < upwind[0].first {
                upwind.swap(0, 1);
            }
        }
        if order == MarchingOrder::Second
            && upwind.iter().any(|u| u.second < f64::INFINITY)
            && let Some(distance) = solve_quadratic(&upwind, true)
        {
            return distance;
        }
        solve_quadratic(&upwind, false).unwrap_or(f64::INFINITY)
    }
}

/// Known values behind a sample on one axis.
#[derive(Debug, Clone, Copy)]
struct Upwind {
    first: f64,
    second: f64,
    spacing: f64,
}

/// Solves `sum_a ((u - m_a) / h_a)^2 = 1` with the axes in ascending order of `m_a`, adding one axis after the other while it lies below the
/// solution so far. `second`: one-sided second-order differences where two neighbours are known.
#[inline]
fn solve_quadratic<const D: usize>(upwind: &[Upwind; D], second: bool) -> Option<f64> {
    let base = upwind[0].first;
    let (mut a, mut b, mut c) = (0.0, 0.0, -1.0);
    let mut solution = f64::INFINITY;
    for axis in upwind {
        if axis.first >= solution || axis.first == f64::INFINITY {
            break;
        }
        // (3 u - 4 m + n) / 2h is (3 / 2h) (u - (4 m - n) / 3). Values relative to the smallest, against cancellation.
        let two = second && axis.second < f64::INFINITY;
        let (weight, value) = if two {
            (1.5 / axis.spacing, (4.0 * (axis.first - base) - (axis.second - base)) / 3.0)
        } else {
            (1.0 / axis.spacing, axis.first - base)
        };
        let w = weight * weight;
        a += w;
        b += w * value;
        c += w * value * value;
        let discriminant = b * b - a * c;
        let next = base + (b + discriminant.sqrt()) / a;
        // The front only moves outwards. Second-order differences may fail to (at kinks); first-order ones only by rounding, where this
        // axis changes nothing. NaN comes from a negative discriminant.
        if next.is_nan() || next < axis.first {
            if second {
                return None;
            }
            break;
        }
        solution = next;
    }
    (solution < f64::INFINITY).then_some(solution)
}

/// Continues `values` from the samples where `known` holds to the others with `phi < band` (m), constant along the normals of `phi`
/// (spec fluid-base 3.11): in the order of `phi`, each sample gets the mean of its known neighbours, weighted by
/// `(phi - phi_neighbour) / h^2` over those with smaller `phi`. A neighbour across a link that is not `open(index, axis)` does not count.
///
/// `phi` must be sampled at the same points. `known` is updated; what stays false was shut off or lies beyond the band. Returns how many
/// samples got a value.
pub fn extend_along_normals<const D: usize, T: Value>(
    values: &mut Field<D, T>,
    known: &mut Field<D, bool>,
    phi: &Field<D>,
    band: f64,
    open: impl Fn(Index<D>, usize) -> bool + Send + Sync,
) -> Result<usize, LevelSetError> {
    super::require_finite(phi)?;
    let lattice = *phi.lattice();
    if values.lattice().counts() != lattice.counts() || known.lattice().counts() != lattice.counts() {
        return Err(LevelSetError::DifferentSamples);
    }
    let inverse_square = lattice.spacing().map(|h| 1.0 / (h * h));
    // phi may be negative, so shift the float's bits into their order.
    let key = |value: f64| {
        let bits = value.to_bits();
        if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
    };
    let mut heap = BinaryHeap::new();
    let mut queued = known.clone();
    let neighbours = move |index: Index<D>| {
        (0..2 * D).filter_map(move |k| {
            let axis = k / 2;
            let mut to = index;
            to[axis] += if k % 2 == 0 { -1 } else { 1 };
            let upper = if k % 2 == 0 { index } else { to };
            lattice.contains(to).then_some((to, upper, axis))
        })
    };
    let enqueue = |index: Index<D>, heap: &mut BinaryHeap<_>, queued: &mut Field<D, bool>| {
        for (to, upper, axis) in neighbours(index) {
            if !queued.at(to) && phi.at(to) < band && open(upper, axis) {
                queued.set(to, true);
                heap.push(Reverse(Trial { distance: key(phi.at(to)), place: lattice.offset(to) as u32 }));
            }
        }
    };
    for index in lattice.indices().filter(|&index| known.at(index)) {
        enqueue(index, &mut heap, &mut queued);
    }
    let mut reached = 0;
    while let Some(Reverse(trial)) = heap.pop() {
        let index = lattice.index(trial.place as usize);
        let here = phi.at(index);
        let (mut weights, mut sum) = (0.0, None);
        // Where no known neighbour lies upwind (a local minimum of phi) all of them count alike.
        for upwind_only in [true, false] {
            for (to, upper, axis) in neighbours(index) {
                if !known.at(to) || !open(upper, axis) {
                    continue;
                }
                let drop = here - phi.at(to);
                let weight = match upwind_only {
                    true if drop <= 0.0 => continue,
                    true => drop * inverse_square[axis],
                    false => inverse_square[axis],
                };
                let part = values.at(to) * weight;
                sum = Some(sum.map_or(part, |sum| sum + part));
                weights += weight;
            }
            if sum.is_some() {
                break;
            }
        }
        if let Some(sum) = sum {
            values.set(index, sum * (1.0 / weights));
            known.set(index, true);
            reached += 1;
            enqueue(index, &mut heap, &mut queued);
        }
    }
    Ok(reached)
}

/// Are all samples proper finite? In parallel, so that the check costs little.
pub(super) fn all_finite<const D: usize>(phi: &Field<D>) -> bool {
    phi.values().par_iter().with_min_len(1 << 14).all(|v| v.is_finite()) || phi.first_not_finite().is_none()
}
