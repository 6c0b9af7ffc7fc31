//! Solids that keep their volume.

mod annulus;
mod bodies;
mod drop;
mod halving;
mod identities;
mod inflation;
mod membrane;
mod momentum;
mod neumann;
mod newton;
mod null_modes;
mod patch;
mod recovery;
mod shell;
mod squeeze;
mod statics;

use crate::Case;

pub(super) const CASES: &[Case] = &[
    annulus::CASE,
    inflation::CASE,
    shell::CASE,
    shell::FINE,
    identities::CASE,
    newton::CASE,
    patch::CASE,
    momentum::CASE,
    null_modes::CASE,
    neumann::CASE,
    recovery::CASE,
    membrane::CASE,
    halving::CASE,
    squeeze::CASE,
    squeeze::LARGE,
    drop::CASE,
];
