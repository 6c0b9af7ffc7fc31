//! Layers: closed surfaces of bodies that move as they do, whatever lies on them, and stop the particles above (spec 3.15, DS-39, DS-52). Where the layer goes in a step is found first.

use super::{Obstacle, ObstacleShape, SurfaceObstacle};
use crate::force::read;
use splashdown_geometry::mesh::{Corners, Element, Mesh, MeshError, SurfaceMesh};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use std::ops::Range;

/// A closed surface under particles that it stops and that do not push on it.
#[derive(Debug, Clone)]
pub struct Layer<const D: usize> {
    /// Name, for messages.
    pub name: String,
    /// Its points.
    nodes: Vec<u32>,
    /// Faces over the points of the surface, outward (right-handed in space; the outside of a segment is to its right).
    faces: Vec<[u32; D]>,
    /// Particles that it stops.
    pub above: Vec<Range<u32>>,
    /// Coefficient of friction.
    pub friction: f64,
    /// Distance (m) at which particles are held from it.
    pub thickness: f64,
}

impl<const D: usize> Layer<D>
where
    Dim<D>: Space<D>,
{
    /// The surface of a body: `faces` over particles, which are at `rest` (m, flat).
    ///
    /// # Errors
    /// A surface that is not closed at rest.
    pub fn of_particles(
        name: impl Into<String>,
        faces: &[[u32; D]],
        rest: &[f64],
        above: Vec<Range<u32>>,
        friction: f64,
    ) -> Result<Self, MeshError>
    where
        Corners<D>: Element<D>,
    {
        let mut nodes: Vec<u32> = faces.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: &u32| nodes.partition_point(|other| other < node) as u32;
        let faces: Vec<[u32; D]> = faces.iter().map(|face| face.each_ref().map(place)).collect();
        let points = nodes.iter().map(|&node| read::<D>(rest, node)).collect();
        let Mesh { elements: faces, .. } = closed(points, faces)?;
        Ok(Self { name: name.into(), nodes, faces, above, friction, thickness: 0.0 })
    }

    /// Its own among the ranks of all particles.
    pub(crate) fn rank(&self, ranks: &[u32]) -> u32 {
        self.nodes.first().map_or(0, |&node| ranks[node as usize])
    }

    /// The surface as an obstacle of all particles in a step of `dt` seconds in which particles go from `start` to `end` (m, flat).
    pub(crate) fn obstacle(&self, dt: f64, start: &[f64], end: &[f64]) -> Result<Obstacle<D>, MeshError> {
        let points: Vec<Vector<D>> = self.nodes.iter().map(|&node| read::<D>(end, node)).collect();
        let before = self.nodes.iter().map(|&node| read::<D>(start, node));
        let velocity = points.iter().zip(before).map(|(now, before)| (now - before) / dt).collect();
        let surface = SurfaceObstacle::new(Mesh { points, elements: self.faces.clone() }, velocity)?;
        Ok(Obstacle {
            name: self.name.clone(),
            shape: ObstacleShape::Surface(surface),
            start: Frame::identity(),
            end: Frame::identity(),
            twist: Twist::zero(),
            friction: self.friction,
            thickness: self.thickness,
            lets_through: complement(&self.above, (start.len() / D) as u32),
        })
    }
}

/// Every layer's place above the ground for all particles: 0 for those above nothing, one more than the layer's own for those above a layer.
pub(crate) fn ranks<const D: usize>(layers: &[Layer<D>], count: usize) -> Vec<u32>
where
    Dim<D>: Space<D>,
{
    let mut ranks = vec![0u32; count];
    for layer in layers {
        let least = layer.rank(&ranks) + 1;
        for particle in layer.above.iter().cloned().flatten() {
            let rank = &mut ranks[particle as usize];
            *rank = (*rank).max(least);
        }
    }
    ranks
}

fn closed<const D: usize>(
    points: Vec<Vector<D>>,
    elements: Vec<[u32; D]>,
) -> Result<SurfaceMesh<D>, MeshError>
where
    Corners<D>: Element<D>,
{
    let mesh = SurfaceMesh { points, elements };
    mesh.check_closed()?;
    Ok(mesh)
}

/// What of `0..count` is in none of `ranges`.
fn complement(ranges: &[Range<u32>], count: u32) -> Vec<Range<u32>> {
    let mut sorted: Vec<Range<u32>> = ranges.to_vec();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut rest = Vec::new();
    let mut from = 0;
    for range in sorted {
        if range.start > from {
            rest.push(from..range.start);
        }
        from = from.max(range.end);
    }
    if from < count {
        rest.push(from..count);
    }
    rest
}
