//! Signed singular value decomposition, alone and in lanes, on a million random and adversarial matrices.
//!
//! Contract (spec/deformable-solids.md 3.2): `F = U diag(sigma) V^T` with rotations `U` and `V`, `sigma_1 >= ... >= |sigma_D|`, the sign of the last value that of `det F`;
//! reconstruction, orthogonality and values within 1e-13 of `sigma_1`, whatever the rank, the sign, the spread of the singular values, and for scales
//! from 1e-150 to 1e150. The reference values come from two-sided Jacobi on `F^T F` in double-double arithmetic (`splashdown_math::reference`), itself
//! accurate to some 1e-15.5 of `sigma_1`.

use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_math::reference::{SvdErrors, adversarial_matrix, svd_errors, thin_svd_errors};
use splashdown_math::{Dim, Matrix, Space, Svd, signed_svd, signed_svd_batch, thin_svd};
use splashdown_parallel::prelude::*;

pub(super) const CASE: Case = Case {
    name: "foundation/svd-accuracy",
    spec: "DS-5, DS-46, T1",
    summary: "signed SVD of random, degenerate, inverted and badly scaled matrices against double-double Jacobi",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

const SOURCE: &str = "spec/deformable-solids.md 3.2; reference: Jacobi in double-double";
/// Required accuracy, relative to the largest singular value.
const CONTRACT: f64 = 1e-13;
/// Matrices in one task; each task has its own random stream, so the result does not depend on the threads.
const CHUNK: usize = 4096;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    record(measurements, "3x3", 1_000_000, sweep::<3>);
    record(measurements, "2x2", 200_000, sweep::<2>);
    record(measurements, "3x2", 100_000, sweep_thin);
    single_precision::<3>(measurements, "3x3, single precision", 200_000);
    single_precision::<2>(measurements, "2x2, single precision", 50_000);
    Ok(())
}

/// What a chunk of matrices showed.
#[derive(Default, Clone, Copy)]
struct Findings {
    errors: SvdErrors,
    /// Decompositions whose bits differ between the batch and one at a time.
    different: f64,
}

fn record(measurements: &mut Measurements, name: &str, count: usize, sweep: fn(Pcg64Mcg) -> Findings) {
    let chunks: Vec<Findings> = (0..count.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| sweep(Pcg64Mcg::seed_from_u64(chunk as u64)))
        .collect();
    let found = chunks.iter().fold(Findings::default(), |a, b| Findings {
        errors: a.errors.max(b.errors),
        different: a.different + b.different,
    });
    let size = format!("{} matrices", chunks.len() * CHUNK);
    let mut at_most = |what: &str, value: f64, bound: f64| {
        measurements.at_most(&format!("{name}: {what}"), &size, value, bound, SOURCE);
    };
    at_most("|F - U S V^T| / sigma_1", found.errors.reconstruction, CONTRACT);
    at_most("departure of U, V from rotations", found.errors.rotation, CONTRACT);
    at_most("error of signed values / sigma_1", found.errors.values, CONTRACT);
    at_most("values out of order", found.errors.unordered, 0.0);
    at_most("batch and single differ in bits", found.different, 0.0);
}

fn sweep<const D: usize>(mut random: Pcg64Mcg) -> Findings
where
    Dim<D>: Space<D>,
{
    let f: Vec<Matrix<D>> =
        (0..CHUNK).map(|kind| adversarial_matrix(kind, &mut || random.random())).collect();
    let mut batch = vec![Svd::zero(); CHUNK];
    signed_svd_batch(&f, &mut batch);
    let mut found = Findings::default();
    for (f, svd) in f.iter().zip(&batch) {
        found.errors = found.errors.max(svd_errors(f, svd));
        found.different += f64::from(signed_svd(f) != *svd);
    }
    found
}

/// The first two columns of 3x3 matrices; there is no batch for these.
fn sweep_thin(mut random: Pcg64Mcg) -> Findings {
    let mut found = Findings::default();
    for kind in 0..CHUNK {
        let f = adversarial_matrix::<3>(kind, &mut || random.random()).fixed_columns::<2>(0).into_owned();
        found.errors = found.errors.max(thin_svd_errors(&f, &thin_svd(&f, None)));
    }
    found
}

/// The same contract of decompositions in single precision, of matrices whose largest entry is 1.
fn single_precision<const D: usize>(measurements: &mut Measurements, name: &str, count: usize)
where
    Dim<D>: Space<D>,
{
    let mut random = Pcg64Mcg::seed_from_u64(29);
    let mut worst = SvdErrors::default();
    for kind in 0..count {
        let f: Matrix<D> = adversarial_matrix(kind, &mut || random.random());
        let size = if f.amax() > 0.0 { f.amax() } else { 1.0 };
        let f = (f / size).map(|x| x as f32);
        let Svd { u, sigma, v } = signed_svd(&f);
        let wide = Svd { u: u.map(f64::from), sigma: sigma.map(f64::from), v: v.map(f64::from) };
        worst = worst.max(svd_errors(&f.map(f64::from), &wide));
    }
    let size = format!("{count} matrices");
    let mut at_most = |what: &str, value: f64, bound: f64| {
        measurements.at_most(
            &format!("{name}: {what}"),
            &size,
            value,
            bound,
            "spec/deformable-solids.md T1 (f32)",
        );
    };
    at_most("|F - U S V^T| / sigma_1", worst.reconstruction, 5e-6);
    at_most("departure of U, V from rotations", worst.rotation, 5e-6);
    at_most("error of signed values / sigma_1", worst.values, 5e-6);
    at_most("values out of order", worst.unordered, 0.0);
}
