//! Joints and prescribed motion within the step.
//!
//! | when | what |
//! |---|---|
//! | before I | kinematic bodies get the twist that carries them through the step; joints that do not hold are assembled; drives plan the step |
//! | III, after the velocity to n+1/2 | pre-stabilisation, so that joints hold after the position update; its impulses are kept |
//! | IV, after positions | kinematic bodies are placed; what errors are left in the joints is removed from the positions |
//! | V, after the velocity to n+1 | kinematic bodies get their exact velocities; post-stabilisation with drives |
//!
//! Keeping the impulses of III for V makes this the RATTLE scheme: an isolated system keeps its momentum and angular momentum to round-off, and its
//! energy does not drift (discarding them, a rigid rod of two bodies that turns by `a` in each step would lose the share `1 - cos a` of its spin each time).

use crate::fluid_structure::{End, HeldRow};
use crate::generalized::Velocities;
use crate::{Model, State};
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::joint::{
    HeldJointRow, Impulses, Plan, PostOptions, PostReport, PreOptions, Stabilization, assemble_anyhow,
    held_rows, joint_errors, plan, post_stabilize, post_stabilize_pairwise, pre_stabilize,
    pre_stabilize_pairwise,
};
use splashdown_rigid::{BodyState, Kind, Motion as RigidMotion};
use std::borrow::Cow;

/// What the joints took in one step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct JointReport {
    /// Rows of pre-stabilisation.
    pub rows: usize,
    /// Evaluations of the position update by pre-stabilisation.
    pub pre_iterations: usize,
    /// Newton steps of assembly, before and after the position update.
    pub assembly_iterations: usize,
    /// Iterations of post-stabilisation.
    pub post_iterations: usize,
    /// Largest error of a locked or limited coordinate at the end of the step, relative to the size of its joint (rad for angles).
    pub error: f64,
    /// Largest relative speed along a locked coordinate that is left (m/s or rad/s).
    pub speed: f64,
    /// Islands of jointed bodies that moved too fast for the step and went on without the impulses of pre-stabilisation.
    pub calmed: usize,
}

/// Joints whose relative errors are above this are assembled.
const ASSEMBLE_ABOVE: f64 = 1e-10;

/// Relative error after the position update above which pre-stabilisation has failed.
const UNCONVERGED: f64 = 1e-6;

/// Bodies that joints connect.
struct Island {
    joints: Vec<usize>,
    /// Its dynamic bodies.
    bodies: Vec<usize>,
    /// Does it have drives, or joints to kinematic bodies?
    driven: bool,
    /// Kinetic energy at the start of the step (J).
    energy: f64,
    unconverged: bool,
}

/// What a joint demands of the velocities at which damping acts.
pub(crate) struct JointRow<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub row: HeldRow<D>,
    /// A coordinate that does not move, in contrast to one that is driven.
    pub locked: bool,
    /// What pre-stabilisation has added to its speed at the start (m/s, rad/s): impulses of this step's forces, which are yet to act.
    pub kept: f64,
}

/// The joints during one step.
pub(crate) struct Articulation<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    model: &'a Model<D>,
    time: f64,
    dt: f64,
    plan: Plan<D>,
    spent: Impulses,
    /// Change of velocity and of angular momentum by pre-stabilisation, by body; empty if there was none.
    kept: Vec<BodyState<D>>,
    /// Twists of kinematic bodies through the step.
    phase: Vec<(usize, Twist<D>)>,
    every: Vec<usize>,
    islands: Vec<Island>,
    /// Frames at the start of the step.
    start: Vec<Frame<D>>,
    /// Largest error that pre-stabilisation left.
    pre_error: f64,
    /// Displacement of each body by the assembly of the new positions, over the step (m/s); empty if there was none.
    moved: Vec<Vector<D>>,
    report: JointReport,
}

