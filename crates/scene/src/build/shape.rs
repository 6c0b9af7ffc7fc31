//! The geometries of rigid bodies, from their shapes.

use super::{BuildError, rotation, vector};
use crate::description::{Combine, Rigid, Shape};
use crate::from_files::{FromFiles, SurfaceFile};
use splashdown_math::{Dim, Frame, Space, Vector};
use splashdown_rigid::GeometryError;

/// Cells of the level set of shapes that have no exact contact.
const SHAPE_CELLS: usize = 48;

/// The geometry of a body: its shape, moved if the entry says so.
pub(super) fn placed_solid<const D: usize>(rigid: &Rigid) -> Result<splashdown_rigid::Geometry<D>, BuildError>
where
    Dim<D>: FromFiles<D>,
{
    let name = rigid.name.as_str();
    let geometry = solid::<D>(name, &rigid.shape)?;
    if !rigid.moves_its_shape() {
        return Ok(geometry);
    }
    let frame = Frame {
        position: vector::<D>(name, "shape_position", rigid.shape_position.as_deref())?,
        rotation: rotation::<D>(name, rigid.shape_rotation.as_ref())?,
    };
    geometry.moved(&frame).map_err(|source| BuildError::Geometry { name: name.into(), source })
}

/// The geometry of a shape.
fn solid<const D: usize>(name: &str, shape: &Shape) -> Result<splashdown_rigid::Geometry<D>, BuildError>
where
    Dim<D>: FromFiles<D>,
{
    use splashdown_rigid::Geometry;
    let refused = |source: GeometryError| BuildError::Geometry { name: name.into(), source };
    match shape {
        Shape::Sphere { radius } => Geometry::sphere(*radius).map_err(refused),
        Shape::Box { size } => {
            let edges = vector::<D>(name, "shape.box.size", Some(size))?;
            Geometry::cuboid(edges * 0.5).map_err(refused)
        }
        Shape::Capsule { radius, length } => Geometry::capsule(*radius, 0.5 * length).map_err(refused),
        Shape::Hull { points } => {
            let points: Result<Vec<_>, _> =
                points.iter().map(|p| vector::<D>(name, "shape.hull.points", Some(p))).collect();
            Geometry::hull(&points?).map_err(refused)
        }
        Shape::Cylinder { .. }
        | Shape::Torus { .. }
        | Shape::Ellipsoid { .. }
        | Shape::Boxes { .. }
        | Shape::Parts { .. } => Geometry::shape(formula::<D>(name, shape)?, SHAPE_CELLS).map_err(refused),
        Shape::Mesh { path, scale, resolution, thickness, edges } => Dim::body(
            name,
            &SurfaceFile {
                path,
                scale: scale.unwrap_or(1.0),
                cells: resolution.map_or(SHAPE_CELLS, |cells| cells as usize),
                thickness: *thickness,
                edges: *edges,
            },
        ),
        Shape::Plane { .. } => {
            Geometry::half_space(Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 })).map_err(refused)
        }
    }
}

/// The formula of a shape that has one.
fn formula<const D: usize>(
    name: &str,
    shape: &Shape,
) -> Result<splashdown_geometry::shapes::Shape<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    use splashdown_geometry::shapes::{Shape as Formula, ShapeError};
    let refused = |error: ShapeError| BuildError::Geometry { name: name.into(), source: error.into() };
    let united = |parts: Vec<Formula<D>>| {
        parts.into_iter().reduce(Formula::union).ok_or_else(|| refused(ShapeError::NoShapes))
    };
    match shape {
        Shape::Sphere { radius } => Formula::ball(*radius).map_err(refused),
        Shape::Box { size } => {
            let edges = vector::<D>(name, "shape.box.size", Some(size))?;
            Formula::cuboid(edges * 0.5).map_err(refused)
        }
        Shape::Capsule { radius, length } => Formula::capsule(*radius, 0.5 * length).map_err(refused),
        Shape::Cylinder { radius, length } => Formula::cylinder(*radius, 0.5 * length).map_err(refused),
        Shape::Torus { ring, tube } => Formula::torus(*ring, *tube).map_err(refused),
        Shape::Ellipsoid { radii } => {
            Formula::ellipsoid(vector::<D>(name, "shape.ellipsoid.radii", Some(radii))?).map_err(refused)
        }
        Shape::Boxes { parts } => {
            let boxes = parts.iter().map(|part| {
                let half = vector::<D>(name, "shape.boxes.size", Some(&part.size))? * 0.5;
                let position = vector::<D>(name, "shape.boxes.position", Some(&part.position))?;
                Formula::cuboid(half).and_then(|cuboid| cuboid.translated(position)).map_err(refused)
            });
            united(boxes.collect::<Result<_, _>>()?)
        }
        Shape::Parts { parts } => {
            let mut whole: Option<Formula<D>> = None;
            for part in parts {
                let frame = Frame {
                    position: vector::<D>(name, "shape.parts.position", part.position.as_deref())?,
                    rotation: rotation::<D>(name, part.rotation.as_ref())?,
                };
                let own = formula::<D>(name, &part.shape)?.placed(frame).map_err(refused)?;
                whole = Some(match (whole, part.combine) {
                    (None, Combine::Union) => own,
                    (None, _) => return Err(BuildError::FirstPart { name: name.into() }),
                    (Some(whole), Combine::Union) => whole.union(own),
                    (Some(whole), Combine::Difference) => whole.difference(own),
                    (Some(whole), Combine::Intersection) => whole.intersection(own),
                });
            }
            whole.ok_or_else(|| refused(ShapeError::NoShapes))
        }
        Shape::Hull { .. } | Shape::Mesh { .. } | Shape::Plane { .. } => {
            Err(BuildError::Part { name: name.into() })
        }
    }
}
