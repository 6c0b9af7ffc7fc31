use super::*;
use proptest::prelude::*;

fn adjoint_and_definition<const D: usize>(r: [f64; D], a: [f64; D], spin: &[f64])
where
    Dim<D>: Space<D>,
{
    let (r, a) = (Vector::from(r), Vector::from(a));
    let spin = Spin::<D>::from_slice(spin);
    let m = Dim::<D>::cross_matrix(&r);
    assert_eq!(Dim::<D>::apply_cross_matrix(&m, &a), Dim::<D>::cross(&r, &a));
    let by_transpose = Dim::<D>::apply_cross_matrix_transpose(&m, &spin);
    assert!((by_transpose - Dim::<D>::spin_cross(&spin, &r)).norm() < 1e-12 * (1.0 + by_transpose.norm()));
    let left = Dim::<D>::cross(&r, &a).dot(&spin);
    let right = a.dot(&Dim::<D>::spin_cross(&spin, &r));
    assert!((left - right).abs() < 1e-9, "<r x a, w> = <a, w x r>: {left} {right}");
}

fn exp_inverts_log<const D: usize>(spin: &[f64])
where
    Dim<D>: Space<D>,
{
    let spin = Spin::<D>::from_slice(spin);
    let spin = spin * (3.0 / (1.0 + spin.norm()));
    let back = Dim::<D>::log(&Dim::<D>::exp(&spin));
    assert!((back - spin).norm() < 1e-13, "{spin:?} {back:?}");
    let matrix = Dim::<D>::to_matrix(&Dim::<D>::exp(&spin));
    assert!((matrix * matrix.transpose() - Matrix::<D>::identity()).norm() < 1e-14);
}

fn spin_of_the_skew_part<const D: usize>(entries: &[f64])
where
    Dim<D>: Space<D>,
{
    let m = Matrix::<D>::from_fn(|i, j| entries[3 * i + j]);
    let spin = Dim::<D>::skew_spin(&m);
    assert!((Dim::<D>::spin_matrix(&spin) - 0.5 * (m - m.transpose())).amax() < 1e-14);
    let r = Vector::<D>::from_fn(|i, _| entries[i]);
    assert!((Dim::<D>::spin_matrix(&spin) * r - Dim::<D>::spin_cross(&spin, &r)).norm() < 1e-12);
}

fn matrix_and_back<const D: usize>(spin: &[f64])
where
    Dim<D>: Space<D>,
{
    let rotation = Dim::<D>::exp(&Spin::<D>::from_slice(spin));
    let matrix = Dim::<D>::to_matrix(&rotation);
    let back = Dim::<D>::rotation_from_matrix(&matrix);
    assert!((Dim::<D>::to_matrix(&back) - matrix).amax() < 1e-14, "{spin:?}");
    // Stretched along its own axes, a rotation stays the nearest one.
    let stretched = matrix * Matrix::from_diagonal(&Vector::from_fn(|i, _| 0.5 + i as f64));
    let nearest = Dim::<D>::rotation_from_matrix(&stretched);
    assert!((Dim::<D>::to_matrix(&nearest) - matrix).amax() < 1e-14, "{spin:?}");
}

fn turns_a_into_b<const D: usize>(a: Vector<D>, b: Vector<D>)
where
    Dim<D>: Space<D>,
{
    let rotation = Dim::<D>::rotation_between(&a, &b);
    let (a, b) = (direction(&a).unwrap(), direction(&b).unwrap());
    assert!((Dim::<D>::rotate(&rotation, &a) - b).norm() < 1e-14, "{a} {b}");
    let angle = Dim::<D>::log(&rotation).norm();
    let expected = 2.0 * (a - b).norm().atan2((a + b).norm());
    assert!((angle - expected).abs() < 1e-13, "the smallest: {angle} {expected}");
}

fn interpolation_divides_the_angle<const D: usize>(a: &[f64], spin: &[f64], t: f64)
where
    Dim<D>: Space<D>,
{
    let spin = Spin::<D>::from_slice(spin);
    let spin = spin * (3.0 / (1.0 + spin.norm()));
    let a = Dim::<D>::exp(&Spin::<D>::from_slice(a));
    let b = Dim::<D>::compose(&a, &Dim::<D>::exp(&spin));
    let part = Dim::<D>::interpolate(&a, &b, t);
    let expected = Dim::<D>::compose(&a, &Dim::<D>::exp(&(spin * t)));
    assert!((Dim::<D>::to_matrix(&part) - Dim::<D>::to_matrix(&expected)).amax() < 1e-13);
}

fn point_inertia_gives_angular_momentum<const D: usize>(r: &[f64], spin: &[f64])
where
    Dim<D>: Space<D>,
{
    let (r, spin) = (Vector::<D>::from_column_slice(&r[..D]), Spin::<D>::from_slice(spin));
    let momentum = Dim::<D>::apply_inertia(&Dim::<D>::point_inertia(&r), &spin);
    assert!((momentum - Dim::<D>::cross(&r, &Dim::<D>::spin_cross(&spin, &r))).norm() < 1e-11);
}

#[test]
fn inertias_along_their_axes_are_inverted_to_the_same_bits() {
    for moments in [[1.0, 2.0, 3.0], [0.3, 7e-5, 11.0], [1e-9, 3e-9, 1.7e-9], [1.0 / 3.0; 3]] {
        let inertia = Matrix::<3>::from_diagonal(&Vector::from(moments));
        assert_eq!(Some(Dim::<3>::invert_inertia(&inertia)), inertia.try_inverse());
        let rotation = Dim::<3>::exp(&Vector::from([0.3, -1.1, 0.7]));
        let turn = Dim::<3>::to_matrix(&rotation);
        assert_eq!(Dim::<3>::rotate_inertia(&rotation, &inertia), turn * inertia * turn.transpose());
    }
}

