//! Joints and prescribed motion within the step.
//!
//! | when | what |
//! |---|---|
//! | before I | kinematic bodies get the twist that carries them through the step; joints that do not hold are assembled; drives plan the step |
//! | III, after the velocity to n+1/2 | pre-stabilisation, so that joints hold after the position update; its impulses are kept |
//! | III, in contact | jointed bodies that something touches respond together ([`Articulated`]) |
//! | III, after contact | what joints answer to contact goes the way of its impulses; pre-stabilisation once more for what contact has pushed, whose impulses are kept in place of the first |
//! | IV, after positions | kinematic bodies are placed; what errors are left in the joints is removed from the positions |
//! | V, after the velocity to n+1 | kinematic bodies get their exact velocities; post-stabilisation with drives |
//! | V, in and after contact | jointed bodies respond together again; what is left of speeds along locked rows is removed |
//!
//! Keeping the impulses of III for V makes this the RATTLE scheme: an isolated system keeps its momentum and angular momentum to round-off, and its
//! energy does not drift (discarding them, a rigid rod of two bodies that turns by `a` in each step would lose the share `1 - cos a` of its spin each time).

use crate::fluid_structure::{End, HeldRow};
use crate::generalized::Velocities;
use crate::{Model, State};
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::contact::{Pair, turn_together};
use splashdown_rigid::joint::{
    Articulated, HeldJointRow, Impulses, Plan, PostOptions, PostReport, PreOptions, PreReport, Stabilization,
    assemble_anyhow, held_rows, hold_against_contact, joint_errors, plan, post_stabilize,
    post_stabilize_pairwise, pre_stabilize, pre_stabilize_pairwise,
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
    /// Kinetic energy at the start of the step, after collisions (J).
    energy: f64,
    /// Does something immovable hold it?
    held: bool,
    /// Has contact pushed it in this step? Then its bodies have not gone the way of the forces.
    pushed: bool,
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

    /// II: notes the motions after collisions, which give and take energy.
    pub fn note_collisions(&mut self, before: &State<D>, after: &[RigidMotion<D>]) {
        for island in &mut self.islands {
            let motion = |i: usize| RigidMotion::of(&before.bodies[i]);
            if island.bodies.iter().all(|&i| motion(i) == after[i]) {
                continue;
            }
            let energy = |&i: &usize| {
                let RigidMotion { velocity, angular_momentum } = after[i];
                let state = BodyState { frame: self.start[i], velocity, angular_momentum };
                state.kinetic_energy(&self.model.bodies[i])
            };
            island.energy = island.bodies.iter().map(energy).sum();
        }
    }

    /// III: changes `half`, the velocities with which the bodies at `start` are about to move, so that joints hold afterwards. Its impulses are kept.
    pub fn pre_stabilize(&mut self, start: &State<D>, half: &mut Velocities<D>) {
        if self.every.is_empty() {
            return;
        }
        let mut states = states_of(start.bodies.iter().map(|body| body.frame), half);
        let before = states.clone();
        let mut spent = std::mem::replace(&mut self.spent, Impulses::none(0));
        let done = self.pre_stabilize_some(&self.every, &mut states, &mut spent);
        self.spent = spent;
        self.report.rows = done.rows;
        self.report.pre_iterations += done.iterations;
        self.pre_error = done.error;
        self.kept = states.iter().zip(&before).map(|(state, before)| change_of(state, before)).collect();
        write(&states, half);
    }

    /// III: the velocities that contact starts from. Pre-stabilisation has bent those of jointed bodies for the way that they go without contact; what contact may count on is that
    /// joints do not move where bodies are.
    pub fn straighten(&self, start: &State<D>, articulated: &Articulated<D>, half: &mut Velocities<D>) {
        if articulated.is_empty() {
            return;
        }
        let (bodies, joints) = (&self.model.bodies, &self.model.joints);
        let mut states = states_of(start.bodies.iter().map(|body| body.frame), half);
        let bent = states.clone();
        hold_against_contact(bodies, joints, &articulated.joints(), &bent, &mut states, &self.plan);
        write(&states, half);
    }

    /// III: what joints answer to contact, and pre-stabilisation for the way that the bodies go now, where contact has pushed: their motion in `half` is another than in `straight`, from which
    /// contact started. The others get back `free`, what they had before.
    ///
    /// The answer goes the way of the impulses of contact. What bends the motion is kept, in place of what bent the one without contact.
    pub fn pre_stabilize_after_contact(
        &mut self,
        start: &State<D>,
        free: &[RigidMotion<D>],
        straight: &[RigidMotion<D>],
        half: &mut Velocities<D>,
    ) {
        for island in &mut self.islands {
            island.pushed = island.bodies.iter().any(|&i| straight[i] != half.bodies[i]);
            if !island.pushed {
                island.bodies.iter().for_each(|&i| half.bodies[i] = free[i]);
            }
        }
        let pushed = self.joints_of_pushed(free, &half.bodies);
        if pushed.is_empty() {
            return;
        }
        let mut states = states_of(start.bodies.iter().map(|body| body.frame), half);
        let mut earlier = states.clone();
        for (state, straight) in earlier.iter_mut().zip(straight) {
            state.velocity = straight.velocity;
            state.angular_momentum = straight.angular_momentum;
        }
        let (bodies, joints) = (&self.model.bodies, &self.model.joints);
        hold_against_contact(bodies, joints, &pushed, &earlier, &mut states, &self.plan);
        let unbent = states.clone();
        let done = self.pre_stabilize_some(&pushed, &mut states, &mut self.spent.clone());
        self.report.pre_iterations += done.iterations;
        self.pre_error = self.pre_error.max(done.error);
        for &i in self.islands.iter().filter(|island| island.pushed).flat_map(|island| &island.bodies) {
            let (now, kept) = (change_of(&states[i], &unbent[i]), &mut self.kept[i]);
            kept.velocity += now.velocity - (free[i].velocity - straight[i].velocity);
            kept.angular_momentum +=
                now.angular_momentum - (free[i].angular_momentum - straight[i].angular_momentum);
        }
        write(&states, half);
    }

    fn pre_stabilize_some(
        &self,
        which: &[usize],
        states: &mut [BodyState<D>],
        spent: &mut Impulses,
    ) -> PreReport {
        let model = self.model;
        let options = PreOptions {
            orientation_order: model.options.orientation_order,
            fix_energy: model.options.energy_fix.at_end(),
            ..PreOptions::default()
        };
        let (bodies, joints, plan) = (&model.bodies, &model.joints, &self.plan);
        match model.options.joints.pre {
            Stabilization::Global => pre_stabilize(bodies, joints, which, states, plan, spent, &options),
            Stabilization::Pairwise => {
                let how = (&options, model.options.joints.sweeps);
                pre_stabilize_pairwise(bodies, joints, which, states, plan, spent, how)
            }
        }
    }

    /// Joints of islands of which a body has another motion `now` than `before`, ascending.
    fn joints_of_pushed(&self, before: &[RigidMotion<D>], now: &[RigidMotion<D>]) -> Vec<usize> {
        let is_pushed = |island: &&Island| island.bodies.iter().any(|&i| before[i] != now[i]);
        let mut joints: Vec<usize> =
            self.islands.iter().filter(is_pushed).flat_map(|island| &island.joints).copied().collect();
        joints.sort_unstable();
        joints
    }

    /// How jointed bodies at `frames` that one of `pairs` touches respond to contact; with `at_limits` coordinates that have reached a limit do not move.
    pub fn respond<'p>(
        &self,
        frames: &[Frame<D>],
        velocities: &Velocities<D>,
        pairs: impl Iterator<Item = &'p Pair>,
        at_limits: bool,
    ) -> Articulated<D> {
        if self.every.is_empty() {
            return Articulated::default();
        }
        let model = self.model;
        let mut touched = vec![false; frames.len()];
        pairs.for_each(|pair| [pair.a, pair.b].iter().for_each(|&i| touched[i as usize] = true));
        let states = states_of(frames.iter().take(model.bodies.len()).copied(), velocities);
        Articulated::new(&model.bodies, &model.joints, &states, &self.plan, &touched, at_limits)
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
    /// island goes on without them, which only takes energy away. `started` are the velocities that stage V started from.
    pub fn post_stabilize(
        &mut self,
        frames: &[Frame<D>],
        started: &[RigidMotion<D>],
        velocities: &mut Velocities<D>,
    ) {
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
            let way = |i: usize| match island.pushed {
                false => frames[i].position - self.start[i].position,
                // Contact is yet to act on the velocities: they go another way than the bodies.
                true => (states[i].velocity + started[i].velocity) * (0.5 * self.dt),
            };
            let work: f64 =
                island.bodies.iter().map(|&i| model.bodies[i].mass * model.gravity.dot(&way(i))).sum();
            let (kept, allowed) = (energy(&states), 1.02 * (island.energy + work).max(0.0));
            if kept <= allowed + 1e-6 * work.abs() && !island.unconverged {
                continue;
            }
            let mut without = before.clone();
            self.drop_kept(island, &mut without);
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

    /// Takes the impulses of pre-stabilisation back. They have no moment where the bodies were; what they have where the bodies are is left.
    fn drop_kept(&self, island: &Island, states: &mut [BodyState<D>]) {
        let mut moment = Spin::<D>::zero();
        for &i in &island.bodies {
            let kept = &self.kept[i];
            let momentum = kept.velocity * self.model.bodies[i].mass;
            moment += Dim::cross(&states[i].frame.position, &momentum) + kept.angular_momentum;
            states[i].velocity -= kept.velocity;
            states[i].angular_momentum -= kept.angular_momentum;
        }
        if island.held || moment == Spin::<D>::zero() {
            return;
        }
        let members: Vec<u32> = island.bodies.iter().map(|&i| i as u32).collect();
        let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
        let mut motions: Vec<RigidMotion<D>> = states.iter().map(RigidMotion::of).collect();
        turn_together(&self.model.bodies, &members, &frames, &mut motions, &moment);
        for &i in &island.bodies {
            states[i].velocity = motions[i].velocity;
            states[i].angular_momentum = motions[i].angular_momentum;
        }
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

    /// V: makes `velocities` agree with the joints again where contact has changed them from `before`.
    pub fn post_stabilize_after_contact(
        &mut self,
        frames: &[Frame<D>],
        before: &[RigidMotion<D>],
        velocities: &mut Velocities<D>,
    ) {
        let pushed = self.joints_of_pushed(before, &velocities.bodies);
        if pushed.is_empty() {
            return;
        }
        let model = self.model;
        let mut states = states_of(frames.iter().copied(), velocities);
        match model.options.joints.post {
            Stabilization::Global => {
                let mut earlier = states.clone();
                for (state, before) in earlier.iter_mut().zip(before) {
                    state.velocity = before.velocity;
                    state.angular_momentum = before.angular_momentum;
                }
                let (bodies, joints) = (&model.bodies, &model.joints);
                let done = hold_against_contact(bodies, joints, &pushed, &earlier, &mut states, &self.plan);
                self.report.post_iterations += done.iterations;
                self.report.speed = self.report.speed.max(done.speed);
            }
            Stabilization::Pairwise => {
                let done = stabilize_velocities(model, &pushed, &mut states, None);
                self.report.post_iterations += done.iterations;
                self.report.speed = done.speed;
            }
        }
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

/// What `now` has more than `before`, in the motion only.
fn change_of<const D: usize>(now: &BodyState<D>, before: &BodyState<D>) -> BodyState<D>
where
    Dim<D>: Space<D>,
{
    BodyState {
        velocity: now.velocity - before.velocity,
        angular_momentum: now.angular_momentum - before.angular_momentum,
        ..*now
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
                held: false,
                pushed: false,
                unconverged: false,
            });
        }
        let island = &mut islands[place[root]];
        island.joints.push(index);
        island.held |= dynamic(joint.parent).is_none() || dynamic(joint.child).is_none();
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
