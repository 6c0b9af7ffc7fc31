use super::*;
use crate::{CsrMatrix, Identity, Jacobi, Preconditioner};
use proptest::prelude::*;

type Solver = fn(
    &dyn LinearOperator,
    &mut dyn Preconditioner,
    &[f64],
    &mut [f64],
    &mut Iteration,
    &mut Workspace,
) -> Result<KrylovReport, SolveError>;

/// `n`-cell Poisson matrix of the unit interval; `closed` makes both ends Neumann, so that constants are its null space.
fn poisson(n: usize, closed: bool) -> CsrMatrix {
    let row = |i: usize| {
        let ends = closed && (i == 0 || i + 1 == n);
        let diagonal = if ends { 1.0 } else { 2.0 };
        [(i.wrapping_sub(1), -1.0), (i, diagonal), (i + 1, -1.0)].into_iter().filter(move |&(j, _)| j < n)
    };
    CsrMatrix::from_rows(n, (0..n).map(row)).unwrap()
}

fn solve(solver: Solver, matrix: &CsrMatrix, rhs: &[f64], tolerance: f64) -> (Vec<f64>, KrylovReport) {
    let mut x = vec![0.0; rhs.len()];
    let mut iteration = Iteration::new(Stopping::relative(tolerance));
    let report =
        solver(matrix, &mut Identity, rhs, &mut x, &mut iteration, &mut Workspace::default()).unwrap();
    (x, report)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn all_solvers_find_the_discrete_parabola() {
    // -u'' = 2 with u = 0 a whole cell outside both ends: u_i = (i + 1)(n - i) on the grid, exactly.
    let n = 60;
    let matrix = poisson(n, false);
    let exact: Vec<f64> = (0..n).map(|i| ((i + 1) * (n - i)) as f64).collect();
    for solver in [pcg as Solver, minres, symqmr] {
        let (x, report) = solve(solver, &matrix, &vec![2.0; n], 1e-13);
        assert!(report.outcome.converged(), "{report:?}");
        assert!(difference(&x, &exact) < 1e-8, "{}", difference(&x, &exact));
        // Symmetric right-hand side: the Krylov space has only n / 2 dimensions.
        assert!(report.iterations <= n / 2 + 2, "{report:?}");
    }
}

#[test]
fn singular_consistent_systems_are_solved() {
    let n = 50;
    let matrix = poisson(n, true);
    let rhs: Vec<f64> = (0..n).map(|i| if i < n / 2 { 1.0 } else { -1.0 }).collect();
    for solver in [pcg as Solver, minres, symqmr] {
        let (x, report) = solve(solver, &matrix, &rhs, 1e-11);
        assert!(report.outcome.converged(), "{report:?}");
        assert!(x.iter().sum::<f64>().abs() < 1e-6, "no component along the null space is made");
    }
}

#[test]
fn inconsistent_systems_are_recognised() {
    let n = 50;
    let matrix = poisson(n, true);
    let mut rhs = vec![0.0; n];
    rhs[3] = 1.0;
    for solver in [pcg as Solver, minres, symqmr] {
        let (_, report) = solve(solver, &matrix, &rhs, 1e-10);
        assert_eq!(report.outcome, Outcome::Inconsistent, "{report:?}");
    }
}

#[test]
fn indefinite_systems_need_minres_or_symqmr() {
    let n = 40;
    let diagonal: Vec<f64> =
        (0..n).map(|i| if i % 3 == 0 { -1.0 - i as f64 } else { 1.0 + i as f64 }).collect();
    let matrix = CsrMatrix::from_diagonal(&diagonal).sum(0.3, &poisson(n, false)).unwrap();
    let exact: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
    let mut rhs = vec![0.0; n];
    matrix.multiply(&exact, &mut rhs);
    let (_, report) = solve(pcg, &matrix, &rhs, 1e-10);
    assert!(matches!(report.outcome, Outcome::NegativeCurvature { .. }), "{report:?}");
    for solver in [minres as Solver, symqmr] {
        let (x, report) = solve(solver, &matrix, &rhs, 1e-12);
        assert!(report.outcome.converged(), "{report:?}");
        assert!(difference(&x, &exact) < 1e-9);
    }
}

struct Negated;
impl Preconditioner for Negated {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        for (z, r) in z.iter_mut().zip(r) {
            *z = -r;
        }
    }
}

