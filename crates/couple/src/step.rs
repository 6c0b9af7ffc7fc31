//! One time step (spec/rigid-deformable-coupling.md 3.2): the stages in their order, each one named function.
//!
//! | stage | positions | velocities | function |
//! |---|---|---|---|
//! | I.1 velocity to n+1/2 | `x^n` | `v^n -> v^{n+1/2}` | `velocity_to_half_step` |
//! | II collisions | `x^n`, predicted `x^{n+1}` | `v^n` | `collisions` |
//! | III joints and contact | `x^n` | `v^{n+1/2}` | `Articulation::pre_stabilize`, `ContactSolver::contact_half`, `Articulation::pre_stabilize_after_contact` |
//! | IV.1 positions to n+1 | `x^n -> x^{n+1}` | `v^{n+1/2}`, then dropped but for joint impulses | `advance_positions` |
//! | IV.2 push-out, assembly | `x^{n+1}` | - | `push_out`, `Articulation::settle_positions` |
//! | V.2 velocity to n+1 | half way | `v^n -> v^{n+1}` | `velocity_to_full_step` |
//! | V.3 joints | `x^{n+1}` | `v^{n+1}` | `Articulation::post_stabilize` |
//! | V.4 contact, joints | `x^{n+1}` | `v^{n+1}` | `ContactSolver::contact_full`, `Articulation::post_stabilize_after_contact` |
//! | VI fluid | `x^{n+1}` | face velocities | `fluid::advance_fluid` |
//!
//! Where rigid bodies reach into a fluid, I.1 and V.2 end with a coupled solve of both (`FluidScratch::couple_half`, `couple_full`), and V with `couple_finish`, which
//! lets the fluid follow what joints and contact did; stage VI then takes its result.
//!
//! Collisions come before contact and use `v^n`, so a body at rest never bounces (spec/rigid-bodies.md 3.5). Each implicit velocity solve is one
//! coupled system, so whatever adds rows is coupled to everything else at once.

use crate::articulation::{Articulation, JointReport};
use crate::breaking::Breaking;
use crate::fluid::FluidScratch;
use crate::fluid_structure::SoftParticles;
use crate::generalized::Velocities;
use crate::hold::Cones;
use crate::sleep::Sleep;
use crate::soft_contact::Reached;
use crate::solids::{SolidStep, Solids};
use crate::solve::{CoupledStep, Stage, coupled_solve};
use crate::stage_totals::{Audit, SoftParts};
use crate::world::Scratch;
use crate::{Model, Multipliers, SolveReport, StageTotals, State, Tag};
use serde::{Deserialize, Serialize};
use splashdown_deformable::ParticleState;
use splashdown_deformable::integrate::{IntegrationReport, Scheme};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::fracture::{FractureError, Hit};
use splashdown_rigid::{BodyState, ContactMethod, ContactReport, ContactSolver, ContactStage, Motion};
use splashdown_solve::CoupledSolver;

/// What one step did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepReport {
    /// Length of the step (s).
    pub dt: f64,
    /// Parts it was taken in, as the stability of solids with explicit elasticity needs.
    #[serde(default)]
    pub parts: usize,
    /// The implicit solves of the last part, in their order.
    pub solves: Vec<SolveReport>,
    /// The joints, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joints: Option<JointReport>,
    /// Bodies that broke, in their order.
    pub broken: Vec<Broken>,
    /// Collision and contact of rigid bodies.
    pub contact: ContactReport,
    /// Totals after the stages, if asked for ([`crate::Options::stage_totals`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageTotals>,
    /// Bodies of finite elements that took part in the stages: linear iterations, contacts, volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solids: Option<IntegrationReport>,
}

/// A body that broke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Broken {
    /// Its name.
    pub name: String,
    /// The impulse that broke it (N s).
    pub impulse: f64,
    /// Places of its fragments in the list of bodies; the first one is its own.
    pub fragments: Vec<u32>,
}

