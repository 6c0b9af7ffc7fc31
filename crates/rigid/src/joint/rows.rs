//! The rows of joints: each demands something of the relative motion of two bodies along one direction.

use super::coordinates::{Pose, near, wrapped};
use super::drive::Plan;
use super::{Freedom, Joint};
use crate::{Body, BodyState};
use splashdown_math::{Coordinates, Dim, Frame, Inertia, Space, Spin, Twist, Vector};
use splashdown_solve::{CsrMatrix, SolveError, SparseBlock, VelocityLayout};

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    /// The coordinate is locked (or limited to one value).
    Lock,
    /// The coordinate is limited.
    Limit { min: f64, max: f64 },
    /// Drive number `usize` of the joint.
    Drive(usize),
    /// Component `usize` of the pose drive.
    Pose(usize),
    /// Viscous damping with this coefficient (N s/m, N m s/rad).
    Damping(f64),
}

/// One row: `on_parent . twist_parent + on_child . twist_child` is the relative speed along its direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub joint: usize,
    /// Coordinate of the joint.
    pub slot: usize,
    pub purpose: Purpose,
    pub parent: Option<usize>,
    pub child: Option<usize>,
    pub on_parent: Twist<D>,
    pub on_child: Twist<D>,
}

/// Which rows of a joint are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Include {
    /// Locked coordinates.
    Locks,
    /// Locked and limited ones.
    LocksAndLimits,
    /// These, and drives and damping.
    All,
}

/// Where the rows of one joint are read from: its pose with the bodies at the given frames.
pub(super) fn pose_of<const D: usize>(joint: &Joint<D>, frames: &[Frame<D>]) -> Pose<D>
where
    Dim<D>: Space<D>,
{
    Pose::of(joint, &joint.world_frames(|i| frames[i]))
}

/// Appends the rows of joint number `index`, which has `pose` with the bodies at `frames`.
#[inline(never)]
pub(super) fn push_rows<const D: usize>(
    joint: &Joint<D>,
    index: usize,
    pose: &Pose<D>,
    frames: &[Frame<D>],
    include: Include,
    rows: &mut Vec<Row<D>>,
) where
    Dim<D>: Space<D>,
{
    let arm = |end: Option<usize>| end.map_or_else(Vector::zeros, |i| pose.point - frames[i].position);
    let (parent_arm, child_arm) = (arm(joint.parent), arm(joint.child));
    let mut push = |slot: usize, linear: Vector<D>, angular: Spin<D>, purpose: Purpose| {
        let wrench = |arm: &Vector<D>| {
            let mut wrench = Twist::of_force(&linear, arm);
            wrench.angular += angular;
            wrench
        };
        rows.push(Row {
            joint: index,
            slot,
            purpose,
            parent: joint.parent,
            child: joint.child,
            on_parent: -wrench(&parent_arm),
            on_child: wrench(&child_arm),
        });
    };
    let (none, still) = (Vector::<D>::zeros(), Spin::<D>::zero());
    let direction = |slot: usize| match slot < D {
        true => (pose.linear[slot], still),
        false => (none, pose.angular[slot - D]),
    };
    for slot in 0..Joint::<D>::COORDINATES {
        let (linear, angular) = direction(slot);
        match joint.freedom(slot) {
            Freedom::Free => {}
            Freedom::Limited { .. } if pose.lost == Some(slot) => {}
            Freedom::Locked => push(slot, linear, angular, Purpose::Lock),
            Freedom::Limited { min, max } if min == max => {
                push(slot, linear, angular, Purpose::Limit { min, max })
            }
            Freedom::Limited { min, max } => {
                if include != Include::Locks {
                    push(slot, linear, angular, Purpose::Limit { min, max });
                }
            }
        }
    }
    if include != Include::All {
        return;
    }
    for (number, drive) in joint.drives.iter().enumerate() {
        if pose.lost == Some(drive.coordinate) {
            continue;
        }
        let (linear, angular) = direction(drive.coordinate);
        push(drive.coordinate, linear, angular, Purpose::Drive(number));
    }
    let spins = <Dim<D> as Space<D>>::SPIN;
    if joint.pose.is_some() {
        for k in 0..spins {
            push(D + k, none, pose.parent_axes[k], Purpose::Pose(k));
        }
    }
    let all_free = !joint.angular[..spins].contains(&Freedom::Locked);
    for slot in 0..Joint::<D>::COORDINATES {
        let damping = if slot < D { joint.linear_damping } else { joint.angular_damping };
        if damping > 0.0 && joint.freedom(slot) != Freedom::Locked {
            let (linear, mut angular) = direction(slot);
            if slot >= D && all_free {
                // Damping of a ball joint is the same about all axes.
                angular = pose.parent_axes[slot - D];
            }
            push(slot, linear, angular, Purpose::Damping(damping));
        }
    }
}

