//! Writes what a run produces in the background, in order, so that the solver does not wait for compression or the disk.
//!
//! Jobs are done strictly one after the other. A checkpoint is therefore on disk only after every frame and log line before it, which is
//! what makes resuming exact. The queue is bounded by the memory it holds: a solver that outruns the disk waits.

use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::frame::{Frame, FrameError, SavedShapes};
use crate::log::LogWriter;
use crate::run_folder::Layout;
use crate::storage::{self, StorageError};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Memory that waiting frames, checkpoints and log lines may take (bytes) before the solver has to wait. One job is always accepted.
pub const QUEUE_BYTES: usize = 256 << 20;

/// Output that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file could not be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A frame could not be made into a file.
    #[error("frame {index}: {error}")]
    Frame {
        /// Number of the frame.
        index: u64,
        /// Why.
        error: FrameError,
    },
    /// A checkpoint could not be made into a file.
    #[error("checkpoint: {0}")]
    Checkpoint(CheckpointError),
    /// The writing thread is gone.
    #[error("the thread that writes the output ended unexpectedly")]
    Lost,
}

enum Job {
    Log(Vec<u8>),
    Frame(Box<Frame>),
    Checkpoint(Box<Checkpoint>),
}

impl Job {
    fn bytes(&self) -> usize {
        match self {
            Self::Log(line) => line.len(),
            Self::Frame(frame) => frame.memory_bytes(),
            Self::Checkpoint(checkpoint) => checkpoint.state.len(),
        }
    }
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    bytes: usize,
    /// The writer has taken a job that it has not finished.
    busy: bool,
    closed: bool,
    failure: Option<RecordError>,
    failed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    /// A panic of the other side cannot leave the queue half-changed: every change is one assignment under the lock.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'a>(
        &self,
        guard: MutexGuard<'a, Queue>,
        condition: impl FnMut(&mut Queue) -> bool,
    ) -> MutexGuard<'a, Queue> {
        self.changed.wait_while(guard, condition).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The background writer of one run.
pub struct Recorder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    limit: usize,
    stalled: Duration,
}

impl Recorder {
    /// Starts writing into `layout`, appending to `log`.
    pub fn start(layout: Layout, log: LogWriter, compression: i32) -> Result<Self, StorageError> {
        Self::with_limit(layout, log, compression, QUEUE_BYTES)
    }

    /// As [`Self::start`] with another bound of the queue (bytes).
    pub fn with_limit(
        layout: Layout,
        log: LogWriter,
        compression: i32,
        limit: usize,
    ) -> Result<Self, StorageError> {
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let path = layout.root().to_owned();
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || write_jobs(&for_thread, &mut Writer { layout, log, compression, saved: None }))
            .map_err(StorageError::doing("start a thread that writes to", &path))?;
        Ok(Self { shared, thread: Some(thread), limit, stalled: Duration::ZERO })
    }

    /// Queues a line of the log (with its line end).
    pub fn log(&mut self, line: Vec<u8>) -> Result<(), RecordError> {
        self.push(Job::Log(line))
    }

    /// Queues a frame.
    pub fn frame(&mut self, frame: Frame) -> Result<(), RecordError> {
        self.push(Job::Frame(Box::new(frame)))
    }

    /// Queues a checkpoint; its `log_bytes` is filled in when its turn comes.
    pub fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<(), RecordError> {
        self.push(Job::Checkpoint(Box::new(checkpoint)))
    }

    /// The first error of the writer since the last call, so that a run stops at the next step rather than at its end.
    pub fn check(&mut self) -> Result<(), RecordError> {
        let mut queue = self.shared.lock();
        match queue.failure.take() {
            Some(failure) => Err(failure),
            None if self.thread.as_ref().is_none_or(JoinHandle::is_finished) => Err(RecordError::Lost),
            None => Ok(()),
        }
    }

    /// Waits until everything queued is on disk.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        let thread_lives =
            |thread: &Option<JoinHandle<()>>| thread.as_ref().is_some_and(|t| !t.is_finished());
        let queue = self.shared.lock();
        let thread = &self.thread;
        drop(
            self.shared
                .wait_while(queue, |queue| (queue.busy || !queue.jobs.is_empty()) && thread_lives(thread)),
        );
        self.check()
    }

    /// Time that the solver has waited for room in the queue.
    pub fn stalled(&self) -> Duration {
        self.stalled
    }

    fn push(&mut self, job: Job) -> Result<(), RecordError> {
        self.check()?;
        let bytes = job.bytes();
        let start = Instant::now();
        let limit = self.limit;
        let queue = self.shared.lock();
        let mut queue = self
            .shared
            .wait_while(queue, |queue| queue.bytes > 0 && queue.bytes + bytes > limit && !queue.failed);
        queue.bytes += bytes;
        queue.jobs.push_back(job);
        drop(queue);
        self.stalled += start.elapsed();
        self.shared.changed.notify_all();
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the writer has been reported by `check`; there is nothing to add while dropping.
            let _ = thread.join();
        }
    }
}

struct Writer {
    layout: Layout,
    log: LogWriter,
    compression: i32,
    /// Surfaces that the frames on disk hold; `None` until the first frame that needs to know.
    saved: Option<SavedShapes>,
}

impl Writer {
    /// The file of a frame, without the surfaces that earlier frames hold: those of this session, and after a resume of the ones before.
    fn encode(&mut self, frame: &Frame) -> Result<Vec<u8>, FrameError> {
        if !frame.has_surfaces() {
            return frame.encode(self.compression);
        }
        if self.saved.is_none() {
            let frames = self.layout.list_frames()?;
            let earlier = frames.iter().filter(|(index, _)| *index < frame.index);
            self.saved = Some(SavedShapes::of_frames(earlier.map(|(_, path)| path.as_path())));
        }
        frame.encode_after(self.compression, self.saved.get_or_insert_default())
    }

