//! The folder of a run: its layout, who may write to it, and what is known of it.
//!
//! ```text
//! runs/NAME/
//!   run.json             program, machine, sessions, status
//!   scene.toml           the scene with includes, variables and overrides applied; what a resumed run reads
//!   scene.original.toml  the scene as it was given
//!   log.jsonl            conserved quantities and solver reports, one line each
//!   timings.jsonl        how long the stages of the steps took, one line for each of the log; nothing else depends on the clock on the wall
//!   frames/              frame-000000.spf ...
//!   checkpoints/         the newest two
//!   .lock                held while a run writes; the operating system frees it when the process ends, however it ends
//! ```

use crate::checkpoint::{self, Checkpoint};
use crate::frame::Frame;
use crate::storage::{self, StorageError};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Version of this program, as run folders and checkpoints carry it.
pub const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");
const PROGRAM: &str = "splashdown";

/// Paths inside a run folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }
    /// What is known of the run.
    pub fn info(&self) -> PathBuf {
        self.root.join("run.json")
    }
    /// The scene as it runs.
    pub fn scene(&self) -> PathBuf {
        self.root.join("scene.toml")
    }
    /// The scene as it was given.
    pub fn original_scene(&self) -> PathBuf {
        self.root.join("scene.original.toml")
    }
    /// The log.
    pub fn log(&self) -> PathBuf {
        self.root.join("log.jsonl")
    }
    /// How long stages took.
    pub fn timings(&self) -> PathBuf {
        self.root.join("timings.jsonl")
    }
    /// Folder of the frames.
    pub fn frames(&self) -> PathBuf {
        self.root.join("frames")
    }
    /// File of frame `index`.
    pub fn frame(&self, index: u64) -> PathBuf {
        self.frames().join(Frame::file_name(index))
    }
    /// Folder of the checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }
    fn lock(&self) -> PathBuf {
        self.root.join(".lock")
    }

    /// Is this the folder of a run?
    pub fn is_run(&self) -> bool {
        self.info().is_file()
    }

    /// Numbers and paths of the frames that are there, in order.
    pub fn list_frames(&self) -> Result<Vec<(u64, PathBuf)>, StorageError> {
        let folder = self.frames();
        let mut frames = Vec::new();
        for path in entries(&folder)? {
            let index = path.file_name().and_then(|name| name.to_str()).and_then(Frame::index_of);
            frames.extend(index.map(|index| (index, path)));
        }
        frames.sort();
        Ok(frames)
    }

    pub(crate) fn create_folders(&self) -> Result<(), StorageError> {
        for folder in [self.frames(), self.checkpoints()] {
            fs::create_dir_all(&folder).map_err(StorageError::doing("create", &folder))?;
        }
        Ok(())
    }
}

/// Paths in a folder; none if it is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, StorageError> {
    match fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()))
            .filter(|path| !path.as_ref().is_ok_and(|path| path.is_dir()))
            .collect::<Result<_, _>>()
            .map_err(StorageError::doing("read", folder)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(StorageError { action: "read", path: folder.to_owned(), cause }),
    }
}

/// Content of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Always `"splashdown"`; what makes the folder ours.
    pub program: String,
    /// Version of the program that started the run.
    pub version: String,
    /// Name of the scene.
    pub scene: String,
    /// 2 or 3.
    pub dimension: usize,
    /// Fingerprint of the physics of the scene.
    pub fingerprint: String,
    /// How the run stands.
    pub status: Status,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Simulated time reached (s).
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// Machine of the last session.
    pub machine: Machine,
    /// Each time the run was started or resumed.
    pub sessions: Vec<Session>,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Under way, or killed while it was.
    Running,
    /// Reached its end.
    Finished,
    /// Stopped by the user, with a checkpoint.
    Interrupted,
    /// Stopped by a problem.
    Failed,
}

/// Where a run was computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system.
    pub os: String,
    /// Processor architecture.
    pub architecture: String,
    /// Logical processors.
    pub processors: usize,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self {
            os: std::env::consts::OS.into(),
            architecture: std::env::consts::ARCH.into(),
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }
    }
}

