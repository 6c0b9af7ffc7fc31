//! The tennis racket. A free body that spins about its middle axis turns over periodically; the period is `4 K(m) / w_p`, by Jacobi's elliptic functions.
//! At one step a frame the second order update with the energy fix keeps that period; without the fix energy grows and the period drifts.
//!
//! Source: spec/rigid-bodies.md row A2: I = (1, 2, 3), body spin (0.01, 1, 0.02): period 33.19500 s.

use super::support::{free_body, spinning};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_math::{Dim, Space};
use splashdown_rigid::OrientationOrder;

pub(super) const CASE: Case = Case {
    name: "rigid/tennis-racket",
    spec: "A2 (rigid-bodies)",
    summary: "period of the tumbling of a body that spins about its middle axis, at 30 steps a second",
    source: "exact: 4 K(0.99890) / w_p = 33.19500 s",
    speed: Speed::Fast,
    seconds: 0.1,
    run,
};

const PERIOD: f64 = 33.19500;

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let body = free_body([1.0, 2.0, 3.0])?;
    let dt = 1.0 / 30.0;
    // Times at which the spin about the middle axis changes its sign, by linear interpolation: it is odd about them, so that is of third order.
    let flips = |fix: bool| {
        let mut state = spinning(&body, [0.3, 0.8, -0.5], [0.01, 1.0, 0.02]);
        let energy = state.kinetic_energy(&body);
        let middle = |state: &splashdown_rigid::BodyState<3>| {
            Dim::<3>::rotate_spin_back(&state.frame.rotation, &state.twist(&body).angular).y
        };
        let (mut times, mut curve, mut drift) = (Vec::new(), Vec::new(), 0.0f64);
        let mut before = middle(&state);
        for step in 0..(140.0 / dt) as usize {
            let order = OrientationOrder::Second;
            state.frame = body.evolve(&state.frame, &state.velocity, &state.angular_momentum, dt, order, fix);
            let now = middle(&state);
            if before * now < 0.0 {
                times.push(dt * (step as f64 + before / (before - now)));
            }
            before = now;
            drift = drift.max((state.kinetic_energy(&body) / energy - 1.0).abs());
            if step % 6 == 0 {
                curve.push([dt * (step + 1) as f64, now]);
            }
        }
        (times, curve, drift)
    };
    let (fixed, curve, drift) = flips(true);
    let (plain, plain_curve, _) = flips(false);
    let periods = |times: &[f64]| -> Vec<f64> { times.windows(3).map(|t| t[2] - t[0]).collect() };
    let (fixed, plain) = (periods(&fixed), periods(&plain));
    let spread = |p: &[f64]| {
        p.iter().copied().fold(f64::NEG_INFINITY, f64::max) - p.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let mean = fixed.iter().sum::<f64>() / fixed.len() as f64;
    let resolution = "order 2 with fix, dt = 1/30 s";
    // The method's own period is 33.192 s (spec, row A2); 0.02 % is what the issue asks.
    out.near("period (s)", resolution, mean, PERIOD, 2e-4 * PERIOD, CASE.source);
    out.at_most(
        "largest difference of two periods / period",
        resolution,
        spread(&fixed) / PERIOD,
        1e-4,
        CASE.source,
    );
    out.at_most("energy drift / energy", resolution, drift, 1e-12, CASE.source);
    let row = "spec/rigid-bodies.md, row A2: 33.32, 33.41, 33.50 s";
    // Told to two decimals.
    for (period, wanted) in plain.iter().zip([33.32, 33.41, 33.50]) {
        let quantity = "period without the fix, one after the other (s)";
        out.near(quantity, "order 2, dt = 1/30 s", *period, wanted, 0.005, row);
    }
    out.plot(Plot {
        title: "Spin about the middle axis".into(),
        x: "time (s)".into(),
        y: "spin (rad/s)".into(),
        scale: Scale::Linear,
        series: vec![
            Series { label: "with energy fix".into(), points: curve, reference: false },
            Series { label: "without".into(), points: plain_curve, reference: true },
        ],
    });
    Ok(())
}
