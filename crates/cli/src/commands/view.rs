//! `splashdown view`.

use crate::failure::Failure;
use crate::terminal;
use clap::Args;
use splashdown_view::{Launcher, Options, Server, ViewError};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown view                          choose a shipped scene, run it, watch
  splashdown view runs/quickstart          a run, finished or under way
  splashdown run dam-break --view          run and watch
  splashdown view runs/mine --bind 0.0.0.0 --port 8000    for other machines, too

Prints an address with a secret token: whoever has the address can look, others cannot. The server ends with Ctrl-C.")]
pub struct Arguments {
    /// Folder of the run to show [default: a start page with the shipped scenes and the runs in --runs]
    run: Option<PathBuf>,
    /// Folder where runs started from the page go, and whose runs the start page shows
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// Where the viewer listens.
#[derive(Args)]
#[command(next_help_heading = "Viewer")]
pub struct Place {
    /// Address to listen on; other machines can connect only to one that is not loopback
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Port to listen on [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Open the browser
    #[arg(long)]
    open: bool,
}

impl Place {
    /// A flag that was given.
    pub fn given(&self) -> Option<&'static str> {
        match self {
            Self { open: true, .. } => Some("--open"),
            Self { port: 1.., .. } => Some("--port"),
            Self { bind, .. } if *bind != IpAddr::V4(Ipv4Addr::LOCALHOST) => Some("--bind"),
            _ => None,
        }
    }

    fn options(&self) -> Options {
        Options { bind: self.bind, port: self.port, ..Options::default() }
    }

    /// Opens the browser if that was asked for.
    fn open_browser(&self, server: &Server) {
        if !self.open {
            return;
        }
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let opened =
            Command::new(opener).arg(server.url()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if opened.is_err() {
            terminal::warn("note: no browser could be opened; copy the address");
        }
    }
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let mut options = arguments.place.options();
    options.run.clone_from(&arguments.run);
    if arguments.run.is_none() {
        let program = std::env::current_exe().map_err(|error| {
            Failure::failed(format!("this program cannot be found, so scenes cannot be run: {error}"))
        })?;
        options.launcher = Some(Launcher::new(program, &arguments.runs));
    }
    let server = open(options)?;
    terminal::say(&format!("viewer at {}", server.url()));
    arguments.place.open_browser(&server);
    server.serve().map_err(Failure::failed)
}

/// Opens a viewer of a run beside what the program does, and keeps it until the program ends.
pub fn beside(run: PathBuf, place: &Place) -> Result<(), Failure> {
    let server = open(Options { run: Some(run), ..place.options() })?;
    // Standard output belongs to the run.
    terminal::warn(&format!("viewer at {}", server.url()));
    place.open_browser(&server);
    let serve = move || {
        if let Err(error) = server.serve() {
            terminal::warn(&format!("warning: {error}"));
        }
    };
    let thread = std::thread::Builder::new().name("viewer".into()).spawn(serve);
    thread.map(drop).map_err(|error| Failure::failed(format!("cannot start the viewer: {error}")))
}

fn open(options: Options) -> Result<Server, Failure> {
    Server::open(options).map_err(|error| match error {
        ViewError::NotARun(_) | ViewError::Listen { .. } => Failure::bad_input(error),
        _ => Failure::failed(error),
    })
}
