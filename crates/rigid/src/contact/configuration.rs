//! Bodies and contacts where they are at one stage of a step, computed once for all that looks at them.

use super::{Contacts, InverseInertia};
use crate::collide::{Pose, Touch};
use crate::{Body, Motion};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_parallel::prelude::*;

/// Poses, inverse inertias and contact points of one configuration.
#[derive(Debug, Clone, Default)]
pub(super) struct Configuration<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub poses: Vec<Pose<D>>,
    pub inverse: Vec<InverseInertia<D>>,
    /// Of each contact; of pairs that were not asked for, what an earlier stage had.
    pub touches: Vec<Touch<D>>,
}

/// Pairs that one task looks at.
const CHUNK: usize = 512;

impl<const D: usize> Configuration<D>
where
    Dim<D>: Space<D>,
{
    /// Puts the bodies at `frames`.
    pub fn place(&mut self, bodies: &[Body<D>], frames: &[Frame<D>]) {
        self.poses.clear();
        self.poses.extend(frames.iter().map(Pose::new));
        self.inverse.clear();
        self.inverse.extend(bodies.iter().zip(frames).map(|(body, frame)| InverseInertia::of(body, frame)));
    }

    /// Finds the contact points of the pairs for which `wanted` (by their place in the list).
    pub fn find_touches(
        &mut self,
        bodies: &[Body<D>],
        contacts: &Contacts<D>,
        wanted: impl Fn(usize) -> bool + Sync,
    ) {
        let nothing = Touch { normal: Vector::zeros(), gap: f64::INFINITY, point: Vector::zeros() };
        self.touches.resize(contacts.contacts.len(), nothing);
        let poses = &self.poses;
        let mut rest = self.touches.as_mut_slice();
        let mut tasks = Vec::with_capacity(contacts.pairs.len() / CHUNK + 1);
        for (number, pairs) in contacts.pairs.chunks(CHUNK).enumerate() {
            let (first, end) = (pairs[0].first as usize, pairs[pairs.len() - 1].end as usize);
            let (own, others) = rest.split_at_mut(end - first);
            rest = others;
            tasks.push((number * CHUNK, pairs, own));
        }
        tasks.into_par_iter().for_each(|(number, pairs, touches)| {
            let first = pairs[0].first as usize;
            for (k, pair) in pairs.iter().enumerate() {
                let ids = [pair.a as usize, pair.b as usize];
                let (Some(a), Some(b)) = (&bodies[ids[0]].geometry, &bodies[ids[1]].geometry) else {
                    continue;
                };
                if !wanted(number + k) {
                    continue;
                }
                for contact in pair.contacts() {
                    touches[contact - first] =
                        contacts.contacts[contact].touch(&poses[ids[0]], &poses[ids[1]], [a, b]);
                }
            }
        });
    }

    /// Linear and angular velocity of body `i`.
    #[inline]
    pub fn twist(&self, i: usize, bodies: &[Body<D>], frames: &[Frame<D>], motion: &Motion<D>) -> Twist<D> {
        if self.inverse[i].is_infinite() {
            return motion.twist(&bodies[i], &frames[i]);
        }
        let angular = Dim::apply_inertia(&self.inverse[i].inertia, &motion.angular_momentum);
        Twist { linear: motion.velocity, angular }
    }

    /// Of all bodies.
    pub fn twists(
        &self,
        bodies: &[Body<D>],
        frames: &[Frame<D>],
        motions: &[Motion<D>],
        twists: &mut Vec<Twist<D>>,
    ) {
        twists.clear();
        twists.extend(motions.iter().enumerate().map(|(i, motion)| self.twist(i, bodies, frames, motion)));
    }
}
