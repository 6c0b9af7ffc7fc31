//! The step in parts, for those who solve for the fluid and for solids in it together: carry, solve, complete.

use super::{FluidStepper, Sights, Stopwatch, copy_faces};
use crate::error::FluidError;
use crate::guest::Guest;
use crate::model::{FluidModel, TimeScheme};
use crate::pressure::{MovableWalls, PressureReport};
use crate::shell::Sheet;
use crate::state::FluidState;
use splashdown_geometry::grid::{FaceFields, Index};
use splashdown_math::{Dim, Space, Twist, Vector};

impl<const D: usize> FluidStepper<D>
where
    Dim<D>: Space<D>,
{
    /// Says where the solids are that others simulate; they stay there until it is said anew.
    pub fn set_guests(&mut self, guests: Vec<Guest<D>>) {
        self.guests = guests;
    }

    /// Solids that others simulate, as last said.
    pub fn guests(&self) -> &[Guest<D>] {
        &self.guests
    }

    /// Says where the sheets are that others simulate, and how they move in the steps that follow; they do so until it is said anew.
    pub fn set_sheets(&mut self, sheets: Vec<Sheet<D>>) {
        self.sheets = sheets;
    }

    /// Everything of a step of `dt` seconds before its forces and implicit velocity solves, also on closed faces; afterwards the geometry is that of the end of the step.
    /// [`Self::add_forces`] makes `u*` of it. Obstacles move by their own motion.
    ///
    /// # Errors
    /// The reflection scheme, which is not a step of this form; shells that move too far.
    #[inline(never)]
    pub fn carry(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<(), FluidError> {
        if model.options.scheme == TimeScheme::Reflection {
            let what = "the reflection scheme does not go with solids that the fluid moves";
            return Err(FluidError::Mismatch(what.into()));
        }
        if model.options.surface.wetting.separation {
            let what = "liquid that leaves walls does not go with solids that the fluid moves";
            return Err(FluidError::Mismatch(what.into()));
        }
        self.hold_memory(model);
        let shells = self.shells_of(model, state.time, dt)?;
        let sights = Sights::new(model, state, shells.as_ref(), dt)?;
        let sights = sights.as_ref();
        self.place_solids(model, state.time + dt, None, sights);
        self.carry_all(model, state, dt, sights, &mut Stopwatch::start())
    }

    /// The transport stages.
    pub(super) fn carry_all(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        sights: Option<&Sights<D>>,
        watch: &mut Stopwatch,
    ) -> Result<(), FluidError> {
        copy_faces(&state.velocity, &mut self.flow);
        self.measure_surfaces(model, state);
        self.make_flow_leak_proof(model, state, sights)?;
        watch.lap("leak-proof flow");
        self.carry_surfaces(model, state, dt, sights)?;
        watch.lap("surfaces");
        self.carry_scalars(model, state, dt, sights);
        watch.lap("scalars");
        self.start_viscosity(model, state, dt)?;
        self.carry_velocity(model, state, dt, sights);
        watch.lap("velocity");
        self.apply_sources(model, state, dt)?;
        self.classify(model, state);
        Ok(())
    }

    /// Forces over `dt` seconds where everything is now, without transport: `u*` of a solve at the state's own time.
    #[inline(never)]
    pub fn push(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<(), FluidError> {
        self.hold_memory(model);
        let shells = self.shells_of(model, state.time, 0.0)?;
        let sights = Sights::new(model, state, shells.as_ref(), 0.0)?;
        self.place_solids(model, state.time, None, sights.as_ref());
        self.classify(model, state);
        self.add_forces(model, state, dt);
        Ok(())
    }

    /// Pressure that makes the velocity incompressible and moves solids with it.
    #[inline(never)]
    pub fn project_with(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        movable: &mut MovableWalls,
    ) -> Result<PressureReport, FluidError> {
        let mut projection = std::mem::take(&mut self.projection);
        let report = projection.project_with(
            &self.problem(model),
            &mut state.velocity,
            &mut state.pressure,
            dt,
            &model.options.pressure,
            movable,
        );
        self.projection = projection;
        report
    }

    /// Gives the guests these velocities where they are; the faces they close get them too, in `velocity` by the difference to the old ones.
    #[inline(never)]
    pub fn set_guest_twists(
        &mut self,
        model: &FluidModel<D>,
        twists: &[Twist<D>],
        velocity: Option<&mut FaceFields<D>>,
    ) {
        let first = model.obstacles.len();
        for (guests, twist) in self.guests.iter_mut().zip(self.placed_guests.iter_mut()).zip(twists) {
            guests.0.placement.twist = *twist;
            guests.1.placement.twist = *twist;
        }
        let (guests, domain) = (&self.guests, &model.domain);
        self.viscous_rows = None;
        let Some(walls) = &mut self.walls else { return };
        let new = |owner: usize, axis: usize, at: &Vector<D>| {
            let placement = &guests.get(owner.checked_sub(first)?)?.placement;
            Some(placement.twist.at(&domain.arm(&placement.frame.position, at))[axis])
        };
        if let Some(velocity) = velocity {
            walls.add_changes(&new, velocity);
        }
        walls.set_velocities(&new);
    }

    /// Keeps a copy of the velocity in memory that nothing needs between [`Self::carry`] and the next step.
    pub fn keep_velocity(&mut self, state: &FluidState<D>) {
        copy_faces(&state.velocity, &mut self.flow);
    }

    /// Gives `state` the velocity that was kept.
    pub fn restore_velocity(&self, state: &mut FluidState<D>) {
        copy_faces(&self.flow, &mut state.velocity);
    }

    /// Gives faces that guests close these velocities (m/s) along their normals: axis, face, velocity; in `velocity` by the difference to the old ones. Faces on a
    /// periodic side are meant with their image on the other.
    #[inline(never)]
    pub fn set_face_velocities(
        &mut self,
        model: &FluidModel<D>,
        faces: &[(usize, Index<D>, f64)],
        mut velocity: Option<&mut FaceFields<D>>,
    ) {
        self.viscous_rows = None;
        let Some(walls) = &mut self.walls else { return };
        let (periodic, counts) = (model.domain.periodic(), model.domain.grid().cells());
        for &(axis, face, new) in faces {
            let mut image = face;
            if periodic[axis] && face[axis] == 0 {
                image[axis] = counts[axis] as isize;
            }
            let both = [face, image];
            for &face in if image == face { &both[..1] } else { &both[..] } {
                let old = walls.velocity().component(axis).at(face);
                walls.set_velocity(axis, face, new);
                if let Some(velocity) = velocity.as_mut().filter(|_| walls.is_closed(axis, face)) {
                    let component = velocity.component_mut(axis);
                    component.set(face, component.at(face) + (new - old));
                }
            }
        }
    }

    /// What follows the velocity solves of a step of `dt` seconds: continuation into air and solids, the clock, and a look for values that are not finite.
    #[inline(never)]
    pub fn complete(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<(), FluidError> {
        let shells = self.shells_of(model, state.time, dt)?;
        let sights = Sights::new(model, state, shells.as_ref(), dt)?;
        self.continue_velocity(model, state, dt, sights.as_ref())?;
        state.time += dt;
        state.step += 1;
        self.check_finite(state)
    }
}
