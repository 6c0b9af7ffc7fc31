//! Surfaces of bodies that frames share: a surface is written with the first frame that shows it, and later frames say which one that was.
//!
//! Bodies may appear during a run (fragments of a broken body), so a frame cannot rely on the scene for its shapes, and to repeat thousands of
//! surfaces in every frame would dwarf the motion itself. [`SavedShapes`] is what a writer remembers, [`FrameReader`] what a reader keeps.

use super::format::{FrameError, FrameHeader, PartKind, ShapeHeader};
use super::{Frame, Geometry, Shape};
use crate::storage;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A closed surface in object coordinates: segments in 2D, triangles in 3D. It knows the fingerprint of its content, so that equal surfaces
/// are recognised without comparing them.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceShape {
    positions: Vec<f64>,
    elements: Vec<u32>,
    key: u128,
}

impl SurfaceShape {
    /// Points (m, flat) and point indices, `dimension` for each element, seen from outside counter-clockwise.
    pub fn new(positions: Vec<f64>, elements: Vec<u32>) -> Self {
        // FNV-1a over whole words: quick, and enough to tell shapes of one run apart.
        const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let mix = |hash: u128, word: u64| {
            let hash = (hash ^ u128::from(word)).wrapping_mul(PRIME);
            // Multiplication only carries upwards; fold the high half back down.
            hash ^ (hash >> 64)
        };
        let key = mix(OFFSET, positions.len() as u64);
        let key = positions.iter().fold(key, |hash, x| mix(hash, x.to_bits()));
        let key = elements.iter().fold(key, |hash, index| mix(hash, u64::from(*index)));
        Self { positions, elements, key }
    }

    /// Points (m), flat.
    pub fn positions(&self) -> &[f64] {
        &self.positions
    }

    /// Point indices, `dimension` for each element.
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }

    /// Fingerprint of the content in hexadecimal.
    pub fn key(&self) -> String {
        format!("{:032x}", self.key)
    }
}

/// Which frame holds the arrays of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedShape {
    /// Number of the frame.
    pub frame: u64,
    /// Index into the shapes of the part with the same name there.
    pub shape: u32,
}

/// The surfaces that the frames of a folder hold already, by part and fingerprint.
#[derive(Debug, Clone, Default)]
pub struct SavedShapes(HashMap<(String, String), SavedShape>);

impl SavedShapes {
    /// Where a surface of a part is saved, if it is.
    pub fn find(&self, part: &str, surface: &SurfaceShape) -> Option<SavedShape> {
        self.0.get(&(part.to_owned(), surface.key())).copied()
    }

    /// Notes the surfaces that a frame has arrays of, now that it is written; the first one to hold a surface keeps it.
    pub fn note(&mut self, header: &FrameHeader) {
        for part in &header.parts {
            let PartKind::Bodies { shapes, .. } = &part.kind else { continue };
            for (index, shape) in shapes.iter().enumerate() {
                if let ShapeHeader::Surface { key } = shape
                    && !key.is_empty()
                {
                    let place = SavedShape { frame: header.index, shape: index as u32 };
                    self.0.entry((part.name.clone(), key.clone())).or_insert(place);
                }
            }
        }
    }

    /// Reads what the frames at these paths hold; unreadable ones hold nothing that a later frame could rely on.
    pub fn of_frames<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let mut saved = Self::default();
        for path in paths {
            if let Ok(header) =
                storage::read(path).map_err(FrameError::from).and_then(|file| FrameHeader::decode(&file))
            {
                saved.note(&header);
            }
        }
        saved
    }
}

/// Reads the frames of one folder; keeps the surfaces that many frames share.
#[derive(Debug, Default)]
pub struct FrameReader {
    frames: HashMap<u64, HashMap<(String, u32), Arc<SurfaceShape>>>,
}

impl FrameReader {
    /// Reads a frame, and from the frames next to it the surfaces that it shares with them.
    pub fn read(&mut self, path: &Path) -> Result<Frame, FrameError> {
        let file = storage::read(path)?;
        Frame::decode_with(&file, &mut |place, part| self.surface(path, place, part))
    }

    fn surface(
        &mut self,
        path: &Path,
        place: SavedShape,
        part: &str,
    ) -> Result<Arc<SurfaceShape>, FrameError> {
        let missing = || FrameError::Elsewhere { frame: place.frame, shape: place.shape };
        if let std::collections::hash_map::Entry::Vacant(empty) = self.frames.entry(place.frame) {
            let file = storage::read(&path.with_file_name(Frame::file_name(place.frame)))?;
            empty.insert(super::format::inline_surfaces(&file)?);
        }
        let frame = self.frames.get(&place.frame).ok_or_else(missing)?;
        frame.get(&(part.to_owned(), place.shape)).cloned().ok_or_else(missing)
    }
}

