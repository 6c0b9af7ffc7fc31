//! A frame as triangles, lines and points in space with velocities: what every mesh format can hold.

use crate::frame::{Association, Attribute, Bodies, Data, Element, Frame, Geometry, Part, Surface, in_space};
use splashdown_geometry::mesh::{HexahedronMesh, TetrahedronMesh};

/// Everything drawable of a frame; 2D lies in the plane z = 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drawing {
    /// One object for each part.
    pub objects: Vec<Object>,
    /// Names of parts that cannot be drawn this way.
    pub left_out: Vec<String>,
}

/// One drawable part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object {
    /// Name of the part.
    pub name: String,
    /// Points, triangles and lines.
    pub surface: Surface,
    /// Points that no triangle or line uses are drawn as such.
    pub loose_points: bool,
    /// Velocity of each point (m/s), if the frame has it.
    pub velocity: Option<Vec<[f64; 3]>>,
}

impl Drawing {
    /// Draws a frame. Solids are drawn by their boundary, rigid bodies by triangles.
    pub fn of(frame: &Frame) -> Self {
        let mut drawing = Self::default();
        // Contacts are what is known of bodies, not a thing to be seen.
        for part in frame.parts.iter().filter(|part| part.name != crate::CONTACTS) {
            match draw(part, frame.dimension) {
                Some(object) => drawing.objects.push(object),
                None => drawing.left_out.push(part.name.clone()),
            }
        }
        drawing
    }
}

fn draw(part: &Part, dimension: usize) -> Option<Object> {
    let name = part.name.clone();
    let in_3d = |positions: &[f64]| positions.chunks_exact(dimension).map(in_space).collect::<Vec<_>>();
    let velocity = point_vectors(part, "velocity", dimension);
    match &part.geometry {
        Geometry::Bodies(bodies) => {
            let (surface, owner) = bodies.tessellate(dimension);
            let velocity = body_velocities(part, bodies, dimension, &surface, &owner);
            Some(Object { name, surface, loose_points: false, velocity })
        }
        Geometry::Points { positions } => {
            let surface = Surface { positions: in_3d(positions), triangles: vec![], lines: vec![] };
            Some(Object { name, surface, loose_points: true, velocity })
        }
        Geometry::Mesh { element: Element::Segment, positions, elements } => {
            let lines = elements.as_chunks().0.to_vec();
            let surface = Surface { positions: in_3d(positions), triangles: vec![], lines };
            Some(Object { name, surface, loose_points: false, velocity })
        }
        Geometry::Mesh { element: Element::Triangle, positions, elements } => {
            let triangles = elements.as_chunks().0.to_vec();
            let surface = Surface { positions: in_3d(positions), triangles, lines: vec![] };
            Some(Object { name, surface, loose_points: false, velocity })
        }
        Geometry::Mesh { element, positions, elements } => {
            let positions = in_3d(positions);
            let (triangles, used) = boundary(*element, elements, &positions);
            let pick = |values: &[[f64; 3]]| used.iter().map(|&i| values[i as usize]).collect::<Vec<_>>();
            let surface = Surface { positions: pick(&positions), triangles, lines: vec![] };
            Some(Object { name, surface, loose_points: false, velocity: velocity.map(|v| pick(&v)) })
        }
        Geometry::Grid { .. } => None,
    }
}

/// A vector attribute on points, in space.
fn point_vectors(part: &Part, name: &str, dimension: usize) -> Option<Vec<[f64; 3]>> {
    let attribute = find(part, name).filter(|attribute| attribute.components == dimension)?;
    let count = attribute.data.len() / dimension;
    Some((0..count).map(|i| vector(&attribute.data, i, dimension)).collect())
}

fn find<'a>(part: &'a Part, name: &str) -> Option<&'a Attribute> {
    part.attributes.iter().find(|a| a.name == name && a.association == Association::Point)
}

