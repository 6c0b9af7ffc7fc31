//! Brightness and colour differences of a picture, and predictions from what is known of it.

use crate::Image;

/// Numbers from 0 to 255, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plane {
    pub width: usize,
    pub height: usize,
    pub values: Vec<u8>,
}

impl Plane {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, values: vec![0; width * height] }
    }

    pub fn get(&self, x: usize, y: usize) -> i32 {
        self.values[y * self.width + x].into()
    }

    /// As if the edges went on for ever.
    fn beyond(&self, x: i32, y: i32) -> i32 {
        self.get(x.clamp(0, self.width as i32 - 1) as usize, y.clamp(0, self.height as i32 - 1) as usize)
    }

    /// The square at `(x, y)` with `edge` values a side.
    pub fn square(&self, x: usize, y: usize, edge: usize) -> Square {
        let mut square = Square { edge, values: [0; 256] };
        for row in 0..edge {
            let from = (y + row) * self.width + x;
            square.values[row * edge..][..edge].copy_from_slice(&self.values[from..from + edge]);
        }
        square
    }

    pub fn put(&mut self, x: usize, y: usize, square: &Square) {
        for (row, values) in square.values[..square.edge * square.edge].chunks_exact(square.edge).enumerate()
        {
            let to = (y + row) * self.width + x;
            self.values[to..to + square.edge].copy_from_slice(values);
        }
    }

    /// The square at `(x, y)` of whole places (luma), edges continued.
    pub fn moved(&self, x: i32, y: i32, edge: usize) -> Square {
        let inside = x >= 0 && y >= 0 && x as usize + edge <= self.width && y as usize + edge <= self.height;
        if inside {
            return self.square(x as usize, y as usize, edge);
        }
        Square::from_fn(edge, |i, j| self.beyond(x + i as i32, y + j as i32))
    }

    /// The square at `(x, y)` in halves of places (chroma, equation 8-266 with weights of 0 and 4).
    pub fn moved_by_halves(&self, x: i32, y: i32, edge: usize) -> Square {
        let (left, top) = (x.div_euclid(2), y.div_euclid(2));
        let (u, v) = (4 * (x & 1), 4 * (y & 1));
        if u == 0 && v == 0 {
            return self.moved(left, top, edge);
        }
        Square::from_fn(edge, |i, j| {
            let at = |a, b| self.beyond(left + i as i32 + a, top + j as i32 + b);
            ((8 - u) * (8 - v) * at(0, 0)
                + u * (8 - v) * at(1, 0)
                + (8 - u) * v * at(0, 1)
                + u * v * at(1, 1)
                + 32)
                >> 6
        })
    }
}

/// A square of 16 x 16 or 8 x 8 numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Square {
    pub edge: usize,
    pub values: [u8; 256],
}

impl Square {
    fn from_fn(edge: usize, f: impl Fn(usize, usize) -> i32) -> Self {
        let mut square = Self { edge, values: [0; 256] };
        for y in 0..edge {
            for x in 0..edge {
                square.values[y * edge + x] = f(x, y).clamp(0, 255) as u8;
            }
        }
        square
    }

    /// Sum of absolute differences.
    pub fn difference(&self, other: &Self) -> u32 {
        let count = self.edge * self.edge;
        self.values[..count].iter().zip(&other.values[..count]).map(|(a, b)| u32::from(a.abs_diff(*b))).sum()
    }
}

/// How a square is predicted from the picture around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The row above, continued.
    Vertical,
    /// The column to the left, continued.
    Horizontal,
    /// Their mean.
    Mean,
    /// A plane through them.
    Slope,
}

impl Mode {
    /// Every mode that the neighbours allow.
    pub fn possible(left: bool, above: bool) -> impl Iterator<Item = Self> {
        let modes = [
            (Self::Mean, true),
            (Self::Vertical, above),
            (Self::Horizontal, left),
            (Self::Slope, left && above),
        ];
        modes.into_iter().filter(|(_, possible)| *possible).map(|(mode, _)| mode)
    }

    /// Number of the mode for squares of luma (table 8-4).
    pub fn of_luma(self) -> u32 {
        match self {
            Self::Vertical => 0,
            Self::Horizontal => 1,
            Self::Mean => 2,
            Self::Slope => 3,
        }
    }

    /// Number of the mode for chroma (table 8-5).
    pub fn of_chroma(self) -> u32 {
        match self {
            Self::Mean => 0,
            Self::Horizontal => 1,
            Self::Vertical => 2,
            Self::Slope => 3,
        }
    }
}

