//! The numerical choices of a scene's fluid as options of the solver.

use crate::build::BuildError;
use crate::description::{
    DistanceWord, Fluid, FluidMethod, LevelSetWord, LimiterWord, PathWord, PresetWord, PressureWord,
    SchemeWord, TransportWord, ViscosityFormWord, ViscousStepWord,
};
use splashdown_fluid::advect::{Advection, Limiter, PathOrder, Scheme, UpwindScheme};
use splashdown_fluid::pressure::PressureSolver;
use splashdown_fluid::viscosity::{ViscosityForm, ViscousStep};
use splashdown_fluid::{FluidError, FluidOptions, LevelSetTransport, Redistancing, TimeScheme};

/// Steps of the evolution of distances: half a cell each, so that they reach as far as surfaces are looked at.
const EVOLUTION: usize = 12;

/// Applies the choices of `method` to `options`, which hold the fluid's other words already.
pub(crate) fn apply(
    method: &FluidMethod,
    fluid: &Fluid,
    options: &mut FluidOptions,
) -> Result<(), BuildError> {
    let refused = |what: &str| Err(FluidError::Mismatch(what.into()).into());
    if method.preset == PresetWord::Chorin {
        if matches!(fluid.transport, TransportWord::Bfecc) || fluid.cut_cells {
            return refused(
                "the preset `chorin` is semi-Lagrangian with whole solid cells: leave `transport` and `cut_cells` out",
            );
        }
        let chorin = FluidOptions::chorin();
        options.advection = chorin.advection.filter(|_| fluid.transport != TransportWord::None);
        options.scheme = chorin.scheme;
        options.viscosity_form = chorin.viscosity_form;
        options.viscous_step = chorin.viscous_step;
        options.solid_boundary = chorin.solid_boundary;
    }
    if let Some(advection) = &mut options.advection {
        match method.paths {
            Some(PathWord::First) => advection.path = PathOrder::First,
            Some(PathWord::Second) => advection.path = PathOrder::Second,
            Some(PathWord::Third) => advection.path = PathOrder::Third,
            None => {}
        }
        match method.limiter {
            Some(LimiterWord::None) => advection.limiter = Limiter::None,
            Some(LimiterWord::Revert) => advection.limiter = Limiter::Revert,
            Some(LimiterWord::Clamp) => advection.limiter = Limiter::Clamp,
            None => {}
        }
    } else if method.paths.is_some() || method.limiter.is_some() {
        return refused("`paths` and `limiter` go with a transport");
    }
    match method.scheme {
        Some(SchemeWord::Splitting) => options.scheme = TimeScheme::Splitting,
        Some(SchemeWord::Reflection) => options.scheme = TimeScheme::Reflection,
        None => {}
    }
    match method.viscous_step {
        Some(ViscousStepWord::Explicit) => options.viscous_step = ViscousStep::Explicit,
        Some(ViscousStepWord::Implicit) => options.viscous_step = ViscousStep::Implicit,
        Some(ViscousStepWord::CrankNicolson) => options.viscous_step = ViscousStep::CrankNicolson,
        None => {}
    }
    match method.viscosity_form {
        Some(ViscosityFormWord::Laplacian) => options.viscosity_form = ViscosityForm::Laplacian,
        Some(ViscosityFormWord::Stress) => options.viscosity_form = ViscosityForm::Stress,
        None => {}
    }
    let along_paths = |scheme: Scheme| LevelSetTransport::Paths(Advection { scheme, ..Advection::default() });
    match method.level_set {
        Some(LevelSetWord::Weno5) => {
            options.surface.level_set = LevelSetTransport::Upwind(UpwindScheme::Weno5)
        }
        Some(LevelSetWord::Eno3) => options.surface.level_set = LevelSetTransport::Upwind(UpwindScheme::Eno3),
        Some(LevelSetWord::MacCormack) => options.surface.level_set = along_paths(Scheme::MacCormack),
        Some(LevelSetWord::SemiLagrangian) => options.surface.level_set = along_paths(Scheme::SemiLagrangian),
        None => {}
    }
    match method.distance {
        Some(DistanceWord::FastMarching) => options.surface.redistancing = Redistancing::FastMarching,
        Some(DistanceWord::Evolution) => {
            options.surface.redistancing = Redistancing::Evolution { iterations: EVOLUTION };
        }
        None => {}
    }
    options.surface.stair_steps = method.stair_steps.unwrap_or(options.surface.stair_steps);
    options.surface.window = method.window.unwrap_or(options.surface.window);
    if let Some(particles) = &mut options.surface.particles {
        particles.removed = method.drops.unwrap_or(particles.removed);
        particles.reseed_every = method.reseed_every.unwrap_or(particles.reseed_every);
    } else if method.drops.is_some() || method.reseed_every.is_some() {
        return refused("`drops` and `reseed_every` go with marker particles");
    }
    options.pressure.solver = match method.pressure {
        Some(PressureWord::Algebraic) => PressureSolver::Algebraic,
        Some(PressureWord::IncompleteCholesky) => PressureSolver::IncompleteCholesky,
        Some(PressureWord::Multigrid) | None => PressureSolver::Multigrid,
    };
    Ok(())
}
