//! The step in both dimensions, compiled here once.

use crate::{FluidModel, FluidStepper};

splashdown_math::compile_here!(
    FluidStepper::<2>::new,
    FluidStepper::<3>::new,
    FluidStepper::<2>::initialise,
    FluidStepper::<3>::initialise,
    FluidStepper::<2>::step,
    FluidStepper::<3>::step,
    FluidStepper::<2>::stable_step,
    FluidStepper::<3>::stable_step,
    FluidStepper::<2>::diagnostics,
    FluidStepper::<3>::diagnostics,
    FluidModel::<2>::check,
    FluidModel::<3>::check,
);
