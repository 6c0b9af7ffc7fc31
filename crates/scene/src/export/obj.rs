//! OBJ, the format that every modelling program reads: one object for each part.

use super::Drawing;
use crate::storage::{StorageError, write_atomically};
use std::path::Path;

/// Writes a drawing; coordinates keep all their digits.
pub fn write(drawing: &Drawing, path: &Path) -> Result<(), StorageError> {
    write_atomically(path, |out| {
        writeln!(out, "# Splashdown, metres")?;
        let mut first = 1; // OBJ counts from 1, through the whole file.
        for object in &drawing.objects {
            // A line end in a name would end the statement.
            let name: String = object.name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
            writeln!(out, "o {name}")?;
            for [x, y, z] in &object.surface.positions {
                writeln!(out, "v {x} {y} {z}")?;
            }
            for triangle in &object.surface.triangles {
                let [a, b, c] = triangle.map(|corner| first + corner as usize);
                writeln!(out, "f {a} {b} {c}")?;
            }
            for line in &object.surface.lines {
                let [a, b] = line.map(|end| first + end as usize);
                writeln!(out, "l {a} {b}")?;
            }
            if object.loose_points {
                for point in 0..object.surface.positions.len() {
                    writeln!(out, "p {}", first + point)?;
                }
            }
            first += object.surface.positions.len();
        }
        Ok(())
    })
}
