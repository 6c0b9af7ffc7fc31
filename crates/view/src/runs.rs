//! What the server knows of runs: where they are, how they stand, their frames packed for the page.

use crate::payload;
use serde_json::{Value, json};
use splashdown_scene::frame::format::FrameHeader;
use splashdown_scene::frame::{FrameError, FrameReader};
use splashdown_scene::run_folder::{Layout, RunInfo, Status};
use splashdown_scene::storage;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

/// Memory for frames that were packed lately (bytes); one is always kept.
const CACHE_BYTES: usize = 512 << 20;
/// A frame that would take more than this unpacked (bytes) is refused rather than swapped.
const MOST_BYTES: u64 = 2 << 30;

/// One run folder.
#[derive(Debug)]
pub(crate) struct KnownRun {
    pub layout: Layout,
    /// Name of the folder.
    pub name: String,
    /// What its scene says of it.
    plan: Mutex<Option<Plan>>,
    reader: Mutex<FrameReader>,
}

/// What the page wants to know of a scene.
#[derive(Debug, Clone)]
struct Plan {
    /// Number of the last frame that the run will have.
    last_frame: u64,
    /// Seconds between frames.
    interval: f64,
    camera: Option<splashdown_scene::Camera>,
}

/// Runs by number, and the frames that were looked at lately.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    list: Mutex<Vec<Arc<KnownRun>>>,
    cache: Mutex<Cache>,
}

/// Run, frame and tag of a packed frame.
type Key = (usize, u64, String);

#[derive(Debug, Default)]
struct Cache {
    /// Newest last.
    frames: VecDeque<(Key, Arc<Vec<u8>>)>,
    bytes: usize,
}

/// A frame that cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameProblem {
    #[error("there is no frame {0}")]
    Missing(u64),
    #[error("frame {index} cannot be shown: {error}")]
    Unreadable { index: u64, error: FrameError },
    #[error("frame {index} is too large to show: {bytes} bytes unpacked, at most {MOST_BYTES}")]
    TooLarge { index: u64, bytes: u64 },
}

/// A panic elsewhere cannot leave these half-changed in a way that matters: at worst a frame is unpacked again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    /// Adds a run folder and tells its number; one that is known keeps its number.
    pub fn add(&self, path: &Path) -> usize {
        let mut list = lock(&self.list);
        let same = |run: &Arc<KnownRun>| {
            run.layout.root() == path
                || matches!((fs::canonicalize(run.layout.root()), fs::canonicalize(path)), (Ok(a), Ok(b)) if a == b)
        };
        if let Some(id) = list.iter().position(same) {
            return id;
        }
        let name = fs::canonicalize(path)
            .unwrap_or_else(|_| path.to_owned())
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        list.push(Arc::new(KnownRun {
            layout: Layout::new(path),
            name,
            plan: Mutex::default(),
            reader: Mutex::default(),
        }));
        list.len() - 1
    }

    /// Adds every run in a folder of runs.
    pub fn add_all_in(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.sort();
        found.iter().filter(|path| Layout::new(path.as_path()).is_run()).for_each(|path| {
            self.add(path);
        });
    }

    pub fn get(&self, id: usize) -> Option<Arc<KnownRun>> {
        lock(&self.list).get(id).cloned()
    }

    pub fn all(&self) -> Vec<Arc<KnownRun>> {
        lock(&self.list).clone()
    }

    /// A frame packed for the page, and its entity tag.
    pub fn frame(
        &self,
        id: usize,
        run: &KnownRun,
        index: u64,
    ) -> Result<(Arc<Vec<u8>>, String), FrameProblem> {
        let tag = run.tag(index).ok_or(FrameProblem::Missing(index))?;
        let key = (id, index, tag.clone());
        if let Some(found) = lock(&self.cache).find(&key) {
            return Ok((found, tag));
        }
        let packed = Arc::new(run.pack(index)?);
        lock(&self.cache).insert(key, Arc::clone(&packed));
        Ok((packed, tag))
    }
}

impl Cache {
    fn find(&mut self, key: &Key) -> Option<Arc<Vec<u8>>> {
        let at = self.frames.iter().position(|(known, _)| known == key)?;
        let found = self.frames.remove(at)?;
        let bytes = Arc::clone(&found.1);
        self.frames.push_back(found);
        Some(bytes)
    }

    fn insert(&mut self, key: Key, frame: Arc<Vec<u8>>) {
        self.bytes += frame.len();
        self.frames.push_back((key, frame));
        while self.bytes > CACHE_BYTES && self.frames.len() > 1 {
            if let Some((_, old)) = self.frames.pop_front() {
                self.bytes -= old.len();
            }
        }
    }
}

