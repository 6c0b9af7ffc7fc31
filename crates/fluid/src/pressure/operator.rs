//! The discrete pressure problem: masses of faces, conductances, divergence and gradient (spec/fluid-base.md 3.8).

use crate::cells::{CellKind, Cells};
use crate::domain::{Domain, Side};
use crate::walls::Walls;
use splashdown_geometry::grid::{FaceFields, Field, Index};
use splashdown_math::{Dim, Space};
use splashdown_parallel::prelude::*;

/// Smallest distance from a cell centre to the surface, in cell widths, that a face mass takes into account.
pub const LEAST_THETA: f64 = 1e-3;

/// Largest such distance.
const MOST_THETA: f64 = 1.1;

/// Density of the fluid at the faces (kg/m^3; kg/m^2 in 2D).
#[derive(Debug, Clone, Copy)]
pub enum FaceDensity<'a, const D: usize> {
    /// The same everywhere.
    Uniform(f64),
    /// One value a face.
    Faces(&'a FaceFields<D>),
}

/// Everything that defines the pressure problem of one instant.
#[derive(Clone, Copy)]
pub struct PressureProblem<'a, const D: usize> {
    /// Grid and sides.
    pub domain: &'a Domain<D>,
    /// Solids and closed faces.
    pub walls: &'a Walls<D>,
    /// Kinds of cells.
    pub cells: &'a Cells<D>,
    /// Density at faces.
    pub density: FaceDensity<'a, D>,
    /// The liquid's surface; without it, or with `stair_steps`, the pressure of air holds at the centres of air cells.
    pub phi: Option<&'a Field<D>>,
    /// First-order surface.
    pub stair_steps: bool,
    /// Known pressures (Pa): on a face between fluid and air that of the air at the surface; on a face between two fluid cells the jump from
    /// the lower to the upper cell.
    pub known: Option<&'a FaceFields<D>>,
    /// Divergence (1/s) that the fluid shall have in each cell, where sources make it; `None` for none anywhere.
    pub expansion: Option<&'a Field<D>>,
}

