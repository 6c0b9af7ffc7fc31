//! Where a joint is: the relative coordinates of its bodies, and the axes along which they change.

use super::{Freedom, Joint};
use splashdown_math::{Coordinates, Dim, Frame, Rotation, Space, Spin, Vector};
use std::f64::consts::{PI, TAU};

/// `angle` brought into (-pi, pi].
pub(super) fn wrapped(angle: f64) -> f64 {
    let turns = (angle + PI) / TAU;
    let rest = angle - TAU * turns.floor();
    if rest <= -PI { rest + TAU } else { rest }
}

/// Relative coordinates of a joint and their rates.
///
/// Coordinate `k < D` is the translation along the parent's axis `k`, the others are angles. The rate of linear coordinate `k` is
/// `linear[k] . (v_child - v_parent)`, both at `point`; that of angular coordinate `k` is `angular[k] . (omega_child - omega_parent)`. Both are exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pose<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Where the rates of the linear coordinates are taken and forces act: the child's anchor.
    pub point: Vector<D>,
    /// Values (m, rad); for a locked one its error.
    pub value: [f64; 6],
    /// Axes of the linear coordinates.
    pub linear: [Vector<D>; D],
    /// Axes of the angular coordinates.
    pub angular: [Spin<D>; 3],
    /// The parent's joint axes as spins.
    pub parent_axes: [Spin<D>; 3],
    /// Orientation of the child's joint frame in the parent's.
    pub rotation: Rotation<D>,
    /// A coordinate that has no meaning here: the twist of a ball joint that is bent by nearly half a turn.
    pub lost: Option<usize>,
}

/// Cosine of the bend of a ball joint beyond which its twist is not looked at: it changes by a full turn around the half turn.
const LOST_TWIST: f64 = -0.9;

fn unit_spin<const D: usize>(axis: usize) -> Spin<D>
where
    Dim<D>: Space<D>,
{
    let mut unit = [0.0; 3];
    unit[axis] = 1.0;
    Spin::<D>::from_slice(&unit)
}

impl<const D: usize> Pose<D>
where
    Dim<D>: Space<D>,
{
    pub fn of(joint: &Joint<D>, [parent, child]: &[Frame<D>; 2]) -> Self {
        let spins = <Dim<D> as Space<D>>::SPIN;
        let offset = child.position - parent.position;
        let linear: [Vector<D>; D] = std::array::from_fn(|k| {
            let mut unit = Vector::<D>::zeros();
            unit[k] = 1.0;
            parent.vector_to_world(&unit)
        });
        let axes = |frame: &Frame<D>| -> [Spin<D>; 3] {
            std::array::from_fn(|k| {
                if k < spins {
                    Dim::rotate_spin(&frame.rotation, &unit_spin::<D>(k))
                } else {
                    Spin::<D>::zero()
                }
            })
        };
        let parent_axes = axes(parent);
        let rotation = Dim::compose(&Dim::inverse(&parent.rotation), &child.rotation);
        let mut pose = Self {
            point: child.position,
            value: [0.0; 6],
            linear,
            angular: parent_axes,
            parent_axes,
            rotation,
            lost: None,
        };
        for k in 0..D {
            pose.value[k] = linear[k].dot(&offset);
        }
        let locked: Vec<usize> = (0..spins).filter(|&k| joint.angular[k] == Freedom::Locked).collect();
        match (spins, locked.as_slice()) {
            (1, _) | (_, [_, _, _]) => {
                let turn = Dim::log(&rotation);
                pose.value[D..D + spins].copy_from_slice(turn.as_slice());
            }
            (_, [a, b]) => pose.swing_and_twist(3 - a - b, &axes(child)),
            (_, [k]) => pose.cardan(*k, &axes(child)),
            _ => {
                pose.swing_and_twist(0, &axes(child));
                if pose.parent_axes[0].dot(&axes(child)[0]) < LOST_TWIST {
                    pose.lost = Some(D);
                }
            }
        }
        pose
    }

    /// Angle of twist about axis `k`, and the swing of that axis about the other two as a rotation vector.
    fn swing_and_twist(&mut self, k: usize, child: &[Spin<D>; 3]) {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let (p, c) = (self.parent_axes[k], child[k]);
        let across = Dim::spin_commutator(&p, &c);
        let (sine, cosine) = (across.norm(), p.dot(&c));
        let angle = sine.atan2(cosine);
        // The swing vector is f(angle) (p x c), f = angle / sin(angle). A half turn has no axis: the first free one will do.
        let singular = sine < 1e-9;
        let f = if angle < 1e-4 { 1.0 + angle * angle / 6.0 } else { angle / sine.max(1e-9) };
        let swing = if singular && cosine < 0.0 { self.parent_axes[i] * PI } else { across * f };
        // Its rate is f [(p.c) p_i - (c.p_i) p] . omega + f' (p x c)_i times the rate of the angle.
        let slope = if angle < 1e-3 { angle / 3.0 } else { (sine - angle * cosine) / (sine * sine) };
        for axis in [i, j] {
            let unit = self.parent_axes[axis];
            self.value[D + axis] = swing.dot(&unit);
            self.angular[axis] = if singular || angle > 3.0 {
                unit
            } else {
                let along = across * (1.0 / sine);
                unit * (f * cosine) - p * (f * c.dot(&unit)) + along * (slope * across.dot(&unit))
            };
        }
        let unswung = Dim::rotate_spin(&Dim::exp(&-swing), &child[i]);
        self.value[D + k] = Dim::spin_commutator(&self.parent_axes[i], &unswung)
            .dot(&p)
            .atan2(self.parent_axes[i].dot(&unswung));
        self.angular[k] = if cosine > -0.99 { (p + c) * (1.0 / (1.0 + cosine)) } else { p };
    }

    /// Cardan angles: about the parent's axis `i`, then about the child's axis `j`, with nothing about `k`; (i, j, k) is cyclic.
    fn cardan(&mut self, k: usize, child: &[Spin<D>; 3]) {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let (first, second) = (self.parent_axes[i], child[j]);
        let normal = Dim::spin_commutator(&first, &second);
        self.value[D + i] = self.parent_axes[k].dot(&second).atan2(self.parent_axes[j].dot(&second));
        self.value[D + j] = first.dot(&child[k]).atan2(first.dot(&child[i]));
        // R = Rot_i(a) Rot_j(b) Rot_k(c) has e_i . R e_j = -cos b sin c.
        self.value[D + k] = -first.dot(&second).clamp(-1.0, 1.0).asin();
        self.angular[k] = normal;
        // omega = a' first + b' second + c' normal where the first two are at right angles.
        self.angular[i] = first;
        self.angular[j] = second;
    }
}

