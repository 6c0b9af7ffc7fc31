//! Line plots as SVG text: enough for a report, without a plotting dependency.

use crate::{Plot, Scale};
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 50.0;
const COLOURS: [&str; 6] = ["#1f6feb", "#d1495b", "#2a9d5c", "#8a5cc2", "#c47f17", "#4a4e57"];

/// One axis: maps values to pixels and chooses ticks.
struct Axis {
    low: f64,
    high: f64,
    log: bool,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, log: bool, start: f64, end: f64) -> Self {
        let mapped =
            values.filter(|v| v.is_finite() && (!log || *v > 0.0)).map(|v| if log { v.log10() } else { v });
        let (mut low, mut high) =
            mapped.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let margin = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        Self { low: low - margin, high: high + margin, log, start, end }
    }

    fn pixel(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        let value = if self.log { value.log10() } else { value };
        Some(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start))
    }

    /// Round values on the axis with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        if self.log && span > 1.2 {
            let stride = (span / 7.0).ceil().max(1.0);
            let first = (self.low / stride).ceil() * stride;
            return (0..)
                .map(|i| first + f64::from(i) * stride)
                .take_while(|e| *e <= self.high)
                .map(|e| (10f64.powf(e), format!("1e{e}")))
                .collect();
        }
        let raw = span / 6.0;
        let decade = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * decade).find(|s| *s >= raw).unwrap_or(raw);
        let first = (self.low / step).ceil();
        (0..)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|v| *v <= self.high)
            .map(|v| if self.log { 10f64.powf(v) } else { v })
            .map(|v| (v, number(v)))
            .collect()
    }
}

fn number(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if (1e-3..1e5).contains(&value.abs()) {
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        format!("{value:.2e}")
    }
}

/// Escapes text for XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Plot {
    /// The plot as an SVG file of its own.
    pub fn to_svg(&self) -> String {
        let style = "<style>text{font:13px sans-serif;fill:#222}.grid{stroke:#ddd}.frame{fill:none;stroke:#444}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>";
        let plain = svg(self);
        match plain.split_once('\n') {
            Some((head, rest)) => format!("{head}\n{style}\n{rest}"),
            None => plain,
        }
    }
}

/// Width and height of a plot, in units of its marks.
pub const PLOT_SIZE: [f64; 2] = [WIDTH, HEIGHT];

/// How a line of a plot is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// Faint, at the ticks.
    Grid,
    /// Around the curves.
    Frame,
    /// A curve: its number; the ones of references are dashed.
    Curve(usize, bool),
}

/// Where a text is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// At its first letter.
    Start,
    /// In the middle.
    Middle,
    /// At its last letter.
    End,
}

/// What a plot consists of; x to the right and y down, within [`PLOT_SIZE`].
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line {
        /// At least two.
        points: Vec<[f64; 2]>,
        /// How it looks.
        stroke: Stroke,
    },
    /// A disc at a point of a curve.
    Dot {
        /// Its centre.
        at: [f64; 2],
        /// Number of the curve.
        curve: usize,
    },
    /// A line of text.
    Text {
        /// Point on its base line.
        at: [f64; 2],
        /// Which part of it is at that point.
        anchor: Anchor,
        /// Reads upwards.
        upwards: bool,
        /// Stands out.
        bold: bool,
        /// The text.
        text: String,
    },
}

/// Radius of the dots of a curve.
pub const DOT_RADIUS: f64 = 3.0;

/// Colour of a curve, as `#rrggbb`.
pub fn curve_colour(curve: usize) -> &'static str {
    COLOURS[curve % COLOURS.len()]
}

