//! A sheet of light particles between two heavy bodies that move towards each other: the particles cannot give way, so the bodies have to stop each other through them.
//!
//! Source: spec/rigid-deformable-coupling.md 5.2-O: overlap below a thousandth of the size at a mass ratio of 1e4.

use super::set_up::{Soft, add, at, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/squeeze",
    spec: "5.2-O (rigid-deformable-coupling), RDC-19, RDC-20",
    summary: "light particles between two heavy bodies carry the whole load",
    source: "spec/rigid-deformable-coupling.md 5.2-O",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for ratio in [1.0, 1e2, 1e4] {
        let mut world = world([0.0; 3])?;
        let material = Material::new(0.0, 0.3);
        let mut bodies = Vec::new();
        for sign in [-1.0, 1.0] {
            let block = Geometry::cuboid(Vector::repeat(0.5));
            let twist = Twist { linear: Vector::from([0.0, -0.1 * sign, 0.0]), angular: Vector::zeros() };
            let place = at([0.0, 0.502 * sign, 0.0]);
            bodies.push(add(&mut world, Kind::Dynamic, block, 100.0, material, place, twist)?);
        }
        let mut soft = Soft::new(&world);
        for i in 0..16 {
            let (x, z) = (f64::from(i % 4) * 0.25 - 0.375, f64::from(i / 4) * 0.25 - 0.375);
            soft.add_point(100.0 / ratio, [x, 0.0, z], [0.0; 3]);
        }
        soft.finish(&mut world);
        let mut deepest = 0.0f64;
        for _ in 0..10 {
            step(&mut world, 1.0 / 24.0)?;
            let [low, high] = [0, 1].map(|k| world.state().bodies[bodies[k]].frame.position[1]);
            deepest = deepest.max(1.0 - (high - low));
            for particle in 0..16 {
                let y = world.state().solids.motion.point::<3>(particle)[1];
                deepest = deepest.max(low + 0.5 - y).max(y - (high - 0.5));
            }
        }
        let resolution = format!("mass ratio {ratio:.0e}, dt = 1/24 s");
        out.at_most("deepest overlap, relative to the size", &resolution, deepest, 1e-3, CASE.source);
        let speed = bodies.iter().map(|&b| world.state().bodies[b].velocity.norm()).fold(0.0, f64::max);
        out.at_most(
            "speed of the bodies at the end (m/s)",
            &resolution,
            speed,
            1e-3,
            "inelastic, no net momentum",
        );
    }
    Ok(())
}
