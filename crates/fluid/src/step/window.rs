//! Water in a large empty box: the step is taken in the smallest box around the liquids that holds all that can change, so that the air around it costs nothing.
//!
//! Outside of that window every field has the value it always has there (no velocity, no pressure, the largest distance), and stays so: the window is
//! wider around the surface than anything reaches in a step. Its inner sides are open to the air, which is what lies beyond them. Where the window is depends on the state
//! alone, so a resumed run has the same windows.

use super::{FluidReport, FluidStepper};
use crate::domain::{Domain, Side};
use crate::error::FluidError;
use crate::model::{FluidModel, SourceKind};
use crate::pressure::Projection;
use crate::state::{FluidState, LiquidState, SmokeState};
use crate::surface::{BAND, Transfer};
use splashdown_geometry::grid::{FaceFields, Field, Grid, Index, Location, box_indices};
use splashdown_math::{Dim, Space};
use splashdown_parallel::prelude::*;

/// Cells that a window's edges are multiples of, so that it does not change in every step.
const PITCH: isize = 8;
/// Largest share of the box that a window may fill and still be worth it.
const WORTH: f64 = 0.6;

/// The part of the grid that a step is taken in, as a half-open range of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range<const D: usize> {
    low: Index<D>,
    high: Index<D>,
}

/// A fluid in a window, with what its steps need.
pub(super) struct Window<const D: usize>
where
    Dim<D>: Space<D>,
{
    range: Range<D>,
    model: FluidModel<D>,
    stepper: FluidStepper<D>,
    state: FluidState<D>,
}

impl<const D: usize> Window<D>
where
    Dim<D>: Space<D>,
{
    pub fn bytes(&self) -> usize {
        self.stepper.bytes() + self.state.field_bytes()
    }

    /// The fluid of `model` within `range`, of which nothing but the state's values are missing.
    fn new(model: &FluidModel<D>, range: Range<D>) -> Result<Self, FluidError> {
        let grid = model.domain.grid();
        let corner = splashdown_math::Vector::from_fn(|a, _| range.low[a] as f64 * grid.spacing()[a]);
        let cells = std::array::from_fn(|a| (range.high[a] - range.low[a]) as usize);
        let inner = Grid::new(grid.origin() + corner, grid.spacing(), cells)?;
        let at_side = |axis: usize, side: usize| range.at_side(grid, axis, side);
        let sides = std::array::from_fn(|axis| {
            [0, 1]
                .map(|side| if at_side(axis, side) { model.domain.sides()[axis][side] } else { Side::open() })
        });
        let patches = model.domain.patches().iter();
        let patches =
            patches.filter(|patch| at_side(patch.axis, usize::from(patch.upper))).copied().collect();
        let domain = Domain::with_patches(inner, sides, patches)?;
        let model = FluidModel { domain, ..model.clone() };
        let stepper = FluidStepper::new(&model)?;
        let state = FluidState::at_rest(&model);
        Ok(Self { range, model, stepper, state })
    }
}

impl<const D: usize> Range<D> {
    /// Is this side of the range one of the grid?
    fn at_side(&self, grid: &Grid<D>, axis: usize, side: usize) -> bool {
        if side == 0 { self.low[axis] == 0 } else { self.high[axis] == grid.cells()[axis] as isize }
    }

    fn include(&mut self, low: Index<D>, high: Index<D>) {
        for a in 0..D {
            self.low[a] = self.low[a].min(low[a]);
            self.high[a] = self.high[a].max(high[a]);
        }
    }
}