    fn write(&mut self, job: Job) -> Result<(), RecordError> {
        match job {
            Job::Log(line) => Ok(self.log.append(&line)?),
            Job::Frame(frame) => {
                let index = frame.index;
                let in_frame = |error| RecordError::Frame { index, error };
                let file = self.encode(&frame).map_err(in_frame)?;
                let path = self.layout.frame(index);
                Ok(storage::write_atomically(&path, |out| out.write_all(&file))?)
            }
            Job::Checkpoint(mut checkpoint) => {
                checkpoint.place.log_bytes = self.log.sync()?;
                match checkpoint.write(&self.layout.checkpoints(), self.compression) {
                    Err(CheckpointError::Storage(error)) => Err(error.into()),
                    Err(error) => Err(RecordError::Checkpoint(error)),
                    Ok(()) => Ok(()),
                }
            }
        }
    }
}

fn write_jobs(shared: &Shared, writer: &mut Writer) {
    /// Wakes whoever waits for this thread when it ends, also by a panic.
    struct Farewell<'a>(&'a Shared);
    impl Drop for Farewell<'_> {
        fn drop(&mut self) {
            let mut queue = self.0.lock();
            if !queue.closed {
                queue.failure.get_or_insert(RecordError::Lost);
            }
            queue.failed = true;
            queue.busy = false;
            queue.jobs.clear();
            drop(queue);
            self.0.changed.notify_all();
        }
    }
    let _farewell = Farewell(shared);
    loop {
        let queue = shared.lock();
        let mut queue = shared.wait_while(queue, |queue| queue.jobs.is_empty() && !queue.closed);
        let Some(job) = queue.jobs.pop_front() else { return };
        let skip = queue.failed;
        queue.busy = true;
        drop(queue);
        let bytes = job.bytes();
        // After a failure nothing more is written: a later checkpoint must not claim frames that are missing.
        let result = if skip { Ok(()) } else { writer.write(job) };
        let mut queue = shared.lock();
        queue.busy = false;
        queue.bytes -= bytes;
        if let Err(failure) = result {
            queue.failed = true;
            queue.failure = Some(failure);
        }
        drop(queue);
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{self, Place};
    use crate::frame::{Geometry, Part};

    fn frame(index: u64, numbers: usize) -> Frame {
        let positions = (0..numbers).map(|i| (i as f64).sin()).collect();
        let parts =
            vec![Part { name: "p".into(), geometry: Geometry::Points { positions }, attributes: vec![] }];
        Frame { dimension: 2, index, step: index, time: 0.0, parts }
    }

    fn at(step: u64) -> Checkpoint {
        let place = Place {
            program: "".into(),
            scene: "".into(),
            step,
            time: 0.0,
            next_frame: step + 1,
            log_bytes: 0,
        };
        Checkpoint { place, state: vec![1, 2, 3] }
    }

    fn recorder(limit: usize) -> (tempfile::TempDir, Layout, Recorder) {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        layout.create_folders().unwrap();
        let log = LogWriter::open(&layout.log(), 0).unwrap();
        let recorder = Recorder::with_limit(layout.clone(), log, 1, limit).unwrap();
        (folder, layout, recorder)
    }

    #[test]
    fn everything_is_written_in_order_through_a_queue_that_is_too_small() {
        let (_folder, layout, mut recorder) = recorder(1000);
        for index in 0..20 {
            recorder.log(format!("{index}\n").into_bytes()).unwrap();
            recorder.frame(frame(index, 2000)).unwrap();
        }
        recorder.checkpoint(at(19)).unwrap();
        recorder.flush().unwrap();
        for index in 0..20 {
            assert_eq!(Frame::read(&layout.frame(index)).unwrap(), frame(index, 2000));
        }
        let written = Checkpoint::read(&checkpoint::list(&layout.checkpoints()).unwrap()[0].1).unwrap();
        assert_eq!(written.place.log_bytes, std::fs::metadata(layout.log()).unwrap().len());
        assert!(recorder.stalled() > Duration::ZERO);
    }

    #[test]
    fn a_full_disk_stops_the_run_and_leaves_the_last_good_checkpoint() {
        let (folder, layout, mut recorder) = recorder(1 << 20);
        recorder.log(b"one\n".to_vec()).unwrap();
        recorder.frame(frame(0, 2000)).unwrap();
        recorder.checkpoint(at(0)).unwrap();
        recorder.flush().unwrap();
        storage::fault::budget::set(folder.path(), 5000);
        let mut index = 0;
        let error = loop {
            index += 1;
            assert!(index < 1000, "the error never surfaced");
            let queued = recorder
                .log(b"more\n".to_vec())
                .and_then(|()| recorder.frame(frame(index, 2000)))
                .and_then(|()| recorder.checkpoint(at(index)));
            if let Err(error) = queued {
                break error;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        assert!(
            matches!(&error, RecordError::Storage(e) if e.cause.kind() == std::io::ErrorKind::StorageFull),
            "{error}"
        );
        drop(recorder);
        let (step, path) = checkpoint::list(&layout.checkpoints()).unwrap().remove(0);
        let last = Checkpoint::read(&path).unwrap();
        // All that the last checkpoint counts on is there and whole.
        for index in 0..=step {
            Frame::read(&layout.frame(index)).unwrap();
        }
        let log = std::fs::read(layout.log()).unwrap();
        assert!(log.len() as u64 >= last.place.log_bytes && log.ends_with(b"\n"));
        let litter = std::fs::read_dir(layout.frames())
            .unwrap()
            .filter(|e| storage::is_temporary(&e.as_ref().unwrap().path()));
        assert_eq!(litter.count(), 0);
    }
}
