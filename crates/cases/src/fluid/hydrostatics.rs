//! Water at rest stays at rest, wherever its surface lies in a cell.
//!
//! The second-order free surface puts the pressure of air at the distance `theta h` above the highest wet centre; a linear pressure is then exact,
//! so gravity is balanced to rounding for any depth, down to `theta = 1e-3`.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{FluidModel, Liquid, Side};
use splashdown_math::{Dim, Space};

pub(super) const CASE: Case = Case {
    name: "fluid/hydrostatics",
    spec: "FB-T2",
    summary: "a column of water stays at rest for 100 steps, surface anywhere in a cell",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 3.0,
    run,
};

const SOURCE: &str = "exact: u = 0, p = rho g (depth)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let (mut speed, mut pressure): (f64, f64) = (0.0, 0.0);
    // In cells: just above, at and just below centres and faces.
    for height in [4.001, 4.3, 4.4999, 4.5, 4.501, 4.5011, 4.77, 5.0, 5.4] {
        let [s, p] = rest::<2>(height)?;
        (speed, pressure) = (speed.max(s), pressure.max(p));
    }
    let [s, p] = rest::<3>(4.37)?;
    (speed, pressure) = (speed.max(s), pressure.max(p));
    measurements.at_most("largest speed after 100 steps (m/s)", "8^2, 8^3", speed, 1e-12, SOURCE);
    measurements.at_most("relative error of the pressure", "8^2, 8^3", pressure, 1e-12, SOURCE);
    Ok(())
}

fn rest<const D: usize>(height: f64) -> Result<[f64; 2], CaseError>
where
    Dim<D>: Space<D>,
{
    let h = 0.125;
    let mut model = FluidModel::new(domain([8; D], h, [[Side::slip(); 2]; D])?, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.pressure.divergence = 1e-16;
    model.options.pressure.relative = 1e-15;
    let mut run = Run::new(model, |model, state| state.set_liquid(model, 0, |x| x[1] - height * h))?;
    for _ in 0..100 {
        run.step(0.02)?;
    }
    let exact = |j: isize| 9810.0 * (height - 0.5 - j as f64) * h;
    let error = (0..4).map(|j| {
        let mut cell = [3; D];
        cell[1] = j;
        (run.state.pressure.at(cell) / exact(j) - 1.0).abs()
    });
    let error = error.fold(0.0, f64::max);
    Ok([run.diagnostics().max_speed, error])
}
