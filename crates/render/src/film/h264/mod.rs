//! Moving pictures in the constrained baseline profile of Rec. ITU-T H.264, which browsers, players and office programs show.
//!
//! What there is of it: squares of 16 x 16 pixels that repeat the last picture, are moved from it by whole pixels, or are predicted from
//! their neighbours; one fixed quantisation; variable-length codes. Cameras of films stand still, so most squares cost nothing. Written here
//! because the encoders that exist are larger than the rest of this program. All arithmetic is in whole numbers and in a fixed order: the
//! same pictures give the same bytes everywhere.

mod bits;
mod cavlc;
mod planes;
mod transform;

use crate::Image;
use bits::Bits;
use cavlc::{Codes, Context};
use planes::{Mode, Planes, Square, predict};
use transform::{Block, Quantiser, SCAN, chroma_qp, forward, hadamard, hadamard_2, inverse};

/// Parameter of quantisation: steps of 5 of 255 levels, hardly visible.
const QP: u8 = 19;

/// One picture, ready for a container.
#[derive(Debug, Clone)]
pub(super) struct Encoded {
    /// The unit of its slice, without a start code.
    pub unit: Vec<u8>,
    /// Can it be shown without those before it?
    pub key: bool,
}

/// A displacement in pixels.
type Motion = [i32; 2];

/// What later squares of the picture need to know of an earlier one.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Displacement from the last picture, unless it was predicted within this one.
    motion: Option<Motion>,
    /// Coefficients of its blocks of 4 x 4: 16 of luma and 4 of each chroma, row by row.
    luma: [u8; 16],
    chroma: [[u8; 4]; 2],
}

/// Levels of a square, in the order of their codes.
#[derive(Debug, Clone, Default)]
struct Levels {
    /// Means of the 16 blocks, apart from the rest; not used with motion.
    means: Block,
    /// 16 blocks, row by row.
    luma: [Block; 16],
    chroma_means: [[i32; 4]; 2],
    chroma: [[Block; 4]; 2],
}

/// Blocks of a square in the order of the standard (figure 6-10): column and row.
const ORDER: [(usize, usize); 16] = {
    let mut order = [(0, 0); 16];
    let mut k = 0;
    while k < 16 {
        order[k] = (k & 1 | k >> 1 & 2, k >> 1 & 1 | k >> 2 & 2);
        k += 1;
    }
    order
};

/// Number of each pattern of coded blocks with motion (table 9-4): first those of luma, then 16 or 32 for chroma.
const PATTERNS: [u8; 48] = [
    0, 16, 1, 2, 4, 8, 32, 3, 5, 10, 12, 15, 47, 7, 11, 13, 14, 6, 9, 31, 35, 37, 42, 44, 33, 34, 36, 40, 39,
    43, 45, 46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41,
];

/// Makes units of pictures of one size.
#[derive(Debug)]
pub(super) struct Encoder {
    width: usize,
    height: usize,
    columns: usize,
    rows: usize,
    codes: Codes,
    /// The last picture as a decoder sees it.
    last: Planes,
    now: Planes,
    known: Vec<Known>,
    /// Pictures since and with the last key.
    since_key: u32,
    keys: u32,
    /// Pictures from one key to the next.
    group: u32,
}

impl Encoder {
    /// For pictures of this size; a key every `group` pictures (at most 250), where players can begin.
    pub fn new(width: usize, height: usize, group: u32) -> Self {
        let (columns, rows) = (width.div_ceil(16), height.div_ceil(16));
        let planes = Planes::new(16 * columns, 16 * rows);
        Self {
            width,
            height,
            columns,
            rows,
            codes: Codes::default(),
            last: planes.clone(),
            now: planes,
            known: vec![Known::default(); columns * rows],
            since_key: 0,
            keys: 0,
            group: group.clamp(1, 250),
        }
    }

    /// Squares of 16 x 16 in a picture.
    pub fn squares(&self) -> usize {
        self.columns * self.rows
    }

    /// Sizes are even: a last odd row or column is shown twice.
    pub fn shown_size(&self) -> (usize, usize) {
        (self.width.next_multiple_of(2), self.height.next_multiple_of(2))
    }