/// One stretch of computing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Start, UTC.
    pub started: String,
    /// End, UTC; absent while it runs and if it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Threads used.
    pub threads: usize,
    /// Step at which it started.
    pub from_step: u64,
    /// Wall-clock time of the steps (s).
    #[serde(default)]
    pub seconds: f64,
    /// Time the solver waited for the disk (s).
    #[serde(default)]
    pub stalled_seconds: f64,
}

impl RunInfo {
    /// A run that is about to start.
    pub fn new(scene: &str, dimension: usize, fingerprint: &str) -> Self {
        Self {
            program: PROGRAM.into(),
            version: PROGRAM_VERSION.into(),
            scene: scene.into(),
            dimension,
            fingerprint: fingerprint.into(),
            status: Status::Running,
            message: None,
            time: 0.0,
            step: 0,
            machine: Machine::here(),
            sessions: vec![],
        }
    }

    /// Reads `run.json`.
    pub fn read(layout: &Layout) -> Result<Self, RunFolderError> {
        let path = layout.info();
        if !path.is_file() {
            return Err(RunFolderError::NotARun { path: layout.root().to_owned() });
        }
        let invalid = |problem: String| RunFolderError::Info { path: path.clone(), problem };
        let info: Self =
            serde_json::from_slice(&storage::read(&path)?).map_err(|error| invalid(error.to_string()))?;
        if info.program != PROGRAM {
            return Err(invalid(format!("it was written by \"{}\"", info.program)));
        }
        Ok(info)
    }

    /// Writes `run.json`.
    pub fn write(&self, layout: &Layout) -> Result<(), StorageError> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        storage::write_atomically(&layout.info(), |out| {
            out.write_all(&text)?;
            out.write_all(b"\n")
        })
    }
}

/// A run folder that cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// A file could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// There is a run already.
    #[error("{} already holds a run ({status}); continue it with --resume, replace it with --overwrite, or choose another folder with --out", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
        /// How that run stands, in words.
        status: String,
    },
    /// The folder holds something that no run wrote.
    #[error("{} holds files that are not a run's; choose another folder with --out", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// There is a file where the folder should be.
    #[error("{} is a file; choose a folder with --out", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// There is no run to resume.
    #[error("{} is not the folder of a run (it has no run.json)", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// Another process is writing.
    #[error("{} is in use by another run{by}; wait for it to end, stop it, or choose another folder with --out", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process, if known.
        by: String,
    },
    /// `run.json` makes no sense.
    #[error("{} cannot be understood: {problem}", path.display())]
    Info {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// No checkpoint can be used.
    #[error("no usable checkpoint in {}{problems}; start again with --overwrite", path.display())]
    NoCheckpoint {
        /// The folder.
        path: PathBuf,
        /// What is wrong with each of them.
        problems: String,
    },
}

/// A run folder that this process alone may write to, until it is dropped.
#[derive(Debug)]
pub struct RunFolder {
    layout: Layout,
    /// Held for its lock.
    _lock: File,
}

impl RunFolder {
    /// Takes a folder for a new run. With `overwrite`, a run that is there is removed; nothing else ever is.
    ///
    /// A folder that is made here and cannot be filled (the disk is full) is removed again.
    pub fn create(path: &Path, overwrite: bool, info: &RunInfo) -> Result<Self, RunFolderError> {
        let layout = Layout::new(path);
        let existed = path.exists();
        if existed && !path.is_dir() {
            return Err(RunFolderError::NotAFolder { path: path.to_owned() });
        }
        // Decided before the lock file is made, so that a foreign folder is left exactly as it is.
        let foreign = |entry: &PathBuf| *entry != layout.lock() && !storage::is_temporary(entry);
        if !layout.is_run() && entries(path)?.iter().any(foreign) {
            return Err(RunFolderError::NotOurs { path: path.to_owned() });
        }
        fs::create_dir_all(path).map_err(StorageError::doing("create", path))?;
        // Whoever does not get the lock touches nothing: the folder is another's.
        let lock = lock(&layout)?;
        let filled = Self::fill(&layout, &lock, overwrite, info);
        if filled.is_err() && !existed && !layout.is_run() {
            // Still under the lock, and only what this call made.
            let _ = fs::remove_file(layout.lock());
            let _ = fs::remove_dir(path);
        }
        filled.map(|()| Self { layout, _lock: lock })
    }

