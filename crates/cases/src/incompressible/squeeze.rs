//! A soft ball squeezed between two plates that touch it at first, move at constant speed and would meet after a second: how well it keeps its volume as it becomes a thin disc.
//!
//! Source: spec/incompressible-solids.md 5.1, plate squeeze (fig. 3.7 of 000): less than 0.1 % until 13 % of the thickness, 0.5 % until 2.5 %, 1.7 % until 1.5 %, with 22 000
//! tetrahedra; with 2000 it must come to 5 % with less than 1 %.

use super::bodies::{body, failed, keeper};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::incompressible::IncompressibleOptions;
use splashdown_deformable::integrate::{Integrator, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};

pub(super) const CASE: Case = Case {
    name: "incompressible/squeeze",
    spec: "5.1 plate squeeze, small (incompressible-solids), INC-19",
    summary: "a ball between plates, squeezed to a twentieth of its thickness: its volume within 1 %",
    source: "spec/incompressible-solids.md 5.1",
    speed: Speed::Fast,
    seconds: 10.0,
    run,
};

pub(super) const LARGE: Case = Case {
    name: "incompressible/squeeze-large",
    spec: "5.1 plate squeeze (incompressible-solids), INC-19",
    summary: "a ball of 20 000 tetrahedra between plates, squeezed to 1.5 % of its thickness: volume against thickness",
    speed: Speed::Slow,
    seconds: 600.0,
    run: run_large,
    ..CASE
};

/// Distance of the plates over that at first, and the relative error of the whole volume, step by step until `thinnest`.
fn squeeze(rings: usize, thinnest: f64) -> Result<Vec<[f64; 2]>, CaseError> {
    let mesh = ball_tetrahedra(Vector::zeros(), 1.0, rings).map_err(failed)?;
    let material = Material {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(2e4, 0.0).map_err(failed)?,
        density: 1000.0,
        damping: Damping { kind: DampingKind::Linear, time: 0.02 },
    };
    let (mut solid, mut motion, volumes) = body(&mesh, material, 0.0)?;
    let mut integrator = Integrator::<3>::new(Scheme::B);
    integrator.tolerance = 1e-4;
    for side in [-1.0, 1.0] {
        let plate = Shape::cuboid(Vector::<3>::new(40.0, 1.0, 40.0)).map_err(failed)?;
        let mut frame = Frame::<3>::identity();
        frame.position[1] = 2.0 * side;
        let mut plate = Obstacle::fixed("plate", plate, frame, 0.0);
        plate.twist.linear[1] = -side;
        integrator.obstacles.push(plate);
    }
    let options =
        IncompressibleOptions { contact_in_prediction: true, max_iterations: 500, ..Default::default() };
    integrator.incompressible = Some(keeper(&volumes, options));
    let mut watch = keeper(&volumes, options);
    let mut out = Vec::new();
    let end = 1.0 - thinnest;
    while motion.time < end - 1e-9 {
        solid.update(&motion.position).map_err(failed)?;
        // A step makes the ball at most 2 % thinner; elements that are flat already have no say.
        let thinner = 0.02 * (1.0 - motion.time);
        let dt = (0.5 * solid.stable_step()).min(thinner).min(end - motion.time);
        integrator.obstacles.iter_mut().for_each(|plate| plate.advance(dt));
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed)?;
        out.push([1.0 - motion.time, watch.errors(&motion.position).1]);
    }
    Ok(out)
}

/// Largest error until the given thickness.
fn worst(history: &[[f64; 2]], thickness: f64) -> f64 {
    history.iter().filter(|at| at[0] >= thickness - 1e-9).map(|at| at[1]).fold(0.0, f64::max)
}

fn plot(out: &mut Measurements, history: &[[f64; 2]]) {
    let points = history.iter().map(|at| [at[0], at[1].max(1e-8)]).collect();
    out.plot(Plot {
        title: "Squeezed ball".into(),
        x: "thickness, relative".into(),
        y: "change of the volume, relative".into(),
        scale: Scale::LogLog,
        series: vec![Series { label: "change of the volume".into(), points, reference: false }],
    });
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let history = squeeze(5, 0.05)?;
    plot(out, &history);
    let reached = history.last().map_or(1.0, |at| at[0]);
    out.at_most("thickness that is reached", "2500 tetrahedra", reached, 0.05 + 1e-9, CASE.source);
    out.at_most(
        "largest change of the volume",
        "2500 tetrahedra, until 5 %",
        worst(&history, 0.05),
        0.01,
        CASE.source,
    );
    Ok(())
}

fn run_large(out: &mut Measurements) -> Result<(), CaseError> {
    let history = squeeze(10, 0.015)?;
    plot(out, &history);
    let reached = history.last().map_or(1.0, |at| at[0]);
    out.at_most("thickness that is reached", "20 000 tetrahedra", reached, 0.015 + 1e-9, CASE.source);
    for (thickness, bound) in [(0.13, 0.001), (0.025, 0.005), (0.015, 0.017)] {
        let name = format!("20 000 tetrahedra, until {} %", 100.0 * thickness);
        out.at_most("largest change of the volume", &name, worst(&history, thickness), bound, CASE.source);
    }
    Ok(())
}
