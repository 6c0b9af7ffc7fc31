//! Collision and contact of many bodies, as the stages of the five-step scheme (spec/rigid-bodies.md 3.5):
//!
//! | stage | positions | velocities | function |
//! |---|---|---|---|
//! | II collisions | `x^n`, predicted | `v^n` | [`ContactSolver::collide`] |
//! | III contact | `x^n` | `v^{n+1/2}` | [`ContactSolver::contact_half`] |
//! | IV push-out | `x^{n+1}` | - | [`ContactSolver::push_out`] |
//! | V contact | `x^{n+1}` | `v^{n+1}` | [`ContactSolver::contact_full`] |
//!
//! Collisions use `v^n`, so a body at rest never bounces; contact only sees pairs that collisions have seen, so an impact gets its bounce first.

mod balance;
mod blocks;
mod box_minimum;
mod broad_phase;
mod configuration;
mod detect;
mod energy_limit;
mod exact;
mod gauss_seidel;
mod graph;
mod hits;
mod impulse;
mod isolated;
mod joined;
mod looks;
mod manifold;
mod memory;
mod newton;
mod options;
mod partition;
mod probes;
mod projection;
mod propagation;
pub mod push_out;
mod rest;
mod round;
mod rows;
mod simultaneous;
mod stacking;
mod wide;

pub use broad_phase::BroadPhase;
pub use detect::{Contacts, Pair};
pub use graph::{islands, levels};
pub use impulse::{Clamp, ClampSide, InverseInertia, PointImpulse, clamp_energy, contact_impulse};
pub use isolated::turn_together;
pub use memory::ContactMemory;
pub use options::{Clamped, ContactMethod, ContactOptions, ContactReport, PushOut};
pub use probes::Probes;
pub use rest::{Rest, Sleeping, wake_moved};

use crate::collide::Touch;
use crate::joint::{Articulated, Columns};
use crate::{Body, EnergyFix, Material, Motion, OrientationOrder};
use configuration::Configuration;
use looks::{MOST_LOOKS, hit_hard};
use partition::Partition;
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use std::borrow::Cow;

/// What every stage of a step needs to know.
#[derive(Debug, Clone, Copy)]
pub struct ContactStage<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// All bodies.
    pub bodies: &'a [Body<D>],
    /// Length of the step (s).
    pub dt: f64,
    /// Options.
    pub options: &'a ContactOptions,
    /// Order of the orientation update.
    pub order: OrientationOrder,
    /// Whether free rotation conserves energy.
    pub fix: EnergyFix,
    /// Pairs (ascending) that never touch, such as bodies joined to each other; they count as connected. A body paired with itself is joined to
    /// the world.
    pub linked: &'a [[u32; 2]],
    /// Pairs (ascending) of fragments that a body broke into in this step: they touch everywhere at birth and push each other without a bounce.
    pub siblings: &'a [[u32; 2]],
    /// For each body, does it sleep? Empty if none does. Pairs of which nothing is awake are not looked at; of the others those that touch have to
    /// be woken ([`ContactSolver::wake_touched`]) before contact is solved.
    pub asleep: &'a [bool],
    /// For each body its friction coefficient against particles of deformable bodies; those beyond the end of the list use their own.
    pub soft_friction: &'a [f64],
    /// Points by which bodies touch others besides their own geometry. The pair has the material of the two bodies.
    pub probes: &'a [Probes<D>],
    /// How bodies that joints hold respond where they are in this stage: all of a set together. What contact then does to velocities is what it does to each
    /// body by itself; the impulses of the joints that go with it are to follow ([`crate::joint::hold_against_contact`]). Without it joints do not count.
    pub articulated: Option<&'a Articulated<D>>,
}

