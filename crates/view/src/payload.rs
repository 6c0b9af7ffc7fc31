//! A frame as the page reads it: a JSON header and flat little-endian arrays that go to the graphics card as they are.
//!
//! ```text
//! "SPV1"  u32 length of the header  header (JSON, padded with spaces to a multiple of 4)  arrays
//! ```
//!
//! The header names every array as `[offset, count, type]`: bytes from the end of the header, number of entries, `"f32"`, `"u32"` or `"u8"`.
//! The page asks for the beginning first and then only for the ranges that it draws, so a field that nobody looks at is never sent, and a
//! surface that the page has already (told by its key) is not sent again.
//!
//! Everything is in space: the plane is z = 0, rotations are quaternions (x, y, z, w), vectors have three components. Solids come as
//! their boundary, values on elements as means at the points.

use crate::coarse;
use serde_json::{Value, json};
use splashdown_scene::export::boundary;
use splashdown_scene::frame::{Association, Attribute, Bodies, Data, Element, Frame, Geometry, Part, Shape};

/// What the file starts with.
pub const MAGIC: [u8; 4] = *b"SPV1";

/// Bodies this many times larger than the middle one are surroundings, not what is looked at; as in `splashdown-render`.
const SURROUNDINGS: f64 = 12.0;

/// Packs a frame.
pub fn encode(frame: &Frame) -> Vec<u8> {
    let mut arrays = Arrays::default();
    let mut bounds = Bounds::default();
    let flow = frame.parts.iter().find_map(|part| Flow::of(part, frame.dimension));
    let parts: Vec<Value> = frame
        .parts
        .iter()
        .map(|part| match flow.as_ref().and_then(|flow| flow.on_surface(part, frame.dimension)) {
            Some(moving) => encode_part(&moving, frame.dimension, &mut arrays, &mut bounds),
            None => encode_part(part, frame.dimension, &mut arrays, &mut bounds),
        })
        .collect();
    let header = json!({
        "dimension": frame.dimension,
        "index": frame.index,
        "step": frame.step,
        "time": frame.time,
        "bounds": bounds.0,
        "parts": parts,
    });
    let mut text = header.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = Vec::with_capacity(8 + text.len() + arrays.bytes.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&(text.len() as u32).to_le_bytes());
    file.append(&mut text);
    file.append(&mut arrays.bytes);
    file
}

/// Velocity on the cells of a grid.
struct Flow<'a> {
    origin: &'a [f64],
    spacing: f64,
    cells: Vec<usize>,
    velocity: &'a Attribute,
}

impl<'a> Flow<'a> {
    fn of(part: &'a Part, dimension: usize) -> Option<Self> {
        let Geometry::Grid { origin, spacing, cells } = &part.geometry else { return None };
        let is_velocity = |a: &&Attribute| {
            a.name == "velocity" && a.association == Association::Cell && a.components == dimension
        };
        let velocity = part.attributes.iter().find(is_velocity)?;
        Some(Self { origin, spacing: *spacing, cells: cells.iter().map(|&n| n as usize).collect(), velocity })
    }

    /// The surface of a liquid with the velocity of the fluid on it, so that it can be coloured by speed.
    fn on_surface(&self, part: &Part, dimension: usize) -> Option<Part> {
        let Geometry::Mesh { positions, .. } = &part.geometry else { return None };
        let known = part.attributes.iter().any(|attribute| attribute.name == "velocity");
        if known || !part.name.starts_with("surface of ") || self.cells.contains(&0) {
            return None;
        }
        let data = positions.chunks_exact(dimension).flat_map(|point| self.at(point)).collect();
        let mut moving = part.clone();
        moving.attributes.push(Attribute {
            name: self.velocity.name.clone(),
            unit: self.velocity.unit.clone(),
            association: Association::Point,
            components: dimension,
            data: Data::F32(data),
        });
        Some(moving)
    }

