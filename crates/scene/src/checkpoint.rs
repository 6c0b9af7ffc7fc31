//! Checkpoints: all that a run needs to go on with the same bits.

use crate::container::{self, ContainerError, Kind};
use crate::storage::{self, StorageError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Checkpoint files.
pub const KIND: Kind = Kind { name: "checkpoint", magic: *b"\x89SPC\r\n\x1a\n", version: 1 };
/// File name extension of checkpoints.
pub const EXTENSION: &str = "spc";
/// How many are kept: if the newest one is damaged, the one before still serves.
pub const KEPT: usize = 2;

/// The state of a run after a step, with its place in the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// What it belongs to and where it stands.
    pub place: Place,
    /// The simulation's own state, opaque here.
    pub state: Vec<u8>,
}

/// Where a checkpoint stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Version of the program that wrote it; another one may lay out the state differently or round differently.
    pub program: String,
    /// Fingerprint of the physics of the scene.
    pub scene: String,
    /// Steps taken.
    pub step: u64,
    /// Simulated time (s).
    pub time: f64,
    /// First frame that is not written yet.
    pub next_frame: u64,
    /// Length of the log up to this step.
    pub log_bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    place: Place,
    raw_bytes: u64,
    bytes: u64,
    crc32: u32,
}

/// A checkpoint that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file is not a checkpoint, or it is damaged.
    #[error(transparent)]
    Container(#[from] ContainerError),
}

impl Checkpoint {
    /// Packs the checkpoint.
    pub fn encode(&self, level: i32) -> Result<Vec<u8>, ContainerError> {
        let block = container::pack(&self.state, level, "the state")?;
        let header = Header {
            place: self.place.clone(),
            raw_bytes: self.state.len() as u64,
            bytes: block.len() as u64,
            crc32: crc32fast::hash(&block),
        };
        let mut file = container::seal(KIND, &header)?;
        file.extend_from_slice(&block);
        Ok(file)
    }

    /// Unpacks and checks a checkpoint.
    pub fn decode(file: &[u8]) -> Result<Self, ContainerError> {
        let (header, block) = container::open(KIND, file, |header: &Header| header.bytes)?;
        let state = container::unpack(block, header.crc32, header.raw_bytes, "the state")?;
        Ok(Self { place: header.place, state })
    }

    /// Reads a checkpoint file.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        Ok(Self::decode(&storage::read(path)?)?)
    }

    /// Writes the checkpoint into `folder` and removes all but the newest [`KEPT`].
    pub fn write(&self, folder: &Path, level: i32) -> Result<(), CheckpointError> {
        let file = self.encode(level)?;
        let path = folder.join(format!("checkpoint-{:012}.{EXTENSION}", self.place.step));
        storage::write_atomically(&path, |out| out.write_all(&file))?;
        for (_, old) in list(folder)?.into_iter().filter(|(step, _)| *step <= self.place.step).skip(KEPT) {
            std::fs::remove_file(&old).map_err(StorageError::doing("remove", &old))?;
        }
        Ok(())
    }
}

/// Checkpoints of a folder by step, the newest first. A missing folder has none.
pub fn list(folder: &Path) -> Result<Vec<(u64, PathBuf)>, StorageError> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        Err(cause) => return Err(StorageError { action: "read", path: folder.to_owned(), cause }),
    };
    for entry in entries {
        let path = entry.map_err(StorageError::doing("read", folder))?.path();
        let step = path.file_name().and_then(|name| name.to_str()).and_then(|name| {
            name.strip_prefix("checkpoint-")?.strip_suffix(EXTENSION)?.strip_suffix('.')?.parse().ok()
        });
        found.extend(step.filter(|_| path.is_file()).map(|step| (step, path)));
    }
    found.sort_by_key(|found| std::cmp::Reverse(found.0));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(step: u64) -> Checkpoint {
        let place = Place {
            program: "0.1.0".into(),
            scene: "cafe".into(),
            step,
            time: 0.1 + 0.2,
            next_frame: 4,
            log_bytes: 999,
        };
        Checkpoint { place, state: (0..3000_u32).map(|i| (i * i % 251) as u8).collect() }
    }

    #[test]
    fn what_is_read_is_what_was_written_and_damage_is_noticed() {
        let file = sample(7).encode(3).unwrap();
        assert_eq!(Checkpoint::decode(&file).unwrap(), sample(7));
        for byte in 0..file.len() {
            let mut flipped = file.clone();
            flipped[byte] ^= 1 << (byte % 8);
            assert!(Checkpoint::decode(&flipped).is_err(), "bit of byte {byte}");
            assert!(Checkpoint::decode(&file[..byte]).is_err(), "cut at {byte}");
        }
    }

    #[test]
    fn only_the_newest_two_are_kept_and_a_full_disk_removes_none() {
        let folder = tempfile::tempdir().unwrap();
        for step in [3, 20, 100] {
            sample(step).write(folder.path(), 3).unwrap();
        }
        let steps = |folder: &Path| list(folder).unwrap().iter().map(|(step, _)| *step).collect::<Vec<_>>();
        assert_eq!(steps(folder.path()), [100, 20]);
        storage::fault::budget::set(folder.path(), 50);
        assert!(matches!(sample(200).write(folder.path(), 3), Err(CheckpointError::Storage(_))));
        assert_eq!(steps(folder.path()), [100, 20]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
