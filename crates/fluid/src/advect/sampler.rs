//! Multi-linear interpolation for the inner loops of advection: the same values as `Field::sample` with ghosts, with less to decide per call.

use splashdown_geometry::grid::{FaceFields, Field};
use splashdown_math::Vector;

/// One field made ready to be read at many points.
#[derive(Clone, Copy)]
pub(crate) struct Sampler<'a, const D: usize> {
    values: &'a [f64],
    /// Position of the first stored sample (m).
    first: [f64; D],
    inverse: [f64; D],
    /// Largest local coordinate.
    last: [f64; D],
    strides: [usize; D],
}

/// The corners around a point: place of the lowest one and the fractions towards the upper ones.
#[derive(Clone, Copy)]
pub(crate) struct Corners<const D: usize> {
    pub place: usize,
    pub fraction: [f64; D],
}

impl<'a, const D: usize> Sampler<'a, D> {
    pub fn new(field: &'a Field<D>) -> Self {
        let lattice = field.lattice();
        let (h, ghost) = (lattice.spacing(), lattice.ghost() as f64);
        Self {
            values: field.values(),
            first: std::array::from_fn(|a| lattice.origin()[a] - ghost * h[a]),
            inverse: std::array::from_fn(|a| 1.0 / h[a]),
            last: std::array::from_fn(|a| lattice.counts()[a] as f64 - 1.0 + 2.0 * ghost),
            strides: lattice.strides(),
        }
    }

    /// The corners around `x`, which is moved to the nearest point that the samples and ghosts span.
    #[inline(always)]
    pub fn corners(&self, x: &Vector<D>) -> Corners<D> {
        let mut place = 0;
        let mut fraction = [0.0; D];
        for a in 0..D {
            let s = ((x[a] - self.first[a]) * self.inverse[a]).clamp(0.0, self.last[a]);
            // One less at the very end, so that the upper corner exists.
            let cell = (s as usize).min(self.last[a] as usize - 1);
            fraction[a] = s - cell as f64;
            place += cell * self.strides[a];
        }
        Corners { place, fraction }
    }

    #[inline(always)]
    pub fn value(&self, x: &Vector<D>) -> f64 {
        self.blend(&self.corners(x))
    }

    #[inline(always)]
    pub fn blend(&self, corners: &Corners<D>) -> f64 {
        let (v, p, f) = (self.values, corners.place, &corners.fraction);
        let row = |p: usize| v[p] + f[0] * (v[p + 1] - v[p]);
        if D == 2 {
            let (low, high) = (row(p), row(p + self.strides[1]));
            return low + f[1] * (high - low);
        }
        let plane = |p: usize| {
            let (low, high) = (row(p), row(p + self.strides[1]));
            low + f[1] * (high - low)
        };
        let (low, high) = (plane(p), plane(p + self.strides[D - 1]));
        low + f[D - 1] * (high - low)
    }

    /// Smallest and largest value at the corners above `place`.
    #[inline(always)]
    pub fn range(&self, place: usize) -> [f64; 2] {
        let v = self.values;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for k in 0..1usize << D {
            let mut place = place;
            for a in 0..D {
                place += (k >> a & 1) * self.strides[a];
            }
            low = low.min(v[place]);
            high = high.max(v[place]);
        }
        [low, high]
    }
}

/// All components of a staggered velocity.
#[derive(Clone, Copy)]
pub(crate) struct VelocitySampler<'a, const D: usize>([Sampler<'a, D>; D]);

impl<'a, const D: usize> VelocitySampler<'a, D> {
    pub fn new(velocity: &'a FaceFields<D>) -> Self {
        Self(std::array::from_fn(|axis| Sampler::new(velocity.component(axis))))
    }

    #[inline(always)]
    pub fn value(&self, x: &Vector<D>) -> Vector<D> {
        Vector::from_fn(|a, _| self.0[a].value(x))
    }
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
                let [low, high] = sampler.range(sampler.corners(&x).place);
                assert!(low - 1e-13 <= expected && expected <= high + 1e-13);
            }
            assert!(sampler.value(&Vector::repeat(f64::NAN)).is_nan());
        }
    }

    #[test]
    fn it_agrees_with_the_general_interpolation() {
        agrees::<2>();
        agrees::<3>();
    }
}
