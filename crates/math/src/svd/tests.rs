use super::*;
use crate::Vector;
use crate::reference::{KINDS, SvdErrors, adversarial_matrix, svd_errors, thin_svd_errors};
use nalgebra::SMatrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The contract of spec/deformable-solids.md 3.2, relative to the largest singular value.
const CONTRACT: f64 = 1e-12;

fn matrices<const D: usize>(count: usize, seed: u64) -> Vec<Matrix<D>>
where
    Dim<D>: Space<D>,
{
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    (0..count).map(|i| adversarial_matrix(i, &mut || random.random())).collect()
}

fn batch_keeps_the_contract<const D: usize>(count: usize)
where
    Dim<D>: Space<D>,
{
    let f = matrices::<D>(count, 11);
    let mut out = vec![Svd::zero(); count];
    signed_svd_batch(&f, &mut out);
    let mut worst = [SvdErrors::default(); KINDS];
    for (i, (f, svd)) in f.iter().zip(&out).enumerate() {
        let errors = svd_errors(f, svd);
        assert!(errors.largest() < CONTRACT && errors.unordered == 0.0, "{f} {svd:?} {errors:?}");
        worst[i % KINDS] = worst[i % KINDS].max(errors);
    }
    let largest = worst.iter().fold(0.0, |m: f64, errors| m.max(errors.largest()));
    assert!(largest < 2e-14, "the documented accuracy: {worst:?}");
}

#[test]
fn batch_keeps_the_contract_on_adversarial_matrices() {
    batch_keeps_the_contract::<3>(100_000);
    batch_keeps_the_contract::<2>(50_000);
}

fn bits<const D: usize>(svd: &Svd<D>) -> Vec<u64> {
    [svd.u.as_slice(), svd.sigma.as_slice(), svd.v.as_slice()].concat().iter().map(|x| x.to_bits()).collect()
}

fn same_bits_everywhere<const D: usize>()
where
    Dim<D>: Space<D>,
{
    // Not a multiple of the block length, so the last block is partly empty; one lane is poisoned.
    let mut f = matrices::<D>(KINDS * 500 + 7, 5);
    f[100][(0, 1)] = f64::NAN;
    let alone: Vec<_> = f.iter().map(|f| bits(&signed_svd(f))).collect();
    for set in [InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512] {
        let mut out = vec![Svd::zero(); f.len()];
        signed_svd_batch_with(set, &f, &mut out);
        for i in 0..f.len() {
            assert_eq!(alone[i], bits(&out[i]), "{set:?}, matrix {i}: {}", f[i]);
        }
    }
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut out = vec![Svd::zero(); f.len()];
        pool.install(|| signed_svd_batch_parallel(&f, &mut out));
        assert!(out.iter().zip(&alone).all(|(svd, alone)| bits(svd) == *alone), "{threads} threads");
    }
}

#[test]
fn one_matrix_a_batch_and_every_instruction_set_give_the_same_bits() {
    same_bits_everywhere::<2>();
    same_bits_everywhere::<3>();
}

#[test]
fn zero_matrix_gives_identities_exactly() {
    assert_eq!(signed_svd(&Matrix::<2>::zeros()), Svd::zero());
    assert_eq!(signed_svd(&Matrix::<3>::zeros()), Svd::zero());
    assert_eq!(signed_svd(&-Matrix::<3>::zeros()), Svd::zero());
    let thin = thin_svd(&SMatrix::zeros(), None);
    assert_eq!((thin.u, thin.v), (SMatrix::<f64, 3, 2>::identity(), Matrix::<2>::identity()));
    assert_eq!(thin.sigma, Vector::<2>::zeros());
}

#[test]
fn rest_and_sorted_diagonals_are_exact() {
    for diagonal in [[1.0, 1.0, 1.0], [3.0, 2.0, 1.0], [3.0, 2.0, -1.0], [1.0, 1e-30, 0.0], [2.0, 0.0, 0.0]] {
        let sigma = Vector::from(diagonal);
        let svd = signed_svd(&Matrix::from_diagonal(&sigma));
        assert_eq!(svd, Svd { sigma, ..Svd::zero() });
    }
}