struct Poisoned(CsrMatrix);
impl LinearOperator for Poisoned {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn cols(&self) -> usize {
        self.0.cols()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.0.multiply(x, y);
        y[0] += if vector::max_norm(x) > 0.0 { f64::NAN } else { 0.0 };
    }
}

#[test]
fn breakdowns_are_named() {
    let matrix = poisson(10, false);
    let (rhs, mut x) = (vec![1.0; 10], vec![0.0; 10]);
    let workspace = &mut Workspace::default();
    for solver in [pcg as Solver, minres] {
        let report =
            solver(&matrix, &mut Negated, &rhs, &mut x, &mut Iteration::default(), workspace).unwrap();
        assert_eq!(report.outcome, Outcome::IndefinitePreconditioner);
    }
    for solver in [pcg as Solver, minres, symqmr] {
        let mut x = vec![0.0; 10];
        let poisoned = Poisoned(matrix.clone());
        let report =
            solver(&poisoned, &mut Identity, &rhs, &mut x, &mut Iteration::default(), workspace).unwrap();
        assert_eq!(report.outcome, Outcome::NotFinite);

        let mut short = Iteration::new(Stopping { max_iterations: 2, ..Stopping::default() });
        let rough: Vec<f64> = (0..10).map(|i| (i * i) as f64).collect();
        x.fill(0.0);
        let report = solver(&matrix, &mut Identity, &rough, &mut x, &mut short, workspace).unwrap();
        assert_eq!((report.outcome, report.iterations), (Outcome::MaxIterations, 2));

        let mut seen = 0;
        let mut stop_at_three = |progress: Progress| {
            seen = progress.iteration;
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut watched = Iteration { monitor: Some(&mut stop_at_three), ..Iteration::default() };
        x.fill(0.0);
        let report = solver(&matrix, &mut Identity, &rough, &mut x, &mut watched, workspace).unwrap();
        assert_eq!((report.outcome, report.iterations, seen), (Outcome::Interrupted, 3, 3));
    }
    // The indefinite preconditioner is no obstacle to SYMQMR.
    let mut x = vec![0.0; 10];
    let report = symqmr(&matrix, &mut Negated, &rhs, &mut x, &mut Iteration::default(), workspace).unwrap();
    assert!(report.outcome.converged(), "{report:?}");
}

#[test]
fn a_tolerance_below_rounding_stagnates_instead_of_lying() {
    let n = 200;
    let matrix = poisson(n, false);
    let rhs: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    for solver in [pcg as Solver, minres, symqmr] {
        let (_, report) = solve(solver, &matrix, &rhs, 1e-19);
        assert!(matches!(report.outcome, Outcome::Stagnated | Outcome::MaxIterations), "{report:?}");
        assert!(report.residual > 0.0 && report.relative_residual() < 1e-10, "{report:?}");
    }
}

/// The identity, whose rounding turns what is next to nothing round.
struct Rounding;

impl Preconditioner for Rounding {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let sign = if r.iter().all(|value| value.abs() < 1e-9) { -1.0 } else { 1.0 };
        z.iter_mut().zip(r).for_each(|(z, r)| *z = sign * r);
    }
}

#[test]
fn a_used_up_space_is_no_indefinite_preconditioner() {
    // Three different eigenvalues: the fourth Lanczos vector is rounding.
    let diagonal: Vec<f64> = (0..30).map(|i| [1.0, -0.7, 2.3][i % 3]).collect();
    let rhs: Vec<f64> = (0..30).map(|i| (i as f64 * 0.7).sin()).collect();
    let mut x = vec![0.0; 30];
    let report = minres(
        &CsrMatrix::from_diagonal(&diagonal),
        &mut Rounding,
        &rhs,
        &mut x,
        &mut Iteration::new(Stopping::relative(1e-14)),
        &mut Workspace::default(),
    )
    .unwrap();
    assert!(report.outcome.converged() && report.iterations < 8, "{report:?}");
}

