//! What the tests of the program share: a folder, the program in it, and everything that a folder holds.
#![allow(dead_code, reason = "each test file uses its part")]

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A scene that runs in a moment and still has every kind of body.
pub const SMALL: &str = r#"
dimension = 3
time = { end = 0.2, frame_rate = 50, step = 0.001 }
output = { checkpoint_every = 3 }
[[rigid]]
name = "ball"
shape = { sphere = { radius = 0.1 } }
density = 500
velocity = [1, 5, 0]
spin = [0, 0, 3]
[[rigid]]
name = "crate"
shape = { box = { size = [0.2, 0.3, 0.4] } }
mass = 2
position = [1, 1, 1]
spin = [1, 2, 3]
[[deformable]]
name = "chain"
geometry = { chain = { from = [0, 2, 0], to = [1, 2, 0], particles = 12 } }
mass = 0.2
springs = { stiffness = 500, damping_ratio = 0.3 }
pinned = [0]
"#;

/// A folder of its own in which the program runs.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// With `small.toml` in it.
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("small.toml", SMALL);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// The program with these arguments, in this folder.
    pub fn splashdown(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_splashdown"));
        command.current_dir(self.folder.path()).env_remove("NO_COLOR").args(arguments);
        command
    }

    /// Runs it and expects the exit code; gives what it wrote to stdout and stderr.
    pub fn expect(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.splashdown(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\nstdout: {out}\nstderr: {err}");
        assert!(!err.contains("panicked"), "{err}");
        (out, err)
    }

    /// Every file below `name` with its bytes.
    pub fn files(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.path(name), &mut files);
        files
    }

    /// Frames and log of a run: what must be the same in two runs of a scene.
    pub fn bits(&self, run: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let root = self.path(run);
        let wanted =
            |path: &Path| path.extension().is_some_and(|e| e == "spf") || path.ends_with("log.jsonl");
        let files = self.files(run).into_iter().filter(|(path, _)| wanted(path));
        files.map(|(path, bytes)| (path.strip_prefix(&root).unwrap().to_owned(), bytes)).collect()
    }
}

fn collect(path: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files)
        } else {
            _ = files.insert(path.clone(), std::fs::read(&path).unwrap())
        }
    }
}
