//! Shapes in space and what can be asked of them: uniform grids and their fields, simplex and hexahedron meshes with topology, level sets,
//! closest points, ray casts, continuous collision detection, mesh generation and mesh files.
//!
//! What does not live here: anything with mass, velocity or force (`rigid`, `deformable`, `fluid`) and large linear systems (`solve`).

pub mod bounds;
pub mod bvh;
pub mod ccd;
mod compiled;
pub mod generate;
pub mod grid;
pub mod io;
pub mod iso_surface;
pub mod level_set;
pub mod mesh;
pub mod query;
pub mod sample;
pub mod shapes;
pub mod simplex;

pub use bounds::Aabb;
pub use bvh::Bvh;
