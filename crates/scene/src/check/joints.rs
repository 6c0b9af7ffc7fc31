//! Checks of joints and prescribed motion: what depends on more than one field.

use super::meaning::{Check, key, vanishes};
use crate::description::{
    Freedom, Joint, JointKind, Kind, Motion, MotorCoordinate, PointSignal, Rigid, Signal,
};
use crate::problem::ProblemKind;
use crate::suggest;
use crate::tree::Segment;

impl Check<'_> {
    /// Checks `joints` against the bodies they name.
    pub(super) fn joints(
        &mut self,
        dimension: Option<u64>,
        joints: &[Option<Joint>],
        rigid: &[Option<Rigid>],
    ) {
        // A body that cannot be read is reported on its own; then its joints are not blamed.
        let all_read = rigid.iter().all(Option::is_some);
        for (index, joint) in joints.iter().enumerate() {
            if let Some(joint) = joint {
                self.ends(index, joint, rigid, all_read);
                self.joint(index, dimension, joint);
            }
        }
        for (index, joint) in joints.iter().enumerate().filter_map(|(i, j)| Some((i, j.as_ref()?))) {
            let earlier =
                joints[..index].iter().position(|j| j.as_ref().is_some_and(|j| j.name == joint.name));
            if let Some(earlier) = earlier {
                let name = |n: usize| [key("joint"), Segment::Index(n), key("name")];
                let problem = self
                    .at(
                        &name(index),
                        ProblemKind::DuplicateName,
                        format!("there are two joints called `{}`", joint.name),
                    )
                    .found(format!("{:?}", joint.name))
                    .also(self.origin(&name(earlier)), "the other one is here");
                self.problems.push(problem);
            }
        }
    }

    fn ends(&mut self, index: usize, joint: &Joint, rigid: &[Option<Rigid>], all_read: bool) {
        let path = |field: &str| [key("joint"), Segment::Index(index), key(field)];
        // Kinds of the two bodies; the world does not move.
        let mut kinds = Vec::new();
        for (field, name) in [("parent", &joint.parent), ("child", &joint.child)] {
            let found = rigid.iter().flatten().find(|body| names(body, name));
            match found {
                Some(body) => kinds.push(body.kind),
                None if name == "world" => kinds.push(Kind::Static),
                None if !all_read => {}
                None => {
                    let repeated = rigid.iter().flatten().find(|body| body.name == *name);
                    let known: Vec<&str> =
                        rigid.iter().flatten().map(|b| b.name.as_str()).chain(["world"]).collect();
                    let hint = match (repeated, suggest::nearest(name, known.iter().copied())) {
                        (Some(body), _) => {
                            format!("`{name}` is repeated: its copies are called `{}-1`, ...", body.name)
                        }
                        (None, Some(meant)) => format!("did you mean `{meant}`?"),
                        (None, None) => {
                            "joints join bodies of `[[rigid]]`, or one of them to `\"world\"`".into()
                        }
                    };
                    let problem = self
                        .at(
                            &path(field),
                            ProblemKind::UnknownValue,
                            format!(
                                "joint `{}` joins `{name}`, but there is no rigid body of that name",
                                joint.name
                            ),
                        )
                        .found(format!("{name:?}"))
                        .allowed("the name of a rigid body, or \"world\"")
                        .hint(hint);
                    self.problems.push(problem);
                }
            }
        }
        if joint.parent == joint.child {
            let problem = self
                .at(
                    &path("child"),
                    ProblemKind::Conflict,
                    format!("joint `{}` joins `{}` to itself", joint.name, joint.child),
                )
                .found(format!("{:?}", joint.child))
                .allowed("two different bodies");
            self.problems.push(problem);
        } else if kinds.len() == 2 && kinds.iter().all(|kind| *kind != Kind::Dynamic) {
            let problem = self
                .at(
                    &[key("joint"), Segment::Index(index)],
                    ProblemKind::Conflict,
                    format!(
                        "neither `{}` nor `{}` can be moved by joint `{}`",
                        joint.parent, joint.child, joint.name
                    ),
                )
                .allowed("at least one dynamic body")
                .hint("a static or kinematic body and the world do not yield to a joint");
            self.problems.push(problem);
        }
    }

    fn joint(&mut self, index: usize, dimension: Option<u64>, joint: &Joint) {
        let base = [key("joint"), Segment::Index(index)];
        let below = |fields: &[Segment]| [&base[..], fields].concat();
        if let Some(axis) = joint.axis.as_ref().filter(|axis| vanishes(axis)) {
            let problem = self
                .at(
                    &below(&[key("axis")]),
                    ProblemKind::OutOfRange,
                    "the axis of a joint has no direction: its length is 0",
                )
                .found(format!("{axis:?}"))
                .allowed("an axis such as [0, 0, 1]");
            self.problems.push(problem);
        }
        if dimension == Some(2) && matches!(joint.kind, JointKind::Twist | JointKind::Universal) {
            let problem = self
                .at(
                    &below(&[key("kind")]),
                    ProblemKind::Conflict,
                    "this kind of joint needs a third dimension",
                )
                .hint("in 2D use `hinge`, `prismatic`, `prismatic_twist`, `rigid` or `generic`");
            self.problems.push(problem);
        }
        for (field, given) in
            [("translation", joint.translation.is_some()), ("rotation", joint.rotation.is_some())]
        {
            if given && joint.kind != JointKind::Generic {
                let problem = self
                    .at(
                        &below(&[key(field)]),
                        ProblemKind::Conflict,
                        format!("`{field}` is for joints of kind `generic` only"),
                    )
                    .hint("use `limits`, or kind = \"generic\"");
                self.problems.push(problem);
            }
        }
        let spins = if dimension == Some(2) { 1 } else { 3 };
        if let Some(rotation) = joint.rotation.as_ref().filter(|r| r.len() != spins) {
            let problem = self
                .at(
                    &below(&[key("rotation")]),
                    ProblemKind::WrongLength,
                    format!("`rotation` has {} entries, but needs {spins}", rotation.len()),
                )
                .allowed(format!("{spins} entries"));
            self.problems.push(problem);
        }
        for (field, list) in [("translation", &joint.translation), ("rotation", &joint.rotation)] {
            for (n, freedom) in list.iter().flatten().enumerate() {
                if let Freedom::Between(range) = freedom {
                    let at = below(&[key(field), Segment::Index(n)]);
                    self.range(&at, range.min, range.max, field == "rotation");
                }
            }
        }
        for (coordinate, range) in joint.ranges() {
            let name = coordinate_name(coordinate);
            let at = below(&[key("limits"), key(name)]);
            if let [min, max] = range[..] {
                self.range(&at, min, max, coordinate != MotorCoordinate::Slide);
            }
            if !moves(joint, coordinate, spins) {
                let problem = self
                    .at(
                        &at,
                        ProblemKind::Conflict,
                        format!("joint `{}` has no {} to limit", joint.name, words(coordinate)),
                    )
                    .hint("a joint of this kind locks it, or this dimension does not have it");
                self.problems.push(problem);
            }
        }
        for (n, motor) in joint.motors.iter().enumerate() {
            let at = |field: &str| below(&[key("motors"), Segment::Index(n), key(field)]);
            if motor.speed.is_some() == motor.target.is_some() {
                let problem = self
                    .at(
                        &below(&[key("motors"), Segment::Index(n)]),
                        ProblemKind::Conflict,
                        "a motor has either a `speed` or a `target`",
                    )
                    .allowed("`speed = <rad/s>` or `target = <degrees>`");
                self.problems.push(problem);
            }
            if !moves(joint, motor.drives, spins) {
                let problem = self
                    .at(
                        &at("drives"),
                        ProblemKind::Conflict,
                        format!("joint `{}` has no {} to drive", joint.name, words(motor.drives)),
                    )
                    .hint("a joint of this kind locks it, or this dimension does not have it");
                self.problems.push(problem);
            }
            for (field, signal) in [("speed", &motor.speed), ("target", &motor.target)] {
                if let Some(signal) = signal {
                    self.signal(&at(field), signal);
                }
            }
            if joint.motors[..n].iter().any(|other| other.drives == motor.drives) {
                let problem = self.at(
                    &below(&[key("motors"), Segment::Index(n)]),
                    ProblemKind::Conflict,
                    format!("two motors drive the {} of joint `{}`", words(motor.drives), joint.name),
                );
                self.problems.push(problem);
            }
        }
        if let Some(pose) = &joint.pose {
            if joint.kind != JointKind::Point || dimension == Some(2) || !joint.motors.is_empty() {
                let problem = self
                    .at(
                        &below(&[key("pose")]),
                        ProblemKind::Conflict,
                        "only a point joint in 3D, without motors, can be driven to a pose",
                    )
                    .hint("other joints take `motors`");
                self.problems.push(problem);
            }
            for (n, signal) in pose.target.iter().enumerate() {
                self.signal(&below(&[key("pose"), key("target"), Segment::Index(n)]), signal);
            }
        }
    }

    fn range(&mut self, path: &[Segment], min: f64, max: f64, angle: bool) {
        if min > max {
            let problem = self
                .at(path, ProblemKind::Conflict, format!("the limits are reversed: {min} is above {max}"))
                .found(format!("[{min}, {max}]"))
                .allowed(format!("[{max}, {min}]"));
            self.problems.push(problem);
        } else if angle && (min < -180.0 || max > 180.0) {
            let problem = self
                .at(path, ProblemKind::OutOfRange, "limits of an angle lie between -180 and 180 degrees")
                .found(format!("[{min}, {max}]"))
                .allowed("-180 to 180")
                .hint("leave the limit out for a joint that turns all the way round");
            self.problems.push(problem);
        }
    }

    fn signal(&mut self, path: &[Segment], signal: &Signal) {
        let Signal::Points(PointSignal { times, values }) = signal else { return };
        if times.len() != values.len() {
            let problem = self
                .at(
                    &[path, &[key("values")]].concat(),
                    ProblemKind::WrongLength,
                    format!("there are {} times and {} values", times.len(), values.len()),
                )
                .allowed("as many values as times");
            self.problems.push(problem);
        }
        if let Some(at) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            let problem = self
                .at(
                    &[path, &[key("times"), Segment::Index(at + 1)]].concat(),
                    ProblemKind::Conflict,
                    "times must ascend",
                )
                .found(format!("{}", times[at + 1]))
                .allowed(format!("more than {}", times[at]));
            self.problems.push(problem);
        }
    }

    /// Checks the motion of rigid body `index`.
    pub(super) fn motion(&mut self, index: usize, body: &Rigid, motion: &Motion) {
        let base = [key("rigid"), Segment::Index(index), key("motion")];
        let below = |fields: &[Segment]| [&base[..], fields].concat();
        if body.kind != Kind::Kinematic {
            let problem = self
                .at(
                    &base,
                    ProblemKind::Conflict,
                    format!("`{}` is not kinematic, so its motion cannot be prescribed", body.name),
                )
                .hint("add kind = \"kinematic\", or remove `motion`");
            self.problems.push(problem);
        }
        let scripted = motion.turn.is_some() || motion.shift.is_some();
        if scripted != motion.keyframes.is_empty() {
            let problem = self
                .at(&base, ProblemKind::Conflict, "a motion has either `turn` or `shift`, or `keyframes`")
                .allowed("`turn = { rate = 90 }`, `shift = { amplitude = 1, frequency = 0.5 }` or `keyframes = [...]`");
            self.problems.push(problem);
        }
        for (field, direction) in [("axis", &motion.axis), ("direction", &motion.direction)] {
            if let Some(direction) = direction.as_ref().filter(|d| vanishes(d)) {
                let problem = self
                    .at(
                        &below(&[key(field)]),
                        ProblemKind::OutOfRange,
                        format!("the {field} of a motion has no direction: its length is 0"),
                    )
                    .found(format!("{direction:?}"))
                    .allowed("a vector such as [0, 1, 0]");
                self.problems.push(problem);
            }
        }
        for (field, signal) in [("turn", &motion.turn), ("shift", &motion.shift)] {
            if let Some(signal) = signal {
                self.signal(&below(&[key(field)]), signal);
            }
        }
        if let Some(n) = motion.keyframes.windows(2).position(|pair| pair[0].time >= pair[1].time) {
            let at = below(&[key("keyframes"), Segment::Index(n + 1), key("time")]);
            let problem = self
                .at(&at, ProblemKind::Conflict, "times of keyframes must ascend")
                .found(format!("{}", motion.keyframes[n + 1].time))
                .allowed(format!("more than {}", motion.keyframes[n].time));
            self.problems.push(problem);
        }
        for (n, frame) in motion.keyframes.iter().enumerate() {
            let wrong = match &frame.rotation {
                Some(crate::Rotation::AxisAngle { axis, .. }) => vanishes(axis),
                Some(crate::Rotation::Quaternion { quaternion }) => vanishes(quaternion),
                _ => false,
            };
            if wrong {
                let at = below(&[key("keyframes"), Segment::Index(n), key("rotation")]);
                let problem = self.at(&at, ProblemKind::OutOfRange, "this rotation has a length of 0");
                self.problems.push(problem);
            }
        }
    }
}

