//! Flow through a channel with a step: what flows in flows out, and the flow becomes steady.

use super::setup::{Run, domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::advect::{Advection, Limiter};
use splashdown_fluid::{FluidModel, Liquid, Obstacle, Side};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/channel-step",
    spec: "FB-T22",
    summary: "uniform inflow, a step, an outlet at zero pressure: steady flow and exact balance of mass",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 5.0,
    run,
};

const SOURCE: &str = "exact: inflow = outflow";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let (n, h) = (16usize, 1.0 / 16.0);
    let inflow = Side::Inflow { velocity: Vector::from([1.0, 0.0]) };
    let domain = domain([6 * n, n], h, [[inflow, Side::open()], [Side::wall(); 2]])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: 0.02, ..Liquid::new("air", 1.0) });
    // A limiter without jumps: the revert limiter switches for ever and keeps the flow from settling.
    model.options.advection = Some(Advection { limiter: Limiter::Clamp, ..Default::default() });
    let step = Shape::cuboid(Vector::from([1.0, 0.25]))
        .and_then(|s| s.translated(Vector::from([0.0, 0.25])))
        .map_err(failed)?;
    model.obstacles.push(Obstacle::fixed("step", step));
    let mut run = Run::new(model, |_, _| Ok(()))?;
    let mut change: f64 = 0.0;
    for k in 0..1200 {
        let before = (k == 1199).then(|| run.state.velocity.clone());
        run.step(0.02)?;
        if let Some(before) = before {
            let old = before.component(0);
            change = run.state.velocity.component(0).reduce(0.0, |f, u| (u - old.at(f)).abs(), f64::max);
        }
    }
    let u = run.state.velocity.component(0);
    let flux = |i: isize| (0..n as isize).map(|j| u.at([i, j]) * h).sum::<f64>();
    let imbalance = (flux(0) - flux(6 * n as isize)).abs() / flux(0);
    measurements.at_most("(inflow - outflow) / inflow", "96 x 16", imbalance, 1e-8, SOURCE);
    measurements.at_most("change of the velocity in the last step (m/s)", "96 x 16", change, 1e-4, SOURCE);
    // Behind the step the flow turns back: there is an eddy.
    let back = (0..8).map(|j| u.at([20, j])).fold(f64::INFINITY, f64::min);
    measurements.at_most(
        "smallest velocity behind the step (m/s)",
        "96 x 16",
        back,
        -0.01,
        "an eddy behind a step",
    );
    Ok(())
}
