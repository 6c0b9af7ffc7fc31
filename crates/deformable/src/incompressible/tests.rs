use super::*;
use splashdown_geometry::generate::{CubeSplit, Diagonals, box_tetrahedra, sheet};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

fn flat<const D: usize>(points: &[Vector<D>]) -> Vec<f64> {
    points.iter().flat_map(|x| x.iter().copied()).collect()
}

fn cube(cells: usize, split: CubeSplit) -> (Vec<u32>, Vec<f64>) {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [cells; 3], split).unwrap();
    (mesh.elements.iter().flatten().copied().collect(), flat(&mesh.points))
}

fn square(cells: usize) -> (Vec<u32>, Vec<f64>) {
    let mesh = sheet(
        Vector::<2>::zeros(),
        Vector::<2>::new(1.0, 0.0),
        Vector::<2>::new(0.0, 1.0),
        [cells; 2],
        Diagonals::Forward,
    )
    .unwrap();
    (mesh.elements.iter().flatten().copied().collect(), flat(&mesh.points))
}

fn shell(cells: usize) -> (Vec<u32>, Vec<f64>) {
    let mesh = sheet(
        Vector::<3>::zeros(),
        Vector::<3>::new(1.0, 0.0, 0.2),
        Vector::<3>::new(0.0, 1.0, 0.1),
        [cells; 2],
        Diagonals::Alternating,
    )
    .unwrap();
    (mesh.elements.iter().flatten().copied().collect(), flat(&mesh.points))
}

/// The identities (i) to (iv) of spec 3.2 at tangled positions (those of shells merely bent).
fn identities<const D: usize>(corners: usize, mesh: (Vec<u32>, Vec<f64>), noise: f64) {
    let (simplices, rest) = mesh;
    let mut random = TestNumbers::new(3);
    let mut rings = Rings::<D>::new(corners, &simplices, &rest).unwrap();
    let x: Vec<f64> = rest.iter().map(|x| x + random.uniform(-noise, noise)).collect();
    let v: Vec<f64> = rest.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
    let p: Vec<f64> = (0..rings.len()).map(|_| random.uniform(-1.0, 1.0)).collect();
    rings.update(&x);
    let mut rate = vec![0.0; rings.len()];
    rings.apply(&v, &mut rate);
    let mut push = vec![0.0; x.len()];
    rings.add_transpose(&p, &mut push);
    let scale: f64 = push.iter().map(|f| f.abs()).sum();

    // (iv) adjoint.
    let (left, right): (f64, f64) =
        (p.iter().zip(&rate).map(|(p, r)| p * r).sum(), push.iter().zip(&v).map(|(f, v)| f * v).sum());
    assert!((left - right).abs() < 1e-12 * scale, "{left} {right}");

    // (iii) neither resultant nor torque.
    let (mut sum, mut torque) = (Vector::<D>::zeros(), 0.0f64);
    let mut torques = [0.0; 3];
    for (x, f) in x.chunks_exact(D).zip(push.chunks_exact(D)) {
        sum += Vector::<D>::from_column_slice(f);
        for (axis, torque) in torques.iter_mut().enumerate() {
            let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
            if a < D && b < D {
                *torque += x[a] * f[b] - x[b] * f[a];
            }
        }
    }
    torque += torques.iter().map(|t| t.abs()).sum::<f64>();
    assert!(sum.norm() < 1e-12 * scale && torque < 1e-12 * scale, "{sum} {torque}");

    // (i) the derivative of the ring volumes, and the diagonal.
    let step = 1e-6;
    let volumes = |sign: f64| {
        let mut moved = rings.clone();
        moved.update(&x.iter().zip(&v).map(|(x, v)| x + sign * step * v).collect::<Vec<_>>());
        moved.ring_volumes()
    };
    for ((after, before), rate) in volumes(1.0).iter().zip(volumes(-1.0)).zip(&rate) {
        assert!(((after - before) / (2.0 * step) - rate).abs() < 1e-7, "{rate}");
    }
    let inverse: Vec<f64> = (0..x.len() / D).map(|i| 1.0 + 0.1 * i as f64).collect();
    let diagonal = rings.diagonal(&inverse);
    for ring in [0, rings.len() / 2] {
        let mut unit = vec![0.0; rings.len()];
        unit[ring] = 1.0;
        let mut push = vec![0.0; x.len()];
        rings.add_transpose(&unit, &mut push);
        let square: f64 = push.iter().enumerate().map(|(i, f)| f * f * inverse[i / D]).sum();
        assert!((diagonal[ring] - square).abs() < 1e-12 * square);
    }

    // (ii) an affine velocity changes every ring by the trace.
    if corners == D + 1 {
        let affine: Vec<f64> = x
            .chunks_exact(D)
            .flat_map(|x| {
                (0..D).map(|i| (0..D).map(|k| (0.3 + i as f64 - 0.7 * k as f64) * x[k]).sum::<f64>() + 0.4)
            })
            .collect();
        let trace: f64 = (0..D).map(|i| 0.3 + 0.3 * i as f64).sum();
        rings.apply(&affine, &mut rate);
        for (rate, volume) in rate.iter().zip(rings.ring_volumes()) {
            assert!((rate - trace * volume).abs() < 1e-12, "{rate} {volume}");
        }
    }
}