impl<const D: usize> ContactStage<'_, D>
where
    Dim<D>: Space<D>,
{
    /// Coefficients of contact between two bodies.
    pub fn material(&self, a: usize, b: usize) -> Material {
        let pair = self.bodies[a].material.pair(&self.bodies[b].material);
        let particle = self.bodies[a].is_particle() || self.bodies[b].is_particle();
        if !self.siblings.is_empty()
            && self.siblings.binary_search(&[a.min(b) as u32, a.max(b) as u32]).is_ok()
        {
            return Material { restitution: 0.0, ..pair };
        }
        match self.soft_friction.get(a.min(b)).filter(|_| particle) {
            Some(&friction) => Material { friction, ..pair },
            None => pair,
        }
    }

    /// Bodies that move when body `index` is pushed, with their responses; `None` if no joint holds it.
    fn response_of(&self, index: usize) -> Option<(&[u32], &[Columns<D>])> {
        let set = self.articulated?.set_of(index)?;
        let member = set.bodies.binary_search(&(index as u32)).ok()?;
        Some((&set.bodies, set.response(member)?))
    }

    /// Where body `index` is after the step if it moves with `motion` from `frame`.
    pub fn evolve(&self, index: usize, frame: &Frame<D>, motion: &Motion<D>) -> Frame<D> {
        let fix = self.fix.in_predictions();
        self.bodies[index].evolve(frame, &motion.velocity, &motion.angular_momentum, self.dt, self.order, fix)
    }
}

/// A contact that pushed: pair, point (m), normal from the second body to the first, impulse on the first (kg m/s).
pub type Pressed<const D: usize> = ([u32; 2], Vector<D>, Vector<D>, Vector<D>);

