//! Paths of fluid backwards in time.

use super::sampler::{Sampler, in_cells};
use crate::domain::Domain;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Grid, Index, Location};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// How a path is integrated through one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathOrder {
    /// Forward Euler.
    First,
    /// Midpoint rule.
    #[default]
    Second,
    /// Third-order Runge-Kutta (Ralston).
    Third,
}

/// Integrates paths through a velocity that is constant in time; its ghosts must have been filled. Inside, points are in cells from the lower corner of the grid.
#[derive(Clone, Copy)]
pub(crate) struct Tracer<'a, const D: usize> {
    velocity: &'a FaceFields<D>,
    samplers: [Sampler<'a, D>; D],
    order: PathOrder,
    grid: Grid<D>,
    /// Cells along each axis.
    cells: [f64; D],
    inverse: Vector<D>,
    periodic: [bool; D],
    /// Largest size of each component, ghosts included (m/s).
    fastest: [f64; D],
    /// Sides through which no path leads.
    wall: [[bool; 2]; D],
}

/// Where a path ends.
#[derive(Clone, Copy)]
pub(crate) struct PathEnd<const D: usize> {
    /// In metres from [`Tracer::follow`], in cells within.
    pub point: Vector<D>,
    /// It had to be stopped at a wall, or left the domain.
    pub outside: bool,
}

/// How the velocity at the samples of one location is a mean of faces around them, for one component: four faces, some of which may be the same.
#[derive(Clone, Copy, Default)]
struct Mean {
    /// From the face of the same index to the first of the four.
    shift: isize,
    steps: [usize; 2],
}

/// The samples that paths start from.
#[derive(Clone, Copy)]
pub(crate) struct Starts<const D: usize> {
    means: [Mean; D],
    offset: [f64; D],
}

impl<const D: usize> Starts<D> {
    /// Position of a sample in cells.
    #[inline(always)]
    pub fn position(&self, index: Index<D>) -> Vector<D> {
        let mut at = Vector::zeros();
        for a in 0..D {
            at[a] = index[a] as f64 + self.offset[a];
        }
        at
    }
}

impl<'a, const D: usize> Tracer<'a, D> {
    pub fn new(domain: &Domain<D>, velocity: &'a FaceFields<D>, order: PathOrder) -> Self {
        let grid = *domain.grid();
        // A side with patches that are not walls lets paths out; what they find there is in the ghosts.
        let open_patch = |axis: usize, side: usize| {
            domain
                .patches()
                .iter()
                .any(|p| p.axis == axis && usize::from(p.upper) == side && !p.condition.is_wall())
        };
        let wall = std::array::from_fn(|axis| {
            [0, 1].map(|side| domain.sides()[axis][side].is_wall() && !open_patch(axis, side))
        });
        Self {
            velocity,
            samplers: std::array::from_fn(|axis| Sampler::new(velocity.component(axis))),
            order,
            grid,
            cells: grid.cells().map(|n| n as f64),
            inverse: grid.spacing().map(|h| 1.0 / h),
            periodic: domain.periodic(),
            fastest: std::array::from_fn(|axis| largest(velocity.component(axis).values())),
            wall,
        }
    }

    /// How many cells a path of `dt` seconds leads along each axis at most; infinite if a velocity is not a number.
    pub fn reach(&self, dt: f64) -> [f64; D] {
        std::array::from_fn(|a| (self.fastest[a] * dt * self.inverse[a]).abs())
    }

    /// Which axes paths wrap around.
    pub fn wraps(&self) -> [bool; D] {
        self.periodic
    }

    /// What [`Self::follow_from`] needs to know about samples at `location`.
    pub fn starts(&self, location: Location) -> Starts<D> {
        let means = std::array::from_fn(|b| {
            let strides = self.velocity.component(b).lattice().strides();
            let mut mean = Mean::default();
            for a in 0..D {
                match (location.on_planes(a), a == b) {
                    // Half a cell below the sample, and half a cell above.
                    (true, false) => {
                        mean.shift -= strides[a] as isize;
                        mean.steps[0] = strides[a];
                    }
                    (false, true) => mean.steps[1] = strides[a],
                    _ => {}
                }
            }
            mean
        });
        let offset = std::array::from_fn(|a| if location.on_planes(a) { 0.0 } else { 0.5 });
        Starts { means, offset }
    }

    /// Velocity (m/s) at a point in cells.
    #[inline(always)]
    fn velocity_at(&self, at: &Vector<D>) -> Vector<D> {
        // Loops rather than `from_fn` here and below: they are always inlined.
        let mut v = Vector::zeros();
        for a in 0..D {
            v[a] = self.samplers[a].value_at(at);
        }
        v
    }

    /// Velocity (m/s) at a sample: what interpolation gives there, from the faces that matter.
    #[inline(always)]
    fn velocity_of(&self, starts: &Starts<D>, index: Index<D>) -> Vector<D> {
        let mut velocity = Vector::zeros();
        for b in 0..D {
            let component = self.velocity.component(b);
            let Mean { shift, steps: [s, t] } = starts.means[b];
            let place = (component.lattice().offset(index) as isize + shift) as usize;
            let v = &component.values()[place..place + s + t + 1];
            velocity[b] = 0.25 * ((v[0] + v[s]) + (v[t] + v[s + t]));
        }
        velocity
    }

