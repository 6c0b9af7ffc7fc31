//! The scenes of spec/fluid-structure.md 5.2 that ship, at a quarter of the published resolution, against what each of them must show.

use super::super::fluid::setup::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_geometry::grid::Location;
use splashdown_math::{Frame, Vector};
use splashdown_scene::{AnyWorld, build, load};

const fn case(
    name: &'static str,
    spec: &'static str,
    summary: &'static str,
    seconds: f64,
    run: fn(&mut Measurements) -> Result<(), CaseError>,
) -> Case {
    Case { name, spec, summary, source: SOURCE, speed: Speed::Slow, seconds, run }
}

pub(super) const BOAT: Case = case(
    "fsi/boat",
    "V-11",
    "a boat carries a light ball without taking in water, and sinks under a heavy one",
    300.0,
    run_boat,
);

pub(super) const BAG: Case = case(
    "fsi/bag",
    "V-16",
    "a jet fills a bag of cloth: all of its water is in the bag until it reaches the rim, then it overflows",
    600.0,
    run_bag,
);

pub(super) const YANKED: Case =
    case("fsi/bag-yanked", "V-17", "a bag yanked out of water holds what is in it", 400.0, run_yanked);

pub(super) const BALLOON: Case = case(
    "fsi/balloon",
    "V-18",
    "a jet of air inflates a balloon, which flies off when it is let go",
    600.0,
    run_balloon,
);

pub(super) const FISH: Case = case("fsi/fish", "V-19", "a fish swims by bending its bones", 600.0, run_fish);

pub(super) const TORUS: Case = case(
    "fsi/soft-ring",
    "V-14",
    "a soft ring falls into water: nothing turns inside out, and it floats",
    200.0,
    run_torus,
);

const SOURCE: &str = "what the published scene shows (spec/fluid-structure.md 5.2)";

/// Steps the scene as `splashdown run` does, and looks at it after every step.
fn play(scene: &str, until: f64, mut look: impl FnMut(&World<3>, f64)) -> Result<World<3>, CaseError> {
    let loaded = load(scene, &[]).map_err(failed)?;
    let AnyWorld::Three(mut world) = build(&loaded.scene).map_err(failed)? else {
        return Err(failed("the scene is not in space"));
    };
    let clock = loaded.scene.time.clock();
    look(&world, 0.0);
    while world.state().time < until - 1e-9 {
        let time = world.state().time;
        let stable = world.model().stable_step().min(world.fluid_stable_step());
        let (dt, _) = clock.next_step(time, clock.next_frame(time), stable).map_err(failed)?;
        world.step(dt).map_err(failed)?;
        look(&world, dt);
    }
    Ok(*world)
}

/// Place of a rigid body among the bodies.
fn body(world: &World<3>, name: &str) -> usize {
    world.model().bodies.iter().position(|body| body.name == name).unwrap_or(0)
}

/// Volume (m^3) of water in cells whose centres are `within`.
fn water(world: &World<3>, within: impl Fn(&Vector<3>) -> bool) -> f64 {
    let (Some(model), Some(state)) = (&world.model().fluid, &world.state().fluid) else { return 0.0 };
    let grid = model.domain.grid();
    let lattice = grid.lattice(Location::Cell, 0);
    let spacing = grid.spacing();
    let (cell, width) = (spacing.iter().product::<f64>(), spacing[0]);
    let phi = &state.liquids[0].phi;
    let mut volume = 0.0;
    for index in lattice.indices() {
        if within(&lattice.position(index)) {
            // The part of a cell below a plane at that distance.
            volume += cell * (0.5 - phi.at(index) / width).clamp(0.0, 1.0);
        }
    }
    volume
}

/// Positions (m) of a soft body's particles.
fn particles(world: &World<3>) -> Vec<Vector<3>> {
    let position = &world.state().solids.motion.position;
    position.chunks_exact(3).map(Vector::from_column_slice).collect()
}

fn run_boat(measurements: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "40x30x40";
    let (level, cell) = (0.8, 0.05);
    let (mut freeboard, mut inside) = (f64::INFINITY, 0.0f64);
    // Where the scene puts the boat; a body's own axes are those of its inertia.
    let (place, mut start) = (Vector::from([1.0, 0.92, 1.0]), Frame::identity());
    let world = play("boat", 5.0, |world, _| {
        let time = world.state().time;
        let frame = world.state().bodies[body(world, "boat")].frame;
        if time == 0.0 {
            start = frame;
        }
        if (1.0..2.0).contains(&time) {
            // The scene's axes, as the boat has carried them along.
            let drawn = |x: &Vector<3>| start.to_world(&frame.to_object(x)) - place;
            freeboard = freeboard
                .min(frame.to_world(&start.to_object(&(place + Vector::from([0.0, 0.28, 0.0]))))[1] - level);
            // A cell from its walls, so that no cell that they cut is counted.
            let hold = |x: &Vector<3>| {
                let x = drawn(x);
                x[0].abs() < 0.52 - cell && x[2].abs() < 0.32 - cell && (-0.12 + cell..0.28).contains(&x[1])
            };
            inside = inside.max(water(world, hold));
        }
    })?;
    let height = |name: &str| world.state().bodies[body(&world, name)].frame.position[1];
    measurements.at_least(
        "rim above the water while it carries the light ball (m)",
        resolution,
        freeboard,
        0.02,
        SOURCE,
    );
    measurements.at_most("water in the boat meanwhile (m^3)", resolution, inside, 1e-3, SOURCE);
    measurements.at_most(
        "height of the boat's middle at the end (m)",
        resolution,
        height("boat"),
        0.5,
        SOURCE,
    );
    measurements.at_least(
        "height of the light ball at the end (m)",
        resolution,
        height("light-ball"),
        level - 0.1,
        SOURCE,
    );
    Ok(())
}

