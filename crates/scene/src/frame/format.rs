//! The file of a frame.
//!
//! The envelope is that of [`crate::container`] with the magic `89 53 50 46 0D 0A 1A 0A` (`.SPF` and line ends); the header is a
//! [`FrameHeader`], and one block follows for each of its arrays, in order and without gaps.
//!
//! Before compression a block is the array's numbers, little-endian and byte-shuffled: first the lowest byte of every number, then the next,
//! and so on. Neighbouring numbers share their high bytes, so this compresses better. The header carries the length and CRC-32 of every
//! block, so a damaged file is recognised before anything is unpacked.
//!
//! A surface that an earlier frame of the same folder holds is not repeated: its entry in the table of shapes names that frame and the
//! index there ([`ShapeHeader::Earlier`]). References never chain. Layout 1 had no such references and no keys; it stays readable.

use super::{
    Association, Attribute, Bodies, Data, Element, Frame, Geometry, Inconsistent, Part, SavedShape,
    SavedShapes, Shape, SurfaceShape,
};
use crate::container::{self, ContainerError, Kind};
use crate::storage::StorageError;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Frame files; older layouts than the current one stay readable.
pub const KIND: Kind = Kind { name: "frame", magic: *b"\x89SPF\r\n\x1a\n", version: 2 };
/// File name extension of frames.
pub const EXTENSION: &str = "spf";

/// Level 1 packs about as well as 3 on shuffled coordinates and takes half the time.
pub const DEFAULT_COMPRESSION: i32 = 1;

/// A file that is not a frame, or not a whole one.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The file could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file is not a frame, or it is damaged.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The arrays do not fit together.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
    /// A surface that another frame of the folder should hold is not there.
    #[error(
        "it shows a surface that frame {frame} holds (shape {shape} there); keep the frames of a run together"
    )]
    Elsewhere {
        /// Number of the other frame.
        frame: u64,
        /// Index of the shape there.
        shape: u32,
    },
}

/// What a frame file says about itself; readable without unpacking any array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameHeader {
    /// 2 or 3.
    pub dimension: usize,
    /// Number of the frame.
    pub index: u64,
    /// Steps taken so far.
    pub step: u64,
    /// Simulated time (s).
    pub time: f64,
    /// Parts in order; their arrays' blocks follow in the same order.
    pub parts: Vec<PartHeader>,
}

/// One part in the header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartHeader {
    /// Name of the part.
    pub name: String,
    /// Kind of geometry and what is known of it without its arrays.
    #[serde(flatten)]
    pub kind: PartKind,
    /// Arrays of the geometry, then the attributes.
    pub arrays: Vec<ArrayHeader>,
}

/// Kind of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PartKind {
    /// Arrays `shape_of`, `position`, `rotation`, and for each surface `i` of the table `shape i position` and `shape i elements`.
    Bodies {
        /// One name a body.
        names: Vec<String>,
        /// Table of shapes.
        shapes: Vec<ShapeHeader>,
    },
    /// Array `position`.
    Points,
    /// Arrays `position` and `elements`.
    Mesh {
        /// Kind of element.
        element: Element,
    },
    /// No arrays of its own.
    Grid {
        /// Lowest corner (m).
        origin: Vec<f64>,
        /// Edge of a cell (m).
        spacing: f64,
        /// Cells along each axis.
        cells: Vec<u64>,
    },
}

/// One shape in the header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
pub enum ShapeHeader {
    /// Disc or ball.
    Ball {
        /// Radius (m).
        radius: f64,
    },
    /// Rectangle or box.
    Box {
        /// Full edge lengths (m).
        edges: Vec<f64>,
    },
    /// Surface whose arrays follow.
    Surface {
        /// Fingerprint of the surface; empty in files of layout 1.
        #[serde(default)]
        key: String,
    },
    /// Surface that an earlier frame of the same folder holds.
    Earlier {
        /// Number of that frame.
        frame: u64,
        /// Index of the shape in the part of the same name there.
        index: u32,
    },
}

/// Type of the numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberType {
    /// IEEE double.
    F64,
    /// IEEE single.
    F32,
    /// Unsigned 32-bit integer.
    U32,
}

impl NumberType {
    /// Bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::U32 => 4,
        }
    }
}

/// One array in the header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrayHeader {
    /// Name.
    pub name: String,
    /// Type of the numbers.
    #[serde(rename = "type")]
    pub number: NumberType,
    /// Entries and components.
    pub shape: [u64; 2],
    /// Unit, `"1"` for a pure number or an index.
    pub unit: String,
    /// What the entries belong to; absent for arrays of the geometry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub association: Option<Association>,
    /// Length of the block.
    pub bytes: u64,
    /// CRC-32 of the block.
    pub crc32: u32,
}

