//! A drop in free fall: no pressure, no change of shape, the centre of mass on its parabola.

use super::setup::{Run, domain};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{ApicOptions, FluidModel, Liquid, Side, SurfaceOptions};
use splashdown_math::{Dim, Space, Vector};

pub(super) const CASE: Case = Case {
    name: "fluid/drop-fall",
    spec: "FB-T14",
    summary: "a drop falls freely: ballistic centre, constant volume",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 5.0,
    run,
};

const SOURCE: &str = "exact: y = y0 - g t^2 / 2";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let markers = SurfaceOptions::default();
    let apic =
        SurfaceOptions { particles: None, apic: Some(ApicOptions::default()), ..SurfaceOptions::default() };
    for (tracker, options) in [("", markers), (", APIC", apic)] {
        let [fall, volume] = fall::<2>(64, options)?;
        let label = format!("64^2{tracker}");
        measurements.at_most("error of the fall / fall", &label, fall, 0.005, SOURCE);
        measurements.at_most("change of the volume", &label, volume, 0.01, SOURCE);
        let [fall, volume] = self::fall::<3>(32, options)?;
        let label = format!("32^3{tracker}");
        measurements.at_most("error of the fall / fall", &label, fall, 0.005, SOURCE);
        measurements.at_most("change of the volume", &label, volume, 0.01, SOURCE);
    }
    Ok(())
}

fn fall<const D: usize>(n: usize, surface: SurfaceOptions) -> Result<[f64; 2], CaseError>
where
    Dim<D>: Space<D>,
{
    let h = 1.0 / n as f64;
    let mut model = FluidModel::new(domain([n; D], h, [[Side::slip(); 2]; D])?, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.surface = surface;
    let mut centre: Vector<D> = Vector::repeat(0.5);
    centre[1] = 0.75;
    let mut run = Run::new(model, |model, state| state.set_liquid(model, 0, |x| (x - centre).norm() - 0.15))?;
    let height = |run: &Run<D>| {
        let phi = &run.state.liquids[0].phi;
        let lattice = *phi.lattice();
        // Smeared over a cell, so that it is smooth in time.
        let [moment, mass] = phi.reduce(
            [0.0; 2],
            |cell, value| {
                let wet = (0.5 - value / h).clamp(0.0, 1.0);
                [wet * lattice.position(cell)[1], wet]
            },
            |a, b| [a[0] + b[0], a[1] + b[1]],
        );
        moment / mass
    };
    let (start, volume) = (height(&run), run.diagnostics().volumes[0]);
    let steps = (0.3 / (0.9 * h / 3.0)).ceil();
    let dt = 0.3 / steps;
    for _ in 0..steps as usize {
        run.step(dt)?;
    }
    // Velocity is updated after the surface moved: the discrete parabola sums dt^2 g n (n - 1) / 2.
    let exact = 0.5 * 9.81 * 0.3 * (0.3 - dt);
    let fell = start - height(&run);
    Ok([(fell / exact - 1.0).abs(), (run.diagnostics().volumes[0] / volume - 1.0).abs()])
}
