//! Whole steps of smoke and water: time a cell and a step, memory a cell, iterations of the pressure.

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, CpuClock, Mark};
use splashdown_fluid::{
    ApicOptions, Domain, FluidModel, FluidState, FluidStepper, Liquid, Motion, Obstacle, ParticleOptions,
    Side, SmokeModel, Source, SourceKind,
};
use splashdown_geometry::grid::Grid;
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "fluid",
    summary: "steps of smoke past a sphere and of a dam break with marker particles: time and memory a cell",
    run,
};

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::failed("a step of a fluid", error)
}

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let sizes = match &options.sizes {
        Some(sizes) => sizes.clone(),
        None if options.quick => vec![16, 24],
        None => vec![64, 128],
    };
    for &size in &sizes {
        if !(8..=256).contains(&size) {
            return Err(BenchError::Size { benchmark: "fluid", size, least: 8, most: 256 });
        }
    }
    let mut rows = Vec::new();
    let mut per_cell: Vec<[f64; 2]> = Vec::new();
    for &n in &sizes {
        let smoke = measure(&smoke(n)?, |_, _| Ok(()), options)?;
        // Marks for 128^3 on two cores.
        push(&mut rows, "smoke", &smoke, n, (n == 128).then_some(Mark::AtMost(2.5)));
        let water = measure(&water(n)?, fill, options)?;
        push(&mut rows, "water", &water, n, (n == 128).then_some(Mark::AtMost(8.0)));
        per_cell.push([smoke.seconds, water.seconds].map(|s| s / (n * n * n) as f64));
    }
    for &n in &sizes {
        let two = measure(&two_liquids(n)?, part_of_both, options)?;
        push(&mut rows, "water under air, 1000:1.2, around a moving ball", &two, n, None);
    }
    let n = sizes[sizes.len() - 1];
    viscous(&mut rows, if options.quick { &[8, 12] } else { &[32, 64] }, options)?;
    let apic = measure(&apic(n)?, fill, options)?;
    push(&mut rows, "water, APIC", &apic, n, None);
    empty_space(&mut rows, if options.quick { 16 } else { 48 }, options)?;
    if let (Some(first), Some(last)) = (per_cell.first(), per_cell.last())
        && per_cell.len() > 1
    {
        for (kind, name) in ["smoke", "water"].iter().enumerate() {
            let size = format!("{}^3 to {}^3", sizes[0], sizes[sizes.len() - 1]);
            let growth = last[kind] / first[kind];
            let threads = rayon::current_num_threads();
            let row = BenchRow::new(
                "fluid",
                format!("{name}: growth of the time a cell"),
                growth,
                "ratio",
                threads,
                size,
            );
            // Small sizes fit the caches; the mark is for 64 and above.
            rows.push(row.with_mark_if((sizes[0] >= 64).then_some(Mark::AtMost(1.3))));
        }
    }
    Ok(rows)
}

/// The same water in a box of its own and in one that is twenty times as long and empty.
fn empty_space(rows: &mut Vec<BenchRow>, n: usize, options: &BenchOptions) -> Result<(), BenchError> {
    let [own, long] = [1, 20].map(|times| {
        let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n * times, n, n]);
        let domain = Domain::new(grid.map_err(failed)?, [[Side::slip(); 2]; 3]).map_err(failed)?;
        let model = FluidModel { domain, ..water(n)? };
        measure(&model, fill, options)
    });
    let (own, long) = (own?, long?);
    let threads = rayon::current_num_threads();
    let what = "water: CPU of a step with 95 % empty space, to that without";
    let row = BenchRow::new("fluid", what, long.cpu / own.cpu, "ratio", threads, format!("{n}^3 x 20"));
    // Small boxes are mostly margin.
    rows.push(row.with_mark_if((n >= 48).then_some(Mark::AtMost(1.2))));
    Ok(())
}

/// Two liquids whose viscosities differ by a factor of a thousand, so stiff that viscosity alone decides: iterations of its solve on ever finer grids.
fn viscous(rows: &mut Vec<BenchRow>, sizes: &[usize], options: &BenchOptions) -> Result<(), BenchError> {
    for &n in sizes {
        let mut model = two_liquids(n)?;
        for (liquid, viscosity) in model.liquids.iter_mut().zip([100.0, 0.1]) {
            liquid.viscosity = viscosity;
        }
        model.options.viscosity_tolerance = 1e-8;
        let timing = measure(&model, part_of_both, options)?;
        let threads = rayon::current_num_threads();
        let row = |what: &str, value: f64, unit: &'static str| {
            let what = format!("liquids of viscosities 1000:1: {what}");
            BenchRow::new("fluid", what, value, unit, threads, format!("{n}^3"))
        };
        rows.push(
            row("viscous solve", timing.viscous_iterations as f64, "iterations")
                .with_mark(Mark::AtMost(30.0)),
        );
        rows.push(row("CPU of one step", timing.cpu, "s"));
    }
    Ok(())
}

