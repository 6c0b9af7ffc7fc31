//! The propagation method: pair after pair, positions evolved anew after every impulse (spec/rigid-bodies.md 3.8, 3.10), shock propagation, and
//! push-out with one central body at a time (3.12). Jointed bodies respond together here as well ([`super::ContactStage::articulated`]).

use super::impulse::{Clamp, ClampSide, allowed_share, clamp_energy, contact_impulse};
use super::joined::{UNMOVED, alone, combined};
use super::projection::displace;
use super::push_out::{Outer, resolve};
use super::{Clamped, ContactSolver, ContactStage, InverseInertia, Pair};
use crate::Motion;
use crate::collide::{Contact, Placed, Pose, Touch, collide};
use splashdown_math::{Coordinates, Dim, Frame, Matrix, Space, Spin, Twist, Vector};

/// Roughness of surfaces as a share of the smaller body's size: points this close count as touching.
const ROUGHNESS: f64 = 1e-6;
/// Points that are closer than so many times that are one contact for those who ask what has pushed.
const SAME_POINT: f64 = 1e3;

/// An impulse to be applied to a pair.
struct Push<const D: usize> {
    impulse: Vector<D>,
    arms: [Vector<D>; 2],
}

/// Motions during contact.
struct Motions<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// With what contact did to each body by itself.
    own: &'a mut [Motion<D>],
    /// The same with what joints answer; `None` if no joint does.
    answered: Option<Vec<Motion<D>>>,
}

impl<'a, const D: usize> Motions<'a, D>
where
    Dim<D>: Space<D>,
{
    fn new(own: &'a mut [Motion<D>], stage: &ContactStage<'_, D>) -> Self {
        let joints = stage.articulated.is_some_and(|articulated| !articulated.is_empty());
        let answered = joints.then(|| own.to_vec());
        Self { own, answered }
    }

    /// How the bodies move.
    fn now(&self) -> &[Motion<D>] {
        self.answered.as_deref().unwrap_or(self.own)
    }

    /// Pushes body `i` at the positions `frames`.
    fn push(&mut self, stage: &ContactStage<'_, D>, frames: &[Frame<D>], i: usize, push: &Twist<D>) {
        self.own[i].add_impulse(&stage.bodies[i], push);
        let Some(answered) = &mut self.answered else { return };
        match stage.response_of(i) {
            None => answered[i].add_impulse(&stage.bodies[i], push),
            Some((members, columns)) => {
                for (&member, columns) in members.iter().zip(columns) {
                    let (k, change) = (member as usize, combined(columns, push));
                    let change = Motion::from_twist(&stage.bodies[k], &frames[k], &change);
                    answered[k].velocity += change.velocity;
                    answered[k].angular_momentum += change.angular_momentum;
                }
            }
        }
    }
}

/// Change of the twist of body `moved` for a wrench on body `pushed`.
fn answer<const D: usize>(
    stage: &ContactStage<'_, D>,
    frames: &[Frame<D>],
    pushed: usize,
    moved: usize,
    wrench: &Twist<D>,
) -> Twist<D>
where
    Dim<D>: Space<D>,
{
    match stage.response_of(pushed) {
        None if pushed == moved => alone(&InverseInertia::of(&stage.bodies[moved], &frames[moved]), wrench),
        None => Twist::zero(),
        Some((members, columns)) => members
            .binary_search(&(moved as u32))
            .map_or_else(|_| Twist::zero(), |place| combined(&columns[place], wrench)),
    }
}