    /// The point, in cells, wrapped around periodic axes and stopped at walls.
    #[inline(always)]
    fn confine(&self, mut at: Vector<D>) -> PathEnd<D> {
        let mut outside = false;
        for a in 0..D {
            if at[a] < 0.0 || at[a] > self.cells[a] {
                if self.periodic[a] {
                    at[a] = at[a].rem_euclid(self.cells[a]);
                } else {
                    outside = true;
                    if self.wall[a][0] {
                        at[a] = at[a].max(0.0);
                    }
                    if self.wall[a][1] {
                        at[a] = at[a].min(self.cells[a]);
                    }
                }
            }
        }
        PathEnd { point: at, outside }
    }

    /// Follows the fluid at `x` (m) for `dt` seconds; negative goes back.
    #[inline(always)]
    pub fn follow(&self, x: &Vector<D>, dt: f64) -> PathEnd<D> {
        let at = in_cells(&self.grid, x);
        let end = self.path(&at, &self.velocity_at(&at), dt);
        PathEnd { point: self.grid.origin() + end.point.component_mul(&self.grid.spacing()), ..end }
    }

    /// Follows the fluid at a sample for `dt` seconds; the end is in cells.
    #[inline(always)]
    pub fn follow_from(&self, starts: &Starts<D>, index: Index<D>, dt: f64) -> PathEnd<D> {
        self.path(&starts.position(index), &self.velocity_of(starts, index), dt)
    }

    #[inline(always)]
    fn path(&self, at: &Vector<D>, v0: &Vector<D>, dt: f64) -> PathEnd<D> {
        let step = |v: &Vector<D>, part: f64| {
            let mut to = *at;
            for a in 0..D {
                to[a] += v[a] * self.inverse[a] * (dt * part);
            }
            to
        };
        match self.order {
            PathOrder::First => self.confine(step(v0, 1.0)),
            PathOrder::Second => {
                let v = self.velocity_at(&self.confine(step(v0, 0.5)).point);
                self.confine(step(&v, 1.0))
            }
            PathOrder::Third => {
                let v1 = self.velocity_at(&self.confine(step(v0, 0.5)).point);
                let v2 = self.velocity_at(&self.confine(step(&v1, 0.75)).point);
                self.confine(step(&(v0 * 2.0 + v1 * 3.0 + v2 * 4.0), 1.0 / 9.0))
            }
        }
    }
}

/// Largest size of the values; infinite if one is not a number.
fn largest(values: &[f64]) -> f64 {
    let size = |v: f64| if v.is_nan() { f64::INFINITY } else { v.abs() };
    let parts: Vec<f64> =
        values.par_chunks(1 << 14).map(|part| part.iter().fold(0.0, |m: f64, &v| m.max(size(v)))).collect();
    parts.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Side;
    use splashdown_geometry::grid::Grid;

    /// Solid-body rotation is linear, so its interpolation is exact and only the path's own error is left.
    #[test]
    fn paths_have_their_orders() {
        let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(0.1), [20, 20]).unwrap();
        let domain = Domain::new(grid, [[Side::wall(); 2]; 2]).unwrap();
        let mut velocity = FaceFields::new(&grid, 0.0);
        for (axis, sign) in [(0, -1.0), (1, 1.0)] {
            let lattice = *velocity.component(axis).lattice();
            velocity.component_mut(axis).update(|i, _| sign * lattice.position(i)[1 - axis]);
        }
        let start = Vector::from([0.5, 0.2]);
        for (order, expected) in [(PathOrder::First, 2.0), (PathOrder::Second, 3.0), (PathOrder::Third, 4.0)]
        {
            let tracer = Tracer::new(&domain, &velocity, order);
            let error = |dt: f64| {
                let (s, c) = dt.sin_cos();
                let exact = Vector::from([c * start[0] - s * start[1], s * start[0] + c * start[1]]);
                (tracer.follow(&start, dt).point - exact).norm()
            };
            let observed = (error(-0.2) / error(-0.1)).log2();
            assert!((observed - expected).abs() < 0.15, "{order:?}: {observed}");
        }
    }

    #[test]
    fn paths_wrap_stop_or_leave() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [10, 10]).unwrap();
        let domain = Domain::new(grid, [[Side::Periodic; 2], [Side::wall(), Side::open()]]).unwrap();
        let mut velocity = FaceFields::new(&grid, 1.0);
        domain.fill_velocity_ghosts(&mut velocity);
        let tracer = Tracer::new(&domain, &velocity, PathOrder::First);
        let end = tracer.follow(&Vector::from([0.05, 0.05]), -0.2);
        assert!((end.point - Vector::from([0.85, 0.0])).norm() < 1e-12 && end.outside);
        let end = tracer.follow(&Vector::from([0.5, 0.95]), 0.2);
        assert!((end.point - Vector::from([0.7, 1.15])).norm() < 1e-12 && end.outside);
    }
}