fn run_bag(measurements: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "20x40x20";
    let (mut poured, mut lost, mut fullest, mut outside) = (0.0, 0.0f64, 0.0f64, 0.0f64);
    let flux = std::f64::consts::PI * 0.09f64.powi(2);
    play("cloth-bag", 3.5, |world, dt| {
        poured += flux * dt;
        let points = particles(world);
        let lowest = points.iter().fold(f64::INFINITY, |least, x| least.min(x[1]));
        let all = water(world, |_| true);
        let below = water(world, |x| x[1] < lowest - 0.04);
        // It holds 0.03 m^3 or more before anything runs over.
        if poured < 0.02 {
            lost = lost.max(below);
        }
        fullest = fullest.max(all - below);
        outside = outside.max(below);
    })?;
    measurements.at_most("water under the bag while it fills (m^3)", resolution, lost, 1e-9, SOURCE);
    measurements.at_least("most water in the bag and above it (m^3)", resolution, fullest, 0.025, SOURCE);
    measurements.at_least("water under the bag after it is full (m^3)", resolution, outside, 1e-3, SOURCE);
    Ok(())
}

fn run_yanked(measurements: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "24x40x24";
    let mut fastest = 0.0f64;
    let world = play("bag-yanked", 2.0, |world, _| {
        let speeds = world.state().solids.motion.velocity.iter();
        fastest = speeds.fold(fastest, |most, v| most.max(v.abs()));
    })?;
    let points = particles(&world);
    let lowest = points.iter().fold(f64::INFINITY, |least, x| least.min(x[1]));
    let held = water(&world, |x| x[1] > 0.9);
    measurements.at_least("water carried above the pool at the end (m^3)", resolution, held, 0.01, SOURCE);
    measurements.at_least("height of the bag's lowest point at the end (m)", resolution, lowest, 0.5, SOURCE);
    measurements.at_most("fastest particle (m/s)", resolution, fastest, 20.0, SOURCE);
    Ok(())
}

fn run_balloon(measurements: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "24x36x24";
    let middle = |points: &[Vector<3>]| points.iter().sum::<Vector<3>>() / points.len() as f64;
    let widest = |points: &[Vector<3>]| {
        points.iter().fold(0.0f64, |most, x| most.max((x[0] - 0.48).hypot(x[2] - 0.48)))
    };
    let (mut start, mut inflated, mut released) = (None, 0.0f64, None);
    let (mut highest, mut jump, mut last) = (0.0f64, 0.0f64, None);
    play("balloon", 1.2, |world, dt| {
        let points = particles(world);
        let (time, place) = (world.state().time, middle(&points));
        start.get_or_insert(widest(&points));
        if time <= 0.6 {
            inflated = inflated.max(widest(&points));
        } else {
            released.get_or_insert(place[1]);
            highest = highest.max(place[1]);
        }
        if let Some(last) = last.replace(place) {
            jump = jump.max((place - last).norm() / dt);
        }
    })?;
    let start = start.unwrap_or(f64::NAN);
    measurements.at_least(
        "largest radius before it is let go, over that at rest",
        resolution,
        inflated / start,
        1.2,
        SOURCE,
    );
    let risen = highest - released.unwrap_or(f64::NAN);
    measurements.at_least("rise after it is let go (m)", resolution, risen, 0.5, SOURCE);
    measurements.at_most("largest speed of its middle (m/s)", resolution, jump, 30.0, SOURCE);
    Ok(())
}

fn run_fish(measurements: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "48x24x20";
    let place = |world: &World<3>| {
        let bodies = &world.state().bodies;
        bodies.iter().map(|body| body.frame.position[0]).sum::<f64>() / bodies.len() as f64
    };
    let (mut start, mut apart) = (None, 0.0f64);
    let world = play("swimming-fish", 4.0, |world, _| {
        start.get_or_insert(place(world));
        let joints = world.diagnostics().joints;
        apart = apart.max(joints.map_or(0.0, |joints| joints.linear_error));
    })?;
    let way = start.unwrap_or(f64::NAN) - place(&world);
    measurements.at_least("way towards its head in 4 s, of its length", resolution, way / 5.0, 0.1, SOURCE);
    measurements.at_most(
        "largest error of a joint, of a bone's length",
        resolution,
        apart / 0.8,
        0.01,
        SOURCE,
    );
    Ok(())
}

fn run_torus(measurements: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "24x24x24";
    let mut inverted = 0;
    let world = play("soft-torus", 2.5, |world, _| {
        let (Some(solids), position) = (world.solids(), &world.state().solids.motion.position) else {
            return;
        };
        let at = |node: u32| Vector::<3>::from_column_slice(&position[3 * node as usize..][..3]);
        let inside_out = |nodes: &&[u32]| {
            let [a, b, c, d] = [at(nodes[0]), at(nodes[1]), at(nodes[2]), at(nodes[3])];
            (b - a).cross(&(c - a)).dot(&(d - a)) <= 0.0
        };
        inverted += solids.bodies[0].elements.chunks_exact(4).filter(inside_out).count();
    })?;
    let points = particles(&world);
    let middle = points.iter().map(|x| x[1]).sum::<f64>() / points.len() as f64;
    measurements.at_most("tetrahedra inside out, all steps", resolution, inverted as f64, 0.0, SOURCE);
    measurements.near(
        "height of its middle at the end, half as dense as water (m)",
        resolution,
        middle,
        0.61,
        0.06,
        SOURCE,
    );
    Ok(())
}
