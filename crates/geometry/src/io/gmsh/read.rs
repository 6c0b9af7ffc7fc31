//! Reading MSH 2.x and 4.1.

use super::super::cursor::{Cursor, quote};
use super::super::error::Location;
use super::super::scalar::{ByteOrder, Scalar};
use super::super::{AnyMesh, ElementKind, Group, SyntaxError, hexahedron_from_rings, polygon};
use super::{KNOWN_TYPES, point_count};
use splashdown_math::Vector;
use std::collections::{BTreeMap, HashMap};

type Parsed<T> = Result<T, SyntaxError>;

struct Reader<'a> {
    cursor: Cursor<'a>,
    text: bool,
    /// Type of counts and tags in version 4 (`size_t` of the writing machine).
    size: Scalar,
    mesh: AnyMesh,
    /// Point of a node's tag.
    nodes: HashMap<i64, u32>,
    names: BTreeMap<(i64, i64), String>,
    /// Physical groups of the entity (dimension, tag); version 4 only.
    entities: HashMap<(i64, i64), Vec<i64>>,
    groups: BTreeMap<(ElementKind, i64), Vec<u32>>,
}

/// Reads a Gmsh file.
pub fn parse(bytes: &[u8]) -> Parsed<AnyMesh> {
    let mut cursor = Cursor::new(bytes);
    cursor.keyword("$MeshFormat")?;
    let version = cursor.expect_word("the version of the format")?;
    let modern = match version {
        b"2" | b"2.0" | b"2.1" | b"2.2" => false,
        b"4.1" => true,
        other => return cursor.error(quote(other), "version 2.0, 2.1, 2.2 or 4.1"),
    };
    let text = match cursor.integer("0 for text or 1 for binary")? {
        0 => true,
        1 => false,
        other => return cursor.error(format!("{other}"), "0 for text or 1 for binary"),
    };
    let size = match cursor.integer("the size of a number in bytes")? {
        4 if modern => Scalar::U32,
        8 => Scalar::U64,
        other => return cursor.error(format!("{other}"), "8, the size of a double in bytes"),
    };
    if !text {
        cursor.end_line("the end of the line before binary data")?;
        cursor.binary = true;
        let at = cursor.byte();
        let one = cursor.take(4, "the number 1, which tells the byte order")?;
        cursor.order = match one {
            [1, 0, 0, 0] => ByteOrder::Little,
            [0, 0, 0, 1] => ByteOrder::Big,
            other => {
                let expected = "the number 1, which tells the byte order".into();
                return Err(SyntaxError { at, found: format!("{other:?}"), expected });
            }
        };
    }
    cursor.keyword("$EndMeshFormat")?;
    let mut reader = Reader {
        cursor,
        text,
        size,
        mesh: AnyMesh::default(),
        nodes: HashMap::new(),
        names: BTreeMap::new(),
        entities: HashMap::new(),
        groups: BTreeMap::new(),
    };
    let mut nodes_seen = false;
    while let Some(section) = reader.cursor.word() {
        match section {
            b"$PhysicalNames" => reader.physical_names()?,
            b"$Entities" if modern => reader.entities()?,
            b"$Nodes" => {
                if nodes_seen {
                    return reader.cursor.error("a second section $Nodes", "one");
                }
                nodes_seen = true;
                if modern { reader.nodes_modern()? } else { reader.nodes_classic()? }
            }
            b"$Elements" => {
                if !nodes_seen {
                    return reader.cursor.error("$Elements", "$Nodes before $Elements");
                }
                if modern { reader.elements_modern()? } else { reader.elements_classic()? }
            }
            [b'$', name @ ..] if !name.starts_with(b"End") && !name.is_empty() => {
                let end = [b"$End", name].concat();
                reader.cursor.skip_past(&end)?;
                continue;
            }
            other => return reader.cursor.error(quote(other), "a section such as $Nodes or $Elements"),
        }
        let end = format!("$End{}", String::from_utf8_lossy(&section[1..]));
        reader.cursor.keyword(&end)?;
    }
    if !nodes_seen {
        return reader.cursor.error("the end of the file", "a section $Nodes");
    }
    Ok(reader.finish())
}

