//! Questions to a mesh: closest point, ray casts, inside or outside.

mod closest;
mod ray;
mod winding;

pub use closest::{MeshTree, SurfacePoint};
pub use ray::{Ray, RayHit};
pub use winding::{WindingTree, winding_number};

#[cfg(test)]
pub(crate) mod test_shapes;
