//! Impulses at one point: the impulse factor `K`, sticking and sliding (spec/rigid-bodies.md 3.8), and the energy clamp (3.11).

use crate::Body;
use nalgebra::RealField;
use splashdown_math::{Coordinates, Dim, Frame, Inertia, Matrix, Space, Spin, Twist, Vector};

/// `1/m` and `I^-1` in world axes; zero for a body that does not respond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseInertia<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// `1/m` (1/kg).
    pub mass: f64,
    /// `I^-1` (1/(kg m^2)).
    pub inertia: Inertia<D>,
}

impl<const D: usize> InverseInertia<D>
where
    Dim<D>: Space<D>,
{
    /// Of a body at the orientation of `frame`.
    pub fn of(body: &Body<D>, frame: &Frame<D>) -> Self {
        Self { mass: body.inverse_mass(), inertia: body.world_inverse_inertia(frame) }
    }

    /// Of a body that does not respond.
    pub fn infinite() -> Self {
        Self { mass: 0.0, inertia: Dim::inertia_from_principal(&[0.0; 3][..<Dim<D> as Space<D>>::SPIN]) }
    }

    /// Of a point of mass `1/inverse_mass`, which does not turn: a particle of a deformable body.
    pub fn particle(inverse_mass: f64) -> Self {
        Self { mass: inverse_mass, ..Self::infinite() }
    }

    /// Does it not respond to impulses?
    pub fn is_infinite(&self) -> bool {
        self.mass == 0.0
    }

    /// `K = 1/m + r^{*T} I^-1 r^*`: change of velocity at `arm` for an impulse there.
    pub fn factor(&self, arm: &Vector<D>) -> Matrix<D> {
        let mut k = Matrix::<D>::zeros();
        if self.is_infinite() {
            return k;
        }
        for column in 0..D {
            let unit = Vector::<D>::from_fn(|a, _| f64::from(u8::from(a == column)));
            let spin = Dim::apply_inertia(&self.inertia, &Dim::cross(arm, &unit));
            k.set_column(column, &(unit * self.mass + Dim::spin_cross(&spin, arm)));
        }
        k
    }

    /// Change of twist for an impulse at `arm`.
    pub fn response(&self, arm: &Vector<D>, impulse: &Vector<D>) -> Twist<D> {
        Twist {
            linear: impulse * self.mass,
            angular: Dim::apply_inertia(&self.inertia, &Dim::cross(arm, impulse)),
        }
    }
}

/// An impulse on body A at the contact point; B gets its opposite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointImpulse<const D: usize> {
    /// Impulse (kg m/s).
    pub impulse: Vector<D>,
    /// Does the point stick (relative tangential velocity brought to zero)?
    pub sticks: bool,
}

/// The impulse that makes the relative normal velocity `-e u_n`: sticking if that stays within the friction cone, else sliding.
///
/// `factor` is the sum of both bodies' `K`, `relative` the velocity of A's point minus B's, `normal` points from B to A. `None` if the points
/// do not approach or nothing can respond.
pub fn contact_impulse<const D: usize>(
    factor: &Matrix<D>,
    relative: &Vector<D>,
    normal: &Vector<D>,
    restitution: f64,
    friction: f64,
) -> Option<PointImpulse<D>> {
    let approach = relative.dot(normal);
    if !(approach < 0.0) {
        return None;
    }
    let response = normal.dot(&(factor * normal));
    if !(response > 0.0) {
        return None;
    }
    let frictionless =
        PointImpulse { impulse: normal * (-(1.0 + restitution) * approach / response), sticks: false };
    if friction == 0.0 {
        return Some(frictionless);
    }
    if let Some(stick) = solve_symmetric(factor, &(normal * (-restitution * approach) - relative)) {
        let along = stick.dot(normal);
        if (stick - normal * along).norm() <= friction * along {
            return Some(PointImpulse { impulse: stick, sticks: true });
        }
    }
    let tangential = relative - normal * approach;
    let speed = tangential.norm();
    if !(speed > 1e-14 * relative.norm()) {
        return Some(frictionless);
    }
    let direction = normal - tangential * (friction / speed);
    let denominator = normal.dot(&(factor * direction));
    if denominator <= 1e-12 * factor.trace() {
        return Some(frictionless);
    }
    Some(PointImpulse { impulse: direction * (-(1.0 + restitution) * approach / denominator), sticks: false })
}

/// Solves a symmetric positive definite system by Cholesky; `None` if it is not definite.
pub(crate) fn solve_symmetric<const N: usize>(a: &Matrix<N>, b: &Vector<N>) -> Option<Vector<N>> {
    let mut l = *a;
    let floor = 1e-14 * (0..N).map(|i| a[(i, i)]).fold(0.0, f64::max);
    for j in 0..N {
        let mut d = l[(j, j)];
        for k in 0..j {
            d -= l[(j, k)] * l[(j, k)];
        }
        if !(d > floor) {
            return None;
        }
        let d = d.sqrt();
        l[(j, j)] = d;
        for i in j + 1..N {
            let mut s = l[(i, j)];
            for k in 0..j {
                s -= l[(i, k)] * l[(j, k)];
            }
            l[(i, j)] = s / d;
        }
    }
    let mut x = *b;
    for i in 0..N {
        for k in 0..i {
            x[i] -= l[(i, k)] * x[k];
        }
        x[i] /= l[(i, i)];
    }
    for i in (0..N).rev() {
        for k in i + 1..N {
            x[i] -= l[(k, i)] * x[k];
        }
        x[i] /= l[(i, i)];
    }
    Some(x)
}