    /// What holds for the whole film (clause 7.3.2.1); `level` is ten times that of table A-1.
    pub fn sequence_parameters(&self, level: u8) -> Vec<u8> {
        let mut bits = Bits::default();
        bits.put(66, 8);
        // Also of the main profile: no tools of the baseline that it lacks.
        bits.put(0b1100_0000, 8);
        bits.put(level.into(), 8);
        bits.unsigned(0);
        // Numbers of pictures have eight bits; they are shown in the order in which they come.
        bits.unsigned(4);
        bits.unsigned(2);
        bits.unsigned(1);
        bits.flag(false);
        bits.unsigned(self.columns as u32 - 1);
        bits.unsigned(self.rows as u32 - 1);
        bits.flag(true);
        bits.flag(true);
        let (width, height) = self.shown_size();
        bits.flag(true);
        for cut in [0, (16 * self.columns - width) / 2, 0, (16 * self.rows - height) / 2] {
            bits.unsigned(cut as u32);
        }
        // Colours as of BT.709; nothing is reordered.
        bits.flag(true);
        bits.put(0, 2);
        bits.flag(true);
        bits.put(5, 3);
        bits.flag(false);
        bits.flag(true);
        (0..3).for_each(|_| bits.put(1, 8));
        bits.put(0, 5);
        bits.flag(true);
        bits.flag(true);
        [0, 0, 10, 10, 0, 1].into_iter().for_each(|value| bits.unsigned(value));
        bits.into_unit(0x67)
    }

    /// What holds for all pictures (clause 7.3.2.2).
    pub fn picture_parameters(&self) -> Vec<u8> {
        let mut bits = Bits::default();
        bits.unsigned(0);
        bits.unsigned(0);
        bits.put(0, 2);
        [0, 0, 0].into_iter().for_each(|value| bits.unsigned(value));
        bits.put(0, 3);
        bits.signed(i32::from(QP) - 26);
        bits.signed(0);
        bits.signed(0);
        // Slices say that edges of blocks are not smoothed.
        bits.put(0b100, 3);
        bits.into_unit(0x68)
    }

    /// The next picture, of the size that was told.
    pub fn picture(&mut self, image: &Image) -> Encoded {
        let key = self.since_key == 0 || self.since_key >= self.group;
        if key {
            self.since_key = 0;
            self.keys += 1;
        }
        let source = Planes::of(image, 16 * self.columns, 16 * self.rows);
        let mut bits = Bits::default();
        bits.unsigned(0);
        bits.unsigned(if key { 7 } else { 5 });
        bits.unsigned(0);
        bits.put(self.since_key & 0xff, 8);
        if key {
            bits.unsigned(self.keys & 1);
            bits.put(0, 2);
        } else {
            // One picture to refer to, in no special order, and no special marks.
            bits.put(0, 3);
        }
        bits.signed(0);
        bits.unsigned(1);
        let mut skipped = 0;
        for row in 0..self.rows {
            for column in 0..self.columns {
                self.square(&mut bits, &source, (column, row), key, &mut skipped);
            }
        }
        if skipped > 0 {
            bits.unsigned(skipped);
        }
        std::mem::swap(&mut self.last, &mut self.now);
        self.since_key += 1;
        Encoded { unit: bits.into_unit(if key { 0x65 } else { 0x41 }), key }
    }

    fn neighbour(&self, (column, row): (usize, usize), right: isize, down: isize) -> Option<&Known> {
        let x = column.checked_add_signed(right).filter(|x| *x < self.columns)?;
        Some(&self.known[row.checked_add_signed(down)? * self.columns + x])
    }

    fn square(&mut self, bits: &mut Bits, source: &Planes, at: (usize, usize), key: bool, skipped: &mut u32) {
        let (column, row) = at;
        let wanted = [0, 1, 2].map(|k| {
            if k == 0 {
                source.0[0].square(16 * column, 16 * row, 16)
            } else {
                source.0[k].square(8 * column, 8 * row, 8)
            }
        });
        let place = row * self.columns + column;
        if !key {
            let (guess, still) = (self.motion_guess(at), self.skipped_motion(at));
            let same = self.moved(at, still);
            let is_same = (0..3).all(|k| same[k].difference(&wanted[k]) == 0);
            if is_same || self.levels(&wanted, &same, false).is_zero() {
                self.keep(at, &same);
                self.known[place] = Known { motion: Some(still), ..Known::default() };
                *skipped += 1;
                return;
            }
            bits.unsigned(std::mem::take(skipped));
            let (motion, cost) = self.search(&wanted[0], at, &[guess, still, [0, 0]]);
            let (mode, prediction) = self.best_mode(&wanted[0], at);
            if cost <= prediction.difference(&wanted[0]) + 200 {
                let moved = self.moved(at, motion);
                self.write_moved(bits, &wanted, at, moved, motion, guess);
                return;
            }
            self.write_predicted(bits, &wanted, at, mode, prediction, 5);
            return;
        }
        let (mode, prediction) = self.best_mode(&wanted[0], at);
        self.write_predicted(bits, &wanted, at, mode, prediction, 0);
    }

