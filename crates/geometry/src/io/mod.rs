//! Mesh files: OBJ, STL, PLY, legacy VTK and Gmsh, read and written.
//!
//! [`read_mesh`] finds the format by the content of the file, then by its extension; [`write_mesh`] by the extension. Readers are strict: a file that does not follow its
//! format gives a [`MeshFileError`] with the line or byte, what stood there and what should have. A mesh that is well written but unfit for simulation (empty,
//! leaky, inverted, non-manifold) is read as it is; [`crate::mesh`] tells what is wrong with it. No reader trusts a count before it has
//! compared it with the size of the file.
//!
//! | format | reads | writes | holds |
//! |---|---|---|---|
//! | `.obj` | text | text | triangles, polygons (split), segments |
//! | `.stl` | text, binary; corners are welded | text, binary (single precision) | triangles |
//! | `.ply` | text, binary of either byte order; extra properties are skipped | text, binary (little-endian) | triangles, polygons (split), segments |
//! | `.vtk` | text, binary, versions 1 to 5.1, `POLYDATA` and `UNSTRUCTURED_GRID`; attributes are skipped | text, binary | all |
//! | `.msh` | text, binary of either byte order, versions 2.x and 4.1, physical groups | text, binary, 4.1 | all, with groups |
//!
//! Coordinates are metres. Text is written with the fewest digits that read back to the same bits.

mod cursor;
mod error;
pub mod gmsh;
pub mod obj;
pub mod ply;
mod polygon;
mod scalar;
pub mod stl;
pub mod vtk;
mod weld;

pub use error::{Location, MeshFileError, SyntaxError, WrongContent};

use crate::mesh::{HexahedronMesh, Mesh, SegmentMesh, TetrahedronMesh, TriangleMesh};
use splashdown_math::Vector;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Everything a mesh file can hold: points in space and elements of several kinds over them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnyMesh {
    /// Positions, m. A plane mesh has z = 0.
    pub points: Vec<Vector<3>>,
    /// Line segments.
    pub segments: Vec<[u32; 2]>,
    /// Triangles, in the orientation of the file.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra, in the orientation of the file.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Hexahedra in the order of [`HexahedronMesh`].
    pub hexahedra: Vec<[u32; 8]>,
    /// Named sets of elements; only Gmsh files have them.
    pub groups: Vec<Group>,
}

/// A kind of element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementKind {
    /// Two points.
    Segment,
    /// Three points.
    Triangle,
    /// Four points, three-dimensional.
    Tetrahedron,
    /// Eight points, three-dimensional.
    Hexahedron,
}

impl ElementKind {
    /// Dimension of the element itself: 1 for segments, 2 for triangles, 3 for solids.
    pub fn dimension(self) -> usize {
        match self {
            Self::Segment => 1,
            Self::Triangle => 2,
            Self::Tetrahedron | Self::Hexahedron => 3,
        }
    }
}

/// A set of elements of one kind, for boundary conditions and materials ("physical group" in Gmsh).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Name, empty when the file gives none.
    pub name: String,
    /// Number of the group in the file; unique among groups of one dimension.
    pub tag: i32,
    /// What the members are.
    pub kind: ElementKind,
    /// Indices into the elements of that kind, increasing.
    pub elements: Vec<u32>,
}

/// A mesh file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// Stereolithography.
    Stl,
    /// Stanford PLY.
    Ply,
    /// Legacy VTK.
    Vtk,
    /// Gmsh MSH.
    Gmsh,
}

impl MeshFormat {
    /// Extensions by which formats are known.
    pub const EXTENSIONS: [(&'static str, MeshFormat); 5] = [
        ("obj", MeshFormat::Obj),
        ("stl", MeshFormat::Stl),
        ("ply", MeshFormat::Ply),
        ("vtk", MeshFormat::Vtk),
        ("msh", MeshFormat::Gmsh),
    ];

    /// Format by the extension of a path, in upper or lower case.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::EXTENSIONS.iter().find(|(name, _)| *name == extension).map(|(_, format)| *format)
    }

    /// Format by the first bytes of a file; `None` for those that have no mark (OBJ and binary STL).
    pub fn of_content(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
            Some(Self::Ply)
        } else if bytes.starts_with(b"# vtk DataFile") {
            Some(Self::Vtk)
        } else if bytes.trim_ascii_start().starts_with(b"$MeshFormat") {
            Some(Self::Gmsh)
        } else {
            None
        }
    }
}

/// Text or binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Readable text.
    Text,
    /// Compact and fast; OBJ has no such form and is written as text.
    #[default]
    Binary,
}