/// Change of the relative velocity (of the first body to the second) at `point` for an impulse there, with all that joints answer; `None` if they answer nothing.
fn joined_factor<const D: usize>(
    stage: &ContactStage<'_, D>,
    frames: &[Frame<D>],
    ids: [usize; 2],
    fixed: &[bool; 2],
    arms: &[Vector<D>; 2],
) -> Option<Matrix<D>>
where
    Dim<D>: Space<D>,
{
    if ids.iter().all(|&i| stage.response_of(i).is_none()) {
        return None;
    }
    let mut factor = Matrix::<D>::zeros();
    for column in 0..D {
        let unit = Vector::<D>::from_fn(|a, _| f64::from(u8::from(a == column)));
        let mut change = Vector::<D>::zeros();
        for (pushed, sign) in [(0, 1.0), (1, -1.0)] {
            if fixed[pushed] {
                continue;
            }
            let wrench = Twist::of_force(&(unit * sign), &arms[pushed]);
            for (moved, side) in [(0, 1.0), (1, -1.0)] {
                if !fixed[moved] {
                    let twist = answer(stage, frames, ids[pushed], ids[moved], &wrench);
                    change += twist.at(&arms[moved]) * side;
                }
            }
        }
        factor.set_column(column, &change);
    }
    // Joints leave a symmetric response to rounding only.
    Some((factor + factor.transpose()) * 0.5)
}

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// II: the collision loop.
    pub(super) fn collide_pairs(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &mut [Motion<D>],
        half: &[Motion<D>],
    ) {
        let added: Vec<Motion<D>> = half
            .iter()
            .zip(start.iter())
            .map(|(half, start)| Motion {
                velocity: half.velocity - start.velocity,
                angular_momentum: half.angular_momentum - start.angular_momentum,
            })
            .collect();
        let predict = |i: usize, start: &Motion<D>| {
            let motion = Motion {
                velocity: start.velocity + added[i].velocity,
                angular_momentum: start.angular_momentum + added[i].angular_momentum,
            };
            stage.evolve(i, &frames[i], &motion)
        };
        let mut predicted: Vec<Frame<D>> =
            start.iter().enumerate().map(|(i, motion)| predict(i, motion)).collect();
        let mut found = Vec::new();
        for _ in 0..stage.options.collision_sweeps {
            let mut changed = false;
            for index in 0..self.contacts.pairs.len() {
                let pair = self.contacts.pairs[index];
                let ids = [pair.a as usize, pair.b as usize];
                for _ in 0..stage.options.pair_impulses {
                    let poses = ids.map(|i| Pose::new(&predicted[i]));
                    contacts_of(stage, &pair, &poses, 0.0, &mut found);
                    if found.is_empty() {
                        break;
                    }
                    self.processed[index] = true;
                    let twists = ids.map(|i| start[i].twist(&stage.bodies[i], &predicted[i]));
                    let touches = found.iter().map(|contact| touch(stage, &pair, contact, &poses));
                    let Some((touch, relative)) =
                        deepest_approaching(touches.map(|t| (t.gap, t)), &twists, ids, &predicted)
                    else {
                        break;
                    };
                    let material = stage.material(ids[0], ids[1]);
                    let inverse = ids.map(|i| InverseInertia::of(&stage.bodies[i], &predicted[i]));
                    let arms = ids.map(|i| touch.point - predicted[i].position);
                    let factor = inverse[0].factor(&arms[0]) + inverse[1].factor(&arms[1]);
                    let Some(push) = contact_impulse(
                        &factor,
                        &relative,
                        &touch.normal,
                        material.restitution,
                        material.friction,
                    ) else {
                        break;
                    };
                    let mut push = Push { impulse: push.impulse, arms };
                    let clamped = &mut self.report.clamped_collisions;
                    if stage.options.clamp_collisions
                        && !clamp(stage, &pair, frames, start, &mut push, &[false, false], clamped)
                    {
                        break;
                    }
                    apply(stage, &pair, start, &push, &[false, false]);
                    ids.iter().for_each(|&i| predicted[i] = predict(i, &start[i]));
                    self.report.collisions += 1;
                    self.bounced[index] |= material.restitution > 0.0;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        // Candidates of the contact graph: one body moved by the forces, the other held.
        let held: Vec<Frame<D>> =
            start.iter().enumerate().map(|(i, motion)| stage.evolve(i, &frames[i], motion)).collect();
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            if self.processed[index] {
                continue;
            }
            let ids = [pair.a as usize, pair.b as usize];
            for moved in 0..2 {
                let poses =
                    [0, 1].map(|k| Pose::new(if k == moved { &predicted[ids[k]] } else { &held[ids[k]] }));
                contacts_of(stage, pair, &poses, 0.0, &mut found);
                if !found.is_empty() {
                    self.processed[index] = true;
                }
            }
        }
    }

    /// III and V: contact by levels with gradual restitution, then shock propagation. In V (`last`) impulses are clamped.
    pub(super) fn propagate(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
        last: bool,
    ) {
        self.pressed.clear();
        let order = self.pairs_by_level();
        let clamped = last && stage.options.clamp_contact;
        let mut frozen = vec![false; stage.bodies.len()];
        let motions = &mut Motions::new(motions, stage);
        let (sweeps, visits) = (stage.options.contact_sweeps, stage.options.level_iterations.max(1));
        for sweep in 1..=sweeps {
            let mut changed = false;
            for level in &order {
                for visit in 1..=visits {
                    let share = (sweep * visit) as f64 / (sweeps * visits) as f64;
                    for &index in level {
                        changed |= self.press(stage, index, frames, motions, &frozen, share - 1.0, clamped);
                    }
                }
            }
            self.report.iterations = self.report.iterations.max(sweep);
            if !changed {
                break;
            }
        }
        if stage.options.shock_propagation {
            for level in &order {
                for visit in 1..=visits {
                    for &index in level {
                        let share = visit as f64 / visits as f64;
                        self.press(stage, index, frames, motions, &frozen, share - 1.0, clamped);
                    }
                }
                // Bodies of this level keep their velocity and carry what is above.
                for &index in level {
                    let pair = self.contacts.pairs[index as usize];
                    let of = self.levels[pair.a as usize].max(self.levels[pair.b as usize]);
                    for i in [pair.a as usize, pair.b as usize] {
                        frozen[i] |= self.levels[i] <= of;
                    }
                }
            }
        }
    }

    /// Touching pairs, grouped by the higher level of their two bodies, from the ground up.
    fn pairs_by_level(&self) -> Vec<Vec<u32>> {
        let highest = self.levels.iter().copied().max().unwrap_or(0) as usize;
        let mut order = vec![Vec::new(); highest + 1];
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            if self.processed[index] {
                let level = self.levels[pair.a as usize].max(self.levels[pair.b as usize]);
                order[level as usize].push(index as u32);
            }
        }
        order.retain(|level| !level.is_empty());
        order
    }

    /// Impulses of one pair until no point that would overlap after the step approaches; depth belongs to the proposed positions, normal and
    /// approach to the old ones. Returns whether anything was applied.
    #[allow(clippy::too_many_arguments)]
    fn press(
        &mut self,
        stage: &ContactStage<'_, D>,
        index: u32,
        frames: &[Frame<D>],
        motions: &mut Motions<'_, D>,
        frozen: &[bool],
        restitution: f64,
        clamped: bool,
    ) -> bool {
        let pair = self.contacts.pairs[index as usize];
        let ids = [pair.a as usize, pair.b as usize];
        let fixed = ids.map(|i| frozen[i]);
        if ids.iter().all(|&i| frozen[i] || !stage.bodies[i].is_dynamic()) {
            return false;
        }
        let size = |i: usize| super::size(&stage.bodies[i]);
        let reach = ROUGHNESS * size(ids[0]).min(size(ids[1]));
        let material = stage.material(ids[0], ids[1]);
        let poses = ids.map(|i| Pose::new(&frames[i]));
        let inverse = ids.map(|i| {
            if frozen[i] {
                InverseInertia::infinite()
            } else {
                InverseInertia::of(&stage.bodies[i], &frames[i])
            }
        });
        let mut found = Vec::new();
        let mut any = false;
        for _ in 0..stage.options.pair_impulses {
            let proposed = ids.map(|i| Pose::new(&stage.evolve(i, &frames[i], &motions.now()[i])));
            contacts_of(stage, &pair, &proposed, reach, &mut found);
            let twists = ids.map(|i| motions.now()[i].twist(&stage.bodies[i], &frames[i]));
            let candidates = found.iter().map(|contact| {
                let depth = touch(stage, &pair, contact, &proposed).gap;
                (depth, touch(stage, &pair, contact, &poses))
            });
            let Some((touch, relative)) = deepest_approaching(candidates, &twists, ids, frames) else {
                break;
            };
            let arms = ids.map(|i| touch.point - frames[i].position);
            let joined = joined_factor(stage, frames, ids, &fixed, &arms);
            let alone = inverse[0].factor(&arms[0]) + inverse[1].factor(&arms[1]);
            let factor = joined.unwrap_or(alone);
            if factor.trace() <= UNMOVED * alone.trace() {
                break;
            }
            let Some(push) =
                contact_impulse(&factor, &relative, &touch.normal, restitution, material.friction)
            else {
                break;
            };
            let load = push.impulse.dot(&touch.normal);
            let mut push = Push { impulse: push.impulse, arms };
            let count = &mut self.report.clamped_contact;
            let keeps = !clamped
                || match joined {
                    Some(factor) => clamp_joined(&factor, &relative, &mut push.impulse, count),
                    None => clamp(stage, &pair, frames, motions.now(), &mut push, &fixed, count),
                };
            if !keeps {
                break;
            }
            for (k, sign) in [(0, 1.0), (1, -1.0)] {
                if !fixed[k] {
                    let wrench = Twist::of_force(&(push.impulse * sign), &push.arms[k]);
                    motions.push(stage, frames, ids[k], &wrench);
                }
            }
            if material.rolling > 0.0 || material.spinning > 0.0 {
                roll(
                    stage,
                    &pair,
                    frames,
                    motions,
                    &fixed,
                    &inverse,
                    &touch.normal,
                    [material.rolling * load, material.spinning * load],
                );
            }
            let near = |other: &Vector<D>| (touch.point - other).norm() <= SAME_POINT * reach;
            let known = self.pressed.iter_mut().find(|(of, at, ..)| *of == [pair.a, pair.b] && near(at));
            match known {
                Some((.., sum)) => *sum += push.impulse,
                None => {
                    self.pressed.push(([pair.a, pair.b], touch.point, touch.normal, push.impulse));
                }
            }
            any = true;
        }
        any
    }

    /// IV.2 with one central body against its neighbours, by levels.
    pub(super) fn push_out_central(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &mut [Frame<D>],
        normal_only: bool,
    ) {
        const REPEATS: usize = 5;
        let bodies = stage.bodies;
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); bodies.len()];
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            if self.processed[index] {
                neighbours[pair.a as usize].push(index as u32);
                neighbours[pair.b as usize].push(index as u32);
            }
        }
        let mut centres: Vec<(u32, u32)> = (0..bodies.len() as u32)
            .filter(|&i| bodies[i as usize].is_dynamic() && !neighbours[i as usize].is_empty())
            .map(|i| (self.levels[i as usize], i))
            .collect();
        centres.sort_unstable();
        let mut floating = vec![false; bodies.len()];
        for (members, ..) in &self.isolated {
            members.iter().for_each(|&i| floating[i as usize] = true);
        }
        let mut found = Vec::new();
        let visits = stage.options.level_iterations.max(1);
        let mut first = 0;
        while first < centres.len() {
            let level = centres[first].0;
            let end = first + centres[first..].iter().take_while(|(l, _)| *l == level).count();
            for visit in 1..=visits {
                let share = visit as f64 / visits as f64;
                for &(_, centre) in &centres[first..end] {
                    let c = centre as usize;
                    for _ in 0..REPEATS {
                        let mut outer = Vec::new();
                        let mut others = Vec::new();
                        for &index in &neighbours[c] {
                            let pair = self.contacts.pairs[index as usize];
                            let other = if pair.a == centre { pair.b } else { pair.a } as usize;
                            let poses = [pair.a, pair.b].map(|i| Pose::new(&frames[i as usize]));
                            contacts_of(stage, &pair, &poses, 0.0, &mut found);
                            let deepest = found
                                .iter()
                                .map(|contact| touch(stage, &pair, contact, &poses))
                                .min_by(|s, t| s.gap.total_cmp(&t.gap))
                                .filter(|t| -t.gap > stage.options.allowed_overlap);
                            let Some(t) = deepest else { continue };
                            self.report.overlap_before = self.report.overlap_before.max(-t.gap);
                            let frozen = !bodies[other].is_dynamic()
                                || (self.levels[other] < level && !floating[other]);
                            let inverse = if frozen {
                                InverseInertia::infinite()
                            } else {
                                InverseInertia::of(&bodies[other], &frames[other])
                            };
                            let out = if pair.a == centre { t.normal } else { -t.normal };
                            let depth = (-t.gap - stage.options.allowed_overlap).min(super::size(&bodies[c]));
                            outer.push(Outer {
                                arm: t.point - frames[c].position,
                                own_arm: t.point - frames[other].position,
                                inverse,
                                displacement: out * (depth * share),
                                normal: normal_only.then_some(out),
                            });
                            others.push(other);
                        }
                        if outer.is_empty() {
                            break;
                        }
                        let moved = resolve(&InverseInertia::of(&bodies[c], &frames[c]), &outer);
                        displace(&mut frames[c], &moved.centre);
                        for (other, moved) in others.into_iter().zip(&moved.outer) {
                            displace(&mut frames[other], moved);
                        }
                    }
                }
            }
            first = end;
        }
        for (pair, _) in self.contacts.pairs.iter().zip(&self.processed).filter(|(_, processed)| **processed)
        {
            let poses = [pair.a, pair.b].map(|i| Pose::new(&frames[i as usize]));
            contacts_of(stage, pair, &poses, 0.0, &mut found);
            let gaps = found.iter().map(|contact| touch(stage, pair, contact, &poses).gap);
            self.report.overlap_after = gaps.fold(self.report.overlap_after, |worst, gap| worst.max(-gap));
        }
    }
}

