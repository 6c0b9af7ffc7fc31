//! Momentum over a thousand whole steps (Must show 3 of the issue of fluid and structure): a box that wraps around, full of a fluid that swirls, with bodies in it.
//!
//! The coupled solves conserve momentum to rounding by themselves ([`balance`](super::balance)); transport along paths does not, and gives back what it loses with `keep_momentum`. The sum of
//! the fluid's momentum, with that of the fluid lumped on bodies, and of the bodies' own is what the log of a run tells. Bodies that press on each other close faces of each other's cells (FS-17), and contact
//! changes their velocities after the solve: neither may cost momentum, whatever holds the faces between them and however contact is solved.

use super::super::fluid::setup::{domain, failed};
use super::setup::{IMPROVED, SOURCE_RECIPE};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_couple::fluid_structure::CouplingOptions;
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, ContactMethod, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/momentum",
    spec: "FS-17, FS-T8; Must show 3 (issue of fluid and structure)",
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
    for (what, options, method) in [
        ("our choices", IMPROVED, ContactMethod::Simultaneous),
        ("published choices", SOURCE_RECIPE, ContactMethod::Simultaneous),
        ("pair after pair", IMPROVED, ContactMethod::Propagation),
    ] {
        for viscosity in [0.0, 0.05] {
            let (moved, touching) = pressed(options, method, viscosity)?;
            let row =
                format!("change of momentum over its size, five boxes that press on each other, {what}");
            measurements.at_most(&row, &format!("viscosity {viscosity} Pa s"), moved, 1e-10, SOURCE);
            let row = format!("steps in which boxes touch, {what}");
            let some = "or nothing would be shown";
            measurements.at_least(&row, &format!("viscosity {viscosity} Pa s"), touching as f64, 5.0, some);
        }
    }
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

/// Momentum of fluid and bodies, and the sum of the sizes of its parts.
fn total<const D: usize>(world: &World<D>) -> (Vector<D>, f64)
where
    Dim<D>: Space<D>,
{
    let measured = world.diagnostics();
    let fluid = measured.fluid.map_or_else(Vec::new, |fluid| fluid.momentum);
    let size: f64 = fluid.iter().chain(&measured.momentum).map(|part| part.abs()).sum();
    let sum = Vector::<D>::from_fn(|axis, _| {
        measured.momentum[axis] + fluid.get(axis).copied().unwrap_or_default()
    });
    (sum, size)
}

/// Five boxes of densities 0.03 to 30 in a row that run into each other: largest change of momentum over its size in sixty steps, and in how many of these they touch.
fn pressed(
    options: CouplingOptions,
    method: ContactMethod,
    viscosity: f64,
) -> Result<(f64, usize), CaseError> {
    let n = 20;
    let domain = domain([n; 2], 1.0 / n as f64, [[Side::Periodic; 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 1.0) });
    model.options.keep_momentum = true;
    let mut world = World::<2>::new(Vector::zeros()).map_err(failed)?;
    world.set_coupling(Some(options));
    world.options_mut().contact.method = method;
    // It holds still what lies below while what lies above is pushed off, with whatever momentum that takes.
    world.options_mut().contact.shock_propagation = false;
    let half = 0.07;
    let geometry = Arc::new(Geometry::cuboid(Vector::repeat(half)).map_err(failed)?);
    for (number, density) in [0.3, 30.0, 0.03, 3.0, 1.0].into_iter().enumerate() {
        let mass = 4.0 * half * half * density;
        let name = format!("box {number}");
        let body = Body::with_geometry(name, Kind::Dynamic, mass, geometry.clone()).map_err(failed)?;
        let x = 0.2 + 0.15 * number as f64;
        let offset = if number % 2 == 0 { 0.03 } else { -0.04 };
        let frame = Frame { position: Vector::from([x, 0.5 + offset]), ..Frame::identity() };
        let linear = Vector::from([3.0 * (0.5 - x), 4.0 * offset]);
        world.add_body(body, frame, Twist { linear, ..Twist::zero() });
    }
    let mut state = FluidState::at_rest(&model);
    state.set_velocity(&model, |_| Vector::from([0.3, -0.1]));
    world.set_fluid(model, state).map_err(failed)?;
    world.step(0.01).map_err(failed)?;
    let (start, size) = total(&world);
    let (mut moved, mut touching) = (0.0f64, 0);
    for _ in 0..60 {
        let report = world.step(0.01).map_err(failed)?;
        touching += usize::from(report.contact.touching > 0);
        moved = moved.max((total(&world).0 - start).norm() / size);
    }
    Ok((moved, touching))
}
