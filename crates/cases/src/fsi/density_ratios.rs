//! Any ratio of densities, any step: a ball in a stirred box stays bounded (FS-38, FS-T13).
//!
//! The coupled solve never adds kinetic energy, so that a body a billion times lighter or heavier than the fluid is no harder than any other. The heavy limit is a
//! body that moves as told.

use super::super::fluid::setup::{domain, failed};
use super::setup::{Held, IMPROVED};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/density-ratios",
    spec: "FS-38, FS-T13, V-8",
    summary: "a ball a billion times lighter or heavier than the fluid, at short and long steps: bounded",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

const SOURCE: &str = "kinetic energy never rises in a coupled solve (spec/fluid-structure.md 3.12)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    for viscosity in [0.0, 0.1] {
        let mut worst: f64 = 0.0;
        for ratio in [1e-9, 1.0, 1e9] {
            for cfl in [0.1, 20.0] {
                worst = worst.max(fastest(ratio, viscosity, cfl)?);
            }
        }
        let row = format!("largest speed over that of the stirring, viscosity {viscosity}");
        measurements.at_most(&row, "20x20", worst, 3.0, SOURCE);
    }
    let (heavy, told) = (one_solve(Some(1e9))?, one_solve(None)?);
    let difference = heavy.iter().zip(&told).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    let size = told.iter().fold(0.0f64, |m, a| m.max(a.abs()));
    measurements.at_most(
        "a billion times as dense, against one that moves as told",
        "24x24",
        difference / size,
        1e-6,
        "one-way limit (FS-T13)",
    );
    Ok(())
}

/// Largest speed of anything in 30 steps, over that of the stirring flow at the start.
fn fastest(ratio: f64, viscosity: f64, cfl: f64) -> Result<f64, CaseError> {
    let domain = domain([20, 20], 0.05, [[Side::slip(); 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 1.0) });
    model.options.cfl = cfl;
    model.options.pressure.divergence = 1e-6;
    let pi = std::f64::consts::PI;
    let mut state = FluidState::at_rest(&model);
    state.set_velocity(&model, |x| {
        Vector::from([(pi * x[0]).sin() * (pi * x[1]).cos(), -(pi * x[0]).cos() * (pi * x[1]).sin()])
    });
    let mut world = World::<2>::new(Vector::zeros()).map_err(failed)?;
    let ball = Arc::new(Geometry::sphere(0.15).map_err(failed)?);
    let mass = ratio * pi * 0.15 * 0.15;
    let body = Body::with_geometry("ball", Kind::Dynamic, mass, ball).map_err(failed)?;
    let frame = Frame { position: Vector::from([0.35, 0.5]), ..Frame::identity() };
    world.add_body(body, frame, Twist::zero());
    world.set_fluid(model, state).map_err(failed)?;
    let mut fastest: f64 = 0.0;
    for _ in 0..30 {
        let dt = world.fluid_stable_step().min(1.0);
        world.step(dt).map_err(failed)?;
        let fluid = world.fluid_diagnostics().map_or(f64::NAN, |d| d.max_speed);
        fastest = fastest.max(world.state().bodies[0].velocity.norm()).max(fluid);
    }
    Ok(fastest)
}

/// Velocities of the fluid after one solve around a ball that moves with 1 m/s and has this density, or moves as told.
fn one_solve(density: Option<f64>) -> Result<Vec<f64>, CaseError> {
    let domain = domain([24, 24], 1.0 / 24.0, [[Side::slip(); 2], [Side::slip(), Side::open()]])?;
    let model = FluidModel::new(domain, Liquid { viscosity: 0.01, ..Liquid::new("fluid", 1.0) });
    let mass = density.map(|density| {
        let mass = density * std::f64::consts::PI * 0.04;
        (mass, vec![0.5 * mass * 0.04])
    });
    let ball = (Shape::ball(0.2).map_err(failed)?, Vector::from([0.5, 0.45]), mass);
    let mut held = Held::new(model, vec![ball], IMPROVED)?;
    held.solids[0].twist.linear[1] = 1.0;
    held.step(0.01)?;
    Ok(held.state.velocity.components().iter().flat_map(|c| c.values().to_vec()).collect())
}
