//! Proof: named cases that measure the simulator against exact solutions and published numbers, and the harness that runs and reports them.
//! The cases themselves are in `splashdown-cases`.

mod case;
mod glob;
mod plot;
mod report;
mod runner;

pub use case::{Case, CaseError, Criterion, Measurement, Measurements, Plot, Scale, Series, Speed};
pub use glob::{Glob, GlobError};
pub use plot::{Anchor, DOT_RADIUS, Mark, PLOT_SIZE, Stroke, curve_colour};
pub use report::write_report;
pub use runner::{Outcome, Record, SelectError, records, run, select};
