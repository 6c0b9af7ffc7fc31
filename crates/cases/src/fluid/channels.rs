//! Couette and Poiseuille flow: exact steady solutions with no-slip walls.
//!
//! The linear Couette profile is reproduced exactly. For the quadratic Poiseuille profile the mirrored wall ghost leaves the known offset
//! `g h^2 / (8 nu)` everywhere, which is second order; with it taken into account the profile is exact too.

use super::super::foundation::convergence;
use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::viscosity::ViscosityForm;
use splashdown_fluid::{FluidModel, Liquid, Side};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/channels",
    spec: "FB-T6",
    summary: "steady Couette and Poiseuille flow between no-slip walls: exact, second order",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

const SOURCE: &str = "exact: u = U y / H, u = g y (H - y) / 2 nu";
const NU: f64 = 0.1;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    for (name, form) in [("component", ViscosityForm::Laplacian), ("stress", ViscosityForm::Stress)] {
        let [couette, _] = errors(16, 1.0, 0.0, form)?;
        measurements.at_most(
            &format!("Couette, {name} form: largest error (m/s)"),
            "16",
            couette,
            1e-8,
            SOURCE,
        );
        let [_, offset] = errors(16, 0.0, 0.8, form)?;
        let row = format!("Poiseuille, {name} form: largest error after the known offset (m/s)");
        measurements.at_most(&row, "16", offset, 1e-8, SOURCE);
    }
    let mut curve = Vec::new();
    for n in [8, 16, 32] {
        curve.push([1.0 / n as f64, errors(n, 0.0, 0.8, ViscosityForm::Laplacian)?[0]]);
    }
    measurements.near("Poiseuille: order", "32", convergence::order(&curve), 2.0, 0.02, SOURCE);
    measurements.plot(convergence::plot("Poiseuille flow", "error (m/s)", &[("largest".into(), curve, 2.0)]));
    Ok(())
}

/// Largest error of the profile, and after taking off the wall ghost's offset.
fn errors(n: usize, lid: f64, push: f64, form: ViscosityForm) -> Result<[f64; 2], CaseError> {
    let h = 1.0 / n as f64;
    let top = Side::NoSlip { velocity: Vector::from([lid, 0.0]) };
    let domain = domain([4, n], h, [[Side::Periodic; 2], [Side::wall(), top]])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: NU, ..Liquid::new("oil", 1.0) });
    model.gravity = Vector::from([push, 0.0]);
    model.options.viscosity_form = form;
    model.options.viscosity_tolerance = 1e-13;
    let mut run = Run::new(model, |_, _| Ok(()))?;
    // Long steps: the steady state is what counts.
    for _ in 0..25 {
        run.step(20.0)?;
    }
    let u = run.state.velocity.component(0);
    let lattice = *u.lattice();
    let exact = |y: f64| lid * y + push * y * (1.0 - y) / (2.0 * NU);
    let offset = push * h * h / (8.0 * NU);
    let worst = |extra: f64| {
        u.reduce(0.0, |face, value| (value - exact(lattice.position(face)[1]) - extra).abs(), f64::max)
    };
    Ok([worst(0.0), worst(offset)])
}
