//! Sorting on several threads.

use crate::iterator::ParallelIterator;
use crate::sources::ParallelSliceMut;
use std::cmp::Ordering;

/// Pieces that are sorted by themselves: the same for any number of threads, so that equal items end in the same order.
const PIECES: usize = 8;
/// Below this length one thread sorts.
const SEQUENTIAL: usize = 1 << 14;

/// Sorting of slices.
pub trait ParallelSort<T> {
    /// Ascending; equal items in any, but always the same, order.
    fn par_sort_unstable(&mut self)
    where
        T: Ord;
    /// Ascending by `compare`; equal items in any, but always the same, order.
    fn par_sort_unstable_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync);
    /// Ascending by `key`; equal items in any, but always the same, order.
    fn par_sort_unstable_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K + Sync);
}

impl<T: Send> ParallelSort<T> for [T] {
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        self.par_sort_unstable_by(T::cmp);
    }

    fn par_sort_unstable_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync) {
        if self.len() >= SEQUENTIAL {
            let piece = self.len().div_ceil(PIECES);
            self.par_chunks_mut(piece).for_each(|piece| piece.sort_unstable_by(&compare));
        }
        // Finds the sorted pieces and merges them.
        self.sort_by(compare);
    }

    fn par_sort_unstable_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K + Sync) {
        self.par_sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    }
}
