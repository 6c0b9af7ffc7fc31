//! Interpolation between samples.

use super::{Field, Lattice, Value};
use splashdown_math::Vector;

/// How values between samples are made; a tensor product of one-dimensional kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// Multi-linear, error O(h^2), never leaves the range of the 2^D corner values.
    #[default]
    Linear,
    /// Lagrange through 4 samples on each axis, exact for cubics, error O(h^4), continuous. One-sided near the end of the samples.
    Cubic,
    /// Cubic Hermite with central slopes (Catmull-Rom), error O(h^3), continuously differentiable.
    Smooth,
}

/// Which samples may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Samples proper only; a point outside their hull is moved to the nearest point of the hull.
    #[default]
    Interior,
    /// Ghosts too (they must have been filled); a point outside all of them is moved to the nearest point they span.
    Ghost,
}

/// Samples `first .. first + taps` of one axis, with weights of the value and of the derivative (per spacing).
#[derive(Clone, Copy)]
struct Stencil {
    first: isize,
    taps: usize,
    value: [f64; 4],
    slope: [f64; 4],
}

impl Stencil {
    /// At the local coordinate `s` (in spacings from sample 0), reading samples `low ..= high` only.
    #[inline]
    fn new(kind: Interpolation, s: f64, low: isize, high: isize) -> Self {
        let available = high - low + 1;
        let s = s.clamp(low as f64, high as f64);
        if available == 1 {
            return Self { first: low, taps: 1, value: [1.0, 0.0, 0.0, 0.0], slope: [0.0; 4] };
        }
        // The interval [cell, cell + 1] that holds s.
        let cell = (s.floor() as isize).clamp(low, high - 1);
        if kind == Interpolation::Linear || available < 4 {
            let t = s - cell as f64;
            return Self {
                first: cell,
                taps: 2,
                value: [1.0 - t, t, 0.0, 0.0],
                slope: [-1.0, 1.0, 0.0, 0.0],
            };
        }
        let first = (cell - 1).clamp(low, high - 3);
        let t = s - (first + 1) as f64;
        if kind == Interpolation::Cubic || cell - 1 != first {
            // Lagrange on -1, 0, 1, 2; also the one-sided end of the smooth kernel.
            let value = [
                -t * (t - 1.0) * (t - 2.0) / 6.0,
                (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
                -(t + 1.0) * t * (t - 2.0) / 2.0,
                (t + 1.0) * t * (t - 1.0) / 6.0,
            ];
            let slope = [
                -(3.0 * t * t - 6.0 * t + 2.0) / 6.0,
                (3.0 * t * t - 4.0 * t - 1.0) / 2.0,
                -(3.0 * t * t - 2.0 * t - 2.0) / 2.0,
                (3.0 * t * t - 1.0) / 6.0,
            ];
            return Self { first, taps: 4, value, slope };
        }
        let value = [
            -0.5 * t * (1.0 - t) * (1.0 - t),
            1.0 + t * t * (1.5 * t - 2.5),
            t * (0.5 + t * (2.0 - 1.5 * t)),
            -0.5 * t * t * (1.0 - t),
        ];
        let slope =
            [-0.5 + t * (2.0 - 1.5 * t), t * (4.5 * t - 5.0), 0.5 + t * (4.0 - 4.5 * t), t * (1.5 * t - 1.0)];
        Self { first, taps: 4, value, slope }
    }

    #[inline]
    fn for_point<const D: usize>(
        lattice: &Lattice<D>,
        point: &Vector<D>,
        kind: Interpolation,
        reach: Reach,
    ) -> [Self; D] {
        let ghost = if reach == Reach::Ghost { lattice.ghost() as isize } else { 0 };
        let local = lattice.local(point);
        std::array::from_fn(|a| Self::new(kind, local[a], -ghost, lattice.counts()[a] as isize - 1 + ghost))
    }
}

/// The samples around a point for linear interpolation: most of all that is interpolated is.
struct Corners<const D: usize> {
    /// Place of the first of the 2^D samples.
    start: usize,
    /// How far the point is from it (in spacings).
    part: [f64; D],
}

/// Most corners of a cell.
const MOST_CORNERS: usize = 8;

impl<const D: usize> Corners<D> {
    /// `None` where an axis has one sample only.
    #[inline(always)]
    fn around(lattice: &Lattice<D>, point: &Vector<D>, reach: Reach) -> Option<Self> {
        let ghost = if reach == Reach::Ghost { lattice.ghost() } else { 0 };
        let (strides, local) = (lattice.strides(), lattice.local(point));
        let mut start = lattice.offset([-(ghost as isize); D]);
        let mut part = [0.0; D];
        for a in 0..D {
            let last = lattice.counts()[a] + 2 * ghost - 1;
            if last == 0 {
                return None;
            }
            // From the first sample that may be read; a number below zero cannot be, so cutting is rounding down.
            let s = (local[a] + ghost as f64).clamp(0.0, last as f64);
            let cell = (s as usize).min(last - 1);
            start += cell * strides[a];
            part[a] = s - cell as f64;
        }
        Some(Self { start, part })
    }

