use super::*;
use proptest::prelude::*;
use splashdown_math::Vector;

/// A 3D layout with two faces (one static), two particles (one pinned), a tumbling body and a static one.
fn example(v: &[f64]) -> InverseMass {
    let mut inverse = InverseMass::zero(VelocityLayout::new::<3>(2, 2, 2));
    inverse.set_face(0, v[0].abs() + 0.1).unwrap();
    inverse.set_particle(1, v[1].abs() + 0.1).unwrap();
    let rotation = Dim::<3>::exp(&Vector::from([v[2], v[3], v[4]]));
    let moments = [v[5].abs() + 0.1, v[6].abs() + 0.1, v[7].abs() + 0.1];
    let world = Dim::<3>::rotate_inertia(&rotation, &Dim::<3>::inertia_from_principal(&moments));
    inverse.set_body::<3>(0, v[8].abs() + 0.1, &world).unwrap();
    inverse
}

#[test]
fn layout_is_contiguous() {
    let layout = VelocityLayout::new::<2>(5, 3, 2);
    assert_eq!(layout.len(), 5 + 6 + 6);
    assert_eq!(layout.faces(), 0..5);
    assert_eq!(layout.particles(), 5..11);
    assert_eq!(layout.bodies(), 11..17);
    assert_eq!(layout.particle(2), 9..11);
    assert_eq!(layout.body(1), 14..17);
}

#[test]
fn bad_masses_are_refused() {
    let layout = VelocityLayout::new::<2>(1, 1, 1);
    let mut inverse = InverseMass::zero(layout);
    assert!(matches!(inverse.set_face(0, -1.0), Err(SolveError::Negative { .. })));
    assert!(matches!(inverse.set_face(1, 1.0), Err(SolveError::Index { .. })));
    assert!(matches!(inverse.set_particle(0, f64::NAN), Err(SolveError::NotFinite { .. })));
    assert!(matches!(
        inverse.set_body::<3>(0, 1.0, &splashdown_math::Matrix::<3>::identity()),
        Err(SolveError::Size { .. })
    ));
    assert!(matches!(
        inverse.set_body::<2>(0, 1.0, &splashdown_math::Matrix::<1>::new(-2.0)),
        Err(SolveError::Negative { .. })
    ));
    let skew = vec![1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert!(matches!(
        InverseMass::new(layout, vec![1.0], vec![1.0], skew),
        Err(SolveError::NotSymmetric { .. })
    ));
    let indefinite = vec![1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert!(matches!(
        InverseMass::new(layout, vec![1.0], vec![1.0], indefinite),
        Err(SolveError::NotPositiveDefinite { row: 1, .. })
    ));
    assert!(InverseMass::new(layout, vec![], vec![1.0], vec![0.0; 9]).is_err());
}

proptest! {
    #[test]
    fn every_form_of_the_inverse_agrees(v in prop::array::uniform9(-2.0..2.0f64), x in prop::collection::vec(-1.0..1.0f64, 20)) {
        let inverse = example(&v);
        let len = inverse.layout().len();
        prop_assert_eq!(len, 20);
        let matrix = inverse.to_csr();
        prop_assert!(matrix.is_symmetric(1e-14));
        let mut by_matrix = vec![0.0; len];
        matrix.multiply(&x, &mut by_matrix);
        let mut direct = x.clone();
        inverse.apply(&mut direct);
        let root = inverse.square_root();
        let mut by_root = x.clone();
        root.apply_transpose(&mut by_root);
        root.apply(&mut by_root);
        for i in 0..len {
            prop_assert!((direct[i] - by_matrix[i]).abs() < 1e-12);
            prop_assert!((direct[i] - by_root[i]).abs() < 1e-12);
            prop_assert!(inverse.is_movable(i) == (matrix.get(i, i) > 0.0));
        }
        // M is the inverse of M^-1 on what moves, zero elsewhere.
        let momentum = inverse.mass().momentum(&direct);
        for i in 0..len {
            let expected = if inverse.is_movable(i) { x[i] } else { 0.0 };
            prop_assert!((momentum[i] - expected).abs() < 1e-10);
        }
        let columns: Vec<u32> = (0..20).filter(|i| i % 3 != 1).collect();
        let values: Vec<f64> = columns.iter().map(|&i| x[i as usize]).collect();
        let mut sparse = vec![0.0; 20];
        for (&c, &value) in columns.iter().zip(&values) { sparse[c as usize] = value; }
        let mut image = sparse.clone();
        inverse.apply(&mut image);
        let exact: f64 = sparse.iter().zip(&image).map(|(a, b)| a * b).sum();
        prop_assert!((inverse.row_diagonal(&columns, &values) - exact).abs() < 1e-12);
        let energy = inverse.mass().kinetic_energy(&direct);
        prop_assert!((2.0 * energy - vector::dot(&direct, &momentum)).abs() < 1e-10 && energy >= 0.0);
    }
}