impl Frame {
    /// Packs the frame at a Zstandard `level` (1 is fastest, 19 smallest), complete in itself. The same frame gives the same bytes.
    pub fn encode(&self, level: i32) -> Result<Vec<u8>, FrameError> {
        Ok(self.pack(level, &SavedShapes::default())?.1)
    }

    /// As [`Self::encode`], leaving out the surfaces that earlier frames of the folder hold; those that this one holds are noted.
    pub fn encode_after(&self, level: i32, saved: &mut SavedShapes) -> Result<Vec<u8>, FrameError> {
        let (header, file) = self.pack(level, saved)?;
        saved.note(&header);
        Ok(file)
    }

    fn pack(&self, level: i32, saved: &SavedShapes) -> Result<(FrameHeader, Vec<u8>), FrameError> {
        self.validate()?;
        let mut blocks = Vec::new();
        let parts = self
            .parts
            .iter()
            .map(|part| encode_part(part, self.dimension, level, saved, &mut blocks))
            .collect::<Result<_, _>>()?;
        let header = FrameHeader {
            dimension: self.dimension,
            index: self.index,
            step: self.step,
            time: self.time,
            parts,
        };
        let mut file = container::seal(KIND, &header)?;
        file.extend_from_slice(&blocks);
        Ok((header, file))
    }

    /// Unpacks and checks a frame that is complete in itself; see [`FrameReader`](super::FrameReader) for those of a run.
    pub fn decode(file: &[u8]) -> Result<Self, FrameError> {
        Self::decode_with(file, &mut |place, _| {
            Err(FrameError::Elsewhere { frame: place.frame, shape: place.shape })
        })
    }

    /// Unpacks and checks a frame; `earlier` finds the surfaces that earlier frames hold, by their place and the name of the part.
    pub fn decode_with(file: &[u8], earlier: &mut Resolve<'_>) -> Result<Self, FrameError> {
        let (header, mut blocks) = FrameHeader::split(file)?;
        let FrameHeader { dimension, index, step, time, parts } = header;
        let parts = parts
            .into_iter()
            .map(|part| decode_part(part, &mut blocks, earlier))
            .collect::<Result<_, _>>()?;
        let frame = Self { dimension, index, step, time, parts };
        frame.validate()?;
        Ok(frame)
    }

    /// Reads a frame file, and from the frames next to it the surfaces that it shares with them.
    pub fn read(path: &Path) -> Result<Self, FrameError> {
        super::FrameReader::default().read(path)
    }
}

/// Finds a surface that an earlier frame holds.
pub type Resolve<'a> = dyn FnMut(SavedShape, &str) -> Result<Arc<SurfaceShape>, FrameError> + 'a;

/// The surfaces whose arrays are in this file, by part and index into its shapes.
pub(super) fn inline_surfaces(file: &[u8]) -> Result<HashMap<(String, u32), Arc<SurfaceShape>>, FrameError> {
    let (header, mut blocks) = FrameHeader::split(file)?;
    let mut found = HashMap::new();
    for part in &header.parts {
        let mut arrays = GeometryArrays { part: &part.name, arrays: vec![] };
        for array in &part.arrays {
            let (block, rest) = blocks.split_at(array.bytes as usize);
            blocks = rest;
            if array.association.is_none() && array.name.starts_with("shape ") {
                let what = format!("array \"{}\" of part \"{}\"", array.name, part.name);
                arrays.arrays.push((array.name.clone(), decode_block(block, array, &what)?));
            }
        }
        let PartKind::Bodies { shapes, .. } = &part.kind else { continue };
        for (i, shape) in shapes.iter().enumerate() {
            if matches!(shape, ShapeHeader::Surface { .. }) {
                found.insert((part.name.clone(), i as u32), arrays.take_surface(i)?);
            }
        }
    }
    Ok(found)
}

impl FrameHeader {
    /// Reads only the header of a frame and checks that the file is as long as it says.
    pub fn decode(file: &[u8]) -> Result<Self, FrameError> {
        Ok(Self::split(file)?.0)
    }

    fn split(file: &[u8]) -> Result<(Self, &[u8]), ContainerError> {
        container::open(KIND, file, |header: &Self| {
            let arrays = header.parts.iter().flat_map(|part| &part.arrays);
            arrays.fold(0, |sum: u64, array| sum.saturating_add(array.bytes))
        })
    }
}

/// An array on its way into a file.
struct Outgoing<'a> {
    name: String,
    unit: &'a str,
    association: Option<Association>,
    components: usize,
    values: Values<'a>,
}

