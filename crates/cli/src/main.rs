//! `splashdown`, the program: runs scenes, checks them, shows and exports what they made, and proves the physics.
//!
//! This file only takes the command apart; each subcommand is a file in `commands/`. Exit codes: 0 fine, 1 the physics or a verification
//! failed (or the disk is full), 2 bad input, 130 interrupted.

mod commands;
mod failure;
mod terminal;

use clap::Parser;
use commands::Command;
use std::process::ExitCode;

/// One simulator in which rigid bodies, deformable solids and fluids push on each other in one solve.
#[derive(Parser)]
#[command(name = "splashdown", version, max_term_width = 110, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  splashdown list                          shipped scenes
  splashdown run quickstart                run one of them into runs/quickstart
  splashdown run quickstart --resume       go on after an interruption
  splashdown export runs/quickstart        VTK files for ParaView
  splashdown new mine && splashdown run mine.toml
  splashdown verify 'foundation/*'         prove the physics

Exit codes: 0 fine, 1 the physics or a verification failed or output could not be written, 2 bad input, 130 interrupted.")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command.execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
