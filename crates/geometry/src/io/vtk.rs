//! Legacy VTK files: `POLYDATA` and `UNSTRUCTURED_GRID`, text or binary (always big-endian), versions 1 to 5.1.

use super::cursor::{Cursor, point_index, quote};
use super::error::Location;
use super::scalar::{ByteOrder, Scalar};
use super::{AnyMesh, Encoding, SyntaxError, hexahedron_from_rings, hexahedron_to_rings, polygon};
use splashdown_math::Vector;
use std::io::{self, Write};

type Parsed<T> = Result<T, SyntaxError>;

fn scalar(cursor: &Cursor, word: &[u8]) -> Parsed<Scalar> {
    Ok(match word.to_ascii_lowercase().as_slice() {
        b"char" => Scalar::I8,
        b"unsigned_char" => Scalar::U8,
        b"short" => Scalar::I16,
        b"unsigned_short" => Scalar::U16,
        b"int" => Scalar::I32,
        b"unsigned_int" => Scalar::U32,
        b"long" | b"vtktypeint64" | b"vtkidtype" => Scalar::I64,
        b"unsigned_long" | b"vtktypeuint64" => Scalar::U64,
        b"float" => Scalar::F32,
        b"double" => Scalar::F64,
        _ => {
            return cursor.error(quote(word), "a VTK number type such as float, double, int or vtktypeint64");
        }
    })
}

/// Reads numbers of one type in either form.
struct Reader<'a> {
    cursor: Cursor<'a>,
    text: bool,
}

impl<'a> Reader<'a> {
    fn at(&self) -> Location {
        if self.text { self.cursor.here() } else { self.cursor.byte() }
    }

    /// Checks that `count` numbers can follow, and moves to the first of them.
    fn begin(&mut self, count: i64, kind: Scalar, what: &str) -> Parsed<usize> {
        let at = self.cursor.here();
        if !self.text {
            self.cursor.end_line("the end of the line before binary data")?;
            self.cursor.binary = true;
        }
        let least = if self.text { 2 } else { kind.size() };
        // A text file may end right after the last digit.
        let count = self.cursor.check_count(count, what, least, at).or_else(|error| {
            if self.text && count >= 0 && (count as u128) * 2 == self.cursor.remaining() as u128 + 1 {
                Ok(count as usize)
            } else {
                Err(error)
            }
        })?;
        Ok(count)
    }

    fn real(&mut self, kind: Scalar, what: &str) -> Parsed<f64> {
        if self.text { self.cursor.real(what) } else { self.cursor.binary_real(kind, what) }
    }

    fn integer(&mut self, kind: Scalar, what: &str) -> Parsed<i64> {
        if self.text { self.cursor.integer(what) } else { self.cursor.binary_integer(kind, what) }
    }

    fn integers(&mut self, count: i64, kind: Scalar, what: &str) -> Parsed<Vec<i64>> {
        let count = self.begin(count, kind, what)?;
        (0..count).map(|_| self.integer(kind, what)).collect()
    }

    /// A list of cells: where each ends in the list of all their points. Versions before 5 write each cell as its length and its points, later ones
    /// offsets and points apart.
    fn cells(&mut self, offsets_apart: bool) -> Parsed<(Vec<usize>, Vec<i64>)> {
        let at = self.cursor.here();
        let first = self.cursor.integer("the number of cells")?;
        let second = self.cursor.integer("the size of the list of cells")?;
        if offsets_apart {
            self.cursor.keyword("OFFSETS")?;
            let kind = self.cursor.expect_word("the type of the offsets")?;
            let kind = scalar(&self.cursor, kind)?;
            let offsets = self.integers(first, kind, "an offset")?;
            self.cursor.keyword("CONNECTIVITY")?;
            let kind = self.cursor.expect_word("the type of the point indices")?;
            let kind = scalar(&self.cursor, kind)?;
            let connectivity = self.integers(second, kind, "the index of a point")?;
            let mut ends = Vec::with_capacity(offsets.len());
            let mut last = 0;
            for (i, &offset) in offsets.iter().enumerate() {
                let sound = usize::try_from(offset).ok().filter(|o| *o >= last && *o <= connectivity.len());
                let Some(offset) = sound.filter(|o| i > 0 || *o == 0) else {
                    return Err(SyntaxError {
                        at,
                        found: format!("the offset {offset} of cell {i}"),
                        expected: format!(
                            "an offset between {last} and {}, 0 for the first",
                            connectivity.len()
                        ),
                    });
                };
                last = offset;
                if i > 0 {
                    ends.push(offset);
                }
            }
            return Ok((ends, connectivity));
        }
        let list = self.integers(second, Scalar::I32, "the length or a point of a cell")?;
        let mut ends = Vec::new();
        let mut points = Vec::with_capacity(list.len());
        let mut rest = list.as_slice();
        while let Some((&length, tail)) = rest.split_first() {
            let Some(cell) = usize::try_from(length).ok().and_then(|length| tail.get(..length)) else {
                return Err(SyntaxError {
                    at,
                    found: format!("cell {} of {length} points", ends.len()),
                    expected: format!("at most the {} numbers that are left", tail.len()),
                });
            };
            points.extend_from_slice(cell);
            ends.push(points.len());
            rest = &tail[cell.len()..];
        }
        if ends.len() as i64 != first {
            return Err(SyntaxError {
                at,
                found: format!("{} cells", ends.len()),
                expected: format!("{first} cells, as announced"),
            });
        }
        Ok((ends, points))
    }

