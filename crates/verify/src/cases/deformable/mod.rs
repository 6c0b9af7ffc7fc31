//! Deformable solids: laws, elements, integrators, friction, contact.

mod cantilever;
mod elastica;
mod factors;
mod friction;
mod laws;
mod orders;
mod recovery;
mod set_up;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    laws::CASE,
    factors::CASE,
    recovery::CASE,
    cantilever::CASE,
    orders::CASE,
    friction::CASE,
    elastica::CASE,
];
