//! Solids that keep their volume.

mod annulus;
mod blocks;
mod bodies;
mod drop;
mod halving;
mod identities;
mod inflation;
mod membrane;
mod momentum;
mod monolithic;
mod neumann;
mod newton;
mod null_modes;
mod patch;
mod recovery;
mod scenes;
mod shell;
mod solvers;
mod squeeze;
mod statics;
mod sweeps;

use crate::Case;

pub(super) const CASES: &[Case] = &[
    annulus::CASE,
    annulus::FINE,
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
    sweeps::CASE,
    monolithic::CASE,
    solvers::CASE,
    squeeze::CASE,
    squeeze::LARGE,
    drop::CASE,
    drop::LOCKED,
    scenes::STAIRS,
    scenes::TORI,
    scenes::PUDDLE,
    blocks::CASE,
];
