//! Joints between rigid bodies (spec/rigid-bodies.md 3.13-3.16).
//!
//! A joint leaves each of the relative coordinates of its two bodies free, locks it or limits it; drives push free coordinates to targets.
//! Whatever the kind, a joint is rows of a Jacobian ([`rows`]), and four processes act on them:
//!
//! | process | acts on | function |
//! |---|---|---|
//! | pre-stabilisation | velocities before the position update, so that joints hold after it | [`pre_stabilize`] |
//! | assembly | positions only, for what is left or for a scrambled start | [`assemble`] |
//! | post-stabilisation | velocities at the new positions | [`post_stabilize`] |
//! | response | what contact pushes on moves together | [`Articulated`], [`hold_against_contact`] |
//! | projection | twists, inside implicit solves | [`project`] and the block of [`rows::block`] |
//!
//! Used in that order with the impulses of the first kept, they are the RATTLE scheme: momentum and angular momentum of isolated systems are
//! constant to round-off, and energy does not drift.

mod articulated;
mod assemble;
mod coordinates;
mod drive;
mod pairwise;
mod post;
mod pre;
pub mod rows;
mod solver;
#[cfg(test)]
mod tests;

pub use articulated::{Articulated, Columns, JointDemand, JointedSet, hold_against_contact};
pub use assemble::{AssemblyOptions, AssemblyReport, assemble, assemble_anyhow};
pub use coordinates::{JointErrors, joint_errors};
pub use drive::{Control, Drive, Plan, PoseDrive, Signal, plan, response};
pub use pairwise::{Stabilization, post_stabilize_pairwise, pre_stabilize_pairwise, project_by_sweeps};
pub use post::{HeldJointRow, PostOptions, PostReport, held_rows, post_stabilize, project};
pub use pre::{Goal, Impulses, PreOptions, PreReport, pre_stabilize};

use crate::{Body, Kind};
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Frame, Space, Vector};

/// What one relative coordinate of a joint may do.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Freedom {
    /// Anything.
    #[default]
    Free,
    /// Stays zero.
    Locked,
    /// Stays between two values (m or rad).
    Limited {
        /// Least value.
        min: f64,
        /// Largest value.
        max: f64,
    },
}

/// The usual kinds of joints; each is a choice of [`Freedom`] for every coordinate. The joint's first axis, `x`, is its special one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Nothing moves.
    Rigid,
    /// A ball in its socket: turns freely. In 2D a pin.
    Point,
    /// Turns about `x`, which lies across the bodies. In 2D a pin.
    Hinge,
    /// Turns about `x`, which lies along the bodies.
    Twist,
    /// Turns about the parent's `x` and the child's `y`, as in a cardan shaft.
    Universal,
    /// Slides along `x`.
    Prismatic,
    /// Slides along `x` and turns about it; in 2D a pin in a slot.
    PrismaticTwist,
    /// Keeps the distance along `x` only, as a contact does.
    Normal,
}

impl JointKind {
    /// Freedoms of the linear coordinates (the first `D` entries count) and of the angular ones; `None` if the kind needs a third dimension.
    pub fn freedoms<const D: usize>(self) -> Option<([Freedom; D], [Freedom; 3])> {
        use Freedom::{Free, Locked};
        let locked = [Locked; D];
        let mut slide = locked;
        slide[0] = Free;
        let mut normal = [Free; D];
        normal[0] = Locked;
        let about_x = [Free, Locked, Locked];
        match self {
            Self::Rigid => Some((locked, [Locked; 3])),
            Self::Point => Some((locked, [Free; 3])),
            Self::Hinge => Some((locked, about_x)),
            Self::Twist | Self::Universal if D == 2 => None,
            Self::Twist => Some((locked, about_x)),
            Self::Universal => Some((locked, [Free, Free, Locked])),
            Self::Prismatic => Some((slide, [Locked; 3])),
            Self::PrismaticTwist => Some((slide, about_x)),
            Self::Normal => Some((normal, [Free; 3])),
        }
    }
}