impl<const D: usize> FluidStepper<D>
where
    Dim<D>: Space<D>,
{
    /// Where a step of `dt` seconds changes anything; `None` if that is most of the box, or if the whole box is asked for.
    pub(super) fn window(&self, model: &FluidModel<D>, state: &FluidState<D>, dt: f64) -> Option<Range<D>> {
        let plain =
            model.free_surface && model.shells.is_empty() && self.guests.is_empty() && self.sheets.is_empty();
        if !(plain && model.options.surface.window) {
            return None;
        }
        let grid = model.domain.grid();
        let (counts, h) = (grid.cells(), grid.spacing());
        // Beyond the band distances are all the same, up to a correction of the volume.
        let far = (BAND - 0.5) * h.max();
        let mut range = Range { low: counts.map(|n| n as isize), high: [0; D] };
        for liquid in &state.liquids {
            let found = wet_range(&liquid.phi, far)?;
            range.include(found.low, found.high);
            for drop in &liquid.markers.removed.drops {
                let cell = grid.cell_of(&drop.position);
                range.include(cell, cell.map(|i| i + 1));
            }
        }
        for source in model.sources.iter().filter(|source| source.kind != SourceKind::Sink) {
            if let Some([low, high]) = crate::walls::cell_range(grid, &source.region.bounds()) {
                range.include(low, high);
            }
        }
        // Further away than the velocity is ever continued it is zero.
        let reach = 2 * PITCH;
        let fastest =
            largest_in(&state.velocity, range.low.map(|i| i - reach), range.high.map(|i| i + reach));
        let travel = (fastest * dt / h.min()).ceil();
        if !(travel < 100.0) {
            return None;
        }
        // As far as the surface and the velocity continued from it can come, drops included, and the stencils beyond.
        let fall = (model.gravity.norm() * dt * dt / h.min()).ceil();
        let margin = (travel + fall) as isize + PITCH;
        let mut share = 1.0;
        for a in 0..D {
            let count = counts[a] as isize;
            if model.domain.periodic()[a] {
                (range.low[a], range.high[a]) = (0, count);
                continue;
            }
            range.low[a] = ((range.low[a] - margin).max(0) / PITCH) * PITCH;
            range.high[a] = (((range.high[a] + margin + PITCH - 1) / PITCH) * PITCH).min(count);
            if range.low[a] >= range.high[a] {
                return None;
            }
            share *= (range.high[a] - range.low[a]) as f64 / count as f64;
        }
        (share <= WORTH).then_some(range)
    }

    /// Gives back what only steps in the whole box need; [`Self::hold_memory`] takes it again.
    fn release_memory(&mut self) {
        let Ok(small) =
            Grid::new(splashdown_math::Vector::zeros(), splashdown_math::Vector::repeat(1.0), [1; D])
        else {
            return;
        };
        if *self.flow.grid() != small {
            self.projection = Projection::default();
            self.flow = FaceFields::new(&small, 0.0);
            self.scratch = [0, 1].map(|_| Field::new(&small, Location::Cell, 0.0));
            self.transfer = None;
        }
    }

    /// Makes sure that there is memory for a step in the whole box.
    pub(super) fn hold_memory(&mut self, model: &FluidModel<D>) {
        let grid = model.domain.grid();
        if self.flow.grid() != grid {
            self.inner = None;
            self.flow = FaceFields::new(grid, 0.0);
            self.scratch = [0, 1].map(|_| Field::new(grid, Location::Cell, 0.0));
            self.transfer = model.options.surface.apic.map(|_| Transfer::new(grid));
        }
    }

    /// [`Self::step`] in a window.
    pub(super) fn step_in(
        &mut self,
        model: &FluidModel<D>,
        state: &mut FluidState<D>,
        dt: f64,
        placements: Option<&[crate::obstacle::Placement<D>]>,
        range: Range<D>,
    ) -> Result<FluidReport, FluidError> {
        self.release_memory();
        let kept = self.inner.take().filter(|window| window.range == range);
        let mut window = match kept {
            Some(window) => window,
            None => Box::new(Window::new(model, range)?),
        };
        exchange(&range, model.domain.grid(), state, &mut window.state, true);
        let report = window.stepper.step(&window.model, &mut window.state, dt, placements)?;
        exchange(&range, model.domain.grid(), state, &mut window.state, false);
        self.seconds = window.stepper.seconds.clone();
        self.inner = Some(window);
        Ok(report)
    }
}

/// Cells where `phi` is below `far`, in the smallest box; a box without any is empty, `None` if there is none.
fn wet_range<const D: usize>(phi: &Field<D>, far: f64) -> Option<Range<D>> {
    let lattice = *phi.lattice();
    let counts = lattice.counts().map(|n| n as isize);
    let slabs: Vec<Option<Range<D>>> = (0..lattice.slabs())
        .into_par_iter()
        .map(|slab| {
            let mut range: Option<Range<D>> = None;
            lattice.rows_of_slab(slab as isize, |first| {
                let start = lattice.offset(first);
                let row = &phi.values()[start..start + lattice.counts()[0]];
                let Some(low) = row.iter().position(|&value| value < far) else { return };
                let high = row.iter().rposition(|&value| value < far).unwrap_or(low);
                let (mut from, mut to) = (first, first.map(|i| i + 1));
                (from[0], to[0]) = (low as isize, high as isize + 1);
                range.get_or_insert(Range { low: from, high: to }).include(from, to);
            });
            range
        })
        .collect();
    let mut all = Range { low: counts, high: [0; D] };
    for range in slabs.into_iter().flatten() {
        all.include(range.low, range.high);
    }
    (all.low[0] < all.high[0]).then_some(all)
}

