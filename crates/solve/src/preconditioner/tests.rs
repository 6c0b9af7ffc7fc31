use super::*;
use crate::{
    CsrMatrix, Iteration, KrylovReport, NullSpace, Projected, SparseCholesky, Stopping, Workspace, pcg,
};
use proptest::prelude::*;

/// Five-point Laplacian on `n` x `n` cells; closed boxes have the constants as null space.
fn laplacian(n: usize, closed: bool) -> CsrMatrix {
    let mut triplets = Vec::new();
    for y in 0..n {
        for x in 0..n {
            let i = y * n + x;
            for (nx, ny) in [(x.wrapping_sub(1), y), (x + 1, y), (x, y.wrapping_sub(1)), (x, y + 1)] {
                if nx < n && ny < n {
                    triplets.extend([(i, i, 1.0), (i, ny * n + nx, -1.0)]);
                } else if !closed {
                    triplets.push((i, i, 1.0));
                }
            }
        }
    }
    CsrMatrix::from_triplets(n * n, n * n, &triplets).unwrap()
}

fn solve(matrix: &CsrMatrix, mut preconditioner: impl Preconditioner) -> KrylovReport {
    let rhs: Vec<f64> = (0..matrix.rows()).map(|i| ((i * 7 % 23) as f64) - 11.0).collect();
    let mut x = vec![0.0; rhs.len()];
    let mut iteration = Iteration::new(Stopping::relative(1e-10));
    pcg(matrix, &mut preconditioner, &rhs, &mut x, &mut iteration, &mut Workspace::default()).unwrap()
}

#[test]
fn each_preconditioner_is_better_than_the_one_before() {
    let n = 40;
    let matrix = laplacian(n, false);
    let counts = [
        solve(&matrix, Jacobi::new(&matrix.diagonal()).unwrap()).iterations,
        solve(&matrix, BlockJacobi::new(&matrix, n).unwrap()).iterations,
        solve(&matrix, IncompleteCholesky::new(&matrix, false).unwrap()).iterations,
        solve(&matrix, IncompleteCholesky::new(&matrix, true).unwrap()).iterations,
        solve(&matrix, SparseCholesky::new(&matrix).unwrap()).iterations,
    ];
    assert!(counts.windows(2).all(|pair| pair[1] < pair[0]), "{counts:?}");
    assert!(counts[4] <= 2, "{counts:?}");
}

#[test]
fn modified_incomplete_cholesky_grows_as_the_root_of_the_resolution() {
    // IC(0) needs O(n) iterations on n x n cells, MIC(0) O(sqrt n) (Gustafsson 1978); 0.97 of it gives something between.
    let count = |n, modified| {
        let matrix = laplacian(n, false);
        solve(&matrix, IncompleteCholesky::new(&matrix, modified).unwrap()).iterations as f64
    };
    let plain = (count(64, false) / count(16, false)).log2() / 2.0;
    let modified = (count(64, true) / count(16, true)).log2() / 2.0;
    assert!(plain > 0.7 && modified < 0.7, "orders {plain} {modified}");
}

#[test]
fn singular_matrices_are_shifted() {
    let matrix = laplacian(12, true);
    let space = NullSpace::constants(matrix.rows());
    let cholesky = SparseCholesky::of_semidefinite(&matrix).unwrap();
    let mut rhs: Vec<f64> = (0..matrix.rows()).map(|i| (i as f64).sin()).collect();
    space.project(&mut rhs);
    let mut x = vec![0.0; rhs.len()];
    let mut iteration = Iteration::new(Stopping::relative(1e-12));
    let mut projected = Projected::new(cholesky, &space);
    let report =
        pcg(&matrix, &mut projected, &rhs, &mut x, &mut iteration, &mut Workspace::default()).unwrap();
    assert!(report.outcome.converged() && report.iterations <= 4, "{report:?}");

    // A chain has no fill, so that IC(0) is exact and meets the zero pivot of the closed one.
    let n = 20;
    let edges =
        (0..n - 1).flat_map(|i| [(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)]);
    let chain = CsrMatrix::from_triplets(n, n, &edges.collect::<Vec<_>>()).unwrap();
    assert!(IncompleteCholesky::new(&chain, false).unwrap().shift() > 0.0);
    let indefinite = CsrMatrix::from_dense(2, 2, &[1.0, 2.0, 2.0, 1.0]).unwrap();
    assert!(matches!(
        SparseCholesky::of_semidefinite(&indefinite),
        Err(SolveError::NotPositiveDefinite { .. })
    ));
    let raised = IncompleteCholesky::new(&indefinite, false).unwrap();
    assert!(raised.shift() > 1.0);
}

#[test]
fn bad_matrices_are_refused() {
    let skew = CsrMatrix::from_dense(2, 2, &[1.0, 0.5, 0.0, 1.0]).unwrap();
    assert!(matches!(SparseCholesky::new(&skew), Err(SolveError::NotSymmetric { .. })));
    assert!(SparseCholesky::new(&CsrMatrix::zeros(2, 3)).is_err());
    assert!(IncompleteCholesky::new(&CsrMatrix::zeros(2, 2), true).is_err());
    assert!(BlockJacobi::new(&CsrMatrix::identity(2), 0).is_err());
    assert!(BlockJacobi::with_blocks(&CsrMatrix::identity(2), vec![0, 2, 1, 2]).is_err());
    assert!(Jacobi::new(&[1.0, -1.0]).is_err());
    assert!(Jacobi::new(&[f64::NAN]).is_err());
    let mut diagonal = BlockDiagonal::new();
    diagonal.push(2, Box::new(Identity));
    assert!(diagonal.check_covers(3).is_err() && diagonal.check_covers(2).is_ok());
}

proptest! {
    #[test]
    fn preconditioners_are_symmetric_and_exact_where_they_should_be(
        entries in prop::collection::vec(-1.0..1.0f64, 36),
        x in prop::collection::vec(-1.0..1.0f64, 6),
        y in prop::collection::vec(-1.0..1.0f64, 6),
    ) {
        let factor = CsrMatrix::from_dense(6, 6, &entries).unwrap();
        let matrix = factor.product(&factor.transpose()).unwrap().sum(0.2, &CsrMatrix::identity(6)).unwrap();
        // A dense pattern drops nothing: both incomplete factors, the one-block Jacobi and the sparse factor are all exact inverses.
        let mut all: Vec<Box<dyn Preconditioner>> = vec![
            Box::new(IncompleteCholesky::new(&matrix, false).unwrap()),
            Box::new(BlockJacobi::new(&matrix, 6).unwrap()),
            Box::new(SparseCholesky::new(&matrix).unwrap()),
        ];
        let mut image = vec![0.0; 6];
        matrix.multiply(&x, &mut image);
        for preconditioner in &mut all {
            let mut z = vec![0.0; 6];
            preconditioner.apply(&image, &mut z);
            for i in 0..6 { prop_assert!((z[i] - x[i]).abs() < 1e-10); }
        }
        all.push(Box::new(BlockJacobi::new(&matrix, 4).unwrap()));
        all.push(Box::new(Jacobi::new(&matrix.diagonal()).unwrap()));
        for preconditioner in &mut all {
            let (mut a, mut b) = (vec![0.0; 6], vec![0.0; 6]);
            preconditioner.apply(&x, &mut a);
            preconditioner.apply(&y, &mut b);
            let (left, right) = (vector::dot(&a, &y), vector::dot(&b, &x));
            prop_assert!((left - right).abs() < 1e-10 * (1.0 + left.abs()));
            prop_assert!(vector::dot(&a, &x) >= 0.0);
        }
    }
}
