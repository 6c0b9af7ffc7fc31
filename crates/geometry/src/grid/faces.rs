//! Staggered (MAC) vector fields.

use super::{Field, Grid, GridError, Interpolation, Location, Reach, Value};
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// One value on every face: component `a` holds the faces normal to axis `a`, each component its own array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    try_from = "Vec<Field<D, T>>",
    into = "Vec<Field<D, T>>",
    bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>")
)]
pub struct FaceFields<const D: usize, T = f64> {
    components: [Field<D, T>; D],
}

impl<const D: usize, T> From<FaceFields<D, T>> for Vec<Field<D, T>> {
    fn from(faces: FaceFields<D, T>) -> Self {
        faces.components.into()
    }
}

impl<const D: usize, T> TryFrom<Vec<Field<D, T>>> for FaceFields<D, T> {
    type Error = GridError;
    fn try_from(components: Vec<Field<D, T>>) -> Result<Self, GridError> {
        let components: [Field<D, T>; D] = components
            .try_into()
            .map_err(|c: Vec<_>| GridError::Damaged(format!("{} components in {D} dimensions", c.len())))?;
        for (axis, component) in components.iter().enumerate() {
            if component.location() != Location::Face(axis) || component.grid_of() != components[0].grid_of()
            {
                return Err(GridError::Damaged(format!(
                    "component {axis} is not on the faces of the same grid"
                )));
            }
        }
        Ok(Self { components })
    }
}

impl<const D: usize, T: Copy + Send + Sync> FaceFields<D, T> {
    /// `value` on every face, with the default number of ghost layers.
    pub fn new(grid: &Grid<D>, value: T) -> Self {
        Self { components: std::array::from_fn(|axis| Field::new(grid, Location::Face(axis), value)) }
    }

    /// The grid it lives on.
    pub fn grid(&self) -> &Grid<D> {
        self.components[0].grid()
    }

    /// Faces normal to `axis`.
    pub fn component(&self, axis: usize) -> &Field<D, T> {
        &self.components[axis]
    }

    /// Faces normal to `axis`.
    pub fn component_mut(&mut self, axis: usize) -> &mut Field<D, T> {
        &mut self.components[axis]
    }

    /// All components.
    pub fn components(&self) -> &[Field<D, T>; D] {
        &self.components
    }

    /// All components.
    pub fn components_mut(&mut self) -> &mut [Field<D, T>; D] {
        &mut self.components
    }
}

impl<const D: usize, T: Value> FaceFields<D, T> {
    /// The components interpolated to `point` (m).
    pub fn sample_components(&self, point: &Vector<D>, kind: Interpolation, reach: Reach) -> [T; D] {
        std::array::from_fn(|axis| self.components[axis].sample(point, kind, reach))
    }
}

impl<const D: usize> FaceFields<D> {
    /// The vector at `point` (m).
    pub fn sample(&self, point: &Vector<D>, kind: Interpolation, reach: Reach) -> Vector<D> {
        Vector::from(self.sample_components(point, kind, reach))
    }
}

impl<const D: usize> Field<D> {
    /// A cell field averaged to the faces normal to `axis`; at the ends of the domain it reads the first ghost layer.
    ///
    /// # Panics
    /// When the field is not at cells or has no ghost layer.
    pub fn averaged_to_faces(&self, axis: usize) -> Self {
        assert!(self.lattice().location() == Location::Cell && self.lattice().ghost() > 0);
        let mut faces = Self::with_ghost(self.grid(), Location::Face(axis), self.lattice().ghost(), 0.0);
        faces.update(|index, _| {
            let mut below = index;
            below[axis] -= 1;
            0.5 * (self.at(below) + self.at(index))
        });
        faces.extrapolate_ghosts();
        faces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_velocity_is_sampled_exactly() {
        let grid = Grid::<3>::new(Vector::zeros(), Vector::from([0.1, 0.2, 0.15]), [8, 5, 6]).unwrap();
        let mut faces = FaceFields::new(&grid, 0.0);
        for axis in 0..3 {
            let lattice = *faces.component(axis).lattice();
            faces.component_mut(axis).update(|i, _| {
                let x = lattice.position(i);
                (axis as f64 + 1.0) * x[0] - x[1] + 0.5 * x[2]
            });
        }
        let x = Vector::from([0.33, 0.41, 0.52]);
        let u = faces.sample(&x, Interpolation::Linear, Reach::Interior);
        for axis in 0..3 {
            assert!((u[axis] - ((axis as f64 + 1.0) * x[0] - x[1] + 0.5 * x[2])).abs() < 1e-13);
        }
    }

    #[test]
    fn averaging_to_faces_is_exact_for_linear_fields() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::from([0.1, 0.2]), [8, 5]).unwrap();
        let cells = Field::from_fn(&grid, Location::Cell, |x| 2.0 * x[0] - x[1]);
        let faces = cells.averaged_to_faces(1);
        for index in faces.lattice().indices() {
            let x = faces.lattice().position(index);
            assert!((faces.at(index) - (2.0 * x[0] - x[1])).abs() < 1e-13);
        }
    }
}
