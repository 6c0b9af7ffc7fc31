//! A fast, thin shard. One step of 1/30 s of a rod that spins at 66 rad/s multiplies its energy if the orientation is only expanded in a Taylor series; the fix
//! keeps it to round-off.
//!
//! Source: spec/rigid-bodies.md row A3: box 1 x 0.05 x 0.05 m, 1 kg, body spin (60, 20, 20) rad/s.

use super::support::{ORDERS, free_body, spinning};
use crate::{Case, CaseError, Measurements, Speed};

pub(super) const CASE: Case = Case {
    name: "rigid/energy-gain",
    spec: "A3 (rigid-bodies)",
    summary: "energy of a fast shard after one step of 1/30 s, without and with the energy fix",
    source: "spec/rigid-bodies.md, row A3: 76.862, 19.723, 1.274",
    speed: Speed::Fast,
    seconds: 0.01,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let moment = |a: f64, b: f64| (a * a + b * b) / 12.0;
    let body = free_body([moment(0.05, 0.05), moment(1.0, 0.05), moment(1.0, 0.05)])?;
    let start = spinning(&body, [0.0; 3], [60.0, 20.0, 20.0]);
    for (index, (order, ratio)) in ORDERS.into_iter().zip([76.862, 19.723, 1.274]).enumerate() {
        let energy = |fix: bool| {
            let mut moved = start;
            moved.frame =
                body.evolve(&start.frame, &start.velocity, &start.angular_momentum, 1.0 / 30.0, order, fix);
            moved.kinetic_energy(&body) / start.kinetic_energy(&body)
        };
        let order = index + 1;
        out.near(
            &format!("order {order}: energy ratio"),
            "dt = 1/30 s",
            energy(false),
            ratio,
            1e-3,
            CASE.source,
        );
        let left = (energy(true) - 1.0).abs();
        out.at_most(&format!("order {order} with fix: |ratio - 1|"), "dt = 1/30 s", left, 1e-12, CASE.source);
    }
    Ok(())
}
