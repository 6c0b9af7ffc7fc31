//! What every parallel loop can do.

use crate::adaptors::{Copied, Enumerate, Filter, FilterMap, FlatMapIter, Map, MinLen, Zip};
use crate::run::run;
use crate::sources::IntoParallelIterator;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces into which a loop is cut whose pieces' results are joined: the same for any number of threads.
const PIECES: usize = 64;

/// A sequence of places, each of which gives some items; items of different places may be made on different threads.
pub trait ParallelIterator: Sized + Sync {
    /// What it gives.
    type Item: Send;
    /// Does every place give exactly one item?
    const EXACT: bool;

    /// Number of places.
    fn places(&self) -> usize;

    /// Fewest places worth a task of their own.
    fn shortest(&self) -> usize;

    /// Hands the items of a place to `sink`.
    ///
    /// # Safety
    /// `place` is below [`Self::places`], and no place is asked for twice.
    unsafe fn produce(&self, place: usize, sink: &mut impl FnMut(Self::Item));

    /// Calls `f` with every item.
    fn for_each(self, f: impl Fn(Self::Item) + Sync) {
        run(self.places(), self.shortest(), &|range| {
            for place in range {
                // SAFETY: `run` covers `0..places` once.
                unsafe { self.produce(place, &mut |item| f(item)) };
            }
        });
    }

    /// All items, in order.
    fn collect<C: FromIterator<Self::Item>>(self) -> C {
        let mut out: Vec<Self::Item> = Vec::with_capacity(self.places());
        if Self::EXACT {
            let slots = Slots(out.as_mut_ptr());
            run(self.places(), self.shortest(), &|range| {
                for place in range {
                    // SAFETY: `run` covers `0..places` once; every place gives one item and has a slot of its own within the capacity.
                    unsafe { self.produce(place, &mut |item| slots.at(place).write(item)) };
                }
            });
            // SAFETY: all slots were written; had a place panicked, this line would not be reached (and the items written so far would leak).
            unsafe { out.set_len(self.places()) };
        } else {
            let parts: Vec<Vec<Self::Item>> = pieces(&self, |range, produce| {
                let mut part = Vec::new();
                for place in range {
                    produce(place, &mut |item| part.push(item));
                }
                part
            });
            out.reserve(parts.iter().map(Vec::len).sum());
            out.extend(parts.into_iter().flatten());
        }
        // A vector is taken as it is.
        out.into_iter().collect()
    }

    /// All items joined by `join` from `start`: in order within pieces that do not depend on the number of threads, then piece after piece.
    fn reduce(
        self,
        start: impl Fn() -> Self::Item + Sync,
        join: impl Fn(Self::Item, Self::Item) -> Self::Item + Sync,
    ) -> Self::Item {
        let parts: Vec<Option<Self::Item>> = pieces(&self, |range, produce| {
            let mut sum = Some(start());
            for place in range {
                produce(place, &mut |item| sum = sum.take().map(|sum| join(sum, item)));
            }
            sum
        });
        parts.into_iter().flatten().fold(start(), &join)
    }

    /// Is `holds` true for every item?
    fn all(self, holds: impl Fn(Self::Item) -> bool + Sync) -> bool {
        first(&self, |item| !holds(item)).is_none()
    }

    /// Is `holds` true for any item?
    fn any(self, holds: impl Fn(Self::Item) -> bool + Sync) -> bool {
        first(&self, holds).is_some()
    }

    /// Number of items.
    fn count(self) -> usize {
        self.map(|_| 1usize).reduce(|| 0, |a, b| a + b)
    }

    /// Every item passed through `f`.
    fn map<R: Send, F: Fn(Self::Item) -> R + Sync>(self, f: F) -> Map<Self, F> {
        Map { base: self, f }
    }

    /// Items for which `keep` holds.
    fn filter<F: Fn(&Self::Item) -> bool + Sync>(self, keep: F) -> Filter<Self, F> {
        Filter { base: self, keep }
    }

    /// What `f` makes of items, where it makes something.
    fn filter_map<R: Send, F: Fn(Self::Item) -> Option<R> + Sync>(self, f: F) -> FilterMap<Self, F> {
        FilterMap { base: self, f }
    }

    /// All that `f` makes of every item, one after the other.
    fn flat_map_iter<I, F>(self, f: F) -> FlatMapIter<Self, F>
    where
        I: IntoIterator,
        I::Item: Send,
        F: Fn(Self::Item) -> I + Sync,
    {
        FlatMapIter { base: self, f }
    }

