//! Frequency of a small standing wave.
//!
//! Water of depth `H` with the surface raised by `A cos(k x)`: linear theory gives `omega^2 = g k tanh(k H)`. The height at the wall is followed through its zero crossings.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_fluid::{FluidModel, Liquid, Side};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "fluid/standing-wave",
    spec: "FB-T9",
    summary: "a standing wave of small amplitude oscillates with the frequency of linear theory",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 10.0,
    run,
};

const SOURCE: &str = "exact (linear): omega^2 = g k tanh(k H)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    // 64 cells a wavelength; half a wavelength fits between the walls.
    let (n, length, depth, g) = (64usize, 1.0, 0.25, 9.81);
    let h = length / n as f64;
    let mut model =
        FluidModel::new(domain([n / 2, n / 2], h, [[Side::slip(); 2]; 2])?, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -g;
    let k = TAU / length;
    let amplitude = 0.01 * length;
    let mut run = Run::new(model, |model, state| {
        state.set_liquid(model, 0, |x| x[1] - depth - amplitude * (k * x[0]).cos())
    })?;
    let omega = (g * k * (k * depth).tanh()).sqrt();
    let period = TAU / omega;
    let mut heights = vec![[0.0, amplitude]];
    let dt = 0.01 * period;
    for _ in 0..220 {
        run.step(dt)?;
        // The wave's share of the surface, by the mode over the whole width.
        let phi = &run.state.liquids[0].phi;
        let mut mode = 0.0;
        for i in 0..n as isize / 2 {
            let mut j = 0;
            while phi.at([i, j + 1]) <= 0.0 {
                j += 1;
            }
            let (low, high) = (phi.at([i, j]), phi.at([i, j + 1]));
            let surface = (j as f64 + 0.5 + low / (low - high)) * h;
            mode += (surface - depth) * (k * (i as f64 + 0.5) * h).cos() * 4.0 / n as f64;
        }
        heights.push([run.state.time, mode]);
    }
    let mut crossings = Vec::new();
    for pair in heights.windows(2) {
        let [[t0, a], [t1, b]] = [pair[0], pair[1]];
        if (a > 0.0) != (b > 0.0) {
            crossings.push(t0 + (t1 - t0) * a / (a - b));
        }
    }
    if crossings.len() < 4 {
        return Err(CaseError(format!("the wave crossed zero only {} times", crossings.len())));
    }
    // Between the first and the fourth crossing lie one and a half periods.
    let measured = 1.5 * TAU / (crossings[3] - crossings[0]);
    measurements.near(
        "frequency / linear theory",
        "64 cells a wavelength",
        measured / omega,
        1.0,
        0.02,
        SOURCE,
    );
    let late = heights.iter().filter(|p| p[0] > 1.6 * period).map(|p| p[1].abs()).fold(0.0, f64::max);
    measurements.at_least(
        "amplitude after two periods / at the start (reported)",
        "64",
        late / amplitude,
        0.3,
        SOURCE,
    );
    let exact = heights.iter().map(|p| [p[0], amplitude * (omega * p[0]).cos()]).collect();
    measurements.plot(Plot {
        title: "Standing wave".into(),
        x: "time (s)".into(),
        y: "height of the mode (m)".into(),
        scale: Scale::Linear,
        series: vec![
            Series { label: "64 cells a wavelength".into(), points: heights, reference: false },
            Series { label: "linear theory".into(), points: exact, reference: true },
        ],
    });
    Ok(())
}
