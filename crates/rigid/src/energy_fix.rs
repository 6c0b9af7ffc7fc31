//! Turns a body a little further so that its rotational energy is what it was: angular momentum and energy of free rotation are then both
//! conserved to round-off at any step size (spec/rigid-bodies.md 3.7, with the corrections of its section 8).

use crate::Body;
use nalgebra::RealField;
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin};

/// Whether free rotation is made to conserve energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EnergyFix {
    /// The plain Taylor step.
    Off,
    /// In the update of positions that ends a step, not where contact looks ahead.
    Final,
    /// In every update of a dynamic body.
    #[default]
    Always,
}

impl EnergyFix {
    /// Does the update of positions that ends a step conserve energy? What has to agree with it, such as joints, asks here.
    pub fn at_end(self) -> bool {
        self != Self::Off
    }

    /// Do predictions conserve energy as well?
    pub fn in_predictions(self) -> bool {
        self == Self::Always
    }
}

/// What [`restore_energy`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Is the energy what it was, to round-off?
    pub reached: bool,
    /// Turns towards a principal axis, because the steepest direction could not reach the energy.
    pub fallbacks: u32,
}

/// Rotates `frame` so that `L . I^-1 L / 2` equals `energy` (J), the rotational energy of the same `L` before the orientation was updated.
pub fn restore_energy<const D: usize>(
    body: &Body<D>,
    frame: &mut Frame<D>,
    angular_momentum: &Spin<D>,
    energy: f64,
) -> Restored
where
    Dim<D>: Space<D>,
{
    const REPEATS: usize = 40;
    let mut restored = Restored { reached: true, fallbacks: 0 };
    if energy <= 0.0 {
        return restored;
    }
    let rounding = rounding_of_energy(body) * energy;
    for _ in 0..REPEATS {
        let spin = body.spin_of(frame, angular_momentum);
        let current = 0.5 * angular_momentum.dot(&spin);
        if (current - energy).abs() <= rounding {
            return restored;
        }
        let steepest = Dim::spin_commutator(angular_momentum, &spin);
        let steep_enough = steepest.norm() > 16.0 * f64::EPSILON * angular_momentum.norm() * spin.norm();
        let angle_and_axis = steep_enough
            .then(|| turn_to_energy(body, frame, angular_momentum, &steepest, current, energy, false))
            .flatten()
            .or_else(|| {
                restored.fallbacks += 1;
                let axis = extreme_axis(body, frame, current > energy);
                let direction = Dim::spin_commutator(angular_momentum, &axis);
                turn_to_energy(body, frame, angular_momentum, &direction, current, energy, true)
            });
        let Some((angle, axis)) = angle_and_axis else { break };
        frame.rotation = Dim::compose(&Dim::exp(&(axis * angle)), &frame.rotation);
        Dim::renormalize(&mut frame.rotation);
    }
    restored.reached = false;
    restored
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
    let b = 0.5 * turned.dot(&body.spin_of(frame, &turned));
    angle_to_energy(a, b, current, wanted, clamp).map(|angle| (angle, axis))
}

