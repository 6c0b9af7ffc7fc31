//! Damping and volume in one solve against one after the other: the same motion as the step goes to zero, and a velocity that keeps volume at the end of a step of any length.
//!
//! Source: spec/incompressible-solids.md 3.9, 5.2 K.

use super::annulus::ring;
use super::bodies::{failed, flat, keeper};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::incompressible::{IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Elements, Solid};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "incompressible/monolithic",
    spec: "K (incompressible-solids), INC-23",
    summary: "a damped incompressible ring with damping and volume in one solve: agrees with two solves as the step goes to zero, keeps volume at any step",
    source: "spec/incompressible-solids.md 5.2 K",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

/// Positions after a second, and the largest relative rate of a ring's area (1/s) at the end of any step, with the rings half way.
fn simulate(dt: f64, scheme: Scheme, monolithic: bool) -> Result<(Vec<f64>, f64), CaseError> {
    let mesh = ring(4, 24);
    let material = Material {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(2.0, 0.0).map_err(failed)?,
        density: 1.0,
        damping: Damping { kind: DampingKind::Linear, time: 0.1 },
    };
    let elements = Elements::triangles(&mesh, 0, material).map_err(failed)?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::<2>::new(mass, vec![false; mesh.points.len()], Vector::zeros());
    solid.add(elements);
    // Radially, and sideways where damping and pressure have something to settle between them.
    let velocity = mesh.points.iter().flat_map(|x| {
        let v = x * (0.5 / x.norm_squared()) + Vector::<2>::new(0.3 * x[1] * x[1], -0.2 * x[0] * x[1]);
        [v[0], v[1]]
    });
    let position = flat(&mesh.points);
    let simplices: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rings = Rings::<2>::new(3, &simplices, &position).ok_or_else(|| failed("no rings"))?;
    let mut motion = Motion { velocity: velocity.collect(), position, time: 0.0 };
    let mut integrator = Integrator::<2>::new(scheme);
    integrator.tolerance = 1e-10;
    let options =
        IncompressibleOptions { tolerance: 1e-10, max_iterations: 20000, monolithic, ..Default::default() };
    integrator.incompressible = Some(keeper(&rings, options));
    let mut watch = rings.clone();
    let mut worst = 0.0f64;
    for _ in 0..(1.0 / dt).round() as usize {
        let before = motion.position.clone();
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed)?;
        let part = if scheme == Scheme::B { 0.5 } else { 1.0 };
        let there: Vec<f64> =
            before.iter().zip(&motion.position).map(|(old, new)| old + part * (new - old)).collect();
        watch.update(&there);
        let mut rate = vec![0.0; watch.len()];
        watch.apply(&motion.velocity, &mut rate);
        worst = rate.iter().zip(watch.rest()).fold(worst, |most, (rate, rest)| most.max((rate / rest).abs()));
    }
    Ok((motion.position, worst))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (scheme, letter) in [(Scheme::B, "B"), (Scheme::C, "C")] {
        let mut differences = Vec::new();
        for dt in [0.02, 0.01, 0.005] {
            let name = format!("scheme {letter}, {dt} s");
            let (whole, rate) = simulate(dt, scheme, true)?;
            let (split, split_rate) = simulate(dt, scheme, false)?;
            let difference = whole.iter().zip(&split).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            differences.push(difference);
            out.at_most(
                "largest rate of a ring at the end of a step, one solve (1/s)",
                &name,
                rate,
                1e-6,
                "tolerance of the solve",
            );
            out.at_least(
                "the same, two solves (1/s)",
                &name,
                split_rate,
                1e-4,
                "spec 3.4: not divergence-free",
            );
        }
        for (pair, name) in differences.windows(2).zip(["0.02 to 0.01 s", "0.01 to 0.005 s"]) {
            let name = format!("scheme {letter}, {name}");
            // First order asymptotically.
            out.at_least(
                "order at which both agree",
                &name,
                (pair[0] / pair[1]).log2(),
                0.8,
                "difference O(dt)",
            );
        }
        out.at_most(
            "largest difference of positions (m)",
            &format!("scheme {letter}, 0.005 s"),
            differences[2],
            0.01,
            "difference O(dt)",
        );
    }
    Ok(())
}
