//! Dense kernels of the factor: column-major, lower triangle.

use crate::multigrid::vectorized;
use splashdown_parallel::run;
use std::ops::Range;

/// Columns that are eliminated one by one before their effect on the others is added at once.
const BLOCK: usize = 16;
/// Rows of one tile of a product.
const ROWS: usize = 8;
/// Columns of `A` that are packed at a time, and columns of `C` that share what is packed while it is in the cache.
const DEPTH: usize = 128;
const STRIP: usize = 64;
/// Fewer rows are not worth packing.
const SMALL: usize = 24;
/// Multiplications below which a product stays on one thread.
const SEQUENTIAL: usize = 1 << 19;
/// A pivot that has lost all digits of its diagonal entry counts as none.
const LOST: f64 = 8.0 * f64::EPSILON;

/// Factorises the first `columns` columns of a panel with `height` rows; `diagonal` are the diagonal entries of the matrix.
///
/// # Errors
/// The column whose pivot is not positive.
pub(super) fn factorise_panel(
    panel: &mut [f64],
    height: usize,
    columns: usize,
    diagonal: &[f64],
) -> Result<(), usize> {
    factorise_columns(panel, height, 0..columns, diagonal)
}

/// The columns `range`, to which all earlier ones have been applied: the first half, its effect on the second, the second half.
fn factorise_columns(
    panel: &mut [f64],
    height: usize,
    range: Range<usize>,
    diagonal: &[f64],
) -> Result<(), usize> {
    let Range { start, end } = range;
    if range.len() <= BLOCK {
        return eliminate(&mut panel[start * height..end * height], height, start, &diagonal[range]);
    }
    let middle = start + (range.len() / 2).next_multiple_of(ROWS);
    factorise_columns(panel, height, start..middle, diagonal)?;
    let (done, rest) = panel.split_at_mut(middle * height);
    let factor = Strip { values: &done[start * height + middle..], stride: height, columns: middle - start };
    subtract_product(&mut rest[middle..], height, height - middle, end - middle, factor);
    factorise_columns(panel, height, middle..end, diagonal)
}

/// Eliminates a block of columns, the first of which has its diagonal at row `first`.
fn eliminate(block: &mut [f64], height: usize, first: usize, diagonal: &[f64]) -> Result<(), usize> {
    vectorized(|| {
        for j in 0..diagonal.len() {
            let (column, later) = block[j * height..].split_at_mut(height);
            let pivot = column[first + j];
            if !(pivot > LOST * diagonal[j]) || !pivot.is_finite() {
                return Err(first + j);
            }
            let root = pivot.sqrt();
            column[first + j] = root;
            let scale = 1.0 / root;
            for value in &mut column[first + j + 1..] {
                *value *= scale;
            }
            for (k, other) in later.chunks_exact_mut(height).take(diagonal.len() - j - 1).enumerate() {
                let row = first + j + 1 + k;
                let factor = column[row];
                for (value, own) in other[row..].iter_mut().zip(&column[row..]) {
                    *value -= factor * own;
                }
            }
        }
        Ok(())
    })
}

/// Columns of a panel from some row on: the factor `A` of `A A^T`.
#[derive(Clone, Copy)]
pub(super) struct Strip<'a> {
    /// From the first row of the first column on.
    pub values: &'a [f64],
    /// Distance of columns.
    pub stride: usize,
    /// Their number.
    pub columns: usize,
}

/// `C -= A A^T` for the lower triangle of the first `columns` columns of `C`, which has `rows` rows at the distance `stride`. What is above the diagonal within a
/// tile is changed, too. The same bits for any number of threads.
pub(super) fn subtract_product(c: &mut [f64], stride: usize, rows: usize, columns: usize, a: Strip) {
    if rows < SMALL {
        return vectorized(|| subtract_small(c, stride, rows, columns, a));
    }
    let mut packed = Vec::new();
    for first in (0..a.columns).step_by(DEPTH) {
        let depth = DEPTH.min(a.columns - first);
        pack(&a, first, depth, rows, &mut packed);
        let groups = columns.div_ceil(ROWS);
        // Every task has columns of its own.
        let shared = Shared(c.as_mut_ptr(), c.len());
        let shortest = if rows * columns * depth < SEQUENTIAL { groups } else { STRIP / ROWS };
        run(groups, shortest, &|range| {
            let start = range.start * ROWS * stride;
            let end = (range.end * ROWS * stride).min(shared.1);
            // SAFETY: the ranges of groups do not overlap, so neither do their columns, and all are within `c`.
            let own = unsafe { std::slice::from_raw_parts_mut(shared.at(start), end - start) };
            let (first, end) = (range.start * ROWS, (range.end * ROWS).min(columns));
            for strip in (first..end).step_by(STRIP) {
                let columns = strip..(strip + STRIP).min(end);
                let target = Target { values: &mut own[(strip - first) * stride..], stride, rows, columns };
                subtract_strip(target, &packed, depth);
            }
        });
    }
}

/// Rows of `A` in groups of [`ROWS`], the numbers of a column of a group next to each other; what the last group lacks is zero.
fn pack(a: &Strip, first: usize, depth: usize, rows: usize, packed: &mut Vec<f64>) {
    packed.clear();
    packed.resize(rows.div_ceil(ROWS) * ROWS * depth, 0.0);
    for p in 0..depth {
        let column = &a.values[(first + p) * a.stride..][..rows];
        for (group, values) in column.chunks(ROWS).enumerate() {
            packed[(group * depth + p) * ROWS..][..values.len()].copy_from_slice(values);
        }
    }
}