/// Contacts of a pair at these poses.
fn contacts_of<const D: usize>(
    stage: &ContactStage<'_, D>,
    pair: &Pair,
    poses: &[Pose<D>; 2],
    reach: f64,
    found: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    found.clear();
    let geometry = [pair.a, pair.b].map(|i| stage.bodies[i as usize].geometry.as_deref());
    if let [Some(a), Some(b)] = geometry {
        collide(
            &Placed { geometry: a, pose: poses[0] },
            &Placed { geometry: b, pose: poses[1] },
            reach,
            found,
        );
    }
}

fn touch<const D: usize>(
    stage: &ContactStage<'_, D>,
    pair: &Pair,
    contact: &Contact<D>,
    poses: &[Pose<D>; 2],
) -> Touch<D>
where
    Dim<D>: Space<D>,
{
    match [pair.a, pair.b].map(|i| stage.bodies[i as usize].geometry.as_deref()) {
        [Some(a), Some(b)] => contact.touch(&poses[0], &poses[1], [a, b]),
        _ => Touch { normal: Vector::zeros(), gap: f64::INFINITY, point: poses[0].position },
    }
}

/// Of the points that approach, the one with the smallest depth value, and its relative velocity.
fn deepest_approaching<const D: usize>(
    touches: impl Iterator<Item = (f64, Touch<D>)>,
    twists: &[Twist<D>; 2],
    ids: [usize; 2],
    frames: &[Frame<D>],
) -> Option<(Touch<D>, Vector<D>)>
where
    Dim<D>: Space<D>,
{
    let mut best: Option<(f64, Touch<D>, Vector<D>)> = None;
    for (depth, touch) in touches {
        let at = |k: usize| twists[k].at(&(touch.point - frames[ids[k]].position));
        let relative = at(0) - at(1);
        if relative.dot(&touch.normal) < 0.0 && best.as_ref().is_none_or(|best| depth < best.0) {
            best = Some((depth, touch, relative));
        }
    }
    best.map(|(_, touch, relative)| (touch, relative))
}