enum Values<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    U32(&'a [u32]),
}

impl<'a> Outgoing<'a> {
    fn geometry(name: impl Into<String>, unit: &'a str, components: usize, values: Values<'a>) -> Self {
        Self { name: name.into(), unit, association: None, components, values }
    }

    fn encode(self, level: i32, blocks: &mut Vec<u8>) -> Result<ArrayHeader, FrameError> {
        let (number, count, raw) = match self.values {
            Values::F64(v) => (NumberType::F64, v.len(), shuffle(v, f64::to_le_bytes)),
            Values::F32(v) => (NumberType::F32, v.len(), shuffle(v, f32::to_le_bytes)),
            Values::U32(v) => (NumberType::U32, v.len(), shuffle(v, u32::to_le_bytes)),
        };
        let block = container::pack(&raw, level, &self.name)?;
        let header = ArrayHeader {
            name: self.name,
            number,
            shape: [(count / self.components) as u64, self.components as u64],
            unit: self.unit.into(),
            association: self.association,
            bytes: block.len() as u64,
            crc32: crc32fast::hash(&block),
        };
        blocks.extend_from_slice(&block);
        Ok(header)
    }
}

/// Byte `k` of every number, for each `k` in turn.
fn shuffle<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut shuffled = vec![0; values.len() * N];
    for k in 0..N {
        let plane = &mut shuffled[k * values.len()..(k + 1) * values.len()];
        for (byte, value) in plane.iter_mut().zip(values) {
            *byte = bytes(*value)[k];
        }
    }
    shuffled
}

fn unshuffle<T, const N: usize>(shuffled: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    let count = shuffled.len() / N;
    (0..count).map(|i| number(std::array::from_fn(|k| shuffled[k * count + i]))).collect()
}

fn encode_part(
    part: &Part,
    dimension: usize,
    level: i32,
    saved: &SavedShapes,
    blocks: &mut Vec<u8>,
) -> Result<PartHeader, FrameError> {
    let mut outgoing = Vec::new();
    let kind = match &part.geometry {
        Geometry::Bodies(bodies) => {
            let per_rotation = if dimension == 2 { 2 } else { 4 };
            outgoing.push(Outgoing::geometry("shape_of", "1", 1, Values::U32(&bodies.shape_of)));
            outgoing.push(Outgoing::geometry("position", "m", dimension, Values::F64(&bodies.positions)));
            outgoing.push(Outgoing::geometry("rotation", "1", per_rotation, Values::F64(&bodies.rotations)));
            let mut shapes = Vec::with_capacity(bodies.shapes.len());
            for (i, shape) in bodies.shapes.iter().enumerate() {
                shapes.push(match shape {
                    Shape::Ball { radius } => ShapeHeader::Ball { radius: *radius },
                    Shape::Box { edges } => ShapeHeader::Box { edges: edges.clone() },
                    Shape::Surface(surface) => {
                        if let Some(SavedShape { frame, shape }) = saved.find(&part.name, surface) {
                            shapes.push(ShapeHeader::Earlier { frame, index: shape });
                            continue;
                        }
                        let name = format!("shape {i} position");
                        let values = Values::F64(surface.positions());
                        outgoing.push(Outgoing::geometry(name, "m", dimension, values));
                        let name = format!("shape {i} elements");
                        let values = Values::U32(surface.elements());
                        outgoing.push(Outgoing::geometry(name, "1", dimension, values));
                        ShapeHeader::Surface { key: surface.key() }
                    }
                });
            }
            PartKind::Bodies { names: bodies.names.clone(), shapes }
        }
        Geometry::Points { positions } => {
            outgoing.push(Outgoing::geometry("position", "m", dimension, Values::F64(positions)));
            PartKind::Points
        }
        Geometry::Mesh { element, positions, elements } => {
            outgoing.push(Outgoing::geometry("position", "m", dimension, Values::F64(positions)));
            outgoing.push(Outgoing::geometry("elements", "1", element.corners(), Values::U32(elements)));
            PartKind::Mesh { element: *element }
        }
        Geometry::Grid { origin, spacing, cells } => {
            PartKind::Grid { origin: origin.clone(), spacing: *spacing, cells: cells.clone() }
        }
    };
    outgoing.extend(part.attributes.iter().map(|attribute| Outgoing {
        name: attribute.name.clone(),
        unit: &attribute.unit,
        association: Some(attribute.association),
        components: attribute.components,
        values: match &attribute.data {
            Data::F64(values) => Values::F64(values),
            Data::F32(values) => Values::F32(values),
            Data::U32(values) => Values::U32(values),
        },
    }));
    let arrays = outgoing.into_iter().map(|array| array.encode(level, blocks)).collect::<Result<_, _>>()?;
    Ok(PartHeader { name: part.name.clone(), kind, arrays })
}

