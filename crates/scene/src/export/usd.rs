//! USD as text (`.usda`) with time samples: spheres, cubes and meshes that move, meshes and points that change.

use super::motion::{BodyTrack, MeshTrack, Motion};
use super::palette::Rgb;
use crate::frame::{Shape, Surface};
use crate::storage::{StorageError, write_atomically};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

/// Writes the run as `path`. Time codes are the numbers of the frames.
pub(super) fn write(motion: &Motion, scene: &str, dimension: usize, path: &Path) -> Result<(), StorageError> {
    write_atomically(path, |mut out| {
        let rate = match (motion.times.as_slice(), motion.indices.as_slice()) {
            ([a, .., b], [i, .., j]) if b > a => (j - i) as f64 / (b - a),
            _ => 30.0,
        };
        let (first, last) = (motion.indices.first().unwrap_or(&0), motion.indices.last().unwrap_or(&0));
        writeln!(
            out,
            "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = {}\n    metersPerUnit = 1\n    upAxis = \"Y\"\n    timeCodesPerSecond = {rate}\n    framesPerSecond = {rate}\n    startTimeCode = {first}\n    endTimeCode = {last}\n)\n",
            quoted(&format!("Splashdown, {scene}"))
        )?;
        writeln!(out, "def Xform \"World\"\n{{")?;
        let mut names = HashSet::new();
        for body in &motion.bodies {
            write_body(&mut out, body, motion, dimension, &mut names)?;
        }
        for mesh in &motion.meshes {
            write_mesh(&mut out, mesh, motion, &mut names)?;
        }
        writeln!(out, "}}")
    })
}

fn quoted(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_control() || c == '"' || c == '\\' { '_' } else { c }).collect();
    format!("\"{plain}\"")
}

/// A name that USD allows and that is not taken.
fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut made: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if !made.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        made.insert(0, '_');
    }
    let base = made.clone();
    let mut number = 1;
    while !taken.insert(made.clone()) {
        number += 1;
        made = format!("{base}_{number}");
    }
    made
}

fn tuple(values: &[f64]) -> String {
    let list: Vec<String> = values.iter().map(|x| format!("{}", *x as f32)).collect();
    format!("({})", list.join(", "))
}

fn points(surface: &Surface) -> String {
    let list: Vec<String> = surface.positions.iter().map(|point| tuple(point)).collect();
    format!("[{}]", list.join(", "))
}

fn counts(surface: &Surface) -> String {
    format!("[{}]", vec!["3"; surface.triangles.len()].join(", "))
}

fn indices(surface: &Surface) -> String {
    let list: Vec<String> = surface.triangles.iter().flatten().map(u32::to_string).collect();
    format!("[{}]", list.join(", "))
}

/// Values by time code, on one line each.
fn samples(out: &mut dyn Write, name: &str, values: impl Iterator<Item = (u64, String)>) -> io::Result<()> {
    writeln!(out, "        {name}.timeSamples = {{")?;
    for (code, value) in values {
        writeln!(out, "            {code}: {value},")?;
    }
    writeln!(out, "        }}")
}

fn colour(out: &mut dyn Write, [r, g, b]: Rgb) -> io::Result<()> {
    writeln!(out, "        color3f[] primvars:displayColor = [({r}, {g}, {b})]")
}

/// Invisible outside of the frames from the first to the last sample.
fn visibility(out: &mut dyn Write, motion: &Motion, from: usize, to: usize) -> io::Result<()> {
    if from == 0 && to + 1 == motion.indices.len() {
        return Ok(());
    }
    let mut values = Vec::new();
    if from > 0 {
        values.push((motion.indices[0], "\"invisible\"".to_owned()));
    }
    values.push((motion.indices[from], "\"inherited\"".to_owned()));
    if to + 1 < motion.indices.len() {
        values.push((motion.indices[to + 1], "\"invisible\"".to_owned()));
    }
    samples(out, "token visibility", values.into_iter())
}