    fn keep(&mut self, (column, row): (usize, usize), squares: &[Square; 3]) {
        for (plane, square) in self.now.0.iter_mut().zip(squares) {
            plane.put(square.edge * column, square.edge * row, square);
        }
    }

    // ---- Motion ----

    /// Equation 8-212 and around it: the middle of what the neighbours do.
    fn motion_guess(&self, at: (usize, usize)) -> Motion {
        let left = self.neighbour(at, -1, 0);
        let above = self.neighbour(at, 0, -1);
        let aside = self.neighbour(at, 1, -1).or_else(|| self.neighbour(at, -1, -1));
        let motion = |known: Option<&Known>| known.and_then(|known| known.motion);
        if above.is_none() && aside.is_none() {
            return motion(left).unwrap_or_default();
        }
        let three = [motion(left), motion(above), motion(aside)];
        let mut moving = three.iter().flatten();
        if let (Some(only), None) = (moving.next(), moving.next()) {
            return *only;
        }
        std::array::from_fn(|k| {
            let mut values = three.map(|motion| motion.unwrap_or_default()[k]);
            values.sort_unstable();
            values[1]
        })
    }

    /// What a square without any code does (clause 8.4.1.1).
    fn skipped_motion(&self, at: (usize, usize)) -> Motion {
        let (left, above) = (self.neighbour(at, -1, 0), self.neighbour(at, 0, -1));
        match (left, above) {
            (Some(left), Some(above)) if left.motion != Some([0, 0]) && above.motion != Some([0, 0]) => {
                self.motion_guess(at)
            }
            _ => [0, 0],
        }
    }

    /// The square that a displacement takes from the last picture.
    fn moved(&self, (column, row): (usize, usize), [x, y]: Motion) -> [Square; 3] {
        let (column, row) = (column as i32, row as i32);
        let chroma = |k: usize| self.last.0[k].moved_by_halves(16 * column + x, 16 * row + y, 8);
        [self.last.0[0].moved(16 * column + x, 16 * row + y, 16), chroma(1), chroma(2)]
    }

    /// From the best of some displacements downhill, in steps of 8, 4, 2 and 1 pixels.
    fn search(&self, wanted: &Square, (column, row): (usize, usize), from: &[Motion]) -> (Motion, u32) {
        let luma = &self.last.0[0];
        let (x, y) = (16 * column as i32, 16 * row as i32);
        let inside = |[dx, dy]: Motion| {
            (0..=luma.width as i32 - 16).contains(&(x + dx))
                && (0..=luma.height as i32 - 16).contains(&(y + dy))
        };
        let cost = |motion: Motion| {
            let far = 8 * (motion[0].abs() + motion[1].abs()).min(32) as u32;
            luma.moved(x + motion[0], y + motion[1], 16).difference(wanted) + far
        };
        let mut best = ([0, 0], cost([0, 0]));
        for &motion in from.iter().filter(|motion| inside(**motion)) {
            let found = cost(motion);
            if found < best.1 {
                best = (motion, found);
            }
        }
        for step in [8, 4, 2, 1] {
            for _ in 0..4 {
                let centre = best.0;
                for [dx, dy] in [[step, 0], [-step, 0], [0, step], [0, -step]] {
                    let motion = [centre[0] + dx, centre[1] + dy];
                    // As far as the smallest levels allow.
                    if inside(motion) && motion.iter().all(|d| d.abs() < 120) {
                        let found = cost(motion);
                        if found < best.1 {
                            best = (motion, found);
                        }
                    }
                }
                if best.0 == centre {
                    break;
                }
            }
        }
        best
    }

