//! Contact and friction of one island at once: block Gauss-Seidel over manifolds, warm-started, accelerated by nonlinear conjugate gradients
//! (M. Silcowitz-Hansen, S. Niebe, K. Erleben, "A nonsmooth nonlinear conjugate gradient method for interactive contact force problems", 2010).
//!
//! Every contact point wants `u_n + bias >= 0`, `lambda_n >= 0`, one of them zero. Friction belongs to the patch of points between two bodies: an
//! impulse in the plane at the patch's centre of at most `mu` times the load, against the sliding there, and a moment about the normal of at
//! most `mu` times the load times its distance from the centre. Friction at every corner instead would hold the corners against each other
//! through the rigid body, and the iteration would need ten times as long to find out (measured on stacks of boxes).
//!
//! The rows of a manifold are relaxed against their own small matrix `J M^-1 J^T`: velocities are read once and written once for all of them, and
//! what the rows do to each other stays in registers.

use super::InverseInertia;
use splashdown_math::{Coordinates, Dim, Matrix, Space, Spin, Twist, Vector};

/// Most points of a manifold; a larger patch becomes several.
pub(super) const MOST_POINTS: usize = 4;
/// Room for points, two tangents, spin and two axes of rolling, and for those without rolling: rows of matrices have one of these lengths, which
/// the compiler knows.
const MOST_ROWS: usize = 12;
const FEW_ROWS: usize = 8;
/// Newton steps of one solve, and sweeps before each: what sweeps solve quickly needs none.
const MOST_NEWTON_STEPS: usize = 8;
const SWEEPS_BEFORE_NEWTON: usize = 12;

/// One scalar row: `u = linear . (v_a - v_b) + angular_a . w_a - angular_b . w_b`, with `linear` a column of the manifold's frame or zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub angular: [Spin<D>; 2],
    /// Speed of approach that is allowed (m/s): what closes the gap within the step.
    pub bias: f64,
    /// Distance from the centre of the patch (m); of rows of spin, what makes their speed one of points.
    pub lever: f64,
}

/// The rows between two bodies with a common normal: points, then tangents, then spin about the normal (3D), then rolling if there is any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manifold<const D: usize> {
    /// Bodies, as indices into the island's.
    pub bodies: [u32; 2],
    /// First row.
    pub first: u32,
    /// Number of rows and of contact points among them.
    pub rows: u32,
    pub points: u32,
    /// First entry of its matrix.
    matrix: u32,
    /// Columns: the normal, from B to A, and an orthonormal completion.
    pub frame: Matrix<D>,
    pub limits: Limits,
}

/// What bounds the impulses that are not normal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub friction: f64,
    /// Largest moments for a normal force of one (m).
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
    /// From the ground up.
    pub manifolds: Vec<Manifold<D>>,
    pub rows: Vec<Row<D>>,
    /// Impulse of each row on A (kg m/s).
    pub impulses: Vec<f64>,
    pub matrices: Vec<f64>,
    /// Pair of the world that each manifold belongs to.
    pub pairs: Vec<u32>,
    /// Level of each body in the contact graph.
    pub levels: Vec<u32>,
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

    /// `length` makes the row's speed one of points.
    #[inline]
    fn add(&mut self, factor: f64, change: f64, length: f64) {
        self.square += factor * change * change;
        self.largest = self.largest.max(factor * change.abs() * length);
    }
}

impl<const D: usize> Manifold<D> {
    /// Rows of friction within the plane.
    pub const TANGENTS: usize = D - 1;

    /// Length of a row of its matrix.
    fn stride(&self) -> usize {
        if self.rows as usize <= FEW_ROWS { FEW_ROWS } else { MOST_ROWS }
    }

    /// All rows.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.rows) as usize
    }

    /// The column of the frame that row `k` pushes along.
    #[inline]
    pub fn column(&self, k: usize) -> Option<usize> {
        let points = self.points as usize;
        match k {
            _ if k < points => Some(0),
            _ if k < points + Self::TANGENTS => Some(1 + k - points),
            _ => None,
        }
    }
}

