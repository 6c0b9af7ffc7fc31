//! glTF 2.0, binary and animated: rigid bodies as nodes that move, meshes of constant topology by morph targets, all other parts as one
//! mesh a frame that is shown at its time. Units are metres and seconds, as glTF has them.
//!
//! Written by hand: what we need of the format is a list of arrays and a little JSON, less than an interface to a crate for it.

use super::motion::{BodyTrack, MeshTrack, Motion};
use super::palette::Rgb;
use crate::frame::{Shape, Surface};
use crate::storage::{StorageError, write_atomically};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::path::Path;

const FLOAT: u32 = 5126;
const UNSIGNED: u32 = 5125;
/// Vertices, elements: what a buffer view is for.
const ARRAY: u32 = 34962;
const ELEMENTS: u32 = 34963;

/// Writes the run as `path`.
pub(super) fn write(motion: &Motion, scene: &str, dimension: usize, path: &Path) -> Result<(), StorageError> {
    let mut document = Document::default();
    let times: Vec<f32> = motion.times.iter().map(|&time| (time - motion.times[0]) as f32).collect();
    for body in &motion.bodies {
        document.body(body, &times, dimension);
    }
    for mesh in &motion.meshes {
        document.mesh_track(mesh, &times);
    }
    let file = document.finish(scene);
    write_atomically(path, |out| match u32::try_from(file.len()) {
        Ok(_) => out.write_all(&file),
        Err(_) => {
            Err(io::Error::other("a binary glTF file holds at most 4 GB; export fewer frames with --frames"))
        }
    })
}

#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    material_of: HashMap<[u32; 3], usize>,
    mesh_of: HashMap<String, usize>,
    /// Accessor of the times of frames, by their places.
    times_of: HashMap<Vec<usize>, usize>,
}