/// A joint: constant during a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Unique name.
    pub name: String,
    /// First body; `None` is the world, which never moves.
    pub parent: Option<usize>,
    /// Second body.
    pub child: Option<usize>,
    /// The joint's frame in the parent's object coordinates (in world coordinates for the world).
    pub parent_frame: Frame<D>,
    /// The joint's frame in the child's object coordinates. Both frames coincide where all coordinates are zero.
    pub child_frame: Frame<D>,
    /// Translation of the child along the parent's joint axes (m).
    pub linear: [Freedom; D],
    /// Rotation of the child relative to the parent (rad); the first entry only in 2D. With two locked: the angle about the third
    /// axis; with one locked: the angles of a cardan joint, about the parent's first free axis and the child's second one (in cyclic
    /// order); with none: twist about `x`, and the swing of `x` about `y` and `z`.
    pub angular: [Freedom; 3],
    /// Viscous damping of linear coordinates that are not locked (N s/m).
    pub linear_damping: f64,
    /// Viscous damping of angular coordinates that are not locked (N m s/rad).
    pub angular_damping: f64,
    /// Motors and position controls of single coordinates.
    pub drives: Vec<Drive>,
    /// Control of the whole orientation of a joint without locked angles (3D).
    pub pose: Option<PoseDrive>,
    /// Do the two bodies collide with each other?
    pub collide: bool,
    /// Size by which angles are compared with lengths (m): how far the joint is from the bodies' centres, or their radius of gyration.
    length: f64,
}

