use super::*;
use splashdown_solve::testing::TestNumbers;

/// Spec T23: impulses keep linear and angular momentum.
#[test]
fn impulses_keep_momentum() {
    let mut random = TestNumbers::new(3);
    for _ in 0..100 {
        let x = random.vector(12);
        let mut v = random.vector(12);
        let inverse: Vec<f64> = (0..4).map(|_| random.uniform(0.2, 3.0)).collect();
        let kind = if random.index(2) == 0 { PairKind::PointFace } else { PairKind::EdgeEdge };
        let gap = pairs::gap::<3>(kind, &[0, 1, 2, 3], &x);
        let momenta = |v: &[f64]| {
            let (mut linear, mut angular) = (Vector::<3>::zeros(), Vector::<3>::zeros());
            for node in 0..4 {
                let p = Vector::<3>::from_column_slice(&v[3 * node..3 * node + 3]) / inverse[node];
                linear += p;
                angular += Vector::<3>::from_column_slice(&x[3 * node..3 * node + 3]).cross(&p);
            }
            (linear, angular)
        };
        let before = momenta(&v);
        let relative = relative_velocity::<3>(&[0, 1, 2, 3], &gap.weights, &v).dot(&gap.normal);
        apply_impulse(&[0, 1, 2, 3], &gap.weights, &gap.normal, 0.7, &inverse, &mut v);
        let after = momenta(&v);
        let now = relative_velocity::<3>(&[0, 1, 2, 3], &gap.weights, &v).dot(&gap.normal);
        assert!((now - relative - 0.7).abs() < 1e-12);
        assert!(
            (after.0 - before.0).norm() < 1e-13 && (after.1 - before.1).norm() < 1e-12,
            "{before:?} {after:?}"
        );
    }
}

#[test]
fn intersection_test_finds_crossings_and_only_those() {
    let surface = ContactSurface::<3>::new(vec![[0, 1, 2], [3, 4, 5]]);
    let apart = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.2, 0.2, 0.1, 0.3, 0.2, 1.0, 0.2, 0.3, 1.0];
    assert_eq!(intersections(&surface, &apart), 0);
    let mut through = apart;
    through[11] = -0.1;
    assert!(intersections(&surface, &through) > 0);
    let plane = ContactSurface::<2>::new(vec![[0, 1], [2, 3]]);
    assert_eq!(intersections(&plane, &[0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]), 1);
    assert_eq!(intersections(&plane, &[0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.4, 0.6]), 0);
}