impl Document {
    fn view(&mut self, bytes: impl Iterator<Item = [u8; 4]>, target: Option<u32>) -> usize {
        let offset = self.bytes.len();
        bytes.for_each(|word| self.bytes.extend_from_slice(&word));
        let mut view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": self.bytes.len() - offset });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// An array of floats, `kind` of them an entry, with the bounds that the format wants.
    fn floats(&mut self, values: &[f32], kind: &str, target: Option<u32>) -> usize {
        let components = match kind {
            "SCALAR" => 1,
            "VEC3" => 3,
            _ => 4,
        };
        let view = self.view(values.iter().map(|value| value.to_le_bytes()), target);
        let bound = |fold: fn(f32, f32) -> f32, start: f32| -> Vec<f32> {
            (0..components)
                .map(|k| values.iter().skip(k).step_by(components).copied().fold(start, fold))
                .collect()
        };
        self.accessors.push(json!({
            "bufferView": view,
            "componentType": FLOAT,
            "count": values.len() / components,
            "type": kind,
            "min": bound(f32::min, f32::INFINITY),
            "max": bound(f32::max, f32::NEG_INFINITY),
        }));
        self.accessors.len() - 1
    }

    fn indices(&mut self, values: &[u32]) -> usize {
        let view = self.view(values.iter().map(|value| value.to_le_bytes()), Some(ELEMENTS));
        self.accessors.push(json!({
            "bufferView": view, "componentType": UNSIGNED, "count": values.len(), "type": "SCALAR",
        }));
        self.accessors.len() - 1
    }

    fn material(&mut self, [r, g, b]: Rgb) -> usize {
        let materials = &mut self.materials;
        *self.material_of.entry([r, g, b].map(f32::to_bits)).or_insert_with(|| {
            materials.push(json!({
                "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7 },
                "doubleSided": true,
            }));
            materials.len() - 1
        })
    }

    /// A mesh of a surface; `targets` are displaced copies of its points.
    fn mesh(
        &mut self,
        surface: &Surface,
        loose_points: bool,
        colour: Rgb,
        targets: &[Vec<f32>],
    ) -> Option<usize> {
        if surface.positions.is_empty() {
            return None;
        }
        let material = self.material(colour);
        let position = self.floats(&single(&surface.positions), "VEC3", Some(ARRAY));
        let targets: Vec<Value> = targets
            .iter()
            .map(|target| json!({ "POSITION": self.floats(target, "VEC3", Some(ARRAY)) }))
            .collect();
        let mut primitives = Vec::new();
        let mut primitive = |mode: u32, indices: Option<usize>| {
            let mut made =
                json!({ "attributes": { "POSITION": position }, "mode": mode, "material": material });
            if let Some(indices) = indices {
                made["indices"] = indices.into();
            }
            if !targets.is_empty() {
                made["targets"] = targets.clone().into();
            }
            primitives.push(made);
        };
        const POINTS: u32 = 0;
        const LINES: u32 = 1;
        const TRIANGLES: u32 = 4;
        if !surface.triangles.is_empty() {
            let indices = self.indices(surface.triangles.as_flattened());
            primitive(TRIANGLES, Some(indices));
        }
        if !surface.lines.is_empty() {
            let indices = self.indices(surface.lines.as_flattened());
            primitive(LINES, Some(indices));
        }
        if loose_points || (surface.triangles.is_empty() && surface.lines.is_empty()) {
            primitive(POINTS, None);
        }
        self.meshes.push(json!({ "primitives": primitives }));
        Some(self.meshes.len() - 1)
    }

    fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Times of frames as the input of a sampler.
    fn input(&mut self, times: &[f32], places: &[usize]) -> usize {
        if let Some(&known) = self.times_of.get(places) {
            return known;
        }
        let values: Vec<f32> = places.iter().map(|&place| times[place]).collect();
        let made = self.floats(&values, "SCALAR", None);
        self.times_of.insert(places.to_vec(), made);
        made
    }

    fn animate(&mut self, node: usize, path: &str, input: usize, output: usize, interpolation: &str) {
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        let sampler = self.samplers.len() - 1;
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    /// Shows a node only while frames `from..to` are due.
    fn show_during(&mut self, node: usize, times: &[f32], from: usize, to: usize) {
        let mut places = vec![from];
        let mut scale = vec![1.0f32];
        if from > 0 {
            places.insert(0, 0);
            scale.insert(0, 0.0);
        }
        if to < times.len() {
            places.push(to);
            scale.push(0.0);
        }
        if places.len() > 1 {
            let input = self.input(times, &places);
            let values: Vec<f32> = scale.iter().flat_map(|&s| [s; 3]).collect();
            let output = self.floats(&values, "VEC3", None);
            self.animate(node, "scale", input, output, "STEP");
        }
    }

    fn body(&mut self, body: &BodyTrack, times: &[f32], dimension: usize) {
        let key = match &body.shape {
            Shape::Surface(surface) => format!("{} {:?}", surface.key(), body.colour),
            other => format!("{other:?} {:?}", body.colour),
        };
        let mesh = match self.mesh_of.get(&key) {
            Some(&mesh) => Some(mesh),
            None => {
                let made = self.mesh(&body.shape.tessellate(dimension), false, body.colour, &[]);
                made.inspect(|&made| {
                    self.mesh_of.insert(key, made);
                })
            }
        };
        let Some(&(from, position, rotation)) = body.samples.first() else { return };
        let mut node = json!({
            "name": body.name,
            "translation": position.map(|x| x as f32),
            "rotation": rotation.map(|x| x as f32),
        });
        if let Some(mesh) = mesh {
            node["mesh"] = mesh.into();
        }
        let node = self.node(node);
        let moves = body.samples.iter().any(|sample| (sample.1, sample.2) != (position, rotation));
        if moves {
            let places: Vec<usize> = body.samples.iter().map(|sample| sample.0).collect();
            let input = self.input(times, &places);
            let translations: Vec<f32> =
                body.samples.iter().flat_map(|sample| sample.1.map(|x| x as f32)).collect();
            let output = self.floats(&translations, "VEC3", None);
            self.animate(node, "translation", input, output, "LINEAR");
            let output = self.floats(&continuous(body), "VEC4", None);
            self.animate(node, "rotation", input, output, "LINEAR");
        }
        let to = body.samples.last().map_or(from, |sample| sample.0) + 1;
        self.show_during(node, times, from, to);
    }

    fn mesh_track(&mut self, track: &MeshTrack, times: &[f32]) {
        let Some((from, first)) = track.samples.first() else { return };
        if !track.keeps_topology() {
            for (at, surface) in &track.samples {
                if let Some(mesh) = self.mesh(surface, track.loose_points, track.colour, &[]) {
                    let node = self.node(json!({ "name": format!("{} {at}", track.name), "mesh": mesh }));
                    self.show_during(node, times, *at, at + 1);
                }
            }
            return;
        }
        let base = single(&first.positions);
        let targets: Vec<Vec<f32>> = track.samples[1..]
            .iter()
            .map(|(_, surface)| {
                single(&surface.positions).iter().zip(&base).map(|(now, base)| now - base).collect()
            })
            .collect();
        let Some(mesh) = self.mesh(first, track.loose_points, track.colour, &targets) else { return };
        let node = self.node(json!({ "name": track.name, "mesh": mesh }));
        if !targets.is_empty() {
            self.meshes[mesh]["weights"] = vec![0.0; targets.len()].into();
            let places: Vec<usize> = track.samples.iter().map(|sample| sample.0).collect();
            let input = self.input(times, &places);
            let weights: Vec<f32> = (0..track.samples.len())
                .flat_map(|sample| {
                    (1..track.samples.len()).map(move |target| if target == sample { 1.0 } else { 0.0 })
                })
                .collect();
            let output = self.floats(&weights, "SCALAR", None);
            self.animate(node, "weights", input, output, "LINEAR");
        }
        let to = track.samples.last().map_or(*from, |sample| sample.0) + 1;
        self.show_during(node, times, *from, to);
    }

    fn finish(mut self, scene: &str) -> Vec<u8> {
        let roots: Vec<usize> = (0..self.nodes.len()).collect();
        let mut document = json!({
            "asset": { "version": "2.0", "generator": format!("Splashdown {}", crate::run_folder::PROGRAM_VERSION) },
            "scene": 0,
            "scenes": [{ "name": scene, "nodes": roots }],
        });
        // Empty lists are not allowed.
        let mut put = |name: &str, list: Vec<Value>| {
            if !list.is_empty() {
                document[name] = list.into();
            }
        };
        if !self.channels.is_empty() {
            let animation = json!({ "name": scene, "channels": self.channels, "samplers": self.samplers });
            put("animations", vec![animation]);
        }
        put("nodes", self.nodes);
        put("meshes", self.meshes);
        put("materials", self.materials);
        put("accessors", self.accessors);
        put("bufferViews", self.views);
        if !self.bytes.is_empty() {
            put("buffers", vec![json!({ "byteLength": self.bytes.len() })]);
        }
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let binary = if self.bytes.is_empty() { 0 } else { 8 + self.bytes.len() };
        let mut file = Vec::with_capacity(20 + text.len() + binary);
        file.extend_from_slice(b"glTF");
        for word in [2, (20 + text.len() + binary) as u32, text.len() as u32] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(b"JSON");
        file.append(&mut text);
        if binary > 0 {
            file.extend_from_slice(&(self.bytes.len() as u32).to_le_bytes());
            file.extend_from_slice(b"BIN\0");
            file.append(&mut self.bytes);
        }
        file
    }
}

fn single(points: &[[f64; 3]]) -> Vec<f32> {
    points.iter().flatten().map(|&x| x as f32).collect()
}

/// Rotations of which each is the nearer of the two quaternions to the one before, so that what is between them is the short way.
fn continuous(body: &BodyTrack) -> Vec<f32> {
    let mut before = [0.0; 4];
    let mut out = Vec::with_capacity(4 * body.samples.len());
    for (_, _, rotation) in &body.samples {
        let same: f64 = before.iter().zip(rotation).map(|(a, b)| a * b).sum();
        before = if same < 0.0 { rotation.map(|x| -x) } else { *rotation };
        out.extend(before.map(|x| x as f32));
    }
    out
}
