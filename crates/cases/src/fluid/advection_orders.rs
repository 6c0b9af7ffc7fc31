//! Orders of the transport schemes on the periodic line.
//!
//! The Gaussian `exp(-60 (x - 1/2)^2)` goes once around the unit interval at CFL 0.7. Mean errors at 256 cells and orders as in spec/fluid-base.md 3.5
//! (A. Selle and others, "An unconditionally stable MacCormack method", 2008).

use super::super::foundation::convergence;
use super::setup::domain;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::Side;
use splashdown_fluid::advect::{Advection, Limiter, PathOrder, Scheme};
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/advection-orders",
    spec: "FB-T4",
    summary: "semi-Lagrangian, MacCormack and BFECC carry a Gaussian around a periodic line with their orders and errors",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

const SOURCE: &str = "spec/fluid-base.md 3.5 (measured there)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut curves = Vec::new();
    // Scheme, the order with its tolerance, and the mean error where the spec has one.
    let cases = [
        ("semi-Lagrangian", Scheme::SemiLagrangian, Limiter::None, 0.96, 0.05, Some(1.5e-2)),
        ("MacCormack", Scheme::MacCormack, Limiter::None, 2.0, 0.03, Some(5.9e-4)),
        ("MacCormack, limited", Scheme::MacCormack, Limiter::Revert, 1.97, 0.1, Some(9.1e-4)),
        ("BFECC", Scheme::Bfecc, Limiter::None, 2.0, 0.05, None),
        ("BFECC, limited", Scheme::Bfecc, Limiter::Revert, 1.97, 0.1, None),
    ];
    for (name, scheme, limiter, order, tolerance, error) in cases {
        let advection = Advection { scheme, limiter, path: PathOrder::Second };
        let mut errors = Vec::new();
        for n in [256, 512] {
            errors.push([1.0 / n as f64, mean_error(n, advection)?]);
        }
        let observed = convergence::order(&errors);
        measurements.near(
            &format!("{name}: order of the mean error"),
            "512",
            observed,
            order,
            tolerance,
            SOURCE,
        );
        if let Some(expected) = error {
            let row = format!("{name}: mean error relative to the spec's");
            measurements.near(&row, "256", errors[0][1] / expected, 1.0, 0.1, SOURCE);
        }
        curves.push((name.to_string(), errors, order));
    }
    measurements.plot(convergence::plot("Transport around a line", "mean error", &curves));
    Ok(())
}

fn mean_error(n: usize, advection: Advection) -> Result<f64, CaseError> {
    let domain = domain([n, 1], 1.0 / n as f64, [[Side::Periodic; 2]; 2])?;
    let mut by = FaceFields::new(domain.grid(), 0.0);
    by.component_mut(0).update(|_, _| 1.0);
    domain.fill_velocity_ghosts(&mut by);
    let exact = |x: &Vector<2>| (-60.0 * (x[0] - 0.5) * (x[0] - 0.5)).exp();
    let mut field = Field::from_fn(domain.grid(), Location::Cell, exact);
    domain.fill_scalar_ghosts(&mut field, 0.0);
    let mut work = [field.clone(), field.clone()];
    let steps = (n as f64 / 0.7).ceil();
    for _ in 0..steps as usize {
        advection.scalar(&domain, &by, &mut field, &mut work, 0.0, 1.0 / steps, |_| false);
    }
    let lattice = *field.lattice();
    let error = |index, value: f64| (value - exact(&lattice.position(index))).abs();
    Ok(field.reduce(0.0, error, |a, b| a + b) / n as f64)
}