struct Timing {
    /// Wall-clock seconds of the best step.
    seconds: f64,
    /// CPU seconds of all threads in that step.
    cpu: f64,
    iterations: usize,
    viscous_iterations: usize,
    bytes: usize,
    liquids: usize,
    stages: Vec<(&'static str, f64)>,
}

fn push(rows: &mut Vec<BenchRow>, name: &str, timing: &Timing, n: usize, mark: Option<Mark>) {
    let cells = (n * n * n) as f64;
    let threads = rayon::current_num_threads();
    let row = |what: &str, value: f64, unit: &'static str| {
        BenchRow::new("fluid", format!("{name}: {what}"), value, unit, threads, format!("{n}^3"))
    };
    rows.push(row("one step", timing.seconds, "s").with_mark_if(mark));
    rows.push(row("CPU of one step", timing.cpu, "s"));
    rows.push(row("time a cell", 1e9 * timing.seconds / cells, "ns"));
    rows.push(row("pressure", timing.iterations as f64, "iterations").with_mark(Mark::AtMost(30.0)));
    let memory = row("state and working memory a cell", timing.bytes as f64 / cells, "bytes");
    // Several liquids have a level set each, and densities and conductances of faces.
    let judged = n == 128 && timing.liquids == 1;
    rows.push(memory.with_mark_if(judged.then_some(Mark::AtMost(250.0))));
    let total: f64 = timing.stages.iter().map(|stage| stage.1).sum();
    for (stage, seconds) in &timing.stages {
        rows.push(row(&format!("share of {stage}"), 100.0 * seconds / total.max(f64::MIN_POSITIVE), "%"));
    }
}

fn measure(
    model: &FluidModel<3>,
    prepare: impl Fn(&FluidModel<3>, &mut FluidState<3>) -> Result<(), BenchError>,
    options: &BenchOptions,
) -> Result<Timing, BenchError> {
    let mut state = FluidState::at_rest(model);
    prepare(model, &mut state)?;
    let mut stepper = FluidStepper::new(model).map_err(failed)?;
    stepper.initialise(model, &mut state).map_err(failed)?;
    let h = model.domain.grid().min_spacing();
    // Into motion first.
    for _ in 0..2 {
        stepper.step(model, &mut state, h, None).map_err(failed)?;
    }
    let mut best = Timing {
        seconds: f64::INFINITY,
        cpu: 0.0,
        iterations: 0,
        viscous_iterations: 0,
        bytes: 0,
        liquids: model.liquids.len(),
        stages: Vec::new(),
    };
    for _ in 0..options.repeats.max(1) {
        let (clock, start) = (CpuClock::start(), Instant::now());
        let report = stepper.step(model, &mut state, h, None).map_err(failed)?;
        let seconds = start.elapsed().as_secs_f64();
        if seconds < best.seconds {
            best = Timing {
                seconds,
                cpu: clock.seconds(),
                iterations: report.pressure.iterations,
                viscous_iterations: report.viscosity.map_or(0, |report| report.iterations),
                bytes: stepper.bytes() + state.field_bytes(),
                liquids: model.liquids.len(),
                stages: stepper.stage_seconds().to_vec(),
            };
        }
    }
    Ok(best)
}

fn domain(n: usize, open_top: bool) -> Result<Domain<3>, BenchError> {
    let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; 3]).map_err(failed)?;
    let mut sides = [[Side::slip(); 2]; 3];
    if open_top {
        sides[1][1] = Side::open();
    }
    Domain::new(grid, sides).map_err(failed)
}

fn ball(radius: f64, at: [f64; 3]) -> Result<Shape<3>, BenchError> {
    Shape::ball(radius).and_then(|ball| ball.translated(Vector::from(at))).map_err(failed)
}

fn smoke(n: usize) -> Result<FluidModel<3>, BenchError> {
    let mut model = FluidModel::new(domain(n, true)?, Liquid::new("air", 1.2));
    model.gravity[1] = -9.81;
    model.smoke = Some(SmokeModel { lift: 0.05, confinement: 0.2, ..Default::default() });
    model.sources.push(Source::new(
        ball(0.1, [0.5, 0.15, 0.5])?,
        SourceKind::Smoke { density: 1.0, temperature: 400.0 },
    ));
    model.obstacles.push(Obstacle { slip: true, ..Obstacle::fixed("sphere", ball(0.15, [0.5, 0.55, 0.5])?) });
    Ok(model)
}

fn water(n: usize) -> Result<FluidModel<3>, BenchError> {
    let mut model = FluidModel::new(domain(n, false)?, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.surface.particles = Some(ParticleOptions::default());
    Ok(model)
}

fn fill(model: &FluidModel<3>, state: &mut FluidState<3>) -> Result<(), BenchError> {
    state.set_liquid(model, 0, |x| (x[0] - 0.4).max(x[1] - 0.6)).map_err(failed)
}

fn apic(n: usize) -> Result<FluidModel<3>, BenchError> {
    let mut model = water(n)?;
    model.options.surface.particles = None;
    model.options.surface.apic = Some(ApicOptions::default());
    Ok(model)
}

/// Water and air, both simulated, with a ball that goes to and fro in the water.
fn two_liquids(n: usize) -> Result<FluidModel<3>, BenchError> {
    let mut model = FluidModel::new(domain(n, false)?, Liquid::new("water", 1000.0));
    model.liquids.push(Liquid::new("air", 1.2));
    model.gravity[1] = -9.81;
    model.options.surface.particles = None;
    let motion = Motion::Oscillating { amplitude: Vector::from([0.1, 0.0, 0.0]), frequency: 1.0 };
    let ball = ball(0.12, [0.5, 0.3, 0.5])?;
    model.obstacles.push(Obstacle { slip: true, motion, ..Obstacle::fixed("ball", ball) });
    Ok(model)
}

fn part_of_both(model: &FluidModel<3>, state: &mut FluidState<3>) -> Result<(), BenchError> {
    let distance = |x: &Vector<3>| x[1] - 0.55 - 0.1 * (7.0 * x[0]).sin();
    state.set_liquid(model, 0, distance).map_err(failed)?;
    state.set_liquid(model, 1, |x| -distance(x)).map_err(failed)
}
