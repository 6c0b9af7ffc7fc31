//! VTK XML files with appended raw data: `.vtp` for surfaces, `.vtu` for particles and volume meshes, `.vti` for grids, `.pvd` for the series.
//!
//! Written by hand, since the format is small and a reader checks it (`checks/vtk_readback.py` opens every file with VTK itself).

use super::drawing::body_velocities;
use super::file_stem;
use crate::frame::{Association, Data, Element, Frame, Geometry, Part, Surface, in_space};
use crate::storage::{StorageError, write_atomically};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Names and times of the files of a series.
#[derive(Debug, Default)]
pub struct Collection {
    entries: Vec<(f64, usize, String, String)>,
}

impl Collection {
    /// Writes the `.pvd` file.
    pub fn write(&self, path: &Path) -> Result<(), StorageError> {
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
        );
        for (time, part, name, file) in &self.entries {
            let name = escape(name);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "<DataSet timestep=\"{time}\" part=\"{part}\" name=\"{name}\" file=\"{file}\"/>"
            );
        }
        text.push_str("</Collection>\n</VTKFile>\n");
        write_atomically(path, |out| out.write_all(text.as_bytes()))
    }
}

/// Writes one file for each part of a frame.
pub fn write_frame(
    frame: &Frame,
    folder: &Path,
    collection: &mut Collection,
) -> Result<Vec<PathBuf>, StorageError> {
    let mut stems = HashSet::new();
    let mut files = Vec::new();
    for (number, part) in frame.parts.iter().enumerate() {
        let mut stem = file_stem(&part.name);
        if !stems.insert(stem.clone()) {
            stem = format!("{stem}-{number}");
            stems.insert(stem.clone());
        }
        let document = document(part, frame);
        let file = format!("{stem}-{:06}.{}", frame.index, document.extension);
        let path = folder.join(&file);
        write_atomically(&path, |out| document.write(out))?;
        collection.entries.push((frame.time, number, part.name.clone(), file));
        files.push(path);
    }
    Ok(files)
}

fn document(part: &Part, frame: &Frame) -> Document {
    let dimension = frame.dimension;
    match &part.geometry {
        Geometry::Bodies(bodies) => {
            let (surface, owner) = bodies.tessellate(dimension);
            let velocity = body_velocities(part, bodies, dimension, &surface, &owner);
            let mut document = Document::new("PolyData", "vtp", frame.time);
            document.open_piece(&poly_counts(&surface));
            document.open("PointData");
            document.array("body", 1, Numbers::U32(&owner));
            for attribute in &part.attributes {
                let per_point =
                    Spread { data: &attribute.data, components: attribute.components, owner: &owner };
                match (&attribute.name[..], &velocity) {
                    // The velocity of the surface itself, not of the centre.
                    ("velocity", Some(velocity)) => {
                        document.array("velocity", 3, Numbers::F64(velocity.as_flattened()))
                    }
                    _ => document.spread(&attribute.name, &per_point, dimension),
                }
            }
            document.close("PointData");
            document.poly(&surface);
            document
        }
        Geometry::Mesh { element: Element::Triangle, positions, elements } => {
            let surface = Surface {
                positions: positions.chunks_exact(dimension).map(in_space).collect(),
                triangles: elements.as_chunks().0.to_vec(),
                lines: vec![],
            };
            let mut document = Document::new("PolyData", "vtp", frame.time);
            document.open_piece(&poly_counts(&surface));
            document.attributes(part, dimension);
            document.poly(&surface);
            document
        }
        Geometry::Points { positions } => {
            let vertices: Vec<u32> = (0..(positions.len() / dimension) as u32).collect();
            unstructured(part, frame, positions, &vertices, 1, VERTEX)
        }
        Geometry::Mesh { element, positions, elements } => {
            let ordered: Vec<u32> = match element {
                Element::Hexahedron => elements
                    .as_chunks::<8>()
                    .0
                    .iter()
                    .flat_map(|e| [0, 4, 6, 2, 1, 5, 7, 3].map(|i| e[i]))
                    .collect(),
                _ => elements.clone(),
            };
            let cell_type = match element {
                Element::Segment => 3,
                Element::Triangle => 5,
                Element::Tetrahedron => 10,
                Element::Hexahedron => 12,
            };
            unstructured(part, frame, positions, &ordered, element.corners(), cell_type)
        }
        Geometry::Grid { origin, spacing, cells } => image(part, frame, origin, *spacing, cells),
    }
}

