//! Distances and continued values across periodic sides: a field is continued by some cells beyond each of them, worked on as if the box were that much longer, and cut
//! back.

use super::BAND;
use crate::domain::Domain;
use crate::error::FluidError;
use splashdown_geometry::grid::{Field, Grid, Index};
use splashdown_math::Vector;

/// Cells beyond the band, for the stencils.
const MARGIN: usize = 3;

/// The box with its continuation around the periodic axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Continued<const D: usize> {
    grid: Grid<D>,
    /// Cells added below and above.
    pads: [isize; D],
    counts: [isize; D],
}

impl<const D: usize> Continued<D> {
    /// `None` if no axis is periodic.
    pub fn new(domain: &Domain<D>) -> Result<Option<Self>, FluidError> {
        let (grid, periodic) = (domain.grid(), domain.periodic());
        if !periodic.contains(&true) {
            return Ok(None);
        }
        let counts = grid.cells();
        // Cells of unequal edges: the band is so many of the longest.
        let reach = |a: usize| (BAND * grid.spacing().max() / grid.spacing()[a]).ceil() as usize + MARGIN;
        let pads: [usize; D] = std::array::from_fn(|a| if periodic[a] { reach(a).min(counts[a]) } else { 0 });
        let corner = Vector::from_fn(|a, _| pads[a] as f64 * grid.spacing()[a]);
        let cells = std::array::from_fn(|a| counts[a] + 2 * pads[a]);
        let wide = Grid::new(grid.origin() - corner, grid.spacing(), cells)?;
        Ok(Some(Self { grid: wide, pads: pads.map(|n| n as isize), counts: counts.map(|n| n as isize) }))
    }

    /// Index in the box of a sample of the continued one: itself, or the one that it is an image of.
    #[inline]
    pub fn original(&self, index: Index<D>) -> Index<D> {
        std::array::from_fn(|a| {
            let own = index[a] - self.pads[a];
            if self.pads[a] == 0 { own } else { own.rem_euclid(self.counts[a]) }
        })
    }

    /// The field with its continuation.
    pub fn widen<T: Copy + Send + Sync>(&self, field: &Field<D, T>) -> Field<D, T> {
        let lattice = field.lattice();
        let filler = field.values()[0];
        let mut wide = Field::with_ghost(&self.grid, lattice.location(), lattice.ghost(), filler);
        wide.update(|index, _| field.at(self.original(index)));
        wide
    }

    /// Takes the samples of the box back from the continued field.
    pub fn narrow<T: Copy + Send + Sync>(&self, wide: &Field<D, T>, field: &mut Field<D, T>) {
        field.update(|index, _| wide.at(std::array::from_fn(|a| index[a] + self.pads[a])));
    }
}
