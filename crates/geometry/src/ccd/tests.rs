use super::*;
use crate::simplex::combine;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A motion that passes through given corners at time `t`, in exact arithmetic when all numbers are short binary fractions.
fn through<const D: usize, const N: usize>(
    corners: [Vector<D>; N],
    velocity: [Vector<D>; N],
    t: f64,
) -> Motion<D, N> {
    Motion {
        start: std::array::from_fn(|i| corners[i] - velocity[i] * t),
        end: std::array::from_fn(|i| corners[i] + velocity[i] * (1.0 - t)),
    }
}

/// A multiple of 1/16 in [-1, 1].
fn short<const D: usize>(rng: &mut Pcg64) -> Vector<D> {
    Vector::from_fn(|_, _| f64::from(rng.random_range(-16..=16)) / 16.0)
}

/// Weights that are multiples of 1/16, often zero.
fn short_weights<const N: usize>(rng: &mut Pcg64) -> [f64; N] {
    let mut weights = [0.0; N];
    for _ in 0..16 {
        weights[rng.random_range(0..N)] += 1.0 / 16.0;
        if rng.random_bool(0.1) {
            let keep = rng.random_range(0..N);
            let sum: f64 = weights.iter().sum();
            weights = [0.0; N];
            weights[keep] = sum;
        }
    }
    weights
}

/// Two simplices that meet exactly at a known time.
fn meeting<const D: usize, const NA: usize, const NB: usize>(
    rng: &mut Pcg64,
) -> (Motion<D, NA>, Motion<D, NB>, f64) {
    let t = f64::from(rng.random_range(0..=16)) / 16.0;
    let (weights_a, weights_b) = (short_weights::<NA>(rng), short_weights::<NB>(rng));
    let mut a: [Vector<D>; NA] = std::array::from_fn(|_| short(rng));
    let b: [Vector<D>; NB] = std::array::from_fn(|_| short(rng));
    // Shift a so that the weighted points coincide.
    let weighted = |x: &[Vector<D>], w: &[f64]| x.iter().zip(w).map(|(x, &w)| x * w).sum::<Vector<D>>();
    let shift = weighted(&b, &weights_b) - weighted(&a, &weights_a);
    a.iter_mut().for_each(|x| *x += shift);
    let flat = rng.random_bool(0.1);
    let mut velocity = || {
        let mut v = short::<D>(rng);
        if flat {
            v[D - 1] = 0.0;
        }
        v
    };
    let (va, vb) = (std::array::from_fn(|_| velocity()), std::array::from_fn(|_| velocity()));
    let (mut a, mut b) = (through(a, va, t), through(b, vb, t));
    if flat {
        for x in a.start.iter_mut().chain(&mut a.end).chain(&mut b.start).chain(&mut b.end) {
            x[D - 1] = 0.0;
        }
    }
    (a, b, t)
}

fn found_when_they_meet<const D: usize, const NA: usize, const NB: usize>(count: usize, seed: u64) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let options = CcdOptions::default();
    for _ in 0..count {
        let (a, b, t) = meeting::<D, NA, NB>(&mut rng);
        let contact = first_contact(&a, &b, &options);
        let Some(contact) = contact else { panic!("missed a contact at {t}: {a:?} {b:?}") };
        assert!(contact.time <= t, "too late: {} instead of {t}: {a:?} {b:?}", contact.time);
        let gap = combine(&a.at(contact.time), &contact.weights_a)
            - combine(&b.at(contact.time), &contact.weights_b);
        assert!(gap.norm() < 1e-8, "not a contact: {contact:?} {a:?} {b:?}");
        // No normal only where the two coincide in a point and rest.
        assert!((contact.normal.norm() - 1.0).abs() < 1e-12 || contact.distance == 0.0);
    }
}

#[test]
fn contacts_known_by_construction_are_never_missed() {
    found_when_they_meet::<3, 1, 3>(20_000, 1);
    found_when_they_meet::<3, 2, 2>(20_000, 2);
    found_when_they_meet::<2, 1, 2>(20_000, 3);
    found_when_they_meet::<3, 1, 1>(2_000, 4);
    found_when_they_meet::<3, 1, 2>(2_000, 5);
}

