//! The foundation: mathematics, geometry, the coupled solver, free flight, resume and thread independence.

mod convergence;
mod damped_spring;
mod eigen_accuracy;
mod fast_marching_order;
mod free_flight;
mod iso_surface;
mod multigrid_flat;
mod poisson_order;
mod signed_distance_order;
mod svd_accuracy;
mod tetrahedra_quality;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    svd_accuracy::CASE,
    eigen_accuracy::CASE,
    signed_distance_order::CASE,
    fast_marching_order::CASE,
    iso_surface::CASE,
    free_flight::CASE,
    damped_spring::CASE,
    tetrahedra_quality::CASE,
    poisson_order::CASE,
    multigrid_flat::CASE,
];
