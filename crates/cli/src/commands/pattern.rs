//! `splashdown pattern`.

use crate::failure::Failure;
use crate::terminal;
use clap::Args;
use splashdown_scene::{load, pattern_file, pattern_of, storage};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown pattern broken-wall --body wall --out wall.spp
  splashdown pattern mine.toml --body vase --out vase.spp --set rigid.vase.fracture.seed=7

A scene uses the file with: fracture = { threshold = 20, regions = { pattern = \"wall.spp\" } }
Surfaces that a modelling program made are read and sampled once, not in every run.")]
pub struct Arguments {
    /// Name of a shipped scene, or a scene file
    scene: String,
    /// Rigid body whose `fracture` says what the pattern is
    #[arg(long, value_name = "NAME")]
    body: String,
    /// Pattern file (.spp) to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Change a field of the scene, as in `run`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Replace a file of that name
    #[arg(long)]
    overwrite: bool,
    /// Print nothing if all goes well
    #[arg(long, short)]
    quiet: bool,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let out = &arguments.out;
    if out.extension().is_none_or(|extension| extension != pattern_file::EXTENSION) {
        return Err(Failure::bad_input(format!(
            "{} is no name of a pattern file; expected one that ends in .{}",
            out.display(),
            pattern_file::EXTENSION
        )));
    }
    if out.exists() && !arguments.overwrite {
        return Err(Failure::bad_input(format!("{} exists; --overwrite replaces it", out.display())));
    }
    let loaded = load(&arguments.scene, &arguments.set)
        .map_err(|errors| Failure::bad_input(super::check::describe(&errors).trim_end()))?;
    let (file, regions) = pattern_of(&loaded.scene, &arguments.body).map_err(Failure::bad_input)?;
    storage::write_atomically(out, |writer| writer.write_all(&file)).map_err(Failure::failed)?;
    if !arguments.quiet {
        terminal::say(&format!("wrote {}: {regions} regions, {} bytes", out.display(), file.len()));
    }
    Ok(())
}