/// Largest violations of a set of joints.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointErrors {
    /// Of locked translations (m).
    pub linear: f64,
    /// Of locked angles (rad).
    pub angular: f64,
    /// Beyond the limits of translations (m).
    pub linear_limit: f64,
    /// Beyond the limits of angles (rad).
    pub angular_limit: f64,
    /// The largest of all, relative to the length of its joint.
    pub relative: f64,
}

/// How far `joints` are from what they demand, with body `i` at `at(i)`.
pub fn joint_errors<const D: usize>(joints: &[Joint<D>], at: impl Fn(usize) -> Frame<D>) -> JointErrors
where
    Dim<D>: Space<D>,
{
    let mut worst = JointErrors::default();
    for joint in joints {
        let pose = Pose::of(joint, &joint.world_frames(&at));
        for slot in 0..Joint::<D>::COORDINATES {
            let value = pose.value[slot];
            let (error, limit) = match joint.freedom(slot) {
                Freedom::Free => continue,
                Freedom::Limited { .. } if pose.lost == Some(slot) => continue,
                Freedom::Locked => (value.abs(), false),
                Freedom::Limited { min, max } => {
                    let value = near(value, min, max, slot >= D);
                    ((min - value).max(value - max).max(0.0), true)
                }
            };
            let (kept, scale) = match (slot < D, limit) {
                (true, false) => (&mut worst.linear, joint.length),
                (false, false) => (&mut worst.angular, 1.0),
                (true, true) => (&mut worst.linear_limit, joint.length),
                (false, true) => (&mut worst.angular_limit, 1.0),
            };
            // A NaN must not hide behind a smaller error.
            *kept = if error.is_nan() { error } else { kept.max(error) };
            let relative = error / scale;
            worst.relative = if relative.is_nan() { relative } else { worst.relative.max(relative) };
        }
    }
    worst
}

/// `value`, an angle turned by whole turns so that it is nearest to the middle of the range; lengths as they are.
pub(super) fn near(value: f64, min: f64, max: f64, angle: bool) -> f64 {
    if !angle {
        return value;
    }
    let middle = 0.5 * (min + max);
    middle + wrapped(value - middle)
}

#[cfg(test)]
mod tests {
    use super::super::JointKind;
    use super::*;
    use crate::{Body, BodyState};
    use proptest::prelude::*;
    use splashdown_math::Twist;

