//! Scene PILE: a block of boxes or balls with gaps of 1 cm falls together between four walls. It must come to rest at the height of its layers, stay
//! in its box, and never gain energy.
//!
//! Source: the project's mark: less than 1 mm over 25 layers (Rapier and box3d: 27 mm).

use super::set_up::{add, at, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Kind, Material};

pub(super) const SMALL: Case = Case {
    name: "rigid/pile-small",
    spec: "PILE (rigid-bodies)",
    summary: "75 boxes and 75 balls fall together and come to rest",
    source: "exact height of the layers; energy never rises",
    speed: Speed::Fast,
    seconds: 6.0,
    run: run_small,
};

pub(super) const THOUSAND: Case = Case {
    name: "rigid/pile-1000",
    spec: "PILE (rigid-bodies)",
    summary: "1000 boxes fall together and come to rest",
    source: "exact height of the layers; energy never rises",
    speed: Speed::Slow,
    seconds: 60.0,
    run: run_thousand,
};

pub(super) const TEN_THOUSAND: Case = Case {
    name: "rigid/pile-10000",
    spec: "PILE (rigid-bodies)",
    summary: "10 000 boxes fall together and come to rest",
    source: "exact height of the layers; energy never rises",
    speed: Speed::Slow,
    seconds: 600.0,
    run: run_ten_thousand,
};

/// The scene PILE.
fn pile(count: [usize; 3], spheres: bool) -> Result<World<3>, CaseError> {
    let mut world = world::<3>(ContactMethod::Simultaneous, 9.81)?;
    let material = Material::new(0.0, 0.5);
    let solid = shared(if spheres { Geometry::sphere(0.1) } else { Geometry::cuboid(Vector::repeat(0.1)) })?;
    let far = [0, 2].map(|a| 0.21 * (count[a] as f64 - 1.0) + 0.6);
    let walls = [
        ([0.0, 1.0, 0.0], [0.0; 3]),
        ([1.0, 0.0, 0.0], [-0.6, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [far[0], 0.0, 0.0]),
        ([0.0, 0.0, 1.0], [0.0, 0.0, -0.6]),
        ([0.0, 0.0, -1.0], [0.0, 0.0, far[1]]),
    ];
    for (normal, position) in walls {
        let plane = shared(Geometry::half_space(Vector::from(normal)))?;
        add(&mut world, Kind::Static, &plane, 1.0, material, at(position), Twist::zero())?;
    }
    let mass = 1000.0 * solid.properties().map_or(1.0, |p| p.volume);
    for iz in 0..count[2] {
        for iy in 0..count[1] {
            for ix in 0..count[0] {
                let shift = if iy % 2 == 1 { [0.05, 0.03] } else { [0.0, 0.0] };
                let place =
                    [0.21 * ix as f64 + shift[0], 0.105 + 0.21 * iy as f64, 0.21 * iz as f64 + shift[1]];
                add(&mut world, Kind::Dynamic, &solid, mass, material, at(place), Twist::zero())?;
            }
        }
    }
    Ok(world)
}

fn measure(out: &mut Measurements, count: [usize; 3], spheres: bool, dt: f64) -> Result<(), CaseError> {
    let mut world = pile(count, spheres)?;
    let resolution = format!(
        "{}x{}x{} {}, dt = 1/{:.0} s",
        count[0],
        count[1],
        count[2],
        if spheres { "balls" } else { "boxes" },
        1.0 / dt
    );
    let start = world.diagnostics().total_energy;
    let (mut last, mut rise) = (start, 0.0f64);
    for _ in 0..(5.0 / dt) as usize {
        step(&mut world, dt)?;
        let now = world.diagnostics().total_energy;
        rise = rise.max(now - last);
        last = now;
    }
    let far = [0, 2].map(|a| 0.21 * (count[a] as f64 - 1.0) + 0.6);
    let outside = world.state().bodies.iter().skip(5).filter(|b| {
        let p = b.frame.position;
        !(p.x > -0.6 && p.x < far[0] && p.z > -0.6 && p.z < far[1] && p.y > 0.0)
    });
    out.at_most("bodies outside the walls", &resolution, outside.count() as f64, 0.0, "PILE");
    // Push-out lifts bodies by what contact missed, of the order of its tolerance; once their motion has no energy left to pay for that, it shows.
    out.at_most("largest rise of energy in a step / energy", &resolution, rise / start, 1e-4, "PILE");
    if !spheres {
        let top = world.state().bodies.iter().skip(5).map(|b| b.frame.position.y).fold(0.0, f64::max);
        out.near("height of the top layer (m)", &resolution, top, 0.2 * count[1] as f64 - 0.1, 1e-3, "PILE");
        out.at_most("speed at the end (m/s)", &resolution, world.diagnostics().max_speed, 1e-2, "PILE");
    }
    Ok(())
}

fn run_small(out: &mut Measurements) -> Result<(), CaseError> {
    measure(out, [5, 3, 5], false, 1.0 / 60.0)?;
    measure(out, [5, 3, 5], false, 1.0 / 30.0)?;
    measure(out, [5, 3, 5], true, 1.0 / 60.0)
}

fn run_thousand(out: &mut Measurements) -> Result<(), CaseError> {
    measure(out, [10, 10, 10], false, 1.0 / 60.0)?;
    measure(out, [10, 10, 10], true, 1.0 / 60.0)
}

fn run_ten_thousand(out: &mut Measurements) -> Result<(), CaseError> {
    measure(out, [20, 25, 20], false, 1.0 / 30.0)
}
