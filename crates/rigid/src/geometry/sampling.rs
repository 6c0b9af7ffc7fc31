//! Surfaces and surface particles of geometries, and the distance of a box.

use super::{Geometry, Solid};
use splashdown_geometry::iso_surface::{Extraction, extract};
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_geometry::{Aabb, Bvh};
use splashdown_math::{Dim, Space, Vector};

/// Signed distance (m) of a box about the origin and the unit vector out of it.
#[inline]
pub(super) fn cuboid_distance<const D: usize>(point: &Vector<D>, half: &Vector<D>) -> (f64, Vector<D>) {
    let q = point.abs() - half;
    let outside = q.map(|x| x.max(0.0));
    let distance = outside.norm();
    if distance > 0.0 {
        return (distance, Vector::from_fn(|a, _| (outside[a] / distance).copysign(point[a])));
    }
    let nearest = q.imax();
    (q[nearest], Vector::from_fn(|a, _| if a == nearest { 1f64.copysign(point[a]) } else { 0.0 }))
}

/// The surface in object coordinates.
pub(super) fn surface<const D: usize>(geometry: &Geometry<D>) -> Option<SurfaceMesh<D>>
where
    Dim<D>: Space<D>,
{
    match geometry.solid() {
        Solid::HalfSpace { .. } | Solid::Point { .. } => None,
        Solid::Hull(hull) => Some(hull.surface()),
        Solid::Cuboid { half } => {
            let corners: Vec<Vector<D>> = (0..1usize << D)
                .map(|k| Vector::from_fn(|a, _| if k >> a & 1 == 1 { half[a] } else { -half[a] }))
                .collect();
            super::Hull::new(&corners).map(|hull| hull.surface())
        }
        Solid::Mesh { surface } => Some(surface.clone()),
        Solid::Sphere { .. } | Solid::Capsule { .. } | Solid::Shape { .. } | Solid::Sampled => {
            let (level_set, frame) = geometry.level_set()?;
            let mut mesh = extract(level_set.field(), &Extraction::default()).ok()?.mesh;
            for point in &mut mesh.points {
                *point = frame.to_object(point);
                // Onto the surface of the formula, which the samples only approximate.
                if !matches!(geometry.solid(), Solid::Sampled) {
                    let (distance, normal) = geometry.distance_and_normal(point);
                    *point -= normal * distance;
                }
            }
            Some(mesh)
        }
    }
}

/// Points on the surface at most two level-set cells apart.
pub(super) fn particles<const D: usize>(geometry: &Geometry<D>) -> Vec<Vector<D>>
where
    Dim<D>: Space<D>,
{
    let spacing = 2.0 * geometry.level_set_spacing();
    match geometry.solid() {
        Solid::HalfSpace { .. } | Solid::Point { .. } => Vec::new(),
        Solid::Cuboid { half } => cuboid_particles(half, spacing),
        Solid::Hull(_) | Solid::Mesh { .. } => {
            surface(geometry).map_or_else(Vec::new, |mesh| refined_points(&mesh, spacing))
        }
        _ => surface(geometry).map_or_else(Vec::new, |mesh| mesh.points),
    }
}

/// A lattice on the faces of a box, corners included.
fn cuboid_particles<const D: usize>(half: &Vector<D>, spacing: f64) -> Vec<Vector<D>> {
    let counts: [usize; D] =
        std::array::from_fn(|a| (2.0 * half[a] / spacing).ceil().clamp(1.0, 64.0) as usize);
    let total: usize = counts.iter().map(|n| n + 1).product();
    (0..total)
        .filter_map(|mut index| {
            let mut on_surface = false;
            let point = Vector::from_fn(|a, _| {
                let i = index % (counts[a] + 1);
                index /= counts[a] + 1;
                on_surface |= i == 0 || i == counts[a];
                half[a] * (2.0 * i as f64 / counts[a] as f64 - 1.0)
            });
            on_surface.then_some(point)
        })
        .collect()
}

/// The points of a surface and points inside its elements, so that no gap is wider than `spacing`.
fn refined_points<const D: usize>(mesh: &SurfaceMesh<D>, spacing: f64) -> Vec<Vector<D>> {
    let mut points = mesh.points.clone();
    for element in 0..mesh.elements.len() {
        let corners = mesh.corners(element);
        let longest = (0..D)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| (corners[i] - corners[j]).norm())
            .fold(0.0, f64::max);
        let pieces = (longest / spacing).ceil().clamp(1.0, 64.0) as usize;
        // Barycentric lattice; an edge is left to the element on which its first corner has the smaller index.
        let indices = mesh.elements[element];
        if D == 2 {
            points.extend(
                (1..pieces).map(|i| corners[0] + (corners[1] - corners[0]) * (i as f64 / pieces as f64)),
            );
            continue;
        }
        for i in 0..=pieces {
            for j in 0..=pieces - i {
                let k = pieces - i - j;
                let weights = [i, j, k];
                let zero = weights.iter().filter(|&&w| w == 0).count();
                if zero >= 2 {
                    continue;
                }
                if zero == 1 {
                    let ends: Vec<u32> = (0..3).filter(|&c| weights[c] != 0).map(|c| indices[c]).collect();
                    // Two triangles share the edge and run along it in opposite senses.
                    let forward = (0..3).any(|c| indices[c] == ends[0] && indices[(c + 1) % 3] == ends[1]);
                    if forward != (ends[0] < ends[1]) {
                        continue;
                    }
                }
                let point: Vector<D> = (0..3).map(|c| corners[c] * (weights[c] as f64 / pieces as f64)).sum();
                points.push(point);
            }
        }
    }
    points
}

/// The edges of a surface, in object coordinates.
#[derive(Debug)]
pub(crate) struct Edges<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Both ends of each (m).
    pub ends: Vec<[Vector<D>; 2]>,
    /// A tree over them.
    pub tree: Bvh<D>,
}

impl<const D: usize> Edges<D>
where
    Dim<D>: Space<D>,
{
    pub(super) fn of(geometry: &Geometry<D>) -> Self {
        let mut ends = Vec::new();
        if let Some(mesh) = surface(geometry) {
            let pairs = |corners: &[u32; D]| {
                let corners = *corners;
                (0..D).flat_map(move |i| {
                    (0..i).map(move |j| [corners[i].min(corners[j]), corners[i].max(corners[j])])
                })
            };
            let mut edges: Vec<[u32; 2]> = mesh.elements.iter().flat_map(pairs).collect();
            edges.sort_unstable();
            edges.dedup();
            ends = edges.iter().map(|edge| edge.map(|k| mesh.points[k as usize])).collect();
        }
        let tree = Bvh::from_fn(ends.len(), |i| Aabb::of_points(&ends[i as usize]));
        Self { ends, tree }
    }
}
