//! A frame as triangles, lines, dots and volumes with colours.

use crate::colour::{self, Colouring, Rgb};
use crate::vector::{V3, add, cross, dot, length, sub, unit_or};
use crate::volume::Volume;
use splashdown_scene::export::Drawing;
use splashdown_scene::frame::{Association, Frame, Geometry};
use std::collections::BTreeMap;

/// The box that something occupies (m).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    low: V3,
    high: V3,
}

impl Bounds {
    /// Nothing.
    pub fn empty() -> Self {
        Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] }
    }

    /// Makes room for a point; one that is not finite is left out.
    pub fn add(&mut self, point: [f64; 3]) {
        if point.iter().all(|x| x.is_finite() && x.abs() < 1e30) {
            for k in 0..3 {
                self.low[k] = self.low[k].min(point[k]);
                self.high[k] = self.high[k].max(point[k]);
            }
        }
    }

    /// Room for both.
    pub fn join(&mut self, other: &Self) {
        if other.low[0] <= other.high[0] {
            self.add(other.low);
            self.add(other.high);
        }
    }

    fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    pub(crate) fn low(&self) -> V3 {
        if self.is_empty() { [-0.5; 3] } else { self.low }
    }

    pub(crate) fn high(&self) -> V3 {
        if self.is_empty() { [0.5; 3] } else { self.high }
    }

    pub(crate) fn centre(&self) -> V3 {
        std::array::from_fn(|k| 0.5 * (self.low()[k] + self.high()[k]))
    }

    pub(crate) fn size(&self) -> V3 {
        sub(self.high(), self.low())
    }

    /// Radius of the ball around the box; never zero.
    pub(crate) fn radius(&self) -> f64 {
        (0.5 * length(self.size())).max(1e-9)
    }

    pub(crate) fn corners(&self) -> [V3; 8] {
        let (low, high) = (self.low(), self.high());
        std::array::from_fn(|i| std::array::from_fn(|k| if i >> k & 1 == 1 { high[k] } else { low[k] }))
    }
}

/// A triangle with a normal and a colour at each corner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle {
    pub corners: [V3; 3],
    pub normals: [V3; 3],
    pub colours: [Rgb; 3],
}

/// A line or, with both ends equal, a dot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stroke {
    pub ends: [V3; 2],
    pub colours: [Rgb; 2],
    /// Half its thickness: a length (m), or a share of the picture's height.
    pub radius: Thickness,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Thickness {
    World(f64),
    Picture(f64),
}

/// Everything that is drawn.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub triangles: Vec<Triangle>,
    pub strokes: Vec<Stroke>,
    pub volumes: Vec<Volume>,
    /// Points that decide what the camera sees; huge bodies (floors, walls) are not among them.
    framing: Vec<V3>,
}

/// Two faces that share a corner are one round surface there if their normals are within about 40 degrees.
const ROUND: f64 = 0.77;
/// Bodies this many times larger than the middle one are surroundings, not what is looked at.
const SURROUNDINGS: f64 = 12.0;

/// How the points of a part are drawn.
#[derive(Clone, Copy)]
enum Dots<'a> {
    /// Not at all: the lines between them say it all.
    None,
    /// All the same.
    Even,
    /// Each with its own radius (m).
    Radii(&'a [f64]),
}

