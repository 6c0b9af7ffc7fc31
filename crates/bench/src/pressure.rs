//! The pressure projection's linear system: scene PRESSURE and its closed variant, solved to a relative residual of 1e-8.

use crate::{
    BenchError, BenchOptions, BenchRow, Benchmark, CpuClock, Mark, Peer, ThreadScaling, peak_memory,
};
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::multigrid::{MultigridOptions, PoissonOptions, PoissonProblem, PoissonSolver, scenes};
use splashdown_solve::{
    Components, CsrMatrix, IncompleteCholesky, Iteration, NullSpace, Preconditioner, Projected, Stopping,
    Workspace, pcg,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: NAME,
    summary: "pressure projection to 1e-8: geometric multigrid and AMG against incomplete-Cholesky CG in the same run",
    run,
};

const NAME: &str = "pressure";
const TOLERANCE: f64 = 1e-8;
/// Largest size at which the matrix solvers run as well: they need several times the memory and the peer minutes beyond.
const MATRIX_SIZE: usize = 128;
const SOURCE: &str =
    "set-up + solve, 128^3, one thread of a 2-core machine of the same kind, packages as shipped";

/// CPU seconds of set-up and solve together.
const PEERS: [Peer; 5] = [
    Peer { name: "PETSc 3.18 CG + ICC(0), 278 iterations", value: 17.0, source: SOURCE },
    Peer { name: "PETSc CG + hypre BoomerAMG, 6 iterations", value: 11.7, source: SOURCE },
    Peer { name: "PETSc CG + GAMG, 10 iterations", value: 26.7, source: SOURCE },
    Peer { name: "pyamg 5.3 CG + smoothed aggregation, 13 iterations", value: 13.4, source: SOURCE },
    Peer { name: "pyamg CG + Ruge-Stueben, 13 iterations", value: 14.6, source: SOURCE },
];

/// One solve, timed.
#[derive(Debug, Clone, Copy)]
struct Run {
    setup: f64,
    solve: f64,
    wall: f64,
    iterations: usize,
    bytes: usize,
}

impl Run {
    fn total(&self) -> f64 {
        self.setup + self.solve
    }
}

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let sizes = match (&options.sizes, options.quick) {
        (Some(sizes), _) => sizes.clone(),
        (None, true) => vec![16, 32],
        (None, false) => vec![64, 128, 192],
    };
    for &size in &sizes {
        if !(4..=512).contains(&size) {
            return Err(BenchError::Size { benchmark: NAME, size, least: 4, most: 512 });
        }
    }
    let mut rows = Vec::new();
    geometric(options, &sizes, &mut rows)?;
    closed(options, &sizes, &mut rows)?;
    if let Some(&size) = sizes.iter().filter(|&&size| size <= MATRIX_SIZE).max() {
        threads(options, size, &mut rows)?;
        matrix_solvers(options, size, &mut rows)?;
    }
    if let Some(bytes) = peak_memory() {
        let largest = sizes.iter().max().copied().unwrap_or(0);
        rows.push(row(
            "peak memory of the process, all solvers",
            bytes as f64 / 1048576.0,
            "MiB",
            1,
            largest,
        ));
    }
    Ok(rows)
}

/// Geometric multigrid on one thread at all sizes.
fn geometric(options: &BenchOptions, sizes: &[usize], rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let name = "geometric multigrid";
    let mut per_unknown = Vec::new();
    for &size in sizes {
        let problem = scenes::pressure(size).map_err(|error| BenchError::failed("scene PRESSURE", error))?;
        let best = best_geometric(options, &problem, size, 1)?;
        rows.push(row(&format!("{name}: set-up"), best.setup, "s CPU", 1, size));
        rows.push(row(&format!("{name}: solve"), best.solve, "s CPU", 1, size));
        let mark = match size {
            64 => Some(Mark::AtMost(0.15)),
            128 => Some(Mark::AtMost(1.5)),
            _ => None,
        };
        let total =
            row(&format!("{name}: set-up + solve"), best.total(), "s CPU", 1, size).with_mark_if(mark);
        rows.push(if size == 128 { total.with_peers(&PEERS) } else { total });
        iterations_and_memory(name, size, &best, &problem, rows);
        per_unknown.push((size, best.total() / problem.unknowns() as f64));
    }
    growth(name, &per_unknown, rows);
    Ok(())
}