impl<const D: usize> Manifold<D>
where
    Dim<D>: Space<D>,
{
    /// Speeds of all rows, without bias.
    #[inline]
    pub fn speeds(&self, rows: &[Row<D>], a: &Twist<D>, b: &Twist<D>) -> [f64; MOST_ROWS] {
        let along = self.frame.tr_mul(&(a.linear - b.linear));
        let points = self.points as usize;
        let mut speeds = [0.0; MOST_ROWS];
        for (k, (speed, row)) in speeds.iter_mut().zip(rows).enumerate() {
            *speed = row.angular[0].dot(&a.angular) - row.angular[1].dot(&b.angular);
            if k < points {
                *speed += along[0];
            } else if k < points + Self::TANGENTS {
                *speed += along[1 + k - points];
            }
        }
        speeds
    }

    /// Momentum and angular momenta about A and B of impulses on the rows.
    #[inline]
    pub fn push(&self, rows: &[Row<D>], impulses: &[f64]) -> (Vector<D>, [Spin<D>; 2]) {
        let points = self.points as usize;
        let mut along = Vector::<D>::zeros();
        let mut turn = [Spin::<D>::zero(); 2];
        for (k, (row, &impulse)) in rows.iter().zip(impulses).enumerate() {
            if k < points {
                along[0] += impulse;
            } else if k < points + Self::TANGENTS {
                along[1 + k - points] += impulse;
            }
            turn[0] += row.angular[0] * impulse;
            turn[1] += row.angular[1] * impulse;
        }
        (self.frame * along, turn)
    }
}

