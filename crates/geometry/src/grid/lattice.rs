//! Where the samples of a field sit and how they are numbered.

use super::{Grid, MAX_GHOST_LAYERS};
use crate::bounds::Aabb;
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// Number of a cell, face or node on each axis; negative in the ghost layers.
pub type Index<const D: usize> = [isize; D];

/// Which part of the cells carries the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// Cell centres.
    Cell,
    /// Cell corners: one more than cells on every axis.
    Node,
    /// Centres of the faces normal to this axis: face `i` lies between cells `i - 1` and `i`.
    Face(usize),
}

impl Location {
    /// Do the samples lie on the planes between cells on this axis, rather than half way between the planes?
    pub fn on_planes(self, axis: usize) -> bool {
        match self {
            Self::Cell => false,
            Self::Node => true,
            Self::Face(normal) => normal == axis,
        }
    }
}

/// All samples of one [`Location`]: positions, counts, ghost layers, and the layout of the array (axis 0 fastest, ghosts included).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lattice<const D: usize> {
    location: Location,
    origin: Vector<D>,
    spacing: Vector<D>,
    counts: [usize; D],
    ghost: usize,
    strides: [usize; D],
    first: usize,
}

impl<const D: usize> Lattice<D> {
    pub(super) fn new(grid: &Grid<D>, location: Location, ghost: usize) -> Self {
        assert!(ghost <= MAX_GHOST_LAYERS, "{ghost} ghost layers, at most {MAX_GHOST_LAYERS}");
        if let Location::Face(axis) = location {
            assert!(axis < D, "faces normal to axis {axis} in {D} dimensions");
        }
        let on_planes = |a: usize| location.on_planes(a);
        let counts: [usize; D] = std::array::from_fn(|a| grid.cells[a] + usize::from(on_planes(a)));
        let origin =
            Vector::from_fn(|a, _| grid.origin[a] + if on_planes(a) { 0.0 } else { 0.5 * grid.spacing[a] });
        let mut strides = [1; D];
        for a in 1..D {
            strides[a] = strides[a - 1] * (counts[a - 1] + 2 * ghost);
        }
        let first = strides.iter().map(|stride| stride * ghost).sum();
        Self { location, origin, spacing: grid.spacing, counts, ghost, strides, first }
    }

    /// Which part of the cells carries the samples.
    pub fn location(&self) -> Location {
        self.location
    }

    /// Position of sample 0 (m).
    pub fn origin(&self) -> Vector<D> {
        self.origin
    }

    /// Distance between samples (m).
    pub fn spacing(&self) -> Vector<D> {
        self.spacing
    }

    /// Samples on each axis without ghosts.
    pub fn counts(&self) -> [usize; D] {
        self.counts
    }

    /// Number of samples without ghosts.
    pub fn count(&self) -> usize {
        self.counts.iter().product()
    }

    /// Ghost layers on every side.
    pub fn ghost(&self) -> usize {
        self.ghost
    }

    /// Length of the array, ghosts included.
    pub fn len(&self) -> usize {
        self.strides[D - 1] * (self.counts[D - 1] + 2 * self.ghost)
    }

    /// A lattice has at least one sample.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Distance in the array between neighbours on each axis.
    pub fn strides(&self) -> [usize; D] {
        self.strides
    }

    /// Place of the sample in the array.
    #[inline]
    pub fn offset(&self, index: Index<D>) -> usize {
        debug_assert!(self.stores(index), "{index:?} outside {:?} + {}", self.counts, self.ghost);
        let mut offset = self.first as isize;
        for a in 0..D {
            offset += index[a] * self.strides[a] as isize;
        }
        offset as usize
    }

    /// Inverse of [`Self::offset`].
    #[inline]
    pub fn index(&self, offset: usize) -> Index<D> {
        let mut rest = offset;
        let mut index = [0; D];
        for a in (0..D).rev() {
            index[a] = (rest / self.strides[a]) as isize - self.ghost as isize;
            rest %= self.strides[a];
        }
        index
    }

    /// Is it a sample proper, not a ghost?
    #[inline]
    pub fn contains(&self, index: Index<D>) -> bool {
        (0..D).all(|a| index[a] >= 0 && (index[a] as usize) < self.counts[a])
    }

