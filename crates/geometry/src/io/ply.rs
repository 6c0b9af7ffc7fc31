//! Stanford PLY: vertices, faces and edges; properties and elements that we do not know are passed over.

use super::cursor::{Cursor, parse_integer, point_index, quote};
use super::error::Location;
use super::scalar::{ByteOrder, Scalar};
use super::{AnyMesh, Encoding, SyntaxError, polygon};
use splashdown_math::Vector;
use std::io::{self, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Property {
    One(Scalar),
    List { count: Scalar, item: Scalar },
}

/// What a property means to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Coordinate(usize),
    Corners,
    End(usize),
    Nothing,
}

#[derive(Debug)]
struct Element {
    name: String,
    count: i64,
    /// Where the header declares it.
    at: Location,
    properties: Vec<(Property, Meaning)>,
}

struct Header {
    text: bool,
    elements: Vec<Element>,
}

fn scalar(cursor: &Cursor, word: &[u8]) -> Result<Scalar, SyntaxError> {
    Ok(match word {
        b"char" | b"int8" => Scalar::I8,
        b"uchar" | b"uint8" => Scalar::U8,
        b"short" | b"int16" => Scalar::I16,
        b"ushort" | b"uint16" => Scalar::U16,
        b"int" | b"int32" => Scalar::I32,
        b"uint" | b"uint32" => Scalar::U32,
        b"int64" | b"long" => Scalar::I64,
        b"uint64" | b"ulong" => Scalar::U64,
        b"float" | b"float32" => Scalar::F32,
        b"double" | b"float64" => Scalar::F64,
        other => return cursor.error(quote(other), "a PLY number type such as float, double, uchar or int"),
    })
}

fn meaning(element: &str, property: Property, name: &[u8]) -> Meaning {
    match (element, property, name) {
        ("vertex", Property::One(_), b"x") => Meaning::Coordinate(0),
        ("vertex", Property::One(_), b"y") => Meaning::Coordinate(1),
        ("vertex", Property::One(_), b"z") => Meaning::Coordinate(2),
        ("face", Property::List { .. }, b"vertex_indices" | b"vertex_index") => Meaning::Corners,
        ("edge", Property::One(_), b"vertex1") => Meaning::End(0),
        ("edge", Property::One(_), b"vertex2") => Meaning::End(1),
        _ => Meaning::Nothing,
    }
}

fn parse_header(cursor: &mut Cursor) -> Result<Header, SyntaxError> {
    cursor.keyword("ply")?;
    cursor.keyword("format")?;
    let format = cursor.expect_word("a PLY format")?;
    let text = match format {
        b"ascii" => true,
        b"binary_little_endian" => false,
        b"binary_big_endian" => {
            cursor.order = ByteOrder::Big;
            false
        }
        other => return cursor.error(quote(other), "ascii, binary_little_endian or binary_big_endian"),
    };
    let version = cursor.expect_word("the version 1.0")?;
    if version != b"1.0" {
        return cursor.error(quote(version), "the version 1.0");
    }
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let word = cursor.expect_word("a header line or end_header")?;
        match word {
            b"comment" | b"obj_info" => {
                cursor.rest_of_line();
            }
            b"element" => {
                let name =
                    String::from_utf8_lossy(cursor.expect_word("the name of an element")?).into_owned();
                let count = cursor.integer("the number of elements")?;
                if count < 0 {
                    return cursor.error(format!("{count}"), "the number of elements, not negative");
                }
                if elements.iter().any(|element| element.name == name) {
                    return cursor.error(format!("a second element {name:?}"), "every element once");
                }
                elements.push(Element { name, count, at: cursor.here(), properties: Vec::new() });
            }
            b"property" => {
                let first = cursor.expect_word("the type of a property")?;
                let property = if first == b"list" {
                    let count = cursor.expect_word("the type of the list's length")?;
                    let count = scalar(cursor, count)?;
                    let item = cursor.expect_word("the type of the list's items")?;
                    Property::List { count, item: scalar(cursor, item)? }
                } else {
                    Property::One(scalar(cursor, first)?)
                };
                let name = cursor.expect_word("the name of a property")?;
                let Some(element) = elements.last_mut() else {
                    return cursor.error("a property", "an element before its properties");
                };
                element.properties.push((property, meaning(&element.name, property, name)));
            }
            b"end_header" => {
                cursor.end_line("the end of the line")?;
                cursor.binary = !text;
                return Ok(Header { text, elements });
            }
            other => {
                return cursor.error(quote(other), "comment, obj_info, element, property or end_header");
            }
        }
    }
}

