//! Solids that someone else simulates, as the fluid sees them: a form, where it is, how it moves.

use crate::obstacle::Placement;
use splashdown_geometry::Aabb;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Vector};
use std::sync::Arc;

/// The form of a solid in its own coordinates.
pub trait Form<const D: usize>: Send + Sync
where
    Dim<D>: Space<D>,
{
    /// Signed distance (m) of a point in the solid's coordinates, negative inside.
    fn signed_distance(&self, point: &Vector<D>) -> f64;
    /// A box in the world around the solid at `frame` (m); may be unbounded.
    fn world_bounds(&self, frame: &Frame<D>) -> Aabb<D>;
    /// Does it move as its placement says? If not, what is inside has the velocity of the faces around.
    fn is_rigid(&self) -> bool {
        true
    }
}

impl<const D: usize> Form<D> for Shape<D>
where
    Dim<D>: Space<D>,
{
    fn signed_distance(&self, point: &Vector<D>) -> f64 {
        Shape::signed_distance(self, point)
    }

    fn world_bounds(&self, frame: &Frame<D>) -> Aabb<D> {
        let own = self.bounds();
        if !own.is_bounded() {
            return if own.is_empty() { own } else { Aabb::everything() };
        }
        let corners = (0..1usize << D).map(|corner| {
            let own = Vector::from_fn(|a, _| if corner >> a & 1 == 1 { own.max[a] } else { own.min[a] });
            frame.to_world(&own)
        });
        corners.fold(Aabb::empty(), |bounds, corner| bounds.including(&corner))
    }
}

/// A solid in the fluid that someone else moves.
#[derive(Clone)]
pub struct Guest<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// What it looks like.
    pub form: Arc<dyn Form<D>>,
    /// Where it is and how it moves.
    pub placement: Placement<D>,
    /// Does the fluid slide along it, rather than stick to it?
    pub slip: bool,
}

impl<const D: usize> PartialEq for Guest<D>
where
    Dim<D>: Space<D>,
{
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.form, &other.form) && self.placement == other.placement && self.slip == other.slip
    }
}

impl<const D: usize> std::fmt::Debug for Guest<D>
where
    Dim<D>: Space<D>,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest").field("placement", &self.placement).field("slip", &self.slip).finish()
    }
}
