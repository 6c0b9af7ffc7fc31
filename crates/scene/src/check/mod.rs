//! Everything that is checked before a scene runs, in two passes that both report every problem they find: [`shape`] compares the tree
//! with the schema of the types, [`meaning`] checks what a schema cannot say, [`joints`] the part of it that is about joints.

mod joints;
pub(crate) mod meaning;
pub(crate) mod shape;
