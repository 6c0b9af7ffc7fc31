//! Contact and friction of one island at once: block Gauss-Seidel over manifolds, warm-started, accelerated by nonlinear conjugate gradients
//! (M. Silcowitz-Hansen, S. Niebe, K. Erleben, "A nonsmooth nonlinear conjugate gradient method for interactive contact force problems", 2010).
//!
//! Every contact point wants `u_n + bias >= 0`, `lambda_n >= 0`, one of them zero. Friction belongs to the patch of points between two bodies: an
//! impulse in the plane at the patch's centre of at most `mu` times the load, against the sliding there, and a moment about the normal of at
//! most `mu` times the load times its distance from the centre. Friction at every corner instead would hold the corners against each other
//! through the rigid body, and the iteration would need ten times as long to find out (measured on stacks of boxes).

use super::InverseInertia;
use super::balance::Balance;
use super::blocks::Blocks;
use super::joined::Joined;
use super::manifold::{Impulses, Manifold, Sums};
use super::round::RoundContact;
use super::wide::Wide;
use splashdown_math::{Dim, Space, Twist};

/// Newton steps of one solve, and sweeps before each: what sweeps solve quickly needs none.
const MOST_NEWTON_STEPS: usize = 8;
const SWEEPS_BEFORE_NEWTON: usize = 12;

/// With fewer iterations there is neither acceleration nor Newton.
pub(super) const FEWEST_ACCELERATED: usize = 40;

/// Sweeps before the loads of levels are found at once: what is at rest needs fewer.
pub(super) const SWEEPS_BEFORE_BALANCE: usize = 4;

/// Balances one after another that do not halve the residual before there are no more.
const MOST_IDLE_BALANCES: usize = 1;

/// Sweeps that have to lower the smallest residual to this share of it, or there are no more: loads that the bodies leave undetermined wander from
/// contact to contact for ever.
const SWEEPS_OF_HEADWAY: usize = 32;
const HEADWAY: f64 = 0.5;

/// Bodies and contacts that are solved together.
#[derive(Debug, Clone, Default)]
pub(super) struct Island<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Index of each body in the world, ascending.
    pub bodies: Vec<u32>,
    pub inverse: Vec<InverseInertia<D>>,
    pub twists: Vec<Twist<D>>,
    /// From the ground up.
    pub manifolds: Vec<Manifold<D>>,
    /// Of each manifold.
    pub impulses: Vec<Impulses>,
    /// Instead of manifolds, if the island is large and all its contacts are round; from the ground up.
    pub round: Vec<RoundContact<D>>,
    /// Instead of manifolds, if the island is large; from the ground up.
    pub wide: Wide,
    /// Pairs of the world that touch here, from the ground up.
    pub pairs: Vec<u32>,
    /// Level of each body in the contact graph.
    pub levels: Vec<u32>,
    /// Bodies that joints hold.
    pub joined: Joined<D>,
    /// How its contacts are written, once that is known for this step of time.
    pub form: Option<Form>,
    /// A Newton step failed in this step of time: in the other contact stage it would fail again.
    pub newton_failed: bool,
    /// The matrix of Newton steps.
    pub newton: Blocks,
    memory: Memory<D>,
}

/// How the contacts of an island are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Manifolds,
    Round,
    Wide,
}

