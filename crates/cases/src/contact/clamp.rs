//! The energy clamp: whatever impulse it is given, computed in whatever state, what it lets through does not raise the kinetic energy of the pair in
//! the reference state; a frictionless impulse computed there with restitution e would be clamped at `2 / (1 + e)` only, that is never.
//!
//! Source: spec/rigid-bodies.md 3.11, row A11.

use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_math::{Coordinates, Dim, Space, Spin, Twist, Vector};
use splashdown_rigid::contact::{Clamp, ClampSide, InverseInertia, clamp_energy, contact_impulse};

pub(super) const CASE: Case = Case {
    name: "rigid/energy-clamp",
    spec: "A11 (rigid-bodies)",
    summary: "100 000 random impulses of pairs, split in time or not, with static and kinematic partners and angular impulses: none adds energy",
    source: "exact: kinetic energy before and after",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

/// Kinetic energy of one side with its partner's motion at the point taken off, from its velocity and angular momentum. (From its spin it would need
/// the inverse of the inverse inertia, whose round-off at moments of 1e-2 to 1e2 is more than what is measured here.)
fn energy(inverse: &InverseInertia<3>, velocity: &Vector<3>, momentum: &Vector<3>, shift: &Vector<3>) -> f64 {
    if inverse.is_infinite() {
        return 0.0;
    }
    0.5 * (velocity - shift).norm_squared() / inverse.mass
        + 0.5 * momentum.dot(&Dim::<3>::apply_inertia(&inverse.inertia, momentum))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut rng = Pcg64::seed_from_u64(2026);
    let (mut gain, mut scaled, mut discarded, mut elastic) = (0.0f64, 0, 0, 0);
    let count = 100_000;
    for n in 0..count {
        let mut number = |scale: f64| scale * (2.0 * rng.random::<f64>() - 1.0);
        let mut vector = |scale: f64| Vector::<3>::from([number(scale), number(scale), number(scale)]);
        let mut side = |infinite: bool, moves: bool| {
            let turn = Dim::<3>::exp(&vector(3.0));
            let moments: Vec<f64> = vector(1.0).iter().map(|x| 10f64.powf(2.0 * x)).collect();
            let inverse = if infinite {
                InverseInertia::infinite()
            } else {
                let inertia = Dim::<3>::rotate_inertia(&turn, &Dim::<3>::inertia_from_principal(&moments));
                InverseInertia { mass: 10f64.powf(vector(1.0).x), inertia }
            };
            let (linear, momentum) = if moves { (vector(2.0), vector(5.0)) } else { Default::default() };
            // An infinite body has no angular momentum that counts; the number is its spin.
            let angular =
                if infinite { momentum } else { Dim::<3>::apply_inertia(&inverse.inertia, &momentum) };
            (ClampSide { inverse, twist: Twist { linear, angular }, arm: vector(1.0) }, momentum)
        };
        let ((a, momentum_a), (b, momentum_b)) = (side(false, true), side(n % 3 == 0, n % 6 != 0));
        let normal = vector(1.0).normalize();
        let factor = a.inverse.factor(&a.arm) + b.inverse.factor(&b.arm);
        // Every other impulse comes from velocities and arms of another time.
        let split = n % 2 == 0;
        let relative = if split { vector(3.0) } else { a.twist.at(&a.arm) - b.twist.at(&b.arm) };
        let relative = if relative.dot(&normal) > 0.0 { -relative } else { relative };
        let restitution = 0.5 + 0.5 * vector(1.0).x;
        let friction = if n % 4 == 1 { 0.0 } else { 0.5 };
        let Some(push) = contact_impulse(&factor, &relative, &normal, restitution, friction) else {
            continue;
        };
        let spin = if n % 5 == 0 { vector(1.0) } else { Spin::<3>::zero() };
        let share = match clamp_energy(&push.impulse, &spin, &a, &b) {
            Clamp::Keep => 1.0,
            Clamp::Scale(share) => share,
            Clamp::Discard => 0.0,
        };
        scaled += usize::from(share > 0.0 && share < 1.0);
        discarded += usize::from(share == 0.0);
        let shift = if b.inverse.is_infinite() { b.twist.at(&b.arm) } else { Vector::zeros() };
        let moved = |side: &ClampSide<3>, momentum: &Vector<3>, sign: f64| {
            let impulse = push.impulse * (sign * share);
            let torque = Dim::<3>::cross(&side.arm, &impulse) + spin * (sign * share);
            let velocity = side.twist.linear + impulse * side.inverse.mass;
            energy(&side.inverse, &velocity, &(momentum + torque), &shift)
        };
        let before = energy(&a.inverse, &a.twist.linear, &momentum_a, &shift)
            + energy(&b.inverse, &b.twist.linear, &momentum_b, &shift);
        let after = moved(&a, &momentum_a, 1.0) + moved(&b, &momentum_b, -1.0);
        gain = gain.max((after - before) / before);
        let frictionless = !split && friction == 0.0 && n % 5 != 0;
        let same = relative == a.twist.at(&a.arm) - b.twist.at(&b.arm);
        elastic += usize::from(frictionless && same && share != 1.0);
    }
    out.at_most("largest relative gain of kinetic energy", "100 000 pairs", gain, 1e-12, "A11");
    out.at_most(
        "frictionless impulses of one time that were changed",
        "100 000 pairs",
        elastic as f64,
        0.0,
        "A11",
    );
    // The test would show nothing if the clamp never acted.
    out.at_least("impulses scaled", "100 000 pairs", scaled as f64, 1000.0, "A11");
    out.at_least("impulses discarded", "100 000 pairs", discarded as f64, 1000.0, "A11");
    Ok(())
}
