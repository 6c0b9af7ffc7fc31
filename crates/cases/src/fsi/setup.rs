//! What the coupled cases share: a fluid with bodies in it that stay where they are, and one solve after the other.

use super::super::fluid::setup::failed;
use crate::CaseError;
use splashdown_couple::fluid_structure::{
    CouplingForm, CouplingOptions, CouplingReport, FaceMass, Immersed, SolidMass, Tangential, Weights,
    solve_coupled,
};
use splashdown_fluid::{FluidModel, FluidState, FluidStepper, Guest, Placement};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use std::sync::Arc;

/// A shape, where it is, and the mass (kg) and moments (kg m^2) of a body that moves; nothing for one that does not.
type Placed<const D: usize> = (Shape<D>, Vector<D>, Option<(f64, Vec<f64>)>);

/// The choices behind the published tables.
pub(super) const SOURCE_RECIPE: CouplingOptions = CouplingOptions {
    mass: FaceMass::Full,
    tangential: Tangential::FluidSide,
    weights: Weights::Ray,
    form: CouplingForm::Pressure,
    without_solids: false,
    stokes: false,
};
/// Ours.
pub(super) const IMPROVED: CouplingOptions = CouplingOptions {
    mass: FaceMass::Fraction,
    tangential: Tangential::SolidSide,
    weights: Weights::Ray,
    form: CouplingForm::Pressure,
    without_solids: false,
    stokes: false,
};

/// A fluid with bodies whose positions are held: Stokes flow, or a single solve.
pub(super) struct Held<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub model: FluidModel<D>,
    pub state: FluidState<D>,
    pub stepper: FluidStepper<D>,
    pub solids: Vec<Immersed<D>>,
    pub options: CouplingOptions,
}

impl<const D: usize> Held<D>
where
    Dim<D>: Space<D>,
{
    /// Bodies `(shape, centre, mass and principal moments)` at rest in fluid at rest.
    pub fn new(
        model: FluidModel<D>,
        bodies: Vec<Placed<D>>,
        options: CouplingOptions,
    ) -> Result<Self, CaseError> {
        let mut state = FluidState::at_rest(&model);
        let mut stepper = FluidStepper::new(&model).map_err(failed)?;
        let (mut guests, mut solids) = (Vec::new(), Vec::new());
        for (shape, centre, mass) in bodies {
            let frame = Frame { position: centre, ..Frame::identity() };
            guests.push(Guest { form: Arc::new(shape), placement: Placement::at_rest(frame), slip: false });
            let mass =
                mass.map(|(mass, moments)| SolidMass::new(mass, &Dim::<D>::inertia_from_principal(&moments)));
            solids.push(Immersed::new(mass, Twist::zero()));
        }
        stepper.set_guests(guests);
        stepper.initialise(&model, &mut state).map_err(failed)?;
        Ok(Self { model, state, stepper, solids, options })
    }

    /// Forces over `dt` seconds and one coupled solve.
    pub fn step(&mut self, dt: f64) -> Result<CouplingReport, CaseError> {
        self.stepper.push(&self.model, &mut self.state, dt).map_err(failed)?;
        for solid in self.solids.iter_mut().filter(|solid| solid.mass.is_some()) {
            solid.twist.linear += self.model.gravity * dt;
        }
        let Self { model, state, stepper, solids, options } = self;
        solve_coupled(stepper, model, state, dt, solids, options).map_err(failed)
    }

    /// Steps of `dt` seconds until the velocity of body 0 along `axis` changes by less than `tolerance` of itself; its value, and the most iterations of a solve.
    pub fn steady(&mut self, dt: f64, axis: usize, tolerance: f64) -> Result<(f64, usize), CaseError> {
        let (mut last, mut most) = (0.0, 0);
        for _ in 0..400 {
            most = most.max(self.step(dt)?.iterations);
            let now = self.solids[0].twist.linear[axis];
            if (now - last).abs() <= tolerance * now.abs() {
                return Ok((now, most));
            }
            last = now;
        }
        Err(CaseError::new("waiting for a steady state", "400 steps were not enough"))
    }
}
