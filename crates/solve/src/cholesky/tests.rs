use super::*;
use crate::{LinearOperator, vector};
use proptest::prelude::*;

/// Seven-point Laplacian with `block` unknowns a cell that are coupled to each other, on `n`^3 cells.
fn lattice(n: usize, block: usize) -> CsrMatrix {
    let at = |x: usize, y: usize, z: usize| x + n * (y + n * z);
    let mut triplets = Vec::new();
    for z in 0..n {
        for y in 0..n {
            for x in 0..n {
                let cell = at(x, y, z);
                let others = [
                    (x + 1 < n).then(|| at(x + 1, y, z)),
                    (y + 1 < n).then(|| at(x, y + 1, z)),
                    (z + 1 < n).then(|| at(x, y, z + 1)),
                ];
                for a in 0..block {
                    triplets.push((block * cell + a, block * cell + a, 7.0 * block as f64));
                    for b in (0..block).filter(|&b| b != a) {
                        triplets.push((block * cell + a, block * cell + b, 0.3));
                    }
                    for other in others.into_iter().flatten() {
                        for b in 0..block {
                            let value = if a == b { -1.0 } else { 0.1 };
                            triplets.push((block * cell + a, block * other + b, value));
                            triplets.push((block * other + b, block * cell + a, value));
                        }
                    }
                }
            }
        }
    }
    CsrMatrix::from_triplets(block * n * n * n, block * n * n * n, &triplets).unwrap()
}

fn residual(matrix: &CsrMatrix, factor: &mut SparseCholesky) -> f64 {
    let rhs: Vec<f64> = (0..matrix.rows()).map(|i| ((i * 37 % 101) as f64) - 50.0).collect();
    let mut x = vec![0.0; rhs.len()];
    factor.solve(&rhs, &mut x).unwrap();
    let mut image = vec![0.0; rhs.len()];
    matrix.apply(&x, &mut image);
    let difference: Vec<f64> = image.iter().zip(&rhs).map(|(a, b)| a - b).collect();
    vector::norm(&difference) / vector::norm(&rhs)
}

#[test]
fn a_remembered_pattern_changes_no_bit_and_another_is_analysed_anew() {
    let mut memory = PatternMemory::default();
    // The second has the pattern of the first, the fourth as many unknowns as the third.
    let mut scaled = lattice(4, 2);
    scaled.values_mut().iter_mut().for_each(|value| *value *= 1.7);
    let chain: Vec<_> = (1..64).flat_map(|i| [(i - 1, i, -1.0), (i, i - 1, -1.0)]).collect();
    let diagonal = (0..64).map(|i| (i, i, 3.0));
    let chain = CsrMatrix::from_triplets(64, 64, &diagonal.chain(chain).collect::<Vec<_>>()).unwrap();
    let mut analyses = Vec::new();
    for matrix in [lattice(4, 2), scaled, lattice(4, 1), chain] {
        let mut remembered = SparseCholesky::remembering(&matrix, &mut memory).unwrap();
        let mut fresh = SparseCholesky::new(&matrix).unwrap();
        let rhs: Vec<f64> = (0..matrix.rows()).map(|i| (i as f64).sin()).collect();
        let (mut x, mut y) = (rhs.clone(), rhs.clone());
        remembered.solve(&rhs, &mut x).unwrap();
        fresh.solve(&rhs, &mut y).unwrap();
        assert_eq!(x, y);
        assert!(residual(&matrix, &mut remembered) < 1e-13);
        analyses.push(remembered.symbolic);
    }
    assert!(Arc::ptr_eq(&analyses[0], &analyses[1]));
    assert!(!Arc::ptr_eq(&analyses[2], &analyses[3]));
}

