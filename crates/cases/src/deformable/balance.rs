//! What must hold exactly, whatever the material: an affine deformation leaves inner nodes without force (the patch test, hexahedra distorted), elastic forces have neither
//! resultant nor torque even when elements are inside out, impulses between pairs keep momenta for any masses, a moving plane stops a particle where it meets it, and
//! neither threads nor an interruption change a bit.
//!
//! Source: spec/deformable-solids.md T6, T7, T23, T24, T25.

use super::set_up::{cubes, failed, flat, material, run_steps, solid_of, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::contact::{
    BarrierOptions, ContactSurface, Response, SelfContact, SelfContactOptions, apply_impulse,
};
use splashdown_deformable::element::DampingKind;
use splashdown_deformable::integrate::{ImplicitScheme, Integrator, Motion, Scheme};
use splashdown_deformable::material::{Lame, Model};
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::generate::{Diagonals, box_hexahedra, sheet};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Matrix, Vector};
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "deformable/balance",
    spec: "T6, T7, T23, T24, T25, E19, DS-43, DS-54",
    summary: "patch tests, forces without resultant and torque, impulses that keep momenta, a moving plane, bits that threads and restarts do not change",
    source: "spec/deformable-solids.md 5.2",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    patches(out)?;
    impulses(out);
    colliding_boxes(out)?;
    moving_plane(out)?;
    bits(out)
}

/// Force on the nodes at `x`, and the largest component.
fn forces(solid: &mut Solid<3>, x: &[f64]) -> Result<(Vec<f64>, f64), CaseError> {
    solid.update(x).map_err(failed("updating"))?;
    let mut force = vec![0.0; x.len()];
    solid.add_elastic(&mut force);
    let largest = force.iter().fold(0.0f64, |m, f| m.max(f.abs()));
    Ok((force, largest))
}

fn patches(out: &mut Measurements) -> Result<(), CaseError> {
    let own = material(Model::NeoHookean, 1e4, 0.3, 100.0, 0.0)?;
    let tets = cubes([0.0; 3], [1.0; 3], [2; 3])?;
    let mut hexes = box_hexahedra(Vector::zeros(), Vector::repeat(1.0), [2; 3]).map_err(failed("meshing"))?;
    for point in &mut hexes.points {
        if (*point - Vector::repeat(0.5)).norm() < 1e-9 {
            *point += Vector::<3>::new(0.09, -0.07, 0.11);
        }
    }
    let cloth = sheet(
        Vector::zeros(),
        Vector::<3>::new(1.0, 0.0, 0.0),
        Vector::<3>::new(0.2, 1.0, 0.0),
        [2; 2],
        Diagonals::Alternating,
    )
    .map_err(failed("meshing"))?;
    let mut membrane = own;
    membrane.lame = Lame::plane_stress(1e4, 0.3).map_err(failed("the material"))?;
    let hex_elements = Elements::hexahedra(&hexes, 0, own).map_err(failed("elements"))?;
    let sheet_elements = Elements::membrane(&cloth, 0, 1e-2, membrane).map_err(failed("elements"))?;
    let bodies = [
        ("tetrahedra", tetrahedra(&tets, own, [0.0; 3])?, tets.points.clone(), Vector::repeat(0.5)),
        (
            "distorted hexahedra",
            solid_of(
                hex_elements.clone(),
                |mass| hex_elements.add_masses(mass),
                hexes.points.len(),
                Vector::zeros(),
            ),
            hexes.points.clone(),
            Vector::<3>::new(0.59, 0.43, 0.61),
        ),
        (
            "membrane",
            solid_of(
                sheet_elements.clone(),
                |mass| sheet_elements.add_masses(mass),
                cloth.points.len(),
                Vector::zeros(),
            ),
            cloth.points.clone(),
            Vector::<3>::new(0.6, 0.5, 0.0),
        ),
    ];
    let map = Matrix::<3>::new(1.2, 0.3, 0.0, -0.1, 0.8, 0.2, 0.1, 0.0, 1.1);
    for (name, mut solid, points, middle) in bodies {
        let x: Vec<f64> = points.iter().flat_map(|x| <[f64; 3]>::from(map * x)).collect();
        let (force, largest) = forces(&mut solid, &x)?;
        let inner = points
            .iter()
            .position(|x| (x - middle).norm() < 1e-9)
            .ok_or_else(|| CaseError::new("finding the inner node", name))?;
        let left = force[3 * inner..3 * inner + 3].iter().fold(0.0f64, |m, f| m.max(f.abs())) / largest;
        out.at_most("force on the inner node of an affine map, relative", name, left, 1e-12, CASE.source);

        // Most elements are inside out after this.
        let mut random = TestNumbers::new(5);
        let x: Vec<f64> = flat(&points).iter().map(|x| x + random.uniform(-0.8, 0.8)).collect();
        let (force, _) = forces(&mut solid, &x)?;
        let scale: f64 = force.iter().map(|f| f.abs()).sum();
        let (mut sum, mut torque) = (Vector::<3>::zeros(), Vector::<3>::zeros());
        for (x, f) in x.chunks_exact(3).zip(force.chunks_exact(3)) {
            let (x, f) = (Vector::<3>::from_column_slice(x), Vector::<3>::from_column_slice(f));
            sum += f;
            torque += x.cross(&f);
        }
        let name = format!("{name}, tangled");
        out.at_most("resultant of elastic forces, relative", &name, sum.norm() / scale, 1e-12, CASE.source);
        out.at_most("torque of elastic forces, relative", &name, torque.norm() / scale, 1e-12, CASE.source);
    }
    damping(out, &tets)
}