/// Changes the twists of A and B by impulses on the rows.
#[inline]
fn apply<const D: usize>(
    manifold: &Manifold<D>,
    rows: &[Row<D>],
    impulses: &[f64],
    inverse: [&InverseInertia<D>; 2],
    a: &mut Twist<D>,
    b: &mut Twist<D>,
) where
    Dim<D>: Space<D>,
{
    let (linear, turn) = manifold.push(rows, impulses);
    a.linear += linear * inverse[0].mass;
    a.angular += Dim::apply_inertia(&inverse[0].inertia, &turn[0]);
    b.linear -= linear * inverse[1].mass;
    b.angular -= Dim::apply_inertia(&inverse[1].inertia, &turn[1]);
}

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// An island of these bodies and pairs in the memory of an old one.
    pub fn renewed(mut self, bodies: Vec<u32>, pairs: Vec<u32>) -> Self {
        self.clear_rows();
        self.levels.clear();
        Self { bodies, pairs, ..self }
    }

    /// Empties it but for its bodies and pairs.
    pub fn clear_rows(&mut self) {
        self.inverse.clear();
        self.twists.clear();
        self.manifolds.clear();
        self.rows.clear();
        self.impulses.clear();
        self.matrices.clear();
    }

    /// Makes a manifold of the rows from `first` on, of which `points` are contact points.
    pub fn close_manifold(
        &mut self,
        bodies: [u32; 2],
        first: usize,
        points: usize,
        frame: Matrix<D>,
        limits: Limits,
    ) {
        let rows = &self.rows[first..];
        let count = rows.len();
        let manifold = Manifold {
            bodies,
            first: first as u32,
            rows: count as u32,
            points: points as u32,
            matrix: self.matrices.len() as u32,
            frame,
            limits,
        };
        let inverse = bodies.map(|b| &self.inverse[b as usize]);
        let mass = inverse[0].mass + inverse[1].mass;
        for i in 0..count {
            let response = [0, 1].map(|k| Dim::apply_inertia(&inverse[k].inertia, &rows[i].angular[k]));
            let column = manifold.column(i);
            let mut entries = [0.0; MOST_ROWS];
            for (j, row) in rows.iter().enumerate() {
                let linear = if column.is_some() && column == manifold.column(j) { mass } else { 0.0 };
                let turned = row.angular[0].dot(&response[0]) + row.angular[1].dot(&response[1]);
                entries[j] = linear + turned;
            }
            self.matrices.extend_from_slice(&entries[..manifold.stride()]);
        }
        self.manifolds.push(manifold);
    }

    /// Solves from the impulses in the rows (their effect is added to the twists first).
    pub fn solve(&mut self, stop: Stop) -> Solved {
        let free = self.twists.clone();
        self.apply_start(&free);
        let mut newton =
            if self.is_fit_for_newton() && stop.iterations >= 40 { MOST_NEWTON_STEPS } else { 0 };
        // Few iterations do not pay back what acceleration disturbs at first.
        let accelerate = stop.iterations >= 40;
        let (mut velocity_direction, mut direction) = (Vec::<Twist<D>>::new(), Vec::<f64>::new());
        let (mut before, mut impulses_before) = (Vec::new(), Vec::new());
        let (mut last, mut restart) = (f64::INFINITY, true);
        let mut solved = Solved::default();
        for iteration in 0..stop.iterations {
            if accelerate {
                before.clone_from(&self.twists);
                impulses_before.clone_from(&self.impulses);
            }
            // Up and down in turn: loads travel down, support travels up.
            let sums = self.sweep(iteration % 2 == 1);
            solved = Solved { iterations: iteration + 1, residual: sums.largest };
            let good = sums.largest <= stop.tolerance
                || (iteration + 1 >= stop.enough && sums.largest <= stop.coarse);
            if good || iteration + 1 == stop.iterations {
                break;
            }
            if newton > 0 && (iteration + 1) % SWEEPS_BEFORE_NEWTON == 0 {
                newton = if self.newton_step(&free) { newton - 1 } else { 0 };
                last = f64::INFINITY;
                restart = true;
                continue;
            }
            if !accelerate {
                continue;
            }
            // Fletcher-Reeves in the metric of the diagonal; a step that grew starts anew.
            let share = sums.square / last;
            last = sums.square;
            if std::mem::take(&mut restart) || !(share <= 1.0) {
                velocity_direction.clear();
                velocity_direction
                    .extend(self.twists.iter().zip(&before).map(|(now, before)| *now - *before));
                direction.clear();
                direction
                    .extend(self.impulses.iter().zip(&impulses_before).map(|(now, before)| now - before));
                continue;
            }
            for ((direction, now), before) in velocity_direction.iter_mut().zip(&mut self.twists).zip(&before)
            {
                let change = *now - *before;
                let step = *direction * share;
                *now += step;
                *direction = step + change;
            }
            for ((direction, now), before) in
                direction.iter_mut().zip(&mut self.impulses).zip(&impulses_before)
            {
                let change = *now - before;
                let step = *direction * share;
                *now += step;
                *direction = step + change;
            }
        }
        solved
    }

    /// Adds the effect of the start impulses to the twists. With `f = l.A l / 2 + l.b` the objective of the iteration (`b` the speeds without
    /// impulses), starts with `f > 0` are scaled to the least one on their ray. Sweeps only lower it, so kinetic energy never rises however early
    /// the iteration stops.
    fn apply_start(&mut self, free: &[Twist<D>]) {
        let mut work = 0.0;
        for manifold in &self.manifolds {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let (rows, impulses) = (&self.rows[manifold.range()], &self.impulses[manifold.range()]);
            let speeds = manifold.speeds(rows, &free[a], &free[b]);
            for ((row, impulse), speed) in rows.iter().zip(impulses).zip(speeds) {
                work += impulse * (speed + row.bias);
            }
        }
        self.apply_impulses();
        let mut square = 0.0;
        for manifold in &self.manifolds {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let (rows, impulses) = (&self.rows[manifold.range()], &self.impulses[manifold.range()]);
            let speeds = manifold.speeds(rows, &(self.twists[a] - free[a]), &(self.twists[b] - free[b]));
            square += impulses.iter().zip(speeds).map(|(impulse, speed)| impulse * speed).sum::<f64>();
        }
        if 0.5 * square + work > 0.0 {
            let share = (-work / square).clamp(0.0, 1.0);
            self.impulses.iter_mut().for_each(|impulse| *impulse *= share);
            for (now, free) in self.twists.iter_mut().zip(free) {
                *now = *free + (*now - *free) * share;
            }
        }
    }

    /// Adds the effect of all impulses to the twists.
    pub fn apply_impulses(&mut self) {
        for manifold in &self.manifolds {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let (rows, impulses) = (&self.rows[manifold.range()], &self.impulses[manifold.range()]);
            let (mut ta, mut tb) = (self.twists[a], self.twists[b]);
            apply(manifold, rows, impulses, [&self.inverse[a], &self.inverse[b]], &mut ta, &mut tb);
            self.twists[a] = ta;
            self.twists[b] = tb;
        }
    }

    /// Change of the speed of row `k` for an impulse of one on it.
    pub fn factor(&self, manifold: &Manifold<D>, k: usize) -> f64 {
        self.matrices[manifold.matrix as usize + k * manifold.stride() + k]
    }

    /// One pass over all manifolds, from the ground up or down to it.
    fn sweep(&mut self, down: bool) -> Sums {
        let mut sums = Sums::default();
        let count = self.manifolds.len();
        for m in 0..count {
            let manifold = &self.manifolds[if down { count - 1 - m } else { m }];
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let (mut ta, mut tb) = (self.twists[a], self.twists[b]);
            let rows = &self.rows[manifold.range()];
            let impulses = &mut self.impulses[manifold.range()];
            let (at, stride) = (manifold.matrix as usize, manifold.stride());
            let matrix = &self.matrices[at..at + rows.len() * stride];
            let mut speeds = manifold.speeds(rows, &ta, &tb);
            let mut start = [0.0; MOST_ROWS];
            start[..rows.len()].copy_from_slice(impulses);
            for (speed, row) in speeds.iter_mut().zip(rows) {
                *speed += row.bias;
            }
            relax_any(manifold, rows, matrix, impulses, &mut speeds);
            let mut change = [0.0; MOST_ROWS];
            let mut changed = false;
            for (k, change) in change.iter_mut().enumerate().take(rows.len()) {
                *change = impulses[k] - start[k];
                changed |= *change != 0.0;
                let length = if manifold.column(k).is_some() { 1.0 } else { rows[k].lever };
                sums.add(matrix[k * stride + k], *change, length);
            }
            if changed {
                let inverse = [&self.inverse[a], &self.inverse[b]];
                apply(manifold, rows, &change, inverse, &mut ta, &mut tb);
                self.twists[a] = ta;
                self.twists[b] = tb;
            }
        }
        sums
    }

    /// Satisfies the rows of one manifold one after another while only some of its bodies move; the others count as infinitely heavy.
    pub(super) fn relax_held(
        &mut self,
        m: usize,
        moves: [bool; 2],
        twists: &mut [Twist<D>],
        sums: &mut Sums,
    ) {
        let manifold = &self.manifolds[m];
        let [a, b] = manifold.bodies.map(|b| b as usize);
        let fixed = InverseInertia::infinite();
        let inverse = [0, 1].map(|k| if moves[k] { self.inverse[[a, b][k]] } else { fixed });
        let rows = &self.rows[manifold.range()];
        let (count, stride) = (rows.len(), manifold.stride());
        let mut matrix = [0.0; MOST_ROWS * MOST_ROWS];
        let mass = inverse[0].mass + inverse[1].mass;
        for i in 0..count {
            let response = [0, 1].map(|k| Dim::apply_inertia(&inverse[k].inertia, &rows[i].angular[k]));
            let column = manifold.column(i);
            for j in 0..count {
                let linear = if column.is_some() && column == manifold.column(j) { mass } else { 0.0 };
                matrix[i * stride + j] =
                    linear + rows[j].angular[0].dot(&response[0]) + rows[j].angular[1].dot(&response[1]);
            }
            if !(matrix[i * stride + i] > 0.0) {
                return;
            }
        }
        let impulses = &mut self.impulses[manifold.range()];
        let mut change = [0.0; MOST_ROWS];
        change[..count].copy_from_slice(impulses);
        let mut speeds = manifold.speeds(rows, &twists[a], &twists[b]);
        speeds.iter_mut().zip(rows).for_each(|(speed, row)| *speed += row.bias);
        relax_any(manifold, rows, &matrix[..count * stride], impulses, &mut speeds);
        for k in 0..count {
            change[k] = impulses[k] - change[k];
            let length = if manifold.column(k).is_some() { 1.0 } else { rows[k].lever };
            sums.add(matrix[k * stride + k], change[k], length);
        }
        let (mut ta, mut tb) = (twists[a], twists[b]);
        apply(manifold, rows, &change[..count], [&inverse[0], &inverse[1]], &mut ta, &mut tb);
        twists[a] = ta;
        twists[b] = tb;
    }
}

