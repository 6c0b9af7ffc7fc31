//! A run: steps a simulation from frame to frame and keeps its folder such that it can be killed at any moment and resumed with the same bits.

use crate::checkpoint::{Checkpoint, Place};
use crate::frame::Frame;
use crate::log::{self, Drift, LogRecord, LogWriter};
use crate::recorder::{RecordError, Recorder};
use crate::run_folder::{
    Machine, PROGRAM_VERSION, RunFolder, RunFolderError, RunInfo, Session, Status, utc_now,
};
use crate::storage::{self, StorageError};
use crate::timings::Timings;
use splashdown_couple::{Diagnostics, StepReport};
use std::path::Path;
use std::time::Instant;

/// What a run needs of a world; the dimension and the physics are hidden behind it.
///
/// Everything that [`advance`](Simulation::advance) depends on must be in the saved state: a run that is restored goes on with the same bits.
pub trait Simulation {
    /// 2 or 3.
    fn dimension(&self) -> usize;
    /// Time, step and conserved quantities now.
    fn diagnostics(&self) -> Diagnostics;
    /// Takes one step towards frame `frame`. On an error the state is the one before the step.
    fn advance(&mut self, frame: u64) -> Result<Advance, Breakdown>;
    /// Seconds by stage of the steps since the last call.
    fn stage_seconds(&mut self) -> Vec<(String, f64)> {
        Vec::new()
    }
    /// The picture of the present state, as frame `index`.
    fn picture(&self, index: u64) -> Frame;
    /// The state as bytes.
    fn save(&self) -> Result<Vec<u8>, Breakdown>;
    /// Takes over a saved state, or says why it does not fit.
    fn restore(&mut self, state: &[u8]) -> Result<(), String>;
}

/// What one step did.
#[derive(Debug, Clone, PartialEq)]
pub struct Advance {
    /// Did it end on the frame?
    pub arrived: bool,
    /// What the step says of itself.
    pub report: StepReport,
}

/// Why a simulation cannot go on: which body or block, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Breakdown(pub String);

/// What to run and what to keep of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Name of the scene.
    pub name: String,
    /// The scene as it runs, for the folder.
    pub scene: String,
    /// The scene as it was given, for the folder.
    pub original: String,
    /// Fingerprint of everything in the scene that the motion depends on.
    pub fingerprint: String,
    /// Number of the last frame.
    pub last_frame: u64,
    /// Are frames saved?
    pub save_frames: bool,
    /// Steps from one line of the log to the next; every frame has one too.
    pub log_every: u64,
    /// Frames from one checkpoint to the next.
    pub checkpoint_every: u64,
    /// Zstandard level of frames and checkpoints.
    pub compression: i32,
    /// Threads of this session, for `run.json`.
    pub threads: usize,
}

/// How far a run is, after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Simulated time (s).
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// Length of the last step (s).
    pub dt: f64,
    /// The last frame reached.
    pub frame: u64,
    /// The last frame of the run.
    pub last_frame: u64,
    /// Iterations of all solves of the last step.
    pub iterations: usize,
}

/// What to do after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Save a checkpoint and stop.
    Stop,
}

/// A run that stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] RunFolderError),
    /// The scene is not the one that the folder was made with.
    #[error(
        "the run in {folder} was made with another scene; only time.end and output may differ when resuming"
    )]
    SceneDiffers {
        /// The folder.
        folder: String,
    },
    /// The run is past the end that was asked for.
    #[error("the run in {folder} is at t = {time} s already, past the end that was asked for")]
    PastEnd {
        /// The folder.
        folder: String,
        /// Where it is (s).
        time: f64,
    },
    /// The physics broke down; the last good state is saved.
    #[error("the simulation cannot go on after step {step}, t = {time} s: {breakdown}")]
    Physics {
        /// Last good step.
        step: u64,
        /// Its time (s).
        time: f64,
        /// What happened.
        breakdown: Breakdown,
    },
    /// Output could not be written; everything up to the last checkpoint is on disk.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl From<StorageError> for RunError {
    fn from(error: StorageError) -> Self {
        Self::Folder(error.into())
    }
}

/// A run under way.
pub struct Run<'a> {
    folder: RunFolder,
    info: RunInfo,
    plan: Plan,
    simulation: &'a mut dyn Simulation,
    recorder: Recorder,
    next_frame: u64,
    first: Option<Diagnostics>,
    started: Instant,
    timings: Timings,
}

