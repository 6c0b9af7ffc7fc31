//! `splashdown info`.

use super::check::describe;
use crate::failure::Failure;
use crate::terminal;
use clap::Args;
use serde_json::{Value, json};
use splashdown_geometry::mesh::{TetrahedronMesh, TriangleMesh};
use splashdown_scene::checkpoint::Checkpoint;
use splashdown_scene::frame::format::{EXTENSION as FRAME, FrameHeader};
use splashdown_scene::frame::{Attribute, Frame, Geometry, Part};
use splashdown_scene::log::{self, Drift};
use splashdown_scene::run_folder::{Layout, RunInfo};
use splashdown_scene::{Scene, checkpoint, storage};
use std::path::Path;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown info quickstart
  splashdown info runs/quickstart
  splashdown info runs/quickstart/frames/frame-000010.spf --json
  splashdown info bunny.obj")]
pub struct Arguments {
    /// A scene (name or file), a run's folder, a frame, a checkpoint or a mesh file
    what: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let value = examine(&arguments.what)?;
    if arguments.json {
        terminal::say(&value.to_string());
    } else {
        let mut lines = Vec::new();
        outline(&value, 0, &mut lines);
        for line in lines {
            terminal::say(&line);
        }
    }
    Ok(())
}

fn examine(what: &str) -> Result<Value, Failure> {
    let path = Path::new(what);
    if path.is_dir() {
        return run(&Layout::new(path));
    }
    let extension =
        path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        FRAME => frame(path),
        checkpoint::EXTENSION => saved_state(path),
        _ if super::is_mesh_file(path) => mesh(path),
        _ => scene(what),
    }
}

fn scene(what: &str) -> Result<Value, Failure> {
    let loaded = splashdown_scene::load(what, &[])
        .map_err(|errors| Failure::bad_input(describe(&errors).trim_end()))?;
    Ok(scene_value(&loaded.scene))
}

fn scene_value(scene: &Scene) -> Value {
    let particles: u64 = scene.deformable.iter().map(|body| body.geometry.particle_count()).sum();
    json!({
        "kind": "scene",
        "title": scene.title,
        "summary": scene.summary,
        "dimension": scene.dimension,
        "end": scene.time.end,
        "frames": scene.time.last_frame() + 1,
        "longest_step": scene.time.longest_step(),
        "rigid_bodies": scene.rigid_copies().count(),
        "deformable_bodies": scene.deformable.len(),
        "particles": particles,
    })
}

fn run(layout: &Layout) -> Result<Value, Failure> {
    let info = RunInfo::read(layout).map_err(Failure::bad_input)?;
    let frames = layout.list_frames().map_err(Failure::bad_input)?;
    let bytes: u64 = frames.iter().filter_map(|(_, path)| path.metadata().ok()).map(|file| file.len()).sum();
    let checkpoints = checkpoint::list(&layout.checkpoints()).map_err(Failure::bad_input)?;
    let records = log::read(&layout.log()).unwrap_or_default();
    let drift = match (records.first(), records.last()) {
        (Some(first), Some(last)) => Some(Drift::between(&first.diagnostics, &last.diagnostics)),
        _ => None,
    };
    let iterations: usize =
        records.iter().flat_map(|record| &record.solves).map(|solve| solve.iterations).sum();
    Ok(json!({
        "kind": "run",
        "scene": info.scene,
        "dimension": info.dimension,
        "status": info.status,
        "message": info.message,
        "time": records.last().map_or(info.time, |record| record.diagnostics.time),
        "steps": records.last().map_or(info.step, |record| record.diagnostics.step),
        "frames": frames.len(),
        "frames_size": terminal::bytes(bytes),
        "checkpoints": checkpoints.iter().map(|(step, _)| step).collect::<Vec<_>>(),
        "log_records": records.len(),
        "solver_iterations": iterations,
        "drift": drift,
        "seconds": info.sessions.iter().map(|session| session.seconds).sum::<f64>(),
        "sessions": info.sessions.len(),
        "program": info.version,
    }))
}

fn frame(path: &Path) -> Result<Value, Failure> {
    let in_file = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", path.display()));
    let file = storage::read(path).map_err(Failure::bad_input)?;
    let header = FrameHeader::decode(&file).map_err(|error| in_file(&error))?;
    let frame = Frame::read(path).map_err(|error| in_file(&error))?;
    let stored: u64 = header.parts.iter().flat_map(|part| &part.arrays).map(|array| array.bytes).sum();
    Ok(json!({
        "kind": "frame",
        "dimension": frame.dimension,
        "frame": frame.index,
        "step": frame.step,
        "time": frame.time,
        "size": terminal::bytes(file.len() as u64),
        "compression": frame.memory_bytes() as f64 / (stored as f64).max(1.0),
        "parts": frame.parts.iter().map(|part| part_value(part, frame.dimension)).collect::<Vec<_>>(),
    }))
}

