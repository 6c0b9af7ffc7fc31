//! Collapse of a column of water twice as high as wide: front and height against the experiment of Martin and Moyce.
//!
//! A column of base `a` and height `2a` at the left wall of a tank five times as long. Front `Z = x / a` over `T = t sqrt(2 g / a)` and height
//! `H = y / 2a` over `tau = t sqrt(g / a)`, for their `n^2 = 2`, `a = 2.25 in`. In the experiment the front lags at the start, while the gate opens.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_fluid::{ApicOptions, FluidModel, Liquid, Side};
use splashdown_geometry::grid::{Interpolation, Reach};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/dam-break",
    spec: "FB-T15",
    summary: "a collapsing column of water: volume, convergence of the front, and the experiment of Martin and Moyce",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 60.0,
    run,
};

/// The same with particles that carry the momentum below the surface.
pub(super) const APIC: Case = Case {
    name: "fluid/dam-break-apic",
    spec: "FB-T15",
    summary: "the collapsing column tracked by APIC particles in a band below the surface",
    run: run_apic,
    ..CASE
};

const SOURCE: &str = "J. C. Martin, W. J. Moyce, Phil. Trans. R. Soc. Lond. A 244, 1952, tables 2 and 6 (n^2 = 2, a = 2.25 in)";

/// `(T, Z)` of the front.
const FRONT: [[f64; 2]; 13] = [
    [0.41, 1.11],
    [0.84, 1.22],
    [1.19, 1.44],
    [1.43, 1.67],
    [1.63, 1.89],
    [1.83, 2.11],
    [1.98, 2.33],
    [2.20, 2.56],
    [2.32, 2.78],
    [2.51, 3.00],
    [2.65, 3.22],
    [2.83, 3.44],
    [2.98, 3.67],
];
/// `(tau, H)` of the column at the wall.
const HEIGHT: [[f64; 2]; 10] = [
    [0.56, 0.94],
    [0.77, 0.89],
    [0.93, 0.83],
    [1.08, 0.78],
    [1.28, 0.72],
    [1.46, 0.67],
    [1.66, 0.61],
    [1.84, 0.56],
    [2.00, 0.50],
    [2.21, 0.44],
];

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    measure(measurements, false)
}

fn run_apic(measurements: &mut Measurements) -> Result<(), CaseError> {
    measure(measurements, true)
}

fn measure(measurements: &mut Measurements, apic: bool) -> Result<(), CaseError> {
    let mut fronts = Vec::new();
    let mut plots = Vec::new();
    for n in [64, 128] {
        let collapse = collapse(n, apic)?;
        let size = format!("{n}^2");
        measurements.at_most("largest change of the volume", &size, collapse.drift, 0.03, SOURCE);
        let back = collapse.front.windows(2).map(|p| p[0][1] - p[1][1]).fold(0.0, f64::max);
        // Less than the resolution of the front itself.
        measurements.at_most("largest step back of the front / a", &size, back, 5.0 / n as f64, SOURCE);
        let rms = deviation(&collapse.front, &FRONT);
        // The gate takes time to open: the front of the experiment lags by about 0.15 in T, 0.3 in Z.
        measurements.at_most("front: root mean square deviation / a", &size, rms, 0.35, SOURCE);
        let rms = deviation(&collapse.height, &HEIGHT);
        measurements.at_most("height: root mean square deviation / 2a", &size, rms, 0.05, SOURCE);
        fronts.push(collapse.front.clone());
        plots.push((format!("{n}^2"), collapse));
    }
    let difference = deviation(&fronts[0], &fronts[1]);
    measurements.at_most("front: difference between the grids / a", "64^2, 128^2", difference, 0.15, SOURCE);
    let plot =
        |title: &str, x: &str, y: &str, pick: fn(&Collapse) -> &Vec<[f64; 2]>, data: &[[f64; 2]]| Plot {
            title: title.into(),
            x: x.into(),
            y: y.into(),
            scale: Scale::Linear,
            series: plots
                .iter()
                .map(|(label, c)| Series { label: label.clone(), points: pick(c).clone(), reference: false })
                .chain([Series { label: "experiment".into(), points: data.to_vec(), reference: true }])
                .collect(),
        };
    measurements.plot(plot("Dam break: front", "t sqrt(2 g / a)", "x / a", |c| &c.front, &FRONT));
    measurements.plot(plot("Dam break: height", "t sqrt(g / a)", "y / 2a", |c| &c.height, &HEIGHT));
    Ok(())
}

struct Collapse {
    front: Vec<[f64; 2]>,
    height: Vec<[f64; 2]>,
    drift: f64,
}

fn collapse(n: usize, apic: bool) -> Result<Collapse, CaseError> {
    let a = 0.05715;
    let (size, g) = (5.0 * a, 9.81);
    let h = size / n as f64;
    let mut model = FluidModel::new(domain([n, n], h, [[Side::slip(); 2]; 2])?, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -g;
    if apic {
        model.options.surface.particles = None;
        model.options.surface.apic = Some(ApicOptions::default());
    }
    let mut run = Run::new(model, |model, state| {
        state.set_liquid(model, 0, |x| {
            let (dx, dy) = (x[0] - a, x[1] - 2.0 * a);
            if dx > 0.0 && dy > 0.0 { dx.hypot(dy) } else { dx.max(dy) }
        })
    })?;
    let start = run.diagnostics().volumes[0];
    let (mut front, mut height, mut drift) = (vec![[0.0, 1.0]], vec![[0.0, 1.0]], 0.0f64);
    let end = 3.0 / (2.0 * g / a).sqrt();
    for frame in 1..=60 {
        run.until(end * f64::from(frame) / 60.0)?;
        let phi = &run.state.liquids[0].phi;
        let wet =
            |x: f64, y: f64| phi.sample(&Vector::from([x, y]), Interpolation::Linear, Reach::Ghost) <= 0.0;
        let steps = 20 * n;
        let along = |k: usize| (k as f64 + 0.5) * size / steps as f64;
        // The furthest wet point just above the floor, and the highest at the wall.
        let x = (0..steps).map(along).take_while(|&x| wet(x, 0.5 * h)).last().unwrap_or(0.0);
        let y = (0..steps).map(along).take_while(|&y| wet(0.5 * h, y)).last().unwrap_or(0.0);
        front.push([run.state.time * (2.0 * g / a).sqrt(), x / a]);
        height.push([run.state.time * (g / a).sqrt(), y / (2.0 * a)]);
        drift = drift.max((run.diagnostics().volumes[0] / start - 1.0).abs());
    }
    Ok(Collapse { front, height, drift })
}

/// Root mean square of the curve minus the data, at the data's abscissae within the curve.
fn deviation(curve: &[[f64; 2]], data: &[[f64; 2]]) -> f64 {
    let at = |x: f64| {
        curve.windows(2).find(|p| p[0][0] <= x && x <= p[1][0]).map(|p| {
            let t = (x - p[0][0]) / (p[1][0] - p[0][0]);
            p[0][1] + t * (p[1][1] - p[0][1])
        })
    };
    let squares: Vec<f64> = data.iter().filter_map(|d| at(d[0]).map(|y| (y - d[1]).powi(2))).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}
