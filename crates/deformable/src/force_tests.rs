//! Springs and bending against the contract.

use crate::testing::*;
use crate::*;
use splashdown_geometry::generate::{CubeSplit, Diagonals, box_tetrahedra, sheet};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

fn flat<const D: usize>(points: &[Vector<D>]) -> Vec<f64> {
    points.iter().flat_map(|x| x.iter().copied()).collect()
}

fn check<const D: usize>(force: &mut dyn Force<D>, rest: &[f64], noise: f64, exact_stiffness: bool) {
    let mut random = TestNumbers::new(31);
    for _ in 0..3 {
        let x: Vec<f64> = rest.iter().map(|x| x + noise * random.uniform(-1.0, 1.0)).collect();
        let d = random.vector(x.len());
        if force.is_conservative() {
            let error = energy_gradient_error(force, &x, &d, 1e-6).unwrap();
            assert!(error < 1e-7, "{}: {error:e}", force.name());
        }
        if exact_stiffness {
            let error = stiffness_error(force, &x, &d, 1e-6).unwrap();
            assert!(error < 1e-6, "{}: {error:e}", force.name());
        }
        force.update(&x).unwrap();
        for positive in [false, true] {
            let [k, damping] = matrix_errors(force, &d, positive);
            assert!(k < 1e-12 && damping < 1e-12, "{}: {k:e} {damping:e}", force.name());
        }
        assert!(factor_error(force, &d, 0.02) < 1e-12, "{}", force.name());
        let w = random.vector(force.damping_rows());
        assert!(!w.is_empty() && adjoint_error(force, &d, &w, 0.02) < 1e-12, "{}", force.name());
        let f = elastic_force(force, &x).unwrap();
        let scale: f64 = f.iter().map(|f| f.abs()).sum();
        let mut sum = Vector::<D>::zeros();
        let mut torque = 0.0;
        for (x, f) in x.chunks_exact(D).zip(f.chunks_exact(D)) {
            sum += Vector::<D>::from_column_slice(f);
            torque += x[0] * f[1] - x[1] * f[0];
        }
        assert!(
            sum.norm() < 1e-12 * scale && torque.abs() < 1e-12 * scale,
            "{}: {sum} {torque}",
            force.name()
        );
    }
}

#[test]
fn edge_springs_keep_the_contract() {
    let mesh =
        sheet(Vector::<3>::zeros(), Vector::<3>::x(), Vector::<3>::y(), [3, 3], Diagonals::Alternating)
            .unwrap();
    let inverse = vec![2.0; mesh.points.len()];
    let spring = |ends: [u32; 2]| {
        let rest = (mesh.points[ends[0] as usize] - mesh.points[ends[1] as usize]).norm();
        EdgeSpring::with_modulus(ends, 5.0, 0.3, rest, &inverse)
    };
    let springs: Vec<EdgeSpring> = mesh.edges().into_iter().chain(bending_pairs(&mesh)).map(spring).collect();
    let mut force = EdgeSprings::<3>::new("springs", &springs);
    check(&mut force, &flat(&mesh.points), 0.1, true);
}

#[test]
fn bending_keeps_the_contract_and_its_modes_are_the_gradient_of_the_angle() {
    let mesh =
        sheet(Vector::<3>::zeros(), Vector::<3>::x(), Vector::<3>::y(), [3, 2], Diagonals::Alternating)
            .unwrap();
    for model in [BendingModel::DiscreteShells, BendingModel::SineHalfAngle] {
        check(&mut Bending::new(&mesh, 0, model, 0.7, 0.1), &flat(&mesh.points), 0.1, false);
    }
    let mut random = TestNumbers::new(2);
    for _ in 0..100 {
        let x: [Vector<3>; 4] = std::array::from_fn(|_| Vector::from_fn(|_, _| random.uniform(-1.0, 1.0)));
        let Some((angle, modes)) = hinge_modes(&x, 0.1) else { continue };
        if angle.abs() > 3.0 {
            continue;
        }
        let (mut sum, mut torque) = (Vector::<3>::zeros(), Vector::<3>::zeros());
        for (x, u) in x.iter().zip(&modes) {
            sum += u;
            torque += x.cross(u);
        }
        assert!(
            sum.norm() < 1e-12 * modes[0].norm() * 10.0 && torque.norm() < 1e-11 * modes[0].norm() * 10.0
        );
        for node in 0..4 {
            for axis in 0..3 {
                let at = |h: f64| {
                    let mut moved = x;
                    moved[node][axis] += h;
                    hinge_modes(&moved, 0.0).unwrap().0
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope + modes[node][axis]).abs() < 1e-6 * (1.0 + modes[node].norm()));
            }
        }
    }
}

