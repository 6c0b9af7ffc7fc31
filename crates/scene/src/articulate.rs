//! Joints and prescribed motion of the world that a scene describes.

use crate::build::{BuildError, rotation, scaled, vector};
use crate::description::{
    Freedom, FreedomWord, Joint, JointKind, Keyframe, Motion, Motor, MotorCoordinate, Pose, Scene, Signal,
};
use splashdown_couple::World;
use splashdown_math::{Coordinates, Dim, Frame, Matrix, Space, Spin, Vector};
use splashdown_rigid::joint::{Control, Drive, PoseDrive};
use splashdown_rigid::{self as rigid, JointError, Trajectory};
use std::collections::HashMap;

/// Adds the motions and joints of `scene` to a world that has its bodies.
pub(crate) fn add<const D: usize>(world: &mut World<D>, scene: &Scene) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    for (index, copy) in scene.rigid_copies().enumerate() {
        if let Some(motion) = &copy.rigid.motion {
            let trajectory = trajectory(&copy.name, motion, world.state().bodies[index].frame)?;
            world.set_trajectory(index, trajectory)?;
        }
    }
    if scene.joint.is_empty() {
        return Ok(());
    }
    let names: HashMap<String, usize> =
        scene.rigid_copies().enumerate().map(|(index, copy)| (copy.name, index)).collect();
    for joint in &scene.joint {
        let joint = build_joint(world, &names, joint)?;
        world.add_joint(joint)?;
    }
    Ok(())
}

fn end(names: &HashMap<String, usize>, joint: &Joint, body: &str) -> Result<Option<usize>, BuildError> {
    match names.get(body) {
        Some(index) => Ok(Some(*index)),
        None if body == "world" => Ok(None),
        None => Err(BuildError::NoBody { joint: joint.name.clone(), body: body.into() }),
    }
}

fn build_joint<const D: usize>(
    world: &World<D>,
    names: &HashMap<String, usize>,
    joint: &Joint,
) -> Result<rigid::Joint<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let name = joint.name.as_str();
    let (parent, child) = (end(names, joint, &joint.parent)?, end(names, joint, &joint.child)?);
    let frames: Vec<Frame<D>> = world.state().bodies.iter().map(|body| body.frame).collect();
    let at = match (&joint.at, child) {
        (Some(at), _) => vector::<D>(name, "at", Some(at))?,
        (None, Some(child)) => frames[child].position,
        (None, None) => Vector::zeros(),
    };
    let axis = match &joint.axis {
        Some(axis) => Some(vector::<D>(name, "axis", Some(&scaled(axis)))?),
        None => None,
    };
    let mut frame = rigid::Joint::frame_at(at, axis.as_ref());
    if let (3, Some(second)) = (D, &joint.second_axis) {
        let second = vector::<D>(name, "second_axis", Some(&scaled(second)))?;
        let x = frame.vector_to_world(&Vector::from_fn(|k, _| f64::from(u8::from(k == 0))));
        let y = (second - x * x.dot(&second)).try_normalize(1e-9).ok_or_else(|| BuildError::Components {
            name: name.into(),
            field: "second_axis",
            dimension: D,
        })?;
        let mut basis = [[0.0; D]; D];
        basis[0].copy_from_slice(x.as_slice());
        basis[1].copy_from_slice(y.as_slice());
        basis[D - 1] = Dim::<D>::right_handed(&basis);
        let turned = Matrix::<D>::from_fn(|row, column| basis[column][row]);
        frame.rotation = Dim::rotation_from_matrix(&turned);
    }
    let kind = match joint.kind {
        JointKind::Rigid | JointKind::Generic => rigid::JointKind::Rigid,
        JointKind::Point => rigid::JointKind::Point,
        JointKind::Hinge => rigid::JointKind::Hinge,
        JointKind::Twist => rigid::JointKind::Twist,
        JointKind::Universal => rigid::JointKind::Universal,
        JointKind::Prismatic => rigid::JointKind::Prismatic,
        JointKind::PrismaticTwist => rigid::JointKind::PrismaticTwist,
        JointKind::Normal => rigid::JointKind::Normal,
    };
    let mut built = rigid::Joint::between(name, kind, parent, child, &frame, &frames)?;
    if let Some(point) = &joint.child_point {
        built.child_frame.position = vector::<D>(name, "child_point", Some(point))?;
    }
    let freedom = |value: &Freedom, scale: f64| match value {
        Freedom::Word(FreedomWord::Free) => rigid::Freedom::Free,
        Freedom::Word(FreedomWord::Locked) => rigid::Freedom::Locked,
        Freedom::Between(range) => rigid::Freedom::Limited { min: range.min * scale, max: range.max * scale },
    };
    if joint.kind == JointKind::Generic {
        for (own, given) in built.linear.iter_mut().zip(joint.translation.iter().flatten()) {
            *own = freedom(given, 1.0);
        }
        for (own, given) in built.angular.iter_mut().zip(joint.rotation.iter().flatten()) {
            *own = freedom(given, 1f64.to_radians());
        }
    }
    for (coordinate, range) in joint.ranges() {
        let slot = slot_of::<D>(coordinate);
        if range.len() != 2 || slot.is_none_or(|slot| is_locked(&built, slot)) {
            return Err(JointError::Drive { name: name.into(), drive: 0 }.into());
        }
        built = match coordinate {
            MotorCoordinate::Slide => built.limit_linear(0, range[0], range[1]),
            other => {
                let axis = slot_of::<D>(other).map_or(0, |slot| slot - D);
                built.limit_angular(axis, range[0].to_radians(), range[1].to_radians())
            }
        };
    }
    built.linear_damping = joint.slide_damping;
    built.angular_damping = joint.damping;
    built.collide = joint.collide;
    for (index, motor) in joint.motors.iter().enumerate() {
        let drive = drive::<D>(motor).ok_or(JointError::Drive { name: name.into(), drive: index })?;
        built = built.drive(drive);
    }
    built.pose = joint.pose.as_ref().map(pose);
    Ok(built)
}

