//! `splashdown export`.

use crate::failure::Failure;
use crate::terminal;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use splashdown_scene::export::{self, ExportError};
use splashdown_scene::run_folder::Layout;
use std::ops::RangeInclusive;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown export runs/quickstart                          then open the .pvd file in ParaView
  splashdown export runs/quickstart --format obj --frames 0..30 --out meshes
  splashdown export runs/quickstart --format ply --frames 12
  splashdown export runs/smoke-ring --format vdb             smoke for Blender and Houdini
  splashdown export runs/quickstart --format gltf            one animated .glb for Blender and web pages")]
pub struct Arguments {
    /// Folder of the run
    run: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t = Format::Vtk)]
    format: Format,
    /// Frames to write: `12`, `3..`, `..7`, or `3..7` with both ends included [default: all]
    #[arg(long, value_name = "FIRST..LAST", value_parser = frames)]
    frames: Option<RangeInclusive<u64>>,
    /// Folder for the files [default: export-FORMAT in the run's folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files of the same names in a folder that is not empty
    #[arg(long)]
    overwrite: bool,
    /// Print JSON: what was written
    #[arg(long)]
    json: bool,
    /// Print nothing if all goes well
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// VTK XML files and a .pvd series, for ParaView
    Vtk,
    /// One binary PLY a frame
    Ply,
    /// One OBJ a frame
    Obj,
    /// One animated glTF file (.glb)
    Gltf,
    /// One USD file with time samples (.usda)
    Usd,
    /// One OpenVDB file a frame, with the grids of fluids
    Vdb,
}

pub fn frames(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str, default: u64| match text {
        "" => Ok(default),
        text => text.parse::<u64>().map_err(|_| format!("`{text}` is not a frame number")),
    };
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first, 0)?, number(last.strip_prefix('=').unwrap_or(last), u64::MAX)?),
        None if text.is_empty() => return Err("give a frame number or FIRST..LAST".into()),
        None => (number(text, 0)?, number(text, 0)?),
    };
    if first > last { Err(format!("{first} comes after {last}")) } else { Ok(first..=last) }
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let format = match arguments.format {
        Format::Vtk => export::Format::Vtk,
        Format::Ply => export::Format::Ply,
        Format::Obj => export::Format::Obj,
        Format::Gltf => export::Format::Gltf,
        Format::Usd => export::Format::Usd,
        Format::Vdb => export::Format::Vdb,
    };
    let out =
        arguments.out.clone().unwrap_or_else(|| arguments.run.join(format!("export-{}", format.name())));
    let range = arguments.frames.clone().unwrap_or(0..=u64::MAX);
    let bar = if arguments.quiet || arguments.json { ProgressBar::hidden() } else { ProgressBar::new(0) };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} frame {pos}/{len}  {eta} left") {
        bar.set_style(style);
    }
    let mut progress = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let layout = Layout::new(&arguments.run);
    let exported = export::export_run(&layout, format, range, &out, arguments.overwrite, &mut progress);
    bar.finish_and_clear();
    let exported = exported.map_err(|error| match &error {
        ExportError::Storage(storage) if !storage.is_bad_input() => Failure::failed(error),
        _ => Failure::bad_input(error),
    })?;
    for name in &exported.left_out {
        let kind = if format == export::Format::Vdb { "no grid" } else { "a grid" };
        terminal::warn(&format!(
            "note: `{name}` is {kind}, which {} files cannot hold; use --format vtk",
            format.name()
        ));
    }
    if arguments.json {
        terminal::say(&serde_json::to_string(&exported).map_err(Failure::failed)?);
    } else if !arguments.quiet {
        terminal::say(&format!(
            "{} frames, {} files in {}",
            exported.frames,
            exported.files.len(),
            exported.folder.display()
        ));
        if let Some(collection) = &exported.collection {
            let program = if format == export::Format::Vtk { " in ParaView" } else { "" };
            terminal::say(&format!("open {}{program}", collection.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::frames;

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(frames("3..7"), Ok(3..=7));
        assert_eq!(frames("3..=7"), Ok(3..=7));
        assert_eq!(frames("3.."), Ok(3..=u64::MAX));
        assert_eq!(frames("..7"), Ok(0..=7));
        assert_eq!(frames("12"), Ok(12..=12));
        for wrong in ["", "x", "7..3", "-1", "1..x", "1.5"] {
            assert!(frames(wrong).is_err(), "{wrong}");
        }
    }
}