    /// Passes over `FIELD name arrays`, which may stand anywhere.
    fn skip_field(&mut self) -> Parsed<()> {
        self.cursor.expect_word("the name of the field")?;
        let arrays = self.cursor.count("the number of arrays", 1)?;
        for _ in 0..arrays {
            let name = self.cursor.expect_word("the name of an array")?;
            if name == b"METADATA" {
                self.skip_metadata();
                self.cursor.expect_word("the name of an array")?;
            }
            let components = self.cursor.integer("the number of components")?;
            let tuples = self.cursor.integer("the number of tuples")?;
            let kind = self.cursor.expect_word("the type of the array")?;
            let total = components.checked_mul(tuples).unwrap_or(i64::MAX);
            if kind == b"string" {
                return self.cursor.error("\"string\"", "an array of numbers");
            }
            let kind = scalar(&self.cursor, kind)?;
            let count = self.begin(total, kind, "the size of an array")?;
            if self.text {
                for _ in 0..count {
                    self.cursor.expect_word("a number")?;
                }
            } else {
                self.cursor.take(count * kind.size(), "an array")?;
            }
        }
        Ok(())
    }

    /// Metadata end with an empty line.
    fn skip_metadata(&mut self) {
        self.cursor.line();
        while self.cursor.line().is_some_and(|line| !line.trim_ascii().is_empty()) {}
    }
}

/// Reads a legacy VTK file. Point and cell attributes are passed over.
pub fn parse(bytes: &[u8]) -> Parsed<AnyMesh> {
    let mut cursor = Cursor::new(bytes);
    cursor.order = ByteOrder::Big;
    for keyword in ["#", "vtk", "DataFile", "Version"] {
        cursor.keyword(keyword)?;
    }
    let version = cursor.expect_word("the version of the format")?;
    let major = match version.first() {
        Some(digit @ b'1'..=b'5') => digit - b'0',
        _ => return cursor.error(quote(version), "a version from 1.0 to 5.1"),
    };
    cursor.end_line("the end of the line")?;
    // The title is free text.
    cursor.rest_of_line();
    let form = cursor.expect_word("ASCII or BINARY")?;
    let text = match form.to_ascii_uppercase().as_slice() {
        b"ASCII" => true,
        b"BINARY" => false,
        _ => return cursor.error(quote(form), "ASCII or BINARY"),
    };
    let mut reader = Reader { cursor, text };
    reader.cursor.keyword("DATASET")?;
    let dataset = reader.cursor.expect_word("the kind of data set")?;
    match dataset.to_ascii_uppercase().as_slice() {
        b"POLYDATA" | b"UNSTRUCTURED_GRID" => parse_dataset(&mut reader, major >= 5),
        _ => reader.cursor.error(quote(dataset), "POLYDATA or UNSTRUCTURED_GRID"),
    }
}