/// How a run ended when nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// It was stopped by [`Control::Stop`] rather than at its end.
    pub interrupted: bool,
    /// Last state.
    pub progress: Progress,
    /// Drift of the conserved quantities since the start of the run, if its log is there.
    pub drift: Option<Drift>,
    /// Wall-clock time of this session (s).
    pub seconds: f64,
}

impl<'a> Run<'a> {
    /// Starts a run in a new folder at `path`; with `overwrite`, in the place of a run that is there.
    pub fn start(
        path: &Path,
        overwrite: bool,
        plan: Plan,
        simulation: &'a mut dyn Simulation,
    ) -> Result<Self, RunError> {
        let mut info = RunInfo::new(&plan.name, simulation.dimension(), &plan.fingerprint);
        info.begin_session(plan.threads, 0);
        let folder = RunFolder::create(path, overwrite, &info)?;
        let layout = folder.layout();
        storage::write_atomically(&layout.original_scene(), |out| out.write_all(plan.original.as_bytes()))?;
        storage::write_atomically(&layout.scene(), |out| out.write_all(plan.scene.as_bytes()))?;
        let log = LogWriter::open(&layout.log(), 0)?;
        let recorder = Recorder::start(layout.clone(), log, plan.compression)?;
        let first = simulation.diagnostics();
        let timings = Timings::open(&layout.timings(), 0);
        let mut run = Self {
            folder,
            info,
            plan,
            simulation,
            recorder,
            next_frame: 0,
            first: Some(first.clone()),
            started: Instant::now(),
            timings,
        };
        run.recorder.log(LogRecord::start(first).to_line())?;
        run.arrive()?;
        run.save()?;
        Ok(run)
    }

    /// Goes on with the run at `path` from its newest whole checkpoint; also tells which ones had to be passed over and why.
    ///
    /// The folder is not changed before everything has been found to fit.
    pub fn resume(
        path: &Path,
        plan: Plan,
        simulation: &'a mut dyn Simulation,
    ) -> Result<(Self, Vec<String>), RunError> {
        let (folder, mut info) = RunFolder::open(path)?;
        if info.fingerprint != plan.fingerprint {
            return Err(RunError::SceneDiffers { folder: path.display().to_string() });
        }
        let (checkpoint, passed_over) = folder.newest_checkpoint(|checkpoint| {
            let place = &checkpoint.place;
            if place.program != PROGRAM_VERSION {
                return Err(format!(
                    "it was written by version {} and this is {PROGRAM_VERSION}",
                    place.program
                ));
            }
            if place.scene != plan.fingerprint {
                return Err("it belongs to another scene".into());
            }
            simulation.restore(&checkpoint.state)
        })?;
        let place = checkpoint.place;
        if plan.last_frame + 1 < place.next_frame {
            let time = simulation.diagnostics().time;
            return Err(RunError::PastEnd { folder: path.display().to_string(), time });
        }
        folder.rewind(&place)?;
        let layout = folder.layout();
        storage::write_atomically(&layout.scene(), |out| out.write_all(plan.scene.as_bytes()))?;
        info.begin_session(plan.threads, place.step);
        info.write(layout)?;
        let log = LogWriter::open(&layout.log(), place.log_bytes)?;
        let first = log::first(&layout.log()).map(|record| record.diagnostics);
        let recorder = Recorder::start(layout.clone(), log, plan.compression)?;
        let next_frame = place.next_frame;
        let timings = Timings::open(&layout.timings(), place.step);
        let started = Instant::now();
        let run = Self { folder, info, plan, simulation, recorder, next_frame, first, started, timings };
        Ok((run, passed_over))
    }

    /// How far the run is now.
    pub fn progress(&self) -> Progress {
        let now = self.simulation.diagnostics();
        Progress {
            time: now.time,
            step: now.step,
            dt: 0.0,
            frame: self.next_frame.saturating_sub(1),
            last_frame: self.plan.last_frame,
            iterations: 0,
        }
    }