/// Scales `push` so that it adds no kinetic energy at the orientations of `frames`; `false` if it is to be discarded.
fn clamp<const D: usize>(
    stage: &ContactStage<'_, D>,
    pair: &Pair,
    frames: &[Frame<D>],
    motions: &[Motion<D>],
    push: &mut Push<D>,
    fixed: &[bool; 2],
    clamped: &mut Clamped,
) -> bool
where
    Dim<D>: Space<D>,
{
    let side = |k: usize| {
        let i = [pair.a, pair.b][k] as usize;
        let body = &stage.bodies[i];
        let inverse =
            if fixed[k] { InverseInertia::infinite() } else { InverseInertia::of(body, &frames[i]) };
        ClampSide { inverse, twist: motions[i].twist(body, &frames[i]), arm: push.arms[k] }
    };
    let (a, b) = (side(0), side(1));
    match clamp_energy(&push.impulse, &Spin::<D>::zero(), &a, &b) {
        Clamp::Keep => true,
        Clamp::Scale(share) => {
            let response = |side: &ClampSide<D>| {
                side.inverse.response(&side.arm, &push.impulse).at(&side.arm).dot(&push.impulse)
            };
            clamped.energy += 0.5 * (response(&a) + response(&b)) * (1.0 - share);
            clamped.scaled += 1;
            push.impulse *= share;
            true
        }
        Clamp::Discard => {
            clamped.discarded += 1;
            false
        }
    }
}

