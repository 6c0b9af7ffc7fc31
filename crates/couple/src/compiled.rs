//! The world in both dimensions, compiled here once.

use crate::fluid_structure::{coupling_faces, form_system, solve_coupled};
use crate::{World, step_alone};

splashdown_math::compile_here!(
    step_alone::<2>,
    step_alone::<3>,
    World::<2>::new,
    World::<3>::new,
    World::<2>::add_body,
    World::<3>::add_body,
    World::<2>::add_joint,
    World::<3>::add_joint,
    World::<2>::set_trajectory,
    World::<3>::set_trajectory,
    World::<2>::set_solids,
    World::<3>::set_solids,
    World::<2>::restore,
    World::<3>::restore,
    World::<2>::set_fluid,
    World::<3>::set_fluid,
    World::<2>::fluid_stable_step,
    World::<3>::fluid_stable_step,
    World::<2>::step,
    World::<3>::step,
    World::<2>::diagnostics,
    World::<3>::diagnostics,
    World::<2>::break_body,
    World::<3>::break_body,
    solve_coupled::<2>,
    solve_coupled::<3>,
    form_system::<2>,
    form_system::<3>,
    coupling_faces::<2>,
    coupling_faces::<3>,
);
