//! Transport by the flow: semi-Lagrangian, MacCormack and BFECC for velocity and scalars (spec/fluid-base.md 3.5), high-order upwind
//! differences for level sets, and first-order conservative upwinding.

mod conservative;
mod sampler;
mod trace;
mod upwind;

pub use conservative::advect_conservative;
pub(crate) use sampler::Sampler;
pub use trace::PathOrder;
pub(crate) use trace::Tracer;
pub use upwind::{UpwindScheme, advect_level_set};

use crate::domain::Domain;
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
    /// Working memory of the same samples.
    pub forth: &'a mut Field<D>,
    pub back: &'a mut Field<D>,
}

impl Advection {
    /// Carries the components of `velocity` by the flow `by` for `dt` seconds. Ghosts of both must have been filled; those of the result are.
    /// `work` is memory for two further velocities. `rough(x)` tells where the second-order correction must not be used.
    pub fn velocity<const D: usize>(
        &self,
        domain: &Domain<D>,
        by: &FaceFields<D>,
        velocity: &mut FaceFields<D>,
        work: &mut [FaceFields<D>; 2],
        dt: f64,
        rough: impl Fn(&Vector<D>) -> bool + Sync,
    ) {
        let tracer = Tracer::new(domain, by, self.path);
        let [forth, back] = work;
        for axis in 0..D {
            let carried = Carried {
                field: velocity.component_mut(axis),
                forth: forth.component_mut(axis),
                back: back.component_mut(axis),
            };
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
        if self.scheme == Scheme::SemiLagrangian {
            let old = Sampler::new(field);
            forth.update(|index, _| old.value(&tracer.follow(&lattice.position(index), -dt).point));
            fill(forth);
            std::mem::swap(field, forth);
            return;
        }
        // Where each path begins, so that the limiter finds the values around without tracing again.
        let mut feet = vec![ROUGH; lattice.len()];
        {
            let old = Sampler::new(field);
            update_with_feet(forth, &mut feet, |index| {
                let x = lattice.position(index);
                let end = tracer.follow(&x, -dt);
                let corners = old.corners(&end.point);
                let smooth = !(end.outside || rough(&x) || rough(&end.point));
                (old.blend(&corners), if smooth { corners.place as u32 } else { ROUGH })
            });
        }
        fill(forth);
        // Back to where it came from: would be the old value if the paths were exact.
        let (old, was) = (Sampler::new(field), field.values());
        {
            let there = Sampler::new(forth);
            let first = forth.values();
            back.update(|index, _| {
                let place = lattice.offset(index);
                if self.scheme == Scheme::MacCormack && feet[place] == ROUGH {
                    return first[place];
                }
                let returned = there.value(&tracer.follow(&lattice.position(index), dt).point);
                let error = 0.5 * (was[place] - returned);
                match self.scheme {
                    Scheme::MacCormack => {
                        self.limited(first[place] + error, first[place], || old.range(feet[place] as usize))
                    }
                    _ => was[place] + error,
                }
            });
        }
        fill(back);
        if self.scheme == Scheme::Bfecc {
            let corrected = Sampler::new(back);
            forth.update(|index, low_order| {
                let foot = feet[lattice.offset(index)];
                if foot == ROUGH {
                    return low_order;
                }
                let end = tracer.follow(&lattice.position(index), -dt);
                self.limited(corrected.value(&end.point), low_order, || old.range(foot as usize))
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

/// Mark of a sample whose path is not fit for a second-order correction.
const ROUGH: u32 = u32::MAX;

/// Sets every sample proper of `field` and its entry of `feet`, in parallel by slabs.
fn update_with_feet<const D: usize>(
    field: &mut Field<D>,
    feet: &mut [u32],
    function: impl Fn(Index<D>) -> (f64, u32) + Sync,
) {
    let lattice = *field.lattice();
    let (slab, ghost, counts) = (lattice.strides()[D - 1], lattice.ghost(), lattice.counts());
    let inner = ghost * slab..(ghost + counts[D - 1]) * slab;
    let values = field.values_mut()[inner.clone()].par_chunks_mut(slab);
    values.zip(feet[inner].par_chunks_mut(slab)).enumerate().for_each(|(number, (values, feet))| {
        let rows = if D == 2 { 1 } else { counts[1] };
        for row in 0..rows {
            let mut index = [0; D];
            index[1] = row as isize;
            index[D - 1] = number as isize;
            let first = lattice.offset(index) - (number + ghost) * slab;
            for place in first..first + counts[0] {
                (values[place], feet[place]) = function(index);
                index[0] += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests;