impl Element {
    /// The fewest bytes that one element takes.
    fn least_bytes(&self, text: bool) -> usize {
        self.properties
            .iter()
            .map(|(property, _)| match property {
                _ if text => 2,
                Property::One(kind) => kind.size(),
                Property::List { count, .. } => count.size(),
            })
            .sum()
    }

    fn has(&self, meaning: Meaning) -> bool {
        self.properties.iter().any(|(_, m)| *m == meaning)
    }
}

/// Reads a text or binary PLY file.
pub fn parse(bytes: &[u8]) -> Result<AnyMesh, SyntaxError> {
    let mut cursor = Cursor::new(bytes);
    let header = parse_header(&mut cursor)?;
    let mut mesh = AnyMesh::default();
    for element in &header.elements {
        let needed: &[Meaning] = match element.name.as_str() {
            "vertex" => &[Meaning::Coordinate(0), Meaning::Coordinate(1), Meaning::Coordinate(2)],
            "face" => &[Meaning::Corners],
            "edge" => &[Meaning::End(0), Meaning::End(1)],
            _ => &[],
        };
        if element.count > 0 && !needed.iter().all(|m| element.has(*m)) {
            return Err(SyntaxError {
                at: element.at,
                found: format!("element {:?} without them", element.name),
                expected: "properties x, y and z of a vertex, a list vertex_indices of a face, vertex1 and vertex2 of an edge".into(),
            });
        }
        if element.properties.is_empty() {
            continue;
        }
        if element.name == "vertex" && element.count >= i64::from(u32::MAX) {
            return Err(SyntaxError {
                at: element.at,
                found: format!("{} vertices", element.count),
                expected: format!("fewer than {}", u32::MAX),
            });
        }
        let count = cursor.check_count(
            element.count,
            "a number of elements that the file has room for",
            // The last value of a text file needs no separator after it.
            if header.text {
                element.least_bytes(true).saturating_sub(1)
            } else {
                element.least_bytes(false)
            },
            element.at,
        )?;
        match element.name.as_str() {
            "vertex" => mesh.points.reserve(count),
            "face" => mesh.triangles.reserve(count),
            "edge" => mesh.segments.reserve(count),
            _ => {}
        }
        let vertices_known =
            header.elements.iter().take_while(|e| e.name != element.name).any(|e| e.name == "vertex");
        if matches!(element.name.as_str(), "face" | "edge") && count > 0 && !vertices_known {
            return Err(SyntaxError {
                at: element.at,
                found: format!("element {:?} before the vertices", element.name),
                expected: "vertices first".into(),
            });
        }
        read_elements(&mut cursor, element, count, header.text, &mut mesh)?;
    }
    Ok(mesh)
}

