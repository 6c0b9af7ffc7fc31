//! The stencil in its two forms, and the row kernels written against it.

use super::layout::{Layout, Span};
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// `f32` inside the preconditioner, `f64` in the outer iteration.
pub(super) trait Real:
    Copy
    + Default
    + Send
    + Sync
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
}

impl Real for f32 {}
impl Real for f64 {}

/// Off-diagonal weights between active cells.
#[derive(Debug, Clone)]
pub(super) enum Weights<T> {
    /// The same for all faces normal to an axis.
    Uniform([T; 3]),
    /// By axis and colour: the upper face of each cell.
    Faces([[Vec<T>; 2]; 3]),
}

/// One row of one colour: where it starts in the padded array, its offset `q` (see [`layout`](super::layout)) and how long it is.
#[derive(Clone, Copy)]
pub(super) struct RowAt {
    pub base: usize,
    pub q: usize,
    pub len: usize,
}

/// Slices of the other colour's array below and above the row along each axis.
#[inline(always)]
fn around<'a, T>(layout: &Layout, other: &'a [T], row: RowAt) -> [[&'a [T]; 2]; 3] {
    let RowAt { base, q, len } = row;
    let at = |start: usize| &other[start..start + len];
    [
        [at(base + q - 1), at(base + q)],
        [at(base - layout.row), at(base + layout.row)],
        [at(base - layout.plane), at(base + layout.plane)],
    ]
}

/// Calls `body(s, sum)` for each cell of a row, where `sum` is the weighted sum of its neighbours' values in `other`.
#[inline(always)]
pub(super) fn neighbor_sums<T: Real>(
    layout: &Layout,
    weights: &Weights<T>,
    colour: usize,
    other: &[T],
    row: RowAt,
    mut body: impl FnMut(usize, T),
) {
    let len = row.len;
    let [[xl, xu], [yl, yu], [zl, zu]] = around(layout, other, row);
    match weights {
        Weights::Uniform([wx, wy, wz]) => {
            for s in 0..len {
                body(s, *wx * (xl[s] + xu[s]) + *wy * (yl[s] + yu[s]) + *wz * (zl[s] + zu[s]));
            }
        }
        Weights::Faces(faces) => {
            // The lower face of a cell is the upper face of its neighbour of the other colour.
            let lower = |axis: usize| around(layout, &faces[axis][1 - colour], row)[axis][0];
            let upper = |axis: usize| &faces[axis][colour][row.base..row.base + len];
            let (wxl, wyl, wzl) = (lower(0), lower(1), lower(2));
            let (wxu, wyu, wzu) = (upper(0), upper(1), upper(2));
            for s in 0..len {
                let x = wxl[s] * xl[s] + wxu[s] * xu[s];
                let y = wyl[s] * yl[s] + wyu[s] * yu[s];
                let z = wzl[s] * zl[s] + wzu[s] * zu[s];
                body(s, x + y + z);
            }
        }
    }
}

/// Calls `body(row, in_plane)` for each row of `colour` of plane `k` that has active cells;
/// `in_plane` is the range of the row within its plane.
#[inline(always)]
pub(super) fn for_rows(
    layout: &Layout,
    spans: &[Span],
    colour: usize,
    k: usize,
    mut body: impl FnMut(RowAt, std::ops::Range<usize>),
) {
    for j in 0..layout.n[1] {
        let span = spans[layout.row_number(j, k)].range();
        if span.is_empty() {
            continue;
        }
        let local = layout.in_plane(j) + span.start;
        let row =
            RowAt { base: (k + 1) * layout.plane + local, q: Layout::offset(colour, j, k), len: span.len() };
        body(row, local..local + row.len);
    }
}

/// Runs `body` compiled for the vector instructions that this processor has. The same operations in the same order, so the same bits: the
/// compiler neither reorders sums nor fuses products and sums.
#[inline(always)]
pub(crate) fn vectorized<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions that `with_avx2` is compiled for.
        return unsafe { with_avx2(body) };
    }
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of one row by the general and by the vector path.
    #[test]
    fn vector_path_gives_the_same_bits() {
        let layout = Layout::new([70, 1, 1]);
        let other: Vec<f32> = (0..layout.len).map(|i| ((i * 7919) % 1013) as f32 / 1013.0 - 0.4).collect();
        let faces = [0, 1, 2].map(|axis| {
            [0, 1]
                .map(|colour| (0..layout.len).map(|i| ((i * 31 + axis + colour) % 17) as f32 / 7.0).collect())
        });
        for weights in [Weights::Uniform([1.0, 0.3, 0.7]), Weights::Faces(faces)] {
            let row = RowAt { base: layout.start(0, 0), q: 1, len: layout.half };
            let sums = || {
                let mut sums = vec![0.0f32; row.len];
                neighbor_sums(&layout, &weights, 0, &other, row, |s, sum| sums[s] = sum);
                sums.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(sums(), vectorized(sums));
        }
    }
}
