//! Everything that is checked before a scene runs, in two passes that both report every problem they find: [`shape`] compares the tree
//! with the schema of the types, [`meaning`] checks what a schema cannot say.

pub(crate) mod meaning;
pub(crate) mod shape;