/// Reads a mesh file of any supported format.
///
/// ```
/// # use splashdown_geometry::io::{read_mesh, write_mesh, AnyMesh, Encoding};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("bunny.stl");
/// # let sphere = splashdown_geometry::generate::icosphere(Default::default(), 1.0, 2)?;
/// write_mesh(&path, &AnyMesh::from(sphere), Encoding::Binary)?;
/// let surface = read_mesh(&path)?.into_triangles::<3>()?;
/// # assert_eq!(surface.elements.len(), 80);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_mesh(path: impl AsRef<Path>) -> Result<AnyMesh, MeshFileError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|source| MeshFileError::Io { path: path.to_path_buf(), source })?;
    let format = MeshFormat::of_content(&bytes)
        .or_else(|| MeshFormat::of_path(path))
        .ok_or_else(|| MeshFileError::UnknownFormat { path: path.to_path_buf() })?;
    parse_mesh(&bytes, format).map_err(|source| MeshFileError::Syntax { path: path.to_path_buf(), source })
}

/// Reads a mesh from memory.
pub fn parse_mesh(bytes: &[u8], format: MeshFormat) -> Result<AnyMesh, SyntaxError> {
    match format {
        MeshFormat::Obj => obj::parse(bytes),
        MeshFormat::Stl => stl::parse(bytes),
        MeshFormat::Ply => ply::parse(bytes),
        MeshFormat::Vtk => vtk::parse(bytes),
        MeshFormat::Gmsh => gmsh::parse(bytes),
    }
}

/// Writes a mesh file in the format of its extension. The file appears whole or not at all: it is written beside its place and then renamed.
pub fn write_mesh(path: impl AsRef<Path>, mesh: &AnyMesh, encoding: Encoding) -> Result<(), MeshFileError> {
    let path = path.as_ref();
    let format =
        MeshFormat::of_path(path).ok_or_else(|| MeshFileError::UnknownFormat { path: path.to_path_buf() })?;
    mesh.check_storable(format)
        .map_err(|problem| MeshFileError::CannotStore { path: path.to_path_buf(), problem })?;
    let io_error = |source| MeshFileError::Io { path: path.to_path_buf(), source };
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".partial-{}", std::process::id()));
    let written = fs::File::create(&partial)
        .and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 18, file);
            encode_mesh(mesh, format, encoding, &mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        })
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // The first error is the one to report; a leftover that cannot be removed does no harm.
        let _ = fs::remove_file(&partial);
    }
    written.map_err(io_error)
}

/// Writes a mesh to any sink. Elements that the format cannot hold are left out; [`write_mesh`] refuses them instead.
pub fn encode_mesh(
    mesh: &AnyMesh,
    format: MeshFormat,
    encoding: Encoding,
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        MeshFormat::Obj => obj::write(mesh, out),
        MeshFormat::Stl => stl::write(mesh, encoding, out),
        MeshFormat::Ply => ply::write(mesh, encoding, out),
        MeshFormat::Vtk => vtk::write(mesh, encoding, out),
        MeshFormat::Gmsh => gmsh::write(mesh, encoding, out),
    }
}

impl AnyMesh {
    /// Number of elements of all kinds.
    pub fn element_count(&self) -> usize {
        self.segments.len() + self.triangles.len() + self.tetrahedra.len() + self.hexahedra.len()
    }

