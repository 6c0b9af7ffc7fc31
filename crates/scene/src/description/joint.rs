//! Joints, motors and prescribed motion.

use super::Rotation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint between two rigid bodies, or between a body and the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Name, unique among the joints of the scene.
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// What the joint lets its bodies do.
    pub kind: JointKind,
    /// Name of the first body, or `"world"`.
    #[serde(default = "world", skip_serializing_if = "is_world")]
    pub parent: String,
    /// Name of the second body, or `"world"`.
    pub child: String,
    /// Where the joint is at the start (m, in the world). Default: the child's centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub at: Option<Vec<f64>>,
    /// Direction of the joint's x axis at the start, in the world: the axis of a hinge, a twist or a slide, the first axis of a universal joint, the
    /// normal of a normal joint; its length does not matter. Default: x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub axis: Option<Vec<f64>>,
    /// Direction of the joint's y axis at the start, in the world (3D): the second axis of a universal joint. What it has along `axis` does not count. Default:
    /// where the smallest turn from x to `axis` takes y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub second_axis: Option<Vec<f64>>,
    /// The point of the child, in its own coordinates (m), that is to be at `at`. Default: the point that is there at the start. If it is another, the first step puts the
    /// bodies together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub child_point: Option<Vec<f64>>,
    /// For a `generic` joint: what each translation along the joint's axes may do. Default: all locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub translation: Option<Vec<Freedom>>,
    /// For a `generic` joint: what each rotation about the joint's axes may do (one in 2D, three in 3D). Default: all locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Vec<Freedom>>,
    /// Limits of what moves.
    #[serde(default, skip_serializing_if = "JointLimits::is_empty")]
    pub limits: JointLimits,
    /// Viscous damping of rotations (N m s/rad).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub damping: f64,
    /// Viscous damping of slides (N s/m).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub slide_damping: f64,
    /// Motors and position controls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub motors: Vec<Motor>,
    /// Control of the whole orientation of a `point` joint (3D).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pose: Option<Pose>,
    /// Whether the two bodies collide with each other.
    #[serde(default, skip_serializing_if = "is_false")]
    pub collide: bool,
}

/// Kinds of joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Nothing moves.
    Rigid,
    /// A ball in its socket; in 2D a pin.
    Point,
    /// Turns about the axis; in 2D a pin.
    Hinge,
    /// Turns about the axis, which lies along the bodies (3D).
    Twist,
    /// Turns about the parent's axis and about one across it in the child, as a cardan shaft (3D).
    Universal,
    /// Slides along the axis.
    Prismatic,
    /// Slides along the axis and turns about it; in 2D a pin in a slot.
    PrismaticTwist,
    /// Keeps the distance along the axis only.
    Normal,
    /// Each coordinate as `translation` and `rotation` say.
    Generic,
}

/// What one coordinate of a generic joint may do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Freedom {
    /// `"free"` or `"locked"`.
    Word(FreedomWord),
    /// Between two values.
    Between(Between),
}

/// All or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreedomWord {
    /// Moves freely.
    Free,
    /// Does not move.
    Locked,
}

/// A range of a coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Between {
    /// Least value (m or degrees).
    pub min: f64,
    /// Largest value (m or degrees).
    pub max: f64,
}

/// Limits `[least, largest]` of the coordinates of a joint; zero is where the bodies are at the start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointLimits {
    /// Rotation about the axis (degrees, between -180 and 180); of a point joint in 3D the twist about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 2))]
    pub angle: Option<Vec<f64>>,
    /// Rotation about the second axis of a universal joint, or the swing of a point joint about its y axis (degrees).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 2))]
    pub second_angle: Option<Vec<f64>>,
    /// The swing of a point joint about its z axis (degrees).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 2))]
    pub third_angle: Option<Vec<f64>>,
    /// Translation along the axis (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 2))]
    pub slide: Option<Vec<f64>>,
}

/// A motor: drives one coordinate of a joint to a speed or to a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// The coordinate that is driven.
    #[serde(default, skip_serializing_if = "is_angle")]
    pub drives: MotorCoordinate,
    /// Wanted speed (rad/s; m/s of a slide). A motor has either `speed` or `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Signal>,
    /// Wanted position (degrees; m of a slide). A motor has either `speed` or `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Signal>,
    /// How fast a `target` is approached: the square of the natural frequency (1/s^2), independent of what hangs on the joint.
    #[serde(default = "hundred")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: f64,
    /// Damping of the approach to a `target` relative to critical damping (no unit): below 1 it overshoots.
    #[serde(default = "one")]
    #[schemars(range(min = 0))]
    pub damping_ratio: f64,
    /// Largest torque (N m), or force of a slide (N). Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_torque: Option<f64>,
}

/// A coordinate that a motor drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MotorCoordinate {
    /// Rotation about the axis.
    #[default]
    Angle,
    /// Rotation about the second axis.
    SecondAngle,
    /// Rotation about the third axis.
    ThirdAngle,
    /// Translation along the axis.
    Slide,
}

