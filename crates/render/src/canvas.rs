//! Lines, dots and words on paper, with smooth edges.

use crate::Image;
use crate::font;

/// A white sheet to draw on. Places are in units from the upper left, x to the right and y down; a unit is `scale` pixels.
#[derive(Debug, Clone)]
pub struct Canvas {
    width: usize,
    pixels: Vec<[f64; 3]>,
    scale: f64,
    /// How much of each pixel the present stroke covers, and which pixels it has touched.
    cover: Vec<f64>,
    touched: Vec<usize>,
}

/// Red, green and blue from 0 to 255.
pub type Ink = [u8; 3];

/// A line of text on a [`Canvas`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Label<'a> {
    /// What it says; letters outside ASCII are drawn as boxes.
    pub text: &'a str,
    /// Point on its base line.
    pub at: [f64; 2],
    /// Where that point is in the text: 0 at its start, 1 at its end.
    pub anchor: f64,
    /// Reads upwards rather than to the right.
    pub upwards: bool,
    /// Height of the letters, as fonts count it: a capital is seven tenths of it.
    pub size: f64,
    /// Thick strokes.
    pub bold: bool,
    /// Colour.
    pub ink: Ink,
}

impl Canvas {
    /// A white sheet of this many units.
    pub fn new(width: f64, height: f64, scale: f64) -> Self {
        let edge = |units: f64| ((units * scale).ceil() as usize).clamp(1, crate::MAX_EDGE);
        let (width, height) = (edge(width), edge(height));
        let count = width * height;
        Self { width, pixels: vec![[255.0; 3]; count], scale, cover: vec![0.0; count], touched: vec![] }
    }

    /// A line through points, with round ends.
    pub fn line(&mut self, points: &[[f64; 2]], width: f64, ink: Ink) {
        for ends in points.windows(2) {
            self.segment([ends[0], ends[1]], width);
        }
        self.blend(ink);
    }

    /// As [`Self::line`], with strokes of `on` and gaps of `off`.
    pub fn dashed(&mut self, points: &[[f64; 2]], width: f64, [on, off]: [f64; 2], ink: Ink) {
        let mut at = 0.0;
        for ends in points.windows(2) {
            let [a, b] = [ends[0], ends[1]];
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            let mut from = 0.0;
            while from < length {
                let phase = at % (on + off);
                let to = (from + if phase < on { on - phase } else { on + off - phase }).min(length);
                let point = |s: f64| [0, 1].map(|k| a[k] + (b[k] - a[k]) * s / length);
                if phase < on {
                    self.segment([point(from), point(to)], width);
                }
                // Never stands still, whatever rounding does.
                let step = (to - from).max(1e-9 * (on + off));
                at += step;
                from += step;
            }
        }
        self.blend(ink);
    }

    /// A disc.
    pub fn dot(&mut self, at: [f64; 2], radius: f64, ink: Ink) {
        self.segment([at; 2], 2.0 * radius);
        self.blend(ink);
    }

    /// A line of text.
    pub fn text(&mut self, label: &Label) {
        let unit = 0.7 * label.size / font::CAPITAL;
        let (strokes, width) = font::text(label.text);
        let width_of_stroke = label.size * if label.bold { 0.13 } else { 0.085 };
        for stroke in &strokes {
            let place = |[x, y]: [f64; 2]| {
                let (along, up) = (unit * (x - label.anchor * width), unit * y);
                let [dx, dy] = if label.upwards { [-up, -along] } else { [along, -up] };
                [label.at[0] + dx, label.at[1] + dy]
            };
            for ends in stroke.windows(2) {
                self.segment([place(ends[0]), place(ends[1])], width_of_stroke);
            }
        }
        self.blend(label.ink);
    }

