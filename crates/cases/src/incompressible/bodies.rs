//! What the cases of this folder are made of.

use crate::CaseError;
use splashdown_deformable::element::Material;
use splashdown_deformable::incompressible::{Incompressible, IncompressibleOptions, Kept, Rings};
use splashdown_deformable::integrate::Motion;
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_math::Vector;

/// Names what went wrong in a case of this folder.
pub(super) fn failed(error: impl std::fmt::Display) -> CaseError {
    CaseError::new("incompressible solid", error)
}

/// Coordinates of all points, one after the other.
pub(super) fn flat<const D: usize>(points: &[Vector<D>]) -> Vec<f64> {
    points.iter().flat_map(|x| x.iter().copied()).collect()
}

/// A body of tetrahedra at rest, with its rings.
pub(super) fn body(
    mesh: &TetrahedronMesh,
    material: Material,
    gravity: f64,
) -> Result<(Solid<3>, Motion, Rings<3>), CaseError> {
    let elements = Elements::tetrahedra(mesh, 0, material).map_err(failed)?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid =
        Solid::<3>::new(mass, vec![false; mesh.points.len()], Vector::<3>::new(0.0, -gravity, 0.0));
    solid.add(elements);
    let motion = Motion::at_rest(&mesh.points);
    let simplices: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rings = Rings::<3>::new(4, &simplices, &motion.position).ok_or_else(|| failed("no rings"))?;
    Ok((solid, motion, rings))
}

/// Solves nearly to rounding.
pub(super) fn tight() -> IncompressibleOptions {
    IncompressibleOptions { tolerance: 1e-12, max_iterations: 5000, ..Default::default() }
}

/// With rings that keep their volumes so.
pub(super) fn keeper<const D: usize>(rings: &Rings<D>, options: IncompressibleOptions) -> Incompressible<D> {
    Incompressible::new(rings.clone(), options)
}

/// Nothing that must be kept besides volume.
pub(super) const FREE: Kept<'static, 3> = Kept::objects(&[], &[]);