    fn fill(layout: &Layout, lock: &File, overwrite: bool, info: &RunInfo) -> Result<(), RunFolderError> {
        // Looked at again under the lock: another run may have come first.
        if layout.is_run() {
            if !overwrite {
                let status = RunInfo::read(layout)?.describe();
                return Err(RunFolderError::Exists { path: layout.root().to_owned(), status });
            }
            remove_run(layout)?;
        }
        sign(lock);
        // First of all files, so that a folder that is killed from here on is known to be ours.
        info.write(layout)?;
        layout.create_folders()?;
        Ok(())
    }

    /// Takes the folder of an existing run.
    pub fn open(path: &Path) -> Result<(Self, RunInfo), RunFolderError> {
        let layout = Layout::new(path);
        RunInfo::read(&layout)?;
        let lock = lock(&layout)?;
        let info = RunInfo::read(&layout)?;
        sign(&lock);
        Ok((Self { layout, _lock: lock }, info))
    }

    /// Paths inside.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The newest checkpoint that is whole, fits the log, and that `fits` accepts, and what was wrong with newer ones.
    pub fn newest_checkpoint(
        &self,
        mut fits: impl FnMut(&Checkpoint) -> Result<(), String>,
    ) -> Result<(Checkpoint, Vec<String>), RunFolderError> {
        let log_bytes = fs::metadata(self.layout.log()).map_or(0, |log| log.len());
        let mut passed_over = Vec::new();
        for (_, path) in checkpoint::list(&self.layout.checkpoints())? {
            let usable = Checkpoint::read(&path).map_err(|error| error.to_string()).and_then(|checkpoint| {
                if checkpoint.place.log_bytes > log_bytes {
                    return Err(format!(
                        "the log has only {log_bytes} bytes of the {} it counts on",
                        checkpoint.place.log_bytes
                    ));
                }
                fits(&checkpoint).map(|()| checkpoint)
            });
            match usable {
                Ok(checkpoint) => return Ok((checkpoint, passed_over)),
                Err(problem) => passed_over.push(format!("{}: {problem}", path.display())),
            }
        }
        let problems = passed_over.iter().map(|problem| format!("\n  {problem}")).collect();
        Err(RunFolderError::NoCheckpoint { path: self.layout.root().to_owned(), problems })
    }

    /// Removes frames and checkpoints that a resumed run will write again, and half-written files.
    pub(crate) fn rewind(&self, checkpoint: &checkpoint::Place) -> Result<(), StorageError> {
        for (index, path) in self.layout.list_frames()? {
            if index >= checkpoint.next_frame {
                remove(&path)?;
            }
        }
        for (step, path) in checkpoint::list(&self.layout.checkpoints())? {
            if step > checkpoint.step {
                remove(&path)?;
            }
        }
        remove_temporaries(&self.layout)
    }
}

impl RunInfo {
    /// Status in words.
    pub fn describe(&self) -> String {
        let word = match self.status {
            Status::Running => "not finished",
            Status::Finished => "finished",
            Status::Interrupted => "interrupted",
            Status::Failed => "failed",
        };
        format!("{word}, t = {} s", self.time)
    }
}

fn lock(layout: &Layout) -> Result<File, RunFolderError> {
    let path = layout.lock();
    // A run that fails at its start removes its lock file again; a lock on a file that is gone protects nothing, so it is taken anew.
    const TRIES: usize = 20;
    for _ in 0..TRIES {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(StorageError::doing("create", &path))?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                // The number is only for the message; without it the message is still right.
                let _ = file.read_to_string(&mut process);
                let by = process.trim().parse::<u32>().map_or(String::new(), |id| format!(" (process {id})"));
                return Err(RunFolderError::InUse { path: layout.root().to_owned(), by });
            }
            Err(TryLockError::Error(cause)) => {
                return Err(StorageError { action: "lock", path, cause }.into());
            }
        }
    }
    Err(RunFolderError::InUse { path: layout.root().to_owned(), by: String::new() })
}

