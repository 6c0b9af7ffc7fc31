//! What a benchmark measured, as a table and as JSON.

use crate::Machine;
use serde::Serialize;
use std::fmt;

/// The value that a row must reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Not above this.
    AtMost(f64),
    /// Not below this.
    AtLeast(f64),
}

impl Mark {
    /// Does `value` reach the mark?
    pub fn reached(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }
}

/// A figure of another program, quoted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peer {
    /// Program and method.
    pub name: &'static str,
    /// Its value, in the row's unit.
    pub value: f64,
    /// Where the figure comes from.
    pub source: &'static str,
}

/// One measured quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchRow {
    /// Which benchmark.
    pub benchmark: &'static str,
    /// What was measured.
    pub quantity: String,
    /// Our value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Threads used.
    pub threads: usize,
    /// Size of the problem: `"128^3"`.
    pub size: String,
    /// The value to reach, if one is written down.
    pub mark: Option<Mark>,
    /// Was the mark reached? `None` without a mark.
    pub reached: Option<bool>,
    /// Figures of others for the same quantity.
    pub peers: Vec<Peer>,
}

impl BenchRow {
    /// A row without mark.
    pub fn new(
        benchmark: &'static str,
        quantity: impl Into<String>,
        value: f64,
        unit: &'static str,
        threads: usize,
        size: impl Into<String>,
    ) -> Self {
        Self {
            benchmark,
            quantity: quantity.into(),
            value,
            unit,
            threads,
            size: size.into(),
            mark: None,
            reached: None,
            peers: Vec::new(),
        }
    }

    /// Judges the value.
    pub fn with_mark(mut self, mark: Mark) -> Self {
        self.mark = Some(mark);
        self.reached = Some(mark.reached(self.value));
        self
    }

    /// Judges the value if there is a mark for this size.
    pub fn with_mark_if(self, mark: Option<Mark>) -> Self {
        match mark {
            Some(mark) => self.with_mark(mark),
            None => self,
        }
    }

    /// Quotes others.
    pub fn with_peers(mut self, peers: &[Peer]) -> Self {
        self.peers = peers.to_vec();
        self
    }
}

/// All rows of a run, and the machine.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReport {
    /// Where it ran.
    pub machine: Machine,
    /// What was measured.
    pub rows: Vec<BenchRow>,
}

impl BenchReport {
    /// Was every mark reached?
    pub fn all_reached(&self) -> bool {
        self.rows.iter().all(|row| row.reached != Some(false))
    }

    /// The report for machines.
    pub fn to_json(&self) -> String {
        // Plain data without maps: serialisation cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.machine)?;
        let heading =
            ["benchmark", "quantity", "size", "threads", "value", "unit", "mark", ""].map(String::from);
        let mut lines = vec![heading];
        for row in &self.rows {
            let mark = match row.mark {
                None => String::new(),
                Some(Mark::AtMost(limit)) => format!("<= {}", short(limit)),
                Some(Mark::AtLeast(limit)) => format!(">= {}", short(limit)),
            };
            let verdict = match row.reached {
                None => "",
                Some(true) => "reached",
                Some(false) => "MISSED",
            };
            lines.push([
                row.benchmark.into(),
                row.quantity.clone(),
                row.size.clone(),
                row.threads.to_string(),
                short(row.value),
                row.unit.into(),
                mark,
                verdict.into(),
            ]);
        }
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 8] = std::array::from_fn(width);
        for line in &lines {
            let mut text = String::new();
            for (column, cell) in line.iter().enumerate() {
                let pad = " ".repeat(widths[column] - cell.chars().count());
                // Numbers to the right.
                let numeric = matches!(column, 3 | 4);
                text += &if numeric { format!("{pad}{cell}  ") } else { format!("{cell}{pad}  ") };
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        for row in self.rows.iter().filter(|row| !row.peers.is_empty()) {
            writeln!(f, "\n{} {} ({}), quoted:", row.benchmark, row.quantity, row.unit)?;
            for peer in &row.peers {
                writeln!(f, "  {:>8}  {} [{}]", short(peer.value), peer.name, peer.source)?;
            }
        }
        Ok(())
    }
}

/// Three significant digits.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        _ if value == 0.0 || !value.is_finite() => format!("{value}"),
        _ if magnitude >= 1e6 => format!("{value:.2e}"),
        _ if magnitude >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        _ if magnitude >= 10.0 => format!("{value:.1}"),
        _ if magnitude >= 1.0 => format!("{value:.2}"),
        _ if magnitude >= 1e-3 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_judge_and_numbers_stay_short() {
        let row = BenchRow::new("b", "time", 2.0, "s", 1, "64^3");
        assert_eq!(row.clone().with_mark(Mark::AtMost(1.5)).reached, Some(false));
        assert_eq!(row.clone().with_mark(Mark::AtLeast(1.5)).reached, Some(true));
        assert_eq!(row.with_mark_if(None).reached, None);
        let text = [0.0123456, 0.123456, 12.3456, 1234.56, 1_543_156.0, 3e-9, 12.0].map(short);
        assert_eq!(text, ["0.012", "0.123", "12.3", "1235", "1.54e6", "3.00e-9", "12"]);
    }
}
