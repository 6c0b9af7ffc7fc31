//! A surface of ten million triangles is written, read back the same to the last bit, found closed, and refused with the hole named when one triangle
//! of it is missing: large input is slow at worst, never a crash or a wrong answer.
//!
//! Source: exact. A sphere of `20 n^2` triangles (subdivided icosahedron) has `10 n^2 + 2` points; issue 2 ("10 million triangles large").

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::generate::icosphere;
use splashdown_geometry::io::{AnyMesh, Encoding, read_mesh, write_mesh};
use splashdown_geometry::mesh::MeshError;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "foundation/large-mesh",
    spec: "foundation",
    summary: "ten million triangles are written, read back bit for bit, found closed, and refused when one is missing",
    source: "exact",
    speed: Speed::Slow,
    seconds: 60.0,
    run,
};

/// Pieces of an edge of the icosahedron.
const PIECES: usize = 708;

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let folder = tempfile::tempdir().map_err(|error| CaseError::new("making a folder", error))?;
    let path = folder.path().join("large.ply");
    let sphere = icosphere(Vector::<3>::zeros(), 1.0, PIECES)
        .map_err(|error| CaseError::new("making the sphere", error))?;
    let count = 20 * PIECES * PIECES;
    let resolution = format!("{count} triangles");
    let written = AnyMesh::from(sphere);
    write_mesh(&path, &written, Encoding::Binary).map_err(|error| CaseError::new("writing", error))?;
    let read = read_mesh(&path).map_err(|error| CaseError::new("reading", error))?;
    out.near("triangles read", &resolution, read.triangles.len() as f64, count as f64, 0.0, "20 n^2");
    out.near("points read", &resolution, read.points.len() as f64, (count / 2 + 2) as f64, 0.0, "10 n^2 + 2");
    let same = read.points == written.points && read.triangles == written.triangles;
    out.near("differences after reading", &resolution, f64::from(u8::from(!same)), 0.0, 0.0, "exact");
    drop(written);
    let mut mesh = read.into_triangles::<3>().map_err(|error| CaseError::new("reading triangles", error))?;
    let closed = mesh.check_closed();
    out.near("closed", &resolution, f64::from(u8::from(closed.is_ok())), 1.0, 0.0, "exact");
    mesh.elements.swap_remove(count / 3);
    let open_edges = match mesh.check_closed() {
        Err(MeshError::Leaky { count, .. }) => count,
        _ => 0,
    };
    out.near("open edges when a triangle is missing", &resolution, open_edges as f64, 3.0, 0.0, "exact");
    Ok(())
}
