//! Written and read again, a fluid goes on bit for bit the same.

use super::setup::{Run, domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::{FluidModel, FluidState, FluidStepper, Liquid, Side};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/restart",
    spec: "FB-T23",
    summary: "a dam break stopped, stored, read and continued is the same bits as one that was not",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 2.0,
    run,
};

const SOURCE: &str = "exact: same bits";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut model =
        FluidModel::new(domain([32, 24], 1.0 / 32.0, [[Side::slip(); 2]; 2])?, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    let mut run = Run::new(model, |model, state| {
        state.set_liquid(model, 0, |x: &Vector<2>| (x[0] - 0.3).max(x[1] - 0.5))
    })?;
    let steps = 25;
    for _ in 0..steps {
        run.step(0.01)?;
    }
    let stored = postcard::to_stdvec(&run.state).map_err(failed)?;
    let mut resumed: FluidState<2> = postcard::from_bytes(&stored).map_err(failed)?;
    let mut stepper = FluidStepper::new(&run.model).map_err(failed)?;
    for _ in 0..steps {
        run.step(0.01)?;
        stepper.step(&run.model, &mut resumed, 0.01, None).map_err(failed)?;
    }
    let same = resumed == run.state;
    measurements.near("the two states are equal", "32 x 24", f64::from(u8::from(same)), 1.0, 0.0, SOURCE);
    Ok(())
}
