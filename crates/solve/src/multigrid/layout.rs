//! Where a cell lies in memory: red and black cells of a checkerboard in separate, padded arrays.
//!
//! Colour `c` of a row `(j, k)` holds the cells `i = 2 s + q` with `q = (j + k + c) mod 2` at the half index `s`. All six neighbours
//! of a cell then have the other colour, the four across rows sit at the same `s` and the two along the row at `s + q - 1` and
//! `s + q`: a Gauss-Seidel half sweep reads and writes contiguous memory and touches only the cells it changes.
//! One layer of zeros around the grid replaces every boundary test. Two-dimensional grids have one plane.

use splashdown_parallel::prelude::*;

/// Shape of a padded checkerboard array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Cells along each axis.
    pub n: [usize; 3],
    /// Half indices in a row.
    pub half: usize,
    /// Distance between rows.
    pub row: usize,
    /// Distance between planes.
    pub plane: usize,
    /// Length of the array of one colour.
    pub len: usize,
}

impl Layout {
    pub fn new(n: [usize; 3]) -> Self {
        let half = n[0].div_ceil(2);
        let row = half + 2;
        let plane = row * (n[1] + 2);
        Self { n, half, row, plane, len: plane * (n[2] + 2) }
    }

    /// Offset of half index 0 of row `j` within its plane.
    #[inline]
    pub fn in_plane(&self, j: usize) -> usize {
        (j + 1) * self.row + 1
    }

    /// Index of half index 0 of row `(j, k)`.
    #[inline]
    pub fn start(&self, j: usize, k: usize) -> usize {
        (k + 1) * self.plane + self.in_plane(j)
    }

    /// Row and half index of an offset within a plane.
    #[inline]
    pub fn row_of(&self, in_plane: usize) -> (usize, usize) {
        (in_plane / self.row - 1, in_plane % self.row - 1)
    }

    /// Index of row `(j, k)` in a table with one entry a row.
    #[inline]
    pub fn row_number(&self, j: usize, k: usize) -> usize {
        j + self.n[1] * k
    }

    /// First cell of `colour` in row `(j, k)`: 0 or 1.
    #[inline]
    pub fn offset(colour: usize, j: usize, k: usize) -> usize {
        (j + k + colour) & 1
    }

    /// Index of half index 0 of the first row in natural order.
    #[inline]
    pub fn natural_row(&self, j: usize, k: usize) -> usize {
        self.n[0] * self.row_number(j, k)
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.n.iter().product()
    }

    /// Is a loop over this grid worth splitting between threads?
    pub fn parallel(&self) -> bool {
        self.cells() >= 1 << 15
    }
}

/// Half indices that a row of one colour spans from its first to past its last active cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub from: u32,
    pub to: u32,
}

impl Span {
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.from as usize..self.to as usize
    }
}

/// Splits `array` into its inner planes and calls `f(k, plane)` for each, on several threads when `layout` is large.
pub(super) fn for_planes<T: Send>(layout: &Layout, array: &mut [T], f: impl Fn(usize, &mut [T]) + Sync) {
    let inner = &mut array[layout.plane..layout.plane * (layout.n[2] + 1)];
    if layout.parallel() {
        inner.par_chunks_exact_mut(layout.plane).enumerate().for_each(|(k, plane)| f(k, plane));
    } else {
        for (k, plane) in inner.chunks_exact_mut(layout.plane).enumerate() {
            f(k, plane);
        }
    }
}

/// As [`for_planes`], and keeps the number that `f` returns for each plane in `partial`.
pub(super) fn reduce_planes<T: Send>(
    layout: &Layout,
    array: &mut [T],
    partial: &mut [f64],
    f: impl Fn(usize, &mut [T]) -> f64 + Sync,
) {
    let inner = &mut array[layout.plane..layout.plane * (layout.n[2] + 1)];
    if layout.parallel() {
        let planes = inner.par_chunks_exact_mut(layout.plane).zip(partial.par_iter_mut()).enumerate();
        planes.for_each(|(k, (plane, sum))| *sum = f(k, plane));
    } else {
        for (k, (plane, sum)) in inner.chunks_exact_mut(layout.plane).zip(partial).enumerate() {
            *sum = f(k, plane);
        }
    }
}
