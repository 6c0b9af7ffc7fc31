//! Bodies in water with a free surface: what is lighter than water floats with the submerged fraction of its density, what is heavier sinks (V-10 in the plane).
//!
//! Archimedes: a body at rest displaces its own weight of water, so the submerged part of its volume is `rho_s / rho_f`.

use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side};
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use splashdown_scene::{AnyWorld, Scene, build};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/floating",
    spec: "V-10",
    summary: "boxes in water settle at the submerged fraction of their density, or sink",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 10.0,
    run,
};

pub(super) const BETWEEN: Case = Case {
    name: "fsi/floating-between-liquids",
    spec: "FS-39",
    summary: "a box that is heavier than oil and lighter than water settles where they meet",
    source: BETWEEN_SOURCE,
    speed: Speed::Fast,
    seconds: 5.0,
    run: run_between,
};

const BETWEEN_SOURCE: &str =
    "Archimedes: part below the interface = (rho_s - rho_oil) / (rho_water - rho_oil)";
const SOURCE: &str = "Archimedes: submerged fraction = rho_s / rho_f";
const WATER: f64 = 0.5;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    for density in [0.3, 0.6] {
        let [submerged, speed, volume] = settle(density, 6.0)?;
        let row = format!("mean submerged fraction, density {density}");
        measurements.near(&row, "40x32", submerged, density, 0.05 * density, SOURCE);
        // Nothing but waves damps it.
        let row = format!("root of its mean squared speed, density {density} (m/s)");
        measurements.at_most(&row, "40x32", speed, 0.15, "near rest");
        let row = format!("change of the water's volume, density {density}");
        measurements.at_most(&row, "40x32", volume, 0.01, "incompressible");
    }
    let [submerged, ..] = settle(2.0, 2.0)?;
    measurements.at_least("submerged fraction, twice as dense", "40x32", submerged, 1.0 - 1e-9, SOURCE);
    Ok(())
}

fn run_between(measurements: &mut Measurements) -> Result<(), CaseError> {
    for (density, exact, cut) in [(900.0, 0.5, false), (850.0, 0.25, false), (900.0, 0.5, true)] {
        let text = TWO_LIQUIDS.replace("DENSITY", &density.to_string()).replace("CUT", &cut.to_string());
        let scene = Scene::parse("between", &text, &[]);
        let AnyWorld::Two(mut world) = build(&scene.map_err(failed)?).map_err(failed)? else {
            return Err(failed("the scene is not in the plane"));
        };
        // It swings with a period of three seconds, damped by the liquids only.
        let (mut sum, mut weight) = (0.0, 0.0);
        while world.state().time < 6.0 {
            world.step(0.01).map_err(failed)?;
            if world.state().time <= 3.0 {
                continue;
            }
            let bottom = world.state().bodies[0].frame.position[1] - 0.1;
            let level = if cut {
                // Cells that are cut count as whole ones in the volume.
                0.5 * (level_at(&world, 1)? + level_at(&world, 38)?)
            } else {
                // The box is 0.3 m wide in a tank of one metre: what of it is below the interface lifts that.
                let water = world.fluid_diagnostics().map_or(0.0, |fluid| fluid.volumes[0]);
                bottom + (water - bottom) / 0.7
            };
            sum += (level - bottom) / 0.2;
            weight += 1.0;
        }
        let cells = if cut { ", cut cells" } else { "" };
        let row = format!("mean part below the interface, density {density}{cells}");
        measurements.near(&row, "40x32", sum / weight, exact, 0.05, BETWEEN_SOURCE);
    }
    Ok(())
}

/// Height (m) of the interface in a column of cells.
fn level_at(world: &World<2>, column: isize) -> Result<f64, CaseError> {
    let fluid = world.state().fluid.as_ref().ok_or_else(|| failed("no fluid"))?;
    let phi = |row: isize| fluid.liquids[0].phi.at([column, row]);
    let row = (0..31).find(|&row| phi(row) < 0.0 && phi(row + 1) >= 0.0);
    let row = row.ok_or_else(|| failed("no interface in the column"))?;
    Ok(0.025 * (row as f64 + 0.5 + phi(row) / (phi(row) - phi(row + 1))))
}

/// Oil on water in a closed tank, and a box that is let go near where they meet.
const TWO_LIQUIDS: &str = r#"
dimension = 2
gravity = [0, -9.81]

[time]
end = 6
frame_rate = 10
step = 0.01

[fluid]
cell = 0.025
cells = [40, 32]
sides = { kind = "slip" }
keep_volume = true
cut_cells = CUT

[[fluid.liquids]]
name = "water"
density = 1000
viscosity = 0.5
regions = [{ shape = { box = { size = [4, 0.8] } } }]

[[fluid.liquids]]
name = "oil"
density = 800
viscosity = 0.5

[[rigid]]
name = "box"
shape = { box = { size = [0.3, 0.2] } }
density = DENSITY
position = [0.5, 0.45]
"#;

/// Part of the box below the water level and root of its mean squared speed (m/s) over the second half of the time, and relative change of the water's volume.
fn settle(density: f64, end: f64) -> Result<[f64; 3], CaseError> {
    let h = 0.025;
    let domain = domain([40, 32], h, [[Side::slip(); 2], [Side::slip(), Side::open()]])?;
    let mut model = FluidModel::new(domain, Liquid::new("water", 1000.0));
    model.gravity = Vector::from([0.0, -9.81]);
    model.free_surface = true;
    model.options.surface.volume_correction = true;
    let mut world = World::<2>::new(model.gravity).map_err(failed)?;
    let half = Vector::from([0.15, 0.1]);
    let box_shape = Arc::new(Geometry::cuboid(half).map_err(failed)?);
    let mass = 1000.0 * density * 4.0 * half[0] * half[1];
    let body = Body::with_geometry("box", Kind::Dynamic, mass, box_shape).map_err(failed)?;
    let frame = Frame { position: Vector::from([0.5, 0.55]), ..Frame::identity() };
    world.add_body(body, frame, Twist::zero());
    let ground = Arc::new(Geometry::half_space(Vector::from([0.0, 1.0])).map_err(failed)?);
    let ground = Body::with_geometry("floor", Kind::Static, 1.0, ground).map_err(failed)?;
    world.add_body(ground, Frame::identity(), Twist::zero());
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| x[1] - WATER).map_err(failed)?;
    world.set_fluid(model, state).map_err(failed)?;
    let volume = |world: &World<2>| world.fluid_diagnostics().map_or(0.0, |d| d.volumes[0]);
    let start = volume(&world);
    let (mut submerged, mut square, mut weight) = (0.0, 0.0, 0.0);
    while world.state().time < end {
        let dt = world.fluid_stable_step().min(0.01);
        world.step(dt).map_err(failed)?;
        if world.state().time < 0.5 * end {
            continue;
        }
        let body = &world.state().bodies[0];
        // The level that the water has with the box in it, from its volume and the box's submerged part.
        let bottom = body.frame.position[1] - half[1];
        let level = |depth: f64| (start + 2.0 * half[0] * depth.clamp(0.0, 2.0 * half[1])) / (40.0 * h);
        let mut depth = 0.0;
        for _ in 0..60 {
            depth = 0.5 * (depth + (level(depth) - bottom));
        }
        submerged += dt * (depth / (2.0 * half[1])).min(1.0);
        square += dt * body.velocity.norm_squared();
        weight += dt;
    }
    Ok([submerged / weight, (square / weight).sqrt(), (volume(&world) / start - 1.0).abs()])
}
