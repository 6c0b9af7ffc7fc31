//! Bodies of elements in space: tetrahedra, hexahedra and sheets of triangles.

use super::elements::{Field, add_filling, add_set, check_whole};
use super::material::{Group, groups};
use super::springs::add_bending;
use super::{Built, ElasticSpace, boundary, point, wrong};
use crate::build::BuildError;
use crate::build_layers::{Recorded, read_recorded};
use crate::description::{
    BagGeometry, BoxGeometry, Deformable, FileGeometry, Geometry, RecordedGeometry, TorusGeometry,
};
use splashdown_couple::SolidElement;
use splashdown_deformable::collide::Layer;
use splashdown_deformable::element::{Material, membrane_directions};
use splashdown_deformable::material::Lame;
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::generate::{
    CubeSplit, Diagonals, GenerateError, bag_triangles, ball_tetrahedra, box_hexahedra, box_tetrahedra,
    fill_surface, sheet, torus_tetrahedra,
};
use splashdown_geometry::mesh::{Corners, HexahedronMesh, Mesh, MeshError, TetrahedronMesh, TriangleMesh};
use splashdown_math::{Dim, Vector};
use std::ops::Range;

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
        let failed = |error: GenerateError| wrong(name, error);
        match geometry {
            Geometry::Box(own) => box_mesh(name, own),
            Geometry::Sheet(own) => {
                let cells = [own.cells[0] as usize, own.cells[1] as usize];
                let (u, v) = (point::<3>(name, &own.u)?, point::<3>(name, &own.v)?);
                let corner = point::<3>(name, &own.corner)?;
                Ok(cloth(sheet(corner, u, v, cells, Diagonals::Alternating).map_err(failed)?))
            }
            Geometry::Ball(own) => {
                let centre = point::<3>(name, &own.centre)?;
                tetrahedra(name, ball_tetrahedra(centre, own.radius, own.cells as usize).map_err(failed)?)
            }
            Geometry::Torus(own) => torus_mesh(name, own),
            Geometry::Bag(own) => bag_mesh(name, own),
            Geometry::File(own) => file_mesh(name, own),
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
        if body.elastic.facing.is_some() && mesh.element != SolidElement::Triangle {
            return Err(wrong(&body.name, "`facing` is for sheets; this body has an inside"));
        }
        match mesh.element {
            SolidElement::Triangle => add_sheet(body, mesh, first, material, solid, mass),
            SolidElement::Hexahedron => {
                let all = mesh.elements.as_chunks::<8>().0;
                add_filling(body, mesh, all, first, material, Elements::hexahedra, solid, mass)
            }
            _ if !mesh.quadratic.is_empty() => {
                let all = &mesh.quadratic;
                add_filling(body, mesh, all, first, material, Elements::quadratic_tetrahedra, solid, mass)
            }
            _ => {
                let all = mesh.elements.as_chunks::<4>().0;
                add_filling(body, mesh, all, first, material, Elements::tetrahedra, solid, mass)
            }
        }
    }
}

/// A sheet: membranes and, where its body has it, bending.
fn add_sheet(
    body: &Deformable,
    mesh: &Built<3>,
    first: u32,
    material: Material,
    solid: &mut Solid<3>,
    mass: &mut [f64],
) -> Result<(), BuildError> {
    let elastic = &body.elastic;
    let triangles =
        TriangleMesh { points: mesh.points.clone(), elements: mesh.elements.as_chunks::<3>().0.to_vec() };
    let thickness = elastic.thickness.unwrap_or(1e-3);
    check_whole(body, || Elements::membrane(&triangles, first, thickness, material).map(|_| ()))?;
    for Group { material, elements, lame } in
        groups(body, mesh, &triangles.elements, &material, Lame::plane_stress)?
    {
        let part = TriangleMesh { points: mesh.points.clone(), elements };
        let mut elements = Elements::membrane(&part, first, thickness, material)
            .map_err(|error| wrong(&body.name, error))?;
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
        add_bending(own, &triangles, first, solid);
    }
    Ok(())
}

