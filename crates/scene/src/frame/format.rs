//! The file of a frame.
//!
//! All integers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic `89 53 50 46 0D 0A 1A 0A` (`.SPF` and the line ends that a text-mode copy would damage) |
//! | 4 | version of this layout, [`VERSION`] |
//! | 4 | length `n` of the header |
//! | n | header, JSON in UTF-8: [`FrameHeader`] |
//! | 4 | CRC-32 of everything before it |
//! | rest | one block for each array of the header, in order and without gaps |
//!
//! A block is a Zstandard frame. Its bytes before compression are the numbers little-endian, byte-shuffled: first the lowest byte of every
//! number, then the next, and so on; neighbouring numbers share their high bytes, so this compresses better. The header carries the
//! length and CRC-32 of every block, so a damaged file is recognised before anything is unpacked.

use super::{Association, Attribute, Bodies, Data, Element, Frame, Geometry, Inconsistent, Part, Shape};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

use crate::storage::{self, StorageError};

/// First bytes of every frame file.
pub const MAGIC: [u8; 8] = *b"\x89SPF\r\n\x1a\n";
/// Layout written by this version of the program; older layouts stay readable.
pub const VERSION: u32 = 1;
/// File name extension of frames.
pub const EXTENSION: &str = "spf";

/// Level 1 packs about as well as 3 on shuffled coordinates and takes half the time.
const COMPRESSION_LEVEL: i32 = 1;
/// A Zstandard block of 4 bytes can stand for at most 128 KiB, so no honest block expands more than this.
const GREATEST_EXPANSION: u64 = 1 << 15;
const FIXED_BYTES: usize = 16;
const CRC_BYTES: usize = 4;

/// A file that is not a frame, or not a whole one.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The file could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The magic bytes are missing.
    #[error("not a Splashdown frame (the first bytes are {found})")]
    Foreign {
        /// What the file starts with.
        found: String,
    },
    /// Written by a later version of the program.
    #[error("frame layout {version} is newer than this program understands ({VERSION}); update Splashdown")]
    Newer {
        /// Layout of the file.
        version: u32,
    },
    /// The file ends too early (or too late).
    #[error("the file has {found} bytes but {expected} are needed: it is cut off or something was appended")]
    Length {
        /// Bytes that the header asks for.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A checksum does not match.
    #[error("{what} is damaged: its checksum does not match")]
    Damaged {
        /// The header, or the name of an array.
        what: String,
    },
    /// Checksums match but the content makes no sense.
    #[error("{what} is not valid: {problem}")]
    Invalid {
        /// The header, or the name of an array.
        what: String,
        /// What is wrong.
        problem: String,
    },
    /// The arrays do not fit together.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
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
    pub kind: Kind,
    /// Arrays of the geometry, then the attributes.
    pub arrays: Vec<ArrayHeader>,
}

/// Kind of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
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
    Surface,
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
    /// Packs the frame. The same frame gives the same bytes.
    pub fn encode(&self) -> Result<Vec<u8>, FrameError> {
        self.validate()?;
        let mut blocks = Vec::new();
        let parts = self
            .parts
            .iter()
            .map(|part| encode_part(part, self.dimension, &mut blocks))
            .collect::<Result<_, _>>()?;
        let header = FrameHeader {
            dimension: self.dimension,
            index: self.index,
            step: self.step,
            time: self.time,
            parts,
        };
        let invalid = |problem: String| FrameError::Invalid { what: "header".into(), problem };
        let header = serde_json::to_vec(&header).map_err(|error| invalid(error.to_string()))?;
        let length = u32::try_from(header.len()).map_err(|_| invalid("longer than 4 GiB".into()))?;

        let mut file = Vec::with_capacity(FIXED_BYTES + header.len() + CRC_BYTES + blocks.len());
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&VERSION.to_le_bytes());
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&header);
        file.extend_from_slice(&crc32fast::hash(&file).to_le_bytes());
        file.extend_from_slice(&blocks);
        Ok(file)
    }

    /// Unpacks and checks a frame.
    pub fn decode(file: &[u8]) -> Result<Self, FrameError> {
        let (header, mut blocks) = FrameHeader::split(file)?;
        let parts =
            header.parts.into_iter().map(|part| decode_part(part, &mut blocks)).collect::<Result<_, _>>()?;
        let frame = Self {
            dimension: header.dimension,
            index: header.index,
            step: header.step,
            time: header.time,
            parts,
        };
        frame.validate()?;
        Ok(frame)
    }

    /// Reads a frame file.
    pub fn read(path: &Path) -> Result<Self, FrameError> {
        Self::decode(&storage::read(path)?)
    }
}

impl FrameHeader {
    /// Reads only the header of a frame and checks that the file is as long as it says.
    pub fn decode(file: &[u8]) -> Result<Self, FrameError> {
        Ok(Self::split(file)?.0)
    }

