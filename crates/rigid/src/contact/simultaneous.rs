//! The simultaneous method: bounces one after another, then contact and friction of each island together.

use super::detect::margin;
use super::gauss_seidel::{FEWEST_ACCELERATED, Form, Island, Stop};
use super::graph::sorted_by;
use super::impulse::{Clamp, ClampSide, clamp_energy, contact_impulse};
use super::manifold::{Impulses, Limits, MOST_POINTS, Manifold};
use super::round::{RoundContact, is_round};
use super::wide::{self, Source};
use super::{ContactMemory, ContactOptions, ContactSolver, ContactStage, Contacts, both, islands, size};
use crate::collide::Touch;
use crate::{Body, Geometry, Motion};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_parallel::prelude::*;

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// II: marks the pairs that meet within the step and applies their restitution.
    pub(super) fn collide_simultaneously(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &mut [Motion<D>],
        half: &[Motion<D>],
    ) {
        let bodies = stage.bodies;
        self.at.twists(bodies, frames, half, &mut self.half_twists);
        self.at.twists(bodies, frames, start, &mut self.start_twists);
        self.mark_meeting(stage, frames);
        // Points with restitution: those that approach, and those that impacts of others may push together.
        let mut impacts: Vec<(usize, Touch<D>)> = Vec::new();
        let mut scale = 0.0f64;
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            if stage.material(a, b).restitution == 0.0 {
                continue;
            }
            for touch in &self.at.touches[pair.contacts()] {
                let [va, vb] = both([a, b], |i| self.start_twists[i].at(&(touch.point - frames[i].position)));
                if self.processed[index] {
                    scale = scale.max(-touch.normal.dot(&(va - vb)));
                }
                impacts.push((index, *touch));
            }
        }
        // Nothing approaches, so nothing is hit.
        if scale == 0.0 {
            return;
        }
        let (half_twists, start_twists) = (&self.half_twists, &self.start_twists);
        let inverse = &self.at.inverse;
        let mut twists = start_twists.clone();
        let added: Vec<Twist<D>> =
            half_twists.iter().zip(&twists).map(|(half, start)| *half - *start).collect();
        // Impacts cascade (Newton's cradle); round-off, measured by `scale`, must not keep them going.
        let mut hit = false;
        for _ in 0..stage.options.collision_sweeps * stage.options.pair_impulses {
            let mut changed = false;
            for (index, touch) in &impacts {
                let pair = &self.contacts.pairs[*index];
                let ids = [pair.a as usize, pair.b as usize];
                let arms = both(ids, |i| touch.point - frames[i].position);
                let at = |twists: &[Twist<D>], k: usize| twists[ids[k]].at(&arms[k]);
                let relative = at(&twists, 0) - at(&twists, 1);
                let approach = touch.normal.dot(&relative);
                let further = touch.normal.dot(&(at(&added, 0) - at(&added, 1)));
                if !(approach < -1e-10 * scale && touch.gap + stage.dt * (approach + further) < 0.0) {
                    continue;
                }
                let material = stage.material(ids[0], ids[1]);
                let factor = inverse[ids[0]].factor(&arms[0]) + inverse[ids[1]].factor(&arms[1]);
                let Some(found) = contact_impulse(
                    &factor,
                    &relative,
                    &touch.normal,
                    material.restitution,
                    material.friction,
                ) else {
                    continue;
                };
                let mut impulse = found.impulse;
                if stage.options.clamp_collisions {
                    let side = |k: usize| ClampSide {
                        inverse: inverse[ids[k]],
                        twist: twists[ids[k]],
                        arm: arms[k],
                    };
                    match clamp_energy(&impulse, &Spin::<D>::zero(), &side(0), &side(1)) {
                        Clamp::Keep => {}
                        Clamp::Scale(share) => {
                            let clamped = &mut self.report.clamped_collisions;
                            clamped.scaled += 1;
                            clamped.energy += 0.5 * impulse.dot(&(factor * impulse)) * (1.0 - share);
                            impulse *= share;
                        }
                        Clamp::Discard => {
                            self.report.clamped_collisions.discarded += 1;
                            continue;
                        }
                    }
                }
                self.report.collisions += 1;
                self.bounced[*index] = true;
                self.processed[*index] = true;
                changed = true;
                for (k, sign) in [(0, 1.0), (1, -1.0)] {
                    let push = impulse * sign;
                    twists[ids[k]] += inverse[ids[k]].response(&arms[k], &push);
                    start[ids[k]].add_impulse(&bodies[ids[k]], &Twist::of_force(&push, &arms[k]));
                }
            }
            if !changed {
                break;
            }
            hit = true;
        }
        // What was hit may meet others than before.
        if hit {
            self.at.twists(bodies, frames, start, &mut self.start_twists);
            for (half, (start, added)) in
                self.half_twists.iter_mut().zip(self.start_twists.iter().zip(&added))
            {
                *half = *start + *added;
            }
            self.mark_meeting(stage, frames);
        }
    }

    /// Marks the pairs that meet within the step with the present twists.
    pub(super) fn mark_meeting(&mut self, stage: &ContactStage<'_, D>, frames: &[Frame<D>]) {
        let bodies = stage.bodies;
        let (half_twists, start_twists) = (&self.half_twists, &self.start_twists);
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            if self.processed[index] {
                continue;
            }
            let (a, b) = (pair.a as usize, pair.b as usize);
            let bounces = stage.material(a, b).restitution > 0.0;
            let slack =
                both([a, b], |i| bodies[i].geometry.as_deref().map_or(0.0, margin)).iter().sum::<f64>();
            let near = |touch: &Touch<D>| {
                let [va, vb] = both([a, b], |i| half_twists[i].at(&(touch.point - frames[i].position)));
                touch.gap < slack + stage.dt * (va - vb).norm()
            };
            self.processed[index] = self.at.touches[pair.contacts()].iter().any(|touch| {
                // Normal speeds of the two, moved by the forces and not.
                let speeds = |twists: &[Twist<D>]| {
                    both([a, b], |i| touch.normal.dot(&twists[i].at(&(touch.point - frames[i].position))))
                };
                let (forced, free) = (speeds(half_twists), speeds(start_twists));
                // Both moved by the forces, or one of them while the other is held by something.
                let meets = |relative: f64| touch.gap + stage.dt * relative < 0.0;
                meets(forced[0] - forced[1])
                    || meets(forced[0] - free[1])
                    || meets(free[0] - forced[1])
                    // Or one is stopped by something within the step. A bounce would have to come first, so only without one.
                    || (!bounces && (meets(forced[0]) || meets(-forced[1])))
                    // Or others push them together: what contact does not know of would become overlap.
                    || (!bounces && near(touch))
            });
        }
    }

    /// III: builds the islands and solves them for `v^{n+1/2}`, from half of the remembered impulses.
    pub(super) fn solve_half(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        half: &mut [Motion<D>],
        memory: &ContactMemory<D>,
    ) {
        self.gather_islands(stage);
        self.recall(stage, memory);
        self.set_rows(stage, frames, half);
        self.solve_islands(stage, frames, half);
    }

    /// V: the same islands at the new positions for `v^{n+1}`. Half of the remembered impulse is added to that of stage III as a start: what
    /// stopped an impact, and the load of a whole step instead of half of one.
    pub(super) fn solve_full(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        motions: &mut [Motion<D>],
        memory: &mut ContactMemory<D>,
    ) {
        self.at.place(stage.bodies, frames);
        let processed = &self.processed;
        self.at.find_touches(stage.bodies, &self.contacts, |pair| processed[pair]);
        self.set_rows(stage, frames, motions);
        self.solve_islands(stage, frames, motions);
        self.remember(stage, memory);
    }

    /// The touching pairs and bodies of each island.
    fn gather_islands(&mut self, stage: &ContactStage<'_, D>) {
        let bodies = stage.bodies;
        let infinite = |i: usize| !bodies[i].is_dynamic();
        let sets = stage.articulated.map_or(&[][..], |articulated| articulated.sets());
        let joined = sets.iter().flat_map(|set| set.bodies.windows(2).map(|pair| [pair[0], pair[1]]));
        let touching = self.touching().map(|pair| [pair.a, pair.b]);
        let (island_of, count) = islands(bodies.len(), infinite, touching.chain(joined));
        // Islands with contacts, in the order of their first bodies.
        let mut place = vec![u32::MAX; count];
        let of_pair =
            |[a, b]: [u32; 2]| island_of[if infinite(a as usize) { b } else { a } as usize] as usize;
        self.touching().for_each(|pair| place[of_pair([pair.a, pair.b])] = 0);
        let mut used = 0;
        for place in place.iter_mut().filter(|place| **place == 0) {
            *place = used;
            used += 1;
        }
        let spare = &mut self.spare_islands;
        while self.islands.len() > used as usize {
            spare.extend(self.islands.pop());
        }
        while self.islands.len() < used as usize {
            self.islands.push(spare.pop().unwrap_or_default());
        }
        spare.truncate(64);
        for island in &mut self.islands {
            island.bodies.clear();
            island.pairs.clear();
            island.newton_failed = false;
            island.form = None;
        }
        for (index, pair) in self.contacts.pairs.iter().enumerate().filter(|(i, _)| self.processed[*i]) {
            let island = &mut self.islands[place[of_pair([pair.a, pair.b])] as usize];
            island.pairs.push(index as u32);
            island.bodies.extend([pair.a, pair.b].into_iter().filter(|&i| infinite(i as usize)));
        }
        for (body, &of) in island_of.iter().enumerate().filter(|(_, of)| **of != u32::MAX) {
            if place[of as usize] != u32::MAX {
                self.islands[place[of as usize] as usize].bodies.push(body as u32);
            }
        }
        let (contacts, levels, local) = (&self.contacts, &self.levels, &mut self.local);
        let highest = self.report.levels as usize;
        local.clear();
        local.resize(bodies.len(), 0);
        for island in &mut self.islands {
            island.bodies.sort_unstable();
            island.bodies.dedup();
            for (k, &body) in island.bodies.iter().enumerate().filter(|(_, body)| !infinite(**body as usize))
            {
                local[body as usize] = k as u32;
            }
            // From the ground up.
            let level = |k: usize| {
                let pair = &contacts.pairs[island.pairs[k] as usize];
                levels[pair.a as usize].max(levels[pair.b as usize]) as usize
            };
            let order = sorted_by(island.pairs.len(), level, highest + 1);
            island.pairs = order.into_iter().map(|k| island.pairs[k as usize]).collect();
            island.levels.clear();
            island.levels.extend(island.bodies.iter().map(|&i| levels[i as usize]));
        }
    }

    /// Half of the remembered impulse of each contact; what the contacts have done in this step is forgotten.
    fn recall(&mut self, stage: &ContactStage<'_, D>, memory: &ContactMemory<D>) {
        let scale = if memory.dt > 0.0 { 0.5 * stage.dt / memory.dt } else { 0.0 };
        let count = self.contacts.contacts.len();
        for impulses in [&mut self.recalled, &mut self.spent] {
            impulses.clear();
            impulses.resize(count, Vector::zeros());
        }
        // Both lists of pairs ascend.
        let (mut next, mut first) = (0, 0);
        for pair in &self.contacts.pairs {
            while let Some(&[.., points]) = memory.pairs.get(next).filter(|p| [p[0], p[1]] < [pair.a, pair.b])
            {
                next += 1;
                first += points as usize;
            }
            let Some(&[.., points]) = memory.pairs.get(next).filter(|p| [p[0], p[1]] == [pair.a, pair.b])
            else {
                continue;
            };
            let known = &memory.points[first..first + points as usize];
            let contacts = &self.contacts.contacts;
            let mut unknown = 0;
            for contact in pair.contacts() {
                match known.iter().find(|(f, _)| *f == contacts[contact].feature) {
                    Some((_, impulse)) => self.recalled[contact] = impulse * scale,
                    None => unknown += 1,
                }
            }
            // What contacts carried that are gone is carried by those that have come: faces that lie on each other change the one that the points belong to.
            // Of bodies known by their particles others come with other normals.
            let gone = |feature: u32| pair.contacts().all(|contact| contacts[contact].feature != feature);
            let sampled = [pair.a, pair.b]
                .into_iter()
                .any(|i| stage.bodies[i as usize].geometry.as_deref().is_some_and(Geometry::is_by_particles));
            if unknown > 0 && !sampled {
                let left: Vector<D> =
                    known.iter().filter(|(f, _)| gone(*f)).map(|(_, impulse)| *impulse).sum();
                let share = left * (scale / unknown as f64);
                for contact in pair.contacts() {
                    if known.iter().all(|(f, _)| *f != contacts[contact].feature) {
                        self.recalled[contact] = share;
                    }
                }
            }
        }
    }

    /// Rows of all islands at these positions and velocities, with the impulses that they start from: what is recalled and what was spent before
    /// in this step.
    fn set_rows(&mut self, stage: &ContactStage<'_, D>, frames: &[Frame<D>], motions: &[Motion<D>]) {
        let bodies = stage.bodies;
        let Self { islands, contacts, at, local, recalled, spent, .. } = self;
        let (contacts, at, local, recalled, spent) = (&*contacts, &*at, &*local, &*recalled, &*spent);
        islands.par_iter_mut().for_each(|island| {
            island.clear_rows();
            for &body in &island.bodies {
                let i = body as usize;
                island.inverse.push(at.inverse[i]);
                island.twists.push(at.twist(i, bodies, frames, &motions[i]));
            }
            if let Some(articulated) = stage.articulated.filter(|articulated| !articulated.is_empty()) {
                island.joined.set(articulated, &island.bodies, &island.inverse, &island.twists);
            }
            let form = island.form.unwrap_or_else(|| {
                if !island.joined.is_empty() {
                    Form::Manifolds
                } else if is_round_island(stage, island, contacts, motions) {
                    Form::Round
                } else if wide::is_wide(stage, island, contacts) {
                    Form::Wide
                } else {
                    Form::Manifolds
                }
            });
            island.form = Some(form);
            let round = form == Form::Round;
            if form == Form::Wide {
                let touches = at.touches.as_slice();
                let source = Source { stage, frames, contacts, touches, starts: [recalled, spent], local };
                let Island { wide, bodies, levels, pairs, inverse, twists, .. } = island;
                wide.set(&source, (bodies, levels, pairs), (inverse, twists));
                return;
            }
            for &index in &island.pairs {
                let pair = &contacts.pairs[index as usize];
                let ids = [pair.a as usize, pair.b as usize];
                let places = both([pair.a, pair.b], |i| {
                    if bodies[i as usize].is_dynamic() {
                        local[i as usize]
                    } else {
                        island.bodies.binary_search(&i).unwrap_or(0) as u32
                    }
                });
                let material = stage.material(ids[0], ids[1]);
                let limits = Limits {
                    friction: material.friction,
                    rolling: material.rolling,
                    spinning: material.spinning,
                };
                if round {
                    let (contact, centres) = (pair.first as usize, both(ids, |i| frames[i].position));
                    let start = recalled[contact] + spent[contact];
                    island.round.push(RoundContact::new(
                        places,
                        pair.first,
                        &at.touches[contact],
                        centres,
                        limits,
                        stage.dt,
                        &start,
                    ));
                    continue;
                }
                // Contacts whose normals agree make one patch; they stand next to each other.
                let mut first = pair.first as usize;
                while first < pair.end as usize {
                    let touches = &at.touches[first..pair.end as usize];
                    let normal = touches[0].normal;
                    let same = |touch: &&Touch<D>| touch.normal.dot(&normal) > SAME_PATCH;
                    let count = touches.iter().take(MOST_POINTS).take_while(same).count().max(1);
                    island.manifolds.push(Manifold::new(places, first as u32, count, &normal, limits));
                    first += count;
                }
            }
            island.impulses.resize(island.manifolds.len(), [0.0; _]);
            let (inverse, joined) = (&island.inverse, &island.joined);
            let ids = &island.bodies;
            island.manifolds.par_iter_mut().zip(&mut island.impulses).with_min_len(256).for_each(
                |(manifold, impulses)| {
                    let range = manifold.contact as usize..(manifold.contact + manifold.points) as usize;
                    let touches = &at.touches[range.clone()];
                    let centres = both(manifold.bodies, |b| frames[ids[b as usize] as usize].position);
                    let closed = closed_gap(both(manifold.bodies, |b| &bodies[ids[b as usize] as usize]));
                    place_points(manifold, touches, centres, closed, stage.dt);
                    joined.set_matrix(manifold, inverse);
                    let start = range.map(|contact| recalled[contact] + spent[contact]);
                    *impulses = start_impulses(manifold, start);
                },
            );
        });
    }

    /// Solves all islands and adds their impulses to `motions`.
    fn solve_islands(&mut self, stage: &ContactStage<'_, D>, frames: &[Frame<D>], motions: &mut [Motion<D>]) {
        let options = stage.options;
        let solved: Vec<_> = self
            .islands
            .par_iter_mut()
            .map(|island| {
                let enough = enough_iterations(options, island.rows());
                let iterations = enough.max(options.iterations);
                let solved = island.solve(Stop {
                    iterations,
                    tolerance: options.tolerance,
                    coarse: options.coarse_tolerance,
                    enough,
                });
                let unsolved = solved.residual > options.coarse_tolerance;
                let soft = || island.bodies.iter().any(|&i| stage.bodies[i as usize].is_particle());
                let held = options.shock_propagation && unsolved && island.is_stack() && !soft();
                (solved, if held { island.shock() } else { Vec::new() })
            })
            .collect();
        for (island, (solved, shock)) in self.islands.iter().zip(solved) {
            for (&i, change) in island.bodies.iter().zip(&shock) {
                let (i, body) = (i as usize, &stage.bodies[i as usize]);
                if body.is_dynamic() {
                    motions[i].velocity += change.linear;
                    motions[i].angular_momentum += body.angular_momentum_of(&frames[i], &change.angular);
                }
            }
            self.report.iterations = self.report.iterations.max(solved.iterations);
            self.report.residual = self.report.residual.max(solved.residual);
            for (manifold, impulses) in island.manifolds.iter().zip(&island.impulses) {
                let (linear, angular) = manifold.push(&manifold.gather(impulses));
                for (k, sign) in [(0, 1.0), (1, -1.0)] {
                    let i = island.bodies[manifold.bodies[k] as usize] as usize;
                    let push = Twist { linear, angular: angular[k] } * sign;
                    motions[i].add_impulse(&stage.bodies[i], &push);
                }
                spread(manifold, impulses, &mut self.spent[manifold.contact as usize..]);
            }
            let spent = &mut self.spent;
            island.wide.results(
                |place, push| {
                    let i = island.bodies[place as usize] as usize;
                    motions[i].add_impulse(&stage.bodies[i], &push);
                },
                |contact, impulse| spent[contact] = impulse,
            );
            for contact in &island.round {
                for (place, push) in contact.bodies.iter().zip(contact.pushes()) {
                    let i = island.bodies[*place as usize] as usize;
                    motions[i].add_impulse(&stage.bodies[i], &push);
                }
                self.spent[contact.contact as usize] = contact.push().0;
            }
        }
    }

    /// Writes the impulses in the order of pairs.
    fn remember(&self, stage: &ContactStage<'_, D>, memory: &mut ContactMemory<D>) {
        memory.dt = stage.dt;
        memory.pairs.clear();
        memory.points.clear();
        for pair in self.touching() {
            memory.pairs.push([pair.a, pair.b, pair.end - pair.first]);
            let contacts = &self.contacts.contacts[pair.contacts()];
            let impulses = &self.spent[pair.contacts()];
            memory.points.extend(contacts.iter().zip(impulses).map(|(c, impulse)| (c.feature, *impulse)));
        }
    }
}