#[test]
fn bad_input_is_an_error() {
    let matrix = poisson(4, false);
    let workspace = &mut Workspace::default();
    for solver in [pcg as Solver, minres, symqmr] {
        let mut x = [0.0; 4];
        let mut go = |rhs: &[f64], x: &mut [f64], iteration: &mut Iteration| {
            solver(&matrix, &mut Identity, rhs, x, iteration, workspace)
        };
        assert!(matches!(
            go(&[1.0; 3], &mut x, &mut Iteration::default()),
            Err(SolveError::Size { found: 3, expected: 4, .. })
        ));
        assert!(matches!(
            go(&[1.0, f64::NAN, 0.0, 0.0], &mut x, &mut Iteration::default()),
            Err(SolveError::NotFinite { index: 1, .. })
        ));
        x[2] = f64::INFINITY;
        assert!(matches!(
            go(&[1.0; 4], &mut x, &mut Iteration::default()),
            Err(SolveError::NotFinite { index: 2, .. })
        ));
        x[2] = 0.0;
        assert!(matches!(
            go(&[1.0; 4], &mut x, &mut Iteration::new(Stopping::relative(-1.0))),
            Err(SolveError::Negative { .. })
        ));
        let weights = [1.0, -1.0, 1.0, 1.0];
        let mut weighted = Iteration { weights: Some(&weights), ..Iteration::default() };
        assert!(matches!(go(&[1.0; 4], &mut x, &mut weighted), Err(SolveError::Negative { index: 1, .. })));
    }
}

/// Keeps some coordinates fixed.
struct Pins(Vec<usize>);
impl ConstraintFilter for Pins {
    fn filter(&self, v: &mut [f64]) {
        for &i in &self.0 {
            v[i] = 0.0;
        }
    }
}

#[test]
fn pinned_entries_keep_their_value_and_the_rest_solves_the_reduced_system() {
    // The discrete Laplace equation with u_0 = 1 and u_last = 3: a straight line between the pins.
    let n = 31;
    let matrix = poisson(n, false);
    let mut x = vec![0.0; n];
    (x[0], x[n - 1]) = (1.0, 3.0);
    let mut jacobi = Jacobi::new(&matrix.diagonal()).unwrap();
    let mut iteration = Iteration::new(Stopping { relative: 1e-12, ..Stopping::default() });
    let report = filtered_pcg(
        &matrix,
        &mut jacobi,
        &Pins(vec![0, n - 1]),
        &vec![0.0; n],
        &mut x,
        &mut iteration,
        &mut Workspace::default(),
    )
    .unwrap();
    assert!(report.outcome.converged(), "{report:?}");
    assert_eq!((x[0], x[n - 1]), (1.0, 3.0));
    for (i, value) in x.iter().enumerate() {
        assert!((value - (1.0 + 2.0 * i as f64 / (n - 1) as f64)).abs() < 1e-10);
    }
}

proptest! {
    /// Random SPD matrices `R R^T + s I`: every solver gives the same solution, with and without preconditioner and weights.
    #[test]
    fn solvers_agree_on_random_spd_systems(
        entries in prop::collection::vec(-1.0..1.0f64, 64),
        rhs in prop::collection::vec(-1.0..1.0f64, 8),
        shift in 0.01..1.0f64,
        scales in prop::collection::vec(-2.0..2.0f64, 8),
    ) {
        // Badly scaled rows and columns, as mixed units make them.
        let scaled: Vec<f64> = entries.iter().enumerate().map(|(at, v)| v * 10f64.powf(scales[at / 8])).collect();
        let factor = CsrMatrix::from_dense(8, 8, &scaled).unwrap();
        let shifts: Vec<f64> = scales.iter().map(|s| shift * 10f64.powf(2.0 * s)).collect();
        let matrix = factor.product(&factor.transpose()).unwrap().sum(1.0, &CsrMatrix::from_diagonal(&shifts)).unwrap();
        let jacobi = Jacobi::new(&matrix.diagonal()).unwrap();
        let weights = jacobi.inverse_diagonal().to_vec();
        let mut solutions = Vec::new();
        for solver in [pcg as Solver, minres, symqmr] {
            let mut x = vec![0.0; 8];
            let mut iteration = Iteration { stopping: Stopping::relative(1e-12), weights: Some(&weights), monitor: None };
            let report = solver(&matrix, &mut jacobi.clone(), &rhs, &mut x, &mut iteration, &mut Workspace::default()).unwrap();
            prop_assert!(report.outcome.converged(), "{:?}", report);
            solutions.push(x);
        }
        for i in 0..8 {
            let size = solutions[0].iter().zip(&weights).map(|(x, w)| x.abs() / w.sqrt()).fold(0.0, f64::max);
            for other in &solutions[1..] {
                // Condition number of the scaled matrix is at most 8 / 0.01.
                prop_assert!((other[i] - solutions[0][i]).abs() / weights[i].sqrt() < 1e-8 * size);
            }
        }
    }
}