/// Control of the orientation of a point joint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pose {
    /// Wanted rotation of the child from where it is at the start, as a rotation vector in the joint's axes (degrees); each component is a number or changes with time.
    #[schemars(length(min = 3, max = 3))]
    pub target: Vec<Signal>,
    /// How fast the target is approached: the square of the natural frequency (1/s^2).
    #[serde(default = "hundred")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub stiffness: f64,
    /// Damping relative to critical damping (no unit).
    #[serde(default = "one")]
    #[schemars(range(min = 0))]
    pub damping_ratio: f64,
    /// Largest torque about each axis (N m). Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_torque: Option<f64>,
}

/// A number, or one that changes with time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Signal {
    /// Always the same.
    Constant(f64),
    /// A sine wave.
    Sine(SineSignal),
    /// Straight lines between points.
    Points(PointSignal),
    /// Grows from 0 at the start.
    Ramp(RampSignal),
}

/// `offset + amplitude sin(2 pi frequency t + phase)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SineSignal {
    /// Half of the swing, in the unit of the signal.
    pub amplitude: f64,
    /// Swings a second (1/s).
    pub frequency: f64,
    /// Middle value, in the unit of the signal.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: f64,
    /// Phase at the start (degrees).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub phase: f64,
    /// Time in which the amplitude grows from zero (s).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub rise: f64,
}

/// Straight lines between points; constant before the first and after the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointSignal {
    /// Times (s), ascending.
    #[schemars(length(min = 1))]
    pub times: Vec<f64>,
    /// Values at these times, in the unit of the signal.
    #[schemars(length(min = 1))]
    pub values: Vec<f64>,
}

/// A steady rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RampSignal {
    /// Change a second, in the unit of the signal.
    pub rate: f64,
}

/// Motion of a kinematic body: a turn and a shift by formula, or keyframes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// Turn from the orientation at the start (degrees).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Signal>,
    /// Axis of the turn (3D); its length does not matter. Default: z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub axis: Option<Vec<f64>>,
    /// A point that the axis goes through (m). Default: the body's position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub about: Option<Vec<f64>>,
    /// Shift from the position at the start, along `direction` (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<Signal>,
    /// Direction of the shift; its length does not matter. Default: y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub direction: Option<Vec<f64>>,
    /// Where the body is at given times; straight lines and shortest turns between them. Excludes the fields above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keyframes: Vec<Keyframe>,
    /// Start again with the first keyframe after the last.
    #[serde(default, skip_serializing_if = "is_false")]
    pub repeat: bool,
}

/// Where a body is at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Time (s); keyframes are in ascending order.
    pub time: f64,
    /// Centre of mass (m). Default: the body's position at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// Orientation. Default: that at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
}

/// A robot or mechanism from a URDF or MJCF file: its links become rigid bodies, its joints joints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// The file, relative to this one. URDF has the root element `robot`, MJCF `mujoco`.
    pub file: String,
    /// Put before the name of every body and joint, with a hyphen. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-name" = true))]
    pub prefix: Option<String>,
    /// Where the origin of the file is placed (m). Default: the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub position: Option<Vec<f64>>,
    /// How the file is turned. Default: its z axis, which points up in such files, becomes y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Whether the root link of a URDF file is fixed to the world.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub fixed: bool,
}

fn world() -> String {
    "world".into()
}

fn is_world(name: &str) -> bool {
    name == "world"
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_angle(coordinate: &MotorCoordinate) -> bool {
    *coordinate == MotorCoordinate::Angle
}

fn hundred() -> f64 {
    100.0
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

impl JointLimits {
    /// Are there none?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Joint {
    /// A joint of the given kind between two bodies named as in the scene (`"world"` for none).
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        parent: impl Into<String>,
        child: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            parent: parent.into(),
            child: child.into(),
            at: None,
            axis: None,
            second_axis: None,
            child_point: None,
            translation: None,
            rotation: None,
            limits: JointLimits::default(),
            damping: 0.0,
            slide_damping: 0.0,
            motors: Vec::new(),
            pose: None,
            collide: false,
        }
    }

    /// Sets where it is (m).
    pub fn at(mut self, at: impl Into<Vec<f64>>) -> Self {
        self.at = Some(at.into());
        self
    }

    /// Sets its axis.
    pub fn axis(mut self, axis: impl Into<Vec<f64>>) -> Self {
        self.axis = Some(axis.into());
        self
    }

    /// Limits the rotation about the axis (degrees).
    pub fn limit_angle(mut self, min: f64, max: f64) -> Self {
        self.limits.angle = Some(vec![min, max]);
        self
    }

    /// Limits the translation along the axis (m).
    pub fn limit_slide(mut self, min: f64, max: f64) -> Self {
        self.limits.slide = Some(vec![min, max]);
        self
    }

    /// Sets the viscous damping of rotations (N m s/rad).
    pub fn damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
    }

    /// Adds a motor.
    pub fn motor(mut self, motor: Motor) -> Self {
        self.motors.push(motor);
        self
    }
}

impl Default for Motor {
    /// Drives the angle; give it a speed or a target.
    fn default() -> Self {
        Self {
            drives: MotorCoordinate::Angle,
            speed: None,
            target: None,
            stiffness: hundred(),
            damping_ratio: one(),
            max_torque: None,
        }
    }
}
