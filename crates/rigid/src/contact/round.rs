//! Large islands of spheres.
//!
//! A sphere touches in one point, straight below its centre, and its inertia is the same about every axis. So the normal impulse turns nothing, both
//! tangents respond alike and independently of it, and nothing spins about the normal: instead of a small matrix a contact has two numbers. It is a
//! tenth of the memory of a [`super::manifold::Manifold`], which says the same, and several times faster.
//!
//! There is no shock propagation here: spheres do not lie in layers, and holding the lower ones in place keeps a pile in motion (measured).

use super::InverseInertia;
use super::balance::Load;
use super::gauss_seidel::{Island, Solved, Stop};
use super::manifold::Limits;
use crate::collide::Touch;
use crate::{Body, Kind, Motion, Solid};
use splashdown_math::{Coordinates, Dim, Inertia, Space, Spin, Twist, Vector};

/// Sweeps before the loads of levels are found at once.
pub(super) const SWEEPS_BEFORE_BALANCE: usize = 6;

/// Multiple of the coarse tolerance that will do: somewhere in a large pile a sphere always rolls, and piles come to rest with the same overlap
/// (measured).
pub(super) const COARSE: f64 = 10.0;

/// Is contact with this body round: a sphere, or something that does not move?
pub(super) fn is_round<const D: usize>(body: &Body<D>, motion: &Motion<D>) -> bool
where
    Dim<D>: Space<D>,
{
    if !body.is_dynamic() {
        return body.kind == Kind::Static || *motion == Motion::zero();
    }
    let ball = body.geometry.as_deref().is_some_and(|g| matches!(g.solid(), Solid::Sphere { .. }));
    let moment = scalar(&body.inertia);
    let alike = |k: usize| Dim::apply_inertia(&body.inertia, &axis::<D>(k)) == axis::<D>(k) * moment;
    ball && (0..<Dim<D> as Space<D>>::SPIN).all(alike)
}

/// Unit spin.
#[inline(always)]
fn axis<const D: usize>(k: usize) -> Spin<D>
where
    Dim<D>: Space<D>,
{
    let mut axis = [0.0; 3];
    axis[k] = 1.0;
    Spin::<D>::from_slice(&axis)
}

/// The number that an inertia which is the same about every axis multiplies with.
#[inline(always)]
fn scalar<const D: usize>(inertia: &Inertia<D>) -> f64
where
    Dim<D>: Space<D>,
{
    Dim::apply_inertia(inertia, &axis::<D>(0)).as_slice()[0]
}

/// Contact of two spheres, or of a sphere and something that does not move.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundContact<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Bodies, as indices into the island's.
    pub bodies: [u32; 2],
    /// Its place in the list of contacts.
    pub contact: u32,
    /// Unit vector from B to A.
    pub normal: Vector<D>,
    /// Normal and tangential impulse on A (kg m/s).
    pub load: f64,
    pub friction: Vector<D>,
    /// Speed of approach that is allowed (m/s).
    pub bias: f64,
    /// Largest tangential impulse for a normal one.
    pub coefficient: f64,
    /// The point of contact is this far from the centres of A and B along the normal (m).
    pub levers: [f64; 2],
    /// Change of the normal and of the tangential speed for an impulse of one, and the inverses.
    pub factors: [f64; 2],
    pub inverse: [f64; 2],
}

/// How a sphere responds: `1/m`, `1/I`.
type Response = [f64; 2];

fn response<const D: usize>(inverse: &InverseInertia<D>) -> Response
where
    Dim<D>: Space<D>,
{
    [inverse.mass, scalar(&inverse.inertia)]
}