    /// Linear between cell centres.
    fn at(&self, point: &[f64]) -> Vec<f32> {
        let dimension = self.cells.len();
        let place = |k: usize| {
            let x = ((point[k] - self.origin[k]) / self.spacing - 0.5).clamp(0.0, (self.cells[k] - 1) as f64);
            let low = (x as usize).min(self.cells[k].saturating_sub(2));
            (low, x - low as f64)
        };
        let mut sum = vec![0.0; dimension];
        for corner in 0..1usize << dimension {
            let (mut share, mut cell, mut stride) = (1.0, 0, 1);
            for k in 0..dimension {
                let (low, weight) = place(k);
                let up = corner >> k & 1;
                share *= if up == 1 { weight } else { 1.0 - weight };
                cell += stride * (low + up).min(self.cells[k] - 1);
                stride *= self.cells[k];
            }
            for (k, sum) in sum.iter_mut().enumerate() {
                *sum += share * self.velocity.data.get(cell * dimension + k);
            }
        }
        sum.into_iter().map(|x| x as f32).collect()
    }
}

/// Arrays one after the other.
#[derive(Default)]
struct Arrays {
    bytes: Vec<u8>,
}

impl Arrays {
    fn f32(&mut self, values: impl Iterator<Item = f32>) -> Value {
        let offset = self.bytes.len();
        values.for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
        json!([offset, (self.bytes.len() - offset) / 4, "f32"])
    }

    fn u32(&mut self, values: impl Iterator<Item = u32>) -> Value {
        let offset = self.bytes.len();
        values.for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
        json!([offset, (self.bytes.len() - offset) / 4, "u32"])
    }

    fn text(&mut self, text: &str) -> Value {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        let count = text.len();
        self.bytes.resize(self.bytes.len().next_multiple_of(4), b' ');
        json!([offset, count, "u8"])
    }
}

/// The box around what there is to look at, if there is anything.
#[derive(Default)]
struct Bounds(Option<[[f64; 3]; 2]>);

impl Bounds {
    fn add(&mut self, point: [f64; 3]) {
        if !point.iter().all(|x| x.is_finite() && x.abs() < 1e30) {
            return;
        }
        let [low, high] = self.0.get_or_insert([point; 2]);
        for k in 0..3 {
            low[k] = low[k].min(point[k]);
            high[k] = high[k].max(point[k]);
        }
    }

    fn radius(&self) -> Option<f64> {
        let [low, high] = self.0?;
        Some(0.5 * (0..3).map(|k| (high[k] - low[k]).powi(2)).sum::<f64>().sqrt())
    }

    fn join(&mut self, other: &Self) {
        other.0.iter().flatten().for_each(|&corner| self.add(corner));
    }
}

fn in_space(point: &[f64]) -> [f64; 3] {
    std::array::from_fn(|k| point.get(k).copied().unwrap_or(0.0))
}

fn encode_part(part: &Part, dimension: usize, arrays: &mut Arrays, bounds: &mut Bounds) -> Value {
    match &part.geometry {
        Geometry::Bodies(bodies) => encode_bodies(part, bodies, dimension, arrays, bounds),
        Geometry::Points { positions } => {
            let points = spread(positions, dimension);
            add_points(&points, bounds);
            json!({
                "name": part.name,
                "kind": "points",
                "position": arrays.f32(flat(&points)),
                "fields": point_fields(part, dimension, None, arrays),
            })
        }
        Geometry::Mesh { element, positions, elements } => {
            encode_mesh(part, *element, positions, elements, dimension, arrays, bounds)
        }
        Geometry::Grid { origin, spacing, cells } => {
            let low = in_space(origin);
            let count = |k: usize| cells.get(k).copied().unwrap_or(1);
            bounds.add(low);
            bounds.add(std::array::from_fn(|k| {
                if k < dimension { low[k] + spacing * count(k) as f64 } else { low[k] }
            }));
            let fields: Vec<Value> = part
                .attributes
                .iter()
                .filter(|attribute| attribute.association == Association::Cell)
                .map(|attribute| {
                    let all: Vec<usize> = (0..attribute.data.len() / attribute.components.max(1)).collect();
                    field(attribute, &Values::Direct(&all), dimension, arrays)
                })
                .collect();
            json!({
                "name": part.name,
                "kind": "grid",
                "origin": low,
                "spacing": spacing,
                "cells": [count(0), count(1), count(2)],
                "fields": fields,
            })
        }
    }
}

