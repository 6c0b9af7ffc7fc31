//! Post-stabilisation: the velocities nearest to the given ones, in the metric of mass, that the joints allow (spec/rigid-bodies.md 3.14).

use super::coordinates::near;
use super::drive::Plan;
use super::pre::Impulses;
use super::rows::{Include, InverseInertia, Purpose, Row, matrix, pose_of, push_rows};
use super::solver::{Accuracy, BoundedSystem};
use super::{Freedom, Joint};
use crate::{Body, BodyState};
use splashdown_math::{Coordinates, Dim, Frame, Space, Twist};

/// How post-stabilisation is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PostOptions {
    /// Residual relative to the violation at the start.
    pub tolerance: f64,
    /// Most iterations of conjugate gradients; each lowers the kinetic energy, so any number is safe.
    pub max_iterations: usize,
}

impl Default for PostOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 100 }
    }
}

/// What post-stabilisation did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PostReport {
    /// Number of rows.
    pub rows: usize,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Largest relative speed along a locked direction that is left (m/s or rad/s).
    pub speed: f64,
}

/// A limit counts as reached this close to it (rad, or parts of the joint's length).
const AT_LIMIT: f64 = 1e-7;

/// Makes the velocities of `states` agree with the `joints` numbered `which` at the positions of `states`; angular momenta are primary.
///
/// With a plan, drives bring their coordinates to the rates of the end of the step and damping acts for half of it; `spent` is what they have
/// already spent of their caps before the position update. Momentum and angular momentum of bodies that are joined to no immovable one do not change.
#[inline(never)]
pub fn post_stabilize<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    which: &[usize],
    states: &mut [BodyState<D>],
    plan: Option<(&Plan<D>, &Impulses)>,
    options: &PostOptions,
) -> PostReport
where
    Dim<D>: Space<D>,
{
    let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
    let mut problem = Problem::new(bodies, joints, which, &frames, plan);
    problem.solve(bodies, states, options)
}

/// One demand of a joint on velocities.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldJointRow<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Bodies and wrenches; the sum of the products of wrenches and twists is the relative speed along the row (m/s, rad/s).
    pub ends: Vec<(usize, Twist<D>)>,
    /// A coordinate that does not move, in contrast to one that is driven.
    pub locked: bool,
}

/// What joints demand of velocities at `frames` whatever the force: locked coordinates, and drives without a cap.
pub fn held_rows<const D: usize>(
    joints: &[Joint<D>],
    frames: &[Frame<D>],
    plan: &Plan<D>,
) -> Vec<HeldJointRow<D>>
where
    Dim<D>: Space<D>,
{
    let (mut held, mut all) = (Vec::new(), Vec::new());
    for (index, joint) in joints.iter().enumerate() {
        let pose = pose_of(joint, frames);
        all.clear();
        push_rows(joint, index, &pose, frames, Include::All, &mut all);
        held.extend(all.iter().filter(|row| demands(row, plan)).map(|row| HeldJointRow {
            ends: row.ends().map(|(body, wrench)| (body, *wrench)).collect(),
            locked: matches!(row.purpose, Purpose::Lock | Purpose::Limit { .. }),
        }));
    }
    held
}

/// Does the row hold whatever the force: a locked coordinate, or a drive without a cap?
pub(super) fn demands<const D: usize>(row: &Row<D>, plan: &Plan<D>) -> bool
where
    Dim<D>: Space<D>,
{
    match row.purpose {
        Purpose::Lock => true,
        Purpose::Limit { min, max } => min == max,
        Purpose::Drive(number) => plan.drives[row.joint][number].half_cap.is_infinite(),
        Purpose::Pose(_) => plan.poses[row.joint].as_ref().is_some_and(|want| want.half_cap.is_infinite()),
        Purpose::Damping(_) => false,
    }
}

