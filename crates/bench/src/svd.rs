//! Signed SVD of 3x3 and 2x2 matrices: decompositions a second, one at a time, in lanes, and in lanes on two threads, for which the mark is.

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, Mark};
use splashdown_math::{Dim, Matrix, Space, Svd, signed_svd, signed_svd_batch, signed_svd_batch_parallel};
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "svd",
    summary: "signed SVD of small matrices a second: single calls, lanes, lanes on two threads",
    run,
};

/// Enough to fill the lanes of all threads, few enough to stay in cache.
const COUNT: usize = 16_384;

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let mut rows = Vec::new();
    // 8 million a second on two cores is the mark, for general 3x3 matrices.
    measure::<3>("3x3", options, Some(Mark::AtLeast(8.0)), &mut rows)?;
    measure::<2>("2x2", options, None, &mut rows)?;
    Ok(rows)
}

fn measure<const D: usize>(
    size: &str,
    options: &BenchOptions,
    mark: Option<Mark>,
    rows: &mut Vec<BenchRow>,
) -> Result<(), BenchError>
where
    Dim<D>: Space<D>,
{
    let mut state = 1u64;
    let mut entry = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let matrices: Vec<Matrix<D>> = (0..COUNT).map(|_| Matrix::from_fn(|_, _| entry())).collect();
    let mut out = vec![Svd::zero(); COUNT];
    let rounds = if options.quick { 3 } else { 100 * options.repeats };
    let mut rate = |work: &dyn Fn(&mut [Svd<D>])| {
        let best = (0..rounds).fold(f64::INFINITY, |best, _| {
            let start = Instant::now();
            work(&mut out);
            best.min(start.elapsed().as_secs_f64())
        });
        COUNT as f64 / best * 1e-6
    };
    let single = rate(&|out| out.iter_mut().zip(&matrices).for_each(|(out, f)| *out = signed_svd(f)));
    let lanes = rate(&|out| signed_svd_batch(&matrices, out));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .map_err(|error| BenchError::failed("starting threads", error))?;
    let parallel = pool.install(|| rate_on(&matrices, rounds));
    let row = |quantity: &str, value: f64, threads: usize| {
        BenchRow::new("svd", quantity, value, "million/s", threads, size)
    };
    rows.push(row("single calls", single, 1));
    rows.push(row("lanes", lanes, 1));
    rows.push(row("lanes on two threads", parallel, 2).with_mark_if(mark));
    Ok(())
}

/// Million a second of the parallel batch, in the pool that this runs in.
fn rate_on<const D: usize>(matrices: &[Matrix<D>], rounds: usize) -> f64
where
    Dim<D>: Space<D>,
{
    let mut out = vec![Svd::zero(); matrices.len()];
    let best = (0..rounds).fold(f64::INFINITY, |best, _| {
        let start = Instant::now();
        signed_svd_batch_parallel(matrices, &mut out);
        best.min(start.elapsed().as_secs_f64())
    });
    matrices.len() as f64 / best * 1e-6
}
