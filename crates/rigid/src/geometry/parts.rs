//! The shapes that a union consists of, for contact.

use super::{Geometry, Solid};
use crate::collide::Pose;
use splashdown_geometry::shapes::{Piece, Primitive};
use splashdown_math::{Dim, Frame, Space};

/// One of the shapes that a geometry unites.
#[derive(Debug)]
pub(crate) struct Part<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Its own geometry, without mass.
    pub geometry: Geometry<D>,
    /// From its coordinates to the object coordinates of the whole.
    pub pose: Pose<D>,
}

/// The parts of a shape: more than one, or a primitive that is not about the origin. Others have none.
pub(super) fn of<const D: usize>(whole: &Geometry<D>) -> Vec<Part<D>>
where
    Dim<D>: Space<D>,
{
    let Solid::Shape { shape } = whole.solid() else { return Vec::new() };
    let pieces = shape.pieces();
    let gains = |piece: &Piece<D>| piece.shape.primitive().is_some() && piece.frame != Frame::identity();
    if pieces.len() < 2 && !pieces.iter().any(gains) {
        return Vec::new();
    }
    let spacing = whole.level_set_spacing();
    let part = |piece: Piece<D>| {
        let bounds = piece.shape.bounds();
        let solid = match piece.shape.primitive() {
            Some(Primitive::Ball { radius }) => Solid::Sphere { radius },
            Some(Primitive::Cuboid { half }) => Solid::Cuboid { half },
            Some(Primitive::Capsule { radius, half_length }) => Solid::Capsule { radius, half_length },
            None => Solid::Shape { shape: piece.shape },
        };
        let mut geometry = Geometry::new(solid, Frame::identity(), None, bounds);
        // As finely sampled as the whole.
        geometry.cells = (bounds.extent().max() / spacing).ceil().max(8.0) as usize;
        Part { geometry, pose: Pose::new(&piece.frame) }
    };
    pieces.into_iter().map(part).collect()
}
