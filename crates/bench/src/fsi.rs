//! Whole steps of a fluid with bodies that it moves: against the same step without them, for more and more bodies, with viscosity, and with a soft one; and the
//! memory that they take.

use crate::{
    BenchError, BenchOptions, BenchRow, Benchmark, CpuClock, Mark, forget_peak_memory, peak_memory,
    resident_memory,
};
use splashdown_couple::World;
use splashdown_couple::fluid_structure::{CouplingOptions, Immersed, SolidMass, solve_coupled};
use splashdown_fluid::{Domain, FluidModel, FluidState, FluidStepper, Guest, Liquid, Placement, Side};
use splashdown_geometry::grid::Grid;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use splashdown_scene::{AnyWorld, build, load};
use std::sync::Arc;
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "fsi",
    summary: "steps of a fluid with rigid and soft bodies in one solve: against the fluid alone, by number of bodies, memory",
    run,
};

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::failed("a coupled step", error)
}

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let (n, counts): (usize, &[usize]) =
        if options.quick { (16, &[0, 1, 8]) } else { (64, &[0, 1, 10, 100, 1000]) };
    let threads = rayon::current_num_threads();
    // Memory first, while the process has little of it to use again.
    let mut rows = memory_rows(options, threads)?;
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
    rows.push(row("one step", timing.seconds, "s"));
    rows.push(row("CPU of one step", timing.cpu, "s"));
    rows.push(row("both viscous solves", timing.iterations as f64, "iterations"));
    let (seconds, steps) = fall(n)?;
    let mark = (n == 40).then_some(Mark::AtMost(25.0));
    rows.push(row("its whole fall", seconds, "s").with_mark_if(mark));
    rows.push(row("steps of the fall", steps as f64, ""));
    let n = 2 * n;
    let (seconds, iterations) = stokes(n)?;
    let row = |what: &str, value: f64, unit: &'static str| {
        let what = format!("cylinder in Stokes flow: {what}");
        BenchRow::new("fsi", what, value, unit, threads, format!("{n}x{}", 4 * n))
    };
    let judged = n == 80;
    let mark = judged.then_some(Mark::AtMost(4.0));
    rows.push(row("terminal velocity, set-up and solves", seconds, "s").with_mark_if(mark));
    rows.push(row("most iterations of a solve", iterations as f64, "iterations"));
    let (world, cells) = torus(options.quick)?;
    let elements: usize =
        world.solids().map_or(0, |solids| solids.solid.forces().iter().map(|force| force.elements()).sum());
    let timing = measure(world, &BenchOptions { repeats: 2, ..options.clone() })?;
    let row = |what: &str, value: f64, unit: &'static str| {
        let what = format!("soft ring half in water: {what}");
        BenchRow::new("fsi", what, value, unit, threads, format!("{cells}^3, {elements} tets"))
    };
    let mark = (cells == 100).then_some(Mark::AtMost(15.0));
    rows.push(row("one step", timing.seconds, "s").with_mark_if(mark));
    rows.push(row("CPU of one step", timing.cpu, "s"));
    rows.push(row("all pressure solves", timing.iterations as f64, "iterations"));
    Ok(rows)
}

/// Memory a cell of a step with ten bodies, without and with viscosity: the most that is resident meanwhile above what was before.
fn memory_rows(options: &BenchOptions, threads: usize) -> Result<Vec<BenchRow>, BenchError> {
    let n: usize = if options.quick { 24 } else { 64 };
    let mut rows = Vec::new();
    for (name, viscosity, most) in [("inviscid", 0.0, 250.0), ("viscous", 1.0, 700.0)] {
        let Some(before) = forget_peak_memory().and_then(|()| resident_memory()) else { continue };
        let mut world = balls_in(n, 10, viscosity)?;
        let dt = world.fluid_stable_step();
        world.step(dt).map_err(failed)?;
        let Some(after) = peak_memory() else { continue };
        let value = after.saturating_sub(before) as f64 / n.pow(3) as f64;
        let what = format!("10 bodies, {name}: most memory of a step");
        let row = BenchRow::new("fsi", what, value, "bytes/cell", threads, format!("{n}^3"));
        rows.push(row.with_mark_if((n == 64).then_some(Mark::AtMost(most))));
    }
    Ok(rows)
}

