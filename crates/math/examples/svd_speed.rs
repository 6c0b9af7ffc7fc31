//! Signed SVD: decompositions per second, one at a time, in lanes by instruction set, and on all threads. Minimum over many short runs, so that other work on the machine
//! matters little. `cargo run --release -p splashdown-math --example svd_speed`

use splashdown_math::svd::{InstructionSet, signed_svd_batch_with};
use splashdown_math::{Dim, Matrix, Space, Svd, signed_svd, signed_svd_batch_parallel};
use std::time::Instant;

const COUNT: usize = 8192;

fn main() {
    let mut state = 1u64;
    let mut signed = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut near = || Matrix::<3>::identity() + Matrix::from_fn(|_, _| 0.2 * signed());
    report("3x3 near the identity", &(0..COUNT).map(|_| near()).collect::<Vec<_>>());
    let mut random = || Matrix::<3>::from_fn(|_, _| signed());
    report("3x3 random", &(0..COUNT).map(|_| random()).collect::<Vec<_>>());
    let mut plane = || Matrix::<2>::from_fn(|_, _| signed());
    report("2x2 random", &(0..COUNT).map(|_| plane()).collect::<Vec<_>>());
}

fn report<const D: usize>(name: &str, f: &[Matrix<D>])
where
    Dim<D>: Space<D>,
{
    let mut out = vec![Svd::zero(); f.len()];
    let mut time = |how: &str, work: &dyn Fn(&mut [Svd<D>])| {
        let best = (0..300).fold(f64::INFINITY, |best, _| {
            let start = Instant::now();
            work(&mut out);
            best.min(start.elapsed().as_secs_f64())
        });
        println!("{name:24}{how:12}{:8.2} million/s", f.len() as f64 / best * 1e-6);
    };
    time("single", &|out| out.iter_mut().zip(f).for_each(|(out, f)| *out = signed_svd(f)));
    for set in [InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512] {
        if set.is_available() {
            time(&format!("{set:?}"), &|out| signed_svd_batch_with(set, f, out));
        }
    }
    time("all threads", &|out| signed_svd_batch_parallel(f, out));
}
