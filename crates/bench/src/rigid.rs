//! Rigid bodies on one thread, in CPU time: the scene PILE with 1000, 10 000 and 20 000 boxes and spheres (cost of a simulated second, growth, height lost, overlap and
//! jitter at the end), the memory of a sphere at rest, and scenes that break, in frames a second.
//!
//! `--size 1000` keeps the piles of 1000 bodies and the scenes that break. Figures of other engines for the same scene are quoted; `peers/` runs rapier3d beside us. (HEAVY is the verification case `rigid/heavy`.)

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, CpuClock, Mark, Peer, peak_memory};
use splashdown_couple::World;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind, Material};
use splashdown_scene::{AnyWorld, build, load};
use std::sync::Arc;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rigid",
    summary: "piles of boxes and spheres, memory, and scenes that break, against figures of other engines",
    run,
};

const SOURCE: &str = "measured on a machine of this kind, one thread, steps of 1/60 s";

/// A pile and what others need for it.
struct Pile {
    size: [usize; 3],
    spheres: bool,
    /// Steps a second.
    rate: f64,
    /// Milliseconds a step of 1/60 s of rapier3d, box3d and Jolt.
    peers: Option<[f64; 3]>,
}

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|error| BenchError::failed("making threads", error))?;
    let mut rows = Vec::new();
    pool.install(|| -> Result<(), BenchError> {
        if options.sizes.is_none() {
            memory(options, &mut rows)?;
        }
        let small = [(false, 60.0), (false, 30.0), (true, 60.0), (true, 30.0)];
        let mut piles: Vec<Pile> = small
            .map(|(spheres, rate)| {
                let peers = if spheres { [5.2, 2.7, 5.3] } else { [7.3, 6.5, 21.0] };
                Pile { size: [10, 10, 10], spheres, rate, peers: Some(peers) }
            })
            .into();
        if !options.quick {
            for (spheres, peers) in [(false, [150.0, 134.0, 574.0]), (true, [108.0, 74.0, 213.0])] {
                piles.push(Pile { size: [20, 25, 20], spheres, rate: 30.0, peers: Some(peers) });
                piles.push(Pile { size: [40, 25, 20], spheres, rate: 30.0, peers: None });
            }
        }
        if let Some(sizes) = &options.sizes {
            piles.retain(|pile| sizes.contains(&pile.size.iter().product()));
        }
        let mut costs: Vec<(bool, usize, f64)> = Vec::new();
        for scene in &piles {
            let cost = pile(scene, options, &mut rows)?;
            let count = scene.size.iter().product();
            if scene.rate == 30.0 {
                // Growth per body from ten to twenty thousand, where the number of layers is the same.
                let half = costs.iter().find(|(spheres, n, _)| *spheres == scene.spheres && 2 * n == count);
                if let Some((_, _, before)) = half {
                    rows.push(
                        BenchRow::new(
                            "rigid",
                            "growth of cost per body",
                            cost / (2.0 * before),
                            "x",
                            1,
                            scene.name(),
                        )
                        .with_mark(Mark::AtMost(1.3)),
                    );
                }
                costs.push((scene.spheres, count, cost));
            }
        }
        breaking(
            "broken-wall",
            &["rigid.wall.fracture.resolution=150"],
            "wall 150x10x100, 30 pieces, struck three times",
            15.0,
            options,
            &mut rows,
        )?;
        let one = ["variables.places=1"];
        breaking("broken-pillar", &one, "cylinder 55x105x55, 25 pieces", 22.0, options, &mut rows)?;
        breaking("broken-bunny", &one, "bunny of 70 samples, 35 pieces", 4.0, options, &mut rows)?;
        Ok(())
    })?;
    Ok(rows)
}

impl Pile {
    fn name(&self) -> String {
        let [x, y, z] = self.size;
        let what = if self.spheres { "spheres" } else { "boxes" };
        format!("{x}x{y}x{z} {what}, 1/{:.0} s", self.rate)
    }

