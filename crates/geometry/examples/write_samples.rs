//! Writes one mesh in every format and encoding, for `checks/meshio_roundtrip.py` to read with an independent reader:
//! `cargo run --example write_samples -- FOLDER`. `expected.json` holds what the reader must find.

use splashdown_geometry::generate::{CubeSplit, ball_tetrahedra, box_hexahedra, box_tetrahedra, icosphere};
use splashdown_geometry::io::{AnyMesh, ElementKind, Encoding, Group, write_mesh};
use splashdown_math::Vector;
use std::path::{Path, PathBuf};

fn write(
    folder: &Path,
    name: &str,
    extension: &str,
    mesh: &AnyMesh,
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut entries = Vec::new();
    for (encoding, suffix) in [(Encoding::Text, "text"), (Encoding::Binary, "binary")] {
        let file = format!("{name}_{suffix}.{extension}");
        write_mesh(folder.join(&file), mesh, encoding)?;
        let sum: Vector<3> = mesh.points.iter().sum();
        let volume: f64 = mesh
            .tetrahedra
            .iter()
            .map(|t| {
                let [a, b, c, d] = t.map(|i| mesh.points[i as usize]);
                (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
            })
            .sum();
        entries.push(format!(
            "{{\"file\": \"{file}\", \"points\": {}, \"triangles\": {}, \"tetrahedra\": {}, \"hexahedra\": {}, \"sum\": [{:?}, {:?}, {:?}], \"volume\": {volume:?}, \"groups\": {}}}",
            mesh.points.len(),
            mesh.triangles.len(),
            mesh.tetrahedra.len(),
            mesh.hexahedra.len(),
            sum.x,
            sum.y,
            sum.z,
            mesh.groups.iter().map(|group| group.elements.len()).sum::<usize>(),
        ));
    }
    Ok(entries)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        return Err("usage: write_samples FOLDER".into());
    };
    std::fs::create_dir_all(&folder)?;
    let surface = AnyMesh::from(icosphere(Vector::<3>::new(0.25, -0.5, 1.0), 1.0 / 3.0, 5)?);
    let mut ball = AnyMesh::from(ball_tetrahedra(Vector::<3>::new(1.0, 2.0, 3.0), 0.7, 3)?);
    ball.groups = vec![
        Group { name: "core".into(), tag: 1, kind: ElementKind::Tetrahedron, elements: (0..100).collect() },
        Group {
            name: "shell".into(),
            tag: 2,
            kind: ElementKind::Tetrahedron,
            elements: (100..540).collect(),
        },
    ];
    let boxes =
        AnyMesh::from(box_hexahedra(Vector::<3>::zeros(), Vector::<3>::new(1.0, 2.0, 3.0), [2, 3, 4])?);
    let cubes = AnyMesh::from(box_tetrahedra(
        Vector::<3>::zeros(),
        Vector::<3>::repeat(1.0),
        [3, 3, 3],
        CubeSplit::Five,
    )?);
    let mut entries = Vec::new();
    for extension in ["obj", "stl", "ply", "vtk", "msh"] {
        entries.extend(write(&folder, "surface", extension, &surface)?);
    }
    for extension in ["vtk", "msh"] {
        entries.extend(write(&folder, "ball", extension, &ball)?);
        entries.extend(write(&folder, "boxes", extension, &boxes)?);
        entries.extend(write(&folder, "cubes", extension, &cubes)?);
    }
    std::fs::write(folder.join("expected.json"), format!("[\n{}\n]\n", entries.join(",\n")))?;
    println!("{} files in {}", entries.len(), folder.display());
    Ok(())
}