/// A joint that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JointError {
    /// A body that does not exist.
    #[error("joint `{name}` joins body {index}, but there are {count} bodies")]
    Body {
        /// Name of the joint.
        name: String,
        /// Index asked for.
        index: usize,
        /// Number of bodies.
        count: usize,
    },
    /// Both ends are the same.
    #[error("joint `{name}` joins `{body}` to itself")]
    Itself {
        /// Name of the joint.
        name: String,
        /// Name of the body, or `world`.
        body: String,
    },
    /// Neither end can be moved.
    #[error("joint `{name}`: neither `{parent}` nor `{child}` can move; one of them must be dynamic")]
    Immovable {
        /// Name of the joint.
        name: String,
        /// Name of the parent, or `world`.
        parent: String,
        /// Name of the child, or `world`.
        child: String,
    },
    /// Limits that exclude everything.
    #[error("joint `{name}`: the limits from {min} to {max} are reversed or not finite")]
    Limits {
        /// Name of the joint.
        name: String,
        /// Least value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// Limits of an angle that go beyond a full turn.
    #[error("joint `{name}`: the limits from {min} to {max} rad leave the range of the angle, -pi to pi")]
    Turn {
        /// Name of the joint.
        name: String,
        /// Least value (rad).
        min: f64,
        /// Largest value (rad).
        max: f64,
    },
    /// A frame, damping or drive with a value that makes no sense.
    #[error("joint `{name}`: {what} is {value}; expected {expected}")]
    Value {
        /// Name of the joint.
        name: String,
        /// Which number.
        what: &'static str,
        /// Offending value.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// A drive of a coordinate that is locked or does not exist.
    #[error("joint `{name}`: its drive number {drive} moves a coordinate that is locked or does not exist")]
    Drive {
        /// Name of the joint.
        name: String,
        /// Index of the drive, from 0.
        drive: usize,
    },
    /// A kind of joint that the plane does not have.
    #[error("joint `{name}`: a {kind:?} joint needs three dimensions")]
    Dimension {
        /// Name of the joint.
        name: String,
        /// The kind.
        kind: JointKind,
    },
}

impl<const D: usize> Joint<D>
where
    Dim<D>: Space<D>,
{
    /// Scalars of a relative motion: 3 in 2D, 6 in 3D.
    pub const COORDINATES: usize = D + <Dim<D> as Space<D>>::SPIN;

    /// A joint of the given kind between two bodies (`None` is the world) whose frames coincide with `frame` (in world coordinates) where
    /// the bodies are now: `at[i]` is the frame of body `i`.
    pub fn between(
        name: impl Into<String>,
        kind: JointKind,
        parent: Option<usize>,
        child: Option<usize>,
        frame: &Frame<D>,
        at: &[Frame<D>],
    ) -> Result<Self, JointError> {
        let name = name.into();
        let Some((linear, angular)) = kind.freedoms::<D>() else {
            return Err(JointError::Dimension { name, kind });
        };
        let local = |end: Option<usize>| match end {
            None => Ok(*frame),
            Some(index) => at.get(index).map(|body| body.inverse().compose(frame)).ok_or(JointError::Body {
                name: name.clone(),
                index,
                count: at.len(),
            }),
        };
        let (parent_frame, child_frame) = (local(parent)?, local(child)?);
        Ok(Self {
            name,
            parent,
            child,
            parent_frame,
            child_frame,
            linear,
            angular,
            linear_damping: 0.0,
            angular_damping: 0.0,
            drives: Vec::new(),
            pose: None,
            collide: false,
            length: 1.0,
        })
    }

    /// The frame at `point` (m) whose `x` axis is `axis` (any length but zero; `None` keeps the world's axes).
    pub fn frame_at(point: Vector<D>, axis: Option<&Vector<D>>) -> Frame<D> {
        let mut x = Vector::<D>::zeros();
        x[0] = 1.0;
        let rotation = axis.map_or_else(Dim::identity, |axis| Dim::rotation_between(&x, axis));
        Frame { position: point, rotation }
    }

    /// Limits of the linear coordinate `axis` (m).
    pub fn limit_linear(mut self, axis: usize, min: f64, max: f64) -> Self {
        self.linear[axis] = Freedom::Limited { min, max };
        self
    }

    /// Limits of the angular coordinate `axis` (rad).
    pub fn limit_angular(mut self, axis: usize, min: f64, max: f64) -> Self {
        self.angular[axis] = Freedom::Limited { min, max };
        self
    }

    /// Adds a drive.
    pub fn drive(mut self, drive: Drive) -> Self {
        self.drives.push(drive);
        self
    }

    /// Freedom of coordinate `slot`: linear ones first.
    pub fn freedom(&self, slot: usize) -> Freedom {
        if slot < D { self.linear[slot] } else { self.angular[slot - D] }
    }

    /// Length (m) by which this joint compares angles with lengths.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Checks the joint against the bodies it joins, and measures its length.
    #[inline(never)]
    pub fn checked(mut self, bodies: &[Body<D>]) -> Result<Self, JointError> {
        let name = || self.name.clone();
        for index in [self.parent, self.child].into_iter().flatten() {
            if index >= bodies.len() {
                return Err(JointError::Body { name: name(), index, count: bodies.len() });
            }
        }
        let called = |end: Option<usize>| end.map_or("world".to_owned(), |index| bodies[index].name.clone());
        if self.parent == self.child {
            return Err(JointError::Itself { name: name(), body: called(self.parent) });
        }
        let dynamic = |end: Option<usize>| end.is_some_and(|index| bodies[index].kind == Kind::Dynamic);
        if !dynamic(self.parent) && !dynamic(self.child) {
            return Err(JointError::Immovable {
                name: name(),
                parent: called(self.parent),
                child: called(self.child),
            });
        }
        for slot in 0..Self::COORDINATES {
            if let Freedom::Limited { min, max } = self.freedom(slot) {
                if !(min.is_finite() && max.is_finite() && min <= max) {
                    return Err(JointError::Limits { name: name(), min, max });
                }
                if slot >= D && !(min >= -std::f64::consts::PI && max <= std::f64::consts::PI) {
                    return Err(JointError::Turn { name: name(), min, max });
                }
            }
        }
        for (what, value) in
            [("linear damping", self.linear_damping), ("angular damping", self.angular_damping)]
        {
            if !(value.is_finite() && value >= 0.0) {
                let expected = "a finite number of at least 0";
                return Err(JointError::Value { name: name(), what, value, expected });
            }
        }
        for (index, drive) in self.drives.iter().enumerate() {
            if drive.coordinate >= Self::COORDINATES || self.freedom(drive.coordinate) == Freedom::Locked {
                return Err(JointError::Drive { name: name(), drive: index });
            }
            drive.check(&self.name)?;
        }
        if let Some(pose) = &self.pose {
            if D == 2 || self.angular.contains(&Freedom::Locked) {
                return Err(JointError::Drive { name: name(), drive: 0 });
            }
            pose.check(&self.name)?;
        }
        self.length = self.measure(bodies);
        Ok(self)
    }

    fn measure(&self, bodies: &[Body<D>]) -> f64 {
        let mut length = 0.0f64;
        for (end, frame) in [(self.parent, &self.parent_frame), (self.child, &self.child_frame)] {
            let Some(body) = end.map(|index| &bodies[index]).filter(|body| body.is_dynamic()) else {
                continue;
            };
            let n = <Dim<D> as Space<D>>::SPIN;
            let entries = Dim::inertia_entries(&body.inertia);
            let largest = (0..n).map(|i| entries[i * n + i]).fold(0.0, f64::max);
            length = length.max(frame.position.norm()).max((largest / body.mass).sqrt());
        }
        if length > 0.0 { length } else { 1.0 }
    }

    /// World frames of the joint on the parent's and on the child's side.
    pub fn world_frames(&self, at: impl Fn(usize) -> Frame<D>) -> [Frame<D>; 2] {
        [(self.parent, &self.parent_frame), (self.child, &self.child_frame)].map(|(end, frame)| match end {
            None => *frame,
            Some(index) => at(index).compose(frame),
        })
    }
}
