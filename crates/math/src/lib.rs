//! Small-scale mathematics that everything else stands on: vectors, rotations and spins from one source for two and three dimensions,
//! rigid frames and twists, and the decompositions of 2x2 and 3x3 matrices that constitutive models need.
//!
//! What does not live here: anything with a mesh or a grid (`splashdown-geometry`) and anything with a large linear system
//! (`splashdown-solve`). Scalars are `f64`, units are SI.
//!
//! Code that serves both dimensions is generic over `const D: usize` with the bound `Dim<D>: Space<D>`:
//!
//! ```
//! use splashdown_math::{Dim, Space, Vector};
//!
//! /// Velocity of the point at `arm` from the centre of a body that moves with `linear` and turns with `spin`.
//! fn point_velocity<const D: usize>(linear: Vector<D>, spin: <Dim<D> as Space<D>>::Spin, arm: Vector<D>) -> Vector<D>
//! where
//!     Dim<D>: Space<D>,
//! {
//!     linear + <Dim<D> as Space<D>>::spin_cross(&spin, &arm)
//! }
//!
//! let v = point_velocity::<2>(Vector::zeros(), Vector::from([3.0]), Vector::from([1.0, 0.0]));
//! assert_eq!(v, Vector::from([0.0, 3.0]));
//! ```

mod compiled;
mod eigen;
mod frame;
pub mod reference;
mod space;
pub mod svd;
mod symmetric;
mod twist;

#[doc(hidden)]
pub use compiled::Compiled;
pub use eigen::{SymmetricEigen, symmetric_eigen};
pub use frame::Frame;
pub use space::{Coordinates, Dim, Inertia, Rotation, Space, Spin};
pub use svd::{Real, Svd, ThinSvd, polar, signed_svd, signed_svd_batch, signed_svd_batch_parallel, thin_svd};
pub use symmetric::SymmetricMatrix;
pub use twist::Twist;

/// A vector of `D` components (metres, metres per second, ... as the context says).
pub type Vector<const D: usize> = nalgebra::SVector<f64, D>;

/// A `D` by `D` matrix.
pub type Matrix<const D: usize> = nalgebra::SMatrix<f64, D, D>;