fn parse_dataset(reader: &mut Reader, offsets_apart: bool) -> Parsed<AnyMesh> {
    let mut mesh = AnyMesh::default();
    let mut cells: Option<(Location, Vec<usize>, Vec<i64>)> = None;
    while let Some(word) = reader.cursor.word() {
        let at = reader.cursor.here();
        match word.to_ascii_uppercase().as_slice() {
            b"POINTS" => {
                let count = reader.cursor.integer("the number of points")?;
                let kind = reader.cursor.expect_word("the type of the coordinates")?;
                let kind = scalar(&reader.cursor, kind)?;
                let numbers = reader.begin(
                    count.checked_mul(3).unwrap_or(i64::MAX),
                    kind,
                    "three coordinates a point",
                )?;
                if numbers / 3 >= u32::MAX as usize {
                    return reader
                        .cursor
                        .error(format!("{count} points"), format!("fewer than {}", u32::MAX));
                }
                mesh.points.clear();
                mesh.points.reserve(numbers / 3);
                for _ in 0..numbers / 3 {
                    let mut x = Vector::<3>::zeros();
                    for axis in 0..3 {
                        x[axis] = reader.real(kind, "a coordinate")?;
                    }
                    mesh.points.push(x);
                }
            }
            b"VERTICES" => {
                reader.cells(offsets_apart)?;
            }
            section @ (b"LINES" | b"POLYGONS" | b"TRIANGLE_STRIPS") => {
                let kind = match section {
                    b"LINES" => 4,
                    b"POLYGONS" => 7,
                    _ => 6,
                };
                let (ends, points) = reader.cells(offsets_apart)?;
                add_cells(&mut mesh, at, &ends, &points, |_| kind)?;
            }
            b"CELLS" => {
                let (ends, points) = reader.cells(offsets_apart)?;
                cells = Some((at, ends, points));
            }
            b"CELL_TYPES" => {
                let count = reader.cursor.integer("the number of cell types")?;
                let types = reader.integers(count, Scalar::I32, "the type of a cell")?;
                let Some((at, ends, points)) = cells.take() else {
                    return reader.cursor.error("CELL_TYPES", "CELLS before CELL_TYPES");
                };
                if types.len() != ends.len() {
                    return Err(SyntaxError {
                        at,
                        found: format!("{} cells and {} types", ends.len(), types.len()),
                        expected: "one type for each cell".into(),
                    });
                }
                add_cells(&mut mesh, at, &ends, &points, |cell| types[cell])?;
            }
            b"FIELD" => reader.skip_field()?,
            b"METADATA" => reader.skip_metadata(),
            // Attributes come after all geometry.
            b"POINT_DATA" | b"CELL_DATA" => break,
            _ => {
                let known = "POINTS, VERTICES, LINES, POLYGONS, TRIANGLE_STRIPS, CELLS, CELL_TYPES, FIELD, METADATA, POINT_DATA or CELL_DATA";
                let at = reader.at();
                return Err(SyntaxError { at, found: quote(word), expected: known.into() });
            }
        }
    }
    match cells {
        Some((at, ..)) => {
            Err(SyntaxError { at, found: "CELLS without CELL_TYPES".into(), expected: "both".into() })
        }
        None => Ok(mesh),
    }
}

