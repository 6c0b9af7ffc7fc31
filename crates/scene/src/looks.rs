//! What bodies that appear during a run look like: surfaces made once from their distance samples.

use crate::frame::{Shape, SurfaceShape};
use splashdown_couple::{Model, State};
use splashdown_math::{Dim, Space};
use splashdown_parallel::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Surfaces of fragments by name. A name is given once in a run and always to the same fragment, so a surface never goes stale.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    surfaces: Mutex<HashMap<String, Arc<SurfaceShape>>>,
}

impl Looks {
    /// The table of shapes and the shape of every body: the scene's for its own bodies (`shapes` and `shape_of`), and surfaces for newcomers.
    pub(crate) fn of<const D: usize>(
        &self,
        model: &Model<D>,
        state: &State<D>,
        shapes: &[Shape],
        shape_of: &[u32],
    ) -> (Vec<Shape>, Vec<u32>)
    where
        Dim<D>: Space<D>,
    {
        let (mut shapes, mut shape_of) = (shapes.to_vec(), shape_of.to_vec());
        if state.newcomers.is_empty() {
            return (shapes, shape_of);
        }
        let mut known = self.surfaces.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<usize> = state
            .newcomers
            .iter()
            .filter(|(_, newcomer)| !known.contains_key(&newcomer.body.name))
            .map(|(place, _)| place)
            .collect();
        let made: Vec<Arc<SurfaceShape>> = new.par_iter().map(|&place| surface(model, place)).collect();
        known.extend(new.iter().map(|&place| model.bodies[place].name.clone()).zip(made));
        shape_of.resize(model.bodies.len(), 0);
        for (place, newcomer) in state.newcomers.iter() {
            let Some(surface) = known.get(&newcomer.body.name) else { continue };
            shape_of[place] = shapes.len() as u32;
            shapes.push(Shape::Surface(Arc::clone(surface)));
        }
        (shapes, shape_of)
    }
}

/// The surface of a body in its own coordinates; nothing for a body without one.
fn surface<const D: usize>(model: &Model<D>, place: usize) -> Arc<SurfaceShape>
where
    Dim<D>: Space<D>,
{
    let mesh = model.bodies[place].geometry.as_ref().and_then(|geometry| geometry.surface());
    let (points, elements) = mesh.map_or_else(Default::default, |mesh| (mesh.points, mesh.elements));
    Arc::new(SurfaceShape::new(
        points.iter().flat_map(|point| point.iter().copied()).collect(),
        elements.into_iter().flatten().collect(),
    ))
}
