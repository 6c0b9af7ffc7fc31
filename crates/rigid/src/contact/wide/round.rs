//! Contacts of spheres over lanes: [`RoundContact`] four at a time.

use super::super::balance::Balance;
use super::super::gauss_seidel::{Solved, Stop};
use super::super::round::{COARSE, RoundContact, SWEEPS_BEFORE_BALANCE};
use super::block::Twists;
use super::lanes::{Four, LANES, Lane, Record, Rounded, Vec3, add, cross, dot, load3, scaled, store3, sub};
use super::layout::{Layout, Patch, Row};
use super::{Kernel, vectorized};
use crate::contact::InverseInertia;
use splashdown_math::{Coordinates, Dim, Space, Twist, Vector};

/// Four contacts of which no two share a body that responds.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct RoundBlock {
    /// Unit vectors from B to A.
    normal: [Four; 3],
    /// Tangential and normal impulses on A (kg m/s).
    friction: [Four; 3],
    load: Four,
    /// Speed of approach that is allowed (m/s).
    bias: Four,
    /// The points are this far from the centres of A and B along the normal (m).
    levers: [Four; 2],
    coefficient: Rounded,
    /// Change of the normal and of the tangential speed for an impulse of one, and the inverses.
    factors: [Rounded; 2],
    inverse: [Rounded; 2],
    bodies: [[u32; LANES]; 2],
    /// Place among the contacts, none for a lane without one.
    contact: [u32; LANES],
}

/// Most sweeps of a pile of many levels, which gets two for every three of them.
const MOST_SWEEPS: usize = 60;

/// Sweeps that come after the last balance.
const SWEEPS_AFTER_BALANCE: usize = 4;

/// No contact.
const NONE: u32 = u32::MAX;

impl Row for RoundBlock {
    fn between(nothing: u32) -> Self {
        Self { bodies: [[nothing; LANES]; 2], contact: [NONE; LANES], ..Self::default() }
    }

    fn take(&mut self, lane: usize, patch: &Patch) {
        self.bodies[0][lane] = patch.bodies[0];
        self.bodies[1][lane] = patch.bodies[1];
        self.contact[lane] = patch.contact;
    }
}

/// Motions of four spheres and how they respond.
#[derive(Clone, Copy)]
struct Spheres<L> {
    twists: Twists<L>,
    mass: L,
    inertia: L,
}

impl<L: Lane> Spheres<L> {
    #[inline(always)]
    fn of(table: &[Record], at: &[u32; LANES]) -> Self {
        let [[vx, vy, vz, mass], [wx, wy, wz, inertia]] = L::gather(table, at);
        Self { twists: Twists { linear: [vx, vy, vz], angular: [wx, wy, wz] }, mass, inertia }
    }

    #[inline(always)]
    fn store(self, table: &mut [Record], at: &[u32; LANES]) {
        let ([vx, vy, vz], [wx, wy, wz]) = (self.twists.linear, self.twists.angular);
        L::scatter([[vx, vy, vz, self.mass], [wx, wy, wz, self.inertia]], table, at);
    }
}

impl RoundBlock {
    /// Velocity of A's point relative to B's.
    #[inline(always)]
    fn relative<L: Lane>(&self, normal: Vec3<L>, a: &Twists<L>, b: &Twists<L>) -> Vec3<L> {
        let levers = [L::load(&self.levers[0]), L::load(&self.levers[1])];
        let turning = sub(scaled(a.angular, levers[0]), scaled(b.angular, levers[1]));
        add(sub(a.linear, b.linear), cross(turning, normal))
    }

