//! Grids as OpenVDB files, one a frame: smoke and temperature as fog, liquids as level sets, velocity.
//!
//! Written here because no maintained crate writes the format. Trees have the usual shape (nodes of 32^3, 16^3 and leaves of 8^3 voxels), values are
//! not compressed, and leaves that hold the background only are left out. Layout 224, as OpenVDB 6 and later read it.

use crate::frame::{Association, Attribute, Frame, Geometry};
use crate::storage::{self, StorageError};
use std::collections::BTreeMap;
use std::path::Path;

/// Voxels along a leaf, a lower and an upper node.
const LEAF: i32 = 8;
const LOWER: i32 = 128;
const UPPER: i32 = 4096;
/// Cells from the surface to where a level set ends.
const BAND: f32 = 3.0;
/// Only active values of a node are stored, the others are the background.
const ACTIVE_MASK: u32 = 2;
const ONLY_ACTIVE: u8 = 0;
const ALL_VALUES: u8 = 6;

/// Writes the grids of a frame; returns how many there were, and writes nothing if there is none.
pub(super) fn write(frame: &Frame, path: &Path) -> Result<usize, StorageError> {
    let mut grids = Vec::new();
    for part in &frame.parts {
        let Geometry::Grid { origin, spacing, cells } = &part.geometry else { continue };
        let count = |k: usize| cells.get(k).map_or(1, |&n| n as i32);
        let place = Place {
            cells: [count(0), count(1), count(2)],
            spacing: *spacing,
            first: std::array::from_fn(|k| origin.get(k).map_or(0.0, |x| x + 0.5 * spacing)),
        };
        let cells = part.attributes.iter().filter(|attribute| attribute.association == Association::Cell);
        grids.extend(cells.filter_map(|attribute| Grid::new(attribute, &place, frame.dimension)));
    }
    if grids.is_empty() {
        return Ok(0);
    }
    let file = file(&grids);
    storage::write_atomically(path, |out| out.write_all(&file))?;
    Ok(grids.len())
}

/// Where a grid is.
#[derive(Debug, Clone, Copy)]
struct Place {
    cells: [i32; 3],
    spacing: f64,
    /// Centre of the first cell (m).
    first: [f64; 3],
}

/// What a grid means to other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Fog,
    LevelSet,
    Plain,
}

struct Grid {
    name: String,
    class: Class,
    place: Place,
    /// 1 or 3.
    components: usize,
    background: f32,
    /// Of all cells, x fastest.
    values: Vec<f32>,
}

impl Grid {
    fn new(attribute: &Attribute, place: &Place, dimension: usize) -> Option<Self> {
        let entries = place.cells.iter().map(|&n| n as usize).product::<usize>();
        let given = attribute.components;
        if !(given == 1 || given == dimension) || attribute.data.len() != entries * given {
            return None;
        }
        let components = if given == 1 { 1 } else { 3 };
        let (class, name) = match attribute.name.as_str() {
            "smoke" => (Class::Fog, "density".to_owned()),
            name if name.starts_with("distance to ") => (Class::LevelSet, name.replace(' ', "_")),
            name => (Class::Plain, name.replace(' ', "_")),
        };
        let background = if class == Class::LevelSet { BAND * place.spacing as f32 } else { 0.0 };
        let value = |index: usize| {
            let (entry, k) = (index / components, index % components);
            let x = if k < given { attribute.data.get(entry * given + k) as f32 } else { 0.0 };
            if class == Class::LevelSet { x.clamp(-background, background) } else { x }
        };
        let values = (0..entries * components).map(value).collect();
        Some(Self { name, class, place: *place, components, background, values })
    }

    fn voxel(&self, [x, y, z]: [i32; 3]) -> Option<&[f32]> {
        let [nx, ny, nz] = self.place.cells;
        let inside = x < nx && y < ny && z < nz;
        inside.then(|| {
            let entry = (x + nx * (y + ny * z)) as usize;
            &self.values[self.components * entry..][..self.components]
        })
    }

    fn is_active(&self, value: &[f32]) -> bool {
        match self.class {
            Class::LevelSet => value[0].abs() < self.background,
            _ => value.iter().any(|x| *x != 0.0),
        }
    }

