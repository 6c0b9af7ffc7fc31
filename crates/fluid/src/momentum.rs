//! Momentum that transport along paths loses, given back.
//!
//! Values at the feet of paths conserve nothing. Without open sides or sources transport changes no component of the fluid's momentum, since no boundary lets any through, so what is
//! missing after it is its error. It is spread over the faces in proportion to what transport has changed there, as weather models do with the mass of tracers (R. Bermejo, J. Conde,
//! "A conservative quasi-monotone semi-Lagrangian scheme", Mon. Weather Rev. 130, 2002): fluid that moves evenly is left alone.

use crate::domain::{Domain, Side};
use crate::error::FluidError;
use crate::model::{FluidModel, TimeScheme};
use crate::pressure::PressureProblem;
use splashdown_geometry::grid::{FaceFields, Index};
use splashdown_math::{Dim, Space, Vector};

/// Faces that carry fluid, each with its mass (kg): what the momentum of a fluid is the sum over. Of the two images of a face on a periodic side the lower one counts.
#[derive(Debug, Clone)]
pub struct FaceMasses<const D: usize> {
    faces: [Vec<(Index<D>, f64)>; D],
}

impl<const D: usize> Default for FaceMasses<D> {
    fn default() -> Self {
        Self { faces: [const { Vec::new() }; D] }
    }
}

impl<const D: usize> FaceMasses<D>
where
    Dim<D>: Space<D>,
{
    /// The faces on which the pressure acts.
    pub fn of_open_faces(problem: &PressureProblem<D>) -> Self {
        let (counts, periodic) = (problem.domain.grid().cells(), problem.domain.periodic());
        let mut masses = Self::default();
        for axis in 0..D {
            let lattice = *problem.walls.velocity().component(axis).lattice();
            let first = |face: &Index<D>| !(periodic[axis] && face[axis] == counts[axis] as isize);
            for face in lattice.indices().filter(first).filter(|face| problem.is_unknown(axis, *face)) {
                masses.add(axis, face, problem.face_mass(axis, face));
            }
        }
        masses
    }

    /// Adds a face and the mass (kg) of its fluid.
    pub fn add(&mut self, axis: usize, face: Index<D>, mass: f64) {
        self.faces[axis].push((face, mass));
    }

    /// Momentum (kg m/s) of the fluid.
    pub fn momentum(&self, velocity: &FaceFields<D>) -> Vector<D> {
        Vector::from_fn(|axis, _| {
            let component = velocity.component(axis);
            self.faces[axis].iter().map(|&(face, mass)| mass * component.at(face)).sum()
        })
    }

    /// Gives `velocity` the momentum `wanted` (kg m/s), as little as can be where it is as in `old`. Ghosts are filled.
    pub fn restore(
        &self,
        domain: &Domain<D>,
        old: &FaceFields<D>,
        wanted: &Vector<D>,
        velocity: &mut FaceFields<D>,
    ) {
        let missing = wanted - self.momentum(velocity);
        let (counts, periodic) = (domain.grid().cells(), domain.periodic());
        for axis in 0..D {
            let (old, new) = (old.component(axis), velocity.component_mut(axis));
            let (mut changed, mut total) = (0.0, 0.0);
            for &(face, mass) in &self.faces[axis] {
                changed += mass * (new.at(face) - old.at(face)).abs();
                total += mass;
            }
            if !(total > 0.0) {
                continue;
            }
            // Never more than transport has changed; what is missing still, evenly.
            let share = if changed > 0.0 { (missing[axis] / changed).clamp(-1.0, 1.0) } else { 0.0 };
            let even = (missing[axis] - share * changed) / total;
            for &(face, _) in &self.faces[axis] {
                let u = new.at(face);
                let u = u + share * (u - old.at(face)).abs() + even;
                new.set(face, u);
                if periodic[axis] && face[axis] == 0 {
                    let mut image = face;
                    image[axis] = counts[axis] as isize;
                    new.set(image, u);
                }
            }
        }
        domain.fill_velocity_ghosts(velocity);
    }
}

/// Refuses fluids whose momentum transport does not keep, or whose mass changes.
pub(crate) fn check<const D: usize>(model: &FluidModel<D>) -> Result<(), FluidError>
where
    Dim<D>: Space<D>,
{
    // Through a wall that moves inwards fluid enters.
    let closed = |axis: usize, side: &Side<D>| match side {
        Side::Periodic => true,
        side => side.is_wall() && side.prescribed().is_some_and(|velocity| velocity[axis] == 0.0),
    };
    let sides = model.domain.sides().iter().enumerate();
    let open = sides
        .flat_map(|(axis, sides)| sides.map(|side| (axis, side)))
        .any(|(axis, side)| !closed(axis, &side))
        || model.domain.patches().iter().any(|patch| !closed(patch.axis, &patch.condition));
    let why = if model.free_surface {
        "a fluid that fills its box"
    } else if open {
        "periodic sides and walls at rest only"
    } else if model.sources.iter().any(|source| source.velocity.is_some() || source.expansion != 0.0) {
        "sources that leave the velocity alone"
    } else if model.options.scheme == TimeScheme::Reflection {
        "the splitting scheme"
    } else {
        return Ok(());
    };
    Err(FluidError::Mismatch(format!("keeping the momentum needs {why}")))
}