    /// As [`RoundContact::relax`].
    #[inline(always)]
    fn relax<L: Lane>(&mut self, bodies: &mut [Record], largest: &mut L) {
        let mut a = Spheres::<L>::of(bodies, &self.bodies[0]);
        let mut b = Spheres::<L>::of(bodies, &self.bodies[1]);
        let normal: Vec3<L> = load3(&self.normal);
        let relative = self.relative(normal, &a.twists, &b.twists);
        let approach = dot(normal, relative);
        let (before, rubbing) = (L::load(&self.load), load3::<L>(&self.friction));
        let load = (before - (approach + L::load(&self.bias)) * L::widen(&self.inverse[0])).max(L::zero());
        let sliding = sub(relative, scaled(normal, approach));
        let friction = sub(rubbing, scaled(sliding, L::widen(&self.inverse[1])));
        let most = L::widen(&self.coefficient) * load;
        let (square, limit) = (dot(friction, friction), most * most);
        let cut = most.over(square.if_above(limit, square, L::splat(1.0)).sqrt());
        let friction = scaled(friction, square.if_above(limit, cut, L::splat(1.0)));
        load.store(&mut self.load);
        store3(friction, &mut self.friction);
        let (pressed, rubbed) = (load - before, sub(friction, rubbing));
        let push = add(scaled(normal, pressed), rubbed);
        let moment = cross(normal, rubbed);
        a.twists.linear = add(a.twists.linear, scaled(push, a.mass));
        a.twists.angular = add(a.twists.angular, scaled(moment, L::load(&self.levers[0]) * a.inertia));
        b.twists.linear = sub(b.twists.linear, scaled(push, b.mass));
        b.twists.angular = sub(b.twists.angular, scaled(moment, L::load(&self.levers[1]) * b.inertia));
        a.store(bodies, &self.bodies[0]);
        b.store(bodies, &self.bodies[1]);
        let (along, across) = (L::widen(&self.factors[0]) * pressed, L::widen(&self.factors[1]));
        *largest = largest.max(along * along).max(across * across * dot(rubbed, rubbed));
    }
}

/// One pass over blocks; the largest change of a relative velocity (m/s).
struct Sweep<'a> {
    blocks: &'a mut [RoundBlock],
    bodies: &'a mut [Record],
    down: bool,
}

impl Kernel for Sweep<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<L: Lane>(self) -> f64 {
        let Self { blocks, bodies, down } = self;
        let mut largest = L::zero();
        let count = blocks.len();
        for k in 0..count {
            blocks[if down { count - 1 - k } else { k }].relax(bodies, &mut largest);
        }
        largest.numbers().into_iter().fold(0.0, f64::max).sqrt()
    }
}

/// Sums up what the impulses of each level do.
struct Loads<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    blocks: &'a [RoundBlock],
    bodies: &'a [Record],
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
        let Self { blocks, bodies, levels, balance } = self;
        for block in blocks {
            let normal: Vec3<L> = load3(&block.normal);
            let (load, friction) = (L::load(&block.load), load3::<L>(&block.friction));
            let force = add(scaled(normal, load), friction);
            let moment = cross(normal, friction);
            let (a, b) = (Twists::of(bodies, &block.bodies[0]), Twists::of(bodies, &block.bodies[1]));
            let relative = block.relative(normal, &a, &b);
            let work = (dot(force, relative) + L::load(&block.bias) * load).numbers();
            let mut parts = [[0.0; 6]; LANES];
            for k in 0..3 {
                let (force, moment) = (force[k].numbers(), moment[k].numbers());
                for lane in 0..LANES {
                    parts[lane][k] = force[lane];
                    parts[lane][3 + k] = moment[lane];
                }
            }
            for lane in (0..LANES).filter(|&lane| block.contact[lane] != NONE) {
                let push: Twist<D> = Twist::read(&parts[lane]);
                let of = |lever: f64| Twist { linear: push.linear, angular: push.angular * lever };
                let pushes = [of(block.levers[0][lane]), -of(block.levers[1][lane])];
                balance.add(levels, [block.bodies[0][lane], block.bodies[1][lane]], work[lane], pushes);
            }
        }
    }
}