/// The angle at which `KE cos^2 e - a sin e cos e + b sin^2 e` is `wanted`; `a` is not negative. In the forms that do not cancel, for any precision of numbers.
fn angle_to_energy<T: RealField + Copy>(a: T, b: T, current: T, wanted: T, clamp: bool) -> Option<T> {
    let number = |x: f64| nalgebra::convert::<f64, T>(x);
    let (two, four) = (number(2.0), number(4.0));
    let excess = current - wanted;
    let c = current - b;
    let r = a.hypot(c);
    let n = c - two * excess;
    let mut g = a * a + four * excess * (c - excess);
    if !clamp && (a < number(16.0) * T::default_epsilon() * current || g < T::zero()) {
        return None;
    }
    if r <= T::zero() {
        return None;
    }
    g = g.max(T::zero());
    let p = a * a + g + two * a * g.sqrt();
    let x = (p + (c + n) * (c + n)).sqrt() / (two * r);
    let magnitude = two * excess.abs() / (p + (c - n) * (c - n)).sqrt();
    let y = (excess - c * magnitude * magnitude).signum() * magnitude;
    let angle = y.atan2(x);
    angle.is_finite().then_some(angle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

    /// A free body in single precision: principal moments, orientation, angular momentum.
    struct Single {
        moments: Vector3<f32>,
        rotation: UnitQuaternion<f32>,
        momentum: Vector3<f32>,
    }

    impl Single {
        fn spin(&self, of: &Vector3<f32>) -> Vector3<f32> {
            self.rotation * (self.rotation.inverse() * of).component_div(&self.moments)
        }

        fn energy(&self) -> f32 {
            0.5 * self.momentum.dot(&self.spin(&self.momentum))
        }

        /// The update of the given order (spec/rigid-bodies.md 3.6).
        fn turn(&mut self, order: usize, dt: f32) {
            let spin = self.spin(&self.momentum);
            let moment = self.momentum.cross(&spin);
            let mut u = spin * dt;
            if order > 1 {
                u += self.spin(&moment) * (0.5 * dt * dt);
            }
            if order > 2 {
                let inner = spin.cross(&self.spin(&moment)) - self.spin(&spin.cross(&moment)) * 2.0
                    + self.spin(&self.momentum.cross(&self.spin(&moment))) * 2.0;
                u += inner * (dt * dt * dt / 12.0);
            }
            self.rotation = UnitQuaternion::from_scaled_axis(u) * self.rotation;
        }

        /// As [`restore_energy`], in single precision.
        fn restore(&mut self, energy: f32) {
            for _ in 0..40 {
                let (spin, current) = (self.spin(&self.momentum), self.energy());
                if (current - energy).abs() <= 4.0 * f32::EPSILON * energy {
                    return;
                }
                let steepest = self.momentum.cross(&spin);
                let axis = if current > energy { self.moments.imax() } else { self.moments.imin() };
                let axis = self.rotation * Vector3::<f32>::ith(axis, 1.0);
                let along = |direction: Vector3<f32>, clamp: bool| {
                    let mut axis = direction.try_normalize(f32::MIN_POSITIVE)?;
                    let turned = axis.cross(&self.momentum);
                    let mut a = turned.dot(&spin);
                    if a < 0.0 {
                        a = -a;
                        axis = -axis;
                    }
                    let b = 0.5 * turned.dot(&self.spin(&turned));
                    angle_to_energy(a, b, current, energy, clamp).map(|angle| axis * angle)
                };
                let Some(turn) = along(steepest, false).or_else(|| along(self.momentum.cross(&axis), true))
                else {
                    return;
                };
                self.rotation = UnitQuaternion::from_scaled_axis(turn) * self.rotation;
            }
        }
    }

    /// A3: the fast shard after one step of 1/30 s.
    #[test]
    fn the_shard_gains_what_it_should_and_nothing_with_the_fix_in_single_precision() {
        let (long, short) = (1.0f32, 0.05f32);
        let across = (long * long + short * short) / 12.0;
        let moments = Vector3::new(short * short / 6.0, across, across);
        for (order, expected) in [(1, 76.862), (2, 19.723), (3, 1.274)] {
            let spin = Vector3::new(60.0, 20.0, 20.0);
            let momentum = moments.component_mul(&spin);
            let mut body = Single { moments, rotation: UnitQuaternion::identity(), momentum };
            let energy = body.energy();
            body.turn(order, 1.0 / 30.0);
            let gained = body.energy() / energy;
            assert!((gained / expected - 1.0).abs() < 1e-3, "order {order}: {gained}");
            body.restore(energy);
            let kept = body.energy() / energy;
            assert!((kept - 1.0).abs() < 1e-5, "order {order}: {kept}");
        }
    }

    /// A4 with its tolerance in units of the precision.
    #[test]
    fn the_closed_form_holds_in_single_precision_for_random_bodies() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1u64 << 24) as f32
        };
        let (mut worst, mut gained) = (0.0f32, 0.0f32);
        for _ in 0..20_000 {
            // Moments of a real solid: none larger than the sum of the others.
            let squares = Vector3::from_fn(|_, _| 10f32.powf(4.0 * random() - 2.0));
            let moments = Vector3::repeat(squares.sum()) - squares;
            let angles = Vector3::from_fn(|_, _| 6.0 * random() - 3.0);
            let rotation = UnitQuaternion::from_scaled_axis(angles);
            let spin = Vector3::from_fn(|_, _| 200.0 * random() - 100.0);
            let inertia: Matrix3<f32> = Matrix3::from_diagonal(&moments);
            let turn: Rotation3<f32> = rotation.into();
            let momentum = turn * inertia * turn.inverse() * spin;
            let mut body = Single { moments, rotation, momentum };
            let energy = body.energy();
            body.turn(2, 1.0 / 30.0);
            gained = gained.max(body.energy() / energy);
            body.restore(energy);
            worst = worst.max((body.energy() / energy - 1.0).abs());
        }
        assert!(gained > 10.0, "{gained}");
        let scale = (f64::from(f32::EPSILON) / f64::EPSILON) as f32;
        assert!(worst < 1e-11 * scale, "{worst}");
    }
}
