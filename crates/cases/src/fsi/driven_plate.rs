//! A plate pushed along a channel by a constant force (FS-T11): Couette flow in both gaps, `v = F w / (2 mu h)`.

use super::super::fluid::setup::{domain, failed};
use super::super::foundation::convergence;
use super::setup::{Held, IMPROVED};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{FluidModel, Liquid, Side};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fsi/driven-plate",
    spec: "FS-T11",
    summary: "a plate pushed along a periodic channel reaches the speed of Couette flow, first order",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

const SOURCE: &str = "exact: v = F w / (2 mu h)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut curve = Vec::new();
    for n in [15, 30, 60] {
        let error = (terminal(n)? / EXACT - 1.0).abs();
        measurements.at_most("relative error of the speed", &n.to_string(), error, 1.6 / n as f64, SOURCE);
        curve.push([1.0 / n as f64, error]);
    }
    measurements.at_least("order", "60", convergence::order(&curve), 0.95, SOURCE);
    Ok(())
}

const FORCE: f64 = 7.0;
const VISCOSITY: f64 = 3.0;
const EXACT: f64 = FORCE / 3.0 / (2.0 * VISCOSITY);

fn terminal(n: usize) -> Result<f64, CaseError> {
    let domain = domain([n, n], 1.0 / n as f64, [[Side::wall(); 2], [Side::Periodic; 2]])?;
    let model = FluidModel::new(domain, Liquid { viscosity: VISCOSITY, ..Liquid::new("oil", 2.0) });
    let plate = Shape::cuboid(Vector::from([1.0 / 6.0, 0.7])).map_err(failed)?;
    let body = (plate, Vector::repeat(0.5), Some((2.0, vec![1e6])));
    let mut held = Held::new(model, vec![body], IMPROVED)?;
    let dt = 2.0;
    for _ in 0..40 {
        held.solids[0].twist.linear[1] += FORCE * dt / 2.0;
        held.step(dt)?;
    }
    Ok(held.solids[0].twist.linear[1])
}
