//! Points that a body carries outside of its own geometry, such as the surface of flesh around a bone: where they touch, the body touches, with the arm to the point.

use super::detect::{Contacts, Pair, margin};
use super::{ContactStage, both};
use crate::Motion;
use crate::collide::{Contact, Guide, Pose};
use splashdown_geometry::Aabb;
use splashdown_math::{Dim, Frame, Space, Vector};
use std::sync::Arc;

/// Points that move with a body and touch other bodies for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Probes<const D: usize> {
    /// The body. It needs a geometry of its own.
    pub body: u32,
    /// Their numbers, which know them again in the next step, and their places in the body's coordinates (m).
    pub points: Arc<[(u32, Vector<D>)]>,
    /// Distance (m) that they keep.
    pub thickness: f64,
    /// Bodies, ascending, that they do not touch.
    pub passes: Vec<u32>,
}

/// Features of probes are numbered from here on.
const FIRST_FEATURE: u32 = 1 << 30;

impl<const D: usize> Contacts<D>
where
    Dim<D>: Space<D>,
{
    /// Adds the contacts that the probes of this stage can make within the step. `active` bodies respond and are awake, or move as told.
    pub(super) fn add_probes(
        &mut self,
        stage: &ContactStage<'_, D>,
        poses: &[Pose<D>],
        frames: &[Frame<D>],
        motions: &[Motion<D>],
        spins: &[f64],
        active: impl Fn(u32) -> bool,
    ) {
        let (bodies, dt) = (stage.bodies, stage.dt);
        let mut found: Vec<([u32; 2], Contact<D>)> = Vec::new();
        for probes in stage.probes {
            let own = probes.body as usize;
            let pose = &poses[own];
            let far = probes.points.iter().map(|(_, x)| x.norm_squared()).fold(0.0, f64::max).sqrt();
            let places: Vec<Vector<D>> = probes.points.iter().map(|(_, x)| pose.to_world(x)).collect();
            let bounds = places.iter().fold(Aabb::empty(), |bounds, x| bounds.including(x));
            for (other, body) in bodies.iter().enumerate().filter(|(other, _)| *other != own) {
                let Some(geometry) = body.geometry.as_deref().filter(|_| !body.is_particle()) else {
                    continue;
                };
                if !(bodies[own].is_dynamic() || body.is_dynamic())
                    || !(active(own as u32) || active(other as u32))
                    || probes.passes.binary_search(&(other as u32)).is_ok()
                {
                    continue;
                }
                let turn = |k: usize, radius: f64| {
                    if spins[k] > 0.0 { (dt * spins[k]).min(2.0) * radius } else { 0.0 }
                };
                let [a, b] = both([own, other], |k| motions[k].velocity);
                // As bodies do, they meet what is stopped within the step.
                let alone = (dt * a.norm().max(b.norm())).min(far + geometry.radius());
                let reach = margin(geometry)
                    + turn(own, far)
                    + turn(other, geometry.radius())
                    + (dt * (a - b).norm()).max(alone)
                    + probes.thickness;
                let around = geometry.world_bounds(&frames[other]).grown(reach);
                if !around.overlaps(&bounds) {
                    continue;
                }
                for ((number, place), x) in probes.points.iter().zip(&places) {
                    if !around.contains(x) {
                        continue;
                    }
                    let seen = poses[other].to_object(x);
                    if geometry.signed_distance(&seen) > reach {
                        continue;
                    }
                    let contact = Contact {
                        on_a: *place,
                        on_b: seen,
                        radius: [probes.thickness, 0.0],
                        guide: Guide::ParticleA,
                        feature: FIRST_FEATURE | number,
                    };
                    found.push(match own < other {
                        true => ([own as u32, other as u32], contact),
                        false => ([other as u32, own as u32], contact.swapped()),
                    });
                }
            }
        }
        if !found.is_empty() {
            found.sort_by_key(|(pair, contact)| (*pair, contact.feature));
            self.merge(&found);
        }
    }

    /// Adds contacts, ascending by pair, to those of their pairs.
    pub(super) fn merge(&mut self, more: &[([u32; 2], Contact<D>)]) {
        let old = std::mem::take(self);
        let mut pairs = old.pairs.iter().peekable();
        let mut add = |pair: [u32; 2], parts: [&mut dyn Iterator<Item = Contact<D>>; 2]| {
            let first = self.contacts.len() as u32;
            parts.into_iter().for_each(|part| self.contacts.extend(part));
            self.pairs.push(Pair { a: pair[0], b: pair[1], first, end: self.contacts.len() as u32 });
        };
        let own = |pair: &Pair| old.contacts[pair.contacts()].iter().copied();
        for group in more.chunk_by(|a, b| a.0 == b.0) {
            let next = group[0].0;
            while let Some(pair) = pairs.next_if(|pair| [pair.a, pair.b] < next) {
                add([pair.a, pair.b], [&mut own(pair), &mut std::iter::empty()]);
            }
            let mut new = group.iter().map(|(_, contact)| *contact);
            match pairs.next_if(|pair| [pair.a, pair.b] == next) {
                Some(pair) => add(next, [&mut own(pair), &mut new]),
                None => add(next, [&mut new, &mut std::iter::empty()]),
            }
        }
        for pair in pairs {
            add([pair.a, pair.b], [&mut own(pair), &mut std::iter::empty()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_of_probes_join_those_of_their_pairs() {
        let contact = |feature: u32| Contact::<2> {
            on_a: Vector::zeros(),
            on_b: Vector::zeros(),
            radius: [0.0; 2],
            guide: Guide::ParticleA,
            feature,
        };
        let mut all = Contacts::<2> {
            pairs: vec![Pair { a: 0, b: 3, first: 0, end: 2 }, Pair { a: 2, b: 3, first: 2, end: 3 }],
            contacts: vec![contact(1), contact(2), contact(3)],
        };
        all.merge(&[([0, 1], contact(10)), ([0, 3], contact(11)), ([4, 5], contact(12))]);
        let seen: Vec<(u32, u32, Vec<u32>)> = (all.pairs.iter())
            .map(|pair| (pair.a, pair.b, all.contacts[pair.contacts()].iter().map(|c| c.feature).collect()))
            .collect();
        assert_eq!(seen, vec![(0, 1, vec![10]), (0, 3, vec![1, 2, 11]), (2, 3, vec![3]), (4, 5, vec![12])]);
    }
}
