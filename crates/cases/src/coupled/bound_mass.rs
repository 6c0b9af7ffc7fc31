//! A rigid mass bound to the free end of an elastic bar swings along it: `omega = (beta / L) sqrt(E / rho)` with `beta tan beta = m_bar / m_rigid`.
//!
//! Source: exact for thin bars; spec/rigid-deformable-coupling.md 5.2-H: beta = 0.86033 and 0.31105 for the ratios 1 and 0.1.

use super::set_up::{Soft, add, at, failed, matter, step, tet_box, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/bound-mass",
    spec: "5.2-H (rigid-deformable-coupling), RDC-30, RDC-31",
    summary: "a rigid mass bound to a bar swings at the bar's frequency; second order in the size of the elements",
    source: "exact: beta tan beta = m_bar / m_rigid",
    speed: Speed::Fast,
    seconds: 5.0,
    run,
};

/// Relative error of the period with `cells` along the bar; the mass of bound particles is part of the rigid mass.
fn error(cells: usize, ratio: f64, beta: f64) -> Result<f64, CaseError> {
    let (young, length, side) = (1e6, 1.0, 0.05);
    let bar = 1000.0 * length * side * side;
    let h = length / cells as f64;
    let mut world = world([0.0; 3])?;
    let end = at([length, 0.5 * side, 0.5 * side]);
    let twist = Twist { linear: Vector::from([1e-3, 0.0, 0.0]), angular: Vector::zeros() };
    let cube = Geometry::cuboid(Vector::from([0.4 * h, side, side]));
    // The last layer of nodes has half a cell's mass, which binding takes away.
    let rigid = bar / ratio + 0.5 * bar / cells as f64;
    let cube = add(&mut world, Kind::Dynamic, cube, rigid, Material::new(0.0, 0.0), end, twist)?;
    let mesh = tet_box([0.0; 3], [length, side, side], [cells, 1, 1])?;
    let mut soft = Soft::new(&world);
    soft.add(&mesh, matter(young, 0.0, 0.0)?, [0.0; 3])?;
    // The first mode alone.
    soft.set_velocity(|x| [1e-3 * (beta * x[0] / length).sin() / beta.sin(), 0.0, 0.0]);
    soft.pin(|x| x[0] < 1e-9);
    let mass = soft.bind(&world, cube, |x| x[0] > length - 1e-9);
    if (mass / bar * cells as f64 - 0.5).abs() > 1e-9 {
        return Err(CaseError::new("binding the last layer", mass));
    }
    soft.finish(&mut world);
    let period = std::f64::consts::TAU * length / beta / (young / 1000.0f64).sqrt();
    let dt = period / 500.0;
    let (mut crossings, mut last) = (Vec::new(), 0.0);
    for count in 1..=1700 {
        step(&mut world, dt)?;
        let x = world.state().bodies[cube].frame.position[0] - length;
        if last > 0.0 && x <= 0.0 {
            crossings.push(dt * (f64::from(count) - 1.0 + last / (last - x)));
        }
        last = x;
    }
    let (Some(first), Some(last)) = (crossings.first(), crossings.last()) else {
        return Err(failed("counting periods")("none seen"));
    };
    Ok((last - first) / (crossings.len() as f64 - 1.0) / period - 1.0)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (ratio, beta) in [(1.0, 0.86033), (0.1, 0.31105)] {
        let [coarse, fine] = [error(5, ratio, beta)?, error(20, ratio, beta)?];
        let resolution = format!("bar over mass {ratio}, 20 cells");
        out.near("period, relative error", &resolution, fine, 0.0, 0.02, CASE.source);
        let order = 0.5 * (coarse / fine).abs().log2();
        // With the heavy mass what is left at 20 cells is no more than the step's own error.
        out.at_least("order of the error in the cell size", &resolution, order, 1.9, "5 and 20 cells");
    }
    Ok(())
}
