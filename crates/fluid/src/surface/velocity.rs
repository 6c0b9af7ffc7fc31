//! The velocity of a liquid continued into the air (spec/fluid-base.md 3.11).

use super::periodic::Continued;
use crate::domain::Domain;
use crate::error::FluidError;
use crate::pressure::LEAST_THETA;
use crate::shell::Sight;
use crate::walls::Walls;
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_geometry::level_set::extend_along_normals;
use splashdown_math::{Dim, Space};

/// Continues the velocity from the faces where `known(axis, face)` holds into the others within `band` (m) of the liquid, constant along the normals of
/// `phi` (ghosts filled), never through a shell; beyond it is zero. Closed faces keep the velocity of what closes them, except inside solids along which the liquid slides. With `leaving`
/// air may be drawn from closed faces that border on it: there the velocity is continued too where it leads away from the wall. Ghosts are filled.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub fn extrapolate_velocity<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    phi: &Field<D>,
    velocity: &mut FaceFields<D>,
    band: f64,
    sight: Option<&Sight<D>>,
    leaving: bool,
    known: impl Fn(usize, [isize; D]) -> bool + Send + Sync,
) -> Result<(), FluidError>
where
    Dim<D>: Space<D>,
{
    let continued = Continued::new(domain)?;
    // What counts as air, see `classify`.
    let dry = -LEAST_THETA * domain.grid().min_spacing();
    for axis in 0..D {
        let component = velocity.component_mut(axis);
        let mut at_faces = Field::with_ghost(domain.grid(), Location::Face(axis), 0, 0.0);
        at_faces.update(|face, _| {
            let mut below = face;
            below[axis] -= 1;
            0.5 * (phi.at(below) + phi.at(face))
        });
        let mut given = Field::with_ghost(domain.grid(), Location::Face(axis), 0, false);
        given.update(|face, _| known(axis, face));
        // Closed faces with something to say: what they border on is not hidden behind them.
        let keep = |face: [isize; D]| {
            if !walls.is_closed(axis, face) {
                return false;
            }
            let mut below = face;
            below[axis] -= 1;
            let inside = walls.is_solid(below) && walls.is_solid(face);
            !(inside && (walls.is_continued(below) || walls.is_continued(face)))
        };
        let lattice = *component.lattice();
        let open = |face: [isize; D], along: usize| {
            let Some(sight) = sight else { return true };
            let mut lower = face;
            lower[along] -= 1;
            let (a, b) = (lattice.position(face), lattice.position(lower));
            !sight.is_near(&a) || sight.sees(&a, &b)
        };
        match &continued {
            None => extend_along_normals(component, &mut given, &at_faces, band, open).map(|_| ())?,
            Some(continued) => {
                let (mut wide, mut wide_given) = (continued.widen(component), continued.widen(&given));
                let distances = continued.widen(&at_faces);
                let open = |face: [isize; D], along: usize| open(continued.original(face), along);
                extend_along_normals(&mut wide, &mut wide_given, &distances, band, open)?;
                continued.narrow(&wide, component);
                continued.narrow(&wide_given, &mut given);
            }
        }
        let wall = walls.velocity().component(axis);
        let drawn = |face: [isize; D], u: f64| {
            let mut below = face;
            below[axis] -= 1;
            leaving
                && given.at(face)
                && match [walls.is_solid(below), walls.is_solid(face)] {
                    [true, false] => phi.at(face) > dry && u > wall.at(face),
                    [false, true] => phi.at(below) > dry && u < wall.at(face),
                    _ => false,
                }
        };
        component.update(|face, u| {
            if keep(face) && !drawn(face, u) {
                wall.at(face)
            } else if given.at(face) {
                u
            } else {
                0.0
            }
        });
    }
    domain.fill_velocity_ghosts(velocity);
    Ok(())
}