/// Seconds and steps of the cylinder's fall to the last tenth of the channel.
fn fall(n: usize) -> Result<(f64, usize), BenchError> {
    let mut world = cylinder(n)?;
    let (start, mut steps) = (Instant::now(), 0);
    while world.state().bodies[0].frame.position[1] > 0.016 && steps < 2000 {
        let dt = world.fluid_stable_step();
        world.step(dt).map_err(failed)?;
        steps += 1;
    }
    Ok((start.elapsed().as_secs_f64(), steps))
}

/// Seconds until the terminal velocity of a held cylinder (V-3) changes by less than 1e-8 of itself, from nothing, and the most iterations of a solve.
fn stokes(n: usize) -> Result<(f64, usize), BenchError> {
    let start = Instant::now();
    let (model, radius) = (oil_channel(n)?, 0.005);
    let mut state = FluidState::at_rest(&model);
    let mut stepper = FluidStepper::new(&model).map_err(failed)?;
    let frame = Frame { position: Vector::from([0.02, 0.08]), ..Frame::identity() };
    let form = Arc::new(Shape::ball(radius).map_err(failed)?);
    stepper.set_guests(vec![Guest { form, placement: Placement::at_rest(frame), slip: false }]);
    stepper.initialise(&model, &mut state).map_err(failed)?;
    let mass = 2000.0 * std::f64::consts::PI * radius * radius;
    let inertia = Dim::<2>::inertia_from_principal(&[0.5 * mass * radius * radius]);
    let mut solids = [Immersed::new(Some(SolidMass::new(mass, &inertia)), Twist::zero())];
    let (dt, mut last, mut most) = (10.0, 0.0, 0);
    for _ in 0..400 {
        stepper.push(&model, &mut state, dt).map_err(failed)?;
        solids[0].twist.linear += model.gravity * dt;
        let options = CouplingOptions::default();
        let report =
            solve_coupled(&mut stepper, &model, &mut state, dt, &mut solids, &options).map_err(failed)?;
        most = most.max(report.iterations);
        let now = solids[0].twist.linear[1];
        if f64::abs(now - last) <= 1e-8 * now.abs() {
            return Ok((start.elapsed().as_secs_f64(), most));
        }
        last = now;
    }
    Err(failed("no steady state"))
}

/// The scene `soft-torus` with its ring half in the water, at the published size unless `quick`; and its cells along a side.
fn torus(quick: bool) -> Result<(World<3>, usize), BenchError> {
    let (cells, across, around) = if quick { (24, 2, 18) } else { (100, 6, 52) };
    let overrides = [
        format!("fluid.cell={}", 1.2 / cells as f64),
        format!("fluid.cells=[{cells},{cells},{cells}]"),
        "deformable.0.geometry.torus.centre=[0.6,0.6,0.6]".into(),
        format!("deformable.0.geometry.torus.cells={across}"),
        format!("deformable.0.geometry.torus.around={around}"),
    ];
    let loaded = load("soft-torus", &overrides).map_err(failed)?;
    match build(&loaded.scene).map_err(failed)? {
        AnyWorld::Three(world) => Ok((*world, cells)),
        AnyWorld::Two(_) => Err(failed("the scene is not in space")),
    }
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
    balls_in(n, count, 0.0)
}

/// The same in a liquid of the given viscosity (Pa s).
fn balls_in(n: usize, count: usize, viscosity: f64) -> Result<World<3>, BenchError> {
    let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; 3]).map_err(failed)?;
    let mut sides = [[Side::slip(); 2]; 3];
    sides[1][1] = Side::open();
    let water = Liquid { viscosity, ..Liquid::new("water", 1000.0) };
    let mut model = FluidModel::new(Domain::new(grid, sides).map_err(failed)?, water);
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

/// Oil in the channel of spec/fluid-structure.md V-2 and V-3, `n` cells across.
fn oil_channel(n: usize) -> Result<FluidModel<2>, BenchError> {
    let grid = Grid::new(Vector::zeros(), Vector::repeat(0.04 / n as f64), [n, 4 * n]).map_err(failed)?;
    let sides = [[Side::wall(); 2], [Side::wall(), Side::open()]];
    let oil = Liquid { viscosity: 0.1, ..Liquid::new("oil", 1000.0) };
    let mut model = FluidModel::new(Domain::new(grid, sides).map_err(failed)?, oil);
    model.gravity = Vector::from([0.0, -9.8]);
    Ok(model)
}

/// The falling cylinder of spec/fluid-structure.md V-2.
fn cylinder(n: usize) -> Result<World<2>, BenchError> {
    let model = oil_channel(n)?;
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