/// A step that could not be completed; the state is the one before it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A length of step that is not positive and finite.
    #[error("the step is {dt} s; expected a positive, finite number")]
    Step {
        /// Offending value (s).
        dt: f64,
    },
    /// The coupled solve failed.
    #[error("step {step} at t = {time} s: the coupled solve to the {stage} step failed: {reason}")]
    Solve {
        /// Which step.
        step: u64,
        /// Simulated time (s).
        time: f64,
        /// `half` or `full`.
        stage: &'static str,
        /// What the solver says, by block.
        reason: String,
    },
    /// A body that is hit hard enough cannot break.
    #[error("step {step} at t = {time} s: {reason}")]
    Fracture {
        /// Which step.
        step: u64,
        /// Simulated time (s).
        time: f64,
        /// Which body and why.
        reason: FractureError,
    },
    /// The bodies of finite elements could not be advanced.
    #[error("step {step} at t = {time} s: the bodies of finite elements: {reason}")]
    Solids {
        /// Which step.
        step: u64,
        /// Simulated time (s).
        time: f64,
        /// What went wrong.
        reason: String,
    },
    /// A value that is not a number, or that no physical motion has.
    #[error(
        "step {step} at t = {time} s: {what} is {value:e}: the simulation has blown up (try a shorter step or softer springs)"
    )]
    Diverged {
        /// Which step.
        step: u64,
        /// Simulated time (s).
        time: f64,
        /// Which quantity of which body.
        what: String,
        /// Offending value.
        value: f64,
    },
}

/// Faster than this nothing moves, so a simulation that does has blown up (m/s).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Overlap of jointed bodies, over the size of the smaller one, above which they are pushed out again after their joints were closed, and how many times. Pushes and joints in turn are alternating projections:
/// where a light limb at its limits has to lift what is heavy, each takes a few percent, and four of them left such a limb in the floor.
const OVERLAP_LEFT: f64 = 1e-4;
const MORE_PUSHES: usize = 16;

/// How a step ended.
pub(crate) enum Advanced<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// In a new state.
    To(Box<(State<D>, StepReport)>),
    /// With bodies that are hit hard enough to break; it is to be taken again with their fragments.
    Broken(Vec<(usize, Hit<D>)>),
}