/// Spec T7: damping has no resultant; the conserving one has no torque either, the linear one has.
fn damping(out: &mut Measurements, mesh: &TetrahedronMesh) -> Result<(), CaseError> {
    for (name, kind) in [("linear", DampingKind::Linear), ("conserving", DampingKind::Conserving)] {
        let mut own = material(Model::FixedCorotated, 1e4, 0.3, 100.0, 0.1)?;
        own.damping.kind = kind;
        let mut solid = tetrahedra(mesh, own, [0.0; 3])?;
        let mut random = TestNumbers::new(6);
        let (mut sums, mut torques) = (0.0f64, 0.0f64);
        for noise in [0.02, 0.1, 0.8] {
            let x: Vec<f64> = flat(&mesh.points).iter().map(|x| x + random.uniform(-noise, noise)).collect();
            solid.update(&x).map_err(failed("updating"))?;
            let v = random.vector(x.len());
            let mut force = vec![0.0; x.len()];
            solid.add_damping(&v, &mut force);
            let scale: f64 = force.iter().map(|f| f.abs()).sum();
            let (mut sum, mut torque) = (Vector::<3>::zeros(), Vector::<3>::zeros());
            for (x, f) in x.chunks_exact(3).zip(force.chunks_exact(3)) {
                let (x, f) = (Vector::<3>::from_column_slice(x), Vector::<3>::from_column_slice(f));
                sum += f;
                torque += x.cross(&f);
            }
            sums = sums.max(sum.norm() / scale);
            torques = torques.max(torque.norm() / scale);
        }
        let name = format!("{name} damping");
        out.at_most("resultant of damping, relative", &name, sums, 1e-12, CASE.source);
        match kind {
            DampingKind::Conserving => {
                out.at_most("torque of damping, relative", &name, torques, 1e-12, CASE.source);
            }
            _ => out.at_least("torque of damping, relative", &name, torques, 1e-4, "spec T7: not zero"),
        }
    }
    Ok(())
}

fn impulses(out: &mut Measurements) {
    let mut random = TestNumbers::new(11);
    let (mut momentum, mut spin, mut change) = (0.0f64, 0.0f64, 0.0f64);
    for _ in 0..1000 {
        // Closest points of two edges that lie along the direction of the impulse, as those of any pair do.
        let direction = Vector::<3>::from_fn(|_, _| random.uniform(-1.0, 1.0)).normalize();
        let (s, t) = (random.uniform(0.0, 1.0), random.uniform(0.0, 1.0));
        let weights = [1.0 - s, s, t - 1.0, -t];
        let mut x: Vec<Vector<3>> =
            (0..4).map(|_| Vector::from_fn(|_, _| random.uniform(-1.0, 1.0))).collect();
        let apart: Vector<3> = x.iter().zip(weights).map(|(x, w)| x * w).sum();
        // Moves the second edge so that the line between the closest points is the direction.
        let shift = apart - direction * 0.1;
        x[2] += shift;
        x[3] += shift;
        let inverse: Vec<f64> = (0..4).map(|_| 1.0 / random.uniform(0.1, 10.0)).collect();
        let mut v = random.vector(12);
        let measure = |v: &[f64]| {
            let (mut p, mut l) = (Vector::<3>::zeros(), Vector::<3>::zeros());
            for node in 0..4 {
                let own = Vector::<3>::from_column_slice(&v[3 * node..3 * node + 3]) / inverse[node];
                p += own;
                l += x[node].cross(&own);
            }
            (p, l)
        };
        let relative = |v: &[f64]| -> f64 {
            (0..4)
                .map(|node| {
                    weights[node] * Vector::<3>::from_column_slice(&v[3 * node..][..3]).dot(&direction)
                })
                .sum()
        };
        let ((p, l), before) = (measure(&v), relative(&v));
        apply_impulse(&[0, 1, 2, 3], &weights, &direction, 2.0, &inverse, &mut v);
        let (p_after, l_after) = measure(&v);
        // Momenta of single particles, of which the sum is made: its rounding is relative to them.
        let size: f64 = v.iter().enumerate().map(|(at, v)| v.abs() / inverse[at / 3]).sum();
        momentum = momentum.max((p_after - p).norm() / size);
        spin = spin.max((l_after - l).norm() / size);
        change = change.max((relative(&v) - before - 2.0).abs());
        // A direction that is not of unit length changes the impulse, not what is kept.
        apply_impulse(&[0, 1, 2, 3], &weights, &(direction * 3.0), 2.0, &inverse, &mut v);
        let (p_long, l_long) = measure(&v);
        let size: f64 = v.iter().enumerate().map(|(at, v)| v.abs() / inverse[at / 3]).sum();
        momentum = momentum.max((p_long - p).norm() / size);
        spin = spin.max((l_long - l).norm() / size);
    }
    let name = "1000 random pairs and masses";
    out.at_most("change of momentum, relative", name, momentum, 1e-14, CASE.source);
    out.at_most("change of angular momentum, relative", name, spin, 1e-14, CASE.source);
    out.at_most("error of the relative velocity (m/s)", name, change, 1e-12, CASE.source);
}