    /// Copies of what references point to.
    fn copied<'a, T: Copy + Send + Sync + 'a>(self) -> Copied<Self>
    where
        Self: ParallelIterator<Item = &'a T>,
    {
        Copied { base: self }
    }
}

/// A sequence with one item at each place.
pub trait Indexed: ParallelIterator {
    /// The item of a place.
    ///
    /// # Safety
    /// As [`ParallelIterator::produce`].
    unsafe fn item(&self, place: usize) -> Self::Item;

    /// Items with their places.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate { base: self }
    }

    /// Pairs of items of the same place, as far as the shorter one goes.
    fn zip<O>(self, other: O) -> Zip<Self, O::Iter>
    where
        O: IntoParallelIterator,
        O::Iter: Indexed,
    {
        Zip { a: self, b: other.into_par_iter() }
    }

    /// At least `shortest` items to a task.
    fn with_min_len(self, shortest: usize) -> MinLen<Self> {
        MinLen { base: self, shortest }
    }

    /// The first place whose item `holds`.
    fn position_first(self, holds: impl Fn(Self::Item) -> bool + Sync) -> Option<usize> {
        first(&self, holds)
    }

    /// The first item that `holds`.
    fn find_first(self, holds: impl Fn(&Self::Item) -> bool + Sync) -> Option<Self::Item>
    where
        Self::Item: Copy,
    {
        let found = self.filter_map(|item| holds(&item).then_some(item));
        found.map(Some).reduce(|| None, |a, b| a.or(b))
    }

    /// Both halves of pairs, each in order.
    fn unzip<A: Send, B: Send>(self) -> (Vec<A>, Vec<B>)
    where
        Self: ParallelIterator<Item = (A, B)>,
    {
        self.collect::<Vec<(A, B)>>().into_iter().unzip()
    }
}

/// What `make` makes of `0..count`, in order, with a scratch of `init` for each task (which must not show in the results).
pub fn collect_with<S, R: Send>(
    count: usize,
    init: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, usize) -> R + Sync,
) -> Vec<R> {
    let mut out: Vec<R> = Vec::with_capacity(count);
    let slots = Slots(out.as_mut_ptr());
    run(count, 1, &|range| {
        let mut scratch = init();
        for place in range {
            // SAFETY: `run` covers `0..count` once, and every place has its own slot.
            unsafe { slots.at(place).write(make(&mut scratch, place)) };
        }
    });
    // SAFETY: all places were written.
    unsafe { out.set_len(count) };
    out
}

/// The first place with an item that `holds`; later places are left out once an earlier one is known.
fn first<I: ParallelIterator>(items: &I, holds: impl Fn(I::Item) -> bool + Sync) -> Option<usize> {
    let best = AtomicUsize::new(usize::MAX);
    run(items.places(), items.shortest(), &|range| {
        for place in range {
            if place >= best.load(Ordering::Relaxed) {
                return;
            }
            // SAFETY: `run` covers `0..places` once.
            unsafe {
                items.produce(place, &mut |item| {
                    if holds(item) {
                        best.fetch_min(place, Ordering::Relaxed);
                    }
                });
            }
        }
    });
    Some(best.into_inner()).filter(|&place| place != usize::MAX)
}

/// What `make` makes of the pieces of a sequence, in order.
fn pieces<I: ParallelIterator, R: Send>(
    items: &I,
    make: impl Fn(Range<usize>, &dyn Fn(usize, &mut dyn FnMut(I::Item))) -> R + Sync,
) -> Vec<R> {
    let places = items.places();
    let length = places.div_ceil(PIECES).max(items.shortest()).max(1);
    let count = places.div_ceil(length);
    let mut out: Vec<R> = Vec::with_capacity(count);
    let slots = Slots(out.as_mut_ptr());
    run(count, 1, &|range| {
        for piece in range {
            let places = piece * length..((piece + 1) * length).min(places);
            // SAFETY: `run` covers the pieces once, and the pieces cover the places once; every piece has its own slot.
            unsafe {
                let produce = |place: usize, sink: &mut dyn FnMut(I::Item)| {
                    items.produce(place, &mut |item| sink(item));
                };
                slots.at(piece).write(make(places, &produce));
            }
        }
    });
    // SAFETY: all pieces were written.
    unsafe { out.set_len(count) };
    out
}

/// Places of a vector that threads write to, each its own.
struct Slots<T>(*mut T);

// SAFETY: used only to write values that may be sent, each slot by one thread.
unsafe impl<T: Send> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// # Safety
    /// `place` is within the capacity.
    unsafe fn at(&self, place: usize) -> *mut T {
        // SAFETY: as the caller promises.
        unsafe { self.0.add(place) }
    }
}
