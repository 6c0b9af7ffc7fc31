//! Bodies of elements in the plane: triangles.

use super::elements::add_filling;
use super::{Built, ElasticSpace, boundary, point, wrong};
use crate::build::BuildError;
use crate::build_layers::Recorded;
use crate::description::{Deformable, Geometry, RecordedGeometry};
use splashdown_couple::SolidElement;
use splashdown_deformable::collide::Layer;
use splashdown_deformable::element::Material;
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::generate::{Diagonals, disc_triangles, sheet};
use splashdown_geometry::mesh::{MeshError, TriangleMesh};
use splashdown_math::{Dim, Vector};
use std::ops::Range;

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
        let surface = boundary(&around.mesh, &around.points);
        Ok(Built::new(mesh, SolidElement::Triangle, surface))
    }

    fn add_elements(
        body: &Deformable,
        mesh: &Built<2>,
        first: u32,
        material: Material,
        solid: &mut Solid<2>,
        mass: &mut [f64],
    ) -> Result<(), BuildError> {
        if body.elastic.facing.is_some() {
            return Err(wrong(&body.name, "`facing` is for sheets in space"));
        }
        let all = mesh.elements.as_chunks::<3>().0;
        add_filling(body, mesh, all, first, material, Elements::triangles, solid, mass)
    }
}
