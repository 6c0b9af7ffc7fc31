use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_math::{Coordinates, Spin};

fn random_point<const D: usize>(rng: &mut Pcg64Mcg, reach: f64) -> Vector<D> {
    Vector::from_fn(|_, _| rng.random_range(-reach..reach))
}

fn tilted<const D: usize>() -> Frame<D>
where
    Dim<D>: Space<D>,
{
    Frame {
        position: Vector::from_fn(|a, _| 0.1 - 0.2 * a as f64),
        rotation: Dim::exp(&Spin::<D>::from_slice(&[0.7, -1.1, 0.4])),
    }
}

/// Shapes whose distance is exact everywhere.
fn exact_shapes<const D: usize>() -> Vec<(&'static str, Shape<D>)>
where
    Dim<D>: Space<D>,
{
    let half = Vector::from_fn(|a, _| 0.5 + 0.2 * a as f64);
    let star = vec![[0.9, 0.1], [0.2, 0.3], [0.1, 0.9], [-0.3, 0.2], [-0.8, -0.7], [0.0, -0.2]];
    vec![
        ("ball", Shape::ball(0.7).unwrap()),
        ("cuboid", Shape::cuboid(half).unwrap()),
        ("tilted cuboid", Shape::cuboid(half).unwrap().placed(tilted()).unwrap()),
        ("scaled capsule", Shape::capsule(0.2, 0.4).unwrap().scaled(1.3).unwrap()),
        ("cylinder", Shape::cylinder(0.4, 0.6).unwrap()),
        ("cone", Shape::cone(0.7, 0.2, 0.5).unwrap()),
        ("pointed cone", Shape::cone(0.6, 0.0, 0.5).unwrap()),
        ("upturned cone", Shape::cone(0.1, 0.8, 0.3).unwrap()),
        ("torus", Shape::torus(0.6, 0.25).unwrap()),
        ("ellipsoid", Shape::ellipsoid(Vector::from_fn(|a, _| [0.9, 0.3, 0.5][a])).unwrap()),
        ("needle", Shape::ellipsoid(Vector::from_fn(|a, _| [1.0, 0.01, 0.01][a])).unwrap()),
        ("round ellipsoid", Shape::ellipsoid(Vector::repeat(0.8)).unwrap()),
        ("prism", Shape::prism(star, 0.4).unwrap()),
        ("rounded cuboid", Shape::rounded_cuboid(half, 0.15).unwrap()),
        ("rounded cylinder", Shape::rounded_cylinder(0.5, 0.6, 0.1).unwrap()),
        ("half space", Shape::half_space(Vector::from_fn(|a, _| 1.0 + a as f64), 0.2).unwrap()),
        ("pipe wall", Shape::ball(0.6).unwrap().shell(0.1).unwrap()),
    ]
}

/// The distance `d` with gradient `n` is exact iff `p - d n` is on the surface (it is not further) and no surface point is closer.
fn distances_are_exact<const D: usize>()
where
    Dim<D>: Space<D>,
{
    for (name, shape) in exact_shapes::<D>() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let mut surface = Vec::new();
        let mut points = Vec::new();
        for k in 0..400 {
            let mut p = random_point::<D>(&mut rng, 1.3);
            // Points on axes and planes of symmetry are where closest points are not unique.
            match k % 8 {
                0 => p[0] = 0.0,
                1 => p[1] = 0.0,
                2 => p = Vector::from_fn(|a, _| if a == k % D { p[a] } else { 0.0 }),
                3 if k < 20 => p = Vector::zeros(),
                _ => (),
            }
            let (d, n) = shape.distance_and_normal(&p);
            assert!((n.norm() - 1.0).abs() < 1e-12, "{name}: |n| = {} at {p:?}", n.norm());
            let q = p - n * d;
            assert!(
                shape.signed_distance(&q).abs() < 1e-12,
                "{name}: {d} at {p:?} does not end on the surface"
            );
            surface.push(q);
            points.push((p, d));
        }
        for (p, d) in &points {
            let nearest = surface.iter().map(|q| (p - q).norm()).fold(f64::INFINITY, f64::min);
            assert!(d.abs() <= nearest + 1e-12, "{name}: {d} at {p:?}, but {nearest} is closer");
        }
        // The sign changes across the surface, in the direction of the normal.
        for (q, (p, d)) in surface.iter().zip(&points) {
            let (_, n) = shape.distance_and_normal(p);
            assert_eq!(shape.contains(&(q + (p - q) * 1e-2)), *d < 0.0, "{name} {q:?}");
            assert!(!shape.contains(&(q + n * 1e-6)), "{name} {q:?}");
        }
    }
}

