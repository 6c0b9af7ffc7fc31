//! Numbering of the samples that are unknowns of a linear system.

use super::{Field, Grid, Index, Lattice, Location};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// Marks a sample that is no unknown.
const NONE: u32 = u32::MAX;

/// Flat index map: active samples of a lattice to consecutive unknowns, in the order of the array, and back.
///
/// Linear algebra works on flat vectors; this is rebuilt when the set of active samples changes (spec/fluid-base.md 3.1).
#[derive(Debug, Clone, PartialEq)]
pub struct IndexMap<const D: usize> {
    lattice: Lattice<D>,
    first: u32,
    unknown: Vec<u32>,
    offsets: Vec<u32>,
}

impl<const D: usize> IndexMap<D> {
    /// Numbers the samples proper for which `active` holds, from 0.
    pub fn new(lattice: &Lattice<D>, active: impl Fn(Index<D>) -> bool + Send + Sync) -> Self {
        Self::starting_at(lattice, 0, [false; D], active)
    }

    /// Numbers from `first`; on a periodic axis whose samples lie on the planes between cells the last plane is the first one again.
    fn starting_at(
        lattice: &Lattice<D>,
        first: u32,
        periodic: [bool; D],
        active: impl Fn(Index<D>) -> bool + Send + Sync,
    ) -> Self {
        let repeats = |index: Index<D>| {
            (0..D).any(|a| {
                let last = lattice.counts()[a] as isize - 1;
                periodic[a] && lattice.location().on_planes(a) && index[a] == last && last > 0
            })
        };
        let slabs: Vec<Vec<u32>> = (0..lattice.slabs())
            .into_par_iter()
            .map(|slab| {
                let mut offsets = Vec::new();
                lattice.rows_of_slab(slab as isize, |start| {
                    let mut index = start;
                    for offset in lattice.offset(start)..lattice.offset(start) + lattice.counts()[0] {
                        if active(index) && !repeats(index) {
                            offsets.push(offset as u32);
                        }
                        index[0] += 1;
                    }
                });
                offsets
            })
            .collect();
        let offsets = slabs.concat();
        let mut unknown = vec![NONE; lattice.len()];
        for (number, &offset) in offsets.iter().enumerate() {
            unknown[offset as usize] = first + number as u32;
        }
        for a in (0..D).filter(|&a| periodic[a] && lattice.location().on_planes(a)) {
            for mut index in lattice.indices().filter(|i| i[a] == lattice.counts()[a] as isize - 1) {
                let repeated = lattice.offset(index);
                index[a] = 0;
                unknown[repeated] = unknown[lattice.offset(index)];
            }
        }
        Self { lattice: *lattice, first, unknown, offsets }
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// No unknowns?
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The unknown of the sample at this place of the array.
    #[inline]
    pub fn unknown_at(&self, offset: usize) -> Option<usize> {
        let unknown = self.unknown[offset];
        (unknown != NONE).then_some(unknown as usize)
    }

    /// The unknown of this sample; none for ghosts.
    #[inline]
    pub fn unknown(&self, index: Index<D>) -> Option<usize> {
        self.unknown_at(self.lattice.offset(index))
    }

    /// Place in the array of each unknown, ascending.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Index of each unknown in order.
    pub fn indices(&self) -> impl Iterator<Item = Index<D>> + '_ {
        self.offsets.iter().map(|&offset| self.lattice.index(offset as usize))
    }

    /// Position of each unknown in order (m).
    pub fn positions(&self) -> impl Iterator<Item = Vector<D>> + '_ {
        self.indices().map(|index| self.lattice.position(index))
    }

    /// Copies the unknowns of `field` into the part of the flat vector that is theirs.
    pub fn gather<T: Copy + Send + Sync>(&self, field: &Field<D, T>, flat: &mut [T]) {
        let flat = &mut flat[self.first as usize..self.first as usize + self.len()];
        for (value, &offset) in flat.iter_mut().zip(&self.offsets) {
            *value = field.values()[offset as usize];
        }
    }

    /// Inverse of [`Self::gather`]; samples that are no unknowns stay, periodic images get the value too.
    pub fn scatter<T: Copy + Send + Sync>(&self, flat: &[T], field: &mut Field<D, T>) {
        let values = field.values_mut();
        values.par_iter_mut().zip(&self.unknown).with_min_len(4096).for_each(|(value, &unknown)| {
            if unknown != NONE {
                *value = flat[unknown as usize];
            }
        });
    }
}