/// Largest component of a velocity (m/s) in a range of cells; infinite if one is not a number.
fn largest_in<const D: usize>(velocity: &FaceFields<D>, low: Index<D>, high: Index<D>) -> f64 {
    let mut largest: f64 = 0.0;
    for component in velocity.components() {
        let lattice = *component.lattice();
        let within = |index: isize, a: usize| index.clamp(0, lattice.counts()[a] as isize);
        let (low, high): (Index<D>, Index<D>) =
            (std::array::from_fn(|a| within(low[a], a)), std::array::from_fn(|a| within(high[a] + 1, a)));
        let mut rows = high;
        rows[0] = low[0] + 1;
        for first in box_indices(low, rows) {
            let start = lattice.offset(first);
            for &u in &component.values()[start..start + (high[0] - low[0]) as usize] {
                // Not `max`, which passes over what is not a number.
                if !(u.abs() <= largest) {
                    largest = if u.is_nan() { f64::INFINITY } else { u.abs() };
                }
            }
        }
    }
    largest
}

/// Brings the state of the whole box to the window, or the other way around. Particles change hands, fields are copied.
fn exchange<const D: usize>(
    range: &Range<D>,
    grid: &Grid<D>,
    whole: &mut FluidState<D>,
    part: &mut FluidState<D>,
    inwards: bool,
) where
    Dim<D>: Space<D>,
{
    let copy = |whole: &mut Field<D>, part: &mut Field<D>| copy(range, grid, whole, part, inwards);
    if inwards {
        (part.time, part.step) = (whole.time, whole.step);
    } else {
        (whole.time, whole.step) = (part.time, part.step);
    }
    let faces = |whole: &mut FaceFields<D>, part: &mut FaceFields<D>| {
        for axis in 0..D {
            copy(whole.component_mut(axis), part.component_mut(axis));
        }
    };
    faces(&mut whole.velocity, &mut part.velocity);
    copy(&mut whole.pressure, &mut part.pressure);
    if let (Some(SmokeState { density, temperature }), Some(inner)) = (&mut whole.smoke, &mut part.smoke) {
        copy(density, &mut inner.density);
        copy(temperature, &mut inner.temperature);
    }
    for (LiquidState { phi, markers, apic, volume }, inner) in whole.liquids.iter_mut().zip(&mut part.liquids)
    {
        copy(phi, &mut inner.phi);
        std::mem::swap(markers, &mut inner.markers);
        std::mem::swap(apic, &mut inner.apic);
        if inwards {
            inner.volume = *volume;
        } else {
            *volume = inner.volume;
        }
    }
}

/// Copies one field. Inwards all samples of the window and its ghosts; outwards the samples proper, with ghosts where the window ends at a side of the box.
fn copy<const D: usize>(
    range: &Range<D>,
    grid: &Grid<D>,
    whole: &mut Field<D>,
    part: &mut Field<D>,
    inwards: bool,
) {
    let (outer, inner) = (*whole.lattice(), *part.lattice());
    let ghost = inner.ghost() as isize;
    let (mut low, mut high) = ([0; D], inner.counts().map(|n| n as isize));
    for axis in 0..D {
        if inwards || range.at_side(grid, axis, 0) {
            low[axis] = -ghost;
        }
        if inwards || range.at_side(grid, axis, 1) {
            high[axis] += ghost;
        }
    }
    let length = (high[0] - low[0]) as usize;
    let mut rows = high;
    rows[0] = low[0] + 1;
    for first in box_indices(low, rows) {
        let (from, to) = (std::array::from_fn(|a| first[a] + range.low[a]), first);
        let (from, to) = (outer.offset(from), inner.offset(to));
        let (outside, inside) = (from..from + length, to..to + length);
        if inwards {
            part.values_mut()[inside].copy_from_slice(&whole.values()[outside]);
        } else {
            whole.values_mut()[outside].copy_from_slice(&part.values()[inside]);
        }
    }
}
