//! Filling a closed surface mesh.

use super::{Cells, FillError, FillOptions, Filled, Lattice, fill};
use crate::mesh::{Corners, Element, SurfaceMesh};
use crate::query::{MeshTree, WindingTree};
use splashdown_math::Vector;

/// A mesh whose volume differs from the surface's by more than this fraction does not resemble it.
const WRONG_VOLUME: f64 = 0.5;

/// Fills a closed surface with tetrahedra (`fill_surface::<3, 4>`), or a closed curve with triangles (`fill_surface::<2, 3>`), with lattice edges of `cell`
/// metres and the smoothing of [`FillOptions::new`]. The surface itself is sampled, not kept: points of the result lie on it, but its edges are cut off within a cell.
pub fn fill_surface<const D: usize, const N: usize>(
    surface: &SurfaceMesh<D>,
    cell: f64,
) -> Result<Filled<D, N>, FillError>
where
    Cells<D, N>: Lattice<D, N>,
    Corners<N>: Element<N>,
    Corners<D>: Element<D>,
{
    surface.check_closed()?;
    if !(cell > 0.0 && cell.is_finite()) {
        return Err(FillError::BadCell { cell });
    }
    let enclosed = surface.enclosed_volume()?;
    let tree = MeshTree::new(surface)?;
    let winding = WindingTree::new(surface)?;
    // Only the sign and the zeros matter, so distances beyond a few cells need not be found.
    let reach = 2.0 * cell;
    let signed_distance = |x: &Vector<D>| {
        let distance =
            tree.closest_point_within(x, reach).map_or(reach, |closest| (x - closest.point).norm());
        if winding.contains(x) { -distance } else { distance }
    };
    let bounds = surface.bounds();
    let filled = fill::<D, N, _>(signed_distance, &FillOptions::new(cell, bounds.min, bounds.max))?;
    if filled.volume_error(enclosed) > WRONG_VOLUME {
        let volume = filled.quality.volume;
        return Err(FillError::WrongVolume { cell, volume, enclosed, suggestion: 0.5 * cell });
    }
    Ok(filled)
}