    /// The scene of targets: pitch 0.21 m, odd layers shifted, floor and four walls; no sleeping.
    fn world(&self) -> Result<World<3>, BenchError> {
        let failed = |error: &dyn std::fmt::Display| BenchError::failed("building a pile", error);
        let mut world = World::<3>::new(Vector::from([0.0, -9.81, 0.0])).map_err(|error| failed(&error))?;
        let material = Material::new(0.0, 0.5);
        let far = [0, 2].map(|a| 0.21 * (self.size[a] as f64 - 1.0) + 0.6);
        let walls = [
            ([0.0, 1.0, 0.0], [0.0; 3]),
            ([1.0, 0.0, 0.0], [-0.6, 0.0, 0.0]),
            ([-1.0, 0.0, 0.0], [far[0], 0.0, 0.0]),
            ([0.0, 0.0, 1.0], [0.0, 0.0, -0.6]),
            ([0.0, 0.0, -1.0], [0.0, 0.0, far[1]]),
        ];
        let mut add =
            |kind, geometry: &Arc<Geometry<3>>, mass, position: [f64; 3]| -> Result<(), BenchError> {
                let body =
                    Body::with_geometry("", kind, mass, geometry.clone()).map_err(|error| failed(&error))?;
                let frame = Frame { position: Vector::from(position), ..Frame::identity() };
                world.add_body(body.material(material), frame, Twist::zero());
                Ok(())
            };
        for (normal, position) in walls {
            let plane = Geometry::half_space(Vector::from(normal)).map_err(|error| failed(&error))?;
            add(Kind::Static, &Arc::new(plane), 1.0, position)?;
        }
        let solid = if self.spheres { Geometry::sphere(0.1) } else { Geometry::cuboid(Vector::repeat(0.1)) };
        let solid = Arc::new(solid.map_err(|error| failed(&error))?);
        let mass = 1000.0 * solid.properties().map_or(1.0, |properties| properties.volume);
        let [nx, ny, nz] = self.size;
        for i in 0..nx * ny * nz {
            let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
            let shift = if y % 2 == 1 { [0.05, 0.03] } else { [0.0, 0.0] };
            let place = [0.21 * x as f64 + shift[0], 0.105 + 0.21 * y as f64, 0.21 * z as f64 + shift[1]];
            add(Kind::Dynamic, &solid, mass, place)?;
        }
        Ok(world)
    }
}

/// Steps a pile for 5 s (0.5 s when quick); returns the CPU time of a simulated second (ms).
fn pile(pile: &Pile, options: &BenchOptions, rows: &mut Vec<BenchRow>) -> Result<f64, BenchError> {
    let name = pile.name();
    let mut world = pile.world()?;
    let seconds = if options.quick { 0.5 } else { 5.0 };
    let clock = CpuClock::start();
    for _ in 0..(seconds * pile.rate) as usize {
        world.step(1.0 / pile.rate).map_err(|error| BenchError::failed("stepping a pile", error))?;
    }
    let cost = 1e3 * clock.seconds() / seconds;
    let whole = !options.quick;
    let row = |quantity: &str, value: f64, unit: &'static str| {
        BenchRow::new("rigid", quantity, value, unit, 1, name.as_str())
    };
    let mut time = row("CPU time of a simulated second", cost, "ms");
    if let Some(peers) = pile.peers {
        let names = ["rapier3d 0.36", "box3d", "Jolt 5.0"];
        let quoted: Vec<Peer> = std::iter::zip(names, peers)
            .map(|(name, step)| Peer { name, value: 60.0 * step, source: SOURCE })
            .collect();
        let fastest = peers.iter().copied().fold(f64::INFINITY, f64::min);
        time = time.with_mark_if(whole.then_some(Mark::AtMost(60.0 * fastest))).with_peers(&quoted);
    }
    rows.push(time);
    let bodies = &world.state().bodies[5..];
    let places: Vec<Vector<3>> = bodies.iter().map(|body| body.frame.position).collect();
    let mark = Mark::AtMost(1.0);
    if pile.spheres {
        rows.push(
            row("deepest overlap at the end", 1e3 * deepest(&places), "mm")
                .with_mark_if(whole.then_some(mark)),
        );
    } else {
        let top = places.iter().map(|place| place.y).fold(0.0, f64::max);
        let lost = 0.2 * pile.size[1] as f64 - 0.1 - top;
        rows.push(
            row("height lost over all layers", 1e3 * lost.abs(), "mm").with_mark_if(whole.then_some(mark)),
        );
    }
    let mean = bodies.iter().map(|body| body.velocity.norm_squared()).sum::<f64>() / bodies.len() as f64;
    rows.push(row("root mean square speed at the end", mean.sqrt(), "m/s"));
    Ok(cost)
}

