//! The residual that the pressure solves are stopped by is what minimal residuals make smallest: they need fewer iterations than conjugate gradients while a soft ball lands.
//!
//! Source: spec/incompressible-solids.md 5.1, solver comparison (000:717: 34 against 72 iterations on average): at most 0.7 times as many with 5000 tetrahedra.

use super::bodies::{body, failed, keeper};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::incompressible::{IncompressibleOptions, PressureSolver};
use splashdown_deformable::integrate::{Integrator, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};

pub(super) const CASE: Case = Case {
    name: "incompressible/solvers",
    spec: "5.1 solver comparison (incompressible-solids), INC-17",
    summary: "iterations of the pressure solves while a ball lands: minimal residuals against conjugate gradients",
    source: "spec/incompressible-solids.md 5.1",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

/// Iterations of a pressure solve on average over 0.2 s from the first contact on.
fn land(solver: PressureSolver) -> Result<f64, CaseError> {
    let mesh = ball_tetrahedra(Vector::<3>::new(0.0, 1.0, 0.0), 1.0, 6).map_err(failed)?;
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
    integrator.tolerance = 1e-4;
    let ground = Shape::cuboid(Vector::<3>::new(10.0, 1.0, 10.0)).map_err(failed)?;
    let mut frame = Frame::<3>::identity();
    frame.position[1] = -1.0;
    integrator.obstacles.push(Obstacle::fixed("ground", ground, frame, 0.0));
    let options = IncompressibleOptions { recovery_time: 1.0 / 120.0, solver, ..Default::default() };
    integrator.incompressible = Some(keeper(&rings, options));
    let (mut iterations, mut solves) = (0, 0);
    while motion.time < 0.2 {
        solid.update(&motion.position).map_err(failed)?;
        let strain = solid.strain_rate_step(&motion.position, &motion.velocity);
        let dt = (0.5 * solid.stable_step()).min(strain).max(1e-5);
        let report = integrator.step(&mut solid, &mut motion, dt).map_err(failed)?;
        iterations += report.incompressible.iterations;
        solves += 2;
    }
    Ok(iterations as f64 / f64::from(solves))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let least = land(PressureSolver::MinimalResiduals)?;
    let gradients = land(PressureSolver::ConjugateGradients)?;
    let name = "4320 tetrahedra";
    out.at_most("iterations, minimal residuals", name, least, 34.0, "000:717");
    out.at_most("iterations, conjugate gradients", name, gradients, 72.0, "000:717");
    out.at_most("minimal residuals over conjugate gradients", name, least / gradients, 0.7, CASE.source);
    Ok(())
}
