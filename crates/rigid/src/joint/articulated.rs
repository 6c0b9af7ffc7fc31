//! Bodies that joints hold, as contact sees them: pushed at one, all of them respond.
//!
//! With the impulses of the joints eliminated, the response to a wrench is `P M^-1` in place of `M^-1`, where `P` is the projection on the velocities that the joints
//! allow (spec/rigid-bodies.md 3.14): symmetric and positive semidefinite, so a contact solver that only lowers its energy lowers it with joints as well, and what contact
//! does never opens a joint. Without this a light link that carries a load by contact gives way as if nothing hung on it.

use super::Joint;
use super::coordinates::near;
use super::drive::Plan;
use super::post::{PostReport, demands};
use super::rows::{Include, InverseInertia, Purpose, Row, matrix, pose_of, push_rows};
use super::solver::{Accuracy, BoundedSystem};
use crate::{Body, BodyState, Kind};
use splashdown_math::{Dim, Frame, Space, Twist};
use splashdown_parallel::prelude::*;

/// Responses (body that is pushed, body that moves) up to which a set of jointed bodies answers contact as one. Beyond, contact sees its bodies one by one.
const MOST_RESPONSES: usize = 20_000;

/// A limit counts as reached this close to it (rad, or m).
const AT_LIMIT: f64 = 1e-6;

/// Share by which joints yield in the responses, so that these are positive semidefinite to rounding where joints are redundant or a loop is stretched out: contact amplifies what they are wrong by.
const YIELD: f64 = 1e-8;

/// Change of the twist of one body for a unit of each component of a wrench on another.
pub type Columns<const D: usize> = [Twist<D>; 6];

/// Sets of bodies that joints connect, and how they respond to contact at given positions.
#[derive(Debug, Clone, Default)]
pub struct Articulated<const D: usize>
where
    Dim<D>: Space<D>,
{
    sets: Vec<JointedSet<D>>,
    /// Set of each body; `u32::MAX` for those that no joint holds or nothing touches.
    set_of: Vec<u32>,
}

/// Dynamic bodies that joints connect.
#[derive(Debug, Clone)]
pub struct JointedSet<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Its bodies, ascending.
    pub bodies: Vec<u32>,
    /// What the joints demand whatever the force: the velocities that contact may change.
    pub demands: Vec<JointDemand<D>>,
    /// Limits that may be reached within the step.
    pub limits: Vec<JointDemand<D>>,
    /// Can its joints do work: by drives, or because they hold it to something that moves?
    pub driven: bool,
    /// Joints of the set, ascending.
    joints: Vec<usize>,
    /// For each body its response, by place of the body that moves; empty for bodies that nothing pushes.
    responses: Vec<Vec<Columns<D>>>,
}

/// A row of a joint as its set sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointDemand<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Places in the set of the bodies that can move, with the wrench of a unit of impulse.
    pub ends: [Option<(u32, Twist<D>)>; 2],
    /// What is left until a limit is reached, over the step (m/s, rad/s); zero for rows that hold.
    pub slack: f64,
    /// Relative speed along the row that immovable ends add (m/s, rad/s).
    pub carried: f64,
}

impl<const D: usize> JointDemand<D>
where
    Dim<D>: Space<D>,
{
    /// Relative speed along the row for the twists of the set (m/s, rad/s).
    pub fn speed(&self, twist: impl Fn(u32) -> Twist<D>) -> f64 {
        self.ends.iter().flatten().map(|(place, wrench)| wrench.dot(&twist(*place))).sum::<f64>()
            + self.carried
    }
}

impl<const D: usize> JointedSet<D>
where
    Dim<D>: Space<D>,
{
    /// Changes of the twists of all bodies of the set, by place, for units of wrench on the body at `place`; `None` if nothing was expected to push it.
    pub fn response(&self, place: usize) -> Option<&[Columns<D>]> {
        self.responses.get(place).filter(|columns| !columns.is_empty()).map(Vec::as_slice)
    }
}

