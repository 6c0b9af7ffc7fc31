//! Scenes that went wrong once: needles that fall over each other, sheets a thousand times as wide as they are thick, logs that roll off a stack, standing cylinders that meet by
//! surface particles, weights that grow tenfold from box to box. Bounces of a half are on everywhere. Nothing gains energy, and what can stand stands.
//!
//! Source: conservation of energy; statics.

use super::set_up::{add, at, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Kind, Material};
use std::f64::consts::FRAC_PI_2;

pub(super) const CASE: Case = Case {
    name: "rigid/odd-scenes",
    spec: "RB-15, RB-18, RB-21, RB-52 (rigid-bodies)",
    summary: "needles, thin sheets, rolling logs, cylinders on their faces and ladders of masses gain no energy and stand where they can",
    source: "exact: conservation of energy; rest",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

const DT: f64 = 1.0 / 30.0;

struct End {
    /// Largest total energy above that at the start, over the latter.
    gain: f64,
    /// Largest distance that a body has moved (m).
    moved: f64,
}

fn run_for(world: &mut World<3>, seconds: f64) -> Result<End, CaseError> {
    let start = world.diagnostics().total_energy;
    let places: Vec<Vector<3>> = world.state().bodies.iter().map(|body| body.frame.position).collect();
    let mut gain = 0.0f64;
    for _ in 0..(seconds / DT) as usize {
        step(world, DT)?;
        gain = gain.max(world.diagnostics().total_energy / start - 1.0);
    }
    let now = world.state().bodies.iter().map(|body| body.frame.position);
    let moved = now.zip(places).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    Ok(End { gain, moved })
}

/// An empty world with a floor.
fn floor() -> Result<World<3>, CaseError> {
    let mut world = world::<3>(ContactMethod::Simultaneous, 9.81)?;
    ground(&mut world, Material::new(0.5, 0.5), 0.0)?;
    Ok(world)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let material = Material::new(0.5, 0.5);
    // Needles of 1 m and 5 mm: one angular momentum is 40 000 times the energy along them that it is across.
    let mut world = floor()?;
    let needle = shared(Geometry::cuboid(Vector::from([0.0025, 0.5, 0.0025])))?;
    for i in 0..20usize {
        let place = [0.02 * (i % 5) as f64, 1.0 + 0.3 * (i / 5) as f64, 0.02 * (i % 3) as f64];
        let twist = Twist { linear: Vector::zeros(), angular: Vector::from([3.0, 20.0, 1.0]) };
        add(&mut world, Kind::Dynamic, &needle, 0.01, material, at(place), twist)?;
    }
    let end = run_for(&mut world, 4.0)?;
    out.at_most(
        "needles: energy gained over that at the start",
        "20, dt = 1/30 s",
        end.gain,
        1e-9,
        "exact: none",
    );

    let mut world = floor()?;
    let sheet = shared(Geometry::cuboid(Vector::from([0.5, 0.0005, 0.5])))?;
    for i in 0..20 {
        let place = at([0.0, 0.0005 + 0.001 * f64::from(i), 0.0]);
        add(&mut world, Kind::Dynamic, &sheet, 0.1, material, place, Twist::zero())?;
    }
    let end = run_for(&mut world, 4.0)?;
    out.at_most(
        "sheets: energy gained over that at the start",
        "20 of 1 mm, dt = 1/30 s",
        end.gain,
        1e-5,
        "none",
    );
    out.at_most("sheets: displacement in 4 s (m)", "20 of 1 mm, dt = 1/30 s", end.moved, 1e-3, "rest");

    let mut world = floor()?;
    let log = shared(Geometry::capsule(0.1, 0.5))?;
    for i in 0..16usize {
        let layer = i / 4;
        let place = [0.21 * (i % 4) as f64 + 0.02 * (layer % 2) as f64, 0.1 + 0.2 * layer as f64, 0.0];
        add(&mut world, Kind::Dynamic, &log, 1.0, material, at(place), Twist::zero())?;
    }
    let end = run_for(&mut world, 4.0)?;
    out.at_most(
        "logs: energy gained over that at the start",
        "16, dt = 1/30 s",
        end.gain,
        1e-9,
        "exact: none",
    );

    // Cylinders meet by particles on their surfaces. Where their rims lie on each other, the nearest surface of the other may be its side.
    let standing = |place: [f64; 3]| Frame {
        position: Vector::from(place),
        rotation: Dim::<3>::exp(&Spin::<3>::from([FRAC_PI_2, 0.0, 0.0])),
    };
    for count in [1usize, 2, 6] {
        let mut world = floor()?;
        let shape = Shape::cylinder(0.2, 0.1).map_err(|error| CaseError::new("making a cylinder", error))?;
        let cylinder = shared(Geometry::shape(shape, 32))?;
        for i in 0..count {
            let frame = standing([0.0, 0.1 + 0.2 * i as f64, 0.0]);
            add(&mut world, Kind::Dynamic, &cylinder, 1.0, material, frame, Twist::zero())?;
        }
        let end = run_for(&mut world, 4.0)?;
        let resolution = format!("{count}, dt = 1/30 s");
        out.at_most("standing cylinders: displacement in 4 s (m)", &resolution, end.moved, 2e-3, "rest");
    }

    let mut world = floor()?;
    let cube = shared(Geometry::cuboid(Vector::repeat(0.1)))?;
    for i in 0..8 {
        let place = at([0.0, 0.1 + 0.2 * f64::from(i), 0.0]);
        add(&mut world, Kind::Dynamic, &cube, 10f64.powi(i - 3), material, place, Twist::zero())?;
    }
    let end = run_for(&mut world, 3.0)?;
    out.at_most("masses 1e-3 to 1e4: displacement in 3 s (m)", "8, dt = 1/30 s", end.moved, 1e-3, "rest");
    out.at_most("masses 1e-3 to 1e4: energy gained", "8, dt = 1/30 s", end.gain, 1e-4, "by push-out alone");
    Ok(())
}
