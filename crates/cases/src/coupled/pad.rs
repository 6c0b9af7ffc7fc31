//! A rigid block at rest on an elastic pad between frictionless faces, Poisson's ratio 0: a bar under its own weight and a load.
//!
//! Source: exact for small strain, `m g H / (E A) + rho g H^2 / (2 E)`; spec/rigid-deformable-coupling.md 5.2-G.

use super::set_up::{Soft, add, at, ground, matter, step, tet_box, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::integrate::Scheme;
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/pad",
    spec: "5.2-G (rigid-deformable-coupling), RDC-14, RDC-22",
    summary: "a rigid block sinks into the elastic pad that it rests on by what statics says, and comes to rest",
    source: "exact: m g H / (E A) + rho g H^2 / (2 E)",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    one(out, Scheme::B, "explicit elasticity, 4^3 cells, dt = 1/60 s")?;
    one(out, Scheme::LinearlyImplicit, "linearly implicit, 4^3 cells, dt = 1/60 s")
}

fn one(out: &mut Measurements, scheme: Scheme, resolution: &str) -> Result<(), CaseError> {
    // Stiff enough that the strain of 1 % keeps the geometry linear.
    let (young, height, mass, g) = (1e6, 1.0, 500.0, 9.8);
    let mut world = world([0.0, -g, 0.0])?;
    let smooth = Material::new(0.0, 0.0);
    ground(&mut world, smooth, 0.0)?;
    let block = Geometry::cuboid(Vector::from([0.7, 0.25, 0.7]));
    let start = height + 0.25;
    let block = add(&mut world, Kind::Dynamic, block, mass, smooth, at([0.0, start, 0.0]), Twist::zero())?;
    let mut soft = Soft::with_scheme(&world, scheme);
    soft.add(
        &tet_box([-0.5, 0.0, -0.5], [0.5, height, 0.5], [4, 4, 4])?,
        matter(young, 0.0, 0.03)?,
        [0.0; 3],
    )?;
    soft.finish(&mut world);
    let mut parts = 0;
    for _ in 0..60 {
        parts += step(&mut world, 1.0 / 60.0)?.parts;
    }
    if scheme == Scheme::LinearlyImplicit {
        out.at_most("parts of 60 steps", resolution, parts as f64, 60.0, "no limit from elasticity");
    }
    let sunk = start - world.state().bodies[block].frame.position[1];
    let expected = mass * g * height / young + 1000.0 * g * height * height / (2.0 * young);
    out.near("depth after 1 s (m)", resolution, sunk, expected, 0.01 * expected, CASE.source);
    let speed = world.state().bodies[block].velocity.norm();
    out.at_most("speed after 1 s (m/s)", resolution, speed, 1e-3, "at rest");
    let tilt = world.state().bodies[block].frame.vector_to_world(&Vector::from([0.0, 1.0, 0.0]));
    out.at_most("tilt (rad)", resolution, tilt[0].hypot(tilt[2]), 1e-4, "symmetry");
    Ok(())
}
