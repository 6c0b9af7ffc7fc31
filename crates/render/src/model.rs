//! A frame as triangles, lines, dots and volumes with colours.

use crate::colour::{self, Colouring, Rgb};
use crate::vector::{V3, add, cross, dot, length, sub, unit_or};
use crate::volume::Volume;
use splashdown_scene::export::Drawing;
use splashdown_scene::frame::{Association, Frame, Geometry};

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

/// A corner is round if its smoothed normal is within about 40 degrees of the face's.
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
            let liquid = ["surface of ", "drops of "].iter().find_map(|of| part.name.strip_prefix(of));
            let liquid_colour = match liquid {
                Some(name) => {
                    let surfaces =
                        frame.parts.iter().filter_map(|part| part.name.strip_prefix("surface of "));
                    Some(colour::of_liquid(name, surfaces.take_while(|other| *other != name).count()))
                }
                None => ["water", "liquid", "surface"]
                    .iter()
                    .any(|word| part.name.contains(word))
                    .then_some(colour::WATER),
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
                        colour::of_body(owner.get(point).map_or(number, |&body| body as usize))
                    }),
                })
                .collect();
            let dots = match &radii {
                Some(radii) => Dots::Radii(radii),
                None if liquid.is_some() => Dots::None,
                None => Dots::Even,
            };
            model.add_surface(object, &colours, frame.dimension, dots);
            model.frame_on(&object.surface.positions, &owner);
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
        let mut smooth = vec![[0.0; 3]; points.len()];
        for corners in &object.surface.triangles {
            let normal = face(corners);
            for &corner in corners {
                smooth[corner as usize] = add(smooth[corner as usize], normal);
            }
        }
        for corners in object.surface.triangles.iter().filter(|corners| corners.iter().all(|&i| finite(i))) {
            let normal = unit_or(face(corners), [0.0, 0.0, 1.0]);
            let normals = corners.map(|i| {
                let round = unit_or(smooth[i as usize], normal);
                if dot(round, normal) > ROUND { round } else { normal }
            });
            self.triangles.push(Triangle {
                corners: corners.map(|i| points[i as usize]),
                normals,
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

    /// Notes what the camera must see of the bodies whose points these are.
    fn frame_on(&mut self, points: &[V3], owner: &[u32]) {
        let mut boxes: std::collections::BTreeMap<u32, Bounds> = std::collections::BTreeMap::new();
        for (point, body) in points.iter().zip(owner) {
            boxes.entry(*body).or_insert_with(Bounds::empty).add(*point);
        }
        let mut radii: Vec<f64> = boxes.values().map(Bounds::radius).collect();
        radii.sort_by(f64::total_cmp);
        let largest = radii.get(radii.len() / 2).map_or(f64::INFINITY, |middle| SURROUNDINGS * middle);
        for bounds in boxes.values().filter(|bounds| !bounds.is_empty() && bounds.radius() <= largest) {
            self.framing.extend([bounds.low(), bounds.high()]);
        }
    }
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
