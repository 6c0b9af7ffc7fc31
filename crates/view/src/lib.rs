//! The viewer in the browser: a small web server for run folders and the page that it serves.
//!
//! What lives here: the server ([`Server`]), what it tells of a run and of its frames ([`payload`]), and the page's built files (`bundle/`,
//! made from `viewer/` by `npm run build`; `./check` proves that they are). What does not: the page's sources (`viewer/`), reading frames
//! (`splashdown-scene`), pictures without a browser (`splashdown-render`).
//!
//! The server is for one person at one machine: it listens on the loopback interface unless told otherwise, and every address starts with a
//! random token. Requests never name a file: runs have numbers, frames have numbers, scenes have the names of the shipped ones. So there is
//! no path that could lead out of a run's folder.

mod bundle;
mod coarse;
mod http;
mod launch;
pub mod payload;
mod runs;
mod server;
mod thumbnails;

pub use launch::Launcher;
pub use server::{Options, Server, ViewError};