fn is_locked<const D: usize>(joint: &rigid::Joint<D>, slot: usize) -> bool
where
    Dim<D>: Space<D>,
{
    joint.freedom(slot) == rigid::Freedom::Locked
}

/// Number of a coordinate: translations first. `None` if this dimension does not have it.
fn slot_of<const D: usize>(coordinate: MotorCoordinate) -> Option<usize>
where
    Dim<D>: Space<D>,
{
    let slot = match coordinate {
        MotorCoordinate::Slide => 0,
        MotorCoordinate::Angle => D,
        MotorCoordinate::SecondAngle => D + 1,
        MotorCoordinate::ThirdAngle => D + 2,
    };
    (slot < rigid::Joint::<D>::COORDINATES).then_some(slot)
}

fn drive<const D: usize>(motor: &Motor) -> Option<Drive>
where
    Dim<D>: Space<D>,
{
    let angle = motor.drives != MotorCoordinate::Slide;
    let control = match (&motor.speed, &motor.target) {
        (Some(speed), None) => Control::Velocity { target: signal(speed, 1.0), gain: f64::INFINITY },
        (None, Some(target)) => Control::Position {
            target: signal(target, if angle { 1f64.to_radians() } else { 1.0 }),
            stiffness: motor.stiffness,
            damping_ratio: motor.damping_ratio,
        },
        _ => return None,
    };
    let cap = motor.max_torque.unwrap_or(f64::INFINITY);
    Some(Drive { coordinate: slot_of::<D>(motor.drives)?, control, cap })
}

fn pose(pose: &Pose) -> PoseDrive {
    let component = |k: usize| {
        pose.target.get(k).map_or(rigid::joint::Signal::Constant(0.0), |s| signal(s, 1f64.to_radians()))
    };
    PoseDrive {
        target: std::array::from_fn(component),
        stiffness: pose.stiffness,
        damping_ratio: pose.damping_ratio,
        cap: pose.max_torque.unwrap_or(f64::INFINITY),
    }
}

/// A signal with its values times `scale`.
fn signal(given: &Signal, scale: f64) -> rigid::joint::Signal {
    match given {
        Signal::Constant(value) => rigid::joint::Signal::Constant(value * scale),
        Signal::Sine(sine) => rigid::joint::Signal::Sine {
            offset: sine.offset * scale,
            amplitude: sine.amplitude * scale,
            frequency: sine.frequency,
            phase: sine.phase.to_radians(),
            rise: sine.rise,
        },
        Signal::Points(points) => rigid::joint::Signal::Points(
            points.times.iter().zip(&points.values).map(|(&time, value)| [time, value * scale]).collect(),
        ),
        Signal::Ramp(ramp) => rigid::joint::Signal::Ramp(ramp.rate * scale),
    }
}

fn trajectory<const D: usize>(
    name: &str,
    motion: &Motion,
    start: Frame<D>,
) -> Result<Trajectory<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    if !motion.keyframes.is_empty() {
        let key = |key: &Keyframe| -> Result<rigid::Keyframe<D>, BuildError> {
            let mut frame = start;
            if let Some(position) = &key.position {
                frame.position = vector::<D>(name, "position", Some(position))?;
            }
            if let Some(turned) = &key.rotation {
                frame.rotation = rotation::<D>(name, Some(turned))?;
            }
            Ok(rigid::Keyframe { time: key.time, frame })
        };
        let keys = motion.keyframes.iter().map(key).collect::<Result<_, _>>()?;
        return Ok(Trajectory::Keyframes { keys, repeat: motion.repeat });
    }
    let unit = |given: &Option<Vec<f64>>, field: &'static str, default: usize| match given {
        Some(given) => vector::<D>(name, field, Some(&scaled(given))).map(|v| v.normalize()),
        None => Ok(Vector::from_fn(|axis, _| f64::from(u8::from(axis == default)))),
    };
    let spins = <Dim<D> as Space<D>>::SPIN;
    let axis = match spins {
        1 => Spin::<D>::from_slice(&[1.0]),
        _ => Spin::<D>::from_slice(unit(&motion.axis, "motion.axis", 2)?.as_slice()),
    };
    let still = rigid::joint::Signal::Constant(0.0);
    Ok(Trajectory::Script {
        start,
        about: match &motion.about {
            Some(about) => vector::<D>(name, "motion.about", Some(about))?,
            None => start.position,
        },
        axis,
        turn: motion.turn.as_ref().map_or(still.clone(), |s| signal(s, 1f64.to_radians())),
        direction: unit(&motion.direction, "motion.direction", 1)?,
        shift: motion.shift.as_ref().map_or(still, |s| signal(s, 1.0)),
    })
}

impl Joint {
    /// The limits that are given, with what they limit.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (MotorCoordinate, &Vec<f64>)> {
        [
            (MotorCoordinate::Angle, &self.limits.angle),
            (MotorCoordinate::SecondAngle, &self.limits.second_angle),
            (MotorCoordinate::ThirdAngle, &self.limits.third_angle),
            (MotorCoordinate::Slide, &self.limits.slide),
        ]
        .into_iter()
        .filter_map(|(coordinate, range)| range.as_ref().map(|range| (coordinate, range)))
    }
}
