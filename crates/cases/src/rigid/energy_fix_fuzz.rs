//! The energy fix on anything. Random bodies with moments over four decades, spins to 200 rad/s and steps from 0.1 ms to 1 s, spheres, spins on a principal axis:
//! after every step the rotational energy is what it was, to round-off, and the fix never gives up.
//!
//! Source: spec/rigid-bodies.md 3.7 and row A4.

use super::support::{ORDERS, free_body, spinning};
use crate::{Case, CaseError, Measurements, Speed};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use splashdown_rigid::restore_energy;

pub(super) const CASE: Case = Case {
    name: "rigid/energy-fix-fuzz",
    spec: "A4 (rigid-bodies)",
    summary: "100 000 random bodies, spins and steps: free rotation keeps its energy",
    source: "exact: energy of free rotation is constant",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut random = Pcg64Mcg::new(11);
    let (mut worst, mut gains, mut losses) = (0.0f64, 0u32, 0u32);
    let mut fallbacks = 0u32;
    let count = 100_000;
    for case in 0..count {
        let mut log_uniform = |low: f64, high: f64| 10f64.powf(random.random_range(low..high));
        let mut moments = [log_uniform(-4.0, 0.0), log_uniform(-4.0, 0.0), log_uniform(-4.0, 0.0)];
        if case % 10 == 0 {
            moments = [moments[0]; 3];
        }
        let (dt, speed) = (log_uniform(-4.0, 0.0), log_uniform(-2.0, 2.3));
        let mut spin = [0, 1, 2].map(|_| speed * random.random_range(-1.0..1.0f64));
        if case % 7 == 0 {
            spin = [spin[0], 0.0, 0.0];
        }
        let turn = [0, 1, 2].map(|_| random.random_range(-3.0..3.0f64));
        let body = free_body(moments)?;
        let start = spinning(&body, turn, spin);
        let energy = |fix: bool| {
            let mut moved = start;
            moved.frame = body.evolve(
                &start.frame,
                &start.velocity,
                &start.angular_momentum,
                dt,
                ORDERS[case % 3],
                fix,
            );
            moved.kinetic_energy(&body) / start.kinetic_energy(&body) - 1.0
        };
        worst = worst.max(energy(true).abs());
        let mut frame =
            body.evolve(&start.frame, &start.velocity, &start.angular_momentum, dt, ORDERS[case % 3], false);
        let restored =
            restore_energy(&body, &mut frame, &start.angular_momentum, start.kinetic_energy(&body));
        fallbacks += u32::from(restored.fallbacks > 0);
        match energy(false) {
            gained if gained > 1e-9 => gains += 1,
            gained if gained < -1e-9 => losses += 1,
            _ => {}
        }
    }
    let resolution = "100 000 bodies";
    out.at_most("largest |energy / energy before - 1|", resolution, worst, 1e-11, CASE.source);
    // Both directions of the fix are exercised.
    let share = |n: u32| f64::from(n) / count as f64;
    out.at_least("share of cases with energy to remove", resolution, share(gains), 0.05, CASE.source);
    out.at_least("share of cases with energy to add", resolution, share(losses), 0.01, CASE.source);
    out.at_least("share of cases with the second axis", resolution, share(fallbacks), 0.01, CASE.source);
    Ok(())
}
