//! Pressures inside a body can change neither its momentum nor its angular momentum: in free flight with spin, at deformed states, for both corrections.
//!
//! Source: spec/incompressible-solids.md 5.2 G.

use super::bodies::{FREE, body, failed, keeper};
use super::statics::unit_material;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::Solid;
use splashdown_deformable::incompressible::{IncompressibleOptions, IncompressibleReport};
use splashdown_deformable::integrate::{Integrator, Scheme};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "incompressible/momentum",
    spec: "G (incompressible-solids), INC-2",
    summary: "a spinning, wobbling ball in free flight: momentum and angular momentum through both corrections of every step",
    source: "exact: internal pressures have neither resultant nor torque",
    speed: Speed::Fast,
    seconds: 3.0,
    run,
};

/// Momentum (kg m/s) and angular momentum (kg m^2/s), with the sums of the sizes of their parts.
fn momenta(solid: &Solid<3>, x: &[f64], v: &[f64]) -> (Vector<3>, Vector<3>, [f64; 2]) {
    let (mut linear, mut angular, mut scale) = (Vector::<3>::zeros(), Vector::<3>::zeros(), [0.0; 2]);
    for ((x, v), mass) in x.chunks_exact(3).zip(v.chunks_exact(3)).zip(solid.masses()) {
        let p = Vector::<3>::from_column_slice(v) * *mass;
        let l = Vector::<3>::from_column_slice(x).cross(&p);
        linear += p;
        angular += l;
        scale[0] += p.norm();
        scale[1] += l.norm();
    }
    (linear, angular, scale)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = ball_tetrahedra(Vector::<3>::new(0.3, -0.2, 0.5), 1.0, 5).map_err(failed)?;
    let (mut solid, mut motion, rings) = body(&mesh, unit_material(0.0)?, 0.0)?;
    let mut random = TestNumbers::new(2);
    let spin = Vector::<3>::new(1.2, -0.7, 0.9);
    for (v, x) in motion.velocity.chunks_exact_mut(3).zip(&mesh.points) {
        let fast = spin.cross(x) + Vector::<3>::new(0.4, 0.1, -0.3);
        (0..3).for_each(|k| v[k] = fast[k] + random.uniform(-0.2, 0.2));
    }
    let options = IncompressibleOptions::default();
    let mut integrator = Integrator::<3>::new(Scheme::B);
    integrator.incompressible = Some(keeper(&rings, options));
    let mut body = keeper(&rings, options);
    let dt = 0.01;
    let mut worst = [[0.0f64; 2]; 2];
    let mut moved = 0.0f64;
    for _ in 0..60 {
        for (correction, worst) in worst.iter_mut().enumerate() {
            let mut changed = motion.velocity.clone();
            let report = &mut IncompressibleReport::default();
            if correction == 0 {
                body.correct_motion(&solid, &motion.position, &mut changed, dt, &FREE, report)
                    .map_err(failed)?;
            } else {
                body.correct_velocity(&solid, &motion.position, &mut changed, &FREE, report)
                    .map_err(failed)?;
            }
            let (linear, angular, scale) = momenta(&solid, &motion.position, &motion.velocity);
            let (linear_after, angular_after, _) = momenta(&solid, &motion.position, &changed);
            worst[0] = worst[0].max((linear_after - linear).norm() / scale[0]);
            worst[1] = worst[1].max((angular_after - angular).norm() / scale[1]);
            let change = changed.iter().zip(&motion.velocity).map(|(a, b)| (a - b).abs());
            moved = change.fold(moved, f64::max);
        }
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed)?;
    }
    for (name, worst) in ["correction of positions", "correction of velocities"].into_iter().zip(worst) {
        out.at_most("change of momentum in a step, relative", name, worst[0], 1e-12, CASE.source);
        out.at_most("change of angular momentum in a step, relative", name, worst[1], 1e-12, CASE.source);
    }
    out.at_least("largest change of a velocity (m/s)", "both", moved, 1e-3, "there was something to correct");
    Ok(())
}
