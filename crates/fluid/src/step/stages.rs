//! The stages of a step.

use super::{FluidStepper, Sights, copy_faces};
use crate::cells::CellKind;
use crate::error::FluidError;
use crate::extend::extend_layers;
use crate::forces::{add_cell_acceleration, add_gravity, add_vorticity_confinement};
use crate::model::{FluidModel, Redistancing, SourceKind};
use crate::obstacle::Placement;
use crate::pressure::{PressureProblem, PressureReport, Projection};
use crate::state::FluidState;
use crate::surface;
use crate::viscosity::{ViscosityField, ViscosityForm, ViscosityReport, ViscosityRows, ViscousStep};
use crate::walls::Walls;
use crate::wetting::{self, Gap, Hold, Rubbing, WallFace};
use splashdown_geometry::grid::{Field, Index, Location, box_indices};
use splashdown_math::{Dim, Space, Vector};

/// Layers of cells inside solids that carry values of the fluid around.
const SOLID_LAYERS: usize = 4;
/// Layers in which samples that a shell passed are refilled.
const REFILL_LAYERS: usize = 10;
/// `phi` (m) of a sample that a shell passed and that sees no other: air.
const AIR: f64 = 1e-5;

impl<const D: usize> FluidStepper<D>
where
    Dim<D>: Space<D>,
{
    /// Rasterises the obstacles where they are at `time` (s), and closes the faces whose velocity a source prescribes. Does nothing while all stay the same.
    pub(super) fn place_solids(
        &mut self,
        model: &FluidModel<D>,
        time: f64,
        placements: Option<&[Placement<D>]>,
        sights: Option<&Sights<D>>,
    ) {
        self.place_expansion(model, time);
        let own: Vec<Placement<D>>;
        let placements = match placements {
            Some(given) if given.len() == model.obstacles.len() => given,
            _ => {
                own = model.obstacles.iter().map(|obstacle| obstacle.placement(time)).collect();
                &own
            }
        };
        let active: Vec<bool> =
            model.sources.iter().map(|source| source.velocity.is_some() && source.is_active(time)).collect();
        let shells = sights.map(|sights| sights.step);
        let same = self.placed == placements
            && self.placed_guests == self.guests
            && self.active_sources == active
            && self.shells.as_ref() == shells;
        if self.walls.is_some() && same && !self.released {
            return;
        }
        let boundary = model.options.solid_boundary;
        let mut walls =
            Walls::with_guests(&model.domain, &model.obstacles, placements, &self.guests, boundary);
        for (source, _) in model.sources.iter().zip(&active).filter(|(_, active)| **active) {
            let Some(velocity) = source.velocity else { continue };
            walls.close_region(&model.domain, &source.region, &velocity);
        }
        if let Some(sights) = sights {
            sights.after.close_faces(&mut walls);
        }
        self.walls = Some(walls);
        self.released = false;
        self.viscous_rows = None;
        self.shells = shells.cloned();
        self.placed = placements.to_vec();
        self.placed_guests.clone_from(&self.guests);
        self.active_sources = active;
    }

    /// The divergence that active sources make at `time` (s).
    fn place_expansion(&mut self, model: &FluidModel<D>, time: f64) {
        let expanding: Vec<bool> =
            model.sources.iter().map(|source| source.expansion != 0.0 && source.is_active(time)).collect();
        if expanding == self.expanding {
            return;
        }
        let grid = model.domain.grid();
        self.expansion = expanding.contains(&true).then(|| {
            let mut field = Field::with_ghost(grid, Location::Cell, 0, 0.0);
            let lattice = *field.lattice();
            for (source, _) in model.sources.iter().zip(&expanding).filter(|(_, active)| **active) {
                let Some([low, high]) = crate::walls::cell_range(grid, &source.region.bounds()) else {
                    continue;
                };
                for cell in box_indices(low, high) {
                    if source.region.contains(&lattice.position(cell)) {
                        field.set(cell, field.at(cell) + source.expansion);
                    }
                }
            }
            field
        });
        self.expanding = expanding;
    }

    /// Distances and particles for surfaces that were just set.
    pub(super) fn initialise_surfaces(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        sights: Option<&Sights<D>>,
    ) -> Result<(), FluidError> {
        let sight = sights.map(|sights| &sights.after);
        let options = model.options.surface;
        self.separate_liquids(model, state);
        let Some(walls) = &self.walls else { return Ok(()) };
        for (number, liquid) in state.liquids.iter_mut().enumerate() {
            surface::extend_into_solids(&model.domain, walls, &mut liquid.phi);
            reinitialise(model, &mut liquid.phi, sights, true)?;
            liquid.volume = surface::volume_of(&liquid.phi, walls, 0.0);
            if let Some(particles) = &options.particles
                && liquid.markers.inside.is_empty()
            {
                liquid.markers.reseed(&model.domain, walls, &liquid.phi, particles, seed(number, 0), sight);
            }
            if let Some(apic) = options.apic.as_ref().filter(|_| liquid.apic.is_empty()) {
                let phi = &liquid.phi;
                liquid.apic.fill(&model.domain, walls, phi, apic, seed(number, 0), |_| true);
            }
        }
        Ok(())
    }

    /// Where shells move, the velocity that carries is projected once more with their effective velocity over the step, `(x^{n+1} - x^n) / dt`, at the faces that
    /// they close at its start (spec 3.14), so that nothing is carried against them.
    pub(super) fn make_flow_leak_proof(
        &mut self,
        model: &FluidModel<D>,
        state: &FluidState<D>,
        sights: Option<&Sights<D>>,
    ) -> Result<(), FluidError> {
        let Some(sights) = sights else { return Ok(()) };
        let domain = &model.domain;
        let placements: Vec<Placement<D>> =
            model.obstacles.iter().map(|obstacle| obstacle.placement(state.time)).collect();
        let boundary = model.options.solid_boundary;
        let mut walls = Walls::with_guests(domain, &model.obstacles, &placements, &self.guests, boundary);
        sights.before.close_faces(&mut walls);
        let phis: Vec<&Field<D>> = state.liquids.iter().map(|liquid| &liquid.phi).collect();
        let surface = self.surface.as_ref().filter(|_| model.free_surface).map(|field| {
            let mut surface = field.clone();
            surface::surface_of(&phis, &mut surface);
            surface
        });
        let cells = crate::cells::classify(domain, &walls, surface.as_ref());
        let problem = PressureProblem {
            walls: &walls,
            cells: &cells,
            phi: surface.as_ref(),
            known: None,
            ..self.problem(model)
        };
        let mut flow = self.flow.clone();
        Projection::default().clean(&problem, &mut flow, &model.options.pressure)?;
        match &surface {
            Some(surface) => {
                let band = 5.0 * domain.grid().spacing().max();
                let known = |axis: usize, face: Index<D>| problem.is_unknown(axis, face);
                surface::extrapolate_velocity(
                    domain,
                    &walls,
                    surface,
                    &mut flow,
                    band,
                    Some(&sights.before),
                    false,
                    known,
                )?;
            }
            None => domain.fill_velocity_ghosts(&mut flow),
        }
        self.flow = flow;
        Ok(())
    }

    /// Level sets and particles go with the flow (spec 3.10: advect, correct, distance, correct, radii, reseed).
    pub(super) fn carry_surfaces(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        sights: Option<&Sights<D>>,
    ) -> Result<(), FluidError> {
        let options = model.options.surface;
        let sight = sights.map(|sights| &sights.after);
        let moving = sights.map(|sights| (sights.step, &sights.before, &sights.after));
        let mut gaps: Vec<Vec<Gap<D>>> = Vec::new();
        if state.liquids.is_empty() {
            return Ok(());
        }
        {
            let Some(walls) = &self.walls else { return Ok(()) };
            for liquid in &mut state.liquids {
                liquid.volume -= dt * surface::outflow(&model.domain, &self.flow, &liquid.phi);
                let one_sided = sights.map(|sights| {
                    let samples = sights.before.near_samples(&liquid.phi);
                    let values = sights.before.carried_phi(&self.flow, &liquid.phi, &samples, dt);
                    (samples, values)
                });
                gaps.push(match options.wetting.separation {
                    true => wetting::gaps(
                        &model.domain,
                        walls,
                        model.obstacles.len(),
                        &self.flow,
                        &liquid.phi,
                        dt,
                    ),
                    false => Vec::new(),
                });
                let left = gaps.last().map_or(&[][..], |gaps| &gaps[..]);
                surface::carry_off_walls(
                    &model.domain,
                    &self.flow,
                    &mut liquid.phi,
                    &mut self.scratch,
                    dt,
                    options.level_set,
                    left,
                );
                if let (Some(sights), Some((samples, values))) = (sights, one_sided) {
                    replace(&mut liquid.phi, sights, &samples, &values, |_| AIR);
                    model.domain.fill_level_set_ghosts(&mut liquid.phi);
                }
                if let (Some(apic), Some(transfer)) = (&options.apic, &mut self.transfer) {
                    liquid.apic.carry(&model.domain, walls, &self.flow, dt, apic, transfer);
                    liquid.apic.surface(&mut liquid.phi);
                    model.domain.fill_level_set_ghosts(&mut liquid.phi);
                }
                if let Some(gaps) = gaps.last_mut() {
                    wetting::measure_gaps(gaps, &liquid.phi);
                    wetting::keep_gaps(gaps, &mut liquid.phi);
                }
                if let Some(particles) = &options.particles {
                    liquid.markers.advance(&model.domain, walls, &self.flow, dt, moving);
                    liquid.markers.correct(&mut liquid.phi, particles.escape, sight);
                    model.domain.fill_level_set_ghosts(&mut liquid.phi);
                }
            }
        }
        self.separate_liquids(model, state);
        let Some(walls) = &self.walls else { return Ok(()) };
        for (number, liquid) in state.liquids.iter_mut().enumerate() {
            surface::extend_into_solids(&model.domain, walls, &mut liquid.phi);
            reinitialise(model, &mut liquid.phi, sights, false)?;
            wetting::keep_gaps(&gaps[number], &mut liquid.phi);
            if let Some(particles) = &options.particles {
                liquid.markers.correct(&mut liquid.phi, particles.escape, sight);
                model.domain.fill_level_set_ghosts(&mut liquid.phi);
                wetting::keep_gaps(&gaps[number], &mut liquid.phi);
                // Drops do not know of shells.
                if particles.removed && model.free_surface && sights.is_none() {
                    liquid.markers.exchange_removed(
                        &model.domain,
                        walls,
                        &self.flow,
                        &liquid.phi,
                        particles,
                        &model.gravity,
                        dt,
                    );
                }
                liquid.markers.measure_radii(&liquid.phi, sight);
                liquid.markers.age += 1;
                if liquid.markers.age >= particles.reseed_every {
                    let seed = seed(number, state.step + 1);
                    liquid.markers.reseed(&model.domain, walls, &liquid.phi, particles, seed, sight);
                }
            }
            if let Some(apic) = &options.apic {
                let (removed, gravity) = (&mut liquid.markers.removed, &model.gravity);
                let (phi, flow) = (&liquid.phi, &self.flow);
                liquid.apic.exchange(removed, &model.domain, walls, flow, phi, apic, gravity, dt);
                let seed = seed(number, state.step + 1);
                liquid.apic.reseed(&model.domain, walls, phi, apic, seed);
            }
            if model.free_surface && model.liquids.len() == 1 && sights.is_none() {
                surface::fill_pinholes(&model.domain, walls, &mut liquid.phi, &mut liquid.markers);
            }
            // Particles tell the surface up to their size, and the volume tells that.
            if options.volume_correction || options.apic.is_some() {
                let target = liquid.volume - liquid.markers.removed.drop_volume();
                let shift = surface::correct_volume(&model.domain, walls, &mut liquid.phi, target);
                // Else those of the air would carve back what the liquid regained. Near shells nothing is moved across.
                if shift != 0.0 && sights.is_none() {
                    liquid.markers.shift(&liquid.phi, shift);
                }
            }
        }
        // Distances and corrections were each liquid's own.
        self.separate_liquids(model, state);
        Ok(())
    }

    /// No overlap of liquids, and no gaps if they fill everything (spec 3.15).
    fn separate_liquids(&self, model: &FluidModel<D>, state: &mut FluidState<D>) {
        if state.liquids.len() < 2 {
            return;
        }
        let mut phis: Vec<&mut Field<D>> = state.liquids.iter_mut().map(|liquid| &mut liquid.phi).collect();
        surface::separate(&mut phis, !model.free_surface);
    }

    /// Smoke and temperature go with the flow, cool and fade.
    pub(super) fn carry_scalars(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        sights: Option<&Sights<D>>,
    ) {
        let (Some(smoke), Some(carried), Some(walls)) = (&model.smoke, &mut state.smoke, &self.walls) else {
            return;
        };
        let grid = *model.domain.grid();
        if let Some(advection) = model.options.advection {
            let rough = |at: &Vector<D>| is_in_solid(walls, &grid, at);
            for (field, ambient) in
                [(&mut carried.density, 0.0), (&mut carried.temperature, smoke.ambient_temperature)]
            {
                let one_sided = sights.map(|sights| {
                    let samples = sights.before.near_samples(field);
                    let values = sights.before.carried_scalar(&self.flow, field, &samples, dt);
                    (samples, values)
                });
                advection.scalar(&model.domain, &self.flow, field, &mut self.scratch, ambient, dt, rough);
                if let (Some(sights), Some((samples, values))) = (sights, one_sided) {
                    replace(field, sights, &samples, &values, |_| ambient);
                }
            }
        }
        let fade = (-smoke.decay * dt).exp();
        carried.density.update(|_, value| (fade * value).max(0.0));
        if smoke.cooling > 0.0 {
            let (ambient, range) = (smoke.ambient_temperature, smoke.hottest - smoke.ambient_temperature);
            carried.temperature.update(|_, value| {
                let excess = (value - ambient) / range;
                let loss = dt * smoke.cooling * excess.powi(4);
                // Cooling does not go past the surroundings.
                if value > ambient { (value - loss).max(ambient) } else { value }
            });
        }
        if walls.any_obstacle() {
            let solid: Vec<Index<D>> =
                carried.density.lattice().indices().filter(|&c| walls.is_solid(c)).collect();
            extend_layers(&mut carried.density, &solid, SOLID_LAYERS, |_, _| true, |_| 0.0);
            let ambient = smoke.ambient_temperature;
            extend_layers(&mut carried.temperature, &solid, SOLID_LAYERS, |_, _| true, |_| ambient);
        }
        model.domain.fill_scalar_ghosts(&mut carried.density, 0.0);
        model.domain.fill_scalar_ghosts(&mut carried.temperature, smoke.ambient_temperature);
    }

    /// The velocity goes with the flow.
    pub(super) fn carry_velocity(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        sights: Option<&Sights<D>>,
    ) {
        let (Some(advection), Some(walls)) = (model.options.advection, &self.walls) else { return };
        let one_sided: Option<Vec<_>> = sights.map(|sights| {
            let of_axis = |axis: usize| {
                let component = state.velocity.component(axis);
                let samples = sights.before.near_samples(component);
                let values = sights.before.carried_component(&self.flow, component, axis, &samples, dt);
                (samples, values)
            };
            (0..D).map(of_axis).collect()
        });
        let grid = *model.domain.grid();
        let velocity = &mut state.velocity;
        let solid = walls.any_obstacle();
        match &self.surface {
            // Within two cells of a free surface the extrapolated velocity beyond it must not be amplified.
            Some(surface) if model.free_surface => {
                let near = -2.0 * grid.spacing().max();
                let sampler = crate::advect::Sampler::new(surface);
                let rough =
                    |at: &Vector<D>| sampler.value_at(at) > near || solid && is_in_solid(walls, &grid, at);
                advection.velocity(&model.domain, &self.flow, velocity, &mut self.scratch, dt, rough);
            }
            _ if solid => {
                let rough = |at: &Vector<D>| is_in_solid(walls, &grid, at);
                advection.velocity(&model.domain, &self.flow, velocity, &mut self.scratch, dt, rough);
            }
            _ => advection.velocity(&model.domain, &self.flow, velocity, &mut self.scratch, dt, |_| false),
        }
        if let (Some(apic), Some(transfer)) = (&model.options.surface.apic, &self.transfer) {
            // Deeper than the band the grid alone carries.
            let (phi, depth) = (&state.liquids[0].phi, (1.0 - apic.band) * grid.spacing().max());
            for axis in 0..D {
                let (mass, brought) = (transfer.mass.component(axis), transfer.velocity.component(axis));
                velocity.component_mut(axis).update(|face, u| {
                    let mut below = face;
                    below[axis] -= 1;
                    let in_band = 0.5 * (phi.at(below) + phi.at(face)) > depth;
                    if in_band && mass.at(face) > 0.0 { brought.at(face) } else { u }
                });
            }
            model.domain.fill_velocity_ghosts(velocity);
        }
        if let (Some(sights), Some(one_sided)) = (sights, one_sided) {
            for (axis, (samples, values)) in one_sided.iter().enumerate() {
                let wall = walls.velocity().component(axis);
                replace(velocity.component_mut(axis), sights, samples, values, |face| wall.at(face));
            }
            model.domain.fill_velocity_ghosts(velocity);
        }
    }

    /// Sources set what they make, sinks remove liquid.
    pub(super) fn apply_sources(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<(), FluidError> {
        let Some(walls) = &self.walls else { return Ok(()) };
        let time = state.time + dt;
        for (number, source) in model.sources.iter().enumerate().filter(|(_, source)| source.is_active(time))
        {
            match source.kind {
                SourceKind::Stir => {}
                SourceKind::Smoke { density, temperature } => {
                    let Some(smoke) = &mut state.smoke else { continue };
                    let lattice = *smoke.density.lattice();
                    let Some([low, high]) =
                        crate::walls::cell_range(model.domain.grid(), &source.region.bounds())
                    else {
                        continue;
                    };
                    for cell in box_indices(low, high) {
                        if source.region.contains(&lattice.position(cell)) {
                            smoke.density.set(cell, density);
                            smoke.temperature.set(cell, temperature);
                        }
                    }
                }
                SourceKind::Liquid { liquid } => {
                    let phi = &mut state.liquids[liquid].phi;
                    let lattice = *phi.lattice();
                    let before = surface::volume_of(phi, walls, 0.0);
                    phi.update(|cell, old| old.min(source.region.signed_distance(&lattice.position(cell))));
                    model.domain.fill_level_set_ghosts(phi);
                    let after = surface::volume_of(phi, walls, 0.0);
                    state.liquids[liquid].volume += after - before;
                    state.liquids[liquid].markers.clear(false, |x| source.region.contains(x));
                    if let Some(apic) = &model.options.surface.apic {
                        let crate::state::LiquidState { phi, apic: particles, .. } =
                            &mut state.liquids[liquid];
                        let (seed, inside) =
                            (seed(number, state.step + 1), |x: &Vector<D>| source.region.contains(x));
                        particles.fill(&model.domain, walls, phi, apic, seed, inside);
                    }
                    for (number, other) in state.liquids.iter_mut().enumerate() {
                        if number != liquid {
                            displace(model, walls, other, source);
                        }
                    }
                }
                SourceKind::Sink => {
                    for liquid in &mut state.liquids {
                        displace(model, walls, liquid, source);
                    }
                }
            }
        }
        if let (Some(smoke), Some(carried)) = (&model.smoke, &mut state.smoke) {
            model.domain.fill_scalar_ghosts(&mut carried.density, 0.0);
            model.domain.fill_scalar_ghosts(&mut carried.temperature, smoke.ambient_temperature);
        }
        Ok(())
    }

    /// Friction of liquids along the walls that press on them.
    fn add_wall_friction(&self, model: &FluidModel<D>, state: &mut FluidState<D>, dt: f64) {
        let sides = model.options.surface.wetting.friction;
        let rubs = sides > 0.0 || model.obstacles.iter().any(|obstacle| obstacle.friction > 0.0);
        let (true, Some(walls)) = (rubs && model.level_sets() > 0, &self.walls) else { return };
        let faces =
            wetting::wall_faces(&model.domain, walls, &self.cells, CellKind::Fluid, model.obstacles.len());
        let (grid, last) = (model.domain.grid(), model.domain.grid().cells());
        let solid = |face: &WallFace<D>| match walls.owner(face.axis, face.face) {
            Some(owner) => Some(Rubbing {
                friction: model.obstacles[owner].friction,
                velocity: self.placed.get(owner)?.velocity_at(&grid.cell_centre(face.wet)),
            }),
            None => {
                let upper = face.face[face.axis] == last[face.axis] as isize;
                let velocity = model.domain.sliding_side(face.axis, upper, face.wet)?;
                Some(Rubbing { friction: sides, velocity })
            }
        };
        let phis: Vec<&Field<D>> = state.liquids.iter().map(|liquid| &liquid.phi).collect();
        let density = |cell: Index<D>| model.liquids[surface::liquid_at(&phis, cell)].density;
        let h = grid.spacing();
        wetting::add_friction(&faces, &mut state.velocity, &state.pressure, density, dt, &h, solid);
    }

    /// Gravity, body forces, buoyancy and confinement over `dt` seconds.
    #[inline(never)]
    pub fn add_forces(&mut self, model: &FluidModel<D>, state: &mut FluidState<D>, dt: f64) {
        self.add_wall_friction(model, state, dt);
        for force in &model.forces {
            force.add(&mut state.velocity, state.time + dt, dt);
        }
        let (Some(smoke), Some(carried)) = (&model.smoke, &state.smoke) else {
            add_gravity(&mut state.velocity, &model.gravity, dt);
            return;
        };
        // The gas at rest is in balance with gravity; only what differs from the surroundings moves it.
        let strength = model.gravity.norm();
        if strength > 0.0 && (smoke.weight != 0.0 || smoke.lift != 0.0) {
            let up = model.gravity * (-1.0 / strength);
            let (density, temperature) = (&carried.density, &carried.temperature);
            let acceleration = &mut self.scratch[0];
            acceleration.relocate(Location::Cell);
            for (place, value) in acceleration.values_mut().iter_mut().enumerate() {
                let warm = temperature.values()[place] - smoke.ambient_temperature;
                *value = smoke.lift * warm - smoke.weight * density.values()[place];
            }
            add_cell_acceleration(&mut state.velocity, acceleration, &up, dt);
        }
        if smoke.confinement > 0.0 {
            model.domain.fill_velocity_ghosts(&mut state.velocity);
            // The velocity that carried has done its work.
            let (velocity, strength) = (&mut state.velocity, smoke.confinement);
            let walls = self.walls.as_ref().filter(|walls| walls.any_thin());
            let open = walls.map(|walls| move |axis: usize, face: Index<D>| !walls.is_occluded(axis, face));
            let open: crate::forces::Open<D> = match &open {
                Some(open) => Some(open),
                None => None,
            };
            add_vorticity_confinement(velocity, strength, dt, &mut self.scratch[0], &mut self.flow, open);
        }
    }

    /// The viscous rows of the fluid as it is; give them back with [`Self::keep_rows`].
    #[inline(never)]
    fn viscosity_rows(
        &mut self,
        model: &FluidModel<D>,
        state: &FluidState<D>,
    ) -> Result<Option<ViscosityRows<D>>, FluidError> {
        if model.liquids.iter().all(|liquid| liquid.viscosity == 0.0) {
            return Ok(None);
        }
        let own = (model.liquids[0].viscosity, model.options.viscosity_form);
        if let Some((_, _, rows)) = self.viscous_rows.take().filter(|kept| (kept.0, kept.1) == own) {
            return Ok(Some(rows));
        }
        let phis: Vec<&Field<D>> = state.liquids.iter().map(|liquid| &liquid.phi).collect();
        let several = model.liquids.len() > 1;
        if several {
            self.scratch[0].relocate(Location::Cell);
            surface::viscosity_at(&phis, &model.liquids, &mut self.scratch[0]);
        }
        let field = if several {
            ViscosityField::Cells(&self.scratch[0])
        } else {
            ViscosityField::Uniform(model.liquids[0].viscosity)
        };
        // Liquids of different viscosity need the full stress.
        let form = if several { ViscosityForm::Stress } else { model.options.viscosity_form };
        let mut velocity = state.velocity.clone();
        self.walls_ref().impose(&mut velocity);
        ViscosityRows::new(&self.problem(model), &velocity, field, form).map(Some)
    }

    /// Without surfaces the rows stay as they are until the walls change.
    fn keep_rows(&mut self, model: &FluidModel<D>, rows: ViscosityRows<D>) {
        if model.level_sets() == 0 {
            self.viscous_rows = Some((model.liquids[0].viscosity, model.options.viscosity_form, rows));
        }
    }

    /// The explicit half of Crank-Nicolson, at the start of the step.
    pub(super) fn start_viscosity(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<(), FluidError> {
        if model.options.viscous_step != ViscousStep::CrankNicolson {
            return Ok(());
        }
        self.classify(model, state);
        if let Some(rows) = self.viscosity_rows(model, state)? {
            let mut viscosity = std::mem::take(&mut self.viscosity);
            viscosity.explicit(&self.problem(model), &rows, &mut state.velocity, 0.5 * dt);
            self.viscosity = viscosity;
            self.keep_rows(model, rows);
            model.domain.fill_velocity_ghosts(&mut state.velocity);
        }
        Ok(())
    }

    /// Viscosity over the step, or the implicit half of Crank-Nicolson.
    #[inline(never)]
    pub fn apply_viscosity(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<Option<ViscosityReport>, FluidError> {
        let Some(rows) = self.viscosity_rows(model, state)? else { return Ok(None) };
        let mut viscosity = std::mem::take(&mut self.viscosity);
        let problem = self.problem(model);
        let velocity = &mut state.velocity;
        let tolerance = model.options.viscosity_tolerance;
        let result = match model.options.viscous_step {
            ViscousStep::Explicit => {
                viscosity.explicit(&problem, &rows, velocity, dt);
                Ok(ViscosityReport { unknowns: rows.faces().len(), ..Default::default() })
            }
            ViscousStep::Implicit => viscosity.implicit(&problem, &rows, velocity, dt, tolerance),
            ViscousStep::CrankNicolson => viscosity.implicit(&problem, &rows, velocity, 0.5 * dt, tolerance),
        };
        self.viscosity = viscosity;
        self.keep_rows(model, rows);
        result.map(Some)
    }

    /// Pressure makes the velocity incompressible.
    pub(super) fn project(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<PressureReport, FluidError> {
        let mut projection = std::mem::take(&mut self.projection);
        let solved = if model.options.surface.wetting.separation {
            self.project_from_walls(&mut projection, model, state, dt)
        } else {
            let (velocity, pressure) = (&mut state.velocity, &mut state.pressure);
            projection.project(&self.problem(model), velocity, pressure, dt, &model.options.pressure)
        };
        self.projection = projection;
        solved
    }

    /// The projection of a liquid that may leave walls: those are released on which it would have to hang, and closed again where it would enter them.
    fn project_from_walls(
        &mut self,
        projection: &mut Projection<D>,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
    ) -> Result<PressureReport, FluidError> {
        let Some(closed) = self.walls.clone() else { return Ok(PressureReport::default()) };
        let (cells, before) = (self.cells.clone(), state.velocity.clone());
        let dry = self.surface.clone();
        let faces =
            wetting::wall_faces(&model.domain, &closed, &cells, CellKind::Fluid, model.obstacles.len());
        let mut holds = vec![Hold::Closed; faces.len()];
        let adhesion = model.largest_tension() / model.domain.grid().min_spacing();
        for attempt in 1.. {
            let (velocity, pressure) = (&mut state.velocity, &mut state.pressure);
            let report =
                projection.project(&self.problem(model), velocity, pressure, dt, &model.options.pressure)?;
            let revised = wetting::revise(&faces, &mut holds, &closed, velocity, pressure, adhesion);
            if !revised || attempt == wetting::MOST_REVISIONS {
                return Ok(report);
            }
            copy_faces(&before, velocity);
            let mut walls = closed.clone();
            self.cells = cells.clone();
            self.surface.clone_from(&dry);
            for (face, _) in faces.iter().zip(&holds).filter(|(_, hold)| **hold == Hold::Released) {
                walls.release(face.axis, face.face);
                self.cells.set(face.solid, CellKind::Air);
                // Inside of the box: the surface is at the solid.
                if let Some(surface) = self.surface.as_mut().filter(|s| s.lattice().contains(face.solid)) {
                    surface.set(face.solid, surface.at(face.solid).max(f64::MIN_POSITIVE));
                }
            }
            self.walls = Some(walls);
            self.released = true;
        }
        Ok(PressureReport::default())
    }

    /// The velocity is continued into air and into solids along which the fluid slides, and its ghosts are filled.
    pub(super) fn continue_velocity(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        sights: Option<&Sights<D>>,
    ) -> Result<(), FluidError> {
        let Some(walls) = &self.walls else { return Ok(()) };
        match &self.surface {
            Some(surface) if model.free_surface => {
                let problem = self.problem(model);
                let h = model.domain.grid().spacing();
                // The distance that the surface may travel in a step like this one, and three cells more.
                let fastest = crate::diagnostics::max_speed(&state.velocity);
                let cells = (fastest * dt / h.min()).ceil().clamp(1.0, 10.0) + 3.0;
                // Also faces on which the pressure does not act because the air beyond is just wet: the pressure has reckoned with their velocity.
                let known = |axis: usize, face: Index<D>| {
                    !walls.is_closed(axis, face) && problem.kinds(axis, face).contains(&CellKind::Fluid)
                };
                let band = cells * h.max();
                let sight = sights.map(|sights| &sights.after);
                let leaving = model.options.surface.wetting.separation;
                // Closed faces keep what the pressure has reckoned with, too: in a region that cannot change its volume it is not what the solid has.
                let mut corrected: Vec<(usize, Index<D>, f64)> = Vec::new();
                for axis in (0..D).filter(|_| walls.any_obstacle()) {
                    let (solved, of_solid) =
                        (state.velocity.component(axis), walls.velocity().component(axis));
                    let differs = |face: &Index<D>| {
                        walls.is_closed(axis, *face)
                            && solved.at(*face) != of_solid.at(*face)
                            && problem.kinds(axis, *face).contains(&CellKind::Fluid)
                    };
                    let faces = solved.lattice().indices().filter(differs);
                    corrected.extend(faces.map(|face| (axis, face, solved.at(face))));
                }
                surface::extrapolate_velocity(
                    &model.domain,
                    walls,
                    surface,
                    &mut state.velocity,
                    band,
                    sight,
                    leaving,
                    known,
                )?;
                for (axis, face, value) in corrected {
                    state.velocity.component_mut(axis).set(face, value);
                }
            }
            _ => {
                for axis in (0..D).filter(|_| walls.any_continued()) {
                    let inside: Vec<Index<D>> = walls.continued_faces(axis);
                    let component = state.velocity.component_mut(axis);
                    let wall = walls.velocity().component(axis);
                    extend_layers(component, &inside, SOLID_LAYERS, |_, _| true, |face| wall.at(face));
                }
                model.domain.fill_velocity_ghosts(&mut state.velocity);
            }
        }
        Ok(())
    }
}

/// Writes the one-sided values of the samples near shells, and refills those that a shell passed from neighbours that they see now (spec 3.12).
fn replace<const D: usize>(
    field: &mut Field<D>,
    sights: &Sights<D>,
    samples: &[Index<D>],
    values: &[f64],
    beyond: impl Fn(Index<D>) -> f64,
) where
    Dim<D>: Space<D>,
{
    for (&index, &value) in samples.iter().zip(values) {
        field.set(index, value);
    }
    let lattice = *field.lattice();
    let swept = sights.step.swept(&sights.after, samples, |index| lattice.position(index));
    let way = |index: Index<D>, axis: usize| {
        let mut lower = index;
        lower[axis] -= 1;
        [lattice.position(index), lattice.position(lower)]
    };
    let open = |index: Index<D>, axis: usize| {
        let [x, y] = way(index, axis);
        sights.after.sees(&x, &y)
    };
    // Samples within the thickness of a shell see nothing, but they are on one side of its surface.
    let (lost, seeing): (Vec<Index<D>>, Vec<Index<D>>) = swept.into_iter().partition(|&index| {
        (0..D).all(|axis| {
            let mut upper = index;
            upper[axis] += 1;
            !open(index, axis) && !open(upper, axis)
        })
    });
    let open_past_surface = |index: Index<D>, axis: usize| {
        let [x, y] = way(index, axis);
        sights.after.sees_past_surface(&x, &y)
    };
    extend_layers(field, &seeing, REFILL_LAYERS, open, &beyond);
    extend_layers(field, &lost, REFILL_LAYERS, open_past_surface, &beyond);
}

/// Signed distance, never through a shell.
fn reinitialise<const D: usize>(
    model: &FluidModel<D>,
    phi: &mut Field<D>,
    sights: Option<&Sights<D>>,
    first: bool,
) -> Result<(), FluidError>
where
    Dim<D>: Space<D>,
{
    let Some(sights) = sights else {
        // A field that was just set may be no distance at all.
        return match model.options.surface.redistancing {
            Redistancing::Evolution { iterations } if !first => {
                surface::evolve(&model.domain, phi, iterations)
            }
            _ => surface::reinitialise(&model.domain, phi, None),
        };
    };
    let lattice = *phi.lattice();
    let open = |index: Index<D>, axis: usize| {
        let mut lower = index;
        lower[axis] -= 1;
        let x = lattice.position(index);
        !sights.after.is_near(&x) || sights.after.sees(&x, &lattice.position(lower))
    };
    surface::reinitialise(&model.domain, phi, Some(&open))
}

/// Takes the liquid out of a source's region.
fn displace<const D: usize>(
    model: &FluidModel<D>,
    walls: &Walls<D>,
    liquid: &mut crate::state::LiquidState<D>,
    source: &crate::model::Source<D>,
) where
    Dim<D>: Space<D>,
{
    let lattice = *liquid.phi.lattice();
    let before = surface::volume_of(&liquid.phi, walls, 0.0);
    liquid.phi.update(|cell, old| old.max(-source.region.signed_distance(&lattice.position(cell))));
    model.domain.fill_level_set_ghosts(&mut liquid.phi);
    liquid.volume += surface::volume_of(&liquid.phi, walls, 0.0) - before;
    liquid.markers.clear(true, |x| source.region.contains(x));
    liquid.apic.clear(|x| source.region.contains(x));
}

/// Is the point, in cells from the lower corner of the grid, in a cell of an obstacle?
#[inline]
fn is_in_solid<const D: usize>(
    walls: &Walls<D>,
    grid: &splashdown_geometry::grid::Grid<D>,
    at: &Vector<D>,
) -> bool
where
    Dim<D>: Space<D>,
{
    if !walls.any_obstacle() {
        return false;
    }
    // The cast rounds towards zero, which is down for points of the grid.
    let cell: Index<D> = std::array::from_fn(|a| at[a] as isize);
    if (0..D).any(|a| at[a] < 0.0) {
        return false;
    }
    // A point on the border of cells is in all of them, so that none of the sides is preferred.
    let on_border: [bool; D] = std::array::from_fn(|a| at[a] - cell[a] as f64 == 0.0);
    (0..1usize << D).any(|choice| {
        let lower = |a: usize| choice >> a & 1 == 1;
        if (0..D).any(|a| lower(a) && !on_border[a]) {
            return false;
        }
        let there: Index<D> = std::array::from_fn(|a| cell[a] - isize::from(lower(a)));
        grid.has_cell(there) && walls.is_solid(there)
    })
}

/// Seed of the random numbers of one liquid at one step.
fn seed(liquid: usize, step: u64) -> u64 {
    step.wrapping_mul(1009).wrapping_add(liquid as u64 + 1)
}