/// VTK's number for a cell of one point.
const VERTEX: u8 = 1;

fn poly_counts(surface: &Surface) -> String {
    format!(
        "NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\"",
        surface.positions.len(),
        surface.lines.len(),
        surface.triangles.len()
    )
}

fn unstructured(
    part: &Part,
    frame: &Frame,
    positions: &[f64],
    connectivity: &[u32],
    corners: usize,
    cell_type: u8,
) -> Document {
    let points: Vec<[f64; 3]> = positions.chunks_exact(frame.dimension).map(in_space).collect();
    let cells = connectivity.len() / corners;
    let mut document = Document::new("UnstructuredGrid", "vtu", frame.time);
    document.open_piece(&format!("NumberOfPoints=\"{}\" NumberOfCells=\"{cells}\"", points.len()));
    document.attributes(part, frame.dimension);
    document.open("Points");
    document.array("position", 3, Numbers::F64(points.as_flattened()));
    document.close("Points");
    document.open("Cells");
    document.cells(connectivity, corners);
    document.array("types", 1, Numbers::U8(&vec![cell_type; cells]));
    document.close("Cells");
    document
}

fn image(part: &Part, frame: &Frame, origin: &[f64], spacing: f64, cells: &[u64]) -> Document {
    let count = |axis: usize| cells.get(axis).copied().unwrap_or(0);
    let extent = format!("0 {} 0 {} 0 {}", count(0), count(1), count(2));
    let [x, y, z] = in_space(origin);
    let mut document = Document::new("ImageData", "vti", frame.time);
    document.properties = format!(
        " WholeExtent=\"{extent}\" Origin=\"{x} {y} {z}\" Spacing=\"{spacing} {spacing} {spacing}\" Direction=\"1 0 0 0 1 0 0 0 1\""
    );
    document.open_piece(&format!("Extent=\"{extent}\""));
    document.open("PointData");
    document.attributes_on(part, Association::Point, frame.dimension);
    document.close("PointData");
    document.open("CellData");
    document.attributes_on(part, Association::Cell, frame.dimension);
    // VTK has no data on faces: the mean of the two faces of a cell along each axis, those of one name as one vector.
    let mut names: Vec<&str> = Vec::new();
    for attribute in part.attributes.iter().filter(|a| a.association.face_axis().is_some()) {
        if !names.contains(&attribute.name.as_str()) {
            names.push(&attribute.name);
        }
    }
    let total: usize = cells.iter().product::<u64>() as usize;
    for name in names {
        let mut centred = vec![[0.0; 3]; total];
        for attribute in part.attributes.iter().filter(|a| a.name == name) {
            let Some(axis) = attribute.association.face_axis() else { continue };
            let faces = |a: usize| cells[a] as usize + usize::from(a == axis);
            for (cell, value) in centred.iter_mut().enumerate() {
                let (mut rest, mut low, mut stride, mut step) = (cell, 0, 1, 0);
                for a in 0..cells.len() {
                    low += stride * (rest % cells[a] as usize);
                    rest /= cells[a] as usize;
                    if a == axis {
                        step = stride;
                    }
                    stride *= faces(a);
                }
                value[axis] = 0.5 * (attribute.data.get(low) + attribute.data.get(low + step));
            }
        }
        document.array(name, 3, Numbers::F64(centred.as_flattened()));
    }
    document.close("CellData");
    document
}

enum Numbers<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
}

/// Values of bodies given to every point of their surfaces.
struct Spread<'a> {
    data: &'a Data,
    components: usize,
    owner: &'a [u32],
}

/// A VTK XML file in the making: the markup, and the data that it points into.
struct Document {
    kind: &'static str,
    extension: &'static str,
    properties: String,
    time: f64,
    markup: String,
    data: Vec<u8>,
}

