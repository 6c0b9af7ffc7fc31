//! Fluid and solids in one solve: the rows V-1 to V-20 and FS-T1 to FS-T15 of spec/fluid-structure.md.

mod added_mass;
mod balance;
mod channel;
mod density_ratios;
mod driven_plate;
mod energy;
mod falling_cylinder;
mod floating;
mod forms;
mod leaks;
mod momentum;
mod past_cylinder;
mod rising_sphere;
mod scenes;
mod setup;
mod sheets;
mod soak;
mod soak_soft;
mod soft;
mod stokes_cylinder;
mod vortex_shedding;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    channel::CASE,
    channel::FINE,
    stokes_cylinder::CASE,
    falling_cylinder::CASE,
    falling_cylinder::TABLE,
    past_cylinder::CASE,
    vortex_shedding::CASE,
    vortex_shedding::FINE,
    vortex_shedding::WIDE,
    driven_plate::CASE,
    added_mass::CASE,
    rising_sphere::CASE,
    balance::CASE,
    balance::LONG,
    forms::CASE,
    energy::CASE,
    energy::LONG,
    momentum::CASE,
    leaks::CASE,
    sheets::CASE,
    sheets::DRAG,
    soft::BEAM,
    soft::BEAM_STABILITY,
    soft::DISK,
    soft::DISK_FINE,
    density_ratios::CASE,
    floating::CASE,
    floating::BETWEEN,
    soak::CASE,
    soak_soft::CASE,
    soak_soft::SHORT,
    scenes::BOAT,
    scenes::BAG,
    scenes::YANKED,
    scenes::BALLOON,
    scenes::FISH,
    scenes::TORUS,
];
