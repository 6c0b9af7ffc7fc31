//! Times writing and reading of a sphere in every format: `cargo run --release --example mesh_io_speed -- [TRIANGLES]` (1 million by default).

use splashdown_geometry::generate::{FillOptions, fill, icosphere};
use splashdown_geometry::io::{AnyMesh, Encoding, MeshFormat, encode_mesh, parse_mesh};
use splashdown_math::Vector;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let triangles: f64 = std::env::args().nth(1).map_or(Ok(1e6), |word| word.parse())?;
    let start = Instant::now();
    let mesh =
        AnyMesh::from(icosphere(Vector::<3>::zeros(), 1.0, (triangles / 20.0).sqrt().round() as usize)?);
    println!(
        "{} triangles, {} points, made in {:.2?}",
        mesh.triangles.len(),
        mesh.points.len(),
        start.elapsed()
    );
    println!("{:8} {:8} {:>10} {:>10} {:>10}", "format", "encoding", "MB", "write", "read");
    for format in [MeshFormat::Stl, MeshFormat::Ply, MeshFormat::Obj, MeshFormat::Vtk, MeshFormat::Gmsh] {
        for encoding in [Encoding::Binary, Encoding::Text] {
            let start = Instant::now();
            let mut bytes = Vec::new();
            encode_mesh(&mesh, format, encoding, &mut bytes)?;
            let written = start.elapsed();
            let start = Instant::now();
            let back = parse_mesh(&bytes, format)?;
            let read = start.elapsed();
            assert_eq!(back.triangles.len(), mesh.triangles.len());
            println!(
                "{format:8?} {encoding:8?} {:10.1} {written:10.2?} {read:10.2?}",
                bytes.len() as f64 / 1e6
            );
        }
    }
    let ball = |x: &Vector<3>| x.norm() - 1.0;
    let corner = Vector::<3>::repeat(1.0);
    for cell in [0.1, 0.05, 0.025] {
        let start = Instant::now();
        let filled = fill::<3, 4, _>(ball, &FillOptions::new(cell, -corner, corner))?;
        println!("fill a ball, cell {cell}: {:.2?} for {:?}", start.elapsed(), filled.quality);
    }
    Ok(())
}
