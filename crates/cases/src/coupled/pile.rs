//! The scene `coupled-pile`: rigid balls and rings, soft balls and soft rings fall on pegs and heap up.
//!
//! Source: spec/rigid-deformable-coupling.md 5.1, large pile (figure 4.6 of the source), small: it completes, overlaps stay below 5 % of the size, kinetic energy decays.

use super::set_up::{deepest, failed, shipped};
use crate::{Case, CaseError, Measurements, Speed};

pub(super) const CASE: Case = Case {
    name: "coupled/pile",
    spec: "5.1 large pile, small (rigid-deformable-coupling), RDC-11, RDC-14, RDC-18, RDC-39",
    summary: "54 rigid and soft balls and rings heap up on pegs: overlaps, and that they come to rest",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 300.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("coupled-pile", &[])?;
    let (mut rigid, mut soft, mut most, mut last) = (0.0f64, 0.0f64, 0.0f64, 0.0);
    let mut lowest = f64::INFINITY;
    for _ in 0..96 {
        let report = world.step(1.0 / 24.0).map_err(failed("stepping"))?;
        rigid = rigid.max(report.contact.overlap_after);
        soft = soft.max(deepest(&world));
        last = world.diagnostics().kinetic_energy;
        most = most.max(last);
        for (body, now) in world.model().bodies.iter().zip(&world.state().bodies) {
            if body.is_dynamic() {
                lowest = lowest.min(now.frame.position[1]);
            }
        }
    }
    let resolution = "54 bodies, frames of 1/24 s";
    // Things are 1.2 m to 1.6 m wide.
    out.at_most("deepest overlap in contact (m)", resolution, rigid, 0.06, CASE.source);
    out.at_most("deepest particle in a rigid body (m)", resolution, soft, 0.06, CASE.source);
    out.at_least("lowest centre of a rigid body (m)", resolution, lowest, 0.19, "nothing falls through");
    out.at_most("kinetic energy at 4 s over its most", resolution, last / most, 0.1, "it decays");
    Ok(())
}