#[test]
fn inverted_element_has_its_smallest_value_negative() {
    let rotation = Dim::<3>::to_matrix(&Dim::<3>::exp(&Vector::from([0.3, -1.2, 0.8])));
    let f = rotation * Matrix::<3>::from_diagonal(&Vector::from([0.5, -3.0, 2.0]));
    let svd = signed_svd(&f);
    assert!((svd.sigma - Vector::from([3.0, 2.0, -0.5])).norm() < 1e-14, "{}", svd.sigma);
    assert!((svd.u.determinant() - 1.0).abs() < 1e-14 && (svd.v.determinant() - 1.0).abs() < 1e-14);
}

#[test]
fn flat_element_gets_the_normal_of_its_plane() {
    let f = Matrix::<3>::new(1.0, 2.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0);
    let svd = signed_svd(&f);
    assert!(svd.sigma[2].abs() < 1e-16);
    assert!((svd.u[(2, 2)].abs() - 1.0).abs() < 1e-15, "{}", svd.u);
    let crossed = svd.u.column(0).cross(&svd.u.column(1));
    assert!((crossed - svd.u.column(2)).norm() < 1e-15);
}

#[test]
fn ends_of_the_number_range_keep_the_factors() {
    let f = matrices::<3>(1, 3)[0];
    let svd = signed_svd(&f);
    for exponent in [-1000, -500, 500, 1000] {
        let factor = 2f64.powi(exponent);
        let scaled = signed_svd(&(f * factor));
        assert_eq!((scaled.u, scaled.sigma, scaled.v), (svd.u, svd.sigma * factor, svd.v));
    }
    let smallest = Matrix::<3>::from_diagonal(&Vector::from([5e-324, 1e-323, 0.0]));
    assert_eq!(signed_svd(&smallest).sigma, Vector::from([1e-323, 5e-324, 0.0]));
    let largest = Matrix::<2>::from_diagonal(&Vector::from([f64::MAX, -f64::MAX]));
    assert_eq!(signed_svd(&largest).sigma, Vector::from([f64::MAX, -f64::MAX]));
}

#[test]
fn entries_that_are_not_finite_stay_visible_and_harmless() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for entry in 0..9 {
            let mut f = Matrix::<3>::identity();
            f[entry] = bad;
            let svd = signed_svd(&f);
            assert!(svd.sigma.iter().all(|x| x.is_nan()));
            assert_eq!((svd.u, svd.v), (Matrix::<3>::identity(), Matrix::<3>::identity()));
        }
        let mut f = SMatrix::<f64, 3, 2>::identity();
        f[3] = bad;
        let thin = thin_svd(&f, None);
        assert!(thin.sigma.iter().all(|x| x.is_nan()) && thin.u == SMatrix::<f64, 3, 2>::identity());
    }
}

#[test]
fn polar_factors_are_the_nearest_rotation_and_a_symmetric_matrix() {
    for f in matrices::<3>(KINDS * 50, 23) {
        let f = f / f.amax().max(f64::MIN_POSITIVE);
        let (r, s) = polar(&f);
        assert!((r * s - f).amax() < CONTRACT && (s - s.transpose()).amax() < CONTRACT);
        assert!((r.transpose() * r - Matrix::<3>::identity()).amax() < CONTRACT);
        assert!((r.determinant() - 1.0).abs() < CONTRACT);
        // Nearest: no small turn of R, in any direction, comes closer to F.
        let distance = (f - r).norm_squared();
        for axis in 0..3 {
            for angle in [1e-3, -1e-3, 0.5, -0.5] {
                let mut turn = Vector::<3>::zeros();
                turn[axis] = angle;
                let other = r * Dim::<3>::to_matrix(&Dim::<3>::exp(&turn));
                assert!((f - other).norm_squared() >= distance - 1e-13);
            }
        }
    }
}