/// Spec E19: two boxes that meet off centre. Impulses keep both momenta; an implicit step keeps the linear one, and loses angular momentum by its order in time.
fn colliding_boxes(out: &mut Measurements) -> Result<(), CaseError> {
    let mut mesh = cubes([0.0; 3], [0.4; 3], [2; 3])?;
    let other = cubes([0.13, 0.41, -0.11], [0.53, 0.81, 0.29], [2; 3])?;
    let first = mesh.points.len();
    mesh.points.extend(other.points);
    mesh.elements.extend(other.elements.iter().map(|element| element.map(|node| node + first as u32)));
    let around = mesh.boundary().map_err(failed("the surface"))?;
    let faces = around.mesh.elements.iter().map(|face| face.map(|point| around.points[point as usize]));
    let surface = ContactSurface::<3>::new(faces.collect());
    let own = material(Model::FixedCorotated, 2e4, 0.3, 100.0, 0.0)?;
    let start = |random: &mut TestNumbers, noise: f64| {
        let mut motion = Motion::at_rest(&mesh.points);
        for (at, v) in motion.velocity.iter_mut().enumerate() {
            let up = if at < 3 * first { 1.0 } else { -1.0 };
            *v = noise * random.uniform(-1.0, 1.0) + if at % 3 == 1 { up } else { 0.0 };
        }
        motion
    };
    let momenta = |solid: &Solid<3>, motion: &Motion| {
        let (mut p, mut l, mut size) = (Vector::<3>::zeros(), Vector::<3>::zeros(), [0.0; 2]);
        for (node, mass) in solid.masses().iter().enumerate() {
            let own = motion.speed::<3>(node) * *mass;
            let turn = motion.point::<3>(node).cross(&own);
            (p, l) = (p + own, l + turn);
            size = [size[0] + own.norm(), size[1] + turn.norm()];
        }
        (p, l, size)
    };
    let options = SelfContactOptions { thickness: 0.02, friction: 0.0, ..SelfContactOptions::default() };
    let apart: Vec<f64> = flat(&mesh.points)
        .iter()
        .enumerate()
        .map(|(at, x)| if at < 3 * first { *x } else { x + 1.0 })
        .collect();

    // One set of impulses: repulsions of all pairs, inelastic and elastic.
    let solid = tetrahedra(&mesh, own, [0.0; 3])?;
    let mut random = TestNumbers::new(12);
    let mut motion = start(&mut random, 0.3);
    let mut contact = SelfContact::new(surface.clone(), &apart, options);
    contact.find_pairs(&motion.position);
    let (p, l, size) = momenta(&solid, &motion);
    let before = motion.velocity.clone();
    let masses = solid.inverse_masses();
    contact.repel(&mut Response::new(&masses, None), &motion.position, &mut motion.velocity, 1e-3, true);
    let (p_after, l_after, _) = momenta(&solid, &motion);
    let pushed = before.iter().zip(&motion.velocity).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let name = "two boxes, impulses";
    out.at_least("largest change of velocity (m/s)", name, pushed, 0.1, "they do meet");
    out.at_most("change of momentum, relative", name, (p_after - p).norm() / size[0], 1e-12, "spec E19");
    out.at_most(
        "change of angular momentum, relative",
        name,
        (l_after - l).norm() / size[1],
        1e-12,
        "spec E19",
    );

    // The same by backward Euler with the barrier, as they meet and part again.
    let drift = |dt: f64| -> Result<[f64; 2], CaseError> {
        let mut solid = tetrahedra(&mesh, own, [0.0; 3])?;
        let mut motion = start(&mut TestNumbers::new(12), 0.0);
        let mut integrator = Integrator::new(Scheme::Implicit(ImplicitScheme::BackwardEuler));
        let barrier = BarrierOptions { reach: 0.005, ..BarrierOptions::default() };
        integrator.self_contact =
            Some(SelfContact::new(surface.clone(), &apart, options).with_barrier(barrier));
        integrator.implicit.tolerance = 1e-8;
        integrator.implicit.linear_tolerance = 1e-6;
        let (p, l, size) = momenta(&solid, &motion);
        run_steps(&mut integrator, &mut solid, &mut motion, dt, (0.1 / dt).round() as usize)?;
        let (p_after, l_after, _) = momenta(&solid, &motion);
        Ok([(p_after - p).norm() / size[0], (l_after - l).norm() / size[1]])
    };
    let ([linear, coarse], [_, fine]) = (drift(0.01)?, drift(0.0025)?);
    let name = "two boxes, backward Euler, dt = 0.01 s";
    out.at_most(
        "change of momentum, relative",
        name,
        linear,
        1e-6,
        "exact, to the tolerance of Newton's method",
    );
    out.at_least("change of angular momentum, relative", name, coarse, 1e-4, "spec E19: implicit breaks it");
    out.at_least(
        "that over the change at a quarter of the step",
        name,
        coarse / fine,
        1.5,
        "falls with the step",
    );
    Ok(())
}

