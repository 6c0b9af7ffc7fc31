//! The log of a run: one JSON object a line with the conserved quantities and what the solver did.
//!
//! Nothing in it depends on the clock on the wall, so a resumed run writes the same bytes as one that was never stopped.

use crate::storage::StorageError;
use serde::{Deserialize, Serialize};
use splashdown_couple::{Diagnostics, JointReport, SolveReport, StepReport};
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
    /// The implicit solves of that step.
    pub solves: Vec<SolveReport>,
    /// Contact in that step, if anything touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactRecord>,
    /// The joints, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joints: Option<JointReport>,
    /// Bodies of finite elements: iterations, contacts, volume, and what sweeps of the damping solve left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solids: Option<IntegrationReport>,
}

/// Contact in a step, without what depends on what was near before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContactRecord {
    /// Pairs of bodies that touch.
    pub touching: usize,
    /// Most iterations of an island.
    pub iterations: usize,
    /// Largest change of a relative velocity in the last iteration (m/s).
    pub residual: f64,
    /// Deepest overlap before and after push-out (m).
    pub overlap: [f64; 2],
    /// Kinetic energy that the clamp kept out (J).
    pub energy_clamped: f64,
    /// Bodies that sleep.
    pub asleep: usize,
}

impl From<ContactReport> for ContactRecord {
    fn from(report: ContactReport) -> Self {
        let ContactReport { touching, iterations, residual, energy_clamped, asleep, .. } = report;
        let overlap = [report.overlap_before, report.overlap_after];
        Self { touching, iterations, residual, overlap, energy_clamped, asleep }
    }
}

impl LogRecord {
    /// Of the initial state.
    pub fn start(diagnostics: Diagnostics) -> Self {
        Self { diagnostics, dt: 0.0, solves: vec![], contact: None, joints: None, solids: None }
    }

    /// Of a step of `dt` seconds that ended with `diagnostics`.
    pub fn of_step(diagnostics: Diagnostics, dt: f64, report: StepReport) -> Self {
        let StepReport { solves, joints, contact, solids, .. } = report;
        let contact = (contact.touching > 0).then(|| contact.into());
        Self { diagnostics, dt, solves, contact, joints, solids }
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
