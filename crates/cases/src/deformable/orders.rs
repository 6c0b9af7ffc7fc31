//! Order of accuracy and stability limits of the integrators on a two-particle oscillator, and the exact angular momentum of scheme A.
//!
//! A stretched, turning spring with damping is a nonlinear problem with position-dependent damping. Linear stability for frequency `w` and damping ratio `z`: A and B need
//! `w dt <= 2 (z + sqrt(1 + z^2))`, C needs `4 (1 + z h)^2 >= h^2 (2 + z h)`, `h = w dt`.
//!
//! Source: spec/deformable-solids.md 3.14, T12, T13.

use super::set_up::{cubes, failed, flat, material, run_steps, tetrahedra};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::element::DampingKind;
use splashdown_deformable::integrate::{ImplicitScheme, Integrator, Motion, Scheme};
use splashdown_deformable::material::Model;
use splashdown_deformable::{EdgeSpring, EdgeSprings, Solid};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "deformable/integrator-orders",
    spec: "T12, T13, DS-29, DS-30, DS-31, DS-32, DS-33",
    summary: "order of A, B, C, Newmark and the implicit schemes, their stability limits, angular momentum of A to rounding",
    source: "spec/deformable-solids.md 3.14",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

fn oscillator(stiffness: f64, damping: f64) -> Solid<2> {
    let mut solid = Solid::new(vec![1.0, 2.0], vec![false, false], Vector::zeros());
    solid.add(EdgeSprings::new("spring", &[EdgeSpring { ends: [0, 1], stiffness, damping, rest: 1.0 }]));
    solid
}

fn integrator(scheme: Scheme) -> Integrator<2> {
    let mut integrator = Integrator::new(scheme);
    integrator.tolerance = 1e-13;
    integrator.implicit.tolerance = 1e-9;
    integrator.implicit.linear_tolerance = 1e-12;
    integrator
}

fn end_state(scheme: Scheme, steps: usize, damping: f64) -> Result<Vec<f64>, CaseError> {
    let mut solid = oscillator(30.0, damping);
    let mut motion =
        Motion { position: vec![0.0, 0.0, 1.3, 0.0], velocity: vec![0.0, -1.0, 0.2, 1.0], time: 0.0 };
    run_steps(&mut integrator(scheme), &mut solid, &mut motion, 1.0 / steps as f64, steps)?;
    Ok([motion.position, motion.velocity].concat())
}

/// Does an oscillation of frequency `w` and damping ratio `z` stay bounded with steps of `h / w`?
fn stable(scheme: Scheme, h: f64, z: f64) -> Result<bool, CaseError> {
    // Reduced mass 2/3: w = sqrt(k / (2/3)).
    let (k, reduced): (f64, f64) = (6.0, 2.0 / 3.0);
    let w = (k / reduced).sqrt();
    let mut solid = oscillator(k, 2.0 * z * w * reduced);
    let mut motion = Motion { position: vec![0.0, 0.0, 1.0 + 1e-6, 0.0], velocity: vec![0.0; 4], time: 0.0 };
    let mut integrator = integrator(scheme);
    for _ in 0..600 {
        step_alone(&mut solid, &mut integrator, &mut motion, h / w).map_err(failed("stepping"))?;
        let stretch = (motion.point::<2>(1) - motion.point::<2>(0)).norm() - 1.0;
        if stretch.abs() > 1e-4 {
            return Ok(false);
        }
    }
    Ok(true)
}

