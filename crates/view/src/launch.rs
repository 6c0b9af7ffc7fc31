//! Runs that are started from the page.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs at the same time that may be started from the page.
const MOST: usize = 2;

/// Starts shipped scenes with this program.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    folder: PathBuf,
    children: Mutex<HashMap<PathBuf, Child>>,
}

impl Launcher {
    /// Runs `program run NAME` into folders inside `folder`.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), folder: folder.into(), children: Mutex::default() }
    }

    /// Folder of the runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Child>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a shipped scene in a folder of its own and waits until the folder is a run's, so that it can be looked at.
    pub(crate) fn start(&self, scene: &str) -> Result<PathBuf, String> {
        let mut children = self.lock();
        children.retain(|_, child| matches!(child.try_wait(), Ok(None)));
        if children.len() >= MOST {
            return Err(format!("{MOST} scenes are running; wait for one to end or stop it"));
        }
        let path = (1..)
            .map(|n| self.folder.join(if n == 1 { scene.to_owned() } else { format!("{scene}-{n}") }))
            .find(|path| !path.exists())
            .ok_or("no name is left for the folder")?;
        let mut child = Command::new(&self.program)
            .args(["run", scene, "--quiet", "--out"])
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.program.display()))?;
        // A scene is checked and built before its folder is made.
        for _ in 0..1200 {
            if splashdown_scene::run_folder::Layout::new(&path).is_run() {
                children.insert(path.clone(), child);
                return Ok(path);
            }
            if !matches!(child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let _ = child.kill();
        let mut message = String::new();
        if let Some(mut output) = child.stderr.take() {
            let _ = output.read_to_string(&mut message);
        }
        let _ = child.wait();
        Err(format!("the run of {scene} did not start: {}", message.trim()))
    }

    /// Ends a run that was started here; it is whole up to its last checkpoint. False if there is none.
    pub(crate) fn stop(&self, path: &Path) -> bool {
        match self.lock().remove(path) {
            Some(mut child) => child.kill().and_then(|()| child.wait()).is_ok(),
            None => false,
        }
    }

    /// Was it started here, and is it running?
    pub(crate) fn is_running(&self, path: &Path) -> bool {
        self.lock().get_mut(path).is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }
}
