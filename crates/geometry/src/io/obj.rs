//! Wavefront OBJ: vertices, faces and lines. Texture coordinates, normals, materials, groups and free-form curves are passed over.

use super::cursor::{Cursor, parse_integer, parse_real, point_index, quote};
use super::{AnyMesh, SyntaxError, polygon};
use splashdown_math::Vector;
use std::io::{self, Write};

/// Statements of the format that carry no geometry that we use.
const PASSED_OVER: &[&str] = &[
    "vt",
    "vn",
    "vp",
    "o",
    "g",
    "s",
    "mg",
    "mtllib",
    "usemtl",
    "maplib",
    "usemap",
    "p",
    "cstype",
    "deg",
    "bmat",
    "step",
    "curv",
    "curv2",
    "surf",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "ctech",
    "stech",
];

/// Reads an OBJ file. Faces may name only vertices that stand before them.
pub fn parse(bytes: &[u8]) -> Result<AnyMesh, SyntaxError> {
    let mut cursor = Cursor::new(bytes);
    let mut mesh = AnyMesh::default();
    let mut corners = Vec::new();
    let mut joined: Vec<u8>;
    while let Some(mut line) = cursor.line() {
        if line.ends_with(b"\\") {
            joined = Vec::new();
            loop {
                joined.extend_from_slice(line.strip_suffix(b"\\").unwrap_or(line));
                joined.push(b' ');
                if !line.ends_with(b"\\") {
                    break;
                }
                match cursor.line() {
                    Some(next) => line = next,
                    None => break,
                }
            }
            line = &joined;
        }
        let line = line.split(|c| *c == b'#').next().unwrap_or_default();
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let Some(keyword) = words.next() else { continue };
        match keyword {
            b"v" => {
                let mut x = Vector::<3>::zeros();
                for axis in 0..3 {
                    let Some(word) = words.next() else {
                        return cursor.error(format!("{axis} coordinates"), "a vertex with 3 coordinates");
                    };
                    let Some(value) = parse_real(word) else {
                        return cursor.error(quote(word), "a coordinate, a finite number");
                    };
                    x[axis] = value;
                }
                mesh.points.push(x);
            }
            b"f" | b"l" | b"fo" => {
                corners.clear();
                for word in words {
                    let first = word.split(|c| *c == b'/').next().unwrap_or_default();
                    let Some(value) = parse_integer(first) else {
                        return cursor.error(quote(word), "the number of a vertex");
                    };
                    // Negative numbers count back from the last vertex.
                    let value =
                        if value < 0 { value.saturating_add(mesh.points.len() as i64 + 1) } else { value };
                    corners.push(point_index(value, 1, mesh.points.len(), cursor.here())?);
                }
                if keyword == b"l" {
                    if corners.len() < 2 {
                        return cursor
                            .error(format!("{} points", corners.len()), "a line with 2 points or more");
                    }
                    mesh.segments.extend(corners.windows(2).map(|pair| [pair[0], pair[1]]));
                } else {
                    if corners.len() < 3 {
                        return cursor
                            .error(format!("{} corners", corners.len()), "a face with 3 corners or more");
                    }
                    if !polygon::split(&mesh.points, &corners, &mut mesh.triangles) {
                        let found = format!("a face that is not convex with {} corners", corners.len());
                        return cursor.error(found, format!("at most {} corners", polygon::MAX_CORNERS));
                    }
                }
            }
            other if PASSED_OVER.iter().any(|known| known.as_bytes() == other) => {}
            other => {
                return cursor
                    .error(quote(other), "an OBJ statement such as v, f, l, vn, vt, g, o or usemtl");
            }
        }
    }
    Ok(mesh)
}

/// Writes points, triangles and segments.
pub fn write(mesh: &AnyMesh, out: &mut impl Write) -> io::Result<()> {
    for x in &mesh.points {
        writeln!(out, "v {:?} {:?} {:?}", x.x, x.y, x.z)?;
    }
    for t in &mesh.triangles {
        writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1)?;
    }
    for s in &mesh.segments {
        writeln!(out, "l {} {}", s[0] + 1, s[1] + 1)?;
    }
    Ok(())
}
