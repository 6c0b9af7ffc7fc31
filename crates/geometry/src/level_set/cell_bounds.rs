//! Range of `phi` between neighbouring samples, for quick rejection.

use crate::grid::Field;
use splashdown_math::Vector;

/// Smallest and largest corner value of each dual cell (between samples `i` and `i + 1`), rounded outwards to single precision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CellBounds<const D: usize> {
    counts: [usize; D],
    ranges: Vec<[f32; 2]>,
}

impl<const D: usize> CellBounds<D> {
    pub(super) fn new(phi: &Field<D>) -> Self {
        use splashdown_parallel::prelude::*;
        let lattice = phi.lattice();
        let counts = lattice.counts().map(|n| n - 1);
        let (strides, values) = (lattice.strides(), phi.values());
        let total: usize = counts.iter().product();
        let mut ranges = vec![[0.0; 2]; total];
        if total == 0 {
            return Self { counts, ranges };
        }
        let rows_per_task = (4096 / counts[0]).max(1);
        ranges.par_chunks_mut(counts[0]).with_min_len(rows_per_task).enumerate().for_each(|(row, ranges)| {
            let mut rest = row;
            let mut index = [0; D];
            for a in 1..D {
                index[a] = (rest % counts[a]) as isize;
                rest /= counts[a];
            }
            let first = lattice.offset(index);
            // Range over the samples that share the place `i` on axis 0; a cell joins two of them.
            let column = |i: usize| {
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for corner in 0..1usize << (D - 1) {
                    let place =
                        first + i + (1..D).map(|a| (corner >> (a - 1) & 1) * strides[a]).sum::<usize>();
                    low = low.min(values[place]);
                    high = high.max(values[place]);
                }
                (low, high)
            };
            let mut last = column(0);
            for (i, range) in ranges.iter_mut().enumerate() {
                let next = column(i + 1);
                *range = [(last.0.min(next.0) as f32).next_down(), (last.1.max(next.1) as f32).next_up()];
                last = next;
            }
        });
        Self { counts, ranges }
    }

    /// Range of the multi-linear interpolant in the dual cell that holds `local` (spacings from sample 0); `None` outside.
    #[inline]
    pub(super) fn at(&self, local: &Vector<D>) -> Option<[f64; 2]> {
        let (mut cell, mut stride) = (0, 1);
        for a in 0..D {
            // NaN is in no range.
            if !(0.0..self.counts[a] as f64).contains(&local[a]) {
                return None;
            }
            cell += local[a] as usize * stride;
            stride *= self.counts[a];
        }
        let [low, high] = self.ranges[cell];
        Some([low.into(), high.into()])
    }
}
