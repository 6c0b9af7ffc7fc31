//! Convex hulls with polygonal faces.

use serde::{Deserialize, Serialize};
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_geometry::simplex;
use splashdown_math::{Dim, Frame, Space, Vector};

/// A face of a [`Hull`]: all hull points in one supporting plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct HullFace<const D: usize> {
    /// Unit vector out of the hull.
    pub normal: Vector<D>,
    /// `normal . x` on the face (m).
    pub offset: f64,
    /// Corners in order, counter-clockwise seen from outside (two in 2D).
    pub corners: Vec<u32>,
}

/// A convex polytope: a polygon in 2D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Hull<const D: usize> {
    /// Corners (m); every one is a corner of the hull.
    pub points: Vec<Vector<D>>,
    /// Faces, coplanar pieces joined.
    pub faces: Vec<HullFace<D>>,
    /// Edges (3D only): their two corners and the two faces that meet there.
    pub edges: Vec<([u32; 2], [u32; 2])>,
}

/// Points closer to a plane than this share of the hull's size lie in it.
const FLAT: f64 = 1e-9;

impl<const D: usize> Hull<D>
where
    Dim<D>: Space<D>,
{
    /// The hull of `points`; `None` if they span no volume or are not finite.
    #[inline(never)]
    pub fn new(points: &[Vector<D>]) -> Option<Self> {
        if points.len() <= D || !points.iter().all(|p| p.iter().all(|x| x.is_finite())) {
            return None;
        }
        let simplices = incremental(points)?;
        Self::from_simplices(points, &simplices)
    }

    /// Joins coplanar simplices to faces and keeps the points that are used.
    fn from_simplices(points: &[Vector<D>], simplices: &[Facet<D>]) -> Option<Self> {
        let tolerance = FLAT * size(points);
        let mut faces: Vec<HullFace<D>> = Vec::new();
        for facet in simplices {
            let same = faces.iter_mut().find(|face| {
                face.normal.dot(&facet.normal) > 1.0 - 1e-10
                    && facet.corners.iter().all(|&c| {
                        (face.normal.dot(&points[c as usize]) - face.offset).abs() < 4.0 * tolerance
                    })
            });
            match same {
                Some(face) => face.corners.extend(facet.corners),
                None => faces.push(HullFace {
                    normal: facet.normal,
                    offset: facet.offset,
                    corners: facet.corners.to_vec(),
                }),
            }
        }
        for face in &mut faces {
            face.corners.sort_unstable();
            face.corners.dedup();
            order_around(points, face);
        }
        let mut used: Vec<u32> = faces.iter().flat_map(|face| face.corners.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        for face in &mut faces {
            for corner in &mut face.corners {
                *corner = used.binary_search(corner).ok()? as u32;
            }
        }
        let points: Vec<Vector<D>> = used.iter().map(|&i| points[i as usize]).collect();
        let mut edges = Vec::new();
        if D == 3 {
            for (a, face) in faces.iter().enumerate() {
                for i in 0..face.corners.len() {
                    let ends = [face.corners[i], face.corners[(i + 1) % face.corners.len()]];
                    if ends[0] > ends[1] {
                        continue;
                    }
                    let other = faces
                        .iter()
                        .enumerate()
                        .position(|(b, other)| b != a && ends.iter().all(|end| other.corners.contains(end)));
                    if let Some(b) = other {
                        edges.push((ends, [a as u32, b as u32]));
                    }
                }
            }
        }
        Some(Self { points, faces, edges })
    }

    /// The boundary as a mesh.
    pub fn surface(&self) -> SurfaceMesh<D> {
        let mut elements = Vec::new();
        for face in &self.faces {
            for k in 1..face.corners.len().saturating_sub(D - 2) {
                // A fan of triangles; in 2D the segment itself.
                elements.push(std::array::from_fn(|i| face.corners[if i == 0 { 0 } else { k + i - 1 }]));
            }
        }
        SurfaceMesh { points: self.points.clone(), elements }
    }

    /// The hull moved by a rigid motion.
    pub fn moved(&self, frame: &Frame<D>) -> Self {
        let mut hull = self.clone();
        hull.points.iter_mut().for_each(|point| *point = frame.to_world(point));
        for face in &mut hull.faces {
            face.normal = frame.vector_to_world(&face.normal);
            face.offset = face.normal.dot(&hull.points[face.corners[0] as usize]);
        }
        hull
    }

    /// The corner furthest along `direction`.
    pub fn support(&self, direction: &Vector<D>) -> u32 {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, point) in self.points.iter().enumerate() {
            let along = point.dot(direction);
            if along > best.1 {
                best = (i as u32, along);
            }
        }
        best.0
    }

    /// Signed distance (m) and the unit vector out of the hull.
    pub fn distance_and_normal(&self, point: &Vector<D>) -> (f64, Vector<D>) {
        let mut best = (f64::NEG_INFINITY, Vector::zeros());
        for face in &self.faces {
            let distance = face.normal.dot(point) - face.offset;
            if distance > best.0 {
                best = (distance, face.normal);
            }
        }
        if best.0 <= 0.0 {
            return best;
        }
        // Outside: the closest point of the faces that see the point.
        let mut nearest = (f64::INFINITY, *point);
        for face in self.faces.iter().filter(|face| face.normal.dot(point) > face.offset) {
            for k in 1..face.corners.len().saturating_sub(D - 2) {
                let corners: [Vector<D>; D] = std::array::from_fn(|i| {
                    self.points[face.corners[if i == 0 { 0 } else { k + i - 1 }] as usize]
                });
                let found = simplex::closest_point(point, &corners);
                if found.distance_squared < nearest.0 {
                    nearest = (found.distance_squared, found.point);
                }
            }
        }
        let distance = nearest.0.sqrt();
        if distance > 1e-12 { (distance, (point - nearest.1) / distance) } else { (distance, best.1) }
    }
}