/// The state `dt` seconds after `state`, unless bodies break on the way.
pub(crate) fn advance<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    dt: f64,
    breaking: &Breaking,
    solids: &mut Option<Solids<D>>,
    scratch: &mut Scratch<D>,
    fluid: &mut FluidScratch<D>,
) -> Result<Advanced<D>, StepError>
where
    Dim<D>: Space<D>,
{
    if !(dt.is_finite() && dt > 0.0) {
        return Err(StepError::Step { dt });
    }
    let (mut articulation, started) = Articulation::begin(model, state, dt);
    let state = started.as_ref();
    let Scratch { coupled, contact } = scratch;
    let mut linked = articulation.linked();
    let rigid_only = solids.is_none();
    // Solids that take part in the stages.
    let mut soft = solids.as_mut().filter(|solids| solids.takes_part());
    let failed = |reason: String| StepError::Solids { step: state.step, time: state.time, reason };
    let mut sleep = Sleep::begin(model, state, rigid_only);
    let mut start_frames: Vec<Frame<D>> = state.bodies.iter().map(|body| body.frame).collect();
    let mut start = Velocities::of(state);

    // Forces of V act half way, but for schemes that are implicit to the end.
    let half_way = soft.as_ref().is_none_or(|solids| solids.integrator.scheme == Scheme::B);
    let mut audit = Audit::new(model, || soft.as_ref().map_or_else(Vec::new, |solids| solids.free_masses()));
    let mut timed = crate::stage("forces and coupled solve");
    // I.
    let mut half = velocity_to_half_step(model, state, dt, coupled)?;
    let mut soft_step = match &mut soft {
        Some(solids) => {
            let joints = articulation.damping_rows(&start_frames);
            Some(solids.begin(model, state, &mut half.velocities.bodies, joints, dt).map_err(failed)?)
        }
        None => None,
    };
    let mut moving = soft_step.as_ref().map_or_else(Vec::new, |step| step.stages.moving.clone());
    let (stopped, pushes): (Vec<_>, Vec<_>) = match (&soft, &soft_step) {
        (Some(solids), Some(step)) if step.resistance.is_some() => {
            solids.coming_rows(step).into_iter().unzip()
        }
        _ => Default::default(),
    };
    // The fluid pushes on what is stiff as a whole, and so gets all of its push.
    let couples = model.fluid.is_some() && model.coupling.is_some();
    if let Some(step) = soft_step.as_ref().filter(|_| couples) {
        step.add_missing(&mut moving);
    }
    let solved = moving.clone();
    let particles = match (&soft, &soft_step) {
        (Some(solids), Some(step)) => {
            let (position, resistance) = (&step.motion.position[..], step.resistance(&solved));
            Some(SoftParticles { solids, position, velocity: &mut moving, resistance })
        }
        _ => None,
    };
    fluid.couple_half(model, state, dt, &mut half.velocities.bodies, particles)?;
    if let Some(step) = soft_step.as_mut().filter(|_| fluid.has_soft()) {
        step.stages.moving.clone_from(&moving);
    }
    // Particles that rigid bodies can reach take part in contact.
    let reached = match (&soft, &soft_step) {
        (Some(solids), Some(step)) if model.options.contact.enabled => {
            solids.reached(model, &start_frames, &half.velocities.bodies, step)
        }
        _ => Reached::nothing(),
    };
    let count = model.bodies.len();
    let probes = soft.as_ref().map_or_else(Vec::new, |solids| solids.probes(model, &linked));
    if let Some(solids) = &soft {
        linked.extend(solids.untouched(&reached, count));
    }
    linked.extend(&model.apart);
    linked.sort_unstable();
    linked.dedup();
    let soft_friction = soft.as_ref().map_or_else(Vec::new, |solids| solids.friction.clone());
    let mut memory = reached.recall(&state.contact, count);
    let stage = ContactStage {
        bodies: reached.bodies(model),
        dt,
        options: &model.options.contact,
        order: model.options.orientation_order,
        fix: model.options.energy_fix,
        linked: &linked,
        asleep: &[],
        siblings: &breaking.siblings,
        soft_friction: &soft_friction,
        probes: &probes,
        articulated: None,
    };
    if let Some(step) = &soft_step {
        reached.join_frames(&mut start_frames, &step.motion.position);
        reached.join_motions(&mut start.bodies, &step.stages.start);
        reached.join_motions(&mut half.velocities.bodies, &step.stages.moving);
    }
    let now = (Tag::Start, &start_frames[..], &state.particles.position[..]);
    audit.start(now, (Tag::Start, &start), seen(&soft_step, Tag::Start, Tag::Start), &reached.particles);
    audit.record(
        "I forces",
        now,
        (Tag::Half, &half.velocities),
        seen(&soft_step, Tag::Start, Tag::Half),
        false,
    );
    timed.then("collisions");
    // II. Collisions change v^n, and v^{n+1/2} by as much. What touches a sleeper wakes it before anything happens.
    let awake = sleep.any().then(|| (start.bodies.clone(), half.velocities.bodies.clone()));
    let breakable = !breaking.done && model.bodies.iter().any(|body| body.breakable.is_some());
    loop {
        sleep.still(&mut start.bodies);
        sleep.still(&mut half.velocities.bodies);
        let free = breakable.then(|| (start.bodies.clone(), half.velocities.bodies.clone()));
        let looking = ContactStage { asleep: &sleep.asleep, ..stage };
        collisions(&looking, &start_frames, &mut start.bodies, &mut half.velocities.bodies, contact);
        let woken = sleep.wake_touched(contact, &state.contact);
        if let Some((start_awake, half_awake)) = awake.as_ref().filter(|_| woken) {
            start.bodies.clone_from(start_awake);
            half.velocities.bodies.clone_from(half_awake);
            continue;
        }
        if let Some((start, half)) = free {
            let hits = contact.breaking_hits(&stage, &start_frames, &start, &half);
            if !hits.is_empty() {
                return Ok(Advanced::Broken(hits));
            }
        }
        break;
    }
    articulation.note_collisions(state, &start.bodies);
    let parts = seen(&soft_step, Tag::Start, Tag::Start);
    audit.record("II collisions", now, (Tag::Start, &start), parts, false);
    timed.then("contact");
    // III. Joints that hold after the positions have moved, contact to which they answer, and joints again where it has pushed.
    articulation.pre_stabilize(state, &mut half.velocities);
    // Pairs that are visited one by one have no rows of limits beside them.
    let one_by_one = model.options.contact.method == ContactMethod::Propagation;
    let articulated = articulation.respond(&start_frames, &half.velocities, contact.touching(), one_by_one);
    let joined = ContactStage { articulated: Some(&articulated), ..stage };
    let free = half.velocities.bodies.clone();
    articulation.straighten(state, &articulated, &mut half.velocities);
    let straight = half.velocities.bodies.clone();
    let stiff = soft_step.as_ref().is_some_and(|step| step.resistance.is_some());
    let mut released = stiff.then(|| half.velocities.bodies.clone());
    contact.contact_half(&joined, &start_frames, &start.bodies, &mut half.velocities.bodies, &memory);
    if let Some(step) = &mut soft_step {
        reached.keep_angular_momentum(contact, dt, &mut start.bodies);
        reached.part_motions(&mut start.bodies, &mut step.stages.start);
        reached.part_motions(&mut half.velocities.bodies, &mut step.stages.moving);
        if step.resistance.is_some() {
            let motions = &mut half.velocities.bodies;
            let found = &step.stages.moving;
            let mut held = Vec::new();
            let mut free = Vec::new();
            let cones = match &mut released {
                Some(released) if !fluid.has_soft() => {
                    let contacts = reached.cones(contact, &stage, model, &start_frames, motions, found);
                    free.clone_from(found);
                    reached.part_motions(released, &mut free);
                    Some(Cones { contacts, motions: released, soft: &free })
                }
                _ => {
                    held = reached.held_rows(contact, model, &start_frames, motions, found);
                    None
                }
            };
            let first = held.len();
            held.extend(stopped);
            let before = fluid.has_soft().then_some(&moving[..]);
            step.hold(model, &start_frames, motions, None, &held, cones.as_ref(), before).map_err(failed)?;
            step.push_on(&held[first..], &pushes);
        }
    }
    articulation.pre_stabilize_after_contact(state, &free, &straight, &mut half.velocities);
    let parts = seen(&soft_step, Tag::Start, Tag::Half);
    audit.record("III joints and contact", now, (Tag::Half, &half.velocities), parts, false);
    let parts = seen(&soft_step, Tag::Start, Tag::Start);
    audit.record("III spin for what contact will move", now, (Tag::Start, &start), parts, false);
    timed.then("positions and push-out");
    // IV. What contact did to velocities in III is dropped: only its effect on positions remains. Impulses of joints are kept.
    // In Stokes flow everything stays where it is.
    let still = model.fluid.is_some() && model.coupling.is_some_and(|options| options.stokes);
    if let Some(step) = soft_step.as_mut().filter(|_| still) {
        step.stages.moving.fill(0.0);
    }
    let moved_for = if still { 0.0 } else { dt };
    let (mut frames, positions) = advance_positions(model, state, &half.velocities, moved_for);
    sleep.hold(state, &mut frames);
    articulation.note_errors(&frames);
    let mut again = if let (Some(solids), Some(step)) = (&mut soft, &mut soft_step) {
        solids.move_particles(model, state, &frames, step, &reached).map_err(failed)?;
        reached.join_frames(&mut frames, &step.stages.next);
        let again = push_out(&articulation, &stage, contact, &half.velocities, &mut frames, false);
        reached.part_frames(&mut frames, &mut step.stages.next);
        let motions = &mut start.bodies;
        solids.collide_self(model, &start_frames, motions, &mut frames, step).map_err(failed)?;
        again
    } else {
        push_out(&articulation, &stage, contact, &half.velocities, &mut frames, false)
    };
    articulation.settle_positions(&mut frames);
    // What joints take back of a push, another one has to give.
    for push in 0..MORE_PUSHES {
        if !again {
            break;
        }
        if let Some(step) = &soft_step {
            reached.join_frames(&mut frames, &step.stages.next);
        }
        again = push_out(&articulation, &stage, contact, &half.velocities, &mut frames, push % 2 == 0);
        if let Some(step) = &mut soft_step {
            reached.part_frames(&mut frames, &mut step.stages.next);
        }
        articulation.settle_positions(&mut frames);
    }
    if let (Some(solids), Some(step)) = (&soft, &mut soft_step) {
        // Push-out and joints have moved what carries them.
        solids.place_carried(&frames, &mut step.stages.next);
    }
    let parts = seen(&soft_step, Tag::End, Tag::Start);
    let later = (Tag::End, &frames[..], &positions[..]);
    audit.record("IV positions and push-out", later, (Tag::Start, &start), parts, false);
    articulation.add_kept_impulses(&mut start);
    contact.turn_momenta(&stage, &start_frames, &frames, &mut start.bodies);
    contact.restore_angular_momentum(&stage, &frames, &mut start.bodies);
    let parts = seen(&soft_step, Tag::End, Tag::Start);
    let later = (Tag::End, &frames[..], &positions[..]);
    audit.record("IV.3 spin for what contact has moved", later, (Tag::Start, &start), parts, false);
    timed.then("forces and coupled solve");
    // V. Velocities at the new positions: joints and drives, contact, and joints again where contact has pushed on them.
    let mut full = velocity_to_full_step(model, state, &start, &frames, &positions, dt, coupled)?;
    let mut soft_velocity = match (&mut soft, &mut soft_step) {
        (Some(solids), Some(step)) => {
            let (start, full) = (&start.bodies, &mut full.velocities.bodies);
            let pushing = reached.pushing(contact, count);
            let joints = articulation.damping_rows(&frames);
            solids
                .finish(model, state, &frames, start, full, step, &pushing, joints, contact)
                .map_err(failed)?
        }
        _ => Vec::new(),
    };
    let touching = match &soft {
        Some(solids) if stiff => solids.touching_rows(&soft_velocity),
        _ => Vec::new(),
    };
    if let Some(step) = soft_step.as_ref().filter(|_| fluid.has_soft()) {
        step.add_missing(&mut soft_velocity);
    }
    articulation.set_kinematic(&frames, &mut full.velocities);
    let solved = soft_velocity.clone();
    let particles = match (&soft, &soft_step) {
        (Some(solids), Some(step)) => {
            let (position, resistance) = (&step.stages.next[..], step.resistance(&solved));
            Some(SoftParticles { solids, position, velocity: &mut soft_velocity, resistance })
        }
        _ => None,
    };
    fluid.couple_full(model, state, &frames, dt, &mut full.velocities.bodies, particles)?;
    let places = seen(&soft_step, Tag::End, Tag::Start).0;
    let later = (Tag::End, &frames[..], &positions[..]);
    audit.record("V.2 forces", later, (Tag::End, &full.velocities), (places, &soft_velocity), half_way);
    articulation.post_stabilize(&frames, &start.bodies, &mut full.velocities);
    audit.record("V.3 joints", later, (Tag::End, &full.velocities), (places, &soft_velocity), false);
    if let Some(step) = &soft_step {
        reached.join_frames(&mut frames, &step.stages.next);
        reached.join_motions(&mut full.velocities.bodies, &soft_velocity);
    }
    timed.then("contact");
    let mut released = stiff.then(|| full.velocities.bodies.clone());
    let unpushed = full.velocities.bodies.clone();
    let articulated = articulation.respond(&frames, &full.velocities, contact.touching(), one_by_one);
    let joined = ContactStage { articulated: Some(&articulated), ..stage };
    contact.contact_full(&joined, &frames, &mut full.velocities.bodies, &mut memory);
    if soft_step.is_some() {
        frames.truncate(count);
        reached.part_motions(&mut full.velocities.bodies, &mut soft_velocity);
    }
    articulation.post_stabilize_after_contact(&frames, &unpushed, &mut full.velocities);
    if let (Some(solids), Some(step)) = (&mut soft, &mut soft_step)
        && solids.damps_after_contact(model)
    {
        let motions = &mut full.velocities.bodies;
        let (pushing, joints) = (reached.pushing(contact, count), articulation.damping_rows(&frames));
        solids
            .damp(model, &frames, motions, &mut soft_velocity, step, &pushing, joints, contact)
            .map_err(failed)?;
    }
    if !stiff && model.fluid.is_none() && model.particles.is_empty() {
        let pushed = soft.as_ref().map_or(&[][..], |solids| &solids.carriers);
        let motions = &mut full.velocities.bodies;
        contact.limit_energy(&joined, &model.gravity, &state.bodies, &frames, motions, pushed);
    }
    let held = if fluid.is_pending() || stiff {
        let mut held = articulation.held_rows(&frames);
        let motions = &full.velocities.bodies;
        if fluid.is_pending() {
            held.extend(reached.held_rows(contact, model, &frames, motions, &soft_velocity));
        }
        held.extend(touching);
        held
    } else {
        Vec::new()
    };
    let motions = &mut full.velocities.bodies;
    if let Some(step) = soft_step.as_mut().filter(|_| stiff && !fluid.takes_soft()) {
        let mut free = soft_velocity.clone();
        let cones = released.as_mut().map(|released| {
            let contacts = reached.cones(contact, &stage, model, &frames, motions, &soft_velocity);
            reached.part_motions(released, &mut free);
            Cones { contacts, motions: released, soft: &free }
        });
        step.hold(model, &frames, motions, Some(&mut soft_velocity), &held, cones.as_ref(), None)
            .map_err(failed)?;
    }
    fluid.couple_finish(model, state, &frames, dt, motions, &mut soft_velocity, &held)?;
    sleep.still(&mut full.velocities.bodies);
    let places = seen(&soft_step, Tag::End, Tag::Start).0;
    let later = (Tag::End, &frames[..], &positions[..]);
    audit.record("V.4 contact", later, (Tag::End, &full.velocities), (places, &soft_velocity), false);
    memory.keep_sleeping(&state.contact, &sleep.asleep);
    let mut soft_report = None;
    let solids = match (soft, soft_step) {
        (Some(solids), Some(step)) => {
            let bodies = &mut full.velocities.bodies;
            let (state, report) = solids.end(model, &frames, bodies, step, soft_velocity).map_err(failed)?;
            soft_report = Some(report);
            state
        }
        // Those that follow are advanced in `World::step`.
        _ => crate::SolidState::default(),
    };

    let bodies = frames
        .into_iter()
        .zip(full.velocities.bodies)
        .map(|(frame, body)| BodyState {
            frame,
            velocity: body.velocity,
            angular_momentum: body.angular_momentum,
        })
        .collect();
    let mut next = State {
        time: state.time + dt,
        step: state.step + 1,
        bodies,
        particles: ParticleState { position: positions, velocity: full.velocities.particles },
        // Stage VI follows in `World::step`.
        fluid: None,
        multipliers: Multipliers { half: half.multipliers, full: full.multipliers },
        newcomers: state.newcomers.clone(),
        contact: reached.remember(&memory, count),
        rest: splashdown_rigid::Rest::default(),
        solids,
    };
    next.rest = sleep.rest_after(model, state, &next, dt);
    for (i, body) in next.bodies.iter_mut().enumerate().filter(|(i, _)| next.rest.is_asleep(*i)) {
        *body = BodyState::new(&model.bodies[i], body.frame, &Twist::zero());
    }
    check_finite(model, &next)?;
    let report = StepReport {
        dt,
        parts: 1,
        solves: vec![half.report, full.report],
        joints: articulation.report(|i| next.bodies[i].frame),
        contact: ContactReport { asleep: next.rest.count(), ..contact.report() },
        broken: vec![],
        stages: audit.stages,
        solids: soft_report,
    };
    Ok(Advanced::To(Box::new((next, report))))
}

