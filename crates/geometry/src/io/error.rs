//! What can be wrong with a mesh file.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a mesh file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MeshFileError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Neither content nor extension tells the format.
    #[error("{}: not a known mesh format; expected .obj, .stl, .ply, .vtk or .msh", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file does not follow its format.
    #[error("{}, {source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and what.
        source: SyntaxError,
    },
    /// The format cannot hold this mesh.
    #[error("{}: the mesh cannot be stored: {problem}", path.display())]
    CannotStore {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Line of text, counted from 1.
    Line(usize),
    /// Byte of binary data, counted from 0.
    Byte(usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// A place in a file that does not follow its format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: found {found}, expected {expected}")]
pub struct SyntaxError {
    /// Where.
    pub at: Location,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: String,
}

/// A mesh file holds other elements than asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WrongContent {
    /// None of the wanted kind.
    #[error("the mesh has no {wanted}: it holds {contents}")]
    Missing {
        /// Kind of element that was asked for.
        wanted: &'static str,
        /// What there is.
        contents: String,
    },
    /// A two-dimensional mesh was asked for.
    #[error("point {point} has z = {value} m, but a plane mesh must have z = 0")]
    NotPlane {
        /// The point.
        point: usize,
        /// Its height.
        value: f64,
    },
    /// An element names a point that does not exist.
    #[error("an element refers to point {index}, but there are {points} points (indices start at 0)")]
    BadIndex {
        /// The index.
        index: u32,
        /// Number of points.
        points: usize,
    },
}
