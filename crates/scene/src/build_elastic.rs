//! Builds bodies of finite elements from their description.

use crate::build::BuildError;
use crate::build_layers::{Recorded, add_layers, add_recorded, read_recorded};
use crate::description::*;
use splashdown_couple::fluid_structure::MOST_RINGS;
use splashdown_couple::{Binding, DampingKeeps, ScheduledLoad, SolidBody, SolidElement, Solids, World};
use splashdown_deformable::collide::{Colliders, CollisionMethod, Layer};
use splashdown_deformable::contact::{BarrierOptions, ContactSurface, SelfContact, SelfContactOptions};
use splashdown_deformable::element::{
    Damping, DampingKind, Decompose, ElementError, Material, Shape, membrane_directions,
};
use splashdown_deformable::incompressible::{
    Incompressible, IncompressibleOptions, PairTreatment, PressureSolver, Rings,
};
use splashdown_deformable::integrate::{ConstraintForm, ImplicitScheme, Motion, Scheme};
use splashdown_deformable::material::{
    Extension, ExtensionKind, Fibre, Lame, Law, MaterialError, Model, MuscleCurve, Plasticity, SplineBranch,
    Yield,
};
use splashdown_deformable::{
    AltitudeSprings, Altitudes, Bending, BendingModel, BendingPlasticity, EdgeSpring, EdgeSprings, Elements,
    Force, Load, Solid, SpringPlasticity, bending_pairs,
};
use splashdown_geometry::generate::{
    CubeSplit, Diagonals, bag_triangles, ball_tetrahedra, box_hexahedra, box_tetrahedra, disc_triangles,
    fill_surface, sheet, subdivide, torus_tetrahedra,
};
use splashdown_geometry::mesh::{
    Corners, HexahedronMesh, Mesh, MeshError, SurfaceMesh, TetrahedronMesh, TriangleMesh,
};
use splashdown_math::{Dim, Space, Vector};
use std::collections::HashMap;
use std::ops::Range;

/// A mesh with everything that depends on its kind of element.
pub(crate) struct Built<const D: usize> {
    points: Vec<Vector<D>>,
    /// How far this copy stands from where the scene describes the body (m).
    offset: Vector<D>,
    element: SolidElement,
    elements: Vec<u32>,
    /// Ten points of each quadratic tetrahedron; `elements` are then the eight that each is cut into, for pictures and whatever else has flat faces.
    quadratic: Vec<[u32; 10]>,
    /// Triangles in 3D, segments in 2D, that touch other things.
    surface: Vec<[u32; D]>,
}

/// What differs between the dimensions: which meshes there are and what elements they make.
pub(crate) trait ElasticSpace<const D: usize>: Space<D> + crate::from_files::FromFiles<D> {
    /// The mesh of a geometry.
    fn mesh(name: &str, geometry: &Geometry) -> Result<Built<D>, BuildError>;
    /// Adds the elements of a mesh to the solid and their masses to `mass`.
    fn add_elements(
        body: &Deformable,
        mesh: &Built<D>,
        first: u32,
        material: Material,
        solid: &mut Solid<D>,
        mass: &mut [f64],
    ) -> Result<(), BuildError>;
    /// The files of a surface whose motion is known.
    fn recorded(name: &str, own: &RecordedGeometry) -> Result<Recorded<D>, BuildError>;
    /// A closed surface as a layer under the particles `above`.
    fn layer(
        name: &str,
        faces: &[[u32; D]],
        rest: &[f64],
        above: Vec<Range<u32>>,
        friction: f64,
    ) -> Result<Layer<D>, MeshError>;
}

pub(crate) fn wrong(name: &str, what: impl std::fmt::Display) -> BuildError {
    BuildError::Elastic { name: name.into(), reason: what.to_string() }
}

pub(crate) fn point<const D: usize>(name: &str, values: &[f64]) -> Result<Vector<D>, BuildError> {
    if values.len() == D {
        Ok(Vector::from_column_slice(values))
    } else {
        Err(wrong(name, format!("expected {D} components, found {}", values.len())))
    }
}

fn plasticity(plastic: &PlasticDescription) -> Plasticity {
    let limit = plastic.limit;
    let criterion = if plastic.volume { Yield::Full { limit } } else { Yield::Deviatoric { limit } };
    Plasticity { criterion, limit: plastic.limit_stretch }
}

fn boundary<const D: usize>(surface: &SurfaceMesh<D>, nodes: &[u32]) -> Vec<[u32; D]> {
    surface.elements.iter().map(|face| face.map(|point| nodes[point as usize])).collect()
}

impl ElasticSpace<2> for Dim<2> {
    fn recorded(name: &str, _: &RecordedGeometry) -> Result<Recorded<2>, BuildError> {
        Err(wrong(name, "this geometry exists in three dimensions only"))
    }

    fn layer(
        name: &str,
        faces: &[[u32; 2]],
        rest: &[f64],
        above: Vec<Range<u32>>,
        friction: f64,
    ) -> Result<Layer<2>, MeshError> {
        Layer::of_particles(name, faces, rest, above, friction)
    }

    fn mesh(name: &str, geometry: &Geometry) -> Result<Built<2>, BuildError> {
        let failed = |error: splashdown_geometry::generate::GenerateError| wrong(name, error);
        let mesh: TriangleMesh<2> = match geometry {
            Geometry::Box(own) => {
                let (from, size) = (point::<2>(name, &own.from)?, point::<2>(name, &own.size)?);
                let cells = [own.cells[0] as usize, own.cells[1] as usize];
                let (u, v) = (Vector::<2>::new(size[0], 0.0), Vector::<2>::new(0.0, size[1]));
                sheet(from, u, v, cells, Diagonals::Alternating).map_err(failed)?
            }
            Geometry::Sheet(own) => {
                let cells = [own.cells[0] as usize, own.cells[1] as usize];
                let (u, v) = (point::<2>(name, &own.u)?, point::<2>(name, &own.v)?);
                sheet(point::<2>(name, &own.corner)?, u, v, cells, Diagonals::Alternating).map_err(failed)?
            }
            Geometry::Ball(own) => {
                disc_triangles(point::<2>(name, &own.centre)?, own.radius, own.cells as usize)
                    .map_err(failed)?
            }
            _ => return Err(wrong(name, "this geometry exists in three dimensions only")),
        };
        let around = mesh.boundary().map_err(|error| wrong(name, error))?;
        Ok(Built {
            surface: boundary(&around.mesh, &around.points),
            elements: mesh.elements.iter().flatten().copied().collect(),
            quadratic: Vec::new(),
            offset: Vector::zeros(),
            points: mesh.points,
            element: SolidElement::Triangle,
        })
    }

