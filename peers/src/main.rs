//! Splashdown and rapier3d on the scenes PILE and HEAVY, one after the other in one run, each as its users step it.
//!
//! `cargo run --release --manifest-path peers/Cargo.toml [-- large] [one]`: `large` adds the piles of 10 000 and 20 000, `one` takes one thread instead of two.

use rapier3d::prelude as rapier;
use rustix::time::{ClockId, clock_gettime};
use splashdown_couple::World;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, GeometryError, Kind, Material};
use std::sync::Arc;
use std::time::Instant;

/// Seconds simulated.
const SECONDS: f64 = 5.0;

/// What a simulated second takes (ms): by the clock, and of the time of all cores.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

impl Cost {
    /// Of `SECONDS` simulated by `run`.
    fn of<E>(run: impl FnOnce() -> Result<(), E>) -> Result<Self, E> {
        let (wall, cpu) = (Instant::now(), cpu_seconds());
        run()?;
        let share = |seconds: f64| 1e3 * seconds / SECONDS;
        Ok(Self { wall: share(wall.elapsed().as_secs_f64()), cpu: share(cpu_seconds() - cpu) })
    }
}

/// What one program did with one scene.
struct Outcome {
    cost: Cost,
    /// Height of the highest body, or depth of the worst overlap (m).
    measure: f64,
    /// Fastest body at the end, and the root of the mean square (m/s).
    speed: f64,
    jitter: f64,
    /// Deepest overlap of two spheres, or of a sphere and the floor, at the end (m); not looked at for boxes.
    overlap: f64,
}

impl Outcome {
    /// From the places and velocities at the end.
    fn new(cost: Cost, spheres: bool, places: &[[f64; 3]], speeds: &[f64]) -> Self {
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let mut overlap = 0.0f64;
        if spheres {
            // Neighbours along x, in order.
            let mut order: Vec<&[f64; 3]> = places.iter().collect();
            order.sort_by(|a, b| a[0].total_cmp(&b[0]));
            for (i, a) in order.iter().enumerate() {
                overlap = overlap.max(0.1 - a[1]);
                for b in order[i + 1..].iter().take_while(|b| b[0] - a[0] < 0.2) {
                    let distance = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
                    overlap = overlap.max(0.2 - distance);
                }
            }
        }
        Self {
            cost,
            measure: most(&mut places.iter().map(|place| place[1])),
            speed: most(&mut speeds.iter().copied()),
            jitter: (speeds.iter().map(|v| v * v).sum::<f64>() / speeds.len() as f64).sqrt(),
            overlap,
        }
    }

    fn print(&self, scene: &str, program: &str, rate: f64, spheres: bool) {
        let Self { cost, measure, speed, jitter, overlap } = self;
        let overlap = if spheres { format!("{:.2}", 1e3 * overlap) } else { "-".into() };
        println!(
            "| {scene} | {program} | 1/{rate} | {:.0} | {:.0} | {measure:.4} | {speed:.1e} | {jitter:.1e} | {overlap} |",
            cost.wall, cost.cpu
        );
    }
}

/// CPU seconds of this process.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn main() {
    let asked = |word: &str| std::env::args().any(|own| own == word);
    let threads = if asked("one") { 1 } else { 2 };
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { return };
    pool.install(|| {
        println!("PILE, {SECONDS} s simulated, no sleeping, {threads} threads");
        println!("| scene | program | step (s) | ms a simulated second | of it on all cores | top (m) | fastest at the end (m/s) | root mean square (m/s) | deepest overlap (mm) |");
        println!("|---|---|---|---|---|---|---|---|---|");
        let mut sizes = vec![[10, 10, 10]];
        if asked("large") {
            sizes.extend([[20, 25, 20], [40, 25, 20]]);
        }
        for size in sizes {
            for spheres in [false, true] {
                let what = if spheres { "spheres" } else { "boxes" };
                let scene = format!("{} {what}", size.iter().product::<usize>());
                for (program, run) in [("rapier3d 0.36", rapier_pile as Run), ("splashdown", our_pile)] {
                    for rate in [60.0, 30.0] {
                        match run(size, spheres, rate) {
                            Ok(outcome) => outcome.print(&scene, program, rate, spheres),
                            Err(error) => println!("{error}"),
                        }
                    }
                }
            }
        }
        println!("\nHEAVY: a cube of R kg on one of 1 kg, side 0.2 m, steps of 1/60 s: worst overlap within the last of {SECONDS} s (mm)");
        println!("| R | rapier3d 0.36 | splashdown |\n|---|---|---|");
        for ratio in [1.0, 10.0, 100.0, 1e3, 1e4] {
            let ours = our_heavy(ratio).map_or_else(|error| error, |depth| format!("{:.2e}", 1e3 * depth));
            println!("| {ratio} | {:.2e} | {ours} |", 1e3 * rapier_heavy(ratio));
        }
    });
}