impl Reader<'_> {
    fn at(&self) -> Location {
        if self.text { self.cursor.here() } else { self.cursor.byte() }
    }

    fn number(&mut self, kind: Scalar, what: &str) -> Parsed<i64> {
        if !self.text {
            return self.cursor.binary_integer(kind, what);
        }
        let value = self.cursor.integer(what)?;
        if kind == Scalar::I32 && i32::try_from(value).is_err() {
            return self.cursor.error(format!("{value}"), format!("{what}, a 32-bit integer"));
        }
        Ok(value)
    }

    fn real(&mut self, what: &str) -> Parsed<f64> {
        if self.text { self.cursor.real(what) } else { self.cursor.binary_real(Scalar::F64, what) }
    }

    /// A count of items that take at least `words` words of text or `bytes` bytes.
    fn count(&mut self, kind: Scalar, what: &str, words: usize, bytes: usize) -> Parsed<usize> {
        let at = self.at();
        let value = self.number(kind, what)?;
        self.cursor.check_count(value, what, if self.text { 2 * words } else { bytes }, at)
    }

    /// Binary data of a section begin on the line after its name.
    fn begin_section(&mut self) -> Parsed<()> {
        if self.text { Ok(()) } else { self.cursor.end_line("the end of the line before binary data") }
    }

    fn physical_names(&mut self) -> Parsed<()> {
        // Always text.
        let count = self.cursor.count("the number of physical names", 6)?;
        for _ in 0..count {
            let dimension = self.cursor.integer("the dimension of a physical group")?;
            let tag = self.cursor.integer("the tag of a physical group")?;
            let rest = self.cursor.rest_of_line();
            let name = rest.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\""));
            let Some(name) = name else {
                return self.cursor.error(quote(rest), "the name of a physical group in quotation marks");
            };
            self.names.insert((dimension, tag), String::from_utf8_lossy(name).into_owned());
        }
        Ok(())
    }

    fn entities(&mut self) -> Parsed<()> {
        self.begin_section()?;
        let mut counts = [0; 4];
        for (dimension, count) in counts.iter_mut().enumerate() {
            let what = [
                "the number of points",
                "the number of curves",
                "the number of surfaces",
                "the number of volumes",
            ];
            *count = self.count(self.size, what[dimension], 5, 4 + 24 + self.size.size())?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let tag = self.number(Scalar::I32, "the tag of an entity")?;
                let bounds = if dimension == 0 { 3 } else { 6 };
                for _ in 0..bounds {
                    // The box around an empty entity is written with infinities.
                    if self.text {
                        self.cursor.expect_word("a bound of an entity")?;
                    } else {
                        self.cursor.take(8, "a bound of an entity")?;
                    }
                }
                let physical = self.count(self.size, "the number of physical groups", 1, 4)?;
                let mut tags = Vec::with_capacity(physical);
                for _ in 0..physical {
                    tags.push(self.number(Scalar::I32, "the tag of a physical group")?);
                }
                self.entities.insert((dimension as i64, tag), tags);
                if dimension > 0 {
                    let boundary = self.count(self.size, "the number of bounding entities", 1, 4)?;
                    for _ in 0..boundary {
                        self.number(Scalar::I32, "the tag of a bounding entity")?;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_node(&mut self, tag: i64, x: Vector<3>) -> Parsed<()> {
        let at = self.at();
        let number = self.mesh.points.len() as u32;
        if self.mesh.points.len() >= u32::MAX as usize - 1 {
            return Err(SyntaxError {
                at,
                found: "more nodes".into(),
                expected: format!("fewer than {}", u32::MAX),
            });
        }
        if self.nodes.insert(tag, number).is_some() {
            return Err(SyntaxError {
                at,
                found: format!("node {tag} again"),
                expected: "every node once".into(),
            });
        }
        self.mesh.points.push(x);
        Ok(())
    }

    fn position(&mut self) -> Parsed<Vector<3>> {
        let mut x = Vector::<3>::zeros();
        for axis in 0..3 {
            x[axis] = self.real("a coordinate")?;
        }
        Ok(x)
    }

    fn nodes_classic(&mut self) -> Parsed<()> {
        let count = self.cursor.count("the number of nodes", if self.text { 8 } else { 28 })?;
        self.begin_section()?;
        self.mesh.points.reserve(count);
        self.nodes.reserve(count);
        for _ in 0..count {
            let tag = self.number(Scalar::I32, "the number of a node")?;
            let x = self.position()?;
            self.add_node(tag, x)?;
        }
        Ok(())
    }

    fn nodes_modern(&mut self) -> Parsed<()> {
        self.begin_section()?;
        let size = self.size;
        let blocks = self.count(size, "the number of node blocks", 4, 12 + size.size())?;
        let total = self.count(size, "the number of nodes", 4, 24 + size.size())?;
        self.number(size, "the smallest node tag")?;
        self.number(size, "the largest node tag")?;
        self.mesh.points.reserve(total);
        self.nodes.reserve(total);
        let mut tags = Vec::new();
        for _ in 0..blocks {
            let dimension = self.number(Scalar::I32, "the dimension of an entity")?;
            self.number(Scalar::I32, "the tag of an entity")?;
            let parametric = self.number(Scalar::I32, "0 or 1 for parametric coordinates")?;
            let extra = match (parametric, dimension) {
                (0, 0..=3) => 0,
                (1, 0..=3) => dimension,
                _ => {
                    return Err(SyntaxError {
                        at: self.at(),
                        found: format!("dimension {dimension}, parametric {parametric}"),
                        expected: "a dimension from 0 to 3 and 0 or 1".into(),
                    });
                }
            };
            let count = self.count(size, "the number of nodes in a block", 4, 24 + size.size())?;
            tags.clear();
            for _ in 0..count {
                tags.push(self.number(size, "the tag of a node")?);
            }
            for &tag in &tags {
                let x = self.position()?;
                for _ in 0..extra {
                    self.real("a parametric coordinate")?;
                }
                self.add_node(tag, x)?;
            }
        }
        if self.mesh.points.len() != total {
            let found = format!("{} nodes", self.mesh.points.len());
            return Err(SyntaxError { at: self.at(), found, expected: format!("{total}, as announced") });
        }
        Ok(())
    }

    fn element(&mut self, element_type: i64, corners: &[i64], physical: &[i64], at: Location) -> Parsed<()> {
        let mut points = [0u32; 8];
        for (point, tag) in points.iter_mut().zip(corners) {
            match self.nodes.get(tag) {
                Some(number) => *point = *number,
                None => {
                    return Err(SyntaxError {
                        at,
                        found: format!("node {tag}"),
                        expected: "the number of a node in $Nodes".into(),
                    });
                }
            }
        }
        let mesh = &mut self.mesh;
        let (kind, first, last) = match element_type {
            1 => {
                mesh.segments.push([points[0], points[1]]);
                (ElementKind::Segment, mesh.segments.len() - 1, mesh.segments.len())
            }
            2 | 3 => {
                let first = mesh.triangles.len();
                polygon::split(&mesh.points, &points[..corners.len()], &mut mesh.triangles);
                (ElementKind::Triangle, first, mesh.triangles.len())
            }
            4 => {
                mesh.tetrahedra.push([points[0], points[1], points[2], points[3]]);
                (ElementKind::Tetrahedron, mesh.tetrahedra.len() - 1, mesh.tetrahedra.len())
            }
            5 => {
                mesh.hexahedra.push(hexahedron_from_rings(&points));
                (ElementKind::Hexahedron, mesh.hexahedra.len() - 1, mesh.hexahedra.len())
            }
            // Points carry nothing.
            _ => return Ok(()),
        };
        for &tag in physical {
            self.groups.entry((kind, tag)).or_default().extend(first as u32..last as u32);
        }
        Ok(())
    }

    fn elements_classic(&mut self) -> Parsed<()> {
        let total = self.cursor.count("the number of elements", if self.text { 6 } else { 4 })?;
        self.begin_section()?;
        let mut done = 0;
        let mut tags = Vec::new();
        let mut corners = [0; 8];
        while done < total {
            // Text gives type and number of tags with each element, binary with each run of elements.
            let (element_type, run, tag_count) = if self.text {
                self.cursor.integer("the number of an element")?;
                let element_type = self.cursor.integer("the type of an element")?;
                (element_type, 1, self.cursor.count("the number of tags", 2)?)
            } else {
                let element_type = self.number(Scalar::I32, "the type of elements")?;
                let run = self.count(Scalar::I32, "the number of elements in a run", 1, 8)?;
                (element_type, run, self.count(Scalar::I32, "the number of tags", 1, 4)?)
            };
            let Some(needed) = point_count(element_type) else {
                return Err(SyntaxError {
                    at: self.at(),
                    found: format!("element type {element_type}"),
                    expected: KNOWN_TYPES.into(),
                });
            };
            if run == 0 || run > total - done {
                return Err(SyntaxError {
                    at: self.at(),
                    found: format!("a run of {run} elements"),
                    expected: format!("between 1 and the {} that are left", total - done),
                });
            }
            for _ in 0..run {
                if !self.text {
                    self.number(Scalar::I32, "the number of an element")?;
                }
                tags.clear();
                for _ in 0..tag_count {
                    tags.push(self.number(Scalar::I32, "a tag of an element")?);
                }
                for corner in &mut corners[..needed] {
                    *corner = self.number(Scalar::I32, "a node of an element")?;
                }
                let at = self.at();
                // The first tag is the physical group, 0 for none.
                let physical: &[i64] = match tags.first() {
                    Some(0) | None => &[],
                    Some(_) => &tags[..1],
                };
                self.element(element_type, &corners[..needed], physical, at)?;
            }
            done += run;
        }
        Ok(())
    }

    fn elements_modern(&mut self) -> Parsed<()> {
        self.begin_section()?;
        let size = self.size;
        let blocks = self.count(size, "the number of element blocks", 4, 12 + size.size())?;
        let total = self.count(size, "the number of elements", 2, 2 * size.size())?;
        self.number(size, "the smallest element tag")?;
        self.number(size, "the largest element tag")?;
        let mut done = 0;
        let mut corners = [0; 8];
        for _ in 0..blocks {
            let dimension = self.number(Scalar::I32, "the dimension of an entity")?;
            let entity = self.number(Scalar::I32, "the tag of an entity")?;
            let element_type = self.number(Scalar::I32, "the type of elements")?;
            let Some(needed) = point_count(element_type) else {
                return Err(SyntaxError {
                    at: self.at(),
                    found: format!("element type {element_type}"),
                    expected: KNOWN_TYPES.into(),
                });
            };
            let count = self.count(
                size,
                "the number of elements in a block",
                1 + needed,
                (1 + needed) * size.size(),
            )?;
            let mut physical = self.entities.get(&(dimension, entity)).cloned().unwrap_or_default();
            // A negative tag says that the group has the other orientation; an element is in a group once.
            for tag in &mut physical {
                *tag = tag.saturating_abs();
            }
            physical.sort_unstable();
            physical.dedup();
            for _ in 0..count {
                self.number(size, "the tag of an element")?;
                for corner in &mut corners[..needed] {
                    *corner = self.number(size, "a node of an element")?;
                }
                let at = self.at();
                self.element(element_type, &corners[..needed], &physical, at)?;
            }
            done += count;
        }
        if done != total {
            let found = format!("{done} elements");
            return Err(SyntaxError { at: self.at(), found, expected: format!("{total}, as announced") });
        }
        Ok(())
    }

    fn finish(self) -> AnyMesh {
        let mut mesh = self.mesh;
        mesh.groups = self
            .groups
            .into_iter()
            .filter_map(|((kind, tag), elements)| {
                let name = self.names.get(&(kind.dimension() as i64, tag)).cloned().unwrap_or_default();
                Some(Group { name, tag: i32::try_from(tag).ok()?, kind, elements })
            })
            .collect();
        mesh
    }
}
