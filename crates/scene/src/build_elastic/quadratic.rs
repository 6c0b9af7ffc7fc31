//! Quadratic tetrahedra: points in the middles of edges.

use super::{Built, wrong};
use crate::build::BuildError;
use splashdown_couple::SolidElement;
use splashdown_geometry::generate::subdivide;
use splashdown_geometry::mesh::Mesh;
use std::collections::HashMap;

/// The mesh with the middles of its edges as points of quadratic tetrahedra.
pub(super) fn quadratic<const D: usize>(name: &str, mesh: &Built<D>) -> Result<Built<D>, BuildError> {
    if mesh.element != SolidElement::Tetrahedron || D != 3 {
        return Err(wrong(name, "`elastic.quadratic` needs tetrahedra"));
    }
    let whole: Mesh<D, 4> =
        Mesh { points: mesh.points.clone(), elements: mesh.elements.as_chunks::<4>().0.to_vec() };
    let finer = subdivide::<D, 4, 3>(&whole, 2).map_err(|error| wrong(name, error))?;
    // A point of the finer mesh is a corner, or half way between two; corners keep their numbers, the others follow.
    let mut points = whole.points.clone();
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut renumbered = Vec::with_capacity(finer.origins.len());
    for ([(a, weight), (b, _), ..], x) in finer.origins.iter().zip(&finer.mesh.points) {
        renumbered.push(if *weight == 2 {
            *a
        } else {
            points.push(*x);
            *middles.entry([*a, *b]).or_insert(points.len() as u32 - 1)
        });
    }
    let between = |a: u32, b: u32| middles[&[a.min(b), a.max(b)]];
    let ten = |&[a, b, c, d]: &[u32; 4]| {
        let pairs = [[a, b], [b, c], [a, c], [a, d], [b, d], [c, d]];
        let [ab, bc, ac, ad, bd, cd] = pairs.map(|[a, b]| between(a, b));
        [a, b, c, d, ab, bc, ac, ad, bd, cd]
    };
    let halves = |[a, b, c]: [u32; 3]| {
        let [ab, bc, ca] = [between(a, b), between(b, c), between(c, a)];
        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    };
    Ok(Built {
        quadratic: whole.elements.iter().map(ten).collect(),
        surface: (mesh.surface.iter())
            .flat_map(|face| halves(std::array::from_fn(|i| face[i])))
            .map(|face| std::array::from_fn(|i| face[i]))
            .collect(),
        elements: finer.mesh.elements.iter().flatten().map(|&point| renumbered[point as usize]).collect(),
        points,
        offset: mesh.offset,
        element: mesh.element,
    })
}
