use super::*;
use crate::generate::{box_surface, icosphere, loop_segments};
use std::f64::consts::PI;

fn closest_pair<const D: usize>(points: &[Vector<D>]) -> f64 {
    let mut closest = f64::INFINITY;
    for (i, a) in points.iter().enumerate() {
        for b in &points[..i] {
            closest = closest.min((a - b).norm());
        }
    }
    closest
}

#[test]
fn poisson_points_keep_their_distance_and_leave_no_room() {
    fn check<const D: usize>(distance: f64, jammed: f64) {
        // Two separate balls, which a front growing from one seed would not both reach.
        let centres = [Vector::<D>::repeat(-0.5), Vector::<D>::repeat(0.5)];
        let inside = |x: &Vector<D>| centres.iter().any(|c| (x - c).norm() < 0.45);
        let corner = Vector::<D>::repeat(1.0);
        let points = poisson_points(-corner, corner, distance, 7, inside).unwrap();
        assert!(points.iter().all(inside));
        assert!(closest_pair(&points) >= distance);
        // Share of the volume within half the distance of a point, away from the edge of the region: random sequential addition jams at 0.547 in the plane and
        // 0.384 in space (S. Torquato, O. Uche, F. Stillinger 2006).
        let ball = |r: f64| if D == 2 { PI * r * r } else { 4.0 / 3.0 * PI * r.powi(3) };
        let bulk = 0.45 - 2.0 * distance;
        let count = points.iter().filter(|x| centres.iter().any(|c| (*x - c).norm() < bulk)).count();
        let density = count as f64 * ball(0.5 * distance) / (2.0 * ball(bulk));
        assert!((0.96 * jammed..1.02 * jammed).contains(&density), "density {density} in {D}D");
        assert_eq!(points, poisson_points(-corner, corner, distance, 7, inside).unwrap());
        assert_ne!(points, poisson_points(-corner, corner, distance, 8, inside).unwrap());
    }
    check::<2>(0.02, 0.547);
    check::<3>(0.06, 0.384);
}

#[test]
fn jittered_points_are_stratified() {
    let (lower, upper) = (Vector::<3>::repeat(0.0), Vector::<3>::new(1.0, 0.5, 0.25));
    let points = jittered_points(lower, upper, 0.25, 2, 1.0, 3, |_| true).unwrap();
    assert_eq!(points.len(), 4 * 2 * 8);
    let mut parts: Vec<[i64; 3]> =
        points.iter().map(|x| std::array::from_fn(|axis| (x[axis] / 0.125).floor() as i64)).collect();
    parts.sort_unstable();
    parts.dedup();
    assert_eq!(parts.len(), points.len(), "one point in each part");
    // Without jitter: the middles of the parts. With a taller box the same points and more.
    let regular = jittered_points(lower, upper, 0.25, 2, 0.0, 3, |_| true).unwrap();
    assert!((regular[0] - Vector::<3>::repeat(0.0625)).norm() < 1e-15);
    let taller = jittered_points(lower, Vector::<3>::new(1.0, 0.5, 0.5), 0.25, 2, 1.0, 3, |_| true).unwrap();
    assert_eq!(taller[..points.len()], points);
    let half = jittered_points(lower, upper, 0.25, 2, 1.0, 3, |x| x.x < 0.5).unwrap();
    assert_eq!(half.len(), 32);
}

#[test]
fn surface_points_lie_on_the_surface_and_keep_their_distance() {
    let sphere = icosphere(Vector::<3>::zeros(), 1.0, 8).unwrap();
    let samples = surface_points(&sphere, 0.1, 11).unwrap();
    let points: Vec<_> = samples.iter().map(|s| s.point).collect();
    assert!(closest_pair(&points) >= 0.1);
    for s in &samples {
        let corners = sphere.corners(s.element as usize);
        let x: Vector<3> = corners.iter().zip(s.weights).map(|(c, w)| c * w).sum();
        assert!((x - s.point).norm() < 1e-14 && s.weights.iter().all(|w| *w >= 0.0));
    }
    let density = points.len() as f64 * PI * 0.0025 / (4.0 * PI);
    assert!((0.48..0.57).contains(&density), "density {density}");

    let circle: Vec<_> =
        (0..64).map(|i| f64::from(i) * PI / 32.0).map(|a| Vector::<2>::new(a.cos(), a.sin())).collect();
    let curve = loop_segments(circle).unwrap();
    let samples = surface_points(&curve, 0.05, 1).unwrap();
    // Random parking on a line fills 0.7476 of it (A. Renyi 1958).
    let density = samples.len() as f64 * 0.05 / (2.0 * PI);
    assert!((0.70..0.80).contains(&density), "density {density}");
}

#[test]
fn random_surface_points_are_uniform_by_area() {
    let surface = box_surface(Vector::<3>::zeros(), Vector::<3>::new(1.0, 2.0, 3.0), [1, 1, 1]).unwrap();
    let count = 40_000;
    let samples = random_surface_points(&surface, count, 5).unwrap();
    // The two faces of constant x have 12 of 22 square metres; three standard deviations of the binomial count.
    let on_x = samples.iter().filter(|s| s.point.x == 0.0 || s.point.x == 1.0).count() as f64;
    let p = 12.0 / 22.0;
    assert!((on_x - p * count as f64).abs() < 3.0 * (count as f64 * p * (1.0 - p)).sqrt(), "{on_x}");
    let mean: Vector<3> = samples.iter().map(|s| s.point).sum::<Vector<3>>() / count as f64;
    assert!((mean - Vector::<3>::new(0.5, 1.0, 1.5)).norm() < 0.02, "{mean}");
}

#[test]
fn impossible_requests_are_refused() {
    let (o, e) = (Vector::<2>::zeros(), Vector::<2>::repeat(1.0));
    assert!(matches!(poisson_points(o, e, 0.0, 0, |_| true), Err(SampleError::NotPositive { .. })));
    assert!(matches!(poisson_points(e, o, 0.1, 0, |_| true), Err(SampleError::BadBox { .. })));
    assert!(matches!(poisson_points(o, e, 1e-9, 0, |_| true), Err(SampleError::TooMany { .. })));
    assert!(matches!(jittered_points(o, e, 0.1, 0, 1.0, 0, |_| true), Err(SampleError::OutOfRange { .. })));
    assert!(matches!(
        jittered_points(o, e, 0.1, 1, f64::NAN, 0, |_| true),
        Err(SampleError::OutOfRange { .. })
    ));
    let empty = crate::mesh::TriangleMesh::<3> { points: vec![], elements: vec![] };
    assert!(matches!(surface_points(&empty, 0.1, 0), Err(SampleError::Surface(_))));
    let flat =
        crate::mesh::TriangleMesh::<3> { points: vec![Vector::<3>::zeros()], elements: vec![[0, 0, 0]] };
    assert!(matches!(surface_points(&flat, 0.1, 0), Err(SampleError::Surface(_))));
}
