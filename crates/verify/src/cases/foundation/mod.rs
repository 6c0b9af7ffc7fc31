//! The foundation: mathematics, geometry, the coupled solver, free flight, resume and thread independence.

mod ccd_no_miss;
mod damped_spring;
mod eigen_accuracy;
mod free_flight;
mod ray_no_leak;
mod svd_accuracy;
mod winding_number;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    svd_accuracy::CASE,
    eigen_accuracy::CASE,
    free_flight::CASE,
    damped_spring::CASE,
    ccd_no_miss::CASE,
    ray_no_leak::CASE,
    winding_number::CASE,
];
