//! Newton steps for islands on which Gauss-Seidel is slow: towers and arches, whose rocking passes through every contact.
//!
//! With the contacts that press and those that stick as equations, the island is one linear system. It is solved for the velocities with a large
//! penalty and a few updates of the impulses (the augmented Lagrangian method), so that points that say the same thing twice do no harm. What then
//! pulls or slips is cut back, and sweeps go on from there; a step that does not lower the objective of the sweeps is not taken, so that kinetic
//! energy still never rises.

use super::gauss_seidel::{Island, Manifold};
use splashdown_math::{Coordinates, Dim, Space, Twist};
use splashdown_solve::{CsrMatrix, Preconditioner, SparseCholesky};

/// Most bodies of an island that is solved so.
const MOST_BODIES: usize = 400;
/// Penalty relative to a row's own stiffness.
const PENALTY: f64 = 1e6;
/// Updates of the impulses.
const UPDATES: usize = 4;

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// Is it small enough, and more than a body on the ground?
    pub(super) fn is_fit_for_newton(&self) -> bool {
        (3..=MOST_BODIES).contains(&self.bodies.len())
    }

    /// One step from the present impulses; `free` are the twists without impulses. Returns whether it was taken.
    pub(super) fn newton_step(&mut self, free: &[Twist<D>]) -> bool {
        let (twists, impulses) = (self.twists.clone(), self.impulses.clone());
        let before = self.objective(free);
        if self.solve_active().is_none() {
            self.twists = twists;
            self.impulses = impulses;
            return false;
        }
        self.cut_back();
        self.twists.copy_from_slice(free);
        self.apply_impulses();
        if self.objective(free) <= before {
            return true;
        }
        self.twists = twists;
        self.impulses = impulses;
        false
    }

    /// `l.A l / 2 + l.b` of the impulses (J).
    fn objective(&self, free: &[Twist<D>]) -> f64 {
        let mut total = 0.0;
        for manifold in &self.manifolds {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let rows = &self.rows[manifold.range()];
            let mean = [a, b].map(|i| (self.twists[i] + free[i]) * 0.5);
            let speeds = manifold.speeds(rows, &mean[0], &mean[1]);
            let impulses = &self.impulses[manifold.range()];
            total +=
                impulses.iter().zip(speeds).zip(rows).map(|((l, u), row)| l * (u + row.bias)).sum::<f64>();
        }
        total
    }

    /// Which rows hold: points that press, friction and moments within their limits.
    fn is_active(&self, manifold: &Manifold<D>) -> Vec<bool> {
        let impulses = &self.impulses[manifold.range()];
        let mut active: Vec<bool> = impulses.iter().map(|_| false).collect();
        let points = manifold.points as usize;
        for k in 0..points {
            active[k] = impulses[k] > 0.0;
        }
        for (rows, limit) in self.bounds(manifold) {
            let length = impulses[rows.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
            let sticks = length < limit * (1.0 - 1e-9);
            active[rows].iter_mut().for_each(|row| *row = sticks);
        }
        active
    }

    /// Rows whose impulses have a common bound, with the bound.
    fn bounds(&self, manifold: &Manifold<D>) -> Vec<(std::ops::Range<usize>, f64)> {
        let (rows, impulses) = (&self.rows[manifold.range()], &self.impulses[manifold.range()]);
        let points = manifold.points as usize;
        let load: f64 = impulses[..points].iter().sum();
        let moment: f64 = impulses[..points].iter().zip(rows).map(|(l, row)| l * row.lever).sum();
        let limits = &manifold.limits;
        let mut next = points + Manifold::<D>::TANGENTS;
        let mut all = vec![(points..next, limits.friction * load)];
        if D == 3 {
            all.push((next..next + 1, limits.friction * moment + limits.spinning * load));
            next += 1;
        }
        if next < rows.len() {
            all.push((next..rows.len(), limits.rolling * load));
        }
        all
    }

    /// Solves for the rows that hold; `None` if the matrix cannot be factorised.
    fn solve_active(&mut self) -> Option<()> {
        let size = Twist::<D>::LEN;
        // Unknowns: the twists of bodies that respond.
        let mut place = vec![usize::MAX; self.bodies.len()];
        let mut count = 0;
        for (place, inverse) in place.iter_mut().zip(&self.inverse) {
            if !inverse.is_infinite() {
                *place = count;
                count += size;
            }
        }
        let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
        for (body, inverse) in self.inverse.iter().enumerate().filter(|(_, inverse)| !inverse.is_infinite()) {
            for k in 0..D {
                triplets.push((place[body] + k, place[body] + k, 1.0 / inverse.mass));
            }
            let spins = size - D;
            let inertia = Dim::inertia_entries(&Dim::invert_inertia(&inverse.inertia));
            for i in 0..spins {
                for j in 0..spins {
                    let entry = 0.5 * (inertia[i * spins + j] + inertia[j * spins + i]);
                    triplets.push((place[body] + D + i, place[body] + D + j, entry));
                }
            }
        }
        let mut active: Vec<Active> = Vec::new();
        for manifold in &self.manifolds {
            let ends = manifold.bodies.map(|b| b as usize);
            for (k, _) in self.is_active(manifold).into_iter().enumerate().filter(|(_, active)| *active) {
                let row = manifold.first as usize + k;
                let penalty = PENALTY / self.factor(manifold, k);
                let mut gradient = [[0.0; 6]; 2];
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    if let Some(column) = manifold.column(k) {
                        for a in 0..D {
                            gradient[side][a] = sign * manifold.frame[(a, column)];
                        }
                    }
                    let angular = self.rows[row].angular[side] * sign;
                    gradient[side][D..size].copy_from_slice(angular.as_slice());
                }
                for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let (at, to) = (place[ends[p]], place[ends[q]]);
                    if at == usize::MAX || to == usize::MAX {
                        continue;
                    }
                    for i in 0..size {
                        for j in 0..size {
                            triplets.push((at + i, to + j, penalty * gradient[p][i] * gradient[q][j]));
                        }
                    }
                }
                active.push(Active { row, ends, penalty, gradient });
            }
        }
        if active.is_empty() {
            return None;
        }
        let matrix = CsrMatrix::from_triplets(count, count, &triplets).ok()?;
        let mut factor = SparseCholesky::new(&matrix).ok()?;
        let mut right = vec![0.0; count];
        let mut change = vec![0.0; count];
        for _ in 0..UPDATES {
            right.fill(0.0);
            for row in &active {
                let speed = row.speed(&self.twists, size) + self.rows[row.row].bias;
                for (side, end) in
                    row.ends.into_iter().enumerate().filter(|(_, end)| place[*end] != usize::MAX)
                {
                    for i in 0..size {
                        right[place[end] + i] -= row.penalty * speed * row.gradient[side][i];
                    }
                }
            }
            factor.apply(&right, &mut change);
            for (body, twist) in self.twists.iter_mut().enumerate().filter(|(i, _)| place[*i] != usize::MAX) {
                *twist += Twist::read(&change[place[body]..place[body] + size]);
            }
            for row in &active {
                let speed = row.speed(&self.twists, size) + self.rows[row.row].bias;
                self.impulses[row.row] -= row.penalty * speed;
            }
        }
        Some(())
    }

    /// No pulling, no friction beyond its limit.
    fn cut_back(&mut self) {
        for m in 0..self.manifolds.len() {
            let manifold = self.manifolds[m];
            let first = manifold.first as usize;
            for k in first..first + manifold.points as usize {
                self.impulses[k] = self.impulses[k].max(0.0);
            }
            for (rows, limit) in self.bounds(&manifold) {
                let impulses = &mut self.impulses[first + rows.start..first + rows.end];
                let length = impulses.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length > limit {
                    impulses.iter_mut().for_each(|x| *x *= limit / length);
                }
            }
        }
    }
}

/// A row that holds as an equation.
struct Active {
    row: usize,
    ends: [usize; 2],
    penalty: f64,
    /// Of its speed by the two twists.
    gradient: [[f64; 6]; 2],
}

impl Active {
    fn speed<const D: usize>(&self, twists: &[Twist<D>], size: usize) -> f64
    where
        Dim<D>: Space<D>,
    {
        let mut flat = [0.0; 6];
        let mut speed = 0.0;
        for (side, &end) in self.ends.iter().enumerate() {
            twists[end].write(&mut flat);
            speed += self.gradient[side][..size].iter().zip(&flat).map(|(g, v)| g * v).sum::<f64>();
        }
        speed
    }
}