/// The closed variant with random solids.
fn closed(options: &BenchOptions, sizes: &[usize], rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let name = "geometric multigrid, closed random solids";
    let mut per_unknown = Vec::new();
    for &size in sizes {
        let problem =
            scenes::irregular_neumann(size).map_err(|error| BenchError::failed("closed scene", error))?;
        let best = best_geometric(options, &problem, size, 1)?;
        rows.push(row(&format!("{name}: set-up + solve"), best.total(), "s CPU", 1, size));
        iterations_and_memory(name, size, &best, &problem, rows);
        per_unknown.push((size, best.total() / problem.unknowns() as f64));
    }
    growth(name, &per_unknown, rows);
    if let Some(&size) = sizes.iter().filter(|&&size| size <= MATRIX_SIZE).max() {
        let problem =
            scenes::irregular_neumann(size).map_err(|error| BenchError::failed("closed scene", error))?;
        let once = BenchOptions { repeats: 1, ..options.clone() };
        let ours = best_geometric(&once, &problem, size, 1)?;
        let (matrix, mut b) = assembled(&problem, size)?;
        // A closed region fixes its pressure up to a constant: the right-hand side and the iterates stay orthogonal to those.
        let null_space = Components::from_matrix(&matrix)
            .and_then(|regions| NullSpace::new(matrix.rows(), &regions.indicators(|_| true)))
            .map_err(|error| BenchError::failed("regions", error))?;
        null_space.project(&mut b);
        // A cell that is closed on all sides has an empty row; any equation does there, its right-hand side is projected to zero.
        let closed: Vec<f64> =
            matrix.diagonal().iter().map(|&diagonal| if diagonal > 0.0 { 0.0 } else { 1.0 }).collect();
        let matrix = matrix
            .sum(1.0, &CsrMatrix::from_diagonal(&closed))
            .map_err(|error| BenchError::failed("closed cells", error))?;
        let peer = on_threads(1, || {
            timed_pcg(&matrix, &b, || {
                let factor = IncompleteCholesky::new(&matrix, false)
                    .map_err(|error| BenchError::failed("incomplete Cholesky set-up", error))?;
                Ok((Projected::new(factor, &null_space), 0))
            })
        })?;
        rows.push(row(
            &format!("{name}: peer in this run, IC(0)-CG: set-up + solve"),
            peer.total(),
            "s CPU",
            1,
            size,
        ));
        let ratio =
            row(&format!("{name}: times faster than IC(0)-CG"), peer.total() / ours.total(), "x", 1, size);
        rows.push(ratio.with_mark_if((size >= 64).then_some(Mark::AtLeast(8.0))));
    }
    Ok(())
}

fn iterations_and_memory(
    name: &str,
    size: usize,
    best: &Run,
    problem: &PoissonProblem<3>,
    rows: &mut Vec<BenchRow>,
) {
    let iterations = row(&format!("{name}: iterations"), best.iterations as f64, "iterations", 1, size);
    rows.push(iterations.with_mark(Mark::AtMost(20.0)));
    // Small grids are mostly padding, so the mark belongs to large ones.
    let bytes = best.bytes as f64 / problem.cells() as f64;
    let memory = row(&format!("{name}: memory"), bytes, "bytes/cell", 1, size);
    rows.push(memory.with_mark_if((size >= 64).then_some(Mark::AtMost(200.0))));
}

/// Time per unknown from the smallest size to each larger one.
fn growth(name: &str, per_unknown: &[(usize, f64)], rows: &mut Vec<BenchRow>) {
    let Some((first, larger)) = per_unknown.split_first() else { return };
    for last in larger.iter().filter(|last| last.0 > first.0) {
        let mark = (first.0 >= 64).then_some(Mark::AtMost(1.4));
        let range = format!("{}^3 -> {}^3", first.0, last.0);
        let quantity = format!("{name}: growth of time per unknown");
        rows.push(BenchRow::new(NAME, quantity, last.1 / first.1, "x", 1, range).with_mark_if(mark));
    }
}

/// The matrix of a problem and its right-hand side.
fn assembled(problem: &PoissonProblem<3>, size: usize) -> Result<(CsrMatrix, Vec<f64>), BenchError> {
    let (matrix, cells) = problem.assemble().map_err(|error| BenchError::failed("assembly", error))?;
    let full = scenes::pressure_rhs(size);
    let b = cells.iter().map(|&cell| full[cell as usize]).collect();
    Ok((matrix, b))
}

/// Wall time on several threads.
fn threads(options: &BenchOptions, size: usize, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let problem = scenes::pressure(size).map_err(|error| BenchError::failed("scene PRESSURE", error))?;
    let one = best_geometric(options, &problem, size, 1)?;
    let many = best_geometric(options, &problem, size, options.threads)?;
    let mark = (size >= 64 && options.threads == 2).then_some(Mark::AtLeast(1.6));
    let speedup =
        row("geometric multigrid: speed-up, wall time", one.wall / many.wall, "x", options.threads, size);
    rows.push(speedup.with_mark_if(mark));
    if !options.quick {
        let machine = ThreadScaling::measure(options.threads, options.repeats);
        let row = |what: &str, value: f64| {
            BenchRow::new(
                NAME,
                format!("this machine now: speed-up of {what}"),
                value,
                "x",
                options.threads,
                "-",
            )
        };
        rows.push(row("arithmetic in registers", machine.arithmetic));
        rows.push(row("streaming through memory", machine.memory));
    }
    Ok(())
}