/// The error of a row in position (m or rad): how far the coordinate is from what is locked or wanted. `None` for what has no position.
pub(super) fn position_error<const D: usize>(
    row: &Row<D>,
    pose: &Pose<D>,
    plan: &Plan<D>,
    held: f64,
) -> Option<f64>
where
    Dim<D>: Space<D>,
{
    let value = pose.value[row.slot];
    let angle = row.slot >= D;
    match row.purpose {
        Purpose::Limit { .. } | Purpose::Drive(_) if pose.lost == Some(row.slot) => Some(0.0),
        Purpose::Lock => Some(value),
        Purpose::Limit { min, max } => {
            let value = near(value, min, max, angle);
            // A row that pushes up holds the lower limit, one that pushes down the upper one.
            let lower = match held {
                held if held > 0.0 => true,
                held if held < 0.0 => false,
                _ => value < 0.5 * (min + max),
            };
            Some(value - if lower { min } else { max })
        }
        Purpose::Drive(number) => {
            let offset = value - plan.drives[row.joint][number].value;
            Some(if angle { wrapped(offset) } else { offset })
        }
        Purpose::Pose(k) => {
            let want = plan.poses[row.joint]?;
            let offset = Dim::log(&Dim::compose(&pose.rotation, &Dim::inverse(&want.rotation)));
            Some(offset.as_slice()[k])
        }
        Purpose::Damping(_) => None,
    }
}

impl<const D: usize> Row<D>
where
    Dim<D>: Space<D>,
{
    /// Relative speed along the row.
    pub fn speed(&self, twist: impl Fn(usize) -> Twist<D>) -> f64 {
        let on = |end: Option<usize>, wrench: &Twist<D>| end.map_or(0.0, |i| wrench.dot(&twist(i)));
        on(self.parent, &self.on_parent) + on(self.child, &self.on_child)
    }

    /// Sum of the absolute products of [`Self::speed`]: the scale of its rounding.
    pub fn speed_scale(&self, twist: impl Fn(usize) -> Twist<D>) -> f64 {
        let on = |end: Option<usize>, wrench: &Twist<D>| {
            end.map_or(0.0, |i| {
                let twist = twist(i);
                wrench.linear.norm() * twist.linear.norm() + wrench.angular.norm() * twist.angular.norm()
            })
        };
        on(self.parent, &self.on_parent) + on(self.child, &self.on_child)
    }

    /// The same row with its direction turned round.
    pub fn reversed(&self) -> Self {
        Self { on_parent: -self.on_parent, on_child: -self.on_child, ..*self }
    }

    /// Both ends with their wrenches.
    pub fn ends(&self) -> impl Iterator<Item = (usize, &Twist<D>)> {
        [(self.parent, &self.on_parent), (self.child, &self.on_child)]
            .into_iter()
            .filter_map(|(end, wrench)| end.map(|i| (i, wrench)))
    }

    /// Gives `states` the impulse `size` along the row.
    pub fn push(&self, bodies: &[Body<D>], states: &mut [BodyState<D>], size: f64) {
        for (i, wrench) in self.ends() {
            if bodies[i].is_dynamic() {
                states[i].velocity += wrench.linear * (size * bodies[i].inverse_mass());
                states[i].angular_momentum += wrench.angular * size;
            }
        }
    }
}

/// `M^-1` of the bodies at given orientations.
#[derive(Debug, Clone)]
pub(super) struct InverseInertia<const D: usize>
where
    Dim<D>: Space<D>,
{
    linear: Vec<f64>,
    angular: Vec<Option<Inertia<D>>>,
    /// How many times as heavy as they are bodies count; empty where all count as they are.
    heavier: Vec<f64>,
}

