//! Rigid shapes as triangles in world coordinates, for formats and programs that know no balls.

use super::{Bodies, Shape};
use std::collections::HashMap;

/// Triangles and lines (the outlines of 2D surfaces) in space; 2D lies in the plane z = 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// Points (m).
    pub positions: Vec<[f64; 3]>,
    /// Counter-clockwise seen from outside (from +z in 2D).
    pub triangles: Vec<[u32; 3]>,
    /// Lines.
    pub lines: Vec<[u32; 2]>,
}

/// Points of the polygon that stands for a disc.
const DISC_POINTS: u32 = 48;
/// Each subdivision of the icosahedron makes four triangles of one: 320 triangles, within 1 % of the ball's radius.
const BALL_SUBDIVISIONS: usize = 2;

impl Shape {
    /// The shape in its own coordinates.
    pub fn tessellate(&self, dimension: usize) -> Surface {
        match (self, dimension) {
            (Self::Ball { radius }, 2) => disc(*radius),
            (Self::Ball { radius }, _) => ball(*radius),
            (Self::Box { edges }, 2) => rectangle(edges),
            (Self::Box { edges }, _) => cuboid(edges),
            (Self::Surface(surface), 2) => Surface {
                positions: surface.positions().chunks_exact(2).map(in_space).collect(),
                triangles: vec![],
                lines: surface.elements().as_chunks().0.to_vec(),
            },
            (Self::Surface(surface), _) => Surface {
                positions: surface.positions().chunks_exact(3).map(in_space).collect(),
                triangles: surface.elements().as_chunks().0.to_vec(),
                lines: vec![],
            },
        }
    }
}

impl Bodies {
    /// All bodies as one surface in world coordinates, and for each point the body that it belongs to.
    pub fn tessellate(&self, dimension: usize) -> (Surface, Vec<u32>) {
        let shapes: Vec<Surface> = self.shapes.iter().map(|shape| shape.tessellate(dimension)).collect();
        let mut all = Surface::default();
        let mut owner = Vec::new();
        for (body, shape) in self.shape_of.iter().enumerate() {
            let shape = &shapes[*shape as usize];
            let first = all.positions.len() as u32;
            let to_world = self.to_world(body, dimension);
            all.positions.extend(shape.positions.iter().map(to_world));
            all.triangles.extend(shape.triangles.iter().map(|corners| corners.map(|corner| corner + first)));
            all.lines.extend(shape.lines.iter().map(|ends| ends.map(|end| end + first)));
            owner.resize(all.positions.len(), body as u32);
        }
        (all, owner)
    }

    /// The map from object to world coordinates of a body.
    fn to_world(&self, body: usize, dimension: usize) -> impl Fn(&[f64; 3]) -> [f64; 3] {
        let centre = in_space(&self.positions[body * dimension..(body + 1) * dimension]);
        let rows = if dimension == 2 {
            let (c, s) = (self.rotations[2 * body], self.rotations[2 * body + 1]);
            [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        } else {
            let [w, x, y, z] = std::array::from_fn(|i| self.rotations[4 * body + i]);
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
                [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
            ]
        };
        move |p| {
            std::array::from_fn(|i| centre[i] + rows[i][0] * p[0] + rows[i][1] * p[1] + rows[i][2] * p[2])
        }
    }
}

/// A point of the plane or of space as three coordinates.
pub(crate) fn in_space(point: &[f64]) -> [f64; 3] {
    std::array::from_fn(|i| point.get(i).copied().unwrap_or(0.0))
}

fn disc(radius: f64) -> Surface {
    let corner = |i: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(DISC_POINTS)).sin_cos();
        [radius * cos, radius * sin, 0.0]
    };
    Surface {
        positions: std::iter::once([0.0; 3]).chain((0..DISC_POINTS).map(corner)).collect(),
        triangles: (0..DISC_POINTS).map(|i| [0, 1 + i, 1 + (i + 1) % DISC_POINTS]).collect(),
        lines: vec![],
    }
}

