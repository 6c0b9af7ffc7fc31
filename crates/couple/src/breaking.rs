//! Bodies that break: the fragments take their places in the model and in the state.

use crate::{Broken, Newcomer, State, World};
use splashdown_math::{Dim, Space};
use splashdown_rigid::fracture::{FractureError, Hit, shatter};

/// Times that the bodies of one step may break, so that what is set free by one break can break in turn. After that impulses are applied as they
/// are, and the next step goes on.
#[expect(dead_code)]
pub(crate) const MOST_BREAKS_A_STEP: usize = 4;

/// Pairs of bodies, ascending, that are pieces of one body that broke in this step.
pub(crate) type Siblings = Vec<[u32; 2]>;

impl<const D: usize> World<D>
where
    Dim<D>: Space<D>,
{
    /// Breaks a body where it was hit, whatever its threshold. The largest fragment takes its place, the others come after all bodies; `None` if
    /// the pattern does not cut it.
    ///
    /// Mass, momentum and angular momentum stay the same to round-off, and every fragment moves as the body did.
    pub fn break_body(&mut self, place: usize, hit: &Hit<D>) -> Result<Option<Broken>, FractureError> {
        let Some(body) = self.model.bodies.get(place) else {
            return Err(FractureError::NotASolid { name: format!("number {place}") });
        };
        let Some(fragments) = shatter(body, &self.state.bodies[place], hit)? else { return Ok(None) };
        let name = body.name.clone();
        let origin = self.state.newcomers.get(place).map_or(place as u32, |newcomer| newcomer.origin);
        let mut places = Vec::with_capacity(fragments.len());
        for (number, fragment) in fragments.into_iter().enumerate() {
            let newcomer = Newcomer { origin, body: fragment.body.clone() };
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
        Ok(Some(Broken { name, impulse: hit.impulse, fragments: places }))
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
        state.newcomers = newcomers;
        true
    }
}

/// All pairs among the fragments of one body.
pub(crate) fn siblings(broken: &Broken) -> impl Iterator<Item = [u32; 2]> + '_ {
    broken
        .fragments
        .iter()
        .enumerate()
        .flat_map(|(number, &a)| broken.fragments[..number].iter().map(move |&b| [a.min(b), a.max(b)]))
}
