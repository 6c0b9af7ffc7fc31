//! Water in a closed box shaken for a minute keeps its volume.
//!
//! In the frame of the box shaking is a gravity that swings to and fro. The surface is moved a little along its normal each step to make up for what transport loses.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_fluid::{FluidModel, Liquid, Side};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "fluid/shaken-box",
    spec: "FB-28",
    summary: "water in a closed box shaken sideways for 60 s keeps its volume within 1 %",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 120.0,
    run,
};

const SOURCE: &str = "exact: incompressible";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let (n, h) = (32usize, 1.0 / 32.0);
    let mut model = FluidModel::new(domain([n, n], h, [[Side::slip(); 2]; 2])?, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.surface.volume_correction = true;
    model.options.pressure.divergence = 1e-6;
    let mut run = Run::new(model, |model, state| state.set_liquid(model, 0, |x| x[1] - 0.4))?;
    let start = run.diagnostics().volumes[0];
    let (mut worst, mut curve, mut speed): (f64, Vec<[f64; 2]>, f64) = (0.0, vec![[0.0, 1.0]], 0.0);
    let dt = 0.015;
    while run.state.time < 60.0 {
        run.model.gravity[0] = 3.0 * (TAU * 0.9 * run.state.time).sin();
        run.step(dt)?;
        if run.state.step % 20 == 0 {
            let now = run.diagnostics();
            worst = worst.max((now.volumes[0] / start - 1.0).abs());
            speed = speed.max(now.max_speed);
            curve.push([run.state.time, now.volumes[0] / start]);
        }
    }
    measurements.at_most("largest change of the volume in 60 s", "32^2", worst, 0.01, SOURCE);
    measurements.at_least("largest speed (m/s): it did slosh", "32^2", speed, 1.0, SOURCE);
    measurements.plot(Plot {
        title: "Shaken box: volume".into(),
        x: "time (s)".into(),
        y: "volume / volume at the start".into(),
        scale: Scale::Linear,
        series: vec![Series { label: "32^2".into(), points: curve, reference: false }],
    });
    Ok(())
}