impl<'a, const D: usize> Articulation<'a, D>
where
    Dim<D>: Space<D>,
{
    /// What the joints demand of the velocities at `frames`, whatever the force.
    pub fn held_rows(&self, frames: &[Frame<D>]) -> Vec<HeldRow<D>> {
        let rows = held_rows(&self.model.joints, frames, &self.plan);
        rows.into_iter().map(|row| held(row.ends)).collect()
    }

    /// The same for damping, with what pre-stabilisation has already changed of them.
    pub fn damping_rows(&self, frames: &[Frame<D>]) -> Vec<JointRow<D>> {
        let kept = |(body, wrench): &(usize, Twist<D>)| {
            self.kept.get(*body).map_or(0.0, |kept| {
                wrench.dot(&RigidMotion::of(kept).twist(&self.model.bodies[*body], &frames[*body]))
            })
        };
        let rows = held_rows(&self.model.joints, frames, &self.plan);
        let row = |row: HeldJointRow<D>| JointRow {
            locked: row.locked,
            kept: row.ends.iter().map(kept).sum(),
            row: held(row.ends),
        };
        rows.into_iter().map(row).collect()
    }

    /// Prepares the step from `state` of `dt` seconds. The state that is returned is the one to start from: kinematic bodies have the twist of this
    /// step, and joints hold.
    pub fn begin(model: &'a Model<D>, state: &'a State<D>, dt: f64) -> (Self, Cow<'a, State<D>>) {
        let mut start = Cow::Borrowed(state);
        let phase = phase_twists(model, state, dt);
        for (index, twist) in &phase {
            let body = &model.bodies[*index];
            let frame = state.bodies[*index].frame;
            start.to_mut().bodies[*index] = BodyState::new(body, frame, twist);
        }
        let mut report = JointReport::default();
        let joints = &model.joints;
        if !joints.is_empty() && joint_errors(joints, |i| state.bodies[i].frame).relative > ASSEMBLE_ABOVE {
            let mut frames: Vec<Frame<D>> = state.bodies.iter().map(|body| body.frame).collect();
            let done = assemble_anyhow(&model.bodies, joints, &mut frames);
            report.assembly_iterations += done.iterations;
            for (body, frame) in start.to_mut().bodies.iter_mut().zip(frames) {
                body.frame = frame;
            }
        }
        let plan = plan(&model.bodies, joints, &start.bodies, state.time, dt);
        let spent = Impulses::none(joints.len());
        let every = (0..joints.len()).collect();
        let articulation = Self {
            model,
            time: state.time,
            dt,
            plan,
            spent,
            kept: Vec::new(),
            phase,
            every,
            islands: islands(model, &start),
            start: start.bodies.iter().map(|body| body.frame).collect(),
            pre_error: 0.0,
            moved: Vec::new(),
            report,
        };
        (articulation, start)
    }

    /// III: changes `half`, the velocities with which the bodies at `start` are about to move, so that joints hold afterwards.
    pub fn pre_stabilize(&mut self, start: &State<D>, half: &mut Velocities<D>) {
        if self.every.is_empty() {
            return;
        }
        let model = self.model;
        let mut states = states_of(start.bodies.iter().map(|body| body.frame), half);
        let options = PreOptions {
            orientation_order: model.options.orientation_order,
            fix_energy: model.options.energy_fix.at_end(),
            ..PreOptions::default()
        };
        let (bodies, joints, every) = (&model.bodies, &model.joints, &self.every);
        let (plan, spent) = (&self.plan, &mut self.spent);
        let done = match model.options.joints.pre {
            Stabilization::Global => pre_stabilize(bodies, joints, every, &mut states, plan, spent, &options),
            Stabilization::Pairwise => {
                let how = (&options, model.options.joints.sweeps);
                pre_stabilize_pairwise(bodies, joints, every, &mut states, plan, spent, how)
            }
        };
        self.report.rows = done.rows;
        self.report.pre_iterations += done.iterations;
        self.pre_error = done.error;
        if self.kept.is_empty() {
            self.kept = states_of(start.bodies.iter().map(|body| body.frame), half)
                .into_iter()
                .map(|state| BodyState {
                    velocity: state.velocity * 0.0,
                    angular_momentum: state.angular_momentum * 0.0,
                    ..state
                })
                .collect();
        }
        for ((kept, moving), state) in self.kept.iter_mut().zip(&mut half.bodies).zip(&states) {
            kept.velocity += state.velocity - moving.velocity;
            kept.angular_momentum += state.angular_momentum - moving.angular_momentum;
            moving.velocity = state.velocity;
            moving.angular_momentum = state.angular_momentum;
        }
    }

    /// Pairs of bodies that do not collide because they are joined, ascending; a body that is joined to the world is paired with itself.
    pub fn linked(&self) -> Vec<[u32; 2]> {
        let mut pairs: Vec<[u32; 2]> = self
            .model
            .joints
            .iter()
            .filter(|joint| !joint.collide)
            .filter_map(|joint| {
                let (a, b) = (joint.parent.or(joint.child)?, joint.child.or(joint.parent)?);
                Some([a.min(b) as u32, a.max(b) as u32])
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Gives `velocities`, those of the start of the step, the impulses of pre-stabilisation: what stage V starts from.
    pub fn add_kept_impulses(&self, velocities: &mut Velocities<D>) {
        for (moving, kept) in velocities.bodies.iter_mut().zip(&self.kept) {
            moving.velocity += kept.velocity;
            moving.angular_momentum += kept.angular_momentum;
        }
    }

    /// IV: puts kinematic bodies where they belong and removes what errors are left in the joints from the new positions.
    pub fn settle_positions(&mut self, frames: &mut [Frame<D>]) {
        for (index, trajectory) in &self.model.trajectories {
            frames[*index] = trajectory.frame(self.time + self.dt);
        }
        let joints = &self.model.joints;
        if !joints.is_empty() && joint_errors(joints, |i| frames[i]).relative > ASSEMBLE_ABOVE {
            let before: Vec<Vector<D>> = frames.iter().map(|frame| frame.position).collect();
            let done = assemble_anyhow(&self.model.bodies, joints, frames);
            self.report.assembly_iterations += done.iterations;
            let moved = frames.iter().zip(before).map(|(frame, before)| (frame.position - before) / self.dt);
            self.moved = moved.collect();
        }
    }

    /// V: gives kinematic bodies the velocities they have at the end of the step.
    pub fn set_kinematic(&self, frames: &[Frame<D>], velocities: &mut Velocities<D>) {
        for (index, twist) in &self.phase {
            let trajectory = self.model.trajectories.iter().find(|(body, _)| body == index);
            let twist = trajectory.map_or(*twist, |(_, trajectory)| trajectory.twist(self.time + self.dt));
            let body = &self.model.bodies[*index];
            let moving = &mut velocities.bodies[*index];
            moving.velocity = twist.linear;
            moving.angular_momentum = body.angular_momentum_of(&frames[*index], &twist.angular);
        }
    }

    /// IV: notes which joints the impulses of III did not make hold; `frames` are the new positions before anything else moves them.
    pub fn note_errors(&mut self, frames: &[Frame<D>]) {
        if self.pre_error <= UNCONVERGED {
            return;
        }
        for island in &mut self.islands {
            let error = |&j: &usize| joint_errors(&self.model.joints[j..=j], |i| frames[i]).relative;
            island.unconverged = island.joints.iter().map(error).fold(0.0, f64::max) > UNCONVERGED;
        }
    }

    /// V: makes `velocities` agree with the joints at `frames`, and lets drives and damping act for the second half of the step.
    ///
    /// Keeping the impulses of III is exact for turns of a fraction of a radian in one step. Where bodies turn faster it can add energy: there an
    /// island goes on without them, which only takes energy away.
    pub fn post_stabilize(&mut self, frames: &[Frame<D>], velocities: &mut Velocities<D>) {
        if self.every.is_empty() {
            return;
        }
        let model = self.model;
        let before = states_of(frames.iter().copied(), velocities);
        let plan = Some((&self.plan, &self.spent));
        let mut states = before.clone();
        let done = stabilize_velocities(model, &self.every, &mut states, plan);
        self.report.post_iterations += done.iterations;
        self.report.speed = done.speed;
        for island in &self.islands {
            let energy = |states: &[BodyState<D>]| -> f64 {
                island.bodies.iter().map(|&i| states[i].kinetic_energy(&model.bodies[i])).sum()
            };
            let work: f64 = island
                .bodies
                .iter()
                .map(|&i| {
                    model.bodies[i].mass * model.gravity.dot(&(frames[i].position - self.start[i].position))
                })
                .sum();
            let (kept, allowed) = (energy(&states), 1.02 * (island.energy + work).max(0.0));
            if kept <= allowed + 1e-6 * work.abs() && !island.unconverged {
                continue;
            }
            let mut without = before.clone();
            for &i in &island.bodies {
                without[i].velocity -= self.kept[i].velocity;
                without[i].angular_momentum -= self.kept[i].angular_momentum;
            }
            if island.unconverged {
                self.brake(island, &mut without);
            }
            let nothing = Impulses::none(model.joints.len());
            let plan = Some((&self.plan, &nothing));
            let done = stabilize_velocities(model, &island.joints, &mut without, plan);
            self.report.post_iterations += done.iterations;
            let dropped = energy(&without);
            // Drives and moving supports give energy as well: there only an excess counts.
            let excess = if island.driven { kept > 2.0 * dropped } else { kept > dropped };
            if excess || island.unconverged {
                self.report.calmed += 1;
                for &i in &island.bodies {
                    states[i] = without[i];
                }
            }
        }
        write(&states, velocities);
    }

    /// Where no impulse at the start of the step made the joints hold at its end, and assembly had to carry the bodies there, they have not gone the way of their velocities:
    /// such as a weight whose chain came taut. Of that change as much is taken over as takes the most energy away.
    fn brake(&self, island: &Island, states: &mut [BodyState<D>]) {
        let (mut along, mut square) = (0.0, 0.0);
        for (&i, moved) in island.bodies.iter().filter_map(|i| Some((i, self.moved.get(*i)?))) {
            along -= self.model.bodies[i].mass * states[i].velocity.dot(moved);
            square += self.model.bodies[i].mass * moved.norm_squared();
        }
        if along > 0.0 {
            let part = (along / square).min(1.0);
            for &i in &island.bodies {
                states[i].velocity += self.moved[i] * part;
            }
        }
    }

    /// V: makes `velocities` agree with the joints again after contact has changed them.
    pub fn post_stabilize_after_contact(&mut self, frames: &[Frame<D>], velocities: &mut Velocities<D>) {
        if self.every.is_empty() {
            return;
        }
        let model = self.model;
        let mut states = states_of(frames.iter().copied(), velocities);
        let done = stabilize_velocities(model, &self.every, &mut states, None);
        self.report.post_iterations += done.iterations;
        self.report.speed = done.speed;
        write(&states, velocities);
    }

    /// What was done; `None` without joints.
    pub fn report(mut self, frames: impl Fn(usize) -> Frame<D>) -> Option<JointReport> {
        self.report.error = joint_errors(&self.model.joints, frames).relative;
        (!self.every.is_empty()).then_some(self.report)
    }
}

fn held<const D: usize>(ends: Vec<(usize, Twist<D>)>) -> HeldRow<D>
where
    Dim<D>: Space<D>,
{
    HeldRow { ends: ends.into_iter().map(|(body, wrench)| (End::Body(body), wrench)).collect(), value: None }
}

/// Makes the velocities of `states` agree with the joints numbered `which`, all together or one after the other.
fn stabilize_velocities<const D: usize>(
    model: &Model<D>,
    which: &[usize],
    states: &mut [BodyState<D>],
    plan: Option<(&Plan<D>, &Impulses)>,
) -> PostReport
where
    Dim<D>: Space<D>,
{
    let (bodies, joints, how) = (&model.bodies, &model.joints, &model.options.joints);
    match how.post {
        Stabilization::Global => post_stabilize(bodies, joints, which, states, plan, &PostOptions::default()),
        Stabilization::Pairwise => post_stabilize_pairwise(bodies, joints, which, states, plan, how.sweeps),
    }
}

/// The twist of each kinematic body from now to `dt` later: along its trajectory, or as it moves now.
fn phase_twists<const D: usize>(model: &Model<D>, state: &State<D>, dt: f64) -> Vec<(usize, Twist<D>)>
where
    Dim<D>: Space<D>,
{
    let kinematic = model.bodies.iter().enumerate().filter(|(_, body)| body.kind == Kind::Kinematic);
    kinematic
        .map(|(index, body)| {
            let trajectory = model.trajectories.iter().find(|(body, _)| *body == index);
            let twist = match trajectory {
                Some((_, trajectory)) => trajectory.phase_twist(state.time, dt),
                None => state.bodies[index].twist(body),
            };
            (index, twist)
        })
        .collect()
}

fn states_of<const D: usize>(
    frames: impl Iterator<Item = Frame<D>>,
    velocities: &Velocities<D>,
) -> Vec<BodyState<D>>
where
    Dim<D>: Space<D>,
{
    frames
        .zip(&velocities.bodies)
        .map(|(frame, moving)| BodyState {
            frame,
            velocity: moving.velocity,
            angular_momentum: moving.angular_momentum,
        })
        .collect()
}

fn write<const D: usize>(states: &[BodyState<D>], velocities: &mut Velocities<D>)
where
    Dim<D>: Space<D>,
{
    for (moving, state) in velocities.bodies.iter_mut().zip(states) {
        moving.velocity = state.velocity;
        moving.angular_momentum = state.angular_momentum;
    }
}

/// Sets of dynamic bodies that joints connect, in the order of their first joints.
fn islands<const D: usize>(model: &Model<D>, start: &State<D>) -> Vec<Island>
where
    Dim<D>: Space<D>,
{
    let mut leader: Vec<usize> = (0..model.bodies.len()).collect();
    fn find(leader: &mut [usize], mut i: usize) -> usize {
        while leader[i] != i {
            leader[i] = leader[leader[i]];
            i = leader[i];
        }
        i
    }
    let dynamic = |end: Option<usize>| end.filter(|&i| model.bodies[i].is_dynamic());
    for joint in &model.joints {
        if let (Some(a), Some(b)) = (dynamic(joint.parent), dynamic(joint.child)) {
            let (a, b) = (find(&mut leader, a), find(&mut leader, b));
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut place = vec![usize::MAX; model.bodies.len()];
    let mut islands: Vec<Island> = Vec::new();
    for (index, joint) in model.joints.iter().enumerate() {
        let Some(member) = dynamic(joint.parent).or(dynamic(joint.child)) else { continue };
        let root = find(&mut leader, member);
        if place[root] == usize::MAX {
            place[root] = islands.len();
            islands.push(Island {
                joints: vec![],
                bodies: vec![],
                driven: false,
                energy: 0.0,
                unconverged: false,
            });
        }
        let island = &mut islands[place[root]];
        island.joints.push(index);
        let kinematic = |end: Option<usize>| end.is_some_and(|i| model.bodies[i].kind == Kind::Kinematic);
        island.driven |= !joint.drives.is_empty()
            || joint.pose.is_some()
            || kinematic(joint.parent)
            || kinematic(joint.child);
    }
    for i in 0..model.bodies.len() {
        let root = find(&mut leader, i);
        if let Some(island) = islands.get_mut(place[root]) {
            island.bodies.push(i);
            island.energy += start.bodies[i].kinetic_energy(&model.bodies[i]);
        }
    }
    islands
}
