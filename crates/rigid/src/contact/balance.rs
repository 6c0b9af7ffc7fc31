//! Loads of a stack level by level, found at once.
//!
//! Sweeps pass a load on from body to body; a pile of `n` layers needs of the order of `n^2` of them until the lowest layer bears what lies on top. But
//! sweeps are quick to find how the load of a level is shared among its contacts. So the impulses between a level and what it rests on are scaled
//! together, with one factor a level, and the factors that make the objective of the sweeps least are the solution of one small system: a coarse
//! correction as in multigrid, with the levels of the contact graph as aggregates. Scaling keeps every impulse within its cone, and the objective falls,
//! so kinetic energy does not rise.

use super::InverseInertia;
use super::gauss_seidel::Island;
use splashdown_math::{Dim, Space, Twist};

/// Most factors; a graph with more levels has several of them in one.
const MOST_MODES: usize = 128;
/// Levels that sweeps deal with as well.
const LEAST_LEVELS: u32 = 3;

/// Room for one correction.
#[derive(Debug, Clone, Default)]
pub(super) struct Balance<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Momentum that the impulses of a mode give a body: of the body's own mode and of the next one.
    pushes: Vec<[Twist<D>; 2]>,
    /// The same of other modes.
    others: Vec<(u32, u32, Twist<D>)>,
    matrix: Vec<f64>,
    /// Right side, then the factors less one.
    right: Vec<f64>,
    /// Levels in one mode.
    group: usize,
}

/// What the impulses of a contact do to its two bodies.
pub(super) struct Load<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// As indices into the island's.
    pub bodies: [u32; 2],
    /// Impulse times speed, with the bias (J).
    pub work: f64,
    /// Momentum and angular momenta that A and B get.
    pub pushes: [Twist<D>; 2],
}

/// Bodies of an island by their level.
#[derive(Clone, Copy)]
struct Modes<'a> {
    levels: &'a [u32],
    group: usize,
}

impl Modes<'_> {
    #[inline(always)]
    fn of_level(self, level: u32) -> usize {
        let below = (level as usize).saturating_sub(1);
        // Division is slow, and nearly always by one.
        if self.group == 1 { below } else { below / self.group }
    }

    #[inline(always)]
    fn of(self, body: usize) -> usize {
        self.of_level(self.levels[body])
    }

    /// Of the contact between two bodies.
    #[inline(always)]
    fn between(self, bodies: [u32; 2]) -> usize {
        let [a, b] = bodies.map(|b| self.levels[b as usize]);
        self.of_level(a.max(b))
    }
}

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// Does it have levels to balance? Bodies that joints hold pass loads on otherwise than level by level.
    pub(super) fn is_layered(&self) -> bool {
        self.joined.is_empty() && self.levels.iter().any(|&level| level >= LEAST_LEVELS)
    }

    /// Scales the impulses of each level.
    pub(super) fn balance(&mut self, memory: &mut Balance<D>) {
        let Self { manifolds, impulses, inverse, twists, levels, .. } = self;
        let loads = manifolds.iter().zip(impulses.iter()).map(|(manifold, impulses)| {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let local = manifold.gather(impulses);
            let speeds = manifold.relative(&twists[a], &twists[b]);
            let work = (0..6).map(|k| local[k] * speeds[k]).sum::<f64>()
                + manifold.bias.iter().zip(impulses).map(|(bias, l)| bias * l).sum::<f64>();
            let (force, moments) = manifold.push(&local);
            let pushes = [
                Twist { linear: force, angular: moments[0] },
                Twist { linear: -force, angular: -moments[1] },
            ];
            Load { bodies: manifold.bodies, work, pushes }
        });
        if !memory.find(levels, inverse, loads) {
            return;
        }
        for (manifold, impulses) in manifolds.iter().zip(impulses) {
            let scale = memory.scale(levels, manifold.bodies);
            impulses.iter_mut().for_each(|impulse| *impulse *= scale);
        }
        memory.apply(levels, inverse, twists);
    }
}

