//! A scene: its description and file format, the checks that make wrong input a clear message, and the world built from it; frames,
//! checkpoints and run folders that a run writes.
//!
//! What does not live here: physics (the crates below) and the command line (`splashdown`). A scene is plain data ([`Scene`]) with the
//! same words in TOML and in Rust. Reading one goes through a tree of values that remember their places, so that every mistake is
//! reported with file, line, column, what is allowed and a hint, all of them at once:
//!
//! ```
//! use splashdown_scene::Scene;
//!
//! let text = "dimension = 2\n[time]\nend = -1\nstpe = 0.01\n";
//! let errors = Scene::parse("my.toml", text, &[]).unwrap_err();
//! let lines: Vec<String> = errors.to_string().lines().map(str::to_owned).collect();
//! assert_eq!(lines[0], "my.toml:3:7: `time.end` must be greater than 0");
//! assert_eq!(lines[1], "my.toml:4:1: unknown field `stpe` in `time`");
//! assert_eq!(errors.problems()[1].hint.as_deref(), Some("did you mean `step`?"));
//! ```

mod articulate;
mod breakable;
mod build;
mod build_elastic;
mod build_fluid;
mod build_holds;
mod build_layers;
mod build_ties;
mod check;
pub mod checkpoint;
mod contact_picture;
pub mod container;
mod description;
pub mod export;
mod expression;
mod fluid_method;
mod fluid_picture;
pub mod frame;
mod from_files;
mod import;
pub mod limits;
mod load;
pub mod log;
mod looks;
mod notes;
mod overrides;
pub mod pattern_file;
mod problem;
pub mod recorder;
mod reference;
pub mod run;
pub mod run_folder;
mod schema;
mod shipped;
mod simulation;
mod snippet;
mod source;
pub mod storage;
mod strain;
mod suggest;
pub mod timings;
mod tree;
mod write;

pub use breakable::pattern_of;
pub use build::{AnyWorld, BuildError, RigidCopy, build};
pub use contact_picture::CONTACTS;
pub use description::*;
pub use load::{Loaded, load};
pub use notes::notes;
pub use problem::{MAX_PROBLEMS, Problem, ProblemKind, SceneErrors};
pub use reference::reference_text;
pub use schema::{json_schema, json_schema_text};
pub use shipped::{ShippedScene, find, shipped};
pub use simulation::{PrepareError, RIGID_BODIES, prepare};
pub use source::{MAX_FILE_BYTES, Origin, Place, SourceText, Sources};
