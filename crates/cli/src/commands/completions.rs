//! `splashdown completions`.

use crate::failure::Failure;
use crate::{Cli, terminal};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown completions bash > ~/.local/share/bash-completion/completions/splashdown
  splashdown completions zsh > ~/.zfunc/_splashdown
  splashdown completions fish > ~/.config/fish/completions/splashdown.fish")]
pub struct Arguments {
    /// Shell to write for
    shell: Shell,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "splashdown", &mut script);
    terminal::emit(&script);
    Ok(())
}
