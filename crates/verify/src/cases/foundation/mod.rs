//! The foundation: mathematics, geometry, the coupled solver, free flight, resume and thread independence.

mod damped_spring;
mod eigen_accuracy;
mod free_flight;
mod resume;
mod svd_accuracy;
mod threads;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    svd_accuracy::CASE,
    eigen_accuracy::CASE,
    free_flight::CASE,
    damped_spring::CASE,
    resume::CASE,
    threads::CASE,
];