#[test]
fn lattices_are_solved_to_round_off_with_little_fill() {
    for (n, block) in [(1, 1), (4, 1), (10, 1), (6, 3)] {
        let matrix = lattice(n, block);
        let mut factor = SparseCholesky::new(&matrix).unwrap();
        assert!(residual(&matrix, &mut factor) < 1e-13, "{n} {block}");
    }
    // A natural order would fill the band: n^2 rows below each of n^3 columns.
    let n = 12;
    let stored = SparseCholesky::new(&lattice(n, 1)).unwrap().stored();
    assert!(stored < n.pow(5) / 2, "{stored}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let matrix = lattice(9, 3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| SparseCholesky::new(&matrix).unwrap().values)
    };
    let one = on(1);
    for threads in [2, 3] {
        assert!(on(threads).iter().zip(&one).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn a_factor_is_renewed_for_new_values_of_the_same_pattern() {
    let matrix = lattice(5, 2);
    let mut factor = SparseCholesky::new(&matrix).unwrap();
    let mut other = matrix.clone();
    other.values_mut().iter_mut().for_each(|value| *value *= 2.5);
    factor.refactorise(&other).unwrap();
    assert!(residual(&other, &mut factor) < 1e-13);
    other.values_mut().iter_mut().for_each(|value| *value *= -1.0);
    assert!(matches!(factor.refactorise(&other), Err(SolveError::NotPositiveDefinite { .. })));
    assert!(factor.refactorise(&lattice(4, 2)).is_err());
    other.values_mut().iter_mut().for_each(|value| *value *= -1.0);
    assert!(residual(&other, &mut factor) < 1e-13);
}

#[test]
fn matrices_in_pieces_and_without_entries_are_factorised() {
    let diagonal =
        CsrMatrix::from_triplets(5, 5, &(0..5).map(|i| (i, i, 1.0 + i as f64)).collect::<Vec<_>>()).unwrap();
    let mut factor = SparseCholesky::new(&diagonal).unwrap();
    let mut x = [0.0; 5];
    factor.solve(&[1.0, 2.0, 3.0, 4.0, 5.0], &mut x).unwrap();
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-15));
    let mut empty = SparseCholesky::new(&CsrMatrix::zeros(0, 0)).unwrap();
    empty.solve(&[], &mut []).unwrap();
    assert!(matches!(
        SparseCholesky::new(&CsrMatrix::zeros(2, 2)),
        Err(SolveError::NotPositiveDefinite { .. })
    ));
    assert!(factor.solve(&[f64::NAN; 5], &mut x).is_err() && factor.solve(&[1.0; 4], &mut x).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Random sparse graphs, with dense rows, pieces and chains among them, against the dense solution.
    #[test]
    fn random_patterns_agree_with_a_dense_solve(
        size in 1..60usize,
        edges in prop::collection::vec((0..60usize, 0..60usize, -1.0..1.0f64), 0..160),
        hub in prop::bool::ANY,
    ) {
        let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
        let mut add = |i: usize, j: usize, value: f64| {
            // Weakly diagonally dominant, and one more.
            triplets.extend([(i, j, value), (j, i, value), (i, i, value.abs()), (j, j, value.abs())]);
        };
        for (i, j, value) in edges {
            if i % size != j % size {
                add(i % size, j % size, value);
            }
        }
        if hub {
            (1..size).for_each(|i| add(0, i, 0.25));
        }
        triplets.extend((0..size).map(|i| (i, i, 1.0)));
        let matrix = CsrMatrix::from_triplets(size, size, &triplets).unwrap();
        let mut factor = SparseCholesky::new(&matrix).unwrap();
        prop_assert!(residual(&matrix, &mut factor) < 1e-12);
        let mut lanes: Vec<[f64; LANES]> =
            (0..size).map(|i| std::array::from_fn(|lane| if lane == i % LANES { 1.0 + i as f64 } else { 0.0 })).collect();
        let right = lanes.clone();
        factor.solve_lanes(&mut lanes).unwrap();
        for lane in 0..LANES {
            let (mut x, rhs) = (vec![0.0; size], right.iter().map(|b| b[lane]).collect::<Vec<f64>>());
            factor.solve(&rhs, &mut x).unwrap();
            prop_assert!(x.iter().zip(&lanes).all(|(x, y)| (x - y[lane]).abs() <= 1e-12 * (1.0 + x.abs())));
        }
        let mut order = factor.symbolic.order.clone();
        order.sort_unstable();
        prop_assert!(order.iter().enumerate().all(|(i, &old)| i == old as usize));
    }
}

/// Contacts of many points between two bodies say the same a hundred times: the matrix of their rows is singular, but elimination leaves pivots of rounding, positive ones among them. Divided by those, the
/// rounding of the right-hand side would come back as impulses whose sum is no longer what it must be.
#[test]
fn what_is_singular_but_for_rounding_counts_as_singular() {
    for seed in 0..20 {
        let (count, rank) = (40, 3);
        let entry =
            |i: usize, k: usize| ((i * 7919 + k * 104_729 + seed * 1_299_709) % 1000) as f64 / 500.0 - 1.0;
        let row = |i: usize| -> Vec<f64> { (0..rank).map(|k| entry(i, k)).collect() };
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let dense: Vec<f64> = (0..count)
            .flat_map(|i| (0..count).map(move |j| (i, j)))
            .map(|(i, j)| product(&row(i), &row(j)))
            .collect();
        let matrix = CsrMatrix::from_dense(count, count, &dense).unwrap();
        let mut factor = SparseCholesky::of_semidefinite(&matrix).unwrap();
        assert!(factor.shift() > 0.0);
        // What the rows say of one motion, with rounding.
        let motion = [0.3, -0.7, 0.2];
        let rhs: Vec<f64> =
            (0..count).map(|i| product(&row(i), &motion) * (1.0 + 1e-15 * entry(i, 9))).collect();
        let mut x = vec![0.0; count];
        factor.solve(&rhs, &mut x).unwrap();
        assert!(vector::max_norm(&x) < 10.0, "{:e}", vector::max_norm(&x));
        let mut image = vec![0.0; count];
        matrix.multiply(&x, &mut image);
        vector::subtract_from(&rhs, &mut image);
        assert!(vector::max_norm(&image) < 1e-7, "{:e}", vector::max_norm(&image));
    }
}
