//! What changes while the fluid moves: all that a checkpoint holds.

use crate::error::FluidError;
use crate::model::FluidModel;
use crate::surface::{ApicParticles, Markers};
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_math::{Dim, Space, Vector};

/// Smoke at cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SmokeState<const D: usize> {
    /// Amount of smoke, not negative.
    pub density: Field<D>,
    /// Temperature (K).
    pub temperature: Field<D>,
}

/// One liquid's surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct LiquidState<const D: usize> {
    /// Signed distance (m) at cells, negative in the liquid.
    pub phi: Field<D>,
    /// Particles on both sides of the surface, and those that left it.
    pub markers: Markers<D>,
    /// Particles that carry its momentum, if that is how it is tracked.
    pub apic: ApicParticles<D>,
    /// Volume (m^3; m^2 in 2D) that it should have: what it began with, plus what sources gave.
    pub volume: f64,
}

/// Velocity, pressure and whatever the fluid carries, at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct FluidState<const D: usize> {
    /// Simulated time (s).
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// Velocity at faces (m/s), ghosts filled.
    pub velocity: FaceFields<D>,
    /// Pressure at cells (Pa): the first guess of the next solve.
    pub pressure: Field<D>,
    /// Smoke, if there is any.
    pub smoke: Option<SmokeState<D>>,
    /// One surface a liquid, if they have any.
    pub liquids: Vec<LiquidState<D>>,
}

impl<const D: usize> FluidState<D>
where
    Dim<D>: Space<D>,
{
    /// At rest, without smoke, and without liquid where there are surfaces.
    pub fn at_rest(model: &FluidModel<D>) -> Self {
        let grid = model.domain.grid();
        let far = grid.bounds().extent().norm();
        let mut velocity = FaceFields::new(grid, 0.0);
        model.domain.fill_velocity_ghosts(&mut velocity);
        let cells = |value| Field::new(grid, Location::Cell, value);
        Self {
            time: 0.0,
            step: 0,
            velocity,
            pressure: cells(0.0),
            smoke: model.smoke.map(|smoke| SmokeState {
                density: cells(0.0),
                temperature: cells(smoke.ambient_temperature),
            }),
            liquids: (0..model.level_sets())
                .map(|_| LiquidState {
                    phi: cells(far),
                    markers: Markers::default(),
                    apic: ApicParticles::default(),
                    volume: 0.0,
                })
                .collect(),
        }
    }

    /// Sets the velocity (m/s) from a function of position (m).
    pub fn set_velocity(
        &mut self,
        model: &FluidModel<D>,
        function: impl Fn(&Vector<D>) -> Vector<D> + Send + Sync,
    ) {
        for axis in 0..D {
            let lattice = *self.velocity.component(axis).lattice();
            self.velocity.component_mut(axis).update(|face, _| function(&lattice.position(face))[axis]);
        }
        model.domain.fill_velocity_ghosts(&mut self.velocity);
    }

    /// Sets the surface of one liquid from a signed distance (m), negative inside, and takes its volume as the one to keep.
    pub fn set_liquid(
        &mut self,
        model: &FluidModel<D>,
        liquid: usize,
        distance: impl Fn(&Vector<D>) -> f64 + Send + Sync,
    ) -> Result<(), FluidError> {
        let Some(state) = self.liquids.get_mut(liquid) else {
            return Err(FluidError::Mismatch(format!("liquid {liquid} has no surface")));
        };
        state.phi = Field::from_fn(model.domain.grid(), Location::Cell, distance);
        model.domain.fill_level_set_ghosts(&mut state.phi);
        state.markers = Markers::default();
        state.apic = ApicParticles::default();
        state.volume = crate::surface::volume(&state.phi);
        Ok(())
    }

    /// A copy without particles, for solves that move nothing.
    pub fn without_particles(&self) -> Self {
        let liquid = |liquid: &LiquidState<D>| LiquidState {
            phi: liquid.phi.clone(),
            markers: Markers::default(),
            apic: ApicParticles::default(),
            volume: liquid.volume,
        };
        Self {
            time: self.time,
            step: self.step,
            velocity: self.velocity.clone(),
            pressure: self.pressure.clone(),
            smoke: self.smoke.clone(),
            liquids: self.liquids.iter().map(liquid).collect(),
        }
    }

    /// Bytes of its fields, without particles.
    pub fn field_bytes(&self) -> usize {
        let faces: usize = self.velocity.components().iter().map(|c| 8 * c.values().len()).sum();
        let cells = 8 * self.pressure.values().len();
        faces + cells * (1 + 2 * usize::from(self.smoke.is_some()) + self.liquids.len())
    }

    /// Is it a state of this fluid?
    pub fn fits(&self, model: &FluidModel<D>) -> bool {
        let grid = model.domain.grid();
        let cells = |field: &Field<D>| {
            field.grid() == grid
                && field.lattice().location() == Location::Cell
                && field.lattice().ghost() == 3
        };
        let faces = self.velocity.grid() == grid
            && self.velocity.components().iter().all(|c| c.lattice().ghost() == 3);
        faces
            && cells(&self.pressure)
            && self.smoke.is_some() == model.smoke.is_some()
            && self.smoke.as_ref().is_none_or(|s| cells(&s.density) && cells(&s.temperature))
            && self.liquids.len() == model.level_sets()
            && self.liquids.iter().all(|liquid| {
                cells(&liquid.phi) && liquid.markers.is_consistent() && liquid.apic.is_consistent()
            })
    }
}
