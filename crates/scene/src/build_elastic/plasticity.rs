//! Plastic flow of elements, and the shapes to which it leads.

use super::{point, wrong};
use crate::build::BuildError;
use crate::description::{GoalShape, PlasticDescription};
use splashdown_deformable::element::ElementError;
use splashdown_deformable::material::{Plasticity, Yield};
use splashdown_math::Vector;

pub(super) fn plasticity(plastic: &PlasticDescription) -> Plasticity {
    let limit = plastic.limit;
    let criterion = if plastic.volume { Yield::Full { limit } } else { Yield::Deviatoric { limit } };
    Plasticity { criterion, limit: plastic.limit_stretch }
}

/// Hands the positions of a plastic goal, if there is one, to `set`.
pub(super) fn set_goal<const D: usize>(
    name: &str,
    plastic: &PlasticDescription,
    points: &[Vector<D>],
    first: u32,
    set: impl FnOnce(&[f64]) -> Result<(), ElementError>,
) -> Result<(), BuildError> {
    let aim: Vec<Vector<D>> = match (&plastic.goal, &plastic.goal_shape) {
        (None, None) => return Ok(()),
        (Some(factors), None) => {
            let factors = point::<D>(name, factors)?;
            points.iter().map(|x| x.component_mul(&factors)).collect()
        }
        (None, Some(own)) => goal_points(name, own, points.len())?,
        _ => return Err(wrong(name, "`plastic` has both `goal` and `goal_shape`; give one of them")),
    };
    let mut goal = vec![0.0; D * first as usize];
    goal.extend(aim.iter().flat_map(|x| x.iter().copied().collect::<Vec<_>>()));
    set(&goal).map_err(|error| wrong(name, error))
}

/// The points of a goal from its file, as many as the body has.
fn goal_points<const D: usize>(
    name: &str,
    own: &GoalShape,
    count: usize,
) -> Result<Vec<Vector<D>>, BuildError> {
    if D == 2 {
        return Err(wrong(
            name,
            "`plastic.goal_shape` is for bodies in space; `goal` has factors for the plane",
        ));
    }
    let loaded = splashdown_geometry::io::read_mesh(&own.path).map_err(|error| wrong(name, error))?;
    if loaded.points.len() != count {
        return Err(wrong(
            name,
            format!(
                "{} has {} points and the body {count}: a goal has the points of the body in the same order",
                own.path,
                loaded.points.len()
            ),
        ));
    }
    Ok(loaded.points.iter().map(|x| Vector::from_fn(|axis, _| own.scale * x[axis])).collect())
}