    fn add_elements(
        body: &Deformable,
        mesh: &Built<2>,
        first: u32,
        material: Material,
        solid: &mut Solid<2>,
        mass: &mut [f64],
    ) -> Result<(), BuildError> {
        let failed = |error: ElementError| wrong(&body.name, error);
        if body.elastic.facing.is_some() {
            return Err(wrong(&body.name, "`facing` is for sheets in space"));
        }
        let all = mesh.elements.as_chunks::<3>().0;
        check_whole(body, || {
            let whole = TriangleMesh { points: mesh.points.clone(), elements: all.to_vec() };
            Elements::triangles(&whole, first, material).map(|_| ())
        })?;
        for Group { material, elements, lame } in groups(body, mesh, all, &material, Lame::new)? {
            let part = TriangleMesh { points: mesh.points.clone(), elements };
            let elements = Elements::triangles(&part, first, material).map_err(failed)?;
            let within = |field: &Field<2>| middles(&part).map(|middle| field(&middle)).collect();
            add_set(body, mesh, first, elements, lame, within, solid, mass)?;
        }
        Ok(())
    }
}

impl ElasticSpace<3> for Dim<3> {
    fn recorded(name: &str, own: &RecordedGeometry) -> Result<Recorded<3>, BuildError> {
        read_recorded(name, own)
    }

    fn layer(
        name: &str,
        faces: &[[u32; 3]],
        rest: &[f64],
        above: Vec<Range<u32>>,
        friction: f64,
    ) -> Result<Layer<3>, MeshError> {
        Layer::of_particles(name, faces, rest, above, friction)
    }

    fn mesh(name: &str, geometry: &Geometry) -> Result<Built<3>, BuildError> {
        let failed = |error: splashdown_geometry::generate::GenerateError| wrong(name, error);
        let tetrahedra = |mesh: TetrahedronMesh| {
            mesh.check_distinct_elements().map_err(|error| wrong(name, error))?;
            let around = mesh.boundary().map_err(|error| wrong(name, error))?;
            Ok(Built {
                surface: boundary(&around.mesh, &around.points),
                elements: mesh.elements.iter().flatten().copied().collect(),
                quadratic: Vec::new(),
                offset: Vector::zeros(),
                points: mesh.points,
                element: SolidElement::Tetrahedron,
            })
        };
        let hexahedra = |mesh: HexahedronMesh| {
            let around = mesh.boundary().map_err(|error| wrong(name, error))?;
            Ok(Built {
                surface: boundary(&around.mesh, &around.points),
                elements: mesh.elements.iter().flatten().copied().collect(),
                quadratic: Vec::new(),
                offset: Vector::zeros(),
                points: mesh.points,
                element: SolidElement::Hexahedron,
            })
        };
        let cloth = |mesh: TriangleMesh<3>| Built {
            surface: mesh.elements.clone(),
            elements: mesh.elements.iter().flatten().copied().collect(),
            quadratic: Vec::new(),
            offset: Vector::zeros(),
            points: mesh.points,
            element: SolidElement::Triangle,
        };
        match geometry {
            Geometry::Box(own) => {
                let (from, size) = (point::<3>(name, &own.from)?, point::<3>(name, &own.size)?);
                let cells = [own.cells[0] as usize, own.cells[1] as usize, own.cells[2] as usize];
                if own.hexahedra {
                    return hexahedra(box_hexahedra(from, from + size, cells).map_err(failed)?);
                }
                tetrahedra(box_tetrahedra(from, from + size, cells, CubeSplit::Five).map_err(failed)?)
            }
            Geometry::Sheet(own) => {
                let cells = [own.cells[0] as usize, own.cells[1] as usize];
                let (u, v) = (point::<3>(name, &own.u)?, point::<3>(name, &own.v)?);
                let mesh = sheet(point::<3>(name, &own.corner)?, u, v, cells, Diagonals::Alternating)
                    .map_err(failed)?;
                Ok(cloth(mesh))
            }
            Geometry::Ball(own) => {
                let centre = point::<3>(name, &own.centre)?;
                tetrahedra(ball_tetrahedra(centre, own.radius, own.cells as usize).map_err(failed)?)
            }
            Geometry::Torus(own) => {
                let centre = point::<3>(name, &own.centre)?;
                let mut mesh = torus_tetrahedra(
                    Vector::zeros(),
                    own.ring,
                    own.tube,
                    own.cells as usize,
                    own.around as usize,
                )
                .map_err(failed)?;
                // The generator's axis is z; a cyclic change of axes keeps the orientation.
                for point in &mut mesh.points {
                    *point = Vector::<3>::new(point[1], point[2], point[0]) + centre;
                }
                tetrahedra(mesh)
            }
            Geometry::Bag(own) => {
                let centre = point::<3>(name, &own.centre)?;
                let mut mesh = bag_triangles(Vector::zeros(), own.radius, own.mouth, own.cells as usize)
                    .map_err(failed)?;
                let turn = if own.upside_down { -1.0 } else { 1.0 };
                for point in &mut mesh.points {
                    *point = Vector::<3>::new(point[0], turn * point[1], turn * point[2]) + centre;
                }
                Ok(cloth(mesh))
            }
            Geometry::File(own) => {
                let offset =
                    own.offset.as_deref().map_or(Ok(Vector::zeros()), |offset| point::<3>(name, offset))?;
                let mut loaded =
                    splashdown_geometry::io::read_mesh(&own.path).map_err(|error| wrong(name, error))?;
                for point in &mut loaded.points {
                    *point = *point * own.scale + offset;
                }
                let weld = own.weld;
                if let Some(cell) = own.fill {
                    if own.surface {
                        return Err(wrong(
                            name,
                            "`fill` makes an inside, which `surface` leaves out; give one of them",
                        ));
                    }
                    let mesh = loaded.into_triangles::<3>().map_err(|error| wrong(name, error))?;
                    let filled = fill_surface::<3, 4>(&welded(name, mesh, weld)?, cell);
                    return tetrahedra(filled.map_err(|error| wrong(name, error))?.mesh);
                }
                if own.surface {
                    let mesh = loaded.into_triangles::<3>().map_err(|error| wrong(name, error))?;
                    return Ok(cloth(welded(name, mesh, weld)?));
                }
                match (loaded.tetrahedra.len(), loaded.hexahedra.len()) {
                    (1.., 1..) => Err(wrong(
                        name,
                        format!(
                            "{} has {}; a body is made of one kind, so put them into two files and bodies",
                            own.path,
                            loaded.contents()
                        ),
                    )),
                    (0, 1..) => {
                        let mesh = loaded.into_hexahedra().map_err(|error| wrong(name, error))?;
                        hexahedra(welded(name, mesh, weld)?)
                    }
                    _ => {
                        let mesh = loaded.into_tetrahedra().map_err(|error| wrong(name, error))?;
                        tetrahedra(welded(name, mesh, weld)?)
                    }
                }
            }
            Geometry::Chain(_) | Geometry::Recorded(_) => {
                Err(wrong(name, "this geometry has no elements; leave out `material`"))
            }
        }
    }