/// The rows of some joints with bounds and targets.
pub(super) struct Problem<const D: usize>
where
    Dim<D>: Space<D>,
{
    rows: Vec<Row<D>>,
    bounds: Vec<[f64; 2]>,
    target: Vec<f64>,
    /// Compliance of the rows that have one.
    compliance: Vec<(usize, f64)>,
    /// Impulse of each row by the solves so far.
    total: Vec<f64>,
    /// Largest change of a row's own speed by the last solve (m/s or rad/s).
    pub change: f64,
    system: Option<BoundedSystem>,
}

const ANY: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl<const D: usize> Problem<D>
where
    Dim<D>: Space<D>,
{
    pub fn new(
        bodies: &[Body<D>],
        joints: &[Joint<D>],
        which: &[usize],
        frames: &[Frame<D>],
        plan: Option<(&Plan<D>, &Impulses)>,
    ) -> Self {
        let include = if plan.is_some() { Include::All } else { Include::LocksAndLimits };
        let mut all = Vec::new();
        let (mut rows, mut bounds, mut target, mut compliance) = (vec![], vec![], vec![], vec![]);
        for &index in which {
            let joint = &joints[index];
            let pose = pose_of(joint, frames);
            all.clear();
            push_rows(joint, index, &pose, frames, include, &mut all);
            for row in &all {
                let (bound, wanted, soft) = match row.purpose {
                    Purpose::Lock => (ANY, 0.0, 0.0),
                    Purpose::Limit { min, max } if min == max => (ANY, 0.0, 0.0),
                    Purpose::Limit { min, max } => {
                        let value = near(pose.value[row.slot], min, max, row.slot >= D);
                        let slack = if row.slot < D { AT_LIMIT * joint.length() } else { AT_LIMIT };
                        if value <= min + slack {
                            ([0.0, f64::INFINITY], 0.0, 0.0)
                        } else if value >= max - slack {
                            ([f64::NEG_INFINITY, 0.0], 0.0, 0.0)
                        } else {
                            continue;
                        }
                    }
                    Purpose::Drive(number) => {
                        let Some((plan, spent)) = plan else { continue };
                        let want = &plan.drives[index][number];
                        let (cap, used) = (2.0 * want.half_cap, spent.of(row));
                        ([-cap - used, cap - used], want.rate, 0.0)
                    }
                    Purpose::Pose(k) => {
                        let Some((plan, spent)) = plan else { continue };
                        let Some(want) = &plan.poses[index] else { continue };
                        let (cap, used) = (2.0 * want.half_cap, spent.of(row));
                        ([-cap - used, cap - used], want.spin.as_slice()[k], 0.0)
                    }
                    Purpose::Damping(coefficient) => {
                        let Some((plan, _)) = plan else { continue };
                        (ANY, 0.0, 1.0 / (0.5 * plan.dt * coefficient))
                    }
                };
                if soft > 0.0 {
                    compliance.push((rows.len(), soft));
                }
                rows.push(*row);
                bounds.push(bound);
                target.push(wanted);
            }
        }
        let system = (!rows.is_empty()).then(|| {
            let inverse = InverseInertia::new(bodies, frames, &rows);
            BoundedSystem::new(matrix(&rows, &inverse), compliance.iter().copied())
        });
        let total = vec![0.0; rows.len()];
        Self { rows, bounds, target, compliance, total, change: 0.0, system }
    }

    /// Solves for the velocities of `states`; bounds and damping count with what earlier calls have given.
    pub fn solve(
        &mut self,
        bodies: &[Body<D>],
        states: &mut [BodyState<D>],
        options: &PostOptions,
    ) -> PostReport {
        let Some(system) = &mut self.system else { return PostReport::default() };
        let twists = twists_of(bodies, states, &self.rows);
        let mut rhs = Vec::with_capacity(self.rows.len());
        // Below this a speed is rounding of the velocities it is the difference of.
        let mut rounding = 0.0f64;
        for ((row, target), diagonal) in self.rows.iter().zip(&self.target).zip(system.diagonal()) {
            rhs.push(target - row.speed(|i| twists[i]));
            if *diagonal > 0.0 {
                let scale = row.speed_scale(|i| twists[i]) + target.abs();
                rounding += scale * scale / diagonal;
            }
        }
        for &(row, soft) in &self.compliance {
            rhs[row] -= soft * self.total[row];
        }
        let left =
            |([low, high], total): (&[f64; 2], &f64)| [(low - total).min(0.0), (high - total).max(0.0)];
        let bounds: Vec<[f64; 2]> = self.bounds.iter().zip(&self.total).map(left).collect();
        let accuracy = Accuracy::Iterated {
            relative: options.tolerance,
            absolute: 1e-15 * rounding.sqrt(),
            max_iterations: options.max_iterations,
        };
        let mut impulse = vec![0.0; self.rows.len()];
        let iterations = system.solve(&rhs, &bounds, accuracy, &mut impulse);
        for ((row, &size), total) in self.rows.iter().zip(&impulse).zip(&mut self.total) {
            row.push(bodies, states, size);
            *total += size;
        }
        let own = impulse.iter().zip(system.diagonal()).map(|(size, diagonal)| (size * diagonal).abs());
        self.change = own.fold(0.0, f64::max);
        PostReport { rows: self.rows.len(), iterations, speed: self.speed(bodies, states) }
    }

    /// Largest relative speed along a locked direction (m/s or rad/s).
    pub fn speed(&self, bodies: &[Body<D>], states: &[BodyState<D>]) -> f64 {
        let twists = twists_of(bodies, states, &self.rows);
        let locks = self.rows.iter().filter(|row| row.purpose == Purpose::Lock);
        locks.map(|row| row.speed(|i| twists[i]).abs()).fold(0.0, f64::max)
    }
}

