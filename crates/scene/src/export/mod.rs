//! Frames for other programs: VTK XML series for ParaView, PLY and OBJ sequences for renderers, animated glTF and USD, OpenVDB volumes.

mod drawing;
mod gltf;
mod motion;
mod obj;
pub mod palette;
mod ply;
mod usd;
mod vdb;
mod vtk;

pub use drawing::{Drawing, Object, boundary};

use crate::frame::{FrameError, FrameReader, Geometry};
use crate::run_folder::{Layout, RunFolderError, RunInfo};
use crate::storage::StorageError;
use serde::Serialize;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// File format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// VTK XML: one `.vtp`, `.vtu` or `.vti` for each part and frame, and a `.pvd` that lists them with their times.
    Vtk,
    /// One binary PLY file a frame.
    Ply,
    /// One OBJ file a frame.
    Obj,
    /// One binary, animated glTF file.
    Gltf,
    /// One USD file as text, with time samples.
    Usd,
    /// One OpenVDB file a frame, with the grids of fluids.
    Vdb,
}

impl Format {
    /// Word for it, also the extension of PLY and OBJ files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vtk => "vtk",
            Self::Ply => "ply",
            Self::Obj => "obj",
            Self::Gltf => "gltf",
            Self::Usd => "usd",
            Self::Vdb => "vdb",
        }
    }
}

/// An export that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file could not be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunFolderError),
    /// A frame cannot be read.
    #[error("{}: {error}", path.display())]
    Frame {
        /// The frame's file.
        path: PathBuf,
        /// Why.
        error: FrameError,
    },
    /// The run has no such frames.
    #[error("{} has no frames in {first}..{last}; it has {have}", path.display())]
    NoFrames {
        /// The run.
        path: PathBuf,
        /// First frame asked for.
        first: u64,
        /// Last frame asked for.
        last: String,
        /// What there is, in words.
        have: String,
    },
    /// The frames hold nothing that the format can.
    #[error("{} has no fluid: OpenVDB files hold grids only; use vtk, gltf or usd for bodies", path.display())]
    NoGrids {
        /// The run.
        path: PathBuf,
    },
    /// The folder is one that the run keeps its own data in.
    #[error("{} holds the run's own data; choose another folder with --out", path.display())]
    OwnFolder {
        /// As given.
        path: PathBuf,
    },
    /// The folder holds something already.
    #[error("{} is not empty; --overwrite replaces files of the same names there, or choose another folder with --out", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exported {
    /// Folder of the files.
    pub folder: PathBuf,
    /// The file to open, if there is one for all frames.
    pub collection: Option<PathBuf>,
    /// Number of frames.
    pub frames: usize,
    /// Every file, in order.
    pub files: Vec<PathBuf>,
    /// Parts that the format cannot hold (grids in all but VTK).
    pub left_out: Vec<String>,
}

/// Writes the frames of a run in `range` into the folder `out`; `progress` hears the number of frames done and their total.
pub fn export_run(
    layout: &Layout,
    format: Format,
    range: RangeInclusive<u64>,
    out: &Path,
    overwrite: bool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Exported, ExportError> {
    let info = RunInfo::read(layout)?;
    let all = layout.list_frames()?;
    let have = match (all.first(), all.last()) {
        (Some((first, _)), Some((last, _))) => format!("{first} to {last}"),
        _ => "none".into(),
    };
    let frames: Vec<_> = all.into_iter().filter(|(index, _)| range.contains(index)).collect();
    if frames.is_empty() {
        let last = if *range.end() == u64::MAX { String::new() } else { range.end().to_string() };
        return Err(ExportError::NoFrames {
            path: layout.root().to_owned(),
            first: *range.start(),
            last,
            have,
        });
    }
    let own = [layout.frames(), layout.checkpoints()];
    if own.iter().any(|folder| is_same_folder(folder, out)) {
        return Err(ExportError::OwnFolder { path: out.to_owned() });
    }
    let occupied = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !overwrite {
        return Err(ExportError::NotEmpty { path: out.to_owned() });
    }
    fs::create_dir_all(out).map_err(StorageError::doing("create", out))?;

    let mut exported = Exported {
        folder: out.to_owned(),
        collection: None,
        frames: frames.len(),
        files: vec![],
        left_out: vec![],
    };
    let mut reader = FrameReader::default();
    let mut collection = vtk::Collection::default();
    let mut motion = motion::Motion::default();
    for (done, (_, path)) in frames.iter().enumerate() {
        progress(done, frames.len());
        let frame = reader.read(path).map_err(|error| ExportError::Frame { path: path.clone(), error })?;
        match format {
            Format::Vtk => exported.files.extend(vtk::write_frame(&frame, out, &mut collection)?),
            Format::Gltf | Format::Usd => motion.add(&frame),
            Format::Vdb => {
                let file = out.join(format!("frame-{:06}.vdb", frame.index));
                if vdb::write(&frame, &file)? > 0 {
                    exported.files.push(file);
                }
                let others =
                    frame.parts.iter().filter(|part| !matches!(part.geometry, Geometry::Grid { .. }));
                for part in others.filter(|part| !exported.left_out.contains(&part.name)).collect::<Vec<_>>()
                {
                    exported.left_out.push(part.name.clone());
                }
            }
            Format::Ply | Format::Obj => {
                let drawing = Drawing::of(&frame);
                let file = out.join(format!("frame-{:06}.{}", frame.index, format.name()));
                if format == Format::Ply {
                    ply::write(&drawing, &file)?
                } else {
                    obj::write(&drawing, &file)?
                }
                exported.files.push(file);
                for name in drawing.left_out {
                    if !exported.left_out.contains(&name) {
                        exported.left_out.push(name);
                    }
                }
            }
        }
    }
    progress(frames.len(), frames.len());
    if format == Format::Vdb && exported.files.is_empty() {
        return Err(ExportError::NoGrids { path: layout.root().to_owned() });
    }
    if format == Format::Vtk {
        let path = out.join(format!("{}.pvd", file_stem(&info.scene)));
        collection.write(&path)?;
        exported.collection = Some(path);
    }
    if matches!(format, Format::Gltf | Format::Usd) {
        let ending = if format == Format::Gltf { "glb" } else { "usda" };
        let path = out.join(format!("{}.{ending}", file_stem(&info.scene)));
        let write = if format == Format::Gltf { gltf::write } else { usd::write };
        write(&motion, &info.scene, info.dimension, &path)?;
        exported.left_out = motion.left_out;
        exported.files.push(path.clone());
        exported.collection = Some(path);
    }
    Ok(exported)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// A name as part of a file name: letters, digits, `-` and `_`.
fn file_stem(name: &str) -> String {
    let stem: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
        .collect();
    if stem.is_empty() { "part".into() } else { stem }
}
