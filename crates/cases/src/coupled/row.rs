//! A row of rigid and soft balls, hit by a rigid one without friction: the momentum goes through the row to the last ball and stays the same.
//!
//! Source: spec/rigid-deformable-coupling.md 5.1, row of spheres (figure 4.3 of the source): momentum to 1e-10 without friction, no ball overtakes another.

use super::set_up::{Soft, add, at, centre, failed, matter, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/row-of-spheres",
    spec: "5.1 row of spheres (rigid-deformable-coupling), RDC-8, RDC-39",
    summary: "a rigid ball at 5 m/s hits a row of soft and rigid balls: momentum, order, and the last ball leaves",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 10.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = world([0.0; 3])?;
    let smooth = Material::new(0.0, 0.0);
    let ball = || Geometry::sphere(1.0);
    let fast = Twist { linear: Vector::from([5.0, 0.0, 0.0]), angular: Vector::zeros() };
    let hitter = add(&mut world, Kind::Dynamic, ball(), 1000.0, smooth, at([-3.0, 0.0, 0.0]), fast)?;
    let mut soft = Soft::new(&world);
    soft.solids.integrator.tolerance = 1e-10;
    let mut rigid = Vec::new();
    for k in 0..4 {
        let x = 2.02 * f64::from(k);
        if k % 2 == 1 {
            rigid.push(add(
                &mut world,
                Kind::Dynamic,
                ball(),
                1000.0,
                smooth,
                at([x, 0.0, 0.0]),
                Twist::zero(),
            )?);
        } else {
            let mesh = ball_tetrahedra(Vector::from([x, 0.0, 0.0]), 1.0, 4).map_err(failed("meshing"))?;
            soft.add(&mesh, matter(5e5, 0.3, 0.01)?, [0.0; 3])?;
        }
    }
    soft.finish(&mut world);
    let before = world.diagnostics().momentum[0];
    let mut worst = 0.0f64;
    for _ in 0..60 {
        step(&mut world, 1.0 / 60.0)?;
        worst = worst.max((world.diagnostics().momentum[0] / before - 1.0).abs());
    }
    let resolution = "4 shells of tetrahedra, dt = 1/60 s";
    out.at_most("change of momentum, relative", resolution, worst, 1e-10, CASE.source);
    let x = |body: usize| world.state().bodies[body].frame.position[0];
    let order = [x(hitter), centre(&world, 0)[0], x(rigid[0]), centre(&world, 1)[0], x(rigid[1])];
    let closest = order.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    out.at_least(
        "least distance of neighbours' centres (m), radius 1",
        resolution,
        closest,
        1.5,
        "no ball overtakes",
    );
    let last = world.state().bodies[rigid[1]].velocity[0];
    out.at_least("speed of the last ball (m/s)", resolution, last, 1.0, "momentum reaches it");
    Ok(())
}
