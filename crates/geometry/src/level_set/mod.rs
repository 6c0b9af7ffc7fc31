//! Solids and liquids as the negative part of a sampled function.
//!
//! A [`LevelSet`] is a [`Field`] `phi` (cells or nodes, `phi <= 0` inside) with what bodies and fluids ask of it: values and normals anywhere
//! in space, quick rejection, curvature, volume. It is made from a shape, a closed mesh or any field; [`redistance`] turns any field into
//! signed distance. The surface as a mesh is in [`iso_surface`](crate::iso_surface).

mod cell_bounds;
mod evolution;
mod fast_marching;
mod from_mesh;
mod integrate;
mod interface;
#[cfg(test)]
mod tests;

pub use fast_marching::{
    FastMarching, InterfaceDistance, Marched, MarchingOrder, extend_along_normals, extend_distance,
    redistance, redistance_linked,
};

pub use evolution::redistance_by_evolution;
pub use from_mesh::{Surface, SurfaceDistance};
pub use integrate::negative_part;

use crate::grid::{Field, Grid, GridError, Index, Interpolation, Location, Reach};
use crate::mesh::MeshError;
use crate::shapes::Shape;
use cell_bounds::CellBounds;
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Matrix, Space, Vector};

/// Why a level set was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LevelSetError {
    /// A value is infinite or not a number.
    #[error("phi is {value} at sample {index:?}; all values must be finite")]
    NotFinite {
        /// Index of the sample.
        index: Vec<isize>,
        /// The value found.
        value: f64,
    },
    /// The width of the band is not positive.
    #[error("the band of distances is {0} m wide; it must be positive")]
    Band(f64),
    /// Fields that must share their samples do not.
    #[error("the fields are not sampled at the same points")]
    DifferentSamples,
    /// The fourth-order nodes are made from cells.
    #[error("nodal crossings need a field at cell centres")]
    NotAtCells,
    /// Values on faces cannot be a level set.
    #[error("a level set is sampled at cells or nodes, not at faces")]
    Faces,
    /// The mesh is not what its use asks for.
    #[error("no signed distance from this mesh: {0}{hint}", hint = hint(.0))]
    Mesh(#[from] MeshError),
    /// The half thickness of a shell is not positive.
    #[error("the half thickness of a shell is {0} m; it must be a positive finite number")]
    Thickness(f64),
    /// The grid was refused.
    #[error(transparent)]
    Grid(#[from] GridError),
}

/// What to do about a mesh that encloses nothing.
fn hint(error: &MeshError) -> &'static str {
    match error {
        MeshError::Leaky { .. } | MeshError::NonManifold { .. } => {
            " (close or repair it, or take it as a thin shell, or as a surface with holes whose inside is decided by its winding number)"
        }
        _ => "",
    }
}

/// `phi` sampled on a grid, negative inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Field<D>", into = "Field<D>")]
pub struct LevelSet<const D: usize> {
    phi: Field<D>,
    bounds: CellBounds<D>,
}

impl<const D: usize> From<LevelSet<D>> for Field<D> {
    fn from(level_set: LevelSet<D>) -> Self {
        level_set.phi
    }
}

impl<const D: usize> TryFrom<Field<D>> for LevelSet<D> {
    type Error = LevelSetError;
    fn try_from(phi: Field<D>) -> Result<Self, LevelSetError> {
        if matches!(phi.lattice().location(), Location::Face(_)) {
            return Err(LevelSetError::Faces);
        }
        require_finite(&phi)?;
        let bounds = CellBounds::new(&phi);
        Ok(Self { phi, bounds })
    }
}

/// Refuses infinities and NaN with the place of the first.
fn require_finite<const D: usize>(phi: &Field<D>) -> Result<(), LevelSetError> {
    if fast_marching::all_finite(phi) {
        return Ok(());
    }
    let index = phi.first_not_finite().unwrap_or([0; D]);
    Err(LevelSetError::NotFinite { index: index.to_vec(), value: phi.at(index) })
}

