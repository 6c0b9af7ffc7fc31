//! Rigid and soft bodies in one step.

mod bar;
mod bindings;
mod bound_mass;
mod chain;
mod contact_projection;
mod creatures;
mod drive;
mod free_fall;
mod friction;
mod momentum;
mod orientation;
mod pad;
mod pile;
mod push_out;
mod rebound;
mod release;
mod row;
mod set_up;
mod soak;
mod squeeze;
mod stack;
mod sweeps;
mod torsion;
mod trampoline;

use crate::Case;

pub(super) use set_up::shipped;

pub(super) const CASES: &[Case] = &[
    free_fall::CASE,
    friction::CASE,
    momentum::CASE,
    pad::CASE,
    release::CASE,
    contact_projection::CASE,
    orientation::CASE,
    push_out::CASE,
    drive::CASE,
    rebound::CASE,
    bindings::CASE,
    squeeze::CASE,
    sweeps::CASE,
    bound_mass::CASE,
    torsion::CASE,
    torsion::STATIC,
    bar::CASE,
    bar::WHOLE,
    stack::CASE,
    stack::HIT,
    row::CASE,
    row::SOURCE,
    chain::CASE,
    trampoline::CASE,
    pile::CASE,
    creatures::SNAKE,
    creatures::MAGGOT,
    creatures::FISH,
    soak::SHORT,
    soak::LONG,
];
