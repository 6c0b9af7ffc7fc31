//! Any bytes read as Vtk give a mesh with sound indices or an error, and what was read can be written and read again.
#![no_main]

use splashdown_geometry::io::{Encoding, MeshFormat, encode_mesh, parse_mesh};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(mesh) = parse_mesh(bytes, MeshFormat::Vtk) else { return };
    let points = mesh.points.len() as u32;
    assert!(mesh.segments.as_flattened().iter().all(|i| *i < points));
    assert!(mesh.triangles.as_flattened().iter().all(|i| *i < points));
    assert!(mesh.tetrahedra.as_flattened().iter().all(|i| *i < points));
    assert!(mesh.hexahedra.as_flattened().iter().all(|i| *i < points));
    for encoding in [Encoding::Text, Encoding::Binary] {
        let mut written = Vec::new();
        encode_mesh(&mesh, MeshFormat::Vtk, encoding, &mut written).expect("writing to memory");
        let again = parse_mesh(&written, MeshFormat::Vtk).expect("our own file");
        assert_eq!(again.triangles.len(), mesh.triangles.len());
    }
});