impl<const D: usize> LevelSet<D> {
    /// Takes any field at cells or nodes as it is; its values must be finite.
    #[inline(never)]
    pub fn from_field(phi: Field<D>) -> Result<Self, LevelSetError> {
        Self::try_from(phi)
    }

    /// Samples the distance of a shape.
    #[inline(never)]
    pub fn from_shape(grid: &Grid<D>, location: Location, shape: &Shape<D>) -> Result<Self, LevelSetError>
    where
        Dim<D>: Space<D>,
    {
        if matches!(location, Location::Face(_)) {
            return Err(LevelSetError::Faces);
        }
        Self::from_field(Field::from_fn(grid, location, |x| shape.signed_distance(x)))
    }

    /// The sampled function (m).
    pub fn field(&self) -> &Field<D> {
        &self.phi
    }

    /// The sampled function (m).
    pub fn into_field(self) -> Field<D> {
        self.phi
    }

    /// Turns the values into signed distance to their own zero set.
    pub fn redistance(&mut self, options: &FastMarching) -> Result<Marched, LevelSetError> {
        let marched = redistance(&mut self.phi, options)?;
        self.bounds = CellBounds::new(&self.phi);
        Ok(marched)
    }

    /// `phi` (m) at any point of space: multi-linear between the samples, and outside their hull
    /// `phi(c) + |x - c|` with the nearest point `c` of the hull (spec rigid-bodies 3.2).
    pub fn value(&self, point: &Vector<D>) -> f64 {
        self.value_by(point, Interpolation::Linear)
    }

    /// [`Self::value`] with another interpolation.
    pub fn value_by(&self, point: &Vector<D>, kind: Interpolation) -> f64 {
        let inner = self.clamped(point);
        self.phi.sample(&inner, kind, Reach::Interior) + (point - inner).norm()
    }

    /// Is the point inside? Decides by the range of `phi` in the point's cell where that suffices, without interpolation.
    pub fn contains(&self, point: &Vector<D>) -> bool {
        self.is_below(point, 0.0)
    }

    /// Is `phi < threshold` (m) at the point? As quick as [`Self::contains`].
    pub fn is_below(&self, point: &Vector<D>, threshold: f64) -> bool {
        if let Some([low, high]) = self.bounds.at(&self.phi.lattice().local(point)) {
            if low >= threshold {
                return false;
            }
            if high < threshold {
                return true;
            }
        }
        self.value(point) < threshold
    }

    /// Gradient of [`Self::value`].
    pub fn gradient(&self, point: &Vector<D>) -> Vector<D> {
        self.gradient_by(point, Interpolation::Linear)
    }

    /// Gradient of [`Self::value_by`].
    pub fn gradient_by(&self, point: &Vector<D>, kind: Interpolation) -> Vector<D> {
        self.value_and_gradient(point, kind).1
    }

    /// [`Self::value_by`] and [`Self::gradient_by`] at the price of one.
    pub fn value_and_gradient(&self, point: &Vector<D>, kind: Interpolation) -> (f64, Vector<D>) {
        let inner = self.clamped(point);
        let (value, gradient) = self.phi.sample_with_gradient(&inner, kind, Reach::Interior);
        let outward = point - inner;
        let distance = outward.norm();
        if distance == 0.0 {
            return (value, gradient);
        }
        // phi(clamp(x)) does not change along the axes on which x is clamped.
        let along = Vector::from_fn(|a, _| if outward[a] == 0.0 { gradient[a] } else { 0.0 });
        (value + distance, along + outward / distance)
    }

    /// Unit vector out of the body, defined everywhere: the gradient's direction; where the gradient vanishes (a point equally far from
    /// opposite sides), that of central differences over two spacings; failing that too, the y axis.
    pub fn normal(&self, point: &Vector<D>) -> Vector<D> {
        self.value_and_normal(point).1
    }