    fn write_moved(
        &mut self,
        bits: &mut Bits,
        wanted: &[Square; 3],
        at: (usize, usize),
        moved: [Square; 3],
        motion: Motion,
        guess: Motion,
    ) {
        let levels = self.levels(wanted, &moved, false);
        bits.unsigned(0);
        // Quarters of pixels.
        (0..2).for_each(|k| bits.signed(4 * (motion[k] - guess[k])));
        let quarters = (0..4).filter(|quarter| {
            let any = |&(i, j): &(usize, usize)| levels.luma[4 * j + i].iter().any(|level| *level != 0);
            ORDER[4 * quarter..4 * quarter + 4].iter().any(any)
        });
        let luma = quarters.fold(0, |all, quarter| all | 1 << quarter);
        let pattern = luma | levels.chroma_kind() << 4;
        let number = PATTERNS.iter().position(|known| *known == pattern).unwrap_or_default();
        bits.unsigned(number as u32);
        let mut known = Known { motion: Some(motion), ..Known::default() };
        if pattern != 0 {
            bits.signed(0);
            for (k, &(i, j)) in ORDER.iter().enumerate() {
                if luma >> (k / 4) & 1 == 1 {
                    let context = self.luma_context(at, &known, i, j);
                    known.luma[4 * j + i] = self.codes.block(bits, &levels.luma[4 * j + i], context);
                }
            }
            self.write_chroma(bits, &levels, at, &mut known);
        }
        let back = levels.restore(&moved, false);
        self.keep(at, &back);
        self.known[at.1 * self.columns + at.0] = known;
    }

    // ---- Prediction within the picture ----

    fn best_mode(&self, wanted: &Square, (column, row): (usize, usize)) -> (Mode, Square) {
        let modes = Mode::possible(column > 0, row > 0)
            .map(|mode| (mode, predict(&self.now.0[0], 16 * column, 16 * row, 16, mode)));
        let mut best: Option<(Mode, Square, u32)> = None;
        for (mode, square) in modes {
            let cost = square.difference(wanted);
            if best.as_ref().is_none_or(|(_, _, lowest)| cost < *lowest) {
                best = Some((mode, square, cost));
            }
        }
        // The mean is always possible.
        best.map_or((Mode::Mean, *wanted), |(mode, square, _)| (mode, square))
    }

    fn write_predicted(
        &mut self,
        bits: &mut Bits,
        wanted: &[Square; 3],
        at: (usize, usize),
        mode: Mode,
        luma: Square,
        first_type: u32,
    ) {
        let (column, row) = at;
        let of_chroma = |mode| [1, 2].map(|k| predict(&self.now.0[k], 8 * column, 8 * row, 8, mode));
        let mut chroma = (Mode::Mean, of_chroma(Mode::Mean), u32::MAX);
        for mode in Mode::possible(column > 0, row > 0) {
            let squares = of_chroma(mode);
            let cost = (0..2).map(|k| squares[k].difference(&wanted[k + 1])).sum();
            if cost < chroma.2 {
                chroma = (mode, squares, cost);
            }
        }
        let prediction = [luma, chroma.1[0], chroma.1[1]];
        let levels = self.levels(wanted, &prediction, true);
        let has_luma = levels.luma.iter().flatten().any(|level| *level != 0);
        let kind = u32::from(levels.chroma_kind());
        bits.unsigned(first_type + 1 + mode.of_luma() + 4 * kind + 12 * u32::from(has_luma));
        bits.unsigned(chroma.0.of_chroma());
        bits.signed(0);
        let mut known = Known::default();
        let context = self.luma_context(at, &known, 0, 0);
        self.codes.block(bits, &SCAN.map(|place| levels.means[place]), context);
        if has_luma {
            for (i, j) in ORDER {
                let context = self.luma_context(at, &known, i, j);
                known.luma[4 * j + i] = self.codes.block(bits, &levels.luma[4 * j + i][1..], context);
            }
        }
        self.write_chroma(bits, &levels, at, &mut known);
        let back = levels.restore(&prediction, true);
        self.keep(at, &back);
        self.known[row * self.columns + column] = known;
    }

    // ---- What both have ----

