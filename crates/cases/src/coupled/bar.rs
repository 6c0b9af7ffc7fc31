//! The scene `driven-bar` with shorter and shorter steps: a box that a soft bar turns, to which it is bound, comes to the same angle.
//!
//! What lies on top of it is left out (it falls from high above and does not arrive): contact that begins somewhere within a step has no order.

use super::super::foundation::convergence;
use super::set_up::{failed, rigid, shipped};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
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

pub(super) const WHOLE: Case = Case {
    name: "coupled/driven-bar-whole",
    spec: "5.1 deformable bar (rigid-deformable-coupling), RDC-15, RDC-30, RDC-33",
    summary: "the scene driven-bar: the box that the bar turns lags and follows, what lies on it falls off, its bearing holds",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 60.0,
    run: run_whole,
};

fn run_whole(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("driven-bar", &[])?;
    let [driver, driven, rider] = ["driver", "driven", "rider"].map(|name| rigid(&world, name));
    let (driver, driven, rider) = (driver?, driven?, rider?);
    let angle = |world: &World<3>, body: usize| {
        let turn = Dim::<3>::to_matrix(&world.state().bodies[body].frame.rotation);
        turn[(2, 1)].atan2(turn[(1, 1)])
    };
    // From the start, without jumps.
    let (mut angles, mut last) = ([0.0f64; 2], [angle(&world, driver), angle(&world, driven)]);
    let (mut lag, mut ahead, mut bearing, mut axis) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for frame in 1..=144 {
        world.step(1.0 / 24.0).map_err(failed("stepping"))?;
        for (k, body) in [driver, driven].into_iter().enumerate() {
            let now = angle(&world, body);
            let whole = std::f64::consts::TAU;
            angles[k] += (now - last[k] + 0.5 * whole).rem_euclid(whole) - 0.5 * whole;
            last[k] = now;
        }
        // While the first is turned.
        if (36..=120).contains(&frame) {
            lag = lag.max(angles[0] - angles[1]);
            ahead = ahead.max(angles[1] - angles[0]);
        }
        let turn = Dim::<3>::to_matrix(&world.state().bodies[driven].frame.rotation);
        axis = axis.max(turn[(1, 0)].hypot(turn[(2, 0)]));
        bearing = bearing.max(world.diagnostics().joints.map_or(f64::NAN, |joints| joints.linear_error));
    }
    let resolution = "16 x 2 x 2 cells, frames of 1/24 s";
    out.at_least("most by which the driven box lags (deg)", resolution, lag.to_degrees(), 10.0, "it lags");
    out.at_most("most by which it is ahead (deg)", resolution, ahead.to_degrees(), 20.0, "it follows");
    out.near(
        "its angle at 6 s (deg)",
        resolution,
        angles[1].to_degrees(),
        360.0,
        45.0,
        "it follows, and swings",
    );
    out.at_most("tilt of its axis", resolution, axis, 1e-3, WHOLE.source);
    out.at_most("error of its bearing (m)", resolution, bearing, 1e-3, WHOLE.source);
    let height = world.state().bodies[rider].frame.position[1];
    out.at_most("height of the box on top at the end (m)", resolution, height, -2.0, "it falls off");
    Ok(())
}