/// One body as the energy clamp sees it: its state in the reference configuration, which is not split in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClampSide<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Inverse inertia at the reference orientation; infinite for static, kinematic and frozen bodies.
    pub inverse: InverseInertia<D>,
    /// Velocity and spin in the reference state; those of an infinite body are its prescribed motion.
    pub twist: Twist<D>,
    /// From the centre of mass to the contact point (m), in the state in which the impulse was computed.
    pub arm: Vector<D>,
}

/// What the energy clamp does to an impulse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clamp {
    /// Apply it as it is.
    Keep,
    /// Apply this share of it.
    Scale(f64),
    /// Do not apply it.
    Discard,
}

/// Largest share of the impulse (on A, opposite on B) and of the angular impulse that does not raise kinetic energy in the reference state
/// (spec/rigid-bodies.md 3.11). A partner of infinite mass is first brought to rest at the contact point by a Galilean shift.
pub fn clamp_energy<const D: usize>(
    impulse: &Vector<D>,
    angular_impulse: &Spin<D>,
    a: &ClampSide<D>,
    b: &ClampSide<D>,
) -> Clamp
where
    Dim<D>: Space<D>,
{
    let (fixed_a, fixed_b) = (a.inverse.is_infinite(), b.inverse.is_infinite());
    let mut shift = Vector::<D>::zeros();
    if fixed_b {
        shift = b.twist.at(&b.arm);
    } else if fixed_a {
        shift = a.twist.at(&a.arm);
    }
    let side = |side: &ClampSide<D>| {
        let torque = Dim::cross(&side.arm, impulse) + *angular_impulse;
        let work = impulse.dot(&(side.twist.linear - shift)) + torque.dot(&side.twist.angular);
        let square = impulse.norm_squared() * side.inverse.mass
            + torque.dot(&Dim::apply_inertia(&side.inverse.inertia, &torque));
        (work, square)
    };
    let (mut gain, mut square) = (0.0, 0.0);
    if !fixed_b {
        let (work, part) = side(b);
        gain += work;
        square += part;
    }
    if !fixed_a {
        let (work, part) = side(a);
        gain -= work;
        square += part;
    }
    match allowed_share(gain, square) {
        Some(share) if share >= 1.0 => Clamp::Keep,
        Some(share) => Clamp::Scale(share),
        None => Clamp::Discard,
    }
}

/// Share of an impulse that adds no kinetic energy, from the energy `gain` that it takes off at first order and the `square` of itself in the inverse mass (J); none if any would. For any
/// precision of numbers.
pub(super) fn allowed_share<T: RealField + Copy>(gain: T, square: T) -> Option<T> {
    let number = |x: f64| nalgebra::convert::<f64, T>(x);
    if !(square > T::zero()) {
        return None;
    }
    let share = number(2.0) * gain / square;
    if !(share > T::zero()) {
        return None;
    }
    // Smaller by more than the round-off of the sums of the caller.
    Some(if share >= T::one() { share } else { share * (T::one() - number(45.0) * T::default_epsilon()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix3, Rotation3, Vector3};

    /// One side of a pair in single precision.
    struct Single {
        inverse_mass: f32,
        inverse_inertia: Matrix3<f32>,
        velocity: Vector3<f32>,
        momentum: Vector3<f32>,
        arm: Vector3<f32>,
    }

    impl Single {
        fn energy(&self, impulse: &Vector3<f32>) -> f32 {
            let velocity = self.velocity + impulse * self.inverse_mass;
            let momentum = self.momentum + self.arm.cross(impulse);
            0.5 * (velocity.norm_squared() / self.inverse_mass
                + momentum.dot(&(self.inverse_inertia * momentum)))
        }

        fn work(&self, impulse: &Vector3<f32>) -> f32 {
            let torque = self.arm.cross(impulse);
            impulse.dot(&self.velocity) + torque.dot(&(self.inverse_inertia * self.momentum))
        }

        fn square(&self, impulse: &Vector3<f32>) -> f32 {
            let torque = self.arm.cross(impulse);
            impulse.norm_squared() * self.inverse_mass + torque.dot(&(self.inverse_inertia * torque))
        }
    }

    /// A11 with its tolerance in units of the precision.
    #[test]
    fn clamped_impulses_add_no_energy_in_single_precision() {
        let mut seed = 11u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        let (mut gain, mut free, mut scaled, mut kept) = (0.0f32, 0.0f32, 0, 0);
        for _ in 0..100_000 {
            let mut vector = |scale: f32| Vector3::from_fn(|_, _| scale * random());
            let mut side = || {
                let turn = Rotation3::new(vector(3.0));
                let moments = vector(1.0).map(|x| 10f32.powf(x));
                Single {
                    inverse_mass: 10f32.powf(vector(1.0).x),
                    inverse_inertia: turn * Matrix3::from_diagonal(&moments) * turn.inverse(),
                    velocity: vector(2.0),
                    momentum: vector(2.0),
                    arm: vector(1.0),
                }
            };
            let (a, b) = (side(), side());
            let impulse = vector(2.0);
            let share =
                allowed_share(b.work(&impulse) - a.work(&impulse), a.square(&impulse) + b.square(&impulse));
            let before = a.energy(&Vector3::zeros()) + b.energy(&Vector3::zeros());
            let after = |share: f32| a.energy(&(impulse * share)) + b.energy(&(impulse * -share));
            free = free.max(after(1.0) / before - 1.0);
            let Some(share) = share else { continue };
            scaled += usize::from(share < 1.0);
            kept += usize::from(share >= 1.0);
            gain = gain.max(after(share.min(1.0)) / before - 1.0);
        }
        let scale = (f64::from(f32::EPSILON) / f64::EPSILON) as f32;
        assert!(gain < 1e-12 * scale, "{gain}");
        assert!(free > 1.0 && scaled > 1000 && kept > 1000, "{free} {scaled} {kept}");
    }
}