    /// Values and rates of every coordinate against central differences of the motion of both bodies.
    fn rates_are_derivatives<const D: usize>(kind: JointKind, v: &[f64], small: f64)
    where
        Dim<D>: Space<D>,
    {
        let frame = |v: &[f64], scale: f64| Frame::<D> {
            position: Vector::from_fn(|i, _| v[i]),
            rotation: Dim::exp(&(Spin::<D>::from_slice(&v[3..6]) * scale)),
        };
        let bodies = [frame(v, 1.0), frame(&v[6..], 1.0)];
        let world = frame(&v[12..], 1.0);
        let Ok(mut joint) = Joint::between("j", kind, Some(0), Some(1), &world, &bodies) else { return };
        // Out of place, so that locked coordinates have errors too.
        joint.child_frame = joint.child_frame.compose(&frame(&v[18..], small));
        let twists = [Twist::<D>::read(&v[24..]), Twist::<D>::read(&v[30..])];
        let pose = |t: f64| Pose::of(&joint, &joint.world_frames(|i| bodies[i].moved(&twists[i], t)));
        let (now, h) = (pose(0.0), 1e-6);
        let (before, after) = (pose(-h), pose(h));
        let arms = [0, 1].map(|i| now.point - bodies[i].position);
        let velocity = twists[1].at(&arms[1]) - twists[0].at(&arms[0]);
        let spin = twists[1].angular - twists[0].angular;
        for slot in 0..Joint::<D>::COORDINATES {
            let rate = match slot < D {
                true => now.linear[slot].dot(&velocity),
                false => now.angular[slot - D].dot(&spin),
            };
            // A cardan joint's rates are exact where its locked angle is zero; they are used only there.
            let locked_cardan = kind == JointKind::Universal && small > 0.0;
            let slope = wrapped(after.value[slot] - before.value[slot]) / (2.0 * h);
            if !(locked_cardan && slot >= D) {
                assert!((rate - slope).abs() < 2e-5, "{kind:?} slot {slot}: {rate} and {slope}");
            }
        }
    }

    proptest! {
        #[test]
        fn rates_of_the_coordinates_are_their_derivatives(v in prop::collection::vec(-1.0..1.0f64, 36), small in prop_oneof![Just(0.0), Just(0.7)]) {
            use JointKind::*;
            // Twists of bodies that turn: the derivative is of the motion with constant spin.
            for kind in [Rigid, Point, Hinge, Twist, Universal, Prismatic, PrismaticTwist, Normal] {
                let free = !matches!(kind, Point | Normal);
                let small = if kind == Rigid || kind == Prismatic { 0.0 } else { small };
                // A locked triple uses the rotation vector, whose rate is exact at zero only.
                if free || small == 0.0 || kind == Point {
                    rates_are_derivatives::<2>(kind, &v, small);
                    rates_are_derivatives::<3>(kind, &v, small);
                }
            }
        }
    }

    #[test]
    fn angles_wrap_to_half_open_range() {
        for (angle, expected) in [(0.0, 0.0), (PI, PI), (-PI, PI), (1.5 * PI, -0.5 * PI), (7.0, 7.0 - TAU)] {
            assert!((wrapped(angle) - expected).abs() < 1e-15, "{angle}: {}", wrapped(angle));
        }
        assert!((near(-3.0, 2.0, 3.1, true) - (TAU - 3.0)).abs() < 1e-15);
    }

    #[test]
    fn errors_are_what_was_moved() {
        let body = |name: &str| Body::<3>::new(name, crate::Kind::Dynamic, 1.0, &[0.1; 3]).unwrap();
        let bodies = [body("a"), body("b")];
        let frames = [Frame::<3>::identity(); 2];
        let joint = Joint::between("j", JointKind::Hinge, Some(0), Some(1), &Frame::identity(), &frames)
            .unwrap()
            .limit_angular(0, -0.5, 0.5)
            .checked(&bodies)
            .unwrap();
        let state = BodyState::new(
            &bodies[1],
            Frame {
                position: Vector::from([0.0, 0.3, 0.0]),
                rotation: Dim::<3>::exp(&Vector::from([0.75, 0.0, 0.0])),
            },
            &Twist::zero(),
        );
        let errors = joint_errors(&[joint], |i| if i == 0 { frames[0] } else { state.frame });
        assert!((errors.linear - 0.3).abs() < 1e-15 && errors.angular < 1e-15);
        assert!((errors.angular_limit - 0.25).abs() < 1e-15);
    }
}