    /// Steps until the end, or until `observe`, which sees every step, says stop.
    ///
    /// Whatever happens, the folder then holds a state that the run can be resumed from, and `run.json` says what happened.
    pub fn finish(mut self, observe: &mut dyn FnMut(&Progress) -> Control) -> Result<Ended, RunError> {
        let stepped = self.step_to_end(observe);
        let saved = match &stepped {
            Err(RunError::Record(_)) => Ok(()),
            _ => self.save().and_then(|()| Ok(self.recorder.flush()?)),
        };
        let result = stepped.and_then(|interrupted| saved.map(|()| interrupted));
        self.info.status = match &result {
            Ok(false) => Status::Finished,
            Ok(true) => Status::Interrupted,
            Err(_) => Status::Failed,
        };
        self.info.message = result.as_ref().err().map(ToString::to_string);
        let now = self.simulation.diagnostics();
        (self.info.time, self.info.step) = (now.time, now.step);
        let seconds = self.started.elapsed().as_secs_f64();
        if let Some(session) = self.info.sessions.last_mut() {
            session.ended = Some(utc_now());
            session.seconds = seconds;
            session.stalled_seconds = self.recorder.stalled().as_secs_f64();
        }
        let noted = self.info.write(self.folder.layout());
        let interrupted = result?;
        noted?;
        let drift = self.first.as_ref().map(|first| Drift::between(first, &now));
        Ok(Ended { interrupted, progress: self.progress(), drift, seconds })
    }

    /// `true` if it was told to stop.
    fn step_to_end(&mut self, observe: &mut dyn FnMut(&Progress) -> Control) -> Result<bool, RunError> {
        while self.next_frame <= self.plan.last_frame {
            let before = Instant::now();
            let advance = match self.simulation.advance(self.next_frame) {
                Ok(advance) => advance,
                Err(breakdown) => {
                    let now = self.simulation.diagnostics();
                    return Err(RunError::Physics { step: now.step, time: now.time, breakdown });
                }
            };
            self.timings.add(before.elapsed().as_secs_f64(), self.simulation.stage_seconds());
            self.recorder.check()?;
            let diagnostics = self.simulation.diagnostics();
            let progress = Progress {
                time: diagnostics.time,
                step: diagnostics.step,
                dt: advance.report.dt,
                frame: if advance.arrived { self.next_frame } else { self.next_frame.saturating_sub(1) },
                last_frame: self.plan.last_frame,
                iterations: advance.report.solves.iter().map(|solve| solve.iterations).sum(),
            };
            if advance.arrived || diagnostics.step.is_multiple_of(self.plan.log_every.max(1)) {
                self.timings.write(diagnostics.time, diagnostics.step);
                self.recorder.log(LogRecord::of_step(diagnostics, advance.report).to_line())?;
            }
            if advance.arrived {
                self.arrive()?;
                if progress.frame.is_multiple_of(self.plan.checkpoint_every.max(1)) {
                    self.save()?;
                }
            }
            if observe(&progress) == Control::Stop && self.next_frame <= self.plan.last_frame {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The simulation stands on the next frame.
    fn arrive(&mut self) -> Result<(), RunError> {
        if self.plan.save_frames {
            self.recorder.frame(self.simulation.picture(self.next_frame))?;
        }
        self.next_frame += 1;
        Ok(())
    }

    /// Queues a checkpoint of the present state.
    fn save(&mut self) -> Result<(), RunError> {
        let now = self.simulation.diagnostics();
        let state = self.simulation.save().map_err(|breakdown| RunError::Physics {
            step: now.step,
            time: now.time,
            breakdown,
        })?;
        let place = Place {
            program: PROGRAM_VERSION.into(),
            scene: self.plan.fingerprint.clone(),
            step: now.step,
            time: now.time,
            next_frame: self.next_frame,
            log_bytes: 0,
        };
        Ok(self.recorder.checkpoint(Checkpoint { place, state })?)
    }
}

impl RunInfo {
    fn begin_session(&mut self, threads: usize, from_step: u64) {
        self.status = Status::Running;
        self.message = None;
        self.machine = Machine::here();
        let started = utc_now();
        self.sessions.push(Session {
            started,
            ended: None,
            threads,
            from_step,
            seconds: 0.0,
            stalled_seconds: 0.0,
        });
    }
}

/// Fingerprint of a text: FNV-1a of 128 bits in hexadecimal. It tells scenes apart; it is no protection against forgery.
pub fn fingerprint(text: &str) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests;
