//! Order of the orientation update. A torque-free body with moments (1, 2, 3) turns from a random orientation for one second; the error of its rotation
//! matrix falls with the step at the order of the update, with and without the energy fix, and the angular momentum is untouched.
//!
//! Source: spec/rigid-bodies.md 3.6 and row A1. Reference: the third order update at 1/20 of the shortest step.

use super::support::{ORDERS, free_body, spinning};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_math::{Dim, Space};
use splashdown_rigid::OrientationOrder;

pub(super) const CASE: Case = Case {
    name: "rigid/orientation-order",
    spec: "A1 (rigid-bodies)",
    summary: "free rotation converges at orders 1, 2 and 3, with and without the energy fix",
    source: "exact: orders 1, 2, 3 of the Taylor expansions",
    speed: Speed::Fast,
    seconds: 0.1,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let body = free_body([1.0, 2.0, 3.0])?;
    let start = spinning(&body, [0.4, -1.2, 0.7], [1.0, 2.0, 0.5]);
    let turn = |steps: usize, order, fix| {
        let mut state = start;
        for _ in 0..steps {
            let dt = 1.0 / steps as f64;
            state.frame = body.evolve(&state.frame, &state.velocity, &state.angular_momentum, dt, order, fix);
        }
        Dim::<3>::to_matrix(&state.frame.rotation)
    };
    let exact = turn(6400, OrientationOrder::Third, false);
    let mut series = Vec::new();
    for (index, order) in ORDERS.into_iter().enumerate() {
        for fix in [false, true] {
            let points: Vec<[f64; 2]> = [20, 40, 80, 160, 320]
                .map(|steps| [1.0 / steps as f64, (turn(steps, order, fix) - exact).norm()])
                .into();
            // Fitted over the finer half; the coarse end is not yet asymptotic.
            let measured = (points[2][1] / points[4][1]).log2() / 2.0;
            let with = if fix { "with fix" } else { "without fix" };
            let quantity = format!("order {} {with}: measured order", index + 1);
            out.near(&quantity, "dt = 1/80 ... 1/320 s", measured, (index + 1) as f64, 0.1, CASE.source);
            if fix {
                series.push(Series { label: format!("order {}", index + 1), points, reference: false });
            }
        }
    }
    out.plot(Plot {
        title: "Orientation of a torque-free body, with energy fix".into(),
        x: "step (s)".into(),
        y: "error of the rotation matrix".into(),
        scale: Scale::LogLog,
        series,
    });
    Ok(())
}
