//! All contacts of one configuration: broad phase, then narrow phase, in a fixed order for any number of threads.

use super::{BroadPhase, ContactStage, both};
use crate::collide::{Contact, Placed, Pose, Reach, Touch, collide};
use crate::{Body, Geometry, Kind, Motion};
use splashdown_geometry::Aabb;
use splashdown_math::{Coordinates, Dim, Frame, Space};
use splashdown_parallel::prelude::*;

/// Two bodies with the contacts between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// First body.
    pub a: u32,
    /// Second body; `a < b`.
    pub b: u32,
    /// First of its contacts.
    pub first: u32,
    /// One past the last of its contacts.
    pub end: u32,
}

impl Pair {
    /// Range of its contacts.
    pub fn contacts(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// Pairs and their contacts, pairs in ascending order.
#[derive(Debug, Clone, Default)]
pub struct Contacts<const D: usize> {
    /// Pairs with at least one contact.
    pub pairs: Vec<Pair>,
    /// Contacts of all pairs.
    pub contacts: Vec<Contact<D>>,
}

/// How far apart contacts are still looked for, as a share of the smaller body's size, besides what the motion of a step adds.
const MARGIN: f64 = 0.01;

/// Distance (m) within which a body looks for contacts apart from its motion.
pub(super) fn margin<const D: usize>(geometry: &Geometry<D>) -> f64
where
    Dim<D>: Space<D>,
{
    if geometry.radius().is_finite() { MARGIN * geometry.radius() } else { 0.0 }
}

impl<const D: usize> Contacts<D>
where
    Dim<D>: Space<D>,
{
    /// Finds every pair that can touch within the step with the motions `motions` from `frames`, or with one of the two moving as in `start`, without the
    /// forces of this step. With `of`, only pairs with one of the bodies that it marks.
    pub fn detect(
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &[Motion<D>],
        motions: &[Motion<D>],
        of: Option<&[bool]>,
        broad: &mut BroadPhase<D>,
    ) -> Self {
        let (bodies, dt) = (stage.bodies, stage.dt);
        let asleep = |i: u32| stage.asleep.get(i as usize).is_some_and(|asleep| *asleep);
        // Responds and is awake; a kinematic body that moves can wake others.
        let active = |i: u32| {
            let kinematic =
                || bodies[i as usize].kind == Kind::Kinematic && motions[i as usize] != Motion::zero();
            if bodies[i as usize].is_dynamic() { !asleep(i) } else { kinematic() }
        };
        let poses: Vec<Pose<D>> = frames.iter().map(Pose::new).collect();
        let spins: Vec<f64> = bodies
            .iter()
            .zip(frames)
            .zip(motions)
            .map(|((body, frame), motion)| body.spin_of(frame, &motion.angular_momentum).norm())
            .collect();
        let boxes: Vec<Aabb<D>> = (0..bodies.len())
            .map(|i| {
                let Some(geometry) = &bodies[i].geometry else { return Aabb::empty() };
                let tight = geometry.world_bounds(&frames[i]);
                let turned = if spins[i] > 0.0 { dt * spins[i] * geometry.radius() } else { 0.0 };
                let moved = motions[i].velocity * dt;
                let swept = Aabb {
                    min: tight.min.inf(&(tight.min + moved)),
                    max: tight.max.sup(&(tight.max + moved)),
                };
                swept.grown(margin(geometry) + turned.min(2.0 * geometry.radius()))
            })
            .collect();
        let particle: Vec<bool> = bodies.iter().map(Body::is_particle).collect();
        let wanted = |i: u32, j: u32| {
            !(particle[i as usize] && particle[j as usize])
                && (bodies[i as usize].is_dynamic() || bodies[j as usize].is_dynamic())
                && (active(i) || active(j))
                && of.is_none_or(|of| of[i as usize] || of[j as usize])
                && stage.linked.binary_search(&[i, j]).is_err()
        };
        let candidates = broad.pairs(&boxes, wanted);
        let reach = |[i, j]: [u32; 2]| {
            let one = |k: u32| {
                let geometry = bodies[k as usize].geometry.as_deref();
                let radius = geometry.map_or(0.0, Geometry::radius);
                let turn =
                    if spins[k as usize] > 0.0 { (dt * spins[k as usize]).min(2.0) * radius } else { 0.0 };
                geometry.map_or(0.0, margin) + turn
            };
            let [a, b] = both([i, j], |k| motions[k as usize].velocity);
            let margin = one(i) + one(j);
            // A pair that bounces is seen to only where the two approach each other themselves: nothing else stops one of them first.
            let movable = bodies[i as usize].is_dynamic() && bodies[j as usize].is_dynamic();
            if movable && stage.material(i as usize, j as usize).restitution > 0.0 {
                let forced =
                    both([i, j], |k| (motions[k as usize].velocity - start[k as usize].velocity).norm());
                return Reach { margin: margin + dt * forced[0].max(forced[1]), moved: (a - b) * dt };
            }
            // Bodies that fall together meet when something stops the lower one; those that are further apart than they are large meet in another step.
            let sizes: f64 = [i, j]
                .iter()
                .filter_map(|&k| bodies[k as usize].geometry.as_deref().map(Geometry::radius))
                .sum();
            let alone = (dt * a.norm().max(b.norm())).min(sizes);
            Reach::from(margin + (dt * (a - b).norm()).max(alone))
        };
        let mut all = Self::narrow(bodies, &poses, &candidates, reach);
        all.add_probes(stage, &poses, frames, motions, &spins, active);
        all
    }

    /// Adds those of `found` whose features are not known yet. Returns whether there are any.
    pub(super) fn add_unknown(&mut self, found: &Self) -> bool {
        let mut more: Vec<([u32; 2], Contact<D>)> = Vec::new();
        let mut known = self.pairs.as_slice();
        for pair in &found.pairs {
            let key = [pair.a, pair.b];
            known = &known[known.partition_point(|known| [known.a, known.b] < key)..];
            let own = known.first().filter(|known| [known.a, known.b] == key);
            let own = own.map_or(&[][..], |own| &self.contacts[own.contacts()]);
            let new = found.contacts[pair.contacts()].iter();
            let new = new.filter(|new| own.iter().all(|own| own.feature != new.feature));
            more.extend(new.map(|new| (key, *new)));
        }
        self.merge(&more);
        !more.is_empty()
    }

    /// These, with what is `found` in place of the contacts of the pairs at `places` (ascending).
    pub(super) fn with_replaced(&self, places: &[usize], found: &Self) -> Self {
        let mut all = Self { pairs: Vec::with_capacity(self.pairs.len()), contacts: Vec::new() };
        for (place, pair) in self.pairs.iter().enumerate() {
            let own = if places.binary_search(&place).is_err() {
                &self.contacts[pair.contacts()]
            } else {
                let same = found.pairs.binary_search_by_key(&[pair.a, pair.b], |found| [found.a, found.b]);
                same.map_or(&[][..], |same| &found.contacts[found.pairs[same].contacts()])
            };
            let first = all.contacts.len() as u32;
            all.contacts.extend_from_slice(own);
            all.pairs.push(Pair { first, end: all.contacts.len() as u32, ..*pair });
        }
        all
    }

    /// Contacts of `candidates` within `reach`.
    pub fn narrow(
        bodies: &[Body<D>],
        poses: &[Pose<D>],
        candidates: &[[u32; 2]],
        reach: impl Fn([u32; 2]) -> Reach<D> + Sync,
    ) -> Self {
        // A pair of solids that meet by their surface particles is worth a hundred others.
        let dear = |i: u32| {
            let geometry = bodies[i as usize].geometry.as_deref();
            geometry.is_some_and(Geometry::is_by_particles)
        };
        let length = if candidates.iter().any(|&[i, j]| dear(i) && dear(j)) { 4 } else { 256 };
        let parts: Vec<Self> = candidates
            .par_chunks(length)
            .map(|chunk| {
                let mut part =
                    Self { pairs: Vec::with_capacity(length), contacts: Vec::with_capacity(4 * length) };
                for &[i, j] in chunk {
                    let (Some(a), Some(b)) = (&bodies[i as usize].geometry, &bodies[j as usize].geometry)
                    else {
                        continue;
                    };
                    let first = part.contacts.len() as u32;
                    let a = Placed { geometry: a, pose: poses[i as usize] };
                    let b = Placed { geometry: b, pose: poses[j as usize] };
                    collide(&a, &b, reach([i, j]), &mut part.contacts);
                    let end = part.contacts.len() as u32;
                    if end > first {
                        part.pairs.push(Pair { a: i, b: j, first, end });
                    }
                }
                part
            })
            .collect();
        let mut all = Self {
            pairs: Vec::with_capacity(parts.iter().map(|part| part.pairs.len()).sum()),
            contacts: Vec::with_capacity(parts.iter().map(|part| part.contacts.len()).sum()),
        };
        for part in parts {
            let shift = all.contacts.len() as u32;
            all.contacts.extend_from_slice(&part.contacts);
            all.pairs.extend(part.pairs.iter().map(|pair| Pair {
                first: pair.first + shift,
                end: pair.end + shift,
                ..*pair
            }));
        }
        all
    }

    /// Where contact `index` of `pair` is when the bodies have these poses.
    #[inline]
    pub fn touch(
        &self,
        bodies: &[Body<D>],
        pair: &Pair,
        index: usize,
        a: &Pose<D>,
        b: &Pose<D>,
    ) -> Option<Touch<D>> {
        let geometry =
            [bodies[pair.a as usize].geometry.as_deref()?, bodies[pair.b as usize].geometry.as_deref()?];
        Some(self.contacts[index].touch(a, b, geometry))
    }
}
