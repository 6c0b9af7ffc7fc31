//! Shorter steps keep volume better: in the drop of a soft ball, half the step lowers the largest change of its volume by at least 1.5.
//!
//! Source: spec/incompressible-solids.md 5.2 N.

use super::bodies::{body, failed, keeper};
use crate::{Case, CaseError, Measurements, Speed};
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
    name: "incompressible/halving",
    spec: "N (incompressible-solids)",
    summary: "a ball that lands: halving the step lowers the largest change of its volume by at least 1.5",
    source: "spec/incompressible-solids.md 5.2 N",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

/// Largest relative change of the whole volume while the ball lands, with fixed steps (s).
fn land(dt: f64) -> Result<f64, CaseError> {
    let mesh = ball_tetrahedra(Vector::<3>::new(0.0, 1.05, 0.0), 1.0, 3).map_err(failed)?;
    let material = Material {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(2e4, 0.0).map_err(failed)?,
        density: 1000.0,
        damping: Damping { kind: DampingKind::Linear, time: 0.02 },
    };
    let (mut solid, mut motion, rings) = body(&mesh, material, 9.8)?;
    // As fast as after the fall from 3 m.
    motion.velocity.chunks_exact_mut(3).for_each(|v| v[1] = -6.2);
    let mut integrator = Integrator::<3>::new(Scheme::B);
    let ground = Shape::cuboid(Vector::<3>::new(10.0, 1.0, 10.0)).map_err(failed)?;
    let mut frame = Frame::<3>::identity();
    frame.position[1] = -1.0;
    integrator.obstacles.push(Obstacle::fixed("ground", ground, frame, 0.0));
    let options = IncompressibleOptions { tolerance: 1e-6, max_iterations: 2000, ..Default::default() };
    integrator.incompressible = Some(keeper(&rings, options));
    let mut watch = keeper(&rings, options);
    let mut worst = 0.0f64;
    while motion.time < 0.25 {
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed)?;
        worst = worst.max(watch.errors(&motion.position).1);
    }
    Ok(worst)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let steps = [2e-3, 1e-3, 5e-4];
    let errors = steps.map(land);
    let mut before: Option<f64> = None;
    for (dt, error) in steps.into_iter().zip(errors) {
        let error = error?;
        let name = format!("step of {dt} s");
        out.at_most("largest change of the volume", &name, error, 0.01, "spec/incompressible-solids.md 5.1");
        if let Some(before) = before {
            out.at_least("change with the step before over this", &name, before / error, 1.5, CASE.source);
        }
        before = Some(error);
    }
    Ok(())
}
