//! Where sequences come from: slices, chunks of slices, ranges of numbers, vectors.

use crate::adaptors::indexed;
use crate::iterator::{Indexed, ParallelIterator};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;

/// What a parallel loop can go over.
pub trait IntoParallelIterator {
    /// The sequence.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// What it gives.
    type Item: Send;

    /// The sequence.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: ParallelIterator> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;

    fn into_par_iter(self) -> I {
        self
    }
}

/// References to the items of a slice.
pub struct Items<'a, T> {
    slice: &'a [T],
}

indexed!(['a, T: Sync] Items<'a, T>, &'a T, |own, place| own.slice.get_unchecked(place), own.slice.len(), 1);

/// Changing references to the items of a slice.
pub struct ItemsMut<'a, T> {
    first: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: every item is handed out at most once, so that threads change different ones.
unsafe impl<T: Send> Sync for ItemsMut<'_, T> {}

indexed!(['a, T: Send] ItemsMut<'a, T>, &'a mut T, |own, place| &mut *own.first.add(place), own.len, 1);

/// Chunks of a slice.
pub struct Chunks<'a, T> {
    slice: &'a [T],
    length: usize,
    count: usize,
}

indexed!(['a, T: Sync] Chunks<'a, T>, &'a [T], |own, place| {
    let first = place * own.length;
    own.slice.get_unchecked(first..(first + own.length).min(own.slice.len()))
}, own.count, 1);

/// Chunks of a slice that may be changed.
pub struct ChunksMut<'a, T> {
    first: *mut T,
    len: usize,
    length: usize,
    count: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: every chunk is handed out at most once, and chunks do not overlap.
unsafe impl<T: Send> Sync for ChunksMut<'_, T> {}

indexed!(['a, T: Send] ChunksMut<'a, T>, &'a mut [T], |own, place| {
    let first = place * own.length;
    std::slice::from_raw_parts_mut(own.first.add(first), own.length.min(own.len - first))
}, own.count, 1);

/// A number that counts.
pub trait WholeNumber: Copy + Send + Sync {
    /// Numbers from `first` to before `end`; zero if it is not after.
    fn between(first: Self, end: Self) -> usize;
    /// `first + steps`, which the caller knows to exist.
    fn after(first: Self, steps: usize) -> Self;
}

macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl WholeNumber for $type {
            #[inline]
            fn between(first: Self, end: Self) -> usize {
                if end > first { end.wrapping_sub(first) as usize } else { 0 }
            }

            #[inline]
            fn after(first: Self, steps: usize) -> Self {
                first.wrapping_add(steps as $type)
            }
        }
    )*};
}
whole_number!(usize, u32, u64, isize, i32, i64);

/// The numbers of a range.
pub struct Span<T> {
    first: T,
    count: usize,
}

/// Short for a range of `usize`.
pub type Number = Span<usize>;

indexed!([T: WholeNumber] Span<T>, T, |own, place| T::after(own.first, place), own.count, 1);

impl<T: WholeNumber> IntoParallelIterator for Range<T> {
    type Iter = Span<T>;
    type Item = T;

    fn into_par_iter(self) -> Span<T> {
        Span { first: self.start, count: T::between(self.start, self.end) }
    }
}

/// The items of a vector, by value. Items that no loop takes are not dropped.
pub struct Owned<T> {
    items: ManuallyDrop<Vec<T>>,
}

// SAFETY: every item is moved out at most once.
unsafe impl<T: Send> Sync for Owned<T> {}

indexed!([T: Send] Owned<T>, T, |own, place| std::ptr::read(own.items.as_ptr().add(place)), own.items.len(), 1);

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the items have been moved out, or leak; only the memory is freed.
        unsafe {
            self.items.set_len(0);
            ManuallyDrop::drop(&mut self.items);
        }
    }
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Iter = Owned<T>;
    type Item = T;

    fn into_par_iter(self) -> Owned<T> {
        Owned { items: ManuallyDrop::new(self) }
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a [T] {
    type Iter = Items<'a, T>;
    type Item = &'a T;

    fn into_par_iter(self) -> Items<'a, T> {
        Items { slice: self }
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a Vec<T> {
    type Iter = Items<'a, T>;
    type Item = &'a T;

    fn into_par_iter(self) -> Items<'a, T> {
        Items { slice: self }
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut [T] {
    type Iter = ItemsMut<'a, T>;
    type Item = &'a mut T;

    fn into_par_iter(self) -> ItemsMut<'a, T> {
        ItemsMut { first: self.as_mut_ptr(), len: self.len(), slice: PhantomData }
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut Vec<T> {
    type Iter = ItemsMut<'a, T>;
    type Item = &'a mut T;

    fn into_par_iter(self) -> ItemsMut<'a, T> {
        self.as_mut_slice().into_par_iter()
    }
}

/// Parallel loops over a slice.
pub trait ParallelSlice<T> {
    /// Over its items.
    fn par_iter(&self) -> Items<'_, T>;
    /// Over chunks of `length` items, the last one maybe shorter.
    ///
    /// # Panics
    /// If `length` is zero.
    fn par_chunks(&self, length: usize) -> Chunks<'_, T>;
}

impl<T: Sync> ParallelSlice<T> for [T] {
    fn par_iter(&self) -> Items<'_, T> {
        Items { slice: self }
    }

    fn par_chunks(&self, length: usize) -> Chunks<'_, T> {
        assert!(length > 0, "chunks of no items");
        Chunks { slice: self, length, count: self.len().div_ceil(length) }
    }
}

/// Parallel loops that change a slice.
pub trait ParallelSliceMut<T> {
    /// Over its items.
    fn par_iter_mut(&mut self) -> ItemsMut<'_, T>;
    /// Over chunks of `length` items, the last one maybe shorter.
    ///
    /// # Panics
    /// If `length` is zero.
    fn par_chunks_mut(&mut self, length: usize) -> ChunksMut<'_, T>;
    /// Over chunks of exactly `length` items; what remains at the end is left out.
    ///
    /// # Panics
    /// If `length` is zero.
    fn par_chunks_exact_mut(&mut self, length: usize) -> ChunksMut<'_, T>;
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    fn par_iter_mut(&mut self) -> ItemsMut<'_, T> {
        self.into_par_iter()
    }

    fn par_chunks_mut(&mut self, length: usize) -> ChunksMut<'_, T> {
        assert!(length > 0, "chunks of no items");
        ChunksMut {
            first: self.as_mut_ptr(),
            len: self.len(),
            length,
            count: self.len().div_ceil(length),
            slice: PhantomData,
        }
    }

    fn par_chunks_exact_mut(&mut self, length: usize) -> ChunksMut<'_, T> {
        assert!(length > 0, "chunks of no items");
        let count = self.len() / length;
        ChunksMut { count, ..self.par_chunks_mut(length) }
    }
}
