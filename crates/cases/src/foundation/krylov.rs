//! Three Krylov methods on one family of systems with a known answer: the five-point Poisson matrix, whose eigenvectors are products of sines
//! (Dirichlet box) or cosines (closed box), so that the exact discrete solution for one mode is the mode divided by its eigenvalue
//! `4/h^2 (sin^2(pi j h / 2) + sin^2(pi k h / 2))`. The closed box is singular, with the constants as null space; shifted by an eigenvalue gap
//! the matrix is indefinite, where conjugate gradients must say so.
//!
//! Source: exact; Paige and Saunders 1975 (MINRES), Freund and Nachtigal 1994 (SYMQMR).

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_solve::{
    CsrMatrix, Identity, Iteration, KrylovReport, LinearOperator, NullSpace, Outcome, Preconditioner,
    Projected, SolveError, Stopping, Workspace, minres, pcg, symqmr,
};
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "foundation/krylov",
    spec: "FS-8",
    summary: "CG, MINRES and SYMQMR give the exact discrete solution of definite, singular and indefinite Poisson problems",
    source: "exact: eigenvectors of the discrete Laplacian",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

const N: usize = 48;

type Solver = fn(
    &dyn LinearOperator,
    &mut dyn Preconditioner,
    &[f64],
    &mut [f64],
    &mut Iteration,
    &mut Workspace,
) -> Result<KrylovReport, SolveError>;

const SOLVERS: [(&str, Solver); 3] = [("CG", pcg), ("MINRES", minres), ("SYMQMR", symqmr)];

/// Laplacian with `h = 1` on `N` x `N` unknowns, minus `shift`. A closed box has mirror values outside, an open one zeros a cell further.
fn laplacian(closed: bool, shift: f64) -> Result<CsrMatrix, SolveError> {
    let row = |i: usize| {
        let (x, y) = (i % N, i / N);
        let mut entries = vec![(i, -shift)];
        for (nx, ny) in [(x.wrapping_sub(1), y), (x + 1, y), (x, y.wrapping_sub(1)), (x, y + 1)] {
            if nx < N && ny < N {
                entries.extend([(i, 1.0), (ny * N + nx, -1.0)]);
            } else if !closed {
                entries.push((i, 1.0));
            }
        }
        entries
    };
    CsrMatrix::from_rows(N * N, (0..N * N).map(row))
}

/// The mode with `j`, `k` half waves and its eigenvalue.
fn mode(closed: bool, j: usize, k: usize) -> (Vec<f64>, f64) {
    let wave = |index: usize, waves: usize| {
        if closed {
            (PI * waves as f64 * (index as f64 + 0.5) / N as f64).cos()
        } else {
            (PI * waves as f64 * (index as f64 + 1.0) / (N as f64 + 1.0)).sin()
        }
    };
    let cells = if closed { N as f64 } else { N as f64 + 1.0 };
    let eigenvalue = |waves: usize| 4.0 * (0.5 * PI * waves as f64 / cells).sin().powi(2);
    ((0..N * N).map(|i| wave(i % N, j) * wave(i / N, k)).collect(), eigenvalue(j) + eigenvalue(k))
}

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    solve_all(measurements).map_err(|error| CaseError::new("Krylov solvers", error))
}

fn solve_all(measurements: &mut Measurements) -> Result<(), SolveError> {
    // Between the eigenvalues of modes (1, 1) and (1, 2): exactly one is negative.
    let gap = 0.5 * (mode(false, 1, 1).1 + mode(false, 1, 2).1);
    for (name, closed, shift) in
        [("definite", false, 0.0), ("singular, closed box", true, 0.0), ("indefinite", false, gap)]
    {
        let matrix = laplacian(closed, shift)?;
        let null_space = if closed { NullSpace::constants(N * N) } else { NullSpace::new(N * N, &[])? };
        let (mut rhs, mut exact) = (vec![0.0; N * N], vec![0.0; N * N]);
        for (j, k, weight) in
            [(1, 1, 1.0), (2, 3, -0.5), (7, 1, 0.3), (20, 31, 0.2), (0, 3, if closed { 1.0 } else { 0.0 })]
        {
            let (mode, eigenvalue) = mode(closed, j, k);
            for i in 0..N * N {
                rhs[i] += weight * mode[i];
                exact[i] += weight * mode[i] / if weight == 0.0 { 1.0 } else { eigenvalue - shift };
            }
        }
        let size = exact.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
        for (solver_name, solver) in SOLVERS {
            let mut x = vec![0.0; N * N];
            let mut preconditioner = Projected::new(Identity, &null_space);
            let mut iteration = Iteration::new(Stopping::relative(1e-13));
            let report = solver(
                &matrix,
                &mut preconditioner,
                &rhs,
                &mut x,
                &mut iteration,
                &mut Workspace::default(),
            )?;
            let quantity = format!("{name}, {solver_name}: relative error");
            let resolution = format!("{N}^2");
            if shift > 0.0 && solver_name == "CG" {
                let named =
                    matches!(report.outcome, Outcome::NegativeCurvature { .. }) || report.outcome.converged();
                let quantity = format!("{name}, {solver_name}: says so or solves it");
                measurements.near(&quantity, &resolution, f64::from(u8::from(named)), 1.0, 0.0, "exact");
                continue;
            }
            let error = x.iter().zip(&exact).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max) / size;
            // Residual tolerance 1e-13 times the condition number, at most 1e3.
            measurements.at_most(&quantity, &resolution, error, 1e-10, "exact discrete solution");
        }
    }
    // A right-hand side with a net source in the closed box has no solution, and each method must find that out.
    let matrix = laplacian(true, 0.0)?;
    let mut rhs = vec![0.0; N * N];
    rhs[N / 2 * N + N / 3] = 1.0;
    for (solver_name, solver) in SOLVERS {
        let mut x = vec![0.0; N * N];
        let mut iteration = Iteration::new(Stopping::relative(1e-10));
        let report = solver(&matrix, &mut Identity, &rhs, &mut x, &mut iteration, &mut Workspace::default())?;
        let found = f64::from(u8::from(report.outcome == Outcome::Inconsistent));
        let quantity = format!("net source in a closed box, {solver_name}: found inconsistent");
        measurements.near(&quantity, &format!("{N}^2"), found, 1.0, 0.0, "exact");
    }
    Ok(())
}
