//! Ties of soft bodies to others: which element each particle lies in.

use crate::build::BuildError;
use crate::build_elastic::is_copy_of;
use crate::description::{Deformable, Scene, TiedTo};
use splashdown_couple::Solids;
use splashdown_deformable::{EmbedError, Embedding, Tie, Ties};
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
    let (stiffness, damping) = (tied.stiffness, tied.damping);
    let places = places_in(name, &tied.to, "tied", rest, solids)?;
    Ok(places.into_iter().map(|(particle, to)| Tie { particle, to, stiffness, damping }).collect())
}

/// Binds the particles of every body that asks for it to the elements of another in which they lie, with all of them at `rest` (m). Its faces leave `surface`: what it lies in touches for it.
pub(crate) fn add_embeddings<const D: usize>(
    scene: &Scene,
    rest: &[f64],
    solids: &mut Solids<D>,
    surface: &mut Vec<[u32; D]>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let mut all = Vec::new();
    for body in &scene.deformable {
        let Some(host) = &body.elastic.embed else { continue };
        let wrong = |reason: &str| BuildError::Elastic { name: body.name.clone(), reason: reason.into() };
        if scene.fluid.is_some() {
            return Err(wrong(
                "`elastic.embed` does not go with a fluid, which would not push it; `elastic.tie` does",
            ));
        }
        if body.elastic.incompressible {
            return Err(wrong(
                "`elastic.embed` does not go with `incompressible`: the body in which it lies keeps its volume",
            ));
        }
        all.extend(places_in(&body.name, host, "bound", rest, solids)?);
    }
    if all.is_empty() {
        return Ok(());
    }
    if let Err(error) = solids.solid.embed(&all) {
        let particle = match error {
            EmbedError::Twice(particle) | EmbedError::Circle(particle) => particle,
        };
        let (name, _) = solids.name_of_particle(particle as usize);
        return Err(BuildError::Elastic {
            name: name.to_owned(),
            reason: "`elastic.embed` leads in a circle: of bodies that lie in each other one must be free"
                .into(),
        });
    }
    surface.retain(|face| !face.iter().any(|&node| solids.solid.is_embedded(node as usize)));
    Ok(())
}

/// The particles of the body `name` that move and lie in elements of the body `host`, with the corners of these and the weights; `how` they are bound, for messages.
fn places_in<const D: usize>(
    name: &str,
    host: &str,
    how: &str,
    rest: &[f64],
    solids: &Solids<D>,
) -> Result<Vec<Embedding>, BuildError>
where
    Dim<D>: Space<D>,
{
    let wrong = |reason: String| BuildError::Elastic { name: name.to_owned(), reason };
    let corners = D + 1;
    let mut elements: Vec<u32> = Vec::new();
    for target in solids.bodies.iter().filter(|target| is_copy_of(&target.name, host)) {
        if target.elements.len() != corners * target.count() {
            return Err(wrong(format!(
                "it is {how} to `{host}`, which has no elements with an inside; expected tetrahedra (triangles in the plane)",
            )));
        }
        elements.extend(target.elements.iter().map(|node| node + target.particles.start as u32));
    }
    let at = |node: u32| Vector::<D>::from_column_slice(&rest[D * node as usize..][..D]);
    let corners_of = |element: u32| &elements[corners * element as usize..][..corners];
    let points_of = |element: u32| corners_of(element).iter().map(|&node| at(node)).collect::<Vec<_>>();
    let tree = Bvh::from_fn(elements.len() / corners, |element| Aabb::of_points(&points_of(element)));
    let mut places = Vec::new();
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
            places.push((particle as u32, corners_of(element).iter().copied().zip(weights).collect()));
        }
    }
    if places.is_empty() {
        return Err(wrong(format!("no particle of it that moves is inside `{host}`, to which it is {how}")));
    }
    Ok(places)
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