/// Twists of the bodies that `rows` touch; zero for the others.
pub(super) fn twists_of<const D: usize>(
    bodies: &[Body<D>],
    states: &[BodyState<D>],
    rows: &[Row<D>],
) -> Vec<Twist<D>>
where
    Dim<D>: Space<D>,
{
    let mut twists = vec![Twist::zero(); bodies.len()];
    let mut known = vec![false; bodies.len()];
    for (i, _) in rows.iter().flat_map(Row::ends) {
        if !known[i] {
            known[i] = true;
            twists[i] = states[i].twist(&bodies[i]);
        }
    }
    twists
}

/// `P V`: the twists nearest to `twists` in the metric of mass whose locked relative speeds vanish, with the bodies at `frames`.
/// `P = I - M^-1 C (C^T M^-1 C)^-1 C^T` is a projection, and `M P` is symmetric. Twists of immovable bodies stay.
pub fn project<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    frames: &[Frame<D>],
    twists: &mut [Twist<D>],
    options: &PostOptions,
) where
    Dim<D>: Space<D>,
{
    let mut rows = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        push_rows(joint, index, &pose_of(joint, frames), frames, Include::Locks, &mut rows);
    }
    if rows.is_empty() {
        return;
    }
    let inverse = InverseInertia::new(bodies, frames, &rows);
    let mut system = BoundedSystem::new(matrix(&rows, &inverse), std::iter::empty());
    let rhs: Vec<f64> = rows.iter().map(|row| -row.speed(|i| twists[i])).collect();
    let mut impulse = vec![0.0; rows.len()];
    let accuracy = Accuracy::Iterated {
        relative: options.tolerance,
        absolute: 0.0,
        max_iterations: options.max_iterations,
    };
    system.solve(&rhs, &vec![ANY; rows.len()], accuracy, &mut impulse);
    for (row, &size) in rows.iter().zip(&impulse) {
        for (i, wrench) in row.ends() {
            if let Some(change) = inverse.apply(i, wrench) {
                twists[i] += change * size;
            }
        }
    }
}

/// Does a coordinate stay where it is whatever happens?
pub(super) fn is_fixed(freedom: Freedom) -> bool {
    match freedom {
        Freedom::Locked => true,
        Freedom::Limited { min, max } => min == max,
        Freedom::Free => false,
    }
}
