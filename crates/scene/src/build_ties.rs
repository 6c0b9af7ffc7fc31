//! Ties of soft bodies to others: which element each particle lies in.

use crate::build::BuildError;
use crate::build_elastic::is_copy_of;
use crate::description::{Deformable, TiedTo};
use splashdown_couple::Solids;
use splashdown_deformable::{Tie, Ties};
use splashdown_geometry::simplex::closest_point;
use splashdown_geometry::{Aabb, Bvh};
use splashdown_math::{Dim, Space, Vector};

/// Ties the particles of every body that asks for it to the elements of other bodies in which they lie, with all of them at `rest` (m).
pub(crate) fn add_ties<const D: usize>(
    bodies: &[Deformable],
    rest: &[f64],
    solids: &mut Solids<D>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    for body in bodies {
        for tied in &body.elastic.tie {
            let ties = ties_of(&body.name, tied, rest, solids)?;
            solids.solid.add(Ties::new(format!("ties of {} to {}", body.name, tied.to), &ties));
        }
    }
    Ok(())
}

fn ties_of<const D: usize>(
    name: &str,
    tied: &TiedTo,
    rest: &[f64],
    solids: &Solids<D>,
) -> Result<Vec<Tie>, BuildError>
where
    Dim<D>: Space<D>,
{
    let wrong = |reason: String| BuildError::Elastic { name: name.to_owned(), reason };
    let corners = D + 1;
    let mut elements: Vec<u32> = Vec::new();
    for target in solids.bodies.iter().filter(|target| is_copy_of(&target.name, &tied.to)) {
        if target.elements.len() != corners * target.count() {
            return Err(wrong(format!(
                "it is tied to `{}`, which has no elements with an inside; expected tetrahedra (triangles in the plane)",
                tied.to
            )));
        }
        elements.extend(target.elements.iter().map(|node| node + target.particles.start as u32));
    }
    let at = |node: u32| Vector::<D>::from_column_slice(&rest[D * node as usize..][..D]);
    let corners_of = |element: u32| &elements[corners * element as usize..][..corners];
    let points_of = |element: u32| corners_of(element).iter().map(|&node| at(node)).collect::<Vec<_>>();
    let tree = Bvh::from_fn(elements.len() / corners, |element| Aabb::of_points(&points_of(element)));
    let mut ties = Vec::new();
    let own = solids.bodies.iter().filter(|body| is_copy_of(&body.name, name));
    for particle in own.flat_map(|body| body.particles.clone()) {
        if solids.solid.pinned()[particle] {
            continue;
        }
        let x = at(particle as u32);
        // The first element that holds it.
        let mut found: Option<(u32, Vec<f64>)> = None;
        tree.overlapping(&Aabb::of_points([&x]), |element| {
            let weights = weights_in(&x, &points_of(element));
            if let Some(weights) =
                weights.filter(|_| found.as_ref().is_none_or(|(first, _)| element < *first))
            {
                found = Some((element, weights));
            }
        });
        if let Some((element, weights)) = found {
            let to = corners_of(element).iter().copied().zip(weights).collect();
            let (stiffness, damping) = (tied.stiffness, tied.damping);
            ties.push(Tie { particle: particle as u32, to, stiffness, damping });
        }
    }
    if ties.is_empty() {
        return Err(wrong(format!(
            "no particle of it that moves is inside `{}`, to which it is tied",
            tied.to
        )));
    }
    Ok(ties)
}

/// Weights of the corners of a simplex at `x`, if it is inside.
fn weights_in<const D: usize>(x: &Vector<D>, corners: &[Vector<D>]) -> Option<Vec<f64>> {
    let (place, weights) = match *corners {
        [a, b, c] => {
            let nearest = closest_point(x, &[a, b, c]);
            (nearest.point, nearest.weights.to_vec())
        }
        [a, b, c, d] => {
            let nearest = closest_point(x, &[a, b, c, d]);
            (nearest.point, nearest.weights.to_vec())
        }
        _ => return None,
    };
    let size = (corners[1] - corners[0]).norm();
    ((place - x).norm() <= 1e-9 * size).then_some(weights)
}
