//! Waves and oscillators: the first longitudinal frequency of a laterally held bar, `f_1 = sqrt((lambda + 2 mu)/rho) / (2 L)`, and the overshoot of a damped spring,
//! `exp(-pi z / sqrt(1 - z^2))`, none at critical damping.
//!
//! Source: exact; spec/deformable-solids.md T15, T20.

use super::set_up::{cubes, failed, material, run_steps, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::material::{Lame, Model};
use splashdown_deformable::{EdgeSpring, EdgeSprings, Solid};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "deformable/waves",
    spec: "T15, T20, DS-26",
    summary: "first longitudinal frequency of a bar at second order, overshoot of damped springs",
    source: "exact: f = c / (2 L); exp(-pi z / sqrt(1 - z^2))",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

/// Frequency from the zero crossings of the velocity projected on the first mode `cos(pi x / L)`.
fn frequency(cells: usize) -> Result<f64, CaseError> {
    let mesh = cubes([0.0; 3], [1.0, 1.0 / cells as f64, 1.0 / cells as f64], [cells, 1, 1])?;
    let mut solid = tetrahedra(&mesh, material(Model::RotatedLinear, 1000.0, 0.3, 1.0, 0.0)?, [0.0; 3])?;
    let mut motion = Motion::at_rest(&mesh.points);
    let shape = |x: &Vector<3>| (std::f64::consts::PI * x[0]).cos();
    for (node, x) in mesh.points.iter().enumerate() {
        motion.velocity[3 * node] = 1e-4 * shape(x);
    }
    // Holding the sides after each step softens the bar by the square of the step: short steps.
    let dt = 0.015 * solid.stable_step();
    let mut integrator = Integrator::new(Scheme::A);
    let lame = Lame::new(1000.0, 0.3).map_err(failed("material"))?;
    let period = 2.0 / lame.wave_modulus().sqrt();
    let (mut crossings, mut last) = (Vec::new(), 1.0f64);
    while motion.time < 1.8 * period {
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed("stepping"))?;
        // Lateral motion is held: pure strain along the bar.
        for node in 0..mesh.points.len() {
            for axis in 1..3 {
                motion.position[3 * node + axis] = mesh.points[node][axis];
                motion.velocity[3 * node + axis] = 0.0;
            }
        }
        let now: f64 = mesh
            .points
            .iter()
            .enumerate()
            .map(|(node, x)| solid.masses()[node] * shape(x) * motion.velocity[3 * node])
            .sum();
        if now * last < 0.0 {
            // Linear between the two samples.
            crossings.push(motion.time - dt * now.abs() / (now.abs() + last.abs()));
        }
        last = now;
    }
    let (first, end) = (crossings[0], crossings[crossings.len() - 1]);
    Ok((crossings.len() - 1) as f64 / (2.0 * (end - first)))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let lame = Lame::new(1000.0, 0.3).map_err(failed("material"))?;
    let exact = 0.5 * lame.wave_modulus().sqrt();
    let errors: Vec<f64> = [10, 20, 40]
        .into_iter()
        .map(|cells| Ok((frequency(cells)? - exact).abs() / exact))
        .collect::<Result<_, CaseError>>()?;
    out.at_most("first frequency of the bar (relative error)", "40 cells", errors[2], 0.01, CASE.source);
    out.at_least(
        "order of the frequency",
        "20 to 40 cells",
        (errors[1] / errors[2]).log2(),
        1.8,
        "second order in the cell size",
    );
    for fraction in [1.0, 0.5, 0.2] {
        let mut solid = Solid::<3>::new(vec![1.0, 3.0], vec![false; 2], Vector::zeros());
        let inverse = solid.inverse_masses();
        let spring = EdgeSpring::with_modulus([0, 1], 50.0, fraction, 1.0, &inverse);
        solid.add(EdgeSprings::new("spring", &[spring]));
        let mut motion =
            Motion { position: vec![0.0, 0.0, 0.0, 1.001, 0.0, 0.0], velocity: vec![0.0; 6], time: 0.0 };
        let mut integrator = Integrator::new(Scheme::B);
        integrator.tolerance = 1e-12;
        let mut lowest = 1.0f64;
        for _ in 0..8000 {
            run_steps(&mut integrator, &mut solid, &mut motion, 2.5e-4, 1)?;
            lowest = lowest.min((motion.position[3] - motion.position[0] - 1.0) / 1e-3);
        }
        let z: f64 = fraction;
        let exact = if z >= 1.0 { 0.0 } else { (-std::f64::consts::PI * z / (1.0 - z * z).sqrt()).exp() };
        let resolution = format!("overdamping fraction {fraction}");
        out.near(
            "overshoot of the spring",
            &resolution,
            (-lowest).max(0.0),
            exact,
            0.01 * exact.max(1e-2),
            CASE.source,
        );
    }
    Ok(())
}
