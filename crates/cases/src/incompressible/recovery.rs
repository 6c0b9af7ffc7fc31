//! A body whose rings have 90 % of their volume takes it back no faster than the recovery time allows, and no velocity is left of it.
//!
//! Source: spec/incompressible-solids.md 5.2 L: with a step of a fiftieth of the recovery time at most 2 % of the rest volume a step.

use super::bodies::{failed, flat, keeper, tight};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::Solid;
use splashdown_deformable::incompressible::{IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "incompressible/recovery",
    spec: "L (incompressible-solids), INC-5, INC-6",
    summary: "lost volume comes back at most as fast as the recovery time says, monotonically, and leaves no velocity",
    source: "spec/incompressible-solids.md 5.2 L",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = ball_tetrahedra(Vector::zeros(), 1.0, 4).map_err(failed)?;
    let rest = flat(&mesh.points);
    let simplices: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rings = Rings::<3>::new(4, &simplices, &rest).ok_or_else(|| failed("no rings"))?;
    // No forces at all.
    let mut solid =
        Solid::<3>::new(vec![1.0; mesh.points.len()], vec![false; mesh.points.len()], Vector::zeros());
    let (recovery_time, dt) = (0.05, 0.001);
    let mut integrator = Integrator::<3>::new(Scheme::B);
    integrator.incompressible = Some(keeper(&rings, IncompressibleOptions { recovery_time, ..tight() }));
    let position: Vec<f64> = rest.iter().map(|x| x * 0.9f64.cbrt()).collect();
    let mut motion = Motion { velocity: vec![0.0; position.len()], position, time: 0.0 };
    let mut watch = keeper(&rings, tight());
    let mut errors = vec![watch.errors(&motion.position).1];
    let mut steps = 0;
    while errors[steps] > 1e-4 && steps < 20 {
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed)?;
        errors.push(watch.errors(&motion.position).1);
        steps += 1;
    }
    out.near("volume lost at first", "10 %", errors[0], 0.1, 1e-12, "set-up");
    // The correction is linear in the motion: its square adds a little to what the clamp allows.
    let fastest = errors.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
    out.at_most(
        "largest gain in a step, of the rest volume",
        "step of 1/50",
        fastest,
        0.02 * 1.02,
        CASE.source,
    );
    out.at_least("steps until the volume is back", "step of 1/50", steps as f64, 5.0, CASE.source);
    out.at_most("steps until the volume is back", "step of 1/50", steps as f64, 10.0, "it does come back");
    let rising = errors.windows(2).filter(|pair| pair[1] > pair[0]).count();
    out.near("steps in which the error grew", "step of 1/50", rising as f64, 0.0, 0.0, CASE.source);
    let fastest = motion.velocity.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    out.near("largest velocity at the end (m/s)", "step of 1/50", fastest, 0.0, 0.0, CASE.source);
    Ok(())
}
