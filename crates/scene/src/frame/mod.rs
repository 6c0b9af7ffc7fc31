//! A frame: everything there is to see at one instant, as named arrays with units.
//!
//! A frame is for looking and measuring (the viewer, exporters, scripts), a checkpoint is for going on.
//! [`Frame`] is the picture in memory, [`encode`](Frame::encode) and [`decode`](Frame::decode) are its file, described byte by byte in [`mod@format`].

pub mod format;
mod shapes;
mod tessellation;
mod validate;

pub use format::{FrameError, FrameHeader};
pub use shapes::{FrameReader, SavedShape, SavedShapes, SurfaceShape};
pub use tessellation::Surface;
pub(crate) use tessellation::in_space;
pub use validate::Inconsistent;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The picture of a world at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// 2 or 3.
    pub dimension: usize,
    /// Number of the frame, from 0 (the initial state).
    pub index: u64,
    /// Steps taken so far.
    pub step: u64,
    /// Simulated time (s).
    pub time: f64,
    /// What there is to see, each with its own name.
    pub parts: Vec<Part>,
}

/// A named thing in a frame: a set of rigid bodies, a cloud of points, a mesh or a grid, with data on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Unique in the frame.
    pub name: String,
    /// Where it is.
    pub geometry: Geometry,
    /// What is known on it: velocity, pressure, ...
    pub attributes: Vec<Attribute>,
}

/// Where a part is. Coordinates are flat, `dimension` numbers a point, in metres.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// Rigid bodies; an attribute on points has one entry a body.
    Bodies(Bodies),
    /// Loose points, such as fluid particles.
    Points {
        /// Positions (m).
        positions: Vec<f64>,
    },
    /// Points joined by elements of one kind.
    Mesh {
        /// Kind of element.
        element: Element,
        /// Positions (m).
        positions: Vec<f64>,
        /// Point indices, [`Element::corners`] for each element.
        elements: Vec<u32>,
    },
    /// A uniform grid, x fastest in all its data.
    Grid {
        /// Lowest corner (m).
        origin: Vec<f64>,
        /// Edge of a cell (m).
        spacing: f64,
        /// Number of cells along each axis.
        cells: Vec<u64>,
    },
}

/// Rigid bodies that share a table of shapes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bodies {
    /// One name a body.
    pub names: Vec<String>,
    /// Shapes in object coordinates.
    pub shapes: Vec<Shape>,
    /// Index into `shapes`, one a body.
    pub shape_of: Vec<u32>,
    /// Centres of mass (m).
    pub positions: Vec<f64>,
    /// Orientations: (cos, sin) in 2D, the unit quaternion (w, x, y, z) in 3D.
    pub rotations: Vec<f64>,
}

/// What a rigid body looks like in its own coordinates.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Disc or ball about the origin.
    Ball {
        /// Radius (m).
        radius: f64,
    },
    /// Rectangle or box about the origin.
    Box {
        /// Full edge lengths (m).
        edges: Vec<f64>,
    },
    /// A closed surface: segments in 2D, triangles in 3D. Shared between frames, in memory and on disk.
    Surface(Arc<SurfaceShape>),
}

/// Kind of element of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// Two points.
    Segment,
    /// Three points.
    Triangle,
    /// Four points, positive signed volume.
    Tetrahedron,
    /// Eight points in the order `4 i + 2 j + k`.
    Hexahedron,
}

impl Element {
    /// Points of one element.
    pub fn corners(self) -> usize {
        match self {
            Self::Segment => 2,
            Self::Triangle => 3,
            Self::Tetrahedron => 4,
            Self::Hexahedron => 8,
        }
    }
}

/// What an attribute's entries belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Association {
    /// Points of a mesh or cloud, nodes of a grid, bodies.
    Point,
    /// Elements of a mesh, cells of a grid.
    Cell,
    /// Faces of a grid normal to x.
    FaceX,
    /// Faces of a grid normal to y.
    FaceY,
    /// Faces of a grid normal to z.
    FaceZ,
}

impl Association {
    /// Axis of the faces, if these are faces.
    pub fn face_axis(self) -> Option<usize> {
        match self {
            Self::FaceX => Some(0),
            Self::FaceY => Some(1),
            Self::FaceZ => Some(2),
            Self::Point | Self::Cell => None,
        }
    }
}

/// A named array on a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Name in words: `"velocity"`.
    pub name: String,
    /// Unit: `"m/s"`, `"1"` for a pure number.
    pub unit: String,
    /// What the entries belong to.
    pub association: Association,
    /// Numbers for each entry.
    pub components: usize,
    /// The numbers, entry by entry.
    pub data: Data,
}

