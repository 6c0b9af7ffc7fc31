//! Three liquids of different densities, stirred: they never overlap and never leave a gap.

use super::setup::{Run, domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{FluidModel, Liquid, Motion, Obstacle, Side};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Twist, Vector};

pub(super) const CASE: Case = Case {
    name: "fluid/three-liquids",
    spec: "FB-T25",
    summary: "three stacked liquids stirred by a turning paddle: no overlap, no vacuum",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

const SOURCE: &str = "exact: the two smallest level sets sum to zero (F. Losasso and others 2006)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let n = 48;
    let mut model = FluidModel::new(
        domain([n, n], 1.0 / n as f64, [[Side::slip(); 2]; 2])?,
        Liquid::new("heavy", 1200.0),
    );
    model.liquids.push(Liquid::new("water", 1000.0));
    model.liquids.push(Liquid::new("oil", 800.0));
    model.gravity[1] = -9.81;
    let paddle = Shape::cuboid(Vector::from([0.3, 0.03])).map_err(failed)?;
    model.obstacles.push(Obstacle {
        start: Frame { position: Vector::repeat(0.5), ..Frame::identity() },
        motion: Motion::Steady(Twist { linear: Vector::zeros(), angular: Vector::from([4.0]) }),
        slip: true,
        friction: 0.0,
        ..Obstacle::fixed("paddle", paddle)
    });
    let mut run = Run::new(model, |model, state| {
        state.set_liquid(model, 0, |x| x[1] - 0.35)?;
        state.set_liquid(model, 1, |x| (0.35 - x[1]).max(x[1] - 0.65))?;
        state.set_liquid(model, 2, |x| 0.65 - x[1])
    })?;
    let before = run.diagnostics().volumes;
    for _ in 0..60 {
        run.step(0.01)?;
    }
    let h = 1.0 / n as f64;
    let mut gap: f64 = 0.0;
    for cell in run.state.pressure.lattice().indices() {
        let mut values: Vec<f64> = run.state.liquids.iter().map(|liquid| liquid.phi.at(cell)).collect();
        values.sort_by(f64::total_cmp);
        gap = gap.max((values[0] + values[1]).abs());
    }
    // Signed distances are made anew after the separation; cells keep their sides, so what is left is below the spacing.
    measurements.at_most("largest |sum of the two smallest level sets| / h", "48^2", gap / h, 1e-9, SOURCE);
    let after = run.diagnostics().volumes;
    let drift = after.iter().zip(&before).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
    measurements.at_most("largest change of a volume", "48^2", drift, 0.05, "incompressible");
    Ok(())
}