impl<const D: usize> Articulated<D>
where
    Dim<D>: Space<D>,
{
    /// Of the bodies in `states` that `touched` says something may push, at the positions there, for a step of `plan.dt`. With `at_limits` coordinates that have reached a limit do not move.
    #[inline(never)]
    pub fn new(
        bodies: &[Body<D>],
        joints: &[Joint<D>],
        states: &[BodyState<D>],
        plan: &Plan<D>,
        touched: &[bool],
        at_limits: bool,
    ) -> Self {
        let is_touched = |i: usize| touched.get(i).copied().unwrap_or(false);
        let mut sets = connected(bodies, joints);
        sets.retain(|(members, _)| members.iter().any(|&i| is_touched(i as usize)));
        let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
        let mut inverse = InverseInertia::new(bodies, &frames, &[]);
        sets.iter().for_each(|(members, _)| inverse.add(bodies, &frames, members));
        let world = Jointed { bodies, joints, states, frames: &frames, inverse: &inverse, plan, at_limits };
        let built: Vec<Option<JointedSet<D>>> = sets
            .into_par_iter()
            .map(|(members, own)| JointedSet::new(world, &is_touched, members, own))
            .collect();
        let sets: Vec<JointedSet<D>> = built.into_iter().flatten().collect();
        let mut set_of = vec![u32::MAX; bodies.len()];
        for (number, set) in sets.iter().enumerate() {
            set.bodies.iter().for_each(|&i| set_of[i as usize] = number as u32);
        }
        Self { sets, set_of }
    }

    /// Is there nothing of the kind?
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The set that body `index` belongs to.
    pub fn set_of(&self, index: usize) -> Option<&JointedSet<D>> {
        self.sets.get(*self.set_of.get(index)? as usize)
    }

    /// All sets.
    pub fn sets(&self) -> &[JointedSet<D>] {
        &self.sets
    }

    /// Joints of all sets, ascending.
    pub fn joints(&self) -> Vec<usize> {
        let mut joints: Vec<usize> = self.sets.iter().flat_map(|set| set.joints.iter().copied()).collect();
        joints.sort_unstable();
        joints
    }
}

