//! The simultaneous method: bounces one after another, then contact and friction of each island together.

use super::gauss_seidel::{Island, Limits, MOST_POINTS, Manifold, Row, Stop, contact_frame};
use super::impulse::{Clamp, ClampSide, clamp_energy, contact_impulse};
use super::{ContactMemory, ContactSolver, ContactStage, InverseInertia, islands};
use crate::Motion;
use crate::collide::{Pose, Touch};
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
        let poses: Vec<Pose<D>> = frames.iter().map(Pose::new).collect();
        let twist = |i: usize, motion: &Motion<D>| motion.twist(&bodies[i], &frames[i]);
        let half_twists: Vec<Twist<D>> = half.iter().enumerate().map(|(i, m)| twist(i, m)).collect();
        let start_twists: Vec<Twist<D>> = start.iter().enumerate().map(|(i, m)| twist(i, m)).collect();
        // Pairs that meet, and among them points with restitution that approach.
        let mut impacts: Vec<(usize, Touch<D>)> = Vec::new();
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let material = bodies[a].material.pair(&bodies[b].material);
            let first = impacts.len();
            for contact in pair.contacts() {
                let Some(touch) = self.contacts.touch(bodies, pair, contact, &poses[a], &poses[b]) else {
                    continue;
                };
                // Normal speeds of the two, moved by the forces and not.
                let speeds = |twists: &[Twist<D>]| {
                    [a, b].map(|i| touch.normal.dot(&twists[i].at(&(touch.point - frames[i].position))))
                };
                let (forced, free) = (speeds(&half_twists), speeds(&start_twists));
                // Both moved by the forces, or one of them while the other is held by something.
                let meets = |relative: f64| touch.gap + stage.dt * relative < 0.0;
                self.processed[index] = self.processed[index]
                    || meets(forced[0] - forced[1])
                    || meets(forced[0] - free[1])
                    || meets(free[0] - forced[1])
                    // Or one is stopped by something within the step. A bounce would have to come first, so only without one.
                    || (material.restitution == 0.0 && (meets(forced[0]) || meets(-forced[1])));
                if material.restitution > 0.0 && free[0] - free[1] < 0.0 {
                    impacts.push((index, touch));
                }
            }
            if !self.processed[index] {
                impacts.truncate(first);
            }
        }
        if impacts.is_empty() {
            return;
        }
        let inverse: Vec<InverseInertia<D>> =
            bodies.iter().zip(frames).map(|(body, frame)| InverseInertia::of(body, frame)).collect();
        let mut twists: Vec<Twist<D>> = start.iter().enumerate().map(|(i, m)| twist(i, m)).collect();
        let added: Vec<Twist<D>> =
            half_twists.iter().zip(&twists).map(|(half, start)| *half - *start).collect();
        // Impacts cascade (Newton's cradle); round-off must not keep them going.
        let scale = impacts
            .iter()
            .map(|(index, touch)| {
                let pair = &self.contacts.pairs[*index];
                let at = |i: usize| twists[i].at(&(touch.point - frames[i].position));
                touch.normal.dot(&(at(pair.a as usize) - at(pair.b as usize))).abs()
            })
            .fold(0.0, f64::max);
        for _ in 0..stage.options.collision_sweeps * stage.options.pair_impulses {
            let mut changed = false;
            for (index, touch) in &impacts {
                let pair = &self.contacts.pairs[*index];
                let ids = [pair.a as usize, pair.b as usize];
                let arms = ids.map(|i| touch.point - frames[i].position);
                let at = |twists: &[Twist<D>], k: usize| twists[ids[k]].at(&arms[k]);
                let relative = at(&twists, 0) - at(&twists, 1);
                let approach = touch.normal.dot(&relative);
                let further = touch.normal.dot(&(at(&added, 0) - at(&added, 1)));
                if !(approach < -1e-10 * scale && touch.gap + stage.dt * (approach + further) < 0.0) {
                    continue;
                }
                let material = bodies[ids[0]].material.pair(&bodies[ids[1]].material);
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
                            self.report.clamped += 1;
                            let square = impulse.dot(&(factor * impulse));
                            self.report.energy_clamped += 0.5 * square * (1.0 - share);
                            impulse *= share;
                        }
                        Clamp::Discard => {
                            self.report.discarded += 1;
                            continue;
                        }
                    }
                }
                self.report.collisions += 1;
                self.bounced[*index] = true;
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
        self.set_rows(stage, frames, half, memory, false);
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
        self.set_rows(stage, frames, motions, memory, true);
        self.solve_islands(stage, frames, motions);
        self.remember(stage, memory);
    }

    /// The touching pairs and bodies of each island.
    fn gather_islands(&mut self, stage: &ContactStage<'_, D>) {
        let bodies = stage.bodies;
        let infinite = |i: usize| !bodies[i].is_dynamic();
        let (island_of, count) =
            islands(bodies.len(), infinite, self.touching().map(|pair| [pair.a, pair.b]));
        let mut pairs: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (index, pair) in self.contacts.pairs.iter().enumerate() {
            if self.processed[index] {
                let of = if infinite(pair.a as usize) {
                    island_of[pair.b as usize]
                } else {
                    island_of[pair.a as usize]
                };
                pairs[of as usize].push(index as u32);
            }
        }
        let (contacts, levels) = (&self.contacts, &self.levels);
        let mut old = std::mem::take(&mut self.old_islands).into_iter();
        self.islands = pairs
            .into_iter()
            .filter(|pairs| !pairs.is_empty())
            .map(|mut pairs| {
                // From the ground up.
                pairs.sort_by_key(|&index| {
                    let pair = &contacts.pairs[index as usize];
                    (levels[pair.a as usize].max(levels[pair.b as usize]), index)
                });
                let ends =
                    |&index: &u32| [contacts.pairs[index as usize].a, contacts.pairs[index as usize].b];
                let mut ids: Vec<u32> = pairs.iter().flat_map(ends).collect();
                ids.sort_unstable();
                ids.dedup();
                old.next().unwrap_or_default().renewed(ids, pairs)
            })
            .collect();
    }

    /// Rows of all islands at these positions and velocities. Start impulses: half of what is remembered, and `again` also what the rows held.
    fn set_rows(
        &mut self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        motions: &[Motion<D>],
        memory: &ContactMemory<D>,
        again: bool,
    ) {
        let bodies = stage.bodies;
        let poses: Vec<Pose<D>> = frames.iter().map(Pose::new).collect();
        let offsets = memory.offsets();
        let scale = if memory.dt > 0.0 { 0.5 * stage.dt / memory.dt } else { 0.0 };
        let (contacts, levels) = (&self.contacts, &self.levels);
        self.islands.par_iter_mut().for_each(|island| {
            let held = if again { impulses_of_contacts(island) } else { Vec::new() };
            let mut next_held = 0;
            island.clear_rows();
            for &body in &island.bodies {
                let i = body as usize;
                island.inverse.push(InverseInertia::of(&bodies[i], &frames[i]));
                island.twists.push(motions[i].twist(&bodies[i], &frames[i]));
            }
            let pairs = std::mem::take(&mut island.pairs);
            let mut owners = Vec::with_capacity(pairs.len());
            let mut touches: Vec<Touch<D>> = Vec::new();
            let mut last_pair = u32::MAX;
            for index in pairs {
                if index == last_pair {
                    continue;
                }
                last_pair = index;
                let pair = &contacts.pairs[index as usize];
                let ids = [pair.a as usize, pair.b as usize];
                let local = [pair.a, pair.b].map(|i| island.bodies.binary_search(&i).unwrap_or(0));
                let material = bodies[ids[0]].material.pair(&bodies[ids[1]].material);
                let known = memory.of_pair(&offsets, pair.a, pair.b);
                touches.clear();
                touches.extend(
                    pair.contacts()
                        .filter_map(|c| contacts.touch(bodies, pair, c, &poses[ids[0]], &poses[ids[1]])),
                );
                // Contacts whose normals agree make one patch; they stand next to each other.
                let mut from = 0;
                while from < touches.len() {
                    let normal = touches[from].normal;
                    let count = touches[from..]
                        .iter()
                        .take(MOST_POINTS)
                        .take_while(|t| t.normal.dot(&normal) > SAME_PATCH)
                        .count()
                        .max(1);
                    let patch = &touches[from..from + count];
                    let first = island.rows.len();
                    let centre = patch.iter().map(|t| t.point).sum::<Vector<D>>() / count as f64;
                    let frame = contact_frame(&normal);
                    let about_normal =
                        if D == 3 { Spin::<D>::from_slice(normal.as_slice()) } else { Spin::<D>::zero() };
                    let (mut load, mut moment_limit, mut levers) = (0.0, 0.0, 0.0);
                    let (mut friction, mut moment) = (Vector::<D>::zeros(), 0.0);
                    for (k, touch) in patch.iter().enumerate() {
                        let contact = &contacts.contacts[pair.first as usize + from + k];
                        let arms = ids.map(|i| touch.point - frames[i].position);
                        let out = touch.point - centre;
                        let row = Row {
                            angular: arms.map(|arm| Dim::cross(&arm, &normal)),
                            bias: touch.gap.max(0.0) / stage.dt,
                            lever: out.norm(),
                        };
                        let mut start = known
                            .iter()
                            .find(|(f, _)| *f == contact.feature)
                            .map_or_else(Vector::zeros, |(_, j)| j * scale);
                        if again {
                            start += held[next_held];
                            next_held += 1;
                        }
                        let impulse = start.dot(&normal).max(0.0);
                        let tangential = start - normal * start.dot(&normal);
                        load += impulse;
                        moment_limit += impulse * row.lever;
                        levers += row.lever * row.lever;
                        friction += tangential;
                        moment += about_normal.dot(&Dim::cross(&out, &tangential));
                        island.rows.push(row);
                        island.impulses.push(impulse);
                    }
                    let size = friction.norm();
                    if size > material.friction * load {
                        friction *= material.friction * load / size;
                    }
                    let arms = ids.map(|i| centre - frames[i].position);
                    let lever = (levers / count as f64).sqrt();
                    for k in 1..D {
                        let tangent: Vector<D> = frame.column(k).into();
                        let angular = arms.map(|arm| Dim::cross(&arm, &tangent));
                        island.rows.push(Row { angular, bias: 0.0, lever: 0.0 });
                        island.impulses.push(friction.dot(&tangent));
                    }
                    if D == 3 {
                        island.rows.push(Row { angular: [about_normal; 2], bias: 0.0, lever });
                        let most = material.friction * moment_limit;
                        island.impulses.push(moment.clamp(-most, most));
                    }
                    if material.rolling > 0.0 {
                        let mut unit = [0.0; 3];
                        unit[0] = 1.0;
                        for k in 1..D {
                            let tangent: Vector<D> = frame.column(k).into();
                            let axis = if D == 2 { &unit[..1] } else { tangent.as_slice() };
                            let angular = [Spin::<D>::from_slice(axis); 2];
                            island.rows.push(Row { angular, bias: 0.0, lever: lever.max(material.rolling) });
                            island.impulses.push(0.0);
                        }
                    }
                    let limits = Limits {
                        friction: material.friction,
                        rolling: material.rolling,
                        spinning: material.spinning,
                    };
                    island.close_manifold(local.map(|l| l as u32), first, count, frame, limits);
                    owners.push(index);
                    from += count;
                }
            }
            island.pairs = owners;
            island.levels = island.bodies.iter().map(|&i| levels[i as usize]).collect();
        });
    }

    /// Solves all islands and adds their impulses to `motions`.
    fn solve_islands(&mut self, stage: &ContactStage<'_, D>, frames: &[Frame<D>], motions: &mut [Motion<D>]) {
        let options = stage.options;
        let solved: Vec<_> = self
            .islands
            .par_iter_mut()
            .map(|island| {
                let enough = (options.updates / island.rows.len().max(1)).min(1000);
                let iterations = enough.max(options.iterations);
                let solved = island.solve(Stop {
                    iterations,
                    tolerance: options.tolerance,
                    coarse: options.coarse_tolerance,
                    enough,
                });
                let unsolved = solved.residual > options.coarse_tolerance;
                let held = options.shock_propagation && unsolved && island.is_stack();
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
            for manifold in &island.manifolds {
                let range = manifold.range();
                let (linear, angular) = manifold.push(&island.rows[range.clone()], &island.impulses[range]);
                for (k, sign) in [(0, 1.0), (1, -1.0)] {
                    let i = island.bodies[manifold.bodies[k] as usize] as usize;
                    let push = Twist { linear, angular: angular[k] } * sign;
                    motions[i].add_impulse(&stage.bodies[i], &push);
                }
            }
        }
    }

    /// Writes the impulses in the order of pairs.
    fn remember(&self, stage: &ContactStage<'_, D>, memory: &mut ContactMemory<D>) {
        memory.dt = stage.dt;
        memory.pairs.clear();
        memory.points.clear();
        let mut of_pair: Vec<(u32, u32, u32)> = Vec::with_capacity(self.contacts.pairs.len());
        let mut impulses: Vec<Vec<Vector<D>>> = Vec::with_capacity(self.islands.len());
        for (i, island) in self.islands.iter().enumerate() {
            let mut next = 0;
            for (manifold, &pair) in island.manifolds.iter().zip(&island.pairs) {
                of_pair.push((pair, i as u32, next));
                next += manifold.points;
            }
            impulses.push(impulses_of_contacts(island));
        }
        of_pair.sort_unstable();
        let mut last = u32::MAX;
        for (index, island, first) in of_pair {
            if index == last {
                continue;
            }
            last = index;
            let pair = &self.contacts.pairs[index as usize];
            let count = pair.end - pair.first;
            memory.pairs.push([pair.a, pair.b, count]);
            let features = pair.contacts().map(|contact| self.contacts.contacts[contact].feature);
            memory.points.extend(features.zip(impulses[island as usize][first as usize..].iter().copied()));
        }
    }
}

