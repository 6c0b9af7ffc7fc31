use super::*;
use proptest::prelude::*;

fn dense_product(rows: usize, inner: usize, cols: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; rows * cols];
    for i in 0..rows {
        for k in 0..inner {
            for j in 0..cols {
                c[i * cols + j] += a[i * inner + k] * b[k * cols + j];
            }
        }
    }
    c
}

fn triplets(rows: usize, cols: usize, count: usize) -> impl Strategy<Value = Vec<(usize, usize, f64)>> {
    prop::collection::vec((0..rows, 0..cols, (-8i32..8).prop_map(f64::from)), 0..count)
}

fn dense_of(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Vec<f64> {
    let mut dense = vec![0.0; rows * cols];
    for &(i, j, value) in triplets {
        dense[i * cols + j] += value;
    }
    dense
}

#[test]
fn bad_input_is_refused_with_the_place() {
    let outside = CsrMatrix::from_triplets(2, 3, &[(0, 3, 1.0)]).unwrap_err();
    assert_eq!(outside, SolveError::Index { what: "triplet column".into(), index: 3, bound: 3 });
    let nan = CsrMatrix::from_rows(3, [vec![(0, 1.0)], vec![(1, f64::NAN)]]).unwrap_err();
    assert!(matches!(nan, SolveError::NotFinite { index: 1, .. }));
    assert!(CsrMatrix::from_parts(2, vec![0, 2], vec![1, 0], vec![1.0, 1.0]).is_err());
    assert!(CsrMatrix::from_parts(2, vec![0, 2, 1], vec![0, 1], vec![1.0, 1.0]).is_err());
    assert!(CsrMatrix::from_parts(2, vec![], vec![], vec![]).is_err());
    assert!(CsrMatrix::from_parts(2, vec![0, 1], vec![2], vec![1.0]).is_err());
    assert!(CsrMatrix::from_triplets(1, u32::MAX as usize + 1, &[]).is_err());
    assert!(CsrMatrix::identity(2).product(&CsrMatrix::identity(3)).is_err());
    assert!(CsrMatrix::identity(2).triple_product(&CsrMatrix::identity(3)).is_err());
    assert!(CsrMatrix::from_dense(2, 2, &[1.0]).is_err());
}

#[test]
fn symmetry_is_measured() {
    let matrix = CsrMatrix::from_triplets(2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.5)]).unwrap();
    assert_eq!(matrix.asymmetry(), 0.125);
    assert!(!matrix.is_symmetric(0.1) && matrix.is_symmetric(0.2));
    assert!(!CsrMatrix::zeros(2, 3).is_symmetric(1.0));
    assert!(CsrMatrix::zeros(3, 3).is_symmetric(0.0));
}

#[test]
fn large_products_agree_with_the_vector_product_for_any_thread_count() {
    // A second-difference matrix large enough for several chunks.
    let n = 3000;
    let row = |i: usize| {
        [(i.wrapping_sub(1), -1.0), (i, 2.0 + (i % 7) as f64), (i + 1, -1.0)]
            .into_iter()
            .filter(move |&(j, _)| j < n)
    };
    let matrix = CsrMatrix::from_rows(n, (0..n).map(row)).unwrap();
    let square = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| matrix.product(&matrix).unwrap())
    };
    let one = square(1);
    assert_eq!(one, square(2));
    assert_eq!(one, square(4));
    let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let (mut once, mut twice, mut direct) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    matrix.multiply(&x, &mut once);
    matrix.multiply(&once, &mut twice);
    one.multiply(&x, &mut direct);
    for i in 0..n {
        assert!((twice[i] - direct[i]).abs() < 1e-11);
    }
}

proptest! {
    #[test]
    fn operations_match_dense_arithmetic(a in triplets(5, 7, 30), b in triplets(7, 4, 30), s in triplets(5, 5, 30)) {
        // Small integers: every operation is exact, so equality is exact too.
        let (da, db) = (dense_of(5, 7, &a), dense_of(7, 4, &b));
        let (ma, mb) = (CsrMatrix::from_triplets(5, 7, &a).unwrap(), CsrMatrix::from_triplets(7, 4, &b).unwrap());
        prop_assert_eq!(&ma.to_dense(), &da);
        prop_assert_eq!(ma.product(&mb).unwrap().to_dense(), dense_product(5, 7, 4, &da, &db));
        prop_assert_eq!(&ma.transpose().transpose(), &ma);
        let x: Vec<f64> = (0..7).map(|i| f64::from(i - 3)).collect();
        let mut y = vec![0.0; 5];
        ma.multiply(&x, &mut y);
        prop_assert_eq!(&y, &dense_product(5, 7, 1, &da, &x));
        let mut t = vec![0.0; 7];
        ma.add_transpose_multiply(&y, &mut t);
        let mut gathered = vec![0.0; 7];
        ma.transpose().multiply(&y, &mut gathered);
        prop_assert_eq!(&t, &gathered);
        let ms = CsrMatrix::from_triplets(5, 5, &s).unwrap();
        let galerkin = ms.triple_product(&ma).unwrap();
        let expected = dense_product(7, 5, 7, &ma.transpose().to_dense(), &dense_product(5, 5, 7, &ms.to_dense(), &da));
        prop_assert_eq!(galerkin.to_dense(), expected);
        let doubled = ma.sum(2.0, &ma).unwrap();
        prop_assert_eq!(doubled.to_dense(), da.iter().map(|v| 3.0 * v).collect::<Vec<_>>());
        let stacked = CsrMatrix::stack(&[&ma, &ma]).unwrap();
        prop_assert_eq!(stacked.to_dense(), [da.clone(), da.clone()].concat());
        let block = ms.diagonal_block(1..4);
        for i in 0..3 { for j in 0..3 { prop_assert_eq!(block.get(i, j), ms.get(i + 1, j + 1)); } }
        let rebuilt = CsrMatrix::from_parts(7, ma.offsets().to_vec(), ma.columns().to_vec(), ma.values().to_vec());
        prop_assert_eq!(rebuilt.unwrap(), ma);
    }
}