struct Facet<const D: usize> {
    corners: [u32; D],
    normal: Vector<D>,
    offset: f64,
}

fn size<const D: usize>(points: &[Vector<D>]) -> f64 {
    points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max)
}

/// Unit normal of `D` points (m), right-handed; `None` if they are dependent.
fn normal_of<const D: usize>(corners: &[Vector<D>; D]) -> Option<Vector<D>>
where
    Dim<D>: Space<D>,
{
    let edge = |i: usize| corners[i] - corners[0];
    let normal: Vector<D> = if D == 2 {
        let e = edge(1);
        Vector::from_fn(|a, _| if a == 0 { e[1] } else { -e[0] })
    } else {
        let (u, v) = (edge(1), edge(2));
        Vector::from_fn(|a, _| u[(a + 1) % D] * v[(a + 2) % D] - u[(a + 2) % D] * v[(a + 1) % D])
    };
    let length = normal.norm();
    let scale = (1..D).map(|i| edge(i).norm()).product::<f64>();
    (length > 1e-12 * scale && length > 0.0).then(|| normal / length)
}

/// Facet through `corners` whose normal points away from `inside`.
fn facet<const D: usize>(points: &[Vector<D>], mut corners: [u32; D], inside: &Vector<D>) -> Option<Facet<D>>
where
    Dim<D>: Space<D>,
{
    let mut normal = normal_of(&corners.map(|c| points[c as usize]))?;
    let mut offset = normal.dot(&points[corners[0] as usize]);
    if normal.dot(inside) > offset {
        normal = -normal;
        offset = -offset;
        corners.swap(0, 1);
    }
    Some(Facet { corners, normal, offset })
}

