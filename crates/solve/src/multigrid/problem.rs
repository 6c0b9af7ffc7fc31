//! The discrete Poisson problem on a uniform grid: which cells are unknowns, and how strongly neighbours are coupled.

use crate::{CsrMatrix, LinearOperator, SolveError};
use splashdown_parallel::prelude::*;

/// Why a [`PoissonProblem`] cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Only the plane and space are grids here.
    #[error("a grid has 2 or 3 axes, not {0}")]
    Dimension(usize),
    /// An axis without cells, or more cells than an index can hold.
    #[error("the grid {0:?} must have between 1 and 2^31 cells and at least one along each axis")]
    Size(Vec<usize>),
    /// An array does not match the grid.
    #[error("{array} has {found} entries where the grid has {expected} cells")]
    Length {
        /// Which array.
        array: &'static str,
        /// Its length.
        found: usize,
        /// The number of cells.
        expected: usize,
    },
    /// A coefficient that would make the matrix indefinite or undefined.
    #[error("{array} is {value} at cell {cell}; it must be finite and not negative")]
    Coefficient {
        /// Which array.
        array: &'static str,
        /// Flat index of the cell.
        cell: usize,
        /// The value found.
        value: f64,
    },
}

/// Weights between neighbouring unknowns.
#[derive(Debug, Clone, PartialEq)]
pub enum Coupling<const D: usize> {
    /// Any two active cells that share a face normal to axis `a` are coupled with weight `[a]`:
    /// constant density and solids made of whole cells. Needs no storage.
    Uniform([f64; D]),
    /// One weight for the upper face of each cell along each axis, indexed by the cell below the face; zero is a closed
    /// (Neumann) face. Faces to inactive cells and on the border of the grid are ignored. Variable density, cut faces, thin shells.
    Faces([Vec<f64>; D]),
}

/// The symmetric positive (semi)definite system
/// `sum_j w_ij (p_i - p_j) + e_i p_i = b_i` over the active cells `i` of a `D`-dimensional grid and their face neighbours `j`.
///
/// `w` is the [`Coupling`] (face area / (density * spacing), or `1/h^2`), `e` the extra diagonal that Dirichlet boundaries leave
/// behind: `w / theta` for each face towards air, where `theta` is the distance to the surface in cell widths (1 gives the
/// stair-stepped boundary with `p = 0` at the air cell's centre; see spec/fluid-base.md 3.8).
/// Vectors are dense over the grid with axis 0 fastest; entries of inactive cells are ignored on input and zero on output.
#[derive(Debug, Clone, PartialEq)]
pub struct PoissonProblem<const D: usize> {
    dims: [usize; D],
    active: Vec<bool>,
    coupling: Coupling<D>,
    dirichlet: Vec<f64>,
}

/// What a cell of a voxelised domain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// An unknown.
    Fluid,
    /// A Neumann neighbour: no flux through its faces.
    Solid,
    /// A Dirichlet neighbour with the value 0 at its centre.
    Air,
}

impl<const D: usize> PoissonProblem<D> {
    /// Checks and takes the parts. `active` and `dirichlet` (the extra diagonal) have one entry a cell.
    pub fn new(
        dims: [usize; D],
        active: Vec<bool>,
        coupling: Coupling<D>,
        dirichlet: Vec<f64>,
    ) -> Result<Self, ProblemError> {
        if !(D == 2 || D == 3) {
            return Err(ProblemError::Dimension(D));
        }
        let cells = dims
            .iter()
            .try_fold(1usize, |product, &n| product.checked_mul(n))
            .filter(|&cells| cells > 0 && cells < 1 << 31)
            .ok_or_else(|| ProblemError::Size(dims.to_vec()))?;
        let check_length = |array, found| {
            if found == cells { Ok(()) } else { Err(ProblemError::Length { array, found, expected: cells }) }
        };
        check_length("active", active.len())?;
        check_length("dirichlet", dirichlet.len())?;
        check_coefficients("dirichlet", &dirichlet)?;
        match &coupling {
            Coupling::Uniform(weights) => check_coefficients("uniform coupling", weights)?,
            Coupling::Faces(faces) => {
                for weights in faces {
                    check_length("face coupling", weights.len())?;
                    check_coefficients("face coupling", weights)?;
                }
            }
        }
        Ok(Self { dims, active, coupling, dirichlet })
    }

