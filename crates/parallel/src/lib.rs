//! Parallel loops over slices, vectors and ranges of numbers, with the names that rayon's users know.
//!
//! The loops run on rayon's threads, but what rayon compiles anew for every loop (splitting, stealing, joining) is here compiled once, behind [`run`]: a loop
//! adds its own body only. Rayon's iterators made up half of the machine code of this program, and half of the time it took to build.
//!
//! Results do not depend on the number of threads: items keep their order, and whatever is reduced is cut into the same pieces however many threads there are.
//!
//! What does not live here: sums of floating-point vectors (`splashdown-solve`), which have their own tree.

mod adaptors;
mod iterator;
mod run;
mod sort;
mod sources;
#[cfg(test)]
mod tests;

pub use adaptors::{Copied, Enumerate, Filter, FilterMap, FlatMapIter, Map, MinLen, Zip};
pub use iterator::{Indexed, ParallelIterator, collect_with};
pub use run::{run, threads};
pub use sources::{
    Chunks, ChunksMut, IntoParallelIterator, Items, ItemsMut, Number, Owned, Span, WholeNumber,
};

/// What a file with parallel loops uses.
pub mod prelude {
    pub use crate::sort::ParallelSort as _;
    pub use crate::sources::{ParallelSlice as _, ParallelSliceMut as _};
    pub use crate::{Indexed as _, IntoParallelIterator as _, ParallelIterator as _};
}
