//! Transport by the flow: semi-Lagrangian, MacCormack and BFECC for velocity and scalars (spec/fluid-base.md 3.5), high-order upwind
//! differences for level sets, and first-order conservative upwinding.

mod calm;
mod conservative;
mod sampler;
mod trace;
mod upwind;

pub use conservative::advect_conservative;
pub(crate) use sampler::Sampler;
pub use trace::PathOrder;
pub(crate) use trace::Tracer;
pub(crate) use upwind::advect_ending;
pub use upwind::{UpwindScheme, advect_level_set};

use crate::domain::Domain;
use calm::Calm;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Index};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// How a quantity is carried along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// Value at the foot of the path: first order, never overshoots, damps.
    SemiLagrangian,
    /// Forth and back again, half the difference taken off (A. Selle and others, "An unconditionally stable MacCormack method", 2008): second order.
    #[default]
    MacCormack,
    /// The same three paths with the correction before the last one: second order.
    Bfecc,
}

/// What is done where the second-order correction leaves the range of the values around the foot of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    /// Nothing: sharpest, may overshoot.
    None,
    /// The first-order value is taken.
    #[default]
    Revert,
    /// The nearest value of the range is taken.
    Clamp,
}

/// How to carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Advection {
    /// Scheme.
    pub scheme: Scheme,
    /// Limiter of the second-order schemes.
    pub limiter: Limiter,
    /// Order of the paths.
    pub path: PathOrder,
}

/// One field to carry, with what fills its ghosts.
pub(crate) struct Carried<'a, const D: usize> {
    pub field: &'a mut Field<D>,
    /// Working memory of the same grid.
    pub forth: &'a mut Field<D>,
    pub back: &'a mut Field<D>,
}

impl Advection {
    /// Carries the components of `velocity` by the flow `by` for `dt` seconds. Ghosts of both must have been filled; those of the result are.
    /// `work` is memory for two fields of the same grid. `rough(x)`, a point in cells from the lower corner of the grid, tells where the second-order
    /// correction must not be used.
    pub fn velocity<const D: usize>(
        &self,
        domain: &Domain<D>,
        by: &FaceFields<D>,
        velocity: &mut FaceFields<D>,
        work: &mut [Field<D>; 2],
        dt: f64,
        rough: impl Fn(&Vector<D>) -> bool + Sync,
    ) {
        let tracer = Tracer::new(domain, by, self.path);
        let [forth, back] = work;
        for axis in 0..D {
            let carried = Carried { field: velocity.component_mut(axis), forth, back };
            let fill = |field: &mut Field<D>| domain.fill_component_ghosts(axis, field);
            self.carry(&tracer, carried, dt, fill, &rough);
        }
    }

    /// Carries a quantity at cells by the flow `by` for `dt` seconds; inflow brings `ambient`. Ghosts as for [`Self::velocity`].
    #[allow(clippy::too_many_arguments)]
    pub fn scalar<const D: usize>(
        &self,
        domain: &Domain<D>,
        by: &FaceFields<D>,
        field: &mut Field<D>,
        work: &mut [Field<D>; 2],
        ambient: f64,
        dt: f64,
        rough: impl Fn(&Vector<D>) -> bool + Sync,
    ) {
        let tracer = Tracer::new(domain, by, self.path);
        let [forth, back] = work;
        let fill = |field: &mut Field<D>| domain.fill_scalar_ghosts(field, ambient);
        self.carry(&tracer, Carried { field, forth, back }, dt, fill, &rough);
    }

    /// Carries a field at cells whose ghosts `fill` fills.
    pub(crate) fn carry_with<const D: usize>(
        &self,
        domain: &Domain<D>,
        by: &FaceFields<D>,
        field: &mut Field<D>,
        work: &mut [Field<D>; 2],
        dt: f64,
        fill: impl Fn(&mut Field<D>),
    ) {
        let tracer = Tracer::new(domain, by, self.path);
        let [forth, back] = work;
        self.carry(&tracer, Carried { field, forth, back }, dt, fill, &|_: &Vector<D>| false);
    }

