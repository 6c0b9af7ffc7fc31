//! A rigid ball, a soft one and a single particle fall together: all follow `g t^2 / 2` exactly, because the half step velocity moves the positions.
//!
//! Source: exact; spec/rigid-deformable-coupling.md 5.2-M.

use super::set_up::{Soft, add, at, centre, failed, matter, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/free-fall",
    spec: "5.2-M (rigid-deformable-coupling), RDC-1, RDC-2, RDC-3",
    summary: "a rigid ball, a soft ball and a particle fall along the same parabola",
    source: "exact: g t^2 / 2",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = world([0.0, -9.8, 0.0])?;
    let ball = Geometry::sphere(0.5);
    let rigid = add(
        &mut world,
        Kind::Dynamic,
        ball,
        3.0,
        Material::new(0.5, 0.5),
        at([3.0, 0.0, 0.0]),
        Twist::zero(),
    )?;
    let mesh = ball_tetrahedra(Vector::zeros(), 0.5, 3).map_err(failed("meshing"))?;
    let mut soft = Soft::new(&world);
    soft.add(&mesh, matter(1e5, 0.3, 0.01)?, [0.0; 3])?;
    soft.add_point(2.0, [-3.0, 0.0, 0.0], [0.0; 3]);
    soft.finish(&mut world);
    for _ in 0..30 {
        step(&mut world, 1.0 / 30.0)?;
    }
    let resolution = "dt = 1/30 s, in parts for the elements";
    let exact = -4.9;
    let rounding = 1e-12 * 4.9;
    let state = world.state();
    let height = state.bodies[rigid].frame.position[1];
    out.near("rigid ball after 1 s (m)", resolution, height, exact, rounding, CASE.source);
    out.near("soft ball, centre (m)", resolution, centre(&world, 0)[1], exact, rounding, CASE.source);
    let point = state.solids.motion.point::<3>(mesh.points.len())[1];
    out.near("particle (m)", resolution, point, exact, rounding, CASE.source);
    Ok(())
}
