//! What every cell is for the pressure: an unknown, a known value, or nothing.

use crate::domain::{Domain, Side};
use crate::pressure::LEAST_THETA;
use crate::walls::Walls;
use splashdown_geometry::grid::{Field, Index, Location, box_indices};
use splashdown_math::{Dim, Space};

/// Kind of a cell (spec/fluid-base.md 3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CellKind {
    /// Its pressure is an unknown.
    Fluid,
    /// Its pressure is given: air above a liquid, or the surroundings beyond an outlet.
    Air,
    /// Solid, or beyond a closed side.
    Solid,
}

/// Kinds of all cells, with one layer of ghosts that stand for what lies beyond the sides.
pub type Cells<const D: usize> = Field<D, CellKind>;

/// Kinds of all cells: everything that is not solid is fluid, except where `phi > 0` (up to a thousandth of a cell) if there is a surface.
pub fn classify<const D: usize>(domain: &Domain<D>, walls: &Walls<D>, phi: Option<&Field<D>>) -> Cells<D>
where
    Dim<D>: Space<D>,
{
    let mut cells = Field::with_ghost(domain.grid(), Location::Cell, 1, CellKind::Solid);
    reclassify(domain, walls, phi, &mut cells);
    cells
}

/// [`classify`] into memory that is there already.
pub fn reclassify<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    phi: Option<&Field<D>>,
    cells: &mut Cells<D>,
) where
    Dim<D>: Space<D>,
{
    // A cell whose centre is wet by less than the least distance that a pressure can act over counts as dry, so that no distance has to be
    // rounded: columns that rounding puts on either side of the limit have the same pressure below.
    let thin = LEAST_THETA * domain.grid().min_spacing();
    cells.update(|cell, _| {
        if walls.is_solid(cell) {
            CellKind::Solid
        } else if phi.is_some_and(|phi| phi.at(cell) > -thin) {
            CellKind::Air
        } else {
            CellKind::Fluid
        }
    });
    let counts = domain.grid().cells();
    for axis in 0..D {
        for side in 0..2 {
            let mut low = [0; D];
            let mut high = counts.map(|n| n as isize);
            (low[axis], high[axis]) = if side == 0 { (0, 1) } else { (high[axis] - 1, high[axis]) };
            for cell in box_indices(low, high) {
                let mut beyond: Index<D> = cell;
                beyond[axis] += if side == 0 { -1 } else { 1 };
                let kind = match domain.condition(axis, side, cell) {
                    Side::Periodic => {
                        let mut image = beyond;
                        image[axis] = image[axis].rem_euclid(counts[axis] as isize);
                        cells.at(image)
                    }
                    Side::Outlet { .. } => CellKind::Air,
                    _ => CellKind::Solid,
                };
                cells.set(beyond, kind);
            }
        }
    }
}