#[test]
fn distances_are_exact_2d() {
    distances_are_exact::<2>();
}

#[test]
fn distances_are_exact_3d() {
    distances_are_exact::<3>();
}

/// Closed forms against the sum over a grid.
fn closed_forms_match_quadrature<const D: usize>()
where
    Dim<D>: Space<D>,
{
    for (name, shape) in exact_shapes::<D>() {
        let shape = shape.placed(tilted()).unwrap();
        let Some(exact) = shape.node.exact_moments() else { continue };
        let extent = shape.bounds().extent().max();
        let sum = moments::by_quadrature(&shape, 48).unwrap();
        let relative = if name == "needle" { 0.3 } else { 2e-3 };
        assert!(
            (sum.volume / exact.volume - 1.0).abs() < relative,
            "{name}: {} {}",
            sum.volume,
            exact.volume
        );
        assert!((sum.centre - exact.centre).norm() < 2e-3 * extent, "{name}");
        let size = exact.second.norm();
        assert!(
            (sum.second - exact.second).norm() < 2.0 * relative * size,
            "{name}: {} {}",
            sum.second,
            exact.second
        );
    }
}

#[test]
fn closed_form_moments_match_quadrature() {
    closed_forms_match_quadrature::<2>();
    closed_forms_match_quadrature::<3>();
}

#[test]
fn inertia_agrees_with_the_known_tensors() {
    let ball = Shape::<3>::ball(2.0).unwrap().moments(8).unwrap();
    let expected = <Dim<3> as Space<3>>::BALL_INERTIA * 4.0 * ball.volume;
    assert!((ball.inertia_entries()[4] - expected).abs() < 1e-12 * expected);
    let edges = Vector::<3>::from([1.0, 2.0, 3.0]);
    let cuboid = Shape::cuboid(edges / 2.0).unwrap().moments(8).unwrap();
    for (k, moment) in Dim::<3>::box_inertia(&edges).into_iter().enumerate() {
        assert!((cuboid.inertia_entries()[4 * k] - 6.0 * moment).abs() < 1e-12);
    }
    let disc = Shape::<2>::ball(1.0).unwrap().moments(8).unwrap();
    assert!((disc.inertia_entries()[0] - 0.5 * std::f64::consts::PI).abs() < 1e-12);
}

#[test]
fn moments_of_parts_add_up() {
    // A box cut in two by hand: the difference is integrated, the whole is exact.
    let whole = Shape::<2>::cuboid(Vector::from([1.0, 0.5])).unwrap();
    let side = |sign: f64| {
        let cut = Shape::half_space(Vector::from([sign, 0.3 * sign]), 0.2 * sign).unwrap();
        whole.clone().intersection(cut).moments(200).unwrap()
    };
    let sum = side(1.0).combined(&side(-1.0));
    let exact = whole.moments(8).unwrap();
    assert!((sum.volume - exact.volume).abs() < 1e-4 && (sum.second - exact.second).norm() < 1e-4);
}