impl KnownRun {
    /// A file of the run, if it is there and really in the folder: links that lead out are not followed.
    pub fn file(&self, path: PathBuf) -> Option<PathBuf> {
        let (root, there) = (fs::canonicalize(self.layout.root()).ok()?, fs::canonicalize(path).ok()?);
        (there.starts_with(root) && there.is_file()).then_some(there)
    }

    /// Changes whenever the file of the frame does; `None` if there is none.
    pub fn tag(&self, index: u64) -> Option<String> {
        let file = fs::metadata(self.file(self.layout.frame(index))?).ok()?;
        let changed = file.modified().ok()?.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        Some(format!("\"{:x}-{changed:x}\"", file.len()))
    }

    fn pack(&self, index: u64) -> Result<Vec<u8>, FrameProblem> {
        let path = self.layout.frame(index);
        let unreadable = |error: FrameError| FrameProblem::Unreadable { index, error };
        let file = storage::read(&path).map_err(|error| unreadable(error.into()))?;
        let header = FrameHeader::decode(&file).map_err(unreadable)?;
        drop(file);
        let arrays = header.parts.iter().flat_map(|part| &part.arrays);
        let bytes = arrays.fold(0u64, |sum, array| {
            let count = array.shape[0].saturating_mul(array.shape[1]);
            sum.saturating_add(count.saturating_mul(array.number.size() as u64))
        });
        if bytes > MOST_BYTES {
            return Err(FrameProblem::TooLarge { index, bytes });
        }
        let frame = lock(&self.reader).read(&path).map_err(unreadable)?;
        Ok(payload::encode(&frame))
    }

    /// How the run stands and what there is of it, as the page reads it.
    pub fn describe(&self, id: usize) -> Value {
        let mut told =
            json!({ "id": id, "name": self.name, "folder": self.layout.root().display().to_string() });
        match RunInfo::read(&self.layout) {
            Ok(info) => {
                told["live"] = (info.status == Status::Running && self.is_written()).into();
                told["info"] = serde_json::to_value(&info).unwrap_or_default();
            }
            Err(error) => told["error"] = error.to_string().into(),
        }
        let frames: Vec<u64> = match self.layout.list_frames() {
            Ok(frames) => frames.into_iter().map(|(index, _)| index).collect(),
            Err(error) => {
                told["error"] = error.to_string().into();
                Vec::new()
            }
        };
        if let Some(plan) = self.plan() {
            told["last_frame"] = plan.last_frame.into();
            told["interval"] = plan.interval.into();
            if let Some(camera) = plan.camera {
                told["camera"] = serde_json::to_value(camera).unwrap_or_default();
            }
        }
        told["frames"] = ranges(&frames).into();
        let bytes = |path: PathBuf| fs::metadata(path).map_or(0, |file| file.len());
        told["log_bytes"] = bytes(self.layout.log()).into();
        told["timing_bytes"] = bytes(self.layout.timings()).into();
        told
    }

    /// Is the process that writes the run still there? Where that cannot be told it is believed.
    fn is_written(&self) -> bool {
        let processes = Path::new("/proc/self");
        let lock = fs::read_to_string(self.layout.root().join(".lock"));
        match lock.ok().and_then(|text| text.trim().parse::<u32>().ok()) {
            Some(process) if processes.exists() => Path::new("/proc").join(process.to_string()).exists(),
            _ => true,
        }
    }

    /// From the scene in the folder; read once it is there.
    fn plan(&self) -> Option<Plan> {
        let mut plan = lock(&self.plan);
        if plan.is_none() && self.layout.scene().is_file() {
            let scene = splashdown_scene::Scene::load(self.layout.scene(), &[]).ok()?;
            let clock = scene.time.clock();
            *plan = Some(Plan {
                last_frame: scene.time.last_frame(),
                interval: clock.frame_time(1) - clock.frame_time(0),
                camera: scene.camera,
            });
        }
        plan.clone()
    }
}

/// Ascending numbers as ranges `[first, last]`.
fn ranges(numbers: &[u64]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == number => *last = number,
            _ => ranges.push([number; 2]),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_in_the_frames_are_told() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), [[0, 2], [5, 5], [7, 8]]);
        assert!(ranges(&[]).is_empty());
    }

    #[test]
    fn the_cache_forgets_the_oldest() {
        let mut cache = Cache::default();
        let key = |index| (0, index, String::new());
        for index in 0..3 {
            cache.insert(key(index), Arc::new(vec![0; CACHE_BYTES / 2]));
        }
        assert!(
            cache.find(&key(0)).is_none() && cache.find(&key(1)).is_some() && cache.find(&key(2)).is_some()
        );
        cache.insert(key(9), Arc::new(vec![0; 2 * CACHE_BYTES]));
        assert_eq!((cache.frames.len(), cache.bytes), (1, 2 * CACHE_BYTES));
    }
}
