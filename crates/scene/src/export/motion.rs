//! A whole run as things that move: what animated formats hold.

use super::Drawing;
use super::palette::{self, Rgb};
use crate::frame::{Bodies, Frame, Geometry, Shape, Surface, in_space};
use std::collections::HashMap;

/// Everything that moves, over all frames.
#[derive(Debug, Default)]
pub(super) struct Motion {
    /// Times of the frames (s).
    pub times: Vec<f64>,
    /// Numbers of the frames.
    pub indices: Vec<u64>,
    pub bodies: Vec<BodyTrack>,
    pub meshes: Vec<MeshTrack>,
    /// Names of parts that cannot be held.
    pub left_out: Vec<String>,
    body_places: HashMap<(String, String, String), usize>,
    mesh_places: HashMap<String, usize>,
}

/// A rigid body.
#[derive(Debug)]
pub(super) struct BodyTrack {
    pub name: String,
    pub shape: Shape,
    pub colour: Rgb,
    /// Place of the frame, position (m), rotation (x, y, z, w).
    pub samples: Vec<(usize, [f64; 3], [f64; 4])>,
}

/// A part that changes its shape.
#[derive(Debug)]
pub(super) struct MeshTrack {
    pub name: String,
    pub colour: Rgb,
    pub loose_points: bool,
    /// Place of the frame, and what it looks like there.
    pub samples: Vec<(usize, Surface)>,
}

impl MeshTrack {
    /// Do all frames have the same points and elements?
    pub fn keeps_topology(&self) -> bool {
        self.samples.windows(2).all(|pair| {
            let (a, b) = (&pair[0].1, &pair[1].1);
            a.positions.len() == b.positions.len() && a.triangles == b.triangles && a.lines == b.lines
        })
    }
}

impl Motion {
    /// Takes up the next frame.
    pub fn add(&mut self, frame: &Frame) {
        let at = self.times.len();
        self.times.push(frame.time);
        self.indices.push(frame.index);
        let drawing = Drawing::of(frame);
        for name in drawing.left_out {
            if !self.left_out.contains(&name) {
                self.left_out.push(name);
            }
        }
        let mut objects = drawing.objects.into_iter();
        for (number, part) in frame.parts.iter().enumerate() {
            if matches!(part.geometry, Geometry::Grid { .. }) {
                continue;
            }
            // Drawn in the order of the parts.
            let Some(object) = objects.next() else { break };
            if let Geometry::Bodies(bodies) = &part.geometry {
                self.add_bodies(&part.name, bodies, frame.dimension, at);
                continue;
            }
            let colour =
                palette::of_liquid_part(&part.name, frame.parts.iter().map(|part| part.name.as_str()))
                    .unwrap_or_else(|| palette::of_body(number));
            let place = *self.mesh_places.entry(part.name.clone()).or_insert_with(|| {
                self.meshes.push(MeshTrack {
                    name: part.name.clone(),
                    colour,
                    loose_points: object.loose_points,
                    samples: vec![],
                });
                self.meshes.len() - 1
            });
            self.meshes[place].samples.push((at, object.surface));
        }
    }

    fn add_bodies(&mut self, part: &str, bodies: &Bodies, dimension: usize, at: usize) {
        for (body, name) in bodies.names.iter().enumerate() {
            let shape = &bodies.shapes[bodies.shape_of[body] as usize];
            let key = match shape {
                Shape::Surface(surface) => surface.key(),
                other => format!("{other:?}"),
            };
            let place = *self.body_places.entry((part.to_owned(), name.clone(), key)).or_insert_with(|| {
                self.bodies.push(BodyTrack {
                    name: name.clone(),
                    shape: shape.clone(),
                    colour: palette::of_body(body),
                    samples: vec![],
                });
                self.bodies.len() - 1
            });
            let position = in_space(&bodies.positions[body * dimension..(body + 1) * dimension]);
            self.bodies[place].samples.push((at, position, quaternion(bodies, body, dimension)));
        }
    }
}

/// Rotation of a body as the unit quaternion (x, y, z, w).
fn quaternion(bodies: &Bodies, body: usize, dimension: usize) -> [f64; 4] {
    if dimension == 2 {
        let half = 0.5 * bodies.rotations[2 * body + 1].atan2(bodies.rotations[2 * body]);
        [0.0, 0.0, half.sin(), half.cos()]
    } else {
        let r = &bodies.rotations[4 * body..4 * body + 4];
        [r[1], r[2], r[3], r[0]]
    }
}
