//! All verification cases, by part. One case is one file, which opens with the physics, the source and the formula, then the set-up, then the
//! measurement. A reference number is copied from its source with the citation, never from our own output.
//!
//! They are a crate of their own, without unit tests, because they use everything and so are the slowest to compile.

mod contact;
mod coupled;
mod deformable;
mod fluid;
mod foundation;
mod fsi;
mod incompressible;
mod rigid;

use splashdown_verify::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};

/// Every case, in the order of `verify --list`.
pub fn all() -> Vec<Case> {
    [
        foundation::CASES,
        &rigid::cases(),
        contact::CASES,
        deformable::CASES,
        incompressible::CASES,
        coupled::CASES,
        fluid::CASES,
        fsi::CASES,
    ]
    .concat()
}
