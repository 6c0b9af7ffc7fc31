//! Spheres let go under water (V-20), and a cylinder on a spring in fluid at rest (FS-T12): added mass in space and in time.
//!
//! A sphere in unbounded fluid carries half its volume of fluid with it: `a = g (rho_f - rho_s) / (rho_s + rho_f / 2)`; sharing the impulse of a cell by volumes instead is
//! right for equal densities only. A cylinder of mass `m` in a round container on a spring `k` swings with `f = sqrt(k / (m + Ca rho pi r^2)) / 2 pi`.

use super::super::fluid::setup::{domain, failed};
use super::setup::{Held, IMPROVED};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{FluidModel, Liquid, Obstacle, Side, SolidBoundary};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "fsi/rising-sphere",
    spec: "V-20, FS-T12",
    summary: "spheres of any density let go under water, and a cylinder on a spring: added mass",
    source: SPHERE,
    speed: Speed::Fast,
    seconds: 5.0,
    run,
};

const SPHERE: &str = "potential flow, unbounded: a = g (rho_f - rho_s) / (rho_s + rho_f / 2)";
const SPRING: &str = "potential flow: f = sqrt(k / (m + Ca rho pi r^2)) / 2 pi, Ca = 1.25";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut iterations = 0;
    for density in [0.01, 0.5, 1.0, 2.0, 8.0] {
        let exact = (1.0 - density) / (density + 0.5);
        let (a, most) = acceleration(density)?;
        iterations = iterations.max(most);
        let row = format!("acceleration, density {density} (g)");
        // Cut cells see a polyhedron, smaller by some (h / r)^2 / 2.
        measurements.near(&row, "40^3", a, exact, 0.1 * f64::abs(exact) + 0.02, SPHERE);
    }
    measurements.at_most(
        "iterations of a solve",
        "40^3",
        iterations as f64,
        40.0,
        "near those of the fluid alone",
    );
    let (found, exact) = frequency()?;
    measurements.near(
        "frequency of a cylinder on a spring (Hz)",
        "106^2",
        found,
        exact,
        0.05 * exact,
        SPRING,
    );
    Ok(())
}

/// Acceleration upwards over gravity of a sphere of a radius of 5 cells.
fn acceleration(density: f64) -> Result<(f64, usize), CaseError> {
    let n = 40;
    let radius = 5.0 / n as f64;
    let domain = domain([n; 3], 1.0 / n as f64, [[Side::slip(); 2]; 3])?;
    let mut model = FluidModel::new(domain, Liquid::new("water", 1.0));
    model.gravity = Vector::from([0.0, -1.0, 0.0]);
    model.options.solid_boundary = SolidBoundary::CutCells;
    let mass = density * 4.0 / 3.0 * PI * radius.powi(3);
    let moment = 0.4 * mass * radius * radius;
    let centre = Vector::from([0.503, 0.497, 0.51]);
    let body = (Shape::ball(radius).map_err(failed)?, centre, Some((mass, vec![moment; 3])));
    let mut held = Held::new(model, vec![body], IMPROVED)?;
    let dt = 1e-3;
    let report = held.step(dt)?;
    Ok((held.solids[0].twist.linear[1] / dt, report.iterations))
}

/// Frequency (Hz) found and exact.
fn frequency() -> Result<(f64, f64), CaseError> {
    let (n, inner, outer, width, stiffness) = (106, 0.5, 1.5, 3.3, 40.0);
    let domain = domain([n; 2], width / n as f64, [[Side::slip(); 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid::new("fluid", 1.0));
    model.options.solid_boundary = SolidBoundary::CutCells;
    let centre = Vector::repeat(0.5 * width);
    let container = Shape::ball(outer).map_err(failed)?.translated(centre).map_err(failed)?.complement();
    model.obstacles.push(Obstacle::fixed("container", container));
    let mass = 0.5 * PI * inner * inner;
    let body = (Shape::ball(inner).map_err(failed)?, centre, Some((mass, vec![0.5 * mass * inner * inner])));
    let mut held = Held::new(model, vec![body], IMPROVED)?;
    let exact = (stiffness / (mass + 1.25 * PI * inner * inner)).sqrt() / (2.0 * PI);
    // Amplitudes so small that the cylinder may stay where it is.
    let dt = 0.01 / exact;
    let (mut x, mut time, mut crossings): (f64, f64, Vec<f64>) = (1e-6, 0.0, Vec::new());
    while crossings.len() < 4 && time < 5.0 / exact {
        held.solids[0].twist.linear[0] -= dt * stiffness * x / mass;
        held.step(dt)?;
        let before = x;
        x += dt * held.solids[0].twist.linear[0];
        time += dt;
        if before > 0.0 && x <= 0.0 || before < 0.0 && x >= 0.0 {
            crossings.push(time - dt * x / (x - before));
        }
    }
    let half = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    Ok((0.5 / half, exact))
}
