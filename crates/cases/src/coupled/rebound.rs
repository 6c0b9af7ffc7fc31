//! Restitution in the coupled step: a rigid ball that meets the ground rebounds with its coefficient, one that lies there with `e = 1` stays, and soft things do not bounce by contact.
//!
//! Source: spec/rigid-deformable-coupling.md 5.2-L.

use super::set_up::{Soft, add, at, ground, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/restitution",
    spec: "5.2-L (rigid-deformable-coupling), RDC-8, RDC-11",
    summary: "rebound with e = 0.5, rest with e = 1, a particle that does not bounce, all beside each other in one world",
    source: "exact: v e; spec/rigid-deformable-coupling.md 5.2-L",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for dt in [1.0 / 24.0, 1.0 / 60.0, 1.0 / 240.0] {
        let resolution = format!("1/{:.0} s", 1.0 / dt);
        // Without weight: the speed after is that before times e.
        let mut floating = world([0.0; 3])?;
        ground(&mut floating, Material::new(0.5, 0.0), 0.0)?;
        let material = Material::new(0.5, 0.0);
        let twist = Twist { linear: Vector::from([0.0, -2.0, 0.0]), angular: Vector::zeros() };
        let ball = Geometry::sphere(0.1);
        let ball = add(&mut floating, Kind::Dynamic, ball, 1.0, material, at([0.0, 0.37, 0.0]), twist)?;
        let mut soft = Soft::new(&floating);
        soft.add_point(1.0, [1.0, 0.27, 0.0], [0.0, -2.0, 0.0]);
        soft.finish(&mut floating);
        for _ in 0..(0.5 / dt) as usize {
            step(&mut floating, dt)?;
        }
        let after = floating.state().bodies[ball].velocity[1];
        out.near("ball, e = 0.5: speed after 2 m/s down (m/s)", &resolution, after, 1.0, 1e-6, CASE.source);
        let particle = floating.state().solids.motion.speed::<3>(0)[1];
        out.near(
            "particle: speed after it has landed (m/s)",
            &resolution,
            particle,
            0.0,
            1e-9,
            "RDC-9: e = 0",
        );
        // With weight, at rest.
        let mut lying = world([0.0, -9.8, 0.0])?;
        ground(&mut lying, Material::new(1.0, 0.0), 0.0)?;
        let material = Material::new(1.0, 0.0);
        let ball = Geometry::sphere(0.1);
        let ball = add(&mut lying, Kind::Dynamic, ball, 1.0, material, at([0.0, 0.1, 0.0]), Twist::zero())?;
        let mut soft = Soft::new(&lying);
        soft.add_point(1.0, [1.0, 0.0, 0.0], [0.0; 3]);
        soft.finish(&mut lying);
        let (mut highest, mut point) = (0.0f64, 0.0f64);
        for _ in 0..(5.0 / dt) as usize {
            step(&mut lying, dt)?;
            highest = highest.max((lying.state().bodies[ball].frame.position[1] - 0.1).abs());
            point = point.max(lying.state().solids.motion.point::<3>(0)[1].abs());
        }
        out.at_most("ball at rest, e = 1: height in 5 s (m)", &resolution, highest, 1e-5, "1e-4 radii");
        out.at_most("particle at rest: height in 5 s (m)", &resolution, point, 1e-5, "likewise");
    }
    Ok(())
}
