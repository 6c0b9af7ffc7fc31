//! Large islands in 3D, four manifolds at a time.
//!
//! A sweep visits one manifold after another, and each visit is a long chain of sums. Four manifolds of one level that share no body that
//! responds do not see each other, so they are visited at once, lane by lane in vectors; the sweep is the same as one in this order, one by one. The rows
//! say what those of [`super::manifold::Manifold`] say, in a third of the memory: a large island does not fit into the cache, and a sweep is as fast as
//! its rows arrive.

mod block;
mod lanes;
mod layout;
mod round;
mod setup;
#[cfg(test)]
mod tests;

use super::InverseInertia;
use super::balance::Balance;
use super::gauss_seidel::{Island, SWEEPS_BEFORE_BALANCE, Solved, Stop};
use block::{Block, POINTS, Twists};
use lanes::{LANES, Lane, Portable, Record, load3};
pub(super) use round::solve_round;
pub(super) use setup::{Source, is_wide};
use splashdown_math::{Coordinates, Dim, Space, Twist, Vector};
use std::ops::Range;

/// Most sweeps within a level of shock propagation, and the change of a relative velocity (m/s) that ends them.
const SHOCK_SWEEPS: usize = 12;
const SHOCK_ENOUGH: f64 = 1e-4;

/// Most sweeps for each level of the contact graph.
const SWEEPS_OF_A_LEVEL: usize = 2;
/// Multiple of the coarse tolerance above which an island is far from solved.
const FAR_FROM_SOLVED: f64 = 2.0;

/// Rows and bodies of an island over lanes.
#[derive(Debug, Clone, Default)]
pub(super) struct Wide {
    /// From the ground up.
    blocks: Vec<Block>,
    /// Blocks of each level of the contact graph, from the ground up.
    levels: Vec<(u32, Range<usize>)>,
    /// How each body responds, and last something that does not.
    inverse: Vec<Record>,
    /// Velocity and spin of each body, and last something at rest.
    twists: Vec<Record>,
    /// Without impulses.
    free: Vec<Record>,
    /// Blocks of a level with what is below held in place.
    held: Vec<Block>,
    layout: layout::Layout,
}

impl Record {
    /// Adds to velocity and spin.
    fn add<const D: usize>(&mut self, change: &Twist<D>)
    where
        Dim<D>: Space<D>,
    {
        let (linear, angular) = (change.linear.as_slice(), change.angular.as_slice());
        for k in 0..3 {
            self.0[0][k] += linear[k];
            self.0[1][k] += angular[k];
        }
    }
}

/// Work that is compiled for each kind of lanes. Closures do not take part: they are compiled without the vector instructions.
trait Kernel {
    type Output;
    fn run<L: Lane>(self) -> Self::Output;
}

/// Runs with the vector instructions that this processor has; the bits do not depend on them.
fn vectorized<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions that `with_avx2` is compiled for.
        return unsafe { with_avx2(kernel) };
    }
    kernel.run::<Portable>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<lanes::Avx>()
}

/// One pass over blocks; the largest change of a relative velocity (m/s).
struct Sweep<'a> {
    blocks: &'a mut [Block],
    inverse: &'a [Record],
    twists: &'a mut [Record],
    down: bool,
}

impl Kernel for Sweep<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<L: Lane>(self) -> f64 {
        let mut largest = L::zero();
        let Self { blocks, inverse, twists, down } = self;
        let count = blocks.len();
        for k in 0..count {
            let block = &mut blocks[if down { count - 1 - k } else { k }];
            block.relax(inverse, twists, &mut largest);
        }
        largest.numbers().into_iter().fold(0.0, f64::max)
    }
}

/// Adds the effect of all impulses to the motions; returns their work and its part that is twice the energy of the motion that they make (J).
struct Start<'a> {
    blocks: &'a [Block],
    inverse: &'a [Record],
    free: &'a [Record],
    twists: &'a mut [Record],
}

impl Kernel for Start<'_> {
    type Output = [f64; 2];
    #[inline(always)]
    fn run<L: Lane>(self) -> [f64; 2] {
        let Self { blocks, inverse, free, twists } = self;
        let (mut work, mut square) = (L::zero(), L::zero());
        for block in blocks {
            let push = block.push::<L>();
            let (a, b) = (Twists::of(free, &block.bodies[0]), Twists::of(free, &block.bodies[1]));
            work = work + block.work(&push, &a, &b) + block.work_of_bias();
            block.apply(&push, inverse, twists);
        }
        for block in blocks {
            let [a, b] = &block.bodies;
            let made_a = Twists::<L>::of(twists, a).minus(Twists::of(free, a));
            let made_b = Twists::<L>::of(twists, b).minus(Twists::of(free, b));
            square = square + block.work(&block.push::<L>(), &made_a, &made_b);
        }
        [work.numbers().iter().sum(), square.numbers().iter().sum()]
    }
}

