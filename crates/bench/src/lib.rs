//! Benchmarks: how fast, against what is written down as the mark and against what users would otherwise pick.
//!
//! A [`Benchmark`] measures and returns [`BenchRow`]s; [`run`] chooses by name and adds the [`Machine`] it ran on; [`BenchReport`] prints as a table or as JSON.
//! Where a peer can run beside us it does, in the same run, and the row is a ratio; figures of other programs are quoted with their source and say
//! the order of magnitude only. What does not live here: correctness (`splashdown-verify`).
//!
//! To add a benchmark: one file with `pub(crate) const BENCHMARK: Benchmark`, and its name in [`all`].

mod coupled;
mod deformable;
mod fluid;
mod fracture;
mod frames;
mod fsi;
mod machine;
mod pressure;
mod report;
mod rigid;
mod svd;

pub use machine::{CpuClock, Machine, ThreadScaling, forget_peak_memory, peak_memory, resident_memory};
pub use report::{BenchReport, BenchRow, Mark, Peer};

/// How much to run.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchOptions {
    /// Small sizes and one repetition: shows that everything runs, in seconds. Marks that belong to a size are judged only at that size.
    pub quick: bool,
    /// Each timing is the best of this many.
    pub repeats: usize,
    /// Sizes (cells along an edge, bodies, ...) instead of the benchmark's own.
    pub sizes: Option<Vec<usize>>,
    /// Threads of the parallel measurements; at least 2.
    pub threads: usize,
}

impl Default for BenchOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self { quick: false, repeats: 3, sizes: None, threads }
    }
}

impl BenchOptions {
    /// The quick version.
    pub fn quick() -> Self {
        Self { quick: true, repeats: 1, ..Self::default() }
    }
}

/// Why a benchmark gave no figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No such benchmark.
    #[error("there is no benchmark {name:?}; there are: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// A size that cannot be run.
    #[error("size {size} of benchmark {benchmark} must be between {least} and {most}")]
    Size {
        /// Which benchmark.
        benchmark: &'static str,
        /// The size asked for.
        size: usize,
        /// Smallest size.
        least: usize,
        /// Largest size.
        most: usize,
    },
    /// A computation failed: its timing would mean nothing.
    #[error("{doing}: {message}")]
    Failed {
        /// What was being done.
        doing: String,
        /// What went wrong.
        message: String,
    },
}

impl BenchError {
    /// Wraps any error with what was being done.
    pub fn failed(doing: &str, error: impl std::fmt::Display) -> Self {
        Self::Failed { doing: doing.into(), message: error.to_string() }
    }
}

/// One named benchmark.
#[derive(Debug, Clone, Copy)]
pub struct Benchmark {
    /// Lower case, hyphens: `"pressure"`.
    pub name: &'static str,
    /// One line: what is measured and against what.
    pub summary: &'static str,
    /// Measures.
    pub run: fn(&BenchOptions) -> Result<Vec<BenchRow>, BenchError>,
}

/// All benchmarks.
pub fn all() -> &'static [Benchmark] {
    &[
        pressure::BENCHMARK,
        svd::BENCHMARK,
        frames::BENCHMARK,
        rigid::BENCHMARK,
        fracture::BENCHMARK,
        coupled::BENCHMARK,
        deformable::BENCHMARK,
        fluid::BENCHMARK,
        fsi::BENCHMARK,
    ]
}

/// Runs the named benchmarks, or all when `names` is empty.
///
/// # Errors
/// An unknown name (before anything runs), or a benchmark that fails.
pub fn run(names: &[String], options: &BenchOptions) -> Result<BenchReport, BenchError> {
    let mut chosen: Vec<&Benchmark> = Vec::new();
    for name in names {
        let known = || all().iter().map(|benchmark| benchmark.name).collect::<Vec<_>>().join(", ");
        let found = all().iter().find(|benchmark| benchmark.name == name);
        chosen.push(found.ok_or_else(|| BenchError::Unknown { name: name.clone(), known: known() })?);
    }
    if names.is_empty() {
        chosen.extend(all());
    }
    let mut rows = Vec::new();
    for benchmark in chosen {
        rows.extend((benchmark.run)(options)?);
    }
    Ok(BenchReport { machine: Machine::this(), rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_pressure_fills_table_and_json() {
        let options = BenchOptions { sizes: Some(vec![12, 24]), ..BenchOptions::quick() };
        let report = run(&["pressure".into()], &options).unwrap();
        let table = report.to_string();
        assert!(table.contains("geometric multigrid: iterations"), "{table}");
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        let rows = json["rows"].as_array().unwrap();
        assert!(rows.len() > 10 && rows.iter().all(|row| row["value"].as_f64().is_some_and(f64::is_finite)));
        // Iteration counts do not depend on the machine, so their marks can be asserted here.
        let iterations: Vec<_> =
            report.rows.iter().filter(|row| row.unit == "iterations" && row.mark.is_some()).collect();
        assert!(!iterations.is_empty() && iterations.iter().all(|row| row.reached == Some(true)), "{table}");
    }

    #[test]
    fn quick_svd_and_frames_measure_something() {
        let options = BenchOptions { threads: 2, ..BenchOptions::quick() };
        let report = run(&["svd".into(), "frames".into()], &options).unwrap();
        assert!(
            report.rows.len() >= 9 && report.rows.iter().all(|row| row.value.is_finite() && row.value >= 0.0)
        );
    }

    #[test]
    fn unknown_names_and_sizes_are_refused() {
        let error = run(&["presure".into()], &BenchOptions::quick()).unwrap_err().to_string();
        assert!(error.contains("presure") && error.contains("there are: pressure"), "{error}");
        let options = BenchOptions { sizes: Some(vec![1]), ..BenchOptions::quick() };
        assert!(run(&["pressure".into()], &options).unwrap_err().to_string().contains("between"));
    }
}