/// The same where joints answer: `factor` is the change of the relative velocity at the point for an impulse there.
fn clamp_joined<const D: usize>(
    factor: &Matrix<D>,
    relative: &Vector<D>,
    impulse: &mut Vector<D>,
    clamped: &mut Clamped,
) -> bool
where
    Dim<D>: Space<D>,
{
    let square = impulse.dot(&(factor * *impulse));
    match allowed_share(-impulse.dot(relative), square) {
        Some(share) if share >= 1.0 => true,
        Some(share) => {
            clamped.energy += 0.5 * square * (1.0 - share);
            clamped.scaled += 1;
            *impulse *= share;
            true
        }
        None => {
            clamped.discarded += 1;
            false
        }
    }
}

fn apply<const D: usize>(
    stage: &ContactStage<'_, D>,
    pair: &Pair,
    motions: &mut [Motion<D>],
    push: &Push<D>,
    fixed: &[bool; 2],
) where
    Dim<D>: Space<D>,
{
    for (k, (i, sign)) in [(pair.a as usize, 1.0), (pair.b as usize, -1.0)].into_iter().enumerate() {
        if !fixed[k] {
            motions[i].add_impulse(&stage.bodies[i], &Twist::of_force(&(push.impulse * sign), &push.arms[k]));
        }
    }
}

