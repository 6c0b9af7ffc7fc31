//! Volume and principal moments of inertia.

use super::GeometryError;
use serde::{Deserialize, Serialize};
use splashdown_geometry::shapes::{Moments, Shape};
use splashdown_math::{Coordinates, Dim, Frame, Inertia, Matrix, Space, Vector, symmetric_eigen};

/// Volume and inertia of a solid of density 1 about its centre of mass, in its principal axes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct MassProperties<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Volume (m^3; area in m^2 in 2D).
    pub volume: f64,
    /// Inertia tensor for density 1 (m^5; m^4 in 2D), diagonal.
    pub inertia: Inertia<D>,
}

impl<const D: usize> MassProperties<D>
where
    Dim<D>: Space<D>,
{
    /// Of a shape about the origin whose axes are principal axes.
    pub(super) fn of_shape(shape: &Shape<D>) -> Result<Self, GeometryError> {
        let Moments { volume, second, .. } = shape.moments(64)?;
        Ok(Self { volume, inertia: inertia(&second) })
    }

    /// From the volume, centre and second moment `int (x - centre)(x - centre)^T`: the properties in principal axes, and the motion from
    /// the given coordinates to object coordinates. Solids that are already so placed are left alone.
    pub fn principal(
        volume: f64,
        centre: &Vector<D>,
        second: &Matrix<D>,
    ) -> Result<(Self, Frame<D>), GeometryError> {
        if !(volume.is_finite() && volume > 0.0) {
            return Err(GeometryError::Volume(volume));
        }
        let tensor = inertia::<D>(second);
        let size = second.trace();
        let off_diagonal = Matrix::<D>::from_fn(|a, b| if a == b { 0.0 } else { second[(a, b)] });
        let length = (size / volume).sqrt();
        if centre.norm() <= 1e-12 * length && off_diagonal.norm() <= 1e-13 * size {
            let diagonal = inertia(&(second - off_diagonal));
            return Ok((Self { volume, inertia: diagonal }, Frame::identity()));
        }
        let (moments, axes) = Dim::principal_axes(&tensor);
        let rotation = Dim::inverse(&axes);
        let placement = Frame { position: -Dim::rotate(&rotation, centre), rotation };
        Ok((Self { volume, inertia: Dim::inertia_from_principal(moments.as_slice()) }, placement))
    }
}

/// `tr(S) 1 - S` in any dimension: the sum of point inertias along the principal directions of `S`.
fn inertia<const D: usize>(second: &Matrix<D>) -> Inertia<D>
where
    Dim<D>: Space<D>,
{
    let zero = Dim::point_inertia(&Vector::zeros());
    if (0..D).all(|a| (0..a).all(|b| second[(a, b)] == 0.0)) {
        return (0..D).fold(zero, |sum, a| {
            let axis = Vector::<D>::from_fn(|b, _| f64::from(u8::from(a == b)));
            sum + Dim::point_inertia(&axis) * second[(a, a)]
        });
    }
    let eigen = symmetric_eigen(second);
    (0..D).fold(zero, |sum, a| {
        let axis: Vector<D> = eigen.vectors.column(a).into();
        sum + Dim::point_inertia(&axis) * eigen.values[a]
    })
}