fn decode_part(
    header: PartHeader,
    blocks: &mut &[u8],
    earlier: &mut Resolve<'_>,
) -> Result<Part, FrameError> {
    let mut geometry_arrays = Vec::new();
    let mut attributes = Vec::new();
    for array in header.arrays {
        let what = format!("array \"{}\" of part \"{}\"", array.name, header.name);
        let (block, rest) = blocks.split_at(array.bytes as usize);
        *blocks = rest;
        let data = decode_block(block, &array, &what)?;
        match array.association {
            None => geometry_arrays.push((array.name, data)),
            Some(association) => attributes.push(Attribute {
                name: array.name,
                unit: array.unit,
                association,
                components: array.shape[1] as usize,
                data,
            }),
        }
    }
    let mut arrays = GeometryArrays { part: &header.name, arrays: geometry_arrays };
    let geometry = match header.kind {
        PartKind::Bodies { names, shapes } => {
            let shapes = shapes
                .into_iter()
                .enumerate()
                .map(|(i, shape)| {
                    Ok(match shape {
                        ShapeHeader::Ball { radius } => Shape::Ball { radius },
                        ShapeHeader::Box { edges } => Shape::Box { edges },
                        ShapeHeader::Surface { .. } => Shape::Surface(arrays.take_surface(i)?),
                        ShapeHeader::Earlier { frame, index } => {
                            Shape::Surface(earlier(SavedShape { frame, shape: index }, &header.name)?)
                        }
                    })
                })
                .collect::<Result<_, FrameError>>()?;
            Geometry::Bodies(Bodies {
                names,
                shapes,
                shape_of: arrays.take_u32("shape_of")?,
                positions: arrays.take_f64("position")?,
                rotations: arrays.take_f64("rotation")?,
            })
        }
        PartKind::Points => Geometry::Points { positions: arrays.take_f64("position")? },
        PartKind::Mesh { element } => Geometry::Mesh {
            element,
            positions: arrays.take_f64("position")?,
            elements: arrays.take_u32("elements")?,
        },
        PartKind::Grid { origin, spacing, cells } => Geometry::Grid { origin, spacing, cells },
    };
    Ok(Part { name: header.name, geometry, attributes })
}

fn decode_block(block: &[u8], array: &ArrayHeader, what: &str) -> Result<Data, ContainerError> {
    let [entries, components] = array.shape;
    let size = entries
        .checked_mul(components)
        .and_then(|count| count.checked_mul(array.number.size() as u64))
        .ok_or_else(|| {
            ContainerError::invalid(what, format!("{entries} x {components} numbers are too many"))
        })?;
    let raw = container::unpack(block, array.crc32, size, what)?;
    Ok(match array.number {
        NumberType::F64 => Data::F64(unshuffle(&raw, f64::from_le_bytes)),
        NumberType::F32 => Data::F32(unshuffle(&raw, f32::from_le_bytes)),
        NumberType::U32 => Data::U32(unshuffle(&raw, u32::from_le_bytes)),
    })
}

struct GeometryArrays<'a> {
    part: &'a str,
    arrays: Vec<(String, Data)>,
}

impl GeometryArrays<'_> {
    fn take(&mut self, name: &str) -> Result<Data, FrameError> {
        let at = self.arrays.iter().position(|(have, _)| have == name);
        at.map(|at| self.arrays.swap_remove(at).1).ok_or_else(|| self.invalid(name, "it is missing"))
    }
    fn take_f64(&mut self, name: &str) -> Result<Vec<f64>, FrameError> {
        match self.take(name)? {
            Data::F64(values) => Ok(values),
            _ => Err(self.invalid(name, "its type must be f64")),
        }
    }
    fn take_u32(&mut self, name: &str) -> Result<Vec<u32>, FrameError> {
        match self.take(name)? {
            Data::U32(values) => Ok(values),
            _ => Err(self.invalid(name, "its type must be u32")),
        }
    }
    /// The surface number `i` of the table of shapes.
    fn take_surface(&mut self, i: usize) -> Result<Arc<SurfaceShape>, FrameError> {
        let positions = self.take_f64(&format!("shape {i} position"))?;
        let elements = self.take_u32(&format!("shape {i} elements"))?;
        Ok(Arc::new(SurfaceShape::new(positions, elements)))
    }
    fn invalid(&self, name: &str, problem: &str) -> FrameError {
        ContainerError::invalid(format!("array \"{name}\" of part \"{}\"", self.part), problem).into()
    }
}

#[cfg(test)]
mod tests;
