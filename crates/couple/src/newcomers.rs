//! Bodies that appear during a run: fragments of bodies that break.
//!
//! The scene's bodies are the model's, and a checkpoint need not hold them. A body that appears is part of the state: [`Newcomers`] holds all
//! that is known of it, geometry included, by its place in the list of bodies. When a body breaks, its largest fragment takes its place and the
//! others are appended, so places stay what they are for everyone else and the list has no holes. The model's list of bodies always is the
//! scene's with the newcomers put in; [`World::restore`](crate::World::restore) makes it so from any state.

use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Frame, Space};
use splashdown_rigid::Body;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A body that is not in the scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Newcomer<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Place of the scene's body that it is a piece of; how it breaks is written there.
    pub origin: u32,
    /// From its own coordinates to those of that body; joints and attachments of the body find their fragment with it.
    pub in_origin: Frame<D>,
    /// The body.
    pub body: Body<D>,
}

/// All newcomers by their places in the list of bodies. Cheap to clone: a step that breaks nothing shares it with the step before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Newcomers<const D: usize>
where
    Dim<D>: Space<D>,
{
    by_place: Arc<BTreeMap<u32, Arc<Newcomer<D>>>>,
}

impl<const D: usize> Default for Newcomers<D>
where
    Dim<D>: Space<D>,
{
    fn default() -> Self {
        Self { by_place: Arc::default() }
    }
}

impl<const D: usize> Newcomers<D>
where
    Dim<D>: Space<D>,
{
    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_place.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.by_place.is_empty()
    }

    /// The one at a place in the list of bodies, if that is not the scene's own.
    pub fn get(&self, place: usize) -> Option<&Newcomer<D>> {
        self.by_place.get(&(place as u32)).map(AsRef::as_ref)
    }

    /// All by ascending place.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Newcomer<D>)> {
        self.by_place.iter().map(|(place, newcomer)| (*place as usize, newcomer.as_ref()))
    }

    pub(crate) fn insert(&mut self, place: usize, newcomer: Newcomer<D>) {
        Arc::make_mut(&mut self.by_place).insert(place as u32, Arc::new(newcomer));
    }

    /// Gives every newcomer the rule by which its origin breaks, which is not stored; `None` if an origin does not fit.
    pub(crate) fn linked(&self, scene: impl Fn(u32) -> Option<Body<D>>) -> Option<Self> {
        let mut linked = BTreeMap::new();
        for (&place, newcomer) in self.by_place.iter() {
            let mut newcomer = Newcomer::clone(newcomer);
            let origin = scene(newcomer.origin)?;
            if let Some(breakable) = &mut newcomer.body.breakable {
                breakable.rule = origin.breakable?.rule;
            }
            linked.insert(place, Arc::new(newcomer));
        }
        Some(Self { by_place: Arc::new(linked) })
    }
}
