//! Projection of random velocities in a box with every kind of side, a closed region and an isolated cell.

use super::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_fluid::pressure::{FaceDensity, PressureProblem, PressureTolerance, Projection};
use splashdown_fluid::{Obstacle, Side, SolidBoundary, Walls, classify};
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/projection",
    spec: "FB-T8",
    summary: "random velocities become incompressible: mixed sides, a closed region that is pumped, an isolated cell",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 0.3,
    run,
};

const SOURCE: &str = "exact: div u = 0; net flux of the pumped region 0.25 m^2/s";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let n = 40;
    let h = 1.0 / n as f64;
    let pump = Side::Slip { velocity: Vector::from([0.0, 0.5]) };
    let inflow = Side::Inflow { velocity: Vector::from([1.0, 0.0]) };
    let domain = domain([n, n], h, [[inflow, Side::open()], [pump, Side::wall()]])?;
    let cuboid = |half: [f64; 2], at: [f64; 2]| {
        Shape::cuboid(Vector::from(half)).and_then(|shape| shape.translated(Vector::from(at))).map_err(failed)
    };
    // A basin at the bottom, shut off from the rest, over half of the pumped side; the other half pumps into the channel.
    let basin = cuboid([0.3, 0.3], [0.5, 0.1])?.difference(cuboid([0.25, 0.25], [0.5, 0.1])?);
    let cage = cuboid([1.5 * h, 1.5 * h], [0.5125, 0.7125])?
        .difference(cuboid([0.5 * h, 0.5 * h], [0.5125, 0.7125])?);
    let obstacles = [Obstacle::fixed("basin", basin), Obstacle::fixed("cage", cage)];
    let placements = obstacles.each_ref().map(|obstacle| obstacle.placement(0.0));
    let walls = Walls::new(&domain, &obstacles, &placements, SolidBoundary::Voxels);
    let cells = classify(&domain, &walls, None);
    let problem = PressureProblem {
        domain: &domain,
        walls: &walls,
        cells: &cells,
        density: FaceDensity::Uniform(1.0),
        phi: None,
        stair_steps: false,
        known: None,
        expansion: None,
    };
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut velocity = FaceFields::new(domain.grid(), 0.0);
    for axis in 0..2 {
        velocity.component_mut(axis).update(|_, _| 0.0);
        velocity
            .component_mut(axis)
            .values_mut()
            .iter_mut()
            .for_each(|u| *u = random.random_range(-1.0..1.0));
    }
    let mut pressure = Field::new(domain.grid(), Location::Cell, 0.0);
    let dt = 0.01;
    let report = Projection::default()
        .project(&problem, &mut velocity, &mut pressure, dt, &PressureTolerance::default())
        .map_err(failed)?;
    measurements.at_most(
        "largest |div u| dt",
        "40^2",
        problem.largest_divergence(&velocity) * dt,
        1e-8,
        SOURCE,
    );
    // The basin and the cage.
    measurements.near("closed regions", "40^2", report.closed_regions as f64, 2.0, 0.0, SOURCE);
    measurements.near("net flux into the basin (m^2/s)", "40^2", report.net_flux, 0.25, 1e-12, SOURCE);
    Ok(())
}
