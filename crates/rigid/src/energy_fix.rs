//! Turns a body a little further so that its rotational energy is what it was: angular momentum and energy of free rotation are then both
//! conserved to round-off at any step size (spec/rigid-bodies.md 3.7, with the corrections of its section 8).

use crate::Body;
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin};

/// Whether free rotation is made to conserve energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EnergyFix {
    /// The plain Taylor step.
    Off,
    /// In every update of a dynamic body.
    #[default]
    Always,
}

/// Rotates `frame` so that `L . I^-1 L / 2` equals `energy` (J), the rotational energy of the same `L` before the orientation was updated.
///
/// Returns `false` if the repeated fix did not reach round-off (never seen; counted as a diagnostic by callers that care).
pub fn restore_energy<const D: usize>(
    body: &Body<D>,
    frame: &mut Frame<D>,
    angular_momentum: &Spin<D>,
    energy: f64,
) -> bool
where
    Dim<D>: Space<D>,
{
    const REPEATS: usize = 40;
    if energy <= 0.0 {
        return true;
    }
    let rounding = rounding_of_energy(body) * energy;
    for _ in 0..REPEATS {
        let spin = body.spin_of(frame, angular_momentum);
        let current = 0.5 * angular_momentum.dot(&spin);
        if (current - energy).abs() <= rounding {
            return true;
        }
        let steepest = Dim::spin_commutator(angular_momentum, &spin);
        let steep_enough = steepest.norm() > 16.0 * f64::EPSILON * angular_momentum.norm() * spin.norm();
        let angle_and_axis = steep_enough
            .then(|| turn_to_energy(body, frame, angular_momentum, &steepest, current, energy, false))
            .flatten()
            .or_else(|| {
                let axis = extreme_axis(body, frame, current > energy);
                let direction = Dim::spin_commutator(angular_momentum, &axis);
                turn_to_energy(body, frame, angular_momentum, &direction, current, energy, true)
            });
        let Some((angle, axis)) = angle_and_axis else { return false };
        frame.rotation = Dim::compose(&Dim::exp(&(axis * angle)), &frame.rotation);
        Dim::renormalize(&mut frame.rotation);
    }
    false
}

/// Relative difference of energies that is taken for rounding. Where all moments are nearly the same the energy hardly depends on the orientation: a few units in the last place, which
/// are noise there, would turn a cube by any angle.
fn rounding_of_energy<const D: usize>(body: &Body<D>) -> f64
where
    Dim<D>: Space<D>,
{
    const NEARLY_THE_SAME: f64 = 1e-3;
    let n = <Dim<D> as Space<D>>::SPIN;
    let entries = Dim::inertia_entries(&body.inertia);
    let moments = || (0..n).map(|i| entries[i * n + i]);
    let (least, most) = (moments().fold(f64::INFINITY, f64::min), moments().fold(0.0, f64::max));
    let units = if most - least > NEARLY_THE_SAME * most { 4.0 } else { 64.0 };
    units * f64::EPSILON
}

/// World direction of the principal axis with the largest (`largest`) or smallest moment; turning towards it lowers or raises the energy.
fn extreme_axis<const D: usize>(body: &Body<D>, frame: &Frame<D>, largest: bool) -> Spin<D>
where
    Dim<D>: Space<D>,
{
    let n = <Dim<D> as Space<D>>::SPIN;
    let entries = Dim::inertia_entries(&body.inertia);
    let moment = |i: usize| entries[i * n + i];
    let mut best = 0;
    for i in 1..n {
        if (moment(i) > moment(best)) == largest && moment(i) != moment(best) {
            best = i;
        }
    }
    let mut unit = [0.0; 3];
    unit[best] = 1.0;
    Dim::rotate_spin(&frame.rotation, &Spin::<D>::from_slice(&unit))
}

/// Angle about `direction` that brings the energy from `current` to `wanted`; `None` if no angle does (unless `clamp`, then the extremum).
///
/// `KE(e) = KE cos^2 e - a sin e cos e + b sin^2 e` along the axis, solved in the forms that do not cancel.
fn turn_to_energy<const D: usize>(
    body: &Body<D>,
    frame: &Frame<D>,
    angular_momentum: &Spin<D>,
    direction: &Spin<D>,
    current: f64,
    wanted: f64,
    clamp: bool,
) -> Option<(f64, Spin<D>)>
where
    Dim<D>: Space<D>,
{
    let length = direction.norm();
    if length <= f64::MIN_POSITIVE {
        return None;
    }
    let mut axis = *direction * (1.0 / length);
    let turned = Dim::spin_commutator(&axis, angular_momentum); // s x L
    let mut a = turned.dot(&body.spin_of(frame, angular_momentum));
    if a < 0.0 {
        a = -a;
        axis = -axis;
    }
    let excess = current - wanted;
    let b = 0.5 * turned.dot(&body.spin_of(frame, &turned));
    let c = current - b;
    let r = a.hypot(c);
    let n = c - 2.0 * excess;
    let mut g = a * a + 4.0 * excess * (c - excess);
    if !clamp && (a < 16.0 * f64::EPSILON * current || g < 0.0) {
        return None;
    }
    if r <= 0.0 {
        return None;
    }
    g = g.max(0.0);
    let p = a * a + g + 2.0 * a * g.sqrt();
    let x = (p + (c + n) * (c + n)).sqrt() / (2.0 * r);
    let magnitude = 2.0 * excess.abs() / (p + (c - n) * (c - n)).sqrt();
    let y = (excess - c * magnitude * magnitude).signum() * magnitude;
    let angle = y.atan2(x);
    angle.is_finite().then_some((angle, axis))
}
