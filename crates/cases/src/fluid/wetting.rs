//! How liquids meet walls (FB-22): they leave a ceiling, rub on a floor, and stand on it at an angle.
//!
//! A block of water under a ceiling that lets it go falls as if there were none; under one that holds it, it stays. A layer that slides over a rough floor is slowed
//! there by the pressure times the coefficient of friction, until it rests. A drop that surface tension spreads or gathers on a plate ends as the cap of a circle with the given angle.

use super::setup::{Run, domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{FluidModel, Liquid, Obstacle, Side};
use splashdown_geometry::grid::{Interpolation, Reach};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Space, Vector};

pub(super) const WALLS: Case = Case {
    name: "fluid/walls",
    spec: "FB-22",
    summary: "water leaves a ceiling that lets it go, and a rough floor slows the layer that slides on it",
    source: FALL,
    speed: Speed::Fast,
    seconds: 6.0,
    run: walls,
};

pub(super) const ANGLE: Case = Case {
    name: "fluid/contact-angle",
    spec: "FB-22",
    summary: "a drop spreads or gathers on a plate until its surface meets it at the angle that it was given",
    source: CAP,
    speed: Speed::Slow,
    seconds: 60.0,
    run: angles,
};

const FALL: &str = "exact: free fall, g t^2 / 2";
const HELD: &str = "exact: held by suction, at rest";
const FRICTION: &str = "exact: friction times the pressure at the floor slows the cells that lie on it";
const CAP: &str = "exact: the cap of a circle (Young's angle)";

fn walls(measurements: &mut Measurements) -> Result<(), CaseError> {
    ceiling::<2>(measurements, 32)?;
    ceiling::<3>(measurements, 16)?;
    floor(measurements)
}

/// Water in the upper part of a box, under its ceiling or under an obstacle that fills the part above.
fn ceiling<const D: usize>(measurements: &mut Measurements, n: usize) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let (gravity, time, depth) = (10.0, 0.2, 0.3);
    for (separation, below_obstacle) in [(true, false), (true, true), (false, false)] {
        let mut model = FluidModel::new(
            domain([n; D], 1.0 / n as f64, [[Side::slip(); 2]; D])?,
            Liquid::new("water", 1000.0),
        );
        model.free_surface = true;
        model.gravity[1] = -gravity;
        model.options.surface.wetting.separation = separation;
        let top = if below_obstacle { 0.75 } else { 1.0 };
        if below_obstacle {
            let half = Vector::from_fn(|a, _| if a == 1 { 0.125 } else { 1.0 });
            let at = Vector::from_fn(|a, _| if a == 1 { 0.875 } else { 0.5 });
            let block = Shape::cuboid(half).and_then(|block| block.translated(at)).map_err(failed)?;
            model.obstacles.push(Obstacle { slip: true, ..Obstacle::fixed("ceiling", block) });
        }
        let mut run = Run::new(model, |model, state| state.set_liquid(model, 0, |x| top - depth - x[1]))?;
        let [start, volume] = centre(&mut run);
        // Splitting is of first order: the surface lags by half a step.
        let steps = 100;
        for _ in 0..steps {
            run.step(time / f64::from(steps))?;
        }
        let [end, left] = centre(&mut run);
        let what = match (separation, below_obstacle) {
            (true, false) => "a ceiling that lets go",
            (true, true) => "an obstacle that lets go",
            _ => "a ceiling that holds",
        };
        let size = format!("{n}^{D}, under {what}");
        let (exact, source) = if separation { (0.5 * gravity * time * time, FALL) } else { (0.0, HELD) };
        // To an eighth of a cell.
        let near = 0.125 / n as f64;
        measurements.near("way that its centre fell (m)", &size, start - end, exact, near, source);
        measurements.near("volume / at the start", &size, left / volume, 1.0, near / depth, source);
    }
    Ok(())
}

/// Height (m) of the liquid's centre, and its volume.
fn centre<const D: usize>(run: &mut Run<D>) -> [f64; 2]
where
    Dim<D>: Space<D>,
{
    let volume = run.diagnostics().volumes[0];
    let Some(walls) = run.stepper.walls() else { return [f64::NAN; 2] };
    let phi = &run.state.liquids[0].phi;
    let (lattice, h) = (*phi.lattice(), phi.grid().min_spacing());
    let [moment, share] = phi.reduce(
        [0.0; 2],
        |cell, value| {
            let wet = if walls.is_solid(cell) { 0.0 } else { (0.5 - value / h).clamp(0.0, 1.0) };
            [wet * lattice.position(cell)[1], wet]
        },
        |a, b| [a[0] + b[0], a[1] + b[1]],
    );
    [moment / share, volume]
}

