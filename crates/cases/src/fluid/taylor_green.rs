//! The Taylor-Green vortex: an exact, decaying solution of the Navier-Stokes equations.
//!
//! `u = (sin x cos y, -cos x sin y) exp(-2 nu t)` on the periodic square of side 2 pi. Kinetic energy falls as `exp(-4 nu t)`. First order with semi-Lagrangian
//! transport and splitting; second order with MacCormack, advection-reflection and Crank-Nicolson viscosity.

use super::super::foundation::convergence;
use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::advect::{Advection, Scheme};
use splashdown_fluid::viscosity::{ViscosityForm, ViscousStep};
use splashdown_fluid::{FluidModel, Liquid, Side, TimeScheme};
use splashdown_math::Vector;
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "fluid/taylor-green",
    spec: "FB-T5",
    summary: "decay of the Taylor-Green vortex: order 1 semi-Lagrangian, order 2 MacCormack with coupled viscosity",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 6.0,
    run,
};

const SOURCE: &str = "exact: exp(-2 nu t) (G. I. Taylor, A. E. Green 1937)";
const NU: f64 = 0.02;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut curves = Vec::new();
    for (name, second, form) in [
        ("semi-Lagrangian", false, ViscosityForm::Laplacian),
        ("MacCormack, reflection, Crank-Nicolson", true, ViscosityForm::Laplacian),
        ("the same with the coupled stress", true, ViscosityForm::Stress),
    ] {
        let (mut energy, mut velocity) = (Vec::new(), Vec::new());
        for n in [32, 64, 128] {
            let [e, v] = errors(n, second, form)?;
            energy.push([TAU / n as f64, e]);
            velocity.push([TAU / n as f64, v]);
        }
        let (order, bound) = if second { (2.0, 1.8) } else { (1.0, 0.8) };
        let row = |what: &str| format!("{name}: order of the {what}");
        measurements.at_least(&row("energy"), "128^2", convergence::order(&energy), bound, SOURCE);
        measurements.at_least(&row("velocity"), "128^2", convergence::order(&velocity), bound, SOURCE);
        curves.push((format!("{name}, energy"), energy, order));
        curves.push((format!("{name}, velocity"), velocity, order));
    }
    measurements.plot(convergence::plot("Taylor-Green vortex", "error", &curves));
    Ok(())
}

/// Errors of the energy relative to the start, and of the velocity (mean), at t = 1 s and CFL about 0.6.
fn errors(n: usize, second: bool, form: ViscosityForm) -> Result<[f64; 2], CaseError> {
    let domain = domain([n, n], TAU / n as f64, [[Side::Periodic; 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: NU, ..Liquid::new("fluid", 1.0) });
    model.options.viscosity_form = form;
    if second {
        model.options.scheme = TimeScheme::Reflection;
        model.options.viscous_step = ViscousStep::CrankNicolson;
    } else {
        model.options.advection = Some(Advection { scheme: Scheme::SemiLagrangian, ..Default::default() });
    }
    let vortex = |x: &Vector<2>| Vector::from([x[0].sin() * x[1].cos(), -x[0].cos() * x[1].sin()]);
    let mut run = Run::new(model, |model, state| {
        state.set_velocity(model, vortex);
        Ok(())
    })?;
    let start = run.diagnostics().kinetic_energy;
    let steps = n / 4;
    for _ in 0..steps {
        run.step(1.0 / steps as f64)?;
    }
    let decay = (-2.0 * NU).exp();
    let energy = (run.diagnostics().kinetic_energy / start - decay * decay).abs();
    let u = run.state.velocity.component(0);
    let lattice = *u.lattice();
    let error = |face, value: f64| (value - decay * vortex(&lattice.position(face))[0]).abs();
    Ok([energy, u.reduce(0.0, error, |a, b| a + b) / (n * n) as f64])
}
