//! The foundation: mathematics, geometry, the coupled solver, free flight, resume and thread independence.

mod block_adjoint;
mod ccd_no_miss;
pub(super) mod convergence;
mod coupled_spd;
mod coupled_threads;
mod damped_spring;
mod eigen_accuracy;
mod fast_marching_order;
mod free_flight;
mod iso_surface;
mod krylov;
mod large_mesh;
mod multigrid_flat;
mod poisson_order;
mod ray_no_leak;
mod resume;
mod signed_distance_order;
mod svd_accuracy;
mod tetrahedra_quality;
mod threads;
mod winding_number;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    svd_accuracy::CASE,
    eigen_accuracy::CASE,
    signed_distance_order::CASE,
    fast_marching_order::CASE,
    iso_surface::CASE,
    krylov::CASE,
    block_adjoint::CASE,
    coupled_spd::CASE,
    coupled_threads::CASE,
    free_flight::CASE,
    damped_spring::CASE,
    tetrahedra_quality::CASE,
    ccd_no_miss::CASE,
    ray_no_leak::CASE,
    winding_number::CASE,
    large_mesh::CASE,
    resume::CASE,
    threads::CASE,
    poisson_order::CASE,
    multigrid_flat::CASE,
];