    /// Covers the pixels of a stroke with round ends.
    fn segment(&mut self, ends: [[f64; 2]; 2], width: f64) {
        let [a, b] = ends.map(|end| end.map(|x| x * self.scale));
        if !a.iter().chain(&b).all(|x| x.abs() < 1e6) {
            return;
        }
        let radius = 0.5 * width * self.scale;
        let height = self.pixels.len() / self.width;
        let span = |k: usize, count: usize| {
            let low = (a[k].min(b[k]) - radius - 1.0).floor().clamp(0.0, count as f64);
            let high = (a[k].max(b[k]) + radius + 1.0).ceil().clamp(0.0, count as f64);
            low as usize..high as usize
        };
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let square = dx * dx + dy * dy;
        for y in span(1, height) {
            for x in span(0, self.width) {
                let (px, py) = (x as f64 + 0.5 - a[0], y as f64 + 0.5 - a[1]);
                let along = if square > 0.0 { ((px * dx + py * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
                let (ox, oy) = (px - along * dx, py - along * dy);
                let cover = (radius + 0.5 - (ox * ox + oy * oy).sqrt()).clamp(0.0, 1.0);
                // Thin lines are faint, not gone.
                let cover = cover.min(2.0 * radius);
                let at = y * self.width + x;
                if cover > self.cover[at] {
                    if self.cover[at] == 0.0 {
                        self.touched.push(at);
                    }
                    self.cover[at] = cover;
                }
            }
        }
    }

    /// Puts ink where strokes were, once however often they cross.
    fn blend(&mut self, ink: Ink) {
        for at in self.touched.drain(..) {
            let cover = std::mem::take(&mut self.cover[at]);
            for k in 0..3 {
                let paper = self.pixels[at][k];
                self.pixels[at][k] = paper + cover * (f64::from(ink[k]) - paper);
            }
        }
    }

    /// The picture.
    pub fn finish(&self) -> Image {
        let pixel = |pixel: &[f64; 3]| pixel.map(|value| value.round().clamp(0.0, 255.0) as u8);
        Image::new(self.width, self.pixels.iter().map(pixel).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area of what was drawn, in square units.
    fn ink_of(canvas: &Canvas) -> f64 {
        let image = canvas.finish();
        let dark: f64 = image.pixels().iter().map(|pixel| 1.0 - f64::from(pixel[0]) / 255.0).sum();
        dark / (canvas.scale * canvas.scale)
    }

    #[test]
    fn strokes_cover_their_area() {
        for scale in [1.0, 2.0, 3.0] {
            let mut canvas = Canvas::new(40.0, 30.0, scale);
            // Twice over itself: still once.
            canvas.line(&[[5.0, 5.0], [25.0, 5.0], [5.0, 5.0]], 2.0, [0; 3]);
            let area = 20.0 * 2.0 + std::f64::consts::PI;
            assert!((ink_of(&canvas) / area - 1.0).abs() < 0.02, "{} of {area}", ink_of(&canvas));
            let before = ink_of(&canvas);
            canvas.dashed(&[[5.0, 20.0], [35.0, 20.0]], 0.5, [2.0, 3.0], [0; 3]);
            let dashes = 6.0 * (2.0 * 0.5 + std::f64::consts::PI * 0.0625);
            let drawn = ink_of(&canvas) - before;
            assert!((drawn / dashes - 1.0).abs() < 0.3, "{drawn} of {dashes}");
        }
    }

    #[test]
    fn words_stand_where_they_are_put() {
        let columns = |anchor: f64| {
            let mut canvas = Canvas::new(100.0, 20.0, 1.0);
            let label = Label {
                text: "height",
                at: [50.0, 14.0],
                anchor,
                upwards: false,
                size: 10.0,
                bold: false,
                ink: [0; 3],
            };
            canvas.text(&label);
            let image = canvas.finish();
            let dark: Vec<usize> =
                (0..100).filter(|x| (0..20).any(|y| image.pixels()[y * 100 + x][0] < 128)).collect();
            (dark[0], dark[dark.len() - 1])
        };
        let (start, middle, end) = (columns(0.0), columns(0.5), columns(1.0));
        assert!(start.0.abs_diff(50) <= 1 && end.1.abs_diff(49) <= 1, "{start:?} {end:?}");
        assert!((middle.0 + middle.1).abs_diff(99) <= 2, "{middle:?}");
        // Off the sheet nothing happens.
        let mut canvas = Canvas::new(10.0, 10.0, 1.0);
        canvas.dot([-50.0, f64::NAN], 3.0, [0; 3]);
        canvas.line(&[[1e300, 0.0], [5.0, f64::INFINITY]], 1.0, [0; 3]);
        assert!(ink_of(&canvas) == 0.0);
    }
}
