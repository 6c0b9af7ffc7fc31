//! Two liquids of densities 1000 to 1 at rest, the interface anywhere between cell centres.
//!
//! The mass of a dual cell that the interface cuts is the mean weighted by the parts; with it the hydrostatic pressure is exact.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{FluidModel, Liquid, Side};
use splashdown_math::{Dim, Space};

pub(super) const CASE: Case = Case {
    name: "fluid/two-phase-hydrostatics",
    spec: "FB-T19",
    summary: "water under air, densities 1000 to 1, stays at rest with the interface off the grid",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 3.0,
    run,
};

const SOURCE: &str = "exact: u = 0";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut speed: f64 = 0.0;
    for height in [4.03, 4.5, 4.77, 5.2] {
        speed = speed.max(rest::<2>(height)?);
    }
    speed = speed.max(rest::<3>(4.37)?);
    measurements.at_most("largest speed after 50 steps (m/s)", "10^2, 10^3", speed, 1e-10, SOURCE);
    Ok(())
}

fn rest<const D: usize>(height: f64) -> Result<f64, CaseError>
where
    Dim<D>: Space<D>,
{
    let h = 0.1;
    let mut model =
        FluidModel::new(domain([10; D], h, [[Side::slip(); 2]; D])?, Liquid::new("water", 1000.0));
    model.liquids.push(Liquid::new("air", 1.0));
    model.gravity[1] = -9.81;
    model.options.pressure.divergence = 1e-13;
    model.options.pressure.relative = 1e-11;
    let mut run = Run::new(model, |model, state| {
        state.set_liquid(model, 0, |x| x[1] - height * h)?;
        state.set_liquid(model, 1, |x| height * h - x[1])
    })?;
    for _ in 0..50 {
        run.step(0.02)?;
    }
    Ok(run.diagnostics().max_speed)
}