fn tetrahedra(name: &str, mesh: TetrahedronMesh) -> Result<Built<3>, BuildError> {
    mesh.check_distinct_elements().map_err(|error| wrong(name, error))?;
    let around = mesh.boundary().map_err(|error| wrong(name, error))?;
    Ok(Built::new(mesh, SolidElement::Tetrahedron, boundary(&around.mesh, &around.points)))
}

fn hexahedra(name: &str, mesh: HexahedronMesh) -> Result<Built<3>, BuildError> {
    let around = mesh.boundary().map_err(|error| wrong(name, error))?;
    Ok(Built::new(mesh, SolidElement::Hexahedron, boundary(&around.mesh, &around.points)))
}

fn cloth(mesh: TriangleMesh<3>) -> Built<3> {
    let surface = mesh.elements.clone();
    Built::new(mesh, SolidElement::Triangle, surface)
}

fn box_mesh(name: &str, own: &BoxGeometry) -> Result<Built<3>, BuildError> {
    let failed = |error: GenerateError| wrong(name, error);
    let (from, size) = (point::<3>(name, &own.from)?, point::<3>(name, &own.size)?);
    let cells = [own.cells[0] as usize, own.cells[1] as usize, own.cells[2] as usize];
    if own.hexahedra {
        return hexahedra(name, box_hexahedra(from, from + size, cells).map_err(failed)?);
    }
    tetrahedra(name, box_tetrahedra(from, from + size, cells, CubeSplit::Five).map_err(failed)?)
}

fn torus_mesh(name: &str, own: &TorusGeometry) -> Result<Built<3>, BuildError> {
    let centre = point::<3>(name, &own.centre)?;
    let (cells, around) = (own.cells as usize, own.around as usize);
    let mut mesh = torus_tetrahedra(Vector::zeros(), own.ring, own.tube, cells, around)
        .map_err(|error| wrong(name, error))?;
    // The generator's axis is z; a cyclic change of axes keeps the orientation.
    for point in &mut mesh.points {
        *point = Vector::<3>::new(point[1], point[2], point[0]) + centre;
    }
    tetrahedra(name, mesh)
}

fn bag_mesh(name: &str, own: &BagGeometry) -> Result<Built<3>, BuildError> {
    let centre = point::<3>(name, &own.centre)?;
    let mut mesh = bag_triangles(Vector::zeros(), own.radius, own.mouth, own.cells as usize)
        .map_err(|error| wrong(name, error))?;
    let turn = if own.upside_down { -1.0 } else { 1.0 };
    for point in &mut mesh.points {
        *point = Vector::<3>::new(point[0], turn * point[1], turn * point[2]) + centre;
    }
    Ok(cloth(mesh))
}

fn file_mesh(name: &str, own: &FileGeometry) -> Result<Built<3>, BuildError> {
    let offset = own.offset.as_deref().map_or(Ok(Vector::zeros()), |offset| point::<3>(name, offset))?;
    let mut loaded = splashdown_geometry::io::read_mesh(&own.path).map_err(|error| wrong(name, error))?;
    for point in &mut loaded.points {
        *point = *point * own.scale + offset;
    }
    let weld = own.weld;
    if let Some(cell) = own.fill {
        if own.surface {
            return Err(wrong(name, "`fill` makes an inside, which `surface` leaves out; give one of them"));
        }
        let mesh = loaded.into_triangles::<3>().map_err(|error| wrong(name, error))?;
        let filled = fill_surface::<3, 4>(&welded(name, mesh, weld)?, cell);
        return tetrahedra(name, filled.map_err(|error| wrong(name, error))?.mesh);
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
            hexahedra(name, welded(name, mesh, weld)?)
        }
        _ => {
            let mesh = loaded.into_tetrahedra().map_err(|error| wrong(name, error))?;
            tetrahedra(name, welded(name, mesh, weld)?)
        }
    }
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