/// Satisfies the rows of one manifold one after another; `speeds` include the bias and follow.
#[inline]
fn relax_any<const D: usize>(
    manifold: &Manifold<D>,
    rows: &[Row<D>],
    matrix: &[f64],
    impulses: &mut [f64],
    speeds: &mut [f64; MOST_ROWS],
) where
    Dim<D>: Space<D>,
{
    if manifold.stride() == FEW_ROWS {
        relax(manifold, rows, matrix.as_chunks::<FEW_ROWS>().0, impulses, speeds);
    } else {
        relax(manifold, rows, matrix.as_chunks::<MOST_ROWS>().0, impulses, speeds);
    }
}

#[inline]
fn relax<const D: usize, const STRIDE: usize>(
    manifold: &Manifold<D>,
    rows: &[Row<D>],
    matrix: &[[f64; STRIDE]],
    impulses: &mut [f64],
    speeds: &mut [f64; MOST_ROWS],
) where
    Dim<D>: Space<D>,
{
    let (count, points) = (rows.len(), manifold.points as usize);
    let (mut load, mut moment) = (0.0, 0.0);
    for k in 0..points {
        let row = &matrix[k];
        let wanted = (impulses[k] - speeds[k] / row[k]).max(0.0);
        let change = wanted - impulses[k];
        impulses[k] = wanted;
        load += wanted;
        moment += wanted * rows[k].lever;
        speeds.iter_mut().zip(row).for_each(|(speed, factor)| *speed += factor * change);
    }
    let limits = &manifold.limits;
    let tangents = points..points + Manifold::<D>::TANGENTS;
    let mut next = tangents.end;
    relax_within(tangents, limits.friction * load, matrix, impulses, speeds);
    if D == 3 {
        let limit = limits.friction * moment + limits.spinning * load;
        relax_within(next..next + 1, limit, matrix, impulses, speeds);
        next += 1;
    }
    if next < count {
        relax_within(next..count, limits.rolling * load, matrix, impulses, speeds);
    }
}