/// Deepest overlap of spheres of radius 0.1 m with each other and the floor (m).
fn deepest(places: &[Vector<3>]) -> f64 {
    let mut order: Vec<&Vector<3>> = places.iter().collect();
    order.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut worst = 0.0f64;
    for (i, a) in order.iter().enumerate() {
        worst = worst.max(0.1 - a.y);
        for b in order[i + 1..].iter().take_while(|b| b.x - a.x < 0.2) {
            worst = worst.max(0.2 - (*a - *b).norm());
        }
    }
    worst
}

/// Memory that spheres add which lie on the floor and share their geometry, with all that stepping them needs.
fn memory(options: &BenchOptions, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let side = if options.quick { 30 } else { 200 };
    let Some(before) = peak_memory() else { return Ok(()) };
    let scene = Pile { size: [side, 1, side], spheres: true, rate: 30.0, peers: None };
    let mut world = scene.world()?;
    for _ in 0..10 {
        world.step(1.0 / 30.0).map_err(|error| BenchError::failed("stepping", error))?;
    }
    let held = size_of::<Body<3>>() + size_of::<splashdown_rigid::BodyState<3>>();
    let size = format!("{} spheres on the floor", side * side);
    let row = |quantity: &str, value: f64| BenchRow::new("rigid", quantity, value, "bytes", 1, size.as_str());
    rows.push(row("description and state of a sphere at rest", held as f64).with_mark(Mark::AtMost(1e3)));
    if let Some(after) = peak_memory() {
        let share = (after - before) as f64 / (side * side) as f64;
        rows.push(row("largest memory of a run, a sphere", share));
    }
    Ok(())
}

/// A shipped scene that breaks: frames of 1/30 s that a second of CPU time makes, on average and the slowest one.
fn breaking(
    scene: &str,
    changes: &[&str],
    what: &str,
    source: f64,
    options: &BenchOptions,
    rows: &mut Vec<BenchRow>,
) -> Result<(), BenchError> {
    let failed = |error: &dyn std::fmt::Display| BenchError::failed(scene, error);
    let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
    let loaded = load(scene, &changes).map_err(|error| failed(&error))?;
    let AnyWorld::Three(mut world) = build(&loaded.scene).map_err(|error| failed(&error))? else {
        return Err(failed(&"the scene has three dimensions"));
    };
    let frames = if options.quick { 10 } else { (loaded.scene.time.end * 30.0) as usize };
    let (mut total, mut slowest) = (0.0, 0.0f64);
    for _ in 0..frames {
        let clock = CpuClock::start();
        world.step(1.0 / 30.0).map_err(|error| failed(&error))?;
        total += clock.seconds();
        slowest = slowest.max(clock.seconds());
    }
    let size = format!("{what}, {} bodies at the end", world.state().bodies.len());
    let peers = [Peer { name: "the source", value: source, source: "one 3.00 GHz Xeon core" }];
    let row = |quantity: &str, value: f64| {
        BenchRow::new("rigid", quantity, value, "frames/s", 1, size.as_str()).with_peers(&peers)
    };
    let mark = (!options.quick).then_some(Mark::AtLeast(10.0 * source));
    rows.push(row("frames that break, mean", frames as f64 / total).with_mark_if(mark));
    rows.push(row("slowest frame", 1.0 / slowest));
    Ok(())
}