impl<const D: usize> PressureProblem<'_, D>
where
    Dim<D>: Space<D>,
{
    /// The cell below a face.
    #[inline(always)]
    fn below(axis: usize, face: Index<D>) -> Index<D> {
        let mut below = face;
        below[axis] -= 1;
        below
    }

    /// Kinds of the cells below and above a face.
    #[inline(always)]
    pub fn kinds(&self, axis: usize, face: Index<D>) -> [CellKind; 2] {
        [self.cells.at(Self::below(axis, face)), self.cells.at(face)]
    }

    /// Does the pressure act on this face: open, and fluid on one side at least?
    #[inline(always)]
    pub fn is_unknown(&self, axis: usize, face: Index<D>) -> bool {
        let kinds = self.kinds(axis, face);
        !self.walls.is_closed(axis, face)
            && is_active(kinds)
            && (kinds == [CellKind::Fluid; 2] || !self.is_wet_across(axis, face))
    }

    /// Is the air cell at this face wet at its centre too (by less than the least distance, see `classify`), with no surface between? Then the air's
    /// pressure does not act here.
    #[inline]
    fn is_wet_across(&self, axis: usize, face: Index<D>) -> bool {
        let Some(phi) = self.phi.filter(|_| !self.stair_steps) else { return false };
        let below = Self::below(axis, face);
        let cells = self.domain.grid().cells()[axis] as isize;
        let inside = face[axis] > 0 && face[axis] < cells || self.domain.periodic()[axis];
        if !inside {
            return false;
        }
        let (mut wet, mut dry) = (phi.at(below), phi.at(face));
        if self.cells.at(face) == CellKind::Fluid {
            std::mem::swap(&mut wet, &mut dry);
        }
        dry < 0.0 && wet > dry * (MOST_THETA / (MOST_THETA - 1.0))
    }

    /// Distance from the fluid cell's centre to the surface in cell widths, for a face between fluid and air; else 1.
    #[inline]
    pub fn theta(&self, axis: usize, face: Index<D>) -> f64 {
        let Some(phi) = self.phi.filter(|_| !self.stair_steps) else { return 1.0 };
        let below = Self::below(axis, face);
        let kinds = self.kinds(axis, face);
        let cells = self.domain.grid().cells()[axis] as isize;
        // Beyond an outlet there is no surface.
        let inside = face[axis] > 0 && face[axis] < cells || self.domain.periodic()[axis];
        if !inside || !kinds.contains(&CellKind::Air) || !kinds.contains(&CellKind::Fluid) {
            return 1.0;
        }
        let (mut wet, mut dry) = (phi.at(below), phi.at(face));
        if kinds[1] == CellKind::Fluid {
            std::mem::swap(&mut wet, &mut dry);
        }
        // More than 1 where the air cell's centre is just wet (see `classify`).
        if wet == dry { 1.0 } else { (wet / (wet - dry)).clamp(LEAST_THETA, MOST_THETA) }
    }

    /// Density at a face (kg/m^3).
    #[inline(always)]
    pub fn density(&self, axis: usize, face: Index<D>) -> f64 {
        match self.density {
            FaceDensity::Uniform(density) => density,
            FaceDensity::Faces(faces) => faces.component(axis).at(face),
        }
    }

    /// Mass (kg) of the fluid that moves with a face: `open theta rho V`.
    pub fn face_mass(&self, axis: usize, face: Index<D>) -> f64 {
        let volume = self.domain.grid().cell_volume();
        self.walls.open(axis, face) * self.theta(axis, face) * self.density(axis, face) * volume
    }

    /// Flux (m^3/s) through the face for one unit of `dt p` difference: `open A / (rho theta h)`; 0 where the pressure does not act.
    #[inline]
    pub fn conductance(&self, axis: usize, face: Index<D>) -> f64 {
        if !self.is_unknown(axis, face) {
            return 0.0;
        }
        let grid = self.domain.grid();
        let distance = self.theta(axis, face) * grid.spacing()[axis];
        self.walls.open(axis, face) * grid.face_area(axis) / (self.density(axis, face) * distance)
    }

    /// Change of velocity (m/s) at a face for one unit of `dt p` difference: `1 / (rho theta h)`.
    #[inline(always)]
    fn mobility(&self, axis: usize, face: Index<D>) -> f64 {
        1.0 / (self.density(axis, face) * self.theta(axis, face) * self.domain.grid().spacing()[axis])
    }

    /// Outward flux (m^3/s) of all faces of a fluid cell, less what sources make in it.
    #[inline]
    pub fn divergence(&self, velocity: &FaceFields<D>, cell: Index<D>) -> f64 {
        let grid = self.domain.grid();
        let mut sum = 0.0;
        for axis in 0..D {
            let mut upper = cell;
            upper[axis] += 1;
            sum +=
                grid.face_area(axis) * (self.flow(velocity, axis, upper) - self.flow(velocity, axis, cell));
        }
        match self.expansion {
            Some(expansion) => sum - grid.cell_volume() * expansion.at(cell),
            None => sum,
        }
    }

    /// Mean velocity through the whole face: of the fluid where it is open, of what closes it elsewhere.
    #[inline(always)]
    fn flow(&self, velocity: &FaceFields<D>, axis: usize, face: Index<D>) -> f64 {
        let u = velocity.component(axis).at(face);
        let open = self.walls.open(axis, face);
        if open == 1.0 || open == 0.0 {
            return u;
        }
        open * u + (1.0 - open) * self.walls.velocity().component(axis).at(face)
    }

    /// Lets the known pressures (air, outlets, jumps) act for `dt` seconds.
    pub fn apply_known(&self, velocity: &mut FaceFields<D>, dt: f64) {
        let outlets = self.domain.has_outlet();
        if self.known.is_none() && !outlets {
            return;
        }
        for axis in 0..D {
            velocity.component_mut(axis).update(|face, u| {
                let mut rise = 0.0;
                if let Some(known) = self.known {
                    let pressure = known.component(axis).at(face);
                    if pressure != 0.0 && self.is_unknown(axis, face) {
                        rise = match self.kinds(axis, face) {
                            [CellKind::Air, _] => -pressure,
                            [_, CellKind::Air] => pressure,
                            // p_up - p_low - jump is the part that is continuous.
                            _ => -pressure,
                        };
                    }
                }
                let cells = self.domain.grid().cells()[axis] as isize;
                if outlets && (face[axis] == 0 || face[axis] == cells) && self.is_unknown(axis, face) {
                    let side = usize::from(face[axis] != 0);
                    if let Side::Outlet { pressure } = self.domain.condition(axis, side, face) {
                        rise += if side == 0 { -pressure } else { *pressure };
                    }
                }
                if rise == 0.0 { u } else { u - dt * rise * self.mobility(axis, face) }
            });
        }
    }

    /// `u -= grad (dt p) / rho` with `impulse` = `dt p` in fluid cells (dense over the grid, axis 0 fastest) and 0 in air.
    pub fn apply_gradient(&self, impulse: &[f64], velocity: &mut FaceFields<D>) {
        let counts = self.domain.grid().cells();
        let at = |cell: Index<D>| match self.cells.at(cell) {
            CellKind::Fluid => impulse[dense(counts, cell)],
            _ => 0.0,
        };
        for axis in 0..D {
            velocity.component_mut(axis).update(|face, u| {
                if !self.is_unknown(axis, face) {
                    return u;
                }
                u - self.mobility(axis, face) * (at(face) - at(Self::below(axis, face)))
            });
        }
    }

    /// Largest `|div u|` (1/s), less what sources make, over the fluid cells that pressure can act on.
    pub fn largest_divergence(&self, velocity: &FaceFields<D>) -> f64 {
        let volume = self.domain.grid().cell_volume();
        self.cells.reduce(
            0.0,
            |cell, kind| {
                if kind != CellKind::Fluid || self.is_shut(cell) {
                    return 0.0;
                }
                let value = self.divergence(velocity, cell).abs() / volume;
                if value.is_nan() { f64::INFINITY } else { value }
            },
            f64::max,
        )
    }

    /// Does a pressure of the cell act on anything: fluid, with a face that is not closed? One without would only lock solids together (spec/fluid-structure.md 3.10).
    #[inline]
    pub fn has_pressure(&self, cell: Index<D>) -> bool {
        self.cells.at(cell) == CellKind::Fluid && !self.is_shut(cell)
    }

    /// Does no face of the cell let the pressure act?
    #[inline]
    fn is_shut(&self, cell: Index<D>) -> bool {
        (0..D).all(|axis| {
            let mut upper = cell;
            upper[axis] += 1;
            self.walls.is_closed(axis, cell) && self.walls.is_closed(axis, upper)
        })
    }
}