/// Room for one solve.
#[derive(Debug, Clone, Default)]
struct Memory<const D: usize>
where
    Dim<D>: Space<D>,
{
    free: Vec<Twist<D>>,
    velocity_direction: Vec<Twist<D>>,
    direction: Vec<Impulses>,
    before: Vec<Twist<D>>,
    impulses_before: Vec<Impulses>,
    balance: Balance<D>,
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

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// Number of scalar rows.
    pub fn rows(&self) -> usize {
        let round = self.round.len() * RoundContact::<D>::ROWS;
        let narrow = self.manifolds.iter().map(|manifold| manifold.rows as usize).sum::<usize>();
        narrow + round + self.wide.rows()
    }

    /// Empties it but for its bodies and pairs.
    pub fn clear_rows(&mut self) {
        self.inverse.clear();
        self.twists.clear();
        self.manifolds.clear();
        self.impulses.clear();
        self.round.clear();
        self.wide.clear();
        self.joined.clear();
    }

    /// Solves from the impulses of the manifolds (their effect is added to the twists first).
    pub fn solve(&mut self, stop: Stop) -> Solved {
        if !self.round.is_empty() {
            return self.solve_round(stop);
        }
        let mut memory = std::mem::take(&mut self.memory);
        if !self.wide.is_empty() {
            let solved = self.solve_wide(stop, &mut memory.balance);
            self.memory = memory;
            return solved;
        }
        let Memory { free, velocity_direction, direction, before, impulses_before, balance } = &mut memory;
        free.clone_from(&self.twists);
        self.apply_start(free);
        let fit = self.is_fit_for_newton() && !self.newton_failed;
        let mut newton = if fit && stop.iterations >= FEWEST_ACCELERATED { MOST_NEWTON_STEPS } else { 0 };
        // Few iterations do not pay back what acceleration disturbs at first.
        let accelerate = stop.iterations >= FEWEST_ACCELERATED && !self.joined.has_limits();
        let mut layered = self.is_layered();
        // Lowest residual before a balance, and how many since have not halved it.
        let (mut lowest, mut idle) = (f64::INFINITY, 0);
        let (mut last, mut restart) = (f64::INFINITY, true);
        let mut solved = Solved::default();
        // Smallest residual of the last sweeps, and of those before them.
        let (mut smallest, mut smallest_before) = (f64::INFINITY, f64::INFINITY);
        for iteration in 0..stop.iterations {
            if layered && (iteration + 1) % SWEEPS_BEFORE_BALANCE == 0 {
                idle = if solved.residual <= 0.5 * lowest { 0 } else { idle + 1 };
                lowest = lowest.min(solved.residual);
                // Among bodies that bump into each other from all sides loads do not go by levels: balance and sweeps would undo each other for ever.
                layered = !accelerate || idle <= MOST_IDLE_BALANCES;
            }
            if layered && (iteration + 1) % SWEEPS_BEFORE_BALANCE == 0 {
                self.balance(balance);
                restart = true;
            }
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
            smallest = smallest.min(sums.largest);
            if newton == 0 && (iteration + 1) % SWEEPS_OF_HEADWAY == 0 {
                if smallest > HEADWAY * smallest_before {
                    break;
                }
                smallest_before = std::mem::replace(&mut smallest, f64::INFINITY);
            }
            if newton > 0 && (iteration + 1) % SWEEPS_BEFORE_NEWTON == 0 {
                newton = if self.newton_step(free) { newton - 1 } else { 0 };
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
                    .extend(self.twists.iter().zip(before.iter()).map(|(now, before)| *now - *before));
                direction.clear();
                direction.extend(
                    self.impulses
                        .iter()
                        .zip(impulses_before.iter())
                        .map(|(now, before)| std::array::from_fn(|k| now[k] - before[k])),
                );
                continue;
            }
            for ((direction, now), before) in
                velocity_direction.iter_mut().zip(&mut self.twists).zip(before.iter())
            {
                let change = *now - *before;
                let step = *direction * share;
                *now += step;
                *direction = step + change;
            }
            for ((direction, now), before) in
                direction.iter_mut().zip(&mut self.impulses).zip(impulses_before.iter())
            {
                for ((direction, now), before) in direction.iter_mut().zip(now).zip(before) {
                    let change = *now - before;
                    let step = *direction * share;
                    *now += step;
                    *direction = step + change;
                }
            }
        }
        if solved.residual > stop.coarse
            && let Some(residual) = self.solve_exactly(free, solved.residual, stop.coarse)
        {
            solved.residual = residual;
        }
        // Limits of joints have impulses of their own, which count as well.
        if !self.joined.has_limits() {
            self.scale_back(free);
        }
        self.memory = memory;
        solved
    }

    /// Adds the effect of the start impulses to the twists, and scales it back: sweeps only lower the objective, so kinetic energy never rises however early the
    /// iteration stops.
    fn apply_start(&mut self, free: &[Twist<D>]) {
        for (manifold, impulses) in self.manifolds.iter().zip(&self.impulses) {
            self.joined.push(manifold, &manifold.gather(impulses), &self.inverse, &mut self.twists);
        }
        self.scale_back(free);
    }

    /// With `f = l.A l / 2 + l.b` the objective of the iteration (`b` the speeds without impulses), scales impulses with `f > 0` to the least one on their ray: with
    /// those kinetic energy could rise. Acceleration and limits of friction that follow the loads can leave such, where the iteration stops before its end.
    fn scale_back(&mut self, free: &[Twist<D>]) {
        let (mut work, mut square) = (0.0, 0.0);
        // The work of the impulses is twice the energy of the motion that they make.
        for (manifold, impulses) in self.manifolds.iter().zip(&self.impulses) {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let push = manifold.gather(impulses);
            work += dot(&push, &manifold.relative(&free[a], &free[b]));
            work += manifold.bias.iter().zip(impulses).map(|(bias, impulse)| bias * impulse).sum::<f64>();
            let made = manifold.relative(&(self.twists[a] - free[a]), &(self.twists[b] - free[b]));
            square += dot(&push, &made);
        }
        if 0.5 * square + work > 0.0 {
            let share = (-work / square).clamp(0.0, 1.0);
            self.impulses.iter_mut().flatten().for_each(|impulse| *impulse *= share);
            for (now, free) in self.twists.iter_mut().zip(free) {
                *now = *free + (*now - *free) * share;
            }
        }
    }

    /// Adds the effect of all impulses to the twists.
    pub fn apply_impulses(&mut self) {
        for (manifold, impulses) in self.manifolds.iter().zip(&self.impulses) {
            self.joined.push(manifold, &manifold.gather(impulses), &self.inverse, &mut self.twists);
        }
        self.joined.apply_limits(&self.inverse, &mut self.twists);
    }

    /// One pass over all manifolds, from the ground up or down to it.
    pub(super) fn sweep(&mut self, down: bool) -> Sums {
        let mut sums = Sums::default();
        let Self { manifolds, impulses, inverse, twists, joined, .. } = self;
        joined.relax_limits(inverse, twists, &mut sums);
        let mut visit = |manifold: &Manifold<D>, impulses: &mut Impulses| {
            let (a, b) = (manifold.bodies[0] as usize, manifold.bodies[1] as usize);
            let mut local = manifold.relative(&twists[a], &twists[b]);
            let push = manifold.relax(impulses, &mut local, &mut sums);
            if push != [0.0; 6] {
                joined.push(manifold, &push, inverse, twists);
            }
        };
        let all = manifolds.iter().zip(impulses.iter_mut());
        if down {
            all.rev().for_each(|(manifold, impulses)| visit(manifold, impulses));
        } else {
            all.for_each(|(manifold, impulses)| visit(manifold, impulses));
        }
        sums
    }
}

#[inline]
fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
