//! Whole steps of a fluid with rigid bodies that it moves: against the same step without them, for more and more bodies, and with viscosity.

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, CpuClock, Mark};
use splashdown_couple::World;
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::grid::Grid;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "fsi",
    summary: "steps of a fluid with rigid bodies in one solve: against the fluid alone, and by number of bodies",
    run,
};

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::failed("a coupled step", error)
}

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let (n, counts): (usize, &[usize]) =
        if options.quick { (16, &[0, 1, 8]) } else { (64, &[0, 1, 10, 100, 1000]) };
    let threads = rayon::current_num_threads();
    let mut rows = Vec::new();
    let mut alone = f64::NAN;
    for &count in counts {
        let timing = measure(balls(n, count)?, options)?;
        let row = |what: String, value: f64, unit: &'static str| {
            BenchRow::new("fsi", what, value, unit, threads, format!("{n}^3"))
        };
        let name = format!("{count} bodies, inviscid");
        let mark = (n == 64 && count == 10).then_some(Mark::AtMost(2.0));
        rows.push(row(format!("{name}: one step"), timing.seconds, "s").with_mark_if(mark));
        rows.push(row(format!("{name}: CPU of one step"), timing.cpu, "s"));
        rows.push(row(format!("{name}: all pressure solves"), timing.iterations as f64, "iterations"));
        if count == 0 {
            alone = timing.seconds;
        } else {
            let mark = (n == 64 && count == 10).then_some(Mark::AtMost(1.5));
            let what = format!("{name}: one step over that of the fluid alone");
            rows.push(row(what, timing.seconds / alone, "ratio").with_mark_if(mark));
        }
    }
    let n = if options.quick { 20 } else { 40 };
    let timing = measure(cylinder(n)?, options)?;
    let row = |what: &str, value: f64, unit: &'static str| {
        let what = format!("cylinder in oil: {what}");
        BenchRow::new("fsi", what, value, unit, threads, format!("{n}x{}", 4 * n))
    };
    // The whole fall is some 230 steps.
    rows.push(row("one step", timing.seconds, "s").with_mark_if((n == 40).then_some(Mark::AtMost(0.11))));
    rows.push(row("CPU of one step", timing.cpu, "s"));
    rows.push(row("both viscous solves", timing.iterations as f64, "iterations"));
    Ok(rows)
}

struct Timing {
    seconds: f64,
    cpu: f64,
    iterations: usize,
}

fn measure<const D: usize>(mut world: World<D>, options: &BenchOptions) -> Result<Timing, BenchError>
where
    Dim<D>: Space<D>,
{
    for _ in 0..2 {
        let dt = world.fluid_stable_step();
        world.step(dt).map_err(failed)?;
    }
    let mut best = Timing { seconds: f64::INFINITY, cpu: 0.0, iterations: 0 };
    for _ in 0..options.repeats.max(1) {
        let dt = world.fluid_stable_step();
        let (clock, start) = (CpuClock::start(), Instant::now());
        let report = world.step(dt).map_err(failed)?;
        let seconds = start.elapsed().as_secs_f64();
        if seconds < best.seconds {
            let fluid = report.solves.iter().filter(|solve| solve.stage.starts_with("fluid"));
            best = Timing {
                seconds,
                cpu: clock.seconds(),
                iterations: fluid.map(|solve| solve.iterations).sum(),
            };
        }
    }
    Ok(best)
}

/// `count` balls of densities from a tenth to ten times the water's, in a box full of it with an open top.
fn balls(n: usize, count: usize) -> Result<World<3>, BenchError> {
    let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; 3]).map_err(failed)?;
    let mut sides = [[Side::slip(); 2]; 3];
    sides[1][1] = Side::open();
    let mut model = FluidModel::new(Domain::new(grid, sides).map_err(failed)?, Liquid::new("water", 1000.0));
    model.gravity = Vector::from([0.0, -9.81, 0.0]);
    model.options.pressure.divergence = 1e-6;
    let mut world = World::new(model.gravity).map_err(failed)?;
    let side = (count as f64).cbrt().ceil() as usize;
    let radius = 0.3 / side.max(2) as f64;
    let ball = Arc::new(Geometry::sphere(radius).map_err(failed)?);
    for index in 0..count {
        let density = 1000.0 * 10f64.powf(((index * 7919) % 101) as f64 / 50.0 - 1.0);
        let mass = density * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        let place = [index % side, index / side % side, index / (side * side)];
        let position = Vector::from(place.map(|i| (i as f64 + 0.5) / side as f64));
        let body = Body::with_geometry(format!("ball {index}"), Kind::Dynamic, mass, ball.clone());
        world.add_body(body.map_err(failed)?, Frame { position, ..Frame::identity() }, Twist::zero());
    }
    let mut state = FluidState::at_rest(&model);
    let pi = std::f64::consts::PI;
    state.set_velocity(&model, |x| {
        Vector::from([(pi * x[0]).sin() * (pi * x[2]).cos(), 0.0, -(pi * x[0]).cos() * (pi * x[2]).sin()])
    });
    world.set_fluid(model, state).map_err(failed)?;
    Ok(world)
}

/// The falling cylinder of spec/fluid-structure.md V-2.
fn cylinder(n: usize) -> Result<World<2>, BenchError> {
    let grid = Grid::new(Vector::zeros(), Vector::repeat(0.04 / n as f64), [n, 4 * n]).map_err(failed)?;
    let sides = [[Side::wall(); 2], [Side::wall(), Side::open()]];
    let oil = Liquid { viscosity: 0.1, ..Liquid::new("oil", 1000.0) };
    let mut model = FluidModel::new(Domain::new(grid, sides).map_err(failed)?, oil);
    model.gravity = Vector::from([0.0, -9.8]);
    let mut world = World::new(model.gravity).map_err(failed)?;
    let disc = Arc::new(Geometry::sphere(0.005).map_err(failed)?);
    let mass = 2000.0 * std::f64::consts::PI * 0.005f64.powi(2);
    let body = Body::with_geometry("cylinder", Kind::Dynamic, mass, disc).map_err(failed)?;
    let frame = Frame { position: Vector::from([0.02, 0.14]), ..Frame::identity() };
    world.add_body(body, frame, Twist::zero());
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).map_err(failed)?;
    Ok(world)
}
