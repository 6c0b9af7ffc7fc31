//! Newton's cradle: five balls that touch, a sixth hits them; with e = 1 and no friction the last one leaves with the whole velocity.
//!
//! Source: exact; spec/rigid-bodies.md, row A21.

use super::set_up::{METHODS, add, at, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/cradle",
    spec: "A21 (rigid-bodies)",
    summary: "five touching balls pass the blow of a sixth on to the last",
    source: "exact: one ball leaves with v0",
    speed: Speed::Fast,
    seconds: 0.2,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in METHODS {
        let mut world = world::<3>(method, 0.0)?;
        let material = Material::new(1.0, 0.0);
        let ball = shared(Geometry::sphere(0.5))?;
        for i in 0..5 {
            add(
                &mut world,
                Kind::Dynamic,
                &ball,
                1.0,
                material,
                at([f64::from(i), 0.0, 0.0]),
                Twist::zero(),
            )?;
        }
        let hit = Twist { linear: Vector::from([2.0, 0.0, 0.0]), angular: Vector::zeros() };
        add(&mut world, Kind::Dynamic, &ball, 1.0, material, at([-1.52, 0.0, 0.0]), hit)?;
        let start = world.diagnostics().kinetic_energy;
        let mut most = 0.0f64;
        for _ in 0..60 {
            step(&mut world, 1.0 / 60.0)?;
            most = most.max(world.diagnostics().kinetic_energy / start);
        }
        let speed = |i: usize| world.state().bodies[i].velocity.x;
        let others = [0, 1, 2, 3, 5].into_iter().map(|i| speed(i).abs()).fold(0.0, f64::max);
        let resolution = format!("{name}, dt = 1/60 s");
        out.near("last ball (m/s)", &resolution, speed(4), 2.0, 0.1, "A21");
        out.at_most("other balls (m/s)", &resolution, others, 0.1, "A21");
        out.at_most("kinetic energy over that at the start", &resolution, most, 1.0 + 1e-12, "A21");
    }
    Ok(())
}