#[test]
fn altitude_springs_keep_the_contract_and_push_through_inversion() {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [1, 1, 1], CubeSplit::Five).unwrap();
    let nodes: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rest = flat(&mesh.points);
    let mut force = AltitudeSprings::<3>::new(nodes, &rest, &[1.0; 8], 10.0, 2.0, Altitudes::All);
    check(&mut force, &rest, 0.05, false);
    let mesh =
        sheet(Vector::<2>::zeros(), Vector::<2>::x(), Vector::<2>::y(), [2, 2], Diagonals::Forward).unwrap();
    let nodes: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rest = flat(&mesh.points);
    for which in [Altitudes::All, Altitudes::Shortest] {
        let mut force = AltitudeSprings::<2>::new(nodes.clone(), &rest, &[1.0; 9], 10.0, 2.0, which);
        check(&mut force, &rest, 0.05, false);
        // Mirrored, every altitude is negative and pushes with more than twice the modulus.
        let mirrored: Vec<f64> = rest.chunks_exact(2).flat_map(|x| [-x[0], x[1]]).collect();
        force.update(&mirrored).unwrap();
        assert!(force.energy() > 0.0);
        let f = elastic_force(&mut force, &mirrored).unwrap();
        assert!(f.iter().any(|f| f.abs() > 10.0));
    }
}

#[test]
fn springs_and_hinges_flow_and_come_back_from_a_snapshot() {
    let spring = EdgeSpring { ends: [0, 1], stiffness: 1.0, damping: 0.0, rest: 1.0 };
    let law = SpringPlasticity { yield_strain: 0.1, hardening: 0.0, limit: 2.0 };
    let mut force = EdgeSprings::<3>::new("springs", &[spring]).with_plasticity(law);
    let stretched = [0.0, 0.0, 0.0, 1.5, 0.0, 0.0];
    force.update(&stretched).unwrap();
    assert!(force.flow(&stretched));
    assert!((force.rest_lengths()[0] - 1.5 / 1.1).abs() < 1e-12);
    let mut other = EdgeSprings::<3>::new("springs", &[spring]).with_plasticity(law);
    assert!(other.restore(&force.history()) && other.rest_lengths() == force.rest_lengths());

    let mesh =
        sheet(Vector::<3>::zeros(), Vector::<3>::x(), Vector::<3>::y(), [1, 1], Diagonals::Forward).unwrap();
    let mut bending = Bending::new(&mesh, 0, BendingModel::DiscreteShells, 1.0, 0.0)
        .with_plasticity(BendingPlasticity { yield_angle: 0.2, hardening: 0.0 });
    let mut folded = flat(&mesh.points);
    folded[3 + 2] += 0.5;
    bending.update(&folded).unwrap();
    let angle = bending.angles().next().unwrap();
    assert!(angle.abs() > 0.3 && bending.flow(&folded));
    assert!((bending.rest_angles()[0].abs() - (angle.abs() - 0.2)).abs() < 1e-12);
}

#[test]
fn ties_keep_the_contract() {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [2; 3], CubeSplit::Five).unwrap();
    let first = mesh.points.len() as u32;
    let rest: Vec<f64> =
        flat(&mesh.points).into_iter().chain([0.2, 0.3, 0.4, 0.7, 0.5, 0.1, 0.9, 0.9, 0.9]).collect();
    let ties: Vec<Tie> = (0..3)
        .map(|n| {
            let corners = mesh.elements[5 * n as usize];
            let to = corners.iter().copied().zip([0.1, 0.2, 0.3, 0.4]).collect();
            Tie { particle: first + n, to, stiffness: 3.0 + f64::from(n), damping: 0.2 }
        })
        .collect();
    check(&mut Ties::<3>::new("ties", &ties), &rest, 0.1, true);
}

/// Spec DS-27: with slack an altitude acts only beyond it, and its force and energy begin at zero there.
#[test]
fn altitudes_with_slack_push_only_beyond_it() {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [1, 1, 1], CubeSplit::Five).unwrap();
    let nodes: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rest = flat(&mesh.points);
    let build = || AltitudeSprings::<3>::new(nodes.clone(), &rest, &[1.0; 8], 10.0, 2.0, Altitudes::All);
    let mut force = build().with_slack(0.1);
    let largest = |force: &mut AltitudeSprings<3>, scale: f64| {
        let x: Vec<f64> = rest.iter().map(|x| scale * x).collect();
        let f = elastic_force(force, &x).unwrap();
        f.iter().fold(0.0, |most: f64, f| most.max(f.abs()))
    };
    for scale in [0.91, 1.0, 1.3] {
        assert_eq!(largest(&mut force, scale), 0.0, "{scale}");
        assert_eq!(force.energy(), 0.0);
    }
    // At 0.7 the springs of 0.9 are compressed by 0.2 of their rest lengths, those without slack by 0.3.
    let ratio = largest(&mut force, 0.7) / largest(&mut build(), 0.7);
    assert!((ratio - 2.0 / 3.0).abs() < 1e-12, "{ratio}");
    let squashed: Vec<f64> = rest.iter().map(|x| 0.7 * x).collect();
    check(&mut force, &squashed, 0.02, false);
}