impl<const D: usize> RoundContact<D>
where
    Dim<D>: Space<D>,
{
    /// Rows that it stands for.
    pub const ROWS: usize = Twist::<D>::LEN - D + 1;

    /// The contact at `touch` between bodies with these centres of mass, starting from the impulse `start` on A.
    pub fn new(
        bodies: [u32; 2],
        contact: u32,
        touch: &Touch<D>,
        centres: [Vector<D>; 2],
        limits: Limits,
        dt: f64,
        start: &Vector<D>,
    ) -> Self {
        let normal = touch.normal;
        let load = normal.dot(start).max(0.0);
        let mut friction = start - normal * normal.dot(start);
        let (most, size) = (limits.friction * load, friction.norm());
        if size > most {
            friction *= most / size;
        }
        Self {
            bodies,
            contact,
            normal,
            load,
            friction,
            bias: touch.gap.max(0.0) / dt,
            coefficient: limits.friction,
            levers: centres.map(|at| normal.dot(&(touch.point - at))),
            factors: [0.0; 2],
            inverse: [0.0; 2],
        }
    }

    /// Sets how it responds; what does not turn has no lever.
    fn set_factors(&mut self, responses: [Response; 2]) {
        let [a, b] = responses;
        let [la, lb] = self.levers;
        let both = a[0] + b[0];
        self.factors = [both, both + la * la * a[1] + lb * lb * b[1]];
        self.inverse = self.factors.map(|factor| 1.0 / factor);
    }

    /// Velocity of A's point relative to B's.
    #[inline(always)]
    fn relative(&self, a: &Twist<D>, b: &Twist<D>) -> Vector<D> {
        let turning = a.angular * self.levers[0] - b.angular * self.levers[1];
        a.linear - b.linear + Dim::spin_cross(&turning, &self.normal)
    }

    /// Impulse on A and the moment of it for a lever of one.
    #[inline(always)]
    pub fn push(&self) -> (Vector<D>, Spin<D>) {
        (self.normal * self.load + self.friction, Dim::cross(&self.normal, &self.friction))
    }

    /// Momentum and angular momentum that A and B get.
    #[inline(always)]
    pub fn pushes(&self) -> [Twist<D>; 2] {
        let (force, moment) = self.push();
        [
            Twist { linear: force, angular: moment * self.levers[0] },
            Twist { linear: -force, angular: -moment * self.levers[1] },
        ]
    }

    /// Satisfies it: no approach, no sliding that friction can stop. Returns the square of the change of relative velocity.
    #[inline(always)]
    fn relax(&mut self, responses: [Response; 2], a: &mut Twist<D>, b: &mut Twist<D>) -> f64 {
        let relative = self.relative(a, b);
        let approach = self.normal.dot(&relative);
        let [along, across] = self.factors;
        let load = (self.load - (approach + self.bias) * self.inverse[0]).max(0.0);
        let sliding = relative - self.normal * approach;
        let mut friction = self.friction - sliding * self.inverse[1];
        let (most, square) = (self.coefficient * load, friction.norm_squared());
        if square > most * most {
            friction *= most / square.sqrt();
        }
        let (pressed, rubbed) = (load - self.load, friction - self.friction);
        self.load = load;
        self.friction = friction;
        self.give(responses, &(self.normal * pressed + rubbed), &rubbed, a, b);
        (along * pressed).powi(2).max(across * across * rubbed.norm_squared())
    }

    /// Changes the twists of A and B by an impulse whose tangential part is `rubbed`.
    #[inline(always)]
    fn give(
        &self,
        responses: [Response; 2],
        push: &Vector<D>,
        rubbed: &Vector<D>,
        a: &mut Twist<D>,
        b: &mut Twist<D>,
    ) {
        let [of_a, of_b] = responses;
        let moment = Dim::cross(&self.normal, rubbed);
        a.linear += push * of_a[0];
        a.angular += moment * (self.levers[0] * of_a[1]);
        b.linear -= push * of_b[0];
        b.angular -= moment * (self.levers[1] * of_b[1]);
    }

    /// Impulse times the velocity of the point, with the bias (J).
    #[inline(always)]
    fn work(&self, twists: &[Twist<D>]) -> f64 {
        let [a, b] = self.bodies.map(|b| &twists[b as usize]);
        self.push().0.dot(&self.relative(a, b)) + self.bias * self.load
    }
}