    /// [`Self::value`] and [`Self::normal`] at the price of one.
    #[inline(never)]
    pub fn value_and_normal(&self, point: &Vector<D>) -> (f64, Vector<D>) {
        let direction = |gradient: Vector<D>| {
            let norm = gradient.norm();
            (norm > 1e-8).then(|| gradient / norm)
        };
        let (value, gradient) = self.value_and_gradient(point, Interpolation::Linear);
        let normal = direction(gradient)
            .or_else(|| {
                let h = self.phi.lattice().spacing();
                direction(Vector::from_fn(|a, _| {
                    let mut step = Vector::zeros();
                    step[a] = h[a];
                    (self.value(&(point + step)) - self.value(&(point - step))) / (2.0 * h[a])
                }))
            })
            .unwrap_or_else(|| Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 }));
        (value, normal)
    }

    /// Sum of the principal curvatures (1/m) of the level set through the point: `1/r` for a disc, `2/r` for a ball, negative for a hole.
    /// From central differences at the samples around, second order where `phi` is smooth.
    pub fn curvature(&self, point: &Vector<D>) -> f64 {
        let lattice = self.phi.lattice();
        let local = lattice.local(point);
        let mut low = [0isize; D];
        let mut weight = [0.0; D];
        for a in 0..D {
            let last = lattice.counts()[a] as isize - 1;
            // Corners need a neighbour on every side; near the end of the samples the last such corner serves.
            let (first, final_) = (1.min(last), (last - 1).max(0));
            let s = local[a].clamp(first as f64, final_.max(first) as f64);
            low[a] = (s.floor() as isize).min((final_ - 1).max(first));
            weight[a] = s - low[a] as f64;
        }
        (0..1usize << D)
            .map(|corner| {
                let mut index = low;
                let mut share = 1.0;
                for a in 0..D {
                    let upper = corner >> a & 1 == 1;
                    index[a] += isize::from(upper);
                    share *= if upper { weight[a] } else { 1.0 - weight[a] };
                }
                if share == 0.0 { 0.0 } else { share * self.curvature_at(index) }
            })
            .sum()
    }

    /// Curvature (1/m) by central differences at a sample: `(|g|^2 tr H - g^T H g) / |g|^3`.
    pub fn curvature_at(&self, index: Index<D>) -> f64 {
        let lattice = self.phi.lattice();
        let h = lattice.spacing();
        let at = |shift: &[(usize, isize)]| {
            let mut to = index;
            for &(a, step) in shift {
                to[a] = (to[a] + step).clamp(0, lattice.counts()[a] as isize - 1);
            }
            self.phi.at(to)
        };
        let centre = at(&[]);
        let gradient: Vector<D> = Vector::from_fn(|a, _| (at(&[(a, 1)]) - at(&[(a, -1)])) / (2.0 * h[a]));
        let hessian: Matrix<D> = Matrix::from_fn(|a, b| {
            if a == b {
                return (at(&[(a, 1)]) - 2.0 * centre + at(&[(a, -1)])) / (h[a] * h[a]);
            }
            let mixed = at(&[(a, 1), (b, 1)]) - at(&[(a, 1), (b, -1)]) - at(&[(a, -1), (b, 1)])
                + at(&[(a, -1), (b, -1)]);
            mixed / (4.0 * h[a] * h[b])
        });
        let squared = gradient.norm_squared();
        if squared < 1e-12 {
            return 0.0;
        }
        (squared * hessian.trace() - gradient.dot(&(hessian * gradient))) / (squared * squared.sqrt())
    }

    /// Volume inside (m^3; area in m^2 in 2D) within the grid's box; second order in the spacing, the same bits for any number of threads.
    #[inline(never)]
    pub fn volume(&self) -> f64 {
        integrate::volume(&self.phi)
    }

    /// The nearest point of the samples' hull.
    fn clamped(&self, point: &Vector<D>) -> Vector<D> {
        let hull = self.phi.lattice().hull();
        Vector::from_fn(|a, _| point[a].clamp(hull.min[a], hull.max[a]))
    }
}
