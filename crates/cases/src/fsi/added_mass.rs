//! A cylinder in a round container full of fluid starts to fall, or to rise: its acceleration tells its added mass (FS-T6, FS-T7).
//!
//! Potential flow between circles of radii `r` and `R` gives `a = g (rho_f - rho_s) / (rho_s + Ca rho_f)` with `Ca = (R^2 + r^2) / (R^2 - r^2)`. A single solve from rest shows it.

use super::super::fluid::setup::{domain, failed};
use super::setup::{Held, IMPROVED};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::fluid_structure::{CouplingOptions, FaceMass};
use splashdown_fluid::{FluidModel, Liquid, Obstacle, Side, SolidBoundary};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fsi/added-mass",
    spec: "FS-T6, FS-T7",
    summary: "a cylinder let go in a round container accelerates against its added mass, for any density",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 3.0,
    run,
};

const SOURCE: &str = "potential flow: a = g (rho_f - rho_s) / (rho_s + Ca rho_f), Ca = 1.25";
const PROTOTYPE: &str = "prototype of the same scheme (spec/fluid-structure.md FS-T6)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let fraction = IMPROVED;
    let full = CouplingOptions { mass: FaceMass::Full, ..IMPROVED };
    let voxels = SolidBoundary::Voxels;
    let mut iterations = 0;
    for (n, expected, expected_full, expected_heavy) in
        [(32, 0.631, 0.516, -0.273), (64, 0.699, 0.633, -0.289), (128, 0.762, 0.717, -0.303)]
    {
        let cells = n.to_string();
        for (name, density, options, expected) in [
            ("weightless", 1e-6, fraction, expected),
            ("weightless, full mass", 1e-6, full, expected_full),
            ("twice as dense", 2.0, fraction, expected_heavy),
        ] {
            let (a, most) = acceleration(n, density, options, voxels)?;
            iterations = iterations.max(most);
            let row = format!("acceleration, {name} (g)");
            measurements.near(&row, &cells, a, expected, 0.02 * expected.abs(), PROTOTYPE);
        }
    }
    // As dense as the fluid, to two percent of what a cell of buoyancy, `h / r`, would make.
    for (n, expected, expected_full) in [(32, 0.006, -0.039), (64, 0.003, -0.021), (128, -0.001, -0.016)] {
        for (name, options, expected) in [("", fraction, expected), (", full mass", full, expected_full)] {
            let (a, _) = acceleration(n, 1.0, options, voxels)?;
            let row = format!("acceleration, as dense as the fluid{name} (g)");
            measurements.near(&row, &n.to_string(), a, expected, 0.02 * 6.6 / n as f64, PROTOTYPE);
        }
    }
    for (n, limit) in [(64, 0.005), (128, 0.002)] {
        let (a, _) = acceleration(n, 1.0, fraction, voxels)?;
        measurements.at_most(
            "|acceleration|, as dense as the fluid (g)",
            &n.to_string(),
            a.abs(),
            limit,
            PROTOTYPE,
        );
    }
    let (a, _) = acceleration(64, 1e9, fraction, voxels)?;
    measurements.near("acceleration, a billion times as dense (g)", "64", a, -1.0, 1e-4, SOURCE);
    for (n, light, heavy) in [(32, 0.781, -0.312), (64, 0.800, -0.308), (128, 0.803, -0.307)] {
        for (name, density, expected) in [("weightless", 1e-6, light), ("twice as dense", 2.0, heavy)] {
            let (a, most) = acceleration(n, density, fraction, SolidBoundary::CutCells)?;
            iterations = iterations.max(most);
            let row = format!("acceleration, cut cells, {name} (g)");
            measurements.near(&row, &n.to_string(), a, expected, 0.02 * f64::abs(expected), PROTOTYPE);
        }
    }
    measurements.at_most(
        "iterations of a solve",
        "128",
        iterations as f64,
        40.0,
        "near those of the fluid alone",
    );
    Ok(())
}

/// Acceleration over that of gravity, upwards, and the iterations.
fn acceleration(
    n: usize,
    density: f64,
    options: CouplingOptions,
    boundary: SolidBoundary,
) -> Result<(f64, usize), CaseError> {
    let (inner, outer, width) = (0.5, 1.5, 3.3);
    let h = width / n as f64;
    let domain = domain([n, n], h, [[Side::slip(); 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid::new("fluid", 1.0));
    model.gravity = Vector::from([0.0, -1.0]);
    model.options.solid_boundary = boundary;
    model.options.pressure.relative = 1e-10;
    let centre = Vector::repeat(0.5 * width);
    let container = Shape::ball(outer).map_err(failed)?.translated(centre).map_err(failed)?.complement();
    model.obstacles.push(Obstacle::fixed("container", container));
    let mass = density * std::f64::consts::PI * inner * inner;
    let body = (Shape::ball(inner).map_err(failed)?, centre, Some((mass, vec![0.5 * mass * inner * inner])));
    let mut held = Held::new(model, vec![body], options)?;
    let dt = 1e-3;
    let report = held.step(dt)?;
    Ok((held.solids[0].twist.linear[1] / dt, report.iterations))
}
