//! Rigid bodies and fracture patterns from surfaces of triangles in files, which exist in space only.

use crate::build::{BuildError, vector};
use crate::description::FractureRegions;
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_math::{Dim, Space, Vector};
use splashdown_rigid::Geometry;
use splashdown_rigid::fracture::Pattern;

/// A surface in a file that a body is made of.
pub(crate) struct SurfaceFile<'a> {
    pub path: &'a str,
    /// Factor for all coordinates.
    pub scale: f64,
    /// Cells of the distance field on the longest side.
    pub cells: usize,
    /// Of a shell (m); a solid has none.
    pub thickness: Option<f64>,
    /// Does contact look at its edges, too?
    pub edges: bool,
}

/// What files make in this dimension.
pub(crate) trait FromFiles<const D: usize>: Space<D> {
    /// The geometry of the body `name`.
    fn body(name: &str, file: &SurfaceFile<'_>) -> Result<Geometry<D>, BuildError>
    where
        Dim<D>: Space<D>;
    /// The fracture pattern of the body `name`.
    fn pattern(name: &str, regions: &FractureRegions) -> Result<Pattern<D>, BuildError>
    where
        Dim<D>: Space<D>;
}

fn wrong(name: &str, what: impl std::fmt::Display) -> BuildError {
    BuildError::File { name: name.into(), reason: what.to_string() }
}

impl FromFiles<2> for Dim<2> {
    fn body(name: &str, _: &SurfaceFile<'_>) -> Result<Geometry<2>, BuildError> {
        Err(wrong(name, "a mesh is a body of three dimensions; in two use `hull`, `boxes` or `parts`"))
    }

    fn pattern(name: &str, _: &FractureRegions) -> Result<Pattern<2>, BuildError> {
        Err(wrong(name, "`fracture.regions` are surfaces in three dimensions; in two use `pattern`"))
    }
}

impl FromFiles<3> for Dim<3> {
    fn body(name: &str, file: &SurfaceFile<'_>) -> Result<Geometry<3>, BuildError> {
        let surface = surface(name, file.path, file.scale)?;
        let made = match file.thickness {
            Some(thickness) => Geometry::shell(&surface, thickness, file.cells),
            None => Geometry::mesh(&surface, file.cells),
        };
        let made = made.map_err(|source| BuildError::Geometry { name: name.into(), source })?;
        Ok(if file.edges { made.meeting_by_edges() } else { made })
    }

    fn pattern(name: &str, regions: &FractureRegions) -> Result<Pattern<3>, BuildError> {
        let surfaces: Vec<SurfaceMesh<3>> =
            regions.files.iter().map(|path| surface(name, path, 1.0)).collect::<Result<_, _>>()?;
        let impact = vector::<3>(name, "fracture.regions.impact", regions.impact.as_deref())?;
        let normal = match &regions.normal {
            Some(normal) => vector::<3>(name, "fracture.regions.normal", Some(normal))?,
            None => Vector::y(),
        };
        Pattern::from_surfaces(&surfaces, regions.resolution as usize, impact, normal)
            .map_err(|error| wrong(name, error))
    }
}

/// The triangles of a file, corners at the same place joined: formats such as STL repeat them.
fn surface(name: &str, path: &str, scale: f64) -> Result<SurfaceMesh<3>, BuildError> {
    let loaded = splashdown_geometry::io::read_mesh(path).map_err(|error| wrong(name, error))?;
    if loaded.triangles.is_empty() {
        return Err(wrong(name, format_args!("`{path}` has no triangles")));
    }
    let points = loaded.points.iter().map(|point| point * scale).collect();
    let mesh = SurfaceMesh { points, elements: loaded.triangles };
    let (mesh, _) = mesh.without_unreferenced().map_err(|error| wrong(name, error))?;
    Ok(mesh.weld(0.0).map_err(|error| wrong(name, error))?.mesh)
}
