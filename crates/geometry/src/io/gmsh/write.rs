//! Writing MSH 4.1 and 2.2.

use super::super::{AnyMesh, ElementKind, Encoding, hexahedron_to_rings};
use super::element_type;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Numbers of text or binary sections.
struct Section<'w, W: Write> {
    out: &'w mut W,
    text: bool,
}

impl<W: Write> Section<'_, W> {
    fn int(&mut self, value: i32) -> io::Result<()> {
        if self.text { write!(self.out, "{value} ") } else { self.out.write_all(&value.to_le_bytes()) }
    }

    fn size(&mut self, value: usize) -> io::Result<()> {
        if self.text {
            write!(self.out, "{value} ")
        } else {
            self.out.write_all(&(value as u64).to_le_bytes())
        }
    }

    fn real(&mut self, value: f64) -> io::Result<()> {
        if self.text { write!(self.out, "{value:?} ") } else { self.out.write_all(&value.to_le_bytes()) }
    }

    /// Ends a line of text.
    fn line(&mut self) -> io::Result<()> {
        if self.text { writeln!(self.out) } else { Ok(()) }
    }

    fn begin(&mut self, name: &str) -> io::Result<()> {
        writeln!(self.out, "${name}")
    }

    fn end(&mut self, name: &str) -> io::Result<()> {
        if !self.text {
            writeln!(self.out)?;
        }
        writeln!(self.out, "$End{name}")
    }
}

/// Elements of one kind that are in the same groups, as Gmsh's entities want them.
struct Block {
    kind: ElementKind,
    entity: i32,
    groups: Vec<i32>,
    elements: Vec<u32>,
}

fn count_of(mesh: &AnyMesh, kind: ElementKind) -> usize {
    match kind {
        ElementKind::Segment => mesh.segments.len(),
        ElementKind::Triangle => mesh.triangles.len(),
        ElementKind::Tetrahedron => mesh.tetrahedra.len(),
        ElementKind::Hexahedron => mesh.hexahedra.len(),
    }
}

const KINDS: [ElementKind; 4] =
    [ElementKind::Segment, ElementKind::Triangle, ElementKind::Tetrahedron, ElementKind::Hexahedron];

/// Blocks in the order in which their elements appear, so that reading gives the elements back in order whenever there are no groups.
fn blocks(mesh: &AnyMesh) -> Vec<Block> {
    let mut blocks = Vec::new();
    // Entity tags count up in each dimension; the same groups in one dimension share an entity.
    let mut entities: BTreeMap<(usize, Vec<i32>), i32> = BTreeMap::new();
    let mut last_entity = [0; 4];
    for kind in KINDS {
        let count = count_of(mesh, kind);
        let mut groups_of = vec![Vec::new(); count];
        for group in mesh.groups.iter().filter(|group| group.kind == kind) {
            for &e in &group.elements {
                if let Some(groups) = groups_of.get_mut(e as usize) {
                    groups.push(group.tag);
                }
            }
        }
        let mut start = 0;
        for run in groups_of.chunk_by(|a, b| a == b) {
            let dimension = kind.dimension();
            let entity = *entities.entry((dimension, run[0].clone())).or_insert_with(|| {
                last_entity[dimension] += 1;
                last_entity[dimension]
            });
            let elements = (start..start + run.len() as u32).collect();
            blocks.push(Block { kind, entity, groups: run[0].clone(), elements });
            start += run.len() as u32;
        }
    }
    blocks
}

/// Are the groups such that a file can hold them?
pub(in super::super) fn check_groups(mesh: &AnyMesh) -> Result<(), String> {
    let mut names: BTreeMap<(usize, i32), &str> = BTreeMap::new();
    for group in &mesh.groups {
        if group.tag <= 0 {
            return Err(format!(
                "group {:?} has the tag {}, but tags must be positive",
                group.name, group.tag
            ));
        }
        if group.name.contains(['"', '\n', '\r']) {
            return Err(format!("the name {:?} of a group has a quotation mark or a line end", group.name));
        }
        let count = count_of(mesh, group.kind);
        if let Some(e) = group.elements.iter().find(|e| **e as usize >= count) {
            return Err(format!(
                "group {:?} names element {e}, but there are {count} of its kind",
                group.name
            ));
        }
        let other = *names.entry((group.kind.dimension(), group.tag)).or_insert(&group.name);
        if other != group.name {
            return Err(format!("groups {other:?} and {:?} have the same tag {}", group.name, group.tag));
        }
    }
    Ok(())
}