/// Iterations that an island of so many rows may use to reach the tolerance.
pub(super) fn enough_iterations(options: &ContactOptions, rows: usize) -> usize {
    (options.updates / rows.max(1)).min(1000)
}

/// Is it so large that it is solved by sweeps alone, with spheres only?
fn is_round_island<const D: usize>(
    stage: &ContactStage<'_, D>,
    island: &Island<D>,
    contacts: &Contacts<D>,
    motions: &[Motion<D>],
) -> bool
where
    Dim<D>: Space<D>,
{
    let options = stage.options;
    let rows = island.pairs.len() * RoundContact::<D>::ROWS;
    let smooth = |&index: &u32| {
        let pair = &contacts.pairs[index as usize];
        let material = stage.material(pair.a as usize, pair.b as usize);
        pair.end - pair.first == 1 && material.rolling == 0.0 && material.spinning == 0.0
    };
    enough_iterations(options, rows).max(options.iterations) < FEWEST_ACCELERATED
        && island.bodies.iter().all(|&i| is_round(&stage.bodies[i as usize], &motions[i as usize]))
        && island.pairs.iter().all(smooth)
}

/// Contacts whose normals agree to this cosine share their friction.
pub(super) const SAME_PATCH: f64 = 0.98;

/// Gaps up to this share of the smaller body's radius are none. What rests on more points than it needs, or is wedged between others, cannot close all
/// of them at once, and sweeps would move its loads from one to the other for ever.
const CLOSED: f64 = 1e-6;

