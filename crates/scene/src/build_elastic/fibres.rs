//! Fibres that pull, and their directions.

use super::elements::Field;
use super::{point, wrong};
use crate::build::BuildError;
use crate::description::FibreDescription;
use splashdown_deformable::material::{Fibre, MuscleCurve};
use splashdown_math::Vector;

/// A family of fibres.
pub(super) fn fibre(own: &FibreDescription) -> Fibre {
    let curve = MuscleCurve {
        maximum: own.tension,
        passive_scale: own.passive.scale,
        passive_exponent: own.passive.exponent,
        passive_limit: own.passive.limit,
    };
    Fibre { curve, activation: own.activation, density: own.density, ..Fibre::muscle() }
}

/// The directions of a family of fibres of the body `name`, whose copy stands at `offset` (m); `within` are those of a field in the axes of each element.
pub(super) fn directions<const D: usize, const C: usize>(
    name: &str,
    own: &FibreDescription,
    offset: Vector<D>,
    within: impl Fn(&Field<D>) -> Vec<Vector<C>>,
) -> Result<Vec<Vector<C>>, BuildError> {
    match (&own.direction, &own.fusiform) {
        (Some(direction), None) => {
            let direction = point::<D>(name, direction)?;
            Ok(within(&|_| direction))
        }
        (None, Some(ends)) => {
            // A copy of a repeated body has ends of its own.
            let from = point::<D>(name, &ends.from)? + offset;
            let to = point::<D>(name, &ends.to)? + offset;
            Ok(within(&|x| meridian(&from, &to, x)))
        }
        _ => Err(wrong(name, "fibres need either `direction` or `fusiform`")),
    }
}

/// Direction at `x` of the meridians `r = c (1 - s^2)` of a spindle, with `s` from -1 to 1 between its ends; beyond them along the axis.
fn meridian<const D: usize>(from: &Vector<D>, to: &Vector<D>, x: &Vector<D>) -> Vector<D> {
    let half = (to - from) * 0.5;
    let away = x - (from + to) * 0.5;
    let s = away.dot(&half) / half.norm_squared();
    let across = away - half * s;
    if s.abs() >= 1.0 {
        return half;
    }
    // dx/ds, with dr/ds = -2 c s; near the ends the fibres are as steep as those of a spindle as thick as it is long.
    let slope = across * (-2.0 * s / (1.0 - s * s));
    half + slope * (2.0 * half.norm() / slope.norm().max(f64::MIN_POSITIVE)).min(1.0)
}