/// IV.2: pushes overlapping bodies apart, jointed ones together with what their joints hold; `once_more`, with what the limits hold that they have reached. Is it worth another go
/// once joints have been closed?
fn push_out<const D: usize>(
    articulation: &Articulation<'_, D>,
    stage: &ContactStage<'_, D>,
    contact: &mut ContactSolver<D>,
    velocities: &Velocities<D>,
    frames: &mut [Frame<D>],
    once_more: bool,
) -> bool
where
    Dim<D>: Space<D>,
{
    let articulated = articulation.respond(frames, velocities, contact.touching(), once_more);
    let joined = ContactStage { articulated: Some(&articulated), ..*stage };
    let found = contact.push_out(&joined, frames);
    found > OVERLAP_LEFT && !articulated.is_empty()
}

/// Positions and velocities of the particles of solids at those times; none without solids.
fn seen(step: &Option<SolidStep>, positions: Tag, velocities: Tag) -> SoftParts<'_> {
    let Some(SolidStep { motion, stages, .. }) = step else { return Default::default() };
    let position = if positions == Tag::Start { &motion.position } else { &stages.next };
    (position, if velocities == Tag::Start { &stages.start } else { &stages.moving })
}

/// II: impacts on `v^n`; the difference to `v^{n+1/2}` stays what it was.
fn collisions<const D: usize>(
    stage: &ContactStage<'_, D>,
    frames: &[Frame<D>],
    start: &mut [Motion<D>],
    half: &mut [Motion<D>],
    contact: &mut ContactSolver<D>,
) where
    Dim<D>: Space<D>,
{
    let before = start.to_vec();
    contact.collide(stage, frames, start, half);
    for ((half, before), after) in half.iter_mut().zip(&before).zip(start.iter()) {
        // Untouched bodies keep their bits.
        if before != after {
            half.velocity += after.velocity - before.velocity;
            half.angular_momentum += after.angular_momentum - before.angular_momentum;
        }
    }
}

