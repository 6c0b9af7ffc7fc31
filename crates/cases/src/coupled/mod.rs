//! Rigid and soft bodies in one step.

mod bar;
mod bound_mass;
mod free_fall;
mod friction;
mod momentum;
mod pad;
mod release;
mod row;
mod set_up;
mod soak;
mod squeeze;
mod stack;
mod sweeps;
mod torsion;

use crate::Case;

pub(super) const CASES: &[Case] = &[
    free_fall::CASE,
    friction::CASE,
    momentum::CASE,
    pad::CASE,
    release::CASE,
    squeeze::CASE,
    sweeps::CASE,
    bound_mass::CASE,
    torsion::CASE,
    bar::CASE,
    stack::CASE,
    row::CASE,
    soak::SHORT,
    soak::LONG,
];