    fn add_elements(
        body: &Deformable,
        mesh: &Built<3>,
        first: u32,
        material: Material,
        solid: &mut Solid<3>,
        mass: &mut [f64],
    ) -> Result<(), BuildError> {
        let failed = |error: ElementError| wrong(&body.name, error);
        let elastic = &body.elastic;
        if elastic.facing.is_some() && mesh.element != SolidElement::Triangle {
            return Err(wrong(&body.name, "`facing` is for sheets; this body has an inside"));
        }
        match mesh.element {
            SolidElement::Triangle => {
                let triangles = TriangleMesh {
                    points: mesh.points.clone(),
                    elements: mesh.elements.as_chunks::<3>().0.to_vec(),
                };
                let thickness = elastic.thickness.unwrap_or(1e-3);
                check_whole(body, || Elements::membrane(&triangles, first, thickness, material).map(|_| ()))?;
                let parts = groups(body, mesh, &triangles.elements, &material, Lame::plane_stress)?;
                for Group { material, elements, lame } in parts {
                    let part = TriangleMesh { points: mesh.points.clone(), elements };
                    let mut elements =
                        Elements::membrane(&part, first, thickness, material).map_err(failed)?;
                    if let Some(facing) = &elastic.facing {
                        let direction = point::<3>(&body.name, facing)?;
                        if !(direction.norm() > 0.0) {
                            return Err(wrong(&body.name, "`facing` has no direction"));
                        }
                        elements.set_facing(vec![direction; elements.len()]);
                    }
                    let within = |field: &Field<3>| membrane_directions(&part, field);
                    add_set(body, mesh, first, elements, lame, within, solid, mass)?;
                }
                if let Some(own) = &elastic.bending {
                    let model = match own.model {
                        BendingLaw::Angle => BendingModel::DiscreteShells,
                        BendingLaw::SineOfHalfAngle => BendingModel::SineHalfAngle,
                    };
                    let mut bending = Bending::new(&triangles, first, model, own.stiffness, own.damping);
                    if let Some(angle) = own.yield_angle {
                        let yield_angle = angle.to_radians();
                        bending = bending
                            .with_plasticity(BendingPlasticity { yield_angle, hardening: own.hardening });
                    }
                    if let Some(angle) = own.rest_angle {
                        let count = bending.rest_angles().len();
                        bending.set_rest_angles(&vec![angle.to_radians(); count]);
                    }
                    solid.add(bending);
                }
            }
            SolidElement::Hexahedron => {
                let all = mesh.elements.as_chunks::<8>().0;
                check_whole(body, || {
                    let whole = HexahedronMesh { points: mesh.points.clone(), elements: all.to_vec() };
                    Elements::hexahedra(&whole, first, material).map(|_| ())
                })?;
                for Group { material, elements, lame } in groups(body, mesh, all, &material, Lame::new)? {
                    let part = HexahedronMesh { points: mesh.points.clone(), elements };
                    let elements = Elements::hexahedra(&part, first, material).map_err(failed)?;
                    let within = |field: &Field<3>| middles(&part).map(|middle| field(&middle)).collect();
                    add_set(body, mesh, first, elements, lame, within, solid, mass)?;
                }
            }
            _ if !mesh.quadratic.is_empty() => {
                let all = &mesh.quadratic;
                check_whole(body, || {
                    let whole = Mesh { points: mesh.points.clone(), elements: all.clone() };
                    Elements::quadratic_tetrahedra(&whole, first, material).map(|_| ())
                })?;
                for Group { material, elements, lame } in groups(body, mesh, all, &material, Lame::new)? {
                    let part = Mesh { points: mesh.points.clone(), elements };
                    let elements = Elements::quadratic_tetrahedra(&part, first, material).map_err(failed)?;
                    let within = |field: &Field<3>| middles(&part).map(|middle| field(&middle)).collect();
                    add_set(body, mesh, first, elements, lame, within, solid, mass)?;
                }
            }
            _ => {
                let all = mesh.elements.as_chunks::<4>().0;
                check_whole(body, || {
                    let whole = TetrahedronMesh { points: mesh.points.clone(), elements: all.to_vec() };
                    Elements::tetrahedra(&whole, first, material).map(|_| ())
                })?;
                for Group { material, elements, lame } in groups(body, mesh, all, &material, Lame::new)? {
                    let part = TetrahedronMesh { points: mesh.points.clone(), elements };
                    let elements = Elements::tetrahedra(&part, first, material).map_err(failed)?;
                    let within = |field: &Field<3>| middles(&part).map(|middle| field(&middle)).collect();
                    add_set(body, mesh, first, elements, lame, within, solid, mass)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks the whole mesh of a body that has regions, so that the numbers of elements in messages are those of its file.
fn check_whole(
    body: &Deformable,
    build: impl FnOnce() -> Result<(), ElementError>,
) -> Result<(), BuildError> {
    if body.elastic.regions.is_empty() {
        return Ok(());
    }
    build().map_err(|error| wrong(&body.name, error))
}

/// Joins the points of a mesh that are no farther apart than `distance` (m): files of separate triangles, and meshes that were glued together, would fall apart.
fn welded<const N: usize>(name: &str, mesh: Mesh<3, N>, distance: f64) -> Result<Mesh<3, N>, BuildError>
where
    Corners<N>: splashdown_geometry::mesh::Element<N>,
{
    let welded = mesh.weld(distance).map_err(|error| wrong(name, error))?;
    match welded.collapsed.first() {
        None => Ok(welded.mesh),
        Some(element) => Err(wrong(
            name,
            format!(
                "element {element} of its mesh has two corners at the same place (within `weld` = {distance} m)"
            ),
        )),
    }
}

/// Directions at places of a rest shape (m).
type Field<'a, const D: usize> = dyn Fn(&Vector<D>) -> Vector<D> + 'a;

/// The middles of all elements.
fn middles<const D: usize, const N: usize>(mesh: &Mesh<D, N>) -> impl Iterator<Item = Vector<D>> {
    let middle =
        |nodes: &[u32; N]| nodes.iter().map(|&node| mesh.points[node as usize]).sum::<Vector<D>>() / N as f64;
    mesh.elements.iter().map(middle)
}

/// Adds a set of elements with all that its body says of them; `within` are the directions of a field in the axes of each element.
#[expect(clippy::too_many_arguments, reason = "what the kinds of elements have in common")]
fn add_set<const D: usize, const C: usize, const M: usize>(
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
    let offset = mesh.offset;
    if let Some(lame) = lame {
        elements.set_lame(lame);
    }
    if let Some(plastic) = &body.elastic.plastic {
        elements.set_plasticity(plasticity(plastic)).map_err(failed)?;
        set_goal(&body.name, plastic, &mesh.points, first, |goal| elements.set_goal(goal))?;
    }
    for own in &body.elastic.fibre {
        let curve = MuscleCurve {
            maximum: own.tension,
            passive_scale: own.passive.scale,
            passive_exponent: own.passive.exponent,
            passive_limit: own.passive.limit,
        };
        let fibre = Fibre { curve, activation: own.activation, density: own.density, ..Fibre::muscle() };
        let direction = match (&own.direction, &own.fusiform) {
            (Some(direction), None) => {
                let direction = point::<D>(&body.name, direction)?;
                within(&|_| direction)
            }
            (None, Some(ends)) => {
                // A copy of a repeated body has ends of its own.
                let from = point::<D>(&body.name, &ends.from)? + offset;
                let to = point::<D>(&body.name, &ends.to)? + offset;
                within(&|x| meridian(&from, &to, x))
            }
            _ => return Err(wrong(&body.name, "fibres need either `direction` or `fusiform`")),
        };
        elements.add_fibres(fibre, direction).map_err(failed)?;
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

/// Elements of one material.
struct Group<const N: usize> {
    material: Material,
    elements: Vec<[u32; N]>,
    /// Lamé parameters of each, if they differ.
    lame: Option<Vec<Lame>>,
}

/// The elements of a body by their materials: those of regions with a model, a density or a damping of their own are groups of their own.
fn groups<const D: usize, const N: usize>(
    body: &Deformable,
    mesh: &Built<D>,
    elements: &[[u32; N]],
    material: &Material,
    lame: impl Fn(f64, f64) -> Result<Lame, MaterialError>,
) -> Result<Vec<Group<N>>, BuildError> {
    let (name, list) = (body.name.as_str(), &body.elastic.regions);
    let mut all = vec![Group { material: *material, elements: Vec::new(), lame: None }];
    if list.is_empty() {
        all[0].elements = elements.to_vec();
        return Ok(all);
    }
    let mut boxes = Vec::new();
    for region in list {
        let (from, to) = (point::<D>(name, &region.from)?, point::<D>(name, &region.to)?);
        let given = body.material.as_ref();
        let poisson = region.poisson.or(given.map(|own| own.poisson)).unwrap_or_default();
        let lame = lame(region.young, poisson).map_err(|error| wrong(name, error))?;
        let mut group = 0;
        if region.model.is_some() || region.density.is_some() || region.damping.is_some() {
            if region.density.is_some() && body.mass.is_some() {
                let reason = "a region with a `density` needs a body with a `density`, not with a `mass`";
                return Err(wrong(name, reason));
            }
            let mut own = *material;
            if let (Some(model), Some(given)) = (region.model, given) {
                own.law = law(&ElasticMaterial { model, ..given.clone() });
            }
            own.density = region.density.unwrap_or(own.density);
            own.damping.time = region.damping.unwrap_or(own.damping.time);
            own.lame = lame;
            group = all.len();
            all.push(Group { material: own, elements: Vec::new(), lame: None });
        }
        boxes.push((from, to, lame, group));
    }
    for nodes in elements {
        let middle: Vector<D> =
            nodes.iter().map(|&node| mesh.points[node as usize]).sum::<Vector<D>>() / N as f64;
        let within = |(from, to, ..): &&(Vector<D>, Vector<D>, Lame, usize)| {
            (0..D).all(|axis| middle[axis] >= from[axis] && middle[axis] <= to[axis])
        };
        let (lame, group) =
            boxes.iter().rev().find(within).map_or((material.lame, 0), |(.., lame, group)| (*lame, *group));
        all[group].elements.push(*nodes);
        all[group].lame.get_or_insert_default().push(lame);
    }
    all.retain(|group| !group.elements.is_empty());
    Ok(all)
}

/// The mesh with the middles of its edges as points of quadratic tetrahedra.
fn quadratic<const D: usize>(name: &str, mesh: &Built<D>) -> Result<Built<D>, BuildError> {
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

/// Direction at `x` of the meridians `r = c (1 - s^2)` of a spindle, with `s` from -1 to 1 between its ends; beyond them along the axis.
fn meridian<const D: usize>(from: &Vector<D>, to: &Vector<D>, x: &Vector<D>) -> Vector<D> {
    let half = (to - from) * 0.5;
    let away = x - (from + to) * 0.5;
    let s = away.dot(&half) / half.norm_squared();
    let across = away - half * s;
    if s.abs() >= 1.0 {
        return half;
    }
    // dx/ds, with dr/ds = -2 c s; near the ends the fibres are as steep as those of a spindle as thick as it is long.
    let slope = across * (-2.0 * s / (1.0 - s * s));
    half + slope * (2.0 * half.norm() / slope.norm().max(f64::MIN_POSITIVE)).min(1.0)
}

/// Hands the positions of a plastic goal, if there is one, to `set`.
fn set_goal<const D: usize>(
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

fn law(own: &ElasticMaterial) -> Law {
    let model = match own.model {
        ElasticModel::Linear => Model::Linear,
        ElasticModel::RotatedLinear => Model::RotatedLinear,
        ElasticModel::StVenantKirchhoff => Model::StVenantKirchhoff,
        ElasticModel::NeoHookean => Model::NeoHookean,
        ElasticModel::FixedCorotated => Model::FixedCorotated,
        ElasticModel::CompressibleFlow => Model::CompressibleFlow,
        ElasticModel::MooneyRivlin => Model::MooneyRivlin { second: own.second_invariant.unwrap_or(0.25) },
        ElasticModel::Spline => {
            let branch = |own: Hardening| SplineBranch { threshold: own.strain, hardening: own.factor };
            let SplineHardening { compression, extension } = own.spline.unwrap_or_default();
            Model::Spline { compression: branch(compression), extension: branch(extension) }
        }
    };
    let safe = Law::safe(model).extension;
    let kind = match own.inversion {
        None => safe.kind,
        Some(inversion) => match inversion {
            Inversion::None => ExtensionKind::None,
            Inversion::Constant { stretch } => ExtensionKind::Constant { stretch },
            Inversion::LinearStretch { stretch } => ExtensionKind::LinearStretch { stretch },
            Inversion::LinearDet { volume } => ExtensionKind::LinearDet { volume },
            Inversion::Energy { stretch, stiffness } => ExtensionKind::Energy { stretch, stiffness },
        },
    };
    let extension =
        Extension { kind, positive_slope: own.positive_slope, largest_stretch: own.largest_stretch };
    Law { model, extension }
}

/// Why soft bodies and the fluid of this scene cannot push each other, if they cannot.
pub(crate) fn unfit_for_fluid(scene: &Scene) -> Option<&'static str> {
    let coupled = scene.fluid.as_ref().is_some_and(|fluid| fluid.coupling != FluidCoupling::Word(false));
    let at_once = matches!(
        scene.elastic.integrator,
        ElasticIntegrator::BackwardEuler
            | ElasticIntegrator::AverageAcceleration
            | ElasticIntegrator::Quasistatic
            | ElasticIntegrator::TwoPass
    );
    let elements = scene.deformable.iter().any(Deformable::has_elements);
    (coupled && at_once && elements).then_some(
        "fluids and soft bodies that push each other need one of the integrators \"linearly_implicit\", \"scheme_a\", \"scheme_b\", \"scheme_c\" and \"newmark\" (or `coupling = false` in `[fluid]`, and neither knows of the other)",
    )
}

/// Adds all bodies with a material to the world.
pub(crate) fn add_elastic<const D: usize>(world: &mut World<D>, scene: &Scene) -> Result<(), BuildError>
where
    Dim<D>: ElasticSpace<D>,
{
    let bodies: Vec<&Deformable> = scene.deformable.iter().filter(|body| body.has_elements()).collect();
    if bodies.is_empty() {
        return Ok(());
    }
    let step = &scene.elastic;
    let scheme = match step.integrator {
        ElasticIntegrator::SchemeA => Scheme::A,
        ElasticIntegrator::SchemeB => Scheme::B,
        ElasticIntegrator::SchemeC => Scheme::C,
        ElasticIntegrator::Newmark => Scheme::Newmark,
        ElasticIntegrator::LinearlyImplicit => Scheme::LinearlyImplicit,
        ElasticIntegrator::BackwardEuler => Scheme::Implicit(ImplicitScheme::BackwardEuler),
        ElasticIntegrator::AverageAcceleration => Scheme::Implicit(ImplicitScheme::AverageAcceleration),
        ElasticIntegrator::Quasistatic => Scheme::Implicit(ImplicitScheme::Quasistatic),
        ElasticIntegrator::TwoPass => Scheme::TwoPass,
    };
    if let Some(reason) = unfit_for_fluid(scene) {
        return Err(wrong("elastic", reason));
    }
    let mut solids = Solids::<D>::new(world.model().gravity, scheme);
    solids.integrator.implicit.max_iterations = step.newton_iterations as usize;
    solids.integrator.implicit.tolerance = step.tolerance;
    solids.safety = step.safety;
    if let Some(tolerance) = step.solve_tolerance {
        solids.integrator.tolerance = tolerance;
    }
    // They come after the forces of all bodies, whose strengths are not theirs.
    let mut loads: Vec<(Load<D>, Vec<[f64; 2]>)> = Vec::new();
    let mut surface: Vec<[u32; D]> = Vec::new();
    let (mut rest, mut position, mut velocity) = (Vec::new(), Vec::new(), Vec::new());
    // Elements that keep their volume.
    let mut constant: Vec<u32> = Vec::new();
    let mut corners_of_rings = None;
    for body in bodies {
        let name = body.name.as_str();
        if let Geometry::Recorded(own) = &body.geometry {
            let start = (&mut rest, &mut position, &mut velocity);
            add_recorded(body, own, &mut solids, start, &mut surface)?;
            continue;
        }
        let Some(own) = &body.material else { continue };
        let is_sheet = D == 3
            && matches!(
                &body.geometry,
                Geometry::Sheet(_) | Geometry::Bag(_) | Geometry::File(FileGeometry { surface: true, .. })
            );
        let lame = if is_sheet {
            Lame::plane_stress(own.young, own.poisson)
        } else {
            Lame::new(own.young, own.poisson)
        };
        let kind = match own.damping_kind {
            ElasticDamping::Linear => DampingKind::Linear,
            ElasticDamping::Conserving => DampingKind::Conserving,
            ElasticDamping::Blend => DampingKind::Blend,
            ElasticDamping::Stiffness => DampingKind::Stiffness,
        };
        let mut mesh = <Dim<D> as ElasticSpace<D>>::mesh(name, &body.geometry)?;
        if body.elastic.quadratic {
            mesh = quadratic(name, &mesh)?;
        }
        let mut material = Material {
            law: law(own),
            lame: lame.map_err(|error| wrong(name, error))?,
            density: body.density.unwrap_or(1.0),
            damping: Damping { kind, time: own.damping },
        };
        if let Some(total) = body.mass {
            // Density from the mass: the volume is what unit density weighs.
            let mut trial = Solid::new(Vec::new(), Vec::new(), Vector::zeros());
            let mut mass = vec![0.0; mesh.points.len()];
            let unit = Material { density: 1.0, ..material };
            <Dim<D> as ElasticSpace<D>>::add_elements(body, &mesh, 0, unit, &mut trial, &mut mass)?;
            material.density = total / mass.iter().sum::<f64>();
        }
        let moving = body.velocity.as_deref().map_or(Ok(Vector::zeros()), |v| point::<D>(name, v))?;
        let stream = match scene.fluid.as_ref().filter(|_| body.elastic.adrift) {
            Some(fluid) => Some(crate::build_fluid::start_velocity::<D>(fluid)?),
            None => None,
        };
        for (copy, offset) in offsets::<D>(name, body.elastic.repeat.as_ref())?.into_iter().enumerate() {
            let placed = Built {
                points: mesh.points.iter().map(|x| x + offset).collect(),
                offset,
                element: mesh.element,
                elements: mesh.elements.clone(),
                quadratic: mesh.quadratic.clone(),
                surface: mesh.surface.clone(),
            };
            let count = placed.points.len();
            let mut pinned = vec![false; count];
            for &index in &body.pinned {
                if let Some(pin) = pinned.get_mut(index as usize) {
                    *pin = true;
                }
            }
            let first = solids.solid.len() as u32;
            crate::build_holds::add_holds(body, &placed.points, first, &mut pinned, &mut solids)?;
            let mut mass = vec![0.0; first as usize + count];
            let forces = solids.solid.forces().len();
            <Dim<D> as ElasticSpace<D>>::add_elements(
                body,
                &placed,
                first,
                material,
                &mut solids.solid,
                &mut mass,
            )?;
            if let Some(node) = mass[first as usize..].iter().position(|&mass| !(mass > 0.0)) {
                return Err(wrong(name, format!("point {node} of the mesh belongs to no element")));
            }
            solids.solid.add_particles(&mass[first as usize..], &pinned);
            for own in &body.elastic.load {
                loads.push((load(name, own, &placed.points, first, &mass)?, own.factor.clone()));
            }
            if let Some(springs) = &body.elastic.springs {
                add_springs(name, springs, &placed, first, &mut solids.solid)?;
            }
            surface.extend(placed.surface.iter().map(|face| face.map(|node| node + first)));
            let mut noise = Noise::new(body.elastic.disturb.as_ref().map_or(0, |disturb| disturb.seed));
            let amplitude = body.elastic.disturb.as_ref().map_or(0.0, |disturb| disturb.noise);
            for (x, &pinned) in placed.points.iter().zip(&pinned) {
                rest.extend(x.iter());
                position.extend(x.iter().map(|c| if pinned { *c } else { c + amplitude * noise.next() }));
                let moving = moving + stream.as_ref().map_or(Vector::zeros(), |stream| stream(x));
                velocity.extend(moving.iter().map(|v| if pinned { 0.0 } else { *v }));
            }
            let name =
                if body.elastic.repeat.is_some() { format!("{name}-{}", copy + 1) } else { name.to_owned() };
            if body.elastic.incompressible {
                if !matches!(placed.element, SolidElement::Tetrahedron | SolidElement::Triangle) {
                    return Err(wrong(&name, "`elastic.incompressible` needs tetrahedra or triangles"));
                }
                let corners = placed.element.corners();
                if *corners_of_rings.get_or_insert(corners) != corners {
                    let reason = "`elastic.incompressible` cannot be for sheets and for bodies of tetrahedra in one scene";
                    return Err(wrong(&name, reason));
                }
                constant.extend(placed.elements.iter().map(|node| node + first));
            }
            for carrier in &body.elastic.bind {
                let bound = bindings(world, carrier, first, &placed.points)?;
                if bound.is_empty() {
                    return Err(wrong(
                        &name,
                        format!("no particle is inside `{carrier}`, to which it is bound"),
                    ));
                }
                if !matches!(scheme, Scheme::B | Scheme::C) {
                    let reason =
                        "`elastic.bind` needs the integrator \"scheme_b\" or \"scheme_c\" in `[elastic]`";
                    return Err(wrong(&name, reason));
                }
                // A particle inside two bodies belongs to the first.
                let taken: std::collections::BTreeSet<u32> =
                    solids.bindings.iter().map(|binding| binding.particle).collect();
                solids.bindings.extend(bound.into_iter().filter(|own| !taken.contains(&own.particle)));
            }
            if body.elastic.one_way {
                solids.one_way.push(first as usize..first as usize + count);
            }
            solids.bodies.push(SolidBody {
                name,
                particles: first as usize..first as usize + count,
                element: placed.element,
                elements: placed.elements,
                rest: placed.points.iter().flat_map(|x| x.iter().copied()).collect(),
                forces: forces..solids.solid.forces().len(),
                strength: body.elastic.strength.clone(),
                activation: body.elastic.activation.clone(),
                families: body.elastic.fibre.iter().map(|family| family.schedule.clone()).collect(),
            });
        }
    }
    if let Some(rings) =
        Rings::new(corners_of_rings.unwrap_or(D + 1), &constant, &rest).filter(|rings| !rings.is_empty())
    {
        let VolumeStep { recovery_time, tolerance, contact_in_prediction, sweeps, monolithic, .. } =
            step.volume;
        if monolithic && !matches!(solids.integrator.scheme, Scheme::B | Scheme::C) {
            let reason = "`monolithic` needs the integrator \"scheme_b\" or \"scheme_c\" in `[elastic]`";
            return Err(wrong("[elastic.volume]", reason));
        }
        if monolithic && sweeps > 0 {
            let reason = "`sweeps` do not go with `monolithic`, where contacts are rows of the solve";
            return Err(wrong("[elastic.volume]", reason));
        }
        if step.self_contact.is_some() && matches!(scheme, Scheme::Implicit(_)) {
            let reason = "`self_contact` and `incompressible` bodies do not go together with a fully implicit integrator, which knows nothing of the volume until its step is done; \"two_pass\", \"scheme_b\" and \"scheme_c\" have both";
            let keeps = scene.deformable.iter().find(|body| body.elastic.incompressible);
            return Err(wrong(keeps.map_or("elastic", |body| &body.name), reason));
        }
        let coupled = scene.fluid.as_ref().is_some_and(|fluid| fluid.coupling != FluidCoupling::Word(false));
        if coupled && rings.len() > MOST_RINGS {
            let reason = format!(
                "incompressible bodies in a fluid may have {MOST_RINGS} points, these have {}; use fewer, Poisson's ratio 0.49, or `coupling = false` in `[fluid]`",
                rings.len()
            );
            let keeps = scene.deformable.iter().find(|body| body.elastic.incompressible);
            return Err(wrong(keeps.map_or("elastic", |body| &body.name), reason));
        }
        let options = IncompressibleOptions {
            recovery_time,
            tolerance,
            max_iterations: step.volume.max_iterations as usize,
            newton_steps: step.volume.newton_steps as usize,
            contact_in_prediction,
            solver: match step.volume.solver {
                VolumeSolver::MinimalResiduals => PressureSolver::MinimalResiduals,
                VolumeSolver::ConjugateGradients => PressureSolver::ConjugateGradients,
            },
            pairs: match sweeps {
                0 => PairTreatment::Rows,
                _ => PairTreatment::Sweeps(sweeps as usize),
            },
            monolithic,
        };
        solids.integrator.incompressible = Some(Incompressible::new(rings, options));
    }
    for (load, factor) in loads {
        if !factor.is_empty() {
            solids.loads.push(ScheduledLoad { force: solids.solid.forces().len(), factor });
        }
        solids.solid.add(load);
    }
    crate::build_ties::add_ties(&scene.deformable, &rest, &mut solids)?;
    crate::build_ties::add_embeddings(scene, &rest, &mut solids, &mut surface)?;
    let DampingSolve { form, sweeps, joints, rigid_contacts, soft_contacts, coming_contacts, pairs } =
        step.damping_solve;
    solids.integrator.form = match form {
        DampingForm::Projection => ConstraintForm::Projection,
        DampingForm::Sweeps => ConstraintForm::Sweeps(sweeps as usize),
        DampingForm::Spd => ConstraintForm::PositiveDefinite,
        DampingForm::Kkt => ConstraintForm::Indefinite,
    };
    solids.integrator.keeps_pairs = pairs;
    solids.integrator.keeps_coming = coming_contacts;
    solids.keeps = DampingKeeps { joints, contacts: rigid_contacts, particles: soft_contacts };
    world.options_mut().contact_before_damping = step.contact_before_damping;
    for [a, b] in &scene.contact.apart {
        let (bodies, rigid) = (&solids.bodies, &world.model().bodies);
        let soft = |name: &str| -> Vec<String> {
            bodies.iter().map(|body| &body.name).filter(|full| is_copy_of(full, name)).cloned().collect()
        };
        let hard = |name: &str| -> Vec<u32> {
            let named = rigid.iter().enumerate().filter(|(_, body)| is_copy_of(&body.name, name));
            named.map(|(index, _)| index as u32).collect()
        };
        let pairs = [(soft(a), hard(b)), (soft(b), hard(a))];
        for (soft, hard) in pairs {
            solids.apart.extend(soft.iter().flat_map(|soft| hard.iter().map(|&body| (soft.clone(), body))));
        }
    }
    solids.thickness = step.distance;
    solids.friction = scene.rigid_copies().map(|copy| copy.rigid.friction.unwrap_or(step.friction)).collect();
    let mut parted =
        add_layers(&scene.deformable, &surface, &rest, step.friction, step.distance, &mut solids)?;
    let mut start = [&mut rest, &mut position, &mut velocity];
    parted.extend(crate::build_layers::add_skins(scene, world, &mut solids, &mut start, &mut surface)?);
    let contact = ContactSurface::new(surface).parted(parted);
    solids.integrator.surface = contact.points().to_vec();
    solids.integrator.method = match step.collisions {
        ElasticCollisions::Swept => CollisionMethod::Swept,
        ElasticCollisions::Projected => CollisionMethod::Projected,
        ElasticCollisions::ProjectedWithPush => CollisionMethod::ProjectedWithPush,
    };
    solids.integrator.release = step.release;
    solids.integrator.push_out = step.push_out_speed.unwrap_or(f64::INFINITY);
    if !step.inner_points && (D == 3 || !contact.points().is_empty()) {
        solids.integrator.colliders = Colliders::These(contact.points().to_vec());
    }
    if let Some(own) = &step.self_contact {
        if scheme == Scheme::LinearlyImplicit {
            let reason = "`self_contact` does not go with the integrator \"linearly_implicit\"; \"backward_euler\" and \"scheme_b\" have it";
            return Err(BuildError::Elastic { name: "elastic".into(), reason: reason.into() });
        }
        let options = SelfContactOptions {
            thickness: own.thickness,
            friction: own.friction,
            stiffness: own.repulsion.unwrap_or(SelfContactOptions::default().stiffness),
            continuous: !own.repulsion_only,
            ..SelfContactOptions::default()
        };
        if options.continuous || matches!(scheme, Scheme::Implicit(_)) {
            apart_at_start(&contact, &position, &solids, world)?;
        }
        let barrier =
            BarrierOptions { reach: own.thickness, friction: own.friction, ..BarrierOptions::default() };
        solids.integrator.self_contact =
            Some(SelfContact::new(contact, &rest, options).with_barrier(barrier));
        if matches!(scheme, Scheme::Implicit(_)) {
            // The barrier keeps every iterate free of intersections, so a step that has not fully converged is still a good state.
            solids.integrator.implicit.strict = false;
            // Motions of a fiftieth of the distance that contact keeps do not show, and stiff contact forces make a residual say little.
            solids.integrator.implicit.resolution = 0.02 * own.thickness;
            solids.integrator.implicit.linear_tolerance = 0.1;
        }
    }
    if let Some(resolution) = step.resolution {
        solids.integrator.implicit.resolution = resolution;
    }
    solids.solid.place_embedded(&mut position);
    solids.solid.place_embedded(&mut velocity);
    let motion = Motion { position, velocity, time: 0.0 };
    if let Err(error) = solids.solid.update(&motion.position) {
        return Err(BuildError::Elastic { name: "elastic".into(), reason: error.to_string() });
    }
    world.set_solids(solids, motion);
    Ok(())
}

/// Contact along paths keeps surfaces apart that are apart; those that pass through each other at the start would do so for good.
fn apart_at_start<const D: usize>(
    contact: &ContactSurface<D>,
    position: &[f64],
    solids: &Solids<D>,
    world: &World<D>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let Some((particles, count)) = contact.first_crossing(position) else { return Ok(()) };
    let owner = |particle: u32| -> (String, String) {
        let skin = solids.skins.iter().find(|skin| skin.particle == particle);
        let body = skin.and_then(|skin| world.model().bodies.get(skin.body as usize));
        match body {
            Some(body) => (body.name.clone(), "its skin".into()),
            None => {
                let (name, own) = solids.name_of_particle(particle as usize);
                (name.to_owned(), format!("particle {own}"))
            }
        }
    };
    let [(one, first), (other, second)] = particles.map(owner);
    let who = if one == other { "itself".into() } else { format!("`{other}`") };
    let at = read::<D>(position, particles[0]);
    let reason = format!(
        "its surface passes through {who} at the start ({count} edges through faces, the first with {first} near {:?} and {second} of `{other}`): `self_contact` keeps apart only what starts apart; move \
         the bodies away from each other, or disturb them less",
        at.as_slice()
    );
    Err(wrong(&one, reason))
}

fn read<const D: usize>(flat: &[f64], particle: u32) -> Vector<D> {
    Vector::from_column_slice(&flat[D * particle as usize..][..D])
}

/// A force that is shared by the particles of a box by their masses.
fn load<const D: usize>(
    name: &str,
    own: &LoadDescription,
    points: &[Vector<D>],
    first: u32,
    mass: &[f64],
) -> Result<Load<D>, BuildError> {
    let (from, to) = (point::<D>(name, &own.from)?, point::<D>(name, &own.to)?);
    let force = point::<D>(name, &own.force)?;
    let slack = 1e-9;
    let inside =
        |x: &Vector<D>| (0..D).all(|axis| x[axis] >= from[axis] - slack && x[axis] <= to[axis] + slack);
    let nodes = (0..points.len()).filter(|&node| inside(&points[node]));
    let nodes: Vec<u32> = nodes.map(|node| first + node as u32).collect();
    let total: f64 = nodes.iter().map(|&node| mass[node as usize]).sum();
    if nodes.is_empty() {
        return Err(wrong(name, "no point of its rest shape is in the box of `elastic.load`"));
    }
    Ok(Load::new(nodes.into_iter().map(|node| (node, force * (mass[node as usize] / total))).collect()))
}

/// Springs along edges, altitudes and across the inner edges of a body whose first particle is `first`; its particles are in `solid` already.
fn add_springs<const D: usize>(
    name: &str,
    springs: &ElementSprings,
    mesh: &Built<D>,
    first: u32,
    solid: &mut Solid<D>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let inverses = solid.inverse_masses();
    let ratio = springs.damping_ratio;
    let along = |pairs: Vec<[u32; 2]>, modulus: f64| -> Vec<EdgeSpring> {
        let spring = |pair: [u32; 2]| {
            let rest = (mesh.points[pair[0] as usize] - mesh.points[pair[1] as usize]).norm();
            EdgeSpring::with_modulus(pair.map(|node| node + first), modulus, ratio, rest, &inverses)
        };
        pairs.into_iter().map(spring).collect()
    };
    let plastic = |all: EdgeSprings<D>| match springs.limit {
        Some(yield_strain) => {
            let (hardening, limit) = (springs.hardening, springs.limit_stretch);
            all.with_plasticity(SpringPlasticity { yield_strain, hardening, limit })
        }
        None => all,
    };
    if let Some(modulus) = springs.edges {
        solid.add(plastic(EdgeSprings::<D>::new("edge springs", &along(edges(mesh), modulus))));
    }
    if let Some(modulus) = springs.bending {
        if D == 2 || mesh.element != SolidElement::Triangle {
            return Err(wrong(name, "`elastic.springs.bending` needs a sheet"));
        }
        let triangles: TriangleMesh<D> =
            Mesh { points: mesh.points.clone(), elements: mesh.elements.as_chunks::<3>().0.to_vec() };
        solid.add(plastic(EdgeSprings::<D>::new(
            "bending springs",
            &along(bending_pairs(&triangles), modulus),
        )));
    }
    if let Some(modulus) = springs.altitudes {
        let simplices = match mesh.element {
            SolidElement::Tetrahedron => D == 3,
            SolidElement::Triangle => D == 2,
            _ => false,
        };
        if !simplices {
            return Err(wrong(
                name,
                "`elastic.springs.altitudes` needs tetrahedra, or triangles in the plane",
            ));
        }
        let which = if springs.all_altitudes { Altitudes::All } else { Altitudes::Shortest };
        let nodes: Vec<u32> = mesh.elements.iter().map(|node| node + first).collect();
        let mut rest = vec![0.0; D * inverses.len()];
        for (node, x) in mesh.points.iter().enumerate() {
            rest[D * (first as usize + node)..][..D].copy_from_slice(x.as_slice());
        }
        let all = AltitudeSprings::<D>::new(nodes, &rest, &inverses, modulus, ratio, which);
        solid.add(match springs.altitude_slack {
            Some(slack) => all.with_slack(slack),
            None => all,
        });
    }
    Ok(())
}

/// All edges of a mesh, each once, in order.
fn edges<const D: usize>(mesh: &Built<D>) -> Vec<[u32; 2]> {
    let corners: &[[usize; 2]] = match mesh.element {
        SolidElement::Segment => &[[0, 1]],
        SolidElement::Triangle => &[[0, 1], [1, 2], [2, 0]],
        SolidElement::Tetrahedron => &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
        SolidElement::Hexahedron => {
            &[[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]]
        }
    };
    let count = mesh.element.corners();
    let of_element = |element: &[u32]| {
        corners
            .iter()
            .map(|&[a, b]| [element[a].min(element[b]), element[a].max(element[b])])
            .collect::<Vec<_>>()
    };
    let all: std::collections::BTreeSet<[u32; 2]> =
        mesh.elements.chunks_exact(count).flat_map(of_element).collect();
    all.into_iter().collect()
}

/// Is `full` the name of a body, or of a copy of the repeated body `name`?
pub(crate) fn is_copy_of(full: &str, name: &str) -> bool {
    let number = full.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    full == name || number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// The particles inside the rigid body `carrier`.
fn bindings<const D: usize>(
    world: &World<D>,
    carrier: &str,
    first: u32,
    points: &[Vector<D>],
) -> Result<Vec<Binding<D>>, BuildError>
where
    Dim<D>: Space<D>,
{
    let bodies = &world.model().bodies;
    let Some(index) = bodies.iter().position(|body| body.name == carrier) else {
        return Err(wrong(carrier, "there is no rigid body of this name"));
    };
    let Some(geometry) = &bodies[index].geometry else { return Ok(Vec::new()) };
    let frame = world.state().bodies[index].frame;
    Ok((points.iter().enumerate())
        .filter_map(|(node, x)| {
            let place = frame.to_object(x);
            let inside = geometry.signed_distance(&place) < 1e-9;
            inside.then_some(Binding { particle: first + node as u32, body: index as u32, place })
        })
        .collect())
}

fn offsets<const D: usize>(name: &str, repeat: Option<&Repeat>) -> Result<Vec<Vector<D>>, BuildError> {
    let Some(repeat) = repeat else { return Ok(vec![Vector::zeros()]) };
    if repeat.count.len() != D || repeat.spacing.len() != D {
        return Err(wrong(name, format!("`repeat` needs {D} counts and spacings")));
    }
    let mut all = vec![Vector::<D>::zeros()];
    for axis in 0..D {
        all = all
            .into_iter()
            .flat_map(|offset| {
                (0..repeat.count[axis]).map(move |n| {
                    let mut moved = offset;
                    moved[axis] += n as f64 * repeat.spacing[axis];
                    moved
                })
            })
            .collect();
    }
    Ok(all)
}

/// Uniform numbers from -1 to 1 that a seed determines.
struct Noise(u64);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493))
    }

    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