/// Predicts the square of `edge` values at `(x, y)` (clauses 8.3.3 and 8.3.4).
pub(super) fn predict(plane: &Plane, x: usize, y: usize, edge: usize, mode: Mode) -> Square {
    let above = |i: i32| plane.get((x as i32 + i) as usize, y - 1);
    let left = |j: i32| plane.get(x - 1, (y as i32 + j) as usize);
    match mode {
        Mode::Vertical => Square::from_fn(edge, |i, _| above(i as i32)),
        Mode::Horizontal => Square::from_fn(edge, |_, j| left(j as i32)),
        Mode::Mean if edge == 16 => {
            let mean = mean((x > 0).then_some(0..16), (y > 0).then_some(0..16), &left, &above);
            Square::from_fn(edge, |_, _| mean)
        }
        // Each quarter by itself; those off the diagonal from the side that they touch.
        Mode::Mean => {
            let quarter = |i: i32, j: i32| {
                let rows = (x > 0).then_some(4 * j..4 * j + 4);
                let columns = (y > 0).then_some(4 * i..4 * i + 4);
                match (i, j) {
                    (1, 0) if columns.is_some() => mean(None, columns, &left, &above),
                    (0, 1) if rows.is_some() => mean(rows, None, &left, &above),
                    _ => mean(rows, columns, &left, &above),
                }
            };
            let quarters = [[quarter(0, 0), quarter(1, 0)], [quarter(0, 1), quarter(1, 1)]];
            Square::from_fn(edge, |i, j| quarters[j / 4][i / 4])
        }
        Mode::Slope => {
            let half = edge as i32 / 2;
            let corner = plane.get(x - 1, y - 1);
            let before = |line: &dyn Fn(i32) -> i32, k: i32| if k < 0 { corner } else { line(k) };
            let slope = |line: &dyn Fn(i32) -> i32| {
                let sum: i32 =
                    (1..=half).map(|k| k * (line(half - 1 + k) - before(line, half - 1 - k))).sum();
                if edge == 16 { (5 * sum + 32) >> 6 } else { (34 * sum + 32) >> 6 }
            };
            let (b, c) = (slope(&above), slope(&left));
            let a = 16 * (left(edge as i32 - 1) + above(edge as i32 - 1));
            Square::from_fn(edge, |i, j| {
                (a + b * (i as i32 - half + 1) + c * (j as i32 - half + 1) + 16) >> 5
            })
        }
    }
}

type Span = Option<std::ops::Range<i32>>;

fn mean(rows: Span, columns: Span, left: &dyn Fn(i32) -> i32, above: &dyn Fn(i32) -> i32) -> i32 {
    let count = [&rows, &columns].into_iter().flatten().map(|span| span.end - span.start).sum::<i32>();
    if count == 0 {
        return 128;
    }
    let sum = rows.into_iter().flatten().map(left).sum::<i32>()
        + columns.into_iter().flatten().map(above).sum::<i32>();
    (sum + count / 2) / count
}

/// Luma and the two planes of chroma at half the resolution, of whole blocks of 16 x 16.
#[derive(Debug, Clone)]
pub(super) struct Planes(pub [Plane; 3]);

impl Planes {
    pub fn new(width: usize, height: usize) -> Self {
        Self([
            Plane::new(width, height),
            Plane::new(width / 2, height / 2),
            Plane::new(width / 2, height / 2),
        ])
    }

    /// Rec. ITU-R BT.709 with the usual range, in whole numbers; the last row and column are continued. Chroma lies on every second column
    /// and between two rows, as the standard has it unless told otherwise.
    pub fn of(image: &Image, width: usize, height: usize) -> Self {
        let mut planes = Self::new(width, height);
        let pixel = |x: usize, y: usize| {
            let at = y.min(image.height() - 1) * image.width() + x.min(image.width() - 1);
            image.pixels()[at].map(i32::from)
        };
        for y in 0..height {
            for x in 0..width {
                let [r, g, b] = pixel(x, y);
                // 219 / 255 of 0.2126, 0.7152, 0.0722 in parts of 65536.
                let luma = 16 + ((11_966 * r + 40_254 * g + 4_064 * b + 32_768) >> 16);
                planes.0[0].values[y * width + x] = luma as u8;
            }
        }
        for y in 0..height / 2 {
            for x in 0..width / 2 {
                let mut sum = [0; 3];
                for row in [2 * y, 2 * y + 1] {
                    for (column, weight) in [((2 * x).saturating_sub(1), 1), (2 * x, 2), (2 * x + 1, 1)] {
                        let rgb = pixel(column, row);
                        (0..3).for_each(|k| sum[k] += weight * rgb[k]);
                    }
                }
                let [r, g, b] = sum;
                // 224 / 255 of half of (B - Y) / 0.9278 and (R - Y) / 0.7874, of the sum of eight.
                let round = |value: i32| (128 + ((value + (1 << 18)) >> 19)).clamp(0, 255) as u8;
                planes.0[1].values[y * width / 2 + x] = round(-6_596 * r - 22_189 * g + 28_785 * b);
                planes.0[2].values[y * width / 2 + x] = round(28_785 * r - 26_145 * g - 2_640 * b);
            }
        }
        planes
    }
}