impl<const D: usize> JointedSet<D>
where
    Dim<D>: Space<D>,
{
    /// `None` if it has too many bodies.
    fn new(
        world: Jointed<'_, D>,
        touched: &(impl Fn(usize) -> bool + Sync),
        members: Vec<u32>,
        own: Vec<usize>,
    ) -> Option<Self> {
        let Jointed { bodies, joints, states, frames, inverse, plan, at_limits } = world;
        let (mut held, mut limited, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for &index in &own {
            let joint = &joints[index];
            let pose = pose_of(joint, frames);
            all.clear();
            push_rows(joint, index, &pose, frames, Include::All, &mut all);
            for row in &all {
                if demands(row, plan) {
                    held.push(*row);
                } else if let Purpose::Limit { min, max } = row.purpose {
                    let value = near(pose.value[row.slot], min, max, row.slot >= D);
                    if at_limits && (value - min).min(max - value) <= AT_LIMIT {
                        held.push(*row);
                        continue;
                    }
                    limited.push((*row, (value - min).max(0.0)));
                    limited.push((row.reversed(), (max - value).max(0.0)));
                }
            }
        }
        let place = |i: usize| members.binary_search(&(i as u32)).ok();
        let demand = |row: &Row<D>, slack: f64| {
            let mut ends = row.ends().map(|(i, wrench)| match place(i) {
                Some(place) => (Some((place as u32, *wrench)), 0.0),
                None => (None, wrench.dot(&states[i].twist(&bodies[i]))),
            });
            let [first, second] = [ends.next(), ends.next()].map(|end| end.unwrap_or((None, 0.0)));
            JointDemand { ends: [first.0, second.0], slack: slack / plan.dt, carried: first.1 + second.1 }
        };
        let limits: Vec<JointDemand<D>> = limited.iter().map(|(row, slack)| demand(row, *slack)).collect();
        let mut pushed: Vec<bool> = members.iter().map(|&i| touched(i as usize)).collect();
        for (place, _) in limits.iter().flat_map(|limit| limit.ends.iter().flatten()) {
            pushed[*place as usize] = true;
        }
        let count = pushed.iter().filter(|pushed| **pushed).count();
        if count * members.len() > MOST_RESPONSES {
            return None;
        }
        let mut system =
            (!held.is_empty()).then(|| BoundedSystem::new(matrix(&held, inverse), std::iter::empty()));
        let any = vec![[f64::NEG_INFINITY, f64::INFINITY]; held.len()];
        let accuracy = Accuracy::Damped { shift: YIELD };
        let (mut rhs, mut impulses) = (vec![0.0; held.len()], vec![0.0; held.len()]);
        let mut respond = |pushed: usize, wrench: &Twist<D>| -> Vec<Twist<D>> {
            let mut change = vec![Twist::zero(); members.len()];
            change[pushed] = inverse.apply(members[pushed] as usize, wrench).unwrap_or_default();
            let Some(system) = &mut system else { return change };
            for (rhs, row) in rhs.iter_mut().zip(&held) {
                *rhs = -row.speed(|i| place(i).map_or_else(Twist::zero, |place| change[place]));
            }
            system.solve(&rhs, &any, accuracy, &mut impulses);
            for (row, &size) in held.iter().zip(&impulses) {
                for (i, wrench) in row.ends() {
                    if let (Some(place), Some(moved)) = (place(i), inverse.apply(i, wrench)) {
                        change[place] += moved * size;
                    }
                }
            }
            change
        };
        let mut responses = vec![Vec::new(); members.len()];
        for (body, columns) in responses.iter_mut().enumerate().filter(|(body, _)| pushed[*body]) {
            *columns = vec![[Twist::zero(); 6]; members.len()];
            for component in 0..Twist::<D>::LEN {
                let mut unit = [0.0; 6];
                unit[component] = 1.0;
                for (columns, change) in columns.iter_mut().zip(respond(body, &Twist::read(&unit))) {
                    columns[component] = change;
                }
            }
        }
        let demands = held.iter().map(|row| demand(row, 0.0)).collect();
        let moves = |end: Option<usize>| end.is_some_and(|i| bodies[i].kind == Kind::Kinematic);
        let drives = |joint: &Joint<D>| {
            !joint.drives.is_empty() || joint.pose.is_some() || moves(joint.parent) || moves(joint.child)
        };
        let driven = own.iter().any(|&index| drives(&joints[index]));
        Some(Self { bodies: members, demands, limits, driven, joints: own, responses })
    }
}

/// The world that sets are taken from.
#[derive(Clone, Copy)]
struct Jointed<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    bodies: &'a [Body<D>],
    joints: &'a [Joint<D>],
    states: &'a [BodyState<D>],
    frames: &'a [Frame<D>],
    inverse: &'a InverseInertia<D>,
    plan: &'a Plan<D>,
    at_limits: bool,
}

/// Dynamic bodies that joints connect, ascending, with their joints, in the order of their first joints. A body on a joint to something immovable is a set, too.
fn connected<const D: usize>(bodies: &[Body<D>], joints: &[Joint<D>]) -> Vec<(Vec<u32>, Vec<usize>)>
where
    Dim<D>: Space<D>,
{
    let dynamic = |end: Option<usize>| end.filter(|&i| bodies[i].is_dynamic());
    let ends = |joint: &Joint<D>| [dynamic(joint.parent), dynamic(joint.child)];
    let pairs = joints.iter().filter_map(|joint| match ends(joint) {
        [Some(a), Some(b)] => Some([a as u32, b as u32]),
        _ => None,
    });
    let (set, count) = crate::contact::islands(bodies.len(), |i| !bodies[i].is_dynamic(), pairs);
    let mut place = vec![usize::MAX; count];
    let mut sets: Vec<(Vec<u32>, Vec<usize>)> = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        let [a, b] = ends(joint);
        let Some(member) = a.or(b) else { continue };
        let place = &mut place[set[member] as usize];
        if *place == usize::MAX {
            *place = sets.len();
            sets.push((Vec::new(), Vec::new()));
        }
        sets[*place].1.push(index);
    }
    for (body, &of) in set.iter().enumerate().filter(|(_, of)| **of != u32::MAX) {
        if let Some((members, _)) = sets.get_mut(place[of as usize]) {
            members.push(body as u32);
        }
    }
    sets
}