/// I.1: `v^{n+1/2} = v^n + (dt/2) a(x^n, v^{n+1/2})`, with damping implicit.
fn velocity_to_half_step<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    dt: f64,
    solver: &mut CoupledSolver,
) -> Result<CoupledStep<D>, StepError>
where
    Dim<D>: Space<D>,
{
    let frames: Vec<Frame<D>> = state.bodies.iter().map(|body| body.frame).collect();
    let start = Velocities::of(state);
    let explicit = add_explicit_forces(model, &state.particles.position, &start, 0.5 * dt, false);
    let stage = Stage {
        name: "half",
        frames: &frames,
        positions: &state.particles.position,
        dt: 0.5 * dt,
        guess: &state.multipliers.half,
    };
    coupled_solve(model, &stage, explicit, solver).map_err(|reason| solve_error(state, &stage, reason))
}

/// IV.1: positions and orientations move with the velocity of the half step; orientations turn at constant angular momentum.
fn advance_positions<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    half: &Velocities<D>,
    dt: f64,
) -> (Vec<Frame<D>>, Vec<Vector<D>>)
where
    Dim<D>: Space<D>,
{
    let options = &model.options;
    let frames = model
        .bodies
        .iter()
        .zip(&state.bodies)
        .zip(&half.bodies)
        .map(|((body, now), moving)| {
            let fix = options.energy_fix.at_end();
            body.evolve(
                &now.frame,
                &moving.velocity,
                &moving.angular_momentum,
                dt,
                options.orientation_order,
                fix,
            )
        })
        .collect();
    let positions = state.particles.position.iter().zip(&half.particles).map(|(x, v)| x + v * dt).collect();
    (frames, positions)
}

