//! Entry points compiled here for both dimensions. They are `inline(never)`, so the crates above link these instead of compiling the whole step again.

use crate::{FluidError, FluidModel, FluidReport, FluidState, FluidStepper, Placement};

type Step<const D: usize> = fn(
    &mut FluidStepper<D>,
    &FluidModel<D>,
    &mut FluidState<D>,
    f64,
    Option<&[Placement<D>]>,
) -> Result<FluidReport, FluidError>;
type Initialise<const D: usize> =
    fn(&mut FluidStepper<D>, &FluidModel<D>, &mut FluidState<D>) -> Result<(), FluidError>;

#[used]
static STEP: (Step<2>, Step<3>) = (FluidStepper::<2>::step, FluidStepper::<3>::step);
#[used]
static INITIALISE: (Initialise<2>, Initialise<3>) =
    (FluidStepper::<2>::initialise, FluidStepper::<3>::initialise);