/// Visits a contact with copies of the twists of its bodies.
#[inline(always)]
fn visit<const D: usize>(
    contact: &mut RoundContact<D>,
    responses: [Response; 2],
    twists: &mut [Twist<D>],
) -> f64
where
    Dim<D>: Space<D>,
{
    let (a, b) = (contact.bodies[0] as usize, contact.bodies[1] as usize);
    let (mut of_a, mut of_b) = (twists[a], twists[b]);
    let changed = contact.relax(responses, &mut of_a, &mut of_b);
    twists[a] = of_a;
    twists[b] = of_b;
    changed
}

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// As [`Self::solve`], of the round contacts: sweeps and the balance of levels.
    pub(super) fn solve_round(&mut self, stop: Stop) -> Solved {
        let layered = self.is_layered();
        let Self { round, inverse, twists, levels, .. } = self;
        let responses: Vec<Response> = inverse.iter().map(response).collect();
        let respond = |bodies: [u32; 2]| [responses[bodies[0] as usize], responses[bodies[1] as usize]];
        round.iter_mut().for_each(|contact| contact.set_factors(respond(contact.bodies)));
        apply_start(round, &responses, twists);
        if D == 3 {
            return super::wide::solve_round(round, &responses, twists, (levels, inverse, layered), stop);
        }
        let mut balance = super::balance::Balance::default();
        let mut solved = Solved::default();
        for iteration in 0..stop.iterations {
            if layered && (iteration + 1) % SWEEPS_BEFORE_BALANCE == 0 {
                let loads = round.iter().map(|contact| Load {
                    bodies: contact.bodies,
                    work: contact.work(twists),
                    pushes: contact.pushes(),
                });
                if balance.find(levels, inverse, loads) {
                    for contact in round.iter_mut() {
                        let scale = balance.scale(levels, contact.bodies);
                        contact.load *= scale;
                        contact.friction *= scale;
                    }
                    balance.apply(levels, inverse, twists);
                }
            }
            let mut largest = 0.0f64;
            let mut one = |contact: &mut RoundContact<D>| {
                largest = largest.max(visit(contact, respond(contact.bodies), twists));
            };
            // Up and down in turn.
            if iteration % 2 == 1 {
                round.iter_mut().rev().for_each(&mut one);
            } else {
                round.iter_mut().for_each(&mut one);
            }
            let residual = largest.sqrt();
            solved = Solved { iterations: iteration + 1, residual };
            let coarse = COARSE * stop.coarse;
            if residual <= stop.tolerance || (iteration + 1 >= stop.enough && residual <= coarse) {
                break;
            }
        }
        solved
    }
}

