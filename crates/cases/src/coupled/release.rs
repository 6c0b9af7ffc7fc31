//! A block at rest on a pad is pulled off: contact can only push, so it leaves within a step and nothing holds it back.
//!
//! Source: exact; spec/rigid-deformable-coupling.md 5.2-N.

use super::set_up::{Soft, add, at, ground, matter, step, tet_box, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{BodyState, Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/release",
    spec: "5.2-N (rigid-deformable-coupling), RDC-5",
    summary: "a block is thrown up off a soft pad: no adhesion, with contacts in the damping of the prediction and without",
    source: "exact: v t - g t^2 / 2",
    speed: Speed::Fast,
    seconds: 5.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    throw(out, true, "contacts kept in the prediction, dt = 1/60 s")?;
    throw(out, false, "contacts left to contact, dt = 1/60 s")
}

fn throw(out: &mut Measurements, keeps_coming: bool, resolution: &str) -> Result<(), CaseError> {
    let g = 9.8;
    let mut world = world([0.0, -g, 0.0])?;
    let rough = Material::new(0.0, 0.5);
    ground(&mut world, rough, 0.0)?;
    let block = Geometry::cuboid(Vector::from([0.4, 0.2, 0.4]));
    let block = add(&mut world, Kind::Dynamic, block, 100.0, rough, at([0.0, 1.2, 0.0]), Twist::zero())?;
    let mut soft = Soft::new(&world);
    soft.add(&tet_box([-0.5, 0.0, -0.5], [0.5, 1.0, 0.5], [3, 3, 3])?, matter(5e5, 0.3, 0.05)?, [0.0; 3])?;
    soft.solids.integrator.keeps_coming = keeps_coming;
    soft.finish(&mut world);
    for _ in 0..60 {
        step(&mut world, 1.0 / 60.0)?;
    }
    // Thrown up.
    let mut state = world.state().clone();
    let (body, frame) = (&world.model().bodies[block], state.bodies[block].frame);
    let twist = Twist { linear: Vector::from([0.0, 3.0, 0.0]), angular: Vector::zeros() };
    state.bodies[block] = BodyState::new(body, frame, &twist);
    let start = frame.position[1];
    if !world.restore(state) {
        return Err(CaseError("the state does not fit".into()));
    }
    step(&mut world, 1.0 / 60.0)?;
    let touching = step(&mut world, 1.0 / 60.0)?.contact.touching;
    out.at_most("pairs that touch in the second step", resolution, touching as f64, 0.0, CASE.source);
    for _ in 2..12 {
        step(&mut world, 1.0 / 60.0)?;
    }
    let rise = world.state().bodies[block].frame.position[1] - start;
    let exact = 3.0 * 0.2 - 0.5 * g * 0.04;
    // The pad pushes a little while it springs back within the first step.
    out.near("rise after 0.2 s (m)", resolution, rise, exact, 0.01 * exact, CASE.source);
    out.at_least("rise after 0.2 s (m)", resolution, rise, exact - 1e-9, "nothing pulls");
    Ok(())
}