    fn split(file: &[u8]) -> Result<(Self, &[u8]), FrameError> {
        let found = file.len() as u64;
        let magic = &file[..file.len().min(MAGIC.len())];
        if magic != &MAGIC[..magic.len()] || magic.is_empty() {
            let found =
                if magic.is_empty() { "none, the file is empty".into() } else { format!("{:02x?}", magic) };
            return Err(FrameError::Foreign { found });
        }
        let Some(fixed) = file.get(..FIXED_BYTES) else {
            return Err(FrameError::Length { expected: FIXED_BYTES as u64, found });
        };
        let word = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let (version, length) = (word(8), word(12) as usize);
        if version > VERSION {
            return Err(FrameError::Newer { version });
        }
        let end = FIXED_BYTES + length;
        let blocks_at = end + CRC_BYTES;
        if file.len() < blocks_at {
            return Err(FrameError::Length { expected: blocks_at as u64, found });
        }
        if crc32fast::hash(&file[..end]).to_le_bytes() != file[end..blocks_at] {
            return Err(FrameError::Damaged { what: "header".into() });
        }
        let header: Self = serde_json::from_slice(&file[FIXED_BYTES..end])
            .map_err(|error| FrameError::Invalid { what: "header".into(), problem: error.to_string() })?;
        let expected = header
            .parts
            .iter()
            .flat_map(|part| &part.arrays)
            .fold(blocks_at as u64, |sum, array| sum.saturating_add(array.bytes));
        if expected != found {
            return Err(FrameError::Length { expected, found });
        }
        Ok((header, &file[blocks_at..]))
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

    fn encode(self, blocks: &mut Vec<u8>) -> Result<ArrayHeader, FrameError> {
        let (number, count, raw) = match self.values {
            Values::F64(v) => (NumberType::F64, v.len(), shuffle(v, f64::to_le_bytes)),
            Values::F32(v) => (NumberType::F32, v.len(), shuffle(v, f32::to_le_bytes)),
            Values::U32(v) => (NumberType::U32, v.len(), shuffle(v, u32::to_le_bytes)),
        };
        let block = zstd::bulk::compress(&raw, COMPRESSION_LEVEL)
            .map_err(|error| FrameError::Invalid { what: self.name.clone(), problem: error.to_string() })?;
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

fn encode_part(part: &Part, dimension: usize, blocks: &mut Vec<u8>) -> Result<PartHeader, FrameError> {
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
                    Shape::Surface { positions, elements } => {
                        let name = format!("shape {i} position");
                        outgoing.push(Outgoing::geometry(name, "m", dimension, Values::F64(positions)));
                        let name = format!("shape {i} elements");
                        outgoing.push(Outgoing::geometry(name, "1", dimension, Values::U32(elements)));
                        ShapeHeader::Surface
                    }
                });
            }
            Kind::Bodies { names: bodies.names.clone(), shapes }
        }
        Geometry::Points { positions } => {
            outgoing.push(Outgoing::geometry("position", "m", dimension, Values::F64(positions)));
            Kind::Points
        }
        Geometry::Mesh { element, positions, elements } => {
            outgoing.push(Outgoing::geometry("position", "m", dimension, Values::F64(positions)));
            outgoing.push(Outgoing::geometry("elements", "1", element.corners(), Values::U32(elements)));
            Kind::Mesh { element: *element }
        }
        Geometry::Grid { origin, spacing, cells } => {
            Kind::Grid { origin: origin.clone(), spacing: *spacing, cells: cells.clone() }
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
    let arrays = outgoing.into_iter().map(|array| array.encode(blocks)).collect::<Result<_, _>>()?;
    Ok(PartHeader { name: part.name.clone(), kind, arrays })
}

fn decode_part(header: PartHeader, blocks: &mut &[u8]) -> Result<Part, FrameError> {
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
        Kind::Bodies { names, shapes } => {
            let shapes = shapes
                .into_iter()
                .enumerate()
                .map(|(i, shape)| {
                    Ok(match shape {
                        ShapeHeader::Ball { radius } => Shape::Ball { radius },
                        ShapeHeader::Box { edges } => Shape::Box { edges },
                        ShapeHeader::Surface => Shape::Surface {
                            positions: arrays.take_f64(&format!("shape {i} position"))?,
                            elements: arrays.take_u32(&format!("shape {i} elements"))?,
                        },
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
        Kind::Points => Geometry::Points { positions: arrays.take_f64("position")? },
        Kind::Mesh { element } => Geometry::Mesh {
            element,
            positions: arrays.take_f64("position")?,
            elements: arrays.take_u32("elements")?,
        },
        Kind::Grid { origin, spacing, cells } => Geometry::Grid { origin, spacing, cells },
    };
    Ok(Part { name: header.name, geometry, attributes })
}

fn decode_block(block: &[u8], array: &ArrayHeader, what: &str) -> Result<Data, FrameError> {
    if crc32fast::hash(block) != array.crc32 {
        return Err(FrameError::Damaged { what: what.into() });
    }
    let invalid = |problem: String| FrameError::Invalid { what: what.into(), problem };
    let [entries, components] = array.shape;
    let size = entries
        .checked_mul(components)
        .and_then(|count| count.checked_mul(array.number.size() as u64))
        .filter(|size| *size <= array.bytes.saturating_mul(GREATEST_EXPANSION))
        .ok_or_else(|| {
            invalid(format!("{entries} x {components} numbers cannot come from {} bytes", array.bytes))
        })?;
    let mut raw = Vec::new();
    raw.try_reserve_exact(size as usize).map_err(|error| invalid(error.to_string()))?;
    // One byte more than announced is enough to see that the block holds more.
    zstd::Decoder::with_buffer(block)
        .and_then(|decoder| decoder.take(size + 1).read_to_end(&mut raw))
        .map_err(|error| invalid(error.to_string()))?;
    if raw.len() as u64 != size {
        return Err(invalid(format!("the block does not hold the {size} bytes that the header announces")));
    }
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
    fn invalid(&self, name: &str, problem: &str) -> FrameError {
        FrameError::Invalid {
            what: format!("array \"{name}\" of part \"{}\"", self.part),
            problem: problem.into(),
        }
    }
}

#[cfg(test)]
mod tests;