/// A plane that rises at 1 m/s meets a particle 0.1 m above it that falls at 5 m/s a third of the way through a step of 0.05 s, and carries it from there.
fn moving_plane(out: &mut Measurements) -> Result<(), CaseError> {
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).map_err(failed("the plane"))?;
    let mut obstacle = Obstacle::fixed("plane", plane, Frame::identity(), 0.0);
    obstacle.twist.linear = Vector::<3>::new(0.0, 1.0, 0.0);
    obstacle.advance(0.05);
    let mut integrator = Integrator::new(Scheme::B);
    integrator.obstacles.push(obstacle);
    let mut solid = Solid::new(vec![1.0], vec![false], Vector::zeros());
    let mut motion = Motion { position: vec![0.0, 0.1, 0.0], velocity: vec![0.0, -5.0, 0.0], time: 0.0 };
    step_alone(&mut solid, &mut integrator, &mut motion, 0.05).map_err(failed("stepping"))?;
    let depth = (motion.position[1] - 0.05).abs();
    out.at_most("distance from the plane at the end (m)", "dt = 0.05 s", depth, 1e-12, CASE.source);
    let slip = (motion.velocity[1] - 1.0).abs();
    out.at_most("velocity relative to the plane at the end (m/s)", "dt = 0.05 s", slip, 1e-12, CASE.source);
    let theta = splashdown_deformable::collide::theta(0.1, 0.1 - 0.05 * 6.0);
    out.near("part of the step before they meet", "dt = 0.05 s", theta, 1.0 / 3.0, 1e-12, CASE.source);
    Ok(())
}

fn bits(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = cubes([0.0; 3], [1.0; 3], [8; 3])?;
    let own = material(Model::FixedCorotated, 1e5, 0.3, 1000.0, 0.002)?;
    for (name, scheme, dt, steps) in [
        ("scheme B", Scheme::B, 2e-3, 10),
        ("backward Euler", Scheme::Implicit(ImplicitScheme::BackwardEuler), 1.0 / 60.0, 4),
    ] {
        let run = |threads: usize, interrupted: bool| -> Result<Vec<u64>, CaseError> {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(failed("starting threads"))?;
            pool.install(|| {
                let fresh = || -> Result<(Solid<3>, Integrator<3>), CaseError> {
                    let mut solid = tetrahedra(&mesh, own, [0.0, -9.81, 0.0])?;
                    for (node, x) in mesh.points.iter().enumerate() {
                        solid.set_pinned(node, x[0] < 1e-9);
                    }
                    Ok((solid, Integrator::new(scheme)))
                };
                let (mut solid, mut integrator) = fresh()?;
                let mut motion = Motion::at_rest(&mesh.points);
                for step in 0..steps {
                    if interrupted && step == steps / 2 {
                        (solid, integrator) = fresh()?;
                    }
                    step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed("stepping"))?;
                }
                Ok(motion.position.iter().chain(&motion.velocity).map(|x| x.to_bits()).collect())
            })
        };
        let reference = run(1, false)?;
        let differ = |other: &[u64]| reference.iter().zip(other).filter(|(a, b)| a != b).count() as f64;
        let source = "exact: the same bits";
        out.at_most("numbers that 3 threads change", name, differ(&run(3, false)?), 0.0, source);
        out.at_most("numbers that an interruption changes", name, differ(&run(2, true)?), 0.0, source);
    }
    Ok(())
}
