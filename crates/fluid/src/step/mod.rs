//! One step of a fluid: the stages of spec/fluid-base.md 3.3 in their order, each one named function.
//!
//! | stage | what |
//! |---|---|
//! | `place_solids` | obstacles and sources at the end of the step close faces |
//! | `make_flow_leak_proof` | the velocity that carries gets the effective velocity of moving shells |
//! | `carry_surfaces` | level sets and particles go with the flow; particle correction, signed distance, reseeding |
//! | `carry_scalars` | smoke and temperature |
//! | `carry_velocity` | the velocity itself |
//! | `apply_sources` | smoke, liquid and sinks |
//! | `add_forces` | gravity, buoyancy, confinement |
//! | `apply_viscosity` | explicit or implicit |
//! | `project` | pressure |
//! | `continue_velocity` | into air and solids, for the next step |

mod coupled;
mod stages;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_options;
mod window;

use crate::cells::{Cells, classify, reclassify};
use crate::diagnostics::FluidDiagnostics;
use crate::error::FluidError;
use crate::guest::Guest;
use crate::model::{FluidModel, TimeScheme};
use crate::momentum::FaceMasses;
use crate::obstacle::Placement;
use crate::pressure::{FaceDensity, PressureProblem, PressureReport, Projection};
use crate::shell::{Sheet, Shell, ShellStep, Sight};
use crate::state::FluidState;
use crate::surface;
use crate::viscosity::{Viscosity, ViscosityForm, ViscosityReport, ViscosityRows, ViscousStep};
use crate::walls::Walls;
use crate::wetting::impose_contact_angle;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_math::{Dim, Space, Vector};
use splashdown_solve::PatternMemory;
use splashdown_solve::amg::AmgMemory;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FluidReport {
    /// The last projection.
    pub pressure: PressureReport,
    /// The viscous solve, if there was one.
    pub viscosity: Option<ViscosityReport>,
}

/// Advances fluids: the stages, and the memory they share. Holds nothing that changes the result, so a fresh one goes on bit for bit the same.
pub struct FluidStepper<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub(crate) walls: Option<Walls<D>>,
    /// What `walls` was made from.
    placed: Vec<Placement<D>>,
    placed_guests: Vec<Guest<D>>,
    /// Solids that others simulate, where they are now.
    guests: Vec<Guest<D>>,
    /// Sheets that others simulate, during this step.
    sheets: Vec<Sheet<D>>,
    /// Have faces of `walls` been opened for liquid that leaves them?
    released: bool,
    active_sources: Vec<bool>,
    /// Divergence (1/s) that sources make, and which of them.
    expansion: Option<Field<D>>,
    expanding: Vec<bool>,
    shells: Option<ShellStep<D>>,
    pub(crate) cells: Cells<D>,
    projection: Projection<D>,
    viscosity: Viscosity,
    /// Viscous rows of a fluid without surfaces, good while `walls` stay the same.
    viscous_rows: Option<(f64, ViscosityForm, ViscosityRows<D>)>,
    /// The velocity that carries.
    flow: FaceFields<D>,
    /// Working memory of every stage, at any location.
    scratch: [Field<D>; 2],
    surface: Option<Field<D>>,
    density: Option<FaceFields<D>>,
    tension: Option<FaceFields<D>>,
    /// What particles brought to the faces.
    transfer: Option<surface::Transfer<D>>,
    /// The part of the box that the last step was taken in, if it was not all of it.
    inner: Option<Box<window::Window<D>>>,
    /// The pattern of the last factor that a solve with guests made.
    pub factor_pattern: PatternMemory,
    /// The same of the multigrid for the pressures of such solves.
    pub pressure_hierarchy: AmgMemory,
    /// Seconds that the stages of the last step took.
    seconds: Vec<(&'static str, f64)>,
}

