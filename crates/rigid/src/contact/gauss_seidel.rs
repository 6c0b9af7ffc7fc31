//! Contact and friction of one island at once: Gauss-Seidel over scalar rows, warm-started, accelerated by nonlinear conjugate gradients
//! (M. Silcowitz-Hansen, S. Niebe, K. Erleben, "A nonsmooth nonlinear conjugate gradient method for interactive contact force problems", 2010).
//!
//! Every contact point wants `u_n + bias >= 0`, `lambda_n >= 0`, one of them zero. Friction belongs to the patch of points between two bodies: an
//! impulse in the plane at the patch's centre of at most `mu` times the load, against the sliding there, and a moment about the normal of at
//! most `mu` times the load times its distance from the centre. Friction at every corner instead would hold the corners against each other
//! through the rigid body, and the iteration would need ten times as long to find out (measured on stacks of boxes).

use super::InverseInertia;
use splashdown_math::{Coordinates, Dim, Matrix, Space, Spin, Twist, Vector};

/// One scalar row: `u = linear . (v_a - v_b) + angular_a . w_a - angular_b . w_b`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub linear: Vector<D>,
    pub angular: [Spin<D>; 2],
    /// `I^-1 angular`.
    response: [Spin<D>; 2],
    /// Change of `u` for an impulse of one: by A, by B, and together.
    factors: [f64; 2],
    factor: f64,
    /// Speed of approach that is allowed (m/s): what closes the gap within the step.
    pub bias: f64,
    /// Distance from the centre of the patch (m).
    pub lever: f64,
    /// Impulse on A (kg m/s).
    pub impulse: f64,
    /// Search direction of the acceleration, and the change of the last sweep.
    direction: f64,
    change: f64,
}

/// The rows between two bodies with a common normal: points, then tangents, then spin about the normal (3D), then rolling if there is any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manifold {
    /// Bodies, as indices into the island's.
    pub bodies: [u32; 2],
    /// First row.
    pub first: u32,
    /// Number of contact points.
    pub points: u32,
    pub friction: f64,
    /// Largest moment for a normal force of one (m).
    pub rolling: f64,
    pub spinning: f64,
}

/// Bodies and contacts that are solved together.
#[derive(Debug, Clone, Default)]
pub(super) struct Island<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Index of each body in the world.
    pub bodies: Vec<u32>,
    pub inverse: Vec<InverseInertia<D>>,
    pub twists: Vec<Twist<D>>,
    pub manifolds: Vec<Manifold>,
    pub rows: Vec<Row<D>>,
    /// Pair of the world that each manifold belongs to.
    pub pairs: Vec<u32>,
    /// Level of each body in the contact graph, and manifolds by the higher level of their two bodies.
    pub levels: Vec<u32>,
    pub order: Vec<(u32, u32)>,
}

/// When the iteration stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stop {
    pub iterations: usize,
    /// Largest change of a relative velocity in a sweep (m/s).
    pub tolerance: f64,
    /// After `enough` iterations this one will do (m/s).
    pub coarse: f64,
    pub enough: usize,
}

/// How the iteration went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Solved {
    pub iterations: usize,
    /// Largest change of a relative velocity in the last sweep (m/s).
    pub residual: f64,
}

