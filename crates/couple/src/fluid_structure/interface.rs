//! Coupling faces: where the fluid has the velocity of a solid, and how much fluid that is.

use super::FaceMass;
use splashdown_fluid::pressure::PressureProblem;
use splashdown_fluid::{CellKind, Guest};
use splashdown_geometry::grid::{FaceFields, Index, box_indices};
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_parallel::prelude::*;
use std::collections::BTreeSet;

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
        let part = if closed < 1.0 { 0.0 } else { lumped_part(problem, &guests[guest], &at, mass) };
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

/// Sums something over the planes of faces of each axis, in their order; both images of a face on a periodic side count once.
fn sum_over_faces<const D: usize>(
    problem: &PressureProblem<D>,
    of: impl Fn(usize, Index<D>) -> f64 + Sync,
) -> f64
where
    Dim<D>: Space<D>,
{
    let (counts, periodic) = (problem.domain.grid().cells(), problem.domain.periodic());
    let high = |axis: usize| -> Index<D> {
        std::array::from_fn(|a| counts[a] as isize + isize::from(a == axis && !periodic[a]))
    };
    let planes: Vec<(usize, isize)> =
        (0..D).flat_map(|axis| (0..high(axis)[D - 1]).map(move |plane| (axis, plane))).collect();
    let sums: Vec<f64> = planes
        .into_par_iter()
        .map(|(axis, plane)| {
            let (mut low, mut high) = ([0; D], high(axis));
            (low[D - 1], high[D - 1]) = (plane, plane + 1);
            box_indices(low, high).map(|face| of(axis, face)).sum()
        })
        .collect();
    sums.iter().sum()
}

/// Kinetic energy (J) of the fluid on the faces that move freely.
pub(super) fn free_energy<const D: usize>(problem: &PressureProblem<D>, velocity: &FaceFields<D>) -> f64
where
    Dim<D>: Space<D>,
{
    sum_over_faces(problem, |axis, face| match problem.is_unknown(axis, face) {
        true => 0.5 * problem.face_mass(axis, face) * velocity.component(axis).at(face).powi(2),
        false => 0.0,
    })
}

/// Does anything given do work on the fluid: walls that move, sources, known pressures? `follows` says which faces a solid holds that the fluid can move.
pub(super) fn is_driven<const D: usize>(
    problem: &PressureProblem<D>,
    follows: impl Fn(usize, Index<D>) -> bool + Sync,
) -> bool
where
    Dim<D>: Space<D>,
{
    if problem.known.is_some() || problem.domain.has_pressing_outlet() || problem.expansion.is_some() {
        return true;
    }
    let pushing = |axis: usize, face: Index<D>| {
        problem.walls.open(axis, face) < 1.0
            && problem.walls.velocity().component(axis).at(face) != 0.0
            && problem.kinds(axis, face).contains(&CellKind::Fluid)
            && !follows(axis, face)
    };
    sum_over_faces(problem, |axis, face| f64::from(u8::from(pushing(axis, face)))) > 0.0
}

/// Cells of fluid next to the faces (axis, index) none of whose own faces moves freely.
pub(super) fn shut_cells<const D: usize>(
    problem: &PressureProblem<D>,
    faces: impl Iterator<Item = (usize, Index<D>)>,
) -> usize
where
    Dim<D>: Space<D>,
{
    let (counts, periodic) = (problem.domain.grid().cells(), problem.domain.periodic());
    let mut shut = BTreeSet::new();
    for (axis, face) in faces {
        for lower in [1, 0] {
            let mut cell = face;
            cell[axis] -= lower;
            if periodic[axis] {
                cell[axis] = cell[axis].rem_euclid(counts[axis] as isize);
            }
            let inside = (0..D).all(|a| (0..counts[a] as isize).contains(&cell[a]));
            if !inside || problem.cells.at(cell) != CellKind::Fluid {
                continue;
            }
            let open = (0..D).any(|a| {
                [0, 1].iter().any(|upper| {
                    let mut face = cell;
                    face[a] += upper;
                    problem.is_unknown(a, face)
                })
            });
            if !open {
                shut.insert(cell);
            }
        }
    }
    shut.len()
}

/// Part of the dual cell about a face at `at` whose fluid moves with the guest that closes it.
///
/// Where solids cut cells next to none does: the pressures of the cells on both sides act on what is closed of each face, which is the weight of the displaced fluid to second order, and fluid that
/// were lumped on the solid would weigh it down besides (a quarter of a cell's height on its horizontal sides).
pub(super) fn lumped_part<const D: usize>(
    problem: &PressureProblem<D>,
    guest: &Guest<D>,
    at: &Vector<D>,
    mass: FaceMass,
) -> f64
where
    Dim<D>: Space<D>,
{
    match mass {
        _ if problem.walls.cuts_cells() => LEAST_FRACTION,
        FaceMass::Full => 1.0,
        FaceMass::Fraction => outside(problem, guest, at).clamp(LEAST_FRACTION, 1.0),
    }
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
