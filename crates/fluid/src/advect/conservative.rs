//! First-order upwinding in conservative form.

use crate::domain::Domain;
use splashdown_geometry::grid::{FaceFields, Field};

/// Carries a quantity at cells by the fluxes through the faces, each with the value upwind: what leaves a cell enters its neighbour, to rounding.
/// Needs `dt sum |u| / h <= 1`; where a cell would lose more than it holds its outflow is scaled back (spec/fluid-base.md 3.5). Ghosts of both
/// fields must have been filled. `out` receives the result.
pub fn advect_conservative<const D: usize>(
    domain: &Domain<D>,
    velocity: &FaceFields<D>,
    field: &Field<D>,
    out: &mut Field<D>,
    dt: f64,
) {
    let (h, periodic, cells) = (domain.grid().spacing(), domain.periodic(), domain.grid().cells());
    // Share of what a cell holds that may leave it: 1 unless the step is too long.
    let keep = |cell: [isize; D]| {
        let mut outflow = 0.0;
        for axis in 0..D {
            let mut upper = cell;
            upper[axis] += 1;
            let u = velocity.component(axis);
            outflow += (u.at(upper).max(0.0) + (-u.at(cell)).max(0.0)) * dt / h[axis];
        }
        if outflow > 1.0 { 1.0 / outflow } else { 1.0 }
    };
    let flux = |axis: usize, face: [isize; D]| {
        let mut below = face;
        below[axis] -= 1;
        let u = velocity.component(axis).at(face);
        let from = if u >= 0.0 { below } else { face };
        // The image of a periodic ghost limits its own outflow, what lies beyond other sides has no end.
        let owner: [isize; D] =
            std::array::from_fn(
                |a| if periodic[a] { from[a].rem_euclid(cells[a] as isize) } else { from[a] },
            );
        u * field.at(from) * if domain.grid().has_cell(owner) { keep(owner) } else { 1.0 }
    };
    out.update(|cell, _| {
        let mut change = 0.0;
        for axis in 0..D {
            let mut upper = cell;
            upper[axis] += 1;
            change += (flux(axis, cell) - flux(axis, upper)) / h[axis];
        }
        field.at(cell) + dt * change
    });
}