    /// How many elements of which kinds, in words.
    pub fn contents(&self) -> String {
        let parts: Vec<String> = [
            (self.segments.len(), "segments"),
            (self.triangles.len(), "triangles"),
            (self.tetrahedra.len(), "tetrahedra"),
            (self.hexahedra.len(), "hexahedra"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
        if parts.is_empty() {
            format!("{} points and no elements", self.points.len())
        } else {
            parts.join(", ")
        }
    }

    /// Triangles with their points, for `D` = 3 or, when the mesh is plane, `D` = 2. Points that only other elements use are dropped.
    pub fn into_triangles<const D: usize>(self) -> Result<TriangleMesh<D>, WrongContent> {
        let contents = self.contents();
        select(self.points, self.triangles, "triangles", contents)
    }

    /// Segments with their points, for `D` = 3 or, when the mesh is plane, `D` = 2.
    pub fn into_segments<const D: usize>(self) -> Result<SegmentMesh<D>, WrongContent> {
        let contents = self.contents();
        select(self.points, self.segments, "segments", contents)
    }

    /// Tetrahedra with their points.
    pub fn into_tetrahedra(self) -> Result<TetrahedronMesh, WrongContent> {
        let contents = self.contents();
        select(self.points, self.tetrahedra, "tetrahedra", contents)
    }

    /// Hexahedra with their points.
    pub fn into_hexahedra(self) -> Result<HexahedronMesh, WrongContent> {
        let contents = self.contents();
        select(self.points, self.hexahedra, "hexahedra", contents)
    }

    fn check_storable(&self, format: MeshFormat) -> Result<(), String> {
        if let Some(point) = self.points.iter().position(|x| x.iter().any(|v| !v.is_finite())) {
            return Err(format!("point {point} is {:?}, which is not finite", self.points[point].as_slice()));
        }
        if self.points.len() > i32::MAX as usize || self.element_count() > i32::MAX as usize {
            return Err("it has more points or elements than the file's 32-bit numbers can count".into());
        }
        let flat = self.segments.as_flattened().iter().chain(self.triangles.as_flattened());
        let solid = self.tetrahedra.as_flattened().iter().chain(self.hexahedra.as_flattened());
        if let Some(index) = flat.chain(solid).find(|i| **i as usize >= self.points.len()) {
            return Err(format!("an element refers to point {index}, but there are {}", self.points.len()));
        }
        let solids = !self.tetrahedra.is_empty() || !self.hexahedra.is_empty();
        match format {
            MeshFormat::Obj | MeshFormat::Ply if solids => {
                Err(format!("this format holds surfaces only, but the mesh has {}", self.contents()))
            }
            MeshFormat::Stl if solids || !self.segments.is_empty() => {
                Err(format!("this format holds triangles only, but the mesh has {}", self.contents()))
            }
            MeshFormat::Stl if self.points.iter().any(|x| x.amax() > f64::from(f32::MAX)) => {
                Err("a coordinate exceeds single precision".into())
            }
            MeshFormat::Gmsh => gmsh::check_groups(self),
            _ => Ok(()),
        }
    }
}

/// Keeps the points that `elements` use, in their order, and drops coordinates beyond `D`, which must be zero.
fn select<const D: usize, const N: usize>(
    points: Vec<Vector<3>>,
    mut elements: Vec<[u32; N]>,
    wanted: &'static str,
    contents: String,
) -> Result<Mesh<D, N>, WrongContent> {
    if elements.is_empty() {
        return Err(WrongContent::Missing { wanted, contents });
    }
    let mut number = vec![u32::MAX; points.len()];
    for &i in elements.as_flattened() {
        match number.get_mut(i as usize) {
            Some(slot) => *slot = 0,
            None => return Err(WrongContent::BadIndex { index: i, points: points.len() }),
        }
    }
    let mut kept = Vec::with_capacity(points.len());
    for (i, x) in points.iter().enumerate() {
        if number[i] == u32::MAX {
            continue;
        }
        if let Some(axis) = (D..3).find(|&axis| x[axis] != 0.0) {
            return Err(WrongContent::NotPlane { point: i, value: x[axis] });
        }
        number[i] = kept.len() as u32;
        kept.push(Vector::<D>::from_fn(|axis, _| x[axis]));
    }
    for i in elements.as_flattened_mut() {
        *i = number[*i as usize];
    }
    Ok(Mesh { points: kept, elements })
}

fn in_space<const D: usize>(points: Vec<Vector<D>>) -> Vec<Vector<3>> {
    points.into_iter().map(|x| Vector::<3>::from_fn(|axis, _| if axis < D { x[axis] } else { 0.0 })).collect()
}

impl<const D: usize> From<SegmentMesh<D>> for AnyMesh {
    fn from(mesh: SegmentMesh<D>) -> Self {
        Self { points: in_space(mesh.points), segments: mesh.elements, ..Self::default() }
    }
}

impl<const D: usize> From<TriangleMesh<D>> for AnyMesh {
    fn from(mesh: TriangleMesh<D>) -> Self {
        Self { points: in_space(mesh.points), triangles: mesh.elements, ..Self::default() }
    }
}

impl From<TetrahedronMesh> for AnyMesh {
    fn from(mesh: TetrahedronMesh) -> Self {
        Self { points: mesh.points, tetrahedra: mesh.elements, ..Self::default() }
    }
}

impl From<HexahedronMesh> for AnyMesh {
    fn from(mesh: HexahedronMesh) -> Self {
        Self { points: mesh.points, hexahedra: mesh.elements, ..Self::default() }
    }
}

/// VTK and Gmsh list a hexahedron's corners as two counter-clockwise squares; entry c is where that corner stands in our order 4 i + 2 j + k.
const RING_ORDER: [usize; 8] = [0b000, 0b100, 0b110, 0b010, 0b001, 0b101, 0b111, 0b011];

fn hexahedron_to_rings(hex: &[u32; 8]) -> [u32; 8] {
    RING_ORDER.map(|c| hex[c])
}

fn hexahedron_from_rings(rings: &[u32; 8]) -> [u32; 8] {
    let mut hex = [0; 8];
    for (c, &index) in RING_ORDER.iter().zip(rings) {
        hex[*c] = index;
    }
    hex
}

#[cfg(test)]
mod tests;