    /// Leaves that hold more than the background, by the places of their upper node, lower node and themselves in the order of the tree.
    fn leaves(&self) -> BTreeMap<[i32; 3], BTreeMap<usize, BTreeMap<usize, Leaf>>> {
        let mut tree: BTreeMap<[i32; 3], BTreeMap<usize, BTreeMap<usize, Leaf>>> = BTreeMap::new();
        let [nx, ny, nz] = self.place.cells;
        let starts = |n: i32| (0..n).step_by(LEAF as usize);
        for x in starts(nx) {
            for y in starts(ny) {
                for z in starts(nz) {
                    let Some(leaf) = self.leaf([x, y, z]) else { continue };
                    let at = [x, y, z];
                    let upper = at.map(|c| c - c.rem_euclid(UPPER));
                    tree.entry(upper)
                        .or_default()
                        .entry(offset(at, UPPER, LOWER))
                        .or_default()
                        .insert(offset(at, LOWER, LEAF), leaf);
                }
            }
        }
        tree
    }

    fn leaf(&self, [x, y, z]: [i32; 3]) -> Option<Leaf> {
        let background = vec![self.background; self.components];
        let mut leaf = Leaf { mask: [0; 8], values: Vec::with_capacity(512 * self.components) };
        let mut is_background = true;
        // z is fastest within a leaf.
        for (n, voxel) in (0..512).map(|n| (n, [x + (n >> 6), y + (n >> 3 & 7), z + (n & 7)])) {
            let value = self.voxel(voxel).unwrap_or(&background);
            is_background &= value == background;
            if self.voxel(voxel).is_some() && self.is_active(value) {
                leaf.mask[n as usize / 64] |= 1 << (n % 64);
            }
            leaf.values.extend_from_slice(value);
        }
        (!is_background).then_some(leaf)
    }
}

struct Leaf {
    mask: [u64; 8],
    values: Vec<f32>,
}

/// Place of a voxel among the children (of `child` voxels along an edge) of a node of `node` voxels along an edge; z is fastest.
fn offset(at: [i32; 3], node: i32, child: i32) -> usize {
    let count = node / child;
    at.iter().fold(0, |sum, c| sum * count + c.rem_euclid(node) / child) as usize
}

/// Bytes of a file.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    fn floats(&mut self, values: &[f32]) {
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    fn doubles(&mut self, values: [f64; 3]) {
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    fn words(&mut self, words: &[u64]) {
        words.iter().for_each(|word| self.0.extend(word.to_le_bytes()));
    }

    /// One entry of metadata that is a text.
    fn note(&mut self, name: &str, value: &str) {
        self.text(name);
        self.text("string");
        self.text(value);
    }

    /// Bits of the given places.
    fn mask(&mut self, bits: usize, set: impl Iterator<Item = usize>) {
        let mut words = vec![0u64; bits / 64];
        set.for_each(|place| words[place / 64] |= 1 << (place % 64));
        self.words(&words);
    }
}

fn file(grids: &[Grid]) -> Vec<u8> {
    let mut out = Bytes::default();
    out.0.extend(0x5644_4220u64.to_le_bytes());
    // Layout, and the version of the library that wrote such files.
    [224, 8, 1].into_iter().for_each(|number| out.u32(number));
    // Offsets of the grids are known. The identity of the file is always the same, so that the same frame is the same file.
    out.0.push(1);
    out.0.extend(b"00000000-0000-0000-0000-000000000000");
    out.u32(1);
    out.note("creator", "Splashdown");
    out.u32(grids.len() as u32);
    for grid in grids {
        out.text(&grid.name);
        out.text(if grid.components == 1 { "Tree_float_5_4_3" } else { "Tree_vec3s_5_4_3" });
        out.text("");
        let mut own = Bytes::default();
        let blocks = topology(grid, &mut own);
        let start = out.0.len() as u64 + 24;
        let (blocks, end) = (start + blocks as u64, start + own.0.len() as u64);
        out.words(&[start, blocks, end]);
        out.0.append(&mut own.0);
    }
    out.0
}

