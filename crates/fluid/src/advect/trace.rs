//! Paths of fluid backwards in time.

use super::sampler::VelocitySampler;
use crate::domain::Domain;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::FaceFields;
use splashdown_math::Vector;

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

/// Integrates paths through a velocity that is constant in time; its ghosts must have been filled.
#[derive(Clone, Copy)]
pub(crate) struct Tracer<'a, const D: usize> {
    velocity: VelocitySampler<'a, D>,
    order: PathOrder,
    low: Vector<D>,
    high: Vector<D>,
    periodic: [bool; D],
    /// Sides through which no path leads.
    wall: [[bool; 2]; D],
    any_periodic: bool,
}

/// Where a path ends.
#[derive(Clone, Copy)]
pub(crate) struct PathEnd<const D: usize> {
    pub point: Vector<D>,
    /// It had to be stopped at a wall, or left the domain.
    pub outside: bool,
}

impl<'a, const D: usize> Tracer<'a, D> {
    pub fn new(domain: &Domain<D>, velocity: &'a FaceFields<D>, order: PathOrder) -> Self {
        let bounds = domain.grid().bounds();
        let periodic = domain.periodic();
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
            velocity: VelocitySampler::new(velocity),
            order,
            low: bounds.min,
            high: bounds.max,
            periodic,
            wall,
            any_periodic: periodic.contains(&true),
        }
    }

    /// Velocity at a point (m/s).
    #[inline(always)]
    pub fn velocity(&self, x: &Vector<D>) -> Vector<D> {
        self.velocity.value(x)
    }

    /// The point wrapped around periodic axes and stopped at walls.
    #[inline(always)]
    pub fn confine(&self, mut x: Vector<D>) -> PathEnd<D> {
        let mut outside = false;
        for a in 0..D {
            if x[a] < self.low[a] || x[a] > self.high[a] {
                if self.any_periodic && self.periodic[a] {
                    let length = self.high[a] - self.low[a];
                    x[a] = self.low[a] + (x[a] - self.low[a]).rem_euclid(length);
                } else {
                    outside = true;
                    if self.wall[a][0] {
                        x[a] = x[a].max(self.low[a]);
                    }
                    if self.wall[a][1] {
                        x[a] = x[a].min(self.high[a]);
                    }
                }
            }
        }
        PathEnd { point: x, outside }
    }

    /// Follows the fluid at `x` for `dt` seconds; negative goes back.
    #[inline(always)]
    pub fn follow(&self, x: &Vector<D>, dt: f64) -> PathEnd<D> {
        let v0 = self.velocity(x);
        match self.order {
            PathOrder::First => self.confine(x + v0 * dt),
            PathOrder::Second => {
                let v = self.velocity(&self.confine(x + v0 * (0.5 * dt)).point);
                self.confine(x + v * dt)
            }
            PathOrder::Third => {
                let v1 = self.velocity(&self.confine(x + v0 * (0.5 * dt)).point);
                let v2 = self.velocity(&self.confine(x + v1 * (0.75 * dt)).point);
                self.confine(x + (v0 * 2.0 + v1 * 3.0 + v2 * 4.0) * (dt / 9.0))
            }
        }
    }
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
