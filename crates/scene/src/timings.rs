//! How long the stages of a run's steps took, in a file beside the log.
//!
//! The log must not depend on the clock on the wall, so this is a file of its own. Nobody needs it to go on: what cannot be written is left out.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// One line: what the steps since the line before it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Simulated time (s).
    pub time: f64,
    /// Steps taken so far.
    pub step: u64,
    /// Steps since the line before.
    pub steps: u64,
    /// Seconds by stage, and of everything together as `all`.
    pub seconds: BTreeMap<String, f64>,
}

/// Collects and writes.
#[derive(Debug)]
pub(crate) struct Timings {
    file: Option<File>,
    steps: u64,
    seconds: BTreeMap<String, f64>,
}

impl Timings {
    /// Goes on after step `step` of a run; 0 begins anew.
    pub(crate) fn open(path: &Path, step: u64) -> Self {
        let kept: String = if step == 0 {
            String::new()
        } else {
            let known = std::fs::read_to_string(path).unwrap_or_default();
            let until = |line: &&str| serde_json::from_str::<Timing>(line).is_ok_and(|t| t.step <= step);
            known.lines().take_while(until).flat_map(|line| [line, "\n"]).collect()
        };
        let open = || {
            let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
            file.write_all(kept.as_bytes())?;
            std::io::Result::Ok(file)
        };
        Self { file: open().ok(), steps: 0, seconds: BTreeMap::new() }
    }

    /// A step that took `seconds` in all.
    pub(crate) fn add(&mut self, seconds: f64, stages: Vec<(String, f64)>) {
        self.steps += 1;
        for (name, seconds) in stages.into_iter().chain([("all".to_owned(), seconds)]) {
            *self.seconds.entry(name).or_default() += seconds;
        }
    }

    /// Writes the line of a moment that the log has, too.
    pub(crate) fn write(&mut self, time: f64, step: u64) {
        let (steps, seconds) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.seconds));
        let Some(file) = &mut self.file else { return };
        let mut line = serde_json::to_vec(&Timing { time, step, steps, seconds }).unwrap_or_default();
        line.push(b'\n');
        if file.write_all(&line).is_err() {
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_run_goes_on_after_its_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timings.jsonl");
        let mut first = Timings::open(&path, 0);
        for step in 1..=4u64 {
            first.add(0.5, vec![("contact".into(), 0.25)]);
            first.add(0.5, vec![("contact".into(), 0.125)]);
            first.write(0.1 * step as f64, 2 * step);
        }
        let mut again = Timings::open(&path, 4);
        again.add(2.0, vec![]);
        again.write(0.3, 5);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Timing> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.iter().map(|line| line.step).collect::<Vec<_>>(), [2, 4, 5]);
        assert_eq!((lines[0].steps, lines[0].seconds["all"], lines[0].seconds["contact"]), (2, 1.0, 0.375));
        assert_eq!((lines[2].steps, lines[2].seconds["all"]), (1, 2.0));
    }
}