impl Model {
    pub fn new(frame: &Frame, colouring: &Colouring) -> Self {
        let drawing = Drawing::of(frame);
        let mut model = Self::default();
        let fastest = match colouring {
            Colouring::Speed(limit) if *limit > 0.0 => *limit,
            Colouring::Speed(_) => fastest(&drawing),
            Colouring::Body => 0.0,
        };
        for (number, part) in frame.parts.iter().enumerate() {
            if let Some(volume) = Volume::of(part, frame.dimension) {
                volume.corners().into_iter().for_each(|corner| model.framing.push(corner));
                model.volumes.push(volume);
            }
            let Some(object) = drawing.objects.iter().find(|object| object.name == part.name) else {
                continue;
            };
            // Which body each point belongs to; other parts are one body.
            let owner: Vec<u32> = match &part.geometry {
                Geometry::Bodies(bodies) => bodies.tessellate(frame.dimension).1,
                _ => vec![number as u32; object.surface.positions.len()],
            };
            let liquid = part.name.starts_with("surface of ") || part.name.starts_with("drops of ");
            let names = frame.parts.iter().map(|part| part.name.as_str());
            let liquid_colour = colour::of_liquid_part(&part.name, names);
            let bodies = boxes(&object.surface.positions, &owner);
            let largest = largest_looked_at(&bodies);
            // What nothing moves has no mass in the frame.
            let mass =
                part.attributes.iter().find(|a| a.name == "mass" && a.association == Association::Point);
            let mass = mass.filter(|_| matches!(part.geometry, Geometry::Bodies(_)));
            let is_fixed = |body: u32| {
                mass.is_some_and(|mass| {
                    (body as usize) < mass.data.len() && mass.data.get(body as usize) == 0.0
                })
            };
            let radii: Option<Vec<f64>> = part
                .attributes
                .iter()
                .find(|a| {
                    a.name == "radius"
                        && a.association == Association::Point
                        && a.data.len() == object.surface.positions.len()
                })
                .map(|a| (0..a.data.len()).map(|i| a.data.get(i)).collect());
            let colours: Vec<Rgb> = (0..object.surface.positions.len())
                .map(|point| match (&object.velocity, colouring) {
                    (Some(velocity), Colouring::Speed(_)) => {
                        colour::ramp(length(velocity[point]) / fastest.max(1e-300))
                    }
                    (None, Colouring::Speed(_)) => [0.5; 3],
                    _ => liquid_colour.unwrap_or_else(|| {
                        let body = owner.get(point).copied().unwrap_or(number as u32);
                        let is_large = bodies.get(&body).is_some_and(|bounds| bounds.radius() > largest);
                        if is_large || is_fixed(body) {
                            colour::SURROUNDINGS
                        } else {
                            colour::of_body(body as usize)
                        }
                    }),
                })
                .collect();
            let dots = match &radii {
                Some(radii) => Dots::Radii(radii),
                None if liquid => Dots::None,
                None => Dots::Even,
            };
            model.add_surface(object, &colours, frame.dimension, dots);
            for bounds in bodies.values().filter(|bounds| !bounds.is_empty() && bounds.radius() <= largest) {
                model.framing.extend([bounds.low(), bounds.high()]);
            }
        }
        model
    }

