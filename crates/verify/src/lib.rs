//! Proof: named cases that measure the simulator against exact solutions and published numbers, and the harness that runs and reports them.
//!
//! One case is one file in `cases/`, which opens with the physics, the source and the formula, then the set-up, then the measurement.
//! A reference number is copied from its source with the citation, never from our own output.

mod case;
pub mod cases;
mod glob;
mod plot;
mod report;
mod runner;

pub use case::{Case, CaseError, Criterion, Measurement, Measurements, Plot, Scale, Series, Speed};
pub use glob::{Glob, GlobError};
pub use report::write_report;
pub use runner::{Outcome, Record, SelectError, records, run, select};
