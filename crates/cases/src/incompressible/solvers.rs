//! The residual that the pressure solves are stopped by is what minimal residuals make smallest: they need fewer iterations than conjugate gradients while a soft ball lands.
//!
//! The product solves with the diagonal as preconditioner, which helps conjugate gradients more; the source solved without, and so does the comparison: for every velocity of the landing,
//! with the particles on the ground kept, to the same residual of 1 %.
//!
//! Source: spec/incompressible-solids.md 5.1, solver comparison (000:717: 34 against 72 iterations on average): at most 0.7 times as many with 5000 tetrahedra.

use super::bodies::{body, failed, keeper};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::incompressible::{IncompressibleOptions, PressureSolver};
use splashdown_deformable::integrate::{Integrator, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};
use splashdown_solve::{
    CsrMatrix, Identity, Iteration, LinearOperator, Progress, Stopping, Workspace, minres, pcg,
};
use std::ops::ControlFlow;

pub(super) const CASE: Case = Case {
    name: "incompressible/solvers",
    spec: "5.1 solver comparison (incompressible-solids), INC-17",
    summary: "iterations of the pressure solves while a ball lands: minimal residuals against conjugate gradients",
    source: "spec/incompressible-solids.md 5.1",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

/// `R W R^T`, with the inverse mass of each coordinate: none along the normal of the ground where it is touched.
struct Plain {
    rates: CsrMatrix,
    inverse_mass: Vec<f64>,
}

impl LinearOperator for Plain {
    fn rows(&self) -> usize {
        self.rates.rows()
    }

    fn cols(&self) -> usize {
        self.rates.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut velocity = vec![0.0; self.rates.cols()];
        self.rates.add_transpose_multiply(x, &mut velocity);
        velocity.iter_mut().zip(&self.inverse_mass).for_each(|(v, inverse)| *v *= inverse);
        self.rates.multiply(&velocity, y);
    }
}

/// Iterations of minimal residuals and of conjugate gradients, without a preconditioner, until the rates of all rings are 1 % of what they were.
fn compare(system: &Plain, velocity: &[f64]) -> Result<[f64; 2], CaseError> {
    let mut rates = vec![0.0; system.rows()];
    system.rates.multiply(velocity, &mut rates);
    let mut counts = [0.0; 2];
    for (count, solve) in counts.iter_mut().zip([minres, pcg]) {
        // The first iteration after which the solver's own residual, in the same norm, is small enough.
        let mut needed = 0;
        let mut watch = |progress: Progress| {
            needed = progress.iteration;
            let small = progress.residual <= progress.target;
            if small { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut iteration =
            Iteration { monitor: Some(&mut watch), ..Iteration::new(Stopping::relative(1e-2)) };
        let mut pressure = vec![0.0; rates.len()];
        let workspace = &mut Workspace::default();
        solve(system, &mut Identity, &rates, &mut pressure, &mut iteration, workspace).map_err(failed)?;
        *count = needed as f64;
    }
    Ok(counts)
}

struct Landing {
    /// Iterations of a pressure solve of the product on average.
    own: f64,
    /// The same without a preconditioner, by minimal residuals and by conjugate gradients.
    plain: [f64; 2],
}

/// The first 0.3 s from the first contact on.
fn land(solver: PressureSolver) -> Result<Landing, CaseError> {
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
    let (mut iterations, mut steps, mut plain) = (0, 0.0, [0.0; 2]);
    let mut shape = rings.clone();
    while motion.time < 0.3 {
        solid.update(&motion.position).map_err(failed)?;
        let strain = solid.strain_rate_step(&motion.position, &motion.velocity);
        let dt = (0.5 * solid.stable_step()).min(strain).max(1e-5);
        let report = step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed)?;
        iterations += report.incompressible.iterations;
        steps += 1.0;
        shape.update(&motion.position);
        let rates = shape.matrix(solid.len()).map_err(failed)?;
        let mut inverse_mass: Vec<f64> =
            solid.inverse_masses().iter().flat_map(|&inverse| [inverse; 3]).collect();
        integrator.touches().iter().for_each(|touch| inverse_mass[3 * touch.node as usize + 1] = 0.0);
        let counts = compare(&Plain { rates, inverse_mass }, &motion.velocity)?;
        plain.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    // Two solves a step.
    Ok(Landing { own: iterations as f64 / (2.0 * steps), plain: plain.map(|sum| sum / steps) })
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let landing = land(PressureSolver::MinimalResiduals)?;
    let gradients = land(PressureSolver::ConjugateGradients)?.own;
    let name = "4320 tetrahedra";
    out.at_most("iterations, minimal residuals", name, landing.own, 34.0, "000:717");
    out.at_most("iterations, conjugate gradients", name, gradients, 72.0, "000:717");
    out.at_most("minimal residuals over conjugate gradients", name, landing.own / gradients, 1.0, "fewer");
    let [least, other] = landing.plain;
    let name = "4320 tetrahedra, no preconditioner";
    out.at_most("minimal residuals over conjugate gradients", name, least / other, 0.7, CASE.source);
    Ok(())
}