impl<const D: usize> InverseInertia<D>
where
    Dim<D>: Space<D>,
{
    /// Of the bodies that `rows` touch; the others are not looked at.
    pub fn new(bodies: &[Body<D>], frames: &[Frame<D>], rows: &[Row<D>]) -> Self {
        let mut linear = vec![0.0; bodies.len()];
        let mut angular = vec![None; bodies.len()];
        for (i, _) in rows.iter().flat_map(Row::ends) {
            if bodies[i].is_dynamic() && angular[i].is_none() {
                linear[i] = bodies[i].inverse_mass();
                angular[i] = Some(bodies[i].world_inverse_inertia(&frames[i]));
            }
        }
        Self { linear, angular, heavier: Vec::new() }
    }

    /// Of these bodies as well.
    pub fn add(&mut self, bodies: &[Body<D>], frames: &[Frame<D>], more: &[u32]) {
        for i in more.iter().map(|&i| i as usize).filter(|&i| bodies[i].is_dynamic()) {
            self.linear[i] = bodies[i].inverse_mass();
            self.angular[i] = Some(bodies[i].world_inverse_inertia(&frames[i]));
        }
    }

    /// Every body `factor[i]` times as heavy as it is.
    pub fn heavier(mut self, factor: &[f64]) -> Self {
        self.heavier = factor.to_vec();
        self
    }

    /// `M^-1 wrench` of body `i`; `None` if nothing moves it.
    pub fn apply(&self, i: usize, wrench: &Twist<D>) -> Option<Twist<D>> {
        let inertia = self.angular[i].as_ref()?;
        let moved = Twist {
            linear: wrench.linear * self.linear[i],
            angular: Dim::apply_inertia(inertia, &wrench.angular),
        };
        Some(self.heavier.get(i).map_or(moved, |factor| moved * (1.0 / factor)))
    }
}

/// `B M^-1 B^T` of the rows, exactly symmetric.
#[inline(never)]
pub(super) fn matrix<const D: usize>(rows: &[Row<D>], inverse: &InverseInertia<D>) -> CsrMatrix
where
    Dim<D>: Space<D>,
{
    // (body, row) in order of bodies, so that rows that share one are neighbours.
    let mut incidence: Vec<(usize, usize, Twist<D>)> = Vec::with_capacity(2 * rows.len());
    for (r, row) in rows.iter().enumerate() {
        incidence.extend(row.ends().map(|(i, wrench)| (i, r, *wrench)));
    }
    incidence.sort_by_key(|&(body, row, _)| (body, row));
    let mut triplets = Vec::new();
    for group in incidence.chunk_by(|a, b| a.0 == b.0) {
        for (n, (body, r, wrench)) in group.iter().enumerate() {
            let Some(moved) = inverse.apply(*body, wrench) else { break };
            for (_, s, other) in &group[..=n] {
                let value = moved.dot(other);
                triplets.push((*r, *s, value));
                if r != s {
                    triplets.push((*s, *r, value));
                }
            }
        }
    }
    // A row between bodies that cannot move would have no entry at all.
    triplets.extend((0..rows.len()).map(|r| (r, r, 0.0)));
    CsrMatrix::from_triplets(rows.len(), rows.len(), &triplets)
        .unwrap_or_else(|_| CsrMatrix::identity(rows.len()))
}

/// Locked coordinates of `joints` as a block of the coupled system, with the bodies at `frames`: `B V = 0`.
///
/// # Errors
/// Frames that are not finite.
pub fn block<const D: usize>(
    joints: &[Joint<D>],
    frames: &[Frame<D>],
    layout: VelocityLayout,
) -> Result<SparseBlock, SolveError>
where
    Dim<D>: Space<D>,
{
    let mut rows = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        push_rows(joint, index, &pose_of(joint, frames), frames, Include::Locks, &mut rows);
    }
    let sparse = rows.iter().map(|row: &Row<D>| {
        let mut entries = Vec::with_capacity(2 * Twist::<D>::LEN);
        for (i, wrench) in row.ends() {
            let mut flat = [0.0; 6];
            wrench.write(&mut flat);
            entries.extend(layout.body(i).zip(flat).filter(|(_, value)| *value != 0.0));
        }
        entries
    });
    Ok(SparseBlock::new("joints", CsrMatrix::from_rows(layout.len(), sparse)?))
}
