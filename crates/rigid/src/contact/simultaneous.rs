//! The simultaneous method: bounces one after another, then contact and friction of each island together.

use super::detect::margin;
use super::gauss_seidel::{Island, Solved, Stop};
use super::impulse::{Clamp, ClampSide, clamp_energy, contact_impulse};
use super::partition::Room;
use super::rows::{Rows, enough_iterations};
use super::{ContactMemory, ContactSolver, ContactStage, both};
use crate::collide::Touch;
use crate::{Geometry, Motion};
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
        self.partition.gather(stage, &self.contacts.pairs, &self.processed, &self.levels, &mut self.local);
        self.recall(stage, memory);
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
        self.solve_islands(stage, frames, motions);
        self.remember(stage, memory);
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

    /// Solves all islands at these positions and velocities, from what is recalled and what was spent before in this step, and adds their impulses to `motions`.
    fn solve_islands(&mut self, stage: &ContactStage<'_, D>, frames: &[Frame<D>], motions: &mut [Motion<D>]) {
        let Self { partition, contacts, at, local, recalled, spent, .. } = self;
        let rows = Rows { stage, frames, motions, contacts, at, local, recalled, spent };
        let (lists, rooms) = partition.open();
        rooms.par_iter_mut().for_each(|room| {
            let Room { parts, island, moved, spent, solved } = room;
            moved.clear();
            spent.clear();
            *solved = Solved::default();
            for part in parts {
                lists.load(part, island);
                rows.write(island);
                let (own, shock) = solve_island(stage, island);
                rows.read(island, &shock, moved, spent);
                solved.iterations = solved.iterations.max(own.iterations);
                solved.residual = solved.residual.max(own.residual);
                part.form = island.form;
                part.newton_failed = island.newton_failed;
                part.jointed = !island.joined.is_empty();
            }
        });
        for room in rooms {
            room.moved.iter().for_each(|&(body, motion)| motions[body as usize] = motion);
            room.spent.iter().for_each(|&(contact, impulse)| self.spent[contact as usize] = impulse);
            self.report.iterations = self.report.iterations.max(room.solved.iterations);
            self.report.residual = self.report.residual.max(room.solved.residual);
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

/// Solves one island; returns what shock propagation adds to the twists of its bodies, too.
fn solve_island<const D: usize>(
    stage: &ContactStage<'_, D>,
    island: &mut Island<D>,
) -> (Solved, Vec<Twist<D>>)
where
    Dim<D>: Space<D>,
{
    let options = stage.options;
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
}
