//! Rigid bodies: the scene PILE. CPU time of a step on one thread, and how much the pile is pressed together; figures of other engines for the
//! same scene are quoted. (HEAVY is the verification case `rigid/heavy`.)

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, CpuClock, Mark, Peer};
use splashdown_scene::{AnyWorld, build, load};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rigid",
    summary: "piles of boxes: time of a step and height kept, against figures of other engines",
    run,
};

const SOURCE: &str = "measured on a machine of this kind, one thread";

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let mut rows = Vec::new();
    pile(
        "pile-1000",
        "10x10x10 boxes",
        1.9,
        &[("rapier3d 0.36", 7.3), ("box3d", 6.5), ("Jolt 5.0", 21.0)],
        options,
        &mut rows,
    )?;
    if !options.quick {
        let peers = [("rapier3d 0.36", 150.0), ("box3d", 134.0), ("Jolt 5.0", 574.0)];
        pile("pile-10000", "20x25x20 boxes", 4.9, &peers, options, &mut rows)?;
    }
    Ok(rows)
}

/// Steps a shipped pile for its 5 s (0.5 s when quick).
fn pile(
    scene: &str,
    size: &str,
    height: f64,
    peers: &[(&'static str, f64)],
    options: &BenchOptions,
    rows: &mut Vec<BenchRow>,
) -> Result<(), BenchError> {
    let failed = |error: &dyn std::fmt::Display| BenchError::failed(scene, error);
    let loaded = load(scene, &[]).map_err(|error| failed(&error))?;
    let AnyWorld::Three(mut world) = build(&loaded.scene).map_err(|error| failed(&error))? else {
        return Err(failed(&"the scene has three dimensions"));
    };
    // Other engines were measured without.
    world.options_mut().contact.sleeping.enabled = false;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| failed(&error))?;
    let steps = if options.quick { 30 } else { 300 };
    let clock = CpuClock::start();
    pool.install(|| (0..steps).try_for_each(|_| world.step(1.0 / 60.0).map(|_| ())))
        .map_err(|error| failed(&error))?;
    let milliseconds = 1e3 * clock.seconds() / f64::from(steps);
    let quoted: Vec<Peer> = peers.iter().map(|&(name, value)| Peer { name, value, source: SOURCE }).collect();
    let fastest = peers.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    let row = |quantity: &str, value: f64, unit: &'static str| {
        BenchRow::new("rigid", quantity, value, unit, 1, size)
    };
    let whole = !options.quick;
    rows.push(
        row("CPU time of a step of 1/60 s", milliseconds, "ms")
            .with_mark_if(whole.then_some(Mark::AtMost(fastest)))
            .with_peers(&quoted),
    );
    let top = world.state().bodies.iter().map(|body| body.frame.position.y).fold(0.0, f64::max);
    rows.push(
        row("height lost over all layers", 1e3 * (height - top).abs(), "mm")
            .with_mark_if(whole.then_some(Mark::AtMost(1.0))),
    );
    rows.push(row("largest speed at the end", world.diagnostics().max_speed, "m/s"));
    Ok(())
}
