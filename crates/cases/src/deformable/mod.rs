//! Deformable solids: laws, elements, integrators, friction, contact.

mod bad_meshes;
mod balance;
mod cantilever;
mod drop;
mod elastica;
mod factors;
mod friction;
mod laws;
mod layers;
mod machines;

mod options;
mod orders;
mod plasticity;
mod puddles;
mod recovery;
mod rolling;
mod self_contact;
mod set_up;
mod shell;
mod soak;
mod structures;
mod tangled;
mod waves;

pub(super) use set_up::neo_hookean;
pub(super) use structures::beam_of_springs;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    laws::CASE,
    factors::CASE,
    balance::CASE,
    recovery::CASE,
    cantilever::CASE,
    orders::CASE,
    options::CASE,
    friction::CASE,
    elastica::CASE,
    elastica::SHEET,
    waves::CASE,
    plasticity::CASE,
    shell::CASE,
    shell::COLUMN,
    tangled::CASE,
    structures::CASE,
    rolling::CASE,
    layers::CASE,
    machines::ROLLERS,
    machines::GEARS,
    machines::PRESS,
    drop::CASE,
    puddles::CASE,
    self_contact::CASE,
    self_contact::PILE,
    self_contact::LONG,
    self_contact::LONG_IMPULSES,
    self_contact::TWISTED,
    bad_meshes::CASE,
    soak::SHORT,
    soak::CASE,
];