    /// A voxelised domain of cells of edge lengths `spacing` (m): the matrix of the negative Laplacian (1/m^2).
    /// The border of the grid is a Neumann wall. `kind` is called once for each cell.
    pub fn voxels(
        dims: [usize; D],
        spacing: [f64; D],
        kind: impl Fn([usize; D]) -> CellKind + Sync,
    ) -> Result<Self, ProblemError> {
        let cells: usize = dims.iter().product();
        let weights = spacing.map(|h| 1.0 / (h * h));
        let mut kinds = vec![CellKind::Solid; cells];
        kinds.par_chunks_mut(1 << 14).enumerate().for_each(|(chunk, kinds)| {
            for (offset, slot) in kinds.iter_mut().enumerate() {
                *slot = kind(unflatten(dims, (chunk << 14) + offset));
            }
        });
        let strides = strides(dims);
        let mut dirichlet = vec![0.0; cells];
        dirichlet.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(cell, extra)| {
            if kinds[cell] != CellKind::Fluid {
                return;
            }
            let at = unflatten(dims, cell);
            for axis in 0..D {
                let below = at[axis] > 0 && kinds[cell - strides[axis]] == CellKind::Air;
                let above = at[axis] + 1 < dims[axis] && kinds[cell + strides[axis]] == CellKind::Air;
                *extra += weights[axis] * (f64::from(u8::from(below)) + f64::from(u8::from(above)));
            }
        });
        let active = kinds.iter().map(|&kind| kind == CellKind::Fluid).collect();
        Self::new(dims, active, Coupling::Uniform(weights), dirichlet)
    }

    /// Cells along each axis.
    pub fn dims(&self) -> [usize; D] {
        self.dims
    }

    /// Number of cells of the grid, active or not.
    pub fn cells(&self) -> usize {
        self.active.len()
    }

    /// Which cells are unknowns.
    pub fn active(&self) -> &[bool] {
        &self.active
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.active.iter().filter(|&&active| active).count()
    }

    /// Weights between neighbours.
    pub fn coupling(&self) -> &Coupling<D> {
        &self.coupling
    }

    /// Extra diagonal of each cell.
    pub fn dirichlet(&self) -> &[f64] {
        &self.dirichlet
    }

    /// Weight of the upper face of `cell` along `axis`, zero when it leads nowhere.
    #[inline]
    pub fn upper_weight(&self, at: [usize; D], cell: usize, axis: usize) -> f64 {
        let stride = strides(self.dims)[axis];
        if at[axis] + 1 == self.dims[axis] || !self.active[cell] || !self.active[cell + stride] {
            return 0.0;
        }
        match &self.coupling {
            Coupling::Uniform(weights) => weights[axis],
            Coupling::Faces(faces) => faces[axis][cell],
        }
    }

    /// Calls `visit(neighbour, weight)` for each neighbour coupled to `cell`, in ascending order of the neighbour's index.
    #[inline]
    pub fn for_each_neighbor(&self, cell: usize, mut visit: impl FnMut(usize, f64)) {
        let at = unflatten(self.dims, cell);
        let strides = strides(self.dims);
        for axis in (0..D).rev() {
            if at[axis] > 0 {
                let below = cell - strides[axis];
                let mut at_below = at;
                at_below[axis] -= 1;
                let weight = self.upper_weight(at_below, below, axis);
                if weight > 0.0 {
                    visit(below, weight);
                }
            }
        }
        for axis in 0..D {
            let weight = self.upper_weight(at, cell, axis);
            if weight > 0.0 {
                visit(cell + strides[axis], weight);
            }
        }
    }

    /// The matrix over the active cells alone, numbered in the order of the grid, and the cell of each unknown.
    ///
    /// # Errors
    /// None for a problem that was checked; the type is that of [`CsrMatrix::from_parts`].
    #[inline(never)]
    pub fn assemble(&self) -> Result<(CsrMatrix, Vec<u32>), SolveError> {
        let cells: Vec<u32> = (0..self.cells() as u32).filter(|&cell| self.active[cell as usize]).collect();
        let mut unknown = vec![u32::MAX; self.cells()];
        for (index, &cell) in cells.iter().enumerate() {
            unknown[cell as usize] = index as u32;
        }
        let mut offsets = Vec::with_capacity(cells.len() + 1);
        let mut columns = Vec::with_capacity((2 * D + 1) * cells.len());
        let mut values = Vec::with_capacity((2 * D + 1) * cells.len());
        offsets.push(0);
        for (index, &cell) in cells.iter().enumerate() {
            let mut diagonal = self.dirichlet[cell as usize];
            let mut at = None;
            self.for_each_neighbor(cell as usize, |neighbor, weight| {
                let column = unknown[neighbor];
                // Neighbours come in ascending order: the diagonal goes before the first above.
                if column > index as u32 && at.is_none() {
                    at = Some(columns.len());
                    columns.push(index as u32);
                    values.push(0.0);
                }
                diagonal += weight;
                columns.push(column);
                values.push(-weight);
            });
            match at {
                Some(at) => values[at] = diagonal,
                None => {
                    columns.push(index as u32);
                    values.push(diagonal);
                }
            }
            offsets.push(columns.len());
        }
        Ok((CsrMatrix::from_parts(cells.len(), offsets, columns, values)?, cells))
    }

    /// Label of the connected region of each active cell (`u32::MAX` for the others) and, for each region, whether it touches
    /// a Dirichlet boundary. A region that does not has the constant as null vector. Regions are numbered by their first cell.
    pub fn regions(&self) -> Regions {
        Regions::of(self)
    }
}