/// Sums up what the impulses of each level do.
struct Loads<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    blocks: &'a [Block],
    twists: &'a [Record],
    levels: &'a [u32],
    balance: &'a mut Balance<D>,
}

impl<const D: usize> Kernel for Loads<'_, D>
where
    Dim<D>: Space<D>,
{
    type Output = ();
    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { blocks, twists, levels, balance } = self;
        for block in blocks {
            let push = block.push::<L>();
            let (a, b) = (Twists::of(twists, &block.bodies[0]), Twists::of(twists, &block.bodies[1]));
            let work = (block.work(&push, &a, &b) + block.work_of_bias()).numbers();
            let parts = pushes(block, &push);
            for lane in (0..LANES).filter(|&lane| block.points[lane] > 0) {
                let pushed = [Twist::read(&parts[0][lane]), -Twist::read(&parts[1][lane])];
                let bodies = [block.bodies[0][lane], block.bodies[1][lane]];
                balance.add(levels, bodies, work[lane], pushed);
            }
        }
    }
}

/// Momentum and angular momenta about A and B of a push on A, of each lane.
#[inline(always)]
fn pushes<L: Lane>(block: &Block, push: &block::Push<L>) -> [[[f64; 6]; LANES]; 2] {
    let mut parts = [[[0.0; 6]; LANES]; 2];
    for side in 0..2 {
        let moment = push.about(load3(&block.arms[side]));
        for k in 0..3 {
            let (force, moment) = (push.force[k].numbers(), moment[k].numbers());
            for lane in 0..LANES {
                parts[side][lane][k] = force[lane];
                parts[side][lane][3 + k] = moment[lane];
            }
        }
    }
    parts
}

/// Multiplies the impulses of each patch.
struct Scale<'a, F: Fn([u32; 2]) -> f64> {
    blocks: &'a mut [Block],
    factor: F,
}

impl<F: Fn([u32; 2]) -> f64> Kernel for Scale<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lane>(self) {
        for block in self.blocks {
            let mut factors = [0.0; LANES];
            for lane in (0..LANES).filter(|&lane| block.points[lane] > 0) {
                factors[lane] = (self.factor)([block.bodies[0][lane], block.bodies[1][lane]]);
            }
            block.scale::<L>(&factors);
        }
    }
}

/// How blocks respond.
struct Respond<'a> {
    blocks: &'a mut [Block],
    inverse: &'a [Record],
}

impl Kernel for Respond<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lane>(self) {
        for block in self.blocks {
            block.set_response::<L>(self.inverse);
        }
    }
}

/// Hands out what the impulses did: the bodies, momentum and angular momenta of each patch, and the impulse of each contact.
struct Results<'a, const D: usize, P, C> {
    blocks: &'a [Block],
    pushed: P,
    contact: C,
}

impl<const D: usize, P, C> Kernel for Results<'_, D, P, C>
where
    Dim<D>: Space<D>,
    P: FnMut(u32, Twist<D>),
    C: FnMut(usize, Vector<D>),
{
    type Output = ();
    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { blocks, mut pushed, mut contact } = self;
        for block in blocks {
            let parts = pushes(block, &block.push::<L>());
            let impulses = block.spread::<L>();
            for lane in (0..LANES).filter(|&lane| block.points[lane] > 0) {
                pushed(block.bodies[0][lane], Twist::read(&parts[0][lane]));
                pushed(block.bodies[1][lane], -Twist::read(&parts[1][lane]));
                for k in 0..block.points[lane].min(POINTS as u32) as usize {
                    let [x, y, z] = impulses[k];
                    let impulse = Vector::<D>::from_slice(&[x[lane], y[lane], z[lane]]);
                    contact(block.contact[lane] as usize + k, impulse);
                }
            }
        }
    }
}