impl<const D: usize> FluidStepper<D>
where
    Dim<D>: Space<D>,
{
    /// Memory for steps of `model`.
    #[inline(never)]
    pub fn new(model: &FluidModel<D>) -> Result<Self, FluidError> {
        model.check()?;
        let grid = model.domain.grid();
        let cells = |value: f64| Field::new(grid, Location::Cell, value);
        let walls = Walls::new(&model.domain, &[], &[], model.options.solid_boundary);
        let surfaces = model.level_sets() > 0;
        Ok(Self {
            cells: classify(&model.domain, &walls, None),
            walls: Some(walls),
            placed: Vec::new(),
            placed_guests: Vec::new(),
            guests: Vec::new(),
            sheets: Vec::new(),
            released: false,
            active_sources: Vec::new(),
            expansion: None,
            expanding: Vec::new(),
            shells: None,
            projection: Projection::default(),
            viscosity: Viscosity::default(),
            viscous_rows: None,
            flow: FaceFields::new(grid, 0.0),
            scratch: [cells(0.0), cells(0.0)],
            surface: surfaces.then(|| cells(0.0)),
            density: (model.liquids.len() > 1).then(|| FaceFields::new(grid, 0.0)),
            tension: (surfaces && model.largest_tension() > 0.0).then(|| FaceFields::new(grid, 0.0)),
            transfer: model.options.surface.apic.map(|_| surface::Transfer::new(grid)),
            inner: None,
            factor_pattern: PatternMemory::default(),
            pressure_hierarchy: AmgMemory::default(),
            seconds: Vec::new(),
        })
    }

    /// Shells and sheets between `time` and `time + dt`.
    fn shells_of(
        &self,
        model: &FluidModel<D>,
        time: f64,
        dt: f64,
    ) -> Result<Option<ShellStep<D>>, FluidError> {
        ShellStep::with_sheets(model, &self.sheets, time, dt)
    }

    /// Makes a state fit to start from: closed faces have their velocity, the flow is incompressible, levels are distances and have their particles.
    #[inline(never)]
    pub fn initialise(&mut self, model: &FluidModel<D>, state: &mut FluidState<D>) -> Result<(), FluidError> {
        if !state.fits(model) {
            return Err(FluidError::Mismatch("the state is not one of this fluid".into()));
        }
        let shells = self.shells_of(model, state.time, 0.0)?;
        let sights = Sights::new(model, state, shells.as_ref(), 0.0)?;
        self.place_solids(model, state.time, None, sights.as_ref());
        if let (Some(smoke), Some(carried)) = (&model.smoke, &mut state.smoke) {
            model.domain.fill_scalar_ghosts(&mut carried.density, 0.0);
            model.domain.fill_scalar_ghosts(&mut carried.temperature, smoke.ambient_temperature);
        }
        self.initialise_surfaces(model, state, sights.as_ref())?;
        self.classify(model, state);
        let mut projection = std::mem::take(&mut self.projection);
        let cleaned = projection.clean(&self.problem(model), &mut state.velocity, &model.options.pressure);
        self.projection = projection;
        cleaned?;
        self.continue_velocity(model, state, 0.0, sights.as_ref())
    }

    /// Takes the solids as they are now for what is measured, without a change of `state`.
    ///
    /// # Errors
    /// Shells that cannot be where they are.
    pub fn look_around(&mut self, model: &FluidModel<D>, state: &FluidState<D>) -> Result<(), FluidError> {
        let shells = self.shells_of(model, state.time, 0.0)?;
        let sights = Sights::new(model, state, shells.as_ref(), 0.0)?;
        self.place_solids(model, state.time, None, sights.as_ref());
        self.classify(model, state);
        Ok(())
    }

    /// Advances `state` by `dt` seconds. `placements` says where the obstacles are at the end of the step; `None` moves them by their own motion.
    /// On an error the state is undefined: keep a copy.
    #[inline(never)]
    pub fn step(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        placements: Option<&[Placement<D>]>,
    ) -> Result<FluidReport, FluidError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(FluidError::Value {
                what: "the step".into(),
                value: dt,
                expected: "a positive, finite number",
            });
        }
        if let Some(range) = self.window(model, state, dt) {
            return self.step_in(model, state, dt, placements, range);
        }
        self.inner = None;
        self.hold_memory(model);
        let mut report = FluidReport::default();
        let shells = self.shells_of(model, state.time, dt)?;
        let sights = Sights::new(model, state, shells.as_ref(), dt)?;
        let sights = sights.as_ref();
        let mut watch = Stopwatch::start();
        let momentum = if model.options.keep_momentum {
            self.look_around(model, state)?;
            Some(FaceMasses::of_open_faces(&self.problem(model)).momentum(&state.velocity))
        } else {
            None
        };
        self.place_solids(model, state.time + dt, placements, sights);
        watch.lap("solids");
        if model.options.scheme == TimeScheme::Reflection {
            self.reflect(model, state, dt, sights, &mut report)?;
        } else {
            self.carry_all(model, state, dt, sights, &mut watch)?;
            if let Some(momentum) = momentum {
                let masses = FaceMasses::of_open_faces(&self.problem(model));
                masses.restore(&model.domain, &self.flow, &momentum, &mut state.velocity);
            }
            self.add_forces(model, state, dt);
            watch.lap("sources and forces");
            report.viscosity = self.apply_viscosity(model, state, dt)?;
            watch.lap("viscosity");
            report.pressure = self.project(model, state, dt)?;
            watch.lap("pressure");
        }
        self.continue_velocity(model, state, dt, sights)?;
        watch.lap("continuation");
        self.seconds = watch.laps;
        state.time += dt;
        state.step += 1;
        self.check_finite(state)?;
        Ok(report)
    }

    /// The advection-reflection step (see [`TimeScheme::Reflection`]).
    fn reflect(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        sights: Option<&Sights<D>>,
        report: &mut FluidReport,
    ) -> Result<(), FluidError> {
        let half = 0.5 * dt;
        self.classify(model, state);
        copy_faces(&state.velocity, &mut self.flow);
        self.start_viscosity(model, state, dt)?;
        self.carry_velocity(model, state, half, sights);
        self.add_forces(model, state, half);
        let mut before = state.velocity.clone();
        self.walls_ref().impose(&mut before);
        self.project(model, state, half)?;
        model.domain.fill_velocity_ghosts(&mut state.velocity);
        copy_faces(&state.velocity, &mut self.flow);
        self.carry_scalars(model, state, dt, sights);
        // The push of the pressure once more.
        for axis in 0..D {
            let old = before.component(axis);
            state.velocity.component_mut(axis).update(|face, u| 2.0 * u - old.at(face));
        }
        model.domain.fill_velocity_ghosts(&mut state.velocity);
        self.carry_velocity(model, state, half, sights);
        self.apply_sources(model, state, dt)?;
        self.add_forces(model, state, half);
        report.viscosity = self.apply_viscosity(model, state, dt)?;
        report.pressure = self.project(model, state, half)?;
        Ok(())
    }

    /// Largest step (s) that keeps the transport, the forces and what is explicit stable (spec/fluid-base.md 3.4).
    #[inline(never)]
    pub fn stable_step(&mut self, model: &FluidModel<D>, state: &FluidState<D>) -> f64 {
        let h = model.domain.grid().spacing();
        let velocity = &state.velocity;
        let convection = state.pressure.reduce(
            0.0,
            |cell, _| {
                (0..D)
                    .map(|axis| {
                        let mut upper = cell;
                        upper[axis] += 1;
                        let u = velocity.component(axis);
                        u.at(cell).abs().max(u.at(upper).abs()) / h[axis]
                    })
                    .sum::<f64>()
            },
            f64::max,
        );
        let inverse_squares: f64 = h.iter().map(|h| 2.0 / (h * h)).sum();
        let explicit = model.options.viscous_step == ViscousStep::Explicit;
        let viscous = model
            .liquids
            .iter()
            .map(|liquid| if explicit { liquid.viscosity / liquid.density * inverse_squares } else { 0.0 })
            .fold(0.0, f64::max);
        // Gravity acts on smoke only by what its warmth and weight make of it.
        let pulls = if model.smoke.is_some() { 0.0 } else { 1.0 };
        let gravity: f64 = (0..D).map(|a| pulls * model.gravity[a].abs() / h[a]).sum();
        let lightest = model.liquids.iter().map(|liquid| liquid.density).fold(f64::INFINITY, f64::min);
        // Capillary waves of two cells must not outrun a step (J. U. Brackbill, D. B. Kothe, C. Zemach, J. Comput. Phys. 100, 1992).
        let tension = 4.0 * std::f64::consts::PI * model.largest_tension() / (lightest * h.min().powi(3));
        let c = convection + viscous;
        let denominator = c + (c * c + 4.0 * gravity + 4.0 * tension).sqrt();
        let stable = if denominator > 0.0 { model.options.cfl * 2.0 / denominator } else { f64::INFINITY };
        // Shells are looked for within one cell of where they were.
        let shells = model.shells.iter().map(Shell::fastest).fold(0.0, f64::max);
        if shells > 0.0 { stable.min(0.9 * h.min() / shells) } else { stable }
    }

    /// Conserved quantities of `state`.
    #[inline(never)]
    pub fn diagnostics(&mut self, model: &FluidModel<D>, state: &FluidState<D>) -> FluidDiagnostics {
        // Shells that cannot be cast against were refused when the state was made.
        if let Ok(shells) = self.shells_of(model, state.time, 0.0)
            && let Ok(sights) = Sights::new(model, state, shells.as_ref(), 0.0)
        {
            self.place_solids(model, state.time, None, sights.as_ref());
        }
        self.classify(model, state);
        FluidDiagnostics::measure(model, state, &self.problem(model))
    }

    /// The pressure problem of the last step or measurement of the whole box, for those who look closer.
    pub fn problem<'a>(&'a self, model: &'a FluidModel<D>) -> PressureProblem<'a, D> {
        PressureProblem {
            domain: &model.domain,
            walls: self.walls_ref(),
            cells: &self.cells,
            density: match &self.density {
                Some(faces) => FaceDensity::Faces(faces),
                None => FaceDensity::Uniform(model.liquids[0].density),
            },
            phi: if model.free_surface { self.surface.as_ref() } else { None },
            stair_steps: model.options.surface.stair_steps,
            known: self.tension.as_ref(),
            expansion: self.expansion.as_ref(),
        }
    }

    /// Seconds of wall-clock time that the stages of the last step took, by name.
    pub fn stage_seconds(&self) -> &[(&'static str, f64)] {
        &self.seconds
    }

    /// Solids and closed faces of the last step.
    pub fn walls(&self) -> Option<&Walls<D>> {
        self.walls.as_ref()
    }

    /// Bytes of working memory.
    pub fn bytes(&self) -> usize {
        let faces = |f: &FaceFields<D>| f.components().iter().map(|c| 8 * c.values().len()).sum::<usize>();
        let cells = |f: &Field<D>| 8 * f.values().len();
        let walls = self.walls.as_ref().map_or(0, |walls| {
            let open = walls.open_faces().components().iter().map(|c| 4 * c.values().len()).sum::<usize>();
            // Open fractions, velocities, owners (half of an open fraction), numbers of solids.
            open + open / 2 + faces(walls.velocity()) + 2 * walls.solid().values().len()
        });
        self.projection.bytes()
            + walls
            + self.cells.values().len()
            + faces(&self.flow)
            + self.scratch.iter().map(cells).sum::<usize>()
            + self.inner.as_ref().map_or(0, |window| window.bytes())
            + self.surface.as_ref().map_or(0, cells)
            + self.expansion.as_ref().map_or(0, cells)
            + self.density.as_ref().map_or(0, faces)
            + self.tension.as_ref().map_or(0, faces)
            + self.transfer.as_ref().map_or(0, |transfer| faces(&transfer.mass) + faces(&transfer.velocity))
    }

    fn walls_ref(&self) -> &Walls<D> {
        // Set by `new` and never taken away.
        self.walls.as_ref().expect("walls are there from the start")
    }

    /// Kinds of cells, and the densities and tensions that go with the surfaces as they are now.
    fn classify(&mut self, model: &FluidModel<D>, state: &FluidState<D>) {
        self.measure_surfaces(model, state);
        let Some(walls) = &self.walls else { return };
        let phi = if model.free_surface { self.surface.as_ref() } else { None };
        reclassify(&model.domain, walls, phi, &mut self.cells);
        let phis: Vec<&Field<D>> = state.liquids.iter().map(|liquid| &liquid.phi).collect();
        if let (Some(tension), Some(surface)) = (&mut self.tension, &self.surface) {
            let strength = |liquid: usize, other: Option<usize>| model.tension_between(liquid, other);
            let angle = model.options.surface.wetting.contact_angle.filter(|_| model.free_surface);
            let bent = angle.map(|angle| {
                let depth = |number: usize, x: &Vector<D>| match model.obstacles.get(number) {
                    Some(obstacle) => obstacle.signed_distance(&self.placed[number].frame, x),
                    None => {
                        let guest = &self.placed_guests[number - model.obstacles.len()];
                        guest.form.signed_distance(&guest.placement.frame.to_object(x))
                    }
                };
                let mut bent = surface.clone();
                impose_contact_angle(&model.domain, walls, angle, depth, &mut bent);
                bent
            });
            let surface = bent.as_ref().unwrap_or(surface);
            surface::tension_pressures(&model.domain, &self.cells, &phis, surface, strength, tension);
        }
    }

    /// The surface of all liquids together, and the densities that go with it.
    fn measure_surfaces(&mut self, model: &FluidModel<D>, state: &FluidState<D>) {
        let phis: Vec<&Field<D>> = state.liquids.iter().map(|liquid| &liquid.phi).collect();
        if let Some(surface) = &mut self.surface {
            surface::surface_of(&phis, surface);
        }
        if let Some(density) = &mut self.density {
            surface::face_density(&phis, &model.liquids, density);
        }
    }

    fn check_finite(&self, state: &FluidState<D>) -> Result<(), FluidError> {
        for axis in 0..D {
            if let Some(face) = state.velocity.component(axis).first_not_finite() {
                let what = format!("the velocity along axis {axis} at face {face:?}");
                return Err(FluidError::Diverged { what, value: state.velocity.component(axis).at(face) });
            }
        }
        Ok(())
    }
}