#[test]
fn rates_and_pushes_are_what_they_should_be() {
    identities::<2>(3, square(5), 0.3);
    identities::<3>(4, cube(3, CubeSplit::Five), 0.5);
    identities::<3>(3, shell(5), 0.03);
    assert!(Rings::<3>::new(8, &[0; 8], &[0.0; 24]).is_none());
}

fn unit_solid<const D: usize>(particles: usize) -> Solid<D> {
    Solid::new(vec![0.5; particles], vec![false; particles], Vector::zeros())
}

const NOTHING: fn() -> IncompressibleReport = IncompressibleReport::default;

#[test]
fn a_newton_step_squares_the_error_and_keeps_momenta() {
    let (simplices, rest) = cube(4, CubeSplit::Five);
    let mut random = TestNumbers::new(7);
    let x: Vec<f64> = rest
        .chunks_exact(3)
        .flat_map(|x| [1.05 * x[0], 0.98 * x[1], x[2]])
        .map(|x| x + random.uniform(-0.004, 0.004))
        .collect();
    let rings = Rings::<3>::new(4, &simplices, &rest).unwrap();
    let solid = unit_solid::<3>(rest.len() / 3);
    let kept = Kept::objects(&[], &[]);
    let mut errors = Vec::new();
    for newton_steps in 0..4 {
        let options = IncompressibleOptions {
            tolerance: 1e-12,
            max_iterations: 5000,
            newton_steps,
            ..Default::default()
        };
        let mut body = Incompressible::new(rings.clone(), options);
        let mut moving = vec![0.0; x.len()];
        if newton_steps > 0 {
            body.correct_motion(&solid, &x, &mut moving, 0.1, &kept, &mut NOTHING()).unwrap();
        }
        let sum: f64 = moving.chunks_exact(3).map(|v| v[1]).sum();
        assert!(sum.abs() < 1e-11, "{sum}");
        let after: Vec<f64> = x.iter().zip(&moving).map(|(x, v)| x + 0.1 * v).collect();
        errors.push(body.errors(&after).0);
    }
    assert!(errors[1] < 2.0 * errors[0].powi(2) && errors[2] < 2.0 * errors[1].powi(2), "{errors:?}");
    assert!(errors[3] < 1e-9, "{errors:?}");
}

#[test]
fn velocities_lose_their_divergence_and_contacts_keep_theirs() {
    let (simplices, x) = cube(3, CubeSplit::Six);
    let mut random = TestNumbers::new(9);
    let rings = Rings::<3>::new(4, &simplices, &x).unwrap();
    let solid = unit_solid::<3>(x.len() / 3);
    let options = IncompressibleOptions { tolerance: 1e-11, max_iterations: 5000, ..Default::default() };
    let mut body = Incompressible::new(rings, options);
    let before: Vec<f64> = x.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
    let pairs = [ContactRow {
        nodes: [0, 5, 9, 14],
        weights: [1.0, -0.2, -0.3, -0.5],
        normal: Vector::<3>::new(0.6, 0.0, 0.8),
    }];
    let gap = |v: &[f64]| -> f64 {
        let along = |(node, weight): (&u32, &f64)| -> f64 {
            (0..3).map(|axis| weight * pairs[0].normal[axis] * v[3 * *node as usize + axis]).sum()
        };
        pairs[0].nodes.iter().zip(&pairs[0].weights).map(along).sum()
    };
    let mut after = before.clone();
    let mut report = NOTHING();
    body.correct_velocity(&solid, &x, &mut after, &Kept::objects(&[], &pairs), &mut report).unwrap();
    assert!(report.unfinished == 0, "{report:?}");
    let mut rate = vec![0.0; body.rings().len()];
    body.rings().apply(&after, &mut rate);
    assert!(rate.iter().all(|rate| rate.abs() < 1e-8), "{rate:?}");
    assert!((gap(&after) - gap(&before)).abs() < 1e-8);
    let energy = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
    assert!(energy(&after) < energy(&before));
}