fn limit(scheme: Scheme, z: f64) -> Result<f64, CaseError> {
    let (mut low, mut high) = (0.5, 8.0);
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        if stable(scheme, middle, z)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(0.5 * (low + high))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let euler = Scheme::Implicit(ImplicitScheme::BackwardEuler);
    let average = Scheme::Implicit(ImplicitScheme::AverageAcceleration);
    let mut series = Vec::new();
    for (name, scheme, order, damping) in [
        ("A", Scheme::A, 2.0, 1.0),
        ("B", Scheme::B, 2.0, 1.0),
        ("C", Scheme::C, 1.0, 1.0),
        ("Newmark", Scheme::Newmark, 2.0, 1.0),
        ("linearly implicit", Scheme::LinearlyImplicit, 1.0, 1.0),
        ("backward Euler", euler, 1.0, 1.0),
        ("average acceleration, undamped", average, 2.0, 0.0),
        // Damping is frozen at the start of the step, which makes it first order where the body turns.
        ("average acceleration, damped", average, 1.0, 1.0),
    ] {
        let exact = end_state(Scheme::B, 40_000, damping)?;
        let mut points = Vec::new();
        for steps in [400, 800, 1600] {
            let found = end_state(scheme, steps, damping)?;
            let error = found.iter().zip(&exact).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            points.push([1.0 / steps as f64, error]);
        }
        let found = (points[1][1] / points[2][1]).log2();
        out.near(
            "order of accuracy",
            &format!("{name}, dt = 1/800, 1/1600 s"),
            found,
            order,
            0.05,
            CASE.source,
        );
        series.push(Series { label: name.into(), points, reference: false });
    }
    out.plot(Plot {
        title: "Damped, turning oscillator after 1 s".into(),
        x: "step (s)".into(),
        y: "error of positions and velocities".into(),
        scale: Scale::LogLog,
        series,
    });
    for z in [0.0, 0.3_f64] {
        let exact = 2.0 * (z + (1.0 + z * z).sqrt());
        for (name, scheme) in [("A", Scheme::A), ("B", Scheme::B)] {
            let resolution = format!("{name}, damping ratio {z}");
            out.near("largest stable w dt", &resolution, limit(scheme, z)?, exact, 0.01 * exact, CASE.source);
        }
        // Largest h with 4 (1 + z h)^2 >= h^2 (2 + z h).
        let holds = |h: f64| 4.0 * (1.0 + z * h).powi(2) >= h * h * (2.0 + z * h);
        let exact = (0..100_000).map(|i| f64::from(i) * 1e-4).take_while(|&h| holds(h)).last().unwrap_or(0.0);
        let resolution = format!("C, damping ratio {z}");
        out.near("largest stable w dt", &resolution, limit(Scheme::C, z)?, exact, 0.01 * exact, CASE.source);
        let resolution = format!("linearly implicit, damping ratio {z}, w dt = 1 to 1e4");
        let mut unstable = 0.0;
        for rate in [1.0, 10.0, 100.0, 1e3, 1e4] {
            unstable += if stable(Scheme::LinearlyImplicit, rate, z)? { 0.0 } else { 1.0 };
        }
        out.at_most("steps that are not stable", &resolution, unstable, 0.0, "exact: damped at any step");
    }
    angular_momentum(out)
}

/// A spinning, stretched cube without damping: scheme A keeps its angular momentum to rounding.
fn angular_momentum(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = cubes([-0.5; 3], [0.5; 3], [2; 3])?;
    let mut drift = Vec::new();
    for (scheme, steps) in [(Scheme::A, 10_000), (Scheme::B, 2000)] {
        let mut solid = tetrahedra(&mesh, material(Model::RotatedLinear, 1000.0, 0.3, 1.0, 0.0)?, [0.0; 3])?;
        let mut motion = Motion::at_rest(&mesh.points);
        for (node, point) in mesh.points.iter().enumerate() {
            let velocity = Vector::<3>::new(1.0, 2.0, -1.0).cross(point);
            for axis in 0..3 {
                motion.position[3 * node + axis] *= [1.2, 0.9, 1.0][axis];
                motion.velocity[3 * node + axis] = velocity[axis];
            }
        }
        let momentum = |solid: &Solid<3>, motion: &Motion| {
            let mut sum = Vector::<3>::zeros();
            for (node, mass) in solid.masses().iter().enumerate() {
                sum += motion.point::<3>(node).cross(&motion.speed::<3>(node)) * *mass;
            }
            sum
        };
        let before = momentum(&solid, &motion);
        let dt = 0.2 * solid.stable_step();
        let mut integrator = Integrator::new(scheme);
        run_steps(&mut integrator, &mut solid, &mut motion, dt, steps)?;
        drift.push((momentum(&solid, &motion) - before).norm() / before.norm());
    }
    out.at_most("drift of angular momentum (relative)", "A, 10 000 steps", drift[0], 1e-13, "spec T13");
    out.at_least(
        "drift of angular momentum (relative)",
        "B, for comparison",
        drift[1],
        1e-9,
        "spec 3.14: B drifts",
    );
    drift_of_b(out)?;
    spin_of_damping(out)
}

fn angular(solid: &Solid<3>, motion: &Motion) -> Vector<3> {
    let all = solid.masses().iter().enumerate();
    all.map(|(node, mass)| motion.point::<3>(node).cross(&motion.speed::<3>(node)) * *mass).sum()
}

