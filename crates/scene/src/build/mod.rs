//! The world that a scene describes.

mod chain;
mod components;
mod error;
mod options;
mod rigid;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use components::{rotation, scaled, spin, vector};
pub use error::BuildError;

use crate::description::{Rigid, Scene};
use crate::limits::{MAX_MEMORY_BYTES, Size};
use splashdown_couple::World;
use splashdown_math::Dim;

/// A world in the scene's dimension.
#[derive(Debug, Clone)]
pub enum AnyWorld {
    /// In the plane.
    Two(Box<World<2>>),
    /// In space.
    Three(Box<World<3>>),
}

/// One rigid body of the world: an entry of `[[rigid]]`, or one copy of a repeated one.
#[derive(Debug, Clone, PartialEq)]
pub struct RigidCopy<'a> {
    /// Unique name.
    pub name: String,
    /// The entry it comes from, which has its shape.
    pub rigid: &'a Rigid,
    /// Where this copy stands relative to the entry's `position` (m).
    pub offset: Vec<f64>,
}

/// Builds the world of a scene at time zero. Use [`Scene::check`] first for messages with places; a scene that was loaded is checked.
pub fn build(scene: &Scene) -> Result<AnyWorld, BuildError> {
    let bytes = Size::of(scene).memory_bytes();
    if bytes > MAX_MEMORY_BYTES {
        return Err(BuildError::TooLarge { bytes });
    }
    if let Some(import) = scene.import.first() {
        return Err(BuildError::NotImported { file: import.file.clone() });
    }
    match scene.dimension {
        2 => world::<2>(scene).map(|world| AnyWorld::Two(world.into())),
        3 => world::<3>(scene).map(|world| AnyWorld::Three(world.into())),
        other => Err(BuildError::Dimension(other)),
    }
}

impl AnyWorld {
    /// Number of dimensions.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Two(_) => 2,
            Self::Three(_) => 3,
        }
    }

    /// Largest step (s) at which the explicit forces are stable; infinite if there are none.
    pub fn stable_step(&self) -> f64 {
        match self {
            Self::Two(world) => world.model().stable_step(),
            Self::Three(world) => world.model().stable_step(),
        }
    }
}

impl Scene {
    /// The rigid bodies of the world in their order there, copies of repeated ones included (the first axis runs fastest).
    pub fn rigid_copies(&self) -> impl Iterator<Item = RigidCopy<'_>> {
        self.rigid.iter().flat_map(|rigid| {
            let repeat = rigid.repeat.as_ref();
            let total = repeat.map_or(1, |r| r.total().unwrap_or(0));
            (0..total).map(move |n| {
                let Some(repeat) = repeat else {
                    return RigidCopy { name: rigid.name.clone(), rigid, offset: Vec::new() };
                };
                let mut rest = n;
                let offset = repeat.count.iter().zip(&repeat.spacing).map(|(&count, &spacing)| {
                    let index = rest % count;
                    rest /= count;
                    index as f64 * spacing
                });
                RigidCopy { offset: offset.collect(), name: format!("{}-{}", rigid.name, n + 1), rigid }
            })
        })
    }
}

fn world<const D: usize>(scene: &Scene) -> Result<World<D>, BuildError>
where
    Dim<D>: crate::build_elastic::ElasticSpace<D>,
{
    let gravity = vector::<D>("scene", "gravity", Some(&scene.gravity_vector()))?;
    let mut world = World::new(gravity)?;
    options::set_options(scene, world.options_mut());
    rigid::add_bodies(&mut world, scene)?;
    rigid::keep_apart(&mut world, scene);
    crate::articulate::add(&mut world, scene)?;
    for body in scene.deformable.iter().filter(|body| !body.has_elements()) {
        chain::add_chain(&mut world, body)?;
    }
    crate::build_elastic::add_elastic(&mut world, scene)?;
    crate::build_fluid::add_fluid(&mut world, scene)?;
    Ok(world)
}