/// Is a copy of `body`, or itself, called `name`?
fn names(body: &Rigid, name: &str) -> bool {
    let Some(repeat) = &body.repeat else { return body.name == name };
    let number = name.strip_prefix(body.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
    number
        .filter(|digits| !digits.starts_with(['0', '+']))
        .and_then(|digits| digits.parse::<u64>().ok())
        .is_some_and(|n| n >= 1 && repeat.total().is_some_and(|total| n <= total))
}

/// Can the coordinate of this joint move?
fn moves(joint: &Joint, coordinate: MotorCoordinate, spins: usize) -> bool {
    use MotorCoordinate::{Angle, SecondAngle, Slide, ThirdAngle};
    let angle = match coordinate {
        Angle => 0,
        SecondAngle => 1,
        ThirdAngle => 2,
        Slide => 3,
    };
    if coordinate != Slide && angle >= spins {
        return false;
    }
    let free = |list: &Option<Vec<Freedom>>, n: usize| {
        let locked = Freedom::Word(crate::description::FreedomWord::Locked);
        list.as_ref().and_then(|list| list.get(n)).is_some_and(|f| *f != locked)
    };
    match joint.kind {
        JointKind::Rigid => false,
        JointKind::Point | JointKind::Normal => coordinate != Slide,
        JointKind::Hinge | JointKind::Twist => coordinate == Angle,
        JointKind::Universal => matches!(coordinate, Angle | SecondAngle),
        JointKind::Prismatic => coordinate == Slide,
        JointKind::PrismaticTwist => matches!(coordinate, Angle | Slide),
        JointKind::Generic if coordinate == Slide => free(&joint.translation, 0),
        JointKind::Generic => free(&joint.rotation, angle),
    }
}

fn coordinate_name(coordinate: MotorCoordinate) -> &'static str {
    match coordinate {
        MotorCoordinate::Angle => "angle",
        MotorCoordinate::SecondAngle => "second_angle",
        MotorCoordinate::ThirdAngle => "third_angle",
        MotorCoordinate::Slide => "slide",
    }
}

fn words(coordinate: MotorCoordinate) -> &'static str {
    match coordinate {
        MotorCoordinate::Angle => "rotation about its axis",
        MotorCoordinate::SecondAngle => "second rotation",
        MotorCoordinate::ThirdAngle => "third rotation",
        MotorCoordinate::Slide => "slide",
    }
}