fn spread(positions: &[f64], dimension: usize) -> Vec<[f64; 3]> {
    positions.chunks_exact(dimension).map(in_space).collect()
}

fn flat(points: &[[f64; 3]]) -> impl Iterator<Item = f32> {
    points.iter().flatten().map(|&x| x as f32)
}

fn add_points(points: &[[f64; 3]], bounds: &mut Bounds) {
    points.iter().for_each(|&point| bounds.add(point));
}

fn encode_mesh(
    part: &Part,
    element: Element,
    positions: &[f64],
    elements: &[u32],
    dimension: usize,
    arrays: &mut Arrays,
    bounds: &mut Bounds,
) -> Value {
    let points = spread(positions, dimension);
    let on_cells = Some((element.corners(), elements));
    let mut mesh = json!({ "name": part.name, "kind": "mesh" });
    match element {
        Element::Segment | Element::Triangle => {
            add_points(&points, bounds);
            mesh["position"] = arrays.f32(flat(&points));
            let name = if element == Element::Segment { "lines" } else { "triangles" };
            mesh[name] = arrays.u32(elements.iter().copied());
            mesh["fields"] = point_fields(part, dimension, on_cells, arrays).into();
            if element == Element::Triangle {
                let triangles = elements.as_chunks().0;
                let direct = |index: u32| index as usize;
                add_coarse(
                    &mut mesh,
                    part,
                    &points,
                    triangles,
                    [points.len(), dimension],
                    direct,
                    on_cells,
                    arrays,
                );
            }
        }
        Element::Tetrahedron | Element::Hexahedron => {
            let (triangles, used) = boundary(element, elements, &points);
            let outside: Vec<[f64; 3]> = used.iter().map(|&i| points[i as usize]).collect();
            add_points(&outside, bounds);
            mesh["position"] = arrays.f32(flat(&outside));
            mesh["triangles"] = arrays.u32(triangles.iter().flatten().copied());
            mesh["elements"] = (elements.len() / element.corners()).into();
            let chosen: Vec<usize> = used.iter().map(|&i| i as usize).collect();
            mesh["fields"] = chosen_fields(part, &chosen, points.len(), dimension, on_cells, arrays).into();
            let inside = |index: u32| chosen[index as usize];
            add_coarse(
                &mut mesh,
                part,
                &outside,
                &triangles,
                [points.len(), dimension],
                inside,
                on_cells,
                arrays,
            );
        }
    }
    mesh["particles"] = points.len().into();
    mesh
}

/// A large surface once more with few triangles, for while it moves: `coarse` with arrays and fields of its own.
#[expect(
    clippy::too_many_arguments,
    reason = "one call for each kind of surface, a struct would only name them again"
)]
fn add_coarse(
    mesh: &mut Value,
    part: &Part,
    points: &[[f64; 3]],
    triangles: &[[u32; 3]],
    [count, dimension]: [usize; 2],
    of_part: impl Fn(u32) -> usize,
    on_cells: Option<(usize, &[u32])>,
    arrays: &mut Arrays,
) {
    if triangles.len() <= coarse::FROM {
        return;
    }
    let few = coarse::coarsen(points, triangles);
    let chosen: Vec<usize> = few.points.iter().map(|&index| of_part(index)).collect();
    mesh["coarse"] = json!({
        "position": arrays.f32(few.points.iter().flat_map(|&index| points[index as usize]).map(|x| x as f32)),
        "triangles": arrays.u32(few.triangles.iter().flatten().copied()),
        "fields": chosen_fields(part, &chosen, count, dimension, on_cells, arrays),
    });
}

