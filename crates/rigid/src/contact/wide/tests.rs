//! Four manifolds at once are solved as one by one.

use super::block::{Block, POINTS};
use super::lanes::{LANES, Lane, Portable, Record};
use super::layout::{Layout, Patch};
use crate::contact::InverseInertia;
use crate::contact::manifold::{Impulses, Limits, Manifold, Sums};
use proptest::prelude::*;
use splashdown_math::{Dim, Space, Twist, Vector};

/// A patch of four points between two bodies of random mass and motion.
struct Case {
    inverse: [InverseInertia<3>; 2],
    twists: [Twist<3>; 2],
    centres: [Vector<3>; 2],
    normal: Vector<3>,
    points: [Vector<3>; POINTS],
    bias: [f64; POINTS],
}

fn case(numbers: &[f64]) -> Case {
    let vector = |k: usize| Vector::<3>::from_column_slice(&numbers[k..k + 3]);
    let normal = (vector(0) + Vector::from([0.0, 1.7, 0.0])).normalize();
    let inverse = [0, 1].map(|k| {
        let moments = vector(3 + 3 * k).map(|x| 2.0 + x);
        let turn = Dim::<3>::exp(&vector(9));
        InverseInertia {
            mass: 1.5 + numbers[12 + k],
            inertia: Dim::<3>::rotate_inertia(&turn, &Dim::<3>::inertia_from_principal(moments.as_slice())),
        }
    });
    let twists = [0, 1].map(|k| Twist::<3>::read(&numbers[14 + 6 * k..]) * 2.0);
    let flat = |v: Vector<3>| v - normal * normal.dot(&v);
    let points = [0, 1, 2, 3].map(|k| flat(vector(26 + 3 * k)));
    let centres = [normal * 0.6 + vector(38) * 0.2, normal * -0.5 + vector(41) * 0.2];
    let bias = [0, 1, 2, 3].map(|k| 0.2 * (1.0 + numbers[44 + k]));
    Case { inverse, twists, centres, normal, points, bias }
}

fn record(numbers: [f64; 8]) -> Record {
    let [a, b, c, d, e, f, g, h] = numbers;
    Record([[a, b, c, d], [e, f, g, h]])
}

proptest! {
    /// Manifolds that share a body that responds (not 0) come one after another in their order.
    #[test]
    fn blocks_keep_the_order_of_manifolds(bodies in prop::collection::vec([0..12u32, 0..12u32], 1..120)) {
        let bodies: Vec<[u32; 2]> = bodies.into_iter().filter(|[a, b]| a != b).collect();
        let patches = bodies.iter().enumerate().map(|(k, &bodies)| Patch { bodies, contact: k as u32, points: 1 });
        let (mut layout, mut blocks) = (Layout::default(), Vec::<Block>::new());
        layout.begin(12);
        layout.append(&mut blocks, patches, 12, |body| body == 0);
        let mut at = vec![usize::MAX; bodies.len()];
        for (k, block) in blocks.iter().enumerate() {
            for lane in (0..LANES).filter(|&lane| block.points[lane] > 0) {
                at[block.contact[lane] as usize] = k;
                prop_assert_eq!([block.bodies[0][lane], block.bodies[1][lane]], bodies[block.contact[lane] as usize]);
            }
        }
        for (j, own) in bodies.iter().enumerate() {
            prop_assert!(at[j] < blocks.len());
            for (i, other) in bodies[..j].iter().enumerate() {
                if own.iter().any(|body| *body != 0 && other.contains(body)) {
                    prop_assert!(at[i] < at[j]);
                }
            }
        }
    }

    #[test]
    fn lanes_are_solved_as_manifolds_are(numbers in prop::collection::vec(-1.0..1.0f64, 4 * 48)) {
        let limits = Limits { friction: 0.25, rolling: 0.0, spinning: 0.0 };
        let cases: Vec<Case> = numbers.chunks(48).map(case).collect();
        let mut block = Block::default();
        let (mut inverse, mut twists) = (Vec::new(), Vec::new());
        let (mut points, mut centres) = ([[[0.0; LANES]; 3]; POINTS], [[[0.0; LANES]; 3]; 2]);
        let mut manifolds: Vec<(Manifold<3>, Impulses)> = Vec::new();
        for (lane, case) in cases.iter().enumerate() {
            for side in 0..2 {
                block.bodies[side][lane] = inverse.len() as u32;
                block.responding[side][lane] = inverse.len() as u32;
                let e = |r: usize, c: usize| case.inverse[side].inertia[(r, c)];
                let mass = case.inverse[side].mass;
                inverse.push(record([e(0, 0), e(0, 1), e(0, 2), e(1, 1), e(1, 2), e(2, 2), mass, 0.0]));
                let (v, w) = (case.twists[side].linear, case.twists[side].angular);
                twists.push(record([v[0], v[1], v[2], 0.0, w[0], w[1], w[2], 0.0]));
            }
            let mut manifold = Manifold::<3>::new([0, 1], 0, POINTS, &case.normal, limits);
            let centre = case.points.iter().sum::<Vector<3>>() * 0.25;
            manifold.arms = case.centres.map(|at| centre - at);
            let mut square = 0.0;
            for k in 0..POINTS {
                manifold.set_point(k, &(case.points[k] - centre), case.bias[k]);
                square += manifold.levers[k] * manifold.levers[k];
                block.bias[k][lane] = case.bias[k];
                for axis in 0..3 {
                    points[k][axis][lane] = case.points[k][axis];
                    block.normal[axis][lane] = manifold.axes[(axis, 0)];
                    block.tangent[axis][lane] = manifold.axes[(axis, 1)];
                    centres[0][axis][lane] = case.centres[0][axis];
                    centres[1][axis][lane] = case.centres[1][axis];
                }
            }
            manifold.lever = (square * 0.25).sqrt();
            prop_assert!(manifold.set_matrix([&case.inverse[0], &case.inverse[1]]));
            manifolds.push((manifold, [0.0; _]));
            block.coefficient[lane] = 0.25;
            block.points[lane] = POINTS as u32;
        }
        block.place::<Portable>(&points, &centres);
        block.set_response::<Portable>(&inverse);
        for _ in 0..6 {
            let mut largest = Portable::zero();
            block.relax(&inverse, &mut twists, &mut largest);
        }
        let contacts = block.spread::<Portable>();
        for (lane, (case, (manifold, impulses))) in cases.iter().zip(&mut manifolds).enumerate() {
            let [mut a, mut b] = case.twists;
            for _ in 0..6 {
                let mut local = manifold.relative(&a, &b);
                let push = manifold.relax(impulses, &mut local, &mut Sums::default());
                manifold.apply(&push, [&case.inverse[0], &case.inverse[1]], &mut a, &mut b);
            }
            for (side, expected) in [a, b].iter().enumerate() {
                let [[vx, vy, vz, _], [wx, wy, wz, _]] = twists[2 * lane + side].0;
                let difference = Twist::<3>::read(&[vx, vy, vz, wx, wy, wz]) - *expected;
                prop_assert!(difference.dot(&difference).sqrt() < 1e-4, "{difference:?}");
            }
            let mut total = Vector::<3>::zeros();
            for k in 0..POINTS {
                prop_assert!((block.loads[k][lane] - impulses[k]).abs() < 1e-4);
                total += Vector::from([0, 1, 2].map(|axis| contacts[k][axis][lane]));
            }
            let (force, _) = manifold.push(&manifold.gather(impulses));
            prop_assert!((total - force).norm() < 1e-4);
        }
    }
}
