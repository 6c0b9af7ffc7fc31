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
        use rayon::prelude::*;
        let lattice = phi.lattice();
        let counts = lattice.counts().map(|n| n - 1);
        let strides = lattice.strides();
        let total: usize = counts.iter().product();
        let range = |cell: usize| {
            let mut rest = cell;
            let mut index = [0; D];
            for a in 0..D {
                index[a] = (rest % counts[a]) as isize;
                rest /= counts[a];
            }
            let first = lattice.offset(index);
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for corner in 0..1usize << D {
                let place = first + (0..D).map(|a| (corner >> a & 1) * strides[a]).sum::<usize>();
                low = low.min(phi.values()[place]);
                high = high.max(phi.values()[place]);
            }
            [(low as f32).next_down(), (high as f32).next_up()]
        };
        Self { counts, ranges: (0..total).into_par_iter().with_min_len(4096).map(range).collect() }
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
