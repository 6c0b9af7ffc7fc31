//! Energy of the periodic vortices in which the two-way coupled disk of the source floats, without the disk.
//!
//! `psi = psi0 sin(k x) sin(k y)` on the unit square, `psi0 = 0.05`, `k = 2 pi`: kinetic energy 0.02467 for density 1, decaying with `4 nu k^2`, each velocity with `2 nu k^2`.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::viscosity::ViscousStep;
use splashdown_fluid::{FluidModel, Liquid, Side, TimeScheme};
use splashdown_math::Vector;
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "fluid/kinetic-energy",
    spec: "FB-T24",
    summary: "energy of the disk example's flow without the disk, and its rate of decay",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

const SOURCE: &str = "003_cabd28f6f1349f19 (disk example): KE = psi0^2 k^2 / 4; exact rate 2 nu k^2";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let (n, nu, psi) = (64usize, 0.002, 0.05);
    let domain = domain([n, n], 1.0 / n as f64, [[Side::Periodic; 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: nu, ..Liquid::new("fluid", 1.0) });
    model.options.scheme = TimeScheme::Reflection;
    model.options.viscous_step = ViscousStep::CrankNicolson;
    let k = TAU;
    let mut run = Run::new(model, |model, state| {
        state.set_velocity(model, |x| {
            let (sx, cx) = (k * x[0]).sin_cos();
            let (sy, cy) = (k * x[1]).sin_cos();
            Vector::from([psi * k * sx * cy, -psi * k * cx * sy])
        });
        Ok(())
    })?;
    let start = run.diagnostics().kinetic_energy;
    measurements.near("initial kinetic energy (J/m)", "64^2", start, 0.02467, 0.00003, SOURCE);
    for _ in 0..40 {
        run.step(0.025)?;
    }
    let rate = -0.5 * (run.diagnostics().kinetic_energy / start).ln();
    // Second order at 64 cells a wave: a few parts in a hundred.
    measurements.near("rate of decay / (2 nu k^2)", "64^2", rate / (2.0 * nu * k * k), 1.0, 0.03, SOURCE);
    Ok(())
}
