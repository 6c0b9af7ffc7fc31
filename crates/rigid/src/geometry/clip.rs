//! Cutting convex polytopes by planes.

use super::{Hull, HullFace};
use splashdown_geometry::Aabb;
use splashdown_math::{Dim, Space, Vector};

/// Heights below this share of the polytope's size count as zero.
const ON_PLANE: f64 = 1e-10;
/// Corners closer than this share of the polytope's size are one.
const SAME_CORNER: f64 = 1e-8;
/// Planes by which a polytope is narrowed at most: what they do not do stays undone.
const MOST_CUTS: usize = 96;

/// A convex polytope that is being cut: its faces as polygons (segments in 2D) that know their planes.
#[derive(Debug, Clone)]
pub(crate) struct Clip<const D: usize> {
    faces: Vec<ClipFace<D>>,
    size: f64,
}

#[derive(Debug, Clone)]
struct ClipFace<const D: usize> {
    normal: Vector<D>,
    offset: f64,
    corners: Vec<Vector<D>>,
}

impl<const D: usize> Clip<D>
where
    Dim<D>: Space<D>,
{
    pub fn new(hull: &Hull<D>) -> Self {
        let origin = hull.points.first().copied().unwrap_or_else(Vector::zeros);
        let size = hull.points.iter().map(|p| (p - origin).norm()).fold(0.0, f64::max);
        let polygon = |face: &HullFace<D>| ClipFace {
            normal: face.normal,
            offset: face.offset,
            corners: face.corners.iter().map(|&c| hull.points[c as usize]).collect(),
        };
        Self { faces: hull.faces.iter().map(polygon).collect(), size }
    }

    /// A box.
    pub fn around(bounds: &Aabb<D>) -> Option<Self> {
        let corner =
            |k: usize| Vector::from_fn(|a, _| if k >> a & 1 == 1 { bounds.max[a] } else { bounds.min[a] });
        Hull::new(&(0..1usize << D).map(corner).collect::<Vec<_>>()).map(|hull| Self::new(&hull))
    }

    /// Cuts off corners that lie outside of a convex body by more than `tolerance` (m), by planes that touch the body. `plane` gives the height of a corner
    /// above a plane (m), its unit normal and its offset (m).
    pub fn narrowed(
        mut self,
        tolerance: f64,
        plane: impl Fn(&Vector<D>) -> (f64, Vector<D>, f64),
    ) -> Option<Hull<D>> {
        for _ in 0..MOST_CUTS {
            let mut highest = (tolerance, Vector::zeros(), 0.0);
            for corner in self.faces.iter().flat_map(|face| &face.corners) {
                let found = plane(corner);
                // Of equals the first, whatever rounding says.
                if found.0 > highest.0 * (1.0 + 1e-9) {
                    highest = found;
                }
            }
            let (height, normal, offset) = highest;
            if height <= tolerance || !self.cut(&normal, offset) {
                break;
            }
        }
        self.hull()
    }

    /// Largest distance of a corner from `point` (m); 0 if nothing is left.
    pub fn reach(&self, point: &Vector<D>) -> f64 {
        let corners = self.faces.iter().flat_map(|face| &face.corners);
        corners.map(|corner| (corner - point).norm_squared()).fold(0.0, f64::max).sqrt()
    }

    /// Keeps what lies on or below the plane `normal . x = offset`; `false` if that is all.
    pub fn cut(&mut self, normal: &Vector<D>, offset: f64) -> bool {
        let tiny = ON_PLANE * self.size;
        let height = |corner: &Vector<D>| normal.dot(corner) - offset;
        if !self.faces.iter().flat_map(|face| &face.corners).any(|corner| height(corner) > tiny) {
            return false;
        }
        let mut rim: Vec<Vector<D>> = Vec::new();
        for face in &mut self.faces {
            let corners = std::mem::take(&mut face.corners);
            // A segment of the plane has no side that leads back to its start.
            let sides = if D == 2 { corners.len().saturating_sub(1) } else { corners.len() };
            for (k, corner) in corners.iter().enumerate() {
                let here = height(corner);
                if here <= tiny {
                    face.corners.push(*corner);
                    if here >= -tiny {
                        rim.push(*corner);
                    }
                }
                if k >= sides {
                    continue;
                }
                let next = &corners[(k + 1) % corners.len()];
                let there = height(next);
                if here.min(there) < -tiny && here.max(there) > tiny {
                    let point = corner + (next - corner) * (here / (here - there));
                    face.corners.push(point);
                    rim.push(point);
                }
            }
        }
        self.faces.retain(|face| face.corners.len() >= D);
        let same = SAME_CORNER * self.size;
        let mut corners: Vec<Vector<D>> = Vec::new();
        for point in rim {
            if !corners.iter().any(|known| (known - point).norm() <= same) {
                corners.push(point);
            }
        }
        if corners.len() >= D {
            order(&mut corners, normal);
            self.faces.push(ClipFace { normal: *normal, offset, corners });
        }
        true
    }

    /// What is left; `None` if it has no volume.
    pub fn hull(&self) -> Option<Hull<D>> {
        let same = SAME_CORNER * self.size;
        let mut points: Vec<Vector<D>> = Vec::new();
        let mut faces: Vec<HullFace<D>> = Vec::with_capacity(self.faces.len());
        for face in &self.faces {
            let mut corners: Vec<u32> = Vec::with_capacity(face.corners.len());
            for corner in &face.corners {
                let index =
                    points.iter().position(|known| (known - corner).norm() <= same).unwrap_or_else(|| {
                        points.push(*corner);
                        points.len() - 1
                    }) as u32;
                if corners.last() != Some(&index) && corners.first() != Some(&index) {
                    corners.push(index);
                }
            }
            if corners.len() >= D {
                faces.push(HullFace { normal: face.normal, offset: face.offset, corners });
            }
        }
        Hull::from_faces(points.clone(), faces).or_else(|| Hull::new(&points))
    }
}

/// Sorts points in a plane counter-clockwise seen from where `normal` points to; in 2D along the segment with the outside to its right.
fn order<const D: usize>(points: &mut Vec<Vector<D>>, normal: &Vector<D>) {
    if D == 2 {
        let along = Vector::<D>::from_fn(|a, _| if a == 0 { -normal[1] } else { normal[0] });
        points.sort_by(|p, q| p.dot(&along).total_cmp(&q.dot(&along)));
        let last = points.len() - 1;
        points.swap(1, last);
        points.truncate(2);
        return;
    }
    let centre = points.iter().sum::<Vector<D>>() / points.len() as f64;
    let u = points[0] - centre;
    let v: Vector<D> =
        Vector::from_fn(|a, _| normal[(a + 1) % D] * u[(a + 2) % D] - normal[(a + 2) % D] * u[(a + 1) % D]);
    let mut angles: Vec<(f64, Vector<D>)> = points
        .iter()
        .map(|p| {
            let r = p - centre;
            (r.dot(&v).atan2(r.dot(&u)), *p)
        })
        .collect();
    angles.sort_by(|p, q| p.0.total_cmp(&q.0));
    points.clear();
    points.extend(angles.into_iter().map(|(_, p)| p));
}