impl<const D: usize> LinearOperator for PoissonProblem<D> {
    fn rows(&self) -> usize {
        self.cells()
    }
    fn cols(&self) -> usize {
        self.cells()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(cell, y)| {
            *y = 0.0;
            if self.active[cell] {
                let center = x[cell];
                let mut sum = self.dirichlet[cell] * center;
                self.for_each_neighbor(cell, |neighbor, weight| sum += weight * (center - x[neighbor]));
                *y = sum;
            }
        });
    }
}

/// Connected regions of a [`PoissonProblem`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    /// Region of each cell, `u32::MAX` for inactive cells.
    pub labels: Vec<u32>,
    /// For each region: does it touch a Dirichlet boundary?
    pub grounded: Vec<bool>,
}

impl Regions {
    /// Label of a cell that is in no region.
    pub const NONE: u32 = u32::MAX;

    /// Union-find over runs of cells along axis 0, which are few.
    fn of<const D: usize>(problem: &PoissonProblem<D>) -> Self {
        let dims = problem.dims;
        let strides = strides(dims);
        let row = dims[0];
        let mut labels = vec![Self::NONE; problem.cells()];
        let mut parent: Vec<u32> = Vec::new();
        for start in (0..problem.cells()).step_by(row) {
            let mut at = unflatten(dims, start);
            let mut open = false;
            for i in 0..row {
                let cell = start + i;
                at[0] = i;
                if !problem.active[cell] {
                    open = false;
                    continue;
                }
                if !open {
                    parent.push(parent.len() as u32);
                }
                let mut run = (parent.len() - 1) as u32;
                labels[cell] = run;
                for axis in 1..D {
                    if at[axis] == 0 || !problem.active[cell - strides[axis]] {
                        continue;
                    }
                    let below = cell - strides[axis];
                    // The cell before already joined these two runs, unless a closed face may lie between.
                    let uniform = matches!(problem.coupling, Coupling::Uniform(_));
                    if uniform && open && i > 0 && labels[below - 1] == labels[below] {
                        continue;
                    }
                    let mut at_below = at;
                    at_below[axis] -= 1;
                    if problem.upper_weight(at_below, below, axis) > 0.0 {
                        run = join(&mut parent, run, labels[below]);
                    }
                }
                open = problem.upper_weight(at, cell, 0) > 0.0;
            }
        }
        // Roots are the smallest run of their region, so numbering them in order numbers regions by first cell.
        let mut number = vec![Self::NONE; parent.len()];
        let mut count = 0;
        for run in 0..parent.len() {
            let root = find(&mut parent, run as u32) as usize;
            if root == run {
                number[run] = count;
                count += 1;
            } else {
                number[run] = number[root];
            }
        }
        let mut grounded = vec![false; count as usize];
        for (label, &extra) in labels.iter_mut().zip(&problem.dirichlet) {
            if *label != Self::NONE {
                *label = number[*label as usize];
                if extra > 0.0 {
                    grounded[*label as usize] = true;
                }
            }
        }
        Self { labels, grounded }
    }