fn write_body(
    out: &mut dyn Write,
    body: &BodyTrack,
    motion: &Motion,
    dimension: usize,
    names: &mut HashSet<String>,
) -> io::Result<()> {
    let (Some(first), Some(last)) = (body.samples.first(), body.samples.last()) else { return Ok(()) };
    let name = unique(&body.name, names);
    let mut scale = None;
    match &body.shape {
        Shape::Ball { radius } if dimension == 3 => {
            writeln!(out, "    def Sphere \"{name}\"\n    {{\n        double radius = {radius}")?;
            let r = *radius as f32;
            writeln!(out, "        float3[] extent = [(-{r}, -{r}, -{r}), ({r}, {r}, {r})]")?;
        }
        Shape::Box { edges } if dimension == 3 => {
            writeln!(out, "    def Cube \"{name}\"\n    {{\n        double size = 1")?;
            scale = Some(tuple(edges));
        }
        shape => {
            let surface = shape.tessellate(dimension);
            write_surface_head(out, &name, &surface)?;
            writeln!(out, "        point3f[] points = {}", points(&surface))?;
            write_topology(out, &surface)?;
        }
    }
    colour(out, body.colour)?;
    let codes = |place: &usize| motion.indices[*place];
    samples(
        out,
        "double3 xformOp:translate",
        body.samples.iter().map(|(at, [x, y, z], _)| (codes(at), format!("({x}, {y}, {z})"))),
    )?;
    // USD writes the real part first.
    samples(
        out,
        "quatf xformOp:orient",
        body.samples.iter().map(|(at, _, [x, y, z, w])| (codes(at), tuple(&[*w, *x, *y, *z]))),
    )?;
    let mut order = "\"xformOp:translate\", \"xformOp:orient\"".to_owned();
    if let Some(scale) = scale {
        writeln!(out, "        float3 xformOp:scale = {scale}")?;
        order += ", \"xformOp:scale\"";
    }
    writeln!(out, "        uniform token[] xformOpOrder = [{order}]")?;
    visibility(out, motion, first.0, last.0)?;
    writeln!(out, "    }}")
}

fn write_surface_head(out: &mut dyn Write, name: &str, surface: &Surface) -> io::Result<()> {
    let kind = if !surface.triangles.is_empty() {
        "Mesh"
    } else if !surface.lines.is_empty() {
        "BasisCurves"
    } else {
        "Points"
    };
    writeln!(out, "    def {kind} \"{name}\"\n    {{")
}

/// What joins the points, for a shape that keeps it.
fn write_topology(out: &mut dyn Write, surface: &Surface) -> io::Result<()> {
    if !surface.triangles.is_empty() {
        writeln!(out, "        int[] faceVertexCounts = {}", counts(surface))?;
        writeln!(out, "        int[] faceVertexIndices = {}", indices(surface))?;
        writeln!(
            out,
            "        uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = 1"
        )?;
    } else if !surface.lines.is_empty() {
        write_curves(out, surface.lines.len())?;
    }
    Ok(())
}

fn write_curves(out: &mut dyn Write, count: usize) -> io::Result<()> {
    writeln!(out, "        uniform token type = \"linear\"")?;
    writeln!(out, "        int[] curveVertexCounts = [{}]", vec!["2"; count].join(", "))
}

/// Curves repeat the points that several of them share.
fn curve_points(surface: &Surface) -> String {
    let ends = surface.lines.iter().flatten().map(|&end| tuple(&surface.positions[end as usize]));
    format!("[{}]", ends.collect::<Vec<_>>().join(", "))
}

fn write_mesh(
    out: &mut dyn Write,
    track: &MeshTrack,
    motion: &Motion,
    names: &mut HashSet<String>,
) -> io::Result<()> {
    let (Some(first), Some(last)) = (track.samples.first(), track.samples.last()) else { return Ok(()) };
    let name = unique(&track.name, names);
    let code = |place: usize| motion.indices[place];
    let keeps = track.keeps_topology();
    let has_triangles = track.samples.iter().any(|(_, surface)| !surface.triangles.is_empty());
    let has_lines = track.samples.iter().any(|(_, surface)| !surface.lines.is_empty());
    if has_triangles {
        writeln!(out, "    def Mesh \"{name}\"\n    {{")?;
        if keeps {
            write_topology(out, &first.1)?;
        } else {
            samples(
                out,
                "int[] faceVertexCounts",
                track.samples.iter().map(|(at, s)| (code(*at), counts(s))),
            )?;
            samples(
                out,
                "int[] faceVertexIndices",
                track.samples.iter().map(|(at, s)| (code(*at), indices(s))),
            )?;
            writeln!(
                out,
                "        uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = 1"
            )?;
        }
        samples(out, "point3f[] points", track.samples.iter().map(|(at, s)| (code(*at), points(s))))?;
    } else if has_lines {
        writeln!(out, "    def BasisCurves \"{name}\"\n    {{")?;
        if keeps {
            write_curves(out, first.1.lines.len())?;
        } else {
            writeln!(out, "        uniform token type = \"linear\"")?;
            let twos = |s: &Surface| format!("[{}]", vec!["2"; s.lines.len()].join(", "));
            samples(
                out,
                "int[] curveVertexCounts",
                track.samples.iter().map(|(at, s)| (code(*at), twos(s))),
            )?;
        }
        samples(out, "point3f[] points", track.samples.iter().map(|(at, s)| (code(*at), curve_points(s))))?;
    } else {
        writeln!(out, "    def Points \"{name}\"\n    {{")?;
        samples(out, "point3f[] points", track.samples.iter().map(|(at, s)| (code(*at), points(s))))?;
    }
    colour(out, track.colour)?;
    visibility(out, motion, first.0, last.0)?;
    writeln!(out, "    }}")
}