fn vector(data: &Data, entry: usize, components: usize) -> [f64; 3] {
    std::array::from_fn(|k| if k < components { data.get(entry * components + k) } else { 0.0 })
}

/// `v + omega x r` at every point of the bodies' surfaces.
pub(super) fn body_velocities(
    part: &Part,
    bodies: &Bodies,
    dimension: usize,
    surface: &Surface,
    owner: &[u32],
) -> Option<Vec<[f64; 3]>> {
    let linear = find(part, "velocity").filter(|attribute| attribute.components == dimension)?;
    let spin = find(part, "spin");
    let at = |(point, &body): (&[f64; 3], &u32)| {
        let body = body as usize;
        let v = vector(&linear.data, body, dimension);
        let omega = match spin {
            Some(spin) if spin.components == 3 => vector(&spin.data, body, 3),
            Some(spin) => [0.0, 0.0, spin.data.get(body)],
            None => [0.0; 3],
        };
        let centre = in_space(&bodies.positions[body * dimension..(body + 1) * dimension]);
        let r: [f64; 3] = std::array::from_fn(|k| point[k] - centre[k]);
        std::array::from_fn(|k| {
            v[k] + omega[(k + 1) % 3] * r[(k + 2) % 3] - omega[(k + 2) % 3] * r[(k + 1) % 3]
        })
    };
    Some(surface.positions.iter().zip(owner).map(at).collect())
}

/// Triangles that bound a solid, over the points that they use, which are returned too. Frames are checked when they are read, so the
/// indices are in range; a mesh that is not solid has no boundary here.
pub fn boundary(element: Element, elements: &[u32], points: &[[f64; 3]]) -> (Vec<[u32; 3]>, Vec<u32>) {
    let points = points.iter().map(|point| (*point).into()).collect();
    let found = match element {
        Element::Tetrahedron => {
            TetrahedronMesh { points, elements: elements.as_chunks().0.to_vec() }.boundary()
        }
        Element::Hexahedron => {
            HexahedronMesh { points, elements: elements.as_chunks().0.to_vec() }.boundary()
        }
        Element::Segment | Element::Triangle => return (vec![], vec![]),
    };
    found.map_or((vec![], vec![]), |boundary| (boundary.mesh.elements, boundary.points))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enclosed_volume(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> f64 {
        let det = |[a, b, c]: [[f64; 3]; 3]| {
            a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
        };
        triangles.iter().map(|t| det(t.map(|i| points[i as usize])) / 6.0).sum()
    }

    fn solid(element: Element, positions: Vec<f64>, elements: Vec<u32>) -> Object {
        let part = Part {
            name: "s".into(),
            geometry: Geometry::Mesh { element, positions, elements },
            attributes: vec![],
        };
        draw(&part, 3).unwrap()
    }

    #[test]
    fn the_boundary_of_a_solid_encloses_its_volume_from_outside() {
        // Two tetrahedra of volume 1/6 and 1/3 that share a face, and a point that none uses.
        let positions = vec![0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1., 9., 9., 9.];
        let tets = solid(Element::Tetrahedron, positions, vec![0, 1, 2, 3, 1, 2, 3, 4]);
        assert_eq!((tets.surface.positions.len(), tets.surface.triangles.len()), (5, 6));
        assert!((enclosed_volume(&tets.surface.positions, &tets.surface.triangles) - 0.5).abs() < 1e-15);
        // Two unit cubes side by side along x, corners in the order 4 i + 2 j + k.
        let positions = (0..12)
            .flat_map(|n| [f64::from(n / 4), f64::from(n / 2 % 2), f64::from(n % 2)])
            .collect::<Vec<_>>();
        let hexes = solid(Element::Hexahedron, positions, (0..8).chain(4..12).collect());
        assert_eq!(hexes.surface.triangles.len(), 20);
        assert!((enclosed_volume(&hexes.surface.positions, &hexes.surface.triangles) - 2.0).abs() < 1e-15);
    }
}