    /// The samples, axis 0 fastest.
    #[inline(always)]
    fn values<T: Value>(&self, field: &Field<D, T>) -> [T; MOST_CORNERS] {
        let (strides, values) = (field.lattice().strides(), field.values());
        let mut corners = [values[self.start]; MOST_CORNERS];
        for (corner, value) in corners.iter_mut().enumerate().take(1 << D).skip(1) {
            let mut offset = self.start;
            for (a, stride) in strides.iter().enumerate() {
                offset += (corner >> a & 1) * stride;
            }
            *value = values[offset];
        }
        corners
    }
}

impl<const D: usize, T: Value> Field<D, T> {
    /// Value at `point` (m).
    #[inline]
    pub fn sample(&self, point: &Vector<D>, kind: Interpolation, reach: Reach) -> T {
        let lattice = self.lattice();
        if kind == Interpolation::Linear
            && let Some(corners) = Corners::around(lattice, point, reach)
        {
            let mut values = corners.values(self);
            let mut count = 1 << D;
            for t in corners.part {
                count /= 2;
                for k in 0..count {
                    values[k] = values[2 * k] * (1.0 - t) + values[2 * k + 1] * t;
                }
            }
            return values[0];
        }
        let stencils = Stencil::for_point(lattice, point, kind, reach);
        let strides = lattice.strides();
        let start = lattice.offset(stencils.map(|s| s.first));
        let row = |offset: usize| {
            let taps = &self.values()[offset..offset + stencils[0].taps];
            let mut sum = taps[0] * stencils[0].value[0];
            for (value, weight) in taps.iter().zip(&stencils[0].value).skip(1) {
                sum = sum + *value * *weight;
            }
            sum
        };
        contract(&stencils, &strides, D - 1, start, &row)
    }
}

/// Sums over the taps of axes `axis .. 1`, with `row` for axis 0.
#[inline]
fn contract<const D: usize, T: Value>(
    stencils: &[Stencil; D],
    strides: &[usize; D],
    axis: usize,
    offset: usize,
    row: &impl Fn(usize) -> T,
) -> T {
    if axis == 0 {
        return row(offset);
    }
    let part = |tap: usize| {
        let offset = offset + tap * strides[axis];
        // One level of real recursion at most (D <= 3); the last one is the row itself.
        let inner = if axis == 1 { row(offset) } else { contract(stencils, strides, axis - 1, offset, row) };
        inner * stencils[axis].value[tap]
    };
    let mut sum = part(0);
    for tap in 1..stencils[axis].taps {
        sum = sum + part(tap);
    }
    sum
}

impl<const D: usize> Field<D> {
    /// Value at `point` and the gradient of the interpolant there (per metre). A point outside the samples is first moved to the
    /// nearest point that they span.
    pub fn sample_with_gradient(
        &self,
        point: &Vector<D>,
        kind: Interpolation,
        reach: Reach,
    ) -> (f64, Vector<D>) {
        let lattice = self.lattice();
        if kind == Interpolation::Linear
            && let Some(corners) = Corners::around(lattice, point, reach)
        {
            let mut values = corners.values(self);
            let mut slopes = [[0.0; MOST_CORNERS]; D];
            let mut count = 1 << D;
            for (axis, t) in corners.part.into_iter().enumerate() {
                count /= 2;
                for k in 0..count {
                    let [low, high] = [values[2 * k], values[2 * k + 1]];
                    for slope in slopes.iter_mut().take(axis) {
                        slope[k] = slope[2 * k] * (1.0 - t) + slope[2 * k + 1] * t;
                    }
                    slopes[axis][k] = high - low;
                    values[k] = low * (1.0 - t) + high * t;
                }
            }
            let gradient = Vector::<D>::from_fn(|a, _| slopes[a][0]);
            return (values[0], gradient.component_div(&lattice.spacing()));
        }
        let stencils = Stencil::for_point(lattice, point, kind, reach);
        let strides = lattice.strides();
        let start = lattice.offset(stencils.map(|s| s.first));
        let mut value = 0.0;
        let mut gradient = Vector::<D>::zeros();
        let mut taps = [0; D];
        loop {
            let mut offset = start;
            let mut weight = 1.0;
            for a in 0..D {
                offset += taps[a] * strides[a];
                weight *= stencils[a].value[taps[a]];
            }
            let sample = self.values()[offset];
            value += weight * sample;
            for a in 0..D {
                let mut slope = stencils[a].slope[taps[a]];
                for b in (0..D).filter(|&b| b != a) {
                    slope *= stencils[b].value[taps[b]];
                }
                gradient[a] += slope * sample;
            }
            let Some(axis) = (0..D).find(|&a| taps[a] + 1 < stencils[a].taps) else { break };
            taps[axis] += 1;
            taps[..axis].fill(0);
        }
        (value, gradient.component_div(&lattice.spacing()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, Location};
    use super::*;

    fn polynomial<const D: usize>(x: &Vector<D>, degree: i32) -> f64 {
        (0..D).map(|a| (x[a] - 0.3 * a as f64).powi(degree) * (a as f64 + 1.0)).sum::<f64>() + x[0] * x[1]
    }

    fn reproduces<const D: usize>(kind: Interpolation, degree: i32, reach: Reach) {
        let grid = Grid::<D>::new(Vector::repeat(-1.0), Vector::from_fn(|a, _| 0.2 + 0.1 * a as f64), [7; D])
            .unwrap();
        let field = Field::from_fn(&grid, Location::Cell, |x| polynomial(x, degree));
        let hull = field.lattice().hull();
        for i in 0..50 {
            let x = Vector::from_fn(|a, _| {
                let t = (0.37 * i as f64 + 0.61 * a as f64).fract();
                hull.min[a] + t * (hull.max[a] - hull.min[a])
            });
            let exact = polynomial(&x, degree);
            assert!((field.sample(&x, kind, reach) - exact).abs() < 1e-12, "{kind:?} {x:?}");
            let (value, gradient) = field.sample_with_gradient(&x, kind, reach);
            assert!((value - exact).abs() < 1e-12);
            for a in 0..D {
                let power = (x[a] - 0.3 * a as f64).powi(degree - 1) * (a as f64 + 1.0) * degree as f64;
                let slope = power
                    + if a == 0 {
                        x[1]
                    } else if a == 1 {
                        x[0]
                    } else {
                        0.0
                    };
                assert!((gradient[a] - slope).abs() < 1e-11, "{kind:?} {a} {} {slope}", gradient[a]);
            }
        }
    }

    #[test]
    fn kernels_reproduce_their_polynomials_and_gradients() {
        for reach in [Reach::Interior, Reach::Ghost] {
            reproduces::<2>(Interpolation::Linear, 1, reach);
            reproduces::<3>(Interpolation::Linear, 1, reach);
            reproduces::<2>(Interpolation::Cubic, 3, reach);
            reproduces::<3>(Interpolation::Cubic, 3, reach);
            reproduces::<2>(Interpolation::Smooth, 2, reach);
            reproduces::<3>(Interpolation::Smooth, 2, reach);
        }
    }

    #[test]
    fn points_outside_take_the_nearest_value() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [10, 10]).unwrap();
        let field = Field::from_fn(&grid, Location::Node, |x| x[0] + 10.0 * x[1]);
        let far = Vector::from([7.0, f64::NEG_INFINITY]);
        assert!((field.sample(&far, Interpolation::Linear, Reach::Interior) - 1.0).abs() < 1e-12);
        let ghost = field.sample(&far, Interpolation::Linear, Reach::Ghost);
        assert!((ghost - (1.3 - 3.0)).abs() < 1e-12, "{ghost}");
        let nan = Vector::from([f64::NAN, 0.5]);
        assert!(field.sample(&nan, Interpolation::Cubic, Reach::Interior).is_nan());
    }

    #[test]
    fn smooth_kernel_has_no_kinks() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [10, 10]).unwrap();
        let field = Field::from_fn(&grid, Location::Node, |x| (7.0 * x[0]).sin() * (5.0 * x[1]).cos());
        let gradient_at = |dx: f64| {
            field
                .sample_with_gradient(&Vector::from([0.4 + dx, 0.33]), Interpolation::Smooth, Reach::Interior)
                .1
        };
        assert!((gradient_at(1e-9) - gradient_at(-1e-9)).norm() < 1e-6);
    }
}