    pub fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::empty();
        self.framing.iter().for_each(|&point| bounds.add(point));
        bounds
    }

    fn add_surface(
        &mut self,
        object: &splashdown_scene::export::Object,
        colours: &[Rgb],
        dimension: usize,
        dots: Dots,
    ) {
        let points = &object.surface.positions;
        let finite = |i: u32| points[i as usize].iter().all(|x| x.is_finite() && x.abs() < 1e30);
        let face = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|i| points[i as usize]);
            cross(sub(b, a), sub(c, a))
        };
        let triangles = &object.surface.triangles;
        let faces: Vec<V3> = triangles.iter().map(face).collect();
        let around = Around::new(triangles, points.len());
        for (t, corners) in triangles.iter().enumerate().filter(|(_, c)| c.iter().all(|&i| finite(i))) {
            let normal = unit_or(faces[t], [0.0, 0.0, 1.0]);
            // The faces around a corner that go on smoothly from this one; edges stay sharp.
            let round = |corner: u32| {
                let mut sum = [0.0; 3];
                for &other in around.of(corner) {
                    let next = faces[other as usize];
                    let size = length(next);
                    if dot(next, normal) > ROUND * size {
                        sum = add(sum, next);
                    }
                }
                unit_or(sum, normal)
            };
            self.triangles.push(Triangle {
                corners: corners.map(|i| points[i as usize]),
                normals: corners.map(round),
                colours: corners.map(|i| colours[i as usize]),
            });
        }
        let thin = Thickness::Picture(if dimension == 2 { 0.002 } else { 0.0025 });
        for ends in object.surface.lines.iter().filter(|ends| ends.iter().all(|&i| finite(i))) {
            self.strokes.push(Stroke {
                ends: ends.map(|i| points[i as usize]),
                colours: ends.map(|i| colours[i as usize]),
                radius: thin,
            });
        }
        let has_lines = !object.surface.lines.is_empty();
        if (object.loose_points || has_lines) && !matches!(dots, Dots::None) {
            let even = if has_lines { 0.0 } else { dot_radius(points, dimension) };
            for (i, &point) in points.iter().enumerate().filter(|(i, _)| finite(*i as u32)) {
                let radius = match dots {
                    Dots::Radii(radii) => Thickness::World(radii[i]),
                    _ if has_lines => Thickness::Picture(0.005),
                    _ => Thickness::World(even),
                };
                self.strokes.push(Stroke { ends: [point; 2], colours: [colours[i]; 2], radius });
            }
        }
    }
}

/// The triangles around each point.
struct Around {
    first: Vec<u32>,
    triangles: Vec<u32>,
}

impl Around {
    fn new(triangles: &[[u32; 3]], points: usize) -> Self {
        let mut first = vec![0u32; points + 1];
        triangles.iter().flatten().for_each(|&corner| first[corner as usize + 1] += 1);
        for i in 0..points {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut of_points = vec![0u32; 3 * triangles.len()];
        for (t, corners) in triangles.iter().enumerate() {
            for &corner in corners {
                of_points[next[corner as usize] as usize] = t as u32;
                next[corner as usize] += 1;
            }
        }
        Self { first, triangles: of_points }
    }

    fn of(&self, point: u32) -> &[u32] {
        let at = point as usize;
        &self.triangles[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

/// The box around each body.
fn boxes(points: &[V3], owner: &[u32]) -> BTreeMap<u32, Bounds> {
    let mut boxes = BTreeMap::new();
    for (point, body) in points.iter().zip(owner) {
        boxes.entry(*body).or_insert_with(Bounds::empty).add(*point);
    }
    boxes
}

/// Radius above which a body belongs to the surroundings.
fn largest_looked_at(boxes: &BTreeMap<u32, Bounds>) -> f64 {
    let mut radii: Vec<f64> = boxes.values().map(Bounds::radius).collect();
    radii.sort_by(f64::total_cmp);
    radii.get(radii.len() / 2).map_or(f64::INFINITY, |middle| SURROUNDINGS * middle)
}

fn fastest(drawing: &Drawing) -> f64 {
    let speeds = drawing.objects.iter().filter_map(|object| object.velocity.as_ref()).flatten();
    speeds.map(|velocity| length(*velocity)).filter(|speed| speed.is_finite()).fold(0.0, f64::max)
}

/// Half the spacing of points that fill their box evenly.
fn dot_radius(points: &[V3], dimension: usize) -> f64 {
    let mut bounds = Bounds::empty();
    points.iter().for_each(|&point| bounds.add(point));
    let size = bounds.size();
    let count = points.len().max(1) as f64;
    let edge = bounds.radius() / 300.0;
    if dimension == 2 {
        (0.5 * (size[0] * size[1] / count).sqrt()).max(edge)
    } else {
        // No cube root: powers differ between machines in the last bit. Newton's iteration does not.
        let volume = size.iter().product::<f64>() / count;
        let mut root = bounds.radius();
        for _ in 0..60 {
            root = (2.0 * root + volume / (root * root)) / 3.0;
        }
        (0.5 * root).max(edge)
    }
}
