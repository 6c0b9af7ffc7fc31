//! Which bodies are hit hard enough to break (spec/rigid-bodies.md 3.17).

use super::{ContactSolver, ContactStage, contact_impulse};
use crate::Motion;
use crate::fracture::Hit;
use splashdown_math::{Dim, Frame, Space, Twist};
use std::collections::BTreeMap;

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// The hardest hit on each body that breaks from it, by ascending body, among the contacts of this step ([`Self::collide`]).
    ///
    /// A point counts if the bodies approach there with `start`, the velocities `v^n` before any impulse, and meet within the step with `half`. Its impulse is that of
    /// the two bodies alone with restitution and friction, whatever else touches them: what a body bears at rest never breaks it.
    #[inline(never)]
    pub fn breaking_hits(
        &self,
        stage: &ContactStage<'_, D>,
        frames: &[Frame<D>],
        start: &[Motion<D>],
        half: &[Motion<D>],
    ) -> Vec<(usize, Hit<D>)> {
        let bodies = stage.bodies;
        let threshold = |i: usize| {
            let body = &bodies[i];
            body.breakable
                .as_ref()
                .filter(|_| body.is_dynamic())
                .map_or(f64::INFINITY, |breakable| breakable.threshold)
        };
        let mut hardest: BTreeMap<usize, Hit<D>> = BTreeMap::new();
        for pair in &self.contacts.pairs {
            let ids = [pair.a as usize, pair.b as usize];
            let thresholds = ids.map(threshold);
            if !(thresholds[0].min(thresholds[1]).is_finite()) {
                continue;
            }
            let twists = |motions: &[Motion<D>]| ids.map(|i| self.at.twist(i, bodies, frames, &motions[i]));
            let (before, moved) = (twists(start), twists(half));
            let material = stage.material(ids[0], ids[1]);
            let inverse = ids.map(|i| self.at.inverse[i]);
            for touch in &self.at.touches[pair.contacts()] {
                let arms = ids.map(|i| touch.point - frames[i].position);
                let relative = |twists: &[Twist<D>; 2]| twists[0].at(&arms[0]) - twists[1].at(&arms[1]);
                let approach = relative(&before);
                if !(touch.normal.dot(&approach) < 0.0)
                    || touch.gap + stage.dt * touch.normal.dot(&relative(&moved)) >= 0.0
                {
                    continue;
                }
                let factor = inverse[0].factor(&arms[0]) + inverse[1].factor(&arms[1]);
                let Some(found) = contact_impulse(
                    &factor,
                    &approach,
                    &touch.normal,
                    material.restitution,
                    material.friction,
                ) else {
                    continue;
                };
                let impulse = found.impulse.norm();
                for (k, outward) in [(0, -touch.normal), (1, touch.normal)] {
                    if impulse >= thresholds[k]
                        && hardest.get(&ids[k]).is_none_or(|hit| impulse > hit.impulse)
                    {
                        hardest.insert(ids[k], Hit { point: touch.point, normal: outward, impulse });
                    }
                }
            }
        }
        hardest.into_iter().collect()
    }
}
