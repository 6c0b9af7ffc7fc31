//! The log of a run: one JSON object a line with the conserved quantities and what the solver did.
//!
//! Nothing in it depends on the clock on the wall, so a resumed run writes the same bytes as one that was never stopped.

use crate::storage::StorageError;
use serde::{Deserialize, Serialize};
use splashdown_couple::{Broken, Diagnostics, JointReport, SolveReport, StageTotals, StepReport};
use splashdown_deformable::integrate::IntegrationReport;
use splashdown_rigid::ContactReport;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogRecord {
    /// Time, step and the totals over all that moves freely.
    #[serde(flatten)]
    pub diagnostics: Diagnostics,
    /// Length of the step that led here (s); 0 for the initial state.
    pub dt: f64,
    /// Parts that it was taken in, if more than one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub parts: usize,
    /// The implicit solves of that step.
    pub solves: Vec<SolveReport>,
    /// Collision and contact of rigid bodies in that step, if any came near each other: overlap, impulses, what the energy clamp did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactReport>,
    /// What was done to make joints hold, if there are any. How well they do is in the totals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_solves: Option<JointReport>,
    /// Bodies of finite elements: iterations, contacts, volume, and what sweeps of the damping solve left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solids: Option<IntegrationReport>,
    /// Bodies that broke.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Broken>,
    /// Totals of the rigid bodies after the stages of the step (`[output] stages`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageTotals>,
}

fn one() -> usize {
    1
}

fn is_one(parts: &usize) -> bool {
    *parts == 1
}

impl LogRecord {
    /// The initial state.
    pub fn start(diagnostics: Diagnostics) -> Self {
        Self::of_step(diagnostics, StepReport::default())
    }

    /// The state after a step.
    pub fn of_step(diagnostics: Diagnostics, report: StepReport) -> Self {
        let contact = report.contact;
        Self {
            diagnostics,
            dt: report.dt,
            parts: report.parts.max(1),
            solves: report.solves,
            contact: (contact.pairs > 0 || contact.asleep > 0).then_some(contact),
            joint_solves: report.joints,
            solids: report.solids,
            broken: report.broken,
            stages: report.stages,
        }
    }

    /// The line, with its line end.
    pub fn to_line(&self) -> Vec<u8> {
        // Plain numbers, strings and lists; there is nothing that JSON cannot hold (NaN becomes null).
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// The log file, opened for appending.
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl LogWriter {
    /// Opens the log (creating it if need be) and cuts it to `bytes`.
    pub fn open(path: &Path, bytes: u64) -> Result<Self, StorageError> {
        let open = || {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok(file)
        };
        let file = open().map_err(StorageError::doing("open", path))?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    /// Appends lines; if that fails, the log ends after the line before them.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), StorageError> {
        use crate::storage::fault::Guarded;
        let written = Guarded { path: &self.path, file: &mut self.file }.write_all(lines);
        if let Err(cause) = written {
            // If even this fails, a reader still stops at the last line end.
            let _ = self.file.set_len(self.bytes);
            return Err(StorageError { action: "write", path: self.path.clone(), cause });
        }
        self.bytes += lines.len() as u64;
        Ok(())
    }

    /// Waits until everything appended is on disk, and tells how many bytes that is.
    pub fn sync(&mut self) -> Result<u64, StorageError> {
        self.file.sync_data().map_err(StorageError::doing("sync", &self.path))?;
        Ok(self.bytes)
    }
}

/// Reads the log of a run: every whole line that is a record. A last line that a killed run left unfinished is skipped.
pub fn read(path: &Path) -> Result<Vec<LogRecord>, StorageError> {
    let file = File::open(path).map_err(StorageError::doing("open", path))?;
    let mut records = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(StorageError::doing("read", path))?;
        match serde_json::from_str(&line) {
            Ok(record) => records.push(record),
            Err(_) => break,
        }
    }
    Ok(records)
}

/// The first record of a log, if there is one.
pub fn first(path: &Path) -> Option<LogRecord> {
    let mut line = String::new();
    BufReader::new(File::open(path).ok()?).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// How far the conserved quantities moved between two records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// Change of the mass relative to the mass at the start.
    pub mass: f64,
    /// Change of the linear momentum (kg m/s); gravity and held points change it.
    pub momentum: f64,
    /// Change of the angular momentum about the origin (kg m^2/s); likewise.
    pub angular_momentum: f64,
    /// Change of the total energy relative to the largest of the energies at both ends; damping lowers it.
    pub energy: f64,
}

impl Drift {
    /// From `start` to `end`.
    pub fn between(start: &Diagnostics, end: &Diagnostics) -> Self {
        let distance =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (b - a).powi(2)).sum::<f64>().sqrt();
        let scale = [start, end]
            .iter()
            .flat_map(|d| [d.kinetic_energy, d.elastic_energy, d.gravity_energy, d.total_energy])
            .fold(0.0, |scale: f64, energy| scale.max(energy.abs()));
        let relative = |change: f64, scale: f64| if change == 0.0 { 0.0 } else { change / scale };
        Self {
            mass: relative(end.mass - start.mass, start.mass),
            momentum: distance(&start.momentum, &end.momentum),
            angular_momentum: distance(&start.angular_momentum, &end.angular_momentum),
            energy: relative(end.total_energy - start.total_energy, scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyWorld, Scene, build};

    /// RB-52: overlap, impulses and what the clamp did are in the log of a run, and stages if asked for.
    #[test]
    fn the_log_tells_of_contact_and_stages() {
        let text = "dimension = 2\n[time]\nend = 1\n[output]\nstages = true\n\
                    [[rigid]]\nname = \"ground\"\nkind = \"static\"\nshape = { plane = {} }\n\
                    [[rigid]]\nname = \"ball\"\nmass = 1\nposition = [0, 0.1]\nshape = { sphere = { radius = 0.1 } }\n";
        let scene = Scene::parse("s.toml", text, &[]).expect("a right scene");
        let Ok(AnyWorld::Two(mut world)) = build(&scene) else { panic!("a world of two dimensions") };
        let start = LogRecord::start(world.diagnostics());
        assert!(start.contact.is_none() && start.stages.is_empty());
        let report = world.step(0.01).expect("a step");
        let record = LogRecord::of_step(world.diagnostics(), report);
        let contact = record.contact.expect("the ball touches the ground");
        assert_eq!((contact.pairs, contact.touching), (1, 1));
        assert!(contact.overlap_after < 1e-9);
        let line: serde_json::Value = serde_json::from_slice(&record.to_line()).expect("a line");
        assert_eq!(line["stages"][1]["positions"], "n");
        assert_eq!(line["stages"][0]["velocities"], "n+1/2");
        assert!(line["stages"][0].get("total_energy").is_none());
        assert!(line["contact"]["clamped_collisions"]["scaled"].is_number());
        assert_eq!(serde_json::from_slice::<LogRecord>(&record.to_line()).expect("a record"), record);
    }
}