/// Is the open file the one that is at `path` now?
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().is_ok_and(|open| fs::metadata(path).is_ok_and(|there| same(open, there)))
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Leaves the number of this process in the lock file, for the message of whoever finds it locked; without it that message is still right.
/// Done only when the folder is really taken, so that a refused run leaves every byte as it was.
fn sign(mut lock: &File) {
    let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
}

/// Removes what a run wrote and nothing else. `run.json` stays until the next run replaces it, so the folder is known to be ours throughout.
fn remove_run(layout: &Layout) -> Result<(), StorageError> {
    for (_, path) in checkpoint::list(&layout.checkpoints())? {
        remove(&path)?;
    }
    for (_, path) in layout.list_frames()? {
        remove(&path)?;
    }
    remove_temporaries(layout)?;
    for path in [layout.log(), layout.timings(), layout.scene(), layout.original_scene()] {
        if path.exists() {
            remove(&path)?;
        }
    }
    Ok(())
}

fn remove_temporaries(layout: &Layout) -> Result<(), StorageError> {
    for folder in [layout.root().to_owned(), layout.frames(), layout.checkpoints()] {
        for path in entries(&folder)?.iter().filter(|path| storage::is_temporary(path)) {
            remove(path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), StorageError> {
    fs::remove_file(path).map_err(StorageError::doing("remove", path))
}

/// The time of day in UTC, `2026-01-31T12:34:56Z`.
pub fn utc_now() -> String {
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    utc(seconds)
}

/// Civil date from days since 1970-01-01: years run from March, so that the leap day comes last, in eras of 400 years.
fn utc(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(utc(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    fn info() -> RunInfo {
        RunInfo::new("scene", 2, "fingerprint")
    }

    #[test]
    fn a_folder_that_cannot_be_filled_is_removed_again() {
        let parent = tempfile::tempdir().unwrap();
        storage::fault::budget::set(parent.path(), 10);
        let error = RunFolder::create(&parent.path().join("run"), false, &info()).unwrap_err();
        assert!(error.to_string().contains("run.json"), "{error}");
        assert_eq!(entries(parent.path()).unwrap().len(), 0);
    }

    #[test]
    fn a_foreign_folder_is_left_exactly_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
        for overwrite in [false, true] {
            assert!(matches!(
                RunFolder::create(folder.path(), overwrite, &info()),
                Err(RunFolderError::NotOurs { .. })
            ));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(matches!(
            RunFolder::create(&folder.path().join("thesis.tex"), true, &info()),
            Err(RunFolderError::NotAFolder { .. })
        ));
    }

    #[test]
    fn one_writer_at_a_time_and_a_dead_one_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let first = RunFolder::create(&path, false, &info()).unwrap();
        let error = RunFolder::create(&path, true, &info()).unwrap_err();
        assert!(error.to_string().contains(&format!("(process {})", std::process::id())), "{error}");
        assert!(matches!(RunFolder::open(&path), Err(RunFolderError::InUse { .. })));
        drop(first);
        RunFolder::open(&path).unwrap();
        assert!(matches!(RunFolder::create(&path, false, &info()), Err(RunFolderError::Exists { .. })));
    }

    #[test]
    fn overwriting_removes_the_run_and_keeps_what_others_put_there() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path(), false, &info()).unwrap();
        fs::write(run.layout().frame(3), "old").unwrap();
        fs::write(run.layout().frames().join(".frame-000004.spf.part"), "half").unwrap();
        fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        drop(run);
        let run = RunFolder::create(folder.path(), true, &info()).unwrap();
        assert_eq!(entries(&run.layout().frames()).unwrap().len(), 0);
        assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine");
    }
}