impl<const D: usize> Row<D>
where
    Dim<D>: Space<D>,
{
    /// The row of the direction `linear` at a point.
    pub fn at_point(linear: Vector<D>, arms: &[Vector<D>; 2], inverse: [&InverseInertia<D>; 2]) -> Self {
        Self::new(linear, [Dim::cross(&arms[0], &linear), Dim::cross(&arms[1], &linear)], inverse)
    }

    /// The row of relative spin about `axis`.
    pub fn of_spin(axis: Spin<D>, inverse: [&InverseInertia<D>; 2]) -> Self {
        Self::new(Vector::zeros(), [axis; 2], inverse)
    }

    fn new(linear: Vector<D>, angular: [Spin<D>; 2], inverse: [&InverseInertia<D>; 2]) -> Self {
        let response = [0, 1].map(|k| Dim::apply_inertia(&inverse[k].inertia, &angular[k]));
        let factors = [0, 1].map(|k| linear.norm_squared() * inverse[k].mass + angular[k].dot(&response[k]));
        Self {
            linear,
            angular,
            response,
            factors,
            factor: factors[0] + factors[1],
            bias: 0.0,
            lever: 0.0,
            impulse: 0.0,
            direction: 0.0,
            change: 0.0,
        }
    }

    /// Brings the speed down to `target`, with an impulse that only pulls together.
    pub fn relax_towards(&mut self, target: f64, mass: [f64; 2], a: &mut Twist<D>, b: &mut Twist<D>) {
        let wanted = (self.impulse + (target - self.speed(a, b)) / self.factor).min(0.0);
        let change = wanted - self.impulse;
        self.impulse = wanted;
        self.apply(change, mass, a, b);
    }

    #[inline]
    fn speed(&self, a: &Twist<D>, b: &Twist<D>) -> f64 {
        self.linear.dot(&(a.linear - b.linear)) + self.angular[0].dot(&a.angular)
            - self.angular[1].dot(&b.angular)
    }

    #[inline]
    fn apply(&self, change: f64, mass: [f64; 2], a: &mut Twist<D>, b: &mut Twist<D>) {
        self.apply_to(change, mass, [true, true], a, b);
    }

    /// Applies a change of impulse to those bodies that move.
    #[inline]
    pub fn apply_to(
        &self,
        change: f64,
        mass: [f64; 2],
        moves: [bool; 2],
        a: &mut Twist<D>,
        b: &mut Twist<D>,
    ) {
        if moves[0] {
            a.linear += self.linear * (change * mass[0]);
            a.angular += self.response[0] * change;
        }
        if moves[1] {
            b.linear -= self.linear * (change * mass[1]);
            b.angular -= self.response[1] * change;
        }
    }

    /// Change of `u` for an impulse of one, with those bodies that move.
    #[inline]
    fn factor_of(&self, moves: [bool; 2]) -> f64 {
        match moves {
            [true, true] => self.factor,
            [true, false] => self.factors[0],
            [false, true] => self.factors[1],
            [false, false] => 0.0,
        }
    }
}

impl Manifold {
    /// Rows of friction within the plane.
    pub const fn tangents(dimension: usize) -> usize {
        dimension - 1
    }

    /// All rows.
    pub fn rows(&self, dimension: usize) -> std::ops::Range<usize> {
        let rolling = if self.rolling > 0.0 { if dimension == 2 { 1 } else { 2 } } else { 0 };
        let spin = usize::from(dimension == 3);
        let count = self.points as usize + Self::tangents(dimension) + spin + rolling;
        self.first as usize..self.first as usize + count
    }
}

/// Sums over one sweep.
#[derive(Default)]
pub(super) struct Sums {
    square: f64,
    largest: f64,
}

impl Sums {
    /// Largest change of a relative velocity (m/s).
    pub fn largest(&self) -> f64 {
        self.largest
    }