fn part_value(part: &Part, dimension: usize) -> Value {
    let mut value = json!({
        "name": part.name,
        "kind": part.geometry.kind(),
        "attributes": part.attributes.iter().map(attribute_value).collect::<Vec<_>>(),
    });
    let numbers = match &part.geometry {
        Geometry::Bodies(bodies) => {
            let (surface, _) = bodies.tessellate(dimension);
            json!({
                "bodies": bodies.names,
                "positions": bodies.positions.chunks(dimension).collect::<Vec<_>>(),
                "surface_points": surface.positions.len(),
                "surface_triangles": surface.triangles.len(),
            })
        }
        Geometry::Points { positions } => {
            json!({ "points": positions.len() / dimension, "bounds": bounds(positions, dimension) })
        }
        Geometry::Mesh { element, positions, elements } => json!({
            "points": positions.len() / dimension,
            "elements": elements.len() / element.corners(),
            "bounds": bounds(positions, dimension),
        }),
        Geometry::Grid { origin, spacing, cells } => {
            json!({ "origin": origin, "spacing": spacing, "cells": cells })
        }
    };
    if let (Some(value), Some(numbers)) = (value.as_object_mut(), numbers.as_object()) {
        value.extend(numbers.clone());
    }
    value
}

fn attribute_value(attribute: &Attribute) -> Value {
    let entries = attribute.data.len() / attribute.components.max(1);
    json!({
        "name": attribute.name,
        "unit": attribute.unit,
        "on": attribute.association,
        "entries": entries,
        "components": attribute.components,
        "range": attribute.data.range(),
    })
}

/// Lowest and highest corner of the points.
fn bounds(positions: &[f64], dimension: usize) -> Option<[Vec<f64>; 2]> {
    let mut points = positions.chunks_exact(dimension);
    let first = points.next()?.to_vec();
    Some(points.fold([first.clone(), first], |[mut low, mut high], point| {
        for axis in 0..dimension {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
        [low, high]
    }))
}

fn saved_state(path: &Path) -> Result<Value, Failure> {
    let checkpoint =
        Checkpoint::read(path).map_err(|error| Failure::bad_input(format!("{}: {error}", path.display())))?;
    Ok(json!({ "kind": "checkpoint", "place": checkpoint.place, "state_bytes": checkpoint.state.len() }))
}

fn mesh(path: &Path) -> Result<Value, Failure> {
    let mesh = splashdown_geometry::io::read_mesh(path).map_err(Failure::bad_input)?;
    let positions: Vec<f64> = mesh.points.iter().flat_map(|point| point.iter().copied()).collect();
    let mut value = json!({
        "kind": "mesh",
        "points": mesh.points.len(),
        "segments": mesh.segments.len(),
        "triangles": mesh.triangles.len(),
        "tetrahedra": mesh.tetrahedra.len(),
        "hexahedra": mesh.hexahedra.len(),
        "bounds": bounds(&positions, 3),
    });
    // What a simulation would want to know: does the surface enclose a volume, and is the solid the right way round?
    if mesh.tetrahedra.is_empty() && mesh.hexahedra.is_empty() && !mesh.triangles.is_empty() {
        let surface = TriangleMesh::<3> { points: mesh.points, elements: mesh.triangles };
        let closed = surface.check_closed();
        value["closed"] = closed.is_ok().into();
        value["problem"] = closed.as_ref().err().map(ToString::to_string).into();
        value["enclosed_volume"] = closed.and_then(|()| surface.enclosed_volume()).ok().into();
    } else if !mesh.tetrahedra.is_empty() {
        let solid = TetrahedronMesh { points: mesh.points, elements: mesh.tetrahedra };
        value["problem"] = solid.check_solid().err().map(|problem| problem.to_string()).into();
        value["volume"] =
            (0..solid.elements.len()).map(|element| solid.element_measure(element)).sum::<f64>().into();
    }
    Ok(value)
}

/// JSON as an indented outline: what a person reads.
fn outline(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let Some(object) = value.as_object() else {
        lines.push(format!("{indent}{}", short(value)));
        return;
    };
    for (key, value) in object {
        let label = terminal::style().bold().apply_to(key.replace('_', " ")).to_string();
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::Object(_) => {
                lines.push(format!("{indent}{label}"));
                outline(value, depth + 1, lines);
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                lines.push(format!("{indent}{label}"));
                for item in items {
                    outline(item, depth + 1, lines);
                }
            }
            _ => lines.push(format!("{indent}{label}  {}", short(value))),
        }
    }
}

fn short(value: &Value) -> String {
    /// Longest list that is shown whole.
    const SHOWN: usize = 6;
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let shown: Vec<String> = items.iter().take(SHOWN).map(short).collect();
            let more = items.len().saturating_sub(SHOWN);
            let rest = if more > 0 { format!(" ... and {more} more") } else { String::new() };
            format!("[{}]{rest}", shown.join(", "))
        }
        other => other.to_string(),
    }
}
