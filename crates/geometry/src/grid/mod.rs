//! Uniform grids and the fields that live on them.
//!
//! A [`Grid`] divides a box into equal cells. Its samples sit at cell centres, nodes or the faces normal to one axis ([`Location`]); a
//! [`Lattice`] is the set of samples of one kind with ghost layers around it, and a [`Field`] holds one value for each of them in one
//! contiguous array, axis 0 fastest. [`FaceFields`] bundles the `D` staggered components of a velocity (spec/fluid-base.md 3.1).
//!
//! ```
//! use splashdown_geometry::grid::{Field, Grid, Interpolation, Location, Reach};
//! use splashdown_math::Vector;
//!
//! let grid = Grid::<2>::new(Vector::from([0.0, 0.0]), Vector::from([0.1, 0.1]), [10, 20])?;
//! let height = Field::from_fn(&grid, Location::Cell, |x| 3.0 * x[1]);
//! let value = height.sample(&Vector::from([0.42, 0.77]), Interpolation::Linear, Reach::Interior);
//! assert!((value - 2.31).abs() < 1e-12);
//! # Ok::<(), splashdown_geometry::grid::GridError>(())
//! ```

mod boundary;
mod faces;
mod field;
mod index_map;
mod interpolate;
mod lattice;

pub use boundary::Boundary;
pub use faces::FaceFields;
pub use field::{Field, Value};
pub use index_map::{FaceIndexMap, IndexMap};
pub use interpolate::{Interpolation, Reach};
pub use lattice::{Index, Lattice, Location, box_indices};

use crate::bounds::Aabb;
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// Ghost layers of a field unless told otherwise: what third-order upwind stencils and cubic node values need.
pub const GHOST_LAYERS: usize = 3;
/// Most ghost layers a field may have.
pub const MAX_GHOST_LAYERS: usize = 16;

/// Why a grid or a field was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridError {
    /// The cell size is zero, negative, infinite or not a number.
    #[error(
        "the grid's cell size on axis {axis} is {value} m; it must be a positive finite number whose extent stays finite"
    )]
    Spacing {
        /// Axis, from 0.
        axis: usize,
        /// The size given (m).
        value: f64,
    },
    /// The origin is infinite or not a number.
    #[error("the grid's origin on axis {axis} is {value} m; it must be a finite number")]
    Origin {
        /// Axis, from 0.
        axis: usize,
        /// The coordinate given (m).
        value: f64,
    },
    /// No cells on an axis.
    #[error("the grid has no cells on axis {axis}; it needs at least 1")]
    NoCells {
        /// Axis, from 0.
        axis: usize,
    },
    /// More samples than 32-bit sample numbers can name.
    #[error("a grid of {cells:?} cells is too large: with ghost layers it must stay below 2^32 samples")]
    TooLarge {
        /// Cells on each axis.
        cells: Vec<usize>,
    },
    /// The lower corner is not below the upper one, or the cell size is too small or large for the box.
    #[error("the box to be covered is empty or unbounded")]
    Bounds,
    /// A serialised grid or field contradicts itself.
    #[error("the stored field is damaged: {0}")]
    Damaged(String),
}

/// A box divided into equal cells: cell `i` on an axis reaches from `origin + i spacing` to `origin + (i + 1) spacing`.
///
/// Cheap to copy; the description only, no data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GridData<D>", into = "GridData<D>")]
pub struct Grid<const D: usize> {
    origin: Vector<D>,
    spacing: Vector<D>,
    cells: [usize; D],
}

/// What is stored of a grid; checked by [`Grid::new`] when it is read.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", rename = "Grid")]
struct GridData<const D: usize> {
    origin: Vector<D>,
    spacing: Vector<D>,
    cells: Vec<usize>,
}

impl<const D: usize> From<Grid<D>> for GridData<D> {
    fn from(grid: Grid<D>) -> Self {
        Self { origin: grid.origin, spacing: grid.spacing, cells: grid.cells.to_vec() }
    }
}

impl<const D: usize> TryFrom<GridData<D>> for Grid<D> {
    type Error = GridError;
    fn try_from(data: GridData<D>) -> Result<Self, GridError> {
        let cells = data.cells.try_into().map_err(|cells: Vec<usize>| {
            GridError::Damaged(format!("{} cell counts for {D} dimensions", cells.len()))
        })?;
        Self::new(data.origin, data.spacing, cells)
    }
}

impl<const D: usize> Grid<D> {
    /// A grid of `cells` cells of edge lengths `spacing` (m) with its lower corner at `origin` (m).
    pub fn new(origin: Vector<D>, spacing: Vector<D>, cells: [usize; D]) -> Result<Self, GridError> {
        let mut samples = 1usize;
        for axis in 0..D {
            let (h, n) = (spacing[axis], cells[axis]);
            if !origin[axis].is_finite() {
                return Err(GridError::Origin { axis, value: origin[axis] });
            }
            if n == 0 {
                return Err(GridError::NoCells { axis });
            }
            samples = n
                .checked_add(1 + 2 * MAX_GHOST_LAYERS)
                .and_then(|n| n.checked_mul(samples))
                .filter(|&n| n < u32::MAX as usize)
                .ok_or_else(|| GridError::TooLarge { cells: cells.to_vec() })?;
            // Squares and inverse squares of the spacing occur in every stencil, so they must be numbers too. A spacing below the
            // resolution of the origin would give cells of zero size.
            let extent = origin[axis] + h * n as f64;
            let sane = h.is_normal() && h > 0.0 && (h * h).is_normal() && (1.0 / (h * h)).is_normal();
            if !sane || !extent.is_finite() || origin[axis] + h == origin[axis] || extent - h == extent {
                return Err(GridError::Spacing { axis, value: h });
            }
        }
        Ok(Self { origin, spacing, cells })
    }

