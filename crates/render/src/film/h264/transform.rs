//! Transforms of blocks of 4 x 4 and their quantisation (clause 8.5).

use super::cavlc::LARGEST;

/// A block of 4 x 4, row by row.
pub(super) type Block = [i32; 16];

/// Place of each coefficient of the scan (figure 8-8 a).
pub(super) const SCAN: [usize; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// Factors of quantisation by `qp % 6` for places (even, even), (odd, odd) and others: `2^21` over the step and the gain of the transform.
const QUANTISE: [[i32; 3]; 6] = [
    [13107, 5243, 8066],
    [11916, 4660, 7490],
    [10082, 4194, 6554],
    [9362, 3647, 5825],
    [8192, 3355, 5243],
    [7282, 2893, 4559],
];

/// Factors of the way back (equation 8-315).
const SCALE: [[i32; 3]; 6] =
    [[10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23]];

fn kind(place: usize) -> usize {
    match (place / 4 % 2, place % 2) {
        (0, 0) => 0,
        (1, 1) => 1,
        _ => 2,
    }
}

/// How coarse: parameter of quantisation, and where rounding starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantiser {
    rest: usize,
    shift: u32,
    /// Share of a step that is added before rounding down, as `2^shift` over this.
    dead: i32,
}

impl Quantiser {
    pub fn new(qp: u8, intra: bool) -> Self {
        Self { rest: (qp % 6).into(), shift: u32::from(qp / 6), dead: if intra { 3 } else { 6 } }
    }

    fn level(&self, value: i32, factor: i32, more: u32) -> i32 {
        let bits = 15 + self.shift + more;
        let size = (i64::from(value.abs()) * i64::from(factor) + (1 << bits) / i64::from(self.dead)) >> bits;
        (size.min(LARGEST.into()) as i32) * value.signum()
    }

    /// Levels in the order of the scan.
    pub fn levels(&self, coefficients: &Block) -> Block {
        SCAN.map(|place| self.level(coefficients[place], QUANTISE[self.rest][kind(place)], 0))
    }

    /// Levels of transformed means (luma, or chroma with `LEN` 4).
    pub fn mean_levels<const LEN: usize>(&self, means: [i32; LEN]) -> [i32; LEN] {
        means.map(|mean| self.level(mean, QUANTISE[self.rest][0], 1))
    }

    /// Coefficients from levels in the order of the scan.
    pub fn coefficients(&self, levels: &Block) -> Block {
        let mut block = [0; 16];
        for (&place, &level) in SCAN.iter().zip(levels) {
            block[place] = (level * SCALE[self.rest][kind(place)]) << self.shift;
        }
        block
    }

    /// Equations 8-321 and 8-322.
    pub fn luma_means(&self, transformed: Block) -> Block {
        let factor = SCALE[self.rest][0];
        transformed.map(|value| match self.shift {
            2.. => (value * factor) << (self.shift - 2),
            shift => (value * factor + (1 << (1 - shift))) >> (2 - shift),
        })
    }

    /// Equation 8-330.
    pub fn chroma_means(&self, transformed: [i32; 4]) -> [i32; 4] {
        transformed.map(|value| ((value * SCALE[self.rest][0]) << self.shift) >> 1)
    }
}

/// Parameter of chroma for that of luma (table 8-15).
pub(super) fn chroma_qp(qp: u8) -> u8 {
    const FROM_30: [u8; 22] =
        [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39];
    if qp < 30 { qp } else { FROM_30[usize::from(qp - 30).min(21)] }
}

/// `f` on the rows, then on the columns.
fn both_ways(block: &Block, f: impl Fn([i32; 4]) -> [i32; 4]) -> Block {
    let mut half = [0; 16];
    for row in 0..4 {
        let line = f([0, 1, 2, 3].map(|k| block[4 * row + k]));
        (0..4).for_each(|k| half[4 * row + k] = line[k]);
    }
    let mut out = [0; 16];
    for column in 0..4 {
        let line = f([0, 1, 2, 3].map(|k| half[4 * k + column]));
        (0..4).for_each(|k| out[4 * k + column] = line[k]);
    }
    out
}

/// The transform whose inverse is [`inverse`], but for the scaling that quantisation includes.
pub(super) fn forward(residual: &Block) -> Block {
    both_ways(residual, |[a, b, c, d]| {
        let (s, t, u, v) = (a + d, b + c, b - c, a - d);
        [s + t, 2 * v + u, s - t, v - 2 * u]
    })
}

/// Clause 8.5.12.2.
pub(super) fn inverse(coefficients: &Block) -> Block {
    let sums = both_ways(coefficients, |[a, b, c, d]| {
        let (s, t, u, v) = (a + c, a - c, (b >> 1) - d, b + (d >> 1));
        [s + v, t + u, t - u, s - v]
    });
    sums.map(|sum| (sum + 32) >> 6)
}

/// Walsh-Hadamard of 16 means: its own inverse but for a factor.
pub(super) fn hadamard(block: &Block) -> Block {
    both_ways(block, |[a, b, c, d]| {
        let (s, t, u, v) = (a + b, a - b, c + d, c - d);
        [s + u, s - u, t - v, t + v]
    })
}

pub(super) fn hadamard_2([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u32) -> Block {
        let mut x = seed;
        std::array::from_fn(|_| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 23) as i32 - 256
        })
    }

    /// What comes back differs by at most the step of the quantisation, which doubles every six parameters from 0.625.
    #[test]
    fn blocks_come_back_within_the_step() {
        for qp in [12, 17, 23, 28, 35] {
            let step = 0.625 * 2f64.powf(f64::from(qp) / 6.0);
            let quantiser = Quantiser::new(qp, true);
            for seed in 0..50 {
                let block = noise(seed);
                let levels = quantiser.levels(&forward(&block));
                let back = inverse(&quantiser.coefficients(&levels));
                let worst = block.iter().zip(back).map(|(a, b)| (a - b).abs()).max().unwrap();
                assert!(f64::from(worst) <= 2.0 * step + 1.0, "qp {qp}: {worst} with steps of {step}");
            }
        }
    }

    #[test]
    fn means_come_back() {
        for qp in [6, 14, 23, 31] {
            let quantiser = Quantiser::new(qp, true);
            let step = 0.625 * 2f64.powf(f64::from(qp) / 6.0);
            for seed in 0..50 {
                let means = noise(seed);
                // As the first coefficients of blocks of that constant value: 16 times it.
                let first = means.map(|mean| 16 * mean);
                let levels = quantiser.mean_levels(hadamard(&first).map(|value| (value + 1) >> 1));
                let back = quantiser.luma_means(hadamard(&levels)).map(|value| (value + 32) >> 6);
                let worst = means.iter().zip(back).map(|(a, b)| (a - b).abs()).max().unwrap();
                assert!(f64::from(worst) <= step + 1.0, "qp {qp}: {worst}");
                let four: [i32; 4] = std::array::from_fn(|k| means[k]);
                let levels = quantiser.mean_levels(hadamard_2(four.map(|mean| 16 * mean)));
                let back = quantiser.chroma_means(hadamard_2(levels)).map(|value| (value + 32) >> 6);
                let worst = four.iter().zip(back).map(|(a, b)| (a - b).abs()).max().unwrap();
                assert!(f64::from(worst) <= step + 1.0, "qp {qp}: chroma {worst}");
            }
        }
    }
}
