//! `splashdown check`.

use crate::failure::Failure;
use crate::terminal;
use clap::Args;
use splashdown_geometry::mesh::{HexahedronMesh, TetrahedronMesh, TriangleMesh};
use splashdown_scene::SceneErrors;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown check mine.toml
  splashdown check scenes/                 every .toml file below
  splashdown check 'scenes/**/*.toml' --json
  splashdown check part.stl body.msh       meshes: closed surfaces, solids without inverted elements")]
pub struct Arguments {
    /// Scene files, folders of them, globs, names of shipped scenes, or mesh files
    #[arg(required = true, value_name = "FILE")]
    scenes: Vec<String>,
    /// Change a field before checking, as in `run`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print JSON: one object a scene with `scene`, `ok`, `problems` and `notes`
    #[arg(long)]
    json: bool,
    /// Print problems only
    #[arg(long, short)]
    quiet: bool,
}

enum Trouble {
    Scene(SceneErrors),
    Other(String),
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let mut scenes = Vec::new();
    for given in &arguments.scenes {
        scenes.extend(expand(given)?);
    }
    let mut reports = Vec::new();
    let mut bad = 0;
    for scene in &scenes {
        let examined = examine(scene, &arguments.set);
        bad += usize::from(examined.is_err());
        let notes = examined.as_ref().map_or(&[][..], Vec::as_slice);
        if arguments.json {
            let problems = match &examined {
                Ok(_) => serde_json::json!([]),
                Err(Trouble::Scene(errors)) => errors.to_json(),
                Err(Trouble::Other(message)) => serde_json::json!([{ "message": message }]),
            };
            let ok = examined.is_ok();
            reports
                .push(serde_json::json!({ "scene": scene, "ok": ok, "problems": problems, "notes": notes }));
            continue;
        }
        match &examined {
            Ok(_) if arguments.quiet => {}
            Ok(notes) => {
                terminal::say(&format!("{} {scene}", terminal::style().green().apply_to("ok")));
                for note in notes {
                    terminal::warn(&format!("{scene}: note: {note}"));
                }
            }
            Err(Trouble::Scene(errors)) => terminal::warn(describe(errors).trim_end()),
            Err(Trouble::Other(message)) => terminal::warn(&format!("{scene}: {message}")),
        }
    }
    if arguments.json {
        terminal::say(&serde_json::Value::from(reports).to_string());
    }
    match bad {
        0 => Ok(()),
        _ if arguments.json => Err(Failure::silent(2)),
        _ => Err(Failure::bad_input(format!("{bad} of {} cannot be used", scenes.len()))),
    }
}

/// One line for each problem that a program can find again, then the same for people with the source.
pub fn describe(errors: &SceneErrors) -> String {
    format!("{errors}\n{}", errors.render(terminal::stderr_has_colour()))
}

/// What is to be known of a scene that can be used.
fn examine(scene: &str, set: &[String]) -> Result<Vec<String>, Trouble> {
    if super::is_mesh_file(Path::new(scene)) {
        return examine_mesh(Path::new(scene)).map(|()| Vec::new()).map_err(Trouble::Other);
    }
    let loaded = splashdown_scene::load(scene, set).map_err(Trouble::Scene)?;
    splashdown_scene::prepare(&loaded.scene).map_err(|error| Trouble::Other(error.to_string()))?;
    Ok(splashdown_scene::notes(&loaded.scene))
}

/// Can the mesh be simulated? A surface must enclose a volume, the elements of a solid must be the right way round.
fn examine_mesh(path: &Path) -> Result<(), String> {
    let mesh = splashdown_geometry::io::read_mesh(path).map_err(|error| error.to_string())?;
    let points = mesh.points;
    if !mesh.hexahedra.is_empty() {
        HexahedronMesh { points: points.clone(), elements: mesh.hexahedra }
            .check_solid()
            .map_err(|e| e.to_string())?;
        if mesh.tetrahedra.is_empty() {
            return Ok(());
        }
    }
    if !mesh.tetrahedra.is_empty() {
        return TetrahedronMesh { points, elements: mesh.tetrahedra }
            .check_solid()
            .map_err(|e| e.to_string());
    }
    TriangleMesh::<3> { points, elements: mesh.triangles }.check_closed().map_err(|e| e.to_string())
}

/// The scenes that one argument stands for.
fn expand(given: &str) -> Result<Vec<String>, Failure> {
    let path = Path::new(given);
    let text = |path: &PathBuf| path.display().to_string();
    if path.is_dir() {
        let files = files_below(path)?;
        let scenes: Vec<String> =
            files.iter().filter(|file| file.extension().is_some_and(|e| e == "toml")).map(text).collect();
        return if scenes.is_empty() {
            Err(Failure::bad_input(format!("{given} holds no .toml file")))
        } else {
            Ok(scenes)
        };
    }
    if path.exists() || !given.contains(['*', '?', '[', '{']) {
        return Ok(vec![given.to_owned()]);
    }
    let glob = splashdown_verify::Glob::new(given)
        .map_err(|error| Failure::bad_input(format!("`{given}` is not a pattern: {error}")))?;
    // The part before the first wildcard is a plain path.
    let base: PathBuf = path
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
    let files = if base.is_dir() { files_below(&base)? } else { vec![] };
    let scenes: Vec<String> = files
        .iter()
        .filter(|file| glob.is_path_match(&file.strip_prefix("./").unwrap_or(file).to_string_lossy()))
        .map(text)
        .collect();
    if scenes.is_empty() { Err(Failure::bad_input(format!("no file matches `{given}`"))) } else { Ok(scenes) }
}

/// All files below a folder, in order. Links to folders are not followed, so there is no way round in circles.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed =
        |error: std::io::Error| Failure::bad_input(format!("cannot read {}: {error}", folder.display()));
    let mut entries = std::fs::read_dir(folder)
        .and_then(|entries| {
            entries.map(|entry| entry.map(|e| (e.path(), e.file_type()))).collect::<Result<Vec<_>, _>>()
        })
        .map_err(failed)?;
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let mut files = Vec::new();
    for (path, kind) in entries {
        match kind.map_err(failed)? {
            kind if kind.is_dir() => files.extend(files_below(&path)?),
            _ => files.push(path),
        }
    }
    Ok(files)
}
