//! The step in both dimensions, compiled here once.

use crate::Walls;
use crate::pressure::{PressureRows, Projection};
use crate::shell::ShellStep;
use crate::viscosity::Viscosity;
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
    FluidStepper::<2>::carry,
    FluidStepper::<3>::carry,
    FluidStepper::<2>::add_forces,
    FluidStepper::<3>::add_forces,
    FluidStepper::<2>::push,
    FluidStepper::<3>::push,
    FluidStepper::<2>::project_with,
    FluidStepper::<3>::project_with,
    FluidStepper::<2>::set_guest_twists,
    FluidStepper::<3>::set_guest_twists,
    FluidStepper::<2>::set_face_velocities,
    FluidStepper::<3>::set_face_velocities,
    FluidStepper::<2>::complete,
    FluidStepper::<3>::complete,
    FluidStepper::<2>::apply_viscosity,
    FluidStepper::<3>::apply_viscosity,
    Projection::<2>::project,
    Projection::<3>::project,
    Projection::<2>::clean,
    Projection::<3>::clean,
    Walls::<2>::new,
    Walls::<3>::new,
    ShellStep::<2>::with_sheets,
    ShellStep::<3>::with_sheets,
    Viscosity::explicit::<2>,
    Viscosity::explicit::<3>,
    Viscosity::implicit::<2>,
    Viscosity::implicit::<3>,
    PressureRows::<2>::new,
    PressureRows::<3>::new,
);
