//! Sequences made of other sequences.

use crate::iterator::{Indexed, ParallelIterator};

/// See [`ParallelIterator::map`].
pub struct Map<I, F> {
    pub(crate) base: I,
    pub(crate) f: F,
}

impl<I: ParallelIterator, R: Send, F: Fn(I::Item) -> R + Sync> ParallelIterator for Map<I, F> {
    type Item = R;
    const EXACT: bool = I::EXACT;

    fn places(&self) -> usize {
        self.base.places()
    }

    fn shortest(&self) -> usize {
        self.base.shortest()
    }

    #[inline]
    unsafe fn produce(&self, place: usize, sink: &mut impl FnMut(R)) {
        // SAFETY: as the caller promises.
        unsafe { self.base.produce(place, &mut |item| sink((self.f)(item))) }
    }
}

impl<I: Indexed, R: Send, F: Fn(I::Item) -> R + Sync> Indexed for Map<I, F> {
    #[inline]
    unsafe fn item(&self, place: usize) -> R {
        // SAFETY: as the caller promises.
        (self.f)(unsafe { self.base.item(place) })
    }
}

/// See [`ParallelIterator::filter`].
pub struct Filter<I, F> {
    pub(crate) base: I,
    pub(crate) keep: F,
}

impl<I: ParallelIterator, F: Fn(&I::Item) -> bool + Sync> ParallelIterator for Filter<I, F> {
    type Item = I::Item;
    const EXACT: bool = false;

    fn places(&self) -> usize {
        self.base.places()
    }

    fn shortest(&self) -> usize {
        self.base.shortest()
    }

    #[inline]
    unsafe fn produce(&self, place: usize, sink: &mut impl FnMut(I::Item)) {
        let mut kept = |item: I::Item| {
            if (self.keep)(&item) {
                sink(item);
            }
        };
        // SAFETY: as the caller promises.
        unsafe { self.base.produce(place, &mut kept) }
    }
}

/// See [`ParallelIterator::filter_map`].
pub struct FilterMap<I, F> {
    pub(crate) base: I,
    pub(crate) f: F,
}

impl<I: ParallelIterator, R: Send, F: Fn(I::Item) -> Option<R> + Sync> ParallelIterator for FilterMap<I, F> {
    type Item = R;
    const EXACT: bool = false;

    fn places(&self) -> usize {
        self.base.places()
    }

    fn shortest(&self) -> usize {
        self.base.shortest()
    }

    #[inline]
    unsafe fn produce(&self, place: usize, sink: &mut impl FnMut(R)) {
        let mut made = |item: I::Item| {
            if let Some(item) = (self.f)(item) {
                sink(item);
            }
        };
        // SAFETY: as the caller promises.
        unsafe { self.base.produce(place, &mut made) }
    }
}

/// See [`ParallelIterator::flat_map_iter`].
pub struct FlatMapIter<I, F> {
    pub(crate) base: I,
    pub(crate) f: F,
}

impl<I, R, F> ParallelIterator for FlatMapIter<I, F>
where
    I: ParallelIterator,
    R: IntoIterator,
    R::Item: Send,
    F: Fn(I::Item) -> R + Sync,
{
    type Item = R::Item;
    const EXACT: bool = false;

    fn places(&self) -> usize {
        self.base.places()
    }

    fn shortest(&self) -> usize {
        self.base.shortest()
    }

    #[inline]
    unsafe fn produce(&self, place: usize, sink: &mut impl FnMut(R::Item)) {
        // SAFETY: as the caller promises.
        unsafe { self.base.produce(place, &mut |item| (self.f)(item).into_iter().for_each(&mut *sink)) }
    }
}

/// See [`ParallelIterator::copied`].
pub struct Copied<I> {
    pub(crate) base: I,
}

impl<'a, T: Copy + Send + Sync + 'a, I: ParallelIterator<Item = &'a T>> ParallelIterator for Copied<I> {
    type Item = T;
    const EXACT: bool = I::EXACT;

    fn places(&self) -> usize {
        self.base.places()
    }

    fn shortest(&self) -> usize {
        self.base.shortest()
    }

    #[inline]
    unsafe fn produce(&self, place: usize, sink: &mut impl FnMut(T)) {
        // SAFETY: as the caller promises.
        unsafe { self.base.produce(place, &mut |item| sink(*item)) }
    }
}

impl<'a, T: Copy + Send + Sync + 'a, I: Indexed<Item = &'a T>> Indexed for Copied<I> {
    #[inline]
    unsafe fn item(&self, place: usize) -> T {
        // SAFETY: as the caller promises.
        *unsafe { self.base.item(place) }
    }
}

/// An indexed sequence whose `produce` hands over its one item.
macro_rules! indexed {
    ([$($bounds:tt)*] $type:ty, $item:ty, |$self:ident, $place:ident| $value:expr, $places:expr, $shortest:expr) => {
        impl<$($bounds)*> ParallelIterator for $type {
            type Item = $item;
            const EXACT: bool = true;

            fn places(&self) -> usize {
                let $self = self;
                $places
            }

            fn shortest(&self) -> usize {
                let $self = self;
                let _ = $self;
                $shortest
            }

            #[inline]
            unsafe fn produce(&self, place: usize, sink: &mut impl FnMut($item)) {
                // SAFETY: as the caller promises.
                sink(unsafe { self.item(place) });
            }
        }

        impl<$($bounds)*> Indexed for $type {
            #[inline]
            unsafe fn item(&self, $place: usize) -> $item {
                let $self = self;
                #[allow(unused_unsafe)]
                // SAFETY: as the caller promises.
                unsafe {
                    $value
                }
            }
        }
    };
}
pub(crate) use indexed;

/// See [`Indexed::enumerate`].
pub struct Enumerate<I> {
    pub(crate) base: I,
}

indexed!([I: Indexed] Enumerate<I>, (usize, I::Item), |own, place| (place, own.base.item(place)), own.base.places(), own.base.shortest());

/// See [`Indexed::zip`].
pub struct Zip<A, B> {
    pub(crate) a: A,
    pub(crate) b: B,
}

indexed!([A: Indexed, B: Indexed] Zip<A, B>, (A::Item, B::Item), |own, place| (own.a.item(place), own.b.item(place)),
    own.a.places().min(own.b.places()), own.a.shortest().max(own.b.shortest()));

/// See [`Indexed::with_min_len`].
pub struct MinLen<I> {
    pub(crate) base: I,
    pub(crate) shortest: usize,
}

indexed!([I: Indexed] MinLen<I>, I::Item, |own, place| own.base.item(place), own.base.places(), own.shortest.max(own.base.shortest()));