#[test]
fn a_point_that_falls_on_a_triangle_hits_it_at_the_exact_time() {
    let p = |x: f64, y: f64, z: f64| Vector::from([x, y, z]);
    let rest = [p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 1.0, 0.0)];
    let triangle = Motion { start: rest, end: rest };
    let point = Motion { start: [p(0.25, 0.5, 1.0)], end: [p(0.25, 0.5, -1.0)] };
    let contact = point_triangle(&point, &triangle, &CcdOptions::default()).unwrap();
    assert!(contact.time <= 0.5 && contact.time > 0.5 - 1e-8);
    assert!((contact.normal - p(0.0, 0.0, 1.0)).norm() < 1e-7);
    assert!((contact.weights_b[1] - 0.25).abs() < 1e-8 && (contact.weights_b[2] - 0.5).abs() < 1e-8);
    // With a thickness of 0.2 it arrives earlier.
    let thick =
        point_triangle(&point, &triangle, &CcdOptions { separation: 0.2, ..Default::default() }).unwrap();
    assert!((thick.time - 0.4).abs() < 1e-8 && (thick.distance - 0.2).abs() < 1e-8);
    // It stops just above, or passes beside the triangle.
    let above = Motion { start: point.start, end: [p(0.25, 0.5, 1e-6)] };
    assert_eq!(point_triangle(&above, &triangle, &CcdOptions::default()), None);
    let beside = Motion { start: [p(0.5 + 1e-6, 0.5, 1.0)], end: [p(0.5 + 1e-6, 0.5, -1.0)] };
    assert_eq!(point_triangle(&beside, &triangle, &CcdOptions::default()), None);
}

#[test]
fn the_answer_does_not_depend_on_place_or_scale() {
    let mut rng = Pcg64::seed_from_u64(6);
    for _ in 0..2000 {
        let (a, b, _) = meeting::<3, 2, 2>(&mut rng);
        let reference = edge_edge(&a, &b, &CcdOptions::default()).unwrap();
        for (scale, shift) in
            [(2f64.powi(400), 0.0), (2f64.powi(-400), 0.0), (1.0, 2f64.powi(30)), (2f64.powi(-1060), 0.0)]
        {
            let place = |m: &Motion<3, 2>| Motion {
                start: m.start.map(|x| (x * scale).add_scalar(shift)),
                end: m.end.map(|x| (x * scale).add_scalar(shift)),
            };
            let moved = edge_edge(&place(&a), &place(&b), &CcdOptions::default()).unwrap();
            if scale > 2f64.powi(-1000) {
                assert_eq!((moved.time, moved.weights_a), (reference.time, reference.weights_a));
            }
        }
    }
}

#[test]
fn near_misses_of_a_hinge_take_few_steps() {
    // The triangle turns about a line next to which the point rests, at a distance far below its size; the far corner is fast.
    let p = |x: f64, y: f64, z: f64| Vector::from([x, y, z]);
    for gap in [1e-2, 1e-4, 1e-6, 1e-8] {
        let start = [p(0.0, -1.0, 0.0), p(0.0, 1.0, 0.0), p(1.0, 0.0, 0.0)];
        let end = [start[0], start[1], p(-1.0, 0.0, 1.0)];
        let triangle = Motion { start, end };
        let rest = [p(-gap, 0.0, -gap)];
        let point = Motion { start: rest, end: rest };
        assert_eq!(point_triangle(&point, &triangle, &CcdOptions::default()), None, "gap {gap}");
    }
}

#[test]
fn touching_at_the_very_start_and_the_very_end() {
    let p = |x: f64, y: f64| Vector::from([x, y]);
    let rest = [p(-1.0, 0.0), p(1.0, 0.0)];
    let segment = Motion { start: rest, end: rest };
    let leaving = Motion { start: [p(0.0, 0.0)], end: [p(0.0, 1.0)] };
    assert_eq!(point_segment(&leaving, &segment, &CcdOptions::default()).unwrap().time, 0.0);
    let arriving = Motion { start: [p(0.0, 1.0)], end: [p(0.0, 0.0)] };
    let contact = point_segment(&arriving, &segment, &CcdOptions::default()).unwrap();
    assert!(contact.time <= 1.0 && contact.time > 1.0 - 1e-8);
    assert_eq!(contact.normal, p(0.0, 1.0));
    let still = Motion { start: [p(0.0, 0.5)], end: [p(0.0, 0.5)] };
    assert_eq!(point_segment(&still, &segment, &CcdOptions::default()), None);
    let broken = Motion { start: [p(0.0, f64::NAN)], end: [p(0.0, 0.5)] };
    assert_eq!(point_segment(&broken, &segment, &CcdOptions::default()).unwrap().time, 0.0);
}