/// Structured meshes have pressures that push nothing (spec 3.7): three on Kuhn's cubes.
#[test]
fn null_modes_of_structured_meshes_do_no_harm() {
    let (simplices, x) = cube(2, CubeSplit::Six);
    let rings = Rings::<3>::new(4, &simplices, &x).unwrap();
    // Rank of the transpose by elimination.
    let mut rows: Vec<Vec<f64>> = (0..rings.len())
        .map(|ring| {
            let (mut unit, mut push) = (vec![0.0; rings.len()], vec![0.0; x.len()]);
            unit[ring] = 1.0;
            rings.add_transpose(&unit, &mut push);
            push
        })
        .collect();
    let mut rank = 0;
    for column in 0..x.len() {
        let Some(best) =
            (rank..rows.len()).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))
        else {
            break;
        };
        if rows[best][column].abs() < 1e-10 {
            continue;
        }
        rows.swap(rank, best);
        let pivot = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
        rank += 1;
    }
    assert_eq!(rings.len() - rank, 3);
}

#[test]
fn lost_volume_comes_back_no_faster_than_allowed_and_makes_no_velocity() {
    let (simplices, rest) = square(4);
    let rings = Rings::<2>::new(3, &simplices, &rest).unwrap();
    let solid = unit_solid::<2>(rest.len() / 2);
    let (dt, recovery_time) = (0.001, 0.05);
    let options = IncompressibleOptions { recovery_time, tolerance: 1e-10, ..Default::default() };
    let mut body = Incompressible::new(rings, options);
    let mut x: Vec<f64> = rest.iter().map(|x| x * 0.9f64.sqrt()).collect();
    let kept = Kept::objects(&[], &[]);
    let mut errors = vec![body.errors(&x).1];
    for _ in 0..8 {
        let mut moving = vec![0.0; x.len()];
        body.correct_motion(&solid, &x, &mut moving, dt, &kept, &mut NOTHING()).unwrap();
        x.iter_mut().zip(&moving).for_each(|(x, v)| *x += dt * v);
        errors.push(body.errors(&x).1);
    }
    assert!((errors[0] - 0.1).abs() < 1e-12);
    for pair in errors.windows(2).filter(|pair| pair[0] > 1e-12) {
        assert!(pair[1] < pair[0] && pair[0] - pair[1] < 1.05 * dt / recovery_time, "{errors:?}");
    }
    assert!(errors[4] > 0.015 && errors[8] < 1e-4, "{errors:?}");
}

/// INC-8: an integrator that knows nothing of volume, here one that only throws particles about, keeps it by the two public calls.
#[test]
fn any_integrator_keeps_volume_by_two_calls() {
    let (simplices, rest) = cube(3, CubeSplit::Five);
    let mut random = TestNumbers::new(12);
    let solid = unit_solid::<3>(rest.len() / 3);
    let options = IncompressibleOptions { tolerance: 1e-10, max_iterations: 5000, ..Default::default() };
    let mut body = Incompressible::new(Rings::<3>::new(4, &simplices, &rest).unwrap(), options);
    let kept = Kept::objects(&[], &[]);
    let (mut x, dt) = (rest.clone(), 0.01);
    let mut v: Vec<f64> = x.iter().map(|_| random.uniform(-0.3, 0.3)).collect();
    for _ in 0..10 {
        let mut next: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + dt * v).collect();
        body.correct_positions(&solid, &x, &mut next, dt, &kept, &mut NOTHING()).unwrap();
        let mut report = NOTHING();
        body.correct_velocity(&solid, &next, &mut v, &kept, &mut report).unwrap();
        assert!(report.divergence[1] < 1e-7, "{report:?}");
        x = next;
        // A position correction alone leaves the velocity what it was; and its error is of second order in the step.
        assert!(body.errors(&x).0 < 1e-3, "{}", body.errors(&x).0);
    }
    let moved: f64 = x.iter().zip(&rest).map(|(x, rest)| (x - rest).abs()).sum();
    assert!(moved > 0.1 * rest.len() as f64 * 0.01, "{moved}");
}