#[test]
fn thin_decomposition_keeps_the_contract() {
    for (i, f) in matrices::<3>(30_000, 31).into_iter().enumerate() {
        let f = f.fixed_columns::<2>(i % 2).into_owned();
        let svd = thin_svd(&f, None);
        let errors = thin_svd_errors(&f, &svd);
        assert!(errors.largest() < CONTRACT && errors.unordered == 0.0, "{f} {svd:?} {errors:?}");
    }
}

#[test]
fn collapsed_triangle_follows_the_hint() {
    let line = Vector::from([1.0, 2.0, 2.0]) / 3.0;
    let f = SMatrix::<f64, 3, 2>::from_columns(&[line * 2.0, line * -0.7]);
    let previous = Vector::from([0.2, 0.9, -0.3]);
    let svd = thin_svd(&f, Some(&previous));
    let expected = (previous - line * line.dot(&previous)).normalize();
    assert!((svd.u.column(1) - expected).norm() < 1e-14, "{}", svd.u);
    assert!(thin_svd_errors(&f, &svd).largest() < CONTRACT);
    // A hint along the line, zero or not finite says nothing; the result is still orthonormal.
    for useless in [line, Vector::zeros(), Vector::repeat(f64::NAN)] {
        assert!(thin_svd_errors(&f, &thin_svd(&f, Some(&useless))).largest() < CONTRACT);
    }
    assert!((svd.normal().norm() - 1.0).abs() < 1e-14);
}

/// Single precision: the same contract to 5e-6 of the largest value (spec/deformable-solids.md T1), for every kind of matrix, and the exact cases exact.
fn single_precision_keeps_its_contract<const D: usize>(count: usize)
where
    Dim<D>: Space<D>,
{
    // Scaled to the middle of the range: 1e150 is no number in single precision.
    let f: Vec<SMatrix<f32, D, D>> = matrices::<D>(count, 29)
        .into_iter()
        .map(|f| (f / if f.amax() > 0.0 { f.amax() } else { 1.0 }).map(|x| x as f32))
        .collect();
    let mut out = vec![Svd::<D, f32>::zero(); count];
    signed_svd_batch(&f, &mut out);
    let wide = |m: &SMatrix<f32, D, D>| m.map(f64::from);
    for (f, svd) in f.iter().zip(&out) {
        assert_eq!(*svd, signed_svd(f), "a matrix alone gives other bits than in a batch: {f}");
        let wide = Svd { u: wide(&svd.u), sigma: svd.sigma.map(f64::from), v: wide(&svd.v) };
        let errors = svd_errors(&f.map(f64::from), &wide);
        assert!(errors.largest() < 5e-6 && errors.unordered == 0.0, "{f} {svd:?} {errors:?}");
    }
    assert_eq!(signed_svd(&SMatrix::<f32, D, D>::zeros()), Svd::zero());
    let mut bad = SMatrix::<f32, D, D>::identity();
    bad[1] = f32::INFINITY;
    assert!(signed_svd(&bad).sigma.iter().all(|x| x.is_nan()));
}

#[test]
fn single_precision_decompositions_keep_their_contract() {
    single_precision_keeps_its_contract::<3>(100_000);
    single_precision_keeps_its_contract::<2>(50_000);
    for f in matrices::<3>(KINDS * 500, 31) {
        let scale = if f.amax() > 0.0 { f.amax() } else { 1.0 };
        let f = (f / scale).fixed_columns::<2>(0).map(|x| x as f32);
        let svd = thin_svd(&f, None);
        let wide =
            ThinSvd { u: svd.u.map(f64::from), sigma: svd.sigma.map(f64::from), v: svd.v.map(f64::from) };
        let errors = thin_svd_errors(&f.map(f64::from), &wide);
        assert!(errors.largest() < 5e-6 && errors.unordered == 0.0, "{f} {svd:?} {errors:?}");
    }
}