impl Document {
    fn new(kind: &'static str, extension: &'static str, time: f64) -> Self {
        Self { kind, extension, properties: String::new(), time, markup: String::new(), data: vec![] }
    }

    fn open(&mut self, tag: &str) {
        self.markup += &format!("<{tag}>\n");
    }

    fn close(&mut self, tag: &str) {
        self.markup += &format!("</{tag}>\n");
    }

    fn open_piece(&mut self, counts: &str) {
        self.markup += &format!("<Piece {counts}>\n");
    }

    /// One array: a line of markup, and its bytes after their number.
    fn array(&mut self, name: &str, components: usize, numbers: Numbers) {
        let (kind, bytes): (_, Vec<u8>) = match numbers {
            Numbers::F64(values) => ("Float64", values.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Numbers::F32(values) => ("Float32", values.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Numbers::U32(values) => ("UInt32", values.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Numbers::I64(values) => ("Int64", values.iter().flat_map(|v| v.to_le_bytes()).collect()),
            Numbers::U8(values) => ("UInt8", values.to_vec()),
        };
        self.markup += &format!(
            "<DataArray type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{}\"/>\n",
            escape(name),
            self.data.len()
        );
        self.data.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.data.extend_from_slice(&bytes);
    }

    fn attributes(&mut self, part: &Part, dimension: usize) {
        for (tag, association) in [("PointData", Association::Point), ("CellData", Association::Cell)] {
            self.open(tag);
            self.attributes_on(part, association, dimension);
            self.close(tag);
        }
    }

    fn attributes_on(&mut self, part: &Part, association: Association, dimension: usize) {
        for attribute in part.attributes.iter().filter(|a| a.association == association) {
            if dimension == 2 && attribute.components == 2 {
                // Vectors of the plane become vectors of space, so that ParaView can draw arrows.
                let count = attribute.data.len() / 2;
                let in_3d: Vec<f64> = (0..count)
                    .flat_map(|i| [attribute.data.get(2 * i), attribute.data.get(2 * i + 1), 0.0])
                    .collect();
                self.array(&attribute.name, 3, Numbers::F64(&in_3d));
            } else {
                let numbers = match &attribute.data {
                    Data::F64(values) => Numbers::F64(values),
                    Data::F32(values) => Numbers::F32(values),
                    Data::U32(values) => Numbers::U32(values),
                };
                self.array(&attribute.name, attribute.components, numbers);
            }
        }
    }

    fn spread(&mut self, name: &str, spread: &Spread, dimension: usize) {
        let padding = usize::from(dimension == 2 && spread.components == 2);
        let values: Vec<f64> = spread
            .owner
            .iter()
            .flat_map(|&body| {
                let own = (0..spread.components)
                    .map(move |k| spread.data.get(body as usize * spread.components + k));
                own.chain(std::iter::repeat_n(0.0, padding))
            })
            .collect();
        self.array(name, spread.components + padding, Numbers::F64(&values));
    }

    fn cells(&mut self, connectivity: &[u32], corners: usize) {
        let indices: Vec<i64> = connectivity.iter().map(|&i| i64::from(i)).collect();
        let offsets: Vec<i64> = (1..=connectivity.len() / corners).map(|i| (i * corners) as i64).collect();
        self.array("connectivity", 1, Numbers::I64(&indices));
        self.array("offsets", 1, Numbers::I64(&offsets));
    }

    fn poly(&mut self, surface: &Surface) {
        self.open("Points");
        self.array("position", 3, Numbers::F64(surface.positions.as_flattened()));
        self.close("Points");
        self.open("Lines");
        self.cells(surface.lines.as_flattened(), 2);
        self.close("Lines");
        self.open("Polys");
        self.cells(surface.triangles.as_flattened(), 3);
        self.close("Polys");
    }

    fn write(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let Self { kind, properties, time, markup, .. } = self;
        write!(
            out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
             <{kind}{properties}>\n<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray></FieldData>\n\
             {markup}</Piece>\n</{kind}>\n<AppendedData encoding=\"raw\">\n_"
        )?;
        out.write_all(&self.data)?;
        out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push('_'),
            c => escaped.push(c),
        }
    }
    escaped
}