fn encode_bodies(
    part: &Part,
    bodies: &Bodies,
    dimension: usize,
    arrays: &mut Arrays,
    bounds: &mut Bounds,
) -> Value {
    let centres = spread(&bodies.positions, dimension);
    let rotations: Vec<[f64; 4]> =
        (0..bodies.names.len()).map(|body| rotation(bodies, body, dimension)).collect();
    let reach: Vec<[f64; 6]> = bodies.shapes.iter().map(|shape| extent(shape, dimension)).collect();
    let boxes: Vec<Bounds> = (0..bodies.names.len())
        .map(|body| {
            let mut own = Bounds::default();
            let reach = &reach[bodies.shape_of[body] as usize];
            let is_ball = matches!(bodies.shapes[bodies.shape_of[body] as usize], Shape::Ball { .. });
            let turn = if is_ball { [0.0, 0.0, 0.0, 1.0] } else { rotations[body] };
            for corner in 0..8usize {
                let at = std::array::from_fn(|k| reach[if corner >> k & 1 == 1 { k + 3 } else { k }]);
                let turned = rotate(turn, at);
                own.add(std::array::from_fn(|k| centres[body][k] + turned[k]));
            }
            own
        })
        .collect();
    let mut radii: Vec<f64> = boxes.iter().filter_map(Bounds::radius).collect();
    radii.sort_by(f64::total_cmp);
    let largest = radii.get(radii.len() / 2).map_or(f64::INFINITY, |middle| SURROUNDINGS * middle);
    let is_looked_at = |own: &&Bounds| own.radius().is_some_and(|radius| radius <= largest);
    boxes.iter().filter(is_looked_at).for_each(|own| bounds.join(own));
    // What nothing moves has no mass in the frame.
    let mass = part.attributes.iter().find(|a| a.name == "mass" && a.association == Association::Point);
    let is_fixed = |body: usize| mass.is_some_and(|mass| mass.data.get(body) == 0.0);
    let surroundings: Vec<usize> =
        (0..boxes.len()).filter(|&body| !is_looked_at(&&boxes[body]) || is_fixed(body)).collect();

    let position = arrays.f32(flat(&centres));
    let turns = arrays.f32(rotations.iter().flatten().map(|&x| x as f32));
    let shape_of = arrays.u32(bodies.shape_of.iter().copied());
    let fields = point_fields(part, dimension, None, arrays);
    let names = serde_json::to_string(&bodies.names).unwrap_or_default();
    let names_key = splashdown_scene::run::fingerprint(&names);
    let names = arrays.text(&names);
    let shapes: Vec<Value> = bodies
        .shapes
        .iter()
        .map(|shape| match shape {
            Shape::Ball { radius } => json!({ "kind": "ball", "radius": radius }),
            Shape::Box { edges } => {
                json!({ "kind": "box", "edges": [edges[0], edges[1], edges.get(2).copied().unwrap_or(0.0)] })
            }
            Shape::Surface(surface) => {
                let points = spread(surface.positions(), dimension);
                let name = if dimension == 2 { "lines" } else { "triangles" };
                json!({
                    "kind": "surface",
                    "key": surface.key(),
                    "position": arrays.f32(flat(&points)),
                    name: arrays.u32(surface.elements().iter().copied()),
                })
            }
        })
        .collect();
    json!({
        "name": part.name,
        "kind": "bodies",
        "count": bodies.names.len(),
        "names": names,
        "names_key": names_key,
        "shapes": shapes,
        "shape_of": shape_of,
        "position": position,
        "rotation": turns,
        "surroundings": surroundings,
        "fields": fields,
    })
}

/// Quaternion (x, y, z, w) of a body.
fn rotation(bodies: &Bodies, body: usize, dimension: usize) -> [f64; 4] {
    if dimension == 2 {
        let (c, s) = (bodies.rotations[2 * body], bodies.rotations[2 * body + 1]);
        let half = 0.5 * s.atan2(c);
        [0.0, 0.0, half.sin(), half.cos()]
    } else {
        let r = &bodies.rotations[4 * body..4 * body + 4];
        [r[1], r[2], r[3], r[0]]
    }
}

fn rotate([x, y, z, w]: [f64; 4], p: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let t = cross([x, y, z], p).map(|v| 2.0 * v);
    let u = cross([x, y, z], t);
    std::array::from_fn(|k| p[k] + w * t[k] + u[k])
}

