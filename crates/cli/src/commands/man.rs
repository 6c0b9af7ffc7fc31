//! `splashdown man`.

use crate::failure::Failure;
use crate::{Cli, terminal};
use clap::{Args, CommandFactory};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown man | man -l -
  splashdown man --out ~/.local/share/man/man1")]
pub struct Arguments {
    /// Write one page for the program and one for each command into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let Some(folder) = &arguments.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(Failure::failed)?;
        terminal::emit(&page);
        return Ok(());
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .map_err(|error| Failure::bad_input(format!("cannot write to {}: {error}", folder.display())))?;
    terminal::say(&format!("manual pages in {}", folder.display()));
    Ok(())
}