    fn carry<const D: usize>(
        &self,
        tracer: &Tracer<D>,
        carried: Carried<D>,
        dt: f64,
        fill: impl Fn(&mut Field<D>),
        rough: &(impl Fn(&Vector<D>) -> bool + Sync),
    ) {
        let Carried { field, forth, back } = carried;
        let lattice = *field.lattice();
        forth.relocate(lattice.location());
        back.relocate(lattice.location());
        let starts = tracer.starts(lattice.location());
        let passes = match self.scheme {
            Scheme::SemiLagrangian => 1.0,
            Scheme::MacCormack => 2.0,
            Scheme::Bfecc => 3.0,
        };
        let calm = Calm::new(field, tracer.reach(dt).map(|r| passes * (r + 1.0)), tracer.wraps());
        let old = Sampler::new(field);
        let was = field.values();
        if self.scheme == Scheme::SemiLagrangian {
            sweep(forth, was, &calm, |index, _| old.value_at(&tracer.follow_from(&starts, index, -dt).point));
            fill(forth);
            std::mem::swap(field, forth);
            return;
        }
        // Value at the foot of the path, and the place of the foot, negative where it is not fit for a correction.
        let first_order = |index| {
            let end = tracer.follow_from(&starts, index, -dt);
            let corners = old.corners(&end.point);
            let smooth = !(end.outside || rough(&starts.position(index)) || rough(&end.point));
            (old.blend(&corners), if smooth { corners.place as f64 } else { ROUGH })
        };
        // `back` holds the feet until it gets its own values, so that the limiter finds the values around them without tracing again.
        sweep_two(forth, back, was, &calm, first_order);
        fill(forth);
        // Back to where it came from: would be the old value if the paths were exact.
        {
            let there = Sampler::new(forth);
            let first = forth.values();
            let mac_cormack = self.scheme == Scheme::MacCormack;
            sweep(back, was, &calm, |index, foot| {
                let place = lattice.offset(index);
                if mac_cormack && foot < 0.0 {
                    return first[place];
                }
                let returned = there.value_at(&tracer.follow_from(&starts, index, dt).point);
                let error = 0.5 * (was[place] - returned);
                if mac_cormack {
                    self.limited(first[place] + error, first[place], || old.range(foot as usize))
                } else {
                    was[place] + error
                }
            });
        }
        fill(back);
        if self.scheme == Scheme::Bfecc {
            let corrected = Sampler::new(back);
            sweep(forth, was, &calm, |index, low_order| {
                let end = tracer.follow_from(&starts, index, -dt);
                if end.outside || rough(&starts.position(index)) || rough(&end.point) {
                    return low_order;
                }
                let corners = old.corners(&end.point);
                self.limited(corrected.blend(&corners), low_order, || old.range(corners.place))
            });
            fill(forth);
            std::mem::swap(field, forth);
        } else {
            std::mem::swap(field, back);
        }
    }

    #[inline(always)]
    fn limited(&self, value: f64, low_order: f64, range: impl FnOnce() -> [f64; 2]) -> f64 {
        if self.limiter == Limiter::None {
            return value;
        }
        let [low, high] = range();
        if low <= value && value <= high {
            value
        } else if self.limiter == Limiter::Revert {
            low_order
        } else {
            value.clamp(low.min(high), high)
        }
    }
}

/// Foot of a sample whose path is not fit for a second-order correction.
const ROUGH: f64 = -1.0;

/// Replaces every sample proper of `field` by `function(index, value)`, in parallel by slabs; where it is calm, by what `was` there.
fn sweep<const D: usize>(
    field: &mut Field<D>,
    was: &[f64],
    calm: &Calm<D>,
    function: impl Fn(Index<D>, f64) -> f64 + Sync,
) {
    let lattice = *field.lattice();
    let (slab, ghost) = (lattice.strides()[D - 1], lattice.ghost());
    let inner = &mut field.values_mut()[ghost * slab..(ghost + lattice.slabs()) * slab];
    inner.par_chunks_mut(slab).enumerate().for_each(|(number, values)| {
        let start = (number + ghost) * slab;
        calm.pieces(&lattice, number as isize, |mut index, place, length, still| {
            let values = &mut values[place - start..place - start + length];
            if still {
                values.copy_from_slice(&was[place..place + length]);
                return;
            }
            for value in values {
                *value = function(index, *value);
                index[0] += 1;
            }
        });
    });
}

/// [`sweep`] for two fields at the same samples; the second is left alone where it is calm.
fn sweep_two<const D: usize>(
    field: &mut Field<D>,
    second: &mut Field<D>,
    was: &[f64],
    calm: &Calm<D>,
    function: impl Fn(Index<D>) -> (f64, f64) + Sync,
) {
    let lattice = *field.lattice();
    let (slab, ghost) = (lattice.strides()[D - 1], lattice.ghost());
    let inner = ghost * slab..(ghost + lattice.slabs()) * slab;
    let slabs = field.values_mut()[inner.clone()].par_chunks_mut(slab);
    let slabs = slabs.zip(second.values_mut()[inner].par_chunks_mut(slab));
    slabs.enumerate().for_each(|(number, (values, second))| {
        let start = (number + ghost) * slab;
        calm.pieces(&lattice, number as isize, |mut index, place, length, still| {
            let piece = place - start..place - start + length;
            let (values, second) = (&mut values[piece.clone()], &mut second[piece]);
            if still {
                values.copy_from_slice(&was[place..place + length]);
                return;
            }
            for (value, second) in values.iter_mut().zip(second) {
                (*value, *second) = function(index);
                index[0] += 1;
            }
        });
    });
}

#[cfg(test)]
mod tests;
