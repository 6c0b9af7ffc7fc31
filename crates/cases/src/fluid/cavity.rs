//! The lid-driven cavity against the tables of Ghia, Ghia and Shin.
//!
//! The flow at Reynolds number 100 is known better than these: spectral solutions (Botella and Peyret) have the smallest v at -0.2538030, 3.4 % below the -0.2453 of
//! Ghia, Ghia and Shin, whose other values agree with theirs. That row is compared with the spectral value.
//!
//! A square full of fluid whose lid moves; steady flow at Reynolds numbers 100, 400 and 1000. Extremes of the velocity on the lines through the centre.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_fluid::advect::{Advection, Limiter};
use splashdown_fluid::viscosity::ViscousStep;
use splashdown_fluid::{FluidModel, Liquid, Side, TimeScheme};
use splashdown_geometry::grid::{Interpolation, Reach};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/cavity-100",
    spec: "FB-T7",
    summary: "lid-driven cavity at Re 100 on a coarse grid: extremes of the centre lines",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 8.0,
    run: |measurements| cavity(measurements, 64, &RE_100, 20.0),
};

pub(super) const FINE: Case = Case {
    name: "fluid/cavity",
    spec: "FB-T7",
    summary: "lid-driven cavity at Re 100, 400 and 1000 on 128^2 cells: extremes of the centre lines within 3 %",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 400.0,
    run: |measurements| {
        cavity(measurements, 128, &RE_100, 20.0)?;
        cavity(measurements, 128, &RE_400, 35.0)?;
        cavity(measurements, 128, &RE_1000, 60.0)
    },
};

const SOURCE: &str = "U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48, 1982, tables I and II";

const SPECTRAL: &str = "O. Botella, R. Peyret, Comput. Fluids 27, 1998 (Chebyshev collocation)";

/// Published values: smallest u on the vertical centre line, largest and smallest v on the horizontal one.
struct Published {
    reynolds: f64,
    ghia: [Option<f64>; 3],
    spectral: [Option<f64>; 3],
}

const RE_100: Published = Published {
    reynolds: 100.0,
    ghia: [Some(-0.2109), Some(0.1753), None],
    spectral: [Some(-0.2140424), Some(0.1795728), Some(-0.2538030)],
};
const RE_400: Published =
    Published { reynolds: 400.0, ghia: [Some(-0.3273), Some(0.3020), Some(-0.4499)], spectral: [None; 3] };
const RE_1000: Published = Published {
    reynolds: 1000.0,
    ghia: [Some(-0.3829), Some(0.3710), Some(-0.5155)],
    spectral: [Some(-0.3885698), Some(0.3769447), Some(-0.5270771)],
};

/// The flow when it has become steady. `start` is that on a coarser grid, from which it gets there sooner.
///
/// Second order in time (reflection, Crank-Nicolson): each step of the plain splitting takes a part `(omega dt)^2 / 2` from an eddy that turns at `omega`, which at
/// Reynolds number 1000 and steps of one cell is more than viscosity does.
fn steady(n: usize, reynolds: f64, end: f64, start: Option<&Run<2>>) -> Result<Run<2>, CaseError> {
    let lid = Side::NoSlip { velocity: Vector::from([1.0, 0.0]) };
    let domain = domain([n, n], 1.0 / n as f64, [[Side::wall(); 2], [Side::wall(), lid]])?;
    let mut model =
        FluidModel::new(domain, Liquid { viscosity: 1.0 / reynolds, ..Liquid::new("fluid", 1.0) });
    model.options.scheme = TimeScheme::Reflection;
    model.options.viscous_step = ViscousStep::CrankNicolson;
    // The flow is smooth, and a limiter would flatten its extremes.
    model.options.advection = Some(Advection { limiter: Limiter::None, ..Advection::default() });
    model.options.pressure.divergence = 1e-7;
    model.options.viscosity_tolerance = 1e-7;
    let mut run = Run::new(model, |model, state| {
        if let Some(start) = start {
            let before = &start.state.velocity;
            state.set_velocity(model, |x| before.sample(x, Interpolation::Cubic, Reach::Ghost));
        }
        Ok(())
    })?;
    let dt = 1.0 / n as f64;
    // The energy no longer changes.
    let mut energy = 0.0;
    while run.state.time < end {
        for _ in 0..n {
            run.step(dt)?;
        }
        let now = run.diagnostics().kinetic_energy;
        if (now - energy).abs() < 2e-5 * now {
            break;
        }
        energy = now;
    }
    Ok(run)
}

fn cavity(
    measurements: &mut Measurements,
    n: usize,
    published: &Published,
    end: f64,
) -> Result<(), CaseError> {
    let reynolds = published.reynolds;
    let coarse = steady(n / 2, reynolds, end, None)?;
    let run = steady(n, reynolds, end, Some(&coarse))?;
    let sample = |x: f64, y: f64, axis: usize| {
        run.state.velocity.component(axis).sample(&Vector::from([x, y]), Interpolation::Cubic, Reach::Ghost)
    };
    let line: Vec<f64> = (0..=1000).map(|k| k as f64 / 1000.0).collect();
    let u: Vec<[f64; 2]> = line.iter().map(|&y| [sample(0.5, y, 0), y]).collect();
    let v: Vec<[f64; 2]> = line.iter().map(|&x| [x, sample(x, 0.5, 1)]).collect();
    let measured = [
        u.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min),
        v.iter().map(|p| p[1]).fold(f64::NEG_INFINITY, f64::max),
        v.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min),
    ];
    for (values, source) in [(published.ghia, SOURCE), (published.spectral, SPECTRAL)] {
        for ((name, value), reference) in
            ["smallest u", "largest v", "smallest v"].iter().zip(measured).zip(values)
        {
            let Some(reference) = reference else { continue };
            let row = format!("Re {reynolds}: {name} / lid speed");
            measurements.near(&row, &format!("{n}^2"), value, reference, 0.03 * reference.abs(), source);
        }
    }
    measurements.plot(Plot {
        title: format!("Cavity, Re {reynolds}: u on the vertical centre line"),
        x: "u / lid speed".into(),
        y: "y / side".into(),
        scale: Scale::Linear,
        series: std::iter::once(Series { label: format!("{n}^2"), points: u, reference: false })
            .chain(published.ghia[0].map(|smallest| Series {
                label: "Ghia, smallest u".into(),
                points: vec![[smallest, 0.0], [smallest, 1.0]],
                reference: true,
            }))
            .collect(),
    });
    Ok(())
}
