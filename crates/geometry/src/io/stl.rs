//! Stereolithography files: triangles without shared corners, which are joined where their coordinates are equal.

use super::cursor::{Cursor, quote};
use super::error::Location;
use super::scalar::{ByteOrder, Scalar};
use super::weld::Welder;
use super::{AnyMesh, Encoding, SyntaxError};
use splashdown_math::Vector;
use std::io::{self, Write};

const HEADER: usize = 80;
const RECORD: usize = 50;

/// Reads a text or binary STL file. The stored normals are ignored; the order of the corners tells the outside.
pub fn parse(bytes: &[u8]) -> Result<AnyMesh, SyntaxError> {
    // Binary files may begin with "solid" too, so the length decides.
    let binary_length = |bytes: &[u8]| {
        let count = bytes.get(HEADER..HEADER + 4)?;
        let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
        Some((HEADER + 4) as u64 + u64::from(count) * RECORD as u64)
    };
    if binary_length(bytes) == Some(bytes.len() as u64) {
        return parse_binary(&bytes[HEADER + 4..]);
    }
    let head = bytes.trim_ascii_start();
    if head.len() >= 5 && head[..5].eq_ignore_ascii_case(b"solid") && !bytes.contains(&0) {
        return parse_text(bytes);
    }
    Err(match binary_length(bytes) {
        Some(length) => SyntaxError {
            at: Location::Byte(HEADER),
            found: format!("a triangle count that makes {length} bytes, in a file of {}", bytes.len()),
            expected:
                "a count that matches the length of the file, or a text file that begins with \"solid\""
                    .into(),
        },
        None => SyntaxError {
            at: Location::Byte(0),
            found: format!("{} bytes: {}", bytes.len(), quote(bytes)),
            expected: "\"solid\" or a binary header of 84 bytes".into(),
        },
    })
}

fn parse_binary(records: &[u8]) -> Result<AnyMesh, SyntaxError> {
    let (records, _) = records.as_chunks::<RECORD>();
    let mut welder = Welder::new(3 * records.len());
    let mut triangles = Vec::with_capacity(records.len());
    for (r, record) in records.iter().enumerate() {
        let mut triangle = [0; 3];
        for (corner, number) in triangle.iter_mut().enumerate() {
            let mut x = Vector::<3>::zeros();
            for axis in 0..3 {
                let offset = 12 + 12 * corner + 4 * axis;
                x[axis] = Scalar::F32.real(&record[offset..], ByteOrder::Little);
                if !x[axis].is_finite() {
                    return Err(SyntaxError {
                        at: Location::Byte(HEADER + 4 + r * RECORD + offset),
                        found: format!("{}", x[axis]),
                        expected: "a coordinate, a finite number".into(),
                    });
                }
            }
            *number = welder.number(x);
        }
        triangles.push(triangle);
    }
    Ok(AnyMesh { points: welder.into_points(), triangles, ..AnyMesh::default() })
}

fn parse_text(bytes: &[u8]) -> Result<AnyMesh, SyntaxError> {
    let mut cursor = Cursor::new(bytes);
    // The shortest facet has some 80 characters.
    let mut welder = Welder::new(bytes.len() / 30);
    let mut triangles = Vec::new();
    cursor.keyword("solid")?;
    cursor.rest_of_line();
    loop {
        let word = cursor.expect_word("facet or endsolid")?;
        if word.eq_ignore_ascii_case(b"facet") {
            cursor.keyword("normal")?;
            for _ in 0..3 {
                // Degenerate facets are written with normals that are not numbers.
                cursor.expect_word("a component of the normal")?;
            }
            cursor.keyword("outer")?;
            cursor.keyword("loop")?;
            let mut triangle = [0; 3];
            for number in &mut triangle {
                cursor.keyword("vertex")?;
                let mut x = Vector::<3>::zeros();
                for axis in 0..3 {
                    x[axis] = cursor.real("a coordinate")?;
                }
                *number = welder.number(x);
            }
            cursor.keyword("endloop")?;
            cursor.keyword("endfacet")?;
            triangles.push(triangle);
        } else if word.eq_ignore_ascii_case(b"endsolid") {
            cursor.rest_of_line();
            // A file may hold several solids.
            if cursor.peek().is_none() {
                break;
            }
            cursor.keyword("solid")?;
            cursor.rest_of_line();
        } else {
            return cursor.error(quote(word), "facet or endsolid");
        }
    }
    Ok(AnyMesh { points: welder.into_points(), triangles, ..AnyMesh::default() })
}

/// Writes the triangles. Binary files hold single precision; text keeps all digits.
pub fn write(mesh: &AnyMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    let corners = |t: &[u32; 3]| t.map(|i| mesh.points[i as usize]);
    let normal = |[a, b, c]: &[Vector<3>; 3]| {
        let n = (b - a).cross(&(c - a));
        n.try_normalize(0.0).unwrap_or_else(Vector::<3>::zeros)
    };
    match encoding {
        Encoding::Binary => {
            let mut header = [b' '; HEADER];
            let title = b"binary STL written by splashdown";
            header[..title.len()].copy_from_slice(title);
            out.write_all(&header)?;
            out.write_all(&(mesh.triangles.len() as u32).to_le_bytes())?;
            for t in &mesh.triangles {
                let x = corners(t);
                let mut record = [0u8; RECORD];
                for (row, v) in std::iter::once(&normal(&x)).chain(&x).enumerate() {
                    for axis in 0..3 {
                        let offset = 12 * row + 4 * axis;
                        record[offset..offset + 4].copy_from_slice(&(v[axis] as f32).to_le_bytes());
                    }
                }
                out.write_all(&record)?;
            }
        }
        Encoding::Text => {
            writeln!(out, "solid splashdown")?;
            for t in &mesh.triangles {
                let x = corners(t);
                let n = normal(&x);
                writeln!(out, "facet normal {:?} {:?} {:?}\n outer loop", n.x, n.y, n.z)?;
                for v in &x {
                    writeln!(out, "  vertex {:?} {:?} {:?}", v.x, v.y, v.z)?;
                }
                writeln!(out, " endloop\nendfacet")?;
            }
            writeln!(out, "endsolid splashdown")?;
        }
    }
    Ok(())
}