fn add_cells(
    mesh: &mut AnyMesh,
    at: Location,
    ends: &[usize],
    points: &[i64],
    kind: impl Fn(usize) -> i64,
) -> Parsed<()> {
    let mut start = 0;
    let mut corners: Vec<u32> = Vec::new();
    for (cell, &end) in ends.iter().enumerate() {
        corners.clear();
        for &p in &points[start..end] {
            corners.push(point_index(p, 0, mesh.points.len(), at)?);
        }
        start = end;
        let wrong = |found: String, expected: &str| {
            Err(SyntaxError { at, found: format!("cell {cell}: {found}"), expected: expected.into() })
        };
        let kind = kind(cell);
        let needed = match kind {
            3 => 2..=2,
            4 => 2..=usize::MAX,
            5 => 3..=3,
            6 | 7 => 3..=usize::MAX,
            8..=10 => 4..=4,
            11 | 12 => 8..=8,
            _ => 0..=usize::MAX,
        };
        if !needed.contains(&corners.len()) {
            return wrong(
                format!("type {kind} with {} points", corners.len()),
                &format!("{} points or more for that type", needed.start()),
            );
        }
        match kind {
            // Single points carry nothing.
            1 | 2 => {}
            3 | 4 => mesh.segments.extend(corners.windows(2).map(|pair| [pair[0], pair[1]])),
            // Every other triangle of a strip is turned round.
            6 => mesh.triangles.extend(corners.windows(3).enumerate().map(|(i, t)| match i % 2 {
                0 => [t[0], t[1], t[2]],
                _ => [t[1], t[0], t[2]],
            })),
            5 | 7 | 8 | 9 => {
                if kind == 8 {
                    // A pixel counts its corners row by row.
                    corners.swap(2, 3);
                }
                if !polygon::split(&mesh.points, &corners, &mut mesh.triangles) {
                    return wrong(
                        format!("a polygon that is not convex with {} corners", corners.len()),
                        &format!("at most {} corners", polygon::MAX_CORNERS),
                    );
                }
            }
            10 => mesh.tetrahedra.push([corners[0], corners[1], corners[2], corners[3]]),
            11 => {
                // A voxel counts x fastest; we count z fastest.
                mesh.hexahedra.push(std::array::from_fn(|c| corners[(c & 1) << 2 | c & 2 | c >> 2]));
            }
            12 => mesh.hexahedra.push(hexahedron_from_rings(&std::array::from_fn(|c| corners[c]))),
            _ => {
                return wrong(
                    format!("type {kind}"),
                    "a line (3, 4), triangle (5, 6), polygon (7), quadrilateral (8, 9), tetrahedron (10), voxel (11) or hexahedron (12)",
                );
            }
        }
    }
    Ok(())
}

/// Writes version 4.2, always as an `UNSTRUCTURED_GRID`: it holds every kind of element, and more readers know it than `POLYDATA`.
pub fn write(mesh: &AnyMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    let form = match encoding {
        Encoding::Text => "ASCII",
        Encoding::Binary => "BINARY",
    };
    write!(
        out,
        "# vtk DataFile Version 4.2\nwritten by splashdown\n{form}\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        mesh.points.len()
    )?;
    for x in &mesh.points {
        match encoding {
            Encoding::Text => writeln!(out, "{:?} {:?} {:?}", x.x, x.y, x.z)?,
            Encoding::Binary => {
                for v in x.iter() {
                    out.write_all(&v.to_be_bytes())?;
                }
            }
        }
    }
    end_block(encoding, out)?;
    let hexahedra: Vec<[u32; 8]> = mesh.hexahedra.iter().map(hexahedron_to_rings).collect();
    let size =
        3 * mesh.segments.len() + 4 * mesh.triangles.len() + 5 * mesh.tetrahedra.len() + 9 * hexahedra.len();
    writeln!(out, "CELLS {} {size}", mesh.element_count())?;
    write_cells(&mesh.segments, encoding, out)?;
    write_cells(&mesh.triangles, encoding, out)?;
    write_cells(&mesh.tetrahedra, encoding, out)?;
    write_cells(&hexahedra, encoding, out)?;
    end_block(encoding, out)?;
    writeln!(out, "CELL_TYPES {}", mesh.element_count())?;
    for (count, kind) in [
        (mesh.segments.len(), 3i32),
        (mesh.triangles.len(), 5),
        (mesh.tetrahedra.len(), 10),
        (mesh.hexahedra.len(), 12),
    ] {
        for _ in 0..count {
            match encoding {
                Encoding::Text => writeln!(out, "{kind}")?,
                Encoding::Binary => out.write_all(&kind.to_be_bytes())?,
            }
        }
    }
    end_block(encoding, out)
}

fn write_cells<const N: usize>(
    cells: &[[u32; N]],
    encoding: Encoding,
    out: &mut impl Write,
) -> io::Result<()> {
    for cell in cells {
        match encoding {
            Encoding::Text => {
                write!(out, "{N}")?;
                for i in cell {
                    write!(out, " {i}")?;
                }
                writeln!(out)?;
            }
            Encoding::Binary => {
                out.write_all(&(N as i32).to_be_bytes())?;
                for i in cell {
                    out.write_all(&(*i as i32).to_be_bytes())?;
                }
            }
        }
    }
    Ok(())
}

/// Binary blocks are followed by a line end.
fn end_block(encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    if encoding == Encoding::Binary { writeln!(out) } else { Ok(()) }
}