/// Blocks of contacts, which are sorted by level.
fn blocks<const D: usize>(contacts: &[RoundContact<D>], responses: &[[f64; 2]]) -> Vec<RoundBlock>
where
    Dim<D>: Space<D>,
{
    let mut blocks: Vec<RoundBlock> = Vec::with_capacity(contacts.len() / 3);
    let mut layout = Layout::default();
    layout.begin(responses.len());
    let patches = contacts.iter().enumerate().map(|(index, contact)| Patch {
        bodies: contact.bodies,
        contact: index as u32,
        points: 1,
    });
    let nothing = responses.len() as u32;
    layout.append(&mut blocks, patches, nothing, |body| responses[body as usize][0] == 0.0);
    for block in &mut blocks {
        let places = block.contact;
        for (lane, &place) in places.iter().enumerate().filter(|(_, place)| **place != NONE) {
            let contact = &contacts[place as usize];
            for axis in 0..D.min(3) {
                block.normal[axis][lane] = contact.normal[axis];
                block.friction[axis][lane] = contact.friction[axis];
            }
            block.load[lane] = contact.load;
            block.bias[lane] = contact.bias;
            block.coefficient[lane] = contact.coefficient as f32;
            for k in 0..2 {
                block.levers[k][lane] = contact.levers[k];
                block.factors[k][lane] = contact.factors[k] as f32;
                block.inverse[k][lane] = contact.inverse[k] as f32;
            }
        }
    }
    blocks
}

/// Solves contacts in 3D, which are sorted by level, from their impulses; `twists` have the effect of these already, `responses` are `1/m` and `1/I`.
pub(in crate::contact) fn solve_round<const D: usize>(
    contacts: &mut [RoundContact<D>],
    responses: &[[f64; 2]],
    twists: &[Twist<D>],
    (levels, inverse, layered): (&[u32], &[InverseInertia<D>], bool),
    stop: Stop,
) -> Solved
where
    Dim<D>: Space<D>,
{
    let mut blocks = blocks(contacts, responses);
    let mut bodies: Vec<Record> = twists
        .iter()
        .zip(responses)
        .map(|(twist, [mass, inertia])| {
            let (v, w) = (twist.linear.as_slice(), twist.angular.as_slice());
            Record([[v[0], v[1], v[2], *mass], [w[0], w[1], w[2], *inertia]])
        })
        .collect();
    bodies.push(Record::default());
    let mut balance = Balance::default();
    let mut solved = Solved::default();
    // Loads have to get to the ground.
    let highest = levels.iter().copied().max().unwrap_or(0) as usize;
    let iterations = stop.iterations.max((2 * highest / 3).min(MOST_SWEEPS));
    for iteration in 0..iterations {
        // What a balance disturbs takes a few sweeps to settle.
        let settles = iteration + SWEEPS_AFTER_BALANCE <= iterations;
        if layered && settles && (iteration + 1) % SWEEPS_BEFORE_BALANCE == 0 {
            balance.begin(levels);
            vectorized(Loads { blocks: &blocks, bodies: &bodies, levels, balance: &mut balance });
            if balance.solve(levels, inverse) {
                scale(&mut blocks, |bodies| balance.scale(levels, bodies));
                balance.changes(levels, inverse, |body, change| bodies[body].add(&change));
            }
        }
        // Up and down in turn.
        let residual =
            vectorized(Sweep { blocks: &mut blocks, bodies: &mut bodies, down: iteration % 2 == 1 });
        solved = Solved { iterations: iteration + 1, residual };
        let coarse = COARSE * stop.coarse;
        if residual <= stop.tolerance || (iteration + 1 >= stop.enough && residual <= coarse) {
            break;
        }
    }
    for block in &blocks {
        for (lane, &place) in block.contact.iter().enumerate().filter(|(_, place)| **place != NONE) {
            let contact = &mut contacts[place as usize];
            contact.load = block.load[lane];
            contact.friction = Vector::from_fn(|axis, _| block.friction[axis][lane]);
        }
    }
    solved
}

/// Multiplies the impulses of each contact.
fn scale(blocks: &mut [RoundBlock], factor: impl Fn([u32; 2]) -> f64) {
    for block in blocks {
        for lane in 0..LANES {
            if block.contact[lane] == NONE {
                continue;
            }
            let factor = factor([block.bodies[0][lane], block.bodies[1][lane]]);
            block.load[lane] *= factor;
            block.friction.iter_mut().for_each(|friction| friction[lane] *= factor);
        }
    }
}
