//! Splashdown and rapier3d on the scenes PILE and HEAVY, one after the other in one run, one thread each, CPU time.
//!
//! `cargo run --release --manifest-path peers/Cargo.toml [-- large]`: `large` adds the piles of 10 000 and 20 000.

use rapier3d::prelude as rapier;
use rustix::time::{ClockId, clock_gettime};
use splashdown_couple::World;
use splashdown_scene::{AnyWorld, Scene, build};

/// Seconds simulated.
const SECONDS: f64 = 5.0;

/// What one program did with one scene.
struct Outcome {
    /// CPU time of a simulated second (ms).
    cost: f64,
    /// Height of the highest body, or depth of the worst overlap (m).
    measure: f64,
    /// Fastest body at the end (m/s).
    speed: f64,
}

/// CPU seconds of this process.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn main() {
    let large = std::env::args().any(|word| word == "large");
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
    pool.install(|| {
        println!("PILE, {SECONDS} s simulated, no sleeping, one thread");
        println!("| scene | program | step (s) | CPU ms a step | CPU ms a simulated second | top (m) | fastest at the end (m/s) |");
        println!("|---|---|---|---|---|---|---|");
        let mut sizes = vec![[10, 10, 10]];
        if large {
            sizes.extend([[20, 25, 20], [40, 25, 20]]);
        }
        for size in sizes {
            for spheres in [false, true] {
                let what = if spheres { "spheres" } else { "boxes" };
                let scene = format!("{} {what}", size.iter().product::<usize>());
                let mut row = |program: &str, rate: f64, outcome: Outcome| {
                    let Outcome { cost, measure, speed } = outcome;
                    println!("| {scene} | {program} | 1/{rate} | {:.1} | {cost:.0} | {measure:.4} | {speed:.1e} |", cost / rate);
                };
                row("rapier3d 0.36", 60.0, rapier_pile(size, spheres, 60.0));
                for rate in [60.0, 30.0] {
                    match our_pile(size, spheres, rate) {
                        Ok(outcome) => row("splashdown", rate, outcome),
                        Err(error) => println!("{error}"),
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

fn rapier_pile(size: [usize; 3], spheres: bool, rate: f64) -> Outcome {
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
    let start = cpu_seconds();
    for _ in 0..(SECONDS * rate).round() as usize {
        world.step();
    }
    let cost = 1e3 * (cpu_seconds() - start) / SECONDS;
    let bodies = || world.bodies.iter().map(|(_, body)| body).filter(|body| body.is_dynamic());
    Outcome {
        cost,
        measure: bodies().map(|body| f64::from(body.translation().y)).fold(0.0, f64::max),
        speed: bodies().map(|body| f64::from(body.linvel().length())).fold(0.0, f64::max),
    }
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
            let height = |body| f64::from(world.bodies[body].translation().y);
            let below = 0.1 - height(light);
            let between = 0.2 - (height(heavy) - height(light));
            worst = worst.max(below).max(between);
        }
    }
    worst
}

/// A world of ours from a scene's text.
fn our_world(text: &str) -> Result<World<3>, String> {
    let scene = Scene::parse("peers.toml", text, &[]).map_err(|error| error.to_string())?;
    match build(&scene).map_err(|error| error.to_string())? {
        AnyWorld::Three(mut world) => {
            world.options_mut().contact.sleeping.enabled = false;
            Ok(*world)
        }
        AnyWorld::Two(_) => Err("the scene has three dimensions".into()),
    }
}

fn our_pile(size: [usize; 3], spheres: bool, rate: f64) -> Result<Outcome, String> {
    let mut text = String::from("dimension = 3\n[time]\nend = 5\nframe_rate = 30\n");
    for (k, (normal, point)) in walls(size).into_iter().enumerate() {
        text += &format!(
            "[[rigid]]\nname = \"wall-{k}\"\nkind = \"static\"\nshape = {{ plane = {{ normal = {normal:?} }} }}\nposition = {point:?}\n"
        );
    }
    let shape = if spheres { "sphere = { radius = 0.1 }" } else { "box = { size = [0.2, 0.2, 0.2] }" };
    for y in 0..size[1] {
        let position = place(size, y * size[0]);
        text += &format!(
            "[[rigid]]\nname = \"layer-{y}\"\nshape = {{ {shape} }}\ndensity = 1000\nposition = {position:?}\nrestitution = 0\nfriction = 0.5\nrepeat = {{ count = [{}, 1, {}], spacing = [0.21, 0.21, 0.21] }}\n",
            size[0], size[2]
        );
    }
    let mut world = our_world(&text)?;
    let start = cpu_seconds();
    for _ in 0..(SECONDS * rate).round() as usize {
        world.step(1.0 / rate).map_err(|error| error.to_string())?;
    }
    let cost = 1e3 * (cpu_seconds() - start) / SECONDS;
    let bodies = &world.state().bodies[5..];
    Ok(Outcome {
        cost,
        measure: bodies.iter().map(|body| body.frame.position.y).fold(0.0, f64::max),
        speed: bodies.iter().map(|body| body.velocity.norm()).fold(0.0, f64::max),
    })
}

fn our_heavy(ratio: f64) -> Result<f64, String> {
    let cube = |name: &str, y: f64, mass: f64| {
        format!(
            "[[rigid]]\nname = \"{name}\"\nshape = {{ box = {{ size = [0.2, 0.2, 0.2] }} }}\nmass = {mass}\nposition = [0, {y}, 0]\n"
        )
    };
    let text = String::from("dimension = 3\n[time]\nend = 5\nframe_rate = 30\n[[rigid]]\nname = \"floor\"\nkind = \"static\"\nshape = { plane = {} }\n")
        + &cube("light", 0.1, 1.0)
        + &cube("heavy", 0.3, ratio);
    let mut world = our_world(&text)?;
    let mut worst = 0.0f64;
    for step in 0..300 {
        world.step(1.0 / 60.0).map_err(|error| error.to_string())?;
        if step >= 240 {
            let height = |i: usize| world.state().bodies[i].frame.position.y;
            worst = worst.max(0.1 - height(1)).max(0.2 - (height(2) - height(1)));
        }
    }
    Ok(worst)
}