/// Gap (m) up to which two bodies touch.
fn closed_gap<const D: usize>(pair: [&Body<D>; 2]) -> f64
where
    Dim<D>: Space<D>,
{
    let smaller = size(pair[0]).min(size(pair[1]));
    if smaller.is_finite() && !pair[0].is_particle() && !pair[1].is_particle() {
        CLOSED * smaller
    } else {
        0.0
    }
}

/// Puts the points of a manifold between bodies with these centres of mass.
fn place_points<const D: usize>(
    manifold: &mut Manifold<D>,
    touches: &[Touch<D>],
    centres: [Vector<D>; 2],
    closed: f64,
    dt: f64,
) where
    Dim<D>: Space<D>,
{
    let share = 1.0 / touches.len() as f64;
    let centre = touches.iter().map(|touch| touch.point).sum::<Vector<D>>() * share;
    manifold.arms = centres.map(|at| centre - at);
    let mut square = 0.0;
    for (k, touch) in touches.iter().enumerate() {
        let gap = if touch.gap > closed { touch.gap } else { 0.0 };
        manifold.set_point(k, &(touch.point - centre), gap / dt);
        square += manifold.levers[k] * manifold.levers[k];
    }
    manifold.lever = (square * share).sqrt();
}

/// Impulses of the rows from those of the contacts (world axes), within their limits.
fn start_impulses<const D: usize>(
    manifold: &Manifold<D>,
    contacts: impl Iterator<Item = Vector<D>>,
) -> Impulses
where
    Dim<D>: Space<D>,
{
    let mut impulses: Impulses = [0.0; _];
    let normal = manifold.normal();
    let points = manifold.points as usize;
    let about_normal = if D == 3 { Spin::<D>::from_slice(normal.as_slice()) } else { Spin::<D>::zero() };
    let (mut load, mut limit, mut moment) = (0.0, 0.0, 0.0);
    let mut friction = Vector::<D>::zeros();
    for (k, start) in contacts.enumerate() {
        let along = start.dot(&normal);
        impulses[k] = along.max(0.0);
        load += impulses[k];
        limit += impulses[k] * manifold.levers[k];
        let across = start - normal * along;
        friction += across;
        moment += about_normal.dot(&Dim::cross(&manifold.place(k), &across));
    }
    let most = manifold.limits.friction * load;
    let size = friction.norm();
    if size > most {
        friction *= most / size;
    }
    for k in 1..D {
        impulses[points + k - 1] = friction.dot(&manifold.axes.column(k));
    }
    if let Some(row) = manifold.spin_row() {
        let most = manifold.limits.friction * limit;
        impulses[row] = moment.clamp(-most, most);
    }
    impulses
}

/// World impulse of each contact of a manifold: the normal impulse, an equal share of the patch's friction, and what makes its moment about the
/// normal.
fn spread<const D: usize>(manifold: &Manifold<D>, impulses: &Impulses, contacts: &mut [Vector<D>])
where
    Dim<D>: Space<D>,
{
    let points = manifold.points as usize;
    let normal = manifold.normal();
    let friction = (1..D)
        .map(|k| manifold.axes.column(k) * impulses[points + k - 1])
        .fold(Vector::<D>::zeros(), |sum, part| sum + part)
        / points as f64;
    let levers: f64 = manifold.levers[..points].iter().map(|lever| lever * lever).sum();
    let turn = match manifold.spin_row() {
        Some(row) if levers > 0.0 => Spin::<D>::from_slice(normal.as_slice()) * (impulses[row] / levers),
        _ => Spin::<D>::zero(),
    };
    for (k, contact) in contacts.iter_mut().enumerate().take(points) {
        *contact = normal * impulses[k] + friction + Dim::spin_cross(&turn, &manifold.place(k));
    }
}