/// Gives `states`, which contact has changed from `before` at the same positions, the impulses of the joints numbered `which` that keep what the joints demand: what was locked or driven
/// moves along its row as before, what is limited stays within its limits. Momentum of bodies joined to no immovable one does not change.
#[inline(never)]
pub fn hold_against_contact<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    which: &[usize],
    before: &[BodyState<D>],
    states: &mut [BodyState<D>],
    plan: &Plan<D>,
) -> PostReport
where
    Dim<D>: Space<D>,
{
    let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
    let (mut rows, mut bounds, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
    let mut all = Vec::new();
    for &index in which {
        let joint = &joints[index];
        let pose = pose_of(joint, &frames);
        all.clear();
        push_rows(joint, index, &pose, &frames, Include::All, &mut all);
        for row in &all {
            if demands(row, plan) {
                let speed = row.speed(|i| before[i].twist(&bodies[i]));
                // What joints keep at rest is at rest, not at the rounding of it.
                let held = matches!(row.purpose, Purpose::Drive(_) | Purpose::Pose(_));
                rows.push(*row);
                bounds.push([f64::NEG_INFINITY, f64::INFINITY]);
                wanted.push(if held { speed } else { 0.0 });
            } else if let Purpose::Limit { min, max } = row.purpose {
                let value = near(pose.value[row.slot], min, max, row.slot >= D);
                for (row, slack) in [(*row, value - min), (row.reversed(), max - value)] {
                    rows.push(row);
                    bounds.push([0.0, f64::INFINITY]);
                    wanted.push(-slack.max(0.0) / plan.dt);
                }
            }
        }
    }
    if rows.is_empty() {
        return PostReport::default();
    }
    let inverse = InverseInertia::new(bodies, &frames, &rows);
    let mut system = BoundedSystem::new(matrix(&rows, &inverse), std::iter::empty());
    let mut rounding = 0.0f64;
    let mut rhs = Vec::with_capacity(rows.len());
    for ((row, wanted), diagonal) in rows.iter().zip(&wanted).zip(system.diagonal()) {
        let twist = |i: usize| states[i].twist(&bodies[i]);
        rhs.push(wanted - row.speed(twist));
        if *diagonal > 0.0 {
            let scale = row.speed_scale(twist) + wanted.abs();
            rounding += scale * scale / diagonal;
        }
    }
    let mut impulses = vec![0.0; rows.len()];
    let accuracy =
        Accuracy::Iterated { relative: 1e-10, absolute: 1e-15 * rounding.sqrt(), max_iterations: 100 };
    let iterations = system.solve(&rhs, &bounds, accuracy, &mut impulses);
    for (row, &size) in rows.iter().zip(&impulses) {
        row.push(bodies, states, size);
    }
    let left = |((row, bounds), wanted): ((&Row<D>, &[f64; 2]), &f64)| {
        let left = row.speed(|i| states[i].twist(&bodies[i])) - wanted;
        if bounds[0] == 0.0 { left.min(0.0).abs() } else { left.abs() }
    };
    let speed = rows.iter().zip(&bounds).zip(&wanted).map(left).fold(0.0, f64::max);
    PostReport { rows: rows.len(), iterations, speed }
}