/// Rolling and spinning friction: an angular impulse against the relative spin, at most `limits` for the tangential and the normal part.
#[allow(clippy::too_many_arguments)]
fn roll<const D: usize>(
    stage: &ContactStage<'_, D>,
    pair: &Pair,
    frames: &[Frame<D>],
    motions: &mut Motions<'_, D>,
    fixed: &[bool; 2],
    inverse: &[InverseInertia<D>; 2],
    normal: &Vector<D>,
    limits: [f64; 2],
) where
    Dim<D>: Space<D>,
{
    let ids = [pair.a as usize, pair.b as usize];
    let spins = ids.map(|i| stage.bodies[i].spin_of(&frames[i], &motions.now()[i].angular_momentum));
    let effective = Dim::invert_inertia(&(inverse[0].inertia + inverse[1].inertia));
    let wanted = -Dim::apply_inertia(&effective, &(spins[0] - spins[1]));
    let about_normal = super::manifold::normal_part::<D>(&wanted, normal);
    let limit = |part: Spin<D>, most: f64| {
        let size = part.norm();
        if size > most { part * (most / size) } else { part }
    };
    let turn = limit(wanted - about_normal, limits[0]) + limit(about_normal, limits[1]);
    for (k, sign) in [(0, 1.0), (1, -1.0)] {
        if !fixed[k] {
            let push = Twist { linear: Vector::zeros(), angular: turn * sign };
            motions.push(stage, frames, ids[k], &push);
        }
    }
}
