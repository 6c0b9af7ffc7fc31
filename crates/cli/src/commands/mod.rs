//! One file a subcommand.

mod bench;
mod check;
mod completions;
mod export;
mod info;
mod list;
mod man;
mod new;
mod pattern;
mod plot;
mod render;
mod run;
mod verify;
mod view;

use crate::failure::Failure;
use clap::Subcommand;
use std::path::Path;

/// Is it a mesh, by its ending?
fn is_mesh_file(path: &Path) -> bool {
    let known = ["obj", "stl", "ply", "vtk", "msh"];
    path.extension().is_some_and(|ending| known.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// What the program can do.
#[derive(Subcommand)]
pub enum Command {
    /// Run a scene, or go on with a run
    Run(run::Arguments),
    /// Check scene files without running them, or mesh files
    Check(check::Arguments),
    /// Write a commented scene to start from
    New(new::Arguments),
    /// List the scenes that ship with the program
    List(list::Arguments),
    /// Tell about a scene, a run, a frame, a checkpoint or a mesh
    Info(info::Arguments),
    /// Write the frames of a run for other programs
    Export(export::Arguments),
    /// Plot what the log of a run holds
    Plot(plot::Arguments),
    /// Write the fracture pattern of a body to a file that other scenes use
    Pattern(pattern::Arguments),
    /// Draw pictures or a film of a run
    Render(render::Arguments),
    /// Show a run in the browser, or choose a scene and watch it
    View(view::Arguments),
    /// Measure the simulator against exact and published results
    Verify(verify::Arguments),
    /// Measure speed and memory against written marks
    Bench(bench::Arguments),
    /// Print a script that completes commands in a shell
    Completions(completions::Arguments),
    /// Print the manual page
    Man(man::Arguments),
}

impl Command {
    /// Does it.
    pub fn execute(self) -> Result<(), Failure> {
        match self {
            Self::Run(arguments) => run::execute(&arguments),
            Self::Check(arguments) => check::execute(&arguments),
            Self::New(arguments) => new::execute(&arguments),
            Self::List(arguments) => list::execute(&arguments),
            Self::Info(arguments) => info::execute(&arguments),
            Self::Export(arguments) => export::execute(&arguments),
            Self::Plot(arguments) => plot::execute(&arguments),
            Self::Pattern(arguments) => pattern::execute(&arguments),
            Self::Render(arguments) => render::execute(&arguments),
            Self::View(arguments) => view::execute(&arguments),
            Self::Verify(arguments) => verify::execute(&arguments),
            Self::Bench(arguments) => bench::execute(&arguments),
            Self::Completions(arguments) => completions::execute(&arguments),
            Self::Man(arguments) => man::execute(&arguments),
        }
    }
}