/// Everything of a grid; returns where the blocks of values begin.
fn topology(grid: &Grid, out: &mut Bytes) -> usize {
    out.u32(ACTIVE_MASK);
    let class = match grid.class {
        Class::Fog => "fog volume",
        Class::LevelSet => "level set",
        Class::Plain => "unknown",
    };
    out.u32(2);
    out.note("class", class);
    out.note("name", &grid.name);
    let h = grid.place.spacing;
    out.text("UniformScaleTranslateMap");
    out.doubles(grid.place.first);
    // Scale, size of a voxel, and what follows from it.
    [h, h, 1.0 / h, 1.0 / (h * h), 0.5 / h].into_iter().for_each(|value| out.doubles([value; 3]));
    let background = vec![grid.background; grid.components];
    out.u32(1);
    out.floats(&background);
    let tree = grid.leaves();
    out.u32(0);
    out.u32(tree.len() as u32);
    for (origin, upper) in &tree {
        origin.iter().for_each(|c| out.0.extend(c.to_le_bytes()));
        node(out, 32768, upper.keys().copied());
        for lower in upper.values() {
            node(out, 4096, lower.keys().copied());
            lower.values().for_each(|leaf| out.words(&leaf.mask));
        }
    }
    let blocks = out.0.len();
    for leaf in tree.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values) {
        out.words(&leaf.mask);
        out.0.push(ALL_VALUES);
        out.floats(&leaf.values);
    }
    blocks
}

/// A node without values of its own: which children it has, no active values, and none stored.
fn node(out: &mut Bytes, bits: usize, children: impl Iterator<Item = usize>) {
    out.mask(bits, children);
    out.mask(bits, std::iter::empty());
    out.0.push(ONLY_ACTIVE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Data, Part};

    /// A frame whose values say where they are, for `checks/vdb_readback.py` and for here.
    fn frame(cells: [u64; 3]) -> Frame {
        let places = |f: fn(f64, f64, f64) -> f64| {
            let mut values = Vec::new();
            for k in 0..cells[2] {
                for j in 0..cells[1] {
                    values.extend((0..cells[0]).map(|i| f(i as f64, j as f64, k as f64) as f32));
                }
            }
            values
        };
        let on_cells = |name: &str, components, values| Attribute {
            name: name.into(),
            unit: "1".into(),
            association: Association::Cell,
            components,
            data: Data::F32(values),
        };
        let smoke = places(|x, y, z| if x > 9.0 && y < 20.0 { x + 100.0 * y + 0.5 * z } else { 0.0 });
        let distance = places(|x, y, z| {
            0.1 * (((x - 20.0).powi(2) + (y - 11.0).powi(2) + (z - 9.0).powi(2)).sqrt() - 8.0)
        });
        let part = Part {
            name: "fluid".into(),
            geometry: Geometry::Grid { origin: vec![1.0, 2.0, 3.0], spacing: 0.1, cells: cells.to_vec() },
            attributes: vec![on_cells("smoke", 1, smoke), on_cells("distance to water", 1, distance)],
        };
        Frame { dimension: 3, index: 0, step: 0, time: 0.0, parts: vec![part] }
    }

    #[test]
    fn leaves_hold_what_differs_from_the_background() {
        let frame = frame([40, 30, 17]);
        let Geometry::Grid { spacing, .. } = frame.parts[0].geometry else { panic!("no grid") };
        let place = Place { cells: [40, 30, 17], spacing, first: [1.05, 2.05, 3.05] };
        let smoke = Grid::new(&frame.parts[0].attributes[0], &place, 3).unwrap();
        let tree = smoke.leaves();
        // x from 10 to 39 is in leaves 1 to 4, y below 20 in 0 to 2, z below 17 in 0 to 2.
        assert_eq!(tree[&[0, 0, 0]][&0].len(), 4 * 3 * 3);
        let leaf = &tree[&[0, 0, 0]][&0][&offset([16, 8, 16], LOWER, LEAF)];
        // Voxel (17, 9, 16): 1 of x, 1 of y, 0 of z within the leaf; (17, 9, 17) is outside of the grid.
        assert_eq!(leaf.values[64 + 8], 17.0 + 900.0 + 8.0);
        assert_eq!(leaf.mask[1] >> 8 & 3, 1);
        let distance = Grid::new(&frame.parts[0].attributes[1], &place, 3).unwrap();
        assert_eq!((distance.class, distance.background), (Class::LevelSet, 0.3));
        // The middle of the ball: inside, beyond the band.
        assert_eq!(distance.voxel([20, 11, 9]), Some(&[-0.3][..]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("grid.vdb");
        assert_eq!(write(&frame, &path).unwrap(), 2);
        assert!(std::fs::read(&path).unwrap().starts_with(b" BDV\0\0\0\0\xe0\0\0\0"));
        assert_eq!(write(&Frame { parts: vec![], ..frame }, &path).unwrap(), 0);
    }
}
