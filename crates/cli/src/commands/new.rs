//! `splashdown new`.

use crate::failure::Failure;
use crate::terminal::{self, shell_word};
use clap::Args;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown new mine            writes mine.toml, in space
  splashdown new scenes/flat.toml --dimension 2")]
pub struct Arguments {
    /// Name of the scene, or the file to write
    name: PathBuf,
    /// Dimension of the scene
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=3))]
    dimension: u8,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let mut path = arguments.name.clone();
    if path.extension().is_none_or(|extension| extension != "toml") {
        path.as_mut_os_string().push(".toml");
    }
    let text = match arguments.dimension {
        2 => include_str!("../templates/starter-2d.toml"),
        _ => include_str!("../templates/starter-3d.toml"),
    };
    let written = OpenOptions::new().write(true).create_new(true).open(&path).and_then(|mut file| {
        // Only a file that this call has made is removed again.
        file.write_all(text.as_bytes()).inspect_err(|_| _ = std::fs::remove_file(&path))
    });
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Failure::bad_input(format!(
                "{} exists already; choose another name",
                path.display()
            )));
        }
        Err(error) => return Err(Failure::bad_input(format!("cannot write {}: {error}", path.display()))),
    }
    let shown = path.display().to_string();
    terminal::say(&format!("wrote {shown}; run it with: splashdown run {}", shell_word(&shown)));
    Ok(())
}
