//! Newton steps for islands on which Gauss-Seidel is slow: towers and arches, whose rocking passes through every contact.
//!
//! With the contacts that press and those that stick as equations, the island is one linear system. It is solved for the velocities with a large
//! penalty and a few updates of the impulses (the augmented Lagrangian method), so that points that say the same thing twice do no harm. What then
//! pulls or slips is cut back, and sweeps go on from there; a step that does not lower the objective of the sweeps is not taken, so that kinetic
//! energy still never rises.

use super::blocks::Blocks;
use super::gauss_seidel::Island;
use super::manifold::{Impulses, MOST_ROWS, Manifold};
use splashdown_math::{Dim, Space, Twist};
use std::ops::Range;

/// Most bodies of an island that is solved so.
const MOST_BODIES: usize = 400;
/// Penalty relative to a row's own stiffness.
const PENALTY: f64 = 1e6;
/// The same of rows that joints demand: where contacts could carry as well what a joint carries, it is the joint that does.
const JOINT_PENALTY: f64 = 1e9;
/// Guesses of the rows that hold, in one step.
const GUESSES: usize = 6;
/// Share of the objective by which a step may miss what sweeps have reached and still be good for the other stage of contact.
const NO_WORSE: f64 = 1e-6;
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

    /// One step from the present impulses; `free` are the twists without impulses. Returns whether it was taken; notes if it was far off.
    pub(super) fn newton_step(&mut self, free: &[Twist<D>]) -> bool {
        let (twists, impulses) = (self.twists.clone(), self.impulses.clone());
        let limits = self.joined.limit_impulses();
        let before = self.objective(free);
        self.newton_failed = true;
        // What holds may not be what pressed before: then the rows that a step says pull are left out of the next, and those that it says give way taken in.
        for guess in 0..GUESSES {
            if self.solve_active(guess > 0).is_none() {
                break;
            }
            let pulled = self.cut_back();
            self.twists.copy_from_slice(free);
            self.apply_impulses();
            let after = self.objective(free);
            self.newton_failed &= !(after - before <= NO_WORSE * before.abs());
            if after <= before {
                return true;
            }
            if !pulled {
                break;
            }
        }
        self.twists = twists;
        self.impulses = impulses;
        self.joined.set_limit_impulses(&limits);
        false
    }

    /// `l.A l / 2 + l.b` of the impulses (J).
    pub(super) fn objective(&self, free: &[Twist<D>]) -> f64 {
        let mut total = 0.0;
        for (manifold, impulses) in self.manifolds.iter().zip(&self.impulses) {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let mean = [a, b].map(|i| (self.twists[i] + free[i]) * 0.5);
            let local = manifold.relative(&mean[0], &mean[1]);
            total += (0..manifold.rows as usize)
                .map(|k| impulses[k] * (manifold.speed(k, &local) + manifold.bias_of(k)))
                .sum::<f64>();
        }
        total + self.joined.objective(|body| (self.twists[body as usize] + free[body as usize]) * 0.5)
    }

    /// Solves for the rows that hold, and if `adding` for those that give way by more than their impulse makes up for; `None` if the matrix cannot be factorised.
    fn solve_active(&mut self, adding: bool) -> Option<()> {
        let size = Twist::<D>::LEN;
        // Unknowns: the twists of bodies that respond.
        let mut place = vec![usize::MAX; self.bodies.len()];
        let mut count = 0;
        for (place, inverse) in place.iter_mut().zip(&self.inverse) {
            if !inverse.is_infinite() {
                *place = count;
                count += 1;
            }
        }
        // A block for all that may hold, so that all guesses have one pattern.
        let mut blocks = std::mem::take(&mut self.newton);
        let touching = self.manifolds.iter().map(|manifold| manifold.bodies.map(|b| b as usize));
        let links = touching.chain(self.joined.links());
        let links = links.map(|ends| ends.map(|end| place[end]));
        blocks.begin(count, size, links.filter(|link| !link.contains(&usize::MAX)));
        let solved = self.solve_rows(adding, &place, &mut blocks);
        self.newton = blocks;
        solved
    }

    /// As [`Self::solve_active`], for bodies with a `place` in the matrix.
    fn solve_rows(&mut self, adding: bool, place: &[usize], matrix: &mut Blocks) -> Option<()> {
        let size = Twist::<D>::LEN;
        for (body, inverse) in self.inverse.iter().enumerate().filter(|(_, inverse)| !inverse.is_infinite()) {
            let spins = size - D;
            let inertia = Dim::inertia_entries(&Dim::invert_inertia(&inverse.inertia));
            let mass = 1.0 / inverse.mass;
            matrix.add(place[body], place[body], |i, j| match (i < D, j < D) {
                (true, true) if i == j => mass,
                (false, false) => {
                    let (i, j) = (i - D, j - D);
                    0.5 * (inertia[i * spins + j] + inertia[j * spins + i])
                }
                _ => 0.0,
            });
        }
        let mut active: Vec<Active<D>> = Vec::new();
        for (m, (manifold, impulses)) in self.manifolds.iter().zip(&self.impulses).enumerate() {
            let ends = manifold.bodies.map(|b| b as usize);
            let mut holds = rows_that_hold(manifold, impulses);
            if adding {
                let local = manifold.relative(&self.twists[ends[0]], &self.twists[ends[1]]);
                for (k, holds) in holds.iter_mut().enumerate().take(manifold.points as usize) {
                    let speed = manifold.speed(k, &local) + manifold.bias_of(k);
                    *holds = impulses[k] * manifold.factor(k) > speed;
                }
            }
            // All rows of the manifold act on the same two bodies.
            let mut blocks = [[[[0.0; 6]; 6]; 2]; 2];
            let places = ends.map(|end| place[end]);
            for k in (0..manifold.rows as usize).filter(|&k| holds[k] && manifold.factor(k) > 0.0) {
                let penalty = PENALTY / manifold.factor(k);
                let mut flat = [[0.0; 6]; 2];
                let gradient = manifold.gradient(k);
                gradient.iter().zip(&mut flat).for_each(|(gradient, flat)| gradient.write(flat));
                for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    for i in 0..size {
                        for j in 0..size {
                            blocks[p][q][i][j] += penalty * flat[p][i] * flat[q][j];
                        }
                    }
                }
                active.push(Active {
                    manifold: m,
                    row: k,
                    ends,
                    penalty,
                    bias: manifold.bias_of(k),
                    gradient,
                });
            }
            for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (at, to) = (places[p], places[q]);
                if at != usize::MAX && to != usize::MAX && holds.contains(&true) {
                    matrix.add(at, to, |i, j| blocks[p][q][i][j]);
                }
            }
        }
        if active.is_empty() {
            return None;
        }
        let contacts = active.len();
        let twists = &self.twists;
        let pushing = || self.joined.pushing_limits(adding.then_some(twists));
        let limits: Vec<usize> = pushing().map(|(index, _)| index).collect();
        let pushing = pushing().map(|(_, row)| row);
        for row in pushing.chain(self.joined.demands.iter().filter(|row| row.factor() > 0.0)) {
            // An end that cannot move adds nothing.
            let Some(some) = row.ends.iter().flatten().next() else { continue };
            let ends = row.ends.map(|end| end.map_or(some.0, |(body, _)| body) as usize);
            let gradient = row.ends.map(|end| end.map_or_else(Twist::zero, |(_, wrench)| wrench));
            let row = Active {
                manifold: usize::MAX,
                row: 0,
                ends,
                penalty: JOINT_PENALTY / row.factor(),
                bias: row.bias,
                gradient,
            };
            row.add_penalty(place, matrix);
            active.push(row);
        }
        let mut solve = matrix.factorised()?;
        let count = size * place.iter().filter(|place| **place != usize::MAX).count();
        let mut right = vec![0.0; count];
        let mut change = vec![0.0; count];
        for _ in 0..UPDATES {
            right.fill(0.0);
            for row in &active {
                let push = row.penalty * row.speed(&self.twists);
                for (side, end) in
                    row.ends.into_iter().enumerate().filter(|(_, end)| place[*end] != usize::MAX)
                {
                    let mut flat = [0.0; 6];
                    row.gradient[side].write(&mut flat);
                    for i in 0..size {
                        right[size * place[end] + i] -= push * flat[i];
                    }
                }
            }
            solve(&right, &mut change);
            for (body, twist) in self.twists.iter_mut().enumerate().filter(|(i, _)| place[*i] != usize::MAX) {
                *twist += Twist::read(&change[size * place[body]..size * (place[body] + 1)]);
            }
            for row in &active[..contacts] {
                self.impulses[row.manifold][row.row] -= row.penalty * row.speed(&self.twists);
            }
            for (&limit, row) in limits.iter().zip(&active[contacts..]) {
                self.joined.add_to_limit(limit, -row.penalty * row.speed(&self.twists));
            }
        }
        Some(())
    }

    /// No pulling, no friction beyond its limit. Was there any?
    fn cut_back(&mut self) -> bool {
        let mut pulled = self.joined.cut_back();
        for (manifold, impulses) in self.manifolds.iter().zip(&mut self.impulses) {
            for impulse in &mut impulses[..manifold.points as usize] {
                pulled |= *impulse < 0.0;
                *impulse = impulse.max(0.0);
            }
            for (rows, limit) in bounds(manifold, impulses) {
                let impulses = &mut impulses[rows];
                let length = impulses.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length > limit {
                    pulled = true;
                    impulses.iter_mut().for_each(|x| *x *= limit / length);
                }
            }
        }
        pulled
    }
}