/// Columns of `C`, from the top of the first of them on.
struct Target<'a> {
    values: &'a mut [f64],
    stride: usize,
    rows: usize,
    columns: Range<usize>,
}

/// The product for the columns of one strip, with the widest vectors that the processor has.
fn subtract_strip(target: Target, packed: &[f64], depth: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the instructions.
            return subtract_tiles::<8>(target, packed, depth, |left, right, _| unsafe {
                x86::tile_512(left, right)
            });
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions.
            return subtract_tiles::<4>(target, packed, depth, |left, right, first| unsafe {
                x86::tile_256(left, right, first)
            });
        }
    }
    subtract_tiles::<4>(target, packed, depth, |left, right, first| {
        let mut sums = [[0.0; ROWS]; 4];
        for (left, right) in left.iter().zip(right) {
            for (sums, right) in sums.iter_mut().zip(&right[first..]) {
                for (sum, left) in sums.iter_mut().zip(left) {
                    *sum += left * right;
                }
            }
        }
        sums
    });
}

/// A group of rows of the packed factor: its columns one after the other.
type Group<'a> = &'a [[f64; ROWS]];

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::ROWS;
    use std::arch::x86_64::*;

    /// Sums of the products of 8 rows with 8 rows.
    #[target_feature(enable = "avx512f")]
    pub(super) fn tile_512(left: &[[f64; ROWS]], right: &[[f64; ROWS]]) -> [[f64; ROWS]; 8] {
        let mut sums = [_mm512_setzero_pd(); 8];
        for (left, right) in left.iter().zip(right) {
            // SAFETY: the array has eight numbers.
            let left = unsafe { _mm512_loadu_pd(left.as_ptr()) };
            for k in 0..8 {
                sums[k] = _mm512_fmadd_pd(left, _mm512_set1_pd(right[k]), sums[k]);
            }
        }
        let mut out = [[0.0; ROWS]; 8];
        for (out, sums) in out.iter_mut().zip(sums) {
            // SAFETY: the array has eight numbers.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr(), sums) };
        }
        out
    }

    /// Sums of the products of 8 rows with 4 of others, from `first` on.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn tile_256(left: &[[f64; ROWS]], right: &[[f64; ROWS]], first: usize) -> [[f64; ROWS]; 4] {
        let (mut low, mut high) = ([_mm256_setzero_pd(); 4], [_mm256_setzero_pd(); 4]);
        for (left, right) in left.iter().zip(right) {
            // SAFETY: the array has eight numbers.
            let (below, above) =
                unsafe { (_mm256_loadu_pd(left.as_ptr()), _mm256_loadu_pd(left.as_ptr().add(4))) };
            for k in 0..4 {
                let factor = _mm256_set1_pd(right[(first + k) % ROWS]);
                low[k] = _mm256_fmadd_pd(below, factor, low[k]);
                high[k] = _mm256_fmadd_pd(above, factor, high[k]);
            }
        }
        let mut out = [[0.0; ROWS]; 4];
        for k in 0..4 {
            // SAFETY: the array has eight numbers.
            unsafe {
                _mm256_storeu_pd(out[k].as_mut_ptr(), low[k]);
                _mm256_storeu_pd(out[k].as_mut_ptr().add(4), high[k]);
            }
        }
        out
    }
}

/// Tiles of [`ROWS`] rows and `COLUMNS` columns: `sums(left, right, first)` are those of the products of the rows of `left` with rows of `right` from `first` on.
#[inline(always)]
fn subtract_tiles<const COLUMNS: usize>(
    target: Target,
    packed: &[f64],
    depth: usize,
    sums: impl Fn(Group, Group, usize) -> [[f64; ROWS]; COLUMNS],
) {
    let Target { values, stride, rows, columns } = target;
    let group = |row: usize| packed[row / ROWS * ROWS * depth..][..ROWS * depth].as_chunks::<ROWS>().0;
    for i in (columns.start / ROWS * ROWS..rows).step_by(ROWS) {
        let left = group(i);
        let high = (rows - i).min(ROWS);
        for j in columns.clone().step_by(COLUMNS).take_while(|&j| j < i + ROWS) {
            let sums = sums(left, group(j), j % ROWS);
            for (k, sums) in sums.iter().enumerate().take(columns.end - j) {
                let column = &mut values[(j - columns.start + k) * stride + i..][..high];
                for (value, sum) in column.iter_mut().zip(sums) {
                    *value -= sum;
                }
            }
        }
    }
}

/// A slice that tasks share, each its own part.
struct Shared(*mut f64, usize);

// SAFETY: tasks make slices of parts that do not overlap.
unsafe impl Sync for Shared {}

impl Shared {
    /// # Safety
    /// `offset` is within the slice.
    unsafe fn at(&self, offset: usize) -> *mut f64 {
        // SAFETY: as the caller promises.
        unsafe { self.0.add(offset) }
    }
}

/// The product without packing, for few rows.
#[inline(always)]
fn subtract_small(c: &mut [f64], stride: usize, rows: usize, columns: usize, a: Strip) {
    for j in 0..columns {
        let (target, _) = c[j * stride..].split_at_mut(rows);
        for p in 0..a.columns {
            let own = &a.values[p * a.stride..][..rows];
            let factor = own[j];
            for (value, own) in target[j..].iter_mut().zip(&own[j..]) {
                *value -= factor * own;
            }
        }
    }
}