fn rectangle(edges: &[f64]) -> Surface {
    let [x, y] = [0.5 * edges[0], 0.5 * edges[1]];
    Surface {
        positions: vec![[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        lines: vec![],
    }
}

/// Eight points in the order `4 i + 2 j + k`, two triangles a side.
fn cuboid(edges: &[f64]) -> Surface {
    let corner = |n: usize| std::array::from_fn(|axis| (((n >> (2 - axis)) & 1) as f64 - 0.5) * edges[axis]);
    let sides: [[u32; 4]; 6] =
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    Surface {
        positions: (0..8).map(corner).collect(),
        triangles: sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        lines: vec![],
    }
}

fn ball(radius: f64) -> Surface {
    let phi = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut points: Vec<[f64; 3]> = Vec::with_capacity(162);
    for a in [-1.0, 1.0] {
        for b in [-phi, phi] {
            points.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]);
        }
    }
    // The faces of the icosahedron are the triples of points at the edge length, 2, from each other.
    let adjacent = |i: usize, j: usize| {
        let d2: f64 = (0..3).map(|k| (points[i][k] - points[j][k]).powi(2)).sum();
        (d2 - 4.0).abs() < 1e-9
    };
    let mut triangles = Vec::with_capacity(20);
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if adjacent(i, j) && adjacent(j, k) && adjacent(i, k) {
                    let outward = determinant(points[i], points[j], points[k]) > 0.0;
                    triangles.push(if outward { [i, j, k] } else { [i, k, j] }.map(|v| v as u32));
                }
            }
        }
    }
    for _ in 0..BALL_SUBDIVISIONS {
        triangles = subdivide(&mut points, &triangles);
    }
    let onto_sphere = |p: &[f64; 3]| {
        let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
        p.map(|x| radius * x / length)
    };
    Surface { positions: points.iter().map(onto_sphere).collect(), triangles, lines: vec![] }
}

/// Four triangles for each, the new points in the middle of the edges.
fn subdivide(points: &mut Vec<[f64; 3]>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles = HashMap::new();
    let mut middle = |i: u32, j: u32| {
        *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
            let (p, q) = (points[i as usize], points[j as usize]);
            points.push(std::array::from_fn(|k| 0.5 * (p[k] + q[k])));
            points.len() as u32 - 1
        })
    };
    triangles
        .iter()
        .flat_map(|&[a, b, c]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        })
        .collect()
}

fn determinant(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Divergence theorem: positive only for outward orientation, exact for a closed surface.
    fn volume(surface: &Surface) -> f64 {
        let point = |i: u32| surface.positions[i as usize];
        surface.triangles.iter().map(|&[a, b, c]| determinant(point(a), point(b), point(c)) / 6.0).sum()
    }

    fn is_closed(surface: &Surface) -> bool {
        let mut edges = HashMap::new();
        for &[a, b, c] in &surface.triangles {
            for (i, j) in [(a, b), (b, c), (c, a)] {
                *edges.entry((i, j)).or_insert(0) += 1;
            }
        }
        edges.iter().all(|((i, j), n)| *n == 1 && edges.contains_key(&(*j, *i)))
    }

    #[test]
    fn shapes_are_closed_and_enclose_their_volume() {
        let cuboid = Shape::Box { edges: vec![1.0, 2.0, 3.0] }.tessellate(3);
        assert!(is_closed(&cuboid));
        assert!((volume(&cuboid) - 6.0).abs() < 1e-14);
        let ball = Shape::Ball { radius: 2.0 }.tessellate(3);
        assert_eq!((ball.positions.len(), ball.triangles.len()), (162, 320));
        assert!(is_closed(&ball));
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 8.0;
        let volume = volume(&ball);
        assert!(volume < exact && volume > 0.95 * exact, "{volume} of {exact}");
    }

    #[test]
    fn bodies_are_placed_by_their_frames() {
        let half = 0.5_f64.sqrt();
        let bodies = Bodies {
            names: vec!["a".into(), "b".into()],
            shapes: vec![Shape::Surface(std::sync::Arc::new(crate::frame::SurfaceShape::new(
                vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
                vec![0, 1, 2],
            )))],
            shape_of: vec![0, 0],
            positions: vec![10.0, 0.0, 0.0, 0.0, 0.0, 5.0],
            // A quarter turn about z, and none.
            rotations: vec![half, 0.0, 0.0, half, 1.0, 0.0, 0.0, 0.0],
        };
        let (surface, owner) = bodies.tessellate(3);
        assert_eq!(owner, [0, 0, 0, 1, 1, 1]);
        assert_eq!(surface.triangles, [[0, 1, 2], [3, 4, 5]]);
        let expected = [
            [10.0, 1.0, 0.0],
            [9.0, 0.0, 0.0],
            [10.0, 0.0, 1.0],
            [1.0, 0.0, 5.0],
            [0.0, 1.0, 5.0],
            [0.0, 0.0, 6.0],
        ];
        for (have, want) in surface.positions.iter().zip(expected) {
            assert!((0..3).all(|k| (have[k] - want[k]).abs() < 1e-15), "{have:?} {want:?}");
        }
        let turned = Bodies {
            names: vec!["a".into()],
            shapes: vec![Shape::Box { edges: vec![2.0, 4.0] }],
            shape_of: vec![0],
            positions: vec![1.0, 1.0],
            rotations: vec![0.0, 1.0],
        };
        assert_eq!(turned.tessellate(2).0.positions[0], [3.0, 0.0, 0.0]);
    }
}