/// Times of stages.
struct Stopwatch {
    last: std::time::Instant,
    laps: Vec<(&'static str, f64)>,
}

impl Stopwatch {
    fn start() -> Self {
        Self { last: std::time::Instant::now(), laps: Vec::with_capacity(10) }
    }

    fn lap(&mut self, name: &'static str) {
        let now = std::time::Instant::now();
        self.laps.push((name, (now - self.last).as_secs_f64()));
        self.last = now;
    }
}

/// What is seen at the start and at the end of a step, and how the shells move between.
pub(crate) struct Sights<'m, const D: usize> {
    pub before: Sight<'m, D>,
    pub after: Sight<'m, D>,
    pub step: &'m ShellStep<D>,
}

impl<'m, const D: usize> Sights<'m, D>
where
    Dim<D>: Space<D>,
{
    fn new(
        model: &FluidModel<D>,
        state: &FluidState<D>,
        step: Option<&'m ShellStep<D>>,
        dt: f64,
    ) -> Result<Option<Self>, FluidError> {
        let Some(step) = step else { return Ok(None) };
        let h = model.domain.grid().min_spacing();
        if step.largest_motion() > h {
            let value = step.largest_motion() / h;
            let expected = "at most 1 (take a shorter step)";
            return Err(FluidError::Value {
                what: "the motion of a shell in a step, in cells,".into(),
                value,
                expected,
            });
        }
        // As far as a path, the widest stencil around its end and the shell itself can reach.
        let fastest = crate::diagnostics::max_speed(&state.velocity);
        let reach = (fastest * dt / h).ceil().clamp(1.0, 20.0) as usize + 4;
        let sight = |mesh: &'m _| {
            let sight = Sight::new(&model.domain, mesh, &step.velocity, reach)?;
            Ok::<_, FluidError>(sight.with_sheets_from(step.first_sheet_point))
        };
        Ok(Some(Self { before: sight(&step.before)?, after: sight(&step.after)?, step }))
    }
}

/// Copies without allocating.
pub(crate) fn copy_faces<const D: usize>(from: &FaceFields<D>, to: &mut FaceFields<D>) {
    for axis in 0..D {
        to.component_mut(axis).values_mut().copy_from_slice(from.component(axis).values());
    }
}