/// Contact of one step, and the memory that it keeps between steps (which never shows in results).
#[derive(Debug, Clone, Default)]
pub struct ContactSolver<const D: usize>
where
    Dim<D>: Space<D>,
{
    broad: BroadPhase<D>,
    /// For what bodies meet that impacts send elsewhere.
    broad_again: BroadPhase<D>,
    contacts: Contacts<D>,
    /// Motions around which contacts have been looked for.
    seen: Vec<Motion<D>>,
    /// `v^n` before collisions: the momenta that isolated bodies keep.
    before: Vec<Motion<D>>,
    /// Does the pair touch in this step?
    processed: Vec<bool>,
    /// The islands of the simultaneous method.
    partition: Partition<D>,
    /// Where things are in the present stage.
    at: Configuration<D>,
    start_twists: Vec<Twist<D>>,
    half_twists: Vec<Twist<D>>,
    /// Place of each body that responds within its island.
    local: Vec<u32>,
    /// Half of the remembered impulse of each contact, and what it got in the last contact stage of this step (kg m/s).
    recalled: Vec<Vector<D>>,
    spent: Vec<Vector<D>>,
    /// Level of each body in the contact graph.
    levels: Vec<u32>,
    /// Island of each body among those that touch, and whether the island is held by nothing of infinite mass.
    isolated: Vec<(Vec<u32>, Vector<D>, Spin<D>)>,
    /// Pairs that bounced in this step.
    bounced: Vec<bool>,
    /// Where pairs that were visited one by one have pushed in the last contact stage.
    pressed: Vec<Pressed<D>>,
    report: ContactReport,
}

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// What the stages of this step did.
    pub fn report(&self) -> ContactReport {
        self.report
    }

    /// Contacts found in this step.
    pub fn contacts(&self) -> &Contacts<D> {
        &self.contacts
    }

    /// Pairs that touch in this step.
    pub fn touching(&self) -> impl Iterator<Item = &Pair> {
        self.contacts
            .pairs
            .iter()
            .zip(&self.processed)
            .filter(|(_, processed)| **processed)
            .map(|(pair, _)| pair)
    }

    /// II. Finds contacts, gives impacts their bounce and friction. `start` is `v^n` (changed), `half` the velocity `v^{n+1/2}` without contact.
    #[inline(never)]
    pub fn collide(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &mut [Motion<D>],
        half: &[Motion<D>],
    ) {
        self.report = ContactReport::default();
        self.isolated.clear();
        if !stage.options.enabled {
            self.contacts = Contacts::default();
            self.processed.clear();
            return;
        }
        self.at.place(stage.bodies, frames);
        self.contacts = Contacts::detect(stage, frames, start, half, None, &mut self.broad);
        self.at.find_touches(stage.bodies, &self.contacts, |_| true);
        self.report.pairs = self.contacts.pairs.len();
        self.report.contacts = self.contacts.contacts.len();
        self.processed.clear();
        self.processed.resize(self.contacts.pairs.len(), false);
        self.pressed.clear();
        self.bounced.clear();
        self.bounced.resize(self.contacts.pairs.len(), false);
        self.seen.clear();
        self.seen.extend_from_slice(half);
        self.before.clear();
        self.before.extend_from_slice(start);
        let mut moving = Cow::Borrowed(half);
        for look in 0.. {
            match stage.options.method {
                ContactMethod::Simultaneous => self.collide_simultaneously(stage, frames, start, &moving),
                ContactMethod::Propagation => self.collide_pairs(stage, frames, start, &moving),
            }
            if *start == self.before[..] {
                break;
            }
            let moving = moving.to_mut();
            for (i, before) in self.before.iter().enumerate().filter(|(i, before)| **before != start[*i]) {
                moving[i].velocity = half[i].velocity + (start[i].velocity - before.velocity);
                moving[i].angular_momentum =
                    half[i].angular_momentum + (start[i].angular_momentum - before.angular_momentum);
            }
            let hit = hit_hard(stage, frames, &self.seen, moving);
            if look == MOST_LOOKS
                || !hit.contains(&true)
                || !self.look_again(stage, frames, start, moving, &hit)
            {
                break;
            }
        }
        self.report.touching = self.processed.iter().filter(|processed| **processed).count();
        self.find_isolated(stage, frames);
    }

    /// III. Contact and friction for the positions. `start` is `v^n` after collisions, `half` is `v^{n+1/2}` (changed).
    #[inline(never)]
    pub fn contact_half(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &[Motion<D>],
        half: &mut [Motion<D>],
        memory: &ContactMemory<D>,
    ) {
        if self.report.touching == 0 {
            self.levels.clear();
            return;
        }
        self.land(stage, frames, half);
        // Joints, and impacts that were many, have sent bodies elsewhere, too.
        self.meet_others(stage, frames, start, half);
        let free = half.to_vec();
        for look in 0.. {
            self.build_graph(stage, frames, start, &free);
            match stage.options.method {
                ContactMethod::Simultaneous => self.solve_half(stage, frames, half, memory),
                ContactMethod::Propagation => self.propagate(stage, frames, half, false),
            }
            // What contact does to a jointed body by itself is not how it goes: joints answer later.
            let mut going = Cow::Borrowed(&*half);
            if let Some(articulated) = stage.articulated {
                for &i in articulated.sets().iter().flat_map(|set| &set.bodies) {
                    going.to_mut()[i as usize] = free[i as usize];
                }
            }
            if look == MOST_LOOKS || !self.meet_others(stage, frames, start, &going) {
                break;
            }
            half.copy_from_slice(&free);
        }
    }

    /// What touching pairs did to each other in the last contact stage: the pair and the impulse on its first body (kg m/s). Nothing for propagation.
    pub fn impulses(&self) -> impl Iterator<Item = ([u32; 2], Vector<D>)> + '_ {
        self.touching().filter_map(|pair| {
            let own = self.spent.get(pair.contacts())?;
            Some(([pair.a, pair.b], own.iter().sum()))
        })
    }

    /// Contacts that pushed in the last contact stage: pair, point (m), normal from the second body to the first, impulse on the first (kg m/s).
    pub fn pushes(&self) -> impl Iterator<Item = Pressed<D>> + '_ {
        let together = self.touching().flat_map(|pair| {
            let own = self.spent.get(pair.contacts()).unwrap_or(&[]);
            let touches = self.at.touches.get(pair.contacts()).unwrap_or(&[]);
            let pushing = own.iter().zip(touches).filter(|(impulse, _)| impulse.norm_squared() > 0.0);
            pushing.map(|(impulse, touch)| ([pair.a, pair.b], touch.point, touch.normal, *impulse))
        });
        together.chain(self.pressed.iter().copied())
    }

    /// All contacts of pairs that touch in this step, where the last contact stage had them.
    pub fn touches(&self) -> impl Iterator<Item = ([u32; 2], &Touch<D>)> + '_ {
        self.touching().flat_map(|pair| {
            let own = self.at.touches.get(pair.contacts()).unwrap_or(&[]);
            own.iter().map(|touch| ([pair.a, pair.b], touch))
        })
    }

    /// IV.2. Removes what overlap is left; positions only. Returns the largest overlap that projection found, over the size of the smaller body.
    #[inline(never)]
    pub fn push_out(&mut self, stage: &ContactStage<'_, D>, frames: &mut [Frame<D>]) -> f64 {
        if self.report.touching == 0 {
            return 0.0;
        }
        match stage.options.push_out {
            PushOut::Off => {}
            PushOut::Projection => return self.project(stage, frames),
            PushOut::Central => self.push_out_central(stage, frames, false),
            PushOut::CentralNormal => self.push_out_central(stage, frames, true),
        }
        0.0
    }

    /// V. Contact and friction for the velocities `v^{n+1}` at the new positions; remembers the impulses.
    #[inline(never)]
    pub fn contact_full(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
        memory: &mut ContactMemory<D>,
    ) {
        if self.report.touching == 0 {
            *memory = ContactMemory { dt: stage.dt, ..ContactMemory::default() };
            return;
        }
        match stage.options.method {
            ContactMethod::Simultaneous => self.solve_full(stage, frames, motions, memory),
            ContactMethod::Propagation => self.propagate(stage, frames, motions, true),
        }
    }

    /// The contact graph (3.9): `b` rests on `c` if `b` moved with the forces of this step, all else without, would run into `c`, and the forces
    /// push it there.
    fn build_graph(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &[Motion<D>],
        half: &[Motion<D>],
    ) {
        let bodies = stage.bodies;
        let mut edges: Vec<[u32; 2]> = Vec::new();
        self.at.twists(bodies, frames, start, &mut self.start_twists);
        self.at.twists(bodies, frames, half, &mut self.half_twists);
        let (start_twists, half_twists) = (&self.start_twists, &self.half_twists);
        for pair in self.touching() {
            let ids = [pair.a as usize, pair.b as usize];
            let forced = both(ids, |i| half[i].velocity - start[i].velocity);
            // Significantly towards the other body, not along it.
            let enough = both([0, 1], |k| -0.05 * forced[k].norm());
            let sudden = stage.material(ids[0], ids[1]).restitution == 0.0;
            // Does the first rest on the second, the second on the first?
            let mut rests = [false; 2];
            for touch in &self.at.touches[pair.contacts()] {
                for (k, sign) in [(0, 1.0), (1, -1.0)] {
                    if rests[k]
                        || !bodies[ids[k]].is_dynamic()
                        || !(sign * touch.normal.dot(&forced[k]) < enough[k])
                    {
                        continue;
                    }
                    let speed = |i: usize, twists: &[Twist<D>]| {
                        touch.normal.dot(&twists[i].at(&(touch.point - frames[i].position)))
                    };
                    let own = sign * speed(ids[k], half_twists);
                    let relative = own - sign * speed(ids[1 - k], start_twists);
                    let meets = |speed: f64| touch.gap + stage.dt * speed < 0.0;
                    // The other may be stopped within the step by what it rests on itself.
                    rests[k] = meets(relative) || (sudden && meets(own));
                }
            }
            if rests[0] {
                edges.push([pair.b, pair.a]);
            }
            if rests[1] {
                edges.push([pair.a, pair.b]);
            }
        }
        // What joints connect rests on the ground as one.
        if stage.options.method == ContactMethod::Propagation {
            for set in stage.articulated.map_or(&[][..], Articulated::sets) {
                edges.extend(set.bodies.windows(2).flat_map(|two| [[two[0], two[1]], [two[1], two[0]]]));
            }
        }
        self.levels = levels(bodies.len(), |i| !bodies[i].is_dynamic(), &edges);
        self.report.levels = self.levels.iter().copied().max().unwrap_or(0);
    }

    /// A bounce happens at the surface, but its velocity counts from the start of the step, `gap` before it: the body would rise to
    /// `gap + e^2 (h - gap)`. Moving it towards the surface by `(1 - e^2) gap` gives the height `e^2 h` of the bounce, whatever the step.
    fn land(&self, stage: &ContactStage<'_, D>, frames: &[Frame<D>], half: &mut [Motion<D>]) {
        const SWEEPS: usize = 10;
        if !self.bounced.contains(&true) {
            return;
        }
        let mut rows: Vec<Landing<D>> = Vec::new();
        for (pair, _) in self.contacts.pairs.iter().zip(&self.bounced).filter(|(_, bounced)| **bounced) {
            let ids = [pair.a as usize, pair.b as usize];
            let restitution = stage.material(ids[0], ids[1]).restitution;
            let inverse = both(ids, |i| &self.at.inverse[i]);
            for touch in &self.at.touches[pair.contacts()] {
                if touch.gap > 0.0 {
                    let arms = both(ids, |i| touch.point - frames[i].position);
                    let responses = both([0, 1], |k| inverse[k].response(&arms[k], &touch.normal));
                    let factor = both([0, 1], |k| touch.normal.dot(&responses[k].at(&arms[k])));
                    rows.push(Landing {
                        ids,
                        normal: touch.normal,
                        arms,
                        responses,
                        factor: factor[0] + factor[1],
                        target: -touch.gap * (1.0 - restitution * restitution) / stage.dt,
                        impulse: 0.0,
                    });
                }
            }
        }
        let mut extra = vec![Twist::<D>::zero(); half.len()];
        for _ in 0..SWEEPS {
            for row in &mut rows {
                let [a, b] = row.ids;
                let speed = row.normal.dot(&(extra[a].at(&row.arms[0]) - extra[b].at(&row.arms[1])));
                // Towards the surface only: points of a tilted face are nearer than others.
                let wanted = (row.impulse + (row.target - speed) / row.factor).min(0.0);
                let change = wanted - row.impulse;
                row.impulse = wanted;
                extra[a] += row.responses[0] * change;
                extra[b] -= row.responses[1] * change;
            }
        }
        for (i, extra) in extra.iter().enumerate().filter(|(_, extra)| **extra != Twist::zero()) {
            half[i].velocity += extra.linear;
            half[i].angular_momentum += stage.bodies[i].angular_momentum_of(&frames[i], &extra.angular);
        }
    }
}

/// `f` of both. In the loops over contacts `map` of an array is a call.
#[inline(always)]
fn both<I: Copy, T>([a, b]: [I; 2], f: impl Fn(I) -> T) -> [T; 2] {
    [f(a), f(b)]
}

/// A point of a bounce that has still to reach the surface.
struct Landing<const D: usize>
where
    Dim<D>: Space<D>,
{
    ids: [usize; 2],
    normal: Vector<D>,
    arms: [Vector<D>; 2],
    /// Change of twist for a normal impulse of one.
    responses: [Twist<D>; 2],
    /// Change of the normal speed for an impulse of one.
    factor: f64,
    /// Normal speed (m/s), towards the surface.
    target: f64,
    impulse: f64,
}

/// Size of a body (m), by which displacements in one go are limited; particles have none.
fn size<const D: usize>(body: &Body<D>) -> f64
where
    Dim<D>: Space<D>,
{
    body.geometry.as_ref().filter(|_| !body.is_particle()).map_or(f64::INFINITY, |geometry| geometry.radius())
}
