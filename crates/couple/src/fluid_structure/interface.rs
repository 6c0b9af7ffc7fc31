//! Coupling faces: where the fluid has the velocity of a solid, and how much fluid that is.

use super::FaceMass;
use splashdown_fluid::pressure::PressureProblem;
use splashdown_fluid::{CellKind, Guest};
use splashdown_geometry::grid::{Index, box_indices};
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_parallel::prelude::*;

/// Least part of its dual cell that a coupling face carries.
pub(super) const LEAST_FRACTION: f64 = 1e-3;
/// Samples along each axis of a dual cell from which the part outside a solid is found; a power of two.
const SAMPLES: usize = 4;

/// A face that a guest closes, wholly or in part, with fluid on one side at least.
#[derive(Debug, Clone, PartialEq)]
pub struct CouplingFace<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Axis that it is normal to.
    pub axis: usize,
    /// Its index.
    pub face: Index<D>,
    /// Who closes it.
    pub guest: usize,
    /// Part of it that is closed, 0 to 1.
    pub closed: f64,
    /// Mass (kg) of the fluid that moves with it.
    pub mass: f64,
    /// `J`: its velocity for one unit of each component of the guest's twist.
    pub row: Twist<D>,
}

/// `J` of a face: the part along `axis` of the velocity at `arm` (m) from the centre of mass.
pub(super) fn row_of<const D: usize>(axis: usize, arm: &Vector<D>) -> Twist<D>
where
    Dim<D>: Space<D>,
{
    let mut direction = Vector::zeros();
    direction[axis] = 1.0;
    Twist::of_force(&direction, arm)
}

/// The coupling faces of all guests, axis by axis in the order of the grid; both images of a face on a periodic side once. `first_guest` is the number of obstacles.
#[inline(never)]
pub fn coupling_faces<const D: usize>(
    problem: &PressureProblem<D>,
    guests: &[Guest<D>],
    first_guest: usize,
    mass: FaceMass,
) -> Vec<CouplingFace<D>>
where
    Dim<D>: Space<D>,
{
    if guests.is_empty() {
        return Vec::new();
    }
    let grid = problem.domain.grid();
    let (counts, periodic) = (grid.cells(), problem.domain.periodic());
    let coupled = |axis: usize, face: Index<D>| {
        let guest = problem.walls.owner(axis, face)?.checked_sub(first_guest)?;
        let repeated = periodic[axis] && face[axis] == counts[axis] as isize;
        if repeated || !problem.kinds(axis, face).contains(&CellKind::Fluid) {
            return None;
        }
        let at = problem.walls.open_faces().component(axis).lattice().position(face);
        let placement = &guests[guest].placement;
        let row = row_of(axis, &problem.domain.arm(&placement.frame.position, &at));
        let closed = 1.0 - problem.walls.open(axis, face);
        // A face that is partly open carries its fluid itself.
        let part = match mass {
            _ if closed < 1.0 => 0.0,
            FaceMass::Full => 1.0,
            FaceMass::Fraction => outside(problem, &guests[guest], &at).clamp(LEAST_FRACTION, 1.0),
        };
        let mass = part * problem.density(axis, face) * grid.cell_volume();
        Some(CouplingFace { axis, face, guest, closed, mass, row })
    };
    // Plane by plane of the axis that varies slowest, so that the order is that of the grid.
    let mut planes: Vec<(usize, isize, Vec<CouplingFace<D>>)> = Vec::new();
    for axis in 0..D {
        let last = counts[D - 1] as isize + isize::from(axis == D - 1);
        planes.extend((0..last).map(|plane| (axis, plane, Vec::new())));
    }
    planes.par_iter_mut().for_each(|(axis, plane, found)| {
        let mut low = [0; D];
        let mut high: Index<D> = std::array::from_fn(|a| counts[a] as isize + isize::from(a == *axis));
        (low[D - 1], high[D - 1]) = (*plane, *plane + 1);
        found.extend(box_indices(low, high).filter_map(|face| coupled(*axis, face)));
    });
    planes.into_iter().flat_map(|(.., found)| found).collect()
}

/// Part of the dual cell about `at` that is outside the guest.
pub(super) fn outside<const D: usize>(problem: &PressureProblem<D>, guest: &Guest<D>, at: &Vector<D>) -> f64
where
    Dim<D>: Space<D>,
{
    let h = problem.domain.grid().spacing();
    let frame = &guest.placement.frame;
    let centre = frame.position + problem.domain.arm(&frame.position, at);
    let width = h.min() / SAMPLES as f64;
    sampled(guest, &centre, &h, SAMPLES, width)
}

/// Mean over `samples` along each axis of a box of how much of each is outside the guest, whose surface is `width` (m) thick; where all samples are on one side, the distance of the centre tells.
fn sampled<const D: usize>(
    guest: &Guest<D>,
    centre: &Vector<D>,
    size: &Vector<D>,
    samples: usize,
    width: f64,
) -> f64
where
    Dim<D>: Space<D>,
{
    let distance = guest.form.signed_distance(&guest.placement.frame.to_object(centre));
    // No sample is farther from the centre than half a diagonal.
    if samples == 1 || distance.abs() > 0.5 * (size.norm() + width) {
        return (0.5 + distance / width).clamp(0.0, 1.0);
    }
    let half = size * 0.5;
    let parts = 1usize << D;
    let sum: f64 = (0..parts)
        .map(|part| {
            let corner = Vector::from_fn(|a, _| if part >> a & 1 == 1 { 0.5 } else { -0.5 });
            sampled(guest, &(centre + half.component_mul(&corner)), &half, samples / 2, width)
        })
        .sum();
    sum / parts as f64
}