    #[inline]
    fn add(&mut self, factor: f64, change: f64) {
        self.square += factor * change * change;
        self.largest = self.largest.max(factor * change.abs());
    }
}

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// Solves from the impulses in the rows (their effect is added to the twists first).
    pub fn solve(&mut self, stop: Stop) -> Solved {
        self.apply_start();
        // Few iterations do not pay back what acceleration disturbs at first.
        let accelerate = stop.enough >= 40;
        let mut velocity_direction: Vec<Twist<D>> = Vec::new();
        let mut before = Vec::new();
        let mut last = f64::INFINITY;
        let mut solved = Solved::default();
        for iteration in 0..stop.iterations {
            if accelerate {
                before.clone_from(&self.twists);
            }
            let sums = self.sweep();
            solved = Solved { iterations: iteration + 1, residual: sums.largest };
            let good = sums.largest <= stop.tolerance
                || (iteration + 1 >= stop.enough && sums.largest <= stop.coarse);
            if good || iteration + 1 == stop.iterations {
                break;
            }
            if !accelerate {
                continue;
            }
            // Fletcher-Reeves in the metric of the diagonal; a step that grew starts anew.
            let share = sums.square / last;
            last = sums.square;
            if iteration == 0 || !(share <= 1.0) {
                velocity_direction.clear();
                velocity_direction
                    .extend(self.twists.iter().zip(&before).map(|(now, before)| *now - *before));
                self.rows.iter_mut().for_each(|row| row.direction = row.change);
                continue;
            }
            for ((direction, now), before) in velocity_direction.iter_mut().zip(&mut self.twists).zip(&before)
            {
                let change = *now - *before;
                let step = *direction * share;
                *now += step;
                *direction = step + change;
            }
            for row in &mut self.rows {
                let step = row.direction * share;
                row.impulse += step;
                row.direction = step + row.change;
            }
        }
        solved
    }

    /// Adds the effect of the start impulses to the twists, scaled to be as good as they can be: with `f = l.A l / 2 + l.b` the objective of the
    /// iteration (`b` the speeds without impulses), a share of them never leaves `f` above zero. Since sweeps only lower it, kinetic energy never
    /// rises however early the iteration stops.
    fn apply_start(&mut self) {
        let free = self.twists.clone();
        let mut work = 0.0;
        for manifold in &self.manifolds {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let (mut ta, mut tb) = (self.twists[a], self.twists[b]);
            let mass = [self.inverse[a].mass, self.inverse[b].mass];
            for row in &self.rows[manifold.rows(D)] {
                if row.impulse != 0.0 {
                    work += row.impulse * (row.speed(&free[a], &free[b]) + row.bias);
                    row.apply(row.impulse, mass, &mut ta, &mut tb);
                }
            }
            self.twists[a] = ta;
            self.twists[b] = tb;
        }
        let mut square = 0.0;
        for manifold in &self.manifolds {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let (ta, tb) = (self.twists[a] - free[a], self.twists[b] - free[b]);
            for row in self.rows[manifold.rows(D)].iter().filter(|row| row.impulse != 0.0) {
                square += row.impulse * row.speed(&ta, &tb);
            }
        }
        let share = if square > 0.0 { (-work / square).clamp(0.0, 1.0) } else { 0.0 };
        if share < 1.0 {
            self.rows.iter_mut().for_each(|row| row.impulse *= share);
            for (now, free) in self.twists.iter_mut().zip(&free) {
                *now = *free + (*now - *free) * share;
            }
        }
    }

    /// One pass over all rows.
    fn sweep(&mut self) -> Sums {
        let mut sums = Sums::default();
        for manifold in &self.manifolds {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let (mut ta, mut tb) = (self.twists[a], self.twists[b]);
            let mass = [self.inverse[a].mass, self.inverse[b].mass];
            let rows = &mut self.rows[manifold.rows(D)];
            relax_manifold(manifold, rows, mass, [true, true], &mut ta, &mut tb, &mut sums);
            self.twists[a] = ta;
            self.twists[b] = tb;
        }
        sums
    }
}

