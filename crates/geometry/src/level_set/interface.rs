//! Distances of the samples next to the zero set.

use super::{FastMarching, InterfaceDistance};
use crate::grid::{Field, Index, Interpolation, Lattice, Reach};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// Newton steps to the closest point of a cubic interpolant.
const MAX_STEPS: usize = 20;
/// Step, in units of the smallest spacing, at which the closest point is found.
const TOLERANCE: f64 = 1e-10;
/// Last step that is good enough when the search ends without reaching the tolerance. The gradient of the interpolant jumps a little between
/// cells, so that a foot near such a place is approached from both sides for ever; the distance errs by the square of the step.
const GOOD_ENOUGH: f64 = 1e-3;

/// Place in the array and distance (m) of every sample next to the zero set, in the order of the array.
pub(super) fn distances<const D: usize>(
    phi: &Field<D>,
    options: &FastMarching,
    open: &(impl Fn(Index<D>, usize) -> bool + Send + Sync),
) -> Vec<(u32, f64)> {
    let lattice = phi.lattice();
    let slabs: Vec<Vec<(u32, f64)>> = (0..lattice.slabs())
        .into_par_iter()
        .map(|slab| {
            let mut found = Vec::new();
            lattice.rows_of_slab(slab as isize, |first| {
                let mut index = first;
                for i in 0..lattice.counts()[0] as isize {
                    index[0] = i;
                    if let Some(distance) = distance(phi, lattice, index, options, open) {
                        found.push((lattice.offset(index) as u32, distance));
                    }
                }
            });
            found
        })
        .collect();
    slabs.concat()
}

#[inline]
fn distance<const D: usize>(
    phi: &Field<D>,
    lattice: &Lattice<D>,
    index: Index<D>,
    options: &FastMarching,
    open: &impl Fn(Index<D>, usize) -> bool,
) -> Option<f64> {
    let rule = options.interface;
    let place = lattice.offset(index) as isize;
    let here = phi.values()[place as usize];
    let inside = here <= 0.0;
    // Sum of inverse squares of the crossing distances on the axes (spec fluid-base 3.9 a).
    let mut inverse_squares = 0.0;
    let mut second_layer = false;
    for axis in 0..D {
        let (stride, count) = (lattice.strides()[axis] as isize, lattice.counts()[axis] as isize);
        let mut nearest = f64::INFINITY;
        for direction in [-1, 1] {
            let to = index[axis] + direction;
            if to < 0 || to >= count {
                continue;
            }
            let there = phi.values()[(place + direction * stride) as usize];
            if (there <= 0.0) != inside {
                let mut upper = index;
                upper[axis] = to.max(index[axis]);
                if open(upper, axis) {
                    nearest = nearest.min(here / (here - there));
                }
            } else if rule == InterfaceDistance::Cubic && !second_layer {
                let beyond = to + direction;
                second_layer = beyond >= 0
                    && beyond < count
                    && (phi.values()[(place + 2 * direction * stride) as usize] <= 0.0) != inside;
            }
        }
        if nearest < f64::INFINITY {
            inverse_squares += (nearest * lattice.spacing()[axis]).powi(-2);
        }
    }
    let linear =
        (inverse_squares > 0.0).then(|| if here == 0.0 { 0.0 } else { inverse_squares.sqrt().recip() });
    if linear.is_none() && !second_layer {
        return None;
    }
    if options.keep_within > 0.0 && (slope(phi, lattice, index) - 1.0).abs() < options.keep_within {
        return Some(here.abs());
    }
    if rule == InterfaceDistance::Linear {
        return linear;
    }
    closest_point(phi, &lattice.position(index), lattice.spacing().min()).or(linear)
}

/// Length of the gradient by central differences, one-sided at the end of the samples.
fn slope<const D: usize>(phi: &Field<D>, lattice: &Lattice<D>, index: Index<D>) -> f64 {
    let mut sum = 0.0;
    for axis in 0..D {
        let (mut below, mut above) = (index, index);
        below[axis] = (index[axis] - 1).max(0);
        above[axis] = (index[axis] + 1).min(lattice.counts()[axis] as isize - 1);
        let width = (above[axis] - below[axis]) as f64 * lattice.spacing()[axis];
        if width > 0.0 {
            sum += ((phi.at(above) - phi.at(below)) / width).powi(2);
        }
    }
    sum.sqrt()
}

/// Distance from `start` to the zero set of the cubic interpolant: Newton steps to the set combined with tangential steps towards the foot
/// of the perpendicular (D. L. Chopp, "Some improvements of the fast marching method", 2001).
fn closest_point<const D: usize>(phi: &Field<D>, start: &Vector<D>, spacing: f64) -> Option<f64> {
    let mut x = *start;
    let mut last_step = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let (value, gradient) = phi.sample_with_gradient(&x, Interpolation::Cubic, Reach::Interior);
        let squared = gradient.norm_squared();
        if squared == 0.0 {
            return None;
        }
        let back = start - x;
        let along = gradient.dot(&back) / squared;
        let step = back - gradient * (along + value / squared);
        x += step;
        // The foot of the second layer lies within 2 spacings on some axis of the sample; more is a different part of the surface.
        let distance = (x - start).norm();
        if distance.is_nan() || distance > 3.0 * spacing * (D as f64).sqrt() {
            return None;
        }
        last_step = step.norm();
        if last_step < TOLERANCE * spacing {
            break;
        }
    }
    // Beyond the samples the interpolant is only continued, so a foot there means nothing.
    let found = last_step < GOOD_ENOUGH * spacing && phi.lattice().hull().contains(&x);
    found.then(|| (x - start).norm())
}