/// INC-23: in the one solve with damping particles on objects keep their normal velocities, pairs in contact their relative ones, rings get theirs, and the damping is that of the new velocity.
#[test]
fn contacts_are_rows_of_the_one_solve() {
    use crate::Elements;
    use crate::collide::Touch;
    use crate::element::{Damping, DampingKind, Material};
    use crate::material::{Lame, Law, Model};
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [3; 3], CubeSplit::Six).unwrap();
    let material = Material {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(10.0, 0.0).unwrap(),
        density: 1.0,
        damping: Damping { kind: DampingKind::Linear, time: 0.1 },
    };
    let elements = Elements::tetrahedra(&mesh, 0, material).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::<3>::new(mass, vec![false; mesh.points.len()], Vector::zeros());
    solid.add(elements);
    let x = flat(&mesh.points);
    solid.update(&x).unwrap();
    let mut random = TestNumbers::new(4);
    let free: Vec<f64> = x.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
    let touch = |node: u32, normal: Vector<3>| Touch {
        node,
        normal,
        body_velocity: Vector::zeros(),
        friction: 0.0,
        obstacle: 0,
    };
    let touches = [touch(0, Vector::<3>::new(0.0, 1.0, 0.0)), touch(3, Vector::<3>::new(0.6, 0.0, -0.8))];
    let row = |nodes: [u32; 4], weights: [f64; 4]| ContactRow {
        nodes,
        weights,
        normal: Vector::<3>::new(0.0, 0.6, 0.8),
    };
    // A point against a face and an edge against an edge that share particles.
    let pairs = [row([5, 9, 14, 20], [1.0, -0.2, -0.3, -0.5]), row([9, 14, 30, 33], [0.4, 0.6, -0.7, -0.3])];
    let simplices: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let options = IncompressibleOptions { max_iterations: 20000, monolithic: true, ..Default::default() };
    let mut body = Incompressible::new(Rings::<3>::new(4, &simplices, &x).unwrap(), options);
    let step = CoupledStep { free: &free, tau: 0.05, tolerance: 1e-12 };
    let kept = Kept::objects(&touches, &pairs);
    let mut report = NOTHING();
    let solved = body.coupled_motion(&solid, &x, &step, 0.1, &kept, &mut report).unwrap();
    assert!(report.unfinished == 0, "{report:?}");
    let v = &solved.velocity;
    for touch in &touches {
        let along =
            |v: &[f64]| touch.normal.dot(&Vector::<3>::from_column_slice(&v[3 * touch.node as usize..][..3]));
        assert!((along(v) - along(&free)).abs() < 1e-12);
    }
    for pair in &pairs {
        assert!((pair.speed(v) - pair.speed(&free)).abs() < 1e-8, "{} {}", pair.speed(v), pair.speed(&free));
    }
    let mut rate = vec![0.0; body.rings().len()];
    body.rings().apply(v, &mut rate);
    assert!(rate.iter().all(|rate| rate.abs() < 1e-8), "{rate:?}");
    // M (v - free) = tau D v + impulses of pressures, pairs and objects: nothing else acts on an inner particle without a pair.
    let mut damping = vec![0.0; x.len()];
    solid.add_damping(v, &mut damping);
    let mut pressed = vec![0.0; x.len()];
    body.rings().add_transpose(body.pressures(), &mut pressed);
    let used: Vec<u32> = pairs.iter().flat_map(|pair| pair.nodes).chain([0, 3]).collect();
    for node in (0..solid.len()).filter(|node| !used.contains(&(*node as u32))) {
        for at in 3 * node..3 * node + 3 {
            let gained = solid.masses()[node] * (v[at] - free[at]);
            assert!((gained - 0.05 * damping[at] + pressed[at]).abs() < 1e-8, "{node}: {gained}");
        }
    }
}
