//! What a verification case is, and what it records.

use serde::Serialize;

/// Whether a case runs by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Speed {
    /// Seconds; runs in the tests and with any matching glob.
    Fast,
    /// Minutes; runs by its full name or with `--all`.
    Slow,
}

/// One named verification.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// `part/name`, lower case with hyphens: `"foundation/svd-accuracy"`.
    pub name: &'static str,
    /// Row of the specification's table that this case shows, such as `"DS-5"` or `"V-2"`.
    pub spec: &'static str,
    /// One line: the physics or property.
    pub summary: &'static str,
    /// Where the reference comes from (text and section, or "exact: formula").
    pub source: &'static str,
    /// Fast or slow.
    pub speed: Speed,
    /// Expected run time on two cores, in seconds.
    pub seconds: f64,
    /// Sets up, runs and measures.
    pub run: fn(&mut Measurements) -> Result<(), CaseError>,
}

/// A case that could not be carried out (as opposed to one that measured a wrong number).
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(pub String);

impl CaseError {
    /// Wraps any error with what was being done.
    pub fn new(doing: &str, error: impl std::fmt::Display) -> Self {
        Self(format!("{doing}: {error}"))
    }
}

/// How a measured value is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// `|measured - reference| <= tolerance`.
    Near,
    /// `measured <= reference + tolerance`.
    AtMost,
    /// `measured >= reference - tolerance`.
    AtLeast,
}

/// One row of the verification table.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// What was measured, with its unit.
    pub quantity: String,
    /// Resolution of the run: `"64^3"`, `"dt = 1e-3 s"`, or `"-"`.
    pub resolution: String,
    /// Our value.
    pub measured: f64,
    /// Exact or published value, or the bound.
    pub reference: f64,
    /// Allowed absolute deviation, justified by order and resolution where it is written.
    pub tolerance: f64,
    /// How the three are compared.
    pub criterion: Criterion,
    /// Citation of the reference.
    pub source: String,
    /// Did it hold? A value that is not finite never passes.
    pub pass: bool,
}

/// Axis scale of a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Linear axes.
    Linear,
    /// Both axes logarithmic.
    LogLog,
}

/// A named curve or set of points.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Legend entry.
    pub label: String,
    /// (x, y) pairs.
    pub points: Vec<[f64; 2]>,
    /// Drawn as a dashed line: the reference rather than ours.
    pub reference: bool,
}

/// A picture for the report: ours against the reference.
#[derive(Debug, Clone, Serialize)]
pub struct Plot {
    /// Title.
    pub title: String,
    /// Label of the horizontal axis, with unit.
    pub x: String,
    /// Label of the vertical axis, with unit.
    pub y: String,
    /// Axis scale.
    pub scale: Scale,
    /// Curves.
    pub series: Vec<Series>,
}

/// Collects what a case measures.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Measurements {
    /// Rows of the table, in the order they were measured.
    pub rows: Vec<Measurement>,
    /// Plots for the report.
    pub plots: Vec<Plot>,
}

impl Measurements {
    /// Records a value that must lie within `tolerance` (absolute) of `reference`.
    pub fn near(
        &mut self,
        quantity: &str,
        resolution: &str,
        measured: f64,
        reference: f64,
        tolerance: f64,
        source: &str,
    ) {
        self.push(quantity, resolution, measured, reference, tolerance, Criterion::Near, source);
    }

    /// Records a value that must not exceed `bound`.
    pub fn at_most(&mut self, quantity: &str, resolution: &str, measured: f64, bound: f64, source: &str) {
        self.push(quantity, resolution, measured, bound, 0.0, Criterion::AtMost, source);
    }

    /// Records a value that must not fall below `bound`.
    pub fn at_least(&mut self, quantity: &str, resolution: &str, measured: f64, bound: f64, source: &str) {
        self.push(quantity, resolution, measured, bound, 0.0, Criterion::AtLeast, source);
    }

    /// Adds a plot to the report.
    pub fn plot(&mut self, plot: Plot) {
        self.plots.push(plot);
    }

    /// Did every row hold? A case that measured nothing has shown nothing.
    pub fn passed(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.pass)
    }

    #[allow(clippy::too_many_arguments)]
    fn push(
        &mut self,
        quantity: &str,
        resolution: &str,
        measured: f64,
        reference: f64,
        tolerance: f64,
        criterion: Criterion,
        source: &str,
    ) {
        let holds = match criterion {
            Criterion::Near => (measured - reference).abs() <= tolerance,
            Criterion::AtMost => measured <= reference + tolerance,
            Criterion::AtLeast => measured >= reference - tolerance,
        };
        self.rows.push(Measurement {
            quantity: quantity.into(),
            resolution: resolution.into(),
            measured,
            reference,
            tolerance,
            criterion,
            source: source.into(),
            pass: holds && measured.is_finite(),
        });
    }
}