    /// The grid of cubic cells of edge `spacing` (m) whose cells cover `bounds` with `padding` further cells on every side, centred on it.
    #[inline(never)]
    pub fn covering(bounds: &Aabb<D>, spacing: f64, padding: usize) -> Result<Self, GridError> {
        if !bounds.is_bounded() {
            return Err(GridError::Bounds);
        }
        if !(spacing.is_finite() && spacing > 0.0) {
            return Err(GridError::Spacing { axis: 0, value: spacing });
        }
        let edges = bounds.extent();
        // A quotient that is an integer up to rounding does not get a further cell.
        let cells: [usize; D] = std::array::from_fn(|a| {
            ((edges[a] / spacing - 1e-9).ceil().max(1.0) as usize).saturating_add(2 * padding)
        });
        let origin = Vector::from_fn(|a, _| bounds.center()[a] - 0.5 * spacing * cells[a] as f64);
        Self::new(origin, Vector::repeat(spacing), cells)
    }

    /// Lower corner (m).
    pub fn origin(&self) -> Vector<D> {
        self.origin
    }

    /// Edge lengths of a cell (m).
    pub fn spacing(&self) -> Vector<D> {
        self.spacing
    }

    /// Smallest edge of a cell (m).
    pub fn min_spacing(&self) -> f64 {
        self.spacing.min()
    }

    /// Cells on each axis.
    pub fn cells(&self) -> [usize; D] {
        self.cells
    }

    /// Number of cells.
    pub fn cell_count(&self) -> usize {
        self.cells.iter().product()
    }

    /// Volume of a cell (m^3; m^2 in 2D).
    pub fn cell_volume(&self) -> f64 {
        self.spacing.iter().product()
    }

    /// Area of a face normal to `axis` (m^2; m in 2D).
    pub fn face_area(&self, axis: usize) -> f64 {
        (0..D).filter(|&a| a != axis).map(|a| self.spacing[a]).product()
    }

    /// The box that the cells fill.
    pub fn bounds(&self) -> Aabb<D> {
        Aabb {
            min: self.origin,
            max: Vector::from_fn(|a, _| self.origin[a] + self.spacing[a] * self.cells[a] as f64),
        }
    }

    /// Centre of the cell (m).
    pub fn cell_centre(&self, index: Index<D>) -> Vector<D> {
        Vector::from_fn(|a, _| self.origin[a] + (index[a] as f64 + 0.5) * self.spacing[a])
    }

    /// The cell that holds `point`, which may be outside the grid; cells are half open, a point on a face belongs to the upper cell.
    pub fn cell_of(&self, point: &Vector<D>) -> Index<D> {
        std::array::from_fn(|a| ((point[a] - self.origin[a]) / self.spacing[a]).floor() as isize)
    }

    /// Is it a cell of the grid?
    pub fn has_cell(&self, index: Index<D>) -> bool {
        (0..D).all(|a| index[a] >= 0 && (index[a] as usize) < self.cells[a])
    }

    /// The samples at `location` with `ghost` further layers on every side.
    ///
    /// # Panics
    /// When `ghost` exceeds [`MAX_GHOST_LAYERS`] or the axis of a face location is not below `D`.
    pub fn lattice(&self, location: Location, ghost: usize) -> Lattice<D> {
        Lattice::new(self, location, ghost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_cannot_work_are_refused() {
        let zero = Vector::<3>::zeros();
        let h = |x: f64| Vector::<3>::from([0.1, x, 0.1]);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320, 1e-200, 1e200] {
            let error = Grid::new(zero, h(bad), [4, 4, 4]).unwrap_err();
            assert!(matches!(error, GridError::Spacing { axis: 1, .. }), "{bad}: {error}");
        }
        assert_eq!(Grid::new(zero, h(0.1), [4, 0, 4]), Err(GridError::NoCells { axis: 1 }));
        assert!(matches!(Grid::new(zero, h(0.1), [1 << 12; 3]), Err(GridError::TooLarge { .. })));
        assert!(matches!(Grid::new(zero, h(0.1), [usize::MAX, 1, 1]), Err(GridError::TooLarge { .. })));
        let nan = Vector::<3>::from([0.0, 0.0, f64::NAN]);
        assert!(matches!(Grid::new(nan, h(0.1), [4; 3]), Err(GridError::Origin { axis: 2, .. })));
        let far = Vector::<3>::repeat(1e18);
        assert!(matches!(Grid::new(far, h(0.1), [4; 3]), Err(GridError::Spacing { axis: 0, .. })));
    }

    #[test]
    fn covering_grid_holds_the_box() {
        let bounds = Aabb { min: Vector::from([-1.0, 0.3]), max: Vector::from([1.0, 0.95]) };
        let grid = Grid::covering(&bounds, 0.1, 2).unwrap();
        assert_eq!(grid.cells(), [24, 11]);
        let covered = grid.bounds().grown(-0.2 + 1e-12);
        assert!(covered.contains(&bounds.min) && covered.contains(&bounds.max));
        assert_eq!(Grid::covering(&Aabb::<2>::everything(), 0.1, 2), Err(GridError::Bounds));
    }

    #[test]
    fn cells_are_half_open() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.25), [4, 4]).unwrap();
        assert_eq!(grid.cell_of(&Vector::from([0.25, -0.001])), [1, -1]);
        assert!(!grid.has_cell([1, -1]));
        assert_eq!(grid.cell_of(&grid.cell_centre([3, 2])), [3, 2]);
    }
}
