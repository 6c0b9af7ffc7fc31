//! The scene `driven-bar` with shorter and shorter steps: a box that a soft bar turns, to which it is bound, comes to the same angle.
//!
//! What lies on top of it is left out (it falls from high above and does not arrive): contact that begins somewhere within a step has no order.

use super::super::foundation::convergence;
use super::set_up::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Dim, Space};
use splashdown_scene::{AnyWorld, build, load};

pub(super) const CASE: Case = Case {
    name: "coupled/driven-bar",
    spec: "5.2-Q (rigid-deformable-coupling), RDC-1, RDC-30",
    summary: "the angle of a box that a twisted bar turns converges with the step",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 60.0,
    run,
};

const SOURCE: &str = "order at least 1 (spec/rigid-deformable-coupling.md 5.2-Q)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let exact = angle(0.03125)?;
    let mut curve = Vec::new();
    for part in [0.5, 0.25, 0.125] {
        curve.push([part, (angle(part)? - exact).abs()]);
    }
    let resolution = "parts of 1/2 to 1/8 of the stable step";
    measurements.at_least("angle of the box (rad)", resolution, exact.abs(), 0.1, "the bar turns it");
    measurements.at_most("its error with the longest step (rad)", resolution, curve[0][1], 0.01, SOURCE);
    measurements.at_least("order of its error", resolution, convergence::order(&curve), 1.0, SOURCE);
    Ok(())
}

/// Angle of the driven box (rad) after two seconds, with parts of a step that are as long as `part` of what is stable.
fn angle(part: f64) -> Result<f64, CaseError> {
    let overrides = ["rigid.4.position=[4,60,0]".to_owned()];
    let loaded = load("driven-bar", &overrides).map_err(failed("loading the scene"))?;
    let world = build(&loaded.scene).map_err(failed("building the scene"))?;
    let AnyWorld::Three(mut world) = world else { return Err(failed("building the scene")("not in space")) };
    let motion = world.state().solids.motion.clone();
    if let Some(mut solids) = world.solids().cloned() {
        (solids.safety, solids.integrator.tolerance) = (part, 1e-10);
        world.set_solids(solids, motion);
    }
    for _ in 0..48 {
        world.step(1.0 / 24.0).map_err(failed("stepping"))?;
    }
    let driven = world.model().bodies.iter().position(|body| body.name == "driven").unwrap_or(0);
    let turn = Dim::<3>::to_matrix(&world.state().bodies[driven].frame.rotation);
    Ok(turn[(2, 1)].atan2(turn[(1, 1)]))
}
