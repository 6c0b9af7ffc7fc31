//! The foundation: mathematics, geometry, the coupled solver, free flight, resume and thread independence.

mod block_adjoint;
mod coupled_spd;
mod coupled_threads;
mod damped_spring;
mod eigen_accuracy;
mod free_flight;
mod krylov;
mod svd_accuracy;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    svd_accuracy::CASE,
    eigen_accuracy::CASE,
    krylov::CASE,
    block_adjoint::CASE,
    coupled_spd::CASE,
    coupled_threads::CASE,
    free_flight::CASE,
    damped_spring::CASE,
];