/// Satisfies the rows of one manifold one after another; bodies that do not move count as infinitely heavy.
#[inline]
pub(super) fn relax_manifold<const D: usize>(
    manifold: &Manifold,
    rows: &mut [Row<D>],
    mass: [f64; 2],
    moves: [bool; 2],
    a: &mut Twist<D>,
    b: &mut Twist<D>,
    sums: &mut Sums,
) where
    Dim<D>: Space<D>,
{
    let (points, others) = rows.split_at_mut(manifold.points as usize);
    let (mut load, mut moment) = (0.0, 0.0);
    for row in points {
        let factor = row.factor_of(moves);
        if !(factor > 0.0) {
            return;
        }
        let wanted = (row.impulse - (row.speed(a, b) + row.bias) / factor).max(0.0);
        row.change = wanted - row.impulse;
        row.impulse = wanted;
        load += wanted;
        moment += wanted * row.lever;
        if row.change != 0.0 {
            sums.add(factor, row.change);
            row.apply_to(row.change, mass, moves, a, b);
        }
    }
    let (tangents, spins) = others.split_at_mut(Manifold::tangents(D));
    relax_within(tangents, manifold.friction * load, mass, moves, a, b, sums);
    if D == 3 {
        let (spin, rolling) = spins.split_at_mut(1);
        let limit = manifold.friction * moment + manifold.spinning * load;
        relax_within(spin, limit, mass, moves, a, b, sums);
        relax_within(rolling, manifold.rolling * load, mass, moves, a, b, sums);
    } else {
        relax_within(spins, manifold.rolling * load, mass, moves, a, b, sums);
    }
}

/// Brings the speeds of one or two rows to zero with impulses whose length is at most `limit`.
#[inline]
fn relax_within<const D: usize>(
    rows: &mut [Row<D>],
    limit: f64,
    mass: [f64; 2],
    moves: [bool; 2],
    a: &mut Twist<D>,
    b: &mut Twist<D>,
    sums: &mut Sums,
) where
    Dim<D>: Space<D>,
{
    let mut wanted = [0.0; 2];
    let mut speeds = [0.0; 2];
    let mut factors = [0.0; 2];
    for (k, row) in rows.iter().enumerate() {
        factors[k] = row.factor_of(moves);
        if !(factors[k] > 0.0) {
            return;
        }
        speeds[k] = row.speed(a, b);
        wanted[k] = row.impulse - speeds[k] / factors[k];
    }
    let mut length = wanted[0].hypot(wanted[1]);
    if rows.len() == 2 && length > limit {
        // Sliding: with one step for both the fixed point has friction exactly against the velocity.
        let step = 1.0 / factors[0].max(factors[1]);
        wanted = [0, 1].map(|k| rows[k].impulse - speeds[k] * step);
        length = wanted[0].hypot(wanted[1]);
    }
    let scale = if length > limit { limit / length } else { 1.0 };
    for (k, row) in rows.iter_mut().enumerate() {
        let wanted = wanted[k] * scale;
        row.change = wanted - row.impulse;
        row.impulse = wanted;
        if row.change != 0.0 {
            sums.add(factors[k], row.change);
            row.apply_to(row.change, mass, moves, a, b);
        }
    }
}

/// The part of a spin about `normal`; none in the plane, where every spin is rolling.
pub(super) fn normal_part<const D: usize>(spin: &Spin<D>, normal: &Vector<D>) -> Spin<D>
where
    Dim<D>: Space<D>,
{
    if D == 2 {
        return Spin::<D>::zero();
    }
    let axis = Spin::<D>::from_slice(normal.as_slice());
    axis * axis.dot(spin)
}

/// Columns: the normal and an orthonormal completion.
pub(super) fn contact_frame<const D: usize>(normal: &Vector<D>) -> Matrix<D>
where
    Dim<D>: Space<D>,
{
    let mut frame = Matrix::<D>::zeros();
    frame.set_column(0, normal);
    if D == 2 {
        frame[(0, 1)] = -normal[1];
        frame[(1, 1)] = normal[0];
        return frame;
    }
    let across = normal.iamin();
    let mut tangent = Vector::<D>::from_fn(|a, _| f64::from(u8::from(a == across)));
    tangent -= normal * normal[across];
    tangent /= tangent.norm();
    frame.set_column(1, &tangent);
    let third = Vector::<D>::from_fn(|a, _| {
        normal[(a + 1) % D] * tangent[(a + 2) % D] - normal[(a + 2) % D] * tangent[(a + 1) % D]
    });
    frame.set_column(D - 1, &third);
    frame
}