/// Which rows hold: points that press, friction and moments within their limits.
fn rows_that_hold<const D: usize>(manifold: &Manifold<D>, impulses: &Impulses) -> [bool; MOST_ROWS]
where
    Dim<D>: Space<D>,
{
    let points = manifold.points as usize;
    let mut holds = [false; MOST_ROWS];
    for k in 0..points {
        holds[k] = impulses[k] > 0.0;
    }
    for (rows, limit) in bounds(manifold, impulses) {
        let length = impulses[rows.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
        let sticks = length < limit * (1.0 - 1e-9);
        holds[rows].iter_mut().for_each(|row| *row = sticks);
    }
    holds
}

/// Rows whose impulses have a common bound, with the bound.
pub(super) fn bounds<const D: usize>(
    manifold: &Manifold<D>,
    impulses: &Impulses,
) -> impl Iterator<Item = (Range<usize>, f64)> + use<D>
where
    Dim<D>: Space<D>,
{
    let (points, rows) = (manifold.points as usize, manifold.rows as usize);
    let load: f64 = impulses[..points].iter().sum();
    let moment: f64 = impulses.iter().zip(&manifold.levers).take(points).map(|(l, lever)| l * lever).sum();
    let limits = &manifold.limits;
    let mut next = points + Manifold::<D>::TANGENTS;
    let sliding = (points..next, limits.friction * load);
    let spinning = manifold.spin_row().map(|row| {
        next += 1;
        (row..row + 1, limits.friction * moment + limits.spinning * load)
    });
    let rolling = (next < rows).then_some((next..rows, limits.rolling * load));
    [Some(sliding), spinning, rolling].into_iter().flatten()
}

/// A row that holds as an equation.
struct Active<const D: usize>
where
    Dim<D>: Space<D>,
{
    manifold: usize,
    row: usize,
    ends: [usize; 2],
    penalty: f64,
    bias: f64,
    /// Of its speed by the two twists.
    gradient: [Twist<D>; 2],
}

impl<const D: usize> Active<D>
where
    Dim<D>: Space<D>,
{
    /// Adds its penalty to the matrix of the bodies that have a `place` there.
    fn add_penalty(&self, place: &[usize], matrix: &mut Blocks) {
        let mut flat = [[0.0; 6]; 2];
        self.gradient.iter().zip(&mut flat).for_each(|(gradient, flat)| gradient.write(flat));
        for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (at, to) = (place[self.ends[p]], place[self.ends[q]]);
            if at != usize::MAX && to != usize::MAX {
                matrix.add(at, to, |i, j| self.penalty * flat[p][i] * flat[q][j]);
            }
        }
    }

    /// Its speed with the bias.
    fn speed(&self, twists: &[Twist<D>]) -> f64 {
        let along = |side: usize| self.gradient[side].dot(&twists[self.ends[side]]);
        along(0) + along(1) + self.bias
    }
}