/// [`IndexMap`] of the faces of all axes, numbered one axis after the other; a periodic axis has its last plane of faces in common
/// with the first.
#[derive(Debug, Clone, PartialEq)]
pub struct FaceIndexMap<const D: usize> {
    axes: [IndexMap<D>; D],
}

impl<const D: usize> FaceIndexMap<D> {
    /// Numbers the faces for which `active(axis, index)` holds. `ghost` is the number of ghost layers of the face fields.
    pub fn new(
        grid: &Grid<D>,
        ghost: usize,
        periodic: [bool; D],
        active: impl Fn(usize, Index<D>) -> bool + Send + Sync,
    ) -> Self {
        let mut first = 0;
        let axes = std::array::from_fn(|axis| {
            let lattice = grid.lattice(Location::Face(axis), ghost);
            let map = IndexMap::starting_at(&lattice, first, periodic, |index| active(axis, index));
            first += map.len() as u32;
            map
        });
        Self { axes }
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.axes.iter().map(IndexMap::len).sum()
    }

    /// No unknowns?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The faces normal to `axis`; its unknowns are numbered within the whole.
    pub fn axis(&self, axis: usize) -> &IndexMap<D> {
        &self.axes[axis]
    }

    /// The unknown of a face.
    #[inline]
    pub fn unknown(&self, axis: usize, index: Index<D>) -> Option<usize> {
        self.axes[axis].unknown(index)
    }

    /// First unknown of the faces normal to `axis`.
    pub fn first(&self, axis: usize) -> usize {
        self.axes[axis].first as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid<2> {
        Grid::new(Vector::zeros(), Vector::repeat(1.0), [5, 4]).unwrap()
    }

    #[test]
    fn active_cells_are_numbered_in_order_and_survive_a_round_trip() {
        let mut field = Field::from_fn(&grid(), Location::Cell, |x| x[0] + 100.0 * x[1]);
        let map = IndexMap::new(field.lattice(), |i| (i[0] + i[1]) % 2 == 0);
        assert_eq!(map.len(), 10);
        assert_eq!(map.unknown([0, 0]), Some(0));
        assert_eq!(map.unknown([1, 0]), None);
        assert_eq!(map.unknown([-1, 1]), None);
        for (number, index) in map.indices().enumerate() {
            assert_eq!(map.unknown(index), Some(number));
        }
        let mut flat = vec![0.0; map.len()];
        map.gather(&field, &mut flat);
        let before = field.clone();
        flat.iter_mut().for_each(|v| *v += 1.0);
        map.scatter(&flat, &mut field);
        for index in field.lattice().stored_indices() {
            let raised = if map.unknown(index).is_some() { 1.0 } else { 0.0 };
            assert_eq!(field.at(index), before.at(index) + raised);
        }
    }

    #[test]
    fn periodic_faces_share_their_unknown() {
        let map = FaceIndexMap::new(&grid(), 1, [true, false], |_, _| true);
        assert_eq!(map.len(), 5 * 4 + 5 * 5);
        assert_eq!(map.unknown(0, [5, 2]), map.unknown(0, [0, 2]));
        assert_eq!(map.first(1), 20);
        assert_ne!(map.unknown(1, [0, 4]), map.unknown(1, [0, 0]));
        let mut all: Vec<_> = (0..2).flat_map(|a| (0..map.axis(a).len()).map(move |n| (a, n))).collect();
        all.dedup();
        assert_eq!(all.len(), map.len());
    }
}