fn read_elements(
    cursor: &mut Cursor,
    element: &Element,
    count: usize,
    text: bool,
    mesh: &mut AnyMesh,
) -> Result<(), SyntaxError> {
    let mut corners: Vec<u32> = Vec::new();
    for _ in 0..count {
        let mut x = Vector::<3>::zeros();
        let mut ends = [0u32; 2];
        for &(property, meaning) in &element.properties {
            match (property, meaning) {
                (Property::One(kind), Meaning::Coordinate(axis)) => {
                    x[axis] = if text {
                        cursor.real("a coordinate")?
                    } else {
                        cursor.binary_real(kind, "a coordinate")?
                    };
                }
                (Property::One(kind), Meaning::End(end)) => {
                    ends[end] = read_index(cursor, kind, text, mesh.points.len())?;
                }
                (Property::One(kind), _) => {
                    if text {
                        cursor.expect_word("a property")?;
                    } else {
                        cursor.take(kind.size(), "a property")?;
                    }
                }
                (Property::List { count, item }, meaning) => {
                    let byte = cursor.byte();
                    let length = if text {
                        cursor.integer("the length of a list")?
                    } else {
                        cursor.binary_integer(count, "the length of a list")?
                    };
                    let at = if text { cursor.here() } else { byte };
                    let least = if text { 1 } else { item.size() };
                    let length = cursor.check_count(length, "the length of a list", least, at)?;
                    if meaning == Meaning::Corners {
                        corners.clear();
                        for _ in 0..length {
                            corners.push(read_index(cursor, item, text, mesh.points.len())?);
                        }
                    } else if text {
                        for _ in 0..length {
                            cursor.expect_word("an item of a list")?;
                        }
                    } else {
                        cursor.take(length * item.size(), "a list")?;
                    }
                }
            }
        }
        match element.name.as_str() {
            "vertex" => mesh.points.push(x),
            "edge" => mesh.segments.push(ends),
            "face" => {
                let at = if text { cursor.here() } else { cursor.byte() };
                let problem = |found: String, expected: String| Err(SyntaxError { at, found, expected });
                if corners.len() < 3 {
                    return problem(
                        format!("a face with {} corners", corners.len()),
                        "3 corners or more".into(),
                    );
                }
                if !polygon::split(&mesh.points, &corners, &mut mesh.triangles) {
                    return problem(
                        format!("a face that is not convex with {} corners", corners.len()),
                        format!("at most {} corners", polygon::MAX_CORNERS),
                    );
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[inline]
fn read_index(cursor: &mut Cursor, kind: Scalar, text: bool, points: usize) -> Result<u32, SyntaxError> {
    if text {
        let word = cursor.expect_word("the index of a vertex")?;
        match parse_integer(word) {
            Some(value) => point_index(value, 0, points, cursor.here()),
            None => cursor.error(quote(word), "the index of a vertex, an integer"),
        }
    } else {
        let at = cursor.byte();
        point_index(cursor.binary_integer(kind, "the index of a vertex")?, 0, points, at)
    }
}

/// Writes points (double precision), triangles and segments; binary files are little-endian.
pub fn write(mesh: &AnyMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    let format = match encoding {
        Encoding::Text => "ascii",
        Encoding::Binary => "binary_little_endian",
    };
    write!(
        out,
        "ply\nformat {format} 1.0\ncomment written by splashdown\nelement vertex {}\nproperty double x\nproperty double y\n\
         property double z\nelement face {}\nproperty list uchar int vertex_indices\n",
        mesh.points.len(),
        mesh.triangles.len()
    )?;
    if !mesh.segments.is_empty() {
        write!(out, "element edge {}\nproperty int vertex1\nproperty int vertex2\n", mesh.segments.len())?;
    }
    writeln!(out, "end_header")?;
    match encoding {
        Encoding::Text => {
            for x in &mesh.points {
                writeln!(out, "{:?} {:?} {:?}", x.x, x.y, x.z)?;
            }
            for t in &mesh.triangles {
                writeln!(out, "3 {} {} {}", t[0], t[1], t[2])?;
            }
            for s in &mesh.segments {
                writeln!(out, "{} {}", s[0], s[1])?;
            }
        }
        Encoding::Binary => {
            for v in mesh.points.iter().flat_map(|x| x.iter()) {
                out.write_all(&v.to_le_bytes())?;
            }
            for t in &mesh.triangles {
                out.write_all(&[3])?;
                for i in t {
                    out.write_all(&(*i as i32).to_le_bytes())?;
                }
            }
            for i in mesh.segments.as_flattened() {
                out.write_all(&(*i as i32).to_le_bytes())?;
            }
        }
    }
    Ok(())
}
