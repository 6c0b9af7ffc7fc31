//! Gmsh MSH files, versions 2.x and 4.1, text or binary: segments, triangles, quadrilaterals (split), tetrahedra and hexahedra with their physical groups.

mod read;
mod write;

pub use read::parse;
pub(super) use write::check_groups;
pub use write::{write, write_version_2};

use super::ElementKind;

/// Number of points of a Gmsh element type that we read, `None` for others.
fn point_count(element_type: i64) -> Option<usize> {
    Some(match element_type {
        1 => 2,
        2 => 3,
        3 | 4 => 4,
        5 => 8,
        15 => 1,
        _ => return None,
    })
}

const KNOWN_TYPES: &str = "an element type of a segment (1), triangle (2), quadrilateral (3), tetrahedron (4), hexahedron (5) or point (15)";

/// Gmsh's number for a kind of element.
fn element_type(kind: ElementKind) -> i32 {
    match kind {
        ElementKind::Segment => 1,
        ElementKind::Triangle => 2,
        ElementKind::Tetrahedron => 4,
        ElementKind::Hexahedron => 5,
    }
}
