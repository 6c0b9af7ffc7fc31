//! Everything that is checked before a scene runs: two passes that both report every problem they find, and the world itself.
//!
//! [`shape`] compares the tree with the schema of the types, [`meaning`] checks what a schema cannot say, subject by subject in the modules beside it; [`world`] builds what has passed both.

mod deformable;
mod joints;
mod mass;
pub(crate) mod meaning;
mod names;
mod references;
mod rigid;
pub(crate) mod shape;
mod size;
mod time;
pub(crate) mod world;