/// A layer that slides over a rough floor.
fn floor(measurements: &mut Measurements) -> Result<(), CaseError> {
    let (n, depth, friction, gravity, dt) = (32usize, 0.25, 0.1, 10.0, 0.002);
    let h = 1.0 / n as f64;
    let mut model = FluidModel::new(
        domain([n / 2, n / 2], h, [[Side::Periodic; 2], [Side::slip(), Side::open()]])?,
        Liquid::new("water", 1000.0),
    );
    model.free_surface = true;
    model.gravity[1] = -gravity;
    model.options.surface.wetting.friction = friction;
    let mut run = Run::new(model, |model, state| {
        state.set_velocity(model, |_| Vector::from([1.0, 0.0]));
        state.set_liquid(model, 0, |x| x[1] - depth)
    })?;
    let speed = |run: &Run<2>, row: isize| run.state.velocity.component(0).at([5, row]);
    // Friction is that of the last known pressure, which the first step finds.
    run.step(dt)?;
    let first = speed(&run, 0);
    let steps = 20;
    for _ in 0..steps {
        run.step(dt)?;
    }
    let slowed = (first - speed(&run, 0)) / (f64::from(steps) * dt);
    let exact = friction * gravity * (depth - 0.5 * h) / h;
    measurements.near(
        "deceleration at the floor (m/s^2)",
        "32 cells a metre",
        slowed,
        exact,
        0.02 * exact,
        FRICTION,
    );
    measurements.near("speed above (m/s)", "32 cells a metre", speed(&run, 3), 1.0, 0.01, FRICTION);
    for _ in 0..80 {
        run.step(dt)?;
    }
    measurements.near(
        "speed at the floor in the end (m/s)",
        "32 cells a metre",
        speed(&run, 0),
        0.0,
        1e-3,
        FRICTION,
    );
    Ok(())
}

fn angles(measurements: &mut Measurements) -> Result<(), CaseError> {
    for degrees in [60.0, 90.0, 120.0] {
        for on_obstacle in [false, true] {
            let found = drop_on_plate(degrees, on_obstacle)?;
            let size = format!("r / h = 16, on {}", if on_obstacle { "an obstacle" } else { "the floor" });
            measurements.near(&format!("angle of {degrees} degrees"), &size, found, degrees, 5.0, CAP);
        }
    }
    Ok(())
}

/// The angle (degrees) at which a drop meets the plate it stands on, after it began as half a disc.
fn drop_on_plate(degrees: f64, on_obstacle: bool) -> Result<f64, CaseError> {
    let (n, radius) = (64usize, 0.25);
    let h = 1.0 / n as f64;
    let plate = if on_obstacle { 8.0 * h } else { 0.0 };
    let mut model = FluidModel::new(
        domain([n, 40], h, [[Side::slip(); 2], [Side::slip(), Side::open()]])?,
        Liquid { viscosity: 0.1, ..Liquid::new("water", 1.0) },
    );
    model.free_surface = true;
    let surface = &mut model.options.surface;
    surface.tension = 0.07;
    surface.wetting.contact_angle = Some(f64::to_radians(degrees));
    surface.volume_correction = true;
    surface.particles = None;
    if on_obstacle {
        let half = Vector::from([1.0, 0.5]);
        let block = Shape::cuboid(half)
            .and_then(|b| b.translated(Vector::from([0.5, plate - 0.5])))
            .map_err(failed)?;
        model.obstacles.push(Obstacle { slip: true, ..Obstacle::fixed("plate", block) });
    }
    let centre = Vector::from([0.5, plate]);
    let mut run =
        Run::new(model, |model, state| state.set_liquid(model, 0, |x| (x - centre).norm() - radius))?;
    run.until(6.0)?;
    // The circle through the top and the two points of the surface half a cell above the plate. The plate is slippery: the drop may have slid along it.
    let phi = &run.state.liquids[0].phi;
    let value = |x: f64, y: f64| phi.sample(&Vector::from([x, y]), Interpolation::Linear, Reach::Ghost);
    let row = plate + 0.5 * h;
    let right = crossing(|x| value(0.5 + x, row), 0.0, 0.5);
    let left = crossing(|x| value(0.5 - x, row), 0.0, 0.5);
    let half_width = 0.5 * (left + right);
    let top = crossing(|y| value(0.5 + 0.5 * (right - left), y), row, 40.0 * h) - plate;
    let rise = top - 0.5 * h;
    let circle = (half_width * half_width + rise * rise) / (2.0 * rise);
    Ok(((circle - top) / circle).acos().to_degrees())
}

/// Where a function that is negative at `low` becomes positive.
fn crossing(value: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if value(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}