/// A pile of such a size, of spheres or boxes, with so many steps a second.
type Run = fn([usize; 3], bool, f64) -> Result<Outcome, String>;

/// Centre of body `i` of the pile.
fn place([nx, ny, _]: [usize; 3], i: usize) -> [f64; 3] {
    let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
    let shift = if y % 2 == 1 { [0.05, 0.03] } else { [0.0, 0.0] };
    [0.21 * x as f64 + shift[0], 0.105 + 0.21 * y as f64, 0.21 * z as f64 + shift[1]]
}

/// Normals and points of floor and walls.
fn walls([nx, _, nz]: [usize; 3]) -> [([f64; 3], [f64; 3]); 5] {
    let reach = |n: usize| 0.21 * (n - 1) as f64 + 0.1 + 0.5;
    [
        ([0.0, 1.0, 0.0], [0.0; 3]),
        ([1.0, 0.0, 0.0], [-0.6, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [reach(nx), 0.0, 0.0]),
        ([0.0, 0.0, 1.0], [0.0, 0.0, -0.6]),
        ([0.0, 0.0, -1.0], [0.0, 0.0, reach(nz)]),
    ]
}

fn vector([x, y, z]: [f64; 3]) -> rapier::Vector {
    rapier::Vector::new(x as f32, y as f32, z as f32)
}

fn rapier_pile(size: [usize; 3], spheres: bool, rate: f64) -> Result<Outcome, String> {
    let mut world = rapier::PhysicsWorld::default();
    world.integration_parameters.dt = (1.0 / rate) as f32;
    for (normal, point) in walls(size) {
        // Thick boxes behind each plane.
        let middle: [f64; 3] = std::array::from_fn(|a| point[a] - 5.0 * normal[a]);
        let half: [f32; 3] = std::array::from_fn(|a| if normal[a] == 0.0 { 20.0 } else { 5.0 });
        world.insert(
            rapier::RigidBodyBuilder::fixed().translation(vector(middle)),
            rapier::ColliderBuilder::cuboid(half[0], half[1], half[2]).friction(0.5).restitution(0.0),
        );
    }
    let count = size.iter().product();
    for i in 0..count {
        let shape =
            if spheres { rapier::ColliderBuilder::ball(0.1) } else { rapier::ColliderBuilder::cuboid(0.1, 0.1, 0.1) };
        world.insert(
            rapier::RigidBodyBuilder::dynamic().translation(vector(place(size, i))).can_sleep(false),
            shape.density(1000.0).friction(0.5).restitution(0.0),
        );
    }
    let cost = Cost::of(|| {
        (0..(SECONDS * rate).round() as usize).for_each(|_| world.step());
        Ok::<(), String>(())
    })?;
    let bodies = || world.bodies.iter().map(|(_, body)| body).filter(|body| body.is_dynamic());
    let places: Vec<[f64; 3]> = bodies()
        .map(|body| [body.translation().x, body.translation().y, body.translation().z].map(f64::from))
        .collect();
    let speeds: Vec<f64> = bodies().map(|body| f64::from(body.linvel().length())).collect();
    Ok(Outcome::new(cost, spheres, &places, &speeds))
}

fn rapier_heavy(ratio: f64) -> f64 {
    let mut world = rapier::PhysicsWorld::default();
    world.integration_parameters.dt = 1.0 / 60.0;
    world.insert(
        rapier::RigidBodyBuilder::fixed().translation(vector([0.0, -5.0, 0.0])),
        rapier::ColliderBuilder::cuboid(20.0, 5.0, 20.0).friction(0.5),
    );
    let mut cube = |y: f64, mass: f64| {
        let body = rapier::RigidBodyBuilder::dynamic().translation(vector([0.0, y, 0.0])).can_sleep(false);
        world.insert(body, rapier::ColliderBuilder::cuboid(0.1, 0.1, 0.1).mass(mass as f32).friction(0.5)).0
    };
    let (light, heavy) = (cube(0.1, 1.0), cube(0.3, ratio));
    let mut worst = 0.0f64;
    for step in 0..300 {
        world.step();
        if step >= 240 {
            let height = |body: rapier::RigidBodyHandle| f64::from(world.bodies[body].translation().y);
            let below = 0.1 - height(light);
            let between = 0.2 - (height(heavy) - height(light));
            worst = worst.max(below).max(between);
        }
    }
    worst
}

fn our_world() -> Result<World<3>, String> {
    World::new(Vector::from([0.0, -9.81, 0.0])).map_err(|error| error.to_string())
}

fn add(
    world: &mut World<3>,
    kind: Kind,
    geometry: &Arc<Geometry<3>>,
    mass: f64,
    position: [f64; 3],
) -> Result<(), String> {
    let body = Body::with_geometry("body", kind, mass, geometry.clone()).map_err(|error| error.to_string())?;
    let frame = Frame { position: Vector::from(position), ..Frame::identity() };
    world.add_body(body.material(Material::new(0.0, 0.5)), frame, Twist::zero());
    Ok(())
}

fn step(world: &mut World<3>, dt: f64) -> Result<(), String> {
    world.step(dt).map(|_| ()).map_err(|error| error.to_string())
}

fn shared(geometry: Result<Geometry<3>, GeometryError>) -> Result<Arc<Geometry<3>>, String> {
    geometry.map(Arc::new).map_err(|error| error.to_string())
}

fn our_pile(size: [usize; 3], spheres: bool, rate: f64) -> Result<Outcome, String> {
    let mut world = our_world()?;
    for (normal, point) in walls(size) {
        let plane = shared(Geometry::half_space(Vector::from(normal)))?;
        add(&mut world, Kind::Static, &plane, 1.0, point)?;
    }
    let solid = shared(if spheres { Geometry::sphere(0.1) } else { Geometry::cuboid(Vector::repeat(0.1)) })?;
    let mass = 1000.0 * solid.properties().map_or(1.0, |properties| properties.volume);
    for i in 0..size.iter().product() {
        add(&mut world, Kind::Dynamic, &solid, mass, place(size, i))?;
    }
    let cost =
        Cost::of(|| (0..(SECONDS * rate).round() as usize).try_for_each(|_| step(&mut world, 1.0 / rate)))?;
    let bodies = &world.state().bodies[5..];
    let places: Vec<[f64; 3]> = bodies.iter().map(|body| body.frame.position.into()).collect();
    let speeds: Vec<f64> = bodies.iter().map(|body| body.velocity.norm()).collect();
    Ok(Outcome::new(cost, spheres, &places, &speeds))
}

fn our_heavy(ratio: f64) -> Result<f64, String> {
    let mut world = our_world()?;
    let floor = shared(Geometry::half_space(Vector::from([0.0, 1.0, 0.0])))?;
    add(&mut world, Kind::Static, &floor, 1.0, [0.0; 3])?;
    let cube = shared(Geometry::cuboid(Vector::repeat(0.1)))?;
    add(&mut world, Kind::Dynamic, &cube, 1.0, [0.0, 0.1, 0.0])?;
    add(&mut world, Kind::Dynamic, &cube, ratio, [0.0, 0.3, 0.0])?;
    let mut worst = 0.0f64;
    for number in 0..300 {
        step(&mut world, 1.0 / 60.0)?;
        if number >= 240 {
            let height = |i: usize| world.state().bodies[i].frame.position.y;
            worst = worst.max(0.1 - height(1)).max(0.2 - (height(2) - height(1)));
        }
    }
    Ok(worst)
}
