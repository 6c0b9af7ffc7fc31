//! Eigenvalues and eigenvectors of symmetric 2x2 and 3x3 matrices: principal axes of inertia, logarithmic strain, definiteness fixes.
//!
//! The symmetric parts of random and adversarial matrices, against two-sided Jacobi in double-double arithmetic; and needle-like inertia tensors
//! (spec/rigid-bodies.md section 4), whose small moment a closed formula loses.

use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_math::reference::{SvdErrors, adversarial_matrix, eigen_errors, symmetric_eigenvalues};
use splashdown_math::{Dim, Matrix, Space, Vector, symmetric_eigen};

pub(super) const CASE: Case = Case {
    name: "foundation/eigen-accuracy",
    spec: "rigid-bodies section 4",
    summary: "symmetric eigenproblem of random, degenerate and needle-like tensors against double-double Jacobi",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

const SOURCE: &str = "exact: Jacobi in double-double";
const COUNT: usize = 100_000;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    record(measurements, "2x2", sweep::<2>());
    record(measurements, "3x3", sweep::<3>());
    let needles = format!("{} needles", COUNT / 10);
    // The tensor is D A D with A well conditioned: a rounding of its entries moves each eigenvalue by some 1e-15 of itself.
    measurements.at_most("smallest moment, relative error", &needles, needle_error(), 1e-13, SOURCE);
    Ok(())
}

fn record(measurements: &mut Measurements, name: &str, errors: SvdErrors) {
    let size = format!("{COUNT} matrices");
    let mut at_most = |what: &str, value: f64, bound: f64| {
        measurements.at_most(&format!("{name}: {what}"), &size, value, bound, SOURCE);
    };
    // Backward stable: a modest multiple of the 1e-16 rounding in some 20 rotations.
    at_most("|A - Q L Q^T| / largest", errors.reconstruction, 1e-14);
    at_most("departure of Q from a rotation", errors.rotation, 1e-14);
    at_most("error of eigenvalues / largest", errors.values, 1e-14);
    at_most("values out of order", errors.unordered, 0.0);
}

fn sweep<const D: usize>() -> SvdErrors
where
    Dim<D>: Space<D>,
{
    let mut random = Pcg64Mcg::seed_from_u64(29);
    (0..COUNT).fold(SvdErrors::default(), |worst, kind| {
        let f = adversarial_matrix::<D>(kind, &mut || random.random());
        let a = 0.5 * (f + f.transpose());
        worst.max(eigen_errors(&a, &symmetric_eigen(&a)))
    })
}

fn needle_error() -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(31);
    (0..COUNT / 10).fold(0.0, |worst: f64, _| {
        let b = Matrix::<3>::from_fn(|_, _| random.random_range(-0.2..0.2));
        let core = Matrix::<3>::identity() + 0.5 * (b + b.transpose());
        let grade =
            Matrix::from_diagonal(&Vector::from([1.0, 1.0, 10f64.powf(random.random_range(-7.0..0.0))]));
        let a = grade * core * grade;
        let expected = symmetric_eigenvalues(&a)[2];
        worst.max((symmetric_eigen(&a).values[2] / expected - 1.0).abs())
    })
}