impl<const D: usize> Balance<D>
where
    Dim<D>: Space<D>,
{
    fn modes<'a>(&self, levels: &'a [u32]) -> Modes<'a> {
        Modes { levels, group: self.group }
    }

    /// Finds the factors of the levels. Returns whether it could.
    pub(super) fn find(
        &mut self,
        levels: &[u32],
        inverse: &[InverseInertia<D>],
        loads: impl Iterator<Item = Load<D>>,
    ) -> bool {
        self.begin(levels);
        loads.for_each(|load| self.add(levels, load.bodies, load.work, load.pushes));
        self.solve(levels, inverse)
    }

    /// Starts anew with no loads.
    pub(super) fn begin(&mut self, levels: &[u32]) {
        let highest = levels.iter().copied().max().unwrap_or(0);
        self.group = (highest as usize).div_ceil(MOST_MODES).max(1);
        let modes = self.modes(levels).of_level(highest) + 1;
        self.pushes.clear();
        self.pushes.resize(levels.len(), [Twist::zero(); 2]);
        self.others.clear();
        self.matrix.clear();
        self.matrix.resize(modes * modes, 0.0);
        self.right.clear();
        self.right.resize(modes, 0.0);
    }

    /// Adds a load, as in [`Load`].
    #[inline]
    pub(super) fn add(&mut self, levels: &[u32], bodies: [u32; 2], work: f64, pushes: [Twist<D>; 2]) {
        let of = self.modes(levels);
        let mode = of.between(bodies);
        self.right[mode] -= work;
        for (body, push) in bodies.into_iter().zip(pushes) {
            match mode - of.of(body as usize).min(mode) {
                // What rests on nothing: it does not respond.
                _ if levels[body as usize] == 0 => {}
                0 => self.pushes[body as usize][0] += push,
                1 => self.pushes[body as usize][1] += push,
                _ => self.others.push((body, mode as u32, push)),
            }
        }
    }

    /// Finds the factors of the levels for the loads that were added. Returns whether it could.
    pub(super) fn solve(&mut self, levels: &[u32], inverse: &[InverseInertia<D>]) -> bool {
        let of = self.modes(levels);
        let modes = self.right.len();
        let Self { pushes, others, matrix, right, .. } = self;
        others.sort_by_key(|&(body, mode, _)| u64::from(body) << 32 | u64::from(mode));
        let mut next = 0;
        let mut of_body: Vec<(usize, Twist<D>)> = Vec::new();
        for (body, (push, inverse)) in pushes.iter().zip(inverse).enumerate() {
            if inverse.is_infinite() {
                continue;
            }
            let own = of.of(body);
            let moved = |push: &Twist<D>| Twist {
                linear: push.linear * inverse.mass,
                angular: Dim::apply_inertia(&inverse.inertia, &push.angular),
            };
            let first = moved(&push[0]);
            matrix[own * modes + own] += first.dot(&push[0]);
            let alone = others.get(next).is_none_or(|&(of, ..)| of as usize != body);
            if alone {
                if own + 1 < modes {
                    let share = first.dot(&push[1]);
                    matrix[own * modes + own + 1] += share;
                    matrix[(own + 1) * modes + own] += share;
                    matrix[(own + 1) * (modes + 1)] += moved(&push[1]).dot(&push[1]);
                }
                continue;
            }
            of_body.clear();
            of_body.push((own, push[0]));
            of_body.push((own + 1, push[1]));
            while let Some(&(_, mode, push)) = others.get(next).filter(|&&(of, ..)| of as usize == body) {
                match of_body.last_mut() {
                    Some((last, sum)) if *last == mode as usize => *sum += push,
                    _ => of_body.push((mode as usize, push)),
                }
                next += 1;
            }
            for (i, (p, push)) in of_body.iter().enumerate() {
                let moved = moved(push);
                for (_, (q, other)) in of_body.iter().enumerate().filter(|(j, _)| i + j > 0) {
                    matrix[p * modes + q] += moved.dot(other);
                }
            }
        }
        if !factorise_and_solve(matrix, right, modes) {
            return false;
        }
        // No impulse changes its sign.
        let least = right.iter().copied().fold(0.0, f64::min);
        let step = if least < -1.0 { -1.0 / least } else { 1.0 };
        right.iter_mut().for_each(|factor| *factor *= step);
        true
    }

    /// By what the impulses between two bodies are to be multiplied.
    #[inline]
    pub(super) fn scale(&self, levels: &[u32], bodies: [u32; 2]) -> f64 {
        1.0 + self.right[self.modes(levels).between(bodies)]
    }

    /// Changes the twists as the scaled impulses do.
    pub(super) fn apply(&self, levels: &[u32], inverse: &[InverseInertia<D>], twists: &mut [Twist<D>]) {
        self.changes(levels, inverse, |body, change| twists[body] += change);
    }

    /// By how much the scaled impulses change the twists, in parts.
    pub(super) fn changes(
        &self,
        levels: &[u32],
        inverse: &[InverseInertia<D>],
        mut give: impl FnMut(usize, Twist<D>),
    ) {
        let of = self.modes(levels);
        let mut change = |body: usize, push: &Twist<D>, factor: f64| {
            let inverse = &inverse[body];
            give(
                body,
                Twist {
                    linear: push.linear * (inverse.mass * factor),
                    angular: Dim::apply_inertia(&inverse.inertia, &push.angular) * factor,
                },
            );
        };
        for (body, push) in self.pushes.iter().enumerate().filter(|(body, _)| levels[*body] > 0) {
            let own = of.of(body);
            change(body, &push[0], self.right[own]);
            if own + 1 < self.right.len() {
                change(body, &push[1], self.right[own + 1]);
            }
        }
        for (body, mode, push) in &self.others {
            change(*body as usize, push, self.right[*mode as usize]);
        }
    }
}

/// Solves a symmetric positive semidefinite system in place by Cholesky; modes without impulses stay as they are. Returns whether it could.
fn factorise_and_solve(matrix: &mut [f64], right: &mut [f64], size: usize) -> bool {
    let floor = 1e-12 * (0..size).map(|i| matrix[i * size + i]).fold(0.0, f64::max);
    if !(floor > 0.0) {
        return false;
    }
    for j in 0..size {
        let pivot = matrix[j * size + j] - (0..j).map(|k| matrix[j * size + k].powi(2)).sum::<f64>();
        let null = !(pivot > floor);
        matrix[j * size + j] = if null { 1.0 } else { pivot.sqrt() };
        if null {
            (0..j).for_each(|k| matrix[j * size + k] = 0.0);
            right[j] = 0.0;
        }
        for i in j + 1..size {
            let inner: f64 = (0..j).map(|k| matrix[i * size + k] * matrix[j * size + k]).sum();
            matrix[i * size + j] =
                if null { 0.0 } else { (matrix[i * size + j] - inner) / matrix[j * size + j] };
        }
    }
    for i in 0..size {
        let inner: f64 = (0..i).map(|k| matrix[i * size + k] * right[k]).sum();
        right[i] = (right[i] - inner) / matrix[i * size + i];
    }
    for i in (0..size).rev() {
        let inner: f64 = (i + 1..size).map(|k| matrix[k * size + i] * right[k]).sum();
        right[i] = (right[i] - inner) / matrix[i * size + i];
    }
    right.iter().all(|x| x.is_finite())
}
