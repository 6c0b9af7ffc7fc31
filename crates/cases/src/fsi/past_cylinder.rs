//! Flow that starts from rest past a fixed cylinder (V-4): the coupled viscous solve with a body that moves as told.
//!
//! A square of 4 m, a cylinder of radius 0.5 m in its middle, inflow of 1 m/s on the left, zero pressure on the right, slippery walls, viscosity 0.1. Velocities at
//! three places after half a second are compared with the values of a prototype of the same scheme and with their limit.

use super::super::fluid::setup::{domain, failed};
use super::super::foundation::convergence;
use super::setup::{IMPROVED, SOURCE_RECIPE};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_couple::fluid_structure::CouplingOptions;
use splashdown_fluid::advect::{Advection, Scheme};
use splashdown_fluid::{FluidModel, FluidOptions, FluidState, Liquid, Obstacle, Side};
use splashdown_geometry::grid::{Interpolation, Reach};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/past-cylinder",
    spec: "V-4, FS-42",
    summary: "flow started past a fixed cylinder: velocity in the wake against a refined limit",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 30.0,
    run,
};

/// Of the velocity in the wake on ever finer grids (m/s).
const LIMIT: [f64; 2] = [0.465, -0.236];
/// How well it is known (m/s).
const LIMIT_ERROR: [f64; 2] = [0.01, 0.003];
const SOURCE: &str = "prototype of the same scheme, and its limit (spec/fluid-structure.md V-4)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let published: [Row; 3] = [(40, [0.3506, -0.2260]), (80, [0.4123, -0.2337]), (160, [0.4394, -0.2355])];
    let improved: [Row; 2] = [(80, [0.4672, -0.2311]), (160, [0.4663, -0.2336])];
    let mut near = |row: String, n: usize, found: f64, expected: f64| {
        measurements.near(&row, &format!("{n}^2"), found, expected, 0.02 * expected.abs(), SOURCE);
    };
    let mut curves = [Vec::new(), Vec::new()];
    for (name, options, rows) in
        [("published", SOURCE_RECIPE, &published[..]), ("our", IMPROVED, &improved[..])]
    {
        for &(n, expected) in rows {
            let [wake, front, above] = velocities(n, Some(options))?;
            for (axis, expected) in expected.into_iter().enumerate() {
                near(format!("u{}, {name} choices (m/s)", axis + 1), n, wake[axis], expected);
                if name == "published" {
                    curves[axis].push([4.0 / n as f64, (LIMIT[axis] - wake[axis]).abs()]);
                }
            }
            if name == "our" && n == 160 {
                for (place, found, expected) in
                    [("(1.25, 2.5)", front, [0.810, 0.478]), ("(2, 3)", above, [1.540, 0.109])]
                {
                    for axis in 0..2 {
                        near(format!("u{} at {place} (m/s)", axis + 1), n, found[axis], expected[axis]);
                    }
                }
            }
        }
    }
    // The prototype's 0.4623 on the coarse grid, with a radius of five cells, is missed by 2.2 % (0.4521); the error is a quarter of that of the published choices.
    let (coarse, limit) = ((velocities(40, Some(IMPROVED))?[0][0] - LIMIT[0]).abs(), 0.25 * curves[0][0][1]);
    measurements.at_most("error of u1, our choices (m/s)", "40^2", coarse, limit, SOURCE);
    let order = convergence::order(&curves[0]);
    measurements.near("order of u1, published choices", "160^2", order, 1.05, 0.25, SOURCE);
    // Its limit is known to a third of the error on the middle grid, so the three grids are compared with each other.
    let [a, b, c] = [0, 1, 2].map(|grid| curves[1][grid][1]);
    let order = ((a - b).abs() / (b - c).abs()).log2();
    measurements.at_least(
        "order of u2, published choices, of its changes",
        "40^2 to 160^2",
        order,
        0.8,
        SOURCE,
    );
    // The reference solver: the cylinder as a wall, viscosity and pressure one after the other; no less accurate than the published choices on the same grid.
    let split = velocities(160, None)?[0];
    for (axis, curve) in curves.iter().enumerate() {
        let row = format!("error of u{}, splitting of Chorin (m/s)", axis + 1);
        let allowed = curve[2][1].max(LIMIT_ERROR[axis]);
        measurements.at_most(&row, "160^2", (split[axis] - LIMIT[axis]).abs(), allowed, SOURCE);
    }
    Ok(())
}

/// Cells along a side, and the velocity (m/s) in the wake.
type Row = (usize, [f64; 2]);

/// Velocities (m/s) after half a second in the wake at (3, 2.25), in front at (1.25, 2.5) and above at (2, 3); without choices of the coupling by the splitting of Chorin (FS-42).
fn velocities(n: usize, options: Option<CouplingOptions>) -> Result<[Vector<2>; 3], CaseError> {
    let inflow = Side::Inflow { velocity: Vector::from([1.0, 0.0]) };
    let domain = domain([n, n], 4.0 / n as f64, [[inflow, Side::open()], [Side::slip(); 2]])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: 0.1, ..Liquid::new("fluid", 1.0) });
    let middle = Vector::from([2.0, 2.0]);
    match options {
        Some(_) => {
            model.options.advection =
                Some(Advection { scheme: Scheme::SemiLagrangian, ..Advection::default() });
        }
        None => {
            model.options = FluidOptions::chorin();
            let cylinder = Shape::ball(0.5).and_then(|shape| shape.translated(middle)).map_err(failed)?;
            model.obstacles.push(Obstacle::fixed("cylinder", cylinder));
        }
    }
    let mut world = World::<2>::new(Vector::zeros()).map_err(failed)?;
    let geometry = Arc::new(Geometry::sphere(0.5).map_err(failed)?);
    let cylinder = Body::with_geometry("cylinder", Kind::Static, 1.0, geometry).map_err(failed)?;
    let frame = Frame { position: middle, ..Frame::identity() };
    world.add_body(cylinder, frame, Twist::zero());
    world.set_coupling(options);
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).map_err(failed)?;
    // The source's step: 0.9 cells of the fastest flow, which is 1.6 m/s beside the cylinder, the same part of a cell on all grids.
    let steps = n * 9 / 40;
    for _ in 0..steps {
        world.step(0.5 / steps as f64).map_err(failed)?;
    }
    let state = world.state().fluid.as_ref().ok_or_else(|| failed("no fluid"))?;
    let at = |x: [f64; 2]| state.velocity.sample(&Vector::from(x), Interpolation::Linear, Reach::default());
    Ok([at([3.0, 2.25]), at([1.25, 2.5]), at([2.0, 3.0])])
}
