//! Rigid and soft bodies in one step: the scenes of the source's table 4.1, seconds and parts a frame next to the figures there.

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, Mark, Peer};
use splashdown_scene::{AnyWorld, Scene, build, load};
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "coupled",
    summary: "rigid and soft bodies together: seconds a frame of the source's scenes, and how many times faster than there",
    run,
};

/// A scene of the table: its name here, what makes it the source's size, frames from where it is timed, and the source's seconds and substeps a frame.
struct Entry {
    scene: &'static str,
    overrides: &'static [&'static str],
    first: usize,
    frames: usize,
    seconds: f64,
    substeps: f64,
}

const TABLE: [Entry; 7] = [
    Entry {
        scene: "soft-stack",
        overrides: &["variables.cells=6", "elastic.integrator=linearly_implicit"],
        first: 12,
        frames: 12,
        seconds: 10.0,
        substeps: 35.0,
    },
    Entry {
        scene: "row-of-spheres",
        overrides: &["variables.speed=50", "variables.cells=8"],
        first: 0,
        frames: 12,
        seconds: 35.3,
        substeps: 94.0,
    },
    Entry {
        scene: "trampoline",
        overrides: &["variables.cells=75"],
        first: 12,
        frames: 6,
        seconds: 14.5,
        substeps: 32.0,
    },
    Entry {
        scene: "driven-bar",
        overrides: &["variables.along=32", "variables.across=4"],
        first: 36,
        frames: 24,
        seconds: 4.1,
        substeps: 51.0,
    },
    Entry { scene: "snake", overrides: &[], first: 24, frames: 24, seconds: 1.8, substeps: 38.0 },
    Entry {
        scene: "maggot",
        overrides: &["variables.cells=7"],
        first: 24,
        frames: 12,
        seconds: 7.7,
        substeps: 100.0,
    },
    Entry {
        scene: "fish",
        overrides: &["variables.cells=5"],
        first: 12,
        frames: 6,
        seconds: 52.8,
        substeps: 117.0,
    },
];

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let mut rows = Vec::new();
    for entry in &TABLE {
        let overrides: Vec<String> =
            if options.quick { vec![] } else { entry.overrides.iter().map(|&one| one.into()).collect() };
        let failed =
            |doing: &'static str| move |error: &dyn std::fmt::Display| BenchError::failed(doing, error);
        let loaded = load(entry.scene, &overrides).map_err(|error| failed("loading")(&error))?;
        let world = build(&loaded.scene).map_err(|error| failed("building")(&error))?;
        let AnyWorld::Three(mut world) = world else { continue };
        let (first, frames) = if options.quick { (0, 1) } else { (entry.first, entry.frames) };
        let dt = 1.0 / 24.0;
        for _ in 0..first {
            world.step(dt).map_err(|error| failed("stepping")(&error))?;
        }
        let (start, mut parts) = (Instant::now(), 0);
        for _ in 0..frames {
            parts += world.step(dt).map_err(|error| failed("stepping")(&error))?.parts;
        }
        let seconds = start.elapsed().as_secs_f64() / frames as f64;
        let elements: usize =
            world.solids().map_or(0, |solids| solids.solid.forces().iter().map(|f| f.elements()).sum());
        let size = format!("{elements} elements, {} rigid bodies", world.model().bodies.len());
        let row = |quantity: &str, value: f64, unit: &'static str| {
            BenchRow::new(
                "coupled",
                format!("{}: {quantity}", entry.scene),
                value,
                unit,
                options.threads,
                size.clone(),
            )
        };
        let source =
            Peer { name: "the source, hardware not stated", value: entry.seconds, source: "000 table 4.1" };
        rows.push(row("time a frame", seconds, "s").with_peers(&[source]));
        let faster = row("times faster than the source", entry.seconds / seconds, "x");
        rows.push(faster.with_mark_if((!options.quick).then_some(Mark::AtLeast(20.0))));
        let substeps = Peer { name: "the source", value: entry.substeps, source: "000 table 4.1" };
        rows.push(row("parts a frame", parts as f64 / frames as f64, "").with_peers(&[substeps]));
    }
    drop_balls(options, &mut rows)?;
    Ok(rows)
}

/// Incompressible balls of more and more elements that land: seconds a frame, and iterations of the pressure solves (INC-17).
fn drop_balls(options: &BenchOptions, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let mut iterations = Vec::new();
    let sizes: &[usize] = if options.quick { &[3] } else { &[6, 10, 17] };
    for &cells in sizes {
        let text = format!(
            r#"
dimension = 3
[time]
end = 2
[elastic.volume]
recovery_time = 0.00833
[[rigid]]
name = "ground"
kind = "static"
shape = {{ plane = {{ drawn = 10 }} }}
friction = 0
[[deformable]]
name = "ball"
geometry = {{ ball = {{ centre = [0, 1.02, 0], radius = 1, cells = {cells} }} }}
density = 1000
velocity = [0, -6.2, 0]
material = {{ model = "neo_hookean", young = 20000, poisson = 0, damping = 0.02 }}
elastic = {{ incompressible = true }}
"#
        );
        let failed = |doing: &'static str, error: &dyn std::fmt::Display| BenchError::failed(doing, error);
        let scene =
            Scene::parse("drop.toml", &text, &[]).map_err(|error| failed("reading the drop", &error))?;
        let world = build(&scene).map_err(|error| failed("building the drop", &error))?;
        let AnyWorld::Three(mut world) = world else { continue };
        let frames = if options.quick { 1 } else { 4 };
        let (start, mut parts, mut solves) = (Instant::now(), 0, 0);
        for _ in 0..frames {
            let report = world.step(1.0 / 24.0).map_err(|error| failed("stepping the drop", &error))?;
            parts += report.parts;
            solves += report.solids.map_or(0, |solids| solids.incompressible.iterations);
        }
        let seconds = start.elapsed().as_secs_f64() / f64::from(frames);
        // Two a part.
        let each = solves as f64 / (2 * parts) as f64;
        iterations.push(each);
        let size = format!("{} tets", 20 * cells.pow(3));
        let row = |quantity: &str, value: f64, unit: &'static str| {
            BenchRow::new(
                "coupled",
                format!("incompressible drop: {quantity}"),
                value,
                unit,
                options.threads,
                size.clone(),
            )
        };
        let source = Peer { name: "the source, 3 GHz Xeon, 104 000 tets", value: 18.0, source: "000:574" };
        let large = !options.quick && Some(&cells) == sizes.last();
        let time = row("time a frame", seconds, "s").with_peers(&[source]);
        rows.push(time.with_mark_if(large.then_some(Mark::AtMost(2.0))));
        rows.push(row("parts a frame", parts as f64 / f64::from(frames), ""));
        rows.push(row("iterations a pressure solve", each, ""));
    }
    if let ([first, .., last], false) = (&iterations[..], options.quick) {
        let growth = BenchRow::new(
            "coupled",
            "incompressible drop: growth of iterations",
            last / first,
            "x",
            options.threads,
            "4320 to 98 260 tets",
        );
        rows.push(growth.with_mark_if(Some(Mark::AtMost(2.0))));
    }
    Ok(())
}
