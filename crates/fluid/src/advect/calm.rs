//! Where nothing can change: blocks of samples that have one and the same value for as far around as a path may lead.
//!
//! Air far from a liquid, gas that no smoke has reached: there the transported value is the old one exactly, so the loops pass over such blocks.

use splashdown_geometry::grid::{Field, Index, Lattice};
use splashdown_parallel::prelude::*;

/// Samples along the edge of a block.
const EDGE: usize = 8;

/// The blocks of a field's stored samples, ghosts included, that stay as they are.
pub(super) struct Calm<const D: usize> {
    counts: [usize; D],
    ghost: usize,
    still: Vec<bool>,
}

impl<const D: usize> Calm<D> {
    /// `reach` is how many samples away along each axis anything can come from in the whole operation; `wraps` the periodic axes.
    pub fn new(field: &Field<D>, reach: [f64; D], wraps: [bool; D]) -> Self {
        let lattice = field.lattice();
        let stored: [usize; D] = std::array::from_fn(|a| lattice.counts()[a] + 2 * lattice.ghost());
        let counts = stored.map(|n| n.div_ceil(EDGE));
        let total: usize = counts.iter().product();
        let mut calm = Self { counts, ghost: lattice.ghost(), still: Vec::new() };
        if reach.iter().any(|r| !(*r < 1e6)) {
            calm.still = vec![false; total];
            return calm;
        }
        // The one value of each block, if there is one.
        let values: Vec<Option<u64>> = (0..total)
            .into_par_iter()
            .with_min_len(16)
            .map(|number| one_value(field, stored, calm.block(number)))
            .collect();
        let blocks = reach.map(|r| (r.ceil() as usize + 1).div_ceil(EDGE));
        calm.still = (0..total)
            .into_par_iter()
            .with_min_len(256)
            .map(|number| {
                let value = values[number];
                value.is_some() && calm.surroundings_are(&values, value, calm.block(number), blocks, wraps)
            })
            .collect();
        calm
    }

    fn block(&self, mut number: usize) -> [usize; D] {
        std::array::from_fn(|a| {
            let at = number % self.counts[a];
            number /= self.counts[a];
            at
        })
    }

    fn number(&self, block: [usize; D]) -> usize {
        (0..D).rev().fold(0, |number, a| number * self.counts[a] + block[a])
    }

    fn surroundings_are(
        &self,
        values: &[Option<u64>],
        value: Option<u64>,
        block: [usize; D],
        reach: [usize; D],
        wraps: [bool; D],
    ) -> bool {
        let (mut low, mut high) = (block, block);
        for a in 0..D {
            // Paths that wrap lead to blocks that are not neighbours.
            if wraps[a] && (block[a] < reach[a] || block[a] + reach[a] >= self.counts[a]) {
                return false;
            }
            low[a] = block[a].saturating_sub(reach[a]);
            high[a] = (block[a] + reach[a]).min(self.counts[a] - 1);
        }
        let mut at = low;
        loop {
            if values[self.number(at)] != value {
                return false;
            }
            let Some(axis) = (0..D).find(|&a| at[a] < high[a]) else { return true };
            at[axis] += 1;
            at[..axis].copy_from_slice(&low[..axis]);
        }
    }

    /// Calls `visit(first index, its place, length, still)` for the pieces of one slab (`index[D - 1]` is `slab`) of samples proper.
    #[inline(always)]
    pub fn pieces(
        &self,
        lattice: &Lattice<D>,
        slab: isize,
        mut visit: impl FnMut(Index<D>, usize, usize, bool),
    ) {
        let row_end = lattice.counts()[0] as isize;
        lattice.rows_of_slab(slab, |first| {
            let mut block: [usize; D] = std::array::from_fn(|a| (first[a] as usize + self.ghost) / EDGE);
            let (mut index, row) = (first, lattice.offset(first));
            while index[0] < row_end {
                block[0] = (index[0] as usize + self.ghost) / EDGE;
                let next = ((block[0] + 1) * EDGE) as isize - self.ghost as isize;
                let length = next.min(row_end) - index[0];
                let still = self.still[self.number(block)];
                visit(index, row + index[0] as usize, length as usize, still);
                index[0] += length;
            }
        });
    }
}

/// The bits of the value that all samples of a block have.
fn one_value<const D: usize>(field: &Field<D>, stored: [usize; D], block: [usize; D]) -> Option<u64> {
    let (values, strides) = (field.values(), field.lattice().strides());
    let low = block.map(|b| b * EDGE);
    let high: [usize; D] = std::array::from_fn(|a| (low[a] + EDGE).min(stored[a]));
    let place = |at: [usize; D]| (0..D).map(|a| at[a] * strides[a]).sum::<usize>();
    let first = values[place(low)].to_bits();
    let mut at = low;
    loop {
        let row = place(at);
        if values[row..row + high[0] - low[0]].iter().any(|v| v.to_bits() != first) {
            return None;
        }
        let Some(axis) = (1..D).find(|&a| at[a] + 1 < high[a]) else { return Some(first) };
        at[axis] += 1;
        at[1..axis].copy_from_slice(&low[1..axis]);
    }
}