/// Lowest and highest corner of a shape in its own coordinates.
fn extent(shape: &Shape, dimension: usize) -> [f64; 6] {
    let symmetric = |half: [f64; 3]| [-half[0], -half[1], -half[2], half[0], half[1], half[2]];
    match shape {
        Shape::Ball { radius } => symmetric([*radius, *radius, if dimension == 2 { 0.0 } else { *radius }]),
        Shape::Box { edges } => symmetric(in_space(edges).map(|edge| 0.5 * edge)),
        Shape::Surface(surface) => {
            let mut own = Bounds::default();
            add_points(&spread(surface.positions(), dimension), &mut own);
            let [low, high] = own.0.unwrap_or_default();
            [low[0], low[1], low[2], high[0], high[1], high[2]]
        }
    }
}

/// Where the values of a field are found.
enum Values<'a> {
    /// These entries of the attribute.
    Direct(&'a [usize]),
    /// The means of the elements around these points.
    Means { of_point: &'a [Vec<u32>], points: &'a [usize] },
}

/// Fields at all points of a part.
fn point_fields(
    part: &Part,
    dimension: usize,
    cells: Option<(usize, &[u32])>,
    arrays: &mut Arrays,
) -> Vec<Value> {
    let count = part.geometry.entries(Association::Point, dimension).unwrap_or(0);
    let all: Vec<usize> = (0..count).collect();
    chosen_fields(part, &all, count, dimension, cells, arrays)
}

/// Fields at some points of a part; values on elements become means at their points.
fn chosen_fields(
    part: &Part,
    points: &[usize],
    count: usize,
    dimension: usize,
    cells: Option<(usize, &[u32])>,
    arrays: &mut Arrays,
) -> Vec<Value> {
    let mut of_point: Vec<Vec<u32>> = Vec::new();
    let has_cells = part.attributes.iter().any(|attribute| attribute.association == Association::Cell);
    if let Some((corners, elements)) = cells.filter(|_| has_cells) {
        of_point.resize(count, Vec::new());
        for (cell, corner) in elements.iter().enumerate().map(|(at, corner)| (at / corners, corner)) {
            of_point[*corner as usize].push(cell as u32);
        }
    }
    part.attributes
        .iter()
        .filter_map(|attribute| match attribute.association {
            Association::Point => Some(field(attribute, &Values::Direct(points), dimension, arrays)),
            Association::Cell if !of_point.is_empty() => {
                Some(field(attribute, &Values::Means { of_point: &of_point, points }, dimension, arrays))
            }
            _ => None,
        })
        .collect()
}

fn field(attribute: &Attribute, values: &Values, dimension: usize, arrays: &mut Arrays) -> Value {
    let components = attribute.components;
    // Vectors of the plane become vectors of space.
    let padding = usize::from(dimension == 2 && components == 2);
    let entry = |index: usize, k: usize| attribute.data.get(index * components + k);
    let value = |index: usize, k: usize| match values {
        Values::Direct(points) => entry(points[index], k),
        Values::Means { of_point, points } => {
            let around = &of_point[points[index]];
            around.iter().map(|&cell| entry(cell as usize, k)).sum::<f64>() / around.len().max(1) as f64
        }
    };
    let count = match values {
        Values::Direct(points) | Values::Means { points, .. } => points.len(),
    };
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut data = Vec::with_capacity(count * (components + padding));
    for index in 0..count {
        let mut square = 0.0;
        for k in 0..components {
            let x = value(index, k);
            square += x * x;
            data.push(x as f32);
        }
        data.resize(data.len() + padding, 0.0);
        let size = if components == 1 { value(index, 0) } else { square.sqrt() };
        if size.is_finite() {
            (low, high) = (low.min(size), high.max(size));
        }
    }
    json!({
        "name": attribute.name,
        "unit": attribute.unit,
        "components": components + padding,
        "range": if low <= high { json!([low, high]) } else { Value::Null },
        "data": arrays.f32(data.into_iter()),
    })
}