/// Numbers of one of the types that a frame can hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Double precision.
    F64(Vec<f64>),
    /// Single precision.
    F32(Vec<f32>),
    /// Unsigned integers.
    U32(Vec<u32>),
}

impl Data {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::U32(values) => values.len(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at `index`, whatever its type.
    pub fn get(&self, index: usize) -> f64 {
        match self {
            Self::F64(values) => values[index],
            Self::F32(values) => f64::from(values[index]),
            Self::U32(values) => f64::from(values[index]),
        }
    }

    /// Smallest and largest number, skipping NaN; `None` when there is none.
    pub fn range(&self) -> Option<[f64; 2]> {
        (0..self.len()).map(|index| self.get(index)).filter(|value| !value.is_nan()).fold(
            None,
            |range, value| {
                let [low, high] = range.unwrap_or([value; 2]);
                Some([low.min(value), high.max(value)])
            },
        )
    }
}

impl Geometry {
    /// Word for the kind, as in the file's header.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bodies(_) => "bodies",
            Self::Points { .. } => "points",
            Self::Mesh { element: Element::Segment, .. } => "segments",
            Self::Mesh { element: Element::Triangle, .. } => "triangles",
            Self::Mesh { element: Element::Tetrahedron, .. } => "tetrahedra",
            Self::Mesh { element: Element::Hexahedron, .. } => "hexahedra",
            Self::Grid { .. } => "grid",
        }
    }

    /// How many entries an attribute with this association has; `None` if it makes no sense here or does not fit the machine.
    pub fn entries(&self, association: Association, dimension: usize) -> Option<usize> {
        match (self, association) {
            (Self::Bodies(bodies), Association::Point) => Some(bodies.names.len()),
            (Self::Points { positions } | Self::Mesh { positions, .. }, Association::Point) => {
                positions.len().checked_div(dimension)
            }
            (Self::Mesh { element, elements, .. }, Association::Cell) => {
                Some(elements.len() / element.corners())
            }
            (Self::Grid { cells, .. }, Association::Cell) => product(cells.iter().copied()),
            (Self::Grid { cells, .. }, Association::Point) => {
                product(cells.iter().map(|n| n.saturating_add(1)))
            }
            (Self::Grid { cells, .. }, face) => {
                let axis = face.face_axis().filter(|axis| *axis < cells.len())?;
                product(
                    cells.iter().enumerate().map(|(i, n)| if i == axis { n.saturating_add(1) } else { *n }),
                )
            }
            _ => None,
        }
    }
}

fn product(factors: impl Iterator<Item = u64>) -> Option<usize> {
    factors.map(|n| usize::try_from(n).ok()).try_fold(1_usize, |all, n| all.checked_mul(n?))
}

impl Frame {
    /// Memory of the arrays (bytes), for queues that are bounded by what they hold.
    pub fn memory_bytes(&self) -> usize {
        self.parts.iter().map(Part::memory_bytes).sum()
    }

    /// File name of frame `index`; names sort like the numbers.
    pub fn file_name(index: u64) -> String {
        format!("frame-{index:06}.{}", format::EXTENSION)
    }

    /// Inverse of [`Self::file_name`].
    pub fn index_of(file_name: &str) -> Option<u64> {
        file_name.strip_prefix("frame-")?.strip_suffix(format::EXTENSION)?.strip_suffix('.')?.parse().ok()
    }
}

impl Part {
    fn memory_bytes(&self) -> usize {
        let geometry = match &self.geometry {
            Geometry::Bodies(bodies) => {
                let shape = |shape: &Shape| match shape {
                    Shape::Surface(surface) => 8 * surface.positions().len() + 4 * surface.elements().len(),
                    _ => 0,
                };
                bodies.names.iter().map(|name| name.len() + 24).sum::<usize>()
                    + bodies.shapes.iter().map(shape).sum::<usize>()
                    + 4 * bodies.shape_of.len()
                    + 8 * (bodies.positions.len() + bodies.rotations.len())
            }
            Geometry::Points { positions } => 8 * positions.len(),
            Geometry::Mesh { positions, elements, .. } => 8 * positions.len() + 4 * elements.len(),
            Geometry::Grid { .. } => 0,
        };
        let attribute = |attribute: &Attribute| match &attribute.data {
            Data::F64(values) => 8 * values.len(),
            Data::F32(values) => 4 * values.len(),
            Data::U32(values) => 4 * values.len(),
        };
        geometry + self.attributes.iter().map(attribute).sum::<usize>()
    }
}