impl Frame {
    /// Does it show a surface that an earlier frame could hold?
    pub fn has_surfaces(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(&part.geometry, Geometry::Bodies(bodies)
                if bodies.shapes.iter().any(|shape| matches!(shape, Shape::Surface(_))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Bodies, Part};

    fn surface(seed: f64) -> Shape {
        let positions = (0..30).map(|i| (f64::from(i) * seed).sin()).collect();
        Shape::Surface(Arc::new(SurfaceShape::new(positions, vec![0, 1, 2, 3, 4, 5])))
    }

    /// Bodies that appear one after the other; the first goes when the third comes.
    fn frame(index: u64, shapes: Vec<Shape>) -> Frame {
        let count = shapes.len();
        let bodies = Bodies {
            names: (0..count).map(|i| format!("b{i}")).collect(),
            shape_of: (0..count as u32).collect(),
            positions: vec![0.25 * index as f64; 3 * count],
            rotations: [1.0, 0.0, 0.0, 0.0].repeat(count),
            shapes,
        };
        let parts = vec![Part {
            name: "rigid bodies".into(),
            geometry: Geometry::Bodies(bodies),
            attributes: vec![],
        }];
        Frame { dimension: 3, index, step: 10 * index, time: 0.1 * index as f64, parts }
    }

    #[test]
    fn a_surface_is_written_once_and_found_again_from_any_frame() {
        let folder = tempfile::tempdir().unwrap();
        let frames = [
            frame(0, vec![surface(0.1), Shape::Ball { radius: 1.0 }]),
            frame(1, vec![surface(0.1), surface(0.2)]),
            frame(2, vec![surface(0.2), surface(0.3)]),
            frame(3, vec![surface(0.3), surface(0.2)]),
        ];
        let mut saved = SavedShapes::default();
        let mut files = Vec::new();
        for frame in &frames {
            let file = frame.encode_after(1, &mut saved).unwrap();
            std::fs::write(folder.path().join(Frame::file_name(frame.index)), &file).unwrap();
            files.push(file);
        }
        let inline = |file: &[u8]| inline_count(&FrameHeader::decode(file).unwrap());
        assert_eq!(files.iter().map(|file| inline(file)).collect::<Vec<_>>(), [1, 1, 1, 0]);
        // In any order, by one reader and by new ones.
        let mut reader = FrameReader::default();
        for index in [3, 0, 2, 1] {
            let path = folder.path().join(Frame::file_name(index));
            assert_eq!(reader.read(&path).unwrap(), frames[index as usize]);
            assert_eq!(Frame::read(&path).unwrap(), frames[index as usize]);
        }
        // What a resumed writer finds out is what the first one knew: the same bits follow.
        let paths: Vec<_> = (0..3).map(|index| folder.path().join(Frame::file_name(index))).collect();
        let mut again = SavedShapes::of_frames(paths.iter().map(|path| path.as_path()));
        assert_eq!(frames[3].encode_after(1, &mut again).unwrap(), files[3]);
        // Alone, such a frame says what it lacks.
        assert!(matches!(Frame::decode(&files[3]), Err(FrameError::Elsewhere { frame: 2, shape: 1 })));
        std::fs::remove_file(&paths[2]).unwrap();
        assert!(Frame::read(&folder.path().join(Frame::file_name(3))).is_err());
    }

    #[test]
    fn a_reference_to_a_shape_that_is_not_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut saved = SavedShapes::default();
        frame(0, vec![surface(0.1)]).encode_after(1, &mut saved).unwrap();
        let later = frame(1, vec![surface(0.1)]).encode_after(1, &mut saved).unwrap();
        let other = frame(0, vec![Shape::Ball { radius: 1.0 }]).encode(1).unwrap();
        std::fs::write(folder.path().join(Frame::file_name(0)), other).unwrap();
        let path = folder.path().join(Frame::file_name(1));
        std::fs::write(&path, later).unwrap();
        assert!(matches!(Frame::read(&path), Err(FrameError::Elsewhere { frame: 0, shape: 0 })));
    }

    fn inline_count(header: &FrameHeader) -> usize {
        header
            .parts
            .iter()
            .map(|part| match &part.kind {
                PartKind::Bodies { shapes, .. } => {
                    shapes.iter().filter(|shape| matches!(shape, ShapeHeader::Surface { .. })).count()
                }
                _ => 0,
            })
            .sum()
    }
}