/// Writes a version 4.1 file; elements of the same kind keep their order.
pub fn write(mesh: &AnyMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    let text = encoding == Encoding::Text;
    let mut section = Section { out, text };
    section.begin("MeshFormat")?;
    writeln!(section.out, "4.1 {} 8", i32::from(!text))?;
    if !text {
        section.out.write_all(&1i32.to_le_bytes())?;
    }
    section.end("MeshFormat")?;

    write_names(mesh, section.out)?;

    let blocks = blocks(mesh);
    let entities: BTreeMap<(usize, i32), &[i32]> = blocks
        .iter()
        .map(|block| ((block.kind.dimension(), block.entity), block.groups.as_slice()))
        .collect();
    let (mut lower, mut upper) = ([0.0; 3], [0.0; 3]);
    if let Some(first) = mesh.points.first() {
        let bounds = mesh.points.iter().fold((*first, *first), |(l, u), x| (l.inf(x), u.sup(x)));
        (lower, upper) = (bounds.0.into(), bounds.1.into());
    }
    section.begin("Entities")?;
    for dimension in 0..4 {
        section.size(entities.keys().filter(|(d, _)| *d == dimension).count())?;
    }
    section.line()?;
    for ((_, tag), groups) in &entities {
        section.int(*tag)?;
        for bound in lower.iter().chain(&upper) {
            section.real(*bound)?;
        }
        section.size(groups.len())?;
        for group in *groups {
            section.int(*group)?;
        }
        section.size(0)?;
        section.line()?;
    }
    section.end("Entities")?;

    section.begin("Nodes")?;
    // All nodes belong to one entity of the highest dimension, or to the point 1 when there are no elements.
    let (dimension, entity) = entities.keys().next_back().copied().unwrap_or((0, 1));
    let count = mesh.points.len();
    let node_blocks = usize::from(count > 0);
    section.size(node_blocks)?;
    section.size(count)?;
    section.size(node_blocks)?;
    section.size(count)?;
    section.line()?;
    if count > 0 {
        section.int(dimension as i32)?;
        section.int(entity)?;
        section.int(0)?;
        section.size(count)?;
        section.line()?;
        for tag in 1..=count {
            section.size(tag)?;
            section.line()?;
        }
        for x in &mesh.points {
            for v in x.iter() {
                section.real(*v)?;
            }
            section.line()?;
        }
    }
    section.end("Nodes")?;

    section.begin("Elements")?;
    section.size(blocks.len())?;
    section.size(mesh.element_count())?;
    section.size(usize::from(mesh.element_count() > 0))?;
    section.size(mesh.element_count())?;
    section.line()?;
    let mut tag = 0;
    for block in &blocks {
        section.int(block.kind.dimension() as i32)?;
        section.int(block.entity)?;
        section.int(element_type(block.kind))?;
        section.size(block.elements.len())?;
        section.line()?;
        for &e in &block.elements {
            let e = e as usize;
            tag += 1;
            section.size(tag)?;
            for_each_node(mesh, block.kind, e, |node| section.size(node))?;
            section.line()?;
        }
    }
    section.end("Elements")
}

/// Writes a version 2.2 file, for programs that do not read 4.1. An element can be in one group only: the error says which is in more.
pub fn write_version_2(mesh: &AnyMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    let text = encoding == Encoding::Text;
    let blocks = blocks(mesh);
    if let Some(block) = blocks.iter().find(|block| block.groups.len() > 1) {
        let problem = format!(
            "{:?} {} is in the groups {:?}, but version 2.2 allows one",
            block.kind, block.elements[0], block.groups
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let mut section = Section { out, text };
    section.begin("MeshFormat")?;
    writeln!(section.out, "2.2 {} 8", i32::from(!text))?;
    if !text {
        section.out.write_all(&1i32.to_le_bytes())?;
    }
    section.end("MeshFormat")?;
    write_names(mesh, section.out)?;
    section.begin("Nodes")?;
    writeln!(section.out, "{}", mesh.points.len())?;
    for (i, x) in mesh.points.iter().enumerate() {
        section.int(i as i32 + 1)?;
        for v in x.iter() {
            section.real(*v)?;
        }
        section.line()?;
    }
    section.end("Nodes")?;
    section.begin("Elements")?;
    writeln!(section.out, "{}", mesh.element_count())?;
    let mut number = 0;
    for block in &blocks {
        if !text {
            section.int(element_type(block.kind))?;
            section.int(block.elements.len() as i32)?;
            section.int(2)?;
        }
        for &e in &block.elements {
            number += 1;
            section.int(number)?;
            if text {
                section.int(element_type(block.kind))?;
                section.int(2)?;
            }
            section.int(block.groups.first().copied().unwrap_or(0))?;
            section.int(block.entity)?;
            for_each_node(mesh, block.kind, e as usize, |node| section.int(node as i32))?;
            section.line()?;
        }
    }
    section.end("Elements")
}

/// The section of names of physical groups, which is always text.
fn write_names(mesh: &AnyMesh, out: &mut impl Write) -> io::Result<()> {
    let names: BTreeSet<(usize, i32, &str)> = mesh
        .groups
        .iter()
        .filter(|group| !group.name.is_empty())
        .map(|group| (group.kind.dimension(), group.tag, group.name.as_str()))
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    writeln!(out, "$PhysicalNames\n{}", names.len())?;
    for (dimension, tag, name) in names {
        writeln!(out, "{dimension} {tag} \"{name}\"")?;
    }
    writeln!(out, "$EndPhysicalNames")
}

/// Calls `visit` with the numbers, from 1, of an element's nodes in Gmsh's order.
fn for_each_node(
    mesh: &AnyMesh,
    kind: ElementKind,
    element: usize,
    visit: impl FnMut(usize) -> io::Result<()>,
) -> io::Result<()> {
    let rings;
    let nodes: &[u32] = match kind {
        ElementKind::Segment => &mesh.segments[element],
        ElementKind::Triangle => &mesh.triangles[element],
        ElementKind::Tetrahedron => &mesh.tetrahedra[element],
        ElementKind::Hexahedron => {
            rings = hexahedron_to_rings(&mesh.hexahedra[element]);
            &rings
        }
    };
    nodes.iter().map(|i| *i as usize + 1).try_for_each(visit)
}