/// Fluid on one side at least, and nothing solid on the other?
#[inline(always)]
fn is_active(kinds: [CellKind; 2]) -> bool {
    matches!(
        kinds,
        [CellKind::Fluid, CellKind::Fluid]
            | [CellKind::Fluid, CellKind::Air]
            | [CellKind::Air, CellKind::Fluid]
    )
}

/// Place of a cell in an array over the grid without ghosts, axis 0 fastest; periodic images of cells one outside are wrapped.
#[inline(always)]
pub(crate) fn dense<const D: usize>(counts: [usize; D], cell: Index<D>) -> usize {
    let (mut place, mut stride) = (0, 1);
    for a in 0..D {
        let mut index = cell[a];
        if index < 0 {
            index += counts[a] as isize;
        } else if index as usize >= counts[a] {
            index -= counts[a] as isize;
        }
        place += index as usize * stride;
        stride *= counts[a];
    }
    place
}

/// Inverse of [`dense`].
#[inline(always)]
pub(crate) fn sparse<const D: usize>(counts: [usize; D], mut place: usize) -> Index<D> {
    std::array::from_fn(|a| {
        let index = place % counts[a];
        place /= counts[a];
        index as isize
    })
}

/// Fills an array over the grid in parallel, `value(cell)` for each cell; fixed chunks of one row.
pub(crate) fn fill_dense<const D: usize, T: Send>(
    counts: [usize; D],
    out: &mut [T],
    value: impl Fn(Index<D>) -> T + Sync,
) {
    let row = counts[0];
    out.par_chunks_mut(row).enumerate().with_min_len((4096 / row).max(1)).for_each(|(number, chunk)| {
        let mut cell = sparse(counts, number * row);
        for slot in chunk {
            *slot = value(cell);
            cell[0] += 1;
        }
    });
}