impl Wide {
    /// Are there no rows?
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.levels.clear();
        self.inverse.clear();
        self.twists.clear();
    }

    /// Number of scalar rows.
    pub fn rows(&self) -> usize {
        let points = self.blocks.iter().flat_map(|block| block.points).filter(|&points| points > 0);
        points.map(|points| points as usize + 3).sum()
    }

    /// The highest level of the contact graph.
    pub fn highest(&self) -> u32 {
        self.levels.last().map_or(0, |(level, _)| *level)
    }

    /// What the impulses do: `pushed` gets every body (its place in the island) with what it is given (kg m/s and kg m^2/s), `contact` every contact
    /// with its impulse on A (kg m/s).
    pub fn results<const D: usize>(
        &self,
        pushed: impl FnMut(u32, Twist<D>),
        contact: impl FnMut(usize, Vector<D>),
    ) where
        Dim<D>: Space<D>,
    {
        vectorized(Results::<D, _, _> { blocks: &self.blocks, pushed, contact });
    }

    fn sweep(&mut self, down: bool) -> f64 {
        let Self { blocks, inverse, twists, .. } = self;
        vectorized(Sweep { blocks, inverse, twists, down })
    }

    /// As [`Island::apply_start`]: starts that would add energy are scaled.
    fn apply_start(&mut self) {
        let Self { blocks, inverse, free, twists, .. } = self;
        free.clone_from(twists);
        let [work, square] = vectorized(Start { blocks, inverse, free, twists });
        if 0.5 * square + work > 0.0 {
            let share = (-work / square).clamp(0.0, 1.0);
            vectorized(Scale { blocks, factor: |_| share });
            for (now, free) in twists.iter_mut().zip(free.iter()) {
                let both = now.0.iter_mut().flatten().zip(free.0.iter().flatten());
                both.for_each(|(now, free)| *now = *free + (*now - *free) * share);
            }
        }
    }

    /// As [`Island::balance`].
    fn balance<const D: usize>(&mut self, levels: &[u32], of: &[InverseInertia<D>], balance: &mut Balance<D>)
    where
        Dim<D>: Space<D>,
    {
        let Self { blocks, twists, .. } = self;
        balance.begin(levels);
        vectorized(Loads { blocks, twists, levels, balance });
        if !balance.solve(levels, of) {
            return;
        }
        let factor = |bodies: [u32; 2]| balance.scale(levels, bodies);
        vectorized(Scale { blocks, factor });
        balance.changes(levels, of, |body, change| {
            twists[body].add(&change);
        });
    }
}

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// As [`Self::solve`], over lanes: sweeps and the balance of levels.
    pub(super) fn solve_wide(&mut self, stop: Stop, balance: &mut Balance<D>) -> Solved {
        let layered = self.is_layered();
        let Self { wide, levels, inverse, .. } = self;
        wide.apply_start();
        let mut solved = Solved::default();
        // Loads have to get to the ground: what is far from solved goes on, the more so the higher it is.
        let most = stop.iterations.max(SWEEPS_OF_A_LEVEL * wide.highest() as usize);
        for iteration in 0..most {
            if iteration >= stop.iterations && solved.residual <= FAR_FROM_SOLVED * stop.coarse {
                break;
            }
            if layered && (iteration + 1) % SWEEPS_BEFORE_BALANCE == 0 {
                wide.balance(levels, inverse, balance);
            }
            // Up and down in turn: loads travel down, support travels up.
            let residual = wide.sweep(iteration % 2 == 1);
            solved = Solved { iterations: iteration + 1, residual };
            if residual <= stop.tolerance || (iteration + 1 >= stop.enough && residual <= stop.coarse) {
                break;
            }
        }
        solved
    }

    /// As [`Self::shock`], over lanes.
    pub(super) fn shock_wide(&mut self) -> Vec<Twist<D>> {
        let Wide { blocks, levels, inverse, twists, free, held, .. } = &mut self.wide;
        free.clone_from(twists);
        let nothing = (inverse.len() - 1) as u32;
        for (level, range) in levels.iter() {
            held.clear();
            held.extend_from_slice(&blocks[range.clone()]);
            // With what is below held in place.
            for block in held.iter_mut() {
                for (responding, bodies) in block.responding.iter_mut().zip(&block.bodies) {
                    for (responding, body) in responding.iter_mut().zip(bodies) {
                        if self.levels.get(*body as usize).is_none_or(|of| of != level) {
                            *responding = nothing;
                        }
                    }
                }
            }
            vectorized(Respond { blocks: held, inverse });
            for _ in 0..SHOCK_SWEEPS {
                if vectorized(Sweep { blocks: held, inverse, twists, down: false }) < SHOCK_ENOUGH {
                    break;
                }
            }
        }
        let changes = twists.iter().zip(free.iter()).take(self.bodies.len());
        let changes = changes.map(|(after, before)| {
            let [[vx, vy, vz, _], [wx, wy, wz, _]] = after.0;
            let [[ux, uy, uz, _], [sx, sy, sz, _]] = before.0;
            Twist::read(&[vx - ux, vy - uy, vz - uz, wx - sx, wy - sy, wz - sz])
        });
        changes.collect()
    }
}