impl Plot {
    /// Everything that there is to draw, what lies over other things last.
    pub fn marks(&self) -> Vec<Mark> {
        let log = self.scale == Scale::LogLog;
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::new(points().map(|p| p[0]), log, LEFT, WIDTH - RIGHT);
        let y = Axis::new(points().map(|p| p[1]), log, HEIGHT - BOTTOM, TOP);
        let mut marks = Vec::new();
        let mut text = |at: [f64; 2], anchor, upwards, bold, text: &str| {
            marks.push(Mark::Text { at, anchor, upwards, bold, text: text.to_owned() });
        };
        text([WIDTH / 2.0, 20.0], Anchor::Middle, false, true, &self.title);
        text([(LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10.0], Anchor::Middle, false, false, &self.x);
        text([16.0, (TOP + HEIGHT - BOTTOM) / 2.0], Anchor::Middle, true, false, &self.y);
        for (value, label) in x.ticks() {
            if let Some(px) = x.pixel(value) {
                text([px, HEIGHT - BOTTOM + 17.0], Anchor::Middle, false, false, &label);
            }
        }
        for (value, label) in y.ticks() {
            if let Some(py) = y.pixel(value) {
                text([LEFT - 7.0, py + 4.0], Anchor::End, false, false, &label);
            }
        }
        let mut line = |points: Vec<[f64; 2]>, stroke| marks.push(Mark::Line { points, stroke });
        for px in x.ticks().iter().filter_map(|(value, _)| x.pixel(*value)) {
            line(vec![[px, TOP], [px, HEIGHT - BOTTOM]], Stroke::Grid);
        }
        for py in y.ticks().iter().filter_map(|(value, _)| y.pixel(*value)) {
            line(vec![[LEFT, py], [WIDTH - RIGHT, py]], Stroke::Grid);
        }
        for (index, series) in self.series.iter().enumerate() {
            let pixels: Vec<[f64; 2]> =
                series.points.iter().filter_map(|p| Some([x.pixel(p[0])?, y.pixel(p[1])?])).collect();
            let stroke = Stroke::Curve(index, series.reference);
            if !series.reference && pixels.len() <= 40 {
                marks.extend(pixels.iter().map(|&at| Mark::Dot { at, curve: index }));
            }
            if pixels.len() > 1 {
                marks.push(Mark::Line { points: pixels, stroke });
            }
            let row = TOP + 16.0 + 17.0 * index as f64;
            let sample = vec![[LEFT + 12.0, row - 4.0], [LEFT + 34.0, row - 4.0]];
            marks.push(Mark::Line { points: sample, stroke });
            marks.push(Mark::Text {
                at: [LEFT + 40.0, row],
                anchor: Anchor::Start,
                upwards: false,
                bold: false,
                text: series.label.clone(),
            });
        }
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let corners = vec![[LEFT, TOP], [right, TOP], [right, bottom], [LEFT, bottom], [LEFT, TOP]];
        marks.push(Mark::Line { points: corners, stroke: Stroke::Frame });
        marks
    }
}

/// Draws the plot as an SVG element whose style the page gives.
pub(crate) fn svg(plot: &Plot) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        escape(&plot.title)
    );
    for mark in plot.marks() {
        let _ = match mark {
            Mark::Line { points, stroke } => {
                let mut path = String::new();
                for (i, [x, y]) in points.iter().enumerate() {
                    let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
                }
                let look = match stroke {
                    Stroke::Grid => "class=\"grid\"".to_owned(),
                    Stroke::Frame => "class=\"frame\"".to_owned(),
                    Stroke::Curve(curve, dashed) => format!(
                        "fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}",
                        curve_colour(curve),
                        if dashed { " stroke-dasharray=\"6 4\"" } else { "" }
                    ),
                };
                writeln!(out, "<path d=\"{path}\" {look}/>")
            }
            Mark::Dot { at: [x, y], curve } => writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DOT_RADIUS}\" fill=\"{}\"/>",
                curve_colour(curve)
            ),
            Mark::Text { at: [x, y], anchor, upwards, bold, text } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let weight = if bold { " font-weight=\"600\"" } else { "" };
                let turn =
                    if upwards { format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"") } else { String::new() };
                writeln!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{weight}{turn}>{}</text>",
                    escape(&text)
                )
            }
        };
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Series;

    #[test]
    fn log_ticks_are_powers_of_ten_and_bad_points_are_left_out() {
        let axis = Axis::new([1e-6, 1.0].into_iter(), true, 0.0, 100.0);
        assert!(axis.ticks().iter().all(|(value, _)| (value.log10() - value.log10().round()).abs() < 1e-9));
        assert!(axis.pixel(0.0).is_none() && axis.pixel(f64::NAN).is_none());
        let plot = Plot {
            title: "a < b".into(),
            x: "h (m)".into(),
            y: "error".into(),
            scale: Scale::LogLog,
            series: vec![Series {
                label: "ours".into(),
                points: vec![[0.1, 1.0], [0.0, 2.0], [1.0, 10.0]],
                reference: false,
            }],
        };
        let svg = svg(&plot);
        assert!(svg.contains("a &lt; b") && svg.matches("<circle").count() == 2 && !svg.contains("NaN"));
    }

    #[test]
    fn constant_or_empty_data_still_draws() {
        for points in [vec![], vec![[1.0, 2.0]], vec![[1.0, 2.0], [2.0, 2.0]]] {
            let series = vec![Series { label: String::new(), points, reference: true }];
            let svg = svg(&Plot {
                title: String::new(),
                x: String::new(),
                y: String::new(),
                scale: Scale::Linear,
                series,
            });
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
