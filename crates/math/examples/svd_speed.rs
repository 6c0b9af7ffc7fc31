//! Decompositions per second.
use splashdown_math::{Matrix, svd::*};
use std::time::Instant;
fn main() {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let n = 20000;
    let near: Vec<Matrix<3>> =
        (0..n).map(|_| Matrix::identity() + Matrix::from_fn(|_, _| 0.2 * uniform())).collect();
    let wild: Vec<Matrix<3>> = (0..n).map(|_| Matrix::from_fn(|_, _| uniform())).collect();
    let flat: Vec<Matrix<2>> = (0..n).map(|_| Matrix::from_fn(|_, _| uniform())).collect();
    let mut out = vec![Svd::<3>::zero(); n];
    let mut out2 = vec![Svd::<2>::zero(); n];
    let time = |name: &str, work: &mut dyn FnMut()| {
        let mut best = f64::INFINITY;
        for _ in 0..30 {
            let start = Instant::now();
            work();
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{name:32} {:8.2} M/s", n as f64 / best * 1e-6);
    };
    for (name, f) in [("near identity", &near), ("random", &wild)] {
        time(&format!("{name} scalar"), &mut || {
            for (o, f) in out.iter_mut().zip(f) {
                *o = signed_svd(f)
            }
        });
        for set in [InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512] {
            time(&format!("{name} {set:?}"), &mut || signed_svd_batch_with(set, f, &mut out));
        }
        time(&format!("{name} parallel"), &mut || signed_svd_batch_parallel(f, &mut out));
    }
    time("2x2 scalar", &mut || {
        for (o, f) in out2.iter_mut().zip(&flat) {
            *o = signed_svd(f)
        }
    });
    time("2x2 lanes", &mut || signed_svd_batch(&flat, &mut out2));
}
