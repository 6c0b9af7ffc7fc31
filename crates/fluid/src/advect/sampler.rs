//! Multi-linear interpolation for the inner loops of advection: the same values as `Field::sample` with ghosts, with less to decide per call.
//!
//! Points are given in cells from the lower corner of the grid, so that the samplers of all fields of a grid share them.

use splashdown_geometry::grid::{Field, Grid};
use splashdown_math::Vector;

/// Interpolates one field; reads ghosts, and clamps to them.
#[derive(Clone, Copy)]
pub(crate) struct Sampler<'a, const D: usize> {
    values: &'a [f64],
    /// Local coordinate of the grid's lower corner, counted from the first stored sample.
    shift: [f64; D],
    /// Largest local coordinate.
    last: [f64; D],
    strides: [usize; D],
    /// From the lowest of the corners around a point to the highest.
    top: usize,
    origin: [f64; D],
    inverse: [f64; D],
}

/// The corners around a point: place of the lowest one and the fractions towards the upper ones.
#[derive(Clone, Copy)]
pub(crate) struct Corners<const D: usize> {
    pub place: usize,
    fraction: [f64; D],
}

/// A point in cells from the lower corner of `grid`.
#[inline(always)]
pub(crate) fn in_cells<const D: usize>(grid: &Grid<D>, x: &Vector<D>) -> Vector<D> {
    (x - grid.origin()).component_div(&grid.spacing())
}

impl<'a, const D: usize> Sampler<'a, D> {
    pub fn new(field: &'a Field<D>) -> Self {
        let lattice = field.lattice();
        let ghost = lattice.ghost() as f64;
        let offset = |a: usize| if lattice.location().on_planes(a) { 0.0 } else { 0.5 };
        Self {
            values: field.values(),
            shift: std::array::from_fn(|a| ghost - offset(a)),
            last: std::array::from_fn(|a| lattice.counts()[a] as f64 - 1.0 + 2.0 * ghost),
            strides: lattice.strides(),
            top: lattice.strides().iter().sum(),
            origin: std::array::from_fn(|a| field.grid().origin()[a]),
            inverse: std::array::from_fn(|a| 1.0 / lattice.spacing()[a]),
        }
    }

    /// The corners around a point given in cells, which is moved to the nearest one that the samples and ghosts span.
    #[inline(always)]
    pub fn corners(&self, at: &Vector<D>) -> Corners<D> {
        let mut place = 0;
        let mut fraction = [0.0; D];
        for a in 0..D {
            // `clamp` keeps what is not a number, so that it stays visible in the fraction.
            let s = (at[a] + self.shift[a]).clamp(0.0, self.last[a]);
            let cell = truncated(s).min(self.last[a] as usize - 1);
            fraction[a] = s - cell as f64;
            place += cell * self.strides[a];
        }
        Corners { place, fraction }
    }

    /// The value at a point (m).
    #[inline(always)]
    pub fn value(&self, x: &Vector<D>) -> f64 {
        let mut at = Vector::zeros();
        for a in 0..D {
            at[a] = (x[a] - self.origin[a]) * self.inverse[a];
        }
        self.value_at(&at)
    }

    /// The value at a point given in cells.
    #[inline(always)]
    pub fn value_at(&self, at: &Vector<D>) -> f64 {
        self.blend(&self.corners(at))
    }

    #[inline(always)]
    pub fn blend(&self, corners: &Corners<D>) -> f64 {
        let (p, f) = (corners.place, &corners.fraction);
        let v = self.block(p);
        let row = |p: usize| {
            let low = v.at(p);
            low + f[0] * (v.at(p + 1) - low)
        };
        let plane = |p: usize| {
            let (low, high) = (row(p), row(p + self.strides[1]));
            low + f[1] * (high - low)
        };
        if D == 2 {
            return plane(0);
        }
        let (low, high) = (plane(0), plane(self.strides[D - 1]));
        low + f[D - 1] * (high - low)
    }

    /// Smallest and largest value at the corners above `place`.
    #[inline(always)]
    pub fn range(&self, place: usize) -> [f64; 2] {
        let v = self.block(place);
        let first = v.at(0);
        let (mut low, mut high) = (first, first);
        for k in 1..1usize << D {
            let mut step = 0;
            for a in 0..D {
                step += (k >> a & 1) * self.strides[a];
            }
            let value = v.at(step);
            // Written as comparisons, which are one instruction each.
            low = if value < low { value } else { low };
            high = if value > high { value } else { high };
        }
        [low, high]
    }

    /// The corners above `place`, looked at without further checks.
    #[inline(always)]
    fn block(&self, place: usize) -> Block<'a> {
        Block(&self.values[place..place + self.top + 1])
    }
}

/// The stored samples from the lowest to the highest corner around a point.
#[derive(Clone, Copy)]
struct Block<'a>(&'a [f64]);

impl Block<'_> {
    #[inline(always)]
    fn at(&self, step: usize) -> f64 {
        debug_assert!(step < self.0.len());
        // SAFETY: only `Sampler` makes blocks, of `top + 1` samples, where `top` is the sum of all strides; every `step` it asks for is the sum
        // of some of the strides.
        unsafe { *self.0.get_unchecked(step) }
    }
}

/// The integer part of a number from 0 to 2^31; 0 of what is none.
#[inline(always)]
fn truncated(s: f64) -> usize {
    let s = if s > 0.0 { s } else { 0.0 };
    let s = if s < 2147483647.0 { s } else { 2147483647.0 };
    // SAFETY: not NaN (a comparison with one is false) and between 0 and 2^31 - 1. The plain cast checks for both again.
    unsafe { s.to_int_unchecked::<i32>() as usize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_geometry::grid::{Grid, Interpolation, Location, Reach};

    fn agrees<const D: usize>() {
        let grid =
            Grid::<D>::new(Vector::repeat(-0.3), Vector::from_fn(|a, _| 0.1 + 0.05 * a as f64), [6; D])
                .unwrap();
        for location in [Location::Cell, Location::Face(1)] {
            let field = Field::from_fn(&grid, location, |x| (7.0 * x[0]).sin() + x[1] * x[D - 1]);
            let sampler = Sampler::new(&field);
            for k in 0..500 {
                let x = Vector::from_fn(|a, _| -1.2 + 3.0 * (0.618 * k as f64 + 0.37 * a as f64).fract());
                let expected = field.sample(&x, Interpolation::Linear, Reach::Ghost);
                assert!((sampler.value(&x) - expected).abs() < 1e-13, "{x:?}");
                let [low, high] = sampler.range(sampler.corners(&in_cells(&grid, &x)).place);
                assert!(low - 1e-13 <= expected && expected <= high + 1e-13);
            }
            assert!(sampler.value(&Vector::repeat(f64::NAN)).is_nan());
            assert!(sampler.value(&Vector::repeat(f64::INFINITY)).is_finite());
            assert!(sampler.value(&Vector::repeat(-1e300)).is_finite());
        }
    }

    #[test]
    fn it_agrees_with_the_general_interpolation() {
        agrees::<2>();
        agrees::<3>();
    }
}
