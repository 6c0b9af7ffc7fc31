//! Dividing work among threads.

use std::ops::Range;

/// Pieces for each thread: enough that one slow piece does not keep the others waiting.
const PIECES_A_THREAD: usize = 4;

/// Number of threads that loops run on.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Calls `work` with ranges that together are `0..count`, each at least `shortest` long (but for what remains), on all threads. Which ranges these are is not
/// determined: `work` must do the same for an index whatever range it comes in.
pub fn run(count: usize, shortest: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let threads = threads();
    if count == 0 {
        return;
    }
    if threads == 1 || count < 2 * shortest.max(1) {
        return work(0..count);
    }
    let piece = shortest.max(count.div_ceil(PIECES_A_THREAD * threads));
    halve(0..count, piece, work);
}

fn halve(range: Range<usize>, piece: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    if range.len() < 2 * piece {
        return work(range);
    }
    let middle = range.start + range.len() / 2;
    rayon::join(|| halve(range.start..middle, piece, work), || halve(middle..range.end, piece, work));
}
