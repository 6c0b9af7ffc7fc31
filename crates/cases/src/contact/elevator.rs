//! The energy clamp must not hold up flight nor stop a lift: a ball thrown up at 10 m/s rises `v^2 / 2g`, and a box on a kinematic floor that rises at
//! 1 m/s rises with it.
//!
//! Source: exact; spec/rigid-bodies.md, row A10.

use super::set_up::{METHODS, add, at, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/elevator",
    spec: "A10 (rigid-bodies)",
    summary: "with all clamps on a thrown ball reaches its height and a lift lifts",
    source: "exact: v^2 / 2g; the floor's velocity",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in METHODS {
        let resolution = format!("{name}, dt = 1/30 s");
        let mut flight = world::<3>(method, 9.8)?;
        let material = Material::new(0.5, 0.5);
        ground(&mut flight, material, 0.0)?;
        let ball = shared(Geometry::sphere(0.1))?;
        let up = Twist { linear: Vector::from([0.0, 10.0, 0.0]), angular: Vector::zeros() };
        add(&mut flight, Kind::Dynamic, &ball, 1.0, material, at([0.0, 0.1, 0.0]), up)?;
        let mut highest = 0.0f64;
        for _ in 0..60 {
            step(&mut flight, 1.0 / 30.0)?;
            highest = highest.max(flight.state().bodies[1].frame.position.y - 0.1);
        }
        // Sampled once a step, 2.8 mm below the top at most.
        out.near("thrown at 10 m/s: height (m)", &resolution, highest, 5.102, 0.005 * 5.102, "A10");

        let mut lift = world::<3>(method, 9.8)?;
        let floor = shared(Geometry::cuboid(Vector::from([1.0, 0.1, 1.0])))?;
        let rise = Twist { linear: Vector::from([0.0, 1.0, 0.0]), angular: Vector::zeros() };
        add(&mut lift, Kind::Kinematic, &floor, 1.0, material, at([0.0, -0.1, 0.0]), rise)?;
        let cube = shared(Geometry::cuboid(Vector::repeat(0.25)))?;
        add(
            &mut lift,
            Kind::Dynamic,
            &cube,
            2.0,
            Material::new(0.0, 0.5),
            at([0.0, 0.25, 0.0]),
            Twist::zero(),
        )?;
        for _ in 0..60 {
            step(&mut lift, 1.0 / 30.0)?;
        }
        let state = &lift.state().bodies[1];
        out.near("box on a lift at 1 m/s: its speed (m/s)", &resolution, state.velocity.y, 1.0, 1e-6, "A10");
        out.near(
            "box on a lift: height above the floor (m)",
            &resolution,
            state.frame.position.y - 2.0,
            0.25,
            1e-4,
            "A10",
        );
    }
    Ok(())
}
