//! Bodies that break: the fragments take their places in the model and in the state.

use crate::{Broken, Newcomer, Newcomers, State, StepError, World};
use splashdown_math::{Dim, Frame, Space};
use splashdown_rigid::fracture::{FractureError, Hit, shatter};
use std::collections::BTreeMap;

/// Times that the bodies of one step may break, so that what is set free by one break can break in turn. After that impulses are applied as they
/// are, and the next step goes on.
pub(crate) const MOST_BREAKS_A_STEP: usize = 4;

/// What a step knows of the bodies that broke in it.
#[derive(Debug, Default)]
pub(crate) struct Breaking {
    /// Pairs of pieces of one body, ascending: they touch everywhere at birth and do not bounce in this step.
    pub siblings: Vec<[u32; 2]>,
    /// No body breaks any more in this step.
    pub done: bool,
    /// Times that bodies broke in this step.
    rounds: usize,
}

impl Breaking {
    /// Takes in a body that broke.
    pub(crate) fn add(&mut self, broken: &Broken) {
        for (number, &a) in broken.fragments.iter().enumerate() {
            self.siblings.extend(broken.fragments[..number].iter().map(|&b| [a.min(b), a.max(b)]));
        }
    }
}

impl<const D: usize> World<D>
where
    Dim<D>: Space<D>,
{
    /// Breaks a body where it was hit, whatever its threshold. The largest fragment takes its place, the others come after all bodies; `None` if
    /// the pattern does not cut it.
    ///
    /// Mass, momentum and angular momentum stay the same to round-off, and every fragment moves as the body did.
    #[inline(never)]
    pub fn break_body(&mut self, place: usize, hit: &Hit<D>) -> Result<Option<Broken>, FractureError> {
        let Some(body) = self.model.bodies.get(place) else {
            return Err(FractureError::NotASolid { name: format!("number {place}") });
        };
        let Some(fragments) = shatter(body, &self.state.bodies[place], hit)? else { return Ok(None) };
        let name = body.name.clone();
        if self.state.newcomers.is_empty() {
            self.scene_joints = self.model.joints.clone();
        }
        let (origin, in_origin) = self
            .state
            .newcomers
            .get(place)
            .map_or((place as u32, Frame::identity()), |newcomer| (newcomer.origin, newcomer.in_origin));
        let mut places = Vec::with_capacity(fragments.len());
        for (number, fragment) in fragments.into_iter().enumerate() {
            let in_origin = in_origin.compose(&fragment.in_parent);
            let newcomer = Newcomer { origin, in_origin, body: fragment.body.clone() };
            if number == 0 {
                let old = std::mem::replace(&mut self.model.bodies[place], fragment.body);
                if self.state.newcomers.get(place).is_none() {
                    self.displaced.insert(place as u32, old);
                }
                self.state.bodies[place] = fragment.state;
                places.push(place as u32);
            } else {
                places.push(self.model.bodies.len() as u32);
                self.model.bodies.push(fragment.body);
                self.state.bodies.push(fragment.state);
            }
            self.state.newcomers.insert(places[number] as usize, newcomer);
        }
        self.state.contact.forget(place as u32);
        self.state.rest.wake(place);
        if !self.scene_joints.is_empty() {
            let newcomers = self.state.newcomers.clone();
            self.attach_joints(&newcomers);
        }
        Ok(Some(Broken { name, impulse: hit.impulse, fragments: places }))
    }

    /// Breaks the bodies that were hit; tells how often this step has broken bodies so far.
    pub(crate) fn break_bodies(
        &mut self,
        hits: &[(usize, Hit<D>)],
        breaking: &mut Breaking,
        broken: &mut Vec<Broken>,
    ) -> Result<usize, StepError> {
        for (place, hit) in hits {
            let (step, time) = (self.state.step, self.state.time);
            let found =
                self.break_body(*place, hit).map_err(|reason| StepError::Fracture { step, time, reason })?;
            if let Some(found) = found {
                breaking.add(&found);
                broken.push(found);
            }
        }
        breaking.siblings.sort_unstable();
        breaking.siblings.dedup();
        breaking.rounds += 1;
        Ok(breaking.rounds)
    }

    /// Hangs every joint of the scene on the fragments that hold its points.
    fn attach_joints(&mut self, newcomers: &Newcomers<D>) {
        if self.scene_joints.is_empty() || newcomers.is_empty() {
            return;
        }
        let mut pieces: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, newcomer) in newcomers.iter() {
            pieces.entry(newcomer.origin as usize).or_default().push(place);
        }
        let attached = |body: Option<usize>, frame: &Frame<D>| {
            let unchanged = (body, *frame);
            let Some(places) = body.and_then(|body| pieces.get(&body)) else { return unchanged };
            let depth = |place: usize| {
                let newcomer = newcomers.get(place)?;
                let point = newcomer.in_origin.to_object(&frame.position);
                Some(newcomer.body.geometry.as_ref()?.signed_distance(&point))
            };
            let deepest = places
                .iter()
                .filter_map(|&place| depth(place).map(|depth| (depth, place)))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, place)) = deepest else { return unchanged };
            let Some(newcomer) = newcomers.get(place) else { return unchanged };
            (Some(place), newcomer.in_origin.inverse().compose(frame))
        };
        self.model.joints = self
            .scene_joints
            .iter()
            .map(|joint| {
                let mut joint = joint.clone();
                (joint.parent, joint.parent_frame) = attached(joint.parent, &joint.parent_frame);
                (joint.child, joint.child_frame) = attached(joint.child, &joint.child_frame);
                joint
            })
            .collect();
    }

    /// Makes the model's list of bodies that of `state`; `false` (and no change) if the newcomers are of another world.
    pub(crate) fn put_in_newcomers(&mut self, state: &mut State<D>) -> bool {
        let scene_count = self.scene_bodies;
        let scene = |place: u32| {
            let own = self.displaced.get(&place);
            own.or_else(|| self.model.bodies.get(place as usize))
                .filter(|_| (place as usize) < scene_count)
                .cloned()
        };
        // Places beyond the scene's bodies are those of newcomers, without holes.
        let beyond: Vec<usize> =
            state.newcomers.iter().map(|(place, _)| place).filter(|place| *place >= scene_count).collect();
        let whole = state.bodies.len() == scene_count + beyond.len()
            && beyond.iter().enumerate().all(|(number, place)| *place == scene_count + number);
        if !whole {
            return false;
        }
        let Some(newcomers) = state.newcomers.linked(scene) else { return false };
        for (place, body) in std::mem::take(&mut self.displaced) {
            self.model.bodies[place as usize] = body;
        }
        self.model.bodies.truncate(scene_count);
        for (place, newcomer) in newcomers.iter() {
            if place < scene_count {
                let old = std::mem::replace(&mut self.model.bodies[place], newcomer.body.clone());
                self.displaced.insert(place as u32, old);
            } else {
                self.model.bodies.push(newcomer.body.clone());
            }
        }
        if !self.state.newcomers.is_empty() {
            self.model.joints = self.scene_joints.clone();
        } else {
            self.scene_joints = self.model.joints.clone();
        }
        self.attach_joints(&newcomers);
        state.newcomers = newcomers;
        true
    }
}
