//! PLY, binary: all parts of a frame in one file, each vertex with its velocity and the number of its part.

use super::Drawing;
use crate::storage::{StorageError, write_atomically};
use std::path::Path;

/// Writes a drawing.
pub fn write(drawing: &Drawing, path: &Path) -> Result<(), StorageError> {
    let objects = &drawing.objects;
    let vertices: usize = objects.iter().map(|object| object.surface.positions.len()).sum();
    let faces: usize = objects.iter().map(|object| object.surface.triangles.len()).sum();
    let edges: usize = objects.iter().map(|object| object.surface.lines.len()).sum();
    write_atomically(path, |out| {
        writeln!(
            out,
            "ply\nformat binary_little_endian 1.0\ncomment Splashdown, metres and metres per second"
        )?;
        for (number, object) in objects.iter().enumerate() {
            let name: String = object.name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
            writeln!(out, "comment part {number} {name}")?;
        }
        writeln!(out, "element vertex {vertices}")?;
        for property in ["double x", "double y", "double z", "float vx", "float vy", "float vz", "int part"] {
            writeln!(out, "property {property}")?;
        }
        writeln!(out, "element face {faces}\nproperty list uchar int vertex_indices")?;
        if edges > 0 {
            writeln!(out, "element edge {edges}\nproperty int vertex1\nproperty int vertex2")?;
        }
        writeln!(out, "end_header")?;
        for (number, object) in objects.iter().enumerate() {
            for (i, position) in object.surface.positions.iter().enumerate() {
                for x in position {
                    out.write_all(&x.to_le_bytes())?;
                }
                for v in object.velocity.as_ref().map_or([0.0; 3], |velocity| velocity[i]) {
                    out.write_all(&(v as f32).to_le_bytes())?;
                }
                out.write_all(&(number as i32).to_le_bytes())?;
            }
        }
        let mut first = 0;
        for object in objects {
            for triangle in &object.surface.triangles {
                out.write_all(&[3])?;
                for corner in triangle {
                    out.write_all(&(first + *corner as i32).to_le_bytes())?;
                }
            }
            first += object.surface.positions.len() as i32;
        }
        let mut first = 0;
        for object in objects {
            for end in object.surface.lines.as_flattened() {
                out.write_all(&(first + *end as i32).to_le_bytes())?;
            }
            first += object.surface.positions.len() as i32;
        }
        Ok(())
    })
}