/// AMG and the in-run peer on the assembled matrix, and the ratios to the peer.
fn matrix_solvers(options: &BenchOptions, size: usize, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let problem = scenes::pressure(size).map_err(|error| BenchError::failed("scene PRESSURE", error))?;
    // Ratios compare one run with one run, the peer's right after ours.
    let geometric = best_geometric(&BenchOptions { repeats: 1, ..options.clone() }, &problem, size, 1)?;
    let (matrix, b) = assembled(&problem, size)?;
    let amg = best(options.repeats, || {
        on_threads(1, || {
            timed_pcg(&matrix, &b, || {
                let amg = Amg::new(&matrix, &AmgOptions::default())
                    .map_err(|error| BenchError::failed("AMG set-up", error))?;
                let bytes = amg.bytes();
                Ok((amg, bytes))
            })
        })
    })?;
    let peer = on_threads(1, || {
        timed_pcg(&matrix, &b, || {
            let factor = IncompleteCholesky::new(&matrix, false)
                .map_err(|error| BenchError::failed("incomplete Cholesky set-up", error))?;
            Ok((factor, 0))
        })
    })?;
    let at_128 = |limit: f64| (size == 128).then_some(Mark::AtMost(limit));
    rows.push(row("AMG: set-up", amg.setup, "s CPU", 1, size));
    rows.push(row("AMG: solve", amg.solve, "s CPU", 1, size));
    rows.push(row("AMG: set-up + solve", amg.total(), "s CPU", 1, size).with_mark_if(at_128(4.0)));
    rows.push(row("AMG: iterations", amg.iterations as f64, "iterations", 1, size));
    rows.push(row("AMG: memory", amg.bytes as f64 / problem.unknowns() as f64, "bytes/unknown", 1, size));
    rows.push(row("peer in this run, IC(0)-CG: set-up + solve", peer.total(), "s CPU", 1, size));
    rows.push(row("peer in this run, IC(0)-CG: iterations", peer.iterations as f64, "iterations", 1, size));
    let ratio = row(
        "geometric multigrid: times faster than IC(0)-CG",
        peer.total() / geometric.total(),
        "x",
        1,
        size,
    );
    rows.push(ratio.with_mark_if((size >= 64).then_some(Mark::AtLeast(8.0))));
    rows.push(row("AMG: times faster than IC(0)-CG", peer.total() / amg.total(), "x", 1, size));
    Ok(())
}

fn row(quantity: &str, value: f64, unit: &'static str, threads: usize, size: usize) -> BenchRow {
    BenchRow::new(NAME, quantity, value, unit, threads, format!("{size}^3"))
}

fn best_geometric(
    options: &BenchOptions,
    problem: &PoissonProblem<3>,
    size: usize,
    threads: usize,
) -> Result<Run, BenchError> {
    let b = scenes::pressure_rhs(size);
    best(options.repeats, || {
        on_threads(threads, || {
            let clock = CpuClock::start();
            let mut solver = PoissonSolver::new(problem, &MultigridOptions::default());
            let setup = clock.seconds();
            let mut x = vec![0.0; b.len()];
            let stop = PoissonOptions { relative_tolerance: TOLERANCE, ..PoissonOptions::default() };
            let report = solver.solve(&b, &mut x, &stop);
            if !report.converged {
                let message = format!("stopped at relative residual {:e}", report.relative_residual);
                return Err(BenchError::failed("geometric multigrid", message));
            }
            Ok(Run {
                setup,
                solve: clock.seconds() - setup,
                wall: clock.wall_seconds(),
                iterations: report.iterations,
                bytes: solver.bytes(),
            })
        })
    })
}

/// Set-up by `build` (which also tells the memory), then conjugate gradients on the matrix. The true residual is checked by `pcg`.
fn timed_pcg<P: Preconditioner>(
    matrix: &CsrMatrix,
    b: &[f64],
    build: impl FnOnce() -> Result<(P, usize), BenchError>,
) -> Result<Run, BenchError> {
    let clock = CpuClock::start();
    let (mut preconditioner, bytes) = build()?;
    let setup = clock.seconds();
    let mut x = vec![0.0; b.len()];
    let mut iteration = Iteration::new(Stopping::relative(TOLERANCE));
    let report = pcg(matrix, &mut preconditioner, b, &mut x, &mut iteration, &mut Workspace::default())
        .map_err(|error| BenchError::failed("conjugate gradients", error))?;
    if !report.outcome.converged() {
        return Err(BenchError::failed("conjugate gradients", report.outcome));
    }
    Ok(Run {
        setup,
        solve: clock.seconds() - setup,
        wall: clock.wall_seconds(),
        iterations: report.iterations,
        bytes,
    })
}

/// The fastest of some runs.
fn best(repeats: usize, mut run: impl FnMut() -> Result<Run, BenchError>) -> Result<Run, BenchError> {
    let mut best = run()?;
    for _ in 1..repeats.max(1) {
        let next = run()?;
        let wall = best.wall.min(next.wall);
        best = Run { wall, ..if next.total() < best.total() { next } else { best } };
    }
    Ok(best)
}

fn on_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, BenchError> + Send,
) -> Result<T, BenchError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| BenchError::failed("starting threads", error))?;
    pool.install(work)
}
