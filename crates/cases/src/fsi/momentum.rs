//! Momentum over a thousand whole steps (Must show 3 of the issue of fluid and structure): a box that wraps around, full of a fluid that swirls, with bodies in it.
//!
//! The coupled solves conserve momentum to rounding by themselves ([`balance`](super::balance)); transport along paths does not, and gives back what it loses with `keep_momentum`. The sum of
//! the fluid's momentum, with that of the fluid lumped on bodies, and of the bodies' own is what the log of a run tells.

use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/momentum",
    spec: "FS-T8; Must show 3 (issue of fluid and structure)",
    summary: "a thousand steps of a periodic box of fluid with bodies, in the plane and in space: total momentum to rounding",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 10.0,
    run,
};

const SOURCE: &str = "exact: nothing pushes from outside (spec/fluid-structure.md 3.12)";
const STEPS: usize = 1000;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    judge(measurements, "2D, no viscosity", drift::<2>(24, 0.0, true, STEPS)?);
    judge(measurements, "2D, viscosity 0.01 Pa s", drift::<2>(24, 0.01, true, STEPS)?);
    judge(measurements, "3D, no viscosity", drift::<3>(10, 0.0, true, STEPS)?);
    // What transport loses by itself: the option must make the difference.
    let [lost, _] = drift::<2>(24, 0.0, false, STEPS)?;
    measurements.at_least(
        "change of momentum over its size without `keep_momentum`",
        "2D, no viscosity",
        lost,
        1e-6,
        SOURCE,
    );
    Ok(())
}

fn judge(measurements: &mut Measurements, what: &str, [moved, travelled]: [f64; 2]) {
    let quantity = format!("change of momentum over its size, {STEPS} steps");
    measurements.at_most(&quantity, what, moved, 1e-10, SOURCE);
    // Bodies that stay in their cells would show nothing.
    measurements.at_least("way of the first body (cells)", what, travelled, 3.0, SOURCE);
}

/// Largest change of the total momentum, over the sum of the sizes of the parts at the start, and how far (cells) the first body went.
fn drift<const D: usize>(n: usize, viscosity: f64, keep: bool, steps: usize) -> Result<[f64; 2], CaseError>
where
    Dim<D>: Space<D>,
{
    let h = 1.0 / n as f64;
    let domain = domain([n; D], h, [[Side::Periodic; 2]; D])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 1.0) });
    model.options.keep_momentum = keep;
    let mut world = World::<D>::new(Vector::zeros()).map_err(failed)?;
    for (name, density, along) in [("light", 0.2, 0.25), ("heavy", 5.0, 0.7)] {
        let radius = 0.15;
        let geometry = Arc::new(Geometry::sphere(radius).map_err(failed)?);
        let volume = std::f64::consts::PI * radius * radius * if D == 2 { 1.0 } else { 4.0 / 3.0 * radius };
        let body = Body::with_geometry(name, Kind::Dynamic, density * volume, geometry).map_err(failed)?;
        let frame = Frame { position: Vector::repeat(along), ..Frame::identity() };
        let linear = Vector::from_fn(|axis, _| if axis == 0 { 0.3 } else { -0.1 });
        world.add_body(body, frame, Twist { linear, ..Twist::zero() });
    }
    let mut state = FluidState::at_rest(&model);
    let tau = std::f64::consts::TAU;
    // Eddies on a uniform stream.
    state.set_velocity(&model, |x| {
        Vector::from_fn(|axis, _| match axis {
            0 => 0.2 + 0.5 * (tau * x[1]).sin(),
            1 => 0.5 * (tau * x[0]).sin(),
            _ => 0.1,
        })
    });
    world.set_fluid(model, state).map_err(failed)?;
    let total = |world: &World<D>| {
        let measured = world.diagnostics();
        let fluid = measured.fluid.map_or_else(Vec::new, |fluid| fluid.momentum);
        let size: f64 = fluid.iter().chain(&measured.momentum).map(|part| part.abs()).sum();
        let sum = Vector::<D>::from_fn(|axis, _| {
            measured.momentum[axis] + fluid.get(axis).copied().unwrap_or_default()
        });
        (sum, size)
    };
    let dt = 0.4 * h;
    // Before the first solve fluid and bodies have nothing to do with each other.
    world.step(dt).map_err(failed)?;
    let ((start, size), from) = (total(&world), world.state().bodies[0].frame.position);
    let mut moved: f64 = 0.0;
    let mut way: f64 = 0.0;
    for _ in 0..steps {
        world.step(dt).map_err(failed)?;
        moved = moved.max((total(&world).0 - start).norm() / size);
        way = way.max((world.state().bodies[0].frame.position - from).norm());
    }
    Ok([moved, way / h])
}