/// Contacts whose normals agree to this cosine share their friction.
const SAME_PATCH: f64 = 0.98;

/// World impulse of each contact, in the order of manifolds: the normal impulse, an equal share of the patch's friction, and what makes its moment
/// about the normal.
fn impulses_of_contacts<const D: usize>(island: &Island<D>) -> Vec<Vector<D>>
where
    Dim<D>: Space<D>,
{
    let mut all = Vec::with_capacity(island.rows.len());
    for manifold in &island.manifolds {
        let (rows, impulses) = (&island.rows[manifold.range()], &island.impulses[manifold.range()]);
        let points = manifold.points as usize;
        let normal: Vector<D> = manifold.frame.column(0).into();
        let friction: Vector<D> = (1..D)
            .map(|k| manifold.frame.column(k) * impulses[points + k - 1])
            .fold(Vector::zeros(), |sum, part| sum + part)
            / points as f64;
        let levers: f64 = rows[..points].iter().map(|row| row.lever * row.lever).sum();
        let turn = if D == 3 && levers > 0.0 {
            rows[points + Manifold::<D>::TANGENTS].angular[0]
                * (impulses[points + Manifold::<D>::TANGENTS] / levers)
        } else {
            Spin::<D>::zero()
        };
        // Distance of each point from the centre of the patch in its plane, from what the rows know of it: `angular = arm x normal`.
        let centre = rows[..points].iter().map(|row| out_of(&normal, &row.angular[0])).sum::<Vector<D>>()
            / points as f64;
        all.extend((0..points).map(|k| {
            let out = out_of(&normal, &rows[k].angular[0]) - centre;
            normal * impulses[k] + friction + Dim::spin_cross(&turn, &out)
        }));
    }
    all
}

/// The part of `arm` across `normal`, from `arm x normal`; in the plane, where it is not needed, zero.
fn out_of<const D: usize>(normal: &Vector<D>, moment: &Spin<D>) -> Vector<D>
where
    Dim<D>: Space<D>,
{
    if D == 2 {
        return Vector::zeros();
    }
    // n x (r x n) = r - n (n . r)
    let axis = Spin::<D>::from_slice(normal.as_slice());
    Dim::spin_cross(&axis, &Vector::from_column_slice(moment.as_slice()))
}
