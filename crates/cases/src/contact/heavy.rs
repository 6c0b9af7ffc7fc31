//! Scene HEAVY: a cube of R kg on one of 1 kg, and a tower of ten cubes, light and heavy in turn. Worst overlap in the last of 5 s.
//!
//! Source: the project's mark: R = 1e4 with less than 0.1 mm (PyBullet fails at 100, MuJoCo at 1000, Rapier and box3d overlap by 28 mm at 100).

use super::set_up::{add, at, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/heavy",
    spec: "A20, HEAVY (rigid-bodies)",
    summary: "mass ratios from 1 to 10 000, heavy on light and in a tower of ten, without crushing anything",
    source: "mark: 0.1 mm",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

/// Deepest overlap (m) of neighbours in the last second of 5 s at 60 steps a second.
fn overlap(masses: &[f64]) -> Result<f64, CaseError> {
    let mut world = world::<3>(ContactMethod::Simultaneous, 9.81)?;
    let material = Material::new(0.0, 0.5);
    ground(&mut world, material, 0.0)?;
    let cube = shared(Geometry::cuboid(Vector::repeat(0.1)))?;
    for (i, &mass) in masses.iter().enumerate() {
        add(
            &mut world,
            Kind::Dynamic,
            &cube,
            mass,
            material,
            at([0.0, 0.1 + 0.2 * i as f64, 0.0]),
            Twist::zero(),
        )?;
    }
    let mut worst = 0.0f64;
    for n in 0..300 {
        step(&mut world, 1.0 / 60.0)?;
        if n >= 240 {
            let mut below = -0.1;
            for body in world.state().bodies.iter().skip(1) {
                worst = worst.max(below + 0.2 - body.frame.position.y);
                below = body.frame.position.y;
            }
        }
    }
    Ok(worst)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for ratio in [1.0, 10.0, 100.0, 1000.0, 1e4] {
        let upright = overlap(&[1.0, ratio])?;
        out.at_most(&format!("R = {ratio}: overlap (m)"), "2 cubes, dt = 1/60 s", upright, 1e-4, CASE.source);
        let masses: Vec<f64> = (0..10).map(|i| if i % 2 == 0 { 1.0 } else { ratio }).collect();
        let tower = overlap(&masses)?;
        out.at_most(
            &format!("R = {ratio}: overlap (m)"),
            "tower of 10, dt = 1/60 s",
            tower,
            1e-4,
            CASE.source,
        );
    }
    Ok(())
}
