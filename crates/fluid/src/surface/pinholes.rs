//! Bubbles of a few cells under water: without the air's own dynamics they are holes at zero pressure that draw water in and swallow it, so they are filled.

use super::Markers;
use crate::domain::{Domain, Side};
use crate::walls::Walls;
use splashdown_geometry::grid::{Field, Index};
use splashdown_math::{Dim, Space};

/// Most cells of a bubble that is filled.
const MOST_CELLS: usize = 8;
/// `phi` of a filled cell, in cell widths.
const FILLED: f64 = -0.1;

/// Fills every bubble of at most `MOST_CELLS` cells with nothing but liquid and solids around it; takes the particles of the air out of it. Returns how many cells there were.
pub fn fill_pinholes<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    phi: &mut Field<D>,
    markers: &mut Markers<D>,
) -> usize
where
    Dim<D>: Space<D>,
{
    let grid = *domain.grid();
    let (counts, h) = (grid.cells(), grid.min_spacing());
    let is_air = |phi: &Field<D>, cell: Index<D>| phi.at(cell) > 0.0 && !walls.is_solid(cell);
    let mut filled: Vec<Index<D>> = Vec::new();
    let mut bubble: Vec<Index<D>> = Vec::with_capacity(MOST_CELLS + 1);
    for start in phi.lattice().indices() {
        // A small bubble has no point far from its surface.
        if !(phi.at(start) < MOST_CELLS as f64 * h && is_air(phi, start)) {
            continue;
        }
        bubble.clear();
        bubble.push(start);
        let (mut next, mut open) = (0, false);
        while next < bubble.len() && !open {
            let cell = bubble[next];
            next += 1;
            for axis in 0..D {
                for side in 0..2 {
                    let mut neighbour = cell;
                    neighbour[axis] += if side == 0 { -1 } else { 1 };
                    if neighbour[axis] < 0 || neighbour[axis] >= counts[axis] as isize {
                        match domain.condition(axis, side, cell) {
                            Side::Periodic => {
                                neighbour[axis] = neighbour[axis].rem_euclid(counts[axis] as isize);
                            }
                            Side::Outlet { .. } => {
                                open = true;
                                continue;
                            }
                            _ => continue,
                        }
                    }
                    if is_air(phi, neighbour) && !bubble.contains(&neighbour) {
                        bubble.push(neighbour);
                    }
                }
            }
            open |= bubble.len() > MOST_CELLS;
        }
        if !open {
            bubble.iter().for_each(|&cell| phi.set(cell, FILLED * h));
            filled.extend_from_slice(&bubble);
        }
    }
    if !filled.is_empty() {
        filled.sort_unstable();
        domain.fill_level_set_ghosts(phi);
        markers.clear(false, |x| filled.binary_search(&grid.cell_of(x)).is_ok());
    }
    filled.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls::SolidBoundary;
    use splashdown_geometry::grid::{Grid, Location};
    use splashdown_math::Vector;

    #[test]
    fn a_bubble_of_a_few_cells_is_filled_and_open_air_is_not() {
        let grid = Grid::new(Vector::zeros(), Vector::repeat(0.1), [12, 12]).unwrap();
        let domain = Domain::new(grid, [[Side::slip(); 2], [Side::slip(), Side::open()]]).unwrap();
        let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
        let bubble = |x: &Vector<2>| 0.13 - (x - Vector::from([0.6, 0.4])).norm();
        let distance = |x: &Vector<2>| (x[1] - 0.95f64).max(bubble(x));
        let mut phi = Field::from_fn(&grid, Location::Cell, distance);
        domain.fill_level_set_ghosts(&mut phi);
        let air = |phi: &Field<2>| phi.reduce(0usize, |_, value| usize::from(value > 0.0), |a, b| a + b);
        let (before, open) = (air(&phi), 12 * 3);
        assert!(before > open);
        let filled = fill_pinholes(&domain, &walls, &mut phi, &mut Markers::default());
        assert_eq!((filled, air(&phi)), (before - open, open));
    }
}
