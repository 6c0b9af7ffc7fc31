//! Convex hulls with polygonal faces.

use super::Clip;
use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::mesh::SurfaceMesh;
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

    /// A hull of some of `points` that no point is outside of by more than `tolerance` (m): few corners for a finely sampled round body. `None` as for
    /// [`Self::new`].
    #[inline(never)]
    pub fn within(points: &[Vector<D>], tolerance: f64) -> Option<Self> {
        if points.len() <= D || !points.iter().all(|p| p.iter().all(|x| x.is_finite())) {
            return None;
        }
        let mut builder = Builder::new(points)?;
        let mut outside: Vec<u32> = (0..points.len() as u32).collect();
        // Each round adds the point furthest from each facet; what is within the tolerance stays so, because the hull only grows.
        while !outside.is_empty() {
            let mut furthest: Vec<(f64, u32)> = vec![(tolerance, u32::MAX); builder.facets.len()];
            outside.retain(|&index| {
                let point = &points[index as usize];
                let mut above = (tolerance, usize::MAX);
                for (number, facet) in builder.facets.iter().enumerate() {
                    let distance = facet.normal.dot(point) - facet.offset;
                    if distance > above.0 {
                        above = (distance, number);
                    }
                }
                let (distance, number) = above;
                if number == usize::MAX {
                    return false;
                }
                if distance > furthest[number].0 {
                    furthest[number] = (distance, index);
                }
                true
            });
            for (_, index) in furthest.into_iter().filter(|(_, index)| *index != u32::MAX) {
                builder.add(index, tolerance.max(builder.tolerance));
            }
        }
        Self::from_simplices(points, &builder.facets)
    }

    /// A hull around this one with fewer faces, no corner of which is above a face of this one by more than `tolerance` (m) unless that takes more than a
    /// hundred faces; some of its faces are faces of this
    /// one, the others sides of its box.
    pub fn simplified(&self, tolerance: f64) -> Option<Self> {
        Clip::around(&Aabb::of_points(&self.points))?.narrowed(tolerance, |corner| {
            let height = |face: &HullFace<D>| face.normal.dot(corner) - face.offset;
            let highest = self.faces.iter().max_by(|a, b| height(a).total_cmp(&height(b)));
            highest.map_or((f64::NEG_INFINITY, Vector::zeros(), 0.0), |face| {
                (height(face), face.normal, face.offset)
            })
        })
    }

    /// Largest distance (m) of a point above the plane of a face: the signed distance inside, at most that outside.
    #[inline]
    pub fn height(&self, point: &Vector<D>) -> f64 {
        self.faces.iter().map(|face| face.normal.dot(point) - face.offset).fold(f64::NEG_INFINITY, f64::max)
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
        let edges = edges_between(&faces);
        Some(Self { points, faces, edges })
    }

    /// A hull whose faces are known, corners in order; `None` if they do not close.
    pub(super) fn from_faces(points: Vec<Vector<D>>, faces: Vec<HullFace<D>>) -> Option<Self> {
        if faces.len() <= D {
            return None;
        }
        let edges = edges_between(&faces);
        // Every side of a face is an edge, shared by two faces; in 2D faces share corners.
        let sides: usize = faces.iter().map(|face| face.corners.len()).sum();
        let closed = if D == 3 { sides == 2 * edges.len() } else { faces.len() == points.len() };
        closed.then_some(Self { points, faces, edges })
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

    /// Least `direction . x` of its corners.
    #[inline]
    pub fn lowest(&self, direction: &Vector<D>) -> f64 {
        self.points.iter().map(|point| point.dot(direction)).fold(f64::INFINITY, f64::min)
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
        // Outside: the closest point of the faces that see the point, in one of them or on a side of one.
        let mut nearest = (f64::INFINITY, Vector::zeros());
        for face in &self.faces {
            let height = face.normal.dot(point) - face.offset;
            // A face is no nearer than its plane.
            if !(height > 0.0 && height * height < nearest.0) {
                continue;
            }
            let (square, away) = self.way_to_face(face, height, point);
            if square < nearest.0 {
                nearest = (square, away);
            }
        }
        let distance = nearest.0.sqrt();
        if distance > 1e-12 { (distance, nearest.1 / distance) } else { (distance, best.1) }
    }

    /// Square of the distance (m^2) and the way from the closest point of a face to `point`, which is `height` above its plane.
    #[inline]
    fn way_to_face(&self, face: &HullFace<D>, height: f64, point: &Vector<D>) -> (f64, Vector<D>) {
        let corner = |k: usize| &self.points[face.corners[k] as usize];
        let count = face.corners.len();
        let (mut within, mut nearest) = (true, (f64::INFINITY, Vector::zeros()));
        // A segment of the plane is its own only side.
        for k in 0..if D == 2 { 1 } else { count } {
            let (start, end) = (corner(k), corner((k + 1) % count));
            let (along, from) = (end - start, point - start);
            let t = from.dot(&along);
            if D == 2 {
                within = t >= 0.0 && t <= along.norm_squared();
            } else {
                let out: f64 = (0..D)
                    .map(|a| {
                        let (b, c) = ((a + 1) % D, (a + 2) % D);
                        from[a] * (along[b] * face.normal[c] - along[c] * face.normal[b])
                    })
                    .sum();
                if out <= 0.0 {
                    continue;
                }
                within = false;
            }
            let share = (t / along.norm_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let away = from - along * share;
            let square = away.norm_squared();
            if square < nearest.0 {
                nearest = (square, away);
            }
        }
        if within { (height * height, face.normal * height) } else { nearest }
    }
}

/// The edges of a polytope in space, each with its two corners in ascending order and the two faces that meet there.
fn edges_between<const D: usize>(faces: &[HullFace<D>]) -> Vec<([u32; 2], [u32; 2])> {
    let mut edges = Vec::new();
    if D != 3 {
        return edges;
    }
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
    edges
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
pub(super) fn normal_of<const D: usize>(corners: &[Vector<D>; D]) -> Option<Vector<D>>
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

/// All facets of the hull of `points`, one point after another.
fn incremental<const D: usize>(points: &[Vector<D>]) -> Option<Vec<Facet<D>>>
where
    Dim<D>: Space<D>,
{
    let mut builder = Builder::new(points)?;
    for index in 0..points.len() as u32 {
        builder.add(index, builder.tolerance);
    }
    Some(builder.facets)
}

/// A hull that grows by one point after another.
struct Builder<'a, const D: usize> {
    points: &'a [Vector<D>],
    facets: Vec<Facet<D>>,
    /// A point of the first simplex.
    inside: Vector<D>,
    /// Points closer to a facet lie in it (m).
    tolerance: f64,
}

impl<'a, const D: usize> Builder<'a, D>
where
    Dim<D>: Space<D>,
{
    fn new(points: &'a [Vector<D>]) -> Option<Self> {
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
        Some(Self { points, facets, inside, tolerance })
    }

    /// Replaces the facets that a point sees by the cone over their rim, if it is above one by more than `least` (m).
    fn add(&mut self, index: u32, least: f64) {
        let Self { points, facets, inside, tolerance } = self;
        let point = &points[index as usize];
        let height = |f: &Facet<D>| f.normal.dot(point) - f.offset;
        if !facets.iter().any(|f| height(f) > least) {
            return;
        }
        let seen: Vec<bool> = facets.iter().map(|f| height(f) > *tolerance).collect();
        // Ridges (facets of facets) that belong to exactly one seen facet, corners ascending; in the plane a ridge is a point.
        let mut rim: Vec<[u32; 2]> = Vec::new();
        for f in facets.iter().zip(&seen).filter(|(_, seen)| **seen).map(|(f, _)| f) {
            for skip in 0..D {
                let mut ridge = [u32::MAX; 2];
                f.corners
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| *i != skip)
                    .zip(&mut ridge)
                    .for_each(|((_, &c), r)| *r = c);
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
            let mut corners = [index; D];
            corners[..D - 1].copy_from_slice(&ridge[..D - 1]);
            facets.extend(facet(points, corners, inside));
        }
    }
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
