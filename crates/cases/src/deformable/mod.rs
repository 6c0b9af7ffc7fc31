//! Deformable solids: laws, elements, integrators, friction, contact.

mod balance;
mod cantilever;
mod elastica;
mod factors;
mod friction;
mod laws;
mod orders;
mod plasticity;
mod puddles;
mod recovery;
mod self_contact;
mod set_up;
mod soak;
mod waves;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    laws::CASE,
    factors::CASE,
    balance::CASE,
    recovery::CASE,
    cantilever::CASE,
    orders::CASE,
    friction::CASE,
    elastica::CASE,
    waves::CASE,
    plasticity::CASE,
    puddles::CASE,
    self_contact::CASE,
    self_contact::LONG,
    soak::MESHES,
    soak::CASE,
];
