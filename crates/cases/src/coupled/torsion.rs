//! A heavy rigid box bound to the end of a square elastic bar turns to and fro: a torsion pendulum with the stiffness `0.1406 G a^4 / L`.
//!
//! Source: St. Venant torsion of a square section; spec/rigid-deformable-coupling.md 5.2-I: within 5 % at 8 elements across, from the stiff side.

use super::set_up::{Soft, add, at, failed, matter, step, tet_box, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Coordinates, Dim, Space, Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/torsion",
    spec: "5.2-I (rigid-deformable-coupling), RDC-30",
    summary: "a rigid box on a square bar as a torsion pendulum: its period, and that it comes down with the size of the elements",
    source: "exact: 2 pi sqrt(J L / (0.1406 G a^4))",
    speed: Speed::Slow,
    seconds: 120.0,
    run,
};

/// Period over the exact one, with `across` cells on the side of the section.
fn period(across: usize) -> Result<f64, CaseError> {
    let (young, poisson, side, length) = (1e5, 0.3, 0.2, 1.0);
    let mut world = world([0.0; 3])?;
    let moment = 40.0;
    let half = 0.15;
    let cube = Geometry::cuboid(Vector::repeat(half));
    // m (2 half)^2 / 6 is the moment of a cube.
    let mass = moment * 6.0 / (4.0 * half * half);
    let spin = Twist { linear: Vector::zeros(), angular: Vector::from([0.02, 0.0, 0.0]) };
    let cube = add(
        &mut world,
        Kind::Dynamic,
        cube,
        mass,
        Material::new(0.0, 0.0),
        at([length + half, 0.0, 0.0]),
        spin,
    )?;
    let a = 0.5 * side;
    let mesh = tet_box([0.0, -a, -a], [length, a, a], [5 * across, across, across])?;
    let mut soft = Soft::new(&world);
    soft.add(&mesh, matter(young, poisson, 0.0)?, [0.0; 3])?;
    soft.pin(|x| x[0] < 1e-9);
    soft.bind(&world, cube, |x| x[0] > length - 1e-9);
    soft.finish(&mut world);
    let shear = young / (2.0 * (1.0 + poisson));
    let exact = std::f64::consts::TAU * (moment * length / (0.1406 * shear * side.powi(4))).sqrt();
    // Half a period, from rest in the middle to the next time there.
    let dt = exact / 200.0;
    let mut last = 1.0;
    for count in 1..=160 {
        step(&mut world, dt)?;
        let state = &world.state().bodies[cube];
        let turned = Dim::<3>::log(&state.frame.rotation);
        let angle = Coordinates::as_slice(&turned)[0];
        if count > 5 && angle <= 0.0 {
            return Ok(2.0 * dt * (f64::from(count) - 1.0 + last / (last - angle)) / exact);
        }
        last = angle;
    }
    Err(failed("waiting for half a period")("the box does not come back"))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let [coarse, fine] = [period(4)?, period(8)?];
    out.near("period over the exact one", "8 cells across", fine, 1.0, 0.05, CASE.source);
    out.at_most("period over the exact one: from the stiff side", "8 cells across", fine, 1.0, CASE.source);
    out.at_most(
        "error over that at 4 cells across",
        "8 cells across",
        (1.0 - fine) / (1.0 - coarse),
        0.6,
        "converges",
    );
    Ok(())
}