    /// Is there a region with a null vector?
    pub fn any_floating(&self) -> bool {
        self.grounded.iter().any(|grounded| !grounded)
    }

    /// Subtracts from each region without Dirichlet boundary its mean, and returns the largest mean removed (absolute).
    /// Sums run in cell order, so the result does not depend on threads.
    pub fn remove_floating_means(&self, field: &mut [f64]) -> f64 {
        if !self.any_floating() {
            return 0.0;
        }
        let mut sums = vec![(0.0, 0usize); self.grounded.len()];
        for (&label, &value) in self.labels.iter().zip(field.iter()) {
            if label != Self::NONE {
                let sum = &mut sums[label as usize];
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
        let means: Vec<f64> = sums
            .iter()
            .zip(&self.grounded)
            .map(|(&(sum, count), &grounded)| if grounded { 0.0 } else { sum / count as f64 })
            .collect();
        field.par_iter_mut().zip(&self.labels).with_min_len(1 << 14).for_each(|(value, &label)| {
            if label != Self::NONE {
                *value -= means[label as usize];
            }
        });
        means.iter().fold(0.0, |largest: f64, mean| largest.max(mean.abs()))
    }
}

fn find(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let grandparent = parent[parent[node as usize] as usize];
        parent[node as usize] = grandparent;
        node = grandparent;
    }
    node
}

/// Joins under the smaller root and returns it.
fn join(parent: &mut [u32], a: u32, b: u32) -> u32 {
    let (a, b) = (find(parent, a), find(parent, b));
    let (low, high) = (a.min(b), a.max(b));
    parent[high as usize] = low;
    low
}

fn check_coefficients(array: &'static str, values: &[f64]) -> Result<(), ProblemError> {
    match values.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
        Some(cell) => Err(ProblemError::Coefficient { array, cell, value: values[cell] }),
        None => Ok(()),
    }
}

/// Distance in the flat array between neighbours along each axis.
#[inline]
pub(super) fn strides<const D: usize>(dims: [usize; D]) -> [usize; D] {
    let mut strides = [1; D];
    for axis in 1..D {
        strides[axis] = strides[axis - 1] * dims[axis - 1];
    }
    strides
}

/// Grid coordinates of a flat index.
#[inline]
pub(super) fn unflatten<const D: usize>(dims: [usize; D], mut cell: usize) -> [usize; D] {
    let mut at = [0; D];
    for axis in 0..D {
        at[axis] = cell % dims[axis];
        cell /= dims[axis];
    }
    at
}
