//! What the kinds of elements have in common: groups of one material, flow, fibres and precision.

use super::material::{Group, groups};
use super::plasticity::{plasticity, set_goal};
use super::{Built, fibres, wrong};
use crate::build::BuildError;
use crate::description::{Deformable, Precision};
use splashdown_deformable::element::{Decompose, ElementError, Material, Shape};
use splashdown_deformable::material::{Lame, MaterialError};
use splashdown_deformable::{Elements, Force, Solid};
use splashdown_geometry::mesh::Mesh;
use splashdown_math::Vector;

/// Adds the elements `all` of a mesh, which fill their space and are made by `make`, group after group of one material.
#[expect(clippy::too_many_arguments, reason = "what the kinds of elements have in common")]
pub(super) fn add_filling<const D: usize, const M: usize, const N: usize>(
    body: &Deformable,
    mesh: &Built<D>,
    all: &[[u32; N]],
    first: u32,
    material: Material,
    make: impl Fn(&Mesh<D, N>, u32, Material) -> Result<Elements<D, D, M>, ElementError>,
    solid: &mut Solid<D>,
    mass: &mut [f64],
) -> Result<(), BuildError>
where
    Shape<D, D>: Decompose<D, D>,
    Elements<D, D, M>: Force<D> + 'static,
    Elements<D, D, M, f32>: Force<D> + 'static,
{
    check_whole(body, || {
        let whole = Mesh { points: mesh.points.clone(), elements: all.to_vec() };
        make(&whole, first, material).map(|_| ())
    })?;
    for Group { material, elements, lame } in groups(body, mesh, all, &material, Lame::new)? {
        let part = Mesh { points: mesh.points.clone(), elements };
        let elements = make(&part, first, material).map_err(|error| wrong(&body.name, error))?;
        let within = |field: &Field<D>| middles(&part).map(|middle| field(&middle)).collect();
        add_set(body, mesh, first, elements, lame, within, solid, mass)?;
    }
    Ok(())
}

/// Checks the whole mesh of a body that has regions, so that the numbers of elements in messages are those of its file.
pub(super) fn check_whole(
    body: &Deformable,
    build: impl FnOnce() -> Result<(), ElementError>,
) -> Result<(), BuildError> {
    if body.elastic.regions.is_empty() {
        return Ok(());
    }
    build().map_err(|error| wrong(&body.name, error))
}

/// Directions at places of a rest shape (m).
pub(super) type Field<'a, const D: usize> = dyn Fn(&Vector<D>) -> Vector<D> + 'a;

/// The middles of all elements.
fn middles<const D: usize, const N: usize>(mesh: &Mesh<D, N>) -> impl Iterator<Item = Vector<D>> {
    let middle =
        |nodes: &[u32; N]| nodes.iter().map(|&node| mesh.points[node as usize]).sum::<Vector<D>>() / N as f64;
    mesh.elements.iter().map(middle)
}

/// Adds a set of elements with all that its body says of them; `within` are the directions of a field in the axes of each element.
#[expect(clippy::too_many_arguments, reason = "what the kinds of elements have in common")]
pub(super) fn add_set<const D: usize, const C: usize, const M: usize>(
    body: &Deformable,
    mesh: &Built<D>,
    first: u32,
    mut elements: Elements<D, C, M>,
    lame: Option<Vec<Lame>>,
    within: impl Fn(&Field<D>) -> Vec<Vector<C>>,
    solid: &mut Solid<D>,
    mass: &mut [f64],
) -> Result<(), BuildError>
where
    Shape<D, C>: Decompose<D, C>,
    Elements<D, C, M>: Force<D> + 'static,
    Elements<D, C, M, f32>: Force<D> + 'static,
{
    let failed = |error: MaterialError| wrong(&body.name, error);
    if let Some(lame) = lame {
        elements.set_lame(lame);
    }
    if let Some(plastic) = &body.elastic.plastic {
        elements.set_plasticity(plasticity(plastic)).map_err(failed)?;
        set_goal(&body.name, plastic, &mesh.points, first, |goal| elements.set_goal(goal))?;
    }
    for own in &body.elastic.fibre {
        let directions = fibres::directions(&body.name, own, mesh.offset, &within)?;
        elements.add_fibres(fibres::fibre(own), directions).map_err(failed)?;
    }
    elements.add_masses(mass);
    add_with_precision(body, elements, solid);
    Ok(())
}

/// Adds elements in the precision that the body asks for.
fn add_with_precision<const D: usize, const C: usize, const M: usize>(
    body: &Deformable,
    elements: Elements<D, C, M>,
    solid: &mut Solid<D>,
) where
    Elements<D, C, M>: Force<D> + 'static,
    Elements<D, C, M, f32>: Force<D> + 'static,
{
    match body.elastic.precision {
        Precision::Double => solid.add(elements),
        Precision::Single => solid.add(elements.into_single()),
    }
}
