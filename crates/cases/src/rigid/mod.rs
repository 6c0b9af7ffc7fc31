//! Rigid bodies: free rotation, joints, drives, prescribed motion and fracture.

mod articulated_momentum;
mod articulated_soak;
mod energy_fix_fuzz;
mod energy_gain;
mod fracture;
mod joint_assembly;
mod joint_projection;
mod loads;
mod orientation_order;
mod pairwise_joints;
mod pendulums;
mod position_control;
mod skeletons;
mod support;
mod tennis_racket;
mod twisted_chain;

use crate::Case;

/// All cases of the part.
pub(super) fn cases() -> Vec<Case> {
    [MOTION, fracture::CASES].concat()
}

#[rustfmt::skip]
const MOTION: &[Case] = &[
    orientation_order::CASE,
    tennis_racket::CASE,
    energy_gain::CASE,
    energy_fix_fuzz::CASE,
    joint_projection::CASE,
    joint_assembly::CASE,
    pairwise_joints::CASE,
    pendulums::CASE,
    position_control::CASE,
    articulated_momentum::CASE,
    loads::CASE,
    twisted_chain::CASE,
    skeletons::CASE,
    articulated_soak::FAST,
    articulated_soak::SLOW,
];