#[test]
fn combinations_have_the_right_sign_and_are_bounds() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let a = Shape::<3>::ball(0.6).unwrap();
    let b = Shape::cuboid(Vector::repeat(0.4)).unwrap().translated(Vector::from([0.5, 0.1, 0.0])).unwrap();
    let all = [
        (a.clone().union(b.clone()), 0),
        (a.clone().intersection(b.clone()), 1),
        (a.clone().difference(b.clone()), 2),
    ];
    let smooth = a.clone().smooth_union(b.clone(), 0.2).unwrap();
    for _ in 0..2000 {
        let (p, q) = (random_point::<3>(&mut rng, 1.2), random_point::<3>(&mut rng, 1.2));
        let (in_a, in_b) = (a.contains(&p), b.contains(&p));
        for (shape, kind) in &all {
            let expected = [in_a || in_b, in_a && in_b, in_a && !in_b][*kind];
            assert_eq!(shape.contains(&p), expected);
            // 1-Lipschitz: never more than the true distance.
            let change = shape.signed_distance(&p) - shape.signed_distance(&q);
            assert!(change.abs() <= (p - q).norm() + 1e-12);
            assert!(!shape.contains(&p) || shape.bounds().contains(&p));
        }
        let blend = smooth.signed_distance(&p);
        let sharp = all[0].0.signed_distance(&p);
        assert!(blend <= sharp && blend >= sharp - 0.05 - 1e-15);
        assert!(!smooth.contains(&p) || smooth.bounds().contains(&p));
    }
}

#[test]
fn parts_that_are_far_away_do_not_change_a_union() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let parts: Vec<Shape<3>> = (0..6)
        .map(|k| {
            let radii = Vector::from_fn(|a, _| 0.1 + 0.07 * ((3 * k + a) % 5) as f64);
            let place = random_point::<3>(&mut rng, 1.0);
            Shape::ellipsoid(radii).unwrap().translated(place).unwrap()
        })
        .collect();
    let all = parts.iter().cloned().reduce(|all, part| all.union(part)).unwrap();
    for _ in 0..5000 {
        let p = random_point::<3>(&mut rng, 1.5);
        let nearest = parts.iter().map(|part| part.signed_distance(&p)).fold(f64::INFINITY, f64::min);
        assert_eq!(all.signed_distance(&p), nearest);
    }
}

#[test]
fn sizes_that_make_no_solid_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Shape::<2>::ball(bad).is_err());
        assert!(Shape::<3>::cuboid(Vector::from([1.0, bad, 1.0])).is_err());
        assert!(Shape::<3>::capsule(0.1, bad).is_err());
        assert!(Shape::<3>::ellipsoid(Vector::from([1.0, 1.0, bad])).is_err());
        assert!(Shape::<3>::ball(1.0).unwrap().scaled(bad).is_err());
        assert!(Shape::<3>::prism(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], bad).is_err());
    }
    assert!(matches!(Shape::<3>::torus(0.5, 0.5), Err(ShapeError::Spindle { .. })));
    assert!(matches!(Shape::<2>::rounded_cuboid(Vector::repeat(0.1), 0.2), Err(ShapeError::Rounding { .. })));
    assert!(Shape::<2>::half_space(Vector::zeros(), 1.0).is_err());
    let error = Shape::<3>::ball(-1.0).unwrap_err().to_string();
    assert_eq!(error, "the radius of a ball is -1 m; it must be a positive finite number");
    for (points, word) in [
        (vec![[0.0, 0.0], [1.0, 1.0]], "at least 3"),
        (vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], "crosses"),
        (vec![[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], "crosses"),
        (vec![[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], "twice"),
        (vec![[0.0, 0.0], [1.0, f64::NAN], [0.0, 1.0]], "not finite"),
    ] {
        let error = Shape::<2>::prism(points, 1.0).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    assert_eq!(Shape::<3>::half_space(Vector::x(), 0.0).unwrap().moments(8), Err(ShapeError::Unbounded));
}

#[test]
fn a_shape_survives_storage_and_is_checked_when_read() {
    let shape =
        Shape::<3>::ball(0.6).unwrap().placed(tilted()).unwrap().difference(Shape::torus(0.5, 0.1).unwrap());
    let bytes = postcard::to_stdvec(&shape).unwrap();
    let read: Shape<3> = postcard::from_bytes(&bytes).unwrap();
    let p = Vector::from([0.3, 0.2, 0.5]);
    assert!((read.signed_distance(&p) - shape.signed_distance(&p)).abs() < 1e-15);
    let bad = postcard::to_stdvec(&Node::<3>::Ball { radius: -1.0 }).unwrap();
    assert!(postcard::from_bytes::<Shape<3>>(&bad).is_err());
}