    /// Is it a sample or a ghost?
    #[inline]
    pub fn stores(&self, index: Index<D>) -> bool {
        let g = self.ghost as isize;
        (0..D).all(|a| index[a] >= -g && index[a] < self.counts[a] as isize + g)
    }

    /// Position of the sample (m).
    #[inline]
    pub fn position(&self, index: Index<D>) -> Vector<D> {
        Vector::from_fn(|a, _| self.origin[a] + index[a] as f64 * self.spacing[a])
    }

    /// `point` in units of the spacing from sample 0.
    #[inline]
    pub fn local(&self, point: &Vector<D>) -> Vector<D> {
        Vector::from_fn(|a, _| (point[a] - self.origin[a]) / self.spacing[a])
    }

    /// The box spanned by the samples proper.
    pub fn hull(&self) -> Aabb<D> {
        Aabb { min: self.origin, max: self.position(self.counts.map(|n| n as isize - 1)) }
    }

    /// Indices of all samples proper, axis 0 fastest.
    pub fn indices(&self) -> impl Iterator<Item = Index<D>> + use<D> {
        box_indices([0; D], self.counts.map(|n| n as isize))
    }

    /// Indices of all samples and ghosts, axis 0 fastest.
    pub fn stored_indices(&self) -> impl Iterator<Item = Index<D>> + use<D> {
        let g = self.ghost as isize;
        box_indices([-g; D], self.counts.map(|n| n as isize + g))
    }

    /// Calls `visit` with the first index of each row of samples proper (a run of `counts()[0]` along axis 0) in the slab
    /// `index[D - 1] == slab`.
    #[inline]
    pub fn rows_of_slab(&self, slab: isize, mut visit: impl FnMut(Index<D>)) {
        let mut first = [0; D];
        first[D - 1] = slab;
        if D <= 2 {
            visit(first);
        } else {
            for j in 0..self.counts[1] as isize {
                first[1] = j;
                visit(first);
            }
        }
    }

    /// Number of slabs, the unit of parallel work: samples on the slowest axis.
    #[inline]
    pub fn slabs(&self) -> usize {
        self.counts[D - 1]
    }
}

/// All indices `low <= index < high`, axis 0 fastest.
pub fn box_indices<const D: usize>(low: Index<D>, high: Index<D>) -> impl Iterator<Item = Index<D>> + use<D> {
    let mut next = (0..D).all(|a| low[a] < high[a]).then_some(low);
    std::iter::from_fn(move || {
        let current = next?;
        let mut following = current;
        next = (0..D).find_map(|a| {
            following[a] += 1;
            if following[a] < high[a] {
                return Some(following);
            }
            following[a] = low[a];
            None
        });
        Some(current)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_number_the_array_in_order() {
        let grid = Grid::<3>::new(Vector::zeros(), Vector::from([0.1, 0.2, 0.3]), [3, 4, 5]).unwrap();
        for location in [Location::Cell, Location::Node, Location::Face(1)] {
            let lattice = grid.lattice(location, 2);
            let indices: Vec<_> = lattice.stored_indices().collect();
            assert_eq!(indices.len(), lattice.len());
            for (offset, &index) in indices.iter().enumerate() {
                assert_eq!(lattice.offset(index), offset);
                assert_eq!(lattice.index(offset), index);
            }
            assert_eq!(lattice.indices().filter(|&i| lattice.contains(i)).count(), lattice.count());
        }
    }

    #[test]
    fn samples_sit_where_their_location_says() {
        let grid = Grid::<2>::new(Vector::from([1.0, 2.0]), Vector::from([0.5, 0.25]), [4, 4]).unwrap();
        let at = |location| grid.lattice(location, 0).position([1, 2]);
        assert_eq!(at(Location::Cell), Vector::from([1.75, 2.625]));
        assert_eq!(at(Location::Node), Vector::from([1.5, 2.5]));
        assert_eq!(at(Location::Face(0)), Vector::from([1.5, 2.625]));
        assert_eq!(grid.lattice(Location::Face(0), 0).counts(), [5, 4]);
    }
}
