//! The terminal velocity of a cylinder in a channel, Stokes flow, with the cylinder held where it is (V-3).
//!
//! In an infinite channel `v = (rho_s - rho_f) g r^2 / (4 mu) (-ln(r/L) - 0.9157 + 1.7244 (r/L)^2 - 1.7302 (r/L)^4)`, 0.3501 m/s here. The published values follow from
//! the full mass on coupling faces and fluid that sticks on the fluid's side of walls and cylinder.

use super::super::fluid::setup::{domain, failed};
use super::setup::{Held, IMPROVED, SOURCE_RECIPE};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::fluid_structure::CouplingOptions;
use splashdown_fluid::{FluidModel, Liquid, Side};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use splashdown_scene::{AnyWorld, build, load};

pub(super) const CASE: Case = Case {
    name: "fsi/stokes-cylinder",
    spec: "V-3",
    summary: "terminal velocity of a cylinder in a channel, Stokes flow, in one solve with the fluid",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

const SOURCE: &str = "published: 40x160 and 80x320, mu = 0.1, Stokes (spec/fluid-structure.md V-3)";
const ANALYTIC: &str = "analytic, infinite channel: -0.3501 m/s";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let quantity = "terminal velocity, published choices (m/s)";
    let mut iterations = Vec::new();
    for (n, published) in [(40, -0.2945), (80, -0.3241)] {
        let (speed, most) = terminal(n, SOURCE_RECIPE)?;
        iterations.push(most as f64);
        let resolution = format!("{n}x{}", 4 * n);
        measurements.near(quantity, &resolution, speed, published, 0.005 * f64::abs(published), SOURCE);
    }
    let (speed, most) = terminal(80, IMPROVED)?;
    measurements.near(
        "terminal velocity, our choices (m/s)",
        "80x320",
        speed,
        -0.3501,
        0.02 * 0.3501,
        ANALYTIC,
    );
    let (speed, moved) = scene()?;
    measurements.near(
        "terminal velocity, scene stokes-cylinder (m/s)",
        "40x160",
        speed,
        -0.2945,
        0.005 * 0.2945,
        SOURCE,
    );
    measurements.at_most(
        "way of the cylinder in the scene (m)",
        "40x160",
        moved,
        0.0,
        "Stokes flow: nothing moves",
    );
    let budget = "at most 60 on 40x160, growth below 1.5 with each refinement (issue 7)";
    measurements.at_most("iterations of a solve", "40x160", iterations[0], 60.0, budget);
    measurements.at_most("growth of iterations", "80x320", iterations[1] / iterations[0], 1.5, budget);
    measurements.at_most("iterations, our choices", "80x320", most as f64, 90.0, budget);
    Ok(())
}

/// Velocity of the cylinder (m/s) at the end of the shipped scene, and how far (m) it has gone.
fn scene() -> Result<(f64, f64), CaseError> {
    let loaded = load("stokes-cylinder", &[]).map_err(failed)?;
    let AnyWorld::Two(mut world) = build(&loaded.scene).map_err(failed)? else {
        return Err(failed("the scene is not in the plane"));
    };
    let start = world.state().bodies[0].frame.position;
    while world.state().time < 199.0 {
        world.step(10.0).map_err(failed)?;
    }
    let body = &world.state().bodies[0];
    Ok((body.velocity[1], (body.frame.position - start).norm()))
}

/// Terminal velocity (m/s) with `n` cells across, and the most iterations of a solve.
fn terminal(n: usize, options: CouplingOptions) -> Result<(f64, usize), CaseError> {
    let h = 0.04 / n as f64;
    let sides = [[Side::wall(); 2], [Side::wall(), Side::open()]];
    let domain = domain([n, 4 * n], h, sides)?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: 0.1, ..Liquid::new("oil", 1000.0) });
    model.gravity = Vector::from([0.0, -9.8]);
    let radius = 0.005;
    let mass = 2000.0 * std::f64::consts::PI * radius * radius;
    let body = (
        Shape::ball(radius).map_err(failed)?,
        Vector::from([0.02, 0.08]),
        Some((mass, vec![0.5 * mass * radius * radius])),
    );
    Held::new(model, vec![body], options)?.steady(10.0, 1, 1e-8)
}