/// V.2: `v^{n+1} = 2 w - v^n` with `w = v^n + (dt/2) a(x^{n+1/2}, w)`: second order, damping implicit; `start` is `v^n` after collisions.
fn velocity_to_full_step<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    start: &Velocities<D>,
    frames: &[Frame<D>],
    positions: &[Vector<D>],
    dt: f64,
    solver: &mut CoupledSolver,
) -> Result<CoupledStep<D>, StepError>
where
    Dim<D>: Space<D>,
{
    let midway: Vec<Vector<D>> =
        state.particles.position.iter().zip(positions).map(|(old, new)| (old + new) * 0.5).collect();
    let explicit = add_explicit_forces(model, &midway, start, 0.5 * dt, true);
    let stage =
        Stage { name: "full", frames, positions: &midway, dt: 0.5 * dt, guess: &state.multipliers.full };
    let mut solved = coupled_solve(model, &stage, explicit, solver)
        .map_err(|reason| solve_error(state, &stage, reason))?;
    solved.velocities.extrapolate_from(start);
    Ok(solved)
}

fn solve_error<const D: usize>(state: &State<D>, stage: &Stage<D>, reason: String) -> StepError
where
    Dim<D>: Space<D>,
{
    StepError::Solve { step: state.step, time: state.time, stage: stage.name, reason }
}