/// Brings the speeds of one or two rows to zero with impulses whose length is at most `limit`.
#[inline]
fn relax_within<const STRIDE: usize>(
    rows: std::ops::Range<usize>,
    limit: f64,
    matrix: &[[f64; STRIDE]],
    impulses: &mut [f64],
    speeds: &mut [f64; MOST_ROWS],
) {
    let factor = |k: usize| matrix[k][k];
    let mut wanted = [0.0; 2];
    for (wanted, k) in wanted.iter_mut().zip(rows.clone()) {
        *wanted = impulses[k] - speeds[k] / factor(k);
    }
    let mut square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
    if square > limit * limit {
        if rows.len() == 2 {
            // Sliding: with one step for both the fixed point has friction exactly against the velocity.
            let step = 1.0 / factor(rows.start).max(factor(rows.start + 1));
            wanted = [0, 1].map(|k| impulses[rows.start + k] - speeds[rows.start + k] * step);
            square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
        }
        if square > limit * limit {
            let scale = limit / square.sqrt();
            wanted = wanted.map(|wanted| wanted * scale);
        }
    }
    for (wanted, k) in wanted.into_iter().zip(rows) {
        let change = wanted - impulses[k];
        impulses[k] = wanted;
        let row = &matrix[k];
        speeds.iter_mut().zip(row).for_each(|(speed, factor)| *speed += factor * change);
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
