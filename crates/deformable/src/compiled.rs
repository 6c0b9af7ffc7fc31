//! Entry points compiled here for both dimensions. They are `inline(never)`, so the crates above link these instead of compiling all schemes again.

use crate::Solid;
use crate::integrate::{IntegrateError, IntegrationReport, Integrator, Motion};

type Step<const D: usize> =
    fn(&mut Integrator<D>, &mut Solid<D>, &mut Motion, f64) -> Result<IntegrationReport, IntegrateError>;

#[used]
static STEP: (Step<2>, Step<3>) = (Integrator::<2>::step, Integrator::<3>::step);