/// `v + dt M^-1 F(x)`: gravity, what acts on rigid bodies, and the elastic forces at `positions`; with `midway` what is returned is to be extrapolated from `start` to twice `dt`.
fn add_explicit_forces<const D: usize>(
    model: &Model<D>,
    positions: &[Vector<D>],
    start: &Velocities<D>,
    dt: f64,
    midway: bool,
) -> Velocities<D>
where
    Dim<D>: Space<D>,
{
    let mut velocities = start.clone();
    for (body, moving) in model.bodies.iter().zip(&mut velocities.bodies) {
        if body.is_dynamic() {
            if body.load.is_none() {
                moving.velocity += model.gravity * dt;
            } else if midway {
                // Half way in velocity to where the whole step leads.
                let end = body.load.carry(body, moving, &model.gravity, 2.0 * dt);
                moving.velocity = (moving.velocity + end.velocity) * 0.5;
                moving.angular_momentum = (moving.angular_momentum + end.angular_momentum) * 0.5;
            } else {
                *moving = body.load.carry(body, moving, &model.gravity, dt);
            }
        }
    }
    let mut force = vec![0.0; D * positions.len()];
    model.springs.add_elastic(positions, &mut force);
    for (particle, velocity) in velocities.particles.iter_mut().enumerate() {
        if model.particles.pinned[particle] {
            continue;
        }
        let force = Vector::from_column_slice(&force[D * particle..D * (particle + 1)]);
        *velocity += (model.gravity + force * model.particles.inverse_mass(particle)) * dt;
    }
    velocities
}

/// Refuses a state with values that are not finite or faster than light, and names the body.
fn check_finite<const D: usize>(model: &Model<D>, state: &State<D>) -> Result<(), StepError>
where
    Dim<D>: Space<D>,
{
    let diverged = |what: String, value: f64| {
        Err(StepError::Diverged { step: state.step, time: state.time, what, value })
    };
    for (body, now) in model.bodies.iter().zip(&state.bodies) {
        let speed = now.velocity.norm();
        if !(speed <= SPEED_OF_LIGHT) {
            return diverged(format!("the speed of body `{}` (m/s)", body.name), speed);
        }
        let distance = now.frame.position.norm();
        let energy = now.kinetic_energy(body);
        if !(distance.is_finite() && energy.is_finite()) {
            return diverged(format!("the position or spin of body `{}`", body.name), distance + energy);
        }
    }
    for (particle, (x, v)) in state.particles.position.iter().zip(&state.particles.velocity).enumerate() {
        let (speed, distance) = (v.norm(), x.norm());
        if !(speed <= SPEED_OF_LIGHT && distance.is_finite()) {
            let (name, index) = model.name_of_particle(particle);
            return diverged(format!("the speed of particle {index} of `{name}` (m/s)"), speed);
        }
    }
    Ok(())
}
