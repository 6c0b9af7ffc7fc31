//! A stack of boxes stands for 5 s until a ball strikes it at its base; then it falls, and no energy appears.
//!
//! Source: spec/rigid-bodies.md, row E10 (figure 4.2 of the source, all bodies rigid) and E2.

use super::set_up::{METHODS, add, at, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/toppling",
    spec: "E10, E2 (rigid-bodies)",
    summary: "a stack of seven boxes stands until a ball knocks out its base",
    source: "spec/rigid-bodies.md, E10",
    speed: Speed::Fast,
    seconds: 4.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in METHODS {
        let resolution = format!("{name}, dt = 1/30 s");
        let mut world = world::<3>(method, 9.81)?;
        let material = Material::new(0.1, 0.5);
        ground(&mut world, material, 0.0)?;
        let cube = shared(Geometry::cuboid(Vector::repeat(0.25)))?;
        for i in 0..7 {
            add(
                &mut world,
                Kind::Dynamic,
                &cube,
                1.0,
                material,
                at([0.0, 0.25 + 0.5 * f64::from(i), 0.0]),
                Twist::zero(),
            )?;
        }
        // Released so that it arrives after 5 s: it waits on the ground until then.
        let ball = shared(Geometry::sphere(0.25))?;
        let striker =
            add(&mut world, Kind::Dynamic, &ball, 5.0, material, at([-3.0, 0.25, 0.0]), Twist::zero())?;
        for _ in 0..150 {
            step(&mut world, 1.0 / 30.0)?;
        }
        let standing = world.state().bodies[7].frame.position;
        out.at_most(
            "standing 5 s: displacement of the top (m)",
            &resolution,
            (standing - Vector::from([0.0, 3.25, 0.0])).norm(),
            5e-3,
            "E10",
        );
        let speed = world.diagnostics().max_speed;
        out.at_most("standing 5 s: speed (m/s)", &resolution, speed, 1e-2, "E2");
        let tilt = world.state().bodies[1..=7].iter().map(|body| {
            let up = body.frame.rotation * Vector::from([0.0, 1.0, 0.0]);
            up.y.clamp(-1.0, 1.0).acos().to_degrees()
        });
        out.at_most("standing 5 s: tilt (degrees)", &resolution, tilt.fold(0.0, f64::max), 1.0, "E2");
        let mut state = world.state().clone();
        state.bodies[striker].velocity = Vector::from([8.0, 0.0, 0.0]);
        if !world.restore(state) {
            return Err(CaseError("the state did not fit".into()));
        }
        let before = world.diagnostics().total_energy;
        let mut most = f64::NEG_INFINITY;
        for _ in 0..90 {
            step(&mut world, 1.0 / 30.0)?;
            most = most.max(world.diagnostics().total_energy - before);
        }
        out.at_most(
            "after the blow: height of the top box (m)",
            &resolution,
            world.state().bodies[7].frame.position.y,
            2.5,
            "E10",
        );
        out.at_most("energy gained (J)", &resolution, most, 1e-9 * before, "E2");
    }
    Ok(())
}
