//! Incompressible fluids: the rows FB-T1 to FB-T25 of spec/fluid-base.md. FB-T12 (fast marching) is `foundation/fast-marching-order`.

mod advection_orders;
mod cavity;
mod channel_step;
mod channels;
mod dam_break;
mod drop_fall;
mod extrapolation;
mod free_surface_poisson;
mod hydrostatics;
mod kinetic_energy;
mod plume;
mod projection;
mod restart;
pub(super) mod setup;
mod shaken_box;
mod shells;
mod soak;
mod standing_wave;
mod static_drop;
mod taylor_green;
mod three_liquids;
mod transpose;
mod two_phase;
mod vortex;
mod wetting;
mod zalesak;

use crate::Case;

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    transpose::CASE,
    hydrostatics::CASE,
    free_surface_poisson::CASE,
    advection_orders::CASE,
    taylor_green::CASE,
    channels::CASE,
    cavity::CASE,
    cavity::FINE,
    projection::CASE,
    standing_wave::CASE,
    zalesak::CASE,
    vortex::CASE,
    vortex::SPACE,
    extrapolation::CASE,
    drop_fall::CASE,
    dam_break::CASE,
    dam_break::APIC,
    shells::LEAK,
    shells::SIGHT,
    shells::SWEEP,
    shaken_box::CASE,
    soak::CASE,
    two_phase::CASE,
    static_drop::CASE,
    wetting::WALLS,
    wetting::ANGLE,
    plume::CASE,
    channel_step::CASE,
    restart::CASE,
    kinetic_energy::CASE,
    three_liquids::CASE,
];
