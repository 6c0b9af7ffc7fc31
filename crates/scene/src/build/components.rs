//! Vectors, spins and rotations from the numbers of a scene.

use super::BuildError;
use crate::description::{Rotation, SpinValue};
use splashdown_math::{Coordinates, Dim, Space, Spin, Vector};

/// A vector of the scene's dimension; zero when it is not given.
pub(crate) fn vector<const D: usize>(
    name: &str,
    field: &'static str,
    values: Option<&[f64]>,
) -> Result<Vector<D>, BuildError> {
    match values {
        None => Ok(Vector::zeros()),
        Some(values) if values.len() == D => Ok(Vector::from_column_slice(values)),
        Some(_) => Err(BuildError::Components { name: name.into(), field, dimension: D }),
    }
}

pub(crate) fn spin<const D: usize>(name: &str, value: Option<&SpinValue>) -> Result<Spin<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let components = match value {
        None => return Ok(Spin::<D>::zero()),
        Some(SpinValue::Rate(rate)) => std::slice::from_ref(rate),
        Some(SpinValue::Vector(components)) => components,
    };
    if components.len() != <Dim<D> as Space<D>>::SPIN {
        return Err(BuildError::Components { name: name.into(), field: "spin", dimension: D });
    }
    Ok(Spin::<D>::from_slice(components))
}

pub(crate) fn rotation<const D: usize>(
    name: &str,
    value: Option<&Rotation>,
) -> Result<splashdown_math::Rotation<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let wrong = || BuildError::Components { name: name.into(), field: "rotation", dimension: D };
    let exp = |components: &[f64]| {
        let fits = components.len() == <Dim<D> as Space<D>>::SPIN && components.iter().all(|c| c.is_finite());
        fits.then(|| Dim::<D>::exp(&Spin::<D>::from_slice(components))).ok_or_else(wrong)
    };
    match value {
        None => Ok(Dim::<D>::identity()),
        Some(Rotation::Degrees(degrees)) => exp(&[degrees.to_radians()]),
        Some(Rotation::AxisAngle { axis, degrees }) => {
            let scaled = scaled(axis);
            let length = scaled.iter().map(|c| c * c).sum::<f64>().sqrt();
            let turn: Vec<f64> = scaled.iter().map(|c| c / length * degrees.to_radians()).collect();
            exp(&turn)
        }
        Some(Rotation::Quaternion { quaternion }) => {
            Dim::<D>::rotation_from_components(&scaled(quaternion)).ok_or_else(wrong)
        }
    }
}

/// Divided by the largest component, so that the square of a long or a short one neither overflows nor vanishes.
pub(crate) fn scaled(vector: &[f64]) -> Vec<f64> {
    let largest = vector.iter().fold(0.0f64, |most, c| most.max(c.abs()));
    vector.iter().map(|c| c / largest).collect()
}