    fn levels(&self, wanted: &[Square; 3], prediction: &[Square; 3], within: bool) -> Levels {
        let mut levels = Levels::default();
        let residual = |k: usize, i: usize, j: usize| -> Block {
            let edge = wanted[k].edge;
            std::array::from_fn(|n| {
                let at = (4 * j + n / 4) * edge + 4 * i + n % 4;
                i32::from(wanted[k].values[at]) - i32::from(prediction[k].values[at])
            })
        };
        let quantiser = Quantiser::new(QP, within);
        for n in 0..16 {
            let mut block = forward(&residual(0, n % 4, n / 4));
            if within {
                levels.means[n] = std::mem::take(&mut block[0]);
            }
            levels.luma[n] = quantiser.levels(&block);
        }
        if within {
            levels.means = quantiser.mean_levels(hadamard(&levels.means).map(|value| (value + 1) >> 1));
        }
        let quantiser = Quantiser::new(chroma_qp(QP), within);
        for k in 0..2 {
            for n in 0..4 {
                let mut block = forward(&residual(k + 1, n % 2, n / 2));
                levels.chroma_means[k][n] = std::mem::take(&mut block[0]);
                levels.chroma[k][n] = quantiser.levels(&block);
            }
            levels.chroma_means[k] = quantiser.mean_levels(hadamard_2(levels.chroma_means[k]));
        }
        levels
    }

    /// Clause 9.2.1: coefficients to the left and above.
    fn luma_context(&self, at: (usize, usize), own: &Known, i: usize, j: usize) -> Context {
        let left = if i > 0 {
            Some(own.luma[4 * j + i - 1])
        } else {
            self.neighbour(at, -1, 0).map(|n| n.luma[4 * j + 3])
        };
        let above = if j > 0 {
            Some(own.luma[4 * j + i - 4])
        } else {
            self.neighbour(at, 0, -1).map(|n| n.luma[12 + i])
        };
        between(left, above)
    }

    fn write_chroma(&self, bits: &mut Bits, levels: &Levels, at: (usize, usize), known: &mut Known) {
        let kind = levels.chroma_kind();
        if kind == 0 {
            return;
        }
        for means in &levels.chroma_means {
            self.codes.block(bits, means, Context::ChromaDc);
        }
        if kind < 2 {
            return;
        }
        let (beside, over) = (self.neighbour(at, -1, 0), self.neighbour(at, 0, -1));
        for k in 0..2 {
            for n in 0..4 {
                let (i, j) = (n % 2, n / 2);
                let own = known.chroma[k];
                let left =
                    if i > 0 { Some(own[n - 1]) } else { beside.map(|known| known.chroma[k][2 * j + 1]) };
                let above = if j > 0 { Some(own[n - 2]) } else { over.map(|known| known.chroma[k][2 + i]) };
                known.chroma[k][n] = self.codes.block(bits, &levels.chroma[k][n][1..], between(left, above));
            }
        }
    }
}

fn between(left: Option<u8>, above: Option<u8>) -> Context {
    Context::Neighbours(match (left, above) {
        (Some(left), Some(above)) => (left + above).div_ceil(2),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => 0,
    })
}

impl Levels {
    fn is_zero(&self) -> bool {
        let mut all = self.luma.iter().flatten().chain(&self.means);
        all.all(|level| *level == 0) && self.chroma_kind() == 0
    }

    /// 0: no chroma, 1: means only, 2: all of it.
    fn chroma_kind(&self) -> u8 {
        if self.chroma.iter().flatten().flatten().any(|level| *level != 0) {
            2
        } else {
            self.chroma_means.iter().flatten().any(|level| *level != 0).into()
        }
    }

    /// What a decoder makes of it.
    fn restore(&self, prediction: &[Square; 3], within: bool) -> [Square; 3] {
        let mut squares = *prediction;
        let quantiser = Quantiser::new(QP, within);
        let means = if within { quantiser.luma_means(hadamard(&self.means)) } else { [0; 16] };
        for (n, levels) in self.luma.iter().enumerate() {
            let mut block = quantiser.coefficients(levels);
            if within {
                block[0] = means[n];
            }
            add(&mut squares[0], n % 4, n / 4, &inverse(&block));
        }
        let quantiser = Quantiser::new(chroma_qp(QP), within);
        for k in 0..2 {
            let means = quantiser.chroma_means(hadamard_2(self.chroma_means[k]));
            for (n, levels) in self.chroma[k].iter().enumerate() {
                let mut block = quantiser.coefficients(levels);
                block[0] = means[n];
                add(&mut squares[k + 1], n % 2, n / 2, &inverse(&block));
            }
        }
        squares
    }
}

fn add(square: &mut Square, i: usize, j: usize, residual: &Block) {
    for (n, value) in residual.iter().enumerate() {
        let at = &mut square.values[(4 * j + n / 4) * square.edge + 4 * i + n % 4];
        *at = (i32::from(*at) + value).clamp(0, 255) as u8;
    }
}