/// As [`Island::apply_start`]: starts that would add energy are scaled.
fn apply_start<const D: usize>(
    contacts: &mut [RoundContact<D>],
    responses: &[Response],
    twists: &mut [Twist<D>],
) where
    Dim<D>: Space<D>,
{
    let free = twists.to_vec();
    let work: f64 = contacts.iter().map(|contact| contact.work(&free)).sum();
    for contact in contacts.iter() {
        let [a, b] = contact.bodies.map(|b| b as usize);
        let (mut of_a, mut of_b) = (twists[a], twists[b]);
        let both = [responses[a], responses[b]];
        contact.give(both, &contact.push().0, &contact.friction, &mut of_a, &mut of_b);
        twists[a] = of_a;
        twists[b] = of_b;
    }
    // The work of the impulses is twice the energy of the motion that they make.
    let square: f64 = contacts
        .iter()
        .map(|contact| {
            let [a, b] = contact.bodies.map(|b| b as usize);
            let made = contact.relative(&(twists[a] - free[a]), &(twists[b] - free[b]));
            contact.push().0.dot(&made)
        })
        .sum();
    if 0.5 * square + work > 0.0 {
        let share = (-work / square).clamp(0.0, 1.0);
        for contact in contacts {
            contact.load *= share;
            contact.friction *= share;
        }
        for (now, free) in twists.iter_mut().zip(&free) {
            *now = *free + (*now - *free) * share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifold::{Manifold, Sums};
    use super::*;
    use proptest::prelude::*;

    /// Six sweeps over lanes, up and down in turn, are those of the contacts one by one.
    fn lanes_agree<const D: usize>(
        contacts: &[RoundContact<D>],
        responses: &[Response],
        inverse: &[InverseInertia<D>],
        twists: [Twist<D>; 3],
    ) where
        Dim<D>: Space<D>,
    {
        let (mut wide, mut narrow, mut moving) = (contacts.to_vec(), contacts.to_vec(), twists);
        let stop = Stop { iterations: 6, tolerance: 0.0, coarse: 0.0, enough: 6 };
        super::super::wide::solve_round(&mut wide, responses, &twists, (&[1, 1, 1], inverse, false), stop);
        for sweep in 0..6 {
            for k in 0..2 {
                let contact = &mut narrow[if sweep % 2 == 1 { 1 - k } else { k }];
                let both = contact.bodies.map(|b| responses[b as usize]);
                visit(contact, both, &mut moving);
            }
        }
        for (wide, narrow) in wide.iter().zip(&narrow) {
            assert!((wide.load - narrow.load).abs() < 1e-5, "{} {}", wide.load, narrow.load);
            assert!((wide.friction - narrow.friction).norm() < 1e-5);
        }
    }

    /// Three spheres in a row with random directions and motions, six sweeps: the same as with manifolds.
    fn agrees_with_manifolds<const D: usize>(numbers: &[f64])
    where
        Dim<D>: Space<D>,
    {
        let (radii, masses, dt) = ([0.3, 0.2, 0.4], [1.0, 2.5, 0.4], 0.1);
        let moments = [0, 1, 2].map(|i| Dim::<D>::BALL_INERTIA * masses[i] * radii[i] * radii[i]);
        let spins = <Dim<D> as Space<D>>::SPIN;
        let inverse = [0, 1, 2].map(|i| InverseInertia::<D> {
            mass: 1.0 / masses[i],
            inertia: Dim::inertia_from_principal(&[1.0 / moments[i]; 3][..spins]),
        });
        let gap = 0.01;
        let mut places = [Vector::<D>::zeros(); 3];
        let direction = |k: usize| Vector::<D>::from_fn(|a, _| numbers[3 * k + a] + 1.5);
        for k in 0..2 {
            places[k + 1] = places[k] - direction(k).normalize() * (radii[k] + radii[k + 1] + gap);
        }
        let limits = Limits { friction: 0.4, rolling: 0.0, spinning: 0.0 };
        let (mut round, mut manifolds) = (Vec::new(), Vec::new());
        for k in 0..2 {
            let normal = direction(k).normalize();
            let touch = Touch { normal, gap, point: places[k] - normal * (radii[k] + 0.5 * gap) };
            let (ids, centres) = ([k as u32, k as u32 + 1], [places[k], places[k + 1]]);
            let start = Vector::zeros();
            let mut contact = RoundContact::new(ids, k as u32, &touch, centres, limits, dt, &start);
            contact.set_factors(ids.map(|i| response(&inverse[i as usize])));
            round.push(contact);
            let mut manifold = Manifold::<D>::new(ids, k as u32, 1, &normal, limits);
            manifold.arms = centres.map(|at| touch.point - at);
            manifold.set_point(0, &Vector::zeros(), gap / dt);
            assert!(manifold.set_matrix(ids.map(|i| &inverse[i as usize])));
            manifolds.push((manifold, [0.0; _]));
        }
        let moving = |i: usize| Twist::<D>::read(&numbers[6 + 6 * i..]) * 3.0;
        let mut twists = [0, 1, 2].map(moving);
        if D == 3 {
            lanes_agree(&round, &inverse.map(|inverse| response(&inverse)), &inverse, twists);
        }
        let mut expected = twists;
        for _ in 0..6 {
            for contact in &mut round {
                let responses = contact.bodies.map(|b| response(&inverse[b as usize]));
                visit(contact, responses, &mut twists);
            }
            for (manifold, impulses) in &mut manifolds {
                let [a, b] = manifold.bodies.map(|b| b as usize);
                let (mut of_a, mut of_b) = (expected[a], expected[b]);
                let mut local = manifold.relative(&of_a, &of_b);
                let push = manifold.relax(impulses, &mut local, &mut Sums::default());
                manifold.apply(&push, [&inverse[a], &inverse[b]], &mut of_a, &mut of_b);
                expected[a] = of_a;
                expected[b] = of_b;
            }
        }
        for (twist, expected) in twists.iter().zip(&expected) {
            let difference = *twist - *expected;
            assert!(difference.dot(&difference).sqrt() < 1e-11, "{twist:?} {expected:?}");
        }
        for (contact, (_, impulses)) in round.iter().zip(&manifolds) {
            assert!((contact.load - impulses[0]).abs() < 1e-11);
        }
    }

    proptest! {
        #[test]
        fn spheres_are_solved_as_manifolds_are(numbers in prop::array::uniform24(-1.0..1.0f64)) {
            agrees_with_manifolds::<2>(&numbers);
            agrees_with_manifolds::<3>(&numbers);
        }
    }
}