#[test]
fn quarter_and_half_turns_about_every_axis_survive_the_matrix() {
    for axis in 0..3 {
        for angle in [0.5, 1.0, -0.5, 1e-9, 1.0 - 1e-9] {
            let mut spin = [0.0; 3];
            spin[axis] = angle * std::f64::consts::PI;
            matrix_and_back::<3>(&spin);
            matrix_and_back::<2>(&spin);
        }
    }
}

#[test]
fn opposite_and_unusable_directions_have_a_rotation() {
    for v in [[1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [1.0, 2.0, 3.0], [1e-200, 0.0, -1e-200]] {
        let v = Vector::from(v);
        for tilt in [0.0, 1e-16, 1e-12, 1e-8, 1e-4, 0.05] {
            let size = v.amax();
            let tilted = -v + Vector::from([0.3, -0.5, 0.7]) * (tilt * size);
            turns_a_into_b::<3>(v, tilted);
        }
    }
    turns_a_into_b::<2>(Vector::from([1.0, 3.0]), Vector::from([-2.0, -6.0]));
    let none = Dim::<3>::rotation_between(&Vector::zeros(), &Vector::from([1.0, 0.0, 0.0]));
    assert_eq!(none, Dim::<3>::identity());
    let none = Dim::<2>::rotation_between(&Vector::from([f64::NAN, 0.0]), &Vector::from([1.0, 0.0]));
    assert_eq!(none, Dim::<2>::identity());
    assert_eq!(Dim::<3>::rotation_from_matrix(&Matrix::repeat(f64::NAN)), Dim::<3>::identity());
    assert_eq!(Dim::<2>::rotation_from_matrix(&Matrix::repeat(f64::NAN)), Dim::<2>::identity());
}

proptest! {
    #[test]
    fn skew_part_is_a_spin(v in prop::array::uniform9(-10.0..10.0f64)) {
        spin_of_the_skew_part::<2>(&v);
        spin_of_the_skew_part::<3>(&v);
    }

    #[test]
    fn rotation_survives_the_matrix(v in prop::array::uniform3(-4.0..4.0f64)) {
        matrix_and_back::<2>(&v);
        matrix_and_back::<3>(&v);
    }

    #[test]
    fn rotation_between_directions_is_the_smallest(v in prop::array::uniform6(-1.0..1.0f64)) {
        turns_a_into_b::<2>(Vector::from([v[0], v[1]]), Vector::from([v[2], v[3]]));
        turns_a_into_b::<3>(Vector::from([v[0], v[1], v[2]]), Vector::from([v[3], v[4], v[5]]));
    }

    #[test]
    fn interpolated_rotation_divides_the_angle(v in prop::array::uniform6(-4.0..4.0f64), t in 0.0..1.0f64) {
        interpolation_divides_the_angle::<2>(&v[..1], &v[3..4], t);
        interpolation_divides_the_angle::<3>(&v[..3], &v[3..], t);
    }

    #[test]
    fn inertia_of_a_point_gives_its_angular_momentum(v in prop::array::uniform6(-4.0..4.0f64)) {
        point_inertia_gives_angular_momentum::<2>(&v[..2], &v[3..4]);
        point_inertia_gives_angular_momentum::<3>(&v[..3], &v[3..]);
    }

    #[test]
    fn principal_axes_diagonalize_the_inertia(v in prop::array::uniform6(-3.0..3.0f64), needle in -14.0..0.0f64) {
        let rotation = Dim::<3>::exp(&Vector::from([v[0], v[1], v[2]]));
        let thin = 10f64.powf(needle);
        let moments = [1.0 + v[3].abs(), 1.0 + v[3].abs() + thin * v[4], thin];
        let inertia = Dim::<3>::rotate_inertia(&rotation, &Dim::<3>::inertia_from_principal(&moments));
        let (found, axes) = Dim::<3>::principal_axes(&inertia);
        prop_assert!(found[0] >= found[1] && found[1] >= found[2]);
        let again = Dim::<3>::rotate_inertia(&axes, &Dim::<3>::inertia_from_principal(found.as_slice()));
        prop_assert!((again - inertia).amax() < 1e-14, "{}", again - inertia);
    }

    #[test]
    fn cross_matrix_is_the_cross_product(v in prop::array::uniform9(-10.0..10.0f64)) {
        adjoint_and_definition::<2>([v[0], v[1]], [v[2], v[3]], &v[4..5]);
        adjoint_and_definition::<3>([v[0], v[1], v[2]], [v[3], v[4], v[5]], &v[6..9]);
    }

    #[test]
    fn log_of_exp_is_the_rotation_vector(v in prop::array::uniform3(-10.0..10.0f64), scale in -12.0..0.0f64) {
        let v = v.map(|x| x * 10f64.powf(scale));
        exp_inverts_log::<2>(&v[..1]);
        exp_inverts_log::<3>(&v);
    }

    #[test]
    fn rotated_inertia_maps_rotated_spin(v in prop::array::uniform9(-3.0..3.0f64)) {
        let rotation = Dim::<3>::exp(&Vector::from([v[0], v[1], v[2]]));
        let body = Dim::<3>::inertia_from_principal(&[v[3].abs() + 0.1, v[4].abs() + 0.1, v[5].abs() + 0.1]);
        let spin = Vector::from([v[6], v[7], v[8]]);
        let world = Dim::<3>::rotate_inertia(&rotation, &body);
        let expected = Dim::<3>::rotate_spin(&rotation, &Dim::<3>::apply_inertia(&body, &Dim::<3>::rotate_spin_back(&rotation, &spin)));
        prop_assert!((Dim::<3>::apply_inertia(&world, &spin) - expected).norm() < 1e-12);
    }
}