/// Adds one point after another and replaces the facets that it sees by the cone over their rim.
fn incremental<const D: usize>(points: &[Vector<D>]) -> Option<Vec<Facet<D>>>
where
    Dim<D>: Space<D>,
{
    let tolerance = FLAT * size(points);
    let start = first_simplex(points, tolerance)?;
    let inside = start.iter().map(|&i| points[i as usize]).sum::<Vector<D>>() / (D + 1) as f64;
    let mut facets: Vec<Facet<D>> = Vec::new();
    for skip in 0..=D {
        let mut corners = [0; D];
        start
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != skip)
            .zip(&mut corners)
            .for_each(|((_, &p), c)| *c = p);
        facets.push(facet(points, corners, &inside)?);
    }
    for (index, point) in points.iter().enumerate() {
        let seen: Vec<bool> = facets.iter().map(|f| f.normal.dot(point) - f.offset > tolerance).collect();
        if !seen.contains(&true) {
            continue;
        }
        // Ridges (facets of facets) that belong to exactly one seen facet.
        let mut rim: Vec<Vec<u32>> = Vec::new();
        for f in facets.iter().zip(&seen).filter(|(_, seen)| **seen).map(|(f, _)| f) {
            for skip in 0..D {
                let mut ridge: Vec<u32> =
                    f.corners.iter().enumerate().filter(|(i, _)| *i != skip).map(|(_, &c)| c).collect();
                ridge.sort_unstable();
                match rim.iter().position(|other| *other == ridge) {
                    Some(known) => {
                        rim.swap_remove(known);
                    }
                    None => rim.push(ridge),
                }
            }
        }
        let mut keep = seen.iter().map(|seen| !seen);
        facets.retain(|_| keep.next().unwrap_or(true));
        for ridge in rim {
            let mut corners = [index as u32; D];
            corners[..D - 1].copy_from_slice(&ridge);
            if let Some(new) = facet(points, corners, &inside) {
                facets.push(new);
            }
        }
    }
    Some(facets)
}

/// `D + 1` points that span a volume.
fn first_simplex<const D: usize>(points: &[Vector<D>], tolerance: f64) -> Option<Vec<u32>> {
    let mut chosen = vec![0u32];
    let mut basis: Vec<Vector<D>> = Vec::new();
    while chosen.len() <= D {
        let origin = points[chosen[0] as usize];
        let off = |p: &Vector<D>| {
            let mut r = p - origin;
            for b in &basis {
                r -= b * b.dot(&r);
            }
            r
        };
        let (index, rest) = points
            .iter()
            .enumerate()
            .map(|(i, p)| (i, off(p)))
            .max_by(|a, b| a.1.norm().total_cmp(&b.1.norm()))?;
        let length = rest.norm();
        if !(length > tolerance.max(f64::MIN_POSITIVE)) {
            return None;
        }
        basis.push(rest / length);
        chosen.push(index as u32);
    }
    Some(chosen)
}

/// Sorts the corners of a face counter-clockwise about its normal and drops those within an edge.
fn order_around<const D: usize>(points: &[Vector<D>], face: &mut HullFace<D>)
where
    Dim<D>: Space<D>,
{
    let count = face.corners.len() as f64;
    let centre = face.corners.iter().map(|&c| points[c as usize]).sum::<Vector<D>>() / count;
    let n = face.normal;
    if D == 2 {
        // Outside to the right of the segment: it runs along (-n_y, n_x).
        let along = Vector::from_fn(|a, _| if a == 0 { -n[1] } else { n[0] });
        face.corners
            .sort_by(|&a, &b| points[a as usize].dot(&along).total_cmp(&points[b as usize].dot(&along)));
        let (first, last) = (face.corners[0], face.corners[face.corners.len() - 1]);
        face.corners = vec![first, last];
        return;
    }
    let Some(u) = face
        .corners
        .iter()
        .map(|&c| points[c as usize] - centre)
        .max_by(|a, b| a.norm().total_cmp(&b.norm()))
    else {
        return;
    };
    let v: Vector<D> =
        Vector::from_fn(|a, _| n[(a + 1) % D] * u[(a + 2) % D] - n[(a + 2) % D] * u[(a + 1) % D]);
    let angle = |c: u32| {
        let r = points[c as usize] - centre;
        r.dot(&v).atan2(r.dot(&u))
    };
    face.corners.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
    // A point in the middle of an edge is not a corner.
    let scale = u.norm();
    let corners = face.corners.clone();
    let len = corners.len();
    face.corners = (0..len)
        .filter(|&i| {
            let (a, b, c) = (
                points[corners[(i + len - 1) % len] as usize],
                points[corners[i] as usize],
                points[corners[(i + 1) % len] as usize],
            );
            let side = c - a;
            let length = side.norm();
            let across = (b - a) - side * ((b - a).dot(&side) / (length * length).max(f64::MIN_POSITIVE));
            across.norm() > FLAT * scale
        })
        .map(|i| corners[i])
        .collect();
}
