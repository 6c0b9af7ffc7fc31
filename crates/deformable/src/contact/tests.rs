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

/// Spec E19: repulsions between two boxes that collide off centre keep linear and, without friction, angular momentum.
#[test]
fn repulsions_between_colliding_boxes_keep_momentum() {
    use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
    let block = |x: f64, y: f64, z: f64| {
        let lower = Vector::<3>::new(x, y, z);
        box_tetrahedra(lower, lower + Vector::repeat(0.4), [2; 3], CubeSplit::Five).unwrap()
    };
    let mut mesh = block(0.0, 0.0, 0.0);
    let other = block(0.13, 0.405, -0.11);
    let first = mesh.points.len() as u32;
    mesh.points.extend(other.points);
    mesh.elements.extend(other.elements.iter().map(|element| element.map(|node| node + first)));
    let around = mesh.boundary().unwrap();
    let faces = around.mesh.elements.iter().map(|face| face.map(|point| around.points[point as usize]));
    let surface = ContactSurface::<3>::new(faces.collect());
    let x: Vec<f64> = mesh.points.iter().flat_map(|x| x.iter().copied()).collect();
    let apart: Vec<f64> =
        x.iter().enumerate().map(|(at, x)| x + f64::from(u8::from(at >= 3 * first as usize))).collect();
    let mut random = TestNumbers::new(12);
    let inverse: Vec<f64> = (0..mesh.points.len()).map(|_| 1.0 / random.uniform(0.2, 3.0)).collect();
    let momenta = |v: &[f64]| {
        let (mut linear, mut angular, mut size) = (Vector::<3>::zeros(), Vector::<3>::zeros(), 0.0);
        for (node, inverse) in inverse.iter().enumerate() {
            let p = Vector::<3>::from_column_slice(&v[3 * node..][..3]) / *inverse;
            linear += p;
            angular += Vector::<3>::from_column_slice(&x[3 * node..][..3]).cross(&p);
            size += p.norm();
        }
        (linear, angular, size)
    };
    for friction in [0.0, 0.6] {
        let options = SelfContactOptions { thickness: 0.02, friction, ..SelfContactOptions::default() };
        let mut contact = SelfContact::new(surface.clone(), &apart, options);
        contact.find_pairs(&x);
        assert!(contact.pairs().len() > 20);
        let start: Vec<f64> = (0..x.len())
            .map(|at| {
                let up = if at < 3 * first as usize { 1.0 } else { -1.0 };
                random.uniform(-0.3, 0.3) + if at % 3 == 1 { up } else { 0.0 }
            })
            .collect();
        for elastic in [false, true] {
            let mut v = start.clone();
            contact.repel(&mut Response::new(&inverse, None), &x, &mut v, 1e-3, elastic);
            let ((p, l, size), (p_after, l_after, _)) = (momenta(&start), momenta(&v));
            assert!(v.iter().zip(&start).any(|(a, b)| (a - b).abs() > 0.1));
            assert!((p - p_after).norm() < 1e-14 * size, "{friction} {elastic}");
            if friction == 0.0 {
                assert!((l - l_after).norm() < 1e-14 * size, "{elastic}: {l:?} {l_after:?}");
            }
        }
    }
}

/// A point above a triangle, with the contact of both.
fn point_and_face(friction: f64) -> (SelfContact<3>, Vec<f64>) {
    let x =
        vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.3, 0.3, 0.005, 0.3, 0.31, 1.0, 0.31, 0.3, 1.0];
    let surface = ContactSurface::<3>::new(vec![[0, 1, 2], [3, 4, 5]]);
    let mut rest = x.clone();
    rest[11] = 0.5;
    let options = SelfContactOptions { thickness: 0.01, friction, continuous: false, ..Default::default() };
    (SelfContact::new(surface, &rest, options), x)
}

/// Spec DS-41: a pair remembers its side, also by way of a checkpoint: what has slipped through is pushed back to where it came from, not out on the other side.
#[test]
fn pairs_remember_the_side_that_they_were_on() {
    let (mut contact, x) = point_and_face(0.0);
    let inverse = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    contact.find_pairs(&x);
    assert_eq!(contact.pairs().len(), 1);
    let mut through = x.clone();
    through[11] = -0.003;
    let pushed = |contact: &mut SelfContact<3>| {
        contact.find_pairs(&through);
        let mut v = vec![0.0; 18];
        contact.repel(&mut Response::new(&inverse, None), &through, &mut v, 1e-3, true);
        v[11]
    };
    let (mut fresh, _) = point_and_face(0.0);
    assert!(fresh.restore(&contact.history()));
    let (mut blank, _) = point_and_face(0.0);
    let own = pushed(&mut contact);
    assert!(own > 0.0, "{own}");
    assert_eq!(pushed(&mut fresh), own, "a checkpoint holds the sides");
    assert!(pushed(&mut blank) < 0.0, "without them it would be pushed through");
    assert!(!blank.restore(&[0.0; 7]));
}

/// Friction of repulsions takes at most its coefficient times the stopped approach from the slip, and no more than all of it.
#[test]
fn repulsions_rub_by_coulombs_law() {
    let inverse = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    for (friction, slip, left) in [(0.3, 2.0, 1.7), (0.3, 0.2, 0.0), (0.0, 2.0, 2.0)] {
        let (mut contact, x) = point_and_face(friction);
        contact.find_pairs(&x);
        let mut v = vec![0.0; 18];
        (v[9], v[11]) = (slip, -1.0);
        contact.repel(&mut Response::new(&inverse, None), &x, &mut v, 1e-3, false);
        assert!(
            (v[9] - left).abs() < 1e-12 && v[10].abs() < 1e-12 && v[11].abs() < 1e-12,
            "{friction}: {v:?}"
        );
    }
}

/// Distances and directions of pairs that are found in two steps are those that are found in one, apart, crossing and touching.
#[test]
fn nearest_points_with_their_direction_are_the_gap() {
    let mut random = TestNumbers::new(12);
    for round in 0..2000 {
        let mut x = random.vector(12);
        match round % 4 {
            1 => (0..3).for_each(|axis| x[axis] = x[9 + axis]),
            2 => (0..3).for_each(|axis| x[3 + axis] = x[axis] + 1e-6 * x[3 + axis]),
            3 => (0..3).for_each(|axis| x[9 + axis] = x[6 + axis] + x[3 + axis] - x[axis]),
            _ => {}
        }
        for kind in [PairKind::PointFace, PairKind::EdgeEdge] {
            let whole = pairs::gap::<3>(kind, &[0, 1, 2, 3], &x);
            let nearest = pairs::Nearest::of::<3>(kind, &[0, 1, 2, 3], &x);
            let again = nearest.gap::<3>(kind, &[0, 1, 2, 3], &x);
            assert!((nearest.distance - whole.distance).abs() < 1e-14);
            assert!((again.normal - whole.normal).norm() < 1e-12 && again.weights == whole.weights);
        }
    }
}