/// In a step of scheme B the angular momentum changes by `dt^3/4 sum m v x da/dt` and terms of fourth order. The first is a total derivative, so what grows in time is that of
/// `L - dt^2/4 sum m v x a`, by the third power of the step; `L` itself swings about it by the second. (The prototype had 2e-3, 1.6e-4 and 8e-6 at the end of 0.5 s of a cube of its own.)
fn drift_of_b(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = cubes([-0.5; 3], [0.5; 3], [2; 3])?;
    let (mut swings, mut drifts) = (Vec::new(), Vec::new());
    for part in [0.4, 0.2, 0.1] {
        let mut solid = tetrahedra(&mesh, material(Model::RotatedLinear, 1000.0, 0.3, 1.0, 0.0)?, [0.0; 3])?;
        let mut motion = Motion::at_rest(&mesh.points);
        for (node, point) in mesh.points.iter().enumerate() {
            let velocity = Vector::<3>::new(1.0, 2.0, -1.0).cross(point);
            for axis in 0..3 {
                motion.position[3 * node + axis] *= [1.2, 0.9, 1.0][axis];
                motion.velocity[3 * node + axis] = velocity[axis];
            }
        }
        let steps = (0.5 / (part * solid.stable_step())).ceil();
        let dt = 0.5 / steps;
        let measure = |solid: &mut Solid<3>, motion: &Motion| -> Result<[Vector<3>; 2], CaseError> {
            solid.update(&motion.position).map_err(failed("forces"))?;
            let mut force = vec![0.0; motion.position.len()];
            solid.add_elastic(&mut force);
            let spin = angular(solid, motion);
            let pushes = force.as_chunks::<3>().0.iter().enumerate();
            let swing: Vector<3> =
                pushes.map(|(node, f)| motion.speed::<3>(node).cross(&Vector::<3>::from(*f))).sum();
            Ok([spin, spin - swing * (0.25 * dt * dt)])
        };
        let before = measure(&mut solid, &motion)?;
        let mut integrator = Integrator::new(Scheme::B);
        integrator.tolerance = 1e-12;
        let mut largest = [0.0f64; 2];
        for _ in 0..steps as usize {
            run_steps(&mut integrator, &mut solid, &mut motion, dt, 1)?;
            let now = measure(&mut solid, &motion)?;
            for ((largest, now), before) in largest.iter_mut().zip(now).zip(before) {
                *largest = largest.max((now - before).norm() / before.norm());
            }
        }
        let resolution = format!("B, {part} of the limit, 0.5 s");
        let row = "largest change of angular momentum (relative)";
        out.at_most(row, &resolution, largest[0], 0.01, "spec 3.14: B drifts a little");
        swings.push(largest[0]);
        drifts.push(largest[1]);
    }
    for (at, between) in ["0.4 and 0.2", "0.2 and 0.1"].into_iter().enumerate() {
        let resolution = format!("B, {between} of the limit");
        let order = |all: &[f64]| (all[at] / all[at + 1]).log2();
        out.at_least("order of the change", &resolution, order(&swings), 1.9, "exact: 2, it swings");
        out.at_least("order of the drift", &resolution, order(&drifts), 2.8, "spec 3.14: third to fourth");
    }
    Ok(())
}

/// Linear damping sets a disturbed cube of 135 tetrahedra spinning, the conserving one does not (spec 3.10: kinetic energies of 1.0 and 1e-3 in the prototype).
fn spin_of_damping(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = cubes([0.0; 3], [1.0; 3], [3; 3])?;
    let left = |kind: DampingKind| -> Result<[f64; 2], CaseError> {
        let mut own = material(Model::RotatedLinear, 1000.0, 0.3, 1.0, 0.01)?;
        own.damping.kind = kind;
        let mut solid = tetrahedra(&mesh, own, [0.0; 3])?;
        let mut random = TestNumbers::new(7);
        let position = flat(&mesh.points).iter().map(|x| x + random.uniform(-0.15, 0.15)).collect();
        let mut motion = Motion { position, velocity: vec![0.0; 3 * mesh.points.len()], time: 0.0 };
        solid.update(&motion.position).map_err(failed("the start"))?;
        let start = solid.energy();
        // Scheme A without damping keeps angular momentum exactly.
        let mut integrator = Integrator::new(Scheme::A);
        integrator.tolerance = 1e-10;
        let dt = 0.2 * solid.stable_step();
        run_steps(&mut integrator, &mut solid, &mut motion, dt, 3000)?;
        Ok([solid.kinetic_energy(&motion.velocity) / start, angular(&solid, &motion).norm()])
    };
    let ([linear, spin], [conserving, rest]) = (left(DampingKind::Linear)?, left(DampingKind::Conserving)?);
    let source = "spec 3.10: 1.0 J against 1e-3 J";
    out.at_least(
        "kinetic energy that linear damping leaves over that of the conserving one",
        "135 tetrahedra",
        linear / conserving,
        100.0,
        "spec 3.10: 1.0 J against 1e-3 J, of a disturbance and a scheme that it does not tell",
    );
    out.at_least("spin that linear damping makes (kg m^2/s)", "135 tetrahedra", spin, 1e-4, source);
    out.at_most(
        "spin that conserving damping makes over that",
        "135 tetrahedra",
        rest / spin,
        0.1,
        "spec 3.10: torque-free; with damping the two halves of a step differ, which leaves a little",
    );
    Ok(())
}
