//! Rigid bodies: contact, friction, stacks, energy and momentum (spec/rigid-bodies.md, section 5).

mod bounce;
mod clamp;
mod cradle;
mod elevator;
mod flat;
mod heavy;
mod incline;
mod jointed;
mod large_pile;
mod momentum;
mod odd;
mod pile;
mod pillar;
mod push_out;
mod restart;
mod ring_chain;
mod rolling;
mod set_up;
mod shard;
mod sleeping;
mod soak;
mod stacks;
mod toppling;

use crate::Case;

/// All cases of this part.
pub(super) const CASES: &[Case] = &[
    shard::CASE,
    incline::CASE,
    flat::CASE,
    rolling::CASE,
    bounce::CASE,
    elevator::CASE,
    clamp::CASE,
    push_out::CASE,
    stacks::CASE,
    stacks::TALL,
    heavy::CASE,
    cradle::CASE,
    momentum::CASE,
    restart::CASE,
    toppling::CASE,
    sleeping::CASE,
    pillar::CASE,
    odd::CASE,
    jointed::CASE,
    jointed::SOAK_SMALL,
    jointed::SOAK,
    ring_chain::SMALL,
    ring_chain::CASE,
    large_pile::SMALL,
    large_pile::CASE,
    pile::SMALL,
    pile::THOUSAND,
    pile::TEN_THOUSAND,
    soak::CASE,
    soak::SMALL,
    soak::SEED,
    soak::SEEDS,
];
